"""symplex: finite-element structural dynamics with integrators that keep what the physics keeps.

What most studies need is here; the rest is in families, as ``symplex.measures.RigidBars``.
"""

# Made by tests/write_stubs.py.
from symplex import contact as contact
from symplex import errors as errors
from symplex import fem as fem
from symplex import meshes as meshes
from symplex import runs as runs
from symplex import scenario as scenario
from symplex import time as time
from symplex.contact.obstacles import HalfSpace as HalfSpace
from symplex.contact.obstacles import Sphere as Sphere
from symplex.contact.rigid import RigidContact as RigidContact
from symplex.errors import SymplexError as SymplexError
from symplex.fem import actions as actions
from symplex.fem import grid as grid
from symplex.fem import measures as measures
from symplex.fem import solids as solids
from symplex.fem.actions.loads import Gravity as Gravity
from symplex.fem.actions.mass import consistent_mass as consistent_mass
from symplex.fem.actions.mass import lumped_mass as lumped_mass
from symplex.fem.actions.supports import fixed_mask as fixed_mask
from symplex.fem.energy import Energy as Energy
from symplex.fem.measures.bars import Bars as Bars
from symplex.fem.measures.penalty import Penalty as Penalty
from symplex.fem.solids.constitutive import Material as Material
from symplex.fem.solids.formula import material as material
from symplex.fem.solids.materials import LinearElastic as LinearElastic
from symplex.fem.solids.materials import MooneyRivlin as MooneyRivlin
from symplex.fem.solids.materials import NeoHookean as NeoHookean
from symplex.fem.solids.materials import SaintVenantKirchhoff as SaintVenantKirchhoff
from symplex.fem.solids.solid import Solid as Solid
from symplex.fem.state import State as State
from symplex.fem.system import System as System
from symplex.meshes.bundled_meshes import bundled as bundled
from symplex.meshes.formats.read import read_mesh as read_mesh
from symplex.meshes.formats.save import save_mesh as save_mesh
from symplex.meshes.generate import box as box
from symplex.meshes.generate import cube_mesh as cube_mesh
from symplex.meshes.mesh import Mesh as Mesh
from symplex.meshes.mesh import merge as merge
from symplex.meshes.midside_nodes import quadratic as quadratic
from symplex.meshes.pictures.render import render_film as render_film
from symplex.meshes.pictures.render import render_snapshots as render_snapshots
from symplex.meshes.pictures.view import View as View
from symplex.meshes.series.series import open_series as open_series
from symplex.meshes.series.series import read_series as read_series
from symplex.runs.history import read_history as read_history
from symplex.runs.plots import plot_history as plot_history
from symplex.runs.run import simulate as simulate
from symplex.scenario.scenario import Scenario as Scenario
from symplex.time import conserving as conserving
from symplex.time import constraints as constraints
from symplex.time import equilibria as equilibria
from symplex.time import events as events
from symplex.time import explicit as explicit
from symplex.time import implicit as implicit
from symplex.time import manifolds as manifolds
from symplex.time import reductions as reductions
from symplex.time import solvers as solvers
from symplex.time import variational as variational
from symplex.time.composition import Composition as Composition
from symplex.time.conserving.energy_momentum import EnergyMomentum as EnergyMomentum
from symplex.time.conserving.graham_jelenic import GrahamJelenic as GrahamJelenic
from symplex.time.constraints.rattle import Rattle as Rattle
from symplex.time.events.energy_stepping import EnergyStepping as EnergyStepping
from symplex.time.events.force_stepping import ForceStepping as ForceStepping
from symplex.time.explicit.newmark import Newmark as Newmark
from symplex.time.implicit.generalized_alpha import GeneralizedAlpha as GeneralizedAlpha
from symplex.time.implicit.generalized_alpha import HilberHughesTaylor as HilberHughesTaylor
from symplex.time.implicit.midpoint import Midpoint as Midpoint
from symplex.time.integrator import Integrator as Integrator
from symplex.time.langevin import Langevin as Langevin
from symplex.time.motion import Motion as Motion
from symplex.time.solvers.newton import Newton as Newton
from symplex.time.trajectory import Recorder as Recorder
from symplex.time.trajectory import Trajectory as Trajectory
from symplex.time.trajectory import march as march
from symplex.time.trajectory import record as record
from symplex.time.variational.adaptive_variational import AdaptiveVariational as AdaptiveVariational
from symplex.time.variational.variational import VariationalMidpoint as VariationalMidpoint
from symplex.time.variational.zhang_skeel import ZhangSkeel as ZhangSkeel

__version__: str
