"""The table [start], and the states that a run begins with: in equilibrium, in steady rotation, or of another run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import pi
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal, NamedTuple

import numpy as np

from symplex.base.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from symplex.base.files import read_whole
from symplex.base.quantities import (
    LARGEST_SEED,
    FolderPath,
    Key,
    Text,
    Triple,
    between,
    nonzero,
    not_negative,
    positive,
    whole,
)
from symplex.errors import ScenarioError, SymplexError
from symplex.fem.energies.energy import Array, IntArray
from symplex.fem.energies.inelastic import part_with_history
from symplex.fem.system import System
from symplex.meshes.mesh import Mesh
from symplex.meshes.series.series import read_series
from symplex.scenario.table import BodyName, Entry, Table, one_of
from symplex.time.equilibria.free_body import parts_apart
from symplex.time.equilibria.static import static_equilibrium
from symplex.time.equilibria.steady_rotation import relative_equilibrium, relative_equilibrium_of_momentum
from symplex.time.internal import arrays_of, internal_of
from symplex.time.solvers.linear import Linear
from symplex.time.solvers.newton import Newton

_SAME_POINT = 1e-6  # of the size of the bodies: points of frames are in single precision
_SAME_TIME = 1e-6  # of the time between frames
_CORRECTIONS = 30


class Perturbation(Table):
    """How a state at the start is changed: at random, or by a displacement or velocity of a group."""

    amplitude: Annotated[float, positive("m or m/s"), "Largest change."]
    of: Annotated[Literal["positions", "velocities"], "What is changed."] = "positions"
    seed: Annotated[
        int, whole(0, LARGEST_SEED), "Of random changes of all nodes, without a mean; the same for the same seed."
    ] = 0
    body: Annotated[BodyName | None, "Whose nodes are changed; by default all."] = None
    group: Annotated[Text | None, "Group of nodes of that; by default all."] = None
    direction: Annotated[Triple | None, nonzero(), "All nodes alike along this vector, instead of at random."] = None

    def _check(self) -> None:
        if self.group is not None and self.body is None:
            raise ValueError("names a group, so it needs the body whose it is")
        if self.direction is not None:
            self.refuse_unused("seed", goes_with="random changes, which have no direction")

    def changes(self, nodes: IntArray, shape: tuple[int, ...]) -> Array:
        """Return the changes [n, 3] in m or m/s: alike along the direction, or random without a mean."""
        out = np.zeros(shape)
        if self.direction is not None:
            direction = np.array(self.direction)
            out[nodes] = self.amplitude * direction / np.linalg.norm(direction)
            return out
        random = np.random.default_rng(self.seed).uniform(-1.0, 1.0, (len(nodes), shape[1]))
        out[nodes] = self.amplitude * (random - random.mean(axis=0))
        return out


class _Start(Entry):
    of_all = False
    perturbation: Annotated[Perturbation | None, "How the state found is changed."] = None


class StaticStart(_Start):
    """Static equilibrium under all that acts at t = 0, contact included; velocities of bodies are added to it.

    Supports that move are where they are then, loads are as strong as then ([how it is found](../stages.md)). What is
    loose, or a load beyond what the bodies carry, is an error. Not with rods.
    """

    kind: Literal["static"]
    solver: Annotated[Linear, "Linear solver, as of implicit integrators."] = "auto"


class RotationStart(_Start):
    """Relative equilibrium: steady rotation, with the stretch that goes with it ([more](../relative-equilibria.md)).

    For bodies and trusses without supports and gravity, whose ``velocity`` is added. Each connected part rotates about
    its centre of mass. Contact does not count. Not with rods.
    """

    kind: Literal["relative-equilibrium"]
    angular_velocity: Annotated[Triple | None, nonzero("rad/s"), "Of each part."] = None
    angular_momentum: Annotated[
        Triple | None, nonzero("kg m²/s"), "Of each part about its centre of mass, instead."
    ] = None
    tilt: Annotated[
        float,
        between(0.0, pi / 2.0, "rad"),
        "Largest rotation of a body that brings a principal axis onto that vector.",
    ] = 0.2

    def _check(self) -> None:
        one_of(self, ["angular_velocity", "angular_momentum"], "rotation")


class ResultStart(_Start):
    """The last state of another run, or one of its frames; time begins at 0 again.

    The bodies must be the same, placed as they were there, and be given no velocities. The run must be finished,
    unless ``time`` is given. The state is stored in the results (``start.npz``), so that ``--resume`` does not need
    that folder.
    """

    kind: Literal["result"]
    folder: Annotated[FolderPath, "The results folder, relative to the scenario.", Key("from")]
    time: Annotated[
        float | None,
        not_negative("s"),
        "Take the frame at that time, in single precision, without internal variables and rigid bodies that move "
        "freely; by default the end, exactly.",
    ] = None

    def digest(self, home: Path) -> str | None:
        """Return a hash of the state that is taken from the run; None if it is not there, or not any more.

        Parameters
        ----------
        home : Path
            The folder of the scenario.
        """
        folder, digest = home / self.folder, hashlib.sha256()
        try:
            if self.time is None:
                found = _last_of(load_checkpoint(folder / "checkpoint.npz").motion)
                arrays = {} if found is None else found.arrays
            else:
                series = read_series(folder / _motion_in(folder))
                frame = series.frame(int(np.argmin(np.abs(series.times - self.time))))
                arrays = {"q": frame.displacement, "v": frame.point_data.get("velocity", np.empty(0))}
        except (SymplexError, ValueError):
            return None
        for name, array in arrays.items():
            digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest() if arrays else None


StartTable = StaticStart | RotationStart | ResultStart


class Start(NamedTuple):
    """What a run starts with.

    Attributes
    ----------
    q, v : float64 [n, 3]
        Positions in m and velocities in m/s.
    internal : mapping of str to float64
        Internal variables of viscoelastic bodies, by the names of these parts of a system; others are relaxed.
    """

    q: Array
    v: Array
    internal: Mapping[str, Array] = MappingProxyType({})

    @property
    def arrays(self) -> dict[str, Array]:
        """All of it by name, as it is stored."""
        return {"q": self.q, "v": self.v} | arrays_of(self.internal)

    def save(self, path: Path, version: str) -> None:
        """Write it to a file, to all digits, with the version of symplex that found it."""
        save_checkpoint(path, Checkpoint(0, 0.0, version, {}, self.arrays))

    @classmethod
    def load(cls, path: Path) -> Start:
        """Return what is in such a file."""
        motion = load_checkpoint(path).motion
        return cls(motion["q"], motion["v"], internal_of(motion))


@dataclass(frozen=True)
class Beginning:
    """What a state at the start is made of.

    Attributes
    ----------
    folder : Path
        That of the scenario.
    mesh : Mesh
        Of all bodies.
    system : System
        With what acts at t = 0; of a static start also what acts there alone.
    q, v : float64 [n, 3]
        Positions in m and velocities in m/s of the bodies as they are given.
    """

    folder: Path
    mesh: Mesh
    system: System
    q: Array
    v: Array

    def state(self, table: StartTable) -> Start:
        """Return what a run starts with, but for a perturbation."""
        match table:
            case StaticStart():
                newton = Newton(iterations=_CORRECTIONS, linear=table.solver)
                return Start(static_equilibrium(self.system, self.q, newton=newton).state.q, self.v)
            case RotationStart():
                return self._rotating(table)
            case _:
                return self._of_result(table)

    def _rotating(self, table: RotationStart) -> Start:
        if (parts := parts_apart(self.system)) != 1:
            raise ScenarioError(
                f'kind = "relative-equilibrium" is for what hangs together, but there are {parts} parts that nothing '
                "joins; make each of them a separate body, or join them ([[tie]])."
            )
        velocity = self.v.mean(axis=0)
        if np.abs(self.v - velocity).max() > 1e-12 * max(np.abs(velocity).max(), 1e-300):
            raise ScenarioError("the rotation is that of [start]; leave out the angular_velocity of the body.")
        if table.angular_velocity is not None:
            found = relative_equilibrium(
                self.system, self.q, table.angular_velocity, velocity=velocity, tilt=table.tilt
            )
        else:
            momentum = np.array(table.angular_momentum)
            found = relative_equilibrium_of_momentum(self.system, self.q, momentum, velocity=velocity, tilt=table.tilt)
        return Start(found.state.q, found.state.v)

    def _of_result(self, table: ResultStart) -> Start:
        folder = self.folder / table.folder
        name = _motion_in(folder)
        if not name:
            raise ScenarioError(
                f"from is '{table.folder}', where there is no motion.vtkhdf or motion.pvd: it is not the results "
                "folder of a run."
            )
        series = read_series(folder / name)
        n, of_beams = len(self.mesh.points), np.empty((0, 4), np.int32)
        if (frames := self.system.frames) is not None:
            of_beams = frames.nodes[(frames.nodes < n).all(axis=1)]  # others are rigid bodies, without points here
        size = float(np.linalg.norm(np.ptp(self.mesh.points, axis=0))) if n else 0.0  # of rigid bodies alone
        n = int(of_beams.min(initial=n))  # those that are drawn as they are
        points = series.points[:n]
        away = np.abs(points - self.mesh.points[:n]).max(initial=0.0) if len(points) == n else np.inf
        if len(of_beams) and len(series.points):
            from scipy.spatial import KDTree  # which takes long to import

            away = max(away, KDTree(series.points).query(self.mesh.points[of_beams].mean(axis=1))[0].max())
        if away > _SAME_POINT * size:
            and_beams = f", and beams and shells {len(of_beams):,} nodes" if len(of_beams) else ""
            raise ScenarioError(
                f"the run in '{table.folder}' is of another mesh: it has {len(series.points):,} points, and the bodies "
                f"here have {n:,}{and_beams}"
                + (" of other places" if len(points) == n else "")
                + ". Give the same bodies, "
                "placed as they were there."
            )
        if table.time is None:
            return self._of_checkpoint(folder, table.folder)
        inner = "viscoelastic bodies" if part_with_history(self.system) is None else "metals that flow"
        for missing, there in (
            (f"internal variables of {inner}", len(self.system.inelastic) > 0),
            ("rotations of beams and shells to all digits", len(of_beams) > 0),
            ("nodes of what is rigid and moves freely", not self.system.fixed[n:].all()),
        ):
            if there:
                raise ScenarioError(
                    f"frames have no {missing}; leave time out, and the last state of the run is taken."
                )
        k = int(np.argmin(np.abs(series.times - table.time)))
        spacing = float(np.diff(series.times).max(initial=0.0)) or 1.0
        if abs(series.times[k] - table.time) > _SAME_TIME * spacing:
            raise ScenarioError(
                f"the run in '{table.folder}' has no frame at {table.time:g} s; the nearest is at "
                f"{series.times[k]:.9g} s. Without time, its last state is taken."
            )
        frame, q, v = series.frame(k), self.q.copy(), self.v.copy()
        if "velocity" not in frame.point_data:
            raise ScenarioError(
                f"the frames of the run in '{table.folder}' have no velocities ([output] fields); leave time out, and "
                "its last state is taken."
            )
        q[:n] = self.mesh.points + frame.displacement[:n]
        v[:n] = frame.point_data["velocity"][:n]
        return Start(q, v)

    def _of_checkpoint(self, folder: Path, called: str) -> Start:
        """Return the last state of a run, to all digits."""
        try:
            summary = json.loads(read_whole(folder / "summary.json"))
            status, t = summary["status"], summary.get("t_end")
        except FileNotFoundError:  # it was killed
            status, t = "killed before its end", None
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            status, t = "of a damaged summary.json", None
        if status != "finished":
            at = f" at t = {t:.6g} s" if isinstance(t, int | float) else ""
            raise ScenarioError(
                f"the run in '{called}' must be finished, got one that is {status}{at}. Resume it, or give the time of "
                "one of its frames."
            )
        motion = load_checkpoint(folder / "checkpoint.npz").motion
        found = _last_of(motion)
        if found is None:
            raise ScenarioError(
                f"the checkpoint of the run in '{called}' has no positions and velocities at one time, as its method "
                "moves on by events; give the time of a frame."
            )
        if found.q.shape != self.q.shape:
            raise ScenarioError(
                f"the run in '{called}' has {len(found.q):,} nodes, but here are {len(self.q):,}, those of obstacles "
                "that move included."
            )
        return found._replace(internal={k: z for k, z in found.internal.items() if k in self.system.inelastic})


def _motion_in(folder: Path) -> str:
    """Return the name of the file of frames in a results folder, empty if there is none."""
    return next((name for name in ("motion.vtkhdf", "motion.pvd") if (folder / name).exists()), "")


def _last_of(motion: Mapping[str, Array]) -> Start | None:
    """Return what the checkpoint of a motion, or of the stage that it is in, ends with."""
    for prefix in ("", "motion."):
        if {f"{prefix}q", f"{prefix}v", f"{prefix}dt"} <= motion.keys():
            own = {name.removeprefix(prefix): array for name, array in motion.items() if name.startswith(prefix)}
            return Start(np.array(own["q"]), np.array(own["v"]), internal_of(own))
    return None
