"""Differences of the potential of a constant force on one node, as C functions.

φ = −f·x. Rows of parameters: [dim, f].
"""

# numba declares the address of a compiled function as int | None.
# pyright: reportArgumentType=false

import numpy as np
from numba import cfunc, types

from symplex.fem.energy import Array, LatticeFunctions

_POINTER = types.CPointer(types.float64)


@cfunc(types.float64(_POINTER, _POINTER), cache=True)
def _value(p, x):
    phi = 0.0
    for i in range(int(p[0])):
        phi -= p[1 + i] * x[i]
    return phi


@cfunc(types.float64(_POINTER, _POINTER, types.int64, types.float64), cache=True)
def _difference(p, x, i, h):
    return -p[1 + i] * h


@cfunc(types.float64(_POINTER, _POINTER, types.int64, types.int64, types.float64, types.float64), cache=True)
def _mixed(p, x, i, j, hi, hj):
    return 0.0


def dead_load_lattice(forces: Array) -> LatticeFunctions:
    """Return the lattice functions of constant forces [m, dim] in N."""
    rows = np.column_stack([np.full(len(forces), float(forces.shape[1])), forces])
    return LatticeFunctions(rows, _value.address, _difference.address, _mixed.address, size=forces.shape[1])
