"""The conservation report of a run: in words, as a table, as JSON and in one picture."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, final

import numpy as np

from symplex.base.arguments import checked
from symplex.base.files import damage_reported, read_whole, write_text
from symplex.base.representation import Tabled
from symplex.errors import InvalidArgument, OutputError, SymplexError
from symplex.fem.energies.energy import Array
from symplex.fem.system import State
from symplex.runs.history import History, Rows
from symplex.runs.invariants import ROUND_OFF, Expected, Part, Quantity, Verdict, kept
from symplex.runs.progress import si
from symplex.runs.result import Result, read_result
from symplex.runs.results import RunFolder
from symplex.scenario.scenario import Problem
from symplex.time.motion import Motion
from symplex.time.stages import Stages
from symplex.time.totals import kept_energy
from symplex.time.trajectory import Trajectory

_NAMED = 6  # rows of a ledger in a line


@checked
@final
@dataclass(frozen=True, repr=False)
class Conservation(Tabled):
    """What a motion has kept, part by part; see `conservation`.

    Attributes
    ----------
    title : str
    parts : tuple of Part
        One, or one for each stage, as far as they have been computed.
    history : mapping of str to float64 [rows]
        Of what it was found.
    """

    title: str
    parts: tuple[Part, ...]
    history: Rows

    def rows(self) -> list[tuple[str, str]]:
        """Return names and words, as the report has them."""
        found: list[tuple[str, str]] = []
        for part in self.parts:
            found += _rows(part, several=len(self.parts) > 1)
        return found

    def plain(self) -> dict[str, Any]:
        """Return the report as JSON has it."""
        return {"title": self.title, "parts": [_plain_part(part) for part in self.parts]}

    def verdicts(self) -> list[dict[str, Any]]:
        """Return what a summary has of it: of each part, the verdict, relative change and floor by quantity."""
        return [
            {
                "stage": part.expected.name,
                "steps": part.steps,
                "kept": {
                    one.name: {
                        "verdict": one.verdict,
                        "relative": one.relative,
                        "floor": one.floor / one.scale if one.scale else 0.0,
                    }
                    for one in part.quantities
                },
            }
            for part in self.parts
        ]

    def plot(self, path: str | Path) -> Path:
        """Draw the report: changes of all that can be kept over time with their floors, and where the energy went.

        Parameters
        ----------
        path : path-like
            A ``.png``, ``.pdf``, ``.svg`` or the like.

        Raises
        ------
        OutputError
            If the picture cannot be written.
        """
        from symplex.runs.conservation_picture import draw

        return draw(self, Path(path))  # pyright: ignore[reportArgumentType]

    def __repr__(self) -> str:
        found = "; ".join(f"{name}: {words}" for part in self.parts for name, words, _ in words_of(part.quantities))
        return f"Conservation({found})"

    def _reported(self) -> list[tuple[str, str]]:
        return self.rows()

    def _caption(self) -> str:
        return f"Conservation: {self.title}" if self.title else "Conservation"


@checked
def conservation(of: Result | Trajectory | str | Path) -> Conservation:
    """Return what a motion has kept: the invariants that its method declares, with the floor of round-off next to them.

    Momenta are given by component, with what changes those that cannot be kept; the energy with the work that loads,
    supports, friction and dampers have done.

    Parameters
    ----------
    of : Result, Trajectory or path-like
        A run by its results folder, or what `record` has returned.

    Raises
    ------
    OutputError
        If the history of a run cannot be read, or has one row only.
    InvalidArgument
        If it is something else, or a trajectory that was put together by hand.

    Examples
    --------
    >>> print(sx.conservation("drop-results").text())
    """
    if isinstance(of, str | Path):
        of = read_result(of)
    if isinstance(of, Result):
        return _of_result(of)
    if not isinstance(of, Trajectory):
        raise InvalidArgument(
            f"conservation is of a Result, a Trajectory or a results folder; given is a {type(of).__name__}."
        )
    if of.motion is None:
        raise InvalidArgument(
            "conservation needs a trajectory that a Recorder has made, which knows its system and method."
        )
    history = trajectory_history(of)
    if len(of.t) < 2:
        raise InvalidArgument("conservation needs a trajectory of two states at least.")
    motion = of.motion
    first = motion.system.state(of.q[0], of.v[0], float(of.t[0]))
    return Conservation("", tuple(kept(history, _expected(motion, first, float(of.t[-1])))), history)


def _expected(motion: Motion, state: State, end: float) -> list[Expected]:
    method = motion.method
    if not isinstance(method, Stages):
        return [Expected.of(motion.system, method, state, state.t, end)]
    begins = [state.t, *(stage.end for stage in method.stages)]
    return [
        Expected.of(stage.system, stage.integrator, state, begin, stage.end, stage.name)
        for begin, stage in zip(begins, method.stages, strict=False)
    ]


def expected_of(problem: Problem) -> list[Expected]:
    """Return what each part of a run can keep."""
    found = [
        Expected.of(stage.system, stage.integrator, problem.state, leg.start, leg.end, stage.name)
        for leg, stage in zip(problem.scenario.timeline.legs, problem.stages, strict=True)
    ]
    method = problem.integrator
    if not (isinstance(method, Stages) and method.events):
        return found
    # What begins at a condition may act in any of them.
    later = {stage.system: stage for stage in method.every_stage[len(method.stages) :]}
    end = problem.scenario.times[-1]
    others = [Expected.of(s.system, s.integrator, problem.state, 0.0, float(end)) for s in later.values()]
    return [one.with_changes_of(others) for one in found]


def trajectory_history(trajectory: Trajectory) -> History:
    """Return the energies and momenta of a trajectory as a history, with what its motion shows of them."""
    rows: dict[str, Array] = {"t": trajectory.t, **trajectory.energies}
    for name, values in (("momentum", trajectory.momentum), ("angular_momentum", trajectory.angular_momentum)):
        if values.shape[1] == 1 and name == "angular_momentum":  # in the plane
            rows[f"{name}_z"] = values[:, 0]
            continue
        rows |= {f"{name}_{axis}": values[:, k] for k, axis in zip(range(values.shape[1]), "xyz", strict=False)}
    if trajectory.motion is None:
        return History(rows, {})
    counts = trajectory.motion.statistics()
    for name in ("steps", "events"):
        if name in counts and len(trajectory.t) > 1:
            rows[name] = np.linspace(0.0, counts[name], len(trajectory.t))
    columns = {column.name: column for column in trajectory.motion.columns if column.name in rows}
    watched = kept_energy(trajectory.motion.method.energy, columns.values())
    columns[watched] = replace(columns[watched], watched=True)
    return History(rows, columns)


# -- of a run ---------------------------------------------------------------------------------------------------------


def report_of(problem: Problem, history: Rows, folder: RunFolder) -> Conservation:
    """Return the report of a run, given what it was computed from, its history and its folder."""
    try:
        expected = _read_expected(folder)
    except OutputError:  # of an earlier version, or damaged; it is rewritten
        expected = expected_of(problem)
    return Conservation(problem.scenario.tables.title, tuple(kept(history, expected)), history)


def write_expected(problem: Problem, path: Path) -> None:
    """Write what a run can keep, before it begins: of a run that is killed a report can be made."""
    _write(path, {"expected": [one.plain() for one in expected_of(problem)]})


def renew_expected(problem: Problem, folder: RunFolder) -> None:
    """Write again what a run can keep that goes on beyond the end that it had before."""
    try:
        before = _read_expected(folder)[-1].end
    except (OutputError, IndexError):  # of an earlier version, or damaged: the report shows what it needs
        return
    if before < problem.scenario.timeline.legs[-1].end:
        write_expected(problem, folder.conservation)


def _of_result(result: Result) -> Conservation:
    history = result.history
    if len(history["t"]) < 2 or not {"kinetic", "total"} <= history.keys():
        raise OutputError(f"{result.path}: a report needs a history of two rows at least, with energies.")
    with suppress(OutputError):
        return Conservation(str(result.summary.get("title", "")), tuple(kept(history, _stored(result))), history)
    return Conservation("", tuple(kept(history, _stored(result))), history)


def _stored(result: Result) -> list[Expected]:
    """Return what a run can keep, as it was written at its beginning; of earlier versions, of what is known of it."""
    if result.folder.conservation.exists():
        return _read_expected(result.folder)
    with suppress(SymplexError):
        return expected_of(result.scenario.build())
    summary = result.summary
    known = tuple(map(str, summary.get("conserves", ())))
    return [Expected(str(summary.get("integrator", "the method")), known, mass=float(summary.get("mass", 0.0)))]


def _read_expected(folder: RunFolder) -> list[Expected]:
    with damage_reported(folder.conservation, "conservation report", "remove it: the scenario states the same"):
        return [Expected.read(one) for one in json.loads(read_whole(folder.conservation))["expected"]]


def write_report(report: Conservation, path: Path) -> None:
    """Write a report to ``conservation.json``."""
    expected = [part.expected.plain() for part in report.parts]
    _write(path, {"expected": expected, **report.plain()})


def _write(path: Path, content: Mapping[str, Any]) -> None:
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def _plain_part(part: Part) -> dict[str, Any]:
    found = asdict(part)
    found["expected"] = {"name": part.expected.name, "integrator": part.expected.integrator}
    for one, quantity in zip(found["quantities"], part.quantities, strict=True):
        one["relative"] = quantity.relative
    return json.loads(json.dumps(found))  # with lists for tuples


# -- in words ---------------------------------------------------------------------------------------------------------


def part_title(part: Part, several: bool) -> str:
    """Return what a part is, and what its method declares."""
    expected = part.expected
    until = f", {si(expected.start, 's')} to {si(expected.end, 's')}" if several else ""
    declared = ", ".join(expected.conserves) or "nothing"
    return f"{expected.integrator}{until}, {part.steps:,} {part.counted}; it declares to keep: {declared}"


def _rows(part: Part, several: bool) -> Iterator[tuple[str, str]]:
    expected = part.expected
    stage = f"stage '{expected.name}'" if expected.name else "part" if several else "method"
    yield stage, part_title(part, several)
    for name, words, _ in words_of(part.quantities):
        yield name, words
    if "symplectic form" in expected.conserves:
        yield "symplectic form", "declared; in a history it shows as an energy that oscillates and does not drift"
    if not expected.momenta:
        yield "momenta", "what supports, obstacles and loads allow is not known of this run"
    yield from _ledger(part)


def _ledger(part: Part) -> Iterator[tuple[str, str]]:
    if part.works:
        yield "work done by", ", ".join(f"{name} {si(value, 'J', 4)}" for name, value in part.works.items())
        changes = sorted(part.energies.items(), key=lambda item: -abs(item[1]))
        more = f", {len(changes) - _NAMED} more" if len(changes) > _NAMED else ""
        yield "went into", ", ".join(f"{name} {si(value, 'J', 4)}" for name, value in changes[:_NAMED]) + more
        left = sum(part.energies.values()) - sum(part.works.values())
        yield "left over", f"{si(left, 'J', 2)}: the change of the balance"
    if any(one.changed_by for one in part.quantities if one.name.startswith("momentum")):
        words = [f"{name} ({', '.join(f'{x:.4g}' for x in value)})" for name, value in part.impulses.items()]
        yield "impulse in N s", "; ".join(words)


def words_of(quantities: Sequence[Quantity]) -> Iterator[tuple[str, str, Verdict]]:
    """Yield names, words and verdicts, components of one vector together that have the same to report."""
    groups: dict[tuple[Any, ...], list[Quantity]] = {}
    for one in quantities:
        vector, _, axis = one.name.rpartition(" ")
        alike = (vector, one.verdict, one.changed_by) if axis in ("x", "y", "z") else (one.name,)
        groups.setdefault(alike, []).append(one)
    for together in groups.values():
        worst = max(together, key=lambda one: one.relative)
        name = worst.name
        if len(together) > 1:
            name = f"{worst.name.rpartition(' ')[0]} {', '.join(one.name.rpartition(' ')[2] for one in together)}"
        yield name.replace("_", " "), _words(worst, together), worst.verdict


def _words(worst: Quantity, together: Sequence[Quantity]) -> str:
    if worst.verdict == "at rest":
        return worst.words
    if worst.verdict == "changed":
        changes = ", ".join(f"{one.final:.4g}" for one in together)
        return f"{worst.words}: {changes} {worst.unit}"
    floor = worst.floor / worst.scale if worst.scale else 0.0
    number = "" if f"{worst.relative:.1e}" in worst.words else f": {worst.relative:.1e}"
    return f"{worst.words}{number} (round-off: {ROUND_OFF * floor:.1e})"
