"""Algebra of many 3 × 3 matrices [p, 3, 3] and fourth-order tensors [p, 3, 3, 3, 3] at once."""

from __future__ import annotations

import numpy as np

from symplex.fem.assembly.pattern import Array
from symplex.fem.compiled.kernels import kernel

ONE = np.eye(3)
ONE_ONE = np.einsum("ij,kl->ijkl", ONE, ONE)  # 1 ⊗ 1
SYMMETRIC = 0.5 * (np.einsum("ik,jl->ijkl", ONE, ONE) + np.einsum("il,jk->ijkl", ONE, ONE))  # 𝕀: A ↦ sym A

_LEVI_CIVITA = np.zeros((3, 3, 3))
for _i in range(3):
    _LEVI_CIVITA[_i, (_i + 1) % 3, (_i + 2) % 3] = 1.0
    _LEVI_CIVITA[_i, (_i + 2) % 3, (_i + 1) % 3] = -1.0
# T_jb ↦ the map H ↦ sym {T, H}, {T, H}_ia = ε_ijk ε_abc T_jb H_kc, as [9, 81]: each of its 81 numbers is the sum of at
# most two numbers of T, by their places and with these factors.
_MIXED = np.einsum("ijk,abc->jbiakc", _LEVI_CIVITA, _LEVI_CIVITA)
_MIXED = (0.5 * (_MIXED + _MIXED.swapaxes(4, 5))).reshape(9, 81)
_PLACES = np.ascontiguousarray(np.argsort(-np.abs(_MIXED), axis=0, kind="stable")[:2])
_FACTORS = np.take_along_axis(_MIXED, _PLACES, axis=0)


def trace(A: Array) -> Array:
    """Return tr A [p]."""
    return A[:, 0, 0] + A[:, 1, 1] + A[:, 2, 2]


def scaled(a: Array, B: Array) -> Array:
    """Return a B for numbers a [p] and tensors B of even order, each its own [p, 3, …] or one for all [3, …]."""
    return a.reshape(-1, *(1,) * (B.ndim - B.ndim % 2)) * B


@kernel
def cofactors(A):
    """Return the matrices of cofactors, det A · A⁻ᵀ [p, 3, 3]."""
    out = np.empty_like(A)
    for p in range(len(A)):
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            out[p, i, 0] = A[p, j, 1] * A[p, k, 2] - A[p, j, 2] * A[p, k, 1]
            out[p, i, 1] = A[p, j, 2] * A[p, k, 0] - A[p, j, 0] * A[p, k, 2]
            out[p, i, 2] = A[p, j, 0] * A[p, k, 1] - A[p, j, 1] * A[p, k, 0]
    return out


def determinants(A: Array) -> Array:
    """Return det A [...] of matrices [..., 3, 3]."""
    (a, b, c), (d, e, f), (g, h, i) = ([A[..., row, column] for column in range(3)] for row in range(3))
    return a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g)


@kernel
def cofactor_tangent(A, B, T):
    """Return A ⊗ B + sym {T, ·} [p, 3, 3, 3, 3] for symmetric matrices A, B and T [p, 3, 3].

    {T, H} = cof(T + H) − cof T − cof H is the slope of the cofactors at T.
    """
    out = np.empty((len(A), 3, 3, 3, 3))
    for p in range(len(A)):
        a, b, t, to = A[p].ravel(), B[p].ravel(), T[p].ravel(), out[p].ravel()
        for n in range(81):
            to[n] = a[n // 9] * b[n % 9] + _FACTORS[0, n] * t[_PLACES[0, n]] + _FACTORS[1, n] * t[_PLACES[1, n]]
    return out


@kernel
def products(a, A, b):
    """Return a A ⊗ A + b A ⊙ A for numbers a, b [p] and symmetric A [p, 3, 3].

    (A ⊙ A)_ijkl = ½ (A_ik A_jl + A_il A_jk), which is −∂A/∂(A⁻¹).
    """
    out = np.empty((len(A), 3, 3, 3, 3))
    for p in range(len(A)):
        M, c, d = A[p], a[p], 0.5 * b[p]
        for i in range(3):
            for j in range(3):
                volume = c * M[i, j]
                for k in range(3):
                    x, y = d * M[i, k], d * M[j, k]
                    for m in range(3):
                        out[p, i, j, k, m] = volume * M[k, m] + x * M[j, m] + y * M[i, m]
    return out
