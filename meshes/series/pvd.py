"""Time series as a .pvd index and a folder of .vtu files, for older ParaView and for other tools.

Next to ``name.pvd`` lies the folder ``name``: for each frame one raw binary .vtu per body and a .vtm that names
them; the obstacles and what VTK has no place for (``model.npz``) once. A frame's files are complete before the index
names them, and the index is written aside and renamed, so a kill leaves at worst files that no index names.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from symplex.base.files import (
    WAY_OUT,
    aside_of,
    damage_reported,
    is_file,
    read_arrays,
    read_whole,
    reason_of,
    replacing,
)
from symplex.errors import OutputError
from symplex.meshes.series.frames import Block, Floats, Frame, Series, SeriesWriter, kept_frames

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

# The files in the folder, of which some belong to a frame; there may be others that are not ours.
_FILES = re.compile(
    r"(?P<frame>frame\d{6,})(_block\d+\.vtu|\.vtm)|block\d+\.vtu(\.new)?|model\.npz(\.new)?|model\.new\.npz"
)
_VTK_NAMES = {"f4": "Float32", "i4": "Int32", "i8": "Int64", "u1": "UInt8"}
_DTYPES = {name: np.dtype("<" + code if code != "u1" else code) for code, name in _VTK_NAMES.items()}
_ENTITIES = {
    ord(c): f"&{name};" for c, name in zip('&<>"\n\r\t', ("amp", "lt", "gt", "quot", "#10", "#13", "#9"), strict=True)
}


class _Entry(NamedTuple):
    """A line of the index: a time and its .vtm file, relative to the index."""

    t: float
    file: str


@final
class PvdWriter(SeriesWriter):
    """Appends frames to a .pvd series; the index appears with the first frame."""

    def __init__(self, path: Path, points: NDArray[np.float64], blocks: Mapping[str, Block]):
        super().__init__(path, points, blocks)
        self._folder = path.with_suffix("")
        self._entries: list[_Entry] = []
        try:
            # Without an index, what lies in the folder is left of a run that was killed before its first frame.
            self._folder.mkdir(exist_ok=True)
            self._write_obstacles(self.blocks)
        except OSError as error:
            raise OutputError(f"{path} cannot be written ({reason_of(error)}).") from error

    @classmethod
    def resume(cls, path: Path, up_to: float, frames: int | None) -> PvdWriter:
        """Reopen the series without the frames later than ``up_to`` (see `resume_series`)."""
        if not path.exists():
            raise OutputError(f"{path} does not exist; there is no series to continue.")
        series = PvdSeries(path)
        n = kept_frames(path, series.times, up_to, frames)
        last = series.frame(n - 1)
        writer = cls(path, series.points, series.blocks)
        writer._check_layout(last.point_data, last.cell_data)
        writer._last = last.t
        writer._entries = _read_index(path)[:n]
        try:
            writer._write_index()
            _remove_strays(path, n)
        except OSError as error:
            raise OutputError(f"{path} cannot be written ({reason_of(error)}).") from error
        return writer

    def _write_obstacles(self, names: Container[str]) -> None:
        """Write the named obstacles, and all blocks to the model."""
        _save_model(self._folder / "model.npz", self.points, self.blocks)
        for index, (name, block) in enumerate(self.blocks.items()):
            if name in names and block.points is not None:
                path = self._folder / f"block{index}.vtu"
                aside = aside_of(path)
                _write_vtu(aside, block, block.points.astype(np.float32), {}, {})
                aside.replace(path)

    def _write(
        self, t: float, displacement: Floats, point_data: dict[str, Floats], cell_data: dict[str, dict[str, Floats]]
    ) -> None:
        if self._grown:
            self._write_obstacles(self._grown)
        stem = _stem(len(self._entries))
        files = _files_of(stem, self.blocks)
        for file, (name, block) in zip(files, self.blocks.items(), strict=True):
            if block.is_obstacle:
                continue
            moved = (self.points[block.nodes] + displacement[block.nodes]).astype(np.float32)
            at_points = {key: a[block.nodes] for key, a in {"displacement": displacement, **point_data}.items()}
            at_cells = {key: by_block[name] for key, by_block in cell_data.items() if name in by_block}
            _write_vtu(self._folder / file, block, moved, at_points, at_cells)
        lines = [
            f"    <DataSet index={_quoted(str(k))} name={_quoted(name)} file={_quoted(file)}/>\n"
            for k, (name, file) in enumerate(zip(self.blocks, files, strict=True))
        ]
        (self._folder / f"{stem}.vtm").write_text(
            '<?xml version="1.0"?>\n<VTKFile type="vtkMultiBlockDataSet" version="1.0">\n  <vtkMultiBlockDataSet>\n'
            + "".join(lines)
            + "  </vtkMultiBlockDataSet>\n</VTKFile>\n",
            encoding="utf-8",
        )
        self._entries.append(_Entry(t, f"{self._folder.name}/{stem}.vtm"))
        try:
            self._write_index()
        except BaseException:
            self._entries.pop()
            raise

    def _write_index(self) -> None:
        lines = [
            f'    <DataSet timestep="{entry.t!r}" part="0" file={_quoted(entry.file)}/>\n' for entry in self._entries
        ]
        head = '<?xml version="1.0"?>\n<VTKFile type="Collection" version="1.0">\n  <Collection>\n'
        with replacing(self.path) as file:
            file.write("".join([head, *lines, "  </Collection>\n</VTKFile>\n"]).encode())

    def close(self) -> None:
        """Finish the series; more than once does no harm."""
        if not self._entries and not self.path.exists():
            for file in filter(is_file, sibling_files(self.path)):
                file.unlink()
            with suppress(OSError):  # it is not there, or holds something else
                self._folder.rmdir()


@final
class PvdSeries(Series):
    """A .pvd series written by `PvdWriter`."""

    def __init__(self, path: Path):
        model = path.with_suffix("") / "model.npz"
        with damage_reported(path, "series of symplex", WAY_OUT):
            entries = _read_index(path)
        with damage_reported(model, "model of a series of symplex", WAY_OUT):
            points, blocks = _load_model(model)
        with damage_reported(path, "series of symplex", WAY_OUT):
            first = _read_frame(path.parent / entries[0].file, blocks) if entries else {}
            at_points = dict.fromkeys(key for data, _ in first.values() for key in data)
            at_cells = dict.fromkeys(key for _, data in first.values() for key in data)
            at_points.pop("displacement", None)
            self._set(path, np.array([entry.t for entry in entries], float), points, blocks, at_points, at_cells)
        self._entries = entries

    def _read(self, i: int) -> Frame:
        parts = _read_frame(self.path.parent / self._entries[i].file, self.blocks)
        at_points: dict[str, Floats] = {}
        for name, (data, _) in parts.items():
            for key, values in data.items():
                shape = (len(self.points), *values.shape[1:])
                at_points.setdefault(key, np.empty(shape, np.float32))[self.blocks[name].nodes] = values
        at_cells = {
            key: {name: data[key] for name, (_, data) in parts.items() if key in data} for key in self.cell_fields
        }
        return Frame(float(self.times[i]), at_points.pop("displacement"), at_points, at_cells)


def repair(path: Path) -> int:
    """Remove what is left of frames that no index names; return the number of frames."""
    count = len(PvdSeries(path))
    try:
        _remove_strays(path, count)
    except OSError as error:
        raise OutputError(f"{path} cannot be written ({reason_of(error)}).") from error
    return count


def _remove_strays(path: Path, count: int) -> None:
    """Remove the files of all frames from the given number on, and those begun aside."""
    kept = {_stem(i) for i in range(count)}
    for file in filter(is_file, sibling_files(path)):
        stem = _FILES.fullmatch(file.name)["frame"]  # type: ignore[index]
        if ".new" in file.name or not (stem is None or stem in kept):
            file.unlink()
    aside_of(path).unlink(missing_ok=True)


def sibling_files(path: Path) -> list[Path]:
    """Return what has the name of a file of a series in the folder next to its index; none if that is a link."""
    folder = path.with_suffix("")
    if folder.is_symlink() or not folder.is_dir():
        return []
    return [file for file in sorted(folder.iterdir()) if _FILES.fullmatch(file.name)]


def _quoted(text: str) -> str:
    """Return a value of an attribute in XML."""
    return f'"{text.translate(_ENTITIES)}"'


def _parsed(text: bytes) -> Element:
    """Return the element that a file is: only who reads frames needs the parser."""
    from xml.etree import ElementTree

    return ElementTree.fromstring(text)


def _stem(i: int) -> str:
    """Return how the names of the files of frame i begin."""
    return f"frame{i:06d}"


def _read_index(path: Path) -> list[_Entry]:
    root = _parsed(read_whole(path))
    entries = [_Entry(float(line.attrib["timestep"]), line.attrib["file"]) for line in root.iter("DataSet")]
    for i, entry in enumerate(entries):
        if entry.file != (requested := f"{path.with_suffix('').name}/{_stem(i)}.vtm"):
            raise ValueError(f"its frame {i} is '{entry.file}', expected '{requested}'")
    return entries


def _read_frame(vtm: Path, blocks: Mapping[str, Block]) -> dict[str, tuple[dict[str, Floats], dict[str, Floats]]]:
    """Return point and cell data of each block that moves."""
    found = {}
    with damage_reported(vtm, "frame of a series of symplex", WAY_OUT):
        files = [line.attrib["file"] for line in _parsed(read_whole(vtm)).iter("DataSet")]
        if files != (requested := _files_of(vtm.stem, blocks)):
            raise ValueError(f"it names {files}, expected {requested}")
    for file, (name, block) in zip(files, blocks.items(), strict=True):
        if not block.is_obstacle:
            with damage_reported(vtm.parent / file, "part of a series of symplex", WAY_OUT):
                found[name] = _read_vtu(vtm.parent / file)
    return found


def _files_of(stem: str, blocks: Mapping[str, Block]) -> list[str]:
    """Return the names of the files of a frame; obstacles have one for all frames."""
    return [
        f"block{index}.vtu" if block.is_obstacle else f"{stem}_block{index}.vtu"
        for index, block in enumerate(blocks.values())
    ]


def _write_vtu(
    path: Path, block: Block, points: Floats, at_points: Mapping[str, Floats], at_cells: Mapping[str, Floats]
) -> None:
    body: list[NDArray] = []
    end = 0

    def described(name: str, array: NDArray) -> str:
        nonlocal end
        body.append(np.ascontiguousarray(array))
        columns = array.shape[1] if array.ndim == 2 else 1
        kind = _VTK_NAMES[array.dtype.str[1:]]
        line = (
            f'        <DataArray type="{kind}" Name={_quoted(name)} NumberOfComponents="{columns}" '
            f'format="appended" offset="{end}"/>\n'
        )
        end += 8 + array.nbytes
        return line

    sections = {
        "Points": {"Points": points},
        "Cells": {"connectivity": block.connectivity, "offsets": block.offsets[1:], "types": block.vtk_types},
        "PointData": at_points,
        "CellData": at_cells,
    }
    text = "".join(
        f"      <{section}>\n" + "".join(described(*item) for item in arrays.items()) + f"      </{section}>\n"
        for section, arrays in sections.items()
    )
    head = (
        '<?xml version="1.0"?>\n'
        '<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64">\n'
        f'  <UnstructuredGrid>\n    <Piece NumberOfPoints="{block.n_points}" NumberOfCells="{block.n_cells}">\n'
        f'{text}    </Piece>\n  </UnstructuredGrid>\n  <AppendedData encoding="raw">\n   _'
    )
    with path.open("wb") as file:
        file.write(head.encode())
        for array in body:
            file.write(np.uint64(array.nbytes).tobytes())
            file.write(array.tobytes())
        file.write(b"\n  </AppendedData>\n</VTKFile>\n")


def _read_vtu(path: Path) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Return point and cell data of a file that `_write_vtu` wrote."""
    data = read_whole(path)
    mark = data.index(b'<AppendedData encoding="raw">')
    root = _parsed(data[:mark] + b"</VTKFile>")
    start = data.index(b"_", mark) + 1
    fields: list[dict[str, Floats]] = []
    for section in ("PointData", "CellData"):
        fields.append({})
        for line in root.iter(section):
            for array in line:
                offset = start + int(array.attrib["offset"])
                size = int(np.frombuffer(data, "<u8", 1, offset)[0])
                values = np.frombuffer(data[offset + 8 : offset + 8 + size], _DTYPES[array.attrib["type"]])
                columns = int(array.attrib["NumberOfComponents"])
                fields[-1][array.attrib["Name"]] = values if columns == 1 else values.reshape(-1, columns)
    return fields[0], fields[1]


def _save_model(path: Path, points: NDArray[np.float64], blocks: Mapping[str, Block]) -> None:
    arrays: dict[str, NDArray] = {"points": points, "names": np.array(list(blocks))}
    for index, block in enumerate(blocks.values()):
        arrays[f"nodes{index}"] = block.nodes
        arrays[f"kinds{index}"] = np.array(list(block.cells))
        for kind, rows in block.cells.items():
            arrays[f"cells{index}_{kind}"] = np.asarray(rows, np.int32)
        if block.points is not None:
            arrays[f"fixed{index}"] = block.points
        if block.is_endless:
            arrays[f"endless{index}"] = np.array(True)
    with replacing(path) as file:
        np.savez(file, allow_pickle=False, **arrays)


def _load_model(path: Path) -> tuple[NDArray[np.float64], dict[str, Block]]:
    arrays = read_arrays(path)
    blocks = {}
    for index, name in enumerate(arrays["names"].tolist()):
        cells = {kind: arrays[f"cells{index}_{kind}"] for kind in arrays[f"kinds{index}"].tolist()}
        fixed = arrays.get(f"fixed{index}")
        blocks[name] = Block(arrays[f"nodes{index}"], cells, fixed, f"endless{index}" in arrays)
    return arrays["points"], blocks
