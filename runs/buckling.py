"""Linear buckling of a scenario: computed, and kept in a folder with a table, shapes for ParaView and a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from symplex.base.arguments import checked
from symplex.base.columns import Column
from symplex.base.quantities import listed, shown
from symplex.base.representation import names
from symplex.errors import ScenarioError, SymplexError
from symplex.fem.structures.frames import nodes_and_degrees
from symplex.meshes.pictures.figures import Curve, Panel
from symplex.runs.folders import Folder
from symplex.runs.linearised import Linearised
from symplex.runs.mode_shapes import ModeShapes
from symplex.runs.study import SavedStudy, report_about
from symplex.runs.tables import aligned, table
from symplex.scenario.actions import GRAVITY, History
from symplex.scenario.scenario import Scenario
from symplex.scenario.tables import Tables
from symplex.time.equilibria.static import static_equilibrium
from symplex.time.modes.buckling import Buckling, linear_buckling


@dataclass(frozen=True, repr=False)
class BucklingFound(SavedStudy):
    """The linear buckling of a scenario.

    Attributes
    ----------
    about : Linearised
        The state without the load.
    loads : tuple of str
        What is multiplied, by name.
    buckling : Buckling
    """

    kind = "buckling"
    about: Linearised
    loads: tuple[str, ...]
    buckling: Buckling

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each shape, as ``buckling.csv`` has them."""
        return [{"mode": k + 1, "factor": float(factor)} for k, factor in enumerate(self.buckling.factors)]

    def panels(self) -> list[Panel]:
        """Return the factors by their numbers."""
        factors = self.buckling.factors
        curve = Curve(np.arange(1.0, len(factors) + 1), factors, mark="o", style="")
        return [Panel("factor of the load", "1", curves=[curve], x="mode")]

    def columns(self) -> list[Column]:
        """Return the number of the mode, and its factor."""
        return [Column("mode", kind="count"), Column("factor")]

    def summary(self) -> dict[str, Any]:
        """Return what is multiplied, and by which factors."""
        return {
            **self.about.summary(),
            "nodes": nodes_and_degrees(self.about.system)[0],
            "loads": list(self.loads),
            "factors": [row["factor"] for row in self.rows()],
        }

    def _scenario_text(self) -> str:
        return self.about.problem.scenario.text

    def _write(self, folder: Folder, pictures: bool) -> None:
        """Write the shapes, a frame of each, whose time is its number, and draw them."""
        labels = [f"{row['mode']}: {row['factor']:#.5g}" for row in self.rows()]
        shapes = ModeShapes(self.about, self.buckling.shapes, labels)
        shapes.write(folder.file("shapes.vtkhdf", "shapes"))
        if pictures:
            shapes.draw(folder.path / "shapes.vtkhdf", folder.file("shapes.png", "picture"))

    def _picture(self) -> tuple[Path, str]:
        return Path("buckling-factors.png"), self.about.problem.scenario.title

    def report(self, folder: str | Path | None = None) -> str:
        """Return the table of factors as text."""
        lines = [*report_about(self.about.summary()), ("load", listed(self.loads))]
        if folder is not None:
            lines.append(("results", str(folder)))
        rows = [[str(row["mode"]), f"{row['factor']:#.6g}"] for row in self.rows()]
        return f"{table(lines)}\n\n{aligned(['mode', 'factor of the load'], rows, [True, True])}"

    def _reported(self) -> list[tuple[str, str]]:
        scenario = self.about.problem.scenario.path.name
        return [("scenario", scenario), ("factors", names([f"{x:.5g}" for x in self.buckling.factors]))]


@checked
def find_buckling(scenario: Scenario, number: int = 1, loads: Sequence[str] | None = None) -> BucklingFound:
    """Return the lowest factors by which loads of a scenario are multiplied as it buckles, linearised.

    Loads, supports that move and temperatures have the values that their histories multiply. What is not multiplied
    acts as it does at the start, in static equilibrium.

    Parameters
    ----------
    scenario : Scenario
    number : int, default 1
        How many; there may be fewer.
    loads : sequence of str, optional
        Loads, supports that move, and ``"gravity"``, by name; default: all of them.

    Raises
    ------
    SymplexError
        If the scenario is not valid, a name is unknown, or there is no factor (`symplex.modes.linear_buckling`).
    """
    tables, name = scenario.tables, scenario.path.name
    known = [load.name for load in tables.load] + [str(one.name) for one in tables.support if one.moves]
    known += [GRAVITY] if tables.gravity is not None else []
    chosen = tuple(known if loads is None else loads)
    if odd := [one for one in chosen if one not in known]:
        raise ScenarioError(f"{name}: there is no load {shown(odd[0])}; there are: {listed(known)}.")
    if not chosen:
        raise ScenarioError(f"{name}: there is no [[load]], [gravity] or moving [[support]], by which it could buckle.")
    problem = replace(scenario, tables=_steady(tables)).build()
    if problem.n_rods:
        raise ScenarioError(f"{name}: [[rod]]: buckling knows no rigid rods; hold the lengths by a stiff [[spring]].")
    system, notes = problem.system, []
    base = system.with_parts(
        {one: energy for one, energy in system.energies.items() if one not in chosen},
        {one: load for one, load in system.loads.items() if one not in chosen},
        at_rest=True,
    )
    state = base.state(problem.rigid_sets.positions(problem.mesh.points))
    stays = [one for one in known if one not in chosen]
    try:
        if stays or tables.contact or tables.obstacle or tables.temperature:
            state = static_equilibrium(base, state.q).state
            stays += ["temperatures"] * bool(tables.temperature)
            notes.append(f"in static equilibrium with {listed(stays) if stays else 'contact'}")
        found = linear_buckling(system, replace(state, internal=problem.state.internal), chosen, number)
    except SymplexError as error:
        raise type(error)(f"{name}: {error}") from None
    return BucklingFound(Linearised(problem, system, state, notes), chosen, found)


def _steady(tables: Tables) -> Tables:
    """Return the tables with the values that histories multiply, from an undeformed start."""
    one = History(kind="table", times=(0.0, max(tables.run.end, 1.0)), factors=(1.0, 1.0))
    loads = [load if load.history is None else load.replaced(history=None) for load in tables.load]
    supports = [support if support.history is None else support.replaced(history=one) for support in tables.support]
    gravity = tables.gravity if tables.gravity is None else tables.gravity.replaced(history=None)
    warm = [one if one.history is None else one.replaced(history=None) for one in tables.temperature]
    return replace(tables, load=loads, support=supports, gravity=gravity, temperature=warm, start=None)
