"""From parsed TOML to the tables of a scenario, with one clear line for each mistake."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, get_args, get_origin

from pydantic import ValidationError

from symplex.base.columns import AXES
from symplex.base.streams import printable
from symplex.errors import ScenarioError
from symplex.scenario.actions import Timed
from symplex.scenario.integrators import integrator_of, reserved_columns, taken_by_kind
from symplex.scenario.methods import METHODS, FixedStepTable, IntegratorTable, NewmarkTable, ZhangSkeelTable
from symplex.scenario.quantities import Quantity, Table, check_text, listed, shown
from symplex.scenario.rigid_motion import RIGIDITY
from symplex.scenario.sampling import Sampled, stages_of
from symplex.scenario.stages import StageTable, run_of_stages, tables_of_stage, wrong_tables, wrong_times
from symplex.scenario.tables import MODELS, NEEDED, SEVERAL, WITH_NODES, Run, Tables
from symplex.time.explicit.newmark import Newmark
from symplex.time.integrator import Integrator
from symplex.time.traits import Trait

S = TypeVar("S", bound=Sampled)
# Tables that name bodies in the same keys.
_WITH_BODIES = (
    *("point_mass", "spring", "tie", "constraint", "velocity", "support", "rod", "load", "dashpot", "drag", "damping"),
)
_TOLD = 50  # mistakes that are told one by one
_COMPARED = 100  # letters of a word that are compared with known ones


def read_tables(data: Mapping[str, Any], name: str) -> Tables:
    """Return the tables of a scenario.

    Parameters
    ----------
    data : mapping
        The parsed TOML.
    name : str
        The file's name, for messages.

    Raises
    ------
    ScenarioError
        With one line for each mistake.
    """
    lines: list[str] = []
    found: dict[str, Any] = {}
    for key, value in data.items():
        if key == "title":
            found[key] = value
            try:
                check_text(value)
            except ValueError as error:
                lines.append(f"title {error}.")
        elif key not in MODELS:
            lines.append(f"unknown table {shown(key)}; {suggestion(key, ['title', *MODELS])}")
        elif key in SEVERAL:
            if not isinstance(value, list):
                lines.append(f"{key} must be written [[{key}]], with double brackets; there may be several.")
                continue
            names = [item.get("name") if isinstance(item, Mapping) else None for item in value]
            read = _stage if key == "stage" else _validated
            found[key] = [read(key, item, place(key, k, names[k]), lines) for k, item in enumerate(value)]
        elif key == "run" and data.get("stage") and isinstance(value, Mapping):
            found[key] = _validated(key, {"duration": 1.0, **value}, place(key), lines)
        else:
            found[key] = _validated(key, value, place(key), lines)
    meant = {close for key in data if key not in MODELS for close in difflib.get_close_matches(key, MODELS, n=1)}
    needed = () if data.get("stage") else NEEDED
    absent = [key for key in needed if not data.get(key) and key not in meant]
    if not any(data.get(key) or key in meant for key in WITH_NODES):
        absent.insert(0, WITH_NODES[0])
    if absent:
        named = (f"[[{key}]]" if key in SEVERAL else f"[{key}]" for key in absent)
        lines.append(f"there is no {' and no '.join(named)} table.")
    lines += wrong_tables(data)
    if not lines:
        tables = _with_default_samples(_complete(found))
        tables = replace(tables, body=[each for body in tables.body for each in body.instances])
        lines = [*_wrong_names(tables), *wrong_times(tables)]
    if not lines:
        lines = list(dict.fromkeys(line for k in range(len(stages_of(tables))) for line in _wrong_in_stage(tables, k)))
    if lines:
        raise mistakes(name, lines)
    return tables


def _complete(found: dict[str, Any]) -> Tables:
    """Return the tables, with [integrator] and [run] those of the stages, if there are any."""
    stages: list[StageTable] = found.get("stage", [])
    if not stages:
        return Tables(**found)
    found["integrator"] = stages[0].integrator
    found.setdefault("run", Run(duration=1.0))
    return _with_run_of_stages(Tables(**found))


def _with_run_of_stages(tables: Tables) -> Tables:
    changed = tables.run.__dict__ | run_of_stages(tables.stage)
    return replace(tables, run=Run.model_construct(_fields_set=set(tables.run.model_fields_set), **changed))


def _wrong_in_stage(tables: Tables, k: int) -> list[str]:
    """Return lines about what the integrator of a stage does not take, or names that it gives and there are not."""
    stages = stages_of(tables)
    first = sum(stage.duration for stage in stages[:k])
    last = first + stages[k].duration
    of_stage = tables_of_stage(tables, k)
    lines = [*_wrong_integrator_names(of_stage), *_unsupported(of_stage, lambda item: item.acts(first, last))]
    return (
        [line.replace("[integrator]", f"{place('stage', k, tables.stage[k].name)}: integrator", 1) for line in lines]
        if tables.stage
        else lines
    )


def _stage(key: str, value: Any, here: str, lines: list[str]) -> Table | None:
    """Return the table of a stage, the integrator in it by its own model; add a line for each mistake."""
    if not isinstance(value, Mapping) or "integrator" not in value:
        return _validated(key, value, here, lines)
    integrator = _validated("integrator", value["integrator"], f"{here}: integrator", lines)
    # Other mistakes are told as well: beside an integrator that is in order.
    stands_in = METHODS["newmark"].model_validate({"kind": "newmark"})
    table = _validated(key, {**value, "integrator": integrator or stands_in}, here, lines)
    return table if integrator is not None else None


def mistakes(name: str, lines: Sequence[str]) -> ScenarioError:
    """Return the error that tells all mistakes in a file, one line each."""
    message = [printable(f"{name}: {line}", breaks=False) for line in lines[:_TOLD]]
    if len(lines) > _TOLD:
        message.append(printable(f"{name}: and {len(lines) - _TOLD:,} more mistakes.", breaks=False))
    return ScenarioError("\n".join(message))


def _with_default_samples(tables: Tables) -> Tables:
    """Return tables in which the default number of samples gives way to a longer step."""
    if not tables.stage:
        return replace(tables, run=_with_steps(tables.run, tables.integrator))
    stages = [_with_steps(stage, stage.integrator) for stage in tables.stage]
    return _with_run_of_stages(replace(tables, stage=stages))


def _with_steps(sampled: S, table: IntegratorTable) -> S:
    if not isinstance(table, FixedStepTable | NewmarkTable) or table.dt == "auto":
        return sampled
    return sampled.with_steps(table.dt)


def _validated(key: str, value: Any, here: str, lines: list[str]) -> Table | None:
    """Return a table by its model; add a line for each mistake and return None if there is one."""
    model = MODELS[key]
    if isinstance(value, list):
        lines.append(f"{key} must be written [{key}], with single brackets; there is only one.")
        return None
    if not isinstance(value, Mapping):
        lines.append(f"{here} must be a table, not {shown(value)}.")
        return None
    if isinstance(model, dict):
        kind = value.get("kind")
        if not isinstance(kind, str) or kind not in model:
            is_ = "is missing" if kind is None else f"is {shown(kind)}"
            lines.append(f"{here}: kind {is_}; {suggestion(kind, list(model))}")
            return None
        model = model[kind]
    try:
        return model.model_validate(value)
    except ValidationError as error:
        wrong = error.errors(include_url=False)
        meant = {_closest(model, mistake["loc"]) for mistake in wrong if mistake["type"] == "extra_forbidden"}
        wrong = [mistake for mistake in wrong if mistake["type"] != "missing" or mistake["loc"] not in meant]
        lines += dict.fromkeys(f"{here}: {_sentence(model, mistake)}" for mistake in wrong)
        return None


def place(table: str, index: int | None = None, name: Any = None) -> str:
    """Return how messages call a table: ``[run]``, ``[[body]] #2 'arm'``."""
    if index is None:
        return f"[{table}]"
    return f"[[{table}]] #{index + 1}" + (f" {shown(name)}" if name and isinstance(name, str) else "")


