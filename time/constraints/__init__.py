"""Methods that keep constraints with multipliers: SHAKE and RATTLE."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".multipliers": ("project",),
        ".rattle": ("Rattle", "Shake"),
    },
)
