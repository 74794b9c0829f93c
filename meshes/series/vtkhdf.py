"""Time series in one VTKHDF file that a kill cannot damage.

Layout: ``/VTKHDF`` is a MultiBlockDataSet with one UnstructuredGrid per block, named by the links in ``Assembly``.
Cells are stored once; points and data gain one chunk per frame, which the offsets under ``Steps`` find. ``/symplex``,
which VTK does not look at, holds what it has no place for: the reference points and the node numbers of each block.
VTK 9.7 takes the number of steps of composite data from the root when it is asked for a time, and would show the first
frame for ever without ``Steps`` there as well. A PartitionedDataSetCollection can't have that, nor can pyvista open it.
ParaView 5.13 shows no cells unless ``Connectivity`` and ``Offsets`` are of one type, and takes every group below the
root for a block, so that it asks ``Steps`` for a ``Type``, too.

Safety: HDF5 alone does not survive a kill between two of its metadata writes. Here it writes through a `RedoFile`, so
a frame is in the file wholly or not at all. The file is also kept in HDF5's 1.8 format, which has no mark "open for
writing" that would lock out readers after a crash.
"""

# h5py declares group["name"] as any of Group, Dataset and Datatype; which it is here, the layout above says.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportIndexIssue=false
# pyright: reportGeneralTypeIssues=false, reportOperatorIssue=false

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, final

import numpy as np

from symplex.base.files import WAY_OUT, aside_of, damage_reported, new_file, reason_of
from symplex.errors import OutputError
from symplex.meshes.series.committed import CommittedFile, opened
from symplex.meshes.series.frames import Block, Floats, Frame, Series, SeriesWriter, kept_frames
from symplex.meshes.series.growing import Growing
from symplex.meshes.series.redo import recover

if TYPE_CHECKING:
    import h5py

_ROOT_KIND = "MultiBlockDataSet"
# Offsets are known in advance and are written for so many frames at once; NSteps alone says which frames exist.
_STEPS_AHEAD = 256
GEOMETRY_OFFSETS = ("PartOffsets", "PointOffsets", "CellOffsets", "ConnectivityIdOffsets")


