"""Rigid obstacles: the measure that shows how far a point is from each, and what it looks like to compiled code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.base.quantities import positive
from symplex.base.representation import Summarized
from symplex.errors import InvalidSystem
from symplex.fem.assembly.directions import unit_vector
from symplex.fem.assembly.pattern import Array
from symplex.fem.measures import loops
from symplex.fem.measures.law_formulas import COMPRESSION, PENALTY, TENSION
from symplex.fem.measures.relative import axes_from, core, distance, faces

_ORTHONORMAL = 1e-9  # how far axes may be from it


class Obstacle(Summarized):
    """A rigid body that does not deform. Where its gap g(x) is positive is admissible."""

    dim: int  # dimension of space
    measure: Array  # the measure (see `symplex.fem.measures.relative`) of a position that the gap is made of
    law: tuple[int, float]  # the law that the penalty ½ k ⟨−g⟩² is of the measure, and its length
    compiled: ClassVar[bool] = True  # whether it has a measure and a law, of which kernels know
    slope: float = 1.0  # |∂g/∂x|: 1 where g is a distance in m

    def _set(self, **attributes: Any) -> None:
        """Set attributes of an obstacle, which is frozen."""
        self.__dict__.update(attributes)

    def gap(self, x: Array) -> Array:
        """Return the gap g [m] of the points x [m, dim]."""
        points, m = np.ascontiguousarray(x, dtype=float), np.empty(len(x))
        if points.shape[1:] != (self.dim,):
            raise InvalidSystem(f"{type(self).__name__}: points have shape {points.shape}, expected (m, {self.dim}).")
        loops.measures(points, np.arange(len(x), dtype=np.int32)[:, None], self.measure, m)
        law, length = self.law
        return m if law == PENALTY else np.sqrt(m) - length if law == COMPRESSION else length - np.sqrt(m)


@checked
@final
@dataclass(frozen=True, eq=False, init=False, repr=False)
class HalfSpace(Obstacle):
    """The half-space (x − O)·n < 0, bounded by a plane; g = (x − O)·n.

    Parameters
    ----------
    point : float64 [dim]
        A point O of the plane in m.
    normal : float64 [dim]
        The outward normal n, towards the admissible side.
    normalize : bool, default True
        Whether to scale n to unit length, which makes g a distance. With False, n is taken as it is:
        the convention of Gonzalez, Schmidt and Ortiz (2010), eqs. 76–77, with n = (0, −1, −1) in their example.

    Raises
    ------
    InvalidSystem
        If the normal is zero, or sizes or numbers do not fit.
    """

    point: Array
    normal: Array

    def __init__(self, point: ArrayLike, normal: ArrayLike, normalize: bool = True):
        origin, n = _vector("HalfSpace: point", point), _vector("HalfSpace: normal", normal)
        if origin.shape != n.shape:
            raise InvalidSystem(f"HalfSpace: point has {len(origin)} components, normal has {len(n)}.")
        if not n.any():
            raise InvalidSystem("HalfSpace: the normal is zero; it must point to the admissible side.")
        n = unit_vector(n) if normalize else n
        self._set(point=origin, normal=n, dim=len(origin), slope=float(np.linalg.norm(n)))
        self._set(measure=faces(origin, [n], [0.0]), law=(PENALTY, 0.0))  # (x − O)·n


class _Round(Obstacle):
    """What is within, or with ``inside`` beyond, a distance R from a core."""

    radius: float
    inside: bool

    def _set_round(self, radius: float, inside: bool, measure: Array, dim: int = 3) -> None:
        """Set the radius, and the measure, which is l², l the distance from the core: ½ k ⟨R − l⟩² or ½ k ⟨l − R⟩²."""
        law = TENSION if inside else COMPRESSION, float(radius)
        self._set(radius=float(radius), inside=inside, measure=measure, law=law, dim=dim)


@checked
@final
@dataclass(frozen=True, eq=False, init=False, repr=False)
class Sphere(_Round):
    """A solid ball (a disc in the plane), g = |x − c| − R; or a vessel, g = R − |x − c|.

    Parameters
    ----------
    center : float64 [dim]
        The centre c in m.
    radius : float
        R in m.
    inside : bool, default False
        Whether the inside is admissible.

    Raises
    ------
    InvalidSystem
        If the radius is not positive, or the centre not finite.
    """

    center: Array
    radius: float
    inside: bool

    def __init__(self, center: ArrayLike, radius: Annotated[float, positive("m")], inside: bool = False):
        self._set(center=_vector("Sphere: center", center))
        self._set_round(radius, inside, distance(self.center), len(self.center))


@checked
@final
@dataclass(frozen=True, eq=False, init=False, repr=False)
class Cylinder(_Round):
    """A round bar without ends, or a pipe: g = ±(l − R), l the distance of x from a line in space.

    Parameters
    ----------
    point : float64 [3]
        A point of the axis in m.
    axis : float64 [3]
        Its direction, of any length but zero.
    radius : float
        R in m.
    inside : bool, default False
        Whether the inside is admissible.

    Raises
    ------
    InvalidSystem
        If the axis has no direction, or the radius is not positive.
    """

    point: Array
    axis: Array
    radius: float
    inside: bool

    def __init__(
        self, point: ArrayLike, axis: ArrayLike, radius: Annotated[float, positive("m")], inside: bool = False
    ):
        start, direction = _vector("Cylinder: point", point, 3), _vector("Cylinder: axis", axis, 3)
        if not direction.any():
            raise InvalidSystem("Cylinder: the axis is zero; it must be a direction.")
        self._set(point=start, axis=unit_vector(direction))
        self._set_round(radius, inside, core(self.point, axes_from(self.axis), np.array([np.inf, 0.0, 0.0])))


@checked
@final
@dataclass(frozen=True, eq=False, init=False, repr=False)
class Capsule(_Round):
    """A round bar with hemispheres for ends: g = ±(l − R), l the distance of x from a segment.

    Parameters
    ----------
    start, end : float64 [3]
        The ends of the segment in m: the centres of the hemispheres.
    radius : float
        R in m.
    inside : bool, default False
        Whether the inside is admissible.

    Raises
    ------
    InvalidSystem
        If the ends are at one point, or the radius is not positive.
    """

    start: Array
    end: Array
    radius: float
    inside: bool

    def __init__(self, start: ArrayLike, end: ArrayLike, radius: Annotated[float, positive("m")], inside: bool = False):
        self._set(start=_vector("Capsule: start", start, 3), end=_vector("Capsule: end", end, 3))
        along = self.end - self.start
        if not along.any():
            raise InvalidSystem("Capsule: both ends are at one point; take a Sphere.")
        half = np.array([0.5 * np.linalg.norm(along), 0.0, 0.0])
        self._set_round(radius, inside, core(0.5 * (self.start + self.end), axes_from(unit_vector(along)), half))


@checked
@final
@dataclass(frozen=True, eq=False, init=False, repr=False)
class Box(Obstacle):
    """A block with sharp edges, or a container; a rectangle in the plane.

    Of a block a node is pushed out through the nearest face; a container pushes it back to the nearest point inside.

    Parameters
    ----------
    center : float64 [dim]
        The centre in m.
    size : float64 [dim]
        The lengths of the edges in m.
    axes : float64 [dim, dim], optional
        The directions of the edges, one unit vector in each row; default: the coordinate axes.
    inside : bool, default False
        Whether the inside is admissible.

    Raises
    ------
    InvalidSystem
        If a length is not positive, the axes are not orthonormal, or sizes or numbers do not fit.
    """

    center: Array
    size: Array
    axes: Array
    inside: bool

    def __init__(self, center: ArrayLike, size: ArrayLike, axes: ArrayLike | None = None, inside: bool = False):
        middle = _vector("Box: center", center)
        edges, dim = _vector("Box: size", size, len(middle)), len(middle)
        if not (edges > 0).all():
            raise InvalidSystem(f"Box: the lengths of the edges must be positive; they are {edges} m.")
        rows = np.eye(dim) if axes is None else np.array(axes, dtype=float)
        if rows.shape != (dim,) * 2 or not np.abs(rows @ rows.T - np.eye(dim)).max() < _ORTHONORMAL:
            raise InvalidSystem(f"Box: the axes must be {dim} orthonormal vectors, one in each row.")
        # Of a block the greatest height above a face; of a container the squared distance from it.
        half = 0.5 * edges
        block = faces(middle, np.concatenate([rows, -rows]), np.concatenate([half, half]))
        measure = core(middle, rows, half) if inside else block
        self._set(center=middle, size=edges, axes=rows, inside=inside, dim=dim)
        self._set(measure=measure, law=(TENSION, 0.0) if inside else (PENALTY, 0.0))

    def gap(self, x: Array) -> Array:
        """Return the distance g [m] of the points x [m, dim] from the surface, negative where it is not admissible."""
        y = np.abs((np.asarray(x, dtype=float) - self.center) @ self.axes.T) - 0.5 * self.size
        outside = np.linalg.norm(np.maximum(y, 0.0), axis=1) + np.minimum(y.max(axis=1), 0.0)
        return -outside if self.inside else outside


def _vector(name: str, values: ArrayLike, dim: int | None = None) -> Array:
    vector = np.array(values, dtype=float)
    if vector.ndim != 1 or not 1 <= len(vector) <= 3 or not np.all(np.isfinite(vector)):
        raise InvalidSystem(f"{name} must be {dim or '1 to 3'} finite numbers; it is {values}.")
    if dim is not None and len(vector) != dim:
        raise InvalidSystem(f"{name} must be {dim} finite numbers; it is {values}.")
    vector.setflags(write=False)
    return vector
