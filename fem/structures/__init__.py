"""Beams and shells of frames, which are groups of rigid particles: sections, plies, moments, quadratic measures."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".beam": ("Beams", "beams"),
        ".frames": ("Frames",),
        ".moments": ("Moment",),
        ".plies": ("Orthotropic", "Ply", "ShellProperties"),
        ".quadratic_measures": ("QuadraticMeasures",),
        ".sections": ("BeamProperties", "Section"),
        ".shell": ("Shells", "shells"),
    },
)
