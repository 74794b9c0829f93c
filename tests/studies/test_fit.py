"""Fits of numbers of a scenario to curves, and sensitivities: what is known is found, what is wrong is refused."""

import json
from pathlib import Path

import numpy as np
import pytest

import symplex as sx
from reference.pages import parts
from symplex.commands.cli import main
from symplex.errors import OutputError, ScenarioError, SymplexError
from symplex.studies import fit, sensitivity
from symplex.studies.derivatives import KeyedRun
from symplex.studies.fitting import read_fit
from symplex.studies.sensitivities import read_sensitivity

# A hanging mass on a spring with drag, pulled down and let go.
SCENARIO = """\
title = "A hanging mass"
[define]
k = 180.0
alpha = 1.5
pull = -1.0
[[truss]]
name = "bar"
mesh = { line = 1.0, bars = 1 }
stiffness = "=k"
member_mass = 2.0
velocity = [0, 0, "=pull"]
[[support]]
body = "bar"
group = "x_min"
components = "xyz"
[[damping]]
bodies = ["bar"]
alpha = "=alpha"
[gravity]
acceleration = [0, 0, -9.81]
[integrator]
kind = "KIND"
dt = 2e-2
[run]
duration = 0.4
frames = 2
samples = 20
[output]
pictures = false
[[probe]]
name = "end"
body = "bar"
nodes = [1]
quantities = ["displacement"]
"""
FIT = """
[fit]
parameters = [{ key = "define.k", start = 120.0, range = [10, 1000] }, { key = "define.alpha", start = 0.5 }]
windows = [0.2]
tests = [{ name = "soft", values = { "define.pull" = -0.5 } }, { name = "hard", values = { "define.pull" = -1.5 } }]
curves = [
  { data = "soft.csv", of = "end.displacement_z", deviation = 1e-3, test = "soft" },
  { data = "hard.csv", of = "end.displacement_z", test = "hard" },
]
"""


def measured(folder, noise, seed=0):
    """Write curves with noise, one of them with its deviations, and return the scenario with the fit."""
    random, scenario = np.random.default_rng(seed), sx.Scenario.parse(SCENARIO.replace("KIND", "energy-momentum"))
    for name, pull in (("soft", -0.5), ("hard", -1.5)):
        run = KeyedRun(scenario.with_values({"define.pull": pull}), ["define.k"], ["end.displacement_z"])
        t, z = run.times[1:], run.run(np.array([180.0]), 0.4)[1:, 0]
        rows = [t, z + noise * random.standard_normal(len(t)), *([np.full(len(t), 1e-3)] if name == "hard" else [])]
        np.savetxt(folder / f"{name}.csv", np.column_stack(rows), delimiter=",", header="t,z", comments="", fmt="%.17g")
    (folder / "mass.toml").write_text(SCENARIO.replace("KIND", "energy-momentum") + FIT, "utf-8")
    return sx.Scenario.read(folder / "mass.toml")


def test_exact_curves_give_the_numbers_that_made_them(tmp_path):
    found = fit(measured(tmp_path, 0.0), output=tmp_path / "fit", progress=False, pictures=False)
    assert np.allclose(found.values, [180.0, 1.5], rtol=1e-7)
    assert found.chi_squared < 1e-9
    assert found.gradient_error is not None
    assert found.gradient_error < 1e-7
    assert sx.Scenario.read(tmp_path / "fit" / "fitted.toml").tables.fit is not None


