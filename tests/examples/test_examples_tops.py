"""The examples of free rigid bodies and tops, as scenarios: their motion next to what is known of it."""

from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.special import ellipk

from reference.scenario_motions import motion_of
from symplex.scenario.scenario import Scenario

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.slow
def test_a_block_turns_over_when_eulers_equations_say():
    errors = []
    (x, y, z), spin = (0.02, 0.06, 0.12), np.array([0.0, 20.0, 0.02])
    I3, I2, I1 = np.array([y * y + z * z, x * x + z * z, x * x + y * y]) / 12.0
    energy, momentum = [I3, I2, I1] @ spin**2, np.array([I3, I2, I1]) ** 2 @ spin**2  # 2 T and L² per mass
    rate = np.sqrt((I2 - I1) * (energy * I3 - momentum) / (I1 * I2 * I3))
    k2 = (I3 - I2) * (momentum - energy * I1) / ((I2 - I1) * (energy * I3 - momentum))
    exact = ellipk(k2) / rate  # half of the time from one turn to the next
    assert 2.0 * exact == pytest.approx(1.185, abs=1e-4)
    for dt in (8e-3, 4e-3):
        scenario = Scenario.read(EXAMPLES / "tennis_racket.toml").with_values(
            {"integrator.dt": dt, "run.duration": 0.8, "run.frames": 1, "run.samples": 100}
        )
        problem, states, _ = motion_of(scenario, scenario.times)
        rigid_set = problem.rigid_sets.rigid_sets["block"]
        along = problem.system.angular_momentum(problem.state)
        spins = np.array([rigid_set.pose(state.q, state.v)[2] for state in states])
        across = CubicSpline(scenario.times, np.sum(np.cross(spins, along / np.linalg.norm(along)) ** 2, axis=1))
        peaks = across.derivative().roots(extrapolate=False)
        errors.append(abs(peaks[np.argmax(across(peaks))] - exact))
    assert errors[1] < 2e-3 * exact
    assert 3.0 < errors[0] / errors[1] < 5.5


@pytest.mark.slow
def test_a_heavy_top_precesses_steadily_and_comes_round():
    scenario = Scenario.read(EXAMPLES / "heavy_top.toml").with_values({"integrator.dt": 8e-4})
    times = np.linspace(0.0, scenario.times[-1], 5)
    problem, states, energies = motion_of(scenario, times)
    top = problem.rigid_sets.rigid_sets["top"]
    places = np.array([top.pose(state.q, state.v)[0] for state in states])
    np.testing.assert_allclose(np.linalg.norm(places, axis=1), 0.05, rtol=2e-3)
    np.testing.assert_allclose(places[:, 2], 0.05 * np.cos(0.5), rtol=2e-3)
    np.testing.assert_allclose(places[-1], places[0], atol=2e-3 * 0.05)  # once round, in the time that theory has
    np.testing.assert_allclose(places[2, :2], -places[0, :2], atol=2e-3 * 0.05)
    assert abs(energies["total"] - problem.system.energies_of(problem.state)["total"]) < 1e-11 * energies["kinetic"]
