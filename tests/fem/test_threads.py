"""Kernels on several threads: results in their order, failures reported, nobody waited for who comes too late."""

import threading
from itertools import pairwise

import pytest

from symplex.fem.compiled import threads


@pytest.mark.parametrize("number", [1, 2, 3, 50])
def test_results_come_in_the_order_of_the_tasks(number):
    assert threads.run(lambda a, b: a - b, [(k, 1) for k in range(20)], number) == [k - 1 for k in range(20)]
    assert threads.run(lambda: 0, [], number) == []


def test_several_threads_work():
    both = threading.Barrier(2, timeout=600)  # neither goes on before the other one is there
    names = threads.run(lambda k: (both.wait(), threading.current_thread().name)[1], [(0,), (1,)], 2)
    assert len(set(names)) == 2


@pytest.mark.parametrize("who", ["caller", "helper"])
def test_a_failure_is_raised_and_nothing_goes_on_after_it(who):
    caller, both, calls = threading.current_thread(), threading.Barrier(2, timeout=600), []

    def kernel(k):
        calls.append(k)
        if k < 2:
            both.wait()  # one each
            if (threading.current_thread() is caller) == (who == "caller"):
                raise ValueError(f"task {k}")

    with pytest.raises(ValueError, match="task"):
        threads.run(kernel, [(k,) for k in range(1000)], 2)
    made = len(calls)
    assert threads.run(lambda k: k, [(1,), (2,)], 2) == [1, 2]
    assert len(calls) == made


def test_threads_that_come_too_late_are_not_waited_for():
    begun, go = threading.Event(), threading.Event()
    busy = threading.Thread(target=threads.run, args=(lambda k: (begun.set(), go.wait(600)), [(0,), (1,)], 2))
    busy.start()
    begun.wait(600)
    try:
        assert threads.run(lambda k: 2 * k, [(k,) for k in range(5)], 2) == [0, 2, 4, 6, 8]
    finally:
        go.set()
        busy.join()


def test_parts_cover_all_nodes_once():
    for n in (0, 1, 4095, 8192, 100_001, 10_000_000):
        parts = threads.parts(n)
        assert parts[0][0] == 0
        assert parts[-1][1] == n
        assert all(a[1] == b[0] for a, b in pairwise(parts))
