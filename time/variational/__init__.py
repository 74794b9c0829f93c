"""Methods from a discrete variational principle: with forces, of chosen steps, and those of Zhang and Skeel."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".adaptive_variational": ("AdaptiveVariational",),
        ".variational": ("VariationalMidpoint",),
        ".zhang_skeel": ("ZhangSkeel",),
        ".zhang_skeel_force": ("ModifiedForce",),
    },
)
