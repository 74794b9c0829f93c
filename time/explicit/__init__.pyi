"""Explicit methods: central differences, also in local time steps, and the symplectic Euler method."""

# Made by tests/write_stubs.py.
from symplex.time.explicit.multirate import Multirate as Multirate
from symplex.time.explicit.newmark import Newmark as Newmark
from symplex.time.explicit.variational_euler import VariationalEuler as VariationalEuler
