"""Explicit steps of metals, eight points of an element at once: forces, internal variables and dissipation together.

It is the radial return of `symplex.fem.solids.plastic_points`, in the deformed body: of be = F Cp⁻¹ Fᵀ, J = det F,

    e = dev ½ ln be = artanh Z,    Z = 1 − 2 (J^(−2/3) be + 1)⁻¹,    τ = 2μ q e + K θ 1,
    F S = τ F⁻ᵀ,    Cp⁻¹ ← Cp⁻¹ + F⁻¹ be (exp(−2Δγ e/|e|) − 1) F⁻ᵀ,

by series, without eigenvectors. Elements with a point of more than 10 % of elastic strain are left to other kernels.
"""

from __future__ import annotations

import numpy as np

from symplex.fem.compiled.kernels import formula, kernel
from symplex.fem.compiled.lane_values import EIGHT, laned, set_lane_deformations, set_lane_forces
from symplex.fem.compiled.vectors import Mat3, Sym3, cofactors, contracted, dot, full, transposed
from symplex.fem.solids.plastic_loops import TEMPERATURE, add_forces, set_deformations, set_states
from symplex.fem.solids.plastic_points import HEAT, dissipated, flow, plus, product, symmetric

_NEAR, _NEAR_VOLUME = 0.1, 0.3  # |Z| and |J − 1| up to which series serve
# Rows of the workspace: F, Cp⁻¹, J, θ, |Z|², |e|², e, be, what scales e in τ, the rest of τ, the factor of e in the
# exponent of the flow, and w; then w F S
_F, _P, _J, _THETA, _Z2, _E2, _E, _BE, _SHEAR, _PRESSURE, _FLOW, _WEIGHT, _T, _ROWS = (
    0, 9, 15, 16, 17, 18, 19, 25, 31, 32, 33, 34, 35, 44,
)  # fmt: skip


def _series(Z2, coefficients):
    """Return Σ c_k Z2ᵏ of a symmetric matrix, by Horner."""
    last, *others = reversed(coefficients)
    found = None
    for c in others:
        found = plus(last * Z2 if found is None else product(found, Z2), c)
    return found


def _strain(rows, terms):
    """Yield J, θ, |Z|², |e|², e and be of F and Cp⁻¹, by some terms of the series of artanh."""
    F, P = Mat3(*rows(_F, 9)), Sym3(*rows(_P, 6))
    FP = F @ full(P)
    be = Sym3(
        dot(FP[0], F[0]), dot(FP[1], F[1]), dot(FP[2], F[2]), dot(FP[0], F[1]), dot(FP[0], F[2]), dot(FP[1], F[2])
    )
    J = dot(F[0], cofactors(F)[0])
    s = (J - 1.0) / (J + 1.0)
    s2 = s * s
    theta = 1.0 / 23.0
    for n in range(21, 0, -2):
        theta = theta * s2 + 1.0 / n
    theta = 2.0 * (s * theta)
    y = (-2.0 / 3.0) * theta
    scale = 1.0 + (1.0 / 13.0) * y
    for n in range(12, 0, -1):
        scale = 1.0 + (1.0 / n) * (y * scale)
    M = plus(scale * be, 1.0)
    minors = cofactors(M)
    Z = plus((-2.0 / (M[0] * minors[0] + M[3] * minors[3] + M[4] * minors[4])) * minors, 1.0)
    Z2 = product(Z, Z)
    e = product(_series(Z2, [1.0 / (2 * k + 1) for k in range(terms)]), Z)
    yield _J, (J, theta, contracted(Z, Z), contracted(e, e), e, be)


@laned
def _set_strains(rows):
    yield from _strain(rows, 5)


@laned
def _set_larger_strains(rows):
    yield from _strain(rows, 9)


@laned
def _set_stresses(rows):
    """Set w F S = w (τ/J) cof F."""
    F, e = Mat3(*rows(_F, 9)), Sym3(*rows(_E, 6))
    (J,), (shear, pressure, _, w) = rows(_J, 1), rows(_SHEAR, 4)
    tau = plus(shear * e, pressure)
    yield _T, (w / J) * (full(tau) @ cofactors(F))


def _flowed(rows, terms):
    """Yield Cp⁻¹ at the end, by some terms of the series of exp."""
    F, P, e, be = Mat3(*rows(_F, 9)), Sym3(*rows(_P, 6)), Sym3(*rows(_E, 6)), Sym3(*rows(_BE, 6))
    (J,), (rate,) = rows(_J, 1), rows(_FLOW, 1)
    Y = rate * e
    factor = plus((1.0 / terms) * Y, 1.0)
    for k in range(terms - 1, 1, -1):
        factor = plus((1.0 / k) * product(factor, Y), 1.0)
    inverse = (1.0 / J) * transposed(cofactors(F))
    change = inverse @ (full(product(be, product(factor, Y))) @ transposed(inverse))
    yield _P, P + symmetric(change)


