"""Energy, gradient and Hessian of linear elasticity: the strain is linear in the positions, and not a function of C.

With F_iK = Σ_a d_a,i ∂ξ_a/∂X_K at each point (see `symplex.fem.solids.chunks`), ε = sym F − 1 and σ = λ tr ε 1 + 2μ ε,

    W = σ : ε/2,    t_a = V σ ∇ξ_a,    H_ab = V (λ ∇ξ_a ⊗ ∇ξ_b + μ ∇ξ_b ⊗ ∇ξ_a + μ M_ab 1).

If the stiffness differs by direction, σ = D e with e = (ε11, ε22, ε33, 2 ε12, 2 ε13, 2 ε23) and H_ab = V B_aᵀ D B_b,
where B_b are the columns ∂e/∂(F ∂X/∂ξ_b). Each kernel is compiled for two kinds of elements: with a law of the numbers
(λ, μ), or of the 21 numbers of D on and above the diagonal, row by row.

The discrete gradient is the gradient at the mean position, and its tangent half the Hessian. The geometry of a chunk
has the unit vectors for directions of three families of fibres. Kernels return nan if what they have found is not
finite.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numba import types

from symplex.fem.compiled.kernels import inlined, kernel
from symplex.fem.compiled.lanes import aligned
from symplex.fem.compiled.records import Number
from symplex.fem.compiled.vectors import (
    Mat3,
    Sym3,
    expanded,
    full,
    mat3_at,
    outer,
    set_at,
    shifted,
    stored,
    sym3_at,
    transposed,
)
from symplex.fem.solids.chunks import (
    AT,
    CHUNK,
    GEOMETRY,
    StabilizedElements,
    add_energies,
    add_hourglasses,
    chunks,
    elements_per_chunk,
    gather,
    gather_increments,
    room_of_hourglasses,
    scatter,
    volume,
    work,
)
from symplex.fem.solids.increments import PLACES, SYMMETRIC, stress_of
from symplex.fem.solids.tangent_blocks import BLOCK, PART, accumulate, room_of_sums, scatter_tangents

AXES = 3  # families of fibres that the geometry has


class IsotropicElements(StabilizedElements):
    """Elements with a law (λ, μ) in Pa; tangents are multiplied by a factor."""

    law: Annotated[tuple[float, ...], types.UniTuple(types.float64, 2)]
    factor: Number


class AnisotropicElements(StabilizedElements):
    """Elements with a law D in Pa; tangents are multiplied by a factor."""

    law: Annotated[tuple[float, ...], types.UniTuple(types.float64, 21)]
    factor: Number


@expanded
def _strain(d, xi):
    """Return e at a point with the tangent vectors d and ∂ξ_a/∂X_K in the rows K of ξ."""
    F = xi @ d
    shear = [F[i][j] + F[j][i] for i, j in ((1, 0), (2, 0), (2, 1))]
    return Sym3(F[0][0] - 1.0, F[1][1] - 1.0, F[2][2] - 1.0, *shear)


@expanded
def _stress(e, law):
    """Return σ in the order of e."""
    if len(law) == 2:
        mu = law[1]
        pressure = law[0] * (e[0] + e[1] + e[2])
        return Sym3(*[pressure + 2.0 * mu * e[i] for i in range(3)], *[mu * e[i] for i in range(3, 6)])
    return stress_of(law, dict(enumerate(e)))


@expanded
def _energy(e, s):
    """Return W."""
    return 0.5 * (s[0] * e[0] + s[1] * e[1] + s[2] * e[2] + s[3] * e[3] + s[4] * e[4] + s[5] * e[5])


@inlined
def _directions(geometry, p):
    """Return ξ."""
    return mat3_at(geometry, GEOMETRY * CHUNK + p, CHUNK)


@inlined
def _set_forces(our, chunk, d):
    """Replace the tangent vectors by the forces t_a; return at how many points these are finite."""
    geometry, weights, law, finite = our.geometry[chunk], our.weights, our.law, 0
    for p in range(CHUNK):
        t, W = forces(mat3_at(d, p, CHUNK), _directions(geometry, p), volume(weights, geometry, p), law)
        set_at(d, p, CHUNK, t)
        finite += abs(W) < np.inf
    return finite


@expanded
def forces(d, xi, V, law):
    """Return t_a and W at a point with the tangent vectors d and ∂ξ_a/∂X_K in the rows K of ξ."""
    e = _strain(d, xi)
    s = _stress(e, law)
    return transposed(V * xi) @ full(s), _energy(e, s)


@kernel
def add_gradient(q, our, out, first, last):
    """Add the gradient of the chunks first … last − 1 at q [n, 3] to out [n, 3]."""
    q, out = q.ravel(), out.ravel()
    x, d, u = work(our), aligned(9 * CHUNK), room_of_hourglasses(our)
    for chunk in chunks(first, last):
        gather(q, our, chunk, x, d)
        add_hourglasses(our, chunk, AT, 1, 0, 1.0, x, d, x, d, u)
        if _set_forces(our, chunk, d) < CHUNK:
            return np.nan
        scatter(d, our, chunk, x, u, out)
    return 0.0


@kernel
def add_increment_gradient(q, compensation, q1, our, out, first, last):
    """Add the discrete gradient of the chunks first … last − 1 to out [n, 3], from q to q1 [n, 3].

    With a compensation c [n, 3], which is empty otherwise, it is that from q + c to q + c + q1.
    """
    q, compensation, q1, out = q.ravel(), compensation.ravel(), q1.ravel(), out.ravel()
    x, y, u = work(our), work(our), room_of_hourglasses(our)
    d, increments = aligned(9 * CHUNK), aligned(9 * CHUNK)
    for chunk in chunks(first, last):
        gather_increments(q, compensation, q1, our, chunk, x, y, d, increments)
        add_hourglasses(our, chunk, AT, 1, 0, 1.0, x, d, x, d, u)
        if _set_forces(our, chunk, d) < CHUNK:
            return np.nan
        scatter(d, our, chunk, x, u, out)
    return 0.0


@kernel
def write_values(q, our, out, first, last):
    """Add the energies of the elements of the chunks first … last − 1 at q [n, 3] to out [m]."""
    q, weights, law, check = q.ravel(), our.weights, our.law, 0.0
    x, d, W = work(our), aligned(9 * CHUNK), aligned(CHUNK)
    for chunk in chunks(first, last):
        gather(q, our, chunk, x, d)
        geometry = our.geometry[chunk]
        for p in range(CHUNK):
            e = _strain(mat3_at(d, p, CHUNK), _directions(geometry, p))
            W[p] = volume(weights, geometry, p) * _energy(e, _stress(e, law))
        add_hourglasses(our, chunk, AT, 1, 0, 1.0, x, d, x, d, W)
        check += add_energies(our, chunk, W, out)
    return check


@inlined
def _set_tangents(geometry, weights, law, factor, first, H):
    """Set H, times a factor, of the points first … first + PART − 1."""
    if len(law) == 2:  # known when compiled, as that of an argument
        _set_isotropic_tangents(geometry, weights, factor * law[0], factor * law[1], first, H)
    else:
        _set_anisotropic_tangents(geometry, weights, law, factor, first, H)


@inlined
def _set_isotropic_tangents(geometry, weights, lmbda, mu, first, H):
    for j in range(PART):
        p = first + j
        V = volume(weights, geometry, p)
        M, xi = sym3_at(geometry, p, CHUNK), _directions(geometry, p)
        _set_isotropic_blocks(H, j, PART, M, xi, V * lmbda, V * mu)


@stored
def _set_isotropic_blocks(M, xi, lmbda, mu):
    g, D = transposed(xi), full(mu * M)
    for a, b in PLACES:
        yield shifted(outer(lmbda * g[a], g[b]) + outer(mu * g[b], g[a]), D[a][b])


@inlined
def _set_anisotropic_tangents(geometry, weights, D, factor, first, H):
    for j in range(PART):
        p = first + j
        _set_anisotropic_blocks(H, j, PART, _directions(geometry, p), factor * volume(weights, geometry, p), D)


@stored
def _set_anisotropic_blocks(xi, V, D):
    """Set V B_aᵀ D B_b, of which row i is the traction on ∇ξ_b of the stress of the strain e_i ⊗ ∇ξ_a."""
    for g in transposed(xi):
        stresses = [stress_of(D, {row[j]: V * g[j] for j in range(3)}) for row in SYMMETRIC]
        for h in transposed(xi):
            yield Mat3(*[s @ h for s in stresses])


@kernel
def add_hessian(q, our, slots, out, first, last):
    """Add the Hessian, times a factor, of the chunks first … last − 1, the same at all q, to out [nnz, 3, 3].

    See `law_hessians.add_hessian`.
    """
    out, k, points = out.ravel(), our.slopes.shape[1], len(our.slopes)
    size = elements_per_chunk(points)
    x, d = np.zeros_like(work(our)), np.zeros(9 * CHUNK)  # any will do
    H, half, K = aligned(9 * BLOCK), room_of_sums(our), aligned(k * k * BLOCK)
    for chunk in chunks(first, last):
        for start in range(0, our.counts[chunk], PART):
            for g in range(points):
                _set_tangents(our.geometry[chunk], our.weights, our.law, our.factor, g * size + start, H)
                accumulate(H, our, chunk, g, start, True, half, K)
            add_hourglasses(our, chunk, AT, 1, start, our.factor, x, d, x, d, K)
            scatter_tangents(H, K, True, our, chunk, start, slots, out)
    return 0.0
