"""Time series whose bodies are in pieces, each a .vtkhdf file of its own, with an index that programs open.

Layout: the pieces of ``motion.vtkhdf`` are ``motion/piece00000.vtkhdf`` and so on, each a whole series by itself
(`symplex.meshes.series.vtkhdf`), with the numbers of its points and cells among all under ``/symplex``. The index is a
MultiBlockDataSet like that of one file, in which a body is a block of pieces, and what these hold is linked from them;
times and the numbers of steps are its own. So are obstacles.

Safety: pieces are written before the index counts a frame. A kill leaves pieces with a frame more than the index has,
which no program sees, and which the next one takes the place of.
"""

# h5py declares group["name"] as any of Group, Dataset and Datatype; which it is here, the layout above says.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportIndexIssue=false
# pyright: reportGeneralTypeIssues=false, reportOperatorIssue=false

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from symplex.base.files import WAY_OUT, aside_of, damage_reported, new_file
from symplex.errors import OutputError
from symplex.meshes.series import vtkhdf
from symplex.meshes.series.committed import CommittedFile, opened
from symplex.meshes.series.frames import Block, Floats, Frame, Series, SeriesWriter, kept_frames
from symplex.meshes.series.growing import Growing
from symplex.meshes.series.redo import recover
from symplex.meshes.series.vtkhdf import VtkHdfSeries, VtkHdfWriter

if TYPE_CHECKING:
    import h5py

_PIECES = "pieces"  # an attribute of /symplex: how many there are
# What a block of the index has of a piece.
_LINKED = ("Points", "NumberOfPoints", "NumberOfCells", "NumberOfConnectivityIds", "Connectivity", "Offsets", "Types",
           "PointData", "CellData")  # fmt: skip
_LINKED_STEPS = ("PointDataOffsets", "CellDataOffsets", "NumberOfParts", *vtkhdf.GEOMETRY_OFFSETS)


class Piece(NamedTuple):
    """A part of the bodies of a series.

    Attributes
    ----------
    points : float64 [p, 3]
        Reference positions in m of its points.
    blocks : mapping of str to Block
        The bodies of which it has cells, in its own numbering of points.
    numbers : int32 [p]
        The numbers of its points among all.
    cells : mapping of str to int64 [m]
        By block, the numbers of its cells among those of the whole block.
    """

    points: NDArray[np.float64]
    blocks: Mapping[str, Block]
    numbers: NDArray[np.int32]
    cells: Mapping[str, NDArray[np.int64]]

    @property
    def about(self) -> dict[str, NDArray[np.integer]]:
        """What its file has of it under ``/symplex``."""
        return {"numbers": self.numbers} | {f"cells/{name}": cells for name, cells in self.cells.items()}


def path_of_piece(path: Path, k: int) -> Path:
    """Return the file of piece k of a series."""
    return path.with_suffix("") / f"piece{k:05d}.vtkhdf"


def pieces_of(path: Path) -> int:
    """Return how many pieces a .vtkhdf file is the index of; 0: it is none.

    Raises
    ------
    OutputError
        If it cannot be read.
    """
    with damage_reported(path, "series of symplex", WAY_OUT), opened(path) as file:
        return int(file["symplex"].attrs.get(_PIECES, 0))


def piece_files(path: Path) -> list[Path]:
    """Return what has the name of a file of a piece in the folder beside an index; none if that is a link."""
    folder = path.with_suffix("")
    if folder.is_symlink() or not folder.is_dir():
        return []
    return sorted(folder.glob("piece[0-9][0-9][0-9][0-9][0-9].vtkhdf*"))


