"""Springs, stops, dampers, friction and motors of joints: forces along their angle or displacement.

A displacement d is an inner product of vectors of both bodies; an angle has two, its cosine c and sine s. Products are
quadratic, so that their differences are Δc = ∇c(x̄)·Δx. With the angles α at the ends of a step and r² = c² + s², which
is 1 of rigid bodies, c₀s₁ − s₀c₁ = r₀r₁ sin Δα, and a moment S does exactly the work S Δα by the forces

    S Δα/(r₀r₁ sin Δα) (c̄ ∇s(x̄) − s̄ ∇c(x̄)),    c̄ = ½ (c₀ + c₁).
"""

from __future__ import annotations

from typing import Annotated, Literal, final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.base.quantities import not_negative, positive
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.actions.histories import History, factor_of
from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.pattern import Array
from symplex.fem.energies.differentiable_load import DifferentiableLoad
from symplex.fem.energies.energy import RIGID, Energy
from symplex.fem.structures.joints import Joint, Products

JointCoordinate = Literal["angle", "displacement"]
_SMALL = 1e-4  # rad below which Δα/sin Δα is taken by its series
_TURNED = 1e-3  # rad by which an angle may differ from what it was and has changed by


@final
class _Coordinate(Copyable):
    """The angle or displacement of a joint, less what it is at rest, as a function of the products m [1 or 2].

    Parameters
    ----------
    joint : Joint
    coordinate : {"angle", "displacement"} or None
    rest : float
    """

    def __init__(self, owner: str, joint: Joint, coordinate: JointCoordinate | None, rest: float):
        known = list(joint.coordinates)
        if not known:
            raise InvalidSystem(f"{owner}: a {joint.kind} joint has no angle and no displacement.")
        if coordinate is None and len(known) > 1:
            raise InvalidSystem(f"{owner}: coordinate must be one of 'angle', 'displacement' of a {joint.kind} joint.")
        self.name = coordinate or known[0]
        if self.name not in known:
            raise InvalidSystem(f"{owner}: a {joint.kind} joint has no {self.name}; it has: {', '.join(known)}.")
        if not np.isfinite(rest):
            raise InvalidSystem(f"{owner}: rest must be finite, got {rest}.")
        self.is_angle, self.nodes, self.rest = self.name == "angle", joint.nodes[:1], float(rest)
        self._products: Products = joint.products_of(self.name)
        cos, sin = np.cos(self.rest), np.sin(self.rest)
        self._turn = np.array([[cos, sin], [-sin, cos]]) if self.is_angle else np.eye(1)

    def products(self, x: Array) -> tuple[Array, Array]:
        """Return m [p] and ∇m [p, k, 3] at positions x [k, 3]."""
        values = self._turn @ self._products.value(x[None])
        gradients = np.einsum("pq,qai->pai", self._turn, self._products.gradient(x[None]))
        return values, gradients

    def curvatures(self) -> Array:
        """Return ∇²m [p, k, k], each number times the unit matrix."""
        return np.einsum("pq,qab->pab", self._turn, self._products.scalars)

    def value(self, m: Array) -> float:
        """Return the angle in rad from rest, from −π to π, or the displacement in m."""
        return float(np.arctan2(m[1], m[0])) if self.is_angle else float(m[0]) - self.rest

    def slope(self, m: Array) -> Array:
        """Return its derivative by m [p]."""
        if not self.is_angle:
            return np.ones(1)
        size = float(m @ m)
        if not 0.0 < size < np.inf:
            raise StepFailed("the angle of a joint is not defined: its frames are distorted. Try a smaller step.")
        return np.array([-m[1], m[0]]) / size

    def gradient(self, x: Array) -> tuple[float, Array]:
        """Return it, and its gradient [k, 3], at positions x [k, 3]."""
        m, gradients = self.products(x)
        return self.value(m), np.einsum("p,pai->ai", self.slope(m), gradients)

    def hessian(self, x: Array) -> Array:
        """Return its second derivative [3k, 3k]."""
        m, gradients = self.products(x)
        flat = gradients.reshape(len(m), -1)
        out = _expanded(np.einsum("p,pab->ab", self.slope(m), self.curvatures()))
        if self.is_angle:  # the imaginary part of ∇²z/z − ∇z∇z/z², z = c + is
            n, p = self.slope(m) @ flat, m @ flat / (m @ m)
            out -= np.outer(n, p) + np.outer(p, n)
        return out

    def change(self, m0: Array, m1: Array) -> float:
        """Return by how much it has changed; an angle by less than half a turn."""
        if not self.is_angle:
            return float(m1[0] - m0[0])
        return float(np.arctan2(m0[0] * m1[1] - m0[1] * m1[0], m0 @ m1))

    def mean_slope(self, m0: Array, m1: Array) -> tuple[Array, Array]:
        """Return D [p] with D·(m₁ − m₀) what it has changed by, and ∂D/∂m₁ [p, p]."""
        if not self.is_angle:
            return np.ones(1), np.zeros((1, 1))
        change = self.change(m0, m1)
        if abs(change) < _SMALL:
            factor, rate = 1.0 + change**2 / 6.0, change / 3.0
        else:
            sin, cos = np.sin(change), np.cos(change)
            factor, rate = change / sin, (sin - change * cos) / sin**2
        turned = np.array([[0.0, -1.0], [1.0, 0.0]])
        mean, size = turned @ (0.5 * (m0 + m1)), np.sqrt((m0 @ m0) * (m1 @ m1))
        by_end = rate * np.outer(mean, self.slope(m1)) - factor * np.outer(mean, m1 / (m1 @ m1)) + 0.5 * factor * turned
        return factor * mean / size, by_end / size


