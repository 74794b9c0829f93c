"""Contact energies: rigid obstacles with the penalty law."""

# Made by tests/write_stubs.py.
from symplex.contact.massless import redistributed_mass as redistributed_mass
from symplex.contact.obstacles import (
    Box as Box,
    Capsule as Capsule,
    Cylinder as Cylinder,
    HalfSpace as HalfSpace,
    Sphere as Sphere,
)
from symplex.contact.rigid import RigidContact as RigidContact
