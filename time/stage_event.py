"""Events: conditions on a motion that end a stage of it, and where within a step they begin to hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias, final

import numpy as np

from symplex.base.arguments import checked
from symplex.base.quantities import check_name, whole
from symplex.errors import InvalidArgument, InvalidSystem, StepFailed
from symplex.fem.energies.energy import Array
from symplex.fem.outputs.probe import Probe
from symplex.fem.system import State
from symplex.time.motion import Motion

if TYPE_CHECKING:
    from symplex.time.stages import Stage

PART = 1e-10  # of a step: how exactly an event is located in it
_MOST_TRIALS = 100
_MOST_LOOKS = 10**9

Quantity: TypeAlias = Callable[[Motion, State], float]
Following: TypeAlias = "Callable[[Mapping[str, float]], Sequence[Stage]]"


@checked
@final
@dataclass(frozen=True)
class Event:
    """A condition on a motion in `Stages`, and what follows when it holds for the first time.

    It is evaluated at the start, and after each ``every`` steps; of methods without steps of one size, at the times to
    which the motion is advanced. Where it holds, the time at which it began to is located to 1e-10 of what lies
    between: the motion is stepped again from the state before by shorter steps of its method (`Integrator.fit`), so
    that the state there is one that the method has computed, and each step is one of a fixed size. What holds for less
    than that is not seen. Each event happens once.

    Parameters
    ----------
    name : str
        In `StagedMotion.happened` and in messages.
    value : callable, Probe or "time"
        Returns a number of a motion and a state that it has just returned; of a probe its first column is taken. The
        time in s counts from the last of the events before, if there are any.
    above, below : float, optional
        The event happens as the number is above, or below, this one. One of them is given, in units of the number.
    then : {"stop", "record"}, sequence of Stage, or callable, default "stop"
        Whether the motion stops there, goes on as if nothing had happened, or goes on with these stages, the first of
        which begins there. A function returns them, given the times in s of all events that have happened, by name.
    after : sequence of str, optional
        Events that must have happened before: until then this one is not evaluated.
    every : int, default 1
        Steps between evaluations.

    Raises
    ------
    InvalidSystem
        If there is no such bound, or there are two.

    Examples
    --------
    >>> sx.time.Event("fast", lambda motion, state: motion.energies(state)["kinetic"], above=10.0)
    """

    name: str
    value: Quantity | Probe | Literal["time"]
    above: float | None = None
    below: float | None = None
    then: Literal["stop", "record"] | Sequence[Stage] | Following = "stop"
    after: Sequence[str] = ()
    every: Annotated[int, whole(1, _MOST_LOOKS)] = 1

    def __post_init__(self):
        try:
            check_name(self.name)
        except ValueError as error:
            raise InvalidSystem(f"Event: its name {error}.") from None
        bounds = [x for x in (self.above, self.below) if x is not None]
        if len(bounds) != 1 or not math.isfinite(bounds[0]):
            raise InvalidSystem(f"Event '{self.name}': give one finite number, either above or below.")
        if not callable(self.value) and not isinstance(self.value, Probe) and self.value != "time":
            raise InvalidArgument(
                f"Event '{self.name}': value must be a probe, a function of a motion and a state, or 'time'."
            )
        if isinstance(self.then, str) and self.then not in ("stop", "record"):
            raise InvalidArgument(f"Event '{self.name}': then must be 'stop', 'record' or stages, got '{self.then}'.")
        object.__setattr__(self, "after", tuple(self.after))

    @property
    def bound(self) -> float:
        """The number at which it happens."""
        return float(self.above if self.above is not None else self.below)  # pyright: ignore[reportArgumentType]

    def excess(self, motion: Motion, state: State, since: float) -> float:
        """Return by how much the condition holds, not where it is 0 or negative; a time counts from another in s.

        Raises
        ------
        StepFailed
            If the number is none.
        """
        if isinstance(self.value, Probe):
            found = float(self.value.values(motion.observation(state))[0])
        elif isinstance(self.value, str):
            found = state.t - since
        else:
            found = float(self.value(motion, state))
        if math.isnan(found):
            raise StepFailed(f"t = {state.t:.6g} s: the value of the event '{self.name}' is not a number.")
        return found - self.bound if self.above is not None else self.bound - found

    def follow(self, happened: Mapping[str, float]) -> Sequence[Stage] | None:
        """Return the stages that follow, given the times in s of all that has happened; None: the same go on.

        Raises
        ------
        InvalidSystem
            If a function returns none.
        """
        if isinstance(self.then, str):
            return None
        stages = tuple(self.then(happened) if callable(self.then) else self.then)
        if not stages:
            raise InvalidSystem(f"Event '{self.name}': no stage follows; with then = 'stop' the motion stops.")
        return stages


def where_it_holds(excess: Callable[[float], float], size: float, at_end: float, least: float) -> float:
    """Return the part of an interval, measured from its start, after which a condition that holds at its end does.

    By secants, and bisection where these do not halve the bracket. It holds at what is returned, and not a part
    ``PART`` of the interval before, unless ``least`` is more.

    Parameters
    ----------
    excess : callable
        Of a part in s, above 0 where the condition holds.
    size : float
        Of the interval in s.
    at_end : float
        The excess at its end, above 0.
    least : float
        In s, by which times are distinguished.
    """
    low, high = 0.0, size
    at_low, at_high = math.nan, at_end
    tolerance = max(PART * size, least)
    for _ in range(_MOST_TRIALS):
        if high - low <= tolerance:
            break
        width = high - low
        middle = low + 0.5 * width
        guess = low - at_low * width / (at_high - at_low) if at_low < 0.0 else middle
        # From both sides of the secant's root the bracket shrinks to about the tolerance at once.
        for at in (guess - 0.4 * tolerance, guess + 0.4 * tolerance):
            at = min(max(at, low), high)
            if low < at < high:
                found = excess(at)
                low, at_low, high, at_high = (low, at_low, at, found) if found > 0.0 else (at, found, high, at_high)
        if high - low > 0.5 * width and low < middle < high:
            found = excess(middle)
            low, at_low, high, at_high = (low, at_low, middle, found) if found > 0.0 else (middle, found, high, at_high)
    return high


def as_array(happened: Mapping[str, float], events: Sequence[Event]) -> Array:
    """Return which events have happened, and when, in their order, as an array [k, 2] for checkpoints."""
    numbers = {event.name: k for k, event in enumerate(events)}
    return np.array([[numbers[name], t] for name, t in happened.items()], dtype=float).reshape(-1, 2)


def from_array(rows: Array, events: Sequence[Event]) -> dict[str, float]:
    """Return the times in s of events by name, of `as_array`."""
    if rows.ndim != 2 or rows.shape[1] != 2 or (len(rows) and not 0 <= rows[:, 0].max() < len(events)):
        raise InvalidSystem("the checkpoint does not belong to a motion with these events.")
    return {events[int(k)].name: float(t) for k, t in rows}
