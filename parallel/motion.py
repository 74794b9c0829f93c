"""A motion whose parts are on several ranks: the first rank has the whole of it whenever it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from symplex.errors import InvalidSystem
from symplex.fem.energies.inelastic import part_with_history
from symplex.fem.solids.plastic import solids_in
from symplex.fem.system import State, System
from symplex.parallel.exact_sum import add_numbers, values_of, words_of
from symplex.parallel.member import Command, Counts, Member
from symplex.parallel.part_motion import Method
from symplex.parallel.pieces import require_few, require_parts
from symplex.parallel.placement import Placement, placed
from symplex.parallel.ranks import Ranks
from symplex.parallel.sums import DistantState, Sums
from symplex.time.around import AroundSteps
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.explicit.newmark import BETWEEN_LIMITS, Newmark, NewmarkMotion, update_limit
from symplex.time.implicit.generalized_alpha import GeneralizedAlpha, HilberHughesTaylor
from symplex.time.implicit.implicit import ImplicitMotion
from symplex.time.implicit.midpoint import Midpoint
from symplex.time.integrator import Integrator
from symplex.time.internal import arrays_of, internal_of, stored_as
from symplex.time.motion import LISTED_AT, FixedStepMotion, refuse_infinite
from symplex.time.stages import Stages
from symplex.time.work import with_work

if TYPE_CHECKING:
    from symplex.fem.assembly.pattern import Array, IntArray
    from symplex.fem.energies.energy import Energy

_METHODS = Newmark, Midpoint, EnergyMomentum, GeneralizedAlpha, HilberHughesTaylor
_WORK, _OWNERS = "exact_work", "owner of each node"  # in checkpoints
_LINEAR = "auto", "krylov", "petsc"


@dataclass(frozen=True)
class InParts(AroundSteps["MotionInParts"]):
    """A method on several ranks; its motions are on the first of them, which leads the others.

    Of explicit Newmark positions, velocities and accelerations have the same bits as in one process, on any number of
    ranks and threads; of methods with implicit steps they are the same as far as Newton's method finds them. A
    checkpoint is that of the whole motion, from which any number of ranks can go on, or one process.

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
        _require_solver(self.method.newton.linear)
        if isinstance(self.method, Newmark) and self.method.contact_steps != 1:
            raise InvalidSystem("Newmark does not divide its steps on several ranks; leave contact_steps out.")
        if isinstance(self.method, EnergyMomentum) and self.method.compensated:
            raise InvalidSystem("EnergyMomentum does not keep compensated positions on several ranks; leave them out.")

    def _motion(self, system: System, t0: float, dt: float, n: int) -> MotionInParts:
        whole = self.method._motion(system, t0, dt, n)
        assert isinstance(whole, NewmarkMotion | ImplicitMotion), "these are the motions of the methods above"
        return MotionInParts(whole, self.method, self.ranks)


