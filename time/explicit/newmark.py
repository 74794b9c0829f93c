"""Newmark's family: central differences, and the implicit members by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from symplex.base.arguments import checked
from symplex.base.columns import Column
from symplex.base.quantities import between, or_word, positive, positive_or_auto, whole
from symplex.errors import InvalidSystem, StepFailed, UnstableStep
from symplex.fem.actions.increment_load import IncrementLoad
from symplex.fem.assembly.calls import table_of
from symplex.fem.assembly.team import Phases
from symplex.fem.compiled import threads
from symplex.fem.compiled.call import call_back
from symplex.fem.compiled.callbacks import Callback
from symplex.fem.compiled.kernels import kernel, uncounted_formula
from symplex.fem.energies.contact_energy import contact_of
from symplex.fem.energies.energy import Array
from symplex.fem.energies.inelastic import part_with_history
from symplex.fem.form_table import Table, form_table, write_gradient
from symplex.fem.load_table import NO_LOADS, LoadRows, load_loops, write_load
from symplex.fem.system import State, System
from symplex.time.constraints.rattle import Rattle, RattleMotion
from symplex.time.explicit.contact_level import ContactLevel, farthest_in_step, largest_frequency_of
from symplex.time.explicit.kicks import drifted, kicked, leaves
from symplex.time.implicit.generalized_alpha import newmark_scheme
from symplex.time.implicit.implicit import IMPLICIT, IMPLICIT_COLUMNS, ImplicitMotion
from symplex.time.implicit.scheme import Scheme
from symplex.time.integrator import STEPS, FixedStepIntegrator, dividing
from symplex.time.motion import FixedStepMotion
from symplex.time.solvers.newton import Newton
from symplex.time.stability import latent_frequency, require_stable, stable_step
from symplex.time.steps import Steps
from symplex.time.traits import Form, Trait, Use

_STENCILS_AT_ONCE = 1_000_000  # in a compiled loop, which hears no signal: some 20 ms
_NUMBERS_AT_ONCE = 512
_RESOLVED = 4.0  # contact_safety: a part of a step times a bound of the frequency of contact that acts
_MOST_RESOLVED = 1.2  # at most: next to elements around, which a half of a step at their limit has 1 of, 2 is the limit
_AHEAD = 0.25  # of the distance at which contact acts, how much nearer two nodes may come until that is found again
BETWEEN_LIMITS = 2  # steps between estimates of the stability limit where elements become thin
_NO_ROWS, _NO_FACTORS = table_of([]), np.ones((1, 0))
_NO_PLACES = np.empty(0, np.int32), np.empty((0, 0)), np.empty(0)  # as rows [..., 0, dim] of any dim


@checked
@final
@dataclass(frozen=True)
class Newmark(FixedStepIntegrator["NewmarkMotion | ImplicitMotion | RattleMotion"]):
    """Newmark's method: explicit with β = 0 and γ = ½ (the default), otherwise implicit.

    q1 = q0 + dt v0 + dt² [(½ − β) a0 + β a1],  v1 = v0 + dt [(1 − γ) a0 + γ a1],  M a1 = f(t1, q1, v1) − ∇V(q1)

    The explicit member is central differences, or velocity Verlet. It is symplectic and keeps both momenta, but energy
    only nearly. Loads that depend on velocity see the prediction v0 + dt a0, which keeps the second order. Of a system
    with frames its motion is that of `Rattle`, which is the same with constraints.

    The implicit members keep linear momentum. Those with γ = ½ are of second order and symmetric, the others of first
    order, with damping if γ > ½. For linear systems they are stable at any step if 2β ≥ γ, otherwise up to
    dt ω = (γ/2 − β)^(−½). Members with a name: `trapezoidal`, `linear_acceleration`, `fox_goodwin`.

    Parameters
    ----------
    dt : float or "auto"
        Step in s; ``"auto"``, for the explicit member, takes ``safety`` times the stability limit at the start, or
        less to resolve contact. Steps are divided where metals flow until elements are thin.
    beta, gamma : float
        β ≥ 0 and γ ≥ ½; with β = 0 only γ = ½.
    safety : float, default 0.8
        For ``dt="auto"``: the frequencies of a body grow when it is compressed.
    contact_safety : float, default 0.2
        For ``dt="auto"`` with penalty contact: fraction of the limit of one node on the contact stiffness. At 0.8 a
        hard impact errs in energy by 10 to 40 per cent, at 0.2 by 0.05 to 0.2. Between bodies 2.5 times that
        (`ContactEnergy.resolved_share`).
    contact_steps : int or "auto", default 1
        Parts into which explicit steps are divided for contact between bodies and the elements around it, while bodies
        are near; ``"auto"``: as many as active pairs need (a part times a bound of their frequency is at most four
        times ``contact_safety``), never fewer while contact lasts. Steps are some ten times as long. With friction,
        moving supports or parts with history all elements take the parts; energy may jump where that begins and ends.
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
    contact_steps: Annotated[int | Literal["auto"], or_word("auto", whole(1, 10_000))] = 1
    newton: Newton = field(default=Newton(), kw_only=True)

    kind = "newmark"

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
        """Whether β = 0: drifts between kicks."""
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
    def why_not(self) -> Mapping[Use, str]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Steps that are divided where bodies meet cannot be composed."""
        return {} if self.contact_steps == 1 else {"composition": "contact_steps divides its steps"}

    @property
    def takes(self) -> frozenset[Trait]:
        """A consistent mass and barriers by the implicit members only."""
        more: set[Trait] = {"joints", "composition"} if self.symmetric else {"joints"}
        if self.explicit:
            more.add("moving joints")
            return (IMPLICIT - {"consistent mass", "barriers"}) | more
        return IMPLICIT | more

    def __post_init__(self):
        if self.explicit and self.gamma != 0.5:
            raise ValueError(f"Newmark: gamma must be 0.5 where beta is 0, got {self.gamma:g}.")
        if self.dt == "auto" and not self.explicit:
            raise ValueError('Newmark: dt must be a number (s) where beta is above 0, got "auto".')
        if self.contact_steps != 1 and not self.explicit:
            raise ValueError(f"Newmark: contact_steps must be 1 where beta is above 0, got {self.contact_steps}.")

    def scheme(self, h: float) -> Scheme:
        """Return a step of size h in s of an implicit member."""
        return newmark_scheme(h, self.beta, self.gamma)

    def _resolved(self, system: System, state: State) -> Newmark:
        return self._divided(system, state) if self._divides(system) else self

    def _set_off(self, motion: NewmarkMotion | ImplicitMotion | RattleMotion) -> None:
        if self._divides(motion.system):
            assert isinstance(motion, NewmarkMotion), "others divide no steps"
            motion.divide_by_contact()

    def restart(self, system: System, state: State, dt: float) -> NewmarkMotion | ImplicitMotion | RattleMotion | None:
        """Return the motion that begins at a state on the way of another one, with a shorter step in s than that.

        None where it is still to be found into how many steps one is divided.
        """
        return None if self._divides(system) else self._begun(system, state, dt)

    def fit(self, system: System, state: State, interval: float) -> Newmark:
        """Return the method with the largest step not above its own that divides an interval in s.

        Raises
        ------
        UnstableStep, InvalidSystem, StepFailed
            As `start`.
        """
        if not self._divides(system):
            return super().fit(system, state, interval)
        dt = self._divided(system, state).dt
        return replace(self, dt=dividing(float(dt), interval))

    def _divides(self, system: System) -> bool:
        """Return whether it is still to be found into how many steps one is divided where bodies meet."""
        if self.contact_steps != 1 and system.frames:
            raise InvalidSystem("Newmark: contact_steps must be 1 for a system with frames, whose steps are Rattle's.")
        return self.contact_steps == "auto" and bool(system.changing)

    def _divided(self, system: System, state: State) -> Newmark:
        """Return the method with a step for bodies that are apart, and the number of those where they meet."""
        apart, meeting = self._limits(system, state, apart=True)[1], self._limits(system, state)[1]
        dt = _finite(apart) if self.dt == "auto" else self.dt
        # No more than needed where rounding alone divides a step.
        return replace(self, dt=dt, contact_steps=max(math.ceil(dt / meeting * (1.0 - 1e-12)), 1))

    def _limits(self, system: System, state: State, apart: bool = False) -> tuple[float, float]:
        """Return the stability limit of steps in s, and how large they should be."""
        limit = stable_step(system, state.q, system.held(state.t, state.v), apart)
        contact = latent_frequency(system, resolved=True, apart=apart)
        return limit, min(self.safety * limit, self.contact_safety * 2.0 / contact if contact > 0 else math.inf)

    def _motion(self, system: System, t0: float, dt: float, n: int) -> NewmarkMotion | ImplicitMotion | RattleMotion:
        if not self.explicit:
            return ImplicitMotion(self, system, t0, dt, n)
        if system.frames:
            return RattleMotion(system, Rattle(dt, {}), t0, dt, n)
        return NewmarkMotion(system, t0, dt, n, self._parts_in_contact, self.safety, self.contact_safety)

    @property
    def _parts_in_contact(self) -> int:
        """Into how many steps one is divided while bodies are within the distance at which contact acts."""
        return 1 if self.contact_steps == "auto" else self.contact_steps

    def _step_size(self, system: System, state: State) -> float:
        """Return dt in s, checked against the stability limit where there is one."""
        if not self.explicit:
            require_stable(system, state, float(self.dt), self.beta, self.gamma)
            return float(self.dt)
        limit, advised = self._limits(system, state)
        if self.dt == "auto":
            return _finite(advised)
        if self._parts_in_contact > 1:
            limit = min(self._parts_in_contact * limit, self._limits(system, state, apart=True)[0])
        if self.dt > limit:
            raise UnstableStep(
                f"dt = {self.dt:.4g} s is above the stability limit of explicit Newmark, {limit:.4g} s. "
                f'Try dt = {advised:.3g} s, or dt = "auto".'
            )
        return float(self.dt)


def _finite(dt: float) -> float:
    """Return a step in s that is to be chosen, if anything limits it."""
    if dt == math.inf:
        raise StepFailed(
            'Newmark: dt = "auto" needs an energy with stiffness where something is free; give dt in seconds.'
        )
    return dt


def update_limit(
    limit: Array, system: System, positions: Callable[[], Array], steepness: float, dt: float, safety: float
) -> None:
    """Set into how many parts steps dt in s are divided where elements of parts with history have become thin.

    Parameters
    ----------
    limit : float64 [4]
        The last limit found, the steepness there, parts of a step, their part of the limit.
    system : System
    positions : callable
        Returns the positions [n, dim] in m.
    steepness : float
        The largest of its parts with history (`Inelastic.steepness`).
    dt, safety : float
    """
    if not steepness:
        return
    last, at, _, share = limit
    whole = not any(part.erodes for part in system.inelastic.values())  # otherwise what is gone would count
    if not last or (whole and not at / 1.2 < steepness < 1.2 * at):
        last, at = stable_step(system, positions()), steepness
        share = share or max(safety, min(dt / last, 1.0))
    now = last * math.sqrt(at / steepness)
    limit[:] = last, at, math.ceil(dt / (share * now) * (1.0 - 1e-9)), share


# Rows of what steps with loads or inelastic parts need: positions at the start, the velocities that loads see at the
# end, and the sum of compiled loads; and with moving supports velocities and the gradient at the start.
START, SEEN, SUM, VELOCITY, GRADIENT, _ROWS = range(6)
# What the loop over steps calls back, in the order of a step (see `NewmarkMotion._called`).
_PASS, _LAST_PASS, _SUPPORTS, _ENERGIES, _ACTIONS, _KINDS = range(6)


class NewmarkMotion(FixedStepMotion):
    """A motion by explicit Newmark; see `Newmark`.

    All steps are taken by one compiled loop. Energies and loads in Python, moving supports and inelastic parts have no
    compiled form, and are called back from it, and so is the pass over many nodes, which several threads share.

    Steps are divided where elements of parts with history become thin: the stability limit is estimated every second
    step by the steepness of shape functions, and found where that has changed by a fifth.
    """

    loads_at_ends = True

    def __init__(
        self,
        system: System,
        t0: float,
        dt: float,
        n: int = 0,
        contact_steps: int = 1,
        safety: float = 0.8,
        contact_safety: float = 0.2,
    ):
        super().__init__(system, t0, dt, n)
        self._flows, self._safety = part_with_history(system) is not None, safety
        self._resolved = min(_RESOLVED * contact_safety, _MOST_RESOLVED)
        self._limit = np.zeros(4)  # the last limit found, the steepness there, parts of a step, their part of the limit
        shape = system.n_nodes, system.dim
        # Into how many parts whole steps are divided, and those with contact on its level; 0 if these are as many.
        self._contact_steps = np.array([contact_steps, 0])
        # 1 in the first column of nodes on the level of contact: nodal, so that ranks divide it as all that moves
        self._touched = np.zeros((system.n_nodes if system.changing else 0, system.dim))
        self._bounded = np.zeros_like(self._touched)  # where these nodes were when their frequency was bounded
        self._level: ContactLevel | None = None
        self._met: bool | None = None  # whether bodies meet in the next step, if that is known
        self._gradient = np.zeros(shape)  # less the loads
        self._mass = np.asarray(system.mass)[:, None]
        self._inverse_mass = np.where(system.fixed, 0.0, 1.0 / self._mass)
        self._rooms = np.zeros((_ROWS if self._moving else VELOCITY if self._work else 0, *shape))
        ranges = threads.parts(system.n_nodes)
        self._parts, self._is_large = Phases(ranges), len(ranges) > 1
        self._table, self._loads = form_table(system), load_loops(system, derivatives=False)
        stencils = sum(len(energy.nodes) for energy in system.energies.values())
        self._at_once = max(_STENCILS_AT_ONCE // max(stencils + (self._loads.stencils if self._loads else 0), 1), 1)
        self._back = Callback(self._called)
        # The steps in the loop, how many, the loads in it, and whether what has no compiled form is without contact.
        self._taking = Steps.one(t0, dt), 1, NO_LOADS, False
        self._steady = [energy for name, energy in system.energies.items() if name not in system.changing]

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that move, with the forces where supports do work against them, and how steps divide."""
        arrays = super().arrays() | ({"gradient": self._gradient} if self._moving else {})
        arrays |= {"limit": self._limit} if self._flows else {}
        more = {"contact_steps": self._contact_steps, "touching": self._touched, "bounded": self._bounded}
        return arrays | (more if self.system.changing else {})

    @property
    def _touching(self) -> NDArray[np.bool_]:
        """Which nodes [n] are on the level of contact."""
        return self._touched[:, 0] > 0.0

    def restore(self, checkpoint: Mapping[str, np.ndarray]) -> None:
        """Set the arrays to those of a checkpoint."""
        super().restore(checkpoint)
        self._level = None

    def begin(self, q: Array, v: Array) -> None:
        """Take positions and velocities [n, dim] of the start, and find all else that moves."""
        super().begin(q, v)
        if self._moving:
            self.system.gradient(q, self._gradient)
            self._gradient -= self._work.acting.sum(axis=0)
            self._internal.subtract_forces(q, q, 0.0, self._gradient, mean=False)

    def divide_by_contact(self) -> None:
        """Let the level of contact have as many parts as the pairs that act ask for."""
        self._contact_steps[1] = 1

    def observe(self, t: float) -> None:
        """Set the accelerations of moving supports; all others are there."""
        if self._moving:
            np.copyto(self._a, self._moving.accelerations(t), where=self._moving.mask)

    def _parts_of_step(self) -> int:
        """Return into how many steps the next one is divided: one, unless bodies are within reach of each other.

        It follows from the state alone, so that a motion does not depend on where it stops.
        """
        parts = int(self._contact_steps[0])
        met, self._met = self._met, None  # as `_take_ahead` has found it for this step
        return parts if parts > 1 and (self._meets() if met is None else met) else 1

    def _meets(self) -> bool:
        """Return whether bodies are within reach of each other at the beginning or the end of the next step."""
        q, free = self._q, ~self.system.fixed
        ahead = q + self.dt * np.where(free, self._v + 0.5 * self.dt * self._a, 0.0)
        if self._moving:
            given = self._origin + self._moving.displacements(self.t + self.dt)
            np.copyto(ahead, given, where=self._moving.mask)
        changing = self.system.changing.values()
        if any(energy.acts_at(q) or energy.acts_at(ahead) for energy in changing):
            return True
        return any(contact_of(energy).find_penetration(q, ahead) is not None for energy in changing)

    def _step(self, t: float, h: float) -> None:
        self._find_limit(self.n)
        parts = max(math.ceil(self._limit[2] * abs(h / self.dt) * (1.0 - 1e-9)), 1)
        for k in range(parts):
            if not self._loop(1, Steps.one(t + k * h / parts, h / parts)):
                self._back.raise_failure()

    def _compiled_steps(self, n: int, steps: Steps) -> int:
        """Take n steps, or parts of steps, fewer if one fails, of which `_step` says why; return how many."""
        if self._flows:
            self._find_limit(steps.n)
            if self._limit[2] > 1.0:
                return 0
            n = min(n, BETWEEN_LIMITS - steps.n % BETWEEN_LIMITS)
        return self._loop(n, steps)

    def _find_limit(self, n: int) -> None:
        """Set into how many parts the steps from the one with the number n on are divided."""
        if not self._flows or n % BETWEEN_LIMITS:
            return
        parts = {name: part for name, part in self.system.inelastic.items() if part.history}
        steepness = max(part.steepness(self._q, self._internal.values[name]) for name, part in parts.items())
        update_limit(self._limit, self.system, lambda: self._q, steepness, self.dt, self._safety)

    @cached_property
    def _table_apart(self) -> Table | None:
        """The table of the energies whose stencils do not change."""
        return form_table(self.system, among=self.system.energies.keys() - self.system.changing)

    def _take_ahead(self, n: int) -> int:
        """Take up to n steps by the compiled loop while bodies stay apart, or one with contact on its level."""
        if self._moving or self._internal or len(self.system.collision_checked) > len(self.system.changing):
            return 0
        touching, self._met = bool(self._touching.any()), None
        taken = 0 if touching else self._steps_apart(min(n, self._at_once))
        if not taken and self._contact_steps[0] > 1:
            self._met = None if touching else self._meets()
            taken = self._step_in_contact() if touching or self._met else 0
        if taken:
            self.n, self._met = self.n + taken, None
            self._observe_state()
        return taken

    def stencils_changed(self) -> None:
        """Let the level of contact have the nodes in new lists; none if nothing is near."""
        if not self._touching.any():
            return
        near = [energy.nearby(self._q) for energy in self.system.changing.values()]
        if all(one is not None and not len(one.energy.nodes) for one in near):
            self._touched.fill(0.0)
        else:
            self._gather_touching()

    def _gather_touching(self) -> None:
        """Let the nodes of the level be those in lists, and those before unless these are most of them."""
        listed = np.zeros_like(self._touching)
        for energy in self.system.changing.values():
            listed[energy.nodes.ravel()] = True
        every = listed | self._touching
        new = listed if 2 * listed.sum() < every.sum() else every
        if self._level is None or (new != self._touching).any():
            self._touched[:, 0], self._level = new, None

    def _step_in_contact(self) -> int:
        """Take a step with contact on its level; return 1, or 0 if it cannot be taken."""
        if any(
            isinstance(load, IncrementLoad) and load.energy in self.system.changing.values()
            for load in self._work.loads
        ):
            return 0  # friction belongs to the level of its contact
        begins = not self._touching.any()
        if begins:
            self._gather_touching()
        level = self._level = self._level or ContactLevel.around(self.system, self._touching)
        if level is None:
            return 0
        parts = self._parts_of_level(level, begins)
        if not level.advance(self._q, self._v, self._a, self.dt, parts):
            return 0
        gradient, h = self._gradient, self.dt
        gradient.fill(0.0)
        try:
            for energy in self._steady:
                energy.add_gradient(level.q, gradient)
        except StepFailed:  # as the parts of a whole step say, if they meet it
            return 0
        if self._work.loads:
            gradient -= self._work.evaluate(self.t + h, level.q, level.v + 0.5 * h * level.slow)
            self._work.add_mean(level.q - self._q)
        self._q[...] = level.q
        level.end(gradient, self._inverse_mass, h, self._v, self._a)
        return 1

    def _parts_of_level(self, level: ContactLevel, begins: bool) -> int:
        """Return how many parts of a step the level of contact takes, where bodies may just begin to meet.

        If it is to be found, that is by the pairs that may act until nodes have gone far, so that it follows from the
        state, and never fewer than before.
        """
        of_all, of_level = self._contact_steps.tolist()
        if not of_level:
            return of_all
        changing, arrays = self.system.changing.values(), (self._q, self._v, self._a, self._inverse_mass)
        ahead = _AHEAD * min(energy.reach for energy in changing)
        gone, going = farthest_in_step(*arrays, self.dt, level.touching, self._bounded)
        if begins or 2.0 * gone > ahead:
            ahead = max(ahead, 2.0 * going)
            known = [energy.stiffness_near(self._q, ahead) for energy in changing]
            frequency = largest_frequency_of(known, self._inverse_mass)
            needed = max(math.ceil(self.dt * frequency / self._resolved), 2 if frequency else 1)
            self._contact_steps[1] = of_level = max(needed, 1 if begins else of_level)
            self._bounded[level.touching] = self._q[level.touching]
        return of_level

    def _steps_apart(self, n: int) -> int:
        """Take up to n steps by the compiled loop as long as bodies stay apart; return how many."""
        found = [energy.nearby(self._q) for energy in self.system.changing.values()]
        places = [near for near in found if near is not None and not len(near.energy.nodes)]
        if len(places) < len(found):
            return 0
        joined = [np.concatenate(arrays) for arrays in zip(*(near[1:] for near in places), strict=True)]
        return self._loop(n, Steps.one(self.t0, self.dt)._replace(n=self.n), tuple(joined))

    def record(self, positions: Array, accelerations: Array) -> None:
        """Take s steps, and write what there is after each [s, n, dim]; of a system whose stencils stay."""
        at_once = 1 if self._moving or self._internal or self._loads is None else self._at_once
        done, self._broken = 0, True
        while done < len(positions):
            some = slice(done, done + at_once)
            record, steps = (positions[some], accelerations[some]), Steps.one(self.t0, self.dt)._replace(n=self.n)
            taken = self._loop(len(record[0]), steps, record=record)
            if not taken:
                self.substep(self.t, self.dt)
                positions[done], accelerations[done], taken = self._q, self._a, 1
            self.n, done = self.n + taken, done + taken
        self._observe_state()
        self._broken, self._shown = False, self.n

    def _loop(
        self, n: int, steps: Steps, places: tuple[Any, ...] = (), record: tuple[Array, Array] | None = None
    ) -> int:
        """Take n steps by the compiled loop; return how many: fewer if one fails, or if nodes would leave places.

        With places what has stencils that change does not act. A record has the positions and accelerations after each.
        """
        if self._back.failed:
            return 0
        table = self._table_apart if places else self._table
        loads = self._loads or NO_LOADS
        known, factors = steps.load_factors(n, loads, 1.0) if loads.histories else (n, _NO_FACTORS)
        if not known:  # the loads themselves say why
            loads, known, factors = NO_LOADS, 1, _NO_FACTORS
        actions = bool(self._moving or self._internal) or len(loads.histories) < len(self._work.loads)
        calls = self._is_large, bool(self._moving), table is None, actions
        self._taking = steps, known, loads, bool(places)
        energies = (self._gradient, _NO_ROWS) if table is None else (table.constant, table.rows)
        works = loads.table.forces.rows, loads.table.forces.kernel, factors, *self._work.buffers()
        back = *calls, self._back.address
        given = known, steps.sizes, steps.kicks, *self._nodes, *energies, *works, *back, *(places or _NO_PLACES)
        return _steps(*given) if record is None else _recorded_steps(*record, *given)

    @property
    def _nodes(self) -> tuple[Array, ...]:
        """The arrays that passes over nodes take."""
        return self._q, self._v, self._a, self._gradient, self._inverse_mass, self._rooms

    # -- what the loop calls back -------------------------------------------------------------------------------------

    def _called(self, number: int) -> None:
        """Do what has no compiled form in a step: its number times `_KINDS`, plus the kind."""
        step, kind = divmod(number, _KINDS)
        steps, _, loads, apart = self._taking
        table = self._table_apart if apart else self._table
        k = step % len(steps.sizes)
        h = float(steps.sizes[k])
        if kind <= _LAST_PASS:
            before, after = float(steps.kicks[k, 0]), float(steps.kicks[k - 1, 1])
            self._parts.run(_pass_over, *self._nodes, step > 0, after, kind == _PASS, before, h, table is None)
            return
        t = steps.time(step) + h
        if kind == _SUPPORTS:
            given = self._moving.mask
            np.copyto(self._q, self._origin + self._moving.displacements(t), where=given)
            np.copyto(self._rooms[SEEN], self._moving.velocities(t), where=given)
        elif kind == _ENERGIES:
            if table is not None:  # whose forces are not finite: energies say of which stencil
                self._gradient.fill(0.0)
            if apart:
                for energy in self._steady:
                    energy.add_gradient(self._q, self._gradient)
            else:
                self.system.step_gradient(self._q, self._gradient)  # which is zero
        else:
            if len(loads.histories) < len(self._work.loads):
                self._gradient -= self._work.evaluate(t, self._q, self._rooms[SEEN])
                self._work.add_mean(self._q - self._rooms[START])
            self._act(h)

    def _act(self, h: float) -> None:
        """Take the forces of inelastic parts off the gradient in a step of h s, and add up their work and supports'."""
        q, v, gradient, q0 = self._q, self._v, self._gradient, self._rooms[START]
        if self._internal:
            self._work.add_dissipated(self._internal.advance_with_forces(q0, q, h, gradient))
        if self._moving:
            v0, gradient0 = self._rooms[VELOCITY], self._rooms[GRADIENT]
            np.copyto(v, self._rooms[SEEN], where=self._moving.mask)
            on_mass = 0.5 * self._mass * (v - v0) * (v + v0)
            self._work.add_supports(0.5 * (gradient0 + gradient) * (q - q0) + on_mass)


