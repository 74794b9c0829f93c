"""Contact energies: rigid obstacles with the penalty law."""

# Made by tests/write_stubs.py.
from symplex.contact.massless import redistributed_mass as redistributed_mass
from symplex.contact.obstacles import Box as Box
from symplex.contact.obstacles import Capsule as Capsule
from symplex.contact.obstacles import Cylinder as Cylinder
from symplex.contact.obstacles import HalfSpace as HalfSpace
from symplex.contact.obstacles import Sphere as Sphere
from symplex.contact.rigid import RigidContact as RigidContact
from symplex.contact.rigid_bodies import RigidBodies as RigidBodies
from symplex.contact.rigid_body import RigidBody as RigidBody
