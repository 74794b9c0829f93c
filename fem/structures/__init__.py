"""Beams of frames, which are groups of rigid particles: sections, joints, moments, energies quadratic in measures."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".beam": ("Beams", "beams"),
        ".frames": ("Frames",),
        ".joint_laws": ("JointLoad", "JointSpring"),
        ".joints": ("Joint", "JointReaction"),
        ".moments": ("Moment",),
        ".quadratic_measures": ("QuadraticMeasures",),
        ".rigidity": ("body_particles",),
        ".sections": ("BeamProperties", "Section"),
    },
)
