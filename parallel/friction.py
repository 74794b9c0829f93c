"""Friction on several ranks: of nodes with obstacles, and between bodies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from symplex.contact.bodies import BodyContact
from symplex.contact.friction import Friction
from symplex.contact.friction_law import FrictionLaw
from symplex.contact.rigid import RigidContact
from symplex.fem.actions.increment_load import IncrementLoad
from symplex.fem.assembly import Array
from symplex.fem.energy import Energy
from symplex.fem.interpolated_load import InterpolatedLoad
from symplex.fem.interpolation import ChangingInterpolatedEnergy
from symplex.parallel.contact import is_shared_contact
from symplex.parallel.division import Share, places_of

DivisibleFriction = Friction | InterpolatedLoad


def is_divisible_friction(load: object) -> TypeGuard[DivisibleFriction]:
    """Return whether each rank can have its part of a load that is friction."""
    if isinstance(load, InterpolatedLoad):
        return isinstance(load.load, Friction) and is_shared_contact(load.energy)
    return isinstance(load, Friction) and isinstance(load.energy, RigidContact | BodyContact)


@dataclass(frozen=True)
class PartOfFriction:
    """Friction of some nodes with an obstacle. It follows from a part of an energy, which is none of the system's."""

    friction: Friction

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return the nodal forces [l, dim] in N."""
        return self.friction(t, q, v)


@dataclass(frozen=True)
class FrictionBetweenBodies:
    """Friction between bodies, to be made where the contact is that it follows from.

    Attributes
    ----------
    contact : str
        The name of that energy.
    law : FrictionLaw
    between : (str, str) or None
        The bodies, if not all.
    """

    contact: str
    law: FrictionLaw
    between: tuple[str, str] | None

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return zeros: it acts by what it is made into."""
        return np.zeros_like(q)

    def of(self, contact: Energy) -> IncrementLoad:
        """Return the friction of a contact on a rank."""
        if isinstance(contact, ChangingInterpolatedEnergy):
            return contact.of_load(self.of(contact.energy))
        assert isinstance(contact, BodyContact), "another contact is not shared"
        law = self.law
        return Friction(contact, law.dynamic, static=law.static, slip_speed=law.slip_speed, between=self.between)


def sees_ghosts(friction: DivisibleFriction) -> bool:
    """Return whether friction acts between nodes, so that it sees the velocities of those of other ranks."""
    contact = friction.energy
    return not isinstance(contact, RigidContact) or contact.carrier is not None


def part_of_friction(
    friction: DivisibleFriction, share: Share, is_own: NDArray[np.bool_], energies: Mapping[str, Energy]
) -> PartOfFriction | FrictionBetweenBodies | None:
    """Return the friction of own nodes with an obstacle, if there is any, or that between bodies, on all ranks."""
    whole = friction.load if isinstance(friction, InterpolatedLoad) else friction
    assert isinstance(whole, Friction), "it would have been refused"
    contact, law = whole.energy, whole.law
    if not isinstance(contact, RigidContact):
        name = next(name for name, energy in energies.items() if energy is friction.energy)
        return FrictionBetweenBodies(name, law, whole.between)
    chosen = np.flatnonzero(is_own[contact.nodes].any(axis=1))
    if not len(chosen):
        return None
    here = contact.of_some(chosen, places_of(share.nodes, contact.nodes[chosen]))
    return PartOfFriction(Friction(here, law.dynamic, static=law.static, slip_speed=law.slip_speed))
