"""The formulas of the pair laws, once for numbers and arrays alike, and compiled loops over pairs.

With s = l² the squared distance, u = σ²/s, and a, b the constants of a law in their order:

====================  ==========================  =======================================================
law (constants)       φ(s)                        ξ(s0, s1) = Δφ/(½ Δs)
====================  ==========================  =======================================================
engineering (k, L)    ½ k (l − L)²                k (1 − 2L/(l0 + l1))
Green (k, L)          ½ k ((s − L²)/2L)²          k (s0 + s1 − 2L²)/4L²
inverse (γ)           −γ/l                        2γ/(l0 l1 (l0 + l1))
Lennard-Jones (ε, σ)  4ε (u⁶ − u³)                −(8ε/σ²) u0 u1 (u0³ + u1³ − 1)(u0² + u0 u1 + u1²)
inverse square (c)    c/s                         −2c/(s0 s1)
====================  ==========================  =======================================================

The quotients have no cancellation for small Δs, nor have their derivatives with respect to s1. In plain Python the
functions take arrays: ``quotient.py_func(law, a, b, s0, s1)``.
"""

import numpy as np

from symplex.fem.kernels import formula, inlined, kernel

ENGINEERING, GREEN, INVERSE, LENNARD_JONES, INVERSE_SQUARE = range(5)


@formula
def ratio(a, b):
    """a/b, and 0 where a is 0: a spring of no natural length has no pole."""
    return a / (b + (a == 0.0))


@formula
def energy(law, a, b, s):
    """φ(s)."""
    if law == ENGINEERING:
        return 0.5 * a * (np.sqrt(s) - b) ** 2
    if law == GREEN:
        return 0.125 * a * ((s - b * b) / b) ** 2
    if law == INVERSE:
        return -a / np.sqrt(s)
    if law == INVERSE_SQUARE:
        return a / s
    c = (b * b / s) ** 3
    return 4.0 * a * c * (c - 1.0)


@formula
def slope(law, a, b, s):
    """dφ/ds."""
    if law == ENGINEERING:
        return 0.5 * a * (1.0 - ratio(b, np.sqrt(s)))
    if law == GREEN:
        return 0.25 * a * (s / (b * b) - 1.0)
    if law == INVERSE:
        return 0.5 * a / (s * np.sqrt(s))
    if law == INVERSE_SQUARE:
        return -a / (s * s)
    c = (b * b / s) ** 3
    return -12.0 * a * c * (2.0 * c - 1.0) / s


@formula
def curvature(law, a, b, s):
    """d²φ/ds²."""
    if law == ENGINEERING:
        return 0.25 * a * ratio(b, s * np.sqrt(s))
    if law == GREEN:
        return 0.25 * a / (b * b) + 0.0 * s
    if law == INVERSE:
        return -0.75 * a / (s * s * np.sqrt(s))
    if law == INVERSE_SQUARE:
        return 2.0 * a / (s * s * s)
    c = (b * b / s) ** 3
    return 12.0 * a * c * (14.0 * c - 4.0) / (s * s)


@formula
def quotient(law, a, b, s0, s1):
    """ξ(s0, s1), also where s1 = s0."""
    if law == ENGINEERING:
        return a * (1.0 - 2.0 * ratio(b, np.sqrt(s0) + np.sqrt(s1)))
    if law == GREEN:
        return 0.25 * a * ((s0 + s1) / (b * b) - 2.0)
    if law == INVERSE:
        l0, l1 = np.sqrt(s0), np.sqrt(s1)
        return 2.0 * a / (l0 * l1 * (l0 + l1))
    if law == INVERSE_SQUARE:
        return -2.0 * a / (s0 * s1)
    u0, u1 = b * b / s0, b * b / s1
    return -8.0 * a / (b * b) * u0 * u1 * (u0**3 + u1**3 - 1.0) * (u0 * u0 + u0 * u1 + u1 * u1)


@formula
def quotient_slope(law, a, b, s0, s1):
    """∂ξ/∂s1, also where s1 = s0."""
    if law == ENGINEERING:
        l0, l1 = np.sqrt(s0), np.sqrt(s1)
        return a * ratio(b, l1 * (l0 + l1) ** 2)
    if law == GREEN:
        return 0.25 * a / (b * b) + 0.0 * s1
    if law == INVERSE:
        l0, l1 = np.sqrt(s0), np.sqrt(s1)
        return -a * (l0 + 2.0 * l1) / (l0 * s1 * l1 * (l0 + l1) ** 2)
    if law == INVERSE_SQUARE:
        return 2.0 * a / (s0 * s1 * s1)
    u0, u1 = b * b / s0, b * b / s1
    cubes, squares = u0**3 + u1**3 - 1.0, u0 * u0 + u0 * u1 + u1 * u1
    product_slope = 3.0 * u1 * u1 * squares + cubes * (u0 + 2.0 * u1)
    return 8.0 * a / (b * b) ** 2 * u0 * u1 * u1 * (cubes * squares + u1 * product_slope)


