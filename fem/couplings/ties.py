"""Nodes tied to a surface that they are on, whatever its mesh: springs of no length, which keep both momenta."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.base.arguments import checked
from symplex.base.sparse import sp
from symplex.errors import InvalidSystem
from symplex.fem.assembly.nodes import Nodes, connectivity, node_indices, require_nodes
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.couplings.interpolation import InterpolatedEnergy, Interpolation
from symplex.fem.measures.bars import Bars
from symplex.fem.measures.pair_laws import EngineeringStrain

_NEAREST = 12  # triangles, by their centres, among which the nearest one is looked for first
_CHUNK = 4096  # points at once


class Feet(NamedTuple):
    """The points of a surface of triangles that are nearest to given points.

    Attributes
    ----------
    triangles : int32 [m, 3]
        The nodes of the triangle on which each of them is.
    weights : float64 [m, 3]
        N_a, how it lies between them: Σ N_a = 1, N_a ≥ 0.
    distances : float64 [m]
        In m.
    """

    triangles: IntArray
    weights: Array
    distances: Array


def feet(points: Array, nodes: IntArray, triangles: IntArray) -> Feet:
    """Return the nearest points of triangles [f, 3] to nodes [m], all with positions in points [n, 3]."""
    x = points[nodes]
    corners = points[triangles]
    flat = np.flatnonzero(~(_gram(corners)[-1] > 0.0))
    if len(flat):
        at = ", ".join(f"{c:.6g}" for c in corners[flat[0]].mean(axis=0))
        raise InvalidSystem(f"a surface that nodes are tied to has a triangle without area at ({at}) m; mend the mesh.")
    centres = corners.mean(axis=1)
    radius = float(np.linalg.norm(corners - centres[:, None], axis=2).max())
    from scipy.spatial import KDTree  # which takes long to import

    tree = KDTree(centres)
    near = np.atleast_2d(tree.query(x, k=min(_NEAREST, len(triangles)))[1].reshape(len(x), -1))
    found = [_nearest(x[k : k + _CHUNK], corners, near[k : k + _CHUNK]) for k in range(0, len(x), _CHUNK)]
    chosen, weights, distances = (np.concatenate(parts) for parts in zip(*found, strict=True))
    # A large triangle whose centre is far may be nearer than all of these: none with its centre beyond this is.
    reach = distances + radius
    for i in np.flatnonzero(tree.query_ball_point(x, reach, return_length=True) > near.shape[1]):
        within = np.array(tree.query_ball_point(x[i], reach[i]), dtype=np.intp)
        chosen[i : i + 1], weights[i : i + 1], distances[i : i + 1] = _nearest(x[i : i + 1], corners, within[None])
    return Feet(triangles[chosen], weights, distances)


def _nearest(x: Array, corners: Array, candidates: NDArray[np.integer]) -> tuple[NDArray[np.integer], Array, Array]:
    """Return which of its candidates [m, c] each point is nearest to [m], the weights [m, 3] and distances [m]."""
    weights = _closest_weights(x[:, None], corners[candidates])
    at = np.einsum("mca,mcai->mci", weights, corners[candidates])
    distances = np.linalg.norm(x[:, None] - at, axis=2)
    best, rows = distances.argmin(axis=1), np.arange(len(x))
    return candidates[rows, best], weights[rows, best], distances[rows, best]


def _gram(corners: Array) -> tuple[tuple[Array, Array], tuple[Array, Array, Array], Array]:
    """Return the edges u, v [..., 3] from the first corners of triangles, u·u, u·v, v·v, and their determinant."""
    u, v = corners[..., 1, :] - corners[..., 0, :], corners[..., 2, :] - corners[..., 0, :]
    uu, uv, vv = (u * u).sum(-1), (u * v).sum(-1), (v * v).sum(-1)
    return (u, v), (uu, uv, vv), uu * vv - uv * uv


def _closest_weights(x: Array, corners: Array) -> Array:
    """Return the weights [m, c, 3] of the nearest points of triangles [m, c, 3, 3]: inside, or on one of the edges."""
    (u, v), (uu, uv, vv), area = _gram(corners)
    d = x - corners[..., 0, :]
    du, dv = (d * u).sum(-1), (d * v).sum(-1)
    second, third = (vv * du - uv * dv) / area, (uu * dv - uv * du) / area
    inside = np.stack([1.0 - second - third, second, third], axis=-1)
    result = inside.copy()
    least = np.where((inside >= 0.0).all(axis=-1), -1.0, np.inf)
    for i, j in ((0, 1), (1, 2), (2, 0)):
        e = corners[..., j, :] - corners[..., i, :]
        t = np.clip(((x - corners[..., i, :]) * e).sum(-1) / (e * e).sum(-1), 0.0, 1.0)
        away = ((corners[..., i, :] + t[..., None] * e - x) ** 2).sum(-1)
        nearer = away < least
        least = np.where(nearer, away, least)
        on_edge = np.zeros_like(result)
        on_edge[..., i], on_edge[..., j] = 1.0 - t, t
        result = np.where(nearer[..., None], on_edge, result)
    return result


@checked
def tie_to_surface(points: Array, nodes: Nodes, triangles: Nodes, stiffness: ArrayLike) -> InterpolatedEnergy:
    """Return the energy that holds nodes on the points of a surface nearest to them, φ = ½ k |x − Σ N_a x_a|².

    It is that of springs of no length between nodes and points that follow the corners of a triangle
    (`Interpolation`). Rigid motions leave it as it is, so linear and angular momenta are kept; it has all forms that
    bars have, for every integrator. What is tied parts by f/k under a force f.

    Parameters
    ----------
    points : float64 [n, 3]
        Positions of all nodes in m; those that are tied are on the surface, or are drawn to it from the start on.
    nodes : int [m]
        The nodes that are tied.
    triangles : int [f, 3]
        The surface, such as ``Surface.of(mesh, body).triangles``.
    stiffness : float or float64 [m]
        k in N/m.

    Raises
    ------
    InvalidSystem
        If there are no nodes or no triangles, a triangle has no area, a node is a corner of the surface itself, or a
        stiffness is not positive.
    """
    tied, corners = node_indices("tie_to_surface", nodes), connectivity("tie_to_surface", triangles)
    if not tied.size or corners.ndim != 2 or corners.shape[1] != 3 or not len(corners):
        raise InvalidSystem("tie_to_surface: expected nodes [m] and triangles [f, 3], at least one of each.")
    if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
        raise InvalidSystem(f"tie_to_surface: points must be finite, [n, 3]; their shape is {points.shape}.")
    require_nodes("tie_to_surface", tied, len(points))
    require_nodes("tie_to_surface", corners, len(points))
    own = np.intersect1d(tied, corners)
    if len(own):
        raise InvalidSystem(f"tie_to_surface: node {own[0]} is on the surface already, as a corner of it.")
    found, m, n = feet(points, tied, corners), len(tied), len(points)
    rows = np.concatenate([np.arange(m), np.repeat(np.arange(m, 2 * m), 3)])
    columns = np.concatenate([tied, found.triangles.ravel()])
    weights = np.concatenate([np.ones(m), found.weights.ravel()])
    following = Interpolation(sp.csr_array((weights, (rows, columns)), shape=(2 * m, n)))
    pairs = np.column_stack([np.arange(m), np.arange(m, 2 * m)])
    energy = following.of(Bars(pairs, EngineeringStrain(stiffness, 0.0)))
    assert isinstance(energy, InterpolatedEnergy)
    return energy
