"""Steps of levels in compiled loops: drifts and kicks of nodes, forces by the addresses of the loops of energies."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.fem.assembly.calls import add_rows
from symplex.fem.assembly.pattern import Array
from symplex.fem.compiled.kernels import formula, kernel

# Columns of the spans of a level: its first node, its rows in the gradients, and its calls.
_NODE, _FIRST, _END, _CALL, _LAST_CALL = range(5)


class LevelTable(NamedTuple):
    """Levels as compiled loops take them, the slowest first.

    Attributes
    ----------
    bounds : int64 [levels + 1]
        Where the nodes that move at the rate of each level begin, and the end.
    spans : int64 [levels, 5]
        Of each level the first node of its stencils, its first row in the gradients and the end, its first call and
        the end.
    constants, gradients : float64 [rows, dim]
        Gradients in N, level by level, and their constant parts.
    calls : int64 [k, 7]
        The calls of energies (see `symplex.fem.assembly.calls`).
    """

    bounds: NDArray[np.int64]
    spans: NDArray[np.int64]
    constants: Array
    gradients: Array
    calls: NDArray[np.int64]


@kernel
def drift(q, v, bounds, first, h):
    """Do q += h/2ˡ v for the nodes of the levels l from the first one on."""
    _drift(q, v, bounds, first, h)


@kernel
def kick(v, inverse_mass, gradient, first, h):
    """Do v −= h M⁻¹ gradient for the nodes that have one [l, dim], from the first one on."""
    _kick(v, inverse_mass, gradient, first, h)


@kernel
def collect(impulse, a, inverse_mass, gradient, first, part):
    """Add a part of the gradient [l, dim] to the impulse, and its acceleration to a, from the first node on."""
    _collect(impulse, a, inverse_mass, gradient, first, part)


@kernel
def copy_rows(values, here, out, there):
    """Set rows of out [m, dim] to rows of values [n, dim]."""
    for a in range(len(here)):
        for i in range(values.shape[1]):
            out[there[a], i] = values[here[a], i]


@kernel
def move_rows(values, here, out, there):
    """Add rows of values [n, dim] to rows of out [m, dim], and set them to zero."""
    for a in range(len(here)):
        for i in range(values.shape[1]):
            out[there[a], i] += values[here[a], i]
            values[here[a], i] = 0.0


@kernel
def take_ticks(table, start, end, h, q, v, inverse_mass):
    """Take the finest steps start … end − 1 ≥ 1 within a largest step h, as far as forces are finite.

    Return the one that could not be taken: nodes are where it has brought them then; otherwise ``end``.
    """
    return _take_ticks(table, start, end, h, q, v, inverse_mass)


@kernel
def act(table, first, last, h, q, v, inverse_mass):
    """Find the gradients of the levels first … last − 1, and kick by them; return whether all forces are finite."""
    return _act(table, first, last, h, q, v, inverse_mass)


@kernel
def take_steps(table, n, h, q, v, a, impulse, inverse_mass):
    """Take n largest steps h, as far as forces are finite.

    Return how many of their finest steps could be taken.
    """
    levels = len(table.spans)
    ticks = 1 << (levels - 1)
    for step in range(n):
        _kick(v, inverse_mass, impulse, 0, h)
        reached = _take_ticks(table, 1, ticks, h, q, v, inverse_mass)
        if reached < ticks:
            return step * ticks + reached - 1
        _drift(q, v, table.bounds, 0, h)
        impulse[:] = 0.0
        a[:] = 0.0
        for level in range(levels):
            gradient = _gradient(table, level)
            if not np.isfinite(_refresh(table, level, q)):
                return (step + 1) * ticks - 1
            _collect(impulse, a, inverse_mass, gradient, table.spans[level, _NODE], 0.5 ** (level + 1))
        _kick(v, inverse_mass, impulse, 0, h)
    return n * ticks


@formula
def _take_ticks(table, start, end, h, q, v, inverse_mass):
    levels = len(table.spans)
    for tick in range(start, end):
        first = slowest(tick, levels - 1)
        _drift(q, v, table.bounds, first, h)
        if not _act(table, first, levels, h, q, v, inverse_mass):
            return tick
    return end


@formula
def slowest(tick, highest):
    """Return the slowest level whose time it is after so many finest steps, at least one, in a largest step."""
    level = highest
    while tick & 1 == 0:
        tick >>= 1
        level -= 1
    return level


@formula
def _act(table, first, last, h, q, v, inverse_mass):
    for level in range(first, last):
        if not np.isfinite(_refresh(table, level, q)):
            return False
        _kick(v, inverse_mass, _gradient(table, level), table.spans[level, _NODE], h / (1 << level))
    return True


@formula
def _gradient(table, level):
    """Return the gradient [l, dim] of a level."""
    return table.gradients[table.spans[level, _FIRST] : table.spans[level, _END]]


@formula
def _refresh(table, level, q):
    """Set the gradient of a level to that at q; return a sum that is finite if all forces are."""
    span, gradient = table.spans[level], _gradient(table, level)
    gradient[:] = table.constants[span[_FIRST] : span[_END]]
    at = q[span[_NODE] : span[_NODE] + len(gradient)]
    return add_rows(table.calls[span[_CALL] : span[_LAST_CALL]], (at,), gradient)


@formula
def _drift(q, v, bounds, first, h):
    step = h / 2.0**first
    for level in range(first, len(bounds) - 1):
        x, w = q[bounds[level] : bounds[level + 1]].ravel(), v[bounds[level] : bounds[level + 1]].ravel()
        for i in range(len(x)):
            x[i] += step * w[i]
        step *= 0.5


@formula
def _kick(v, inverse_mass, gradient, first, h):
    last, g = first + len(gradient), gradient.ravel()
    w, m = v[first:last].ravel(), inverse_mass[first:last].ravel()
    for i in range(len(g)):
        w[i] -= h * m[i] * g[i]


@formula
def _collect(impulse, a, inverse_mass, gradient, first, part):
    last, g = first + len(gradient), gradient.ravel()
    p, b, m = impulse[first:last].ravel(), a[first:last].ravel(), inverse_mass[first:last].ravel()
    for i in range(len(g)):
        p[i] += part * g[i]
        b[i] -= m[i] * g[i]
