"""The part of a law that depends on volume, W = λ/2 ln²J − μ ln J, by C: energy, stresses and tangents.

With c = det C = J² it is w(c) = λ/8 ln²c − μ/2 ln c. Its quotient w[c0, c1] = (w(c1) − w(c0))/(c1 − c0) along an
increment, written without division by the increment,

    w[c0, c1] = (λ/4 ln(c0 c1) − μ) A(z)/(c0 + c1),    A(z) = artanh(z)/z,    z = (c1 − c0)/(c1 + c0),

belongs with the average cofactor K = (cof C0 + 4 cof C_m + cof C1)/6, C_m = (C0 + C1)/2, to the discrete stress
2 w[c0, c1] K, since c1 − c0 = K : (C1 − C0) exactly.
"""

from __future__ import annotations

import numpy as np

from symplex.fem.assembly import Array
from symplex.fem.kernels import kernel
from symplex.fem.logarithm import artanh_ratio
from symplex.fem.solids import tensors


def energy(C: Array, lmbda: float, mu: float) -> Array:
    """Return W [p] for C [p, 3, 3]."""
    lnJ = 0.5 * np.log(tensors.determinants(C))
    return (0.5 * lmbda * lnJ - mu) * lnJ


def stress(C: Array, lmbda: float, mu: float) -> Array:
    """Return 2 ∂W/∂C = (λ ln J − μ) C⁻¹ [p, 3, 3]."""
    c = tensors.determinants(C)
    return tensors.scaled((0.5 * lmbda * np.log(c) - mu) / c, tensors.cofactors(C))


def tangent(C: Array, lmbda: float, mu: float) -> Array:
    """Return 4 ∂²W/∂C² = λ C⁻¹ ⊗ C⁻¹ + 2 (μ − λ ln J) C⁻¹ ⊙ C⁻¹ [p, 3, 3, 3, 3]."""
    c = tensors.determinants(C)
    inverse = tensors.scaled(1.0 / c, tensors.cofactors(C))
    return tensors.products(np.full_like(c, lmbda), inverse, 2.0 * mu - lmbda * np.log(c))


def stress_curvature(C: Array, H: Array, lmbda: float, mu: float) -> Array:
    """Return the second derivative of the stress along H [p, 3, 3].

    With B = C⁻¹H: (2 (λ ln J − μ) B² − λ tr B · B − λ/2 tr B² · 1) C⁻¹.
    """
    c = tensors.determinants(C)
    inverse = tensors.scaled(1.0 / c, tensors.cofactors(C))
    B = inverse @ H
    squared = B @ B
    factor = tensors.scaled(lmbda * np.log(c) - 2.0 * mu, squared) - tensors.scaled(lmbda * tensors.trace(B), B)
    factor -= tensors.scaled(0.5 * lmbda * tensors.trace(squared), tensors.ONE)
    return factor @ inverse


def discrete_stress(C0: Array, C1: Array, lmbda: float, mu: float) -> Array:
    """Return 2 w[c0, c1] K [p, 3, 3]."""
    quotient, _ = quotients(tensors.determinants(C0), tensors.determinants(C1), lmbda, mu)
    return tensors.scaled(2.0 * quotient, average_cofactors(C0, C1))


def discrete_tangent(C0: Array, C1: Array, lmbda: float, mu: float) -> Array:
    """Return 2 ∂/∂C1 of the discrete stress [p, 3, 3, 3, 3]: 4 ∂w[c0, c1]/∂c1 K ⊗ cof C1 + 4 w[c0, c1] {T, ·}.

    K changes by {T, ·} with T = (C0 + 2 C1)/6.
    """
    quotient, slope = quotients(tensors.determinants(C0), tensors.determinants(C1), lmbda, mu)
    K = tensors.scaled(4.0 * slope, average_cofactors(C0, C1))
    T = tensors.scaled(4.0 / 6.0 * quotient, C0 + 2.0 * C1)
    return tensors.cofactor_tangent(K, tensors.cofactors(C1), T)


def average_cofactors(C0: Array, C1: Array) -> Array:
    """Return K = cof C_m + cof(C1 − C0)/12."""
    return tensors.cofactors(0.5 * (C0 + C1)) + tensors.cofactors(C1 - C0) / 12.0


@kernel
def quotients(c0, c1, lmbda, mu):
    """Return w[c0, c1] and ∂w[c0, c1]/∂c1 [p]; nan where c0 or c1 is not positive."""
    values, slopes = np.empty_like(c0), np.empty_like(c0)
    for p in range(len(c0)):
        if not (c0[p] > 0.0 and c1[p] > 0.0):
            values[p] = slopes[p] = np.nan
            continue
        s = c0[p] + c1[p]
        ratio, slope = artanh_ratio((c1[p] - c0[p]) / s)
        pressure = 0.25 * lmbda * (np.log(c0[p]) + np.log(c1[p])) - mu
        values[p] = pressure * ratio / s
        # ∂z/∂c1 = 2 c0/s²
        slopes[p] = (0.25 * lmbda / c1[p] * ratio + pressure * (2.0 * c0[p] / (s * s) * slope - ratio / s)) / s
    return values, slopes
