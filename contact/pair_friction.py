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
from symplex.contact.closest import DEGENERATE, combined, moved, slide
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
    shifted,
    transposed,
)

_BETA = 1.0 / 64.0
_STEEP, _FLAT = 0.7, 0.8  # cosines of the tilts from which on n is p̂, and the normal of the face
_SINGULAR = 1e-14  # det I, relative to (tr I)³, of nodes on one line


class PairFrictionRecord(PairRecord):
    """Pairs of a contact with the law of friction, and whether to take secants."""

    dynamic: Number
    static: Number
    slip_speed: Number
    secant: Integer


@formula
def _normal(edge_edge, x, p):
    """Return n and p̂·n; n0 of the faces, 1/|a × b|, its sign, its share in n with the slope of this, and 1/|sum|."""
    p = 1.0 / dot(p, p) ** 0.5 * p
    a, b = edges(x) if edge_edge else (x[2] - x[1], x[3] - x[1])
    n = cross(a, b)
    squared = dot(n, n)
    if squared <= DEGENERATE * dot(a, a) * dot(b, b):
        return p, 1.0, p, 0.0, 1.0, 0.0, 0.0, 1.0
    over = 1.0 / squared**0.5
    n = over * n
    cosine = dot(n, p)
    sign = 1.0 if cosine > 0.0 else -1.0
    part = min(max((abs(cosine) - _STEEP) / (_FLAT - _STEEP), 0.0), 1.0)
    slope = 6.0 * part * (1.0 - part) / (_FLAT - _STEEP)
    part *= part * (3.0 - 2.0 * part)
    mixed = (1.0 - part) * p + sign * part * n
    scale = 1.0 / dot(mixed, mixed) ** 0.5
    return scale * mixed, scale * dot(p, mixed), n, over, sign, part, slope, scale


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
def _slip_operator(our, e, start, end):
    """Return N of a pair, zero where there is none, S_a, and c̄ with θ, 1 − θ and r, N/(p̂·n), y, I⁻¹ and n.

    Row j of S_a is the slip velocity of a unit velocity of the node a in the direction j.
    """
    edge_edge, law, (s0, x0, _), (s1, x1, _) = our.edge_edge[e], law_of(our), start, end
    mean = mean_coefficients(edge_edge, start, end)
    c = mean[0]
    p, x = mean_distance(c, x0, x1), middle(x0, x1)
    chi0, chi1 = mollifiers(our.parallel[e], x0, x1)
    m = 0.5 * (mollifier.value(chi0) + mollifier.value(chi1))
    Q = laws.quotient(law.kind, law.stiffness, law.reach, s0, s1)
    N = 2.0 * our.weights[e] * m * abs(Q) * dot(p, p) ** 0.5
    y, inertia, C, det = _inertia_of_edges(x) if edge_edge else _inertia_of_vertex(x)
    if not (N > 0.0 and det > _SINGULAR * (inertia[0] + inertia[1] + inertia[2]) ** 3):
        return 0.0, _none(), mean, 0.0, y, C, (p, 1.0, p, 0.0, 1.0, 0.0, 0.0, 1.0)
    J, normal = C / det, _normal(edge_edge, x, p)
    return N * normal[1], _slips(c, y, J, p, normal[0]), mean, N, y, J, normal


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
    check, friction, square = 0.0, FrictionLaw(our.dynamic, our.static, our.slip_speed), our.reach * our.reach
    for e in range(first, last):
        start = end_of(our.edge_edge[e], gather(q0, our.nodes, e))
        end = end_of(our.edge_edge[e], gather(q1, our.nodes, e))
        if start[0] >= square and end[0] >= square:
            continue
        N, S, _, _, _, _, _ = _slip_operator(our, e, start, end)
        if N != 0.0:
            check += add_forces(out, our.nodes, e, _force(N, S, friction, gather(v, our.nodes, e)))
    return check


# -- derivatives ------------------------------------------------------------------------------------------------------
#
# With x_b at the end, with Y the matrix of y = Y x, u = Y v, w = Σ c̄_a v_a − ω × p̄, and the matrix
# [a] of [a] b = a × b (∂c̄ and ∂p̄ as in `symplex.contact.pair_discrete`):
#
#   ∂ω = ½ J (−[u_b] + (y_b·ω) 1 + y_b ⊗ ω − 2 ω ⊗ y_b),            ∂w = Σ v_a ⊗ ∂c̄_a + [p̄] ∂ω − [ω] ∂p̄,
#   ∂σ = P ∂w − (n·w) ∂n − n ⊗ (w ∂n),                              ∂t = r σ ⊗ ∂N + N (r ∂σ + r' σ ⊗ (σ ∂σ)),
#   ∂ξ = J ([p̄] ∂t − [t] ∂p̄ + ½ ((y_b·ξ) 1 + y_b ⊗ ξ − 2 ξ ⊗ y_b)),
#   ∂f_a = −t ⊗ ∂c̄_a − c̄_a ∂t − [y_a] ∂ξ + ½ Y_ab [ξ];
#
# with v_b  ∂σ = S_bᵀ, and so ∂t, ∂ξ = J [p̄] ∂t and ∂f_a = −c̄_a ∂t − [y_a] ∂ξ; both are added up before they go on.


