"""Elements of a metal that flows, in compiled loops: their energy, forces and tangents, and what they dissipate.

The stress of a point is that of `symplex.fem.solids.plastic_points`. A *cell* is what shares one volume change: a point
of quadrature, or, with mean dilatation, a whole element, whose pressure follows from J̄ = Σ w J/V:

    ψ = Σ w |q s|²/4μ + V K/2 (ln J̄)²,    S_q = Σ q s_i b_i b_i + K (ln J̄/J̄) J_q C_q⁻¹.

Its tangent is that of the points with K = 0, plus p J (C⁻¹ ⊗ C⁻¹ − 2 C⁻¹ ⊙ C⁻¹), p = K ln J̄/J̄, plus c u ⊗ u of the
element with u_q = J C⁻¹ and c = K (1 − ln J̄)/(J̄² V).

Over an increment the discrete stress is, with ΔE = sym(F_mᵀ ΔF), the stress S0 at its start and S1 at its end,

    S* = ½ (S0 + S1) + κ P ΔE P,    κ = r R/n,    R = Δψ + ΔWp − Σ w ½ (S0 + S1) : ΔE,    n = Σ w ΔE : P ΔE P

of a cell, P = Cp⁻¹ at the start. P makes ΔE the strain of the body as it is: of one that has flowed far, as the foot of
a bar that is a seventh as long, ΔE itself is small along what has become short, and κ without P would be a hundred
times as stiff as the metal. The work is Δψ + D with D = ΔWp − (1 − r) R. r = x²/(1 + x²) with x = n/(V δ²) is 1 but for
the smallest increments, in which R is round-off. The tangent of S* has, next to ½ ℂ and κ P ⊙ P,

    P ΔE P ⊗ [(r/n) (½ (S1 − S0) − ½ ℂ : ΔE) + 2 κ (1 − 2r)/n P ΔE P].

By the mean normal internal variables at the end, and with them Δψ and ΔWp, are those of a return that is of second
order. S1 and ℂ are those of the radial one: an error in the forces of second order, which does not accumulate. In the
tangent the derivative of ψ + ΔWp takes the place of the first S1.

Each element is written to its own rows, so that threads share elements and results do not depend on their number.

Sources: Simo, Taylor and Pister (1985) for the mean dilatation; Gonzalez (2000) for the discrete stress; Noels,
Stainier and Ponthot (2006) for energy-momentum methods with variational updates.
"""

from __future__ import annotations

import numpy as np

from symplex.fem.compiled.kernels import formula, inlined, kernel
from symplex.fem.compiled.lanes import LANES, add_lanes
from symplex.fem.compiled.vectors import (
    Sym3,
    cofactors,
    contracted,
    dot,
    expanded,
    full,
    gram,
    gram_slopes,
    mat3_at,
    set_at,
    square,
    sym3_at,
    transposed,
)
from symplex.fem.solids.plastic_points import (
    BACK,
    HEAT,
    MEAN_NORMAL,
    MELTING,
    RATE,
    RECOVERY,
    add_back_elasticity,
    add_elasticity,
    add_symmetrized,
    along_rows,
    back_flow,
    back_strain,
    conjugated,
    deviator,
    direction,
    dissipated,
    exponential,
    exponential_of,
    flow,
    flow_stress,
    full_of,
    length,
    mean_flow,
    near_exponential,
    near_strain,
    plus,
    potential_stress,
    product,
    recovered,
    recovery,
    scaled_pairs,
    strain_in_axes,
    stress_of,
    trial,
    weighted,
)

_SMALLEST = 2e-7  # δ: mean |ΔE| of a cell below which its stress is the mean of both ends
_YIELDING = 1e-10  # of the stress: by how much a point yields that has the tangent of one
NUMBERS = 7  # of the internal variables of a point: Cp⁻¹ (11, 22, 33, 12, 13, 23) and α
TEMPERATURE, BACK_STRAIN, HOURGLASS = 7, 8, 8  # after them, of metals that heat; six of A, or twelve of Qp
WITH_BACK, WITH_HOURGLASS = 14, 20  # how many there are with them


@formula
def set_deformations(q, nodes, G, e, F):
    """Set the rows of F [g, 9] of an element at q [n, 3], given ∇N [m, g, 3, k]."""
    for g in range(G.shape[1]):
        for i in range(3):
            for K in range(3):
                total = 0.0
                for a in range(nodes.shape[1]):
                    total += q[nodes[e, a], i] * G[e, g, K, a]
                F[g, 3 * i + K] = total


@inlined
def _determinant(F):
    return dot(F[0], cofactors(F)[0])


@inlined
def _mean_dilatation(F, w):
    """Return J̄ of an element; not a number if a point is inverted."""
    V, deformed = 0.0, 0.0
    for g in range(len(w)):
        J = _determinant(mat3_at(F[g], 0, 1))
        V += w[g]
        deformed += w[g] * J if J > 0.0 else np.nan
    return deformed / V


@inlined
def _inverse(C):
    """Return C⁻¹ and √det C."""
    K = cofactors(C)
    det = C[0] * K[0] + C[3] * K[3] + C[4] * K[4]
    return (1.0 / det) * K, np.sqrt(det)


@inlined
def cell_of(g, averaged):
    """Return the cell of a point."""
    return 0 if averaged else g


@formula
def set_products(q0, q1, nodes, L, e, Q, slopes):
    """Set Q [12] at the mean of two positions, and ∂Q/∂x [12, 24] unless slopes are empty.

    Q_αi = g_α·d_i, with g_α = Σ L_αa x_a and d_i = Σ L_(4+i)a x_a (`symplex.fem.solids.hourglass_strains`).
    """
    v = np.zeros((7, 3))
    for a in range(1, 8):  # of differences, so that little is lost far from the origin
        for j in range(3):
            x = 0.5 * (q0[nodes[e, a], j] - q0[nodes[e, 0], j] + q1[nodes[e, a], j] - q1[nodes[e, 0], j])
            for k in range(7):
                v[k, j] += L[e, k, a] * x
    for p in range(4):
        for i in range(3):
            Q[3 * p + i] = v[p, 0] * v[4 + i, 0] + v[p, 1] * v[4 + i, 1] + v[p, 2] * v[4 + i, 2]
            if len(slopes) > 0:
                for a in range(8):
                    for j in range(3):
                        slopes[3 * p + i, 3 * a + j] = L[e, p, a] * v[4 + i, j] + L[e, 4 + i, a] * v[p, j]


