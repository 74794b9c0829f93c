"""What there is to report of a state: stress and strain, reactions and forces, and probes that look at them."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".forces": ("force_on", "reactions"),
        ".field_probes": ("NodalProbe", "RotationProbe", "SolidProbe"),
        ".force_probes": ("BarProbe", "BeamProbe", "ForceProbe", "ReactionProbe", "ShellProbe"),
        ".inelastic_probe": ("InelasticProbe",),
        ".joint_probe": ("JointProbe",),
        ".probe": ("Probe",),
        ".snapshots": ("Observation",),
        ".solid_fields": ("SolidFields", "nodal_stress", "stress"),
    },
)
