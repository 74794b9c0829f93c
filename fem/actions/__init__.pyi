"""What acts on a system: mass, supports at rest and in motion, loads and damping."""

# Made by tests/write_stubs.py.
from symplex.fem.actions.damping import (
    Dashpots as Dashpots,
    DifferentiableLoad as DifferentiableLoad,
    Drag as Drag,
    StiffnessDamping as StiffnessDamping,
)
from symplex.fem.actions.loads import (
    Gravity as Gravity,
    NodalForce as NodalForce,
    NodalLoad as NodalLoad,
    Pressure as Pressure,
    SurfaceTraction as SurfaceTraction,
)
from symplex.fem.actions.mass import (
    bar_mass as bar_mass,
    consistent_bar_mass as consistent_bar_mass,
    consistent_mass as consistent_mass,
    lumped_mass as lumped_mass,
)
from symplex.fem.actions.support_motion import (
    SupportMotion as SupportMotion,
    SupportRotation as SupportRotation,
    SupportTranslation as SupportTranslation,
)
from symplex.fem.actions.supports import fixed_mask as fixed_mask
from symplex.fem.actions.time_function import TimeFunction as TimeFunction
