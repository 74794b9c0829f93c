"""Contact pairs between lattice points, for force-stepping: C functions of the 12 coordinates of one pair.

Rows of parameters: [edge_edge, w, ε, law, k, d̂]. Differences are those of values, zero where there are none.
"""

# numba declares the address of a compiled function as int | None, and does not re-export carray.
# pyright: reportArgumentType=false, reportPrivateImportUsage=false

from math import inf, isfinite

import numpy as np
from numba import carray

from symplex.contact import laws, mollifier
from symplex.contact.closest import closest
from symplex.contact.pairs import PairRecord, edges, relative
from symplex.fem.compiled.kernels import c_function, formula
from symplex.fem.energies.energy import LatticeFunctions


@formula
def _energy(p_, x_):
    """φ at coordinates x [12]."""
    p, q = carray(p_, (6,)), carray(x_, (4, 3))
    x = relative(q, 0, 1, 2, 3)
    s, _ = closest(p[0] != 0.0, x)
    if s >= p[5] * p[5]:
        return 0.0
    m = 1.0
    if p[2] != 0.0:
        e1, e2 = edges(x)
        m = mollifier.value(mollifier.ratio(p[2], e1, e2))
    return p[1] * m * laws.value(int(p[3]), p[4], p[5], s)


@c_function("value")
def _value(p, x):
    return _energy(p, x)


@c_function("difference")
def _difference(p, x, i, h):
    x_i = x[i]
    before = _energy(p, x)
    x[i] = x_i + h
    after = _energy(p, x)
    x[i] = x_i
    return after - before if isfinite(after) and isfinite(before) else inf


@c_function("mixed")
def _mixed(p, x, i, j, hi, hj):
    x_i, x_j = x[i], x[j]
    phi_00 = _energy(p, x)
    x[i] = x_i + hi
    phi_10 = _energy(p, x)
    x[j] += hj  # also if i = j
    phi_11 = _energy(p, x)
    x[i] = x_i
    x[j] = x_j + hj
    phi_01 = _energy(p, x)
    x[j] = x_j
    delta = (phi_11 - phi_10) - (phi_01 - phi_00)
    return delta if isfinite(delta) else inf


def pair_lattice(pairs: PairRecord) -> LatticeFunctions:
    """Return lattice functions of contact pairs, the same in any axes."""
    law = np.array([pairs.law, pairs.stiffness, pairs.reach])
    constants = np.broadcast_to(law, (len(pairs.nodes), 3))
    rows = np.column_stack([pairs.edge_edge, pairs.weights, pairs.parallel, constants])
    return LatticeFunctions(
        parameters=rows, value=_value.address, difference=_difference.address, mixed=_mixed.address, size=12
    )
