"""Isoparametric elements: shape functions on a reference cell, and rules of quadrature.

Nodes are numbered as in VTK and meshio. A position is x(ξ) = Σ_a N_a(ξ) x_a, undeformed or deformed. The reference
tetrahedron has the corners 0, e_1, e_2, e_3; the reference hexahedron is [−1, 1]³, the reference line [−1, 1].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.legendre import leggauss

from symplex.errors import InvalidSystem, MeshError
from symplex.fem.assembly import Array, IntArray
from symplex.fem.solids.tensors import determinants


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


@dataclass(frozen=True)
class Element:
    """A type of cells.

    Attributes
    ----------
    kind : str
        meshio's name.
    plural : str
        What several are called.
    n_nodes : int
        Nodes k of a cell.
    shapes : callable
        Returns N_a [g, k] and ∂N_a/∂ξ [g, k, dim] at points [g, dim] of the reference cell.
    stiffness : Rule
        For energies.
    mass : Rule
        For ∫ N_a N_b, exact for curved cells too.
    positive : bool
        Whether all ∫ N_a are positive, so that they may be nodal masses.
    """

    kind: str
    plural: str
    n_nodes: int
    shapes: Callable[[Array], tuple[Array, Array]]
    stiffness: Rule
    mass: Rule
    positive: bool = True


# -- quadrature -----------------------------------------------------------------------------------------------


def gauss(n: int, dim: int) -> Rule:
    """Return the product of Gauss' rule of n points on [−1, 1]^dim, exact up to degree 2n − 1 in each coordinate."""
    x, w = leggauss(n)
    points = np.stack(np.meshgrid(*[x] * dim, indexing="ij"), axis=-1).reshape(-1, dim)
    weights = np.stack(np.meshgrid(*[w] * dim, indexing="ij"), axis=-1).reshape(-1, dim).prod(axis=1)
    return Rule(points, weights)


def conical(n: int) -> Rule:
    """Return the rule of n³ points on the reference tetrahedron that is exact up to degree 2n − 3.

    It is Gauss' rule in the coordinates of a cube that is folded to the tetrahedron,
    ξ = (u, (1 − u) v, (1 − u)(1 − v) w) with the Jacobian (1 − u)² (1 − v), which takes two of the degrees.
    """
    cube = gauss(n, 3)
    u, v, w = 0.5 * (1.0 + cube.points.T)
    points = np.column_stack([u, (1.0 - u) * v, (1.0 - u) * (1.0 - v) * w])
    return Rule(points, cube.weights / 8.0 * (1.0 - u) ** 2 * (1.0 - v))


def _four_points() -> Rule:
    """Return the rule of four points on the reference tetrahedron, exact up to degree 2."""
    near, far = (5.0 - np.sqrt(5.0)) / 20.0, (5.0 + 3.0 * np.sqrt(5.0)) / 20.0
    points = near + (far - near) * np.vstack([np.zeros(3), np.eye(3)])
    return Rule(points, np.full(4, 1.0 / 24.0))


# -- shape functions ------------------------------------------------------------------------------------------

_CORNERS = np.array(
    [(-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1), (-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1)], dtype=float
)
_EDGES = np.array([(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)])  # of a tetrahedron, in the order of their nodes
_BARYCENTRIC = np.vstack([-np.ones(3), np.eye(3)])  # ∂L_a/∂ξ


def _barycentric(points: Array) -> Array:
    return np.column_stack([1.0 - points.sum(axis=1), points])


def _linear_tetrahedron(points: Array) -> tuple[Array, Array]:
    """N_a = L_a."""
    return _barycentric(points), np.broadcast_to(_BARYCENTRIC, (len(points), 4, 3)).copy()


def _quadratic_tetrahedron(points: Array) -> tuple[Array, Array]:
    """N_a = L_a (2 L_a − 1) at corners, 4 L_b L_c between."""
    L, slopes = _barycentric(points), _BARYCENTRIC
    b, c = _EDGES.T
    N = np.hstack([L * (2.0 * L - 1.0), 4.0 * L[:, b] * L[:, c]])
    at_corners = (4.0 * L - 1.0)[:, :, None] * slopes
    between = 4.0 * (L[:, b, None] * slopes[c] + L[:, c, None] * slopes[b])
    return N, np.concatenate([at_corners, between], axis=1)


