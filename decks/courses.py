"""How what acts in a step changes with time: amplitudes, ramps, and what a step begins with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symplex.decks.deck import Amplitude, Deck, Step
from symplex.decks.paths import SUDDEN, Path
from symplex.decks.reading import UnsupportedKeyword
from symplex.decks.state import Value
from symplex.decks.units import Units

Table = dict[str, Any]


class Courses:
    """The factors over time of one step.

    Parameters
    ----------
    deck : Deck
    step : Step
    units : Units
    preload : int
        The number of the static step that a motion begins after; 0 for none.
    path : Path, optional
        The static steps that depend on each other, which are one slow motion.
    """

    def __init__(self, deck: Deck, step: Step, units: Units, preload: int, path: Path | None = None):
        self._deck, self._step, self._units, self._preload, self._path = deck, step, units, preload, path

    @property
    def moves(self) -> bool:
        """Whether the step is a motion."""
        return self._step.is_motion

    @property
    def changes(self) -> bool:
        """Whether what acts changes with time: in motions, and along a path of static steps."""
        return self.moves or self._path is not None

    @property
    def duration(self) -> float:
        """The duration of the scenario, in the unit of time of the deck."""
        return self._step.period if self._path is None else sum(step.period for step in self._path.steps)

    def final(self, amplitude: str, number: int) -> float:
        """Return the factor of an amplitude at the end of a step."""
        if not amplitude:
            return 1.0
        course = self._amplitude(amplitude)
        step = self._step
        if number < step.number:
            raise UnsupportedKeyword("an amplitude of an earlier step continues")
        t = step.period + (self._time_before if course.total else 0.0)
        return float(np.interp(t, course.times, course.factors))

    @property
    def _time_before(self) -> float:
        if self._path is not None:
            return 0.0
        before = self._deck.steps[: self._step.number - 1]
        return sum(s.period for s in before if not s.perturbation and s.procedure != "frequency")

    def _amplitude(self, name: str) -> Amplitude:
        if self._path is not None and name in self._path.amplitudes:
            return self._path.amplitudes[name]
        if name not in self._deck.amplitudes:
            raise UnsupportedKeyword(f"there is no amplitude '{name}'")
        return self._deck.amplitudes[name]

    def history(self, amplitude: str) -> Table | None:
        """Return how a load of this step changes in a motion; None if it is constant."""
        if amplitude:
            course = self._amplitude(amplitude)
            times = np.array(course.times) - (self._time_before if course.total else 0.0)
            return {
                "kind": "table",
                "times": (times * self._units.time).tolist(),
                "factors": list(course.factors),
            }
        if self._step.ramps:
            return {"kind": "table", "times": [0.0, self._step.period * self._units.time], "factors": [0.0, 1.0]}
        if self._preload:
            times = [0.0, SUDDEN * self._step.dt * self._units.time]
            return {"kind": "table", "times": times, "factors": [0.0, 1.0]}
        return None

    def course(self, value: Value) -> tuple[float, str, bool]:
        """Return a value, the name of its amplitude, and whether it changes in this step."""
        if not self.changes or value.step < self._step.number:
            return value.value * self.final(value.amplitude, value.step), "", False
        return value.value, value.amplitude, bool(value.amplitude or self._step.ramps or self._preload)

    def motion(self, displacement: NDArray[np.float64], amplitude: str, number: int) -> Table:
        """Return the keys of a support that moves by a displacement [3] in m, as a step says.

        Raises
        ------
        UnsupportedKeyword
            If it jumps at the start of a motion.
        """
        duration = self.duration * self._units.time
        if not self.changes or number < self._step.number:
            displacement = displacement * self.final(amplitude, number)
            history: Table | None = {"kind": "table", "times": [0.0, duration], "factors": [1.0, 1.0]}
            return {"displacement": displacement.tolist(), "history": history, "interpolation": "linear"}
        history = self.history(amplitude)
        if not history:
            raise UnsupportedKeyword("a support jumps at the start of the step; give it an amplitude")
        times, factors = history["times"], history["factors"]
        if times[-1] < duration:
            history = {**history, "times": [*times, duration], "factors": [*factors, factors[-1]]}
        return {"displacement": displacement.tolist(), "history": history, "interpolation": "linear"}

    def rotation(self, turn: Mapping[int, Value], point: NDArray[np.float64]) -> Table:
        """Return the keys of a support that turns about a point in m by rotations about the axes, as a step says.

        Raises
        ------
        UnsupportedKeyword
            If they follow different amplitudes, so that the axis would turn.
        """
        courses = {value[1:] for value in turn.values() if value.value}
        if len(courses) != 1 or next(iter(courses))[2]:
            raise UnsupportedKeyword("rotations of a support about several axes with amplitudes of their own")
        amplitude, number, _ = next(iter(courses))
        motion = self.motion(np.array([turn[i].value for i in range(3)]), amplitude, number)
        vector = np.array(motion.pop("displacement"))
        angle = float(np.linalg.norm(vector))
        axis = (vector / angle).tolist() if angle else [0.0, 0.0, 1.0]
        return {"rotation": {"point": point.tolist(), "axis": axis, "degrees": float(np.degrees(angle))}, **motion}
