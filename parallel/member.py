"""What a rank does when it is told to: commands, which the first rank gives to all."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from symplex.errors import StepFailed
from symplex.fem import threads
from symplex.fem.assembly import Array
from symplex.parallel.halo import FailedElsewhere, Halo
from symplex.parallel.part import Part, PartEnergy, Place

if TYPE_CHECKING:
    from mpi4py import MPI

    from symplex.time.explicit.newmark import NewmarkMotion


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
        self.comm, self._threads = comm, threads
        self._moving: NewmarkMotion | None = None
        self._part: Part | None = None
        self.halo: Halo | None = None

    def take(self, part: Part, grid: Mapping[str, Any]) -> None:
        """Take a part, and the times of its steps."""
        from symplex.time.explicit.newmark import NewmarkMotion

        self._part, self.halo = part, Halo(self.comm, part.share.neighbours, part.fixed.shape[1])
        self._moving = NewmarkMotion(part.system(self.halo), grid["t0"], grid["dt"], grid["n"])

    @property
    def motion(self) -> NewmarkMotion:
        """The motion of its part."""
        assert self._moving is not None, "it has taken its part"
        return self._moving

    def begin(self, arrays: Mapping[str, Array]) -> None:
        """Set what moves: ``q``, ``v`` and ``a`` [l, dim]; ghosts do not move by themselves."""
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
            with threads.limited(self._threads):
                motion.approach(motion.t0 + (motion.n + number) * motion.dt, math.inf)
        except FailedElsewhere:
            return None
        except Exception as error:
            place = energy.failed or Place(0, -1, 2, 0)
            return Failure(place._replace(step=motion.n if isinstance(error, StepFailed) else -1), error)
        return None

    def arrays(self) -> Array:
        """Return ``q``, ``v`` and ``a`` of own nodes [3, own, dim]."""
        assert self._part is not None
        arrays, own = self.motion.arrays(), self._part.share.ghosts
        return np.stack([arrays[name][:own] for name in ("q", "v", "a")])


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
    """Tell all that moves."""

    def done(self, member: Member) -> Array:
        """Do it on one rank."""
        return member.arrays()


@dataclass
class Stop:
    """End, with an exit status."""

    status: int
