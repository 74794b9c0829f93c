"""A system in motion: what all motions have in common, and those in steps of one size."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from symplex.base.arguments import described, is_real
from symplex.base.columns import Column
from symplex.errors import InvalidArgument, InvalidSystem, InvertedElement, MaterialFailed, StepFailed
from symplex.fem.assembly.inner_products import inner
from symplex.fem.energies.energy import Array, Energy
from symplex.fem.outputs.snapshots import Observation
from symplex.fem.system import State, System
from symplex.time.internal import InternalVariables, internal_of, take_internal
from symplex.time.steps import Steps
from symplex.time.work import WorkLedger, with_work, work_columns

if TYPE_CHECKING:
    from symplex.time.integrator import Integrator

LISTED_AT = "listed at "  # and the name of an energy: in a checkpoint, where it has found its stencils
_ON_GRID = 1e-6  # how far from a whole number of steps a time may be, in steps
_MOST_STEPS = 1e15  # beyond, times are no longer distinguished
_ROUNDING = 1e-15  # the same relative to the number of steps: times and steps are rounded


class Motion(ABC):
    """A system in motion under one integrator: where it is now, and the way to any later time.

    Copies (`copy.copy`, `copy.deepcopy`, pickles) are their own motions that go on bit-identically from a
    checkpoint; the first kind shares the system.

    Attributes
    ----------
    system : System
    stopped : str
        The name of the event at which it has stopped for good (`symplex.time.Event`); empty if it goes on.
    happened : mapping of str to float
        The times in s of the events that have happened, by name and in this order.
    slip : float64 [n, dim], optional
        The velocities in m/s against which friction acts at the present state, where they are not its own.
    """

    system: System
    stopped: str = ""
    happened: Mapping[str, float] = MappingProxyType({})
    slip: Array | None = None
    _method: Integrator  # that has started it, or gone on with it

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._method!r}; {self.system!r})"

    @property
    def method(self) -> Integrator:
        """The method that has started it, or gone on with it."""
        return self._method

    @abstractmethod
    def advance(self, t: float) -> State:
        """Move to the time t in s (not before the present) and return the state there."""

    @abstractmethod
    def approach(self, t: float, seconds: float) -> bool:
        """Move towards the time t in s for about so many seconds of wall time; return whether it is reached.

        It stops between two steps or events, where a `checkpoint` can be taken, and takes one at least. The motion does
        not depend on where it stops: it is the same to the last bit. For the state at t, `advance` to it.

        Raises
        ------
        StepFailed
            As `advance`.
        """

    @abstractmethod
    def statistics(self) -> dict[str, float]:
        """Return counts since the start, such as ``steps`` or ``events``."""

    @abstractmethod
    def energies(self, state: State) -> dict[str, float]:
        """Return the energies in J of a state just returned, with those that only the integrator knows (``V_h``)."""

    def observation(self, state: State) -> Observation:
        """Return what probes see of a state just returned: with forces as the method has them."""
        return Observation(self.system, state, self.gradient, self.constraint_forces, self.slip)

    @property
    def columns(self) -> tuple[Column, ...]:
        """What histories may have of it: of the system, of the work done on it, and of the method."""
        return (*self.system.columns, *work_columns(self.system), *self._method.columns)

    def momenta(self, state: State) -> tuple[Array, Array]:
        """Return the linear and the angular momentum of a state just returned (see `System`)."""
        return self.system.momentum(state), self.system.angular_momentum(state)

    def observed(self, state: State, gradient: Callable[[Energy, State], Array]) -> dict[str, float]:
        """Return what energies report of a state just returned, with their gradients as they act (see `System`)."""
        return self.system.observed(state, gradient)

    def gradient(self, energy: Energy, state: State) -> Array:
        """Return ∂φ/∂x [m, k, dim] in N of one of the system's energies at a state just returned, as it acts."""
        return energy.gradient(state.q[energy.nodes])

    def constraint_forces(self) -> Array | None:
        """Return the forces [n, dim] in N of constraints that the method keeps, if it keeps any."""
        return None

    @abstractmethod
    def checkpoint(self) -> dict[str, np.ndarray]:
        """Return all that is needed to go on bit-identically, as a flat mapping of arrays."""

    def __reduce__(self) -> tuple[Callable[..., Motion], tuple[Any, ...]]:
        """Return what copies are made of."""
        return _gone_on, (self._method, self.system, self.checkpoint())


