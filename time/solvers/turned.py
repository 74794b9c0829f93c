"""Matrices of discrete gradients, which are nearly symmetric once their columns are turned back with the body.

The forces of a discrete gradient act at the middle of a step, and change with its end. So the rows of the matrix A of a
step stand as the body does in the middle, its columns as at the end, and where the body turns in between A is far from
symmetric, the symmetric part of A even indefinite. With the rotation R_b of each node from the middle to the end the
matrix A R is nearly symmetric: of a body that turns by θ in a step without changing its shape only the masses times
the sine of θ/2 are left of the unsymmetric part.

The rotation of a node is the least-squares one of its neighbours b about it. By Cayley's map a rotation takes m to e
exactly where e − m = w × (m + e)/2, so that w solves a linear equation: Σ (|c|² 1 − c ⊗ c) w = Σ c × (e − m), where
c = (m + e)/2.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.fem.assembly.pattern import Array
from symplex.fem.compiled.kernels import inlined, kernel
from symplex.time.solvers.block_matrix import NINE, THREE, BlockPattern
from symplex.time.solvers.conjugate_residuals import conjugate_residuals
from symplex.time.solvers.krylov import Outcome, Solution, Worth

_UNSYMMETRIC = 0.05  # part of the symmetric part, by squares of all numbers, that the rest may be
_LOOSE_ENDS = 1e-12  # of the mean square of distances, so that neighbours in a line do not turn about it
_FIRST, _NEXT = 0.01, 0.1  # tolerances of solutions with the symmetric part, the first one and those after it
_CLOSER = 0.5  # or this part of what is still required, if that is more
_LIMIT = 20  # such solutions


Solve = Callable[[Array, float, Worth], Solution]


class Places(NamedTuple):
    """Where the blocks of the lower half, and those opposite, are among all [nnz'] in the order of elimination."""

    own: NDArray[np.uint32]
    opposite: NDArray[np.uint32]


class RotatedTangent:
    """The symmetric part of A R, the rotations R, and solutions of A x = b with them.

    Parameters
    ----------
    pattern : BlockPattern
    """

    def __init__(self, pattern: BlockPattern):
        self._pattern = pattern
        self._rotations = np.empty((pattern.n, 9))

    @cached_property
    def _places(self) -> Places:
        lower, whole = self._pattern.lower, self._pattern.whole
        place = np.empty(len(whole.source), np.uint32)
        place[whole.source] = np.arange(len(place), dtype=np.uint32)
        return Places(place[lower.source], place[self._pattern.transposed[lower.source]])

    def take(self, values: Array, middle: Array, end: Array, out: Array) -> bool:
        """Write the lower half of the symmetric part of A R to out; return whether the rest of A R is small next to it.

        Parameters
        ----------
        values : float64 [nnz, 9]
            All blocks of A in the order of elimination.
        middle, end : float64 [n, dim]
            Positions in m with which rows and columns turn.
        out : float64 [nnz', 9]
        """
        pattern, self._values = self._pattern, values
        positions = pattern.gather(middle), pattern.gather(end)
        pattern.run(_rotate, *pattern.whole[:2], values, pattern.dim, *positions, _LOOSE_ENDS, self._rotations)
        parts = self._take_symmetric_part(out)
        kept, left = pattern.totals(sum(part[0] for part in parts), sum(part[1] for part in parts))
        return left <= _UNSYMMETRIC**2 * kept

    def take_as_it_is(self, values: Array, out: Array) -> None:
        """Write the lower half of the symmetric part of A, which is not turned, to out."""
        self._values = values
        self._rotations[...] = np.eye(3).ravel()
        self._take_symmetric_part(out)

    def _take_symmetric_part(self, out: Array) -> list[tuple[float, float]]:
        """Write the lower half of the symmetric part of A R to out; return sums of squares of that and of the rest."""
        rows = self._pattern.lower[:2]
        parts = self._pattern.run(take_symmetric_part, *rows, *self._places, self._values, self._rotations, out)
        return parts + self._take_border()

    def _take_border(self) -> list[tuple[float, float]]:
        """Do the same with blocks next to those of the pattern, if there are any; return their sums."""
        return []

    def solve(self, by_part: Solve, b: Array, tolerance: float, worth: Worth) -> Solution:
        """Solve A x = b to |b − A x| ≤ tolerance |b| by generalised conjugate residuals.

        Their preconditioner is the solution with the symmetric part by conjugate gradients, as exact as is worth while.

        Parameters
        ----------
        by_part : callable
            Solves with what `take` wrote.
        b : float64 [3 n]
        tolerance : float
        worth : callable
            Whether to go on after so many iterations of conjugate gradients.
        """
        size = self._norm(b)
        iterations, closer = 0, _FIRST
        outcome: Outcome = "stagnated"

        def nearly(r: Array) -> Array:
            nonlocal iterations, outcome, closer
            requested = tolerance * size / self._norm(r)
            before = iterations
            exact = max(closer, _CLOSER * requested)
            inner = by_part(r, exact, lambda more: worth(before + more))
            iterations, closer = iterations + inner.iterations, _NEXT
            if inner.outcome not in ("converged", "rounding"):
                outcome = inner.outcome
                return np.full_like(r, np.nan)  # which ends it
            out = np.empty_like(r)
            _turn(self._rotations, inner.x, out)
            return out

        x, _ = conjugate_residuals(self._times, nearly, b, tolerance, _LIMIT, self._total)
        if x is None:
            return Solution(np.zeros_like(b), 1.0, iterations, outcome)
        return Solution(x, self._norm(b - self._times(x)) / size, iterations, "converged")

    def _total(self, part: float) -> float:
        return self._pattern.totals(part)[0]

    def _norm(self, v: Array) -> float:
        return sqrt(self._total(float((v * v).sum())))

    def _times(self, x: Array) -> Array:
        out = np.empty_like(x)
        self._pattern.multiply(self._values, x, out)
        return out


@kernel
def _rotate(indptr, indices, values, dim, middle, end, loose, out, first, last):
    """Set out to the rotations from the middle to the end, 1 where a coordinate of a node is fixed."""
    for a in range(first, last):
        g00 = g01 = g02 = g11 = g12 = g22 = f0 = f1 = f2 = 0.0
        coupled0 = coupled1 = coupled2 = False
        for s in range(indptr[a], indptr[a + 1]):
            b = indices[s]
            if b == a:
                continue
            coupled0 = coupled0 or values[s, 0] != 0.0 or values[s, 1] != 0.0 or values[s, 2] != 0.0
            coupled1 = coupled1 or values[s, 3] != 0.0 or values[s, 4] != 0.0 or values[s, 5] != 0.0
            coupled2 = coupled2 or values[s, 6] != 0.0 or values[s, 7] != 0.0 or values[s, 8] != 0.0
            m0, e0 = middle[3 * b] - middle[3 * a], end[3 * b] - end[3 * a]
            m1, e1 = middle[3 * b + 1] - middle[3 * a + 1], end[3 * b + 1] - end[3 * a + 1]
            m2, e2 = middle[3 * b + 2] - middle[3 * a + 2], end[3 * b + 2] - end[3 * a + 2]
            c0, c1, c2 = 0.5 * (m0 + e0), 0.5 * (m1 + e1), 0.5 * (m2 + e2)
            e0, e1, e2 = e0 - m0, e1 - m1, e2 - m2
            g00, g11, g22 = g00 + c1 * c1 + c2 * c2, g11 + c0 * c0 + c2 * c2, g22 + c0 * c0 + c1 * c1
            g01, g02, g12 = g01 - c0 * c1, g02 - c0 * c2, g12 - c1 * c2
            f0, f1, f2 = f0 + c1 * e2 - c2 * e1, f1 + c2 * e0 - c0 * e2, f2 + c0 * e1 - c1 * e0
        more = loose * (g00 + g11 + g22)
        g00, g11, g22 = g00 + more, g11 + more, g22 + more
        i00, i01, i02 = g11 * g22 - g12 * g12, g02 * g12 - g01 * g22, g01 * g12 - g02 * g11
        i11, i12, i22 = g00 * g22 - g02 * g02, g01 * g02 - g00 * g12, g00 * g11 - g01 * g01
        determinant = g00 * i00 + g01 * i01 + g02 * i02
        held = not (coupled0 and (coupled1 or dim < 2) and (coupled2 or dim < 3))
        if held or not determinant > 0.0:
            f0 = f1 = f2 = 0.0
            determinant = 1.0
        half = 0.5 / determinant
        w0, w1, w2 = (
            half * (i00 * f0 + i01 * f1 + i02 * f2),
            half * (i01 * f0 + i11 * f1 + i12 * f2),
            half * (i02 * f0 + i12 * f1 + i22 * f2),
        )
        # (1 − w×)⁻¹ (1 + w×) = 1 + (w× + w×w×) 2/(1 + |w|²), w× being the half of it here
        u = 2.0 / (1.0 + w0 * w0 + w1 * w1 + w2 * w2)
        out[a, 0], out[a, 4] = 1.0 - u * (w1 * w1 + w2 * w2), 1.0 - u * (w0 * w0 + w2 * w2)
        out[a, 8] = 1.0 - u * (w0 * w0 + w1 * w1)
        out[a, 1], out[a, 3] = u * (w0 * w1 - w2), u * (w0 * w1 + w2)
        out[a, 2], out[a, 6] = u * (w0 * w2 + w1), u * (w0 * w2 - w1)
        out[a, 5], out[a, 7] = u * (w1 * w2 - w0), u * (w1 * w2 + w0)
    return 0.0


@inlined
def _block_times_rotation(values, s, rotations, a):
    """Return block s of the values [9 nnz] times rotation a of [9 n], by rows."""
    i, r = NINE * np.uint64(s), NINE * np.uint64(a)
    r0, r1, r2 = rotations[r], rotations[r + np.uint64(1)], rotations[r + np.uint64(2)]
    r3, r4, r5 = rotations[r + np.uint64(3)], rotations[r + np.uint64(4)], rotations[r + np.uint64(5)]
    r6, r7, r8 = rotations[r + np.uint64(6)], rotations[r + np.uint64(7)], rotations[r + np.uint64(8)]
    v0, v1, v2 = values[i], values[i + np.uint64(1)], values[i + np.uint64(2)]
    v3, v4, v5 = values[i + np.uint64(3)], values[i + np.uint64(4)], values[i + np.uint64(5)]
    v6, v7, v8 = values[i + np.uint64(6)], values[i + np.uint64(7)], values[i + np.uint64(8)]
    return (
        *(v0 * r0 + v1 * r3 + v2 * r6, v0 * r1 + v1 * r4 + v2 * r7, v0 * r2 + v1 * r5 + v2 * r8),
        *(v3 * r0 + v4 * r3 + v5 * r6, v3 * r1 + v4 * r4 + v5 * r7, v3 * r2 + v4 * r5 + v5 * r8),
        *(v6 * r0 + v7 * r3 + v8 * r6, v6 * r1 + v7 * r4 + v8 * r7, v6 * r2 + v7 * r5 + v8 * r8),
    )


@kernel
def take_symmetric_part(indptr, indices, own, opposite, values, rotations, out, first, last):
    """Write (A_ab R_b + (A_ba R_a)ᵀ)/2; return the sums of its squares, and of those of what is left, of the rows."""
    values, rotations, out = values.ravel(), rotations.ravel(), out.ravel()
    kept = left = 0.0
    for a in range(first, last):
        for s in range(indptr[a], indptr[a + 1]):
            u = _block_times_rotation(values, own[s], rotations, indices[s])
            v = _block_times_rotation(values, opposite[s], rotations, a)
            v = (v[0], v[3], v[6], v[1], v[4], v[7], v[2], v[5], v[8])
            i = NINE * np.uint64(s)
            for k in range(9):
                mean = 0.5 * (u[k] + v[k])
                out[i + np.uint64(k)] = mean
                kept += mean * mean
                left += (u[k] - mean) * (u[k] - mean)
    return kept, left


@kernel
def _turn(rotations, x, out):
    """Set out = R x."""
    for row in range(len(rotations)):
        i, r = THREE * np.uint64(row), rotations[row]
        x0, x1, x2 = x[i], x[i + np.uint64(1)], x[i + np.uint64(2)]
        out[i] = r[0] * x0 + r[1] * x1 + r[2] * x2
        out[i + np.uint64(1)] = r[3] * x0 + r[4] * x1 + r[5] * x2
        out[i + np.uint64(2)] = r[6] * x0 + r[7] * x1 + r[8] * x2
