"""How small changes of a state go through the internal variables of a system, and through the forces of its parts.

Functions of `Inelastic` are pure, so that both are differences of single evaluations along a change of the step: they
are as exact as those of what is observed, where no point begins or ceases to flow within the difference.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from symplex.fem.assembly.pattern import Array
from symplex.fem.system import System

WEIGHTS = ((-2.0, 1.0 / 12.0), (-1.0, -8.0 / 12.0), (1.0, 8.0 / 12.0), (2.0, -1.0 / 12.0))  # of differences
_RELATIVE = 1e-6  # of the size of a system, by which positions are changed at most
_Found = TypeVar("_Found", Array, dict[str, Array])


@dataclass(frozen=True)
class Increment:
    """An increment of a step: where parts evaluate their forces, and where they are at its end.

    Attributes
    ----------
    q0, q1 : float64 [n, dim]
        Positions at the start of the step and at its end, in m.
    z0 : dict of str to float64
        Internal variables at its start, by the names of parts.
    h : float
        In s.
    part : float
        Which part of the increment, and of the time, forces are evaluated after.
    mean : bool
        Whether forces are those that do the work of the whole increment.
    """

    q0: Array
    z0: Mapping[str, Array]
    q1: Array
    h: float
    part: float
    mean: bool

    def forces(self, system: System, names: Container[str]) -> Array:
        """Return −f [n, dim] in N of some parts of a system."""
        out, q = np.zeros_like(self.q0), self.q0 + self.part * (self.q1 - self.q0)
        for name, part in system.inelastic.items():
            if name in names:
                force = part.mean_force if self.mean else part.force
                out -= force(self.q0, self.z0[name], q, self.part * self.h)
        return out

    def after(self, system: System) -> dict[str, Array]:
        """Return the internal variables at the end of the step."""
        found = system.inelastic.items()
        return {name: part.after(self.q0, self.z0[name], self.q1, self.h)[0] for name, part in found}

    def moved(self, e: float, dq0: Array, dz0: Mapping[str, Array], dq1: Array) -> Increment:
        """Return the increment with e times changes of its start and its end."""
        z0 = {name: z + e * dz0[name] for name, z in self.z0.items()}
        return Increment(self.q0 + e * dq0, z0, self.q1 + e * dq1, self.h, self.part, self.mean)

    def add_derivatives(self, system: System, out: Array) -> None:
        """Add ∂(−f)/∂q1 to the blocks out [nnz, dim, dim], in N/m."""
        slots, q = system.inelastic_slots(), self.q0 + self.part * (self.q1 - self.q0)
        by_q = -1.0 if self.mean else -self.part
        for name, part in system.inelastic.items():
            z, h = self.z0[name], self.part * self.h
            part.add_derivatives(self.q0, z, q, h, by_q, slots[name], out, mean=self.mean)


@dataclass(frozen=True)
class IncrementChange:
    """An increment and k changes of it.

    Attributes
    ----------
    at : Increment
    dq0, dq1 : float64 [n, dim, k]
    dz0 : dict of str to float64 [..., k]
    deltas : float64 [k]
        By how much of each differences go at most.
    """

    at: Increment
    dq0: Array
    dz0: Mapping[str, Array]
    dq1: Array
    deltas: Array

    def of_forces(self, system: System) -> Array:
        """Return the changes of forces −f [n, dim, k] in N."""
        return np.stack(self._slopes(lambda moved: moved.forces(system, system.inelastic)), axis=-1)

    def of_variables(self, system: System) -> dict[str, Array]:
        """Return the changes of internal variables at the end, [..., k] by the names of parts."""
        columns = {name: self._slopes(lambda moved, name=name: moved.after(system)[name]) for name in self.at.z0}
        return {name: np.stack(found, axis=-1) for name, found in columns.items()}

    def _slopes(self, evaluate: Callable[[Increment], Array]) -> list[Array]:
        """Return the derivative of a function of an increment along each change."""
        size = float(np.ptp(self.at.q0, axis=0).max()) or 1.0
        found = []
        for k, largest in enumerate(self.deltas):
            dq0, dq1 = self.dq0[..., k], self.dq1[..., k]
            dz0 = {name: dz[..., k] for name, dz in self.dz0.items()}
            far = max(float(np.abs(dq0).max()), float(np.abs(dq1).max()))
            delta = min(largest, _RELATIVE * size / far) if far > 0.0 else largest
            total: Array | float = 0.0
            for at, weight in WEIGHTS:
                total = total + weight / delta * evaluate(self.at.moved(at * delta, dq0, dz0, dq1))
            found.append(np.asarray(total))
        return found
