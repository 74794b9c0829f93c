"""The symplectic two-form of the spherical pendulum, and how far a method is from keeping it.

Source: Simo and Gonzalez (1993), eqs. 8, 10 and 31. Their eq. 10 for the tangent space of P lacks a term: from π·q = 0
follows δπ·q + π·δq = 0. The two-form does not see the difference, for it takes no notice of δπ along q.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np

from symplex.fem.energies.energy import Array
from symplex.time.manifolds.manifold import ManifoldMethod
from symplex.time.manifolds.sphere import SphereState, SphericalPendulum, hat, some_normal

SphereFlow = Callable[[SphereState], SphereState]


def two_form(q: Array) -> Array:
    """Return J(q) [6, 6] with Ω(δz1, δz2) = δz1ᵀ J δz2 = q·(δq1 × δπ2 − δq2 × δπ1) (eq. 8)."""
    q_hat, zero = hat(q), np.zeros((3, 3))
    return np.block([[zero, -q_hat], [-q_hat, zero]])


def tangent_basis(state: SphereState) -> Array:
    """Return four columns (δq, δπ) [6, 4] that span the tangent space of P: δq·q = 0, δπ·q + π·δq = 0."""
    q, pi = state.q, state.pi
    first = some_normal(q)
    second = hat(q) @ first
    zero = np.zeros(3)
    moved = [np.concatenate([e, -(pi @ e) * q]) for e in (first, second)]
    turned = [np.concatenate([zero, e]) for e in (first, second)]
    return np.array([*moved, *turned]).T


def transition(flow: SphereFlow, state: SphereState, nudge: float = 1e-3) -> Array:
    """Return the images [6, 4] of the tangent basis at a state under the linearised map of states (eq. 30).

    By central differences of fourth order along curves in P, with the increment ``nudge`` in rad (and, for π, in
    kg m²/s). Their error is about 1e-12.
    """

    def image(direction: Array, size: float) -> Array:
        q = state.q + size * direction[:3]
        q /= sqrt(q @ q)
        pi = state.pi + size * direction[3:]
        end = flow(SphereState(state.t, q, pi - (pi @ q) * q))
        return np.concatenate([end.q, end.pi])

    def derivative(direction: Array) -> Array:
        near = image(direction, nudge) - image(direction, -nudge)
        far = image(direction, 2.0 * nudge) - image(direction, -2.0 * nudge)
        return (8.0 * near - far) / (12.0 * nudge)

    return np.array([derivative(direction) for direction in tangent_basis(state).T]).T


def symplectic_defect(
    method: ManifoldMethod[SphericalPendulum, SphereState],
    pendulum: SphericalPendulum,
    state: SphereState,
    dt: float,
    steps: int = 1,
) -> float:
    """Return how far some steps are from symplectic: max |Aᵀ J(q1) A − J(q0)| on the tangent space (eq. 31).

    The form pairs δq in rad with δπ in kg m²/s, and is 1 for a pair; an error of 1e-11 comes from differences.
    """

    def flow(start: SphereState) -> SphereState:
        for _ in range(steps):
            start = method.step(pendulum, start, dt)
        return start

    images, basis = transition(flow, state), tangent_basis(state)
    return float(np.abs(images.T @ two_form(flow(state).q) @ images - basis.T @ two_form(state.q) @ basis).max())
