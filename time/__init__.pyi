"""How a system moves: time integrators on one common interface."""

# Made by tests/write_stubs.py.
from symplex.time.composition import Composition as Composition
from symplex.time.dense_output import Interpolant as Interpolant, locate as locate
from symplex.time.integrator import Integrator as Integrator
from symplex.time.langevin import Langevin as Langevin, kinetic_temperature as kinetic_temperature
from symplex.time.motion import Motion as Motion
from symplex.time.trajectory import Recorder as Recorder, Trajectory as Trajectory, march as march, record as record
