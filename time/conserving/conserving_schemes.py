"""The schemes of Graham and Jelenić's paper: what 𝒢, 𝒳, 𝓜, F_a and V_a are in each (section 6)."""

from __future__ import annotations

from abc import abstractmethod
from typing import final

import numpy as np

from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.assembly.forms import DISCRETE_GRADIENT
from symplex.fem.energies.energy import Array
from symplex.fem.system import System
from symplex.time.conserving.algorithm_mc import ConservingScheme
from symplex.time.conserving.gauss_interpolant import GaussInterpolant
from symplex.time.conserving.scheme_loops import SchemeForces, scheme_forces
from symplex.time.conserving.scheme_table import ENDS, MIDDLE, SchemeTable, hermite_scheme, middle_scheme
from symplex.time.conserving.secant_operator import SecantOperator
from symplex.time.conserving.secant_scheme import SecantScheme
from symplex.time.conserving.turned_angle import Angle, inertia_factor, stretch, turned_angle

_EPS = float(np.finfo(float).eps)


class MidpointScheme(ConservingScheme):
    """𝒢 = 0, 𝓜 = M/β, V_a = 0, F_a = β F at the middle (eqs. 3.10, 4.16): a scheme is its force 𝒳 R_½."""

    order = 2

    def add(self, z1: Array, out: Array) -> None:
        """Write C (Z0 + Z1)/2 + Z_a [2, n, dim] to out, if the step ends at z1."""
        system, h = self.system, self.h
        beta = self._beta(z1)
        force = -self._internal_force(z1)
        for load in self._loads(z1):
            force += load
        force[system.fixed] = 0.0
        np.multiply(0.5 * beta, self.z0[1] + z1[1], out=out[0])
        np.multiply(beta * h * h, system.accelerations(force), out=out[1])

    @abstractmethod
    def _internal_force(self, z1: Array) -> Array:
        """Return 𝒳 R_½ [n, dim] in N, without β."""

    def _beta(self, z1: Array) -> float:
        return 1.0

    def _loads(self, z1: Array) -> list[Array]:
        """Return the force [n, dim] of each load at the middle."""
        h, q0, q1 = self.h, self.z0[0], z1[0]
        return [load(self.t + 0.5 * h, 0.5 * (q0 + q1), (q1 - q0) / h) for load in self.system.loads.values()]

    def work(self, z1: Array) -> list[float]:
        """Return the work in J of each load in a step that ends at z1."""
        return [self.system.dot(load, z1[0] - self.z0[0]) for load in self._loads(z1)]


@final
class SymplecticMomentum(MidpointScheme):
    """The symplectic-momentum midpoint rule, SM: ∇V(R_½) (eq. 6.1)."""

    name = "symplectic-momentum"

    conserves = frozenset({"symplectic form"})
    is_minimum = True

    def _internal_force(self, z1: Array) -> Array:
        return self.system.gradient(0.5 * (self.z0[0] + z1[0]))

    def compiled(self) -> tuple[SchemeTable, SchemeForces] | None:
        """Return the scheme and the system as compiled loops take them."""
        found = scheme_forces(self.system)
        return found and (middle_scheme(MIDDLE), found)


class _DiscreteGradientScheme(MidpointScheme):
    """The discrete gradient DG(R0, R1) (eq. 6.2)."""

    conserves = frozenset({"energy"})
    needs = frozenset({"discrete_gradient"})

    def _internal_force(self, z1: Array) -> Array:
        return self.system.discrete_gradient(self.z0[0], z1[0])

    def _loads(self, z1: Array) -> list[Array]:
        ends, v = (self.z0[0], z1[0]), (z1[0] - self.z0[0]) / self.h
        return [self.system.load_over(load, self.t + 0.5 * self.h, ends, v) for load in self.system.loads.values()]


@final
class EnergyMomentumScheme(_DiscreteGradientScheme):
    """The energy-momentum midpoint method, EM (eq. 6.2)."""

    name = "energy-momentum"

    def compiled(self) -> tuple[SchemeTable, SchemeForces] | None:
        """Return the scheme and the system as compiled loops take them."""
        found = scheme_forces(self.system, form=DISCRETE_GRADIENT)
        return found and (middle_scheme(ENDS), found)


@final
class AssumedDistance(MidpointScheme):
    """The gradient at mean lengths, or for solids mean strains (eq. 6.3).

    Energies without strains (gravity, contact) give their discrete gradient.
    """

    name = "assumed-distance"
    needs = frozenset({"mean_gradient"})

    def _internal_force(self, z1: Array) -> Array:
        return self.system.mean_gradient(self.z0[0], z1[0])


