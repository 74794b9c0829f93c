"""Joints between frames: conditions that are inner products of vectors and points fixed in these.

With u = Σ l_a x_a + u₀ and v = Σ r_a x_a + v₀ of the particles x_a of both frames, a condition is g = u·v − c. So it is
quadratic, λ ∇g at the middle of a step does the work λ (g₁ − g₀) = 0, and as g is the same after any rigid motion of
both frames, these forces have no resultant and no moment.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, Self, final, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.base.arguments import checked
from symplex.base.columns import Column, components, vector_columns
from symplex.base.representation import Summarized
from symplex.base.sparse import sp
from symplex.errors import InfeasibleStart, InvalidSystem
from symplex.fem.actions.time_function import TimeFunction
from symplex.fem.assembly.calls import Call, whole
from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.nodes import Nodes, node_indices, require_nodes
from symplex.fem.assembly.pattern import Array, IntArray, scatter_blocks, scatter_vectors
from symplex.fem.measures.constraints import Constraint
from symplex.fem.structures.frames import Frames, nodal_mass
from symplex.fem.structures.joint_loops import (
    Conditions,
    ConditionsRecord,
    along_rooms,
    factorise_along,
    keep_along,
    write_conditions,
    write_joint_gradients,
    write_joint_values,
)

if TYPE_CHECKING:
    from symplex.fem.masses import Masses

JointKind = Literal[
    "spherical", "revolute", "universal", "cylindrical", "prismatic", "planar", "inline", "inplane", "rigid"
]
KINDS: tuple[JointKind, ...] = get_args(JointKind)
_BY_AXIS = ("revolute", "cylindrical", "prismatic", "planar", "inline", "inplane")
_RIGHT_ANGLE = 1e-9  # cosine of the angle between the axes of a universal joint, at most
_UNDETERMINED = 1e-9  # least eigenvalue of the scaled matrix of multipliers below which conditions are redundant
_TAKES_PART = 1e-6  # of a combination of multipliers that is not determined
_SMALLEST, _FLAT = 1e-30, 1e-9  # m, and of that size: thinner bodies are flat
_CLOSED = 1e-8  # of the size of bodies by which joints may be open at the start
_PRECISION = 1e-7  # of positions, that may be missing of these in addition
_TANGENT = 0.1  # of velocities that may open joints at the start
_DENSE = 300  # conditions up to which all eigenvalues are computed
_SHIFT = 1e-11  # of the scaled matrix beyond that
_TINY = 1e-300


_Term = tuple[Array, Array]  # weights [k] and a constant [3]


@final
class Products(Copyable):
    """Inner products u·v of u = Σ l_a x_a + u₀ and v = Σ r_a x_a + v₀.

    Parameters
    ----------
    pairs : list of ((float64 [k], float64 [3]), (float64 [k], float64 [3]))
        l and u₀, and r and v₀, of each product.

    Attributes
    ----------
    left, right : float64 [c, k]
        l and r, whose sums are 0 or 1.
    left_constant, right_constant : float64 [c, 3]
        u₀ and v₀.
    totals : (float64 [c, 1], float64 [c, 1])
        The sums of l and of r.
    """

    def __init__(self, pairs: Sequence[tuple[_Term, _Term]]):
        self.left, self.right = (np.array([pair[side][0] for pair in pairs]) for side in (0, 1))
        self.left_constant, self.right_constant = (np.array([pair[side][1] for pair in pairs]) for side in (0, 1))
        self.totals = np.round(self.left.sum(axis=1))[:, None], np.round(self.right.sum(axis=1))[:, None]

    def vectors(self, x: Array) -> tuple[Array, Array]:
        """Return u and v [c, 3] at positions x [c, k, 3]."""
        x0, x = x[:, 0], x - x[:, :1]  # weights 1/4r of positions far from the origin would lose digits
        u = (self.left[:, None] @ x)[:, 0] + (self.totals[0] * x0 + self.left_constant)
        v = (self.right[:, None] @ x)[:, 0] + (self.totals[1] * x0 + self.right_constant)
        return u, v

    def value(self, x: Array) -> Array:
        """Return u·v [c]."""
        u, v = self.vectors(x)
        return np.einsum("ci,ci->c", u, v)

    def gradient(self, x: Array) -> Array:
        """Return its derivative [c, k, 3]."""
        u, v = self.vectors(x)
        return self.left[:, :, None] * v[:, None] + self.right[:, :, None] * u[:, None]

    def padded(self, k: int) -> list[tuple[_Term, _Term]]:
        """Return u and v of each product, with weights of k particles."""
        left, right = zip(self.left, self.left_constant, strict=True), zip(self.right, self.right_constant, strict=True)
        return _padded(list(zip(left, right, strict=True)), k)

    @cached_property
    def scalars(self) -> Array:
        """The second derivative [c, k, k], each number times the unit matrix."""
        product = self.left[:, :, None] * self.right[:, None]
        return product + product.swapaxes(1, 2)


@final
@dataclass(frozen=True, repr=False)
class JointReaction(Summarized):
    """What a joint does to its first body; to the second it does the opposite.

    Attributes
    ----------
    force : float64 [3]
        In N.
    moment : float64 [3]
        In N m, about the point of the joint in the first body.
    determined : bool
        Whether force and moment follow from the motion: those of redundant joints do not, and are the smallest ones.
    """

    force: Array
    moment: Array
    determined: bool


class Connection(Constraint, ABC):
    """Conditions between a frame and something else: another frame, the ground, or nodes.

    Attributes
    ----------
    kind : str
    bodies : (int [4], int [4] or None)
        The particles of the frames; None for the second one: the ground, or what has no frame.
    nodes : int32 [c, k]
        The particles of each condition, those of the first frame first; of k = 5 the last one is a node by itself.
    products : Products
        u·v of each condition.
    offset : float64 [c]
        c.
    given : dict of str to TimeFunction
        The angle and displacement that are given, whose conditions are the last.
    """

    kind: str
    bodies: tuple[IntArray, IntArray | None]
    products: Products
    offset: Array
    given: Mapping[str, TimeFunction] = MappingProxyType({})

    @abstractmethod
    def point(self, q: Array) -> Array:
        """Return the point [3] in m about which moments on the first frame are, at positions q [n, 3]."""

    # -- as a constraint ------------------------------------------------------------------------------------------

    def value(self, x: Array) -> Array:
        """Return g [c] at the positions x [c, k, 3] in m: in m of points, as cosines of directions."""
        return self.products.value(x) - self.offset

    def gradient(self, x: Array) -> Array:
        """Return ∂g/∂x [c, k, 3]."""
        return self.products.gradient(x)

    def hessian(self, x: Array) -> Array:
        """Return ∂²g/∂x² [c, 3k, 3k]: (l_a r_b + r_a l_b) 1."""
        c, k = self.nodes.shape
        return np.einsum("cab,ij->caibj", self.products.scalars, np.eye(3)).reshape(c, 3 * k, 3 * k)

    def discrete_gradient(self, x0: Array, x1: Array) -> Array:
        """Return the gradient at the middle of x0 and x1 [c, k, 3], whose product with x1 − x0 is g(x1) − g(x0)."""
        return self.gradient(0.5 * (x0 + x1))

    def discrete_hessian(self, x0: Array, x1: Array) -> Array:
        """Return its derivative [c, 3k, 3k] with respect to x1."""
        return 0.5 * self.hessian(x1)

    def condition_calls(self, dim: int) -> tuple[Call, Call] | None:
        """Return the calls that write g and ∂g/∂x in space."""
        if dim != 3:
            return None
        of = self.products
        record = ConditionsRecord(
            nodes=np.ascontiguousarray(self.nodes),
            **{"left": of.left, "right": of.right, "totals": np.hstack(of.totals), "offset": self.offset},
            left_constant=of.left_constant,
            right_constant=of.right_constant,
        )
        every = whole(len(self.nodes))
        return Call(write_joint_values, record, every), Call(write_joint_gradients, record, every)

    def drives(self, first: int = 0, width: int | None = None) -> list[Drive]:
        """Return the conditions of what is given, whose rows count from a first one, with weights of many particles."""
        return []

    def with_time(self) -> Self:
        """Return a copy whose conditions of what is given `take_time` sets."""
        found = copy(self)
        found.products, found.offset = Products(self.products.padded(self.nodes.shape[1])), self.offset.copy()
        return found

    def take_time(self, t: float) -> None:
        """Let the conditions of what is given be those of a time in s; their arrays stay where they are."""
        for drive in self.drives():
            (_, (weights, constant)), self.offset[drive.row] = drive.condition((t,))
            self.products.right[drive.row], self.products.right_constant[drive.row] = weights, constant
        self.products.__dict__.pop("scalars", None)

    # -- what it shows --------------------------------------------------------------------------------------------

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The relative motions that are reported: ``angle`` about the axis, ``displacement`` along it."""
        return coordinates_of(self.kind)

    def products_of(self, coordinate: str) -> Products:
        """Return the cosine and sine of the angle, or the displacement, as products of particles `nodes`."""
        self._require_coordinate(coordinate)
        return Products(self.pairs_of(coordinate))

    def pairs_of(self, coordinate: str) -> list[tuple[_Term, _Term]]:
        """Return u and v of these products; a coupling has none."""
        return []

    def angle(self, q: Array) -> float:
        """Return by which angle the first body has rotated about the axis, seen from the second one: −π to π.

        Parameters
        ----------
        q : float64 [n, 3]
            Positions in m.

        Returns
        -------
        float
            In rad.
        """
        cosine, sine = self._value_of("angle", q)
        return float(np.arctan2(sine, cosine))

    def displacement(self, q: Array) -> float:
        """Return by how many m the first body has moved along the axis, seen from the second one."""
        return float(self._value_of("displacement", q)[0])

    def rate(self, coordinate: str, q: Array, v: Array) -> float:
        """Return the rate of its ``"angle"`` in rad/s, or of its ``"displacement"`` in m/s.

        Parameters
        ----------
        coordinate : {"angle", "displacement"}
        q, v : float64 [n, 3]
            Positions in m and velocities in m/s.
        """
        products = self.products_of(coordinate)
        x, moving = (np.repeat(rows[self.nodes[:1]], len(products.left), axis=0) for rows in (q, v))
        rates = np.einsum("cai,cai->c", products.gradient(x), moving)
        if coordinate == "displacement":
            return float(rates[0])
        cosine, sine = products.value(x)
        return float((cosine * rates[1] - sine * rates[0]) / (cosine**2 + sine**2))

    def _value_of(self, coordinate: str, q: Array) -> Array:
        products = self.products_of(coordinate)
        return products.value(np.repeat(q[self.nodes[:1]], len(products.left), axis=0))

    def _require_coordinate(self, coordinate: str) -> None:
        if coordinate not in self.coordinates:
            raise InvalidSystem(f"{type(self).__name__}: a {self.kind} joint has no {coordinate}.")

    def columns(self, name: str) -> tuple[Column, ...]:
        """Return the columns of histories for this name: force, moment, angle and displacement."""
        return columns_of(self.kind, name)

    def observed(self, name: str, q: Array, reaction: JointReaction) -> dict[str, float]:
        """Return what these columns hold at positions q [n, 3]."""
        shown = components(f"{name}_force", reaction.force) | components(f"{name}_moment", reaction.moment)
        return shown | {f"{name}_{what}": getattr(self, what)(q) for what in self.coordinates}


