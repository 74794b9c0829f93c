"""Which format a mesh file has: by its extension, and by how it begins where that shows."""

from __future__ import annotations

import re
import stat
from pathlib import Path

from symplex.base.streams import printable
from symplex.errors import MeshError
from symplex.meshes.formats.gmsh_sections import version_of

# How files begin that cannot be mistaken, what they are, meshio's names of formats that may begin so, and what to do.
_HDF5 = ("med", "exodus", "cgns", "h5m", "hmf", "xdmf")
_BEGINNINGS: list[tuple[bytes, str, tuple[str, ...], str]] = [
    (rb"\$(MeshFormat|NOD|Comments)\b", "a Gmsh mesh", ("gmsh",), "name it .msh"),
    (rb"# vtk DataFile", "a VTK file", ("vtk",), "name it .vtk"),
    (rb"(<\?xml[^>]*>\s*)?<VTKFile\b", "a VTK XML file", ("vtu",), "name it .vtu"),
    (rb"(<\?xml[^>]*>\s*)?(<!DOCTYPE[^>]*>\s*)?<Xdmf\b", "an XDMF file", ("xdmf",), "name it .xdmf"),
    (rb"(<\?xml[^>]*>\s*)?<dolfin\b", "a mesh of DOLFIN", ("dolfin-xml",), "name it .xml"),
    (rb"\*(\*|(heading|node|part|element|include|preprint|parameter)\b)", "an Abaqus input file", ("abaqus",),
     "name it .inp"),
    (rb"(\$[^\n]*\n\s*)*\*keyword\b", "an LS-DYNA input file", ("lsdyna",), "name it .k"),
    (rb"#RADIOSS STARTER", "a Radioss starter file", ("radioss",), "name it .rad"),
    (rb"MeshVersion(Un)?[Ff]ormatted\b", "a Medit mesh", ("medit",), "name it .mesh"),
    (rb"\((0|1|2|10|12|13|39|45)\s", "a mesh of Ansys Fluent", ("ansys", "gmsh"), "name it .msh"),
    (rb"NDIME\s*=", "an SU2 mesh", ("su2",), "name it .su2"),
    (rb"\x89HDF\r\n", "an HDF5 file", _HDF5, "name it .med, .exo or .cgns, as what wrote it calls the format"),
    (rb"CDF[\x01\x02\x05]", "a netCDF file", ("exodus",), "name it .exo if it is an Exodus mesh"),
    (rb"ISO-10303-21", "a STEP geometry", (), "mesh it first, with Gmsh for example"),
    (rb"\x1f\x8b|PK\x03\x04|BZh|\xfd7zXZ", "compressed", (), "unpack it first"),
    (rb"-1\r?\n\s+(15|82|151|164|781|2411|2412|2414|2420)\r?\n", "an I-DEAS universal file", ("universal",),
     "name it .unv"),
    (rb"(SOL|CEND|BEGIN BULK)\b", "a Nastran deck", ("nastran",), "name it .bdf"),
    (rb"<!DOCTYPE html|<html", "a web page", (), "download the file itself"),
    (rb"version https://git-lfs", "a pointer of Git LFS", (), "fetch the file itself: git lfs pull"),
]  # fmt: skip


# Formats that meshio does not know.
_OWN = {
    ".k": ["lsdyna"],
    ".key": ["lsdyna"],
    ".dyn": ["lsdyna"],
    ".rad": ["radioss"],
    ".unv": ["universal"],
}


def known_extensions() -> list[str]:
    """Return the file extensions that ``read_mesh`` knows, sorted."""
    from meshio._helpers import extension_to_filetypes, reader_map

    by_meshio = (e for e, formats in extension_to_filetypes.items() if any(f in reader_map for f in formats))
    return sorted({*by_meshio, *_OWN})


def format_of(path: Path) -> str:
    """Return meshio's name of the format of a file that exists; of Gmsh's ``gmsh22``, ``gmsh41`` or ``gmsh`` (4.0)."""
    _require_file(path)
    formats = _by_extension(path)
    try:
        with path.open("rb") as file:
            start = file.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()
    except OSError as error:
        raise MeshError(f"{path} cannot be read: {error.strerror}.") from error
    if not start:
        raise MeshError(f"{path.name} is empty.")
    for pattern, what, may_be, do in _BEGINNINGS:
        if re.match(pattern, start, re.IGNORECASE) and not {*formats} & {*may_be}:
            raise MeshError(
                f"{path.name} is {what}, to judge by its content, though its name ends in {path.suffix}; {do}."
            )
    if "gmsh" not in formats:
        return formats[0]
    # Ansys has the same extension; only its own files begin with a parenthesis.
    return "ansys" if start.startswith(b"(") else _of_gmsh(path)


def _require_file(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise MeshError(f"there is no mesh file {path}.") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise MeshError(f"{str(path)!r} cannot be read: {reason}.") from None
    if stat.S_ISDIR(mode):
        raise MeshError(f"{path} is a directory, not a mesh file.")
    if not stat.S_ISREG(mode):
        raise MeshError(f"{path} is a pipe or a device; a mesh is read from a regular file.")


def _by_extension(path: Path) -> list[str]:
    from meshio._helpers import extension_to_filetypes

    endings = ["".join(path.suffixes[-n:]).lower() for n in (2, 1)]
    known = {**extension_to_filetypes, **_OWN}
    formats = next((known[ending] for ending in endings if ending in known), None)
    if formats is None:
        raise MeshError(
            f"{path.name}: no mesh format has the extension '{path.suffix}'; known are {' '.join(known_extensions())}."
        )
    return formats


def _of_gmsh(path: Path) -> str:
    version = version_of(path)
    # Some programs write just the first number; what is no version is found out by the reader.
    known = {
        "1": "gmsh22",
        "2": "gmsh22",
        "2.1": "gmsh22",
        "2.2": "gmsh22",
        "4": "gmsh41",
        "4.1": "gmsh41",
        "4.0": "gmsh",
        "": "gmsh41",
    }
    if version not in known:
        called = printable(version[:20], breaks=False)
        raise MeshError(f"{path.name} is of version {called} of Gmsh's format; save it as version 4.1.")
    return known[version]
