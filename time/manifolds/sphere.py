"""The spherical pendulum: a mass on a rigid link in any potential; its configurations are the unit sphere S².

Source: Simo and Gonzalez, "Assessment of energy-momentum and symplectic schemes for stiff dynamical systems" (1993),
section 2. The state is (q, π), with π = q × p the angular momentum about the pivot:

    q̇ = −q × π/I,   π̇ = −q × ∇V(q),   |q| = 1,   π·q = 0        (eqs. 1 to 6, I = m L²)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import cos, isfinite, sin, sqrt
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.assembly.copying import Copyable
from symplex.fem.energies.energy import Array
from symplex.meshes.quadrature import mean_along, mean_slope_along
from symplex.time.manifolds.manifold import ManifoldState

_ROUND_OFF = 1e-9  # how far |q| may be from 1, and momenta from directions they must have, relatively
_NUDGE = 6e-6  # of central differences: about the cube root of the rounding unit


def hat(a: Array) -> Array:
    """Return the skew matrix â [3, 3] with â b = a × b."""
    x, y, z = a
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def some_normal(a: Array) -> Array:
    """Return a unit vector [3] that is normal to the unit vector a [3]."""
    normal = hat(a)[int(np.argmin(np.abs(a)))]  # e_k × a, with the axis farthest from a
    return normal / sqrt(normal @ normal)


def _unit(vector: ArrayLike, name: str) -> Array:
    a = np.array(vector, dtype=float)
    if a.shape != (3,) or not 0.0 < np.linalg.norm(a) < np.inf:
        raise InvalidSystem(f"{name} must be three numbers, finite and not all zero; it is {vector}.")
    return a / np.linalg.norm(a)


class SpherePotential(Copyable, ABC):
    """A potential energy V(q) in J of the direction q [3] of a pendulum.

    It must be defined in the unit ball as well, where methods evaluate it on chords.
    """

    @abstractmethod
    def value(self, q: Array) -> float:
        """Return V(q) in J."""

    @abstractmethod
    def gradient(self, q: Array) -> Array:
        """Return ∇V(q) [3] in J."""

    def hessian(self, q: Array) -> Array:
        """Return ∇²V(q) [3, 3] in J; by central differences, which is enough to guide Newton's method."""
        sides = [(self.gradient(q + e) - self.gradient(q - e)) / (2.0 * _NUDGE) for e in _NUDGE * np.eye(3)]
        return np.array(sides).T

    def discrete_gradient(self, q0: Array, q1: Array) -> Array:
        """Return the mean G [3] of ∇V along the chord, in J, for which G·(q1 − q0) = V(q1) − V(q0).

        By Gauss' rule with eight points: exact for polynomials of degree 16, and to round-off for every V that varies
        smoothly over a step.
        """
        return mean_along(self.gradient, q0, q1)

    def discrete_hessian(self, q0: Array, q1: Array) -> Array:
        """Return the derivative ∂G/∂q1 [3, 3] of the discrete gradient in J."""
        return mean_slope_along(self.hessian, q0, q1)


