"""Runs of scenarios with implicit integrators: balance of energy and work in the history, and going on."""

import json

import numpy as np
import pytest

import symplex.runs.rows
from symplex.commands.cli import main
from symplex.runs.history import read_history
from symplex.runs.run import simulate

SCENARIO = """
[[body]]
name = "cube"
mesh = { box = [0.1, 0.1, 0.1], cells = [1, 1, 1] }
material = { lambda = 60.5e9, mu = 26e9, density = 2700 }
mass = "consistent"
[[obstacle]]
name = "floor"
kind = "half-space"
point = [0, 0, -0.0001]
normal = [0, 0, 1]
stiffness = 1e10
[[load]]
name = "press"
kind = "pressure"
body = "cube"
group = "z_max"
pressure = 2e9
history = { kind = "half-sine", duration = 30e-6 }
[integrator]
kind = "energy-momentum"
order = 4
dt = 2e-6
halvings = 3
[run]
duration = 60e-6
frames = 6
samples = 30
checkpoint = 1e-9
[output]
pictures = false
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "press.toml"
    path.write_text(SCENARIO, "utf-8")
    return path


def test_energy_and_work_balance(path, tmp_path, capsys):
    assert main(["run", str(path), "--output", str(tmp_path / "out")]) == 0
    assert "energy balance" in capsys.readouterr().out
    history = read_history(tmp_path / "out" / "history.csv")
    largest = history["kinetic"].max()
    assert history["floor"].max() > 0.01 * largest
    assert history["work_press"][-1] > 0.5 * largest
    np.testing.assert_allclose(history["balance"], history["total"] - history["work_press"], atol=1e-12 * largest)
    assert np.abs(history["balance"] - history["balance"][0]).max() < 1e-9 * largest
    assert history["halved"][-1] == 0
    assert history["corrections"][-1] > history["substeps"][-1] == 5 * history["steps"][-1] > 0
    summary = json.loads((tmp_path / "out" / "summary.json").read_text("utf-8"))
    assert summary["integrator"] == "Composition"
    assert summary["parameters"]["integrator"]["newton"]["halvings"] == 3
    assert summary["drift"]["balance"] < 1e-9 < summary["drift"]["total"]


def test_an_interrupted_run_goes_on_bit_identically(path, tmp_path, monkeypatch):
    simulate(path, tmp_path / "whole", progress=False)
    original = symplex.runs.rows.RowsOfRun.row

    def interrupted(self, state, acting):
        if state.t > 31e-6:
            raise KeyboardInterrupt
        return original(self, state, acting)

    with monkeypatch.context() as patch:
        patch.setattr(symplex.runs.rows.RowsOfRun, "row", interrupted)
        with pytest.raises(KeyboardInterrupt):
            simulate(path, tmp_path / "parts", progress=False)
    simulate(path, tmp_path / "parts", resume=True, progress=False)
    assert (tmp_path / "whole" / "history.csv").read_bytes() == (tmp_path / "parts" / "history.csv").read_bytes()


def test_check_tells_the_steps(path, capsys):
    assert main(["check", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "30 steps" in shown
    assert "explicit Newmark" not in shown  # which a consistent mass rules out
