"""From TOML to a mesh, a system, a state and an integrator: the tables, their checks and their builders."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".scenario": ("Scenario",),
    },
)
