"""Differences of the energy of one neo-Hookean tetrahedron between lattice points, as C functions.

Seen from any node a the four nodes of a tetrahedron are a, a^1, a^2, a^3 (exclusive or), an even permutation of
0, 1, 2, 3. With the edges from there, e = (x_(a^1) − x_a, x_(a^2) − x_a, x_(a^3) − x_a) by components, e_c the three
numbers of component c,

    J = det(e_0, e_1, e_2)/D,    V μ/2 tr FᵀF = −½ Σ_(a<b) K_ab |x_b − x_a|²,    K_ab = μ V ∇N_a · ∇N_b,

D = 6 V and V the undeformed volume. One coordinate x_(b,c) enters only e_c: J is affine in it, with slope
n_b · cof_c / D, where cof_c = e_(c+1) × e_(c+2) and n_b = ∂e_c/∂x_(b,c) is a unit vector, or (−1, −1, −1) for b = a.
The differences are written with these increments, not as differences of energies.

Rows of parameters: [λ V, μ V, 1/D, K_01, K_23, K_02, K_13, K_03, K_12].
"""

# numba declares the address of a compiled function as int | None, and does not re-export carray. Intrinsics are
# declared with the typing context, which compiled code does not pass.
# pyright: reportArgumentType=false, reportPrivateImportUsage=false, reportCallIssue=false

import math

import numpy as np
from numba import carray

from symplex.fem.compiled.kernels import c_function, formula
from symplex.fem.compiled.logarithm import LN2, double_artanh_lanes, split_exponent
from symplex.fem.energies.energy import Array, LatticeFunctions

_COLUMNS = 9
_PAIRS = ((0, 1), (2, 3), (0, 2), (1, 3), (0, 3), (1, 2))
# Indices are unsigned: of signed ones each is compared with 0, as they may count from the end.
_ZERO, _ONE, _TWO, _THREE, _FIVE, _SEVEN = (np.uint64(k) for k in (0, 1, 2, 3, 5, 7))
_NORMALS = np.vstack([-np.ones(3), np.eye(3)]).ravel()  # n_b for b = a, a^1, a^2, a^3


@formula
def _split(i):
    """Return node and component of a coordinate."""
    i = np.uint64(i)
    return i // _THREE, i % _THREE


@formula
def _next(c):
    """Return (c + 1) % 3."""
    return c + _ONE if c < _TWO else _ZERO


@formula
def _edges(x, a, c):
    """Component c of the three edges from node a."""
    x_a = x[_THREE * a + c]
    return x[_THREE * (a ^ _ONE) + c] - x_a, x[_THREE * (a ^ _TWO) + c] - x_a, x[_THREE * (a ^ _THREE) + c] - x_a


@formula
def _cross(u, v):
    return u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]


@formula
def _dot(u, v):
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


@formula
def _normal(k):
    """n_b for b = a^k: how the edges change with node b. By a table: which of four it is cannot be foreseen."""
    return _NORMALS[_THREE * k], _NORMALS[_THREE * k + _ONE], _NORMALS[_THREE * k + _TWO]


@formula
def _stiffness(p, a):
    """K_ab for b = a^1, a^2, a^3."""
    return p[_THREE + (a >> _ONE)], p[_FIVE + (a & _ONE)], p[_SEVEN + ((a ^ (a >> _ONE)) & _ONE)]


@c_function("value")
def _value(p_, x_):
    p, x = carray(p_, (_COLUMNS,)), carray(x_, (12,))
    J = _dot(_edges(x, _ZERO, _ZERO), _cross(_edges(x, _ZERO, _ONE), _edges(x, _ZERO, _TWO))) * p[2]
    if not J > 0.0:
        return math.inf
    quadratic = -3.0 * p[1]
    for node in range(4):
        for component in range(3):
            a, c = np.uint64(node), np.uint64(component)
            K, e = _stiffness(p, a), _edges(x, a, c)
            quadratic -= 0.5 * (K[0] * e[0] * e[0] + K[1] * e[1] * e[1] + K[2] * e[2] * e[2])
    log_J = math.log(J)
    # φ = V [λ/2 ln²J − μ ln J + μ/2 (tr FᵀF − 3)]
    return (0.5 * p[0] * log_J - p[1]) * log_J + 0.5 * quadratic


