"""Small motions as matrices of independent coordinates, M ÿ + C ẏ + K y = f, of which displacements are u = B y."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from symplex.base.sparse import sp
from symplex.fem.energies.energy import Array

_RANK = 1e-12  # of the squares of conditions of length one, below which they are redundant
_DELTA = 1e-9  # of the size of a matrix, in the block of multipliers of conditions that may be redundant


@final
@dataclass(frozen=True)
class LinearEquations:
    """M ÿ + C ẏ + K y + Gᵀμ = Bᵀf with G y = 0.

    Coordinates are those of nodes that are free; of frames displacements and rotations, on which joints set conditions.

    Attributes
    ----------
    basis : sparse [n·dim, k]
        B.
    stiffness, mass : sparse [k, k]
        K in N/m and M in kg.
    damping : sparse [k, k] or None
        C in N s/m, None if nothing depends on velocities.
    conditions : sparse [c, k]
        G.
    of_nodes : (sparse [n·dim, n·dim], sparse [c, n·dim])
        K and G of all nodes, of those that supports hold or move too.
    """

    basis: sp.csr_array
    stiffness: sp.csr_array
    mass: sp.csr_array
    damping: sp.csr_array | None
    conditions: sp.csr_array
    of_nodes: tuple[sp.csr_array, sp.csr_array]

    @property
    def size(self) -> int:
        """How many coordinates there are."""
        return len(self.mass.diagonal())

    @cached_property
    def n_moving(self) -> int:
        """How many independent motions have mass."""
        return int(np.count_nonzero(self.mass.diagonal())) - (self.size - self._possible[1])

    @property
    def possible(self) -> Array | None:
        """The motions [k, m] that conditions let be, in orthonormal columns; None where there are no conditions."""
        return self._possible[0]

    @cached_property
    def _possible(self) -> tuple[Array | None, int]:
        """The same, and how many they are."""
        if not len(self._scale):
            return None, self.size
        _, sizes, rows = np.linalg.svd(self._scale[:, None] * self.conditions.toarray())
        motions = rows[np.count_nonzero(sizes**2 > _RANK) :].T
        return motions, motions.shape[1]

    @cached_property
    def _scale(self) -> Array:
        """By what conditions [c] are multiplied, so that they have length one."""
        norms = np.sqrt(np.asarray(self.conditions.multiply(self.conditions).sum(axis=1)).ravel())
        return 1.0 / np.where(norms > 0.0, norms, 1.0)

    def solver(self, D: sp.csr_array) -> Callable[..., Any]:
        """Return the solution y of D y + Gᵀμ = f, G y = g as a function of f [k] or [k, m] and g, by default zero."""
        from scipy.sparse.linalg import splu

        k, c = self.size, len(self._scale)
        if not c:
            factors = splu(sp.csc_array(D))
            return lambda f, g=None: factors.solve(f)
        size = float(abs(D).max()) or 1.0
        G = sp.csr_array(sp.diags_array(size * self._scale) @ self.conditions)
        factors = splu(sp.csc_array(sp.block_array([[D, G.T], [G, -_DELTA * size * sp.eye_array(c)]])))

        def solve(f: Any, g: Any = None) -> Any:
            right = np.zeros((k + c, *f.shape[1:]), np.result_type(f, D.dtype))
            right[:k] = f
            if g is not None:
                right[k:] = size * (self._scale * g.T).T
            return factors.solve(right)[:k]

        return solve

    def without_reactions(self, forces: Any) -> Any:
        """Return what of complex forces [k, m] conditions do not take."""
        unit = sp.csr_array((np.ones(self.size, complex), (np.arange(self.size), np.arange(self.size))))
        return self.solver(unit)(forces) if len(self._scale) else forces

    def nodal(self, values: Any) -> Any:
        """Return displacements [m, n·dim] of coordinates [k, m]."""
        return (self.basis @ values).T
