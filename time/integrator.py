"""The interface of all integrators."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import wraps
from time import perf_counter
from typing import Any, ClassVar, Literal, final

import numpy as np

from symplex.base.arguments import is_real, told
from symplex.errors import InvalidArgument, InvalidSystem, StepFailed
from symplex.fem.copying import Copyable
from symplex.fem.energy import Array, Energy
from symplex.fem.system import State, System

_LISTED_AT = "listed at "  # and the name of an energy: in a checkpoint, where it has found its stencils
_ON_GRID = 1e-6  # how far from a whole number of steps a time may be, in steps
_MOST_STEPS = 1e15  # beyond, times are no longer told apart
_ROUNDING = 1e-15  # the same relative to the number of steps: times and steps are rounded


class Motion(ABC):
    """A system in motion under one integrator: where it is now, and the way to any later time.

    Copies (`copy.copy`, `copy.deepcopy`, pickles) are motions of their own that go on bit-identically from a
    checkpoint; the first kind shares the system.

    Attributes
    ----------
    system : System
    """

    system: System
    _method: Integrator  # that has started it, or gone on with it

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

    def gradient(self, energy: Energy, state: State) -> Array:
        """Return ∂φ/∂x [m, k, dim] in N of one of the system's energies at a state just returned, as it acts."""
        return energy.gradient(state.q[energy.nodes])

    @abstractmethod
    def checkpoint(self) -> dict[str, np.ndarray]:
        """Return all that is needed to go on bit-identically, as a flat mapping of arrays."""

    def __reduce__(self) -> tuple[Callable[..., Motion], tuple[Any, ...]]:
        """Return what copies are made of.

        Raises
        ------
        StepFailed
            If the motion has stopped within a step.
        """
        return _gone_on, (self._method, self.system, self.checkpoint())


def _gone_on(integrator: Integrator, system: System, checkpoint: dict[str, np.ndarray]) -> Motion:
    return integrator.resume(system, checkpoint)


