"""Isoparametric elements: shape functions on a reference cell, and rules of quadrature.

Nodes are numbered as in VTK and meshio. A position is x(ξ) = Σ_a N_a(ξ) x_a, undeformed or deformed. Reference cells
are those of `symplex.meshes.quadrature`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from symplex.errors import InvalidSystem, MeshError
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.compiled.kernels import kernel
from symplex.fem.solids.tensors import determinants
from symplex.meshes.quadrature import Rule, centre, conical, four_points, gauss, prism, pyramid, three_points
from symplex.meshes.shape_functions import SHAPE_FUNCTIONS


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


def _element(kind: str, plural: str, stiffness: Rule, mass: Rule, positive: bool = True) -> Element:
    shapes = SHAPE_FUNCTIONS[kind]
    return Element(kind, plural, len(shapes.nodes), shapes, stiffness, mass, positive)


# Rules for energies integrate the tangent of an undeformed cell exactly if its edges are straight and opposite ones
# parallel. Those of quadratic wedges do not, which would take twice as many points; nine leave no zero-energy modes.
# Slopes on a pyramid of 5 nodes do not depend on ζ, so that one level of points is exact for any law.
LINE = _element("line", "lines", gauss(1, 1), gauss(2, 1))
TETRAHEDRON = _element("tetra", "tetrahedra", centre(3), conical(3))
QUADRATIC_TETRAHEDRON = _element("tetra10", "quadratic tetrahedra", four_points(), conical(5), positive=False)
HEXAHEDRON = _element("hexahedron", "hexahedra", gauss(2, 3), gauss(3, 3))
WEDGE = _element("wedge", "wedges", prism(three_points(), 2), prism(conical(3, 2), 3))
PYRAMID = _element("pyramid", "pyramids", pyramid(2, 1), pyramid(3, 2))
SERENDIPITY_HEXAHEDRON = _element("hexahedron20", "hexahedra of 20 nodes", gauss(3, 3), gauss(5, 3), positive=False)
# With the smallest rule that passes the patch test: softer, but one element alone bends in six ways without energy,
# which those next to it prevent.
REDUCED_HEXAHEDRON = replace(SERENDIPITY_HEXAHEDRON, stiffness=gauss(2, 3))
QUADRATIC_HEXAHEDRON = _element("hexahedron27", "hexahedra of 27 nodes", gauss(3, 3), gauss(5, 3), positive=False)
QUADRATIC_WEDGE = _element(
    "wedge15", "wedges of 15 nodes", prism(three_points(), 3), prism(conical(5, 2), 5), positive=False
)
FULL_QUADRATIC_WEDGE = _element(
    "wedge18", "wedges of 18 nodes", prism(three_points(), 3), prism(conical(5, 2), 5), positive=False
)
QUADRATIC_PYRAMID = _element("pyramid13", "quadratic pyramids", pyramid(3, 2), pyramid(5, 4), positive=False)

SOLIDS = (
    *(TETRAHEDRON, HEXAHEDRON, QUADRATIC_TETRAHEDRON),
    *(WEDGE, PYRAMID, SERENDIPITY_HEXAHEDRON, QUADRATIC_HEXAHEDRON),
    *(QUADRATIC_WEDGE, FULL_QUADRATIC_WEDGE, QUADRATIC_PYRAMID),
)


def element_of(what: str, cells: IntArray) -> Element:
    """Return the type of solid elements with connectivity cells [m, k], given by k."""
    for element in SOLIDS:
        if cells.ndim == 2 and cells.shape[1] == element.n_nodes:
            return element
    known = ", ".join(f"{element.n_nodes} ({element.kind})" for element in SOLIDS)
    raise InvalidSystem(f"{what}: cells have shape {cells.shape}, expected (m, k) with k one of {known}.")


# -- undeformed geometry --------------------------------------------------------------------------------------

# A Jacobian is flat if its determinant is below this fraction of the product of its columns' lengths.
FLAT = 1e-12


def jacobians(points: Array, cells: IntArray, slopes: Array) -> Array:
    """Return ∂X/∂ξ [m, g, 3, 3] of cells [m, k] on points [n, 3], given ∂N_a/∂ξ [g, k, 3]."""
    return tangent_vectors(points[cells], slopes)


def tangent_vectors(x: Array, slopes: Array) -> Array:
    """Return ∂x/∂ξ [m, g, 3, 3] of elements with nodes at x [m, k, 3], given ∂N_a/∂ξ [g, k, 3].

    Not by BLAS, by which the last bits of an element would depend on how many there are.
    """
    x, slopes = np.ascontiguousarray(x, float), np.ascontiguousarray(slopes, float)
    out = np.empty((len(x), len(slopes), 3, 3))
    _set_tangent_vectors(x, slopes, out)
    return out


@kernel
def _set_tangent_vectors(x, slopes, out):
    for e in range(len(x)):
        for g in range(len(slopes)):
            for i in range(3):
                for j in range(3):
                    total = 0.0
                    for a in range(x.shape[1]):
                        total += x[e, a, i] * slopes[g, a, j]
                    out[e, g, i, j] = total


def checked_determinants(element: Element, cells: IntArray, J: Array) -> Array:
    """Return the determinants [m, g] of the Jacobians J [m, g, 3, 3] of cells [m, k], all positive."""
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
