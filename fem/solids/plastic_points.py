"""J2 flow at finite strains, at one point: logarithmic strains, the radial return and its consistent tangent.

Internal variables are the inverse of the plastic metric, Cp⁻¹ (symmetric, det 1), and the equivalent plastic strain α.
With any factor L Lᵀ = Cp⁻¹, the eigenpairs (λ_i, n_i) of Lᵀ C L, ε_i = ½ ln λ_i, θ = Σ ε_i, b_i = L n_i/√λ_i:

    s_i = 2μ (ε_i − θ/3),    |s| − 2μ Δγ = √(2/3) σy(α + √(2/3) Δγ)  where |s| > √(2/3) σy(α),    q = 1 − 2μ Δγ/|s|,
    S = Σ (q s_i + K θ) b_i ⊗ b_i,    Cp⁻¹ ← Σ λ_i exp(−2Δγ s_i/|s|) b_i ⊗ b_i,    α ← α + √(2/3) Δγ.

S is 2 ∂/∂C of the incremental potential W + Wp, W = K/2 θ² + |q s|²/4μ and Wp = ∫ σy dα. Its derivative, symmetric, is

    ℂ = Σ_ij (D_ij − 2 σ_i δ_ij) b_i b_i b_j b_j + Σ_(i<j) [q μ d coth d − (σ_i + σ_j)/2] B_ij ⊗ B_ij,
    D_ij = K + 2 q μ (δ_ij − 1/3) + 2 (μ_t − q μ) s_i s_j/|s|²,    μ_t = μ H/(3μ + H),

with σ_i = q s_i + K θ, d = ε_i − ε_j, B_ij = b_i b_j + b_j b_i and the slope H of σy at the end.

By the mean normal, of second order in the increment (Rice and Tracey 1973), internal variables flow along n ∥ s⁰ + s,
s⁰ being the stress at the start: |s − 2μ Δγ n| = √(2/3) σy, ε¹ = ε − Δγ n, which is not coaxial to ε. In the axes of L,

    Cp⁻¹ ← L exp(−ε) exp(2ε¹) exp(−ε) Lᵀ.

The flow stress is σ = h(α) r(Δα/Δt) (1 − Θ^m): hardening h, rate r (1 + C ln of Johnson and Cook, or 1 + (·)^m of
Cowper and Symonds), and temperature, which is that of the start of an increment.

With a back stress X = c a (Armstrong and Frederick, Ẋ = c Ṅx − β X ẋ, x = √(3/2) α) the increment is still one of a
potential, for any β. With ρ = exp(−βx), m = (1 − ρ)/β and φ = m/x it is, for a direction N of flow that is constant in
it, a₁ = ρ a + m N, and

    Φ = K/2 θ² + μ |e − x N|² + ½ c |a₁|² + c β ∫₀ˣ |a(x')|² dx' + ∫ σ dα,

the last two being dissipated. It is stationary for N = η/|η|, η = 2μ e − c φ a, and

    |η| + k a : N − 2μ x − c m − √(2/3) σ = 0,    k = c (φ − ρ).

Of its derivative M = 2μ (e − x N) + K θ 1 the stress is S = Σ M_ij d/sinh d b_i ⊗ b_j, d = ε_i − ε_j, and

    ∂M/∂ε = 2μ (1 − 2μ x/|η|) (1 − ⅓ 1 ⊗ 1) + K 1 ⊗ 1 − 4μ² (G ⊗ G/H − x/|η| N ⊗ N),
    G = N + (k/|η|) a_N,    H = 2μ + c ρ (1 − β a : N) + ⅔ σ' − k² |a_N|²/(x |η|),    a_N = a − (a : N) N.

a is stored as A = F_p⁻¹ a F_p⁻ᵀ of the reference configuration.

Sources: Simo (1992) for the multiplicative law in logarithmic strains; Ortiz and Stainier (1999) for the potential;
Rice and Tracey (1973) for the mean normal.
"""

from __future__ import annotations

import numpy as np

from symplex.fem.compiled.kernels import formula, inlined
from symplex.fem.compiled.vectors import (
    Mat3,
    Sym3,
    Vec3,
    added,
    cofactors,
    contracted,
    dot,
    expanded,
    full,
    gram,
    square,
    transposed,
)

