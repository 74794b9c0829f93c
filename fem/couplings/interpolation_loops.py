"""Loops over points that follow nodes: products with their weights, and the stencils of nodes of theirs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symplex.errors import InvalidSystem
from symplex.fem.assembly.calls import Call, row_of
from symplex.fem.assembly.forms import Form
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.compiled.call import call_kernel
from symplex.fem.compiled.kernels import formula, kernel
from symplex.fem.compiled.records import Integer, Matrices, Nodes, Places, Record


def product(rows: tuple[IntArray, IntArray, Array], x: Array, m: int, n: int, what: str) -> Array:
    """Return B x [m, dim] of x [n, dim]."""
    if x.ndim != 2 or len(x) != n:
        raise InvalidSystem(f"an interpolation is of {n} {what}; an array for them has shape {x.shape}.")
    out = np.zeros((m, x.shape[1]))
    add_product(*rows, np.ascontiguousarray(x, dtype=float), out)
    return out


def add_matrix(add: Callable[[IntArray, Array], None], weights: Array, slots: IntArray, out: Array) -> None:
    """Add Wᵀ K W to the blocks or values out [nnz, …] at slots [m, K, K]; add(slots, local) gives K for the points."""
    m, k, _ = weights.shape
    count, size = m * k * k, int(np.prod(out.shape[1:]))
    local = np.zeros((count, *out.shape[1:]))
    add(np.arange(count, dtype=np.int32).reshape(m, k, k), local)
    _expand(weights, local.reshape(count, size), slots, out.reshape(len(out), size))


@kernel
def add_product(indptr, indices, data, x, out):
    """Add B x to out [m, dim], of x [n, dim]; with fewer than thousands of rows in a third of SciPy's time."""
    for row in range(len(out)):
        for t in range(indptr[row], indptr[row + 1]):
            for i in range(out.shape[1]):
                out[row, i] += data[t] * x[indices[t], i]


@kernel
def count_nodes(of_points, indptr, indices):
    """Return how many different nodes each of the stencils of points [m, k] follows."""
    counts = np.zeros(len(of_points), np.int64)
    for s in range(len(of_points)):
        for a in range(of_points.shape[1]):
            for t in range(indptr[of_points[s, a]], indptr[of_points[s, a] + 1]):
                new = True
                for b in range(a):
                    for u in range(indptr[of_points[s, b]], indptr[of_points[s, b] + 1]):
                        if indices[u] == indices[t]:
                            new = False
                counts[s] += new
    return counts


@kernel
def gather_nodes(of_points, indptr, indices, data, nodes, weights):
    """Set the nodes [m, K] that stencils of points [m, k] follow, and their weights [m, k, K], given as zeros."""
    for s in range(len(of_points)):
        found = 0
        for a in range(of_points.shape[1]):
            for t in range(indptr[of_points[s, a]], indptr[of_points[s, a] + 1]):
                place = 0
                while place < found and nodes[s, place] != indices[t]:
                    place += 1
                if place == found:
                    nodes[s, place] = indices[t]
                    found += 1
                weights[s, a, place] += data[t]
        for place in range(found, nodes.shape[1]):
            nodes[s, place] = nodes[s, 0]


@kernel
def _expand(weights, local, slots, out):
    """Add Wᵀ K W to out [nnz, c] at slots [m, K, K], of blocks K [m·k·k, c]; blocks of zeros are passed over."""
    m, k, K = weights.shape
    for s in range(m):
        for a in range(k):
            for b in range(k):
                row = (s * k + a) * k + b
                some = False
                for i in range(local.shape[1]):
                    some = some or local[row, i] != 0.0
                if not some:
                    continue
                for A in range(K):
                    if weights[s, a, A] == 0.0:
                        continue
                    for B in range(K):
                        weight = weights[s, a, A] * weights[s, b, B]
                        if weight != 0.0:
                            for i in range(local.shape[1]):
                                out[slots[s, A, B], i] += weight * local[row, i]


# -- energies of points in compiled loops over steps ------------------------------------------------------------------


class InterpolatedRecord(Record):
    """Nodes [m, K] and weights [m, k, K] of stencils of points; the kernel of these, its record, and places for it.

    The record of the points, of which the address is here, has them one after the other.
    """

    nodes: Nodes
    weights: Matrices
    kernel: Integer
    inner: Integer
    own: Places

    def __init__(self, *, points: Record, **values: Any):
        super().__init__(**values | {"inner": points.address})
        self._points = points

    def as_dict(self) -> dict[str, Any]:
        """Return the fields by name, with the record of the points."""
        return super().as_dict() | {"points": self._points}


