"""Asking for the memory of events some time before they come up.

Successive events are far apart in space, so that each finds nothing of what it needs in the caches: its cost is that of
waiting for memory. But the calendar knows what comes next. While one event is processed, those of the buckets
ahead are prepared in stages, each of which asks for what the next one needs to know more. Nothing is changed,
and whether something is asked for in vain does not matter.
"""

# Intrinsics are declared with the typing context, which compiled code does not pass.
# pyright: reportCallIssue=false

import numpy as np

from symplex.fem.compiled.kernels import uncounted_inlined
from symplex.fem.compiled.prefetch import prefetch_at
from symplex.time.events.event_queue import CAPACITY, CURRENT, NEWS
from symplex.time.events.interaction import HELD, STAR
from symplex.time.events.lattice_access import (
    DOF_BYTES,
    FOUR,
    NODE_BYTES,
    ONE,
    SITE_BYTES,
    TRACK_BYTES,
    address,
    family_of,
    parameters_of,
    partner_at,
    places_of,
    row_of,
    split,
    version_of,
)
from symplex.time.events.lattice_lanes import LANES
from symplex.time.events.lattice_tracks import PARTNER, TIME, UNKNOWN, VERSION

_LINE = 64

# What is asked for so many buckets ahead
_RECORDS, _DOF, _LISTS, _STAR, _PARTNER_LISTS, _PARTNER_STAR = 6, 5, 4, 3, 2, 1


@uncounted_inlined
def _fetch(start, size):
    """Ask for ``size`` bytes from an address on."""
    prefetch_at(start)
    for more in range(_LINE, size, _LINE):
        prefetch_at(start + more)
    prefetch_at(start + size - 1)


@uncounted_inlined
def _fetch_records(calendar, bucket):
    """Ask for the records of a bucket, of which there are not many more by the time they are read."""
    first, n = np.int64(bucket * CAPACITY), np.int64(min(calendar.fill[bucket], CAPACITY))
    _fetch(address(calendar.time) + 8 * first, 8 * n)
    _fetch(address(calendar.dof) + 4 * first, 4 * n)


@uncounted_inlined
def _fetch_dof(things, tracks, i):
    node, _ = split(i)
    prefetch_at(address(tracks.dof) + DOF_BYTES * np.int64(i))
    prefetch_at(address(things.node) + NODE_BYTES * np.int64(node))


@uncounted_inlined
def _fetch_neighbours(things, lattice, tracks, i):
    """Ask for the star of a dof and for its row."""
    node, component = split(i)
    first = np.int64(things.node[node, STAR])
    size = np.int64(things.node[node + ONE, STAR]) - first
    _fetch(address(things.star) + 4 * first, 4 * size)
    _fetch(address(tracks.gap) + row_of(things, lattice, node, component), LANES * size)


@uncounted_inlined
def _fetch_stencils(things, i):
    """Ask for the lists of stencils that hold a dof."""
    node, _ = split(i)
    first = np.int64(things.node[node, HELD])
    size = np.int64(things.node[node + ONE, HELD]) - first
    _fetch(address(things.held) + 4 * first, 4 * size)
    _fetch(places_of(things, first), places_of(things, first + size) - places_of(things, first))


@uncounted_inlined
def _fetch_lattice(lattice, i):
    """Ask for the grid of a dof."""
    node, component = split(i)
    k = np.int64(node * lattice.dim + component)
    prefetch_at(address(lattice.spacing) + 8 * k)
    prefetch_at(address(lattice.offset) + 8 * k)
    prefetch_at(address(lattice.mirrored) + k)


