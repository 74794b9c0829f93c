"""Kernels of explicit Newmark on a CUDA device: one thread for each stencil, or for each number of a node.

What a stencil's forces are, and what a kick and a drift do, stands where processors have it: these kernels only find
the numbers of their thread. Forces are written to their own places, ``forces`` [entries, dim], and each node adds up
those of its stencils in their order, so that results do not depend on the order in which threads run. Once forces are
not finite, ``stopped`` holds the number of the step, and nothing moves any more.
"""

# A device's arrays are none of NumPy's, and its threads know where they are.
# pyright: reportCallIssue=false, reportArgumentType=false, reportIndexIssue=false

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import inf, sqrt
from sys import modules
from typing import Any

import numpy as np
from numba import cuda, float64  # pyright: ignore[reportPrivateImportUsage]

from symplex.device.finding import is_simulated
from symplex.fem.compiled.kernels import device_formula, device_kernel
from symplex.fem.compiled.logarithm import log
from symplex.fem.compiled.vectors import (
    Mat3,
    Sym3,
    Vec3,
    dot,
)
from symplex.fem.measures import cut_off, relative
from symplex.fem.solids import linear_loops, neo_hookean
from symplex.fem.solids.law_gradients import isotropic_forces, strains, with_fibre
from symplex.time.explicit.newmark import drifted, kicked


def _of_arrays(formula: Any) -> Any:
    """Return a compiled formula that takes arrays as kernels call it: in the simulator, with NumPy's."""
    if not is_simulated():
        return formula

    def call(*arguments: Any) -> Any:
        return formula(*(one._item._ary if hasattr(one, "_item") else one for one in arguments))

    return call


