"""Where things are in the tables of interactions and tracks, for compiled loops.

In here a dof is known by its *lane*, LANES · node + component, which is taken apart without a division.
"""

import numpy as np

from symplex.fem.compiled.kernels import uncounted_inlined
from symplex.time.events.interaction import STAR
from symplex.time.events.lattice_lanes import LANES, lane_of
from symplex.time.events.lattice_tracks import LAYERS, SPARE

ONE, FOUR = np.uint32(1), np.uint32(LANES)
TRACK_BYTES, SITE_BYTES, DOF_BYTES, NODE_BYTES = 128, 64, 64, 8


@uncounted_inlined
def address(array):
    """Return the address of an array's data as a signed integer (mixed with an unsigned one it became a float)."""
    return np.int64(array.ctypes.data)


@uncounted_inlined
def split(i):
    """Return node and component of a lane (32 bits: numba makes 64 of arithmetic, and would compile callers twice)."""
    return np.uint32(i // FOUR), np.uint32(i % FOUR)


@uncounted_inlined
def row_of(things, lattice, node, component):
    """Return where the row of a dof begins in ``gap``."""
    first = np.int64(things.node[node, STAR])
    size = np.int64(things.node[node + ONE, STAR]) - first
    return LANES * (np.int64(lattice.dim) * first + np.int64(component) * size)


@uncounted_inlined
def partner_at(things, node, place):
    """Return the lane at a place (LANES · its number in the star + component) in the star of a node."""
    near, component = split(np.uint32(place))
    return np.uint32(things.star[things.node[node, STAR] + near] * FOUR + component)


@uncounted_inlined
def layer_of(tracks, node, component):
    """Return the layer of a dof."""
    return np.int64(tracks.layer[node, LAYERS + component])


@uncounted_inlined
def order_of(tracks, layer_i, node, component, entry):
    """Return 1 if a dof is behind dof i, 0 if it is not; at a tie round-off may for a moment give −1 or 2."""
    return np.int8(layer_of(tracks, node, component) - layer_i - np.int64(tracks.gap[entry]))


@uncounted_inlined
def version_of(tracks, i):
    """Return how often the parabola of a dof has changed."""
    node, component = split(i)
    return tracks.track[node, component, SPARE]


@uncounted_inlined
def family_of(things, stencil):
    """Return the energy that a stencil belongs to."""
    family = np.uint32(0)
    while stencil >= things.first[family + ONE]:
        family += ONE
    return family


@uncounted_inlined
def parameters_of(things, family, stencil):
    """Return the address of the parameters of a stencil."""
    return things.parameters[family] + things.row[family] * np.int64(stencil - things.first[family])


@uncounted_inlined
def places_of(things, s):
    """Return the address of the places of the nodes of the stencil number s in ``held``."""
    return address(things.place) + 2 * np.int64(things.place.shape[1]) * s


@uncounted_inlined
def find(things, s, width, requested):
    """Return which node of the stencil number s in ``held`` is the required one (int64) of the star, or its width."""
    places = places_of(things, s)
    for k in range(0, width, LANES):
        lane = lane_of(places + 2 * np.int64(k), requested)
        if lane < LANES:
            return np.int64(k) + lane
    return np.int64(width)
