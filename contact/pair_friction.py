"""Friction of contact pairs: forces that keep both momenta and never give energy, in compiled loops.

For a pair with coefficients c̄ of nearest points, their distance p̄ = Σ c̄_a x_a and the normal force N of the increment
(`symplex.contact.pair_discrete`), x the midpoints of the increment and v the mean velocities:

    y_a = x_a − m + β (m − x̄),      m the mean of the vertex, the face or the edge that a is of, x̄ of all nodes
    I = Σ (|o|² 1 − o ⊗ o) + β Σ (|r|² 1 − r ⊗ r),    o = x_a − m,  r = m − x̄,
    ω = I⁻¹ Σ y_a × v_a,      σ = P (Σ c̄_a v_a − ω × p̄) = Σ S_a v_a,
    t = N σ μ ψ/|σ|,          I ξ = p̄ × t,      f_a = −S_aᵀ t = −(c̄_a t − ξ × y_a).

ω is the angular velocity of a rigid motion, so that σ is zero in one. Therefore Σ f_a = 0, Σ x_a × f_a = 0, and
f·v = −t·σ is never positive, in increments of any size. With a small β the couple of t about the other surface is taken
by normal forces, and the resultant on each is t; without any, it could not be taken by edges that are nearly parallel.

P is the projection onto the plane orthogonal to a unit vector n, along which the pressure counts: N = N_pair p̂·n. On
flat faces some pairs are tilted, of a vertex and the border of a face that it is not above, or of an edge and the end
of another one; the sum of their forces would be more than the force between the faces. So n is the normal of the face,
or of both edges, where p̄ is less than 37° from it; beyond 45°, as at corners, it is p̂, and in between a mean.
"""

from symplex.contact import laws, mollifier
from symplex.contact.closest import DEGENERATE
from symplex.contact.friction_law import FrictionLaw, pull
from symplex.contact.pair_discrete import end_of, mean_coefficients, mean_distance, mollifiers
from symplex.contact.pairs import PairRecord, add_forces, edges, gather, law_of, middle
from symplex.fem.compiled.kernels import uncounted_formula as formula, uncounted_kernel as kernel
from symplex.fem.compiled.records import Integer, Number
from symplex.fem.compiled.vectors import (
    Mat3,
    Sym3,
    Vec3,
    cofactors,
    cross,
    dot,
    expanded,
    full,
    outer,
    scattered,
    transposed,
)

_BETA = 1.0 / 64.0
_STEEP, _FLAT = 0.7, 0.8  # cosines of the tilts from which on n is p̂, and the normal of the face
_SINGULAR = 1e-14  # det I, relative to (tr I)³, of nodes on one line
_DIFFERENCE = 1e-6  # of the distance of a pair, for derivatives
_NEAREST = 1e-3  # of d̂: below, differences do not become smaller


class PairFrictionRecord(PairRecord):
    """Pairs of a contact with the law of friction, and whether to take secants."""

    dynamic: Number
    static: Number
    slip_speed: Number
    secant: Integer


@formula
def _normal(edge_edge, x, p):
    """Return n and p̂·n."""
    p = 1.0 / dot(p, p) ** 0.5 * p
    a, b = edges(x) if edge_edge else (x[2] - x[1], x[3] - x[1])
    n = cross(a, b)
    squared = dot(n, n)
    if squared <= DEGENERATE * dot(a, a) * dot(b, b):
        return p, 1.0
    n = 1.0 / squared**0.5 * n
    cosine = dot(n, p)
    part = min(max((abs(cosine) - _STEEP) / (_FLAT - _STEEP), 0.0), 1.0)
    part *= part * (3.0 - 2.0 * part)
    n = (1.0 - part) * p + (part if cosine > 0.0 else -part) * n
    n = 1.0 / dot(n, n) ** 0.5 * n
    return n, dot(p, n)


@expanded
def _inertia_of_vertex(x):
    return _inertia(x, 1)


@expanded
def _inertia_of_edges(x):
    return _inertia(x, 2)


def _inertia(x, first):
    """Return y, I, its cofactors and its determinant, of a first vertex or edge of so many nodes."""

    def means(x):
        one, other = x[:first], x[first:]
        one, other = sum(one[1:], one[0]), sum(other[1:], other[0])
        return one / first, other / (4 - first), 0.25 * (one + other)

    one, other, mean = means(x)
    middles = [one if a < first else other for a in range(4)]
    # In the sum of these the mixed products cancel.
    z = [x[a] - middles[a] + _BETA**0.5 * (middles[a] - mean) for a in range(4)]
    S = [_products_of_inertia(one) for one in z]
    inertia = sum(S[1:], S[0])
    # Their means are √β (m − x̄); y has β (m − x̄).
    one, other, _ = means(z)
    y = [z[a] - (1.0 - _BETA**0.5) * (one if a < first else other) for a in range(4)]
    C = cofactors(inertia)
    return tuple(y), inertia, C, inertia[0] * C[0] + inertia[3] * C[3] + inertia[4] * C[4]


def _products_of_inertia(u):
    """Return |u|² 1 − u ⊗ u."""
    return Sym3(
        *(u[1] * u[1] + u[2] * u[2], u[0] * u[0] + u[2] * u[2], u[0] * u[0] + u[1] * u[1]),
        *(-(u[0] * u[1]), -(u[0] * u[2]), -(u[1] * u[2])),
    )


