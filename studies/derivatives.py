"""Derivatives of the curves of a scenario by some of its numbers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from symplex.base.arguments import is_real
from symplex.base.columns import AXES
from symplex.base.quantities import listed, shown
from symplex.errors import ScenarioError, SymplexError
from symplex.fem.energies.energy import Array
from symplex.fem.system import State, System
from symplex.gradients.equilibria import FrequencyTangent, frequency_tangent
from symplex.gradients.tangents import RunTangent, tangent
from symplex.scenario.scenario import Problem, Scenario
from symplex.studies.convergence import value_at
from symplex.time.equilibria.static import static_equilibrium
from symplex.time.modes.natural import natural_modes
from symplex.time.motion import Motion
from symplex.time.stage_event import Event
from symplex.time.stages import Stage, Stages
from symplex.time.trajectory import march

_MOMENTA: dict[str, Callable[[System, State], Array]] = {
    "momentum": lambda system, state: system.momentum(state),
    "angular_momentum": lambda system, state: system.angular_momentum(state),
}


class KeyedRun:
    """Runs of a scenario as a function of some of its numbers.

    Parameters
    ----------
    scenario : Scenario
    keys : sequence of str
        Of the numbers, as of `Scenario.with_values`.
    columns : sequence of str
        What is observed: ``PROBE.COLUMN``, ``kinetic``, ``total``, energies by name, ``momentum_x``, ….

    Attributes
    ----------
    values : float64 [k]
        The numbers in the scenario.
    units : dict of str to str
        Of the columns.
    times : float64 [T]
        In s, at which the scenario is sampled.
    """

    def __init__(self, scenario: Scenario, keys: Sequence[str], columns: Sequence[str]):
        self.scenario, self.keys, self.columns = scenario, list(keys), list(columns)
        self.values = np.array([_number(scenario, key) for key in keys])
        self.times = scenario.times
        self._problems: dict[int, Problem] = {}
        self._stages: list[Stage] = []  # whose systems must not go while their problems are known by them
        self._like = problem = scenario.build()
        self.units = {column: _unit(problem, column) for column in columns}

    def _build(self, p: Array) -> tuple[System, State]:
        problem = self.problem(p)
        self._problems[id(problem.system)] = problem
        return problem.system, problem.state

    def _staged(self, p: Array) -> tuple[System | Stages, State]:
        """Return what `_build` does, with stages in place of the system where there are any."""
        problem = self.problem(p)
        stages = problem.integrator
        if not isinstance(stages, Stages):
            self._problems[id(problem.system)] = problem
            return problem.system, problem.state
        self._keep(problem, stages.stages)

        def following(event: Event, happened: Mapping[str, float]) -> Sequence[Stage]:
            return self._keep(problem, stages.following(event, happened))

        events = [
            event if isinstance(event.then, str) else replace(event, then=partial(following, event))
            for event in stages.events
        ]
        return Stages(stages.stages, events), problem.state

    def _keep(self, problem: Problem, stages: Sequence[Stage]) -> Sequence[Stage]:
        """Keep of which problem the systems of stages are."""
        self._problems |= {id(stage.system): problem for stage in stages}
        self._stages += stages
        return stages

    def problem(self, p: Array) -> Problem:
        """Return the problem with other numbers."""
        return self.scenario.with_values(dict(zip(self.keys, map(float, p), strict=True))).build(like=self._like)

    def _observe(self, system: System, state: State) -> Array:
        return observed(self._problems[id(system)], system, state, self.columns)

    def tangent(self, p: Array, scales: Array, end: float) -> RunTangent:
        """Return the columns, and their derivatives by the numbers, up to a time in s."""
        method = self.problem(p).integrator
        with self._differentiated():
            method = None if isinstance(method, Stages) else method
            return tangent(self._staged, p, method, self._until(end), self._observe, scales=scales)

    def frequencies(self, p: Array, scales: Array, n: int, at: Literal["start", "equilibrium"]) -> FrequencyTangent:
        """Return the n lowest natural frequencies in Hz, and their derivatives by the numbers."""
        with self._differentiated():
            return frequency_tangent(self._build, p, n, at=at, scales=scales)

    @contextmanager
    def _differentiated(self) -> Iterator[None]:
        """Forget the problems that are built, and name the file in errors."""
        try:
            yield
        except ScenarioError:
            raise
        except SymplexError as error:
            raise type(error)(f"{self.scenario.path.name}: {error}") from None
        finally:
            self._problems.clear()
            self._stages.clear()

    def frequencies_only(self, p: Array, n: int, at: Literal["start", "equilibrium"]) -> Array:
        """Return the n lowest natural frequencies in Hz."""
        problem = self.problem(p)
        system, state = problem.system, problem.state
        if at == "equilibrium":
            state = static_equilibrium(system, state.q, t=state.t).state
        return natural_modes(system, state, n).frequencies

    def run(self, p: Array, end: float, dt_of: Array | None = None) -> Array:
        """Return the columns [T, m] up to a time in s, with the step of other numbers."""
        problem = self.problem(p)
        own = dt_of is None or isinstance(problem.integrator, Stages)  # which have systems of their own
        method = problem.integrator if own else self.problem(dt_of).integrator  # pyright: ignore[reportArgumentType]
        found: list[Array] = []

        def keep(motion: Motion, state: State) -> None:
            found.append(observed(problem, motion.system, state, self.columns))

        deque(march(problem.system, method, problem.state, self._until(end), [keep]), maxlen=0)
        return np.array(found)

    def _until(self, end: float) -> Array:
        """Return the times of samples up to the first one not before a time in s."""
        return self.times[: int(np.searchsorted(self.times, end * (1.0 - 1e-9))) + 1]


# Of keys without derivatives: steps and times stay as they are.
_FROZEN = ("integrator", "run", "stage", "output", "thermostat", "response", "fit", "probe", "title")


def _number(scenario: Scenario, key: str) -> float:
    if key.split(".")[0] in _FROZEN:
        raise ScenarioError(
            f"{scenario.path.name}: there are no derivatives by {shown(key)}: {listed(_FROZEN)} stay as they are. Name "
            "a number of what moves, such as body.NAME.material.young."
        )
    value = value_at(scenario, key)
    if not is_real(value):
        raise ScenarioError(
            f"{scenario.path.name}: {key} is {shown(value)}, must be a number. Name a number of [define] that it is "
            "made of."
        )
    return float(value)


def observed(problem: Problem, system: System, state: State, columns: Sequence[str]) -> Array:
    """Return the numbers [m] that columns name, of a state."""
    found: dict[str, Mapping[str, float]] = {}
    out = []
    for column in columns:
        source, _, name = column.rpartition(".")
        if source not in found:
            found[source] = _of_probe(problem, source, system, state) if source else _of_system(system, state)
        out.append(found[source][name])
    return np.array(out)


def _of_probe(problem: Problem, name: str, system: System, state: State) -> dict[str, float]:
    probes = next(built.probes for built in problem.probes if built.table.name == name)
    return {column: value for probe in probes for column, value in probe.of(system, state).items()}


def _of_system(system: System, state: State) -> dict[str, float]:
    found: dict[str, float] = dict(system.energies_of(state))
    for name, momentum in _MOMENTA.items():
        found |= {f"{name}_{axis}": float(x) for axis, x in zip(AXES, momentum(system, state), strict=False)}
    return found


def _unit(problem: Problem, column: str) -> str:
    """Return the unit of a column."""
    source = column.rpartition(".")[0]
    if source:
        known: dict[str, Any] = {
            f"{built.table.name}.{one.name}": one.unit
            for built in problem.probes
            for probe in built.probes
            for one in probe.columns
        }
    else:
        there = _of_system(problem.system, problem.state)
        known = {one.name: one.unit for one in problem.system.columns if one.name in there}
    if column not in known:
        raise ScenarioError(
            f"{problem.scenario.path.name}: there is no column {shown(column)} that has derivatives; there are "
            f"{listed(known)}."
        )
    return str(known[column])
