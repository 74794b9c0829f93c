"""A system divided by levels: nodes in their order, and what acts on those of each level in its own memory."""

from __future__ import annotations

from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from symplex.fem.actions.loads import DeadLoad
from symplex.fem.assembly import forms
from symplex.fem.assembly.calls import Call, rows_of
from symplex.fem.compiled import threads
from symplex.fem.energies.energy import Array, Energy, IntArray
from symplex.fem.energies.neighbour_list import NeighbourListEnergy
from symplex.fem.some_stencils import SomeStencils
from symplex.fem.system import System
from symplex.time.explicit.local_contact import ChangingStencils
from symplex.time.explicit.local_levels import Levels, node_levels, stencil_levels
from symplex.time.explicit.local_loops import LevelTable
from symplex.time.explicit.local_outside import outside_nodes


@final
class Level:
    """The stencils of one level, and the nodes that they have: those of the level and the first of finer ones.

    Parameters
    ----------
    system : System
    order : int [n]
        Nodes by levels, the slowest first.
    own : (int, int)
        The first node of the level in this order, and the one after the last.
    chosen : dict of str to int
        The stencils of each energy.
    place : int [n]
        Of each node in the order.

    Attributes
    ----------
    own : slice
        The nodes that move at the rate of the level.
    nodes : slice
        Those that its stencils have.
    constant : float64 [l, dim]
        The part of the gradient of these nodes in N that does not depend on positions.
    gradient : float64 [l, dim]
        All of it; `refresh` sets it, and compiled loops do.
    work : float64 [l, dim]
        What it has taken in J to move the coordinates of supports against the gradient.
    stencils : int
        How many of more than one node there are.
    """

    def __init__(
        self,
        system: System,
        order: NDArray[np.intp],
        own: tuple[int, int],
        chosen: dict[str, NDArray[np.intp]],
        place: NDArray[np.intp],
    ):
        first = own[0]
        used = {name: place[_nodes_of(system, name, some)] for name, some in chosen.items()}
        last = max((int(nodes.max(initial=-1)) + 1 for nodes in used.values()), default=first)
        self.own, self.nodes = slice(*own), slice(first, max(last, first))
        where = order[self.nodes]
        self.constant = np.zeros((len(where), system.dim))
        self.gradient = np.zeros_like(self.constant)
        self.work = np.zeros_like(self.gradient) if system.moving else self.gradient[:0]
        self._given = system.moving.mask[where]
        self._before: tuple[Array, Array] | None = None
        self._parts: list[SomeStencils | ChangingStencils] = []
        self.stencils = 0
        for name, some in chosen.items():
            energy: Energy = system.energies[name]
            if isinstance(energy, NeighbourListEnergy):
                self._parts.append(ChangingStencils(energy, place - first, system.dim))
                continue
            part = SomeStencils(energy, some, used[name] - first, system.dim)
            if isinstance(energy, DeadLoad):
                part.add_gradient(self.constant, self.constant)
            else:
                self._parts.append(part)
                self.stencils += len(some) if energy.nodes.shape[1] > 1 else 0

    @cached_property
    def calls(self) -> list[Call] | None:
        """The calls by which compiled loops add the gradient to its constant part; None if they cannot."""
        found = [part.calls() for part in self._parts]
        return None if None in found else [call for calls in found for call in calls or ()]

    @property
    def shared(self) -> bool:
        """Whether several threads may find the gradient together, as they do if it is asked for from Python."""
        return any(threads.most(part.widest) > 1 for part in self._parts)

    def begin(self, q: Array) -> None:
        """Take the positions q [n, dim], in the order of nodes, that the next step begins with."""
        for part in self._parts:
            if isinstance(part, ChangingStencils):
                part.begin(q[self.nodes])

    def refresh(self, q: Array) -> None:
        """Set the gradient to that at the nodal positions q [n, dim], in the order of nodes."""
        at, gradient = q[self.nodes], self.gradient
        gradient[...] = self.constant
        for part in self._parts:
            part.add_gradient(at, gradient)

    def remember(self, q: Array) -> None:
        """Keep the gradient and the positions q [n, dim] that it belongs to, for the work of supports."""
        self._before = self.gradient.copy(), q[self.nodes].copy()

    def add_work(self, q: Array) -> None:
        """Add the work of supports from what is kept to the gradient at q [n, dim]: of the mean of both."""
        assert self._before is not None, "it is kept at the start"
        gradient, at = self._before
        self.work += np.where(self._given, 0.5 * (gradient + self.gradient) * (q[self.nodes] - at), 0.0)


