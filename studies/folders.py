"""What is in the folder of a study – modes, a response, a sweep, a comparison –, as `symplex info` shows it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from symplex.base.files import damage_reported, is_file, read_whole
from symplex.meshes.pictures.figures import Sheet
from symplex.runs.folders import COMPARISON, STUDY, SUMMARY, kind_of
from symplex.runs.progress import si
from symplex.runs.study import Study, report_about
from symplex.runs.tables import reported_as_table, table
from symplex.studies.comparison import DIFFERENCES_PLOT, read_comparison
from symplex.studies.convergence import read_convergence
from symplex.studies.fitting import fit_report, read_fit
from symplex.studies.members import read_sweep
from symplex.studies.sensitivities import read_sensitivity, sensitivity_report
from symplex.studies.study_file import CONVERGENCE, TABLE

_MOST_TOLD = 30  # rows of a table


def study_report(path: Path) -> str | None:
    """Return what is in a folder of a study as lines, or None if it is none."""
    if (kind := kind_of(path)) is None:
        return None
    name, tell = _KINDS[kind]
    with damage_reported(path / name, kind, "compute it again, in another folder"):
        return tell(path, json.loads(read_whole(path / name)))


def plot_study(
    path: Path, output: str | None = None, width: int | None = None, height: int | None = None, dpi: float | None = None
) -> Path | None:
    """Plot the study, comparison, fit or sensitivities in a folder, and return the file; None if there is none."""
    kind, sheet = kind_of(path), Sheet(width, height) if dpi is None else Sheet(width, height, dpi)
    if kind == "comparison":
        return read_comparison(path).plot(path / DIFFERENCES_PLOT if output is None else output, sheet)
    if kind == "fit":
        return read_fit(path).plot(output, sheet)
    if kind == "sensitivity":
        return read_sensitivity(path).plot(output, sheet)
    if kind != "study":
        return None
    study = read_convergence(path) if is_file(path / CONVERGENCE) else read_sweep(path)
    return study.plot(output, sheet)


def _head(path: Path, summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [*report_about(summary), ("results", _files(path))]


def _files(path: Path) -> str:
    return ", ".join(sorted(item.name for item in path.iterdir() if not item.name.startswith(".")))


def _modes(path: Path, summary: Mapping[str, Any]) -> str:
    kinds = zip(summary["frequencies"], summary["kinds"], strict=True)
    rows = [{"mode": k, "frequency (Hz)": f, "": kind} for k, (f, kind) in enumerate(kinds, 1)]
    head = [("mass", f"{si(1e3 * summary['mass'], 'g', 6)}"), *_head(path, summary)]
    return f"Modes\n{table(head)}\n\n{_some(['mode', 'frequency (Hz)', ''], rows)}"


def _buckling(path: Path, summary: Mapping[str, Any]) -> str:
    rows = [{"mode": k, "factor of the load": factor} for k, factor in enumerate(summary["factors"], 1)]
    head = [("load", ", ".join(summary["loads"])), *_head(path, summary)]
    return f"Linear buckling\n{table(head)}\n\n{_some(['mode', 'factor of the load'], rows)}"


def _response(path: Path, summary: Mapping[str, Any]) -> str:
    if "analysis" in summary:
        what, numbers = next((key, summary[key]) for key in ("rms", "largest") if key in summary)
        rows = [(f"{what} of {name}", si(x, summary["units"][name], 5).strip()) for name, x in numbers.items()]
        return f"{summary['analysis'].capitalize()}\n{table([*_head(path, summary), *rows])}"
    first, last = summary["frequencies"]
    rows = [("response", f"{summary['method']}, from {first:g} to {last:g} Hz")]
    for name, peak in summary["peaks"].items():
        reported = f"{si(peak['amplitude'], 'm', 5)} along {peak['component']} at {peak['frequency']:.6g} Hz"
        rows.append((f"peak of {name}", reported))
    return f"Harmonic response\n{table([*_head(path, summary), *rows])}"


def _shock(path: Path, summary: Mapping[str, Any]) -> str:
    rows = [("probe", summary["probe"]), ("damping ratio", f"{summary['ratio']:g}"), ("results", _files(path))]
    for name, peak in summary["peaks"].items():
        rows.append((f"peak of {name}", f"{si(peak['acceleration'], 'm/s²', 5)} at {peak['frequency']:.6g} Hz"))
    return f"Shock response spectra\n{table(rows)}"


def _study(path: Path, _: Mapping[str, Any]) -> str:
    study = read_convergence(path) if is_file(path / CONVERGENCE) else read_sweep(path)
    if not is_file(path / TABLE):
        return f"{study.text()}\n{table([('status', 'killed before its end; --resume goes on with it')])}"
    return _reported(path, study)


def _comparison(path: Path, _: Mapping[str, Any]) -> str:
    return _reported(path, read_comparison(path))


def _reported(path: Path, study: Study) -> str:
    return f"{study.text()}\n{table([('results', _files(path))])}\n\n{study.report()}"


def _some(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a table of the first rows, and how many more there are."""
    more = f"\n… {len(rows) - _MOST_TOLD} more" if len(rows) > _MOST_TOLD else ""
    return reported_as_table(columns, rows[:_MOST_TOLD]) + more


_KINDS: dict[str, tuple[str, Callable[[Path, Mapping[str, Any]], str]]] = {
    "modes": (SUMMARY, _modes),
    "buckling": (SUMMARY, _buckling),
    "response": (SUMMARY, _response),
    "shock": (SUMMARY, _shock),
    "study": (STUDY, _study),
    "comparison": (COMPARISON, _comparison),
    "fit": (SUMMARY, fit_report),
    "sensitivity": (SUMMARY, sensitivity_report),
}
