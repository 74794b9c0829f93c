"""What is in the folder of a study – modes, a response, a sweep, a comparison –, as `symplex info` tells it."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from symplex.base.files import damage_reported, is_file, read_whole
from symplex.runs.progress import si
from symplex.runs.study_folder import kind_of, told_about
from symplex.runs.tables import table, told_as_table

_MOST_TOLD = 30  # rows of a table


def study_report(path: Path) -> str | None:
    """Return what is in a folder of a study as lines, or None if it is none.

    Raises
    ------
    OutputError
        If it is one, and damaged.
    """
    if (kind := kind_of_study(path)) is None:
        return None
    name, tell = _KINDS[kind]
    with damage_reported(path / name, kind, "compute it again, in another folder"):
        return tell(path, json.loads(read_whole(path / name)))


def kind_of_study(path: Path) -> str | None:
    """Return what a folder is the folder of: ``"modes"``, ``"response"``, ``"study"``, ``"comparison"`` or nothing."""
    for kind in ("study", "comparison"):
        if is_file(path / _KINDS[kind][0]):
            return kind
    found = kind_of(path)
    return found if found in _KINDS else None


def _head(path: Path, summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [*told_about(summary), ("results", _files(path))]


def _files(path: Path) -> str:
    return ", ".join(sorted(item.name for item in path.iterdir() if not item.name.startswith(".")))


def _modes(path: Path, summary: Mapping[str, Any]) -> str:
    kinds = zip(summary["frequencies"], summary["kinds"], strict=True)
    rows = [{"mode": k, "frequency (Hz)": f, "": kind} for k, (f, kind) in enumerate(kinds, 1)]
    head = [("mass", f"{si(1e3 * summary['mass'], 'g', 6)}"), *_head(path, summary)]
    return f"Modes\n{table(head)}\n\n{_some(['mode', 'frequency (Hz)', ''], rows)}"


def _response(path: Path, summary: Mapping[str, Any]) -> str:
    first, last = summary["frequencies"]
    rows = [("response", f"{summary['method']}, from {first:g} to {last:g} Hz")]
    for name, peak in summary["peaks"].items():
        told = f"{si(peak['amplitude'], 'm', 5)} along {peak['component']} at {peak['frequency']:.6g} Hz"
        rows.append((f"peak of {name}", told))
    return f"Harmonic response\n{table([*_head(path, summary), *rows])}"


def _study(path: Path, study: Mapping[str, Any]) -> str:
    members = study["members"]
    head = [("scenario", str(study["scenario"])), ("members", str(len(members)))]
    head.append(("over", ", ".join(dict.fromkeys(key for values in members.values() for key in values))))
    if not is_file(path / "table.csv"):
        head.append(("status", "killed before its end; --resume goes on with it"))
        return f"Study\n{table([*head, ('results', _files(path))])}"
    with damage_reported(path / "table.csv", "table", "--resume of the study writes it anew"):
        rows = list(csv.DictReader(io.StringIO(read_whole(path / "table.csv").decode("utf-8"))))
        counted = Counter(row["status"] for row in rows)
    head.append(("status", ", ".join(f"{n} {status}" for status, n in counted.items())))
    columns = [name for name in rows[0] if name != "reason"] if rows else []
    told = [{name: row[name] if name == "member" else _number(row[name]) for name in columns} for row in rows]
    failed = [f"member {row['member']}: {row['reason']}" for row in rows if row["reason"]][:_MOST_TOLD]
    return "\n".join([f"Study\n{table([*head, ('results', _files(path))])}\n\n{_some(columns, told)}", *failed])


def _comparison(path: Path, found: Mapping[str, Any]) -> str:
    head = [("first", str(found["first"])), ("second", str(found["second"])), ("results", _files(path))]
    columns = ["name", "where", "unit", "rms", "largest", "relative"]
    rows = [{name: row.get(name) for name in columns} for row in found["differences"]]
    return "\n".join([f"Comparison\n{table(head)}\n\n{_some(columns, rows)}", *map(str, found["notes"])])


def _some(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a table of the first rows, and how many more there are."""
    more = f"\n… {len(rows) - _MOST_TOLD} more" if len(rows) > _MOST_TOLD else ""
    return told_as_table(columns, rows[:_MOST_TOLD]) + more


def _number(text: str) -> float | int | str | None:
    """Return the number that a text is, or else the text; None of none."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text or None


_KINDS: dict[str, tuple[str, Callable[[Path, Mapping[str, Any]], str]]] = {
    "modes": ("summary.json", _modes),
    "response": ("summary.json", _response),
    "study": ("study.json", _study),
    "comparison": ("comparison.json", _comparison),
}
