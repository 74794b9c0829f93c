"""Motions of frames: what is conserved, orders, agreement of methods, and resume."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import symplex as sx
from reference.lines import SOFT, flying, line, spaghetti
from symplex.errors import InvalidSystem
from symplex.fem.structures.beam import beams
from symplex.fem.structures.moments import Moment


def test_energy_and_both_momenta_are_kept_to_round_off():
    built, system, start = flying()
    end = sx.EnergyMomentum(0.05).start(system, start).advance(10.0)
    energy = system.energies_of(start)["total"]
    assert abs(system.energies_of(end)["total"] / energy - 1.0) < 1e-12
    for momentum in (system.momentum, system.angular_momentum):
        assert np.linalg.norm(momentum(end) - momentum(start)) < 1e-13 * np.linalg.norm(momentum(start)) * 200
    assert built.frames.distortion(end.q) < 1e-13
    assert system.energies_of(end)["beams"] > 1e-3 * energy


@pytest.mark.parametrize("method", [sx.EnergyMomentum, sx.Midpoint])
def test_implicit_methods_are_of_second_order(method):
    """By RATTLE with a small step, of the same particles."""
    _, system, start = flying(3)
    exact = sx.Rattle(2e-4, {}).start(system, start).advance(1.0).q
    errors = [np.abs(method(dt).start(system, start).advance(1.0).q - exact).max() for dt in (0.025, 0.0125, 0.00625)]
    assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 2.0, atol=0.15)


def test_the_midpoint_rule_keeps_momenta():
    _, system, start = flying(3)
    end = sx.Midpoint(0.05).start(system, start).advance(5.0)
    for momentum in (system.momentum, system.angular_momentum):
        assert np.linalg.norm(momentum(end) - momentum(start)) < 1e-11 * np.linalg.norm(momentum(start))


def test_rattle_keeps_momenta_and_frames():
    built, system, start = flying(3)
    end = sx.Rattle(2e-3, {}).start(system, start).advance(0.5)
    for momentum in (system.momentum, system.angular_momentum):
        assert np.linalg.norm(momentum(end) - momentum(start)) < 1e-12 * np.linalg.norm(momentum(start))
    assert built.frames.distortion(end.q) < 1e-12
    assert abs(system.energies_of(end)["total"] / system.energies_of(start)["total"] - 1.0) < 1e-4


def test_steps_back_lead_to_the_start():
    _, system, start = flying(3)
    method = sx.EnergyMomentum(0.05)
    end = method.start(system, start).advance(2.0)
    back = method.start(system, end.reversed()).advance(4.0)
    assert np.abs(back.q - start.q).max() < 1e-11


def test_the_energy_is_the_work_of_forces_and_moments():
    built = spaghetti(4)
    history = [0.0, 0.5, 1.0], [0.0, 200.0, 0.0]
    loads = {
        "force": sx.actions.NodalLoad(built.particles([0]).ravel(), [0.025, 0.0, 0.0], history),
        "moment": Moment(built.particles([0]), built.mass, [0.0, -0.5, -1.0], history),
    }
    system = sx.System(built.mass, {"beams": built.energy}, frames=built.frames, loads=loads)
    motion = sx.EnergyMomentum(0.05).start(system, system.state(built.points))
    end = motion.advance(1.5)
    energies = motion.energies(end)
    assert energies["work_moment"] > 1.0
    assert abs(energies["balance"]) < 1e-12 * energies["total"]
    # 50 N s along x, and the moment about the origin of that and of the moments
    assert_allclose(system.momentum(end), [10.0, 0.0, 0.0], atol=1e-11)


def test_a_motion_goes_on_to_the_last_bit():
    _, system, start = flying(3)
    method = sx.EnergyMomentum(0.05)
    motion = method.start(system, start)
    motion.advance(0.5)
    stored = motion.checkpoint()
    assert np.array_equal(method.resume(system, stored).advance(1.0).q, motion.advance(1.0).q)


def test_what_does_not_keep_frames_rigid_is_refused():
    """Noise does not, and steps of several sizes lose an order to what velocities have across rigid motions."""
    _, system, start = flying(3)
    within = sx.EnergyMomentum(0.05)
    for method in (
        sx.ZhangSkeel(0.01),
        sx.Composition(sx.Newmark(0.01), 6, scheme="blanes-moan"),
        sx.Composition(within),
        sx.Langevin(within, 1.0, rate=1.0),
        sx.Midpoint(0.1, alpha=0.25),
    ):
        with pytest.raises(InvalidSystem, match="cannot keep frames rigid, of which the system has 4; take "):
            method.start(system, start)


def test_a_composition_of_rattle_is_of_fourth_order():
    _, system, start = flying(3)
    exact = sx.Composition(sx.Rattle(2.5e-4, {})).start(system, start).advance(0.2).q
    ends = [sx.Composition(sx.Newmark(dt)).start(system, start).advance(0.2).q for dt in (4e-3, 2e-3)]
    errors = [np.abs(q - exact).max() for q in ends]
    assert 3.5 < np.log2(errors[0] / errors[1]) < 4.5


def elbow(n):
    """The right-angle cantilever of Simo and Vu-Quoc (1988), two legs of 10 m, pushed out of its plane at the elbow."""
    part = np.linspace(0.0, 10.0, n + 1)[:, None]
    points = np.vstack([part * [1.0, 0.0, 0.0], [10.0, 0.0, 0.0] + part[1:] * [0.0, 1.0, 0.0]])
    properties = type(SOFT)(1e6, (1e6, 1e6), (1e3, 1e3), 1e3, 1.0, (10.0, 10.0))
    built = beams(line(points), properties, (0.0, 0.0, 1.0))
    push = sx.actions.NodalLoad(built.particles([n]).ravel(), [0.0, 0.0, 0.25], ([0.0, 1.0, 2.0], [0.0, 50.0, 0.0]))
    loads = {"push": push}
    return built, sx.System(
        built.mass, {"beams": built.energy}, fixed=built.fixed([0]), frames=built.frames, loads=loads
    )


@pytest.mark.slow
def test_the_right_angle_cantilever():
    """Its tip swings by 8 to 10 m to both sides, as published; with the energy that the push has left."""
    built, system = elbow(10)
    motion = sx.EnergyMomentum(0.25).start(system, system.state(built.points))
    tip = []
    for t in np.arange(1, 121) * 0.25:
        state = motion.advance(t)
        tip.append(built.frames.centers(state.q)[-1, 2])
    energies = motion.energies(state)
    assert abs(energies["balance"]) < 1e-12 * energies["total"]
    assert 7.5 < max(tip) < 10.5
    assert -10.5 < min(tip) < -8.0
