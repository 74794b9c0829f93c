"""What is kept of a run at a moment: the points that are drawn, blocks, and fields on them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import scipy.sparse as sp

from symplex.fem.energy import Array, IntArray
from symplex.fem.measures.anchors import Anchors
from symplex.fem.measures.bars import Bars
from symplex.fem.outputs.forces import Acting
from symplex.fem.outputs.solid_fields import QUANTITIES
from symplex.fem.solids.viscoelastic import Viscoelastic
from symplex.fem.system import State
from symplex.meshes.series.series import Block
from symplex.runs.shapes import block_of, surface_of
from symplex.scenario.joined_parts import joined_cells, joined_values
from symplex.scenario.scenario import Problem
from symplex.scenario.viscous import overstress_name

NODAL = "nodal_"  # begins the names of fields that are averaged at nodes


class Shown:
    """What of a problem is drawn: the nodes of its mesh, and surfaces that nodes carry which are obstacles.

    Attributes
    ----------
    points : float64 [p, 3]
        The points of bodies, of springs that end at fixed points, and of obstacles that move, at the start, in m.
    blocks : mapping of str to Block
        One for each body and obstacle.
    """

    def __init__(self, problem: Problem):
        mesh, riders = problem.mesh, problem.riders
        self.blocks = {name: Block.of(joined_cells(solids)) for name, solids in problem.parts.items()}
        self.blocks |= {name: Block.of({"line": bars.nodes}) for name, bars in problem.trusses.items()}
        self.blocks |= {
            name: Block.of({"line": springs.nodes})
            for name, springs in problem.springs.items()
            if isinstance(springs, Bars)
        }
        self.blocks |= {
            name: Block.of({"vertex": np.array([[node]], np.int32)}) for name, node in problem.point_masses.items()
        }
        self._points_at = riders.points
        self._start = self._points_at(riders.positions(mesh.points))  # a run may begin deformed
        n = len(self._start)
        # What is drawn follows the points of contact: those of bodies as they are, others by weights [p, n].
        drawn, follow = [mesh.points], [sp.eye_array(len(mesh.points), n)]

        def add(name: str, shape: Array, cells: Mapping[str, IntArray], weights: sp.sparray) -> None:
            first = np.int32(sum(map(len, drawn)))
            self.blocks[name] = Block.of({kind: rows + first for kind, rows in cells.items()})
            drawn.append(shape)
            follow.append(weights)

        for name, springs in problem.springs.items():
            if isinstance(springs, Anchors):  # each from its node to the point, which does not move
                ends = np.full(len(springs.nodes), sum(map(len, drawn)), np.int32)
                self.blocks[name] = Block.of({"line": np.column_stack([springs.nodes[:, 0], ends])})
                drawn.append(springs.point[None])
                follow.append(sp.csr_array((1, n)))
        rigid = {} if riders.bodies is None else riders.bodies.bodies
        scene = np.concatenate([mesh.points, *(body.mesh.points for body in rigid.values())])
        for name, contact in problem.contacts.items():
            rider, (shape, cells) = riders.riders.get(name), surface_of(contact.obstacle, scene)
            if rider is None:
                self.blocks[name] = block_of(contact.obstacle, scene)
                continue
            if rider.properties is None:
                shape, weights = shape + rider.center, np.ones((len(shape), 1))
            else:
                weights = rider.properties.weights(shape)
            add(name, shape, cells, _weights(weights, rider.nodes, n))
        for name, body in rigid.items():
            own = riders.points_of(name)
            add(name, body.mesh.points, body.mesh.cells, _weights(np.ones((len(own), 1)), own[:, None], n))
        self.points, self._follow = np.concatenate(drawn), sp.csr_array(sp.vstack(follow))

    def at_points(self, values: Array) -> Array:
        """Return values [n, …] of the points of contact at those that are drawn."""
        return self._follow @ values

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
    problem: Problem, shown: Shown, acting: Acting, state: State
) -> tuple[dict[str, Array], dict[str, dict[str, Array]]]:
    """Return the wanted point data and cell data at a state, with the gradients of energies as they act."""
    wanted = problem.scenario.tables.output.fields
    at_points: dict[str, Array] = {}
    if "velocity" in wanted:
        at_points["velocity"] = shown.velocities(state.v)
    at_points |= {name: shown.at_points(values) for name, values in _of_contact(problem, acting, state, wanted).items()}
    at_cells = {}
    if "von_mises" in wanted and problem.solids:
        solids = problem.solids
        stresses = {name: solids[name].von_mises(state.q, _overstress(problem, state, name)) for name in solids}
        at_cells["von_mises"] = {name: joined_values(solids, stresses) for name, solids in problem.parts.items()}
    at_cells |= _of_solids(problem, state, [name for name in wanted if name in QUANTITIES and name != "von_mises"])
    at_points |= _averaged(problem, shown, state, [name for name in wanted if name.startswith(NODAL)])
    bars = problem.trusses | problem.springs
    if bars and "axial_force" in wanted:
        at_cells["axial_force"] = {name: energy.tensions(state.q) for name, energy in bars.items()}
    return at_points, at_cells


def _of_solids(problem: Problem, state: State, wanted: Sequence[str]) -> dict[str, dict[str, Array]]:
    """Return wanted fields of the elements of bodies."""
    if not (wanted and problem.solids):
        return {}
    fields, found = problem.solid_fields, {}
    for field in wanted:
        values = {name: fields.of_elements(field, state, name) for name in problem.solids}  # pyright: ignore
        found[field] = {name: joined_values(solids, values) for name, solids in problem.parts.items()}
    return found


def _averaged(problem: Problem, shown: Shown, state: State, wanted: Sequence[str]) -> dict[str, Array]:
    """Return wanted fields of bodies, averaged at the points that are drawn: zero at all that is no body."""
    if not (wanted and problem.solids):
        return {}
    fields, n = problem.solid_fields, len(problem.mesh.points)
    found = {}
    for name in wanted:
        values = fields.at_nodes(name.removeprefix(NODAL), state)  # pyright: ignore
        out = np.zeros((len(shown.points), *values.shape[1:]))
        out[:n] = values[:n]
        found[name] = out
    return found


def _overstress(problem: Problem, state: State, name: str) -> Array | None:
    """Return the overstress [m, 3, 3] in Pa of a solid, if it is viscoelastic and not relaxed."""
    name = overstress_name(name)
    part, z = problem.system.inelastic.get(name), state.internal.get(name)
    return part.cauchy(state.q, z) if isinstance(part, Viscoelastic) and z is not None else None


def _of_contact(problem: Problem, acting: Acting, state: State, wanted: Collection[str]) -> dict[str, Array]:
    """Return the wanted fields [n, …] of contact with obstacles and between bodies at points, as the motion feels it.

    Pressures are forces per area at rest, of the surfaces of bodies that may touch each other.
    """
    points = problem.riders.points(state.q)
    forces = np.zeros_like(points)
    for name, contact in problem.contacts.items():
        of_nodes = contact is problem.system.energies[name]
        gradient = acting(contact, state) if of_nodes else contact.gradient(points[contact.nodes])
        forces[contact.nodes[:, 0]] -= gradient[:, 0]
    fields = {"contact_force": forces} if problem.contacts or problem.body_contacts else {}
    if problem.body_contacts:
        states = []
        for name, energy in problem.body_contacts.items():
            of_nodes = energy is problem.system.energies[name]
            gradient = acting(energy, state) if of_nodes else None
            states.append(energy.at(problem.points_in_contact(name, state.q), gradient))
        # Some are of nodes and some of points, which begin with the same bodies.
        of_bodies, farthest = np.zeros_like(points), max(one.farthest for one in states)
        pressures, gaps = np.zeros(len(points)), np.full(len(points), farthest)
        for one in states:
            own = one.surface.vertices
            of_bodies[own] += one.nodal_forces()[own]
            gap = one.nodal_gaps()[own]
            gaps[own] = np.minimum(gaps[own], np.where(gap < one.farthest, gap, farthest))
        forces += of_bodies
        for surface in (energy.surface for energy in problem.body_contacts.values()):
            pressures[surface.vertices] = np.linalg.norm(forces[surface.vertices], axis=1) / surface.vertex_areas
        fields |= {"contact_pressure": pressures, "gap": gaps}
    return {name: values for name, values in fields.items() if name in wanted}
