"""Moments on frames and their derivatives, in compiled loops; formulas see `moments`."""

import numpy as np

from symplex.fem.compiled.kernels import formula, kernel
from symplex.fem.compiled.records import Nodes, Record, Rows


class MomentRecord(Record):
    """Particles [k, 4] or [k, 2], their masses in kg, and moments [k, 3] in N m."""

    nodes: Nodes
    masses: Rows
    moments: Rows


@formula
def _set_arms(our, q, e, arms):
    """Set arms [4, 3] about the centre of mass; return the total mass."""
    nodes, masses, total = our.nodes[e], our.masses[e], 0.0
    for a in range(4):
        total += masses[a]
    for i in range(3):
        mean = 0.0
        for a in range(4):
            arms[a, i] = q[nodes[a], i] - q[nodes[0], i]
            mean += masses[a] * arms[a, i]
        for a in range(4):
            arms[a, i] -= mean / total
    return total


@formula
def _set_inverse(masses, arms, J, inverse):
    """Set J⁻¹ [3, 3] of the inertia."""
    for i in range(3):
        for j in range(3):
            J[i, j] = 0.0
    for a in range(4):
        square = arms[a, 0] ** 2 + arms[a, 1] ** 2 + arms[a, 2] ** 2
        for i in range(3):
            J[i, i] += masses[a] * square
            for j in range(3):
                J[i, j] -= masses[a] * arms[a, i] * arms[a, j]
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        for h in range(3):
            m, n = (h + 1) % 3, (h + 2) % 3
            inverse[h, i] = J[j, m] * J[k, n] - J[j, n] * J[k, m]
    determinant = J[0, 0] * inverse[0, 0] + J[0, 1] * inverse[1, 0] + J[0, 2] * inverse[2, 0]
    for i in range(3):
        for j in range(3):
            inverse[i, j] /= determinant


@formula
def _set_rotation(factor, our, e, inverse, omega):
    """Set J⁻¹ μ."""
    for i in range(3):
        omega[i] = 0.0
        for j in range(3):
            omega[i] += factor * inverse[i, j] * our.moments[e, j]


@formula
def _cross_matrix(x, y, z, out):
    """Set the matrix of u → (x, y, z) × u."""
    out[0, 0], out[0, 1], out[0, 2] = 0.0, -z, y
    out[1, 0], out[1, 1], out[1, 2] = z, 0.0, -x
    out[2, 0], out[2, 1], out[2, 2] = -y, x, 0.0


@kernel
def add_forces(factor, q0, q1, q, v, our, out, first, last):
    """Add m (J⁻¹ μ) × ρ of four particles, ± μ × Δ/Δ² of two."""
    arms, J, inverse, omega, check = np.empty((4, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty(3), 0.0
    for s in range(first, last):
        e = np.int64(s)
        nodes, masses = our.nodes[e], our.masses[e]
        if len(nodes) == 2:
            square = 0.0
            for i in range(3):
                arms[0, i] = q[nodes[1], i] - q[nodes[0], i]
                square += arms[0, i] ** 2
            for i in range(3):
                j, k = (i + 1) % 3, (i + 2) % 3
                force = factor * (our.moments[e, j] * arms[0, k] - our.moments[e, k] * arms[0, j]) / square
                out[nodes[0], i] -= force
                out[nodes[1], i] += force
                check += force
            continue
        _set_arms(our, q, e, arms)
        _set_inverse(masses, arms, J, inverse)
        _set_rotation(factor, our, e, inverse, omega)
        for a in range(4):
            for i in range(3):
                j, k = (i + 1) % 3, (i + 2) % 3
                force = masses[a] * (omega[j] * arms[a, k] - omega[k] * arms[a, j])
                out[nodes[a], i] += force
                check += force
    return check


@kernel
def add_force_derivatives(factor, q0, q1, q, v, by_q, by_v, our, slots, out, first, last):
    """Add by_q ∂f/∂q."""
    arms, J, inverse, omega, check = np.empty((4, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty(3), 0.0
    turn, cross, by_arm, slope = np.empty((3, 3)), np.empty((4, 3, 3)), np.empty((3, 3)), np.empty((4, 4, 3, 3))
    rate = np.empty((3, 3))
    for s in range(first, last):
        e = np.int64(s)
        nodes, masses = our.nodes[e], our.masses[e]
        if len(nodes) == 2:
            check += _add_couple(factor * by_q, our, e, q, slots, arms, turn, out)
            continue
        total = _set_arms(our, q, e, arms)
        _set_inverse(masses, arms, J, inverse)
        _set_rotation(factor, our, e, inverse, omega)
        _cross_matrix(omega[0], omega[1], omega[2], turn)
        for a in range(4):
            _cross_matrix(arms[a, 0], arms[a, 1], arms[a, 2], cross[a])
        for b in range(4):
            x, y, z = arms[b, 0], arms[b, 1], arms[b, 2]
            u, w, t = omega[1] * z - omega[2] * y, omega[2] * x - omega[0] * z, omega[0] * y - omega[1] * x
            _cross_matrix(u, w, t, by_arm)  # (ω × ρ) × δρ − ρ × (ω × δρ)
            for i in range(3):
                for j in range(3):
                    for k in range(3):
                        by_arm[i, j] -= cross[b, i, k] * turn[k, j]
            for i in range(3):
                for j in range(3):
                    rate[i, j] = 0.0  # ∂ω/∂ρ_b
                    for k in range(3):
                        rate[i, j] += masses[b] * inverse[i, k] * by_arm[k, j]
            for a in range(4):
                for i in range(3):
                    for j in range(3):
                        value = turn[i, j] if a == b else 0.0
                        for k in range(3):
                            value -= cross[a, i, k] * rate[k, j]
                        slope[a, b, i, j] = masses[a] * value
        for a in range(4):
            for i in range(3):
                for j in range(3):
                    mean = 0.0
                    for b in range(4):
                        mean += slope[a, b, i, j]
                    for b in range(4):
                        value = by_q * (slope[a, b, i, j] - masses[b] / total * mean)
                        out[slots[e, a, b], i, j] += value
                        check += value
    return check


@formula
def _add_couple(factor, our, e, q, slots, arms, rate, out):
    """Add the derivatives of ± μ × Δ/Δ²."""
    nodes, square, check = our.nodes[e], 0.0, 0.0
    for i in range(3):
        arms[0, i] = q[nodes[1], i] - q[nodes[0], i]
        square += arms[0, i] ** 2
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        arms[1, i] = (our.moments[e, j] * arms[0, k] - our.moments[e, k] * arms[0, j]) / square
    _cross_matrix(our.moments[e, 0], our.moments[e, 1], our.moments[e, 2], rate)
    for i in range(3):
        for j in range(3):
            value = factor * (rate[i, j] - 2.0 * arms[1, i] * arms[0, j]) / square
            out[slots[e, 0, 0], i, j] += value
            out[slots[e, 0, 1], i, j] -= value
            out[slots[e, 1, 0], i, j] -= value
            out[slots[e, 1, 1], i, j] += value
            check += value
    return check


LOADS = {"forces": add_forces, "force_derivatives": add_force_derivatives}
