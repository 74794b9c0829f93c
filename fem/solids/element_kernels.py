"""Compiled loops over the points of quadrature of elements, for `symplex.fem.solids.element_loops`."""

from __future__ import annotations

import numpy as np

from symplex.fem.compiled.kernels import kernel


@kernel
def deformations(x, G, objective, F, C):
    """Set F and C [e, g, 3, 3] for nodes at x [e, k, 3] and ∇N [e, g, 3, k]; return whether all det F are positive.

    If not objective, F = 1 and C = 1 + 2 sym(F − 1).
    """
    valid = True
    for e in range(len(x)):
        for g in range(G.shape[1]):
            f = F[e, g]
            f[:] = 0.0
            for a in range(x.shape[1]):
                for i in range(3):
                    for K in range(3):
                        f[i, K] += x[e, a, i] * G[e, g, K, a]
            c = C[e, g]
            if objective:
                for K in range(3):
                    for L in range(3):
                        c[K, L] = f[0, K] * f[0, L] + f[1, K] * f[1, L] + f[2, K] * f[2, L]
            else:
                for K in range(3):
                    for L in range(3):
                        c[K, L] = f[K, L] + f[L, K] - (K == L)
                for K in range(3):
                    for L in range(3):
                        f[K, L] = K == L
            det = (
                f[0, 0] * (f[1, 1] * f[2, 2] - f[1, 2] * f[2, 1])
                + f[0, 1] * (f[1, 2] * f[2, 0] - f[1, 0] * f[2, 2])
                + f[0, 2] * (f[1, 0] * f[2, 1] - f[1, 1] * f[2, 0])
            )
            valid = valid and det > 0.0
    return valid


@kernel
def integrate_forces(F, S, w, G, out):
    """Set out [e, k, 3] to Σ_g w F S ∇N_a."""
    n_nodes = G.shape[3]
    P = np.empty((3, 3))
    for e in range(len(w)):
        out[e] = 0.0
        for g in range(w.shape[1]):
            f, s = F[e, g], S[e, g]
            for i in range(3):
                for K in range(3):
                    P[i, K] = w[e, g] * (f[i, 0] * s[0, K] + f[i, 1] * s[1, K] + f[i, 2] * s[2, K])
            for a in range(n_nodes):
                for i in range(3):
                    out[e, a, i] += P[i, 0] * G[e, g, 0, a] + P[i, 1] * G[e, g, 1, a] + P[i, 2] * G[e, g, 2, a]


def integrate_stiffness(left, right, S, T, w, G, geometric, out):
    """Set out [e, 3k, 3k] to Σ_g w (left_iI ℂ_IKJL right_jJ + geometric δ_ij S_KL) ∂_K N_a ∂_L N_b."""
    _integrate_stiffness(_plain(left), _plain(right), _plain(S), _plain(T), w, G, geometric, out)


def _plain(array):
    """Return an array as the one kind that kernels here are compiled for: contiguous, and not read-only."""
    return np.require(array, requirements=("C", "W"))


@kernel
def _integrate_stiffness(left, right, S, T, w, G, geometric, out):
    # Work arrays are laid out so that inner loops run over many consecutive numbers.
    n_nodes = G.shape[3]
    n = 9 * n_nodes
    half, A = np.empty((3, 3, 3, 3)), np.empty((3, 3, 3, 3))  # half_iKJL, A_KijL
    B = np.empty((3, n))  # A_KijL ∂_L N_b, [K, ijb]
    sums = np.empty((n_nodes, n))  # [a, ijb]
    for e in range(len(w)):
        sums[:] = 0.0
        for g in range(w.shape[1]):
            f, r, s, c, N = left[e, g], right[e, g], S[e, g], T[e, g], G[e, g]
            for i in range(3):
                u, v, z = w[e, g] * f[i, 0], w[e, g] * f[i, 1], w[e, g] * f[i, 2]
                for K in range(3):
                    for J in range(3):
                        for L in range(3):
                            half[i, K, J, L] = u * c[0, K, J, L] + v * c[1, K, J, L] + z * c[2, K, J, L]
            for K in range(3):
                for i in range(3):
                    for j in range(3):
                        for L in range(3):
                            h = r[j, 0] * half[i, K, 0, L] + r[j, 1] * half[i, K, 1, L] + r[j, 2] * half[i, K, 2, L]
                            A[K, i, j, L] = h + (geometric * w[e, g] * s[K, L] if i == j else 0.0)
            for K in range(3):
                for i in range(3):
                    for j in range(3):
                        first = (3 * i + j) * n_nodes
                        x, y, z = A[K, i, j]
                        for b in range(n_nodes):
                            B[K, first + b] = x * N[0, b] + y * N[1, b] + z * N[2, b]
            for a in range(n_nodes):
                x, y, z = N[0, a], N[1, a], N[2, a]
                for t in range(n):
                    sums[a, t] += x * B[0, t] + y * B[1, t] + z * B[2, t]
        for a in range(n_nodes):
            for i in range(3):
                for j in range(3):
                    for b in range(n_nodes):
                        out[e, 3 * a + i, 3 * b + j] = sums[a, (3 * i + j) * n_nodes + b]


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
    return _stress_rates(_plain(T), F, v, G)


@kernel
def _stress_rates(T, F, v, G):
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


@kernel
def integrated_secants(S, w, G):
    """Return Σ_g w ∇N_a·S ∇N_b [e, k, k], exactly symmetric, for S [e, g, 3, 3], weights w [e, g], ∇N [e, g, 3, k]."""
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
                for b in range(a + 1):
                    out[e, a, b] += x * stressed[0, b] + y * stressed[1, b] + z * stressed[2, b]
        for a in range(k):
            for b in range(a):
                out[e, b, a] = out[e, a, b]
    return out