def _gone_on(integrator: Integrator, system: System, checkpoint: dict[str, np.ndarray]) -> Motion:
    return integrator.resume(system, checkpoint)  # pyright: ignore[reportReturnType]


class FixedStepMotion(Motion):
    """A motion in steps of one fixed size, on the time grid t0 + n·dt.

    Times are computed from the number of steps, never accumulated. A method adds how a step is taken, the arrays that
    it moves besides positions, velocities and accelerations, and what it counts.

    Parameters
    ----------
    system : System
    t0 : float
        Time of the start in s.
    dt : float
        Step size in s.
    n : int, default 0
        Number of steps already taken.

    Attributes
    ----------
    name : str
        How messages call the method; by default as its class.
    loads_at_ends : bool
        Whether loads are taken at the ends of steps (see `WorkLedger`).
    filters_steps : bool
        Whether steps are found on a way on which nothing passes through. The ends of all others are looked at.
    """

    name: str = ""
    filters_steps: bool = False
    loads_at_ends: ClassVar[bool] = False
    _q: Array
    _v: Array
    _a: Array

    def __init__(self, system: System, t0: float, dt: float, n: int = 0):
        self.name = self.name or type(self).__name__.removesuffix("Motion")
        self.system = system
        self.t0 = t0
        self.dt = dt
        self.n = n
        shape = (system.n_nodes, system.dim)
        self._q, self._v, self._a = (np.zeros(shape) for _ in range(3))
        self._work = WorkLedger(system, self.loads_at_ends)
        self._internal = InternalVariables(system)
        self._moving, self._origin = system.moving, np.zeros(shape if system.moving else 0)  # positions less u(t)
        self._at_once = 1  # steps in one call of `_compiled_steps`, which hears no signal
        self._broken = False  # stopped in the middle of a step
        self._shown = -1  # the number of steps after which arrays hold all that belongs to a state
        self._pace = 0.0  # s of wall time for a step, of those taken last; 0: not known yet
        self._list_positions = system.list_positions

    @property
    def t(self) -> float:
        """The present time in s."""
        return self.t0 + self.n * self.dt

    @property
    def list_positions(self) -> dict[str, Array]:
        """The positions [n, dim] at which energies have found their stencils in this motion (see `Potential`)."""
        return self._list_positions

    # -- what a method adds ---------------------------------------------------------------------------------

    @abstractmethod
    def _step(self, t: float, h: float) -> None:
        """Move by a step of the size h in s, of any sign, from the time t."""

    def _compiled_steps(self, n: int, steps: Steps) -> int:
        """Take up to n steps, or parts of steps, in one call of a compiled loop, if the system has one.

        Return how many it took: all is before the next one then, which `_step` takes, or says why it cannot be taken.
        """
        return 0

    def begin(self, q: Array, v: Array) -> None:
        """Take positions and velocities [n, dim] of the start, and find all else that moves."""
        self._q[...], self._v[...] = q, v
        if self._moving:
            self._origin[...] = q - self._moving.displacements(self.t)
        if self.loads_at_ends:
            self._work.evaluate(self.t, q, v)
        self._a[...] = self.system.accelerations_at(self.t, q, v, self._internal.values)

    def take_internal(self, internal: Mapping[str, Array]) -> None:
        """Take the internal variables of the start, before `begin`."""
        take_internal(self.arrays(), internal)

    def observe(self, t: float) -> None:
        """Set what is not needed for steps, but belongs to a state at the time t in s: here the accelerations."""
        self._a[...] = self.system.accelerations_at(t, self._q, self._v, self._internal.values)

    def change_velocities(self, v: Array) -> None:
        """Go on with other velocities [n, dim] in m/s, as far as a method lets them be."""
        self._v[...] = v

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that move: ``q``, ``v``, ``a`` [n, dim], and whatever else the method carries on."""
        arrays = {"q": self._q, "v": self._v, "a": self._a} | self._work.arrays() | self._internal.arrays()
        return arrays | ({"origin": self._origin} if self._moving else {})

    # -- steps ----------------------------------------------------------------------------------------------

    def substep(self, t: float, h: float) -> None:
        """Move by a step of the size h in s, of any sign, from the time t, which is not counted.

        For methods that are made of the steps of another one. `observe` sets what belongs to a state. The work of loads
        is added by the ledger where `_step` has not added it.
        """
        start = (self._q.copy(), self._v.copy()) if self._work.completes else None
        self._work.begin_step()
        try:
            self._step(t, h)
        except StepFailed as error:
            raise self._stopped(error, t, h) from None
        if self._work:
            self._work.complete(t, h, start, (self._q, self._v))

    def _stopped(self, error: StepFailed, t: float, h: float) -> StepFailed:
        """Return an error with the step of the size h from the time t in which it came."""
        return with_context(error, f"{self.name} stopped in the step from t = {t:.6g} s (dt = {h:.4g} s): {error}")

    def _run(self, n_steps: int) -> None:
        """Take n_steps steps from the time t, counting them in ``n``: in compiled loops as far as these go."""
        target, steps = self.n + n_steps, Steps.one(self.t0, self.dt)
        few = n_steps  # after one that the loop left: what is found for steps ahead, such as histories, would be lost
        while self.n < target:
            requested = min(self._at_once, few, target - self.n)
            taken = self._compiled_steps(requested, steps._replace(n=self.n))
            self.n += taken
            few = min(2 * few, n_steps) if taken == requested else 1
            if taken < requested:
                self.substep(self.t, self.dt)
                self.n += 1
        if n_steps:
            self._observe_state()

    def _observe_state(self) -> None:
        """Set what belongs to the state after a step."""
        try:
            self.observe(self.t)
        except StepFailed as error:  # as the next step would meet it: how many are taken at once must not be reported
            raise self._stopped(error, self.t, self.dt) from None

    @final
    def advance(self, t: float) -> State:
        """Take the steps to the time t in s and return the state there."""
        target = self._steps_to(t)
        self._refuse_broken()
        if target != self._shown:
            self._take(target - self.n)
        return self._state()

    def _state(self) -> State:
        """Return the present state, which is finite."""
        arrays = self.arrays()
        q, v, a = (arrays[name].copy() for name in ("q", "v", "a"))
        state = State(self.t, q, v, a, internal=internal_of(arrays))
        refuse_infinite(state)
        return state

    @final
    def approach(self, t: float, seconds: float) -> bool:
        """Take steps towards the time t in s for about so many seconds of wall time; return whether it is reached."""
        target = self._steps_to(t)
        self._refuse_broken()
        start, spent = perf_counter(), 0.0
        while self.n < target:
            # Half of what the time that is left should do for: steps may become slower.
            likely = 0.5 * max(seconds - spent, 0.0) / self._pace if self._pace > 0.0 else 0.0
            portion = max(int(min(likely, target - self.n)), 1)
            self._take(portion)
            before, spent = spent, perf_counter() - start
            self._pace = (spent - before) / portion
            if spent >= seconds:
                break
        return self.n == target

    def _take(self, n_steps: int) -> None:
        """Take n_steps steps, or none, and set all that belongs to a state."""
        self._broken = True
        if self.system.changing:
            self._take_renewing(n_steps)
        else:
            self._run(n_steps)
        self._broken = False
        self._shown = self.n

    def _take_renewing(self, n_steps: int) -> None:
        """Take steps one by one, with stencils renewed between them.

        The system may have been with another motion since; what it lists then is of this one again.
        """
        system = self.system
        system.follow(system.gone(self._internal.values))
        system.list_positions = self._list_positions
        q = self.arrays()["q"]
        before = np.empty_like(q) if system.collision_checked and not self.filters_steps else None
        target = self.n + n_steps
        while self.n < target:
            if system.update_neighbours(q):
                self.stencils_changed()
            if self._take_ahead(target - self.n):
                q = self.arrays()["q"]
                continue
            parts = self._parts_of_step()
            for k in range(parts):
                if k and system.update_neighbours(q):
                    self.stencils_changed()
                if before is not None:
                    np.copyto(before, q)
                if parts == 1:
                    self._run(1)
                else:
                    self.substep(self.t + k / parts * self.dt, self.dt / parts)
                q = self.arrays()["q"]
                if before is not None:
                    self._require_no_crossing(before, q)
                system.settle(q)
                if self._internal:
                    self._work.add_dissipated(self._internal.expose(q))
            if parts > 1:
                self.n += 1
                self._observe_state()
        self._list_positions = system.list_positions

    def _take_ahead(self, n: int) -> int:
        """Take up to n steps with what acts of stencils that change found by the method; return how many."""
        return 0

    def _parts_of_step(self) -> int:
        """Return into how many steps of equal size the next one is divided."""
        return 1

    def stencils_changed(self) -> None:
        """Drop what was made for the stencils before: they were found again between steps."""

    def _require_no_crossing(self, before: Array, q: Array) -> None:
        try:
            self.system.require_no_crossing(before, q)
        except StepFailed as error:
            raise with_context(error, f"{self.name} at t = {self.t:.6g} s (dt = {self.dt:.4g} s): {error}") from None

    def _steps_to(self, t: float) -> int:
        """Return the number of the step that ends at the time t in s."""
        require_time(type(self).__name__.removesuffix("Motion"), t, -math.inf)
        steps = (t - self.t0) / self.dt
        if not abs(steps) <= _MOST_STEPS:
            raise StepFailed(f"t = {t:.6g} s is {steps:.1g} steps of dt = {self.dt:.6g} s away; that is never reached.")
        target = round(steps)
        if abs(steps - target) > max(_ON_GRID, _ROUNDING * abs(steps)):
            raise StepFailed(
                f"t = {t:.9g} s is {steps:.9g} steps of dt = {self.dt:.6g} s after the start, not an integer. "
                "Fit the step to the interval of the output times: integrator.fit(system, state, interval)."
            )
        if target < self.n:
            raise StepFailed(f"cannot go back from t = {self.t:.9g} s to {t:.9g} s; reverse the velocities instead.")
        return target

    def statistics(self) -> dict[str, float]:
        """Return the number of ``steps``."""
        return {"steps": self.n}

    def energies(self, state: State) -> dict[str, float]:
        """Return the energies of the system in J.

        With loads, or supports that move, also the work of each since the start, ``work_NAME``, and ``balance``: the
        total energy less all work.
        """
        return with_work(self.system, self.system.energies_of(state), self._work.done)

    @final
    def checkpoint(self) -> dict[str, np.ndarray]:
        """Return all that is needed to go on bit-identically, as a flat mapping of arrays."""
        self._refuse_broken()
        arrays = self.arrays()  # which may first have to come from elsewhere, as where lists were found
        grid = {"t0": np.array(self.t0), "dt": np.array(self.dt), "n": np.array(self.n)}
        grid |= {LISTED_AT + name: q.copy() for name, q in self._list_positions.items()}
        return grid | {name: array.copy() for name, array in arrays.items()}

    def _refuse_broken(self) -> None:
        if self._broken:
            raise StepFailed(
                f"the motion stopped within the step from t = {self.t:.6g} s; resume from an earlier checkpoint."
            )

    def restore(self, checkpoint: Mapping[str, np.ndarray]) -> None:
        """Set the arrays to those of a checkpoint."""
        arrays = self.arrays()
        for name, array in arrays.items():
            if name not in checkpoint:
                raise InvalidSystem(
                    f"the checkpoint does not belong to this system, or to another method: it has no {name}."
                )
            stored = checkpoint[name]
            if stored.shape != array.shape:
                raise InvalidSystem(
                    f"the checkpoint does not belong to this system: {name} has shape {stored.shape}, "
                    f"expected {array.shape}."
                )
            array[...] = stored
        self.system.follow(self.system.gone(self._internal.values))
        stored = {name: checkpoint.get(LISTED_AT + name) for name in self._list_positions}
        self._list_positions |= {name: q for name, q in stored.items() if q is not None}
        if self.system.moving:
            self.system.moving.require_at(self.t, arrays["origin"], arrays["q"])


def require_time(name: str, t: float, present: float) -> None:
    """Check that a motion can go on to a time t in s from the present.

    Parameters
    ----------
    name : str
        Of the method, for messages.
    t, present : float
    """
    if not is_real(t):
        raise InvalidArgument(f"{name}: a time must be a number of seconds; it is {described(t)}.")
    if not math.isfinite(t):
        raise StepFailed(f"{name} cannot move to t = {t} s.")
    if t < present:
        raise StepFailed(f"cannot go back from t = {present:.9g} s to {t:.9g} s; reverse the velocities instead.")


def refuse_infinite(state: State) -> None:
    """Check that a state is finite."""
    if math.isfinite(sum(inner(x, x) for x in (state.q, state.v, state.a))):  # a third of the time of looking at each
        return
    for name, values in (("position", state.q), ("velocity", state.v), ("acceleration", state.a)):
        if not np.isfinite(values).all():
            node, axis = (int(i) for i in np.argwhere(~np.isfinite(values))[0])
            raise StepFailed(
                f"At t = {state.t:.6g} s the {name} of node {node} in direction {'xyz'[axis]} is "
                f"{values[node, axis]}. Try a smaller step."
            )


def with_context(error: StepFailed, text: str) -> StepFailed:
    """Return an error of the same kind with another text."""
    if isinstance(error, InvertedElement | MaterialFailed):
        return type(error)(text, error.element)
    return StepFailed(text)
