"""From parsed TOML to the tables of a scenario, with one clear line for each mistake."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from symplex.base.quantities import check_text, ended, must_be_one_of, shown
from symplex.scenario.conditions import wrong_conditions
from symplex.scenario.definitions import DEFINE, evaluated
from symplex.scenario.flexible import with_reduced_bodies
from symplex.scenario.messages import (
    REFERENCE,
    as_many_as_are_reported,
    close_to,
    mistakes,
    place,
    suggestion,
)
from symplex.scenario.methods import FORMER, METHODS, IntegratorTable
from symplex.scenario.names import wrong_integrator_names, wrong_names
from symplex.scenario.probes import wrong_probes
from symplex.scenario.reading import read
from symplex.scenario.rigid_parts import with_rigid_parts
from symplex.scenario.sampling import Run, Sampled
from symplex.scenario.stage_bodies import wrong_bodies
from symplex.scenario.stages import StageTable, run_of_stages, tables_of_stage, wrong_tables, wrong_times
from symplex.scenario.table import Table
from symplex.scenario.tables import Kind, Tables, kinds_of
from symplex.scenario.unsupported import unsupported
from symplex.scenario.velocities import wrong_velocities
from symplex.time.integrator import FixedStepIntegrator

S = TypeVar("S", bound=Sampled)


@as_many_as_are_reported()
def read_tables(data: Mapping[str, Any], name: str, of: type[Tables] = Tables) -> Tables:
    """Return the tables of a scenario.

    Parameters
    ----------
    data : mapping
        The parsed TOML.
    name : str
        The file's name, for messages.
    of : type, default Tables
        The class whose fields say which tables there are.
    """
    lines: list[str] = []
    found: dict[str, Any] = {}
    kinds = kinds_of(of)
    known = ["title", DEFINE, *kinds]
    data = evaluated(data, lines)
    for key, value in data.items():
        if key == "title":
            found[key] = value
            try:
                check_text(value)
            except ValueError as error:
                lines.append(f"title {error}.")
        elif key not in kinds:
            lines.append(f"unknown table {shown(key)}; {suggestion(key, known)} See {REFERENCE.format('index')}.")
        elif kinds[key].several:
            if not isinstance(value, list):
                lines.append(f"{key} must be written [[{key}]], with double brackets; there may be several.")
                continue
            names = [item.get("name") if isinstance(item, Mapping) else None for item in value]
            read = _stage if key == "stage" else validated
            items = [read(kinds[key], item, place(key, k, names[k]), lines) for k, item in enumerate(value)]
            found[key] = [
                table and table.replaced(here=place(key, k, getattr(table, "name", None)))
                for k, table in enumerate(items)
            ]
        elif isinstance(value, list):
            lines.append(f"{key} must be written [{key}], with single brackets; there is only one.")
        elif key == "run" and data.get("stage") and isinstance(value, Mapping):
            found[key] = validated(kinds[key], {"duration": 1.0, **value}, place(key), lines)
        else:
            found[key] = validated(kinds[key], value, place(key), lines)
    meant = {close for key in data if key not in kinds for close in close_to(key, known)}
    needed = [] if data.get("stage") else [key for key, kind in kinds.items() if kind.needed]
    absent = [key for key in needed if not data.get(key) and key not in meant]
    with_nodes = [key for key, kind in kinds.items() if kind.brings_nodes]
    if not any(data.get(key) or key in meant for key in with_nodes):
        absent.insert(0, with_nodes[0])
    if absent:
        named = (f"[[{key}]]" if kinds[key].several else f"[{key}]" for key in absent)
        lines.append(f"there is no {' and no '.join(named)} table.")
    lines += wrong_tables(data)
    if not lines:
        tables = _with_default_samples(_complete(found, of))
        tables = replace(tables, body=[each for body in tables.body for each in body.instances])
        tables = with_reduced_bodies(with_rigid_parts(tables))
        lines = [*wrong_names(tables), *wrong_times(tables), *wrong_velocities(tables), *wrong_probes(tables)]
        lines += [*wrong_conditions(tables), *wrong_bodies(tables)]
    if not lines:
        lines = list(dict.fromkeys(line for k in range(len(tables.sampled)) for line in _wrong_in_stage(tables, k)))
    if lines:
        raise mistakes(name, lines)
    return tables


def _complete(found: dict[str, Any], of: type[Tables]) -> Tables:
    """Return the tables, with [integrator] and [run] those of the stages, if there are any."""
    stages: list[StageTable] = found.get("stage", [])
    if not stages:
        return of(**found)
    found["integrator"] = stages[0].integrator
    found.setdefault("run", Run(duration=1.0))
    return _with_run_of_stages(of(**found))


def _with_run_of_stages(tables: Tables) -> Tables:
    return replace(tables, run=tables.run.replaced(**run_of_stages(tables.stage)))


def _wrong_in_stage(tables: Tables, k: int) -> list[str]:
    """Return lines about what the integrator of a stage does not take, or names that it gives and there are not."""
    stages = tables.sampled
    first = sum(stage.duration for stage in stages[:k])
    last = first + stages[k].duration
    of_stage = tables_of_stage(tables, k)
    lines = [*wrong_integrator_names(of_stage), *unsupported(of_stage, lambda item: item.acts(first, last))]
    return (
        [line.replace("[integrator]", f"{place('stage', k, tables.stage[k].name)}: integrator", 1) for line in lines]
        if tables.stage
        else lines
    )


def _stage(kind: Kind, value: Any, here: str, lines: list[str]) -> Table | None:
    """Return the table of a stage, the integrator in it by its own model; add a line for each mistake."""
    if not isinstance(value, Mapping) or "integrator" not in value:
        return validated(kind, value, here, lines)
    integrator = validated(kinds_of(Tables)["integrator"], value["integrator"], f"{here}: integrator", lines)
    # Other mistakes are reported as well: next to an integrator that is in order.
    stands_in = METHODS["newmark"](kind="newmark")
    table = validated(kind, {**value, "integrator": integrator or stands_in}, here, lines)
    return table if integrator is not None else None


def _with_default_samples(tables: Tables) -> Tables:
    """Return tables in which the default number of samples gives way to a longer step."""
    if not tables.stage:
        return replace(tables, run=_with_steps(tables.run, tables.integrator))
    stages = [_with_steps(stage, stage.integrator) for stage in tables.stage]
    return _with_run_of_stages(replace(tables, stage=stages))


def _with_steps(sampled: S, table: IntegratorTable) -> S:
    if not issubclass(table.of, FixedStepIntegrator) or table.dt == "auto":
        return sampled
    return sampled.with_steps(table.dt)


def validated(kind: Kind, value: Any, here: str, lines: list[str]) -> Table | None:
    """Return a table by its model; add a line for each mistake and return None if there is one."""
    if not isinstance(value, Mapping):
        lines.append(f"{here} must be a table, not {shown(value)}.")
        return None
    model = kind.models.get("")
    if model is None:
        word, known = value.get("kind"), list(kind.models)
        if not isinstance(word, str) or word not in kind.models:
            if kind.models is kinds_of(Tables)["integrator"].models and isinstance(word, str) and word in FORMER:
                lines.append(
                    f"{here}: kind {shown(word)} exists up to version 0.10 only; the method is now an example for "
                    f"Python, examples/papers/{FORMER[word]}.py."
                )
                return None
            wrong = "is missing; " + suggestion(word, known) if word is None else must_be_one_of(word, known)
            lines.append(f"{here}: kind {ended(wrong)}")
            return None
        model = kind.models[word]
    found: list[str] = []
    table = read(model, value, found)
    see = f" See {REFERENCE.format(kind.key)}."
    lines += dict.fromkeys(f"{here}: {line}{see if line.startswith('unknown key') else ''}" for line in found)
    return table
