"""Third derivatives of the pair laws: closed forms of d³φ/ds³, and the compiled loop over pairs.

With d = x_1 − x_0, s = |d|² and b = a_1 − a_0, differentiating ∂φ/∂x_1 = 2 φ' d twice along a gives

    ∇³φ[a, a]_1 = 8 φ'' (d·b) b + (8 φ''' (d·b)² + 4 φ'' b·b) d,

and the opposite for the other node.
"""

import numpy as np

from symplex.fem.kernels import formula, kernel
from symplex.fem.measures.pair_formulas import ENGINEERING, GREEN, INVERSE, INVERSE_SQUARE, curvature


@formula
def third_slope(law, a, b, s):
    """d³φ/ds³ for the laws of `symplex.fem.measures.pair_formulas`."""
    if law == ENGINEERING:
        # A spring of no natural length has no pole.
        return -0.375 * a * b / (s * s * np.sqrt(s) + (b == 0.0))
    if law == GREEN:
        return 0.0 * s
    if law == INVERSE:
        return 1.875 * a / (s * s * s * np.sqrt(s))
    if law == INVERSE_SQUARE:
        return -6.0 * a / (s * s * s * s)
    c = (b * b / s) ** 3
    return -48.0 * a * c * (28.0 * c - 5.0) / (s * s * s)


@kernel
def add_third(q, along, nodes, law, a, b, out):
    """Add ∇³V[along, along] [n, dim]; return a sum that is finite if all of it is."""
    check = 0.0
    for e in range(len(nodes)):
        n0, n1 = nodes[e, 0], nodes[e, 1]
        s = product = square = 0.0
        for i in range(q.shape[1]):
            d, rate = q[n1, i] - q[n0, i], along[n1, i] - along[n0, i]
            s += d * d
            product += d * rate
            square += rate * rate
        second = curvature(law, a[e], b[e], s)
        by_rate = 8.0 * second * product
        by_d = 8.0 * third_slope(law, a[e], b[e], s) * product * product + 4.0 * second * square
        check += by_rate + by_d
        for i in range(q.shape[1]):
            force = by_rate * (along[n1, i] - along[n0, i]) + by_d * (q[n1, i] - q[n0, i])
            out[n1, i] += force
            out[n0, i] -= force
    return check
