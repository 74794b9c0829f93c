"""A motion whose parts are on several ranks: the first rank has the whole of it whenever it is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from symplex.base.columns import Column
from symplex.errors import InvalidSystem
from symplex.fem.actions.loads import Pressure
from symplex.fem.system import State, System
from symplex.parallel.actions import part_of_load, part_of_motion
from symplex.parallel.division import Division
from symplex.parallel.exact_sum import add_numbers, values_of, words_of
from symplex.parallel.implicit_motion import ImplicitMotionInParts, require_solver
from symplex.parallel.member import Arrays, Command, Steps, Take
from symplex.parallel.part import Part
from symplex.parallel.partition import owners
from symplex.parallel.pieces import Divided, require_few, require_parts
from symplex.parallel.ranks import Ranks
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.explicit.newmark import Newmark, NewmarkMotion
from symplex.time.implicit.generalized_alpha import GeneralizedAlpha, HilberHughesTaylor
from symplex.time.implicit.implicit import ImplicitMotion
from symplex.time.implicit.midpoint import Midpoint
from symplex.time.integrator import FixedStepIntegrator, Integrator
from symplex.time.stages import Stages
from symplex.time.traits import Form, Trait

if TYPE_CHECKING:
    from symplex.fem.assembly import IntArray

_METHODS = Newmark, Midpoint, EnergyMomentum, GeneralizedAlpha, HilberHughesTaylor
_WORK = "exact_work"  # in checkpoints


@dataclass(frozen=True)
class InParts(FixedStepIntegrator["MotionInParts | ImplicitMotionInParts"]):
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

    def __post_init__(self):
        if not isinstance(self.method, _METHODS):
            able = ", ".join(method.__name__ for method in _METHODS)
            raise InvalidSystem(
                f"{type(self.method).__name__} cannot run on several ranks; take one of {able}, or run it in one "
                "process."
            )
        require_solver(self.method.newton.linear)
        if isinstance(self.method, EnergyMomentum) and self.method.compensated:
            raise InvalidSystem("EnergyMomentum does not keep compensated positions on several ranks; leave them out.")

    @property
    def dt(self) -> float:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The step in s."""
        return self.method.dt  # pyright: ignore[reportReturnType]

    @property
    def name(self) -> str:
        """How messages call the method."""
        return self.method.name

    @property
    def columns(self) -> tuple[Column, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """What is counted."""
        return self.method.columns

    @property
    def order(self) -> float:  # pyright: ignore[reportIncompatibleVariableOverride]
        """That of the method."""
        return self.method.order

    @property
    def conserves(self) -> frozenset[str]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """That of the method."""
        return self.method.conserves

    @property
    def symmetric(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """That of the method."""
        return self.method.symmetric

    @property
    def needs(self) -> frozenset[Form]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """What the method needs."""
        return self.method.needs

    @property
    def takes(self) -> frozenset[Trait]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """What the method takes; `require_parts` has more to say."""
        return self.method.takes

    def _motion(self, system: System, t0: float, dt: float, n: int) -> MotionInParts | ImplicitMotionInParts:
        if isinstance(self.method, Newmark) and self.method.explicit:
            return MotionInParts(system, t0, dt, n, self.ranks)
        whole = self.method._motion(system, t0, dt, n)
        assert isinstance(whole, ImplicitMotion), "explicit Newmark is above"
        return ImplicitMotionInParts(whole, self.method, self.ranks)

    def _step_size(self, system: System, state: State) -> float:
        return self.method._step_size(system, state)

    def fit(self, system: System, state: State, interval: float) -> InParts:
        """Return the method with the largest step not above its own that divides an interval in s."""
        return replace(self, method=self.method.fit(system, state, interval))  # pyright: ignore[reportArgumentType]


class MotionInParts(NewmarkMotion):
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
        require_parts(system)
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

    def _run(self, n_steps: int) -> None:
        if not n_steps:
            return
        if not self._own:
            self._divide()
        self._is_here = False
        self._ranks.call(lambda rank: Steps(n_steps))
        self.n += n_steps

    def _divide(self) -> None:
        """Give each rank its part, from what the arrays hold."""
        system, ranks = self.system, self._ranks
        stencils = {name: np.ascontiguousarray(energy.nodes) for name, energy in system.energies.items()}
        owner = owners(self._q, list(stencils.values()), ranks.size)
        # A face needs the positions of all its nodes, also where it is none of an element.
        stencils |= {f"load {name}": load.nodes for name, load in system.loads.items() if isinstance(load, Pressure)}
        division = Division(owner, stencils, ranks.size)
        divided = {name: Divided(energy, ranks.threads) for name, energy in system.energies.items()}
        arrays = {name: array for name, array in super().arrays().items() if name != "work"}
        grid = {"t0": self.t0, "dt": self.dt, "n": self.n}
        own: dict[int, IntArray] = {}

        def take(rank: int) -> Command:
            share = division.share(rank, ranks.hides)
            nodes, motions = share.nodes, system.moving.motions
            own[rank] = nodes[: share.ghosts]
            moving = {name: part_of_motion(motion, share) for name, motion in motions.items()}
            part = Part(
                share,
                np.asarray(system.mass)[nodes],
                (system.fixed & ~system.moving.mask)[nodes],
                {name: one.piece(share.inner[name], nodes) for name, one in divided.items()},
                {name: one.piece(share.outer[name], nodes[share.beside :]) for name, one in divided.items()},
                {name: part_of_load(load, share, system.n_nodes) for name, load in system.loads.items()},  # pyright: ignore
                {name: motion for name, motion in moving.items() if motion is not None},
                tuple(motions),
            )
            return Take(part, grid, {name: array[..., nodes, :] for name, array in arrays.items()})

        ranks.call(take)
        self._own = own
        self._before[...] = self._words

    def _gather(self) -> None:
        """Get all that moves from the ranks."""
        self._is_here = True
        whole, self._words[...] = super().arrays(), self._before
        for rank, (arrays, words) in enumerate(self._ranks.call(lambda rank: Arrays())):
            for name, array in arrays.items():
                whole[name][..., self._own[rank], :] = array
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