def _expanded(scalars: Array) -> Array:
    """Return [3k, 3k] of [k, k] times the unit matrix."""
    return np.asarray(np.kron(scalars, np.eye(3)), float)


@checked
@final
class JointSpring(Energy):
    """A spring along the angle or displacement of a joint, and stops: φ = ½ k (α − α₀)² + ½ K (excess over a stop)².

    Its discrete gradient is closed: energy–momentum conserves its energy to round-off, at a stop as well.

    Parameters
    ----------
    joint : Joint
        Revolute, prismatic or cylindrical.
    stiffness : float, default 0
        k in N m/rad or N/m.
    rest : float, default 0
        α₀ in rad or m. An angle is taken from there, and must stay within half a turn of it.
    stops : (float, float), optional
        The lowest and highest angle or displacement, counted as those of the joint; infinite where there is none.
    stop_stiffness : float, optional
        K in N m/rad or N/m, with stops.
    coordinate : {"angle", "displacement"}, optional
        Of cylindrical joints.

    Raises
    ------
    InvalidSystem
        If the joint has no such coordinate, or stops are not in order.
    """

    def __init__(
        self,
        joint: Joint,
        stiffness: Annotated[float, not_negative("N m/rad or N/m")] = 0.0,
        rest: float = 0.0,
        stops: ArrayLike | None = None,
        stop_stiffness: Annotated[float | None, positive("N m/rad or N/m")] = None,
        coordinate: JointCoordinate | None = None,
    ):
        self._coordinate = _Coordinate("JointSpring", joint, coordinate, rest)
        self.nodes, self.stiffness = self._coordinate.nodes, float(stiffness)
        self.invariances = frozenset() if joint.bodies[1] is None else RIGID
        if (stops is None) != (stop_stiffness is None):
            raise InvalidSystem("JointSpring: stops and stop_stiffness must be given together.")
        limits = np.array([-np.inf, np.inf] if stops is None else stops, dtype=float)
        if limits.shape != (2,) or not limits[0] < limits[1]:
            raise InvalidSystem(f"JointSpring: stops must be two ascending numbers, got {stops}.")
        if stops is None and self.stiffness == 0.0:
            raise InvalidSystem("JointSpring: stiffness must be positive where there are no stops, got 0.")
        self._limits, self._hard = limits - self._coordinate.rest, float(stop_stiffness or 0.0)

    def _excess(self, a: float) -> tuple[float, float]:
        """Return by how much a value, from rest, is beyond the upper stop, and the lower one: negative."""
        return max(a - self._limits[1], 0.0), min(a - self._limits[0], 0.0)

    def _law(self, a: float) -> tuple[float, float, float]:
        """Return ψ, ψ' and ψ'' at a value from rest."""
        k, hard = self.stiffness, self._hard
        beyond = sum(self._excess(a))
        return 0.5 * k * a * a + 0.5 * hard * beyond * beyond, k * a + hard * beyond, k + hard * (beyond != 0.0)

    def _mean_law(self, a: float, change: float) -> tuple[float, float]:
        """Return S with S · change = ψ(a + change) − ψ(a), and its derivative by the end."""
        k, hard, b = self.stiffness, self._hard, a + change
        slope, rate = k * (a + 0.5 * change), 0.5 * k
        for e0, e1 in zip(self._excess(a), self._excess(b), strict=True):
            if e0 == 0.0 and e1 == 0.0:
                continue
            if e0 and e1:  # their difference is the change, without its rounding
                slope, rate = slope + 0.5 * hard * (e0 + e1), rate + 0.5 * hard
                continue
            mean = 0.5 * hard * (e1 + e0) * ((e1 - e0) / change)
            slope, rate = slope + mean, rate + (hard * e1 - mean) / change
        return slope, rate

    def value(self, x: Array) -> Array:
        """Return φ [1] in J at the positions x [1, k, 3] in m."""
        return np.array([self._law(self._coordinate.value(self._coordinate.products(x[0])[0]))[0]])

    def gradient(self, x: Array) -> Array:
        """Return ∂φ/∂x [1, k, 3] in N."""
        a, gradient = self._coordinate.gradient(x[0])
        return self._law(a)[1] * gradient[None]

    def hessian(self, x: Array) -> Array:
        """Return ∂²φ/∂x² [1, 3k, 3k] in N/m."""
        a, gradient = self._coordinate.gradient(x[0])
        _, slope, curvature = self._law(a)
        return (slope * self._coordinate.hessian(x[0]) + curvature * np.outer(gradient, gradient))[None]

    def discrete_gradient(self, x0: Array, x1: Array) -> Array:
        """Return the discrete gradient [1, k, 3] in N from x0 to x1 [1, k, 3] in m.

        Raises
        ------
        StepFailed
            If the angle passes half a turn from its rest.
        """
        m0, m1, mean, slope, _ = self._between(x0[0], x1[0])
        return np.einsum("p,pai->ai", slope * self._coordinate.mean_slope(m0, m1)[0], mean)[None]

    def discrete_hessian(self, x0: Array, x1: Array) -> Array:
        """Return its derivative [1, 3k, 3k] in N/m with respect to x1."""
        at = self._coordinate
        m0, m1, mean, slope, rate = self._between(x0[0], x1[0])
        D, by_end = at.mean_slope(m0, m1)
        flat, end = mean.reshape(len(m0), -1), at.products(x1[0])[1].reshape(len(m0), -1)
        by_m1 = slope * by_end + rate * np.outer(D, at.slope(m1))
        return (0.5 * slope * _expanded(np.einsum("p,pab->ab", D, at.curvatures())) + flat.T @ by_m1 @ end)[None]

    def _between(self, x0: Array, x1: Array) -> tuple[Array, Array, Array, float, float]:
        """Return m at both ends, ∇m in the middle, and the mean force with its derivative by the value at the end."""
        at = self._coordinate
        m0, m1 = at.products(x0)[0], at.products(x1)[0]
        a, change = at.value(m0), at.change(m0, m1)
        if at.is_angle and abs(a + change - at.value(m1)) > _TURNED:
            raise StepFailed(
                f"a JointSpring has been turned to {np.degrees(a + change):.4g}° from its rest; it is for less than "
                "half a turn. Take another rest, or stops."
            )
        return m0, m1, at.products(0.5 * (x0 + x1))[1], *self._mean_law(a, change)


