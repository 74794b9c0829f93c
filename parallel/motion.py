"""A motion whose parts are on several ranks: the first rank has the whole of it whenever it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from symplex.errors import InvalidSystem
from symplex.fem.actions.loads import Pressure
from symplex.fem.solids.solid import Solid
from symplex.fem.system import State, System
from symplex.parallel.actions import part_of_motion
from symplex.parallel.contact import ContactOfRank, is_shared_contact
from symplex.parallel.division import Division
from symplex.parallel.exact_sum import add_numbers, values_of, words_of
from symplex.parallel.implicit_motion import ImplicitMotionInParts, require_solver
from symplex.parallel.member import Arrays, Command, Some, Steps, Summed, Take
from symplex.parallel.part import Part
from symplex.parallel.partition import owners
from symplex.parallel.pieces import Divided, require_few, require_parts
from symplex.parallel.ranks import Ranks
from symplex.parallel.sums import DistantState, Sums
from symplex.time.around import AroundMethod
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.explicit.newmark import Newmark, NewmarkMotion
from symplex.time.implicit.generalized_alpha import GeneralizedAlpha, HilberHughesTaylor
from symplex.time.implicit.implicit import ImplicitMotion
from symplex.time.implicit.midpoint import Midpoint
from symplex.time.integrator import Integrator
from symplex.time.motion import refuse_infinite
from symplex.time.stages import Stages
from symplex.time.work import with_work

if TYPE_CHECKING:
    from symplex.fem.assembly import Array, IntArray
    from symplex.fem.energy import Energy

_METHODS = Newmark, Midpoint, EnergyMomentum, GeneralizedAlpha, HilberHughesTaylor
_WORK = "exact_work"  # in checkpoints


@dataclass(frozen=True)
class InParts(AroundMethod["MotionInParts | ImplicitMotionInParts"]):
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
        require_parts(system, contact=True)
        require_few(system, ranks.size)
        self._own: dict[int, IntArray] = {}  # the nodes of each rank, once they have their parts
        self._owner = self._place = np.empty(0, np.int32)  # of nodes: their ranks, and their places there
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
        if self._is_here:
            self._release()
        self._is_here = False
        self._ranks.call(lambda rank: Steps(n_steps))
        self.n += n_steps

    @property
    def _places(self) -> Array:
        """Where nodes are [n, dim] in m for their division: undeformed as far as that is known, at any time alike."""
        places = self._q.copy()
        for energy in self.system.energies.values():
            if isinstance(energy, Solid):
                nodes = np.unique(energy.nodes)
                places[nodes] = energy.points[nodes]
        return places

    def _divide(self) -> None:
        """Give each rank its part, from what the arrays hold."""
        system, ranks = self.system, self._ranks
        contacts = {name: energy for name, energy in system.energies.items() if is_shared_contact(energy)}
        energies = {name: energy for name, energy in system.energies.items() if name not in contacts}
        stencils = {name: np.ascontiguousarray(energy.nodes) for name, energy in energies.items()}
        owner = owners(self._places, list(stencils.values()), ranks.size)
        # A face needs the positions of all its nodes, also where it is none of an element.
        stencils |= {f"load {name}": load.nodes for name, load in system.loads.items() if isinstance(load, Pressure)}
        touching = {name: contact.possible_nodes for name, contact in contacts.items()}
        first = {name: int(owner[nodes].min()) for name, nodes in touching.items()}
        division = Division(owner, stencils, ranks.size, list(touching.values()))
        divided = {name: Divided(energy, ranks.threads) for name, energy in energies.items()}
        arrays = {name: array for name, array in super().arrays().items() if name != "work"}
        grid = {"t0": self.t0, "dt": self.dt, "n": self.n}
        own: dict[int, IntArray] = {}
        q = self._q

        def take(rank: int) -> Command:
            share = division.share(rank, ranks.hides)
            nodes = share.nodes
            own[rank] = nodes[: share.ghosts]
            moving = {name: part_of_motion(motion, share) for name, motion in system.moving.motions.items()}
            part = Part.of(
                system,
                share,
                {name: one.piece(share.inner[name], nodes) for name, one in divided.items()},
                {name: one.piece(share.outer[name], nodes[share.beside :]) for name, one in divided.items()},
                {name: motion for name, motion in moving.items() if motion is not None},
                {
                    name: ContactOfRank.of(contact, nodes[share.beside :], q, first[name] == rank)
                    for name, contact in contacts.items()
                    if (owner[touching[name]] == rank).any()
                },
            )
            return Take(part, grid, {name: array[..., nodes, :] for name, array in arrays.items()})

        ranks.call(take)
        self._own = own
        self._before[...] = self._words
        for energy in system.energies.values():
            if isinstance(energy, Solid):
                energy.release()

    def _release(self) -> None:
        """Give back the memory of arrays of all nodes, which the ranks have: of new ones no page is touched."""
        shape = self._q.shape
        self._q, self._v, self._a, self._gradient, self._inverse_mass = (np.zeros(shape) for _ in range(5))
        self._work.release()

    def _state(self) -> State:
        """Return the present state, with its sums; nodes are brought when they are looked at."""
        if not self._own:
            self._divide()
        parts = self._ranks.call(lambda rank: Summed())
        self._set_work(one.works for one in parts)
        n = self.n

        def bring(nodes: NDArray[np.integer] | None) -> tuple[Array, Array, Array]:
            if self.n != n:
                raise InvalidSystem(f"the ranks have gone on from the state at t = {self.t0 + n * self.dt:.6g} s.")
            return self._brought(nodes)

        state = DistantState(self.t, Sums(self.system, parts), bring)
        if not state.sums.is_finite:
            refuse_infinite(state)
        return state

    def _brought(self, nodes: NDArray[np.integer] | None) -> tuple[Array, Array, Array]:
        """Return positions, velocities and accelerations [n, dim], of some nodes only, if they are given."""
        if nodes is None or self._is_here:
            arrays = self.arrays()
            return arrays["q"].copy(), arrays["v"].copy(), arrays["a"].copy()
        if not len(self._owner):
            self._owner, self._place = np.empty((2, self.system.n_nodes), np.int32)
            for rank, own in self._own.items():
                self._owner[own], self._place[own] = rank, np.arange(len(own))
        found = tuple(np.zeros((self.system.n_nodes, self.system.dim)) for _ in range(3))  # pages that no one touches
        of = {rank: nodes[self._owner[nodes] == rank] for rank in self._own}
        for rank, parts in enumerate(self._ranks.call(lambda rank: Some(self._place[of[rank]]))):
            for array, values in zip(found, parts, strict=True):
                array[of[rank]] = values
        return found  # pyright: ignore[reportReturnType]

    def kept_by(self, command: Callable[[int], Command]) -> dict[str, np.ndarray]:
        """Let each rank keep its nodes, by a command that returns its work; return what else a checkpoint has.

        Together that is `checkpoint`, with the same names.
        """
        self._refuse_broken()
        if not self._own:
            self._divide()
        self._set_work(self._ranks.call(command))
        grid = {"t0": np.array(self.t0), "dt": np.array(self.dt), "n": np.array(self.n)}
        return grid | ({"work": self._work.done.copy(), _WORK: self._words.copy()} if self._work else {})

    def energies(self, state: State) -> dict[str, float]:
        """Return the energies in J, and the work, of a state just returned."""
        if not isinstance(state, DistantState):
            return super().energies(state)
        return with_work(self.system, dict(state.sums.energies), self._work.done)

    def momenta(self, state: State) -> tuple[Array, Array]:
        """Return the linear and the angular momentum of a state just returned."""
        if not isinstance(state, DistantState):
            return super().momenta(state)
        return state.sums.momentum, state.sums.angular_momentum

    def observed(self, state: State, gradient: Callable[[Energy, State], Array]) -> dict[str, float]:
        """Return what energies tell of a state just returned."""
        return dict(state.sums.told) if isinstance(state, DistantState) else super().observed(state, gradient)

    def _gather(self) -> None:
        """Get all that moves from the ranks."""
        self._is_here = True
        whole, found = super().arrays(), self._ranks.call(lambda rank: Arrays())
        for rank, (arrays, _) in enumerate(found):
            for name, array in arrays.items():
                whole[name][..., self._own[rank], :] = array
        self._set_work(words for _, words in found)

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