@checked
@final
class Joint(Connection):
    """A joint between two frames, or a frame and the ground: some of their relative motions are impossible.

    ===========  =====================================  ===========================
    kind         what both bodies have in common        conditions
    ===========  =====================================  ===========================
    spherical    the point                              3
    revolute     the point and the axis                 5: rotations about the axis are left
    universal    the point; axis and second at right    4: axis is fixed in the first body, second in the second one
    cylindrical  the axis                               4: rotations about and shifts along it are left
    prismatic    the axis, and no rotation              5: shifts along the axis are left
    planar       the plane normal to the axis           3
    inline       a point of the first on an axis        2: all rotations, and shifts along it, are left
    inplane      a point of the first in a plane        1: all but shifts along its normal, the axis, is left
    rigid        everything                             6
    ===========  =====================================  ===========================

    Joints belong to a `System`. They are constraints as well, which `symplex.Rattle` takes from there. Multipliers of
    points are forces in N, those of directions moments in N m.

    Parameters
    ----------
    kind : str
        One of those above.
    bodies : (int [4], int [4] or None)
        The particles of the frame of each body; None for the second one: the ground.
    points : float64 [n, 3]
        Positions in m of all particles, in which the joint is put together.
    at : float64 [3]
        Its point in m.
    axis : float64 [3], optional
        Of any length but zero.
    second : float64 [3], optional
        The second axis of a universal joint, at right angles to the first one.
    angle, displacement : TimeFunction, optional
        The angle in rad, or the displacement in m, of a joint that has one, given as a function of time: one condition
        more. Both are 0 as bodies are at ``points``. Only methods that declare moving joints take them; what keeps
        the motion as it is given does work.

    Attributes
    ----------
    nodes : int32 [c, 8] or [c, 4]
        The particles of both bodies, for each condition.
    products : Products
        u·v of each condition.
    offset : float64 [c]
        c.
    given : dict of str to TimeFunction
        The angle and displacement that are given, whose conditions are the last.

    Raises
    ------
    InvalidSystem
        If the kind is unknown, an axis is missing or superfluous, or bodies are not four particles each.
    """

    def __init__(
        self,
        kind: JointKind,
        bodies: Sequence[Nodes | None],
        points: Array,
        at: ArrayLike,
        axis: ArrayLike | None = None,
        second: ArrayLike | None = None,
        *,
        angle: TimeFunction | None = None,
        displacement: TimeFunction | None = None,
    ):
        self.kind: JointKind = kind
        points = np.asarray(points, float)
        self.bodies = _bodies(bodies, points)
        stencil = np.concatenate([body for body in self.bodies if body is not None])
        self.at = _vector("at", at)
        axes = self._axes(axis, second)
        self._ends = tuple(_End(body, points, stencil, self.at, axes) for body in self.bodies)
        given = {"angle": angle, "displacement": displacement}
        self.given = {name: function for name, function in given.items() if function is not None}
        for name in self.given:
            self._require_coordinate(name)
        conditions = self._conditions()
        conditions += [self.pairs_of(name)[-1] for name in self.given]
        self.nodes = np.tile(stencil, (len(conditions), 1))
        self.products = Products(conditions)
        self.offset = self.products.value(points[self.nodes])  # zero but for rounding

    def _axes(self, axis: ArrayLike | None, second: ArrayLike | None) -> Array:
        """Return three directions [3, 3] at right angles, of which the last is the axis."""
        requires = self.kind in (*_BY_AXIS, "universal")
        if requires and axis is None:
            raise InvalidSystem(f"Joint: a {self.kind} joint requires an axis. Give axis, a vector of three numbers.")
        if not requires and axis is not None:
            raise InvalidSystem(f"Joint: a {self.kind} joint has no axis. Leave axis out.")
        if (self.kind == "universal") != (second is not None):
            what = "requires a second axis" if second is None else "has no second axis"
            raise InvalidSystem(f"Joint: a {self.kind} joint {what}. Only universal joints have one.")
        if axis is None:
            return np.eye(3)
        third = _direction("axis", axis)
        if second is None:
            first = np.cross(np.eye(3)[np.argmin(np.abs(third))], third)
            first /= np.linalg.norm(first)
        else:
            first = _direction("second", second)
            if abs(first @ third) > _RIGHT_ANGLE:
                raise InvalidSystem(
                    "Joint: the axes of a universal joint must be at right angles, got an angle with the cosine "
                    f"{first @ third:.3g}."
                )
        return np.array([first, np.cross(third, first), third])

    def _conditions(self) -> list[tuple[_Term, _Term]]:
        """Return u and v of each condition."""
        a, b = self._ends
        between = b.point[0] - a.point[0], b.point[1] - a.point[1]
        same = [((0.0 * a.point[0], axis), between) for axis in np.eye(3)]
        parallel = [(a.directions[k], b.directions[2]) for k in (0, 1)]
        across = [(a.directions[k], between) for k in (0, 1)]
        no_rotation = (a.directions[0], b.directions[1])
        return {
            "spherical": same,
            "revolute": [*same, *parallel],
            "universal": [*same, (a.directions[2], b.directions[0])],
            "cylindrical": [*across, *parallel],
            "prismatic": [*across, *parallel, no_rotation],
            "planar": [(a.directions[2], between), *parallel],
            "inline": [(b.directions[k], between) for k in (0, 1)],
            "inplane": [(b.directions[2], between)],
            "rigid": [*same, *parallel, no_rotation],
        }[self.kind]

    # -- what it shows --------------------------------------------------------------------------------------------

    def pairs_of(self, coordinate: str) -> list[tuple[_Term, _Term]]:
        """Return u and v of these products."""
        a, b = self._ends
        if coordinate == "angle":
            return [(a.directions[0], b.directions[0]), (a.directions[0], b.directions[1])]
        return [(b.directions[2], (a.point[0] - b.point[0], a.point[1] - b.point[1]))]

    def drives(self, first: int = 0, width: int | None = None) -> list[Drive]:
        """Return the conditions of what is given, whose rows count from a first one, with weights of many particles."""
        row, found = first + len(self.nodes) - len(self.given), []
        for k, (coordinate, function) in enumerate(self.given.items()):
            pairs = self.pairs_of(coordinate)
            pairs = pairs if width is None else _padded(pairs, width)
            found.append(Drive(row + k, coordinate, function, pairs))
        return found

    def point(self, q: Array, body: int = 0) -> Array:
        """Return where its point in the first or second body is [3], in m, at positions q [n, 3]."""
        weights, constant = self._ends[body].point
        x = q[self.nodes[0]]
        total = np.round(weights.sum())
        return weights @ (x - x[0]) + (total * x[0] + constant)


