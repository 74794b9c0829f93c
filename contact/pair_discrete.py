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
from symplex.contact.pairs import add_forces, along_distance, edges, gather, law_of, middle, with_edges
from symplex.fem.compiled.kernels import uncounted_inlined as formula, uncounted_kernel as kernel
from symplex.fem.compiled.vectors import dot, expanded, outer, scattered, shifted

_UNDECIDED = 1e-15  # relative to s0 + s1: where all of κ, λ and A are below it they are round-off, and θ is ½


@formula
def end_of(edge_edge, x):
    """Return an end of an increment: the squared distance s, the positions, and the coefficients of nearest points."""
    s, c = closest(edge_edge, x)
    return s, x, c


@formula
def mean_coefficients(edge_edge, start, end):
    """Return c̄, θ, 1 − θ and r, which is zero where it is round-off."""
    (s0, x0, c0), (s1, x1, c1) = start, end
    u0, u1 = moved(edge_edge, c0, c1, x0), moved(edge_edge, c0, c1, x1)
    kappa = max(dot(u1, u1) - 2.0 * dot(combined(c1, x1), u1), 0.0)
    lmbda = max(dot(u0, u0) + 2.0 * dot(combined(c0, x0), u0), 0.0)
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
    return _between(rest, c0, theta, c1), theta, rest, root


@expanded
def _between(rest, c0, theta, c1):
    c = [rest * c0[a] + theta * c1[a] for a in range(1, 4)]
    return (-(c[0] + c[1] + c[2]), *c)


@expanded
def mean_distance(c, x0, x1):
    """Return p̄."""
    return 0.5 * (combined(c, x0) + combined(c, x1))


@formula
def mollifiers(threshold, x0, x1):
    """Return χ at both ends."""
    (a0, b0), (a1, b1) = edges(x0), edges(x1)
    return mollifier.ratio(threshold, a0, b0), mollifier.ratio(threshold, a1, b1)


@formula
def _discrete_gradient(edge_edge, w, threshold, law, start, end):
    """Return DG of a pair."""
    c, _, _, _ = mean_coefficients(edge_edge, start, end)
    (s0, x0, _), (s1, x1, _) = start, end
    chi0, chi1 = mollifiers(threshold, x0, x1)
    m = 0.5 * (mollifier.value(chi0) + mollifier.value(chi1))
    pull = 2.0 * w * m * laws.quotient(law.kind, law.stiffness, law.reach, s0, s1)
    f = along_distance(pull, c, mean_distance(c, x0, x1))
    if chi0 < 1.0 or chi1 < 1.0:
        b = laws.value(law.kind, law.stiffness, law.reach, s0) + laws.value(law.kind, law.stiffness, law.reach, s1)
        push = 0.5 * w * b * mollifier.quotient(chi0, chi1) / threshold
        (a0, b0), (a1, b1) = edges(x0), edges(x1)
        first, second = mollifier.mean_gradient(a0, b0, a1, b1)
        f = with_edges(f, push * first, push * second)
    return f


@expanded
def _plus(x, y):
    return tuple([u + v for u, v in zip(x, y, strict=True)])


@formula
def _add(our, law, e, x0, x1, out):
    """Add DG of a pair from x0 to x1; return the sum of its numbers."""
    start, end, square = end_of(our.edge_edge[e], x0), end_of(our.edge_edge[e], x1), law.reach * law.reach
    if start[0] >= square and end[0] >= square:
        return 0.0
    f = _discrete_gradient(our.edge_edge[e], our.weights[e], our.parallel[e], law, start, end)
    return add_forces(out, our.nodes, e, f)


@kernel
def add_discrete_gradient(q0, q1, our, out, first, last):
    """Add DG [n, 3] from q0 to q1."""
    check, law = 0.0, law_of(our)
    for e in range(first, last):
        check += _add(our, law, e, gather(q0, our.nodes, e), gather(q1, our.nodes, e), out)
    return check


@kernel
def add_increment_gradient(q, compensation, dq, our, out, first, last):
    """Add DG [n, 3] from q + c to q + c + Δq."""
    check, law = 0.0, law_of(our)
    for e in range(first, last):
        x0 = _plus(gather(q, our.nodes, e), gather(compensation, our.nodes, e))
        check += _add(our, law, e, x0, _plus(gather(dq, our.nodes, e), x0), out)
    return check


# -- the tangent ------------------------------------------------------------------------------------------------------
#
# D(c̄) = Δs gives ∂θ, and V the change of c1 (see `symplex.contact.closest.slide`):
#
#   ∂c1_a/∂x_bj = −Σ_k E_ka V_k,bj,
#   r ∂θ/∂x_bj  = −2 (1 − θ)(d_b p1_j + c̄_b u1_j) − 2 θ Σ_k R_k V_k,bj,    R_k = t1_k·(c̄·x1) − t0_k·(c̄·x0),
#   ∂c̄ = θ ∂c1 + d ∂θ,    ∂p̄ = ∂c̄·x̄ + ½ c̄,    ∂Q = 2 Q' c1 ⊗ p1,    Q' = ∂Q/∂s1.


