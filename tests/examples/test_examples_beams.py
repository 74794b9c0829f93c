"""The examples of beams and shells keep what their method keeps."""

import pytest


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
