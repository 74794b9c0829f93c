"""How fields of two runs differ: at the nodes and cells of the frames of the first one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symplex.base.quantities import listed
from symplex.errors import OutputError
from symplex.fem.energies.energy import Array
from symplex.meshes.pictures.packages import require_packages
from symplex.meshes.pictures.scene import words_of
from symplex.meshes.series.series import open_series
from symplex.runs.result import Result, ResultFrame
from symplex.studies.histories import SAME_TIME, Difference, common_times, rows_left_out
from symplex.studies.scales import Scales

_SAME_PLACE = 1e-6  # of the size of a mesh, by which nodes may differ that are meant to be one


@dataclass
class _Worst:
    """The largest differences of a field so far."""

    where: str
    rms: float = 0.0
    largest: float = 0.0
    t: float = 0.0
    size: float = 0.0


class FieldsCompared:
    """The frames of the first run next to those of the second one.

    Where the second run has no frame at a time, it is interpolated linearly between two; where its mesh is another one,
    its fields at nodes are interpolated to the nodes of the first at rest, and those of cells are left out.

    Attributes
    ----------
    times : float64 [frames]
        In s, of the first run.
    has_times : bool
        Whether the second run has frames at all of them.
    same_mesh : bool
    outside : int
        How many nodes of the first mesh are outside of the second one.
    over_time : dict of str to float64 [frames]
        The root mean squares of the differences of each field, filled by `differences`.
    """

    def __init__(self, first: Result, second: Result, scales: Scales):
        self._first, self._second, self._scales = first, second, scales
        self.times, self.has_times = common_times(first.times, second.times)
        self.same_mesh = _same_mesh(first, second)
        self.outside = 0
        self._sampled: Callable[[Array], Array] = lambda values: values
        if not self.same_mesh:
            self._sampled, there = _interpolation(first, second)
            self.outside = int((~there).sum())
            self._there = there
        else:
            self._there = np.ones(len(first.series.points), bool)
        self.over_time: dict[str, Array] = {}
        self._left_out: dict[str, None] = {}  # as a set in order
        self._frame = lru_cache(2)(lambda i: second.frame(index=i))

    def differences(self, path: Path | None = None) -> list[Difference]:
        """Return the differences of all fields that both have; with a path, write them as series of the first mesh."""
        worst: dict[str, _Worst] = {}
        over_time: dict[str, list[float]] = {}
        series = self._first.series
        writer = None if path is None else open_series(path, series.points, series.blocks)
        try:
            for t in self.times:
                frame = self._first.frame(float(t))
                at_points, at_cells = self._of_frame(frame, worst, over_time)
                if writer is not None:
                    writer.append(frame.t, frame.displacement, at_points, at_cells)
        finally:
            if writer is not None:
                writer.close()
        self.over_time = {name: np.array(values) for name, values in over_time.items()}
        return [self._difference(name, one) for name, one in worst.items()]

    @property
    def left_out(self) -> list[str]:
        """What the first run has that is not compared."""
        lost, n = rows_left_out(self._first.times, self._second.times), len(self._there)
        found = [f"frames: {lost}"] if lost else []
        return found + ([f"nodes: {self.outside} of {n}"] if self.outside else []) + list(self._left_out)

    def _difference(self, name: str, one: _Worst) -> Difference:
        unit = words_of(name)[1]
        scale = self._scales.of(name, unit, one.size) or 1.0
        return Difference(name, one.where, unit, one.rms, one.largest, one.t, one.largest / scale)

    def _of_frame(
        self, frame: ResultFrame, worst: dict[str, _Worst], over_time: dict[str, list[float]]
    ) -> tuple[dict[str, Array], dict[str, dict[str, Array]]]:
        others = self._at(frame.t)
        at_points: dict[str, Array] = {}
        at_cells: dict[str, dict[str, Array]] = {}
        for name, values in {"displacement": frame.displacement, **frame.point_fields}.items():
            other = _blended(others, lambda one, name=name: _point_field(one, name))
            if other is None or other.shape[1:] != values.shape[1:]:
                self._left_out[f"field {name}"] = None
                continue
            other = self._sampled(other)
            change = np.where(_column(self._there, other), other - values, 0.0)
            _note(worst, over_time, name, "nodes", frame.t, change[self._there], values, other[self._there])
            at_points[f"{name}_difference"] = change
        if not self.same_mesh and frame.cell_fields:
            self._left_out[f"fields of cells, as the meshes differ: {listed(frame.cell_fields)}"] = None
        for name, by_block in frame.cell_fields.items() if self.same_mesh else ():
            found = {}
            for block, values in by_block.items():
                other = _blended(others, lambda one, name=name, block=block: one.cell_fields.get(name, {}).get(block))
                if other is not None and other.shape == values.shape:
                    found[block] = other - values, values, other
                else:
                    self._left_out[f"field {name} of '{block}'"] = None
            if not found:
                continue
            change, values, other = (np.concatenate([one[k] for one in found.values()]) for k in range(3))
            _note(worst, over_time, name, "cells", frame.t, change, values, other)
            at_cells[f"{name}_difference"] = {block: one[0] for block, one in found.items()}
        return at_points, at_cells

    def _at(self, t: float) -> list[tuple[float, ResultFrame]]:
        """Return the frames of the second run that a state is made of, with their weights."""
        times = self._second.times
        i = int(np.argmin(np.abs(times - t)))
        if abs(times[i] - t) <= SAME_TIME * max(float(np.ptp(times)), abs(t)):
            return [(1.0, self._frame(i))]
        k = int(np.clip(np.searchsorted(times, t), 1, len(times) - 1))
        part = float((t - times[k - 1]) / (times[k] - times[k - 1]))
        return [(1.0 - part, self._frame(k - 1)), (part, self._frame(k))]


def _point_field(frame: ResultFrame, name: str) -> Array | None:
    return frame.displacement if name == "displacement" else frame.point_fields.get(name)


def _blended(frames: list[tuple[float, ResultFrame]], field: Callable[[ResultFrame], Array | None]) -> Array | None:
    """Return a field of weighted frames, or None if it is not there."""
    parts = [(weight, field(frame)) for weight, frame in frames]
    found = [weight * values for weight, values in parts if values is not None]
    return sum(found[1:], found[0]) if len(found) == len(parts) else None


def _lengths(values: Array) -> Array:
    return np.linalg.norm(values.reshape(len(values), -1), axis=1)


def _column(flags: NDArray[np.bool_], values: Array) -> NDArray[np.bool_]:
    return flags.reshape(-1, *[1] * (values.ndim - 1))


def _note(
    worst: dict[str, _Worst],
    over_time: dict[str, list[float]],
    name: str,
    where: str,
    t: float,
    change: Array,
    *sizes: Array,
) -> None:
    """Take a frame into account."""
    one = worst.setdefault(name, _Worst(where))
    lengths = _lengths(change)
    rms, largest = (float(np.sqrt(np.mean(lengths**2))), float(lengths.max())) if len(lengths) else (0.0, 0.0)
    over_time.setdefault(name, []).append(rms)
    one.rms = max(one.rms, rms)
    one.size = max(one.size, *(float(_lengths(values).max(initial=0.0)) for values in sizes))
    if largest > one.largest:
        one.largest, one.t = largest, t


def _same_mesh(first: Result, second: Result) -> bool:
    a, b = first.series, second.series
    if a.points.shape != b.points.shape or list(a.blocks) != list(b.blocks):
        return False
    size = float(np.ptp(a.points, axis=0).max(initial=0.0))
    if np.abs(a.points - b.points).max(initial=0.0) > _SAME_PLACE * size:
        return False
    return all(_same_cells(a.blocks[name].cells, b.blocks[name].cells) for name in a.blocks)


def _same_cells(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    return a.keys() == b.keys() and all(np.array_equal(a[kind], b[kind]) for kind in a)


def _interpolation(first: Result, second: Result) -> tuple[Callable[[Array], Array], NDArray[np.bool_]]:
    """Return what takes fields at the nodes of the second mesh to those of the first, and which of these are in it."""
    require_packages("fields of different meshes are compared by", ["pyvista"])
    import pyvista

    grid = second.frame(index=0).mesh()
    grid.points = second.series.points
    grid.clear_data()
    targets = pyvista.PolyData(np.array(first.series.points))

    def sampled(values: Array) -> Array:
        grid.point_data["values"] = values
        return np.asarray(targets.sample(grid).point_data["values"], float).reshape(-1, *values.shape[1:])

    grid.point_data["values"] = np.ones(grid.n_points)
    there = np.asarray(targets.sample(grid).point_data["vtkValidPointMask"], bool)
    if not there.any():
        raise OutputError(
            f"{first.path} and {second.path} have no place in common: no node of the one is in a body of the other."
        )
    return sampled, there
