"""Dampers between sets of nodes and the drag of a fluid, against closed forms."""

import numpy as np
import pytest

from symplex.errors import InvalidSystem
from symplex.fem.actions.dampers import MeanDashpot, QuadraticDrag
from symplex.fem.actions.loads import Gravity
from symplex.fem.measures.bars import Bars, EngineeringStrain
from symplex.fem.system import System
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.explicit.newmark import Newmark
from symplex.time.stability import largest_damping, stable_step

LOADS = {
    "sets": MeanDashpot([0, 1], [2, 3], 1.3),
    "point": MeanDashpot([1, 2, 3], (0.3, 2.0, -1.0), 0.7, 1.5, fixed=True),
    "drag": QuadraticDrag([0, 2, 3], [0.5, 1.0, 2.0]),
}


def moving():
    rng = np.random.default_rng(0)
    return rng.standard_normal((4, 3)), rng.standard_normal((4, 3))


def test_dashpots_between_sets_keep_momenta_and_take_energy():
    (q, v), load = moving(), LOADS["sets"]
    force = load(0.0, q, v)
    np.testing.assert_allclose(force.sum(axis=0), 0.0, atol=1e-15)
    np.testing.assert_allclose(np.cross(q, force).sum(axis=0), 0.0, atol=1e-14)
    assert np.vdot(force, v) < -1e-3
    assert np.vdot(LOADS["point"](0.0, q, v), v) < 0.0
    assert not load(0.0, np.zeros((4, 3)), v).any()  # no direction


def test_nothing_acts_at_rest():
    q, _ = moving()
    for load in LOADS.values():
        assert not load(0.0, q, np.zeros((4, 3))).any()
        assert np.isfinite(load.derivatives(0.0, q[load.nodes], 0.0 * q[load.nodes])[1]).all()


@pytest.mark.parametrize("c", [0.2, 2.0, 6.0])
def test_an_oscillator_with_a_dashpot(c):
    """With m x'' + c x' + k x = 0, below, at and above critical damping (2 for m = k = 1)."""
    spring = Bars([[0, 1]], EngineeringStrain(1.0, 1.0), dim=1)
    fixed = np.array([[True], [False]])
    damper = MeanDashpot([1], [-1.0], c, fixed=True)
    system = System(np.ones(2), {"spring": spring}, dim=1, fixed=fixed, loads={"damper": damper})
    state, t = system.state([[0.0], [1.3]]), 3.0
    roots = np.roots([1.0, c, 1.0]).astype(complex)
    if abs(roots[0] - roots[1]) < 1e-6:
        exact = 0.3 * np.exp(-t) * (1.0 + t)
    else:
        a, b = roots
        exact = (0.3 * (b * np.exp(a * t) - a * np.exp(b * t)) / (b - a)).real
    for method in (EnergyMomentum, Newmark):
        errors = []
        for dt in (0.02, 0.01):
            motion = method(dt).start(system, state)
            end = motion.advance(t)
            errors.append(abs(end.q[1, 0] - 1.0 - exact))
            if method is EnergyMomentum:
                assert motion.energies(end)["balance"] == pytest.approx(0.045, rel=1e-12)
        assert errors[1] < 1e-4
        assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def test_a_body_falls_at_its_terminal_speed():
    """From rest v = v_t tanh(g t/v_t), v_t = √(m g/k)."""
    mass, g, k = np.array([2.0, 1.0]), 9.81, 0.3
    loads = {"air": QuadraticDrag([0, 1], [0.2, 0.1])}
    system = System(mass, {"weight": Gravity(mass, (0.0, 0.0, -g))}, loads=loads)
    terminal = np.sqrt(3.0 * g / k)
    errors = []
    for dt in (0.1, 0.05):
        motion = EnergyMomentum(dt).start(system, system.state(np.zeros((2, 3))))
        end = motion.advance(2.0)
        errors.append(abs(-end.v[0, 2] - terminal * np.tanh(g * 2.0 / terminal)))
        energies = motion.energies(end)
        assert energies["work_air"] < -10.0
        assert abs(energies["balance"]) < 1e-13 * energies["kinetic"]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert -motion.advance(20.0).v[1, 2] == pytest.approx(terminal, rel=1e-6)


def test_what_is_still_in_a_wind_is_driven_to_its_speed():
    system = System(np.ones(1), {}, loads={"wind": QuadraticDrag([0], 2.0, (3.0, 0.0, 0.0))})
    end = EnergyMomentum(0.05).start(system, system.state(np.zeros((1, 3)))).advance(50.0)
    np.testing.assert_allclose(end.v, [[3.0 - 1.0 / (2.0 * 50.0 + 1.0 / 3.0), 0.0, 0.0]], atol=1e-5)


def test_dampers_make_the_stable_step_smaller():
    spring = Bars([[0, 1]], EngineeringStrain(1.0, 1.0), dim=1)
    q, v = np.array([[0.0], [1.0]]), np.zeros((2, 1))
    fixed = np.array([[True], [False]])
    damper = MeanDashpot([1], [0], 3.0)
    system = System(np.ones(2), {"spring": spring}, dim=1, fixed=fixed, loads={"damper": damper})
    assert largest_damping(system, q, v) == pytest.approx(3.0, rel=1e-6)
    assert stable_step(system, q, v) == pytest.approx(2.0 / (3.0 + np.sqrt(10.0)), rel=1e-6)
    assert stable_step(system, q) == pytest.approx(2.0, rel=1e-6)
    fast = System(np.ones(2), {"spring": spring}, dim=1, fixed=fixed, loads={"drag": QuadraticDrag([1], 0.5)})
    assert largest_damping(fast, q, np.array([[0.0], [-4.0]])) == pytest.approx(4.0, rel=1e-5)


def test_wrong_dampers_are_refused():
    with pytest.raises(InvalidSystem, match=r"viscosity must be at least 0, got -1 N s/m"):
        MeanDashpot([0], [1], -1.0)
    with pytest.raises(InvalidSystem, match=r"exponent must be at least 1, got 0\.5"):
        MeanDashpot([0], [1], 1.0, 0.5)
    with pytest.raises(InvalidSystem, match="an end has no nodes"):
        MeanDashpot([0], [], 1.0)
    with pytest.raises(InvalidSystem, match="fixed point must be finite"):
        MeanDashpot([0], [np.nan, 0.0], 1.0, fixed=True)
    with pytest.raises(InvalidSystem, match="the fixed point has 2 coordinates, but nodes have 3"):
        MeanDashpot([0], [1.0, 0.0], 1.0, fixed=True)(0.0, np.zeros((1, 3)), np.zeros((1, 3)))
    with pytest.raises(InvalidSystem, match="drag must not be negative"):
        QuadraticDrag([0], -1.0)
    with pytest.raises(InvalidSystem, match=r"drag has shape \(2,\), but there are 1 nodes"):
        QuadraticDrag([0], [1.0, 2.0])
    with pytest.raises(InvalidSystem, match="has 2 components, but those of nodes have 3"):
        QuadraticDrag([0], 1.0, [1.0, 0.0])(0.0, np.zeros((1, 3)), np.zeros((1, 3)))
    with pytest.raises(InvalidSystem, match="load 'd' refers to nodes 0 to 7, but there are 2 nodes"):
        System(np.ones(2), {}, loads={"d": MeanDashpot([0], [7], 1.0)})
