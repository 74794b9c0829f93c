"""Contact laws in Python: an energy of the gap, for nodes that meet rigid obstacles."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import final

import numpy as np

from symplex.contact.obstacles import Obstacle
from symplex.errors import InvalidSystem
from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.pattern import Array
from symplex.fem.measures.law_formulas import COMPRESSION, PENALTY, TENSION
from symplex.fem.measures.pair_laws import PairLaw
from symplex.meshes.quadrature import mean_along, mean_slope_along

_ROUNDING = 8.0 * float(np.finfo(float).eps)  # of a difference of energies, relative to these


class ContactLaw(Copyable, ABC):
    """An energy w(g) in J of a node at the gap g in m from an obstacle, negative inside: a custom contact law.

    It takes and returns arrays, and must be zero where a node is far away. `RigidContact` takes one for its stiffness,
    under every method; `symplex.testing.check_law` finds mistakes in it.

    Attributes
    ----------
    stiffness : float
        The greatest d²w/dg² in N/m, which the stability limit of explicit methods follows from; infinite for a barrier,
        which needs an implicit method.
    """

    stiffness: float

    @abstractmethod
    def energy(self, g: Array) -> Array:
        """Return w(g) [m] in J."""

    @abstractmethod
    def slope(self, g: Array) -> Array:
        """Return dw/dg [m] in N: minus the force that pushes the node out."""

    @abstractmethod
    def curvature(self, g: Array) -> Array:
        """Return d²w/dg² [m] in N/m."""

    def quotient(self, g0: Array, g1: Array) -> Array:
        """Return Δw/Δg [m] in N, also where g1 = g0: the mean slope.

        By Gauss' rule, corrected where that does not give the difference of energies to round-off, as across the
        edge of contact.
        """
        return self._quotient(g0, g1)[0]

    def quotient_slope(self, g0: Array, g1: Array) -> Array:
        """Return the derivative [m] in N/m of the quotient with g1."""
        quotient, corrected = self._quotient(g0, g1)
        dg = g1 - g0
        mean = mean_slope_along(self.curvature, g0, g1)
        return np.where(corrected, (self.slope(g1) - quotient) / np.where(corrected, dg, 1.0), mean)

    def _quotient(self, g0: Array, g1: Array) -> tuple[Array, Array]:
        """Return Δw/Δg, and where it is that rather than the mean slope by Gauss' rule."""
        dg, w0, w1 = g1 - g0, self.energy(g0), self.energy(g1)
        mean = mean_along(self.slope, g0, g1)
        corrected = np.abs(w1 - w0 - mean * dg) > _ROUNDING * (np.abs(w0) + np.abs(w1) + np.abs(mean * dg))
        return np.where(corrected, (w1 - w0) / np.where(corrected, dg, 1.0), mean), corrected


@final
class MeasuredLaw(PairLaw):
    """A contact law as one of the measure m of an obstacle: of its gap itself, or of a squared distance l²."""

    def __init__(self, law: ContactLaw, obstacle: Obstacle):
        self.law = law
        self._kind, self._radius = obstacle.law
        if self._kind == TENSION and self._radius == 0.0:
            raise InvalidSystem(
                "RigidContact: a user-defined contact law is not supported by the inside of a box, which has no gap "
                "there. Take half-spaces for its walls."
            )

    def energy(self, s: Array) -> Array:
        """Return w(g(m)) in J."""
        return self.law.energy(self._gap(s))

    def slope(self, s: Array) -> Array:
        """Return dw/dm."""
        return self.law.slope(self._gap(s)) * self._rate(s, s)

    def curvature(self, s: Array) -> Array:
        """Return d²w/dm²."""
        g, rate = self._gap(s), self._rate(s, s)
        bent = 0.0 if self._kind == PENALTY else -0.5 * rate / s
        return self.law.curvature(g) * rate**2 + self.law.slope(g) * bent

    def quotient(self, s0: Array, s1: Array) -> Array:
        """Return ξ = Δw/(½ Δm)."""
        return 2.0 * self.law.quotient(self._gap(s0), self._gap(s1)) * self._rate(s0, s1)

    def quotient_slope(self, s0: Array, s1: Array) -> Array:
        """Return ∂ξ/∂m1."""
        g0, g1, rate = self._gap(s0), self._gap(s1), self._rate(s0, s1)
        out = 2.0 * self.law.quotient_slope(g0, g1) * rate * self._rate(s1, s1)
        if self._kind == PENALTY:
            return out
        l0, l1 = np.sqrt(s0), np.sqrt(s1)
        return out - self.law.quotient(g0, g1) * rate / (l1 * (l0 + l1))

    def third_slope(self, s: Array) -> Array:
        """Refuse: a contact law has no third derivative.

        Raises
        ------
        InvalidSystem
            Always.
        """
        raise InvalidSystem(
            f"the contact law {type(self.law).__name__} has no third derivative. Take a method that needs the gradient "
            "and Hessian only."
        )

    def _gap(self, s: Array) -> Array:
        if self._kind == PENALTY:
            return s
        return np.sqrt(s) - self._radius if self._kind == COMPRESSION else self._radius - np.sqrt(s)

    def _rate(self, s0: Array, s1: Array) -> Array:
        """Return Δg/Δm."""
        if self._kind == PENALTY:
            return np.ones_like(s1)
        outwards = 1.0 if self._kind == COMPRESSION else -1.0
        return outwards / (np.sqrt(s0) + np.sqrt(s1))
