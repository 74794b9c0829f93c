"""The examples of beams and shells keep what their method keeps."""

from pathlib import Path

import numpy as np
import pytest

from symplex.commands.cli import main
from symplex.runs.history import read_history
from symplex.runs.probe_files import read_probes

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.slow
def test_the_flying_spaghetti(run_script, tmp_path):
    """Energy and both momenta over 10⁴ steps, and the order of the method in the throw before."""
    numbers = run_script("flying_spaghetti.py", tmp_path)
    assert numbers["steps"] == 10_000
    for name in ("energy_drift", "momentum_drift", "angular_momentum_drift"):
        assert numbers[name] < 1e-11
    assert numbers["momentum along x at 5 s"] == pytest.approx(50.0, rel=1e-12)
    assert numbers["largest part of the energy in deformation"] > 0.05
    assert numbers["largest relative change of a distance within a frame"] < 1e-10
    assert 1.9 < sum(numbers["orders"]) / 2.0 < 2.1  # one by one as vibrations along the beam are resolved
    assert (tmp_path / "flying_spaghetti.png").stat().st_size > 10_000


@pytest.mark.slow
def test_the_tumbling_plate(run_script, tmp_path):
    """Energy and both momenta over 2000 steps of a plate that bends and turns over."""
    numbers = run_script("tumbling_plate.py", tmp_path)
    assert numbers["steps"] == 2000
    assert numbers["energy_drift"] < 1e-11
    assert numbers["momentum_drift"] < 1e-13
    assert numbers["angular_momentum_drift"] < 1e-11
    assert numbers["largest part of the energy in deformation"] > 0.05
    assert numbers["how often it has turned over"] >= 4
    assert (tmp_path / "tumbling_plate.png").stat().st_size > 10_000


@pytest.mark.usefixtures("drawing")
@pytest.mark.slow
def test_the_right_angle_cantilever(tmp_path):
    """From the command line: the tip swings by 8 to 10 m to both sides, with the energy that the push has left."""
    scenario, run = EXAMPLES / "right_angle_cantilever.toml", tmp_path / "run"
    assert main(["run", str(scenario), "--output", str(run), "--quiet"]) == 0
    history, tip = read_history(run / "history.csv"), read_probes(run)["tip"]["displacement_z_mean"]
    after = history["t"] > 2.0
    assert abs(history["balance"]).max() < 1e-11 * history["total"].max()
    assert np.ptp(history["total"][after]) < 1e-11 * history["total"].max()
    assert 7.5 < tip.max() < 10.5
    assert -10.5 < tip.min() < -8.0
    assert (run / "snapshots.png").stat().st_size > 20_000
