"""Force-stepping: a method that moves from event to event."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".force_stepping": ("ForceStepping",),
    },
)
