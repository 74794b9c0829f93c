"""Checks of user-defined energies, loads, laws, constraints and integrators: one call finds a wrong sign.

The tests of the package call the same functions for its own. Each raises `symplex.errors.CheckFailed`, an
``AssertionError``, with one sentence that says what is wrong, where and by how much.
"""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".energies": ("check_constraint", "check_energy"),
        ".inelastic": ("check_inelastic",),
        ".integrators": ("check_integrator",),
        ".laws": ("check_law", "check_material"),
        ".loads": ("check_load",),
        ".systems": ("check_system",),
    },
)
