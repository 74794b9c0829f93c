"""What of a scenario its integrator does not take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from symplex.scenario.actions import Timed
from symplex.scenario.integrators import integrator_of
from symplex.scenario.tables import Tables
from symplex.time.catalogue import by_kind
from symplex.time.explicit.newmark import Newmark
from symplex.time.integrator import Integrator
from symplex.time.traits import Trait


def unsupported(tables: Tables, acts: Callable[[Timed], bool]) -> list[str]:
    """Return lines about what the chosen integrator does not take."""
    method = integrator_of(replace(tables, thermostat=None))
    kind = tables.integrator.kind + (" on a device" if getattr(tables.integrator, "device", "cpu") != "cpu" else "")
    family = f"explicit {kind}" if isinstance(method, Newmark) and method.explicit else kind
    lines, needed = [], set()
    for here, table in tables.entries():
        for need in table.needs():
            needed.add(need.trait)
            reported = need.next_to is None or need.next_to in method.takes
            if need.trait not in method.takes and reported and (not isinstance(table, Timed) or acts(table)):
                others = _kinds(need.trait, method, bool(tables.rod))
                lines.append(f"{here}: {need.message.format(kind=kind, method=family, others=others)}")
    if "constraints" in method.takes and not {"constraints", "frames", "joints"} & needed:
        lines.append(
            f"[integrator]: {kind} is for rods, beams and joints, but there is no [[rod]], [[beam]] or [[joint]]; "
            'without them it is kind = "newmark", or with beta kind = "zhang-skeel".'
        )
    return [*lines, *_wrong_thermostat(tables, method, kind)]


def _kinds(trait: Trait, method: Integrator, rods: bool = True) -> str:
    """Return the first kinds of integrators that take something, and constraints if a method does.

    Where there are no rods, others will do if none of these does.
    """
    constrained = "constraints" in method.takes or trait == "constraints"
    kinds = {kind: other.takes for kind, other in by_kind().items()}
    able = [kind for kind, takes in kinds.items() if trait in takes]
    found = [kind for kind in able if ("constraints" in kinds[kind]) == constrained] or ([] if rods else able)
    return "kind = " + " or ".join(f'"{kind}"' for kind in found[:2]) if found else "one without rods"


def _wrong_thermostat(tables: Tables, method: Integrator, kind: str) -> list[str]:
    """Return lines about a thermostat that the integrator cannot be given."""
    thermostat = tables.thermostat
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
        for here, table in tables.entries()
        if any(need.trait == "consistent mass" for need in table.needs())
    ]
    if "constraints" in method.takes and thermostat.rate is None:
        lines.append("[thermostat]: with rods friction must be in proportion to mass; give a rate (1/s) instead.")
    return lines
