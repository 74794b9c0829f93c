"""The conditions of a motion and their multipliers in compiled loops: products with gradients G, one row for each node.

Constraints in Python, and sparse matrices, have no compiled form and are called back.
"""

from __future__ import annotations

import numpy as np

from symplex.fem.compiled.call import call_back
from symplex.fem.compiled.kernels import uncounted_formula as formula, uncounted_kernel as kernel
from symplex.fem.compiled.records import Counts, Indices, Integer, Numbers, Record, Rows
from symplex.fem.form_table import Table, write
from symplex.time.constraints.multiplier_matrix import factorise_band, solve_band

_EPS = float(np.finfo(float).eps)
FLOOR = 4.0 * _EPS  # of the terms of g: what round-off leaves of it
_AT_FLOOR = 16.0  # how far above that a violation may be that falls no further
_SLOW = 0.25  # a correction with an old matrix that does not do better than this factor asks for a new one
_ITERATIONS = 50
# What is called back: g and ∇g at the positions, the factors of the matrix, and a solution by them.
VALUES, GRADIENTS, FACTORS, SOLUTION = range(4)
# Why there is no next state: a call back has failed, a condition is still violated, depends on others, or turns.
CALLED, VIOLATED, SINGULAR, TURNED = range(4)


class Conditions(Record):
    """All conditions of a motion.

    Attributes
    ----------
    values, slopes : Table
        Of g, and of ∇g.
    in_python, is_banded : int
        Whether a constraint has no loops, and whether the matrix is a banded one.
    back : int
        The address of what is called back.
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
    diagonal : int32 [c] or [0]
    shift : float64 [c] or [0]
        The places of the diagonal, and by which part of it each number there is larger: where conditions may depend on
        others, so that the matrix is regular. What is solved for is found by corrections, and stays exact. Empty where
        all conditions are independent.
    floor, excess, solution, work : float64 [c]
    at, later : float64 [n, dim], [f, dim]
        The positions in question, and room for the gradients there.
    problem : int64 [2]
        Why there is no next state, and of which condition that is true.
    """

    values: Table
    slopes: Table
    in_python: Integer
    is_banded: Integer
    back: Integer
    rows: Indices
    nodes: Indices
    first: Indices
    second: Indices
    slots: Indices
    inverse_mass: Rows
    band: Rows
    entries: Numbers
    order: Indices
    diagonal: Indices
    shift: Numbers
    floor: Numbers
    excess: Numbers
    solution: Numbers
    work: Numbers
    at: Rows
    later: Rows
    problem: Counts


@kernel
def add_rates(gradients, rows, nodes, v, out):
    """Add G v."""
    for e in range(len(rows)):
        for i in range(v.shape[1]):
            out[rows[e]] += gradients[e, i] * v[nodes[e], i]


@kernel
def push(gradients, rows, nodes, inverse_mass, impulses, scale, out):
    """Add scale · M⁻¹ Gᵀ impulses."""
    for e in range(len(rows)):
        impulse = scale * impulses[rows[e]]
        for i in range(out.shape[1]):
            out[nodes[e], i] += inverse_mass[nodes[e], i] * (impulse * gradients[e, i])


@kernel
def assemble(c, left, right):
    """Set the matrix to G_left M⁻¹ G_rightᵀ, by pairs of gradients at one node."""
    for i in range(len(c.entries)):
        c.entries[i] = 0.0
    for p in range(len(c.first)):
        product = 0.0
        for i in range(left.shape[1]):
            product += left[c.first[p], i] * c.inverse_mass[c.nodes[c.first[p]], i] * right[c.second[p], i]
        c.entries[c.slots[p]] += product
    for i in range(len(c.diagonal)):
        c.entries[c.diagonal[i]] *= 1.0 + c.shift[i]


@kernel
def factorise(c, left, right):
    """Factorise G_left M⁻¹ G_rightᵀ; return whether it is regular."""
    assemble(c, left, right)
    if not c.is_banded:
        return _has(c, FACTORS)
    row = factorise_band(c.band)
    return row < 0 or _has_problem(c, SINGULAR, c.order[row])


@kernel
def solve(c):
    """Set the solution to that for the excess, by the factors; return whether there is one."""
    if not c.is_banded:
        return _has(c, SOLUTION)
    solve_band(c.band, c.order, c.excess, c.work, c.solution)
    return True


@formula
def _has(c, number):
    """Call back, and return whether that was possible."""
    c.problem[0] = CALLED
    return call_back(c.back, number) == 0 and c.problem[0] == CALLED


@formula
def _has_problem(c, kind, row):
    """Keep a problem with a condition; return False."""
    c.problem[0], c.problem[1] = kind, row
    return False


@formula
def project(c, gradients, v):
    """Take from velocities [n, dim] what leaves the conditions, with the factors for gradients; return as `solve`."""
    for _ in range(solutions(c)):
        for i in range(len(c.excess)):
            c.excess[i] = 0.0
        add_rates(gradients, c.rows, c.nodes, v, c.excess)
        if not solve(c):
            return False
        push(gradients, c.rows, c.nodes, c.inverse_mass, c.solution, -1.0, v)
    return True