def coordinates_of(kind: str) -> tuple[str, ...]:
    """Return the relative motions of joints of a kind that are reported: ``angle``, ``displacement``."""
    of_kinds: dict[str, tuple[str, ...]] = {
        "revolute": ("angle",),
        "cylindrical": ("angle", "displacement"),
        "prismatic": ("displacement",),
        "inline": ("displacement",),
    }
    return of_kinds.get(kind, ())


def columns_of(kind: str, name: str) -> tuple[Column, ...]:
    """Return the columns of histories for a joint of a kind and name."""
    more = {"angle": Column(f"{name}_angle", "rad", "other", "joint angles", "end")}
    more["displacement"] = Column(f"{name}_displacement", "m", "length", "joint displacements", "end")
    return (
        *vector_columns(f"{name}_force", "N", "force", "joint forces", "peak"),
        *vector_columns(f"{name}_moment", "N m", "other", "joint moments", "peak"),
        *(more[coordinate] for coordinate in coordinates_of(kind)),
    )


class _End:
    """The point and the directions of a joint in one of its bodies, as weights of the particles of both."""

    def __init__(self, body: IntArray | None, points: Array, stencil: IntArray, at: Array, axes: Array):
        zero = np.zeros(len(stencil))
        if body is None:
            self.point: _Term = zero, at
            self.directions: list[_Term] = [(zero, axis) for axis in axes]
            return
        center, per_unit = _center_and_weights(points[body])
        places = np.array([int(np.flatnonzero(stencil == node)[0]) for node in body])

        def placed(weights: Array) -> Array:
            out = zero.copy()
            out[places] = weights
            return out

        self.point = placed(0.25 + (at - center) @ per_unit), np.zeros(3)
        self.directions = [(placed(axis @ per_unit), np.zeros(3)) for axis in axes]


