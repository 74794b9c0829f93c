"""Energies that are quadratic in measures that are quadratic in positions: all forms, in kernels over stencils.

With p_r = Σ_a w_ra (x_a − x_0), measures ε_i = Σ c p_r·p_s − e_i = ½ x·A_i x − e_i, stresses σ = b + C ε and slopes
G_i = A_i x of a stencil:

    ∂φ/∂x = Σ σ_i G_i,                         ∂²φ/∂x² = Σ σ_i A_i + Σ_ij G_i C_ij G_jᵀ,
    DG = Σ σ̄_i A_i x̄,  σ̄ = b + ½ C (ε⁰ + ε¹),   ∂DG/∂x1 = ½ (Σ σ̄_i A_i + Σ_ij A_i x̄ C_ij (A_j x1)ᵀ),
    𝓕 = Σ σ_i A_i,  𝓕̇ = Σ (C ε̇)_i A_i,         ∇³φ[a, a] = Σ (C ε'')_i G_i + 2 (C ε')_i A_i a.

Loops over the terms of a structure are done while a kernel is compiled (`symplex.fem.structures.structure`).
"""

import numpy as np

from symplex.fem.compiled.kernels import uncounted_formula as formula, uncounted_kernel as kernel
from symplex.fem.compiled.vectors import dot, expanded, scattered, stored
from symplex.fem.structures.structure import count_of, differences_of, nodes_of, numbers_of, room_of

# -- while a kernel is compiled -------------------------------------------------------------------------------------


def _sum(terms):
    """Return the sum of values; 0 if there is none."""
    found = None
    for term in terms:
        found = term if found is None else found + term
    return 0.0 if found is None else found


def _stiff(s, numbers, strains):
    """Return C times strains, of which there is one for each measure."""
    first = s.places[1]
    rows = [[] for _ in s.measures]
    for at, (i, j) in enumerate(s.coupled):
        for row, column in {(i, j), (j, i)}:
            rows[row].append(numbers[first + at] * strains[column])
    return [_sum(row) for row in rows]


def _slopes(s, i, p):
    """Return (A_i p)_r by r, of the vectors that a measure depends on."""
    found = {}
    for r, t, c in s.measures[i]:
        for one, other in ((r, t), (t, r)):
            found[one] = found[one] + c * p[other] if one in found else c * p[other]
    return found


def _at_nodes(s, numbers, by_vector):
    """Return Σ_r w_ra v_r of each node a, for vectors or numbers v by r; they sum to zero."""
    n = s.nodes - 1
    others = [_sum(numbers[r * n + a] * v for r, v in by_vector.items()) for a in range(n)]
    return [-1.0 * _sum(others), *others]


@expanded
def _vectors(s, numbers, d):
    """Return p_r for differences of positions."""
    n = s.nodes - 1
    return tuple(_sum(numbers[r * n + a] * d[a] for a in range(n)) for r in range(s.vectors))


@expanded
def _stresses(s, numbers, p0, p1):
    """Return b + ½ C (ε⁰ + ε¹)."""
    rest, _, stress, _ = s.places
    strains = {}
    for i in s.stiff:
        mean = _sum(0.5 * c * (dot(p0[r], p0[t]) + dot(p1[r], p1[t])) for r, t, c in s.measures[i])
        strains[i] = mean - numbers[rest + i]
    found = _stiff(s, numbers, strains)
    for at, i in enumerate(s.stressed):
        found[i] = found[i] + numbers[stress + at]
    return tuple(found)


@expanded
def _stress_rates(s, numbers, p, v):
    """Return C ε̇ for rates v of the vectors."""
    rates = [_sum(c * (dot(p[r], v[t]) + dot(v[r], p[t])) for r, t, c in terms) for terms in s.measures]
    return tuple(_stiff(s, numbers, rates))


@expanded
def _bends(s, numbers, v):
    """Return C ε'', twice what products of rates v of the vectors are."""
    return tuple(_stiff(s, numbers, [_sum(2.0 * c * dot(v[r], v[t]) for r, t, c in terms) for terms in s.measures]))


def _forces(s, numbers, stresses, p):
    by_vector = {}
    for i, stress in enumerate(stresses):
        for r, slope in _slopes(s, i, p).items():
            by_vector[r] = by_vector[r] + stress * slope if r in by_vector else stress * slope
    return _at_nodes(s, numbers, by_vector)


