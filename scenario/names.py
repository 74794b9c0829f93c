"""Names in scenarios that are used twice, are taken by columns of the history, or name nothing."""

from __future__ import annotations

from symplex.base.columns import AXES
from symplex.base.quantities import shown
from symplex.scenario.damping import overstress_name
from symplex.scenario.integrators import reserved_columns
from symplex.scenario.response import wrong_places
from symplex.scenario.rigid_motion import PIVOTS, RIGIDITY
from symplex.scenario.rotating import NAMES as OF_ROTATING_FRAME
from symplex.scenario.sentences import place, suggestion
from symplex.scenario.stages import TAKEN
from symplex.scenario.tables import SEVERAL, Tables

# Tables that name bodies in the same keys.
_WITH_BODIES = (
    *("point_mass", "spring", "tie", "constraint", "velocity", "support", "rod", "load", "dashpot", "drag", "damping"),
)


def wrong_names(tables: Tables) -> list[str]:
    """Return lines about names that are used twice, or that name no body."""
    lines, seen = [], {}
    # After the columns of the history no energy can be named.
    reserved = {"gravity", *reserved_columns(), *(f"work_{item.name}" for item in (*tables.load, *tables.support))}
    reserved |= {f"work_{item.name}" for item in tables.moving_rigidly} | {RIGIDITY}
    reserved |= {PIVOTS} if any(body.pivot is not None for body in tables.rigid_body) else set()
    reserved |= set(OF_ROTATING_FRAME) if tables.rotating_frame is not None else set()
    reserved |= {*TAKEN, *(f"work_{name}" for name in TAKEN)}
    told = [f"{what}_{item.name}" for item in tables.moving_rigidly for what in ("position", "velocity", "spin")]
    told += [f"position_{item.name}" for item in tables.point_mass if item.has_node]
    bodies = [body.name for body in tables.body]
    touching = [*bodies, *(body.name for body in tables.rigid_body)]
    contacts = [*tables.contact, *tables.surfaces]
    told += [f"contact_force_{one}_{other}" for contact in contacts for one, other in contact.pairs(touching)]
    reserved |= {f"{name}_{axis}" for name in told for axis in AXES}
    frictions = [name for contact in contacts for name in contact.frictions(touching)]
    frictions += [f"friction_{item.name}" for item in tables.shaped if item.has_friction]
    reserved |= {*frictions, *(f"work_{name}" for name in frictions)}
    # Of dampers, which may be followed by the name of a part of a body, which has a dot
    parts = [*bodies, *(truss.name for truss in tables.truss)]
    dampers = [f"viscosity_{name}" for name in bodies] + [item.name for item in (*tables.dashpot, *tables.drag)]
    dampers += [f"{item.name}_{of}" for item in tables.damping for of in ("mass", *(f"stiffness_{p}" for p in parts))]
    inelastic = [overstress_name(name) for name in bodies]
    reserved |= {f"work_{name}" for name in (*dampers, *inelastic)} | {f"stored_{name}" for name in inelastic}
    reserved |= {*inelastic, *dampers} - {item.name for item in (*tables.dashpot, *tables.drag)}
    lines += [
        f"two kinds of friction are called '{name}', after an obstacle and bodies; give one of these another name."
        for name in dict.fromkeys(name for name in frictions if frictions.count(name) > 1)
    ]
    for table in SEVERAL:
        if table in ("stage", "probe"):  # which no column of the history is named after
            continue
        for k, item in enumerate(getattr(tables, table)):
            if item.name is None:
                continue
            here = place(table, k, item.name)
            if item.name in reserved:
                lines.append(f"{here}: the name '{item.name}' is reserved; choose another.")
            elif item.name in seen:
                lines.append(f"{here}: the name '{item.name}' is taken by {seen[item.name]}; choose another.")
            seen.setdefault(item.name, place(table, k))
    known = tables.names
    if not known and not any(body.is_free for body in tables.rigid_body):
        lines.append("no [[rigid_body]] has a mass, so nothing can move; give one a mass or density.")
    for table in _WITH_BODIES:
        for k, item in enumerate(getattr(tables, table)):
            named = [getattr(item, key, None) for key in ("body", "to_body", "to")]
            named += (getattr(item, "bodies", None) or ()) if table == "damping" else ()
            named += [end.body for end in getattr(item, "between", None) or ()]
            named += item.bodies if table == "constraint" else ()
            lines += [
                f"{place(table, k, item.name)}: there is no body {shown(name)}; {suggestion(name, known)}"
                for name in named
                if isinstance(name, str) and name not in known
            ]
    if tables.response is not None:
        lines += wrong_places(tables.response, known, tables.probe)
    may_touch = [*known, *(body.name for body in tables.rigid_body)]
    for k, obstacle in enumerate(tables.obstacle):
        for name in obstacle.bodies or []:
            if name not in may_touch:
                here = place("obstacle", k, obstacle.name)
                lines.append(f"{here}: there is no body {shown(name)}; {suggestion(name, may_touch)}")
    lines += _wrong_contacts(tables, touching)
    return lines


def wrong_integrator_names(tables: Tables) -> list[str]:
    """Return lines about names in the table of the integrator that nothing has."""
    lines: list[str] = []
    bodies = [body.name for body in tables.body]
    planes = [obstacle.name for obstacle in tables.obstacle if obstacle.kind == "half-space"]
    align = getattr(tables.integrator, "align", None)
    if align is not None and align not in planes:
        lines.append(
            f"[integrator]: align names no half-space: there is no {shown(align)}; {suggestion(align, planes)}"
        )
    if stiff := getattr(tables.integrator, "stiff", ()):
        of_contact = [table.name for table in (*tables.obstacle, *tables.contact)]
        of_bars = [table.name for table in (*tables.truss, *tables.spring)]
        energies = [*bodies, *of_bars, *of_contact, *tables.constant_forces]
        lines += [
            f"[integrator]: stiff names no energy: there is no {shown(name)}; {suggestion(name, energies)}"
            for name in stiff
            if name not in energies
        ]
    return lines


def _wrong_contacts(tables: Tables, bodies: list[str]) -> list[str]:
    """Return lines about contact of bodies that are not there, or are in contact already."""
    lines: list[str] = []
    seen: dict[tuple[str, str], str] = {}
    for k, contact in enumerate(tables.contact):
        here = place("contact", k, contact.name)
        unknown = [name for name in contact.bodies if name not in bodies] if contact.bodies != "all" else []
        lines += [f"{here}: there is no body {shown(name)}; {suggestion(name, bodies)}" for name in unknown]
        pairs = contact.pairs(bodies)
        if not pairs and not unknown:
            lines.append(f"{here}: there is only one body; with self = true it is in contact with itself.")
        twice = [pair for pair in pairs if pair in seen]
        if twice:
            one, other = twice[0]
            who = f"'{one}' and '{other}' are in contact" if one != other else f"'{one}' is in contact with itself"
            lines.append(f"{here}: {who} by {seen[twice[0]]} already; name the bodies that are meant in each of them.")
        seen |= dict.fromkeys(pairs, place("contact", k))
    return lines
