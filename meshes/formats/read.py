"""Reading meshes from files: meshio and what it leaves open behind one function and one kind of error."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from symplex.base.arguments import checked
from symplex.base.streams import discreet
from symplex.errors import MeshError
from symplex.meshes.formats.account import Account, some
from symplex.meshes.formats.by_meshio import read_by_meshio
from symplex.meshes.formats.collapsed import expand_collapsed
from symplex.meshes.formats.formats import format_of
from symplex.meshes.formats.gmsh_sections import physical_name, read_sections
from symplex.meshes.formats.hdf5_probe import require_readable
from symplex.meshes.formats.includes import without_quotes
from symplex.meshes.formats.meshio_lines import account_for_lines
from symplex.meshes.formats.raw import RawMesh
from symplex.meshes.kinds import dimension_of
from symplex.meshes.mesh import Mesh, distinct
from symplex.meshes.repair import drop_duplicates, drop_unconnected

if TYPE_CHECKING:
    import meshio

# Integer data with more values than this, or as many as things, number the things and don't group them.
_MOST_GROUPS_OF_DATA = 256
# What meshio joins names of sets with, in its order of preference.
_JOINING = "-_#+/"
# Coordinates whose fourth power is still a number.
_LARGEST = 1e75
_SAME_UNIT = 1e-6  # to what part units are the same
# What save_mesh puts before the name of a group in data of VTK files.
GROUP_PREFIX = "group:"


@checked
def read_mesh(
    path: str | Path,
    *,
    scale: float = 1.0,
    keep_unconnected: bool = True,
    require_volume: bool = True,
    strict: bool = False,
) -> Mesh:
    """Read a mesh from a file of any format that meshio reads, given by its extension.

    Parameters
    ----------
    path : path-like
        Gmsh ``.msh`` (1, 2 and 4), Abaqus or CalculiX ``.inp``, ``.vtk``, ``.vtu`` and many more.
    scale : float, default 1
        Metres per unit of length in the file, 1e-3 for millimetres. Universal and Radioss files may give their unit,
        which is the default then.
    keep_unconnected : bool, default True
        Whether to keep nodes that belong to no volume cell.
    require_volume : bool, default True
        Whether to refuse a mesh without volume cells, such as a lattice of bars or a surface.
    strict : bool, default False
        Whether to refuse a file with lines that are neither used nor known to mean nothing; else ``Mesh.unknown`` lists
        them.

    Returns
    -------
    Mesh
        Named sets arrive as groups: Gmsh's physical groups (nameless ones as ``surface_3``; of points, as point
        groups), Abaqus' ``*ELSET``, ``*NSET`` and ``*SURFACE`` (``name.elements`` and ``name.surface`` where another
        one has the name), blocks and sets of Exodus files, properties of Nastran decks, parts and sets of
        nodes of LS-DYNA and Radioss decks, the groups of MED and universal files, the sets that meshio packs into
        integer data of VTK files. Other integer data give one group for each value, ``name_value``; of data that are 0
        or 1 the group ``name`` are those with 1. Hexahedra of which some nodes are the same arrive as the wedges,
        pyramids or tetrahedra that they are. A mesh is geometry: what a file calls elements that are computed
        otherwise than here (``C3D8R``) is given by ``Mesh.formulations``.

    Raises
    ------
    MeshError
        If the file is missing, not a mesh, broken or empty, or has no volume cells.
    """
    path = Path(path)
    account = Account(path)
    mesh = read_accounted(path, account, scale=scale, keep_unconnected=keep_unconnected, require_volume=require_volume)
    if strict:
        try:
            account.require_known()
        except MeshError as error:
            raise MeshError(f"{path.name}: {error}") from None
    return mesh


def read_accounted(
    path: Path, account: Account, *, scale: float = 1.0, keep_unconnected: bool = True, require_volume: bool = True
) -> Mesh:
    """Return what `read_mesh` does, and say to an account what became of each line."""
    with without_quotes(path):
        return _read_accounted(path, account, scale, keep_unconnected, require_volume)


def _read_accounted(path: Path, account: Account, scale: float, keep_unconnected: bool, require_volume: bool) -> Mesh:
    if not scale > 0 or not np.isfinite(scale):
        raise MeshError(f"{path.name}: the scale must be a positive number of metres per unit, not {scale}.")
    file_format = format_of(path)
    with _as_mesh_error(path, file_format) as chatter:
        require_readable(path)
        if file_format in _READERS:
            reader = import_module(f"symplex.meshes.formats.{file_format}")
            raw = getattr(reader, f"read_{file_format}")(path, account)
        else:
            raw = read_by_meshio(path, file_format)
            account_for_lines(path, file_format, account)
        if "not closed by" in chatter.getvalue():
            raise ValueError("it is cut short")
        if warned := " ".join(chatter.getvalue().split()):
            account.add_unknown("a line", path, 0, why=warned)
        names = read_sections(path, account).names() if file_format == "gmsh" else {}
        scale = _scale(raw, scale)
    _check_sound(raw, path.name, scale, require_volume, account.listed())
    try:
        mesh = expand_collapsed(_with_groups(raw, names))
    except MeshError as error:
        raise MeshError(f"{path.name}: {error}") from None
    unknown = tuple(f"{path.name}, {line}" for line in account.listed())
    mesh = replace(mesh, points=mesh.points * scale, formulations=_formulations(raw), unknown=unknown)
    if file_format in ("gmsh", "gmsh22"):
        # Version 2 holds a cell once for each physical group that it is in.
        mesh = drop_duplicates(mesh)
    return mesh if keep_unconnected else drop_unconnected(mesh)


def mesh_of_raw(raw: RawMesh, name: str, *, require_volume: bool = True) -> Mesh:
    """Return the mesh of what a reader found, in the unit of length of the file, and cells as the file has them."""
    _check_sound(raw, name, 1.0, require_volume=require_volume)
    return replace(_with_groups(raw, {}), formulations=_formulations(raw))


# -- files ------------------------------------------------------------------------------------------------------


# Formats that meshio does not read, or not whole, or not strictly: by read_NAME of the module NAME, which is imported
# for the first file.
_READERS = ("abaqus", "exodus", "gmsh22", "gmsh41", "lsdyna", "nastran", "radioss", "tetgen", "universal")


@contextmanager
def _as_mesh_error(path: Path, file_format: str) -> Iterator[io.StringIO]:
    """Turn whatever a reader does on a bad file into a MeshError, and keep what it prints from the terminal.

    meshio prints and calls ``sys.exit(1)`` on some broken files, and raises nearly anything on others.
    """
    name, chatter = path.name, io.StringIO()
    called = file_format.rstrip("0123456789")
    try:
        with redirect_stdout(chatter), redirect_stderr(chatter), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # What NumPy before 2.4 says, mildly, of a text file that ends or goes wrong inside a block of numbers.
            warnings.filterwarnings("error", message="string or file could not be read")
            yield chatter
    except MeshError as error:
        raise MeshError(f"{name}: {_printable(str(error))}") from error
    except ImportError as error:
        raise MeshError(
            f"{name}: to read {called} files needs a package that is not installed ({error.name or error}); install "
            f"it: pip install {error.name or ''}".rstrip()
        ) from error
    except MemoryError as error:
        raise MeshError(f"{name}: there is not enough memory for what it says that it holds.") from error
    except (Exception, SystemExit) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise MeshError(f"{name}: {_printable(str(error.filename))} cannot be read: {error.strerror}.") from error
        # Before meshio exits it prints the reason, if it has one, and that it could not read the file.
        printed = chatter.getvalue().split("Error: Couldn't read")[0]
        said = printed if isinstance(error, SystemExit) else f"{type(error).__name__}: {error}"
        reason = discreet(_printable(said))[:200]
        because = f" ({reason})" if reason else ""
        if file_format in _READERS:
            raise MeshError(f"{name} is not a whole {called} file{because}; write it again.") from error
        raise MeshError(
            f"{name} is not a whole {called} file, or holds what cannot be read of one{because}; write it again, or in "
            "another format, such as .msh or .vtu."
        ) from error


def _printable(text: str) -> str:
    """Return a text, which may quote a file, as one line."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _scale(raw: meshio.Mesh | RawMesh, scale: float) -> float:
    """Return the m in the unit of length of a file, which it may give; a scale that is given must agree with it.

    Many programs that know no units write files in m.
    """
    unit = raw.unit if isinstance(raw, RawMesh) else None
    if unit is None or abs(unit - 1.0) < _SAME_UNIT:
        return scale
    if scale != 1.0 and abs(scale - unit) > _SAME_UNIT * unit:
        raise MeshError(
            f"scale must be {unit:g} m per unit of length, as the file says, got {scale:g}. Leave scale out."
        )
    return unit


