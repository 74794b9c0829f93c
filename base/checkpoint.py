"""Checkpoints: all that a run needs to go on bit-identically, in one file that is always whole."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from symplex.base.files import damage_reported, read_arrays, reason_of, replacing
from symplex.errors import OutputError

_MOTION = "motion."
_CHECKSUM = "checksum"


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
    """

    sample: int
    wall_time: float
    version: str
    inputs: Mapping[str, str]
    motion: Mapping[str, np.ndarray]
    columns: Sequence[str] = ()


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
    arrays[_CHECKSUM] = _checksum(arrays)
    try:
        with replacing(path) as file:
            np.savez(file, **arrays)
    except OSError as error:
        raise OutputError(f"{path}: the checkpoint cannot be written: {reason_of(error)}.") from error


def load_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint.

    Raises
    ------
    OutputError
        If it cannot be read, is not as it was written (a motion takes what it finds in it without asking), or is of a
        version of symplex that did not tell what it was computed from.
    """
    with damage_reported(path, "checkpoint", "start anew with --overwrite or another --output"):
        arrays = read_arrays(path)
        if "version" not in arrays and "fingerprint" in arrays:
            raise OutputError(
                f"{path}: the checkpoint is of an earlier version of symplex, which did not keep what a run is "
                "computed from. Resume it with that version, or start anew with --overwrite or another --output."
            )
        if str(arrays.pop(_CHECKSUM)) != _checksum(arrays):
            raise ValueError("it is not as it was written")
        return Checkpoint(
            int(arrays["sample"]),
            float(arrays["wall_time"]),
            str(arrays["version"]),
            json.loads(str(arrays["inputs"])),
            {name.removeprefix(_MOTION): array for name, array in arrays.items() if name.startswith(_MOTION)},
            json.loads(str(arrays["columns"])),
        )


def _checksum(arrays: Mapping[str, Any]) -> str:
    """Return a hash of all arrays and their names."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
