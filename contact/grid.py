"""A grid in which boxes that overlap are found: several levels of cells, by the sizes of boxes.

Each box lies in one cell only, that of its centre, of a level whose cells are as large as its boxes. So whatever
overlaps a box is in a few cells about it, on levels of boxes not smaller than itself; the others are found from their
side. Cells are numbered modulo a power of two in each direction: bodies may be anywhere, and cells that coincide so
cost a comparison of boxes and nothing else.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.compiled.kernels import formula, inlined, kernel

LEVELS = 12
_RATIO = 4.0  # of the sizes of boxes on one level
_MOST_CELLS = 1e9  # along an axis: beyond them rounding would matter


class Grid(NamedTuple):
    """Boxes sorted by the cells of a grid."""

    order: IntArray  # [m]: whose box stands at a place
    boxes: Array  # [m, 6]: their lower and upper corners in m, by place
    levels: IntArray  # [LEVELS + 1]: the first place of each level, largest boxes first
    cells: IntArray  # [c]: the first place of each cell, of all levels, and the end of its last one
    offset: NDArray[np.int64]  # [LEVELS]: where the cells of a level begin
    number: NDArray[np.int64]  # [LEVELS, 3]: of cells in each direction, powers of two
    size: Array  # [LEVELS]: edge length of a cell in m
    ends: Array  # [2, 3]: the lower and the upper corner in m of the box of all centres; cells begin at the lower one


@kernel
def boxes_of_bodies(vertices, bodies, q0, q1, distance, regions):
    """Fill the boxes [bodies, 6] of all vertices of each body, as `boxes_within` has them."""
    for b in range(len(regions)):
        regions[b, :3], regions[b, 3:] = np.inf, -np.inf
    half = 0.5 * distance
    for i in range(len(vertices)):
        n, b = vertices[i], bodies[i]
        for j in range(3):
            regions[b, j] = min(regions[b, j], min(q0[n, j], q1[n, j]) - half)
            regions[b, 3 + j] = max(regions[b, 3 + j], max(q0[n, j], q1[n, j]) + half)


@kernel
def boxes_within(nodes, bodies, q0, q1, distance, regions, near):
    """Return boxes [p, 6] of those primitives [m, k] that overlap the region of a body near theirs, and their indices.

    A box holds a primitive at both positions, and half a distance about it.
    """
    boxes, members = np.empty((len(nodes), 6)), np.empty(len(nodes), np.int32)
    half = 0.5 * distance
    kept = 0
    for i in range(len(nodes)):
        for j in range(3):
            low, high = np.inf, -np.inf
            for a in range(nodes.shape[1]):
                n = nodes[i, a]
                low = min(low, min(q0[n, j], q1[n, j]))
                high = max(high, max(q0[n, j], q1[n, j]))
            boxes[kept, j] = low - half
            boxes[kept, 3 + j] = high + half
        for b in range(len(regions)):
            if near[bodies[i], b] and overlap(boxes, kept, regions, b):
                members[kept] = i
                kept += 1
                break
    return boxes[:kept], members[:kept]


@inlined
def overlap(boxes, i, others, j):
    """Return whether two boxes have a point in common."""
    # No branch but one: which of the six decides is unpredictable.
    return (
        (boxes[i, 0] <= others[j, 3])
        & (others[j, 0] <= boxes[i, 3])
        & (boxes[i, 1] <= others[j, 4])
        & (others[j, 1] <= boxes[i, 4])
        & (boxes[i, 2] <= others[j, 5])
        & (others[j, 2] <= boxes[i, 5])
    )


@kernel
def largest_extent(boxes):
    """Return the largest edge in m of boxes [m, 6]."""
    largest = 0.0
    for i in range(len(boxes)):
        largest = max(largest, _extent(boxes, i))
    return largest


@formula
def _extent(boxes, i):
    return max(boxes[i, 3] - boxes[i, 0], boxes[i, 4] - boxes[i, 1], boxes[i, 5] - boxes[i, 2])


@kernel
def arrange(boxes, members, largest, least):
    """Return what a `Grid` of the boxes [m, 6] of some members [m] is made of.

    None is larger than ``largest``, no cell smaller than ``least``, both in m.
    """
    m = len(boxes)
    ends = np.empty((2, 3))
    origin, upper = ends[0], ends[1]
    origin[:], upper[:] = np.inf, -np.inf
    level = np.empty(m, np.int32)
    levels = np.zeros(LEVELS + 1, np.int32)
    size = np.zeros(LEVELS)
    for i in range(m):
        extent = _extent(boxes, i)
        of = 0
        bound = largest / _RATIO
        while of < LEVELS - 1 and extent < bound:
            of += 1
            bound /= _RATIO
        level[i] = of
        levels[of + 1] += 1
        size[of] = max(size[of], extent)
        for j in range(3):
            centre = 0.5 * (boxes[i, j] + boxes[i, 3 + j])
            origin[j] = min(origin[j], centre)
            upper[j] = max(upper[j], centre)
    spread = 0.0
    for j in range(3):
        spread = max(spread, upper[j] - origin[j])

    offset = np.zeros(LEVELS, np.int64)
    number = np.ones((LEVELS, 3), np.int64)
    total = 0
    for of in range(LEVELS):
        count = levels[of + 1]
        offset[of] = total
        if count == 0:
            continue
        # Slightly larger than the boxes, so that rounding does not matter.
        size[of] = max(size[of] * (1.0 + 1e-6), least, spread / _MOST_CELLS, 1e-150)
        for j in range(3):
            while number[of, j] * size[of] <= upper[j] - origin[j] and number[of, j] < 4 * count:
                number[of, j] *= 2
        while number[of, 0] * number[of, 1] * number[of, 2] > max(4 * count, 8):
            widest = 0
            for j in range(1, 3):
                if number[of, j] > number[of, widest]:
                    widest = j
            number[of, widest] //= 2
        total += number[of, 0] * number[of, 1] * number[of, 2]
    for of in range(LEVELS):
        levels[of + 1] += levels[of]

    # Sorted by counting.
    cells = np.zeros(total + 1, np.int32)
    cell = np.empty(m, np.int64)
    for i in range(m):
        of = level[i]
        z = _wrapped(0.5 * (boxes[i, 2] + boxes[i, 5]), origin[2], size[of], number[of, 2])
        y = _wrapped(0.5 * (boxes[i, 1] + boxes[i, 4]), origin[1], size[of], number[of, 1])
        x = _wrapped(0.5 * (boxes[i, 0] + boxes[i, 3]), origin[0], size[of], number[of, 0])
        cell[i] = offset[of] + (z * number[of, 1] + y) * number[of, 0] + x
        cells[cell[i] + 1] += 1
    for k in range(total):
        cells[k + 1] += cells[k]
    order = np.empty(m, np.int32)
    sorted_boxes = np.empty((m, 6))
    for i in range(m):
        place = cells[cell[i]]
        cells[cell[i]] += 1
        order[place] = members[i]
        for j in range(6):
            sorted_boxes[place, j] = boxes[i, j]
    for k in range(total, 0, -1):
        cells[k] = cells[k - 1]
    cells[0] = 0
    return order, sorted_boxes, levels, cells, offset, number, size, ends


@formula
def _wrapped(x, origin, size, number):
    return np.int64(np.floor((x - origin) / size)) & (number - 1)


@kernel
def most_rows(grid):
    """Return into how many stretches of boxes `find_stretches` may divide what is near a box, at most."""
    most = 1
    for level in range(LEVELS):
        most = max(most, 2 * grid.number[level, 1] * grid.number[level, 2])
    return most


@formula
def find_stretches(boxes, i, grid, level, out):
    """Find the places where boxes of one level may overlap another box; return how many stretches, in out [·, 2]."""
    if grid.levels[level] == grid.levels[level + 1]:
        return 0
    size, ends = grid.size[level], grid.ends
    # Centres of what overlaps are in the box enlarged by half a cell.
    nx, ny, nz = grid.number[level]
    x, along_x = _cells(boxes[i, 0], boxes[i, 3], ends[0, 0], ends[1, 0], size, nx)
    y, along_y = _cells(boxes[i, 1], boxes[i, 4], ends[0, 1], ends[1, 1], size, ny)
    z, along_z = _cells(boxes[i, 2], boxes[i, 5], ends[0, 2], ends[1, 2], size, nz)
    if along_x <= 0 or along_y <= 0 or along_z <= 0:
        return 0
    count = 0
    for k in range(along_z):
        for h in range(along_y):
            row = grid.offset[level] + (((z + k) & (nz - 1)) * ny + ((y + h) & (ny - 1))) * nx
            # Cells along x are one stretch, or two where they go around the end of the row.
            first, left = x & (nx - 1), along_x
            while left > 0:
                last = min(first + left, nx)
                begin, end = grid.cells[row + first], grid.cells[row + last]
                if begin < end:
                    out[count, 0], out[count, 1] = begin, end
                    count += 1
                left -= last - first
                first = 0
    return count


@formula
def _cells(low, high, origin, upper, size, number):
    """Return the first cell along an axis in which centres within half a cell of an interval may be, and how many."""
    low, high = max(low, origin - size), min(high, upper + size)
    if not low <= high:
        return np.int64(0), np.int64(0)
    first = np.int64(np.floor((low - origin) / size - 0.5))
    return first, min(np.int64(np.floor((high - origin) / size + 0.5)) - first + 1, number)
