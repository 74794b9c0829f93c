"""Energies of contact pairs with their gradients and Hessians, in compiled loops.

φ = w m b(s) with m the mollifier of nearly parallel edges (`symplex.contact.mollifier`), b the law
(`symplex.contact.laws`) and s, c, p = Σ c_a x_a of the nearest points (`symplex.contact.closest`). As c minimises s,

    ∂s/∂x_a = 2 c_a p,    ∂²s/∂x_a∂x_b = 2 c_a c_b 1 − 2 Σ_kl W_k,a G⁻¹_kl ⊗ W_l,b,

the second term by how c moves. Pairs with s ≥ d̂² are left out: sums don't depend on which of those are in the list.
What is not finite spreads to the returned sums.
"""

import numpy as np

from symplex.contact import laws, mollifier
from symplex.contact.closest import closest, combined, slide
from symplex.contact.closest_lanes import pair_of, set_closest, workspace
from symplex.contact.pairs import add_forces, along_distance, edges, gather, law_of, with_edges
from symplex.fem.compiled.kernels import (
    kernel as lane_kernel,
    uncounted_inlined as formula,
    uncounted_kernel as kernel,
)
from symplex.fem.compiled.vectors import dot, mirrored, outer, scattered, shifted, transposed


@kernel
def write_values(q, our, out, first, last):
    """Write φ of each pair, where there is room for it; return the sum."""
    total, law, each = 0.0, law_of(our), len(out) > 0
    for e in range(first, last):
        x = gather(q, our.nodes, e)
        s, _ = closest(our.edge_edge[e], x)
        phi = 0.0
        if not s >= law.reach * law.reach:
            e1, e2 = edges(x)
            m = mollifier.value(mollifier.ratio(our.parallel[e], e1, e2))
            # Not a number times zero where edges are parallel and touch: that is contact.
            phi = our.weights[e] * m * laws.value(law.kind, law.stiffness, law.reach, s)
        total += phi
        if each:
            out[e] = phi
    return total


@lane_kernel
def set_nearest(q, nodes, edge_edge, coefficients, distances):
    """Set the coefficients c [m, 4] of nearest points of pairs [m, 4], and their distances [m]."""
    W, e = workspace(), 0
    while e < len(nodes):
        n = set_closest(q, nodes, edge_edge, e, len(nodes), W)
        for lane in range(n):
            s, c, _ = pair_of(W, lane)
            coefficients[e, 0], coefficients[e, 1], coefficients[e, 2], coefficients[e, 3] = c
            distances[e] = s**0.5
            e += 1


@lane_kernel
def set_stiffness(q, our, distance, nodes, factors, stiffness):
    """Set rows that bound ∇²φ of pairs closer than a distance: Σ k_r g_r g_rᵀ in size; return how many.

    They are nodes [2m, 4], g [2m, 4] and k [2m] in N/m: w k m c cᵀ along p, and, of the mollifier of edges that are
    nearly parallel at an angle ϑ, χ = αβ ϑ²/ε, 4 b (1 − χ) αβ/ε of the turns of both. What bends of p is negative where
    pairs push.
    """
    law, found = law_of(our), 0
    for e in range(len(our.nodes)):
        x = gather(q, our.nodes, e)
        s, c = closest(our.edge_edge[e], x)
        if s >= distance * distance:
            continue
        (e1, e2), w = edges(x), our.weights[e]
        chi = mollifier.ratio(our.parallel[e], e1, e2)
        for a in range(4):
            nodes[found, a], factors[found, a] = our.nodes[e, a], abs(c[a])
        stiffness[found] = w * mollifier.value(chi) * law.stiffness
        found += 1
        if chi < 1.0:
            alpha, beta = dot(e1, e1), dot(e2, e2)
            for a in range(4):
                nodes[found, a], factors[found, a] = our.nodes[e, a], (beta if a < 2 else alpha) ** 0.5
            b = w * laws.value(law.kind, law.stiffness, law.reach, s)
            stiffness[found] = 4.0 * (1.0 - chi) / our.parallel[e] * b
            found += 1
    return found