def _teach_square_roots() -> None:
    """Let the compiler for devices know np.sqrt, as formulas of numbers and arrays have it: it knows that of math."""
    from numba.cuda.mathimpl import get_unary_impl_for_fn_and_ty
    from numba.cuda.ufuncs import ufunc_db

    def square_root(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return get_unary_impl_for_fn_and_ty(sqrt, signature.args[0])(context, builder, signature, arguments)

    ufunc_db().setdefault(np.sqrt, {"d->d": square_root})


if not is_simulated():
    _teach_square_roots()

_relative, _gradient_of = _of_arrays(relative.relative), _of_arrays(relative.gradient_of)
_slope = _of_arrays(cut_off.slope)


# -- nodes ----------------------------------------------------------------------------------------------------


@device_kernel
def drift(q, v, a, dt, stopped):
    """Do half a kick and the drift of all nodes, q, v, a [n, dim]."""
    i = cuda.grid(1)
    if i < q.shape[0] * q.shape[1] and stopped[0] < 0:
        node, j = i // q.shape[1], i % q.shape[1]
        q[node, j], v[node, j] = drifted(q[node, j], v[node, j], a[node, j], 0.5 * dt, dt)


@device_kernel
def kick(v, a, inverse_mass, constant, forces, first, entries, dt, stopped):
    """Add up the gradient of all nodes, and do the other half of the kick.

    Parameters
    ----------
    v, a, inverse_mass : float64 [n, dim]
    constant : float64 [n, dim]
        The part of the gradient that does not depend on positions.
    forces : float64 [entries, dim]
    first : int32 [n + 1]
        Where the entries of each node begin.
    entries : int32 [entries]
        The places in ``forces``, node by node.
    dt : float
    stopped : int64 [1]
    """
    i = cuda.grid(1)
    if i < v.shape[0] * v.shape[1] and stopped[0] < 0:
        node, j = i // v.shape[1], i % v.shape[1]
        gradient = constant[node, j]
        for k in range(first[node], first[node + 1]):
            gradient += forces[entries[k], j]
        a[node, j], v[node, j] = kicked(v[node, j], gradient, inverse_mass[node, j], 0.5 * dt)


# -- stencils -------------------------------------------------------------------------------------------------


@device_formula
def _edges(q, nodes, e):
    """Return the edges of a tetrahedron of nodes [4, m]."""
    o = nodes[0, e]
    u, v, w = nodes[1, e], nodes[2, e], nodes[3, e]
    return Mat3(
        *(q[u, 0] - q[o, 0], q[u, 1] - q[o, 1], q[u, 2] - q[o, 2]),
        *(q[v, 0] - q[o, 0], q[v, 1] - q[o, 1], q[v, 2] - q[o, 2]),
        *(q[w, 0] - q[o, 0], q[w, 1] - q[o, 1], q[w, 2] - q[o, 2]),
    )


@device_formula
def _set_forces(t, forces, first):
    """Set the forces of a tetrahedron on its four nodes, from the first entry on."""
    for j in range(3):
        forces[first, j] = -(t[0][j] + t[1][j] + t[2][j])
        forces[first + 1, j] = t[0][j]
        forces[first + 2, j] = t[1][j]
        forces[first + 3, j] = t[2][j]


@device_formula
def _three(rows, row, e):
    return Vec3(rows[row, e], rows[row + 1, e], rows[row + 2, e])


@device_formula
def _six(rows, e):
    return Sym3(rows[0, e], rows[1, e], rows[2, e], rows[3, e], rows[4, e], rows[5, e])


@cache
def of_neo_hookean() -> Any:
    """Return the kernel of neo-Hookean tetrahedra, with rows [7, m] of `neo_hookean` and numbers λ, μ."""
    of_edges = neo_hookean.forces

    @device_kernel
    def write(q, nodes, rows, numbers, forces, first, step, stopped):
        e = cuda.grid(1)
        if e < nodes.shape[1] and stopped[0] < 0:
            J, f = of_edges(_edges(q, nodes, e), _six(rows, e), rows[6, e], numbers[0], numbers[1])
            if not J > 0.0:
                stopped[0] = step
            _set_forces(f, forces, first + 4 * e)

    return write


@cache
def of_linear(law: tuple[float, ...]) -> Any:
    """Return the kernel of linear elastic tetrahedra, with rows [9 + 1, m] of ∂ξ_a/∂X_K and of volumes."""
    of_point = linear_loops.forces

    @device_kernel
    def write(q, nodes, rows, forces, first, step, stopped):
        e = cuda.grid(1)
        if e < nodes.shape[1] and stopped[0] < 0:
            xi = Mat3(_three(rows, 0, e), _three(rows, 3, e), _three(rows, 6, e))
            t, W = of_point(_edges(q, nodes, e), xi, rows[9, e], law)
            if not abs(W) < inf:
                stopped[0] = step
            _set_forces(t, forces, first + 4 * e)

    return write


@cache
def of_invariants(module: str, fibres: int, has_i2: bool) -> Any:
    """Return the kernel of tetrahedra of a law of invariants.

    It takes rows [8 + 3 F, m] of M, D and volumes, and of a0·∇ξ_a of each family of fibres, and the law's parameters.

    Parameters
    ----------
    module : str
        Of the law (see `LawFunctions`).
    fibres : int
        F
    has_i2 : bool
    """
    first_derivatives: Callable = modules[module].point_first
    law, n = device_formula(first_derivatives), 3 + fibres

    @device_kernel
    def write(q, nodes, rows, numbers, forces, first, step, stopped):
        e = cuda.grid(1)
        if e < nodes.shape[1] and stopped[0] < 0:
            invariants, W = cuda.local.array(n, float64), cuda.local.array(n, float64)
            d, M, V = _edges(q, nodes, e), _six(rows, e), rows[7, e]
            I1, I2, J = strains(d, M, rows[6, e], has_i2)
            invariants[0], invariants[1], invariants[2] = I1, I2, log(J)
            for f in range(fibres):
                v = _three(rows, 8 + 3 * f, e) @ d
                invariants[3 + f] = dot(v, v)
            law(numbers, invariants, W)
            t = isotropic_forces(d, M, V, has_i2, W[0], W[1], W[2])
            valid = J > 0.0 and abs(W[0] + W[1] + W[2]) < inf
            for f in range(fibres):
                t = with_fibre(t, d, _three(rows, 8 + 3 * f, e), V, W[3 + f])
                valid = valid and abs(W[3 + f]) < inf
            if not valid:
                stopped[0] = step
            _set_forces(t, forces, first + 4 * e)

    return write


@cache
def of_measure() -> Any:
    """Return the kernel of a law of a measure, as a penalty of gaps or a spring: what `measures.loops` takes."""

    @device_kernel
    def write(q, nodes, measure, law, a, b, end, forces, first, step, stopped):
        e = cuda.grid(1)
        if e < nodes.shape[0] and stopped[0] < 0:
            k = nodes.shape[1]
            m, n = _gradient_of(measure, _relative(q, nodes, e, measure))
            pull = _slope(law, a[e], b[e], end, m)
            if not abs(pull) < inf:
                stopped[0] = step
            for j in range(q.shape[1]):
                forces[first + k * e, j] = pull * n[j]
                if k > 1:
                    forces[first + k * e + 1, j] = -pull * n[j]

    return write