@uncounted_inlined
def _fetch_shared_from(things, i, partner):
    """Ask for where the stencils are listed that hold a dof and its partner."""
    node, _ = split(i)
    prefetch_at(address(things.shared_from) + 4 * np.int64(things.node[node, STAR] + np.uint32(partner) // FOUR))


@uncounted_inlined
def _fetch_shared(things, i, partner):
    """Ask for the list of stencils that hold a dof and its partner."""
    node, _ = split(i)
    entry = things.node[node, STAR] + np.uint32(partner) // FOUR
    first = np.int64(things.shared_from[entry])
    size = np.int64(things.shared.itemsize)
    _fetch(address(things.shared) + size * first, size * (np.int64(things.shared_from[entry + ONE]) - first))


@uncounted_inlined
def _fetch_tracks(things, tracks, i):
    """Ask for the parabolas of the star of a dof."""
    node, _ = split(i)
    for k in range(things.node[node, STAR], things.node[node + ONE, STAR]):
        track = address(tracks.track) + TRACK_BYTES * np.int64(things.star[k])
        prefetch_at(track)
        prefetch_at(track + _LINE)


@uncounted_inlined
def _fetch_energy(things, tracks, first, s):
    """Ask for the parameters and vertices of the stencil number s in ``held`` of a node, whose star begins at first."""
    stencil = things.held[s]
    family = family_of(things, stencil)
    _fetch(parameters_of(things, family, stencil), things.row[family])
    for k in range(things.width[family]):
        near = things.star[first + things.place[s, k]]
        prefetch_at(address(tracks.site) + SITE_BYTES * np.int64(near))


@uncounted_inlined
def _fetch_energies(things, tracks, i, partner):
    """Ask for what the energies need that change at an event of a dof (with its partner, if that is a dof)."""
    node, _ = split(i)
    first, held = things.node[node, STAR], things.node[node, HELD]
    if partner >= 0:
        entry = first + np.uint32(partner) // FOUR
        start, stop = things.shared_from[entry], things.shared_from[entry + ONE]
    else:
        start, stop = held, things.node[node + ONE, HELD]
    for k in range(start, stop):
        _fetch_energy(things, tracks, first, np.int64(held + things.shared[k]) if partner >= 0 else np.int64(k))


@uncounted_inlined
def _prepare(things, lattice, tracks, i, stage):
    """Ask for what the event of dof i needs, at a stage."""
    partner = tracks.next[i, PARTNER]
    alone = partner == UNKNOWN  # to be scheduled only
    if stage == _LISTS:
        _fetch_neighbours(things, lattice, tracks, i)
        if not alone:
            _fetch_stencils(things, i)
        if partner >= 0:
            _fetch_shared_from(things, i, partner)
        elif not alone:
            _fetch_lattice(lattice, i)
        return
    if stage == _STAR:
        _fetch_tracks(things, tracks, i)
    if partner < 0:
        if stage == _STAR and not alone:
            _fetch_energies(things, tracks, i, partner)
        return
    node, _ = split(i)
    j = partner_at(things, node, partner)
    if stage == _STAR:
        _fetch_shared(things, i, partner)
        _fetch_dof(things, tracks, j)
    elif version_of(tracks, j) != tracks.dof[i, VERSION]:  # it will not happen
        return
    elif stage == _PARTNER_LISTS:
        _fetch_energies(things, tracks, i, partner)
        _fetch_neighbours(things, lattice, tracks, j)
    else:
        _fetch_tracks(things, tracks, j)


@uncounted_inlined
def look_ahead(things, lattice, tracks):
    """Prepare what is new in the buckets ahead, each by the stage that it is at.

    Most of it is when a bucket has just been opened: all its events at once. Requests that are spread over the
    arithmetic keep the few places for lines on their way from it, which needs them for what is in the next cache.
    """
    calendar = tracks.calendar
    if not calendar.state[NEWS]:
        return
    calendar.state[NEWS] = 0
    current = calendar.state[CURRENT]
    for stage in range(1, len(calendar.seen)):
        bucket = current + stage
        if stage == _RECORDS:
            if calendar.seen[stage] == 0:
                _fetch_records(calendar, bucket)
                calendar.seen[stage] = 1
            break
        stop = max(np.int64(min(calendar.fill[bucket], CAPACITY)), calendar.seen[stage])
        for k in range(calendar.seen[stage], stop):
            i = calendar.dof[bucket * CAPACITY + k]
            if stage == _DOF:
                _fetch_dof(things, tracks, i)
            elif tracks.dof[i, TIME] == calendar.time[bucket * CAPACITY + k]:
                _prepare(things, lattice, tracks, i, stage)
        calendar.seen[stage] = stop