@kernel
def _steps(
    n, sizes, kicks, q, v, a, gradient, inverse_mass, before, constant, rows,
    loads, write, factors, acting, works, is_large, supports, from_python, actions, back, nodes, at, rooms,
):  # fmt: skip
    """Take n steps; return how many were taken.

    These are all, unless what is called back fails in the next one, or nodes would leave their places in it.

    Each is a drift between two kicks. Loads act with the forces acting [l, n, dim] at the beginning, and with factors
    [s, l] at the ends of steps in turn; the work of each is added to works [l].
    """
    table = LoadRows(loads, write)
    numbers = q.ravel(), v.ravel(), a.ravel(), gradient.ravel(), inverse_mass.ravel()
    ends, forces = before.reshape((len(before), q.size)), acting.reshape((len(acting), q.size))
    k, after = 0, 0.0
    for step in range(n + 1):
        if step < n and leaves(
            q, v, a, gradient, inverse_mass, step > 0, after, kicks[k, 0], sizes[k], nodes, at, rooms
        ):
            n = step
        if not is_large:
            _pass(*numbers, ends, step > 0, after, step < n, kicks[k, 0], sizes[k], from_python)
        elif call_back(back, step * _KINDS + (_PASS if step < n else _LAST_PASS)):
            return step
        if step == n:
            break
        if supports and call_back(back, step * _KINDS + _SUPPORTS):
            return step
        if from_python or not np.isfinite(write_gradient(constant, rows, q, gradient)):  # noqa: SIM102
            if call_back(back, step * _KINDS + _ENERGIES):
                return step
        if len(loads) > 0:
            loaded = q, before[SEEN], acting, ends, numbers[0], numbers[3], forces
            _subtract_loads(table, factors[step % len(factors)], *loaded, works)
        if actions and call_back(back, step * _KINDS + _ACTIONS):
            return step
        after = kicks[k, 1]
        k = k + 1 if k + 1 < len(sizes) else 0
    return n


