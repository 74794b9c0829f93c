"""Names in scenarios that are used twice, are taken by columns of the history, or name nothing."""

from __future__ import annotations

from symplex.base.quantities import shown
from symplex.scenario.actions import GRAVITY
from symplex.scenario.fit import wrong_curves
from symplex.scenario.friction import FrictionTable
from symplex.scenario.integrators import reserved_columns
from symplex.scenario.joints import FRAMED
from symplex.scenario.messages import suggestion
from symplex.scenario.response import wrong_places
from symplex.scenario.rigid_motion import RIGIDITY
from symplex.scenario.stages import TAKEN
from symplex.scenario.table import BODY, TOUCHING
from symplex.scenario.tables import Tables

_FRAMED = "rigid body, beam or shell"


def wrong_names(tables: Tables) -> list[str]:
    """Return lines about names that are used twice, or that name no body."""
    lines, seen = [], {}
    # After the columns of the history no energy can be named.
    frictions = [name for _, table in tables.entries(FrictionTable) for name in table.frictions(tables.touching)]
    reserved = {GRAVITY, RIGIDITY, *reserved_columns(), *frictions, *(f"work_{name}" for name in frictions)}
    reserved |= {*TAKEN, *(f"work_{name}" for name in TAKEN)}
    reserved |= {column for _, table in tables.entries() for column in table.columns(tables)}
    lines += [
        f"two kinds of friction are called '{name}', after an obstacle and bodies; give one of these another name."
        for name in dict.fromkeys(name for name in frictions if frictions.count(name) > 1)
    ]
    for here, item in tables.entries():
        name = getattr(item, "name", None)
        if name is None or not item.has_name:
            continue
        if name in reserved:
            lines.append(f"{here}: the name '{name}' is reserved; choose another.")
        elif name in seen:
            lines.append(f"{here}: the name '{name}' is taken by {seen[name]}; choose another.")
        seen.setdefault(name, here.removesuffix(f" {shown(name)}"))
    known = tables.names
    if not known and not any(body.is_free for body in tables.rigid_body):
        lines.append("no [[rigid_body]] has a mass, so nothing can move; give one a mass or density.")
    touching = [*known, *(body.name for body in tables.rigid_body)]
    rigid = [body.name for body in tables.rigid_body]
    framed = [body.name for body in (*tables.rigid_body, *tables.beam, *tables.shell)]
    for here, item in tables.entries():
        for what, called, names in ((BODY, "body", known), (TOUCHING, "body", touching), (FRAMED, _FRAMED, framed)):
            lines += [
                f"{here}: '{name}' is rigid, which [[{_called(here)}]] does not take; join it by a [[joint]]."
                if what is BODY and name in rigid
                else f"{here}: there is no {called} {shown(name)}; {suggestion(name, names)}"
                for name in item.named(what)
                if name not in names
            ]
    lines += _without_rotations(tables)
    if tables.response is not None:
        lines += wrong_places(tables.response, tables.probe)
    if tables.fit is not None:
        lines += wrong_curves(tables.fit, tables.probe)
    lines += _wrong_contacts(tables, tables.touching)
    return lines


def _without_rotations(tables: Tables) -> list[str]:
    """Return lines about what does not take bodies whose nodes have rotations."""
    rotating = {str(getattr(table, "name", "")): here for here, table in tables.entries() if table.particles > 1}
    reduced = [table.name for table in tables.flexible_body]
    lines: list[str] = []
    for here, item in tables.entries():
        named = dict.fromkeys(name for what in (BODY, TOUCHING) for name in item.named(what))
        if not item.takes_reduced and reduced:
            lines += [
                f"{here}: '{name}' is reduced, which {_called(here)} does not take; name another body."
                for name in named
                if name in reduced
            ]
            if getattr(item, "bodies", ()) is None:
                lines.append(
                    f"{here}: bodies is left out, so that all are meant, and {_called(here)} does not take reduced "
                    f"ones, as '{reduced[0]}' is; give bodies, without reduced ones."
                )
        if item.takes_rotations or not rotating:
            continue
        lines += [
            f"{here}: '{name}' is a {_called(rotating[name])}, whose nodes have rotations, which {_called(here)} does "
            "not take yet; name another body."
            for name in named
            if name in rotating
        ]
        if getattr(item, "bodies", ()) is None:
            lines.append(
                f"{here}: bodies is left out, so that all are meant, and {_called(here)} does not take "
                f"{_called(next(iter(rotating.values())))}s yet, as '{next(iter(rotating))}' is one; give bodies, "
                f"without {_called(next(iter(rotating.values())))}s."
            )
    return lines


def _called(here: str) -> str:
    """Return what a table is called, of its place."""
    return here.split("]")[0].strip("[")


def wrong_integrator_names(tables: Tables) -> list[str]:
    """Return lines about names in the table of the integrator that nothing has."""
    lines: list[str] = []
    planes = [obstacle.name for obstacle in tables.obstacle if obstacle.kind == "half-space"]
    align = getattr(tables.integrator, "align", None)
    if align is not None and align not in planes:
        lines.append(
            f"[integrator]: align names no half-space: there is no {shown(align)}; {suggestion(align, planes)}"
        )
    if stiff := getattr(tables.integrator, "stiff", ()):
        energies = [name for _, table in tables.entries() for name in table.energies]
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
    for contact in tables.contact:
        here = contact.here
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
        seen |= dict.fromkeys(pairs, contact.here.removesuffix(f" {shown(contact.name)}"))
    return lines
