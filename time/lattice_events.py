"""The compiled event loop of force-stepping.

Lattice coordinates z = q/h − o. Each dof i moves on its own parabola until an event. Two kinds exist:

- z_i crosses an integer: the gradient component g_i is computed anew;
- z_j − z_i crosses an integer for a dof j that shares a local energy with i: g_i and g_j change by the
  mixed second difference δ of the energies they share.

The topology is kept in integers that events change by ±1 and that no rounding can touch: ``cell`` = ⌊z_i⌋ and
``gap`` = ⌊z_j − z_i⌋. The lattice vertex seen by i has u_i = ⌊z_i⌋ and u_j = ⌊z_i⌋ + ⌊z_j − z_i⌋ + 1, and
g_i = [φ(u + e_i) − φ(u)]/h_i.

The queue holds one entry per dof, its earliest event, in a tournament tree. A pair of dofs is covered by the entry
of the one that was scheduled last. So an event renews the entries of the dofs it changes and no others; an entry
made stale by a change of its partner is recognised when it comes up (the partner's ``version`` has moved on),
and then renewed. It can only be too early, never too late.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from symplex.fem.call import call_difference, call_mixed, call_value

# Columns of Tracks.dof, one cache line for each dof. Position within the cell and the rates are in lattice units.
FRACTION, RATE, ACCEL, START, CELL, GRADIENT = range(6)
COLUMNS = 8

# Columns of Tracks.count
INTEGER_EVENTS, PAIR_EVENTS, RENEWALS, OTHER_CROSSINGS = range(4)
N_COUNTS = 4

REACHED, PAUSED, INFINITE, STUCK = range(4)  # how advance() ends

_OWN = -1  # partner of an event of the first kind
_STUCK_AFTER = 1000  # events at one and the same time, per dof of the system, that mean no progress


class Lattice(NamedTuple):
    """The grid and the masses.

    Attributes
    ----------
    spacing, offset : float64 [n·dim]
        h_i in m and o_i: lattice planes are at q_i = h_i (u + o_i).
    inertia : float64 [n·dim]
        m_i h_i in kg m; infinite for a fixed coordinate.
    dim : int
    """

    spacing: NDArray[np.float64]
    offset: NDArray[np.float64]
    inertia: NDArray[np.float64]
    dim: int


class Tracks(NamedTuple):
    """All that changes: one parabola per dof, the integers of the topology, and the queue.

    Attributes
    ----------
    dof : float64 [n·dim, COLUMNS]
        z − ⌊z⌋, ż and z̈ at the time ``START``; ⌊z⌋; g in N.
    gap : int32 [...]
        ⌊z_j − z_i⌋ for each dof i (rows) and each dof j of the star of its node.
    version : int64 [n·dim]
        How often the parabola of a dof has changed.
    partner, side : int64, int8 [n·dim]
        The next event of a dof: with which (edge·dim + component, or −1 for its own plane); through the lower or
        upper plane (∓1).
    partner_version : int64 [n·dim]
        The partner's version when the event was scheduled.
    key, winner : float64, int32 [2·2^p]
        The tournament tree of event times.
    count : int64 [N_COUNTS]
    """

    dof: NDArray[np.float64]
    gap: NDArray[np.int32]
    version: NDArray[np.int64]
    partner: NDArray[np.int64]
    side: NDArray[np.int8]
    partner_version: NDArray[np.int64]
    key: NDArray[np.float64]
    winner: NDArray[np.int32]
    count: NDArray[np.int64]


# -- the queue ----------------------------------------------------------------------------------------------


@njit(cache=True)
def _set_time(key, winner, i, t):
    """Set the time of entry i and play its matches up to the root, as far as they change."""
    k = len(winner) // 2 + i
    key[k] = t
    k //= 2
    while k >= 1:
        left, right = 2 * k, 2 * k + 1
        best = left if key[left] <= key[right] else right
        if key[k] == key[best] and winner[k] == winner[best]:
            return
        key[k] = key[best]
        winner[k] = winner[best]
        k //= 2


# -- geometry -----------------------------------------------------------------------------------------------


@njit(cache=True, inline="always")
def _gap_row(things, lattice, node, component):
    """Start of the row of gaps of the dof (node, component)."""
    first, last = things.star_ptr[node], things.star_ptr[node + 1]
    return (first * lattice.dim + component * (last - first)) * lattice.dim


@njit(cache=True, inline="always")
def _first_root(c, b, a):
    """Smallest τ ≥ 0 at which c + b τ + a τ²/2 leaves c ≥ 0, or infinity.

    Written by the sign of b so that nothing cancels, and so that a root at 0 that is being left does not return.
    """
    c = max(c, 0.0)
    if b < 0.0:
        disc = b * b - 2.0 * a * c
        return 2.0 * c / (-b + np.sqrt(disc)) if disc >= 0.0 else np.inf
    if a < 0.0:
        return (b + np.sqrt(b * b - 2.0 * a * c)) / (-a)
    return np.inf


@njit(cache=True)
def _move(dof, t):
    """Restart the parabola of one dof (its row) at the time t."""
    tau = t - dof[START]
    dof[FRACTION] += tau * (dof[RATE] + 0.5 * tau * dof[ACCEL])
    dof[RATE] += tau * dof[ACCEL]
    dof[START] = t


@njit(cache=True)
def _schedule(things, lattice, tracks, i, t):
    """Find the earliest event of dof i after the time t, with its own planes or any dof of its star."""
    dim, dof = lattice.dim, tracks.dof
    me = dof[i]
    tau = t - me[START]
    f_i = me[FRACTION] + tau * (me[RATE] + 0.5 * tau * me[ACCEL])
    w_i = me[RATE] + tau * me[ACCEL]
    a_i, cell_i = me[ACCEL], me[CELL]

    down = _first_root(f_i, w_i, a_i)
    up = _first_root(1.0 - f_i, -w_i, -a_i)
    best = min(down, up)
    side = 1 if up < down else -1
    partner = _OWN

    node = i // dim
    entry = _gap_row(things, lattice, node, i - node * dim)
    for edge in range(things.star_ptr[node], things.star_ptr[node + 1]):
        first = things.star[edge] * dim
        for j in range(first, first + dim):
            gap = tracks.gap[entry]
            entry += 1
            if j == i:
                continue
            you = dof[j]
            tau = t - you[START]
            a_j = you[ACCEL]
            w = you[RATE] + tau * a_j - w_i
            d = (you[CELL] - cell_i - gap) + (you[FRACTION] + tau * (you[RATE] + 0.5 * tau * a_j) - f_i)
            a = a_j - a_i
            # Out of reach before the best time so far: most pairs end here, without a root.
            reach = best * (abs(w) + 0.5 * abs(a) * best)
            if reach < d and reach < 1.0 - d:
                continue
            down = _first_root(d, w, a)
            up = _first_root(1.0 - d, -w, -a)
            if down < best:
                best, side, partner = down, -1, edge * dim + (j - first)
            if up < best:
                best, side, partner = up, 1, edge * dim + (j - first)

    tracks.partner[i] = partner
    tracks.side[i] = side
    if partner != _OWN:
        j = things.star[partner // dim] * dim + partner % dim
        tracks.partner_version[i] = tracks.version[j]
    _set_time(tracks.key, tracks.winner, i, t + best)


# -- energies at lattice points -----------------------------------------------------------------------------


@njit(cache=True)
def _vertex(things, lattice, tracks, i, x):
    """Write into x the positions in m, on the vertex seen by dof i, of all dofs of its star."""
    dim = lattice.dim
    node = i // dim
    cell = tracks.dof[i, CELL]
    entry = _gap_row(things, lattice, node, i - node * dim)
    for edge in range(things.star_ptr[node], things.star_ptr[node + 1]):
        first = things.star[edge] * dim
        for j in range(first, first + dim):
            x[j] = lattice.spacing[j] * (cell + tracks.gap[entry] + 1 + lattice.offset[j])
            entry += 1
    x[i] = lattice.spacing[i] * (cell + lattice.offset[i])


@njit(cache=True)
def _gather(things, dim, stencil, x, local):
    """Copy the coordinates of a stencil's nodes into local."""
    k = 0
    for s in range(things.stencil_ptr[stencil], things.stencil_ptr[stencil + 1]):
        first = things.stencil_nodes[s] * dim
        for c in range(dim):
            local[k] = x[first + c]
            k += 1


