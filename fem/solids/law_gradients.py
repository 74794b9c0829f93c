"""Energy and gradient of elements with any law W(I1, I2, θ, I4, …), which is called by its address.

At a point with the tangent vectors d_a, their Gram matrix G_ab = d_a·d_b, M_ab = ∇ξ_a·∇ξ_b, N = cof M and the
undeformed determinant D (see `symplex.fem.solids.chunks`) the invariants of C = FᵀF = Σ G_ab ∇ξ_a ⊗ ∇ξ_b are

    I1 = M : G,    I2 = N : cof G,    θ = ln(d_1·c_1/D),    I4 = |v|²,  v = Σ_a (a0·∇ξ_a) d_a = F a0,

c_1 = d_2 × d_3 and cyclic, and the forces on the tangent vectors

    t_a = V Σ_b (2 W_1 M + 2 W_2 {G, N})_ab d_b + V W_θ c_a/(d_1·c_1) + 2 V W_4 (a0·∇ξ_a) v,

V being the weight of the point times D and {G, N} the bilinear form of the cofactors,
cof(G + N) = cof G + {G, N} + cof N. This is V F S ∇ξ_a with S = 2 (W_1 + W_2 I1) 1 − 2 W_2 C + W_θ C⁻¹ + 2 W_4 a0 ⊗ a0.

Kernels return nan if an element is inverted or the law has no finite value, and what they add is then meaningless.
"""

from __future__ import annotations

import numpy as np

from symplex.fem.call import call_law
from symplex.fem.kernels import inlined, kernel
from symplex.fem.logarithm import log
from symplex.fem.solids.chunks import (
    AT,
    CHUNK,
    add_hourglasses,
    direction,
    elements_per_chunk,
    gather,
    place,
    room_of_hourglasses,
    scatter,
    volume,
    work,
)
from symplex.fem.vectors import (
    cofactors,
    contracted,
    cross,
    dot,
    gram,
    mat3_at,
    mixed,
    outer,
    set_at,
    sym3_at,
)


@inlined
def set_invariants(d, geometry, fibres, has_i2, invariants):
    """Set the rows of the invariants of a chunk, that of I2 if the law has it; return how many are not inverted."""
    valid = _set_strains(d, geometry, True, invariants) if has_i2 else _set_strains(d, geometry, False, invariants)
    for p in range(CHUNK):  # apart: each is a long chain of operations, of which more can be under way in a short loop
        invariants[place(2, p)] = log(invariants[place(2, p)])
    for f in range(fibres):
        for p in range(CHUNK):
            v = direction(geometry, f, p) @ mat3_at(d, p, CHUNK)
            invariants[place(3 + f, p)] = dot(v, v)
    return valid


@inlined
def _set_strains(d, geometry, has_i2, invariants):
    """Set the rows of I1, I2 and, for θ, J."""
    valid = 0
    for p in range(CHUNK):
        I1, I2, J = strains(mat3_at(d, p, CHUNK), sym3_at(geometry, p, CHUNK), geometry[place(6, p)], has_i2)
        invariants[place(0, p)] = I1
        if has_i2:
            invariants[place(1, p)] = I2
        invariants[place(2, p)] = J
        valid += J > 0.0
    return valid


@inlined
def strains(d, M, D, has_i2):
    """Return I1, I2 (or 0 if the law does not have it) and J at a point with the tangent vectors d."""
    G = gram(d)
    I2 = contracted(cofactors(M), cofactors(G)) if has_i2 else 0.0
    return contracted(M, G), I2, dot(d[0], cross(d[1], d[2])) / D


@inlined
def _set_forces(d, geometry, weights, fibres, has_i2, first, t):
    """Set t [9, CHUNK] to the forces, given the first derivatives of W; return at how many points these are finite."""
    if has_i2:
        finite = _set_isotropic_forces(d, geometry, weights, True, first, t)
    else:
        finite = _set_isotropic_forces(d, geometry, weights, False, first, t)
    for f in range(fibres):
        for p in range(CHUNK):
            W4 = first[place(3 + f, p)]
            V, alpha = volume(weights, geometry, p), direction(geometry, f, p)
            set_at(t, p, CHUNK, with_fibre(mat3_at(t, p, CHUNK), mat3_at(d, p, CHUNK), alpha, V, W4))
            finite -= not abs(W4) < np.inf
    return finite


