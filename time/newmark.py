"""Newmark's method; of the family, the explicit member."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, final

import numpy as np
from numba import njit

from symplex.errors import InvertedElement, StepFailed, UnstableStep
from symplex.fem.system import State, System
from symplex.time.integrator import FixedStepMotion, Integrator
from symplex.time.stability import latent_frequency, stable_step


@final
@dataclass(frozen=True)
class Newmark(Integrator):
    """Newmark's method with β = 0 and γ = ½: central differences, in the form of velocity Verlet.

    v_½ = v0 + dt/2 a0,  q1 = q0 + dt v_½,  M a1 = f(t1, q1, v0 + dt a0) − ∇V(q1),  v1 = v_½ + dt/2 a1

    It is symplectic and keeps both momenta, but energy only nearly. Loads that depend on velocity see the
    prediction v0 + dt a0, which keeps the second order.

    Parameters
    ----------
    dt : float or "auto"
        Step in s; ``"auto"`` takes ``safety`` times the stability limit at the start, or less to resolve contact.
    beta, gamma : float
        Only 0 and ½ for now.
    safety : float, default 0.8
        For ``dt="auto"``: the frequencies of a body grow when it is compressed.
    contact_safety : float, default 0.2
        For ``dt="auto"`` with penalty contact: the same for one node on the contact's stiffness. A node should bounce
        in some eight steps: just below the limit the motion is stable, but a hard impact errs in energy (at 0.8 by
        10 to 40 per cent in the oblique impact of Gonzalez, Schmidt and Ortiz, at 0.2 by 0.05 to 0.2 per cent).

    Raises
    ------
    ValueError
        If a parameter is out of range, or not of the explicit member.
    """

    dt: float | Literal["auto"] = "auto"
    beta: float = 0.0
    gamma: float = 0.5
    safety: float = 0.8
    contact_safety: float = 0.2

    order = 2
    conserves = frozenset({"momentum", "angular momentum", "symplectic form"})
    symmetric = True

    def __post_init__(self):
        if (self.beta, self.gamma) != (0.0, 0.5):
            raise ValueError(
                f"Newmark: only the explicit member β = 0, γ = 1/2 is implemented; got β = {self.beta}, "
                f"γ = {self.gamma}."
            )
        for name, value in (("safety", self.safety), ("contact_safety", self.contact_safety)):
            if not 0.0 < value <= 1.0:
                raise ValueError(f"Newmark: {name} must be in (0, 1]; it is {value}.")
        if self.dt != "auto" and not (isinstance(self.dt, int | float) and math.isfinite(self.dt) and self.dt > 0):
            raise ValueError(f'Newmark: dt must be positive, or "auto"; it is {self.dt!r}.')

    def start(self, system: System, state: State) -> NewmarkMotion:
        """Return the motion that begins at the positions and velocities of a state.

        Its accelerations follow from these, and fixed coordinates are at rest, however the state was made.

        Raises
        ------
        UnstableStep
            If dt is above the stability limit.
        InvalidSystem
            If the mass is not lumped.
        StepFailed
            If dt is ``"auto"`` but nothing has stiffness.
        """
        motion = NewmarkMotion(system, state.t, self._step(system, state))
        v = np.where(system.fixed, 0.0, state.v)
        a = system.accelerations(system.force(state.t, state.q, v))
        motion._restore({"q": state.q, "v": v, "a": a})
        return motion

    def resume(self, system: System, checkpoint: Mapping[str, np.ndarray]) -> NewmarkMotion:
        """Return the motion that goes on from a checkpoint, bit-identically, with the step stored there."""
        t0, dt, n = float(checkpoint["t0"]), float(checkpoint["dt"]), int(checkpoint["n"])
        motion = NewmarkMotion(system, t0, dt, n)
        motion._restore(checkpoint)
        return motion

    def fit(self, system: System, state: State, interval: float) -> Newmark:
        """Return the method with the largest step not above its own that divides an interval in s.

        Raises
        ------
        UnstableStep, InvalidSystem, StepFailed
            As `start`.
        """
        # The tolerance keeps a dt that divides the interval but for rounding.
        steps = max(math.ceil(interval / self._step(system, state) * (1.0 - 1e-12)), 1)
        return replace(self, dt=interval / steps)

    def _step(self, system: System, state: State) -> float:
        limit = stable_step(system, state.q)
        contact = latent_frequency(system)
        advised = min(self.safety * limit, self.contact_safety * 2.0 / contact if contact > 0 else math.inf)
        if self.dt == "auto":
            if advised == math.inf:
                raise StepFailed('Newmark: dt = "auto" needs an energy with stiffness; give dt in seconds.')
            return advised
        if self.dt > limit:
            raise UnstableStep(
                f"dt = {self.dt:.4g} s is above the stability limit of explicit Newmark, {limit:.4g} s. "
                f'Try dt = {advised:.3g} s, or dt = "auto".'
            )
        return float(self.dt)


@final
class NewmarkMotion(FixedStepMotion):
    """A motion by explicit Newmark; see `Newmark`."""

    def __init__(self, system: System, t0: float, dt: float, n: int = 0):
        super().__init__(system, t0, dt, n)
        mass = system.lumped_mass("explicit Newmark")
        shape = (system.n_nodes, system.dim)
        self._q, self._v, self._a, self._gradient = (np.zeros(shape) for _ in range(4))
        self._inverse_mass = np.where(system.fixed, 0.0, 1.0 / mass[:, None])

    def _arrays(self) -> dict[str, np.ndarray]:
        return {"q": self._q, "v": self._v, "a": self._a}

    def _run(self, n_steps: int) -> None:
        system, q, v, a, gradient = self.system, self._q, self._v, self._a, self._gradient
        dt, inverse_mass, loads = self.dt, self._inverse_mass, list(self.system.loads.values())
        try:
            for _ in range(n_steps):
                v_predicted = v + dt * a if loads else v
                _drift(q, v, a, dt)
                system.gradient(q, gradient)
                for load in loads:
                    gradient -= load(self.t0 + (self.n + 1) * dt, q, v_predicted)
                _kick(v, a, gradient, inverse_mass, dt)
                self.n += 1
        except StepFailed as error:
            t = self.t0 + (self.n + 1) * dt
            told = f"Newmark stopped at t = {t:.6g} s (dt = {dt:.4g} s): {error}"
            if isinstance(error, InvertedElement):
                raise InvertedElement(told, error.element) from None
            raise StepFailed(told) from None


@njit(cache=True)
def _drift(q, v, a, dt):
    """Do v += dt/2 a, q += dt v."""
    for n in range(q.shape[0]):
        for i in range(q.shape[1]):
            v[n, i] += 0.5 * dt * a[n, i]
            q[n, i] += dt * v[n, i]


@njit(cache=True)
def _kick(v, a, gradient, inverse_mass, dt):
    """Do a = −M⁻¹ gradient, v += dt/2 a, with the loads taken off the gradient."""
    for n in range(v.shape[0]):
        for i in range(v.shape[1]):
            a[n, i] = -gradient[n, i] * inverse_mass[n, i]
            v[n, i] += 0.5 * dt * a[n, i]