@c_function("difference")
def _difference(p_, x_, i, h):
    p, x = carray(p_, (_COLUMNS,)), carray(x_, (12,))
    a, c = _split(i)
    e, cof = _edges(x, a, c), _cross(_edges(x, a, _next(c)), _edges(x, a, _next(_next(c))))
    K = _stiffness(p, a)
    J0 = _dot(e, cof) * p[2]
    rise = h * p[2] * _dot(_normal(_ZERO), cof)
    J1 = J0 + rise
    if not (J0 > 0.0 and J1 > 0.0):
        return math.inf
    k, m = split_exponent(J0)
    (L0, A, _, _), near = double_artanh_lanes((m - 1.0, rise, 0.0, 0.0), (m + 1.0, J1 + J0, 1.0, 1.0))
    L0 += k * LN2
    if not near:
        A = math.log1p(rise / J0)
    # λ/2 Δ(ln²J) − μ Δ(ln J) = Δ(ln J) [λ (L0 + L1)/2 − μ]; the quadratic part changes by h Σ_b K_ab x_b + h²/2 K_aa
    return A * (p[0] * (L0 + 0.5 * A) - p[1]) + h * (_dot(K, e) + 0.5 * h * _dot(_normal(_ZERO), K))


@c_function("mixed")
def _mixed(p_, x_, i, j, hi, hj):
    p, x = carray(p_, (_COLUMNS,)), carray(x_, (12,))
    (a, c), (b, d) = _split(i), _split(j)
    from_i, n = _normal(_ZERO), _normal(a ^ b)
    e, e_1, e_2 = _edges(x, a, c), _edges(x, a, _next(c)), _edges(x, a, _next(_next(c)))
    cof = _cross(e_1, e_2)
    J = _dot(e, cof) * p[2]
    # The increments of J: Ji, Jj for one coordinate each, and Jij = J(11) − J(10) − J(01) + J(00).
    Ji = hi * p[2] * _dot(from_i, cof)
    scale = hj * p[2]
    quadratic = 0.0
    if c == d:
        Jj = scale * _dot(n, cof)
        Jij = 0.0
        quadratic = hi * hj * _dot(n, _stiffness(p, a))
    elif d == _next(c):
        Jj = scale * _dot(n, _cross(e_2, e))
        Jij = hi * scale * _dot(from_i, _cross(n, e_2))
    else:
        Jj = scale * _dot(n, _cross(e, e_1))
        Jij = hi * scale * _dot(from_i, _cross(e_1, n))
    J10, J01 = J + Ji, J + Jj
    if not (J > 0.0 and J10 > 0.0 and J01 > 0.0 and J10 + Jj + Jij > 0.0):
        return math.inf
    # L0 = ln J(00), A = ln J(10) − L0, B = ln J(01) − L0, M = ln J(11) − ln J(10) − ln J(01) + L0, without cancellation
    k, m = split_exponent(J)
    mixed, scale = Jij * J - Ji * Jj, J10 * J01
    (L0, A, B, M), near = double_artanh_lanes(
        (m - 1.0, Ji, Jj, mixed), (m + 1.0, J + J10, J + J01, 2.0 * scale + mixed)
    )
    L0 += k * LN2
    if not near:
        A, B, M = math.log1p(Ji / J), math.log1p(Jj / J), math.log1p(mixed / scale)
    # mixed difference of ln²J/2: AB + M (ln J(11) − M/2), with ln J(11) = L0 + A + B + M
    return p[0] * (A * B + M * (L0 + A + B + 0.5 * M)) - p[1] * M + quadratic


def neo_hookean_lattice(lmbda: float, mu: float, volumes: Array, shape_gradients: Array) -> LatticeFunctions:
    """Return the lattice functions of linear neo-Hookean tetrahedra.

    Parameters
    ----------
    lmbda, mu : float
        Lamé constants in Pa.
    volumes : float64 [m]
        Undeformed volumes in m³.
    shape_gradients : float64 [m, 4, 3]
        ∇N of the four nodes in 1/m.
    """
    parameters = np.empty((len(volumes), _COLUMNS))
    parameters[:, 0] = lmbda * volumes
    parameters[:, 1] = mu * volumes
    parameters[:, 2] = 1.0 / (6.0 * volumes)
    for column, (a, b) in enumerate(_PAIRS, start=3):
        parameters[:, column] = mu * volumes * np.einsum("ei,ei->e", shape_gradients[:, a], shape_gradients[:, b])
    return LatticeFunctions(parameters, _value.address, _difference.address, _mixed.address, size=12)
