"""What a run was computed from, and whether it is still the same when it is to go on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from symplex.base.files import read_whole
from symplex.base.streams import printable
from symplex.base.toml import read_toml
from symplex.errors import OutputError
from symplex.fem.solids.plastic import solids_in
from symplex.fem.system import System
from symplex.meshes.mesh import Mesh
from symplex.runs.results import RunFolder
from symplex.scenario.scenario import Problem, Scenario
from symplex.scenario.start import ResultStart

# What may change before a run is resumed.
_FREE = ("title", "run.checkpoint", "run.until", "output.directory", "output.pictures", "output.film")
_FREE_TABLE = "output.view."
_AGAIN = "or start again with --overwrite or another --output"
_LONGEST = 40  # letters of a value in a message
_MESHES = "meshes"
NAMED = ("file ", "state ")  # how the names of what a scenario names begin


def inputs_of(problem: Problem) -> dict[str, str]:
    """Return the hashes of what a run is computed from besides its scenario: files named, meshes and systems."""
    return named_inputs([problem.scenario]) | fingerprint(problem.mesh, *(stage.system for stage in problem.stages))


def named_inputs(scenarios: Iterable[Scenario]) -> dict[str, str]:
    """Return the SHA-256 of what scenarios of one folder name, by name: of files, empty for what is none any more.

    And of the states of other runs that they start from, where these are still there.
    """
    files: dict[str, Path] = {}
    starts: dict[str, str | None] = {}
    for scenario in scenarios:
        files |= scenario.files
        start = scenario.tables.start
        if isinstance(start, ResultStart):
            at = "" if start.time is None else f" at {start.time:g} s"
            name = f"state of the run in '{start.folder}'{at}"
            if name not in starts:
                starts[name] = start.digest(scenario.path.parent)
    found = {f"file {name}": _of_file(path) for name, path in files.items()}
    return found | {name: digest for name, digest in starts.items() if digest is not None}


def _of_file(path: Path) -> str:
    if not path.is_file():  # nor is a pipe, which can be read only once
        return ""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise OutputError(f"{path} cannot be read: {error.strerror or error}.") from error


def fingerprint(mesh: Mesh, *systems: System) -> dict[str, str]:
    """Return the hash of a mesh with its groups, and of masses, supports and stencils of the systems of a run on it.

    Formulations of elements are given by name.
    """
    digest = hashlib.sha256()

    def add(name: str, array: np.ndarray) -> None:
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).tobytes())

    add("points", mesh.points)
    for kind in sorted(mesh.cells):
        add(kind, mesh.cells[kind])
    for name, members in sorted(mesh.cell_groups.items()):
        for kind in sorted(members):
            add(f"{name} {kind}", members[kind])
    for name, members in sorted(mesh.point_groups.items()):
        add(f"{name} points", members)
    for system in systems:
        add("mass", system.apply_mass(np.ones((system.n_nodes, system.dim))))
        add("fixed", system.fixed)
        for name, energy in system.energies.items():
            add(name, energy.nodes)
        for name, part in system.inelastic.items():
            if part.history:
                add(name, part.nodes)
    return {_MESHES: digest.hexdigest()} | _formulations(systems)


def _formulations(systems: Sequence[System]) -> dict[str, str]:
    """Return what elements are not computed with all points of quadrature, as all were in earlier versions."""
    solids = {name: solid for system in systems for name, solid in solids_in(system.energies, system.inelastic).items()}
    return {f"formulation of '{name}'": s.formulation for name, s in solids.items() if s.formulation != "full"}


def refuse_changed_scenario(scenario: Scenario, folder: RunFolder) -> None:
    """Refuse to go on with the run in a folder if its scenario was another."""
    try:
        stored = read_toml(read_whole(folder.scenario).decode())
    except FileNotFoundError:
        raise OutputError(f"{folder.path} holds no run to resume; start one without --resume.") from None
    except (OSError, ValueError) as error:
        raise OutputError(
            f"{folder.path} cannot be resumed: its {folder.scenario.name}, a copy of the scenario, cannot be read "
            f"({error}). Put the scenario there again, {_AGAIN}."
        ) from error
    before, now = _flat(stored), _flat(read_toml(scenario.text))
    for key in [*before, *now]:
        if key in _FREE or key.startswith(_FREE_TABLE):
            continue
        old, new = (_as_text(values, key) for values in (before, now))
        if (key in before) != (key in now) or before[key] != now[key]:
            raise OutputError(
                f"{folder.path} cannot be resumed: {scenario.path.name} has changed since ({key} was {old}, is {new}). "
                f"Restore it, {_AGAIN}."
            )


def refuse_other_version(before: str, now: str, path: Path) -> None:
    """Refuse to go on with what another version of symplex has computed."""
    if before != now:
        raise OutputError(
            f"{path} cannot be resumed: it was computed by symplex {printable(before)}, and this is "
            f"symplex {now}, which may compute otherwise. Take that version, {_AGAIN}."
        )


def refuse_changed_files(before: Mapping[str, str], now: Mapping[str, str], path: Path) -> None:
    """Refuse to go on in a folder if a file or the meshes are not those that it was computed from."""
    if name := changed(before, now):
        what = "the meshes are no longer those of the run" if name == _MESHES else f"the {name} has changed since"
        raise OutputError(f"{path} cannot be resumed: {what}. Restore what it was, {_AGAIN}.")


def changed(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Return the name of the first thing that is no longer as it was before, empty if all is."""
    return next((name for name, digest in now.items() if digest != before.get(name)), "")


def _flat(value: Any, key: str = "") -> dict[str, Any]:
    """Return the values of nested tables and lists by dotted keys."""
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list) and value:
        items = ((str(k + 1), item) for k, item in enumerate(value))
    else:
        return {key: value}
    return {k: v for name, item in items for k, v in _flat(item, f"{key}.{name}" if key else name).items()}


def _as_text(values: Mapping[str, Any], key: str) -> str:
    """Return a value as a message shows it."""
    text = printable(str(values[key])) if key in values else "not given"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
