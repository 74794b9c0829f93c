"""Loads that know their derivatives, which implicit steps need where they are strong: dampers, follower loads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.pattern import Array, IntArray


class DifferentiableLoad(Copyable, ABC):
    """A load, a function f(t, q, v), that gives its derivatives.

    Loads without them run with implicit methods as well, but the corrections of a step then don't see how they change:
    where that is much, they converge slowly or not at all.

    Attributes
    ----------
    nodes : int32 [m, k]
        Its stencils: which forces depend on which nodes.
    gyroscopic : bool
        Whether the forces do no work, whatever the velocities: ∂f/∂v is skew. By default not.
    """

    nodes: IntArray
    gyroscopic: ClassVar[bool] = False

    @abstractmethod
    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return the nodal forces [n, dim] in N at the time t in s, positions q and velocities v [n, dim]."""

    @abstractmethod
    def derivatives(self, t: float, x: Array, v: Array) -> tuple[Array, Array]:
        """Return ∂f/∂x in N/m and ∂f/∂v in N s/m [m, k·dim, k·dim] at gathered x and v [m, k, dim]."""
