"""Solving M a = f with a consistent mass, whatever its size.

Divided by its diagonal, the consistent mass of finite elements is well conditioned however fine or distorted their mesh
is: by 3 for bars and 5 for linear tetrahedra (Wathen, IMA J. Numer. Anal. 7 (1987) 449). Conjugate gradients take 29
iterations for bars, 39 for linear and 76 for quadratic tetrahedra to round-off, and their residual is smaller than that
of sparse factors, which fill in three dimensions: 1.2 GB and a minute at 56 000 nodes.
"""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from symplex.base.sparse import sp
from symplex.errors import InvalidSystem
from symplex.fem.assembly.pattern import Array
from symplex.fem.compiled.kernels import kernel

_LIMIT = 1000  # iterations
_ROUNDING = 2.0**-53
_ASYMMETRY = 1e-12  # of a mass, in parts of its largest entry, that may be rounding


@final
class MassSolver:
    """Solves M a = f for one force after the other by conjugate gradients with Jacobi's preconditioner.

    Each direction is solved by itself, all of them in the same sweeps. A solution depends on its force alone, not on
    those before it, so that a resumed run is the same to the last bit. The sum of M a is that of f to round-off in
    directions in which nothing is fixed.

    Parameters
    ----------
    mass : sparse [n, n]
        In kg; symmetric positive definite.
    fixed : bool [n, dim]
        True where a coordinate has no acceleration.
    massless : bool [n], optional
        True where a node has no mass, with a row and a column of zeros; it is given no acceleration.

    Attributes
    ----------
    iterations : int
        Of the last solution.
    """

    def __init__(self, mass: sp.csr_array, fixed: NDArray[np.bool_], massless: NDArray[np.bool_] | None = None):
        if abs(mass - mass.T).max() > _ASYMMETRY * abs(mass).max():
            raise InvalidSystem("the mass matrix is not symmetric; a kinetic energy needs one that is.")
        lower = sp.csr_array(sp.tril(mass, format="csr"))
        # And sort: the diagonal comes last in each row, but in those of massless nodes, whose products are zero anyway.
        lower.sum_duplicates()
        self._lower = lower.indptr.astype(np.int64), lower.indices.astype(np.uint32), lower.data
        n, self._dim = fixed.shape
        massive = np.ones((n, 1), bool) if massless is None else ~massless[:, None]
        diagonal = np.asarray(mass.diagonal(), dtype=float)[:, None]
        # Of fixed coordinates, and of those that fill up to three directions, nothing is seen.
        self._inverse = np.zeros((n, 3))
        np.divide(1.0, diagonal, out=self._inverse[:, : self._dim], where=massive & ~fixed)
        self._of_translation = np.asarray(mass.sum(axis=1)).ravel()
        self._total = self._of_translation.sum()
        self._massive = massive
        self._free = ~fixed.any(axis=0) & massive

    def solve(self, force: Array) -> Array:
        """Return M⁻¹ force [n, dim] in m/s² for a force [n, dim] in N, zero where fixed."""
        r, a = np.zeros((2, len(force), 3))
        # By a power of two, so that squares of small forces do not vanish, nor those of large ones overflow.
        scale = np.ldexp(1.0, np.frexp(np.abs(force).max(axis=0, initial=0.0))[1])
        r[:, : self._dim] = force / scale
        self.iterations = int(_conjugate_gradients(*self._lower, self._inverse, r, a))
        if self.iterations < 0:
            raise InvalidSystem(
                f"the mass matrix is not positive definite: conjugate gradients found no solution in {_LIMIT} "
                "iterations, or a direction without inertia."
            )
        a = a[:, : self._dim] * scale
        # What rounding has left along translations is momentum, which would add up over steps.
        left = np.where(self._massive, force - self._of_translation[:, None] * a, 0.0).sum(axis=0)
        a += np.where(self._free, left / self._total, 0.0)
        return a


