"""Incomplete factorisations without fill, IC(0) and ILU(0), of matrices of 3 × 3 blocks, and solves with them.

IC(0): A ≈ L Lᵀ on the lower half of the pattern of A; with C_i the Cholesky factor of a pivot block,

    L_ij = (A_ij − Σ_k<j L_ik L_jkᵀ) C_j⁻ᵀ,    C_i C_iᵀ = A_ii − Σ_k<i L_ik L_ikᵀ

ILU(0): A ≈ L U on the whole pattern, the blocks on the diagonal of L being 1;

    L_ij = (A_ij − Σ_k<j L_ik U_kj) U_jj⁻¹,    U_ij = A_ij − Σ_k<i L_ik U_kj

(Meijerink and van der Vorst 1977, with blocks for numbers). Where no fill is lost, as in block-tridiagonal matrices,
they are exact. The blocks off the diagonal are kept in single precision, which halves the memory that a solve reads:
a preconditioner is approximate anyhow, and LLᵀ stays symmetric. Kernels follow the conventions of
`symplex.time.solvers.block_matrix`; a row that has no proper pivot is returned, −1 if all have.
"""

from __future__ import annotations

import numpy as np

from symplex.fem.assembly.pattern import Array
from symplex.fem.compiled.kernels import formula, kernel
from symplex.time.solvers.block_matrix import NINE, THREE, BlockPattern, block_times

SINGULAR = 1e-13  # a pivot smaller than this part of the number on the diagonal it came from is lost in rounding
FIRST_SHIFT, LARGEST_SHIFT = 1e-3, 0.2


class IncompleteCholesky:
    """IC(0) of symmetric positive definite matrices, or of one with a larger diagonal where that breaks down.

    The diagonal blocks are multiplied by 1 + shift, and the shift grows (0, 10⁻³, then by 4) until all pivots are
    positive definite (Manteuffel 1980).

    Parameters
    ----------
    pattern : BlockPattern

    Attributes
    ----------
    shift : float
        Of the last matrix.
    """

    def __init__(self, pattern: BlockPattern):
        self._pattern = pattern
        self._factor = np.empty((len(pattern.lower.indices), 9), np.float32)
        self._inverses = np.empty((pattern.n, 6))
        self._longest = int(np.diff(pattern.lower.indptr).max(initial=0))

    def factorize(self, values: Array) -> int:
        """Factorise the matrix with the lower half values [nnz', 9].

        Return a row with no positive definite pivot even at the largest shift; −1 if there is none.
        """
        indptr, indices, _ = self._pattern.lower
        self.shift = 0.0
        while True:
            arguments = (indptr, indices, values, 1.0 + self.shift, self._longest, self._factor, self._inverses)
            bad_row = _first(self._pattern.run(incomplete_cholesky, *arguments))
            if bad_row < 0 or self.shift >= LARGEST_SHIFT:
                return bad_row
            self.shift = 4.0 * self.shift or FIRST_SHIFT

    def forward(self, alpha: float, p: Array, q: Array, x: Array, r: Array, y: Array) -> tuple[float, float]:
        """Set x += α p, r −= α q and y = L⁻¹ r; return r·r and y·y, which is r·z for z = L⁻ᵀ y."""
        indptr, indices, _ = self._pattern.lower
        parts = self._pattern.run(residual_forward, indptr, indices, self._factor, self._inverses, alpha, p, q, x, r, y)
        return sum(part[0] for part in parts), sum(part[1] for part in parts)

    def applied(self, alpha: float, p: Array, q: Array, x: Array, r: Array, y: Array) -> tuple[float, float]:
        """Do as `forward`; return r·r and r·z over all rows, z being what `backward` makes of y."""
        return self._pattern.totals(*self.forward(alpha, p, q, x, r, y))  # pyright: ignore[reportReturnType]

    def backward(self, z: Array) -> None:
        """Replace y by z = L⁻ᵀ y."""
        indptr, indices, _ = self._pattern.lower
        self._pattern.run(backward, indptr, indices, self._factor, self._inverses, z, backward=True)


