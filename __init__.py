"""symplex: finite-element structural dynamics with integrators that keep what the physics keeps.

What most studies need is here; the rest is in families, as ``symplex.measures.RigidBars``.
"""

# Nothing but this is imported here, neither from typing nor from __future__: with ``python -m``, files of such names in
# the working directory would be run in their place (see __main__.py).
from symplex.base.lazy import loaded
from symplex.base.version import VERSION

__version__ = VERSION

# The families of public names, each in its own package, imported when it is first used.
_FAMILIES = {
    "actions": "symplex.fem.actions",
    "conserving": "symplex.time.conserving",
    "constraints": "symplex.time.constraints",
    "contact": "symplex.contact",
    "decks": "symplex.decks",
    "device": "symplex.device",
    "equilibria": "symplex.time.equilibria",
    "events": "symplex.time.events",
    "explicit": "symplex.time.explicit",
    "fem": "symplex.fem",
    "gradients": "symplex.gradients",
    "grid": "symplex.fem.grid",
    "implicit": "symplex.time.implicit",
    "manifolds": "symplex.time.manifolds",
    "measures": "symplex.fem.measures",
    "meshes": "symplex.meshes",
    "modes": "symplex.time.modes",
    "outputs": "symplex.fem.outputs",
    "parallel": "symplex.parallel",
    "reductions": "symplex.time.reductions",
    "runs": "symplex.runs",
    "scenario": "symplex.scenario",
    "solids": "symplex.fem.solids",
    "solvers": "symplex.time.solvers",
    "structures": "symplex.fem.structures",
    "studies": "symplex.studies",
    "testing": "symplex.testing",
    "time": "symplex.time",
    "variational": "symplex.time.variational",
    "errors": "symplex.errors",
}

# The names that are here as well as in their family. ``__init__.pyi`` informs editors of them.
_FAMILY_OF = {
    "actions": ("Gravity", "lumped_mass", "consistent_mass", "fixed_mask"),
    "conserving": ("EnergyMomentum", "GrahamJelenic"),
    "constraints": ("Rattle",),
    "contact": ("RigidContact", "HalfSpace", "Sphere"),
    "decks": ("import_deck",),
    "errors": ("SymplexError",),
    "events": ("ForceStepping",),
    "explicit": ("Newmark",),
    "fem": ("Energy", "System", "State"),
    "gradients": ("tangent", "gradient"),
    "implicit": ("Midpoint", "GeneralizedAlpha", "HilberHughesTaylor"),
    "measures": ("Bars", "InelasticBars", "Penalty"),
    "meshes": (
        "Mesh",
        "read_mesh",
        "save_mesh",
        "box",
        "cube_mesh",
        "bundled",
        "merge",
        "quadratic",
        "open_series",
        "read_series",
        "render_film",
        "render_snapshots",
        "View",
    ),
    "outputs": ("stress", "nodal_stress", "reactions"),
    "runs": ("simulate", "plot_history", "read_history", "read_result", "conservation", "export_result", "write_page"),
    "studies": ("sweep", "compare", "converge"),
    "scenario": ("Scenario",),
    "solids": (
        *("Solid", "Material", "NeoHookean", "MooneyRivlin", "SaintVenantKirchhoff", "LinearElastic", "material"),
        *("AnisotropicElastic", "Viscoelastic", "ViscousStress", "Plastic", "Hardening"),
    ),
    "solvers": ("Newton",),
    "time": ("Composition", "Langevin", "Integrator", "Motion", "march", "record", "Recorder", "Trajectory"),
    "variational": ("VariationalMidpoint", "ZhangSkeel", "AdaptiveVariational"),
}
_FAMILY_OF = {name: family for family, names in _FAMILY_OF.items() for name in names}


def __getattr__(name: str) -> object:
    if name in _FAMILIES:
        value = loaded(_FAMILIES[name])
    elif name in _FAMILY_OF:
        value = getattr(loaded(_FAMILIES[_FAMILY_OF[name]]), name)
    else:
        raise AttributeError(f"module 'symplex' has no attribute '{name}'{_elsewhere(name)}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_FAMILIES, *_FAMILY_OF})


def _elsewhere(name: str) -> str:
    """Return the end of a sentence that says which families have a name."""
    found = [family for family, module in _FAMILIES.items() if name in getattr(loaded(module), "__all__", ())]
    return "; it is " + " or ".join(f"symplex.{family}.{name}" for family in found) if found else ""
