"""Rows of the history of a run: what the motion, the system and the scenario tell of a state, and what it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import final

from symplex.base.columns import Column, components
from symplex.fem.energies.energy import Array, Energy
from symplex.fem.outputs.forces import Acting
from symplex.fem.system import State
from symplex.runs.parts import Parts
from symplex.scenario.scenario import Problem
from symplex.time.motion import Motion
from symplex.time.totals import kept_energy


def found_once(motion: Motion, state: State) -> Acting:
    """Return the gradients of a motion at a state, each found once for the history, probes and frames."""
    known: dict[int, Array] = {}

    def acting(energy: Energy, at: State) -> Array:
        if at is not state:
            return motion.gradient(energy, at)
        if id(energy) not in known:
            known[id(energy)] = motion.gradient(energy, state)
        return known[id(energy)]

    return acting


@final
class RowsOfRun:
    """What is reported of the states of a motion."""

    def __init__(self, problem: Problem, motion: Motion):
        self._problem, self._motion = problem, motion
        self._declared = {column.name: column for column in motion.columns}
        self._has_temperature = any(column.kind == "temperature" for column in motion.columns)
        self._parts = Parts.of(problem)
        self._declared |= {column.name: column for column in self._parts.columns}

    def describe(self, names: Iterable[str]) -> dict[str, Column]:
        """Return what the columns of the given names are, with the energy marked that is to be watched."""
        columns = {name: self._declared.get(name, Column(name)) for name in names if name != "t"}
        watched = kept_energy(self._problem.integrator.energy, columns.values())
        columns[watched] = replace(columns[watched], watched=True)
        return {"t": Column("t", "s", "time")} | columns

    def row(self, state: State, acting: Acting) -> dict[str, float]:
        """Return a row: energies, momenta, what parts of the system tell, and the counts of the motion.

        Forces are those of ``acting``: `Motion.gradient`, which may be `found_once`.
        """
        problem, motion = self._problem, self._motion
        row = {"t": state.t, **motion.energies(state)}
        linear, angular = motion.momenta(state)
        row |= components("momentum", linear) | components("angular_momentum", angular)
        row |= motion.observed(state, acting)
        row |= self._parts.row(state)
        if self._has_temperature:
            row["temperature"] = problem.temperature(state)
        return row | motion.statistics()