# Places in the constants of a hardening, after those of h(α)
(SIGMA, MODULUS, VOCE, DELTA, POWER_MODULUS, POWER, RATE, LOGARITHMIC, EXPONENT, BACK, RECOVERY, HEAT, START) = range(
    13
)
(REFERENCE, MELTING, SOFTENING, MEAN_NORMAL, CONSTANTS) = range(13, 18)

_NEAR = 0.1  # |Z| up to which strains are found without eigenvectors
_SWEEPS = 16  # of Jacobi's method, which converges quadratically: five are the rule
_ITERATIONS = 100  # of the scalar equation of the return, bracketed
_ROUNDING = 4e-16  # of its residual, as part of the stress
_CLOSE = 2e-15  # of the same: of its last step, after which quadratic convergence leaves rounding


# -- hardening: the first constants, or points [2, p] of a table -----------------------------------------------


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
    sigma, slope = constants[SIGMA] + constants[MODULUS] * alpha, constants[MODULUS]
    if constants[VOCE] > 0.0:
        fading = np.exp(-constants[DELTA] * alpha)
        sigma += constants[VOCE] * (1.0 - fading)
        slope += constants[VOCE] * constants[DELTA] * fading
    if constants[POWER_MODULUS] > 0.0:
        power = constants[POWER]
        sigma += constants[POWER_MODULUS] * alpha**power
        slope += power * constants[POWER_MODULUS] * (alpha ** (power - 1.0) if alpha > 0.0 else np.inf)
    return sigma, slope


@formula
def plastic_work(alpha, constants, points):
    """Return ∫ σy dα in J/m³ from 0 to α."""
    return work_between(0.0, alpha, constants, points)


@inlined
def power_integral(alpha, x, n):
    """Return ∫ α^n dα from α to α + x, without cancellation where x is small."""
    if alpha > 0.0 and x < 1e-2 * alpha:
        u, total, term = x / alpha, 0.0, 1.0
        for k in range(1, 12):  # ((1 + u)^(n+1) − 1)/(n + 1)
            term *= (n + 2.0 - k) / k * u
            total += term
        return alpha ** (n + 1.0) * total / (n + 1.0)
    return ((alpha + x) ** (n + 1.0) - alpha ** (n + 1.0)) / (n + 1.0)


@formula
def work_between(alpha, x, constants, points):
    """Return ∫ σy dα in J/m³ from α to α + x, without the cancellation of a difference."""
    n = points.shape[1]
    if n == 0:
        mean = constants[0] + constants[1] * (alpha + 0.5 * x)
        voce = 0.0
        if constants[3] > 0.0:  # ∫ 1 − exp(−δ α) dα = x + exp(−δ α) (exp(−δ x) − 1)/δ
            voce = constants[2] * (x + np.exp(-constants[3] * alpha) * np.expm1(-constants[3] * x) / constants[3])
        if constants[POWER_MODULUS] > 0.0 and x > 0.0:
            voce += constants[POWER_MODULUS] * power_integral(alpha, x, constants[POWER])
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


@inlined
def rate_factor(rate, constants):
    """Return the factor of a rate of plastic strain in 1/s on the flow stress, and its slope."""
    reference = constants[RATE]
    if reference == 0.0 or rate == 0.0:
        return 1.0, 0.0
    if constants[LOGARITHMIC] > 0.0:
        if rate <= reference:
            return 1.0, 0.0
        return 1.0 + constants[LOGARITHMIC] * np.log(rate / reference), constants[LOGARITHMIC] / rate
    more = (rate / reference) ** constants[EXPONENT]
    return 1.0 + more, constants[EXPONENT] * more / rate


@inlined
def thermal_factor(temperature, constants):
    """Return the factor of a temperature in K on the flow stress."""
    if constants[MELTING] == 0.0 or temperature <= constants[REFERENCE]:
        return 1.0
    if temperature >= constants[MELTING]:
        return 0.0
    relative = (temperature - constants[REFERENCE]) / (constants[MELTING] - constants[REFERENCE])
    return 1.0 - relative ** constants[SOFTENING]


@formula
def flow_stress(alpha, x, h, temperature, constants, points):
    """Return σ in Pa after an increment x of the plastic strain α in h s, and its slope over x."""
    sigma, slope = yield_stress(alpha + x, constants, points)
    factor_, by_rate = rate_factor(x / h, constants)
    soft = thermal_factor(temperature, constants)
    return soft * factor_ * sigma, soft * (factor_ * slope + by_rate / h * sigma)


