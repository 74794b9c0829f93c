"""The integral ∫ dτ/r² along parabolas of the radius: what the polar angle needs (eq. 68).

For r(τ) = r_0 + v τ + a τ²/2 from 0 to T with the ends r_0 and r_1, in Bernstein's form
r = r_0 (1 − s)² + 2 b s (1 − s) + r_1 s² with s = τ/T and b = r_0 + v T/2, one substitutes s/(1 − s) = u √(r_0/r_1):

    ∫ dτ/r² = T/(r_0 r_1) [2 J_1 + (r_0 + r_1)/g J_0],    g = √(r_0 r_1),  c = b/g,
    J_n(c) = ∫_0^∞ uⁿ du/(1 + 2 c u + u²)²,    J_1 = (1 − c G)/(2 (1 − c²)),    J_0 = G/2 − c J_1,

with G = arccos c/√(1 − c²), or arcosh c/√(c² − 1) for c > 1. All is smooth at c = 1, where the antiderivative in τ
has its discriminant v² − 2 a r_0 ∝ c² − 1 in the denominator; a hypergeometric series serves there. The radius
reaches 0 within the piece if and only if c ≤ −1.
"""

from __future__ import annotations

from math import acos, acosh, inf, sqrt

import numpy as np

from symplex.fem.compiled.kernels import kernel

TIME, RADIUS, VELOCITY, ACCELERATION = range(4)  # of a piece
_SERIES = 0.25  # |z| below which the series is summed; about 25 terms at the limit, and four for a small lattice cell


@kernel
def inverse_square_integral(r0, v, a, T):
    """Return ∫ dτ/(r_0 + v τ + a τ²/2)² from 0 to T in s/m², infinite if the radius reaches 0.

    Exact up to a few units of round-off for parabolas of any shape.
    """
    if not T > 0.0:
        return 0.0
    r1 = r0 + T * (v + 0.5 * a * T)
    if not (r0 > 0.0 and r1 > 0.0):
        return inf
    g = sqrt(r0 * r1)
    c = (r0 + 0.5 * v * T) / g
    if c <= -1.0:
        return inf
    z = 0.5 * (1.0 - c)
    if abs(z) < _SERIES:
        # J_1 = ⅙ ₂F₁(2, 2; 5/2; z)
        J1 = term = 1.0 / 6.0
        n = 1.0
        while abs(term) > 1e-17:
            term *= z * (n + 1.0) * (n + 1.0) / (n * (n + 1.5))
            J1 += term
            n += 1.0
        G = (1.0 - 2.0 * (1.0 - c * c) * J1) / c
    else:
        G = acos(c) / sqrt((1.0 - c) * (1.0 + c)) if c < 1.0 else acosh(c) / sqrt((c - 1.0) * (c + 1.0))
        J1 = (1.0 - c * G) / (2.0 * (1.0 - c) * (1.0 + c))
    J0 = 0.5 * G - c * J1
    return T / (r0 * r1) * (2.0 * J1 + (r0 + r1) / g * J0)


@kernel
def interpolated_integral(r0, v, a, T, h, origin):
    """Return the integral of the interpolation of 1/r² between lattice points origin + h·integer, within one cell.

    Infinite if the cell reaches down to the pole.
    """
    if not T > 0.0:
        return 0.0
    mean = r0 + T * (0.5 * v + T * a / 6.0)
    low = origin + h * np.floor((mean - origin) / h)
    if not low > 0.0:
        return inf
    high = low + h
    # 1/low² + (1/high² − 1/low²) (mean − low)/h
    return T * (1.0 - (low + high) * (mean - low) / (high * high)) / (low * low)


@kernel
def swept(piece, t, h, origin):
    """Return ∫ dτ/r² from the beginning of a piece [4] to the time t; interpolated on a lattice if h is not 0."""
    T = t - piece[TIME]
    if h > 0.0:
        return interpolated_integral(piece[RADIUS], piece[VELOCITY], piece[ACCELERATION], T, h, origin)
    return inverse_square_integral(piece[RADIUS], piece[VELOCITY], piece[ACCELERATION], T)


@kernel
def add_pieces(current, total, time, radius, velocity, acceleration, h, origin):
    """Follow pieces that begin at the given times, the first from the current one on.

    Parameters
    ----------
    current : float64 [4]
        Beginning, radius, velocity and acceleration of the current piece; replaced by the last.
    total : float64 [2]
        ∫ dτ/r² up to the beginning of the current piece, as a sum and what it lacks (Neumaier); carried on.
    time, radius, velocity, acceleration : float64 [k]
        Of the pieces that follow.
    h, origin : float
        The lattice, or zeros (see `swept`).

    Returns
    -------
    int
        The number of pieces followed: fewer than k if the radius reaches 0, in the piece that is then current.
    """
    for k in range(len(time)):
        part = swept(current, time[k], h, origin)
        if part == np.inf:
            return k
        before = total[0]
        total[0] = before + part
        total[1] += (before - total[0]) + part if before >= part else (part - total[0]) + before
        current[TIME], current[RADIUS] = time[k], radius[k]
        current[VELOCITY], current[ACCELERATION] = velocity[k], acceleration[k]
    return len(time)
