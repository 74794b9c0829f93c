"""Newmark's family: central differences, and the implicit members by name."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, final

import numpy as np

from symplex.base.arguments import checked
from symplex.base.columns import Column
from symplex.base.quantities import between, positive, positive_or_auto
from symplex.errors import StepFailed, UnstableStep
from symplex.fem import threads
from symplex.fem.energy import Array
from symplex.fem.gradient_table import gradient_table, write_gradient
from symplex.fem.kernels import formula, inlined, kernel
from symplex.fem.load_table import load_loops, write_load
from symplex.fem.system import State, System
from symplex.fem.team import Phases
from symplex.time.implicit.generalized_alpha import newmark_scheme
from symplex.time.implicit.implicit import IMPLICIT, IMPLICIT_COLUMNS, ImplicitMotion
from symplex.time.implicit.scheme import Scheme
from symplex.time.integrator import STEPS, FixedStepIntegrator
from symplex.time.motion import FixedStepMotion
from symplex.time.solvers.newton import Newton
from symplex.time.stability import latent_frequency, require_stable, stable_step
from symplex.time.steps import Steps
from symplex.time.traits import Form, Trait

_STENCILS_AT_ONCE = 1_000_000  # in a compiled loop, which hears no signal: some 20 ms
_NUMBERS_AT_ONCE = 512


@checked
@final
@dataclass(frozen=True)
class Newmark(FixedStepIntegrator["NewmarkMotion | ImplicitMotion"]):
    """Newmark's method: explicit with β = 0 and γ = ½ (the default), otherwise implicit.

    q1 = q0 + dt v0 + dt² [(½ − β) a0 + β a1],  v1 = v0 + dt [(1 − γ) a0 + γ a1],  M a1 = f(t1, q1, v1) − ∇V(q1)

    The explicit member is central differences, or velocity Verlet. It is symplectic and keeps both momenta, but energy
    only nearly. Loads that depend on velocity see the prediction v0 + dt a0, which keeps the second order.

    The implicit members keep linear momentum. Those with γ = ½ are of second order and symmetric, the others of first
    order, with damping if γ > ½. For linear systems they are stable at any step if 2β ≥ γ, otherwise up to
    dt ω = (γ/2 − β)^(−½). Members with a name: `trapezoidal`, `linear_acceleration`, `fox_goodwin`.

    Parameters
    ----------
    dt : float or "auto"
        Step in s; ``"auto"``, for the explicit member, takes ``safety`` times the stability limit at the start, or
        less to resolve contact.
    beta, gamma : float
        β ≥ 0 and γ ≥ ½; with β = 0 only γ = ½.
    safety : float, default 0.8
        For ``dt="auto"``: the frequencies of a body grow when it is compressed.
    contact_safety : float, default 0.2
        For ``dt="auto"`` with penalty contact: the same for one node on the contact's stiffness. A node should bounce
        in some eight steps: just below the limit the motion is stable, but a hard impact errs in energy (at 0.8 by
        10 to 40 per cent in the oblique impact of Gonzalez, Schmidt and Ortiz, at 0.2 by 0.05 to 0.2 per cent). Between
        bodies, where both give way, 2.5 times that (`Energy.resolved_share`).
    newton : Newton, optional
        How the equations of the implicit members are solved.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    dt: Annotated[float | Literal["auto"], positive_or_auto("s")] = "auto"
    beta: Annotated[float, between(0.0)] = 0.0
    gamma: Annotated[float, between(0.5)] = 0.5  # less is never stable
    safety: Annotated[float, positive("1", 1.0)] = 0.8
    contact_safety: Annotated[float, positive("1", 1.0)] = 0.2
    newton: Newton = field(default=Newton(), kw_only=True)

    @classmethod
    def trapezoidal(cls, dt: float, **options: Any) -> Newmark:
        """Return the member with β = ¼: the average acceleration, stable for linear systems at any step."""
        return cls(dt, beta=0.25, **options)

    @classmethod
    def linear_acceleration(cls, dt: float, **options: Any) -> Newmark:
        """Return the member with β = 1/6: the acceleration is linear over the step; stable up to dt ω = 2√3."""
        return cls(dt, beta=1.0 / 6.0, **options)

    @classmethod
    def fox_goodwin(cls, dt: float, **options: Any) -> Newmark:
        """Return the member with β = 1/12: linear undamped periods to fourth order; stable up to dt ω = √6."""
        return cls(dt, beta=1.0 / 12.0, **options)

    @property
    def explicit(self) -> bool:
        """Whether β = 0."""
        return self.beta == 0.0

    @property
    def columns(self) -> tuple[Column, ...]:
        """What is counted: steps, or what implicit methods count."""
        return (STEPS,) if self.explicit else IMPLICIT_COLUMNS

    @property
    def splits(self) -> bool:
        """Whether β = 0: of drifts and changes of velocity."""
        return self.explicit

    @property
    def order(self) -> float:
        """2 for γ = ½, else 1."""
        return 2 if self.gamma == 0.5 else 1

    @property
    def conserves(self) -> frozenset[str]:
        """Momentum, and by the explicit member angular momentum and the symplectic form as well."""
        more = {"angular momentum", "symplectic form"} if self.explicit else set()
        return frozenset({"momentum", *more})

    @property
    def symmetric(self) -> bool:
        """Whether γ = ½."""
        return self.gamma == 0.5

    @property
    def needs(self) -> frozenset[Form]:
        """Hessians by the implicit members only."""
        hessian: set[Form] = set() if self.explicit else {"hessian"}
        return frozenset({"gradient", *hessian})

    @property
    def takes(self) -> frozenset[Trait]:
        """A consistent mass and barriers by the implicit members only, compositions of the symmetric ones."""
        composition: set[Trait] = {"composition"} if self.symmetric else set()
        return (IMPLICIT - {"consistent mass", "barriers"} if self.explicit else IMPLICIT) | composition

    def __post_init__(self):
        if self.explicit and self.gamma != 0.5:
            raise ValueError(f"Newmark: gamma must be 0.5 where beta is 0, got {self.gamma:g}.")
        if self.dt == "auto" and not self.explicit:
            raise ValueError('Newmark: dt must be a number (s) where beta is above 0, got "auto".')

    def scheme(self, h: float) -> Scheme:
        """Return a step of size h in s of an implicit member."""
        return newmark_scheme(h, self.beta, self.gamma)

    def _motion(self, system: System, t0: float, dt: float, n: int) -> NewmarkMotion | ImplicitMotion:
        return NewmarkMotion(system, t0, dt, n) if self.explicit else ImplicitMotion(self, system, t0, dt, n)

    def _step_size(self, system: System, state: State) -> float:
        """Return dt in s, checked against the stability limit where there is one."""
        if not self.explicit:
            require_stable(system, state, float(self.dt), self.beta, self.gamma)
            return float(self.dt)
        limit = stable_step(system, state.q, system.held(state.t, state.v))
        contact = latent_frequency(system, resolved=True)
        advised = min(self.safety * limit, self.contact_safety * 2.0 / contact if contact > 0 else math.inf)
        if self.dt == "auto":
            if advised == math.inf:
                raise StepFailed(
                    'Newmark: dt = "auto" needs an energy with stiffness where something is free; give dt in seconds.'
                )
            return advised
        if self.dt > limit:
            raise UnstableStep(
                f"dt = {self.dt:.4g} s is above the stability limit of explicit Newmark, {limit:.4g} s. "
                f'Try dt = {advised:.3g} s, or dt = "auto".'
            )
        return float(self.dt)


