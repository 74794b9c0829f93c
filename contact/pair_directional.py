"""Secant forms of contact pairs with their rates, and third derivatives, from derivatives along a direction.

The gradient of φ = w m b is linear in positions with coefficients that depend on s, c and the edges only. With
δ1 = (−1, 1, 0, 0), δ2 = (0, 0, −1, 1) and the invariants α, β, γ of `symplex.contact.mollifier`,

    𝓕 = A c cᵀ + 2 P [β δ1 δ1ᵀ − γ (δ1 δ2ᵀ + δ2 δ1ᵀ) + α δ2 δ2ᵀ],    A = 2 w m b',  P = w b m'/ε,

is symmetric, has rows that sum to zero, and ∂φ/∂x_a = Σ_b 𝓕_ab x_b. Along x + t v the nearest points obey t_k·p = 0 for
the directions E_k that c is free in, t_k = Σ E_ka x_a, which is differentiated once and twice:

    G μ̇ = −(t·(c·v) + τ·p),    ċ = Σ μ̇_k E_k,    τ_k = Σ E_ka v_a,
    G μ̈ = −(2 τ·ṗ + 2 t·(ċ·v)),    c̈ = Σ μ̈_k E_k.

Scalars are carried as (value, first derivative, second derivative).
"""

from symplex.contact import laws, mollifier
from symplex.contact.closest import closest, combined, directions, inverse_gram
from symplex.contact.pairs import add_force, edges, gather
from symplex.fem.kernels import uncounted_formula as formula, uncounted_inlined as inlined, uncounted_kernel as kernel
from symplex.fem.solids.edge_algebra import along, cross, dot, times


@inlined
def _product(a, b):
    """The product of two scalars with their derivatives."""
    return a[0] * b[0], a[1] * b[0] + a[0] * b[1], a[2] * b[0] + 2.0 * a[1] * b[1] + a[0] * b[2]


@formula
def _inner(u, v, du, dv):
    """u·v of vectors that change at constant rates."""
    return dot(u, v), dot(du, v) + dot(u, dv), 2.0 * dot(du, dv)


@formula
def _move(edge_edge, work):
    """Set ċ in work.c1 and c̈ in work.c along the velocities work.x1; return p, ṗ and p̈."""
    x, v, c, dc, ddc, E = work.x0, work.x1, work.c0, work.c1, work.c, work.E
    count = directions(edge_edge, c, E)
    g00, g01, g11 = inverse_gram(x, E, count)
    t, u = combined(E[0], x), combined(E[1], x)
    dt, du = combined(E[0], v), combined(E[1], v)
    p, drift = combined(c, x), combined(c, v)
    first, second = dot(t, drift) + dot(dt, p), dot(u, drift) + dot(du, p)
    for a in range(4):
        dc[a] = -(g00 * first + g01 * second) * E[0, a] - (g01 * first + g11 * second) * E[1, a]
    dp = along(combined(dc, x), 1.0, drift)
    drift = combined(dc, v)
    first, second = 2.0 * (dot(dt, dp) + dot(t, drift)), 2.0 * (dot(du, dp) + dot(u, drift))
    for a in range(4):
        ddc[a] = -(g00 * first + g01 * second) * E[0, a] - (g01 * first + g11 * second) * E[1, a]
    return p, dp, along(combined(ddc, x), 2.0, drift)


@formula
def _factors(w, threshold, law, s, ds, dds, work):
    """Return A, P, α, β and γ with their derivatives."""
    (e1, e2), (de1, de2) = edges(work.x0), edges(work.x1)
    alpha, beta, gamma = _inner(e1, e1, de1, de1), _inner(e2, e2, de2, de2), _inner(e1, e2, de1, de2)
    b1, b2 = laws.slope(law.kind, law.stiffness, law.reach, s), laws.curvature(law.kind, law.stiffness, law.reach, s)
    b3 = laws.third_slope(law.kind, law.stiffness, law.reach, s)
    pull = 2.0 * w * b1, 2.0 * w * b2 * ds, 2.0 * w * (b3 * ds * ds + b2 * dds)
    chi = mollifier.ratio(threshold, e1, e2)
    if not chi < 1.0:
        return pull, (0.0, 0.0, 0.0), alpha, beta, gamma
    n, dn = cross(e1, e2), along(cross(de1, e2), 1.0, cross(e1, de2))
    dchi = 2.0 * dot(n, dn) / threshold
    ddchi = 2.0 * (dot(dn, dn) + 2.0 * dot(n, cross(de1, de2))) / threshold
    m1 = mollifier.slope(chi)
    m = mollifier.value(chi), m1 * dchi, m1 * ddchi - 2.0 * dchi * dchi
    b = laws.value(law.kind, law.stiffness, law.reach, s), b1 * ds, b2 * ds * ds + b1 * dds
    push = _product(b, (m1, -2.0 * dchi, -2.0 * ddchi))
    w = w / threshold
    return _product(pull, m), (w * push[0], w * push[1], w * push[2]), alpha, beta, gamma


