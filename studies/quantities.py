"""Numbers of a run that a study is about: of its summary, or of a column of its history or of a probe."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import trapezoid

from symplex.base.columns import Column
from symplex.base.quantities import listed, shown
from symplex.errors import OutputError
from symplex.fem.energies.energy import Array
from symplex.runs.history import History, columns_of
from symplex.runs.result import Result

_CALL = re.compile(r"\s*(\w+)\s*\(\s*(.+?)\s*\)\s*")
_REDUCED: dict[str, Callable[[Array, Array], float]] = {
    "first": lambda t, x: x[0],
    "final": lambda t, x: x[-1],
    "min": lambda t, x: x.min(),
    "max": lambda t, x: x.max(),
    "absmax": lambda t, x: np.abs(x).max(),
    "range": lambda t, x: np.ptp(x),
    "mean": lambda t, x: trapezoid(x, t) / (t[-1] - t[0]) if len(t) > 1 else x[0],
    "rms": lambda t, x: np.sqrt(trapezoid(x**2, t) / (t[-1] - t[0])) if len(t) > 1 else abs(x[0]),
    "time_of_max": lambda t, x: t[x.argmax()],
}
_FORM = f"write a key of summary.json, as drift.total or events.WHEN, or {', '.join(_REDUCED)} of a column, as "
_FORM += "max(kinetic) or, of a probe, final(tip.displacement_z)"
_EVENTS = "events"  # in summaries, by whose names times are taken
_IN_SUMMARIES = ("energy_end", "peak_strain_energy")


@dataclass(frozen=True)
class RunQuantity:
    """A number of a run.

    Attributes
    ----------
    name : str
        As it was written.
    reduction : str
        What is taken of a column, or nothing of a key of the summary.
    source : str
        The column, or the key of the summary.
    """

    name: str
    reduction: str
    source: str

    @classmethod
    def of(cls, text: str) -> RunQuantity:
        """Return the quantity that a text names."""
        if match := _CALL.fullmatch(text):
            if match.group(1) not in _REDUCED:
                raise OutputError(f"{shown(text)} is no quantity of a run; {_FORM}.")
            return cls(text.strip(), match.group(1), match.group(2))
        if not re.fullmatch(r"\s*[\w.\- ]+\s*", text):
            raise OutputError(f"{shown(text)} is no quantity of a run; {_FORM}.")
        return cls(text.strip(), "", text.strip())

    @property
    def condition(self) -> str:
        """The name of the condition whose time it is; empty of others."""
        kind, _, name = self.source.partition(".")
        return name if kind == _EVENTS and not self.reduction else ""

    def value(self, result: Result) -> float:
        """Return the number."""
        if not self.reduction:
            return self._in_summary(result)
        history, name = self._history(result)
        return self.reduced(history["t"], history[name])

    def reduced(self, t: Array, x: Array) -> float:
        """Return the number of a column x [rows] at the times t [rows] in s."""
        return float(_REDUCED[self.reduction](t, x))

    def unit(self, result: Result) -> str:
        """Return its unit, empty where it is not known or there is none."""
        if not self.reduction:
            return _unit_in_summary(self.source, result.summary)
        if self.reduction == "time_of_max":
            return "s"
        history, name = self._history(result)
        return columns_of(history).get(name, Column(name)).unit

    def _history(self, result: Result) -> tuple[History, str]:
        """Return the history in which the column is, and its name there."""
        if self.source in result.history:
            return result.history, self.source
        probe, _, name = self.source.rpartition(".")
        if probe in result.probes and name in result.probes[probe]:
            return result.probes[probe], name
        known = [*result.history, *(f"{probe}.{name}" for probe, rows in result.probes.items() for name in rows)]
        raise OutputError(f"{result.path}: there is no column {shown(self.source)}; there are {listed(known)}.")

    def _in_summary(self, result: Result) -> float:
        found: Any = {**result.summary, _EVENTS: {one["name"]: one["t"] for one in result.summary.get(_EVENTS, ())}}
        for key in self.source.split("."):
            found = found.get(key) if isinstance(found, Mapping) else None
        if isinstance(found, bool) or not isinstance(found, int | float):
            known = [key for key, value in result.summary.items() if isinstance(value, int | float)]
            raise OutputError(
                f"{result.path}: its summary.json has no number {shown(self.source)}; it has {listed(known)}; {_FORM}."
            )
        return float(found)


def usual_quantities(result: Result) -> list[RunQuantity]:
    """Return what a study shows of its members if nothing else is asked for."""
    summary = result.summary
    units = summary.get("units", {})
    names = [name for name in (*_IN_SUMMARIES, *units) if isinstance(summary.get(name), int | float)]
    kept = summary.get("energy_kept")
    names += [f"drift.{kept}"] if kept in summary.get("drift", {}) else []
    return [RunQuantity.of(name) for name in names]


def _unit_in_summary(name: str, summary: Mapping[str, Any]) -> str:
    if "energy" in name.rpartition(".")[2]:
        return "J"
    if name.startswith(("wall_time", f"{_EVENTS}.")) or name in ("t_end", "duration"):
        return "s"
    return str(summary.get("units", {}).get(name, "")) if isinstance(summary.get("units"), Mapping) else ""
