"""Writing a mesh with its groups to a file that other programs read."""

from __future__ import annotations

import io
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from symplex.errors import MeshError
from symplex.meshes.gmsh41 import write_gmsh41
from symplex.meshes.mesh import Mesh
from symplex.meshes.read import GROUP_PREFIX

if TYPE_CHECKING:
    import meshio

# Formats that keep groups, by extension, with meshio's name for them.
# In files of VTK 5.1, it gives integers names of types that VTK itself does not know.
_FORMATS = {".msh": "gmsh", ".inp": "abaqus", ".vtu": "vtu", ".vtk": "vtk42"}


def save_mesh(mesh: Mesh, path: str | Path) -> None:
    """Write a mesh with all its groups, in the format of the file's extension; ``read_mesh`` brings them back.

    Parameters
    ----------
    mesh : Mesh
    path : path-like
        ``.msh`` (Gmsh 4.1, groups as physical groups), ``.inp`` (Abaqus, as ``*ELSET`` and ``*NSET``), or ``.vtu`` and
        ``.vtk`` (each group as cell or point data ``group:NAME``, 1 for members and 0 for others).

    Raises
    ------
    MeshError
        If the extension is another, there are no cells, the file cannot be written, or the format cannot hold a cell
        type or, ``.vtk``, the name of a group.
    """
    path = Path(path)
    file_format = _FORMATS.get(path.suffix.lower())
    if file_format is None:
        raise MeshError(f"{path.name}: meshes are written as {', '.join(_FORMATS)}, not '{path.suffix}'.")
    if not any(len(cells) for cells in mesh.cells.values()):
        raise MeshError(f"{path.name}: there are no cells to write.")
    try:
        if file_format == "gmsh":
            write_gmsh41(mesh, path)
        else:
            _write_by_meshio(mesh, path, file_format)
    except OSError as error:
        raise MeshError(f"{path} cannot be written: {error.strerror or error}.") from error


def _write_by_meshio(mesh: Mesh, path: Path, file_format: str) -> None:
    import meshio

    raw = _with_sets(mesh) if file_format == "abaqus" else _with_indicators(mesh)
    spaced = [name for name in mesh.groups if len(name.split()) > 1]
    if file_format == "vtk42" and spaced:
        raise MeshError(f"{path.name}: group names in .vtk files cannot have spaces ('{spaced[0]}'); write .vtu.")
    # meshio prints to the terminal what it converts.
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        meshio.write(path, raw, file_format)


def _with_sets(mesh: Mesh) -> meshio.Mesh:
    import meshio

    none = np.empty(0, np.int32)
    return meshio.Mesh(
        _in_space(mesh),
        dict(mesh.cells),
        point_sets=dict(mesh.point_groups),
        cell_sets={
            name: [members.get(kind, none) for kind in mesh.cells] for name, members in mesh.cell_groups.items()
        },
    )


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
