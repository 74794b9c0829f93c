"""The forms of some elements with a law of NumPy functions, from F and C at their points of quadrature.

With undeformed gradients ∇N_a and weights w (times the Jacobian), F = Σ_a x_a ⊗ ∇N_a and C = FᵀF,

    φ = Σ w W(C),    f_a = Σ w F S ∇N_a,    ∂f_a/∂x_b = Σ w (F_iI ℂ_IKJL F_jJ + δ_ij S_KL) ∂_K N_a ∂_L N_b.

The discrete gradient takes F_m = (F0 + F1)/2 and the discrete stress S*(C0, C1) of the law instead of F and S. It does
exactly the work Σ w S* : (C1 − C0)/2 of the energy, since C1 − C0 = 2 sym F_mᵀ(F1 − F0), and keeps both momenta. Its
tangent is

    ∂f_a/∂x1_b = Σ w (F_m,iI ℂ*_IKJL F1_jJ + ½ δ_ij S*_KL) ∂_K N_a ∂_L N_b,    ℂ* = 2 ∂S*/∂C1.

The forces of the mean strains take S((C0 + C1)/2) for S*. The secant matrices, which
give f_a = Σ_b 𝓕_ab x_b, and their rates are

    𝓕_ab = Σ w ∇N_a·S ∇N_b,    𝓕̇_ab = Σ w ∇N_a·Ṡ ∇N_b,    Ṡ = ℂ : FᵀḞ.

Laws that are not objective see C = 1 + 2 sym(F − 1), and 1 stands for all F in the sums, 0 for the δ.

Along a direction a with A = Σ a_a ⊗ ∇N_a the strain C changes at the rates C' = AᵀF + FᵀA and C'' = 2 AᵀA, and
P = F S(C) at the second rate P'', of which ∇³φ[a, a]_a = Σ w P'' ∇N_a:

    P'' = 2 A S' + F S'',    S' = ½ ℂ : C',    S'' = D²S[C', C'] + ℂ : AᵀA,

or P'' = D²S[C', C'] with C' = A + Aᵀ if the law is not objective.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from symplex.fem.assembly import forms
from symplex.fem.assembly.forms import Form
from symplex.fem.assembly.pattern import Array
from symplex.fem.solids import element_kernels
from symplex.fem.solids.constitutive import Material


class Part(NamedTuple):
    """Some elements of one material: w [e, g], the undeformed weights, and ∇N_a [e, g, 3, k]."""

    material: Material
    weights: Array
    gradients: Array


def energies(part: Part, F: Array, C: Array) -> Array:
    """Return φ [e]."""
    w = part.weights
    return (part.material.energy_density(flat(C)).reshape(w.shape) * w).sum(axis=1)


def stress(part: Part, C: Array) -> Array:
    """Return S [e, g, 3, 3]."""
    return contiguous(part.material.stress(flat(C)), C.shape)


def _forces(part: Part, F: Array, C: Array) -> Array:
    return integrated_forces(part, F, part.material.stress(flat(C)))


def _discrete_forces(part: Part, F0: Array, C0: Array, F1: Array, C1: Array) -> Array:
    return integrated_forces(part, 0.5 * (F0 + F1), part.material.discrete_stress(flat(C0), flat(C1)))


def _mean_forces(part: Part, F0: Array, C0: Array, F1: Array, C1: Array) -> Array:
    return integrated_forces(part, 0.5 * (F0 + F1), part.material.stress(flat(0.5 * (C0 + C1))))


def integrated_forces(part: Part, F: Array, S: Array) -> Array:
    """Return Σ w F S ∇N_a [e, k, 3]."""
    out = np.empty((len(F), part.gradients.shape[3], 3))
    element_kernels.integrate_forces(F, contiguous(S, F.shape), part.weights, part.gradients, out)
    return out


def _stiffness(part: Part, F: Array, C: Array) -> Array:
    S, T = part.material.stress(flat(C)), part.material.tangent(flat(C))
    return _integrated_stiffness(part, F, F, S, T, 1.0)


def _discrete_stiffness(part: Part, F0: Array, C0: Array, F1: Array, C1: Array) -> Array:
    S = part.material.discrete_stress(flat(C0), flat(C1))
    T = part.material.discrete_tangent(flat(C0), flat(C1))
    return _integrated_stiffness(part, 0.5 * (F0 + F1), F1, S, T, 0.5)


def _integrated_stiffness(part: Part, left: Array, right: Array, S: Array, T: Array, geometric: float) -> Array:
    size = 3 * part.gradients.shape[3]
    out = np.empty((len(left), size, size))
    S, T = contiguous(S, left.shape), contiguous(T, (*left.shape, 3, 3))
    of_S = geometric * part.material.objective
    element_kernels.integrate_stiffness(left, right, S, T, part.weights, part.gradients, of_S, out)
    return out


def _secants(part: Part, F: Array, C: Array) -> Array:
    S = contiguous(part.material.stress(flat(C)), C.shape)
    return element_kernels.integrated_secants(S, part.weights, part.gradients)


def _secant_rates(part: Part, F: Array, C: Array, v: Array) -> Array:
    T = contiguous(part.material.tangent(flat(C)), (*C.shape, 3, 3))
    S = element_kernels.stress_rates(T, F, v, part.gradients)
    return element_kernels.integrated_secants(S, part.weights, part.gradients)


def _third(part: Part, F: Array, C: Array, a: Array) -> Array:
    A = np.einsum("eai,egKa->egiK", a, part.gradients, optimize=True)
    law, transposed = part.material, A.swapaxes(-1, -2)
    half = transposed @ F if law.objective else A  # of the symmetric C'
    rate = half + half.swapaxes(-1, -2)
    P = contiguous(law.stress_curvature(flat(C), flat(rate)), C.shape)
    if law.objective:
        T = contiguous(law.tangent(flat(C)), (*C.shape[:2], 9, 9))
        P = A @ _contracted(T, rate) + F @ (P + _contracted(T, transposed @ A))
    return np.ascontiguousarray(np.einsum("eg,egiK,egKa->eai", part.weights, P, part.gradients, optimize=True))


def _contracted(T: Array, H: Array) -> Array:
    """Return ℂ : H [e, g, 3, 3] for ℂ [e, g, 9, 9]."""
    return (T @ H.reshape(*H.shape[:2], 9, 1)).reshape(H.shape)


# Each takes a part, F and C at each of the positions of the form, and its other arrays [e, k, 3].
INTEGRALS: dict[Form, Callable[..., Array]] = {
    forms.VALUE: energies,
    forms.GRADIENT: _forces,
    forms.HESSIAN: _stiffness,
    forms.SECANT: _secants,
    forms.SECANT_RATE: _secant_rates,
    forms.THIRD: _third,
    forms.MEAN_GRADIENT: _mean_forces,
    forms.DISCRETE_GRADIENT: _discrete_forces,
    forms.INCREMENT_GRADIENT: _discrete_forces,
    forms.DISCRETE_HESSIAN: _discrete_stiffness,
}


def flat(C: Array) -> Array:
    """Return C [e, g, 3, 3] as laws take it, [p, 3, 3]."""
    return np.ascontiguousarray(C).reshape(-1, 3, 3)


def contiguous(values: Array, shape: tuple[int, ...]) -> Array:
    """Return what a law has returned in the given shape, for a compiled loop."""
    return np.ascontiguousarray(values, dtype=float).reshape(shape)
