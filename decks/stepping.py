"""The tables of a step that do not depend on its elements: title, time, Rayleigh's damping."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symplex.decks.deck import BeamSection, Deck, Section, Step
from symplex.decks.geometry import DeckGeometry
from symplex.decks.reading import UnsupportedKeyword
from symplex.decks.units import Units

Table = dict[str, Any]
_FINER = 10
_MOST_FRAMES = 200
_MOST_LOADS = 2000
_MOST_INCREMENTS = 100  # of a static step, which decks begin with small ones that grow


def run_along(steps: list[Step], units: Units, least: int = 1) -> tuple[Table, Table]:
    """Return the tables ``[integrator]`` and ``[run]`` of static steps that depend on the way."""
    dt = min(max(min(step.dt, step.period / least), step.period / _MOST_INCREMENTS) for step in steps)
    duration = sum(step.period for step in steps)
    count = math.ceil(duration / dt * (1.0 - 1e-9))
    run: Table = {"duration": duration * units.time}
    if count <= _MOST_FRAMES:
        run |= {"frames": count, "samples": count}
    return {"kind": "static", "dt": dt * units.time}, run


def run_of(step: Step, units: Units) -> tuple[Table, Table]:
    """Return the tables ``[integrator]`` and ``[run]`` of a step."""
    unit = units.time
    duration, dt = step.period * unit, min(step.dt, step.period) * unit
    steps = math.ceil(step.period / step.dt * (1.0 - 1e-9))
    run: Table = {"duration": duration}
    if steps <= _MOST_FRAMES:
        run |= {"frames": steps, "samples": steps}
    if step.procedure == "explicit":
        return {"kind": "newmark", "dt": "auto"}, {"duration": duration}
    if step.procedure == "dynamic":
        return {"kind": "hht", "dt": dt, "alpha": step.alpha}, run
    if step.procedure == "modal-dynamic":
        # Modes are exact in time; ten steps instead of one are nearly.
        return {"kind": "newmark", "dt": dt / _FINER, "beta": 0.25}, run
    return {"kind": "energy-momentum", "dt": duration}, {"duration": duration, "frames": 1, "samples": 1}


def stage_of(step: Step, units: Units) -> Table:
    """Return the table ``[[stage]]`` of a step."""
    integrator, run = run_along([step], units) if step.procedure == "static" else run_of(step, units)
    return {**run, "integrator": integrator}


def title_of(deck: Deck, step: Step) -> str:
    """Return the title of the scenario of a step."""
    title = deck.title or "imported deck"
    return f"{title[:180]}, step {step.number}" if len(deck.steps) > 1 else title[:200]


def require_few(loads: list[Table]) -> None:
    """Raise UnsupportedKeyword if there are too many loads for tables."""
    if len(loads) > _MOST_LOADS:
        raise UnsupportedKeyword(f"it has {len(loads)} different loads; more than {_MOST_LOADS} are too many tables")


class OfStep:
    """What writes tables of one step.

    Parameters
    ----------
    deck : Deck
    geometry : DeckGeometry
        Is asked for groups, which have to be written with the mesh.
    step : Step
    units : Units
    mesh : str
        The file of the mesh.

    Attributes
    ----------
    files : dict of str to str
        Files that the tables name, by their names.
    """

    def __init__(self, deck: Deck, geometry: DeckGeometry, step: Step, units: Units, mesh: str = ""):
        self._deck, self._geometry, self._step, self._units, self._file = deck, geometry, step, units, mesh
        self.files: dict[str, str] = {}

    def require_sections(self, numbers: NDArray[np.int64], sections: Sequence[Section | BeamSection]) -> None:
        """Raise UnsupportedKeyword if elements, given by their numbers [m], have no section."""
        of_sections = [self._geometry.elements([section.elements]) for section in sections]
        without = np.setdiff1d(numbers, np.concatenate([[], *of_sections]).astype(np.int64))
        if len(without):
            more = "" if len(without) == 1 else f", nor have {len(without) - 1} others"
            raise UnsupportedKeyword(f"element {without[0]} has no section{more}")

    def damping(self, stiffness: str = "") -> list[Table]:
        """Return the table ``[[damping]]`` of Rayleigh's damping in a motion, of materials or of its modes, if any.

        Raises
        ------
        UnsupportedKeyword
            If materials differ in it.
        """
        step, used, unit = self._step, self._deck.used()["material"], self._units.time
        if not step.is_motion:
            return []
        found = {(material.alpha, material.beta) for name, material in self._deck.materials.items() if name in used}
        if step.procedure == "modal-dynamic":
            found = {step.rayleigh or (0.0, 0.0)}
        if len(found) > 1:
            raise UnsupportedKeyword("materials have different damping")
        alpha, beta = found.pop() if found else (0.0, 0.0)
        given = {"stiffness": stiffness} if stiffness and beta else {}
        return [{"name": "rayleigh", "alpha": alpha / unit, "beta": beta * unit, **given}] if alpha or beta else []
