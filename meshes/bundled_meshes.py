"""Meshes that come with symplex."""

from __future__ import annotations

from pathlib import Path

from symplex.base.arguments import checked
from symplex.errors import MeshError

_FOLDER = Path(__file__).parent


def bundled_names() -> list[str]:
    """Return the names of the bundled meshes, sorted."""
    return sorted(path.stem for path in _FOLDER.glob("*.msh"))


@checked
def bundled(name: str) -> Path:
    """Return the file of a bundled mesh.

    ``bracket`` is an angle bracket of 80 × 50 × 70 mm with an eye (5412 tetrahedra, in metres) and the groups
    ``bracket`` (volume), ``base`` (underside), ``clamp`` (walls of the bolt holes) and ``bore`` (wall of the eye).

    Parameters
    ----------
    name : str
        Such as ``"bracket"``, without a suffix.

    Raises
    ------
    MeshError
        If there is no bundled mesh of that name.
    """
    if name not in bundled_names():
        raise MeshError(f"there is no bundled mesh '{name}'; there are: {', '.join(bundled_names())}.")
    return _FOLDER / f"{name}.msh"