@formula
def dissipated(alpha, x, h, temperature, constants, points):
    """Return the plastic work in J/m³ of an increment x of the plastic strain α; with a rate, by the stress at its end.

    With a rate or softening it is no more than the share of a point in what its cell dissipates.
    """
    if constants[RATE] > 0.0:
        return x * flow_stress(alpha, x, h, temperature, constants, points)[0]
    return thermal_factor(temperature, constants) * work_between(alpha, x, constants, points)


@inlined
def is_linear(constants, points):
    """Return whether the flow stress grows linearly with the plastic strain of an increment."""
    return (
        points.shape[1] == 0 and constants[VOCE] == 0.0 and constants[POWER_MODULUS] == 0.0 and constants[RATE] == 0.0
    )


@formula
def flow_along(along, across, alpha, mu, h, temperature, constants, points):
    """Return x = Δα of the return along a direction N, and the slope of σ at its end; 0 where nothing yields.

    Of the equivalent trial stress, along N and across it (0 of the radial return), it solves

    f(x) = √((along − 3μ x)² + across²) − σ(x) = 0

    by Newton's method between bounds, f being decreasing.
    """
    sigma, slope = flow_stress(alpha, 0.0, h, temperature, constants, points)
    equivalent = along if across == 0.0 else np.sqrt(along * along + across * across)
    excess = equivalent - sigma
    if not excess > 0.0:
        return 0.0, 0.0
    low, high = 0.0, (excess if across == 0.0 else along) / (3.0 * mu)  # σ does not decrease
    x = excess / (3.0 * mu + slope)
    if across == 0.0 and is_linear(constants, points):
        return x, slope
    if not 0.0 < x < high:  # an infinite slope
        x = 0.5 * high
    for _ in range(_ITERATIONS):
        sigma, slope = flow_stress(alpha, x, h, temperature, constants, points)
        size, steep = along - 3.0 * mu * x, 3.0 * mu
        if across > 0.0:
            radius = np.sqrt(size * size + across * across)
            steep *= size / radius
            size = radius
        f = size - sigma
        if f > 0.0:
            low = max(low, x)
        else:
            high = min(high, x)
        new = x + f / (steep + slope)
        if not low <= new <= high:
            new = 0.5 * (low + high)
        if abs(new - x) <= _CLOSE * x or abs(f) <= _ROUNDING * equivalent:
            x = new
            break
        x = new
    return x, flow_stress(alpha, x, h, temperature, constants, points)[1]


@inlined
def flow(equivalent, alpha, mu, h, temperature, constants, points):
    """Return x = Δα of the radial return, and the slope of σ at its end; 0 where the trial stress does not yield."""
    return flow_along(equivalent, 0.0, alpha, mu, h, temperature, constants, points)


@formula
def mean_flow(a, b, c, alpha, mu, h, temperature, constants, points):
    """Return x = Δα of the return along the mean normal N = (X0 + X)/m and 2μ Δγ/m; then how ψ + Wp depends on X.

    Given are a = |X|² of the trial stress, b = X0 · X and c = |X0|² of the stress at the start. With A = 3/2 a and
    D = √(3/2) (a + b)/m, A − 6μ x D + 9μ² x² = σ², and ψ + Wp = σ²/6μ + ∫ σ dα; the last two numbers are the factors
    of X and X0 in its derivative by the strain.
    """
    m2 = a + 2.0 * b + c
    m = np.sqrt(m2)
    along = np.sqrt(1.5) * (a + b) / m
    across2 = 1.5 * (a - (a + b) * (a + b) / m2)
    across = np.sqrt(across2) if across2 > 0.0 else 0.0
    x, slope = flow_along(along, across, alpha, mu, h, temperature, constants, points)
    if not x > 0.0:
        return 0.0, 0.0, 1.0, 0.0
    sigma = flow_stress(alpha, x, h, temperature, constants, points)[0]
    turned = 6.0 * mu * x * np.sqrt(1.5) / m
    by_a = 1.5 - turned * (1.0 - 0.5 * (a + b) / m2)
    by_b = -turned * (1.0 - (a + b) / m2)
    change = (sigma * slope / (3.0 * mu) + sigma) / (6.0 * mu * along - 18.0 * mu * mu * x + 2.0 * sigma * slope)
    return x, 2.0 * mu * np.sqrt(1.5) * x / m, 4.0 * mu * change * by_a, 2.0 * mu * change * by_b


