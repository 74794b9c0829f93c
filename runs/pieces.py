"""Frames of a run on several ranks in pieces: each rank finds the fields of its part and writes them to its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from symplex.errors import ScenarioError
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.solids.viscoelastic import Viscoelastic
from symplex.meshes.series.piece_index import PieceIndex, path_of_piece, pieces_of
from symplex.meshes.series.pieces import is_of, new_piece, resumed_piece
from symplex.parallel.contact import is_shared_contact
from symplex.parallel.member import Member
from symplex.parallel.ranks import Ranks
from symplex.runs.frames import Shown
from symplex.runs.part_frames import FramesOfPart
from symplex.runs.parts import BarsPart, BeamPart, BodyPart, Parts, PointPart, RigidPart
from symplex.scenario.scenario import Problem, Scenario

AUTOMATIC = 1_000_000  # points that are drawn, from which on each rank has its own file if nothing else is requested
_KEPT = "frames"


def require_pieces(problem: Problem) -> None:
    """Check that frames of a problem can be written in pieces."""
    name, why = problem.scenario.path.name, ""
    moving = [
        part.name for part in Parts.of(problem) if isinstance(part, RigidPart | BarsPart | BeamPart) and not part.cells
    ]
    if len(problem.stages) > 1:
        why = "the run has several parts, each of which divides the mesh again"
    elif touching := [name for name, energy in problem.system.energies.items() if is_shared_contact(energy)]:
        why = f"the forces and gaps of '{touching[0]}' are those of nodes of several ranks"
    elif moving:
        why = f"'{moving[0]}' is drawn at points that are no nodes of bodies"
    elif creeping := [name for name, part in problem.system.inelastic.items() if isinstance(part, Viscoelastic)]:
        why = f"stresses of '{creeping[0]}' are those of two parts of the system"
    elif problem.scenario.tables.output.format != "vtkhdf":
        why = 'their format is not "vtkhdf"'
    if why:
        raise ScenarioError(
            f"{name}: [output]: frames cannot be in a file for each rank: {why}; leave out partitioned."
        )


def in_pieces(problem: Problem, points: int, ranks: Ranks | None) -> bool:
    """Return whether a run writes frames in pieces: as the scenario says, or if there are many points and it can."""
    requested = problem.scenario.tables.output.partitioned
    if ranks is None or requested is False:
        return False
    try:
        require_pieces(problem)
    except ScenarioError:
        if requested is None:
            return False
        raise
    return requested is True or points >= AUTOMATIC


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
        first = dict.fromkeys((*problem.system.energies, *problem.system.inelastic), 0)
        for body in (part for part in shown.parts if isinstance(part, BodyPart)):
            own = {name: np.full(len(solid.nodes), k) for k, (name, solid) in enumerate(body.solids.items())}
            order = body.joined(own)
            first |= {name: int(np.argmax(order == k)) for k, name in enumerate(body.solids)}
        points, scenario = problem.mesh.points, problem.scenario
        point_masses = {part.name: int(part.nodes[0]) for part in shown.parts if isinstance(part, PointPart)}
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
        """Begin the files."""
        self._ranks.call(lambda rank: OpenPiece(self.path, self._numbers.get(rank), self._layout))
        self._index = PieceIndex(self.path, self._n_points, self._blocks, self._bodies)
        return self

    def fit(self) -> bool:
        """Return whether the files that are there are of the same parts."""
        if pieces_of(self.path) != len(self._bodies):
            return False
        return all(self._ranks.call(lambda rank: Fits(self.path, self._numbers.get(rank))))

    def resume(self, up_to: float, frames: int) -> FramesOfRanks:
        """Go on with the files, without the frames later than a time in s."""
        self._index = PieceIndex.resume(self.path, up_to, frames)  # first, so that no piece ever has fewer frames
        self._ranks.call(lambda rank: OpenPiece(self.path, self._numbers.get(rank), self._layout, (up_to, frames)))
        return self

    def append(self, t: float) -> None:
        """Append a frame of the present state."""
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


# -- what the first rank has all do ----------------------------------------------------------------------------------


class NodesOfRank:
    """Return the nodes of a rank, ghosts included, by their numbers in the whole mesh."""

    def __call__(self, member: Member) -> IntArray:
        """Do it on one rank."""
        return member.part.share.nodes


@dataclass
class TakeFrames:
    """Make ready to write frames; tell the blocks that have cells here, and the shapes of fields at points."""

    scenario: Scenario
    points: Array
    first: Mapping[str, int]
    point_masses: Mapping[str, int]

    def __call__(self, member: Member) -> tuple[list[str], dict[str, tuple[int, ...]]]:
        """Do it on one rank."""
        frames = FramesOfPart(member, self.scenario, self.points, self.first, self.point_masses)
        member.kept[_KEPT] = frames
        with member.limited():
            _, at_points, _ = frames.fields(0.0)
        return list(frames.piece.blocks), {name: values.shape[1:] for name, values in at_points.items()}


@dataclass
class Fits:
    """Return whether the file of a rank is of its part."""

    path: Path
    number: int | None

    def __call__(self, member: Member) -> bool:
        """Do it on one rank."""
        frames: FramesOfPart = member.kept[_KEPT]
        return self.number is None or is_of(path_of_piece(self.path, self.number), frames.piece)


@dataclass
class OpenPiece:
    """Begin the file of a rank, or go on with it without the frames after a time; without a number it has none."""

    path: Path
    number: int | None
    layout: Mapping[str, tuple[int, ...]]
    kept: tuple[float, int] | None = None

    def __call__(self, member: Member) -> None:
        """Do it on one rank."""
        frames: FramesOfPart = member.kept[_KEPT]
        frames.layout = self.layout
        if self.number is None:
            return
        if self.kept is None:
            frames.writer = new_piece(self.path, self.number, frames.piece)
        else:
            frames.writer = resumed_piece(self.path, self.number, *self.kept)


@dataclass
class WritePiece:
    """Write a frame of the present state."""

    t: float

    def __call__(self, member: Member) -> tuple[Array, Array] | None:
        """Do it on one rank."""
        return member.kept[_KEPT].write(self.t)


class ClosePiece:
    """Close the file of a rank."""

    def __call__(self, member: Member) -> None:
        """Do it on one rank."""
        writer = member.kept[_KEPT].writer
        if writer is not None:
            writer.close()
