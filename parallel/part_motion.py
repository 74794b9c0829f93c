"""The motion of one part: explicit Newmark, with the work of loads and supports in sums that any ranks can add up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from symplex.errors import StepFailed
from symplex.fem.assembly import Array
from symplex.fem.system import System
from symplex.parallel.contact import Crossed
from symplex.parallel.exact_sum import WORDS, add_numbers
from symplex.parallel.part import Part, PartEnergy
from symplex.time.explicit.newmark import SEEN, NewmarkMotion
from symplex.time.work import WorkLedger


class PartLedger(WorkLedger):
    """The work done on own nodes since this rank has its part, of each load and each support of the whole system.

    Parameters
    ----------
    system : System
        Of the part.
    own : int
        How many own nodes there are; ghosts come after them.
    supports : sequence of str
        The names of all supports that move, on whatever rank.

    Attributes
    ----------
    supports : sequence of str
    words : int64 [loads + supports, WORDS]
        See `symplex.parallel.exact_sum`.
    """

    def __init__(self, system: System, own: int, supports: Sequence[str]):
        super().__init__(system, at_ends=True)
        self._own, self.supports = own, supports
        self.words = np.zeros((len(self.loads) + len(supports), WORDS), np.int64)

    def __bool__(self) -> bool:
        """Whether anything can do work, here or elsewhere."""
        return len(self.words) > 0

    def _add_mean(self, dq: Array) -> None:
        own = self._own
        for words, f0, f1 in zip(self.words, self._before, self.acting, strict=False):
            add_numbers((0.5 * (f0[:own] + f1[:own]) * dq[:own]).ravel(), words)

    def _add_supports(self, products: Array) -> None:
        for name, numbers in self.moving.products(products).items():
            add_numbers(numbers.ravel(), self.words[len(self.loads) + self.supports.index(name)])


class PartMotion(NewmarkMotion):
    """The motion of a part.

    Parameters
    ----------
    system, t0, dt, n
        See `NewmarkMotion`.
    part : Part
        Of which the system was made.
    """

    name = "Newmark"

    def __init__(self, system: System, t0: float, dt: float, n: int, part: Part):
        super().__init__(system, t0, dt, n)
        self._work = self._ledger = PartLedger(system, part.share.ghosts, part.supports)
        self._loads = None  # work is added up by the ledger, not in the compiled loop
        if part.sends_velocities:
            energy = system.energies["part"]
            assert isinstance(energy, PartEnergy)
            energy.seen = (self._rooms[SEEN],)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that move, of own nodes and ghosts; work is apart."""
        found = super().arrays() | ({"gradient": self._gradient} if self._ledger.supports else {})
        return {name: array for name, array in found.items() if name != "work"}

    def _stopped(self, error: StepFailed, t: float, h: float) -> StepFailed:
        """Return an error with the step in which it came; or the time after it, if something has passed through."""
        if isinstance(error, Crossed):
            return StepFailed(f"{self.name} at t = {t + h:.6g} s (dt = {h:.4g} s): {error}")
        return super()._stopped(error, t, h)

    @property
    def words(self) -> NDArray[np.int64]:
        """The work of each load and support on own nodes [k, WORDS] (see `PartLedger`)."""
        return self._ledger.words
