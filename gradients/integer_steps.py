"""Explicit steps on integers, which return to the same bits: D. Levesque, L. Verlet, J. Stat. Phys. 72 (1993) 519-537.

With positions Q in units of δq and half-step velocities V in units of δv, both 64-bit integers,

    Q ← Q + rint(h δv/δq V),    V ← V + rint(−h M⁻¹ ∇V(Q δq)/δv)

are leapfrog steps, those of explicit Newmark except rounding to some 10⁻¹⁸ of the size of a system. Backwards the same
integers are subtracted in the opposite order. In numbers with a point they would drift away: after 10⁵ steps by
millimetres.
"""

from __future__ import annotations

import math
from typing import final

import numpy as np

from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.assembly.calls import table_of
from symplex.fem.compiled.call import call_back
from symplex.fem.compiled.callbacks import Callback
from symplex.fem.compiled.kernels import formula, kernel
from symplex.fem.form_table import form_table, write_gradient
from symplex.fem.system import State, System

_BITS, _ROOM = 61, 64.0  # of positions at most, and how many times farther than at the start these may go


@final
class IntegerSteps:
    """A system in explicit steps on integers.

    Parameters
    ----------
    system : System
    state : State
        Where it begins, with accelerations.
    h : float
        The step in s.

    Raises
    ------
    InvalidSystem
        If something acts that depends on more than positions.
    """

    def __init__(self, system: System, state: State, h: float):
        if system.loads or system.moving:
            raise InvalidSystem(
                'gradient: states="walk back" by explicit steps is known without loads and moving supports, got '
                f"{next(iter((*system.loads, *system.moving.motions)))!r}. Leave it out."
            )
        table = form_table(system)
        self._system, self._h = system, h
        self.inverse_mass = np.where(system.fixed, 0.0, 1.0 / np.asarray(system.mass)[:, None])
        size = float(np.abs(state.q).max()) or 1.0
        self.limit = 2.0 ** math.ceil(math.log2(_ROOM * size))
        dq = self.limit * 2.0**-_BITS
        self.numbers = h, dq, 2.0 ** math.floor(math.log2(dq / h))  # h, δq, δv: V changes Q by less than itself
        self.positions = np.rint(state.q / dq).astype(np.int64)
        self.velocities = np.rint((state.v + 0.5 * h * state.a) / self.numbers[2]).astype(np.int64)
        self.velocities[system.fixed] = 0
        self.q, self.a = (self.positions * dq)[None], state.a[None].copy()
        self.gradient, self._callback = np.zeros_like(state.q), Callback(self._find_gradient)
        energies = (self.gradient, table_of([])) if table is None else (table.constant, table.rows)
        self.energies = (*energies, table is None, self._callback.address)
        self._table = table  # whose rows have to live

    def _find_gradient(self, number: int) -> None:
        self._system.gradient(self.q[0], self.gradient)

    def state(self, t: float) -> State:
        """Return the present state, at a time in s."""
        h, _, dv = self.numbers
        a = np.where(self._system.fixed, 0.0, self.a[0])
        return State(t, self.q[0].copy(), self.velocities * dv - 0.5 * h * a, a)

    def advance(self, n: int) -> None:
        """Take n steps.

        Raises
        ------
        StepFailed
            If forces are not finite, or something goes too far.
        """
        state = self.positions, self.velocities, self.q[0], self.a[0], self.gradient
        if _advance(n, *self.numbers, self.limit, *state, self.inverse_mass, *self.energies):
            self._callback.raise_failure()
            self._system.gradient(self.q[0])  # says of which stencil forces are not finite
            raise StepFailed(
                f"gradient: something goes farther than {self.limit:g} m, or has no finite force. Take a shorter step, "
                'or leave out states="walk back".'
            )


@kernel
def _advance(
    n, h, dq, dv, limit, positions, velocities, q, a, gradient, inverse_mass, constant, rows, from_python, back
):
    """Take n steps; return how many were left to be taken when forces were not finite, or something went too far."""
    x, v, at, inverse, force = positions.ravel(), velocities.ravel(), q.ravel(), inverse_mass.ravel(), gradient.ravel()
    acceleration = a.ravel()
    for step in range(n):
        far = 0.0
        for i in range(len(x)):
            x[i] += drift(v[i], h, dq, dv)
            at[i] = x[i] * dq
            far = max(far, abs(at[i]))
        if far > limit or not found(constant, rows, q, gradient, from_python, back):
            return n - step
        for i in range(len(x)):
            acceleration[i] = -force[i] * inverse[i]
            v[i] += kick(acceleration[i], h, dv)
    return 0


@formula
def found(constant, rows, q, gradient, from_python, back):
    """Set the gradient at q, by rows or called back; return whether it is finite."""
    if from_python:
        return call_back(back, 0) == 0
    return np.isfinite(write_gradient(constant, rows, q, gradient))


@formula
def drift(v, h, dq, dv):
    """Return by how many δq a position changes in a step with a velocity in δv."""
    return np.int64(np.rint(h * dv / dq * v))


@formula
def kick(a, h, dv):
    """Return by how many δv a velocity changes in a step with an acceleration."""
    return np.int64(np.rint(h / dv * a))


@formula
def step_back(h, dq, dv, positions, velocities, q, a, gradient, inverse_mass, constant, rows, from_python, back):
    """Take back a step, at whose end q and a are those of the integers."""
    x, v, at, inverse, force = positions.ravel(), velocities.ravel(), q.ravel(), inverse_mass.ravel(), gradient.ravel()
    acceleration = a.ravel()
    for i in range(len(x)):
        v[i] -= kick(acceleration[i], h, dv)
        x[i] -= drift(v[i], h, dq, dv)
        at[i] = x[i] * dq
    found(constant, rows, q, gradient, from_python, back)
    for i in range(len(x)):
        acceleration[i] = -force[i] * inverse[i]
