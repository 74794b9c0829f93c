"""meshio's readers, made to end: some wait for ever for the rest of a file that is cut short."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import meshio

_MOST_EMPTY_READS = 1000


def read_by_meshio(path: Path, file_format: str) -> meshio.Mesh:
    """Return what meshio reads from a file in a format of its own name."""
    import meshio

    complete_meshio()
    if file_format == "dolfin-xml":
        _require_whole_dolfin(path)
    if file_format in ("ansys", "mdpa", "ply"):
        with _FiniteBytes(io.FileIO(path)) as binary:
            return meshio.read(binary, file_format)
    if file_format in ("tecplot", "off"):
        with _FiniteText(io.BufferedReader(io.FileIO(path))) as text:
            return meshio.read(text, file_format)
    mesh = meshio.read(path, file_format)
    return _turned_inward(wedges_of_vtk(mesh)) if file_format in ("vtk", "vtu") else mesh


def _require_whole_dolfin(path: Path) -> None:
    """Refuse a DOLFIN file with less vertices or cells than it says: meshio would leave those as memory has them."""
    text = path.read_text(encoding="utf-8", errors="replace")
    for sizes, of in (("vertices", "vertex"), ("cells", "triangle|tetrahedron")):
        said = re.search(rf"<{sizes}\s[^>]*?\bsize\s*=\s*[\"'](\d+)[\"']", text)
        found = [int(k) for k in re.findall(rf"<(?:{of})\s[^>]*?\bindex\s*=\s*[\"'](\d+)[\"']", text)]
        if said is None or sorted(found) != list(range(int(said[1]))):
            raise ValueError(f"it has {len(found)} {sizes}, or other numbers of them than it says")


def complete_meshio() -> None:
    """Add to meshio's table of dimensions quadratic cells that it reads and writes, but makes no mesh of."""
    from meshio._mesh import topological_dimension

    for kind in ("wedge15", "wedge18", "pyramid13"):
        topological_dimension.setdefault(kind, 3)


# meshio turns the wedges of VTK files round. VTK 9.7 takes the corners in the order that they have here: the base looks
# inward. Its documentation and earlier versions have it look outward, as many files do.
_VTK_WEDGE = [0, 2, 1, 3, 5, 4]
_TURNED = {"wedge": _VTK_WEDGE, "wedge15": [*_VTK_WEDGE, 8, 7, 6, 11, 10, 9, 12, 14, 13]}
_TURNED["wedge18"] = [*_TURNED["wedge15"], 17, 16, 15]


def wedges_of_vtk(mesh: meshio.Mesh) -> meshio.Mesh:
    """Return what meshio has read from a VTK file, or shall write to one, so that wedges there are as VTK has them."""
    for block in mesh.cells:
        if block.type == "wedge":
            block.data = block.data[:, _VTK_WEDGE]
    return mesh


def _turned_inward(mesh: meshio.Mesh) -> meshio.Mesh:
    """Return what was read from a VTK file with wedges whose bases look inward, in whichever order the file has them.

    A program writes all wedges of a type in one order, so the file has the one in which most have a positive volume.
    """
    for kind, order in _TURNED.items() if mesh.points.shape[1] == 3 else ():
        blocks = [block for block in mesh.cells if block.type == kind]
        if sum(np.sign(_volumes(mesh.points, block.data)).sum() for block in blocks) < 0:
            for block in blocks:
                block.data = block.data[:, order]
    return mesh


def _volumes(points: NDArray[np.float64], wedges: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return the volumes of wedges by their corners, roughly; zeros if they have nodes that are not there."""
    if wedges.size and not 0 <= wedges.min() <= wedges.max() < len(points):
        return np.zeros(len(wedges))
    a, b, c, d, e, f = (points[wedges[:, k]] for k in range(6))
    across = np.cross(b - a, c - a) + np.cross(e - d, f - d)
    return np.einsum("ij,ij->i", across, (d + e + f - a - b - c) / 6.0)


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