@laned
def _set_flow(rows):
    yield from _flowed(rows, 7)


@laned
def _set_larger_flow(rows):
    yield from _flowed(rows, 12)


@formula
def set_lanes(W, x, z, w, G, e, k, elastic, averaged, h, constants, points, out, new):
    """Set forces out[e], and z at its end, of an element; return its dissipation, or −1 if lanes do not serve."""
    n, K, mu = len(w), elastic[0], elastic[1]
    heated = z.shape[1] > TEMPERATURE
    set_lane_deformations(x, G, e, k, W)
    for g in range(EIGHT):
        one = g if g < n else 0
        for c in range(6):
            W[EIGHT * (_P + c) + g] = z[one, c]
        W[EIGHT * _WEIGHT + g] = -w[g] if g < n else 0.0
    _set_strains(W)
    largest = 0.0
    for g in range(EIGHT):
        largest = max(largest, W[EIGHT * _Z2 + g])
        if not abs(W[EIGHT * _J + g] - 1.0) < _NEAR_VOLUME:
            return -1.0
    if not largest < _NEAR * _NEAR:
        return -1.0
    if largest > 5e-4:
        _set_larger_strains(W)
    pressure, total = 0.0, 0.0
    if averaged:
        V, deformed = 0.0, 0.0
        for g in range(n):
            V += w[g]
            deformed += w[g] * W[EIGHT * _J + g]
        pressure = K * np.log(deformed / V) / (deformed / V)
    flows, most = False, 0.0
    for g in range(EIGHT):
        W[EIGHT * _SHEAR + g] = 2.0 * mu
        W[EIGHT * _PRESSURE + g] = pressure * W[EIGHT * _J + g] if averaged else K * W[EIGHT * _THETA + g]
        W[EIGHT * _FLOW + g] = 0.0
    for g in range(n):
        size, alpha, temperature = 2.0 * mu * np.sqrt(W[EIGHT * _E2 + g]), z[g, 6], z[g, TEMPERATURE] if heated else 0.0
        x_, _ = flow(np.sqrt(1.5) * size, alpha, mu, h, temperature, constants, points)
        lost = 0.0
        if x_ > 0.0:
            flows = True
            part = 3.0 * mu * x_ / (np.sqrt(1.5) * size)
            W[EIGHT * _SHEAR + g] = 2.0 * mu * (1.0 - part)
            W[EIGHT * _FLOW + g] = -2.0 * part
            most = max(most, 4.0 * part * part * W[EIGHT * _E2 + g])
            lost = dissipated(alpha, x_, h, temperature, constants, points)
            total += w[g] * lost
        new[g, 6] = alpha + x_
        if heated:
            new[g, TEMPERATURE] = temperature + constants[HEAT] * lost
    _set_stresses(W)
    set_lane_forces(W, _T, G, e, k, out)
    if flows:
        if most > 1e-4:
            _set_larger_flow(W)
        else:
            _set_flow(W)
    for g in range(n):
        for c in range(6):
            new[g, c] = W[EIGHT * (_P + c) + g]
    return total


@kernel
def write_steps(
    q, z, nodes, G, weights, elastic, averaged, constants, points, L, KQ, h, lanes, out, new, lost, first, last
):
    """Set forces [m, k, 3] and z [m, g, k] at the end of an explicit step, and what elements [m] dissipate.

    ``lanes`` are ∇N [m, 3, k, 8], with a point again where there are less than eight.
    """
    n, k = G.shape[1], G.shape[3]
    W, x, check = np.empty(_ROWS * EIGHT), np.empty(3 * k), 0.0
    F, S, psi, work, unused = np.empty((n, 9)), np.empty((n, 6)), np.empty(n), np.empty(n), np.zeros(12)
    for e in range(first, last):
        w = weights[e]
        for a in range(k):
            for i in range(3):
                x[3 * a + i] = q[nodes[e, a], i]
        D = set_lanes(W, x, z[e], w, lanes, e, k, elastic, averaged, h, constants, points, out, new[e])
        if D < 0.0:
            set_deformations(q, nodes, G, e, F)
            check += set_states(
                F, z[e], w, elastic, averaged, h, constants, points, KQ[0], unused, S, unused, psi, work, new[e]
            )
            out[e] = 0.0
            add_forces(F, S, w, G, e, -1.0, out[e])
            D = 0.0
            for c in range(1 if averaged else n):
                D += work[c]
            if z.shape[2] > TEMPERATURE:
                for g in range(n):
                    heat = constants[HEAT] * new[e, g, TEMPERATURE] / w[g]
                    new[e, g, TEMPERATURE] = z[e, g, TEMPERATURE] + heat
        lost[e] = D
        for a in range(k):
            check += out[e, a, 0] + out[e, a, 1] + out[e, a, 2]
    return check