@kernel
def _recorded_steps(
    positions, accelerations, n, sizes, kicks, q, v, a, gradient, inverse_mass, before, constant, rows,
    loads, write, factors, acting, works, is_large, supports, from_python, actions, back, nodes, at, rooms,
):  # fmt: skip
    """Take n steps one by one, which are the same to the last bit, and write what there is after each."""
    for step in range(n):
        k = step % len(factors)
        if not _steps(
            1, sizes, kicks, q, v, a, gradient, inverse_mass, before, constant, rows, loads, write,
            factors[k : k + 1], acting, works, is_large, supports, from_python, actions, back, nodes, at, rooms,
        ):  # fmt: skip
            return step
        positions[step] = q
        accelerations[step] = a
    return n


@uncounted_formula
def _subtract_loads(loads, factors, q, seen, acting, rooms, at, gradient, forces, works):
    """Take loads with factors [l] off the gradient, and add their work in the step to works [l].

    Of q, acting and gradient all numbers are in their own rows as well: at, forces and gradient.
    """
    start, total = rooms[START], rooms[SUM]
    for i in range(len(at)):
        total[i] = 0.0
    for k in range(len(factors)):
        force = forces[k]
        work = 0.0
        for i in range(len(at)):
            work += force[i] * (at[i] - start[i])
        write_load(loads, k, factors[k], q, q, q, seen, acting[k])
        for i in range(len(at)):
            work += force[i] * (at[i] - start[i])
            total[i] += force[i]
        works[k] += 0.5 * work
    for i in range(len(at)):
        gradient[i] -= total[i]


