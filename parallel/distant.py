"""Motions whose nodes are on ranks: the first rank has sums of a state, and brings the nodes that are looked at."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from symplex.errors import InvalidSystem
from symplex.fem.system import State
from symplex.parallel.member import Command, Some, Summed
from symplex.parallel.ranks import Ranks
from symplex.parallel.sums import DistantState, RankSums, Sums
from symplex.time.motion import FixedStepMotion, refuse_infinite
from symplex.time.work import with_work

if TYPE_CHECKING:
    from symplex.fem.assembly import Array, IntArray
    from symplex.fem.energy import Energy


class DistantMotion(FixedStepMotion):
    """What motions on several ranks have in common, on the first of these."""

    _ranks: Ranks
    _own: dict[int, IntArray]  # the nodes of each rank, once they have their parts
    _is_here: bool  # whether the arrays hold what the ranks have
    _found_at: NDArray[np.int32] | None = None  # of nodes [2, n]: their ranks, and their places there

    @abstractmethod
    def _divide(self) -> None:
        """Give each rank its part."""

    @abstractmethod
    def kept_by(self, command: Callable[[int], Command]) -> dict[str, np.ndarray]:
        """Let each rank keep its nodes, by a command that returns its work; return what else a checkpoint has.

        Together that is `checkpoint`, with the same names.
        """

    def _lead(self) -> None:
        """Take note that the ranks have the parts of this motion."""
        self._ranks.moving = ref(self)

    def _require_ranks(self) -> None:
        """Check that the ranks have the parts of this motion still.

        Raises
        ------
        InvalidSystem
            If they have those of another one.
        """
        if self._ranks.moving is None or self._ranks.moving() is not self:
            raise InvalidSystem(
                f"the ranks have the parts of another motion, begun after this one had come to t = {self.t:.6g} s: "
                "end one before the next, or resume this one from a checkpoint."
            )

    def _called(self, command: Callable[[int], Command]) -> list[Any]:
        """Let all ranks do what a command of theirs says, with their parts of this motion."""
        self._require_ranks()
        return self._ranks.call(command)

    def _take_sums(self, parts: Sequence[RankSums]) -> None:
        """Take what all ranks have found, of a state."""

    def _state(self) -> State:
        """Return the present state, with its sums; nodes are brought when they are looked at."""
        if not self._own:
            self._divide()
        parts = self._called(lambda rank: Summed())
        self._take_sums(parts)
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
        if self._found_at is None:
            self._found_at = np.empty((2, self.system.n_nodes), np.int32)
            for rank, own in self._own.items():
                self._found_at[0, own], self._found_at[1, own] = rank, np.arange(len(own))
        owner, place = self._found_at
        found = tuple(np.zeros((self.system.n_nodes, self.system.dim)) for _ in range(3))  # pages that no one touches
        of = {rank: nodes[owner[nodes] == rank] for rank in self._own}
        for rank, parts in enumerate(self._called(lambda rank: Some(place[of[rank]]))):
            for array, values in zip(found, parts, strict=True):
                array[of[rank]] = values
        return found  # pyright: ignore[reportReturnType]

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
