"""The forms of `symplex.fem.equations.LinearConstraints`, in compiled loops over equations.

With r = Σ c·(x − X) − b: ∂φ/∂x_a = k r c_a, DG with the mean of r at both ends, ∂²φ/∂x_a ∂x_b = k c_a ⊗ c_b.
Loops take c and X [2 m k dim] for the numbers, b and the stiffness [m] for those of stencils.
"""

from symplex.fem.kernels import uncounted_formula as formula, uncounted_kernel as kernel


@formula
def _off(q, nodes, numbers, values, e):
    """Return r of an equation."""
    m, k = nodes.shape
    dim = q.shape[1]
    off, place, points = -values[e], e * k * dim, m * k * dim
    for a in range(k):
        for i in range(dim):
            off += numbers[place] * (q[nodes[e, a], i] - numbers[points + place])
            place += 1
    return off


@formula
def _add_vector(force, numbers, nodes, e, out):
    k, dim = nodes.shape[1], out.shape[1]
    place = e * k * dim
    for a in range(k):
        for i in range(dim):
            out[nodes[e, a], i] += force * numbers[place]
            place += 1


@formula
def _add_blocks(stiffness, numbers, e, slots, out):
    k, dim = slots.shape[1], out.shape[1]
    first = e * k * dim
    for a in range(k):
        for b in range(k):
            for i in range(dim):
                for j in range(dim):
                    value = stiffness * numbers[first + a * dim + i] * numbers[first + b * dim + j]
                    out[slots[e, a, b], i, j] += value


@kernel
def add_gradient(q, nodes, numbers, law, values, stiffness, end, out):
    """Add ∂φ/∂q [n, dim]; return a sum that is finite if all forces are."""
    check = 0.0
    for e in range(len(nodes)):
        force = stiffness[e] * _off(q, nodes, numbers, values, e)
        check += force
        _add_vector(force, numbers, nodes, e, out)
    return check


@kernel
def add_discrete_gradient(q0, q1, nodes, numbers, law, values, stiffness, end, out):
    """Add DG(q0, q1) [n, dim]; return a sum that is finite if all forces are."""
    check = 0.0
    for e in range(len(nodes)):
        off = 0.5 * (_off(q0, nodes, numbers, values, e) + _off(q1, nodes, numbers, values, e))
        check += stiffness[e] * off
        _add_vector(stiffness[e] * off, numbers, nodes, e, out)
    return check


@kernel
def add_hessian(q, nodes, numbers, law, values, stiffness, end, slots, out):
    """Add ∂²φ/∂q² to blocks; return a finite number."""
    for e in range(len(nodes)):
        _add_blocks(stiffness[e], numbers, e, slots, out)
    return 0.0


@kernel
def add_discrete_hessian(q0, q1, nodes, numbers, law, values, stiffness, end, slots, out):
    """Add ∂DG/∂q1 to blocks; return a finite number."""
    for e in range(len(nodes)):
        _add_blocks(0.5 * stiffness[e], numbers, e, slots, out)
    return 0.0


@kernel
def add_third(q, along, nodes, numbers, law, values, stiffness, end, out):
    """Add ∇³V[along, along], which is zero; return a finite number."""
    return 0.0
