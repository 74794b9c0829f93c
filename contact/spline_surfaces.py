"""Rigid obstacles whose surface is a smooth spline, as those of CAD: closest points by Newton's method, and contact."""

from __future__ import annotations

from math import factorial
from typing import Annotated, NamedTuple, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.base.arguments import checked, described
from symplex.base.quantities import positive, whole
from symplex.contact.obstacles import Obstacle
from symplex.contact.rigid import ObstacleContact, positive_stiffness
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.assembly.nodes import Nodes, distinct_nodes, node_pairs
from symplex.fem.assembly.pattern import Array
from symplex.fem.energies.energy import Invariance

_SAMPLES = 2  # of each span of the spline, of which the nearest begins Newton's method
_ROUND_OFF = 64.0 * np.finfo(float).eps  # of positions
_SMALL = 1e-9  # of positions, below which an increment is none
_STEPS, _WHOLE, _TOLERANCE = 80, 20, 1e-12  # of Newton's method; of a parameter's range
_NEAR = 1e-6  # of the extent, along the surface
_LONGEST = 0.1  # step in parameters, except where a place is farther beyond the edges than that


class _Patch(NamedTuple):
    """A surface S(u, v) and its derivatives [m, 3] at some parameters."""

    S: Array
    u: Array
    v: Array
    uu: Array
    uv: Array
    vv: Array


class Closest(NamedTuple):
    """What a surface is at the points nearest to some places.

    Attributes
    ----------
    points : float64 [m, 3]
        In m.
    gaps : float64 [m]
        g = (x − S)·n in m.
    normals : float64 [m, 3]
        n = ∂g/∂x, to the free side.
    curvatures : float64 [m, 3, 3]
        ∂²g/∂x² in 1/m.
    parameters : float64 [m, 2]
        (u, v), each 0 to 1 over the surface.
    """

    points: Array
    gaps: Array
    normals: Array
    curvatures: Array
    parameters: Array


