"""Penalty contact of nodes with a rigid obstacle that moves and turns with four nodes."""

from __future__ import annotations

from typing import final

import numpy as np

from symplex.base.arguments import checked
from symplex.contact.obstacles import Obstacle
from symplex.contact.rigid import ObstacleContact, positive_stiffness
from symplex.contact.spline_surfaces import SplineContact, SplineSurface
from symplex.errors import InvalidSystem
from symplex.fem.assembly.nodes import Nodes, connectivity, distinct_nodes
from symplex.fem.energies.energy import RIGID, Array, OptionalFunction
from symplex.fem.mass_properties import MassProperties
from symplex.fem.measures.composition import MeasureEnergy
from symplex.fem.measures.relative import DATA, ORIGIN, rotated
from symplex.fem.structures.rigidity import CORNERS

# Of the nodes of a stencil: p_k = Σ_a A_ka x_a, the axes of the frame times their radii of gyration, and the place of
# the node as seen from the centre, d = Σ_a D_a x_a.
_AXES = np.column_stack([np.zeros(3), 0.25 * CORNERS.T])
_ARM = np.array([1.0, -0.25, -0.25, -0.25, -0.25])
_BEND = _AXES[:, :, None] * _ARM + _ARM[:, None] * _AXES[:, None]  # ∂²(p_k·d)/∂x_a∂x_b [3, 5, 5]
# 1 + |η|² at most, η_k = y_k/r_k the place on the surface of a solid of even density, r_k its radii of gyration: 6 for
# a ball, 10 at the corners of a box, between them for a capsule.
_REACH = 10.0


@final
class _Seen(MeasureEnergy):
    """The penalty φ(y) of an obstacle for places y [m, 1, 3] as they are seen from its frame."""

    def __init__(self, count: int, shape: Array, penalty: tuple[int, float, float]):
        self._compose(np.arange(count, dtype=np.int32)[:, None], shape, penalty, 3)


