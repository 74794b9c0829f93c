"""The forces of an energy times a function of time: what begins slowly, or comes and goes."""

from __future__ import annotations

from typing import final

import numpy as np

from symplex.base.arguments import checked
from symplex.fem.actions.histories import History, factor_of
from symplex.fem.assembly.pattern import Array
from symplex.fem.energies.differentiable_load import DifferentiableLoad
from symplex.fem.energies.energy import Energy


@checked
@final
class EnergyLoad(DifferentiableLoad):
    """A load −factor(t) ∇φ(q) that follows the body, such as centrifugal forces that grow.

    What depends on time has no potential: its work is reported.

    Parameters
    ----------
    energy : Energy
        φ, with constant stencils.
    history : float, callable or (times, factors)
        As for `NodalLoad`.

    Raises
    ------
    InvalidSystem
        If the table is not in order.
    """

    def __init__(self, energy: Energy, history: History = 1.0):
        self.energy, self.factor = energy, factor_of(history)
        self.nodes = energy.nodes

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return the nodal forces [n, dim] in N."""
        out = np.zeros_like(q)
        self.energy.add_gradient(q, out)
        return np.multiply(out, -self.factor(t), out=out)

    def derivatives(self, t: float, x: Array, v: Array) -> tuple[Array, Array]:
        """Return ∂f/∂x in N/m and ∂f/∂v, zero, [m, k·dim, k·dim] at gathered x and v [m, k, dim]."""
        rate = -self.factor(t) * np.asarray(self.energy.hessian(x))
        return rate, np.zeros_like(rate)
