"""J2 flow at finite strains, at one point: logarithmic strains, the radial return and its consistent tangent.

Internal variables are the inverse of the plastic metric, Cp⁻¹ (symmetric, det 1), and the equivalent plastic strain α.
With any factor L Lᵀ = Cp⁻¹, the eigenpairs (λ_i, n_i) of Lᵀ C L, ε_i = ½ ln λ_i, θ = Σ ε_i, b_i = L n_i/√λ_i:

    s_i = 2μ (ε_i − θ/3),    |s| − 2μ Δγ = √(2/3) σy(α + √(2/3) Δγ)  where |s| > √(2/3) σy(α),    q = 1 − 2μ Δγ/|s|,
    S = Σ (q s_i + K θ) b_i ⊗ b_i,    Cp⁻¹ ← Σ λ_i exp(−2Δγ s_i/|s|) b_i ⊗ b_i,    α ← α + √(2/3) Δγ.

S is 2 ∂/∂C of the incremental potential W + Wp, W = K/2 θ² + |q s|²/4μ and Wp = ∫ σy dα. Its derivative, symmetric, is

    ℂ = Σ_ij (D_ij − 2 σ_i δ_ij) b_i b_i b_j b_j + Σ_(i<j) [q μ d coth d − (σ_i + σ_j)/2] B_ij ⊗ B_ij,
    D_ij = K + 2 q μ (δ_ij − 1/3) + 2 (μ_t − q μ) s_i s_j/|s|²,    μ_t = μ H/(3μ + H),

with σ_i = q s_i + K θ, d = ε_i − ε_j, B_ij = b_i b_j + b_j b_i and the slope H of σy at the end.

Sources: Simo (1992) for the multiplicative law in logarithmic strains; Ortiz and Stainier (1999) for the potential.
"""

from __future__ import annotations

import numpy as np

from symplex.fem.compiled.kernels import formula, inlined
from symplex.fem.compiled.vectors import Mat3, Vec3, dot, expanded, gram, square, transposed

_SWEEPS = 16  # of Jacobi's method, which converges quadratically: five are the rule
_ITERATIONS = 100  # of the scalar equation of the return, bracketed


# -- hardening: constants σ0, H, σ∞ − σ0, δ, or points [2, p] of a table ---------------------------------------------


@formula
def yield_stress(alpha, constants, points):
    """Return σy in Pa and its slope at the equivalent plastic strain α."""
    n = points.shape[1]
    if n > 0:
        k = 0
        while k + 1 < n and alpha >= points[0, k + 1]:
            k += 1
        if k + 1 == n:
            return points[1, k], 0.0
        slope = (points[1, k + 1] - points[1, k]) / (points[0, k + 1] - points[0, k])
        return points[1, k] + slope * (alpha - points[0, k]), slope
    fading = np.exp(-constants[3] * alpha)
    sigma = constants[0] + constants[1] * alpha + constants[2] * (1.0 - fading)
    return sigma, constants[1] + constants[2] * constants[3] * fading


@formula
def plastic_work(alpha, constants, points):
    """Return ∫ σy dα in J/m³ from 0 to α."""
    return work_between(0.0, alpha, constants, points)


@formula
def work_between(alpha, x, constants, points):
    """Return ∫ σy dα in J/m³ from α to α + x, without the cancellation of a difference."""
    n = points.shape[1]
    if n == 0:
        mean = constants[0] + constants[1] * (alpha + 0.5 * x)
        voce = 0.0
        if constants[3] > 0.0:  # ∫ 1 − exp(−δ α) dα = x + exp(−δ α) (exp(−δ x) − 1)/δ
            voce = constants[2] * (x + np.exp(-constants[3] * alpha) * np.expm1(-constants[3] * x) / constants[3])
        return mean * x + voce
    total, end = 0.0, alpha + x
    for k in range(n):
        first = max(points[0, k], alpha)
        last = end if k + 1 == n else min(points[0, k + 1], end)
        if last > first:
            middle = 0.5 * (first + last)
            slope = 0.0
            if k + 1 < n:
                slope = (points[1, k + 1] - points[1, k]) / (points[0, k + 1] - points[0, k])
            total += (points[1, k] + slope * (middle - points[0, k])) * (last - first)
    return total


@formula
def flow(equivalent, alpha, mu, constants, points):
    """Return x = Δα of the radial return, and the slope of σy at its end; 0 where the trial stress does not yield.

    It solves f(x) = √(3/2) |s| − 3μ x − σy(α + x) = 0 by Newton's method between bounds, f being decreasing.
    """
    sigma, slope = yield_stress(alpha, constants, points)
    excess = equivalent - sigma
    if not excess > 0.0:
        return 0.0, 0.0
    low, high = 0.0, excess / (3.0 * mu)  # σy does not decrease
    x = excess / (3.0 * mu + slope)
    for _ in range(_ITERATIONS):
        sigma, slope = yield_stress(alpha + x, constants, points)
        f = equivalent - 3.0 * mu * x - sigma
        if f > 0.0:
            low = max(low, x)
        else:
            high = min(high, x)
        new = x + f / (3.0 * mu + slope)
        if not low <= new <= high:
            new = 0.5 * (low + high)
        if abs(new - x) <= 1e-16 * x:
            x = new
            break
        x = new
    return x, yield_stress(alpha + x, constants, points)[1]


