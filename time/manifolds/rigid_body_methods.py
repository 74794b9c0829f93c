"""Variational methods for a rigid body on SO(3): on the group by Cayley's map, and relaxed with linear equations.

Source: Tao and Owhadi (2014), section 4.5; Bou-Rabee and Marsden (2009) for the first with general inertia.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Literal, final

import numpy as np

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.energies.energy import Array
from symplex.time.manifolds.manifold import ManifoldMethod, StateT, SystemT, solve_increment
from symplex.time.manifolds.rigid_body import BodyState, RelaxedBody, RelaxedState, RigidBody
from symplex.time.manifolds.sphere import hat

Quadrature = Literal["euler", "trapezoidal"]


def cayley(x: Array) -> Array:
    """Return the rotation (I − x̂/2)⁻¹ (I + x̂/2) [3, 3]: by 2 atan(|x|/2) about x [3]."""
    x_hat = hat(x)
    return np.eye(3) + (x_hat + 0.5 * x_hat @ x_hat) / (1.0 + 0.25 * float(x @ x))


def _require_state(method: object, state: object, kind: type, advice: str) -> None:
    if not isinstance(state, kind):
        raise InvalidSystem(f"{type(method).__name__} moves a {kind.__name__}, not a {type(state).__name__}: {advice}.")


class _ByQuadrature(ManifoldMethod[SystemT, StateT]):
    """A variational method that takes the forces of a step by the trapezoidal rule, or all at the start by Euler's."""

    quadrature: Quadrature

    conserves = frozenset({"angular momentum", "symplectic form"})

    def __post_init__(self):
        if self.quadrature not in Quadrature.__args__:
            raise ValueError(
                f"{type(self).__name__}: quadrature must be one of {', '.join(Quadrature.__args__)}; it is "
                f"{self.quadrature!r}."
            )

    @property
    def order(self) -> int:
        """2, or 1 for Euler's quadrature."""
        return 2 if self.symmetric else 1

    @property
    def symmetric(self) -> bool:
        """Whether the quadrature is trapezoidal."""
        return self.quadrature == "trapezoidal"


@checked
@final
@dataclass(frozen=True)
class BodyCayley(_ByQuadrature[RigidBody, BodyState]):
    """The variational method on the group, with Cayley's map for the exponential (eqs. 34, 35).

    Π_½ = Π0 + h w0 τ(R0),  R1 = R0 cay(h ξ),  Π1 = cay(h ξ)ᵀ Π_½ + h w1 τ(R1),  with ξ from
    Jξ + (h/2) ξ × Jξ + (h²/4) (ξ·Jξ) ξ = Π_½

    There is a step of any size. R stays a rotation to round-off. The spatial angular momentum is exactly that which
    the torques give: a free body keeps it, and one in a uniform field its component along the field.

    Parameters
    ----------
    quadrature : {"trapezoidal", "euler"}, default "trapezoidal"
        Half the torque at either end of a step: second order and symmetric; or all of it at the start: Euler's method,
        of first order, the paper's eq. 34. Its Ω is ξ, from which Π = (1 + h²|ξ|²/4) ξ for J = I.

    Raises
    ------
    ValueError
        If there is no such quadrature.
    """

    quadrature: Quadrature = "trapezoidal"

    def step(self, system: RigidBody, state: BodyState, dt: float) -> BodyState:
        """Return the state after a step of dt in s, which may be negative.

        Raises
        ------
        InvalidSystem
            If the state is that of a relaxed body.
        StepFailed
            If there is none to be found.
        """
        _require_state(self, state, BodyState, "relaxed bodies are for BodyZhangSkeel")
        early = 0.5 if self.symmetric else 1.0
        Pi = state.Pi + early * dt * system.torque(state.R)
        try:
            xi = _velocity(system, Pi, dt)
        except StepFailed as error:
            turn = abs(dt) * sqrt(Pi @ system.inverse_inertia @ system.inverse_inertia @ Pi)
            raise StepFailed(
                f"BodyCayley found no step from t = {state.t:.6g} s with dt = {dt:.6g} s, in which the body turns by "
                f"about {turn:.3g} rad: {error} Try dt = {0.5 * dt:.3g} s."
            ) from None
        turned = cayley(dt * xi)
        R = _orthonormal(state.R @ turned)
        Pi = turned.T @ Pi
        if self.symmetric:
            Pi = Pi + 0.5 * dt * system.torque(R)
        return BodyState(state.t + dt, R, Pi)


