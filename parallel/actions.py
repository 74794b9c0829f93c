"""Pieces of what acts from outside: loads that change with time, and supports that move, on the nodes of one rank."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from symplex.fem.actions.damping import Drag
from symplex.fem.actions.loads import Pressure, ProportionalLoad
from symplex.fem.actions.support_motion import SupportMotion
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.system import System
from symplex.parallel.division import Share, places_of

Divisible = ProportionalLoad | Pressure | Drag


def is_divisible(load: object) -> TypeGuard[Divisible]:
    """Return whether each rank can have its part of a load that is not friction."""
    return isinstance(load, Divisible)


@dataclass(frozen=True)
class PartOfLoad:
    """Forces [s, dim] in N on nodes [s], times a factor; see `ProportionalLoad`."""

    nodes: IntArray
    forces: Array
    factor: Callable[[float], float]

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return the nodal forces [l, dim] in N."""
        out = np.zeros_like(q)
        out[self.nodes] = self.factor(t) * self.forces
        return out


@dataclass(frozen=True)
class NoLoad:
    """A load that does not act on this rank."""

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return zeros."""
        return np.zeros_like(q)


class PartOfMotion(SupportMotion):
    """Some nodes [s] of a support that moves, by their places [s] in it."""

    def __init__(self, whole: SupportMotion, chosen: NDArray[np.integer], nodes: IntArray):
        self._whole, self._chosen, self.nodes = whole, chosen, nodes
        self.axes, self.smooth, self.span = whole.axes, whole.smooth, whole.span

    def displacement(self, t: float) -> Array:
        """Return the displacements [s, c] in m."""
        return self._whole.displacement(t)[self._chosen]

    def velocity(self, t: float) -> Array:
        """Return the velocities [s, c] in m/s."""
        return self._whole.velocity(t)[self._chosen]

    def acceleration(self, t: float) -> Array:
        """Return the accelerations [s, c] in m/s²."""
        return self._whole.acceleration(t)[self._chosen]


def part_of_load(load: Divisible, share: Share, system: System) -> Callable[..., Array]:
    """Return what a load of a whole system does to the own nodes of a rank."""
    is_own = np.zeros(system.n_nodes, bool)
    is_own[share.nodes[: share.ghosts]] = True
    if isinstance(load, ProportionalLoad):
        chosen = is_own[load.nodes]
        nodes = places_of(share.nodes, load.nodes[chosen])
        return PartOfLoad(nodes, load.forces[chosen], load.factor)
    if isinstance(load, Drag):
        viscosity = load.viscosity[share.nodes]
        return Drag(np.abs(viscosity), -1.0 if np.any(viscosity < 0.0) else 1.0)  # of one sign
    # All faces around own nodes, whose other nodes are those of elements around them, and so here as well.
    faces = {str(k): cells[is_own[cells].any(axis=1)] for k, cells in enumerate(load.faces)}
    here = {k: places_of(share.nodes, cells) for k, cells in faces.items() if len(cells)}
    return Pressure(here, load.pressure, load.factor) if here else NoLoad()


def part_of_motion(motion: SupportMotion, share: Share) -> PartOfMotion:
    """Return what a support moves of own nodes and ghosts, if only none: all ranks go the same way."""
    chosen = np.flatnonzero(np.isin(motion.nodes, share.nodes))
    return PartOfMotion(motion, chosen, places_of(share.nodes, motion.nodes[chosen]))
