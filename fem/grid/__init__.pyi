"""Differences of energies between lattice points, for force-stepping."""

# Made by tests/write_stubs.py.
from symplex.fem.energies.lattice_values import compile_lattice as compile_lattice
