"""Inelastic parts on several ranks: each rank has the stencils around its own nodes, with their internal variables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.energies.inelastic import Inelastic
from symplex.parallel.division import places_of


@final
@dataclass(frozen=True)
class InelasticPiece:
    """Some stencils of an inelastic part.

    Attributes
    ----------
    chosen : int [s]
        Which these are in the whole part, ascending: so nodes sum their forces in the order of one process.
    nodes, named : int32 [s, k]
        Their nodes, as the rank and as the whole mesh numbers them.
    part : Inelastic
        On the nodes of the rank; it counts each stencil whose first node is an own one.
    whole : int
        How many stencils the whole part has.
    """

    chosen: NDArray[np.integer]
    nodes: IntArray
    named: IntArray
    part: Inelastic
    whole: int

    def counted(self, z: Array) -> Array:
        """Return the internal variables of the stencils that count here."""
        return np.compress(self.counts, z, self.part.stencil_axis)

    @property
    def counts(self) -> NDArray[np.bool_]:
        """Which stencils [s] count here: each of the whole part on one rank."""
        assert self.part.counts is not None, "it is set"
        return self.part.counts


def piece_of(part: Inelastic, chosen: NDArray[np.integer], where: IntArray, own: int) -> InelasticPiece:
    """Return the piece with chosen stencils on a rank with the nodes where [l], the first of which are its own."""
    named = part.nodes[chosen]
    nodes = places_of(where, named)
    some = part.of_some(chosen, nodes) if len(chosen) else _Nothing(part, nodes)
    some.counts = nodes[:, 0] < own
    return InelasticPiece(chosen, nodes, named, some, len(part.nodes))


@final
class _Nothing(Inelastic):
    """A part with no stencil on this rank."""

    def __init__(self, part: Inelastic, nodes: IntArray):
        self.nodes, axis = nodes, part.stencil_axis
        self.stencil_axis = axis  # pyright: ignore[reportAttributeAccessIssue]
        # By which all ranks divide steps, and take part in what they find of elements that are gone
        self.history, self.erodes = part.history, part.erodes  # pyright: ignore[reportAttributeAccessIssue]
        self.shape = (*part.shape[:axis], 0, *part.shape[axis + 1 :])

    def relaxed(self, q: Array) -> Array:
        """Return no internal variables."""
        return np.zeros(self.shape)

    def stored(self, q: Array, z: Array) -> float:
        """Return 0."""
        return 0.0

    def force(self, q0: Array, z0: Array, q1: Array, h: float) -> Array:
        """Return zeros [l, dim]."""
        return np.zeros_like(q1)

    mean_force = force

    def add_derivatives(self, *arguments: Any, mean: bool) -> None:
        """Add nothing."""

    def after(self, q0: Array, z0: Array, q1: Array, h: float) -> tuple[Array, float]:
        """Return no internal variables, and 0."""
        return z0.copy(), 0.0
