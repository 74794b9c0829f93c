"""Elements whose dilatation is its mean over the element: they do not lock if nearly incompressible.

With the weights w and J_q = √det C_q at the points of quadrature, and the mean J̄ = Σ w J_q / Σ w,

    φ = Σ w W(C̃_q),    C̃_q = ρ_q C_q,    ρ_q = (J̄/J_q)^(2/3),

a function of all C_q of the element together. Its stresses S_q = (2/w) ∂φ/∂C_q are, with S̃ = S(C̃) of the law,
a = S̃ : C̃/3, P = Σ w a and π_q = w J_q / Σ w J_q,

    S_q = ρ S̃ + (P π/w − a) C⁻¹,

which stand in all sums over points for those of the law. They change by ½ L : dC of their own point, with ℂ̃ = ℂ(C̃),
Y = ⅔ S̃ + ⅓ ℂ̃ : C̃, κ = Y : C̃/3,

    L = ρ² ℂ̃ − ρ (Y ⊗ C⁻¹ + C⁻¹ ⊗ Y) + (κ + P π/w) C⁻¹ ⊗ C⁻¹ − 2 (P π/w − a) C⁻¹ ⊙ C⁻¹,

and by (Z − P U) du + U (dz + κ̄ du) with all others, where du = Σ w ½ U : dC and dz = Σ w ½ Z : dC,

    U = π/w C⁻¹,    Z = ρ Y − κ C⁻¹,    κ̄ = Σ w κ.

The discrete gradient takes the mean of S_q while all C_q of an element go straight from their start to their end, by
Gauss' rule: it does the work of the energy, and keeps momenta. There is no third derivative.

Source: Simo, Taylor and Pister (1985) for the mean dilatation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from symplex.fem.assembly import forms
from symplex.fem.assembly.forms import Form
from symplex.fem.assembly.pattern import Array
from symplex.fem.solids import element_kernels, tensors
from symplex.fem.solids.numpy_forms import Part, contiguous, flat, integrated_forces
from symplex.meshes.quadrature import gauss_between

_GAUSS = gauss_between(8).T.tolist()


class _State(NamedTuple):
    """What is known at C [e, g, 3, 3]."""

    J: Array
    mean: Array
    rho: Array
    modified: Array

    @classmethod
    def at(cls, part: Part, C: Array) -> _State:
        J = np.sqrt(tensors.determinants(C))
        mean = (part.weights * J).sum(axis=1) / part.weights.sum(axis=1)
        rho = np.cbrt(mean[:, None] / J) ** 2
        return cls(J, mean, rho, rho[:, :, None, None] * C)


class _Stresses(NamedTuple):
    """S, and what its changes are made of, at C [e, g, 3, 3]."""

    S: Array
    law: Array  # S̃
    inverse: Array
    a: Array
    share: Array  # π/w
    pressure: Array  # P [e]


def energies(part: Part, F: Array, C: Array) -> Array:
    """Return φ [e]."""
    modified = _State.at(part, C).modified
    return (part.material.energy_density(flat(modified)).reshape(part.weights.shape) * part.weights).sum(axis=1)


def stress(part: Part, C: Array) -> Array:
    """Return S_q [e, g, 3, 3]."""
    return _stresses(part, C, _State.at(part, C)).S


def _stresses(part: Part, C: Array, at: _State) -> _Stresses:
    law = contiguous(part.material.stress(flat(at.modified)), C.shape)
    inverse = np.asarray(np.linalg.inv(C), dtype=float)
    a = np.einsum("egij,egij->eg", law, at.modified) / 3.0
    pressure = (part.weights * a).sum(axis=1)
    share = at.J / (at.mean * part.weights.sum(axis=1))[:, None]
    S = at.rho[:, :, None, None] * law + (pressure[:, None] * share - a)[:, :, None, None] * inverse
    return _Stresses(S, law, inverse, a, share, pressure)


class _Slopes(NamedTuple):
    """How the stresses change: L, U, Z, P and κ̄."""

    S: Array
    L: Array
    U: Array
    Z: Array
    pressure: Array
    kappa: Array

    @classmethod
    def at(cls, part: Part, C: Array) -> _Slopes:
        state = _State.at(part, C)
        found = _stresses(part, C, state)
        T = contiguous(part.material.tangent(flat(state.modified)), (*C.shape, 3, 3))
        rho, A = state.rho[:, :, None, None], found.inverse
        Y = (2.0 * found.law + np.einsum("egijkl,egkl->egij", T, state.modified)) / 3.0
        kappa = np.einsum("egij,egij->eg", Y, state.modified) / 3.0
        coupled = found.pressure[:, None] * found.share
        L = (rho**2)[..., None, None] * T
        both = np.einsum("egij,egkl->egijkl", rho * Y, A)
        L -= both + np.einsum("egijkl->egklij", both)
        L += np.einsum("eg,egij,egkl->egijkl", kappa + coupled, A, A)
        twice = np.einsum("egik,egjl->egijkl", A, A)
        L -= (coupled - found.a)[:, :, None, None, None, None] * (twice + twice.swapaxes(4, 5))
        U = found.share[:, :, None, None] * A
        Z = rho * Y - kappa[:, :, None, None] * A
        return cls(found.S, L, U, Z, found.pressure, (part.weights * kappa).sum(axis=1))


# -- forms ----------------------------------------------------------------------------------------------------------


def _forces(part: Part, F: Array, C: Array) -> Array:
    return integrated_forces(part, F, stress(part, C))


def _mean_forces(part: Part, F0: Array, C0: Array, F1: Array, C1: Array) -> Array:
    return integrated_forces(part, 0.5 * (F0 + F1), stress(part, 0.5 * (C0 + C1)))


def _discrete_forces(part: Part, F0: Array, C0: Array, F1: Array, C1: Array) -> Array:
    means = sum(w * stress(part, C0 + s * (C1 - C0)) for s, w in _GAUSS)
    return integrated_forces(part, 0.5 * (F0 + F1), np.asarray(means))


def _stiffness(part: Part, F: Array, C: Array) -> Array:
    slopes = _Slopes.at(part, C)
    return _integrated(part, F, F, slopes.S, slopes.L, 1.0) + _coupling(part, F, F, slopes)


def _discrete_stiffness(part: Part, F0: Array, C0: Array, F1: Array, C1: Array) -> Array:
    F, S, L, coupling = 0.5 * (F0 + F1), np.zeros_like(C0), np.zeros((*C0.shape, 3, 3)), 0.0
    for s, w in _GAUSS:
        slopes = _Slopes.at(part, C0 + s * (C1 - C0))
        S += w * slopes.S
        L += s * w * slopes.L
        coupling = coupling + s * w * _coupling(part, F, F1, slopes)
    return _integrated(part, F, F1, S, L, 0.5) + coupling


def _integrated(part: Part, left: Array, right: Array, S: Array, T: Array, geometric: float) -> Array:
    size = 3 * part.gradients.shape[3]
    out = np.empty((len(left), size, size))
    element_kernels.integrate_stiffness(left, right, S, T, part.weights, part.gradients, geometric, out)
    return out


def _coupling(part: Part, left: Array, right: Array, slopes: _Slopes) -> Array:
    """Return (z − P u) ⊗ u' + u ⊗ (z' + κ̄ u') of the nodal vectors Σ w F U ∇N_a and Σ w F Z ∇N_a."""
    u, z = (integrated_forces(part, left, X).reshape(len(left), -1) for X in (slopes.U, slopes.Z))
    u1, z1 = (integrated_forces(part, right, X).reshape(len(left), -1) for X in (slopes.U, slopes.Z))
    first = z - slopes.pressure[:, None] * u
    last = z1 + slopes.kappa[:, None] * u1
    return first[:, :, None] * u1[:, None] + u[:, :, None] * last[:, None]


