"""Differences of the energy of one neo-Hookean tetrahedron between lattice points, as C functions.

With the edges e = (x_1 − x_0, x_2 − x_0, x_3 − x_0) by components, e_c the three numbers of component c,

    J = det(e_0, e_1, e_2)/D,    V μ/2 tr FᵀF = ½ Σ_c Σ_ab K_ab x_(a,c) x_(b,c),    K_ab = μ V ∇N_a · ∇N_b,

D = 6 V and V the undeformed volume. One coordinate x_(a,c) enters only e_c: J is affine in it, with slope
n_a · cof_c / D, where cof_c = e_(c+1) × e_(c+2) and n_a = ∂e_c/∂x_(a,c) is a unit vector, or (−1, −1, −1) for a = 0.
The differences are written with these increments, not as differences of energies.

Rows of parameters: [λ V, μ V, 1/D, K_01, K_02, K_03, K_11, …, K_33] (K_a0 follows, as rows of K sum to zero).
"""

# numba declares the address of a compiled function as int | None, and does not re-export carray.
# pyright: reportArgumentType=false, reportPrivateImportUsage=false

import math

import numpy as np
from numba import carray, cfunc, njit, types

from symplex.fem.energy import Array, LatticeFunctions

_POINTER = types.CPointer(types.float64)
_COLUMNS = 15
_OPTIONS = {"cache": True, "error_model": "numpy", "fastmath": {"contract"}}


@njit(error_model="numpy", fastmath={"contract"})
def _edges(x, c):
    """Component c of the three edges from node 0."""
    return x[3 + c] - x[c], x[6 + c] - x[c], x[9 + c] - x[c]


@njit(error_model="numpy", fastmath={"contract"})
def _cross(u, v):
    return u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]


@njit(error_model="numpy", fastmath={"contract"})
def _dot(u, v):
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


@njit(error_model="numpy", fastmath={"contract"})
def _direction(a):
    """n_a: how the edges change with node a."""
    if a == 0:
        return -1.0, -1.0, -1.0
    return 1.0 * (a == 1), 1.0 * (a == 2), 1.0 * (a == 3)


@njit(error_model="numpy", fastmath={"contract"})
def _stiffness(p, a):
    """Row a of K without its first column: with the edges, Σ_b K_ab x_b = Σ_(b>0) K_ab (x_b − x_0)."""
    return p[3 + 3 * a], p[4 + 3 * a], p[5 + 3 * a]


@cfunc(types.float64(_POINTER, _POINTER), **_OPTIONS)
def _value(p_, x_):
    p, x = carray(p_, (_COLUMNS,)), carray(x_, (12,))
    e0, e1, e2 = _edges(x, 0), _edges(x, 1), _edges(x, 2)
    J = _dot(e0, _cross(e1, e2)) * p[2]
    if not J > 0.0:
        return math.inf
    quadratic = -3.0 * p[1]
    for e in (e0, e1, e2):
        for b in range(3):
            quadratic += e[b] * _dot(_stiffness(p, b + 1), e)
    log_J = math.log(J)
    # φ = V [λ/2 ln²J − μ ln J + μ/2 (tr FᵀF − 3)]
    return (0.5 * p[0] * log_J - p[1]) * log_J + 0.5 * quadratic


@cfunc(types.float64(_POINTER, _POINTER, types.int64, types.float64), **_OPTIONS)
def _difference(p_, x_, i, h):
    p, x = carray(p_, (_COLUMNS,)), carray(x_, (12,))
    a, c = i // 3, i % 3
    e, cof = _edges(x, c), _cross(_edges(x, (c + 1) % 3), _edges(x, (c + 2) % 3))
    n, K = _direction(a), _stiffness(p, a)
    J0 = _dot(e, cof) * p[2]
    J1 = J0 + h * p[2] * _dot(n, cof)
    if not (J0 > 0.0 and J1 > 0.0):
        return math.inf
    L0, L1 = math.log(J0), math.log(J1)
    # λ/2 Δ(ln²J) − μ Δ(ln J) = Δ(ln J) [λ (L0 + L1)/2 − μ]; the quadratic part changes by h K_a·x + h²/2 K_aa
    return (L1 - L0) * (0.5 * p[0] * (L0 + L1) - p[1]) + h * (_dot(K, e) + 0.5 * h * _dot(K, n))


@cfunc(types.float64(_POINTER, _POINTER, types.int64, types.int64, types.float64, types.float64), **_OPTIONS)
def _mixed(p_, x_, i, j, hi, hj):
    p, x = carray(p_, (_COLUMNS,)), carray(x_, (12,))
    c, d = i % 3, j % 3
    n_a, n_b = _direction(i // 3), _direction(j // 3)
    e, e_1, e_2 = _edges(x, c), _edges(x, (c + 1) % 3), _edges(x, (c + 2) % 3)
    cof = _cross(e_1, e_2)
    J = _dot(e, cof) * p[2]
    # The increments of J: Ji, Jj for one coordinate each, and Jij = J(11) − J(10) − J(01) + J(00).
    Ji = hi * p[2] * _dot(n_a, cof)
    scale = hj * p[2]
    quadratic = 0.0
    if c == d:
        Jj = scale * _dot(n_b, cof)
        Jij = 0.0
        quadratic = hi * hj * _dot(_stiffness(p, i // 3), n_b)
    elif d == (c + 1) % 3:
        Jj = scale * _dot(n_b, _cross(e_2, e))
        Jij = hi * scale * _dot(n_a, _cross(n_b, e_2))
    else:
        Jj = scale * _dot(n_b, _cross(e, e_1))
        Jij = hi * scale * _dot(n_a, _cross(e_1, n_b))
    J10, J01 = J + Ji, J + Jj
    if not (J > 0.0 and J10 > 0.0 and J01 > 0.0 and J10 + Jj + Jij > 0.0):
        return math.inf
    L0 = math.log(J)
    A, B = math.log(J10) - L0, math.log(J01) - L0
    # ln J(11) − ln J(10) − ln J(01) + ln J(00), without cancellation
    M = math.log1p((Jij * J - Ji * Jj) / (J10 * J01))
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
    K = np.einsum("eai,ebi,e->eab", shape_gradients, shape_gradients[:, 1:], mu * volumes)
    parameters[:, 3:] = K.reshape(len(volumes), 12)
    return LatticeFunctions(parameters, _value.address, _difference.address, _mixed.address, size=12)
