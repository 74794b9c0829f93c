"""Writing a mesh with its groups to a file that other programs read."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from symplex.base.arguments import checked
from symplex.errors import MeshError
from symplex.meshes.formats.abaqus_write import write_abaqus
from symplex.meshes.formats.by_meshio import complete_meshio, wedges_of_vtk
from symplex.meshes.formats.gmsh41 import write_gmsh41
from symplex.meshes.formats.read import GROUP_PREFIX
from symplex.meshes.mesh import Mesh

if TYPE_CHECKING:
    import meshio

# What would end a name in one format or another.
_NOT_IN_NAMES = '",=*$'


@checked
def save_mesh(mesh: Mesh, path: str | Path, *, overwrite: bool = True) -> None:
    """Write a mesh with all its groups, in the format of the file's extension; ``read_mesh`` brings them back.

    The file is written aside and then takes its name, so that an earlier one stays as it was if writing fails.

    Parameters
    ----------
    mesh : Mesh
    path : path-like
        ``.msh`` (Gmsh 4.1, groups as physical groups), ``.inp`` (Abaqus, as ``*ELSET`` and ``*NSET``), or ``.vtu`` and
        ``.vtk`` (each group as cell or point data ``group:NAME``, 1 for members and 0 for others).
    overwrite : bool, default True
        Whether to replace a file of that name.

    Raises
    ------
    MeshError
        If the extension is another, there are no cells, the file cannot be written or is there already, or the format
        cannot hold a cell type or the name of a group.
    """
    path = Path(path)
    write = _WRITERS.get(path.suffix.lower())
    if write is None:
        raise MeshError(f"{path.name}: meshes are written as {', '.join(_WRITERS)}, not '{path.suffix}'.")
    if not any(len(cells) for cells in mesh.cells.values()):
        raise MeshError(f"{path.name}: there are no cells to write.")
    for name in mesh.groups:
        if not name.isprintable() or set(name) & set(_NOT_IN_NAMES) or name != name.strip() or not name:
            raise MeshError(f"{path.name}: a group cannot be written by the name {name!r}; rename it.")
    if path.exists() and not path.is_file():
        raise MeshError(f"{path} is there already and is no file.")
    if path.exists() and not overwrite:
        raise MeshError(f"{path} is there already; choose another name, or --overwrite it (overwrite=True).")
    target = path.resolve()  # of a link, which stays one
    try:
        with TemporaryDirectory(prefix=".symplex-", dir=target.parent) as folder:
            aside = Path(folder) / path.name
            write(mesh, aside)
            aside.replace(target)
    except OSError as error:
        raise MeshError(f"{path} cannot be written: {error.strerror or error}.") from error


def _write_vtk(mesh: Mesh, path: Path) -> None:
    spaced = [name for name in mesh.groups if len(name.split()) > 1]
    if spaced:
        raise MeshError(f"{path.name}: group names in .vtk files cannot have spaces ('{spaced[0]}'); write .vtu.")
    _write_by_meshio(mesh, path, "vtk42")  # in files of VTK 5.1 it gives integers names of types that VTK does not know


def _write_vtu(mesh: Mesh, path: Path) -> None:
    _write_by_meshio(mesh, path, "vtu")


# Formats that keep groups, by extension.
_WRITERS: dict[str, Callable[[Mesh, Path], None]] = {
    ".msh": write_gmsh41,
    ".inp": write_abaqus,
    ".vtu": _write_vtu,
    ".vtk": _write_vtk,
}


def _write_by_meshio(mesh: Mesh, path: Path, file_format: str) -> None:
    import meshio

    complete_meshio()
    raw = wedges_of_vtk(_with_indicators(mesh))
    # meshio prints to the terminal what it converts.
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        meshio.write(path, raw, file_format)


def _with_indicators(mesh: Mesh) -> meshio.Mesh:
    import meshio

    none = np.empty(0, np.int32)
    return meshio.Mesh(
        _in_space(mesh),
        dict(mesh.cells),
        point_data={
            GROUP_PREFIX + name: _indicator(len(mesh.points), index) for name, index in mesh.point_groups.items()
        },
        cell_data={
            GROUP_PREFIX + name: [_indicator(len(cells), members.get(kind, none)) for kind, cells in mesh.cells.items()]
            for name, members in mesh.cell_groups.items()
        },
    )


def _indicator(n: int, index: NDArray[np.int32]) -> NDArray[np.int32]:
    values = np.zeros(n, np.int32)
    values[index] = 1
    return values


def _in_space(mesh: Mesh) -> NDArray[np.float64]:
    points = np.zeros((len(mesh.points), 3))
    points[:, : mesh.points.shape[1]] = mesh.points
    return points
