"""Laws that end smoothly at a cut-off: the formulas that compiled loops take, of laws with and without one.

A law φ with an end at m_c is φ less its Taylor polynomial of second order at m_c, and zero beyond it: φ, φ' and φ'' are
zero there. The end is an array: m_c, φ(m_c), φ'(m_c), φ''(m_c). `NO_END` leaves a law as it is.
"""

from __future__ import annotations

import numpy as np

from symplex.fem.assembly.pattern import Array
from symplex.fem.compiled.kernels import uncounted_formula as formula, uncounted_inlined as inlined
from symplex.fem.measures import law_formulas
from symplex.fem.measures.pair_laws import CompiledLaw

NO_END = np.array([np.inf, 0.0, 0.0, 0.0])


def end_of(law: CompiledLaw, cutoff: float) -> Array:
    """Return the end of a law of squared distances, whose constants are numbers, at a distance in m."""
    s = np.array(cutoff * cutoff)
    return np.array([float(function(s)) for function in (np.asarray, law.energy, law.slope, law.curvature)])


@inlined
def is_beyond(end, m):
    """Whether a law has an end, and m is there or beyond."""
    return m >= end[0] and end[0] < np.inf


@formula
def energy(law, a, b, end, m):
    """φ(m)."""
    if is_beyond(end, m):
        return 0.0
    phi = law_formulas.energy(law, a, b, m)
    if end[0] < np.inf:
        phi -= end[1] + (m - end[0]) * (end[2] + 0.5 * end[3] * (m - end[0]))
    return phi


@formula
def slope(law, a, b, end, m):
    """dφ/dm."""
    if is_beyond(end, m):
        return 0.0
    pull = law_formulas.slope(law, a, b, m)
    return pull - end[2] - end[3] * (m - end[0]) if end[0] < np.inf else pull


@formula
def curvature(law, a, b, end, m):
    """d²φ/dm²."""
    return 0.0 if is_beyond(end, m) else law_formulas.curvature(law, a, b, m) - end[3]


@formula
def third_slope(law, a, b, end, m):
    """d³φ/dm³, which jumps at the end."""
    return 0.0 if is_beyond(end, m) else law_formulas.third_slope(law, a, b, m)


@formula
def mean_slope(law, a, b, end, s0, s1):
    """2 dφ/ds at the mean length ½(l0 + l1)."""
    if end[0] < np.inf:
        mean = 0.5 * (np.sqrt(s0) + np.sqrt(s1))
        return 2.0 * slope(law, a, b, end, mean * mean)
    return law_formulas.mean_slope(law, a, b, s0, s1)


@formula
def quotient(law, a, b, end, m0, m1):
    """ξ = Δφ/(½ Δm), also across the end: there the quotient up to it, times the part of Δm that leads there."""
    limit, e0, e1, part = end[0], m0, m1, 1.0
    if limit < np.inf:
        if m0 >= limit and m1 >= limit:
            return 0.0
        if m0 >= limit or m1 >= limit:
            e0, e1 = min(m0, limit), min(m1, limit)
            part = (e1 - e0) / (m1 - m0)
    xi = law_formulas.quotient(law, a, b, e0, e1)
    if limit < np.inf:
        xi = part * (xi - 2.0 * end[2] - end[3] * ((e0 - limit) + (e1 - limit)))
    return xi


@formula
def quotient_slope(law, a, b, end, m0, m1):
    """∂ξ/∂m1."""
    if is_beyond(end, m1):
        return 0.0 if is_beyond(end, m0) else -quotient(law, a, b, end, m0, m1) / (m1 - m0)
    e0 = end[0] if is_beyond(end, m0) else m0
    rate = law_formulas.quotient_slope(law, a, b, e0, m1) - end[3]
    if e0 == m0:
        return rate
    part = (m1 - e0) / (m1 - m0)
    return rate * part + quotient(law, a, b, end, e0, m1) * (1.0 - part) / (m1 - m0)


@formula
def quotient_change(law, a, b, end, s0, s1, first, second):
    """ξ(s0 + first, s1 + second) − ξ(s0, s1), without cancellation for springs that have no end."""
    if end[0] < np.inf:
        return quotient(law, a, b, end, s0 + first, s1 + second) - quotient(law, a, b, end, s0, s1)
    return law_formulas.quotient_change(law, a, b, s0, s1, first, second)
