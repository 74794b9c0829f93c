"""The example of a slider-crank with a solid rod, next to the same with a rod of beams."""

from pathlib import Path

import numpy as np
import pytest

from reference.scenario_motions import motion_of
from symplex.scenario.scenario import Scenario

TEXT = (Path(__file__).parents[2] / "examples" / "solid_rod.toml").read_text(encoding="utf-8")
BEAM = """
[[beam]]
name = "rod"
mesh = { line = 0.3, bars = 8 }
translate = [0.15, 0, 0]
up = [0, 0, 1]
section = { kind = "rectangle", height = 4e-3, width = 4e-3 }
material = { young = 7e10, poisson = 0.33, density = 2700 }
[[joint]]
name = "big end"
kind = "rigid"
bodies = ["rod", "crank pin"]
at = [0.15, 0, 0]
[[joint]]
name = "small end"
kind = "rigid"
bodies = ["rod", "wrist pin"]
at = [0.45, 0, 0]
"""
END, SAMPLES = 0.2, 20


def followed(text):
    """Return the angle of the crank, the way of the slider, the deflection of the rod's middle, and the motion."""
    short = text.split("[[probe]]")[0] + '[integrator]\nkind = "energy-momentum"\ndt = 1e-3\n'
    short += f"[run]\nduration = {END}\nframes = 2\nsamples = {SAMPLES}\n"
    problem, states, energies = motion_of(Scenario.parse(short), np.linspace(0.0, END, SAMPLES + 1))
    joints, x = problem.system.joints, states[0].q
    own = slice(0, len(problem.mesh.points))
    at = problem.beams["rod"].particles if problem.beams else np.arange(len(x[own]))[:, None]
    along = x[at].mean(axis=1)[:, 0]
    rows = []
    for state in states:
        a, middle, b = (state.q[at][np.abs(along - place) < 1e-6].mean(axis=(0, 1)) for place in (0.15, 0.3, 0.45))
        across = np.cross(b - a, middle - a)[2] / np.linalg.norm(b - a)
        rows.append((joints["axle"].angle(state.q), joints["guide"].displacement(state.q), across))
    return np.array(rows), problem, states, energies


@pytest.mark.slow
def test_a_solid_rod_moves_and_bends_as_one_of_beams():
    solid, problem, states, energies = followed(TEXT)
    beam = followed(TEXT[: TEXT.index("[[body]]")] + BEAM + TEXT[TEXT.index("[[joint]]") :])[0]
    assert solid[-1, 0] > 0.9
    np.testing.assert_allclose(solid[:, :2], beam[:, :2], atol=1e-4 * np.abs(beam[:, 0]).max())
    assert np.abs(beam[:, 2]).max() > 1e-5
    np.testing.assert_allclose(solid[:, 2], beam[:, 2], atol=0.03 * np.abs(beam[:, 2]).max())
    # Forces of Newton's method are known to the stiffness times the rounding of positions, in each of 200 steps.
    rounding = 7e10 * 4e-3 * 2.2e-16 * 0.45
    assert abs(energies["balance"]) < 10.0 * rounding * np.abs(solid[:, 1]).max() * 200
    system = problem.system
    assert np.abs(system.joints.violations(states[-1].q)).max() < 1e-10
    nodes = system.joints["big end"].nodes[::3, 4]
    pin = system.joints["big end"].bodies[0]
    assert len(nodes) == 8
    arms = [state.q[nodes] - state.q[pin].mean(axis=0) for state in (states[0], states[-1])]
    lengths = [np.linalg.norm(one[:, None] - one, axis=2) for one in arms]
    np.testing.assert_allclose(lengths[1], lengths[0], atol=1e-10)  # it moves as a rigid face
    np.testing.assert_allclose(np.linalg.norm(arms[1], axis=1), np.linalg.norm(arms[0], axis=1), atol=1e-10)