@njit(cache=True)
def _place(things, stencil, node):
    """Return the place of a node in a stencil."""
    start = things.stencil_ptr[stencil]
    k = start
    while things.stencil_nodes[k] != node:
        k += 1
    return k - start


@njit(cache=True)
def _gradient(things, lattice, tracks, i, x, local):
    """g_i = [φ(u + e_i) − φ(u)]/h_i over the stencils that hold dof i."""
    dim = lattice.dim
    node = i // dim
    component = i - node * dim
    _vertex(things, lattice, tracks, i, x)
    edge = things.own[node]
    total = 0.0
    for s in range(things.shared_ptr[edge], things.shared_ptr[edge + 1]):
        stencil = things.shared[s]
        _gather(things, dim, stencil, x, local)
        place = _place(things, stencil, node) * dim + component
        total += call_difference(
            things.difference[things.family[stencil]],
            things.parameters[stencil],
            local.ctypes.data,
            place,
            lattice.spacing[i],
        )
    return total / lattice.spacing[i]


@njit(cache=True)
def _mixed_difference(things, lattice, tracks, i, edge, j, plane, x, local):
    """δ = φ(11) − φ(10) − φ(01) + φ(00) in the dofs i, j over the stencils that hold both.

    At the crossing z_j = z_i + plane the lower vertex has u_i = ⌊z_i⌋ and u_j = ⌊z_i⌋ + plane.
    """
    dim = lattice.dim
    node_i, node_j = i // dim, j // dim
    _vertex(things, lattice, tracks, i, x)
    x[j] = lattice.spacing[j] * (tracks.dof[i, CELL] + plane + lattice.offset[j])
    total = 0.0
    for s in range(things.shared_ptr[edge], things.shared_ptr[edge + 1]):
        stencil = things.shared[s]
        _gather(things, dim, stencil, x, local)
        total += call_mixed(
            things.mixed[things.family[stencil]],
            things.parameters[stencil],
            local.ctypes.data,
            _place(things, stencil, node_i) * dim + i - node_i * dim,
            _place(things, stencil, node_j) * dim + j - node_j * dim,
            lattice.spacing[i],
            lattice.spacing[j],
        )
    return total


