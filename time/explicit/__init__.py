"""Explicit methods: central differences, also in local time steps."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".multirate": ("Multirate",),
        ".newmark": ("Newmark",),
    },
)
