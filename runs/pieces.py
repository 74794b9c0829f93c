"""Frames of a run on several ranks in pieces: each rank finds the fields of its part and writes them to a file of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import final

import numpy as np
from numpy.typing import NDArray

from symplex.errors import ScenarioError
from symplex.fem.assembly import Array, IntArray
from symplex.fem.measures.anchors import Anchors
from symplex.fem.measures.bars import Bars
from symplex.fem.outputs.forces import as_it_is
from symplex.fem.solids.solid import Solid
from symplex.fem.system import State, System
from symplex.meshes.mesh import Mesh
from symplex.meshes.series.pieces import Piece, PieceIndex, is_of, new_piece, path_of_piece, pieces_of, resumed_piece
from symplex.meshes.series.series import Block
from symplex.parallel.member import Command, Member
from symplex.parallel.part import Around
from symplex.parallel.ranks import Ranks
from symplex.runs.frames import Shown, fields_of
from symplex.scenario.joined_parts import joined_values, parts_by_body
from symplex.scenario.riders import Riders
from symplex.scenario.scenario import Problem, Scenario
from symplex.time.explicit.newmark import Newmark

AUTOMATIC = 1_000_000  # points that are drawn, from which on each rank has a file of its own if nothing else is wanted
_KEPT = "frames"


def require_pieces(problem: Problem) -> None:
    """Check that frames of a problem can be written in pieces.

    Raises
    ------
    ScenarioError
        If something is drawn that is not of the nodes of one rank.
    """
    if len(problem.stages) > 1:
        raise ScenarioError(
            f"{problem.scenario.path.name}: [output]: frames cannot be in a file for each rank in a run of several parts, "
            "which divide the mesh anew; leave out partitioned."
        )
    moving = [*problem.riders.riders, *(name for name, one in problem.springs.items() if not isinstance(one, Bars))]
    if moving:
        raise ScenarioError(
            f"{problem.scenario.path.name}: [output]: frames cannot be in a file for each rank, because '{moving[0]}' is "
            "drawn at points that are no nodes of bodies; leave out partitioned."
        )
    if problem.scenario.tables.output.format != "vtkhdf":
        raise ScenarioError(
            f'{problem.scenario.path.name}: [output]: frames in a file for each rank are of format = "vtkhdf".'
        )


def in_pieces(problem: Problem, points: int, ranks: Ranks | None) -> bool:
    """Return whether a run writes frames in pieces: as the scenario says, or if there are many points and it can.

    Raises
    ------
    ScenarioError
        If it cannot as the scenario says.
    """
    wanted = problem.scenario.tables.output.partitioned
    if ranks is None or wanted is False:
        return False
    try:
        require_pieces(problem)
    except ScenarioError:
        if wanted is None:
            return False
        raise
    return wanted is True or points >= AUTOMATIC


@final
class FramesOfRanks:
    """The frames of a run, written by all ranks; a context manager on the first one.

    Parameters
    ----------
    ranks : Ranks
        That have their parts.
    problem : Problem
    shown : Shown
        What is drawn of the whole.
    path : Path
        Of the index.
    """

    def __init__(self, ranks: Ranks, problem: Problem, shown: Shown, path: Path):
        self._ranks, self.path = ranks, path
        nodes: list[IntArray] = ranks.call(lambda rank: NodesOfRank())
        first = {name: 0 for name in problem.system.energies}
        for solids in problem.parts.values():
            at = 0
            for kind in dict.fromkeys(solid.kind for solid in solids.values()):
                for name, solid in solids.items():
                    if solid.kind == kind:
                        first[name], at = at, at + len(solid.nodes)
        points, scenario, point_masses = problem.mesh.points, problem.scenario, problem.point_masses
        found: list[tuple[list[str], dict[str, tuple[int, ...]]]] = ranks.call(
            lambda rank: TakeFrames(scenario, points[nodes[rank]], first, point_masses)
        )
        bodies = [names for names, _ in found]
        self._layout = {name: shape for _, layout in found for name, shape in layout.items()}
        has_piece = [rank for rank, names in enumerate(bodies) if names]
        self._numbers = {rank: k for k, rank in enumerate(has_piece)}
        self._bodies = [bodies[rank] for rank in has_piece]
        self._blocks = {name: block if block.is_obstacle else None for name, block in shown.blocks.items()}
        self._n_points = len(shown.points)
        self._index: PieceIndex | None = None

    def begin(self) -> FramesOfRanks:
        """Begin the files.

        Raises
        ------
        OutputError
            If they cannot be written.
        """
        self._ranks.call(lambda rank: OpenPiece(self.path, self._numbers.get(rank), self._layout))
        self._index = PieceIndex(self.path, self._n_points, self._blocks, self._bodies)
        return self

    def fit(self) -> bool:
        """Return whether the files that are there are of the same parts."""
        if pieces_of(self.path) != len(self._bodies):
            return False
        return all(self._ranks.call(lambda rank: Fits(self.path, self._numbers.get(rank))))

    def resume(self, up_to: float, frames: int) -> FramesOfRanks:
        """Go on with the files, without the frames later than a time in s.

        Raises
        ------
        OutputError
            If they cannot be read or written.
        """
        self._index = PieceIndex.resume(self.path, up_to, frames)  # first, so that no piece ever has fewer frames
        self._ranks.call(lambda rank: OpenPiece(self.path, self._numbers.get(rank), self._layout, (up_to, frames)))
        return self

    def append(self, t: float) -> None:
        """Append a frame of the present state.

        Raises
        ------
        OutputError
            If it cannot be written.
        """
        assert self._index is not None, "it has begun"
        ends = [one for one in self._ranks.call(lambda rank: WritePiece(t)) if one is not None]
        self._index.append(t, *(how([one[k] for one in ends], axis=0) for k, how in enumerate((np.min, np.max))))

    def close(self) -> None:
        """Close the files."""
        if self._index is not None:
            self._index.close()

    def __enter__(self) -> FramesOfRanks:
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        if kind is None:
            self._ranks.call(lambda rank: ClosePiece())
        self.close()


@dataclass(frozen=True)
class _PartOfProblem(Problem):
    """A problem as far as it is on a rank: the bodies, trusses, springs and point masses that have cells there."""

    nodes_of_masses: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def parts(self) -> dict[str, dict[str, Solid]]:
        """The strain energies of each body by name."""
        found = parts_by_body([body.name for body in self.scenario.tables.body], self.solids)
        return {name: solids for name, solids in found.items() if solids}

    @cached_property
    def trusses(self) -> dict[str, Bars]:
        """The energies of trusses by name."""
        return self._bars([table.name for table in self.scenario.tables.truss])

    @cached_property
    def springs(self) -> dict[str, Bars | Anchors]:
        """The energies of springs by name."""
        return {**self._bars([table.name for table in self.scenario.tables.spring])}

    @cached_property
    def point_masses(self) -> dict[str, int]:
        """The nodes of point masses by name."""
        return dict(self.nodes_of_masses)

    def _bars(self, names: Sequence[str]) -> dict[str, Bars]:
        found = {name: self.system.energies.get(name) for name in names}
        return {name: energy for name, energy in found.items() if isinstance(energy, Bars)}


class _ShownPart(Shown):
    """All nodes of a rank, with the ghosts, as what is drawn.

    Parameters
    ----------
    points : float64 [l, 3]
    """

    def __init__(self, points: Array):
        self.points, self.blocks = points, {}

    def at_points(self, values: Array) -> Array:
        """Return values of nodes as they are."""
        return values

    def velocities(self, v: Array) -> Array:
        """Return velocities of nodes as they are."""
        return v

    def displacement(self, q: Array) -> Array:
        """Return the displacements [l, 3] in m."""
        return q - self.points


class _FramesOfPart:
    """What a rank writes.

    Parameters
    ----------
    member : Member
    scenario : Scenario
    points : float64 [l, 3]
        Where its nodes are drawn at displacement zero.
    first : mapping of str to int
        The place of the first element of each energy among the cells of its block.
    point_masses : mapping of str to int
        Their nodes in the whole mesh.
    """

    def __init__(
        self,
        member: Member,
        scenario: Scenario,
        points: Array,
        first: Mapping[str, int],
        point_masses: Mapping[str, int],
    ):
        self._member, self.writer = member, None
        part, around = member.part, member.around
        nodes, own = part.share.nodes, part.share.ghosts
        energies = {name: one.energy for name, one in around.items()}
        system = System(part.mass, energies, dim=points.shape[1], fixed=part.fixed)
        still = State(0.0, points, np.zeros_like(points), np.zeros_like(points))
        masses = {name: np.flatnonzero(nodes[:own] == node) for name, node in point_masses.items()}
        self._problem = _PartOfProblem(
            scenario, Mesh(points, {}), system, still, Newmark(), 0, Riders([], {}, len(points)),
            nodes_of_masses={name: int(found[0]) for name, found in masses.items() if len(found)},
        )  # fmt: skip
        self._shown = _ShownPart(points)
        cells, at, self._counts = self._cells(around, first)
        used = np.unique(np.concatenate([np.empty(0, np.int32), *(r.ravel() for k in cells.values() for r in k.values())]))
        self._used = used
        blocks = {
            name: Block.of({kind: np.searchsorted(used, rows).astype(np.int32) for kind, rows in kinds.items()})
            for name, kinds in cells.items()
        }
        self.piece = Piece(points[used], blocks, nodes[used], at)
        self.layout: Mapping[str, tuple[int, ...]] = {}

    def _cells(
        self, around: Mapping[str, Around], first: Mapping[str, int]
    ) -> tuple[dict[str, dict[str, IntArray]], dict[str, NDArray[np.int64]], dict[str, NDArray[np.bool_]]]:
        """Return, by block, its cells here by type, their places in the whole block, and which of all here count."""
        cells: dict[str, dict[str, IntArray]] = {}
        at: dict[str, NDArray[np.int64]] = {}
        counted: dict[str, NDArray[np.bool_]] = {}
        for name, solids in self._problem.parts.items():
            counts = {solid: around[solid].counts for solid in solids}
            places = joined_values(solids, {solid: first[solid] + around[solid].chosen for solid in solids})
            counted[name] = joined_values(solids, counts)
            at[name] = places[counted[name]].astype(np.int64)
            kinds = dict.fromkeys(solid.kind for solid in solids.values())
            rows = {k: np.concatenate([s.nodes[counts[n]] for n, s in solids.items() if s.kind == k]) for k in kinds}
            cells[name] = {kind: some for kind, some in rows.items() if len(some)}
        for name, bars in (self._problem.trusses | self._problem.springs).items():
            counted[name] = around[name].counts
            at[name] = around[name].chosen[counted[name]].astype(np.int64)
            cells[name] = {"line": bars.nodes[counted[name]]} if len(at[name]) else {}
        for name, node in self._problem.point_masses.items():
            at[name], cells[name] = np.zeros(1, np.int64), {"vertex": np.array([[node]], np.int32)}
        there = {name: kinds for name, kinds in cells.items() if kinds}
        return there, {name: at[name] for name in there}, counted

    def fields(self, t: float) -> tuple[Array, dict[str, Array], dict[str, dict[str, Array]]]:
        """Return the positions of all nodes here, the fields at these as far as they are known here, and of cells."""
        arrays = self._member.motion.arrays()
        state = State(t, arrays["q"], arrays["v"], arrays["a"])
        return state.q, *fields_of(self._problem, self._shown, as_it_is, state)

    def write(self, t: float) -> tuple[Array, Array] | None:
        """Write a frame; return the least and the largest coordinates in it, if it has any points here."""
        member = self._member
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
        shape = len(q)
        own = {name: at_points.get(name, np.zeros((shape, *columns))) for name, columns in self.layout.items()}
        assert member.halo is not None
        own = {name: member.halo.shared(values)[self._used] for name, values in own.items()}
        if self.writer is None:
            return None
        here = {
            field: {name: values[self._counts[name]] for name, values in by_block.items() if name in self.piece.blocks}
            for field, by_block in at_cells.items()
        }
        positions = q[self._used]
        self.writer.append(t, positions - self.piece.points, own, {name: found for name, found in here.items() if found})
        return positions.min(axis=0), positions.max(axis=0)


# -- what the first rank has all do ----------------------------------------------------------------------------------


class NodesOfRank(Command):
    """Tell the nodes of a rank, ghosts included, by their numbers in the whole mesh."""

    def done(self, member: Member) -> IntArray:
        """Do it on one rank."""
        return member.part.share.nodes


@dataclass
class TakeFrames(Command):
    """Make ready to write frames; tell the blocks that have cells here, and the shapes of fields at points."""

    scenario: Scenario
    points: Array
    first: Mapping[str, int]
    point_masses: Mapping[str, int]

    def done(self, member: Member) -> tuple[list[str], dict[str, tuple[int, ...]]]:
        """Do it on one rank."""
        frames = _FramesOfPart(member, self.scenario, self.points, self.first, self.point_masses)
        member.kept[_KEPT] = frames
        with member.limited():
            _, at_points, _ = frames.fields(0.0)
        return list(frames.piece.blocks), {name: values.shape[1:] for name, values in at_points.items()}


@dataclass
class Fits(Command):
    """Tell whether the file of a rank is of its part."""

    path: Path
    number: int | None

    def done(self, member: Member) -> bool:
        """Do it on one rank."""
        frames: _FramesOfPart = member.kept[_KEPT]
        return self.number is None or is_of(path_of_piece(self.path, self.number), frames.piece)


@dataclass
class OpenPiece(Command):
    """Begin the file of a rank, or go on with it without the frames after a time; without a number it has none."""

    path: Path
    number: int | None
    layout: Mapping[str, tuple[int, ...]]
    kept: tuple[float, int] | None = None

    def done(self, member: Member) -> None:
        """Do it on one rank."""
        frames: _FramesOfPart = member.kept[_KEPT]
        frames.layout = self.layout
        if self.number is None:
            return
        if self.kept is None:
            frames.writer = new_piece(self.path, self.number, frames.piece)
        else:
            frames.writer = resumed_piece(self.path, self.number, *self.kept)


@dataclass
class WritePiece(Command):
    """Write a frame of the present state."""

    t: float

    def done(self, member: Member) -> tuple[Array, Array] | None:
        """Do it on one rank."""
        return member.kept[_KEPT].write(self.t)


class ClosePiece(Command):
    """Close the file of a rank."""

    def done(self, member: Member) -> None:
        """Do it on one rank."""
        writer = member.kept[_KEPT].writer
        if writer is not None:
            writer.close()
