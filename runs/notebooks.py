"""Pictures of results and trajectories for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symplex.base.columns import AXES, Column
from symplex.errors import OutputError, RenderError
from symplex.fem.pictures import blocks_of
from symplex.meshes.pictures.picture import Picture, Still, film_of, snapshots_of
from symplex.meshes.series.frames import Frame, Series
from symplex.runs.conservation_report import trajectory_history
from symplex.runs.history import History
from symplex.runs.plots import plot_history
from symplex.time.trajectory import Trajectory


def plot_of(history: History, title: str | None = None) -> Picture:
    """Return a picture of all that a history declares to be plotted."""
    return Picture.drawn(lambda path: plot_history(history, path, title=title))


def plot_of_trajectory(trajectory: Trajectory, title: str | None = None) -> Picture:
    """Return a picture of a trajectory's energies and momenta; see `Trajectory.plot`."""
    if not len(trajectory.t):
        raise OutputError("the trajectory has no states; there is nothing to plot.")
    history = trajectory_history(trajectory)
    reported = {name: rows for name, rows in history.items() if history.columns[name].kind != "count"}
    coordinates = _coordinates(trajectory)
    columns = history.columns | {column.name: column for column, _ in coordinates}
    return plot_of(History(reported | {column.name: rows for column, rows in coordinates}, columns), title)


def _coordinates(trajectory: Trajectory) -> list[tuple[Column, NDArray[np.float64]]]:
    """Return what is in a phase plane: positions and velocities of a system of one or two coordinates."""
    if trajectory.motion is None:
        return []
    free = np.argwhere(~trajectory.motion.system.fixed)
    found = []
    for node, k in free if len(free) <= 2 else []:
        q, v = Column(f"position_{node}_{AXES[k]}", "m", "length"), Column(f"velocity_{node}_{AXES[k]}", "m/s")
        for column, what, values in ((q, "position", trajectory.q), (v, "velocity", trajectory.v)):
            reported = replace(column, plot=f"{what} of node {node}", vector=f"{what}_{node}")
            found.append((reported, values[:, node, k]))
    return found


def film_of_trajectory(trajectory: Trajectory, **options: Any) -> Picture:
    """Return a film of a trajectory; see `Trajectory.film`."""
    if trajectory.motion is None or not len(trajectory.t):
        raise RenderError("a film needs a trajectory that a Recorder has made, with one state at least.")
    return film_of(_Recorded(trajectory), **({"field": "speed"} | options))


def pictures_of(series: Series, times: Sequence[float] | None, **options: Any) -> Picture:
    """Return snapshots of a series, coloured by the stress if it has one."""
    stresses = (name for name in ("von_mises", "axial_force") if name in series.cell_fields)
    return snapshots_of(series, times, **({"field": next(stresses, "displacement")} | options))


class _Recorded(Series):
    """The states of a trajectory as frames."""

    def __init__(self, trajectory: Trajectory):
        motion = trajectory.motion
        assert motion is not None, "there is a system to draw"
        still = Still(trajectory.q[0], blocks_of(motion.system), {})
        self._trajectory, self._kept = trajectory, still.kept
        self._set(Path("trajectory"), trajectory.t.astype(float), still.points, still.blocks, ("velocity",), ())

    def _read(self, i: int) -> Frame:
        t = self._trajectory
        moved, v = (np.zeros((len(self.points), 3), np.float32) for _ in range(2))
        dim = t.q.shape[2]
        moved[:, :dim] = (t.q[i] - t.q[0])[self._kept]
        v[:, :dim] = t.v[i][self._kept]
        return Frame(float(t.t[i]), moved, {"velocity": v}, {})