@checked
@final
class AxialPotential(SpherePotential):
    """V(q) = −g(γ·q): a field of constant direction γ and any strength (eq. 15).

    Parameters
    ----------
    g, slope, curvature : callable
        g, g' and g'' in J as functions of γ·q, from −1 to 1.
    axis : float [3], default (0, 0, -1)
        γ, of any length but zero.

    Attributes
    ----------
    direction : float64 [3]
        The unit vector γ.

    Raises
    ------
    InvalidSystem
        If the axis has no direction.
    """

    def __init__(
        self,
        g: Callable[[float], float],
        slope: Callable[[float], float],
        curvature: Callable[[float], float],
        axis: ArrayLike = (0.0, 0.0, -1.0),
    ):
        self.g, self.slope, self.curvature = g, slope, curvature
        self.direction = _unit(axis, "the axis of a potential")
        self._along = np.outer(self.direction, self.direction)

    @classmethod
    def polynomial(cls, coefficients: Sequence[float], axis: ArrayLike = (0.0, 0.0, -1.0)) -> AxialPotential:
        """Return the field with g(s) = Σ c_k s^k, the coefficients in J from the constant on."""
        g = np.polynomial.Polynomial(coefficients)
        value, first, second = (partial(_horner, [float(c) for c in g.deriv(n).coef]) for n in (0, 1, 2))
        return cls(value, first, second, axis)

    def value(self, q: Array) -> float:
        """Return −g(γ·q) in J."""
        return -self.g(float(self.direction @ q))

    def gradient(self, q: Array) -> Array:
        """Return −g'(γ·q) γ [3] in J."""
        return -self.slope(float(self.direction @ q)) * self.direction

    def hessian(self, q: Array) -> Array:
        """Return −g''(γ·q) γ ⊗ γ [3, 3] in J."""
        return -self.curvature(float(self.direction @ q)) * self._along

    def discrete_gradient(self, q0: Array, q1: Array) -> Array:
        """Return −g[γ·q0, γ·q1] γ [3] in J, with the quotient of `quotient`."""
        return -self.quotient(float(self.direction @ q0), float(self.direction @ q1)) * self.direction

    def discrete_hessian(self, q0: Array, q1: Array) -> Array:
        """Return the derivative [3, 3] of the discrete gradient with respect to q1 in J."""
        slope = self.quotient_slope(float(self.direction @ q0), float(self.direction @ q1))
        return -slope * self._along

    def quotient(self, s0: float, s1: float) -> float:
        """Return g[s0, s1] = (g(s1) − g(s0))/(s1 − s0) in J, as the mean of g', which has no cancellation."""
        return mean_along(self.slope, s0, s1)

    def quotient_slope(self, s0: float, s1: float) -> float:
        """Return ∂g[s0, s1]/∂s1 in J."""
        return mean_slope_along(self.curvature, s0, s1)


def _horner(coefficients: list[float], s: float) -> float:
    """Return Σ c_k s^k for a number or an array."""
    result = 0.0 * s
    for c in reversed(coefficients):
        result = result * s + c
    return result


@final
@dataclass(frozen=True)
class SphereState(ManifoldState):
    """A moment of the motion of a pendulum: a point (q, π) of its phase space P (eq. 5).

    Attributes
    ----------
    t : float
        Time in s.
    q : float64 [3]
        The direction of the link, a unit vector.
    pi : float64 [3]
        The angular momentum about the pivot in kg m²/s, normal to q.

    Raises
    ------
    InvalidSystem
        If q is not a unit vector, to 1e-9, or π not finite. That π is normal to q is checked where the pendulum, and so
        the size of its momenta, is known.
    """

    q: Array
    pi: Array

    def __post_init__(self):
        off = sqrt(self.q @ self.q) - 1.0
        if not abs(off) < _ROUND_OFF:
            raise InvalidSystem(f"|q| must be 1: the state at t = {self.t:.6g} s is off by {off:.2e}.")
        if not isfinite(self.pi @ self.pi):
            raise InvalidSystem(f"π must be finite: at t = {self.t:.6g} s it is {self.pi} kg m²/s.")

    def reversed(self) -> SphereState:
        """Return the same state with the motion reversed."""
        return SphereState(self.t, self.q, -self.pi)