@checked
@final
class SplineSurface(Obstacle):
    """What is behind a smooth surface: a tensor-product spline through a grid of points, bicubic by default.

    With the point S(u, v) nearest to x, found by Newton's method from the nearest of a fine grid, n = S_u × S_v/|…|,
    G_ab = S_a·S_b and L_ab = n·S_ab,

        g = (x − S)·n,    ∂g/∂x = n,    ∂²g/∂x² = −J G⁻¹ L (G − g L)⁻¹ Jᵀ,    J = [S_u, S_v].

    Beyond its edges the surface goes on along its tangents, so that g is defined and has a gradient everywhere. Nodes
    must stay nearer to it than its least radius of curvature, as where two of its points are as near, g has a kink.

    Parameters
    ----------
    points : float64 [r, c, 3]
        In m; S_u × S_v points to the free side, u along the first index, v along the second.
    degree : int, default 3
        Of the polynomials, 2 to 5; each way there must be more points than this.
    flip : bool, default False
        Whether the free side is the other one.

    Raises
    ------
    InvalidSystem
        If numbers do not fit, or the surface is not regular at a point: S_u × S_v is zero there.

    References
    ----------
    P. Wriggers, Computational Contact Mechanics (2006), section 4.1: closest points and their derivatives.
    """

    compiled = False
    points: Array
    extent: float  # in m

    def __init__(self, points: ArrayLike, degree: Annotated[int, whole(2, 5)] = 3, flip: bool = False):
        given = np.array(points, dtype=float)
        if given.ndim != 3 or given.shape[2] != 3 or min(given.shape[:2]) <= degree or not np.isfinite(given).all():
            raise InvalidSystem(
                f"SplineSurface: points must be finite, [r, c, 3] with more than {degree} rows and columns, got "
                f"{described(points)}."
            )
        from scipy.interpolate import NdBSpline, make_interp_spline  # which take long to import
        from scipy.spatial import KDTree

        u, v = (np.linspace(0.0, 1.0, n) for n in given.shape[:2])
        along = make_interp_spline(u, given, degree)
        across = make_interp_spline(v, along.c.swapaxes(0, 1), degree)
        spline = NdBSpline((along.t, across.t), across.c.swapaxes(0, 1).copy(), degree)
        given.setflags(write=False)
        # Of each piece between knots the coefficients [pu, pv, d + 1, d + 1, 3] of powers about its middle.
        ends = tuple(np.unique(t) for t in (along.t, across.t))
        middles = tuple(0.5 * (t[:-1] + t[1:]) for t in ends)
        at = np.stack(np.meshgrid(*middles, indexing="ij"), axis=-1)
        powers = range(degree + 1)
        pieces = [[spline(at, nu=(i, j)) / (factorial(i) * factorial(j)) for j in powers] for i in powers]
        self._ends, self._middles = ends, middles
        self._pieces = np.moveaxis(np.array(pieces), (0, 1), (2, 3)).copy()
        self.points, self.degree, self.flip, self.dim = given, degree, flip, 3
        self._grid = np.stack(
            np.meshgrid(*(np.linspace(0.0, 1.0, _SAMPLES * (n - 1) + 1) for n in given.shape[:2]), indexing="ij"),
            axis=-1,
        )
        flat = self._grid.reshape(-1, 2)
        patch = self._patch(flat)
        area = np.linalg.norm(np.cross(patch.u, patch.v), axis=1)
        if not area.min() > 1e-9 * area.max():
            at = ", ".join(f"{x:.6g}" for x in patch.S[int(area.argmin())])
            raise InvalidSystem(f"SplineSurface: the surface has no normal at ({at}) m, where points coincide.")
        self._tree = KDTree(patch.S)
        self.extent = float(np.ptp(given, axis=(0, 1)).max())

    def __repr__(self) -> str:
        rows, columns, _ = self.points.shape
        return f"SplineSurface({rows} × {columns} points, degree={self.degree}, flip={self.flip})"

    def sampled(self) -> Array:
        """Return points [p, q, 3] in m of the surface, twice as many each way as it is made of."""
        return self._patch(self._grid.reshape(-1, 2)).S.reshape(*self._grid.shape[:2], 3)

    def seen_from(self, center: Array, axes: Array) -> Self:
        """Return the surface in the coordinates y = axes · (x − center) of another frame."""
        return type(self)((self.points - center) @ axes.T, self.degree, self.flip)  # pyright: ignore

    def gap(self, x: Array) -> Array:
        """Return the gap g [m] of the points x [m, 3]."""
        return self.closest(x).gaps

    def closest(self, x: Array) -> Closest:
        """Return the nearest points of the surface to places x [m, 3] in m."""
        if np.shape(x)[1:] != (3,):
            raise InvalidSystem(f"SplineSurface: points have shape {np.shape(x)}, expected (m, 3).")
        places = np.asarray(x, dtype=float)
        if not len(places):
            return Closest(places, np.zeros(0), places, np.zeros((0, 3, 3)), np.zeros((0, 2)))
        with np.errstate(all="ignore"):
            ok = np.isfinite(places).all(axis=1)
            near = np.zeros(len(places), np.intp)
            near[ok] = self._tree.query(places[ok])[1]
            p = self._grid.reshape(-1, 2)[near]
            moving = np.flatnonzero(ok)
            for k in range(_STEPS):
                patch = self._patch(p[moving])
                r = places[moving] - patch.S
                slope = np.stack([(r * patch.u).sum(axis=1), (r * patch.v).sum(axis=1)], axis=1)
                metric, bent = _forms(patch, r)
                matrix = metric - bent
                # Where the distance is not convex, steps of Gauss and Newton, which are.
                convex = (matrix[:, 0, 0] > 0.0) & (np.linalg.det(matrix) > 1e-12 * np.linalg.det(metric))
                matrix = np.where(convex[:, None, None], matrix, metric)
                step = np.linalg.solve(matrix, slope[:, :, None])[:, :, 0]
                beyond = np.abs(p[moving] - np.clip(p[moving], 0.0, 1.0)).max(axis=1, keepdims=True)
                most = np.maximum(_LONGEST, beyond)
                step = np.clip(step, -most, most) * (1.0 if k < _WHOLE else 0.5)  # of what goes back and forth
                p[moving] += step
                moving = moving[np.abs(step).max(axis=1) > _TOLERANCE]
                if not len(moving):
                    break
            self._require_closest(places, p, moving)
            patch = self._patch(p)
            across = np.cross(patch.u, patch.v) * (-1.0 if self.flip else 1.0)
            n = across / np.linalg.norm(across, axis=1, keepdims=True)
            g = ((places - patch.S) * n).sum(axis=1)
            metric, bent = _forms(patch, n)
            J = np.stack([patch.u, patch.v], axis=2)
            turn = np.linalg.solve(metric - g[:, None, None] * bent, J.swapaxes(1, 2))
            H = -J @ np.linalg.solve(metric, bent @ turn)
        return Closest(patch.S, g, n, 0.5 * (H + H.swapaxes(1, 2)), p)

    def _require_closest(self, places: Array, p: Array, moving: NDArray[np.intp]) -> None:
        """Raise `StepFailed` if one of some places is not opposite to its point to the precision that matters."""
        patch = self._patch(p[moving])
        r = places[moving] - patch.S
        off = [(r * u).sum(axis=1) / np.linalg.norm(u, axis=1) for u in (patch.u, patch.v)]
        across = np.cross(patch.u, patch.v) * (-1.0 if self.flip else 1.0)
        # Of places farther off on the free side the gap does not matter.
        near = (r * across).sum(axis=1) < 0.25 * self.extent * np.linalg.norm(across, axis=1)
        far = near & (np.abs(off).max(axis=0) > _NEAR * self.extent)
        if far.any():
            at = ", ".join(f"{x:.6g}" for x in places[moving[np.argmax(far)]])
            raise StepFailed(
                f"SplineSurface: no nearest point to ({at}) m is found after {_STEPS} corrections. Try a smaller step, "
                "or a surface of which nodes stay nearer than its radius of curvature."
            )

    def _patch(self, p: Array) -> _Patch:
        """Return the surface at parameters [m, 2], beyond 0 … 1 along its tangents."""
        inside = np.clip(p, 0.0, 1.0)
        beyond = p - inside
        du, dv = beyond[:, :1], beyond[:, 1:]
        index, powers = [], []
        for axis in (0, 1):
            t = inside[:, axis]
            piece = np.clip(np.searchsorted(self._ends[axis], t, side="right") - 1, 0, len(self._middles[axis]) - 1)
            index.append(piece)
            powers.append(_powers(t - self._middles[axis][piece], self.degree))
        pieces = self._pieces[index[0], index[1]]
        across = [np.einsum("mj,mijc->mic", power, pieces) for power in powers[1]]

        def of(a: int, b: int) -> Array:
            return np.einsum("mi,mic->mc", powers[0][a], across[b])

        u, v, uv = of(1, 0), of(0, 1), of(1, 1)
        return _Patch(
            of(0, 0) + du * u + dv * v + du * dv * uv,
            u + dv * uv,
            v + du * uv,
            np.where(du == 0.0, of(2, 0) + dv * of(2, 1), 0.0),
            uv,
            np.where(dv == 0.0, of(0, 2) + du * of(1, 2), 0.0),
        )