@kernel
def _pass_over(q, v, a, gradient, inverse_mass, before, has_kick, after, has_drift, kick, size, clears, first, last):
    """Pass over the nodes first … last − 1 as `_pass` does; return 0."""
    q, v, a, gradient, inverse_mass, rooms = (
        q[first:last].ravel(),
        v[first:last].ravel(),
        a[first:last].ravel(),
        gradient[first:last].ravel(),
        inverse_mass[first:last].ravel(),
        before.reshape((len(before), q.size))[:, first * q.shape[1] : last * q.shape[1]],
    )
    for i in range(0, len(q), _NUMBERS_AT_ONCE):  # which the first cache has
        end = min(i + _NUMBERS_AT_ONCE, len(q))
        numbers = q[i:end], v[i:end], a[i:end], gradient[i:end], inverse_mass[i:end], rooms[:, i:end]
        _pass(*numbers, has_kick, after, has_drift, kick, size, clears)
    return 0.0


@uncounted_formula
def _pass(q, v, a, gradient, inverse_mass, rooms, has_kick, after, has_drift, kick, size, clears):
    """Kick coordinates for a time after a drift, if there was one, and let them do the next one, if there is one."""
    if has_kick and has_drift and len(rooms) == 0 and not clears:  # most steps, in one loop
        for i in range(len(q)):
            a[i], v[i] = kicked(v[i], gradient[i], inverse_mass[i], after)
            q[i], v[i] = drifted(q[i], v[i], a[i], kick, size)
        return
    if has_kick:
        for i in range(len(q)):
            a[i], v[i] = kicked(v[i], gradient[i], inverse_mass[i], after)
    if has_drift:
        if len(rooms) > 0:
            _remember(q, v, a, gradient, rooms, size)
        for i in range(len(q)):
            q[i], v[i] = drifted(q[i], v[i], a[i], kick, size)
        if clears:  # for that at q
            for i in range(len(q)):
                gradient[i] = 0.0


@uncounted_formula
def _remember(q, v, a, gradient, rooms, size):
    """Set what is there before the drift of a step of a size in s, and the velocities at its end that loads see."""
    for i in range(len(q)):
        rooms[START, i] = q[i]
        rooms[SEEN, i] = v[i] + size * a[i]
    if len(rooms) > VELOCITY:
        for i in range(len(q)):
            rooms[VELOCITY, i], rooms[GRADIENT, i] = v[i], gradient[i]
