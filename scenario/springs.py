"""The tables of springs and of point masses, and what they describe."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np

from symplex.base.columns import AXES
from symplex.base.quantities import Name, Text, Triple, not_negative, numbers, positive, shown, vector
from symplex.base.sparse import sp
from symplex.errors import ScenarioError
from symplex.fem.couplings.interpolation import InterpolatedEnergy, Interpolation
from symplex.fem.energies.energy import Array, IntArray
from symplex.fem.measures.anchors import Anchors
from symplex.fem.measures.bars import Bars
from symplex.fem.measures.force_table import ForceTable
from symplex.fem.measures.inelastic_bars import InelasticBars
from symplex.fem.measures.pair_laws import PairLaw
from symplex.meshes.mesh import Mesh
from symplex.scenario.selections import Nodes, nodes_in, nodes_named
from symplex.scenario.table import BodyName, Entry, Need, needs_of_history, one_of
from symplex.scenario.trusses import BreakingKeys, breaking_bar, law_of

if TYPE_CHECKING:
    from symplex.scenario.building import Builder
    from symplex.scenario.framed import Framed
    from symplex.scenario.tables import Tables

_MOST_PAIRED = 2000  # nodes of two groups that are paired with each other


class SpringTable(Nodes, BreakingKeys):
    """Springs from nodes of a body to nodes of a body, or to a fixed point; in a block with a line for each.

    From one node springs go to all on the other side; of groups of one size each node has one, to its neighbour.
    """

    adds_energy = True
    joins = True
    takes_rotations = True
    name: Annotated[Name, "Names their energy and their block."]
    to: Annotated[Triple | None, vector("m"), "Fixed point at the other end."] = None
    to_body: Annotated[BodyName | None, "Body at the other end, instead."] = None
    to_group: Annotated[Text | None, "Group of nodes of that; by default all."] = None
    to_at: Annotated[Triple | None, vector("m"), "Place of the node of that, instead of a group."] = None
    stiffness: Annotated[float | None, positive("N/m of each spring"), "k."] = None
    elongations: Annotated[
        tuple[float, ...] | None, numbers("m"), "Of a spring that is not linear, instead: l − L, ascending."
    ] = None
    forces: Annotated[
        tuple[float, ...] | None,
        numbers("N of each spring"),
        "At these, positive where it pulls; linear between them, constant beyond.",
    ] = None
    length: Annotated[float | None, not_negative("m"), "Natural length L; by default that of the start."] = None

    def _check(self) -> None:
        one_of(self, ["to", "to_body"], "other end")
        if one_of(self, ["stiffness", "forces"], "law") == "forces":
            self.refuse_unused("law", "strength", "fracture_energy", goes_with="a stiffness, not with forces")
            if self.elongations is None or len(self.elongations) != len(self.forces or ()) or len(self.elongations) < 2:
                raise ValueError("needs as many elongations as forces, two at least")
            if any(b <= a for a, b in pairwise(self.elongations)):
                raise ValueError(f"elongations must ascend, got {shown(list(self.elongations))} m")
        else:
            self.refuse_unused("elongations", goes_with="forces")
        if self.to is not None and (self.to_group is not None or self.to_at is not None):
            raise ValueError("to_group and to_at go with to_body, not with a fixed point (to)")
        if self.to_group is not None and self.to_at is not None:
            raise ValueError("has to_group and to_at; give the name of a group, or the place of one node")
        if self.law == "green-strain" and self.length == 0.0:
            raise ValueError('law "green-strain" needs a natural length above 0')
        if self.breaks and (self.to is not None or self.length == 0.0):
            why = "a fixed point (to)" if self.to is not None else "length = 0"
            raise ValueError(f"has strength, which goes with to_body and a length above 0, not with {why}")

    def needs(self) -> Iterable[Need]:
        """Those of springs that break."""
        if self.breaks:
            yield from needs_of_history("its springs break")

    def columns(self, tables: Tables) -> Iterable[str]:
        """Return what its springs store and dissipate if they break."""
        return [f"stored_{self.name}", f"work_{self.name}"] if self.breaks else []

    @property
    def without_secant(self) -> list[str]:
        """Springs to a fixed point."""
        return [] if self.to is None else [self.name]

    def add_stiffness(self, world: Builder) -> None:
        """Add their energy."""
        world.add(self.name, spring_of(self, world.mesh, world.inertia.framed))


class PointMassTable(Entry):
    """A mass with a node and the columns ``position_NAME_x`` … in the history, or more mass at nodes of a body."""

    starts_moving = True
    brings_nodes = True
    takes_rotations = True
    name: Annotated[Name, "Names its node, for all other tables."]
    mass: Annotated[float | None, positive("kg"), "On each node."] = None
    total: Annotated[float | None, positive("kg"), "Shared by the nodes, instead."] = None
    position: Annotated[Triple | None, vector("m"), "Place of a mass with a node."] = None
    body: Annotated[BodyName | None, "It is on nodes of this body, instead."] = None
    group: Annotated[Text | None, "Group of nodes of that; by default all."] = None
    at: Annotated[Triple | None, vector("m"), "Place of the node of that, instead of a group."] = None
    velocity: Annotated[Triple | None, vector("m/s"), "At the start, of a mass with a node; by default at rest."] = None

    def _check(self) -> None:
        one_of(self, ["mass", "total"], "mass")
        one_of(self, ["position", "body"], "place")
        if self.position is None:
            if self.velocity is not None:
                raise ValueError("is on nodes of a body, whose velocity it has; leave velocity out")
            if self.group is not None and self.at is not None:
                raise ValueError("has group and at; give the name of a group, or the place of one node")
        elif self.group is not None or self.at is not None:
            raise ValueError("group and at go with body, not with position")

    @property
    def has_nodes(self) -> bool:
        """Whether it has a node."""
        return self.position is not None

    def within(self, bodies: set[str]) -> PointMassTable | None:
        """Return it, if it is one of them, or on one of them."""
        return self if (self.name if self.has_nodes else self.body) in bodies else None

    def columns(self, tables: Tables) -> Iterable[str]:
        """Its position."""
        return [f"position_{self.name}_{axis}" for axis in AXES] if self.has_nodes else []

    def own_mesh(self, folder: Path) -> Mesh:
        """Return its node."""
        return Mesh(np.array([self.position], float), {"vertex": np.zeros((1, 1), np.int32)})

    def masses(self, mesh: Mesh, n_nodes: int, framed: Mapping[str, Framed]) -> Array:
        """Return what it adds to the nodal masses [n_nodes] in kg; nodes of several particles share it among these."""
        shares: Array | float = 1.0
        if self.has_nodes:
            nodes = mesh.nodes_of(self.name)
        elif (one := framed.get(self.body or "")) is not None:
            nodes = one.nodes_in(mesh, self.group, self.at)
            shares = one.shares(nodes)
        else:
            nodes = nodes_in(mesh, nodes_named(self.body or "", self.group, self.at))
        result = np.zeros(n_nodes)
        parts = np.broadcast_to(shares, nodes.shape)
        result[nodes] = self.mass * parts if self.mass is not None else (self.total or 0.0) * parts / parts.sum()
        return result


Spring = Bars | Anchors | InelasticBars | InterpolatedEnergy


def spring_of(table: SpringTable, mesh: Mesh, framed: Mapping[str, Framed]) -> Spring:
    """Return the energy of springs, by default of the lengths that they have at the start.

    From one node they go to each node of the other end, and from each one to the only one there. Of groups of equal
    size each node has one spring, so that the sum of the squared lengths is the least. Nodes of beams and shells are
    the centres of their particles.
    """
    selected = [nodes_named(table.body, table.group, table.at)]
    if table.to_body is not None:
        selected.append(nodes_named(table.to_body, table.to_group, table.to_at))
    if not any(end.body in framed for end in selected):
        return _springs(table, mesh.points, [nodes_in(mesh, end) for end in selected])
    if table.breaks:
        raise ScenarioError("springs that break go between bodies whose nodes have no rotations; leave strength out.")
    particles = [_particles(mesh, end, framed.get(end.body)) for end in selected]  # [k, 4] each
    rows, numbers = np.unique(np.concatenate(particles), axis=0, return_inverse=True)
    points = np.repeat(np.arange(len(rows)), 4)
    weights = sp.csr_array((np.full(rows.size, 0.25), (points, rows.ravel())), shape=(len(rows), len(mesh.points)))
    centers = Interpolation(weights)
    ends = np.split(numbers.ravel().astype(np.int32), [len(particles[0])])[: len(selected)]
    springs = _springs(table, centers.points(mesh.points), ends)
    assert isinstance(springs, Bars | Anchors), "they do not break"
    return InterpolatedEnergy(springs, centers)


def _particles(mesh: Mesh, end: Nodes, framed: Framed | None) -> IntArray:
    """Return particles [k, 4] of which the nodes of an end are the means, each of them as often as its part."""
    if framed is None:
        return np.repeat(nodes_in(mesh, end)[:, None], 4, axis=1)
    chosen = framed.nodes_in(mesh, end.group, end.at)
    return framed.particles[np.isin(framed.particles[:, 0], chosen)]


def _springs(table: SpringTable, points: Array, ends: list[IntArray]) -> Bars | Anchors | InelasticBars:
    """Return springs between points [p, 3] in m, or from such to a fixed one."""
    if table.to is not None:
        lengths = np.linalg.norm(points[ends[0]] - table.to, axis=1)
        return Anchors(ends[0], table.to, _law(table, lengths))
    pairs = _paired(points, *ends)
    same = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if len(same):
        at = ", ".join(f"{x:.6g}" for x in points[pairs[same[0], 0]])
        raise ScenarioError(f"a spring would join the node at ({at}) m with itself; name two groups without it.")
    lengths = np.linalg.norm(points[pairs[:, 1]] - points[pairs[:, 0]], axis=1)
    if table.breaks:
        if table.length is None and not lengths.min() > 0.0:
            raise ScenarioError("a spring that breaks has no length at the start; give its natural length.")
        return InelasticBars(pairs, breaking_bar(table, table.stiffness or 0.0, _natural(table, lengths)))
    return Bars(pairs, _law(table, lengths))


def _law(table: SpringTable, lengths: Array) -> PairLaw:
    """Return the law of springs that have some lengths at the start."""
    if table.forces is not None and table.elongations is not None:
        return ForceTable(table.elongations, table.forces, _natural(table, lengths))
    return law_of(table.law, table.stiffness, _natural(table, lengths))


def _natural(table: SpringTable, lengths: Array) -> Array | float:
    """Return the natural lengths of springs: the given one, or those that they have."""
    if table.length is not None:
        return table.length
    if table.law == "green-strain" and not lengths.min() > 0.0:
        raise ScenarioError('a spring of law "green-strain" has no length at the start; give its natural length.')
    return lengths


def _paired(points: Array, nodes: IntArray, others: IntArray) -> IntArray:
    if len(nodes) == 1 or len(others) == 1:
        m = max(len(nodes), len(others))
        return np.column_stack([np.broadcast_to(nodes, m), np.broadcast_to(others, m)]).astype(np.int32)
    if len(nodes) != len(others):
        raise ScenarioError(
            f"springs are between {len(nodes)} nodes and {len(others)} others; give groups of the same size, or a "
            "single node (at) on one side."
        )
    if len(nodes) > _MOST_PAIRED:
        raise ScenarioError(f"springs are between {len(nodes):,} nodes each; at most {_MOST_PAIRED:,} can be paired.")
    from scipy.optimize import linear_sum_assignment  # which takes long to import
    from scipy.spatial.distance import cdist

    rows, columns = linear_sum_assignment(cdist(points[nodes], points[others], "sqeuclidean"))
    return np.column_stack([nodes[rows], others[columns]]).astype(np.int32)