@formula
def mean_slope(law, a, b, s0, s1):
    """2 dφ/ds at the mean length ½(l0 + l1), which is φ'(l)/l by the length: takes the place of ξ."""
    mean = 0.5 * (np.sqrt(s0) + np.sqrt(s1))
    return 2.0 * slope(law, a, b, mean * mean)


# -- loops over pairs ----------------------------------------------------------------------------------------------
#
# With d = x_1 − x_0 at the end and d_m its mean over the increment:
#   ∂φ/∂x_1 = 2 φ' d,     ∂²φ/∂x_1² = 2 φ' I + 4 φ'' d ⊗ d,
#   DG_1 = ξ d_m,         ∂DG_1/∂x1_1 = ½ ξ I + 2 ∂ξ/∂s1 d_m ⊗ d,
# (with 2 φ' at the mean length instead of ξ for the mean gradient),
#   𝓕_11 = 2 φ',          𝓕̇_11 = 4 φ'' d·v,   v the difference of the velocities,
# and each with the other sign for the other node. What is not finite spreads to the returned sum.


@inlined
def _squared(q, n0, n1):
    """Return |q_1 − q_0|² of two nodes."""
    s = 0.0
    for i in range(q.shape[1]):
        s += (q[n1, i] - q[n0, i]) ** 2
    return s


@inlined
def _spread(stiffness, slots, i, j, out):
    """Add a number to the blocks of a pair [2, 2], with the other sign where two nodes are coupled."""
    out[slots[0, 0], i, j] += stiffness
    out[slots[1, 1], i, j] += stiffness
    out[slots[0, 1], i, j] -= stiffness
    out[slots[1, 0], i, j] -= stiffness


@kernel
def total(q, nodes, law, a, b):
    """Return Σ φ."""
    result = 0.0
    for e in range(len(nodes)):
        result += energy(law, a[e], b[e], _squared(q, nodes[e, 0], nodes[e, 1]))
    return result


@kernel
def add_gradient(q, nodes, law, a, b, out):
    """Add ∂φ/∂q [n, dim]; return a sum that is finite if all forces are."""
    check = 0.0
    for e in range(len(nodes)):
        n0, n1 = nodes[e, 0], nodes[e, 1]
        s = _squared(q, n0, n1)
        pull = 2.0 * slope(law, a[e], b[e], s)
        check += pull
        for i in range(q.shape[1]):
            force = pull * (q[n1, i] - q[n0, i])
            out[n1, i] += force
            out[n0, i] -= force
    return check


@kernel
def add_hessian(q, nodes, law, a, b, slots, out):
    """Add ∂²φ/∂q² to blocks; return a sum that is finite if all of it is."""
    check = 0.0
    for e in range(len(nodes)):
        n0, n1 = nodes[e, 0], nodes[e, 1]
        s = _squared(q, n0, n1)
        diagonal, product = 2.0 * slope(law, a[e], b[e], s), 4.0 * curvature(law, a[e], b[e], s)
        check += diagonal + product
        for i in range(q.shape[1]):
            for j in range(q.shape[1]):
                stiffness = product * (q[n1, i] - q[n0, i]) * (q[n1, j] - q[n0, j]) + (diagonal if i == j else 0.0)
                _spread(stiffness, slots[e], i, j, out)
    return check


@kernel
def add_discrete_gradient(q0, q1, nodes, law, a, b, mean, out):
    """Add DG(q0, q1), or else the mean gradient, [n, dim]; return a sum that is finite if all forces are."""
    check = 0.0
    for e in range(len(nodes)):
        n0, n1 = nodes[e, 0], nodes[e, 1]
        s0, s1 = _squared(q0, n0, n1), _squared(q1, n0, n1)
        xi = mean_slope(law, a[e], b[e], s0, s1) if mean else quotient(law, a[e], b[e], s0, s1)
        check += xi
        for i in range(q0.shape[1]):
            force = 0.5 * xi * ((q0[n1, i] - q0[n0, i]) + (q1[n1, i] - q1[n0, i]))
            out[n1, i] += force
            out[n0, i] -= force
    return check