@formula
def set_trial_hourglass(z, K_, Q, w, mu, size, T):
    """Set T = K (Q − Qp), and return the norm of the stress with it, √(|s|² + 2μ/V T·K⁻¹T)."""
    total = 0.0
    for k in range(12):
        T[k] = 0.0
        for m in range(12):
            T[k] += K_[k, m] * (Q[m] - z[HOURGLASS + m])
        total += T[k] * (Q[k] - z[HOURGLASS + k])
    return np.sqrt(size * size + 2.0 * mu / w * total)


@formula
def add_hourglass_stiffness(L, e, B, B1, C, T, factor, part, K):
    """Add factor (Bᵀ C B1 + part Σ T ∂²Q/∂x∂x) to K [24, 24]."""
    row = np.empty(24)
    for k in range(12):
        for r in range(24):
            row[r] = 0.0
            for m in range(12):
                row[r] += C[k, m] * B1[m, r]
        for p in range(24):
            for r in range(24):
                K[p, r] += factor * B[k, p] * row[r]
    for a in range(8):
        for c in range(8):
            total = 0.0
            for k in range(4):
                for i in range(3):
                    total += T[3 * k + i] * (L[e, k, a] * L[e, 4 + i, c] + L[e, 4 + i, a] * L[e, k, c])
            for i in range(3):
                K[3 * a + i, 3 * c + i] += factor * part * total


@formula
def set_states(F, z, w, elastic, averaged, h, constants, points, K_, Q, S, T, psi, work, new):
    """Set S [g, 6] of the points of an element, ψ and ΔWp of its cells [c], and z [g, k] at the end of h s.

    Of stabilized hexahedra it takes K and Q, and sets T [12] as well.

    Nothing flows if h is 0. Of metals that heat, the temperature becomes ΔWp of the point in J. Returned is a number
    that is finite if all are.
    """
    K, mu = elastic[0], elastic[1]
    psi[:] = 0.0
    work[:] = 0.0
    bulk, pressure = K, 0.0
    mean = _mean_dilatation(F, w)
    if averaged:
        theta = np.log(mean)
        V = 0.0
        for g in range(len(w)):
            V += w[g]
        bulk, pressure = 0.0, K * theta / mean
        psi[0] = 0.5 * V * K * theta * theta
    check = mean
    heated, backed, stabilized = z.shape[1] > TEMPERATURE, z.shape[1] == WITH_BACK, z.shape[1] == WITH_HOURGLASS
    for g in range(len(w)):
        f, c = mat3_at(F[g], 0, 1), cell_of(g, averaged)
        P, alpha = sym3_at(z[g], 0, 1), z[g, 6]
        temperature = z[g, TEMPERATURE] if heated else 0.0
        x, lost = 0.0, 0.0
        near, e_dev, inverse_e, theta, factor_ = near_strain(f, P)
        if backed or not near:
            stretches, strains, b = trial(f, P)
            s = deviator(strains)
            s = (2.0 * mu) * s
            theta = strains[0] + strains[1] + strains[2]
        hydrostatic = bulk * theta
        if backed:
            for k in range(6):
                new[g, BACK_STRAIN + k] = z[g, BACK_STRAIN + k]
            a = scaled_pairs(back_strain(f, sym3_at(z[g], BACK_STRAIN, 1), b), stretches)
            modulus, beta = 2.0 / 3.0 * constants[BACK], np.sqrt(2.0 / 3.0) * constants[RECOVERY]
            start = Sym3(s[0], s[1], s[2], 0.0, 0.0, 0.0)
            if h > 0.0:
                x, _ = back_flow(start, a, alpha, mu, h, temperature, constants, points)
            ended, hardened = start, a
            if x > 0.0:
                N, _, along, _ = direction(start, a, x, modulus, beta)
                rho, m, _, _ = recovery(beta, x)
                hardened = rho * a + m * N
                ended = start - (2.0 * mu * x) * N
                strain = Sym3(strains[0], strains[1], strains[2], 0.0, 0.0, 0.0) - x * N
                once, twice = exponential(strain)
                P = full_of(twice, b)
                set_at(new[g], BACK_STRAIN, 1, full_of(conjugated(once, hardened), b))
                lost = modulus * recovered(contracted(a, a), along, x, beta)
                x *= np.sqrt(2.0 / 3.0)
                lost += dissipated(alpha, x, h, temperature, constants, points)
            stress = stress_of(ended + Sym3(hydrostatic, hydrostatic, hydrostatic, 0.0, 0.0, 0.0), strains, b)
            psi[c] += w[g] * (
                contracted(ended, ended) / (4.0 * mu)
                + 0.5 * hydrostatic * theta
                + 0.5 * modulus * contracted(hardened, hardened)
            )
        else:
            size = 2.0 * mu * np.sqrt(contracted(e_dev, e_dev)) if near else length(s)
            if stabilized:
                size = set_trial_hourglass(z[g], K_, Q, w[g], mu, size, T)
            if h > 0.0:
                x, _ = flow(np.sqrt(1.5) * size, alpha, mu, h, temperature, constants, points)
            q = 1.0 - 3.0 * mu * x / (np.sqrt(1.5) * size) if x > 0.0 else 1.0
            rate = -2.0 * np.sqrt(1.5) * x / size if x > 0.0 else 0.0
            if near:
                strain = (2.0 * mu * q) * e_dev
                stress = along_rows(factor_, product(inverse_e, plus(strain, hydrostatic)))
            else:
                stress = weighted(q * s, b) + hydrostatic * weighted((1.0, 1.0, 1.0), b)
            psi[c] += w[g] * (q * q * size * size / (4.0 * mu) + 0.5 * hydrostatic * theta)
            if stabilized:
                for k in range(12):
                    T[k] *= q
                    new[g, HOURGLASS + k] = Q[k] - q * (Q[k] - z[g, HOURGLASS + k])
            if x > 0.0:
                lost = dissipated(alpha, x, h, temperature, constants, points)
                if near:  # |rate 2μ ε| is at most 2 |ε|
                    P = along_rows(factor_, near_exponential((2.0 * mu * rate) * e_dev))
                else:
                    P = (
                        stretches[0] * np.exp(rate * s[0]) * square(b[0])
                        + stretches[1] * np.exp(rate * s[1]) * square(b[1])
                        + stretches[2] * np.exp(rate * s[2]) * square(b[2])
                    )
        if averaged:
            inverse, J = _inverse(gram(transposed(f)))
            stress = stress + pressure * J * inverse
        set_at(S[g], 0, 1, stress)
        work[c] += w[g] * lost
        new[g, 6] = alpha + x
        if heated:
            new[g, TEMPERATURE] = w[g] * lost
        set_at(new[g], 0, 1, P)
        check += stress[0] + stress[1] + stress[2] + stress[3] + stress[4] + stress[5]
    for c in range(len(psi)):
        check += psi[c]
    return check


