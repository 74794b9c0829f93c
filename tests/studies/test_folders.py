"""`symplex info` shows what is in folders of studies."""

import pytest

from symplex.commands.cli import main

SCENARIO = """
[[point_mass]]
name = "mass"
mass = 1.0
position = [1.1, 0, 0]
[[spring]]
name = "spring"
body = "mass"
to = [0, 0, 0]
length = 1.0
stiffness = 100.0
[[load]]
name = "push"
kind = "nodal"
body = "mass"
force = [1, 0, 0]
history = { kind = "sine", frequency = 1 }
[response]
frequencies = [1.0, 2.0]
at = [{ name = "tip", body = "mass" }]
[integrator]
kind = "newmark"
dt = 2e-3
[run]
duration = 0.1
frames = 5
[output]
pictures = false
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "swing.toml").write_text(SCENARIO)
    return tmp_path


def info(capsys, folder):
    capsys.readouterr()
    assert main(["info", folder]) == 0
    return capsys.readouterr().out


def test_modes_and_responses(here, capsys):
    assert main(["modes", "swing.toml", "--number", "1", "--no-pictures"]) == 0
    reported = info(capsys, "swing-modes")
    assert reported.startswith("Modes\n")
    assert "swing.toml" in reported
    assert reported.rstrip().endswith("vibration")
    assert main(["response", "swing.toml", "--no-pictures"]) == 0
    reported = info(capsys, "swing-response")
    assert reported.startswith("Harmonic response\n")
    assert "peak of tip" in reported
    assert "along x at 2 Hz" in reported


def test_a_study_and_a_comparison(here, capsys):
    over = ["--over", "spring.spring.stiffness=100,200", "--over", "integrator.dt=2e-3,-1", "--workers", "0"]
    assert main(["sweep", "swing.toml", *over, "--quantity", "max(kinetic)", "--quiet"]) == 1
    reported = info(capsys, "swing-study")
    assert "2 finished, 2 failed" in reported
    assert "spring.spring.stiffness, integrator.dt" in reported
    lines = reported.splitlines()
    assert any(line.startswith("001") and line.rstrip().endswith("finished") for line in lines)
    assert any(line.startswith("member 002: ") and "dt must be positive, got -1 s" in line for line in lines)
    assert main(["compare", "swing-study/members/001", "swing-study/members/003", "--output", "both"]) == 0
    reported = info(capsys, "both")
    assert reported.startswith("Comparison\n")
    assert "swing-study/members/003" in reported
    assert "kinetic" in reported


def test_damage_is_told(here, capsys):
    (here / "broken").mkdir()
    (here / "broken" / "study.json").write_text('{"members": 3}')
    assert main(["info", "broken"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("symplex: error: broken/study.json cannot be read: not a study, or damaged")
    assert error.count("\n") == 1


def test_modes_are_no_run(here, capsys):
    assert main(["modes", "swing.toml", "--number", "1", "--no-pictures"]) == 0
    assert main(["plot", "swing-modes"]) == 2
    assert "swing-modes holds the modes of a scenario, not a run" in capsys.readouterr().err