def test_folders_are_read_and_plotted_again(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    scenario = measured(tmp_path, 1e-3)
    found = fit(scenario, output=tmp_path / "fit", progress=False, check=False)
    again = read_fit(tmp_path / "fit")
    assert again.rows() == found.rows()
    assert again.scenario == found.scenario
    assert again.chi_squared == found.chi_squared
    assert np.array_equal(again.correlations, found.correlations)
    for one, other in zip(again.curves, found.curves, strict=True):
        assert (one.name, one.unit) == (other.name, other.unit)
        assert np.array_equal(one.fitted, other.fitted)
        assert np.array_equal(np.array(one.measured), np.array(other.measured))
    by, quantities = ["define.k", "define.alpha"], ["final(end.displacement_z)", "max(kinetic)"]
    told = sensitivity(scenario, by, quantities, output=tmp_path / "by", progress=False)
    assert read_sensitivity(tmp_path / "by").rows() == told.rows()
    assert read_sensitivity(tmp_path / "by").units == told.units
    for folder, name in (("fit", "fit.png"), ("by", "sensitivity.png")):
        drawn = (tmp_path / folder / name).read_bytes()
        assert len(drawn) > 10_000
        (tmp_path / folder / name).unlink()
        assert main(["plot", str(tmp_path / folder)]) == 0
        assert (tmp_path / folder / name).read_bytes() == drawn
        assert name in capsys.readouterr().out
    assert main(["view", str(tmp_path / "fit"), "--html"]) == 0
    header, array = parts(tmp_path / "fit" / "view.html")
    assert len(header["panels"]) == 4  # curves and residuals of two tests
    for panel, curve in zip(header["panels"][::2], found.curves, strict=True):
        measured_, fitted = panel["curves"]
        assert np.array_equal(array(panel["t"][fitted["rows"]]), curve.measured.t)
        assert np.array_equal(array(fitted["y"]), curve.fitted.astype(np.float32))
        assert np.array_equal(array(measured_["y"]), curve.measured.values.astype(np.float32))
    assert "define.k" in header["texts"][0]["words"]
    assert main(["view", str(tmp_path / "fit")]) == 2
    assert "add --html" in capsys.readouterr().err
    (tmp_path / "fit" / "summary.json").unlink()
    with pytest.raises(OutputError, match="no fit that has come to its end"):
        read_fit(tmp_path / "fit")


@pytest.mark.slow
def test_deviations_are_those_of_many_fits(tmp_path):
    """Fits to 16 other noises scatter by the deviations that each of them reports, within what 16 can show."""
    values = []
    for seed in range(16):
        scenario = measured(tmp_path, 1e-3, seed)
        found = fit(scenario, output=tmp_path / "fit", progress=False, pictures=False, check=False, overwrite=True)
        values.append(found.values)
    scatter = np.std(values, axis=0, ddof=1)
    assert np.all(np.abs(scatter / found.deviations - 1.0) < 0.6)  # 3.3 times 1/√(2·15)
    assert np.all(np.abs(np.mean(values, axis=0) - [180.0, 1.5]) < 4.0 * found.deviations / np.sqrt(16.0))
    assert found.chi_squared == pytest.approx(40.0, abs=5.0 * np.sqrt(2.0 * 40.0))
    correlation = np.corrcoef(np.transpose(values))[0, 1]
    assert abs(correlation - found.correlations[0, 1]) < 0.8


@pytest.mark.slow
def test_a_stopped_fit_goes_on_to_the_same_bits(tmp_path, monkeypatch):
    scenario = measured(tmp_path, 1e-3)
    whole = fit(scenario, output=tmp_path / "whole", progress=False, pictures=False, check=False)
    calls = []
    plain = KeyedRun.tangent

    def stopping(self, *given):
        calls.append(1)
        if len(calls) > 5:
            raise KeyboardInterrupt
        return plain(self, *given)

    monkeypatch.setattr(KeyedRun, "tangent", stopping)
    with pytest.raises(KeyboardInterrupt):
        fit(scenario, output=tmp_path / "parts", progress=False, pictures=False, check=False)
    kept = (tmp_path / "parts" / "evaluations.jsonl").read_text("utf-8")
    assert kept.count("\n") == 2
    (tmp_path / "parts" / "evaluations.jsonl").write_text(kept + '{"window": 0.2, "p"', "utf-8")  # cut short
    monkeypatch.setattr(KeyedRun, "tangent", plain)
    with pytest.raises(OutputError, match="already holds a fit; continue it with --resume"):
        fit(scenario, output=tmp_path / "parts")
    resumed = fit(scenario, output=tmp_path / "parts", progress=False, pictures=False, check=False, resume=True)
    assert np.array_equal(resumed.values, whole.values)
    both = [(tmp_path / name / "evaluations.jsonl").read_text("utf-8") for name in ("whole", "parts")]
    assert both[0] == both[1]
    other = scenario.with_values({"define.k": 170.0})
    with pytest.raises(OutputError, match="cannot be resumed: the scenario has changed since"):
        fit(other, output=tmp_path / "parts", resume=True)
    (tmp_path / "soft.csv").write_text("0.1, 0\n", "utf-8")
    with pytest.raises(OutputError, match=r"soft\.csv"):
        fit(scenario, output=tmp_path / "parts", resume=True)


def test_the_command_line(tmp_path, monkeypatch, capsys):
    measured(tmp_path, 1e-3)
    monkeypatch.chdir(tmp_path)
    assert main(["fit", "mass.toml", "--no-pictures", "--quiet"]) == 0
    summary = json.loads(Path("mass-fit/summary.json").read_text("utf-8"))
    assert [row["parameter"] for row in summary["parameters"]] == ["define.k", "define.alpha"]
    assert Path("mass-fit/curves.csv").read_text("utf-8").count("\n") == 41
    assert main(["fit", "mass.toml"]) == 2
    assert main(["info", "mass-fit"]) == 0
    words = ["--by", "define.k", "--by", "define.alpha=0.5", "--quantity", "min(end.displacement_z)"]
    assert main(["sensitivity", "mass.toml", *words, "--no-pictures"]) == 0
    assert main(["info", "mass-sensitivity"]) == 0
    assert "elasticity" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["energy-momentum", "newmark"])
