"""What a picture of a series shows: deformed surfaces or a section, coloured by a field, seen by one camera."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from symplex.base.fields import FIELDS, GONE, Field
from symplex.errors import RenderError
from symplex.meshes.kinds import dimension_of
from symplex.meshes.pictures.figures import BAD, COLOURS, tint
from symplex.meshes.pictures.packages import require_packages
from symplex.meshes.pictures.section import Plane, Section
from symplex.meshes.pictures.view import Camera, View, front_of
from symplex.meshes.series.frames import Block, Frame, Series
from symplex.units import si_scale

if TYPE_CHECKING:
    import pyvista
    from matplotlib.colors import Colormap

_PLAIN = "#c9ced6"
OBSTACLE_COLOUR = "#8a94a3"
# Of bodies where each has its own, one after the other and again from the first one.
BODY_COLOURS = tuple(map(tint, COLOURS))
_BODY = "body"  # the field by which each body has its own colour
_EDGES, _TRAIL = "#1c2833", "#7f8a99"
_SIGNS = ("#1f4e9e", "#6fa3d8", "#b4b9c0", "#e08a6a", "#b3251e")  # from pushed to pulled
_WIDTH, _POINT = 3.0, 14.0  # of bars and of points, in pixels
_ROUND = {"render_points_as_spheres": True}
_NODAL = "nodal_"  # begins the names of fields that are averaged at nodes
_SIGNED = ("axial_force",)  # fields whose scale is about zero, whatever their values; others where they have both signs
_FRAMES_FOR_BOUNDS, _FRAMES_FOR_TRAILS = 60, 600
_TRAILED = 100  # particles at most whose trails are drawn
_NUMBERED = 30  # members at most that are numbered
_FAR = 10.0  # the ratio of the way of bodies to their size from which the camera goes with them
_MOST = 0.995  # of the values of a frame are on the scale


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
    is_diverging : bool
        Whether the scale is about zero, with a colour for each sign.
    extend : {"neither", "max", "both"}
        Where a few values lie beyond the scale.
    camera : Camera
        That sees all frames.
    legend : dict of str to str
        The colours of bodies by name, where each has its own and there is no scale.
    """

    def __init__(self, series: Series, field: str, view: View, chosen: Sequence[int]):
        require_packages()
        if not len(series):
            raise RenderError(f"{series.path.name} has no frames to draw.")
        self._series = series
        self._view = view
        self._field = _source(series, field)
        self._bodies = {name: block for name, block in series.blocks.items() if not block.is_obstacle}
        self._obstacles = [block for block in series.blocks.values() if block.is_obstacle]
        self._grids = {name: grid_of(block, series.points[block.nodes]) for name, block in self._bodies.items()}
        self._section = self._section_at(series.frame(chosen[0]))
        kinds = {name: {dimension_of(kind) for kind in block.cells} for name, block in self._bodies.items()}
        self._particles = [name for name, kind in kinds.items() if kind == {0}]
        self._members = {name: block.n_cells for name, block in self._bodies.items() if kinds[name] == {1}}
        self._is_thin = all(kind <= {0, 1} for kind in kinds.values())
        self._pivots = {name: np.array(point) for name, point in view.pivots if name in self._bodies}
        self._trails: dict[str, list[tuple[int, NDArray[np.float64]]]] = {}
        self._surfaces = {} if self._section else {name: surface_of(grid) for name, grid in self._grids.items()}
        own = enumerate(self._bodies) if field == _BODY else ()
        self.legend = {name: BODY_COLOURS[k % len(BODY_COLOURS)] for k, name in own}
        self._survey(field, chosen)

    # -- what is shown ----------------------------------------------------------------------------------------

    def _values(self, frame: Frame, block: str) -> NDArray | None:
        """Return the values of the field in a block, None where it has none."""
        kind, name = self._field
        if kind == _BODY:
            return None
        if kind == "point":
            data = frame.displacement if name == "displacement" else frame.point_data[name]
            data = data[self._bodies[block].nodes]
        else:
            data = frame.cell_data[name].get(block)
        if data is None or data.ndim == 1:
            return data
        return np.linalg.norm(data, axis=1)

    def _section_at(self, first: Frame) -> Section | None:
        normal = self._view.normal()
        if normal is None:
            return None
        return Section(normal, self._view.origin, self._bodies, self._moved(first))

    def _survey(self, field: str, chosen: Sequence[int]) -> None:
        """Look through the series once, for the colour scale and the camera, and for what a section meets."""
        few = self._is_thin and sum(len(block.nodes) for block in self._bodies.values()) <= _TRAILED
        step = max(1, -(-len(self._series) // (_FRAMES_FOR_TRAILS if few else _FRAMES_FOR_BOUNDS)))
        bounding = {*range(0, len(self._series), step), len(self._series) - 1}
        boxes, colours_in, reaches, flat = [], [], [], []
        is_met = self._section is None
        with self._series.kept_open():
            for i in sorted({*chosen, *bounding}):
                frame = self._series.frame(i)
                moved = self._moved(frame)
                if i in bounding:
                    boxes.append(_box([*moved.values(), *(axis for axis in self._axes_in(moved).values())]))
                    flat += [points.astype(float) for points in moved.values()] if self._is_thin else []
                    self._follow(i, moved)
                if i in chosen:
                    colours_in += self._range(frame)
                    if self._section is not None:
                        reaches.append(self._section.reach(moved))
                        is_met = is_met or self._section.cuts(moved)
        if not is_met:
            low, high = min(low for low, _ in reaches), max(high for _, high in reaches)
            raise RenderError(
                f"the section meets no body in what is to be drawn; along its normal they are between {low:.4g} m and "
                f"{high:.4g} m."
            )
        self._set_colours(field, colours_in)
        low, high = np.min([low for low, _ in boxes], axis=0), np.max([high for _, high in boxes], axis=0)
        facing = [n for block in self._obstacles if (n := _facing(block, (low + high) / 2)) is not None]
        if self._is_thin and self._view.direction is None and self._view.section is None:
            self._view = replace(self._view, direction=front_of(np.concatenate(flat)))
        self.camera = Camera(self._view, low, high, facing)
        # What flies far is seen from nearby.
        size = np.max([top - bottom for bottom, top in boxes], axis=0)
        is_far = float(np.linalg.norm(high - low)) > _FAR * float(np.linalg.norm(size)) > 0.0
        self._near = Camera(self._view, -size / 2, size / 2, facing) if is_far else None

    def _follow(self, i: int, moved: dict[str, NDArray[np.float64]]) -> None:
        """Keep where particles and the ends of axes are in frame i, for their trails."""
        if sum(len(moved[name]) for name in self._particles) <= _TRAILED:
            for name in self._particles:
                self._trails.setdefault(name, []).append((i, moved[name]))
        for name, axis in self._axes_in(moved).items():
            self._trails.setdefault(name, []).append((i, axis[1:]))

    def _axes_in(self, moved: dict[str, NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
        """Return the ends [2, 3] of the axes of bodies that turn about a point: it, and one beyond the body."""
        found = {}
        for name, pivot in self._pivots.items():
            along = moved[name].mean(axis=0) - pivot
            reach = float(((moved[name] - pivot) @ along).max()) / (float(along @ along) or 1.0)
            found[name] = np.array([pivot, pivot + 1.2 * reach * along])
        return found

    def _range(self, frame: Frame) -> list[tuple[float, float, float, float]]:
        """Return the least value of the field, two between which most are, and the greatest, if there are any."""
        values = [v for name in self._bodies if (v := self._values(frame, name)) is not None and len(v)]
        if not values:
            return []
        joined = np.concatenate(values)
        # A few corner elements would otherwise leave the rest of the picture dark.
        few, most = np.quantile(joined, (1 - _MOST, _MOST))
        return [(float(joined.min()), float(few), float(most), float(joined.max()))]

    def _set_colours(self, field: str, ranges: Sequence[tuple[float, float, float, float]]) -> None:
        lows, fews, highs, tops = zip(*ranges, strict=True) if ranges else ([0.0], [0.0], [1.0], [1.0])
        least, few, high, top = min(lows), min(fews), max(highs), max(tops)
        low = _from_zero(least, high)
        self.is_diverging = (field in _SIGNED or low < 0.0 < high) and bool(ranges)
        if self.is_diverging:
            high = max(-few, high, 0.0) or max(-least, top)
            low = -high
        is_above, is_below = top > high * (1 + 1e-6) > 0, self.is_diverging and least < low * (1 + 1e-6)
        self.extend = "both" if is_below else "max" if is_above else "neither"
        words, unit = words_of(field)
        self._scale, unit = si_scale(max(abs(low), abs(high)), unit)
        self.label = f"{words} ({unit})" if unit else words
        self.limits = (low * self._scale, (high if high > low else low + 1.0) * self._scale)

    @property
    def colours(self) -> Colormap:
        """The colours of the scale."""
        return colours(self.is_diverging)

    # -- drawing ----------------------------------------------------------------------------------------------

    def draw(self, plotter: pyvista.Plotter, i: int, *, part: float = 0.0, density: float = 1.0) -> NDArray[np.uint8]:
        """Return the picture [height, width, 3] of frame i.

        Parameters
        ----------
        plotter : Plotter
        i : int
        part : float, default 0
            What part of its way the camera has gone, from 0 to 1.
        density : float, default 1
            By how much lines are wider than they are on a screen, in pixels.
        """
        plane = self.show(plotter, i, density=density)
        if self._near is None:
            self.camera.aim(plotter, plane, part)
        else:
            self._near.aim(plotter, plane, part, np.mean(_box(self._moved(self._series.frame(i)).values()), axis=0))
        plotter.render()
        return np.asarray(plotter.screenshot(None, return_img=True))[..., :3]

    def show(self, plotter: pyvista.Plotter, i: int, *, density: float = 1.0, cut: Plane | None = None) -> Plane | None:
        """Show frame i, with what is beyond a plane cut away, and return the plane of the section if there is one."""
        frame = self._series.frame(i)
        moved = self._moved(frame)
        plane = None if self._section is None else self._section.plane(moved)
        for name, points in moved.items():
            there = self._there(frame, name)
            self._show_body(plotter, name, points, self._values(frame, name), plane, density, cut, there)
        for k, block in enumerate(self._obstacles):
            _show_obstacle(plotter, f"obstacle {k}", block, plane, density)
        if plane is None and cut is None:
            self._show_marks(plotter, i, moved, density)
        return plane

    def _show_marks(
        self, plotter: pyvista.Plotter, i: int, moved: dict[str, NDArray[np.float64]], density: float
    ) -> None:
        """Show the trails of particles, pivots and axes, and the numbers of members."""
        look = {"lighting": False, "line_width": _WIDTH * density, "point_size": _POINT * density, **_ROUND}
        axes = self._axes_in(moved)
        for name, trail in self._trails.items():
            now = axes[name][1:] if name in axes else moved[name]
            path = np.array([*(points for k, points in trail if k < i), now])
            _show(plotter, f"trail {name}", _paths(path), color=_TRAIL, **look | {"line_width": 1.5 * density})
        for name, axis in axes.items():
            _show(plotter, f"axis {name}", _paths(axis[:, None]), color=_EDGES, **look)
            _show(plotter, f"pivot {name}", _dots(axis[:1]), color=BAD, **look)
        if 1 < sum(self._members.values()) <= _NUMBERED:
            ends = [moved[name][self._bodies[name].connectivity.reshape(n, -1)] for name, n in self._members.items()]
            numbers = [str(k) for n in self._members.values() for k in range(n)]
            middles = np.concatenate([points[:, :2].mean(axis=1) for points in ends])
            plotter.add_point_labels(
                middles, numbers, name="numbers", font_size=round(13 * density), text_color=_EDGES, shape="rect",
                shape_color="white", shape_opacity=0.75, margin=1, show_points=False, always_visible=True,
                reset_camera=False, render=False,
            )  # fmt: skip

    def _moved(self, frame: Frame) -> dict[str, NDArray[np.float64]]:
        """Return the positions [n_b, 3] of the nodes of each body in m, with displacements enlarged."""
        found = {
            name: self._series.points[block.nodes] + self._view.scale * frame.displacement[block.nodes]
            for name, block in self._bodies.items()
        }
        for name, points in found.items():
            if (there := self._there(frame, name)) is not None:
                # Nodes without elements fly far, and are not drawn.
                grid = self._grids[name]
                held = np.zeros(len(points), bool)
                held[np.unique(grid.extract_cells(there).point_data["vtkOriginalPointIds"])] = True
                points[~held] = points[held].mean(axis=0)
        return found

    def _there(self, frame: Frame, block: str) -> NDArray[np.integer] | None:
        """Return the elements of a block that are not gone; None if all are there, or none."""
        gone = frame.cell_data.get(GONE, {}).get(block)
        there = None if gone is None else np.flatnonzero(gone < 0.5)
        return None if gone is None or there is None or not 0 < len(there) < len(gone) else there

    def _show_body(
        self,
        plotter: pyvista.Plotter,
        name: str,
        points: NDArray[np.float64],
        values: NDArray | None,
        plane: Plane | None,
        density: float,
        cut: Plane | None,
        there: NDArray[np.integer] | None,
    ) -> None:
        at_points = self._field[0] == "point"
        if plane is None and cut is None and there is None:
            surface = self._surfaces[name]
            shown, points = surface.mesh.copy(deep=False), points[surface.nodes]
            if values is not None:
                values = values[surface.nodes if at_points else surface.cells]
        else:
            shown = self._grids[name].copy(deep=False)
        shown.points = points
        if values is not None:
            (shown.point_data if at_points else shown.cell_data)["shown"] = values * self._scale
        if there is not None:
            shown = shown.extract_cells(there)
            if plane is None and cut is None:
                shown = shown.extract_surface(pass_pointid=False, pass_cellid=False, algorithm=None)
        if plane is not None:
            shown = shown.slice(normal=plane.normal, origin=plane.origin)
        elif cut is not None:
            clipped = shown.clip(normal=cut.normal, origin=cut.origin)
            shown = clipped.extract_surface(pass_pointid=False, pass_cellid=False, algorithm=None)
        look: dict[str, Any] = {"color": self.legend.get(name, COLOURS[0] if name in self._particles else _PLAIN)}
        if values is not None:
            look = {"scalars": "shown", "clim": self.limits, "cmap": self.colours, "show_scalar_bar": False}
        light = {"lighting": plane is None, "ambient": 0.45, "diffuse": 0.65}
        edges = {"edge_color": _EDGES, "edge_opacity": 0.55, "line_width": density}
        is_thin = dimension_of(next(iter(self._bodies[name].cells), "tetra")) < 2
        if is_thin:
            light, edges = (
                {"lighting": False},
                {"line_width": _WIDTH * density, "point_size": _POINT * density, **_ROUND},
            )
        actor = _show(plotter, f"body {name}", shown, **look, **light, **edges)
        if actor is not None and not is_thin:
            # Where edges are short, they only blacken the picture.
            length = float(np.sqrt(shown.area / max(shown.n_cells, 1)))
            actor.GetProperty().SetEdgeVisibility(length >= 5 * density * (self._near or self.camera).pixel(plotter))

    @property
    def aspect(self) -> float:
        """Height of the scene over its width, between ½ and 1½."""
        return (self._near or self.camera).aspect


def words_of(field: str) -> tuple[str, str]:
    """Return words for a field, and its unit."""
    name = field.removeprefix(_NODAL)
    known = FIELDS.get(name, Field(name.replace("_", " "), ""))
    return f"{known.words} at nodes" if field.startswith(_NODAL) else known.words, known.unit


def named_limits(frames: NDArray) -> tuple[float, float]:
    """Return the ends of the scale for values [frames, …], of which some may be NaN."""
    frames = frames.reshape(len(frames), -1)
    frames = frames[:, ~np.isnan(frames).all(axis=0)]
    if not frames.size:
        return 0.0, 1.0
    low, high = float(frames.min()), max(float(np.quantile(one, _MOST)) for one in frames)
    if low < 0:  # of what may have either sign, few are left out at either end
        low = min(float(np.quantile(one, 1 - _MOST)) for one in frames)
    low = _from_zero(low, high)
    return low, high if high > low else low + 1.0


def _from_zero(low: float, high: float) -> float:
    """Return where a scale begins: at zero, if the least value is near it."""
    return 0.0 if 0 <= low < 0.2 * high else low


def colours(is_diverging: bool = False) -> Colormap:
    """Return the colours of a scale, or of one about zero, none so dark or so light that edges or surfaces are lost."""
    from matplotlib import colormaps
    from matplotlib.colors import LinearSegmentedColormap, ListedColormap

    if is_diverging:
        return LinearSegmentedColormap.from_list("about zero", _SIGNS)
    return ListedColormap(colormaps["turbo"](np.linspace(0.08, 0.92, 256)))


def _source(series: Series, field: str) -> tuple[str, str]:
    """Return the kind, point, cell or body, and the name of the data that a field comes from."""
    name = "velocity" if field == "speed" else field
    if name == _BODY:
        return _BODY, name
    if name == "displacement" or name in series.point_fields:
        return "point", name
    if name in series.cell_fields:
        return "cell", name
    known = ["displacement", *series.point_fields, *series.cell_fields]
    known += ["speed"] if "velocity" in known else []
    known += [_BODY]
    raise RenderError(f"{series.path.name} has no field '{field}'; it has: {', '.join(known)}.")


def grid_of(block: Block, points: NDArray[np.float64]) -> pyvista.UnstructuredGrid:
    """Return the grid of the cells of a block with points [n_b, 3] in m."""
    import pyvista

    sizes = np.diff(block.offsets)
    cells = np.insert(block.connectivity.astype(np.int64), block.offsets[:-1], sizes)
    return pyvista.UnstructuredGrid(cells, block.vtk_types, np.asarray(points, float))


def _paths(points: NDArray[np.float64]) -> pyvista.PolyData:
    """Return a line along each of the paths of points [k, paths, 3]; none of points at rest."""
    import pyvista

    moving = [points[:, k] for k in range(points.shape[1]) if len(points) > 1 and np.ptp(points[:, k], axis=0).any()]
    if not moving:
        return pyvista.PolyData()
    n, rows = len(points), np.arange(len(moving) * len(points)).reshape(len(moving), -1)
    lines = np.column_stack([np.full(len(moving), n), rows]).ravel()
    return pyvista.PolyData(np.concatenate(moving), lines=lines)


def _dots(points: NDArray[np.float64]) -> pyvista.PolyData:
    import pyvista

    return pyvista.PolyData(np.asarray(points, float))


class Surface(NamedTuple):
    """The surface of a grid, and the nodes and cells of the grid that it is made of."""

    mesh: pyvista.PolyData
    nodes: NDArray[np.integer]
    cells: NDArray[np.integer]


def surface_of(grid: pyvista.UnstructuredGrid) -> Surface:
    """Return the surface of a grid."""
    # The indices that VTK can pass by itself are wrong on quadratic cells, whose faces it divides at their nodes.
    numbered = grid.copy(deep=False)
    numbered.point_data["node"], numbered.cell_data["cell"] = np.arange(grid.n_points), np.arange(grid.n_cells)
    mesh = numbered.extract_surface(pass_pointid=False, pass_cellid=False, algorithm=None)
    nodes, cells = np.array(mesh.point_data["node"]), np.array(mesh.cell_data["cell"])
    mesh.clear_data()
    return Surface(mesh, nodes, cells)


def _show(plotter: pyvista.Plotter, name: str, mesh: pyvista.DataSet, **look: Any) -> pyvista.Actor | None:
    """Show a mesh in place of the one of that name in the last picture, and return its actor if there is one."""
    actor: Any = plotter.actors.get(name)
    if actor is not None:
        actor.visibility = bool(mesh.n_points)
        actor.mapper.dataset = mesh
    elif mesh.n_points:
        actor = plotter.add_mesh(mesh, name=name, copy_mesh=False, reset_camera=False, render=False, **look)
    return actor if mesh.n_points else None


def _show_obstacle(plotter: pyvista.Plotter, name: str, block: Block, plane: Plane | None, density: float) -> None:
    assert block.points is not None
    if plane is not None:
        line = grid_of(block, block.points).slice(normal=plane.normal, origin=plane.origin)
        _show(plotter, name, line, color=OBSTACLE_COLOUR, line_width=4 * density, lighting=False)
    elif name not in plotter.actors:
        _show(plotter, name, grid_of(block, block.points), color=OBSTACLE_COLOUR, opacity=0.35, lighting=False)


def _facing(block: Block, bodies: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return the unit normal of a planar obstacle towards the middle of the bodies, None if it is not planar."""
    assert block.points is not None
    middle = block.points.mean(axis=0)
    _, lengths, axes = np.linalg.svd(block.points - middle, full_matrices=False)
    if len(lengths) < 3 or lengths[2] > 1e-6 * lengths[0]:
        return None
    return axes[2] if float((bodies - middle) @ axes[2]) >= 0 else -axes[2]


def _box(parts: Iterable[NDArray[np.float64]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    every = [points for points in parts if len(points)]
    return np.min([p.min(axis=0) for p in every], axis=0), np.max([p.max(axis=0) for p in every], axis=0)
