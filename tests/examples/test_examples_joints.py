"""The examples of mechanisms keep what their method keeps, and agree with independent solutions."""

import pytest


@pytest.mark.slow
def test_mechanisms(run_script, tmp_path):
    """Against DOP853 in minimal coordinates; energy, redundant hinges, and the work of a motor."""
    numbers = run_script("mechanisms.py", tmp_path)
    pendulum, linkage = "double pendulum", "four-bar linkage"
    assert numbers[f"{pendulum}: orders"] == pytest.approx([2.0, 2.0], abs=0.02)
    assert numbers[f"{pendulum}: order of RATTLE composed"] == pytest.approx(4.0, abs=0.1)
    assert max(numbers[f"{pendulum}: errors by RATTLE composed to fourth order, dt = 20, 10 ms"]) < 3e-6
    assert numbers[f"{linkage}: free motions"] == 1
    assert numbers[f"{linkage}: orders"] == pytest.approx([2.1, 2.0], abs=0.2)
    assert numbers[f"{linkage}: joints whose forces are determined"] == 0
    for name in (pendulum, linkage):
        assert numbers[f"{name}: largest change of energy over the kinetic energy at the start"] < 1e-12
        assert numbers[f"{name}: largest violation of a joint"] < 1e-13
    for name in ("flexible", "stiff"):
        label = f"slider-crank, {name} rod"
        assert numbers[f"{label}: largest difference of energy and work over the work"] < 1e-10
        assert numbers[f"{label}: largest violation of a joint"] < 1e-13
        assert numbers[f"{label}: work of the motor in J"] > 0.5
    bent = [
        numbers[f"slider-crank, {name} rod: largest deflection of the rod's middle in mm"]
        for name in ("flexible", "stiff")
    ]
    assert bent[0] > 50.0 * bent[1]
    assert numbers["slider-crank, stiff rod: largest distance of the slider from that with a rigid rod in mm"] < 1e-3
    assert (tmp_path / "mechanisms.png").stat().st_size > 10_000


@pytest.mark.slow
def test_the_squeezer(run_script, tmp_path):
    """Angles at 30 ms as in the Test Set for IVP Solvers, to second order in the step."""
    numbers = run_script("squeezer.py", tmp_path)
    assert numbers["largest errors of angles in rad"][-1] < 5e-4
    assert numbers["orders"][-1] == pytest.approx(2.0, abs=0.02)
    assert numbers["error extrapolated from the last two"] < 1e-6
    assert numbers["largest change of energy less work, over the work"] < 1e-12
    assert numbers["largest violation of a joint"] < 1e-13
    assert (tmp_path / "squeezer.png").stat().st_size > 10_000
