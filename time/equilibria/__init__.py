"""Equilibria: of systems at rest, and of free bodies in steady rotation, with what computed motions make of these."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".relative_path": ("RelativeEquilibrium", "RelativePath"),
        ".quasi_static": ("Static",),
        ".static": ("EquilibriumPath", "StaticEquilibrium", "equilibrium_path", "static_equilibrium"),
        ".steady_rotation": ("relative_equilibrium", "relative_equilibrium_of_momentum"),
    },
)
