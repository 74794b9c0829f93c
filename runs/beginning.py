"""Where a run begins: in which folder, from which checkpoint, and whether anything is left to compute."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from symplex.base.checkpoint import Checkpoint, load_checkpoint
from symplex.base.version import VERSION
from symplex.device.finding import require_device
from symplex.errors import InvalidSystem, OutputError, ScenarioError
from symplex.fem.system import System
from symplex.parallel.ranks import Ranks
from symplex.runs.inputs import inputs_of, named_inputs, refuse_changed_files, refuse_other_version
from symplex.runs.results import RunFolder
from symplex.scenario.scenario import Problem, Scenario
from symplex.scenario.start import Start
from symplex.time.explicit.newmark import Newmark
from symplex.time.integrator import Integrator


def default_folder(scenario: Scenario) -> Path:
    """Return the results folder that a scenario names, which is next to or below it, or else ``NAME-results`` here."""
    directory = scenario.tables.output.directory
    if directory is None:
        return Path(f"{scenario.name}-results")
    home = scenario.path.parent
    try:
        inside = (home / directory).resolve().is_relative_to(home.resolve())
    except (OSError, ValueError, RuntimeError):  # no path, or links that go round
        inside = False
    if not inside:
        raise ScenarioError(
            f"{scenario.path.name}: [output]: directory is '{directory}', which is not in the folder of the scenario; "
            "name it on the command line, with --output."
        )
    return home / directory


def goes_beyond(scenario: Scenario, finished: Mapping[str, Any]) -> bool:
    """Return whether a scenario goes on beyond the end of a finished run of it, by ``run.until``."""
    end, reached = float(scenario.times[-1]), finished.get("t_end")
    if finished.get("stopped_by"):
        return False
    if not isinstance(reached, int | float):
        return False
    if end < reached:
        raise OutputError(too_early(scenario, reached))
    return end > reached


def too_early(scenario: Scenario, reached: float) -> str:
    """Return what to say of a scenario that ends before the time in s that its run has reached."""
    return (
        f"{scenario.path.name}: [run]: the run ends at {scenario.times[-1]:g} s, but it was computed to {reached:g} s "
        f"already; resume it with until = {reached:.9g} or later."
    )


def refuse_other_inputs(scenario: Scenario, folder: RunFolder, finished: Mapping[str, Any]) -> None:
    """Refuse a finished run, given its summary, if it was computed from other files or by another version.

    Files that mesh files include are not named by a scenario, so that the meshes are read where it names files.
    """
    inputs, versions = finished.get("inputs"), finished.get("versions")
    if isinstance(versions, Mapping) and "symplex" in versions:
        refuse_other_version(str(versions["symplex"]), VERSION, folder.path)
    if not isinstance(inputs, Mapping):  # earlier versions did not keep them
        return
    refuse_changed_files(inputs, named_inputs([scenario]), folder.path)
    if scenario.files:
        kept = Start.load(folder.start) if folder.start.exists() else None
        refuse_changed_files(inputs, inputs_of(scenario.build(kept)), folder.path)


def built(scenario: Scenario, folder: RunFolder, checkpoint: Checkpoint | None, ranks: Ranks | None) -> Problem:
    """Return what a scenario describes; a run that goes on begins as it has begun, whatever is left of what it was."""
    kept = checkpoint is not None and scenario.tables.start is not None and folder.start.exists()
    start = Start.load(folder.start) if kept else None
    return scenario.build(start, _system_on(ranks, scenario), framed=ranks is None)


def _system_on(ranks: Ranks | None, scenario: Scenario) -> Callable[..., System]:
    """Return what makes the systems of a run: on several ranks each makes its part, if steps are explicit.

    Implicit steps have other parts, whose rows are complete, and the first rank begins with the whole.
    """
    methods = [table.bare() for table in scenario.tables.integrators]
    explicit = all(isinstance(method, Newmark) and method.explicit for method in methods)
    if ranks is None or not explicit:
        return System
    from symplex.parallel.whole import SystemOfRanks

    return partial(SystemOfRanks, ranks=ranks)


def last_checkpoint(scenario: Scenario, folder: RunFolder) -> Checkpoint | None:
    """Return the checkpoint of a run, or None if it was killed before its first, with nothing computed."""
    if not folder.is_ours:
        raise OutputError(f"{folder.path} holds no run to resume; start one without --resume.")
    if folder.checkpoint.exists():
        checkpoint = load_checkpoint(folder.checkpoint)
        refuse_other_version(checkpoint.version, VERSION, folder.path)
        refuse_changed_files(checkpoint.inputs, named_inputs([scenario]), folder.path)
        return checkpoint
    try:
        rows = folder.history.read_bytes().count(b"\n")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise OutputError(f"{folder.history} cannot be read: {error.strerror or error}.") from error
    if rows > 2:  # the names of the columns, and the row of the start, after which the first checkpoint comes
        raise OutputError(
            f"{folder.path} cannot be resumed: it has no {folder.checkpoint.name}, but a history of {rows - 1} rows. "
            "Put the checkpoint there again, or start again with --overwrite or another --output."
        )
    return None


def device_of(scenario: Scenario) -> str | None:
    """Return the name of the device that a scenario wants for its steps, if it wants one."""
    tables = scenario.tables
    wanting = [tables.integrator, *(stage.integrator for stage in tables.stage)]
    if not any(getattr(table, "device", "cpu") != "cpu" for table in wanting):
        return None
    try:
        return require_device()
    except InvalidSystem as error:
        raise ScenarioError(f"{scenario.path.name}: {error}") from None


def divided(problem: Problem, ranks: Ranks) -> Integrator:
    """Return the integrator of a problem on several ranks."""
    from symplex.parallel.motion import with_cutbacks

    try:
        return with_cutbacks(problem.integrator, ranks)
    except InvalidSystem as error:
        raise ScenarioError(f"{problem.scenario.path.name}: {error}") from None