class IncompleteLU:
    """ILU(0) of matrices that need not be symmetric.

    Parameters
    ----------
    pattern : BlockPattern

    Attributes
    ----------
    diagonal : int [n]
        The places of blocks on the diagonal among all.
    """

    def __init__(self, pattern: BlockPattern):
        self._pattern = pattern
        self._factor = np.empty((len(pattern.whole.indices), 9), np.float32)
        self._inverses = np.empty((pattern.n, 9))
        rows = np.repeat(np.arange(pattern.n), np.diff(pattern.whole.indptr))
        self.diagonal = np.flatnonzero(pattern.whole.indices == rows)
        self._longest = int(np.diff(pattern.whole.indptr).max(initial=0))

    def factorize(self, values: Array) -> int:
        """Factorise the matrix with the blocks values [nnz', 9]; return a row with no regular pivot, −1 if none."""
        indptr, indices, _ = self._pattern.whole
        arguments = (indptr, indices, self.diagonal, values, self._longest, self._factor, self._inverses)
        return _first(self._pattern.run(incomplete_lu, *arguments))

    def solve(self, r: Array, z: Array) -> None:
        """Set z = U⁻¹ L⁻¹ r."""
        indptr, indices, _ = self._pattern.whole
        self._pattern.run(lu_forward, indptr, indices, self.diagonal, self._factor, r, z)
        arguments = (indptr, indices, self.diagonal, self._factor, self._inverses, z)
        self._pattern.run(lu_backward, *arguments, backward=True)


def _first(bad_rows: list[int]) -> int:
    return min((row for row in bad_rows if row >= 0), default=-1)


@kernel
def incomplete_cholesky(indptr, indices, values, diagonal_factor, longest, factor, inverses, first, last):
    """Set the blocks of L left of the diagonal, and the lower halves of C_i⁻¹ row by row."""
    n = len(indptr) - 1
    values, factor = values.ravel(), factor.ravel()
    slot_of = np.full(n, -1, np.int64)  # of the block in the present row
    row = np.empty(9 * longest)
    for i in range(first, last):
        begin, diagonal = indptr[i], indptr[i + 1] - 1
        d = NINE * np.uint64(diagonal)
        d00, d11, d22 = values[d], values[d + np.uint64(4)], values[d + np.uint64(8)]
        least0, least1, least2 = SINGULAR * d00, SINGULAR * d11, SINGULAR * d22
        d00, d11, d22 = diagonal_factor * d00, diagonal_factor * d11, diagonal_factor * d22
        d10 = diagonal_factor * values[d + np.uint64(3)]
        d20 = diagonal_factor * values[d + np.uint64(6)]
        d21 = diagonal_factor * values[d + np.uint64(7)]
        for s in range(begin, diagonal):
            j = indices[s]
            a = NINE * np.uint64(s)
            w0, w1, w2 = values[a], values[a + np.uint64(1)], values[a + np.uint64(2)]
            w3, w4, w5 = values[a + np.uint64(3)], values[a + np.uint64(4)], values[a + np.uint64(5)]
            w6, w7, w8 = values[a + np.uint64(6)], values[a + np.uint64(7)], values[a + np.uint64(8)]
            for t in range(indptr[j], indptr[j + 1] - 1):
                place = slot_of[indices[t]]
                if place < begin:
                    continue
                u = NINE * np.uint64(place - begin)
                b = NINE * np.uint64(t)
                u0, u1, u2 = row[u], row[u + np.uint64(1)], row[u + np.uint64(2)]
                u3, u4, u5 = row[u + np.uint64(3)], row[u + np.uint64(4)], row[u + np.uint64(5)]
                u6, u7, u8 = row[u + np.uint64(6)], row[u + np.uint64(7)], row[u + np.uint64(8)]
                b0, b1, b2 = factor[b], factor[b + np.uint64(1)], factor[b + np.uint64(2)]
                w0 -= u0 * b0 + u1 * b1 + u2 * b2
                w3 -= u3 * b0 + u4 * b1 + u5 * b2
                w6 -= u6 * b0 + u7 * b1 + u8 * b2
                b0, b1, b2 = factor[b + np.uint64(3)], factor[b + np.uint64(4)], factor[b + np.uint64(5)]
                w1 -= u0 * b0 + u1 * b1 + u2 * b2
                w4 -= u3 * b0 + u4 * b1 + u5 * b2
                w7 -= u6 * b0 + u7 * b1 + u8 * b2
                b0, b1, b2 = factor[b + np.uint64(6)], factor[b + np.uint64(7)], factor[b + np.uint64(8)]
                w2 -= u0 * b0 + u1 * b1 + u2 * b2
                w5 -= u3 * b0 + u4 * b1 + u5 * b2
                w8 -= u6 * b0 + u7 * b1 + u8 * b2
            # times C_j⁻ᵀ
            c00, c10, c11 = inverses[j, 0], inverses[j, 1], inverses[j, 2]
            c20, c21, c22 = inverses[j, 3], inverses[j, 4], inverses[j, 5]
            w2, w1, w0 = w0 * c20 + w1 * c21 + w2 * c22, w0 * c10 + w1 * c11, w0 * c00
            w5, w4, w3 = w3 * c20 + w4 * c21 + w5 * c22, w3 * c10 + w4 * c11, w3 * c00
            w8, w7, w6 = w6 * c20 + w7 * c21 + w8 * c22, w6 * c10 + w7 * c11, w6 * c00
            slot_of[j] = s
            u = NINE * np.uint64(s - begin)
            row[u], row[u + np.uint64(1)], row[u + np.uint64(2)] = w0, w1, w2
            row[u + np.uint64(3)], row[u + np.uint64(4)], row[u + np.uint64(5)] = w3, w4, w5
            row[u + np.uint64(6)], row[u + np.uint64(7)], row[u + np.uint64(8)] = w6, w7, w8
            factor[a], factor[a + np.uint64(1)], factor[a + np.uint64(2)] = w0, w1, w2
            factor[a + np.uint64(3)], factor[a + np.uint64(4)], factor[a + np.uint64(5)] = w3, w4, w5
            factor[a + np.uint64(6)], factor[a + np.uint64(7)], factor[a + np.uint64(8)] = w6, w7, w8
            d00 -= w0 * w0 + w1 * w1 + w2 * w2
            d10 -= w3 * w0 + w4 * w1 + w5 * w2
            d11 -= w3 * w3 + w4 * w4 + w5 * w5
            d20 -= w6 * w0 + w7 * w1 + w8 * w2
            d21 -= w6 * w3 + w7 * w4 + w8 * w5
            d22 -= w6 * w6 + w7 * w7 + w8 * w8
        # C_i⁻¹, row by row
        if not d00 > least0:
            return i
        c00 = 1.0 / np.sqrt(d00)
        l10, l20 = d10 * c00, d20 * c00
        d11 -= l10 * l10
        if not d11 > least1:
            return i
        c11 = 1.0 / np.sqrt(d11)
        l21 = (d21 - l20 * l10) * c11
        d22 -= l20 * l20 + l21 * l21
        if not d22 > least2:
            return i
        c22 = 1.0 / np.sqrt(d22)
        c10, c21 = -l10 * c00 * c11, -l21 * c11 * c22
        inverses[i, 0], inverses[i, 1], inverses[i, 2] = c00, c10, c11
        inverses[i, 3], inverses[i, 4], inverses[i, 5] = -(l20 * c00 + l21 * c10) * c22, c21, c22
    return -1