@kernel
def _conjugate_gradients(indptr, indices, values, inverse, r, x):
    """Set x = M⁻¹ r [n, 3] where x is 0 at first; r is overwritten. Return the iterations, −1 if it is not found.

    Numbers that are not finite pass into x, as they would in a product with M⁻¹.
    """
    p, q = np.zeros_like(r), np.zeros_like(r)
    alpha = beta = (0.0, 0.0, 0.0)
    rz = _move(alpha, inverse, p, q, x, r)
    if not rz[0] + rz[1] + rz[2] < np.inf:
        x[...] = np.nan
        return 0
    least = (_ROUNDING * _ROUNDING * rz[0], _ROUNDING * _ROUNDING * rz[1], _ROUNDING * _ROUNDING * rz[2])
    for iteration in range(_LIMIT):
        if rz[0] <= least[0] and rz[1] <= least[1] and rz[2] <= least[2]:
            return iteration
        curvature = _turn(indptr, indices, values, inverse, beta, r, p, q)
        for axis in range(3):
            if rz[axis] > least[axis] and not curvature[axis] > 0.0:
                return -1
        alpha = _ratios(rz, curvature, least)
        following = _move(alpha, inverse, p, q, x, r)
        beta = _ratios(following, rz, least)
        rz = following
    return -1


@kernel
def _ratios(a, b, least):
    """Return a/b of each direction, 0 in those that are done."""
    return (
        a[0] / b[0] if a[0] > least[0] else 0.0,
        a[1] / b[1] if a[1] > least[1] else 0.0,
        a[2] / b[2] if a[2] > least[2] else 0.0,
    )


@kernel
def _turn(indptr, indices, values, inverse, beta, r, p, q):
    """Set p = D⁻¹ r + β p and q = M p, given the lower half of M; return p·q of each direction.

    A row adds its part to the q of rows before it, which are set already.
    """
    s0 = s1 = s2 = 0.0
    for a in range(len(p)):
        x0 = inverse[a, 0] * r[a, 0] + beta[0] * p[a, 0]
        x1 = inverse[a, 1] * r[a, 1] + beta[1] * p[a, 1]
        x2 = inverse[a, 2] * r[a, 2] + beta[2] * p[a, 2]
        p[a, 0], p[a, 1], p[a, 2] = x0, x1, x2
        y0 = y1 = y2 = 0.0
        diagonal = indptr[a + 1] - 1
        for s in range(indptr[a], diagonal):
            b, m = indices[s], values[s]
            y0 += m * p[b, 0]
            y1 += m * p[b, 1]
            y2 += m * p[b, 2]
            q[b, 0] += m * x0
            q[b, 1] += m * x1
            q[b, 2] += m * x2
        m = values[diagonal]
        q[a, 0], q[a, 1], q[a, 2] = y0 + m * x0, y1 + m * x1, y2 + m * x2
        s0 += x0 * (2.0 * y0 + m * x0)
        s1 += x1 * (2.0 * y1 + m * x1)
        s2 += x2 * (2.0 * y2 + m * x2)
    return s0, s1, s2


@kernel
def _move(alpha, inverse, p, q, x, r):
    """Set x += α p and r −= α q; return r·D⁻¹r of each direction."""
    s0 = s1 = s2 = 0.0
    for a in range(len(x)):
        x[a, 0] += alpha[0] * p[a, 0]
        x[a, 1] += alpha[1] * p[a, 1]
        x[a, 2] += alpha[2] * p[a, 2]
        r0, r1, r2 = r[a, 0] - alpha[0] * q[a, 0], r[a, 1] - alpha[1] * q[a, 1], r[a, 2] - alpha[2] * q[a, 2]
        r[a, 0], r[a, 1], r[a, 2] = r0, r1, r2
        s0 += inverse[a, 0] * r0 * r0
        s1 += inverse[a, 1] * r1 * r1
        s2 += inverse[a, 2] * r2 * r2
    return s0, s1, s2
