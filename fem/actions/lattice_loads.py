"""Differences of the potential of a constant force on one node, as C functions.

φ = −f·x. Rows of parameters: [dim, f].
"""

# numba declares the address of a compiled function as int | None.
# pyright: reportArgumentType=false

import numpy as np

from symplex.fem.compiled.kernels import c_function
from symplex.fem.energies.energy import Array, LatticeFunctions


@c_function("value")
def _value(p, x):
    phi = 0.0
    for i in range(int(p[0])):
        phi -= p[1 + i] * x[i]
    return phi


@c_function("difference")
def _difference(p, x, i, h):
    return -p[1 + i] * h


@c_function("mixed")
def _mixed(p, x, i, j, hi, hj):
    return 0.0


def dead_load_lattice(forces: Array) -> LatticeFunctions:
    """Return the lattice functions of constant forces [m, dim] in N."""
    rows = np.column_stack([np.full(len(forces), float(forces.shape[1])), forces])
    return LatticeFunctions(rows, _value.address, _difference.address, _mixed.address, size=forces.shape[1])
