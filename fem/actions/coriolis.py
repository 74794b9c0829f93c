"""The forces of Coriolis: on what moves in a frame that turns."""

from __future__ import annotations

from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.base.sparse import sp
from symplex.errors import InvalidSystem
from symplex.fem.actions import viscous_loops
from symplex.fem.actions.centrifugal import cross_matrix, mass_stencils, required_omega
from symplex.fem.actions.looped_load import LoopedLoad
from symplex.fem.assembly.pattern import Array


@checked
@final
class Coriolis(LoopedLoad):
    """The forces of Coriolis in a frame that turns steadily, f = −2 M ω × v, which do no work.

    With the `Centrifugal` potential they make a system that of a frame: with positions and velocities in it,

        M v̇ + ∇V(q) = f + M P (q − p) − 2 M ω × v.

    Parameters
    ----------
    mass : float64 [n] or sparse [n, n]
        Nodal masses in kg, or the consistent mass matrix, symmetric.
    angular_velocity : float64 [3] or [1]
        ω in rad/s; one number in the plane.

    Raises
    ------
    InvalidSystem
        If shapes do not fit, numbers are not finite, or there is no mass.
    """

    gyroscopic = True

    kernels: ClassVar = viscous_loops.LINEAR

    def __init__(self, mass: Array | sp.csr_array, angular_velocity: ArrayLike):
        self._hat = cross_matrix(required_omega("Coriolis", angular_velocity))
        self.nodes, weights = mass_stencils("Coriolis", mass)
        self._resistance = 2.0 * np.einsum("mab,ij->maibj", weights, self._hat)  # 2 M ω̂

    def require_dimension(self, dim: int) -> None:
        """Raise `InvalidSystem` if velocities are of another dimension than the angular velocity."""
        if dim != len(self._hat):
            raise InvalidSystem(
                f"Coriolis: the angular velocity is one in {len(self._hat)} dimensions, but velocities have {dim} "
                "components; give three numbers in space, one in the plane (rad/s)."
            )

    @property
    def record(self) -> viscous_loops.LinearRecord:
        """What the kernels read."""
        m, k = self.nodes.shape
        size = k * len(self._hat)
        return viscous_loops.LinearRecord(nodes=self.nodes, matrices=self._resistance.reshape(m, size, size).copy())
