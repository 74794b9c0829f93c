"""Energy and forces of elements whose dilatation is its mean over the element, with any law of invariants.

With G_ab = d_a·d_b, M and N = cof M at a point (see `symplex.fem.solids.law_gradients`), J = √det G/D, the mean J̄ over
the element and ρ = (J̄/J)^(2/3), the law is asked at

    I1 = ρ M : G,    I2 = ρ² N : cof G,    θ = ln J̄,    I4 = ρ a0·G a0,

those of C̃ = ρ C. The forces on the tangent vectors are t_a = V Σ_b S_ab d_b with

    S = 2 ρ W_1 M + 2 ρ² W_2 {G, N} + 2 ρ W_4 α ⊗ α + (W_θ + P π/w − a) G⁻¹,
    a = (2 W_1 I1 + 4 W_2 I2 + 3 W_θ + 2 W_4 I4)/3,    P = Σ V a,    π/w = J/Σ V J:

the formulas of `symplex.fem.solids.mean_dilatation` in the tangent vectors. Between two positions G goes straight from
its start to its end, and S is the mean by Gauss' rule, on each of the pieces between places where second derivatives of
W jump at a point of the element (`symplex.fem.solids.law_switches`); the forces act along the mean tangent
vectors.

All sums over the points of an element are within a chunk: rules have up to 8 points.
"""

from __future__ import annotations

import numpy as np

from symplex.fem.compiled.exponential import exp
from symplex.fem.compiled.kernels import inlined, kernel
from symplex.fem.compiled.lanes import aligned, sum_alike
from symplex.fem.compiled.logarithm import log
from symplex.fem.compiled.vectors import (
    add_at,
    cofactors,
    contracted,
    expanded,
    gram,
    gram_slopes,
    mat3_at,
    mixed,
    set_at,
    square,
    sym3_at,
)
from symplex.fem.solids.chunks import (
    CHUNK,
    GEOMETRY,
    add_energies,
    chunks,
    direction,
    elements_per_chunk,
    gather,
    gather_increments,
    place,
    room_of_hourglasses,
    scatter,
    volume,
    work,
)
from symplex.fem.solids.increments import determinants
from symplex.fem.solids.law_gradients import evaluate, set_forces, set_strains
from symplex.fem.solids.law_segments import set_ends


@inlined
def set_segments(means, increments, middle, change):
    """Set the rows of G half way between two positions and of its change; return how many are inverted at no end."""
    valid = 0
    for p in range(CHUNK):
        m, i = mat3_at(means, p, CHUNK), mat3_at(increments, p, CHUNK)
        set_at(middle, p, CHUNK, gram(m) + 0.25 * gram(i))
        set_at(change, p, CHUNK, gram_slopes(m, i))
        _, delta, total = determinants(m, cofactors(m), i)
        valid += abs(delta) < total
    return valid


@inlined
def set_between(middle, change, s, G):
    """Set the rows of G at places s [CHUNK] in [0, 1] of the segments."""
    for i in range(6):
        for p in range(CHUNK):
            G[place(i, p)] = middle[place(i, p)] + (s[p] - 0.5) * change[place(i, p)]


@inlined
def room_of_pieces(our):
    """Return room for the ends of pieces [rows, E], for places and two weights [CHUNK], and for `set_pieces`."""
    rows, known, points = 2, 0, len(our.slopes)
    if len(our.switches) > 0:
        rows, known = 2 * int(our.switches[2]) * points + 2, 13 + GEOMETRY + 3 * our.fibres
    ends = aligned(rows * elements_per_chunk(points))
    return ends, aligned(CHUNK), aligned(CHUNK), aligned(CHUNK), aligned(known * CHUNK)


@inlined
def set_pieces(our, chunk, middle, change, room):
    """Set the ends of the pieces of each element's segments, and return how many pieces there are at most."""
    ends, known = room[0], room[4]
    if len(our.switches) > 0:
        rows = len(known) - CHUNK
        known[: 6 * CHUNK] = middle
        known[6 * CHUNK : 12 * CHUNK] = change
        known[12 * CHUNK : rows] = our.geometry[chunk][: rows - 12 * CHUNK]
        known[rows:] = our.weights
    return set_ends(our.switches, known, elements_per_chunk(len(our.slopes)), ends)


@inlined
def set_rule(our, i, piece, room):
    """Set the place of point i of the rule on a piece [CHUNK], its weight, and that of what changes with the end.

    Return these three. An empty piece has no weight, and is evaluated between the ends, where the law has a value.
    """
    ends, s, w, w_end, _ = room
    rule, size = our.rule, elements_per_chunk(len(our.slopes))
    for p in range(CHUNK):
        start = ends[piece * size + p % size]
        length = ends[(piece + 1) * size + p % size] - start
        s[p] = start + rule[0, i] * length if length > 0.0 else rule[0, i]
        w[p] = rule[1, i] * length
        w_end[p] = length * (start * rule[1, i] + length * rule[2, i])
    return s, w, w_end


