"""What a rank does of a motion in implicit steps: the method's own motion, on its part of the system."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from symplex.errors import StepFailed
from symplex.fem import threads
from symplex.fem.assembly import Array, Pattern
from symplex.fem.interpolation import ChangingInterpolatedEnergy
from symplex.parallel.contact import ContactAround
from symplex.parallel.krylov import RankedKrylov
from symplex.parallel.member import Command, Failure, Member
from symplex.parallel.part import Around, Part, Place
from symplex.parallel.part_system import Contact, PartSystem
from symplex.parallel.sums import Counted
from symplex.time.explicit.newmark import Newmark
from symplex.time.implicit.implicit import ImplicitIntegrator, ImplicitMotion
from symplex.time.motion import LISTED_AT
from symplex.time.solvers.linear_solver import LinearSolver

Implicit = ImplicitIntegrator | Newmark


class ImplicitPart:
    """The part of a rank in a motion of implicit steps, which all ranks take at the same time.

    Parameters
    ----------
    member : Member
    command : TakeImplicit
    """

    def __init__(self, member: Member, command: TakeImplicit):
        part, grid = command.part, command.grid
        self._part, self._contacts = part, command.contacts
        self._threads, self._share, self._sums = member.threads, part.share, member.reductions()
        self._linear = command.method.newton.linear
        self._system = PartSystem(part, self._sums, command.frictions, command.contacts)
        motion = command.method._motion(self._system, grid["t0"], grid["dt"], grid["n"])
        assert isinstance(motion, ImplicitMotion)
        symmetric = self._sums.largest(float(not motion.symmetric)) == 0.0
        motion.solve_by(self._solver, symmetric)
        self._motion = motion
        for name, array in motion.arrays().items():
            array[...] = command.arrays[name]
        motion._listed_at |= command.listed_at

    def _solver(self, pattern: Pattern, dim: int) -> LinearSolver:
        if self._linear == "petsc":
            from symplex.parallel.petsc import RankedPetsc

            return RankedPetsc(pattern, dim, self._share, self._sums)
        return RankedKrylov(pattern, dim, self._share, self._sums, self._system.fixed)

    @property
    def meetings(self) -> int:
        """How often all ranks have met, to find a sum."""
        return self._sums.count

    def steps(self, number: int) -> Failure | Counts:
        """Take steps; return what has been counted, or what failed: the same on all ranks."""
        motion = self._motion
        try:
            with threads.limited(self._threads):
                motion._take(number)
        except Exception as error:
            if not isinstance(error, StepFailed) and error is not self._system.known:
                traceback.print_exc()  # the others wait for this rank
                self._sums.abort()
            return Failure(Place(motion.n, 0, 0, 0), error)
        return self.counts()

    @property
    def local(self) -> dict[str, Array]:
        """What moves, of own nodes and ghosts [..., l, dim], and where contacts were listed."""
        motion, shape = self._motion, (self._system.n_nodes, self._system.dim)
        moving = {name: array for name, array in motion.arrays().items() if array.shape[-2:] == shape}
        return moving | {LISTED_AT + name: q for name, q in motion._listed_at.items()}

    def counts(self) -> Counts:
        """Return what all ranks have counted alike, and the statistics."""
        moving, found = self.local, self._motion.arrays()
        return Counts({name: found[name].copy() for name in found.keys() - moving.keys()}, self._motion.statistics())

    @cached_property
    def around(self) -> dict[str, Around]:
        """By the names of energies, all stencils around its own nodes, where there are any."""
        own, energies = self._share.ghosts, self._system.energies
        return {
            name: Around(energies[name], piece.chosen, piece.nodes[:, 0] < own)
            for name, piece in self._part.outer.items()
            if len(piece.nodes)
        }

    @cached_property
    def counted(self) -> dict[str, list[Counted]]:
        """By the names of energies, the stencils that are summed here."""
        share, found = self._share, {name: [] for name in self._part.energies}
        for name, around in self.around.items():
            found[name].append(Counted(around.energy, 0, around.counts))
        for name, contact in self._contacts.items():
            if isinstance(contact, ChangingInterpolatedEnergy):
                here = ContactAround(contact, share.nodes, share.ghosts)
                found[name].append(Counted(here, 0, np.ones(1, bool)))
        return found


class Counts(NamedTuple):
    """What all ranks have counted alike.

    Attributes
    ----------
    arrays : dict of str to float64
        Of a checkpoint: counts, and the work done.
    statistics : dict of str to float
    """

    arrays: dict[str, Array]
    statistics: dict[str, float]


@dataclass
class TakeImplicit(Command):
    """Take a part of a system, as it is.

    Attributes
    ----------
    part : Part
    method : ImplicitIntegrator or Newmark
    grid : mapping
        The times of steps.
    arrays : mapping of str to float64
        What moves, of own nodes and ghosts [l, dim], and what is counted.
    frictions : mapping of str to str
        See `PartSystem`.
    contacts : mapping of str to Contact
        See `PartSystem`.
    listed_at : mapping of str to float64 [l, 3]
        Where nodes were as these have found their pairs, if they have, in m.
    """

    part: Part
    method: Implicit
    grid: Mapping[str, Any]
    arrays: Mapping[str, Array]
    frictions: Mapping[str, str]
    contacts: Mapping[str, Contact]
    listed_at: Mapping[str, Array]

    def done(self, member: Member) -> Counts:
        """Do it on one rank."""
        member.take_implicit(self.part, ImplicitPart(member, self))
        return member.implicit.counts()


@dataclass
class ImplicitSteps(Command):
    """Take steps."""

    number: int

    def done(self, member: Member) -> Failure | Counts:
        """Do it on one rank."""
        return member.implicit.steps(self.number)
