"""Energy-preserving variational integrators: the steps are chosen so that the discrete energy is kept."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from time import perf_counter
from typing import Annotated, NamedTuple, final

import numpy as np

from symplex.base.arguments import checked
from symplex.base.columns import count_column
from symplex.base.quantities import Without, numbers, positive
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.energies.energy import Array
from symplex.fem.system import State, System
from symplex.time.integrator import STEPS, Integrator
from symplex.time.motion import Motion, require_time, with_context
from symplex.time.solvers.newton import Newton
from symplex.time.totals import DISCRETE_BALANCE, DISCRETE_ENERGY
from symplex.time.variational.search_loop import CompiledSearch
from symplex.time.variational.step_search import StepSearch
from symplex.time.variational.variational import Attempt, VariationalMidpoint, VariationalMidpointMotion
from symplex.time.work import with_work

_EPS = float(np.finfo(float).eps)
# How many times the round-off of the energies h²|D|/8 must be, for the energy to decide on h to three digits.
_RESOLVED = 1e3


class Held(NamedTuple):
    """A step whose size the discrete energy did not decide.

    Attributes
    ----------
    t, h : float
        Its beginning and its size in s.
    defect : float
        The discrete energy of the step less the one that should be kept, in J.
    indicator : float
        D in J/s² at its beginning.
    """

    t: float
    h: float
    defect: float
    indicator: float


@checked
@final
@dataclass(frozen=True)
class AdaptiveVariational(Integrator):
    """The symplectic-energy-momentum integrator of the midpoint Lagrangian, with loads.

    The discrete action Σ L_d(t_k, q_k, t_k+1, q_k+1) is stationary with respect to positions and times. The first gives
    the steps of `VariationalMidpoint`, of any size; the second the size h: the discrete energy at the beginning of a
    step is that at the end of the one before,

    ½ vᵀ M v + V(q_m) − ½ W = E0,  E1 = E0 + W,  v = (q1 − q0)/h,  W = h f(t_m, q_m, v)·v

    so that without loads it is conserved to round-off, along with both momenta and the extended symplectic form
    Σ dq ∧ dp − dt ∧ dE. From Sharma, Patil and Woolsey (2019), eqs. 34-37 as corrected in the documentation.

    It is not step-size control: h is no measure of an error. To leading order E = H − (h²/8) D with the indicator

    D = aᵀ M a + vᵀ ∇²V v,  M a = f − ∇V

    and h follows dh/dt = −(h/D) [a·∂f/∂t + ⅓ ∇³V[v, v, v]], with ∂f/∂t the rate of f along the motion: without loads
    h ∝ D^(−1/3), with a linear elastic force h ∝ D^(−1/2). Where D → 0 steps grow, and where D changes its sign *no*
    step exists. A body in free flight without stress has D = 0.

    Parameters
    ----------
    dt : float
        The first step in s, which sets the discrete energy to be kept.
    bounds : (float, float), default (0.25, 4)
        Of a step, as multiples of the last one.
    hold : bool, default True
        Keep the last size where the discrete energy determines no step (h²|D|/8 below round-off) or none within the
        bounds; listed with its defect in ``motion.held``. If False, fail there.
    carry : bool, default True
        Carry the energy defect of held steps on until a step removes it. If False, keep the energy of the held step
        from then on: the only way to resume at once after a discontinuity, such as hard contact.
    newton : Newton, optional
        How the equations of a step of given size are solved.

    Raises
    ------
    ValueError
        If the step is not positive, or bounds are not around 1.
    """

    dt: Annotated[float, positive("s")]
    bounds: Annotated[tuple[float, float], numbers("1", 2)] = (0.25, 4.0)
    hold: bool = True
    carry: bool = True
    newton: Annotated[Newton, Without(("halvings",))] = field(default=Newton(), kw_only=True)

    kind = "adaptive-variational"
    order = 2
    conserves = frozenset({"energy", "momentum", "angular momentum"})
    energy = DISCRETE_ENERGY.name
    columns = (
        STEPS,
        *map(count_column, ("tried", "corrections")),
        count_column("held", plotted=True),
        *(DISCRETE_ENERGY, DISCRETE_BALANCE),
    )
    symmetric = False
    needs = frozenset({"gradient", "hessian"})
    takes = frozenset({"supports", "loads", "consistent mass"})

    def __post_init__(self):
        low, high = self.bounds
        if not 0.0 < low < 1.0 < high < math.inf:
            raise ValueError(
                "AdaptiveVariational: bounds must be a number between 0 and 1 and one above 1, got "
                f"{list(self.bounds)}. They are multiples of the last step."
            )
        if self.newton.halvings:
            raise ValueError("AdaptiveVariational: steps have the size that keeps the energy; halvings must be 0.")

    def start(self, system: System, state: State) -> AdaptiveVariationalMotion:
        """Return the motion that begins at the positions and velocities of a state; fixed coordinates are at rest.

        Raises
        ------
        InvalidSystem
            If a node has no mass, a support moves, or the state is that of another system.
        """
        motion = AdaptiveVariationalMotion(self, system, state.t)
        motion._inner.place(state.q, np.where(system.fixed, 0.0, state.v))
        return motion

    def resume(self, system: System, checkpoint: Mapping[str, np.ndarray]) -> AdaptiveVariationalMotion:
        """Return the motion that goes on from a checkpoint, bit-identically."""
        motion = AdaptiveVariationalMotion(self, system, 0.0)
        motion._restore(checkpoint)
        return motion


class _Next(NamedTuple):
    """The next step, which is known but not yet taken."""

    attempt: Attempt
    held: Held | None
    tried: int
    corrections: int


@final
class AdaptiveVariationalMotion(Motion):
    """A motion by the energy-preserving variational integrator; see `AdaptiveVariational`.

    Attributes
    ----------
    held : list of Held
        The steps so far whose size was held.
    """

    def __init__(self, integrator: AdaptiveVariational, system: System, t: float):
        self.system = system
        self.integrator = integrator
        self.held: list[Held] = []
        self._inner = VariationalMidpointMotion(
            VariationalMidpoint(integrator.dt, newton=integrator.newton), system, t, integrator.dt
        )
        self._shown = self._t = float(t)  # of the last state shown, and of the beginning of the next step
        self._h = float(integrator.dt)
        self._requested = self._discrete = 0.0  # discrete energies: to be kept, and of the last step at its end
        self._work = np.zeros(len(system.loads))
        self._between: Attempt | None = None  # from the beginning of the next step to the time last shown
        self._steps = self._tried = self._corrections = 0
        self._next: _Next | None = None

    # -- Motion ---------------------------------------------------------------------------------------------

    def advance(self, t: float) -> State:
        """Move to the time t in s and return the state there.

        Between its own steps it is that after a step of the variational midpoint rule from the beginning of the own
        step, which leads to the same end and keeps both momenta on the way.
        """
        self.approach(t, math.inf)
        return self._state(t)

    def approach(self, t: float, seconds: float) -> bool:
        """Move towards the time t in s for about so many seconds of wall time; return whether it is reached."""
        require_time("AdaptiveVariational", t, self._shown)
        start = perf_counter()
        while t > self._t and self._t + self._following().attempt.h <= t:
            self._take()
            if perf_counter() - start >= seconds:
                self._shown = max(self._shown, self._t)
                return False
        self._shown = t
        return True

    def step(self) -> State:
        """Take the next step of the method's own size and return the state at its end."""
        self._following()
        self._take()
        self._shown = self._t
        return self._state(self._t)

    @property
    def t(self) -> float:
        """The time in s at the end of the last own step."""
        return self._t

    @property
    def h(self) -> float:
        """The size in s of the last own step, or the first to be taken."""
        return self._h

    @property
    def midpoint(self) -> tuple[float, Array, Array]:
        """The time in s, positions and velocities [n, dim] in the middle of the next own step."""
        step = self._following().attempt
        return self._t + 0.5 * step.h, self._inner.q + 0.5 * step.dq, step.dq / step.h

    def condition(self) -> float:
        """Return the condition number (2-norm) of the equations for the mean velocity and the size of the next step.

        It grows as h falls; see `symplex.time.variational.extended_jacobian.extended_jacobian`.
        """
        from symplex.time.variational.extended_jacobian import extended_jacobian

        step = self._following().attempt
        jacobian = extended_jacobian(self.system, self._t, self._inner.q, step.dq / step.h, step.h)
        return float(np.linalg.cond(jacobian))

    def statistics(self) -> dict[str, float]:
        """Return counts of own ``steps``, of sizes ``tried``, of ``corrections``, and of steps ``held``."""
        counts: dict[str, float] = {"steps": self._steps, "tried": self._tried, "corrections": self._corrections}
        return counts | {"held": len(self.held)}

    def energies(self, state: State) -> dict[str, float]:
        """Return the energies in J of the state just returned.

        Those of the system, and ``discrete_energy``, that of the own step at its time (at the end of a step of this
        one); with loads also the work of each since the start, ``work_NAME``, the total energy less all work,
        ``balance``, and the discrete energy less all work, ``discrete_balance``, which is what is kept.
        """
        work, discrete = self._work, self._discrete
        if self._between is not None:
            work = work + self._between.work
            discrete = self._following().attempt.before + sum(self._between.work)
        elif self._steps == 0:
            discrete = self._following().attempt.before
        parts = with_work(self.system, self.system.energies_of(state), work) | {DISCRETE_ENERGY.name: discrete}
        if len(work):
            parts[DISCRETE_BALANCE.name] = discrete - float(work.sum())
        return parts

    def checkpoint(self) -> dict[str, np.ndarray]:
        """Return all that is needed to go on bit-identically, as a flat mapping of arrays."""
        return {
            "q": self._inner.q.copy(),
            "v": self._inner.v.copy(),
            "clock": np.array([self._shown, self._t, self._h]),
            "discrete": np.array([self._requested, self._discrete]),
            "work": self._work.copy(),
            "counts": np.array([self._steps, self._tried, self._corrections]),
            "held": np.array(self.held, float).reshape(-1, len(Held._fields)),
            "method": self._identity(),
        }

    # -- inside ---------------------------------------------------------------------------------------------

    def _identity(self) -> np.ndarray:
        """Return what a checkpoint must have in common with the motion that goes on from it."""
        mine = self.integrator
        return np.array([mine.dt, *mine.bounds, mine.hold, mine.carry])

    def _restore(self, checkpoint: Mapping[str, np.ndarray]) -> None:
        if not {"clock", "discrete", "method"} <= checkpoint.keys():
            raise InvalidSystem("the checkpoint belongs to another method than AdaptiveVariational.")
        if not np.array_equal(checkpoint["method"], self._identity()):
            raise InvalidSystem("the checkpoint belongs to another AdaptiveVariational: its parameters differ.")
        for name, array in (("q", self._inner.q), ("v", self._inner.v), ("work", self._work)):
            if checkpoint[name].shape != array.shape:
                raise InvalidSystem(
                    f"the checkpoint does not belong to this system: {name} has shape {checkpoint[name].shape}, "
                    f"expected {array.shape}."
                )
        self._inner.place(checkpoint["q"], checkpoint["v"])
        self._shown, self._t, self._h = (float(x) for x in checkpoint["clock"])
        self._requested, self._discrete = (float(x) for x in checkpoint["discrete"])
        self._work[...] = checkpoint["work"]
        self._steps, self._tried, self._corrections = (int(n) for n in checkpoint["counts"])
        self.held = [Held(*map(float, row)) for row in checkpoint["held"]]
        self._look(self._shown)

    def _state(self, t: float) -> State:
        """Return the state at a time not after the end of the next step."""
        inner, system = self._inner, self.system
        self._look(t)
        if self._between is not None:
            return inner.after(self._t, self._between)
        a = system.accelerations(system.force(t, inner.q, inner.v))
        return State(t, inner.q.copy(), inner.v.copy(), a)

    def _look(self, t: float) -> None:
        """Find the way from the beginning of the next step to a time within it."""
        self._between = self._inner.attempt(self._t, t - self._t) if t > self._t else None

    def _take(self) -> None:
        """Take the step that is known to follow."""
        attempt, held, tried, corrections = self._following()
        self._inner.take(attempt)
        if self._steps == 0:
            self._requested = attempt.before
        self._requested += sum(attempt.work)
        self._discrete = attempt.after
        self._work += attempt.work
        self._t, self._h = self._t + attempt.h, attempt.h
        self._steps += 1
        self._tried += tried
        self._corrections += corrections
        if held is not None:
            self.held.append(held)
            if not self.integrator.carry:
                self._requested = attempt.after
        self._next = None

    def _following(self) -> _Next:
        """Return the next step, solved once."""
        if self._next is None:
            try:
                self._next = self._find() if self._steps else self._first()
            except StepFailed as error:
                when = f"AdaptiveVariational stopped in the step from t = {self._t:.6g} s"
                raise with_context(error, f"{when}: {error}") from None
        return self._next

    def _first(self) -> _Next:
        try:
            attempt = self._inner.attempt(self._t, self._h)
        except StepFailed as error:
            raise with_context(error, f"the first step, dt = {self._h:.4g} s, cannot be solved: {error}") from None
        return _Next(attempt, None, 1, attempt.corrections)

    def _find(self) -> _Next:
        """Return the step that keeps the discrete energy, or one of the last size where there is none."""
        h, system, inner = self._h, self.system, self._inner
        low, high = (bound * h for bound in self.integrator.bounds)
        found = self._search.find(inner.q, inner.v, h, (low, high), self._requested)
        if found is not None:
            attempt, tried = found
            return _Next(attempt, None, tried, attempt.corrections)
        terms = [system.kinetic(inner.v), *(energy.total(inner.q) for energy in system.energies.values())]
        D, excess = self.indicator(), sum(terms) - self._requested
        search = StepSearch(lambda size, near: inner.attempt(self._t, size, near), self._requested)
        resolved = 0.125 * h * h * abs(D) > _RESOLVED * _EPS * sum(map(abs, terms))
        if resolved:
            # E(0) = H, and E(h) = H − h² D/8 to leading order.
            attempt = search.nearest(h, low, high, excess, -0.125 * D)
            if attempt is not None:
                return _Next(attempt, None, search.attempts, search.corrections)
        if not self.integrator.hold:
            raise StepFailed(self._no_step(resolved, D))
        attempt = inner.attempt(self._t, h)
        held = Held(self._t, h, attempt.before - self._requested, D)
        return _Next(attempt, held, search.attempts + 1, search.corrections + attempt.corrections)

    @cached_property
    def _search(self) -> CompiledSearch:
        """The search in compiled loops, looked for at the second step: of many motions none is ever taken."""
        limit = self.integrator.newton.iterations
        return CompiledSearch(self.system, self._inner.compiled_steps, limit, _RESOLVED)

    def indicator(self) -> float:
        """Return D = aᵀ M a + vᵀ ∇²V v in J/s² at the beginning of the next step."""
        system, q, v = self.system, self._inner.q, self._inner.v
        force, pattern = system.force(self._t, q, v), system.pattern
        stiff = np.add.reduceat(
            np.einsum("sij,sj->si", system.hessian_blocks(q), v[pattern.indices]), pattern.indptr[:-1]
        )
        return system.dot(force, system.accelerations(force)) + system.dot(v, stiff)

    def _no_step(self, resolved: bool, D: float) -> str:
        h, (low, high) = self._h, self.integrator.bounds
        if not resolved:
            return (
                f"the discrete energy does not decide on a step: h² D/8, D = {D:.3g} J/s² and h = {h:.4g} s, is lost "
                "in the round-off of the energies, as in free flight. Take hold=True, or VariationalMidpoint."
            )
        return (
            f"no step exists: none from {low * h:.4g} to {high * h:.4g} s has the discrete energy "
            f"{self._requested:.9g} J,"
            f" which is H − h² D/8 to leading order, with D = {D:.3g} J/s² now; where D changes its sign there is none."
            " Take hold=True, or VariationalMidpoint."
        )
