"""The shapes of modes: written for ParaView, and drawn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from symplex.fem.energies.energy import Array
from symplex.meshes.pictures.film import render_film
from symplex.meshes.pictures.render import render_snapshots
from symplex.meshes.series.series import open_series, read_series
from symplex.runs.frames import Shown
from symplex.runs.linearised import Linearised
from symplex.runs.pictures import upright
from symplex.time.modes.quadratic import ComplexArray

_SWING = 0.08  # of the size of the bodies, how far shapes are drawn
_PHASES = 24  # of a film, over one period
_DRAWN = 12  # modes at most that the picture has


class ModeShapes:
    """The shapes of modes as motions that can be drawn.

    Parameters
    ----------
    about : Linearised
    shapes : float64 or complex128 [k, n, dim]
    labels : sequence of str
        What each is called in pictures.
    frequencies : float64 [k], optional
        In Hz, of films; default: one a second.

    Attributes
    ----------
    number : int
    """

    def __init__(
        self,
        about: Linearised,
        shapes: Array | ComplexArray,
        labels: Sequence[str],
        frequencies: Array | None = None,
    ):
        self._about, self._drawn = about, Shown(about.problem)
        self._labels, self._complex = list(labels), np.iscomplexobj(shapes)
        self._frequencies = np.ones(len(shapes)) if frequencies is None else frequencies
        self._q = about.state.q
        self._rest = self._drawn.displacement(self._q)
        self.number = len(shapes)
        # Of what is drawn: rigid bodies are nodes that nobody sees.
        self._moved = [self._at_points(shape) for shape in shapes]
        points = self._drawn.points
        self._size = _SWING * float(np.linalg.norm(np.ptp(points, axis=0)))

    def _at_points(self, shape: Array | ComplexArray) -> ComplexArray:
        """Return what a shape is at the points that are drawn, by its largest displacement."""
        parts = [
            self._drawn.displacement(self._q + part) - self._rest for part in (np.real(shape), np.imag(shape) + 0.0)
        ]
        moved = parts[0] + 1j * parts[1]
        largest = np.sqrt((np.abs(moved) ** 2).sum(axis=1)).max()
        return np.asarray(moved / (largest or 1.0), complex)

    def write(self, path: Path) -> None:
        """Write a series with a frame for each mode, at the time of its number."""
        with open_series(path, self._drawn.points, self._drawn.blocks) as series:
            for k, moved in enumerate(self._moved):
                self._append(series, k + 1.0, moved, 1.0)

    def _append(self, series, t: float, moved: ComplexArray, phase: complex) -> None:
        shape = np.real(moved * phase)
        fields = {"shape": shape, "amplitude": np.sqrt((np.abs(moved) ** 2).sum(axis=1))}
        if self._complex:
            fields["shape_quarter_later"] = np.real(moved * phase * 1j)
        series.append(t, self._rest + self._size * shape, fields)

    def draw(self, path: Path, picture: Path) -> None:
        """Draw the first modes side by side."""
        series = read_series(path)
        some = min(self.number, _DRAWN)
        render_snapshots(
            series,
            picture,
            times=[float(k + 1) for k in range(some)],
            field="amplitude",
            view=upright(None, self._about.problem.scenario),
            labels=self._labels,
        )

    def film(self, k: int, path: Path) -> Path:
        """Draw one period of a mode, and return the file."""
        frequency = abs(float(self._frequencies[k])) or 1.0
        with TemporaryDirectory() as folder:
            file = Path(folder) / "mode.vtkhdf"
            with open_series(file, self._drawn.points, self._drawn.blocks) as series:
                for i in range(_PHASES):
                    self._append(
                        series, i / _PHASES / frequency, self._moved[k], np.exp(2j * np.pi * (i / _PHASES + 0.25))
                    )
            return render_film(
                read_series(file),
                path,
                field="amplitude",
                view=upright(None, self._about.problem.scenario),
                fps=_PHASES,
            )