@final
class PieceIndex:
    """The index of a series in pieces; a context manager. The file appears with the first frame.

    Parameters
    ----------
    path : Path
    n_points : int
        Of all bodies together.
    blocks : mapping of str to Block or None
        Obstacles, and None for bodies, in their order.
    bodies : sequence of collection of str
        The names of the bodies that each piece has.
    """

    def __init__(self, path: Path, n_points: int, blocks: Mapping[str, Block | None], bodies: Sequence[Sequence[str]]):
        self.path, self._n_points, self._blocks, self._bodies = path, n_points, dict(blocks), bodies
        self._file: CommittedFile | None = None
        self._count = 0
        self._planes = {name for name, block in blocks.items() if block is not None and block.is_endless}
        with vtkhdf.reported(path):
            new_file(aside_of(path)).close()

    @classmethod
    def resume(cls, path: Path, up_to: float, frames: int | None) -> PieceIndex:
        """Reopen the index without the frames later than ``up_to`` (see `resume_series`)."""
        found = _read_index(path)
        count = kept_frames(path, found.times, up_to, frames)
        with vtkhdf.reported(path):
            recover(path)
        index = cls(path, found.n_points, found.blocks, found.bodies)
        aside_of(path).unlink()
        index._count = count
        with vtkhdf.reported(path):
            index._file = CommittedFile(path)
            root = index._file.root
            root["symplex/times"].resize(count, axis=0)
            for group in _with_steps(root):
                group["Steps"].attrs.modify("NSteps", count)
            index._file.commit()
        return index

    def append(self, t: float, low: NDArray[np.float64], high: NDArray[np.float64]) -> None:
        """Count a frame that all pieces have, whose points are between two corners.

        Raises
        ------
        OutputError
            If it cannot be written; the frames before it are safe.
        """
        grown = self._cover(low, high)
        with vtkhdf.reported(self.path):
            if self._count == 0:
                self._begin()
            self._file = self._file or CommittedFile(self.path)
            root = self._file.root
            try:
                growing, i = Growing(root), self._count
                growing.put("symplex/times", np.array([t]), i)
                for name in grown:
                    root[f"VTKHDF/Assembly/{name}"]["Points"][...] = self._blocks[name].points
                for name, block in self._blocks.items():
                    if block is not None:
                        vtkhdf.add_step(root, growing, f"VTKHDF/Assembly/{name}", i, 0, {}, {})
                for group in _with_steps(root):
                    growing.count(f"{group.name}/Steps", i + 1)
                self._file.commit()
            except BaseException:
                self._file.abandon()
                self._file = None
                raise
        self._count += 1

    def _cover(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> list[str]:
        """Enlarge what is shown of planes without end; return those that have grown."""
        grown = []
        for name in self._planes:
            before = self._blocks[name]
            assert before is not None, "a plane is an obstacle"
            self._blocks[name] = before.covering(low, high)
            grown += [name] if self._blocks[name] is not before else []
        return grown

    def _begin(self) -> None:
        """Write the file without a frame, aside, and put it in its place when it is whole."""
        aside = aside_of(self.path)
        new_file(aside).close()
        file = CommittedFile(aside, begun=False)
        try:
            self._write_layout(file.root)
            file.commit()
            file.close()
            aside.replace(self.path)
        except BaseException:
            file.abandon()
            aside.unlink(missing_ok=True)
            raise

    def _write_layout(self, file: h5py.File) -> None:
        import h5py

        obstacles = {name: block for name, block in self._blocks.items() if block is not None}
        vtkhdf.write_geometry(file, np.zeros((0, 3)), obstacles)
        own, root = file["symplex"], file["VTKHDF"]
        own.attrs[_PIECES] = len(self._bodies)
        own.attrs["n_points"] = self._n_points
        del own["blocks"], root["Assembly"]
        own.create_dataset("blocks", data=list(self._blocks), dtype=h5py.string_dtype())
        assembly = root.create_group("Assembly", track_order=True)
        for i, name in enumerate(self._blocks):
            if name in obstacles:
                assembly[name] = h5py.SoftLink(f"/VTKHDF/block_{list(obstacles).index(name)}")
                continue
            parts = assembly.create_group(name, track_order=True)
            for k, bodies in enumerate(self._bodies):
                if name in bodies:
                    group = vtkhdf.typed_group(root, f"body_{i}_piece_{k}", "UnstructuredGrid")
                    file_name = f"{self.path.stem}/{path_of_piece(self.path, k).name}"
                    _link(group, file_name, f"/VTKHDF/Assembly/{name}", own["times"])
                    parts[f"piece_{k}"] = h5py.SoftLink(group.name)

    def close(self) -> None:
        """Finish the index; more than once does no harm."""
        with vtkhdf.reported(self.path):
            if self._count == 0:
                aside_of(self.path).unlink(missing_ok=True)
            if self._file is not None:
                file, self._file = self._file, None
                file.close()

    def __enter__(self) -> PieceIndex:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _link(group: h5py.Group, file: str, source: str, times: h5py.Dataset) -> None:
    """Give a block of the index what a block of a piece has, but for times and the number of steps."""
    import h5py

    steps = group.create_group("Steps")
    steps.attrs["NSteps"] = 0
    steps["Values"] = times
    for name in _LINKED:
        group[name] = h5py.ExternalLink(file, f"{source}/{name}")
    for name in _LINKED_STEPS:
        steps[name] = h5py.ExternalLink(file, f"{source}/Steps/{name}")


def _with_steps(file: h5py.File) -> list[h5py.Group]:
    """Return the root of an index and all blocks of it that have a number of steps."""
    root = file["VTKHDF"]
    return [root, *(root[name] for name in root if name.startswith(("block_", "body_")))]


class _Index(NamedTuple):
    """What an index tells: times, how many points there are, obstacles (None: a body), the bodies of each piece."""

    times: NDArray[np.float64]
    n_points: int
    blocks: dict[str, Block | None]
    bodies: list[list[str]]


def _read_index(path: Path) -> _Index:
    with damage_reported(path, "series of symplex", WAY_OUT), opened(path) as file:
        own, assembly = file["symplex"], file["VTKHDF/Assembly"]
        blocks = {
            name: vtkhdf.block_of(file, name) if name in own.get("nodes", {}) else None
            for name in own["blocks"].asstr()[...].tolist()
        }
        bodies = [
            [name for name, block in blocks.items() if block is None and f"piece_{k}" in assembly[name]]
            for k in range(int(own.attrs[_PIECES]))
        ]
        return _Index(vtkhdf.whole(own["times"]), int(own.attrs["n_points"]), blocks, bodies)


@final
class PiecedSeries(Series):
    """A series in pieces for reading: points, cells and their data are those of the whole, in its order.

    Attributes
    ----------
    pieces : list of VtkHdfSeries
    """

    def __init__(self, path: Path):
        index = _read_index(path)
        times, n = index.times, len(index.bodies)
        self.pieces: list[VtkHdfSeries] = []
        self._numbers: list[NDArray[np.int32]] = []
        self._cells: list[dict[str, NDArray[np.int64]]] = []
        for k in range(n):
            place = path_of_piece(path, k)
            if not place.exists():
                raise OutputError(f"{place} does not exist; {path.name} is in {n} pieces, of which it is one.")
            self.pieces.append(VtkHdfSeries(place))
            with damage_reported(place, "piece of a series of symplex", WAY_OUT), opened(place) as file:
                own = file["symplex"]
                self._numbers.append(vtkhdf.whole(own["numbers"]))
                self._cells.append({name: vtkhdf.whole(own["cells"][name]) for name in self.pieces[-1].blocks})
        with damage_reported(path, "series of symplex", WAY_OUT):
            if any(len(piece) < len(times) for piece in self.pieces):
                raise ValueError(f"it has {len(times)} frames, and a piece has fewer")
            points = np.full((index.n_points, 3), np.nan)
            for numbers, piece in zip(self._numbers, self.pieces, strict=True):
                points[numbers] = piece.points
            blocks = {name: self._joined(name) if block is None else block for name, block in index.blocks.items()}
            at_points = dict.fromkeys(field for piece in self.pieces for field in piece.point_fields)
            at_cells = dict.fromkeys(field for piece in self.pieces for field in piece.cell_fields)
            self._set(path, times, points, blocks, at_points, at_cells)

    def _joined(self, name: str) -> Block:
        """Return a body as the block of all its cells."""
        kinds: dict[str, list[tuple[NDArray[np.int64], NDArray[np.int32]]]] = {}
        for piece, numbers, cells in zip(self.pieces, self._numbers, self._cells, strict=True):
            if name not in piece.blocks:
                continue
            first = 0
            for kind, rows in piece.blocks[name].cells.items():
                kinds.setdefault(kind, []).append((cells[name][first : first + len(rows)], numbers[rows]))
                first += len(rows)
        found = {}
        for kind, parts in kinds.items():
            at = np.concatenate([one for one, _ in parts])
            order = np.argsort(at)
            found[kind] = int(at[order[0]]), np.concatenate([rows for _, rows in parts])[order]
        cells = {kind: rows for kind, (_, rows) in sorted(found.items(), key=lambda item: item[1][0])}
        block = Block.of(cells)
        at = np.concatenate([one[name] for one in self._cells if name in one])
        if not np.array_equal(np.sort(at), np.arange(block.n_cells)):
            raise ValueError(f"the cells of '{name}' are not all in one piece each")
        return block

    @contextmanager
    def kept_open(self) -> Iterator[None]:
        """Read frames inside from files that are opened once, as they are now."""
        with ExitStack() as stack:
            for piece in self.pieces:
                stack.enter_context(piece.kept_open())
            yield

    def _read(self, i: int) -> Frame:
        frames = [piece.frame(i) for piece in self.pieces]
        at_points = {name: self._at_points([f.point_data[name] for f in frames]) for name in self.point_fields}
        at_cells: dict[str, dict[str, Floats]] = {}
        for field in self.cell_fields:
            for name, block in self.blocks.items():
                parts = [
                    (cells[name], frame.cell_data[field][name])
                    for frame, cells in zip(frames, self._cells, strict=True)
                    if name in frame.cell_data.get(field, {})
                ]
                if parts:
                    whole = np.empty((block.n_cells, *parts[0][1].shape[1:]), np.float32)
                    for at, values in parts:
                        whole[at] = values
                    at_cells.setdefault(field, {})[name] = whole
        return Frame(float(self.times[i]), self._at_points([f.displacement for f in frames]), at_points, at_cells)

    def _at_points(self, parts: list[Floats]) -> Floats:
        whole = np.empty((len(self.points), *parts[0].shape[1:]), np.float32)
        for numbers, values in zip(self._numbers, parts, strict=True):
            whole[numbers] = values
        return whole


@final
class PiecedWriter(SeriesWriter):
    """Goes on with a series in pieces from whole frames."""

    def __init__(self, path: Path, series: PiecedSeries, index: PieceIndex, writers: Sequence[VtkHdfWriter]):
        super().__init__(path, series.points, series.blocks)
        self._index, self._writers, self._numbers, self._cells = index, writers, series._numbers, series._cells

    @classmethod
    def resume(cls, path: Path, up_to: float, frames: int | None) -> PiecedWriter:
        """Reopen the series without the frames later than ``up_to`` (see `resume_series`)."""
        series = PiecedSeries(path)
        count = kept_frames(path, series.times, up_to, frames)
        last = series.frame(count - 1)
        index = PieceIndex.resume(path, up_to, count)  # first, so that no piece ever has fewer frames
        writer = cls(path, series, index, [resumed_piece(path, k, up_to, count) for k in range(len(series.pieces))])
        writer._check_layout(last.point_data, last.cell_data)
        writer._last = last.t
        return writer

    def _write(self, t: float, displacement: Floats, point_data: dict, cell_data: dict) -> None:
        for writer, numbers, cells in zip(self._writers, self._numbers, self._cells, strict=True):
            at_cells = {
                field: {name: values[cells[name]] for name, values in by_block.items() if name in cells}
                for field, by_block in cell_data.items()
            }
            at_points = {field: values[numbers] for field, values in point_data.items()}
            writer.append(t, displacement[numbers], at_points, {k: v for k, v in at_cells.items() if v})
        positions = self.points + displacement
        self._index.append(t, positions.min(axis=0), positions.max(axis=0))

    def close(self) -> None:
        """Finish the series; more than once does no harm."""
        for writer in self._writers:
            writer.close()
        self._index.close()


def is_of(place: Path, piece: Piece) -> bool:
    """Return whether a file is that of a piece.

    Raises
    ------
    OutputError
        If it cannot be read.
    """
    with damage_reported(place, "piece of a series of symplex", WAY_OUT), opened(place) as file:
        own = file["symplex"]
        return all(name in own and np.array_equal(vtkhdf.whole(own[name]), array) for name, array in piece.about.items())


def new_piece(path: Path, k: int, piece: Piece) -> VtkHdfWriter:
    """Begin piece k of a series.

    Raises
    ------
    OutputError
        If it exists, or cannot be written.
    """
    place = path_of_piece(path, k)
    if place.parent.is_symlink():
        raise OutputError(f"{place.parent} is a link, to which a run does not write; remove it or move it away.")
    with vtkhdf.reported(place):
        place.parent.mkdir(exist_ok=True)
    return VtkHdfWriter(place, piece.points, piece.blocks, piece.about)


def resumed_piece(path: Path, k: int, up_to: float, frames: int | None) -> VtkHdfWriter:
    """Reopen piece k of a series without the frames later than ``up_to``."""
    return VtkHdfWriter.resume(path_of_piece(path, k), up_to, frames)


def repair(path: Path) -> int:
    """Finish commits that were cut short, and drop frames that the index does not count; return their number."""
    series = PiecedSeries(path)
    count = len(series)
    if count:
        PiecedWriter.resume(path, float(series.times[-1]), count).close()
    return count
