"""Explicit methods: central differences and the symplectic Euler method."""

# Made by tests/write_stubs.py.
from symplex.time.explicit.newmark import Newmark as Newmark
from symplex.time.explicit.variational_euler import VariationalEuler as VariationalEuler
