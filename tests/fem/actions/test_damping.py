"""Viscous damping, and the balance of energy and work."""

import numpy as np
import pytest

from symplex.errors import InvalidSystem
from symplex.fem.actions.damping import Dashpots, Drag, StiffnessDamping
from symplex.fem.actions.loads import NodalLoad
from symplex.fem.measures.bars import Bars, EngineeringStrain, GreenStrain
from symplex.fem.system import System
from symplex.time.composition import Composition
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.explicit.newmark import Newmark
from symplex.time.implicit.generalized_alpha import GeneralizedAlpha
from symplex.time.implicit.midpoint import Midpoint

PAIRS = [[0, 1], [1, 2], [2, 3], [0, 2], [1, 3]]
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])


def moving():
    rng = np.random.default_rng(0)
    return rng.standard_normal((4, 3)), rng.standard_normal((4, 3))


def test_dashpots_do_not_feel_rigid_motions_and_only_take_energy():
    load, (q, v) = Dashpots(PAIRS, [1.0, 2.0, 0.5, 3.0, 1.5]), moving()
    rigid = np.array([1.0, 2.0, 3.0]) + np.cross([0.3, -0.5, 0.7], q)
    np.testing.assert_allclose(load(0.0, q, rigid), 0.0, atol=1e-14)
    force = load(0.0, q, v)
    np.testing.assert_allclose(force.sum(axis=0), 0.0, atol=1e-14)
    np.testing.assert_allclose(np.cross(q, force).sum(axis=0), 0.0, atol=1e-14)
    assert np.vdot(force, v) < 0
    np.testing.assert_array_equal(load(0.0, np.zeros((4, 3)), v), 0.0)  # no direction


@pytest.mark.parametrize(
    "method", [EnergyMomentum, Midpoint, Newmark.trapezoidal, GeneralizedAlpha, lambda dt: Composition(Midpoint(dt))]
)
@pytest.mark.parametrize("rate", [1.0, 1e3])
def test_drag_of_any_strength_takes_a_few_corrections(method, rate):
    system = System(np.array([1.0, 2.0]), {}, loads={"drag": Drag(np.array([1.0, 2.0]), rate)})
    motion = method(0.1).start(system, system.state(np.zeros((2, 3)), (1.0, 0.0, 0.0)))
    motion.advance(1.0)
    counts = motion.statistics()
    assert counts["corrections"] <= 3 * counts.get("substeps", counts["steps"])


def test_drag_decays_as_it_says():
    system = System(np.ones(1), {}, dim=1, loads={"drag": Drag(np.ones(1), 0.5)})
    errors = []
    for dt in (0.1, 0.05):
        end = EnergyMomentum(dt).start(system, system.state([[0.0]], [[2.0]])).advance(2.0)
        errors.append(abs(end.v[0, 0] - 2.0 * np.exp(-1.0)))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.05)


def truss(loads):
    springs = Bars(PAIRS, GreenStrain([4.0, 6.0, 3.0, 5.0, 4.0], 1.0), dim=2)
    system = System(np.array([1.0, 2.0, 1.5, 0.5]), {"springs": springs}, dim=2, loads=loads)
    q = [[0.0, 0.0], [1.1, 0.1], [0.4, 0.9], [1.2, 1.2]]
    return system, system.state(q, [[0.3, 0.0], [0.0, -0.4], [0.2, 0.2], [-0.5, 0.1]])


@pytest.mark.parametrize("method", [EnergyMomentum, Newmark.trapezoidal])
def test_rayleighs_damping_decays_as_it_says(method):
    """A mode of frequency ω, here of two points on a spring: exp(−(α + β ω²) t/2)."""
    spring, mass, alpha, beta = Bars([[0, 1]], EngineeringStrain(2.0, 1.0), dim=1), np.array([1.0, 1.0]), 0.03, 0.02
    rest = np.array([[0.0], [1.0]])
    loads = {"drag": Drag(mass, alpha), "stiffness": StiffnessDamping(spring, rest, beta)}
    system = System(mass, {"spring": spring}, dim=1, loads=loads)
    decay = 0.5 * (alpha + beta * 4.0)  # ω² = k (1/m + 1/m)
    frequency = np.sqrt(4.0 - decay**2)
    t = np.pi / frequency * 5
    end = method(t / 2000).start(system, system.state(rest, [[-0.1], [0.1]])).advance(t)
    assert end.v[1, 0] == pytest.approx(-0.1 * np.exp(-decay * t), rel=1e-4)


def test_stiffness_damping_leaves_small_rigid_motions():
    v = np.array([1.0, 2.0, 3.0]) + np.cross([0.3, -0.5, 0.7], CORNERS)
    stress_free = StiffnessDamping(Bars([[0, 1], [0, 2]], GreenStrain(2.0, 1.0)), CORNERS, 0.2)
    np.testing.assert_allclose(stress_free(0.0, CORNERS, v), 0.0, atol=1e-14)
    assert np.abs(stress_free(0.0, CORNERS, CORNERS)).max() > 0.1


