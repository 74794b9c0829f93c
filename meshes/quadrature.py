"""Rules of quadrature on reference cells.

The reference triangle has the corners 0, e_1, e_2, the reference tetrahedron 0, e_1, e_2, e_3; lines, quadrilaterals
and hexahedra are [−1, 1]^dim, a wedge is the triangle times [−1, 1], a pyramid has the base [−1, 1]² at ζ = 0 and its
tip at ζ = 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Rule:
    """A rule of quadrature on a reference cell.

    Attributes
    ----------
    points : float64 [g, dim]
    weights : float64 [g]
        They sum to the size of the reference cell.
    """

    points: Array
    weights: Array


def gauss(n: int, dim: int) -> Rule:
    """Return the product of Gauss' rule of n points on [−1, 1]^dim, exact up to degree 2n − 1 in each coordinate."""
    x, w = leggauss(n)
    points = np.stack(np.meshgrid(*[x] * dim, indexing="ij"), axis=-1).reshape(-1, dim)
    weights = np.stack(np.meshgrid(*[w] * dim, indexing="ij"), axis=-1).reshape(-1, dim).prod(axis=1)
    return Rule(points, weights)


@cache
def gauss_between(n: int) -> Array:
    """Return the points s in [0, 1] and the weights [2, n] of Gauss' rule there, exact up to degree 2n − 1.

    They are for means along segments; nobody may change them.
    """
    x, w = leggauss(n)
    return np.array([0.5 + 0.5 * x, 0.5 * w])


_ALONG = gauss_between(8).T.tolist()


def mean_along(f: Callable[[Any], Any], x0: Any, x1: Any) -> Any:
    """Return the mean of f along the segment from x0 to x1 by Gauss' rule of 8 points, exact up to degree 15."""
    return np.sum([w * f(x0 + s * (x1 - x0)) for s, w in _ALONG], axis=0)


def mean_slope_along(slope: Callable[[Any], Any], x0: Any, x1: Any) -> Any:
    """Return the derivative of `mean_along` with x1, by the derivative of its function."""
    return np.sum([w * s * slope(x0 + s * (x1 - x0)) for s, w in _ALONG], axis=0)


def centre(dim: int) -> Rule:
    """Return the rule of one point on the reference triangle or tetrahedron, exact up to degree 1."""
    return Rule(np.full((1, dim), 1.0 / (dim + 1)), np.full(1, 0.5 if dim == 2 else 1.0 / 6.0))


def three_points() -> Rule:
    """Return the rule of three points on the reference triangle, exact up to degree 2."""
    return Rule(np.array([(1.0, 1.0), (4.0, 1.0), (1.0, 4.0)]) / 6.0, np.full(3, 1.0 / 6.0))


def six_points() -> Rule:
    """Return the rule of six points on the reference triangle, exact up to degree 4."""
    middle, spread = (8.0 - np.sqrt(10.0)) / 18.0, np.sqrt(38.0 - 44.0 * np.sqrt(0.4)) / 18.0
    half, apart = 620.0 / 7440.0, np.sqrt(213125.0 - 53320.0 * np.sqrt(10.0)) / 7440.0
    points = [(a, b) for x in (middle + spread, middle - spread) for a, b in ((x, x), (1 - 2 * x, x), (x, 1 - 2 * x))]
    return Rule(np.array(points), np.repeat([half + apart, half - apart], 3))


def four_points() -> Rule:
    """Return the rule of four points on the reference tetrahedron, exact up to degree 2."""
    near, far = (5.0 - np.sqrt(5.0)) / 20.0, (5.0 + 3.0 * np.sqrt(5.0)) / 20.0
    points = near + (far - near) * np.vstack([np.zeros(3), np.eye(3)])
    return Rule(points, np.full(4, 1.0 / 24.0))


def conical(n: int, dim: int = 3) -> Rule:
    """Return the rule of n^dim points on the reference triangle or tetrahedron, exact up to degree 2n − dim.

    It is Gauss' rule in the coordinates of a cube that is folded to the tetrahedron,
    ξ = (u, (1 − u) v, (1 − u)(1 − v) w) with the Jacobian (1 − u)² (1 − v), which takes two of the degrees; likewise
    of a square, ξ = (u, (1 − u) v).
    """
    cube = gauss(n, dim)
    u = 0.5 * (1.0 + cube.points)
    points, weights = u.copy(), cube.weights / 2.0**dim
    for i in range(dim - 1):
        points[:, i + 1 :] *= 1.0 - u[:, i, None]
        weights = weights * (1.0 - u[:, i]) ** (dim - 1 - i)
    return Rule(points, weights)


def prism(triangle: Rule, n: int) -> Rule:
    """Return the product of a rule on the reference triangle and Gauss' rule of n points along the wedge."""
    line = gauss(n, 1)
    points = [np.column_stack([triangle.points, np.full(len(triangle.weights), z)]) for z in line.points[:, 0]]
    return Rule(np.concatenate(points), np.outer(line.weights, triangle.weights).ravel())


def _jacobi(n: int) -> tuple[Array, Array]:
    """Return the points and weights [n] of Gauss' rule in [−1, 1] for the weight (1 − x)².

    They are eigenvalues and eigenvectors of the matrix of the three-term recurrence (Golub and Welsch, Math. Comp. 23
    (1969) 221); `scipy.special` has them as well, but takes long to import.
    """
    k = np.arange(1.0, n)
    next_to = k * (k + 2.0) / ((k + 1.0) * np.sqrt(4.0 * (k + 1.0) ** 2 - 1.0))
    k = np.arange(float(n))
    x, v = np.linalg.eigh(np.diag(-1.0 / ((k + 1.0) * (k + 2.0))) + np.diag(next_to, 1) + np.diag(next_to, -1))
    return x, 8.0 / 3.0 * v[0] ** 2


def pyramid(n: int, levels: int) -> Rule:
    """Return the rule of n × n points on each of some levels of the reference pyramid.

    With ξ = (1 − ζ) u, η = (1 − ζ) v it is exact up to degree 2n − 1 in u and in v and 2 levels − 1 in ζ: Gauss' rule,
    along ζ that of Jacobi for the Jacobian (1 − ζ)².
    """
    base = gauss(n, 2)
    x, w = _jacobi(levels)
    heights = 0.5 * (1.0 + x)
    points = [np.column_stack([(1.0 - z) * base.points, np.full(n * n, z)]) for z in heights]
    return Rule(np.concatenate(points), np.outer(w / 8.0, base.weights).ravel())