def _center_and_weights(x: Array) -> tuple[Array, Array]:
    """Return the centre [3] of particles x [4, 3], and w [3, 4] with Σ_a (e·w_a) x_a a vector e fixed in them."""
    center = x.mean(axis=0)
    arms = x - center
    size = float(np.abs(arms).max())
    scaled = arms / size
    return center, np.linalg.solve(scaled.T @ scaled, scaled.T) / size


def weights_in_frame(x: Array, points: Array) -> Array:
    """Return the weights [m, 4] of particles x [4, 3] of points [m, 3] that are fixed in their frame."""
    center, per_unit = _center_and_weights(x)
    return 0.25 + (points - center) @ per_unit


def _bodies(bodies: Sequence[Nodes | None], points: Array) -> tuple[IntArray, IntArray | None]:
    if len(bodies) != 2 or bodies[0] is None:
        raise InvalidSystem("Joint: bodies must be two: the particles of a frame, and those of another one or None.")
    found = []
    for body in bodies:
        if body is None:
            found.append(None)
            continue
        found.append(body_of("Joint", body, points))
    first, second = found
    if second is not None and set(first.tolist()) & set(second.tolist()):
        raise InvalidSystem("Joint: the two bodies must be different frames.")
    return first, second


def body_of(owner: str, body: Nodes, points: Array) -> IntArray:
    """Return the four particles of a frame."""
    if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
        raise InvalidSystem(f"{owner}: points must be finite, of shape (n, 3), got {points.shape}.")
    nodes = node_indices(owner, body)
    if len(nodes) != 4 or len(set(nodes.tolist())) < 4:
        raise InvalidSystem(f"{owner}: a body must be the four particles of a frame, got {nodes.tolist()}.")
    require_nodes(owner, nodes, len(points))
    arms = points[nodes] - points[nodes].mean(axis=0)
    size = float(np.abs(arms).max(initial=0.0))
    if size < _SMALLEST or np.linalg.matrix_rank(arms, tol=_FLAT * size) < 3:
        raise InvalidSystem(
            f"{owner}: the particles {nodes.tolist()} of a body must not be at one place or in a plane."
        )
    return nodes


def _vector(name: str, given: ArrayLike) -> Array:
    vector = np.asarray(given, dtype=float)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise InvalidSystem(f"Joint: {name} must be three finite numbers, got {given}.")
    return vector