def test_energy_momentum_balances_energy_and_work_to_round_off():
    loads = {
        "dashpots": Dashpots(PAIRS, 1.0),
        "push": NodalLoad([1, 3], (0.5, -0.2), np.cos),
        "drag": Drag(np.ones(4), 0.1),
    }
    system, state = truss(loads)
    for integrator in (EnergyMomentum(0.1), Composition(EnergyMomentum(0.2), 4)):
        motion = integrator.start(system, state)
        energies = motion.energies(motion.advance(10.0))
        assert set(energies) == {"kinetic", "springs", "total", "work_dashpots", "work_push", "work_drag", "balance"}
        assert energies["work_dashpots"] < -0.05
        assert energies["work_drag"] < -0.01
        assert abs(energies["work_push"]) > 0.05
        assert energies["balance"] == pytest.approx(system.energies_of(state)["total"], rel=1e-13)


@pytest.mark.parametrize("method", [Newmark.trapezoidal, GeneralizedAlpha, Midpoint])
def test_the_balance_of_others_converges(method):
    system, state = truss({"push": NodalLoad([1, 3], (0.5, -0.2), np.cos), "dashpots": Dashpots(PAIRS, 0.3)})
    energy, errors = system.energies_of(state)["total"], []
    for dt in (0.02, 0.01):
        motion = method(dt).start(system, state)
        energies = motion.energies(motion.advance(2.0))
        assert abs(energies["work_push"]) > 0.05
        errors.append(abs(energies["balance"] - energy))
    assert errors[0] < 1e-3
    assert np.log2(errors[0] / errors[1]) > 1.8


def test_dashpots_bring_a_tumbling_truss_to_rigid_rotation():
    system, state = truss({"dashpots": Dashpots(PAIRS, 2.0)})
    motion = EnergyMomentum(0.2).start(system, state)
    end = motion.advance(100.0)
    np.testing.assert_allclose(system.momentum(end), system.momentum(state), atol=1e-13)
    np.testing.assert_allclose(system.angular_momentum(end), system.angular_momentum(state), atol=1e-13)
    spread = end.v - system.momentum(end) / system.mass.sum()
    lengths = [np.linalg.norm(end.q[b] - end.q[a]) for a, b in PAIRS]
    later = motion.advance(102.0)
    np.testing.assert_allclose([np.linalg.norm(later.q[b] - later.q[a]) for a, b in PAIRS], lengths, atol=1e-6)
    assert np.abs(spread).max() > 0.01


def test_a_resumed_motion_knows_the_work():
    system, state = truss({"drag": Drag(np.ones(4), 0.3)})
    motion = EnergyMomentum(0.1).start(system, state)
    motion.advance(1.0)
    resumed = EnergyMomentum(0.1).resume(system, motion.checkpoint())
    assert resumed.energies(resumed.advance(2.0)) == motion.energies(motion.advance(2.0))


@pytest.mark.parametrize("method", [EnergyMomentum(1e-3), Newmark(1e-3)])
def test_negative_rates_drive(method):
    system = System(np.array([2.0]), {}, loads={"wind": Drag(np.array([2.0]), -0.5)})
    motion = method.start(system, system.state(np.zeros((1, 3)), v=(3.0, 0.0, 0.0)))
    end = motion.advance(1.0)
    assert end.v[0, 0] == pytest.approx(3.0 * np.exp(0.5), rel=1e-6)
    energies = motion.energies(end)
    assert energies["work_wind"] == pytest.approx(energies["kinetic"] - 9.0, rel=1e-6)


def test_negative_dashpots_feed_stretching():
    load, (q, v) = Dashpots(PAIRS, -2.0), moving()
    np.testing.assert_array_equal(load(0.0, q, v), -Dashpots(PAIRS, 2.0)(0.0, q, v))
    assert np.vdot(load(0.0, q, v), v) > 0


def test_wrong_dampers_are_refused():
    with pytest.raises(InvalidSystem, match="StiffnessDamping: time must be at least 0, got -1 s"):
        StiffnessDamping(Bars([[0, 1]], GreenStrain(1.0, 1.0)), CORNERS, -1.0)
    with pytest.raises(InvalidSystem, match="viscosity must be finite; it is inf"):
        Dashpots([[0, 1]], np.inf)
    with pytest.raises(InvalidSystem, match="pair 0 joins node 1 with itself"):
        Dashpots([[1, 1]], 1.0)
    with pytest.raises(InvalidSystem, match=r"viscosity has shape \(2,\), but there are 1 pairs"):
        Dashpots([[0, 1]], [1.0, 2.0])
    with pytest.raises(InvalidSystem, match="rate must be finite; it is -inf 1/s"):
        Drag(np.ones(2), -np.inf)
    with pytest.raises(InvalidSystem, match="masses must be one for each node"):
        Drag(np.array([1.0, -1.0]), 0.5)
    with pytest.raises(InvalidSystem, match="there are 2 nodes, but 3 masses"):
        Drag(np.ones(3), 1)(0.0, np.zeros((2, 3)), np.zeros((2, 3)))
    with pytest.raises(InvalidSystem, match="load 'd' refers to nodes 0 to 2, but there are 2 nodes"):
        System(np.ones(2), {}, loads={"d": Drag(np.ones(3), 1)})