def _secants(part: Part, F: Array, C: Array) -> Array:
    return element_kernels.integrated_secants(stress(part, C), part.weights, part.gradients)


def _secant_rates(part: Part, F: Array, C: Array, v: Array) -> Array:
    slopes = _Slopes.at(part, C)
    S = element_kernels.stress_rates(slopes.L, F, v, part.gradients)
    du, dz = (np.einsum("eai,eai->e", integrated_forces(part, F, X), v) for X in (slopes.U, slopes.Z))
    S += du[:, None, None, None] * (slopes.Z - slopes.pressure[:, None, None, None] * slopes.U)
    S += (dz + slopes.kappa * du)[:, None, None, None] * slopes.U
    return element_kernels.integrated_secants(S, part.weights, part.gradients)


INTEGRALS: dict[Form, Callable[..., Array]] = {
    forms.VALUE: energies,
    forms.GRADIENT: _forces,
    forms.HESSIAN: _stiffness,
    forms.SECANT: _secants,
    forms.SECANT_RATE: _secant_rates,
    forms.MEAN_GRADIENT: _mean_forces,
    forms.DISCRETE_GRADIENT: _discrete_forces,
    forms.INCREMENT_GRADIENT: _discrete_forces,
    forms.DISCRETE_HESSIAN: _discrete_stiffness,
}
