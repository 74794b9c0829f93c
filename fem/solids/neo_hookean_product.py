"""The product of the Hessian of neo-Hookean tetrahedra with a nodal vector, without assembling it.

With the edges w_b of the vector, and what `symplex.fem.solids.neo_hookean` has of an element,

    (∂²φ/∂x² w)_a = k_ab w_b + V λ (g_b·w_b) g_a + V (μ − λ ln J) (g_a·w_b) g_b,    summed over b = 1, 2, 3.
"""

from __future__ import annotations

import numpy as np

from symplex.fem.compiled.kernels import inlined, kernel
from symplex.fem.compiled.lanes import aligned
from symplex.fem.compiled.vectors import dot, mat3_at, set_at, transposed
from symplex.fem.solids.chunks import CHUNK, chunks, gather_edges, scatter_edges
from symplex.fem.solids.neo_hookean import constants_of, places_of, spatial_gradients


@inlined
def _product(d, w, M, D, lmbda, mu):
    """Return J and the rows 1, 2, 3 of the product."""
    J, lV, g = spatial_gradients(d, D, lmbda)
    V = D / 6.0
    rate = dot(g[0], w[0]) + dot(g[1], w[1]) + dot(g[2], w[2])
    return J, V * mu * M @ w + V * lmbda * rate * g + (V * mu - lV) * ((g @ transposed(w)) @ g)


@kernel
def add_hessian_product(q, along, our, out, first, last):
    """Add the product at q with along, of the chunks first … last − 1, to out, all [n, 3]."""
    q, along, out, lmbda, mu = q.ravel(), along.ravel(), out.ravel(), our.lmbda, our.mu
    work, edges = aligned(9 * CHUNK), aligned(9 * CHUNK)
    for chunk in chunks(first, last):
        constants, places, valid = our.geometry[chunk], places_of(our.counts[chunk]), 0
        gather_edges(q, our, chunk, places, work)
        gather_edges(along, our, chunk, places, edges)
        for e in range(places):
            M, D = constants_of(constants, e)
            J, f = _product(mat3_at(work, e, CHUNK), mat3_at(edges, e, CHUNK), M, D, lmbda, mu)
            set_at(work, e, CHUNK, f)
            valid += J > 0.0
        if valid < places:
            return np.nan
        scatter_edges(work, our, chunk, out)
    return 0.0
