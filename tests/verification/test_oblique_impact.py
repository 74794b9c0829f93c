"""Section 6.3 of the force-stepping paper: two independent integrators, and the published algorithm."""

import numpy as np
import pytest

from reference.algorithm_1_2 import algorithm_1_2
from reference.kuhn_walk import kuhn_walk
from symplex.time.events.force_stepping import ForceStepping
from symplex.time.explicit.newmark import Newmark

GRID = 5e-4
WALL_AXES = np.array([[1, 0, 0], [0, np.sqrt(0.5), np.sqrt(0.5)], [0, -np.sqrt(0.5), np.sqrt(0.5)]])


def check_same_trajectory(impact_of, mesh, until, published):
    system, state = impact_of(mesh)
    motion = ForceStepping(GRID, count_crossings=True).start(system, state)
    events = motion.advance(until)
    walk = published(system, state, [until], GRID, motion.offset)
    end = walk.states[-1]
    assert np.abs(end.v - state.v).max() > 300.0  # m/s: the wall has been felt
    assert np.abs(events.q - end.q).max() < 1e-13
    assert np.abs(events.v - end.v).max() < 1e-6
    assert motion.statistics()["crossings"] == walk.crossings
    assert motion.lattice_potential(events.q) == pytest.approx(walk.lattice_potential[-1], rel=1e-10, abs=1e-6)


@pytest.mark.parametrize(("mesh", "until"), [("I", 6e-6), ("II", 4e-6), ("III", 2e-6)])
@pytest.mark.slow
def test_events_follow_the_walk_from_simplex_to_simplex(impact_of, mesh, until):
    """The crossings that the event loop skips are counted to the last one."""
    check_same_trajectory(impact_of, mesh, until, kuhn_walk)


@pytest.mark.slow
def test_events_follow_the_walk_through_the_whole_impact(impact_of):
    system, state = impact_of("I")
    motion = ForceStepping(GRID, count_crossings=True).start(system, state)
    end = kuhn_walk(system, state, [60e-6], GRID, motion.offset)
    events = motion.advance(60e-6)
    assert np.abs(events.q - end.states[-1].q).max() < 1e-9  # round-off, grown through 1.5 million crossings
    assert motion.statistics()["crossings"] == end.crossings > 1_400_000


@pytest.mark.slow
def test_events_follow_algorithms_1_and_2_as_printed(impact_of):
    check_same_trajectory(impact_of, "I", 1.4e-6, algorithm_1_2)


def rebound(system, motion):
    """Return the mean velocity [3] after the impact in m/s, and the peak strain energy in J."""
    peak = 0.0
    for t in np.linspace(0.0, 60e-6, 301):
        state = motion.advance(t)
        peak = max(peak, system.energies["strain"].total(state.q))
    return np.append(system.momentum(state) / system.mass.sum(), peak)


@pytest.fixture(scope="module")
def newmark(impact_of):
    system, state = impact_of("I")
    return rebound(system, Newmark(dt=2e-9).start(system, state))


def test_newmark_keeps_the_momentum_along_the_wall(newmark):
    assert newmark[0] == pytest.approx(1000.0, abs=1e-10)
    assert newmark[1] == pytest.approx(newmark[2], abs=1e-7)
    assert -860.0 < newmark[1] < -800.0


def test_newmark_keeps_the_energy_nearly(impact_of):
    system, state = impact_of("I")
    motion = Newmark(dt=2e-10).start(system, state)
    totals = [motion.energies(motion.advance(t))["total"] for t in np.linspace(0.0, 12e-6, 61)]
    assert 1e-10 < np.ptp(totals) / totals[0] < 3e-5


@pytest.mark.slow
def test_rebound_converges_to_newmarks(impact_of, newmark):
    """With the lattice along the wall's normal the rebound converges in h, on average over lattice offsets."""
    system, state = impact_of("I")

    def error(h):
        runs = [rebound(system, ForceStepping(h, seed=k, axes=WALL_AXES).start(system, state)) for k in range(4)]
        return np.sqrt(np.mean((np.array(runs) - newmark) ** 2, axis=0))

    coarse, fine = error(1e-3), error(1.25e-4)
    assert np.linalg.norm(fine[:3]) < 0.5 * np.linalg.norm(coarse[:3])
    assert fine[0] < 0.2 * coarse[0]
    assert np.linalg.norm(fine[:3]) < 20.0  # m/s
    assert fine[3] < 0.01 * newmark[3]
