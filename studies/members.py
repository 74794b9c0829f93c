"""The members of a parameter study: their values, their numbers, and the table of all of them."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symplex.base.arguments import checked
from symplex.base.files import damage_reported, read_whole, write_text
from symplex.base.quantities import listed, shown
from symplex.errors import MissingPackage, OutputError
from symplex.meshes.pictures.figures import Panel
from symplex.runs.result import Result
from symplex.runs.results import RunFolder
from symplex.runs.study import Study
from symplex.runs.tables import reported_as_table
from symplex.studies.indices import columns_of, indices
from symplex.studies.plots import sweep_panels
from symplex.studies.quantities import RunQuantity
from symplex.studies.study_file import INDICES, PLOT, TABLE, folder_of, read_study
from symplex.studies.workers import FINISHED

if TYPE_CHECKING:
    import pandas

NOT_RUN = "not run yet"
_MOST_TOLD = 30  # members of which it is reported why they are not finished
_AROUND = ("member", "status", "reason")  # columns of the table next to values and numbers


@dataclass(frozen=True)
class Member:
    """A run of a study.

    Attributes
    ----------
    name : str
        Of its folder.
    values : dict of str to object
        What it has in place of the scenario's values, by key.
    path : Path
        Its results folder.
    status : str
        ``finished``, ``failed``, ``interrupted`` or ``not run yet``.
    reason : str
        Why it is not finished.
    numbers : dict of str to float
        What was asked for, by name; empty if it is not finished.
    """

    name: str
    values: dict[str, Any]
    path: Path
    status: str
    reason: str
    numbers: dict[str, float]


@dataclass(frozen=True, repr=False)
class Sweep(Study):
    """A parameter study that has been run; see `sweep`.

    Attributes
    ----------
    path : Path
        Its folder.
    members : list of Member
    units : dict of str to str
        Of the numbers, by name.
    design : str
        ``saltelli`` or ``morris``, if its samples are in one of these designs.
    """

    path: Path
    members: list[Member]
    units: dict[str, str]
    design: str = ""

    @property
    def keys(self) -> list[str]:
        """The keys that are varied."""
        return list(self.members[0].values)

    @property
    def quantities(self) -> list[str]:
        """The names of the numbers."""
        return list(dict.fromkeys(name for member in self.members for name in member.numbers))

    @property
    def failed(self) -> list[Member]:
        """The members that are not finished."""
        return [member for member in self.members if member.status != FINISHED]

    def result(self, name: str) -> Result:
        """Return the result of a member.

        Raises
        ------
        OutputError
            If there is none.
        """
        for member in self.members:
            if member.name == name:
                return Result(RunFolder.of_run(member.path))
        raise OutputError(f"there is no member {shown(name)}; there are {listed(one.name for one in self.members)}.")

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each member: its name, values, numbers (None where there are none), status and reason."""
        return [
            {"member": member.name, **member.values}
            | {name: member.numbers.get(name) for name in self.quantities}
            | {"status": member.status, "reason": member.reason}
            for member in self.members
        ]

    def to_pandas(self) -> pandas.DataFrame:
        """Return the rows as a frame of pandas, by the names of members; see `Study.to_pandas`."""
        return super().to_pandas().set_index("member")

    def write_table(self) -> None:
        """Write the rows to the folder, as ``table.csv``, and as ``indices.csv`` those of `indices`, if all are known.

        Raises
        ------
        OutputError
            If it cannot be written.
        """
        self._write(TABLE, ["member", *self.keys, *self.quantities, "status", "reason"], self.rows())
        names = self.quantities
        if self.design and names and all(one.numbers.get(name) is not None for one in self.members for name in names):
            self._write(INDICES, columns_of(self.design), self.indices())

    def _write(self, name: str, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
        text = StringIO()
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: "" if value is None else value for key, value in row.items()} for row in rows)
        write_text(self.path / name, text.getvalue())

    def indices(self) -> list[dict[str, Any]]:
        """Return how much each parameter matters for each number, as ``indices.csv`` has it.

        Returns
        -------
        list of dict
            With ``quantity`` and ``parameter``; of Saltelli's design the part of the variance that comes from the
            parameter alone (``first_order``) and with the others (``total``), of Morris' the mean, the mean size and
            the deviation of the effects of a change over the range; with halves of intervals of 95 % (``…_95``).

        Raises
        ------
        OutputError
            If the samples are in no design, or a member has no number.
        """
        if not self.design:
            raise OutputError(f'{self.path}: indices need samples in a design: sampling = "saltelli" or "morris".')
        values = [member.values for member in self.members]
        numbers = {name: [member.numbers.get(name) for member in self.members] for name in self.quantities}
        return indices(self.design, values, numbers)

    def panels(self) -> list[list[Panel]]:
        """Return its numbers over each parameter."""
        if not self.quantities:
            raise OutputError(f"{self.path}: no member has a number to plot.")
        return sweep_panels(self.rows(), self.keys, self.units)

    def _picture(self) -> tuple[Path, str]:
        return self.path / PLOT, read_study(self.path).title

    def _listed(self) -> dict[str, str]:
        return {name: name for name in ("member", *self.keys, *self.quantities, "status")}

    def _notes(self) -> list[str]:
        odd = [one for one in self.members if one.status != FINISHED or one.reason]  # or without a number
        notes = [f"member {one.name}: {one.status}: {one.reason}" for one in odd[:_MOST_TOLD]]
        if self.design and self.quantities and not self.failed:
            try:
                rows = [{name.replace("_", " "): value for name, value in row.items()} for row in self.indices()]
                notes.append(f"\n{reported_as_table(list(rows[0]), rows)}")
            except (MissingPackage, OutputError) as error:
                notes.append(str(error))
        return notes

    def _reported(self) -> list[tuple[str, str]]:
        counted = Counter(member.status for member in self.members)
        members = f"{len(self.members)}, {', '.join(f'{n} {status}' for status, n in counted.items())}"
        return [
            ("folder", str(self.path)),
            ("members", members),
            ("over", listed(self.keys)),
            ("numbers", listed(self.quantities)),
        ]


