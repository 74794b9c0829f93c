"""What a rank does when it is told to: commands, which the first rank gives to all."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from symplex.errors import StepFailed
from symplex.fem import threads
from symplex.fem.assembly import Array, IntArray
from symplex.fem.system import System
from symplex.parallel.exact_sum import WORDS
from symplex.parallel.halo import FailedElsewhere, Halo
from symplex.parallel.part import Around, Part, PartEnergy, Place
from symplex.parallel.part_motion import PartMotion
from symplex.parallel.reductions import Reductions
from symplex.parallel.sums import RankSums, sums_of_rank

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
        self._system: System | None = None
        self.halo: Halo | None = None
        self.implicit: Any = None  # an `ImplicitPart`, if it moves in implicit steps
        self.kept: dict[str, Any] = {}  # by commands, for others

    def take(self, part: Part) -> None:
        """Take a part; what it had before is given up."""
        self._moving, self.implicit, self.kept = None, None, {}
        self._part = part
        self.halo = self.reductions().halo(part.share.neighbours, part.fixed.shape[1], 1 + part.sends_velocities)
        self._system = part.system(self.halo)

    def take_implicit(self, part: Part, implicit: Any) -> None:
        """Take a part that moves in implicit steps."""
        self._moving, self._system = None, None
        self._part, self.implicit = part, implicit
        self.halo = self.reductions().halo(part.share.neighbours, part.fixed.shape[1])

    @property
    def motion(self) -> PartMotion:
        """The motion of its part."""
        assert self._moving is not None, "it has taken its part"
        return self._moving

    def reductions(self) -> Reductions:
        """Return what all ranks find together."""
        return Reductions(self.comm)

    def begin(self, grid: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Begin with the times of steps and what moves, of own nodes and ghosts [..., l, dim].

        Ghosts do not move by themselves.
        """
        part, ghosts = self.part, self.part.share.ghosts
        assert self._system is not None, "it has taken its part"
        self._moving = PartMotion(self._system, grid["t0"], grid["dt"], grid["n"], part)
        self.motion.restore(arrays)
        self.energy.begin(arrays["q"])
        for name in ("v", "a"):
            self.motion.arrays()[name][ghosts:] = 0.0

    def steps(self, number: int) -> Failure | None:
        """Take steps; return what failed, if anything did."""
        motion = self.motion
        assert self.halo is not None
        self.halo.left = number
        try:
            with self.limited():
                motion.approach(motion.t0 + (motion.n + number) * motion.dt, math.inf)
        except FailedElsewhere:
            return None
        except Exception as error:
            if self.energy.failed is None:  # after the exchange, which has not told the others
                self.halo.end()
            place = self.energy.failed or Place(0, -1, 2, 0)
            return Failure(place._replace(step=motion.n if isinstance(error, StepFailed) else -1), error)
        return None

    def limited(self) -> AbstractContextManager[None]:
        """Return a context in which loops have as many threads as this rank may have."""
        return threads.limited(self.threads)

    def all_agree(self, agrees: bool) -> bool:
        """Return whether all ranks agree; all ask together."""
        return self.comm.allreduce(int(agrees)) == self.comm.size

    @property
    def part(self) -> Part:
        """Its part."""
        assert self._part is not None, "it has taken its part"
        return self._part

    @property
    def around(self) -> Mapping[str, Around]:
        """By the names of energies, all stencils around its own nodes, where there are any."""
        return self.energy.around if self.implicit is None else self.implicit.around

    def sums(self) -> RankSums:
        """Return the sums over own nodes, and over the stencils that are counted here."""
        own, arrays = self.part.share.ghosts, self.local
        counted = self.energy.counted if self.implicit is None else self.implicit.counted
        with self.limited():
            return sums_of_rank(
                counted, self.part.mass[:own], (arrays["q"], arrays["v"][:own], arrays["a"][:own]), self.words
            )

    def some(self, places: IntArray) -> NDArray[np.float64]:
        """Return positions, velocities and accelerations [3, s, dim] of own nodes by their places [s]."""
        arrays = self.local
        return np.stack([arrays[name][places] for name in ("q", "v", "a")])

    @property
    def energy(self) -> PartEnergy:
        """All energies of its part."""
        assert self._system is not None, "it has taken its part"
        energy = self._system.energies["part"]
        assert isinstance(energy, PartEnergy)
        return energy

    def arrays(self) -> dict[str, Array]:
        """Return what moves, of own nodes [..., own, dim]."""
        own = self.part.share.ghosts
        return {name: np.ascontiguousarray(array[..., :own, :]) for name, array in self.local.items()}

    @property
    def local(self) -> dict[str, Array]:
        """What moves, of own nodes and ghosts [..., l, dim]."""
        return self.motion.arrays() if self.implicit is None else self.implicit.local

    @property
    def words(self) -> NDArray[np.int64]:
        """The work done on own nodes (see `PartLedger`); of implicit steps all ranks know all of it."""
        return self.motion.words if self.implicit is None else np.zeros((0, WORDS), np.int64)


class Command:
    """Something that all ranks do together; `done` returns what the first rank is to know."""

    def done(self, member: Member) -> Any:
        """Do it on one rank."""
        raise NotImplementedError


@dataclass
class Begin(Command):
    """Begin a motion of the part that it has."""

    grid: Mapping[str, Any]
    arrays: Mapping[str, Array]

    def done(self, member: Member) -> None:
        """Do it on one rank."""
        member.begin(self.grid, self.arrays)


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
        return member.arrays(), member.words


@dataclass
class Summed(Command):
    """Tell energies, momenta and work as sums."""

    def done(self, member: Member) -> RankSums:
        """Do it on one rank."""
        return member.sums()


@dataclass
class Some(Command):
    """Tell positions, velocities and accelerations of some own nodes, by their places."""

    places: IntArray

    def done(self, member: Member) -> Array:
        """Do it on one rank."""
        return member.some(self.places)


@dataclass
class Stop:
    """End, with an exit status."""

    status: int