# -- tensors ----------------------------------------------------------------------------------------------------------


@inlined
def _rotation(first, second, off):
    """Return t, c and s of the rotation that makes an off-diagonal number zero (Jacobi)."""
    if off == 0.0:
        return 0.0, 1.0, 0.0
    ratio = 0.5 * (second - first) / off
    t = 1.0 / (abs(ratio) + np.sqrt(ratio * ratio + 1.0))
    if ratio < 0.0:
        t = -t
    c = 1.0 / np.sqrt(t * t + 1.0)
    return t, c, t * c


@formula
def eigenpairs(A):
    """Return the eigenvalues of a symmetric matrix, and its eigenvectors in the rows of a matrix (Jacobi)."""
    a0, a1, a2, a01, a02, a12 = A[0], A[1], A[2], A[3], A[4], A[5]
    n0, n1, n2 = Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0)
    small = 1e-19 * (abs(a0) + abs(a1) + abs(a2))
    for _ in range(_SWEEPS):
        if not abs(a01) + abs(a02) + abs(a12) > small:
            break
        t, c, s = _rotation(a0, a1, a01)
        a0, a1, a01, a02, a12 = a0 - t * a01, a1 + t * a01, 0.0, c * a02 - s * a12, s * a02 + c * a12
        n0, n1 = c * n0 - s * n1, s * n0 + c * n1
        t, c, s = _rotation(a0, a2, a02)
        a0, a2, a02, a01, a12 = a0 - t * a02, a2 + t * a02, 0.0, c * a01 - s * a12, s * a01 + c * a12
        n0, n2 = c * n0 - s * n2, s * n0 + c * n2
        t, c, s = _rotation(a1, a2, a12)
        a1, a2, a12, a01, a02 = a1 - t * a12, a2 + t * a12, 0.0, c * a01 - s * a02, s * a01 + c * a02
        n1, n2 = c * n1 - s * n2, s * n1 + c * n2
    return Vec3(a0, a1, a2), Mat3(n0, n1, n2)


@inlined
def factor(P):
    """Return the lower triangular L with L Lᵀ = P (Cholesky)."""
    l00 = np.sqrt(P[0])
    l10, l20 = P[3] / l00, P[4] / l00
    l11 = np.sqrt(P[1] - l10 * l10)
    l21 = (P[5] - l20 * l10) / l11
    l22 = np.sqrt(P[2] - l20 * l20 - l21 * l21)
    return Mat3(l00, 0.0, 0.0, l10, l11, 0.0, l20, l21, l22)


@formula
def trial(F, P):
    """Return λ_i, ε_i, and b_i in the rows of a matrix, of a deformation gradient F and P = Cp⁻¹."""
    L = factor(P)
    stretches, n = eigenpairs(gram(transposed(F @ L)))
    strains = Vec3(0.5 * np.log(stretches[0]), 0.5 * np.log(stretches[1]), 0.5 * np.log(stretches[2]))
    b = n @ transposed(L)  # rows L n_i
    b = Mat3(
        (1.0 / np.sqrt(stretches[0])) * b[0],
        (1.0 / np.sqrt(stretches[1])) * b[1],
        (1.0 / np.sqrt(stretches[2])) * b[2],
    )
    return stretches, strains, b


@expanded
def weighted(w, b):
    """Return Σ w_i b_i ⊗ b_i."""
    return w[0] * square(b[0]) + w[1] * square(b[1]) + w[2] * square(b[2])


@expanded
def deviator(v):
    mean = (v[0] + v[1] + v[2]) / 3.0
    return Vec3(v[0] - mean, v[1] - mean, v[2] - mean)


@inlined
def d_coth(d):
    """Return d coth d."""
    if abs(d) < 1e-2:
        z = d * d
        return 1.0 + z * (1.0 / 3.0 - z * (1.0 / 45.0 - z * 2.0 / 945.0))
    return d / np.tanh(d)


@inlined
def add_rank_one(factor_, u, v, D):
    """Add factor u ⊗ v to D [6, 6], the rows in the order of a symmetric matrix."""
    for i in range(6):
        for j in range(6):
            D[i, j] += factor_ * u[i] * v[j]


@formula
def add_elasticity(strains, b, K, mu, q, mu_t, s, size, stresses, D):
    """Add ℂ to D [6, 6], which takes shear strains twice; see the formula above."""
    for i in range(3):
        u = square(b[i])
        for j in range(3):
            value = K - 2.0 * q * mu / 3.0
            if size > 0.0:
                value += 2.0 * (mu_t - q * mu) * s[i] * s[j] / (size * size)
            if i == j:
                value += 2.0 * q * mu - 2.0 * stresses[i]
            add_rank_one(value, u, square(b[j]), D)
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        u = _doubled(b[i], b[j])
        value = q * mu * d_coth(strains[i] - strains[j]) - 0.5 * (stresses[i] + stresses[j])
        add_rank_one(value, u, u, D)


@expanded
def _doubled(u, v):
    """Return u ⊗ v + v ⊗ u."""
    return square(u + v) - square(u) - square(v)


@inlined
def length(v):
    return np.sqrt(dot(v, v))