def _check_sound(
    raw: meshio.Mesh | RawMesh, name: str, scale: float, require_volume: bool, unknown: Sequence[str] = ()
) -> None:
    """Raise MeshError unless there are (volume) cells in space and all cells refer to points that are there."""
    from meshio._common import num_nodes_per_cell

    counts: dict[str, int] = {}
    for block in raw.cells:
        counts[block.type] = counts.get(block.type, 0) + len(block.data)
    for kind in counts:
        try:
            dimension_of(kind)
        except MeshError as error:
            raise MeshError(f"{name}: {error}") from error
    is_solid = any(dimension_of(kind) == 3 and n for kind, n in counts.items())
    if not is_solid and (require_volume or not any(counts.values())):
        found = ", ".join(f"{n} {kind}" for kind, n in counts.items() if n) or "no cells at all"
        not_read = f"; not read: {'; '.join(some(unknown))}" if unknown else ""
        raise MeshError(f"{name} has no volume cells such as tetrahedra; it has {found}{not_read}.")
    if raw.points.ndim != 2 or not (3 if is_solid else 1) <= raw.points.shape[1] <= 3:
        raise MeshError(f"{name}: a volume mesh needs points with three coordinates each.")
    wrong = np.flatnonzero(~np.isfinite(raw.points).all(axis=1))
    if len(wrong):
        raise MeshError(
            f"{name}: the coordinates of {len(wrong)} of {len(raw.points)} nodes (the first is {wrong[0]}) "
            "are not finite numbers."
        )
    largest = float(np.abs(raw.points).max(initial=0.0)) * scale
    if largest > _LARGEST:
        raise MeshError(f"{name}: its coordinates are up to {largest:.3g} m, too large to compute with.")
    for block in raw.cells:
        width = block.data.shape[1] if np.ndim(block.data) == 2 else 0
        if len(block.data) and width != num_nodes_per_cell.get(block.type, width or -1):
            raise MeshError(f"{name}: {block.type} cells have {width} nodes.")
        if block.type.startswith("polyhedron"):
            raise MeshError(f"{name} has polyhedra, which are not supported; mesh with tetrahedra or hexahedra.")
        if np.size(block.data) and not 0 <= block.data.min() <= block.data.max() < len(raw.points):
            raise MeshError(f"{name}: a {block.type} cell refers to a node that is not in the file.")


