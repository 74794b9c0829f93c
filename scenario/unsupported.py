"""What of a scenario its integrator does not take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from symplex.scenario.actions import Timed
from symplex.scenario.integrators import integrator_of, taken_by_kind
from symplex.scenario.sentences import place
from symplex.scenario.tables import Tables
from symplex.time.explicit.newmark import Newmark
from symplex.time.integrator import Integrator
from symplex.time.traits import Trait


def unsupported(tables: Tables, acts: Callable[[Timed], bool]) -> list[str]:
    """Return lines about what the chosen integrator does not take."""
    method, kind = integrator_of(replace(tables, thermostat=None)), _called(tables)
    explicit = "explicit " if isinstance(method, Newmark) and method.explicit else ""
    lines = []
    if "consistent mass" not in method.takes:
        lines += [
            f'{here}: mass = "consistent" needs an implicit integrator; with {explicit}{kind} take mass = "lumped".'
            for here in _consistent(tables)
        ]
    if "massless nodes" not in method.takes:
        lines += [
            f"{place('body', k, body.name)}: {explicit}{kind} needs mass at all nodes; take another "
            f"integrator, such as {_kinds('massless nodes', method)}, or leave massless out."
            for k, body in enumerate(tables.body)
            if body.massless is not None
        ]
    if "moving supports" not in method.takes:
        lines += [
            f"{place('support', k, support.name)}: it moves, which {kind} cannot follow; take another integrator, "
            f"such as {_kinds('moving supports', method)}."
            for k, support in enumerate(tables.support)
            if support.moves and acts(support)
        ]
        lines += [
            f"{place(key, k, item.name)}: its motion is given, which {kind} cannot follow; take another integrator, "
            f"such as {_kinds('moving supports', method)}."
            for key in ("obstacle", "rigid_body")
            for k, item in enumerate(getattr(tables, key))
            if item.is_driven
        ]
    viscous = {
        k: body
        for k, body in enumerate(tables.body)
        if any(item.is_viscous for item in body.material_of_group.values())
    }
    if not {"loads", "internal variables"} <= method.takes:
        lines += [
            f"{place('body', k, body.name)}: its material is viscous, which {kind} does not take; take another "
            f"integrator, such as {_kinds('internal variables', method)}."
            for k, body in viscous.items()
            if "loads" not in method.takes or any(item.viscous for item in body.material_of_group.values())
        ]
    if "loads" not in method.takes:
        for k, load in enumerate(tables.load):
            if load.has_potential or not acts(load):
                continue
            why = "changes with time" if load.history is not None else "follows the surface"
            lines.append(
                f"{place('load', k, load.name)}: it {why}, so it has no potential, which {kind} needs; "
                f"take another integrator, such as {_kinds('loads', method)}, or a constant nodal load or traction."
            )
        lines += [
            f"{place(table, k, item.name)}: damping has no potential, which {kind} needs; take another integrator, "
            f"such as {_kinds('loads', method)}."
            for table in ("damping", "dashpot", "drag")
            for k, item in enumerate(getattr(tables, table))
        ]
        if tables.rotating_frame is not None:
            lines.append(
                f"[rotating_frame]: Coriolis forces have no potential, which {kind} needs; take another integrator, "
                f"such as {_kinds('loads', method)}."
            )
        lines += [
            f"{place(table, k, item.name)}: friction has no potential, which {kind} needs; take another "
            f"integrator, such as {_kinds('loads', method)}, or leave friction out."
            for table in ("obstacle", "contact")
            for k, item in enumerate(getattr(tables, table))
            if item.has_friction
        ]
    lines += _unsupported_contacts(tables, method, explicit)
    return [*lines, *_wrong_rods(tables, method), *_wrong_thermostat(tables, method)]


def _called(tables: Tables) -> str:
    """Return how messages call the chosen integrator."""
    table = tables.integrator
    on_device = getattr(table, "device", "cpu") != "cpu"
    return f"{table.kind} on a device" if on_device else table.kind


def _consistent(tables: Tables) -> list[str]:
    """Return which bodies and trusses have a consistent mass, as messages call them."""
    named = [(table, k, item) for table in ("body", "truss") for k, item in enumerate(getattr(tables, table))]
    return [place(table, k, item.name) for table, k, item in named if item.mass == "consistent"]


def _unsupported_contacts(tables: Tables, method: Integrator, explicit: str) -> list[str]:
    """Return lines about contact between bodies that the integrator does not take."""
    kind, lines = _called(tables), []
    places = [(place("contact", k, item.name), item) for k, item in enumerate(tables.contact)]
    places += [(place("obstacle", tables.obstacle.index(item), item.name), item) for item in tables.surfaces]
    for here, contact in places:
        if "changing stencils" not in method.takes:
            lines.append(
                f"{here}: bodies find new places to touch all the time, which {kind} cannot follow; take another "
                f"integrator, such as {_kinds('changing stencils', method)}."
            )
        elif contact.law == "barrier" and "barriers" not in method.takes:
            lines.append(
                f'{here}: law = "barrier" has no greatest stiffness, so no step of {explicit}{kind} is stable; take '
                f'law = "penalty", or a method whose steps are solved for, such as {_kinds("barriers", method)}.'
            )
    return lines


def _kinds(trait: Trait, method: Integrator) -> str:
    """Return the first kinds of integrators that take something, and constraints if a method does."""
    constrained = "constraints" in method.takes
    kinds = taken_by_kind().items()
    found = [kind for kind, takes in kinds if trait in takes and ("constraints" in takes) == constrained]
    return "kind = " + " or ".join(f'"{kind}"' for kind in found[:2]) if found else "one without rods"


def _wrong_rods(tables: Tables, method: Integrator) -> list[str]:
    """Return lines about rods that the integrator does not keep, or that it lacks."""
    kind = _called(tables)
    if "constraints" not in method.takes:
        keep = " or ".join(f'"{kind}"' for kind, takes in taken_by_kind().items() if "constraints" in takes)
        return [
            f"{place('rod', k, rod.name)}: {kind} does not keep rods; take kind = {keep}."
            for k, rod in enumerate(tables.rod)
        ]
    if not tables.rod:
        return [
            f"[integrator]: {kind} is for rods, but there is no [[rod]] table; "
            'without rods it is kind = "newmark", or with beta kind = "zhang-skeel".'
        ]
    return []


def _wrong_thermostat(tables: Tables, method: Integrator) -> list[str]:
    """Return lines about a thermostat that the integrator cannot be given."""
    kind, thermostat = _called(tables), tables.thermostat
    if thermostat is None:
        return []
    if "thermostat" not in method.takes:
        if "constraints" in method.takes:
            why = f"the velocities of {kind} are not along its rods"
        else:
            why = method.why_not.get("thermostat") or f"it acts after steps of one size, which {kind} has not"
        return [f"[thermostat]: {why}; take {_kinds('thermostat', method)}."]
    lines = [
        f'{here}: mass = "consistent" cannot be given a [thermostat]; take mass = "lumped".'
        for here in _consistent(tables)
    ]
    if "constraints" in method.takes and thermostat.rate is None:
        lines.append("[thermostat]: with rods friction must be in proportion to mass; give a rate (1/s) instead.")
    return lines