@checked
def read_sweep(path: str | Path) -> Sweep:
    """Return the parameter study, or the runs of the convergence study, that is in a folder, as its table has it.

    Parameters
    ----------
    path : path-like
        The folder.

    Raises
    ------
    OutputError
        If there is none, or it cannot be read.
    """
    path = Path(path)
    study = read_study(path)
    table: dict[str, dict[str, str]] = {}
    with damage_reported(path / TABLE, "table", "--resume of the study writes it again"):
        if (path / TABLE).exists():  # else it was killed before its end
            text = read_whole(path / TABLE).decode("utf-8")
            table = {row["member"]: row for row in csv.DictReader(StringIO(text), strict=True)}
        members = [_read(path, name, values, table.get(name)) for name, values in study.members.items()]
    return Sweep(path, members, _units(members), study.design)


def _read(path: Path, name: str, values: Mapping[str, Any], row: Mapping[str, str] | None) -> Member:
    """Return a member with what its row of the table has."""
    folder = folder_of(path, name)
    if row is None:
        return Member(name, dict(values), folder, NOT_RUN, "", {})
    numbers = {key: float(text) for key, text in row.items() if key not in (*_AROUND, *values) and text}
    return Member(name, dict(values), folder, row["status"], row["reason"], numbers)


def _units(members: Iterable[Member]) -> dict[str, str]:
    """Return the units of the numbers, as the first member has them that is there."""
    for member in members:
        if member.numbers:
            try:
                result = Result(RunFolder.of_run(member.path))
                return {name: RunQuantity.of(name).unit(result) for name in member.numbers}
            except OutputError:  # it was removed, or is damaged
                continue
    return {name: "" for member in members for name in member.numbers}
