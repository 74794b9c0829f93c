"""Counting the simplex crossings that change no force: of coordinates that share no local energy."""

import numpy as np
from numba import njit

from symplex.time.lattice_tracks import ACCEL, CELL, FRACTION, OTHER_CROSSINGS, RATE, SIGN, START

_jit = njit(cache=True, error_model="numpy", fastmath={"contract"})


@_jit
def _planes_between(r0, r1):
    return abs(np.floor(r1) - np.floor(r0))


@_jit
def _integers_crossed(r, w, a, tau):
    """Count how often r + w τ + a τ²/2 crosses an integer until τ."""
    end = r + tau * (w + 0.5 * tau * a)
    if w * (w + tau * a) < 0.0:  # it turns in between
        turn = r - 0.5 * w * w / a
        return _planes_between(r, turn) + _planes_between(turn, end)
    return _planes_between(r, end)


@_jit
def _motion_from(row, t):
    """Return z less its cell, ż and z̈ of one dof at the time t."""
    tau, s = t - row[START], row[SIGN]
    f = row[FRACTION] + tau * (row[RATE] + 0.5 * tau * row[ACCEL])
    return s * f, s * (row[RATE] + tau * row[ACCEL]), s * row[ACCEL]


@_jit
def _crossings_of_pair(me, you, t, mirrored):
    """Count the crossings of two dofs until t, since the later of their last changes."""
    start = max(me[START], you[START])
    tau = t - start
    f_i, w_i, a_i = _motion_from(me, start)
    f_j, w_j, a_j = _motion_from(you, start)
    difference = (you[CELL] - me[CELL]) + (f_j - f_i)
    if not mirrored:
        return _integers_crossed(difference, w_j - w_i, a_j - a_i, tau)
    # Equal distances from the nearest even vertices: z_j − z_i or z_j + z_i is even.
    total = (you[CELL] + me[CELL]) + (f_j + f_i)
    return _integers_crossed(0.5 * difference, 0.5 * (w_j - w_i), 0.5 * (a_j - a_i), tau) + _integers_crossed(
        0.5 * total, 0.5 * (w_j + w_i), 0.5 * (a_j + a_i), tau
    )


@_jit
def count_others(things, lattice, tracks, i, t):
    """Count the crossings of dof i with all dofs outside its star since the last change of either.

    Called before the parabola of i changes, or at the end; a pair's difference is one parabola since
    the later of the two last changes.
    """
    dof = tracks.dof
    node = i // lattice.dim
    k, stop = things.star_ptr[node], things.star_ptr[node + np.uint32(1)]
    crossings = 0.0
    for j in range(len(dof)):
        if k < stop and things.star[k] == j:
            k += np.uint32(1)
            continue
        if lattice.inertia[j] == np.inf:
            continue
        crossings += _crossings_of_pair(dof[i], dof[j], t, lattice.mirrored)
    tracks.count[OTHER_CROSSINGS] += int(crossings)


@_jit
def count_rest(things, lattice, tracks, t):
    """Return the crossings of non-interacting pairs between their last change and the time t in s."""
    before = tracks.count[OTHER_CROSSINGS]
    for k in range(len(tracks.dof)):
        i = np.uint32(k)
        if lattice.inertia[i] < np.inf:
            count_others(things, lattice, tracks, i, t - tracks.epoch[0])
    twice = tracks.count[OTHER_CROSSINGS] - before
    tracks.count[OTHER_CROSSINGS] = before
    return twice // 2
