"""Rigid obstacles: where the boundary is, and how far a point is from it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.directions import unit_vector
from symplex.fem.energy import Array
from symplex.fem.kernels import kernel

# Layout of Obstacle.parameters, which the compiled kernels read.
DIM, RADIUS, POINT, NORMAL = 0, 1, 2, 5
COLUMNS = 8  # point and normal are padded to three components


class Obstacle(ABC):
    """A rigid body that does not move. Its outside, where the gap g(x) is positive, is admissible.

    Attributes
    ----------
    dim : int
        Dimension of space.
    """

    dim: int

    @property
    @abstractmethod
    def parameters(self) -> Array:
        """The numbers [COLUMNS] that compiled kernels need: dimension, radius (0: a plane), point, normal."""

    @abstractmethod
    def gap(self, x: Array) -> Array:
        """Return the gap g [m] of the points x [m, dim]."""

    @abstractmethod
    def gap_gradient(self, x: Array) -> Array:
        """Return ∂g/∂x [m, dim] at the points x [m, dim]."""

    @abstractmethod
    def gap_hessian(self, x: Array) -> Array:
        """Return ∂²g/∂x² [m, dim, dim] in 1/m at the points x [m, dim]."""

    @abstractmethod
    def gap_third(self, x: Array, a: Array) -> Array:
        """Return ∇³g[a, a] [m, dim], the second derivative of ∂g/∂x along a [m, dim], at the points x [m, dim]."""

    @abstractmethod
    def gap_quotient(self, x0: Array, x1: Array) -> Array:
        """Return a mean G [m, dim] of ∂g/∂x from x0 to x1 [m, dim]: G·(x1 − x0) = g(x1) − g(x0), symmetric in both."""

    @abstractmethod
    def gap_quotient_slope(self, x0: Array, x1: Array) -> Array:
        """Return ∂G/∂x1 [m, dim, dim] in 1/m, which need not be symmetric."""

    @property
    @abstractmethod
    def slope(self) -> float:
        """|∂g/∂x|: 1 where g is a distance in m."""

    @abstractmethod
    def rotated(self, axes: Array) -> Obstacle:
        """Return the obstacle in rotated axes, x' = axes · x (axes [dim, dim], orthogonal)."""

    @property
    @abstractmethod
    def origin(self) -> Array:
        """The point [dim] that the obstacle is given by: from it, gaps lose no digits."""

    @abstractmethod
    def moved(self, by: Array) -> Obstacle:
        """Return the obstacle moved by a vector [dim]."""


@checked
@final
@dataclass(frozen=True, eq=False, init=False)
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
        object.__setattr__(self, "point", origin)
        object.__setattr__(self, "normal", unit_vector(n) if normalize else n)

    @property
    def dim(self) -> int:
        """Dimension of space."""
        return len(self.point)

    @property
    def parameters(self) -> Array:
        """See `Obstacle.parameters`."""
        return _parameters(0.0, self.point, self.normal)

    def gap(self, x: Array) -> Array:
        """Return g = (x − O)·n [m] at the points x [m, dim]."""
        return (x - self.point) @ self.normal

    def gap_gradient(self, x: Array) -> Array:
        """Return n at each point [m, dim]."""
        return np.broadcast_to(self.normal, x.shape)

    def gap_hessian(self, x: Array) -> Array:
        """Return zeros [m, dim, dim]: a plane is not curved."""
        return np.zeros((len(x), self.dim, self.dim))

    def gap_third(self, x: Array, a: Array) -> Array:
        """Return zeros [m, dim]."""
        return np.zeros_like(x)

    def gap_quotient(self, x0: Array, x1: Array) -> Array:
        """Return n for each increment [m, dim]."""
        return self.gap_gradient(x1)

    def gap_quotient_slope(self, x0: Array, x1: Array) -> Array:
        """Return zeros [m, dim, dim]."""
        return self.gap_hessian(x1)

    @property
    def slope(self) -> float:
        """|n|."""
        return float(np.linalg.norm(self.normal))

    def rotated(self, axes: Array) -> HalfSpace:
        """Return the half-space in rotated axes."""
        return HalfSpace(axes @ self.point, axes @ self.normal, normalize=False)

    @property
    def origin(self) -> Array:
        """The point O."""
        return self.point

    def moved(self, by: Array) -> HalfSpace:
        """Return the half-space moved by a vector."""
        return HalfSpace(self.point + by, self.normal, normalize=False)


