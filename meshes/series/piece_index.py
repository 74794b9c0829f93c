"""The index of a time series in pieces, which programs open, and the files that the pieces are in.

The pieces of ``motion.vtkhdf`` are ``motion/piece00000.vtkhdf`` and so on, each a whole series by itself
(`symplex.meshes.series.vtkhdf`), with the numbers of its points and cells among all under ``/symplex``. The index is a
MultiBlockDataSet like that of one file, in which a body is a block of pieces. What these hold is linked from them,
array by array; times and numbers of steps are its own, as VTK opens no series whose blocks differ in these. So are
obstacles.

Safety: pieces are written before the index counts a frame. A kill leaves pieces with a frame more than the index has,
which no program sees, and which the next one takes the place of.
"""

# h5py declares group["name"] as any of Group, Dataset and Datatype; which it is here, the layout above says.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportIndexIssue=false
# pyright: reportGeneralTypeIssues=false, reportOperatorIssue=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray

from symplex.base.files import WAY_OUT, aside_of, damage_reported, new_file
from symplex.meshes.series import vtkhdf
from symplex.meshes.series.committed import CommittedFile, opened
from symplex.meshes.series.frames import Block, kept_frames
from symplex.meshes.series.growing import Growing
from symplex.meshes.series.redo import recover

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
        return {"numbers": self.numbers, **{f"cells/{name}": cells for name, cells in self.cells.items()}}


def path_of_piece(path: Path, k: int) -> Path:
    """Return the file of piece k of a series."""
    return path.with_suffix("") / f"piece{k:05d}.vtkhdf"


def pieces_of(path: Path) -> int:
    """Return how many pieces a .vtkhdf file is the index of; 0: it is none."""
    with damage_reported(path, "series of symplex", WAY_OUT), opened(path) as file:
        return int(file["symplex"].attrs.get(_PIECES, 0))


def piece_files(path: Path) -> list[Path]:
    """Return what has the name of a file of a piece in the folder next to an index; none if that is a link."""
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
        with vtkhdf.reported(path):
            new_file(aside_of(path)).close()

    @classmethod
    def resume(cls, path: Path, up_to: float, frames: int | None) -> PieceIndex:
        """Reopen the index without the frames later than ``up_to`` (see `resume_series`)."""
        found = read_index(path)
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
        """Count a frame that all pieces have, whose points are between two corners."""
        grown = self._cover(low, high)
        with vtkhdf.reported(self.path):
            if self._count == 0:
                self._begin()
            self._file = self._file or CommittedFile(self.path)
            root = self._file.root
            try:
                growing, i = Growing(root), self._count
                growing.put("symplex/times", np.array([t]), i)
                for name, plane in grown.items():
                    root[f"VTKHDF/Assembly/{name}"]["Points"][...] = plane.points
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

    def _cover(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> dict[str, Block]:
        """Enlarge what is shown of planes without end; return those that have grown."""
        planes = {name: block for name, block in self._blocks.items() if block is not None and block.is_endless}
        covering = {name: plane.covering(low, high) for name, plane in planes.items()}
        self._blocks |= covering
        return {name: plane for name, plane in covering.items() if plane is not planes[name]}

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

    def __enter__(self) -> Self:
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


def _with_steps(file: h5py.File) -> list[Any]:
    """Return the root of an index and all blocks of it that have a number of steps."""
    root = file["VTKHDF"]
    return [root, *(root[name] for name in root if name.startswith(("block_", "body_")))]


class Index(NamedTuple):
    """What an index shows: times, how many points there are, obstacles (None: a body), the bodies of each piece."""

    times: NDArray[np.float64]
    n_points: int
    blocks: dict[str, Block | None]
    bodies: list[list[str]]


def read_index(path: Path) -> Index:
    """Return what an index shows."""
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
        return Index(vtkhdf.whole(own["times"]), int(own.attrs["n_points"]), blocks, bodies)
