"""Compiled kernels of the compressible neo-Hookean law on linear tetrahedra.

With deformed edges d_a = x_a − x_0 the shear part of the energy is quadratic in the edges, and the volumetric part
is a function of their determinant alone. With k_ab = μ V ∇N_a·∇N_b (constant), D = 6 V the undeformed determinant,
c_1 = d_2 × d_3 and cyclic, J = d_1·c_1 / D, and the deformed shape gradients g_a = F⁻ᵀ ∇N_a = c_a / (J D):

    φ            = ½ k_ab d_a·d_b − 3/2 μ V + V (λ/2 ln²J − μ ln J)
    ∂φ/∂x_a      = k_ab d_b + V (λ ln J − μ) g_a
    ∂²φ/∂x_a∂x_b = k_ab 1 + V (λ g_a ⊗ g_b + (μ − λ ln J) g_b ⊗ g_a)

for a, b = 1, 2, 3, and whatever concerns node 0 is minus the sum of the others. It is F S ∇N_a with
S = λ ln J C⁻¹ + μ (1 − C⁻¹) (Gonzalez, Schmidt and Ortiz, eq. 74), because Σ_b (∇N_a·∇N_b) d_b = F ∇N_a.

The constants of an element are ∇N_a·∇N_b and D, the geometry of `symplex.fem.solids.chunks`.
Where det F ≤ 0 (or is not a number) results are meaningless, and kernels say so by what they return.

As many elements are computed as vector instructions take at once, with repetitions of the last one of a chunk. Were
some left over, which are computed one by one and rounded in other ways, the bits of an element would depend on its
place.
"""

from __future__ import annotations

import numpy as np

from symplex.fem.compiled.kernels import inlined, kernel
from symplex.fem.compiled.lanes import aligned
from symplex.fem.compiled.logarithm import log
from symplex.fem.compiled.records import Number
from symplex.fem.compiled.vectors import (
    add_at,
    cofactors,
    contracted,
    cross,
    dot,
    expanded,
    full,
    gram,
    mat3_at,
    outer,
    set_at,
    shifted,
    sym3_at,
    transposed,
)
from symplex.fem.solids.chunks import CHUNK, NINE, Elements, add_energies, chunks, gather_edges, scatter_edges

DETERMINANT = 6 * CHUNK  # where D of a chunk begins
_AT_ONCE = 32  # numbers of four vector instructions of the widest kind: compilers interleave no more


class NeoHookeanElements(Elements):
    """Linear tetrahedra with the moduli λ and μ in Pa."""

    lmbda: Number
    mu: Number


# -- one element ----------------------------------------------------------------------------------------------
# Of its edges d, M_ab = ∇N_a·∇N_b and D.


@inlined
def constants_of(geometry, e):
    """Return M_ab and D of an element of a chunk."""
    return sym3_at(geometry, e, CHUNK), geometry[DETERMINANT + e]


@inlined
def _energy(d, M, D, lmbda, mu):
    """Return J and φ."""
    J = dot(d[0], cross(d[1], d[2])) / D
    lnJ = log(J)
    return J, D / 6.0 * (0.5 * mu * contracted(M, gram(d)) + ((0.5 * lmbda * lnJ - mu) * lnJ - 1.5 * mu))


@inlined
def forces(d, M, D, lmbda, mu):
    """Return J and ∂φ/∂x_1, ∂φ/∂x_2, ∂φ/∂x_3."""
    c = cofactors(d)
    J = dot(d[0], c[0]) / D
    return J, D / 6.0 * mu * M @ d + (lmbda * log(J) - mu) / (6.0 * J) * c  # V (λ ln J − μ) g_a


@inlined
def spatial_gradients(d, D, lmbda):
    """Return J, V λ ln J and g_1, g_2, g_3."""
    c = cofactors(d)
    determinant = dot(d[0], c[0])
    J = determinant / D
    return J, D / 6.0 * lmbda * log(J), 1.0 / determinant * c


