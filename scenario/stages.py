"""The table of a stage of a run, and what is wrong with stages and with times of what acts for a part of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from symplex.base.quantities import Name
from symplex.fem.actions.support_motion import SupportMotion
from symplex.fem.actions.supports import fixed_mask
from symplex.fem.energy import IntArray
from symplex.scenario.actions import Support
from symplex.scenario.methods import InnerIntegrator
from symplex.scenario.sampling import Sampled, timeline

if TYPE_CHECKING:
    from symplex.scenario.tables import Tables

_OF_STAGES = ("duration", "frames", "samples")
TAKEN = ("rest", "switches")  # columns of their works are those of static stages, and of what begins or ends


class StageTable(Sampled):
    """A part of a run with an integrator of its own."""

    name: Name | None = None
    integrator: InnerIntegrator


def wrong_tables(data: Mapping[str, Any]) -> list[str]:
    """Return lines about tables that do not go with stages."""
    if not data.get("stage"):
        return []
    lines = []
    if "integrator" in data:
        lines.append("[integrator]: each [[stage]] has its own, integrator = { kind = … }; leave the table out.")
    run = data.get("run")
    if isinstance(run, Mapping):
        given = [key for key in _OF_STAGES if key in run]
        if given:
            lines.append(f"[run]: {given[0]} is given by each [[stage]]; leave it out here.")
    return lines


def run_of_stages(stages: list[StageTable]) -> dict[str, Any]:
    """Return what [run] has of all stages together."""
    return {
        "duration": sum(stage.duration for stage in stages),
        "frames": sum(stage.frames for stage in stages),
        "samples": sum(stage.n_samples for stage in stages),
    }


def tables_of_stage(tables: Tables, k: int) -> Tables:
    """Return the tables of a stage: with its integrator."""
    return replace(tables, integrator=tables.stage[k].integrator) if tables.stage else tables


def idle(tables: Tables, first: float, last: float, loads: Iterable[str]) -> set[str]:
    """Return the names of the loads that do not act between two times in s, or at one; gravity is one of them.

    Given are the names of all loads, among them those of damping, which has one for each part of a body.
    """
    named = (*tables.load, *tables.dashpot, *tables.drag)
    names = {load.name for load in named if not load.acts(first, last)}
    resting = [damping for damping in tables.damping if not damping.acts(first, last)]
    names |= {load for load in loads if any(damping.damps_by(load) for damping in resting)}
    return names | ({"gravity"} if tables.gravity is not None and not tables.gravity.acts(first, last) else set())


def of_supports(
    supports: Sequence[tuple[Support, IntArray, SupportMotion | None]], n_nodes: int, first: float, last: float
) -> tuple[NDArray[np.bool_], dict[str, SupportMotion]]:
    """Return which coordinates [n, 3] do not move between two times in s, and what moves in a given way by name."""
    acting = [(support, nodes, motion) for support, nodes, motion in supports if support.acts(first, last)]
    fixed = [(nodes, support.components) for support, nodes, motion in acting if motion is None]
    moving = {str(support.name): motion for support, _, motion in acting if motion is not None}
    return fixed_mask(n_nodes, fixed), moving


def wrong_times(tables: Tables) -> list[str]:
    """Return lines about times at which nothing can begin or end, and about what an equilibrium does not know of."""
    lines, duration = [], tables.run.duration
    static = tables.start is not None and tables.start.kind == "static"
    for key in ("support", "load", "gravity", "damping", "dashpot", "drag"):
        given = getattr(tables, key)
        for k, item in enumerate(given if isinstance(given, list) else [given]):
            if item is None:
                continue
            name = getattr(item, "name", None)
            here = f"[{key}]" if key == "gravity" else f"[[{key}]] #{k + 1}" + (f" '{name}'" if name else "")
            if item.only_at_start and not static:
                lines.append(
                    f"{here}: with until = 0 it acts in the equilibrium of the start alone, and there is none; give "
                    'until a later time, or begin with [start] kind = "static".'
                )
            if item.begin >= duration:
                lines.append(f"{here}: from is {item.begin:g} s, when the run of {duration:g} s is over.")
    if static or (tables.start is not None and tables.start.kind == "relative-equilibrium"):
        lines += [
            f"[[rod]] #{k + 1} '{rod.name}': the equilibrium of [start] knows of no rods; begin without [start], or "
            "from the result of a run."
            for k, rod in enumerate(tables.rod)
        ]
    try:
        timeline(tables)
    except ValueError as error:
        lines.append(f"{error}.")
    return lines
