"""Counting the simplex crossings that change no force: of coordinates that share no local energy."""

import numpy as np

from symplex.fem.compiled.kernels import uncounted_formula, uncounted_kernel
from symplex.time.events.interaction import STAR
from symplex.time.events.lattice_access import FOUR, ONE, split
from symplex.time.events.lattice_tracks import ACCEL, CELL, FRACTION, OTHER_CROSSINGS, RATE, START, WEIGHT


@uncounted_formula
def _planes_between(r0, r1):
    return abs(np.floor(r1) - np.floor(r0))


@uncounted_formula
def _integers_crossed(r, w, a, tau):
    """Count how often r + w τ + a τ²/2 crosses an integer until τ."""
    end = r + tau * (w + 0.5 * tau * a)
    if w * (w + tau * a) < 0.0:  # it turns in between
        turn = r - 0.5 * w * w / a
        return _planes_between(r, turn) + _planes_between(turn, end)
    return _planes_between(r, end)


@uncounted_formula
def _motion_from(lattice, tracks, i, t):
    """Return ⌊z⌋ (0 where mirrored), f, ḟ and f̈ of dof i at the time t."""
    node, c = split(i)
    parabola = tracks.track[node]
    tau, w, a = t - parabola[START, c], parabola[RATE, c], parabola[ACCEL, c]
    cell = 0.0 if lattice.mirrored[node * lattice.dim + c] else tracks.dof[i, CELL]
    return cell, parabola[FRACTION, c] + tau * (w + 0.5 * tau * a), w + tau * a, a


@uncounted_formula
def _start(tracks, i):
    node, c = split(i)
    return tracks.track[node, START, c]


@uncounted_formula
def _crossings_of_pair(lattice, tracks, i, j, t):
    """Count the crossings of two dofs until t, since the later of their last changes."""
    start = max(_start(tracks, i), _start(tracks, j))
    tau = t - start
    cell_i, f_i, w_i, a_i = _motion_from(lattice, tracks, i, start)
    cell_j, f_j, w_j, a_j = _motion_from(lattice, tracks, j, start)
    return _integers_crossed((cell_j - cell_i) + (f_j - f_i), w_j - w_i, a_j - a_i, tau)


@uncounted_formula
def count_others(things, lattice, tracks, i, t):
    """Count the crossings of dof i with all dofs outside its star since the last change of either.

    Called before the parabola of i changes, or at the end; a pair's difference is one parabola since
    the later of the two last changes.
    """
    node, _ = split(i)
    k, stop = things.node[node, STAR] + ONE, things.node[node + ONE, STAR]
    crossings = 0.0
    for a in range(len(tracks.track)):
        if a == node:
            continue
        if k < stop and things.star[k] == a:
            k += ONE
            continue
        for c in range(lattice.dim):
            j = np.uint32(a) * FOUR + c
            if tracks.dof[j, WEIGHT] > 0.0:
                crossings += _crossings_of_pair(lattice, tracks, i, j, t)
    tracks.count[OTHER_CROSSINGS] += int(crossings)


@uncounted_kernel
def count_rest(things, lattice, tracks, t):
    """Return the crossings of non-interacting pairs between their last change and the time t in s."""
    before = tracks.count[OTHER_CROSSINGS]
    for i in range(len(tracks.dof)):
        if tracks.dof[i, WEIGHT] > 0.0:
            count_others(things, lattice, tracks, np.uint32(i), t - tracks.epoch[0])
    twice = tracks.count[OTHER_CROSSINGS] - before
    tracks.count[OTHER_CROSSINGS] = before
    return twice // 2
