"""Force-stepping where paths touch the faces of the lattice, start on them, or cross several at once.

Numbers are binary fractions where a touch is to be exact.
"""

import numpy as np
import pytest

from reference.kuhn_walk import kuhn_walk
from symplex.errors import StepFailed
from symplex.fem.energies.energy import Energy
from symplex.fem.measures.bars import Bars, EngineeringStrain, LennardJones, all_pairs
from symplex.fem.system import State, System
from symplex.testing import round_off
from symplex.time.events.force_stepping import ForceStepping


class Slopes(Energy):
    """One point in V(x) of given slopes: slopes[k] for x in [k, k + 1]·width, from x = −4·width on; V(0) = 0."""

    nodes = np.array([[0]], np.int32)

    def __init__(self, slopes, width=1.0):
        self.x = width * np.arange(-4, len(slopes) - 3)
        self.potential = np.concatenate([[0.0], np.cumsum(width * np.asarray(slopes, float))])
        self.potential -= self.potential[4]

    def value(self, x):
        return np.interp(x[:, 0, 0], self.x, self.potential)

    def gradient(self, x):
        raise NotImplementedError

    def hessian(self, x):
        raise NotImplementedError


def one_point(slopes, q, v, mass=1.0, width=1.0):
    """Return the motion of one point where V_h = V; along y it is free."""
    q, v = np.atleast_2d(q).astype(float), np.atleast_2d(v).astype(float)
    system = System(np.array([mass]), {"slopes": Slopes(slopes, width)}, dim=q.shape[1])
    return ForceStepping(width, offset=0.0).start(system, State(0.0, q, v, 0.0 * q))


def lattice_total(motion, state):
    return motion.energies(state)["lattice_total"]


# -- touching a face ---------------------------------------------------------------------------------------------

BELOW, ABOVE = np.nextafter(1.0, 0.0), np.nextafter(1.0, 2.0)


@pytest.mark.parametrize("beyond", [1.0, 3.0])
@pytest.mark.parametrize("speed", [0.999, BELOW, 1.0, ABOVE, 1.001])
def test_a_parabola_that_touches_a_plane_from_below(speed, beyond):
    """Its top is on the plane x = 1 for the speed 1; both sides pull back: a little beyond makes no difference."""
    motion = one_point([1.0] * 5 + [beyond] * 4, [0.5], [speed])
    state = motion.advance(2.0)
    over = np.sqrt(max(speed**2 - 1.0, 0.0))  # the velocity at the plane
    late = 2.0 * over / beyond - 2.0 * over  # beyond the plane it is another parabola
    t = 2.0 * speed + late  # back at the start
    assert motion.advance(t + 1.0).v[0, 0] == pytest.approx(-speed - 1.0, abs=round_off.of(2.0))
    assert state.q[0, 0] == pytest.approx(0.5 + speed * (2.0 - late) - 0.5 * (2.0 - late) ** 2, abs=1e-14)
    assert lattice_total(motion, state) == pytest.approx(0.5 * speed**2 + 0.5, rel=round_off.of(1.0))


@pytest.mark.parametrize(("speed", "side"), [(0.999, -1), (BELOW, -1), (1.0, 1), (ABOVE, 1), (1.001, 1)])
def test_a_ridge(speed, side):
    """On the ridge at rest more than one motion is possible; the one that goes over is taken."""
    motion = one_point([1.0] * 5 + [-1.0] * 4, [0.5], [speed])
    end = motion.advance(2.5)
    assert np.sign(end.q[0, 0] - 1.0) == side
    assert lattice_total(motion, end) == pytest.approx(0.5 * speed**2 + 0.5, rel=1e-15)
    if speed == 1.0:
        assert end.q[0, 0] == 1.0 + 0.5 * 1.5**2


