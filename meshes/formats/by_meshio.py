"""meshio's readers, made to end: some wait for ever for the rest of a file that is cut short."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import meshio

_MOST_EMPTY_READS = 1000


def read_by_meshio(path: Path, file_format: str) -> meshio.Mesh:
    """Return what meshio reads from a file in a format of its own name.

    Raises
    ------
    Exception, SystemExit
        Nearly anything, if the file is broken; EOFError if the reader goes on at the end of the file.
    """
    import meshio

    complete_meshio()
    if file_format in ("ansys", "mdpa", "ply"):
        with _FiniteBytes(io.FileIO(path)) as binary:
            return meshio.read(binary, file_format)
    if file_format in ("tecplot", "off"):
        with _FiniteText(io.BufferedReader(io.FileIO(path))) as text:
            return meshio.read(text, file_format)
    mesh = meshio.read(path, file_format)
    return wedges_of_vtk(mesh) if file_format in ("vtk", "vtu") else mesh


def complete_meshio() -> None:
    """Add to meshio's table of dimensions quadratic cells that it reads and writes, but makes no mesh of."""
    from meshio._mesh import topological_dimension

    for kind in ("wedge15", "wedge18", "pyramid13"):
        topological_dimension.setdefault(kind, 3)


# meshio turns the wedges of VTK files round. VTK itself has their corners in the order that they have here, and would
# take those for inverted.
_VTK_WEDGE = [0, 2, 1, 3, 5, 4]


def wedges_of_vtk(mesh: meshio.Mesh) -> meshio.Mesh:
    """Return what meshio has read from a VTK file, or shall write to one, so that wedges there are as VTK has them."""
    for block in mesh.cells:
        if block.type == "wedge":
            block.data = block.data[:, _VTK_WEDGE]
    return mesh


class _FiniteBytes(io.BufferedReader):
    """A file that says so when it is read again and again at its end."""

    _empty_reads = 0

    def read(self, size: int | None = -1, /) -> bytes:
        return self._counted(super().read(size))

    def readline(self, size: int | None = -1, /) -> bytes:
        return self._counted(super().readline(size))

    def _counted(self, data: bytes) -> bytes:
        self._empty_reads += not data
        if self._empty_reads > _MOST_EMPTY_READS:
            raise EOFError("it ends too early")
        return data


class _FiniteText(io.TextIOWrapper):
    """A text file that says so when lines are read again and again at its end."""

    _empty_reads = 0

    def readline(self, size: int = -1, /) -> str:
        line = super().readline(size)
        self._empty_reads += not line
        if self._empty_reads > _MOST_EMPTY_READS:
            raise EOFError("it ends too early")
        return line
