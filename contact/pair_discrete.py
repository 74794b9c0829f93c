"""Discrete gradients of contact pairs along an increment, by closest points in between, and their tangents.

Let c0 and c1 be the coefficients of nearest points at x0 and x1, and D(c) = |c·x1|² − |c·x0|². As both are minimisers,
D(c0) ≥ Δs ≥ D(c1). So some c̄ = c0 + θ (c1 − c0) has D(c̄) = Δs, and as C is convex it belongs to points of the face or
the edges. With d = c1 − c0, u = d·x, and

    κ = D(c0) − Δs = |u1|² − 2 p1·u1,    λ = Δs − D(c1) = |u0|² + 2 p0·u0,    A = |u1|² − |u0|²,

none of the first two negative, θ = 2κ/(κ + λ + A + r), r² = (A + λ − κ)² + 4κλ, or 1 − θ by exchange of the ends if A
is negative: no cancellation, and never 0/0 but where nothing moves. Then, with x̄ the midpoints, p̄ = c̄·x̄ and Q = Δb/Δs,

    DG_a = 2 Q c̄_a p̄

does the work Δb exactly, has no resultant as Σ c̄_a = 0, and no moment about the midpoints as it acts along p̄, whatever
parts of a face and edges are nearest at the ends. With the mollifier, DG(m b) = m̄ DG(b) + b̄ DG(m), bars means of both
ends.

Pairs that are beyond d̂ at both ends have no share, whatever happens in between.
"""

from symplex.contact import laws, mollifier
from symplex.contact.closest import closest, combined, moved, slide
from symplex.contact.pairs import add_force, add_matrix, edges, expand, gather, sign
from symplex.fem.kernels import uncounted_formula as formula, uncounted_kernel as kernel
from symplex.fem.solids.edge_algebra import along, dot, times

_UNDECIDED = 1e-15  # relative to s0 + s1: where all of κ, λ and A are below it they are round-off, and θ is ½


@formula
def mean_coefficients(edge_edge, s0, s1, work):
    """Set c̄; return θ, 1 − θ and r, which is zero where it is round-off."""
    c, c0, c1 = work.c, work.c0, work.c1
    p0, p1 = combined(c0, work.x0), combined(c1, work.x1)
    u0, u1 = moved(edge_edge, c0, c1, work.x0), moved(edge_edge, c0, c1, work.x1)
    kappa = max(dot(u1, u1) - 2.0 * dot(p1, u1), 0.0)
    lmbda = max(dot(u0, u0) + 2.0 * dot(p0, u0), 0.0)
    A = dot(u1, u1) - dot(u0, u0)
    root = ((A + lmbda - kappa) ** 2 + 4.0 * kappa * lmbda) ** 0.5
    known = _UNDECIDED * (s0 + s1)
    if kappa + lmbda + abs(A) <= known:
        theta, rest, root = 0.5, 0.5, 0.0
    elif A >= 0.0:  # the other denominator may be zero: where edges are parallel at one end both roots are at the other
        theta = 2.0 * kappa / (kappa + lmbda + A + root)
        rest = 1.0 - theta
    else:
        rest = 2.0 * lmbda / (kappa + lmbda - A + root)
        theta = 1.0 - rest
    if root <= known:
        root = 0.0
    for a in range(1, 4):
        c[a] = rest * c0[a] + theta * c1[a]
    c[0] = -(c[1] + c[2] + c[3])
    return theta, rest, root


@formula
def mean_distance(work):
    """p̄."""
    return times(0.5, along(combined(work.c, work.x0), 1.0, combined(work.c, work.x1)))


