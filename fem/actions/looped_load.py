"""Loads whose forces, and their derivatives where they have any, are compiled loops over stencils.

Loops over steps call these by their addresses (`symplex.fem.load_table`). A load may change with time by a factor, its
history; compiled loops take the values of it.

A loop of forces is called ``loop(factor, q0, q1, q, v, *arguments, out)`` and adds to the forces out [n, dim] in N. It
is given both ends q0 and q1 [n, dim] of an increment in m (of methods without discrete gradients they are one), the
positions q where the load is seen, and velocities v in m/s. A loop of derivatives
``loop(factor, q0, q1, q, v, *arguments, by_q, by_v, slots, out)`` adds by_q ∂f/∂q + by_v ∂f/∂v to blocks
out [nnz, dim, dim]; of a load that sees both ends 2 by_q ∂f/∂q1. For the arguments see
`symplex.fem.forms.CompiledLoops`. All return a sum that is finite if all that they add is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np

from symplex.errors import InvalidSystem
from symplex.fem.actions.differentiable_load import DifferentiableLoad
from symplex.fem.actions.histories import Factor
from symplex.fem.assembly import Array, IntArray
from symplex.fem.forms import CompiledLoops

NO_END = np.zeros(4)  # of a load that has no numbers beside those of its stencils


class CompiledLoad(ABC):
    """A load that may have compiled loops, ``"forces"`` and, if it has derivatives, ``"force_derivatives"``."""

    @property
    def history(self) -> Factor | None:
        """The factor as a function of time; None if the load does not depend on it."""
        return None

    @property
    @abstractmethod
    def compiled_loops(self) -> CompiledLoops | None:
        """The loops, and what they take, if the load has any."""

    def require_dimension(self, dim: int) -> None:  # noqa: B027 - most are loads in any space
        """Raise `InvalidSystem` if it is not one in ``dim`` dimensions."""


class LoopedLoad(CompiledLoad, DifferentiableLoad):
    """A load with derivatives that is nothing else than its loops."""

    @property
    @abstractmethod
    def compiled_loops(self) -> CompiledLoops:
        """The loops, and what they take."""

    @cached_property
    def _least_nodes(self) -> int:
        return int(self.nodes.max(initial=-1)) + 1

    def _factor(self, t: float) -> float:
        return 1.0 if self.history is None else self.history(t)

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return the nodal forces [n, dim] in N at the time t in s, positions q and velocities v [n, dim]."""
        if v.ndim != 2 or v.shape != q.shape or len(v) < self._least_nodes:  # loops would read beyond the end
            raise InvalidSystem(
                f"{type(self).__name__}: positions have shape {q.shape} and velocities {v.shape}, wanted (n, dim) with "
                f"n at least {self._least_nodes}."
            )
        self.require_dimension(v.shape[1])
        loops, arguments = self.compiled_loops
        out, q = np.zeros(q.shape), np.ascontiguousarray(q, float)
        loops["forces"](self._factor(t), q, q, q, np.ascontiguousarray(v, float), *arguments, out)
        return out

    def derivatives(self, t: float, x: Array, v: Array) -> tuple[Array, Array]:
        """Return ∂f/∂x in N/m and ∂f/∂v in N s/m [m, k·dim, k·dim] at gathered x and v [m, k, dim]."""
        (m, k), dim = self.nodes.shape, x.shape[2]
        self.require_dimension(dim)
        loops, (_, *arguments) = self.compiled_loops
        q, u = (np.ascontiguousarray(given, float).reshape(-1, dim) for given in (x, v))
        own = np.arange(m * k, dtype=np.int32).reshape(m, k)
        slots = np.arange(m * k * k, dtype=np.int32).reshape(m, k, k)
        found = np.zeros((2, m * k * k, dim, dim))
        for out, factors in zip(found, ((1.0, 0.0), (0.0, 1.0)), strict=True):
            loops["force_derivatives"](self._factor(t), q, q, q, u, own, *arguments, *factors, slots, out)
        blocks = found.reshape(2, m, k, k, dim, dim).transpose(0, 1, 2, 4, 3, 5).reshape(2, m, k * dim, k * dim)
        return blocks[0], blocks[1]

    def add_derivatives(
        self, t: float, q: Array, v: Array, by_q: float, by_v: float, slots: IntArray, out: Array
    ) -> None:
        """Add by_q ∂f/∂q + by_v ∂f/∂v at t, q and v [n, dim] to blocks out [nnz, dim, dim], at the places slots."""
        self.require_dimension(v.shape[1])
        loops, arguments = self.compiled_loops
        q, v = np.ascontiguousarray(q, float), np.ascontiguousarray(v, float)
        loops["force_derivatives"](self._factor(t), q, q, q, v, *arguments, by_q, by_v, slots, out)