@formula
def set_mean_normal(F0, F1, z, w, elastic, averaged, h, constants, points, K_, Q0, Q1, T0, psi, work, new, S, T):
    """Set ψ and ΔWp of cells and z at the end of an increment by the mean normal, from S0 and T0 at its start.

    S [g, 6] is that at the end by the radial return, to which points that yield by it; S and T [12] become the
    derivatives of ψ + ΔWp.
    """
    K, mu = elastic[0], elastic[1]
    psi[:] = 0.0
    work[:] = 0.0
    bulk, pressure, V = K, 0.0, 0.0
    if averaged:
        mean = _mean_dilatation(F1, w)
        theta = np.log(mean)
        for g in range(len(w)):
            V += w[g]
        bulk, pressure = 0.0, K * theta / mean
        psi[0] = 0.5 * V * K * theta * theta
    heated, stabilized = z.shape[1] > TEMPERATURE, z.shape[1] == WITH_HOURGLASS
    for g in range(len(w)):
        f, c = mat3_at(F1[g], 0, 1), cell_of(g, averaged)
        P, alpha = sym3_at(z[g], 0, 1), z[g, 6]
        temperature = z[g, TEMPERATURE] if heated else 0.0
        theta = np.log(_determinant(f))
        hydrostatic = bulk * theta
        e0, _ = strain_in_axes(mat3_at(F0[g], 0, 1), P)
        e, L = strain_in_axes(f, P)
        first, both, second = (
            4.0 * mu * mu * contracted(e, e),
            4.0 * mu * mu * contracted(e0, e),
            4.0 * mu * mu * contracted(e0, e0),
        )
        if stabilized:
            set_trial_hourglass(z[g], K_, Q1, w[g], mu, 0.0, T)
            for k in range(12):
                part = 2.0 * mu / w[g]
                first += part * T[k] * (Q1[k] - z[g, HOURGLASS + k])
                both += part * T[k] * (Q0[k] - z[g, HOURGLASS + k])
                second += part * T0[k] * (Q0[k] - z[g, HOURGLASS + k])
        x, turned, by_first, by_second = mean_flow(first, both, second, alpha, mu, h, temperature, constants, points)
        lost, ended = 0.0, np.sqrt(first)
        if x > 0.0:
            ended, _ = flow_stress(alpha, x, h, temperature, constants, points)
            ended *= np.sqrt(2.0 / 3.0)
            lost = dissipated(alpha, x, h, temperature, constants, points)
            back = exponential_of(-1.0 * e)
            at_end = exponential_of(2.0 * (e - turned * (e0 + e)))
            set_at(new[g], 0, 1, along_rows(L, conjugated(back, at_end)))
            M = plus((2.0 * mu) * (by_first * e + by_second * e0), hydrostatic)
            stress = potential_stress(M, f, P)
            if averaged:
                inverse, J = _inverse(gram(transposed(f)))
                stress = stress + pressure * J * inverse
            set_at(S[g], 0, 1, stress)
        psi[c] += w[g] * (ended * ended / (4.0 * mu) + 0.5 * hydrostatic * theta)
        if stabilized:
            for k in range(12):
                start, end = Q0[k] - z[g, HOURGLASS + k], Q1[k] - z[g, HOURGLASS + k]
                new[g, HOURGLASS + k] = Q1[k] - (end - turned * (start + end))
                T[k] = by_first * T[k] + by_second * T0[k]
        new[g, 6] = alpha + x
        if heated:
            new[g, TEMPERATURE] = w[g] * lost
        work[c] += w[g] * lost


