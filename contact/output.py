"""What there is to report of bodies in contact: gaps, forces, pressures, by pairs, nodes and bodies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.base.columns import Column, components, vector_columns
from symplex.contact.pairs import SurfacePairs
from symplex.contact.surfaces import Surface
from symplex.fem.assembly.pattern import Array, IntArray

GAP = Column("gap", "m", "length", plot="gap", summary="least", combined="smallest")
# Pairs of bodies at most of which histories, and plots of them, tell one by one.
MOST_PAIRS, _PLOTTED = 50, 4


class Contacts(NamedTuple):
    """The pairs in contact, for output.

    Attributes
    ----------
    nodes : int32 [m, 4]
    bodies : int32 [m, 2]
        Of the vertex or first edge, and of the face or second edge.
    gaps : float64 [m]
        The distances in m, from where bodies touch.
    forces : float64 [m]
        The normal forces in N, w m |db/dd|.
    """

    nodes: IntArray
    bodies: IntArray
    gaps: Array
    forces: Array


@dataclass(frozen=True, eq=False)
class ContactState:
    """Bodies in contact at some positions."""

    surface: Surface
    between: NDArray[np.bool_]  # [bodies, bodies]: which bodies may touch
    reach: float  # the distance d̂ in m at which forces begin
    # How far in m the surfaces stand back from those of the bodies, both together: gaps reported are less by it
    offset: float
    q: Array  # [n, 3]: the nodal positions in m
    pairs: SurfacePairs  # all that are closer than d̂, and others
    c: Array  # [m, 4]: the coefficients of their closest points
    gaps: Array  # [m]: their distances in m, of the surfaces that stand back
    gradient: Array  # [m, 4, 3]: ∂φ/∂x of each in N, as it acts

    def of_some(self, rows: NDArray[np.intp]) -> ContactState:
        """Return what there is to report of some of its pairs, by their places."""
        return replace(
            self, pairs=self.pairs.chosen(rows), c=self.c[rows], gaps=self.gaps[rows], gradient=self.gradient[rows]
        )

    @property
    def farthest(self) -> float:
        """The gap in m from which on there is no force: d̂, or 0 of contact that begins as surfaces touch."""
        return self.reach - self.offset

    @cached_property
    def bodies(self) -> IntArray:
        """The bodies [m, 2] of the pairs."""
        return self.surface.bodies_of(self.pairs.nodes[:, [0, 3]])

    @cached_property
    def _of_first(self) -> Array:
        """The forces [m, 3] in N on the vertex or first edge; the mollifier's own part of them has no resultant."""
        return -(self.gradient[:, 0] + self.gradient[:, 1] * self.pairs.edge_edge[:, None])

    def contacts(self) -> Contacts:
        """Return the pairs that are closer than d̂, with gaps and normal forces."""
        near = np.flatnonzero(self.gaps < self.reach)
        gaps, nodes = self.gaps[near], self.pairs.nodes[near]
        normal = np.einsum("ma,mai->mi", self.c[near], self.q[nodes]) / np.where(gaps > 0.0, gaps, 1.0)[:, None]
        return Contacts(
            nodes, self.bodies[near], gaps - self.offset, np.einsum("mi,mi->m", self._of_first[near], normal)
        )

    def nodal_forces(self) -> Array:
        """Return the contact forces [n, 3] in N on the nodes."""
        out = np.zeros_like(self.q)
        np.subtract.at(out, self.pairs.nodes, self.gradient)
        return out

    def nodal_gaps(self) -> Array:
        """Return the gaps [n] in m of nodes to the nearest face that they may touch; `farthest` if none is near."""
        out = np.full(len(self.q), self.reach)
        faces = self.pairs.edge_edge == 0
        np.minimum.at(out, self.pairs.nodes[faces, 0], self.gaps[faces])
        return out - self.offset

    def resultants(self) -> dict[tuple[str, str], Array]:
        """Return for each pair of different bodies that may touch the force [3] in N of the second on the first one."""
        return resultants_of(self.surface.names, self.between, self.bodies, self._of_first)

    def observed(self) -> dict[str, float]:
        """Return the numbers that `columns_of` declares."""
        return observed_of(self.between, self.resultants, float(self.gaps.min(initial=self.reach)) - self.offset)


def resultants_of(
    names: Sequence[str], between: NDArray[np.bool_], bodies: IntArray, forces: Array
) -> dict[tuple[str, str], Array]:
    """Return for each pair of bodies the force [3] of the second on the first, by those [m, 3] of bodies [m, 2]."""
    found = {}
    for i, j in _different(between):
        there = forces[(bodies[:, 0] == i) & (bodies[:, 1] == j)].sum(axis=0)
        back = forces[(bodies[:, 0] == j) & (bodies[:, 1] == i)].sum(axis=0)
        found[names[i], names[j]] = there - back
    return found


def observed_of(
    between: NDArray[np.bool_], resultants: Callable[[], dict[tuple[str, str], Array]], gap: float
) -> dict[str, float]:
    """Return the numbers that `columns_of` declares, given the smallest gap in m."""
    reported = {GAP.name: gap}
    if len(_different(between)) <= MOST_PAIRS:
        for pair, force in resultants().items():
            reported |= components(_force_of(*pair), force)
    return reported


def columns_of(names: Sequence[str], between: NDArray[np.bool_]) -> tuple[Column, ...]:
    """Return what histories have of contact: forces between pairs of bodies, unless these are many, and the gap.

    Parameters
    ----------
    names : sequence of str
        Of the bodies.
    between : bool [bodies, bodies]
        Which of them may touch.
    """
    pairs = [(names[i], names[j]) for i, j in _different(between)]
    columns: list[Column] = []
    for one, other in pairs if len(pairs) <= MOST_PAIRS else []:
        plot = f"contact force of {other} on {one}" if len(pairs) <= _PLOTTED else ""
        columns += vector_columns(_force_of(one, other), "N", "force", plot, "peak")
    return *columns, GAP


def _force_of(one: str, other: str) -> str:
    return f"contact_force_{one}_{other}"


def _different(between: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the pairs of different bodies that may touch, each once."""
    return [(i, j) for i, j in np.argwhere(np.triu(between, 1)).tolist()]
