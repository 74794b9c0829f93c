"""Marching a system through time, with observers, and recording what it does."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from symplex.base.arguments import described
from symplex.base.representation import Summarized
from symplex.errors import InvalidSystem
from symplex.fem.energies.energy import Array
from symplex.fem.system import State, System
from symplex.time.integrator import Integrator
from symplex.time.motion import Motion

if TYPE_CHECKING:
    from symplex.meshes.pictures.picture import Picture

# What is called with the motion and its state at each of the output times.
Observer = Callable[[Motion, State], None]
ROUNDING = 1e-12  # of the times: what is shorter is no interval


def march(
    system: System,
    integrator: Integrator,
    state: State,
    times: Iterable[float],
    observers: Sequence[Observer] = (),
) -> Iterator[State]:
    """Yield the states at the given times in s, in order, after showing them to the observers.

    Parameters
    ----------
    system : System
    integrator : Integrator
    state : State
        Where the motion begins.
    times : iterable of float
        In s, ascending, from that of the state on. A step that is ``"auto"`` divides the intervals between the times
        of a sequence (`Integrator.fit`).
    observers : sequence of callable
        Such as a `Recorder`; they see each state and the motion.

    Raises
    ------
    InvalidSystem
        If what is given is no system, no integrator, no state, no times or no observers.
    StepFailed
        If a step cannot be taken; all states before it have been yielded.
    """
    _require_marched(system, integrator, state)
    scalar = isinstance(times, str | bytes) or (isinstance(times, np.ndarray) and times.ndim == 0)
    if scalar or not isinstance(times, Iterable):
        raise InvalidSystem(f"march: times must be an iterable of numbers in s; it is {described(times)}.")
    if not isinstance(observers, Sequence) or not all(map(callable, observers)):
        raise InvalidSystem(
            f"march: observers must be functions of a motion and a state; they are {described(observers)}."
        )
    if getattr(integrator, "dt", None) == "auto" and isinstance(times, Sequence | np.ndarray):
        interval = common_divisor(times, state.t)
        if interval is not None:
            integrator = integrator.fit(system, state, interval)
    motion = integrator.start(system, state)
    for t in times:
        reached = motion.advance(t)
        for observer in observers:
            observer(motion, reached)
        yield reached
        if motion.stopped:
            return


def _require_marched(system: System, integrator: Integrator, state: State) -> None:
    """Refuse what is no system, integrator or state."""
    for given, kind in ((system, System), (integrator, Integrator), (state, State)):
        if not isinstance(given, kind):
            raise InvalidSystem(
                f"march takes a System, an Integrator, a State and times; for the {kind.__name__} there is "
                f"{described(given)}. Systems on manifolds have methods that march themselves."
            )


def common_divisor(times: Sequence[float] | Array, start: float) -> float | None:
    """Return the longest interval in s that divides all those from a start to times [k], if one is found.

    It is the shortest of the intervals, or up to a thousandth of it.
    """
    after = np.asarray(times)
    if after.ndim != 1 or after.dtype.kind not in "fiu" or not np.isfinite(after).all():
        return None  # refused by the motion, which names the time
    gaps = np.abs(np.diff(after, prepend=start))
    gaps = gaps[gaps > ROUNDING * np.abs(after).max(initial=abs(start))]
    if not len(gaps):
        return None
    shortest = float(gaps.min())
    parts = math.lcm(*(Fraction(float(gap / shortest)).limit_denominator(1000).denominator for gap in gaps))
    counts = gaps / shortest * parts
    return shortest / parts if parts <= 1000 and np.allclose(counts, np.rint(counts), rtol=1e-9, atol=0.0) else None


@dataclass(frozen=True, repr=False)
class Trajectory(Summarized):
    """A recorded motion: one row for each time.

    Attributes
    ----------
    t : float64 [k]
        Times in s.
    q, v : float64 [k, n, dim]
        Positions in m and velocities in m/s.
    energies : dict of str to float64 [k]
        ``kinetic``, one entry per named energy, ``total``, and those that only the integrator knows, in J.
    momentum : float64 [k, dim]
        In kg m/s.
    angular_momentum : float64 [k, 3], [k, 1] in the plane, [k, 0] on a line
        About the origin, in kg m²/s.
    motion : Motion, optional
        That it was recorded from, at its end.
    """

    t: Array
    q: Array
    v: Array
    energies: dict[str, Array]
    momentum: Array
    angular_momentum: Array
    motion: Motion | None = field(default=None, repr=False, compare=False)

    def plot(self, title: str | None = None) -> Picture:
        """Return a picture of the energies and momenta over time, which notebooks show.

        Raises
        ------
        OutputError
            If nothing has been recorded.
        """
        from symplex.runs.notebooks import plot_of_trajectory

        # A checker of this file alone takes its class for another than that of the package.
        return plot_of_trajectory(self, title)  # pyright: ignore[reportArgumentType]

    def film(self, **options: Any) -> Picture:
        """Return a film of the motion, which notebooks show; see `symplex.render_film` for the options.

        Solids and bars are drawn, coloured by their speed.

        Raises
        ------
        RenderError
            If nothing can be drawn here, or it was put together by hand and knows no system.
        """
        from symplex.runs.notebooks import film_of_trajectory

        return film_of_trajectory(self, **options)  # pyright: ignore[reportArgumentType]


@dataclass
class Recorder:
    """An observer that keeps every state it is shown.

    Examples
    --------
    >>> recorder = Recorder()
    >>> for state in march(system, integrator, start, times, observers=[recorder]):
    ...     pass
    >>> recorder.trajectory().energies["total"]
    """

    _states: list[State] = field(default_factory=list, repr=False)
    _energies: list[dict[str, float]] = field(default_factory=list, repr=False)
    _momenta: list[Array] = field(default_factory=list, repr=False)
    _angular_momenta: list[Array] = field(default_factory=list, repr=False)
    _motion: Motion | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return f"Recorder({len(self._states)} states)"

    def __call__(self, motion: Motion, state: State) -> None:
        """Keep a state, its energies and its momenta."""
        self._motion = motion
        self._states.append(state)
        self._energies.append(motion.energies(state))
        self._momenta.append(motion.system.momentum(state))
        self._angular_momenta.append(motion.system.angular_momentum(state))

    def trajectory(self) -> Trajectory:
        """Return what was recorded so far."""
        names = self._energies[0] if self._energies else {}
        return Trajectory(
            t=np.array([state.t for state in self._states]),
            q=np.array([state.q for state in self._states]),
            v=np.array([state.v for state in self._states]),
            energies={name: np.array([row[name] for row in self._energies]) for name in names},
            momentum=np.array(self._momenta),
            angular_momentum=np.array(self._angular_momenta),
            motion=self._motion,
        )


def record(
    system: System, integrator: Integrator, state: State, times: Iterable[float], *, check: bool = False
) -> Trajectory:
    """Return the trajectory through the given times in s.

    Parameters
    ----------
    system : System
    integrator : Integrator
    state : State
        Where the motion begins.
    times : iterable of float
        In s, as of `march`.
    check : bool, default False
        Whether to check user-defined energies, constraints, laws and loads first (`symplex.testing.check_system`).

    Raises
    ------
    StepFailed
        If a step cannot be taken. To keep what was computed until then, march with a `Recorder`.
    CheckFailed
        If ``check`` finds code that is wrong, such as a gradient with a wrong sign.
    """
    if check:
        from symplex.testing.systems import check_system

        _require_marched(system, integrator, state)
        constraints = getattr(integrator, "constraints", {})
        check_system(system, state, constraints if isinstance(constraints, Mapping) else {})
    recorder = Recorder()
    for _ in march(system, integrator, state, times, observers=[recorder]):
        pass
    return recorder.trajectory()
