"""A calendar of events: buckets of equal spans of time, of which only the current one is kept in order.

Setting a time is to append a record to a bucket: one write, wherever the dof is, and however many there are. A record
is valid while it is equal to the time of its dof; others are dropped when they come up. Events are in the order of
their times, and of their dofs where times are equal, whatever the buckets are.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.fem.compiled.kernels import uncounted_formula, uncounted_inlined
from symplex.time.events.huge_pages import zeros

AHEAD = 7  # how far to look ahead: empty buckets after the last
CAPACITY = 48  # records of a bucket; if there are more all dofs are looked through when its time has come
_SOON = 1e100  # buckets for a unit of time that leave nothing but one time in the first
PER_BUCKET = 12  # records in a bucket at the time when the calendar is made, on average

# Places in Calendar.span and Calendar.state
BASE, PER_TIME, SPAN = range(3)
CURRENT, WAITING, VALID, NEWS = range(4)


class Calendar(NamedTuple):
    """The times of all dofs, and records of them in buckets.

    Attributes
    ----------
    time : float64 [buckets·CAPACITY]
    dof : uint32 [buckets·CAPACITY]
        The records of the buckets.
    fill : int32 [buckets + AHEAD]
        How many records were appended to each.
    heap_time, heap_dof : float64, uint32 [n + …]
        The records of the current bucket, as a heap.
    span : float64 [3]
        Where the first bucket begins, buckets for a unit of time, and the time span of all.
    state : int64 [4]
        The current bucket, the records in the heap, whether all this is valid, and whether there is anything that those
        who look ahead have not seen.
    seen : int64 [AHEAD]
        For those who look ahead: how many records of the buckets ahead of the current one they have seen.
    """

    time: NDArray[np.float64]
    dof: NDArray[np.uint32]
    fill: NDArray[np.int32]
    heap_time: NDArray[np.float64]
    heap_dof: NDArray[np.uint32]
    span: NDArray[np.float64]
    state: NDArray[np.int64]
    seen: NDArray[np.int64]


def empty_calendar(n: int) -> Calendar:
    """Return a calendar of n dofs, not valid yet."""
    buckets = max(n // PER_BUCKET, 1)
    return Calendar(
        time=zeros((buckets * CAPACITY,)),
        dof=zeros((buckets * CAPACITY,), np.uint32),
        fill=np.zeros(buckets + AHEAD, np.int32),
        heap_time=np.zeros(n + 8 * CAPACITY),
        heap_dof=np.zeros(n + 8 * CAPACITY, np.uint32),
        span=np.array([0.0, 0.0, 1.0]),
        state=np.zeros(4, np.int64),
        seen=np.zeros(AHEAD, np.int64),
    )


@uncounted_inlined
def _before(t, i, s, j):
    return t < s or (t == s and i < j)


@uncounted_formula
def _push(calendar, t, i):
    times, dofs = calendar.heap_time, calendar.heap_dof
    k = calendar.state[WAITING]
    calendar.state[WAITING] = k + 1
    while k > 0:
        up = (k - 1) >> 1
        if not _before(t, i, times[up], dofs[up]):
            break
        times[k], dofs[k] = times[up], dofs[up]
        k = up
    times[k], dofs[k] = t, i


@uncounted_formula
def drop_first(calendar):
    """Remove the first record of the heap."""
    times, dofs = calendar.heap_time, calendar.heap_dof
    n = calendar.state[WAITING] - 1
    calendar.state[WAITING] = n
    t, i, k = times[n], dofs[n], 0
    while True:
        child = 2 * k + 1
        if child >= n:
            break
        if child + 1 < n and _before(times[child + 1], dofs[child + 1], times[child], dofs[child]):
            child += 1
        if not _before(times[child], dofs[child], t, i):
            break
        times[k], dofs[k] = times[child], dofs[child]
        k = child
    times[k], dofs[k] = t, i


@uncounted_inlined
def enter(calendar, t, i):
    """Record that the time of dof i is t, not before the current event."""
    place = (t - calendar.span[BASE]) * calendar.span[PER_TIME]
    if place < calendar.state[CURRENT] + 1:
        if calendar.state[WAITING] == len(calendar.heap_time):
            calendar.state[VALID] = 0  # full of records that are no longer valid: to be rebuilt
        else:
            _push(calendar, t, i)
    elif place < len(calendar.fill) - AHEAD:
        bucket = int(place)
        k = calendar.fill[bucket]
        calendar.fill[bucket] = k + 1
        if k < CAPACITY:
            calendar.time[bucket * CAPACITY + k] = t
            calendar.dof[bucket * CAPACITY + k] = i
        if bucket < calendar.state[CURRENT] + AHEAD:
            calendar.state[NEWS] = 1


@uncounted_formula
def _fit_span(calendar, times, t):
    """Find a span of time from t on into which a good part of all times fall: that of the last time, or twice, or half.

    Where most are at t itself no span will do: a millionth of the time to the last of them is short enough. Where all
    are, any will: what comes later belongs to the next calendar.
    """
    buckets = len(calendar.fill) - AHEAD
    calendar.span[BASE] = t
    span, shortest = calendar.span[SPAN], 0.0
    finite = 0
    for i in range(len(times)):
        if times[i] < np.inf:
            finite += 1
            shortest = max(shortest, 1e-6 * (times[i] - t))
    if shortest == 0.0:
        calendar.span[PER_TIME] = _SOON
        return
    grown = False
    while True:
        inside = 0
        for i in range(len(times)):
            inside += times[i] < t + span
        if 8 * inside < finite:
            span, grown = 2.0 * span, True
        elif 2 * inside > finite and not grown and span > shortest:
            span = 0.5 * span
        else:
            break
    calendar.span[SPAN] = span
    calendar.span[PER_TIME] = buckets / span


@uncounted_formula
def _make(calendar, times):
    """Begin with the earliest time."""
    t = np.inf
    for i in range(len(times)):
        t = min(t, times[i])
    calendar.state[CURRENT] = 0
    calendar.state[WAITING] = 0
    calendar.state[VALID] = 1
    calendar.fill[:] = 0
    calendar.seen[:] = 0
    calendar.state[NEWS] = 1
    if t < np.inf:
        _fit_span(calendar, times, t)
        for i in range(len(times)):
            enter(calendar, times[i], np.uint32(i))


@uncounted_formula
def _open_next(calendar, times):
    """Make the next bucket the current one."""
    calendar.state[CURRENT] += 1
    calendar.seen[:] = 0
    calendar.state[NEWS] = 1
    bucket = calendar.state[CURRENT]
    if calendar.fill[bucket] > CAPACITY:
        for i in range(len(times)):
            if int((times[i] - calendar.span[BASE]) * calendar.span[PER_TIME]) == bucket:
                _push(calendar, times[i], np.uint32(i))
        return
    for k in range(bucket * CAPACITY, bucket * CAPACITY + calendar.fill[bucket]):
        t, i = calendar.time[k], calendar.dof[k]
        if times[i] == t:
            _push(calendar, t, i)


@uncounted_inlined
def find_first(calendar, times):
    """Let the first record of the heap be the earliest time of all; return whether there is one.

    Parameters
    ----------
    calendar : Calendar
    times : float64 [n]
        The times of all dofs, with any stride.
    """
    if calendar.state[VALID] and calendar.state[WAITING] > 0 and times[calendar.heap_dof[0]] == calendar.heap_time[0]:
        return True
    return _find_first(calendar, times)


@uncounted_formula
def _find_first(calendar, times):
    """Do so where the first record is not valid, or there is none."""
    while True:
        if calendar.state[VALID]:
            while calendar.state[WAITING] > 0:
                if times[calendar.heap_dof[0]] == calendar.heap_time[0]:
                    return True
                drop_first(calendar)
            if calendar.state[CURRENT] + 1 < len(calendar.fill) - AHEAD:
                _open_next(calendar, times)
                continue
        _make(calendar, times)
        if calendar.state[WAITING] == 0:
            return False
