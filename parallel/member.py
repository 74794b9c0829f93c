"""What a rank does when it is told to: commands, which the first rank gives to all."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from symplex.errors import StepFailed
from symplex.fem import threads
from symplex.fem.assembly import Array
from symplex.parallel.halo import FailedElsewhere, Halo
from symplex.parallel.part import Part, PartEnergy, Place
from symplex.parallel.part_motion import PartMotion
from symplex.parallel.reductions import Reductions

if TYPE_CHECKING:
    from mpi4py import MPI


@dataclass
class Failure:
    """What went wrong on a rank; the first place is that of the error that one process would have told."""

    place: Place
    error: Exception


class Member:
    """The part of a rank, in motion.

    Parameters
    ----------
    comm : MPI.Comm
    threads : int
        How many threads its loops may have.
    """

    def __init__(self, comm: MPI.Comm, threads: int):
        self.comm, self.threads = comm, threads
        self._moving: PartMotion | None = None
        self._part: Part | None = None
        self.halo: Halo | None = None
        self.implicit: Any = None  # an `ImplicitPart`, if it moves in implicit steps

    def take(self, part: Part, grid: Mapping[str, Any]) -> None:
        """Take a part, and the times of its steps."""
        self._part, self.halo = part, Halo(self.comm, part.share.neighbours, part.fixed.shape[1])
        system = part.system(self.halo)
        self._moving = PartMotion(system, grid["t0"], grid["dt"], grid["n"], part.share.ghosts, part.supports)

    @property
    def motion(self) -> PartMotion:
        """The motion of its part."""
        assert self._moving is not None, "it has taken its part"
        return self._moving

    def reductions(self) -> Reductions:
        """Return what all ranks find together."""
        return Reductions(self.comm)

    def begin(self, arrays: Mapping[str, Array]) -> None:
        """Set what moves, of own nodes and ghosts [..., l, dim]; ghosts do not move by themselves."""
        assert self._part is not None
        ghosts = self._part.share.ghosts
        self.motion.restore(arrays)
        for name in ("v", "a"):
            self.motion.arrays()[name][ghosts:] = 0.0

    def steps(self, number: int) -> Failure | None:
        """Take steps; return what failed, if anything did."""
        motion = self.motion
        assert self.halo is not None
        self.halo.left = number
        energy = motion.system.energies["part"]
        assert isinstance(energy, PartEnergy)
        try:
            with threads.limited(self.threads):
                motion.approach(motion.t0 + (motion.n + number) * motion.dt, math.inf)
        except FailedElsewhere:
            return None
        except Exception as error:
            place = energy.failed or Place(0, -1, 2, 0)
            return Failure(place._replace(step=motion.n if isinstance(error, StepFailed) else -1), error)
        return None

    def arrays(self) -> dict[str, Array]:
        """Return what moves, of own nodes [..., own, dim]."""
        assert self._part is not None
        own = self._part.share.ghosts
        return {name: np.ascontiguousarray(array[..., :own, :]) for name, array in self.motion.arrays().items()}


class Command:
    """Something that all ranks do together; `done` returns what the first rank is to know."""

    def done(self, member: Member) -> Any:
        """Do it on one rank."""
        raise NotImplementedError


@dataclass
class Take(Command):
    """Take a part in its initial state."""

    part: Part
    grid: Mapping[str, Any]
    arrays: Mapping[str, Array]

    def done(self, member: Member) -> None:
        """Do it on one rank."""
        member.take(self.part, self.grid)
        member.begin(self.arrays)


@dataclass
class Steps(Command):
    """Take steps."""

    number: int

    def done(self, member: Member) -> Failure | None:
        """Do it on one rank."""
        return member.steps(self.number)


@dataclass
class Arrays(Command):
    """Tell all that moves, and the work done."""

    def done(self, member: Member) -> tuple[dict[str, Array], NDArray[np.int64]]:
        """Do it on one rank."""
        return member.arrays(), member.motion.words


@dataclass
class Stop:
    """End, with an exit status."""

    status: int
