"""A motion whose parts are on several ranks: the first rank has the whole of it whenever it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from symplex.errors import InvalidSystem
from symplex.fem.solids.solid import solids_of
from symplex.fem.system import System
from symplex.parallel.distant import DistantMotion
from symplex.parallel.exact_sum import add_numbers, values_of, words_of
from symplex.parallel.implicit_motion import ImplicitMotionInParts, require_solver
from symplex.parallel.member import Arrays, Begin, Command, Steps
from symplex.parallel.pieces import require_few, require_parts
from symplex.parallel.placement import placed
from symplex.parallel.ranks import Ranks
from symplex.parallel.sums import RankSums
from symplex.time.around import AroundSteps
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.explicit.newmark import Newmark, NewmarkMotion
from symplex.time.implicit.generalized_alpha import GeneralizedAlpha, HilberHughesTaylor
from symplex.time.implicit.implicit import ImplicitMotion
from symplex.time.implicit.midpoint import Midpoint
from symplex.time.integrator import Integrator
from symplex.time.stages import Stages

if TYPE_CHECKING:
    from symplex.fem.assembly import IntArray

_METHODS = Newmark, Midpoint, EnergyMomentum, GeneralizedAlpha, HilberHughesTaylor
_WORK = "exact_work"  # in checkpoints


@dataclass(frozen=True)
class InParts(AroundSteps["MotionInParts | ImplicitMotionInParts"]):
    """A method on several ranks; its motions are on the first of them, which leads the others.

    Of explicit Newmark positions, velocities and accelerations have the same bits as in one process, on any number of
    ranks and threads; of methods with implicit steps they are the same as far as Newton's method finds them. A
    checkpoint is that of the whole motion, from which any number of ranks can go on, or one process.

    Parameters
    ----------
    method : Newmark, Midpoint, EnergyMomentum, GeneralizedAlpha or HilberHughesTaylor
    ranks : Ranks

    Raises
    ------
    InvalidSystem
        If it is another method.
    """

    method: Newmark | Midpoint | EnergyMomentum | GeneralizedAlpha | HilberHughesTaylor
    ranks: Ranks

    _field = "method"

    def __post_init__(self):
        if not isinstance(self.method, _METHODS):
            able = ", ".join(method.__name__ for method in _METHODS)
            raise InvalidSystem(
                f"{self.method.name} cannot run on several ranks; take one of {able}, or run it in one process."
            )
        require_solver(self.method.newton.linear)
        if isinstance(self.method, EnergyMomentum) and self.method.compensated:
            raise InvalidSystem("EnergyMomentum does not keep compensated positions on several ranks; leave them out.")

    def _motion(self, system: System, t0: float, dt: float, n: int) -> MotionInParts | ImplicitMotionInParts:
        if isinstance(self.method, Newmark) and self.method.explicit:
            return MotionInParts(system, t0, dt, n, self.ranks)
        whole = self.method._motion(system, t0, dt, n)
        assert isinstance(whole, ImplicitMotion), "explicit Newmark is above"
        return ImplicitMotionInParts(whole, self.method, self.ranks)


class MotionInParts(DistantMotion, NewmarkMotion):
    """A motion on several ranks; see `InParts`.

    The work of loads and supports is summed exactly, so that its bits do not depend on the ranks either; those of one
    process are rounded in each step.

    Parameters
    ----------
    system : System
        The whole one.
    t0, dt, n
        See `FixedStepMotion`.
    ranks : Ranks
    """

    name = "Newmark"

    def __init__(self, system: System, t0: float, dt: float, n: int, ranks: Ranks):
        super().__init__(system, t0, dt, n)
        self._ranks = ranks
        require_parts(system, contact=True)
        require_few(system, ranks.size)
        self._own: dict[int, IntArray] = {}  # the nodes of each rank, once they have their parts
        self._is_here = True  # whether the arrays hold what the ranks have
        self._words = words_of(self._work.done)
        self._before = self._words.copy()  # work done before the ranks had their parts

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that move, of all nodes."""
        if not self._is_here:
            self._gather()
        return super().arrays() | ({_WORK: self._words} if self._work else {})

    def restore(self, checkpoint: Mapping[str, np.ndarray]) -> None:
        """Set the arrays to those of a checkpoint, also of one process.

        Raises
        ------
        InvalidSystem
            If it is of another method or system.
        """
        if self._work and _WORK not in checkpoint and "work" in checkpoint:
            checkpoint = {**checkpoint, _WORK: words_of(np.atleast_1d(checkpoint["work"]))}
        super().restore(checkpoint)

    def _take_renewing(self, n_steps: int) -> None:
        self._run(n_steps)  # each rank renews what it has

    def _run(self, n_steps: int) -> None:
        if not n_steps:
            return
        if not self._own:
            self._divide()
        self._require_ranks()
        if self._is_here:
            self._release()
        self._is_here = False
        self._called(lambda rank: Steps(n_steps))
        self.n += n_steps

    def _divide(self) -> None:
        """Give each rank its part, from what the arrays hold."""
        placement = placed(self.system, self._q, self._ranks)
        placement.begin(self)
        arrays = {name: array for name, array in super().arrays().items() if name != "work"}
        grid = {"t0": self.t0, "dt": self.dt, "n": self.n}
        self._ranks.call(
            lambda rank: Begin(
                Newmark(self.dt), grid, {name: array[..., placement.nodes[rank], :] for name, array in arrays.items()}
            )
        )
        self._own = dict(enumerate(placement.own))
        self._lead()
        self._before[...] = self._words
        for solid in solids_of(self.system.energies).values():
            solid.release()

    def _release(self) -> None:
        """Give back the memory of arrays of all nodes, which the ranks have: of new ones no page is touched."""
        shape = self._q.shape
        self._q, self._v, self._a, self._gradient, self._inverse_mass = (np.zeros(shape) for _ in range(5))
        self._rooms = np.zeros((0, *shape))
        self._work.release()

    def kept_by(self, command: Callable[[int], Command]) -> dict[str, np.ndarray]:
        """Let each rank keep its nodes, by a command that returns its work; return what else a checkpoint has.

        Together that is `checkpoint`, with the same names.
        """
        self._refuse_broken()
        if not self._own:
            self._divide()
        self._set_work(self._called(command))
        grid = {"t0": np.array(self.t0), "dt": np.array(self.dt), "n": np.array(self.n)}
        return grid | ({"work": self._work.done.copy(), _WORK: self._words.copy()} if self._work else {})

    def _gather(self) -> None:
        """Get all that moves from the ranks."""
        found, whole = self._called(lambda rank: Arrays()), super().arrays()
        self._is_here = True
        for rank, (arrays, _) in enumerate(found):
            for name, array in arrays.items():
                whole[name][..., self._own[rank], :] = array
        self._set_work(words for _, words in found)

    def _take_sums(self, parts: Sequence[RankSums]) -> None:
        self._set_work(one.works for one in parts)

    def _set_work(self, parts: Iterable[NDArray[np.int64]]) -> None:
        """Set the work done, given that of each rank since it has its part."""
        self._words[...] = self._before
        for words in parts:
            self._words += words
        for words in self._words:
            add_numbers(np.empty(0), words)  # takes carries on: the same sum is the same words
        self._work.done[...] = values_of(self._words)


def in_parts(integrator: Integrator, ranks: Ranks) -> InParts | Stages:
    """Return a method that moves on several ranks, or one whose stages do.

    Raises
    ------
    InvalidSystem
        If it cannot.
    """
    if isinstance(integrator, Stages):
        stages = [replace(stage, integrator=in_parts(stage.integrator, ranks)) for stage in integrator.stages]
        return replace(integrator, stages=stages)
    return InParts(integrator, ranks)  # pyright: ignore[reportArgumentType]
