"""Lattice functions of energies of points that follow nodes: φ(W x), from that of the points."""

# numba declares the address of a compiled function as int | None, and does not re-export carray.
# pyright: reportArgumentType=false, reportPrivateImportUsage=false

from __future__ import annotations

import numpy as np
from numba import carray

from symplex.fem.compiled.call import call_value
from symplex.fem.compiled.kernels import c_function
from symplex.fem.energies.energy import Array, LatticeFunctions
from symplex.fem.energies.lattice_values import differences_of

_HEADER = 4  # of a row: the address of φ, the points and nodes of a stencil, dim; then the weights, and φ's own row
_BYTES = 8


@c_function("value")
def _value(p_, x_):
    head = carray(p_, (_HEADER,))
    address, k, n, dim = int(head[0]), int(head[1]), int(head[2]), int(head[3])
    weights, x = carray(p_, (_HEADER + k * n,)), carray(x_, (n * dim,))
    points = np.zeros(k * dim)
    for a in range(k):
        for b in range(n):
            weight = weights[_HEADER + a * n + b]
            for i in range(dim):
                points[a * dim + i] += weight * x[b * dim + i]
    phi = call_value(address, head.ctypes.data + _BYTES * (_HEADER + k * n), points.ctypes.data)
    points[0] = phi  # or they are freed before the call, which knows their address only
    return phi


def interpolated_lattice(of_points: LatticeFunctions, weights: Array, dim: int) -> LatticeFunctions:
    """Return the lattice functions of stencils of nodes with the weights [m, k, K] of k points each, in any axes.

    They are differences of values (see `symplex.fem.energies.lattice_values`).

    Parameters
    ----------
    of_points : LatticeFunctions
        Of the stencils of points, in the same axes.
    weights : float64 [m, k, K]
        Of the nodes of a stencil for its points.
    dim : int
        Dimension of space.
    """
    m, k, n = weights.shape
    head = np.tile(np.array([of_points.value, k, n, dim], float), (m, 1))
    rows = np.column_stack([head, weights.reshape(m, k * n), of_points.parameters])
    return differences_of(_value.address, n * dim, None, rows, failures=of_points.failures, owner=(_value, of_points))
