"""Reading TetGen's pairs of files: ``.node`` with the points, ``.ele`` with the tetrahedra."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from symplex.errors import MeshError
from symplex.meshes.formats.account import Account
from symplex.meshes.formats.gmsh_sections import TextNumbers, exactly
from symplex.meshes.formats.numbering import Numbering
from symplex.meshes.formats.raw import RawCells, RawMesh

# VTK's order of the nodes of a quadratic tetrahedron among TetGen's.
_QUADRATIC = [0, 1, 2, 3, 6, 7, 9, 5, 8, 4]


def read_tetgen(path: Path, account: Account) -> RawMesh:
    """Return points, tetrahedra, their first attribute as ``tetgen:ref``, and boundary markers of points likewise."""
    (n, dim, n_attributes, n_markers), table, starts = _table(path.with_suffix(".node"), 4)
    if dim != 3:
        raise MeshError(f"its points have {dim} coordinates; a volume mesh needs three of each node.")
    points = _rows(table, starts, n, 4 + n_attributes + n_markers)
    (m, k, n_regions), table, starts = _table(path.with_suffix(".ele"), 3)
    if k not in (4, 10):
        raise MeshError(f"its tetrahedra have {k} nodes; they can have 4 or 10.")
    cells = _rows(table, starts, m, 1 + k + n_regions)
    numbers = exactly(points[:, 0], np.dtype(np.int64))
    # Numbers may begin with 0.
    first = int(numbers.min(initial=1) == 0)
    nodes = exactly(cells[:, 1 : 1 + k], np.dtype(np.int64))
    places = Numbering("node", numbers + first).places(nodes + first, "a tetra cell")
    for suffix in (".face", ".edge"):
        if path.with_suffix(suffix).exists():
            account.add_unknown(path.with_suffix(suffix).name, path, 0, why="such files are not read")
    marks = {"tetgen:ref": _if_whole(points[:, -1])} if n_markers else {}
    regions = {"tetgen:ref": [_if_whole(cells[:, -1])]} if n_regions else {}
    cells = RawCells("tetra", places) if k == 4 else RawCells("tetra10", places[:, _QUADRATIC])
    return RawMesh(points[:, 1:4].copy(), [cells], point_data=marks, cell_data=regions)


def _table(path: Path, n_head: int) -> tuple[tuple[int, ...], NDArray[np.float64], NDArray[np.intp]]:
    """Return the numbers of the first line, all others, and where lines begin among these."""
    lines = (line.partition(b"#")[0] for line in path.read_bytes().split(b"\n"))
    values, starts = TextNumbers(b"\n".join(lines)).lines(np.dtype(float))
    if len(starts) < 2 or starts[1] > n_head:
        raise ValueError(f"{path.name} does not begin with {n_head} numbers")
    head = exactly(values[: starts[1]], np.dtype(np.int64)).tolist()
    head += [0] * (n_head - len(head))  # those of attributes and markers may be left out
    if min(head) < 0:
        raise ValueError(f"{path.name} begins with the numbers {head}")
    return tuple(head), values[starts[1] :], starts[1:] - starts[1]


def _rows(values: NDArray[np.float64], starts: NDArray[np.intp], n: int, k: int) -> NDArray[np.float64]:
    if len(starts) != n + 1 or not np.array_equal(starts, k * np.arange(n + 1)):
        raise ValueError(f"it says that it has {n} lines of {k} numbers, which it has not")
    return values.reshape(n, k)


def _if_whole(values: NDArray[np.float64]) -> NDArray:
    whole = np.array_equal(values, np.rint(values)) and np.abs(values).max(initial=0) < 2**31
    return values.astype(np.int64) if whole else values
