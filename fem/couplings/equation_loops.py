"""The forms of `symplex.fem.couplings.equations.LinearConstraints`, in kernels over equations.

With r = Σ c·(x − X) − b: ∂φ/∂x_a = k r c_a, DG with the mean of r at both ends, ∂²φ/∂x_a ∂x_b = k c_a ⊗ c_b.
"""

from symplex.fem.compiled.kernels import uncounted_formula as formula, uncounted_kernel as kernel
from symplex.fem.compiled.records import Matrices, Nodes, Numbers, Record


class EquationRecord(Record):
    """Nodes [m, k], c [m, k, dim], X [m, k, dim] in m, b [m] in m, and the stiffness k [m] in N/m."""

    nodes: Nodes
    factors: Matrices
    points: Matrices
    values: Numbers
    stiffness: Numbers


@formula
def _off(q, our, e):
    """Return r of an equation."""
    nodes, factors, points = our.nodes, our.factors, our.points
    off = -our.values[e]
    for a in range(nodes.shape[1]):
        for i in range(q.shape[1]):
            off += factors[e, a, i] * (q[nodes[e, a], i] - points[e, a, i])
    return off


@formula
def _add_vector(force, our, e, out):
    for a in range(our.nodes.shape[1]):
        for i in range(out.shape[1]):
            out[our.nodes[e, a], i] += force * our.factors[e, a, i]


@formula
def _add_blocks(stiffness, our, e, slots, out):
    c, k, dim = our.factors, slots.shape[1], out.shape[1]
    for a in range(k):
        for b in range(k):
            for i in range(dim):
                for j in range(dim):
                    out[slots[e, a, b], i, j] += stiffness * c[e, a, i] * c[e, b, j]


@kernel
def add_gradient(q, our, out, first, last):
    """Add ∂φ/∂q [n, dim]; return a sum that is finite if all forces are."""
    check = 0.0
    for e in range(first, last):
        force = our.stiffness[e] * _off(q, our, e)
        check += force
        _add_vector(force, our, e, out)
    return check


@kernel
def add_discrete_gradient(q0, q1, our, out, first, last):
    """Add DG(q0, q1) [n, dim]; return a sum that is finite if all forces are."""
    check = 0.0
    for e in range(first, last):
        force = our.stiffness[e] * (0.5 * (_off(q0, our, e) + _off(q1, our, e)))
        check += force
        _add_vector(force, our, e, out)
    return check


@kernel
def add_hessian(q, our, slots, out, first, last):
    """Add ∂²φ/∂q² to blocks; return a finite number."""
    for e in range(first, last):
        _add_blocks(our.stiffness[e], our, e, slots, out)
    return 0.0


@kernel
def add_discrete_hessian(q0, q1, our, slots, out, first, last):
    """Add ∂DG/∂q1 to blocks; return a finite number."""
    for e in range(first, last):
        _add_blocks(0.5 * our.stiffness[e], our, e, slots, out)
    return 0.0


@kernel
def add_third(q, along, our, out, first, last):
    """Add ∇³φ[along, along], which is zero; return a finite number."""
    return 0.0