@kernel
def residual_forward(indptr, indices, factor, inverses, alpha, p, q, x, r, y, first, last):
    """Set x += α p, r −= α q and y = L⁻¹ r; return |r|² and |y|² of the rows.

    |y|² is r·z for z = L⁻ᵀ y.
    """
    factor, inverses = factor.ravel(), inverses.ravel()
    squared, product = 0.0, 0.0
    for row in range(first, last):
        i = THREE * np.uint64(row)
        i1, i2 = i + np.uint64(1), i + np.uint64(2)
        x[i] += alpha * p[i]
        x[i1] += alpha * p[i1]
        x[i2] += alpha * p[i2]
        r0, r1, r2 = r[i] - alpha * q[i], r[i1] - alpha * q[i1], r[i2] - alpha * q[i2]
        r[i], r[i1], r[i2] = r0, r1, r2
        squared += r0 * r0 + r1 * r1 + r2 * r2
        for s in range(indptr[row], indptr[row + 1] - 1):
            j = THREE * np.uint64(indices[s])
            d0, d1, d2 = block_times(factor, s, y[j], y[j + np.uint64(1)], y[j + np.uint64(2)])
            r0 -= d0
            r1 -= d1
            r2 -= d2
        c = np.uint64(6) * np.uint64(row)
        y0 = inverses[c] * r0
        y1 = inverses[c + np.uint64(1)] * r0 + inverses[c + np.uint64(2)] * r1
        y2 = inverses[c + np.uint64(3)] * r0 + inverses[c + np.uint64(4)] * r1 + inverses[c + np.uint64(5)] * r2
        y[i], y[i1], y[i2] = y0, y1, y2
        product += y0 * y0 + y1 * y1 + y2 * y2
    return squared, product


@kernel
def backward(indptr, indices, factor, inverses, z, first, last):
    """Solve Lᵀ z = y in place: a row takes its part off all y before it."""
    factor, inverses = factor.ravel(), inverses.ravel()
    for row in range(last - 1, first - 1, -1):
        i = THREE * np.uint64(row)
        y0, y1, y2 = z[i], z[i + np.uint64(1)], z[i + np.uint64(2)]
        c = np.uint64(6) * np.uint64(row)
        z0 = inverses[c] * y0 + inverses[c + np.uint64(1)] * y1 + inverses[c + np.uint64(3)] * y2
        z1 = inverses[c + np.uint64(2)] * y1 + inverses[c + np.uint64(4)] * y2
        z2 = inverses[c + np.uint64(5)] * y2
        z[i], z[i + np.uint64(1)], z[i + np.uint64(2)] = z0, z1, z2
        for s in range(indptr[row], indptr[row + 1] - 1):
            j = THREE * np.uint64(indices[s])
            a = NINE * np.uint64(s)
            z[j] -= factor[a] * z0 + factor[a + np.uint64(3)] * z1 + factor[a + np.uint64(6)] * z2
            z[j + np.uint64(1)] -= (
                factor[a + np.uint64(1)] * z0 + factor[a + np.uint64(4)] * z1 + factor[a + np.uint64(7)] * z2
            )
            z[j + np.uint64(2)] -= (
                factor[a + np.uint64(2)] * z0 + factor[a + np.uint64(5)] * z1 + factor[a + np.uint64(8)] * z2
            )
    return 0.0


