"""What a browser draws of a series: triangles of surfaces, lines, points, and the tetrahedra that fill bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from symplex.meshes.kinds import dimension_of
from symplex.meshes.pictures.scene import BODY_COLOURS, OBSTACLE_COLOUR, grid_of, surface_of
from symplex.meshes.series.frames import Block, Frame, Series

if TYPE_CHECKING:
    import pyvista

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]

# The corners of the edges of a tetrahedron, in the order of the bits that report which of them belong to cells.
_TET_EDGES = ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))


class Store(Protocol):
    """Where arrays are put; it returns what a reader has to know of one."""

    def add(self, values: NDArray, over_time: bool = False) -> dict[str, Any]:
        """Take an array."""
        ...


@dataclass(frozen=True)
class BrowserMesh:
    """The cells of all bodies of a series as simplices, and its obstacles.

    Attributes
    ----------
    nodes : int64 [n]
        The nodes of the series that are drawn; other node numbers here are places among them.
    points : float64 [n, 3]
        Their positions at rest in m.
    node_block : uint16 [n]
        The body of each.
    cells : mapping of str to int64 [m_b]
        The cells of each body that are drawn, in the order of the numbers of cells here, body after body.
    triangles, lines, vertices, tetrahedra : int64 [k, 1 + corners]
        The number of the cell that each is of, and its nodes. The triangles of volumes are first.
    volume_triangles : int
        How many.
    edges : int64 [k, 3]
        Edges of cells on surfaces: the number of a cell, and two nodes.
    tetrahedron_edges : uint8 [k]
        One bit for each of the six edges of a tetrahedron, whether it is an edge of a cell.
    obstacles : mapping of str to Block
    cell_fields : list of str
        Which fields have values in cells.
    has_inside : bool
        Whether there are tetrahedra.
    """

    nodes: Ints
    points: NDArray[np.float64]
    node_block: NDArray[np.uint16]
    cells: Mapping[str, Ints]
    triangles: Ints
    volume_triangles: int
    lines: Ints
    vertices: Ints
    tetrahedra: Ints
    edges: Ints
    tetrahedron_edges: NDArray[np.uint8]
    obstacles: Mapping[str, Block]
    cell_fields: list[str]

    @property
    def has_inside(self) -> bool:
        """Whether bodies are filled."""
        return len(self.tetrahedra) > 0

    def means(self, moved: NDArray) -> NDArray:
        """Return the mean [bodies, 3] of values [n, 3] at the nodes of each body."""
        counts = np.bincount(self.node_block, minlength=len(self.cells)).clip(1)
        sums = [np.bincount(self.node_block, moved[:, k], len(self.cells)) for k in range(3)]
        return (np.stack(sums, axis=1) / counts[:, None]).astype(np.float32)

    def frame(self, frame: Frame, names: Sequence[str]) -> dict[str, Floats]:
        """Return the displacement and the named fields of a frame; values that a body does not have are NaN."""
        found = {"displacement": frame.displacement[self.nodes]}
        for name in names:
            if name not in self.cell_fields:
                found[name] = frame.point_data[name][self.nodes]
                continue
            by_block = frame.cell_data[name]
            width = next((values.shape[1:] for values in by_block.values()), ())
            parts = [
                by_block[block][cells] if block in by_block else np.full((len(cells), *width), np.nan, np.float32)
                for block, cells in self.cells.items()
            ]
            found[name] = np.concatenate(parts)
        return found

    def add_to(self, store: Store) -> dict[str, Any]:
        """Put all that does not change over time into a store, and return what is where."""
        counts = [len(cells) for cells in self.cells.values()]
        of_cells = np.repeat(np.arange(len(counts)), counts).astype(np.uint16)
        return {
            "points": store.add(self.points.astype(np.float32)),
            "node_block": store.add(self.node_block),
            "cell_block": store.add(of_cells),
            **{
                name: store.add(getattr(self, name).astype(np.uint32))
                for name in ("triangles", "lines", "vertices", "tetrahedra", "edges")
            },
            "tetrahedron_edges": store.add(self.tetrahedron_edges),
            "volume_triangles": self.volume_triangles,
            "bodies": [
                {"name": name, "colour": BODY_COLOURS[k % len(BODY_COLOURS)]} for k, name in enumerate(self.cells)
            ],
            "obstacles": [_obstacle(name, block, store) for name, block in self.obstacles.items()],
            "obstacle_colour": OBSTACLE_COLOUR,
        }


def browser_mesh(series: Series, *, with_inside: bool) -> BrowserMesh:
    """Return what is drawn of a series, with what is inside of bodies or without it."""
    bodies = {name: block for name, block in series.blocks.items() if not block.is_obstacle}
    parts = _Parts(len(series.points))
    for name, block in bodies.items():
        parts.add(name, block, series.points, with_inside)
    return parts.joined(
        series.points,
        {name: block for name, block in series.blocks.items() if block.is_obstacle},
        list(series.cell_fields),
        with_inside,
    )


class _Parts:
    """The simplices of bodies, one body after the other, in the numbers of the series."""

    def __init__(self, n: int):
        self._simplices: dict[str, list[Ints]] = {}
        self._edge_bits: list[NDArray[np.uint8]] = [np.empty(0, np.uint8)]
        self._sizes: dict[str, int] = {}
        self._block_of = np.zeros(n, np.uint16)

    def add(self, name: str, block: Block, points: NDArray[np.float64], with_inside: bool) -> None:
        """Divide the cells of a body."""
        first = sum(self._sizes.values())
        self._block_of[block.nodes] = len(self._sizes)
        self._sizes[name] = block.n_cells
        if not block.n_cells:
            return
        grid = grid_of(block, points[block.nodes])
        surface = surface_of(grid)
        polygons = surface.mesh
        nodes = np.asarray(block.nodes, np.int64)[surface.nodes]
        divided = polygons.copy(deep=True)
        divided.cell_data["cell"] = surface.cells
        divided = divided.triangulate()
        triangles = divided.regular_faces if divided.GetNumberOfPolys() else np.empty((0, 3), np.int64)
        of = np.asarray(divided.cell_data["cell"])[divided.n_cells - len(triangles) :]
        is_volume = np.array([dimension_of(kind) == 3 for kind in block.cells]).repeat(
            [len(rows) for rows in block.cells.values()]
        )
        volume = is_volume[of]
        for key, chosen in (("volume triangles", volume), ("triangles", ~volume)):
            self._put(key, first + of[chosen], nodes[triangles[chosen]])
        if len(triangles):
            ends = nodes[_edges_of(polygons)]
            self._put("edges", first + self._a_cell_of(ends, triangles, of, nodes), ends)
        self._put_thin(block, first)
        if with_inside and is_volume.any():
            self._put_inside(block, grid, is_volume, first)

    def _put(self, key: str, cells: NDArray, nodes: NDArray) -> None:
        self._simplices.setdefault(key, []).append(np.column_stack([cells, nodes]).astype(np.int64))

    def _a_cell_of(self, ends: NDArray, triangles: NDArray, of: NDArray, nodes: NDArray) -> NDArray:
        """Return a cell on the surface at one end of each edge."""
        cell_at = np.zeros(len(self._block_of), np.int64)
        cell_at[nodes[triangles]] = of[:, None]
        return cell_at[ends[:, 0]]

    def _put_thin(self, block: Block, first: int) -> None:
        """Add bars, each as the lines between its nodes, and points."""
        begin = 0
        for kind, rows in block.cells.items():
            cells = np.arange(first + begin, first + begin + len(rows))
            if kind == "vertex":
                self._put("vertices", cells, rows)
            elif kind == "line":
                self._put("lines", cells, rows)
            elif kind == "line3":  # its ends, and the node between them
                self._put("lines", np.tile(cells, 2), np.concatenate([rows[:, [0, 2]], rows[:, [2, 1]]]))
            begin += len(rows)

    def _put_inside(
        self, block: Block, grid: pyvista.UnstructuredGrid, is_volume: NDArray[np.bool_], first: int
    ) -> None:
        """Add the tetrahedra of the volume cells of a body, and which of their edges are edges of cells."""
        if set(block.cells) == {"tetra"}:
            tetrahedra = np.asarray(block.cells["tetra"], np.int64)
            self._put("tetrahedra", first + np.arange(len(tetrahedra)), tetrahedra)
            self._edge_bits.append(np.full(len(tetrahedra), 63, np.uint8))
            return
        numbered = grid.copy(deep=False)
        numbered.clear_data()
        numbered.cell_data["cell"] = np.arange(grid.n_cells)
        divided = numbered.triangulate()
        kept = divided.celltypes == 10
        cells = np.asarray(divided.cell_data["cell"])[kept]
        local = np.asarray(dict(divided.cells_dict).get(np.uint8(10), np.empty((0, 4), np.int64)))
        kept = is_volume[cells]
        n = len(block.nodes)
        of_cells = np.unique(_keys(_edges_of(grid), n))
        bits = np.zeros(len(local), np.uint8)
        for k, pair in enumerate(_TET_EDGES):
            bits |= (np.isin(_keys(local[:, pair], n), of_cells) << k).astype(np.uint8)
        self._put("tetrahedra", first + cells[kept], np.asarray(block.nodes, np.int64)[local[kept]])
        self._edge_bits.append(bits[kept])

    def joined(
        self, points: NDArray[np.float64], obstacles: Mapping[str, Block], cell_fields: list[str], whole: bool
    ) -> BrowserMesh:
        """Return the mesh of all bodies, with the nodes and cells that are needed."""
        volume = self._of("volume triangles", 3)
        simplices = {
            "triangles": np.concatenate([volume, self._of("triangles", 3)]),
            "lines": self._of("lines", 2),
            "vertices": self._of("vertices", 1),
            "tetrahedra": self._of("tetrahedra", 4),
            "edges": self._of("edges", 2),
        }
        used_nodes, used_cells = np.zeros(len(points), bool), np.zeros(sum(self._sizes.values()), bool)
        for rows in simplices.values():
            used_cells[rows[:, 0]] = True
            used_nodes[rows[:, 1:]] = True
        if whole:
            used_nodes[:] = True
            used_cells[:] = True
        node_number, cell_number = np.cumsum(used_nodes) - 1, np.cumsum(used_cells) - 1
        renumbered = {
            name: np.column_stack([cell_number[rows[:, 0]], node_number[rows[:, 1:]]])
            for name, rows in simplices.items()
        }
        ends = np.cumsum([0, *self._sizes.values()])
        cells = {name: np.flatnonzero(used_cells[ends[k] : ends[k + 1]]) for k, name in enumerate(self._sizes)}
        nodes = np.flatnonzero(used_nodes)
        return BrowserMesh(
            nodes=nodes,
            points=points[nodes],
            node_block=self._block_of[nodes],
            cells=cells,
            volume_triangles=len(volume),
            tetrahedron_edges=np.concatenate(self._edge_bits),
            obstacles=obstacles,
            cell_fields=cell_fields,
            **renumbered,
        )

    def _of(self, key: str, corners: int) -> Ints:
        return np.concatenate([np.empty((0, 1 + corners), np.int64), *self._simplices.get(key, ())])


def _edges_of(grid: pyvista.DataSet) -> Ints:
    """Return the two points of each edge of the cells of a grid, of quadratic cells of each half of it."""
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkFiltersCore import vtkExtractEdges

    found = vtkExtractEdges()
    found.SetInputData(grid)
    found.UseAllPointsOn()
    found.Update()
    lines = found.GetOutput().GetLines()
    if not lines.GetNumberOfCells():
        return np.empty((0, 2), np.int64)
    return vtk_to_numpy(lines.GetConnectivityArray()).astype(np.int64).reshape(-1, 2)


def _keys(pairs: NDArray, n: int) -> NDArray[np.int64]:
    """Return a number for each pair of nodes, whatever their order."""
    pairs = np.asarray(pairs, np.int64)
    return pairs.min(axis=1) * n + pairs.max(axis=1)


def _obstacle(name: str, block: Block, store: Store) -> dict[str, Any]:
    assert block.points is not None
    surface = surface_of(grid_of(block, block.points)).mesh.triangulate()
    faces = surface.regular_faces if surface.GetNumberOfPolys() else np.empty((0, 3), np.int64)
    return {
        "name": name,
        "points": store.add(np.asarray(surface.points, np.float32)),
        "triangles": store.add(np.asarray(faces, np.uint32)),
    }
