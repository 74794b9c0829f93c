"""Motions of one part: the method's own, in implicit steps as they are, in explicit ones with exact sums of work."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from symplex.fem.assembly.pattern import Array, Pattern
from symplex.fem.system import System
from symplex.parallel.exact_sum import WORDS, add_numbers
from symplex.parallel.krylov import RankedKrylov
from symplex.parallel.part_system import SubdomainSystem
from symplex.time.explicit.newmark import SEEN, Newmark, NewmarkMotion
from symplex.time.implicit.implicit import ImplicitIntegrator, ImplicitMotion
from symplex.time.solvers.linear_solver import LinearSolver
from symplex.time.work import WorkLedger

Method = ImplicitIntegrator | Newmark


class PartLedger(WorkLedger):
    """The work done on own nodes since this rank has its part, of each load and each support of the whole system.

    Parameters
    ----------
    system : System
        Of the part.
    own : int
        How many own nodes there are; ghosts come after them.

    Attributes
    ----------
    words : int64 [loads + supports, WORDS]
        See `symplex.parallel.exact_sum`.
    """

    def __init__(self, system: System, own: int):
        super().__init__(system, at_ends=True)
        self._own = own
        self.words = np.zeros((len(self.done), WORDS), np.int64)

    def _add_mean(self, dq: Array) -> None:
        own = self._own
        for words, f0, f1 in zip(self.words, self._before, self.acting, strict=False):
            add_numbers((0.5 * (f0[:own] + f1[:own]) * dq[:own]).ravel(), words)

    def add_dissipated(self, dissipated: list[float]) -> None:
        """Take off what the stencils of each inelastic part that count here dissipate, in J."""
        for words, lost in zip(self.words[self._inelastic], dissipated, strict=True):
            add_numbers(np.array([-lost]), words)

    def _add_supports(self, products: Array) -> None:
        products = products.copy()
        products[self._own :] = 0.0
        for words, numbers in zip(self.words[self._supports], self.moving.products(products).values(), strict=True):
            add_numbers(numbers.ravel(), words)


class PartMotion(NewmarkMotion):
    """The motion of a part in explicit steps: ghosts are moved by the exchange.

    Parameters
    ----------
    system : SubdomainSystem
    t0, dt, n
        See `NewmarkMotion`.
    """

    name = "Newmark"

    def __init__(self, system: SubdomainSystem, t0: float, dt: float, n: int):
        super().__init__(system, t0, dt, n)
        self._inverse_mass[system.n_own :] = 0.0
        self._work = self._ledger = PartLedger(system, system.n_own)
        self._table = self._loads = None  # the exchange is called back; the ledger adds up the work
        if system.part.sends_velocities:
            system.seen = (self._rooms[SEEN],)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that move, of own nodes and ghosts; work is apart, and how steps divide."""
        return {name: array for name, array in super().arrays().items() if name not in ("work", "limit")}

    def divide_by(self, parts: int) -> None:
        """Divide the steps that follow by a number that the first rank has found."""
        self._limit[2] = parts

    def _find_limit(self, n: int) -> None:
        """Find nothing: `divide_by` says it."""

    def steepness(self) -> float:
        """Return the largest steepness in 1/m² of its inelastic parts with history (`Inelastic.steepness`)."""
        parts = self.system.inelastic.items()
        found = (part.steepness(self._q, self._internal.values[name]) for name, part in parts if part.history)
        return max(found, default=0.0)

    def _take_ahead(self, n: int) -> int:
        """Take none: ranks renew their lists together after each step."""
        return 0

    @property
    def words(self) -> NDArray[np.int64]:
        """The work of each load and support on own nodes [k, WORDS] (see `PartLedger`)."""
        return self._ledger.words


def motion_of(method: Method, system: SubdomainSystem, t0: float, dt: float, n: int) -> PartMotion | ImplicitMotion:
    """Return the motion of a part by a method, from the time t0 in s in steps dt, after n of them."""
    if not system.agrees:
        return PartMotion(system, t0, dt, n)
    motion = method._motion(system, t0, dt, n)
    assert isinstance(motion, ImplicitMotion), "ranks decide together in implicit steps only"

    def solver(pattern: Pattern, dim: int) -> LinearSolver:
        if method.newton.linear == "petsc":
            from symplex.parallel.petsc import RankedPetsc

            return RankedPetsc(pattern, dim, system)
        return RankedKrylov(pattern, dim, system)

    motion.solve_by(solver, system.sums.largest(float(not motion.symmetric)) == 0.0)
    return motion
