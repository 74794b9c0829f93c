"""The compiled event loop of force-stepping.

Lattice coordinates z = q/h − o. Each dof i moves on its own parabola until an event. Two kinds exist:

- z_i crosses an integer: the gradient component g_i is recomputed;
- z_j − z_i crosses an integer for a dof j that shares a local energy with i: g_i and g_j change by the
  mixed second difference δ of the energies they share.

The topology is kept in integers that events change by ±1 and that no rounding can touch: ``cell`` = ⌊z_i⌋ and
``gap`` = ⌊z_j − z_i⌋. The lattice vertex seen by i has u_i = ⌊z_i⌋ and u_j = ⌊z_i⌋ + ⌊z_j − z_i⌋ + 1, and
g_i = [φ(u + e_i) − φ(u)]/h_i.

Of a dof that is mirrored the same holds for f, the distance from the nearest even vertex, in place of z (see
`symplex.time.events.lattice_tracks`): for two of them ``gap`` = ⌊f_j − f_i⌋ is −1 or 0, u_j = ``cell`` + s_j (1 +
``gap``), and all steps are taken to the side s. At f = 0 and f = 1 the motion is reflected into the mirror image of the
cell.

Both are the same thing for a pair: f_j passes f_i. Which of the two is behind is given by the integers, ``gap`` and the
``layers`` of the dofs (⌊z⌋, or 0 if mirrored), of which eight bits each are enough.

All times inside are counted from an epoch that follows the motion (`_rebase`): the round-off of an event time is that
of the short time since the last events, however long the motion has lasted.

The queue holds one entry per dof, its earliest event. A pair of dofs is covered by the entry of the one that was
scheduled last. So an event renews the entries of the dofs it changes and no others; an entry made stale by a change of
its partner is recognised when it comes up (the partner's ``version`` has moved on): the second of its events then takes
its place if that is not stale, too, or else the entry is renewed. An entry can only be too early, never too late.
"""

import numpy as np

from symplex.fem.compiled.kernels import uncounted_formula, uncounted_inlined, uncounted_kernel
from symplex.time.events.event_queue import VALID, drop_first, enter, find_first
from symplex.time.events.interaction import STAR
from symplex.time.events.lattice_access import (
    FOUR,
    ONE,
    layer_of,
    order_of,
    partner_at,
    row_of,
    split,
    version_of,
)
from symplex.time.events.lattice_ahead import look_ahead
from symplex.time.events.lattice_crossings import count_others
from symplex.time.events.lattice_differences import difference, mixed_difference
from symplex.time.events.lattice_lanes import LANES
from symplex.time.events.lattice_schedule import move, schedule, take_later
from symplex.time.events.lattice_tracks import (
    ACCEL,
    CELL,
    FIXED,
    FRACTION,
    INTEGER_EVENTS,
    LATER,
    LATER_PARTNER,
    LAYERS,
    LOG_ACCELERATION,
    LOG_DOF,
    LOG_EVENT,
    LOG_POSITION,
    LOG_TIME,
    LOG_VELOCITY,
    NONE,
    PAIR_EVENTS,
    PARTNER,
    RATE,
    RENEWALS,
    SINCE_EPOCH,
    SPARE,
    START,
    STEP,
    TIME,
    UNKNOWN,
    UPPER,
    VERSION,
    WEIGHT,
)

REACHED, PAUSED, INFINITE, STUCK, LEFT = range(5)  # how advance() ends

FAR = 4_000  # dofs from which on successive events find nothing of what they need in the caches
_STUCK_AFTER = 50_000  # events at one and the same time that mean no progress
_NO_PROGRESS = 1e-5  # nor is it any if all events between two epochs take this part of the time to cross a cell


# -- events -------------------------------------------------------------------------------------------------


@uncounted_inlined
def _number(lattice, i):
    """Return the number of a dof, node · dim + component."""
    node, component = split(i)
    return np.int64(node * lattice.dim + component)


@uncounted_inlined
def _changed(tracks, i):
    """Count a change of the parabola of dof i."""
    node, component = split(i)
    tracks.track[node, component, SPARE] += 1.0