@formula
def _discrete_gradient(edge_edge, w, threshold, law, s0, s1, work):
    """Set DG of the pair from work.x0 to work.x1 with nearest points work.c0 and work.c1."""
    mean_coefficients(edge_edge, s0, s1, work)
    p = mean_distance(work)
    (a0, b0), (a1, b1) = edges(work.x0), edges(work.x1)
    chi0, chi1 = mollifier.ratio(threshold, a0, b0), mollifier.ratio(threshold, a1, b1)
    m = 0.5 * (mollifier.value(chi0) + mollifier.value(chi1))
    pull = 2.0 * w * m * laws.quotient(law.kind, law.stiffness, law.reach, s0, s1)
    for a in range(4):
        for i in range(3):
            work.force[a, i] = pull * work.c[a] * p[i]
    if chi0 < 1.0 or chi1 < 1.0:
        b = laws.value(law.kind, law.stiffness, law.reach, s0) + laws.value(law.kind, law.stiffness, law.reach, s1)
        first, second = mollifier.mean_gradient(a0, b0, a1, b1)
        expand(0.5 * w * b * mollifier.quotient(chi0, chi1) / threshold, first, second, work.D)
        for a in range(4):
            for i in range(3):
                work.force[a, i] += work.D[3 * a + i]


@formula
def _gather_ends(q, change, low, is_increment, nodes, e, work):
    """Set both ends: q and ``change``, or q + ``low`` and q + ``low`` + ``change`` if that is an increment."""
    gather(q, nodes, e, work.x0)
    gather(change, nodes, e, work.x1)
    if is_increment:
        gather(low, nodes, e, work.middle)
        for a in range(4):
            for i in range(3):
                work.x0[a, i] += work.middle[a, i]
                work.x1[a, i] += work.x0[a, i]


@kernel
def add_discrete_gradient(q, change, low, is_increment, pairs, law, work, out):
    """Add DG [n, 3] from q to ``change``, or along an increment (see `_gather_ends`)."""
    check, square = 0.0, law.reach * law.reach
    for e in range(len(pairs.nodes)):
        _gather_ends(q, change, low, is_increment, pairs.nodes, e, work)
        s0 = closest(pairs.edge_edge[e], work.x0, work.c0)
        s1 = closest(pairs.edge_edge[e], work.x1, work.c1)
        if s0 >= square and s1 >= square:
            continue
        _discrete_gradient(pairs.edge_edge[e], pairs.weights[e], pairs.parallel[e], law, s0, s1, work)
        check += add_force(work.force, pairs.nodes, e, out)
    return check


# -- the tangent ------------------------------------------------------------------------------------------------------
#
# D(c̄) = Δs gives ∂θ, and V the change of c1 (see `symplex.contact.closest.slide`):
#
#   ∂c1_a/∂x_bj = −Σ_k E_ka V_k,bj,
#   r ∂θ/∂x_bj  = −2 (1 − θ)(d_b p1_j + c̄_b u1_j) − 2 θ Σ_k R_k V_k,bj,    R_k = t1_k·(c̄·x1) − t0_k·(c̄·x0),
#   ∂c̄ = θ ∂c1 + d ∂θ,    ∂p̄ = ∂c̄·x̄ + ½ c̄,    ∂Q = 2 Q' c1 ⊗ p1,    Q' = ∂Q/∂s1.