@inlined
def _set_isotropic_forces(d, geometry, weights, has_i2, first, t):
    """Do so but for what concerns fibres."""
    finite = 0
    for p in range(CHUNK):
        V = volume(weights, geometry, p)
        W1, W2, W3 = first[place(0, p)], first[place(1, p)], first[place(2, p)]
        e, M = mat3_at(d, p, CHUNK), sym3_at(geometry, p, CHUNK)
        set_at(t, p, CHUNK, isotropic_forces(e, M, V, has_i2, W1, W2, W3))
        finite += abs(W1 + W2 + W3) < np.inf
    return finite


@inlined
def isotropic_forces(d, M, V, has_i2, W1, W2, W3):
    """Return t_a at a point with the tangent vectors d, but for what concerns fibres."""
    c = cofactors(d)
    S = 2.0 * V * W1 * M
    if has_i2:
        S = S + 2.0 * V * W2 * mixed(gram(d), cofactors(M))
    return S @ d + V * W3 / dot(d[0], c[0]) * c


@inlined
def with_fibre(t, d, alpha, V, W4):
    """Return t_a with that of a family of fibres."""
    return t + outer(2.0 * V * W4 * alpha, alpha @ d)


@kernel
def add_gradient(
    q, nodes, counts, geometry, weights, slopes, fibres, has_i2, law, parameters, hourglass, out, first, last
):
    """Add the gradient of the chunks first … last − 1 at q [n, 3] to out [n, 3].

    Parameters
    ----------
    q : float64 [n, 3]
    nodes : uint32 [chunks, E · k]
        The nodes of the elements of each chunk, element by element.
    counts : int64 [chunks]
        How many elements it has.
    geometry : float64 [chunks, (7 + 3 F) · CHUNK]
        See `symplex.fem.solids.chunks`.
    weights : float64 [CHUNK]
        Of the points on the reference cell.
    slopes : float64 [g, k, 3]
        ∂N_n/∂ξ_a at the points of quadrature.
    fibres : int
        F, the number of families of fibres.
    has_i2 : bool
        Whether W depends on I2.
    law : int
        The address of the first derivatives of W.
    parameters : float64 [p]
        Its constants.
    hourglass : int
        The address of the forces of the hourglass energy, if there is one (`symplex.fem.solids.hourglass_functions`).
    """
    q, out = q.ravel(), out.ravel()
    x, d, t, u = work(slopes), np.empty(9 * CHUNK), np.empty(9 * CHUNK), room_of_hourglasses(slopes)
    invariants, W = np.empty((3 + fibres) * CHUNK), np.empty((3 + fibres) * CHUNK)
    for chunk in range(first, last):
        n, constants = counts[chunk], geometry[chunk]
        gather(q, nodes[chunk], n, slopes, constants, x, d)
        if set_invariants(d, constants, fibres, has_i2, invariants) < CHUNK:
            return np.nan
        call_law(law, parameters.ctypes.data, invariants.ctypes.data, W.ctypes.data)
        if _set_forces(d, constants, weights, fibres, has_i2, W, t) < CHUNK:
            return np.nan
        add_hourglasses(hourglass, AT, 0, 0, 1.0, fibres, slopes, constants, x, d, x, d, u)
        scatter(t, nodes[chunk], n, slopes, constants, x, u, out)
    return 0.0


@kernel
def set_values(
    q, nodes, counts, geometry, weights, slopes, fibres, has_i2, law, parameters, hourglass, elements, out, first, last
):
    """Set out [m] to the energies of the elements, which ``elements`` names.

    ``law`` is the address of W, ``hourglass`` that of the hourglass energy.
    """
    q = q.ravel()
    x, d = work(slopes), np.empty(9 * CHUNK)
    invariants, W = np.empty((3 + fibres) * CHUNK), np.empty(CHUNK)
    points = len(slopes)
    size = elements_per_chunk(points)
    for chunk in range(first, last):
        n, constants = counts[chunk], geometry[chunk]
        gather(q, nodes[chunk], n, slopes, constants, x, d)
        if set_invariants(d, constants, fibres, has_i2, invariants) < CHUNK:
            return np.nan
        call_law(law, parameters.ctypes.data, invariants.ctypes.data, W.ctypes.data)
        finite = 0
        for p in range(CHUNK):
            W[p] *= volume(weights, constants, p)
            finite += abs(W[p]) < np.inf
        if finite < CHUNK:
            return np.nan
        add_hourglasses(hourglass, AT, 0, 0, 1.0, fibres, slopes, constants, x, d, x, d, W)
        for e in range(n):
            total = W[e]
            for g in range(1, points):
                total += W[g * size + e]
            out[elements[chunk * size + e]] = total
    return 0.0
