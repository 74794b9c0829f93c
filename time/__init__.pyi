"""How a system moves: time integrators on one common interface."""

# Made by tests/write_stubs.py.
from symplex.time.composition import Composition as Composition
from symplex.time.dense_output import Interpolant as Interpolant
from symplex.time.dense_output import locate as locate
from symplex.time.integrator import Integrator as Integrator
from symplex.time.langevin import Langevin as Langevin
from symplex.time.langevin import kinetic_temperature as kinetic_temperature
from symplex.time.motion import Motion as Motion
from symplex.time.probing import ProbeRecorder as ProbeRecorder
from symplex.time.stage_event import Event as Event
from symplex.time.stages import Stage as Stage
from symplex.time.stages import Stages as Stages
from symplex.time.trajectory import Recorder as Recorder
from symplex.time.trajectory import Trajectory as Trajectory
from symplex.time.trajectory import march as march
from symplex.time.trajectory import record as record
