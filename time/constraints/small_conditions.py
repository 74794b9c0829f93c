"""The conditions of small systems and their multipliers, as compiled loops over steps take them.

All is as in `symplex.time.constraints.multipliers`, with the loops of constraints called by address.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from symplex.fem.assembly import Array, IntArray
from symplex.fem.gradient_table import Table, write
from symplex.fem.kernels import uncounted_formula as formula
from symplex.time.constraints.multiplier_loops import (
    AT_FLOOR,
    FLOOR,
    ITERATIONS,
    SLOW,
    add_alignments,
    add_products,
    add_rates,
    add_round_off,
    push,
    worst,
)
from symplex.time.constraints.multiplier_matrix import factorise_band, solve_band


class Conditions(NamedTuple):
    """All conditions of a system.

    Attributes
    ----------
    table, slopes : Table
        Of g, and of ∇g.
    rows, nodes : int32 [f]
        The condition and the node of each row of gradients.
    first, second, slots : int32 [p]
        Pairs of these rows, and the places in the matrix of their products.
    inverse_mass : float64 [n, dim]
    band : float64 [c, 2·width + 1]
    entries : float64 [c (2·width + 1)]
    order : int32 [c]
        The matrix of the multipliers or its factors, see `symplex.time.constraints.multiplier_matrix.BandMatrix`; the
        same numbers in one row; and the unknowns of the rows.
    floor, excess, solution, work : float64 [c]
    later : float64 [f, dim]
        Room for gradients within an iteration.
    """

    table: Table
    slopes: Table
    rows: IntArray
    nodes: IntArray
    first: IntArray
    second: IntArray
    slots: IntArray
    inverse_mass: Array
    band: Array
    entries: Array
    order: IntArray
    floor: Array
    excess: Array
    solution: Array
    work: Array
    later: Array


@formula
def factorise(conditions, left, right):
    """Factorise G_left M⁻¹ G_rightᵀ; return whether it is regular."""
    c = conditions
    for i in range(len(c.entries)):
        c.entries[i] = 0.0
    add_products(left, right, c.first, c.second, c.slots, c.nodes, c.inverse_mass, c.entries)
    return factorise_band(c.band) < 0


@formula
def project(conditions, gradients, v):
    """Take from velocities [n, dim] what leaves the conditions, with the factors for these gradients."""
    c = conditions
    for i in range(len(c.excess)):
        c.excess[i] = 0.0
    add_rates(gradients, c.rows, c.nodes, v, c.excess)
    solve_band(c.band, c.order, c.excess, c.work, c.solution)
    push(gradients, c.rows, c.nodes, c.inverse_mass, c.solution, -1.0, v)


@formula
def are_on_the_same_side(conditions, before, after):
    """Return whether no gradient has turned by more than a right angle."""
    c = conditions
    for i in range(len(c.excess)):
        c.excess[i] = 0.0
    add_alignments(before, after, c.rows, c.nodes, c.inverse_mass, c.excess)
    same = True
    for i in range(len(c.excess)):
        same = same and c.excess[i] > 0.0
    return same


@formula
def close(conditions, target, gradients, h, sizes, impulses, q):
    """Find impulses and positions with g(q) = 0 to round-off, as `Multipliers.close`; return the corrections or −1."""
    c = conditions
    for i in range(len(sizes)):
        c.floor[i] = sizes[i] * FLOOR
    add_round_off(gradients, c.rows, c.nodes, target, FLOOR, c.floor)
    before = np.inf
    for corrections in range(ITERATIONS):
        for i in range(q.shape[0]):
            for k in range(q.shape[1]):
                q[i, k] = target[i, k]
        push(gradients, c.rows, c.nodes, c.inverse_mass, impulses, h, q)
        write(c.table, q, q, c.excess)
        excess, _ = worst(c.excess, c.floor)
        if not np.isfinite(excess):
            return -1
        slow = excess > SLOW * before
        if excess <= 1.0 or (slow and excess <= AT_FLOOR):
            return corrections
        if slow:
            write(c.slopes, q, q, c.later)
            if not factorise(c, c.later, gradients):
                return -1
        solve_band(c.band, c.order, c.excess, c.work, c.solution)
        for i in range(len(impulses)):
            impulses[i] -= c.solution[i] / h
        before = excess
    return -1
