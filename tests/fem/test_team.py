"""Kernels over ranges, shared by threads that stay awake: results in order, phases in turn, small jobs alone."""

import copy
import threading
from math import inf

import numpy as np
import pytest

from symplex.fem.assembly import team
from symplex.fem.compiled import threads
from symplex.fem.compiled.kernels import kernel


@kernel
def note(clock, begun, first, last):
    """Note in which order ranges begin; return the first of the range."""
    for k in range(first, last):
        begun[k] = clock[0]
        clock[0] += 1.0
    return float(first)


@kernel
def double(x, out, first, last):
    """Double numbers, slowly; return their sum."""
    total = 0.0
    for k in range(first, last):
        for _ in range(20_000):
            out[k] = 0.5 * (out[k] + 2.0 * x[k])
        total += out[k]
    return total


def task_of(function, arguments, phases):
    """Return what makes the task of a kernel."""
    return lambda: phases.task(team._address(function, arguments), arguments)


def test_the_time_of_the_first_call_does_not_count(monkeypatch):
    monkeypatch.setattr(threads, "count", lambda: 2)
    phases, x = team.Phases([(0, 1), (1, 2)]), np.ones(2)
    phases.run(double, x, np.zeros(2))
    assert phases._seconds == {double: 0.0}
    phases.run(double, x, np.zeros(2))
    assert 0.0 < phases._seconds[double] < inf


@pytest.mark.usefixtures("always_shared")
@pytest.mark.parametrize("number", [1, 2, 3])
def test_results_are_in_the_order_of_the_ranges(monkeypatch, number):
    monkeypatch.setattr(threads, "count", lambda: number)
    phases = team.Phases([(4, 8), (0, 1)], [(1, 4), (8, 12)])
    x = np.arange(12.0)
    for _ in range(50):
        out = np.zeros(12)
        assert phases.run(double, x, out) == [2 * x[a:b].sum() for a, b in ((4, 8), (0, 1), (1, 4), (8, 12))]
        np.testing.assert_array_equal(out, 2 * x)


@pytest.mark.usefixtures("always_shared")
def test_a_phase_begins_when_the_one_before_has_ended(monkeypatch):
    monkeypatch.setattr(threads, "count", lambda: 3)
    phases = team.Phases(*[[(4 * k + i, 4 * k + i + 1) for i in range(4)] for k in range(5)])
    for _ in range(200):
        x, out = np.ones(20), np.zeros(20)
        shifted = [np.ones(20)]
        phases.run(_of_neighbours, x, out)
        for _ in range(1, 5):  # each number is the sum of all of the phase before
            shifted.append(np.full(20, 4.0 * shifted[-1][0]))
        np.testing.assert_array_equal(out, np.repeat([one[0] for one in shifted], 4))


@kernel
def _of_neighbours(x, out, first, last):
    """Set a number to the sum of those of the phase before, of four numbers each; to that of x in the first."""
    before = (first // 4 - 1) * 4
    if before < 0:
        out[first] = x[first]
    else:
        out[first] = out[before] + out[before + 1] + out[before + 2] + out[before + 3]
    return 0.0


def test_others_share_only_what_pays(monkeypatch):
    monkeypatch.setattr(threads, "count", lambda: 2)
    phases, of_team = team.Phases([(k, k + 1) for k in range(4)]), team._Team(1)
    monkeypatch.setattr(team, "_team", lambda helpers: of_team)
    clock, begun = np.zeros(1), np.zeros(4)
    phases._seconds[note] = 1e-6
    for _ in range(3):
        assert phases.run(note, clock, begun) == [0.0, 1.0, 2.0, 3.0]
    assert of_team._number == 0
    np.testing.assert_array_equal(begun, np.arange(8.0, 12.0))
    phases._seconds[double] = 10.0
    phases.run(double, np.ones(4), np.zeros(4))
    assert of_team._number == 1


def test_it_takes_more_to_wake_a_thread():
    of_team = team._Team(1)
    between = 0.5 * (team.AWAKE + team.ASLEEP)
    assert of_team._pays(between, awake=True)
    assert not of_team._pays(between, awake=False)
    assert not of_team._pays(0.0, awake=True)


def test_jobs_that_follow_slow_ones_are_not_shared(monkeypatch):
    of_team = team._Team(1)
    job = task_of(note, (np.zeros(1), np.zeros(2)), team.Phases([(0, 1), (1, 2)])), 2
    monkeypatch.setattr(team, "perf_counter", lambda: 1000.0)
    shared = [of_team.run(*job, 0.0, 500.0) is not None for _ in range(20)]  # it takes twice as long, each time
    assert shared == 4 * [True] + 4 * [False] + 4 * [True] + 8 * [False]
    monkeypatch.setattr(team, "perf_counter", lambda: 0.0)
    assert all(of_team.run(*job, 0.0, 500.0) for _ in range(6))
    for slow in (True, True, True, False) * 5:
        monkeypatch.setattr(team, "perf_counter", lambda slow=slow: 1000.0 * slow)
        assert of_team.run(*job, 0.0, 500.0)


@pytest.mark.usefixtures("always_shared")
def test_jobs_of_several_threads_do_not_meet(monkeypatch):
    monkeypatch.setattr(threads, "count", lambda: 2)
    failed = []

    def work(seed):
        phases, x = team.Phases([(k, k + 1) for k in range(6)]), np.random.default_rng(seed).random(6)
        expected = [double(x, np.zeros(6), k, k + 1) for k in range(6)]
        for _ in range(100):
            if phases.run(double, x, np.zeros(6)) != expected:
                failed.append(seed)

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failed


@pytest.mark.usefixtures("always_shared")
def test_helpers_are_asleep_before_python_ends():
    of_team, phases = team._Team(2), team.Phases([(0, 1), (1, 2)])
    for _ in range(3):
        of_team.run(task_of(double, (np.ones(2), np.zeros(2)), phases), 2, 0.0, 500.0)
    for _ in range(60):  # seconds at most, where others use the processors
        of_team.rest()
    assert all(helper.asleep for helper in of_team._helpers)
    assert of_team.run(task_of(double, (np.ones(2), np.zeros(2)), phases), 2, 0.0, 500.0) is not None


@pytest.mark.usefixtures("always_shared")
def test_numbers_of_jobs_begin_again():
    """Four bytes hold them: a run of days has more jobs."""
    of_team, phases, x = team._Team(1), team.Phases([(k, k + 1) for k in range(4)]), np.arange(4.0)
    expected = [double(x, np.zeros(4), k, k + 1) for k in range(4)]
    of_team._number = team._MOST_JOBS - 2
    for _ in range(5):
        out = np.zeros(4)
        assert of_team.run(task_of(double, (x, out), phases), 2, 0.0, 500.0) == expected
        np.testing.assert_array_equal(out, expected)
    assert of_team._number == 3


def test_functions_that_are_not_compiled_run_phase_by_phase(monkeypatch):
    monkeypatch.setattr(threads, "count", lambda: 2)
    seen = []
    phases = team.Phases([(0, 1), (1, 2)], [(2, 3), (3, 4)])
    assert phases.run(lambda x, first, last: seen.append(first) or x + last, 10) == [11, 12, 13, 14]
    assert sorted(seen[:2]) == [0, 1]


def test_copies_have_the_same_ranges():
    phases = team.Phases([(0, 2), (2, 3)], [(3, 9)])
    phases._seconds[double] = inf
    other = copy.deepcopy(phases)
    assert other._ranges == phases._ranges
    np.testing.assert_array_equal(other._ends, phases._ends)
    assert not other._seconds