@kernel
def incomplete_lu(indptr, indices, diagonal, values, longest, factor, inverses, first, last):
    """Set the blocks of L and U off the diagonal, and U_ii⁻¹ [n, 9]."""
    slot_of = np.full(len(indptr) - 1, -1, np.int64)  # of the block in the present row
    row = np.empty((longest, 9))
    left = np.empty(9)
    for i in range(first, last):
        begin, end = indptr[i], indptr[i + 1]
        for s in range(begin, end):
            slot_of[indices[s]] = s
            for k in range(9):
                row[s - begin, k] = values[s, k]
        for s in range(begin, diagonal[i]):
            j = indices[s]
            for k in range(3):
                for m in range(3):
                    number = 0.0
                    for c in range(3):
                        number += row[s - begin, 3 * k + c] * inverses[j, 3 * c + m]
                    left[3 * k + m] = number
            for k in range(9):
                row[s - begin, k] = left[k]
            for t in range(diagonal[j] + 1, indptr[j + 1]):
                place = slot_of[indices[t]]
                if place >= begin:
                    for k in range(3):
                        for m in range(3):
                            number = 0.0
                            for c in range(3):
                                number += left[3 * k + c] * factor[t, 3 * c + m]
                            row[place - begin, 3 * k + m] -= number
        for s in range(begin, end):
            for k in range(9):
                factor[s, k] = row[s - begin, k]
        if not _invert(row[diagonal[i] - begin], inverses[i]):
            return i
    return -1


@formula
def _invert(a, out):
    """Set out to the inverse of the block a; return whether it has one."""
    out[0], out[1], out[2] = a[4] * a[8] - a[5] * a[7], a[2] * a[7] - a[1] * a[8], a[1] * a[5] - a[2] * a[4]
    out[3], out[4], out[5] = a[5] * a[6] - a[3] * a[8], a[0] * a[8] - a[2] * a[6], a[2] * a[3] - a[0] * a[5]
    out[6], out[7], out[8] = a[3] * a[7] - a[4] * a[6], a[1] * a[6] - a[0] * a[7], a[0] * a[4] - a[1] * a[3]
    inverse = 1.0 / (a[0] * out[0] + a[1] * out[3] + a[2] * out[6])
    finite = True
    for k in range(9):
        out[k] *= inverse
        finite = finite and np.isfinite(out[k])
    return finite


@kernel
def lu_forward(indptr, indices, diagonal, factor, r, y, first, last):
    """Set y = L⁻¹ r."""
    factor = factor.ravel()
    for row in range(first, last):
        i = THREE * np.uint64(row)
        y0, y1, y2 = r[i], r[i + np.uint64(1)], r[i + np.uint64(2)]
        for s in range(indptr[row], diagonal[row]):
            j = THREE * np.uint64(indices[s])
            d0, d1, d2 = block_times(factor, s, y[j], y[j + np.uint64(1)], y[j + np.uint64(2)])
            y0 -= d0
            y1 -= d1
            y2 -= d2
        y[i], y[i + np.uint64(1)], y[i + np.uint64(2)] = y0, y1, y2


@kernel
def lu_backward(indptr, indices, diagonal, factor, inverses, z, first, last):
    """Solve U z = y in place."""
    factor, inverses = factor.ravel(), inverses.ravel()
    for row in range(last - 1, first - 1, -1):
        i = THREE * np.uint64(row)
        y0, y1, y2 = z[i], z[i + np.uint64(1)], z[i + np.uint64(2)]
        # The nearest rows, which were solved last, come last: what needs no waiting for them is then done meanwhile.
        for s in range(indptr[row + 1] - 1, diagonal[row], -1):
            j = THREE * np.uint64(indices[s])
            d0, d1, d2 = block_times(factor, s, z[j], z[j + np.uint64(1)], z[j + np.uint64(2)])
            y0 -= d0
            y1 -= d1
            y2 -= d2
        z[i], z[i + np.uint64(1)], z[i + np.uint64(2)] = block_times(inverses, row, y0, y1, y2)
