"""Friction between the surfaces of bodies: the pairs of a contact, and the loops over them."""

from __future__ import annotations

from typing import final

import numpy as np

from symplex.contact.bodies import BodyContact
from symplex.contact.friction_law import FrictionLaw
from symplex.contact.laws import LAWS
from symplex.contact.pair_friction import add_friction, add_friction_derivatives
from symplex.contact.pairs import Law
from symplex.contact.search import SurfacePairs
from symplex.errors import InvalidSystem
from symplex.fem.actions.looped_load import LoadForm
from symplex.fem.assembly import Array, IntArray
from symplex.fem.copying import Copyable


@final
class SurfaceFriction(Copyable):
    """The forces of `symplex.contact.pair_friction`, for all pairs of a contact or those of two bodies."""

    def call(self, form: LoadForm) -> None:
        """Return nothing: forces are found from Python."""

    def __init__(self, contact: BodyContact, friction: FrictionLaw, between: tuple[str, str] | None):
        self._contact, self._friction = contact, friction
        self._law = Law(LAWS[contact.law], contact.stiffness, contact.reach)
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
        return self._of(self._contact.pairs).nodes

    def add(self, q0: Array, q1: Array, v: Array, out: Array) -> float:
        """Add the forces to out [n, 3]; return a sum that is finite if all are."""
        pairs = self._of(self._contact.near((q0,) if q1 is q0 else (q0, q1)))
        return add_friction(q0, q1, v, pairs, self._law, self._friction, out)

    def add_derivatives(
        self, q0: Array, q1: Array, v: Array, by: tuple[float, float], secant: bool, slots: IntArray, out: Array
    ) -> float:
        """Add 2 by_q ∂f/∂q1 + by_v ∂f/∂v to the blocks [nnz, 3, 3]; return a sum that is finite if all are.

        The list must be complete, as it is where the Hessian of the contact is added.
        """
        arguments = self._of(self._contact.pairs), self._law, self._friction
        return add_friction_derivatives(q0, q1, v, *by, secant, *arguments, slots, out)

    def _of(self, pairs: SurfacePairs) -> SurfacePairs:
        """Return the pairs that have this friction."""
        if self._bodies is None:
            return pairs
        before = self._chosen
        if before is not None and before[0] is pairs.nodes:
            return before[1]
        bodies = np.sort(self._contact.surface.bodies_of(pairs.nodes[:, [0, 3]]), axis=1)
        chosen = pairs.chosen(np.flatnonzero((bodies == self._bodies).all(axis=1)))
        self._chosen = pairs.nodes, chosen
        return chosen
