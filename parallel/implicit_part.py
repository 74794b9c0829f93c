"""What a rank does of a motion in implicit steps: the method's own motion, on its part of the system."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from symplex.errors import StepFailed
from symplex.fem import threads
from symplex.fem.assembly import Array, Pattern
from symplex.parallel.krylov import RankedKrylov
from symplex.parallel.member import Command, Failure, Member
from symplex.parallel.part import Part, Place
from symplex.parallel.part_system import Contact, PartSystem
from symplex.time.explicit.newmark import Newmark
from symplex.time.implicit.implicit import ImplicitIntegrator, ImplicitMotion
from symplex.time.solvers.linear_solver import LinearSolver

Implicit = ImplicitIntegrator[Any] | Newmark


class ImplicitPart:
    """The part of a rank in a motion of implicit steps, which all ranks take at the same time.

    Parameters
    ----------
    member : Member
    command : TakeImplicit
    """

    def __init__(self, member: Member, command: TakeImplicit):
        part, grid = command.part, command.grid
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

    def steps(self, number: int) -> Failure | None:
        """Take steps; return what failed, if anything did: the same on all ranks."""
        motion = self._motion
        try:
            with threads.limited(self._threads):
                motion._take(number)
        except Exception as error:
            if not isinstance(error, StepFailed) and error is not self._system.known:
                traceback.print_exc()  # the others wait for this rank
                self._sums.abort()
            return Failure(Place(motion.n, 0, 0, 0), error)
        return None

    def arrays(self) -> tuple[dict[str, Array], dict[str, Array]]:
        """Return what moves, of own nodes, and what all ranks have counted; and where contacts were listed."""
        shape, own = (self._system.n_nodes, self._system.dim), self._share.ghosts
        found = {}
        for name, array in self._motion.arrays().items():
            found[name] = (array[..., :own, :] if array.shape[-2:] == shape else array).copy()
        return found, {name: q[:own] for name, q in self._motion._listed_at.items() if len(q)}


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

    def done(self, member: Member) -> None:
        """Do it on one rank."""
        member.implicit = ImplicitPart(member, self)


@dataclass
class ImplicitSteps(Command):
    """Take steps."""

    number: int

    def done(self, member: Member) -> Failure | None:
        """Do it on one rank."""
        return member.implicit.steps(self.number)


class ImplicitArrays(Command):
    """Tell all that moves."""

    def done(self, member: Member) -> tuple[dict[str, Array], dict[str, Array]]:
        """Do it on one rank."""
        return member.implicit.arrays()