@formula
def _gradient(w, threshold, law, s, x, c):
    """Return ∂φ/∂x of a pair with nearest points c."""
    e1, e2 = edges(x)
    chi = mollifier.ratio(threshold, e1, e2)
    pull = 2.0 * w * mollifier.value(chi) * laws.slope(law.kind, law.stiffness, law.reach, s)
    f = along_distance(pull, c, combined(c, x))
    if chi < 1.0:
        push = w * laws.value(law.kind, law.stiffness, law.reach, s) * mollifier.slope(chi) / threshold
        first, second = mollifier.gradient(e1, e2)
        f = with_edges(f, push * first, push * second)
    return f


@lane_kernel
def add_gradient(q, our, out, first, last):
    """Add ∂φ/∂q [n, 3]."""
    check, law, W = 0.0, law_of(our), workspace()
    e, end = np.int64(first), np.int64(last)
    while e < end:
        n = set_closest(q, our.nodes, our.edge_edge, e, end, W)
        for lane in range(n):
            s, c, x = pair_of(W, lane)
            if not s >= law.reach * law.reach:
                check += add_forces(out, our.nodes, e, _gradient(our.weights[e], our.parallel[e], law, s, x, c))
            e += 1
    return check


def _symmetric(block):
    """Yield the blocks of a symmetric matrix."""
    for a in range(4):
        yield a, a, mirrored(block(a, a))
        for b in range(a + 1, 4):
            B = block(a, b)
            yield a, b, B
            yield b, a, transposed(B)


@scattered
def _add_blocks(c, p, W, V, normal, turn):
    """Add normal (c_a p) ⊗ (c_b p) + turn (c_a c_b 1 − Σ_k W_k,a ⊗ V_k,b)."""

    def block(a, b):
        bend = shifted(-outer(W[0][a], V[0][b]) - outer(W[1][a], V[1][b]), c[a] * c[b])
        return outer(normal * (c[a] * p), c[b] * p) + turn * bend

    yield from _symmetric(block)


@scattered
def _add_mollified(c, p, e1, e2, threshold, w, of_both, curved):
    """Add w (∇m ⊗ ∇b + ∇b ⊗ ∇m + b ∇²m), the first two of_both, the third by Dc and curved of its square."""
    first, second = mollifier.gradient(e1, e2)
    first, second = 1.0 / threshold * first, 1.0 / threshold * second
    g, bend = (-first, first, -second, second), mollifier.mean_bend(e1, e2, e1, e2)

    def block(a, b):
        signed = w if a % 2 == b % 2 else -w
        mixed = of_both * (outer(g[a], c[b] * p) + outer(c[a] * p, g[b]))
        return mixed + signed * bend[a // 2][b // 2] - curved * outer(g[a], g[b])

    yield from _symmetric(block)


@kernel
def add_hessian(q, our, slots, out, first, last):
    """Add ∂²φ/∂q² to the blocks [nnz, 3, 3]."""
    check, law = 0.0, law_of(our)
    for e in range(first, last):
        w, threshold, x = our.weights[e], our.parallel[e], gather(q, our.nodes, e)
        s, c = closest(our.edge_edge[e], x)
        if s >= law.reach * law.reach:
            continue
        p, (e1, e2) = combined(c, x), edges(x)
        _, W, V = slide(our.edge_edge[e], x, c, p)
        chi = mollifier.ratio(threshold, e1, e2)
        m, b1 = mollifier.value(chi), laws.slope(law.kind, law.stiffness, law.reach, s)
        normal = 4.0 * w * m * laws.curvature(law.kind, law.stiffness, law.reach, s)
        check += _add_blocks(out, slots, e, c, p, W, V, normal, 2.0 * w * m * b1)
        if chi < 1.0:
            b, m1 = laws.value(law.kind, law.stiffness, law.reach, s), mollifier.slope(chi)
            bend = 2.0 * w * b * m1 / threshold
            check += _add_mollified(out, slots, e, c, p, e1, e2, threshold, bend, 2.0 * w * b1 * m1, 2.0 * w * b)
    return check
