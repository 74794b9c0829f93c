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
    """Write a mesh with its groups as ``*ELSET`` and ``*NSET``."""
    unknown = [kind for kind in mesh.cells if kind not in _NAMES]
    if unknown:
        raise MeshError(f"{path.name}: Abaqus has no elements for cells of the type '{unknown[0]}'.")
    first = {}
    n = 1
    for kind, cells in mesh.cells.items():
        first[kind] = n
        n += len(cells)
    points = np.zeros((len(mesh.points), 3))
    points[:, : mesh.points.shape[1]] = mesh.points
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write("*HEADING\nwritten by symplex\n*NODE\n")
        file.writelines(f"{k}, {x!r}, {y!r}, {z!r}\n" for k, (x, y, z) in enumerate(points.tolist(), start=1))
        for kind, cells in mesh.cells.items():
            file.write(f"*ELEMENT, TYPE={_NAMES[kind]}\n")
            numbered = np.column_stack([np.arange(first[kind], first[kind] + len(cells)), cells.astype(np.int64) + 1])
            for row in numbered.tolist():
                file.writelines(_lines(row, ",\n"))
        for name, members in mesh.cell_groups.items():
            numbers = [index.astype(np.int64) + first[kind] for kind, index in members.items()]
            file.writelines(_set("ELSET", name, np.concatenate([np.empty(0, np.int64), *numbers])))
        for name, index in mesh.point_groups.items():
            file.writelines(_set("NSET", name, index.astype(np.int64) + 1))


def _set(keyword: str, name: str, numbers: NDArray[np.int64]) -> Iterator[str]:
    yield f"*{keyword}, {keyword}={name}\n"
    yield from _lines(numbers.tolist(), "\n")


def _lines(numbers: list[int], between: str) -> Iterator[str]:
    """Yield numbers, sixteen to a line; ``between`` ends all lines but the last."""
    for k in range(0, len(numbers), _MOST_IN_LINE):
        yield ", ".join(map(str, numbers[k : k + _MOST_IN_LINE])) + (
            between if k + _MOST_IN_LINE < len(numbers) else "\n"
        )
