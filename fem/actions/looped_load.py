"""Loads whose forces, and their derivatives where they have any, are kernels over stencils.

Loops over steps call these by rows of a table (`symplex.fem.load_table`). A load may change with time by a factor, its
history; kernels take the value of it.

A kernel of forces is called ``kernel(factor, q0, q1, q, v, record, out, first, last)`` and adds to the forces
out [n, dim] in N. It is given both ends q0 and q1 [n, dim] of an increment in m (of methods without discrete gradients
they are one), the positions q where the load is seen, and velocities v in m/s. One of derivatives,
``kernel(factor, q0, q1, q, v, by_q, by_v, record, slots, out, first, last)``, adds by_q ∂f/∂q + by_v ∂f/∂v to blocks
out [nnz, dim, dim]; of a load that sees both ends 2 by_q ∂f/∂q1. Both return a sum that is finite if all that they add
is (see `symplex.fem.assembly.calls`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from symplex.fem.actions.histories import Factor
from symplex.fem.assembly.calls import Call, known_rows, rows_of, run, run_matrix, whole
from symplex.fem.assembly.forms import DERIVATIVES, FORCES, LoadForm
from symplex.fem.assembly.nodes import require_nodal
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.compiled.records import Record
from symplex.fem.energies.differentiable_load import DifferentiableLoad


class CompiledLoad(ABC):
    """A load that may have kernels of its forces and, if it has derivatives, of these.

    Attributes
    ----------
    kernels : mapping of str to callable
        By the names of the forms.
    record : Record
        What they read; its ``nodes`` [m, k] are the stencils.
    """

    kernels: ClassVar[Mapping[str, Any]] = {}

    @property
    @abstractmethod
    def record(self) -> Record | None: ...

    @property
    def history(self) -> Factor | None:
        """The factor as a function of time; None if the load does not depend on it."""
        return None

    @cached_property
    def _calls(self) -> dict[str, Call]:
        record = self.record
        if record is None:
            return {}
        return {name: Call(kernel, record, whole(len(record.nodes))) for name, kernel in self.kernels.items()}

    def call(self, form: LoadForm) -> Call | None:
        """Return the call of a form, if the load has a kernel for it."""
        return self._calls.get(form.name)

    def require_dimension(self, dim: int) -> None:  # noqa: B027 - most are loads in any space
        """Raise `InvalidSystem` if it is not one in ``dim`` dimensions."""


class LoopedLoad(CompiledLoad, DifferentiableLoad):
    """A load with derivatives that is nothing else than its kernels."""

    @cached_property
    def _least_nodes(self) -> int:
        return int(self.nodes.max(initial=-1)) + 1

    def _factor(self, t: float) -> float:
        return 1.0 if self.history is None else self.history(t)

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return the nodal forces [n, dim] in N at the time t in s, positions q and velocities v [n, dim]."""
        require_nodal(self, "velocities have", v, self._least_nodes)
        require_nodal(self, "positions have", q, len(v), v.shape[1])
        self.require_dimension(v.shape[1])
        out, q = np.zeros(q.shape), np.ascontiguousarray(q, float)
        run(self._rows(FORCES), out, self._factor(t), q, q, q, np.ascontiguousarray(v, float))
        return out

    def derivatives(self, t: float, x: Array, v: Array) -> tuple[Array, Array]:
        """Return ∂f/∂x in N/m and ∂f/∂v in N s/m [m, k·dim, k·dim] at gathered x and v [m, k, dim]."""
        (m, k), dim = self.nodes.shape, x.shape[2]
        self.require_dimension(dim)
        q, u = (np.ascontiguousarray(given, float).reshape(-1, dim) for given in (x, v))
        call = self._calls["force_derivatives"]
        own = call._replace(record=call.record.replace(nodes=np.arange(m * k, dtype=np.int32).reshape(m, k)))
        slots = np.arange(m * k * k, dtype=np.int32).reshape(m, k, k)
        rows = rows_of(DERIVATIVES, [own], slots)
        found = np.zeros((2, m * k * k, dim, dim))
        for out, factors in zip(found, ((1.0, 0.0), (0.0, 1.0)), strict=True):
            run_matrix(rows, out, self._factor(t), q, q, q, u, *factors)
        blocks = found.reshape(2, m, k, k, dim, dim).transpose(0, 1, 2, 4, 3, 5).reshape(2, m, k * dim, k * dim)
        return blocks[0], blocks[1]

    def add_derivatives(
        self, t: float, q: Array, v: Array, by_q: float, by_v: float, slots: IntArray, out: Array
    ) -> None:
        """Add by_q ∂f/∂q + by_v ∂f/∂v at t, q and v [n, dim] to blocks out [nnz, dim, dim], at the places slots."""
        self.require_dimension(v.shape[1])
        q, v = np.ascontiguousarray(q, float), np.ascontiguousarray(v, float)
        run_matrix(self._rows(DERIVATIVES, slots), out, self._factor(t), q, q, q, v, by_q, by_v)

    def _rows(self, form: LoadForm, slots: IntArray | None = None) -> NDArray[np.int64]:
        call = self._calls[form.name]
        return known_rows(call.record, form, lambda: [call], slots)
