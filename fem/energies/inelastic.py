"""Parts of a system whose forces depend on what was before: internal variables, stored energy and dissipation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from symplex.base.columns import Column
from symplex.errors import InvalidSystem
from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.energies.energy import Energy


class Inelastic(Copyable, ABC):
    """A part of a system with internal variables z, such as the overstress of a viscoelastic body.

    It stores the energy ψ(q, z), which counts in the total energy, and dissipates D ≥ 0. A motion carries z; the part
    itself only says how z and its forces follow from an increment: where it begins, q0 and z0, where it ends, q1, and
    how long it lasts, h. All functions are pure.

    Attributes
    ----------
    nodes : int32 [m, k]
        Its stencils: which forces depend on which nodes.
    shape : tuple of int
        That of z.
    history : bool
        Whether z at rest depends on the path there, as of a metal that flows. Otherwise forces vanish when it comes to
        rest, as an overstress does: then statics and small motions leave the part out.
    erodes : bool
        Whether its elements may go, which contact then follows (`gone`, `add_lost`).
    stencil_axis : int
        Which axis of z are the stencils.
    counts : bool [m] or None
        Which stencils energies and dissipation are summed over, as of parts on ranks; None: all.
    is_divisible : bool
        Whether `of_some` returns some stencils alone, as ranks need.
    """

    nodes: IntArray
    shape: tuple[int, ...]
    history: ClassVar[bool] = False
    erodes: ClassVar[bool] = False
    stencil_axis: ClassVar[int] = 0
    counts: NDArray[np.bool_] | None = None
    is_divisible: bool = False

    def of_some(self, chosen: NDArray[np.integer], nodes: IntArray) -> Self:
        """Return the part with chosen stencils [s] alone, on nodes [s, k] that have other numbers.

        Raises
        ------
        NotImplementedError
            If stencils cannot be taken alone.
        """
        raise NotImplementedError(f"{type(self).__name__} has no stencils that can be taken alone.")

    def summed(self, values: Array) -> float:
        """Return the sum of values [m] over the stencils that count."""
        return float((values if self.counts is None else values[self.counts]).sum())

    @abstractmethod
    def relaxed(self, q: Array) -> Array:
        """Return the z that does not change at the positions q [n, dim], where ψ is least."""

    def increment(self, z: Array) -> Energy:
        """Return the energy whose gradients are minus `force` at the end of an increment of any length from z.

        Parts with ``history`` have it, for statics. It reads z where it is, so that one energy serves all increments.

        Raises
        ------
        NotImplementedError
            If the part has none.
        """
        raise NotImplementedError(f"{type(self).__name__} has no energy of an increment.")

    def steepness(self, q: Array, z: Array) -> float:
        """Return the largest Σ|∇N|² of an element in 1/m² at q, as whose root frequencies grow; 0 if unknown."""
        return 0.0

    def gone(self, z: Array) -> NDArray[np.bool_]:
        """Return which stencils [m] are gone: none, but of a part that erodes."""
        return np.zeros(len(self.nodes), bool)

    def add_lost(self, z: Array, element: int, energy: float) -> None:
        """Count contact energy in J that went with elements, in z itself, as of one that is gone."""
        raise NotImplementedError(f"{type(self).__name__} has no elements that go.")

    def columns(self, name: str) -> tuple[Column, ...]:
        """Return what `observed` shows, for histories of a system that has the part by a name: here nothing."""
        return ()

    def observed(self, name: str, z: Array) -> dict[str, float]:
        """Return the numbers that `columns` declares."""
        return {}

    def fields(self, q: Array, z: Array) -> dict[str, Array]:
        """Return what probes and results show of the stencils, numbers [m] by name: here nothing.

        Parameters
        ----------
        q : float64 [n, dim]
            Positions in m.
        z : float64
            Internal variables there.
        """
        return {}

    @abstractmethod
    def stored(self, q: Array, z: Array) -> float:
        """Return ψ in J."""

    @abstractmethod
    def force(self, q0: Array, z0: Array, q1: Array, h: float) -> Array:
        """Return −∂ψ/∂q [n, dim] in N at the end of an increment of h s; with h = 0 z is z0 there."""

    @abstractmethod
    def mean_force(self, q0: Array, z0: Array, q1: Array, h: float) -> Array:
        """Return a force f [n, dim] in N of an increment whose work is what `after` says: f·(q1 − q0) = −Δψ − D."""

    @abstractmethod
    def add_derivatives(
        self, q0: Array, z0: Array, q1: Array, h: float, by_q: float, slots: IntArray, out: Array, *, mean: bool
    ) -> None:
        """Add by_q ∂f/∂q1 to the blocks out [nnz, dim, dim], of `mean_force` or of `force`."""

    @abstractmethod
    def after(self, q0: Array, z0: Array, q1: Array, h: float) -> tuple[Array, float]:
        """Return z at the end of an increment, and what is dissipated in it, D in J."""

    def force_and_after(self, q0: Array, z0: Array, q1: Array, h: float) -> tuple[Array, Array, float]:
        """Return `force` and what `after` returns of one increment, as explicit steps need them."""
        return self.force(q0, z0, q1, h), *self.after(q0, z0, q1, h)


class _WithParts(Protocol):
    @property
    def inelastic(self) -> Mapping[str, Inelastic]: ...


def part_with_history(system: _WithParts) -> str | None:
    """Return the name of the first inelastic part of a system whose state at rest depends on its path, or None."""
    return next((name for name, part in system.inelastic.items() if part.history), None)


def refuse_history(system: _WithParts, required_by: str) -> None:
    """Refuse systems with parts whose state at rest depends on their path, for what has no path."""
    if (name := part_with_history(system)) is not None:
        raise InvalidSystem(
            f"{required_by} has no history, on which the plastic flow or damage of '{name}' depends. Take an elastic "
            "part, or a motion by Static, EnergyMomentum, Midpoint or Newmark."
        )
