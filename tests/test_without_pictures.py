"""A machine without the extra [pictures] computes all that others do, and says once why nothing is drawn."""

import ast
import json
import os
import subprocess
import sys

import pytest

from symplex.commands.cli import main
from symplex.errors import RenderError
from symplex.meshes.pictures.figures import plain_style
from symplex.meshes.pictures.packages import pictures_if_possible, require_packages

PACKAGES = {"pyvista", "vtk", "vtkmodules", "matplotlib", "imageio", "imageio_ffmpeg"}
SENTENCE = "pictures need matplotlib and pyvista and imageio, which are not installed: pip install 'symplex[pictures]'."
SCENARIO = """
title = "A block in the air"
[[body]]
name = "block"
mesh = { box = [0.1, 0.1, 0.1], cells = [1, 1, 1], split = "6" }
material = { young = 1e7, poisson = 0.3, density = 1000 }
velocity = [0, 0, -10]
[[support]]
body = "block"
group = "z_min"
[[load]]
name = "push"
kind = "nodal"
body = "block"
group = "z_max"
force = [1, 0, 0]
history = { kind = "ramp", duration = 1.0 }
[response]
between = [10, 20]
points = 3
at = [{ name = "top", body = "block", group = "z_max" }]
[integrator]
kind = "newmark"
dt = 1e-5
[run]
duration = 2e-5
frames = 2
"""
# Runs command lines where none of the packages can be imported; of each the status, and what it printed.
CHILD = """
import json, sys
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from io import StringIO
from pkgutil import walk_packages

for name in {packages!r}:
    sys.modules[name] = None
import symplex

for found in walk_packages(symplex.__path__, "symplex."):
    folder = found.name.split(".")[1]
    if folder not in ("tests", "examples", "benchmarks", "docs", "release", "__main__"):
        import_module(found.name)
told = []
for line in {lines!r}:
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        try:
            status = symplex.commands.cli.main(line.split())
        except SystemExit as error:
            status = error.code
    told.append([status, out.getvalue(), err.getvalue()])
print(json.dumps(told))
"""


@pytest.fixture
def bare(monkeypatch):
    """As if no package of the extra was installed."""
    for name in PACKAGES:
        monkeypatch.setitem(sys.modules, name, None)


def imports(body):
    """Yield what a module imports when it is imported itself."""
    for node in body:
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Try | ast.With | ast.For | ast.ClassDef):
            yield from imports(node.body)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test):
            yield from imports([*node.body, *node.orelse])


def test_no_module_imports_a_package_of_pictures_at_its_top(pytestconfig):
    root = pytestconfig.rootpath
    rooms = [path.parent for path in root.glob("*/__init__.py") if path.parent.name not in ("tests", "docs")]
    texts = {path: path.read_text("utf-8") for room in rooms for path in room.rglob("*.py")}
    about = {path: text for path, text in texts.items() if any(name in text for name in PACKAGES)}
    assert root / "meshes/pictures/scene.py" in about
    for path, text in about.items():
        found = {name.split(".")[0] for name in imports(ast.parse(text).body)}
        assert not found & PACKAGES, path
    assert list(imports(ast.parse("try:\n    import vtk\nexcept ImportError:\n    pass").body)) == ["vtk"]


def test_what_is_missing_is_told_with_the_extra(bare, monkeypatch):
    with pytest.raises(RenderError) as caught:
        require_packages()
    assert str(caught.value) == SENTENCE
    with pytest.raises(RenderError, match="pictures need matplotlib"), plain_style():
        pass
    monkeypatch.delitem(sys.modules, "matplotlib")
    monkeypatch.delitem(sys.modules, "imageio")
    with pytest.raises(RenderError, match=r"^a grid needs pyvista, which is not installed"):
        require_packages("a grid needs", ["pyvista"])
    said = []
    with pictures_if_possible(said.append):
        require_packages()
    assert said == ["pictures skipped: pictures need pyvista, which is not installed: pip install 'symplex[pictures]'."]


def test_a_run_goes_on_and_says_so_once(bare, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "block.toml").write_text(SCENARIO, encoding="utf-8")
    assert main(["run", "block.toml"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.count("which are not installed") == 1
    assert f"pictures skipped: {SENTENCE}" in out
    summary = json.loads((tmp_path / "block-results" / "summary.json").read_text("utf-8"))
    assert (summary["status"], summary["pictures_skipped"]) == ("finished", SENTENCE)
    assert not list(tmp_path.rglob("*.png"))
    for line in ("plot block-results", "render block-results", "view block-results --html"):
        assert main(line.split()) == 2
        assert capsys.readouterr() == ("", f"symplex: error: {SENTENCE}\n")
    assert main(["report", "block-results"]) == 0
    out, err = capsys.readouterr()
    assert "conservation.json" in out
    assert "png" not in out
    assert err == f"symplex: pictures skipped: {SENTENCE}\n"


@pytest.mark.slow
def test_every_command_works_without_them(tmp_path):
    """In its own process, in which nothing has been imported before."""
    (tmp_path / "block.toml").write_text(SCENARIO, encoding="utf-8")
    skipping = [
        "run block.toml",
        "modes block.toml --number 2",
        "response block.toml",
        "sweep block.toml --over body.block.material.density=900,1000 --workers 0",
        "converge block.toml --halvings 2 --workers 0",
        "demo",
        "compare block-results block-results --output compared",
    ]
    silent = ["check block.toml", "run block.toml --overwrite --no-pictures", "info block-results"]
    silent += ["export block-results --to table.csv", "export block-results --to all.pvd"]
    refusing = ["view block-results", "plot block-study"]
    lines = [*skipping, *silent, *refusing]
    code = CHILD.format(packages=sorted(PACKAGES), lines=lines)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False, env=dict(os.environ)
    )
    assert done.returncode == 0, done.stderr
    reported = dict(zip(lines, json.loads(done.stdout), strict=True))
    for line in skipping:
        status, out, err = reported[line]
        assert status == 0, (line, err)
        assert (out + err).count(SENTENCE) == 1, (line, out, err)
    for line in silent:
        status, out, err = reported[line]
        assert (status, err) == (0, ""), line
        assert "not installed" not in out, line
    for line in refusing:
        status, _, err = reported[line]
        assert status == 2, line
        assert err.count("\n") == 1, line
    assert SENTENCE in reported["plot block-study"][2]
    assert not list(tmp_path.rglob("*.png"))
