"""Tangents at points of quadrature, from there to elements, and from elements to the blocks of a sparse matrix.

Where the forces on the tangent vectors d_a change with d_b by the matrices H_ab, those of the nodes of an element
change by

    K_mn = Σ_g Σ_ab ∂N_m/∂ξ_a H_ab ∂N_n/∂ξ_b.

Of a linear tetrahedron K_ab = H_ab, and whatever concerns node 0 is minus the sum. 16 elements are taken at once, so
that their numbers fit the first caches: H [3 (a), 3 (b), 9 (components), PART], K [k (m), k (n), 9, PART].
"""

from __future__ import annotations

import numpy as np

from symplex.fem.kernels import formula, inlined
from symplex.fem.lanes import add_lane_products
from symplex.fem.prefetch import prefetch
from symplex.fem.solids.chunks import CHUNK, NINE, have_own_slopes, own_slopes
from symplex.fem.solids.edge_algebra import along, outer, pair, times

PART = 16
BLOCK = 9 * PART


@inlined
def set_block(H, first, matrix, diagonal):
    """Set the block of H whose first number is there to matrix + diagonal · 1.

    The block (a, b) begins at (3 a + b) BLOCK: one number, because each a and b would be compiled by itself.
    """
    H[first] = matrix[0] + diagonal
    H[first + PART] = matrix[1]
    H[first + 2 * PART] = matrix[2]
    H[first + 3 * PART] = matrix[3]
    H[first + 4 * PART] = matrix[4] + diagonal
    H[first + 5 * PART] = matrix[5]
    H[first + 6 * PART] = matrix[6]
    H[first + 7 * PART] = matrix[7]
    H[first + 8 * PART] = matrix[8] + diagonal


@inlined
def set_transposed_block(H, first, matrix, diagonal):
    """Set the block of H whose first number is there to matrixᵀ + diagonal · 1."""
    m = matrix
    set_block(H, first, (m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]), diagonal)


@inlined
def set_nine(rows, first, y):
    """Set nine rows of PART numbers each to three vectors."""
    for a in range(3):
        for i in range(3):
            rows[first + (3 * a + i) * PART] = y[a][i]


@inlined
def add_nine(rows, first, s, v):
    """Add s_a v to three vectors in nine rows of PART numbers each."""
    for a in range(3):
        for i in range(3):
            rows[first + (3 * a + i) * PART] += s[a] * v[i]


@inlined
def nine(rows, first):
    """Return the three vectors in nine rows of PART numbers each."""
    return (
        (rows[first], rows[first + PART], rows[first + 2 * PART]),
        (rows[first + 3 * PART], rows[first + 4 * PART], rows[first + 5 * PART]),
        (rows[first + 6 * PART], rows[first + 7 * PART], rows[first + 8 * PART]),
    )


@inlined
def add_fibre_blocks(H, place, alpha, v, v1, y, z, W4, W44):
    """Add W4 α_a α_b 1 + W44 α_a α_b v ⊗ v1 + 2 α_a v ⊗ y_b + 2 α_b z_a ⊗ v1 to the blocks (a, b) of H."""
    _add_fibre_block(H, place, alpha[0], alpha[0], v, v1, y[0], z[0], W4, W44)
    _add_fibre_block(H, place + BLOCK, alpha[0], alpha[1], v, v1, y[1], z[0], W4, W44)
    _add_fibre_block(H, place + 2 * BLOCK, alpha[0], alpha[2], v, v1, y[2], z[0], W4, W44)
    _add_fibre_block(H, place + 3 * BLOCK, alpha[1], alpha[0], v, v1, y[0], z[1], W4, W44)
    _add_fibre_block(H, place + 4 * BLOCK, alpha[1], alpha[1], v, v1, y[1], z[1], W4, W44)
    _add_fibre_block(H, place + 5 * BLOCK, alpha[1], alpha[2], v, v1, y[2], z[1], W4, W44)
    _add_fibre_block(H, place + 6 * BLOCK, alpha[2], alpha[0], v, v1, y[0], z[2], W4, W44)
    _add_fibre_block(H, place + 7 * BLOCK, alpha[2], alpha[1], v, v1, y[1], z[2], W4, W44)
    _add_fibre_block(H, place + 8 * BLOCK, alpha[2], alpha[2], v, v1, y[2], z[2], W4, W44)


