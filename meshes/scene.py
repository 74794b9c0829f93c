"""What a picture of a series shows: deformed surfaces or a section, coloured by a field, seen by one camera."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from symplex.arguments import checked
from symplex.errors import RenderError
from symplex.meshes.frames import Block, Frame, Series
from symplex.units import si_scale

if TYPE_CHECKING:
    import pyvista
    from matplotlib.colors import Colormap

_PLAIN = "#c9ced6"
_OBSTACLE = "#8a94a3"
_EDGES = "#1c2833"
_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
# Name in the series or here -> words for it and its unit.
_FIELDS = {
    "displacement": ("displacement", "m"),
    "speed": ("speed", "m/s"),
    "velocity": ("speed", "m/s"),
    "acceleration": ("acceleration", "m/s²"),
    "von_mises": ("von Mises stress", "Pa"),
    "pressure": ("pressure", "Pa"),
    "contact_force": ("contact force", "N"),
}
_FRAMES_FOR_BOUNDS = 60


@checked
@dataclass(frozen=True)
class View:
    """From where a picture is seen, and what of the bodies.

    Attributes
    ----------
    direction : tuple of 3 float, optional
        From the scene to the eye. Default: obliquely from above and along planar obstacles; across a section.
    up : tuple of 3 float, default (0, 0, 1)
        What points up.
    section : {"x", "y", "z"} or tuple of 3 float, optional
        Normal of a plane by which the deformed bodies are cut; without it their surfaces are shown.
    origin : tuple of 3 float, optional
        A point of that plane in m. Default: the middle of the bodies, which the plane follows.
    zoom : float, default 1
        Above 1 shows less, larger.
    """

    direction: tuple[float, float, float] | None = None
    up: tuple[float, float, float] = (0.0, 0.0, 1.0)
    section: str | tuple[float, float, float] | None = None
    origin: tuple[float, float, float] | None = None
    zoom: float = 1.0

    def normal(self) -> NDArray[np.float64] | None:
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
class Scene:
    """Draws frames of a series with one camera and one colour scale.

    Parameters
    ----------
    series : Series
    field : str
    view : View
    chosen : sequence of int
        The frames that will be drawn; they decide the colour scale, all frames the camera.

    Attributes
    ----------
    label : str
        Words for the field, with its unit.
    limits : tuple of float
        Ends of the colour scale in that unit.
    is_clipped : bool
        Whether a few values lie above the scale.

    Raises
    ------
    RenderError
        If the series has no frames, or no such field.
    """

    def __init__(self, series: Series, field: str, view: View, chosen: Sequence[int]):
        if not len(series):
            raise RenderError(f"{series.path.name} has no frames to draw.")
        self._series = series
        self._view = view
        self._normal = view.normal()
        self._field = _source(series, field)
        self._bodies = {name: block for name, block in series.blocks.items() if not block.is_obstacle}
        self._obstacles = [block for block in series.blocks.values() if block.is_obstacle]
        self._grids = {name: _grid(block, series.points[block.nodes]) for name, block in self._bodies.items()}
        self._surfaces = {} if view.section else {name: _surface(grid) for name, grid in self._grids.items()}
        self._survey(field, chosen)

    # -- what is shown ----------------------------------------------------------------------------------------

    def _values(self, frame: Frame, block: str) -> NDArray | None:
        """Return the values of the field in a block, None where it has none."""
        kind, name = self._field
        if kind == "point":
            data = frame.displacement if name == "displacement" else frame.point_data[name]
            data = data[self._bodies[block].nodes]
        else:
            data = frame.cell_data[name].get(block)
        if data is None or data.ndim == 1:
            return data
        return np.linalg.norm(data, axis=1)

    def _survey(self, field: str, chosen: Sequence[int]) -> None:
        """Look through the series once, for the colour scale and the camera."""
        step = max(1, -(-len(self._series) // _FRAMES_FOR_BOUNDS))
        bounding = {*range(0, len(self._series), step), len(self._series) - 1}
        boxes, colours_in = [], []
        for i in sorted({*chosen, *bounding}):
            frame = self._series.frame(i)
            if i in bounding:
                boxes.append(_box(self._moved(frame, name) for name in self._bodies))
            if i in chosen:
                colours_in += self._range(frame)
        self._set_colours(field, colours_in)
        self._set_camera(np.min([low for low, _ in boxes], axis=0), np.max([high for _, high in boxes], axis=0))

    def _range(self, frame: Frame) -> list[tuple[float, float, float]]:
        """Return the least value of the field, one that few exceed, and the greatest, if there are any."""
        values = [v for name in self._bodies if (v := self._values(frame, name)) is not None and len(v)]
        if not values:
            return []
        joined = np.concatenate(values)
        # A few corner elements would otherwise leave the rest of the picture dark.
        return [(float(joined.min()), float(np.quantile(joined, 0.995)), float(joined.max()))]

    def _set_colours(self, field: str, ranges: Sequence[tuple[float, float, float]]) -> None:
        lows, highs, tops = zip(*ranges, strict=True) if ranges else ([0.0], [1.0], [1.0])
        low, high, top = min(lows), max(highs), max(tops)
        low = 0.0 if 0 <= low < 0.2 * high else low
        self.is_clipped = top > high * (1 + 1e-6) > 0
        words, unit = _FIELDS.get(field, (field.replace("_", " "), ""))
        self._scale, unit = si_scale(max(abs(low), abs(high)), unit)
        self.label = f"{words} ({unit})" if unit else words
        self.limits = (low * self._scale, (high if high > low else low + 1.0) * self._scale)

    # -- drawing ----------------------------------------------------------------------------------------------

    def draw(self, plotter: pyvista.Plotter, i: int) -> NDArray[np.uint8]:
        """Return the picture [height, width, 3] of frame i."""
        frame = self._series.frame(i)
        plane = self._plane(frame)
        for name in self._bodies:
            self._show_body(plotter, frame, name, plane)
        for k, block in enumerate(self._obstacles):
            self._show_obstacle(plotter, f"obstacle {k}", block, plane)
        self._aim(plotter, plane)
        plotter.render()
        return np.asarray(plotter.screenshot(None, return_img=True))[..., :3]

    def _plane(self, frame: Frame) -> NDArray[np.float64] | None:
        """Return a point of the section in this frame."""
        if self._normal is None:
            return None
        if self._view.origin is not None:
            return np.array(self._view.origin, float)
        low, high = _box(self._moved(frame, name) for name in self._bodies)
        return (low + high) / 2

    def _moved(self, frame: Frame, name: str) -> NDArray[np.float64]:
        nodes = self._bodies[name].nodes
        return self._series.points[nodes] + frame.displacement[nodes]

    def _show_body(self, plotter: pyvista.Plotter, frame: Frame, name: str, plane: NDArray[np.float64] | None) -> None:
        points, values = self._moved(frame, name), self._values(frame, name)
        at_points = self._field[0] == "point"
        if plane is None:
            surface = self._surfaces[name]
            shown, points = surface.mesh.copy(deep=False), points[surface.nodes]
            if values is not None:
                values = values[surface.nodes if at_points else surface.cells]
        else:
            shown = self._grids[name].copy(deep=False)
        shown.points = points
        if values is not None:
            (shown.point_data if at_points else shown.cell_data)["shown"] = values * self._scale
        if plane is not None:
            shown = shown.slice(normal=self._normal, origin=plane)
        look: dict[str, Any] = {"color": _PLAIN}
        if values is not None:
            look = {"scalars": "shown", "clim": self.limits, "cmap": colours(), "show_scalar_bar": False}
        light = {"lighting": plane is None, "ambient": 0.45, "diffuse": 0.65}
        edges = {"edge_color": _EDGES, "edge_opacity": 0.55, "line_width": 1.0}
        actor = _show(plotter, f"body {name}", shown, **look, **light, **edges)
        if actor is not None:
            actor.GetProperty().SetEdgeVisibility(self._edge_length_in_pixels(plotter, shown) >= 5)

    def _edge_length_in_pixels(self, plotter: pyvista.Plotter, shown: pyvista.DataSet) -> float:
        """Return about how long an edge of a cell is in the picture; where it is short, edges only blacken it."""
        per_pixel = 2 * self._half_height / plotter.window_size[1]
        return float(np.sqrt(shown.area / max(shown.n_cells, 1))) / per_pixel

    def _show_obstacle(
        self, plotter: pyvista.Plotter, name: str, block: Block, plane: NDArray[np.float64] | None
    ) -> None:
        assert block.points is not None
        if plane is not None:
            line = _grid(block, block.points).slice(normal=self._normal, origin=plane)
            _show(plotter, name, line, color=_OBSTACLE, line_width=4, lighting=False)
        elif name not in plotter.actors:
            _show(plotter, name, _grid(block, block.points), color=_OBSTACLE, opacity=0.35, lighting=False)

    # -- the camera -------------------------------------------------------------------------------------------

    def _set_camera(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> None:
        """Place the camera so that the bodies stay within its picture while they are between two corners of a box."""
        self._centre = (low + high) / 2
        self._eye, self._right, self._up = self._axes_of_view()
        corners = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
        spread = corners - self._centre
        self._half_width = float(np.abs(spread @ self._right).max()) * 1.08 / self._view.zoom
        self._half_height = float(np.abs(spread @ self._up).max()) * 1.08 / self._view.zoom
        self._size = max(float(np.linalg.norm(high - low)), 1e-12)

    def _axes_of_view(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return unit vectors to the eye, to the right and up."""
        if self._view.direction is not None:
            eye = _unit(np.array(self._view.direction, float), "direction")
        elif self._normal is not None:
            eye = self._normal
        else:
            eye = self._best_direction()
        up = _unit(np.array(self._view.up, float), "up")
        if abs(eye @ up) > 0.999:
            up = np.array(_AXES["y"] if abs(eye[1]) < 0.9 else _AXES["x"])
        right = np.cross(up, eye)
        right /= np.linalg.norm(right)
        return eye, right, np.cross(eye, right)

    def _best_direction(self) -> NDArray[np.float64]:
        """Return a direction from which planar obstacles are seen nearly edge on, from the side of the bodies."""
        normals = [n for block in self._obstacles if (n := self._facing(block)) is not None]
        angles = np.deg2rad([-60, -30, 30, 60, 120, 150, 210, 240])
        candidates = [
            _unit(np.array([np.cos(a), np.sin(a), rise]), "direction") for rise in (0.45, 0.15) for a in angles
        ]
        return min(candidates, key=lambda eye: sum(abs(float(eye @ n) - 0.2) for n in normals))

    def _facing(self, block: Block) -> NDArray[np.float64] | None:
        """Return the unit normal of a planar obstacle towards the bodies, None if it is not planar."""
        assert block.points is not None
        middle = block.points.mean(axis=0)
        _, lengths, axes = np.linalg.svd(block.points - middle, full_matrices=False)
        if len(lengths) < 3 or lengths[2] > 1e-6 * lengths[0]:
            return None
        towards = float((self._centre - middle) @ axes[2])
        return axes[2] if towards >= 0 else -axes[2]

    @property
    def aspect(self) -> float:
        """Height of the scene over its width, between ½ and 1½."""
        return float(np.clip(self._half_height / max(self._half_width, 1e-12), 0.5, 1.5))

    def _aim(self, plotter: pyvista.Plotter, plane: NDArray[np.float64] | None) -> None:
        width, height = plotter.window_size
        camera = plotter.camera
        centre = self._centre
        if plane is not None and self._normal is not None:
            centre = centre + self._normal * ((plane - centre) @ self._normal)
        camera.focal_point = centre
        camera.position = centre + 4 * self._size * self._eye
        camera.up = self._up
        camera.is_set = True
        camera.parallel_projection = True
        camera.parallel_scale = max(self._half_height, self._half_width * height / width)
        plotter.reset_camera_clipping_range()


