"""Elastic bodies: elements, laws, and the compiled loops over them."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".anisotropic": ("AnisotropicElastic",),
        ".eroding": ("Eroding", "JohnsonCookFailure"),
        ".formula": ("FormulaMaterial", "material"),
        ".hardening": ("Hardening",),
        ".materials": ("LinearElastic", "Material", "MooneyRivlin", "NeoHookean", "SaintVenantKirchhoff"),
        ".plastic": ("Plastic",),
        ".solid": ("Solid",),
        ".viscoelastic": ("Viscoelastic",),
        ".viscous_stress": ("ViscousStress",),
    },
)
