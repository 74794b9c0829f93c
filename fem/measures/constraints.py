"""Holonomic constraints g(q) = 0: rigid rods, points on planes and spheres, and functions of one's own.

A constraint acts by forces λ ∇g. Those here are in m with gradients of length one where they are satisfied, so that
their multipliers λ are forces in N. Methods that keep constraints to round-off take them directly
(`symplex.time.constraints.rattle`); for all others there is `symplex.fem.measures.penalty.Penalty`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.copying import Copyable
from symplex.fem.directions import unit_vector
from symplex.fem.energy import Array, IntArray
from symplex.fem.kernels import kernel
from symplex.fem.nodes import Nodes, node_indices, node_pairs, require_nodes

# Of the mean of a gradient along a segment: exact for polynomials of degree 15, to round-off for what is smooth.
_GAUSS = [(0.5 * (1.0 + s), 0.5 * w) for s, w in zip(*np.polynomial.legendre.leggauss(8), strict=True)]


class Constraint(Copyable, ABC):
    """c conditions g(x) = 0, each on the positions of the k nodes of its stencil.

    Like those of an `Energy`, the functions are pure and take the gathered positions of *all* stencils,
    ``x = q[nodes]``. A stencil with several conditions is there several times, or in several constraints.

    Attributes
    ----------
    nodes : int32 [c, k]
        The stencils.
    """

    nodes: IntArray

    @abstractmethod
    def value(self, x: Array) -> Array:
        """Return g [c], best in m, at the positions x [c, k, dim] in m."""

    @abstractmethod
    def gradient(self, x: Array) -> Array:
        """Return ∂g/∂x [c, k, dim] at the positions x [c, k, dim] in m."""

    @abstractmethod
    def hessian(self, x: Array) -> Array:
        """Return ∂²g/∂x² [c, k·dim, k·dim] at the positions x [c, k, dim] in m."""

    def third(self, x: Array, a: Array) -> Array:
        """Return ∇³g[a, a] [c, k, dim], the second derivative of the gradient along a [c, k, dim], at x.

        Raises
        ------
        InvalidSystem
            If the constraint has none.
        """
        raise InvalidSystem(
            f"{type(self).__name__} has no third derivative. Give it third, or take a method that needs the gradient "
            "and Hessian only."
        )

    def discrete_gradient(self, x0: Array, x1: Array) -> Array:
        """Return the mean [c, k, dim] of ∇g along the segments from x0 to x1 [c, k, dim].

        Its product with x1 − x0 is g(x1) − g(x0): here by Gauss' rule of 8 points, to round-off where g is smooth.
        """
        return np.sum([w * self.gradient(x0 + s * (x1 - x0)) for s, w in _GAUSS], axis=0)

    def discrete_hessian(self, x0: Array, x1: Array) -> Array:
        """Return the derivative [c, k·dim, k·dim] of the discrete gradient with respect to x1."""
        return np.sum([w * s * self.hessian(x0 + s * (x1 - x0)) for s, w in _GAUSS], axis=0)

    # What methods call at each step, written once here; a constraint that fuses gather and function overrides them.

    def write_values(self, q: Array, out: Array) -> None:
        """Write g at the nodal positions q [n, dim] to out [c]."""
        values = self.value(q[self.nodes])
        self._require("value", values, out.shape)
        out[...] = values

    def write_gradients(self, q: Array, out: Array) -> None:
        """Write ∂g/∂x at the nodal positions q [n, dim] to out [c·k, dim], one row for each node of each stencil."""
        gradients = self.gradient(q[self.nodes])
        self._require("gradient", gradients, (*self.nodes.shape, out.shape[1]))
        out[...] = gradients.reshape(out.shape)

    def _require(self, name: str, local: Array, shape: tuple[int, ...]) -> None:
        if local.shape != shape:
            raise InvalidSystem(f"{type(self).__name__}: the local {name} has shape {local.shape}, wanted {shape}.")


class QuadraticConstraint(Constraint):
    """A constraint that is quadratic in the positions: its gradient at a midpoint is the mean of the increment."""

    def third(self, x: Array, a: Array) -> Array:
        """Return zeros [c, k, dim]."""
        return np.zeros(x.shape)

    def discrete_gradient(self, x0: Array, x1: Array) -> Array:
        """Return ∇g(½(x0 + x1)) [c, k, dim]."""
        return self.gradient(0.5 * (x0 + x1))

    def discrete_hessian(self, x0: Array, x1: Array) -> Array:
        """Return ½ ∇²g [c, k·dim, k·dim]."""
        return 0.5 * self.hessian(x1)


@checked
@final
class RigidBars(QuadraticConstraint):
    """Pairs of nodes at fixed distances, g = (|x_1 − x_0|² − L²)/2L: rods, bars of a truss, bonds.

    One end may be at a support. The multiplier is the pressure in the bar, and minus its tension.

    Parameters
    ----------
    pairs : int [c, 2]
        The nodes of each bar; the ``line`` cells of a mesh.
    length : float or float64 [c]
        L in m; see `between` for the lengths that bars have.

    Raises
    ------
    InvalidSystem
        If a pair joins a node with itself, or a length is not positive or not there for each bar.
    """

    def __init__(self, pairs: Nodes, length: ArrayLike):
        self.nodes = node_pairs("RigidBars", pairs)
        self.length = _positive("RigidBars: length", length, len(self.nodes))

    @classmethod
    @checked
    def between(cls, q: ArrayLike, pairs: Nodes) -> RigidBars:
        """Return bars of the lengths that they have at the nodal positions q [n, dim] in m.

        Raises
        ------
        InvalidSystem
            If the two nodes of a pair are at the same place, or there is no such node.
        """
        nodes, positions = node_pairs("RigidBars", pairs), np.asarray(q, dtype=float)
        if positions.ndim != 2 or not np.isfinite(positions).all():
            raise InvalidSystem(f"RigidBars: positions must be finite, [n, dim]; their shape is {positions.shape}.")
        require_nodes("RigidBars", nodes, len(positions))
        x = positions[nodes]
        return cls(nodes, np.linalg.norm(x[:, 1] - x[:, 0], axis=1))

    def value(self, x: Array) -> Array:
        """Return g [c] in m at the positions x [c, 2, dim]."""
        d = x[:, 1] - x[:, 0]
        return (np.einsum("ci,ci->c", d, d) - self.length**2) / (2.0 * self.length)

    def gradient(self, x: Array) -> Array:
        """Return ∓(x_1 − x_0)/L [c, 2, dim]."""
        d = (x[:, 1] - x[:, 0]) / self.length[:, None]
        return np.stack([-d, d], axis=1)

    def hessian(self, x: Array) -> Array:
        """Return ±I/L [c, 2·dim, 2·dim] in 1/m."""
        pair = np.kron([[1.0, -1.0], [-1.0, 1.0]], np.eye(x.shape[2]))
        return pair / self.length[:, None, None]

    def write_values(self, q: Array, out: Array) -> None:
        """Write g at the nodal positions q [n, dim] to out [c]."""
        _write_distances(q, self.nodes, self.length, out)

    def write_gradients(self, q: Array, out: Array) -> None:
        """Write ∂g/∂x at the nodal positions q [n, dim] to out [2 c, dim]."""
        _write_directions(q, self.nodes, self.length, out)

    def tensions(self, multipliers: Array) -> Array:
        """Return the forces in N that pull the nodes of each bar together, from multipliers [c] or [..., c]."""
        return -multipliers


@checked
@final
class OnSphere(QuadraticConstraint):
    """Nodes at a fixed distance from a fixed point, g = (|x − c|² − R²)/2R: pendulums, beads on a sphere.

    The multiplier is the force outwards.

    Parameters
    ----------
    nodes : int [c]
    center : float64 [dim]
        In m.
    radius : float or float64 [c]
        R in m.

    Raises
    ------
    InvalidSystem
        If a radius is not positive.
    """

    def __init__(self, nodes: Nodes, center: ArrayLike, radius: ArrayLike):
        self.nodes = node_indices("OnSphere", nodes)[:, None]
        self.center = _finite_vector("OnSphere: the center", center)
        self.radius = _positive("OnSphere: radius", radius, len(self.nodes))

    def value(self, x: Array) -> Array:
        """Return g [c] in m at the positions x [c, 1, dim]."""
        d = x[:, 0] - _fitting("OnSphere: the center", self.center, x)
        return (np.einsum("ci,ci->c", d, d) - self.radius**2) / (2.0 * self.radius)

    def gradient(self, x: Array) -> Array:
        """Return (x − c)/R [c, 1, dim]."""
        return (x - _fitting("OnSphere: the center", self.center, x)) / self.radius[:, None, None]

    def hessian(self, x: Array) -> Array:
        """Return I/R [c, dim, dim] in 1/m."""
        return np.eye(x.shape[2]) / self.radius[:, None, None]


@checked
@final
class OnPlane(QuadraticConstraint):
    """Nodes in a plane (on a line, in two dimensions), g = (x − o)·n with |n| = 1.

    The multiplier is the force along the normal.

    Parameters
    ----------
    nodes : int [c]
    point : float64 [dim]
        A point o of the plane in m.
    normal : float64 [dim]
        Of any length but zero.

    Raises
    ------
    InvalidSystem
        If the normal has no direction.
    """

    def __init__(self, nodes: Nodes, point: ArrayLike, normal: ArrayLike):
        self.nodes = node_indices("OnPlane", nodes)[:, None]
        self.point = _finite_vector("OnPlane: the point", point)
        normal = np.asarray(normal, dtype=float)
        if normal.ndim != 1 or not (np.isfinite(normal).all() and normal.any()):
            raise InvalidSystem(f"OnPlane: the normal must be finite and not zero, a vector; it is {normal}.")
        self.normal = unit_vector(normal)

    def value(self, x: Array) -> Array:
        """Return g [c] in m at the positions x [c, 1, dim]."""
        return (x[:, 0] - _fitting("OnPlane: the point", self.point, x)) @ _fitting(
            "OnPlane: the normal", self.normal, x
        )

    def gradient(self, x: Array) -> Array:
        """Return n [c, 1, dim]."""
        return np.broadcast_to(_fitting("OnPlane: the normal", self.normal, x), x.shape).copy()

    def hessian(self, x: Array) -> Array:
        """Return zeros [c, dim, dim]."""
        return np.zeros((len(x), x.shape[2], x.shape[2]))


def _fitting(name: str, vector: Array, x: Array) -> Array:
    """Return a vector that has the dimension of positions [..., dim]."""
    if vector.shape != x.shape[-1:]:
        raise InvalidSystem(f"{name} has shape {vector.shape}, but positions have {x.shape[-1]} coordinates.")
    return vector


def _finite_vector(name: str, vector: ArrayLike) -> Array:
    array = np.asarray(vector, dtype=float)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise InvalidSystem(f"{name} must be finite numbers [dim]; it is {vector}.")
    return array


def _positive(name: str, values: ArrayLike, size: int) -> Array:
    array = np.asarray(values, dtype=float)
    if array.shape not in ((), (size,)):
        raise InvalidSystem(f"{name} has shape {array.shape}, wanted one number or {size} of them.")
    array = np.array(np.broadcast_to(array, size))
    bad = np.flatnonzero(~(np.isfinite(array) & (array > 0.0)))
    if len(bad):
        raise InvalidSystem(f"{name} must be positive; number {bad[0]} is {array[bad[0]]} m.")
    return array


@kernel
def _write_distances(q, nodes, length, out):
    for c in range(len(nodes)):
        s = 0.0
        for i in range(q.shape[1]):
            s += (q[nodes[c, 1], i] - q[nodes[c, 0], i]) ** 2
        out[c] = (s - length[c] * length[c]) / (2.0 * length[c])


@kernel
def _write_directions(q, nodes, length, out):
    for c in range(len(nodes)):
        for i in range(q.shape[1]):
            d = (q[nodes[c, 1], i] - q[nodes[c, 0], i]) / length[c]
            out[2 * c, i] = -d
            out[2 * c + 1, i] = d
