"""What a picture of a series shows: deformed surfaces or a section, coloured by a field, seen by one camera."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from symplex.errors import RenderError
from symplex.meshes.series import Block, Frame, Series
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
        self._set_colours(field, chosen)
        self._set_camera()

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

    def _set_colours(self, field: str, chosen: Sequence[int]) -> None:
        low, high, top = np.inf, -np.inf, -np.inf
        for i in chosen:
            frame = self._series.frame(i)
            values = [v for name in self._bodies if (v := self._values(frame, name)) is not None and len(v)]
            if values:
                joined = np.concatenate(values)
                low, top = min(low, float(joined.min())), max(top, float(joined.max()))
                # A few corner elements would otherwise leave the rest of the picture dark.
                high = max(high, float(np.quantile(joined, 0.995)))
        low, high = (0.0, 1.0) if low > high else (low, high)
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
        plotter.renderer.clear_actors()
        plane = self._plane(frame)
        for name in self._bodies:
            self._add_body(plotter, frame, name, plane)
        for block in self._obstacles:
            self._add_obstacle(plotter, block, plane)
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

    def _add_body(self, plotter: pyvista.Plotter, frame: Frame, name: str, plane: NDArray[np.float64] | None) -> None:
        points, values = self._moved(frame, name), self._values(frame, name)
        if values is not None:
            values = values * self._scale
        if plane is None:
            shown, nodes, cells = self._surfaces[name]
            shown = shown.copy(deep=False)
            shown.points = points[nodes]
            if values is not None:
                at = nodes if self._field[0] == "point" else cells
                (shown.point_data if self._field[0] == "point" else shown.cell_data)["shown"] = values[at]
        else:
            grid = self._grids[name].copy(deep=False)
            grid.points = points
            if values is not None:
                (grid.point_data if self._field[0] == "point" else grid.cell_data)["shown"] = values
            shown = grid.slice(normal=self._normal, origin=plane)
        if not shown.n_points:
            return
        coloured = {"scalars": "shown", "clim": self.limits, "cmap": colours()}
        crowded = self._edge_length_in_pixels(plotter, shown) < 5
        plotter.add_mesh(
            shown,
            show_scalar_bar=False,
            show_edges=not crowded,
            edge_color=_EDGES,
            line_width=1.0,
            edge_opacity=0.55,
            lighting=plane is None,
            ambient=0.45,
            diffuse=0.65,
            copy_mesh=False,
            reset_camera=False,
            render=False,
            **(coloured if values is not None else {"color": _PLAIN}),
        )

    def _edge_length_in_pixels(self, plotter: pyvista.Plotter, shown: pyvista.PolyData) -> float:
        """Return about how long an edge of a cell is in the picture; where it is short, edges only blacken it."""
        per_pixel = 2 * self._half_height / plotter.window_size[1]
        return float(np.sqrt(shown.area / max(shown.n_cells, 1))) / per_pixel

    def _add_obstacle(self, plotter: pyvista.Plotter, block: Block, plane: NDArray[np.float64] | None) -> None:
        grid = _grid(block, block.points)
        if plane is None:
            plotter.add_mesh(grid, color=_OBSTACLE, opacity=0.35, lighting=False, reset_camera=False, render=False)
            return
        line = grid.slice(normal=self._normal, origin=plane)
        if line.n_points:
            plotter.add_mesh(line, color=_OBSTACLE, line_width=4, lighting=False, reset_camera=False, render=False)

    # -- the camera -------------------------------------------------------------------------------------------

    def _set_camera(self) -> None:
        series = self._series
        step = max(1, -(-len(series) // _FRAMES_FOR_BOUNDS))
        boxes = []
        for i in sorted({*range(0, len(series), step), len(series) - 1}):
            frame = series.frame(i)
            boxes.append(_box(self._moved(frame, name) for name in self._bodies))
        low = np.min([box[0] for box in boxes], axis=0)
        high = np.max([box[1] for box in boxes], axis=0)
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
        centre = (
            self._centre if plane is None else self._centre + self._normal * ((plane - self._centre) @ self._normal)
        )
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


def _surface(grid: pyvista.UnstructuredGrid) -> tuple[pyvista.PolyData, NDArray, NDArray]:
    """Return the surface of a grid, and the nodes and cells of the grid it is made of."""
    surface = grid.extract_surface(pass_pointid=True, pass_cellid=True, algorithm=None)
    nodes, cells = surface.point_data["vtkOriginalPointIds"], surface.cell_data["vtkOriginalCellIds"]
    nodes, cells = np.array(nodes), np.array(cells)
    surface.clear_data()
    return surface, nodes, cells


def _box(parts: object) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    every = [points for points in parts if len(points)]
    return np.min([p.min(axis=0) for p in every], axis=0), np.max([p.max(axis=0) for p in every], axis=0)


def _unit(vector: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    length = float(np.linalg.norm(vector))
    if vector.shape != (3,) or not (np.isfinite(length) and length > 0):
        raise RenderError(f"the {name} of a view is three numbers that are not all zero, not {vector.tolist()}.")
    return vector / length