@formula
def set_elasticities(F, z, w, elastic, averaged, h, constants, points, K_, Q, D, u, C, N, S):
    """Set ℂ [g, 6, 6] of the points of an element, and u [g, 6] with c of the mean dilatation, which is returned.

    S [g, 6] is set as well, but not of points with a back stress. Of stabilized hexahedra also ∂T/∂Q, C [12, 12], and
    N [18], the product of whose parts is ∂T/∂E.
    """
    K, mu = elastic[0], elastic[1]
    D[:] = 0.0
    u[:] = 0.0
    bulk, pressure, coupling = K, 0.0, 0.0
    if averaged:
        mean, V = _mean_dilatation(F, w), 0.0
        for g in range(len(w)):
            V += w[g]
        theta = np.log(mean)
        bulk, pressure, coupling = 0.0, K * theta / mean, K * (1.0 - theta) / (mean * mean * V)
    heated, backed, stabilized = z.shape[1] > TEMPERATURE, z.shape[1] == WITH_BACK, z.shape[1] == WITH_HOURGLASS
    for g in range(len(w)):
        f = mat3_at(F[g], 0, 1)
        stretches, strains, b = trial(f, sym3_at(z[g], 0, 1))
        temperature = z[g, TEMPERATURE] if heated else 0.0
        s = deviator(strains)
        s = (2.0 * mu) * s
        size, x, slope = length(s), 0.0, 0.0
        if stabilized:
            size = set_trial_hourglass(z[g], K_, Q, w[g], mu, size, N)
        theta = strains[0] + strains[1] + strains[2]
        flows = False
        if backed:
            if h > 0.0:
                a = scaled_pairs(back_strain(f, sym3_at(z[g], BACK_STRAIN, 1), b), stretches)
                start = Sym3(s[0], s[1], s[2], 0.0, 0.0, 0.0)
                x, H = back_flow(start, a, z[g, 6], mu, h, temperature, constants, points)
                flows = 2.0 * mu * x > _YIELDING * size
                if flows:
                    modulus, beta = 2.0 / 3.0 * constants[BACK], np.sqrt(2.0 / 3.0) * constants[RECOVERY]
                    add_back_elasticity(strains, b, bulk, mu, start, a, x, H, bulk * theta, modulus, beta, D[g])
        elif h > 0.0:
            x, slope = flow(np.sqrt(1.5) * size, z[g, 6], mu, h, temperature, constants, points)
        if not flows:
            q, mu_t = 1.0, mu
            if not backed and 3.0 * mu * x > _YIELDING * size:  # what merely rounds to yielding unloads elastically
                q, mu_t = 1.0 - 3.0 * mu * x / (np.sqrt(1.5) * size), mu * slope / (3.0 * mu + slope)
            stresses = (q * s[0] + bulk * theta, q * s[1] + bulk * theta, q * s[2] + bulk * theta)
            add_elasticity(strains, b, bulk, mu, q, mu_t, s, size, stresses, D[g])
            if not backed:
                set_at(S[g], 0, 1, weighted(stresses, b))
            if stabilized:
                rate = 2.0 * mu * (mu_t / mu - q) / (size * size) if size > 0.0 else 0.0
                for k in range(12):
                    for m in range(12):
                        C[k, m] = q * K_[k, m] + rate / w[g] * N[k] * N[m]
                set_at(N, 12, 1, rate * weighted(s, b))
        if averaged:
            A, J = _inverse(gram(transposed(f)))
            set_at(u[g], 0, 1, J * A)
            add_symmetrized(D[g].reshape(36), 0, 1, -2.0 * pressure * J, pressure * J, A)
            if not backed:
                set_at(S[g], 0, 1, sym3_at(S[g], 0, 1) + pressure * J * A)
    return coupling


@formula
def add_forces(F, S, w, G, e, factor, out):
    """Add factor Σ w F S ∇N_a to out [k, 3]."""
    for g in range(len(w)):
        T = sym3_at(S[g], 0, 1) @ transposed(mat3_at(F[g], 0, 1))  # rows K: (F S)_iK
        for a in range(G.shape[3]):
            for i in range(3):
                P = T[0][i] * G[e, g, 0, a] + T[1][i] * G[e, g, 1, a] + T[2][i] * G[e, g, 2, a]
                out[a, i] += factor * w[g] * P


@expanded
def _between(P, E):
    """Return P E P."""
    T = P @ (E @ full(P))
    return Sym3(T[0][0], T[1][1], T[2][2], T[0][1], T[0][2], T[1][2])


@formula
def set_increment(F0, F1, z, w, averaged, F, dE, along, squared):
    """Set F_m [g, 9], ΔE and P ΔE P [g, 6], and n of cells [c]."""
    squared[:] = 0.0
    for g in range(len(w)):
        f0, f1 = mat3_at(F0[g], 0, 1), mat3_at(F1[g], 0, 1)
        middle, change = 0.5 * (f0 + f1), f1 - f0
        E = 0.5 * gram_slopes(transposed(middle), transposed(change))
        set_at(F[g], 0, 1, middle)
        pushed = _between(sym3_at(z[g], 0, 1), E)
        set_at(dE[g], 0, 1, E)
        set_at(along[g], 0, 1, pushed)
        squared[cell_of(g, averaged)] += w[g] * contracted(E, pushed)


# Rows of the workspace of an increment of an element: of points [9] and of cells
(_F0, _F1, _FM, _S0, _S1, _S2, _DE, _ALONG, _POINT_ROWS) = range(9)
(_Q0, _Q1, _T0, _T1, _T2, _DQ, _ALONG_Q, _HOURGLASS_ROWS) = range(8)  # and of the hourglass modes of an element
(_PSI0, _PSI1, _WORK, _SQUARED, _R, _FADING, _MEAN, _PSI2, _CELL_ROWS) = range(9)


@inlined
def closes(constants):
    """Return whether dissipation is what work and stored energy leave: flow goes on where nothing is deformed."""
    return constants[RATE] > 0.0 or constants[MELTING] > 0.0


@formula
def workspace(n):
    """Return room for an increment of an element of n points: of points, of cells, of hourglass modes."""
    return np.empty((_POINT_ROWS, n, 9)), np.empty((_CELL_ROWS, n)), np.empty((_HOURGLASS_ROWS, 12))


