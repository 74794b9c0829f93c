"""The largest eigenvalue of M⁻¹A by Lanczos' method, for A that is known by what it does to a vector."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from symplex.errors import StepFailed
from symplex.fem.compiled import threads
from symplex.fem.compiled.kernels import kernel
from symplex.fem.energies.energy import Array

_RELATIVE_ERROR = 1e-2
_LARGE, _RELATIVE_ERROR_IF_LARGE = 100_000, 2e-2  # nodes
_SUBSPACE = 20  # vectors before it is looked at what they give, and again after five each
_MOST_PRODUCTS = 3000
_ROUND_OFF = 16.0 * np.finfo(float).eps


def largest_eigenvalue(
    function: Callable[[Array, Array], object],
    q: Array,
    at_q: Array,
    mass: Array,
    fixed: NDArray[np.bool_],
    start: Array,
    length: float,
) -> float:
    """Return the largest eigenvalue of M⁻¹A on the coordinates that are free, with the residual added.

    The residual is 1 per cent of it at most, or 2 per cent with more than 100 000 nodes, where fifteen more products
    would take as long as fifteen steps.

    Vectors are not made orthogonal to all before: where they no longer are, eigenvalues that have converged come once
    more, which the largest one does not mind (Paige, J. Inst. Maths Applics 18 (1976) 341). So two vectors are kept,
    and a step passes over the nodes a few times next to its product. They are orthogonal in the inner product of the
    mass, so that no roots of it are needed, and kept as they come, with their lengths next to it.

    Parameters
    ----------
    function : callable
        Writes f(x) [n, dim], of which A is the derivative at q, to its second argument.
    q, at_q : float64 [n, dim]
        The positions, and f(q).
    mass : float64 [n]
        M, of each node.
    fixed : bool [n, dim]
    start : float64 [n, dim]
        Zero where coordinates are fixed; it is written over.
    length : float
        By how much a coordinate is moved at most for A w, the difference of two f.
    """
    from scipy.linalg import eigh_tridiagonal

    n = len(q)
    requested = _RELATIVE_ERROR_IF_LARGE if n > _LARGE else _RELATIVE_ERROR
    w, before = start, np.zeros_like(q)
    x, out = np.empty_like(q), np.empty_like(q)
    norm, largest = _length(_over_nodes(_reduce, n, w, before, mass, 0.0))
    norm_before, diagonal, next_to = 1.0, [], [0.0]
    for k in range(1, _MOST_PRODUCTS + 1):
        scale = length / largest
        np.add(q, np.multiply(w, scale, out=x), out=x)
        function(x, out)
        # Both vectors have length 1 when divided by their norms.
        factors = 1.0 / (scale * norm), next_to[-1] / norm_before
        alpha = sum(_over_nodes(_less_before, n, out, at_q, mass, fixed, w, before, *factors)) / norm
        w, before = before, w
        beta, largest = _length(_over_nodes(_reduce, n, w, before, mass, alpha / norm))
        norm, norm_before = beta, norm
        diagonal.append(alpha)
        next_to.append(beta)
        if not (math.isfinite(beta) and math.isfinite(alpha)):
            raise StepFailed("the largest natural frequency was not found: forces are not finite. Give dt yourself.")
        if k == 1 and alpha == beta == 0.0:
            return 0.0  # there is nothing of it
        ended = beta <= _ROUND_OFF * max(map(abs, diagonal))  # in as few vectors as the start is made of
        if ended or (k >= _SUBSPACE and k % 5 == 0):
            of = {"select": "i", "select_range": (k - 1, k - 1)}
            values, vectors = eigh_tridiagonal(np.array(diagonal), np.array(next_to[1:-1]), **of)
            residual = beta * abs(float(vectors[-1, 0]))
            if ended or residual <= requested * abs(values[0]):
                return float(values[0] + residual)
    raise StepFailed(
        f"the largest natural frequency was not found in {_MOST_PRODUCTS} products with the stiffness. "
        "Give dt yourself, and try it on a short run."
    )


def _over_nodes(kernel, n: int, *arguments) -> list:
    """Return what a kernel returns for each part of n nodes, in their order, on several threads."""
    return threads.run(kernel, [(*arguments, first, last) for first, last in threads.parts(n)], threads.count())


def _length(parts: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the length of a vector, and its largest component in size."""
    return math.sqrt(sum(square for square, _ in parts)), max(largest for _, largest in parts)


@kernel
def _less_before(f, at_q, mass, fixed, w, before, scale, part, first, last):
    """Write M⁻¹ scale · (f − f(q)) − part · before over ``before``, where coordinates are free.

    Return the product of w with it, in the inner product of the mass.
    """
    product = 0.0
    for i in range(first, last):
        inverse = scale / mass[i]
        for j in range(f.shape[1]):
            value = 0.0 if fixed[i, j] else (f[i, j] - at_q[i, j]) * inverse - part * before[i, j]
            before[i, j] = value
            product += mass[i] * value * w[i, j]
    return product


@kernel
def _reduce(w, other, mass, part, first, last):
    """Take part · other off w; return the square of its length in the mass, and its largest component in size.

    Not by BLAS, whose threads wait for each other longer than they work while others use the processors.
    """
    square = largest = 0.0
    for i in range(first, last):
        for j in range(w.shape[1]):
            w[i, j] -= part * other[i, j]
            square += mass[i] * w[i, j] * w[i, j]
            largest = max(largest, abs(w[i, j]))
    return square, largest