def test_sensitivities_are_differences_of_runs(kind, tmp_path):
    scenario = sx.Scenario.parse(SCENARIO.replace("KIND", kind), tmp_path / "mass.toml")
    by = {"define.k": 2.0, "define.alpha": None, "truss.bar.member_mass": 0.1, "gravity.acceleration": None}
    with pytest.raises(ScenarioError, match=r"gravity.acceleration is \[.*\], must be a number"):
        sensitivity(scenario, by, ["final(kinetic)"], output=tmp_path / "s")
    del by["gravity.acceleration"]
    quantities = ["final(end.displacement_z)", "min(end.displacement_z)", "mean(total)", "rms(momentum_z)"]
    found = sensitivity(scenario, by, quantities, output=tmp_path / "s", progress=False, pictures=False)
    for j, (key, value) in enumerate(found.values.items()):
        h = 1e-4 * value
        runs = [KeyedRun(scenario.with_values({key: value + s * h}), [key], []) for s in (1.0, -1.0)]
        for name in quantities:
            source, reduction = name.split("(")[1][:-1], name.split("(")[0]
            values = []
            for run in runs:
                run.columns = [source]
                x = run.run(run.values, 0.4)[:, 0]
                values.append(
                    {
                        "final": x[-1],
                        "min": x.min(),
                        "mean": np.trapezoid(x, run.times) / 0.4,
                        "rms": np.sqrt(np.trapezoid(x**2, run.times) / 0.4),
                    }[reduction]
                )
            slope = (values[0] - values[1]) / (2.0 * h)
            assert found.derivatives[name][j] == pytest.approx(slope, rel=1e-5, abs=1e-9), (key, name)
    assert found.changes == {"define.k": 2.0, "define.alpha": pytest.approx(0.015), "truss.bar.member_mass": 0.1}
    row = found.rows()[0]
    assert row["by_change"] == pytest.approx(row["derivative"] * row["change"])


