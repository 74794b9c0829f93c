"""The results folder of a run: which file is what, and what goes into a frame."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np

from symplex.contact.obstacles import HalfSpace, Obstacle, Sphere
from symplex.errors import OutputError
from symplex.fem.energy import Array
from symplex.fem.system import State
from symplex.integrators import axes_along
from symplex.meshes.series import Block
from symplex.scenario import Problem
from symplex.time.integrator import Motion

_PATCH = 1.5  # half the edge of the patch drawn of a plane, relative to the scene
_RINGS = 24  # of a drawn sphere, from pole to pole


class Folder:
    """A results folder and the names of the files in it.

    Parameters
    ----------
    path : path-like
    series_format : {"vtkhdf", "pvd"}
    """

    def __init__(self, path: str | Path, series_format: str = "vtkhdf"):
        self.path = Path(path)
        self.series = self.path / f"motion.{series_format}"
        self.scenario = self.path / "scenario.toml"
        self.history = self.path / "history.csv"
        self.checkpoint = self.path / "checkpoint.npz"
        self.summary = self.path / "summary.json"
        self.plot = self.path / "history.png"
        self.snapshots = self.path / "snapshots.png"
        self._lock = self.path / ".lock"

    @classmethod
    def of_run(cls, path: str | Path) -> Folder:
        """Return the folder of a run that has been made.

        Raises
        ------
        OutputError
            If there is no run in it.
        """
        folder = cls(path)
        if not folder.path.is_dir():
            raise OutputError(f"there is no results folder {path}.")
        if not folder.holds_run:
            raise OutputError(f"{path} is not a results folder: it has no {folder.scenario.name}.")
        return folder if folder.series.exists() else cls(path, "pvd")

    @property
    def holds_run(self) -> bool:
        """Whether there is a run in the folder."""
        return self.scenario.exists() or self.summary.exists()

    def refuse_taken(self) -> None:
        """Refuse to begin a new run where there is one already.

        Raises
        ------
        OutputError
            If there is.
        """
        if self.holds_run:
            raise OutputError(
                f"{self.path} already holds a run; continue it with --resume, replace it with --overwrite, "
                "or choose another folder with --output."
            )

    @contextmanager
    def held(self) -> Iterator[None]:
        """Make the folder if need be, and keep other processes from running in it; remove it if nothing comes in.

        The operating system lets go of the lock when the process ends, however it ends. Where a file system knows no
        locks, nothing is kept out.

        Raises
        ------
        OutputError
            If a run is going on in it, or it cannot be written.
        """
        made = not self.path.exists()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            file = self._lock.open("ab")
        except OSError as error:
            raise OutputError(f"{self.path} cannot be written: {_reason(error)}.") from error
        with file:
            try:
                _lock(file)
            except (BlockingIOError, PermissionError):
                raise OutputError(
                    f"another process is running in {self.path}; wait for it, or choose another folder with --output."
                ) from None
            except OSError:
                pass
            try:
                yield
            finally:
                if made and not self.holds_run:
                    with suppress(OSError):  # on Windows a file that is open cannot be removed
                        self._lock.unlink()
                        self.path.rmdir()

    def create(self, scenario_text: str) -> None:
        """Begin a new run in the folder, with a copy of its scenario, and remove an earlier run from it.

        Raises
        ------
        OutputError
            If it cannot be written.
        """
        try:
            self._clear()
            write_whole(self.scenario, scenario_text)
        except OSError as error:
            raise OutputError(f"{self.path} cannot be written: {_reason(error)}.") from error

    def _clear(self) -> None:
        """Remove what an earlier run has left, and nothing else."""
        for pattern in ("motion.*", "history.*", "snapshots.png", "film.*", "summary.json*", "checkpoint.npz*"):
            for path in self.path.glob(pattern):
                if path.is_dir():
                    for file in path.iterdir():
                        file.unlink()
                    path.rmdir()
                else:
                    path.unlink()

    def write_summary(self, summary: Mapping[str, Any]) -> None:
        """Write ``summary.json``.

        Raises
        ------
        OutputError
            If it cannot be written.
        """
        try:
            write_whole(self.summary, json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
        except OSError as error:
            raise OutputError(f"{self.summary} cannot be written: {_reason(error)}.") from error

    def read_summary(self) -> dict[str, Any]:
        """Return the content of ``summary.json``, empty if there is none."""
        try:
            return json.loads(self.summary.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise OutputError(f"{self.summary} cannot be read: {error}.") from error


def write_whole(path: Path, text: str) -> None:
    """Write a text file so that it is there whole or not at all."""
    aside = path.with_name(path.name + ".new")
    try:
        with aside.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except OSError:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        raise


def _reason(error: OSError) -> str:
    """Return why the operating system refused, as part of a sentence."""
    reason = error.strerror or str(error)
    return reason[:1].lower() + reason[1:]


def _lock(file: IO[bytes]) -> None:
    """Take the lock on a file that one process at a time can have, or raise an OSError."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


