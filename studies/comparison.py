"""Two results side by side: how much histories, probes and fields differ."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from symplex.base.arguments import checked, is_real
from symplex.base.files import damage_reported, is_file, read_whole, write_text
from symplex.base.quantities import listed
from symplex.errors import OutputError, RenderError
from symplex.fem.energies.energy import Array
from symplex.meshes.pictures.figures import Panel
from symplex.meshes.pictures.packages import pictures_if_possible
from symplex.meshes.pictures.render import render_still
from symplex.meshes.series.series import read_series
from symplex.runs.folders import COMPARISON, MANIFEST, Folder
from symplex.runs.inputs import NAMED
from symplex.runs.plots import compare_histories
from symplex.runs.result import Result, read_result
from symplex.runs.study import Study
from symplex.studies.fields import FieldsCompared
from symplex.studies.histories import SAME_TIME, Difference, common_times, compared_histories, left_out_of
from symplex.studies.plots import difference_panels
from symplex.studies.scales import Scales

DIFFERENCES_PLOT = "differences.png"
_FILES = {
    COMPARISON: "differences",
    "histories.png": "picture",
    DIFFERENCES_PLOT: "picture",
    "difference.vtkhdf": "differences of fields",
    "snapshot.png": "picture",
}


@dataclass(frozen=True, repr=False)
class Comparison(Study):
    """How two results differ; see `compare`.

    Attributes
    ----------
    first, second : Path
        Their folders.
    differences : list of Difference
        Of all columns and fields that both have.
    notes : list of str
        What was interpolated, and what only one of them has.
    times : float64 [frames]
        In s, of the fields; none where one of the two has no frames.
    over_time : dict of str to float64 [frames]
        The root mean square of the difference of each field over its nodes or cells.
    left_out : list of str
        What the first result has that was not compared, as the second one lacks it: columns, probes, fields, bodies,
        and rows and frames at times, or nodes at places, that it does not have.
    """

    first: Path
    second: Path
    differences: list[Difference]
    notes: list[str]
    times: Array = field(default_factory=lambda: np.empty(0))
    over_time: dict[str, Array] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    @property
    def relative(self) -> float:
        """The largest relative difference of all."""
        return max((one.relative for one in self.differences), default=0.0)

    def beyond(self, tolerance: float) -> list[Difference]:
        """Return what differs by more than a part of its size."""
        return [one for one in self.differences if not one.relative <= tolerance]

    def __getitem__(self, name: str) -> Difference:
        """Return the difference of a column or a field."""
        for one in self.differences:
            if one.name == name:
                return one
        raise OutputError(f"'{name}' is not in both; there are {listed(one.name for one in self.differences)}.")

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each difference."""
        return [asdict(one) for one in self.differences]

    def panels(self) -> list[Panel]:
        """Return the differences of fields over time, and the relative differences of all."""
        if not len(self.times):
            raise OutputError(
                f"{self.first} and {self.second} were compared without frames, or by an earlier version: there are no "
                f"differences of fields over time; compare them again, or plot the histories of both."
            )
        return difference_panels(self.times, self.over_time, self.differences)

    def _listed(self) -> dict[str, str]:
        names = ("name", "where", "unit", "rms", "largest", "t", "relative")
        return {name: "largest at t" if name == "t" else name for name in names}

    def _notes(self) -> list[str]:
        return [*self.notes, *(f"not compared: {what}" for what in self.left_out)]

    def _picture(self) -> tuple[Path, str]:
        return Path(DIFFERENCES_PLOT), "differences"

    def _reported(self) -> list[tuple[str, str]]:
        worst = max(self.differences, key=lambda one: one.relative, default=None)
        reported = [("of", f"{self.first} and {self.second}"), ("columns and fields", str(len(self.differences)))]
        return (
            reported
            if worst is None
            else [*reported, ("largest relative difference", f"{worst.relative:.3g}, of {worst.name}")]
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
    folder = None if output is None else _begun(Path(output))
    times, has_times = common_times(a.history["t"], b.history["t"])
    if not len(times):
        raise OutputError(f"{a.path} and {b.path} have no time in common.")
    notes = []
    if not np.isclose(a.history["t"][-1], b.history["t"][-1], rtol=SAME_TIME, atol=0.0):
        notes.append(f"compared from t = {times[0]:.6g} s to {times[-1]:.6g} s, which both have")
    if not has_times:
        notes.append(f"the history of {b.path} is interpolated between its samples")
    notes += _other_inputs(a, b)
    scales = Scales(a)
    found = list(compared_histories("history", a.history, b.history, scales))
    for probe in (name for name in a.probes if name in b.probes):
        found += compared_histories(f"probe {probe}", a.probes[probe], b.probes[probe], scales)
    left_out = list(left_out_of("the history", a.history, b.history))
    for probe in a.probes:
        there = b.probes.get(probe)
        left_out += left_out_of(f"probe {probe}", a.probes[probe], there) if there else [f"probe {probe}"]
    notes += _only(a, b, list(a.history), list(b.history), "the column")
    notes += _only(a, b, list(a.probes), list(b.probes), "the probe")
    frames = FieldsCompared(a, b, scales) if len(a.times) and len(b.times) else None
    if frames is not None:
        found += frames.differences(None if folder is None else folder / "difference.vtkhdf")
        if not frames.has_times:
            notes.append(f"frames of {b.path} are interpolated between those that there are")
        if not frames.same_mesh:
            outside = f", but for {frames.outside} outside of it" if frames.outside else ""
            notes.append(f"the meshes differ: fields of {b.path} are interpolated to the nodes of {a.path}{outside}")
            of_cells = [name for name in a.series.cell_fields if name in b.series.cell_fields]
            notes += [f"fields of cells are left out: {listed(of_cells)}"] if of_cells else []
        left_out += [f"body {name}" for name in a.series.blocks if name not in b.series.blocks]
        left_out += frames.left_out
    elif len(a.times):
        left_out.append("frames: all")
    times, over_time = (np.empty(0), {}) if frames is None else (frames.times, frames.over_time)
    comparison = Comparison(a.path, b.path, found, notes, times, over_time, left_out)
    if folder is not None:
        _write(comparison, a, b, folder)
    return comparison


@checked
def read_comparison(path: str | Path) -> Comparison:
    """Return the comparison that is in a folder.

    Parameters
    ----------
    path : path-like
        The folder.

    Raises
    ------
    OutputError
        If there is none, or it cannot be read.
    """
    file = Path(path) / COMPARISON
    if not is_file(file):
        raise OutputError(f"{path} holds no comparison: it has no {COMPARISON}.")
    with damage_reported(file, "comparison", "compute it again, in another folder"):
        reported = json.loads(read_whole(file))
        # The first versions kept nothing over time.
        times, over_time = _numbers(reported.get("times", [])), reported.get("over_time", {})
        return Comparison(
            Path(reported["first"]),
            Path(reported["second"]),
            [_difference(row) for row in reported["differences"]],
            [str(note) for note in reported["notes"]],
            times,
            {str(name): _numbers(values, len(times)) for name, values in over_time.items()},
            [str(what) for what in reported.get("left_out", [])],
        )


def _difference(row: Mapping[str, Any]) -> Difference:
    found = Difference(**row)
    for one in fields(Difference):
        requested = getattr(found, one.name)
        if not (isinstance(requested, str) if one.type == "str" else is_real(requested)):
            raise ValueError(f"{one.name} is {requested!r}")
    return found


def _numbers(values: Any, requested: int | None = None) -> Array:
    found = np.array(values, dtype=float)
    if found.ndim != 1 or (requested is not None and len(found) != requested) or not np.isfinite(found).all():
        raise ValueError("rows over time that are not finite numbers, one for each time")
    return found


def _only(a: Result, b: Result, of_a: Sequence[str], of_b: Sequence[str], what: str) -> list[str]:
    """Return notes on what only one of them has."""
    pairs = ((a, of_a, of_b), (b, of_b, of_a))
    odd = [(result, [name for name in own if name not in other]) for result, own, other in pairs]
    return [f"only {result.path} has {what} {listed(names)}" for result, names in odd if names]


def _other_inputs(a: Result, b: Result) -> list[str]:
    """Return notes on files that both name and that were not the same, and on versions that computed them."""
    notes = []
    with suppress(OutputError):  # a summary that is damaged
        versions = [str(one.summary.get("versions", {}).get("symplex", "?")) for one in (a, b)]
        if versions[0] != versions[1]:
            notes.append(f"{a.path} was computed by symplex {versions[0]}, {b.path} by {versions[1]}")
        before, now = (one.summary.get("inputs", {}) for one in (a, b))
        odd = [name for name in before if name in now and name.startswith(NAMED) and before[name] != now[name]]
        if odd:
            notes.append(f"computed from other content: {listed(odd)}")
    return notes


def _begun(path: Path) -> Path:
    """Begin a comparison in a folder; refuse one that has files of the names that are written."""
    if there := [name for name in (*_FILES, MANIFEST) if (path / name).exists()]:
        raise OutputError(f"{path} holds {there[0]} already; choose another folder with --output.")
    Folder(path, "comparison").begin(_FILES)
    return path


def _write(comparison: Comparison, a: Result, b: Result, folder: Path) -> None:
    reported = {
        "first": str(a.path),
        "second": str(b.path),
        "notes": comparison.notes,
        "differences": comparison.rows(),
    }
    reported["left_out"] = comparison.left_out
    reported["times"] = comparison.times.tolist()
    reported["over_time"] = {name: values.tolist() for name, values in comparison.over_time.items()}
    write_text(folder / COMPARISON, json.dumps(reported, indent=1, ensure_ascii=False) + "\n")
    with pictures_if_possible(comparison.notes.append):
        _draw(comparison, a, b, folder)


def _draw(comparison: Comparison, a: Result, b: Result, folder: Path) -> None:
    labels = (str(a.path), str(b.path)) if a.path != b.path else (str(a.path), f"{b.path} again")
    compare_histories(dict(zip(labels, (a.history, b.history), strict=True)), folder / "histories.png")
    if not len(comparison.times):
        return
    comparison.plot(folder / DIFFERENCES_PLOT)
    if comparison["displacement"].largest > 0.0:
        at = comparison["displacement"].t
        try:
            drawn = read_series(folder / "difference.vtkhdf")
            render_still(drawn, folder / "snapshot.png", time=at, field="displacement_difference")
        except RenderError as error:
            comparison.notes.append(f"snapshot.png is not drawn: {error}")
