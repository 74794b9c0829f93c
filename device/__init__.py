"""Motions on a CUDA device, by numba-cuda: the same laws and steps as on processors, compiled for the device."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".motion": ("OnDevice",),
    },
)
