"""Methods in reduced coordinates, by translations and by rotations."""

# Made by tests/write_stubs.py.
from symplex.time.reductions.jacobi import JacobiCoordinates as JacobiCoordinates
from symplex.time.reductions.jacobi_reduction import JacobiReduction as JacobiReduction
from symplex.time.reductions.polar_reduction import PolarReduction as PolarReduction
