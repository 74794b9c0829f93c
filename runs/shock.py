"""The shock response spectrum of the history of a probe: computed, and kept in a folder with a table and a plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from symplex.base.arguments import checked
from symplex.base.columns import Column
from symplex.base.quantities import between, listed, positive, shown, whole
from symplex.errors import OutputError
from symplex.meshes.pictures.figures import COLOURS, Curve, Panel
from symplex.runs.progress import si
from symplex.runs.result import Result, read_result
from symplex.runs.study import SavedStudy
from symplex.runs.tables import table
from symplex.time.modes.spectra import ShockSpectrum, shock_spectrum

_UNIT = "m/s²"
_MOST = 10_000  # frequencies


@dataclass(frozen=True, repr=False)
class ShockFound(SavedStudy):
    """The shock response spectra of the accelerations of a probe.

    Attributes
    ----------
    result : Result
    probe : str
    spectra : dict of str to ShockSpectrum
        By the columns of the probe.
    """

    kind = "shock"
    result: Result
    probe: str
    spectra: dict[str, ShockSpectrum]

    @property
    def frequencies(self) -> np.ndarray:
        """The natural frequencies [m] in Hz."""
        return next(iter(self.spectra.values())).frequencies

    def columns(self) -> list[Column]:
        """Return the columns of the table."""
        found = [Column("frequency", "Hz")]
        for name in self.spectra:
            found += [Column(f"{name}_{what}", _UNIT) for what in ("maximax", "positive", "negative")]
            found += [Column(f"{name}_pseudo_velocity", "m/s"), Column(f"{name}_displacement", "m", "length")]
        return found

    def rows(self) -> list[dict[str, float]]:
        """Return a row for each frequency."""
        values = [self.frequencies]
        for one in self.spectra.values():
            values += [one.acceleration, one.positive, one.negative, one.pseudo_velocity, one.displacement]
        names = [column.name for column in self.columns()]
        return [dict(zip(names, row, strict=True)) for row in np.column_stack(values).tolist()]

    def panels(self) -> list[Panel]:
        """Return largest accelerations and pseudo-velocities, on logarithmic scales."""
        found, over = [], {"x": "frequency (Hz)", "log_x": True, "log": True}
        shown_as = ("maximax acceleration", _UNIT, "acceleration"), ("pseudo-velocity", "m/s", "pseudo_velocity")
        for title, unit, of in shown_as:
            colours = cycle(COLOURS)
            curves = []
            for name, one in self.spectra.items():
                values = getattr(one, of)
                if values.any():
                    curves.append(Curve(one.frequencies, np.where(values > 0.0, values, np.nan), name, next(colours)))
            if curves:
                found.append(Panel(title, unit, curves=curves, **over))
        return found

    def report(self, folder: str | Path | None = None) -> str:
        """Return the peaks of the spectra, as text."""
        lines = [("result", str(self.result.path)), *self._numbers()]
        return table([*lines, *([] if folder is None else [("results", str(folder))])])

    def _numbers(self) -> list[tuple[str, str]]:
        first, last = self.frequencies.min(), self.frequencies.max()
        ratio = next(iter(self.spectra.values())).ratio
        lines = [("spectrum", f"of '{self.probe}', {first:g} to {last:g} Hz, ζ = {ratio:g}")]
        for name, one in self.spectra.items():
            k = int(np.argmax(one.acceleration))
            peak = si(float(one.acceleration[k]), _UNIT, 5).strip()
            lines.append((f"peak of {name}", f"{peak} at {one.frequencies[k]:.5g} Hz"))
        return lines

    def summary(self) -> dict[str, Any]:
        """Return the probe, the damping, and the peaks."""
        peaks = {
            name: {"frequency": float(one.frequencies[k]), "acceleration": float(one.acceleration[k])}
            for name, one in self.spectra.items()
            for k in [int(np.argmax(one.acceleration))]
        }
        return {"probe": self.probe, "ratio": next(iter(self.spectra.values())).ratio, "peaks": peaks}

    def _scenario_text(self) -> str:
        return self.result.scenario_text

    def _picture(self) -> tuple[Path, str]:
        return self.result.path / "shock.png", f"shock response of {self.probe}"

    def _reported(self) -> list[tuple[str, str]]:
        return self._numbers()


@checked
def find_shock(
    result: str | Path | Result,
    probe: str,
    columns: Sequence[str] | None = None,
    *,
    ratio: Annotated[float, between(0.0, 0.99)] = 0.05,
    first: Annotated[float | None, positive("Hz")] = None,
    last: Annotated[float | None, positive("Hz")] = None,
    points: Annotated[int, whole(2, _MOST)] = 120,
) -> ShockFound:
    """Return the shock response spectra of the accelerations in the history of a probe.

    Parameters
    ----------
    result : path-like or Result
        A results folder.
    probe : str
    columns : sequence of str, optional
        Of the file of the probe, accelerations; default: all that it has.
    ratio : float, default 0.05
        ζ of the oscillators.
    first, last : float, optional
        In Hz; by default from one period in the time of the run to a tenth of the rate of samples.
    points : int, default 120
        Natural frequencies, evenly on a logarithmic scale.

    Raises
    ------
    OutputError
        If there is no such probe or column, it is no acceleration, or there are fewer than three rows.
    InvalidSystem
        As `symplex.modes.shock_spectrum`.
    """
    run = result if isinstance(result, Result) else read_result(result)
    probes = run.probes
    if probe not in probes:
        raise OutputError(f"{run.path}: there is no probe {shown(probe)}; there are: {listed(probes) or 'none'}.")
    history = probes[probe]
    known = [name for name, column in history.columns.items() if column.unit == _UNIT]
    if not known:
        raise OutputError(
            f"{run.path}: probe {shown(probe)} has no accelerations, of which shock spectra are; give it "
            'quantities = ["acceleration"].'
        )
    chosen = known if columns is None else list(columns)
    if odd := [name for name in chosen if name not in known]:
        raise OutputError(
            f"{run.path}: {shown(odd[0])} is no acceleration of probe {shown(probe)}; they are: {listed(known)}."
        )
    if not chosen:
        raise OutputError(f"columns is [], must name an acceleration of probe {shown(probe)}: {listed(known)}.")
    t = history["t"]
    if len(t) < 3:
        raise OutputError(f"{run.path}: probe {shown(probe)} has {len(t)} rows; a spectrum needs three at least.")
    low = 1.0 / float(t[-1] - t[0]) if first is None else first
    high = 0.1 * (len(t) - 1) / float(t[-1] - t[0]) if last is None else last
    if not 0.0 < low < high:
        raise OutputError(f"frequencies must ascend from above 0 Hz, got {low:g} to {high:g} Hz.")
    f = np.geomspace(low, high, points)
    return ShockFound(run, probe, {name: shock_spectrum(t, history[name], f, ratio) for name in chosen})
