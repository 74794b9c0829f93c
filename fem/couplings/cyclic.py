"""Cyclic symmetry: one sector of a structure, whose other sectors move as it does, turned about an axis."""

from __future__ import annotations

from typing import Annotated, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.base.arguments import checked, described
from symplex.base.quantities import positive, whole
from symplex.base.sparse import sp
from symplex.errors import InvalidSystem
from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.directions import rotation_matrix, unit_vector
from symplex.fem.assembly.nodes import Nodes, distinct_nodes, require_nodes
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.couplings.equations import LinearConstraints
from symplex.fem.couplings.ties import feet

_NEAR = 1e-6  # of the size of the sector: how far nodes of both sides may be apart by default
_ON_AXIS = 1e-9  # of the size of the sector
_ZERO = 1e-12  # of factors of equations, which are at most 2
MOST_SECTORS = 10_000


@checked
@final
class CyclicSymmetry(Copyable):
    """One of N equal sectors: the nodes of its high side move as points of its low side, u_h = e^{inα} R Σ w u_l.

    R is the rotation by the angle α of a sector about the axis, n the nodal diameter: 0 where all sectors move alike,
    as in motions and statics. Nodes of both sides are at the same places but for R, or those of the high side are on
    faces of the low one.

    Parameters
    ----------
    points : float64 [n, 3]
        Positions in m at rest.
    low, high : int [l], [h]
        The nodes of both sides. Those on the axis are in both.
    sectors : int
        N.
    axis : float64 [3], default (0, 0, 1)
    point : float64 [3], default (0, 0, 0)
        Of the axis, in m.
    triangles : int [f, 3], optional
        The faces of the low side, for sides whose nodes are not at the same places.
    tolerance : float, optional
        The largest gap in m between both; default: 1e-6 of the size of the sector.

    Attributes
    ----------
    angle : float
        From the low side to the high one, in rad: ±2π/N.
    rotation : float64 [3, 3]
        R.
    low, nodes : int32 [l], [h]
        Those of the low side, and those of the high side, which follow.
    triangles : int32 [f, 3], optional
    weights : sparse [h, n]
        w.

    Raises
    ------
    InvalidSystem
        If there are no nodes, or a node of the high side is farther from the low side than the tolerance.
    """

    def __init__(
        self,
        points: Array,
        low: Nodes,
        high: Nodes,
        sectors: Annotated[int, whole(2, MOST_SECTORS)],
        *,
        axis: ArrayLike = (0.0, 0.0, 1.0),
        point: ArrayLike = (0.0, 0.0, 0.0),
        triangles: ArrayLike | None = None,
        tolerance: Annotated[float | None, positive("m")] = None,
    ):
        x, owner = np.asarray(points, float), "CyclicSymmetry"
        if x.ndim != 2 or x.shape[1] != 3 or not np.isfinite(x).all():
            raise InvalidSystem(f"{owner}: points must be finite, [n, 3]; their shape is {x.shape}.")
        sides = distinct_nodes(owner, low), distinct_nodes(owner, high)
        for side in sides:
            require_nodes(owner, side, len(x))
            if not len(side):
                raise InvalidSystem(f"{owner}: both sides need nodes, got {len(sides[0])} and {len(sides[1])}.")
        self.sectors, self.points = sectors, x
        self._axis, self._point = _vector("axis", axis, True), _vector("point", point)
        self._axis = unit_vector(self._axis)
        self.low, self.nodes = sides
        self.triangles = None if triangles is None else np.asarray(triangles)
        size = float(np.ptp(x[np.concatenate(sides)], axis=0).max())
        near = _NEAR * size if tolerance is None else tolerance
        best: tuple[float, float, Array, sp.csr_array, Array] | None = None
        for angle in (2.0 * np.pi / sectors, -2.0 * np.pi / sectors):
            turn = rotation_matrix(self._axis, angle)
            found = self._following(turn, near)
            away = float(np.median(found[1]))
            if best is None or away < best[0]:
                best = (away, angle, turn, *found)
        assert best is not None
        _, self.angle, self.rotation, self.weights, gaps = best
        worst = int(gaps.argmax())
        if gaps[worst] > near:
            at = ", ".join(f"{c:.6g}" for c in x[self.nodes[worst]])
            raise InvalidSystem(
                f"{owner}: {int((gaps > near).sum())} of {len(gaps)} nodes of the high side are not on the low side "
                f"turned by 360°/{sectors}: the farthest, at ({at}) m, is {gaps[worst]:.3g} m away (tolerance "
                f"{near:.3g} m). Check the number of sectors and the axis, or give a larger tolerance."
            )
        arms = x[self.nodes] - self._point
        across = arms - np.outer(arms @ self._axis, self._axis)
        self._on_axis = np.linalg.norm(across, axis=1) <= _ON_AXIS * size

    def _following(self, turn: Array, near: float) -> tuple[sp.csr_array, Array]:
        """Return the weights [h, n] of the low side for the nodes of the high one, and how far they are from it."""
        from scipy.spatial import KDTree  # which takes long to import

        x, low, n, h = self.points, self.low, len(self.points), len(self.nodes)
        there = (x[self.nodes] - self._point) @ turn + self._point  # turned back
        away, places = KDTree(x[low]).query(there)
        if self.triangles is None or away.max() <= near:
            return sp.csr_array((np.ones(h), (np.arange(h), low[places])), shape=(h, n)), np.asarray(away)
        faces = self.triangles
        if faces.ndim != 2 or faces.shape[1] != 3 or not (len(faces) and np.isin(faces, low).all()):
            raise InvalidSystem(
                f"CyclicSymmetry: triangles must be [f, 3], of nodes of the low side, got {faces.shape}."
            )
        found = feet(np.concatenate([x, there]), np.arange(n, n + h, dtype=np.int32), faces.astype(np.int32))
        rows = np.repeat(np.arange(h), 3)
        weights = sp.csr_array((found.weights.ravel(), (rows, found.triangles.ravel())), shape=(h, n))
        return weights, found.distances

    def factors(self, diameter: int = 0) -> sp.csr_array:
        """Return C [3h, 3n] of the equations C u = 0, u_h − e^{inα} R Σ w u_l: real where the diameter is 0."""
        own = sp.csr_array(
            (np.ones(len(self.nodes)), (np.arange(len(self.nodes)), self.nodes)), shape=self.weights.shape
        )
        phase = np.exp(1j * diameter * self.angle) if diameter else 1.0
        return sp.csr_array(sp.kron(own, np.eye(3)) - phase * sp.kron(self.weights, self.rotation))

    def constraints(self, stiffness: ArrayLike) -> LinearConstraints:
        """Return the energy ½ k |u_h − R Σ w u_l|² of each node of the high side, all sectors moving alike.

        Rotations about the axis leave it as it is, however large, and shifts along it.

        Parameters
        ----------
        stiffness : float or float64 [h]
            k in N/m.
        """
        matrix = self.factors()
        matrix.data[np.abs(matrix.data) <= _ZERO] = 0.0
        matrix.eliminate_zeros()
        kept = np.flatnonzero(np.diff(matrix.indptr))  # of nodes on the axis shifts along it are free
        k = np.repeat(np.broadcast_to(np.asarray(stiffness, float), (len(self.nodes),)), 3)
        return LinearConstraints(self.points, sp.csr_array(matrix[kept]), stiffness=k[kept])

    def motions(self, diameter: int, fixed: NDArray[np.bool_]) -> sp.csr_array:
        """Return T [3n, r], complex: the displacements u = T a that have the symmetry, and leave what is fixed.

        Parameters
        ----------
        diameter : int
        fixed : bool [n, 3]
            Coordinates that do not move.

        Raises
        ------
        InvalidSystem
            If what is fixed on one side does not follow from what is fixed on the other.
        """
        n = len(self.points)
        phase = np.exp(1j * diameter * self.angle)
        masters = np.setdiff1d(np.arange(n), self.nodes)
        columns = (3 * masters[:, None] + np.arange(3)).ravel()
        own = sp.csr_array((np.ones(len(columns), complex), (columns, np.arange(len(columns)))), (3 * n, len(columns)))
        # On the axis only what the rotation and the phase leave as it is: along the axis, or circular across it.
        values, vectors = np.linalg.eig(phase * self.rotation)
        kernel = vectors[:, np.abs(values - 1.0) <= _ON_AXIS**0.5]
        axial = self.nodes[self._on_axis]
        along = sp.csr_array(sp.kron(_columns(axial, n), kernel)) if len(axial) and kernel.size else None
        parts = own if along is None else sp.csr_array(sp.hstack([own, along]))
        held = fixed.ravel()
        touched = np.flatnonzero(abs(parts[np.flatnonzero(held)]).sum(axis=0) > _ZERO)
        left = np.setdiff1d(np.arange(parts.shape[1]), touched)  # pyright: ignore[reportOptionalSubscript]
        parts = sp.csr_array(parts[:, left])
        following = np.flatnonzero(~self._on_axis)
        slaves = sp.csr_array(phase * sp.kron(self.weights[following], self.rotation) @ parts)
        at = (3 * self.nodes[following][:, None] + np.arange(3)).ravel()
        place = sp.csr_array((np.ones(len(at)), (at, np.arange(len(at)))), (3 * n, len(at)))
        whole = sp.csr_array(parts + place @ slaves)
        wrong = np.flatnonzero(abs(whole[np.flatnonzero(held)]).sum(axis=1) > _ON_AXIS)
        if len(wrong):
            node = int(np.flatnonzero(held)[wrong[0]] // 3)
            raise InvalidSystem(
                f"CyclicSymmetry: node {node} of the high side is held, but not what it follows on the low side; hold "
                "both sides alike, in directions about the axis."
            )
        return whole

    def sector(self, shape: Array | NDArray[np.complexfloating], diameter: int, k: int) -> NDArray[np.complexfloating]:
        """Return how the k-th sector from this one moves [n, 3] in a shape of a nodal diameter: e^{iknα} R^k u."""
        turn = rotation_matrix(self._axis, k * self.angle)
        return np.asarray(np.exp(1j * k * diameter * self.angle) * (shape @ turn.T), complex)

    def turned(self, q: Array, k: int) -> Array:
        """Return where positions q [n, 3] in m are in the k-th sector from this one."""
        return (q - self._point) @ rotation_matrix(self._axis, k * self.angle).T + self._point


def _columns(nodes: IntArray, n: int) -> sp.csr_array:
    """Return which node each column is of [n, m]."""
    return sp.csr_array((np.ones(len(nodes)), (nodes, np.arange(len(nodes)))), shape=(n, len(nodes)))


def _vector(what: str, value: ArrayLike, nonzero: bool = False) -> Array:
    """Return a vector [3] that is finite."""
    try:
        x = np.array(value, dtype=float)
    except (TypeError, ValueError):
        x = np.empty(0)
    if x.shape != (3,) or not np.isfinite(x).all() or (nonzero and not x.any()):
        raise InvalidSystem(
            f"CyclicSymmetry: {what} must be three numbers{', not all zero' if nonzero else ' (m)'}, got "
            f"{described(value)}."
        )
    return x
