"""The tangent of neo-Hookean tetrahedra, coupling by coupling (see `symplex.fem.solids.couplings`).

With the deformed shape gradients g_a scaled by V^½, the block of two nodes is Σ λ g_a ⊗ g_b + (μ − λ ln J) g_b ⊗ g_a +
k_ab 1 over the elements that have both (see `symplex.fem.solids.neo_hookean`).
"""

from __future__ import annotations

import numpy as np

from symplex.fem.compiled.kernels import kernel
from symplex.fem.compiled.lanes import aligned
from symplex.fem.compiled.prefetch import prefetch
from symplex.fem.compiled.vectors import mat3_at, set_at
from symplex.fem.solids.chunks import CHUNK, NINE, chunks, gather_edges
from symplex.fem.solids.coupling_sums import BETA, RECORD, add_coupling
from symplex.fem.solids.neo_hookean import constants_of, of_four_nodes, places_of, spatial_gradients

_AHEAD = 24  # elements of couplings, whose records are fetched before they are needed
_BLOCKS_AHEAD = 12  # couplings


@kernel
def set_records(q, our, records, first, last):
    """Write the records of the chunks first … last − 1 at q [n, 3]; return nan if an element is inverted, else 0."""
    q, records, lmbda, mu = q.ravel(), records.ravel(), our.lmbda, our.mu
    work, beta = aligned(9 * CHUNK), aligned(CHUNK)
    for chunk in chunks(first, last):
        n, constants, valid = our.counts[chunk], our.geometry[chunk], 0
        places = places_of(n)
        gather_edges(q, our, chunk, places, work)
        for e in range(places):
            _, D = constants_of(constants, e)
            J, lV, g = spatial_gradients(mat3_at(work, e, CHUNK), D, lmbda)
            beta[e] = mu - 6.0 / D * lV
            set_at(work, e, CHUNK, np.sqrt(D / 6.0) * g)
            valid += J > 0.0
        if valid < places:
            return np.nan
        for e in range(n):
            M, D = constants_of(constants, e)
            g, stiffness = of_four_nodes(mat3_at(work, e, CHUNK), D / 6.0 * mu * M)
            at = np.uint64(RECORD) * np.uint64(our.elements[chunk * CHUNK + e])
            for a in range(4):
                set_at(records, at + np.uint64(4 * a), 1, g[a])
                records[at + np.uint64(19 + a)] = stiffness[a][a]
            records[at + np.uint64(BETA)] = beta[e]
            records[at + np.uint64(7)], records[at + np.uint64(11)] = stiffness[0][1], stiffness[0][2]
            records[at + np.uint64(15)], records[at + np.uint64(16)] = stiffness[0][3], stiffness[1][2]
            records[at + np.uint64(17)], records[at + np.uint64(18)] = stiffness[1][3], stiffness[2][3]
    return 0.0


@kernel
def add_hessian(our, out, first, last):
    """Add the couplings first … last − 1 to the blocks out [nnz, 3, 3]; return 0."""
    records, to, opposite, start, codes = our.records.ravel(), our.to, our.opposite, our.start, our.codes
    out, first, last = out.ravel(), np.int64(first), np.int64(last)
    most = start[last]
    for c in range(first, last):
        begin, end = start[c], start[c + 1]
        for t in range(begin + _AHEAD, min(end + _AHEAD, most)):
            at = np.int64(RECORD) * np.int64(codes[t] >> 4)
            prefetch(records, at)  # pyright: ignore[reportCallIssue]
            prefetch(records, at + 8)  # pyright: ignore[reportCallIssue]
            prefetch(records, at + 16)  # pyright: ignore[reportCallIssue]
        ahead = min(c + _BLOCKS_AHEAD, last - 1)
        prefetch(out, 9 * np.int64(to[ahead]))  # pyright: ignore[reportCallIssue]
        prefetch(out, 9 * np.int64(to[ahead]) + 8)  # pyright: ignore[reportCallIssue]
        prefetch(out, 9 * np.int64(opposite[ahead]))  # pyright: ignore[reportCallIssue]
        prefetch(out, 9 * np.int64(opposite[ahead]) + 8)  # pyright: ignore[reportCallIssue]
        add_coupling(
            records, codes, begin, end, our.alpha, our.places, out, np.int64(NINE) * to[c], np.int64(NINE) * opposite[c]
        )
    return 0.0
