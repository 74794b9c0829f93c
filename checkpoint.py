"""Checkpoints: all that a run needs to go on bit-identically, in one file that is always whole."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from symplex.errors import OutputError
from symplex.fem.energy import Array
from symplex.fem.system import System
from symplex.files import damage_told, refuse_special

_MOTION = "motion."
_CHECKSUM = "checksum"


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
    arrays[_CHECKSUM] = _checksum(arrays)
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
        If it cannot be read, or is not as it was written: what a motion finds in it, it takes without asking.
    """
    with damage_told(path, "checkpoint", "start anew with --overwrite, or in another folder with --output"):
        refuse_special(path)
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
        if str(arrays.pop(_CHECKSUM)) != _checksum(arrays):
            raise ValueError("it is not as it was written")
        return Checkpoint(
            int(arrays["sample"]),
            float(arrays["wall_time"]),
            str(arrays["fingerprint"]),
            {name.removeprefix(_MOTION): array for name, array in arrays.items() if name.startswith(_MOTION)},
        )


def _checksum(arrays: Mapping[str, Any]) -> str:
    """Return a hash of all arrays and their names."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def fingerprint(system: System, points: Array) -> str:
    """Return a hash of the mesh, masses and supports of a system, to tell whether they are still the same."""
    parts = [points, system.apply_mass(np.ones_like(points)), system.fixed]
    parts += [energy.nodes for energy in system.energies.values()]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(str(part.shape).encode())
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()
