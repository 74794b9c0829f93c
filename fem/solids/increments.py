"""Algebra of the tangent vectors of one point between two positions, from which discrete gradients are made.

m are the mean tangent vectors, i their increments; A = mᵀm, B = iᵀi, X = mᵀi + iᵀm, so that the mean of the Gram
matrices is G_m = A + B/4, and X their difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from symplex.fem.compiled.vectors import Mat3, Sym3, cofactors, dot, expanded, full, mixed, outer

SYMMETRIC = (0, 3, 4), (3, 1, 5), (4, 5, 2)  # where the numbers of a symmetric matrix stand in a `Sym3`
PLACES = [(a, b) for a in range(3) for b in range(3)]  # of blocks in H (see `symplex.fem.solids.tangent_blocks`)


@expanded
def average_cofactors(A, B, X):
    """Return H with cof G_m + cof(X)/12 = cof A + H: H = ¼ {A + B/8, B} + cof(X)/12."""
    return 0.25 * mixed(A + 0.125 * B, B) + 1.0 / 12.0 * cofactors(X)


@expanded
def determinants(m, c, i):
    """Return det m, and the difference δ and the sum s of the determinants at the ends; c are the `cofactors` of m.

    δ = Σ_a c_a·i_a + ¼ det i and s = 2 det m + ½ Σ_a m_a·e_a, e the cofactors of i.
    """
    e = cofactors(i)
    determinant = dot(m[0], c[0])
    delta = dot(c[0], i[0]) + dot(c[1], i[1]) + dot(c[2], i[2]) + 0.25 * dot(i[0], e[0])
    total = 2.0 * determinant + 0.5 * (dot(m[0], e[0]) + dot(m[1], e[1]) + dot(m[2], e[2]))
    return determinant, delta, total


class SlopeOfMixed:
    """The slope Z of {T, G} for use in an expanded function.

    Where G_ab = d_a·d_b changes with d_b, Σ_c {T, ∂G}_ac m_c = Σ_b Z_ab ∂d_b, with

        Q_cf = T_(c,f+2) m_(f+1) − T_(c,f+1) m_(f+2),    Y_c = Σ_f Q_cf ⊗ d_f,
        Z_ab = Q_(a+1,b) ⊗ d_(a+2) − Q_(a+2,b) ⊗ d_(a+1)
               + (0 if b = a, −Y_(a+2) if b = a + 1, Y_(a+1) if b = a + 2).
    """

    def __init__(self, T: Sym3, m: Mat3, d: Mat3):
        after = [(f, (f + 1) % 3, (f + 2) % 3) for f in range(3)]
        self._d = d
        self._Q = [[row[h] * m[g] - row[g] * m[h] for f, g, h in after] for row in full(T)]
        self._Y = [outer(Q[0], d[0]) + outer(Q[1], d[1]) + outer(Q[2], d[2]) for Q in self._Q]

    def products(self, a: int, b: int) -> Mat3:
        """Return the first two terms of Z_ab."""
        after, last = (a + 1) % 3, (a + 2) % 3
        return outer(self._Q[after][b], self._d[last]) + outer(self._Q[last][b], -self._d[after])

    def added(self, B: Mat3, a: int, b: int) -> Mat3:
        """Return B plus the last term."""
        if b == a:
            return B
        return B - self._Y[(a + 2) % 3] if b == (a + 1) % 3 else B + self._Y[(a + 1) % 3]


def stress_of(D: Sequence[Any], e: Mapping[int, Any]) -> Sym3:
    """Return D e in an expanded function, of the six numbers e those that are not 0.

    D is symmetric, with the 21 numbers on and above the diagonal, row by row.
    """

    def entry(i: int, j: int) -> Any:
        i, j = min(i, j), max(i, j)
        return D[6 * i - i * (i + 1) // 2 + j]

    def product(i: int) -> Any:
        first, *others = [entry(i, j) * e[j] for j in sorted(e)]
        return sum(others, first)

    return Sym3(*map(product, range(6)))