@formula
def set_ends(q0, z, q1, nodes, G, e, w, elastic, averaged, constants, points, L, KQ, h, P, C, H, new):
    """Set the workspace P [rows, g, 9], C [rows, c], H [rows, 12] of an increment: both ends, R, r and n."""
    mu, stabilized = elastic[1], z.shape[1] == WITH_HOURGLASS
    K = KQ[e if stabilized else 0]
    set_deformations(q0, nodes, G, e, P[_F0])
    set_deformations(q1, nodes, G, e, P[_F1])
    if stabilized:
        set_products(q0, q0, nodes, L, e, H[_Q0], np.empty((0, 0)))
        set_products(q1, q1, nodes, L, e, H[_Q1], np.empty((0, 0)))
    Q0, Q1, work = H[_Q0], H[_Q1], C[_WORK]
    check = set_states(
        P[_F0], z, w, elastic, averaged, 0.0, constants, points, K, Q0, P[_S0], H[_T0], C[_PSI0], work, new
    )
    S, T, psi = P[_S1], H[_T1], C[_PSI1]
    if closes(constants):
        S, T, psi = P[_S2], H[_T2], C[_PSI2]
        check += set_states(P[_F1], z, w, elastic, averaged, 0.0, constants, points, K, Q1, S, T, psi, work, new)
    check += set_states(
        P[_F1], z, w, elastic, averaged, h, constants, points, K, Q1, P[_S1], H[_T1], C[_PSI1], work, new
    )
    if constants[MEAN_NORMAL] > 0.0:
        P[_S2], H[_T2] = P[_S1], H[_T1]
        if 0.0 < h < np.inf:
            psi, S, T, T0 = C[_PSI1], P[_S2], H[_T2], H[_T0]
            set_mean_normal(
                P[_F0], P[_F1], z, w, elastic, averaged, h, constants, points, K, Q0, Q1, T0, psi, work, new, S, T
            )
            S, T = P[_S1], H[_T1]
    set_increment(P[_F0], P[_F1], z, w, averaged, P[_FM], P[_DE], P[_ALONG], C[_SQUARED])
    for c in range(len(w)):
        C[_R, c] = psi[c] - C[_PSI0, c]
        if not closes(constants):
            C[_R, c] += C[_WORK, c]
        C[_FADING, c] = 0.0
        C[_MEAN, c] = 0.0
    if stabilized:
        for k in range(12):
            H[_DQ, k] = Q1[k] - Q0[k]
        for k in range(12):
            along = 0.0
            for m in range(12):
                along += K[k, m] * H[_DQ, m]
            H[_ALONG_Q, k] = along / (2.0 * mu)
            C[_SQUARED, 0] += H[_ALONG_Q, k] * H[_DQ, k]
            C[_R, 0] -= 0.5 * (H[_T0, k] + T[k]) * H[_DQ, k]
            C[_MEAN, 0] += 0.5 * (H[_T0, k] + H[_T1, k]) * H[_DQ, k]
    for g in range(len(w)):
        c = cell_of(g, averaged)
        E = sym3_at(P[_DE, g], 0, 1)
        start = sym3_at(P[_S0, g], 0, 1)
        C[_R, c] -= w[g] * contracted(0.5 * (start + sym3_at(S[g], 0, 1)), E)
        C[_MEAN, c] += w[g] * contracted(0.5 * (start + sym3_at(P[_S1, g], 0, 1)), E)
        C[_FADING, c] += w[g]
    for c in range(len(w)):
        x = C[_SQUARED, c] / (C[_FADING, c] * _SMALLEST * _SMALLEST) if C[_FADING, c] > 0.0 else 0.0
        C[_FADING, c] = x * x / (1.0 + x * x) if x < 1e100 else 1.0
    return check


@kernel
def write_energies(q, z, nodes, G, weights, elastic, averaged, constants, points, L, KQ, h, out, first, last):
    """Set ψ + ΔWp of the elements [m] at the end of an increment."""
    n = G.shape[1]
    F, S, new = np.empty((n, 9)), np.empty((n, 6)), np.empty((n, z.shape[2]))
    psi, work, Q, T = np.empty(n), np.empty(n), np.empty(12), np.empty(12)
    stabilized, check = z.shape[2] == WITH_HOURGLASS, 0.0
    for e in range(first, last):
        K = KQ[e if stabilized else 0]
        set_deformations(q, nodes, G, e, F)
        if stabilized:
            set_products(q, q, nodes, L, e, Q, np.empty((0, 0)))
        check += set_states(F, z[e], weights[e], elastic, averaged, h, constants, points, K, Q, S, T, psi, work, new)
        out[e] = psi.sum() + work.sum()
    return check


@formula
def add_hourglass_forces(q0, q1, nodes, L, e, T, Q, slopes, out):
    """Add −(∂Q/∂x)ᵀ T at the mean of two positions to out [8, 3]; Q and slopes are workspace."""
    set_products(q0, q1, nodes, L, e, Q, slopes)
    for a in range(8):
        for j in range(3):
            total = 0.0
            for k in range(12):
                total += T[k] * slopes[k, 3 * a + j]
            out[a, j] -= total


@kernel
def write_forces(q, z, nodes, G, weights, elastic, averaged, constants, points, L, KQ, h, out, first, last):
    """Set −Σ w F S ∇N [m, k, 3] at the end of an increment."""
    n = G.shape[1]
    F, S, new = np.empty((n, 9)), np.empty((n, 6)), np.empty((n, z.shape[2]))
    psi, work, Q, T, slopes = np.empty(n), np.empty(n), np.empty(12), np.empty(12), np.empty((12, 24))
    stabilized, check = z.shape[2] == WITH_HOURGLASS, 0.0
    for e in range(first, last):
        K = KQ[e if stabilized else 0]
        set_deformations(q, nodes, G, e, F)
        if stabilized:
            set_products(q, q, nodes, L, e, Q, np.empty((0, 0)))
        check += set_states(F, z[e], weights[e], elastic, averaged, h, constants, points, K, Q, S, T, psi, work, new)
        out[e] = 0.0
        add_forces(F, S, weights[e], G, e, -1.0, out[e])
        if stabilized:
            add_hourglass_forces(q, q, nodes, L, e, T, Q, slopes, out[e])
    return check


