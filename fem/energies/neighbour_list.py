"""Energies whose stencils change: those between which nodes are near each other now."""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import NamedTuple, Self

import numpy as np

from symplex.errors import StepFailed
from symplex.fem.assembly.forms import Form
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.compiled.kernels import kernel
from symplex.fem.energies.energy import Energy

RENEWED = 0.25  # of the margin, by which nodes move until a list is renewed


class IncompleteStencils(StepFailed):
    """A matrix at positions where nodes may be near each other that the list does not have.

    Attributes
    ----------
    ends : tuple of float64 [n, dim]
        The positions: one, or those of the two ends of an increment.
    """

    def __init__(self, message: str, ends: tuple[Array, ...]):
        super().__init__(message)
        self.ends = ends

    def __reduce__(self) -> tuple[type, tuple[str, tuple[Array, ...]]]:
        return type(self), (str(self), self.ends)


class Nearby(NamedTuple):
    """What acts of an energy while nodes stay near where they are.

    Attributes
    ----------
    energy : Energy
        All stencils that come closer than ``reach``.
    nodes : int32 [v]
        Those that have to stay.
    at : float64 [v, dim]
        Where, in m.
    rooms : float64 [v]
        The squares in m² of how far they may go from there.
    """

    energy: Energy
    nodes: IntArray
    at: Array
    rooms: Array


class Stiffness(NamedTuple):
    """A bound of a matrix of stiffness with rows g_r ≥ 0 of nodes: in size it is at most Σ k_r g_r g_rᵀ.

    Attributes
    ----------
    nodes : int32 [r, k]
    factors : float64 [r, k]
        g.
    stiffness : float64 [r]
        k in N/m.
    """

    nodes: IntArray
    factors: Array
    stiffness: Array


