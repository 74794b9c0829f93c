"""States that probes look at: one, or several at a few nodes each, of which rows are found together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from symplex.errors import InvalidSystem
from symplex.fem.actions.increment_load import IncrementLoad
from symplex.fem.assembly.pattern import Array
from symplex.fem.outputs.forces import Acting, as_it_is, force_on_nodes
from symplex.fem.structures.joints import JointReaction
from symplex.fem.system import Load, State, System

# What probes need at nodes: "q", "v" or "a" of the state, "reactions", which are the forces of supports, or
# ("force", name), those of an energy or a load.
Wanted: TypeAlias = str | tuple[str, str]
Indices: TypeAlias = NDArray[np.integer]
Needs: TypeAlias = Mapping[Wanted, Indices]

TOGETHER = 128  # states that are looked at together at best
_MOST_NODES = 1 << 17  # at which something is kept of all of them, but for a single one


@final
class Observation:
    """A state that probes look at, with what several of them need found once.

    Parameters
    ----------
    system : System
    state : State
    gradient : callable, optional
        Returns ∂φ/∂x of an energy as it acts, as `Motion.gradient`; default: as it is.
    constraint_forces : callable, optional
        Returns those [n, dim] in N of constraints that a method keeps, which are no reactions of supports, or None; as
        `Motion.constraint_forces`.
    slip : float64 [n, dim], optional
        Velocities in m/s that friction sees instead of those of the state, as `Motion.slip`.
    """

    def __init__(
        self,
        system: System,
        state: State,
        gradient: Acting = as_it_is,
        constraint_forces: Callable[[], Array | None] = lambda: None,
        slip: Array | None = None,
    ):
        self.system, self.state, self._slip = system, state, slip
        self._gradient, self._constraint_forces = gradient, constraint_forces
        self._forces: dict[str, Array] = {}

    def __len__(self) -> int:
        return 1

    @property
    def times(self) -> Array:
        """The time [1] in s."""
        return np.array([self.state.t])

    @property
    def internal(self) -> Sequence[Mapping[str, Array]]:
        """The internal variables of the one state."""
        return (self.state.internal,)

    def array(self, requested: Wanted, nodes: Indices | None = None) -> Array:
        """Return what is needed [n, dim], at all nodes, or, if it is the state's, at given nodes at least."""
        if isinstance(requested, tuple):
            return self.force_of(requested[1])
        if requested == "reactions":
            return self.reactions
        return getattr(self.state if nodes is None else self.state.of_nodes(nodes), requested)

    def at(self, requested: Wanted, nodes: Indices) -> Array:
        """Return what is needed [1, k, dim] at nodes."""
        return self.array(requested, nodes)[nodes][None]

    @cached_property
    def reactions(self) -> Array:
        """The forces [n, dim] in N of supports."""
        found = self.system.reactions(self.state)
        for load in self.system.increment_loads if self._slip is not None else ():
            of_state = load(self.state.t, self.state.q, self.state.v)
            found -= np.where(self.system.fixed, self._force(load) - of_state, 0.0)
        forces = self._constraint_forces()
        if forces is not None:
            found -= np.where(self.system.fixed, forces, 0.0)
        return found

    @cached_property
    def joint_reactions(self) -> Mapping[str, JointReaction]:
        """Force and moment of each joint on its first body, by name."""
        return self.system.joint_reactions(self.state)

    def _force(self, load: Load) -> Array:
        """Return the force [n, dim] in N of a load, of friction against the velocities that it sees."""
        state, v = self.state, self.state.v
        if self._slip is not None and isinstance(load, IncrementLoad):
            v = self._slip
        return load(state.t, state.q, v)

    def force_of(self, name: str) -> Array:
        """Return the forces [n, dim] in N of an energy, inelastic part or load; zero if it does not act now."""
        if name not in self._forces:
            state, system = self.state, self.system
            if name in system.energies:
                self._forces[name] = force_on_nodes(system.energies[name], state, self._gradient)
            elif name in system.inelastic:
                self._forces[name] = system.inelastic[name].force(state.q, state.internal[name], state.q, 0.0)
            elif name in system.loads:
                self._forces[name] = np.asarray(self._force(system.loads[name]))
            else:
                self._forces[name] = np.zeros_like(state.q)
        return self._forces[name]