@expanded
def _arms_of_vertex(u):
    return tuple(_arms(u, 1))


@expanded
def _arms_of_edges(u):
    return tuple(_arms(u, 2))


def _couplings(first):
    """Return Y."""
    bodies = [0 if a < first else 1 for a in range(4)]
    means = [[(1.0 / (first, 4 - first)[k]) * (k == other) for other in bodies] for k in bodies]
    return [[(a == b) - (1.0 - _BETA) * means[a][b] - 0.25 * _BETA for b in range(4)] for a in range(4)]


def _arms(u, first):
    """Return Y u of vectors of which the first one is zero."""
    return [Y[1] * u[1] + Y[2] * u[2] + Y[3] * u[3] for Y in _couplings(first)]


def _turning(a):
    """Return [a], of which the products with b are a × b."""
    zero = 0.0 * a[0]
    return Mat3(zero, -a[2], a[1], a[2], zero, -a[0], -a[1], a[0], zero)


def _crossed(a, B):
    """Return [a] B."""
    return Mat3(a[1] * B[2] - a[2] * B[1], a[2] * B[0] - a[0] * B[2], a[0] * B[1] - a[1] * B[0])


def _bent(y, omega):
    """Return (y·ω) 1 + y ⊗ ω − 2 ω ⊗ y."""
    return shifted(outer(y, omega) - outer(2.0 * omega, y), dot(y, omega))


@scattered
def _add_of_vertex(*parts):
    yield from _blocks(1, ((0.0, -1.0, 1.0, 0.0), (0.0, -1.0, 0.0, 1.0)), *parts)


@scattered
def _add_of_edges(*parts):
    yield from _blocks(2, ((-1.0, 1.0, 0.0, 0.0), (0.0, 0.0, -1.0, 1.0)), *parts)


def _blocks(first, sides, ends, slides, velocities, arms, J, normal, pressing, pulling, by):
    """Yield by_x ∂f_a/∂x_b + by_v ∂f_a/∂v_b of all nodes; what moves the first one moves the others back."""
    ((x0, c0), (x1, c1)), ((c, theta, rest, over), (u, u1), (E, V)) = ends, slides
    (v, of_arms, omega, w), (n, cosine, of_faces, of_area, sign, share, slope, scale) = velocities, normal
    (N, inverse, of_ends, of_mollifier, g), (r, rate, secant, slip, t, xi, S) = pressing, pulling
    by_x, by_v = by
    x, p, p1, J = middle(x0, x1), mean_distance(c, x0, x1), combined(c1, x1), full(J)
    unit, (a, b), Y = inverse * p, [combined(side, x) for side in sides], _couplings(first)
    end0, end1 = combined(c, x0), combined(c, x1)
    R = [dot(combined(one, x1), end1) - dot(combined(one, x0), end0) for one in E]
    tangents, carried = [combined(one, x) for one in E], [combined(one, v) for one in E]
    drift = combined([c1[k] - c0[k] for k in range(4)], v)
    sums = [Mat3(*[0.0] * 9)] * 4
    for k in range(1, 4):
        V0, V1 = theta * V[0][k], theta * V[1][k]
        T = -2.0 * over * (rest * ((c1[k] - c0[k]) * p1 + c[k] * u1) + R[0] * V0 + R[1] * V1)
        dc = [(c1[i] - c0[i]) * T - E[0][i] * V0 - E[1][i] * V1 for i in range(4)]
        dp = shifted(outer(u, T) - outer(tangents[0], V0) - outer(tangents[1], V1), 0.5 * c[k])
        spin = 0.5 * (J @ (_bent(arms[k], omega) - _turning(of_arms[k])))
        dw = outer(drift, T) - outer(carried[0], V0) - outer(carried[1], V1) + _crossed(p, spin) - _crossed(omega, dp)
        stretch = unit @ dp
        dunit = inverse * (dp - outer(unit, stretch))
        dface = 0.5 * of_area * _turning(sides[1][k] * a - sides[0][k] * b)
        dface = dface - outer(of_faces, of_faces @ dface)
        tilt = (sign * slope) * (of_faces @ dunit + unit @ dface)
        dn = (1.0 - share) * dunit + (sign * share) * dface + outer(sign * of_faces - unit, tilt)
        dn = scale * (dn - outer(n, n @ dn))
        dN = cosine * ((N * inverse) * stretch + (of_ends * c1[k]) * p1 + of_mollifier * g[k])
        dN = dN + N * (n @ dunit + unit @ dn)
        dslip = dw - outer(n, n @ dw + w @ dn) - dot(n, w) * dn
        of_v = transposed(S[k])
        dslip, along = by_x * dslip + by_v * of_v, by_x * rate * (slip @ dslip) + by_v * secant * (slip @ of_v)
        dt = outer(slip, by_x * r * dN + (N * cosine) * along) + (N * cosine * r) * dslip
        dxi = J @ (_crossed(p, dt) + by_x * (0.5 * _bent(arms[k], xi) - _crossed(t, dp)))
        for i in range(4):
            K = by_x * ((0.5 * Y[i][k]) * _turning(xi) - outer(t, dc[i])) - c[i] * dt - _crossed(arms[i], dxi)
            yield i, k, K
            sums[i] = sums[i] + K
    for i in range(4):
        yield i, 0, -sums[i]


