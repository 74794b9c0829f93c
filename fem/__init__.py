"""From a mesh to a system: energies, elements, materials, mass, loads and supports."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".energy": ("Energy",),
        ".system": ("State", "System"),
    },
)