# -- back stress ------------------------------------------------------------------------------------------------------


@inlined
def recovery(beta, x):
    """Return ρ = exp(−βx), m = (1 − ρ)/β, φ = m/x and φ − ρ."""
    u = beta * x
    if u == 0.0:
        return 1.0, x, 1.0, 0.0
    rho = np.exp(-u)
    m = -np.expm1(-u) / beta
    less = (1.0 - rho * (1.0 + u)) / u
    if u < 1e-2:
        less = u * (1.0 / 2.0 - u * (1.0 / 3.0 - u * (1.0 / 8.0 - u * (1.0 / 30.0 - u / 144.0))))
    return rho, m, m / x, less


@inlined
def _norm(A):
    return np.sqrt(contracted(A, A))


@formula
def direction(s, a, x, c, beta):
    """Return N, |η|, a : N and |a_N|² for a trial stress s and back strain a (both Sym3), at x."""
    _, _, phi, _ = recovery(beta, x)
    eta = s - (c * phi) * a
    size = _norm(eta)
    N = (1.0 / size) * eta if size > 0.0 else eta
    along = contracted(a, N)
    across = a - along * N
    return N, size, along, contracted(across, across)


@formula
def back_flow(s, a, alpha, mu, h, temperature, constants, points):
    """Return x = √(3/2) Δα of the return with a back stress, and H; 0 where the trial stress does not yield."""
    c, beta = 2.0 / 3.0 * constants[BACK], np.sqrt(2.0 / 3.0) * constants[RECOVERY]
    part = np.sqrt(2.0 / 3.0)
    trial_ = s - c * a
    sigma, slope = flow_stress(alpha, 0.0, h, temperature, constants, points)
    excess = _norm(trial_) - part * sigma
    if not excess > 0.0:
        return 0.0, 0.0
    low, high = 0.0, excess / (2.0 * mu) * (1.0 + 1e-12)
    x = excess / (2.0 * mu + c + 2.0 / 3.0 * slope)
    if not x > 0.0:
        x = 0.5 * high
    H = 2.0 * mu
    for _ in range(_ITERATIONS):
        sigma, slope = flow_stress(alpha, part * x, h, temperature, constants, points)
        rho, m, _, less = recovery(beta, x)
        _, size, along, across = direction(s, a, x, c, beta)
        k = c * less
        f = size + k * along - 2.0 * mu * x - c * m - part * sigma
        H = 2.0 * mu + c * rho * (1.0 - beta * along) + 2.0 / 3.0 * slope
        if size > 0.0:
            H -= k * k * across / (x * size)
        if f > 0.0:
            low = max(low, x)
        else:
            high = min(high, x)
        new = x + f / H
        if not low <= new <= high:
            new = 0.5 * (low + high)
        if abs(new - x) <= _CLOSE * x or abs(f) <= _ROUNDING * size:
            break
        x = new
    return x, H


@formula
def recovered(a2, along, x, beta):
    """Return β ∫₀ˣ |a|² dx' of |a|² and a : N at the start."""
    if beta == 0.0:
        return 0.0
    m = -np.expm1(-beta * x) / beta
    squares = -np.expm1(-2.0 * beta * x) / (2.0 * beta)
    return beta * a2 * squares + 2.0 * along * (m - squares) + (x - 2.0 * m + squares) / beta


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
def product(A, B):
    """Return A B of symmetric matrices with the same eigenvectors, which is symmetric."""
    return Sym3(
        A[0] * B[0] + A[3] * B[3] + A[4] * B[4],
        A[3] * B[3] + A[1] * B[1] + A[5] * B[5],
        A[4] * B[4] + A[5] * B[5] + A[2] * B[2],
        A[0] * B[3] + A[3] * B[1] + A[4] * B[5],
        A[0] * B[4] + A[3] * B[5] + A[4] * B[2],
        A[3] * B[4] + A[1] * B[5] + A[5] * B[2],
    )


@expanded
def plus(A, r):
    """Return A + r 1."""
    return Sym3(A[0] + r, A[1] + r, A[2] + r, A[3], A[4], A[5])


@expanded
def along_rows(L, A):
    """Return L A Lᵀ."""
    return symmetric(L @ (full(A) @ transposed(L)))