# -- frames -------------------------------------------------------------------------------------------------------


def blocks_of(problem: Problem) -> dict[str, Block]:
    """Return a block for each body and, standing still, for each obstacle."""
    blocks = {name: Block.of({solid.kind: solid.nodes}) for name, solid in problem.solids.items()}
    for name, contact in problem.contacts.items():
        blocks[name] = block_of(contact.obstacle, problem.mesh.points)
    return blocks


def fields_of(problem: Problem, motion: Motion, state: State) -> tuple[dict[str, Array], dict[str, dict[str, Array]]]:
    """Return the wanted point data and cell data at a state."""
    wanted = problem.scenario.tables.output.fields
    at_points: dict[str, Array] = {}
    if "velocity" in wanted:
        at_points["velocity"] = state.v
    if "contact_force" in wanted and problem.contacts:
        at_points["contact_force"] = contact_forces(problem, motion, state)
    at_cells = {}
    if "von_mises" in wanted:
        at_cells["von_mises"] = {name: solid.von_mises(state.q) for name, solid in problem.solids.items()}
    return at_points, at_cells


def contact_forces(problem: Problem, motion: Motion, state: State) -> Array:
    """Return the forces [n, 3] in N of all obstacles on the nodes, as the motion feels them."""
    forces = np.zeros_like(state.q)
    for contact in problem.contacts.values():
        forces[contact.nodes[:, 0]] -= motion.gradient(contact, state)[:, 0]
    return forces


def block_of(obstacle: Obstacle, points: Array) -> Block:
    """Return a block that shows an obstacle beside bodies at the points [n, 3]."""
    if isinstance(obstacle, HalfSpace):
        return Block.plane(_patch(obstacle, points))
    if isinstance(obstacle, Sphere):
        return Block.obstacle(*_globe(np.asarray(obstacle.center), obstacle.radius))
    raise TypeError(f"no surface is known of a {type(obstacle).__name__}")


def _patch(plane: HalfSpace, points: Array) -> Array:
    """Return the corners of a square of a plane below the bodies."""
    n, first, second = axes_along(np.asarray(plane.normal))
    low, high = points.min(axis=0), points.max(axis=0)
    centre, half = 0.5 * (low + high), _PATCH * 0.5 * float(np.linalg.norm(high - low))
    foot = centre - ((centre - plane.point) @ n) * n
    return np.array([foot + half * (a * first + b * second) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))])


def _globe(centre: Array, radius: float) -> tuple[Array, dict[str, np.ndarray]]:
    """Return a sphere of triangles between circles of latitude."""
    theta = np.linspace(0.0, np.pi, _RINGS + 1)[1:-1, None]
    phi = np.linspace(0.0, 2.0 * np.pi, 2 * _RINGS, endpoint=False)
    ring = np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta) + 0.0 * phi], axis=-1)
    directions = np.concatenate([[[0.0, 0.0, 1.0]], ring.reshape(-1, 3), [[0.0, 0.0, -1.0]]])
    m = len(phi)
    a = np.arange(m)
    b = (a + 1) % m
    top = np.stack([np.zeros(m, int), 1 + a, 1 + b], axis=1)
    last = 1 + (_RINGS - 2) * m
    bottom = np.stack([np.full(m, len(directions) - 1), last + b, last + a], axis=1)
    triangles = [top, bottom]
    for k in range(_RINGS - 2):
        upper, lower = 1 + k * m, 1 + (k + 1) * m
        triangles += [
            np.stack([upper + a, lower + a, lower + b], axis=1),
            np.stack([upper + a, lower + b, upper + b], axis=1),
        ]
    return centre + radius * directions, {"triangle": np.concatenate(triangles).astype(np.int32)}
