"""Gravity and all loads ramped by one key, `history`: exact motions, work, and slow ramps that lead to equilibria."""

import numpy as np
import pytest

import symplex as sx
from symplex.errors import ScenarioError

MASS = """
[[point_mass]]
name = "ball"
position = [0, 0, 0]
mass = 2
[gravity]
acceleration = [0, 0, -10]
{history}
[integrator]
{method}
[run]
duration = 1.0
frames = 2
samples = 20
"""
EM = 'kind = "energy-momentum"\ndt = 0.01'
RAMP = 'history = { kind = "ramp", duration = 0.5 }'
SMOOTH = 'history = { kind = "smooth-ramp", duration = 0.5 }'


def recorded(text):
    problem = sx.Scenario.parse(text).build()
    return problem, sx.record(problem.system, problem.integrator, problem.state, problem.scenario.times)


@pytest.mark.parametrize("method", [EM, 'kind = "newmark"\ndt = 0.01'])
def test_free_fall_in_a_weight_that_grows(method):
    """A weight of g t/T until T, then g: z = −g t³/6T, then −g (T²/6 + T (t − T)/2 + (t − T)²/2)."""
    _, path = recorded(MASS.format(history=RAMP, method=method))
    g, T, t = 10.0, 0.5, path.t
    z = np.where(t < T, -g * t**3 / (6 * T), -g * (T**2 / 6 + T * (t - T) / 2 + (t - T) ** 2 / 2))
    np.testing.assert_allclose(path.q[:, 0, 2], z, atol=g * 0.01**2 / 2)  # of second order
    kinetic, work = path.energies["kinetic"], path.energies["work_gravity"]
    assert "gravity" not in path.energies
    # The work is a quadrature of each step, too, of second order.
    np.testing.assert_allclose(kinetic, work, atol=1e-4 * kinetic[-1])
    if method == EM:
        assert np.ptp(path.energies["balance"]) < 1e-12 * kinetic[-1]


def test_a_weight_from_a_time_on():
    text = MASS.format(history=SMOOTH + "\nfrom = 0.25", method=EM)
    _, path = recorded(text)
    assert not path.q[path.t <= 0.25, 0, 2].any()
    # After a ramp of the length T the velocity is that of the whole weight from its middle on.
    assert path.v[-1, 0, 2] == pytest.approx(-10 * (0.75 - 0.25), rel=1e-5)


BAR = """
[[body]]
name = "bar"
mesh = {{ box = [1, 0.1, 0.1], cells = [10, 1, 1], split = "hexahedra" }}
material = {{ young = 1e6, poisson = 0.0, density = 1000 }}
mass = "consistent"
[[support]]
body = "bar"
group = "x_min"
{load}
[integrator]
kind = "static"
dt = 0.1
[run]
duration = 1.0
frames = 2
samples = 10
"""
SPIN = """
[[load]]
name = "spin"
kind = "centrifugal"
body = "bar"
angular_velocity = [0, 0, 10]
point = [0, 0.05, 0.05]
follows = true
{history}
"""


def test_centrifugal_forces_that_grow_lead_where_constant_ones_do():
    """Forces at the places where nodes are, times the square of the spin: a table of factors."""
    ramp = 'history = { kind = "ramp", duration = 1.0 }'
    _, growing = recorded(BAR.format(load=SPIN.format(history=ramp)))
    _, constant = recorded(BAR.format(load=SPIN.format(history="")))
    assert np.abs(growing.q[-1] - growing.q[0]).max() > 0.03
    np.testing.assert_allclose(growing.q[-1], constant.q[-1], atol=1e-9)
    # Linear theory: u'' = −ρ ω² x/E, so the end moves by ρ ω² L³/3E; forces at moved places add ρ ω² L²/E of it.
    linear = 1000 * 100 / (3 * 1e6)
    assert growing.q[-1][:, 0].max() - 1.0 == pytest.approx(linear, rel=0.15)


def test_gravity_that_grows_in_statics():
    ramp = '[gravity]\nacceleration = [9.81, 0, 0]\nhistory = { kind = "smooth-ramp", duration = 1.0 }\n'
    _, growing = recorded(BAR.format(load=ramp))
    _, constant = recorded(BAR.format(load="[gravity]\nacceleration = [9.81, 0, 0]\n"))
    np.testing.assert_allclose(growing.q[-1], constant.q[-1], atol=1e-9)
    assert growing.energies["work_gravity"][-1] > 0.0


def test_derivatives_of_a_scaled_energy():
    energy = sx.measures.Anchors([0, 1], [0.5, 0.2, 0.1], sx.measures.EngineeringStrain(30.0, 0.4))
    load = sx.actions.EnergyLoad(energy, lambda t: 2.0 * t)
    q = np.array([[0.0, 0.1, 0.0], [1.0, 0.0, 0.3]])
    v = np.zeros_like(q)
    assert np.abs(load(3.0, q, v)).max() > 0.1
    f_q, f_v = load.derivatives(3.0, q[load.nodes], v[load.nodes])
    assert not f_v.any()
    for node in range(2):
        for i in range(3):
            step = np.zeros_like(q)
            step[node, i] = 1e-6
            change = (load(3.0, q + step, v) - load(3.0, q - step, v)) / 2e-6
            np.testing.assert_allclose(f_q[node, :, i], change[node], atol=1e-6)


@pytest.mark.parametrize(
    ("history", "method", "message"),
    [
        ('history = { kind = "ramp" }', EM, "needs duration"),
        ("history = 2", EM, "history must be a table"),
        (RAMP, 'kind = "force-stepping"\ngrid = 1e-3', "changes with time"),
    ],
)
def test_mistakes(history, method, message):
    with pytest.raises(ScenarioError, match=message):
        sx.Scenario.parse(MASS.format(history=history, method=method)).build()