@formula
def near_strain(F, P):
    """Return whether strains are small, ε = dev ½ ln Ce, Ce⁻¹, ½ ln det Ce, and L, without eigenvectors.

    Of Ce = Lᵀ C L, N = (det Ce)^(−1/3) Ce and Z = 1 − 2 (N + 1)⁻¹ it is ε = artanh Z = Σ Z^(2k+1)/(2k+1).
    """
    L = factor(P)
    Ce = gram(transposed(F @ L))
    minors = cofactors(Ce)
    det = Ce[0] * minors[0] + Ce[3] * minors[3] + Ce[4] * minors[4]
    inverse = (1.0 / det) * minors
    scale = np.cbrt(det)
    M = plus((1.0 / scale) * Ce, 1.0)
    minors = cofactors(M)
    Z = plus((-2.0 / (M[0] * minors[0] + M[3] * minors[3] + M[4] * minors[4])) * minors, 1.0)
    square_ = contracted(Z, Z)
    near = square_ < _NEAR * _NEAR
    Z2 = product(Z, Z)
    series = (1.0 / 7.0) * Z2
    if square_ > 4e-4:
        series = (1.0 / 17.0) * Z2
        series = product(plus(series, 1.0 / 15.0), Z2)
        series = product(plus(series, 1.0 / 13.0), Z2)
        series = product(plus(series, 1.0 / 11.0), Z2)
        series = product(plus(series, 1.0 / 9.0), Z2)
        series = product(plus(series, 1.0 / 7.0), Z2)
    elif square_ > 1e-6:
        series = product(plus((1.0 / 9.0) * Z2, 1.0 / 7.0), Z2)
    series = product(plus(series, 1.0 / 5.0), Z2)
    series = product(plus(series, 1.0 / 3.0), Z2)
    return near, product(plus(series, 1.0), Z), inverse, 0.5 * np.log(det), L


@formula
def strain_in_axes(F, P):
    """Return ε = dev ½ ln Ce in the axes of L, and L, of any strain."""
    near, e, _, _, L = near_strain(F, P)
    if not near:
        stretches, n = eigenpairs(gram(transposed(F @ L)))
        e = weighted(deviator((0.5 * np.log(stretches[0]), 0.5 * np.log(stretches[1]), 0.5 * np.log(stretches[2]))), n)
    return e, L


@formula
def exponential_of(Y):
    """Return exp Y of a symmetric Y."""
    if contracted(Y, Y) < 1e-2:
        return near_exponential(Y)
    values, n = eigenpairs(Y)
    return weighted((np.exp(values[0]), np.exp(values[1]), np.exp(values[2])), n)


@formula
def potential_stress(M, F, P):
    """Return S = ∂/∂E of a function of ε in the axes of L, whose derivative is M."""
    L = factor(P)
    stretches, n = eigenpairs(gram(transposed(F @ L)))
    strains = Vec3(0.5 * np.log(stretches[0]), 0.5 * np.log(stretches[1]), 0.5 * np.log(stretches[2]))
    b = n @ transposed(L)
    b = Mat3(
        (1.0 / np.sqrt(stretches[0])) * b[0],
        (1.0 / np.sqrt(stretches[1])) * b[1],
        (1.0 / np.sqrt(stretches[2])) * b[2],
    )
    return stress_of(symmetric(n @ (full(M) @ transposed(n))), strains, b)


@formula
def near_exponential(Y):
    """Return exp Y of a symmetric Y with |Y| below 0.1, by its series."""
    series = plus((1.0 / 11.0) * Y, 1.0)
    if contracted(Y, Y) > 1e-4:
        series = plus((1.0 / 10.0) * product(series, Y), 1.0)
        series = plus((1.0 / 9.0) * product(series, Y), 1.0)
        series = plus((1.0 / 8.0) * product(series, Y), 1.0)
        series = plus((1.0 / 7.0) * product(series, Y), 1.0)
    else:
        series = plus((1.0 / 7.0) * Y, 1.0)
    for k in range(6, 0, -1):
        series = plus((1.0 / k) * product(series, Y), 1.0)
    return series


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


@added
def add_pairs(pairs):
    """Add Σ u ⊗ v of pairs of symmetric matrices to D [36], the rows in the order of their components."""
    for i in range(6):
        for j in range(6):
            (u, v), *others = pairs
            total = u[i] * v[j]
            for u, v in others:
                total = total + u[i] * v[j]
            yield total


