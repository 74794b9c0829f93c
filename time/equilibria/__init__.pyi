"""Equilibria: of systems at rest, and of free bodies in steady rotation, with what computed motions make of these."""

# Made by tests/write_stubs.py.
from symplex.time.equilibria.quasi_static import Static as Static
from symplex.time.equilibria.relative_path import RelativeEquilibrium as RelativeEquilibrium
from symplex.time.equilibria.relative_path import RelativePath as RelativePath
from symplex.time.equilibria.static import EquilibriumPath as EquilibriumPath
from symplex.time.equilibria.static import StaticEquilibrium as StaticEquilibrium
from symplex.time.equilibria.static import equilibrium_path as equilibrium_path
from symplex.time.equilibria.static import static_equilibrium as static_equilibrium
from symplex.time.equilibria.steady_rotation import relative_equilibrium as relative_equilibrium
from symplex.time.equilibria.steady_rotation import relative_equilibrium_of_momentum as relative_equilibrium_of_momentum
