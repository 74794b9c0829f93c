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
from symplex.contact.pairs import add_forces, edges, gather, law_of
from symplex.fem.compiled.kernels import uncounted_inlined as formula, uncounted_kernel as kernel
from symplex.fem.compiled.vectors import Vec3, cross, dot, expanded, scattered


@expanded
def _product(a, b):
    """Return the product of two scalars with their derivatives."""
    return a[0] * b[0], a[1] * b[0] + a[0] * b[1], a[2] * b[0] + 2.0 * a[1] * b[1] + a[0] * b[2]


@expanded
def _inner(u, v, du, dv):
    """Return u·v of vectors that change at constant rates."""
    return dot(u, v), dot(du, v) + dot(u, dv), 2.0 * dot(du, dv)


@formula
def _move(edge_edge, x, v, c):
    """Return p, ṗ and p̈, ċ and c̈ along velocities v."""
    one, other, count = directions(edge_edge, c)
    return _rates(x, v, c, one, other, inverse_gram(combined(one, x), combined(other, x), count))


@expanded
def _rates(x, v, c, one, other, inverse):
    t, dt = [combined(E, x) for E in (one, other)], [combined(E, v) for E in (one, other)]
    (g00, g01, g11), p, drift = inverse, combined(c, x), combined(c, v)

    def changes(first, second):
        of_one, of_other = g00 * first + g01 * second, g01 * first + g11 * second
        return tuple([-of_one * one[a] - of_other * other[a] for a in range(4)])

    dc = changes(*[dot(t[k], drift) + dot(dt[k], p) for k in range(2)])
    dp, drift = combined(dc, x) + drift, combined(dc, v)
    ddc = changes(*[2.0 * (dot(dt[k], dp) + dot(t[k], drift)) for k in range(2)])
    return p, dp, combined(ddc, x) + 2.0 * drift, dc, ddc


@formula
def _factors(w, threshold, law, s, ds, dds, x, v):
    """Return A, P, α, β and γ with their derivatives."""
    (e1, e2), (de1, de2) = edges(x), edges(v)
    alpha, beta, gamma = _inner(e1, e1, de1, de1), _inner(e2, e2, de2, de2), _inner(e1, e2, de1, de2)
    b1, b2 = laws.slope(law.kind, law.stiffness, law.reach, s), laws.curvature(law.kind, law.stiffness, law.reach, s)
    b3 = laws.third_slope(law.kind, law.stiffness, law.reach, s)
    pull = 2.0 * w * b1, 2.0 * w * b2 * ds, 2.0 * w * (b3 * ds * ds + b2 * dds)
    chi = mollifier.ratio(threshold, e1, e2)
    if not chi < 1.0:
        return pull, (0.0, 0.0, 0.0), alpha, beta, gamma
    n, dn = cross(e1, e2), cross(de1, e2) + cross(e1, de2)
    dchi = 2.0 * dot(n, dn) / threshold
    ddchi = 2.0 * (dot(dn, dn) + 2.0 * dot(n, cross(de1, de2))) / threshold
    m1 = mollifier.slope(chi)
    m = mollifier.value(chi), m1 * dchi, m1 * ddchi - 2.0 * dchi * dchi
    b = laws.value(law.kind, law.stiffness, law.reach, s), b1 * ds, b2 * ds * ds + b1 * dds
    push = _product(b, (m1, -2.0 * dchi, -2.0 * ddchi))
    w = w / threshold
    return _product(pull, m), (w * push[0], w * push[1], w * push[2]), alpha, beta, gamma


# -- secant forms -----------------------------------------------------------------------------------------------------


def _symmetric(entry, alpha, beta, gamma):
    """Yield the entries of a matrix with those of 2 (β δ1 δ1ᵀ − γ (δ1 δ2ᵀ + δ2 δ1ᵀ) + α δ2 δ2ᵀ)."""
    for a in range(4):
        for b in range(a, 4):
            edge = -gamma if a // 2 != b // 2 else beta if a < 2 else alpha
            found = entry(a, b) + (2.0 if a % 2 == b % 2 else -2.0) * edge
            yield a, b, found
            if a != b:
                yield b, a, found