@added
def add_symmetrized(factor, rank_one, A):
    """Add factor A ⊙ A, ½ (A_ik A_jl + A_il A_jk), and rank_one A ⊗ A to D [36]."""
    pairs, place = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)), ((0, 3, 4), (3, 1, 5), (4, 5, 2))
    for m, (i, j) in enumerate(pairs):
        for n, (k, p) in enumerate(pairs):
            both = A[place[i][k]] * A[place[j][p]] + A[place[i][p]] * A[place[j][k]]
            yield (0.5 * factor) * both + rank_one * (A[m] * A[n])


@formula
def add_elasticity(strains, b, K, mu, q, mu_t, s, size, stresses, D):
    """Add ℂ to D [6, 6], which takes shear strains twice; see the formula above."""
    u0, u1, u2 = square(b[0]), square(b[1]), square(b[2])
    B0, B1, B2 = _doubled(b[1], b[2]), _doubled(b[2], b[0]), _doubled(b[0], b[1])
    flow_ = 2.0 * (mu_t - q * mu) / (size * size) if size > 0.0 else 0.0
    both = K - 2.0 * q * mu / 3.0
    own = 2.0 * q * mu
    f0, f1, f2 = flow_ * s[0], flow_ * s[1], flow_ * s[2]
    w0 = (both + f0 * s[0] + own - 2.0 * stresses[0]) * u0 + (both + f0 * s[1]) * u1 + (both + f0 * s[2]) * u2
    w1 = (both + f1 * s[0]) * u0 + (both + f1 * s[1] + own - 2.0 * stresses[1]) * u1 + (both + f1 * s[2]) * u2
    w2 = (both + f2 * s[0]) * u0 + (both + f2 * s[1]) * u1 + (both + f2 * s[2] + own - 2.0 * stresses[2]) * u2
    v0 = q * mu * d_coth(strains[1] - strains[2]) - 0.5 * (stresses[1] + stresses[2])
    v1 = q * mu * d_coth(strains[2] - strains[0]) - 0.5 * (stresses[2] + stresses[0])
    v2 = q * mu * d_coth(strains[0] - strains[1]) - 0.5 * (stresses[0] + stresses[1])
    pairs = ((u0, w0), (u1, w1), (u2, w2), (B0, v0 * B0), (B1, v1 * B1), (B2, v2 * B2))
    add_pairs(D.reshape(36), 0, 1, pairs)


@expanded
def _doubled(u, v):
    """Return u ⊗ v + v ⊗ u."""
    return square(u + v) - square(u) - square(v)


@inlined
def length(v):
    return np.sqrt(dot(v, v))


@inlined
def d_over_sinh(d):
    """Return d/sinh d."""
    if abs(d) < 1e-2:
        z = d * d
        return 1.0 - z * (1.0 / 6.0 - z * (7.0 / 360.0 - z * 31.0 / 15120.0))
    return d / np.sinh(d)


@expanded
def full_of(T, b):
    """Return Σ T_ij b_i ⊗ b_j of a symmetric T."""
    return (
        T[0] * square(b[0])
        + T[1] * square(b[1])
        + T[2] * square(b[2])
        + T[3] * _doubled(b[0], b[1])
        + T[4] * _doubled(b[0], b[2])
        + T[5] * _doubled(b[1], b[2])
    )


@expanded
def symmetric(T):
    """Return the symmetric matrix of a full one."""
    return Sym3(T[0][0], T[1][1], T[2][2], T[0][1], T[0][2], T[1][2])


@expanded
def back_strain(F, A, b):
    """Return a in the eigenvectors of the trial strain: w_i · A w_j with w_i = C b_i/√λ_i."""
    W = (b @ transposed(F)) @ F  # rows C b_i
    return symmetric(W @ (full(A) @ transposed(W)))


@formula
def scaled_pairs(T, stretches):
    """Return T_ij/√(λ_i λ_j)."""
    r0, r1, r2 = 1.0 / np.sqrt(stretches[0]), 1.0 / np.sqrt(stretches[1]), 1.0 / np.sqrt(stretches[2])
    return Sym3(T[0] * r0 * r0, T[1] * r1 * r1, T[2] * r2 * r2, T[3] * r0 * r1, T[4] * r0 * r2, T[5] * r1 * r2)


@formula
def stress_of(M, strains, b):
    """Return S = Σ M_ij d/sinh d b_i ⊗ b_j."""
    T = Sym3(
        M[0],
        M[1],
        M[2],
        M[3] * d_over_sinh(strains[0] - strains[1]),
        M[4] * d_over_sinh(strains[0] - strains[2]),
        M[5] * d_over_sinh(strains[1] - strains[2]),
    )
    return full_of(T, b)