@njit(cache=True)
def lattice_energies(things, lattice, z, out):
    """Add to out [families] the piecewise-linear energies V_h in J at the lattice coordinates z [n·dim].

    V_h is linear on Kuhn simplices: from the vertex ⌊z⌋ one coordinate after the other goes up, that with
    the largest fraction first, V_h = φ(u) + Σ f_k [φ(u + e_1 + … + e_k) − φ(u + e_1 + … + e_(k−1))].
    Sums are compensated (Neumaier).
    """
    dim = lattice.dim
    rest = np.zeros(len(out))
    local = np.empty(0)
    fraction = np.empty(0)
    for stencil in range(len(things.family)):
        start, stop = things.stencil_ptr[stencil], things.stencil_ptr[stencil + 1]
        size = (stop - start) * dim
        if len(local) < size:
            local, fraction = np.empty(size), np.empty(size)
        for k in range(size):
            i = things.stencil_nodes[start + k // dim] * dim + k % dim
            low = np.floor(z[i])
            local[k] = lattice.spacing[i] * (low + lattice.offset[i])
            fraction[k] = z[i] - low
        family = things.family[stencil]
        f, p = things.value[family], things.parameters[stencil]
        before = call_value(f, p, local.ctypes.data)
        energy = before
        for k in np.argsort(-fraction[:size], kind="mergesort"):
            local[k] += lattice.spacing[things.stencil_nodes[start + k // dim] * dim + k % dim]
            after = call_value(f, p, local.ctypes.data)
            energy += fraction[k] * (after - before)
            before = after
        total = out[family] + energy
        rest[family] += (
            (out[family] - total) + energy if abs(out[family]) >= abs(energy) else (energy - total) + out[family]
        )
        out[family] = total
    out += rest


# -- events -------------------------------------------------------------------------------------------------


@njit(cache=True)
def _integer_event(things, lattice, tracks, i, t, x, local):
    """Let z_i cross an integer; return whether the new gradient is finite."""
    me = tracks.dof[i]
    _move(me, t)
    up = tracks.side[i] > 0
    me[FRACTION] = 0.0 if up else 1.0
    me[CELL] += 1.0 if up else -1.0
    g = _gradient(things, lattice, tracks, i, x, local)
    me[GRADIENT] = g
    me[ACCEL] = -g / lattice.inertia[i]
    tracks.version[i] += 1
    _schedule(things, lattice, tracks, i, t)
    return np.isfinite(g)


@njit(cache=True)
def _pair_event(things, lattice, tracks, i, t, x, local):
    """Let z_j − z_i cross an integer; return whether the new gradients are finite."""
    dim = lattice.dim
    edge, component = tracks.partner[i] // dim, tracks.partner[i] % dim
    node_i, node_j = i // dim, things.star[edge]
    j = node_j * dim + component
    component_i = i - node_i * dim
    me, you = tracks.dof[i], tracks.dof[j]
    _move(me, t)
    _move(you, t)

    entry = _gap_row(things, lattice, node_i, component_i) + (edge - things.star_ptr[node_i]) * dim + component
    mirror = things.mirror[edge]
    back = _gap_row(things, lattice, node_j, component) + (mirror - things.star_ptr[node_j]) * dim + component_i

    up = tracks.side[i] > 0
    plane = tracks.gap[entry] + (1 if up else 0)
    you[FRACTION] = me[FRACTION] + (me[CELL] + plane - you[CELL])  # exactly on the plane
    delta = _mixed_difference(things, lattice, tracks, i, edge, j, plane, x, local)
    if not up:
        delta = -delta
    step = 1 if up else -1
    tracks.gap[entry] += step
    tracks.gap[back] -= step
    me[GRADIENT] += delta / lattice.spacing[i]
    you[GRADIENT] -= delta / lattice.spacing[j]
    me[ACCEL] = -me[GRADIENT] / lattice.inertia[i]
    you[ACCEL] = -you[GRADIENT] / lattice.inertia[j]
    tracks.version[i] += 1
    tracks.version[j] += 1
    if lattice.inertia[j] < np.inf:
        _schedule(things, lattice, tracks, j, t)
    _schedule(things, lattice, tracks, i, t)
    return np.isfinite(delta)


@njit(cache=True)
def advance(things, lattice, tracks, t_end, max_events, count_all, x, local):
    """Process all events up to the time t_end, at most max_events of them.

    With ``count_all`` the crossings that change nothing (z_j − z_i of dofs that share no energy) are counted, too.

    Returns
    -------
    status : int
        ``REACHED``, ``PAUSED`` (max_events), ``INFINITE`` (an energy is infinite at a lattice vertex) or
        ``STUCK`` (no progress in time).
    i : int
        The dof of the last event.
    t : float
        Its time.
    """
    key, winner, dof = tracks.key, tracks.winner, tracks.dof
    last, at_once = -np.inf, 0
    i = 0
    for _ in range(max_events):
        t = key[1]
        if not t <= t_end:
            return REACHED, i, t_end
        i = winner[1]
        at_once = at_once + 1 if t == last else 0
        last = t
        if at_once > _STUCK_AFTER * (1 + len(dof)):
            return STUCK, i, t
        partner = tracks.partner[i]
        if partner == _OWN:
            if count_all:
                _count_others(things, lattice, tracks, i, t)
            tracks.count[INTEGER_EVENTS] += 1
            finite = _integer_event(things, lattice, tracks, i, t, x, local)
        else:
            j = things.star[partner // lattice.dim] * lattice.dim + partner % lattice.dim
            if tracks.version[j] != tracks.partner_version[i]:
                tracks.count[RENEWALS] += 1
                _schedule(things, lattice, tracks, i, t)
                continue
            if count_all:
                _count_others(things, lattice, tracks, i, t)
                _count_others(things, lattice, tracks, j, t)
            tracks.count[PAIR_EVENTS] += 1
            finite = _pair_event(things, lattice, tracks, i, t, x, local)
        if not finite:
            return INFINITE, i, t
    return PAUSED, i, last


# -- crossings that change nothing --------------------------------------------------------------------------


@njit(cache=True, inline="always")
def _planes_between(r0, r1):
    return abs(np.floor(r1) - np.floor(r0))


@njit(cache=True)
def _count_others(things, lattice, tracks, i, t):
    """Count the integers that z_j − z_i has crossed since its last change, for all j outside the star of i.

    Called before the parabola of i changes, or at the end; a pair's difference is one parabola since
    the later of the two last changes.
    """
    dim, dof = lattice.dim, tracks.dof
    me = dof[i]
    node = i // dim
    edge, stop = things.star_ptr[node], things.star_ptr[node + 1]
    crossings = 0.0
    for other in range(len(dof) // dim):
        if edge < stop and things.star[edge] == other:
            edge += 1
            continue
        for j in range(other * dim, other * dim + dim):
            crossings += _crossings_of_pair(me, dof[j], t)
    tracks.count[OTHER_CROSSINGS] += int(crossings)


@njit(cache=True, inline="always")
def _crossings_of_pair(me, you, t):
    start = max(me[START], you[START])
    ti, tj = start - me[START], start - you[START]
    w = you[RATE] + tj * you[ACCEL] - me[RATE] - ti * me[ACCEL]
    a = you[ACCEL] - me[ACCEL]
    r0 = (you[CELL] - me[CELL]) + (
        you[FRACTION]
        + tj * (you[RATE] + 0.5 * tj * you[ACCEL])
        - (me[FRACTION] + ti * (me[RATE] + 0.5 * ti * me[ACCEL]))
    )
    tau = t - start
    r1 = r0 + tau * (w + 0.5 * tau * a)
    if w * (w + tau * a) < 0.0:  # it turns in between
        turn = r0 - 0.5 * w * w / a
        return _planes_between(r0, turn) + _planes_between(turn, r1)
    return _planes_between(r0, r1)


@njit(cache=True)
def count_rest(things, lattice, tracks, t):
    """Return the crossings of non-interacting pairs between their last change and the time t."""
    before = tracks.count[OTHER_CROSSINGS]
    for i in range(len(tracks.dof)):
        _count_others(things, lattice, tracks, i, t)
    twice = tracks.count[OTHER_CROSSINGS] - before
    tracks.count[OTHER_CROSSINGS] = before
    return twice // 2


# -- beginning ----------------------------------------------------------------------------------------------


@njit(cache=True)
def set_gaps(things, lattice, tracks):
    """Set all gaps ⌊z_j − z_i⌋ from cells and fractions; equal fractions are ordered by index."""
    dim, dof = lattice.dim, tracks.dof
    for i in range(len(dof)):
        node = i // dim
        entry = _gap_row(things, lattice, node, i - node * dim)
        for edge in range(things.star_ptr[node], things.star_ptr[node + 1]):
            first = things.star[edge] * dim
            for j in range(first, first + dim):
                f_i, f_j = dof[i, FRACTION], dof[j, FRACTION]
                behind = f_j < f_i or (f_j == f_i and j < i)
                tracks.gap[entry] = int(dof[j, CELL] - dof[i, CELL]) - (1 if behind else 0)
                entry += 1


@njit(cache=True)
def begin(things, lattice, tracks, t, x, local):
    """Compute all gradients and schedule all dofs; return the first dof with an infinite gradient, or −1."""
    for i in range(len(tracks.dof)):
        if lattice.inertia[i] < np.inf:
            g = _gradient(things, lattice, tracks, i, x, local)
            if not np.isfinite(g):
                return i
            tracks.dof[i, GRADIENT] = g
            tracks.dof[i, ACCEL] = -g / lattice.inertia[i]
    for i in range(len(tracks.dof)):
        if lattice.inertia[i] < np.inf:
            _schedule(things, lattice, tracks, i, t)
    return -1
