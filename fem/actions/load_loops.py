"""The forces of loads with a history, and the derivatives of pressure, in kernels over stencils.

They are called as `symplex.fem.actions.looped_load` says.
"""

from symplex.fem.compiled.kernels import (
    uncounted_formula as formula,
    uncounted_inlined as inlined,
    uncounted_kernel as kernel,
)
from symplex.fem.compiled.records import Indices, Nodes, Number, Numbers, Record, Rows

# -- forces of a given direction, times the factor -------------------------------------------------------------------


class DeadRecord(Record):
    """Nodes [m, 1] and forces [m, dim] in N."""

    nodes: Nodes
    forces: Rows


@kernel
def add_dead_forces(factor, q0, q1, q, v, our, out, first, last):
    """Add factor · f."""
    nodes, forces, check = our.nodes, our.forces, 0.0
    for e in range(first, last):
        for i in range(out.shape[1]):
            force = factor * forces[e, i]
            out[nodes[e, 0], i] += force
            check += force
    return check


# -- pressure on faces: F_a = −p ∫ N_a n da, p the pressure times the factor -----------------------------------------


class PressureRecord(Record):
    """Nodes [m, k] of faces, where their tables begin [m] and how many nodes they have [m], and p in Pa.

    Tables, one for each type of face: how many Gauss points g, weights [g], shape functions [g, k] and slopes
    [g, k, 2].
    """

    nodes: Nodes
    tables: Numbers
    at: Indices
    counts: Indices
    pressure: Number


@inlined
def _point(table, k, points, g, c):
    """Return the places of the shape functions, and of the slopes, of a Gauss point for a node."""
    shape = table + 1 + points + g * k
    return shape + c, table + 1 + points + points * k + 2 * (g * k + c)


@formula
def _tangents(q, nodes, numbers, e, table, k, points, g):
    """Return ∂x/∂ξ and ∂x/∂η at a Gauss point."""
    x1, y1, z1, x2, y2, z2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for c in range(k):
        _, slope = _point(table, k, points, g, c)
        first, second, n = numbers[slope], numbers[slope + 1], nodes[e, c]
        x1 += first * q[n, 0]
        y1 += first * q[n, 1]
        z1 += first * q[n, 2]
        x2 += second * q[n, 0]
        y2 += second * q[n, 1]
        z2 += second * q[n, 2]
    return (x1, y1, z1), (x2, y2, z2)


@kernel
def add_pressure(factor, q0, q1, q, v, our, out, first, last):
    """Add the forces of pressure."""
    nodes, numbers = our.nodes, our.tables
    check, pressure = 0.0, factor * our.pressure
    for e in range(first, last):
        table, k = our.at[e], our.counts[e]
        points = int(numbers[table])
        for g in range(points):
            s, t = _tangents(q, nodes, numbers, e, table, k, points, g)
            size = -pressure * numbers[table + 1 + g]
            x, y, z = s[1] * t[2] - s[2] * t[1], s[2] * t[0] - s[0] * t[2], s[0] * t[1] - s[1] * t[0]
            for c in range(k):
                shape, _ = _point(table, k, points, g, c)
                part, n = size * numbers[shape], nodes[e, c]
                out[n, 0] += part * x
                out[n, 1] += part * y
                out[n, 2] += part * z
            check += size * (x + y + z)
    return check


@kernel
def add_pressure_derivatives(factor, q0, q1, q, v, by_q, by_v, our, slots, out, first, last):
    """Add by_q ∂f/∂q.

    With the tangents t1 = Σ N_b,1 x_b and t2, n dA = t1 × t2 has the derivative ε_ijk (N_b,1 t2_k − N_b,2 t1_k).
    """
    nodes, numbers = our.nodes, our.tables
    check, pressure = 0.0, by_q * factor * our.pressure
    for e in range(first, last):
        table, k = our.at[e], our.counts[e]
        points = int(numbers[table])
        for g in range(points):
            s, t = _tangents(q, nodes, numbers, e, table, k, points, g)
            size = -pressure * numbers[table + 1 + g]
            for d in range(k):
                _, slope = _point(table, k, points, g, d)
                first, second = numbers[slope], numbers[slope + 1]
                x, y, z = first * t[0] - second * s[0], first * t[1] - second * s[1], first * t[2] - second * s[2]
                check += size * (x + y + z)
                for c in range(k):
                    shape, _ = _point(table, k, points, g, c)
                    part, block = size * numbers[shape], out[slots[e, c, d]]
                    block[0, 1] += part * z
                    block[0, 2] -= part * y
                    block[1, 0] -= part * z
                    block[1, 2] += part * x
                    block[2, 0] += part * y
                    block[2, 1] -= part * x
    return check


DEAD = {"forces": add_dead_forces}
PRESSURE = {"forces": add_pressure, "force_derivatives": add_pressure_derivatives}
