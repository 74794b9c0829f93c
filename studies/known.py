"""What runs of a scenario will tell, known before the first: the columns of histories and probes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from symplex.base.quantities import listed, shown
from symplex.errors import OutputError, SymplexError
from symplex.runs.rows import RowsOfRun
from symplex.scenario.scenario import Scenario
from symplex.studies.quantities import RunQuantity

_DRIFT = "drift."


class _Told(NamedTuple):
    """The columns of a history and of probes, and of which of them summaries report the drift."""

    columns: list[str]
    drifts: list[str]

    def missing(self, quantity: RunQuantity) -> tuple[str, list[str]] | None:
        """Return what of a quantity there is not, and what there is; None if it is there, or nobody knows."""
        if quantity.reduction:
            return None if quantity.source in self.columns else (f"column {shown(quantity.source)}", self.columns)
        name = quantity.source.removeprefix(_DRIFT)
        if name == quantity.source or name in self.drifts:
            return None
        return f"drift of {shown(name)}", self.drifts


def require_reported(quantities: Sequence[RunQuantity], scenarios: Iterable[Scenario]) -> None:
    """Refuse quantities that no run of these scenarios will have, as far as that is known before they are run.

    Numbers of summaries are known afterwards only, but for drifts; and columns where the start of a run is an
    equilibrium, which takes long to find.
    """
    left = [one for one in quantities if one.reduction or one.source.startswith(_DRIFT)]
    refused: OutputError | None = None
    for scenario in scenarios:
        reported = _reported(scenario) if left else None
        if reported is None:
            return
        left = [one for one in left if reported.missing(one)]
        if left and (missing := reported.missing(left[0])):
            what, there = missing
            refused = OutputError(f"{scenario.path.name}: there is no {what}; there are {listed(there)}.")
    if left and refused is not None:
        raise refused


def _reported(scenario: Scenario) -> _Told | None:
    """Return what a run shows; None if that is not known without running it."""
    if scenario.tables.start is not None:
        return None
    try:
        problem = scenario.build()
        motion = problem.integrator.start(problem.system, problem.state)
        rows = RowsOfRun(problem, motion)
        columns = rows.describe(rows.row(problem.state, motion.gradient))
    except SymplexError:  # the run will tell
        return None
    pairs = [
        (built.table.name, column) for built in problem.probes for probe in built.probes for column in probe.columns
    ]
    probes = [f"{name}.{column.name}" for name, column in pairs]
    drifting = [one for one in columns.values() if one.summary == "drift"]
    return _Told([*columns, *probes], [one.subject if one.kind == "total" else one.name for one in drifting])
