"""A chain of rods of no mass between masses that hang from a support, for double_pendulum.py and chain.py.

Tao and Owhadi, "Variational and linearly-implicit integrators, with applications" (2014), sections 4.1 and 4.2. All
masses are 1, gravity is 1 and points down: V = +Σ y (as printed, with a minus, the pendulum falls upwards). Node 0 is
the support.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp

import symplex as sx

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Motion:
    """A motion at given times [k]: positions and velocities [k, n + 1, 2], and tensions [k, n] in N."""

    t: Array
    q: Array
    v: Array
    tensions: Array


class HangingRods:
    """Masses at given positions at rest, each hung by a rod from the one before.

    Parameters
    ----------
    masses : float64 [n, 2]
        Their positions.
    """

    def __init__(self, masses: ArrayLike):
        self.q = np.vstack([np.zeros(2), np.asarray(masses, dtype=float)])
        n = len(self.q) - 1
        self.pairs = np.column_stack([np.arange(n), np.arange(1, n + 1)])
        self.rods = sx.measures.RigidBars.between(self.q, self.pairs)
        self.lengths = self.rods.length
        self.constraints = {"rods": self.rods}
        self.fixed = np.zeros(self.q.shape, bool)
        self.fixed[0] = True
        mass = np.ones(n + 1)
        self.energies = {"weight": sx.Gravity(mass, (0.0, -1.0))}
        self.system = sx.System(mass, self.energies, dim=2, fixed=self.fixed)
        self.start = self.system.state(self.q)

    def penalty(self, omega: float) -> sx.Penalty:
        """Return the paper's ½ω² Σ (|d|² − L²)²."""
        return sx.Penalty(self.rods, 4.0 * self.lengths**2 * omega**2)

    def penalised(self, omega: float) -> sx.System:
        """Return the system with penalties in the place of the rods."""
        energies = self.energies | {"rods": self.penalty(omega)}
        return sx.System(np.ones(len(self.q)), energies, dim=2, fixed=self.fixed)

    def constraint_values(self, q: Array) -> Array:
        """Return the paper's g = |d|² − L² [k, n] at positions [k, n + 1, 2]."""
        return np.sum(np.diff(q, axis=1) ** 2, axis=2) - self.lengths**2

    def exact(self, times: Array) -> Motion:
        """Return the motion from rest by the angles of the rods with the vertical, integrated to 1e-12.

        Σ_j M_ij L_i L_j (cos(θ_i − θ_j) θ̈_j + sin(θ_i − θ_j) θ̇_j²) + M_ii L_i sin θ_i = 0, where M_ij is the mass below
        the rods i and j.
        """
        n, lengths = len(self.lengths), self.lengths
        below = n - np.maximum(*np.indices((n, n)))
        inertia = below * np.outer(lengths, lengths)

        def accelerations(angles: Array, rates: Array) -> Array:
            difference = angles[:, None] - angles[None]
            right = -(inertia * np.sin(difference)) @ rates**2 - below.diagonal() * lengths * np.sin(angles)
            return np.linalg.solve(inertia * np.cos(difference), right)

        def rate(_, y: Array) -> Array:
            return np.concatenate([y[n:], accelerations(y[:n], y[n:])])

        d = np.diff(self.q, axis=0)
        y0 = np.concatenate([np.arctan2(d[:, 0], -d[:, 1]), np.zeros(n)])
        y = solve_ivp(rate, (times[0], times[-1]), y0, method="DOP853", t_eval=times, rtol=1e-12, atol=1e-13).y.T
        angles, rates = y[:, :n], y[:, n:]
        turned = np.array([accelerations(*moment) for moment in zip(angles, rates, strict=True)])
        along = np.stack([np.sin(angles), -np.cos(angles)], axis=2)
        across = np.stack([np.cos(angles), np.sin(angles)], axis=2)
        each = lengths[:, None]
        a = np.cumsum(each * (turned[..., None] * across - rates[..., None] ** 2 * along), axis=1)
        # What hangs below a rod moves by its pull and its weight.
        hanging = np.cumsum((a + np.array([0.0, 1.0]))[:, ::-1], axis=1)[:, ::-1]
        return Motion(
            times,
            _with_support(np.cumsum(each * along, axis=1)),
            _with_support(np.cumsum(each * rates[..., None] * across, axis=1)),
            -np.einsum("kni,kni->kn", hanging, along),
        )

    def follow(self, method: sx.constraints.Shake | sx.Rattle, times: Array) -> Motion:
        """Return the motion by SHAKE or RATTLE through times on its grid, with its tensions."""
        motion = method.start(self.system, self.start)
        states, tensions = [], []
        for t in times:
            states.append(motion.advance(t))
            tensions.append(self.rods.tensions(motion.multipliers()["rods"]))
        q, v = (np.array([getattr(state, name) for state in states]) for name in "qv")
        return Motion(times, q, v, np.array(tensions))


def _with_support(values: Array) -> Array:
    """Return values [k, n, 2] with a row of zeros for the support."""
    return np.concatenate([np.zeros((len(values), 1, 2)), values], axis=1)
