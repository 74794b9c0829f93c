"""Rigid bodies as four particles each, and the energy that keeps these in place."""

from __future__ import annotations

from typing import Annotated, final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.base.quantities import positive
from symplex.errors import InvalidSystem
from symplex.fem.assembly.nodes import Nodes, connectivity
from symplex.fem.assembly.pattern import Array
from symplex.fem.structures.quadratic_measures import QuadraticMeasures

# Where the four particles of a body are along its principal axes, in radii of gyration: at corners of a cube, so that
# sums over the particles of one, two, and the product of two different columns are zero.
CORNERS = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]])
_RIGHT_ANGLES = 1e-9  # by which products of axes may differ from those at right angles
_PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


@checked
@final
class Rigidity(QuadraticMeasures):
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

    def __init__(self, nodes: Nodes, radii: ArrayLike, mass: ArrayLike, frequency: ArrayLike):
        particles = connectivity("Rigidity", nodes)
        if particles.ndim != 2 or particles.shape[1] != 4:
            raise InvalidSystem(f"Rigidity: the nodes have shape {particles.shape}; expected [m, 4].")
        m = len(particles)
        self.radii = _positive("Rigidity: the radii", radii, (m, 3), "m")
        self.mass = _positive("Rigidity: the mass", mass, (m,), "kg")
        self.frequency = _positive("Rigidity: the frequency", frequency, (m,), "rad/s")
        squares, stiffness = self.radii**2, self.mass * self.frequency**2
        rest = [squares[:, k] if k == j else np.zeros(m) for k, j in _PAIRS]
        # Of k = l half of what the sum over all k and l has of the other pairs.
        c = [(0.5 if k == j else 1.0) * stiffness / (squares[:, k] + squares[:, j]) for k, j in _PAIRS]
        measures = [[(k, j, 1.0)] for k, j in _PAIRS]
        weights = np.tile(0.25 * CORNERS.T, (m, 1, 1))
        super().__init__(particles, weights, measures, np.stack(rest, axis=1), np.stack(c, axis=1))


@checked
def body_particles(
    mass: Annotated[float, positive("kg")], center: ArrayLike, radii: ArrayLike, axes: ArrayLike | None = None
) -> tuple[Array, Array]:
    """Return the four particles of a rigid body: a frame with its mass and inertia.

    Parameters
    ----------
    mass : float
        In kg.
    center : float64 [3]
        The centre of mass in m.
    radii : float64 [3]
        r_k = √(∫x_k² dm/m) in m along each principal axis; the moment of inertia about axis 1 is m (r₂² + r₃²).
    axes : float64 [3, 3], optional
        The principal axes as rows, at right angles and of length one; default: x, y and z.

    Returns
    -------
    points : float64 [4, 3]
        Positions in m.
    mass : float64 [4]
        In kg.

    Raises
    ------
    InvalidSystem
        If a radius is not positive, or axes are not at right angles.
    """
    radii = _positive("body_particles: the radii", np.asarray(radii, float), (3,), "m")
    rows, middle = np.eye(3) if axes is None else np.asarray(axes, float), np.asarray(center, float)
    if middle.shape != (3,) or not np.isfinite(middle).all():
        raise InvalidSystem(f"body_particles: center must be three finite numbers, got {center}.")
    if (
        rows.shape != (3, 3)
        or not np.isfinite(rows).all()
        or not np.allclose(rows @ rows.T, np.eye(3), atol=_RIGHT_ANGLES)
    ):
        raise InvalidSystem("body_particles: axes must be three rows of length one at right angles.")
    return middle + (CORNERS * radii) @ rows, np.full(4, mass / 4.0)


def _positive(what: str, values: ArrayLike, shape: tuple[int, ...], unit: str) -> Array:
    array = np.asarray(values, dtype=float)
    if array.ndim and array.shape != shape:
        raise InvalidSystem(f"{what} have shape {array.shape}, expected {shape}.")
    bad = array[~(np.isfinite(array) & (array > 0.0))]
    if bad.size:
        raise InvalidSystem(f"{what} must be positive; one is {bad.flat[0]} {unit}.")
    return np.array(np.broadcast_to(array, shape))
