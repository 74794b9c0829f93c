"""A motion so slow that it is one equilibrium after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, final

import numpy as np

from symplex.base.arguments import checked
from symplex.base.columns import count_column, work_column
from symplex.base.quantities import Without, positive
from symplex.errors import NoEquilibrium, StepFailed
from symplex.fem.energies.energy import Array
from symplex.fem.energies.inelastic import part_with_history
from symplex.fem.outputs.snapshots import Observation
from symplex.fem.system import State, System
from symplex.time.equilibria.balance import works_of_slip
from symplex.time.equilibria.lost_stiffness import LostStiffness
from symplex.time.equilibria.static import DEFAULT, StaticEquilibrium, equilibrium_of
from symplex.time.integrator import STEPS, FixedStepIntegrator
from symplex.time.motion import FixedStepMotion
from symplex.time.solvers.newton import Newton
from symplex.time.totals import BALANCE
from symplex.time.traits import Trait

REST = work_column("work_rest")
_TAKES: frozenset[Trait] = frozenset(
    {
        *("supports", "moving supports", "jumping supports", "loads", "internal variables", "history"),
        *("consistent mass", "changing stencils", "barriers", "frames", "joints", "moving joints"),
    }
)


@checked
@final
@dataclass(frozen=True)
class Static(FixedStepIntegrator["StaticMotion"]):
    """One static equilibrium after the other, under loads and supports that change with time.

    Velocities and accelerations are zero, also where supports move. The first state is an equilibrium already, without
    friction. What damping would do is left out; internal variables are relaxed, but metals flow as they do along the
    path, which steps should resolve. The energy that vibrations would carry off where a shape is left, as it snaps
    through or was not in equilibrium at first, is ``work_rest``: what the total energy changes by, less the work of
    loads and supports, which is taken by the mean of the forces at both ends of a step, and what metals dissipate. Of a
    smooth path it is small by the second order of the step. Friction acts against the mean velocity of each step, so
    that what sticks creeps at less than its slip speed, with the pressure at the end of the step. ``balance`` is the
    total energy less all of these, and constant by that.

    Parameters
    ----------
    dt : float
        Step in s.
    newton : Newton, optional
        How the equations are solved.

    Raises
    ------
    ValueError
        If the step is not positive.
    """

    dt: Annotated[float, positive("s")]
    newton: Annotated[Newton, Without(("halvings",))] = field(default=DEFAULT, kw_only=True)

    kind = "static"
    order = 2
    conserves = frozenset()
    symmetric = False
    needs = frozenset({"gradient", "hessian"})
    columns = (STEPS, *map(count_column, ("corrections", "load_steps", "relaxed")), REST, BALANCE)

    @property
    def takes(self) -> frozenset[Trait]:
        """All but nodes without mass, constraints, composition and a thermostat."""
        return _TAKES

    def _motion(self, system: System, t0: float, dt: float, n: int) -> StaticMotion:
        return StaticMotion(system, t0, dt, n, self.newton)


@final
class StaticMotion(FixedStepMotion):
    """A sequence of static equilibria; see `Static`."""

    filters_steps = True
    loads_at_ends = True

    def __init__(self, system: System, t0: float, dt: float, n: int, newton: Newton):
        super().__init__(system, t0, dt, n)
        self._newton = newton
        self._counts, self._rest = np.zeros(3), np.zeros(1)
        self._slip = np.zeros((system.n_nodes, system.dim) if system.increment_loads else 0)
        self._at_rest = self._without_history()
        parts = {name: part for name, part in system.inelastic.items() if part.history}
        self._lost = LostStiffness(self._at_rest, parts, self._internal.values) if parts else None

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that move, counts, and the work of coming to rest."""
        slip = {"slip": self._slip} if len(self._slip) else {}
        return super().arrays() | {"counts": self._counts, "rest": self._rest} | slip

    @property
    def slip(self) -> Array | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The mean velocities [n, dim] in m/s of the last step, if there is friction."""
        return self._slip if len(self._slip) else None

    def begin(self, q: Array, v: Array) -> None:
        """Take the equilibrium next to positions q [n, dim], whatever the velocities v are."""
        before = self.system.kinetic(np.where(self.system.fixed, 0.0, v)) + self.system.potential(q)
        before += sum(part.stored(q, self._internal.values[name]) for name, part in self.system.inelastic.items())
        found = self._equilibrium(q, self.t, self.t)
        dissipated = self._internal.come_to_rest(q, found.state.q)
        super().begin(found.state.q, np.zeros_like(v))
        self._a.fill(0.0)
        if self._internal:
            self._work.add_dissipated(dissipated)
        self._rest[0] += self._potential() - before + sum(dissipated)

    def observe(self, t: float) -> None:
        """Set nothing: accelerations are zero."""

    def _step(self, t: float, h: float) -> None:
        q0 = self._q.copy()
        before, reactions = self._potential(), self._reactions(t, q0)
        self._q[...] = self._equilibrium(q0, t + h, t, h).state.q
        dissipated = self._internal.come_to_rest(q0, self._q)
        dq, done = self._q - q0, self._work.done.sum()
        if len(self._slip):
            self._slip[...] = dq / h
        if self._internal:
            self._work.add_dissipated(dissipated)
        if self._work.loads:
            self._work.evaluate(t + h, self._q, self._v)
            self._work.add_mean(dq)
            if self.system.increment_loads:
                self._work.add_loads(works_of_slip(self.system, t + h, q0, self._q, h))
        if self._moving:
            self._work.add_supports(0.5 * (reactions + self._reactions(t + h, self._q)) * dq)
        if self.system.joints.moving:
            ends = (self._works_of_joints(t, q0, dq), self._works_of_joints(t + h, self._q, dq))
            self._work.add_joints([0.5 * (one + other) for one, other in zip(*ends, strict=True)])
        self._rest[0] += self._potential() - before - (self._work.done.sum() - done)

    def _works_of_joints(self, t: float, q: Array, dq: Array) -> list[float]:
        """Return the work in J that what moves joints would do on an increment by the forces at positions q [n, 3]."""
        system, joints = self.system, self.system.joints.at(t)
        forces = system.gradient(q)
        for load in system.loads.values():
            forces -= load(t, q, np.zeros_like(q))
        multipliers = joints.balance(system, q, forces)
        return joints.works(joints.gradients(q), multipliers, dq)

    def _potential(self) -> float:
        """Return the energy in J that the system has at rest, with what parts with history store."""
        stored = (
            part.stored(self._q, self._internal.values[name])
            for name, part in self.system.inelastic.items()
            if part.history
        )
        return self.system.potential(self._q) + sum(stored)

    def _without_history(self) -> System:
        """Return the system in which parts with history are the energies of an increment from their present state."""
        system = self.system
        if part_with_history(system) is None:
            return system
        parts = system.inelastic.items()
        increments = {name: part.increment(self._internal.values[name]) for name, part in parts if part.history}
        without = {name: part for name, part in parts if not part.history}
        return system.with_parts({**system.energies, **increments}, inelastic=without)

    def _equilibrium(self, q: Array, t: float, since: float, h: float | None = None) -> StaticEquilibrium:
        """Return the equilibrium at a time in s, with friction in a step of the size h in s."""
        slip = None if h is None else (q, abs(h))
        try:
            found = equilibrium_of(self._at_rest, q, t, since, self._newton, slip, self._lost)
        except NoEquilibrium as error:
            raise StepFailed(f"at t = {t:.6g} s: {error}") from None
        self._counts += [found.corrections, found.steps, found.way == "relaxation"]
        return found

    def _reactions(self, t: float, q: Array) -> Array:
        """Return the forces [n, dim] in N of supports that move."""
        rest = np.zeros_like(q)
        if not self._moving:
            return rest
        known = self._internal.values
        at_rest = {k: known[k] if part.history else part.relaxed(q) for k, part in self.system.inelastic.items()}
        state = State(t, q, rest, rest, internal=at_rest)
        return Observation(self.system, state, slip=self.slip).reactions

    def statistics(self) -> dict[str, float]:
        """Return the number of ``steps``, of ``corrections`` by Newton's method, of ``load_steps``.

        Then how many equilibria were found by damped motion only, if any, as ``relaxed``.
        """
        corrections, load_steps, relaxed = map(int, self._counts)
        counts: dict[str, float] = {"steps": self.n, "corrections": corrections, "load_steps": load_steps}
        return counts | ({"relaxed": relaxed} if relaxed else {})

    def energies(self, state: State) -> dict[str, float]:
        """Return the energies of the system in J, all work, ``work_rest``, and the balance."""
        found = super().energies(state)
        rest = float(self._rest[0])
        return found | {REST.name: rest, BALANCE.name: found.get(BALANCE.name, found["total"]) - rest}
