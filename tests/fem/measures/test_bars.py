"""Energies between two points."""

from fractions import Fraction

import numpy as np
import pytest

from reference.kuhn_walk import kuhn_walk
from symplex.errors import InvalidSystem, MaterialError, StepFailed
from symplex.fem.measures.bars import (
    Bars,
    EngineeringStrain,
    GreenStrain,
    InverseDistance,
    InverseSquare,
    LennardJones,
    all_pairs,
)
from symplex.fem.system import System
from symplex.time.events.force_stepping import ForceStepping

LAWS = {
    "engineering": EngineeringStrain(3.0, 1.25),
    "Green": GreenStrain(2.0, 0.75),
    "gravitation": InverseDistance(1.5),
    "centrifugal": InverseSquare(0.5),
    "Lennard-Jones": LennardJones(0.75, 1.125),
}


@pytest.fixture(params=LAWS)
def law(request):
    return LAWS[request.param]


@pytest.mark.parametrize("change", [0.5, 1e-2, 1e-5, -1e-5])
def test_quotients_are_those_of_the_energy(law, change):
    s0 = np.array([0.81, 1.0, 1.44, 2.25])
    s1 = s0 * (1.0 + change)
    expected = (law.energy(s1) - law.energy(s0)) / (0.5 * (s1 - s0))
    np.testing.assert_allclose(law.quotient(s0, s1), expected, rtol=1e-13 / abs(change), atol=1e-13 / abs(change))


def test_quotients_do_not_cancel():
    """Exact in rational numbers, for an increment at which the difference of energies has lost half its digits."""
    s0, s1 = 1.21, 1.21 * (1 + 1e-8)
    law = LAWS["Lennard-Jones"]

    def energy(s):
        u = Fraction(1.125) ** 2 / Fraction(s)
        return 4 * Fraction(0.75) * (u**6 - u**3)

    exact = float((energy(s1) - energy(s0)) / (Fraction(1, 2) * (Fraction(s1) - Fraction(s0))))
    assert law.quotient(np.array(s0), np.array(s1)) == pytest.approx(exact, rel=1e-14)


def test_quotients_of_no_change_are_twice_the_slope(law):
    s = np.array([0.81, 1.0, 2.25])
    np.testing.assert_allclose(law.quotient(s, s), 2.0 * law.slope(s), rtol=1e-14)


def test_slopes_and_curvatures_are_derivatives(law):
    s, h = np.array([0.81, 1.0, 2.25]), 1e-5
    slope = (law.energy(s + h) - law.energy(s - h)) / (2 * h)
    curvature = (law.slope(s + h) - law.slope(s - h)) / (2 * h)
    np.testing.assert_allclose(law.slope(s), slope, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(law.curvature(s), curvature, rtol=1e-7)


def test_tension_and_length():
    bars = Bars([[0, 1], [1, 2]], EngineeringStrain([10.0, 20.0], [1.0, 2.0]))
    q = np.array([[0.0, 0.0, 0.0], [0.0, 1.5, 0.0], [0.0, 1.5, 1.0]])
    assert bars.lengths(q) == pytest.approx([1.5, 1.0])
    assert bars.tensions(q) == pytest.approx([5.0, -20.0])


def test_all_pairs():
    assert all_pairs(4).tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    assert all_pairs(1).shape == (0, 2)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.slow
def test_force_stepping_follows_the_published_walk(name, dim):
    rng = np.random.default_rng(dim)
    n = 3 if dim == 1 else 4
    system = System(rng.uniform(1.0, 2.0, n), {"pairs": Bars(all_pairs(n), LAWS[name], dim)}, dim=dim)
    corners = {1: [[0], [1], [2]], 2: [[0, 0], [1, 0], [0, 1], [1, 1]], 3: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}
    apart = 1.3 * np.array(corners[dim])
    state = system.state(apart + 0.1 * rng.random((n, dim)), 0.2 * rng.normal(size=(n, dim)))
    motion = ForceStepping(0.01, count_crossings=True).start(system, state)
    before = motion.energies(state)["lattice_total"]
    end = motion.advance(1.0)
    walk = kuhn_walk(system, state, [1.0], 0.01, motion.offset)
    assert motion.statistics()["crossings"] == walk.crossings > 50
    assert np.abs(end.q - walk.states[-1].q).max() < 1e-11
    assert motion.energies(end)["lattice_total"] == pytest.approx(before, rel=1e-12)


def test_wrong_pairs_and_constants_are_refused():
    with pytest.raises(InvalidSystem, match="pair 1 joins node 2 with itself"):
        Bars([[0, 1], [2, 2]], GreenStrain(1.0, 1.0))
    with pytest.raises(InvalidSystem, match=r"stiffness has shape \(3,\), but there are 2 pairs"):
        Bars([[0, 1], [1, 2]], EngineeringStrain([1.0, 2.0, 3.0], 1.0))
    with pytest.raises(MaterialError, match="stiffness of a pair law must be positive; it is -1 N/m"):
        EngineeringStrain(-1.0, 1.0)
    with pytest.raises(MaterialError, match="natural length of a pair law must be positive"):
        GreenStrain(1.0, 0.0)
    with pytest.raises(MaterialError, match="strength of a pair law must be finite; it is nan"):
        InverseDistance(np.nan)
    with pytest.raises(MaterialError, match="natural length of a pair law must be finite and at least 0"):
        EngineeringStrain(1.0, -0.5)


@pytest.mark.parametrize(
    "law", [EngineeringStrain(5.0, 1.0), InverseDistance(1.0), InverseSquare(1.0), LennardJones(1.0, 1.0)]
)
@pytest.mark.parametrize("function", ["gradient", "hessian"])
def test_a_pair_at_one_point_is_named(law, function):
    x = np.zeros((2, 2, 3))
    x[0, 1] = 1.0
    with pytest.raises(StepFailed, match=r"pair 1 \(nodes 4 and 2\) is 0 m long"):
        getattr(Bars([[0, 1], [4, 2]], law), function)(x)


def test_a_spring_of_no_natural_length_goes_through_its_point():
    pair, x = Bars([[0, 1]], EngineeringStrain(5.0, 0.0)), np.zeros((1, 2, 3))
    assert pair.value(x) == 0.0
    assert not pair.gradient(x).any()
    np.testing.assert_array_equal(pair.hessian(x)[0, :3, :3], 5.0 * np.eye(3))
    assert pair.law.quotient(np.zeros(1), np.zeros(1)) == 5.0
    system = System(np.ones(2), {"spring": pair}, fixed=np.arange(6).reshape(2, 3) < 3)
    start = system.state([[0.0, 0.0, 0.0], [0.0, 0.1, 0.2]], [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    end = ForceStepping(0.5, offset=0.0).start(system, start).advance(0.5)
    assert 0.3 < end.q[1, 0] < 0.5
