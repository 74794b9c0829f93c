"""From a mesh to a system: energies, elements, materials, mass, loads and supports."""

from symplex.base.lazy import public
from symplex.fem.interrupts import defer_handlers

defer_handlers()  # before any kernel is called

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".energy": ("Energy",),
        ".equations": ("LinearConstraints",),
        ".interpolation": ("Interpolation",),
        ".mass_properties": ("MassProperties",),
        ".rigidity": ("Rigidity",),
        ".system": ("State", "System"),
        ".ties": ("tie_to_surface",),
        ".velocities": ("velocity_field",),
    },
)
