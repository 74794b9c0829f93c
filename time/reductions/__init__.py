"""Methods in reduced coordinates, by translations and by rotations."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".jacobi_reduction": ("JacobiReduction",),
        ".polar_reduction": ("PolarReduction",),
        "symplex.time.reductions.jacobi": ("JacobiCoordinates",),
    },
)