class FixedStepMotion(Motion):
    """A motion in steps of one fixed size, on the time grid t0 + n·dt.

    Times are computed from the number of steps, never accumulated. A method adds the arrays that it moves
    and the loop that moves them, so that it can keep its work arrays and fuse its steps.

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
    moves_supports : bool
        Whether the method takes the supports of a system along whose motion is given; others refuse such systems.

    Raises
    ------
    InvalidSystem
        If supports move that the method cannot take along.
    """

    moves_supports = False

    def __init__(self, system: System, t0: float, dt: float, n: int = 0):
        if not self.moves_supports:
            system.moving.require_none(type(self).__name__.removesuffix("Motion"))
        self.system = system
        self.t0 = t0
        self.dt = dt
        self.n = n
        self._broken = False  # stopped in the middle of a step
        self._shown = -1  # the number of steps after which arrays hold all that belongs to a state
        self._pace = 0.0  # s of wall time for a step, of those taken last; 0: not known yet
        self._listed_at = system.listed_at

    @property
    def t(self) -> float:
        """The present time in s."""
        return self.t0 + self.n * self.dt

    @abstractmethod
    def _run(self, n_steps: int) -> None:
        """Take n_steps steps from the time t, counting them in ``n``."""

    @abstractmethod
    def _arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that move: ``q``, ``v``, ``a`` [n, dim], and whatever else the method carries on."""

    @final
    def advance(self, t: float) -> State:
        """Take the steps to the time t in s and return the state there.

        Raises
        ------
        StepFailed
            If t is not a whole number of steps away (to 1e-6 of a step), or a step cannot be taken.
        """
        target = self._steps_to(t)
        self._refuse_broken()
        if target != self._shown:
            self._take(target - self.n)
        arrays = self._arrays()
        state = State(self.t, arrays["q"].copy(), arrays["v"].copy(), arrays["a"].copy())
        _refuse_infinite(state)
        return state

    @final
    def approach(self, t: float, seconds: float) -> bool:
        """Take steps towards the time t in s for about so many seconds of wall time; return whether it is reached.

        Raises
        ------
        StepFailed
            As `advance`.
        """
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
        self.system.listed_at = self._listed_at
        if n_steps == 0:
            self._run(0)
        for _ in range(n_steps):
            self.system.renew(self._arrays()["q"])
            self._run(1)
        self._listed_at = self.system.listed_at

    def _steps_to(self, t: float) -> int:
        """Return the number of the step that ends at the time t in s."""
        require_time(type(self).__name__.removesuffix("Motion"), t, -math.inf)
        steps = (t - self.t0) / self.dt
        if not abs(steps) <= _MOST_STEPS:
            raise StepFailed(f"t = {t:.6g} s is {steps:.1g} steps of dt = {self.dt:.6g} s away; that is never reached.")
        target = round(steps)
        if abs(steps - target) > max(_ON_GRID, _ROUNDING * abs(steps)):
            raise StepFailed(
                f"t = {t:.9g} s is {steps:.9g} steps of dt = {self.dt:.6g} s after the start, not a whole number. "
                "Fit the step to the interval of the wanted times: integrator.fit(system, state, interval)."
            )
        if target < self.n:
            raise StepFailed(f"cannot go back from t = {self.t:.9g} s to {t:.9g} s; reverse the velocities instead.")
        return target

    def statistics(self) -> dict[str, float]:
        """Return the number of ``steps``."""
        return {"steps": self.n}

    def energies(self, state: State) -> dict[str, float]:
        """Return the energies of the system in J."""
        return self.system.energies_of(state)

    @final
    def checkpoint(self) -> dict[str, np.ndarray]:
        """Return all that is needed to go on bit-identically, as a flat mapping of arrays.

        Raises
        ------
        StepFailed
            If the last step was not finished.
        """
        self._refuse_broken()
        grid = {"t0": np.array(self.t0), "dt": np.array(self.dt), "n": np.array(self.n)}
        grid |= {_LISTED_AT + name: q.copy() for name, q in self._listed_at.items()}
        return grid | {name: array.copy() for name, array in self._arrays().items()}

    def _refuse_broken(self) -> None:
        if self._broken:
            raise StepFailed(
                f"the motion stopped within the step from t = {self.t:.6g} s; resume from an earlier checkpoint."
            )

    @final
    def _restore(self, checkpoint: Mapping[str, np.ndarray]) -> None:
        arrays = self._arrays()
        for name, array in arrays.items():
            if name not in checkpoint:
                raise InvalidSystem(
                    f"the checkpoint does not belong to this system, or to another method: it has no {name}."
                )
            stored = checkpoint[name]
            if stored.shape != array.shape:
                raise InvalidSystem(
                    f"the checkpoint does not belong to this system: {name} has shape {stored.shape}, "
                    f"wanted {array.shape}."
                )
            array[...] = stored
        stored = {name: checkpoint.get(_LISTED_AT + name) for name in self._listed_at}
        self._listed_at |= {name: q for name, q in stored.items() if q is not None}
        if self.system.moving:
            self.system.moving.require_at(self.t, arrays["origin"], arrays["q"])


def require_time(name: str, t: float, present: float) -> None:
    """Check that a motion can go on to a time t in s from the present.

    Parameters
    ----------
    name : str
        Of the method, for messages.
    t, present : float

    Raises
    ------
    InvalidArgument
        If the time is no number.
    StepFailed
        If it is not finite, or past.
    """
    if not is_real(t):
        raise InvalidArgument(f"{name}: a time must be a number of seconds; it is {told(t)}.")
    if not math.isfinite(t):
        raise StepFailed(f"{name} cannot move to t = {t} s.")
    if t < present:
        raise StepFailed(f"cannot go back from t = {present:.9g} s to {t:.9g} s; reverse the velocities instead.")


def _require_state(name: str, system: System, state: State) -> None:
    """Check that a state is one of a system.

    Raises
    ------
    InvalidArgument
        If it is no state, or the system is none.
    InvalidSystem
        If it is that of another system.
    StepFailed
        If it is not finite.
    """
    for given, kind in ((system, System), (state, State)):
        if not isinstance(given, kind):
            raise InvalidArgument(f"{name} starts with a System and a State; for the {kind.__name__} is {told(given)}.")
    arrays = (state.q, state.v)
    if not is_real(state.t) or not all(isinstance(x, np.ndarray) and x.dtype.kind in "fiu" for x in arrays):
        raise InvalidArgument(f"{name}: a state has a time and arrays of numbers; system.state(q, v, t) makes one.")
    if state.q.shape != (system.n_nodes, system.dim) or state.v.shape != state.q.shape:
        raise InvalidSystem(
            f"the state has positions of shape {state.q.shape} and velocities of shape {state.v.shape}, but the "
            f"system has {system.n_nodes} nodes in {system.dim} dimensions."
        )
    if not (math.isfinite(state.t) and all(np.isfinite(x).all() for x in arrays)):
        raise StepFailed(f"{name} cannot start: its time, positions or velocities are not finite.")


def require_stencils(method: Integrator, system: System) -> None:
    """Check that a method takes the energies of a system whose stencils change.

    Raises
    ------
    InvalidSystem
        If it does not.
    """
    for name, energy in system.changing.items():
        if not method.changing_stencils:
            raise InvalidSystem(
                f"{type(method).__name__} needs stencils that stay as they are, but those of energy '{name}' "
                f"({type(energy).__name__}) change. Take EnergyMomentum or Newmark, or all pairs (Bars)."
            )


def _with_checked_state(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method of an integrator that looks at the system and the state that it is given."""

    @wraps(method)
    def call(self: Integrator, system: System, state: State, *rest: Any, **options: Any) -> Any:
        _require_state(type(self).__name__, system, state)
        require_stencils(self, system)
        system.renew(state.q)
        return method(self, system, state, *rest, **options)

    return call