@pytest.mark.parametrize("change", [-(2.0**-10), -(2.0**-50), 0.0, 2.0**-50, 2.0**-10])
def test_two_coordinates_that_touch_the_face_between_them(change):
    """z_1 − z_0 has its top at 2, where the fractions are equal: a spring of no length, of slope 1.5 and then 2.5."""
    system = System(np.ones(2), {"spring": Bars([[0, 1]], EngineeringStrain(1.0, 0.0), dim=1)}, dim=1)
    start = system.state([[0.75], [2.375]], [[-0.75 - change], [0.75 + change]])
    motion = ForceStepping(1.0, offset=0.0).start(system, start)
    before = lattice_total(motion, start)
    rate = 1.5 + 2.0 * change
    over = np.sqrt(max(rate**2 - 2.25, 0.0))
    back = 2.0 * (rate - over) / 3.0 + 2.0 * over / 5.0  # d is where it was
    end = motion.advance(back)
    # A time at which two parabolas just touch is known to √ε only; on either side of it the motion is V_h's own.
    tolerance = 1e-14 if abs(change) > 1e-12 else 5e-8
    assert np.abs(end.q - start.q).max() < tolerance
    assert np.abs(end.v + start.v).max() < tolerance
    assert lattice_total(motion, end) == pytest.approx(before, rel=round_off.of(1.0))


# -- starting on a face ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("below", "above"), [(1.0, 2.0), (2.0, 1.0), (-1.0, -2.0), (-2.0, -1.0)])
def test_a_start_on_a_plane_along_it_leaves_to_the_side_both_slopes_point_to(below, above):
    motion = one_point([below] * 4 + [above] * 4, [0.0, 0.3], [0.0, 1.0])
    end = motion.advance(1.0)
    slope = below if below > 0 else above
    np.testing.assert_allclose(end.q[0], [-0.5 * slope, 1.3], rtol=round_off.of(1.0))
    np.testing.assert_allclose(end.v[0], [-slope, 1.0], rtol=round_off.of(1.0))


def test_a_start_on_a_ridge_along_it_goes_up():
    """One of the motions that are possible."""
    motion = one_point([1.0] * 4 + [-1.0] * 4, [0.0, 0.3], [0.0, 1.0])
    end = motion.advance(1.0)
    np.testing.assert_allclose(end.q[0], [0.5, 1.3], rtol=1e-15)
    assert abs(lattice_total(motion, end) - 0.5) < 1e-15


def test_a_start_in_a_trough_along_it_is_told():
    """The motion slides along the plane; there is none from simplex to simplex."""
    spring = Bars([[0, 1]], EngineeringStrain(1.0, 0.0), dim=2)
    system = System(np.ones(2), {"spring": spring}, dim=2, fixed=np.array([[True, True], [False, False]]))
    start = system.state([[0.0, 0.0], [0.0, 0.3]], [[0.0, 0.0], [0.0, 1.0]])
    with pytest.raises(StepFailed, match="makes no progress at t = 0 s, node 1, direction x: events pile up"):
        ForceStepping(1.0, offset=0.0).start(system, start)


def test_held_in_the_trough_it_slides():
    """What slides can be held: a coordinate fixed on its plane moves as on the bottom of the trough."""
    energies = {"slopes": Slopes([-1.0] * 4 + [1.0] * 4)}
    system = System(np.ones(1), energies, dim=2, fixed=np.array([[True, False]]))
    motion = ForceStepping(1.0, offset=0.0).start(system, State(0.0, *np.array([[[0.0, 0.3]], [[0.0, 1.0]], [[0, 0]]])))
    np.testing.assert_allclose(motion.advance(2.0).q[0], [0.0, 2.3], rtol=1e-15)


def test_tied_coordinates_with_equal_rates_in_a_trough_are_told():
    """Two points, tied by a spring of no length, at the same place in their cells and with the same velocity."""
    system = System(np.ones(2), {"spring": Bars([[0, 1]], EngineeringStrain(1.0, 0.0), dim=1)}, dim=1)
    start = system.state([[0.25], [0.25]], [[1.0], [1.0]])
    with pytest.raises(StepFailed, match="makes no progress at t = 0 s"):
        ForceStepping(1.0, offset=0.0).start(system, start)


@pytest.mark.parametrize("slow", [1e-15, 1e-12, 1e-10])
def test_nearly_sliding_is_told(slow):
    """They bounce in the trough faster than times can be distinguished, and each event takes hardly any time."""
    system = System(np.ones(2), {"spring": Bars([[0, 1]], EngineeringStrain(1.0, 0.0), dim=1)}, dim=1)
    start = system.state([[0.25], [0.25]], [[1.0], [1.0 + slow]])
    with pytest.raises(StepFailed, match=r"makes no progress at t = .*: events pile up"):
        ForceStepping(1.0, offset=0.0).start(system, start).advance(1.0)


