"""Tangents at points of quadrature, from there to elements, and from elements to the blocks of a sparse matrix.

Where the forces on the tangent vectors d_a change with d_b by the matrices H_ab, those of the nodes of an element
change by

    K_mn = Σ_g Σ_ab ∂N_m/∂ξ_a H_ab ∂N_n/∂ξ_b.

Of a linear tetrahedron K_ab = H_ab, and whatever concerns node 0 is minus the sum. 16 elements are taken at once, so
that their numbers fit the first caches: H [3 (a), 3 (b), 9 (components), PART], K [k (m), k (n), 9, PART].
"""

from __future__ import annotations

import numpy as np

from symplex.fem.compiled.kernels import formula, inlined
from symplex.fem.compiled.lanes import add_block, add_lane_products, aligned, turn_block
from symplex.fem.compiled.prefetch import prefetch
from symplex.fem.compiled.vectors import added, outer, shifted
from symplex.fem.solids import brick_tangents
from symplex.fem.solids.chunks import (
    CHUNK,
    NINE,
    are_bricks,
    are_edges,
    elements_per_chunk,
    have_own_slopes,
    own_slopes,
)
from symplex.fem.solids.increments import PLACES

PART = 16
BLOCK = 9 * PART


@added
def add_fibre_blocks(alpha, v, v1, y, z, W4, W44):
    """Add W4 α_a α_b 1 + W44 α_a α_b v ⊗ v1 + 2 α_a v ⊗ y_b + 2 α_b z_a ⊗ v1 to the blocks (a, b) of H."""
    for a, b in PLACES:
        r = alpha[a] * alpha[b]
        B = outer(v, r * W44 * v1 + 2.0 * alpha[a] * y[b]) + outer(2.0 * alpha[b] * z[a], v1)
        yield shifted(B, r * W4)


@inlined
def scatter_tangents(H, K, symmetric, our, chunk, start, slots, out):
    """Add the tangents of up to 16 elements of a chunk from ``start`` on to out [nnz · 9]: K, or H of tetrahedra."""
    named = our.elements[chunk * elements_per_chunk(len(our.slopes)) + start :]
    n = min(PART, our.counts[chunk] - start)
    if are_edges(our.slopes):
        scatter_of_edges(H, named, n, slots, out)
    else:
        _scatter_of_nodes(K, our.slopes.shape[1], symmetric, named, n, slots, out)


# -- linear tetrahedra --------------------------------------------------------------------------------------------


@inlined
def of_nodes(H, place, component):
    """Return a component of the blocks of all four nodes: whatever concerns node 0 is minus the sum."""
    t = component * PART + place
    r1 = H[t], H[t + BLOCK], H[t + 2 * BLOCK]
    r2 = H[t + 3 * BLOCK], H[t + 4 * BLOCK], H[t + 5 * BLOCK]
    r3 = H[t + 6 * BLOCK], H[t + 7 * BLOCK], H[t + 8 * BLOCK]
    s1, s2, s3 = -(r1[0] + r1[1] + r1[2]), -(r2[0] + r2[1] + r2[2]), -(r3[0] + r3[1] + r3[2])
    t1, t2, t3 = -(r1[0] + r2[0] + r3[0]), -(r1[1] + r2[1] + r3[1]), -(r1[2] + r2[2] + r3[2])
    return (
        (-(s1 + s2 + s3), t1, t2, t3),
        (s1, r1[0], r1[1], r1[2]),
        (s2, r2[0], r2[1], r2[2]),
        (s3, r3[0], r3[1], r3[2]),
    )


@formula
def scatter_of_edges(H, elements, size, slots, out):
    """Add the tangents of the first linear tetrahedra in H to out [nnz · 9]."""
    for j in range(size):
        to, soon = slots[elements[j]], slots[max(elements[min(j + 2, len(elements) - 1)], 0)]
        for a in range(4):
            for b in range(4):
                _fetch_block(out, soon[a, b])
        for r in range(3):
            for c in range(3):
                h = of_nodes(H, j, 3 * r + c)
                for a in range(4):
                    for b in range(4):
                        out[NINE * np.uint64(to[a, b]) + np.uint64(3 * r + c)] += h[a][b]


