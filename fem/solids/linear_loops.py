"""Energy, gradient and Hessian of linear elasticity: the strain is linear in the positions, and not a function of C.

With F_iK = Σ_a d_a,i ∂ξ_a/∂X_K at each point (see `symplex.fem.solids.chunks`), ε = sym F − 1 and σ = λ tr ε 1 + 2μ ε,

    W = σ : ε/2,    t_a = V σ ∇ξ_a,    H_ab = V (λ ∇ξ_a ⊗ ∇ξ_b + μ ∇ξ_b ⊗ ∇ξ_a + μ M_ab 1).

If the stiffness differs by direction, σ = D e with e = (ε11, ε22, ε33, 2 ε12, 2 ε13, 2 ε23) and H_ab = V B_aᵀ D B_b,
where B_b are the columns ∂e/∂(F ∂X/∂ξ_b). Each kernel is compiled for the numbers of the law that it is called with:
the tuple (λ, μ), or that of the 21 numbers of D on and above the diagonal, row by row.

The discrete gradient is the gradient at the mean position, and its tangent half the Hessian. The geometry of a chunk
has the unit vectors for directions of three families of fibres. Kernels return nan if what they have found is not
finite.
"""

from __future__ import annotations

import numpy as np

from symplex.fem.kernels import inlined, kernel
from symplex.fem.solids.chunks import (
    AT,
    CHUNK,
    NO_COMPENSATION,
    add_hourglasses,
    are_edges,
    direction,
    elements_per_chunk,
    gather,
    gather_changes,
    gather_compensated,
    matrix,
    room_of_hourglasses,
    scatter,
    set_vectors,
    vectors,
    volume,
    work,
)
from symplex.fem.solids.edge_algebra import combined, dot, symmetric_times
from symplex.fem.solids.tangent_blocks import (
    BLOCK,
    PART,
    accumulate,
    scatter_of_edges,
    scatter_of_nodes,
    set_block,
)

AXES = 3  # families of fibres that the geometry has


@inlined
def _strain(d, x, y, z):
    """Return e at a point with the tangent vectors d and ∂ξ_a/∂X_K in x, y, z."""
    a, b, c = (d[0][0], d[1][0], d[2][0]), (d[0][1], d[1][1], d[2][1]), (d[0][2], d[1][2], d[2][2])
    return (
        *(dot(a, x) - 1.0, dot(b, y) - 1.0, dot(c, z) - 1.0),
        *(dot(a, y) + dot(b, x), dot(a, z) + dot(c, x), dot(b, z) + dot(c, y)),
    )


@inlined
def _stress(e, law):
    """Return σ in the order of e."""
    if len(law) == 2:
        mu = law[1]
        pressure = law[0] * (e[0] + e[1] + e[2])
        normal = pressure + 2.0 * mu * e[0], pressure + 2.0 * mu * e[1], pressure + 2.0 * mu * e[2]
        return (*normal, mu * e[3], mu * e[4], mu * e[5])
    return symmetric_times(law, e)


@inlined
def _energy(e, s):
    """Return W."""
    return 0.5 * (s[0] * e[0] + s[1] * e[1] + s[2] * e[2] + s[3] * e[3] + s[4] * e[4] + s[5] * e[5])


@inlined
def _set_forces(d, geometry, weights, law):
    """Replace the tangent vectors by the forces t_a; return at how many points these are finite."""
    finite = 0
    for p in range(CHUNK):
        x, y, z = direction(geometry, 0, p), direction(geometry, 1, p), direction(geometry, 2, p)
        t, W = forces(vectors(d, p), x, y, z, volume(weights, geometry, p), law)
        set_vectors(d, p, t)
        finite += abs(W) < np.inf
    return finite


@inlined
def forces(d, x, y, z, V, law):
    """Return t_a and W at a point with the tangent vectors d and ∂ξ_a/∂X_K in x, y, z."""
    e = _strain(d, x, y, z)
    s = _stress(e, law)
    s1, s2, s3 = (s[0], s[3], s[4]), (s[3], s[1], s[5]), (s[4], s[5], s[2])
    t1 = combined(V * x[0], s1, V * y[0], s2, V * z[0], s3)
    t2 = combined(V * x[1], s1, V * y[1], s2, V * z[1], s3)
    t3 = combined(V * x[2], s1, V * y[2], s2, V * z[2], s3)
    return (t1, t2, t3), _energy(e, s)