@final
class Snapshots:
    """States in the order in which they were added, with what some probes need of them.

    It answers what an `Observation` of a single state answers.

    Parameters
    ----------
    needs : iterable of mapping
        Of the probes: nodes by what is needed at them.
    """

    def __init__(self, needs: Iterable[Needs]):
        nodes: dict[Wanted, list[Indices]] = {}
        for one in needs:
            for requested, some in one.items():
                nodes.setdefault(requested, []).append(some)
        self._nodes = {requested: np.unique(np.concatenate(parts)) for requested, parts in nodes.items()}
        looked_at = [
            some for requested, some in self._nodes.items() if isinstance(requested, str) and requested != "reactions"
        ]
        self._of_state = np.unique(np.concatenate([np.empty(0, np.int32), *looked_at]))  # brought together
        most = max(map(len, self._nodes.values()), default=0)
        self._times = np.empty(max(min(TOGETHER, _MOST_NODES // max(most, 1)), 1))
        self._kept: list[tuple[Wanted, Indices | None, Array]] = []  # nodes, if not all, and values [room, k, dim]
        self._n_nodes = 0
        self.internal: list[Mapping[str, Array]] = []

    def __len__(self) -> int:
        return len(self.internal)

    @property
    def times(self) -> Array:
        """The times [s] in s."""
        return self._times[: len(self)]

    @property
    def is_full(self) -> bool:
        """Whether there is no room for another state."""
        return len(self) == len(self._times)

    def add(self, seen: Observation) -> None:
        """Add a state."""
        if not self._kept:
            self._make_room(seen.system.n_nodes, seen.system.dim)
        k, state = len(self), seen.state
        self._times[k] = state.t
        for requested, nodes, values in self._kept:
            if nodes is None:
                values[k] = seen.array(requested)
            else:
                array = seen.array(requested, self._of_state)
                array.take(nodes, axis=0, out=values[k], mode="clip")  # the other modes copy once more
        self.internal.append(state.internal)

    def _make_room(self, n: int, dim: int) -> None:
        self._n_nodes, room = n, len(self._times)
        for requested, nodes in self._nodes.items():
            if len(nodes) and nodes[-1] >= n:
                raise InvalidSystem(f"there is no node {nodes[-1]}; the system has {n}.")
            every = len(nodes) == n
            self._kept.append((requested, None if every else nodes, np.empty((room, len(nodes), dim))))

    def at(self, requested: Wanted, nodes: Indices) -> Array:
        """Return what is needed [s, k, dim] at nodes, for each state; not to be written to."""
        own, values = next((self._nodes[name], values) for name, _, values in self._kept if name == requested)
        values = values[: len(self)]
        if len(nodes) == len(own) and (nodes == own).all():
            return values
        return values[:, np.searchsorted(own, nodes)]

    def state(self, k: int) -> State:
        """Return a state with the positions that are needed, zero at other nodes, at rest."""
        nodes = self._nodes["q"]
        q = np.zeros((self._n_nodes, self._kept[0][2].shape[2]))
        q[nodes] = self.at("q", nodes)[k]
        still = np.zeros_like(q)
        return State(float(self._times[k]), q, still, still, internal=self.internal[k])

    def clear(self) -> None:
        """Forget all states."""
        self.internal = []

    def single(self, k: int) -> Snapshots:
        """Return one of the states alone."""
        one = Snapshots.__new__(Snapshots)
        one._nodes, one._n_nodes, one._times = self._nodes, self._n_nodes, self._times[k : k + 1]
        one._kept = [(requested, nodes, values[k : k + 1]) for requested, nodes, values in self._kept]
        one.internal = self.internal[k : k + 1]
        return one
