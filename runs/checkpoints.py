"""The checkpoints of a run: in one file, or with the nodes of each rank in its own file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np
from numpy.typing import NDArray

from symplex.base.checkpoint import Checkpoint, Parts, files_of_parts, save_checkpoint, save_part
from symplex.parallel.member import Member
from symplex.parallel.ranks import Ranks
from symplex.time.motion import Motion


@final
class CheckpointsOfRun:
    """Keeps one checkpoint, the last; one that is in parts is there until the next is whole.

    Parameters
    ----------
    path : Path
    ranks : Ranks or None
        Among which the motion is divided.

    Attributes
    ----------
    with_cutbacks : bool
        Whether each rank keeps its own nodes.
    last : Parts or None
        Where the nodes of the last checkpoint are, if in parts.
    """

    def __init__(self, path: Path, ranks: Ranks | None):
        self._path, self._ranks = path, ranks
        self.with_cutbacks = False
        self.last: Parts | None = None

    def save(self, moment: Checkpoint, motion: Motion) -> None:
        """Keep a moment, with its motion."""
        path, parts = self._path, None
        if self._ranks is not None and self.with_cutbacks:
            from symplex.parallel.motion import MotionInParts

            assert isinstance(motion, MotionInParts), "a motion in stages has no frames in pieces"
            here = parts = Parts.after(self.last, self._ranks.size)
            kept = motion.kept_by(lambda rank: KeepPart(path, here))
        else:
            kept = motion.checkpoint()
        save_checkpoint(path, moment._replace(motion=kept, parts=parts))
        if parts is None and self.last is not None:
            for file in files_of_parts(path):
                file.unlink(missing_ok=True)
        self.last = parts


@dataclass
class KeepPart:
    """Write the nodes of a rank to its part of a checkpoint; tell the work done on them."""

    path: Path
    parts: Parts

    def __call__(self, member: Member) -> NDArray[np.int64]:
        """Do it on one rank."""
        share = member.part.share
        save_part(self.path, member.comm.rank, self.parts, share.nodes[: share.ghosts], member.arrays())
        return member.words
