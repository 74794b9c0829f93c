"""Differences of an energy between lattice points of Jacobi coordinates, as C functions.

A Jacobi coordinate x_(k,c) moves component c of particle k + 1 by ``ahead[k]`` and of all before it by −``back[k]``.
Translations do not change a local energy, so that only the displacements r_a relative to each other count: here to
most nodes of the stencil, so that few remain. The change is summed along a path, one node after the other:

    φ(x + h r) − φ(x) = Σ_a D(x + h Σ_(b<a) r_b; a, h r_a),

with the difference D that the energy of the particles has itself; mixed differences are double sums of the same kind.
So nothing cancels that does not cancel there. A vertex on the way may be one where the energy is infinite though both
ends are not (a tetrahedron that is inverted when only one node has moved): then the difference is infinite.

One row of parameters: [addresses of value, difference, mixed; N, dim, stencils, nodes and parameters of a stencil;
ahead [N − 1]; back [N − 1]; the stencils; their parameters]. Addresses are below 2⁵³, and exact as floats.
"""

# numba declares the address of a compiled function as int | None, and does not re-export carray.
# pyright: reportArgumentType=false, reportPrivateImportUsage=false

import math

import numpy as np
from numba import carray, cfunc, njit, types

from symplex.fem.call import call_difference, call_mixed, call_value
from symplex.fem.energy import Array, IntArray, LatticeFunctions

_POINTER = types.CPointer(types.float64)
_VALUE, _DIFFERENCE, _MIXED, _N, _DIM, _STENCILS, _NODES, _COLUMNS = range(8)
_AHEAD = 8  # where ahead begins
_OPTIONS = {"cache": True, "error_model": "numpy", "fastmath": {"contract"}}
_jit = njit(error_model="numpy", fastmath={"contract"})
_BYTES = 8


@_jit
def _layout(p):
    """Return N, dim, number of stencils, their nodes, their parameters, and where stencils and parameters begin."""
    n, m, k = int(p[_N]), int(p[_STENCILS]), int(p[_NODES])
    first = _AHEAD + 2 * (n - 1)
    return n, int(p[_DIM]), m, k, int(p[_COLUMNS]), first, first + m * k


@_jit
def _row(p_):
    _, _, m, _, columns, _, rows = _layout(p_)
    return carray(p_, (rows + m * columns,))


@_jit
def _particles(p, x, n, dim):
    """Return the positions [N·dim] of all particles, with their centre of mass at the origin (eq. 40)."""
    y = np.empty(n * dim)
    for c in range(dim):
        back = 0.0
        for a in range(n - 1, 0, -1):
            relative = x[(a - 1) * dim + c]
            y[a * dim + c] = p[_AHEAD + a - 1] * relative - back
            back += p[_AHEAD + n - 1 + a - 1] * relative
        y[c] = -back
    return y


@_jit
def _relative_moves(p, n, nodes, k, out):
    """Write into out how nodes move with Jacobi coordinate k relative to the most of them; return whether any does.

    It moves those up to k by −back[k], k + 1 by ahead[k] = 1 − back[k], and the others not at all.
    """
    before = after = 0
    for a in range(len(nodes)):
        before += nodes[a] <= k
        after += nodes[a] > k + 1
    most = -p[_AHEAD + n - 1 + k] if before >= after else 0.0
    for a in range(len(nodes)):
        if nodes[a] <= k:
            out[a] = -p[_AHEAD + n - 1 + k] - most
        else:
            out[a] = (p[_AHEAD + k] if nodes[a] == k + 1 else 0.0) - most
    return max(before, after) < len(nodes)


@_jit
def _gather(y, nodes, dim, local):
    for a in range(len(nodes)):
        for c in range(dim):
            local[a * dim + c] = y[int(nodes[a]) * dim + c]


