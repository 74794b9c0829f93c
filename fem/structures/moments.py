"""Moments on frames, as forces of their particles."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.actions.histories import History, factor_of
from symplex.fem.assembly.nodes import Nodes, connectivity, require_nodes
from symplex.fem.assembly.pattern import Array
from symplex.fem.energies.differentiable_load import DifferentiableLoad
from symplex.fem.structures.frames import inertia_of


@checked
@final
class Moment(DifferentiableLoad):
    """Moments on frames that keep their directions, μ(t) = factor(t) · moment.

    On the particles of masses m and arms ρ about the centre of mass they are f = m (J⁻¹ μ) × ρ, with the inertia J: the
    forces of a rigid motion, without resultant; on two particles that are Δ apart f = ± μ × Δ/Δ². They do the work μ·θ
    of small rotations θ and have no potential.

    Parameters
    ----------
    particles : int [k, 4] or [k, 2]
        Those of each frame; of two the part of the moment along their line does nothing.
    mass : float64 [n]
        Of all particles of the system in kg.
    moment : float64 [3] or [k, 3]
        In N m.
    history : float, callable or (times, factors)
        The factor: constant, a function of t in s, or a table that is interpolated linearly.

    Raises
    ------
    InvalidSystem
        If shapes do not match, numbers are not finite, or particles have no mass.
    """

    def __init__(self, particles: Nodes, mass: Array, moment: ArrayLike, history: History = 1.0):
        self.nodes = connectivity("Moment", particles)
        if self.nodes.ndim != 2 or self.nodes.shape[1] not in (2, 4):
            raise InvalidSystem(f"Moment: particles must have shape (k, 4) or (k, 2), got {self.nodes.shape}.")
        require_nodes("Moment", self.nodes, len(mass))
        if any(len(set(row)) < len(row) for row in self.nodes.tolist()):
            raise InvalidSystem("Moment: the particles of a frame must be different ones.")
        given, shape = np.asarray(moment, dtype=float), (len(self.nodes), 3)
        if given.shape not in ((3,), shape) or not np.isfinite(given).all():
            raise InvalidSystem(f"Moment: moment must be finite, of shape (3,) or {shape}, got {given.shape}.")
        self.moment, self.factor = np.array(np.broadcast_to(given, shape)), factor_of(history)
        self._mass = np.array(mass, dtype=float)[self.nodes]
        if not (np.isfinite(self._mass) & (self._mass > 0.0)).all():
            raise InvalidSystem("Moment: the masses of particles must be positive and finite.")

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return the nodal forces [n, 3] in N at the time t in s and positions q [n, 3]."""
        out, x = np.zeros_like(q), q[self.nodes]
        if x.shape[1] == 2:
            force = _couple(self.factor(t) * self.moment, x[:, 1] - x[:, 0])
            forces = np.stack([-force, force], axis=1)
        else:
            arms, omega, _ = self._motion(t, x)
            forces = self._mass[:, :, None] * np.cross(omega[:, None], arms)
        np.add.at(out, self.nodes, forces)
        return out

    def derivatives(self, t: float, x: Array, v: Array) -> tuple[Array, Array]:
        """Return ∂f/∂x [k, 12, 12] or [k, 6, 6] in N/m at gathered positions x [k, 4, 3] or [k, 2, 3], and zeros.

        J δω = Σ m (ω × ρ) × δρ − m ρ × (ω × δρ) for changes δρ of arms, and δf = m (ω × δρ + δω × ρ).
        """
        if x.shape[1] == 2:
            moment, apart = self.factor(t) * self.moment, x[:, 1] - x[:, 0]
            square = (apart**2).sum(axis=1)[:, None, None]
            force = _couple(moment, apart)
            rate = (_cross(moment) - 2.0 * np.einsum("ki,kj->kij", force, apart)) / square
            slope = np.concatenate(
                [np.concatenate([rate, -rate], axis=2), np.concatenate([-rate, rate], axis=2)], axis=1
            )
            return slope, np.zeros_like(slope)
        arms, omega, inertia = self._motion(t, x)
        k, mass = len(arms), self._mass
        arm, turn = _cross(arms), _cross(omega)[:, None]
        by_arm = mass[:, :, None, None] * (_cross(np.cross(omega[:, None], arms)) - arm @ turn)
        rate = np.linalg.solve(inertia[:, None], by_arm)  # ∂ω/∂ρ_b
        slope = -(mass[:, :, None, None] * arm)[:, :, None] @ rate[:, None]
        slope[:, range(4), range(4)] += mass[:, :, None, None] * turn
        mean = np.einsum("kabij->kaij", slope)[:, :, None] * (mass / mass.sum(axis=1)[:, None])[:, None, :, None, None]
        slope = (slope - mean).transpose(0, 1, 3, 2, 4).reshape(k, 12, 12)
        return slope, np.zeros_like(slope)

    def _motion(self, t: float, x: Array) -> tuple[Array, Array, Array]:
        """Return arms [k, 4, 3] in m, J⁻¹ μ [k, 3] in 1/s² and J [k, 3, 3] in kg m²."""
        mass, x = self._mass, x - x[:, :1]
        arms = x - np.einsum("ka,kai->ki", mass, x)[:, None] / mass.sum(axis=1)[:, None, None]
        second = np.einsum("ka,kai,kaj->kij", mass, arms, arms)
        inertia = inertia_of(second)
        omega = np.linalg.solve(inertia, (self.factor(t) * self.moment)[:, :, None])[:, :, 0]
        return arms, np.asarray(omega, float), inertia


def _couple(moment: Array, apart: Array) -> Array:
    """Return the force [k, 3] at one end of lines [k, 3], whose negative at the other end makes moments [k, 3]."""
    return np.asarray(np.cross(moment, apart), float) / (apart**2).sum(axis=1)[:, None]


def _cross(vectors: Array) -> Array:
    """Return the matrices [..., 3, 3] of u → vectors × u."""
    x, y, z = np.moveaxis(vectors, -1, 0)
    zero = np.zeros_like(x)
    return np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1).reshape(*vectors.shape, 3)
