"""The order of the nodes of quadratic cells in Gmsh's files: by edges in another order than VTK's."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

_Integer = TypeVar("_Integer", bound=np.integer)

# Of each type of cells the place of its nodes among Gmsh's, where it is another one (section "Node ordering" of the
# Gmsh reference manual).
_HEXAHEDRON20 = [*range(8), 8, 11, 13, 9, 16, 18, 19, 17, 10, 12, 14, 15]
_WEDGE15 = [*range(6), 6, 9, 7, 12, 14, 13, 8, 10, 11]
_PLACES = {
    "tetra10": [*range(8), 9, 8],
    "hexahedron20": _HEXAHEDRON20,
    "hexahedron27": [*_HEXAHEDRON20, 22, 23, 21, 24, 20, 25, 26],
    "wedge15": _WEDGE15,
    "wedge18": [*_WEDGE15, 15, 17, 16],
    "pyramid13": [*range(5), 5, 8, 10, 6, 7, 9, 11, 12],
}


def from_gmsh_order(kind: str, cells: NDArray[_Integer]) -> NDArray[_Integer]:
    """Return cells [m, k] of a type as VTK orders their nodes."""
    return cells[:, _PLACES[kind]] if kind in _PLACES else cells


def to_gmsh_order(kind: str, cells: NDArray[_Integer]) -> NDArray[_Integer]:
    """Return cells [m, k] of a type as Gmsh orders their nodes."""
    return cells[:, np.argsort(_PLACES[kind])] if kind in _PLACES else cells
