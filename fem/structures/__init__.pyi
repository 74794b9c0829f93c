"""Beams, shells and joints of frames, groups of rigid particles; bars that yield, cohesive faces."""

# Made by tests/write_stubs.py.
from symplex.fem.couplings.cohesive import CohesiveFaces as CohesiveFaces
from symplex.fem.structures.beam import Beams as Beams
from symplex.fem.structures.beam import beams as beams
from symplex.fem.structures.corotational import CorotationalDamping as CorotationalDamping
from symplex.fem.structures.corotational import CorotationalEnergy as CorotationalEnergy
from symplex.fem.structures.coupling import Coupling as Coupling
from symplex.fem.structures.frames import Frames as Frames
from symplex.fem.structures.joint_laws import JointLoad as JointLoad
from symplex.fem.structures.joint_laws import JointSpring as JointSpring
from symplex.fem.structures.joints import Joint as Joint
from symplex.fem.structures.joints import JointReaction as JointReaction
from symplex.fem.structures.moments import Moment as Moment
from symplex.fem.structures.plies import Orthotropic as Orthotropic
from symplex.fem.structures.plies import Ply as Ply
from symplex.fem.structures.plies import ShellProperties as ShellProperties
from symplex.fem.structures.quadratic_measures import QuadraticMeasures as QuadraticMeasures
from symplex.fem.structures.rigidity import body_particles as body_particles
from symplex.fem.structures.sections import BeamProperties as BeamProperties
from symplex.fem.structures.sections import Section as Section
from symplex.fem.structures.shell import Shells as Shells
from symplex.fem.structures.shell import shells as shells
from symplex.fem.structures.viscoelastic_sections import ViscoelasticSections as ViscoelasticSections
from symplex.fem.structures.viscous_measures import ViscousMeasures as ViscousMeasures
from symplex.fem.structures.yielding import YieldingBar as YieldingBar
from symplex.fem.structures.yielding_beams import YieldingBeams as YieldingBeams
