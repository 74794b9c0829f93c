"""The third derivative of the energy of isoparametric elements with any law.

Along a direction a with A = Σ a_a ⊗ ∇N_a the strain C = FᵀF changes at the rates C' = AᵀF + FᵀA and C'' = 2 AᵀA,
and P = F S(C) at the second rate

    P'' = 2 A S' + F S'',    S' = ½ ℂ : C',    S'' = D²S[C', C'] + ℂ : AᵀA,

so that ∇³φ[a, a]_a = Σ w P'' ∇N_a. Laws that are not objective see C = 1 + 2 sym(F − 1) and have 1 in place of F:
P'' = D²S[C', C'] with C' = A + Aᵀ.
"""

from __future__ import annotations

import numpy as np

from symplex.fem.assembly import Array
from symplex.fem.solids.constitutive import Material


def third(material: Material, F: Array, C: Array, a: Array, weights: Array, gradients: Array) -> Array:
    """Return ∇³φ[a, a] [e, k, 3] of elements.

    Parameters
    ----------
    material : Material
    F, C : float64 [e, g, 3, 3]
        At the points of quadrature; F is not used if the law is not objective.
    a : float64 [e, k, 3]
        The direction.
    weights : float64 [e, g]
    gradients : float64 [e, g, 3, k]
        Undeformed gradients of the shape functions.
    """
    A = np.einsum("eai,egKa->egiK", a, gradients, optimize=True)
    transposed = A.swapaxes(-1, -2)
    if material.objective:
        half = transposed @ F
        C_rate = half + half.swapaxes(-1, -2)
        T = np.asarray(material.tangent(_flat(C))).reshape(*C.shape[:2], 9, 9)
        S_rate = 0.5 * _contracted(T, C_rate)
        P = 2.0 * A @ S_rate + F @ (_curvature(material, C, C_rate) + _contracted(T, transposed @ A))
    else:
        P = _curvature(material, C, A + transposed)
    return np.ascontiguousarray(np.einsum("eg,egiK,egKa->eai", weights, P, gradients, optimize=True))


def _curvature(material: Material, C: Array, C_rate: Array) -> Array:
    return np.asarray(material.stress_curvature(_flat(C), _flat(C_rate))).reshape(C.shape)


def _contracted(T: Array, H: Array) -> Array:
    """Return ℂ : H [e, g, 3, 3] for ℂ [e, g, 9, 9]."""
    return (T @ H.reshape(*H.shape[:2], 9, 1)).reshape(H.shape)


def _flat(C: Array) -> Array:
    return np.ascontiguousarray(C).reshape(-1, 3, 3)