@expanded
def of_four_nodes(g, k):
    """Return g_a and the rows of k_ab of all four nodes."""
    first = [-(row[0] + row[1] + row[2]) for row in full(k)]
    rows = [(one, *row) for one, row in zip(first, full(k), strict=True)]
    return (-(g[0] + g[1] + g[2]), *g), ((-(first[0] + first[1] + first[2]), *first), *rows)


@expanded
def _block(alpha, beta, k_ab, g, h):
    """Return k_ab 1 + α g ⊗ h + β h ⊗ g."""
    return shifted(outer(alpha * g, h) + outer(beta * h, g), k_ab)


# -- chunks of elements -------------------------------------------------------------------------------------------
# They return nan if an element is inverted, and what they set or add is then meaningless; else a finite number.


@inlined
def places_of(n):
    """Return for how many elements to compute what n elements need."""
    return (n + _AT_ONCE - 1) // _AT_ONCE * _AT_ONCE


@kernel
def add_gradient(q, our, out, first, last):
    """Add the gradient of the chunks first … last − 1 at q [n, 3] to out [n, 3]."""
    q, out, lmbda, mu = q.ravel(), out.ravel(), our.lmbda, our.mu
    work = aligned(9 * CHUNK)
    for chunk in chunks(first, last):
        constants, places, valid = our.geometry[chunk], places_of(our.counts[chunk]), 0
        gather_edges(q, our, chunk, places, work)
        for e in range(places):
            M, D = constants_of(constants, e)
            J, f = forces(mat3_at(work, e, CHUNK), M, D, lmbda, mu)
            set_at(work, e, CHUNK, f)
            valid += J > 0.0
        if valid < places:
            return np.nan
        scatter_edges(work, our, chunk, out)
    return 0.0


@kernel
def write_values(q, our, out, first, last):
    """Add the energies of the elements of the chunks first … last − 1 at q [n, 3] to out [m]."""
    q, lmbda, mu, check = q.ravel(), our.lmbda, our.mu, 0.0
    work = aligned(9 * CHUNK)
    for chunk in chunks(first, last):
        constants, places, valid = our.geometry[chunk], places_of(our.counts[chunk]), 0
        gather_edges(q, our, chunk, places, work)
        for e in range(places):
            M, D = constants_of(constants, e)
            J, work[e] = _energy(mat3_at(work, e, CHUNK), M, D, lmbda, mu)
            valid += J > 0.0
        if valid < places:
            return np.nan
        check += add_energies(our, chunk, work, out)
    return check


@kernel
def add_hessian(q, our, slots, out, first, last):
    """Add the Hessian of the chunks first … last − 1 at q [n, 3] to out [nnz, 3, 3].

    The block of the nodes a and b of element e goes to ``out[slots[e, a, b]]``.
    """
    q, out, lmbda, mu = q.ravel(), out.ravel(), our.lmbda, our.mu
    work, lV = aligned(9 * CHUNK), aligned(CHUNK)
    for chunk in chunks(first, last):
        n, constants, valid = our.counts[chunk], our.geometry[chunk], 0
        places = places_of(n)
        gather_edges(q, our, chunk, places, work)
        for e in range(places):
            J, lV[e], g = spatial_gradients(mat3_at(work, e, CHUNK), constants[DETERMINANT + e], lmbda)
            set_at(work, e, CHUNK, g)
            valid += J > 0.0
        if valid < places:
            return np.nan
        for e in range(n):
            M, D = constants_of(constants, e)
            V = D / 6.0
            g, stiffness = of_four_nodes(mat3_at(work, e, CHUNK), mu * V * M)
            alpha, beta = V * lmbda, V * mu - lV[e]
            to = slots[our.elements[chunk * CHUNK + e]]
            for a in range(4):
                for b in range(a + 1):
                    h = _block(alpha, beta, stiffness[a][b], g[a], g[b])
                    add_at(out, NINE * np.uint64(to[a, b]), 1, h)
                    if b < a:
                        add_at(out, NINE * np.uint64(to[b, a]), 1, transposed(h))
    return 0.0
