"""From where a picture is seen: the wish of a user, and the camera that comes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from symplex.errors import RenderError
from symplex.meshes.pictures.section import Plane

if TYPE_CHECKING:
    import pyvista

Vector = NDArray[np.float64]

_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
# An obstacle whose unit normal has at least this component upwards is a floor, or a slope.
_FLOOR = 0.7
# A section is drawn if the cosine of the angle between its normal and the eye is at least this.
_EDGE_ON = 0.02
# The picture is at least so high and wide, relative to the size of what it shows: bodies may be flat or thin.
_LEAST = 0.02
_PLANAR = 1e-6  # of their size, how far points are out of a plane that are said to be in it
_STATIONS = 25  # on the way of a camera, by which it is found how much it is to see


@dataclass(frozen=True)
class View:
    """From where a picture is seen, and what of the bodies.

    Attributes
    ----------
    direction : tuple of 3 float, optional
        From the scene to the eye. Default: obliquely from above and along planar obstacles; across a section.
    up : tuple of 3 float, optional
        What points up. Default: z; or y, if a planar obstacle faces y like a floor and none faces z.
    section : {"x", "y", "z"} or tuple of 3 float, optional
        Normal of a plane by which the deformed bodies are cut; without it their surfaces are shown.
    origin : tuple of 3 float, optional
        A point of that plane in m. Default: the middle of the bodies, which the plane follows; where that would miss
        bodies side by side, a place from which it cuts as many as it can.
    zoom : float, default 1
        Above 1 shows less, larger.
    scale : float, default 1
        By how much displacements are enlarged.
    to : tuple of 3 float, optional
        In a film: where to the camera goes, as ``direction``, the shortest way.
    orbit : float, default 0
        In a film: by what angle in degrees the camera goes round the bodies, about the upward direction.
    pivots : tuple of (str, tuple of 3 float), default ()
        Points in m about which bodies turn, by the names of these: they are marked, and axes through them drawn.
    """

    direction: tuple[float, float, float] | None = None
    up: tuple[float, float, float] | None = None
    section: str | tuple[float, float, float] | None = None
    origin: tuple[float, float, float] | None = None
    zoom: float = 1.0
    scale: float = 1.0
    to: tuple[float, float, float] | None = None
    orbit: float = 0.0
    pivots: tuple[tuple[str, tuple[float, float, float]], ...] = ()

    def normal(self) -> Vector | None:
        """Return the unit normal of the section, or None.

        Raises
        ------
        RenderError
            If it is no axis and no direction.
        """
        if self.section is None:
            return None
        if isinstance(self.section, str):
            if self.section not in _AXES:
                raise RenderError(f"'{self.section}' is no section; the normal is 'x', 'y', 'z' or three numbers.")
            return np.array(_AXES[self.section])
        return _unit(np.array(self.section, float), "section")


@final
class Camera:
    """Looks at a box from far away, without perspective, so that it fills the picture.

    Parameters
    ----------
    view : View
    low, high : float64 [3]
        Corners of the box in m.
    facing : sequence of float64 [3]
        Unit normals of planar obstacles, towards the bodies.
    """

    def __init__(self, view: View, low: Vector, high: Vector, facing: Sequence[Vector]):
        self._centre = (low + high) / 2
        self._view, self._facing = view, facing
        corners = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
        spread = corners - self._centre
        self._size = max(float(np.linalg.norm(high - low)), 1e-12)
        least = _LEAST * self._size
        # The camera neither comes nearer nor goes away on its way.
        is_moving = view.to is not None or view.orbit != 0
        seen = [self._axes_at(part) for part in np.linspace(0, 1, _STATIONS if is_moving else 1)]
        width = max(float(np.abs(spread @ right).max()) for _, right, _ in seen)
        height = max(float(np.abs(spread @ up).max()) for _, _, up in seen)
        self._half_width = max(width, least) * 1.08 / view.zoom
        self._half_height = max(height, least) * 1.08 / view.zoom

    def _axes_at(self, part: float) -> tuple[Vector, Vector, Vector]:
        return _axes(self._view, self._facing, part)

    def plain(self) -> dict[str, Any]:
        """Return where it is and what it sees, for others to draw: directions, and lengths in m."""
        eye, _, up = self._axes_at(0.0)
        return {
            "eye": eye.tolist(),
            "up": up.tolist(),
            "centre": self._centre.tolist(),
            "half_width": self._half_width,
            "half_height": self._half_height,
            "size": self._size,
        }

    @property
    def aspect(self) -> float:
        """Height of the scene over its width, between ½ and 1½."""
        return float(np.clip(self._half_height / self._half_width, 0.5, 1.5))

    def pixel(self, plotter: pyvista.Plotter) -> float:
        """Return about how long a pixel is in m."""
        return 2 * self._half_height / plotter.window_size[1]

    def aim(
        self, plotter: pyvista.Plotter, plane: Plane | None, part: float = 0.0, centre: Vector | None = None
    ) -> None:
        """Point the camera of a plotter at the box, or at its like about another centre, or at the plane of a section.

        Parameters
        ----------
        plotter : Plotter
        plane : Plane or None
        part : float, default 0
            What part of its way the camera has gone.
        centre : float64 [3], optional
        """
        eye, _, up = self._axes_at(part)
        width, height = plotter.window_size
        camera = plotter.camera
        centre = self._centre if centre is None else centre
        if plane is not None:
            centre = centre + plane.normal * ((plane.origin - centre) @ plane.normal)
        camera.focal_point = centre
        camera.position = centre + 4 * self._size * eye
        camera.up = up
        camera.is_set = True
        camera.parallel_projection = True
        camera.parallel_scale = max(self._half_height, self._half_width * height / width)
        plotter.reset_camera_clipping_range()


def _axes(view: View, facing: Sequence[Vector], part: float = 0.0) -> tuple[Vector, Vector, Vector]:
    """Return unit vectors to the eye, to the right and up, after a part of the way of the camera, from 0 to 1."""
    up = _upwards(facing) if view.up is None else _unit(np.array(view.up, float), "upward direction")
    normal = view.normal()
    if view.direction is not None:
        eye = _unit(np.array(view.direction, float), "direction")
    elif normal is not None:
        eye = normal
    else:
        eye = _best_direction(up, facing)
    if normal is not None and abs(eye @ normal) < _EDGE_ON:
        raise RenderError(
            f"nothing is to be seen of a section across {normal.round(3).tolist()} from {eye.round(3).tolist()}: "
            "that is edge on; take another direction, or none."
        )
    if view.to is not None:
        axis, angle = _rotation_between(eye, _unit(np.array(view.to, float), "direction"), up)
        eye = _rotated(eye, axis, part * angle)
    eye = _rotated(eye, up, part * np.deg2rad(view.orbit))
    if abs(eye @ up) > 0.999:  # from above, x goes to the right as it does from the front
        _, up = _horizontal(up)
    right = np.cross(up, eye)
    right /= np.linalg.norm(right)
    return eye, right, np.cross(eye, right)


def front_of(points: Vector) -> tuple[float, float, float] | None:
    """Return the direction to an eye in front of the plane in which points [n, 3] are, None if they are in none.

    Points on a line are seen across it. x goes to the right, or y where the plane is across x.
    """
    spread = points - points.mean(axis=0)
    _, sizes, axes = np.linalg.svd(spread, full_matrices=False)
    if len(sizes) < 3 or not sizes[0] > 0.0 or sizes[2] > _PLANAR * sizes[0]:
        return None
    if sizes[1] > _PLANAR * sizes[0]:
        eye = axes[2]
    else:
        across = [np.array(axis) for axis in ((0.0, -1.0, 0.0), _AXES["z"], _AXES["x"])]
        eye = min(across, key=lambda axis: round(abs(float(axis @ axes[0])), 3))
    eye = np.where(np.abs(eye) < _PLANAR, 0.0, eye)
    main = int(np.argmax(np.abs(eye)))
    x, y, z = eye if (eye[main] > 0.0) != (main == 1) else -eye
    return float(x), float(y), float(z)


def _rotation_between(begin: Vector, end: Vector, up: Vector) -> tuple[Vector, float]:
    """Return the axis and the angle by which one unit vector turns into another, about ``up`` if into its opposite."""
    axis = np.cross(begin, end)
    sine, cosine = float(np.linalg.norm(axis)), float(begin @ end)
    if sine < 1e-9:
        aside = up if abs(up @ begin) < 0.9 else _horizontal(begin)[0]
        return _unit(aside - (aside @ begin) * begin, "direction"), np.pi if cosine < 0 else 0.0
    return axis / sine, float(np.arctan2(sine, cosine))


def _rotated(vector: Vector, axis: Vector, angle: float) -> Vector:
    """Return a vector that was turned about a unit vector (Rodrigues' formula)."""
    cosine, sine = np.cos(angle), np.sin(angle)
    return vector * cosine + np.cross(axis, vector) * sine + axis * (axis @ vector) * (1 - cosine)


def _upwards(facing: Sequence[Vector]) -> Vector:
    """Return what points up where nobody says so: z, or y if there is a floor that faces y and none that faces z."""
    for axis in ("z", "y"):
        up = np.array(_AXES[axis])
        if any(normal @ up > _FLOOR for normal in facing):
            return up
    return np.array(_AXES["z"])


def _horizontal(up: Vector) -> tuple[Vector, Vector]:
    """Return two unit vectors across a third; x and y for z."""
    first = np.array(_AXES["x"] if abs(up[0]) < 0.9 else _AXES["y"])
    first = _unit(first - (first @ up) * up, "direction")
    return first, np.cross(up, first)


def _best_direction(up: Vector, facing: Sequence[Vector]) -> Vector:
    """Return a direction from which planar obstacles are seen nearly edge on, from the side of the bodies."""
    first, second = _horizontal(up)
    angles = np.deg2rad([-60, -30, 30, 60, 120, 150, 210, 240])
    candidates = [
        _unit(np.cos(a) * first + np.sin(a) * second + rise * up, "direction") for rise in (0.45, 0.15) for a in angles
    ]
    return min(candidates, key=lambda eye: sum(abs(float(eye @ n) - 0.2) for n in facing))


def _unit(vector: Vector, name: str) -> Vector:
    with np.errstate(over="ignore", invalid="ignore"):
        length = float(np.linalg.norm(vector))
    if vector.shape != (3,) or not (np.isfinite(length) and length > 0):
        raise RenderError(f"the {name} of a view is three numbers that are not all zero, not {vector.tolist()}.")
    return vector / length
