"""Methods that keep energy and momenta by construction: energy-momentum, and those of Graham and Jelenić."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".energy_momentum": ("EnergyMomentum",),
        ".graham_jelenic": ("GrahamJelenic",),
    },
)
