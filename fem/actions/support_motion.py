"""Supports that move in a given way: shaken, driven or turned."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.base.arguments import checked, described
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.actions.supports import AXES
from symplex.fem.actions.time_function import TimeFunction, time_function
from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.directions import unit_vector
from symplex.fem.assembly.nodes import Nodes, distinct_nodes, require_nodes
from symplex.fem.assembly.pattern import Array, IntArray

Table = tuple[ArrayLike, ArrayLike]

_ROUNDING = 1e-9  # of a position


class SupportMotion(Copyable, ABC):
    """Components of the motion of some nodes that are given as functions of time.

    Where a node is at the start of a motion is part of the state; from there it moves by the change of its
    displacement.

    Attributes
    ----------
    nodes : int32 [m]
        Without repetition.
    axes : tuple of int
        The c components that are given.
    smooth : bool
        Whether velocities are continuous.
    span : (float, float)
        The times in s between which the motion is known.
    """

    nodes: IntArray
    axes: tuple[int, ...]
    smooth: bool
    span: tuple[float, float]

    @abstractmethod
    def displacement(self, t: float) -> Array:
        """Return the displacements [m, c] in m at the time t in s."""

    @abstractmethod
    def velocity(self, t: float) -> Array:
        """Return the velocities [m, c] in m/s at the time t in s; where they jump, those after it."""

    @abstractmethod
    def acceleration(self, t: float) -> Array:
        """Return the accelerations [m, c] in m/s² at the time t in s."""


@checked
@final
class SupportTranslation(SupportMotion):
    """Nodes that move in proportion to one function of time: a shaken base, a grip, a field of displacements.

    Parameters
    ----------
    nodes : int [m]
        Indices without repetition.
    direction : str or float64 [dim] or float64 [m, dim]
        A letter of 'xyz', or a vector, or one for each node, by which the motion is multiplied.
    motion : TimeFunction or (times, values)
        The displacement in m; a table is joined by a cubic spline.
    components : str, optional
        Letters of the components that are given, those across the direction at rest; the others are free (or fixed, or
        moved by another motion). By default that of a letter alone, and all of a vector.

    Raises
    ------
    InvalidSystem
        If there are no nodes or one is named twice, the direction is none, or the table is not in order.
    """

    def __init__(
        self,
        nodes: Nodes,
        direction: str | ArrayLike,
        motion: TimeFunction | Table,
        *,
        components: str | None = None,
    ):
        self.nodes = _some_nodes("SupportTranslation", nodes)
        self.motion = time_function(motion)
        self.smooth, self.span = self.motion.smooth, self.motion.span
        vectors, given = _along(direction) if isinstance(direction, str) else _all_of(direction)
        if len(vectors) not in (1, len(self.nodes)):
            raise InvalidSystem(
                f"SupportTranslation: there are {len(vectors)} directions for {len(self.nodes)} nodes; give one, or "
                "one for each."
            )
        given, axes = given if components is None else components, AXES[: vectors.shape[1]]
        if not given or set(given) - set(axes):
            raise InvalidSystem(f"SupportTranslation: components are '{components}', must be letters of '{axes}'.")
        left = [
            letter for letter, x in zip(AXES, np.abs(vectors).max(axis=0), strict=False) if x and letter not in given
        ]
        if left:
            raise InvalidSystem(f"SupportTranslation: it moves in {left[0]}, which is not among its components.")
        self.axes = tuple(sorted(AXES.index(letter) for letter in set(given)))
        along = vectors[:, list(self.axes)]
        self._directions = np.broadcast_to(along, (len(self.nodes), len(self.axes))).copy()

    def displacement(self, t: float) -> Array:
        """Return the displacements [m, c] in m at the time t in s."""
        return self.motion.value(t) * self._directions

    def velocity(self, t: float) -> Array:
        """Return the velocities [m, c] in m/s at the time t in s; where they jump, those after it."""
        return self.motion.rate(t) * self._directions

    def acceleration(self, t: float) -> Array:
        """Return the accelerations [m, c] in m/s² at the time t in s."""
        return self.motion.second(t) * self._directions


def _along(direction: str) -> tuple[Array, str]:
    """Return the vector along one axis, and its component."""
    if len(direction) != 1 or direction not in AXES:
        raise InvalidSystem(
            f"SupportTranslation: the direction is '{direction}', must be a letter of '{AXES}' or a vector."
        )
    return np.eye(len(AXES))[[AXES.index(direction)]], direction


def _all_of(direction: ArrayLike) -> tuple[Array, str]:
    """Return vectors [m, dim], checked, and all their components."""
    vectors = np.array(direction, dtype=float)
    if (
        not 1 <= vectors.ndim <= 2
        or vectors.shape[-1] > len(AXES)
        or not (np.isfinite(vectors).all() and vectors.any())
    ):
        raise InvalidSystem(
            f"SupportTranslation: the direction is {described(direction)}, must be a vector other than 0, or one for "
            "each node."
        )
    return np.atleast_2d(vectors), AXES[: vectors.shape[-1]]


@checked
@final
class SupportRotation(SupportMotion):
    """Nodes that turn about a point or an axis like one rigid body: a driven shaft, a swinging support.

    u = [R(θ) − 1] r,  v = θ' e × R r,  a = θ'' e × R r + θ'² e × (e × R r),  with r the arm of a node where θ = 0

    Parameters
    ----------
    nodes : int [m]
        Indices without repetition.
    points : float64 [n, dim]
        The positions in m of all nodes of the system where θ = 0; dim is 2 or 3.
    angle : TimeFunction or (times, values)
        θ in rad; a table is joined by a cubic spline.
    center : float64 [dim]
        A point of the axis in m.
    axis : float64 [3], optional
        Its direction, in space.

    Raises
    ------
    InvalidSystem
        If there are no nodes or one is named twice or does not exist, sizes do not fit, or the table is not in order.
    """

    def __init__(
        self,
        nodes: Nodes,
        points: ArrayLike,
        angle: TimeFunction | Table,
        *,
        center: ArrayLike,
        axis: ArrayLike | None = None,
    ):
        name = type(self).__name__
        x, c = np.asarray(points, dtype=float), np.asarray(center, dtype=float)
        self.nodes = _some_nodes(name, nodes)
        if x.ndim != 2 or x.shape[1] not in (2, 3) or c.shape != x.shape[1:]:
            raise InvalidSystem(f"{name}: points have shape {x.shape} and the center {c.shape}; expected [n, 2 or 3].")
        require_nodes(name, self.nodes, len(x))
        if not (np.isfinite(x[self.nodes]).all() and np.isfinite(c).all()):
            raise InvalidSystem(f"{name}: the center and the positions of its nodes must be finite.")
        self.angle = time_function(angle)
        self.smooth, self.span = self.angle.smooth, self.angle.span
        dim = x.shape[1]
        self.axes = tuple(range(dim))
        e = np.array([0.0, 0.0, 1.0]) if axis is None and dim == 2 else np.asarray(axis, dtype=float)
        if e.shape != (3,) or (dim == 2 and axis is not None) or not (np.isfinite(e).all() and e.any()):
            raise InvalidSystem(
                f"{name}: the axis is {axis}; expected a direction [3] in space, and none in the plane."
            )
        arms = np.zeros((len(self.nodes), 3))
        arms[:, :dim] = x[self.nodes] - c
        e = unit_vector(e)
        # Of the arms: across the axis, and that turned by a quarter
        self._across = (arms - np.outer(arms @ e, e))[:, :dim]
        self._turned = np.cross(e, arms)[:, :dim]

    def displacement(self, t: float) -> Array:
        """Return the displacements [m, dim] in m at the time t in s."""
        theta = self.angle.value(t)
        # cos θ − 1 without the loss of digits
        return math.sin(theta) * self._turned - 2.0 * math.sin(0.5 * theta) ** 2 * self._across

    def velocity(self, t: float) -> Array:
        """Return the velocities [m, dim] in m/s at the time t in s; where they jump, those after it."""
        return self.angle.rate(t) * self._tangent(self.angle.value(t))

    def acceleration(self, t: float) -> Array:
        """Return the accelerations [m, dim] in m/s² at the time t in s."""
        theta, rate = self.angle.value(t), self.angle.rate(t)
        inward = -(math.cos(theta) * self._across + math.sin(theta) * self._turned)
        return self.angle.second(t) * self._tangent(theta) + rate**2 * inward

    def _tangent(self, theta: float) -> Array:
        """Return e × R r [m, dim] in m."""
        return math.cos(theta) * self._turned - math.sin(theta) * self._across


def _some_nodes(owner: str, nodes: Nodes) -> IntArray:
    found = distinct_nodes(owner, nodes)
    if len(found) == 0:
        raise InvalidSystem(f"{owner} has no nodes.")
    return found


class MovingSupports:
    """All supports of a system that move, as fields over its nodes.

    Parameters
    ----------
    motions : mapping of str to SupportMotion
    fixed : bool [n, dim]
        The coordinates that do not move.

    Attributes
    ----------
    motions : dict of str to SupportMotion
    mask : bool [n, dim]
        True where a coordinate's motion is given.
    """

    def __init__(self, motions: Mapping[str, SupportMotion], fixed: NDArray[np.bool_]):
        self.motions = dict(motions)
        self.mask = np.zeros_like(fixed)
        self._places = {}
        n, dim = fixed.shape
        for name, motion in self.motions.items():
            require_nodes(f"support '{name}'", distinct_nodes(f"support '{name}'", motion.nodes), n)
            if max(motion.axes) >= dim:
                raise InvalidSystem(
                    f"support '{name}' moves in {AXES[max(motion.axes)]}, but the system has {dim} axes."
                )
            self._places[name] = place = np.ix_(motion.nodes, np.array(motion.axes))
            for taken, by in ((fixed, "is fixed as well"), (self.mask, "is moved by another support as well")):
                twice = np.argwhere(taken[place])
                if len(twice):
                    node, axis = motion.nodes[twice[0, 0]], AXES[motion.axes[twice[0, 1]]]
                    raise InvalidSystem(
                        f"support '{name}' moves node {node} in {axis}, which {by}; let one of them go."
                    )
            self.mask[place] = True

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.motions)

    @property
    def rough(self) -> str | None:
        """The first whose velocity jumps, if any."""
        return next((name for name, motion in self.motions.items() if not motion.smooth), None)

    def require_at(self, t: float, origin: Array, q: Array) -> None:
        """Check that the supports are where they should be at the time t in s: at the origin [n, dim] + u(t)."""
        requested = origin + self.displacements(t)
        away = np.abs(requested - q)
        # Of all positions: those of a support may be zero but for what rounding its way has left.
        size = max(float(np.abs(q).max(initial=0.0)), float(np.abs(requested).max(initial=0.0)))
        for name, place in self._places.items():
            far = float(away[place].max(initial=0.0))
            if far > _ROUNDING * size:
                raise InvalidSystem(
                    f"the checkpoint does not belong to this system: at t = {t:.6g} s support '{name}' is {far:.3g} m "
                    "away from where its motion takes it."
                )

    def displacements(self, t: float) -> Array:
        """Return the displacements [n, dim] in m at the time t in s, zero elsewhere."""
        return self._field("displacement", t, lambda motion: motion.displacement(t))

    def velocities(self, t: float) -> Array:
        """Return the velocities [n, dim] in m/s, as `displacements`."""
        return self._field("velocity", t, lambda motion: motion.velocity(t))

    def accelerations(self, t: float) -> Array:
        """Return the accelerations [n, dim] in m/s², as `displacements`."""
        return self._field("acceleration", t, lambda motion: motion.acceleration(t))

    def works(self, products: Array) -> list[float]:
        """Return the sum of products [n, dim] of each support."""
        return [float(numbers.sum()) for numbers in self.products(products).values()]

    def products(self, products: Array) -> dict[str, Array]:
        """Return those of products [n, dim] that are of each support [...], by name."""
        return {name: products[place] for name, place in self._places.items()}

    def _field(self, what: str, t: float, values_of: Callable[[SupportMotion], Array]) -> Array:
        field = np.zeros(self.mask.shape)
        for name, motion in self.motions.items():
            try:
                values = values_of(motion)
            except StepFailed as error:
                raise StepFailed(f"support '{name}': {error}") from None
            requested = (len(motion.nodes), len(motion.axes))
            if np.shape(values) != requested:
                raise InvalidSystem(f"support '{name}': its {what} has shape {np.shape(values)}, expected {requested}.")
            if not np.isfinite(values).all():
                raise StepFailed(f"support '{name}': its {what} is not finite at t = {t:.6g} s.")
            field[self._places[name]] = values
        return field
