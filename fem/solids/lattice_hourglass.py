"""Differences of the hourglass energy of one element between lattice points, without cancellation.

The products Q_αi = d_i·g_α (see `symplex.fem.solids.hourglass_functions`) are bilinear, and the energy ½ Q·K Q is
quadratic in them: along a step from Q to Q + A it changes by A·K (Q + A/2), and with two steps, where Q becomes
Q + A + B + X, its mixed difference is

    X·K (Q + A + B + X/2) + A·K B.

A row of parameters has the slopes β [8, 3] of the element from a place on, and the constants s and K at its end.
"""

import numpy as np

from symplex.fem.compiled.kernels import formula, inlined

_CONSTANTS = 33


@inlined
def _pattern(alpha, n):
    """Return h_α at node n."""
    x = 1.0 if n == 1 or n == 2 or n == 5 or n == 6 else -1.0
    y = 1.0 if n == 2 or n == 3 or n == 6 or n == 7 else -1.0
    z = 1.0 if n > 3 else -1.0
    return (1.0 if alpha == 0 else x) * (1.0 if alpha == 1 else y) * (1.0 if alpha == 2 else z)


@formula
def _vectors(p, slopes, x):
    """Return d and g, seven vectors, at the positions x [24]."""
    y = np.zeros((7, 3))
    for n in range(1, 8):
        for c in range(3):
            difference = x[3 * n + c] - x[c]
            for a in range(3):
                y[a, c] += p[slopes + 3 * n + a] * difference
            for alpha in range(4):
                y[3 + alpha, c] += 0.125 * _pattern(alpha, n) * difference
    _subtract_affine(p, y)
    return y


@formula
def _moves(p, slopes, i, h):
    """Return how a step h of coordinate i changes d and g."""
    y = np.zeros((7, 3))
    n, c = i // 3, i % 3
    for a in range(3):
        y[a, c] = h * p[slopes + 3 * n + a]
    for alpha in range(4):
        y[3 + alpha, c] = 0.125 * _pattern(alpha, n) * h
    _subtract_affine(p, y)
    return y


@inlined
def _subtract_affine(p, y):
    s = len(p) - _CONSTANTS
    for alpha in range(4):
        for a in range(3):
            for c in range(3):
                y[3 + alpha, c] -= 0.125 * p[s + 3 * alpha + a] * y[a, c]


@formula
def _products(factor, y, z, Q):
    """Add factor · d_i(y)·g_α(z) to Q [12]."""
    for alpha in range(4):
        for a in range(3):
            Q[3 * alpha + a] += factor * (
                y[a, 0] * z[3 + alpha, 0] + y[a, 1] * z[3 + alpha, 1] + y[a, 2] * z[3 + alpha, 2]
            )


@formula
def _form(p, A, B):
    """Return A·K B."""
    first = len(p) - _CONSTANTS + 12
    total = 0.0
    for m in range(3):
        j, k, at = (1 if m == 0 else 0), (1 if m == 2 else 2), first + 6 * m
        a, b, c = A[3 * k + j], A[3 * j + k], A[4 * j] + A[4 * k]
        x, y, z = B[3 * k + j], B[3 * j + k], B[4 * j] + B[4 * k]
        total += a * (p[at] * x + p[at + 3] * y + p[at + 4] * z)
        total += b * (p[at + 3] * x + p[at + 1] * y + p[at + 5] * z)
        total += c * (p[at + 4] * x + p[at + 5] * y + p[at + 2] * z)
        total += p[first + 18 + m] * A[9 + m] * B[9 + m]
    return total


@formula
def hourglass_value(p, slopes, x):
    """Return φ at x [24]; the slopes begin at a place of the row p."""
    y, Q = _vectors(p, slopes, x), np.zeros(12)
    _products(1.0, y, y, Q)
    return 0.5 * _form(p, Q, Q)


@formula
def hourglass_difference(p, slopes, x, i, h):
    """Return φ(x + h e_i) − φ(x)."""
    u = _moves(p, slopes, i, h)
    y = _vectors(p, slopes, x) + 0.5 * u
    Q, A = np.zeros(12), np.zeros(12)
    _products(1.0, y, y, Q)
    _products(0.25, u, u, Q)
    _products(1.0, y, u, A)
    _products(1.0, u, y, A)
    return _form(p, Q, A)


@formula
def hourglass_mixed(p, slopes, x, i, j, hi, hj):
    """Return φ(x + hi e_i + hj e_j) − φ(x + hi e_i) − φ(x + hj e_j) + φ(x)."""
    y, u, v = _vectors(p, slopes, x), _moves(p, slopes, i, hi), _moves(p, slopes, j, hj)
    Q, A, B, X = np.zeros(12), np.zeros(12), np.zeros(12), np.zeros(12)
    _products(1.0, y, y, Q)
    _products(1.0, y + u, u, A)  # and d(u)·g(y)
    _products(1.0, u, y, A)
    _products(1.0, y + v, v, B)
    _products(1.0, v, y, B)
    _products(1.0, u, v, X)
    _products(1.0, v, u, X)
    for r in range(12):
        Q[r] += A[r] + B[r] + 0.5 * X[r]
    return _form(p, X, Q) + _form(p, A, B)
