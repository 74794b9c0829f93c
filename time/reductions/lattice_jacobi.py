"""Differences of an energy between lattice points of Jacobi coordinates, as C functions.

A Jacobi coordinate x_(k,c) moves component c of particle k + 1 by ``ahead[k]`` and of all before it by −``back[k]``.
Translations do not change a local energy, so that only the displacements r_a relative to each other count: here to
most nodes of the stencil, so that few remain. The change is summed along a path, one node after the other:

    φ(x + h r) − φ(x) = Σ_a D(x + h Σ_(b<a) r_b; a, h r_a),

with the difference D that the energy of the particles has itself; mixed differences are double sums of the same kind.
So nothing cancels that does not cancel there. A vertex on the way may be one where the energy is infinite though both
ends are not (a tetrahedron that is inverted when only one node has moved): then the difference is infinite.

One row of parameters: [addresses of value, difference, mixed; N, dim, stencils, nodes and parameters of a stencil;
ahead [N − 1]; back [N − 1]; the stencils, each with its lowest and its highest node after it; their parameters].
Addresses are below 2⁵³, and exact as floats.
"""

# numba declares the address of a compiled function as int | None, and does not re-export carray.
# pyright: reportArgumentType=false, reportPrivateImportUsage=false

import math

import numpy as np
from numba import carray

from symplex.fem.compiled.call import call_difference, call_mixed, call_value
from symplex.fem.compiled.kernels import c_function, inlined
from symplex.fem.energies.energy import Array, IntArray, LatticeFunctions

_VALUE, _DIFFERENCE, _MIXED, _N, _DIM, _STENCILS, _NODES, _COLUMNS = range(8)
_AHEAD = 8  # where ahead begins
_BYTES = 8


@inlined
def _layout(p):
    """Return N, dim, number of stencils, their nodes, their parameters, and where stencils and parameters begin."""
    n, m, k = int(p[_N]), int(p[_STENCILS]), int(p[_NODES])
    first = _AHEAD + 2 * (n - 1)
    return n, int(p[_DIM]), m, k, int(p[_COLUMNS]), first, first + m * (k + 2)


@inlined
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


@inlined
def _changes(p, stencil, k, i):
    """Whether Jacobi coordinate i moves the nodes of a stencil relative to each other: some, or not all alike."""
    return p[stencil + k] <= i + 1 and p[stencil + k + 1] > i


@inlined
def _relative_moves(p, n, stencil, k, i, out):
    """Write into out how the k nodes of a stencil move with Jacobi coordinate i relative to the most of them.

    It moves those up to i by −back[i], i + 1 by ahead[i] = 1 − back[i], and the others not at all.
    """
    before = after = 0
    for a in range(k):
        before += p[stencil + a] <= i
        after += p[stencil + a] > i + 1
    back = -p[_AHEAD + n - 1 + i]
    most = back if before >= after else 0.0
    for a in range(k):
        if p[stencil + a] <= i:
            out[a] = back - most
        else:
            out[a] = (p[_AHEAD + i] if p[stencil + a] == i + 1 else 0.0) - most


@inlined
def _gather(p, stencil, k, dim, y, local):
    """Copy the positions of the nodes of a stencil into local."""
    for a in range(k):
        node = int(p[stencil + a])
        for c in range(dim):
            local[a * dim + c] = y[node * dim + c]


@c_function("value")
def _value(p, x):
    n, dim, m, k, columns, first, rows = _layout(p)
    y, local = _particles(p, x, n, dim), np.empty(k * dim)
    f, row, at, total = int(p[_VALUE]), carray(p, (1,)).ctypes.data + _BYTES * rows, local.ctypes.data, 0.0
    for s in range(m):
        _gather(p, first + s * (k + 2), k, dim, y, local)
        total += call_value(f, row + _BYTES * s * columns, at)
    return total


@c_function("difference")
def _difference(p, x, i, h):
    n, dim, m, k, columns, first, rows = _layout(p)
    y, local, moves = _particles(p, x, n, dim), np.empty(k * dim), np.empty(k)
    f, row, at, total = int(p[_DIFFERENCE]), carray(p, (1,)).ctypes.data + _BYTES * rows, local.ctypes.data, 0.0
    node, c = i // dim, i % dim
    for s in range(m):
        stencil = first + s * (k + 2)
        if not _changes(p, stencil, k, node):
            continue
        _relative_moves(p, n, stencil, k, node, moves)
        _gather(p, stencil, k, dim, y, local)
        for a in range(k):
            if moves[a] != 0.0:
                total += call_difference(f, row + _BYTES * s * columns, at, a * dim + c, h * moves[a])
                local[a * dim + c] += h * moves[a]
    return total if math.isfinite(total) else math.inf


@c_function("mixed")
def _mixed(p, x, i, j, hi, hj):
    n, dim, m, k, columns, first, rows = _layout(p)
    y, local, kept = _particles(p, x, n, dim), np.empty(k * dim), np.empty(k)
    moves_i, moves_j = np.empty(k), np.empty(k)
    f, row, at, total = int(p[_MIXED]), carray(p, (1,)).ctypes.data + _BYTES * rows, local.ctypes.data, 0.0
    node_i, node_j, ci, cj = i // dim, j // dim, i % dim, j % dim
    for s in range(m):
        stencil = first + s * (k + 2)
        if not (_changes(p, stencil, k, node_i) and _changes(p, stencil, k, node_j)):
            continue
        _relative_moves(p, n, stencil, k, node_i, moves_i)
        _relative_moves(p, n, stencil, k, node_j, moves_j)
        _gather(p, stencil, k, dim, y, local)
        for a in range(k):
            if moves_i[a] == 0.0:
                continue
            for b in range(k):
                kept[b] = local[b * dim + cj]
            for b in range(k):
                if moves_j[b] != 0.0:
                    total += call_mixed(
                        f,
                        row + _BYTES * s * columns,
                        at,
                        a * dim + ci,
                        b * dim + cj,
                        hi * moves_i[a],
                        hj * moves_j[b],
                    )
                    local[b * dim + cj] += hj * moves_j[b]
            for b in range(k):
                local[b * dim + cj] = kept[b]
            local[a * dim + ci] += hi * moves_i[a]
    return total if math.isfinite(total) else math.inf


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
        How the coordinates move the particles (see `symplex.time.reductions.jacobi.JacobiCoordinates`).
    dim : int
        Dimension of space.
    """
    (m, k), columns = nodes.shape, functions.parameters.shape[1]
    head = [functions.value, functions.difference, functions.mixed, len(ahead) + 1, dim, m, k, columns]
    stencils = np.column_stack([nodes, nodes.min(axis=1), nodes.max(axis=1)])
    parts = [head, ahead, back, stencils.ravel(), functions.parameters.ravel()]
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