@formula
def _slip_operator(our, e, x0, x1):
    """Return N of a pair from x0 to x1, zero where there is none, and S_a.

    Row j of S_a is the slip velocity of a unit velocity of the node a in the direction j.
    """
    edge_edge, law = our.edge_edge[e], law_of(our)
    start, end = end_of(edge_edge, x0), end_of(edge_edge, x1)
    if start[0] >= law.reach * law.reach and end[0] >= law.reach * law.reach:
        return 0.0, _none()
    c, _, _, _ = mean_coefficients(edge_edge, start, end)
    p, x = mean_distance(c, x0, x1), middle(x0, x1)
    chi0, chi1 = mollifiers(our.parallel[e], x0, x1)
    m = 0.5 * (mollifier.value(chi0) + mollifier.value(chi1))
    Q = laws.quotient(law.kind, law.stiffness, law.reach, start[0], end[0])
    N = 2.0 * our.weights[e] * m * abs(Q) * dot(p, p) ** 0.5
    y, inertia, C, det = _inertia_of_edges(x) if edge_edge else _inertia_of_vertex(x)
    if not (N > 0.0 and det > _SINGULAR * (inertia[0] + inertia[1] + inertia[2]) ** 3):
        return 0.0, _none()
    n, cosine = _normal(edge_edge, x, p)
    return N * cosine, _slips(c, y, C / det, p, n)


@expanded
def _none():
    return (Mat3(*[0.0] * 9),) * 4


@expanded
def _slips(c, y, J, p, n):
    rows, slips = full(J), []
    for a in range(4):
        for j in range(3):
            k, l = (j + 1) % 3, (j + 2) % 3  # noqa: E741
            turn = cross(y[a][l] * rows[k] - y[a][k] * rows[l], p)  # ω × p of ω = J (y × e_j)
            slip = Vec3(*[c[a] - x if i == j else -x for i, x in enumerate(turn)])
            slips.append(slip - dot(slip, n) * n)
    return tuple([Mat3(*slips[3 * a : 3 * a + 3]) for a in range(4)])


@expanded
def _slip(S, v):
    """Return Σ S_a v_a."""
    return v[0] @ S[0] + v[1] @ S[1] + v[2] @ S[2] + v[3] @ S[3]


@expanded
def _forces(S, t):
    return tuple([-(one @ t) for one in S])


@formula
def _force(N, S, friction, v):
    """Return the forces of a pair, given N and S."""
    slip = _slip(S, v)
    ratio, _ = pull(friction, dot(slip, slip) ** 0.5)
    return _forces(S, (N * ratio if N > 0.0 else 0.0) * slip)


@kernel
def add_friction(factor, q0, q1, q, v, our, out, first, last):
    """Add the forces to out [n, 3]; return a sum that is finite if all are."""
    check, friction = 0.0, FrictionLaw(our.dynamic, our.static, our.slip_speed)
    for e in range(first, last):
        x0, x1, u = gather(q0, our.nodes, e), gather(q1, our.nodes, e), gather(v, our.nodes, e)
        N, S = _slip_operator(our, e, x0, x1)
        if N != 0.0:
            check += add_forces(out, our.nodes, e, _force(N, S, friction, u))
    return check


@scattered
def _add_products(S, ratio, rate, slip, factor):
    """Add factor · S_a (ratio 1 + rate σ ⊗ σ) S_bᵀ."""
    for b in range(4):
        change = transposed(ratio * S[b] + outer(rate * (S[b] @ slip), slip))
        for a in range(4):
            yield a, b, factor * (S[a] @ change)


@expanded
def _with_step(x, first, second, third):
    """Return positions after steps of the nodes but the first one."""
    return x[0], x[1] + first, x[2] + second, x[3] + third


@expanded
def _rates(f, g, factor):
    """Return factor (f − g)."""
    return tuple([factor * (u - v) for u, v in zip(f, g, strict=True)])


@kernel
def add_friction_derivatives(factor, q0, q1, q, v, by_q, by_v, our, slots, out, first, last):
    """Add 2 by_q ∂f/∂q1 + by_v ∂f/∂v to the blocks [nnz, 3, 3].

    The derivative with v is −Sᵀ (∂t/∂σ) S, with t/σ for ∂t/∂σ if the secant is requested; that with q1 is a difference.
    """
    check, friction, secant = 0.0, FrictionLaw(our.dynamic, our.static, our.slip_speed), our.secant != 0
    still = Vec3(0.0, 0.0, 0.0)
    for e in range(first, last):
        x0, x1, u = gather(q0, our.nodes, e), gather(q1, our.nodes, e), gather(v, our.nodes, e)
        N, S = _slip_operator(our, e, x0, x1)
        if N == 0.0:
            continue
        f, slip = _force(N, S, friction, u), _slip(S, u)
        ratio, rate = pull(friction, dot(slip, slip) ** 0.5)
        check += _add_products(out, slots, e, S, ratio, 0.0 if secant else rate, slip, -by_v * N)
        s1 = end_of(our.edge_edge[e], x1)[0]
        step = _DIFFERENCE * max(s1**0.5, _NEAREST * our.reach)
        for r in range(3, 12):
            b, j = r // 3, r % 3
            before = x1[b][j]
            taken = (before + step) - before
            way = Vec3(taken if j == 0 else 0.0, taken if j == 1 else 0.0, taken if j == 2 else 0.0)
            x = _with_step(x1, way if b == 1 else still, way if b == 2 else still, way if b == 3 else still)
            N, S = _slip_operator(our, e, x0, x)
            changes = _rates(_force(N, S, friction, u), f, 2.0 * by_q / taken)
            for a in range(4):
                for i in range(3):
                    # Positions are relative to the first node: with it all others move back.
                    out[slots[e, a, b], i, j] += changes[a][i]
                    out[slots[e, a, 0], i, j] -= changes[a][i]
                    check += changes[a][i]
    return check


KERNELS = {"forces": add_friction, "force_derivatives": add_friction_derivatives}
