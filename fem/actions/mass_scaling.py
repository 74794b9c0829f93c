"""Mass scaling: mass that is added to the elements that limit the step of explicit methods, and how much it is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, final

import numpy as np

from symplex.base.arguments import checked
from symplex.base.quantities import positive
from symplex.fem.actions.mass import lumped_mass
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.solids.solid import Solid

_CHUNK = 2048  # elements whose matrices are there at once


@final
@dataclass(frozen=True)
class ScaledMass:
    """Lumped masses of elements, some of which have more than their own.

    Attributes
    ----------
    cells : int32 [m, k]
    shares : float64 [m, k]
        The own masses in kg of the nodes of each element.
    factors : float64 [m]
        By which those of each element are multiplied, 1 where nothing is added.
    """

    cells: IntArray
    shares: Array
    factors: Array

    @property
    def own(self) -> float:
        """The mass in kg without what is added."""
        return float(self.shares.sum())

    @property
    def added(self) -> float:
        """What is added in kg."""
        return float(((self.factors - 1.0)[:, None] * self.shares).sum())

    @cached_property
    def nodes(self) -> IntArray:
        """The nodes [s] to which mass is added."""
        return np.unique(self.cells[self.factors > 1.0]).astype(np.int32)

    def added_at(self, n_nodes: int) -> Array:
        """Return what is added at each node [n_nodes] in kg."""
        added = (self.factors - 1.0)[:, None] * self.shares
        return np.asarray(np.bincount(self.cells.ravel(), weights=added.ravel(), minlength=n_nodes), float)

    def masses(self, n_nodes: int) -> Array:
        """Return the lumped nodal masses [n_nodes] in kg, with what is added."""
        scaled = self.factors[:, None] * self.shares
        return np.asarray(np.bincount(self.cells.ravel(), weights=scaled.ravel(), minlength=n_nodes), float)


@checked
def scaled_mass(solid: Solid, step: Annotated[float, positive("s")]) -> ScaledMass:
    """Return lumped masses with which each element alone is stable at a step: by (h/h_e)² where h_e < h.

    h_e = 2/ω_e with the largest frequency of the element without neighbours, at rest. The largest of a mesh is none
    larger (Irons and Treharne, 1971), so that its own limit is h at least, but for penalties, contact and damping.

    Parameters
    ----------
    solid : Solid
        Its elements, stiffness and density.
    step : float
        h in s.

    Raises
    ------
    MeshError
        If an element is inverted or flat.
    """
    x = solid.points
    cells, (m, k) = solid.nodes, solid.nodes.shape
    apart = np.arange(m * k, dtype=np.int32).reshape(m, k)
    shares = lumped_mass(x[cells].reshape(-1, 3), apart, solid.material.density, m * k).reshape(m, k)
    factors = np.ones(m)
    for first in range(0, m, _CHUNK):
        some = slice(first, min(first + _CHUNK, m))
        factors[some] = np.maximum(_squares(solid, shares, some, step) * (0.5 * step) ** 2, 1.0)
    return ScaledMass(cells, shares, factors)


def _squares(solid: Solid, shares: Array, some: slice, step: float) -> Array:
    """Return the largest ω² of elements in 1/s², 0 where it is surely below (2/h)²."""
    cells = solid.nodes[some]
    apart = np.arange(cells.size, dtype=np.int32).reshape(cells.shape)
    part = solid.of_some(np.arange(some.start, some.stop), apart)
    roots = np.repeat(1.0 / np.sqrt(shares[some]), 3, axis=1)
    A = roots[:, :, None] * part.hessian(solid.points[cells]) * roots[:, None, :]
    # The largest eigenvalue is at most the Frobenius norm.
    slow = np.linalg.norm(A, axis=(1, 2)) <= (2.0 / step) ** 2
    found = np.zeros(len(A))
    found[~slow] = np.linalg.eigvalsh(A[~slow])[:, -1]
    return found
