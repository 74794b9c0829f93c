"""All methods by the names that messages and tables call them by, each variant of other traits for itself."""

from __future__ import annotations

from functools import cache
from typing import get_args

from symplex.base.columns import Column
from symplex.time.composition import Composition
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.conserving.graham_jelenic import GrahamJelenic
from symplex.time.conserving.schemes import Scheme
from symplex.time.constraints.rattle import Rattle, Shake
from symplex.time.equilibria.quasi_static import Static
from symplex.time.events.force_stepping import ForceStepping
from symplex.time.explicit.multirate import Multirate
from symplex.time.explicit.newmark import Newmark
from symplex.time.implicit.generalized_alpha import GeneralizedAlpha, HilberHughesTaylor
from symplex.time.implicit.midpoint import Midpoint
from symplex.time.integrator import Integrator
from symplex.time.langevin import Langevin
from symplex.time.stages import SWITCHES
from symplex.time.variational.adaptive_variational import AdaptiveVariational
from symplex.time.variational.variational import VariationalMidpoint
from symplex.time.variational.zhang_skeel import ZhangSkeel


@cache
def catalogue() -> dict[str, Integrator]:
    """Return a method for each row, those first that are to be taken first.

    Their sizes mean nothing. Methods around another one, of which there are as many as others, are not among them.
    """
    return {
        "EnergyMomentum": EnergyMomentum(1.0),
        "Midpoint": Midpoint(1.0),
        "Newmark": Newmark(1.0),
        "Multirate": Multirate(1.0),
        "Newmark.trapezoidal": Newmark.trapezoidal(1.0),
        "GeneralizedAlpha": GeneralizedAlpha(1.0),
        "HilberHughesTaylor": HilberHughesTaylor(1.0),
        "VariationalMidpoint": VariationalMidpoint(1.0),
        **{f"GrahamJelenic {scheme}": GrahamJelenic(1.0, scheme) for scheme in get_args(Scheme)},
        "ZhangSkeel": ZhangSkeel(1.0),
        "ZhangSkeel simplified": ZhangSkeel(1.0, variant="simplified"),
        "ZhangSkeel push-forward": ZhangSkeel(1.0, variant="push-forward"),
        "AdaptiveVariational": AdaptiveVariational(1.0),
        "ForceStepping": ForceStepping(1.0),
        "Rattle": Rattle(1.0, {}),
        "Rattle with beta > 0": Rattle(1.0, {}, beta=0.25),
        "Shake": Shake(1.0, {}),
    }


@cache
def by_kind() -> dict[str, Integrator]:
    """Return a method for each kind that scenarios know, the first one of the catalogue, in its order."""
    found: dict[str, Integrator] = {}
    for method in (*catalogue().values(), Static(1.0)):
        found.setdefault(method.kind, method)
    return found


@cache
def columns_of_methods() -> dict[str, Column]:
    """Return all columns that methods declare, by name."""
    others = (Composition(EnergyMomentum(1.0)), Langevin(Newmark(1.0), 0.0, rate=0.0), Static(1.0))
    columns = {column.name: column for method in (*catalogue().values(), *others) for column in method.columns}
    return columns | {SWITCHES.name: SWITCHES}