# -- other elements -------------------------------------------------------------------------------------------------


@inlined
def room_of_sums(our):
    """Return room for what is half summed up of the points of an element, the first three blocks for other use."""
    return aligned((3 + (brick_tangents.BLOCKS if are_bricks(our.slopes) else 0)) * BLOCK)


@inlined
def accumulate(H, our, chunk, g, start, symmetric, half, K):
    """Add the tangents H at point g of the elements from ``start`` on to K; if symmetric below the diagonal only.

    The points are to come in their order, from 0 on, where K is set to zero; half is `room_of_sums`. Of a linear
    tetrahedron K stays as it is.
    """
    slopes, geometry = our.slopes, our.geometry[chunk]
    points, k = slopes.shape[:2]
    if are_bricks(slopes):
        sums = half[3 * BLOCK :]
        brick_tangents.add_point(H, g, symmetric, sums)
        if g == points - 1:
            brick_tangents.set_tangents(symmetric, sums, K)
    elif not are_edges(slopes):
        if g == 0:
            K[:] = 0.0
        if have_own_slopes(slopes):
            _accumulate_apart(H, geometry, own_slopes(slopes, geometry) + start, k, symmetric, half, K)
        else:
            _accumulate_together(H, slopes[g], k, symmetric, half, K)


@formula
def _accumulate_apart(H, rows, first, k, symmetric, half, K):
    """Do so with the slopes of each element that are rows from ``first`` on."""
    for m in range(k):
        for c in range(27):
            at = c * PART
            add_lane_products(False, 1.0, rows, first + 3 * m * CHUNK, CHUNK, H, at, 3 * BLOCK, 3, half, at)
        for n in range(m + 1 if symmetric else k):
            of, to = first + 3 * n * CHUNK, (k * m + n) * BLOCK
            for c in range(9):
                at = c * PART
                add_lane_products(True, 1.0, rows, of, CHUNK, half, at, BLOCK, 3, K, to + at)


@inlined
def _accumulate_together(H, slopes, k, symmetric, half, K):
    """Do so where ∂N_n/∂ξ_a = slopes [k, 3] in all elements."""
    for m in range(k):
        x, y, z = slopes[m, 0], slopes[m, 1], slopes[m, 2]
        for t in range(3 * BLOCK):
            half[t] = x * H[t] + y * H[3 * BLOCK + t] + z * H[6 * BLOCK + t]
        for n in range(m + 1 if symmetric else k):
            x, y, z = slopes[n, 0], slopes[n, 1], slopes[n, 2]
            to = (k * m + n) * BLOCK
            for t in range(BLOCK):
                K[to + t] += x * half[t] + y * half[BLOCK + t] + z * half[2 * BLOCK + t]


@formula
def _scatter_of_nodes(K, k, symmetric, elements, size, slots, out):
    """Add the tangents K of the first of 16 elements to out [nnz · 9]; K is work then."""
    for m in range(k):
        for n in range(m + 1 if symmetric else k):
            turn_block(K, (k * m + n) * BLOCK)
    for j in range(size):
        to, following = slots[elements[j]], slots[elements[min(j + 1, size - 1)]]
        for m in range(k):
            for n in range(m + 1 if symmetric else k):
                of = (k * m + n) * BLOCK + 9 * j
                _fetch_block(out, following[m, n])
                add_block(out, 9 * to[m, n], K, of, False)
                if symmetric and n < m:  # the transposed block
                    _fetch_block(out, following[n, m])
                    add_block(out, 9 * to[n, m], K, of, True)


@inlined
def _fetch_block(out, slot):
    """Start to load a block of the next element: half the time of adding up would be waiting for memory."""
    prefetch(out, 9 * slot)  # pyright: ignore[reportCallIssue]
    prefetch(out, 9 * slot + 8)  # pyright: ignore[reportCallIssue]
