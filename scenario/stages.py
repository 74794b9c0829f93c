"""The table of a stage of a run, and what is wrong with stages and with times of what acts for a part of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from symplex.base.quantities import Name
from symplex.fem.actions.support_motion import SupportMotion
from symplex.fem.actions.supports import fixed_mask
from symplex.fem.energies.energy import IntArray
from symplex.scenario.actions import Rod, Support, Timed
from symplex.scenario.couplings import CouplingTable
from symplex.scenario.joints import JointTable
from symplex.scenario.methods import IntegratorTable
from symplex.scenario.sampling import Sampled, timeline

if TYPE_CHECKING:
    from symplex.scenario.tables import Tables

_OF_STAGES = ("duration", "frames", "samples")
TAKEN = ("rest", "switches")  # columns of their works are those of static stages, and of what begins or ends


class StageTable(Sampled):
    """A part of a run with its own integrator, instead of ``[integrator]`` and the times of ``[run]``.

    Stages follow each other on one time axis, with one balance of energy, one history and one series of frames;
    histories of loads and supports go on through all of them. ``dt = "auto"`` takes the stability limit of the shape
    at which the stage begins ([stages.md](../stages.md)).
    """

    of_all = False
    has_name = False
    name: Annotated[Name | None, "Names it in `symplex check`, messages and the summary; by default its number."] = None
    integrator: Annotated[IntegratorTable, "The keys of `[integrator]`."]


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


def of_supports(
    supports: Sequence[tuple[Support, IntArray, SupportMotion | None]], n_nodes: int, first: float, last: float
) -> tuple[NDArray[np.bool_], dict[str, SupportMotion]]:
    """Return which coordinates [n, 3] do not move between two times in s, and what moves in a given way by name."""
    acting = [(support, nodes, motion) for support, nodes, motion in supports if support.acts(first, last)]
    fixed = [(nodes, support.components) for support, nodes, motion in acting if motion is None and support.components]
    moving = {str(support.name): motion for support, _, motion in acting if motion is not None}
    return fixed_mask(n_nodes, fixed), moving


def wrong_times(tables: Tables) -> list[str]:
    """Return lines about times at which nothing can begin or end, and about what an equilibrium does not know of."""
    lines, duration = [], tables.run.duration
    static = tables.start is not None and tables.start.kind == "static"
    for here, item in tables.entries(Timed):
        if item.only_at_start and not static:
            lines.append(
                f"{here}: with until = 0 it acts in the equilibrium of the start alone, and there is none; give "
                'until a later time, or begin with [start] kind = "static".'
            )
        if item.begin >= duration:
            lines.append(f"{here}: from is {item.begin:g} s, when the run of {duration:g} s is over.")
    if static or (tables.start is not None and tables.start.kind == "relative-equilibrium"):
        lines += [
            f"{here}: the equilibrium of [start] knows of no rods; begin without [start], or from the result of a run."
            for here, _ in tables.entries(Rod)
        ]
    if tables.start is not None and tables.start.kind == "relative-equilibrium":
        lines += [
            f"{here}: the relative equilibrium of [start] knows of no joints; begin without it, with velocities."
            for here, _ in (*tables.entries(JointTable), *tables.entries(CouplingTable))
        ]
    try:
        timeline(tables)
    except ValueError as error:
        lines.append(f"{error}.")
    return lines