# -- secant forms -----------------------------------------------------------------------------------------------------


@inlined
def _edge(a, b, alpha, beta, gamma):
    """The entry (a, b) of β δ1 δ1ᵀ − γ (δ1 δ2ᵀ + δ2 δ1ᵀ) + α δ2 δ2ᵀ."""
    signed = 1.0 if a % 2 == b % 2 else -1.0
    if a // 2 != b // 2:
        return -signed * gamma
    return signed * (beta if a < 2 else alpha)


@kernel
def add_secant(q, pairs, law, work, slots, out):
    """Add 𝓕 to the values [nnz]."""
    check = 0.0
    work.x1[:] = 0.0
    for e in range(len(pairs.nodes)):
        gather(q, pairs.nodes, e, work.x0)
        s = closest(pairs.edge_edge[e], work.x0, work.c0)
        if s >= law.reach * law.reach:
            continue
        c = work.c0
        A, P, alpha, beta, gamma = _factors(pairs.weights[e], pairs.parallel[e], law, s, 0.0, 0.0, work)
        for a in range(4):
            for b in range(a, 4):
                entry = A[0] * (c[a] * c[b]) + 2.0 * P[0] * _edge(a, b, alpha[0], beta[0], gamma[0])
                check += entry
                out[slots[e, a, b]] += entry
                if a != b:
                    out[slots[e, b, a]] += entry
    return check


@kernel
def add_secant_rate(q, v, pairs, law, work, slots, out):
    """Add 𝓕̇ along velocities v [n, 3] to the values [nnz]."""
    check = 0.0
    for e in range(len(pairs.nodes)):
        gather(q, pairs.nodes, e, work.x0)
        s = closest(pairs.edge_edge[e], work.x0, work.c0)
        if s >= law.reach * law.reach:
            continue
        gather(v, pairs.nodes, e, work.x1)
        p, dp, _ = _move(pairs.edge_edge[e], work)
        c, dc = work.c0, work.c1
        A, P, alpha, beta, gamma = _factors(pairs.weights[e], pairs.parallel[e], law, s, 2.0 * dot(p, dp), 0.0, work)
        alpha, beta, gamma = _product(P, alpha), _product(P, beta), _product(P, gamma)
        for a in range(4):
            for b in range(a, 4):
                entry = A[1] * (c[a] * c[b]) + A[0] * (dc[a] * c[b] + c[a] * dc[b])
                entry += 2.0 * _edge(a, b, alpha[1], beta[1], gamma[1])
                check += entry
                out[slots[e, a, b]] += entry
                if a != b:
                    out[slots[e, b, a]] += entry
    return check


# -- third derivatives ------------------------------------------------------------------------------------------------


@kernel
def add_third(q, direction, pairs, law, work, out):
    """Add ∇³φ[a, a] [n, 3] along a direction a [n, 3]: the second derivative of the gradient."""
    check = 0.0
    for e in range(len(pairs.nodes)):
        gather(q, pairs.nodes, e, work.x0)
        s = closest(pairs.edge_edge[e], work.x0, work.c0)
        if s >= law.reach * law.reach:
            continue
        gather(direction, pairs.nodes, e, work.x1)
        p, dp, ddp = _move(pairs.edge_edge[e], work)
        ds, dds = 2.0 * dot(p, dp), 2.0 * (dot(dp, dp) + dot(p, ddp))
        A, P, alpha, beta, gamma = _factors(pairs.weights[e], pairs.parallel[e], law, s, ds, dds, work)
        alpha, beta, gamma = _product(P, alpha), _product(P, beta), _product(P, gamma)
        (e1, e2), (de1, de2) = edges(work.x0), edges(work.x1)
        first = along(times(beta[2], e1), 2.0 * beta[1], de1)
        first = along(along(first, -gamma[2], e2), -2.0 * gamma[1], de2)
        second = along(times(alpha[2], e2), 2.0 * alpha[1], de2)
        second = along(along(second, -gamma[2], e1), -2.0 * gamma[1], de1)
        for a in range(4):
            pull = _product(A, (work.c0[a], work.c1[a], work.c[a]))
            force = along(along(times(pull[2], p), 2.0 * pull[1], dp), pull[0], ddp)
            edge = 2.0 if a % 2 == 1 else -2.0
            force = along(force, edge, first if a < 2 else second)
            for i in range(3):
                work.force[a, i] = force[i]
        check += add_force(work.force, pairs.nodes, e, out)
    return check