@checked
@final
@dataclass(frozen=True)
class SphericalPendulum:
    """A mass at the end of a rigid link without mass, which turns about its other end in a potential.

    Parameters
    ----------
    potential : SpherePotential
    mass : float, default 1
        In kg.
    length : float, default 1
        In m.

    Raises
    ------
    InvalidSystem
        If mass or length are not positive.
    """

    potential: SpherePotential
    mass: float = 1.0
    length: float = 1.0

    def __post_init__(self):
        for name, value, unit in (("mass", self.mass, "kg"), ("length", self.length, "m")):
            if not 0.0 < value < np.inf:
                raise InvalidSystem(f"the {name} of a pendulum must be positive; it is {value} {unit}.")

    @classmethod
    def in_gravity(
        cls, gravity: float = 9.81, mass: float = 1.0, length: float = 1.0, down: ArrayLike = (0.0, 0.0, -1.0)
    ) -> SphericalPendulum:
        """Return the pendulum with V(q) = −m g L γ·q: gravity in m/s² in the direction γ."""
        return cls(AxialPotential.polynomial([0.0, mass * gravity * length], down), mass, length)

    @property
    def inertia(self) -> float:
        """I = m L² in kg m²."""
        return self.mass * self.length**2

    @checked
    def state(self, q: ArrayLike, v: ArrayLike = (0.0, 0.0, 0.0), t: float = 0.0) -> SphereState:
        """Return the state with the link in the direction q [3], of any length, and the velocity v [3] in m/s.

        Raises
        ------
        InvalidSystem
            If v is not normal to q, to 1e-9.
        """
        direction, velocity = _unit(q, "the direction of a pendulum"), np.array(v, dtype=float)
        if velocity.shape != (3,) or not np.isfinite(velocity).all():
            raise InvalidSystem(f"the velocity of a pendulum must be three numbers, finite ones; it is {v}.")
        along = float(velocity @ direction)
        if not abs(along) <= _ROUND_OFF * np.linalg.norm(velocity):
            raise InvalidSystem(f"the link is rigid: v must be normal to q; it has {along:.3g} m/s along q.")
        return SphereState(t, direction, self.mass * self.length * (hat(direction) @ velocity))

    def steady_rotation(self, angle: float) -> tuple[SphereState, float]:
        """Return a steady rotation about the axis of an axial potential: a state, and its rate Ω in rad/s.

        Ω² I cos ϑ = g'(cos ϑ),  π = I Ω (γ − cos ϑ q)

        Parameters
        ----------
        angle : float
            ϑ between link and axis in rad.

        Raises
        ------
        InvalidSystem
            If the potential is not axial, or has no steady rotation at this angle.
        """
        axis = axial(self).direction
        squared = axial(self).slope(cos(angle)) / (self.inertia * cos(angle))
        if not (squared > 0.0 and isfinite(squared)):
            raise InvalidSystem(
                f"at {angle:.6g} rad from the axis nothing holds a steady rotation: Ω² = {squared:.3g}."
            )
        normal = some_normal(axis)
        q = cos(angle) * axis + sin(angle) * normal
        rate = sqrt(squared)
        return SphereState(0.0, q, self.inertia * rate * (axis - cos(angle) * q)), rate

    def position(self, state: SphereState) -> Array:
        """Return the place of the mass [3] in m."""
        return self.length * state.q

    def velocity(self, state: SphereState) -> Array:
        """Return the velocity π × q/(m L) of the mass [3] in m/s."""
        return hat(state.pi) @ state.q / (self.mass * self.length)

    def require_no_momentum_about(self, axis: Array, name: str, state: SphereState) -> None:
        """Refuse a state with angular momentum about an axis, a unit vector [3], other than from round-off.

        Measured by |π| + √(I |∇V|), for |π| alone is small where a pendulum turns back.

        Raises
        ------
        InvalidSystem
            If it has.
        """
        about, gradient = float(state.pi @ axis), self.potential.gradient(state.q)
        size = sqrt(state.pi @ state.pi) + sqrt(self.inertia * sqrt(gradient @ gradient))
        if abs(about) > _ROUND_OFF * size:
            raise InvalidSystem(
                f"the pendulum must have no angular momentum about {name}: at t = {state.t:.6g} s it has {about:.3g} "
                f"of {sqrt(state.pi @ state.pi):.3g} kg m²/s."
            )

    def energies_of(self, state: SphereState) -> dict[str, float]:
        """Return the ``kinetic``, ``potential`` and ``total`` energy in J (eq. 7)."""
        kinetic = float(state.pi @ state.pi) / (2.0 * self.inertia)
        potential = self.potential.value(state.q)
        return {"kinetic": kinetic, "potential": potential, "total": kinetic + potential}


def axial(pendulum: SphericalPendulum) -> AxialPotential:
    """Return the axial potential of a pendulum."""
    if not isinstance(pendulum.potential, AxialPotential):
        raise InvalidSystem(
            f"an AxialPotential is needed, which depends on the height along one axis; "
            f"the pendulum has a {type(pendulum.potential).__name__}."
        )
    return pendulum.potential