@formula
def exponential(T):
    """Return exp T of a symmetric T, and exp 2T."""
    values, n = eigenpairs(T)
    e0, e1, e2 = np.exp(values[0]), np.exp(values[1]), np.exp(values[2])
    return weighted((e0, e1, e2), n), weighted((e0 * e0, e1 * e1, e2 * e2), n)


@expanded
def conjugated(E, a):
    """Return E a E of symmetric matrices."""
    return symmetric((full(E) @ full(a)) @ full(E))


@formula
def second_difference(x, y, z):
    """Return ln[e^2x, e^2y, e^2z] e^2y e^(x+z)·2, a second divided difference; −1 where all are equal."""
    middle = (x + y + z) / 3.0
    u, v, w = np.expm1(2.0 * (x - middle)), np.expm1(2.0 * (y - middle)), np.expm1(2.0 * (z - middle))
    largest = max(abs(u), abs(v), abs(w))
    if largest < 0.1:  # Σ (−1)^(n−1)/n h_(n−2)(u, v, w), h by its recurrence
        e1, e2, e3 = u + v + w, u * v + v * w + w * u, u * v * w
        h0, h1, h2 = 1.0, 0.0, 0.0  # h_k, h_(k−1), h_(k−2)
        total, sign = 0.0, -1.0
        for n in range(2, 20):
            total += sign / n * h0
            h0, h1, h2 = e1 * h0 - e2 * h1 + e3 * h2, h0, h1
            sign = -sign
    else:
        if abs(u - v) >= abs(u - w) and abs(u - v) >= abs(v - w):
            p, o, r = u, w, v
        elif abs(u - w) >= abs(v - w):
            p, o, r = u, v, w
        else:
            p, o, r = v, u, w
        total = (_first_difference(p, o) - _first_difference(o, r)) / (p - r)
    return 2.0 * total * (1.0 + v) * np.sqrt((1.0 + u) * (1.0 + w))


@inlined
def _first_difference(u, v):
    """Return (ln(1 + u) − ln(1 + v))/(u − v)."""
    d = 0.5 * (np.log1p(u) - np.log1p(v))
    return d_over_sinh(d) / np.sqrt((1.0 + u) * (1.0 + v))


@formula
def add_back_elasticity(strains, b, K, mu, s, a, x, H, bulk_stress, c, beta, D):
    """Add ℂ to D [6, 6] of a point with a back stress that flows; see the formulas above."""
    rows, columns = (0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)
    place = ((0, 3, 4), (3, 1, 5), (4, 5, 2))
    N, size, along, _ = direction(s, a, x, c, beta)
    _, _, _, less = recovery(beta, x)
    G = N + (c * less / size) * (a - along * N)
    M = s - (2.0 * mu * x) * N
    less_stiff = mu * (1.0 - 2.0 * mu * x / size)
    U, T, strains_ = np.empty((6, 6)), np.zeros((6, 6)), (strains[0], strains[1], strains[2])
    for m in range(6):
        i, j = rows[m], columns[m]
        u = square(b[i]) if i == j else _doubled(b[i], b[j])
        t = d_over_sinh(strains_[i] - strains_[j])
        for n in range(6):
            U[m, n] = u[n]
            k, p = rows[n], columns[n]
            value = 4.0 * mu * mu * (x / size * N[m] * N[n] - G[m] * G[n] / H)
            if m == n:
                value += 2.0 * less_stiff if m < 3 else less_stiff
            if m < 3 and n < 3:
                value += K - 2.0 / 3.0 * less_stiff
            T[m, n] = value * t * d_over_sinh(strains_[k] - strains_[p])
    for i in range(3):
        for j in range(3):
            for k in range(3):
                stress = M[place[k][i]] + (bulk_stress if i == k else 0.0)
                value = stress * second_difference(strains_[i], strains_[j], strains_[k])
                m, n = place[i][j], place[j][k]
                if m > 2:
                    value *= 0.5
                if n > 2:
                    value *= 0.5
                T[m, n] += value
                T[n, m] += value
    for p in range(6):
        for r in range(6):
            total = 0.0
            for m in range(6):
                for n in range(6):
                    total += U[m, p] * T[m, n] * U[n, r]
            D[p, r] += total
