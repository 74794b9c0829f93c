"""The forms of the centrifugal potential, in compiled loops over stencils of masses.

∂φ/∂x_a = −Σ_b m_ab P (x_b − p), and with the mean of both positions for the discrete gradient; φ is quadratic. Loops
take P [dim, dim], p [dim] and m [m, k, k] for the numbers.
"""

from symplex.fem.kernels import uncounted_formula as formula, uncounted_kernel as kernel


@formula
def _add_forces(q0, q1, nodes, numbers, out):
    """Add ∂φ/∂q at the mean of two positions [n, dim]; return a sum that is finite if all forces are."""
    check, k, dim = 0.0, nodes.shape[1], out.shape[1]
    point, place = dim * dim, dim * dim + dim
    for e in range(len(nodes)):
        for a in range(k):
            for b in range(k):
                mass = numbers[place]
                place += 1
                for i in range(dim):
                    force = 0.0
                    for j in range(dim):
                        mean = 0.5 * (q0[nodes[e, b], j] + q1[nodes[e, b], j])
                        force -= numbers[dim * i + j] * (mean - numbers[point + j])
                    out[nodes[e, a], i] += mass * force
                    check += mass * force
    return check


@formula
def _add_blocks(part, numbers, slots, out):
    """Add part of ∂²φ/∂q², −m_ab P, to blocks."""
    k, dim = slots.shape[1], out.shape[1]
    place = dim * dim + dim
    for e in range(len(slots)):
        for a in range(k):
            for b in range(k):
                for i in range(dim):
                    for j in range(dim):
                        out[slots[e, a, b], i, j] -= part * numbers[place] * numbers[dim * i + j]
                place += 1


@kernel
def add_gradient(q, nodes, numbers, law, a, b, end, out):
    """Add ∂φ/∂q [n, dim]; return a sum that is finite if all forces are."""
    return _add_forces(q, q, nodes, numbers, out)


@kernel
def add_discrete_gradient(q0, q1, nodes, numbers, law, a, b, end, out):
    """Add DG(q0, q1) [n, dim]; return a sum that is finite if all forces are."""
    return _add_forces(q0, q1, nodes, numbers, out)


@kernel
def add_hessian(q, nodes, numbers, law, a, b, end, slots, out):
    """Add ∂²φ/∂q² to blocks; return a finite number."""
    _add_blocks(1.0, numbers, slots, out)
    return 0.0


@kernel
def add_discrete_hessian(q0, q1, nodes, numbers, law, a, b, end, slots, out):
    """Add ∂DG/∂q1 to blocks; return a finite number."""
    _add_blocks(0.5, numbers, slots, out)
    return 0.0


@kernel
def add_third(q, along, nodes, numbers, law, a, b, end, out):
    """Add ∇³φ[along, along], which is zero; return a finite number."""
    return 0.0
