"""What a newcomer begins with: ``symplex demo``, and ``symplex warmup``, after which nothing is left to compile."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from symplex.commands.cli import main
from symplex.errors import OutputError
from symplex.fem.compiled import kernel_cache
from symplex.runs import warming
from symplex.scenario.scenario import Scenario

BLOCK = """
title = "A block"
[[body]]
name = "block"
mesh = { box = [0.1, 0.1, 0.1], cells = [1, 1, 1], split = "6" }
material = { young = 1e7, poisson = 0.3, density = 1000 }
velocity = [0, 0, -10]
[integrator]
kind = "newmark"
dt = 1e-5
[run]
duration = 4e-5
frames = 2
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working directory with a scenario."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "block.toml").write_text(BLOCK, encoding="utf-8")
    return tmp_path


def test_a_second_warmup_finds_nothing_to_compile(here, capsys):
    assert main(["warmup", "block.toml"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("compiling what is not there yet")
    assert lines[1].startswith("   1 of 1  A block: ")
    assert lines[2].endswith(f"kept in {kernel_cache.cache_folder()}")
    assert main(["warmup", "block.toml"]) == 0
    assert capsys.readouterr().out.splitlines()[2].startswith("nothing was left to compile, after ")
    assert main(["warmup", "block.toml", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert sorted(path.name for path in here.iterdir()) == ["block.toml"]


def test_warmup_takes_values_and_refuses_what_is_no_scenario(here, capsys):
    assert main(["warmup", "none.toml"]) == 2
    assert main(["warmup", "block.toml", "--set", "integrator.dt=0"]) == 2
    out, err = capsys.readouterr()
    assert out.count("\n") == 0
    assert err.count("\n") == 2
    assert "integrator" in err


def test_scenarios_of_the_usual_methods_are_valid():
    for title, model, method in warming._TRIALS:
        scenario = warming.scenario_of_trial(title, model, method)
        assert isinstance(scenario, Scenario)
        assert scenario.tables.title == title


def test_a_temporary_folder_is_no_place_to_fill(monkeypatch):
    monkeypatch.setattr(kernel_cache, "cache_folder", lambda: Path("/tmp/symplex-kernels-7/fem_1"))
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/read/only")
    with pytest.raises(OutputError, match=r"^/read/only cannot be written, .*; name one that can be written by the"):
        kernel_cache.lasting_cache()
    for named in ("", "/tmp/symplex-kernels-7"):  # the second by a process that started this one
        monkeypatch.setenv("NUMBA_CACHE_DIR", named)
        with pytest.raises(OutputError, match=r"^neither .* is temporary; name one"):
            kernel_cache.lasting_cache()


def test_a_demo_replaces_nothing(here, capsys):
    (here / "symplex-demo").mkdir()
    (here / "symplex-demo" / "history.csv").write_text("mine\n")
    assert main(["demo"]) == 2
    assert "symplex-demo" in capsys.readouterr().err
    assert (here / "symplex-demo" / "history.csv").read_text() == "mine\n"


@pytest.mark.slow
def test_a_demo_leaves_pictures_a_page_and_a_scenario(here, capsys, can_draw):
    assert main(["demo", "--output", "first look"]) == 0
    reported = capsys.readouterr().out
    folder = here / "first look"
    for name in (
        "history.png",
        "view.html",
        "scenario.toml",
        "motion.vtkhdf",
        *(["snapshots.png"] if can_draw else []),
    ):
        assert (folder / name).stat().st_size > 500, name
        assert f"first look/{name}" in reported
    assert "symplex view 'first look'" in reported
    summary = json.loads((folder / "summary.json").read_text("utf-8"))
    assert summary["status"] == "finished"
    assert summary["drift"]["total"] < 1e-3
    assert Scenario.read(folder / "scenario.toml").tables.title == "A rubber bracket bounces"
    assert main(["demo", "--output", "first look"]) == 2
    assert "already holds a run; replace it with --overwrite" in capsys.readouterr().err
    assert main(["demo", "--output", "first look", "--overwrite"]) == 0


@pytest.mark.slow
def test_after_a_warmup_a_run_compiles_nothing(here):
    def done(*arguments, folder):
        environment = os.environ | {"NUMBA_CACHE_DIR": str(folder)}
        command = [sys.executable, "-m", "symplex", *arguments]
        return subprocess.run(command, cwd=here, env=environment, capture_output=True, text=True, check=False)

    first = done("warmup", "block.toml", folder=here / "kernels")
    assert first.returncode == 0, first.stderr
    assert " kernels compiled in " in first.stdout
    run = done("run", "block.toml", "--no-pictures", folder=here / "kernels")
    assert run.returncode == 0
    assert "compiling" not in run.stdout
    (here / "a file").write_text("")
    refused = done("warmup", folder=here / "a file" / "below")
    assert refused.returncode == 2
    assert refused.stdout == ""
    assert refused.stderr == (
        f"symplex: error: {here / 'a file' / 'below'} cannot be written, to keep compiled kernels in; "
        "name one that can be written by the environment variable NUMBA_CACHE_DIR.\n"
    )
