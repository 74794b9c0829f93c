"""Methods that go from event to event: force-stepping and energy-stepping."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".energy_stepping": ("EnergyStepping",),
        ".force_stepping": ("ForceStepping",),
    },
)
