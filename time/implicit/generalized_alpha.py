"""Newmark's family with implicit steps, and its relatives with numerical damping: HHT-α and generalised-α."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

from symplex.base.arguments import checked
from symplex.base.quantities import between
from symplex.time.implicit.implicit import IMPLICIT, ImplicitIntegrator
from symplex.time.implicit.scheme import Scheme


@checked
@final
@dataclass(frozen=True)
class GeneralizedAlpha(ImplicitIntegrator):
    """The generalised-α method of Chung and Hulbert (1993): second order, with damping of unresolved frequencies.

    q1 = q0 + dt v0 + dt² [(½ − β) a0 + β a1],  v1 = v0 + dt [(1 − γ) a0 + γ a1],
    M [(1 − α_m) a1 + α_m a0] = (1 − α_f) F1 + α_f F0,  F = f(t, q, v) − ∇V(q)

    α_m = (2ρ − 1)/(ρ + 1),  α_f = ρ/(ρ + 1),  β = ¼ (1 − α_m + α_f)²,  γ = ½ − α_m + α_f

    with ρ the factor by which a step reduces what is very fast. The accelerations a are its own; those of the states
    are M⁻¹F. It is stable at any step for linear systems; for nonlinear ones there is no bound on energy.

    Parameters
    ----------
    dt : float
        Step in s.
    rho_inf : float, default 0.8
        ρ from 0 (what is very fast is gone after one step) to 1 (no damping).
    newton : Newton, optional
        How the equations are solved.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    rho_inf: Annotated[float, between(0.0, 1.0)] = 0.8

    kind = "generalized-alpha"
    order = 2
    conserves = frozenset({"momentum"})
    symmetric = False
    takes = IMPLICIT | {"joints"}

    def scheme(self, h: float) -> Scheme:
        """Return the scheme of `newmark_scheme` with α_m and α_f."""
        rho = self.rho_inf
        return _second_order(h, (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0))


@checked
@final
@dataclass(frozen=True)
class HilberHughesTaylor(ImplicitIntegrator):
    """The HHT-α method of Hilber, Hughes and Taylor (1977): generalised-α with α_m = 0 and α_f = −α.

    M a1 = (1 + α) F1 − α F0,  β = (1 − α)²/4,  γ = ½ − α

    Parameters
    ----------
    dt : float
        Step in s.
    alpha : float, default -0.05
        From −1/3 (most damping) to 0 (the trapezoidal rule).
    newton : Newton, optional
        How the equations are solved.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    alpha: Annotated[float, between(-1.0 / 3.0, 0.0)] = -0.05

    kind = "hht"
    order = 2
    conserves = frozenset({"momentum"})
    symmetric = False
    takes = IMPLICIT | {"joints"}

    def scheme(self, h: float) -> Scheme:
        """Return the scheme of `newmark_scheme` with α_m = 0 and α_f = −α."""
        return _second_order(h, 0.0, -self.alpha)


def _second_order(h: float, alpha_m: float, alpha_f: float) -> Scheme:
    """Return the scheme with the γ of second order and the β of most damping of what is very fast."""
    shift = alpha_f - alpha_m
    return newmark_scheme(h, 0.25 * (1.0 + shift) ** 2, 0.5 + shift, alpha_m, alpha_f)


def newmark_scheme(h: float, beta: float, gamma: float, alpha_m: float = 0.0, alpha_f: float = 0.0) -> Scheme:
    """Return the equations of a step of size h in s by the generalised-α family for its increment Δq.

    With a1 by Δq, and the true accelerations b0 = M⁻¹F0, times h:

    (1 − α_m)/(β h) M [Δq − h v0 − h² (½ − β) a0] + h M (α_m a0 − α_f b0) − (1 − α_f) h F1 = 0
    """
    size = abs(h)  # of a step back as well, so that the matrix is never negative
    inertia, rest = (1.0 - alpha_m) / (beta * size), 1.0 / (1.0 - alpha_m)
    by = inertia * h, size * alpha_f, inertia * h * h * (0.5 - beta) - size * alpha_m
    own_of = (1.0 - alpha_f) * rest, alpha_f * rest, -alpha_m * rest
    # Loads act at q1, and v1 = v0 + h [(1 − γ) α0 + γ α1] with α1 = [Δq − h v0 − h² (½ − β) α0]/(β h²).
    part = gamma / beta
    seen = 1.0, part / h, 1.0 - part, h * (1.0 - 0.5 * part), True
    return Scheme(1.0, inertia, (1.0 - alpha_f) * size, False, h, *by, *own_of, gamma, *seen)