# -- several faces at once ---------------------------------------------------------------------------------------


def chain(n):
    """Points on a line with springs between all of them."""
    return System(np.linspace(1.0, 2.0, n), {"springs": Bars(all_pairs(n), EngineeringStrain(2.0, 0.8), dim=1)}, dim=1)


@pytest.mark.parametrize("seed", range(6))
def test_tied_coordinates_with_different_rates_follow_the_walk_and_their_neighbours(seed):
    rng = np.random.default_rng(seed)
    system = chain(5)
    q = rng.permutation(5)[:, None] + 0.25  # a fraction of ¼ for all; the grid is ½
    v = rng.permutation(5)[:, None] - 2.25
    start = system.state(q, v)
    motion = ForceStepping(0.5, offset=0.0).start(system, start)
    before = lattice_total(motion, start)
    end = motion.advance(3.0)
    walk = kuhn_walk(system, start, [3.0], 0.5, motion.offset)
    assert lattice_total(motion, end) == pytest.approx(before, rel=1e-13)
    assert motion.statistics()["events"] > 50
    assert np.abs(end.q - walk.states[-1].q).max() < 1e-12
    next_to = system.state(q + 1e-11 * rng.normal(size=q.shape), v)
    assert np.abs(ForceStepping(0.5, offset=0.0).start(system, next_to).advance(3.0).q - end.q).max() < 1e-8


@pytest.mark.parametrize("place", [0.0, 0.25, 0.3])
def test_three_that_meet_at_one_point_again_and_again(place):
    """Symmetric about the middle one, which rests: at distances of 1 and 2 all three have one fraction.

    The motion is that of the distance r alone: twice the spring of r, interpolated between integers, and the spring
    of 2r, between half-integers; a point of mass 2 in one dimension, which has no ties.
    """
    system = System(np.ones(3), {"springs": Bars(all_pairs(3), EngineeringStrain(1.0, 0.0), dim=1)}, dim=1)
    r, rate = 1.3, -0.45
    start = system.state(place + np.array([[-r], [0.0], [r]]), [[-rate], [0.0], [rate]])
    motion = ForceStepping(1.0, offset=place).start(system, start)

    halves = 0.5 * np.arange(-6, 7)
    V = np.interp(halves, np.arange(-3, 4), np.arange(-3.0, 4.0) ** 2) + 2.0 * halves**2
    alone = one_point(np.diff(V)[2:] / 0.5, [r], [rate], mass=2.0, width=0.5)
    before = lattice_total(motion, start)
    for t in np.linspace(0.5, 30.0, 60):
        found, expected = motion.advance(t), alone.advance(t)
        assert found.q[:, 0] - place == pytest.approx(expected.q[0, 0] * np.array([-1.0, 0.0, 1.0]), abs=1e-11)
        assert lattice_total(motion, found) == pytest.approx(before, rel=1e-13)
    assert motion.statistics()["events"] > 100


def test_inverted_data_stay_inverted():
    """Kuhn's triangulation is its own image under q → −q if the lattice is; four atoms, two and two opposite."""
    pairs = Bars(all_pairs(4), LennardJones(1.0, 1.0), dim=2)
    system = System(np.ones(4), {"argon": pairs}, dim=2)
    q, v = np.array([[0.61, 0.13], [-0.17, 0.93]]), np.array([[0.2, -0.4], [0.3, 0.1]])
    start = system.state(np.vstack([q, -q]), np.vstack([v, -v]))
    motion = ForceStepping(0.02, offset=0.0).start(system, start)
    before = lattice_total(motion, start)
    for t in np.linspace(0.25, 2.0, 8):
        state = motion.advance(t)
        assert np.abs(state.q[:2] + state.q[2:]).max() < 1e-11
        assert lattice_total(motion, state) == pytest.approx(before, rel=1e-12)
    assert np.abs(state.q - start.q).max() > 0.3
    assert motion.statistics()["events"] > 1000
