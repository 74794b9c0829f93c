"""Runs that begin in equilibrium, and those in stages."""

import pytest

from symplex.runs.run import simulate
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


def test_a_bolted_joint_against_its_stiffnesses(run_script, tmp_path):
    found = run_script("bolted_joint.py", tmp_path)  # which runs "bolted_joint.toml"
    assert found["force of the bolt when it is locked / N"] == pytest.approx(1e4, rel=1e-9)
    assert found["drawn together by / µm"] == pytest.approx(found["F/k_b + F/k_m / µm"], rel=1e-4)
    assert found["part of the load in the bolt"] == pytest.approx(found["k_b/(k_b + k_m)"], rel=1e-4)
    assert found["largest error of the force / F"] < 1e-4
    assert found["largest error of its balance / F"] < 1e-9
    assert (tmp_path / "bolted_joint.png").stat().st_size > 10_000


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


def test_the_grip_opens_at_its_force_and_the_wave_comes_back(pytestconfig, tmp_path):
    """A static stage to 40 kN, then the release wave: extension, energy and speeds of the theory of bars."""
    text = (pytestconfig.rootpath / "examples" / "torn_bar.toml").read_text().replace("[100, 1, 1]", "[40, 1, 1]")
    scenario = Scenario.parse(text.replace("dt = 1e-6", "dt = 4e-6").replace("samples = 600", "samples = 60"))
    summary = simulate(scenario, tmp_path / "torn", progress=False, pictures=False)
    t = {event["name"]: event["t"] for event in summary["events"]}
    section, force, E, rho = 4e-4, 40e3, 210e9, 7850.0
    assert t["torn"] == pytest.approx(force / (E * section) / 1e-3, rel=1e-9)
    assert summary["stopped_by"] == "back"
    assert summary["t_end"] == t["back"]
    travels = (rho / E) ** 0.5
    assert t["arrived"] - t["torn"] == pytest.approx(travels, rel=0.02)
    assert t["back"] - t["torn"] == pytest.approx(2.0 * travels, rel=0.03)
    assert summary["energy_end"] == pytest.approx(force**2 / (2.0 * E * section), rel=1e-7)
    assert summary["drift"]["balance"] < 1e-9
