"""States between the steps, and events."""

import numpy as np
import pytest

from symplex.fem.measures.bars import Bars, InverseDistance
from symplex.fem.system import State, System
from symplex.time.composition import Composition
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.dense_output import Interpolant, locate
from symplex.time.explicit.newmark import Newmark
from symplex.time.implicit.midpoint import Midpoint


def quintic(t, coefficients):
    """The state at a time of a motion in powers of time."""
    powers = np.arange(6)
    factors = [np.ones(6), powers, powers * (powers - 1)]
    q, v, a = (
        np.tensordot(f * np.where(powers >= k, float(t) ** np.maximum(powers - k, 0), 0.0), coefficients, 1)
        for k, f in enumerate(factors)
    )
    return State(t, q, v, a)


def test_quintic_motions_are_exact():
    coefficients = np.random.default_rng(0).standard_normal((6, 3, 2))
    between = Interpolant(quintic(0.5, coefficients), quintic(1.7, coefficients))
    for t in (0.5, 0.8, 1.1, 1.7):
        found, expected = between(t), quintic(t, coefficients)
        assert found.t == t
        np.testing.assert_allclose(found.q, expected.q, atol=1e-12)
        np.testing.assert_allclose(found.v, expected.v, atol=1e-12)
        np.testing.assert_allclose(found.a, expected.a, atol=1e-11)


def kepler():
    system = System(
        np.ones(2), {"gravity": Bars([[0, 1]], InverseDistance(1.0), dim=2)}, dim=2, fixed=[[True] * 2, [False] * 2]
    )
    return system, system.state([[0.0, 0.0], [0.5, 0.0]], [[0.0, 0.0], [0.0, 3**0.5]])


def test_orders_of_the_interpolant():
    system, state = kepler()
    exact = Composition(Midpoint(0.005), 8).start(system, state)
    errors = []
    for h in (0.2, 0.1):
        motion = Composition(Midpoint(h / 40), 8).start(system, state)
        between = Interpolant(motion.advance(0.4), motion.advance(0.4 + h))
        expected = Composition(Midpoint(h / 80), 8).start(system, state).advance(0.4 + 0.3 * h)
        found = between(0.4 + 0.3 * h)
        errors.append([np.abs(getattr(found, name) - getattr(expected, name)).max() for name in "qva"])
    assert exact.t == 0.0
    np.testing.assert_allclose(np.log2(np.divide(*errors)), [6.0, 5.0, 4.0], atol=0.5)


def apsis(state):
    return float(np.vdot(state.q[1], state.v[1]))


@pytest.mark.parametrize("method", [Newmark, EnergyMomentum, Midpoint, Newmark.trapezoidal])
def test_the_apsis_converges_with_the_method(method):
    """The aphelion of an orbit with e = 0.5 is reached after half a period, at the distance 1.5."""
    system, state = kepler()
    errors = []
    for dt in (0.02, 0.01):
        motion, before = method(dt).start(system, state), state
        for n in range(1, 1000):
            reached = motion.advance(n * dt)
            found = locate(apsis, before, reached)
            if found is not None:
                break
            before = reached
        assert abs(apsis(found)) < 1e-12
        assert found.t > dt  # not the perihelion at the start
        errors.append(abs(found.t - np.pi))
        assert np.linalg.norm(found.q[1]) == pytest.approx(1.5, abs=20 * dt**2)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.2)


def test_no_event_and_an_event_at_the_end():
    start = State(0.0, np.zeros((1, 1)), np.ones((1, 1)), np.zeros((1, 1)))
    end = State(1.0, np.ones((1, 1)), np.ones((1, 1)), np.zeros((1, 1)))
    assert locate(lambda state: state.q[0, 0] + 1.0, start, end) is None
    assert locate(lambda state: state.q[0, 0], start, end) is None  # zero at the start only
    assert locate(lambda state: state.q[0, 0] - 1.0, start, end).t == 1.0
    assert locate(lambda state: state.q[0, 0] - 0.3, start, end).t == pytest.approx(0.3, abs=1e-15)
