"""Checkpoints: all that a run needs to go on bit-identically, in one file that is always whole.

Of a run on several ranks nodes may be in parts, a file for each rank: ``motion/part00000-a.npz`` and so on next to
``checkpoint.npz``. There are two sets of them, *a* and *b*, written in turn, and the file shows which counts: a kill on
the way to one leaves the other.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from symplex.base.files import damage_reported, read_arrays, reason_of, replacing
from symplex.errors import OutputError

_MOTION = "motion."
_CHECKSUM = "checksum"
_PARTS, _STAMP, _NODES = "parts", "stamp", "nodes"
_AGAIN = "start again with --overwrite or another --output"


class Parts(NamedTuple):
    """The nodes of a checkpoint in parts.

    Attributes
    ----------
    number : int
        Of files.
    which : {"a", "b"}
    stamp : str
        The same in all files of a checkpoint, and in no others.
    """

    number: int
    which: str
    stamp: str

    @classmethod
    def after(cls, before: Parts | None, number: int) -> Parts:
        """Return those of the next checkpoint: other files than those of the one before."""
        return cls(number, "b" if before is not None and before.which == "a" else "a", uuid4().hex)


class Checkpoint(NamedTuple):
    """A moment of a run: at a sample of its history, or on the way from it to the next one.

    Attributes
    ----------
    sample : int
        Index of the last row of the history.
    wall_time : float
        Seconds spent up to here.
    version : str
        Of symplex, by which it was computed.
    inputs : mapping of str to str
        Hashes of what it was computed from, by name (`symplex.runs.inputs`).
    motion : mapping of str to array
        The checkpoint of the motion.
    columns : sequence of str
        Names of the columns of the history.
    parts : Parts, optional
        Where the nodes are, if not in ``motion``.
    """

    sample: int
    wall_time: float
    version: str
    inputs: Mapping[str, str]
    motion: Mapping[str, np.ndarray]
    columns: Sequence[str] = ()
    parts: Parts | None = None


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint, replacing an earlier one atomically.

    Raises
    ------
    OutputError
        If it cannot be written; the earlier one is then untouched.
    """
    arrays: dict[str, Any] = {_MOTION + name: array for name, array in checkpoint.motion.items()}
    arrays |= {"sample": checkpoint.sample, "wall_time": checkpoint.wall_time, "version": checkpoint.version}
    arrays |= {"inputs": json.dumps(dict(checkpoint.inputs)), "columns": json.dumps(list(checkpoint.columns))}
    if checkpoint.parts is not None:
        arrays[_PARTS] = json.dumps(checkpoint.parts)
    _save(path, arrays)


def save_part(path: Path, k: int, parts: Parts, nodes: NDArray[np.integer], arrays: Mapping[str, np.ndarray]) -> None:
    """Write part k of the nodes of a checkpoint that is to be written when all parts are there.

    Parameters
    ----------
    path : Path
        Of the checkpoint.
    k : int
    parts : Parts
    nodes : int [s]
        The numbers of its nodes.
    arrays : mapping of str to float64 [..., s, dim]

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    place = path_of_part(path, k, parts.which)
    _save(place, {_STAMP: parts.stamp, _NODES: nodes} | {_MOTION + name: array for name, array in arrays.items()})


def path_of_part(path: Path, k: int, which: str) -> Path:
    """Return the file of part k of a checkpoint."""
    return path.parent / "motion" / f"part{k:05d}-{which}.npz"


def files_of_parts(path: Path) -> list[Path]:
    """Return what has the name of a file of a part of a checkpoint; none if their folder is a link."""
    folder = path.parent / "motion"
    if folder.is_symlink() or not folder.is_dir():
        return []
    return sorted(folder.glob("part[0-9][0-9][0-9][0-9][0-9]-[ab].npz*"))


def _save(path: Path, arrays: dict[str, Any]) -> None:
    arrays[_CHECKSUM] = _checksum(arrays)
    try:
        with replacing(path) as file:
            np.savez(file, **arrays)
    except OSError as error:
        raise OutputError(f"{path}: the checkpoint cannot be written: {reason_of(error)}.") from error


def _load(path: Path) -> dict[str, np.ndarray]:
    arrays = read_arrays(path)
    if str(arrays.pop(_CHECKSUM)) != _checksum(arrays):
        raise ValueError("it is not as it was written")
    return arrays


def _whole_of(path: Path, parts: Parts) -> dict[str, np.ndarray]:
    """Return the arrays of all nodes of a checkpoint in parts."""
    found: list[tuple[np.ndarray, dict[str, np.ndarray]]] = []
    for k in range(parts.number):
        place = path_of_part(path, k, parts.which)
        with damage_reported(place, "part of a checkpoint", _AGAIN):
            arrays = _load(place)
            if str(arrays[_STAMP]) != parts.stamp:
                raise ValueError(f"it is of another checkpoint than {path.name}")
            motion = {name.removeprefix(_MOTION): array for name, array in arrays.items() if name.startswith(_MOTION)}
            found.append((arrays[_NODES], motion))
    n = sum(len(nodes) for nodes, _ in found)
    whole = {}
    for name, first in found[0][1].items():
        whole[name] = np.empty((*first.shape[:-2], n, first.shape[-1]))
        for nodes, motion in found:
            whole[name][..., nodes, :] = motion[name]
    return whole


def load_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint.

    Raises
    ------
    OutputError
        If it cannot be read, is not as it was written (a motion takes what it finds in it without asking), or is of a
        version of symplex that did not tell what it was computed from.
    """
    with damage_reported(path, "checkpoint", _AGAIN):
        arrays = read_arrays(path)
        if "version" not in arrays and "fingerprint" in arrays:
            raise OutputError(
                f"{path}: the checkpoint is of an earlier version of symplex, which did not keep what a run is "
                "computed from. Resume it with that version, or start again with --overwrite or another --output."
            )
        if str(arrays.pop(_CHECKSUM)) != _checksum(arrays):
            raise ValueError("it is not as it was written")
        parts = Parts(*json.loads(str(arrays[_PARTS]))) if _PARTS in arrays else None
        motion = {name.removeprefix(_MOTION): array for name, array in arrays.items() if name.startswith(_MOTION)}
        return Checkpoint(
            int(arrays["sample"]),
            float(arrays["wall_time"]),
            str(arrays["version"]),
            json.loads(str(arrays["inputs"])),
            motion if parts is None else motion | _whole_of(path, parts),
            json.loads(str(arrays["columns"])),
            parts,
        )


def _checksum(arrays: Mapping[str, Any]) -> str:
    """Return a hash of all arrays and their names."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