def _nodes_of(system: System, name: str, some: NDArray[np.intp]) -> IntArray:
    """Return the nodes [s, k] of some stencils of an energy, or [s, 1] those that stencils which change may have."""
    energy = system.energies[name]
    if not isinstance(energy, NeighbourListEnergy):
        return energy.nodes[some]
    nodes = energy.possible_nodes
    return (np.arange(system.n_nodes, dtype=np.int32) if nodes is None else nodes)[:, None]


@final
class Division:
    """The levels of a system.

    Parameters
    ----------
    system : System
    levels : Levels
        Of all stencils.
    outside : int, default 0
        The level of loads and of supports that move.

    Attributes
    ----------
    order : int [n]
        The nodes, those of the lowest level first; in a level those that stencils of lower ones have come first.
    parts : list of Level
        The slowest first.
    bounds : int64 [levels + 1]
        Where the nodes of each level begin in the order, and the end.
    table : LevelTable
        Levels as compiled loops take them; those that they cannot find the gradient of have no calls.
    """

    def __init__(self, system: System, levels: Levels, outside: int = 0):
        n = system.n_nodes
        of_nodes = node_levels(system, levels)
        if outside:
            acted_on = outside_nodes(system)
            of_nodes[acted_on] = np.maximum(of_nodes[acted_on], outside)
        lowest = of_nodes.copy()
        every = {name: stencil_levels(system.energies[name], level) for name, level in levels.items()}
        for name, level in every.items():
            for column in _nodes_of(system, name, np.arange(len(level))).T:
                np.minimum.at(lowest, column, level)
        self.order = np.lexsort((np.arange(n), lowest, of_nodes))
        place = np.empty(n, np.intp)
        place[self.order] = np.arange(n)
        highest = int(of_nodes.max(initial=0))
        self.bounds = np.searchsorted(of_nodes[self.order], np.arange(highest + 2)).astype(np.int64)
        self.parts = []
        for k in range(highest + 1):
            chosen = {name: np.flatnonzero(level == k) for name, level in every.items()}
            own = int(self.bounds[k]), int(self.bounds[k + 1])
            self.parts.append(Level(system, self.order, own, {name: s for name, s in chosen.items() if len(s)}, place))
        self.table = self._table()

    def _table(self) -> LevelTable:
        """Return the levels as compiled loops take them, and let these set the gradients of parts."""
        calls = [part.calls or [] for part in self.parts]
        rows, ends = (np.cumsum([0, *map(len, lists)]) for lists in ([p.constant for p in self.parts], calls))
        constants = np.concatenate([part.constant for part in self.parts])
        gradients = np.concatenate([part.gradient for part in self.parts])
        for part, first, end in zip(self.parts, rows[:-1], rows[1:], strict=True):
            part.gradient = gradients[first:end]
        first_nodes = [part.nodes.start for part in self.parts]
        spans = np.column_stack([first_nodes, rows[:-1], rows[1:], ends[:-1], ends[1:]]).astype(np.int64)
        every = rows_of(forms.GRADIENT, [call for of_level in calls for call in of_level])
        return LevelTable(self.bounds, spans, constants, gradients, every)

    @property
    def from_python(self) -> list[int]:
        """The levels whose gradients are found from Python, by several threads or as they have no loops."""
        return [k for k, part in enumerate(self.parts) if part.shared or part.calls is None]

    @property
    def evaluations(self) -> int:
        """How many stencils of more than one node are looked at in a largest step."""
        return sum(part.stencils << level for level, part in enumerate(self.parts))