def call_of(form: Form, call: Call, nodes: IntArray, weights: Array) -> Call | None:
    """Return the call of a form for nodes [m, K], with weights [m, k, K], of one for points; None if there is none."""
    m, k, _ = weights.shape
    kernel = _KERNELS.get((form.kind, form.takes))
    if kernel is None or getattr(call.record, "nodes", np.empty(0)).shape != (m, k):
        return None
    points = call.record.replace(nodes=np.arange(m * k, dtype=np.int32).reshape(m, k))
    own = np.arange(m * k * k, dtype=np.int32).reshape(m, k, k)
    address = row_of(call._replace(record=points), form.given, form.to)[0]
    tables = {"nodes": nodes, "weights": np.ascontiguousarray(weights), "own": own}
    return Call(kernel, InterpolatedRecord(points=points, kernel=address, **tables), call.ranges)


@formula
def _points(our, q, first, last):
    """Return the positions [m·k, dim] of points of some stencils."""
    nodes, weights = our.nodes, our.weights
    k, K = weights.shape[1], weights.shape[2]
    x = np.zeros((len(nodes) * k, q.shape[1]))
    for s in range(first, last):
        e = np.int64(s)  # without a sign, products with it would be floating-point numbers
        for a in range(k):
            for A in range(K):
                for i in range(q.shape[1]):
                    x[e * k + a, i] += weights[e, a, A] * q[nodes[e, A], i]
    return x


@formula
def _add_vectors(our, f, out, first, last):
    """Add forces f [m·k, dim] on points to those on nodes."""
    nodes, weights = our.nodes, our.weights
    k, K = weights.shape[1], weights.shape[2]
    for s in range(first, last):
        e = np.int64(s)
        for a in range(k):
            for A in range(K):
                for i in range(out.shape[1]):
                    out[nodes[e, A], i] += weights[e, a, A] * f[e * k + a, i]


@formula
def _add_blocks(our, slots, local, out, first, last):
    """Add Wᵀ K W of blocks K [m·k·k, dim, dim] of points."""
    weights, own = our.weights, our.own
    k, K, dim = weights.shape[1], weights.shape[2], out.shape[1]
    for s in range(first, last):
        e = np.int64(s)
        for a in range(k):
            for b in range(k):
                block = local[own[e, a, b]]
                for A in range(K):
                    for B in range(K):
                        weight = weights[e, a, A] * weights[e, b, B]
                        if weight != 0.0:
                            for i in range(dim):
                                for j in range(dim):
                                    out[slots[e, A, B], i, j] += weight * block[i, j]


@kernel
def _add_vector(q, our, out, first, last):
    x = _points(our, q, first, last)
    f = np.zeros_like(x)
    check = call_kernel(our.kernel, (x, our.inner, f, first, last))
    _add_vectors(our, f, out, first, last)
    return check


@kernel
def _add_vector_of_two(q0, q1, our, out, first, last):
    x0, x1 = _points(our, q0, first, last), _points(our, q1, first, last)
    f = np.zeros_like(x0)
    check = call_kernel(our.kernel, (x0, x1, our.inner, f, first, last))
    _add_vectors(our, f, out, first, last)
    return check


@kernel
def _add_matrix(q, our, slots, out, first, last):
    x, local = _points(our, q, first, last), np.zeros((our.own.size, q.shape[1], q.shape[1]))
    check = call_kernel(our.kernel, (x, our.inner, our.own, local, first, last))
    _add_blocks(our, slots, local, out, first, last)
    return check


@kernel
def _add_matrix_of_two(q0, q1, our, slots, out, first, last):
    x0, x1 = _points(our, q0, first, last), _points(our, q1, first, last)
    local = np.zeros((our.own.size, q0.shape[1], q0.shape[1]))
    check = call_kernel(our.kernel, (x0, x1, our.inner, our.own, local, first, last))
    _add_blocks(our, slots, local, out, first, last)
    return check


_KERNELS = {
    ("vector", 1): _add_vector,
    ("vector", 2): _add_vector_of_two,
    ("block", 1): _add_matrix,
    ("block", 2): _add_matrix_of_two,
}
