"""The mollifier of nearly parallel edges, whose nearest points jump from one end to the other.

With c = |e1 × e2|², χ = c/ε and ε = 1e-3 |E1|² |E2|² of the lengths at rest,

    m = χ (2 − χ)  for χ < 1,  1 beyond:

Li et al. (2020), "Incremental Potential Contact", eq. 24. It is a function of the invariants α = |e1|², β = |e2|² and
γ = e1·e2, c = αβ − γ², and the slope of c along an increment is taken from these by the product rule,

    Dc = (2 β̄ ē1 − 2 γ̄ ē2,  2 ᾱ ē2 − 2 γ̄ ē1),    Dc·Δe = Δc exactly,

bars the means of both ends: forces along it have no moment about the midpoints.
"""

from symplex.fem.kernels import uncounted_formula as formula
from symplex.fem.solids.edge_algebra import along, cross, dot, times


@formula
def ratio(threshold, e1, e2):
    """χ; 1 if there is no threshold."""
    if threshold == 0.0:
        return 1.0
    n = cross(e1, e2)
    return dot(n, n) / threshold


@formula
def value(chi):
    """The factor m."""
    return chi * (2.0 - chi) if chi < 1.0 else 1.0


@formula
def slope(chi):
    """dm/dχ."""
    return 2.0 * (1.0 - chi) if chi < 1.0 else 0.0


@formula
def quotient(chi0, chi1):
    """Δm/Δχ, also where χ1 = χ0."""
    if chi0 < 1.0 and chi1 < 1.0:
        return (1.0 - chi0) + (1.0 - chi1)
    if chi0 < 1.0 or chi1 < 1.0:
        y = 1.0 - min(chi0, chi1)
        return y * y / abs(chi1 - chi0)
    return 0.0


@formula
def quotient_slope(chi0, chi1):
    """The derivative of Δm/Δχ with χ1."""
    if chi0 < 1.0 and chi1 < 1.0:
        return -1.0
    if chi0 < 1.0:
        return -quotient(chi0, chi1) / (chi1 - chi0)
    if chi1 < 1.0:
        # y²/Δ with y = 1 − χ1, Δ = χ0 − χ1
        part = (1.0 - chi1) / (chi0 - chi1)
        return part * (part - 2.0)
    return 0.0


@formula
def gradient(e1, e2):
    """∂c/∂e1 and ∂c/∂e2, from n = e1 × e2."""
    n = cross(e1, e2)
    return times(2.0, cross(e2, n)), times(2.0, cross(n, e1))


@formula
def mean_gradient(a0, b0, a1, b1):
    """Dc, for the first and the second edge, from the edges a0 and b0 to a1 and b1."""
    alpha, beta, gamma = dot(a0, a0) + dot(a1, a1), dot(b0, b0) + dot(b1, b1), dot(a0, b0) + dot(a1, b1)
    a, b = along(a0, 1.0, a1), along(b0, 1.0, b1)
    first = along(times(0.5 * beta, a), -0.5 * gamma, b)
    return first, along(times(0.5 * alpha, b), -0.5 * gamma, a)


@formula
def mean_bend(a0, b0, a1, b1, B):
    """Set in B [6, 6] the derivative of Dc, first edge and second edge, with the edges a1 and b1."""
    alpha, beta = 0.5 * (dot(a0, a0) + dot(a1, a1)), 0.5 * (dot(b0, b0) + dot(b1, b1))
    gamma = 0.5 * (dot(a0, b0) + dot(a1, b1))
    for i in range(3):
        a, b = 0.5 * (a0[i] + a1[i]), 0.5 * (b0[i] + b1[i])
        for j in range(3):
            unit = 1.0 * (i == j)
            B[i, j] = beta * unit - b * b1[j]
            B[i, 3 + j] = 2.0 * a * b1[j] - gamma * unit - b * a1[j]
            B[3 + i, j] = 2.0 * b * a1[j] - gamma * unit - a * b1[j]
            B[3 + i, 3 + j] = alpha * unit - a * a1[j]