@expanded
def inverse(G):
    """Return G⁻¹."""
    K = cofactors(G)
    return 1.0 / (G[0] * K[0] + G[3] * K[3] + G[4] * K[4]) * K


@inlined
def set_metrics(G, geometry, fibres, invariants):
    """Set the rows of the invariants of C, with J in that of θ."""
    for p in range(CHUNK):
        g, M = sym3_at(G, p, CHUNK), sym3_at(geometry, p, CHUNK)
        K = cofactors(g)
        invariants[p] = contracted(M, g)
        invariants[place(1, p)] = contracted(cofactors(M), K)
        invariants[place(2, p)] = np.sqrt(g[0] * K[0] + g[3] * K[3] + g[4] * K[4]) / geometry[place(6, p)]
    for f in range(fibres):
        for p in range(CHUNK):
            invariants[place(3 + f, p)] = contracted(sym3_at(G, p, CHUNK), square(direction(geometry, f, p)))


@inlined
def dilate(geometry, weights, fibres, points, invariants, rho, share):
    """Replace the rows of the invariants of C, with J in that of θ, by those of C̃; set ρ and π/w [CHUNK]."""
    for p in range(CHUNK):
        rho[p] = volume(weights, geometry, p)
        share[p] = rho[p] * invariants[place(2, p)]
    sum_alike(rho, elements_per_chunk(points), CHUNK)
    sum_alike(share, elements_per_chunk(points), CHUNK)
    for p in range(CHUNK):
        J, mean = invariants[place(2, p)], share[p] / rho[p]
        rho[p] = exp(2.0 / 3.0 * log(mean / J))
        share[p] = J / share[p]
        invariants[place(2, p)] = log(mean)
    scale(fibres, rho, invariants)


@inlined
def scale(fibres, rho, rows):
    """Multiply the rows of I1, I2 and I4 by ρ, ρ² and ρ: from C to C̃, or from derivatives by C̃ to those by C."""
    for p in range(CHUNK):
        rows[p] *= rho[p]
        rows[place(1, p)] *= rho[p] * rho[p]
    for f in range(fibres):
        for p in range(CHUNK):
            rows[place(3 + f, p)] *= rho[p]


@inlined
def set_dilated(G, geometry, weights, fibres, points, invariants, rho, share):
    """Set the rows of the invariants of C̃, and ρ and π/w [CHUNK]."""
    set_metrics(G, geometry, fibres, invariants)
    dilate(geometry, weights, fibres, points, invariants, rho, share)


@inlined
def set_work(invariants, W, fibres, a):
    """Set a [CHUNK], a third of S̃ : C̃, given the first derivatives of W."""
    for p in range(CHUNK):
        a[p] = W[place(2, p)] + (2.0 * W[p] * invariants[p] + 4.0 * W[place(1, p)] * invariants[place(1, p)]) / 3.0
    for f in range(fibres):
        for p in range(CHUNK):
            a[p] += 2.0 / 3.0 * W[place(3 + f, p)] * invariants[place(3 + f, p)]


@inlined
def sum_over_points(our, chunk, values, sums):
    """Set sums [CHUNK] to Σ V values of the element of each point."""
    geometry, weights = our.geometry[chunk], our.weights
    for p in range(CHUNK):
        sums[p] = volume(weights, geometry, p) * values[p]
    sum_alike(sums, elements_per_chunk(len(our.slopes)), CHUNK)


@inlined
def set_pressures(a, share, sums, W):
    """Replace W_θ by W_θ + P π/w − a, P in sums."""
    for p in range(CHUNK):
        W[place(2, p)] += sums[p] * share[p] - a[p]


@inlined
def add_stresses(our, chunk, w, G, W, rho, S):
    """Add w S, w [CHUNK], to the rows of S, given the first derivatives with the pressure."""
    geometry = our.geometry[chunk]
    for p in range(CHUNK):
        g, M, r = sym3_at(G, p, CHUNK), sym3_at(geometry, p, CHUNK), rho[p]
        T = 2.0 * r * W[p] * M + 2.0 * r * r * W[place(1, p)] * mixed(g, cofactors(M))
        add_at(S, p, CHUNK, w[p] * (T + W[place(2, p)] * inverse(g)))
    for f in range(our.fibres):
        for p in range(CHUNK):
            add_at(S, p, CHUNK, 2.0 * w[p] * rho[p] * W[place(3 + f, p)] * square(direction(geometry, f, p)))