class NewmarkMotion(FixedStepMotion):
    """A motion by explicit Newmark; see `Newmark`."""

    loads_at_ends = True

    def __init__(self, system: System, t0: float, dt: float, n: int = 0):
        super().__init__(system, t0, dt, n)
        self._gradient = np.zeros((system.n_nodes, system.dim))  # less the loads
        self._mass = np.asarray(system.mass)[:, None]
        self._inverse_mass = np.where(system.fixed, 0.0, 1.0 / self._mass)
        self._parts = Phases(threads.parts(system.n_nodes))
        self._table, self._loads = gradient_table(system), None
        if self._table is not None and not (self._moving or self._internal):
            self._loads = load_loops(system, derivatives=False)
        if self._table is not None and self._loads is not None:
            self._at_once = max(_STENCILS_AT_ONCE // max(self._table.stencils + self._loads.stencils, 1), 1)
            self._rooms = np.zeros((3, system.n_nodes, system.dim))

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that move, with the forces where supports do work against them."""
        return super().arrays() | ({"gradient": self._gradient} if self._moving else {})

    def begin(self, q: Array, v: Array) -> None:
        """Take positions and velocities [n, dim] of the start, and find all else that moves."""
        super().begin(q, v)
        if self._moving:
            self.system.gradient(q, self._gradient)
            self._gradient -= self._work.acting.sum(axis=0)
            self._internal.subtract_forces(q, q, 0.0, self._gradient, mean=False)

    def _run(self, n_steps: int) -> None:
        """Take n_steps steps, with one pass over the nodes in each where that is all there is to do."""
        if self._work or self._loads is not None:
            super()._run(n_steps)
        elif n_steps:
            self._run_over_nodes(n_steps)

    def _compiled_steps(self, n: int, steps: Steps) -> int:
        """Take up to n steps, as long as forces are finite: `_step` says of which stencil they are not, and stops."""
        table, loads = self._table, self._loads
        if table is None or loads is None:
            return 0
        arrays = self._q, self._v, self._a, self._gradient, self._inverse_mass, table.constant, table.rows
        if not self.system.loads:
            return _steps(n, steps.sizes, *arrays)
        n, factors = steps.load_factors(n, loads, 1.0)
        return _loaded_steps(n, steps.sizes, *arrays, loads.table, factors, self._rooms, *self._work.buffers())

    def _step(self, t: float, h: float) -> None:
        if self._compiled_steps(1, Steps.one(t, h)):
            return
        if self._work:
            self._step_with_work(t + h, h)
            return
        self._move(h, kick=False, drift=True)
        self.system.gradient(self._q, self._gradient)
        self._move(h, kick=True, drift=False)

    def _run_over_nodes(self, n_steps: int) -> None:
        """Take n_steps steps: the end of one and the begin of the next are one pass over the nodes."""
        self._move(self.dt, kick=False, drift=True)
        for left in range(n_steps, 0, -1):
            try:
                for energy in self.system.energies.values():  # to what is clear
                    energy.add_gradient(self._q, self._gradient)
            except StepFailed as error:
                raise self._stopped(error, self.t, self.dt) from None
            self._move(self.dt, kick=True, drift=left > 1)
            self.n += 1

    def _move(self, h: float, kick: bool, drift: bool) -> None:
        """Move all nodes as `_move` does, on several threads where these are many: each node is moved alone."""
        arrays = self._q, self._v, self._a, self._gradient, self._inverse_mass
        self._parts.run(_move, *arrays, h, kick, drift)

    def _step_with_work(self, t: float, h: float) -> None:
        """Take a step to the time t in s with loads, inelastic parts or moving supports, and add up their work."""
        q, v, a, gradient, given = self._q, self._v, self._a, self._gradient, self._moving.mask
        q0, v0, gradient0 = q.copy(), v.copy(), gradient.copy()
        predicted = v + h * a
        self._move(h, kick=False, drift=True)
        if self._moving:
            np.copyto(q, self._origin + self._moving.displacements(t), where=given)
            np.copyto(predicted, self._moving.velocities(t), where=given)
        self._foresee(predicted)
        table = self._table
        if table is None or not np.isfinite(_set_gradient(table.constant, table.rows, q, gradient)):
            self.system.gradient(q, gradient)
        gradient -= self._work.evaluate(t, q, predicted)
        if self._internal:
            self._internal.subtract_forces(q0, q, h, gradient, mean=False)
            self._work.add_dissipated(self._internal.advance(q0, q, h))
        self._move(h, kick=True, drift=False)
        self._work.add_mean(q - q0)
        if self._moving:
            np.copyto(v, predicted, where=given)
            np.copyto(a, self._moving.accelerations(t), where=given)
            on_mass = 0.5 * self._mass * (v - v0) * (v + v0)
            self._work.add_supports(0.5 * (gradient0 + gradient) * (q - q0) + on_mass)

    def _foresee(self, predicted: Array) -> None:
        """Take note of the velocities [n, dim] that loads will see in the step, before forces are found."""

    def split(self, t: float, h: float, drifts: Array, changes: Array) -> None:
        """Move by a step of the size h in s from the time t, in drifts [s] between changes of velocity [s + 1]."""
        if self.compiled_splits(1, h, drifts, changes):
            return
        self._v += h * changes[0] * self._a
        try:
            for drift, change in zip(drifts, changes[1:], strict=True):
                self._q += h * drift * self._v
                self.system.gradient(self._q, self._gradient)
                np.multiply(self._gradient, -self._inverse_mass, out=self._a)
                self._v += h * change * self._a
        except StepFailed as error:
            raise self._stopped(error, t, h) from None

    def compiled_splits(self, n: int, h: float, drifts: Array, changes: Array) -> int:
        """Take up to n steps as `split` does, as long as forces are finite."""
        table = self._table
        if table is None or self._work:
            return 0
        arrays = self._q, self._v, self._a, self._gradient, self._inverse_mass, self._rooms
        return _split_steps(n, h * drifts, h * changes, *arrays, table.constant, table.rows)

    def observe(self, t: float) -> None:
        """Nothing: the accelerations are there."""


@kernel
def _set_gradient(constant, rows, q, gradient):
    """Set the gradient, as compiled steps do; return a sum that is finite if all forces are."""
    return write_gradient(constant, rows, q, gradient)


@kernel
def _steps(n, sizes, q, v, a, gradient, inverse_mass, constant, rows):
    """Take n steps, as `_step` does; return how many had finite forces: all is before the next one then."""
    numbers = q.ravel(), v.ravel(), a.ravel(), gradient.ravel(), inverse_mass.ravel()
    for step in range(n):
        dt = sizes[step % len(sizes)]
        _drift(*numbers[:4], dt)
        if not np.isfinite(write_gradient(constant, rows, q, gradient)):
            for i in range(q.shape[0]):
                for j in range(q.shape[1]):
                    q[i, j] -= dt * v[i, j]
                    v[i, j] -= 0.5 * dt * a[i, j]
            return step
        _kick(*numbers[1:], dt)
    return n


@kernel
def _split_steps(n, drifts, changes, q, v, a, gradient, inverse_mass, rooms, constant, rows):
    """Take n steps of drifts between changes of velocity [s]; return how many had finite forces.

    All is before the next one then.
    """
    q_, v_, a_, g_, m_ = q.ravel(), v.ravel(), a.ravel(), gradient.ravel(), inverse_mass.ravel()
    q0, v0, a0 = rooms[0].ravel(), rooms[1].ravel(), rooms[2].ravel()
    for step in range(n):
        for i in range(len(q_)):
            q0[i], v0[i], a0[i] = q_[i], v_[i], a_[i]
            v_[i] += changes[0] * a_[i]
        for s in range(len(drifts)):
            for i in range(len(q_)):
                q_[i] += drifts[s] * v_[i]
            if not np.isfinite(write_gradient(constant, rows, q, gradient)):
                for i in range(len(q_)):
                    q_[i], v_[i], a_[i] = q0[i], v0[i], a0[i]
                return step
            for i in range(len(q_)):
                a_[i] = -g_[i] * m_[i]
                v_[i] += changes[s + 1] * a_[i]
    return n


# Places of vectors [n, dim] that steps with loads write to: positions at their beginning, the velocities that loads
# see, and the sum of the loads.
_START, _SEEN, _SUM = range(3)


@kernel
def _loaded_steps(n, sizes, q, v, a, gradient, inverse_mass, constant, rows, loads, factors, rooms, acting, works):
    """Take n steps with loads, as `_step_with_work` does; return how many had finite forces of energies.

    All is before the next one then. Loads act with the forces acting [l, n, dim] at the beginning, and with factors
    [s, l] at the ends of steps in turn; the work of each is added to works [l].
    """
    numbers = q.ravel(), v.ravel(), a.ravel(), gradient.ravel(), inverse_mass.ravel()
    start, seen, total = rooms[_START].ravel(), rooms[_SEEN].ravel(), rooms[_SUM].ravel()
    for step in range(n):
        dt = sizes[step % len(sizes)]
        # Loops apart, so that products are rounded before they are added, as in `_step_with_work`, which takes the
        # steps of a system that is divided among ranks.
        for i in range(len(seen)):
            start[i] = numbers[0][i]
            seen[i] = dt * numbers[2][i]
        for i in range(len(seen)):
            seen[i] = numbers[1][i] + seen[i]
        _drift(*numbers[:4], dt)
        if not np.isfinite(write_gradient(constant, rows, q, gradient)):
            for i in range(len(start)):
                numbers[0][i] = start[i]
                numbers[1][i] -= 0.5 * dt * numbers[2][i]
            return step
        for i in range(len(total)):
            total[i] = 0.0
        for k in range(len(works)):
            force = acting[k].ravel()
            work = 0.0
            for i in range(len(total)):
                work += force[i] * (numbers[0][i] - start[i])
            write_load(loads, k, factors[step % len(factors), k], q, q, q, rooms[_SEEN], acting[k])
            for i in range(len(total)):
                work += force[i] * (numbers[0][i] - start[i])
                total[i] += force[i]
            works[k] += 0.5 * work
        for i in range(len(total)):
            numbers[3][i] -= total[i]
        _kick(*numbers[1:], dt)
    return n


@kernel
def _move(q, v, a, gradient, inverse_mass, dt, kick, drift, first, last):
    """Kick the nodes first … last − 1, if wanted, and let them drift, if wanted; return 0.

    Both together, in this order, end a step and begin the next.
    """
    q, v, a, gradient = (
        q[first:last].ravel(),
        v[first:last].ravel(),
        a[first:last].ravel(),
        gradient[first:last].ravel(),
    )
    inverse_mass = inverse_mass[first:last].ravel()
    # Both have loops of their own, over what is in the first cache: in one loop dt/2 a would be rounded before it is
    # added, apart it is not, and a run would depend on its portions.
    for start in range(0, len(q), _NUMBERS_AT_ONCE):
        end = min(start + _NUMBERS_AT_ONCE, len(q))
        if kick:
            _kick(v[start:end], a[start:end], gradient[start:end], inverse_mass[start:end], dt)
        if drift:
            _drift(q[start:end], v[start:end], a[start:end], gradient[start:end], dt)
    return 0.0


@formula
def _kick(v, a, gradient, inverse_mass, dt):
    """Do a = −M⁻¹ gradient, v += dt/2 a for numbers [size], with the loads taken off the gradient."""
    for i in range(len(v)):
        a[i], v[i] = kicked(v[i], gradient[i], inverse_mass[i], dt)


@formula
def _drift(q, v, a, gradient, dt):
    """Do v += dt/2 a, q += dt v for numbers [size], and clear the gradient for that at q."""
    for i in range(len(q)):
        q[i], v[i] = drifted(q[i], v[i], a[i], dt)
        gradient[i] = 0.0


@inlined
def kicked(v, gradient, inverse_mass, dt):
    """Return a = −M⁻¹ gradient and v + dt/2 a."""
    a = -gradient * inverse_mass
    return a, v + 0.5 * dt * a


@inlined
def drifted(q, v, a, dt):
    """Return q + dt (v + dt/2 a) and v + dt/2 a."""
    v += 0.5 * dt * a
    return q + dt * v, v
