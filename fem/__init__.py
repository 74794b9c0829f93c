"""From a mesh to a system: energies, elements, materials, mass, loads and supports."""

from symplex.base.lazy import public

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
