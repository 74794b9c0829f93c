"""Loads of an increment: they follow from what an energy does on it, as friction from the pressure of contact."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.energies.energy import Energy


class Factors(NamedTuple):
    """Which derivatives of a force are added, and how often.

    Attributes
    ----------
    q, v : float
        Of those with positions and velocities.
    secant : bool, default False
        Whether ∂f/∂v is that of a force in proportion to v which is the same here: of forces with a limit, an iteration
        with it comes near from afar.
    """

    q: float
    v: float
    secant: bool = False


class IncrementLoad(Copyable, ABC):
    """A load f(t, q0, q1, v) that sees both ends of an increment, and knows its derivatives.

    Methods with discrete gradients give it the ends of the step and the mean velocity (q1 − q0)/dt, so that it can
    follow from the discrete gradient of its energy; all others one position, as to any load:
    f(t, q, v) = f(t, q, q, v).

    Attributes
    ----------
    energy : Energy
        That it follows from: it must be one of the system's.
    nodes : int32 [m, k]
        Its stencils: which forces depend on which nodes.
    """

    energy: Energy

    @property
    @abstractmethod
    def nodes(self) -> IntArray:
        """Its stencils [m, k] as they are now."""

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return the nodal forces [n, dim] in N at the time t in s, positions q and velocities v [n, dim]."""
        return self.over(t, q, q, v)

    @abstractmethod
    def over(self, t: float, q0: Array, q1: Array, v: Array) -> Array:
        """Return the nodal forces [n, dim] in N of an increment from q0 to q1 [n, dim], the same from q1 to q0."""

    @abstractmethod
    def add_derivatives(
        self, t: float, ends: tuple[Array, Array], v: Array, by: Factors, slots: IntArray, out: Array
    ) -> None:
        """Add 2 by.q ∂f/∂q1 + by.v ∂f/∂v to the blocks out [nnz, dim, dim].

        Where both ends are one, 2 ∂f/∂q1 is the derivative with their position.
        """
