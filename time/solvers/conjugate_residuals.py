"""Generalised conjugate residuals, for preconditioners with which a few iterations are enough."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from symplex.fem.assembly import Array


def conjugate_residuals(
    product: Callable[[Array], Array],
    preconditioner: Callable[[Array], Array],
    b: Array,
    tolerance: float,
    limit: int,
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
    """
    x, r = np.zeros_like(b), b
    size = _norm(b)
    directions: list[Array] = []
    products: list[Array] = []
    for iteration in range(limit + 1):
        if _norm(r) <= tolerance * size:
            r = b - product(x)
            if _norm(r) <= tolerance * size:
                return x, iteration
            directions, products = [], []
        if iteration == limit:
            break
        p = preconditioner(r)
        q = product(p)
        for earlier, its_product in zip(directions, products, strict=True):
            part = _dot(its_product, q)
            q = q - part * its_product
            p = p - part * earlier
        length = _norm(q)
        if not 0.0 < length < np.inf:
            break
        p, q = p / length, q / length
        part = _dot(q, r)
        x, r = x + part * p, r - part * q
        directions.append(p)
        products.append(q)
    return None, limit


def _dot(u: Array, v: Array) -> float:
    """Return u·v; not by a library, whose sums may depend on its number of threads."""
    return float((u * v).sum())


def _norm(v: Array) -> float:
    return float(np.sqrt(_dot(v, v)))
