"""Contact: of nodes with rigid obstacles, and between the surfaces of bodies."""

# Made by tests/write_stubs.py.
from symplex.contact.bodies import BodyContact as BodyContact
from symplex.contact.exposed import ExposedSurface as ExposedSurface
from symplex.contact.framed import MovingObstacleContact as MovingObstacleContact
from symplex.contact.friction import Friction as Friction
from symplex.contact.gap_law import ContactLaw as ContactLaw
from symplex.contact.massless import mass_moved_inward as mass_moved_inward
from symplex.contact.massless import redistributed_mass as redistributed_mass
from symplex.contact.obstacles import Box as Box
from symplex.contact.obstacles import Capsule as Capsule
from symplex.contact.obstacles import Cylinder as Cylinder
from symplex.contact.obstacles import HalfSpace as HalfSpace
from symplex.contact.obstacles import Sphere as Sphere
from symplex.contact.offset import offset_contact as offset_contact
from symplex.contact.output import Contacts as Contacts
from symplex.contact.rigid import RigidContact as RigidContact
from symplex.contact.rigid_bodies import RigidBodies as RigidBodies
from symplex.contact.rigid_body import RigidBody as RigidBody
from symplex.contact.segments import SegmentContact as SegmentContact
from symplex.contact.solid_obstacles import obstacle_mass as obstacle_mass
from symplex.contact.spline_surfaces import SplineContact as SplineContact
from symplex.contact.spline_surfaces import SplineSurface as SplineSurface
from symplex.contact.stiffness import contact_stiffness as contact_stiffness
from symplex.contact.surfaces import Surface as Surface