@uncounted_inlined
def _renew_acceleration(things, lattice, tracks, i, local):
    """Compute the acceleration of dof i again; return whether it is finite."""
    node, component = split(i)
    change = difference(things, lattice, tracks, i, local)
    tracks.track[node, ACCEL, component] = -change * tracks.dof[i, WEIGHT]
    _changed(tracks, i)
    return np.isfinite(change)


@uncounted_inlined
def _set_site(lattice, tracks, i):
    """Set the positions of the vertex of dof i and of the next one to its side."""
    node, component = split(i)
    k = node * lattice.dim + component
    h, cell, offset = lattice.spacing[k], tracks.dof[i, CELL], lattice.offset[k]
    side = 1.0 if tracks.dof[i, STEP] > 0.0 else -1.0
    tracks.site[node, component] = h * (cell + offset)
    tracks.site[node, FOUR + component] = h * (cell + side + offset)


@uncounted_inlined
def _integer_event(things, lattice, tracks, i, t, local):
    """Let z_i cross an integer, or none at its first event; return whether the new gradient is finite."""
    node, component = split(i)
    me, parabola = tracks.dof[i], tracks.track[node]
    move(parabola, component, t)
    side = tracks.next[i, PARTNER]
    if side != NONE:
        up = side == UPPER
        if lattice.mirrored[_number(lattice, i)]:
            parabola[FRACTION, component] = 1.0 if up else 0.0
            if up:
                me[CELL] += 2.0 if me[STEP] > 0.0 else -2.0
            me[STEP] = -me[STEP]
            parabola[RATE, component] = -parabola[RATE, component]
        else:
            step = 1 if up else -1
            parabola[FRACTION, component] = 0.0 if up else 1.0
            me[CELL] += step
            tracks.layer[node, LAYERS + component] += step
        _set_site(lattice, tracks, i)
        tracks.count[INTEGER_EVENTS] += 1
    return _renew_acceleration(things, lattice, tracks, i, local)


@uncounted_inlined
def _entry_of(things, lattice, j, node):
    """Return the entry of the first component of a node in the row of dof j."""
    node_j, component = split(j)
    first = things.node[node_j, STAR]
    k = np.uint32(0)
    while things.star[first + k] != node:
        k += ONE
    return row_of(things, lattice, node_j, component) + np.int64(FOUR * k)


