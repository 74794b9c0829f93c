"""Rows of the history of a run: what the motion, the system and the scenario tell of a state, and what it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import final

from symplex.base.columns import Column, components, vector_columns
from symplex.fem.system import State
from symplex.scenario.scenario import Problem
from symplex.time.motion import Motion
from symplex.time.totals import kept_energy


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
        for name in (*problem.carriers, *problem.point_masses):
            columns = vector_columns(f"position_{name}", "m", "length", plot=f"position of {name}")
            self._declared |= {column.name: column for column in columns}

    def describe(self, names: Iterable[str]) -> dict[str, Column]:
        """Return what the columns of the given names are, with the energy marked that is to be watched."""
        columns = {name: self._declared.get(name, Column(name)) for name in names if name != "t"}
        watched = kept_energy(self._problem.integrator.energy, columns.values())
        columns[watched] = replace(columns[watched], watched=True)
        return {"t": Column("t", "s", "time")} | columns

    def row(self, state: State) -> dict[str, float]:
        """Return a row: energies, momenta, what parts of the system tell, and the counts of the motion."""
        problem, motion = self._problem, self._motion
        row = {"t": state.t, **motion.energies(state)}
        row |= components("momentum", problem.system.momentum(state))
        row |= components("angular_momentum", problem.system.angular_momentum(state))
        row |= problem.system.observed(state, motion.gradient)
        for name, node in (*problem.carriers.items(), *problem.point_masses.items()):
            row |= components(f"position_{name}", state.q[node])
        if self._has_temperature:
            row["temperature"] = problem.temperature(state)
        return row | motion.statistics()
