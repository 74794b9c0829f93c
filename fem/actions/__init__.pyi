"""What acts on a system: mass, supports at rest and in motion, loads and damping."""

# Made by tests/write_stubs.py.
from symplex.fem.actions.accelerograms import corrected_baseline as corrected_baseline
from symplex.fem.actions.centrifugal import Centrifugal as Centrifugal
from symplex.fem.actions.combined_motion import CombinedMotion as CombinedMotion
from symplex.fem.actions.coriolis import Coriolis as Coriolis
from symplex.fem.actions.dampers import MeanDashpot as MeanDashpot
from symplex.fem.actions.dampers import QuadraticDrag as QuadraticDrag
from symplex.fem.actions.damping import Dashpots as Dashpots
from symplex.fem.actions.damping import Drag as Drag
from symplex.fem.actions.damping import StiffnessDamping as StiffnessDamping
from symplex.fem.actions.energy_load import EnergyLoad as EnergyLoad
from symplex.fem.actions.increment_load import IncrementLoad as IncrementLoad
from symplex.fem.actions.loads import Gravity as Gravity
from symplex.fem.actions.loads import NodalForce as NodalForce
from symplex.fem.actions.loads import NodalLoad as NodalLoad
from symplex.fem.actions.loads import Pressure as Pressure
from symplex.fem.actions.loads import SurfaceTraction as SurfaceTraction
from symplex.fem.actions.mass import bar_mass as bar_mass
from symplex.fem.actions.mass import consistent_bar_mass as consistent_bar_mass
from symplex.fem.actions.mass import consistent_mass as consistent_mass
from symplex.fem.actions.mass import lumped_mass as lumped_mass
from symplex.fem.actions.mass import mixed_mass as mixed_mass
from symplex.fem.actions.mass_scaling import ScaledMass as ScaledMass
from symplex.fem.actions.mass_scaling import scaled_mass as scaled_mass
from symplex.fem.actions.support_motion import SupportMotion as SupportMotion
from symplex.fem.actions.support_motion import SupportRotation as SupportRotation
from symplex.fem.actions.support_motion import SupportTranslation as SupportTranslation
from symplex.fem.actions.supports import fixed_mask as fixed_mask
from symplex.fem.actions.thermal_load import ThermalLoad as ThermalLoad
from symplex.fem.actions.time_function import TimeFunction as TimeFunction
from symplex.fem.energies.differentiable_load import DifferentiableLoad as DifferentiableLoad
from symplex.fem.energies.inelastic import Inelastic as Inelastic
from symplex.fem.energies.rate_independent import RateIndependent as RateIndependent
