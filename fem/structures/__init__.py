"""Beams and shells of frames, groups of rigid particles: sections, plies, joints, moments, quadratic measures."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".beam": ("Beams", "beams"),
        ".frames": ("Frames",),
        ".joint_laws": ("JointLoad", "JointSpring"),
        ".joints": ("Joint", "JointReaction"),
        ".measure_damping": ("MeasureDamping",),
        ".moments": ("Moment",),
        ".plies": ("Orthotropic", "Ply", "ShellProperties"),
        ".quadratic_measures": ("QuadraticMeasures",),
        ".rigidity": ("body_particles",),
        ".sections": ("BeamProperties", "Section"),
        ".shell": ("Shells", "shells"),
    },
)