@final
class VtkHdfWriter(SeriesWriter):
    """Appends frames to a .vtkhdf file; the file appears with the first frame."""

    def __init__(
        self,
        path: Path,
        points: np.ndarray,
        blocks: Mapping[str, Block],
        about: Mapping[str, np.ndarray] = MappingProxyType({}),
    ):
        """Begin a file; ``about`` is kept under ``/symplex``."""
        super().__init__(path, points, blocks)
        self._about = about
        self._file: CommittedFile | None = None
        self._growing: Growing | None = None
        self._count = 0
        with reported(path):
            new_file(aside_of(path)).close()

    @classmethod
    def resume(cls, path: Path, up_to: float, frames: int | None) -> VtkHdfWriter:
        """Reopen the series without the frames later than ``up_to`` (see `resume_series`)."""
        if not path.exists():
            raise OutputError(f"{path} does not exist; there is no series to continue.")
        series = VtkHdfSeries(path)
        count = kept_frames(path, series.times, up_to, frames)
        last = series.frame(count - 1)
        with reported(path):
            recover(path)
        writer = cls(path, series.points, series.blocks)
        aside_of(path).unlink()
        writer._check_layout(last.point_data, last.cell_data)
        writer._last = last.t
        writer._count = count
        with reported(path):
            writer._file = CommittedFile(path)
            try:
                _keep(writer._file.root, writer.blocks, count)
            except TypeError as error:  # from HDF5, of a dataset that has lost its chunks
                raise OutputError(f"{path} is damaged ({error}); there is no going on with it.") from error
            _bring_up_to_date(writer._file.root)
            writer._file.commit()
        return writer

    def _write(
        self,
        t: float,
        displacement: Floats,
        point_data: dict[str, Floats],
        cell_data: dict[str, dict[str, Floats]],
    ) -> None:
        at_points = {"displacement": displacement, **point_data}
        fields = {
            name: (
                {key: a[block.nodes] for key, a in at_points.items()},
                {key: by_block[name] for key, by_block in cell_data.items() if name in by_block},
            )
            for name, block in self.blocks.items()
        }
        if self._count == 0:
            self._write_first(t, fields)
        else:
            self._file = self._file or CommittedFile(self.path)
            self._growing = self._growing or Growing(self._file.root)
            try:
                self._write_frame(self._file.root, self._growing, t, fields)
                self._file.commit()
            except BaseException:
                self._growing = None
                self._file.abandon()
                self._file = None
                raise
        self._count += 1

    def _write_first(self, t: float, fields: dict) -> None:
        aside = aside_of(self.path)
        new_file(aside).close()
        file = CommittedFile(aside, begun=False)
        try:
            write_geometry(file.root, self.points, self.blocks)
            for name, array in self._about.items():
                file.root[f"symplex/{name}"] = array
            self._write_frame(file.root, Growing(file.root), t, fields)
            file.commit()
            file.close()
            aside.replace(self.path)
        except BaseException:
            file.abandon()
            aside.unlink(missing_ok=True)
            raise

    def _write_frame(self, file: h5py.File, growing: Growing, t: float, fields: dict) -> None:
        i = self._count
        growing.put("symplex/times", np.array([t]), i)
        for name, block in self.blocks.items():
            place = f"VTKHDF/Assembly/{name}"
            at_points, at_cells = fields[name]
            if block.is_obstacle:
                if name in self._grown:
                    file[place]["Points"][...] = block.points
                add_step(file, growing, place, i, 0, {}, at_cells)
                continue
            deformed = self.points[block.nodes] + at_points["displacement"]
            _append(file, growing, f"{place}/Points", deformed.astype(np.float32), i)
            add_step(file, growing, place, i, block.n_points, at_points, at_cells)
        growing.count("VTKHDF/Steps", i + 1)

    def close(self) -> None:
        """Finish the series; more than once does no harm."""
        with reported(self.path):
            if self._count == 0:
                aside_of(self.path).unlink(missing_ok=True)
            if self._file is not None:
                file, self._file, self._growing = self._file, None, None
                file.close()


@final
class VtkHdfSeries(Series):
    """A .vtkhdf file written by `VtkHdfWriter`."""

    _open: h5py.File | None = None

    def __init__(self, path: Path):
        blocks = {}
        with damage_reported(path, "series of symplex", WAY_OUT), opened(path) as file:
            own = file["symplex"]
            points = whole(own["points"])
            for name in own["blocks"].asstr()[...].tolist():
                blocks[name] = block_of(file, name)
            groups = [file["VTKHDF/Assembly"][name] for name in blocks]
            times = whole(own["times"])
            at_points = dict.fromkeys(key for group in groups for key in group["PointData"])
            at_cells = dict.fromkeys(key for group in groups for key in group["CellData"])
            at_points.pop("displacement", None)
            self._set(path, times, points, blocks, at_points, at_cells)

    @contextmanager
    def kept_open(self) -> Iterator[None]:
        """Read frames inside from the file that is opened once, as it is now."""
        with ExitStack() as stack:
            with damage_reported(self.path, "series of symplex", WAY_OUT):
                self._open = stack.enter_context(opened(self.path))
            try:
                yield
            finally:
                self._open = None

    def _read(self, i: int) -> Frame:
        with opened(self.path) if self._open is None else nullcontext(self._open) as file:
            root = file["VTKHDF/Assembly"]
            at_points = {key: self._at_points(root, key, i) for key in ["displacement", *self.point_fields]}
            at_cells = {
                key: {
                    name: _rows(root[name]["CellData"][key], i, block.n_cells)
                    for name, block in self.blocks.items()
                    if key in root[name]["CellData"]
                }
                for key in self.cell_fields
            }
        return Frame(float(self.times[i]), at_points.pop("displacement"), at_points, at_cells)

    def _at_points(self, root: h5py.Group, key: str, i: int) -> Floats:
        parts = {
            name: _rows(root[name]["PointData"][key], i, block.n_points)
            for name, block in self.blocks.items()
            if not block.is_obstacle
        }
        columns = next(iter(parts.values())).shape[1:]
        whole = np.empty((len(self.points), *columns), np.float32)
        for name, values in parts.items():
            whole[self.blocks[name].nodes] = values
        return whole