@scattered
def _add_forces(s, numbers, stresses, p):
    """Add Σ σ_i A_i p to the nodes."""
    yield from enumerate(_forces(s, numbers, stresses, p))


@scattered
def _add_bent_forces(s, numbers, bends, p, rates, v):
    """Add Σ (C ε'')_i A_i p + 2 (C ε')_i A_i v to the nodes."""
    first = _forces(s, numbers, bends, p)
    second = _forces(s, numbers, [2.0 * rate for rate in rates], v)
    yield from enumerate(one + other for one, other in zip(first, second, strict=True))


@stored
def _set_slopes(s, numbers, p, p1):
    """Set A_i p of measures with a stiffness, a row of nodes for each, and Σ_j C_ij A_j p1."""
    stiff = {i: _at_nodes(s, numbers, _slopes(s, i, p1)) for i in s.stiff}
    for i in s.stiff:
        yield from _at_nodes(s, numbers, _slopes(s, i, p))
    columns = [_stiff(s, numbers, {i: rows[a] for i, rows in stiff.items()}) for a in range(s.nodes)]
    for i in s.stiff:
        for column in columns:
            yield column[i]


@stored
def _set_pairs(s, numbers, stresses):
    """Set Σ σ_i A_i, a number for each pair of nodes."""
    products = {}
    for i, stress in enumerate(stresses):
        for r, t, c in s.measures[i]:
            for pair in ((r, t), (t, r)):
                products[pair] = products[pair] + c * stress if pair in products else c * stress
    by_row = {}  # Σ_t (Σ σ_i A_i)_rt w_tb of each node b
    for r in range(s.vectors):
        row = {t: x for (one, t), x in products.items() if one == r}
        if row:
            by_row[r] = _at_nodes(s, numbers, row)
    columns = [_at_nodes(s, numbers, {r: row[b] for r, row in by_row.items()}) for b in range(s.nodes)]
    for a in range(s.nodes):
        for b in range(s.nodes):
            yield columns[max(a, b)][min(a, b)]  # symmetric to the last bit


# -- kernels --------------------------------------------------------------------------------------------------------


@formula
def _matrix(our, p, p1, stresses, e, factor, slots, room, out):
    """Add factor · (Σ σ_i A_i + Σ_ij A_i p C_ij (A_j p1)ᵀ) to blocks; return what is finite if it is."""
    s, numbers = our.structure, numbers_of(our.structure, our.numbers, e)
    k, rows = nodes_of(our.structure), count_of(our.structure)
    n = 3 * k
    slopes = n * n
    stressed = slopes + rows * n
    pairs = stressed + rows * n
    _set_slopes(room, slopes, 1, s, numbers, p, p1)
    _set_pairs(room, pairs, 1, s, numbers, stresses)
    for alpha in range(n):
        row = room[alpha * n : (alpha + 1) * n]
        row[:] = 0.0
        for i in range(rows):
            x, column = room[slopes + i * n + alpha], room[stressed + i * n : stressed + (i + 1) * n]
            for beta in range(n):
                row[beta] += x * column[beta]
    check, second, third = 0.0, 0.0, 0.0  # as an addition has to wait for the one before
    for a in range(k):
        for b in range(k):
            on, block = room[pairs + a * k + b], out[np.uint64(slots[e, a, b])]
            for i in range(3):
                first = np.uint64((3 * a + i) * n + 3 * b)
                x = factor * (room[first] + (on if i == 0 else 0.0))
                y = factor * (room[first + np.uint64(1)] + (on if i == 1 else 0.0))
                z = factor * (room[first + np.uint64(2)] + (on if i == 2 else 0.0))
                block[i, 0] += x
                block[i, 1] += y
                block[i, 2] += z
                check, second, third = check + x, second + y, third + z
    return check + (second + third)


@formula
def _add_pairs(our, stresses, e, slots, room, out):
    """Add Σ σ_i A_i to values; return a number that is finite if all of it is."""
    k, check = our.nodes.shape[1], 0.0
    _set_pairs(room, 0, 1, our.structure, numbers_of(our.structure, our.numbers, e), stresses)
    for a in range(k):
        for b in range(k):
            check += room[a * k + b]
            out[slots[e, a, b]] += room[a * k + b]
    return check


@formula
def _vectors_at(our, q, e):
    s = our.structure
    return _vectors(s, numbers_of(s, our.numbers, e), differences_of(s, q, our.nodes, e))


