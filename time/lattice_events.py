"""The compiled event loop of force-stepping.

Lattice coordinates z = q/h − o. Each dof i moves on its own parabola until an event. Two kinds exist:

- z_i crosses an integer: the gradient component g_i is computed anew;
- z_j − z_i crosses an integer for a dof j that shares a local energy with i: g_i and g_j change by the
  mixed second difference δ of the energies they share.

The topology is kept in integers that events change by ±1 and that no rounding can touch: ``cell`` = ⌊z_i⌋ and
``gap`` = ⌊z_j − z_i⌋. The lattice vertex seen by i has u_i = ⌊z_i⌋ and u_j = ⌊z_i⌋ + ⌊z_j − z_i⌋ + 1, and
g_i = [φ(u + e_i) − φ(u)]/h_i.

On a mirrored lattice the same holds for f, the distance from the nearest even vertex, in place of z (see
`symplex.time.lattice_tracks`): ``gap`` = ⌊f_j − f_i⌋ is −1 or 0, u_j = ``cell`` + s_j (1 + ``gap``), and all steps are
taken to the side s. At f = 0 and f = 1 the motion is reflected into the mirror image of the cell.

All times inside are counted from an epoch that follows the motion (`_rebase`): the round-off of an event time is that
of the short time since the last events, however long the motion has lasted.

The queue holds one entry per dof, its earliest event, in a tournament tree. A pair of dofs is covered by the entry
of the one that was scheduled last. So an event renews the entries of the dofs it changes and no others; an entry
made stale by a change of its partner is recognised when it comes up (the partner's ``version`` has moved on),
and then renewed. It can only be too early, never too late.
"""

# numba's declaration of njit does not know all of its options.
# pyright: reportCallIssue=false

import numpy as np
from numba import njit

from symplex.fem.call import call_difference, call_mixed
from symplex.time.lattice_crossings import count_others
from symplex.time.lattice_tracks import (
    ACCEL,
    CELL,
    FRACTION,
    GRADIENT,
    INTEGER_EVENTS,
    LOG_ACCELERATION,
    LOG_DOF,
    LOG_EVENT,
    LOG_POSITION,
    LOG_TIME,
    LOG_VELOCITY,
    PAIR_EVENTS,
    RATE,
    RENEWALS,
    SIGN,
    SINCE_EPOCH,
    START,
)

REACHED, PAUSED, INFINITE, STUCK = range(4)  # how advance() ends

_OWN = np.int32(-1)  # partner of an event of the first kind
_NO_SIDE = np.int8(0)
_TIE = 1e-9  # distance in lattice units under which two coordinates, or one and a plane, count as tied
_STUCK_AFTER = 50_000  # events at one and the same time that mean no progress

# Division as in C (no branch for a zero divisor), fused multiply-add. Without numba's reference counts: these
# functions allocate nothing, and counting references to two dozen arrays at each call takes longer than the work.
_OPTIONS = {"cache": True, "error_model": "numpy", "fastmath": {"contract"}}
_jit = njit(**_OPTIONS)
_bare = njit(**_OPTIONS, _nrt=False)
_inlined = njit(**_OPTIONS, _nrt=False, forceinline=True)


# -- the queue ----------------------------------------------------------------------------------------------


