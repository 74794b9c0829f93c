"""The symplectic midpoint rule, and the family of first-order methods around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

from symplex.base.arguments import checked
from symplex.base.quantities import between
from symplex.time.implicit.implicit import IMPLICIT, ImplicitIntegrator
from symplex.time.implicit.scheme import Scheme, impulsive
from symplex.time.traits import Trait


@checked
@final
@dataclass(frozen=True)
class Midpoint(ImplicitIntegrator):
    """The midpoint rule, α = ½, or another symplectic member of the α-family of Simo and Gonzalez (1993), eqs. 69-72.

    q1 − q0 = dt M⁻¹ p_(1−α),  p1 − p0 = dt [f(t_α, q_α, (q1 − q0)/dt) − ∇V(q_α)],
    x_α = (1 − α) x0 + α x1

    All members keep both momenta and the symplectic form; α = ½ is of second order and symmetric, the others of first
    order. α = 0 and 1 are the two symplectic Euler methods. None is stable at any step for stiff nonlinear systems:
    α = ½ may gain energy without bound where it does not resolve the fast vibrations (section 4.4).

    Parameters
    ----------
    dt : float
        Step in s.
    alpha : float, default 0.5
        From 0 to 1.
    newton : Newton, optional
        How the equations are solved.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    alpha: Annotated[float, between(0.0, 1.0)] = 0.5

    kind = "midpoint"
    conserves = frozenset({"momentum", "angular momentum", "symplectic form"})

    @property
    def order(self) -> float:
        """2 for α = ½, else 1."""
        return 2 if self.alpha == 0.5 else 1

    @property
    def symmetric(self) -> bool:
        """Whether α = ½."""
        return self.alpha == 0.5

    @property
    def takes(self) -> frozenset[Trait]:
        """All but nodes without mass and constraints; only α = ½ can be composed."""
        more: set[Trait] = {"jumping supports"}
        of_half: set[Trait] = {"composition", "joints", "moving joints"}
        return IMPLICIT | more | of_half if self.symmetric else IMPLICIT - {"frames"} | more

    def scheme(self, h: float) -> Scheme:
        """Return (1/h) M Δq + (1 − α) h [∇V(q0 + α Δq) − f] = M v0."""
        size = abs(h)  # of a step back as well, so that the matrix is never negative
        return impulsive(h, self.alpha, 1.0 / size, (1.0 - self.alpha) * size, self.alpha, discrete=False)
