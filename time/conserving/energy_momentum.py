"""The energy-momentum method: energy and both momenta to round-off, at any step that can be solved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from symplex.base.arguments import checked
from symplex.fem.system import System
from symplex.time.implicit.implicit import IMPLICIT, ImplicitIntegrator, ImplicitMotion
from symplex.time.implicit.scheme import Scheme, impulsive


@checked
@final
@dataclass(frozen=True)
class EnergyMomentum(ImplicitIntegrator):
    """The midpoint rule with discrete gradients DG in place of gradients.

    q1 − q0 = dt (v0 + v1)/2,  M (v1 − v0) = dt [f(t_½, (q0 + q1)/2, (q1 − q0)/dt) − DG(q0, q1)]

    DG·(q1 − q0) = V(q1) − V(q0), taken in each energy (see `Energy.discrete_gradient`), so that what leaves V as it is
    (translations, rotations) leaves DG without resultant or moment as well. For two-point energies it is the method of
    LaBudde and Greenspan, eqs. 69, 75 of Simo and Gonzalez (1993), 6.2 of Graham and Jelenić (2006); for solids that
    of Simo and Tarnow (1992); for contact it conserves energy across opening and closing. A load that does work
    changes the energy by the work Σ f·(q1 − q0).

    A body in steady rotation at ω turns by 2 atan(ω dt/2) in a step.

    Parameters
    ----------
    dt : float
        Step in s.
    compensated : bool, default False
        Keep positions in double-double precision, for stiff pairs and bodies far from the origin, as seen by pairs,
        solids and contact with obstacles. Other energies, and those of states, see rounded positions.
    newton : Newton, optional
        How the equations are solved.

    Raises
    ------
    ValueError
        If the step is not positive.
    """

    compensated: bool = False

    kind = "energy-momentum"
    order = 2
    conserves = frozenset({"energy", "momentum", "angular momentum"})
    symmetric = True
    needs = frozenset({"gradient", "discrete_gradient"})
    takes = IMPLICIT | {"jumping supports", "massless nodes", "composition", "joints", "moving joints"}

    def scheme(self, h: float) -> Scheme:
        """Return (2/h) M Δq + h DG(q0, q0 + Δq) − h f = 2 M v0."""
        return impulsive(h, 1.0, 2.0 / abs(h), abs(h), 0.5, discrete=True)

    def _motion(self, system: System, t0: float, dt: float, n: int) -> ImplicitMotion:
        return ImplicitMotion(self, system, t0, dt, n, compensated=self.compensated)
