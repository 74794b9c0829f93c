"""Surfaces as meshes of quadrilaterals or triangles, and shells of them."""

from collections.abc import Callable

import numpy as np

import symplex as sx
from symplex.fem.structures.frames import Frames
from symplex.fem.structures.plies import ShellProperties
from symplex.fem.structures.shell import Shells
from symplex.meshes.mesh import Mesh


def surface(
    nx: int, ny: int, place: Callable = lambda x, y: np.stack([x, y, 0.0 * x], axis=1), triangles=False
) -> Mesh:
    """The unit square in nx × ny elements, moved by a function of x and y [n] to points [n, 3]."""
    x, y = np.meshgrid(np.linspace(0.0, 1.0, nx + 1), np.linspace(0.0, 1.0, ny + 1), indexing="ij")
    at = np.arange((nx + 1) * (ny + 1), dtype=np.int32).reshape(nx + 1, ny + 1)
    quads = np.stack([at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]], axis=-1).reshape(-1, 4)
    points = place(x.ravel(), y.ravel())
    if triangles:
        return Mesh(points, {"triangle": np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])})
    return Mesh(points, {"quad": quads})


def distorted(x, y):
    """A map of the unit square to itself by which straight lines of elements become bent ones."""
    bump = x * (1.0 - x) * y * (1.0 - y)
    return np.stack([x + 0.9 * np.sin(9.0 * y + 2.0) * bump, y + 0.8 * np.cos(8.0 * x) * bump, 0.0 * x], axis=1)


def sheet(thickness: float, E: float = 1.0e7, nu: float = 0.3, density: float = 1000.0) -> ShellProperties:
    """A sheet of one material."""
    return ShellProperties.uniform(thickness, sx.NeoHookean.from_young(E, nu, density))


def supported(shell: Shells, held, forces=(), **energies) -> sx.System:
    """A shell with displacements and rotations [n, 6] of nodes held, and forces on nodes, as pairs."""
    nodal = np.zeros(shell.points.shape)
    for node, force in forces:
        particles = shell.particles([node])[0]
        nodal[particles] += np.asarray(force) / len(particles)
    acting = np.flatnonzero(nodal.any(axis=1))
    parts = {f"force_{n}": sx.actions.NodalForce([n], nodal[n]) for n in acting}
    frames = Frames(shell.frames.nodes, shell.points, held)
    return sx.System(shell.mass, shell.energies | parts | energies, frames=frames)


def displacements(shell: Shells, system: sx.System) -> np.ndarray:
    """The displacements [n, 3] of nodes in equilibrium."""
    found = sx.equilibria.static_equilibrium(system, shell.points)
    return shell.frames.centers(found.state.q) - shell.frames.centers(shell.points)
