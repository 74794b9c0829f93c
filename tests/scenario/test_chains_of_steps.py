"""Chains of steps: statics, dynamics, statics again, and modes about any of their states, in one scenario."""

import numpy as np
import pytest

import symplex as sx

CHAIN = """
[[body]]
name = "bar"
mesh = { box = [1, 0.05, 0.05], cells = [20, 1, 1], split = "hexahedra" }
material = { young = 1e7, poisson = 0.0, density = 1000 }
mass = "consistent"
formulation = "full"
quadratic = true
[[support]]
body = "bar"
group = "x_min"
[[support]]
body = "bar"
group = "x_max"
components = "yz"
[[load]]
name = "pull"
kind = "traction"
body = "bar"
group = "x_max"
traction = [5e5, 0, 0]
history = { kind = "ramp", duration = 1.0 }
[[load]]
name = "blow"
kind = "traction"
body = "bar"
group = "z_max"
traction = [0, 0, -500]
history = { kind = "half-sine", duration = 0.01 }
from = 1.0
[[damping]]
name = "air"
alpha = 400
[[stage]]
name = "preload"
duration = 1.0
samples = 4
frames = 2
integrator = { kind = "static", dt = 0.25 }
[[stage]]
name = "blow"
duration = 0.2
samples = 40
frames = 2
integrator = { kind = "energy-momentum", dt = 1e-3 }
[[stage]]
name = "rest"
duration = 1.0
samples = 2
frames = 2
integrator = { kind = "static", dt = 0.5 }
[run]
"""


@pytest.fixture(scope="module")
def scenario():
    return sx.Scenario.parse(CHAIN)


def test_preload_motion_and_rest(scenario):
    problem = scenario.build()
    path = sx.record(problem.system, problem.integrator, problem.state, scenario.times)
    x = problem.mesh.points
    end = x[:, 0] == 1.0
    at = {t: path.q[np.argmin(np.abs(path.t - t))] - x for t in (1.0, 1.01, 2.2)}
    # The first Piola–Kirchhoff stress of the default law, neo-Hooke with ν = 0: E/2 (λ − 1/λ) of traction 5 % of E.
    stretch = 0.05 + np.sqrt(0.05**2 + 1.0)
    np.testing.assert_allclose(at[1.0][end, 0], stretch - 1.0, rtol=2e-3)
    assert np.abs(at[1.0][:, 2]).max() < 1e-9
    assert np.abs(at[1.01][:, 2]).max() > 1e-4  # the blow has bent it
    # With all loads as in the first stage the last one leads to the same equilibrium.
    np.testing.assert_allclose(at[2.2], at[1.0], atol=1e-8)
    balance = path.energies["balance"]
    assert np.ptp(balance) < 1e-7 * np.abs(path.energies["bar"]).max()
    assert path.energies["work_blow"][-1] > 0.0


@pytest.mark.slow
def test_modes_about_each_stage(scenario):
    """The preload stiffens the bar: ω² = (π/L)² T/m + (π/L)⁴ EI/m, hinged by its ends' fixed faces or not, grows."""
    start = sx.runs.find_modes(scenario, 2, at=0.0).natural.frequencies
    preloaded = sx.runs.find_modes(scenario, 2, at=1.0).natural.frequencies
    later = sx.runs.find_modes(scenario, 2, at=2.2).natural.frequencies
    assert preloaded[0] > 1.5 * start[0]
    np.testing.assert_allclose(later, preloaded, rtol=1e-6)
    # Of the same bar in static equilibrium from the start.
    text = CHAIN.replace('history = { kind = "ramp", duration = 1.0 }', "").split("[[stage]]")[0]
    text += '[start]\nkind = "static"\n[integrator]\nkind = "energy-momentum"\ndt = 1e-3\n[run]\nduration = 1.5\n'
    at_once = sx.runs.find_modes(sx.Scenario.parse(text), 2).natural.frequencies
    np.testing.assert_allclose(preloaded, at_once, rtol=1e-7)
