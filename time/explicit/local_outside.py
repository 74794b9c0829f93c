"""Loads, and supports that move, in local time steps: both at the rate of the fastest node that needs it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from symplex.fem.actions.increment_load import IncrementLoad
from symplex.fem.actions.loads import Pressure
from symplex.fem.energies.differentiable_load import DifferentiableLoad
from symplex.fem.energies.energy import Array
from symplex.fem.energies.neighbour_list import NeighbourListEnergy
from symplex.fem.system import Load, System
from symplex.time.explicit.local_levels import Levels, halvings, node_levels
from symplex.time.explicit.local_rates import Safety
from symplex.time.stability import largest_damping


def outside_nodes(system: System) -> NDArray[np.integer]:
    """Return the nodes that loads act on, or look at, and those that supports move."""
    found = [np.flatnonzero(system.moving.mask.any(axis=1))] + [
        _nodes_of(load, system.n_nodes) for load in system.loads.values()
    ]
    return np.unique(np.concatenate(found))


def outside_level(system: System, q: Array, v: Array, levels: Levels, dt: float, safety: Safety) -> int:
    """Return the level of all loads and supports together: the forces of loads, and what supports do, are theirs.

    Forces that act on nodes at rest need the rate of these nodes: in a few large impulses they would shake them.
    Those that only slow nodes down need a rate that is stable: with (hω/2)² + h c = 1 for the largest rate of damping
    c, and hω/2 as far as elements may take it.
    """
    if not (system.loads or system.moving):
        return 0
    at = node_levels(system, levels)
    level = int(at[system.moving.mask.any(axis=1)].max(initial=0))
    for load in system.loads.values():
        if isinstance(load, Pressure) or not isinstance(load, DifferentiableLoad):
            level = max(level, int(at[_nodes_of(load, system.n_nodes)].max(initial=0)))
    damping = largest_damping(system, q, v)
    least = 1.0 - safety.of_bodies**2
    return max(level, halvings(dt, max(least, 0.1) / damping)) if damping > 0.0 else level


def _nodes_of(load: Load, n_nodes: int) -> NDArray[np.integer]:
    """Return the nodes that a load acts on, or looks at: all, of a function that does not tell."""
    if isinstance(load, IncrementLoad):
        energy = load.energy
        nodes = energy.possible_nodes if isinstance(energy, NeighbourListEnergy) else energy.nodes
    else:
        nodes = getattr(load, "nodes", None)
    return np.arange(n_nodes) if nodes is None else np.unique(nodes)
