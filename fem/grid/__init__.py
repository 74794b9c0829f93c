"""Differences of energies between lattice points, for force-stepping."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        "..energies.lattice_values": ("compile_lattice",),
    },
)