def repair(path: Path) -> int:
    """Finish a commit that was cut short and drop the beginning of the next; return the number of frames."""
    count = len(VtkHdfSeries(path))
    with reported(path):
        file = CommittedFile(path)
        _bring_up_to_date(file.root)
        file.close()
        aside_of(path).unlink(missing_ok=True)
    return count


def block_of(file: h5py.File, name: str) -> Block:
    """Return a block of a series from its file."""
    group, own = file["VTKHDF/Assembly"][name], file["symplex/nodes"][name]
    sizes, is_endless = np.diff(whole(group["Offsets"])), "is_endless" in own.attrs
    fixed = whole(group["Points"]).astype(float) if "is_obstacle" in own.attrs else None
    return Block.from_vtk(whole(group["Connectivity"]), whole(group["Types"]), sizes, whole(own), fixed, is_endless)


def write_geometry(file: h5py.File, points: np.ndarray, blocks: Mapping[str, Block]) -> None:
    """Write what does not change: reference points, cells, and an empty series of steps."""
    import h5py

    own = file.create_group("symplex")
    own["points"] = points
    times = own.create_dataset("times", (0,), np.float64, maxshape=(None,), chunks=(_STEPS_AHEAD,))
    own.create_dataset("blocks", data=list(blocks), dtype=h5py.string_dtype())
    root = typed_group(file, "VTKHDF", _ROOT_KIND)
    root.create_group("Steps").attrs["NSteps"] = 0
    root["Steps/Values"] = times  # one dataset, linked from every block
    _add_type(root["Steps"], _ROOT_KIND)
    assembly = root.create_group("Assembly", track_order=True)
    for index, (name, block) in enumerate(blocks.items()):
        group = typed_group(root, f"block_{index}", "UnstructuredGrid")
        assembly[name] = h5py.SoftLink(group.name)
        own[f"nodes/{name}"] = block.nodes
        if block.points is not None:
            own[f"nodes/{name}"].attrs["is_obstacle"] = True
            if block.is_endless:
                own[f"nodes/{name}"].attrs["is_endless"] = True
            group["Points"] = block.points.astype(np.float32)
        group["NumberOfPoints"] = [block.n_points]
        group["NumberOfCells"] = [block.n_cells]
        group["NumberOfConnectivityIds"] = [len(block.connectivity)]
        group["Connectivity"] = block.connectivity.astype(np.int64)
        group["Offsets"] = block.offsets
        group["Types"] = block.vtk_types
        for part in ("PointData", "CellData", "Steps", "Steps/PointDataOffsets", "Steps/CellDataOffsets"):
            group.create_group(part)
        group["Steps"].attrs["NSteps"] = 0
        group["Steps/Values"] = times


def typed_group(parent: h5py.Group, name: str, kind: str) -> h5py.Group:
    """Return a group of a type that VTK knows."""
    group = parent.create_group(name, track_order=True)
    _add_type(group, kind)
    return group


def _add_type(group: h5py.Group, kind: str) -> None:
    group.attrs["Version"] = [2, 2]
    group.attrs["Type"] = np.bytes_(kind)


