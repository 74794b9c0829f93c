"""The tutorials of docs/learn are what a reader who follows them gets."""

import ast
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from symplex.commands.cli import main
from symplex.decks.keywords import KEYWORDS
from symplex.scenario.scenario import Scenario

ROOT = Path(__file__).parent.parent
LEARN = ROOT / "docs" / "learn"
SESSIONS = {"ten-minutes.md": "bar.toml", "from-abaqus.md": "beam-imported/beam.toml"}  # and the scenario of each
QUICK = {"mesh", "info", "import"}  # commands without steps or pictures
FENCED = re.compile(r"^(?:<!-- file: (\S+) -->\n)?```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def follow(page: Path, folder: Path, quick: bool) -> list[str]:
    """Write the files that a page gives and run its commands, in order; return the commands."""
    done = []
    for file, language, text in FENCED.findall(page.read_text("utf-8")):
        if file:
            (folder / file).write_text(text, "utf-8")
        for line in text.splitlines() if language == "sh" else ():
            program, *words = line.split()
            assert program == "symplex"
            if quick and words[0] not in QUICK:
                continue
            assert main(words) == 0, line
            done.append(line)
    return done


@pytest.mark.parametrize("name", SESSIONS)
def test_files_and_scenarios_of_the_tutorials_are_accepted(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert follow(LEARN / name, tmp_path, quick=True)
    Scenario.read(tmp_path / SESSIONS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", SESSIONS)
def test_all_commands_of_the_tutorials_run(name, tmp_path, monkeypatch, can_draw):
    if not can_draw:
        pytest.skip("no OpenGL here")
    monkeypatch.chdir(tmp_path)
    assert len(follow(LEARN / name, tmp_path, quick=False)) > 3


@pytest.mark.slow
def test_the_python_tutorial_finds_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = FENCED.findall((LEARN / "in-python.md").read_text("utf-8"))
    script = tmp_path / "tutorial.py"
    script.write_text("\n".join(text for _, language, text in found if language == "python"), "utf-8")
    reported = runpy.run_path(str(script))
    beam, tetrahedra, hexahedra = reported["static"], -reported["deflection"].min() / 2, -reported["better"].min() / 2
    assert tetrahedra < 0.95 * beam  # what the page says of locking
    assert hexahedra == pytest.approx(beam, rel=0.03)
    assert (tmp_path / "bar.png").exists()


@pytest.mark.slow
def test_what_is_written_by_the_reader_passes_the_checks(tmp_path):
    """And a wrong order, which is declared, is found out, as the page says."""
    for file, _, text in FENCED.findall((LEARN / "your-own.md").read_text("utf-8")):
        if file:
            (tmp_path / file).write_text(text, "utf-8")
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]

    def run(*files: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *files], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=600
        )

    done = run("test_mine.py")
    assert done.returncode == 0, done.stdout[-2000:]
    mine = (tmp_path / "mine.py").read_text("utf-8")
    (tmp_path / "mine.py").write_text(mine.replace("order = 2", "order = 3"), "utf-8")
    done = run("test_mine.py", "-k", "verlet")
    assert done.returncode == 1
    assert "PositionVerlet: errors must fall with the declared order" in done.stdout


def literals() -> Iterator[str]:
    """Yield the texts of the package's sources, with … where a value is put in."""
    rooms = ("base", "meshes", "fem", "contact", "time", "scenario", "decks", "runs", "studies", "commands")
    for path in (file for room in rooms for file in (ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
            elif isinstance(node, ast.JoinedStr):
                yield "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)


@pytest.mark.slow
def test_messages_that_are_explained_exist():
    """Each piece of a quoted message, between its …, is in one sentence of the sources, in this order."""
    page = (LEARN / "when-it-fails.md").read_text("utf-8").split("## It runs")[0]
    quoted = re.findall(r"^\| `(.*?)` \|", page, re.MULTILINE)
    assert len(quoted) > 25
    expected = {text: re.compile(".*".join(map(re.escape, text.split("…"))), re.DOTALL) for text in quoted}
    longest = {text: max(text.split("…"), key=len) for text in quoted}
    for literal in literals():
        for text in [text for text in expected if longest[text] in literal and expected[text].search(literal)]:
            del expected[text]
    assert not list(expected)


def test_keywords_that_import_does_not_know_are_named():
    page = (LEARN / "from-abaqus.md").read_text("utf-8")
    table = page.split("## Keywords")[1].split("## Elements")[0]
    rows = [row.split("|")[1] for row in table.splitlines() if row.startswith("| `*")]
    named = {word for row in rows for word in re.findall(r"`(\*[A-Z ]+[A-Z])", row)}
    unknown = {word for word in named if word.replace(" ", "").removeprefix("*") not in KEYWORDS}
    said = page.split("does not know")[1].split(" of these")[0]
    assert unknown == set(re.findall(r"\*[A-Z ]+[A-Z]", said))
