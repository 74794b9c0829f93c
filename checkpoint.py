"""Checkpoints: all that a run needs to go on bit-identically, in one file that is always whole."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from symplex.errors import OutputError
from symplex.files import replacing

_MOTION = "motion."


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
        Hashes of what it was computed from, by name (`symplex.inputs`).
    motion : mapping of str to array
        The checkpoint of the motion.
    """

    sample: int
    wall_time: float
    version: str
    inputs: Mapping[str, str]
    motion: Mapping[str, np.ndarray]


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint, replacing an earlier one atomically.

    Raises
    ------
    OutputError
        If it cannot be written; the earlier one is then untouched.
    """
    arrays: dict[str, Any] = {_MOTION + name: array for name, array in checkpoint.motion.items()}
    arrays |= {"sample": checkpoint.sample, "wall_time": checkpoint.wall_time, "version": checkpoint.version}
    arrays |= {"inputs": json.dumps(dict(checkpoint.inputs))}
    try:
        with replacing(path) as file:
            np.savez(file, **arrays)
    except OSError as error:
        raise OutputError(f"{path}: the checkpoint cannot be written: {error.strerror or error}.") from error


def load_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint.

    Raises
    ------
    OutputError
        If it cannot be read, or is of a version of symplex that did not tell what it was computed from.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            if "version" not in file.files and "fingerprint" in file.files:
                raise OutputError(
                    f"{path}: the checkpoint is of an earlier version of symplex, which did not keep what a run is "
                    "computed from. Resume it with that version, or start anew with --overwrite or another --output."
                )
            return Checkpoint(
                int(file["sample"]),
                float(file["wall_time"]),
                str(file["version"]),
                json.loads(str(file["inputs"])),
                {name.removeprefix(_MOTION): file[name] for name in file.files if name.startswith(_MOTION)},
            )
    except (OSError, EOFError, ValueError, TypeError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise OutputError(f"{path}: the checkpoint cannot be read: {error}.") from error