@kernel
def add_gradient(q, nodes, counts, geometry, weights, slopes, law, hourglass, out, first, last):
    """Add the gradient of the chunks first … last − 1 at q [n, 3] to out [n, 3]; see `law_gradients.add_gradient`."""
    q, out = q.ravel(), out.ravel()
    x, d, u = work(slopes), np.empty(9 * CHUNK), room_of_hourglasses(slopes)
    for chunk in range(first, last):
        n, constants = counts[chunk], geometry[chunk]
        gather(q, nodes[chunk], n, slopes, constants, x, d)
        add_hourglasses(hourglass, AT, 1, 0, 1.0, AXES, slopes, constants, x, d, x, d, u)
        if _set_forces(d, constants, weights, law) < CHUNK:
            return np.nan
        scatter(d, nodes[chunk], n, slopes, constants, x, u, out)
    return 0.0


@kernel
def add_increment_gradient(
    q, compensation, q1, nodes, counts, geometry, weights, slopes, law, hourglass, out, first, last
):
    """Add the discrete gradient of the chunks first … last − 1 to out [n, 3], from q to q1 [n, 3].

    With a compensation c [n, 3], which is empty otherwise, it is that from q + c to q + c + q1.
    """
    q, compensation, q1, out = q.ravel(), compensation.ravel(), q1.ravel(), out.ravel()
    x, y, u = work(slopes), work(slopes), room_of_hourglasses(slopes)
    d, increments = np.empty(9 * CHUNK), np.empty(9 * CHUNK)
    for chunk in range(first, last):
        n, constants = counts[chunk], geometry[chunk]
        if len(compensation) > 0:
            gather_compensated(q, compensation, q1, nodes[chunk], n, slopes, constants, x, y, d, increments)
        else:
            gather_changes(q, q1, nodes[chunk], n, slopes, constants, x, y, d, increments)
        add_hourglasses(hourglass, AT, 1, 0, 1.0, AXES, slopes, constants, x, d, x, d, u)
        if _set_forces(d, constants, weights, law) < CHUNK:
            return np.nan
        scatter(d, nodes[chunk], n, slopes, constants, x, u, out)
    return 0.0


def add_discrete_gradient(q0, q1, *others):
    """Add the discrete gradient from q0 to q1 [n, 3]; see `add_increment_gradient`."""
    return add_increment_gradient(q0, NO_COMPENSATION, q1, *others)


@kernel
def set_values(q, nodes, counts, geometry, weights, slopes, law, hourglass, elements, out, first, last):
    """Set out [m] to the energies of the elements of the chunks, which ``elements`` names."""
    q = q.ravel()
    x, d, W = work(slopes), np.empty(9 * CHUNK), np.empty(CHUNK)
    points = len(slopes)
    size = elements_per_chunk(points)
    for chunk in range(first, last):
        n, constants = counts[chunk], geometry[chunk]
        gather(q, nodes[chunk], n, slopes, constants, x, d)
        finite = 0
        for p in range(CHUNK):
            a, b, c = direction(constants, 0, p), direction(constants, 1, p), direction(constants, 2, p)
            e = _strain(vectors(d, p), a, b, c)
            W[p] = volume(weights, constants, p) * _energy(e, _stress(e, law))
            finite += abs(W[p]) < np.inf
        if finite < CHUNK:
            return np.nan
        add_hourglasses(hourglass, AT, 1, 0, 1.0, AXES, slopes, constants, x, d, x, d, W)
        for e in range(n):
            total = W[e]
            for g in range(1, points):
                total += W[g * size + e]
            out[elements[chunk * size + e]] = total
    return 0.0


@inlined
def _set_tangents(geometry, weights, law, factor, first, H):
    """Set H, times a factor, of the points first … first + PART − 1."""
    if len(law) == 2:
        _set_isotropic_tangents(geometry, weights, factor * law[0], factor * law[1], first, H)
    else:
        _set_anisotropic_tangents(geometry, weights, law, factor, first, H)


@inlined
def _set_isotropic_tangents(geometry, weights, lmbda, mu, first, H):
    for j in range(PART):
        p = first + j
        V = volume(weights, geometry, p)
        M = matrix(geometry, p)
        x, y, z = direction(geometry, 0, p), direction(geometry, 1, p), direction(geometry, 2, p)
        g1, g2, g3 = (x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2])
        l, m = V * lmbda, V * mu  # noqa: E741
        set_block(H, j, _products(l, m, g1, g1), m * M[0])
        set_block(H, j + BLOCK, _products(l, m, g1, g2), m * M[3])
        set_block(H, j + 2 * BLOCK, _products(l, m, g1, g3), m * M[4])
        set_block(H, j + 3 * BLOCK, _products(l, m, g2, g1), m * M[3])
        set_block(H, j + 4 * BLOCK, _products(l, m, g2, g2), m * M[1])
        set_block(H, j + 5 * BLOCK, _products(l, m, g2, g3), m * M[5])
        set_block(H, j + 6 * BLOCK, _products(l, m, g3, g1), m * M[4])
        set_block(H, j + 7 * BLOCK, _products(l, m, g3, g2), m * M[5])
        set_block(H, j + 8 * BLOCK, _products(l, m, g3, g3), m * M[2])


