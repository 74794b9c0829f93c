"""Differences of the contact energy of one node between lattice points, as C functions.

φ = ½ k p², p = ⟨−g⟩. Where both ends are inside, differences of g are written without cancellation:
h n_i for a plane, and h (2 d_i + h)/(r1 + r0) for a sphere, with d = x − c and r = |d|.

Rows of parameters: those of the obstacle (`symplex.contact.obstacles`), then k.
"""

# numba declares the address of a compiled function as int | None, and does not re-export carray.
# pyright: reportArgumentType=false, reportPrivateImportUsage=false

import numpy as np
from numba import carray

from symplex.contact.obstacles import COLUMNS, DIM, NORMAL, POINT, RADIUS, gap
from symplex.fem.energy import Array, LatticeFunctions
from symplex.fem.kernels import c_function, inlined

_STIFFNESS = COLUMNS


@inlined
def _difference_inside(p, d_i, i, h, r0, r1):
    """Change of g when x_i grows by h; d_i = x_i − c_i, and r0, r1 are |x − c| before and after."""
    return h * (2.0 * d_i + h) / (r0 + r1) if p[RADIUS] > 0.0 else h * p[NORMAL + i]


@c_function("value")
def _value(p_, x_):
    p, x = carray(p_, (COLUMNS + 1,)), carray(x_, (3,))
    depth = max(-gap(p, x), 0.0)
    return 0.5 * p[_STIFFNESS] * depth * depth


@c_function("difference")
def _difference(p_, x_, i, h):
    p, x = carray(p_, (COLUMNS + 1,)), carray(x_, (3,))
    x_i = x[i]
    g0 = gap(p, x)
    x[i] = x_i + h
    g1 = gap(p, x)
    x[i] = x_i
    if g0 >= 0.0 and g1 >= 0.0:
        return 0.0
    p0, p1 = max(-g0, 0.0), max(-g1, 0.0)
    change = p1 - p0
    if p0 > 0.0 and p1 > 0.0:
        change = -_difference_inside(p, x_i - p[POINT + i], i, h, g0 + p[RADIUS], g1 + p[RADIUS])
    # ½ k (p1² − p0²)
    return 0.5 * p[_STIFFNESS] * change * (p1 + p0)


@c_function("mixed")
def _mixed(p_, x_, i, j, hi, hj):
    p, x = carray(p_, (COLUMNS + 1,)), carray(x_, (3,))
    x_i, x_j = x[i], x[j]
    g00 = gap(p, x)
    x[j] = x_j + hj
    g01 = gap(p, x)
    x[i] += hi
    g11 = gap(p, x)
    x[j] = x_j
    x[i] = x_i + hi
    g10 = gap(p, x)
    x[i] = x_i
    k, R = p[_STIFFNESS], p[RADIUS]
    if min(min(g00, g10), min(g01, g11)) >= 0.0:
        return 0.0
    if max(max(g00, g10), max(g01, g11)) > 0.0:  # across the surface: nothing to gain from other forms
        p00, p10, p01, p11 = max(-g00, 0.0), max(-g10, 0.0), max(-g01, 0.0), max(-g11, 0.0)
        return 0.5 * k * ((p11 - p10) * (p11 + p10) - (p01 - p00) * (p01 + p00))
    if R == 0.0:
        return k * hi * hj * p[NORMAL + i] * p[NORMAL + j]
    # 2 φ/k = R² − 2 R r + r², and r² has the mixed difference 2 hi hj if i = j, else none; that of r is the bend
    r00, r10, r01, r11 = g00 + R, g10 + R, g01 + R, g11 + R
    along_i = hi * (2.0 * (x_i - p[POINT + i]) + hi)
    along_j = hj * (2.0 * (x_j - p[POINT + j]) + hj)
    both = 2.0 * hi * hj if i == j else 0.0
    turn = ((along_j + both) / (r11 + r10) + along_j / (r01 + r00)) / ((r11 + r01) * (r10 + r00))
    bend = both / (r11 + r01) - along_i * turn
    return k * (0.5 * both - R * bend)


def rigid_contact_lattice(parameters: Array, stiffness: float, n: int) -> LatticeFunctions:
    """Return the lattice functions of n nodes that touch one obstacle.

    Parameters
    ----------
    parameters : float64 [COLUMNS]
        Those of the obstacle.
    stiffness : float
        k in N/m.
    n : int
        Number of contact nodes.
    """
    rows = np.tile(np.append(parameters, stiffness), (n, 1))
    return LatticeFunctions(rows, _value.address, _difference.address, _mixed.address, size=int(parameters[DIM]))
