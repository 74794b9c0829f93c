"""Differences of the energy of one pair of points between lattice points, as C functions.

One coordinate x_(a,c) changes s = |d|² by Δs = h (±2 d_c + h), exactly; the energy then changes by ½ ξ Δs with the
quotient ξ of the law, without cancellation (see `symplex.fem.measures.pair_formulas`).

Rows of parameters: [law, dim, constants of the law (2)].
"""

# numba declares the address of a compiled function as int | None.
# pyright: reportArgumentType=false

from math import inf, sqrt

import numpy as np

from symplex.fem.energy import Array, LatticeFunctions
from symplex.fem.kernels import c_function, formula
from symplex.fem.measures.pair_formulas import ENGINEERING, GREEN, INVERSE, INVERSE_SQUARE


@formula
def _energy(law, a, b, s):
    """φ(s)."""
    if law == ENGINEERING:
        return 0.5 * a * (sqrt(s) - b) ** 2
    if law == GREEN:
        return 0.125 * a * ((s - b * b) / b) ** 2
    if law == INVERSE:
        return -a / sqrt(s) if s > 0.0 else -a * inf
    if law == INVERSE_SQUARE:
        return a / s if s > 0.0 else a * inf
    if s <= 0.0:
        return inf
    c = (b * b / s) ** 3
    return 4.0 * a * c * (c - 1.0)


@formula
def _change(law, a, b, s0, delta):
    """φ(s0 + Δs) − φ(s0) = ½ ξ Δs; infinite where a singular law has its pole at an end."""
    s1 = s0 + delta
    if law == ENGINEERING:
        stretch = 1.0 - 2.0 * b / (sqrt(s0) + sqrt(max(s1, 0.0))) if b > 0.0 else 1.0
        return 0.5 * delta * a * stretch
    if law == GREEN:
        return 0.125 * delta * a * ((s0 + s1) / (b * b) - 2.0)
    if s0 <= 0.0 or s1 <= 0.0:
        return inf
    if law == INVERSE:
        l0, l1 = sqrt(s0), sqrt(s1)
        return delta * a / (l0 * l1 * (l0 + l1))
    if law == INVERSE_SQUARE:
        return -delta * a / (s0 * s1)
    u0, u1 = b * b / s0, b * b / s1
    return -4.0 * a * delta * (u0**3 + u1**3 - 1.0) * (u0 * u0 + u0 * u1 + u1 * u1) * (b * b) / (s0 * s1)


@c_function("value")
def _value(p, x):
    dim, s = int(p[1]), 0.0
    for c in range(dim):
        s += (x[dim + c] - x[c]) ** 2
    return _energy(p[0], p[2], p[3], s)


@c_function("difference")
def _difference(p, x, i, h):
    dim, s = int(p[1]), 0.0
    for c in range(dim):
        s += (x[dim + c] - x[c]) ** 2
    c = i % dim
    step = h if i >= dim else -h  # of d_c
    return _change(p[0], p[2], p[3], s, step * (2.0 * (x[dim + c] - x[c]) + step))


@c_function("mixed")
def _mixed(p, x, i, j, hi, hj):
    dim, s = int(p[1]), 0.0
    for c in range(dim):
        s += (x[dim + c] - x[c]) ** 2
    ci, cj = i % dim, j % dim
    step_i, step_j = hi if i >= dim else -hi, hj if j >= dim else -hj
    delta_i = step_i * (2.0 * (x[dim + ci] - x[ci]) + step_i)
    delta_j = step_j * (2.0 * (x[dim + cj] - x[cj]) + step_j)
    both = 2.0 * step_i * step_j if ci == cj else 0.0
    # [φ(11) − φ(10)] − [φ(01) − φ(00)]
    return _change(p[0], p[2], p[3], s + delta_i, delta_j + both) - _change(p[0], p[2], p[3], s, delta_j)


def bar_lattice(law: int, dim: int, n_pairs: int, constants: list[Array]) -> LatticeFunctions:
    """Return the lattice functions of n_pairs pairs of a law with one or two constants, numbers or one per pair."""
    rows = np.zeros((n_pairs, 4))
    rows[:, 0], rows[:, 1] = law, dim
    for k, values in enumerate(constants):
        rows[:, 2 + k] = values
    return LatticeFunctions(rows, _value.address, _difference.address, _mixed.address, size=2 * dim)