class MotionInParts(FixedStepMotion):
    """A motion on several ranks; see `InParts`.

    The first rank has all that moves until the ranks have their parts; then sums of a state, and it brings the nodes
    that are looked at. In explicit steps the work of loads and supports is summed exactly, so that its bits do not
    depend on the ranks either; those of one process are rounded in each step.

    Parameters
    ----------
    whole : NewmarkMotion or ImplicitMotion
        That of one process, which has all that moves, but takes no step.
    method : ImplicitIntegrator or Newmark
    ranks : Ranks

    Raises
    ------
    InvalidSystem
        If the system is not for several ranks.
    """

    def __init__(self, whole: NewmarkMotion | ImplicitMotion, method: Method, ranks: Ranks):
        self.name, system = whole.name, whole.system
        super().__init__(system, whole.t0, whole.dt, whole.n)
        self._explicit = isinstance(whole, NewmarkMotion)
        self._own_method, self._ranks = method, ranks
        self._whole: NewmarkMotion | ImplicitMotion | None = whole  # until the ranks have their parts
        require_parts(system, contact=True)
        require_few(system, ranks.size)
        if not (self._explicit or (system.is_lumped and not system.massless.any())):
            what = "nodes without mass" if system.is_lumped else "a consistent mass"
            raise InvalidSystem(
                f"implicit steps on several ranks need a lumped mass at all nodes; the system has {what}."
            )
        self._owner = np.full(system.n_nodes, -1, np.int32)
        self._own: dict[int, IntArray] = {}  # the nodes of each rank, once they have their parts
        self._found_at: NDArray[np.int32] | None = None  # of nodes [2, n]: their ranks, and their places there
        self._found: dict[str, np.ndarray] = {}  # what has been brought from the ranks since their last step
        self._counts = Counts({}, {})
        self._words = words_of(self._work.done)  # in explicit steps, exact
        self._before = self._words.copy()  # work done before the ranks had their parts
        flows = self._explicit and part_with_history(system) is not None
        self._limit = whole.arrays()["limit"] if flows else None  # how steps divide (`update_limit`)
        self._steepness = 0.0

    def begin(self, q: Array, v: Array) -> None:
        """Take positions and velocities [n, dim] of the start, and find all else that moves."""
        assert self._whole is not None, "it has begun"
        self._whole.begin(q, v)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that move, of all nodes, and what else checkpoints hold."""
        if self._whole is not None:
            return self._whole.arrays() | self._rest()
        if not self._found:
            self._gather()
        return self._found | self._counts.arrays | self._rest()

    def _rest(self) -> dict[str, np.ndarray]:
        """Return what only motions on ranks have in checkpoints: which rank has which node, or exact work."""
        if self._explicit:
            limit = {} if self._limit is None else {"limit": self._limit}
            return limit | ({"work": self._work.done, _WORK: self._words} if self._work else {})
        return {_OWNERS: self._owner}

    def restore(self, checkpoint: Mapping[str, np.ndarray]) -> None:
        """Set the arrays to those of a checkpoint, also of one process or of another number of ranks.

        Raises
        ------
        InvalidSystem
            If it is of another method or system.
        """
        own: dict[str, np.ndarray] = {_OWNERS: self._owner}
        if self._work and "work" in checkpoint:
            own[_WORK] = words_of(np.atleast_1d(checkpoint["work"]))
        super().restore({**own, **checkpoint})
        if self._owner.max() + 1 != self._ranks.size:
            self._owner[...] = -1

    def statistics(self) -> dict[str, float]:
        """Return what one process would count."""
        if self._whole is None:
            return self._counts.statistics | {"steps": self.n}
        self._whole.n = self.n
        return self._whole.statistics()

    def _take_renewing(self, n_steps: int) -> None:
        self._run(n_steps)  # each rank renews what it has

    def _step(self, t: float, h: float) -> None:
        raise NotImplementedError("steps are taken by the ranks")

    def _run(self, n_steps: int) -> None:
        if not n_steps:
            return
        if not self._own:
            self._divide()
        target = self.n + n_steps
        while self.n < target:
            number, parts = target - self.n, 1
            if self._limit is not None:
                if not self.n % BETWEEN_LIMITS:
                    safety = self._own_method.safety if isinstance(self._own_method, Newmark) else 0.0
                    where = self._limit, self.system, lambda: self.arrays()["q"]
                    update_limit(*where, self._steepness, self.dt, safety)
                number, parts = min(number, BETWEEN_LIMITS - self.n % BETWEEN_LIMITS), max(int(self._limit[2]), 1)
            self._found = {}
            self._take_counts(self._called(lambda rank, n=number, k=parts: partial(Member.steps, number=n, parts=k)))
            self.n += number

    def _take_counts(self, counts: Sequence[Counts]) -> None:
        """Take what has been counted; all ranks have counted the same."""
        self._counts, self._steepness = counts[0], max(one.steepness for one in counts)
        if self._work and not self._explicit:
            self._work.done[...] = self._counts.arrays["work"]

    def _take_words(self, parts: Sequence[NDArray[np.int64]]) -> None:
        """Take the work done in explicit steps, given that of each rank since it has its part."""
        if not self._explicit:
            return
        self._words[...] = self._before
        for words in parts:
            self._words += words
        for words in self._words:
            add_numbers(np.empty(0), words)  # takes carries on: the same sum is the same words
        self._work.done[...] = values_of(self._words)

    # -- what the ranks have ----------------------------------------------------------------------------------

    def _divide(self) -> None:
        """Give each rank its part, from what the arrays hold."""
        system, ranks, whole = self.system, self._ranks, self._whole
        assert whole is not None, "it has been divided"
        arrays, grid = whole.arrays(), {"t0": self.t0, "dt": self.dt, "n": self.n}
        internal = {name: arrays.pop(stored_as(name)) for name in system.inelastic}
        if self._explicit:
            placement, method = placed(system, arrays["q"], ranks), self._own_method
        else:
            ranks.placed = None  # what they had of any system
            placement = Placement(system, arrays["q"], ranks, owner=self._owner)
            # Iterations on ranks, and no compiled loops over steps.
            newton = self._own_method.newton
            linear = "petsc" if newton.linear == "petsc" else "krylov"
            method = replace(self._own_method, newton=replace(newton, linear=linear))
        placement.begin(self)
        arrays |= {LISTED_AT + name: q for name, q in self._list_positions.items() if len(q)}
        shape = system.n_nodes, system.dim

        def begin(rank: int) -> Command:
            nodes = placement.nodes[rank]
            here = {
                name: np.ascontiguousarray(array[..., nodes, :]) if array.shape[-2:] == shape else array
                for name, array in arrays.items()
            }
            for name, chosen in placement.inelastic[rank].items():
                axis = system.inelastic[name].stencil_axis
                here[stored_as(name)] = np.take(internal[name], chosen, axis)
            return partial(Member.begin, method=method, grid=grid, arrays=here)

        self._take_counts(ranks.call(begin))
        self._own = dict(enumerate(placement.own))
        self._before[...] = self._words
        ranks.moving = ref(self)
        self._whole, self._list_positions = None, {name: q[:0] for name, q in self._list_positions.items()}
        for solid in solids_in(system.energies, system.inelastic).values():
            solid.release()

    def _gather(self) -> None:
        """Get all that moves from the ranks, and where contacts have found their pairs."""
        n, found = self.system.n_nodes, {}
        parts = self._called(lambda rank: Member.all_arrays)
        for rank, (arrays, _) in enumerate(parts):
            for name, array in arrays.items():
                whole = found.setdefault(name, np.zeros((*array.shape[:-2], n, array.shape[-1])))
                whole[..., self._own[rank], :] = array
        self._take_words([words for _, words in parts])
        self._list_positions = {name: found.pop(LISTED_AT + name, q) for name, q in self._list_positions.items()}
        self._found = found | arrays_of(self._internal_brought())

    def _internal_brought(self) -> dict[str, Array]:
        """Get the internal variables of all inelastic parts from the ranks."""
        parts = self.system.inelastic
        found = {name: np.empty(part.shape) for name, part in parts.items()}
        for of_rank in self._called(lambda rank: Member.counted_internal) if found else ():
            for name, (chosen, z) in of_rank.items():
                found[name][(slice(None),) * parts[name].stencil_axis + (chosen,)] = z
        return found

    def kept_by(self, command: Callable[[int], Command]) -> dict[str, np.ndarray]:
        """Let each rank keep its nodes, by a command that returns its work; return what else a checkpoint has.

        Internal variables are among that.

        Together that is `checkpoint`, with the same names.
        """
        self._refuse_broken()
        if not self._own:
            self._divide()
        self._take_words(self._called(command))
        grid = {"t0": np.array(self.t0), "dt": np.array(self.dt), "n": np.array(self.n)}
        others = self._counts.arrays | self._rest() | arrays_of(self._internal_brought())
        return grid | {name: array.copy() for name, array in others.items()}

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

    # -- states -------------------------------------------------------------------------------------------------

    def _state(self) -> State:
        """Return the present state, with its sums; nodes are brought when they are looked at."""
        if not self._own:
            self._divide()
        parts = self._called(lambda rank: Member.sums)
        self._take_words([one.works for one in parts])
        n = self.n
        if self.system.changing and any(part.erodes for part in self.system.inelastic.values()):
            self.system.follow(self._called(lambda rank: attrgetter("gone"))[0])

        def bring(nodes: NDArray[np.integer] | None) -> tuple[Array, Array, Array]:
            if self.n != n:
                raise InvalidSystem(f"the ranks have gone on from the state at t = {self.t0 + n * self.dt:.6g} s.")
            return self._brought(nodes)

        def bring_internal() -> dict[str, Array]:
            if self.n != n:
                raise InvalidSystem(f"the ranks have gone on from the state at t = {self.t0 + n * self.dt:.6g} s.")
            return internal_of(self._found) if self._found else self._internal_brought()

        state = DistantState(self.t, Sums(self.system, parts), bring, bring_internal)
        if not state.sums.is_finite:
            refuse_infinite(state)
        return state

    def _brought(self, nodes: NDArray[np.integer] | None) -> tuple[Array, Array, Array]:
        """Return positions, velocities and accelerations [n, dim], of some nodes only, if they are given."""
        if nodes is None or self._found:
            arrays = self.arrays()
            return arrays["q"].copy(), arrays["v"].copy(), arrays["a"].copy()
        if self._found_at is None:
            self._found_at = np.empty((2, self.system.n_nodes), np.int32)
            for rank, own in self._own.items():
                self._found_at[0, own], self._found_at[1, own] = rank, np.arange(len(own))
        owner, place = self._found_at
        found = tuple(np.zeros((self.system.n_nodes, self.system.dim)) for _ in range(3))  # pages that no one touches
        of = {rank: nodes[owner[nodes] == rank] for rank in self._own}
        for rank, parts in enumerate(self._called(lambda rank: partial(Member.some, places=place[of[rank]]))):
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
        """Return what energies report of a state just returned."""
        return dict(state.sums.reported) if isinstance(state, DistantState) else super().observed(state, gradient)


def _require_solver(linear: str) -> None:
    """Check that a linear solver runs on several ranks.

    Raises
    ------
    InvalidSystem
        If it does not.
    """
    if linear not in _LINEAR:
        raise InvalidSystem(f'linear = "{linear}" does not run on several ranks; take one of {", ".join(_LINEAR)}.')


def with_cutbacks(integrator: Integrator, ranks: Ranks) -> InParts | Stages:
    """Return a method that moves on several ranks, or one whose stages do.

    Raises
    ------
    InvalidSystem
        If it cannot.
    """
    if isinstance(integrator, Stages):
        if integrator.events:
            raise InvalidSystem(
                f"events, as '{integrator.events[0].name}', are not looked for on several ranks; run it on one."
            )
        stages = [replace(stage, integrator=with_cutbacks(stage.integrator, ranks)) for stage in integrator.stages]
        return replace(integrator, stages=stages)
    return InParts(integrator, ranks)  # pyright: ignore[reportArgumentType]
