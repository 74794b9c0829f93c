"""What is kept of a run at a moment: the points that are drawn, blocks, and fields on them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from symplex.base.sparse import sp
from symplex.fem.energies.energy import Array, IntArray
from symplex.fem.measures.anchors import Anchors
from symplex.fem.outputs.forces import Acting
from symplex.fem.system import State
from symplex.meshes.series.series import Block
from symplex.runs.parts import SKIN, BarsPart, Parts
from symplex.runs.shapes import block_of, surface_of
from symplex.scenario.scenario import Problem


class Shown:
    """What of a problem is drawn: the nodes of its mesh, and surfaces that nodes carry which are obstacles.

    Attributes
    ----------
    points : float64 [p, 3]
        The points of bodies, of springs that end at fixed points, and of obstacles that move, at the start, in m.
    blocks : mapping of str to Block
        One for each body and obstacle.
    parts : Parts
    n_mesh : int
        How many points are nodes of the mesh, the first ones: all of them but those of beams and shells.
    """

    def __init__(self, problem: Problem):
        mesh, rigid_sets = problem.mesh, problem.rigid_sets
        # Not drawn are the particles of beams and shells, and the few nodes of reduced bodies.
        framed = (*problem.flexible.values(), *problem.beams.values(), *problem.shells.values())
        n_mesh = min((one.first for one in framed), default=len(mesh.points))
        self.parts, self.n_mesh = Parts.of(problem), n_mesh
        self.blocks = {part.name: Block.of(part.cells) for part in self.parts if part.cells}
        self._points_at = rigid_sets.points
        self._start = self._points_at(rigid_sets.positions(mesh.points))  # a run may begin deformed
        n = len(self._start)
        # What is drawn follows the points of contact: those of bodies as they are, others by weights [p − n_mesh, n].
        drawn: list[Array] = [mesh.points[:n_mesh]]
        follow: list[sp.sparray] = []

        def add(name: str, shape: Array, cells: Mapping[str, IntArray], weights: sp.sparray) -> None:
            first = np.int32(sum(map(len, drawn)))
            self.blocks[name] = Block.of({kind: rows + first for kind, rows in cells.items()})
            drawn.append(shape)
            follow.append(weights)

        for part in self.parts:
            if isinstance(part, BarsPart) and isinstance(part.bars, Anchors):
                # Each from its node to the point, which does not move.
                ends = np.full(len(part.bars.nodes), sum(map(len, drawn)), np.int32)
                self.blocks[part.name] = Block.of({"line": np.column_stack([part.bars.nodes[:, 0], ends])})
                drawn.append(part.bars.point[None])
                follow.append(sp.csr_array((1, n)))
        rigid = {} if rigid_sets.bodies is None else rigid_sets.bodies.bodies
        scene = np.concatenate([mesh.points, *(body.mesh.points for body in rigid.values())])
        for name, contact in problem.contacts.items():
            rigid_set, (shape, cells) = rigid_sets.rigid_sets.get(name), surface_of(contact.obstacle, scene)
            if rigid_set is None:
                self.blocks[name] = block_of(contact.obstacle, scene)
                continue
            if rigid_set.properties is None:
                shape, weights = shape + rigid_set.center, np.ones((len(shape), 1))
            else:
                weights = rigid_set.properties.weights(shape)
            add(name, shape, cells, _weights(weights, rigid_set.nodes, n))
        for name, body in rigid.items():
            own = rigid_sets.points_of(name)
            add(name, body.mesh.points, body.mesh.cells, _weights(np.ones((len(own), 1)), own[:, None], n))
        for part in self.parts:
            if (one := part.drawn()) is not None:
                own = rigid_sets.drawn_points_of(part.name.removesuffix(SKIN)) if part.name.endswith(SKIN) else None
                nodes, parts = (one.nodes, one.weights) if own is None else (own[:, None], np.ones((len(own), 1)))
                add(part.name, one.points, one.cells, _weights(parts, nodes, n))
        self.points, self._follow = np.concatenate(drawn), sp.csr_array(sp.vstack(follow)) if follow else None

    def at_points(self, values: Array) -> Array:
        """Return values [n, …] of the points of contact at those that are drawn."""
        of_mesh = values[: self.n_mesh] + 0.0  # a copy, without the sign of zeros
        return of_mesh if self._follow is None else np.concatenate([of_mesh, self._follow @ values])

    def velocities(self, v: Array) -> Array:
        """Return the velocities [p, 3] in m/s of the points that are drawn, given those of nodes [n, 3]."""
        return self.at_points(self._points_at(v))

    def displacement(self, q: Array) -> Array:
        """Return the displacements [p, 3] in m of the points at nodal positions [n, 3]."""
        return self.at_points(self._points_at(q) - self._start)


def _weights(values: Array, columns: IntArray, n: int) -> sp.csr_array:
    """Return weights [p, k] of columns [k], or [p, k], as a matrix [p, n]."""
    rows = np.repeat(np.arange(len(values)), values.shape[1])
    every = np.broadcast_to(columns, values.shape).ravel()
    return sp.csr_array((values.ravel(), (rows, every)), shape=(len(values), n))


def fields_of(
    shown: Shown, requested: Collection[str], acting: Acting, state: State
) -> tuple[dict[str, Array], dict[str, dict[str, Array]]]:
    """Return the requested point data and cell data at a state, with the gradients of energies as they act."""
    parts, at_points = shown.parts, {}
    if "velocity" in requested:
        at_points["velocity"] = shown.velocities(state.v)
    at_points |= {name: shown.at_points(one) for name, one in parts.contact_fields(state, acting, requested).items()}
    for name, values in parts.rotations(state, requested):  # the same at all particles, as velocities of a translation
        at_points[name] = shown.velocities(values)
    for name, values in parts.averaged(state, requested):  # zero at all that is no body
        out = np.zeros((len(shown.points), *values.shape[1:]))
        out[: shown.n_mesh] = values[: shown.n_mesh]
        at_points[name] = out
    return at_points, parts.cell_fields(state, requested)