def suggestion(word: Any, known: Sequence[str]) -> str:
    """Return a hint at the known word closest to what is not one, or the list of the known ones."""
    close = _close(word, known)
    return f"did you mean '{close[0]}'?" if close else f"known are: {listed(known)}."


def _close(word: Any, known: Sequence[str]) -> list[str]:
    """Return the known word closest to one that is of a similar length, if any is close."""
    return difflib.get_close_matches(word[:_COMPARED], known, n=1) if isinstance(word, str) else []


def _wrong_names(tables: Tables) -> list[str]:
    """Return lines about names that are used twice, or that name no body."""
    lines, seen = [], {}
    # After the columns of the history no energy can be named.
    reserved = {"gravity", *reserved_columns(), *(f"work_{item.name}" for item in (*tables.load, *tables.support))}
    reserved |= {f"work_{item.name}" for item in tables.moving_rigidly} | {RIGIDITY}
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
    inelastic = [f"viscoelastic_{name}" for name in bodies]
    reserved |= {f"work_{name}" for name in (*dampers, *inelastic)} | {f"stored_{name}" for name in inelastic}
    reserved |= {*inelastic, *dampers} - {item.name for item in (*tables.dashpot, *tables.drag)}
    lines += [
        f"two kinds of friction are called '{name}', after an obstacle and bodies; give one of these another name."
        for name in dict.fromkeys(name for name in frictions if frictions.count(name) > 1)
    ]
    for table in SEVERAL:
        if table == "stage":  # which no column is named after
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
    may_touch = [*known, *(body.name for body in tables.rigid_body)]
    for k, obstacle in enumerate(tables.obstacle):
        for name in obstacle.bodies or []:
            if name not in may_touch:
                here = place("obstacle", k, obstacle.name)
                lines.append(f"{here}: there is no body {shown(name)}; {suggestion(name, may_touch)}")
    lines += _wrong_contacts(tables, touching)
    return lines


