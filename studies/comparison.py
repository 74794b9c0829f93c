"""Two results beside each other: how much histories, probes and fields differ."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from symplex.base.arguments import checked
from symplex.base.files import reason_of, write_text
from symplex.base.representation import table_html
from symplex.errors import OutputError, RenderError
from symplex.meshes.pictures.packages import pictures_if_possible
from symplex.meshes.pictures.render import render_still
from symplex.meshes.series.series import read_series
from symplex.runs.plots import compare_histories
from symplex.runs.result import Result, read_result
from symplex.runs.study_folder import COMPARISON
from symplex.scenario.quantities import listed
from symplex.studies.fields import FieldsCompared
from symplex.studies.histories import SAME_TIME, Difference, common_times, compared_histories
from symplex.studies.scales import Scales

_FILES = (COMPARISON, "histories.png", "differences.png", "difference.vtkhdf", "snapshot.png")


@dataclass(frozen=True, repr=False)
class Comparison:
    """How two results differ; see `compare`.

    Attributes
    ----------
    first, second : Path
        Their folders.
    differences : list of Difference
        Of all columns and fields that both have.
    notes : list of str
        What was interpolated, and what only one of them has.
    """

    first: Path
    second: Path
    differences: list[Difference]
    notes: list[str]

    @property
    def relative(self) -> float:
        """The largest relative difference of all."""
        return max((one.relative for one in self.differences), default=0.0)

    def beyond(self, tolerance: float) -> list[Difference]:
        """Return what differs by more than a part of its size."""
        return [one for one in self.differences if not one.relative <= tolerance]

    def __getitem__(self, name: str) -> Difference:
        """Return the difference of a column or a field.

        Raises
        ------
        OutputError
            If there is none of this name.
        """
        for one in self.differences:
            if one.name == name:
                return one
        raise OutputError(f"'{name}' is not in both; there are {listed(one.name for one in self.differences)}.")

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each difference."""
        return [asdict(one) for one in self.differences]

    def __repr__(self) -> str:
        return f"Comparison({'; '.join(f'{name} {value}' for name, value in self._told())})"

    def _repr_html_(self) -> str:
        return table_html("Comparison", self._told())

    def _told(self) -> list[tuple[str, str]]:
        worst = max(self.differences, key=lambda one: one.relative, default=None)
        told = [("of", f"{self.first} and {self.second}"), ("columns and fields", str(len(self.differences)))]
        return (
            told
            if worst is None
            else [*told, ("largest relative difference", f"{worst.relative:.3g}, of {worst.name}")]
        )


@checked
def compare(first: str | Path | Result, second: str | Path | Result, *, output: str | Path | None = None) -> Comparison:
    """Compare two results: histories, probes and fields at equal times.

    They are compared at the times of the first one; where the second one has none of these, it is interpolated
    linearly, and the notes say so. So they do where the meshes differ, and fields of the second one at nodes are
    interpolated to those of the first.

    Parameters
    ----------
    first, second : path-like or Result
        Results folders.
    output : path-like, optional
        A folder that does not have any of these files yet, for the table (``comparison.json``), pictures of both
        histories (``histories.png``), of the differences over time (``differences.png``) and of the difference of
        displacements where it is largest (``snapshot.png``), and all differences of fields (``difference.vtkhdf``).

    Returns
    -------
    Comparison

    Raises
    ------
    OutputError
        If one is no result or cannot be read, they have no time in common, or the folder cannot be written.
    """
    a, b = (one if isinstance(one, Result) else read_result(one) for one in (first, second))
    folder = None if output is None else _folder(Path(output))
    times, has_times = common_times(a.history["t"], b.history["t"])
    if not len(times):
        raise OutputError(f"{a.path} and {b.path} have no time in common.")
    notes = []
    if not np.isclose(a.history["t"][-1], b.history["t"][-1], rtol=SAME_TIME, atol=0.0):
        notes.append(f"compared from t = {times[0]:.6g} s to {times[-1]:.6g} s, which both have")
    if not has_times:
        notes.append(f"the history of {b.path} is interpolated between its samples")
    scales = Scales(a)
    found = list(compared_histories("history", a.history, b.history, scales))
    for probe in (name for name in a.probes if name in b.probes):
        found += compared_histories(f"probe {probe}", a.probes[probe], b.probes[probe], scales)
    notes += _only(a, b, list(a.history), list(b.history), "the column")
    notes += _only(a, b, list(a.probes), list(b.probes), "the probe")
    fields = FieldsCompared(a, b, scales) if len(a.times) and len(b.times) else None
    if fields is not None:
        found += fields.differences(None if folder is None else folder / "difference.vtkhdf")
        if not fields.has_times:
            notes.append(f"frames of {b.path} are interpolated between those that there are")
        if not fields.same_mesh:
            outside = f", but for {fields.outside} outside of it" if fields.outside else ""
            notes.append(f"the meshes differ: fields of {b.path} are interpolated to the nodes of {a.path}{outside}")
            left_out = [name for name in a.series.cell_fields if name in b.series.cell_fields]
            notes += [f"fields of cells are left out: {listed(left_out)}"] if left_out else []
    comparison = Comparison(a.path, b.path, found, notes)
    if folder is not None:
        _write(comparison, a, b, fields, folder)
    return comparison


def _only(a: Result, b: Result, of_a: Sequence[str], of_b: Sequence[str], what: str) -> list[str]:
    """Return notes on what only one of them has."""
    pairs = ((a, of_a, of_b), (b, of_b, of_a))
    odd = [(result, [name for name in own if name not in other]) for result, own, other in pairs]
    return [f"only {result.path} has {what} {listed(names)}" for result, names in odd if names]


def _folder(path: Path) -> Path:
    """Make the folder if need be; refuse one that has files of the names that are written."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {reason_of(error)}.") from error
    if there := [name for name in _FILES if (path / name).exists()]:
        raise OutputError(f"{path} holds {there[0]} already; choose another folder with --output.")
    return path


def _write(comparison: Comparison, a: Result, b: Result, fields: FieldsCompared | None, folder: Path) -> None:
    told = {"first": str(a.path), "second": str(b.path), "notes": comparison.notes, "differences": comparison.rows()}
    write_text(folder / COMPARISON, json.dumps(told, indent=1, ensure_ascii=False) + "\n")
    with pictures_if_possible(comparison.notes.append):
        _draw(comparison, a, b, fields, folder)


def _draw(comparison: Comparison, a: Result, b: Result, fields: FieldsCompared | None, folder: Path) -> None:
    from symplex.studies.plots import plot_differences

    labels = (str(a.path), str(b.path)) if a.path != b.path else (str(a.path), f"{b.path} again")
    compare_histories(dict(zip(labels, (a.history, b.history), strict=True)), folder / "histories.png")
    if fields is None:
        return
    plot_differences(fields.times, fields.over_time, comparison.differences, folder / "differences.png")
    if comparison["displacement"].largest > 0.0:
        at = comparison["displacement"].t
        try:
            drawn = read_series(folder / "difference.vtkhdf")
            render_still(drawn, folder / "snapshot.png", time=at, field="displacement_difference")
        except RenderError as error:
            comparison.notes.append(f"snapshot.png is not drawn: {error}")
