"""The equations of implicit steps: Newton's method, linear solvers and their preconditioners."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".newton": ("Newton",),
    },
)
