"""Marching with observers, and recording."""

import numpy as np
import pytest

from symplex.errors import StepFailed
from symplex.time.events.force_stepping import ForceStepping
from symplex.time.explicit.newmark import Newmark
from symplex.time.trajectory import Recorder, march, record

TIMES = np.linspace(0.0, 2e-6, 5)


def test_states_are_those_of_the_motion(impact_of):
    system, start = impact_of("I")
    newmark = Newmark(dt=1e-8)
    motion = newmark.start(system, start)
    for state, t in zip(march(system, newmark, start, TIMES), TIMES, strict=True):
        expected = motion.advance(t)
        assert state.t == pytest.approx(t)
        assert np.array_equal(state.q, expected.q)


def test_observers_see_each_state_in_turn(impact_of):
    system, start = impact_of("I")
    seen = []
    observers = [lambda motion, state: seen.append(("a", state.t)), lambda motion, state: seen.append(("b", state.t))]
    states = list(march(system, ForceStepping(5e-4), start, TIMES, observers))
    assert seen == [(name, state.t) for state in states for name in "ab"]


def test_a_record_holds_all_that_is_conserved(impact_of):
    system, start = impact_of("I")
    trajectory = record(system, ForceStepping(5e-4), start, TIMES)
    assert trajectory.t.tolist() == TIMES.tolist()
    assert trajectory.q.shape == trajectory.v.shape == (5, 71, 3)
    assert list(trajectory.energies) == ["kinetic", "strain", "wall", "total", "lattice_total"]
    assert np.ptp(trajectory.energies["lattice_total"]) < 1e-12 * trajectory.energies["lattice_total"][0]
    assert trajectory.energies["strain"][-1] > 1e4
    assert trajectory.momentum[0] == pytest.approx([2700.0] * 3)
    assert trajectory.angular_momentum.shape == (5, 3)
    last = trajectory.energies["kinetic"][-1]
    assert last == pytest.approx(system.kinetic(trajectory.v[-1]))


def test_what_was_recorded_before_a_failure_is_kept(impact_of):
    system, start = impact_of("III")
    recorder = Recorder()
    with pytest.raises(StepFailed):
        list(march(system, ForceStepping(2e-3), start, np.linspace(0.0, 1e-6, 101), [recorder]))
    trajectory = recorder.trajectory()
    assert 1 < len(trajectory.t) < 101
    assert len(trajectory.energies["total"]) == len(trajectory.t)


def test_an_empty_record():
    trajectory = Recorder().trajectory()
    assert len(trajectory.t) == 0
    assert trajectory.energies == {}


@pytest.mark.parametrize("times", [np.linspace(0.0, 1e-7, 4), [1e-8, 2.5e-8, 1e-7]])
def test_an_automatic_step_divides_the_times(impact_of, times):
    system, start = impact_of("I")
    trajectory = record(system, Newmark("auto"), start, times)
    assert trajectory.t.tolist() == pytest.approx(list(times), rel=1e-12)
    limit = Newmark("auto").start(system, start).dt
    assert trajectory.motion.dt <= limit
    assert record(system, Newmark(trajectory.motion.dt), start, times).q[-1] == pytest.approx(trajectory.q[-1], abs=0.0)


def test_times_without_a_common_divisor_are_left_to_the_method(impact_of):
    system, start = impact_of("I")
    with pytest.raises(StepFailed, match="not an integer"):
        record(system, Newmark("auto"), start, [1e-8, 1e-8 * np.pi, 1e-7])
