"""Midpoint rules on the phase space of the spherical pendulum: plain, symplectic, and energy-momentum.

Source: Simo and Gonzalez (1993), section 3. All are members of

    q1 − q0 = −(h/I) κ n × π_mid,   π1 − π0 = −h n × G,

with n along q_mid = (q0 + q1)/2, a number κ and a force G that may depend on q0 and q1. All stay on P, for n is normal
to q1 − q0 (Lemma 3.1), and change the energy by V1 − V0 − G·(q1 − q0)/κ (eq. 34).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import asin, inf, sqrt
from typing import Literal, NamedTuple, final

import numpy as np

from symplex.base.arguments import checked
from symplex.errors import StepFailed
from symplex.fem.energies.energy import Array
from symplex.time.manifolds.manifold import ManifoldMethod, solve_increment
from symplex.time.manifolds.sphere import SphereState, SphericalPendulum, axial, hat

_IDENTITY = np.eye(3)


class _Stage(NamedTuple):
    """What makes a scheme, as functions of d = q1 − q0."""

    n: Array  # [3], and ∂n/∂d [3, 3]
    dn: Array
    force: Array  # G [3] in J, and ∂G/∂d [3, 3]
    dforce: Array
    kappa: float = 1.0  # κ, and ∂κ/∂d [3]
    dkappa: Array | None = None


class SphereMethod(ManifoldMethod[SphericalPendulum, SphereState]):
    """A member of the family above.

    For potentials V(q) = −g(γ·q), all of them keep the angular momentum J_γ = π·γ about the axis (eq. 36), which is
    what ``angular momentum`` stands for.
    """

    order = 2
    symmetric = True

    @property
    def reach(self) -> float:
        """The angle h|π|/I in rad above which there are no steps, about; infinite if there is always one."""
        return inf

    @abstractmethod
    def _stage(self, pendulum: SphericalPendulum, q0: Array, d: Array) -> _Stage:
        """Return what the scheme is made of at q1 = q0 + d."""

    @final
    def step(self, system: SphericalPendulum, state: SphereState, dt: float) -> SphereState:
        """Return the state after a step of dt in s, which may be negative.

        The only unknown is d = q1 − q0, for π1 follows from it:  d + (h/I) κ n × (π0 − ½ h n × G) = 0.
        """
        system.require_no_momentum_about(state.q, "its link", state)
        q0, pi0, rate = state.q, state.pi, dt / system.inertia

        def equations(d: Array) -> tuple[Array, Array, float]:
            n, dn, force, dforce, kappa, dkappa = self._stage(system, q0, d)
            n_hat = hat(n)
            pi_mid = pi0 - 0.5 * dt * (n_hat @ force)
            turning = n_hat @ pi_mid
            dpi_mid = 0.5 * dt * (hat(force) @ dn - n_hat @ dforce)
            derivative = rate * kappa * (n_hat @ dpi_mid - hat(pi_mid) @ dn)
            if dkappa is not None:
                derivative += rate * turning[:, None] * dkappa
            # The last term is what rounding of q does.
            scale = sqrt(d @ d) + abs(rate * kappa) * (sqrt(pi0 @ pi0) + abs(dt) * sqrt(force @ force))
            scale += sqrt(np.vdot(derivative, derivative))
            return d + rate * kappa * turning, _IDENTITY + derivative, scale

        try:
            d = solve_increment(equations, 3)
            stage = self._stage(system, q0, d)
        except StepFailed as error:
            raise self._failure(system, state, dt, error) from None
        return SphereState(state.t + dt, q0 + d, pi0 - dt * (hat(stage.n) @ stage.force))

    def _failure(self, system: SphericalPendulum, state: SphereState, dt: float, error: StepFailed) -> StepFailed:
        turn = abs(dt) * sqrt(state.pi @ state.pi) / system.inertia
        limit = f", and its steps end at about {self.reach:.2g} rad" if self.reach < inf else ""
        return StepFailed(
            f"{type(self).__name__} found no step from t = {state.t:.6g} s with dt = {dt:.6g} s, in which the "
            f"pendulum turns by about {turn:.3g} rad{limit}: {error} Try dt = {0.5 * dt:.3g} s."
        )


def _chord_middle(q0: Array, d: Array) -> tuple[Array, Array]:
    """Return q_mid and its derivative."""
    return q0 + 0.5 * d, 0.5 * _IDENTITY


def _arc_middle(q0: Array, d: Array) -> tuple[Array, Array]:
    """Return q_mid/|q_mid|, the projection of q_mid onto the sphere (eq. 58), and its derivative."""
    q_mid = q0 + 0.5 * d
    length = sqrt(q_mid @ q_mid)
    if length < 1e-8:
        raise StepFailed("a step turned the pendulum round, so that there is no middle of its ends.")
    n = q_mid / length
    return n, (_IDENTITY - n[:, None] * n) / (2.0 * length)


@checked
@final
@dataclass(frozen=True)
class SphereMidpoint(SphereMethod):
    """The midpoint rule on P (eq. 24): n = q_mid, G = ∇V(q_mid).

    It stays on P and keeps J_γ. It is not symplectic, for |q_mid| < 1, and keeps the energy only if V is quadratic, or
    linear as in constant gravity.
    """

    conserves = frozenset({"angular momentum"})

    def _stage(self, pendulum: SphericalPendulum, q0: Array, d: Array) -> _Stage:
        n, dn = _chord_middle(q0, d)
        return _Stage(n, dn, pendulum.potential.gradient(n), pendulum.potential.hessian(n) @ dn)


@checked
@final
@dataclass(frozen=True)
class SphereSymplectic(SphereMethod):
    """The midpoint rule with its stage projected onto P (eqs. 55 and 60): n = q_mid/|q_mid|, G = ∇V(n).

    It is symplectic for every potential and every function κ(φ) of the angle φ between q0 and q1, for it is the
    variational integrator of the discrete Lagrangian I F(φ)/h − h V(n) with F'(φ) = 2 sin(φ/2)/κ. With κ = 1 it also
    keeps the energy in constant gravity.

    Parameters
    ----------
    kappa : {"one", "geodesic", "chord"}
        κ = 1; sin(φ/2)/(φ/2), so that the kinetic energy is that of the arc (F = φ²/2), and free motion is exact;
        or 1/cos(φ/2), that of the chord (F = |q1 − q0|²/2). Their steps end at h|π|/I of about 2, π and 1 rad.

    Raises
    ------
    ValueError
        If κ is none of these.
    """

    kappa: Literal["one", "geodesic", "chord"] = "one"

    conserves = frozenset({"angular momentum", "symplectic form"})

    def __post_init__(self):
        if self.kappa not in _REACHES:
            raise ValueError(f"SphereSymplectic: kappa must be one of {', '.join(_REACHES)}; it is {self.kappa!r}.")

    @property
    def reach(self) -> float:
        """About 2, π or 1 rad."""
        return _REACHES[self.kappa]

    def _stage(self, pendulum: SphericalPendulum, q0: Array, d: Array) -> _Stage:
        n, dn = _arc_middle(q0, d)
        stage = _Stage(n, dn, pendulum.potential.gradient(n), pendulum.potential.hessian(n) @ dn)
        if self.kappa == "one":
            return stage
        kappa, slope = _KAPPAS[self.kappa](0.25 * float(d @ d))
        return stage._replace(kappa=kappa, dkappa=0.5 * slope * d)


_REACHES = {"one": 2.0, "geodesic": float(np.pi), "chord": 1.0}


def _geodesic(w: float) -> tuple[float, float]:
    """Return κ = sin a/a and dκ/dw with w = sin² a, a = φ/2."""
    if w >= 1.0:
        raise StepFailed("a step turned the pendulum round, so that there is no shortest arc.")
    sine, cosine = sqrt(w), sqrt(1.0 - w)
    a = asin(sine)
    if w < 1e-4:  # the derivative guides Newton's method, and a few digits do
        return (sine / a if a > 0.0 else 1.0), -1.0 / 6.0 - 7.0 * w / 60.0
    return sine / a, (a / sine - 1.0 / cosine) / (2.0 * a * a)


def _chord(w: float) -> tuple[float, float]:
    """Return κ = 1/cos a and dκ/dw with w = sin² a, a = φ/2."""
    if w >= 0.5:
        raise StepFailed("a step turned the pendulum by a right angle, and further the chord does not reach.")
    return (1.0 - w) ** -0.5, 0.5 * (1.0 - w) ** -1.5


_KAPPAS = {"geodesic": _geodesic, "chord": _chord}


@checked
@final
@dataclass(frozen=True)
class SphereEnergyMomentum(SphereMethod):
    """Three ways to make a midpoint rule on P keep the energy and J_γ at once, for any potential or any axial one.

    None is symplectic in general; in constant gravity the projected one is, and keeps all there is.

    Parameters
    ----------
    form : {"force", "projected", "velocity"}
        ``"force"``: n = q_mid, κ = 1, with the discrete gradient G of V in place of ∇V(q_mid). There are solutions for
        any step, though Newton's method may miss those in which the pendulum turns by several rad.
        ``"projected"``: the same with n = q_mid/|q_mid|; reconstructed from the reduced method after eq. 53.
        ``"velocity"``: eq. 61 as printed, n = q_mid, G = ∇V(q_mid), κ = G·(q1 − q0)/(V1 − V0), which for an axial
        potential is g'(γ·q_mid)/g[γ·q0, γ·q1]; for others it has poles where V1 = V0, and they are refused. It is
        undefined in free motion, and wrong where g' changes sign, as in a field with two wells.

    Raises
    ------
    ValueError
        If the form is none of these.
    """

    form: Literal["force", "projected", "velocity"] = "force"

    conserves = frozenset({"energy", "angular momentum"})

    def __post_init__(self):
        if self.form not in ("force", "projected", "velocity"):
            raise ValueError(
                f"SphereEnergyMomentum: form must be one of force, projected, velocity; it is {self.form!r}."
            )

    @property
    def reach(self) -> float:
        """About 2 rad for the projected form, otherwise infinite."""
        return 2.0 if self.form == "projected" else inf

    def _stage(self, pendulum: SphericalPendulum, q0: Array, d: Array) -> _Stage:
        n, dn = _arc_middle(q0, d) if self.form == "projected" else _chord_middle(q0, d)
        if self.form != "velocity":
            V, q1 = pendulum.potential, q0 + d
            return _Stage(n, dn, V.discrete_gradient(q0, q1), V.discrete_hessian(q0, q1))
        field = axial(pendulum)
        axis = field.direction
        s0, s1 = float(axis @ q0), float(axis @ (q0 + d))
        s_mid = 0.5 * (s0 + s1)
        slope, curvature, quotient = field.slope(s_mid), field.curvature(s_mid), field.quotient(s0, s1)
        if quotient == 0.0:
            raise StepFailed("g takes equal values at both ends of a step, so that κ of eq. 61 is undefined.")
        kappa = slope / quotient
        dkappa = (0.5 * curvature - kappa * field.quotient_slope(s0, s1)) / quotient * axis
        force, dforce = -slope * axis, -0.5 * curvature * np.outer(axis, axis)
        return _Stage(n, dn, force, dforce, kappa, dkappa)
