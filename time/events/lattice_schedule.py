"""When a coordinate has its next event: the nearest of its own planes and of the dofs of its star.

Roots are taken for all dofs of a star, those of a node at once and without branches
(`symplex.time.events.lattice_lanes`): which of them are out of reach cannot be foreseen.
"""

import numpy as np

from symplex.fem.compiled.kernels import uncounted_inlined
from symplex.time.events.event_queue import enter
from symplex.time.events.interaction import STAR
from symplex.time.events.lattice_access import (
    ONE,
    address,
    layer_of,
    partner_at,
    row_of,
    split,
    version_of,
)
from symplex.time.events.lattice_lanes import earliest_meetings
from symplex.time.events.lattice_tracks import (
    ACCEL,
    FRACTION,
    LATER,
    LATER_PARTNER,
    LATER_VERSION,
    LOWER,
    PARTNER,
    RATE,
    START,
    TIME,
    UNKNOWN,
    UPPER,
    VERSION,
)

_TIE = 1e-9  # distance in lattice units under which two coordinates, or one and a plane, count as tied
_MARGIN = 1.2  # how much further than to its next event a second event of a dof is kept


@uncounted_inlined
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


@uncounted_inlined
def parabola_at(parabola, c, t):
    """Return f, ḟ and f̈ of component c of a node (its track) at the time t."""
    tau, a = t - parabola[START, c], parabola[ACCEL, c]
    return parabola[FRACTION, c] + tau * (parabola[RATE, c] + 0.5 * tau * a), parabola[RATE, c] + tau * a, a


@uncounted_inlined
def move(parabola, c, t):
    """Restart the parabola of component c of a node at the time t."""
    parabola[FRACTION, c], parabola[RATE, c], _ = parabola_at(parabola, c, t)
    parabola[START, c] = t


@uncounted_inlined
def schedule(things, lattice, tracks, i, t, other, local):
    """Find the two earliest events of dof i after the time t, with its own planes or any dof of its star.

    Returns whether i is tied: on one of its planes, or on a plane with a dof of its star besides ``other``.
    """
    node, component = split(i)
    layer = layer_of(tracks, node, component)
    f_i, w_i, a_i = parabola_at(tracks.track[node], component, t)

    lower, upper = _first_root(f_i, w_i, a_i), _first_root(1.0 - f_i, -w_i, -a_i)
    first = things.node[node, STAR]
    best, second, partner, second_partner, tied = earliest_meetings(
        address(things.star) + 4 * np.int64(first),
        np.int64(things.node[node + ONE, STAR] - first),
        address(tracks.track),
        address(tracks.gap) + row_of(things, lattice, node, component),
        layer,
        t,
        f_i,
        w_i,
        a_i,
        lower,
        upper,
        np.int64(i),
        np.int64(other),
        np.int64(lattice.dim),
        _TIE,
    )
    tied |= min(f_i, 1.0 - f_i) < _TIE
    # Where both planes are met at once it is the lower one that counts; LOWER is above UPPER.
    if partner < 0:
        partner = np.int64(LOWER + UPPER) - partner
    if second_partner < 0:
        second_partner = np.int64(LOWER + UPPER) - second_partner

    if second > _MARGIN * best:  # too far to be of use: a bound up to which there is none
        second, second_partner = _MARGIN * best, np.int64(UNKNOWN)
    me, mine = tracks.dof[i], tracks.next[i]
    me[TIME] = t + best
    me[LATER] = t + second
    mine[PARTNER] = partner
    mine[LATER_PARTNER] = second_partner
    if partner >= 0:
        me[VERSION] = version_of(tracks, partner_at(things, node, partner))
    if second_partner >= 0:
        me[LATER_VERSION] = version_of(tracks, partner_at(things, node, second_partner))
    enter(tracks.calendar, me[TIME], i)
    return tied


@uncounted_inlined
def take_later(things, tracks, i):
    """Let the second event of dof i take the place of its first, which is stale; return whether it is not, too."""
    me, mine = tracks.dof[i], tracks.next[i]
    place = mine[LATER_PARTNER]
    if place == UNKNOWN and me[TIME] == me[LATER]:
        return False
    if place >= 0:
        j = partner_at(things, split(i)[0], place)
        if version_of(tracks, j) != me[LATER_VERSION]:
            return False
    me[TIME] = me[LATER]
    mine[PARTNER], me[VERSION], mine[LATER_PARTNER] = place, me[LATER_VERSION], UNKNOWN
    enter(tracks.calendar, me[TIME], i)
    return True
