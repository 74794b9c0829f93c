"""Structures of frames: energies that are quadratic in measures of their particles, sections and beams."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".quadratic_measures": ("QuadraticMeasures",),
    },
)