@checked
@final
@dataclass(frozen=True, eq=False, init=False)
class Sphere(Obstacle):
    """A solid ball (a disc in the plane); g = |x − c| − R.

    Parameters
    ----------
    center : float64 [dim]
        The centre c in m.
    radius : float
        R in m.

    Raises
    ------
    InvalidSystem
        If the radius is not positive, or the centre not finite.
    """

    center: Array
    radius: float

    def __init__(self, center: ArrayLike, radius: float):
        if not (np.isfinite(radius) and radius > 0):
            raise InvalidSystem(f"Sphere: the radius must be positive; it is {radius} m.")
        object.__setattr__(self, "center", _vector("Sphere: center", center))
        object.__setattr__(self, "radius", float(radius))

    @property
    def dim(self) -> int:
        """Dimension of space."""
        return len(self.center)

    @property
    def parameters(self) -> Array:
        """See `Obstacle.parameters`."""
        return _parameters(self.radius, self.center, np.zeros(self.dim))

    def gap(self, x: Array) -> Array:
        """Return g = |x − c| − R [m] at the points x [m, dim]."""
        return np.linalg.norm(x - self.center, axis=1) - self.radius

    def gap_gradient(self, x: Array) -> Array:
        """Return n = (x − c)/|x − c| [m, dim] at the points x [m, dim], and zero at the centre."""
        d = x - self.center
        r = np.linalg.norm(d, axis=1)[:, None]
        return np.divide(d, r, out=np.zeros_like(d), where=r > 0)

    def gap_hessian(self, x: Array) -> Array:
        """Return (I − n ⊗ n)/|x − c| [m, dim, dim] at the points x [m, dim], and zero at the centre."""
        n = self.gap_gradient(x)
        r = np.linalg.norm(x - self.center, axis=1)[:, None, None]
        tangential = np.eye(self.dim) - n[:, :, None] * n[:, None, :]
        return np.divide(tangential, r, out=np.zeros_like(tangential), where=r > 0)

    def gap_third(self, x: Array, a: Array) -> Array:
        """Return −(2 u w + |w|² n)/|x − c|² [m, dim], u = a·n, w = a − u n; zero at the centre."""
        n = self.gap_gradient(x)
        u = np.einsum("mi,mi->m", a, n)[:, None]
        w = a - u * n
        squared = np.sum((x - self.center) ** 2, axis=1)[:, None]
        change = -2.0 * u * w - np.sum(w * w, axis=1)[:, None] * n
        return np.divide(change, squared, out=np.zeros_like(change), where=squared > 0)

    def gap_quotient(self, x0: Array, x1: Array) -> Array:
        """Return G = (d0 + d1)/(l0 + l1) [m, dim], d = x − c, l = |d|; zero if both are the centre.

        It is along the middle of the increment as seen from the centre, so that a force along it keeps the angular
        momentum about the centre.
        """
        d = (x0 - self.center) + (x1 - self.center)
        lengths = self._lengths(x0, x1)[:, None]
        return np.divide(d, lengths, out=np.zeros_like(d), where=lengths > 0)

    def gap_quotient_slope(self, x0: Array, x1: Array) -> Array:
        """Return ∂G/∂x1 = (I − G ⊗ d1/l1)/(l0 + l1) [m, dim, dim]; zero if both are the centre."""
        lengths = self._lengths(x0, x1)[:, None, None]
        change = np.eye(self.dim) - self.gap_quotient(x0, x1)[:, :, None] * self.gap_gradient(x1)[:, None, :]
        return np.divide(change, lengths, out=np.zeros_like(change), where=lengths > 0)

    def _lengths(self, x0: Array, x1: Array) -> Array:
        return np.linalg.norm(x0 - self.center, axis=1) + np.linalg.norm(x1 - self.center, axis=1)

    @property
    def slope(self) -> float:
        """1: g is a distance."""
        return 1.0

    def rotated(self, axes: Array) -> Sphere:
        """Return the sphere in rotated axes."""
        return Sphere(axes @ self.center, self.radius)

    @property
    def origin(self) -> Array:
        """The centre c."""
        return self.center

    def moved(self, by: Array) -> Sphere:
        """Return the sphere moved by a vector."""
        return Sphere(self.center + by, self.radius)


@kernel
def gap(p, x):
    """Return g(x) for the parameters p [COLUMNS] of an obstacle and a point x [dim]."""
    s = 0.0
    if p[RADIUS] > 0.0:
        for i in range(int(p[DIM])):
            s += (x[i] - p[POINT + i]) ** 2
        return np.sqrt(s) - p[RADIUS]
    for i in range(int(p[DIM])):
        s += (x[i] - p[POINT + i]) * p[NORMAL + i]
    return s


def _vector(name: str, values: ArrayLike) -> Array:
    vector = np.array(values, dtype=float)
    if vector.ndim != 1 or not 1 <= len(vector) <= 3 or not np.all(np.isfinite(vector)):
        raise InvalidSystem(f"{name} must be 1 to 3 finite numbers; it is {values}.")
    vector.setflags(write=False)
    return vector


def _parameters(radius: float, point: Array, normal: Array) -> Array:
    p = np.zeros(COLUMNS)
    p[DIM], p[RADIUS] = len(point), radius
    p[POINT : POINT + len(point)] = point
    p[NORMAL : NORMAL + len(point)] = normal
    return p