WRONG = [
    (FIT.replace('key = "define.k"', 'key = "define.kk"'), "there is no 'define.kk'"),
    (FIT.replace('key = "define.k"', 'key = "integrator.dt"'), "there are no derivatives by 'integrator.dt'"),
    (
        FIT.replace("end.displacement_z", "end.displacement_w"),
        r"no column 'end.displacement_w' .*end.displacem",
    ),
    (FIT.replace("end.displacement_z", "and.displacement_z"), r"there is no \[\[probe\]\] 'and'"),
    (FIT.replace("start = 120.0", "start = 5.0"), "start must be within range"),
    (FIT.replace("[10, 1000]", "[1000, 10]"), "range must be two numbers that ascend"),
    (FIT.replace("windows = [0.2]", "windows = [0.2, 0.1]"), "windows must be times that ascend"),
    (FIT.replace("windows = [0.2]", "windows = [1e-6]"), "no curve has a row up to the window 1e-06 s"),
    (FIT.replace(', test = "hard" }', " }"), "test is required where there are tests: soft, hard"),
    (FIT.replace('test = "hard"', 'test = "lard"'), "there is no test 'lard'"),
    (FIT.replace('test = "hard"', 'test = "soft"'), "test 'hard' has no curve"),
    (FIT.replace('data = "soft.csv"', 'data = "hard.csv"'), r"hard.csv, line 2 must have two numbers"),
    (FIT.replace('"define.pull" = -0.5', '"define.k" = 150.0'), "define.k is sought, and a test sets it"),
    (FIT.replace('key = "define.alpha"', 'key = "define.k"'), "two have the key 'define.k'"),
    (FIT.replace("start = 0.5", "start = 0.0"), "define.alpha starts at 0; give its scale"),
    ("", r"there is no \[fit\] table"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_what_is_wrong_is_refused(text, message, tmp_path):
    measured(tmp_path, 0.0)
    whole = SCENARIO.replace("KIND", "energy-momentum") + text
    with pytest.raises(ScenarioError, match=message):
        fit(sx.Scenario.parse(whole, tmp_path / "mass.toml"), output=tmp_path / "fit", progress=False)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("0.2,1,1e-3\n0.1,1,1e-3\n", "times must ascend"),
        ("0.2,1,1e-3\n0.6,1,1e-3\n", "from 0 to the end of the run at 0.4 s"),
        ("0.2,1,0\n", "standard deviations must be positive"),
    ],
)
def test_curves_that_are_wrong_are_refused(rows, message, tmp_path):
    scenario = measured(tmp_path, 0.0)
    (tmp_path / "hard.csv").write_text(rows, "utf-8")
    with pytest.raises(ScenarioError, match=message):
        fit(scenario, output=tmp_path / "fit", progress=False)


def test_methods_without_derivatives_are_refused_with_the_file(tmp_path):
    measured(tmp_path, 0.0)
    text = SCENARIO.replace('kind = "KIND"\ndt = 2e-2', 'kind = "force-stepping"\ngrid = 1e-3').replace(
        '[[damping]]\nbodies = ["bar"]\nalpha = "=alpha"\n', ""
    )
    text = text.replace("alpha = 1.5\n", "") + FIT.replace(', { key = "define.alpha", start = 0.5 }', "")
    with pytest.raises(SymplexError, match=r"mass.toml: tangent: ForceStepping has no derivatives here"):
        fit(sx.Scenario.parse(text, tmp_path / "mass.toml"), output=tmp_path / "fit", progress=False)
    with pytest.raises(ScenarioError, match=r"'time_of_max\(kinetic\)' has no derivative"):
        sensitivity(tmp_path / "mass.toml", ["define.k"], ["time_of_max(kinetic)"])


BLOCK = """\
[[body]]
name = "block"
mesh = "block.inp"
material = { young = 1e5, poisson = 0.3, density = 1000 }
[integrator]
kind = "newmark"
dt = 1e-5
[run]
duration = 1e-3
"""


@pytest.mark.parametrize(
    ("key", "value", "same"),
    [
        ("body.block.material.young", 2e5, True),
        ("body.block.material.density", 900.0, True),
        ("body.block.velocity", [0.0, 0.0, -1.0], True),
        ("body.block.angular_velocity", [0.0, 0.0, 3.0], True),
        ("body.block.scale", 2.0, False),
        ("body.block.translate", [0.0, 0.0, 1.0], False),
        ("body.block.quadratic", True, False),
        ("body.block.repair", True, False),
    ],
)
def test_a_problem_like_another_takes_its_mesh_only_where_that_is_the_same(tmp_path, key, value, same):
    mesh = sx.box((0.1, 0.1, 0.1), (2, 2, 2))
    lines = ["*NODE", *(f"{k + 1}, " + ", ".join(map(repr, x)) for k, x in enumerate(mesh.points.tolist()))]
    cells = (mesh.cells["tetra"] + 1).tolist()
    lines += ["*ELEMENT, TYPE=C3D4", *(f"{k + 1}, " + ", ".join(map(str, nodes)) for k, nodes in enumerate(cells))]
    (tmp_path / "block.inp").write_text("\n".join(lines) + "\n")
    (tmp_path / "block.toml").write_text(BLOCK)
    scenario = sx.Scenario.read(tmp_path / "block.toml")
    before, changed = scenario.build(), scenario.with_values({key: value})
    found, anew = changed.build(like=before), changed.build()
    assert (found.mesh is before.mesh) == same
    assert np.array_equal(found.state.q, anew.state.q)
    assert np.array_equal(found.state.v, anew.state.v)
    forces = [one.system.force(0.0, one.state.q * 1.01, one.state.v) for one in (found, anew)]
    assert np.array_equal(*forces)
    assert np.abs(forces[0]).max() > 0.0