@formula
def _discrete_hessian(edge_edge, w, threshold, law, s0, s1, work):
    """Set ∂DG/∂x1 of the pair from work.x0 to work.x1 with nearest points work.c0 and work.c1."""
    c, c0, c1, E, V, T, K = work.c, work.c0, work.c1, work.E, work.V, work.T, work.matrix
    theta, rest, root = mean_coefficients(edge_edge, s0, s1, work)
    p, p1 = mean_distance(work), combined(c1, work.x1)
    slide(edge_edge, work.x1, c1, p1, E, work.W, V)
    for a in range(4):
        for i in range(3):
            work.middle[a, i] = 0.5 * (work.x0[a, i] + work.x1[a, i])
    end0, end1 = combined(c, work.x0), combined(c, work.x1)
    r0 = dot(combined(E[0], work.x1), end1) - dot(combined(E[0], work.x0), end0)
    r1 = dot(combined(E[1], work.x1), end1) - dot(combined(E[1], work.x0), end0)
    t0, t1 = combined(E[0], work.middle), combined(E[1], work.middle)
    u, u1 = moved(edge_edge, c0, c1, work.middle), moved(edge_edge, c0, c1, work.x1)
    for t in range(12):
        b, j = t // 3, t % 3
        ends = rest * ((c1[b] - c0[b]) * p1[j] + c[b] * u1[j])
        T[t] = -2.0 * (ends + theta * (r0 * V[0, t] + r1 * V[1, t])) / root if root > 0.0 else 0.0
    (a0, b0), (a1, b1) = edges(work.x0), edges(work.x1)
    chi0, chi1 = mollifier.ratio(threshold, a0, b0), mollifier.ratio(threshold, a1, b1)
    m = 0.5 * (mollifier.value(chi0) + mollifier.value(chi1))
    Q = laws.quotient(law.kind, law.stiffness, law.reach, s0, s1)
    normal = 4.0 * w * m * laws.quotient_slope(law.kind, law.stiffness, law.reach, s0, s1)
    turn = 2.0 * w * m * Q
    for t in range(12):
        b, j = t // 3, t % 3
        slope = c1[b] * p1[j]
        for i in range(3):
            dp = u[i] * T[t] - theta * (t0[i] * V[0, t] + t1[i] * V[1, t]) + 0.5 * c[b] * (1.0 * (i == j))
            for a in range(4):
                dc = (c1[a] - c0[a]) * T[t] - theta * (E[0, a] * V[0, t] + E[1, a] * V[1, t])
                K[3 * a + i, t] = normal * c[a] * p[i] * slope + turn * (dc * p[i] + c[a] * dp)
    if chi0 < 1.0 or chi1 < 1.0:
        _add_mollified(w, threshold, law, s0, s1, Q, p, p1, work)


@formula
def _add_mollified(w, threshold, law, s0, s1, Q, p, p1, work):
    """Add w [DG(b) ⊗ ∂m̄ + DG(m) ⊗ ∂b̄ + b̄ ∂DG(m)] to ∂DG/∂x1."""
    c, c1, g, D, B, K = work.c, work.c1, work.g, work.D, work.B, work.matrix
    (a0, b0), (a1, b1) = edges(work.x0), edges(work.x1)
    chi0, chi1 = mollifier.ratio(threshold, a0, b0), mollifier.ratio(threshold, a1, b1)
    b = laws.value(law.kind, law.stiffness, law.reach, s0) + laws.value(law.kind, law.stiffness, law.reach, s1)
    first, second = mollifier.mean_gradient(a0, b0, a1, b1)
    expand(1.0 / threshold, first, second, D)
    first, second = mollifier.gradient(a1, b1)
    expand(1.0 / threshold, first, second, g)
    mollifier.mean_bend(a0, b0, a1, b1, B)
    of_b = w * Q * mollifier.slope(chi1)
    quotient = mollifier.quotient(chi0, chi1)
    of_m = w * quotient * laws.slope(law.kind, law.stiffness, law.reach, s1)
    curved, bend = 0.5 * w * b * mollifier.quotient_slope(chi0, chi1), 0.5 * w * b * quotient / threshold
    for r in range(12):
        a, i = r // 3, r % 3
        for t in range(12):
            d, j = t // 3, t % 3
            K[r, t] += of_b * c[a] * p[i] * g[t] + of_m * D[r] * c1[d] * p1[j] + curved * D[r] * g[t]
            K[r, t] += bend * sign(a) * sign(d) * B[3 * (a // 2) + i, 3 * (d // 2) + j]


@kernel
def add_discrete_hessian(q0, q1, pairs, law, work, slots, out):
    """Add ∂DG/∂q1 to the blocks [nnz, 3, 3]."""
    check, square = 0.0, law.reach * law.reach
    for e in range(len(pairs.nodes)):
        gather(q0, pairs.nodes, e, work.x0)
        gather(q1, pairs.nodes, e, work.x1)
        s0 = closest(pairs.edge_edge[e], work.x0, work.c0)
        s1 = closest(pairs.edge_edge[e], work.x1, work.c1)
        if s0 >= square and s1 >= square:
            continue
        _discrete_hessian(pairs.edge_edge[e], pairs.weights[e], pairs.parallel[e], law, s0, s1, work)
        check += add_matrix(work.matrix, slots, e, out)
    return check
