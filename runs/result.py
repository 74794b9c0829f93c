"""What a run has left in its folder, for further work: its histories and frames as arrays, whatever their format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from symplex.base.arguments import checked
from symplex.base.files import damage_reported, read_whole
from symplex.base.representation import Tabled, names
from symplex.errors import OutputError
from symplex.meshes.pictures.packages import require_packages
from symplex.meshes.series.frames import Block, Series
from symplex.meshes.series.series import read_series
from symplex.runs.history import History, read_history
from symplex.runs.probe_files import read_probes
from symplex.runs.progress import si
from symplex.runs.results import RunFolder
from symplex.scenario.scenario import Scenario

if TYPE_CHECKING:
    import pyvista

    from symplex.meshes.pictures.picture import Picture

Array = NDArray[np.float64]

_KILLED = "killed before its end"


@checked
def read_result(path: str | Path) -> Result:
    """Return what a run has left in its results folder, finished or not; nothing in it is changed.

    Files are read when they are first asked for, so that one that is damaged keeps no other from being read.

    Parameters
    ----------
    path : path-like
        The results folder.

    Raises
    ------
    OutputError
        If there is no run in it.

    Examples
    --------
    >>> result = sx.read_result("drop-results")
    >>> result.history["total"][-1]
    >>> result.frame(1e-3)["von_mises"].max()
    """
    return Result(RunFolder.of_run(path))


@checked
class Result(Tabled):
    """A run that has been made, in its results folder; see `read_result`.

    What cannot be read is refused with an `OutputError` when it is asked for.

    Parameters
    ----------
    folder : RunFolder

    Attributes
    ----------
    folder : RunFolder
        The names of its files.
    """

    def __init__(self, folder: RunFolder):
        self.folder = folder

    @property
    def path(self) -> Path:
        """The results folder."""
        return self.folder.path

    @cached_property
    def scenario_text(self) -> str:
        """The text of the scenario as it was run."""
        with damage_reported(self.folder.scenario, "scenario", "put the file there that was run"):
            return read_whole(self.folder.scenario).decode("utf-8")

    @cached_property
    def scenario(self) -> Scenario:
        """The scenario as it was run; the paths of files in it are relative to where it was."""
        return Scenario.parse(self.scenario_text, self.folder.scenario)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The content of ``summary.json``, empty if the run was killed before it was written."""
        return self.folder.read_summary()

    @property
    def status(self) -> str:
        """``finished``, ``failed``, ``interrupted``, or ``killed before its end``."""
        return str(self.summary.get("status", _KILLED))

    @cached_property
    def history(self) -> History:
        """Energies, momenta and the like over time, the columns [rows] by name, with what they are in ``columns``."""
        return read_history(self.folder.history)

    @cached_property
    def probes(self) -> Mapping[str, History]:
        """The histories of probes by name, of which there may be none."""
        return MappingProxyType(read_probes(self.path))

    @cached_property
    def series(self) -> Series:
        """The frames as they are in the file."""
        return read_series(self.folder.series)

    @property
    def times(self) -> Array:
        """Times [frames] of the frames in s."""
        return self.series.times

    @checked
    def frame(self, t: float | None = None, *, index: int | None = None) -> ResultFrame:
        """Return the stored frame that is nearest to a time, or of a number; without both, the last one.

        Parameters
        ----------
        t : float, optional
            In s.
        index : int, optional
            From 0 on, or from the end if negative.

        Raises
        ------
        OutputError
            If the time is outside the run, there is no such frame, or it cannot be read.
        """
        series = self.series
        if not len(series):
            raise OutputError(f"{series.path} has no frames.")
        if t is not None and index is not None:
            raise OutputError("a frame is asked for by its time or by its number, not by both.")
        i = series.index_at(t) if t is not None else -1 if index is None else index
        return ResultFrame.of(series, i)

    def frames(self) -> Iterator[ResultFrame]:
        """Yield all frames, each read when it is its turn."""
        for i in range(len(self.times)):
            yield ResultFrame.of(self.series, i)

    # -- pictures for notebooks -------------------------------------------------------------------------------

    def plot(self, title: str | None = None) -> Picture:
        """Return a picture of the histories, which notebooks show.

        Raises
        ------
        OutputError
            If the history cannot be read, or has no rows.
        """
        from symplex.runs.notebooks import plot_of

        with suppress(OutputError):
            title = title or self.summary.get("title")
        return plot_of(self.history, title)

    def snapshots(self, times: Sequence[float] | None = None, **options: Any) -> Picture:
        """Return a picture of some frames, by default six; for more options see `symplex.render_snapshots`.

        Raises
        ------
        OutputError, RenderError
            As `symplex.render_snapshots`.
        """
        from symplex.runs.notebooks import pictures_of

        return pictures_of(self.series, times, **options)

    def film(self, **options: Any) -> Picture:
        """Return a film, rebuilt; for the options see `symplex.render_film`.

        Raises
        ------
        OutputError, RenderError
            As `symplex.render_film`.
        """
        from symplex.meshes.pictures.picture import film_of

        return film_of(self.series, **options)

    # -- for people -------------------------------------------------------------------------------------------

    def _reported(self) -> list[tuple[str, str]]:
        rows = [("folder", str(self.path))]
        with suppress(OutputError):
            title = self.summary.get("title")
            rows += [("title", str(title))] if title else []
            rows.append(("status", self.status))
        with suppress(OutputError):
            rows.append(("history", f"{len(self.history['t']):,} rows of {len(self.history)} columns"))
        with suppress(OutputError):
            times = self.times
            until = f" until {si(float(times[-1]), 's')}" if len(times) else ""
            rows.append(("frames", f"{len(times):,}{until}"))
            rows.append(("fields", names(["displacement", *self.series.point_fields, *self.series.cell_fields])))
        with suppress(OutputError):
            rows += [("probes", names(self.probes))] if self.probes else []
        return rows


