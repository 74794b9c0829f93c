"""The forces of a temperature that changes with time: what stresses of a body change by."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.actions.histories import Factor, History, factor_of
from symplex.fem.assembly.pattern import Array
from symplex.fem.energies.differentiable_load import DifferentiableLoad
from symplex.fem.solids.solid import Solid


@checked
@final
class ThermalLoad(DifferentiableLoad):
    """A thermal strain ε + factor(t) ε₁ of a solid that has ε: the load ∇φ_ε(q) − ∇φ_(ε + factor ε₁)(q).

    The energy of the solid in the system stays φ_ε, and the work of the load is that of the change of temperature:
    kinetic energy and φ_ε change by it. Stresses of results are those of the temperature at their time.

    Parameters
    ----------
    solid : Solid
        As it is in the system, of an elastic law.
    thermal_strain : float64 [n]
        ε₁ = α ΔT at nodes.
    history : float, callable or (times, factors)
        As for `NodalLoad`.

    Raises
    ------
    InvalidSystem
        If there is no finite strain for each point, or the table is not in order.
    """

    def __init__(self, solid: Solid, thermal_strain: ArrayLike, history: History = 1.0):
        self.solid, self.nodes = solid, solid.nodes
        self.thermal_strain = np.array(thermal_strain, dtype=float)
        if self.thermal_strain.shape != (len(solid.points),) or not np.isfinite(self.thermal_strain).all():
            raise InvalidSystem(
                f"ThermalLoad: thermal_strain must be {len(solid.points)} finite numbers, one for each point."
            )
        self.factor: Factor = factor_of(history)
        self._known = 0.0, solid
        self._whole: Array | None = None  # of laws of small strains the forces for a factor of 1, on all nodes

    def __getstate__(self) -> dict[str, Any]:
        """Return the state of copies, which find the solid of a time again."""
        return self.__dict__ | {"_known": (0.0, self.solid)}

    def at(self, t: float) -> Solid:
        """Return the solid with the temperature of a time in s."""
        return self._of(self.factor(t))

    def _of(self, factor: float) -> Solid:
        if self._known[0] != factor:
            base = self.solid.thermal_strain
            change = factor * self.thermal_strain
            self._known = factor, self.solid.expanded(change if base is None else base + change)
        return self._known[1]

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return the nodal forces [n, 3] in N."""
        if self.solid.material.objective:
            return self._forces(self.at(t), q)
        if self._whole is None or len(self._whole) != len(q):
            self._whole = self._forces(self._of(1.0), q)
        return self.factor(t) * self._whole

    def _forces(self, solid: Solid, q: Array) -> Array:
        out, changed = np.zeros_like(q), np.zeros_like(q)
        self.solid.add_gradient(q, out)
        solid.add_gradient(q, changed)
        return np.subtract(out, changed, out=out)

    def derivatives(self, t: float, x: Array, v: Array) -> tuple[Array, Array]:
        """Return ∂f/∂x in N/m and ∂f/∂v, zero, [m, k·dim, k·dim] at gathered x and v [m, k, dim]."""
        if self.solid.material.objective:
            rate = self.solid.hessian(x) - self.at(t).hessian(x)
        else:
            rate = np.zeros((len(x), x[0].size, x[0].size))
        return rate, np.zeros_like(rate)