def _velocity(body: RigidBody, Pi: Array, h: float) -> Array:
    """Return the angular velocity ξ [3] of a step with the momentum Π [3] at its start."""
    J, inverse = body.inertia, body.inverse_inertia
    xi0 = inverse @ Pi

    def equations(d: Array) -> tuple[Array, Array, float]:
        xi = xi0 + d
        p = J @ xi
        half, quarter = 0.5 * h, 0.25 * h * h
        terms = (p, half * np.cross(xi, p), quarter * float(xi @ p) * xi)
        jacobian = J + half * (hat(xi) @ J - hat(p)) + quarter * (float(xi @ p) * np.eye(3) + 2.0 * np.outer(xi, p))
        scale = sum(float(np.linalg.norm(inverse @ term)) for term in (*terms, Pi))
        return inverse @ (sum(terms) - Pi), inverse @ jacobian, scale

    return xi0 + solve_increment(equations, 3)


def _orthonormal(R: Array) -> Array:
    """Return R without what rounding has added to it, so that errors do not pile up over many steps."""
    return 1.5 * R - 0.5 * R @ (R.T @ R)


@checked
@final
@dataclass(frozen=True)
class BodyZhangSkeel(_ByQuadrature[RelaxedBody, RelaxedState]):
    """The method of Zhang and Skeel for a relaxed body: variational, with one linear system of nine unknowns a step.

    M a = −∇V − β h² ∇²V[a],  f = M a − ½ β² h⁴ ∇³V[a, a]      (eq. 37), V with the penalty, M a = a D;
    trapezoidal: P_½ = P0 + ½ h f0,  R1 = R0 + h P_½ D⁻¹,  P1 = P_½ + ½ h f1;  euler: P1 = P0 + h f0, R1 = R0 + h P1 D⁻¹

    The paper weighs a by I where its kinetic energy has D = ½ I, so that its β is twice the one here; the sign of its
    last term of f is wrong, as are its transposes. R is off the rotations by what the penalty allows. Angular momentum
    is kept as by `BodyCayley`.

    Parameters
    ----------
    beta : float, default 0.25
        Not below 0; oscillations about the rotations are stable at any step from ¼ on.
    quadrature : {"trapezoidal", "euler"}, default "trapezoidal"
        Second order and symmetric, or of first order.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    beta: float = 0.25
    quadrature: Quadrature = "trapezoidal"

    def __post_init__(self):
        super().__post_init__()
        if not 0.0 <= self.beta < np.inf:
            raise ValueError(f"BodyZhangSkeel: beta must not be negative; it is {self.beta}.")

    def step(self, system: RelaxedBody, state: RelaxedState, dt: float) -> RelaxedState:
        """Return the state after a step of dt in s, which may be negative.

        Raises
        ------
        InvalidSystem
            If the state is not that of a relaxed body.
        StepFailed
            If the matrix of the linear system is not positive definite: the body is pressed too much.
        """
        _require_state(self, state, RelaxedState, "take relaxed = RelaxedBody(body, omega) and relaxed.state(state)")
        early = 0.5 if self.symmetric else 1.0
        P = state.P + early * dt * self._force(system, state.t, state.R, dt)
        R = state.R + dt * P @ system.inverse_D
        if self.symmetric:
            P = P + 0.5 * dt * self._force(system, state.t + dt, R, dt)
        return RelaxedState(state.t + dt, R, P)

    def _force(self, system: RelaxedBody, t: float, R: Array, h: float) -> Array:
        """Return f [3, 3] in J."""
        weight = self.beta * h * h
        directions = np.eye(9).reshape(9, 3, 3)
        matrix = np.array([(e @ system.D + weight * system.hessian(R, e)).ravel() for e in directions])
        matrix = 0.5 * (matrix + matrix.T)
        try:
            np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            raise StepFailed(
                f"BodyZhangSkeel: at t = {t:.6g} s the matrix M + β h² ∇²V is not positive definite, its smallest "
                f"eigenvalue is {np.linalg.eigvalsh(matrix)[0]:.2e} kg m²: R is off the rotations. "
                f"Try a smaller step than {abs(h):.3g} s, or a smaller stiffness than omega = {system.omega:.3g}."
            ) from None
        a: Array = np.linalg.solve(matrix, -system.gradient(R).ravel()).reshape(3, 3).astype(float, copy=False)
        return a @ system.D - 0.5 * weight**2 * system.third(R, a)