def require_step(method: Integrator, dt: float) -> None:
    """Check that the step of a method is a number of seconds.

    Raises
    ------
    ValueError
        If it is no number, not positive, or not finite.
    """
    if not (is_real(dt) and math.isfinite(dt) and dt > 0):
        raise ValueError(f"{type(method).__name__}: dt must be positive (s); it is {told(dt)}.")


def stored_grid(checkpoint: Mapping[str, np.ndarray]) -> tuple[float, float, int]:
    """Return t0 and dt in s and the number of steps n of a checkpoint of a `FixedStepMotion`.

    Raises
    ------
    InvalidSystem
        If it is of another kind of motion.
    """
    if not {"t0", "dt", "n"} <= checkpoint.keys():
        raise InvalidSystem("the checkpoint belongs to another method: it has no steps of a fixed size.")
    return float(checkpoint["t0"]), float(checkpoint["dt"]), int(checkpoint["n"])


def _refuse_infinite(state: State) -> None:
    for name, values in (("position", state.q), ("velocity", state.v), ("acceleration", state.a)):
        if not np.isfinite(values).all():
            node, axis = (int(i) for i in np.argwhere(~np.isfinite(values))[0])
            raise StepFailed(
                f"At t = {state.t:.6g} s the {name} of node {node} in direction {'xyz'[axis]} is "
                f"{values[node, axis]}. Try a smaller step."
            )


def _signed(begin: Callable[..., Motion]) -> Callable[..., Motion]:
    """Return a method that begins motions and leaves its integrator with them."""

    @wraps(begin)
    def signed(self: Integrator, *arguments: Any, **named: Any) -> Motion:
        motion = begin(self, *arguments, **named)
        motion._method = self
        return motion

    return signed


class Integrator(Copyable, ABC):
    """A method, as a small immutable object.

    Attributes
    ----------
    order : float
        Order of accuracy in the step (or grid) size.
    conserves : frozenset of str
        What it keeps to round-off: of ``energy``, ``momentum``, ``angular momentum``, ``symplectic form``.
    energy : str, default "total"
        Which of the energies of a motion is meant (see `symplex.time.totals.TOTALS`): the one that is kept, or nearly
        kept where ``conserves`` has no energy. Where loads do work, it is this less the work.
    symmetric : bool
        Whether a run with reversed velocities comes back.
    changing_stencils : bool
        Whether the method takes energies whose stencils change between steps (`symplex.fem.changing`); others refuse
        them.
    """

    order: float
    conserves: frozenset[str]
    energy: str = "total"
    symmetric: bool
    changing_stencils: bool = False

    def __init_subclass__(cls, **options: Any):
        """Let all methods, those of users as well, begin with states of their systems only, and sign their motions.

        A motion knows the method that starts it or goes on with it: its copies are made by that.
        """
        super().__init_subclass__(**options)
        for wrap, names in ((_with_checked_state, ("start", "fit")), (_signed, ("start", "resume"))):
            for name in names:
                if name in vars(cls):
                    setattr(cls, name, wrap(vars(cls)[name]))

    @abstractmethod
    def start(self, system: System, state: State) -> Motion:
        """Return the motion that begins at a state."""

    @abstractmethod
    def resume(self, system: System, checkpoint: Mapping[str, np.ndarray]) -> Motion:
        """Return the motion that goes on from a checkpoint, bit-identically."""

    def fit(self, system: System, state: State, interval: float) -> Integrator:
        """Return the method with a step that divides the interval in s between wanted times.

        Methods that reach any time by themselves return themselves.
        """
        return self


class FixedStepIntegrator(Integrator):
    """A method with steps of one size, as a dataclass.

    Its motions take each step from positions and velocities alone, so that a `Composition` can change the size from
    step to step, and its sign.

    Attributes
    ----------
    dt : float or "auto"
        Step in s; ``"auto"`` if it is chosen at the start.
    no_composition : str
        Why it can't be composed, if it can't.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]  # it is a dataclass, whose step `dataclasses.replace` replaces
    dt: float | Literal["auto"]
    no_composition: str = ""

    @abstractmethod
    def start(self, system: System, state: State) -> FixedStepMotion:
        """Return the motion that begins at a state."""

    @abstractmethod
    def resume(self, system: System, checkpoint: Mapping[str, np.ndarray]) -> FixedStepMotion:
        """Return the motion that goes on from a checkpoint, bit-identically."""

    @abstractmethod
    def fit(self, system: System, state: State, interval: float) -> FixedStepIntegrator:
        """Return the method with the largest step not above its own that divides an interval in s."""
