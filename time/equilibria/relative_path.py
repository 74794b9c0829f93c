"""Relative equilibria of free bodies, their exact motion, and how well computed motions keep to it."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.representation import Summarized
from symplex.fem.energies.energy import Array
from symplex.fem.system import State, System
from symplex.time.rigid_rotation import angle_about, axis_of, centre_of_mass, centrifugal, in_space, rotation


@final
@dataclass(frozen=True, repr=False)
class RelativeEquilibrium(Summarized):
    """A body in steady rotation, and its exact motion.

    Attributes
    ----------
    system : System
    state : State
        At t = 0.
    omega : float64 [3], [1] in the plane
        Angular velocity in rad/s.
    centre, velocity : float64 [dim]
        The centre of mass at t = 0 in m, and its velocity in m/s.
    stretch : float
        Radius of gyration about the axis, over that of the body at first.
    tilt : float
        Angle in rad by which the body was turned to bring its principal axis onto ω.
    residual : float
        The largest unbalanced force of a node in N.
    corrections : int
        How many Newton's method took.
    """

    system: System
    state: State
    omega: Array
    centre: Array
    velocity: Array
    stretch: float
    tilt: float
    residual: float
    corrections: int

    def exact(self, t: float) -> State:
        """Return the state at the time t in s (eq. 2.39)."""
        axis, speed = axis_of(self.omega)
        turned = rotation(axis, speed * t, self.system.dim)
        arm = (self.state.q - self.centre) @ turned.T
        v = self.velocity + (self.state.v - self.velocity) @ turned.T
        return State(t, self.centre + t * self.velocity + arm, v, -arm @ centrifugal(self.omega))

    def energies(self) -> dict[str, float]:
        """Return the energies in J, which all are constant (see `System.energies_of`)."""
        return self.system.energies_of(self.state)

    def path(self, t: ArrayLike, q: ArrayLike) -> RelativePath:
        """Return how a computed motion turns, moves on and deforms.

        Parameters
        ----------
        t : float [k]
            Times in s, ascending. Between two of them the lag must change by less than half a turn.
        q : float [k, n, dim]
            Positions in m, such as those of a `Trajectory` that begins at ``state``.

        Raises
        ------
        ValueError
            If the shapes do not match.
        """
        times, positions = np.asarray(t, dtype=float), np.asarray(q, dtype=float)
        if times.ndim != 1 or positions.shape != (len(times), *self.state.q.shape):
            raise ValueError(
                f"path: times {times.shape} and positions {positions.shape} do not match; expected [k] and "
                f"[k, {self.system.n_nodes}, {self.system.dim}]."
            )
        rows = [self._seen(time, at) for time, at in zip(times, positions, strict=True)]
        lag, moved, off_axis, deformation = np.array(rows).reshape(-1, 4).T
        axis, speed = axis_of(self.omega)
        return RelativePath(
            times, np.unwrap(lag), moved, off_axis, deformation, speed, float(in_space(self.velocity) @ axis)
        )

    def _seen(self, t: float, q: Array) -> tuple[float, float, float, float]:
        """Return lag, way, distance off the axis and deformation at a time."""
        axis, speed = axis_of(self.omega)
        start = self.state.q - self.centre
        centre = centre_of_mass(self.system, q)
        angle = angle_about(self.system, axis, start, q - centre)
        way = in_space(centre - self.centre)
        rigid = start @ rotation(axis, angle, self.system.dim).T
        radius = np.linalg.norm(start, axis=1).max()
        deformation = np.linalg.norm(q - centre - rigid, axis=1).max() / radius
        lag = (speed * t - angle + pi) % (2.0 * pi) - pi
        return lag, float(way @ axis), float(np.linalg.norm(way - (way @ axis) * axis)), float(deformation)


@final
@dataclass(frozen=True, repr=False)
class RelativePath(Summarized):
    """A computed motion, measured against a relative equilibrium.

    Attributes
    ----------
    t : float64 [k]
        Times in s.
    lag : float64 [k]
        Angle in rad by which the body is behind the exact motion, by the rotation about ω that fits best in the mean
        by mass; at a time t it is (1 − λ_r) |ω| t.
    way : float64 [k]
        How far the centre of mass has moved along ω, in m.
    off_axis : float64 [k]
        Distance of the centre of mass from the axis through it at t = 0, in m.
    deformation : float64 [k]
        The largest distance of a node from where the rotation puts it, over the radius of the body; zero to rounding
        along a path of relative equilibria.
    speed : float
        |ω| in rad/s.
    velocity : float
        Of the centre of mass along ω, in m/s.
    """

    t: Array
    lag: Array
    way: Array
    off_axis: Array
    deformation: Array
    speed: float
    velocity: float

    @property
    def angle(self) -> Array:
        """The angle [k] in rad by which the body has turned."""
        return self.speed * self.t - self.lag

    @property
    def time_lag(self) -> Array:
        """The time [k] in s by which the rotation is late."""
        return self.lag / self.speed

    @property
    def ahead(self) -> Array:
        """How far [k] in m the centre of mass is ahead of the exact motion, in its direction: (λ_t − 1) |v_c| t."""
        return np.copysign(1.0, self.velocity) * (self.way - self.velocity * self.t)

    @property
    def lambda_r(self) -> Array:
        """λ_r [k − 1] of eq. 4.17 between each two times: angle over |ω| Δt."""
        return 1.0 - np.diff(self.lag) / (self.speed * np.diff(self.t))

    @property
    def lambda_t(self) -> Array:
        """λ_t [k − 1] of eq. 4.17 between each two times: way over v_c Δt.

        Raises
        ------
        ValueError
            If the exact motion has no translation.
        """
        if self.velocity == 0.0:
            raise ValueError("lambda_t: this relative equilibrium has no translation.")
        return np.diff(self.way) / (self.velocity * np.diff(self.t))
