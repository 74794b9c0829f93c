"""Friction on several ranks: of nodes with obstacles, and between bodies."""

from __future__ import annotations

from typing import TypeGuard

from symplex.contact.friction import Friction
from symplex.contact.kernel_friction import SurfaceContact
from symplex.contact.rigid import RigidContact
from symplex.fem.actions.increment_load import IncrementLoad
from symplex.fem.couplings.interpolated_load import InterpolatedLoad
from symplex.fem.couplings.interpolation import ChangingInterpolatedEnergy
from symplex.fem.energies.energy import Energy
from symplex.parallel.contact import is_shared_contact

DivisibleFriction = Friction | InterpolatedLoad


def is_divisible_friction(load: object) -> TypeGuard[DivisibleFriction]:
    """Return whether each rank can have its part of a load that is friction."""
    if isinstance(load, InterpolatedLoad):
        return isinstance(load.load, Friction) and is_shared_contact(load.energy)
    return isinstance(load, Friction) and isinstance(load.energy, RigidContact | SurfaceContact)


def sees_ghosts(friction: DivisibleFriction) -> bool:
    """Return whether friction acts between nodes, so that it sees the velocities of those of other ranks."""
    contact = friction.energy
    return not isinstance(contact, RigidContact) or contact.carrier is not None


def friction_on_rank(friction: DivisibleFriction, contact: Energy) -> IncrementLoad:
    """Return friction as it follows from what a rank has of its contact."""
    if isinstance(contact, ChangingInterpolatedEnergy):
        return contact.of_load(friction_on_rank(friction, contact.energy))
    whole = friction.load if isinstance(friction, InterpolatedLoad) else friction
    assert isinstance(whole, Friction), "it would have been refused"
    assert isinstance(contact, SurfaceContact | RigidContact), "it would have been refused"
    law = whole.law
    return Friction(contact, law.dynamic, static=law.static, slip_speed=law.slip_speed, between=whole.between)
