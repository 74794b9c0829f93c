"""Every table of a scenario with every other, and every command with every kind of result.

Each pair runs for two steps, or is refused in clear sentences by `symplex check`: what that accepts, the run does too,
with its pictures and reports.
"""

from __future__ import annotations

import random
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import isolated
import pytest
import result_kinds
import scenario_pairs
import test_fuzz_scenarios as fuzz_scenarios

HERE = Path(__file__).parent

SECONDS = 120.0  # of processor time for one trial, compiling included


def trials(seed: int, count: int) -> Iterator[tuple[str, str]]:
    """Yield so many pairs of tables, drawn by chance, and of commands and results, and their outcomes."""
    every = list(scenario_pairs.pairs())
    chosen = random.Random(seed).sample(every, min(count, len(every)))
    for what, _, outcome in tried(chosen):
        yield f"pairs: a table [{what[1:].partition(']')[0]}] with another", outcome

    with tempfile.TemporaryDirectory() as folder:
        found = list(called(Path(folder)))
    for command, _, outcome in random.Random(seed).sample(found, min(count, len(found))):
        yield f"pairs: symplex {command} of a result", outcome


def called(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Yield each command, what it is called with, and the outcome."""
    with isolated.Isolated(Path(__file__)) as attempt:
        names = result_kinds.make(folder, fuzz_scenarios.toml, complete_sample)
        for command, name, words in result_kinds.calls(names):
            yield command, name, attempt(result_kinds.as_task(folder, name, words))


def complete_sample(key: tuple[str, str]) -> Any:
    """Return the scenario of a sample, with a body where nothing has nodes."""
    data = scenario_pairs.samples()[key]
    host = {} if any(table in data for table in scenario_pairs.BRING_NODES) else {"body": [scenario_pairs.CUBE]}
    return scenario_pairs.complete(data | host, scenario_pairs.ENERGY_MOMENTUM)


def tried(pairs: list[tuple[str, Any]], pictures: bool = True) -> Iterator[tuple[str, str, str]]:
    """Yield what each pair is, its text, and its outcome."""
    with tempfile.TemporaryDirectory() as folder, isolated.Isolated(Path(__file__)) as attempt:
        furnish(Path(folder))
        for what, data in pairs:
            text = fuzz_scenarios.toml(data)
            yield what, text, attempt({"text": text, "folder": folder, "pictures": pictures})


def furnish(folder: Path) -> None:
    """Put the results into a folder that scenarios begin from."""
    from symplex.runs.reduction import reduce_body
    from symplex.runs.run import simulate
    from symplex.scenario.scenario import Scenario

    earlier = scenario_pairs.complete({"body": [scenario_pairs.CUBE]}, scenario_pairs.ENERGY_MOMENTUM)
    scenario = Scenario.parse(fuzz_scenarios.toml(earlier), folder / "earlier.toml")
    simulate(scenario, folder / "earlier", progress=False, pictures=False)
    reduced = scenario_pairs.complete({"body": [scenario_pairs.LINK]}, scenario_pairs.ENERGY_MOMENTUM)
    reduce_body(Scenario.parse(fuzz_scenarios.toml(reduced)))[0].save(folder / "rod.npz")


def trial(task: dict[str, Any]) -> str:
    """Return the outcome of a command, or of a scenario (in its own process)."""
    if "words" not in task:
        return tried_pair(task)
    with tempfile.TemporaryDirectory() as out:
        judged = isolated.judged_message
        return result_kinds.outcome_of(Path(task["folder"]), task["name"], task["words"], judged, Path(out))


def tried_pair(task: dict[str, Any]) -> str:
    """Return the outcome of a scenario."""
    from symplex.errors import SymplexError
    from symplex.runs import check
    from symplex.scenario.scenario import Scenario

    folder = Path(task["folder"])
    try:
        scenario = Scenario.parse(task["text"], folder / "pair.toml")
        with patch.multiple(check, _TRIAL=0.0, _WARM_UP=60.0):  # whose caller may be a test of many in its process
            reported, fails = check.check_report(scenario.build())
    except SymplexError as error:
        return isolated.judged(error, "pair.toml: ")
    if re.search(r"\b(nan|inf)\b", reported) or max(map(len, reported.split("\n"))) > 1000:
        return f"bad report: {reported}"
    if scenario.tables.response is not None and (outcome := responded(scenario)) != isolated.RAN:
        return outcome
    return isolated.judged_message(fails) if fails else run(scenario, folder / "results", task["pictures"])


def responded(scenario: Any) -> str:
    """Return the outcome of a harmonic response, which is refused by itself where a run is not."""
    from symplex.errors import SymplexError
    from symplex.runs.response import find_response
    from symplex.runs.spectral import find_random, find_spectrum

    table = scenario.tables.response
    try:
        (find_random if table.psd else find_spectrum if table.spectrum else find_response)(scenario)
    except SymplexError as error:
        outcome = isolated.judged(error)
        return isolated.RAN if outcome == isolated.REFUSED else outcome
    return isolated.RAN


def run(scenario: Any, folder: Path, pictures: bool) -> str:
    """Return the outcome of a run that `symplex check` has found in order, with all that is made of it."""
    import numpy as np

    from symplex.errors import SymplexError
    from symplex.runs.conservation_report import conservation
    from symplex.runs.history import read_history
    from symplex.runs.page.write import write_page
    from symplex.runs.pictures import draw_all
    from symplex.runs.report import run_report
    from symplex.runs.result import read_result
    from symplex.runs.results import RunFolder
    from symplex.runs.run import simulate

    shutil.rmtree(folder, ignore_errors=True)
    drawn = pictures and scenario.tables.output.format == "vtkhdf"  # others have no series of this name
    try:
        summary = simulate(scenario, folder, progress=False, pictures=False)
        reports = run_report(summary, folder) + conservation(read_result(folder)).text()
        write_page(folder, folder / "view.html")
        skipped = draw_all(RunFolder(folder), film="none", seconds=60.0).skipped if drawn else ""
    except SymplexError as error:
        return f"refused after check: {error}"
    if skipped:
        return f"no pictures: {skipped}"
    if not all(np.isfinite(column).all() for column in read_history(folder / "history.csv").values()):
        return "wrong result: the history is not finite"
    return f"bad report: {reports}" if re.search(r"\b(nan|inf)\b", reports) else isolated.RAN


# -- tests ----------------------------------------------------------------------------------------------------------


def test_there_is_a_sample_of_every_table_and_kind():
    from symplex.scenario.tables import Tables, kinds_of

    tried_ = {(table, variant.partition(",")[0]) for table, variant in scenario_pairs.samples()}
    for table, of in kinds_of(Tables).items():
        for kind in of.models:
            named = {variant for of, variant in tried_ if of == table}
            assert kind in named if kind else named, f"[{table}] {kind}"


# A few that cost little; the first five were tracebacks once.
FEW = {
    "[rigid_body] free with [obstacle] half-space, energy-momentum": isolated.RAN,
    "[contact] penalty with [obstacle] surface, energy-momentum": isolated.RAN,
    "[rigid_body] pivot with [start] result, energy-momentum": isolated.REFUSED,
    "[contact] of rigid bodies with [start] static, disturbed, energy-momentum": isolated.REFUSED,
    "[point_mass] free with [obstacle] half-space, energy-momentum": isolated.RAN,
    "[body] tetrahedra with [probe] obstacle, newmark": isolated.RAN,
    "[load] nodal with [integrator] force-stepping": isolated.RAN,
    "[body] consistent mass with [integrator] newmark": isolated.REFUSED,
}


@pytest.fixture(scope="module")
def furnished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pairs")
    furnish(folder)
    return folder


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (FEW[name] == isolated.REFUSED)) for name in FEW]
)
def test_a_few_pairs(name, furnished):
    data = dict(scenario_pairs.pairs())[name]
    task = {"text": fuzz_scenarios.toml(data), "folder": str(furnished), "pictures": False}
    assert tried_pair(task) == FEW[name]


def test_there_is_a_call_of_every_command():
    from symplex.commands.cli import _COMMANDS

    named = {module.__name__.rpartition(".")[2].replace("importing", "import") for module in _COMMANDS}
    assert named == set(result_kinds.CALLS)


@pytest.mark.slow
def test_commands_take_every_kind_of_result_or_refuse_it_in_clear_sentences(tmp_path):
    for command, name, outcome in called(tmp_path):
        assert outcome in (isolated.RAN, isolated.REFUSED), f"symplex {command} {name}\n{outcome}"


@pytest.mark.slow
def test_pairs_of_tables_run_or_are_refused_in_clear_sentences():
    """Of some 9 000 pairs these; `python tests/fuzz/write_table.py` tries as many others as requested."""
    outcomes: Counter[str] = Counter()
    for what, text, outcome in tried(random.Random(1).sample(list(scenario_pairs.pairs()), 300), pictures=False):
        assert outcome in (isolated.RAN, isolated.REFUSED), f"{what}\n{text}\n{outcome}"
        outcomes[outcome] += 1
    assert min(outcomes.values()) > 50


if __name__ == "__main__" and sys.argv[1:] == ["--serve"]:
    isolated.serve(trial, SECONDS)