def _formulations(raw: meshio.Mesh | RawMesh) -> dict[str, tuple[str, ...]]:
    """Return what Abaqus decks call elements; what meshio's readers say besides meshes is something else."""
    return {kind: tuple(names) for kind, names in raw.info.items()} if isinstance(raw.info, dict) else {}


# -- groups -----------------------------------------------------------------------------------------------------


class _Groups:
    """Groups of cells gathered block by block, of cells that are numbered by type."""

    def __init__(self, raw: meshio.Mesh | RawMesh):
        self._types = [block.type for block in raw.cells]
        self._first: list[int] = []
        self._totals: dict[str, int] = {}
        for block in raw.cells:
            self._first.append(self._totals.get(block.type, 0))
            self._totals[block.type] = self._first[-1] + len(block.data)
        self._parts: dict[str, dict[str, list[NDArray[np.integer]]]] = {}

    def add(self, name: str, block: int, index: NDArray[np.integer]) -> None:
        if len(index):
            members = self._parts.setdefault(name, {})
            members.setdefault(self._types[block], []).append(np.asarray(index) + self._first[block])

    @property
    def names(self) -> list[str]:
        return list(self._parts)

    def joined(self) -> dict[str, dict[str, NDArray[np.int32]]]:
        return {
            name: {kind: distinct(np.concatenate(parts), self._totals[kind]) for kind, parts in members.items()}
            for name, members in self._parts.items()
        }


