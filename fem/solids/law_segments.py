"""Means of a law's derivatives along straight segments of the invariants, as discrete gradients need them.

The means are those of Gauss' rule. Where a positive part sets in, as that of fibres which resist tension only, the
second derivatives of W jump, and Gauss' rule across the jump errs. Hence each segment is split where the argument of a
positive part, a *switch* of the law, changes its sign, and each piece has the rule to itself. Two changes within a
segment, as a switch can have that is not linear in the invariants, are seen if the parabola through the switch at both
ends and in the middle turns in between.
"""

from __future__ import annotations

import numpy as np

from symplex.fem.assembly.pattern import Array
from symplex.fem.compiled.call import call_law
from symplex.fem.compiled.kernels import inlined
from symplex.fem.solids.law_functions import CHUNK, LawFunctions
from symplex.meshes.quadrature import gauss_between


def switches_of(law: LawFunctions, points: int = 0) -> Array:
    """Return what `set_ends` needs to know of the switches of a law; empty if there are none.

    With so many points of an element of mean dilatation, for ways of its metrics.
    """
    if not law.switch_count:
        return np.empty(0)
    from symplex.fem.solids.law_switches import split_at_switches  # with loops that other laws do not need

    address = split_at_switches(points > 0).address
    header = [address, law.switches, law.switch_count, law.fibres, max(points, 1)]  # addresses are below 2⁵³, and exact
    return np.array([*header, *law.parameters], dtype=float)


def rule_of(law: LawFunctions) -> Array:
    """Return the points in [0, 1] and the weights [2, g] of the rule by which derivatives of a law are averaged."""
    return gauss_between(law.gauss_points)


@inlined
def set_ends(switches, ways, n, ends):
    """Set the ends [rows, n] of the pieces of n ways, and return how many pieces there are at most.

    ``switches`` is from `switches_of`, empty if there are none; ``ways`` are the rows that the C function there takes.
    """
    if len(switches) == 0:
        ends[:n] = 0.0
        ends[n:] = 1.0
        return 1
    call_law(int(switches[0]), switches.ctypes.data, ways.ctypes.data, ends.ctypes.data)
    pieces = 1
    for t in range(n, len(ends) - n):
        pieces = max(pieces, (t // n + 1) * (ends[t] < 1.0))
    return pieces


@inlined
def room_of_ends(switches):
    """Return room for the ends of the pieces of segments, and for a place and a weight on each."""
    rows = 2 if len(switches) == 0 else 2 * int(switches[2]) + 2
    return np.empty(rows * CHUNK), np.empty(CHUNK), np.empty(CHUNK)


@inlined
def average(law, parameters, rule, switches, m, rows, segments, room, at, W, means):
    """Set the rows of means to those of W along the segments: the first m as they are, the others times s.

    ``rule`` [2, g] are the points s in [0, 1] and weights of Gauss' rule; ``segments`` are the rows of the middle of
    the invariants and of their changes, ``switches`` is from `switches_of`; room, from `room_of_ends`, at and W are
    work.
    """
    if rule.shape[1] == 1:  # the middle
        call_law(law, parameters, segments.ctypes.data, means.ctypes.data)
        for t in range(m * CHUNK, rows * CHUNK):
            means[t] *= 0.5
        return
    means[:] = 0.0
    ends, s, w = room
    for piece in range(set_ends(switches, segments, CHUNK, ends)):
        for g in range(rule.shape[1]):
            for k in range(CHUNK):
                start, end = ends[piece * CHUNK + k], ends[(piece + 1) * CHUNK + k]
                # An empty piece has no weight, and is evaluated between the ends, where the law has a value.
                s[k] = start + rule[0, g] * (end - start) if end > start else rule[0, g]
                w[k] = rule[1, g] * (end - start)
            for i in range(m):
                for k in range(CHUNK):
                    t = i * CHUNK + k
                    at[t] = segments[t] + (s[k] - 0.5) * segments[m * CHUNK + t]
            call_law(law, parameters, at.ctypes.data, W.ctypes.data)
            for i in range(m):
                for k in range(CHUNK):
                    means[i * CHUNK + k] += w[k] * W[i * CHUNK + k]
            for i in range(m, rows):
                for k in range(CHUNK):
                    means[i * CHUNK + k] += s[k] * w[k] * W[i * CHUNK + k]
