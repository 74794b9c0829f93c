"""Compiled loops for what is told of stresses: of neo-Hookean tetrahedra at once, of other elements from their forces.

With the edges d_a = x_a − x_0 of a linear tetrahedron of the deformed volume v and the forces f_a on its nodes,

    σ = (1/v) Σ_a f_a ⊗ d_a,    a = 1, 2, 3,

and likewise the means over any element: of σ from deformed edges and volumes, of P from undeformed ones. Nine numbers
of a stress are those of its rows.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from symplex.fem.blocks import SIZE
from symplex.fem.kernels import inlined, kernel
from symplex.fem.solids.chunks import gather_edges, set_vectors, vectors
from symplex.fem.solids.edge_algebra import cross, dot
from symplex.fem.solids.neo_hookean import column, forces

NINE = 9


@inlined
def _von_mises(xx, yy, zz, xy, yz, xz):
    """Return √(3/2 s : s)."""
    a, b, c = xx - yy, yy - zz, zz - xx
    return sqrt(0.5 * (a * a + b * b + c * c) + 3.0 * (xy * xy + yz * yz + xz * xz))


@kernel
def set_neo_hookean(q, nodes, counts, k, lmbda, mu, elements, out, first, last):
    """Set out [m, 9] to σ, or out [m, 1] to the von Mises stress, of the blocks first … last − 1 at q [n, 3].

    ``elements`` names the elements; see `symplex.fem.solids.neo_hookean`.
    """
    q = q.ravel()
    work = np.empty(9 * SIZE)
    whole = out.shape[1] == NINE
    for block in range(first, last):
        n = counts[block]
        constants, valid = k[block], 0
        gather_edges(q, nodes[block], n, constants, work)
        for e in range(n):
            d, of_e = vectors(work, e), column(constants, e)
            J, u, v, w = forces(d[0], d[1], d[2], of_e, lmbda, mu)
            r = 6.0 * of_e[6] / J  # 1/v
            x, y, z = (d[0][0], d[1][0], d[2][0]), (d[0][1], d[1][1], d[2][1]), (d[0][2], d[1][2], d[2][2])
            f, g, h = (u[0], v[0], w[0]), (u[1], v[1], w[1]), (u[2], v[2], w[2])
            xx, yy, zz = r * dot(f, x), r * dot(g, y), r * dot(h, z)
            xy, yz, xz = r * dot(f, y), r * dot(g, z), r * dot(f, z)
            set_vectors(work, e, ((xx, yy, zz), (xy, yz, xz), (_von_mises(xx, yy, zz, xy, yz, xz), 0.0, 0.0)))
            valid += J > 0.0
        if valid < n:
            return np.nan
        for e in range(n):
            to = out[elements[block * SIZE + e]]
            normal, shear, size = vectors(work, e)
            if whole:
                to[0], to[1], to[2] = normal[0], shear[0], shear[2]
                to[3], to[4], to[5] = shear[0], normal[1], shear[1]
                to[6], to[7], to[8] = shear[2], shear[1], normal[2]
            else:
                to[0] = size[0]
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
            n = at[a]
            d = (y[n, 0] - y[o, 0], y[n, 1] - y[o, 1], y[n, 2] - y[o, 2])
            for i in range(3):
                for j in range(3):
                    to[3 * i + j] += forces[e, a, i] * d[j]
        if len(volumes) > 0:
            r = 1.0 / volumes[e]
        else:
            r = 6.0 / dot(_edge(y, o, at[1]), cross(_edge(y, o, at[2]), _edge(y, o, at[3])))
        for i in range(9):
            to[i] *= r


@inlined
def _edge(y, o, n):
    return y[n, 0] - y[o, 0], y[n, 1] - y[o, 1], y[n, 2] - y[o, 2]


@kernel
def set_von_mises(sigma, out):
    """Set out [m] to the von Mises stress of σ [m, 9]."""
    for e in range(len(sigma)):
        s = sigma[e]
        out[e] = _von_mises(s[0], s[4], s[8], s[1], s[5], s[2])