def _with_groups(raw: meshio.Mesh | RawMesh, names: Mapping[tuple[int, int], str]) -> Mesh:
    groups = _Groups(raw)
    for name, members in raw.cell_sets.items():
        if not name.startswith("gmsh:"):
            for block, index in enumerate(members):
                groups.add(name, block, np.asarray([] if index is None else index, np.int64))
    for key, raw_data in raw.cell_data.items():
        data = [np.asarray(values) for values in raw_data]
        if key == "gmsh:physical":
            for block, tags in enumerate(data):
                for tag in np.unique(tags[tags > 0]):
                    name = physical_name(names, dimension_of(raw.cells[block].type), int(tag))
                    groups.add(name, block, np.flatnonzero(tags == tag))
        else:
            for name, member in _names_in_data(key, data, getattr(raw, "cell_tags", {})):
                for block, values in enumerate(data):
                    groups.add(name, block, np.flatnonzero(values == member))
    marked = {name: [np.asarray(index, np.int64)] for name, index in raw.point_sets.items()}
    for key, raw_data in raw.point_data.items():
        data = np.asarray(raw_data)
        for name, member in _names_in_data(key, [data], getattr(raw, "point_tags", {})):
            marked.setdefault(name, []).append(np.flatnonzero(data == member))
    point_groups = {name: distinct(np.concatenate(parts), len(raw.points)) for name, parts in marked.items()}
    odd = [name for name in (*groups.names, *point_groups) if not name.isprintable()]
    if odd:
        raise MeshError(f"a group has the name {odd[0]!r}, which cannot be printed.")
    mesh = _without_vertices(_cells_by_type(raw), raw.points, groups.joined(), point_groups)
    return replace(mesh, **_numbers(raw, mesh)) if isinstance(raw, RawMesh) else mesh


def _numbers(raw: RawMesh, mesh: Mesh) -> dict[str, Any]:
    """Return what a file calls points and cells, as the mesh has them."""
    blocks: dict[str, list[NDArray[np.int64]]] = {}
    for block, numbers in zip(raw.cells, raw.cell_numbers or (), strict=False):
        if block.type in mesh.cells and len(block.data):
            blocks.setdefault(block.type, []).append(numbers)
    cells = {kind: np.concatenate(parts) for kind, parts in blocks.items()}
    return {"point_numbers": raw.point_numbers, "cell_numbers": cells}


def _names_in_data(key: str, data: list[NDArray], families: Mapping[int, list[str]]) -> Iterator[tuple[str, int]]:
    """Yield the names of the groups that integer data stand for, with the value of their members.

    Only MED files have families: each of these values belongs to the groups that it lists.
    """
    if key in ("cell_tags", "point_tags"):
        yield from ((name, value) for value, names in families.items() for name in names)
        return
    if key.startswith("gmsh:") or key.lower().startswith("vtk"):
        return
    if any(d.ndim != 1 or d.dtype.kind not in "iub" for d in data):
        return
    values = [int(v) for v in np.unique(np.concatenate(data))]
    if not values or len(values) > _MOST_GROUPS_OF_DATA or len(values) == sum(len(d) for d in data) > 1:
        return
    joined = _joined_names(key, values)
    if key.startswith(GROUP_PREFIX):
        yield key.removeprefix(GROUP_PREFIX), 1
    elif joined:
        yield from ((name, k) for k, name in enumerate(joined))
    elif set(values) <= {0, 1} and 1 in values:
        yield key, 1
    else:
        yield from ((f"{key}_{value}", value) for value in values)


def _joined_names(key: str, values: list[int]) -> list[str]:
    """Return the names of the sets that meshio packed into data with a key and some values, none if it did not.

    It numbers the members of the sets from 0, the others −1, and joins the names by the first of its characters that
    no name has.
    """
    if values == [-1, 0]:
        return [key]
    for k, character in enumerate(_JOINING):
        names = key.split(character)
        earlier_taken = all(other in key for other in _JOINING[:k])
        if len(names) > 1 and earlier_taken and values[0] >= -1 and values[-1] + 1 == len(names):
            return names
    return []


def _cells_by_type(raw: meshio.Mesh | RawMesh) -> dict[str, NDArray[np.int32]]:
    blocks: dict[str, list[NDArray]] = {}
    for block in raw.cells:
        if len(block.data):
            blocks.setdefault(block.type, []).append(block.data)
    return {kind: np.ascontiguousarray(np.concatenate(parts), np.int32) for kind, parts in blocks.items()}


def _without_vertices(
    cells: dict[str, NDArray[np.int32]],
    points: NDArray,
    cell_groups: dict[str, dict[str, NDArray[np.int32]]],
    point_groups: dict[str, NDArray[np.int32]],
) -> Mesh:
    """Return the mesh with groups of ``vertex`` cells made groups of points, and no vertex cells."""
    vertices = cells.pop("vertex", np.empty((0, 1), np.int32))
    for name, members in cell_groups.items():
        index = members.pop("vertex", None)
        if index is not None:
            point_groups[name] = np.union1d(point_groups.get(name, []), vertices[index, 0]).astype(np.int32)
    filled = {name: members for name, members in cell_groups.items() if members}
    return Mesh(np.ascontiguousarray(points, np.float64), cells, filled, point_groups)
