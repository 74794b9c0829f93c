"""Lines as meshes, and beams of them."""

import numpy as np

from symplex.fem.state import State
from symplex.fem.structures.beam import Beams, beams
from symplex.fem.structures.sections import BeamProperties
from symplex.fem.system import System
from symplex.meshes.mesh import Mesh

# Of the flying spaghetti of Simo and Vu-Quoc (1988): EA = GA = 10⁴, EI = GJ = 500, ρA = 1, ρI = 10.
SOFT = BeamProperties(1e4, (1e4, 1e4), (500.0, 500.0), 500.0, 1.0, (10.0, 10.0))


def line(points) -> Mesh:
    """A line through points [n + 1, 3]."""
    ends = np.arange(len(points), dtype=np.int32)
    return Mesh(np.asarray(points, dtype=float), {"line": np.column_stack([ends[:-1], ends[1:]])})


def straight(n: int, length: float) -> Mesh:
    """A line of n elements along x from the origin."""
    return line(np.outer(np.linspace(0.0, length, n + 1), [1.0, 0.0, 0.0]))


def spaghetti(n: int = 10) -> Beams:
    """The flying spaghetti, a line from (6, 0, 0) to (0, 8, 0)."""
    part = np.linspace(0.0, 1.0, n + 1)[:, None]
    return beams(line((1.0 - part) * [6.0, 0.0, 0.0] + part * [0.0, 8.0, 0.0]), SOFT, (0.0, 0.0, 1.0), extent=1.0)


def flying(n: int = 6) -> tuple[Beams, System, State]:
    """A free beam that spins, drifts, and is bent by its velocities."""
    built = spaghetti(n)
    system = System(built.mass, {"beams": built.energy}, frames=built.frames)
    centers, spin = built.frames.centers(built.points), np.array([0.3, -0.2, 0.4])
    v = np.array([0.5, 0.1, -0.2]) + np.cross(spin, centers)
    v[:, 2] += 3.0 * np.sin(np.linspace(0.0, np.pi, n + 1))
    return built, system, system.state(built.points, built.frames.velocities(built.points, v, spin))