@_inlined
def _set_time(key, winner, i, t):
    """Set the time of entry i and play its matches up to the root, as far as they change."""
    k = np.uint32(len(winner) // 2) + i
    key[k] = t
    k >>= np.uint32(1)
    while k >= 1:
        left = k << np.uint32(1)
        right = left + np.uint32(1)
        best = left if key[left] <= key[right] else right
        if key[k] == key[best] and winner[k] == winner[best]:
            return
        key[k] = key[best]
        winner[k] = winner[best]
        k >>= np.uint32(1)


# -- geometry -----------------------------------------------------------------------------------------------


@_inlined
def _first_root(c, b, a):
    """Smallest τ ≥ 0 at which c + b τ + a τ²/2 leaves c ≥ 0, or infinity.

    Written by the sign of b so that nothing cancels, and so that a root at 0 that is being left does not return.
    """
    c = max(c, 0.0)
    disc = b * b - 2.0 * a * c
    if b < 0.0:
        return 2.0 * c / (-b + np.sqrt(disc)) if disc >= 0.0 else np.inf
    if a < 0.0:
        return (b + np.sqrt(disc)) / (-a)
    return np.inf


@_inlined
def _move(dof, t):
    """Restart the parabola of one dof (its row) at the time t."""
    tau = t - dof[START]
    dof[FRACTION] += tau * (dof[RATE] + 0.5 * tau * dof[ACCEL])
    dof[RATE] += tau * dof[ACCEL]
    dof[START] = t


@_inlined
def _schedule(things, lattice, tracks, i, t, other):
    """Find the earliest event of dof i after the time t, with its own planes or any dof of its star.

    Returns whether i is tied: on one of its planes, or on a plane with a dof of its star besides ``other``.
    """
    me = tracks.dof[i]
    tau = t - me[START]
    f_i = me[FRACTION] + tau * (me[RATE] + 0.5 * tau * me[ACCEL])
    w_i = me[RATE] + tau * me[ACCEL]
    a_i, cell_i = me[ACCEL], me[CELL]

    down = _first_root(f_i, w_i, a_i)
    up = _first_root(1.0 - f_i, -w_i, -a_i)
    best = min(down, up)
    side = 1 if up < down else -1
    partner = _OWN
    tied = min(f_i, 1.0 - f_i) < _TIE

    node = i // lattice.dim
    first = things.star_ptr[node]
    row = things.row[i]
    for k in range(things.star_ptr[node + np.uint32(1)] - first):
        j = things.star[first + k]
        you = tracks.dof[j]
        tau = t - you[START]
        a_j = you[ACCEL]
        w = you[RATE] + tau * a_j - w_i
        gap = tracks.gap[row + k]
        cells = 0.0 if lattice.mirrored else you[CELL] - cell_i
        d = (cells - gap) + (you[FRACTION] - f_i) + tau * (you[RATE] + 0.5 * tau * a_j)
        a = a_j - a_i
        below, above = d, 1.0 - d  # distances from the planes
        if lattice.mirrored:  # only f_j = f_i is a plane; the other end is a corner of the cell
            below, above = (d, np.inf) if gap == 0 else (np.inf, 1.0 - d)
        # Out of reach before the best time so far: nine in ten pairs end here, without a root.
        if best * (abs(w) + 0.5 * abs(a) * best) < min(below, above) or j == i:
            continue
        tied |= min(below, above) < _TIE and j != other
        down = _first_root(below, w, a)
        up = _first_root(above, -w, -a)
        if down < best:
            best, side, partner = down, -1, np.int32(k)
        if up < best:
            best, side, partner = up, 1, np.int32(k)

    tracks.partner[i] = partner
    tracks.side[i] = side
    if partner != _OWN:
        tracks.partner_version[i] = tracks.version[things.star[first + np.uint32(partner)]]
    _set_time(tracks.key, tracks.winner, i, t + best)
    return tied


# -- energies at lattice points -----------------------------------------------------------------------------


@_inlined
def _vertex(things, lattice, tracks, i, x):
    """Write into x the positions in m, on the vertex seen by dof i, of all dofs of its star.

    Dofs that do not move belong to no star: their positions stay in x as they are.
    """
    node = i // lattice.dim
    first = things.star_ptr[node]
    row = things.row[i]
    count = things.star_ptr[node + np.uint32(1)] - first
    cell = tracks.dof[i, CELL]
    if lattice.mirrored:
        for k in range(count):
            j = things.star[first + k]
            you = tracks.dof[j]
            x[j] = lattice.spacing[j] * (you[CELL] + you[SIGN] * (tracks.gap[row + k] + 1) + lattice.offset[j])
    else:
        for k in range(count):
            j = things.star[first + k]
            x[j] = lattice.spacing[j] * (cell + 1.0 + tracks.gap[row + k] + lattice.offset[j])
    x[i] = lattice.spacing[i] * (cell + lattice.offset[i])


@_inlined
def _gather(things, stencil, x, local):
    """Copy the coordinates of a stencil's dofs into local."""
    first = things.stencil_ptr[stencil]
    for k in range(things.stencil_ptr[stencil + np.uint32(1)] - first):
        local[k] = x[things.stencil[first + k]]


@_inlined
def _gradient(things, lattice, tracks, i, x, local):
    """g_i = [φ(u + s e_i) − φ(u)]/h_i over the stencils that hold dof i, s its side."""
    node = i // lattice.dim
    component = i - node * lattice.dim
    _vertex(things, lattice, tracks, i, x)
    edge = things.own[node]
    total = 0.0
    for s in range(things.shared_ptr[edge], things.shared_ptr[edge + np.uint32(1)]):
        stencil = things.shared[s]
        _gather(things, stencil, x, local)
        total += call_difference(
            things.difference[things.family[stencil]],
            things.parameters[stencil],
            local.ctypes.data,
            things.place[s] + component,
            tracks.dof[i, SIGN] * lattice.spacing[i],
        )
    return total / lattice.spacing[i]


@_inlined
def _mixed_difference(things, lattice, tracks, i, k, plane, x, local):
    """δ = φ(11) − φ(10) − φ(01) + φ(00) in dof i and the k-th dof j of its star, over the stencils that hold both.

    At the crossing z_j = z_i + plane the lower vertex has u_i = ⌊z_i⌋ and u_j = ⌊z_i⌋ + plane; on a mirrored lattice
    it has the vertices of both.
    """
    dim = lattice.dim
    node_i = i // dim
    j = things.star[things.star_ptr[node_i] + k]
    edge = things.edge[things.star_ptr[node_i] + k]
    component_i, component_j = i - node_i * dim, j % dim
    _vertex(things, lattice, tracks, i, x)
    cell_j = tracks.dof[j, CELL] if lattice.mirrored else tracks.dof[i, CELL] + plane
    x[j] = lattice.spacing[j] * (cell_j + lattice.offset[j])
    total = 0.0
    for s in range(things.shared_ptr[edge], things.shared_ptr[edge + np.uint32(1)]):
        stencil = things.shared[s]
        _gather(things, stencil, x, local)
        total += call_mixed(
            things.mixed[things.family[stencil]],
            things.parameters[stencil],
            local.ctypes.data,
            things.place[s] + component_i,
            things.other_place[s] + component_j,
            tracks.dof[i, SIGN] * lattice.spacing[i],
            tracks.dof[j, SIGN] * lattice.spacing[j],
        )
    return total


# -- events -------------------------------------------------------------------------------------------------


@_inlined
def _renew_gradient(things, lattice, tracks, i, x, local):
    """Compute the gradient component of dof i anew; return whether it is finite."""
    g = _gradient(things, lattice, tracks, i, x, local)
    tracks.dof[i, GRADIENT] = g
    tracks.dof[i, ACCEL] = -g / lattice.inertia[i]
    tracks.version[i] += 1
    return np.isfinite(g)


@_inlined
def _integer_event(things, lattice, tracks, i, t, x, local):
    """Let z_i cross an integer, or none at its first event; return whether the new gradient is finite."""
    me = tracks.dof[i]
    _move(me, t)
    side = tracks.side[i]
    if side != _NO_SIDE:
        if lattice.mirrored:
            me[FRACTION] = 1.0 if side > 0 else 0.0
            me[CELL] += 2.0 * me[SIGN] * me[FRACTION]
            me[SIGN] = -me[SIGN]
            me[RATE] = -me[RATE]
        else:
            me[FRACTION] = 0.0 if side > 0 else 1.0
            me[CELL] += side
        tracks.count[INTEGER_EVENTS] += 1
    return _renew_gradient(things, lattice, tracks, i, x, local)


@_inlined
def _entry_of(things, lattice, j, i):
    """Return the entry of dof i in the row of dof j."""
    first = things.star_ptr[j // lattice.dim]
    k = np.uint32(0)
    while things.star[first + k] != i:
        k += np.uint32(1)
    return things.row[j] + k


@_inlined
def _pair_event(things, lattice, tracks, i, j, t, x, local):
    """Let z_j − z_i cross an integer; return whether the new gradients are finite."""
    tracks.count[PAIR_EVENTS] += 1
    k = np.uint32(tracks.partner[i])
    me, you = tracks.dof[i], tracks.dof[j]
    _move(me, t)
    _move(you, t)

    up = tracks.side[i] > 0
    step = 1 if up else -1
    entry = things.row[i] + k
    plane = tracks.gap[entry] + (1 if up else 0)
    cells = 0.0 if lattice.mirrored else you[CELL] - me[CELL]
    you[FRACTION] = me[FRACTION] + (plane - cells)  # exactly on the plane
    delta = step * _mixed_difference(things, lattice, tracks, i, k, plane, x, local)
    tracks.gap[entry] += step
    tracks.gap[_entry_of(things, lattice, j, i)] -= step
    me[GRADIENT] += delta / lattice.spacing[i]
    you[GRADIENT] -= delta / lattice.spacing[j]
    me[ACCEL] = -me[GRADIENT] / lattice.inertia[i]
    you[ACCEL] = -you[GRADIENT] / lattice.inertia[j]
    tracks.version[i] += 1
    tracks.version[j] += 1
    return np.isfinite(delta)


@_inlined
def _rebase(tracks, t):
    """Let the epoch be the time t (counted from the epoch before)."""
    tracks.epoch[0] += t
    for i in range(len(tracks.dof)):
        tracks.dof[i, START] -= t
    for k in range(len(tracks.key)):
        tracks.key[k] -= t


@_inlined
def _log(log, logged, lattice, tracks, i):
    """Append the present parabola of dof i to the log."""
    row, me, h = log[logged[0]], tracks.dof[i], lattice.spacing[i]
    row[LOG_TIME] = tracks.epoch[0] + me[START]
    row[LOG_DOF] = i
    row[LOG_EVENT] = tracks.count[INTEGER_EVENTS] + tracks.count[PAIR_EVENTS]
    row[LOG_POSITION] = h * (me[CELL] + lattice.offset[i] + me[SIGN] * me[FRACTION])
    row[LOG_VELOCITY] = h * me[SIGN] * me[RATE]
    row[LOG_ACCELERATION] = h * me[SIGN] * me[ACCEL]
    logged[0] += 1


@_bare
def log_all(log, logged, lattice, tracks):
    """Append the present parabolas of all dofs to the log."""
    for i in range(len(tracks.dof)):
        _log(log, logged, lattice, tracks, np.uint32(i))


@_bare
def advance(things, lattice, tracks, t_end, max_events, count_all, log, logged, x, local):
    """Process all events up to the time t_end in s, at most max_events of them.

    With ``count_all`` the crossings that change nothing (z_j − z_i of dofs that share no energy) are counted, too.
    New parabolas are appended to ``log`` [rows, LOG_COLUMNS], if it has rows, from row ``logged[0]`` on.

    Returns
    -------
    status : int
        ``REACHED``, ``PAUSED`` (max_events, or the log is full), ``INFINITE`` (an energy is infinite at a lattice
        vertex) or ``STUCK`` (no progress in time).
    i : int
        The dof of the last event.
    t : float
        Its time in s.
    """
    key, winner = tracks.key, tracks.winner
    # Some events per dof: few enough for the round-off, and many enough that the work of rebasing is lost in theirs.
    # Counted in events, not in calls, so that the motion does not depend on when it is looked at.
    period = 1024 + 8 * len(tracks.dof)
    last, at_once = -np.inf, 0
    i = winner[1]
    for _ in range(max_events):
        if len(log) > 0 and logged[0] + 2 > len(log):
            break
        t = key[1]
        if not t <= t_end - tracks.epoch[0]:
            return REACHED, i, t_end
        tracks.count[SINCE_EPOCH] += 1
        if tracks.count[SINCE_EPOCH] >= period:
            tracks.count[SINCE_EPOCH] = 0
            _rebase(tracks, t)
            last -= t
            t = 0.0
        i = winner[1]
        at_once = at_once + 1 if t == last and tracks.side[i] != _NO_SIDE else 0
        last = t
        if at_once > _STUCK_AFTER:
            return STUCK, i, tracks.epoch[0] + t
        partner = tracks.partner[i]
        j = i  # the other dof of a pair event
        moved, finite = True, True
        if partner == _OWN:
            if count_all:
                count_others(things, lattice, tracks, i, t)
            finite = _integer_event(things, lattice, tracks, i, t, x, local)
        else:
            k = things.star[things.star_ptr[i // lattice.dim] + np.uint32(partner)]
            if tracks.side[k] == _NO_SIDE:  # tied at the start: first each needs a gradient of its own
                i = j = k
                finite = _integer_event(things, lattice, tracks, i, t, x, local)
            elif tracks.version[k] != tracks.partner_version[i]:
                tracks.count[RENEWALS] += 1
                moved = False
            else:
                j = k
                if count_all:
                    count_others(things, lattice, tracks, i, t)
                    count_others(things, lattice, tracks, j, t)
                finite = _pair_event(things, lattice, tracks, i, j, t, x, local)
        if not finite:
            return INFINITE, i, tracks.epoch[0] + t
        # Schedule j, if there is one, and i.
        k, other, renewed = j, i, False
        while True:
            tied = _schedule(things, lattice, tracks, k, t, other)
            if tied and i != j and not renewed:
                # Where three meet at once the pairs cross in some order, and the differences on the way may belong
                # to no simplex. The gradient by itself is right as soon as all pairs of k have crossed.
                if not _renew_gradient(things, lattice, tracks, k, x, local):
                    return INFINITE, k, tracks.epoch[0] + t
                renewed = True
            elif k != i:
                k, other, renewed = i, j, False
            else:
                break
        if len(log) > 0 and moved:
            _log(log, logged, lattice, tracks, i)
            if j != i:
                _log(log, logged, lattice, tracks, j)
    return PAUSED, i, tracks.epoch[0] + last


# -- beginning ----------------------------------------------------------------------------------------------


@_jit
def _set_gaps(things, lattice, tracks):
    """Set all gaps from cells and fractions; equal fractions are ordered by index."""
    dof = tracks.dof
    for k_i in range(len(dof)):
        i = np.uint32(k_i)
        node = i // lattice.dim
        first = things.star_ptr[node]
        for k in range(things.star_ptr[node + np.uint32(1)] - first):
            j = things.star[first + k]
            f_i, f_j = dof[i, FRACTION], dof[j, FRACTION]
            behind = f_j < f_i or (f_j == f_i and j < i)
            cells = 0 if lattice.mirrored else int(dof[j, CELL] - dof[i, CELL])
            tracks.gap[things.row[i] + k] = cells - (1 if behind else 0)


@_jit
def begin(things, lattice, tracks, t):
    """Set all gaps, and let each dof that moves have its first event at t: no crossing, but a first gradient."""
    tracks.epoch[0] = t
    _set_gaps(things, lattice, tracks)
    for k in range(len(tracks.dof)):
        i = np.uint32(k)
        if lattice.inertia[i] < np.inf:
            tracks.side[i] = _NO_SIDE
            _set_time(tracks.key, tracks.winner, i, 0.0)
