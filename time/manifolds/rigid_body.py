"""A rigid body that turns about a fixed point, in any potential; its configurations are the rotations SO(3).

Source: Tao and Owhadi, "Variational and linearly-implicit integrators, with applications" (2014), section 4.5. The
state is (R, Π), the rotation and the angular momentum in the body's axes:

    Ṙ = R Ω̂,   Π̇ = Π × Ω + τ(R),   Π = J Ω,   with the torque  τ·η = −∂V/∂R : R η̂
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from math import sqrt
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.base.representation import Described
from symplex.errors import InvalidSystem
from symplex.fem.assembly.copying import Copyable
from symplex.fem.energies.energy import Array
from symplex.time.manifolds.manifold import ManifoldState
from symplex.time.manifolds.sphere import hat

_ROUND_OFF = 1e-9  # how far RᵀR may be from the identity
_NUDGE = 6e-6  # of central differences: about the cube root of the rounding unit


def axial_vector(a: Array) -> Array:
    """Return w [3] with w·η = A : η̂ for all η: twice the axial vector of the skew part of A [3, 3]."""
    return np.array([a[2, 1] - a[1, 2], a[0, 2] - a[2, 0], a[1, 0] - a[0, 1]])


class BodyPotential(Copyable, ABC):
    """A potential energy V(R) in J of the rotation R [3, 3] of a body.

    It must be defined for all matrices near the rotations as well, where relaxed methods evaluate it.
    """

    @abstractmethod
    def value(self, R: Array) -> float:
        """Return V(R) in J."""

    @abstractmethod
    def gradient(self, R: Array) -> Array:
        """Return ∂V/∂R [3, 3] in J."""

    def hessian(self, R: Array, a: Array) -> Array:
        """Return the derivative [3, 3] of the gradient along a [3, 3], in J; here by central differences."""
        return (self.gradient(R + _NUDGE * a) - self.gradient(R - _NUDGE * a)) / (2.0 * _NUDGE)

    def third(self, R: Array, a: Array) -> Array:
        """Return the second derivative [3, 3] of the gradient along a [3, 3], in J; here by central differences."""
        step = 1e-4  # second differences lose twice the digits
        return (self.gradient(R + step * a) - 2.0 * self.gradient(R) + self.gradient(R - step * a)) / step**2


@checked
@final
@dataclass(frozen=True)
class UniformField(BodyPotential):
    """V(R) = s f·R d: a dipole, or a weight off the fixed point, in a uniform field.

    Parameters
    ----------
    strength : float
        s in J: of the paper B μ, of a top −m g times the distance of its centre from the point, for f down.
    field : float [3], default (0, 0, 1)
        f, the direction of the field in space.
    dipole : float [3], default (0, 0, 1)
        d, the direction in the body.
    """

    strength: float
    field: tuple[float, float, float] = (0.0, 0.0, 1.0)
    dipole: tuple[float, float, float] = (0.0, 0.0, 1.0)

    def value(self, R: Array) -> float:
        """Return s f·R d in J."""
        return float(np.vdot(self.gradient(R), R))

    def gradient(self, R: Array) -> Array:
        """Return s f ⊗ d [3, 3] in J."""
        return self.strength * np.outer(self.field, self.dipole)

    def hessian(self, R: Array, a: Array) -> Array:
        """Return zeros: V is linear in R."""
        return np.zeros((3, 3))

    def third(self, R: Array, a: Array) -> Array:
        """Return zeros."""
        return np.zeros((3, 3))


@final
@dataclass(frozen=True)
class BodyState(ManifoldState):
    """A moment of the motion of a rigid body.

    Attributes
    ----------
    t : float
        Time in s.
    R : float64 [3, 3]
        The rotation, from the body's axes to those of space.
    Pi : float64 [3]
        The angular momentum in the body's axes in kg m²/s.

    Raises
    ------
    InvalidSystem
        If R is no rotation, to 1e-9, or Π not finite.
    """

    R: Array
    Pi: Array

    def __post_init__(self):
        off = float(np.abs(self.R.T @ self.R - np.eye(3)).max())
        det = np.linalg.det(self.R)
        if not off < _ROUND_OFF or det < 0.0:
            raise InvalidSystem(
                f"R must be a rotation: at t = {self.t:.6g} s RᵀR is off by {off:.2e}, det R = {det:.3g}."
            )
        if not np.isfinite(self.Pi).all():
            raise InvalidSystem(f"Π must be finite: at t = {self.t:.6g} s it is {self.Pi} kg m²/s.")

    def reversed(self) -> BodyState:
        """Return the same state with the motion reversed."""
        return replace(self, Pi=-self.Pi)


@checked
@final
class RigidBody(Described):
    """A body that turns about a fixed point in a potential.

    Parameters
    ----------
    inertia : float, float [3] or [3, 3]
        J about the point, in the body's axes, in kg m²: one number for all axes, principal moments, or the matrix.
    potential : BodyPotential, optional
        Default: none.

    Attributes
    ----------
    inertia, inverse_inertia : float64 [3, 3]

    Raises
    ------
    InvalidSystem
        If J is not that of a body: symmetric, with positive principal moments of which none exceeds the sum of the
        others.
    """

    def __init__(self, inertia: ArrayLike = 1.0, potential: BodyPotential | None = None):
        J = np.array(inertia, dtype=float)
        if J.shape not in ((), (3,), (3, 3)):
            raise InvalidSystem(f"an inertia is a number, three principal moments or a matrix; it is {inertia}.")
        J = J if J.ndim == 2 else np.diag(np.broadcast_to(J, 3))
        if not (np.isfinite(J).all() and np.allclose(J, J.T, rtol=1e-12, atol=0.0)):
            raise InvalidSystem(f"an inertia must be finite and symmetric; it is {J.tolist()} kg m².")
        moments = np.linalg.eigvalsh(J)
        if moments[0] <= 0.0 or moments[2] > (1.0 + 1e-12) * (moments[0] + moments[1]):
            raise InvalidSystem(
                f"no body has the principal moments {moments.round(12).tolist()} kg m²: they must be positive, and "
                "none may exceed the sum of the others."
            )
        self.inertia = J
        self.inverse_inertia = np.linalg.inv(J)
        self.potential = potential

    def state(self, R: ArrayLike | None = None, omega: ArrayLike = (0.0, 0.0, 0.0), t: float = 0.0) -> BodyState:
        """Return the state with a rotation R (default: none) and an angular velocity [3] in the body's axes in rad/s.

        Raises
        ------
        InvalidSystem
            If R is no rotation, or a number not finite.
        """
        rotation, rate = np.eye(3) if R is None else np.array(R, dtype=float), np.array(omega, dtype=float)
        if rotation.shape != (3, 3) or rate.shape != (3,):
            raise InvalidSystem(f"R must be [3, 3] and omega [3]; they are {rotation.shape} and {rate.shape}.")
        return BodyState(t, rotation, self.inertia @ rate)

    def omega(self, state: BodyState) -> Array:
        """Return the angular velocity [3] in the body's axes in rad/s."""
        return self.inverse_inertia @ state.Pi

    def angular_momentum(self, state: BodyState) -> Array:
        """Return the angular momentum [3] in space in kg m²/s."""
        return state.R @ state.Pi

    def torque(self, R: Array) -> Array:
        """Return the torque [3] of the potential in the body's axes in N m (the paper's eq. 35)."""
        if self.potential is None:
            return np.zeros(3)
        return -axial_vector(R.T @ self.potential.gradient(R))

    def energies_of(self, state: BodyState) -> dict[str, float]:
        """Return the ``kinetic``, ``potential`` and ``total`` energy in J."""
        kinetic = 0.5 * float(state.Pi @ self.inverse_inertia @ state.Pi)
        potential = 0.0 if self.potential is None else self.potential.value(state.R)
        return {"kinetic": kinetic, "potential": potential, "total": kinetic + potential}


