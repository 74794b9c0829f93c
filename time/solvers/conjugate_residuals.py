"""Generalised conjugate residuals, for preconditioners with which a few iterations are enough."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from symplex.fem.assembly.pattern import Array


def conjugate_residuals(
    product: Callable[[Array], Array],
    preconditioner: Callable[[Array], Array],
    b: Array,
    tolerance: float,
    limit: int,
    total: Callable[[float], float] = float,
) -> tuple[Array | None, int]:
    """Return x with |A x − b| ≤ tolerance |b|, None after ``limit`` iterations, and their number.

    Each new direction is a preconditioned residual, so changed that its product with A is orthogonal to those before
    (Eisenstat, Elman and Schultz 1983): the residual is the least in the space that they span, whether A is symmetric
    or not. What is returned has been checked with its true residual.

    Parameters
    ----------
    product, preconditioner : callable
        A x, and nearly A⁻¹ x.
    b : float64 [n]
    tolerance : float
    limit : int
    total : callable, optional
        Returns the sum over all ranks of what is there of a product of two vectors.
    """

    def dot(u: Array, v: Array) -> float:
        """Return u·v; not by a library, whose sums may depend on its number of threads."""
        return total(float((u * v).sum()))

    def norm(v: Array) -> float:
        return float(np.sqrt(dot(v, v)))

    x, r = np.zeros_like(b), b
    size = norm(b)
    directions: list[Array] = []
    products: list[Array] = []
    for iteration in range(limit + 1):
        if norm(r) <= tolerance * size:
            r = b - product(x)
            if norm(r) <= tolerance * size:
                return x, iteration
            directions, products = [], []
        if iteration == limit:
            break
        p = preconditioner(r)
        q = product(p)
        for earlier, its_product in zip(directions, products, strict=True):
            part = dot(its_product, q)
            q = q - part * its_product
            p = p - part * earlier
        length = norm(q)
        if not 0.0 < length < np.inf:
            break
        p, q = p / length, q / length
        part = dot(q, r)
        x, r = x + part * p, r - part * q
        directions.append(p)
        products.append(q)
    return None, limit
