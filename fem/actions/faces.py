"""Faces that loads act on: their area normals, the rules of integration, and which faces there can be."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from symplex.errors import InvalidSystem
from symplex.fem.assembly.nodes import Nodes, connectivity
from symplex.fem.energies.energy import Array, IntArray
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


def area_normals(x: Array, cells: IntArray) -> tuple[Array, Array]:
    """Return shape functions N [g, k] and weighted normals n dA [f, g, 3] at the Gauss points of faces on x [n, 3]."""
    shape, slope, weight = _RULES[cells.shape[1]]
    tangents = np.einsum("gad,fai->dfgi", slope, x[cells])
    return shape, np.cross(tangents[0], tangents[1]) * weight[:, None]


def face_table(k: int) -> Array:
    """Return the rule of faces of k nodes in a row: how many points, weights [g], N [g, k] and slopes [g, k, 2]."""
    shape, slope, weight = _RULES[k]
    return np.concatenate([[len(weight)], weight, np.ravel(shape), np.ravel(slope)]).astype(float)


def face_parts(owner: str, faces: Nodes | Mapping[str, IntArray]) -> list[IntArray]:
    given = list(faces.values()) if isinstance(faces, Mapping) else [faces]
    parts = [connectivity(owner, part) for part in given]
    parts = [part for part in parts if part.size]
    if not parts:
        raise InvalidSystem(f"{owner} has no faces.")
    for part in parts:
        if part.ndim != 2 or part.shape[1] not in _RULES:
            raise InvalidSystem(
                f"{owner}: faces have shape {part.shape}, expected triangles [f, 3] or [f, 6], or quads [f, 4], [f, 8] "
                "or [f, 9]."
            )
    return parts
