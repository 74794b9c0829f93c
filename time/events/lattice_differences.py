"""Differences of the potential energy between the lattice points that a coordinate sees."""

import numpy as np

from symplex.fem.compiled.call import call_difference, call_mixed
from symplex.fem.compiled.kernels import uncounted_inlined
from symplex.time.events.interaction import HELD, STAR
from symplex.time.events.lattice_access import (
    ONE,
    SITE_BYTES,
    TRACK_BYTES,
    address,
    family_of,
    find,
    layer_of,
    parameters_of,
    row_of,
    split,
)
from symplex.time.events.lattice_lanes import LANES, put_vertex
from symplex.time.events.lattice_tracks import STEP


@uncounted_inlined
def _gather(things, lattice, tracks, i, s, width, local):
    """Write into local the positions in m, on the vertex seen by dof i, of the nodes of its stencil number s."""
    node, component = split(i)
    layer = layer_of(tracks, node, component)
    first = things.node[node, STAR]
    gaps = address(tracks.gap) + row_of(things, lattice, node, component)
    parabolas, sites, out = address(tracks.track), address(tracks.site), address(local)
    for k in range(width):
        p = things.place[s, k]
        a = np.int64(things.star[first + p])
        put_vertex(parabolas + TRACK_BYTES * a, sites + SITE_BYTES * a, gaps + LANES * np.int64(p), layer, out)
        out += 8 * np.int64(lattice.dim)


@uncounted_inlined
def difference(things, lattice, tracks, i, local):
    """φ(u + s e_i) − φ(u) over the stencils that hold dof i, u the vertex that it sees and s its side."""
    node, component = split(i)
    dim = np.int64(lattice.dim)
    total = 0.0
    for s in range(np.int64(things.node[node, HELD]), np.int64(things.node[node + ONE, HELD])):
        stencil = things.held[s]
        family = family_of(things, stencil)
        width = things.width[family]
        _gather(things, lattice, tracks, i, s, width, local)
        total += call_difference(
            things.difference[family],
            parameters_of(things, family, stencil),
            address(local),
            find(things, s, width, np.int64(0)) * dim + np.int64(component),
            tracks.dof[i, STEP],
        )
    return total


@uncounted_inlined
def mixed_difference(things, lattice, tracks, i, j, p, local):
    """δ = φ(11) − φ(10) − φ(01) + φ(00) in dofs i and j, over the stencils that hold both; dof i sees both low.

    The node of j is at the place p of the star of i.
    """
    (node, component_i), (_, component_j) = split(i), split(j)
    dim = np.int64(lattice.dim)
    entry = things.node[node, STAR] + p
    total = 0.0
    for k in range(things.shared_from[entry], things.shared_from[entry + ONE]):
        s = np.int64(things.node[node, HELD] + things.shared[k])
        stencil = things.held[s]
        family = family_of(things, stencil)
        width = things.width[family]
        _gather(things, lattice, tracks, i, s, width, local)
        total += call_mixed(
            things.mixed[family],
            parameters_of(things, family, stencil),
            address(local),
            find(things, s, width, np.int64(0)) * dim + np.int64(component_i),
            find(things, s, width, np.int64(p)) * dim + np.int64(component_j),
            tracks.dof[i, STEP],
            tracks.dof[j, STEP],
        )
    return total
