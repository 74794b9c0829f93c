"""Relative equilibria of free bodies, and how well computed motions keep to them."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".relative_path": ("RelativeEquilibrium", "RelativePath"),
        ".steady_rotation": ("relative_equilibrium", "relative_equilibrium_of_momentum"),
    },
)
