"""The levels of stencils: those of level l are looked at every dt/2ˡ."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.errors import InvalidSystem, UnstableStep
from symplex.fem.actions.loads import DeadLoad
from symplex.fem.energies.energy import Array, Energy, IntArray
from symplex.fem.energies.neighbour_list import NeighbourListEnergy
from symplex.fem.some_stencils import SomeStencils
from symplex.fem.system import System
from symplex.time.explicit.local_rates import Rates, nodal_frequencies, steady
from symplex.time.stability import largest_frequency

# The level of all stencils of an energy, of each, or a function that returns it for their positions x [m, k, dim].
Given = int | Sequence[int] | Callable[[Array], ArrayLike]
Levels = dict[str, NDArray[np.uint8]]

MOST = 16  # a finest step of 1/65536
_ROUNDING = 1e-9
_TRIES, _MOST_TRIES = 5, 12  # of bounds between two levels, also as long as none was good
_LITTLE_MORE = 0.005  # of a bound, in trials that were not good twice as much each time
_SLACK = 0.03  # how near the frequency of a level may be to what its step allows without another try
_APART = 0.25  # of its stability limit: the step of an energy that has one level for all nodes, next to faster ones


def finest(rates: Rates, dt: float) -> int:
    """Return the level of the stiffest stencils of a system for a largest step dt in s."""
    return 0 if is_one_level(rates, dt) else halvings(dt, rates.whole)


def is_one_level(rates: Rates, dt: float) -> bool:
    """Return whether all stencils can take a largest step dt in s."""
    return dt <= rates.alone * (1.0 + _ROUNDING)


def halvings(dt: float, requested: float) -> int:
    """Return how often a step dt in s must be halved to be at most the required one."""
    return max(math.ceil(math.log2(dt / requested) - _ROUNDING), 0) if requested < dt else 0


def levels_of(system: System, q: Array, rates: Rates, dt: float, layers: int, given: Mapping[str, Given]) -> Levels:
    """Return the levels of all stencils for a largest step dt in s at the positions q [n, dim].

    A stencil has the level of the fastest of its nodes, or that of a stencil so many layers away less one. The bound
    between each two levels is moved until the largest frequency of all stencils up to the lower one is as far from the
    stability limit of its step as required.
    """
    fixed = {name: _given(name, energy, given[name], q) for name, energy in system.energies.items() if name in given}
    highest = max(int(one.max(initial=0)) for one in (*fixed.values(), np.zeros(1)))
    highest = max(highest, halvings(dt, rates.whole) if highest else finest(rates, dt))
    found = _Levels(system, q, rates, dt, layers, fixed, highest)
    if len(fixed) < len(system.energies):
        for level in range(highest - 1, -1, -1):
            found.bound(level)
    levels = found.levels()
    for level in range(highest + 1):
        frequency, step = found.frequency(levels, level), dt / 2.0**level
        if fixed and step * frequency > 2.0 * (1.0 + _ROUNDING):
            raise UnstableStep(
                f"Multirate: with the given levels the step of level {level}, {step:.4g} s, is above its stability "
                f"limit, {2.0 / frequency:.4g} s. Give higher levels, or a smaller dt."
            )
    return levels


class _Levels:
    """The levels of stencils, while the bounds between them are looked for."""

    def __init__(self, system: System, q: Array, rates: Rates, dt: float, layers: int, fixed: Levels, highest: int):
        self._system, self._q, self._rates, self._dt, self._layers = system, q, rates, dt, layers
        self._fixed, self._highest = fixed, highest
        # Nodes that ask for less than bounds[l] are above level l.
        self._bounds = dt / 2.0 ** np.arange(highest)
        self._whole = {  # with the least that their level may be
            name: (energy, self._level_of_all(energy))
            for name, energy in system.energies.items()
            if name not in fixed and (name in system.changing or not energy.is_divisible(system.dim))
        }

    def _level_of_all(self, energy: Energy) -> int:
        """Return the level of an energy whose stencils cannot be taken alone, by what it alone makes of nodes."""
        own = self._rates.scale * nodal_frequencies(self._system, [energy], self._q)
        fastest = float(own.max(initial=0.0))
        return min(halvings(self._dt, _APART * 2.0 / fastest), self._highest) if fastest > 0.0 else 0

    def levels(self) -> Levels:
        """Return the levels that follow from the bounds."""
        system = self._system
        at = np.zeros(system.n_nodes, np.uint8)
        for level, bound in enumerate(self._bounds):
            at[self._rates.nodes < bound * (1.0 - _ROUNDING)] = level + 1
        for level in range(self._highest):
            at[(at <= level) & (self._rates.changing < self._dt / 2.0**level * (1.0 - _ROUNDING))] = level + 1
        divisible = {
            name: energy
            for name, energy in system.energies.items()
            if name not in self._fixed and name not in self._whole and not isinstance(energy, DeadLoad)
        }
        whole = {name: _raised(energy, level, at) for name, (energy, level) in self._whole.items()}
        _balance([energy.nodes for energy in divisible.values()], at, self._layers)
        found = {name: _of_stencils(energy, at) for name, energy in divisible.items()}
        found |= self._fixed | whole
        nodes = node_levels(system, found)
        for name, energy in system.energies.items():
            if name not in found:
                found[name] = _of_stencils(energy, nodes)
        return {name: found[name] for name in system.energies}

    def frequency(self, levels: Levels, level: int) -> float:
        """Return the largest frequency in rad/s of all stencils up to a level, from above.

        Of those that change it is not known which there will be; what they may do is in the steps that nodes ask for.
        """
        system = self._system
        chosen = {}
        for name, energy in steady(system).items():
            some = np.flatnonzero(stencil_levels(energy, levels[name]) <= level)
            if len(some) and not isinstance(energy, DeadLoad):
                whole = len(some) == len(energy.nodes)
                chosen[name] = energy if whole else SomeStencils(energy, some, energy.nodes[some], system.dim).energy
        if not chosen:
            return 0.0
        alone = System(system.mass, chosen, dim=system.dim, fixed=system.fixed)
        return largest_frequency(alone, self._q)

    def bound(self, level: int) -> None:
        """Move the bound between a level and the next one to where the step of the level is as far as required.

        Where no bound is found there are no stencils up to this level but those that have to be.
        """
        step, allowed = self._dt / 2.0**level, 2.0 * self._rates.safety.of_bodies
        above = self._bounds[level + 1] if level + 1 < self._highest else 0.0
        good, bad, more = np.inf, 0.0, _LITTLE_MORE
        trial = max(step, above)
        for tries in range(_MOST_TRIES):
            if tries >= _TRIES and good < np.inf:
                break
            self._bounds[level] = trial
            ratio = step * self.frequency(self.levels(), level) / allowed
            if ratio <= 1.0:
                good = trial
            else:
                bad, more = trial, 2.0 * more
            if 1.0 - _SLACK <= ratio <= 1.0 or ratio == 0.0:
                break
            requested = trial * (ratio if ratio > 1.0 else max(ratio, 0.5)) * (1.0 + more if ratio > 1.0 else 1.0)
            trial = requested if bad < requested < good else 0.5 * (bad + good) if good < np.inf else requested
            trial = max(trial, above)
            if trial == good:
                break
        self._bounds[level] = good


def _balance(stencils: list[IntArray], at: NDArray[np.uint8], layers: int) -> None:
    """Raise the levels [n] of nodes so that so many layers of stencils around a level have at least the one below."""
    for level in range(int(at.max(initial=0)), 1, -1):
        near = at >= level
        for _ in range(layers):
            reached = near.copy()
            for nodes in stencils:
                reached[nodes[near[nodes].any(axis=1)]] = True
            near = reached
        at[near & (at < level)] = level - 1


def stencil_levels(energy: Energy, levels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the level [m] of each stencil of an energy, or [1] of those that change; one number stands for all."""
    whole = len(levels) == 1 and not isinstance(energy, NeighbourListEnergy)
    return np.broadcast_to(levels, len(energy.nodes)) if whole else levels


