"""Holonomic constraints g(q) = 0: rigid rods, points on planes, spheres and cylinders, and user-defined functions.

A constraint acts by forces λ ∇g. Those here are in m with gradients of length one where they are satisfied, so that
their multipliers λ are forces in N. Methods that keep constraints to round-off take them directly
(`symplex.time.constraints.rattle`); for all others there is `symplex.fem.measures.penalty.Penalty`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.assembly import forms
from symplex.fem.assembly.calls import Call, run
from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.directions import unit_vector
from symplex.fem.assembly.nodes import Nodes, node_indices, node_pairs, require_nodes
from symplex.fem.energies.energy import Array, IntArray
from symplex.fem.energies.projected_gradient import difference_slope
from symplex.fem.measures import loops
from symplex.fem.measures.composition import MeasureLaw
from symplex.fem.measures.law_formulas import IDENTITY, LENGTH
from symplex.fem.measures.relative import axes_from, core, distance, faces
from symplex.meshes.quadrature import mean_along, mean_slope_along

_AT_NODES = forms.Form("at_nodes", "add_at_nodes", "gradient", "vector", False)


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

    def hessian(self, x: Array) -> Array:
        """Return ∂²g/∂x² [c, k·dim, k·dim] at the positions x [c, k, dim] in m.

        Here by differences of the gradient, with an error of some 1e-9 of the curvature.
        """
        slope = difference_slope(self.gradient, x)
        return 0.5 * (slope + slope.swapaxes(1, 2))

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
        return mean_along(self.gradient, x0, x1)

    def discrete_hessian(self, x0: Array, x1: Array) -> Array:
        """Return the derivative [c, k·dim, k·dim] of the discrete gradient with respect to x1."""
        return mean_slope_along(self.hessian, x0, x1)

    # What methods call at each step, written once here.

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

    def condition_calls(self, dim: int) -> tuple[Call, Call] | None:
        """Return the calls that write what these two do in a space, if that is all there is to them."""
        return None

    def _require(self, name: str, local: Array, shape: tuple[int, ...]) -> None:
        if local.shape != shape:
            raise InvalidSystem(f"{type(self).__name__}: the local {name} has shape {local.shape}, expected {shape}.")


class MeasureConstraint(MeasureLaw, Constraint):
    """A constraint that is a law of a compiled measure: quadratic, so that its mean gradients are in closed form."""

    kernels: ClassVar = {**MeasureLaw.kernels, _AT_NODES.name: loops.add_at_nodes}

    def write_values(self, q: Array, out: Array) -> None:
        """Write g at the nodal positions q [n, dim] to out [c]."""
        q = self._checked(q)
        run(self._rows_of(forms.VALUE, q.shape[1]), out, q)

    def write_gradients(self, q: Array, out: Array) -> None:
        """Write ∂g/∂x at the nodal positions q [n, dim] to out [c·k, dim], one row for each node of each stencil."""
        q, out[...] = self._checked(q), 0.0
        run(self._rows_of(_AT_NODES, q.shape[1]), out, q)

    def condition_calls(self, dim: int) -> tuple[Call, Call] | None:
        """Return the calls of values and gradients."""
        values, gradients = self.calls(forms.VALUE, dim), self.calls(_AT_NODES, dim)
        return None if values is None or gradients is None else (values[0], gradients[0])


@checked
@final
class RigidBars(MeasureConstraint):
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
        nodes = node_pairs("RigidBars", pairs)
        self.length = _positive("RigidBars: length", length, len(nodes))
        self._compose(nodes, distance(), (LENGTH, 0.0, self.length))

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

    def tensions(self, multipliers: Array) -> Array:
        """Return the forces in N that pull the nodes of each bar together, from multipliers [c] or [..., c]."""
        return -multipliers


@checked
@final
class OnSphere(MeasureConstraint):
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
        stencils = node_indices("OnSphere", nodes)[:, None]
        self.center = _finite_vector("OnSphere: the center", center)
        self.radius = _positive("OnSphere: radius", radius, len(stencils))
        self._compose(stencils, distance(self.center), (LENGTH, 0.0, self.radius), len(self.center))


@checked
@final
class OnCylinder(MeasureConstraint):
    """Nodes at a fixed distance from a fixed line in space, g = (|P (x − o)|² − R²)/2R, P the projection across it.

    The multiplier is the force outwards.

    Parameters
    ----------
    nodes : int [c]
    point : float64 [3]
        A point o of the line in m.
    axis : float64 [3]
        The direction of the line, of any length but zero.
    radius : float or float64 [c]
        R in m.

    Raises
    ------
    InvalidSystem
        If the axis has no direction, or a radius is not positive.
    """

    def __init__(self, nodes: Nodes, point: ArrayLike, axis: ArrayLike, radius: ArrayLike):
        stencils = node_indices("OnCylinder", nodes)[:, None]
        self.point = _finite_vector("OnCylinder: the point", point, dim=3)
        self.axis = _direction("OnCylinder: the axis", axis, dim=3)
        self.radius = _positive("OnCylinder: radius", radius, len(stencils))
        measure = core(self.point, axes_from(self.axis), np.array([np.inf, 0.0, 0.0]))
        self._compose(stencils, measure, (LENGTH, 0.0, self.radius), 3)


@checked
@final
class OnPlane(MeasureConstraint):
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
        stencils = node_indices("OnPlane", nodes)[:, None]
        self.point = _finite_vector("OnPlane: the point", point)
        self.normal = _direction("OnPlane: the normal", normal, dim=len(self.point))
        self._compose(stencils, faces(self.point, [self.normal], [0.0]), (IDENTITY, 0.0, 0.0), len(self.point))


def _finite_vector(name: str, vector: ArrayLike, dim: int | None = None) -> Array:
    array = np.asarray(vector, dtype=float)
    if array.ndim != 1 or not 1 <= len(array) <= 3 or not np.isfinite(array).all() or len(array) != (dim or len(array)):
        raise InvalidSystem(f"{name} must be finite numbers [{dim or 'dim'}]; it is {vector}.")
    return array


def _direction(name: str, vector: ArrayLike, dim: int) -> Array:
    array = np.asarray(vector, dtype=float)
    if array.shape != (dim,) or not (np.isfinite(array).all() and array.any()):
        raise InvalidSystem(f"{name} must be finite and not zero, a vector of {dim} numbers; it is {vector}.")
    return unit_vector(array)


def _positive(name: str, values: ArrayLike, size: int) -> Array:
    array = np.asarray(values, dtype=float)
    if array.shape not in ((), (size,)):
        raise InvalidSystem(f"{name} has shape {array.shape}, expected one number or {size} of them.")
    array = np.array(np.broadcast_to(array, size))
    bad = np.flatnonzero(~(np.isfinite(array) & (array > 0.0)))
    if len(bad):
        raise InvalidSystem(f"{name} must be positive; number {bad[0]} is {array[bad[0]]} m.")
    return array
