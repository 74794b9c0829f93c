"""Frames: groups of four particles that are rigid, with the position and the rotation of one node."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.nodes import Nodes, connectivity, require_nodes
from symplex.fem.assembly.pattern import Array
from symplex.fem.measures.constraints import RigidBars

if TYPE_CHECKING:
    from symplex.fem.masses import Masses

_PAIRS = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])
_FLAT = 1e-12  # of second moments relative to the largest, below which particles are in a plane


@checked
@final
class Frames(Copyable):
    """Groups of four particles, each of which moves as a rigid body.

    They belong to a `System`. Implicit methods, equilibria and modes that declare them solve for the displacement and
    the rotation of each; methods with constraints take the `rods`; all others refuse them. Masses, velocities, forces
    and supports stay those of the particles.

    Parameters
    ----------
    nodes : int [f, 4]
        The particles of each frame.
    points : float64 [n, 3]
        Positions in m of all particles of the system, undeformed.
    held : bool [f, 6], optional
        True where the displacement of a frame's centre along x, y, z or its rotation about these does not change. With
        two rotations held and one free, in steps that rotate about one axis only. A frame all of whose particles are
        fixed in the system is held altogether.

    Attributes
    ----------
    rest_arms : float64 [f, 4, 3]
        Positions in m of particles relative to the centres of their frames, undeformed.

    Raises
    ------
    InvalidSystem
        If shapes do not match, a particle is in two frames, or the particles of one are in a plane.
    """

    def __init__(self, nodes: Nodes, points: Array, held: NDArray[np.bool_] | None = None):
        self.nodes = connectivity("Frames", nodes)
        if self.nodes.ndim != 2 or self.nodes.shape[1] != 4:
            raise InvalidSystem(f"Frames: nodes must have shape (f, 4), got {self.nodes.shape}.")
        if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
            raise InvalidSystem(f"Frames: points must be finite, of shape (n, 3), got {points.shape}.")
        require_nodes("Frames", self.nodes, len(points))
        if len(np.unique(self.nodes)) < self.nodes.size:
            raise InvalidSystem("Frames: a particle must be in one frame only.")
        self.held = np.zeros((len(self.nodes), 6), bool) if held is None else np.array(held, bool)
        if self.held.shape != (len(self.nodes), 6):
            raise InvalidSystem(f"Frames: held must have shape {(len(self.nodes), 6)}, got {self.held.shape}.")
        arms = self.arms(points)
        moments = np.linalg.eigvalsh(np.einsum("fai,faj->fij", arms, arms))
        flat = np.flatnonzero(moments[:, 0] <= _FLAT * moments[:, 2])
        if len(flat):
            raise InvalidSystem(f"Frames: the four particles of frame {flat[0]} must not be in a plane.")
        self.rest_arms = arms
        self._lengths = np.linalg.norm(
            points[self.nodes[:, _PAIRS[:, 0]]] - points[self.nodes[:, _PAIRS[:, 1]]], axis=2
        )

    def __len__(self) -> int:
        return len(self.nodes)

    @cached_property
    def rods(self) -> RigidBars:
        """The six rods of each frame, as constraints."""
        return self.rods_of(np.ones(len(self), bool))

    def rods_of(self, some: NDArray[np.bool_]) -> RigidBars:
        """Return the six rods of some frames [f], as constraints."""
        return RigidBars(self.nodes[some][:, _PAIRS].reshape(-1, 2), self._lengths[some].ravel())

    def centers(self, q: Array) -> Array:
        """Return the centres [f, 3] in m of frames at the positions q [n, 3] of particles, or their velocities."""
        return q[self.nodes].mean(axis=1)

    def arms(self, q: Array) -> Array:
        """Return the positions [f, 4, 3] in m of particles relative to the centres of their frames."""
        x = q[self.nodes]
        x = x - x[:, :1]
        return x - x.mean(axis=1, keepdims=True)

    def rotations(self, q0: Array, q: Array) -> Array:
        """Return the matrices [f, 3, 3] by which frames have rotated from positions q0 to q [n, 3]."""
        before, now = self.arms(q0), self.arms(q)
        turned = np.linalg.solve(np.einsum("fai,faj->fij", before, before), np.einsum("fai,faj->fij", before, now))
        return np.asarray(turned.swapaxes(1, 2), float)

    def rotation_vectors(self, q: Array) -> Array:
        """Return the rotations [f, 3] in rad since the undeformed state as vectors along their axes, of at most π."""
        from scipy.spatial.transform import Rotation  # which takes long to import

        rest, now = self.rest_arms, self.arms(q)
        turned = np.linalg.solve(np.einsum("fai,faj->fij", rest, rest), np.einsum("fai,faj->fij", rest, now))
        return np.asarray(Rotation.from_matrix(turned.swapaxes(1, 2)).as_rotvec(), float)

    def distortion(self, q: Array) -> float:
        """Return the largest relative error of a distance between two particles of a frame."""
        x = q[self.nodes]
        lengths = np.linalg.norm(x[:, _PAIRS[:, 0]] - x[:, _PAIRS[:, 1]], axis=2)
        return float(np.abs(lengths / self._lengths - 1.0).max(initial=0.0))

    def velocities(self, q: Array, v: ArrayLike, omega: ArrayLike) -> Array:
        """Return the velocities [n, 3] in m/s of particles at q [n, 3] of frames with v and ω [f, 3] or [3]; else zero.

        Parameters
        ----------
        q : float64 [n, 3]
            In m.
        v, omega : float64 [f, 3] or [3]
            Velocities of centres in m/s and of rotation in rad/s.
        """
        shape = (len(self), 3)
        of_center, of_rotation = np.broadcast_to(v, shape), np.broadcast_to(omega, shape)
        out = np.zeros_like(q)
        out[self.nodes] = of_center[:, None] + np.cross(of_rotation[:, None], self.arms(q))
        return out

    def rigid_velocities(self, q: Array, v: Array) -> Array:
        """Return velocities v [n, 3] in m/s at positions q [n, 3] with those of frames as near to them as rigid ones.

        That is with the same momentum and angular momentum of four particles of equal mass.
        """
        out, arms = v.copy(), self.arms(q)
        second = np.einsum("fai,faj->fij", arms, arms)
        inertia = np.trace(second, axis1=1, axis2=2)[:, None, None] * np.eye(3) - second
        omega = _solved(inertia, np.cross(arms, v[self.nodes]).sum(axis=1))
        out[self.nodes] = self.centers(v)[:, None] + np.cross(omega[:, None], arms)
        return out

    def accelerations(self, system: Masses, force: Array, q: Array, v: Array) -> Array:
        """Return accelerations [n, 3] in m/s² under forces [n, 3] in N, those of frames as of rigid bodies.

        Fixed particles have none, and frames that are held in part those of their free motion.
        """
        out = system.accelerations(force)
        mass, arms, inertia = self._inertia(system, q)
        linear, moment = force[self.nodes].sum(axis=1), np.cross(arms, force[self.nodes]).sum(axis=1)
        momentum = np.cross(arms, mass[:, :, None] * v[self.nodes]).sum(axis=1)
        spin = _solved(inertia, momentum)
        a = linear / mass.sum(axis=1)[:, None]
        alpha = _solved(inertia, moment - np.cross(spin, momentum))
        a[self.held[:, :3]], alpha[self.held[:, 3:]] = 0.0, 0.0
        spin = spin[:, None]
        out[self.nodes] = a[:, None] + np.cross(alpha[:, None], arms) + np.cross(spin, np.cross(spin, arms))
        out[system.fixed] = 0.0
        return out

    def resultants(self, system: Masses, force: Array, q: Array) -> Array:
        """Return forces [n, 3] in N with those on frames replaced by those of a rigid motion with the same resultants.

        So of what acts within frames nothing is left.
        """
        out = force.copy()
        mass, arms, inertia = self._inertia(system, q)
        a = force[self.nodes].sum(axis=1) / mass.sum(axis=1)[:, None]
        alpha = _solved(inertia, np.cross(arms, force[self.nodes]).sum(axis=1))
        a[self.held[:, :3]], alpha[self.held[:, 3:]] = 0.0, 0.0
        out[self.nodes] = mass[:, :, None] * (a[:, None] + np.cross(alpha[:, None], arms))
        return out

    def _inertia(self, system: Masses, q: Array) -> tuple[Array, Array, Array]:
        """Return masses [f, 4] in kg, arms [f, 4, 3] in m from the centres of mass, and inertia [f, 3, 3] in kg m²."""
        mass, arms = np.asarray(system.mass)[self.nodes], self.arms(q)
        arms = arms - np.einsum("fa,fai->fi", mass, arms)[:, None] / mass.sum(axis=1)[:, None, None]
        second = np.einsum("fa,fai,faj->fij", mass, arms, arms)
        return mass, arms, np.trace(second, axis1=1, axis2=2)[:, None, None] * np.eye(3) - second


def _solved(matrices: Array, vectors: Array) -> Array:
    return np.asarray(np.linalg.solve(matrices, vectors[:, :, None])[:, :, 0], float)


def nodes_and_degrees(system: Masses) -> tuple[int, int]:
    """Return how many nodes and degrees of freedom a system has; a frame is one node, with three rotations."""
    frames = getattr(system, "frames", None)
    if frames is None:
        return system.n_nodes, int((~system.fixed).sum())
    others = np.ones(system.n_nodes, bool)
    others[frames.nodes] = False
    fixed = np.asarray(system.fixed[frames.nodes].all(axis=(1, 2)))
    free = ~frames.held & ~fixed[:, None]
    return int(others.sum()) + len(frames), int((~system.fixed[others]).sum() + free.sum())


def refuse_frames(system: Masses, required_by: str) -> None:
    """Refuse systems with frames, for what cannot keep them rigid.

    Raises
    ------
    InvalidSystem
        If a system has frames.
    """
    if frames := getattr(system, "frames", None):
        raise InvalidSystem(
            f"{required_by} is for systems without frames, of which this one has {len(frames)}. Energy-momentum, the "
            "midpoint rule, RATTLE, static_equilibrium and natural_modes take them."
        )


def require_frames(frames: Frames, system: Masses) -> None:
    """Check that a system can have frames.

    Raises
    ------
    InvalidSystem
        If it is not in space, its mass is not lumped, or only a part of a frame is fixed.
    """
    if system.dim != 3 or not system.is_lumped:
        raise InvalidSystem("frames must be in a system of three dimensions with lumped masses.")
    require_nodes("a frame", frames.nodes, system.n_nodes)
    if system.massless[frames.nodes].any():
        raise InvalidSystem("the particles of frames must have mass.")
    fixed = system.fixed[frames.nodes].reshape(len(frames), -1)
    partly = np.flatnonzero(fixed.any(axis=1) & ~fixed.all(axis=1))
    if len(partly):
        raise InvalidSystem(
            f"all four particles of a frame must be fixed, or none; of frame {partly[0]} some are. Give Frames the "
            "displacements and rotations that are held."
        )
