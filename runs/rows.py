"""Rows of the history of a run: what the motion, the system and the scenario tell of a state, and what it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import final

import numpy as np

from symplex.base.columns import Column, Kind, components, vector_columns
from symplex.fem.energy import Array, Energy
from symplex.fem.outputs.forces import Acting
from symplex.fem.system import State
from symplex.scenario.riders import Rider
from symplex.scenario.scenario import Problem
from symplex.time.motion import Motion
from symplex.time.totals import kept_energy

_Told = tuple[str, str, Kind]
_POSITION: _Told = ("position", "m", "length")
_VELOCITY: _Told = ("velocity", "m/s", "other")
_SPIN: _Told = ("spin", "rad/s", "other")


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


def _told_of(rider: Rider) -> tuple[_Told, ...]:
    """Return what is told of something rigid, its unit and kind: nothing if it stands still."""
    if not (rider.table.is_free or rider.table.is_driven):
        return ()
    return (_POSITION, _VELOCITY, _SPIN) if rider.mass > 0.0 and len(rider.nodes) > 1 else (_POSITION,)


@final
class RowsOfRun:
    """What is told of the states of a motion.

    Parameters
    ----------
    problem : Problem
    motion : Motion
    """

    def __init__(self, problem: Problem, motion: Motion):
        self._problem, self._motion = problem, motion
        self._declared = {column.name: column for column in motion.columns}
        self._has_temperature = any(column.kind == "temperature" for column in motion.columns)
        self._told = {name: rider for name, rider in problem.riders.riders.items() if _told_of(rider)}
        nodes = [*(rider.nodes for rider in self._told.values()), list(problem.point_masses.values())]
        self._followed = np.unique(np.concatenate(nodes)).astype(np.int32)
        for name, rider in self._told.items():
            for what, unit, kind in _told_of(rider):
                columns = vector_columns(f"{what}_{name}", unit, kind, plot=f"{what} of {name}")
                self._declared |= {column.name: column for column in columns}
        for name in problem.point_masses:
            columns = vector_columns(f"position_{name}", "m", "length", plot=f"position of {name}")
            self._declared |= {column.name: column for column in columns}

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
        few = state.of_nodes(self._followed) if len(self._followed) else state
        for name, rider in self._told.items():
            for (what, _, _), values in zip(_told_of(rider), rider.pose(few.q, few.v), strict=False):
                row |= components(f"{what}_{name}", values)
        for name, node in problem.point_masses.items():
            row |= components(f"position_{name}", few.q[node])
        if self._has_temperature:
            row["temperature"] = problem.temperature(state)
        return row | motion.statistics()
