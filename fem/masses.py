"""Nodes with masses and a potential: accelerations, kinetic energy, momenta."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.base.sparse import sp
from symplex.errors import InvalidSystem
from symplex.fem.actions.mass import require_masses
from symplex.fem.assembly.pattern import Pattern
from symplex.fem.energies.energy import Array, Energy
from symplex.fem.energies.potential import Potential
from symplex.fem.state import State

if TYPE_CHECKING:
    from symplex.fem.actions.mass_solve import MassSolver

_NEXT, _AFTER = [1, 2, 0], [2, 0, 1]  # axes of a vector product


class Masses(Potential):
    """Nodes with masses, of which some coordinates are fixed, and a potential; see `symplex.System`."""

    mass: Array | sp.csr_array
    fixed: NDArray[np.bool_]
    massless: NDArray[np.bool_]

    def __init__(
        self,
        mass: ArrayLike | sp.csr_array,
        energies: dict[str, Energy],
        dim: int,
        fixed: NDArray[np.bool_] | None,
        massless: NDArray[np.bool_] | None,
    ):
        self.mass = sp.csr_array(mass, dtype=float, copy=True) if sp.issparse(mass) else np.array(mass, dtype=float)
        if self.mass.ndim == 0:
            raise InvalidSystem(f"the mass is one number, {mass!r} kg; expected one for each node, [n].")
        n_nodes: int = self.mass.shape[0]  # pyright: ignore[reportOptionalSubscript]
        if dim < 1:
            raise InvalidSystem(f"a system has one dimension of space at least, not {dim}.")
        super().__init__(energies, n_nodes, dim)
        self.fixed = np.zeros((n_nodes, dim), bool) if fixed is None else np.array(fixed, bool)
        self.massless = np.zeros(n_nodes, bool) if massless is None else np.array(massless, bool)
        self._mass_values: tuple[Pattern, Array] | None = None
        require_masses(self.mass, self.massless)
        if self.fixed.shape != (n_nodes, dim):
            raise InvalidSystem(f"fixed has shape {self._shape_and_required(self.fixed)}")

    def _shape_and_required(self, given: NDArray[Any]) -> str:
        """Return the end of a sentence about an array that should be [n, dim]."""
        message = f"{given.shape}, expected {(self.n_nodes, self.dim)}."
        if given.ndim == 2 and len(given) == self.n_nodes and 1 <= given.shape[1] <= 3:
            message += f" The system is of dimension {self.dim}; System(..., dim={given.shape[1]}) makes it another."
        return message

    @cached_property
    def is_lumped(self) -> bool:
        """Whether the mass is diagonal."""
        return not sp.issparse(self.mass)

    def lumped_mass(self, required_by: str) -> Array:
        """Return the nodal masses [n] in kg."""
        if not self.is_lumped:
            raise InvalidSystem(f"{required_by} needs a lumped (diagonal) mass; this system has a consistent one.")
        self.require_inertia(required_by)
        return np.asarray(self.mass)

    def require_inertia(self, required_by: str) -> None:
        """Check that no node is massless."""
        if self.massless.any():
            node = int(np.argmax(self.massless))
            raise InvalidSystem(
                f"{required_by} needs mass at all nodes, but {self.massless.sum()} have none (the first is node "
                f"{node})."
            )

    def apply_mass(self, v: Array) -> Array:
        """Return M v [n, dim]."""
        return self.mass[:, None] * v if self.is_lumped else self.mass @ v

    def accelerations(self, force: Array, out: Array | None = None) -> Array:
        """Return M⁻¹ force [n, dim] in m/s², zero at fixed coordinates and massless nodes.

        With a consistent mass by conjugate gradients, to round-off (see `symplex.fem.actions.mass_solve`).
        """
        if self.is_lumped:
            return np.multiply(force, self._inverse_mass, out=out)
        a = self._mass_solver.solve(force)
        if out is None:
            return a
        out[...] = a
        return out

    def response(self, force: Array, given: Array) -> Array:
        """Return M⁻¹ force [n, dim] where coordinates are free, next to the given values [n, dim] of moving supports.

        M_ff a_f = force_f − M_fc a_c for the free coordinates f and those c of the supports; also for impulses in
        kg m/s and changes of velocity. Both are zero elsewhere.
        """
        if not self.is_lumped:
            force = np.where(self.fixed, 0.0, force - self.apply_mass(given))
        return self.accelerations(force) + given

    @cached_property
    def _inverse_mass(self) -> Array:
        inverse = np.divide(1.0, np.asarray(self.mass), out=np.zeros(self.n_nodes), where=~self.massless)
        return inverse[:, None]

    @cached_property
    def _mass_solver(self) -> MassSolver:
        from symplex.fem.actions.mass_solve import MassSolver  # compiled when first needed

        return MassSolver(sp.csr_array(self.mass), self.fixed, self.massless)

    # -- on the pattern of all matrices ------------------------------------------------------------------------

    @property
    def mass_values(self) -> Array:
        """The masses [nnz] in kg on `pattern`: M_ab for the block of the nodes a and b."""
        pattern = self.pattern
        if self._mass_values is None or self._mass_values[0] is not pattern:
            self._mass_values = pattern, self._masses_on(pattern)
        return self._mass_values[1]

    def _masses_on(self, pattern: Pattern) -> Array:
        rows = pattern.rows()
        if self.is_lumped:
            return np.where(rows == pattern.indices, np.asarray(self.mass)[rows], 0.0)
        # Columns ascend in each row, so that row · n + column ascends throughout.
        keys = rows.astype(np.int64) * self.n_nodes + pattern.indices
        mass = sp.coo_array(self.mass)
        values = np.zeros(len(keys))
        np.add.at(values, np.searchsorted(keys, mass.row.astype(np.int64) * self.n_nodes + mass.col), mass.data)
        return values

    def kinetic(self, v: Array) -> float:
        """Return ½ vᵀ M v in J."""
        return 0.5 * self.dot(v, self.apply_mass(v))

    def momentum(self, state: State) -> Array:
        """Return the linear momentum Σ m v [dim] in kg m/s."""
        return self.sum(self.apply_mass(state.v))

    def angular_momentum(self, state: State) -> Array:
        """Return Σ q × m v about the origin in kg m²/s: [3] in space, [1] in the plane, [0] on a line."""
        p = self.apply_mass(state.v)
        if self.dim == 3:
            q = state.q  # np.cross takes ten times as long for few nodes
            return self.sum(q[:, _NEXT] * p[:, _AFTER] - q[:, _AFTER] * p[:, _NEXT])
        if self.dim == 2:
            return self.sum(state.q[:, :1] * p[:, 1:] - state.q[:, 1:] * p[:, :1])
        return np.empty(0)