@final
class Kappa(MidpointScheme):
    """κ ∇V(R_½), with the κ for which energy is kept (eqs. 4.9, 6.4)."""

    name = "kappa"

    conserves = frozenset({"energy"})
    starts_moving = True

    def _internal_force(self, z1: Array) -> Array:
        gradient, power, gain, floor = self._balance(z1)
        if abs(power) <= floor:
            raise StepFailed(f"κ does not exist: {self._power_and_gain(power, gain)}")
        return gain / power * gradient

    def _balance(self, z1: Array) -> tuple[Array, float, float, float]:
        """Return ∇V at the middle [n, dim], its work along the step, the change of V, and the round-off of the work."""
        system, q0, q1 = self.system, self.z0[0], z1[0]
        gradient = system.gradient(0.5 * (q0 + q1))
        floor = _EPS * self.system.dot(np.abs(gradient), np.abs(q0) + np.abs(q1))
        return gradient, self.system.dot(gradient, q1 - q0), system.potential(q1) - system.potential(q0), floor

    def _power_and_gain(self, power: float, gain: float) -> str:
        return (
            f"∇V at the middle does the work {power:.3g} J along the step, while V changes by {gain:.3g} J; κ is the "
            "ratio of the two (eq. 4.9 of Graham and Jelenić, 2006). Bodies that rest, turn steadily, or turn back in "
            "this step may have none: take energy-momentum."
        )

    def remark(self, z1: Array) -> str:
        """Return the work of the force and the change of energy, whose ratio κ may not exist."""
        _, power, gain, floor = self._balance(z1)
        if abs(power) <= floor:
            return ""  # as the failure says
        return " Perhaps κ does not exist: " + self._power_and_gain(power, gain)


class _AngleScheme(ConservingScheme):
    """What the schemes that keep angles share: β of the angle θ that the body turns by (eqs. 6.13, 6.19).

    Attributes
    ----------
    angle : {"body", "nodes"}
        How θ is measured; see `symplex.time.conserving.turned_angle`.
    """

    angle: Angle = "body"

    def __init__(self, system: System, external: tuple[str, ...]):
        super().__init__(system, external)
        if system.dim == 1:
            raise InvalidSystem(f"{self.title}: nothing turns on a line; take energy-momentum.")

    def _theta(self, z1: Array) -> float:
        return turned_angle(self.system, self.z0[0], z1[0], self.angle)


@final
class EnergyMomentumExactAngle(_AngleScheme, _DiscreteGradientScheme):
    """β DG(R0, R1), M/β, β F: energy and both momenta, and the angle of a steady rotation, EMθ (eqs. 6.14, 6.19)."""

    name = "energy-momentum-exact-angle"

    def _beta(self, z1: Array) -> float:
        return stretch(self._theta(z1))


@final
class ExactSteadyMotion(_AngleScheme):
    """β 𝓕_½, M + c h² 𝓕_½: all of a steady motion is exact, but energy is not kept, Aθ (eq. 6.17)."""

    name = "exact-steady-motion"

    order = 2
    needs = frozenset({"secant"})
    takes_external = True

    def __init__(self, system: System, external: tuple[str, ...]):
        super().__init__(system, external)
        self._secant = SecantOperator(system, external)

    def begin(self, t: float, h: float, z0: Array, a0: Array) -> None:
        """Set up a step of size h in s from the time t."""
        super().begin(t, h, z0, a0)
        self._values0 = self._secant.values(z0[0])

    def add(self, z1: Array, out: Array) -> None:
        """Write C (Z0 + Z1)/2 + Z_a [2, n, dim] to out, if the step ends at z1."""
        h, z0 = self.h, self.z0
        theta = self._theta(z1)
        values = (0.5 * h * h) * (self._values0 + self._secant.values(z1[0]))
        r, w = 0.5 * (z0 + z1)
        change = z1[0] - z0[0]
        # 𝓜 (R1 − R0) = h P_½, with what is beyond M on the other side.
        out[0] = w - inertia_factor(theta) * self._secant.product(values, change)
        out[1] = -stretch(theta) * self._secant.product(values, r)
        if self._secant.loaded:
            out[1] += h * h * self._secant.from_outside(self.t + 0.5 * h, r, change / h)

    def work(self, z1: Array) -> list[float]:
        """Return the work in J of each load in a step that ends at z1."""
        h, (r, _), change = self.h, 0.5 * (self.z0 + z1), z1[0] - self.z0[0]
        return [self.system.dot(load(self.t + 0.5 * h, r, change / h), change) for load in self.system.loads.values()]


@final
class MomentumConserving4(SecantScheme):
    """Order 4 from 𝓕 and 𝓕̇ at both ends, M4 (eq. 6.8), by products with sparse matrices only."""

    name = "momentum-conserving-4"

    order = 4

    def _numbers(self) -> tuple[GaussInterpolant, SchemeTable, tuple[float, ...]]:
        rule = GaussInterpolant(2, self._secant.points_for_forces(2))
        return rule, hermite_scheme(rule), ()
