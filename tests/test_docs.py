"""What the documents tell people to type works as it stands there."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import symplex
from symplex.commands.cli import main
from symplex.runs.run import simulate
from symplex.scenario.definitions import evaluated
from symplex.scenario.scenario import Scenario
from symplex.scenario.tables import Tables, kinds_of
from symplex.scenario.validation import validated
from symplex.time.catalogue import columns_of_methods

ROOT = Path(__file__).parent.parent
DOCS = {path.name: path for path in sorted((ROOT / "docs").glob("*.md"))}
LEARN, MEASURED, TABLES = (
    {f"{folder}/{path.name}": path for path in sorted((ROOT / "docs" / folder).glob("*.md"))}
    for folder in ("learn", "benchmarks", "scenario")
)
PAGES = {
    "README.md": ROOT / "README.md",
    "docs/README.md": DOCS.pop("README.md"),
    **DOCS,
    **LEARN,
    **MEASURED,
    **TABLES,
}
# Scenarios of files that the pages make on the way; test_learn.py follows these pages.
WITH_FILES = {"learn/ten-minutes.md"}
# Pages about the files of a run: the snippets stand in a results folder.
IN_RESULTS = {"results-format.md"}
SMALL = """
[[body]]
name = "cube"
mesh = { box = [1.0, 1.0, 1.0], cells = [1, 1, 1], split = "6" }
material = { lambda = 1e6, mu = 1e6, density = 1000 }
velocity = [1, 0, 0]
[integrator]
kind = "newmark"
[run]
duration = 6e-5
frames = 2
samples = 2
[output]
pictures = false
"""


def blocks(page: Path, language: str) -> list[str]:
    """Return the blocks of a language on a page, in their order."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def pages_with(language: str) -> list[str]:
    """Return the names of the pages that have a block of a language."""
    return [name for name, page in PAGES.items() if blocks(page, language)]


@pytest.mark.parametrize("name", pages_with("python"))
@pytest.mark.slow
def test_python_runs_as_it_is_pasted(name, tmp_path, can_draw):
    """The blocks of a page one after the other, in a new interpreter and an empty folder."""
    folder, text = tmp_path, "\n".join(blocks(PAGES[name], "python"))
    if name in IN_RESULTS:
        if not can_draw:
            pytest.skip("no OpenGL here")
        simulate(Scenario.parse(SMALL, "small.toml"), folder / "results", progress=False)
        folder /= "results"
    environment = os.environ | {"PYVISTA_OFF_SCREEN": "true"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", text],
        cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8", timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{name}: {done.stderr[-1500:]}"


@pytest.mark.parametrize("name", [name for name in pages_with("toml") if name not in WITH_FILES])
def test_scenarios_are_valid(name):
    """Those that have all the tables that are needed can be built; of others each table is what a table can be."""
    for text in blocks(PAGES[name], "toml"):
        lines: list[str] = []
        tables = evaluated(tomllib.loads(text), lines)
        assert not lines
        kinds = kinds_of(Tables)
        needed, bring = (
            {k for k, kind in kinds.items() if of(kind)} for of in (lambda x: x.needed, lambda x: x.brings_nodes)
        )
        if needed <= set(tables) and bring & set(tables):
            Scenario.parse(text).build()
            continue
        for key, given in tables.items():
            for table in given if isinstance(given, list) else [given]:
                validated(kinds[key], table, key, lines)
        assert not lines


def commands() -> list[list[str]]:
    """Return the words after ``symplex`` wherever a page names a command."""
    found = []
    for page in PAGES.values():
        text = page.read_text("utf-8")
        shell = "\n".join(blocks(page, "sh"))
        found += re.findall(r"`symplex ([a-z][^`]*)`", text)
        found += re.findall(r"\bsymplex ([a-z][^\n&|]*)", shell)
    return [command.split() for command in found]


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_commands_and_their_options_exist(words, capsys):
    named = [word for word in words if not word.startswith("-")]
    inner = named[:2] if named[0] == "mesh" else named[:1]
    with pytest.raises(SystemExit) as stopped:
        main([*inner, "--help"])
    assert stopped.value.code == 0
    offered = set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
    assert {word for word in words if word.startswith("--")} <= offered


NAMED = re.compile(r"`(?:python )?((?:examples|benchmarks|tests|fem|time|contact|meshes)/[\w/]+\.\w+)[`\s]")


def test_files_that_are_named_exist():
    named = {match for page in PAGES.values() for match in NAMED.findall(page.read_text("utf-8"))}
    assert len(named) > 50
    assert not [name for name in sorted(named) if not (ROOT / name).exists()]


def test_functions_that_are_named_exist():
    """Those of `path/file.py:name` are defined there."""
    named = {match for page in PAGES.values() for match in re.findall(r"`([\w/]+\.py):(\w+)`", page.read_text("utf-8"))}
    assert len(named) > 20
    for path, name in sorted(named):
        assert re.search(rf"^(?:def|class) {name}\b", (ROOT / path).read_text("utf-8"), re.MULTILINE), f"{path}:{name}"


def test_what_is_cited_is_in_the_bibliography():
    keys = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "docs/references.bib").read_text("utf-8"), re.MULTILINE))
    lists = [keys for page in PAGES.values() for keys in re.findall(r"\{cite:\w\}`([^`]+)`", page.read_text("utf-8"))]
    cited = [key for keys in lists for key in keys.split(",")]
    assert len(cited) > 20
    assert set(cited) <= keys


def test_the_site_knows_every_family():
    """The titles of the pages of the reference, without importing Sphinx."""
    source = (ROOT / "docs/extensions/reference.py").read_text("utf-8")
    titles = re.search(r"^TITLES = (\{.*?^\})", source, re.DOTALL | re.MULTILINE)[1]
    assert set(ast.literal_eval(titles)) == set(symplex._FAMILIES)


def test_the_paper_cites_what_its_bibliography_has():
    def entries(path: Path) -> dict[str, str]:
        return dict(re.findall(r"^(?=@\w+\{(\w+),)(.*?^\})", path.read_text("utf-8"), re.DOTALL | re.MULTILINE))

    cited = set(re.findall(r"@(\w+)", (ROOT / "paper/paper.md").read_text("utf-8")))
    own, site = entries(ROOT / "paper/paper.bib"), entries(ROOT / "docs/references.bib")
    assert set(own) == cited
    assert {key: own[key] for key in own if key in site} == {key: site[key] for key in own if key in site}
    assert len(set(own) & set(site)) > 8


def test_every_energy_of_a_history_is_explained():
    reference = PAGES["scenario.md"].read_text("utf-8")
    totals = [name for name, column in columns_of_methods().items() if column.kind == "total"]
    assert len(totals) > 4
    assert not [name for name in totals if f"`{name}`" not in reference]


def test_links_lead_somewhere():
    broken = []
    for page in PAGES.values():
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            if "://" not in target and not (page.parent / target).exists():
                broken.append(f"{page.name}: {target}")
    assert not broken
