"""The examples of joints: a linkage as a scenario, and mechanisms against independent and published solutions."""

import importlib
from pathlib import Path

import numpy as np
import pytest

from reference.scenario_motions import motion_of
from symplex.scenario.scenario import Scenario

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_a_four_bar_linkage_keeps_its_bars_and_its_balance():
    scenario = Scenario.read(EXAMPLES / "four_bar.toml").with_values(
        {"integrator.dt": 4e-3, "run.duration": 0.8, "run.frames": 2, "run.samples": 8}
    )
    times = np.linspace(0.0, 0.8, 9)
    problem, states, energies = motion_of(scenario, times)
    joints = problem.system.joints
    crank, rocker = (np.unwrap([1.2 + joints[name].angle(state.q) for state in states]) for name in ("axle", "foot"))
    # Between the ends of crank and rocker there is always the coupler (Freudenstein's equation).
    pin = 0.3 * np.array([np.cos(crank), np.sin(crank)])
    start = pin[:, 0]
    d = np.hypot(0.8 - start[0], start[1])
    e = (0.9**2 - 0.6**2 + d**2) / (2.0 * d)
    f = np.sqrt(0.9**2 - e**2)
    top = start + np.array([e * (0.8 - start[0]) + f * start[1], f * (0.8 - start[0]) - e * start[1]]) / d
    turn = np.arctan2(top[1], top[0] - 0.8) + rocker - rocker[0]
    end = np.array([0.8 + 0.6 * np.cos(turn), 0.6 * np.sin(turn)])
    np.testing.assert_allclose(np.linalg.norm(end - pin, axis=0), 0.9, rtol=1e-12)
    assert crank[-1] - crank[0] > 2.0
    assert np.abs(joints.violations(states[-1].q)).max() < 1e-13
    total = problem.system.energies_of(states[0])["total"]
    assert abs(energies["balance"] - total) < 1e-12 * energies["work_axle_torque"]


@pytest.mark.slow
def test_mechanisms_against_independent_solutions(run_script, tmp_path):
    numbers = run_script("mechanisms.py", tmp_path)
    np.testing.assert_allclose(numbers["double pendulum: orders"], 2.0, atol=0.01)
    assert abs(numbers["double pendulum: order of RATTLE composed"] - 4.0) < 0.1
    assert abs(numbers["four-bar linkage: orders"][-1] - 2.0) < 0.05
    assert numbers["four-bar linkage: free motions"] == 1
    for name in ("double pendulum", "four-bar linkage"):
        assert numbers[f"{name}: largest change of energy over the kinetic energy at the start"] < 1e-12
        assert numbers[f"{name}: largest violation of a joint"] < 1e-13
    for rod in ("flexible", "stiff"):
        assert numbers[f"slider-crank, {rod} rod: largest difference of energy and work over the work"] < 1e-10


@pytest.mark.slow
def test_andrews_squeezer_against_published_angles(run_script, tmp_path):
    numbers = run_script("squeezer.py", tmp_path)
    assert abs(numbers["orders"][-1] - 2.0) < 0.01
    assert numbers["error extrapolated from the last two"] < 1e-6
    assert numbers["largest violation of a joint"] < 1e-13


@pytest.mark.slow
def test_a_rotor_against_theory(run_script, tmp_path):
    numbers = run_script("rotor.py", tmp_path, "--turns", "3")
    for speed in ("3", "6", "12"):
        found, series = (numbers[f"clamped, speed {speed}: {what}"] for what in ("frequencies", "power series"))
        np.testing.assert_allclose(found, series, rtol=2e-3)
        np.testing.assert_allclose(numbers[f"clamped, speed {speed}: theory"], series, rtol=1e-6)
    first, second = numbers["hinged: largest relative difference of the first and second frequency"]
    assert first < 2e-4
    assert second < 3e-3
    np.testing.assert_allclose(
        numbers["rigid blade: lag and flap over the speed"], numbers["rigid blade: exact"], rtol=1e-6
    )
    assert abs(numbers["rotor: the same, relative to the mode"] - 1.0) < 1e-3
    assert numbers["rotor: work of the dampers in J"] < 0.0
    assert numbers["rotor: largest difference of energy and work over the kinetic energy"] < 1e-13
    assert numbers["rotor: largest violation of a joint"] < 1e-12


def test_a_robot_arm_swings_as_its_equation_says_and_hits_the_wall(monkeypatch, pytestconfig):
    """J α̈ + S t·a = τ − d φ̇ − S g sin α, α = ψ + φ, as if the forearm did not bend, until the hand hits."""
    scenario = Scenario.read(EXAMPLES / "robot_arm.toml").with_values(
        {"integrator.dt": 2e-3, "run.duration": 0.4, "run.frames": 2, "run.samples": 200}
    )
    monkeypatch.syspath_prepend(pytestconfig.rootpath / "benchmarks")
    times = np.linspace(0.0, 0.4, 201)
    problem, states, energies = motion_of(scenario, times)
    joints = problem.system.joints
    given = joints["shoulder"].given["angle"]
    before = times < 0.33
    exact = importlib.import_module("verification_manual.joints").elbow_angles(given, times[before])
    elbow, shoulder = (np.array([joints[name].angle(state.q) for state in states]) for name in ("elbow", "shoulder"))
    arms = np.array([joints["wrist"].point(state.q) - joints["elbow"].point(state.q) for state in states])
    chord = np.arctan2(arms[:, 0], -arms[:, 2]) - shoulder  # at the elbow the tube is inclined to it
    assert exact[-1] > 0.35
    np.testing.assert_allclose(chord[before], exact, atol=4e-3 * exact[-1])
    np.testing.assert_allclose(shoulder, [given.value(t) for t in times], atol=1e-12)
    wall = np.array([problem.system.energies_of(state)["wall"] for state in states])
    assert not wall[before].any()
    assert wall.max() > 1.0
    assert elbow.argmax() < len(elbow) - 20  # it bounces
    total = problem.system.energies_of(states[0])["total"]
    assert energies["work_elbow_damping"] < 0.0
    assert abs(energies["balance"] - total) < 1e-11 * energies["work_shoulder"]
    assert np.abs(joints.at(states[-1].t).violations(states[-1].q)).max() < 1e-13
