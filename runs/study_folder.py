"""What all studies have – a table, a figure, what they print of themselves –, and folders that keep them."""

from __future__ import annotations

import csv
import io
import json
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symplex.base.columns import Column
from symplex.base.files import is_file, read_whole, reason_of, write_text
from symplex.base.representation import Tabled
from symplex.base.version import VERSION
from symplex.errors import OutputError
from symplex.meshes.pictures.figures import Panel, Sheet, draw_page
from symplex.runs.history import loaded_pandas
from symplex.runs.progress import si
from symplex.runs.tables import told_as_table

if TYPE_CHECKING:
    import pandas

STUDY, COMPARISON, MEMBERS = "study.json", "comparison.json", "members"
WHAT_IS_OF = {  # folders that are of no run
    "modes": "the modes of a scenario",
    "response": "the response of a scenario",
    "study": "a study",
    "comparison": "a comparison of two results",
}
_SUMMARY = "summary.json"
_MOST_TOLD = 30  # rows of a table as text


def kind_of(path: Path) -> str | None:
    """Return what a folder holds, one of the keys of `WHAT_IS_OF`, None if it is nothing of these."""
    for kind, name in (("study", STUDY), ("comparison", COMPARISON)):
        if is_file(path / name):
            return kind
    kind = _summary_in(path).get("study")
    return kind if kind in WHAT_IS_OF else None


def _summary_in(path: Path) -> dict[str, Any]:
    """Return what the summary in a folder says; nothing if there is none, or it is damaged."""
    try:
        summary = json.loads(read_whole(path / _SUMMARY)) if is_file(path / _SUMMARY) else None
    except (OSError, ValueError, RecursionError):
        return {}
    return summary if isinstance(summary, dict) else {}


def told_about(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return rows of a report on what small motions are about, by a summary."""
    about = "; ".join([f"the state at t = {si(summary['t'], 's')}", *summary["notes"]])
    return [("scenario", str(summary["scenario"])), ("about", about)]


class Study(Tabled):
    """A result with a table and a figure: a sweep, a convergence study, a comparison, or a harmonic response.

    What a kind of study states is its rows, the panels of its figure, and what it prints of itself.
    """

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of its table."""

    @abstractmethod
    def panels(self) -> Sequence[Panel] | Sequence[Sequence[Panel]]:
        """Return what its figure shows."""

    def _listed(self) -> dict[str, str]:
        """Return the columns of its table as text, with what is above each."""
        return {name: name for name in next(iter(self.rows()), {})}

    def _notes(self) -> list[str]:
        """Return what there is to add to the table."""
        return []

    def report(self) -> str:
        """Return its table as text – the first rows of many –, and what there is to add."""
        rows, listed = self.rows(), self._listed()
        shown = [{head: row.get(name) for name, head in listed.items()} for row in rows[:_MOST_TOLD]]
        more = [f"… {len(rows) - _MOST_TOLD} more"] if len(rows) > _MOST_TOLD else []
        return "\n".join([told_as_table([*listed.values()], shown), *more, *self._notes()])

    @abstractmethod
    def _picture(self) -> tuple[Path, str]:
        """Return where its figure is by default, and the title."""

    def plot(self, path: str | Path | None = None, sheet: Sheet | None = None) -> Path:
        """Draw its figure, by default into its folder, and return the file."""
        panels = self.panels()
        usual, title = self._picture()
        return draw_page(panels, usual if path is None else Path(path), title, sheet)

    def to_pandas(self) -> pandas.DataFrame:
        """Return the rows as a frame of pandas."""
        return loaded_pandas().DataFrame(self.rows())


class StudyFolder:
    """A folder that takes files of a kind of study, and no others' place.

    Parameters
    ----------
    path : path-like
    kind : str
        Of the study, by which its summary is known.
    overwrite : bool, default False
        Whether results of this kind that are there may be replaced.

    Raises
    ------
    OutputError
        If something is there that may not be replaced.
    """

    def __init__(self, path: str | Path, kind: str, overwrite: bool = False):
        self.path, self._kind = Path(path), kind
        self._own: list[str] = []
        if not self.path.exists():
            return
        if not self.path.is_dir():
            raise OutputError(f"{self.path} is not a folder; choose another with --output.")
        there = [entry.name for entry in self.path.iterdir()]
        if not there:
            return
        before = self._before()
        if before is None:
            raise OutputError(
                f"{self.path} holds {there[0]}, but no {kind} that symplex has written; choose another folder with "
                "--output."
            )
        if not overwrite:
            raise OutputError(
                f"{self.path} already holds the {kind} of a scenario; replace them with --overwrite, or choose another "
                "folder with --output."
            )
        self._own = [name for name in before if name in there]

    def _before(self) -> list[str] | None:
        """Return the files that an earlier study of the kind has written; None if there was none."""
        summary = _summary_in(self.path)
        if summary.get("study") != self._kind:
            return None
        files = summary.get("files", [])
        plain = isinstance(files, list) and all(isinstance(name, str) and Path(name).name == name for name in files)
        return [*files, _SUMMARY] if plain else None

    def begin(self, scenario: str) -> None:
        """Make the folder, remove what an earlier study has left in it, and write a copy of the scenario."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            for name in self._own:
                (self.path / name).unlink(missing_ok=True)
        except OSError as error:
            raise OutputError(f"{self.path} cannot be written: {reason_of(error)}.") from error
        self._own = []
        self._write("scenario.toml", scenario)

    def file(self, name: str) -> Path:
        """Return the place of a file of the study."""
        path = self.path / name
        if path.exists() and name not in self._own:
            raise OutputError(f"{path} is there already; move it away, or choose another folder with --output.")
        self._own.append(name)
        return path

    def write_table(self, name: str, columns: Sequence[Column], rows: Iterable[Mapping[str, Any]]) -> None:
        """Write ``NAME.csv``, and ``NAME.json`` with what its columns are, as histories have."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([column.name for column in columns])
        for row in rows:
            writer.writerow([_plain(row[column.name]) for column in columns])
        self._write(f"{name}.csv", text.getvalue())
        self._write(f"{name}.json", _json({"columns": [column.plain() for column in columns]}))

    def write_summary(self, summary: Mapping[str, Any]) -> dict[str, Any]:
        """Write ``summary.json``, with the kind of study and its files, and return what it holds."""
        whole = {"study": self._kind, "symplex": VERSION, **summary, "files": sorted(set(self._own))}
        self._own.append(_SUMMARY)
        write_text(self.path / _SUMMARY, _json(whole))
        return whole

    def _write(self, name: str, text: str) -> None:
        write_text(self.file(name), text)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else repr(value.item() if hasattr(value, "item") else value)


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
