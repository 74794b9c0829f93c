"""Runs that begin in equilibrium, and those in stages."""

import pytest

from symplex.scenario.scenario import Scenario
from symplex.time.stages import Stages

FILES = (
    "bent_beam.toml",
    "hung_and_dropped.toml",
    "preload_and_impact.toml",
    "spinning_plate.toml",
    "rotating_truss.toml",
)


@pytest.mark.parametrize("name", FILES)
def test_scenarios_can_be_built(name, pytestconfig):
    problem = Scenario.read(pytestconfig.rootpath / "examples" / name).build()
    assert isinstance(problem.integrator, Stages) == (name in ("hung_and_dropped.toml", "preload_and_impact.toml"))


def test_the_truss_is_that_of_the_paper(run_script, tmp_path):
    truss = run_script("starts_and_stages.py", tmp_path, "rotating_truss")["rotating_truss"]
    assert truss["stretch in equilibrium"] == pytest.approx(truss["stretch of the paper"], abs=1e-10)
    exact = truss["lambda_r of the paper's eq. 6.5"]
    assert truss["rotation by steps of 1/4 over the exact one"] == pytest.approx(exact, abs=1e-12)
    assert 0.5 * truss["disturbed by"] < truss["largest change of a spoke since"] < 2.0 * truss["disturbed by"]
    assert truss["energy change"] < 1e-13
    assert truss["angular momentum change"] < 1e-13


@pytest.mark.slow
def test_starts_and_stages(run_script, tmp_path):
    found = run_script("starts_and_stages.py", tmp_path)
    beam, bar, blow, plate = (found[name.removesuffix(".toml")] for name in FILES[:4])
    assert beam["frequency / Hz"] == pytest.approx(beam["Timoshenko's"], rel=0.012)
    assert beam["Timoshenko's"] < beam["Euler and Bernoulli's"]
    assert bar["sag / mm"] == pytest.approx(bar["ρ g L²/2E / mm"], rel=0.03)
    assert bar["error of the fall"] < 1e-12
    assert bar["lower end moves before the wave / mm"] < 0.002 * bar["fall of the top by then / mm"]
    assert bar["balance"] < 1e-12
    assert blow["strain energy of the preload / J"] == pytest.approx(blow["½ E A ε² L / J"], rel=0.01)
    assert blow["balance, implicit"] < 1e-11
    assert blow["balance, explicit"] < 1e-5
    assert plate["largest deformation since / mm"] < 6.0 * plate["disturbed by / mm"]
    assert plate["energy change"] < 1e-12
    assert (tmp_path / "starts_and_stages.png").stat().st_size > 10_000