def _direction(name: str, given: ArrayLike) -> Array:
    vector = _vector(name, given)
    size = float(np.linalg.norm(vector))
    if size == 0.0:
        raise InvalidSystem(f"Joint: {name} must not be zero.")
    return vector / size


# -- all joints of a system -----------------------------------------------------------------------------------------


@final
class Drive:
    """The condition of an angle α(t) or displacement d(t) of a joint that is given.

    g = u·(cos α v_s − sin α v_c) with the cosine u·v_c and the sine u·v_s of the angle, or g = u·v − d.
    """

    def __init__(self, row: int, coordinate: str, function: TimeFunction, pairs: list[tuple[_Term, _Term]]):
        self.row, self._function, self._is_angle = row, function, coordinate == "angle"

        u, c = pairs[0]
        s = pairs[1][1] if self._is_angle else (0.0 * c[0], 0.0 * c[1])
        self._u, self.parts = u, (c, s)  # of v: v = cosine v_c + sine v_s

    def numbers(self, times: tuple[float, ...]) -> tuple[float, float, float]:
        """Return the factors of v_c and v_s, and what is taken off the product, in the mean of times."""
        values = [self._function.value(t) for t in times]
        if not self._is_angle:
            return 1.0, 0.0, float(np.mean(values))
        return -float(np.mean(np.sin(values))), float(np.mean(np.cos(values))), 0.0

    def _turned(self, cosine: float, sine: float) -> tuple[_Term, _Term]:
        """Return u and cosine v_c + sine v_s."""
        c, s = self.parts
        return self._u, (cosine * c[0] + sine * s[0], cosine * c[1] + sine * s[1])

    def condition(self, times: tuple[float, ...]) -> tuple[tuple[_Term, _Term], float]:
        """Return u and v, and what is taken off their product, in the mean of times."""
        cosine, sine, offset = self.numbers(times)
        return self._turned(cosine, sine), offset

    def rates(self, t: float, x: Array, v: Array) -> tuple[float, float]:
        """Return ∂g/∂t, and what d²g/dt² has in addition at velocities v [8, 3], as g depends on time."""
        value, rate, second = self._function.value(t), self._function.rate(t), self._function.second(t)
        if not self._is_angle:
            return -rate, -second
        along = Products([self._turned(np.cos(value), np.sin(value))])
        now, change = float(along.value(x[None])[0]), float(np.vdot(along.gradient(x[None])[0], v))
        return -rate * now, -2.0 * rate * change - second * now