@checked
@final
class MovingObstacleContact(ObstacleContact):
    """Nodes that a rigid obstacle pushes out which moves and turns with a frame: φ = ½ k ⟨−g⟩² for each.

    The frame is the four particles of a rigid body (`symplex.fem.MassProperties`). With their centre c and
    p_k = ¼ Σ_a s_ak x_a, the axes e_k of the body times its radii of gyration r_k, a node is seen at

        y_k = p_k·(x − c)/r_k,    k = 1, 2, 3,

    where the obstacle is at rest, g(y). These are quadratic in positions, so that their increments are
    Δy_k = [p̄_k·Δ(x − c) + Δp_k·(x̄ − c̄)]/r_k, with bars for means of both ends: with the exact discrete gradient of
    φ(y) the one of all five nodes is exact. As y does not change when all move as one body, forces sum to zero, and so
    do moments at the middle of a step: with energy–momentum the obstacle and what it hits share energy and both momenta
    to round-off. Where the motion of the frame is given, its work is exact in the same way.

    Parameters
    ----------
    nodes : int [m]
        The nodes that may touch; usually those of the boundary.
    obstacle : Obstacle
        As it is where the frame is at rest.
    stiffness : float
        k in N/m (if the gap is a distance).
    frame : int [4]
        The nodes of the frame, at ``properties.particles`` where the obstacle is at rest; kept in shape by a
        `Rigidity`, by rods, or by supports that hold or move them.
    properties : MassProperties
        Of the obstacle at rest. Where its motion is given, any.

    Raises
    ------
    InvalidSystem
        If a node is named twice, the frame has not four nodes, the obstacle is not in space, or the stiffness is not
        positive.
    """

    invariances = RIGID

    def __init__(self, nodes: Nodes, obstacle: Obstacle, stiffness: float, frame: Nodes, properties: MassProperties):
        if obstacle.dim != 3:
            raise InvalidSystem(
                f"MovingObstacleContact: the obstacle is in {obstacle.dim} dimensions; frames are in space."
            )
        self.obstacle, self.properties = obstacle, properties
        self.stiffness = positive_stiffness("MovingObstacleContact", stiffness)
        self.frame, touching = (
            distinct_nodes("MovingObstacleContact: the frame", frame),
            distinct_nodes("MovingObstacleContact", nodes),
        )
        if len(self.frame) != 4:
            raise InvalidSystem(
                f"MovingObstacleContact: the frame has {len(self.frame)} nodes; expected the 4 particles."
            )
        if (shared := np.intersect1d(touching, self.frame)).size:
            raise InvalidSystem(
                f"MovingObstacleContact: node {shared[0]} is of the frame and may touch the obstacle as well."
            )
        stencils = np.column_stack([touching, np.tile(self.frame, (len(touching), 1))])
        self.nodes = connectivity("MovingObstacleContact", stencils.reshape(-1, 5))
        self._smooth: SplineSurface | None = None
        if isinstance(obstacle, SplineSurface):
            self._smooth = obstacle.seen_from(properties.center, properties.axes)
        else:
            measure = obstacle.measure.copy()
            measure[ORIGIN:DATA] -= properties.center
            law, length = obstacle.law
            self._shape, self._penalty = rotated(measure, properties.axes), (law, self.stiffness, length)
        self._radii = properties.radii

    def has(self, optional: OptionalFunction) -> bool:
        """Return whether it has an optional method: third derivatives of smooth surfaces are not known."""
        return not (optional == "third" and self._smooth is not None) and super().has(optional)

    # -- local functions --------------------------------------------------------------------------------------

    def value(self, x: Array) -> Array:
        """Return φ [m] in J at the positions x [m, 5, 3] in m."""
        return self._seen(len(x)).value(self._places(x))

    def gradient(self, x: Array) -> Array:
        """Return ∂φ/∂x [m, 5, 3] in N at the positions x [m, 5, 3] in m."""
        return self._pulled(x, self._slope(x))

    def hessian(self, x: Array) -> Array:
        """Return ∂²φ/∂x² [m, 15, 15] in N/m at the positions x [m, 5, 3] in m."""
        J = self._rates(x)
        return J.swapaxes(1, 2) @ self._curvature(x) @ J + _of_each_axis(self._bends(self._slope(x)))

    def third(self, x: Array, a: Array) -> Array:
        """Return ∇³φ[a, a] [m, 5, 3] at x along a [m, 5, 3]."""
        along, twice = self._changes(x, a), self._changes(a, a)
        H, y = self._curvature(x), self._places(x)
        first = np.einsum("mkl,ml->mk", H, along)
        second = self._seen(len(x)).third(y, along[:, None])[:, 0] + np.einsum("mkl,ml->mk", H, twice)
        return 2.0 * self._pulled(a, first) + self._pulled(x, second)

    def discrete_gradient(self, x0: Array, x1: Array) -> Array:
        """Return DG [m, 5, 3] in N from x0 to x1: that of φ(y), by the exact increments of y."""
        slope = self._seen(len(x0)).discrete_gradient(self._places(x0), self._places(x1))[:, 0]
        return self._pulled(0.5 * (x0 + x1), slope)

    def discrete_hessian(self, x0: Array, x1: Array) -> Array:
        """Return ∂DG/∂x1 [m, 15, 15] in N/m from x0 to x1 [m, 5, 3]."""
        y0, y1, seen = self._places(x0), self._places(x1), self._seen(len(x0))
        mean = self._rates(0.5 * (x0 + x1)).swapaxes(1, 2)
        bends = _of_each_axis(self._bends(seen.discrete_gradient(y0, y1)[:, 0]))
        return mean @ seen.discrete_hessian(y0, y1) @ self._rates(x1) + 0.5 * bends

    def secant(self, x: Array) -> Array:
        """Return 𝓕 [m, 5, 5] in N/m: y is quadratic in positions."""
        return self._bends(self._slope(x))

    def secant_rate(self, x: Array, v: Array) -> Array:
        """Return 𝓕̇ [m, 5, 5] in N/(m s) along velocities v [m, 5, 3] in m/s."""
        return self._bends(np.einsum("mkl,ml->mk", self._curvature(x), self._changes(x, v)))

    def _seen(self, count: int) -> _Seen | SplineContact:
        if self._smooth is not None:
            return SplineContact(np.arange(count), self._smooth, self.stiffness)
        return _Seen(count, self._shape, self._penalty)

    # -- y and its derivatives --------------------------------------------------------------------------------

    def _places(self, x: Array) -> Array:
        """Return y [m, 1, 3] in m."""
        axes, arm = _seen(x)
        return np.einsum("mki,mi->mk", axes, arm)[:, None] / self._radii

    def _changes(self, x: Array, v: Array) -> Array:
        """Return the derivative [m, 3] of y at x along v [m, 5, 3]."""
        (axes, arm), (turn, way) = _seen(x), _seen(v)
        return (np.einsum("mki,mi->mk", axes, way) + np.einsum("mki,mi->mk", turn, arm)) / self._radii

    def _rates(self, x: Array) -> Array:
        """Return ∂y/∂x [m, 3, 15]."""
        axes, arm = _seen(x)
        rates = axes[:, :, None] * _ARM[:, None] + _AXES[:, :, None] * arm[:, None, None]
        return (rates / self._radii[:, None, None]).reshape(len(x), 3, 15)

    def _pulled(self, x: Array, slope: Array) -> Array:
        """Return Σ_k G_k ∂y_k/∂x [m, 5, 3] at x for G [m, 3]."""
        return self._bends(slope) @ x

    def _bends(self, slope: Array) -> Array:
        """Return Σ_k G_k ∂²y_k/∂x_a∂x_b [m, 5, 5], the same along each axis."""
        return np.einsum("mk,kab->mab", slope / self._radii, _BEND)

    def _slope(self, x: Array) -> Array:
        """Return ∂φ/∂y [m, 3] in N."""
        return self._seen(len(x)).gradient(self._places(x))[:, 0]

    def _curvature(self, x: Array) -> Array:
        """Return ∂²φ/∂y² [m, 3, 3] in N/m."""
        return self._seen(len(x)).hessian(self._places(x))

    # -- assembled forms --------------------------------------------------------------------------------------

    def contact_stiffness_bound(self, n_nodes: int) -> Array:
        """Return per node [n_nodes] in N/m what contact of all nodes at a time may add to its stiffness.

        ω² of nodes m and a body M is at most k/m + N k (1 + |η|²)/M, η_k = y_k/r_k; asked for is what each has alone.
        The bound of |η| is that of balls, boxes and capsules of even density.
        """
        latent, stiffness = np.zeros(n_nodes), self.stiffness * self.obstacle.slope**2
        latent[self.nodes[:, 0]] = 2.0 * stiffness
        latent[self.frame] = 0.5 * _REACH * stiffness * len(self.nodes)
        return latent

    # -- for output, and for friction ---------------------------------------------------------------------------

    def gaps(self, q: Array) -> Array:
        """Return the gaps g [m] of the contact nodes at the nodal positions q [n, 3]; negative: inside."""
        axes, center = _AXES[:, 1:] @ q[self.frame], q[self.frame].mean(axis=0)
        with np.errstate(over="ignore", invalid="ignore"):  # steps that are refused for it come here, too
            y = (q[self.nodes[:, 0]] - center) @ axes.T / self._radii
            return self.obstacle.gap(self.properties.center + y @ self.properties.axes)

    def shares(self, x: Array) -> Array:
        """Return 1 for the node, and less the weights [m, 5] with which its place in the obstacle follows the frame."""
        axes, arm = _seen(x)
        along = np.linalg.solve(axes.swapaxes(1, 2), arm[:, :, None])[:, :, 0]  # arm = Σ_k along_k p_k
        return np.column_stack([np.ones(len(x)), -0.25 * (1.0 + along @ CORNERS.T)]).astype(float)


def _seen(x: Array) -> tuple[Array, Array]:
    """Return p_k [m, 3, 3] and d [m, 3], or their changes, of positions relative to the first node of the frame."""
    relative = x - x[:, 1:2]
    return _AXES @ relative, _ARM @ relative


def _of_each_axis(values: Array) -> Array:
    """Return blocks [m, 15, 15] of values [m, 5, 5] that are the same along each axis."""
    return np.einsum("mab,ij->maibj", values, np.eye(3)).reshape(len(values), 15, 15)
