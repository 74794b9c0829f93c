"""The spherical pendulum that moves in a plane: reduction to one angle, methods there, and the way back.

Source: Simo and Gonzalez (1993), sections 2.3, 3.2 and 3.3. In an axial potential V = −g(γ·q), a pendulum with
π·γ = 0 moves in a plane through the axis:

    ϑ̇ = π/I,   π̇ = −g'(cos ϑ) sin ϑ        (eq. 20, whose first sign is a misprint)
"""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, cos, isfinite, sin, tan
from typing import Literal, NamedTuple, final

import numpy as np

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.energies.energy import Array
from symplex.time.manifolds.manifold import ManifoldMethod, ManifoldState, solve_increment
from symplex.time.manifolds.sphere import AxialPotential, SphereState, SphericalPendulum, axial, hat, some_normal
from symplex.time.manifolds.sphere_methods import SphereEnergyMomentum, SphereMethod, SphereMidpoint, SphereSymplectic

_NEAR_AXIS = 1e-3  # sin ϑ below which the plane is given by π rather than by q
_HALF_TURN = float(np.pi)


@final
@dataclass(frozen=True)
class PlanarState(ManifoldState):
    """A moment of the reduced motion.

    Attributes
    ----------
    t : float
        Time in s.
    theta : float
        The angle ϑ from the axis in rad, not confined to one turn.
    pi : float
        The angular momentum in kg m²/s.
    """

    theta: float
    pi: float

    def __post_init__(self):
        if not (isfinite(self.theta) and isfinite(self.pi)):
            raise InvalidSystem(f"the angle and momentum of a pendulum must be finite: {self.theta}, {self.pi}.")

    def reversed(self) -> PlanarState:
        """Return the same state with the motion reversed."""
        return PlanarState(self.t, self.theta, -self.pi)


@final
@dataclass(frozen=True)
class SwingPlane:
    """The plane that a pendulum without momentum about the axis moves in, q = cos ϑ e3 + sin ϑ e1 (eq. 19).

    Attributes
    ----------
    e1, e2, e3 : float64 [3]
        e3 = γ, e2 the normal of the plane, e1 = e2 × e3.
    """

    e1: Array
    e2: Array
    e3: Array

    @classmethod
    def of(cls, pendulum: SphericalPendulum, state: SphereState) -> SwingPlane:
        """Return the plane of the motion from a state, ϑ > 0 there; any one if the pendulum hangs still.

        Raises
        ------
        InvalidSystem
            If the potential is not axial, or the pendulum has momentum about the axis.
        """
        e3 = axial(pendulum).direction
        pendulum.require_no_momentum_about(e3, "the axis, to move in a plane", state)
        pendulum.require_no_momentum_about(state.q, "its link", state)
        normal = hat(e3) @ state.q
        if np.linalg.norm(normal) < _NEAR_AXIS:
            normal = state.pi - (state.pi @ e3) * e3
        if not np.any(normal):
            normal = some_normal(e3)
        e2 = normal / np.linalg.norm(normal)
        return cls(hat(e2) @ e3, e2, e3)

    def reduce(self, state: SphereState) -> PlanarState:
        """Return the reduced state, with ϑ from −π to π."""
        theta = atan2(float(state.q @ self.e1), float(state.q @ self.e3))
        return PlanarState(state.t, theta, float(state.pi @ self.e2))

    def reconstruct(self, state: PlanarState) -> SphereState:
        """Return the state on the sphere (eqs. 19 and 37)."""
        q = cos(state.theta) * self.e3 + sin(state.theta) * self.e1
        return SphereState(state.t, q, state.pi * self.e2)


class _Force(NamedTuple):
    """−Δπ/h in J, with its derivatives with respect to ϑ0 and ϑ1."""

    value: float
    d0: float
    d1: float


