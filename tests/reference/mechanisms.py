"""Rigid bodies as frames, and systems of them with joints."""

import numpy as np

import symplex as sx
from symplex.fem.structures.frames import Frames
from symplex.fem.structures.joints import Joint
from symplex.fem.structures.rigidity import body_particles


class Bodies:
    """Rigid bodies, each of four particles at the corners of a tetrahedron with its mass and inertia."""

    def __init__(self):
        self._points, self._mass = [], []

    def add(self, mass, center, radii, axes=None):
        """Add a body with r_k = √(∫x_k² dm/m) along axes [3, 3], rows; return the number of its frame."""
        points, masses = body_particles(mass, center, radii, axes)
        self._points.append(points)
        self._mass.append(masses)
        return len(self._points) - 1

    @property
    def points(self):
        return np.concatenate(self._points)

    @property
    def mass(self):
        return np.concatenate(self._mass)

    @property
    def frames(self):
        return Frames(np.arange(4 * len(self._points)).reshape(-1, 4), self.points)

    def joint(self, kind, first, second, at, *axes, **given):
        """Return a joint between bodies of these numbers; None for the second: the ground."""
        nodes = self.frames.nodes
        return Joint(kind, (nodes[first], None if second is None else nodes[second]), self.points, at, *axes, **given)

    def system(self, joints, energies=None, **others):
        return sx.System(self.mass, energies or {}, frames=self.frames, joints=joints, **others)


def pair(kind):
    """Two bodies of different inertias with a joint of a kind between them, and velocities that it allows."""
    bodies = Bodies()
    turned = np.linalg.qr(np.random.default_rng(3).standard_normal((3, 3)))[0]
    turned *= np.sign(np.linalg.det(turned))
    bodies.add(2.0, [0.0, 0.0, 0.0], [0.3, 0.2, 0.1])
    bodies.add(1.0, [0.9, 0.2, -0.1], [0.1, 0.25, 0.2], turned)
    axes = {"universal": ([0.0, 0.6, 0.8], [1.0, 0.0, 0.0])}.get(kind, ([0.3, 0.5, 0.8],))
    joint = bodies.joint(kind, 0, 1, [0.5, 0.1, 0.2], *(axes if kind not in ("spherical", "rigid") else ()))
    return bodies, joint


def allowed(system, q, v):
    """Return velocities [n, 3] along joints, nearest to v, and rigid in each frame."""
    rods = {"frames": system.frames.rods}
    return sx.constraints.project(system, {**system.joints, **rods}, system.state(q, v)).v
