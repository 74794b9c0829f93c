"""Compiled loops for stresses in results: of neo-Hookean tetrahedra at once, of other elements from their forces.

With the edges d_a = x_a − x_0 of a linear tetrahedron of the deformed volume v and the forces f_a on its nodes,

    σ = (1/v) Σ_a f_a ⊗ d_a,    a = 1, 2, 3,

and likewise the means over any element: of σ from deformed edges and volumes, of P from undeformed ones. Nine numbers
of a stress are those of its rows.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from symplex.fem.compiled.kernels import inlined, kernel
from symplex.fem.compiled.lanes import aligned
from symplex.fem.compiled.vectors import (
    Sym3,
    add_at,
    cross,
    dot,
    full,
    mat3_at,
    outer,
    set_at,
    sym3_at,
    transposed,
    vec3_of,
)
from symplex.fem.solids.chunks import CHUNK, chunks, gather_edges
from symplex.fem.solids.neo_hookean import DETERMINANT, constants_of, forces, places_of

NINE = 9


@inlined
def _von_mises(s):
    """Return √(3/2 s' : s'), s' the deviator."""
    a, b, c = s[0] - s[1], s[1] - s[2], s[2] - s[0]
    return sqrt(0.5 * (a * a + b * b + c * c) + 3.0 * (s[3] * s[3] + s[5] * s[5] + s[4] * s[4]))


@kernel
def set_neo_hookean(q, our, out, first, last):
    """Set out [m, 9] to σ, or out [m, 1] to the von Mises stress, of the chunks first … last − 1 at q [n, 3].

    See `symplex.fem.solids.neo_hookean`.
    """
    q, lmbda, mu = q.ravel(), our.lmbda, our.mu
    work = aligned(9 * CHUNK)
    whole = out.shape[1] == NINE
    for chunk in chunks(first, last):
        n, constants, valid = our.counts[chunk], our.geometry[chunk], 0
        places = places_of(n)
        gather_edges(q, our, chunk, places, work)
        for e in range(places):
            d, (M, D) = mat3_at(work, e, CHUNK), constants_of(constants, e)
            J, f = forces(d, M, D, lmbda, mu)
            s = 6.0 / (D * J) * (transposed(f) @ d)  # by 1/v
            sigma = Sym3(s[0][0], s[1][1], s[2][2], s[0][1], s[0][2], s[1][2])
            set_at(work, e, CHUNK, (sigma, _von_mises(sigma)))
            valid += J > 0.0
        if valid < places:
            return np.nan
        for e in range(n):
            to = out[our.elements[chunk * CHUNK + e]]
            if whole:
                set_at(to, 0, 1, full(sym3_at(work, e, CHUNK)))
            else:
                to[0] = work[DETERMINANT + e]
    return 0.0


@kernel
def set_means(forces, y, nodes, volumes, out):
    """Set out [m, 9] to Σ_n f_n ⊗ (y_n − y_0)/V of forces f_n [m, k, 3] in N and nodal vectors y [n, 3].

    Without volumes [m] they are those of the linear tetrahedra with nodes at y.
    """
    m, k = nodes.shape
    for e in range(m):
        at, o = nodes[e], nodes[e, 0]
        to = out[e]
        to[:] = 0.0
        for a in range(1, k):  # the forces of an element sum to zero
            add_at(to, 0, 1, outer(vec3_of(forces[e], a), _edge(y, o, at[a])))
        if len(volumes) > 0:
            r = 1.0 / volumes[e]
        else:
            r = 6.0 / dot(_edge(y, o, at[1]), cross(_edge(y, o, at[2]), _edge(y, o, at[3])))
        set_at(to, 0, 1, r * mat3_at(to, 0, 1))


@inlined
def _edge(y, o, n):
    return vec3_of(y, n) - vec3_of(y, o)


@kernel
def set_von_mises(sigma, out):
    """Set out [m] to the von Mises stress of σ [m, 9]."""
    for e in range(len(sigma)):
        s = sigma[e]
        out[e] = _von_mises((s[0], s[4], s[8], s[1], s[2], s[5]))
