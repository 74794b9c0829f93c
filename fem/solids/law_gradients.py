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

from symplex.fem.compiled.call import call_law
from symplex.fem.compiled.kernels import inlined, kernel
from symplex.fem.compiled.lanes import aligned
from symplex.fem.compiled.logarithm import log
from symplex.fem.compiled.records import Integer, Numbers, Rows
from symplex.fem.compiled.vectors import cofactors, contracted, cross, dot, gram, mat3_at, mixed, outer, set_at, sym3_at
from symplex.fem.solids.chunks import (
    AT,
    CHUNK,
    StabilizedElements,
    add_energies,
    add_hourglasses,
    chunks,
    direction,
    gather,
    place,
    room_of_hourglasses,
    scatter,
    volume,
    work,
)


class LawElements(StabilizedElements):
    """Elements with a law of invariants.

    Attributes
    ----------
    has_i2 : int
        Whether W depends on I2.
    law : int
        The address of W, or of its derivatives up to an order.
    parameters : float64 [p]
        Its constants.
    rule : float64 [2 or 3, g]
        The points in [0, 1] and the weights of Gauss' rule along increments, and of mean dilatation these times those.
    switches : float64
        What is known of the switches of the law (`symplex.fem.solids.law_segments.switches_of`).
    """

    has_i2: Integer
    law: Integer
    parameters: Numbers
    rule: Rows
    switches: Numbers


@inlined
def evaluate(our, invariants, W):
    """Set the rows of W, or its derivatives, from those of the invariants of a chunk."""
    call_law(our.law, our.parameters.ctypes.data, invariants.ctypes.data, W.ctypes.data)


@inlined
def set_invariants(our, chunk, d, invariants):
    """Set the rows of the invariants of a chunk, that of I2 if the law has it; return how many are not inverted."""
    valid = set_strains(our, chunk, d, invariants)
    for p in range(CHUNK):  # apart: each is a long chain of operations, of which more can be under way in a short loop
        invariants[place(2, p)] = log(invariants[place(2, p)])
    return valid


@inlined
def set_strains(our, chunk, d, invariants):
    """Do so with J in the row of θ."""
    geometry = our.geometry[chunk]
    valid = _set_strains(d, geometry, True, invariants) if our.has_i2 else _set_strains(d, geometry, False, invariants)
    for f in range(our.fibres):
        for p in range(CHUNK):
            v = direction(geometry, f, p) @ mat3_at(d, p, CHUNK)
            invariants[place(3 + f, p)] = dot(v, v)
    return valid


@inlined
def gather_law(q, our, chunk, x, d, invariants, W):
    """Set tangent vectors, invariants and W, or its derivatives, at q; return whether no element is inverted."""
    gather(q, our, chunk, x, d)
    if set_invariants(our, chunk, d, invariants) < CHUNK:
        return False
    evaluate(our, invariants, W)
    return True


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
def set_forces(our, chunk, d, first, t):
    """Set t [9, CHUNK] to the forces, given the first derivatives of W; return at how many points these are finite."""
    geometry, weights = our.geometry[chunk], our.weights
    if our.has_i2:
        finite = _set_isotropic_forces(d, geometry, weights, True, first, t)
    else:
        finite = _set_isotropic_forces(d, geometry, weights, False, first, t)
    for f in range(our.fibres):
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
def add_gradient(q, our, out, first, last):
    """Add the gradient of the chunks first … last − 1 at q [n, 3] to out [n, 3], by the first derivatives of W."""
    q, out = q.ravel(), out.ravel()
    x, d, t, u = work(our), aligned(9 * CHUNK), aligned(9 * CHUNK), room_of_hourglasses(our)
    invariants, W = aligned((3 + our.fibres) * CHUNK), aligned((3 + our.fibres) * CHUNK)
    for chunk in chunks(first, last):
        if not gather_law(q, our, chunk, x, d, invariants, W):
            return np.nan
        if set_forces(our, chunk, d, W, t) < CHUNK:
            return np.nan
        add_hourglasses(our, chunk, AT, 0, 0, 1.0, x, d, x, d, u)
        scatter(t, our, chunk, x, u, out)
    return 0.0


@kernel
def write_values(q, our, out, first, last):
    """Add the energies of the elements of the chunks first … last − 1 at q [n, 3] to out [m], by W."""
    q, weights, check = q.ravel(), our.weights, 0.0
    x, d = work(our), aligned(9 * CHUNK)
    invariants, W = aligned((3 + our.fibres) * CHUNK), aligned(CHUNK)
    for chunk in chunks(first, last):
        if not gather_law(q, our, chunk, x, d, invariants, W):
            return np.nan
        geometry = our.geometry[chunk]
        for p in range(CHUNK):
            W[p] *= volume(weights, geometry, p)
        add_hourglasses(our, chunk, AT, 0, 0, 1.0, x, d, x, d, W)
        check += add_energies(our, chunk, W, out)
    return check
