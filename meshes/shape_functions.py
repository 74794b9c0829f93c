"""Shape functions of cells, by meshio's names, on the reference cells of `symplex.meshes.quadrature`.

Nodes are numbered as in VTK and meshio. The shape functions of a cell span products of powers of the coordinates, as
many as it has nodes, and each is 1 at its node and 0 at the others, which determines them:

- Lagrange's: all products of powers up to 1 (``line``, ``quad``, ``hexahedron``) or 2 (``quad9``, ``hexahedron27``);
  polynomials of degree 1 or 2 on triangles and tetrahedra; products of both on ``wedge`` and ``wedge18``;
- serendipity elements (``quad8``, ``hexahedron20``, ``wedge15``): without the products that would need nodes inside
  faces;
- pyramids: with s = 1 − ζ the products 1, ξ, η, s and ξη/s, on which the bilinear functions of the base meet the linear
  ones of the triangles; with 13 nodes the ten of degree 2, ξη/s, ξ²η/s and ξη²/s (Bedrosian, Int. J. Numer. Methods
  Eng. 35 (1992) 95). These are no polynomials, but in u = ξ/s, v = η/s and s they are, with slopes that are bounded.
  At the tip, where slopes depend on the direction, they are those along the axis.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from symplex.meshes.kinds import EDGES, MIDDLES

Array = NDArray[np.float64]
Powers = Iterable[tuple[int, ...]]


@dataclass(frozen=True)
class ShapeFunctions:
    """The shape functions of a type of cells; called with points they return values and slopes.

    Attributes
    ----------
    nodes : float64 [k, dim]
        The nodes of the reference cell.
    powers : int [k, dim]
        The products of powers that they span, of ξ, η, ζ, on a pyramid of ξ, η, 1 − ζ.
    is_pyramid : bool
    coefficients : float64 [k, k]
        N_a = Σ_j (product j) coefficients[j, a].
    """

    nodes: Array
    powers: NDArray[np.int64]
    is_pyramid: bool
    coefficients: Array

    @classmethod
    def of(cls, nodes: Array, powers: Powers, is_pyramid: bool = False) -> ShapeFunctions:
        """Return the functions that are 1 at one node each and 0 at the others."""
        exponents = np.array(list(powers), dtype=np.int64)
        values, _ = (_on_pyramid if is_pyramid else _products)(nodes, exponents)
        # Coordinates of nodes are halves, so that coefficients are multiples of 1/16, and known exactly.
        return cls(nodes, exponents, is_pyramid, np.round(16.0 * np.linalg.inv(values)) / 16.0)

    def __call__(self, points: Array) -> tuple[Array, Array]:
        """Return N_a [g, k] and ∂N_a/∂ξ [g, k, dim] at points [g, dim] of the reference cell."""
        values, slopes = (_on_pyramid if self.is_pyramid else _products)(points, self.powers)
        return values @ self.coefficients, np.einsum("gji,ja->gai", slopes, self.coefficients)


def _products(x: Array, powers: NDArray[np.int64]) -> tuple[Array, Array]:
    """Return products of powers of coordinates x [g, dim], and their slopes."""
    factors = x[:, None, :] ** powers  # 0⁰ = 1
    lowered = powers * x[:, None, :] ** np.maximum(powers - 1, 0)
    slopes = np.empty_like(factors)
    for i in range(x.shape[1]):
        others = np.delete(factors, i, axis=2).prod(axis=2)
        slopes[:, :, i] = lowered[:, :, i] * others
    return factors.prod(axis=2), slopes


def _on_pyramid(x: Array, powers: NDArray[np.int64]) -> tuple[Array, Array]:
    """Return ξ^a η^b s^c and slopes by ξ, η and ζ; as u^a v^b s^(a + b + c), with no negative power but of s = 0."""
    s = 1.0 - x[:, 2]
    base = x[:, :2] / np.where(s == 0.0, 1.0, s)[:, None]
    a, b, c = powers.T
    in_base, along = _products(base, powers[:, :2])
    degree = a + b + c
    height = s[:, None] ** degree
    lower = s[:, None] ** np.maximum(degree - 1, 0)  # whatever has a slope is of degree 1 at least
    slopes = np.stack([along[:, :, 0] * lower, along[:, :, 1] * lower, -c * in_base * lower], axis=2)
    return in_base * height, slopes


# -- cells --------------------------------------------------------------------------------------------------------

_SQUARE = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)], dtype=float)
_TRIANGLE = np.vstack([np.zeros(2), np.eye(2)])


def _between(bottom: Array) -> Array:
    """Return the corners at ζ = −1 and ζ = 1 above a base."""
    return np.vstack([np.column_stack([bottom, np.full(len(bottom), z)]) for z in (-1.0, 1.0)])


_CORNERS = {
    "line": np.array([[-1.0], [1.0]]),
    "triangle": _TRIANGLE,
    "quad": _SQUARE,
    "tetra": np.vstack([np.zeros(3), np.eye(3)]),
    "hexahedron": _between(_SQUARE),
    "wedge": _between(_TRIANGLE),
    "pyramid": np.vstack([np.column_stack([_SQUARE, np.zeros(4)]), [0.0, 0.0, 1.0]]),
}


def _nodes(family: str, middles: bool = False) -> Array:
    """Return the corners of a reference cell and the middles of its edges, and of quadrilaterals and the cell."""
    corners = _CORNERS[family]
    groups = [*EDGES[family], *(MIDDLES[family] if middles else ())]
    return np.vstack([corners, [corners[list(group)].mean(axis=0) for group in groups]])


def _full(degree: int, dim: int) -> Powers:
    return product(range(degree + 1), repeat=dim)


def _simplex(degree: int, dim: int) -> Powers:
    return [powers for powers in _full(degree, dim) if sum(powers) <= degree]


def _serendipity(dim: int) -> Powers:
    """Return the powers up to 2 of which at most one is 2."""
    return [powers for powers in _full(2, dim) if powers.count(2) <= 1]


_WEDGE = [(*plane, z) for plane in _simplex(1, 2) for z in (0, 1)]
_WEDGE15 = [*((*plane, z) for plane in _simplex(2, 2) for z in (0, 1)), *((*plane, 2) for plane in _simplex(1, 2))]
_WEDGE18 = [(*plane, z) for plane in _simplex(2, 2) for z in (0, 1, 2)]
_PYRAMID = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, -1)]
_PYRAMID13 = [*_simplex(2, 3), (1, 1, -1), (2, 1, -1), (1, 2, -1)]

SHAPE_FUNCTIONS: dict[str, ShapeFunctions] = {
    "line": ShapeFunctions.of(_CORNERS["line"], _full(1, 1)),
    "triangle": ShapeFunctions.of(_CORNERS["triangle"], _simplex(1, 2)),
    "triangle6": ShapeFunctions.of(_nodes("triangle"), _simplex(2, 2)),
    "quad": ShapeFunctions.of(_CORNERS["quad"], _full(1, 2)),
    "quad8": ShapeFunctions.of(_nodes("quad"), _serendipity(2)),
    "quad9": ShapeFunctions.of(_nodes("quad", middles=True), _full(2, 2)),
    "tetra": ShapeFunctions.of(_CORNERS["tetra"], _simplex(1, 3)),
    "tetra10": ShapeFunctions.of(_nodes("tetra"), _simplex(2, 3)),
    "hexahedron": ShapeFunctions.of(_CORNERS["hexahedron"], _full(1, 3)),
    "hexahedron20": ShapeFunctions.of(_nodes("hexahedron"), _serendipity(3)),
    "hexahedron27": ShapeFunctions.of(_nodes("hexahedron", middles=True), _full(2, 3)),
    "wedge": ShapeFunctions.of(_CORNERS["wedge"], _WEDGE),
    "wedge15": ShapeFunctions.of(_nodes("wedge"), _WEDGE15),
    "wedge18": ShapeFunctions.of(_nodes("wedge", middles=True), _WEDGE18),
    "pyramid": ShapeFunctions.of(_CORNERS["pyramid"], _PYRAMID, is_pyramid=True),
    "pyramid13": ShapeFunctions.of(_nodes("pyramid"), _PYRAMID13, is_pyramid=True),
}
