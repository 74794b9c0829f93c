"""Importing a deck: reading it, writing its mesh and a scenario for each step that was understood."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from symplex.base.arguments import checked
from symplex.base.files import write_atomic
from symplex.base.representation import Summarized
from symplex.decks.adjusting import adjusted
from symplex.decks.beam_keywords import BEAMS
from symplex.decks.deck import NOWHERE, Deck, MaterialData, Missed, Step
from symplex.decks.flat import layered
from symplex.decks.geometry import DeckGeometry
from symplex.decks.keywords import KEYWORDS
from symplex.decks.layers import blocks_of as blocks_of_elements, with_last_sections
from symplex.decks.mesh_keywords import SHELLS
from symplex.decks.parts import Parts
from symplex.decks.reading import Reading, UnsupportedKeyword
from symplex.decks.shells import with_layers
from symplex.decks.state import preload_of
from symplex.decks.structure_mesh import structure_geometry
from symplex.decks.structures import SOLIDS, StructureStepWriter, bodies_of
from symplex.decks.toml import as_toml
from symplex.decks.trial import OutOfTime, reason_of_refusal, try_scenario
from symplex.decks.units import LIMIT, UNITS, Units, units_named
from symplex.decks.writing import StepWriter
from symplex.errors import InvalidArgument, MeshError, OutputError, ScenarioError
from symplex.meshes.formats.abaqus import Numbered
from symplex.meshes.formats.abaqus_deck import blocks_of
from symplex.meshes.formats.abaqus_instances import placed
from symplex.meshes.formats.account import Account
from symplex.meshes.formats.formats import format_of
from symplex.meshes.formats.includes import unquoted, without_quotes
from symplex.meshes.formats.read import mesh_of_raw
from symplex.meshes.formats.save import save_mesh
from symplex.meshes.mesh import Mesh
from symplex.scenario.scenario import Problem

_DENSITIES = 1e-3, 3e4  # kg/m³: of solids; the densest one, osmium, has 22 600
_STIFFEST = 2e12  # Pa: diamond has 1.2e12
_SPEEDS = 1.0, 2e4  # m/s: diamond has 18 000
_MOST_MOVED = 0.01  # of the size of the mesh: displacements that are small
_REPORT = "import.txt"


@dataclass(frozen=True, repr=False)
class Imported(Summarized):
    """What was made of a deck.

    Attributes
    ----------
    folder : Path
    mesh : Path
        The file of the mesh, in the deck's unit of length, with its sets as groups.
    scenarios : dict of int to Path
        Of each step that was imported, by its number.
    numbers : int64 [n]
        What the deck calls the nodes of the mesh.
    bodies : dict of str to int64
        What it calls the nodes of each body of the scenarios, in the order that these have.
    layers : dict of int to tuple of int
        By what the deck calls a node of a shell, the nodes through its thickness that it became, of ``bodies``.
    missed : tuple of Missed
        What was not understood.
    reasons : tuple of Missed
        Those of it that refuse steps, the first reason first.
    remarks : tuple of str
        What to know about what was imported.
    account : Account
        What became of each line of the deck.
    """

    folder: Path
    mesh: Path
    scenarios: dict[int, Path]
    numbers: NDArray[np.int64]
    bodies: dict[str, NDArray[np.int64]]
    layers: dict[int, tuple[int, ...]]
    missed: tuple[Missed, ...]
    reasons: tuple[Missed, ...]
    remarks: tuple[str, ...]
    account: Account

    def report(self) -> str:
        """Return what was imported and what was not, as lines."""
        lines = [f"{self.mesh}: {len(self.numbers)} nodes"]
        lines += [f"{path}: step {number}" for number, path in self.scenarios.items()]
        lines += [f"note: {remark}" for remark in self.remarks]
        lines += [f"not understood, {missed}" for missed in self.missed]
        return "\n".join(lines)


def read_deck(path: Path) -> Reading:
    """Return a deck as it was read.

    Raises
    ------
    MeshError
        If it is not there, or a line is not what its keyword asks for.
    """
    format_of(path)
    reading = Reading(path)
    try:
        blocks = [*blocks_of(path, reading.account)]
        for block in placed(blocks, reading.account):
            reading.take(block, KEYWORDS)
        reading.finish(blocks, KEYWORDS)
    except MeshError as error:
        raise MeshError(f"{path.name}: {error}") from None
    except ValueError as error:
        raise MeshError(f"{path.name}: {error}.") from None
    except OSError as error:
        raise MeshError(f"{path} cannot be read: {error.strerror}.") from error
    return reading


@checked
def import_deck(
    path: str | Path,
    folder: str | Path,
    *,
    units: str = "si",
    overwrite: bool = False,
    strict: bool = True,
    limit: float = LIMIT,
    shells: Literal["shells", "solids"] = "shells",
    progress: Callable[[str], None] | None = None,
) -> Imported:
    """Write the mesh of an Abaqus or CalculiX input file, and a scenario for each step that is understood.

    Every line is used, known to mean nothing for the motion, or listed. A step is imported only where all its lines
    were understood, and all before the first step, and those of the steps that it goes on from. The mesh is written
    first, whatever becomes of the steps, then the scenarios. Then each of these is built, which finds the equilibrium
    of static steps; the file of one that is refused is left.

    Parameters
    ----------
    path : path-like
        The deck, an ``.inp`` file.
    folder : path-like
        Where the files are written; it is made if it is not there.
    units : str, default "si"
        The units of the deck, which it does not tell: ``si``, ``mm-t-s`` (N, MPa), ``mm-kg-ms``, ``mm-g-ms``,
        ``cm-g-us`` or ``in-lbf-s``.
    overwrite : bool, default False
        Whether to replace files of these names.
    strict : bool, default True
        Whether unknown keywords, unknown parameters and densities that no solid has refuse steps. Otherwise the
        keywords are left out, with all that is below them, and listed. What is known and cannot be imported refuses
        steps in any case.
    limit : float, default 60
        In s; a scenario that takes longer is imported without having been tried to its end, which is noted. Zero:
        none is tried.
    shells : {"shells", "solids"}, default "shells"
        What shells become: ``[[shell]]``, or one layer of solid elements, as in CalculiX. Next to solid elements, and
        where a step has what ``[[shell]]`` cannot be given, they are solids in any case, which is noted.
    progress : callable, optional
        Gets a line when a file has been written, and while a scenario is tried.

    Returns
    -------
    Imported

    Raises
    ------
    MeshError
        If the deck cannot be read, has no elements, or, if ``strict``, its densities are those of other units.
    InvalidArgument
        If there are no such units, or the limit is negative.
    OutputError
        If files are there already, or cannot be written.
    """
    path, folder = Path(path), Path(folder)
    system = units_named(units)
    if not limit >= 0.0:
        raise InvalidArgument(f"limit must not be negative, got {limit:g} s.")
    with without_quotes(path):
        as_solids = "as requested" if shells == "solids" else ""
        return _imported(path, folder, system, overwrite, strict, limit, as_solids, progress or _silent)


def _silent(_: str) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class _Attempt:
    """A deck as it was read, with its geometry and the texts of scenarios by steps.

    Without a geometry ``error`` says why. ``loose`` are nodes of no element that scenarios have.
    """

    reading: Reading
    geometry: DeckGeometry | None
    of_structures: bool
    units_wrong: str = ""
    texts: dict[int, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    loose: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    error: MeshError | None = None


def _attempt(reading: Reading, system: Units, strict: bool, of_structures: bool) -> _Attempt:
    """Return what a deck becomes with beams and shells, or with solid elements."""
    deck, name = reading.deck, reading.path.name
    try:
        if of_structures:
            geometry = structure_geometry(deck, with_last_sections(deck, reading.mesh.numbered), name)
        else:
            geometry = adjusted(deck, DeckGeometry.of(_with_solids(reading), name))
    except MeshError as error:
        return _Attempt(reading, None, of_structures, error=_without_mesh(deck, name, error))
    if units_wrong := _check_units(deck, system, strict):
        return _Attempt(reading, geometry, of_structures, units_wrong)
    writer = StructureStepWriter if of_structures else StepWriter
    texts, files, loose = _scenarios(deck, geometry, system, reading.path, strict, writer)
    return _Attempt(reading, geometry, of_structures, texts=texts, files=files, loose=loose)


def _best_attempt(path: Path, system: Units, strict: bool, as_solids: str) -> _Attempt:
    """Return what a deck becomes: with beams and shells, or if more of its steps can be imported so, with solids.

    ``as_solids`` says why shells must be solids in any case, if they must.
    """
    reading = read_deck(path)
    try:
        types = {*reading.mesh.numbered.types}
    except MeshError:  # which the attempt reports
        types = set[str]()
    beams = not types.isdisjoint(BEAMS)
    if not beams and (as_solids or types.isdisjoint(SHELLS)):
        found = _attempt(reading, system, strict, False)
        if not types.isdisjoint(SHELLS):
            found.reading.deck.remarks.append(f"shells are solid elements here, and not [[shell]], {as_solids}")
        return found
    with_solids = not beams and any(name.startswith("C3D") for name in types)
    found = _attempt(reading, system, strict, not with_solids)
    if beams or found.units_wrong or (found.texts and len(found.texts) == len(found.reading.deck.steps)):
        return found
    other = _attempt(read_deck(path), system, strict, with_solids)
    if len(other.texts) <= len(found.texts) and not (found.geometry is None and other.geometry is not None):
        return found
    of_steps = [missed for missed in found.reading.deck.missed if missed.keyword in ("STEP", "ELEMENT")]
    why = str(found.error or of_steps[0].why).removeprefix(f"{path.name}: ").rstrip(".")
    as_what = "[[shell]] here, and not solid elements" if with_solids else "solid elements here, and not [[shell]]"
    other.reading.deck.remarks.append(f"shells are {as_what}, as {why}")
    return other


def _imported(
    path: Path,
    folder: Path,
    system: Units,
    overwrite: bool,
    strict: bool,
    limit: float,
    as_solids: str,
    say: Callable[[str], None],
) -> Imported:
    """Import a deck; what included files hold may be quoted in errors."""
    attempt = _best_attempt(path, system, strict, as_solids)
    reading, geometry, texts, loose = attempt.reading, attempt.geometry, attempt.texts, attempt.loose
    deck, mesh_path = reading.deck, folder / f"{path.stem}.mesh.inp"
    if geometry is None:
        assert attempt.error is not None
        return _without_steps(reading, attempt.error, mesh_path, overwrite, say)
    mesh, numbers = geometry.whole()
    _write_mesh(mesh, mesh_path, overwrite, say)
    if attempt.units_wrong:
        raise MeshError(f"{path.name}: {attempt.units_wrong}")
    written = {number: _scenario_of(path, folder, deck, number) for number in texts}
    for name, text in attempt.files.items():
        _write(folder / name, text, overwrite)
    for number, scenario in written.items():
        _write(scenario, texts[number], overwrite)
        say(f"{scenario}: step {number}")
    for number, scenario in [*written.items()] if limit else ():
        if not _try(deck, deck.steps[number - 1], texts[number], scenario, limit, attempt.of_structures, say):
            del written[number]
    if len(written) < len(texts) and attempt.of_structures and BEAMS.keys().isdisjoint(reading.mesh.numbered.types):
        other = _attempt(read_deck(path), system, strict, False)
        if len(other.texts) > len(written):  # which is tried in its turn
            for number in texts.keys() - other.texts.keys():
                _scenario_of(path, folder, deck, number).unlink()
            why = f"as {next(missed.why for missed in deck.missed if missed.keyword == 'STEP')}"
            return _imported(path, folder, system, True, strict, limit, why, say)
    if attempt.of_structures:
        own = {name: geometry.numbers[sorted(nodes)] for name, (_, nodes) in bodies_of(geometry).items()}
        own |= {SOLIDS: geometry.numbers[geometry.in_elements]} if geometry.in_elements.any() else {}
        bodies = {name: numbers[np.isin(numbers, some)] for name, some in own.items()}
    else:
        parts = Parts.of(deck, geometry)
        bodies = {name: numbers[np.isin(numbers, geometry.numbers[parts.nodes(name)])] for name in parts.names}
    if deck.touching and written:
        deck.remarks.append(
            "bodies in contact press each other wherever they meet, by vertices, edges and triangles of surfaces; "
            "where few elements are in contact, displacements differ from those of a deck, whose pressures are on faces"
        )
    of_shells = np.array([*deck.shells], np.int64)
    unused = reading.unused(deck.used()) if written else []
    unused += reading.unused_nodes(np.concatenate([numbers, loose, of_shells])) if written else []
    deck.remarks += unused
    return _result(reading, mesh_path, written, numbers, bodies, strict)


def _scenario_of(path: Path, folder: Path, deck: Deck, number: int) -> Path:
    """Return the file of the scenario of a step."""
    return folder / (f"{path.stem}-step-{number}.toml" if len(deck.steps) > 1 else f"{path.stem}.toml")


def _without_steps(
    reading: Reading, why: MeshError, mesh_path: Path, overwrite: bool, say: Callable[[str], None]
) -> Imported:
    """Write the elements of a deck as they are, where none of its steps can be imported."""
    try:
        mesh = mesh_of_raw(reading.mesh.whole(), reading.path.name, require_volume=False)
        numbers = reading.mesh.numbered.ids
    except MeshError:
        raise why from None
    if not any(len(cells) for cells in mesh.cells.values()):
        raise why
    _write_mesh(mesh, mesh_path, overwrite, say)
    reading.deck.missed.insert(0, Missed("", NOWHERE, str(why).removeprefix(f"{reading.path.name}: ").rstrip("."), 0))
    return _result(reading, mesh_path, {}, numbers, {}, True)


def _result(
    reading: Reading,
    mesh_path: Path,
    written: dict[int, Path],
    numbers: NDArray[np.int64],
    bodies: dict[str, NDArray[np.int64]],
    strict: bool,
) -> Imported:
    """Return what was made of a deck, and write the report on it."""
    deck, path, folder = reading.deck, reading.path, mesh_path.parent
    layers = {node: tuple(n for n in through if n is not None) for node, through in deck.shells.items()}
    remarks = tuple(unquoted(remark, path) for remark in deck.remarks)
    missed = tuple(one._replace(why=unquoted(one.why, path)) for one in deck.missed)
    reasons = tuple(sorted((one for one in missed if strict or not one.is_unknown), key=lambda one: one.step))
    imported = Imported(folder, mesh_path, written, numbers, bodies, layers, missed, reasons, remarks, reading.account)
    _write(folder / _REPORT, imported.report() + "\n", True)
    return imported


def _write_mesh(mesh: Mesh, path: Path, overwrite: bool, say: Callable[[str], None]) -> None:
    """Write the mesh in a folder that is made if it is not there."""
    _make(path.parent)
    _write(path, None, overwrite)
    save_mesh(mesh, path)
    say(f"{path}: {len(mesh.points)} nodes")


def _try(
    deck: Deck, step: Step, text: str, scenario: Path, limit: float, of_structures: bool, say: Callable[[str], None]
) -> bool:
    """Return whether a scenario may be used, and note what speaks against it."""
    try:
        problem = try_scenario(text, scenario, limit, lambda more: say(f"{scenario.name}: tried for {more}"))
        _check_preload(deck, step, problem)
        moved = _moved(problem) if of_structures and step.procedure == "static" and not step.nonlinear else 0.0
        if moved > _MOST_MOVED:
            deck.remarks.append(
                f"the static step {step.number} is linear, but moves nodes by {moved:.2g} of the size of all: here "
                "rotations of beams and shells are large, so that displacements differ from those of a linear analysis"
            )
    except OutOfTime:
        deck.remarks.append(
            f"{scenario.name} was not tried to its end within {limit:g} s (--limit); the first run may refuse it"
        )
    except ScenarioError as error:
        why = f"its scenario is refused: {reason_of_refusal(error, scenario)}"
        deck.missed.append(Missed("STEP", step.where, why, step.number))
        return False
    except UnsupportedKeyword as reason:
        deck.missed.append(Missed("STEP", step.where, str(reason), step.number))
        return False
    return True


def _with_solids(reading: Reading) -> Numbered:
    """Return the mesh with solid elements for flat ones and shells; if these cannot be, note it, and leave them."""
    deck, numbered = reading.deck, with_last_sections(reading.deck, reading.mesh.numbered)
    for name, (_, table) in blocks_of_elements(numbered):
        numbered.nodes.places(table[:, 1:], f"an element {name}")
    try:
        return with_layers(deck, layered(deck, numbered))
    except MeshError as error:
        deck.missed.append(Missed("ELEMENT", NOWHERE, str(error).rstrip("."), 0))
        return numbered


def _without_mesh(deck: Deck, name: str, why: MeshError) -> MeshError:
    """Return the error that says why there is no mesh of solids: often elements that it needs were not understood."""
    missed = [one for one in deck.missed if one.keyword in ("NODE", "ELEMENT", "NSET", "ELSET", "SURFACE")]
    more = f", and {len(missed) - 1} more" if len(missed) > 1 else ""
    reason = str(why).removeprefix(f"{name}: ").rstrip(".")
    return MeshError(f"{name}: {reason}." + (f" Not understood: {missed[0]}{more}." if missed else ""))


def _check_units(deck: Deck, units: Units, strict: bool) -> str:
    """Return what is wrong if a density is none of a solid: the units are others; remark on speeds of sound."""
    for material in deck.materials.values():
        density = None if material.density is None else material.density * units.density
        others = [key for key, other in UNITS.items() if other is not units and _is_plausible(material, other)]
        action = f"A deck does not state its units: give --units {' or '.join(others) or 'that it is in'}"
        place = f"{material.where}: the material '{material.name}' has"
        if density is not None and not _DENSITIES[0] <= density <= _DENSITIES[1]:
            than = "lighter" if density < _DENSITIES[0] else "heavier"
            why = f"{place} a density of {material.density:g}, in these units {density:g} kg/m³, {than} than any solid"
            if strict:
                return f"{why}. {action}, or --no-strict to import it all the same."
            deck.remarks.append(why)
        elif not _is_plausible(material, units):
            young, speed = (material.young or 0.0) * units.stress, _speed(material, units)
            deck.remarks.append(
                f"{place} a modulus of {young:g} Pa"
                + (f" and a density of {density:g} kg/m³, a speed of sound of {speed:.3g} m/s" if speed else "")
                + f", which no solid has. {action}"
            )
    return ""


def _speed(material: MaterialData, units: Units) -> float | None:
    """Return the speed of sound √(E/ρ) in m/s, if both are given."""
    if material.density is None or material.density <= 0.0 or material.young is None or material.young <= 0.0:
        return None
    return (material.young * units.stress / (material.density * units.density)) ** 0.5


def _is_plausible(material: MaterialData, units: Units) -> bool:
    """Return whether density, modulus and speed of sound in some units are those of a solid."""
    speed = _speed(material, units)
    return (
        (material.density is None or _DENSITIES[0] <= material.density * units.density <= _DENSITIES[1])
        and (material.young is None or material.young * units.stress <= _STIFFEST)
        and (speed is None or _SPEEDS[0] <= speed <= _SPEEDS[1])
    )


def _scenarios(
    deck: Deck,
    geometry: DeckGeometry,
    units: Units,
    path: Path,
    strict: bool,
    write: type[StepWriter | StructureStepWriter],
) -> tuple[dict[int, str], dict[str, str], NDArray[np.int64]]:
    """Return texts of scenarios by the numbers of steps, of files they name, and which nodes of no element they have.

    Why there is no scenario of others is noted.
    """
    texts: dict[int, str] = {}
    files: dict[str, str] = {}
    loose: set[int] = set()
    wrong = {missed.step for missed in deck.missed if strict or not missed.is_unknown}
    broken = 0 in wrong
    for step in deck.steps:
        if broken or step.number in wrong:
            broken = True
            continue
        try:
            writer = write(deck, geometry, step, units, f"{path.stem}.mesh.inp")
            tables = writer.tables()
            loose |= {*writer.loose}
            files |= writer.files
        except (UnsupportedKeyword, MeshError) as reason:
            why = str(reason).rstrip(".")
            deck.missed.append(Missed("STEP", step.where, why, step.number))
            continue
        heading = f"Imported from {path.name}, step {step.number} (line {step.where.line})."
        if step.procedure == "frequency":
            heading += f"\nThe deck asks for {step.modes} natural frequencies of the state at the start."
        if step.procedure == "buckle":
            heading += (
                f"\nThe deck asks for {step.modes} factors of its loads: symplex buckling FILE --number {step.modes}."
            )
        texts[step.number] = as_toml(tables, heading)
    return texts, files, np.array(sorted(loose), np.int64)


def _check_preload(deck: Deck, step: Step, problem: Problem) -> None:
    """Raise UnsupportedKeyword if vibrations are about what a linear static step moves far.

    A deck takes the undeformed shape and the stresses of small displacements, a scenario the equilibrium.
    """
    before = preload_of(deck, step) if step.procedure == "frequency" else 0
    if not before or deck.steps[before - 1].nonlinear:
        return
    if (moved := _moved(problem)) > _MOST_MOVED:
        raise UnsupportedKeyword(
            f"the static step {before} is linear, but moves nodes by {moved:.2g} of the size of all: vibrations of a "
            "deck are about the undeformed shape, those of a scenario about the equilibrium; give that step NLGEOM"
        )


def _moved(problem: Problem) -> float:
    """Return how far nodes have moved at the start, as a part of the size of all."""
    points = problem.mesh.points
    return float(np.abs(problem.state.q[: len(points)] - points).max() / np.ptp(points, axis=0).max())


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder} cannot be made: {error.strerror}.") from error


def _write(path: Path, text: str | None, overwrite: bool) -> None:
    """Write a file, or for None only see that it may be written."""
    if path.exists() and not overwrite:
        raise OutputError(f"{path} is there already; choose another folder, or --overwrite it (overwrite=True).")
    if text is None:
        return
    try:
        write_atomic(path, text.encode())
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}.") from error
