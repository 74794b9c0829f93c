"""Explicit methods: central differences and the symplectic Euler method."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".newmark": ("Newmark",),
        ".variational_euler": ("VariationalEuler",),
    },
)
