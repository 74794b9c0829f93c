"""A finished run that goes on: what it computes then is that of a run of that length, to the last bit."""

import shutil

import numpy as np
import pytest

import symplex as sx
from symplex.commands.cli import main

HEAD = """\
title = "a block"
[[body]]
name = "block"
mesh = { box = [1.0, 1.0, 1.0], cells = [1, 1, 1], split = "6" }
material = { young = 1e6, poisson = 0.3, density = 1000 }
velocity = [1, 0, 0]
angular_velocity = [0, 0, 3]
[output]
pictures = false
format = "pvd"
"""
NEWMARK = """\
[integrator]
kind = "newmark"
dt = 1.3e-3
[run]
duration = 0.03
frames = 3
samples = 9
"""
ENERGY_STEPS = """\
[integrator]
kind = "energy-momentum"
dt = 4e-3
[run]
duration = 0.03
frames = 3
"""
STAGED = """\
[gravity]
acceleration = [0, 0, -9.81]
until = 0.011
[[stage]]
duration = 0.01
integrator = { kind = "newmark", dt = 1e-3 }
frames = 2
[[stage]]
duration = 0.02
integrator = { kind = "energy-momentum", dt = 2e-3 }
frames = 2
samples = 8
"""


def scenario(text):
    return sx.Scenario.parse(HEAD + text, "block.toml")


def content(folder):
    """Return all that a run has computed, by file."""
    files = [folder / "history.csv", folder / "motion.pvd", *sorted((folder / "motion").iterdir())]
    return {path.name: path.read_bytes() for path in files}


@pytest.mark.parametrize("text", [NEWMARK, ENERGY_STEPS, STAGED])
def test_a_finished_run_goes_on_to_the_last_bit(text, tmp_path):
    short = scenario(text)
    frame = short.times[short.is_frame]
    until = frame[-1] + 2 * (frame[-1] - frame[-2])
    longer = short.with_values({"run.until": until})
    assert np.array_equal(longer.times[: len(short.times)], short.times)
    assert np.isclose(longer.times[-1], until, rtol=1e-12)
    sx.simulate(longer, tmp_path / "whole", progress=False)
    sx.simulate(short, tmp_path / "parts", progress=False)
    before = content(tmp_path / "parts")
    summary = sx.simulate(longer, tmp_path / "parts", resume=True, progress=False)
    assert summary["status"] == "finished"
    assert summary["t_end"] == summary["duration"] == longer.times[-1] > short.times[-1]
    after = content(tmp_path / "parts")
    assert after == content(tmp_path / "whole")
    assert after["history.csv"].startswith(before["history.csv"])
    parts, whole = (sx.conservation(tmp_path / name).plain() for name in ("parts", "whole"))
    assert parts == whole
    assert parts["parts"][-1]["expected"]
    assert sx.conservation(tmp_path / "parts").parts[-1].expected.end == longer.times[-1]
    assert (tmp_path / "parts" / "scenario.toml").read_text() == longer.text
    assert sx.simulate(longer, tmp_path / "parts", resume=True, progress=False) == summary  # nothing is left to do


def test_a_run_goes_on_from_the_command_line(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "block.toml").write_text(HEAD + NEWMARK)
    assert main(["run", "block.toml", "--quiet"]) == 0
    shutil.copytree("block-results", "copy")
    assert main(["run", "block.toml", "--quiet", "--resume", "--until", "0.05"]) == 0
    assert main(["run", "block.toml", "--quiet", "--resume", "--set", "run.until=0.05", "--output", "copy"]) == 0
    assert content(tmp_path / "block-results") == content(tmp_path / "copy")
    assert sx.read_history("copy/history.csv")["t"][-1] == pytest.approx(0.05, rel=1e-14)
    capsys.readouterr()
    assert main(["run", "block.toml", "--quiet", "--resume"]) == 2
    error = capsys.readouterr().err
    assert "the run ends at 0.03 s, but it was computed to 0.05 s already; resume it with until = 0.05 or" in error


@pytest.mark.parametrize(
    ("until", "more", "message"),
    [
        (0.02, "", r"\[run\]: until is 0.02 s, before the 0.03 s that it lasts anyway"),
        (0.035, "", r"\[run\]: until is 0.035 s, between two frames, which are 0.01 s apart; give 0.03 or 0.04\.$"),
        (
            0.05,
            "[gravity]\nacceleration = [0, 0, -1]\nuntil = 0.04\n",
            r"something begins or ends to act at 0.04 s, after the duration of 0.03 s; a run goes on only while",
        ),
        (1e9, "", "which takes more than 10,000,000 samples"),
        (-1, "", "until must be positive, got -1 s"),
    ],
)
def test_how_far_a_run_can_go_on_is_told(until, more, message):
    with pytest.raises(sx.SymplexError, match=message):
        scenario(more + NEWMARK).with_values({"run.until": until})
