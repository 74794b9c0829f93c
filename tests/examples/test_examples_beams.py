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


@pytest.mark.slow
def test_the_snap_through(run_script, tmp_path):
    """Both limit loads of both roofs, those of finer meshes, and what is not stable between them."""
    numbers = run_script("snap_through.py", tmp_path)
    finer = {"12.7 mm": (2221.3, 507.1), "6.35 mm": (585.1, -384.8)}  # N, of 24 elements a side
    for name, (upper, lower) in finer.items():
        assert numbers[f"{name}: upper limit load in N"] == pytest.approx(upper, rel=0.02)
        assert numbers[f"{name}: lower limit load in N"] == pytest.approx(lower, rel=0.03)
        assert numbers[f"{name}: equilibria that are not stable"] > 10
        assert numbers[f"{name}: largest relative change of the distance of two particles of a node"] < 1e-12
    assert numbers["12.7 mm: largest decrease of the deflection in mm"] == 0.0
    assert numbers["6.35 mm: largest decrease of the deflection in mm"] > 2.0  # it snaps back
    assert numbers["12.7 mm: deflection at 0.0877 of 3000 N in mm"] == pytest.approx(0.693, rel=0.01)
    assert (tmp_path / "snap_through.png").stat().st_size > 10_000


@pytest.mark.usefixtures("drawing")
@pytest.mark.slow
def test_the_shell_box(tmp_path):
    """Energy, momentum along the floor, and the impulse of the floor and the weight across it."""
    scenario, run = EXAMPLES / "shell_box.toml", tmp_path / "run"
    assert main(["run", str(scenario), "--output", str(run), "--quiet"]) == 0
    history, floor = read_history(run / "history.csv"), read_probes(run)["floor"]
    assert np.ptp(history["total"]) < 1e-11 * history["total"].max()
    for axis in "xy":
        assert np.ptp(history[f"momentum_{axis}"]) < 1e-13 * abs(history["momentum_z"][0])
    mass, dt = 2700.0 * 0.002 * 2.0 * (0.12 + 0.08 + 0.06), history["t"][1]
    change = history["momentum_z"][-1] - history["momentum_z"][0] + 9.81 * mass * history["t"][-1]
    assert change == pytest.approx(dt * floor["force_z"].sum(), rel=2e-3)  # forces at samples only
    assert history["momentum_z"][-1] > 0.0  # it has bounced
    assert (history["box.quad"] + history["box.quad_fold"]).max() > 0.1 * history["total"][0]
    assert (run / "snapshots.png").stat().st_size > 20_000


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