@expanded
def _mean(p0, p1):
    return tuple(0.5 * (one + other) for one, other in zip(p0, p1, strict=True))


@expanded
def _plus(d, more):
    return tuple(one + other for one, other in zip(d, more, strict=True))


@kernel
def add_gradient(q, our, out, first, last):
    """Add ∂φ/∂q [n, 3]; return a sum that is finite if all forces are."""
    s, check = our.structure, 0.0
    for e in range(first, last):
        numbers, p = numbers_of(s, our.numbers, e), _vectors_at(our, q, e)
        check += _add_forces(out, our.nodes, e, s, numbers, _stresses(s, numbers, p, p), p)
    return check


@kernel
def add_discrete_gradient(q0, q1, our, out, first, last):
    """Add DG(q0, q1) [n, 3]; return a sum that is finite if all forces are."""
    s, check = our.structure, 0.0
    for e in range(first, last):
        numbers, p0, p1 = numbers_of(s, our.numbers, e), _vectors_at(our, q0, e), _vectors_at(our, q1, e)
        check += _add_forces(out, our.nodes, e, s, numbers, _stresses(s, numbers, p0, p1), _mean(p0, p1))
    return check


@kernel
def add_increment_gradient(q, compensation, dq, our, out, first, last):
    """Add DG(q + c, q + c + Δq) [n, 3]; return a sum that is finite if all forces are."""
    s, check = our.structure, 0.0
    for e in range(first, last):
        numbers = numbers_of(s, our.numbers, e)
        d = _plus(differences_of(s, q, our.nodes, e), differences_of(s, compensation, our.nodes, e))
        p0 = _vectors(s, numbers, d)
        p1 = _plus(p0, _vectors_at(our, dq, e))
        check += _add_forces(out, our.nodes, e, s, numbers, _stresses(s, numbers, p0, p1), _mean(p0, p1))
    return check


@kernel
def add_third(q, along, our, out, first, last):
    """Add ∇³V[along, along] [n, 3]; return a sum that is finite if all of it is."""
    s, check = our.structure, 0.0
    for e in range(first, last):
        numbers, p, v = numbers_of(s, our.numbers, e), _vectors_at(our, q, e), _vectors_at(our, along, e)
        bends, rates = _bends(s, numbers, v), _stress_rates(s, numbers, p, v)
        check += _add_bent_forces(out, our.nodes, e, s, numbers, bends, p, rates, v)
    return check


@kernel
def add_hessian(q, our, slots, out, first, last):
    """Add ∂²φ/∂q² to blocks; return a sum that is finite if all of it is."""
    s, room, check = our.structure, room_of(our.structure), 0.0
    for e in range(first, last):
        p = _vectors_at(our, q, e)
        check += _matrix(our, p, p, _stresses(s, numbers_of(s, our.numbers, e), p, p), e, 1.0, slots, room, out)
    return check


@kernel
def add_discrete_hessian(q0, q1, our, slots, out, first, last):
    """Add ∂DG/∂q1 to blocks; return a sum that is finite if all of it is."""
    s, room, check = our.structure, room_of(our.structure), 0.0
    for e in range(first, last):
        p0, p1 = _vectors_at(our, q0, e), _vectors_at(our, q1, e)
        stresses = _stresses(s, numbers_of(s, our.numbers, e), p0, p1)
        check += _matrix(our, _mean(p0, p1), p1, stresses, e, 0.5, slots, room, out)
    return check


@kernel
def add_secant(q, our, slots, out, first, last):
    """Add 𝓕 to values; return a sum that is finite if all of it is."""
    s, room, check = our.structure, room_of(our.structure), 0.0
    for e in range(first, last):
        p = _vectors_at(our, q, e)
        stresses = _stresses(s, numbers_of(s, our.numbers, e), p, p)
        check += _add_pairs(our, stresses, e, slots, room, out)
    return check


@kernel
def add_secant_rate(q, v, our, slots, out, first, last):
    """Add 𝓕̇ along velocities to values; return a sum that is finite if all of it is."""
    s, room, check = our.structure, room_of(our.structure), 0.0
    for e in range(first, last):
        numbers, p, rate = numbers_of(s, our.numbers, e), _vectors_at(our, q, e), _vectors_at(our, v, e)
        check += _add_pairs(our, _stress_rates(s, numbers, p, rate), e, slots, room, out)
    return check
