"""Which points are near each other: all pairs closer than a distance, found by cells of that size."""

from __future__ import annotations

import numpy as np

from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.compiled.kernels import inlined, kernel

_MOST_CELLS = 2.0**20  # along each axis, so that a number of 62 bits has all three


def neighbours(q: Array, distance: float) -> IntArray:
    """Return the pairs i < j [m, 2] of points q [n, dim] closer than a distance in m, sorted by i and then by j.

    Points are sorted into cells of a grid, of which only those that hold points take any memory: time and memory are in
    proportion to the number of points and pairs (but for the sorting), however far single points have gone. Up to
    three dimensions.
    """
    if len(q) < 2:
        return np.empty((0, 2), np.int32)
    in_space = np.zeros((len(q), 3))
    in_space[:, : q.shape[1]] = q - q.min(axis=0)
    size = max(distance, float(in_space.max()) / _MOST_CELLS) * (1.0 + 1e-9)
    cells = (in_space / size).astype(np.int64)
    counts = cells.max(axis=0) + 3  # with an empty layer on either side
    keys = ((cells[:, 0] + 1) * counts[1] + cells[:, 1] + 1) * counts[2] + cells[:, 2] + 1
    order = np.argsort(keys, kind="stable")
    sorted_keys = keys[order]
    first = _ends(sorted_keys, keys, counts)
    room = 8 * len(q) + 64
    while True:
        pairs = np.empty((room, 2), np.int32)
        found = _add_pairs(q, distance * distance, order, first, pairs)
        if found <= room:
            return pairs[:found].copy()
        room = found


@kernel
def _ends(sorted_keys, keys, counts):
    """Return where the three cells of each of the nine rows around a point begin and end, [n, 9, 2]."""
    ends = np.empty((len(keys), 9, 2), np.int64)
    for n in range(len(keys)):
        for row in range(9):
            middle = keys[n] + ((row // 3 - 1) * counts[1] + row % 3 - 1) * counts[2]
            ends[n, row, 0] = _place(sorted_keys, middle - 1)
            ends[n, row, 1] = _place(sorted_keys, middle + 2)
    return ends


@inlined
def _place(numbers, least):
    """Return the first place among ascending numbers that is not below the least."""
    low, high = 0, len(numbers)
    while low < high:
        middle = (low + high) // 2
        if numbers[middle] < least:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _add_pairs(q, squared, order, ends, pairs):
    """Write the pairs, sorted, as far as there is room; return how many there are."""
    m = 0
    for n in range(len(q)):
        begin = m
        for row in range(ends.shape[1]):
            for place in range(ends[n, row, 0], ends[n, row, 1]):
                other = order[place]
                if other <= n:
                    continue
                s = 0.0
                for i in range(q.shape[1]):
                    s += (q[other, i] - q[n, i]) ** 2
                if s < squared:
                    if m < len(pairs):
                        j = m
                        while j > begin and pairs[j - 1, 1] > other:
                            pairs[j, 0], pairs[j, 1] = n, pairs[j - 1, 1]
                            j -= 1
                        pairs[j, 0], pairs[j, 1] = n, other
                    m += 1
    return m
