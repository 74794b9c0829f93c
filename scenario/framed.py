"""What beams and shells have in common in scenarios: nodes that are several particles of the mesh of all bodies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.base.quantities import Triple
from symplex.base.sparse import sp
from symplex.errors import ScenarioError
from symplex.fem.couplings.interpolation import Interpolation
from symplex.fem.energies.energy import Array, IntArray
from symplex.fem.solids.constitutive import Material
from symplex.fem.structures.beam import Beams
from symplex.fem.structures.frames import Frames
from symplex.fem.structures.quadratic_measures import QuadraticMeasures
from symplex.fem.structures.shell import Shells
from symplex.meshes.mesh import Mesh
from symplex.scenario.selections import group_in, node_at
from symplex.scenario.table import Entry

_ACROSS = 1e-4  # cosine of the angle between a rod and an axis, below which it is across
_ALONG = np.cos(np.radians(5.0))  # of that angle, above which the rod is nearly along the axis


class Viscous(NamedTuple):
    """An energy of a beam or shell in the mesh of all bodies, and its stiffness [m, i, i] against rates of measures."""

    energy: QuadraticMeasures
    stiffness: Array


@dataclass(frozen=True)
class Framed:
    """Beams or shells in the mesh of all bodies.

    Attributes
    ----------
    table : Entry
        With a name.
    structure : Beams or Shells
        In its own numbering of particles.
    first : int
        The first particle in the mesh of all bodies.
    mesh : Mesh
        Its own, of lines or faces.
    """

    table: Entry
    structure: Beams | Shells
    first: int
    mesh: Mesh

    @property
    def name(self) -> str:
        """That of its table."""
        return str(getattr(self.table, "name", ""))

    @property
    def particles(self) -> IntArray:
        """The particles [n, 4] of each node in the mesh of all bodies; of rods two, each twice."""
        return (self.structure.frames.nodes + self.first).astype(np.int32)

    @property
    def viscous(self) -> dict[str, Viscous]:
        """Its energies by name, with what damping in proportion to stiffness is in proportion to."""
        raise NotImplementedError

    @property
    def contact_material(self) -> Material:
        """A material that says how stiff contact must be."""
        raise NotImplementedError

    def own(self, values: Array) -> Array:
        """Return values [n, …] of all nodes at its particles."""
        return values[self.first : self.first + len(self.structure.points)]

    def nodes_in(self, mesh: Mesh, group: str | None, at: Triple | None) -> IntArray:
        """Return the particles of a group of its nodes, of the node at a place in m, or all."""
        if at is None:
            return mesh.nodes_of(group_in(mesh, self.name, group))
        centers = self.structure.frames.centers(self.structure.points)
        node = node_at(centers, self.name, at)
        return self.particles[node, : 2 if self.structure.frames.is_rod[node] else 4]

    def centers(self, n_nodes: int) -> Interpolation:
        """Return how the centres of its nodes follow all nodes."""
        particles = self.particles
        rows = np.repeat(np.arange(len(particles)), 4)
        shape = (len(particles), n_nodes)
        return Interpolation(sp.csr_array((np.full(particles.size, 0.25), (rows, particles.ravel())), shape=shape))

    def shares(self, particles: IntArray) -> Array:
        """Return which part [k] of its node each of some particles [k] is: a quarter, or half of a rod."""
        frames = self.structure.frames
        part = np.empty(len(self.structure.points))
        part[frames.nodes] = np.where(frames.is_rod, 0.5, 0.25)[:, None]
        return part[particles - self.first]

    def consistent_mass(self, points: Array, n_nodes: int) -> sp.csr_array:
        """Return the consistent mass matrix [n_nodes, n_nodes] in kg."""
        own = sp.coo_array(self.structure.consistent_mass)
        rows, columns = own.row + self.first, own.col + self.first
        return sp.csr_array((own.data, (rows, columns)), shape=(n_nodes, n_nodes))

    def masses(self, n_nodes: int) -> Array:
        """Return the nodal masses [n_nodes] in kg."""
        mass = np.zeros(n_nodes)
        mass[self.first : self.first + len(self.structure.mass)] = self.structure.mass
        return mass


def mesh_of_particles(mesh: Mesh, structure: Beams | Shells) -> Mesh:
    """Return the mesh with the particles of beams or shells as points, of those with nodes as points.

    The first lines join the first particles of nodes along lines, or along the edges of faces. Others join these with
    the rest of their nodes, so that the cells of the mesh have all particles, and what is connected stays so. Groups of
    faces are groups of points then.
    """
    frames, groups = structure.frames.nodes, mesh.cell_groups
    if isinstance(structure, Beams):
        lines = mesh.cells["line"]
    else:
        edges = [np.stack([c, np.roll(c, -1, axis=1)], axis=2).reshape(-1, 2) for c in mesh.cells.values()]
        lines, groups = np.unique(np.sort(np.concatenate(edges), axis=1), axis=0), {}
    within = np.stack([np.repeat(frames[:, :1], frames.shape[1] - 1, axis=1), frames[:, 1:]], axis=2).reshape(-1, 2)
    within = np.unique(within[within[:, 0] != within[:, 1]], axis=0)
    nodes = {name: np.unique(frames[mesh.nodes_of(name)]) for name in mesh.groups}
    cells = {"line": np.concatenate([frames[lines, 0], within]).astype(np.int32)}
    return Mesh(structure.points, cells, groups, nodes, unknown=mesh.unknown)


def held_frames(particles: IntArray, held: list[tuple[IntArray, str, str]]) -> NDArray[np.bool_]:
    """Return which displacements and rotations [f, 6] of frames are held.

    Parameters
    ----------
    particles : int32 [f, 4]
    held : list of (int32 [k], str, str)
        Particles, with the letters of displacements and of rotations of theirs that are held.
    """
    found = np.zeros((len(particles), 6), bool)
    for nodes, components, rotations in held:
        rows = np.isin(particles[:, 0], nodes)
        for first, letters in ((0, components), (3, rotations)):
            for letter in letters:
                found[rows, first + "xyz".index(letter)] = True
    return found


def with_drills(frames: Frames, held: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which displacements and rotations [f, 6] are held, with those of rods about themselves.

    A rod has no rotation about itself, so that one that is held alone, about an axis oblique to it, holds nothing: it
    is meant to hold the part across the rod. If the rod is in a plane of two axes, then that is what the rotation
    about the second of these does besides, which is held too. Where a rod is nearly along an axis and another one of
    its rotations is held, that about this axis is held too. It does nothing at the start, and the rod could leave the
    plane in which it turns by it later, with next to no lever.
    """
    arms = frames.rest_arms[:, 0]
    cosines = np.abs(arms) / np.linalg.norm(arms, axis=1)[:, None]
    out = held.copy()
    one = frames.is_rod & (held[:, 3:].sum(axis=1) == 1)
    oblique = one[:, None] & held[:, 3:] & (cosines > _ACROSS) & (cosines < _ALONG)
    rows, axes = np.nonzero(oblique)
    across = np.where(oblique[rows], np.inf, cosines[rows]).argmin(axis=1)  # the axis that the rod is most across
    out[rows, 6 - axes - across] = True
    outside = cosines[rows, across] > np.sqrt(1.0 - _ALONG**2)
    if outside.any():
        node, axis = int(rows[outside][0]), int(axes[outside][0])
        x, y, z = frames.rest_centers[node]
        raise ScenarioError(
            f"of the node of a smooth shell at ({x:.6g}, {y:.6g}, {z:.6g}) m only the rotation about {'xyz'[axis]} is "
            f"held, {np.degrees(np.arccos(cosines[node, axis])):.4g}° from the normal there, which is in no plane of "
            f"two axes (of {outside.sum()} nodes): a shell has no rotation about its normal, so that this would hold "
            "nothing. Hold two rotations or all."
        )
    out[:, 3:] |= (cosines >= _ALONG) & (frames.is_rod & held[:, 3:].any(axis=1))[:, None]
    return out