def _wrong_integrator_names(tables: Tables) -> list[str]:
    """Return lines about names in the table of the integrator that nothing has."""
    lines: list[str] = []
    bodies = [body.name for body in tables.body]
    planes = [obstacle.name for obstacle in tables.obstacle if obstacle.kind == "half-space"]
    align = getattr(tables.integrator, "align", None)
    if align is not None and align not in planes:
        lines.append(
            f"[integrator]: align names no half-space: there is no {shown(align)}; {suggestion(align, planes)}"
        )
    if isinstance(tables.integrator, ZhangSkeelTable):
        of_contact = [table.name for table in (*tables.obstacle, *tables.contact)]
        of_bars = [table.name for table in (*tables.truss, *tables.spring)]
        energies = [*bodies, *of_bars, *of_contact, *tables.constant_forces]
        lines += [
            f"[integrator]: stiff names no energy: there is no {shown(name)}; {suggestion(name, energies)}"
            for name in tables.integrator.stiff
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


def _unsupported(tables: Tables, acts: Callable[[Timed], bool]) -> list[str]:
    """Return lines about what the chosen integrator does not take."""
    method, kind = integrator_of(replace(tables, thermostat=None)), tables.integrator.kind
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
        lines += [
            f"{place(table, k, item.name)}: friction has no potential, which {kind} needs; take another "
            f"integrator, such as {_kinds('loads', method)}, or leave friction out."
            for table in ("obstacle", "contact")
            for k, item in enumerate(getattr(tables, table))
            if item.has_friction
        ]
    lines += _unsupported_contacts(tables, method, explicit)
    return [*lines, *_wrong_rods(tables, method), *_wrong_thermostat(tables, method)]


def _consistent(tables: Tables) -> list[str]:
    """Return which bodies and trusses have a consistent mass, as messages call them."""
    named = [(table, k, item) for table in ("body", "truss") for k, item in enumerate(getattr(tables, table))]
    return [place(table, k, item.name) for table, k, item in named if item.mass == "consistent"]


def _unsupported_contacts(tables: Tables, method: Integrator, explicit: str) -> list[str]:
    """Return lines about contact between bodies that the integrator does not take."""
    kind, lines = tables.integrator.kind, []
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
    kind = tables.integrator.kind
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
    kind, thermostat = tables.integrator.kind, tables.thermostat
    if thermostat is None:
        return []
    if "thermostat" not in method.takes:
        if "constraints" in method.takes:
            why = f"the velocities of {kind} are not along its rods"
        else:
            why = f"it acts after steps of one size, which {kind} has not"
        return [f"[thermostat]: {why}; take {_kinds('thermostat', method)}."]
    lines = [
        f'{here}: mass = "consistent" cannot be given a [thermostat]; take mass = "lumped".'
        for here in _consistent(tables)
    ]
    if "constraints" in method.takes and thermostat.rate is None:
        lines.append("[thermostat]: with rods friction must be in proportion to mass; give a rate (1/s) instead.")
    return lines


# -- pydantic's mistakes in words ---------------------------------------------------------------------------------

_WANTED = {
    "string_type": "must be a text in quotes",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "model_type": "must be a table",
}


def _sentence(model: type[Table], mistake: Mapping[str, Any]) -> str:
    """Return one of pydantic's errors as a sentence."""
    keys, kind, ctx, value = mistake["loc"], mistake["type"], mistake.get("ctx", {}), mistake["input"]
    key = ".".join(str(k + 1) if isinstance(k, int) else k for k in keys)
    if kind == "extra_forbidden":
        inside = f" in {'.'.join(map(str, keys[:-1]))}" if len(keys) > 1 else ""
        return f"unknown key {shown(keys[-1])}{inside}; {suggestion(keys[-1], _keys_of(model, keys[:-1]))}"
    if kind == "missing":
        field = _model_of(model, keys[:-1]).model_fields[str(keys[-1])]
        unit = next((item.unit for item in field.metadata if isinstance(item, Quantity)), "")
        return f"{key} is missing{f' ({unit})' if unit else ''}."
    if kind == "literal_error":
        known = [word.strip(" '") for word in ctx["expected"].replace(" or ", ", ").split(",")]
        return f"{key} is {shown(value)}; {suggestion(value, known)}"
    if kind == "value_error":
        return f"{key} {ctx['error']}".strip() + "."
    return f"{key} is {shown(value)}, {_WANTED.get(kind, mistake['msg'])}."


def _closest(model: type[Table], loc: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Return the location of the known key that an unknown one is closest to."""
    return *loc[:-1], *_close(loc[-1], _keys_of(model, loc[:-1]))


def _keys_of(model: type[Table], keys: Sequence[str | int]) -> list[str]:
    """Return the keys of the table inside a table that keys lead to."""
    return [item.alias or name for name, item in _model_of(model, keys).model_fields.items()]


def _model_of(model: type[Table], keys: Sequence[str | int]) -> type[Table]:
    """Return the model of the table inside a table that keys lead to."""
    is_inside = False  # a list or a mapping of tables, of which the key of one comes next
    for key in keys:
        if is_inside:
            is_inside = False
            continue
        annotation = next(i.annotation for n, i in model.model_fields.items() if key == (i.alias or n))
        parts = [annotation, *get_args(annotation)]
        is_inside = any(get_origin(part) in (list, dict) for part in parts)
        parts += [inner for part in parts for inner in get_args(part)]
        model = next(part for part in parts if isinstance(part, type) and issubclass(part, Table))
    return model
