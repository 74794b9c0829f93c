"""What every time series has, whatever its format: blocks of cells, frames, a writer that checks them, a reader."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.base.files import WAY_OUT, damage_reported, reason_of
from symplex.base.representation import Described, Summarized, names
from symplex.errors import OutputError
from symplex.meshes.mesh import distinct
from symplex.meshes.pictures.patch import covering

Floats = NDArray[np.float32]
PointData = Mapping[str, ArrayLike]
CellData = Mapping[str, Mapping[str, ArrayLike]]

# meshio's name of a cell type -> VTK's number.
VTK_TYPES = {
    "vertex": 1,
    "line": 3,
    "triangle": 5,
    "quad": 9,
    "tetra": 10,
    "hexahedron": 12,
    "wedge": 13,
    "pyramid": 14,
    "line3": 21,
    "triangle6": 22,
    "quad8": 23,
    "tetra10": 24,
    "hexahedron20": 25,
    "wedge15": 26,
    "pyramid13": 27,
    "quad9": 28,
    "hexahedron27": 29,
    "wedge18": 32,
}
_CELL_TYPES = {number: name for name, number in VTK_TYPES.items()}
# meshio's name of a cell type -> its number of nodes.
_NODES = {
    **{"vertex": 1, "line": 2, "triangle": 3, "quad": 4, "tetra": 4, "hexahedron": 8, "wedge": 6, "pyramid": 5},
    **{"line3": 3, "triangle6": 6, "quad8": 8, "tetra10": 10, "hexahedron20": 20},
    **{"wedge15": 15, "pyramid13": 13, "quad9": 9, "hexahedron27": 27, "wedge18": 18},
}


@dataclass(frozen=True, repr=False)
class Block(Summarized):
    """A named part of a series: cells of a body, or an obstacle that does not move.

    Attributes
    ----------
    nodes : int32 [n_b]
        The nodes of the block in the numbering of the whole model; empty for an obstacle.
    cells : mapping of str to int32 [m, k]
        Connectivity by meshio's cell type names, in the numbering of the whole model (of ``points`` for an obstacle).
    points : float64 [n_b, 3], optional
        The points of an obstacle.
    is_endless : bool, default False
        Whether the points of an obstacle are the corners of a rectangle that stands for a plane without end. It grows
        where bodies would leave it.
    """

    nodes: NDArray[np.int32]
    cells: Mapping[str, NDArray[np.int32]]
    points: NDArray[np.float64] | None = None
    is_endless: bool = False

    @classmethod
    def of(cls, cells: Mapping[str, NDArray[np.int32]]) -> Block:
        """Return the block of the given cells and all their nodes, ascending."""
        flat = [np.asarray(rows).ravel() for rows in cells.values()]
        nodes = np.concatenate(flat)
        return cls(distinct(nodes, int(nodes.max(initial=-1)) + 1), cells)

    @classmethod
    def obstacle(cls, points: ArrayLike, cells: Mapping[str, NDArray[np.int32]]) -> Block:
        """Return a block that stands still, with its own points."""
        return cls(np.empty(0, np.int32), cells, in_space(np.asarray(points, float)))

    @classmethod
    def plane(cls, corners: ArrayLike) -> Block:
        """Return the block of a plane without end, by the corners [4, 3] of a rectangle in it, in order."""
        rounded = np.asarray(corners, np.float32).astype(float)
        return cls(np.empty(0, np.int32), {"quad": np.array([[0, 1, 2, 3]], np.int32)}, rounded, is_endless=True)

    def covering(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> Block:
        """Return a plane without end so large that it lies below all between two corners [3]; itself if it is."""
        assert self.points is not None, "a plane is an obstacle"
        enlarged = covering(self.points, low, high)
        return self if enlarged is self.points else replace(self, points=enlarged)

    @property
    def is_obstacle(self) -> bool:
        """Whether the block has its own points and no part in the motion."""
        return self.points is not None

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.nodes) if self.points is None else len(self.points)

    @property
    def n_cells(self) -> int:
        """Number of cells of all types."""
        return sum(len(rows) for rows in self.cells.values())

    @cached_property
    def connectivity(self) -> NDArray[np.int32]:
        """Connectivity of all cells in a row, in the numbering of the block."""
        flat = [np.asarray(rows, np.int32).ravel() for rows in self.cells.values()]
        joined = np.concatenate(flat) if flat else np.empty(0, np.int32)
        if self.is_obstacle or not len(joined):
            return joined
        place = np.full(max(int(joined.max()), int(self.nodes.max(initial=-1))) + 1, -1, np.int32)
        place[self.nodes] = np.arange(len(self.nodes), dtype=np.int32)
        return place[joined]

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where each cell begins in `connectivity`, and its end [m + 1]."""
        sizes = [np.full(len(rows), np.shape(rows)[1], np.int64) for rows in self.cells.values()]
        return np.concatenate([np.zeros(1, np.int64), *sizes]).cumsum()

    @cached_property
    def vtk_types(self) -> NDArray[np.uint8]:
        """VTK's number of the type of each cell [m]."""
        kinds = [np.full(len(rows), VTK_TYPES[kind], np.uint8) for kind, rows in self.cells.items()]
        return np.concatenate([np.empty(0, np.uint8), *kinds])

    @classmethod
    def from_vtk(
        cls,
        connectivity: NDArray[np.integer],
        vtk_types: NDArray[np.uint8],
        sizes: NDArray[np.integer],
        nodes: NDArray[np.int32],
        points: NDArray[np.float64] | None,
        is_endless: bool = False,
    ) -> Block:
        """Return the block of cells given as VTK does (``sizes``: nodes per cell); the inverse of the three above."""
        n = len(nodes if points is None else points)
        if connectivity.size and not 0 <= connectivity.min() <= connectivity.max() < n:
            raise ValueError("a cell has a node outside its block")
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        cells = {}
        for kind in dict.fromkeys(vtk_types.tolist()):
            chosen = np.flatnonzero(vtk_types == kind)
            local = connectivity[starts[chosen][:, None] + np.arange(int(sizes[chosen[0]]))]
            cells[_CELL_TYPES[kind]] = (local if points is not None else nodes[local]).astype(np.int32)
        return cls(nodes, cells, points, is_endless)


