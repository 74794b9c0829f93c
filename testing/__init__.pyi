"""Checks of user-defined energies, loads, laws, constraints and integrators: one call finds a wrong sign.

The tests of the package call the same functions for its own. Each raises `symplex.errors.CheckFailed`, an
``AssertionError``, with one sentence that says what is wrong, where and by how much.
"""

# Made by tests/write_stubs.py.
from symplex.testing.energies import check_constraint as check_constraint
from symplex.testing.energies import check_energy as check_energy
from symplex.testing.inelastic import check_inelastic as check_inelastic
from symplex.testing.integrators import check_integrator as check_integrator
from symplex.testing.laws import check_law as check_law
from symplex.testing.laws import check_material as check_material
from symplex.testing.loads import check_load as check_load
from symplex.testing.systems import check_system as check_system