@kernel
def write_mean_forces(q0, z, q1, nodes, G, weights, elastic, averaged, constants, points, L, KQ, h, out, first, last):
    """Set −Σ w F_m S* ∇N [m, k, 3] of an increment."""
    n = G.shape[1]
    P, C, H = workspace(n)
    new, slopes = np.empty((n, z.shape[2])), np.empty((12, 24))
    stabilized, check = z.shape[2] == WITH_HOURGLASS, 0.0
    for e in range(first, last):
        w = weights[e]
        check += set_ends(q0, z[e], q1, nodes, G, e, w, elastic, averaged, constants, points, L, KQ, h, P, C, H, new)
        for g in range(n):
            c = cell_of(g, averaged)
            kappa = C[_FADING, c] * C[_R, c] / C[_SQUARED, c] if C[_SQUARED, c] > 0.0 else 0.0
            mean = 0.5 * (sym3_at(P[_S0, g], 0, 1) + sym3_at(P[_S1, g], 0, 1))
            set_at(P[_S0, g], 0, 1, mean + kappa * sym3_at(P[_ALONG, g], 0, 1))
            if stabilized:
                for k in range(12):
                    H[_T0, k] = 0.5 * (H[_T0, k] + H[_T1, k]) + kappa * H[_ALONG_Q, k]
        out[e] = 0.0
        add_forces(P[_FM], P[_S0], w, G, e, -1.0, out[e])
        if stabilized:
            add_hourglass_forces(q0, q1, nodes, L, e, H[_T0], H[_Q0], slopes, out[e])
    return check


@kernel
def write_after(q0, z, q1, nodes, G, weights, elastic, averaged, constants, points, L, KQ, h, new, lost, first, last):
    """Set z [m, g, k] at the end of an increment, and what elements [m] dissipate."""
    n = G.shape[1]
    P, C, H = workspace(n)
    check = 0.0
    for e in range(first, last):
        w = weights[e]
        check += set_ends(q0, z[e], q1, nodes, G, e, w, elastic, averaged, constants, points, L, KQ, h, P, C, H, new[e])
        lost[e] = 0.0
        for c in range(1 if averaged else n):
            D = C[_WORK, c] - (1.0 - C[_FADING, c]) * C[_R, c]
            if closes(constants):
                D = C[_MEAN, c] + C[_FADING, c] * C[_R, c] - (C[_PSI1, c] - C[_PSI0, c])
            lost[e] += D
            if z.shape[2] > TEMPERATURE:  # heat goes to the points that flow
                for g in range(n):
                    if cell_of(g, averaged) == c:
                        share = new[e, g, TEMPERATURE] / C[_WORK, c] if C[_WORK, c] > 0.0 else 0.0
                        new[e, g, TEMPERATURE] = z[e, g, TEMPERATURE] + constants[HEAT] * share * D / w[g]
    return check


# -- tangents ---------------------------------------------------------------------------------------------------------


@formula
def set_slopes(F, G, e, g, B):
    """Set the change of E [6, 3k], shear strains twice, of a point by the positions of the nodes."""
    rows, columns = (0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)
    for m in range(6):
        first, second = rows[m], columns[m]
        for a in range(G.shape[3]):
            for i in range(3):
                value = F[g, 3 * i + first] * G[e, g, second, a]
                if m > 2:
                    value += F[g, 3 * i + second] * G[e, g, first, a]
                B[m, 3 * a + i] = value