@formula
def solutions(c):
    """Return how many solutions one to round-off takes."""
    return 3 if len(c.shift) else 1


@formula
def _write_gradients(c):
    """Set the later gradients to those at the positions; return whether that was possible."""
    if c.in_python:
        return _has(c, GRADIENTS)
    write_gradients_at(c, c.at, c.later)
    return True


@formula
def _write_values(c):
    """Set the excess to g at the positions; return whether that was possible."""
    if c.in_python:
        return _has(c, VALUES)
    write(c.values, c.at, c.at, c.excess)
    return True


@kernel
def write_gradients_at(c, q, out):
    """Set out to the gradients at positions q [n, dim], of conditions that have loops."""
    write(c.slopes, q, q, out)


@kernel
def follow(c, before):
    """Set the later gradients to those at the positions; return whether no gradient has turned by a right angle."""
    if not _write_gradients(c):
        return False
    for i in range(len(c.excess)):
        c.excess[i] = 0.0
    for e in range(len(c.rows)):  # the diagonal of G_left M⁻¹ G_rightᵀ, for conditions that have a node once
        for i in range(before.shape[1]):
            c.excess[c.rows[e]] += before[e, i] * c.inverse_mass[c.nodes[e], i] * c.later[e, i]
    least = 0
    for i in range(len(c.excess)):
        if not c.excess[i] >= c.excess[least]:
            least = i
    return c.excess[least] > 0.0 or _has_problem(c, TURNED, least)


@kernel
def close(c, target, gradients, h, sizes, impulses):
    """Find impulses [c] in N s with g = 0 to round-off at the positions target + h M⁻¹ Gᵀ impulses, and these.

    By Newton's method with the matrix factorised before, as long as that does, and new ones then. Return the
    corrections that it took, or −1 if there are none to be found.

    Parameters
    ----------
    c : Conditions
    target : float64 [n, dim]
        Positions without them.
    gradients
        G.
    h : float
        In s.
    sizes : float64 [c]
        See `symplex.time.constraints.multipliers.Multipliers.sizes`.
    impulses : float64 [c]
        A guess, which is overwritten.
    """
    for i in range(len(sizes)):
        c.floor[i] = sizes[i] * FLOOR
    for e in range(len(c.rows)):
        for i in range(target.shape[1]):
            c.floor[c.rows[e]] += FLOOR * abs(gradients[e, i] * target[c.nodes[e], i])
    if solutions(c) > 1:
        _share_floor(c, gradients)
    before, renewed = np.inf, False
    for corrections in range(_ITERATIONS):
        for i in range(target.shape[0]):
            for k in range(target.shape[1]):
                c.at[i, k] = target[i, k]
        push(gradients, c.rows, c.nodes, c.inverse_mass, impulses, h, c.at)
        if not _write_values(c):
            return -1
        excess, worst = _worst(c.excess, c.floor)
        _has_problem(c, VIOLATED, worst)
        if not np.isfinite(excess):
            return -1
        slow = excess > _SLOW * before
        if excess <= 1.0 or (slow and excess <= _AT_FLOOR):
            return corrections
        if slow and not (_write_gradients(c) and factorise(c, c.later, gradients)):
            return -1
        renewed = renewed or slow
        if not solve(c):
            return -1
        if solutions(c) > 1 and not _drop_undetermined(c, c.later if renewed else gradients, gradients):
            return -1
        for i in range(len(impulses)):
            impulses[i] -= c.solution[i] / h
        before = excess
    _has_problem(c, VIOLATED, worst)
    return -1


@formula
def _share_floor(c, gradients):
    """Let conditions that may depend on each other err by as much as the worst of them, by the size of gradients."""
    for i in range(len(c.work)):
        c.work[i] = 0.0
    for e in range(len(c.rows)):
        for i in range(gradients.shape[1]):
            c.work[c.rows[e]] += gradients[e, i] ** 2
    largest = 0.0
    for i in range(len(c.work)):
        if c.shift[i] > 0.0:
            largest = max(largest, c.floor[i] / np.sqrt(c.work[i]))
    for i in range(len(c.work)):
        if c.shift[i] > 0.0:
            c.floor[i] = max(c.floor[i], largest * np.sqrt(c.work[i]))


@formula
def _drop_undetermined(c, left, right):
    """Take from the solution x what has no effect, and would be large: x becomes A⁻¹ (G_left M⁻¹ G_rightᵀ x)."""
    for i in range(c.at.shape[0]):
        for k in range(c.at.shape[1]):
            c.at[i, k] = 0.0
    push(right, c.rows, c.nodes, c.inverse_mass, c.solution, 1.0, c.at)
    for i in range(len(c.excess)):
        c.excess[i] = 0.0
    add_rates(left, c.rows, c.nodes, c.at, c.excess)
    return solve(c)


@formula
def _worst(values, floor):
    """Return the greatest violation over its floor, infinite if one is not a number, and where it is."""
    greatest, where = 0.0, 0
    for c in range(len(values)):
        violation = abs(values[c])
        excess = violation / floor[c] if violation > 0.0 else 0.0
        if not excess <= greatest:
            greatest, where = excess, c
            if not np.isfinite(excess):
                return np.inf, where
    return greatest, where