@scattered
def _add_blocks(start, end, mean, moves, slides, normal, turn):
    """Add the tangent but for what the mollifier adds: of c̄, θ, 1 − θ and 1/r or zero, u and u1, E and V."""
    (_, x0, c0), (_, x1, c1), (c, theta, rest, over), (u, u1), (E, V) = start, end, mean, moves, slides
    p, p1, x = mean_distance(c, x0, x1), combined(c1, x1), middle(x0, x1)
    end0, end1 = combined(c, x0), combined(c, x1)
    R = [dot(combined(one, x1), end1) - dot(combined(one, x0), end0) for one in E]
    t = [combined(one, x) for one in E]
    for b in range(4):
        V0, V1 = V[0][b], V[1][b]
        ends = rest * ((c1[b] - c0[b]) * p1 + c[b] * u1)
        T = -2.0 * over * (ends + theta * (R[0] * V0 + R[1] * V1))
        dp = shifted(outer(u, T) - theta * (outer(t[0], V0) + outer(t[1], V1)), 0.5 * c[b])
        for a in range(4):
            dc = (c1[a] - c0[a]) * T - theta * (E[0][a] * V0 + E[1][a] * V1)
            yield a, b, outer(normal * c[a] * p, c1[b] * p1) + turn * (outer(p, dc) + c[a] * dp)


@scattered
def _add_mollified(start, end, c, threshold, factors):
    """Add w [DG(b) ⊗ ∂m̄ + DG(m) ⊗ ∂b̄ + b̄ ∂DG(m)] to ∂DG/∂x1, with the factors of the first two and both of b̄."""
    (_, x0, _), (_, x1, c1), (of_b, of_m, curved, bend) = start, end, factors
    p, p1, (a0, b0), (a1, b1) = mean_distance(c, x0, x1), combined(c1, x1), edges(x0), edges(x1)
    first, second = mollifier.mean_gradient(a0, b0, a1, b1)
    one, other = mollifier.gradient(a1, b1)
    D = [1.0 / threshold * v for v in (-first, first, -second, second)]
    g = [1.0 / threshold * v for v in (-one, one, -other, other)]
    B = mollifier.mean_bend(a0, b0, a1, b1)
    for a in range(4):
        for b in range(4):
            K = outer(of_b * c[a] * p, g[b]) + outer(of_m * D[a], c1[b] * p1) + outer(curved * D[a], g[b])
            yield a, b, K + (bend if a % 2 == b % 2 else -bend) * B[a // 2][b // 2]


@formula
def _add_tangent(our, law, e, start, end, slots, out):
    """Add ∂DG/∂x1 of a pair; return the sum of its numbers."""
    edge_edge, w, threshold = our.edge_edge[e], our.weights[e], our.parallel[e]
    (s0, x0, c0), (s1, x1, c1) = start, end
    c, theta, rest, root = mean_coefficients(edge_edge, start, end)
    E, _, V = slide(edge_edge, x1, c1, combined(c1, x1))
    moves = moved(edge_edge, c0, c1, middle(x0, x1)), moved(edge_edge, c0, c1, x1)
    mean = c, theta, rest, 1.0 / root if root > 0.0 else 0.0
    chi0, chi1 = mollifiers(threshold, x0, x1)
    m = 0.5 * (mollifier.value(chi0) + mollifier.value(chi1))
    Q = laws.quotient(law.kind, law.stiffness, law.reach, s0, s1)
    normal = 4.0 * w * m * laws.quotient_slope(law.kind, law.stiffness, law.reach, s0, s1)
    check = _add_blocks(out, slots, e, start, end, mean, moves, (E, V), normal, 2.0 * w * m * Q)
    if chi0 < 1.0 or chi1 < 1.0:
        b = laws.value(law.kind, law.stiffness, law.reach, s0) + laws.value(law.kind, law.stiffness, law.reach, s1)
        quotient = mollifier.quotient(chi0, chi1)
        of_b = w * Q * mollifier.slope(chi1)
        of_m = w * quotient * laws.slope(law.kind, law.stiffness, law.reach, s1)
        curved, bend = 0.5 * w * b * mollifier.quotient_slope(chi0, chi1), 0.5 * w * b * quotient / threshold
        check += _add_mollified(out, slots, e, start, end, c, threshold, (of_b, of_m, curved, bend))
    return check


@kernel
def add_discrete_hessian(q0, q1, our, slots, out, first, last):
    """Add ∂DG/∂q1 to the blocks [nnz, 3, 3]."""
    check, law, square = 0.0, law_of(our), our.reach * our.reach
    for e in range(first, last):
        start = end_of(our.edge_edge[e], gather(q0, our.nodes, e))
        end = end_of(our.edge_edge[e], gather(q1, our.nodes, e))
        if not (start[0] >= square and end[0] >= square):
            check += _add_tangent(our, law, e, start, end, slots, out)
    return check