def colours() -> Colormap:
    """Return the colours of the scale, none so dark or so light that edges or the surface are lost in them."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps["turbo"](np.linspace(0.08, 0.92, 256)))


def _source(series: Series, field: str) -> tuple[str, str]:
    """Return the kind, point or cell, and the name of the data that a field comes from."""
    name = "velocity" if field == "speed" else field
    if name == "displacement" or name in series.point_fields:
        return "point", name
    if name in series.cell_fields:
        return "cell", name
    known = ["displacement", *series.point_fields, *series.cell_fields]
    known += ["speed"] if "velocity" in known else []
    raise RenderError(f"{series.path.name} has no field '{field}'; it has: {', '.join(known)}.")


def _grid(block: Block, points: NDArray[np.float64]) -> pyvista.UnstructuredGrid:
    import pyvista

    sizes = np.diff(block.offsets)
    cells = np.insert(block.connectivity.astype(np.int64), block.offsets[:-1], sizes)
    return pyvista.UnstructuredGrid(cells, block.vtk_types, np.asarray(points, float))


class _Surface(NamedTuple):
    """The surface of a grid, and the nodes and cells of the grid that it is made of."""

    mesh: pyvista.PolyData
    nodes: NDArray[np.integer]
    cells: NDArray[np.integer]


def _surface(grid: pyvista.UnstructuredGrid) -> _Surface:
    # The indices that VTK can pass by itself are wrong on quadratic cells, whose faces it divides at their nodes.
    numbered = grid.copy(deep=False)
    numbered.point_data["node"], numbered.cell_data["cell"] = np.arange(grid.n_points), np.arange(grid.n_cells)
    mesh = numbered.extract_surface(pass_pointid=False, pass_cellid=False, algorithm=None)
    nodes, cells = np.array(mesh.point_data["node"]), np.array(mesh.cell_data["cell"])
    mesh.clear_data()
    return _Surface(mesh, nodes, cells)


def _show(plotter: pyvista.Plotter, name: str, mesh: pyvista.DataSet, **look: Any) -> pyvista.Actor | None:
    """Show a mesh in place of the one of that name in the last picture, and return its actor if there is one."""
    actor: Any = plotter.actors.get(name)
    if actor is not None:
        actor.visibility = bool(mesh.n_points)
        actor.mapper.dataset = mesh
    elif mesh.n_points:
        actor = plotter.add_mesh(mesh, name=name, copy_mesh=False, reset_camera=False, render=False, **look)
    return actor if mesh.n_points else None


def _box(parts: Iterable[NDArray[np.float64]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    every = [points for points in parts if len(points)]
    return np.min([p.min(axis=0) for p in every], axis=0), np.max([p.max(axis=0) for p in every], axis=0)


def _unit(vector: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    length = float(np.linalg.norm(vector))
    if vector.shape != (3,) or not (np.isfinite(length) and length > 0):
        raise RenderError(f"the {name} of a view is three numbers that are not all zero, not {vector.tolist()}.")
    return vector / length
