"""From a mesh to a system: energies, elements, materials, mass, loads and supports."""

from symplex.base.lazy import public
from symplex.fem.compiled.interrupts import defer_handlers

defer_handlers()  # before any kernel is called

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".energies.energy": ("Energy",),
        ".couplings.cyclic": ("CyclicSymmetry",),
        ".couplings.equations": ("LinearConstraints",),
        ".couplings.interpolation": ("Interpolation",),
        ".mass_properties": ("MassProperties",),
        ".structures.rigidity": ("Rigidity",),
        ".system": ("State", "System"),
        ".couplings.ties": ("tie_to_surface",),
        ".velocities": ("velocity_field",),
    },
)
