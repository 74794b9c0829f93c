"""What acts along steps whose state at the end depends on all before: of metal that flows, friction, locks, motions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from symplex.decks.deck import Amplitude, Deck, Spin, Step, Weight
from symplex.decks.reading import UnsupportedKeyword
from symplex.decks.state import Acting, Value

SUDDEN = 1e-6  # of a step: within what part of it a load comes that does not grow, so that a start is without it
Key = TypeVar("Key", bound=Hashable)


class _Stretch(NamedTuple):
    """A static step: when it begins in its scenario and in the deck, and what acts in it."""

    step: Step
    begins: float
    before: float
    acts: Acting


class Path:
    """The steps up to one, as one slow motion or as stages, with what acts as amplitudes over its time.

    Parameters
    ----------
    deck : Deck
    number : int
        Of the last step.
    acting_to : callable
        Returns what acts in a step.

    Attributes
    ----------
    steps : list of Step
    amplitudes : dict of str to Amplitude
        By names that no deck has.
    acts : Acting
        What acts, each with an amplitude of the whole path.
    locked : dict of (node, component) to float
        What is held where it has come to, and the times from which it is.
    released : dict of (node, component) to float
        What is held where it is at the start, and the times until which it is.

    Raises
    ------
    UnsupportedKeyword
        If steps hold other nodes, or what changes cannot be said by amplitudes.
    """

    def __init__(self, deck: Deck, number: int, acting_to: Callable[[int], Acting]):
        self._deck = deck
        self.amplitudes: dict[str, Amplitude] = {}
        self._stretches: list[_Stretch] = []
        begins = before = 0.0
        kinds = {"static", *(one.procedure for one in deck.steps[:number] if deck.steps[number - 1].is_motion)}
        kinds -= {"frequency", "buckle"}
        for step in deck.steps[:number]:
            if step.procedure in kinds and (not step.perturbation or step.number == number):
                self._stretches.append(_Stretch(step, begins, before, acting_to(step.number)))
                begins += step.period
            if not step.perturbation and step.procedure != "frequency":
                before += step.period
        self.steps = [stretch.step for stretch in self._stretches]
        locked = self._stretches[-1].acts.locked
        if any(not one.acts.locked.items() <= locked.items() for one in self._stretches):
            raise UnsupportedKeyword("nodes that an earlier step has locked are free again, or move")
        begins_of = {stretch.step.number: stretch.begins for stretch in self._stretches}
        if not {*locked.values()} <= {*begins_of}:
            raise UnsupportedKeyword("nodes are locked in a step that is not static")
        self.locked = {dof: begins_of[step] for dof, step in locked.items()}
        supports = [stretch.acts.supports for stretch in self._stretches]
        self.released: dict[tuple[int, int], float] = {}
        for stretch, given, later in zip(self._stretches, supports, supports[1:], strict=False):
            gone = {*given} - {*later}
            if any(given[dof].value for dof in gone) or {*later} - {*given}:
                raise UnsupportedKeyword(
                    "a later step, whose state depends on earlier ones, holds other nodes, or releases what moves"
                )
            self.released |= dict.fromkeys(gone, stretch.begins + stretch.step.period)
        supports = [{dof: one[dof] for dof in supports[-1]} for one in supports]
        if any(value.is_velocity for one in supports for value in one.values()):
            raise UnsupportedKeyword("supports with velocities are known in motions only")
        self.acts = Acting(
            supports=self._values([{key: [value] for key, value in one.items()} for one in supports], moves=True),
            forces=_listed(self._values([stretch.acts.forces for stretch in self._stretches])),
            pressures=_listed(self._values([stretch.acts.pressures for stretch in self._stretches])),
            temperatures=self._values(
                [{node: [value] for node, value in one.acts.temperatures.items()} for one in self._stretches]
            ),
        )
        weights: list[dict[Weight | Spin, list[Value]]] = []
        for stretch in self._stretches:
            found: dict[Weight | Spin, list[Value]] = {}
            for item, value in stretch.acts.weights:
                found.setdefault(item, []).append(value)
            weights.append(found)
        self.acts.weights = [*self._values(weights).items()]
        self.acts.locked = locked

    def _values(self, given: Sequence[Mapping[Key, list[Value]]], moves: bool = False) -> dict[Key, Value]:
        """Return the value with an amplitude of each key of what acts in each step, or moves."""
        keys = {key: None for one in given for key in one}
        return {key: self._value([one.get(key, []) for one in given], moves) for key in keys}

    def _value(self, given: list[list[Value]], moves: bool) -> Value:
        """Return the value with an amplitude of one of them, from its values in each step.

        What moves begins at rest, and a static start is without loads; at the start of a motion they act at once.
        """
        times, sizes = [0.0], [0.0]
        for stretch, values in zip(self._stretches, given, strict=True):
            step, last = stretch.step, sizes[-1]
            first = stretch is self._stretches[0]
            changes = first or not values or any(value.step == step.number for value in values)
            own = np.unique([0.0, step.period, *(t for value in values for t in self._within(value, stretch)[0])])
            total = np.zeros(len(own))
            for value in values:
                at, factors = self._within(value, stretch)
                if not value.amplitude and changes:
                    total += value.value
                else:
                    total += value.value * np.interp(own, at, factors)
            if not any(value.amplitude for value in values):
                if changes and step.ramps:
                    total = last + (total - last) * own / step.period
                elif changes and (moves or not (first and step.is_motion)):
                    own, total = np.array([0.0, SUDDEN * step.period, step.period]), total[[0, 0, -1]]
                    total[0] = last
            if len(own) and total[0] != last and not first:
                own = np.concatenate([[0.0], np.maximum(own, SUDDEN * step.period)])
                total = np.concatenate([[last], total])
                own, places = np.unique(own, return_index=True)
                total = total[places]
            if first:
                times, sizes = [], []
            skip = 0 if first else 1
            times += (stretch.begins + own[skip:]).tolist()
            sizes += total[skip:].tolist()
        largest = float(max(sizes, key=abs))
        if largest == 0.0:
            return Value(0.0, "", self.steps[-1].number)
        factors = np.array(sizes) / largest
        name = f" PATH {hash((tuple(times), tuple(factors.tolist())))}"
        self.amplitudes[name] = Amplitude(tuple(times), tuple(factors.tolist()), True)
        return Value(largest, name, self.steps[-1].number)

    def _within(self, value: Value, stretch: _Stretch) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the times in a step, and the factors, of the amplitude of a value."""
        if not value.amplitude:
            return np.array([0.0]), np.array([1.0])
        if value.amplitude not in self._deck.amplitudes:
            raise UnsupportedKeyword(f"there is no amplitude '{value.amplitude}'")
        amplitude = self._deck.amplitudes[value.amplitude]
        if value.step < stretch.step.number and not amplitude.total and stretch is not self._stretches[0]:
            raise UnsupportedKeyword("an amplitude of an earlier step continues")
        times = np.array(amplitude.times) - (stretch.before if amplitude.total else 0.0)
        inside = (times > 0.0) & (times < stretch.step.period)
        at = np.unique([0.0, *times[inside], stretch.step.period])
        return at, np.interp(at, times, amplitude.factors)


def _listed(values: dict[Key, Value]) -> dict[Key, list[Value]]:
    return {key: [value] for key, value in values.items()}
