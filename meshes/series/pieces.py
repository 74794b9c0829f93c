"""Time series whose bodies are in pieces: read as those of one file, and continued from whole frames.

For the files see `symplex.meshes.series.piece_index`.
"""

# h5py declares group["name"] as any of Group, Dataset and Datatype.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportIndexIssue=false
# pyright: reportOperatorIssue=false

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import final

import numpy as np
from numpy.typing import NDArray

from symplex.base.files import WAY_OUT, damage_reported
from symplex.errors import OutputError
from symplex.meshes.series import vtkhdf
from symplex.meshes.series.committed import opened
from symplex.meshes.series.frames import Block, Floats, Frame, Series, SeriesWriter, kept_frames
from symplex.meshes.series.piece_index import Piece, PieceIndex, path_of_piece, read_index
from symplex.meshes.series.vtkhdf import VtkHdfSeries, VtkHdfWriter


@final
class PiecedSeries(Series):
    """A series in pieces for reading: points, cells and their data are those of the whole, in its order.

    Attributes
    ----------
    pieces : list of VtkHdfSeries
    """

    def __init__(self, path: Path):
        index = read_index(path)
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
    """Return whether a file is that of a piece."""
    with damage_reported(place, "piece of a series of symplex", WAY_OUT), opened(place) as file:
        own = file["symplex"]
        return all(
            name in own and np.array_equal(vtkhdf.whole(own[name]), array) for name, array in piece.about.items()
        )


def new_piece(path: Path, k: int, piece: Piece) -> VtkHdfWriter:
    """Begin piece k of a series."""
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