class Frame(NamedTuple):
    """One moment of a series; data as in `SeriesWriter.append`."""

    t: float
    displacement: Floats
    point_data: dict[str, Floats]
    cell_data: dict[str, dict[str, Floats]]


class SeriesWriter(Described, ABC):
    """Appends frames to a series; a context manager.

    Parameters
    ----------
    path : Path
    points : float64 [n, 3]
    blocks : mapping of str to Block
    """

    def __init__(self, path: Path, points: NDArray[np.float64], blocks: Mapping[str, Block]):
        self.path = path
        self.points = points
        self.blocks = dict(blocks)
        self._last: float | None = None
        self._layout: dict[tuple[str, ...], tuple[int, ...]] | None = None
        self._grown: set[str] = set()  # planes whose enlarged rectangle is not in the series yet
        _check_blocks(path, points, self.blocks)

    @classmethod
    @abstractmethod
    def resume(cls, path: Path, up_to: float, frames: int | None) -> SeriesWriter:
        """Reopen the series without the frames later than ``up_to`` (see `resume_series`)."""

    @abstractmethod
    def _write(self, t: float, displacement: Floats, point_data: dict, cell_data: dict) -> None:
        """Write a frame whose data were checked."""

    @abstractmethod
    def close(self) -> None:
        """Finish the series; more than once does no harm."""

    def append(
        self,
        t: float,
        displacement: ArrayLike,
        point_data: PointData | None = None,
        cell_data: CellData | None = None,
    ) -> None:
        """Append a frame; on return it is safe from a kill of the process.

        Parameters
        ----------
        t : float
            Time in s, later than that of the last frame.
        displacement : [n, dim]
            Displacement of all nodes in m.
        point_data : mapping of str to [n] or [n, c], optional
            Values at all nodes; the same names and shapes in each frame.
        cell_data : mapping of str to (mapping of str to [m] or [m, c]), optional
            Values by name and block, for the cells of a block in the order of its types. Blocks may be left out.
        """
        if self._last is not None and not t > self._last:
            raise OutputError(f"{self.path.name}: a frame at t = {t:g} s cannot follow one at t = {self._last:g} s.")
        moved = self._values("displacement", displacement, len(self.points), t)
        if moved.shape != (len(self.points), 3):
            raise OutputError(f"{self.path.name}: displacement has {moved.ndim} dimensions, expected [n, dim].")
        at_points = {name: self._values(name, a, len(self.points), t) for name, a in (point_data or {}).items()}
        at_cells = {
            name: {block: self._values(name, a, self._cells_of(name, block), t) for block, a in by_block.items()}
            for name, by_block in (cell_data or {}).items()
        }
        self._check_layout(at_points, at_cells)
        self._cover(self.points + moved)
        try:
            self._write(float(t), moved, at_points, at_cells)
        except (OSError, UnicodeEncodeError) as error:
            raise OutputError(
                f"{self.path}: the frame at t = {t:g} s cannot be written ({reason_of(error)}); "
                "the frames before it are safe."
            ) from error
        self._last = float(t)
        self._grown.clear()

    def _cover(self, positions: NDArray[np.float64]) -> None:
        """Enlarge what is shown of planes without end, so that it lies below the bodies."""
        planes = {name: block for name, block in self.blocks.items() if block.is_endless}
        if not planes:
            return
        low, high = positions.min(axis=0), positions.max(axis=0)
        for name, plane in planes.items():
            self.blocks[name] = plane.covering(low, high)
            if self.blocks[name] is not plane:
                self._grown.add(name)

    def _values(self, name: str, values: ArrayLike, n: int, t: float) -> Floats:
        array = in_space(np.asarray(values))
        if array.shape[:1] != (n,) or array.ndim > 2:
            raise OutputError(f"{self.path.name}: '{name}' has shape {array.shape}, expected ({n},) or ({n}, c).")
        with np.errstate(over="ignore"):
            array = np.ascontiguousarray(array, np.float32)
        if not np.isfinite(array).all():
            bad = int(np.argwhere(~np.isfinite(array))[0, 0])
            raise OutputError(f"{self.path.name}: '{name}' is not finite in row {bad} at t = {t:g} s.")
        return array

    def _cells_of(self, name: str, block: str) -> int:
        if block not in self.blocks:
            raise OutputError(
                f"{self.path.name}: cell data '{name}' for block '{block}', which is not there; "
                f"the blocks are: {', '.join(self.blocks)}."
            )
        return self.blocks[block].n_cells

    def _check_layout(self, at_points: dict[str, Floats], at_cells: dict[str, dict[str, Floats]]) -> None:
        """Refuse data whose names or shapes differ from those of the first frame."""
        layout = {("point", name): array.shape[1:] for name, array in at_points.items()}
        layout |= {
            ("cell", name, block): array.shape[1:]
            for name, by_block in at_cells.items()
            for block, array in by_block.items()
        }
        if self._layout is None:
            self._layout = layout
        if layout != self._layout:
            odd = sorted(set(layout.items()) ^ set(self._layout.items()))[0][0]
            raise OutputError(
                f"{self.path.name}: {odd[0]} data '{odd[1]}' differ from the first frame; "
                "every frame has the same fields of the same shape."
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Series(ABC):
    """A series for reading.

    Attributes
    ----------
    path : Path
    times : float64 [frames]
        Times of the frames in s, ascending.
    points : float64 [n, 3]
        Reference positions in m.
    blocks : mapping of str to Block
    point_fields, cell_fields : list of str
        Names of the data, without the displacement.
    """

    path: Path
    times: NDArray[np.float64]
    points: NDArray[np.float64]
    blocks: Mapping[str, Block]
    point_fields: list[str]
    cell_fields: list[str]

    def _set(
        self,
        path: Path,
        times: NDArray[np.float64],
        points: NDArray[np.float64],
        blocks: Mapping[str, Block],
        point_fields: Iterable[str],
        cell_fields: Iterable[str],
    ) -> None:
        """Take over what was read, and refuse what no writer has written: a damaged file is not drawn."""
        _check_points("its points", points)
        _check_blocks(path, points, blocks)
        for name, block in blocks.items():
            if block.points is not None:
                _check_points(f"the points of block '{name}'", block.points)
        if times.ndim != 1 or times.dtype != float or not np.isfinite(times).all() or (np.diff(times) <= 0).any():
            raise ValueError("its times do not increase")
        self.path, self.times, self.points, self.blocks = path, times, points, blocks
        self.point_fields, self.cell_fields = list(point_fields), list(cell_fields)

    @abstractmethod
    def _read(self, i: int) -> Frame:
        """Return frame ``0 <= i < len(times)``."""

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.path.name!r}: {len(self)} frames, {len(self.points)} points; "
            f"blocks: {names(self.blocks)})"
        )

    def frame(self, i: int) -> Frame:
        """Return frame i; negative from the end."""
        n = len(self.times)
        if not -n <= i < n:
            raise OutputError(f"{self.path.name} has {n} frames, 0 to {n - 1}; there is no frame {i}.")
        with damage_reported(self.path, f"series with a whole frame {i % n}", WAY_OUT):
            frame = self._read(i % n)
            self._check(frame)
            return frame

    def _check(self, frame: Frame) -> None:
        """Refuse values that no writer has written, of a damaged file."""
        n = len(self.points)
        sized = [("displacement", frame.displacement, n), *((k, a, n) for k, a in frame.point_data.items())]
        for key, by_block in frame.cell_data.items():
            sized += [(key, a, self.blocks[name].n_cells) for name, a in by_block.items()]
        for name, values, rows in sized:
            if values.shape[:1] != (rows,) or values.ndim > 2 or values.dtype != np.float32:
                raise ValueError(f"'{name}' has the shape {values.shape}, expected {rows} rows")
            if not np.isfinite(values).all():
                raise ValueError(f"'{name}' is not finite")
        if frame.displacement.shape != (n, 3):
            raise ValueError(f"'displacement' has the shape {frame.displacement.shape}, expected ({n}, 3)")

    @contextmanager
    def kept_open(self) -> Iterator[None]:
        """Read frames inside from files that are opened once, as they are now."""
        yield

    def frames(self) -> Iterator[Frame]:
        """Yield all frames."""
        for i in range(len(self.times)):
            yield self.frame(i)

    def index_at(self, t: float) -> int:
        """Return the frame nearest to the time t."""
        first, last = self.times[0], self.times[-1]
        slack = 1e-6 * (last - first)
        if not first - slack <= t <= last + slack:
            raise OutputError(f"{self.path.name} runs from t = {first:g} s to {last:g} s; t = {t:g} s is outside.")
        return int(np.argmin(np.abs(self.times - t)))