def test_a_problem_with_other_bodies_has_its_own_mesh(tmp_path):
    text = BLOCK.replace('"block.inp"', "{ cube = 'I' }")
    one = sx.Scenario.parse(text, tmp_path / "one.toml").build()
    body = text[: text.index("[integrator]")]
    two = sx.Scenario.parse(body.replace('"block"', '"other"') + text, tmp_path / "two.toml").build(like=one)
    assert len(two.mesh.points) == 2 * len(one.mesh.points)


EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(
    ("file", "changes", "keys", "columns"),
    [
        pytest.param(
            "four_bar.toml",
            {"run.duration": 0.2},
            ["define.c", "joint.axle.torque", "rigid_body.coupler.density"],
            ["kinetic", "angular_momentum_y"],
            marks=pytest.mark.slow,
        ),
        (
            "right_angle_cantilever.toml",
            {"run.duration": 2.0},
            ["beam.elbow.properties.torsion", "beam.elbow.properties.mass"],
            ["tip.displacement_z_mean", "clamp.torque"],
        ),
    ],
)
def test_sensitivities_of_mechanisms_and_beams(file, changes, keys, columns):
    run = KeyedRun(sx.Scenario.read(EXAMPLES / file).with_values(changes), keys, columns)
    end = float(run.times[-1])
    found = run.tangent(run.values, np.abs(run.values), end)
    for j, value in enumerate(run.values):
        e = np.zeros(len(keys))
        e[j] = 1e-4 * value
        slope = (run.run(run.values + e, end, run.values) - run.run(run.values - e, end, run.values)) / (2.0 * e[j])
        assert (np.abs(slope - found.jacobian[..., j]).max(axis=0) < 1e-5 * np.abs(slope).max(axis=0)).all(), keys[j]


CANTILEVER = """\
title = "A cantilever"
[[beam]]
name = "mast"
mesh = { path = [[0, 0, 0], [0, 0, 2]], bars = 6 }
up = [1, 0, 0]
properties = { axial = 1e6, shear = [1e6, 1e6], bending = [900, 500], torsion = 300, mass = 1, moments = [1e-3, 1e-3] }
[[support]]
body = "mast"
group = "start"
[gravity]
acceleration = [0, 0, -9.81]
[integrator]
kind = "energy-momentum"
dt = 1e-3
[run]
duration = 0.01
frames = 1
[fit]
at = "equilibrium"
parameters = [{ key = "beam.mast.properties.torsion", start = 250 }, { key = "beam.mast.properties.mass", start = 1.2 }]
"""


def test_natural_frequencies_give_the_numbers_that_made_them(tmp_path, capsys):
    one = "frequencies = [{ number = 1, value = 1, deviation = 0.01 }]\n"
    run = KeyedRun(
        sx.Scenario.parse(CANTILEVER + one), ["beam.mast.properties.torsion", "beam.mast.properties.mass"], []
    )
    measured = run.frequencies_only(run.values, 5, "equilibrium")
    lines = [f"{{ number = {k}, value = {float(measured[k - 1])!r}, deviation = 0.01 }}" for k in (5, 1, 3)]
    (tmp_path / "mast.toml").write_text(CANTILEVER + f"frequencies = [{', '.join(lines)}]\n")
    found = fit(tmp_path / "mast.toml", output=tmp_path / "fit", progress=False)
    assert np.abs(found.values / [300.0, 1.0] - 1.0).max() < 1e-6
    assert found.gradient_error < 1e-6
    assert found.curves[0].measured.t.tolist() == [1.0, 3.0, 5.0]
    again = read_fit(tmp_path / "fit")
    assert again.curves[0].axis == "mode"
    assert again.curves[0].unit == "Hz"
    assert main(["plot", str(tmp_path / "fit")]) == 0
    assert (tmp_path / "fit" / "fit.png").is_file()
    for text, message in (
        ("", "curves or frequencies are required"),
        (one.replace("number = 1", "number = 0"), "number must be"),
        (one.replace("deviation = 0.01", "deviation = 0.01, test = 'a'"), "frequency 1: there is no test 'a'"),
    ):
        with pytest.raises(ScenarioError, match=message):
            sx.Scenario.parse(CANTILEVER + text)