class NeighbourListEnergy(Energy):
    """An energy of the nodes that are near each other, with a list of them that is renewed between steps.

    A stencil has energy where its nodes are closer than ``reach`` only. The list holds those closer than reach +
    margin, so that it is complete until a node has moved by half the margin; it is renewed at a quarter, which leaves a
    quarter for a step. What is assembled does not depend on the list: elsewhere stencils are found again for one
    evaluation. Only matrices need the list, as it is what their pattern is made of. In a step that goes farther, an
    implicit method has it found again (`cover`), for both ends of the step, and once more after the step.

    The list between steps follows from the positions at which it was found. A checkpoint holds these, so that a motion
    goes on with the same list, and the same bits, however old it is. (To renew it at each checkpoint would make the
    motion depend on when they are taken.)

    Attributes
    ----------
    reach : float
        In m.
    margin : float
        In m.
    list_positions : float64 [n, dim]
        The nodal positions in m at which the list was found; without rows at first.
    version : int
        How often it was.
    """

    reach: float
    margin: float
    list_positions: Array
    _covered: tuple[Array, ...] = ()  # the ends of a step for which the list was found, within it

    @property
    def possible_nodes(self) -> IntArray | None:
        """The nodes [s] that its stencils may have, ascending; None: any. An energy that knows better overrides it."""
        return None

    def is_divisible(self, dim: int) -> bool:
        """Return that stencils cannot be taken alone: which there are depends on all."""
        return False

    @abstractmethod
    def find(self, ends: tuple[Array, ...], distance: float) -> None:
        """Let ``nodes`` be all stencils [m, k] whose nodes are closer than a distance in m, in a fixed order.

        They are looked for at the positions [n, dim], or at any of two. What else belongs to a stencil is set as well.
        The order is that of the nodes, so that sums over a longer list give the same bits.
        """

    def empty(self) -> None:
        """Let there be no stencils."""
        self.nodes = self.nodes[:0]

    def renewed(self, q: Array) -> bool:
        """Renew the list at the positions q [n, dim] if a node has moved by a quarter of the margin; return whether.

        It is renewed as well if it was found for the ends of a step.
        """
        listed = len(self.list_positions) == len(q) and not self._covered
        if listed and self.moved((q,)) <= RENEWED * self.margin:
            return False
        self.build_list(q.copy())
        return True

    def build_list(self, q: Array) -> None:
        """Find the list at the positions q [n, dim], which stay as they are."""
        self.list_positions, self._covered = q, ()
        if len(q):
            self.find((q,), self.reach + self.margin)
        else:
            self.empty()
        self.version += 1

    def extend_list(self, ends: tuple[Array, ...]) -> bool:
        """Find the list for the ends [n, dim] of a step, if it is not complete there; return whether."""
        if self._is_complete(ends):
            return False
        self._covered = tuple(q.copy() for q in ends)
        self.find(self._covered, self.reach + self.margin)
        self.version += 1
        return True

    def acts_at(self, q: Array) -> bool:
        """Return whether a stencil may be closer than ``reach`` at q [n, dim]; an energy that knows overrides it.

        What it returns must follow from q alone, whatever is in the list.
        """
        return True

    def nearby(self, q: Array, part: float = RENEWED) -> Nearby | None:
        """Return what acts from the positions q [n, dim] on, with how far nodes may go until it is to be found again.

        On the way nothing passes through, and nodes move by less than a part of the margin since the list was found.
        None if it is not known; an energy that knows overrides it.
        """
        return None

    def stiffness_near(self, q: Array, ahead: float) -> Stiffness | None:
        """Return what bounds ∇²V until two nodes have come closer by ahead in m than at q [n, dim]; None if unknown."""
        return None

    def settle(self, q: Array) -> None:
        """Find the list at the end q [n, dim] of a step alone, if it was found for both."""
        if self._covered:
            self.build_list(q.copy())

    def total(self, q: Array) -> float:
        """Return the energy in J at the nodal positions q [n, dim]."""
        return self.complete((q,)).listed_total(q)

    def add(self, form: Form, nodal: tuple[Array, ...], out: Array, slots: IntArray | None = None) -> None:
        """Add a form to what is assembled (see `Energy.add`), whether the list is complete there or not."""
        ends = form.positions(nodal)
        complete = self._is_complete(ends)
        if form.is_matrix and not complete:
            if len(self.list_positions) != len(nodal[0]):
                raise StepFailed(
                    f"{type(self).__name__} has found no stencils yet; system.update_neighbours(q) does that."
                )
            raise IncompleteStencils(
                f"{type(self).__name__}: nodes have moved by {self.moved(ends):.3g} m since the list of their "
                f"neighbours was found, which is more than half its margin, {0.5 * self.margin:.3g} m. Try a smaller "
                "step, or a larger margin.",
                ends,
            )
        (self if complete else self._found_at(ends)).add_listed(form, nodal, out, slots)

    def listed_total(self, q: Array) -> float:
        """Return the energy in J of the stencils in the list; an energy with compiled loops overrides it."""
        return super().total(q)

    def add_listed(self, form: Form, nodal: tuple[Array, ...], out: Array, slots: IntArray | None) -> None:
        """Add a form of the stencils in the list; an energy with compiled loops overrides it."""
        super().add(form, nodal, out, slots)

    def complete(self, ends: tuple[Array, ...]) -> Self:
        """Return the energy, or a copy, with a list that is complete at the given positions, one or two of them."""
        return self if self._is_complete(ends) else self._found_at(ends)

    def _found_at(self, ends: tuple[Array, ...]) -> Self:
        """Return a copy with a list that is complete at the given positions."""
        other = copy.copy(self)
        other.find(ends, self.reach)
        return other

    def _is_complete(self, ends: tuple[Array, ...]) -> bool:
        """Return whether the list has all stencils that are near each other at the given positions."""
        return len(self.list_positions) == len(ends[0]) and self.moved(ends) <= 0.5 * self.margin

    def moved(self, ends: tuple[Array, ...]) -> float:
        """Return how far in m a node is from where the list was found, at most."""
        found = self._covered or (self.list_positions,)
        return float(np.sqrt(max(min(self._farthest(q, at) for at in found) for q in ends)))

    def _farthest(self, q: Array, at: Array) -> float:
        """Return the largest square in m² of how far a node that counts is from where it was; infinite if unknown."""
        return farthest(q, at)


@kernel
def farthest(q, at):
    """Return the largest |q − at|² of the nodes; infinite if a position is not finite."""
    largest = 0.0
    for n in range(len(q)):
        squared = 0.0
        for i in range(q.shape[1]):
            squared += (q[n, i] - at[n, i]) ** 2
        if not squared <= largest:
            largest = squared if squared < np.inf else np.inf
    return largest