def _powers(t: Array, degree: int) -> list[Array]:
    """Return the powers [m, d + 1] of t [m], and their first and second derivatives."""
    k = np.arange(degree + 1)
    first = np.where(k > 0, k, 0) * t[:, None] ** np.maximum(k - 1, 0)
    second = np.where(k > 1, k * (k - 1), 0) * t[:, None] ** np.maximum(k - 2, 0)
    return [t[:, None] ** k, first, second]


def _forms(patch: _Patch, r: Array) -> tuple[Array, Array]:
    """Return S_a·S_b and r·S_ab [m, 2, 2]."""
    uv = (patch.u * patch.v).sum(axis=1)
    metric = np.stack([(patch.u**2).sum(axis=1), uv, uv, (patch.v**2).sum(axis=1)], axis=1)
    across = (r * patch.uv).sum(axis=1)
    bent = np.stack([(r * patch.uu).sum(axis=1), across, across, (r * patch.vv).sum(axis=1)], axis=1)
    return metric.reshape(-1, 2, 2), bent.reshape(-1, 2, 2)


@checked
@final
class SplineContact(ObstacleContact):
    """Nodes that a smooth surface pushes out: φ = ½ k ⟨−g⟩² for each, as `RigidContact` of other obstacles.

    Closest points are found in NumPy, in tens of microseconds for each node. With a carrier the surface moves with that
    node, but does not turn; `MovingObstacleContact` takes such surfaces that turn.

    Parameters
    ----------
    nodes : int [m]
        The nodes that may touch; usually those of the boundary.
    obstacle : SplineSurface
    stiffness : float
        k in N/m.
    carrier : int, optional
        The node that carries the surface, whose place is then relative to it; default: it stands still.

    Raises
    ------
    InvalidSystem
        If a node is named twice.
    """

    obstacle: SplineSurface  # pyright: ignore[reportIncompatibleVariableOverride]

    def __init__(
        self,
        nodes: Nodes,
        obstacle: SplineSurface,
        stiffness: Annotated[float, positive("N/m")],
        carrier: int | None = None,
    ):
        self.obstacle, self.carrier = obstacle, carrier
        self.stiffness = positive_stiffness("SplineContact", stiffness)
        stencils = distinct_nodes("SplineContact", nodes)[:, None]
        if carrier is not None:
            stencils = node_pairs("SplineContact", np.column_stack([stencils, np.full(len(stencils), carrier)]))
            self.invariances: frozenset[Invariance] = frozenset({"translations"})
        self.nodes = stencils

    def value(self, x: Array) -> Array:
        """Return φ [m] in J at the positions x [m, k, 3] in m."""
        return 0.5 * self.stiffness * np.minimum(self._closest(x).gaps, 0.0) ** 2

    def gradient(self, x: Array) -> Array:
        """Return ∂φ/∂x [m, k, 3] in N at the positions x [m, k, 3] in m."""
        at = self._closest(x)
        f = (self.stiffness * np.minimum(at.gaps, 0.0))[:, None] * at.normals
        return self.shares(x)[:, :, None] * f[:, None]

    def hessian(self, x: Array) -> Array:
        """Return ∂²φ/∂x² [m, 3k, 3k] in N/m at the positions x [m, k, 3] in m."""
        at, signs = self._closest(x), self.shares(x)
        H = np.einsum("mi,mj->mij", at.normals, at.normals) + at.gaps[:, None, None] * at.curvatures
        H *= (self.stiffness * (at.gaps < 0.0))[:, None, None]
        k = x.shape[1]
        return np.einsum("ma,mb,mij->maibj", signs, signs, H).reshape(len(x), 3 * k, 3 * k)

    def discrete_gradient(self, x0: Array, x1: Array) -> Array:
        """Return DG [m, k, 3] in N from x0 to x1 [m, k, 3]: ξ G, ξ = Δφ/Δg and G·Δd = Δg.

        G is the normal at the middle of the increment Δd, corrected along it.
        """
        _, xi, G, _ = self._increment(x0, x1)
        return self.shares(x0)[:, :, None] * (xi[:, None] * G)[:, None]

    def discrete_hessian(self, x0: Array, x1: Array) -> Array:
        """Return ∂DG/∂x1 [m, 3k, 3k] in N/m from x0 to x1 [m, k, 3]."""
        end, xi, G, (rate, K) = self._increment(x0, x1)
        H = rate[:, None, None] * np.einsum("mi,mj->mij", G, end.normals) + xi[:, None, None] * K
        signs, k = self.shares(x0), x0.shape[1]
        return np.einsum("ma,mb,mij->maibj", signs, signs, H).reshape(len(H), 3 * k, 3 * k)

    def _increment(self, x0: Array, x1: Array) -> tuple[Closest, Array, Array, tuple[Array, Array]]:
        """Return what the surface is at the end, ξ [m], G [m, 3], and the derivatives [m] and [m, 3, 3] of both."""
        start, end = self._closest(x0), self._closest(x1)
        (d0, d1), k = (_relative(x0), _relative(x1)), self.stiffness
        g0, g1 = start.gaps, end.gaps
        m0, m1 = np.minimum(g0, 0.0), np.minimum(g1, 0.0)
        middle = self.obstacle.closest(0.5 * (d0 + d1))
        delta, change = d1 - d0, g1 - g0
        size = (delta**2).sum(axis=1)
        moves = size > (_SMALL * np.maximum(np.abs(d1).max(axis=1), self.obstacle.extent)) ** 2
        size = np.where(moves, size, 1.0)
        left = change - (middle.normals * delta).sum(axis=1)
        # Of third order in the increment; where that is round-off it would be noise over a small number.
        known = np.abs(left) > _ROUND_OFF * np.maximum(np.abs(d0), np.abs(d1)).max(axis=1)
        left = np.where(moves & known, left, 0.0)
        along = delta / size[:, None]
        G = middle.normals + left[:, None] * along
        far = np.abs(change) > _SMALL * np.abs(middle.gaps) + np.finfo(float).tiny
        quotient = np.where(far, change, 1.0)
        xi = np.where(far, 0.5 * k * (m0 + m1) * ((m1 - m0) / quotient), k * np.minimum(middle.gaps, 0.0))
        rate = np.where(far, (k * m1 - xi) / quotient, 0.5 * k * (middle.gaps < 0.0))
        rate = np.where((g0 < 0.0) & (g1 < 0.0), 0.5 * k, rate)
        half = 0.5 * middle.curvatures
        turn = end.normals - middle.normals - np.einsum("mij,mi->mj", half, delta)
        K = half + np.einsum("mi,mj->mij", along, np.where((moves & known)[:, None], turn, 0.0))
        K += (left / size)[:, None, None] * (np.eye(3) - 2.0 * np.einsum("mi,mj->mij", delta, along))
        return end, xi, G, (rate, K)

    def contact_stiffness_bound(self, n_nodes: int) -> Array:
        """Return k in N/m for each node [n_nodes] that may touch, 0 for the others; a carrier has it of all."""
        latent = np.zeros(n_nodes)
        latent[self.nodes[:, 0]] = self.stiffness * (1.0 if self.carrier is None else 2.0)
        if self.carrier is not None:
            latent[self.carrier] = 2.0 * self.stiffness * len(self.nodes)
        return latent

    def gaps(self, q: Array) -> Array:
        """Return the gaps g [m] of the contact nodes at the nodal positions q [n, 3]; negative: inside."""
        return self._closest(q[self.nodes]).gaps

    def shares(self, x: Array) -> Array:
        """Return 1 for the node, and −1 for its carrier if there is one [m, 1 or 2]."""
        return np.tile([1.0, -1.0][: x.shape[1]], (len(x), 1))

    def _closest(self, x: Array) -> Closest:
        return self.obstacle.closest(_relative(x))


def _relative(x: Array) -> Array:
    """Return where nodes are as seen from their carriers, if they have one."""
    return x[:, 0] if x.shape[1] == 1 else x[:, 0] - x[:, 1]
