"""SHAKE and RATTLE: velocity Verlet on the positions that satisfy constraints."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Annotated, final

import numpy as np

from symplex.base.arguments import checked
from symplex.base.columns import count_column
from symplex.base.quantities import between, positive
from symplex.errors import UnstableStep
from symplex.fem.assembly.calls import table_of
from symplex.fem.assembly.pattern import Array
from symplex.fem.compiled.callbacks import Callback
from symplex.fem.form_table import form_table
from symplex.fem.load_table import NO_LOADS, load_loops
from symplex.fem.measures.constraints import Constraint
from symplex.fem.system import State, System
from symplex.time.constraints.multipliers import Multipliers
from symplex.time.constraints.rattle_loop import (
    FORCE,
    FORCES,
    KINDS,
    ROOMS,
    SEEN,
    SUPPORTS,
    TARGET,
    take_steps,
)
from symplex.time.integrator import STEPS, FixedMotion, FixedStepIntegrator
from symplex.time.motion import FixedStepMotion
from symplex.time.solvers.compiled_newton import steps_at_once
from symplex.time.stability import stable_step
from symplex.time.steps import Steps
from symplex.time.totals import MODIFIED_TOTAL
from symplex.time.traits import Form, Trait
from symplex.time.variational.zhang_skeel_force import ModifiedForce

_NO_ROWS, _NO_FACTORS = table_of([]), np.ones((1, 0))


@dataclass(frozen=True)
class ConstrainedIntegrator(FixedStepIntegrator[FixedMotion]):
    """A method that keeps constraints by multipliers.

    The constraints belong to the method and not to the `System`: all others would not see them there, and go on as if
    there were none. For those, a `symplex.fem.measures.penalty.Penalty` of the same constraint is one of the energies.

    Parameters
    ----------
    dt : float
        Step in s, below the stability limit of central differences for the system without the constraints. Constraints
        have their own: where they turn with the motion, as the rods of a chain do, their forces are a stiffness
        (for a chain of masses m under the tension T about ω² = 4T/mL), and beyond dt ω = 2 there are no multipliers.
    constraints : mapping of str to Constraint
    beta : float, default 0
        Above 0 velocity Verlet is that of the modified potential of Zhang and Skeel, see
        `symplex.time.variational.zhang_skeel_force.ModifiedForce`: with β ≥ ¼ stiff energies do not limit the step,
        for one linear solution each. Properties stay as they are; energies need third derivatives.
    """

    dt: Annotated[float, positive("s")]
    constraints: Mapping[str, Constraint]
    beta: Annotated[float, between(0.0)] = field(default=0.0, kw_only=True)

    order = 2
    conserves = frozenset({"momentum", "angular momentum", "symplectic form"})
    symmetric = True
    columns = (STEPS, count_column("corrections"), MODIFIED_TOTAL)

    @property
    def needs(self) -> frozenset[Form]:
        """With β > 0 also what the modified potential needs."""
        more: set[Form] = {"hessian", "third"} if self.beta > 0.0 else set()
        return frozenset({"gradient", *more})

    @property
    def energy(self) -> str:
        """The total, or with β > 0 that of the modified potential."""
        return MODIFIED_TOTAL.name if self.beta > 0.0 else "total"

    def _step_size(self, system: System, state: State) -> float:
        rest = max(1.0 - 4.0 * self.beta, 0.0)
        limit = stable_step(system, state.q) / math.sqrt(rest) if rest > 0.0 else math.inf
        if self.dt > limit:
            raise UnstableStep(
                f"dt = {self.dt:.4g} s is above the stability limit of {type(self).__name__} (without its "
                f"constraints), {limit:.4g} s. Try dt = {0.8 * limit:.3g} s."
            )
        return self.dt


@partial(checked, but=("constraints",))
@final
@dataclass(frozen=True)
class Rattle(ConstrainedIntegrator["RattleMotion"]):
    """RATTLE: velocity Verlet with forces along ∇g, so that positions satisfy g = 0 and velocities ∇g·v = 0.

    v_½ = v0 + dt/2 a0 + M⁻¹ G(q0)ᵀ μ,  q1 = q0 + dt v_½  with g(q1) = 0,
    v1 = v_½ + dt/2 a1 + M⁻¹ G(q1)ᵀ ν  with G(q1) v1 = 0,  M a = f(t, q, v) − ∇V(q)

    Andersen (1983). It is symplectic on the constrained motions, symmetric, and keeps momentum and angular momentum
    where forces and constraints do, as rods do. Constraints are satisfied to round-off. Supports that move are taken
    along; with angles or displacements of joints that are given, g(q, t) = 0 and ∇g·v + ∂g/∂t = 0.

    Parameters
    ----------
    dt : float
        Step in s.
    constraints : mapping of str to Constraint
        By name.
    beta : float, default 0
        Of Zhang and Skeel's modified potential; from ¼ on stiff energies do not limit the step.

    Raises
    ------
    ValueError
        If the step is not positive, or beta negative.
    """

    kind = "rattle"

    @property
    def name(self) -> str:
        """How messages call the method."""
        return "Rattle with beta > 0" if self.beta > 0.0 else "Rattle"

    @property
    def takes(self) -> frozenset[Trait]:
        """Constraints, and without β supports that move and internal variables."""
        without: set[Trait] = set() if self.beta > 0.0 else {"moving supports", "internal variables", "moving joints"}
        uses: set[Trait] = {"composition", "thermostat"}
        return frozenset({"supports", "loads", "constraints", "changing stencils", "frames", "joints", *without, *uses})

    def _motion(self, system: System, t0: float, dt: float, n: int) -> RattleMotion:
        return RattleMotion(system, self, t0, dt, n)


@partial(checked, but=("constraints",))
@final
@dataclass(frozen=True)
class Shake(ConstrainedIntegrator["ShakeMotion"]):
    """SHAKE: the central differences M (q1 − 2 q0 + q₋1)/dt² = f − ∇V(q0) + G(q0)ᵀ λ, with g(q1) = 0.

    Ryckaert, Ciccotti and Berendsen (1977). The positions are those of `Rattle`; velocities are (q1 − q₋1)/2dt, which
    satisfy G v = 0 to second order in the step only. A step needs the multipliers once; but for the velocities of a
    state the step after it must be possible.

    Parameters
    ----------
    dt : float
        Step in s.
    constraints : mapping of str to Constraint
        By name.
    beta : float, default 0
        Of Zhang and Skeel's modified potential; from ¼ on stiff energies do not limit the step.

    Raises
    ------
    ValueError
        If the step is not positive, or beta negative.
    """

    kind = "shake"
    takes = frozenset({"supports", "loads", "constraints", "changing stencils", "frames", "joints"})
    why_not = MappingProxyType(
        {
            "composition": "its velocities are differences over two steps of one size; take Rattle, of the same "
            "positions",
            "thermostat": "its velocities are not tangent to its constraints; take Rattle",
        }
    )

    def _motion(self, system: System, t0: float, dt: float, n: int) -> ShakeMotion:
        return ShakeMotion(system, self, t0, dt, n)


class ConstrainedMotion(FixedStepMotion):
    """A motion that keeps constraints by multipliers.

    All steps are taken by one compiled loop. Energies and loads in Python, moving supports and the modified potential
    have no compiled form, and are called back from it, as constraints in Python are (`Multipliers`).
    """

    loads_at_ends = True
    tangent: float  # how much of the velocities at the start may leave the constraints
    _projects: bool  # whether velocities at the ends of steps are along the constraints

    def __init__(self, system: System, method: ConstrainedIntegrator, t0: float, dt: float, n: int):
        super().__init__(system, t0, dt, n)
        rods = {} if system.frames is None else system.frames.constraints(system.fixed | system.moving.mask, self.name)
        self._set = Multipliers(system, {**method.constraints, **system.joints, **rods}, self.name)
        self._modified = ModifiedForce(system, method.beta) if method.beta > 0.0 else None
        shape, size = (system.n_nodes, system.dim), self._set.size
        self._multipliers, self._impulses, self._sizes = (np.zeros(size) for _ in range(3))
        self._carried = self._v  # the velocities that steps go on with
        self._applied, self._rooms = np.zeros(shape), np.zeros((ROOMS, *shape))
        self._gradients, self._next_impulses = self._set.empty_gradients(), np.zeros(size)
        self._corrections = np.zeros(2)  # since the start, and for the step ahead
        self._of_step = np.zeros(1)  # the size that applied accelerations are for: a composition has several
        self._ready = False  # gradients and factors are those at q
        self._ahead = False  # the next positions are found
        alone = self._modified is None and not self._moving and not self._internal
        self._table = form_table(system) if alone else None
        self._loads = load_loops(system, derivatives=False) if self._table else None
        self._back, self._taking = Callback(self._called), Steps.one(t0, dt)
        self._at_once = 10 * steps_at_once(system)  # each is a tenth of an implicit one

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that move, with multipliers and impulses."""
        arrays = super().arrays() | {"applied": self._applied, "sizes": self._sizes}
        arrays |= {"multipliers": self._multipliers, "impulses": self._impulses, "corrections": self._corrections[:1]}
        arrays["of_step"] = self._of_step
        return arrays | ({"force": self._rooms[FORCE]} if self._moving else {})

    def begin(self, q: Array, v: Array) -> None:
        """Take positions and velocities [n, dim] of the start, and find all else that moves."""
        super().begin(q, v)
        self._set.take_time(self.t)
        self._set.require_independent(q)
        self._set.require_feasible(State(self.t, q, v, self._a), self.tangent)
        self._sizes[...] = self._set.sizes(q)
        self._accelerate(self.t, self._q, v, self.dt)

    def multipliers(self) -> dict[str, Array]:
        """Return λ [c] of each constraint, by name, at the state just returned: the forces are λ ∇g.

        For rods they are forces in N, see `RigidBars.tensions`.
        """
        return self._set.by_name(self._multipliers)

    def constraint_forces(self) -> Array:
        """Return the forces Gᵀλ [n, dim] in N of all constraints on the nodes, at the state just returned.

        `System.reactions`, which knows of no constraints, is to be less by these at supports.
        """
        self._prepare()
        return self._set.forces(self._gradients, self._multipliers)

    def violations(self) -> dict[str, Array]:
        """Return g [c] of each constraint, by name, at the state just returned."""
        values = np.empty(self._set.size)
        self._set.write_values(self._q, values)
        return self._set.by_name(values)

    def statistics(self) -> dict[str, float]:
        """Return the number of ``steps``, and of ``corrections`` of multipliers by Newton's method."""
        return {"steps": self.n, "corrections": int(self._corrections[0])}

    def energies(self, state: State) -> dict[str, float]:
        """Return the energies in J, and the work of loads and moving supports by the mean forces at the ends of steps.

        With β > 0 and no loads also ``modified_total``, which is nearly conserved.
        """
        parts = super().energies(state)
        if self._modified is not None and not self._work:
            parts[MODIFIED_TOTAL.name] = parts["kinetic"] + self._modified.energy(state.q, self.dt)
        return parts

    def _prepare(self) -> None:
        """Find gradients and factors at q, unless they are there."""
        if not self._ready:
            self._set.take_time(self.t)
            self._set.write_gradients(self._q, self._gradients)
            self._set.factorise(self._gradients)
            self._ready = True

    def _step(self, t: float, h: float) -> None:
        if self._modified is not None and self._of_step[0] != abs(h):
            self._accelerate(t, self._q, self._carried, h)
        if not self._compiled_steps(1, Steps.one(t, h)):
            self._raise_problem()

    def _compiled_steps(self, n: int, steps: Steps) -> int:
        """Take up to n steps, or parts of steps; return how many, fewer where one fails, of which `_step` says why."""
        if self._back.failed or self._set.failed:
            return 0
        h = float(steps.sizes[0])
        if self._modified is not None and (self._of_step[0] != abs(h) or len(steps.sizes) > 1):
            return 0
        return self._take_in_loop(n, steps)

    def _take_in_loop(self, n: int, steps: Steps, look_ahead: bool = False) -> int:
        """Take n steps, and find the next positions after them, if requested; return how many were possible."""
        self._prepare()
        loads = self._loads or NO_LOADS
        known, factors = steps.load_factors(n, loads, 1.0)
        from_python = self._table is None or self._loads is None
        if n and not known:  # the loads themselves say why
            known, factors, loads, from_python = 1, _NO_FACTORS, NO_LOADS, True
        self._taking = steps
        found = self._table
        table = (self._rooms[FORCE], _NO_ROWS) if found is None else (found.constant, found.rows)
        works = loads.table.forces.rows, loads.table.forces.kernel, factors, *self._work.buffers()
        flags = self._projects, self._ahead, look_ahead, from_python, bool(self._moving) or self._set.depends_on_time
        arrays = self._q, self._carried, self._applied, self._gradients, self._impulses, self._sizes
        rooms, back = (self._rooms, self._next_impulses, self._corrections), self._back.address
        taken = take_steps(known, steps.sizes, *flags, self._set.conditions, *table, *arrays, *rooms, *works, back)
        self._ready = self._ahead = False
        if taken >= 0:
            self._ready, self._ahead = True, look_ahead
            return known
        return -1 - taken

    def _raise_problem(self) -> None:
        """Raise what has stopped the loop."""
        self._back.raise_failure()
        self._set.raise_problem()

    # -- what the loop calls back -------------------------------------------------------------------------------------

    def _called(self, number: int) -> None:
        """Do what has no compiled form in a step: its number times `KINDS`, plus the kind."""
        step, kind = divmod(number, KINDS)
        h = float(self._taking.sizes[step % len(self._taking.sizes)])
        t, following, seen = self._taking.time(step) + h, self._set.conditions.at, self._rooms[SEEN]
        if kind == SUPPORTS:
            self._set.take_time(self._taking.time(step + 1))  # the same bits as that of the next step's beginning
            if self._moving:
                origin = self._origin + self._moving.displacements(t)
                np.copyto(self._rooms[TARGET], origin, where=self._moving.mask)
        elif kind == FORCES:
            if self._moving:
                np.copyto(seen, self._moving.velocities(t), where=self._moving.mask)
                self._before = self._v.copy(), self._rooms[FORCE].copy()
            self._accelerate(t, following, seen, h, (self._q, h))
            self._work.add_mean(following - self._q)
            if self._internal:
                self._work.add_dissipated(self._internal.advance(self._q, following, h))
        else:
            self._end_with_given(t, h)

    def _end_with_given(self, t: float, h: float) -> None:
        """Set the velocities at the end of a step of h s at the time t, and add the work of what moves as it is given.

        That of supports is on their masses, against the forces and against the constraints.
        """
        c = self._set.conditions
        if self._moving:
            np.copyto(self._v, self._moving.velocities(t), where=self._moving.mask)
        impulses = self._project_velocities(c.later)
        if self._set.depends_on_time:
            pushes = (self._next_impulses, self._gradients), (impulses, c.later)
            self._work.add_joints(self._set.works(pushes, c.at - self._q, h))
        if not self._moving:
            return
        v0, force0 = self._before
        pulls = self._set.forces(self._gradients, self._next_impulses) + self._set.forces(c.later, impulses)
        against = -0.5 * (force0 + self._rooms[FORCE]) - pulls / h
        on_mass = 0.5 * np.asarray(self.system.mass)[:, None] * (self._v - v0) * (self._v + v0)
        self._work.add_supports(against * (c.at - self._q) + on_mass)

    def _project_velocities(self, gradients: Array) -> Array:
        """Take from the velocities what leaves the constraints, in the metric of the mass; return the impulses [c].

        With the positions that gradients are of.
        """
        leaving = self._set.rates(gradients, self._v)
        if self._set.depends_on_time:
            q = self._set.conditions.at if gradients is self._set.conditions.later else self._q
            leaving += self._set.drift(q, self._v)[0]
        impulses = -self._set.solve(leaving, gradients)
        self._set.add_impulses(gradients, impulses, 1.0, self._v)
        return impulses

    def _accelerate(self, t: float, q: Array, v: Array, h: float, since: tuple[Array, float] | None = None) -> None:
        """Set the accelerations without constraints at q [n, dim], of the modified potential for steps of size h.

        Inelastic parts are at the end of an increment since given positions, for a time in s; by default of none.
        """
        loads, force = self._work.evaluate(t, q, v), self._rooms[FORCE]
        self._of_step[0] = abs(h)
        if self._modified is not None:
            self._applied[...] = self._modified.accelerations(q, h, loads)
            return
        self.system.gradient(q, force)
        if self._internal:
            q0, of_time = (q, 0.0) if since is None else since
            self._internal.subtract_forces(q0, q, of_time, force, mean=False)
        np.subtract(loads, force, out=force)
        np.multiply(force, self._set.conditions.inverse_mass, out=self._applied)
        if self._moving:
            self._applied += self._moving.accelerations(t)

    def _accelerate_constrained(self) -> None:
        """Set the accelerations from those without constraints and the multipliers."""
        self._a[...] = self._applied
        self._set.add_impulses(self._gradients, self._multipliers, 1.0, self._a)


