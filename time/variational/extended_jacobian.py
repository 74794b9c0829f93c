"""How well the equations of an energy-preserving variational step are conditioned."""

from __future__ import annotations

import numpy as np

from symplex.errors import InvalidSystem
from symplex.fem.energies.energy import Array
from symplex.fem.system import System

_LARGEST = 2000  # unknowns, of a full matrix
_NUDGE = 1e-5  # of h, in the derivative of the loads


def extended_jacobian(system: System, t: float, q: Array, v: Array, h: float) -> Array:
    """Return ∂(F, G)/∂(v, h) [k + 1, k + 1] of the equations of a step from q with the mean velocity v.

    F = M v + (h/2)(∇V − f) − p0,  G = ½ vᵀ M v + V − (h/2) f·v − E0,

    with V and f at t + h/2, q + (h/2) v: eqs. 34-35 of Sharma, Patil and Woolsey (2019) in the form of their eqs.
    48-49, for the k coordinates that are not fixed. Of loads only those with derivatives count as depending on v.

    Parameters
    ----------
    system : System
    t, h : float
        The beginning and size of the step in s.
    q, v : float64 [n, dim]
        Positions at its beginning in m, and its mean velocities in m/s.
    """
    free = ~system.fixed.ravel()
    if free.sum() >= _LARGEST:
        raise InvalidSystem(f"the condition number is that of a full matrix: {free.sum()} unknowns are too many.")
    middle = q + 0.5 * h * v
    hessian = system.hessian(middle)
    forces = system.gradient(middle) - _loads(system, t, q, v, h)
    # ∂f/∂v where v changes the midpoint as well
    blocks = system.pattern.zeros(system.dim)
    system.add_load_derivatives(t + 0.5 * h, middle, v, 0.5 * h, 1.0, blocks)
    f_v = system.pattern.matrix(blocks)
    f_h = (_loads(system, t, q, v, h * (1 + _NUDGE)) - _loads(system, t, q, v, h * (1 - _NUDGE))) / (2 * h * _NUDGE)
    mass = system.pattern.matrix(system.mass_values[:, None, None] * np.eye(system.dim))
    flat = v.ravel()
    F_v = (mass + 0.25 * h * h * hessian - 0.5 * h * f_v).toarray()
    F_h = 0.5 * forces.ravel() + 0.25 * h * (hessian @ flat) - 0.5 * h * f_h.ravel()
    G_v = mass @ flat + 0.5 * h * forces.ravel() - 0.5 * h * (f_v.T @ flat)
    G_h = 0.5 * system.dot(forces, v) - 0.5 * h * system.dot(f_h, v)
    return np.block([[F_v[np.ix_(free, free)], F_h[free, None]], [G_v[None, free], np.array([[G_h]])]])


def _loads(system: System, t: float, q: Array, v: Array, h: float) -> Array:
    """Return the loads [n, dim] in N in the middle of a step."""
    out = np.zeros_like(q)
    for load in system.loads.values():
        out += load(t + 0.5 * h, q + 0.5 * h * v, v)
    return out
