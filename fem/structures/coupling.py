"""Nodes that move with a frame as a rigid body, as those of a solid at a pin, a flange, or the end of a beam."""

from __future__ import annotations

from typing import final

import numpy as np

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.assembly.nodes import Nodes, node_indices, require_nodes
from symplex.fem.assembly.pattern import Array
from symplex.fem.structures.joints import Connection, Products, body_of, weights_in_frame


@checked
@final
class Coupling(Connection):
    """Nodes that move with a frame as a rigid body (kinematic coupling, RBE2): x_i = Σ b_a x_a of its four particles.

    These are three linear conditions of each node, exact and without stiffness: their forces do no work, and have
    neither resultant nor moment on nodes and frame together. It is one of the ``joints`` of a `System`. The frame is
    that of a rigid body or of a node of a beam or shell, and may have joints.

    Parameters
    ----------
    body : int [4]
        The particles of the frame.
    nodes : int [m]
        The nodes, of which none belongs to a frame.
    points : float64 [n, 3]
        Positions in m of all particles, from which on nodes move with the frame.

    Raises
    ------
    InvalidSystem
        If there is no node, or particles of the frame are not four that span space.
    """

    kind = "coupling"

    def __init__(self, body: Nodes, nodes: Nodes, points: Array):
        points = np.asarray(points, float)
        own = body_of("Coupling", body, points)
        tied = node_indices("Coupling", nodes)
        require_nodes("Coupling", tied, len(points))
        if not len(tied) or len(np.unique(tied)) < len(tied) or np.intersect1d(tied, own).size:
            raise InvalidSystem("Coupling: nodes must be different ones, one at least, and none of the frame.")
        self.bodies = own, None
        self.nodes = np.repeat(np.column_stack([np.tile(own, (len(tied), 1)), tied]), 3, axis=0).astype(np.int32)
        zero, none = np.zeros(5), np.zeros(3)
        weights = [np.append(weights, -1.0) for weights in weights_in_frame(points[own], points[tied])]
        self.products = Products([((zero, axis), (row, none)) for row in weights for axis in np.eye(3)])
        self.offset = self.products.value(points[self.nodes])  # zero but for rounding

    def point(self, q: Array) -> Array:
        """Return the centre [3] of the frame in m."""
        return np.asarray(q[self.bodies[0]].mean(axis=0))
