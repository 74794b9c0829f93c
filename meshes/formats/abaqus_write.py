"""Writing Abaqus and CalculiX input files: nodes, elements of the plain formulations, and sets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from symplex.errors import MeshError
from symplex.meshes.mesh import Mesh

_NAMES = {
    "line": "T3D2",
    "line3": "T3D3",
    "triangle": "S3",
    "triangle6": "STRI65",
    "quad": "S4",
    "quad8": "S8R",
    "tetra": "C3D4",
    "tetra10": "C3D10",
    "pyramid": "C3D5",
    "wedge": "C3D6",
    "wedge15": "C3D15",
    "hexahedron": "C3D8",
    "hexahedron20": "C3D20",
}
_MOST_IN_LINE = 16


def write_abaqus(mesh: Mesh, path: Path) -> None:
    """Write a mesh with its groups as ``*ELSET`` and ``*NSET``, by its own numbers where it has any."""
    unknown = [kind for kind in mesh.cells if kind not in _NAMES]
    if unknown:
        raise MeshError(f"{path.name}: Abaqus has no elements for cells of the type '{unknown[0]}'.")
    names = _whole([np.zeros(len(mesh.points), np.int64) if mesh.point_numbers is None else mesh.point_numbers])[0]
    given = [mesh.cell_numbers.get(kind, np.zeros(len(cells), np.int64)) for kind, cells in mesh.cells.items()]
    numbers = dict(zip(mesh.cells, _whole(given), strict=True))
    points = np.zeros((len(mesh.points), 3))
    points[:, : mesh.points.shape[1]] = mesh.points
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write("*HEADING\nwritten by symplex\n*NODE\n")
        file.writelines(
            f"{k}, {x!r}, {y!r}, {z!r}\n" for k, (x, y, z) in zip(names.tolist(), points.tolist(), strict=True)
        )
        for kind, cells in mesh.cells.items():
            file.write(f"*ELEMENT, TYPE={_NAMES[kind]}\n")
            numbered = np.column_stack([numbers[kind], names[cells]])
            for row in numbered.tolist():
                file.writelines(_lines(row, ",\n"))
        for name, members in mesh.cell_groups.items():
            chosen = [numbers[kind][index] for kind, index in members.items()]
            file.writelines(_set("ELSET", name, np.concatenate([np.empty(0, np.int64), *chosen])))
        for name, index in mesh.point_groups.items():
            file.writelines(_set("NSET", name, names[index]))


def _whole(given: list[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
    """Return numbers, those that are 0 after the others; new ones for all if some are the same, as of two bodies."""
    every = np.concatenate([np.empty(0, np.int64), *given])
    known = every[every > 0]
    if len(np.unique(known)) < len(known):
        every, known = np.zeros_like(every), known[:0]
    missing = np.flatnonzero(every <= 0)
    every = every.copy()
    every[missing] = known.max(initial=0) + 1 + np.arange(len(missing))
    return np.split(every, np.cumsum([len(part) for part in given])[:-1])


def _set(keyword: str, name: str, numbers: NDArray[np.int64]) -> Iterator[str]:
    yield f"*{keyword}, {keyword}={name}\n"
    yield from _lines(numbers.tolist(), "\n")


def _lines(numbers: list[int], between: str) -> Iterator[str]:
    """Yield numbers, sixteen to a line; ``between`` ends all lines but the last."""
    for k in range(0, len(numbers), _MOST_IN_LINE):
        yield ", ".join(map(str, numbers[k : k + _MOST_IN_LINE])) + (
            between if k + _MOST_IN_LINE < len(numbers) else "\n"
        )