@inlined
def _add_fibre_block(H, first, a, b, v, v1, y, z, W4, W44):
    B = pair(v, along(times(a * b * W44, v1), 2.0 * a, y), times(2.0 * b, z), v1)
    H[first] += B[0] + a * b * W4
    H[first + PART] += B[1]
    H[first + 2 * PART] += B[2]
    H[first + 3 * PART] += B[3]
    H[first + 4 * PART] += B[4] + a * b * W4
    H[first + 5 * PART] += B[5]
    H[first + 6 * PART] += B[6]
    H[first + 7 * PART] += B[7]
    H[first + 8 * PART] += B[8] + a * b * W4


@inlined
def plus(A, r, B):
    """Return A + r B for matrices by rows."""
    return (
        *(A[0] + r * B[0], A[1] + r * B[1], A[2] + r * B[2]),
        *(A[3] + r * B[3], A[4] + r * B[4], A[5] + r * B[5]),
        *(A[6] + r * B[6], A[7] + r * B[7], A[8] + r * B[8]),
    )


# -- the slope of {T, G} ----------------------------------------------------------------------------------------
# Where G_ab = d_a·d_b changes with d_b, Σ_c {T, ∂G}_ac m_c = Σ_b Z_ab ∂d_b, with
#
#     Q_cf = T_(c,f+2) m_(f+1) − T_(c,f+1) m_(f+2),    Y_c = Σ_f Q_cf ⊗ d_f,
#     Z_ab = Q_(a+1,b) ⊗ d_(a+2) − Q_(a+2,b) ⊗ d_(a+1) + (0 if b = a, −Y_(a+2) if b = a + 1, Y_(a+1) if b = a + 2).


@inlined
def _rows_of_slope(T, m):
    """Return Q_1, Q_2, Q_3 of one row of T."""
    return (
        (T[2] * m[1][0] - T[1] * m[2][0], T[2] * m[1][1] - T[1] * m[2][1], T[2] * m[1][2] - T[1] * m[2][2]),
        (T[0] * m[2][0] - T[2] * m[0][0], T[0] * m[2][1] - T[2] * m[0][1], T[0] * m[2][2] - T[2] * m[0][2]),
        (T[1] * m[0][0] - T[0] * m[1][0], T[1] * m[0][1] - T[0] * m[1][1], T[1] * m[0][2] - T[0] * m[1][2]),
    )


@inlined
def slope_of_mixed(T, m, d):
    """Return Q and Y."""
    Q = (
        _rows_of_slope((T[0], T[3], T[4]), m),
        _rows_of_slope((T[3], T[1], T[5]), m),
        _rows_of_slope((T[4], T[5], T[2]), m),
    )
    Y = (
        outer(Q[0][0], d[0], Q[0][1], d[1], Q[0][2], d[2]),
        outer(Q[1][0], d[0], Q[1][1], d[1], Q[1][2], d[2]),
        outer(Q[2][0], d[0], Q[2][1], d[1], Q[2][2], d[2]),
    )
    return Q, Y


@inlined
def slope_block(Q_after, d_last, Q_last, d_after, u, v):
    """Return Q_(a+1,b) ⊗ d_(a+2) − Q_(a+2,b) ⊗ d_(a+1) + u ⊗ v."""
    return outer(Q_after, d_last, Q_last, times(-1.0, d_after), u, v)


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


@inlined
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
def accumulate(H, slopes, g, geometry, start, k, symmetric, half, K):
    """Add the tangents H at point g of the elements from ``start`` on to K; if symmetric below the diagonal only."""
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


@inlined
def scatter_of_nodes(K, k, symmetric, elements, size, slots, out):
    """Add the tangents K of the first of 16 elements to out [nnz · 9]."""
    for j in range(size):
        to, following = slots[elements[j]], slots[elements[min(j + 1, size - 1)]]
        for m in range(k):
            for n in range(m + 1 if symmetric else k):
                start, of = NINE * np.uint64(to[m, n]), (k * m + n) * BLOCK + j
                _fetch_block(out, following[m, n])
                for c in range(9):
                    out[start + np.uint64(c)] += K[of + c * PART]
                if symmetric and n < m:  # the transposed block
                    start = NINE * np.uint64(to[n, m])
                    _fetch_block(out, following[n, m])
                    for r in range(3):
                        for c in range(3):
                            out[start + np.uint64(3 * c + r)] += K[of + (3 * r + c) * PART]


@inlined
def _fetch_block(out, slot):
    """Start to load a block of the next element: half the time of adding up would be waiting for memory."""
    prefetch(out, 9 * slot)  # pyright: ignore[reportCallIssue]
    prefetch(out, 9 * slot + 8)  # pyright: ignore[reportCallIssue]
