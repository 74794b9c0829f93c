"""Columns of a history: what each number is, declared by what shows it, for plots, summaries and readers of files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, Literal, get_args

# What a number is. An energy is a part of a total one; totals are what a method may keep.
Kind = Literal["time", "energy", "total", "work", "momentum", "force", "length", "temperature", "count", "other"]
# What a summary has of a column: the largest change since the start, or its last, mean, largest or smallest value.
Summary = Literal["", "drift", "end", "mean", "peak", "least"]
# What several parts of a system that report it make of it.
Combined = Literal["sum", "largest", "smallest"]

_COMBINED = {"sum": sum, "largest": max, "smallest": min}

AXES = "xyz"
ENERGIES, WORK = "energies", "work and heat"  # titles of plots


@dataclass(frozen=True)
class Column:
    """What a column of a history holds.

    Parameters
    ----------
    name : str
        Without commas, quotes and breaks.
    unit : str, default ""
        SI, as messages write it; empty: a pure number.
    kind : str, default "other"
        See `Kind`.
    plot : str, default ""
        The title of the plot that it is in, with others of the same title; empty: it is not plotted.
    summary : str, default ""
        What of it is in a summary, see `Summary`; of a vector, the size counts.
    vector : str, default ""
        The vector that it is a component of, if it is.
    less_work_of : str, default ""
        The total that this one is, less the work and heat known, if it is such.
    combined : {"sum", "largest", "smallest"}, default "sum"
        What there is of several parts of a system that report it.
    watched : bool, default False
        Whether it is the energy that the method keeps, or nearly keeps: one column of a history is.
    """

    name: str
    unit: str = ""
    kind: Kind = "other"
    plot: str = ""
    summary: Summary = ""
    vector: str = ""
    less_work_of: str = ""
    combined: Combined = "sum"
    watched: bool = False

    def of_parts(self, values: Iterable[float]) -> float:
        """Return what there is of what several parts report."""
        return _COMBINED[self.combined](values)

    @property
    def subject(self) -> str:
        """What a summary calls it: the vector, or the column itself."""
        return self.vector or self.name

    def plain(self) -> dict[str, Any]:
        """Return what is not by default, as JSON has it."""
        return {
            item.name: getattr(self, item.name) for item in fields(self) if getattr(self, item.name) != item.default
        }

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Column:
        """Return the column that `plain` has written; what other versions have written besides is left out.

        Raises
        ------
        ValueError
            If it is no column.
        """
        if not isinstance(plain, Mapping) or not isinstance(plain.get("name"), str):
            raise ValueError("a column without a name")
        known = {}
        for item in fields(cls):
            value = plain.get(item.name, item.default)
            if value is MISSING or not isinstance(value, bool if item.name == "watched" else str):
                raise ValueError(f"the {item.name} of column {plain['name'][:60]!r} is not one")
            known[item.name] = value
        for name, words in (("kind", Kind), ("summary", Summary), ("combined", Combined)):
            if known[name] not in get_args(words):
                known[name] = cls.__dataclass_fields__[name].default
        return cls(**known)


def energy_column(name: str) -> Column:
    """Return the column of a part of the total energy."""
    return Column(name, "J", "energy", ENERGIES)


def total_column(name: str, less_work_of: str = "") -> Column:
    """Return the column of a total energy."""
    return Column(name, "J", "total", ENERGIES, "drift", less_work_of=less_work_of)


def work_column(name: str) -> Column:
    """Return the column of what an action has done since the start."""
    return Column(name, "J", "work", WORK, "end")


def count_column(name: str, plotted: bool = False) -> Column:
    """Return the column of a number that a method counts."""
    return Column(name, "", "count", name if plotted else "")


def vector_columns(name: str, unit: str, kind: Kind, plot: str = "", summary: Summary = "") -> tuple[Column, ...]:
    """Return the columns of the components of a vector in space."""
    return tuple(Column(f"{name}_{axis}", unit, kind, plot, summary, name) for axis in AXES)


def components(name: str, values: Iterable[float]) -> dict[str, float]:
    """Return the components of a vector by the names of their columns."""
    return {f"{name}_{axis}": float(x) for axis, x in zip(AXES, values, strict=False)}


def constant_totals(columns: Iterable[Column]) -> list[str]:
    """Return the totals that change by the errors of the method only: all of a history, or those less work done."""
    every = list(columns)
    work = any(column.kind == "work" or column.less_work_of for column in every)
    return [column.name for column in every if column.kind == "total" and (column.less_work_of or not work)]