@checked
@dataclass(frozen=True, repr=False)
class ResultFrame:
    """One stored moment of a run.

    Attributes
    ----------
    t : float
        Time in s.
    index : int
        Its number, from 0 on.
    points : float64 [n, 3]
        Positions of all points in m, deformed.
    displacement : float64 [n, 3]
        In m.
    point_fields : mapping of str to float64 [n] or [n, c]
    cell_fields : mapping of str to (mapping of str to float64 [m] or [m, c])
        By name and block, for the cells of the block in the order of its types.
    blocks : mapping of str to Block
        Bodies and obstacles.
    """

    t: float
    index: int
    points: Array
    displacement: Array
    point_fields: Mapping[str, Array]
    cell_fields: Mapping[str, Mapping[str, Array]]
    blocks: Mapping[str, Block] = field(repr=False)

    @classmethod
    def of(cls, series: Series, i: int) -> ResultFrame:
        """Return frame i of a series."""
        frame = series.frame(i)
        displacement = frame.displacement.astype(float)
        return cls(
            t=float(frame.t),
            index=i % len(series),
            points=series.points + displacement,
            displacement=displacement,
            point_fields={name: values.astype(float) for name, values in frame.point_data.items()},
            cell_fields={
                name: {block: values.astype(float) for block, values in by_block.items()}
                for name, by_block in frame.cell_data.items()
            },
            blocks=dict(series.blocks),
        )

    @property
    def bodies(self) -> dict[str, Block]:
        """The blocks that are no obstacles, by name."""
        return {name: block for name, block in self.blocks.items() if not block.is_obstacle}

    @property
    def fields(self) -> list[str]:
        """The names of all fields."""
        return ["displacement", *self.point_fields, *self.cell_fields]

    def __getitem__(self, name: str) -> Array:
        """Return a field by name: of all points, or of the cells of all bodies, one body after the other.

        Where bodies have no values, they are NaN.
        """
        if name == "displacement":
            return self.displacement
        if name in self.point_fields:
            return self.point_fields[name]
        if name not in self.cell_fields:
            raise OutputError(
                f"there is no field {name!r} in the frame at t = {self.t:.6g} s; it has {names(self.fields)}."
            )
        by_block = self.cell_fields[name]
        rest = next(iter(by_block.values())).shape[1:]
        parts = [by_block.get(one, np.full((block.n_cells, *rest), np.nan)) for one, block in self.bodies.items()]
        return np.concatenate(parts)

    def mesh(self) -> pyvista.UnstructuredGrid:
        """Return the deformed bodies as a grid of pyvista with all fields; ``block`` numbers the bodies.

        Raises
        ------
        RenderError
            If pyvista is not installed.
        """
        require_packages("a grid needs", ["pyvista"])
        import pyvista

        connectivity, kinds, sizes, numbers = [], [], [], []
        for k, block in enumerate(self.bodies.values()):
            kinds.append(block.vtk_types)
            sizes.append(np.diff(block.offsets))
            connectivity += [np.asarray(rows, np.int64).ravel() for rows in block.cells.values()]
            numbers.append(np.full(block.n_cells, k, np.int32))
        size = np.concatenate([np.empty(0, np.int64), *sizes])
        flat = np.concatenate([np.empty(0, np.int64), *connectivity])
        cells = np.insert(flat, np.concatenate([[0], np.cumsum(size)[:-1]]).astype(np.int64)[: len(size)], size)
        grid = pyvista.UnstructuredGrid(cells, np.concatenate([np.empty(0, np.uint8), *kinds]), self.points)
        grid.point_data["displacement"] = self.displacement
        for name, values in self.point_fields.items():
            grid.point_data[name] = values
        for name in self.cell_fields:
            grid.cell_data[name] = self[name]
        grid.cell_data["block"] = np.concatenate([np.empty(0, np.int32), *numbers])
        return grid

    def __repr__(self) -> str:
        return (
            f"ResultFrame(t={self.t:.6g} s, index {self.index}; {len(self.points):,} points; fields: "
            f"{names(self.fields)})"
        )
