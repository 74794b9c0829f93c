"""What a rank writes of a frame: the fields of its part, found as one process finds those of the whole."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.outputs.forces import as_it_is
from symplex.fem.system import State, System
from symplex.meshes.series.piece_index import Piece
from symplex.meshes.series.series import Block
from symplex.meshes.series.vtkhdf import VtkHdfWriter
from symplex.parallel.inelastic import InelasticPiece
from symplex.parallel.member import Member
from symplex.parallel.part import Around
from symplex.runs.frames import Shown, fields_of
from symplex.runs.parts import Parts
from symplex.scenario.rigid_nodes import RigidNodeSets
from symplex.scenario.scenario import Scenario


class _ShownPart(Shown):
    """All nodes of a rank, with the ghosts, as what is drawn.

    Parameters
    ----------
    points : float64 [l, 3]
    parts : Parts
    """

    def __init__(self, points: Array, parts: Parts):
        self.points, self.blocks, self.parts, self.n_mesh = points, {}, parts, len(points)

    def at_points(self, values: Array) -> Array:
        """Return values of nodes as they are."""
        return values

    def velocities(self, v: Array) -> Array:
        """Return velocities of nodes as they are."""
        return v

    def displacement(self, q: Array) -> Array:
        """Return the displacements [l, 3] in m."""
        return q - self.points


class FramesOfPart:
    """What a rank writes.

    Parameters
    ----------
    member : Member
    scenario : Scenario
    points : float64 [l, 3]
        Where its nodes are drawn at displacement zero.
    first : mapping of str to int
        The place of the first element of each energy or inelastic part among the cells of its block.
    point_masses : mapping of str to int
        Their nodes in the whole mesh.

    Attributes
    ----------
    piece : Piece
        The cells that count here, and their points.
    layout : mapping of str to tuple of int
        The shapes at a point of the fields at points that all pieces have.
    writer : VtkHdfWriter or None
        Of the file of this rank, once it is open; a rank without cells has none.
    """

    def __init__(
        self,
        member: Member,
        scenario: Scenario,
        points: Array,
        first: Mapping[str, int],
        point_masses: Mapping[str, int],
    ):
        self._member = member
        self.writer: VtkHdfWriter | None = None
        part, around = member.part, member.around
        nodes, own = part.share.nodes, part.share.ghosts
        energies = {name: one.energy for name, one in around.items()}
        inelastic = {name: piece for name, piece in part.inelastic.items() if len(piece.nodes)}
        laws = {name: piece.part for name, piece in inelastic.items()}
        system = System(part.mass, energies, dim=points.shape[1], fixed=part.fixed, inelastic=laws)
        masses = {name: np.flatnonzero(nodes[:own] == node) for name, node in point_masses.items()}
        here = {name: int(found[0]) for name, found in masses.items() if len(found)}
        no_sets = RigidNodeSets([], {}, len(points), framed=False, skins={})
        parts = Parts.of_system(scenario.tables, system, here, no_sets)
        self._shown, self._requested = _ShownPart(points, parts), scenario.tables.output.fields
        cells, at, self._counts = self._cells({**around, **inelastic}, first)
        rows = [some.ravel() for kinds in cells.values() for some in kinds.values()]
        self._used = used = np.unique(np.concatenate([np.empty(0, np.int32), *rows]))
        blocks = {
            name: Block.of({kind: np.searchsorted(used, rows).astype(np.int32) for kind, rows in kinds.items()})
            for name, kinds in cells.items()
        }
        self.piece = Piece(points[used], blocks, nodes[used], at)
        self.layout: Mapping[str, tuple[int, ...]] = {}

    def _cells(
        self, around: Mapping[str, Around | InelasticPiece], first: Mapping[str, int]
    ) -> tuple[dict[str, dict[str, IntArray]], dict[str, NDArray[np.int64]], dict[str, NDArray[np.bool_]]]:
        """Return, by block, its cells here by type, their places in the whole block, and which of all here count."""
        cells: dict[str, dict[str, IntArray]] = {}
        at: dict[str, NDArray[np.int64]] = {}
        counted: dict[str, NDArray[np.bool_]] = {}
        for part in self._shown.parts:
            name, kinds = part.name, part.cells
            counted[name] = np.ones(sum(map(len, kinds.values())), bool)  # of a point mass, which has no energy
            if part.energies:
                counted[name] = part.joined({one: around[one].counts for one in part.energies})
            places = part.joined({one: first[one] + around[one].chosen for one in part.energies})
            at[name] = places[counted[name]].astype(np.int64)
            ends = np.cumsum([len(rows) for rows in kinds.values()])[:-1]
            split = zip(kinds.items(), np.split(counted[name], ends), strict=True)
            cells[name] = {kind: rows[counts] for (kind, rows), counts in split if counts.any()}
        there = {name: kinds for name, kinds in cells.items() if kinds}
        return there, {name: at[name] for name in there}, counted

    def fields(self, t: float) -> tuple[Array, dict[str, Array], dict[str, dict[str, Array]]]:
        """Return the positions of all nodes here, the fields at these as far as they are known here, and of cells."""
        arrays = self._member.local
        state = State(t, arrays["q"], arrays["v"], arrays["a"], internal=self._member.internal)
        return state.q, *fields_of(self._shown, self._requested, as_it_is, state)

    def write(self, t: float) -> tuple[Array, Array] | None:
        """Write a frame, as all ranks do together; return the least and largest coordinates of its points here."""
        member = self._member
        q, at_points, at_cells = np.empty((0, 3)), {}, {}
        error: Exception | None = None
        try:
            with member.limited():
                q, at_points, at_cells = self.fields(t)
        except Exception as problem:  # the others wait to exchange fields
            error = problem
        if not member.all_agree(error is None):
            if error is not None:
                raise error
            return None
        every = {name: at_points.get(name, np.zeros((len(q), *columns))) for name, columns in self.layout.items()}
        own = {name: member.halo.shared(values)[self._used] for name, values in every.items()}
        if self.writer is None:
            return None
        here = {
            field: {name: values[self._counts[name]] for name, values in by_block.items() if name in self.piece.blocks}
            for field, by_block in at_cells.items()
        }
        positions = q[self._used]
        self.writer.append(
            t, positions - self.piece.points, own, {name: found for name, found in here.items() if found}
        )
        return positions.min(axis=0), positions.max(axis=0)
