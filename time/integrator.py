"""The interface of all integrators, and what those with fixed steps have in common."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar

import numpy as np

from symplex.base.arguments import described, is_real
from symplex.base.columns import Column, count_column
from symplex.base.quantities import positive
from symplex.errors import InvalidArgument, InvalidSystem, StepFailed
from symplex.fem.assembly.copying import Copyable
from symplex.fem.system import State, System
from symplex.time.motion import FixedStepMotion, Motion
from symplex.time.traits import Form, Trait, Use, require_traits


def _require_kind(name: str, given: Any, kind: type) -> None:
    """Check that a system or a state is one."""
    if not isinstance(given, kind):
        raise InvalidArgument(
            f"{name} starts with a System and a State; for the {kind.__name__} is {described(given)}."
        )


def _require_state(name: str, system: System, state: State) -> None:
    """Check that a state is one of a system."""
    _require_kind(name, system, System)
    _require_kind(name, state, State)
    whole = is_real(state.t) and isinstance(state.internal, Mapping)
    arrays = (state.q, state.v, *(state.internal.values() if whole else ()))
    if not whole or not all(isinstance(x, np.ndarray) and x.dtype.kind in "fiu" for x in arrays):
        raise InvalidArgument(f"{name}: a state has a time and arrays of numbers; system.state(q, v, t) makes one.")
    if state.q.shape != (system.n_nodes, system.dim) or state.v.shape != state.q.shape:
        raise InvalidSystem(
            f"the state has positions of shape {state.q.shape} and velocities of shape {state.v.shape}, but the "
            f"system has {system.n_nodes} nodes in {system.dim} dimensions."
        )
    for part_name, part in system.inelastic.items():
        z = state.internal.get(part_name)
        if z is None or z.shape != part.shape:
            raise InvalidSystem(
                f"the state has no internal variables of the inelastic part '{part_name}', or those of another one; "
                "system.state(q, v, t) makes a state with them."
            )
    if not (math.isfinite(state.t) and all(np.isfinite(x).all() for x in arrays)):
        raise StepFailed(f"{name} cannot start: its time, positions or velocities are not finite.")


def _with_checked_system(method: Callable[..., Motion]) -> Callable[..., Motion]:
    """Return a method of an integrator that checks the system that it goes on with."""

    @wraps(method)
    def call(self: Integrator, system: System, *rest: Any, **options: Any) -> Motion:
        _require_kind(type(self).__name__, system, System)
        require_traits(self, system)  # pyright: ignore[reportArgumentType]
        return method(self, system, *rest, **options)

    return call


def _with_checked_state(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method of an integrator that checks the system and the state that it is given."""

    @wraps(method)
    def call(self: Integrator, system: System, state: State, *rest: Any, **options: Any) -> Any:
        _require_state(type(self).__name__, system, state)
        require_traits(self, system)  # pyright: ignore[reportArgumentType]
        system.follow(system.gone(state.internal))
        system.update_neighbours(state.q)
        return method(self, system, state, *rest, **options)

    return call


def _without_overlaps(start: Callable[..., Motion]) -> Callable[..., Motion]:
    """Return a method that begins motions where no bodies overlap."""

    @wraps(start)
    def call(self: Integrator, system: System, state: State, *rest: Any, **options: Any) -> Motion:
        system.check_start(state.q)
        return start(self, system, state, *rest, **options)

    return call


def require_step(method: Integrator, dt: float) -> None:
    """Check that the step of a method is a number of seconds."""
    try:
        positive("s").check(dt)
    except ValueError as error:
        raise ValueError(f"{type(method).__name__}: dt {error}.") from None


def stored_grid(checkpoint: Mapping[str, np.ndarray]) -> tuple[float, float, int]:
    """Return t0 and dt in s and the number of steps n of a checkpoint of a `FixedStepMotion`."""
    if not {"t0", "dt", "n"} <= checkpoint.keys():
        raise InvalidSystem("the checkpoint belongs to another method: it has no steps of a fixed size.")
    return float(checkpoint["t0"]), float(checkpoint["dt"]), int(checkpoint["n"])


# A checker of this file alone takes its classes for others than those of symplex.time.integrator.


def _signed(begin: Callable[..., Motion]) -> Callable[..., Motion]:
    """Return a method that begins motions and leaves its integrator with them."""

    @wraps(begin)
    def signed(self: Integrator, system: System, *arguments: Any, **named: Any) -> Motion:
        motion = begin(self, system, *arguments, **named)
        motion._method = self  # pyright: ignore[reportAttributeAccessIssue]
        return motion

    return signed