@scattered
def _add_secants(A, c, alpha, beta, gamma):
    yield from _symmetric(lambda a, b: A * (c[a] * c[b]), alpha, beta, gamma)


@scattered
def _add_rates(A, dA, c, dc, alpha, beta, gamma):
    yield from _symmetric(lambda a, b: dA * (c[a] * c[b]) + A * (dc[a] * c[b] + c[a] * dc[b]), alpha, beta, gamma)


@kernel
def add_secant(q, our, slots, out, first, last):
    """Add 𝓕 to the values [nnz]."""
    check, law, still = 0.0, law_of(our), Vec3(0.0, 0.0, 0.0)
    for e in range(first, last):
        x, v = gather(q, our.nodes, e), (still, still, still, still)
        s, c = closest(our.edge_edge[e], x)
        if s >= law.reach * law.reach:
            continue
        A, P, alpha, beta, gamma = _factors(our.weights[e], our.parallel[e], law, s, 0.0, 0.0, x, v)
        check += _add_secants(out, slots, e, A[0], c, P[0] * alpha[0], P[0] * beta[0], P[0] * gamma[0])
    return check


@kernel
def add_secant_rate(q, v, our, slots, out, first, last):
    """Add 𝓕̇ along velocities v [n, 3] to the values [nnz]."""
    check, law = 0.0, law_of(our)
    for e in range(first, last):
        x, w = gather(q, our.nodes, e), gather(v, our.nodes, e)
        s, c = closest(our.edge_edge[e], x)
        if s >= law.reach * law.reach:
            continue
        p, dp, _, dc, _ = _move(our.edge_edge[e], x, w, c)
        A, P, alpha, beta, gamma = _factors(our.weights[e], our.parallel[e], law, s, 2.0 * dot(p, dp), 0.0, x, w)
        alpha, beta, gamma = _product(P, alpha), _product(P, beta), _product(P, gamma)
        check += _add_rates(out, slots, e, A[0], A[1], c, dc, alpha[1], beta[1], gamma[1])
    return check


# -- third derivatives ------------------------------------------------------------------------------------------------


@expanded
def _second_rates(A, invariants, c, p, x, v):
    """Return the second derivatives of the forces, from those of A, of P α, P β and P γ, and of c and p."""
    (alpha, beta, gamma), (p, dp, ddp) = invariants, p
    (e1, e2), (de1, de2) = edges(x), edges(v)
    first = beta[2] * e1 + 2.0 * beta[1] * de1 - gamma[2] * e2 - 2.0 * gamma[1] * de2
    second = alpha[2] * e2 + 2.0 * alpha[1] * de2 - gamma[2] * e1 - 2.0 * gamma[1] * de1
    forces = []
    for a in range(4):
        pull = _product(A, tuple([one[a] for one in c]))
        along = pull[2] * p + 2.0 * pull[1] * dp + pull[0] * ddp
        forces.append(along + (2.0 if a % 2 == 1 else -2.0) * (first if a < 2 else second))
    return tuple(forces)


@kernel
def add_third(q, direction, our, out, first, last):
    """Add ∇³φ[a, a] [n, 3] along a direction a [n, 3]: the second derivative of the gradient."""
    check, law = 0.0, law_of(our)
    for e in range(first, last):
        x, v = gather(q, our.nodes, e), gather(direction, our.nodes, e)
        s, c = closest(our.edge_edge[e], x)
        if s >= law.reach * law.reach:
            continue
        p, dp, ddp, dc, ddc = _move(our.edge_edge[e], x, v, c)
        ds, dds = 2.0 * dot(p, dp), 2.0 * (dot(dp, dp) + dot(p, ddp))
        A, P, alpha, beta, gamma = _factors(our.weights[e], our.parallel[e], law, s, ds, dds, x, v)
        invariants = _product(P, alpha), _product(P, beta), _product(P, gamma)
        f = _second_rates(A, invariants, (c, dc, ddc), (p, dp, ddp), x, v)
        check += add_forces(out, our.nodes, e, f)
    return check
