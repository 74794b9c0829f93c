"""Secant matrices of elements with any law, and the product of sparse values per pair of nodes with nodal vectors."""

from __future__ import annotations

import numpy as np
from numba import njit

_kernel = njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})


@_kernel
def stress_rates(T, F, v, G):
    """Return Ṡ = ℂ : FᵀḞ [e, g, 3, 3], with Ḟ = Σ_a v_a ⊗ ∇N_a.

    Parameters
    ----------
    T : float64 [e, g, 3, 3, 3, 3]
        Elasticities ℂ, symmetric in the last two indices.
    F : float64 [e, g, 3, 3]
    v : float64 [e, k, 3]
        Velocities of the nodes.
    G : float64 [e, g, 3, k]
        The gradients ∇N_a.
    """
    S = np.empty_like(F)
    rate, half = np.empty((3, 3)), np.empty((3, 3))  # Ḟ, and FᵀḞ, whose symmetric part is Ċ/2
    for e in range(len(F)):
        for g in range(F.shape[1]):
            rate[:] = 0.0
            for a in range(v.shape[1]):
                for i in range(3):
                    for K in range(3):
                        rate[i, K] += v[e, a, i] * G[e, g, K, a]
            f, t = F[e, g], T[e, g]
            for I in range(3):  # noqa: E741
                for J in range(3):
                    half[I, J] = f[0, I] * rate[0, J] + f[1, I] * rate[1, J] + f[2, I] * rate[2, J]
            for K in range(3):
                for L in range(3):
                    total = 0.0
                    for I in range(3):  # noqa: E741
                        for J in range(3):
                            total += t[K, L, I, J] * half[I, J]
                    S[e, g, K, L] = total
    return S


@_kernel
def integrated(S, w, G):
    """Return Σ_g w ∇N_a·S ∇N_b [e, k, k] for symmetric S [e, g, 3, 3], weights w [e, g] and ∇N [e, g, 3, k]."""
    k = G.shape[3]
    out = np.zeros((len(w), k, k))
    stressed = np.empty((3, k))  # w S ∇N_b
    for e in range(len(w)):
        for g in range(w.shape[1]):
            s, N = S[e, g], G[e, g]
            for K in range(3):
                x, y, z = w[e, g] * s[K, 0], w[e, g] * s[K, 1], w[e, g] * s[K, 2]
                for b in range(k):
                    stressed[K, b] = x * N[0, b] + y * N[1, b] + z * N[2, b]
            for a in range(k):
                x, y, z = N[0, a], N[1, a], N[2, a]
                for b in range(k):
                    out[e, a, b] += x * stressed[0, b] + y * stressed[1, b] + z * stressed[2, b]
    return out