@final
class RattleMotion(ConstrainedMotion):
    """A motion by RATTLE; see `Rattle`.

    Multipliers are those of the exact motion through the positions and velocities of a state,
    G M⁻¹ Gᵀ λ = −G a − vᵀ∇²g v.
    """

    tangent = 1e-8
    _projects = True

    def begin(self, q: Array, v: Array) -> None:
        """Take positions and velocities [n, dim] of the start, and find all else that moves."""
        super().begin(q, v)
        self.observe(self.t)

    def change_velocities(self, v: Array) -> None:
        """Go on with other velocities [n, dim] in m/s, without what leaves the constraints."""
        self._v[...] = v
        self._prepare()
        self._project_velocities(self._gradients)

    def observe(self, t: float) -> None:
        """Set the multipliers and accelerations of the positions and velocities."""
        self._prepare()
        leaving = self._set.rates(self._gradients, self._applied) + self._set.bends(self._q, self._v)
        leaving += self._set.drift(self._q, self._v)[1]
        self._multipliers[...] = -self._set.solve(leaving, self._gradients)
        self._accelerate_constrained()


@final
class ShakeMotion(ConstrainedMotion):
    """A motion by SHAKE; see `Shake`.

    It carries the velocities u = v₋½ + dt/2 a, from which v = u + dt/2 M⁻¹Gᵀλ with the multipliers of the step to come.
    """

    tangent = 0.05  # its own velocities leave constraints by the second order of the step
    _projects = False

    def __init__(self, system: System, method: ConstrainedIntegrator, t0: float, dt: float, n: int):
        super().__init__(system, method, t0, dt, n)
        self._carried = np.zeros_like(self._v)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that move, with the velocities that are carried on."""
        return super().arrays() | {"carried": self._carried}

    def begin(self, q: Array, v: Array) -> None:
        """Take positions and velocities [n, dim] of the start, and find all else that moves.

        The step back has the same multipliers as the step ahead, half of those of the double step.
        """
        super().begin(q, v)
        self._carried[...] = v
        self._look_ahead(self.t)
        self._set.add_impulses(self._gradients, self._next_impulses, -1.0, self._carried)
        np.multiply(self._next_impulses, 2.0, out=self._impulses)
        self._ready = self._ahead = False
        self.observe(self.t)

    def _look_ahead(self, t: float) -> None:
        """Find the next positions, unless they are."""
        if not self._ahead and self._take_in_loop(0, Steps.one(t, self.dt), look_ahead=True) < 0:
            self._raise_problem()

    def observe(self, t: float) -> None:
        """Set velocities, multipliers and accelerations by a look at the step ahead."""
        self._look_ahead(t)
        np.divide(self._next_impulses, self.dt, out=self._multipliers)
        self._v[...] = self._carried
        self._set.add_impulses(self._gradients, self._next_impulses, 0.5, self._v)
        self._accelerate_constrained()
