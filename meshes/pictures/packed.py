"""A series packed small for a page that draws it in a browser: cells once, frames as whole numbers of 16 bits."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symplex.errors import RenderError
from symplex.meshes.pictures.browser_mesh import BrowserMesh, browser_mesh
from symplex.meshes.pictures.scene import colours, named_limits, words_of
from symplex.meshes.series.frames import Series

# Below so many frames a motion is no longer seen; the inside of bodies is left out first.
_FEWEST = 24
_LEVEL = 6  # of compression
_STEPS = 65535  # between the least and the largest number of 16 bits

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Packed:
    """What a page needs to draw a series.

    Attributes
    ----------
    header : dict
        What is where in the data, and what it is; plain JSON.
    frames : list of int
        The frames of the series that are in it.
    resolution : float
        By how much displacements differ at least, in m.
    is_hollow : bool
        Whether the inside of bodies was left out.
    """

    header: dict[str, Any]
    frames: list[int]
    resolution: float
    is_hollow: bool


@dataclass
class Arrays:
    """Arrays that are compressed and put behind each other.

    Attributes
    ----------
    parts : list of bytes
    size : int
        Bytes of all, and of what is before them.
    """

    parts: list[bytes] = field(default_factory=list)
    size: int = 0

    def add(self, values: NDArray, over_time: bool = False) -> dict[str, Any]:
        """Append an array and return what a reader has to know of it.

        Numbers over time are stored as differences from the frame before, and all low bytes before all high ones:
        both make them a good deal smaller.
        """
        shuffled = values
        if over_time:
            shuffled = np.concatenate([values[:1], np.diff(values, axis=0)])  # uint16: modulo 2^16
        raw = np.ascontiguousarray(shuffled).view(np.uint8).reshape(-1, values.dtype.itemsize).T.tobytes()
        part = zlib.compress(raw, _LEVEL)
        described = {"at": self.size, "bytes": len(part), "type": values.dtype.name, "shape": list(values.shape)}
        self.parts.append(part)
        self.size += len(part)
        return described | ({"over_time": True} if over_time else {})


def pack_series(series: Series, fields: Sequence[str] | None, arrays: Arrays, max_bytes: int) -> Packed:
    """Append a series to arrays that in base64 may have so many bytes in all.

    If there is more, first frames are left out, evenly, then the inside of bodies, then more frames.

    Parameters
    ----------
    series : Series
    arrays : Arrays
    fields : sequence of str, optional
        Those of the series that can be shown; the displacement always can. Default: all.
    max_bytes : int
    """
    if not len(series):
        raise RenderError(f"{series.path.name} has no frames to show.")
    names = _chosen_fields(series, fields)
    room = max_bytes * 3 // 4  # base64 has four letters for three bytes
    whole = browser_mesh(series, with_inside=True)
    hollow = (browser_mesh(series, with_inside=False) for _ in range(whole.has_inside))
    for mesh in chain([whole], hollow):
        is_hollow = whole.has_inside and not mesh.has_inside
        fewest = 2 if is_hollow or not whole.has_inside else _FEWEST
        found = _packed(series, mesh, names, Arrays([], arrays.size), room, min(fewest, len(series)))
        if found is not None:
            packed, header, chosen = found
            arrays.parts += packed.parts
            arrays.size = packed.size
            return Packed(header, chosen, header["displacement"]["step"], is_hollow)
    raise RenderError(
        f"two frames of {series.path.name} take more than {max_bytes / 1e6:.3g} MB; give a larger --max-size, or fewer "
        "--fields."
    )


def _packed(
    series: Series, mesh: BrowserMesh, names: Sequence[str], arrays: Arrays, room: int, fewest: int
) -> tuple[Arrays, dict[str, Any], list[int]] | None:
    """Return a series within so many bytes and its frames, None if there would be fewer of these than so many."""
    n = len(series)
    header = mesh.add_to(arrays)
    if arrays.size >= room:
        return None
    sampled = sorted({min(i, n - 1) for i in (0, 1, n // 2, n // 2 + 1)})
    moments = {i: mesh.frame(series.frame(i), names) for i in sampled}
    trial = Arrays()
    _add_frames(trial, mesh, names, [moments[i] for i in sampled])
    requested = min(n, int((room - arrays.size) * len(sampled) / max(trial.size, 1)) + 1)
    while requested >= fewest:
        chosen = np.unique(np.linspace(0, n - 1, requested).round().astype(int)).tolist()
        moments |= {i: mesh.frame(series.frame(i), names) for i in chosen if i not in moments}
        moving = Arrays([], arrays.size)
        header |= _add_frames(moving, mesh, names, [moments[i] for i in chosen])
        if moving.size <= room:
            arrays.parts += moving.parts
            arrays.size = moving.size
            header |= {"times": series.times[chosen].tolist(), "scale_colours": _scale_colours()}
            return arrays, header, chosen
        # Frames that are farther apart differ more than those by which it was estimated.
        requested = min(requested - 1, int(requested * (room - arrays.size) / (moving.size - arrays.size)))
    return None


def _chosen_fields(series: Series, fields: Sequence[str] | None) -> list[str]:
    there = [*series.cell_fields, *series.point_fields]
    if fields is None:
        return there
    names = ["velocity" if name == "speed" else name for name in fields if name not in ("displacement", "body")]
    if unknown := [name for name in names if name not in there]:
        known = ", ".join(["displacement", *there, "body"])
        raise RenderError(f"{series.path.name} has no field '{unknown[0]}'; it has: {known}.")
    return names


def _add_frames(
    arrays: Arrays, mesh: BrowserMesh, names: Sequence[str], moments: Sequence[Mapping[str, Floats]]
) -> dict[str, Any]:
    """Append what differs between frames, and return what it is."""
    moved = np.stack([moment["displacement"] for moment in moments])
    means = np.stack([mesh.means(one) for one in moved])
    # Bodies may fly far: what is rounded is the motion about the mean of a body.
    numbers, low, step = _quantised(moved - means[:, mesh.node_block])
    described: dict[str, Any] = {
        "means": arrays.add(means.astype(np.float32)),
        "displacement": arrays.add(numbers, over_time=True) | {"low": low, "step": step},
    }
    fields = [_described("displacement", "point", moved)]
    for name in names:
        kind, values = ("cell" if name in mesh.cell_fields else "point"), np.stack([one[name] for one in moments])
        numbers, low, step = _quantised(np.nan_to_num(values))
        missing = np.isnan(values[0]).reshape(len(values[0]), -1).any(axis=1)
        one = _described(name, kind, values) | {"values": arrays.add(numbers, over_time=True), "low": low, "step": step}
        if missing.any():
            one["missing"] = arrays.add(missing.astype(np.uint8))
        fields.append(one)
    return described | {"fields": fields}


def _quantised(values: NDArray) -> tuple[NDArray[np.uint16], float, float]:
    """Return values as whole numbers, the value of 0 and that of a step."""
    low, high = float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
    if not low < high:
        return np.zeros(values.shape, np.uint16), low if np.isfinite(low) else 0.0, 0.0
    step = (high - low) / _STEPS
    return np.rint((values.astype(float) - low) / step).astype(np.uint16), low, step


def _described(name: str, kind: str, values: NDArray) -> dict[str, Any]:
    """Return how a field is called, and the ends of its scale: of its length or itself, then of its components."""
    words, unit = words_of(name)
    of_vector = values.ndim == 3
    shown = [np.linalg.norm(values, axis=2), *np.moveaxis(values, 2, 0)] if of_vector else [values]
    limits = [named_limits(frames) for frames in shown]
    return {"name": name, "kind": kind, "words": words, "unit": unit, "limits": limits}


def _scale_colours() -> list[list[int]]:
    """Return the red, green and blue of the colours of the scale, up to 255."""
    return (np.array(colours()(np.arange(256)))[:, :3] * 255).round().astype(int).tolist()
