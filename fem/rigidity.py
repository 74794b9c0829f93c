"""Rigid bodies as four particles each, and the energy that keeps these in place."""

from __future__ import annotations

from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem import rigidity_loops as loops
from symplex.fem.energy import RIGID, Array
from symplex.fem.forms import kernels_of
from symplex.fem.kernel_energy import KernelEnergy
from symplex.fem.nodes import Nodes, connectivity

# Where the four particles of a body are along its principal axes, in radii of gyration: at corners of a cube, so that
# sums over the particles of one, two, and the product of two different columns are zero.
CORNERS = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]])
_QUARTER = 0.25 * CORNERS


@checked
@final
class Rigidity(KernelEnergy):
    """Bodies of four particles that are almost rigid: all of their elastic frequencies are equal.

    With p_k = ¼ Σ_a s_ak x_a, the vectors along the axes k of a body (`CORNERS` are the signs s_ak), at rest of the
    lengths r_k and at right angles to each other,

        φ = ¼ Σ_kl c_kl g_kl²,    g_kl = p_k · p_l − r_k² δ_kl,    c_kl = m ω²/(r_k² + r_l²).

    It is the potential of orthogonality of affine bodies (Lan et al., "Affine body dynamics", 2022, eq. 6), in which
    the weights c_kl give stretch and shear along and between all axes one natural frequency ω. Six bars between the
    particles have some that are lower by the ratio of the lengths of the body.
    It is quadratic in scalar products of positions, so that the discrete gradient takes the mean of g at both ends.

    A body that spins at a rate Ω is wider across its axis by a part of about (Ω/ω)².

    Parameters
    ----------
    nodes : int [m, 4]
        The particles of each body, in the order of `CORNERS`.
    radii : float64 [m, 3]
        r_k in m.
    mass : float or float64 [m]
        m in kg, of all four particles together.
    frequency : float or float64 [m]
        ω in rad/s. With ω = 1/dt, explicit methods are at half of their stable step, 2/ω.

    Raises
    ------
    InvalidSystem
        If a number is not positive, or shapes do not match.
    """

    invariances = RIGID
    kernels: ClassVar = kernels_of(loops)

    def __init__(self, nodes: Nodes, radii: ArrayLike, mass: ArrayLike, frequency: ArrayLike):
        self.nodes = connectivity("Rigidity", nodes)
        if self.nodes.ndim != 2 or self.nodes.shape[1] != 4:
            raise InvalidSystem(f"Rigidity: the nodes have shape {self.nodes.shape}; expected [m, 4].")
        m = len(self.nodes)
        self.radii = _positive("the radii", radii, (m, 3), "m")
        self.mass = _positive("the mass", mass, (m,), "kg")
        self.frequency = _positive("the frequency", frequency, (m,), "rad/s")
        squares = self.radii**2
        self._rest = squares[:, :, None] * np.eye(3)
        stiffness = self.mass * self.frequency**2
        self._c = stiffness[:, None, None] / (squares[:, :, None] + squares[:, None, :])
        self._compose(3, loops.RigidityRecord(nodes=self.nodes, radii=self.radii, stiffness=stiffness))

    def value(self, x: Array) -> Array:
        """Return φ [m] in J at the positions x [m, 4, 3] in m."""
        p = _axes(x)
        return 0.25 * np.sum(self._c * (p @ p.swapaxes(1, 2) - self._rest) ** 2, axis=(1, 2))

    def increment_gradient(self, x: Array, compensation: Array, dx: Array) -> Array:
        """Return the discrete gradient [m, 4, 3] in N from x + compensation to x + compensation + Δx."""
        p0, dp = _axes(x) + _axes(compensation), _axes(dx)
        mean = 0.5 * (self._stress(p0) + self._stress(p0 + dp))
        return _QUARTER @ (mean @ (p0 + 0.5 * dp))

    def mean_gradient(self, x0: Array, x1: Array) -> Array:
        """Return the gradient [m, 4, 3] in N at mean strains: the discrete gradient, as φ is quadratic in them."""
        return self.discrete_gradient(x0, x1)

    def secant(self, x: Array) -> Array:
        """Return 𝓕 [m, 4, 4] in N/m: 1/16 Σ_kl s_ak s_bl σ_kl."""
        return _between_particles(self._stress(_axes(x)))

    def secant_rate(self, x: Array, v: Array) -> Array:
        """Return 𝓕̇ [m, 4, 4] in N/(m s) along velocities v [m, 4, 3] in m/s."""
        rate = _axes(v) @ _axes(x).swapaxes(1, 2)
        return _between_particles(self._c * (rate + rate.swapaxes(1, 2)))

    def local_value(self, stencil: int, x: Array) -> float:
        """Return φ in J of one body at the positions x [4, 3] in m."""
        p = _QUARTER.T @ (x - x[0])
        return 0.25 * float(np.sum(self._c[stencil] * (p @ p.T - self._rest[stencil]) ** 2))

    def _stress(self, p: Array) -> Array:
        """Return σ_kl = c_kl g_kl [m, 3, 3]."""
        return self._c * (p @ p.swapaxes(1, 2) - self._rest)


def _axes(x: Array) -> Array:
    """Return p_k [m, 3, 3] in m, of positions relative to the first: what their sum has is not needed."""
    return _QUARTER.T @ (x - x[:, :1])


def _between_particles(stress: Array) -> Array:
    matrix = _QUARTER @ stress @ _QUARTER.T
    return 0.5 * (matrix + matrix.swapaxes(1, 2))


def _positive(what: str, values: ArrayLike, shape: tuple[int, ...], unit: str) -> Array:
    array = np.asarray(values, dtype=float)
    if array.ndim and array.shape != shape:
        raise InvalidSystem(f"Rigidity: {what} have shape {array.shape}, expected {shape}.")
    bad = array[~(np.isfinite(array) & (array > 0.0))]
    if bad.size:
        raise InvalidSystem(f"Rigidity: {what} must be positive; one is {bad.flat[0]} {unit}.")
    return np.array(np.broadcast_to(array, shape))
