"""From a mesh to a system: energies, elements, materials, mass, loads and supports."""

# Made by tests/write_stubs.py.
from symplex.fem.couplings.cyclic import CyclicSymmetry as CyclicSymmetry
from symplex.fem.couplings.equations import LinearConstraints as LinearConstraints
from symplex.fem.couplings.interpolation import Interpolation as Interpolation
from symplex.fem.couplings.ties import tie_to_surface as tie_to_surface
from symplex.fem.energies.energy import Energy as Energy
from symplex.fem.mass_properties import MassProperties as MassProperties
from symplex.fem.state import State as State
from symplex.fem.structures.rigidity import Rigidity as Rigidity
from symplex.fem.system import System as System
from symplex.fem.velocities import velocity_field as velocity_field