@uncounted_inlined
def _pair_event(things, lattice, tracks, i, j, t, local):
    """Let z_j − z_i cross an integer; return whether the new gradients are finite."""
    tracks.count[PAIR_EVENTS] += 1
    (node_i, component_i), (node_j, component_j) = split(i), split(j)
    move(tracks.track[node_i], component_i, t)
    move(tracks.track[node_j], component_j, t)

    place = np.uint32(tracks.next[i, PARTNER])
    mine = row_of(things, lattice, node_i, component_i) + np.int64(place)
    yours = _entry_of(things, lattice, j, node_i) + np.int64(component_i)
    order = order_of(tracks, layer_of(tracks, node_i, component_i), node_j, component_j, mine)
    behind = order > 0
    shift = 1 - order if behind else -order
    tracks.track[node_j, FRACTION, component_j] = tracks.track[node_i, FRACTION, component_i] + shift  # exactly
    # The lower vertex is the one that i sees when j is behind.
    step = 1 if behind else -1
    if not behind:
        tracks.gap[mine] += step
    delta = step * mixed_difference(things, lattice, tracks, i, j, place // FOUR, local)
    if behind:
        tracks.gap[mine] += step
    tracks.gap[yours] -= step
    tracks.track[node_i, ACCEL, component_i] -= delta * tracks.dof[i, WEIGHT]
    tracks.track[node_j, ACCEL, component_j] += delta * tracks.dof[j, WEIGHT]
    _changed(tracks, i)
    _changed(tracks, j)
    return np.isfinite(delta)


@uncounted_inlined
def _rebase(tracks, dim, t):
    """Let the epoch be the time t (counted from the epoch before)."""
    tracks.epoch[0] += t
    for a in range(len(tracks.track)):
        for c in range(dim):
            tracks.track[a, START, c] -= t
    for i in range(len(tracks.dof)):
        tracks.dof[i, TIME] -= t
        tracks.dof[i, LATER] -= t
    tracks.calendar.state[VALID] = 0


@uncounted_inlined
def _crossing_time(tracks, dim):
    """Return about how long the fastest dof takes to cross a cell."""
    rate = accel = 0.0
    for a in range(len(tracks.track)):
        for c in range(dim):
            rate = max(rate, abs(tracks.track[a, RATE, c]))
            accel = max(accel, abs(tracks.track[a, ACCEL, c]))
    return 1.0 / (rate + np.sqrt(accel))


@uncounted_inlined
def _log(log, logged, lattice, tracks, i):
    """Append the present parabola of dof i to the log."""
    node, c = split(i)
    row, parabola, me = log[logged[0]], tracks.track[node], tracks.dof[i]
    row[LOG_TIME] = tracks.epoch[0] + parabola[START, c]
    k = node * lattice.dim + c
    row[LOG_DOF] = k
    row[LOG_EVENT] = tracks.count[INTEGER_EVENTS] + tracks.count[PAIR_EVENTS]
    fraction = 0.0 if parabola[FRACTION, c] == FIXED else parabola[FRACTION, c]
    row[LOG_POSITION] = lattice.spacing[k] * (me[CELL] + lattice.offset[k]) + me[STEP] * fraction
    row[LOG_VELOCITY] = me[STEP] * parabola[RATE, c]
    row[LOG_ACCELERATION] = me[STEP] * parabola[ACCEL, c]
    logged[0] += 1


@uncounted_kernel
def log_all(log, logged, lattice, tracks):
    """Append the present parabolas of all dofs to the log."""
    for i in range(len(tracks.dof)):
        if i % LANES < lattice.dim:
            _log(log, logged, lattice, tracks, np.uint32(i))


@uncounted_kernel
def advance(things, lattice, tracks, t_end, max_events, count_all, far, log, logged, local):
    """Process all events up to the time t_end in s, at most max_events of them.

    With ``count_all`` the crossings that change nothing (z_j − z_i of dofs that share no energy) are counted, too. With
    ``far`` what later events need is asked for ahead of time. Both are True or None: what is None is not compiled.
    New parabolas are appended to ``log`` [rows, LOG_COLUMNS], if it has rows, from row ``logged[0]`` on.

    Returns
    -------
    status : int
        ``REACHED``, ``PAUSED`` (max_events, or the log is full), ``INFINITE`` (an energy is infinite at a lattice
        vertex), ``STUCK`` (no progress in time) or ``LEFT`` (a dof has come into a cell outside of its bounds).
    i : int
        The dof of the event at which it ended so.
    t : float
        The time in s.
    """
    calendar = tracks.calendar
    times = tracks.dof[:, TIME]
    # Some events per dof: few enough for the round-off, and many enough that the work of rebasing is lost in theirs.
    # Counted in events, not in calls, so that the motion does not depend on when it is looked at.
    period = 1024 + 8 * len(lattice.spacing)
    last, at_once = -np.inf, 0
    i = np.uint32(0)
    for _ in range(max_events):
        if len(log) > 0 and logged[0] + 2 > len(log):
            break
        if not find_first(calendar, times):
            return REACHED, 0, t_end
        t = calendar.heap_time[0]
        if not t <= t_end - tracks.epoch[0]:
            return REACHED, 0, t_end
        i = calendar.heap_dof[0]
        tracks.count[SINCE_EPOCH] += 1
        if tracks.count[SINCE_EPOCH] >= period:
            tracks.count[SINCE_EPOCH] = 0
            _rebase(tracks, lattice.dim, t)
            if t < _NO_PROGRESS * _crossing_time(tracks, lattice.dim):
                return STUCK, _number(lattice, i), tracks.epoch[0]
            find_first(calendar, times)
            last -= t
            t = 0.0
        drop_first(calendar)
        if far is not None:
            look_ahead(things, lattice, tracks)
        partner = tracks.next[i, PARTNER]
        at_once = at_once + 1 if t == last and partner != NONE else 0
        last = t
        if at_once > _STUCK_AFTER:
            return STUCK, _number(lattice, i), tracks.epoch[0] + t
        j = i  # the other dof of a pair event
        moved, finite = True, True
        own = partner < 0 and partner != UNKNOWN  # an event of i by itself
        if partner == UNKNOWN:
            tracks.count[RENEWALS] += 1
            moved = False
        elif partner >= 0:
            k = partner_at(things, split(i)[0], partner)
            if tracks.next[k, PARTNER] == NONE:  # tied at the start: first each needs its own gradient
                enter(calendar, t, i)
                i = j = k
                own = True
            elif version_of(tracks, k) != tracks.dof[i, VERSION]:
                if take_later(things, tracks, i):
                    continue
                tracks.count[RENEWALS] += 1
                moved = False
            else:
                j = k
                if count_all is not None:
                    count_others(things, lattice, tracks, i, t)
                    count_others(things, lattice, tracks, j, t)
                finite = _pair_event(things, lattice, tracks, i, j, t, local)
        if own:
            if count_all is not None and partner < 0:
                count_others(things, lattice, tracks, i, t)
            finite = _integer_event(things, lattice, tracks, i, t, local)
        if not finite:
            return INFINITE, _number(lattice, i), tracks.epoch[0] + t
        # Schedule j, if there is one, and i.
        k, other, renewed = j, i, False
        while True:
            tied = schedule(things, lattice, tracks, k, t, other, local)
            if tied and i != j and not renewed:
                # Where three meet at once the pairs cross in some order, and the differences on the way may belong
                # to no simplex. The gradient by itself is right as soon as all pairs of k have crossed.
                if not _renew_acceleration(things, lattice, tracks, k, local):
                    return INFINITE, _number(lattice, k), tracks.epoch[0] + t
                renewed = True
            elif k != i:
                k, other, renewed = i, j, False
            else:
                break
        if len(log) > 0 and moved:
            _log(log, logged, lattice, tracks, i)
            if j != i:
                _log(log, logged, lattice, tracks, j)
        if len(lattice.bounds) > 0:
            k = _number(lattice, i)
            if not lattice.bounds[k, 0] <= tracks.dof[i, CELL] <= lattice.bounds[k, 1]:
                return LEFT, k, tracks.epoch[0] + t
    return PAUSED, 0, tracks.epoch[0] + last


# -- beginning ----------------------------------------------------------------------------------------------


@uncounted_formula
def _set_gaps(things, lattice, tracks):
    """Set all gaps from layers and fractions; equal fractions are ordered by index."""
    for k_i in range(len(tracks.dof)):
        i = np.uint32(k_i)
        node, component = split(i)
        if component >= lattice.dim:
            continue
        first, row = things.node[node, STAR], row_of(things, lattice, node, component)
        layer = layer_of(tracks, node, component)
        f_i = tracks.track[node, FRACTION, component]
        for k in range(things.node[node + ONE, STAR] - first):
            a = things.star[first + k]
            for c in range(lattice.dim):
                f_j = tracks.track[a, FRACTION, c]
                behind = f_j < f_i or (f_j == f_i and a * FOUR + c <= i)
                tracks.gap[row + np.int64(FOUR * k + c)] = np.int8(layer_of(tracks, a, c) - layer - np.int64(behind))


@uncounted_kernel
def begin(things, lattice, tracks, t):
    """Set layers, sites and gaps of all dofs that move, and let each have its first event at t: a first gradient."""
    tracks.epoch[0] = t
    for k in range(len(tracks.dof)):
        i = np.uint32(k)
        node, component = split(i)
        if tracks.dof[i, WEIGHT] == 0.0:
            continue
        _set_site(lattice, tracks, i)
        if not lattice.mirrored[_number(lattice, i)]:
            tracks.layer[node, LAYERS + component] = np.int8(np.int64(tracks.dof[i, CELL]))
        tracks.dof[i, TIME] = 0.0
        tracks.next[i, PARTNER] = NONE
        tracks.next[i, LATER_PARTNER] = UNKNOWN
    _set_gaps(things, lattice, tracks)