def node_levels(system: System, levels: Levels) -> NDArray[np.uint8]:
    """Return the level [n] of each node: the highest of its stencils."""
    at = np.zeros(system.n_nodes, np.uint8)
    for name, level in levels.items():
        energy = system.energies[name]
        if isinstance(energy, NeighbourListEnergy):
            where = _possible(energy)
            at[where] = np.maximum(at[where], level)
        else:
            _raise_nodes(energy, stencil_levels(energy, level), at)
    return at


def _possible(energy: NeighbourListEnergy) -> IntArray | slice:
    """Return the nodes that an energy may act on."""
    return slice(None) if energy.possible_nodes is None else energy.possible_nodes


def _raised(energy: Energy, level: int, at: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the level [1] of an energy that has one: at least a given one, and of what may touch that of its nodes."""
    if isinstance(energy, NeighbourListEnergy):
        level = max(level, int(at[_possible(energy)].max(initial=0)))
    return np.full(1, level, np.uint8)


def _of_stencils(energy: Energy, at: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the highest level [m] of the nodes of each stencil."""
    return at[energy.nodes].max(axis=1) if energy.nodes.size else np.zeros(len(energy.nodes), np.uint8)


def _raise_nodes(energy: Energy, levels: NDArray[np.uint8], at: NDArray[np.uint8]) -> None:
    """Raise the levels [n] of nodes to those [m] of stencils."""
    for column in energy.nodes.T:
        np.maximum.at(at, column, levels)


def _given(name: str, energy: Energy, given: Given, q: Array) -> NDArray[np.uint8]:
    """Return the levels [m] that are given for an energy, or [1] where one level is for all."""
    found = np.asarray(given(q[energy.nodes]) if callable(given) else given)
    whole = found.dtype.kind in "iu" and found.min(initial=0) >= 0 and found.max(initial=0) <= MOST
    if not whole or found.shape not in ((), (len(energy.nodes),)):
        raise InvalidSystem(
            f"Multirate: levels of '{name}' are integers from 0 to {MOST}, one for all of its stencils or "
            f"{len(energy.nodes)} of them."
        )
    if found.ndim and not energy.is_divisible(q.shape[1]):
        raise InvalidSystem(
            f"Multirate: '{name}' ({type(energy).__name__}) has one level for all of its stencils; give one number."
        )
    return np.atleast_1d(found).astype(np.uint8)
