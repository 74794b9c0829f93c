"""Random vibration and response spectra of scenarios: a mass on a beam, against closed forms and motions in time."""

import json

import numpy as np
import pytest

import symplex as sx
from symplex.errors import ScenarioError, SymplexError
from symplex.studies.folders import study_report

# A mass of 3 kg on a spring of 3 (2π 20)² N/m along z, from a heavy point mass that a support shakes.
MASS = """
[[point_mass]]
name = "base"
position = [0, 0, 0]
mass = 1
[[point_mass]]
name = "top"
position = [0, 0, 1]
mass = 3
[[spring]]
name = "leg"
body = "base"
to_body = "top"
stiffness = {stiffness}
[[support]]
body = "top"
components = "xy"
[[support]]
name = "table"
body = "base"
acceleration = [0, 0, 9.81]
history = {history}
{baseline}
[[probe]]
name = "head"
body = "top"
quantities = ["displacement", "velocity", "acceleration"]
[[probe]]
name = "sway"
body = "top"
quantities = ["displacement", "velocity", "acceleration"]
relative_to = "table"
[[probe]]
name = "force"
body = "leg"
[[probe]]
name = "foot"
support = "table"
[integrator]
kind = "energy-momentum"
dt = 1e-3
[run]
duration = 2.0
samples = 2000
frames = 2
[response]
modes = 1
ratio = 0.02
by = ["table"]
at = [{{ name = "top", body = "top" }}, "head", "force", "foot"]
{what}
"""
STEADY = '{ kind = "table", times = [0, 1, 2], factors = [0, 0, 0] }'
STIFFNESS = 3.0 * (2 * np.pi * 20.0) ** 2
PSD = "psd = { frequencies = [1, 2000], values = [0.01, 0.01] }"


def scenario(what, history=STEADY, baseline="", tmp_path=None):
    text = MASS.format(stiffness=STIFFNESS, history=history, baseline=baseline, what=what)
    if tmp_path is None:
        return sx.Scenario.parse(text)
    (tmp_path / "mass.toml").write_text(text)
    return sx.Scenario.read(tmp_path / "mass.toml")


def test_random_vibration_by_miles():
    """g²/Hz in, rms of acceleration, of relative displacement, of the force in the spring and at the foot out."""
    found = sx.runs.find_random(scenario(PSD))
    rms = {q.column: x for q, x in zip(found.quantities, found.rms, strict=True)}
    f, zeta, S, m = 20.0, 0.02, 0.01 * 9.81**2, 3.0
    acceleration = np.sqrt(np.pi / 2 * f / (2 * zeta) * S * (1 + 4 * zeta**2))
    assert rms["top_acceleration_z"] == pytest.approx(acceleration, rel=5e-3)
    assert rms["head_acceleration_z_mean"] == pytest.approx(rms["top_acceleration_z"], rel=1e-6)
    relative = np.sqrt(S / (64 * np.pi**3 * zeta * f**3))
    assert rms["top_displacement_z"] == pytest.approx(relative, rel=5e-3)
    assert rms["head_displacement_z_mean"] == pytest.approx(rms["top_displacement_z"], rel=1e-6)
    assert rms["force_axial_force"] == pytest.approx(STIFFNESS * rms["top_displacement_z"], rel=1e-6)
    # The table holds the spring and its own mass of 1 kg, and its damping is of the mode only.
    own = np.sqrt(S * 1999)
    assert rms["foot_reaction_z"] == pytest.approx(np.hypot(m * acceleration, own), rel=0.01)
    crossings = dict(zip(rms, found.crossings, strict=True))
    assert crossings["top_displacement_z"] == pytest.approx(f, rel=0.02)
    assert "rms of top acceleration z" in found.report()


@pytest.mark.slow
def test_response_spectrum_of_the_record_is_the_motion(tmp_path):
    """S_a of a record by an oscillator of 20 Hz: the method returns what the run in time does."""
    t = np.linspace(0.0, 2.0, 401)
    a = np.sin(90 * t) * np.sin(np.pi * t / 2) ** 2 + 0.02
    np.savetxt(tmp_path / "record.csv", np.column_stack([t, a]), delimiter=",")
    history = '{ kind = "table", file = "record.csv" }'
    corrected = sx.actions.corrected_baseline(t, a)
    shock = sx.modes.shock_spectrum(t, corrected, [20.0], 0.0)
    value = (2 * np.pi * 20) ** 2 * shock.displacement[0]
    what = f"spectrum = {{ frequencies = [1, 100], values = [{value}, {value}] }}"
    given = scenario(what, history, 'baseline = "rest"', tmp_path)
    found = sx.runs.find_spectrum(given)
    largest = {q.column: x for q, x in zip(found.quantities, found.largest, strict=True)}
    problem = given.build()
    path = sx.record(problem.system, problem.integrator, problem.state, problem.scenario.times)
    relative = path.q[:, 1, 2] - path.q[:, 0, 2] - 1.0
    assert np.abs(relative).max() == pytest.approx(largest["top_displacement_z"], rel=0.02)
    assert largest["force_axial_force"] == pytest.approx(STIFFNESS * largest["top_displacement_z"], rel=1e-6)
    assert largest["top_acceleration_z"] == pytest.approx(value * 9.81, rel=1e-3)
    assert found.rows()[0]["effective_mass"] == pytest.approx(3.0, rel=1e-6)
    (sway,) = next(built.probes for built in problem.probes if built.table.name == "sway")
    end = problem.integrator.start(problem.system, problem.state).advance(0.7)
    seen = sway.of(problem.system, end)
    assert seen["displacement_z_mean"] == pytest.approx(end.q[1, 2] - end.q[0, 2] - 1.0, abs=1e-15)
    assert seen["velocity_z_mean"] == pytest.approx(end.v[1, 2] - end.v[0, 2], abs=1e-14)
    assert seen["acceleration_z_mean"] == pytest.approx(end.a[1, 2] - end.a[0, 2], abs=1e-12)
    # The corrected ground ends where it began.
    assert abs(path.q[-1, 0, 2]) < 1e-9
    assert abs(path.v[-1, 0, 2]) < 1e-9
    drifting = scenario(what, history, "", tmp_path).build()
    end = sx.record(drifting.system, drifting.integrator, drifting.state, [0.0, 2.0]).q[-1, 0, 2]
    assert abs(end) > 0.1


