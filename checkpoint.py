"""Checkpoints: all that a run needs to go on bit-identically, in one file that is always whole."""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from symplex.errors import OutputError
from symplex.fem.energy import Array
from symplex.fem.system import System

_MOTION = "motion."


class Checkpoint(NamedTuple):
    """A moment of a run.

    Attributes
    ----------
    sample : int
        Index of the last row of the history.
    wall_time : float
        Seconds spent up to here.
    fingerprint : str
        Of the system (`fingerprint`).
    motion : mapping of str to array
        The checkpoint of the motion.
    """

    sample: int
    wall_time: float
    fingerprint: str
    motion: Mapping[str, np.ndarray]


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint, replacing an earlier one atomically.

    Raises
    ------
    OutputError
        If it cannot be written; the earlier one is then untouched.
    """
    arrays: dict[str, Any] = {_MOTION + name: array for name, array in checkpoint.motion.items()}
    arrays |= {"sample": checkpoint.sample, "wall_time": checkpoint.wall_time, "fingerprint": checkpoint.fingerprint}
    aside = path.with_name(path.name + ".new")
    try:
        with aside.open("wb") as file:
            np.savez(file, **arrays)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except OSError as error:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        raise OutputError(f"{path}: the checkpoint cannot be written: {error.strerror or error}.") from error


def load_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint.

    Raises
    ------
    OutputError
        If it cannot be read.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            return Checkpoint(
                int(file["sample"]),
                float(file["wall_time"]),
                str(file["fingerprint"]),
                {name.removeprefix(_MOTION): file[name] for name in file.files if name.startswith(_MOTION)},
            )
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise OutputError(f"{path}: the checkpoint cannot be read: {error}.") from error


def fingerprint(system: System, points: Array) -> str:
    """Return a hash of the mesh, masses and supports of a system, to tell whether they are still the same."""
    parts = [points, system.apply_mass(np.ones_like(points)), system.fixed]
    parts += [energy.nodes for energy in system.energies.values()]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(str(part.shape).encode())
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()
