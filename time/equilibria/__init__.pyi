"""Relative equilibria of free bodies, and how well computed motions keep to them."""

# Made by tests/write_stubs.py.
from symplex.time.equilibria.relative_path import RelativeEquilibrium as RelativeEquilibrium
from symplex.time.equilibria.relative_path import RelativePath as RelativePath
from symplex.time.equilibria.steady_rotation import relative_equilibrium as relative_equilibrium
from symplex.time.equilibria.steady_rotation import relative_equilibrium_of_momentum as relative_equilibrium_of_momentum