@checked
@final
class JointLoad(DifferentiableLoad):
    """A motor, a damper and friction along the angle or displacement α of a joint.

    M = M(t) − d α̇ − c α̇/√(α̇² + ε²) acts on the first body along α, and its opposite on the second one. In the step of
    energy–momentum the last two do the work −(d + c/√…) α̇² h, which is never positive.

    Parameters
    ----------
    joint : Joint
        Revolute, prismatic or cylindrical.
    moment : float, callable or (times, values), default 0
        M(t) in N m, or the force in N: constant, a function of t in s, or a table that is interpolated linearly.
    damping : float, default 0
        d in N m s/rad or N s/m.
    friction : float, default 0
        c in N m or N, Coulomb's: the same at all speeds but small ones.
    slip : float, optional
        ε in rad/s or m/s, with friction: at α̇ = ε 71 % of it act.
    coordinate : {"angle", "displacement"}, optional
        Of cylindrical joints.

    Raises
    ------
    InvalidSystem
        If the joint has no such coordinate, or there is friction without slip.
    """

    def __init__(
        self,
        joint: Joint,
        moment: History = 0.0,
        damping: Annotated[float, not_negative("N m s/rad or N s/m")] = 0.0,
        friction: Annotated[float, not_negative("N m or N")] = 0.0,
        slip: Annotated[float | None, positive("rad/s or m/s")] = None,
        coordinate: JointCoordinate | None = None,
    ):
        self._coordinate = _Coordinate("JointLoad", joint, coordinate, 0.0)
        self.nodes, self.moment = self._coordinate.nodes, factor_of(moment)
        self.damping, self.friction = float(damping), float(friction)
        if (self.friction > 0.0) != (slip is not None):
            raise InvalidSystem("JointLoad: friction and slip must be given together.")
        self._slip = 1.0 if slip is None else float(slip)

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return the nodal forces [n, 3] in N at the time t in s, positions q and velocities v [n, 3]."""
        out, nodes = np.zeros_like(q), self.nodes[0]
        _, gradient = self._coordinate.gradient(q[nodes])
        out[nodes] = self._law(t, float(np.vdot(gradient, v[nodes])))[0] * gradient
        return out

    def _law(self, t: float, rate: float) -> tuple[float, float]:
        """Return M and ∂M/∂α̇."""
        size = np.hypot(rate, self._slip)
        force = self.moment(t) - self.damping * rate - self.friction * rate / size
        return force, -self.damping - self.friction * self._slip**2 / size**3

    def derivatives(self, t: float, x: Array, v: Array) -> tuple[Array, Array]:
        """Return ∂f/∂x in N/m and ∂f/∂v in N s/m [1, 3k, 3k] at gathered x and v [1, k, 3]."""
        _, gradient = self._coordinate.gradient(x[0])
        n, bend = gradient.ravel(), self._coordinate.hessian(x[0])
        force, slope = self._law(t, float(n @ v[0].ravel()))
        along = np.asarray(np.outer(n, n), float)
        return np.asarray(force * bend + slope * np.outer(n, bend @ v[0].ravel()), float)[None], slope * along[None]
