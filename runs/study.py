"""What all studies have: a table, a figure, and what they print of themselves."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from symplex.base.arguments import checked
from symplex.base.columns import Column
from symplex.base.representation import Tabled
from symplex.base.version import VERSION
from symplex.meshes.pictures.figures import Panel, Sheet, draw_page
from symplex.meshes.pictures.packages import pictures_if_possible
from symplex.runs.folders import Folder
from symplex.runs.history import loaded_pandas
from symplex.runs.progress import si
from symplex.runs.tables import reported_as_table

if TYPE_CHECKING:
    import pandas

_MOST_TOLD = 30  # rows of a table as text


def report_about(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
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
        return "\n".join([reported_as_table([*listed.values()], shown), *more, *self._notes()])

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


class SavedStudy(Study):
    """A study of a scenario or of a result that `save` writes to a folder.

    Attributes
    ----------
    kind : str
        What its folder holds, which is the name of its table as well.
    """

    kind: ClassVar[str]

    @abstractmethod
    def columns(self) -> list[Column]:
        """Return the columns of its table, with their units."""

    @abstractmethod
    def summary(self) -> dict[str, Any]:
        """Return what its ``summary.json`` holds."""

    @abstractmethod
    def _scenario_text(self) -> str:
        """Return the scenario that it is about."""

    def _write(self, folder: Folder, pictures: bool) -> None:
        """Write its figure."""
        if pictures:
            self.plot(folder.file(f"{self.kind}.png", "picture"))

    @checked
    def save(
        self,
        output: str | Path,
        *,
        overwrite: bool = False,
        pictures: bool = True,
        say: Callable[[str], object] = lambda line: None,
    ) -> dict[str, Any]:
        """Write it to a folder: a table with its columns, a picture, shapes of modes, and ``summary.json``.

        Parameters
        ----------
        output : path-like
        overwrite : bool, default False
            Whether what an earlier study of the same kind has left there may be replaced; other files never are.
        pictures : bool, default True
            Whether to draw pictures.
        say : callable, optional
            Called with why pictures were skipped.

        Returns
        -------
        dict
            The content of ``summary.json``.

        Raises
        ------
        OutputError
            If the folder holds something else, or cannot be written.
        """
        return self._save(output, overwrite, say, lambda folder: self._write(folder, pictures))

    def _save(
        self, output: str | Path, overwrite: bool, say: Callable[[str], object], write: Callable[[Folder], None]
    ) -> dict[str, Any]:
        """Write its table, what a function writes, and last the summary."""
        folder = Folder.begun(output, self.kind, self._scenario_text(), overwrite)
        folder.write_table(self.kind, self.columns(), self.rows())
        with pictures_if_possible(say):
            write(folder)
        return folder.write_summary({"study": self.kind, "symplex": VERSION, **self.summary()})
