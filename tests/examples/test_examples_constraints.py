"""The double pendulum and the chain of rods: the numbers of Tao and Owhadi (2014), sections 4.1 and 4.2."""

import numpy as np
import pytest

import symplex as sx


@pytest.fixture(scope="module")
def hanging(load_example):
    """Import the module that both examples share."""
    return load_example("hanging_rods.py")


def test_the_reference_in_angles_is_the_limit_of_rattle(hanging):
    chain = hanging.HangingRods([(1.0, -0.5), (1.5, 0.3), (2.5, 0.4)])
    times = 0.1 * np.arange(11)
    exact = chain.exact(times)
    energy = 0.5 * np.sum(exact.v**2, axis=(1, 2)) + exact.q[:, :, 1].sum(axis=1)
    np.testing.assert_allclose(energy, energy[0], atol=1e-11)
    np.testing.assert_allclose(chain.constraint_values(exact.q), 0.0, atol=1e-14)
    coarse, fine = (chain.follow(sx.Rattle(h, chain.constraints), times) for h in (0.02, 0.01))
    for name in ("q", "v", "tensions"):
        one, other, limit = (getattr(motion, name) for motion in (coarse, fine, exact))
        error = np.abs(other - limit).max()
        assert 1e-6 < error < 1e-3
        np.testing.assert_allclose((4.0 * other - one) / 3.0, limit, atol=0.05 * error)


@pytest.mark.slow
def test_the_double_pendulum(run_script, tmp_path):
    numbers = run_script("double_pendulum.py", tmp_path)

    def error(name):
        return numbers[f"{name}: largest error of the lower mass"]

    # The verdicts of Figure 1, at 20 times the step of Verlet's.
    assert error("SHAKE") == pytest.approx(0.0220, abs=2e-4)
    assert error("RATTLE") == pytest.approx(error("SHAKE"), rel=1e-9)
    assert error("Verlet, penalised") == pytest.approx(0.0234, abs=5e-4)
    assert error("Newmark, penalised") == pytest.approx(0.103, abs=0.002)
    assert error("Zhang-Skeel, penalised") == pytest.approx(error("Newmark, penalised"), rel=0.1)
    assert error("variational Euler, penalised") == pytest.approx(0.0227, abs=5e-4)
    for name in ("SHAKE", "Verlet, penalised", "Newmark, penalised", "Zhang-Skeel, penalised"):
        assert numbers[f"{name}: largest error of the upper mass"] == pytest.approx(2.0 * error(name), rel=0.06)
        distance = numbers[f"{name}: largest distance of the lower mass from where it should be"]
        assert 1.0 < distance / error(name) < 1.05
    assert error("one-iteration Newmark, penalised") > 5.0 * error("Newmark, penalised")
    assert error("one iteration from the prediction, penalised") == pytest.approx(0.163, abs=0.002)
    assert error("energy-momentum, penalised") == pytest.approx(0.0546, abs=0.001)
    assert numbers["energy-momentum, penalised: largest error of the energy"] < 1e-12
    assert numbers["one-iteration Newmark, penalised: largest error of the energy"] > 0.3
    for name in ("SHAKE", "RATTLE"):
        assert numbers[f"{name}: largest |g|"] < 1e-13
    # One iteration from the last positions takes energy out, or is lost; from the prediction it does not and is not.
    last, predicted = (f"one iteration from {guess} positions, " for guess in ("last", "predicted"))
    lost = "linearised accelerations, h = 0.1: energy at the end, less at the start"
    assert numbers[last + lost] < -0.3
    assert abs(numbers[predicted + lost]) < 0.01
    assert numbers[last + "evaluated accelerations, h = 0.1: sound until"] < 10.0
    assert numbers[last + "evaluated accelerations, h = 0.05: sound until"] < 40.0
    for accelerations in ("linearised", "evaluated"):
        assert numbers[f"{predicted}{accelerations} accelerations, h = 0.1: sound until"] == pytest.approx(50.0)
    # Figure 2: constraints are broken by O(ω⁻²), and averages of multipliers are close to SHAKE's.
    assert min(numbers["omega² max |g| over the last unit of time"]) > 2.0
    assert max(numbers["omega² max |g| over the last unit of time"]) < 4.0
    assert numbers["tensions by SHAKE: largest error"] < 2e-3
    assert numbers["tensions by averages: mean error"] < 0.08
    assert numbers["tensions without averages: mean error"] > 0.5
    # Much stiffer, implicit methods lose it, as the paper says; energy-momentum does not.
    assert numbers["omega = 2000, energy-momentum: sound until"] == pytest.approx(50.0)
    assert numbers["omega = 2000, energy-momentum: largest error of the lower mass"] == pytest.approx(0.0288, abs=5e-4)
    assert numbers["omega = 2000, Newmark, beta = 1/4: sound until"] < 20.0
    assert numbers["omega = 2000, midpoint: sound until"] < 2.0
    assert "not positive definite" in numbers["omega = 2000, Zhang-Skeel: stopped by"]
    for name in ("double_pendulum", "double_pendulum_multipliers"):
        assert (tmp_path / f"{name}.png").stat().st_size > 20_000


@pytest.mark.slow
def test_the_chain_of_ten(run_script, tmp_path):
    numbers = run_script("chain.py", tmp_path)
    for name, error in (("SHAKE, h = 0.05", 3.23e-3), ("SHAKE, h = 0.025", 8.07e-4), ("RATTLE, h = 0.05", 3.23e-3)):
        assert numbers[f"{name}: largest error of a position"] == pytest.approx(error, rel=0.01)
        assert numbers[f"{name}: largest |g| of a rod"] < 1e-12
    for name in ("Zhang-Skeel", "energy-momentum"):  # the error of the penalty, not of the step
        assert numbers[f"{name}, h = 0.05: largest error of a position"] == pytest.approx(0.035, abs=0.002)
    assert numbers["energy-momentum, h = 0.05: largest error of the energy"] < 1e-11
    assert numbers["tensions by SHAKE: largest error"] < 0.02
    assert numbers["tensions by averages over 1: mean error"] < 0.1 * numbers["tensions without averages: mean error"]
    assert (tmp_path / "chain.png").stat().st_size > 20_000