@final
@dataclass(frozen=True)
class RelaxedState(ManifoldState):
    """A moment of the motion of a relaxed body.

    Attributes
    ----------
    t : float
        Time in s.
    R : float64 [3, 3]
        Near a rotation.
    P : float64 [3, 3]
        Its momentum Ṙ D in kg m²/s.
    """

    R: Array
    P: Array

    def reversed(self) -> RelaxedState:
        """Return the same state with the motion reversed."""
        return replace(self, P=-self.P)


@checked
@final
class RelaxedBody(Described):
    """A rigid body whose R is any matrix, held near the rotations by a stiff potential.

    L = ½ tr(Ṙ D Ṙᵀ) − V(R) − ½ ω² |RᵀR − I|²,  D = ½ tr(J) I − J; of the paper, with J = I, D = ½ I.

    The body oscillates about the rotations with ω √8 rad/s, for J = I kg m².

    Parameters
    ----------
    body : RigidBody
        With D positive definite: not flat.
    omega : float
        ω, the square root of a stiffness in J.

    Raises
    ------
    InvalidSystem
        If D is not positive definite, or ω not positive.
    """

    def __init__(self, body: RigidBody, omega: float):
        if not 0.0 < omega < np.inf:
            raise InvalidSystem(f"the stiffness of a relaxed body must be positive: omega is {omega}.")
        self.body = body
        self.omega = omega
        self.D = 0.5 * np.trace(body.inertia) * np.eye(3) - body.inertia
        smallest = float(np.linalg.eigvalsh(self.D)[0])
        if smallest <= 1e-12 * np.trace(self.D):
            raise InvalidSystem(
                "a flat body cannot be relaxed: one principal moment is the sum of the others, so that "
                f"½ tr(J) I − J has the eigenvalue {smallest:.2g} kg m². Take a BodyCayley."
            )
        self.inverse_D = np.linalg.inv(self.D)

    def state(self, state: BodyState) -> RelaxedState:
        """Return the relaxed state at a state of the body."""
        return RelaxedState(state.t, state.R, state.R @ hat(self.body.omega(state)) @ self.D)

    def gradient(self, R: Array) -> Array:
        """Return the derivative [3, 3] of all potential energy with R, in J."""
        return self._external("gradient", R) + 2.0 * self.omega**2 * (R @ R.T @ R - R)

    def hessian(self, R: Array, a: Array) -> Array:
        """Return the derivative [3, 3] of the gradient along a [3, 3]."""
        penalty = a @ R.T @ R + R @ a.T @ R + R @ R.T @ a - a
        return self._external("hessian", R, a) + 2.0 * self.omega**2 * penalty

    def third(self, R: Array, a: Array) -> Array:
        """Return the second derivative [3, 3] of the gradient along a [3, 3]."""
        penalty = a @ a.T @ R + a @ R.T @ a + R @ a.T @ a
        return self._external("third", R, a) + 4.0 * self.omega**2 * penalty

    def _external(self, name: str, *arguments: Array) -> Array:
        potential = self.body.potential
        return np.zeros((3, 3)) if potential is None else getattr(potential, name)(*arguments)

    def angular_momentum(self, state: RelaxedState) -> Array:
        """Return the angular momentum [3] in space, Σ of columns r × p, in kg m²/s."""
        return axial_vector(state.P @ state.R.T)

    def off_rotation(self, state: RelaxedState) -> float:
        """Return |RᵀR − I|, Frobenius' norm: how far R is from the rotations."""
        off = state.R.T @ state.R - np.eye(3)
        return sqrt(np.vdot(off, off))

    def energies_of(self, state: RelaxedState) -> dict[str, float]:
        """Return the ``kinetic``, ``potential``, ``penalty`` and ``total`` energy in J."""
        potential = self.body.potential
        parts = {
            "kinetic": 0.5 * float(np.vdot(state.P @ self.inverse_D, state.P)),
            "potential": 0.0 if potential is None else potential.value(state.R),
            "penalty": 0.5 * (self.omega * self.off_rotation(state)) ** 2,
        }
        return parts | {"total": sum(parts.values())}