def _bring_up_to_date(file: h5py.File) -> None:
    """Give a series that an earlier version of symplex has written what ParaView 5.13 misses in it."""
    root = file["VTKHDF"]
    if "Type" not in root["Steps"].attrs:
        _add_type(root["Steps"], _ROOT_KIND)
    for group in root["Assembly"].values():
        if group["Connectivity"].dtype != np.int64:
            connectivity = group["Connectivity"][...].astype(np.int64)
            del group["Connectivity"]
            group["Connectivity"] = connectivity


def add_step(
    file: h5py.File,
    growing: Growing,
    place: str,
    i: int,
    points_per_step: int,
    at_points: dict[str, Floats],
    at_cells: dict[str, Floats],
) -> None:
    """Append the data of frame i to a block, and at last raise the number of steps."""
    steps = f"{place}/Steps"
    for part, fields in (("PointData", at_points), ("CellData", at_cells)):
        for key, values in fields.items():
            _append(file, growing, f"{place}/{part}/{key}", values, i)
    if i % _STEPS_AHEAD == 0:
        ahead = np.arange(i, i + _STEPS_AHEAD)
        for part, fields in (("PointData", at_points), ("CellData", at_cells)):
            for key, values in fields.items():
                _put_steps(file, growing, f"{steps}/{part}Offsets/{key}", i, ahead * len(values))
        _put_steps(file, growing, f"{steps}/NumberOfParts", i, np.ones_like(ahead))
        for name in GEOMETRY_OFFSETS:
            # VTK wants one column per topology here.
            columns = (1,) if name in ("CellOffsets", "ConnectivityIdOffsets") else ()
            offsets = ahead * (points_per_step if name == "PointOffsets" else 0)
            _put_steps(file, growing, f"{steps}/{name}", i, offsets.reshape(-1, *columns))
    growing.count(steps, i + 1)


def _append(file: h5py.File, growing: Growing, path: str, rows: Floats, i: int) -> None:
    """Write the rows of frame i of a dataset, one chunk per frame."""
    n, columns = len(rows), rows.shape[1:]
    if i == 0:
        chunks = (max(n, 1), *columns)
        file.create_dataset(path, data=rows, dtype=np.float32, maxshape=(None, *columns), chunks=chunks)
        return
    growing.put(path, rows, i * n)


def _put_steps(file: h5py.File, growing: Growing, path: str, i: int, values: np.ndarray) -> None:
    """Write values of the steps from i on."""
    if i == 0:
        file.create_dataset(path, data=values, maxshape=(None, *values.shape[1:]), chunks=values.shape)
        return
    growing.put(path, values, i)


def _keep(file: h5py.File, blocks: Mapping[str, Block], n: int) -> None:
    """Shorten a series to its first n frames."""
    # VTK reads all times there are into room for NSteps of them: never leave more.
    file["symplex/times"].resize(n, axis=0)
    file["VTKHDF/Steps"].attrs.modify("NSteps", n)
    for name, block in blocks.items():
        group = file["VTKHDF/Assembly"][name]
        group["Steps"].attrs.modify("NSteps", n)
        for part, rows in (("PointData", block.n_points), ("CellData", block.n_cells)):
            for key in group[part]:
                group[part][key].resize(n * rows, axis=0)
        if not block.is_obstacle:
            group["Points"].resize(n * block.n_points, axis=0)


def _rows(data: h5py.Dataset, i: int, n: int) -> Floats:
    if data.dtype != np.float32:
        raise ValueError(f"'{data.name}' is of {data.dtype}")
    return data[i * n : (i + 1) * n]


def whole(data: h5py.Dataset) -> np.ndarray:
    """Return all values of a dataset, which may not claim more of them than the file has bytes."""
    if data.nbytes > data.file.id.get_filesize():
        raise ValueError(f"'{data.name}' claims {data.nbytes:,} bytes")
    return data[...]


@contextmanager
def reported(path: Path) -> Iterator[None]:
    """Turn what goes wrong with writing the file into an `OutputError`."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path} cannot be written ({reason_of(error)}).") from error
