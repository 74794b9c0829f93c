"""Faces that loads act on: their area normals, how these change, and which faces there can be."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from symplex.errors import InvalidSystem
from symplex.fem.energy import Array, IntArray
from symplex.fem.nodes import Nodes, connectivity
from symplex.meshes.quadrature import centre, conical, gauss
from symplex.meshes.shape_functions import SHAPE_FUNCTIONS

# The shape functions and slopes of faces at the points of a rule, and its weights, by the number of their nodes: one
# point for triangles (the normal is constant), 2 × 2 for quadrilaterals (exact for the area normals of bilinear ones),
# 3 × 3 for quadratic faces (exact up to degree 4 on triangles and degree 5 in each coordinate on quadrilaterals, those
# of a shape function times the area normal).
_RULES = {
    len(SHAPE_FUNCTIONS[kind].nodes): (*SHAPE_FUNCTIONS[kind](rule.points), rule.weights)
    for kind, rule in (
        ("triangle", centre(2)),
        ("quad", gauss(2, 2)),
        ("triangle6", conical(3, 2)),
        ("quad8", gauss(3, 2)),
        ("quad9", gauss(3, 2)),
    )
}

_CROSS = np.zeros((3, 3, 3))  # ε_ijk
_CROSS[[0, 1, 2], [1, 2, 0], [2, 0, 1]] = 1.0
_CROSS[[0, 2, 1], [2, 1, 0], [1, 0, 2]] = -1.0


def area_normals(x: Array, cells: IntArray) -> tuple[Array, Array]:
    """Return shape functions N [g, k] and weighted normals n dA [f, g, 3] at the Gauss points of faces on x [n, 3]."""
    shape, slope, weight = _RULES[cells.shape[1]]
    tangents = np.einsum("gad,fai->dfgi", slope, x[cells])
    return shape, np.cross(tangents[0], tangents[1]) * weight[:, None]


def area_normal_slopes(x: Array) -> Array:
    """Return ∂(∫ N_a n dA)_i/∂x_bj [f, k, 3, k, 3] of faces with nodes at x [f, k, 3].

    With the tangents t1 = Σ N_b,1 x_b and t2, n dA = t1 × t2 has the derivative ε_ijk (N_b,1 t2_k − N_b,2 t1_k).
    """
    shape, slope, weight = _RULES[x.shape[1]]
    tangents = np.einsum("gad,fai->dfgi", slope, x)
    turned = np.einsum("gb,fgk->fgbk", slope[:, :, 0], tangents[1])
    turned -= np.einsum("gb,fgk->fgbk", slope[:, :, 1], tangents[0])
    mean = np.einsum("g,ga,fgbk->fabk", weight, shape, turned)
    return np.einsum("ijk,fabk->faibj", _CROSS, mean)


def face_parts(owner: str, faces: Nodes | Mapping[str, IntArray]) -> list[IntArray]:
    given = list(faces.values()) if isinstance(faces, Mapping) else [faces]
    parts = [connectivity(owner, part) for part in given]
    parts = [part for part in parts if part.size]
    if not parts:
        raise InvalidSystem(f"{owner} has no faces.")
    for part in parts:
        if part.ndim != 2 or part.shape[1] not in _RULES:
            raise InvalidSystem(
                f"{owner}: faces have shape {part.shape}, wanted triangles [f, 3] or [f, 6], or quads [f, 4], [f, 8] "
                "or [f, 9]."
            )
    return parts