@inlined
def padded(k):
    """Return how many numbers rows have of which 3k are used: whole numbers of lanes."""
    return LANES * ((3 * k + LANES - 1) // LANES)


@formula
def keep_stiffness(B, at, D, S, G, e, g, factor, part, size, scaled, rows, geometric):
    """Keep what is factor (Bᵀ D B1 + part ∇N·S ∇N 1) of a point: D B in rows [6 (g + 1), size], the rest added up.

    B [6, size] begins at a place in an array, as rows do; ``scaled`` [36] is a workspace.
    """
    for m in range(6):
        for n in range(6):
            scaled[6 * m + n] = factor * D[m, n]
    for n in range(6):
        for c in range(0, size, LANES):
            add_lanes(False, scaled, n, 6, B, at + c, size, 6, rows, (6 * g + n) * size + c)
    for a in range(G.shape[3]):
        x, y, z = part * factor * G[e, g, 0, a], part * factor * G[e, g, 1, a], part * factor * G[e, g, 2, a]
        t0, t1, t2 = S[0] * x + S[3] * y + S[4] * z, S[3] * x + S[1] * y + S[5] * z, S[4] * x + S[5] * y + S[2] * z
        for b in range(G.shape[3]):
            geometric[a, b] += t0 * G[e, g, 0, b] + t1 * G[e, g, 1, b] + t2 * G[e, g, 2, b]


@formula
def set_stiffness(rows, columns, n, size, line, geometric, K):
    """Set K [3k, 3k] to the sum of the products of rows and columns [6n, size] of n points, and the rest."""
    k = len(geometric)
    for p in range(3 * k):
        for c in range(0, size, LANES):
            add_lanes(False, rows, p, size, columns, c, size, 6 * n, line, c)
        for r in range(3 * k):
            K[p, r] = line[r]
    for a in range(k):
        for b in range(k):
            for i in range(3):
                K[3 * a + i, 3 * b + i] += geometric[a, b]


@formula
def add_along(B, S, w, out):
    """Add w Bᵀ S to out [3k]."""
    for p in range(len(out)):
        total = 0.0
        for m in range(6):
            total += B[m, p] * S[m]
        out[p] += w * total


@kernel
def write_tangents(q, z, nodes, G, weights, elastic, averaged, constants, points, L, KQ, h, factor, out, first, last):
    """Set factor ∂(Σ w F S ∇N)/∂x [m, 3k, 3k] at the end of an increment."""
    n, k = G.shape[1], G.shape[3]
    F, S, new = np.empty((n, 9)), np.empty((n, 6)), np.empty((n, z.shape[2]))
    psi, work, D, u = np.empty(n), np.empty(n), np.empty((n, 6, 6)), np.empty((n, 6))
    size, volume = padded(k), np.empty(3 * k)
    columns, rows, line, scaled = np.zeros(6 * n * size), np.zeros(6 * n * size), np.empty(size), np.empty(36)
    geometric = np.empty((k, k))
    Q, T, BQ, C, N = np.empty(12), np.empty(12), np.empty((12, 24)), np.empty((12, 12)), np.empty(18)
    left, right = np.empty(3 * k), np.empty(3 * k)
    stabilized, backed, check = z.shape[2] == WITH_HOURGLASS, z.shape[2] == WITH_BACK, 0.0
    for e in range(first, last):
        w, K = weights[e], KQ[e if stabilized else 0]
        set_deformations(q, nodes, G, e, F)
        if stabilized:
            set_products(q, q, nodes, L, e, Q, BQ)
        if stabilized or backed:
            check += set_states(F, z[e], w, elastic, averaged, h, constants, points, K, Q, S, T, psi, work, new)
        coupling = set_elasticities(F, z[e], w, elastic, averaged, h, constants, points, K, Q, D, u, C, N, S)
        geometric[:] = 0.0
        volume[:] = 0.0
        for g in range(n):
            at = 6 * g * size
            B = columns[at : at + 6 * size].reshape((6, size))
            set_slopes(F, G, e, g, B)
            keep_stiffness(columns, at, D[g], S[g], G, e, g, w[g] * factor, 1.0, size, scaled, rows, geometric)
            add_along(B, u[g], w[g], volume)
            check += S[g, 0] + S[g, 1] + S[g, 2] + S[g, 3] + S[g, 4] + S[g, 5]
        set_stiffness(rows, columns, n, size, line, geometric, out[e])
        if averaged:
            for p in range(3 * k):
                for r in range(3 * k):
                    out[e, p, r] += factor * coupling * volume[p] * volume[r]
        if stabilized:
            add_hourglass_stiffness(L, e, BQ, BQ, C, T, factor, 1.0, out[e])
            left[:] = 0.0
            right[:] = 0.0
            add_along(B, N[12:], 1.0, left)
            add_along_hourglass(BQ, N, right)
            _add_product(factor, left, right, out[e])
            _add_product(factor, right, left, out[e])
    return check


@formula
def add_along_hourglass(B, T, out):
    """Add Bᵀ T to out [24]."""
    for p in range(24):
        total = 0.0
        for k in range(12):
            total += B[k, p] * T[k]
        out[p] += total


@kernel
def write_mean_tangents(
    q0, z, q1, nodes, G, weights, elastic, averaged, constants, points, L, KQ, h, factor, out, first, last
):
    """Set factor ∂(Σ w F_m S* ∇N)/∂x1 [m, 3k, 3k] of an increment."""
    n, k = G.shape[1], G.shape[3]
    P, C, H = workspace(n)
    new = np.empty((n, z.shape[2]))
    BQ, BQ1, CQ, CQ2, N, N2 = (
        np.empty((12, 24)),
        np.empty((12, 24)),
        np.empty((12, 12)),
        np.empty((12, 12)),
        np.empty(18),
        np.empty(18),
    )
    change_Q = np.empty(12)
    size, D, u, T = padded(k), np.empty((n, 6, 6)), np.empty((n, 6)), np.empty(6)
    columns, rows, line, scaled = np.zeros(6 * n * size), np.zeros(6 * n * size), np.empty(size), np.empty(36)
    geometric, middle = np.empty((k, k)), np.zeros(6 * size)
    B = middle.reshape((6, size))
    D2, unused = np.empty((n, 6, 6)), np.empty((n, 6))
    left_u, right_u, left, right = np.empty(3 * k), np.empty(3 * k), np.empty(3 * k), np.empty(3 * k)
    stabilized, check = z.shape[2] == WITH_HOURGLASS, 0.0
    for e in range(first, last):
        w, K, Q1 = weights[e], KQ[e if stabilized else 0], H[_Q1]
        check += set_ends(q0, z[e], q1, nodes, G, e, w, elastic, averaged, constants, points, L, KQ, h, P, C, H, new)
        coupling = set_elasticities(
            P[_F1], z[e], w, elastic, averaged, h, constants, points, K, Q1, D, u, CQ, N, unused
        )
        frozen, D_frozen, T_frozen, C_frozen, N_frozen = _S1, D, _T1, CQ, N
        potential, T_potential = _S1, _T1  # the derivative of what R begins with
        if constants[MEAN_NORMAL] > 0.0:
            potential, T_potential = _S2, _T2
        if closes(constants):
            frozen, D_frozen, T_frozen, C_frozen, N_frozen = _S2, D2, _T2, CQ2, N2
            potential, T_potential = _S2, _T2
            set_elasticities(P[_F1], z[e], w, elastic, averaged, 0.0, constants, points, K, Q1, D2, u, CQ2, N2, unused)
        geometric[:] = 0.0
        left_u[:] = 0.0
        right_u[:] = 0.0
        left[:] = 0.0
        right[:] = 0.0
        swept = 0.0  # Σ w u : ΔE
        for g in range(n):
            swept += w[g] * contracted(sym3_at(u[g], 0, 1), sym3_at(P[_DE, g], 0, 1))
        for g in range(n):
            c = cell_of(g, averaged)
            if not averaged:
                left[:] = 0.0
                right[:] = 0.0
            r, squared = C[_FADING, c], C[_SQUARED, c]
            kappa = r * C[_R, c] / squared if squared > 0.0 else 0.0
            first_, second = 0.0, 0.0  # of what is next to ΔE ⊗
            if squared > 0.0:
                first_, second = r / squared, 2.0 * kappa * (1.0 - 2.0 * r) / squared
            s0, s1, s2 = sym3_at(P[_S0, g], 0, 1), sym3_at(P[_S1, g], 0, 1), sym3_at(P[frozen, g], 0, 1)
            slope_ = sym3_at(P[potential, g], 0, 1)
            E, pushed = sym3_at(P[_DE, g], 0, 1), sym3_at(P[_ALONG, g], 0, 1)
            stress = 0.5 * (s0 + s1) + kappa * pushed
            change = first_ * (slope_ - 0.5 * (s0 + s2)) + second * pushed
            change = change - (0.5 * first_ * coupling * swept) * sym3_at(u[g], 0, 1)
            for m in range(6):
                total = 0.0
                for j in range(6):
                    total += D_frozen[g, m, j] * (P[_DE, g, j] if j < 3 else 2.0 * P[_DE, g, j])
                T[m] = change[m] - 0.5 * first_ * total
            if stabilized:
                swept_Q = 0.0
                for m in range(12):
                    swept_Q += N_frozen[m] * H[_DQ, m]
                for m in range(6):
                    T[m] -= 0.5 * first_ * swept_Q * N_frozen[12 + m] / w[g]
                swept_E = contracted(sym3_at(N_frozen, 12, 1), E)
                for p in range(12):
                    total = swept_E * N_frozen[p]
                    for m in range(12):
                        total += C_frozen[p, m] * H[_DQ, m]
                    change_Q[p] = first_ * (H[T_potential, p] - 0.5 * (H[_T0, p] + H[T_frozen, p] + total))
                    change_Q[p] += second * H[_ALONG_Q, p]
            for m in range(6):
                for j in range(6):
                    D[g, m, j] *= 0.5
            add_symmetrized(D[g].reshape(36), 0, 1, kappa, 0.0, sym3_at(z[e, g], 0, 1))
            set_slopes(P[_FM], G, e, g, B)
            B1 = columns[6 * g * size : 6 * (g + 1) * size].reshape((6, size))
            set_slopes(P[_F1], G, e, g, B1)
            set_at(P[_S0, g], 0, 1, stress)
            if not averaged and not stabilized:  # of a cell: w ΔE ⊗ [ … ]
                for m in range(6):
                    for j in range(6):
                        D[g, m, j] += w[g] * P[_ALONG, g, m] * T[j]
            keep_stiffness(middle, 0, D[g], P[_S0, g], G, e, g, w[g] * factor, 0.5, size, scaled, rows, geometric)
            if g == n - 1:
                set_stiffness(rows, columns, n, size, line, geometric, out[e])
            add_along(B, P[_ALONG, g], w[g], left)
            add_along(B1, T, w[g], right)
            if stabilized:
                set_products(q0, q1, nodes, L, e, H[_Q0], BQ)
                set_products(q1, q1, nodes, L, e, H[_Q0], BQ1)
                add_along_hourglass(BQ, H[_ALONG_Q], left)
                add_along_hourglass(BQ1, change_Q, right)
                for p in range(12):
                    H[_T0, p] = 0.5 * (H[_T0, p] + H[_T1, p]) + kappa * H[_ALONG_Q, p]
                    for m in range(12):
                        CQ[p, m] = 0.5 * CQ[p, m] + kappa / (2.0 * elastic[1]) * K[p, m]
                add_hourglass_stiffness(L, e, BQ, BQ1, CQ, H[_T0], factor, 0.5, out[e])
                for p in range(24):
                    left_u[p] = 0.0
                    right_u[p] = 0.0
                add_along(B, N[12:], 1.0, left_u)
                add_along_hourglass(BQ1, N, right_u)
                _add_product(0.5 * factor, left_u, right_u, out[e])
                for p in range(24):
                    left_u[p] = 0.0
                    right_u[p] = 0.0
                add_along_hourglass(BQ, N, left_u)
                add_along(B1, N[12:], 1.0, right_u)
                _add_product(0.5 * factor, left_u, right_u, out[e])
            if averaged:
                add_along(B, u[g], w[g], left_u)
                add_along(B1, u[g], w[g], right_u)
        if averaged or stabilized:
            _add_product(factor, left, right, out[e])
        if averaged:
            _add_product(0.5 * factor * coupling, left_u, right_u, out[e])
    return check


@inlined
def _add_product(factor, u, v, K):
    """Add factor u ⊗ v to K."""
    for p in range(len(u)):
        for r in range(len(v)):
            K[p, r] += factor * u[p] * v[r]


# -- for results ------------------------------------------------------------------------------------------------------


@kernel
def write_steepness(q, nodes, G, weights, elastic, averaged, constants, points, L, KQ, out, first, last):
    """Set the largest Σ|F⁻ᵀ∇N|² of the points of elements [m]."""
    n, k = G.shape[1], G.shape[3]
    F = np.empty((n, 9))
    check = 0.0
    for e in range(first, last):
        set_deformations(q, nodes, G, e, F)
        out[e] = 0.0
        for g in range(n):
            f = mat3_at(F[g], 0, 1)
            J = _determinant(f)
            A = cofactors(f)
            total = 0.0
            for a in range(k):
                for i in range(3):
                    slope = A[i][0] * G[e, g, 0, a] + A[i][1] * G[e, g, 1, a] + A[i][2] * G[e, g, 2, a]
                    total += slope * slope
            out[e] = max(out[e], total / (J * J) if J > 0.0 else np.nan)
            check += total / (J * J) if J > 0.0 else np.nan
    return check


@kernel
def write_stresses(q, z, nodes, G, weights, elastic, averaged, constants, points, L, KQ, out, first, last):
    """Set Cauchy's stress F S Fᵀ/J [m, g, 6] at the points."""
    n = G.shape[1]
    F, S, new = np.empty((n, 9)), np.empty((n, 6)), np.empty((n, z.shape[2]))
    psi, work, Q, unused = np.empty(n), np.empty(n), np.zeros(12), np.empty(12)
    check = 0.0
    for e in range(first, last):
        set_deformations(q, nodes, G, e, F)
        K = KQ[e if z.shape[2] == WITH_HOURGLASS else 0]
        check += set_states(
            F, z[e], weights[e], elastic, averaged, 0.0, constants, points, K, Q, S, unused, psi, work, new
        )
        for g in range(n):
            f = mat3_at(F[g], 0, 1)
            T = f @ (sym3_at(S[g], 0, 1) @ transposed(f))
            J = _determinant(f)
            set_at(out[e, g], 0, 1, (1.0 / J) * Sym3(T[0][0], T[1][1], T[2][2], T[0][1], T[0][2], T[1][2]))
    return check