@inlined
def _set_forces(our, chunk, means, S):
    """Replace the mean tangent vectors by the forces t_a; return at how many points these are finite."""
    geometry, weights, finite = our.geometry[chunk], our.weights, 0
    for p in range(CHUNK):
        T = volume(weights, geometry, p) * sym3_at(S, p, CHUNK)
        set_at(means, p, CHUNK, T @ mat3_at(means, p, CHUNK))
        finite += abs(T[0] + T[1] + T[2] + T[3] + T[4] + T[5]) < np.inf
    return finite


@kernel
def add_increment_gradient(q, compensation, q1, our, out, first, last):
    """Add the discrete gradient of the chunks first … last − 1 to out [n, 3]; see `law_discrete`."""
    q, compensation, q1, out = q.ravel(), compensation.ravel(), q1.ravel(), out.ravel()
    m, points = 3 + our.fibres, len(our.slopes)
    x, y, u = work(our), work(our), room_of_hourglasses(our)
    means, increments = aligned(9 * CHUNK), aligned(9 * CHUNK)
    middle, change, G, S = aligned(6 * CHUNK), aligned(6 * CHUNK), aligned(6 * CHUNK), aligned(6 * CHUNK)
    invariants, W = aligned(m * CHUNK), aligned(m * CHUNK)
    rho, share, a, sums = aligned(CHUNK), aligned(CHUNK), aligned(CHUNK), aligned(CHUNK)
    room, gauss = room_of_pieces(our), our.rule.shape[1]
    for chunk in chunks(first, last):
        gather_increments(q, compensation, q1, our, chunk, x, y, means, increments)
        if set_segments(means, increments, middle, change) < CHUNK:
            return np.nan
        S[:] = 0.0
        for i in range(gauss * set_pieces(our, chunk, middle, change, room)):
            s, w, _ = set_rule(our, i % gauss, i // gauss, room)
            set_between(middle, change, s, G)
            set_dilated(G, our.geometry[chunk], our.weights, our.fibres, points, invariants, rho, share)
            evaluate(our, invariants, W)
            set_work(invariants, W, our.fibres, a)
            sum_over_points(our, chunk, a, sums)
            set_pressures(a, share, sums, W)
            add_stresses(our, chunk, w, G, W, rho, S)
        if _set_forces(our, chunk, means, S) < CHUNK:
            return np.nan
        scatter(means, our, chunk, x, u, out)
    return 0.0


@inlined
def gather_dilated(q, our, chunk, x, d, invariants, rho, share, W):
    """Set tangent vectors, invariants of C̃ and W, or its derivatives, at q; return whether no element is inverted."""
    gather(q, our, chunk, x, d)
    if set_strains(our, chunk, d, invariants) < CHUNK:
        return False
    dilate(our.geometry[chunk], our.weights, our.fibres, len(our.slopes), invariants, rho, share)
    evaluate(our, invariants, W)
    return True


@kernel
def add_gradient(q, our, out, first, last):
    """Add the gradient of the chunks first … last − 1 at q [n, 3] to out [n, 3], by the first derivatives of W.

    The forces are those of a law with the derivatives ρ W_1, ρ² W_2, W_θ + P π/w − a and ρ W_4 at C.
    """
    q, out, m = q.ravel(), out.ravel(), 3 + our.fibres
    x, d, t, u = work(our), aligned(9 * CHUNK), aligned(9 * CHUNK), room_of_hourglasses(our)
    invariants, W = np.zeros(m * CHUNK), aligned(m * CHUNK)  # that of I2 is not set if the law does not have it
    rho, share, a, sums = aligned(CHUNK), aligned(CHUNK), aligned(CHUNK), aligned(CHUNK)
    for chunk in chunks(first, last):
        if not gather_dilated(q, our, chunk, x, d, invariants, rho, share, W):
            return np.nan
        set_work(invariants, W, our.fibres, a)
        sum_over_points(our, chunk, a, sums)
        set_pressures(a, share, sums, W)
        scale(our.fibres, rho, W)
        if set_forces(our, chunk, d, W, t) < CHUNK:
            return np.nan
        scatter(t, our, chunk, x, u, out)
    return 0.0


@kernel
def write_values(q, our, out, first, last):
    """Add the energies of the elements of the chunks first … last − 1 at q [n, 3] to out [m], by W."""
    q, weights, check = q.ravel(), our.weights, 0.0
    x, d, W = work(our), aligned(9 * CHUNK), aligned(CHUNK)
    invariants, rho, share = np.zeros((3 + our.fibres) * CHUNK), aligned(CHUNK), aligned(CHUNK)
    for chunk in chunks(first, last):
        if not gather_dilated(q, our, chunk, x, d, invariants, rho, share, W):
            return np.nan
        geometry = our.geometry[chunk]
        for p in range(CHUNK):
            W[p] *= volume(weights, geometry, p)
        check += add_energies(our, chunk, W, out)
    return check
