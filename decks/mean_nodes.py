"""Nodes of shells, which are no nodes of their layer of solid elements: they move as the mean of some of these."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Dof = tuple[int, int]
_DRILLING = (
    0.0447  # the sine of the angle to the normal, 2.6°, under which a rotation is one about it, and has no effect
)


@dataclass(frozen=True)
class MeanNode:
    """A node of a shell, by the nodes of the layer through its thickness, which are places in the mesh.

    Attributes
    ----------
    below, above : int
    between : int or None
        Only corners of quadratic elements have one.
    normal : float64 [3]
    thickness : float
        In the unit of length of the deck.
    is_node : bool
        Whether it is a node of a solid or discrete element as well, and has its own displacements.
    """

    below: int
    between: int | None
    above: int
    normal: NDArray[np.float64]
    thickness: float
    is_node: bool

    def displacement(self, component: int) -> dict[Dof, float]:
        """Return the factors of u, of the displacements of nodes."""
        if self.between is None:
            return {(self.below, component): 0.5, (self.above, component): 0.5}
        return {(self.below, component): -0.5, (self.between, component): 2.0, (self.above, component): -0.5}

    def held(self, component: int) -> list[dict[Dof, float]]:
        """Return the factors of what a support holds: the mean of the outer nodes, and by itself the middle one."""
        outer = {(self.below, component): 0.5, (self.above, component): 0.5}
        return [outer] if self.between is None else [outer, {(self.between, component): 1.0}]

    def tangent(self, component: int) -> NDArray[np.float64] | None:
        """Return what of the direction (0, 1, 2) of a rotation is in the shell [3]; None if it is nearly the normal."""
        direction = np.eye(3)[component]
        inside = direction - (direction @ self.normal) * self.normal
        return None if np.linalg.norm(inside) < _DRILLING else inside

    def rotation(self, component: int) -> dict[Dof, float]:
        """Return the factors of the mean rotation about the projection of a direction (0, 1, 2), of displacements."""
        inside = self.tangent(component)
        if inside is None:
            return {}
        weights = np.cross(inside / np.linalg.norm(inside), self.normal) / self.thickness
        return {
            (node, i): s * float(w)
            for node, s in ((self.above, 1.0), (self.below, -1.0))
            for i, w in enumerate(weights)
        }