@cfunc(types.float64(_POINTER, _POINTER), **_OPTIONS)
def _value(p_, x_):
    n, dim, m, k, columns, first, rows = _layout(p_)
    p, x = _row(p_), carray(x_, ((n - 1) * dim,))
    y, local = _particles(p, x, n, dim), np.empty(k * dim)
    f, total = int(p[_VALUE]), 0.0
    for s in range(m):
        _gather(y, p[first + s * k : first + (s + 1) * k], dim, local)
        total += call_value(f, p.ctypes.data + _BYTES * (rows + s * columns), local.ctypes.data)
    return total


@cfunc(types.float64(_POINTER, _POINTER, types.int64, types.float64), **_OPTIONS)
def _difference(p_, x_, i, h):
    n, dim, m, k, columns, first, rows = _layout(p_)
    p, x = _row(p_), carray(x_, ((n - 1) * dim,))
    y, local, moves = _particles(p, x, n, dim), np.empty(k * dim), np.empty(k)
    c = i % dim
    f, total = int(p[_DIFFERENCE]), 0.0
    for s in range(m):
        nodes = p[first + s * k : first + (s + 1) * k]
        if not _relative_moves(p, n, nodes, i // dim, moves):
            continue
        _gather(y, nodes, dim, local)
        row = p.ctypes.data + _BYTES * (rows + s * columns)
        for a in range(k):
            if moves[a] != 0.0:
                total += call_difference(f, row, local.ctypes.data, a * dim + c, h * moves[a])
                local[a * dim + c] += h * moves[a]
        if not math.isfinite(total):
            return math.inf
    return total


@cfunc(types.float64(_POINTER, _POINTER, types.int64, types.int64, types.float64, types.float64), **_OPTIONS)
def _mixed(p_, x_, i, j, hi, hj):
    n, dim, m, k, columns, first, rows = _layout(p_)
    p, x = _row(p_), carray(x_, ((n - 1) * dim,))
    y, local, kept = _particles(p, x, n, dim), np.empty(k * dim), np.empty(k)
    moves_i, moves_j = np.empty(k), np.empty(k)
    ci, cj = i % dim, j % dim
    f, total = int(p[_MIXED]), 0.0
    for s in range(m):
        nodes = p[first + s * k : first + (s + 1) * k]
        if not (_relative_moves(p, n, nodes, i // dim, moves_i) and _relative_moves(p, n, nodes, j // dim, moves_j)):
            continue
        _gather(y, nodes, dim, local)
        row = p.ctypes.data + _BYTES * (rows + s * columns)
        for a in range(k):
            if moves_i[a] == 0.0:
                continue
            for b in range(k):
                kept[b] = local[b * dim + cj]
            for b in range(k):
                if moves_j[b] != 0.0:
                    total += call_mixed(
                        f, row, local.ctypes.data, a * dim + ci, b * dim + cj, hi * moves_i[a], hj * moves_j[b]
                    )
                    local[b * dim + cj] += hj * moves_j[b]
            for b in range(k):
                local[b * dim + cj] = kept[b]
            local[a * dim + ci] += hi * moves_i[a]
        if not math.isfinite(total):
            return math.inf
    return total


def jacobi_lattice(
    functions: LatticeFunctions, nodes: IntArray, ahead: Array, back: Array, dim: int
) -> LatticeFunctions:
    """Return the lattice functions of an energy of particles in their Jacobi coordinates.

    Parameters
    ----------
    functions : LatticeFunctions
        Of the stencils of the particles.
    nodes : int32 [m, k]
        These stencils.
    ahead, back : float64 [N - 1]
        How the coordinates move the particles (see `symplex.fem.jacobi.JacobiCoordinates`).
    dim : int
        Dimension of space.
    """
    (m, k), columns = nodes.shape, functions.parameters.shape[1]
    head = [functions.value, functions.difference, functions.mixed, len(ahead) + 1, dim, m, k, columns]
    parts = [head, ahead, back, nodes.ravel(), functions.parameters.ravel()]
    row = np.concatenate([np.asarray(part, dtype=float) for part in parts])[None]
    return LatticeFunctions(
        row,
        _value.address,
        _difference.address,
        _mixed.address,
        size=len(ahead) * dim,
        failures=functions.failures,
        owner=functions.owner,
    )