def _hexahedron(points: Array) -> tuple[Array, Array]:
    """N_a = Π_i (1 + ξ_i ξ_ai)/2."""
    factors = 0.5 * (1.0 + points[:, None, :] * _CORNERS)
    slopes = np.empty_like(factors)
    for i in range(3):
        slopes[:, :, i] = 0.5 * _CORNERS[:, i] * factors[:, :, (i + 1) % 3] * factors[:, :, (i + 2) % 3]
    return factors.prod(axis=2), slopes


def _line(points: Array) -> tuple[Array, Array]:
    """N_a = (1 ∓ ξ)/2."""
    return 0.5 * (1.0 + points * [-1.0, 1.0]), np.broadcast_to([[-0.5], [0.5]], (len(points), 2, 1)).copy()


LINE = Element("line", "lines", 2, _line, gauss(1, 1), gauss(2, 1))
TETRAHEDRON = Element(
    "tetra", "tetrahedra", 4, _linear_tetrahedron, Rule(np.full((1, 3), 0.25), np.full(1, 1.0 / 6.0)), conical(3)
)
QUADRATIC_TETRAHEDRON = Element(
    "tetra10", "quadratic tetrahedra", 10, _quadratic_tetrahedron, _four_points(), conical(5), positive=False
)
HEXAHEDRON = Element("hexahedron", "hexahedra", 8, _hexahedron, gauss(2, 3), gauss(3, 3))

SOLIDS = (TETRAHEDRON, HEXAHEDRON, QUADRATIC_TETRAHEDRON)


def element_of(what: str, cells: IntArray) -> Element:
    """Return the type of solid elements with connectivity cells [m, k], told by k.

    Raises
    ------
    InvalidSystem
        If there is none; ``what`` begins the message.
    """
    for element in SOLIDS:
        if cells.ndim == 2 and cells.shape[1] == element.n_nodes:
            return element
    known = ", ".join(f"{element.n_nodes} ({element.kind})" for element in SOLIDS)
    raise InvalidSystem(f"{what}: cells have shape {cells.shape}, wanted (m, k) with k one of {known}.")


# -- undeformed geometry --------------------------------------------------------------------------------------

# A Jacobian is flat if its determinant is below this fraction of the product of its columns' lengths.
FLAT = 1e-12


def jacobians(points: Array, cells: IntArray, slopes: Array) -> Array:
    """Return ∂X/∂ξ [m, g, 3, 3] of cells [m, k] on points [n, 3], given ∂N_a/∂ξ [g, k, 3]."""
    return np.einsum("eai,gaj->egij", points[cells], slopes, optimize=True)


def checked_determinants(element: Element, cells: IntArray, J: Array) -> Array:
    """Return the determinants [m, g] of the Jacobians J [m, g, 3, 3] of cells [m, k], all positive.

    Raises
    ------
    MeshError
        If one is not: if an element is inverted, flat, twisted, or has a point that is not finite.
    """
    det = determinants(J)
    scale = np.sqrt((J * J).sum(axis=2)).prod(axis=2)  # lengths of the columns
    bad = np.flatnonzero(~(det > FLAT * scale).all(axis=1))
    if len(bad):
        worst = det[bad].min(axis=1)
        inverted = int(np.count_nonzero(worst < -FLAT * scale[bad].max(axis=1)))
        first = ", ".join(str(e) for e in bad[:5]) + (", …" if len(bad) > 5 else "")
        raise MeshError(
            f"{len(bad)} of {len(cells)} cells '{element.kind}' have no positive volume everywhere (elements {first}; "
            f"the Jacobian of element {bad[0]} with nodes {', '.join(map(str, cells[bad[0]]))} is {worst[0]:.3g} m³): "
            f"{inverted} inverted or twisted, {len(bad) - inverted} flat. Check the order of their nodes, or remesh."
        )
    return det