def _check_points(name: str, points: NDArray[np.float64]) -> None:
    if points.ndim != 2 or points.shape[1] != 3 or points.dtype != float or not np.isfinite(points).all():
        raise ValueError(f"{name} are not finite positions in space")


def _check_blocks(path: Path, points: NDArray[np.float64], blocks: Mapping[str, Block]) -> None:
    used = np.zeros(len(points), bool)
    for name, block in blocks.items():
        if not name or "/" in name or name.startswith("."):
            raise OutputError(f"{path.name}: '{name}' cannot name a block; leave out '/' and a leading dot.")
        if unknown := set(block.cells) - set(VTK_TYPES):
            raise OutputError(f"{path.name}: block '{name}' has cells of the unknown type '{unknown.pop()}'.")
        for kind, rows in block.cells.items():
            if np.ndim(rows) != 2 or np.shape(rows)[1] != _NODES[kind]:
                shape = list(np.shape(rows))
                raise OutputError(
                    f"{path.name}: '{kind}' of block '{name}' has the shape {shape}, expected [m, {_NODES[kind]}]."
                )
        limit = block.n_points if block.is_obstacle else len(points)
        every = np.concatenate([block.nodes, *(np.ravel(rows) for rows in block.cells.values())])
        if every.size and (every.dtype.kind not in "iu" or every.min() < 0 or every.max() >= limit):
            raise OutputError(f"{path.name}: a cell of block '{name}' has a node outside the block.")
        if block.connectivity.min(initial=0) < 0:
            raise OutputError(f"{path.name}: a cell of block '{name}' has a node outside the block.")
        used[block.nodes] = True
    if not len(used):
        raise OutputError(f"{path.name}: a series needs the nodes of at least one body.")
    if not used.all():
        raise OutputError(f"{path.name}: node {int(np.argmin(used))} is in no block; each must be in one.")


def in_space(array: NDArray) -> NDArray:
    """Return rows of two (plane) as rows of three with a zero; others as they are."""
    if array.ndim == 2 and array.shape[1] == 2:
        return np.pad(array, ((0, 0), (0, 1)))
    return array


def kept_frames(path: Path, times: NDArray[np.float64], up_to: float, requested: int | None) -> int:
    """Return how many frames are not later than ``up_to``."""
    kept = int(np.count_nonzero(times <= up_to))
    if not kept:
        raise OutputError(f"{path.name} has no frame up to t = {up_to:g} s to continue from; start a new series.")
    if requested is not None and kept != requested:
        raise OutputError(f"{path} has {kept} frames up to t = {up_to:g} s, expected {requested}; {WAY_OUT}.")
    return kept
