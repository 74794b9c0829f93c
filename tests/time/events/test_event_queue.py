"""The calendar of events gives times in order, however they are spread."""

# numba's declaration of njit does not know all of its options.
# pyright: reportCallIssue=false

import numpy as np
import pytest
from numba import njit

from symplex.time.events.event_queue import VALID, drop_first, empty_calendar, enter, find_first


@njit(_nrt=False)
def replay(calendar, dofs, choices, delays, times, out):
    """Take the first event, give its dof and another one new times, and so on; return how many were taken."""
    for n in range(len(out)):
        if not find_first(calendar, times):
            return n
        t, i = calendar.heap_time[0], calendar.heap_dof[0]
        drop_first(calendar)
        out[n] = t
        dofs[n] = i
        for j, delay in ((i, delays[n, 0]), (choices[n], delays[n, 1])):
            times[j] = t + delay
            enter(calendar, times[j], j)
    return len(out)


def by_sorting(choices, delays, times, n):
    out, dofs = [], []
    for k in range(n):
        i = int(np.lexsort((np.arange(len(times)), times))[0])
        t = times[i]
        if t == np.inf:
            break
        out.append(t)
        dofs.append(i)
        times[i] = t + delays[k, 0]
        times[choices[k]] = t + delays[k, 1]
    return np.array(out), np.array(dofs)


def delays_of(kind, rng, n):
    spread = {
        "even": rng.random((n, 2)),
        "wide": 10.0 ** rng.uniform(-12, 3, (n, 2)),
        "tied": rng.integers(0, 3, (n, 2)).astype(float),
        "ending": np.where(rng.random((n, 2)) < 0.7, rng.random((n, 2)), np.inf),
    }
    return spread[kind]


@pytest.mark.parametrize("kind", ["even", "wide", "tied", "ending"])
@pytest.mark.parametrize("n", [1, 7, 900])
def test_the_order_is_that_of_times_and_then_of_dofs(kind, n):
    rng = np.random.default_rng(n)
    events = 3000
    choices, delays = rng.integers(0, n, events).astype(np.uint32), delays_of(kind, rng, events)
    times = np.zeros(n)  # all at once, as at the start of a motion
    expected, of = by_sorting(choices, delays, times.copy(), events)
    out, dofs = np.zeros(events), np.zeros(events, np.int64)
    taken = replay(empty_calendar(n), dofs, choices, delays, times, out)
    assert taken == len(expected)
    assert np.array_equal(out[:taken], expected)
    assert np.array_equal(dofs[:taken], of)


def test_more_records_than_a_bucket_holds():
    """Times in a cluster overflow their bucket: the dofs are looked through instead."""
    n, calendar = 5000, empty_calendar(5000)
    times = np.where(np.arange(n) % 2 == 0, 0.5 + 1e-9 * np.arange(n), 1.0 * np.arange(n))
    expected = np.lexsort((np.arange(n), times))
    out, dofs = np.zeros(n), np.zeros(n, np.int64)
    never = np.full((n, 2), np.inf)
    replay(calendar, dofs, expected.astype(np.uint32), never, times, out)
    assert np.array_equal(dofs, expected)
    assert calendar.state[VALID]
