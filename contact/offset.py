"""Contact that begins where surfaces touch: of surfaces that lie inside the bodies, by half of d̂ each."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.base.arguments import checked, described
from symplex.contact.bodies import BodyContact
from symplex.contact.inside import inward, weights_inside
from symplex.contact.pair_energy import nearest
from symplex.contact.penetration import intersections
from symplex.contact.search import find_pairs
from symplex.errors import InvalidSystem
from symplex.fem.assembly.nodes import connectivity, require_nodes
from symplex.fem.assembly.pattern import Array
from symplex.fem.couplings.interpolation import ChangingInterpolatedEnergy, Interpolation
from symplex.meshes.kinds import dimension_of

SHARE = 0.02  # of the shortest edge, the default of d̂ where surfaces may touch
_DEEPEST = 0.125  # of the shortest edge: by how much more than d̂/2 surfaces may lie inside
# Of d̂, by which what touches begins nearer: so contact is closed, and resists at once, with a force that is nothing.
_CLOSED = 1e-9
_ROUNDS = 20
_COUNTED = 1e-6  # of d̂: overlaps that are reported


@partial(checked, but=("cells",))
def offset_contact(
    contact: BodyContact,
    points: Array,
    cells: Mapping[str, ArrayLike],
    *,
    follow: Interpolation | None = None,
) -> ChangingInterpolatedEnergy:
    """Return a contact that begins where the surfaces of bodies touch, and not at the distance d̂ of each other.

    The surfaces that push each other lie inside the bodies, by d̂/2 each at rest. Their vertices are material points:
    each follows its node and three others of an element there by constant weights, so that it moves with the body in
    any rigid motion, and in any uniform strain. Bodies whose surfaces touch in the given shape begin without a force,
    and resist at once. What overlaps there, as meshes of a pin and its hole do, begins without a force as well: these
    vertices lie deeper.

    The energy has all forms that contact has; forces on the vertices act on the nodes that they follow, with the same
    resultant and moment. Real surfaces may pass into each other by less than d̂, and the gaps reported count from where
    they touch: they are between −d̂ and 0.

    Parameters
    ----------
    contact : BodyContact
        Of the surfaces of the bodies. A small d̂, as 0.02 of the shortest edge, leaves stresses next to the surface as
        they are: what is pressed there is pressed at the depth d̂/2.
    points : float64 [p, 3]
        The shape in m in which what touches has no force.
    cells : mapping of str to int [m, k]
        The cells of the bodies, by type, of which those that fill a volume are taken. Bodies of which there are none
        are rigid.
    follow : Interpolation, optional
        How the points follow the nodes of a system, where some are of rigid bodies.

    Returns
    -------
    ChangingInterpolatedEnergy
        ``energy`` of it is the contact of the vertices inside, of which there may be `Friction`, and ``of_load`` takes
        that.

    Raises
    ------
    InvalidSystem
        If a body has an open surface, which has no inside; a cell has a node that does not exist; or bodies overlap by
        more than a quarter of the shortest edge.
    """
    if not isinstance(cells, Mapping):
        raise InvalidSystem(f"offset_contact: cells must be a mapping of types to elements; it is {described(cells)}.")
    own = {kind: connectivity("offset_contact", nodes) for kind, nodes in cells.items() if dimension_of(kind) == 3}
    surface, touches = contact.surface, np.asarray(contact.between.any(axis=1))
    if points.ndim != 2 or points.shape[1] != 3 or len(points) <= surface.vertices[-1]:
        raise InvalidSystem(f"offset_contact: points have shape {points.shape}; there must be one for each node.")
    if not np.isfinite(points).all():
        raise InvalidSystem(
            f"offset_contact: the point of node {np.argwhere(~np.isfinite(points))[0][0]} is not finite."
        )
    for nodes in own.values():
        require_nodes("offset_contact", nodes, len(points))
    for body in np.flatnonzero(touches).tolist():
        if not surface.has_volume[body]:
            raise InvalidSystem(
                f"body '{surface.names[body]}' has an open surface, and no inside in which contact that begins as "
                "surfaces touch could be. Take a body of volume cells or a closed surface, or leave a gap."
            )
    way = inward(surface, points)
    way[~touches[surface.vertex_bodies]] = 0.0
    depths, overlap = _depths(contact, points, way)
    weights = weights_inside(surface, points, own, depths[:, None] * way)
    inside = copy.copy(contact)
    inside.offset, inside.overlap = contact.reach, overlap
    return Interpolation(weights if follow is None else weights @ follow.weights).of(inside)


def _depths(contact: BodyContact, points: Array, way: Array) -> tuple[Array, float]:
    """Return how deep vertices lie [v] in m, for ways [v, 3] of a depth of 1, and the largest overlap in m at rest."""
    surface, reach, between = contact.surface, contact.reach, contact.between
    half, room = 0.5 * (1.0 - _CLOSED) * reach, _DEEPEST * float(surface.edge_lengths.min())
    depths, q = np.full(len(way), half), points.copy()

    def pairs(nearer: float) -> tuple[NDArray[np.intp], Array]:
        """Return the vertices of pairs that are nearer [m, 4], as places in the surface, and their distances [m]."""
        q[surface.vertices] = points[surface.vertices] + depths[:, None] * way
        found = find_pairs(surface, (q,), nearer, between)
        return np.searchsorted(surface.vertices, found.nodes), nearest(q, found)[1]

    pairs(0.0)
    start, apart = depths.copy(), half
    while overlaps := intersections(surface, q, between):
        if apart >= half + room:
            worst = max(intersections(surface, points, between) or overlaps, key=lambda one: one.depth)
            raise InvalidSystem(
                f"BodyContact: {worst}. Contact that begins where surfaces touch takes no notice of an overlap of a "
                f"quarter of the shortest edge, {2.0 * room:.3g} m; move them apart."
            )
        apart = min(2.0 * apart, half + room)
        depths = np.full(len(way), apart)
        pairs(0.0)
    if apart > half:  # then how far they overlap is seen from here
        vertices, gaps = pairs(2.0 * apart)
        depths = start
        _deepen(depths, vertices, half + 0.5 * (2.0 * apart - gaps))
    for _ in range(_ROUNDS):
        vertices, gaps = pairs(reach * (1.0 - 2.0 * _CLOSED))
        if not len(gaps):
            break
        _deepen(depths, vertices, depths[vertices].max(axis=1) + 0.5 * (reach - gaps))
    deeper = 2.0 * (float(depths.max()) - half)
    return depths, deeper if deeper > _COUNTED * reach else 0.0


def _deepen(depths: Array, vertices: NDArray[np.intp], requested: Array) -> None:
    """Let the vertices [m, 4] of pairs lie at the given depths [m], or where they are, if that is deeper."""
    np.maximum.at(depths, vertices, requested[:, None])
