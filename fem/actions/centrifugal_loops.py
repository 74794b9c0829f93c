"""The forms of the centrifugal potential, in kernels over stencils of masses.

∂φ/∂x_a = −Σ_b m_ab P (x_b − p), and with the mean of both positions for the discrete gradient; φ is quadratic.
"""

from symplex.fem.compiled.kernels import uncounted_formula as formula, uncounted_kernel as kernel
from symplex.fem.compiled.records import Matrices, Nodes, Numbers, Record, Rows


class CentrifugalRecord(Record):
    """Nodes [m, k], P [dim, dim] in 1/s², p [dim] in m, and masses [m, k, k] in kg."""

    nodes: Nodes
    matrix: Rows
    point: Numbers
    weights: Matrices


@formula
def _add_forces(q0, q1, our, out, first, last):
    """Add ∂φ/∂q at the mean of two positions [n, dim]; return a sum that is finite if all forces are."""
    nodes, P, p, weights = our.nodes, our.matrix, our.point, our.weights
    check, k, dim = 0.0, nodes.shape[1], out.shape[1]
    for e in range(first, last):
        for a in range(k):
            for b in range(k):
                mass = weights[e, a, b]
                for i in range(dim):
                    force = 0.0
                    for j in range(dim):
                        force -= P[i, j] * (0.5 * (q0[nodes[e, b], j] + q1[nodes[e, b], j]) - p[j])
                    out[nodes[e, a], i] += mass * force
                    check += mass * force
    return check


@formula
def _add_blocks(part, our, slots, out, first, last):
    """Add part of ∂²φ/∂q², −m_ab P, to blocks."""
    P, k, dim = our.matrix, slots.shape[1], out.shape[1]
    for e in range(first, last):
        for a in range(k):
            for b in range(k):
                mass = part * our.weights[e, a, b]
                for i in range(dim):
                    for j in range(dim):
                        out[slots[e, a, b], i, j] -= mass * P[i, j]


@kernel
def add_gradient(q, our, out, first, last):
    """Add ∂φ/∂q [n, dim]; return a sum that is finite if all forces are."""
    return _add_forces(q, q, our, out, first, last)


@kernel
def add_discrete_gradient(q0, q1, our, out, first, last):
    """Add DG(q0, q1) [n, dim]; return a sum that is finite if all forces are."""
    return _add_forces(q0, q1, our, out, first, last)


@kernel
def add_hessian(q, our, slots, out, first, last):
    """Add ∂²φ/∂q² to blocks; return a finite number."""
    _add_blocks(1.0, our, slots, out, first, last)
    return 0.0


@kernel
def add_discrete_hessian(q0, q1, our, slots, out, first, last):
    """Add ∂DG/∂q1 to blocks; return a finite number."""
    _add_blocks(0.5, our, slots, out, first, last)
    return 0.0


@kernel
def add_third(q, along, our, out, first, last):
    """Add ∇³φ[along, along], which is zero; return a finite number."""
    return 0.0