@kernel
def add_discrete_hessian(q0, q1, nodes, law, a, b, slots, out):
    """Add ∂DG/∂q1 to blocks; return a sum that is finite if it is."""
    check = 0.0
    for e in range(len(nodes)):
        n0, n1 = nodes[e, 0], nodes[e, 1]
        s0, s1 = _squared(q0, n0, n1), _squared(q1, n0, n1)
        xi, rate = quotient(law, a[e], b[e], s0, s1), quotient_slope(law, a[e], b[e], s0, s1)
        check += xi + rate
        for i in range(q0.shape[1]):
            middle = 0.5 * ((q0[n1, i] - q0[n0, i]) + (q1[n1, i] - q1[n0, i]))
            for j in range(q0.shape[1]):
                stiffness = 2.0 * rate * middle * (q1[n1, j] - q1[n0, j]) + (0.5 * xi if i == j else 0.0)
                _spread(stiffness, slots[e], i, j, out)
    return check


@inlined
def _spread_value(value, slots, out):
    """Add a number to the values of a pair [2, 2], with the other sign where two nodes are coupled."""
    out[slots[0, 0]] += value
    out[slots[1, 1]] += value
    out[slots[0, 1]] -= value
    out[slots[1, 0]] -= value


@kernel
def add_secant(q, nodes, law, a, b, slots, out):
    """Add 𝓕 to values; return a sum that is finite if all of it is."""
    check = 0.0
    for e in range(len(nodes)):
        pull = 2.0 * slope(law, a[e], b[e], _squared(q, nodes[e, 0], nodes[e, 1]))
        check += pull
        _spread_value(pull, slots[e], out)
    return check


@kernel
def add_secant_rate(q, v, nodes, law, a, b, slots, out):
    """Add 𝓕̇ to values; return a sum that is finite if all of it is."""
    check = 0.0
    for e in range(len(nodes)):
        n0, n1 = nodes[e, 0], nodes[e, 1]
        half_rate = 0.0  # ½ ds/dt
        for i in range(q.shape[1]):
            half_rate += (q[n1, i] - q[n0, i]) * (v[n1, i] - v[n0, i])
        rate = 4.0 * curvature(law, a[e], b[e], _squared(q, n0, n1)) * half_rate
        check += rate
        _spread_value(rate, slots[e], out)
    return check


# -- positions of two numbers each ---------------------------------------------------------------------------------
#
# For stiff pairs the last digit of a position is a large force. With what it leaves over in ``low``, and strains from
# increments, s1 − s0 = Δd·(2 d0 + Δd) and l − L = (s − L²)/(l + L), forces are exact to the round-off of strains.
# No products may be fused with sums in here: what they round off is what is looked for.

_SPLIT = 134217729.0  # 2^27 + 1


@formula
def _two_sum(a, b):
    """Return a + b, and what it has rounded off."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@formula
def _square(a):
    """Return a², and what it has rounded off (Dekker)."""
    shifted = _SPLIT * a
    high = shifted - (shifted - a)
    low = a - high
    square = a * a
    return square, ((high * high - square) + 2.0 * high * low) + low * low


@kernel
def add_increment_gradient(q, low, dq, nodes, law, a, b, out):
    """Add DG(q + low, q + low + Δq) [n, dim]; return a sum that is finite if all forces are."""
    check = 0.0
    for e in range(len(nodes)):
        n0, n1 = nodes[e, 0], nodes[e, 1]
        excess, rest = _square(b[e])  # s0 − L² in two numbers, for the laws that have an L
        excess, rest = -excess, -rest
        s0 = change = 0.0
        for i in range(q.shape[1]):
            d, d_low = _two_sum(q[n1, i], -q[n0, i])
            d_low += low[n1, i] - low[n0, i]
            step = dq[n1, i] - dq[n0, i]
            square, square_low = _square(d)
            excess, lost = _two_sum(excess, square)
            rest += lost + square_low + 2.0 * d * d_low
            s0 += (d + d_low) ** 2
            change += step * (2.0 * (d + d_low) + step)
        excess += rest
        xi = _increment_quotient(law, a[e], b[e], s0, excess, change)
        check += xi
        for i in range(q.shape[1]):
            d = (q[n1, i] - q[n0, i]) + (low[n1, i] - low[n0, i])
            force = xi * (d + 0.5 * (dq[n1, i] - dq[n0, i]))
            out[n1, i] += force
            out[n0, i] -= force
    return check


@formula
def _increment_quotient(law, a, b, s0, excess, change):
    """ξ(s0, s0 + change), where excess is s0 − L²."""
    if law == ENGINEERING:
        l0, l1 = np.sqrt(s0), np.sqrt(max(s0 + change, 0.0))
        if b == 0.0:
            return a
        stretch = excess / (l0 + b)
        return a * (2.0 * stretch + change / (l0 + l1)) / (l0 + l1)
    if law == GREEN:
        return 0.25 * a * (2.0 * excess + change) / (b * b)
    return quotient(law, a, b, s0, s0 + change)
