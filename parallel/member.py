"""What a rank does: commands, which the first rank gives to all, are functions of a `Member`, mostly its methods."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.compiled import threads
from symplex.parallel.exact_sum import WORDS
from symplex.parallel.halo import FailedElsewhere, Halo
from symplex.parallel.inelastic import InelasticPiece
from symplex.parallel.part import Around, Part, Place
from symplex.parallel.part_motion import Method, PartMotion, motion_of
from symplex.parallel.part_system import SubdomainSystem
from symplex.parallel.reductions import Reductions
from symplex.parallel.sums import RankSums, sums_of_rank
from symplex.time.implicit.implicit import ImplicitMotion
from symplex.time.internal import stored_as
from symplex.time.motion import LISTED_AT

if TYPE_CHECKING:
    from mpi4py import MPI


@dataclass
class Failure:
    """What went wrong on a rank; the first place is that of the error that one process would have reported."""

    place: Place
    error: Exception


class Counts(NamedTuple):
    """What has been counted in implicit steps, by all ranks alike."""

    arrays: dict[str, Array]  # of a checkpoint: counts, and the work done
    statistics: dict[str, float]
    steepness: float = 0.0  # of explicit steps, on this rank (`Inelastic.steepness`)


class Member:
    """The part of a rank, in motion.

    Parameters
    ----------
    comm : MPI.Comm
    threads : int
        How many threads its loops may have.

    Attributes
    ----------
    kept : dict
        What commands keep for others.
    """

    def __init__(self, comm: MPI.Comm, threads: int):
        self.comm, self.threads = comm, threads
        self._system: SubdomainSystem | None = None
        self._motion: PartMotion | ImplicitMotion | None = None
        self.kept: dict[str, Any] = {}

    def reductions(self) -> Reductions:
        """Return what all ranks find together."""
        return Reductions(self.comm)

    def take(self, part: Part) -> None:
        """Take a part; what it had before is given up."""
        self._motion, self._system, self.kept = None, None, {}
        self._system = SubdomainSystem(part, self.reductions())

    @property
    def system(self) -> SubdomainSystem:
        """The system of its part."""
        assert self._system is not None, "it has taken its part"
        return self._system

    @property
    def motion(self) -> PartMotion | ImplicitMotion:
        """The motion of its part."""
        assert self._motion is not None, "it has begun"
        return self._motion

    @property
    def part(self) -> Part:
        """Its part."""
        return self.system.part

    @property
    def halo(self) -> Halo:
        """The exchange of what ghosts have."""
        return self.system.halo

    @property
    def around(self) -> Mapping[str, Around]:
        """By the names of energies, all stencils around its own nodes, where there are any."""
        return self.system.around

    def begin(self, method: Method, grid: Mapping[str, Any], arrays: Mapping[str, Array]) -> Counts:
        """Begin a motion with the times of steps and what a checkpoint has, of own nodes and ghosts [..., l, dim]."""
        system = self.system
        system.forget()
        self._motion = motion_of(method, system, **grid)
        self._motion.restore(arrays)
        if not system.agrees:  # ghosts do not move by themselves
            for name in ("v", "a"):
                self._motion.arrays()[name][system.n_own :] = 0.0
        return self.counts()

    def steps(self, number: int, parts: int = 1) -> Failure | Counts:
        """Take steps, explicit ones each in equal parts; return what has been counted.

        Or what failed: of implicit steps the same on all ranks.
        """
        motion, system = self.motion, self.system
        system.expect(number, parts)
        if isinstance(motion, PartMotion):
            motion.divide_by(parts)
        try:
            with self.limited():
                motion.approach(motion.t0 + (motion.n + number) * motion.dt, math.inf)
        except FailedElsewhere:
            system.end()
        except Exception as error:
            system.end()
            return Failure(*system.placed(error, motion.n))
        return self.counts()

    def limited(self) -> AbstractContextManager[None]:
        """Return a context in which loops have as many threads as this rank may have."""
        return threads.limited(self.threads)

    def all_agree(self, agrees: bool) -> bool:
        """Return whether all ranks agree; all ask together."""
        return self.comm.allreduce(int(agrees)) == self.comm.size

    @property
    def local(self) -> dict[str, Array]:
        """What moves, of own nodes and ghosts [..., l, dim], and where contacts were listed."""
        shape, internal = (self.system.n_nodes, self.system.dim), self.internal.values()
        found = self.motion.arrays() | {LISTED_AT + name: q for name, q in self.motion.list_positions.items()}
        others = {id(z) for z in internal}
        return {name: z for name, z in found.items() if z.shape[-2:] == shape and id(z) not in others}

    @property
    def internal(self) -> dict[str, Array]:
        """The internal variables of its pieces of inelastic parts, by name."""
        arrays = self.motion.arrays()
        return {name: arrays[stored_as(name)] for name in self.part.inelastic}

    def arrays(self) -> dict[str, Array]:
        """Return what moves, of own nodes [..., own, dim]."""
        own = self.system.n_own
        return {name: np.ascontiguousarray(array[..., :own, :]) for name, array in self.local.items()}

    def counts(self) -> Counts:
        """Return what is counted, and the statistics."""
        found, motion = self.motion.arrays(), self.motion
        rest = found.keys() - self.local.keys() - {stored_as(name) for name in self.part.inelastic}
        steepness = motion.steepness() if isinstance(motion, PartMotion) else 0.0
        return Counts({name: found[name].copy() for name in rest}, motion.statistics(), steepness)

    @property
    def words(self) -> NDArray[np.int64]:
        """The work done on own nodes (see `PartLedger`); of implicit steps all ranks know all of it."""
        return self.motion.words if isinstance(self.motion, PartMotion) else np.zeros((0, WORDS), np.int64)

    @property
    def gone(self) -> Mapping[str, NDArray[np.bool_]]:
        """Which elements [m] of the whole mesh are gone, by the names of parts, where contact follows them."""
        return self.system.followed

    def counted_internal(self) -> dict[str, tuple[NDArray[np.integer], Array]]:
        """Return, by the names of inelastic parts, which stencils count here, and their internal variables."""
        pieces = self.part.inelastic
        return {
            name: (pieces[name].chosen[pieces[name].counts], pieces[name].counted(z))
            for name, z in self.internal.items()
        }

    def all_arrays(self) -> tuple[dict[str, Array], NDArray[np.int64]]:
        """Return what moves, of own nodes, and the work done on these."""
        return self.arrays(), self.words

    def sums(self) -> RankSums:
        """Return energies, momenta and work as sums."""
        found, internal = self.local, self.internal
        inelastic = {name: (piece, internal[name]) for name, piece in self.part.inelastic.items()}
        return self.sums_of(found["q"], found["v"], found["a"], self.words, inelastic)

    def sums_at(self, q: Array) -> RankSums:
        """Return the energies at positions q [l, dim], ghosts included."""
        still = np.zeros_like(q)
        return self.sums_of(q, still, still, np.zeros((0, WORDS), np.int64))

    def gradient_at(self, q: Array) -> Array | Failure:
        """Return the gradient [own, dim] of own nodes at positions q [l, dim], ghosts included."""
        with self.limited():
            gradient, failed = self.system.gradient_at(q)
        return gradient if failed is None else Failure(*failed)

    def sums_of(
        self,
        q: Array,
        v: Array,
        a: Array,
        works: NDArray[np.int64],
        inelastic: Mapping[str, tuple[InelasticPiece, Array]] = MappingProxyType({}),
    ) -> RankSums:
        """Return the sums over own nodes, and over the stencils that are counted here, at q, v and a [l, dim]."""
        own = self.system.n_own
        with self.limited():
            return sums_of_rank(self.system.counted, self.part.mass[:own], (q, v[:own], a[:own]), works, inelastic)

    def some(self, places: IntArray) -> NDArray[np.float64]:
        """Return positions, velocities and accelerations [3, s, dim] of own nodes by their places [s]."""
        arrays = self.local
        return np.stack([arrays[name][places] for name in ("q", "v", "a")])


Command = Callable[[Member], Any]


@dataclass
class Stop:
    """End, with an exit status."""

    status: int
