"""Scenarios of the conditions that engineers set, each against its closed form."""

import json

import numpy as np
import pytest

from symplex.runs.buckling import find_buckling
from symplex.runs.run import simulate
from symplex.scenario.scenario import Scenario


@pytest.fixture
def run_example(pytestconfig, tmp_path):
    """Return a function that runs a scenario; it returns its summary, and the probes by name, columns by name."""

    def run(name):
        simulate(pytestconfig.rootpath / "examples" / name, tmp_path, progress=False, pictures=False)
        probes = {}
        for path in tmp_path.glob("probe-*.csv"):
            names = [one.split(" [")[0] for one in path.read_text("utf-8").split("\n")[0].split(",")]
            values = np.atleast_2d(np.loadtxt(path, delimiter=",", skiprows=1)).T
            probes[path.stem.removeprefix("probe-")] = dict(zip(names, values, strict=True))
        return json.loads((tmp_path / "summary.json").read_text("utf-8")), probes

    return run


def test_symmetry_planes_and_a_ramped_pressure(run_example):
    _, probes = run_example("hollow_ball.toml")
    p, a, b, E, nu = 1e7, 0.1, 0.2, 2e11, 0.3
    for k, r in ((1, a), (2, b)):
        exact = p * a**3 / (b**3 - a**3) * ((1 - 2 * nu) * r / E + (1 + nu) * b**3 / (2 * E * r**2))
        found = probes["radius"][f"displacement_x_{k}"]
        assert found[-1] == pytest.approx(exact, rel=1e-3)
        np.testing.assert_allclose(found, exact * np.linspace(0.0, 1.0, 5), rtol=1e-3, atol=1e-15)


def test_cyclic_symmetry(run_example):
    _, probes = run_example("spinning_ring.toml")
    a, b, E, nu = 0.1, 0.2, 2e11, 0.3
    exact = 7850 * 600**2 / (4 * E) * a * ((3 + nu) * b**2 + (1 - nu) * a**2)
    assert probes["inside"]["displacement_x"][-1] == pytest.approx(exact, rel=2e-3)
    assert probes["inside"]["displacement_x"][2] == pytest.approx(exact / 4, rel=2e-3)


def test_a_radial_support_moves_until_a_force(run_example):
    summary, probes = run_example("mandrel.toml")
    t = {event["name"]: event["t"] for event in summary["events"]}
    assert summary["stopped_by"] == "smallest"
    # The ring carries N = E (u/R) A, and the mandrel that in x on a quarter; it breathes with √(E/ρ)/R.
    assert t["slipped"] == pytest.approx(6e3 * 0.1 / (2e11 * 0.004 * 0.01) / 1e-4, rel=0.015)
    half = np.pi * 0.1 / np.sqrt(2e11 / 7850)
    assert t["smallest"] - t["slipped"] == pytest.approx(half, rel=0.01)
    assert probes["radius"]["displacement_x"].min() == pytest.approx(-6e3 * 0.1 / (2e11 * 4e-5), rel=0.02)


def test_all_displacements_are_given(run_example):
    _, probes = run_example("sheared_cube.toml")
    for k, gamma in enumerate(np.linspace(0.0, 0.5, 6)):
        row = {name: values[2 * k] for name, values in probes["inside"].items()}
        assert row["stress_xz"] == pytest.approx(1e6 * gamma, abs=1e-6)
        assert row["stress_xx"] - row["stress_zz"] == pytest.approx(1e6 * gamma**2, abs=1e-6)


def test_an_oblique_support_and_ramped_gravity(run_example):
    summary, probes = run_example("sliding_block.toml")
    (event,) = summary["events"]
    assert probes["middle"]["displacement_x_mean"][-1] == pytest.approx(0.5, abs=1e-9)
    # g sin α, after a ramp of 0.1 s that is worth a half of it; x is along the slope by cos α.
    slope, free = 9.81 * np.sin(np.pi / 6), event["t"] - 0.05
    speed = probes["middle"]["velocity_x_mean"][-1] / np.cos(np.pi / 6)
    assert speed == pytest.approx(slope * free, rel=1e-3)
    weight = 2.0 * 9.81 * np.cos(np.pi / 6)
    pressed = probes["pressed"]
    late = pressed["t"] > 0.3
    normal = pressed["reaction_z"] * np.cos(np.pi / 6) + pressed["reaction_x"] * np.sin(np.pi / 6)
    assert normal[late].mean() == pytest.approx(weight, rel=1e-2)


@pytest.mark.slow
def test_conditions_of_gap_energy_force_and_time_with_a_rigid_part(run_example):
    summary, probes = run_example("landing.toml")
    t = {event["name"]: event["t"] for event in summary["events"]}
    assert list(t) == ["near", "touched", "slow", "free", "end"]
    assert t["near"] == pytest.approx(np.sqrt(2 * 0.098 / 9.81), rel=1e-9)
    assert t["end"] - t["free"] == pytest.approx(5e-3, abs=1e-12)
    assert abs(probes["force"]["force_z"][-1]) < 1e-9
    assert probes["force"]["force_z"].max() > 4e3


def test_elements_that_are_added_and_removed(run_example):
    _, probes = run_example("construction.toml")
    w = 2000 * 9.81 * 0.1 * 0.05
    first = w * 2.0**4 / (8 * 1e10 * 0.1 * 0.05**3 / 12)
    z = probes["end"]["displacement_z"]
    t = probes["end"]["t"]
    assert np.abs(z[t <= 1.0]).max() < 1e-4 * first
    assert -z[np.isclose(t, 2.0)][0] == pytest.approx(first, rel=0.01)
    assert z[np.isclose(t, 2.0)][0] - z[-1] == pytest.approx(first / 8, rel=0.01)


def test_mass_scaling_shows_what_it_adds(run_example):
    summary, probes = run_example("graded_bar.toml")
    scaled = summary["mass_scaling"]
    assert 0.02 < scaled["part_of_mass"] < 0.05
    assert scaled["largest_part_of_kinetic_energy"] < 0.05
    assert probes["bar"]["velocity_x_mean"].max() == pytest.approx(0.939, abs=0.005)


def test_snap_through_by_arc_length(run_example):
    _, probes = run_example("shallow_arch.toml")
    z = probes["top"]["position_z_mean"][0]
    # P = 2 EA z (z² − h²)/(2 L³) with Green's strain; the limit is 7.6 kN of 10.
    L = np.hypot(1.0, 0.1)
    force = 2e7 * z * (z**2 - 0.1**2) / L**3
    assert force == pytest.approx(-1e4, rel=1e-9)
    assert z < -0.1
    assert 2e7 * 2 * 0.1**3 / (3 * np.sqrt(3) * L**3) < 1e4


def test_the_column_buckles_at_euler_s_load(pytestconfig):
    found = find_buckling(Scenario.read(pytestconfig.rootpath / "examples" / "column.toml"), 1, ["top"])
    exact = np.pi**2 * 2e11 * 0.03 * 0.02**3 / 12 / 4
    assert 1e3 * found.buckling.factors[0] == pytest.approx(exact, rel=1e-3)
