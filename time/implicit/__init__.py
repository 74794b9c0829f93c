"""Implicit methods: midpoint rule, Newmark's family, generalised-α; and what all implicit methods share."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".generalized_alpha": ("GeneralizedAlpha", "HilberHughesTaylor"),
        ".midpoint": ("Midpoint",),
    },
)
