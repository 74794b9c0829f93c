"""What the event loop of force-stepping moves: the lattice, one parabola for each coordinate, and the queue.

Lattice coordinates z = q/h − o. A plain (Kuhn) triangulation repeats the same cell everywhere: a dof is described by
its cell ⌊z⌋ and its fraction f = z − ⌊z⌋. Where it is *mirrored* in z_i (Fig. 4 of the paper: invariant under
reflections at the lattice planes of that direction) every cell is the mirror image of its neighbours across these
planes: such a dof is described by the nearest even vertex u, its distance f = |z − u| from it and the side s = ±1 it is
on, z = u + s f. Then everything that holds for f in a plain cell holds for it here. Dofs of both kinds may be in one
lattice.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.fem.energies.energy import Array
from symplex.time.events.event_queue import Calendar, empty_calendar
from symplex.time.events.huge_pages import zeros
from symplex.time.events.interaction import STAR, Interactions
from symplex.time.events.lattice_lanes import LANES

# Rows of Tracks.track, with a lane for each component. Fractions and rates are in lattice units.
FRACTION, RATE, ACCEL, START = range(4)
SPARE = 3  # a lane that no component has
LAYERS = 120  # the first of Tracks.layer that is used
FIXED = 2.0  # the fraction of a component that does not move, far from all that do

# Columns of Tracks.dof, and of Tracks.next, which is the second half of it read as integers
CELL, STEP, WEIGHT, TIME, LATER, VERSION, LATER_VERSION = range(7)
PARTNER, LATER_PARTNER = 14, 15
COLUMNS = 8

# Partners of a dof in its next event, besides places in its star: its own planes, none, or not known
LOWER, UPPER, NONE, UNKNOWN = (np.int32(-k) for k in (1, 2, 3, 4))

# Columns of Tracks.count
INTEGER_EVENTS, PAIR_EVENTS, RENEWALS, OTHER_CROSSINGS, SINCE_EPOCH = range(5)
N_COUNTS = 5

# Columns of a log of parabolas
LOG_TIME, LOG_DOF, LOG_EVENT, LOG_POSITION, LOG_VELOCITY, LOG_ACCELERATION = range(6)
LOG_COLUMNS = 6


class Lattice(NamedTuple):
    """The grid and the masses.

    Attributes
    ----------
    spacing, offset : float64 [n·dim]
        h_i in m and o_i: lattice planes are at q_i = h_i (u + o_i).
    dim : uint32
    mirrored : bool [n·dim]
        Whether cells that are neighbours in z_i are mirror images.
    bounds : float64 [n·dim, 2], or without rows
        The least and the largest cell of each dof beyond which the event loop stops (`lattice_events.LEFT`); without
        rows it does not.
    """

    spacing: NDArray[np.float64]
    offset: NDArray[np.float64]
    dim: np.uint32
    mirrored: NDArray[np.bool_]
    bounds: NDArray[np.float64]


class Tracks(NamedTuple):
    """All that changes: one parabola per dof, the integers of the topology, and the next events.

    What is needed of each neighbour is kept together, two cache lines for the components of a node; and so is what is
    needed of the dofs that an event changes, one line for each.

    Attributes
    ----------
    track : float64 [n, 4, LANES]
        For each component of a node the fraction f with ḟ and f̈ at the time ``START``. In the spare lane, in the row
        of the number of a component, how often its parabola has changed (its version).
    layer : int8 [n, 128]
        The same memory; from ``LAYERS`` on the cells ⌊z⌋ modulo 256, or 0 where mirrored.
    site : float64 [n, 8]
        For each component the position of the vertex in m (from 0 on), and of the next one to the side (from 4 on).
    gap : int8 [...]
        For each dof i and each component of each node of its star ⌊z_j − z_i⌋ modulo 256, where f stands for z if a dof
        is mirrored: the layer of j less that of i less this is 0 or 1, and 1 for i itself.
    dof : float64 [n·LANES, COLUMNS]
        The cell ⌊z⌋ or vertex u; the step s h in m to the side s (1 if not mirrored); 1/(m h²), or 0 if fixed; the
        time of the next event, and of that after it if that one turns out to be none; the versions of the
        partners in both when they were scheduled.
    next : int32 [n·LANES, 2·COLUMNS]
        The same memory. The partners in both events: 4·(place in the star) + component, or ``LOWER`` or ``UPPER``, or
        ``NONE`` (the first event of all, see `lattice_events.begin`), or ``UNKNOWN`` (none before that time).
    calendar : Calendar
        The times of the next events.
    count : int64 [N_COUNTS]
    epoch : float64 [1]
        The time in s that times count from.
    """

    track: NDArray[np.float64]
    layer: NDArray[np.int8]
    site: NDArray[np.float64]
    gap: NDArray[np.int8]
    dof: NDArray[np.float64]
    next: NDArray[np.int32]
    calendar: Calendar
    count: NDArray[np.int64]
    epoch: NDArray[np.float64]

    def arrays(self) -> dict[str, NDArray]:
        """Return what a checkpoint needs; the calendar follows from the times of the dofs."""
        return {name: getattr(self, name) for name in ("track", "site", "gap", "dof", "count", "epoch")}

    def of_dofs(self, dim: int, column: int) -> Array:
        """Return a column of ``dof`` [n, dim], writable."""
        return self.dof.reshape(-1, LANES, COLUMNS)[:, :dim, column]

    def parabolas(self, dim: int) -> Array:
        """Return f, ḟ, f̈ and their ``START`` [4, n·dim] of all dofs."""
        return self.track[:, :, :dim].transpose(1, 0, 2).reshape(4, -1)


def empty_tracks(tables: Interactions, n_nodes: int, dim: int) -> Tracks:
    """Return tracks of n_nodes·dim dofs that do not move."""
    track = zeros((n_nodes, 4, LANES))
    track[:, FRACTION] = FIXED
    track[:, START, SPARE] = 1.0  # no denormal number, whatever the layers are
    dof = zeros((n_nodes * LANES, COLUMNS))
    dof[:, TIME] = dof[:, LATER] = np.inf
    return Tracks(
        track=track,
        layer=track.reshape(n_nodes, 4 * LANES).view(np.int8),
        site=zeros((n_nodes, 2 * LANES)),
        gap=zeros((dim * LANES * len(tables.star),), np.int8),
        dof=dof,
        next=dof.view(np.int32),
        calendar=empty_calendar(n_nodes * dim),
        count=np.zeros(N_COUNTS, np.int64),
        epoch=np.zeros(1),
    )


def place(z: Array, mirrored: NDArray[np.bool_]) -> tuple[Array, Array, Array]:
    """Return the cells, signs and fractions of lattice coordinates z: z = cell + sign · fraction."""
    cell = np.where(mirrored, 2.0 * np.round(0.5 * z), np.floor(z))
    return cell, np.where(z < cell, -1.0, 1.0), np.abs(z - cell)


def lattice_coordinates(tracks: Tracks, dim: int, t: float) -> tuple[Array, Array, Array]:
    """Return z less its cell, ż and z̈ [n·dim] of all dofs at the time t, counted from the epoch."""
    fraction, rate, accel, start = tracks.parabolas(dim)
    sign, tau = np.sign(tracks.of_dofs(dim, STEP).ravel()), t - start
    fraction = np.where(fraction == FIXED, 0.0, fraction + tau * (rate + 0.5 * tau * accel))
    return sign * fraction, sign * (rate + tau * accel), sign * accel


def vertex_seen(tables: Interactions, tracks: Tracks, dim: int, i: int) -> Array:
    """Return the vertex [n, dim] in m that dof i sees; of nodes outside of its star, their own."""
    node, component = divmod(i, dim)
    first, last = tables.node[node : node + 2, STAR].astype(int)
    star, row = tables.star[first:last], LANES * (dim * first + component * (last - first))
    gap = tracks.gap[row : row + LANES * (last - first)].reshape(-1, LANES)[:, :dim]
    layer = tracks.layer[:, LAYERS : LAYERS + dim]
    ahead = 1 - (layer[star] - layer[node, component] - gap)
    low, high = tracks.site[:, :dim], tracks.site[:, LANES : LANES + dim]
    x = low.copy()
    x[star] += ahead * (high - low)[star]
    return x
