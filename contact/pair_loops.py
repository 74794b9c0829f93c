"""Energies of contact pairs with their gradients and Hessians, in compiled loops.

φ = w m b(s) with m the mollifier of nearly parallel edges (`symplex.contact.mollifier`), b the law
(`symplex.contact.laws`) and s, c, p = Σ c_a x_a of the nearest points (`symplex.contact.closest`). As c minimises s,

    ∂s/∂x_a = 2 c_a p,    ∂²s/∂x_a∂x_b = 2 c_a c_b 1 − 2 Σ_kl W_k,a G⁻¹_kl ⊗ W_l,b,

the second term by how c moves. Pairs with s ≥ d̂² are left out: sums don't depend on which of those are in the list.
What is not finite spreads to the returned sums.
"""

from symplex.contact import laws, mollifier
from symplex.contact.closest import closest, combined, slide
from symplex.contact.pairs import add_force, add_matrix, edges, expand, gather, sign
from symplex.fem.kernels import uncounted_formula as formula, uncounted_kernel as kernel


@kernel
def set_values(q, pairs, law, work, out):
    """Set φ [m]; return Σ φ."""
    total = 0.0
    for e in range(len(pairs.nodes)):
        gather(q, pairs.nodes, e, work.x0)
        s = closest(pairs.edge_edge[e], work.x0, work.c0)
        out[e] = 0.0
        if s >= law.reach * law.reach:
            continue
        e1, e2 = edges(work.x0)
        m = mollifier.value(mollifier.ratio(pairs.parallel[e], e1, e2))
        # Not a number times zero where edges are parallel and touch: that is contact.
        out[e] = pairs.weights[e] * m * laws.value(law.kind, law.stiffness, law.reach, s)
        total += out[e]
    return total


@kernel
def set_nearest(q, pairs, work, coefficients, distances):
    """Set the coefficients c [m, 4] of nearest points, and their distances [m]."""
    for e in range(len(pairs.nodes)):
        gather(q, pairs.nodes, e, work.x0)
        distances[e] = closest(pairs.edge_edge[e], work.x0, coefficients[e]) ** 0.5


@formula
def _gradient(w, threshold, law, s, work):
    """Set ∂φ/∂x of the pair at work.x0 with nearest points work.c0."""
    p, (e1, e2), c = combined(work.c0, work.x0), edges(work.x0), work.c0
    chi = mollifier.ratio(threshold, e1, e2)
    pull = 2.0 * w * mollifier.value(chi) * laws.slope(law.kind, law.stiffness, law.reach, s)
    for a in range(4):
        for i in range(3):
            work.force[a, i] = pull * c[a] * p[i]
    if chi < 1.0:
        push = w * laws.value(law.kind, law.stiffness, law.reach, s) * mollifier.slope(chi) / threshold
        first, second = mollifier.gradient(e1, e2)
        expand(push, first, second, work.g)
        for a in range(4):
            for i in range(3):
                work.force[a, i] += work.g[3 * a + i]


@kernel
def add_gradient(q, pairs, law, work, out):
    """Add ∂φ/∂q [n, 3]."""
    check = 0.0
    for e in range(len(pairs.nodes)):
        gather(q, pairs.nodes, e, work.x0)
        s = closest(pairs.edge_edge[e], work.x0, work.c0)
        if s >= law.reach * law.reach:
            continue
        _gradient(pairs.weights[e], pairs.parallel[e], law, s, work)
        check += add_force(work.force, pairs.nodes, e, out)
    return check


@formula
def _hessian(edge_edge, w, threshold, law, s, work):
    """Set ∂²φ/∂x² of the pair at work.x0 with nearest points work.c0."""
    c, W, V, H = work.c0, work.W, work.V, work.matrix
    p, (e1, e2) = combined(c, work.x0), edges(work.x0)
    slide(edge_edge, work.x0, c, p, work.E, W, V)
    chi = mollifier.ratio(threshold, e1, e2)
    m, b1 = mollifier.value(chi), laws.slope(law.kind, law.stiffness, law.reach, s)
    normal = 4.0 * w * m * laws.curvature(law.kind, law.stiffness, law.reach, s)
    turn = 2.0 * w * m * b1
    for r in range(12):
        a, i = r // 3, r % 3
        for t in range(r, 12):
            b, j = t // 3, t % 3
            bend = c[a] * c[b] * (1.0 * (i == j)) - W[0, r] * V[0, t] - W[1, r] * V[1, t]
            H[r, t] = normal * (c[a] * p[i]) * (c[b] * p[j]) + turn * bend
    if chi < 1.0:
        _add_mollified(w, threshold, chi, b1, laws.value(law.kind, law.stiffness, law.reach, s), p, e1, e2, work)
    for r in range(12):
        for t in range(r):
            H[r, t] = H[t, r]


@formula
def _add_mollified(w, threshold, chi, b1, b, p, e1, e2, work):
    """Add w (∇m ⊗ ∇b + ∇b ⊗ ∇m + b ∇²m) to the upper half of ∂²φ/∂x²."""
    c, g, B, H = work.c0, work.g, work.B, work.matrix
    first, second = mollifier.gradient(e1, e2)
    expand(1.0 / threshold, first, second, g)
    mollifier.mean_bend(e1, e2, e1, e2, B)
    m1 = mollifier.slope(chi)
    bend = 2.0 * w * b * m1 / threshold
    for r in range(12):
        a, i = r // 3, r % 3
        for t in range(r, 12):
            d, j = t // 3, t % 3
            mixed = 2.0 * w * b1 * m1 * (g[r] * c[d] * p[j] + c[a] * p[i] * g[t])
            curved = bend * sign(a) * sign(d) * B[3 * (a // 2) + i, 3 * (d // 2) + j]
            H[r, t] += mixed + curved - 2.0 * w * b * g[r] * g[t]


@kernel
def add_hessian(q, pairs, law, work, slots, out):
    """Add ∂²φ/∂q² to the blocks [nnz, 3, 3]."""
    check = 0.0
    for e in range(len(pairs.nodes)):
        gather(q, pairs.nodes, e, work.x0)
        s = closest(pairs.edge_edge[e], work.x0, work.c0)
        if s >= law.reach * law.reach:
            continue
        _hessian(pairs.edge_edge[e], pairs.weights[e], pairs.parallel[e], law, s, work)
        check += add_matrix(work.matrix, slots, e, out)
    return check
