"""The equations of small motions about a state, M ü + C u̇ + K u = f e^{iωt}, from a system and its loads."""

from __future__ import annotations

from functools import cached_property
from typing import final

import numpy as np

from symplex.base.sparse import sp
from symplex.errors import InvalidSystem
from symplex.fem.assembly.pattern import scatter_blocks
from symplex.fem.energies.differentiable_load import DifferentiableLoad
from symplex.fem.energies.energy import Array
from symplex.fem.energies.inelastic import refuse_history
from symplex.fem.energies.neighbour_list import IncompleteStencils
from symplex.fem.system import State, System


@final
class SmallMotions:
    """Stiffness, mass and damping about a state, whatever its velocities are.

    K is ∇²V − ∂f/∂q of the loads that know their derivatives, and C is −∂f/∂v of these at rest: of dampers, and of a
    rotating frame. Other loads, such as a pressure that follows its surface, have no part in them. Friction, which
    knows no small motions, has none either, and viscoelastic bodies are as stiff as in the long run.

    Parameters
    ----------
    system : System
    state : State

    Attributes
    ----------
    system : System
    q : float64 [n, dim]
        Positions in m.
    t : float
        The time in s.
    stiffness : float64 [nnz, dim, dim]
        Blocks of K in N/m on the system's pattern, supports not yet taken out.
    """

    def __init__(self, system: System, state: State):
        refuse_history(system, "a small motion")
        if state.q.shape != system.fixed.shape:
            raise InvalidSystem(f"the state has positions {state.q.shape}, but the system {system.fixed.shape}.")
        self.system, self.q, self.t = system, state.q, state.t
        self._rest = np.zeros_like(state.q)
        system.update_neighbours(state.q)
        try:
            blocks = system.hessian_blocks(state.q)
        except IncompleteStencils as error:
            system.extend_list(error.ends)
            blocks = system.hessian_blocks(state.q)
        self.pattern = system.pattern
        by_q, self._by_v = self._of_loads()
        self.stiffness = blocks if by_q is None else blocks - by_q
        if not np.isfinite(self.stiffness).all():
            raise InvalidSystem("the stiffness at this state is not finite, so that it has no small motions.")

    def _of_loads(self) -> tuple[Array | None, Array | None]:
        """Return ∂f/∂q and ∂f/∂v [nnz, dim, dim] of the loads at rest, None if there are no such loads."""
        system, slots = self.system, self.pattern.slots[len(self.system.energies) :]
        by_q = by_v = None
        for load, places in zip(system.differentiable_loads, slots, strict=False):
            if not isinstance(load, DifferentiableLoad):
                continue
            if by_q is None or by_v is None:
                by_q, by_v = self.pattern.zeros(system.dim), self.pattern.zeros(system.dim)
            for local, out in zip(
                load.derivatives(self.t, self.q[load.nodes], self._rest[load.nodes]), (by_q, by_v), strict=True
            ):
                scatter_blocks(np.ascontiguousarray(local), places, out)
        return by_q, by_v

    # -- on the pattern -----------------------------------------------------------------------------------------

    @cached_property
    def symmetric_stiffness(self) -> Array:
        """The blocks [nnz, dim, dim] of ½ (K + Kᵀ): K itself unless a load has a derivative that is not symmetric."""
        if not self.system.differentiable_loads:
            return self.stiffness
        return 0.5 * (self.stiffness + self._transposed(self.stiffness))

    @cached_property
    def damping(self) -> Array | None:
        """The blocks [nnz, dim, dim] of C in N s/m; None if nothing depends on velocities."""
        return None if self._by_v is None or not self._by_v.any() else -self._by_v

    @cached_property
    def is_gyroscopic(self) -> bool:
        """Whether C has a part that is not symmetric, as in a frame that rotates."""
        if self.damping is None:
            return False
        skew = self.damping - self._transposed(self.damping)
        return bool(np.abs(skew).max() > 1e-12 * np.abs(self.damping).max())

    @cached_property
    def is_damped(self) -> bool:
        """Whether C has a symmetric part: something that takes energy."""
        if self.damping is None:
            return False
        even = self.damping + self._transposed(self.damping)
        return bool(np.abs(even).max() > 1e-12 * np.abs(self.damping).max())

    def _transposed(self, blocks: Array) -> Array:
        """Return the blocks of the transpose, which has the same pattern."""
        pattern = self.pattern
        return blocks[np.lexsort((pattern.rows(), pattern.indices))].transpose(0, 2, 1)

    def shifted(self, blocks: Array, square: float) -> Array:
        """Return blocks + square · M [nnz, dim, dim], held coordinates as rows and columns of a unit matrix."""
        dim = self.system.dim
        out = blocks + square * self.system.mass_values[:, None, None] * np.eye(dim)
        fixed = self.system.fixed
        size = float(np.abs(out[self.pattern.diagonal()]).max(initial=0.0)) or 1.0
        out[self.pattern.held(fixed)] = 0.0
        node, axis = np.nonzero(fixed)
        out[self.pattern.diagonal()[node], axis, axis] = size
        return out

    def on_diagonal(self, blocks: Array) -> Array:
        """Return the numbers [n, dim] on the diagonal of a matrix."""
        return np.einsum("nii->ni", blocks[self.pattern.diagonal()])

    # -- as matrices of free coordinates -------------------------------------------------------------------------

    @cached_property
    def free(self) -> np.ndarray:
        """The coordinates that are not held, by their numbers in a nodal vector."""
        return np.flatnonzero(~self.system.fixed.ravel())

    @cached_property
    def n_moving(self) -> int:
        """How many free coordinates have mass."""
        return int(np.count_nonzero(self.mass.diagonal()[self.free]))

    def matrix(self, blocks: Array) -> sp.csr_array:
        """Return a matrix [n·dim, n·dim] with supports not taken out."""
        return sp.csr_array(self.pattern.matrix(blocks))

    @cached_property
    def mass(self) -> sp.csr_array:
        """M [n·dim, n·dim] in kg, supports not taken out."""
        return self.matrix(self.system.mass_values[:, None, None] * np.eye(self.system.dim))

    def among_free(self, matrix: sp.csr_array) -> sp.csr_array:
        """Return the rows and columns of a matrix that belong to free coordinates."""
        return sp.csr_array(matrix[self.free][:, self.free])

    def nodal(self, values: Array) -> Array:
        """Return vectors [k, n, dim] that are values [free, k] where coordinates are free, and zero elsewhere."""
        out = np.zeros((values.shape[1], self.system.fixed.size), values.dtype)
        out[:, self.free] = values.T
        return out.reshape(-1, *self.system.fixed.shape)
