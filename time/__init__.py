"""How a system moves: time integrators on one common interface."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".composition": ("Composition",),
        ".dense_output": ("Interpolant", "locate"),
        ".stage_event": ("Event",),
        ".integrator": ("Integrator",),
        ".langevin": ("Langevin", "kinetic_temperature"),
        ".motion": ("Motion",),
        ".probing": ("ProbeRecorder",),
        ".stages": ("Stage", "Stages"),
        ".trajectory": ("Recorder", "Trajectory", "march", "record"),
    },
)
