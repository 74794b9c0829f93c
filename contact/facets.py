"""The triangles of a surface as parts of faces with shape functions, for integrals over them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.contact.surfaces import Surface
from symplex.errors import InvalidSystem
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.meshes.quadrature import conical, gauss, six_points
from symplex.meshes.shape_functions import SHAPE_FUNCTIONS, ShapeFunctions

_TYPES = ("triangle", "quad", "triangle6", "quad8", "quad9")
_SIZES = np.array([len(SHAPE_FUNCTIONS[kind].nodes) for kind in _TYPES], np.int32)
_DEGREE = 4
# The products λ_1^i λ_2^j by degree, and the points where polynomials are determined.
_POWERS = np.array([(d - j, j) for d in range(_DEGREE + 1) for j in range(d + 1)])
_LATTICE = _POWERS / _DEGREE
_TERMS = (3, 6, 10, 15)  # of each degree
_BUBBLE = (4, 7, 8)  # λ_1 λ_2 (1 − λ_1 − λ_2)
_ROUNDING = 1e-13
_FLAT = 1e-9  # of the size of a face
_SHARP = 0.7  # cosine between the normals of facets below which the surface ends at their edge
_CORRECTIONS = 30


class Facets(NamedTuple):
    """What is known of the triangles of a surface at rest.

    Attributes
    ----------
    nodes : int32 [f, w]
        Of their faces, filled up by the first one to the widest face.
    sizes : int32 [f]
        How many these have.
    corners : int32 [f, 3]
        The places of their corners among these.
    areas : float64 [f]
        In m².
    shapes : float64 [f, t, w]
        N_A of the nodes as polynomials: the coefficients of 1, λ_1, λ_2, λ_1², λ_1 λ_2, λ_2² … up to the degree needed.
    centres, normals : float64 [f, 3]
        In m, and of unit length.
    outer : float64 [f, 3]
        1 over the heights in m of corners above those edges at which the surface ends, 0 above others.
    """

    nodes: IntArray
    sizes: IntArray
    corners: IntArray
    areas: Array
    shapes: Array
    centres: Array
    normals: Array
    outer: Array


def facets_of(surface: Surface, points: Array) -> Facets:
    """Return the facets of a surface, given the points [n, 3] in m at rest.

    Raises
    ------
    InvalidSystem
        If one has no area.
    """
    faces, triangles = surface.faces, surface.triangles
    sizes = np.count_nonzero(faces >= 0, axis=1).astype(np.int32)
    width = int(sizes.max(initial=3))
    nodes = np.where(faces < 0, faces[:, :1], faces)[:, :width]
    corners = np.argmax(faces[:, None, :] == triangles[:, :, None], axis=2).astype(np.int32)
    x = points[triangles]
    normals = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])
    areas = 0.5 * np.linalg.norm(normals, axis=1)
    if not areas.min() > 0.0:
        a, b, c = triangles[int(np.argmin(areas))]
        raise InvalidSystem(f"SegmentContact: the face at nodes {a}, {b} and {c} has no area. Take it out of the mesh.")
    shapes = np.zeros((len(faces), len(_POWERS), width))
    for kind, size in zip(_TYPES, _SIZES, strict=True):
        rows = np.flatnonzero(sizes == size)
        if len(rows):
            own = faces[rows][:, :size]
            shapes[rows, :, :size] = _polynomials(SHAPE_FUNCTIONS[kind], kind, points, own, corners[rows], areas[rows])
    degrees = np.flatnonzero(np.abs(shapes).max(axis=(0, 2), initial=0.0) > 0.0)
    terms = next(count for count in _TERMS if count > degrees.max(initial=0))
    normals /= (2.0 * areas)[:, None]
    polynomials = np.ascontiguousarray(shapes[:, :terms])
    outer = _outer(triangles, x, normals)
    return Facets(np.ascontiguousarray(nodes), sizes, corners, areas, polynomials, x.mean(axis=1), normals, outer)


def _products(u: Array) -> Array:
    return np.prod(u[:, None, :] ** _POWERS, axis=2)


def _polynomials(
    shape: ShapeFunctions, kind: str, points: Array, faces: IntArray, corners: IntArray, areas: Array
) -> Array:
    """Return N_A of facets [r, 15, k] as polynomials of their own barycentric coordinates.

    On a facet of a face with a uniform Jacobian they are that. On others they are interpolated, which keeps Σ N_A = 1
    and Σ N_A X_A = x; where a face is flat, a bubble in each facet gives them the integrals over the face as well.
    """
    x, at = points[faces], shape.nodes[corners]  # [r, k, 3], [r, 3, 2]
    r, k = faces.shape
    shares = np.column_stack([1.0 - _LATTICE.sum(axis=1), _LATTICE])
    chord = np.take_along_axis(x, corners[:, :, None], axis=1)
    p = np.einsum("lc,rci->rli", shares, chord)
    xi = np.einsum("lc,rcd->rld", shares, at)
    tangents = np.stack([chord[:, 1] - chord[:, 0], chord[:, 2] - chord[:, 0]], axis=1)
    for _ in range(_CORRECTIONS):
        N, slopes = (part.reshape(r, len(_LATTICE), *part.shape[1:]) for part in shape(xi.reshape(-1, 2)))
        off = np.einsum("rti,rli->rlt", tangents, np.einsum("rla,rai->rli", N, x) - p)
        J = np.einsum("rti,rlad,rai->rltd", tangents, slopes, x)
        step = np.linalg.solve(J, off[..., None])[..., 0]
        xi = xi - step
        if np.abs(step).max(initial=0.0) < _ROUNDING:
            break
    N = shape(xi.reshape(-1, 2))[0].reshape(r, len(_LATTICE), k)
    found = np.linalg.solve(_products(_LATTICE), N)

    unique, face = np.unique(faces, axis=0, return_inverse=True)
    face = face.ravel()
    y = points[unique]
    rule = conical(4, 2) if kind.startswith("triangle") else gauss(4, 2)
    values, slopes = shape(rule.points)
    tangent = np.einsum("gad,uai->ugdi", slopes, y)
    J = np.linalg.norm(np.cross(tangent[:, :, 0], tangent[:, :, 1]), axis=2)
    missing = np.einsum("g,ug,ga->ua", rule.weights, J, values)
    inner = six_points()
    mean = 2.0 * inner.weights @ _products(inner.points)
    np.subtract.at(missing, face, areas[:, None] * np.einsum("t,rta->ra", mean, found))
    total = np.bincount(face, areas, len(unique))
    flat = np.zeros(len(unique), bool)
    height = np.einsum("uai,ui->ua", y - y[:, :1], _mean_normals(chord, face, len(unique)))
    flat[:] = np.abs(height).max(axis=1) < _FLAT * np.sqrt(total)
    missing[~flat] = 0.0
    bubble = 60.0 * (missing / total[:, None])[face]  # of the integral 1/60 of the area
    for at_term, sign in zip(_BUBBLE, (1.0, -1.0, -1.0), strict=True):
        found[:, at_term] += sign * bubble
    return np.where(np.abs(found) < _ROUNDING, 0.0, found)


def _mean_normals(chord: Array, face: NDArray[np.intp], count: int) -> Array:
    normals = np.cross(chord[:, 1] - chord[:, 0], chord[:, 2] - chord[:, 0])
    out = np.zeros((count, 3))
    np.add.at(out, face, normals)
    return out / np.linalg.norm(out, axis=1, keepdims=True)


def _outer(triangles: IntArray, x: Array, normals: Array) -> Array:
    """Return 1 over the heights of corners above outer edges [f, 3], 0 above others."""
    doubled = np.einsum("fi,fi->f", normals, np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]))
    heights = doubled[:, None] / np.linalg.norm(x[:, [2, 0, 1]] - x[:, [1, 2, 0]], axis=2)
    ends = np.sort(triangles[:, [[1, 2], [2, 0], [0, 1]]], axis=2).reshape(-1, 2).astype(np.int64)
    keys = ends[:, 0] * (int(triangles.max(initial=0)) + 1) + ends[:, 1]
    order = np.argsort(keys, kind="stable")
    of = np.repeat(np.arange(len(triangles)), 3)
    one, other = order[:-1], order[1:]
    smooth = np.einsum("mi,mi->m", normals[of[one]], normals[of[other]]) > _SHARP
    smooth &= keys[one] == keys[other]
    is_outer = np.ones(len(keys), bool)
    is_outer[one[smooth]] = is_outer[other[smooth]] = False
    return np.where(is_outer.reshape(-1, 3), 1.0 / heights, 0.0)
