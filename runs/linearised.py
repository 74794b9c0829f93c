"""The system and the state of a scenario about which small motions are looked at."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from symplex.errors import OutputError, ScenarioError
from symplex.fem.system import State, System
from symplex.scenario.scenario import Problem, Scenario
from symplex.scenario.start import RotationStart
from symplex.time.modes.rigid_motions import rigid_motions
from symplex.time.modes.rotating import CORIOLIS, rotating_frame
from symplex.time.rigid_rotation import centre_of_mass

_STILL = 1e-9  # of the largest velocity that a frame may leave


class Linearised(NamedTuple):
    """What small motions are about.

    Attributes
    ----------
    problem : Problem
    system : System
        As it acts at that time; in a frame that rotates with the body, if it does.
    state : State
    notes : list of str
        What of the scenario has no part in it, in sentences.
    """

    problem: Problem
    system: System
    state: State
    notes: list[str]

    def summary(self) -> dict[str, Any]:
        """Return what the summaries of modes and responses begin with."""
        scenario = self.problem.scenario
        known = {"scenario": scenario.path.name, "scenario_sha256": scenario.hash}
        return known | {"t": self.state.t, "notes": self.notes}


def linearised(scenario: Scenario, at: str | float = "start") -> Linearised:
    """Return the system and the state of a scenario at its start, or at a time in s, to which it is computed."""
    problem = scenario.build()
    if problem.n_rods:
        raise ScenarioError(
            f"{scenario.path.name}: [[rod]]: small motions know no rigid rods; hold the lengths by a stiff [[spring]]."
        )
    system, state, notes = problem.system, problem.state, []
    if at != "start":
        system, state = _later(problem, at)
    elif isinstance(scenario.tables.start, RotationStart):
        system, state = _in_its_frame(system, state)
        notes.append("in the frame that rotates with the body")
    elif state.v.any():
        notes.append("the velocities of the start have no part in it")
    if CORIOLIS in system.loads and "centrifugal" in system.energies and not notes:
        notes.append("in the frame that rotates")
    if system.inelastic:
        notes.append("viscoelastic bodies are as stiff as in the long run, and do not damp")
    if system.increment_loads:
        notes.append("friction has no part in it: what touches slides freely")
    if np.any([table.kind == "pressure" for table in scenario.tables.load]):
        notes.append("that a pressure turns with its surface has no part in it")
    return Linearised(problem, system, state, notes)


def _later(problem: Problem, at: str | float) -> tuple[System, State]:
    """Return the system and the state at a time in s."""
    try:
        t = float(at)
    except ValueError:
        raise OutputError(f"--at is '{at}', must be start or a time in s.") from None
    end = float(problem.scenario.times[-1])
    if not 0.0 <= t <= end:
        raise OutputError(f"--at is {t:g} s, but the run is from 0 to {end:g} s.")
    motion = problem.integrator.start(problem.system, problem.state)
    state = motion.advance(t)
    return motion.system, state


def _in_its_frame(system: System, state: State) -> tuple[System, State]:
    """Return a free body that rotates steadily as it is in the frame that rotates with it."""
    center = centre_of_mass(system, state.q)
    moving = state.v - system.momentum(state) / system.apply_mass(np.ones((system.n_nodes, 1))).sum()
    turns = rigid_motions(state.q, center)[3:]
    omega, *_ = np.linalg.lstsq(turns.reshape(3, -1).T, moving.ravel())
    left = np.abs(moving - np.tensordot(omega, turns, 1)).max()
    if left > _STILL * np.abs(moving).max():
        raise ScenarioError("[start]: with the perturbation it does not rotate steadily; leave perturbation out.")
    frame = rotating_frame(system, omega, center)
    return frame, frame.state(state.q)
