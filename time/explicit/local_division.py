"""A system divided by levels: nodes in their order, and what acts on those of each level in memory of its own."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from symplex.fem.actions.loads import DeadLoad
from symplex.fem.energy import Array, Energy
from symplex.fem.some_stencils import SomeStencils
from symplex.fem.system import System
from symplex.time.explicit.local_levels import Levels, node_levels, stencil_levels
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
    gradient : float64 [l, dim]
        Of these nodes in N; `refresh` sets it.
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
        used = {name: place[system.energies[name].nodes[some]] for name, some in chosen.items()}
        last = max((int(nodes.max(initial=-1)) + 1 for nodes in used.values()), default=first)
        self.own, self.nodes = slice(*own), slice(first, max(last, first))
        where = order[self.nodes]
        self.gradient = np.zeros((len(where), system.dim))
        self.work = np.zeros_like(self.gradient) if system.moving else self.gradient[:0]
        self._given = system.moving.mask[where]
        self._before: tuple[Array, Array] | None = None
        self._constant = np.zeros_like(self.gradient)
        self._parts: list[SomeStencils] = []
        self.stencils = 0
        for name, some in chosen.items():
            energy: Energy = system.energies[name]
            part = SomeStencils(energy, some, where, used[name] - first, system.dim)
            if isinstance(energy, DeadLoad):
                part.add_gradient(self._constant, self._constant)
            else:
                self._parts.append(part)
                self.stencils += len(some) if energy.nodes.shape[1] > 1 else 0

    def refresh(self, q: Array) -> None:
        """Set the gradient to that at the nodal positions q [n, dim], in the order of nodes.

        Raises
        ------
        StepFailed
            If it is not finite.
        """
        at, gradient = q[self.nodes], self.gradient
        gradient[...] = self._constant
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
            for column in system.energies[name].nodes.T:
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

    @property
    def evaluations(self) -> int:
        """How many stencils of more than one node are looked at in a largest step."""
        return sum(part.stencils << level for level, part in enumerate(self.parts))
