"""The mollifier of nearly parallel edges, whose nearest points jump from one end to the other.

With c = |e1 × e2|², χ = c/ε and ε = 1e-3 |E1|² |E2|² of the lengths at rest,

    m = χ (2 − χ)  for χ < 1,  1 beyond:

Li et al. (2020), "Incremental Potential Contact", eq. 24. It is a function of the invariants α = |e1|², β = |e2|² and
γ = e1·e2, c = αβ − γ², and the slope of c along an increment is taken from these by the product rule,

    Dc = (2 β̄ ē1 − 2 γ̄ ē2,  2 ᾱ ē2 − 2 γ̄ ē1),    Dc·Δe = Δc exactly,

bars the means of both ends: forces along it have no moment about the midpoints.
"""

from symplex.fem.compiled.kernels import uncounted_formula as formula
from symplex.fem.compiled.vectors import cross, dot, expanded, outer, shifted


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


@expanded
def gradient(e1, e2):
    """Return ∂c/∂e1 and ∂c/∂e2, from n = e1 × e2."""
    n = cross(e1, e2)
    return 2.0 * cross(e2, n), 2.0 * cross(n, e1)


@expanded
def mean_gradient(a0, b0, a1, b1):
    """Return Dc, for the first and the second edge, from the edges a0 and b0 to a1 and b1."""
    alpha, beta, gamma = dot(a0, a0) + dot(a1, a1), dot(b0, b0) + dot(b1, b1), dot(a0, b0) + dot(a1, b1)
    a, b = a0 + a1, b0 + b1
    return 0.5 * beta * a - 0.5 * gamma * b, 0.5 * alpha * b - 0.5 * gamma * a


def mean_bend(a0, b0, a1, b1):
    """Return the derivatives of Dc with the edges a1 and b1, first edge and second edge, in an expanded function."""
    alpha, beta = 0.5 * (dot(a0, a0) + dot(a1, a1)), 0.5 * (dot(b0, b0) + dot(b1, b1))
    gamma = 0.5 * (dot(a0, b0) + dot(a1, b1))
    a, b = 0.5 * (a0 + a1), 0.5 * (b0 + b1)
    return (
        (shifted(-outer(b, b1), beta), shifted(outer(2.0 * a, b1) - outer(b, a1), -gamma)),
        (shifted(outer(2.0 * b, a1) - outer(a, b1), -gamma), shifted(-outer(a, a1), alpha)),
    )