def test_folders(tmp_path):
    for what, key in ((PSD, "rms"), ("spectrum = { frequencies = [1, 100], values = [1, 1] }", "largest")):
        given = scenario(what)
        found = (sx.runs.find_random if key == "rms" else sx.runs.find_spectrum)(given)
        found.save(tmp_path / key)
        summary = json.loads((tmp_path / key / "summary.json").read_text())
        assert summary[key]["top_acceleration_z"] > 0.0
        assert (tmp_path / key / "response.csv").stat().st_size > 100
        assert (tmp_path / key / "response.png").exists()
        assert found.report(tmp_path / key)
        assert f"{key} of top_acceleration_z" in (study_report(tmp_path / key) or "")


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (PSD + "\nfrequencies = [1]", "frequencies goes with harmonic response"),
        (PSD + "\nspectrum = { frequencies = [1], values = [1] }", "has psd and spectrum"),
        ("psd = { frequencies = [1, 2] }", "needs frequencies and values"),
        ("psd = { frequencies = [2, 1], values = [1, 1] }", "must ascend"),
        ("psd = { frequencies = [1, 2], values = [0, 1] }", "positive"),
        (PSD + '\nrule = "srss"', "rule goes with spectrum"),
        ('psd = { file = "none.csv" }', "none.csv cannot be read"),
        ("", "needs either frequencies"),
    ],
)
def test_mistakes(what, message):
    with pytest.raises(ScenarioError, match=message):
        sx.runs.find_random(scenario(what))


def test_what_excites():
    text = MASS.format(stiffness=STIFFNESS, history=STEADY, baseline="", what=PSD).replace("ratio = 0.02", "")
    undamped = sx.Scenario.parse(text)
    with pytest.raises(SymplexError, match="not damped"):
        sx.runs.find_random(undamped)
    with pytest.raises(ScenarioError, match="find_random"):
        sx.runs.find_response(scenario(PSD))
    with pytest.raises(ScenarioError, match="has no psd"):
        sx.runs.find_random(scenario("spectrum = { frequencies = [1], values = [1] }"))


@pytest.mark.slow
def test_shock_spectrum_of_a_probe(tmp_path, capsys):
    """The head of the mass in a run, by the command: as of its history, in Python."""
    from symplex.commands.cli import main

    t = np.linspace(0.0, 2.0, 401)
    np.savetxt(tmp_path / "record.csv", np.column_stack([t, np.sin(90 * t) * np.sin(np.pi * t) ** 2]), delimiter=",")
    given = scenario(PSD, '{ kind = "table", file = "record.csv" }', 'baseline = "rest"', tmp_path)
    sx.runs.simulate(given, tmp_path / "run", progress=False, pictures=False)
    words = ["shock", tmp_path / "run", "--probe", "head", "--ratio", "0.1", "--between", "2", "80", "--points", "30"]
    assert main([*map(str, words), "--output", str(tmp_path / "shock"), "--column", "acceleration_z_mean"]) == 0
    assert "peak of acceleration_z_mean" in capsys.readouterr().out
    summary = json.loads((tmp_path / "shock" / "summary.json").read_text())
    history = sx.runs.read_result(tmp_path / "run").probes["head"]
    found = sx.modes.shock_spectrum(history["t"], history["acceleration_z_mean"], np.geomspace(2, 80, 30), 0.1)
    assert "peak of acceleration_z_mean" in (study_report(tmp_path / "shock") or "")
    peak = summary["peaks"]["acceleration_z_mean"]
    assert peak["acceleration"] == pytest.approx(found.acceleration.max())
    # An oscillator of its own frequency answers most.
    assert peak["frequency"] == pytest.approx(found.frequencies[found.acceleration.argmax()])
    with pytest.raises(SymplexError, match="has no accelerations"):
        sx.runs.find_shock(tmp_path / "run", "force")
    with pytest.raises(SymplexError, match="no probe 'tail'"):
        sx.runs.find_shock(tmp_path / "run", "tail")
    with pytest.raises(SymplexError, match="is no acceleration"):
        sx.runs.find_shock(tmp_path / "run", "head", ["t"])
