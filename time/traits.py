"""What methods need of energies and take of systems, as words that are declared on them; refusals that follow.

An `Integrator` declares ``needs``, the forms of energies that it evaluates, and ``takes``, what systems may have and
what may be done with it. What a system has and its method does not take, or what the method needs and an energy does
not have, is refused at the start by one sentence, which names methods that run on the system.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from symplex.errors import InvalidSystem
from symplex.fem.assembly.forms import OptionalFunction
from symplex.fem.energies.contact_energy import contact_of
from symplex.fem.energies.energy import Energy
from symplex.fem.energies.inelastic import part_with_history
from symplex.fem.system import System

if TYPE_CHECKING:
    from symplex.time.integrator import Integrator

# Forms of energies, by the first function of each (`symplex.fem.energies.energy.Energy`). Values all have, and all
# methods report.
Form = Literal["gradient", "hessian", "discrete_gradient", "mean_gradient", "secant", "third", "lattice_functions"]
# What systems may have,
Feature = Literal[
    "supports",
    "moving supports",
    "jumping supports",
    "loads",
    "internal variables",
    "history",
    "consistent mass",
    "massless nodes",
    "changing stencils",
    "barriers",
    "constraints",
    "frames",
    "joints",
    "moving joints",
]
# and what may be done with a method.
Use = Literal["composition", "thermostat"]
Trait = Feature | Use
FORMS: tuple[Form, ...] = get_args(Form)
FEATURES: tuple[Feature, ...] = get_args(Feature)

# The forms that not all energies have; where one has no gradient at mean strains, its discrete gradient is taken.
_NOT_ALL: tuple[OptionalFunction, ...] = ("secant", "third")
_TOLD = 6  # methods that are named in a refusal


def _supports(system: System) -> str:
    if not system.fixed.any():
        return ""
    node = int(np.flatnonzero(system.fixed.any(axis=1))[0])
    return f"is for systems that are free to move as a whole; node {node} is fixed"


def _moving_supports(system: System) -> str:
    motions = system.moving.motions
    return f"cannot move supports, but the motion of '{next(iter(motions))}' is given" if motions else ""


def _jumping_supports(system: System) -> str:
    rough = system.moving.rough
    if rough is None or system.is_lumped:
        return ""
    return f"with a consistent mass needs the accelerations of supports, and the velocity of '{rough}' jumps"


def _changing_stencils(system: System) -> str:
    for name, energy in system.changing.items():
        return f"needs stencils that stay as they are, but those of energy '{name}' ({type(energy).__name__}) change"
    return ""


def _barriers(system: System) -> str:
    for name, energy in system.energies.items():
        if not contact_of(energy).bounded_stiffness:
            return f"needs forces of bounded stiffness, and the barrier of energy '{name}' has none"
    return ""


def _loads(system: System) -> str:
    if not system.loads:
        return ""
    return f"needs a potential for every force; load '{next(iter(system.loads))}' acts from outside"


def _internal_variables(system: System) -> str:
    if not system.inelastic:
        return ""
    return f"cannot carry internal variables, which the inelastic '{next(iter(system.inelastic))}' has"


def _history(system: System) -> str:
    name = part_with_history(system)
    if name is None:
        return ""
    return f"cannot follow the plastic flow or damage of '{name}', which depends on its history"


def _consistent_mass(system: System) -> str:
    return "" if system.is_lumped else "needs a lumped (diagonal) mass; this system has a consistent one"


def _massless_nodes(system: System) -> str:
    if not system.massless.any():
        return ""
    node = int(np.argmax(system.massless))
    return f"needs mass at all nodes, but {system.massless.sum()} have none (the first is node {node})"


def _frames(system: System) -> str:
    return f"cannot keep frames rigid, of which the system has {len(system.frames)}" if system.frames else ""


def _joints(system: System) -> str:
    return f"cannot keep joints, such as '{next(iter(system.joints))}'" if system.joints else ""


def _moving_joints(system: System) -> str:
    if not system.joints.moving:
        return ""
    name = system.joints.moving[0]
    return f"cannot move joints, but the {' and the '.join(system.joints[name].given)} of joint '{name}' is given"


# What of each feature a system has that a method cannot do with, as the end of a sentence; none: it has no such thing.
_SENTENCES: Mapping[Feature, Callable[[System], str]] = {
    "consistent mass": _consistent_mass,
    "massless nodes": _massless_nodes,
    "moving supports": _moving_supports,
    "jumping supports": _jumping_supports,
    "supports": _supports,
    "loads": _loads,
    "internal variables": _internal_variables,
    "history": _history,
    "changing stencils": _changing_stencils,
    "barriers": _barriers,
    "frames": _frames,
    "joints": _joints,
    "moving joints": _moving_joints,
}


def require_traits(method: Integrator, system: System) -> None:
    """Check that a method takes all that a system has, and that its energies have what the method needs."""
    for parameter, names in method.named.items():
        for name in names:
            if name not in system.energies:
                known = ", ".join(map(repr, system.energies)) or "none"
                raise InvalidSystem(f"{method.name}: there is no energy '{name}' to be {parameter}; there are {known}.")
    for refusal in _refusals(method, system):
        raise InvalidSystem(refusal(_that_run(method, system)))


def runs_on(method: Integrator, system: System) -> bool:
    """Return whether a method takes all that a system has, and its energies have what the method needs."""
    return next(_refusals(method, system), None) is None


def _refusals(method: Integrator, system: System) -> Iterator[Callable[[str], str]]:
    """Yield what of a system a method cannot do with, as sentences that end with the names of methods that can."""
    takes = method.takes
    for feature, sentence in _SENTENCES.items():
        if feature not in takes and (why := sentence(system)):
            yield partial(_has, method, why)
    for name, energy in system.energies.items():
        for form in _NOT_ALL:
            if form in method.needs_of(name) and not energy.has(form):
                yield partial(_lacks, method, name, energy, form)


def _has(method: Integrator, why: str, names: str) -> str:
    """Return the sentence that a system has what a method does not take, with the names of methods that do."""
    return f"{method.name} {why}; {f'take {names}' if names else 'no other method runs on this system'}."


def _lacks(method: Integrator, name: str, energy: Energy, form: OptionalFunction, names: str) -> str:
    """Return the sentence that an energy has no form, with the names of methods that do without."""
    what, _, give = str(energy.lacks(form, name)).removesuffix(".").partition(". ")
    others = f"; or take a method that does without ({names})" if names else ""
    return f"{method.name}: {what}. {method.instead(form, name) or give}{others}."


def _that_run(method: Integrator, system: System) -> str:
    """Return the names of methods that run on a system: of those with constraints, if the method has some."""
    from symplex.time.catalogue import catalogue  # which imports all methods

    constrained = bool(getattr(method, "constraints", {}))
    names = [
        name
        for name, other in catalogue().items()
        if ("constraints" in other.takes) == constrained and runs_on(other, system)
    ]
    return ", ".join(names[:_TOLD]) + (", …" if len(names) > _TOLD else "")
