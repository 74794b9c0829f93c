"""How the time of a step of a deck is stepped in a scenario."""

from __future__ import annotations

import math
from typing import Any

from symplex.decks.deck import Step
from symplex.decks.units import Units

Table = dict[str, Any]
_FINER = 10
_MOST_FRAMES = 200
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