@final
class Joints(Mapping[str, Connection]):
    """The joints of a system by name, and the multipliers that keep them at a state.

    Parameters
    ----------
    joints : mapping of str to Connection
    frames : Frames or None

    Attributes
    ----------
    size : int
        c, the number of conditions of all joints.
    parts : list of slice
        The conditions of each joint.
    nodes : int32 [c, 8]
        Particles of each condition; for joints to the ground the first one again where there is none.
    frame : int [c, 2]
        The frames of the first four and the last four of these; −1: the ground.
    single : int [c]
        Nodes by themselves, which are the last four of these then; −1: none.
    products : Products
        With the weight 0 where there is no particle.
    offset : float64 [c]
    """

    def __init__(self, joints: Mapping[str, Connection], frames: Frames | None):
        self._joints, self._frames = dict(joints), frames
        if not joints:
            self.size = 0
            return
        if frames is None:
            raise InvalidSystem("joints are between frames, and the system has none. Give System the frames.")
        ends = np.cumsum([0, *(len(joint.nodes) for joint in joints.values())])
        self.parts = [slice(int(a), int(b)) for a, b in pairwise(ends)]
        of_particles = {tuple(sorted(row)): f for f, row in enumerate(frames.nodes.tolist())}
        c = int(ends[-1])
        self.nodes = np.zeros((c, 8), np.int32)
        self.frame, self.single = np.full((c, 2), -1, np.int64), np.full(c, -1, np.int64)
        for (name, joint), part in zip(joints.items(), self.parts, strict=True):
            k = joint.nodes.shape[1]
            self.nodes[part] = joint.nodes[:, :1] if k == 4 else joint.nodes[:, -1:]
            self.nodes[part, :k] = joint.nodes
            if k == 5:
                self.single[part] = joint.nodes[:, 4]
            for side, body in enumerate(joint.bodies):
                if body is None:
                    continue
                found = of_particles.get(tuple(sorted(body.tolist())))
                if found is None:
                    raise InvalidSystem(
                        f"joint '{name}' is on the particles {body.tolist()}, which are no frame of the system. Take "
                        "the four particles of one, such as frames.nodes[0]."
                    )
                self.frame[part, side] = found
        self.products = Products([pair for joint in joints.values() for pair in joint.products.padded(8)])
        self.offset = np.concatenate([joint.offset for joint in joints.values()])
        self.size, self._time = c, 0.0
        self._inverse: tuple[Masses, NDArray[np.int64], sp.csr_array] | None = None
        self._drives = [
            drive
            for joint, part in zip(joints.values(), self.parts, strict=True)
            for drive in joint.drives(part.start, 8)
        ]

    @property
    def moving(self) -> list[str]:
        """The names of joints whose angle or displacement is given."""
        return [name for name, joint in self.items() if joint.given]

    def at(self, *times: float) -> Joints:
        """Return the joints at a time in s, or in the mean of two: conditions of what is given depend on it."""
        if not self or not self._drives:
            return self
        found, pairs, offset = copy(self), self.products.padded(8), self.offset.copy()
        for drive in self._drives:
            pairs[drive.row], offset[drive.row] = drive.condition(times)
        found.products, found.offset, found._time = Products(pairs), offset, times[-1]
        return found

    def drives(self) -> tuple[IntArray, IntArray, Array, Array]:
        """Return conditions [d] of what is given, the numbers [d] of their joints among `moving`, and parts of v.

        These are the weights [2, d, 8] and constants [2, d, 3] of v_c and v_s.
        """
        rows, numbers = [drive.row for drive in self._drives], []
        for number, name in enumerate(self.moving):
            numbers += [number] * len(self[name].given)
        weights, constants = np.zeros((2, len(rows), 8)), np.zeros((2, len(rows), 3))
        for d, drive in enumerate(self._drives):
            for part, (weight, constant) in enumerate(drive.parts):
                weights[part, d], constants[part, d] = weight, constant
        return np.array(rows, np.int32), np.array(numbers, np.int32), weights, constants

    def given_at(self, starts: Array, ends: Array) -> Array:
        """Return the numbers [s, 6d] of what is given in the mean of both ends of steps, and at their ends.

        For each the factors of v_c and v_s, and what is taken off the product. Of steps up to the first one for which
        a function of time fails; the step that needs it will report it.
        """
        found: list[list[float]] = []
        with suppress(Exception):  # whatever a user's function raises
            for t0, t1 in zip(starts.tolist(), ends.tolist(), strict=True):
                found.append([x for drive in self._drives for times in ((t0, t1), (t1,)) for x in drive.numbers(times)])
        return np.array(found, float).reshape(-1, 6 * len(self._drives))

    def works(self, gradients: Array, multipliers: Array, dq: Array) -> list[float]:
        """Return the work in J on an increment Δq [n, 3] of what keeps each motion that is given as it is."""
        of_rows = -multipliers * np.einsum("cai,cai->c", gradients, dq[self.nodes])
        given = {drive.row for drive in self._drives}
        return [
            float(sum(of_rows[row] for row in range(part.start, part.stop) if row in given))
            for joint, part in zip(self.values(), self.parts, strict=True)
            if joint.given
        ]

    def _of_joints(self) -> Frames:
        assert self._frames is not None, "joints are between frames"
        return self._frames

    def __getitem__(self, name: str) -> Connection:
        return self._joints[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._joints)

    def __len__(self) -> int:
        return len(self._joints)

    @property
    def conditions(self) -> Conditions:
        """What compiled loops read of all conditions."""
        of = self.products
        constants = of.left_constant, of.right_constant
        return Conditions(self.nodes, of.left, of.right, *constants, np.hstack(of.totals), self.offset)

    @property
    def stencils(self) -> IntArray:
        """The particles [joints, 8] of each joint."""
        return self.nodes[[part.start for part in self.parts]]

    def require_movable(self, system: Masses) -> None:
        """Check that no joint is between frames that are fixed, or such a frame and the ground, and what nodes are."""
        for name, joint in self.items():
            if system.fixed[joint.nodes[0]].all():
                raise InvalidSystem(
                    f"joint '{name}' is on fixed particles only, so that it does nothing. Leave it out."
                )
        if not self or not (self.single >= 0).any():
            return
        of_frames = np.zeros(system.n_nodes, bool)
        of_frames[self._of_joints().nodes] = True
        for condition, node in enumerate(self.single.tolist()):
            if node < 0:
                continue
            reasons = {
                "is held or moved by a support": system.fixed[node].any(),
                "is a particle of a frame; join frames by a rigid Joint": of_frames[node],
                "has no mass": system.massless[node],
            }
            for reason, holds in reasons.items():
                if holds:
                    raise InvalidSystem(
                        f"'{self.name_of(condition)}' lets node {node} move with a frame, but it {reason}."
                    )

    def require_closed(self, system: Masses, q: Array, v: Array | None, required_by: str) -> None:
        """Check that positions q satisfy joints to round-off, and velocities v [n, 3], if there are any, nearly.

        Those of methods that conserve energy leave them by the square of the step.
        """
        gradients, x = self.gradients(q), q[self.nodes]
        norms = np.sqrt(np.einsum("cai,cai->c", gradients, gradients))
        away = np.abs(self.violations(q)) / norms
        size = np.abs(x - x[:, :1]).max(axis=(1, 2)) + _PRECISION * np.abs(x).max(axis=(1, 2))
        worst = int(np.argmax(away / size))
        advice = "Put bodies where their joints are, or take symplex.constraints.project(system, system.joints, state)."
        if not away[worst] <= _CLOSED * size[worst]:
            raise InfeasibleStart(
                f"{required_by}: joint '{self.name_of(worst)}' is open at the start, its particles being "
                f"{away[worst]:.3g} m from where it holds. {advice}"
            )
        if v is None:
            return
        moving = np.abs(v[self.nodes]).max(axis=(1, 2), initial=0.0)
        rates = self.rates(q, v)
        for drive in self._drives:
            rates[drive.row] += drive.rates(self._time, q[self.nodes[drive.row]], v[self.nodes[drive.row]])[0]
        speeds = np.abs(rates) / norms
        worst = int(np.argmax(speeds - _TANGENT * moving))
        if not speeds[worst] <= _TANGENT * moving[worst]:
            raise InfeasibleStart(
                f"{required_by}: the velocities at the start open joint '{self.name_of(worst)}' at "
                f"{speeds[worst]:.3g} m/s. {advice.replace('Put bodies where their joints are, or t', 'T')}"
            )

    def violations(self, q: Array) -> Array:
        """Return g [c] at positions q [n, 3] in m."""
        return self._evaluated(q)[0]

    def gradients(self, q: Array) -> Array:
        """Return ∂g/∂x [c, 8, 3] at positions q [n, 3] in m."""
        return self._evaluated(q)[1]

    def _evaluated(self, q: Array) -> tuple[Array, Array]:
        """Return both."""
        values, gradients = np.empty(self.size), np.empty((self.size, 8, 3))
        write_conditions(self.conditions, np.ascontiguousarray(q, float), values, gradients)
        return values, gradients

    def rates(self, q: Array, v: Array) -> Array:
        """Return G v [c] at positions q for velocities v [n, 3]."""
        return np.einsum("cai,cai->c", self.gradients(q), v[self.nodes])

    def bends(self, v: Array) -> Array:
        """Return vᵀ ∇²g v [c] for velocities v [n, 3]."""
        x = v[self.nodes]
        return np.asarray(np.einsum("cai,cab,cbi->c", x, self.products.scalars, x), float)

    def add_forces(self, gradients: Array, multipliers: Array, out: Array) -> None:
        """Add Gᵀλ to out [n, 3]."""
        scatter_vectors(multipliers[:, None, None] * gradients, self.nodes, out)

    def add_stiffness(self, multipliers: Array, slots: IntArray, blocks: Array) -> None:
        """Add Σ λ ∇²g to blocks [nnz, 3, 3] of a pattern, where its slots [joints, 8, 8] are those of `stencils`."""
        scalars = multipliers[:, None, None] * self.products.scalars
        scalars = np.add.reduceat(scalars, [part.start for part in self.parts])
        local = np.einsum("jab,ik->jaibk", scalars, np.eye(3))
        scatter_blocks(local.reshape(len(self), 24, 24), slots, blocks)

    def name_of(self, condition: int) -> str:
        """Return the name of the joint that a condition belongs to."""
        for name, part in zip(self, self.parts, strict=True):
            if condition < part.stop:
                return name
        raise IndexError(condition)

    def resultants(self, q: Array, gradients: Array) -> Array:
        """Return the force and moment [c, 2, 2, 3] of gradients on each of the two frames, at positions q [n, 3]."""
        x = q[self.nodes].reshape(-1, 2, 4, 3)
        g = gradients.reshape(-1, 2, 4, 3)
        arms = x - x.mean(axis=2, keepdims=True)
        return np.stack([g.sum(axis=2), np.cross(arms, g).sum(axis=2)], axis=2)

    def effective_masses(self, system: Masses, q: Array) -> Array:
        """Return 1/(G M⁻¹ Gᵀ) [c] of each condition alone, in kg or kg m²."""
        gradients = self.gradients(q)
        return 1.0 / np.einsum("cai,ca->c", gradients**2, 1.0 / nodal_mass(system)[self.nodes])

    # -- at a state -----------------------------------------------------------------------------------------------

    def multipliers(
        self, system: Masses, q: Array, v: Array, a: Array, at_rest: bool = False
    ) -> tuple[Array, NDArray[np.bool_]]:
        """Return λ [c], and whether each is determined, for which joints stay as they are.

        G ä = −vᵀ∇²g v for the accelerations a − (rigid motions of Gᵀλ).

        Parameters
        ----------
        system : System
        q, v : float64 [n, 3]
            Positions and velocities.
        a : float64 [n, 3]
            Accelerations of frames without joints.
        at_rest : bool, default False
            Whether what is given as a function of time is taken to stay as it is.
        """
        gradients, frames = self.gradients(q), self._of_joints()
        rates = np.einsum("cai,cai->c", gradients, a[self.nodes]) + self.bends(v)
        for drive in () if at_rest else self._drives:
            rates[drive.row] += drive.rates(self._time, q[self.nodes[drive.row]], v[self.nodes[drive.row]])[1]
        condition, side, of = self.ends
        resultants = self.resultants(q, gradients).reshape(self.size, 2, 6)[condition, side]
        framed = of >= 0
        resultants[~framed, 3:] = 0.0
        moved = np.empty_like(resultants)
        moved[framed] = np.einsum("kij,kj->ki", frames.compliance(system, q)[of[framed]], resultants[framed])
        nodes, mass = -1 - of[~framed], nodal_mass(system)
        moved[~framed] = 0.0
        if system.is_lumped:
            free = ~system.fixed[nodes]
            moved[~framed, :3] = np.where(free, 1.0 / mass[nodes][:, None], 0.0) * resultants[~framed, :3]
        _, place = np.unique(np.where(framed, of, len(frames) - 1 - of), return_inverse=True)
        columns, rows = (6 * place[:, None] + np.arange(6)).ravel(), np.repeat(condition, 6)
        shape = self.size, 6 * (int(place.max()) + 1)
        G = sp.csr_array((resultants.ravel(), (rows, columns)), shape=shape)
        by_force = sp.csr_array((moved.ravel(), (rows, columns)), shape=shape)
        matrix = by_force @ G.T
        if not system.is_lumped and len(nodes):
            used, inverse = self._inverse_mass(system, nodes)
            columns = 3 * np.searchsorted(used, nodes)[:, None] + np.arange(3)
            entries = resultants[~framed, :3].ravel(), (np.repeat(condition[~framed], 3), columns.ravel())
            of_nodes = sp.csr_array(entries, shape=(self.size, 3 * len(used)))
            matrix = matrix + of_nodes @ inverse @ of_nodes.T
        return _least(sp.csr_array(matrix), rates)

    def _inverse_mass(self, system: Masses, nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], sp.csr_array]:
        """Return which nodes there are, ascending, and the rows and columns of M⁻¹ that are theirs, in 1/kg."""
        if self._inverse is None or self._inverse[0] is not system:
            from scipy.sparse.linalg import splu

            used = np.unique(nodes)
            found = np.zeros((len(used), 3, len(used), 3))
            for i in range(3):
                free = np.flatnonzero(~system.fixed[:, i] & ~system.massless)
                own = np.flatnonzero(np.isin(used, free))
                unit = np.zeros((len(free), len(own)))
                unit[np.searchsorted(free, used[own]), np.arange(len(own))] = 1.0
                solved = splu(sp.csc_matrix(sp.csr_array(system.mass)[free][:, free])).solve(unit)
                found[own[:, None], i, own, i] = solved[np.searchsorted(free, used[own])]
            self._inverse = system, used, sp.csr_array(found.reshape(3 * len(used), -1))
        return self._inverse[1:]

    def accelerations(self, system: Masses, q: Array, v: Array, a: Array) -> Array:
        """Return the accelerations [n, 3] with joints, given those without."""
        multipliers, _ = self.multipliers(system, q, v, a)
        forces = np.zeros_like(q)
        self.add_forces(self.gradients(q), multipliers, forces)
        return a - self._of_joints().accelerations(system, forces, q, np.zeros_like(v))

    @cached_property
    def ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """All that conditions are on: the condition, which side of it, and the frame, or −1 − the node, of each [k]."""
        of = self.frame.copy()
        of[:, 1] = np.where(self.single >= 0, -1 - self.single, of[:, 1])
        condition, side = np.nonzero((self.frame >= 0) | np.column_stack([np.zeros(self.size, bool), self.single >= 0]))
        return np.ascontiguousarray(condition), np.ascontiguousarray(side), of[condition, side]

    @property
    def has_many(self) -> bool:
        """Whether there are so many conditions that their matrix should be a sparse one."""
        return self.size > _DENSE

    def keep_along(self, system: Masses, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
        """Return rigid velocities and accelerations [n, 3] of frames made those that joints allow, none being given."""
        frames = self._of_joints()
        if self.has_many or not system.is_lumped:
            v, a = frames.rigid_motion(system, q, self.velocities(system, q, v), a)
            return v, self.accelerations(system, q, v, a)
        of, ends, rooms = self.conditions, self.ends, along_rooms(self.size)
        of_frames = frames.nodes, frames.is_rod, frames.held, nodal_mass(system), np.asarray(system.fixed)
        rank, v = factorise_along(of, *ends, q, *of_frames, rooms, np.empty_like(q), np.empty_like(q)), v.copy()
        keep_along(of, *ends[:2], v, False, v, rooms, rank)
        v, a = frames.rigid_motion(system, q, v, a)
        keep_along(of, *ends[:2], v, True, a, rooms, rank)
        return v, a

    def velocities(self, system: Masses, q: Array, v: Array) -> Array:
        """Return the velocities [n, 3] that are nearest to rigid ones v by mass and open no joint, none being given."""
        return self.accelerations(system, q, np.zeros_like(v), v)

    def balance(self, system: Masses, q: Array, forces: Array) -> Array:
        """Return the multipliers [c] that balance as much of forces ∇V − f [n, 3] as they can, at rest; add theirs."""
        rest = np.zeros_like(q)
        a = self._of_joints().accelerations(system, -forces, q, rest)
        multipliers, _ = self.multipliers(system, q, rest, a, at_rest=True)
        self.add_forces(self.gradients(q), multipliers, forces)
        return multipliers

    def reactions(
        self, system: Masses, q: Array, v: Array, a: Array, at_rest: bool = False
    ) -> dict[str, JointReaction]:
        """Return force and moment of each joint, by name, given accelerations [n, 3] without joints."""
        multipliers, determined = self.multipliers(system, q, v, a, at_rest)
        forces, found = -multipliers[:, None, None] * self.gradients(q), {}
        for (name, joint), part in zip(self.items(), self.parts, strict=True):
            on_first = forces[part, :4].sum(axis=0)
            moment = np.cross(q[joint.nodes[0, :4]] - joint.point(q), on_first).sum(axis=0)
            found[name] = JointReaction(on_first.sum(axis=0), moment, bool(determined[part].all()))
        return found


def _padded(pairs: Sequence[tuple[_Term, _Term]], k: int) -> list[tuple[_Term, _Term]]:
    """Return pairs with weights of k particles."""
    wide = lambda term: (np.pad(term[0], (0, k - len(term[0]))), term[1])  # noqa: E731
    return [(wide(left), wide(right)) for left, right in pairs]


def _least(matrix: sp.csr_array, b: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Return the smallest x, after scaling to a diagonal of ones, and which numbers of it are determined."""
    diagonal = matrix.diagonal()
    scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    scaled, b = sp.csc_array(matrix * scale[:, None] * scale), b * scale
    if len(b) <= _DENSE:
        values, vectors = np.linalg.eigh(scaled.toarray())
        none = values < _UNDETERMINED * max(float(values[-1]), _TINY)
        solution = (vectors[:, ~none] / values[~none]) @ (vectors[:, ~none].T @ b)
        free = vectors[:, none]
    else:
        from scipy.sparse.linalg import splu

        factors = splu(sp.csc_array(scaled + _SHIFT * sp.eye_array(len(b))))
        solution = factors.solve(b)
        for _ in range(2):  # along what is determined, each leaves a part of the order of the shift
            solution += factors.solve(b - scaled @ solution)
        free = np.random.default_rng(0).standard_normal((len(b), 3))
        for _ in range(4):
            free = factors.solve(free)
            free /= np.linalg.norm(free, axis=0)
        free = free[:, np.abs(scaled @ free).max(axis=0) < _UNDETERMINED]
    return solution * scale, np.abs(free).max(axis=1, initial=0.0) <= _TAKES_PART