@checked
@final
@dataclass(frozen=True)
class PlanarMethod(ManifoldMethod[SphericalPendulum, PlanarState]):
    """The methods (41) for the reduced motion, each by its κ1 and κ2; with x = ϑ1 − ϑ0,

    ϑ1 − ϑ0 = (h/I) κ1 π_mid,   π1 − π0 = −h κ2 g'(κ2 cos ϑ_mid) sin ϑ_mid.

    ===================  ====================  =========  ==========================  ==================================
    form                 κ1                    κ2         keeps                       on the sphere, `lift`
    ===================  ====================  =========  ==========================  ==================================
    ``sphere`` (42)      (x/2)/tan(x/2)        cos(x/2)   (energy if g is quadratic)  `SphereMidpoint`
    ``plane``            1                     1          symplectic form             `SphereSymplectic`, geodesic
    ``projected`` (53)   (x/2)/sin(x/2)        1          symplectic form (and        `SphereSymplectic`
                                                          energy if g is linear)
    ``energy``           (x/2)/sin(x/2)        –          energy                      `SphereEnergyMomentum`, projected
    ===================  ====================  =========  ==========================  ==================================


    The last one, after eq. 53, has g[cos ϑ0, cos ϑ1] sin ϑ_mid as its force; ``plane`` is the midpoint rule in ϑ.

    Parameters
    ----------
    form : {"sphere", "plane", "projected", "energy"}

    Raises
    ------
    ValueError
        If the form is none of these.
    """

    form: Literal["sphere", "plane", "projected", "energy"] = "projected"

    order = 2
    symmetric = True

    def __post_init__(self):
        if self.form not in _KEPT:
            raise ValueError(f"PlanarMethod: form must be one of {', '.join(_KEPT)}; it is {self.form!r}.")

    @property
    def conserves(self) -> frozenset[str]:
        """What it keeps for every g."""
        return _KEPT[self.form]

    @property
    def lift(self) -> SphereMethod:
        """The method on the sphere that it is the reduction of (Lemma 3.3)."""
        return _LIFTS[self.form]

    def step(self, system: SphericalPendulum, state: PlanarState, dt: float) -> PlanarState:
        """Return the state after a step of dt in s, which may be negative.

        Raises
        ------
        InvalidSystem
            If the potential is not axial.
        StepFailed
            If there is no step to be found.
        """
        field, rate = axial(system), dt / system.inertia

        def equations(x: Array) -> tuple[Array, Array, float]:
            width, dwidth = self._width(float(x[0]))
            force = self._force(field, state.theta, float(x[0]))
            residual = width - rate * (state.pi - 0.5 * dt * force.value)
            by_force = 0.5 * rate * dt * force.d1
            scale = abs(width) + abs(rate) * (abs(state.pi) + abs(dt * force.value)) + abs(by_force * state.theta)
            return np.array([residual]), np.array([[dwidth + by_force]]), scale

        try:
            x = float(solve_increment(equations, 1)[0])
        except StepFailed as error:
            raise StepFailed(
                f"PlanarMethod ({self.form}) found no step from t = {state.t:.6g} s with dt = {dt:.6g} s, in which the "
                f"pendulum turns by about {abs(rate * state.pi):.3g} rad: {error} Try dt = {0.5 * dt:.3g} s."
            ) from None
        force = self._force(field, state.theta, x)
        return PlanarState(state.t + dt, state.theta + x, state.pi - dt * force.value)

    def area_factor(self, system: SphericalPendulum, state: PlanarState, dt: float) -> float:
        """Return det ∂(ϑ1, π1)/∂(ϑ0, π0) of a step (eqs. 44 to 47), which is 1 for a symplectic one.

        With κ1 a function of ϑ1 − ϑ0 alone, as here, det B0 and det B1 differ in the derivatives of the force only.
        """
        end = self.step(system, state, dt)
        x = end.theta - state.theta
        force, half = self._force(axial(system), state.theta, x), 0.5 * dt * dt / system.inertia
        dwidth = self._width(x)[1]
        return (dwidth + half * force.d0) / (dwidth + half * force.d1)

    def _width(self, x: float) -> tuple[float, float]:
        """Return x/κ1, which is (h/I) π_mid, and its derivative."""
        if self.form == "plane":
            return x, 1.0
        if abs(x) >= _HALF_TURN:
            raise StepFailed("a step turned the pendulum round.")
        if self.form == "sphere":
            return 2.0 * tan(0.5 * x), 1.0 / cos(0.5 * x) ** 2
        return 2.0 * sin(0.5 * x), cos(0.5 * x)

    def _force(self, field: AxialPotential, theta: float, x: float) -> _Force:
        sine, cosine = sin(theta + 0.5 * x), cos(theta + 0.5 * x)
        if self.form == "energy":
            c0, c1 = cos(theta), cos(theta + x)
            quotient = field.quotient(c0, c1)
            along = 0.5 * quotient * cosine
            d0 = -field.quotient_slope(c1, c0) * sin(theta) * sine
            d1 = -field.quotient_slope(c0, c1) * sin(theta + x) * sine
            return _Force(quotient * sine, along + d0, along + d1)
        kappa, dkappa = (cos(0.5 * x), -0.5 * sin(0.5 * x)) if self.form == "sphere" else (1.0, 0.0)
        slope, curvature = field.slope(kappa * cosine), field.curvature(kappa * cosine)
        along = 0.5 * kappa * (slope * cosine - curvature * kappa * sine * sine)
        by_kappa = dkappa * sine * (slope + curvature * kappa * cosine)
        return _Force(kappa * slope * sine, along - by_kappa, along + by_kappa)


_KEPT = {
    "sphere": frozenset(),
    "plane": frozenset({"symplectic form"}),
    "projected": frozenset({"symplectic form"}),
    "energy": frozenset({"energy"}),
}
_LIFTS: dict[str, SphereMethod] = {
    "sphere": SphereMidpoint(),
    "plane": SphereSymplectic("geodesic"),
    "projected": SphereSymplectic(),
    "energy": SphereEnergyMomentum("projected"),
}


def planar_energies(pendulum: SphericalPendulum, state: PlanarState) -> dict[str, float]:
    """Return the ``kinetic``, ``potential`` and ``total`` energy in J (eq. 21)."""
    kinetic = state.pi**2 / (2.0 * pendulum.inertia)
    potential = -axial(pendulum).g(cos(state.theta))
    return {"kinetic": kinetic, "potential": potential, "total": kinetic + potential}
