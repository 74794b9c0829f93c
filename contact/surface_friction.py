"""Friction between the surfaces of bodies: the pairs of a contact, and the loops over them."""

from __future__ import annotations

from typing import final

import numpy as np

from symplex.contact.bodies import BodyContact
from symplex.contact.friction_law import FrictionLaw
from symplex.contact.laws import LAWS
from symplex.contact.pair_friction import add_friction, add_friction_derivatives, room
from symplex.contact.pairs import Law, scratch
from symplex.contact.search import SurfacePairs
from symplex.errors import InvalidSystem
from symplex.fem.assembly import Array, IntArray
from symplex.fem.copying import Copyable


@final
class SurfaceFriction(Copyable):
    """The forces of `symplex.contact.pair_friction`, for all pairs of a contact or those of two bodies."""

    def __init__(self, contact: BodyContact, friction: FrictionLaw, between: tuple[str, str] | None):
        self._contact, self._friction = contact, friction
        self._law = Law(LAWS[contact.law], contact.stiffness, contact.reach)
        self._work, self._room = scratch(), room()
        self._bodies: tuple[int, int] | None = None
        self._chosen: tuple[IntArray, SurfacePairs] | None = None  # the list that they were chosen from
        if between is not None:
            one, other = (contact.surface.body(name) for name in between)
            if not contact.between[one, other]:
                raise InvalidSystem(f"Friction: the bodies '{between[0]}' and '{between[1]}' are not in contact.")
            self._bodies = min(one, other), max(one, other)

    @property
    def nodes(self) -> IntArray:
        """The pairs [m, 4] in the list."""
        return self._of(self._contact).nodes

    def add(self, q0: Array, q1: Array, v: Array, out: Array) -> float:
        """Add the forces to out [n, 3]; return a sum that is finite if all are."""
        near = self._contact.complete((q0,) if q1 is q0 else (q0, q1))
        return add_friction(q0, q1, v, self._of(near), self._law, self._friction, self._work, self._room, out)

    def add_derivatives(
        self, q0: Array, q1: Array, v: Array, by_q: float, by_v: float, slots: IntArray, out: Array
    ) -> float:
        """Add 2 by_q ∂f/∂q1 + by_v ∂f/∂v to the blocks [nnz, 3, 3]; return a sum that is finite if all are.

        The list must be complete, as it is where the Hessian of the contact is added.
        """
        arguments = self._of(self._contact), self._law, self._friction, self._work, self._room
        return add_friction_derivatives(q0, q1, v, by_q, by_v, *arguments, slots, out)

    def _of(self, contact: BodyContact) -> SurfacePairs:
        """Return the pairs in the list of the contact that have this friction."""
        if self._bodies is None:
            return contact.pairs
        if self._chosen is None or self._chosen[0] is not contact.nodes:
            pairs = contact.pairs
            bodies = np.sort(contact.surface.bodies_of(pairs.nodes[:, [0, 3]]), axis=1)
            rows = np.flatnonzero((bodies == self._bodies).all(axis=1))
            nodes, edge_edge, weights, parallel = pairs
            chosen = SurfacePairs(nodes[rows], edge_edge[rows], weights[rows], parallel[rows])
            self._chosen = contact.nodes, chosen
        return self._chosen[1]
