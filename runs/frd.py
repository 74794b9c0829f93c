"""Frames of a run as CalculiX writes its results, for CalculiX GraphiX and other programs that read ``.frd`` files."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO

import numpy as np
from numpy.typing import NDArray

from symplex.errors import OutputError
from symplex.meshes.series.series import Frame, Series

# By kinds of cells the numbers of the types in the file, and the places of their nodes where the order is another one:
# after the edges of the base come those between base and top (CalculiX GraphiX, "Result Format").
_TYPES: dict[str, tuple[int, tuple[int, ...] | None]] = {
    "hexahedron": (1, None),
    "wedge": (2, None),
    "tetra": (3, None),
    "hexahedron20": (4, (*range(12), *range(16, 20), *range(12, 16))),
    "wedge15": (5, (*range(9), *range(12, 15), *range(9, 12))),
    "tetra10": (6, None),
    "triangle": (7, None),
    "triangle6": (8, None),
    "quad": (9, None),
    "quad8": (10, None),
    "line": (11, None),
}
_IN_LINE = 10  # nodes of an element
_NAMES = {"displacement": ("DISP", "D"), "velocity": ("VELO", "V")}
_COMPONENTS = {1: ("",), 3: ("1", "2", "3"), 6: ("XX", "YY", "ZZ", "XY", "YZ", "ZX")}


def frd_of(series: Series, title: str) -> bytes:
    """Return all frames of a series as an ``.frd`` file: nodes, elements, and data of nodes with 1, 3 or 6 components.

    Nodes are numbered from 1 in the order of the results, elements body after body. Obstacles are left out.

    Raises
    ------
    OutputError
        If there are cells that the format does not have.
    """
    out = StringIO()
    out.write(f"    1C{title[:60]}\n")
    out.write(f"    2C{'':18}{len(series.points):12d}{'':37}1\n")
    for k, (x, y, z) in enumerate(series.points.tolist(), start=1):
        out.write(f" -1{k:10d}{x:12.5E}{y:12.5E}{z:12.5E}\n")
    out.write(" -3\n")
    elements = [*_elements(series)]
    out.write(f"    3C{'':18}{len(elements):12d}{'':37}1\n")
    for number, (kind, group, nodes) in enumerate(elements, start=1):
        out.write(f" -1{number:10d}{kind:5d}{group:5d}{0:5d}\n")
        for k in range(0, len(nodes), _IN_LINE):
            out.write(" -2" + "".join(f"{node:10d}" for node in nodes[k : k + _IN_LINE]) + "\n")
    out.write(" -3\n")
    for step, frame in enumerate(series.frames(), start=1):
        for name, values in ({"displacement": frame.displacement} | frame.point_data).items():
            _write_data(out, step, frame, name, values)
    out.write(" 9999\n")
    return out.getvalue().encode("ascii", "replace")


def _elements(series: Series) -> Iterator[tuple[int, int, list[int]]]:
    """Yield type, number of the body, and nodes of each element."""
    bodies = [block for block in series.blocks.values() if not block.is_obstacle]
    for group, block in enumerate(bodies, start=1):
        for kind, cells in block.cells.items():
            if kind == "vertex":  # a node is enough
                continue
            if kind not in _TYPES:
                known = ", ".join(_TYPES)
                raise OutputError(f".frd files have no elements for cells of the type '{kind}'; they have {known}.")
            number, order = _TYPES[kind]
            for row in (cells if order is None else cells[:, list(order)]).tolist():
                yield number, group, [node + 1 for node in row]


def _write_data(out: StringIO, step: int, frame: Frame, name: str, values: NDArray[np.floating]) -> None:
    """Write values [n] or [n, c] at the nodes; those of other numbers of components have no place in the format."""
    columns = values.reshape(len(values), -1)
    components = _COMPONENTS.get(columns.shape[1])
    if components is None:
        return
    called, letter = _NAMES.get(name, (name.upper()[:8], name.upper()[:4]))
    is_vector = len(components) == 3
    out.write(f"    1PSTEP{'':20}{step:10d}{step:12d}{1:12d}\n")
    out.write(
        f"  100C{'L':3}{100 + step % 900:3d}{frame.t:12.5E}{len(values):12d}{'':20}{1:2d}{step:5d}{'':10}{1:2d}\n"
    )
    out.write(f" -4  {called:8}{len(components) + is_vector:5d}{1:5d}\n")
    for k, component in enumerate(components, start=1):
        row, column = (k, 0) if len(components) < 6 else ((1, 2, 3, 1, 2, 3)[k - 1], (1, 2, 3, 2, 3, 1)[k - 1])
        kind = {1: 1, 3: 2, 6: 4}[len(components)]
        out.write(f" -5  {letter + component:8}{1:5d}{kind:5d}{row:5d}{column:5d}{0:5d}\n")
    if is_vector:
        out.write(f" -5  {'ALL':8}{1:5d}{2:5d}{0:5d}{0:5d}{1:5d}ALL\n")
    for k, row in enumerate(columns.tolist(), start=1):
        out.write(f" -1{k:10d}" + "".join(f"{value:12.5E}" for value in row) + "\n")
    out.write(" -3\n")
