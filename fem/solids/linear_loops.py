"""Energy, gradient and Hessian of linear elasticity: the strain is linear in the positions, and not a function of C.

With F_iK = Σ_a d_a,i ∂ξ_a/∂X_K at each point (see `symplex.fem.solids.chunks`), ε = sym F − 1 and σ = λ tr ε 1 + 2μ ε,

    W = σ : ε/2,    t_a = V σ ∇ξ_a,    H_ab = V (λ ∇ξ_a ⊗ ∇ξ_b + μ ∇ξ_b ⊗ ∇ξ_a + μ M_ab 1).

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
from symplex.fem.solids.edge_algebra import combined, dot
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
def _stress(d, x, y, z, lmbda, mu):
    """Return the rows of σ, and W, at a point with the tangent vectors d and ∂ξ_a/∂X_K in x, y, z."""
    a, b, c = (d[0][0], d[1][0], d[2][0]), (d[0][1], d[1][1], d[2][1]), (d[0][2], d[1][2], d[2][2])
    e1, e2, e3 = dot(a, x) - 1.0, dot(b, y) - 1.0, dot(c, z) - 1.0
    g1, g2, g3 = dot(b, z) + dot(c, y), dot(a, z) + dot(c, x), dot(a, y) + dot(b, x)
    pressure = lmbda * (e1 + e2 + e3)
    s1, s2, s3 = pressure + 2.0 * mu * e1, pressure + 2.0 * mu * e2, pressure + 2.0 * mu * e3
    W = 0.5 * (s1 * e1 + s2 * e2 + s3 * e3 + mu * (g1 * g1 + g2 * g2 + g3 * g3))
    return (s1, mu * g3, mu * g2), (mu * g3, s2, mu * g1), (mu * g2, mu * g1, s3), W


@inlined
def _set_forces(d, geometry, weights, lmbda, mu):
    """Replace the tangent vectors by the forces t_a; return at how many points these are finite."""
    finite = 0
    for p in range(CHUNK):
        x, y, z = direction(geometry, 0, p), direction(geometry, 1, p), direction(geometry, 2, p)
        s1, s2, s3, W = _stress(vectors(d, p), x, y, z, lmbda, mu)
        V = volume(weights, geometry, p)
        set_vectors(
            d,
            p,
            (
                combined(V * x[0], s1, V * y[0], s2, V * z[0], s3),
                combined(V * x[1], s1, V * y[1], s2, V * z[1], s3),
                combined(V * x[2], s1, V * y[2], s2, V * z[2], s3),
            ),
        )
        finite += abs(W) < np.inf
    return finite


@kernel
def add_gradient(q, nodes, counts, geometry, weights, slopes, lmbda, mu, hourglass, out, first, last):
    """Add the gradient of the chunks first … last − 1 at q [n, 3] to out [n, 3]; see `law_gradients.add_gradient`."""
    q, out = q.ravel(), out.ravel()
    x, d, u = work(slopes), np.empty(9 * CHUNK), room_of_hourglasses(slopes)
    for chunk in range(first, last):
        n, constants = counts[chunk], geometry[chunk]
        gather(q, nodes[chunk], n, slopes, constants, x, d)
        add_hourglasses(hourglass, AT, 1, 0, 1.0, AXES, slopes, constants, x, d, x, d, u)
        if _set_forces(d, constants, weights, lmbda, mu) < CHUNK:
            return np.nan
        scatter(d, nodes[chunk], n, slopes, constants, x, u, out)
    return 0.0


@kernel
def add_increment_gradient(
    q, compensation, q1, nodes, counts, geometry, weights, slopes, lmbda, mu, hourglass, out, first, last
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
        if _set_forces(d, constants, weights, lmbda, mu) < CHUNK:
            return np.nan
        scatter(d, nodes[chunk], n, slopes, constants, x, u, out)
    return 0.0


def add_discrete_gradient(q0, q1, *others):
    """Add the discrete gradient from q0 to q1 [n, 3]; see `add_increment_gradient`."""
    return add_increment_gradient(q0, NO_COMPENSATION, q1, *others)


@kernel
def set_values(q, nodes, counts, geometry, weights, slopes, lmbda, mu, hourglass, elements, out, first, last):
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
            W[p] = volume(weights, constants, p) * _stress(vectors(d, p), a, b, c, lmbda, mu)[3]
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
def _set_tangents(geometry, weights, lmbda, mu, first, H):
    """Set H of the points first … first + PART − 1."""
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


@kernel
def add_hessian(
    q, nodes, counts, geometry, weights, slopes, lmbda, mu, factor, hourglass, elements, slots, out, first, last
):
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
                _set_tangents(constants, weights, factor * lmbda, factor * mu, g * size + start, H)
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