@expanded
def _turns(y, J, c, p, v, t):
    """Return ω, w and ξ."""
    sums = [cross(y[a], v[a]) for a in range(1, 4)]
    omega = J @ (sums[0] + sums[1] + sums[2])
    return omega, combined(c, v) - cross(omega, p), J @ cross(p, t)


@expanded
def _slopes_of_edges(first, second):
    return -first, first, -second, second


@formula
def _add_blocks(our, e, start, end, found, v, friction, slots, out, by):
    """Add by_x ∂f/∂x1 + by_v ∂f/∂v of a pair with what `_slip_operator` finds; return the sum of its numbers."""
    edge_edge, (s0, x0, c0), (s1, x1, c1) = our.edge_edge[e], start, end
    _, S, (c, theta, rest, root), N, y, J, normal = found
    slip = _slip(S, v)
    ratio, rate = pull(friction, dot(slip, slip) ** 0.5)
    p, x, contact = mean_distance(c, x0, x1), middle(x0, x1), law_of(our)
    t, size = N * normal[1] * ratio * slip, dot(p, p) ** 0.5
    omega, w, xi = _turns(y, J, c, p, v, t)
    E, _, V = slide(edge_edge, x1, c1, combined(c1, x1))
    slides = (
        (c, theta, rest, 1.0 / root if root > 0.0 else 0.0),
        (moved(edge_edge, c0, c1, x), moved(edge_edge, c0, c1, x1)),
        (E, V),
    )
    chi0, chi1 = mollifiers(our.parallel[e], x0, x1)
    m = 0.5 * (mollifier.value(chi0) + mollifier.value(chi1))
    Q = laws.quotient(contact.kind, contact.stiffness, contact.reach, s0, s1)
    slope = laws.quotient_slope(contact.kind, contact.stiffness, contact.reach, s0, s1)
    of_ends = 4.0 * our.weights[e] * m * size * (slope if Q > 0.0 else -slope)
    a1, b1 = edges(x1)
    first, second = mollifier.gradient(a1, b1)
    of_mollifier = our.weights[e] * abs(Q) * size * mollifier.slope(chi1) / our.parallel[e] if chi1 < 1.0 else 0.0
    pressing = N, 1.0 / size, of_ends, of_mollifier, _slopes_of_edges(first, second)
    ends, pulling = ((x0, c0), (x1, c1)), (ratio, rate, 0.0 if our.secant != 0 else rate, slip, t, xi, S)
    if edge_edge:
        velocities = v, _arms_of_edges(v), omega, w
        return _add_of_edges(out, slots, e, ends, slides, velocities, y, J, normal, pressing, pulling, by)
    velocities = v, _arms_of_vertex(v), omega, w
    return _add_of_vertex(out, slots, e, ends, slides, velocities, y, J, normal, pressing, pulling, by)


@kernel
def add_friction_derivatives(factor, q0, q1, q, v, by_q, by_v, our, slots, out, first, last):
    """Add 2 by_q ∂f/∂q1 + by_v ∂f/∂v, with t/σ for ∂t/∂σ in the second if that is requested, to blocks [nnz, 3, 3]."""
    check, friction, square = 0.0, FrictionLaw(our.dynamic, our.static, our.slip_speed), our.reach * our.reach
    for e in range(first, last):
        start = end_of(our.edge_edge[e], gather(q0, our.nodes, e))
        end = end_of(our.edge_edge[e], gather(q1, our.nodes, e))
        if start[0] >= square and end[0] >= square:
            continue
        found = _slip_operator(our, e, start, end)
        if found[0] > 0.0:
            v_of_pair = gather(v, our.nodes, e)
            check += _add_blocks(our, e, start, end, found, v_of_pair, friction, slots, out, (2.0 * by_q, by_v))
    return check


KERNELS = {"forces": add_friction, "force_derivatives": add_friction_derivatives}