class Integrator(Copyable, ABC):
    """A method, as a small immutable object.

    Attributes
    ----------
    kind : str, default ""
        How scenarios call the method, whose parameters are then the keys of ``[integrator]``, if they know it.
    order : float
        Order of accuracy in the step (or grid) size.
    conserves : frozenset of str
        What it keeps to round-off: of ``energy``, ``momentum``, ``angular momentum``, ``symplectic form``.
    energy : str, default "total"
        Which of the totals among the ``columns`` is meant: the one that is kept, or nearly kept where ``conserves`` has
        no energy. Where loads do work, it is this less the work.
    columns : tuple of Column
        What the statistics and energies of its motions may have, next to those of the system and the work done on it.
    symmetric : bool
        Whether a run with reversed velocities comes back.
    needs : frozenset of str, default {"gradient"}
        The forms of energies that it evaluates, next to values (see `symplex.time.traits.FORMS`).
    takes : frozenset of str, default {"supports"}
        What systems may have, and what may be done with the method (see `symplex.time.traits.Trait`).
    why_not : mapping of str to str
        Why it is not for a use, where that is not plain.
    name : str
        How messages call it; by default as its class.
    """

    kind: str = ""
    order: float
    conserves: frozenset[str]
    energy: str = "total"
    columns: tuple[Column, ...] = ()
    symmetric: bool
    needs: frozenset[Form] = frozenset({"gradient"})
    takes: frozenset[Trait] = frozenset({"supports"})
    why_not: Mapping[Use, str] = MappingProxyType({})

    @property
    def name(self) -> str:
        """How messages call the method."""
        return type(self).__name__

    @property
    def named(self) -> Mapping[str, Sequence[str]]:
        """The energies that parameters name, by parameter."""
        return {}

    def needs_of(self, energy: str) -> frozenset[Form]:
        """Return which forms it needs of the energy of a name: ``needs``, unless that acts in its own way."""
        return self.needs

    def instead(self, form: Form, energy: str) -> str:
        """Return how to do with an energy that lacks a form, next to giving it one, if there is a way."""
        return ""

    def __init_subclass__(cls, **options: Any):
        """Let all methods, those of users as well, begin with states of their systems only, and sign their motions.

        A motion knows the method that starts it or goes on with it: its copies are made by that.
        """
        super().__init_subclass__(**options)
        wrappers = (
            (_without_overlaps, ("start",)),
            (_with_checked_state, ("start", "fit")),
            (_with_checked_system, ("resume",)),
            (_signed, ("start", "resume")),
        )
        for wrap, names in wrappers:
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
        """Return the method with a step that divides the interval in s between output times.

        Methods that reach any time by themselves return themselves.
        """
        return self


STEPS = count_column("steps", plotted=True)
FixedMotion = TypeVar("FixedMotion", bound=FixedStepMotion, covariant=True)


class FixedStepIntegrator(Integrator, Generic[FixedMotion]):
    """A method with steps of one size, as a dataclass.

    Its motions take each step from positions and velocities alone, so that a `Composition` can change the size from
    step to step, and its sign. A method declares its traits and adds `_motion`, and `_step_size` if its step is chosen
    or limited.

    Attributes
    ----------
    dt : float or "auto"
        Step in s; ``"auto"`` if it is chosen at the start.
    """

    columns = (STEPS,)

    __dataclass_fields__: ClassVar[dict[str, Any]]  # it is a dataclass, whose step `dataclasses.replace` replaces
    dt: float | Literal["auto"]

    @property
    def splits(self) -> bool:
        """Whether its motions take steps of drifts between changes of velocity by forces of positions alone."""
        return False

    @abstractmethod
    def _motion(self, system: System, t0: float, dt: float, n: int) -> FixedMotion:
        """Return a motion of this method, its arrays not yet set."""

    def _step_size(self, system: System, state: State) -> float:
        """Return the step in s, chosen or checked against its limit for a system."""
        return float(self.dt)

    def start(self, system: System, state: State) -> FixedMotion:
        """Return the motion that begins at the positions and velocities of a state; those of supports are as given."""
        method = self._resolved(system, state)
        motion = method._motion(system, state.t, method._step_size(system, state), 0)
        motion.take_internal(state.internal)
        motion.begin(state.q, system.held(state.t, state.v))
        self._set_off(motion)
        return motion

    def _set_off(self, motion: FixedMotion) -> None:
        """Tell a motion that has begun at a start what it does not have of the method by then."""

    def _resolved(self, system: System, state: State) -> Self:
        """Return the method with parameters that are found for a system."""
        return self

    def restart(self, system: System, state: State, dt: float) -> FixedMotion | None:
        """Return the motion that begins at a state on the way of another one, with a shorter step in s than that.

        The step is not checked against a stability limit again. None of methods that begin in their own way.
        """
        return self._begun(system, state, dt) if type(self).start is FixedStepIntegrator.start else None

    def _begun(self, system: System, state: State, dt: float) -> FixedMotion:
        """Return the motion that begins at a state with a step in s that is not checked."""
        system.update_neighbours(state.q)
        motion = self._motion(system, state.t, dt, 0)
        motion.take_internal(state.internal)
        motion.begin(state.q, system.held(state.t, state.v))
        motion._method = self  # pyright: ignore[reportAttributeAccessIssue]
        return motion

    def resume(self, system: System, checkpoint: Mapping[str, np.ndarray]) -> FixedMotion:
        """Return the motion that goes on from a checkpoint, bit-identically, with the step stored there."""
        motion = self._motion(system, *stored_grid(checkpoint))
        motion.restore(checkpoint)
        return motion

    def fit(self, system: System, state: State, interval: float) -> Self:
        """Return the method with the largest step not above its own that divides an interval in s."""
        return replace(self, dt=dividing(self._step_size(system, state), interval))


def dividing(dt: float, interval: float) -> float:
    """Return the largest step in s not above dt that divides an interval in s."""
    if not (is_real(interval) and math.isfinite(interval) and interval > 0):
        raise InvalidArgument(f"the interval between output times must be positive (s); it is {described(interval)}.")
    # The tolerance keeps a dt that divides the interval but for rounding.
    return interval / max(math.ceil(interval / dt * (1.0 - 1e-12)), 1)