@inlined
def _products(a, b, g, h):
    """Return a g ⊗ h + b h ⊗ g by rows."""
    return (
        *(a * g[0] * h[0] + b * h[0] * g[0], a * g[0] * h[1] + b * h[0] * g[1], a * g[0] * h[2] + b * h[0] * g[2]),
        *(a * g[1] * h[0] + b * h[1] * g[0], a * g[1] * h[1] + b * h[1] * g[1], a * g[1] * h[2] + b * h[1] * g[2]),
        *(a * g[2] * h[0] + b * h[2] * g[0], a * g[2] * h[1] + b * h[2] * g[1], a * g[2] * h[2] + b * h[2] * g[2]),
    )


@inlined
def _set_anisotropic_tangents(geometry, weights, D, factor, first, H):
    for j in range(PART):
        p = first + j
        V = factor * volume(weights, geometry, p)
        x, y, z = direction(geometry, 0, p), direction(geometry, 1, p), direction(geometry, 2, p)
        g1, g2, g3 = (x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2])
        _set_row(H, j, V, g1, D, g1, g2, g3)
        _set_row(H, j + 3 * BLOCK, V, g2, D, g1, g2, g3)
        _set_row(H, j + 6 * BLOCK, V, g3, D, g1, g2, g3)


@inlined
def _set_row(H, first, V, g, D, g1, g2, g3):
    """Set V B_aᵀ D B_b for b = 1, 2, 3, with ∇ξ_a = g."""
    u = symmetric_times(D, (V * g[0], 0.0, 0.0, V * g[1], V * g[2], 0.0))
    v = symmetric_times(D, (0.0, V * g[1], 0.0, V * g[0], 0.0, V * g[2]))
    w = symmetric_times(D, (0.0, 0.0, V * g[2], 0.0, V * g[0], V * g[1]))
    set_block(H, first, (*_along(u, g1), *_along(v, g1), *_along(w, g1)), 0.0)
    set_block(H, first + BLOCK, (*_along(u, g2), *_along(v, g2), *_along(w, g2)), 0.0)
    set_block(H, first + 2 * BLOCK, (*_along(u, g3), *_along(v, g3), *_along(w, g3)), 0.0)


@inlined
def _along(s, g):
    """Return the traction of a stress on ∇ξ_b = g."""
    return (
        s[0] * g[0] + s[3] * g[1] + s[4] * g[2],
        s[3] * g[0] + s[1] * g[1] + s[5] * g[2],
        s[4] * g[0] + s[5] * g[1] + s[2] * g[2],
    )


@kernel
def add_hessian(q, nodes, counts, geometry, weights, slopes, law, factor, hourglass, elements, slots, out, first, last):
    """Add the Hessian, times a factor, of the chunks first … last − 1, the same at all q, to out [nnz, 3, 3].

    See `law_hessians.add_hessian`.
    """
    out = out.ravel()
    k, points, edges = slopes.shape[1], len(slopes), are_edges(slopes)
    size = elements_per_chunk(points)
    x, d = np.zeros_like(work(slopes)), np.zeros(9 * CHUNK)  # any will do
    H, half, K = np.empty(9 * BLOCK), np.empty(3 * BLOCK), np.empty(k * k * BLOCK)
    for chunk in range(first, last):
        n, constants = counts[chunk], geometry[chunk]
        for start in range(0, n, PART):
            for g in range(points):
                _set_tangents(constants, weights, law, factor, g * size + start, H)
                if not edges:
                    if g == 0:
                        K[:] = 0.0
                    accumulate(H, slopes, g, constants, start, k, True, half, K)
            add_hourglasses(hourglass, AT, 1, start, factor, AXES, slopes, constants, x, d, x, d, K)
            named = elements[chunk * size + start :]
            if edges:
                scatter_of_edges(H, named, min(PART, n - start), slots, out)
            else:
                scatter_of_nodes(K, k, True, named, min(PART, n - start), slots, out)
    return 0.0
