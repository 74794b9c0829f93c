"""The formulas of the laws of a measure m, once for numbers and arrays alike.

Laws of a squared distance s = l², with u = σ²/s, laws of a gap g, and a, b their constants in this order:

========================  ==========================  =======================================================
law (constants)           φ(m)                        ξ(m0, m1) = Δφ/(½ Δm)
========================  ==========================  =======================================================
engineering (k, L)        ½ k (l − L)²                k (1 − 2L/(l0 + l1))
Green (k, L)              ½ k ((s − L²)/2L)²          k (s0 + s1 − 2L²)/4L²
inverse (γ)               −γ/l                        2γ/(l0 l1 (l0 + l1))
Lennard-Jones (ε, σ)      4ε (u⁶ − u³)                −(8ε/σ²) u0 u1 (u0³ + u1³ − 1)(u0² + u0 u1 + u1²)
inverse square (c)        c/s                         −2c/(s0 s1)
compression only (k, L)   ½ k p², p = ⟨L − l⟩         −k (p0 + p1) r/(l0 + l1)
tension only (k, L)       ½ k p², p = ⟨l − L⟩         k (p0 + p1) r/(l0 + l1)
penalty (k)               ½ k p², p = ⟨−g⟩            −k (p0 + p1) r
spring (k)                ½ k g²                      k (g0 + g1)
length (–, L)             (s − L²)/2L                 1/L
identity                  m                           2
given (φ or ξ …, …)       what the constants are: values of a law that is not compiled, at the measures of the stencils
========================  ==========================  =======================================================

⟨·⟩ is the positive part, and r the part of the increment in which p is not zero: 1 if it is at both ends neither,
p/(p + γ) if it is p at one end and the other one is open by γ. Length and identity are constraints, in m.

The quotients have no cancellation for small Δm, nor have their derivatives with respect to m1. In plain Python the
functions take arrays: ``quotient.py_func(law, a, b, s0, s1)``.
"""

import numpy as np

from symplex.fem.compiled.kernels import formula

ENGINEERING, GREEN, INVERSE, LENNARD_JONES, INVERSE_SQUARE = range(5)
COMPRESSION, TENSION, PENALTY, SPRING, LENGTH, IDENTITY, GIVEN = range(5, 12)


@formula
def ratio(a, b):
    """a/b, and 0 where a is 0: a spring of no natural length has no pole."""
    return a / (b + (a == 0.0))


@formula
def _over(a, b):
    """a/b, and 0 where b is 0: at the centre of a sphere no direction is out."""
    return a * (b != 0.0) / (b + (b == 0.0))


@formula
def _open(law, b, s):
    """How far a one-sided law is open, negative where it acts."""
    if law == PENALTY:
        return s
    return np.sqrt(s) - b if law == COMPRESSION else b - np.sqrt(s)


@formula
def _shares(g0, g1):
    """(p0 + p1) r of a one-sided law that is open by g0 and g1, p = ⟨−g⟩, and minus its derivative with g1."""
    p0, p1 = np.maximum(-g0, 0.0), np.maximum(-g1, 0.0)
    p = p0 + p1
    mixed = 1.0 * ((p0 > 0.0) != (p1 > 0.0))  # then |Δg| is |g0| + |g1|, and one of p0 and p1 is 0
    r = 1.0 + mixed * (p / (np.abs(g0) + np.abs(g1) + (1.0 - mixed)) - 1.0)
    # 1 if both ends are closed; r² if the second is open, 1 − (1 − r)² if it is closed
    return p * r, (1.0 - mixed) * (p > 0.0) + mixed * (r * r + (p1 > 0.0) * 2.0 * r * (1.0 - r))


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
    if law in (COMPRESSION, TENSION, PENALTY):
        return 0.5 * a * np.maximum(-_open(law, b, s), 0.0) ** 2
    if law == SPRING:
        return 0.5 * a * s * s
    if law == LENGTH:
        return 0.5 * (s / b - b)
    if law == IDENTITY:
        return s
    if law == GIVEN:
        return a + 0.0 * s
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
    if law in (COMPRESSION, TENSION):
        outwards = 1.0 if law == COMPRESSION else -1.0
        return -0.5 * outwards * a * _over(np.maximum(-_open(law, b, s), 0.0), np.sqrt(s))
    if law == PENALTY:
        return -a * np.maximum(-s, 0.0)
    if law == SPRING:
        return a * s
    if law == LENGTH:
        return 0.5 / b + 0.0 * s
    if law == IDENTITY:
        return 1.0 + 0.0 * s
    if law == GIVEN:
        return a + 0.0 * s
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
    if law in (COMPRESSION, TENSION):
        return 0.25 * a * _over(b * (_open(law, b, s) < 0.0), s * np.sqrt(s))
    if law == PENALTY:
        return a * (s < 0.0)
    if law == SPRING:
        return a + 0.0 * s
    if law in (LENGTH, IDENTITY):
        return 0.0 * s
    if law == GIVEN:
        return b + 0.0 * s
    c = (b * b / s) ** 3
    return 12.0 * a * c * (14.0 * c - 4.0) / (s * s)


@formula
def third_slope(law, a, b, s):
    """d³φ/ds³."""
    if law == ENGINEERING:
        return -0.375 * a * ratio(b, s * s * np.sqrt(s))
    if law == INVERSE:
        return 1.875 * a / (s * s * s * np.sqrt(s))
    if law == INVERSE_SQUARE:
        return -6.0 * a / (s * s * s * s)
    if law in (COMPRESSION, TENSION):
        return -0.375 * a * _over(b * (_open(law, b, s) < 0.0), s * s * np.sqrt(s))
    if law == LENNARD_JONES:
        c = (b * b / s) ** 3
        return -48.0 * a * c * (28.0 * c - 5.0) / (s * s * s)
    if law == GIVEN:
        return a + 0.0 * s
    return 0.0 * s


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
    if law in (COMPRESSION, TENSION):
        outwards = 1.0 if law == COMPRESSION else -1.0
        share, _ = _shares(_open(law, b, s0), _open(law, b, s1))
        return -outwards * a * _over(share, np.sqrt(s0) + np.sqrt(s1))
    if law == PENALTY:
        share, _ = _shares(s0, s1)
        return -a * share
    if law == SPRING:
        return a * (s0 + s1)
    if law == LENGTH:
        return 1.0 / b + 0.0 * s1
    if law == IDENTITY:
        return 2.0 + 0.0 * s1
    if law == GIVEN:
        return a + 0.0 * s1
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
    if law in (COMPRESSION, TENSION):
        outwards, lengths = 1.0 if law == COMPRESSION else -1.0, np.sqrt(s0) + np.sqrt(s1)
        share, rate = _shares(_open(law, b, s0), _open(law, b, s1))
        return 0.5 * a * _over(rate + outwards * _over(share, lengths), np.sqrt(s1) * lengths)
    if law == PENALTY:
        _, rate = _shares(s0, s1)
        return a * rate
    if law == SPRING:
        return a + 0.0 * s1
    if law in (LENGTH, IDENTITY):
        return 0.0 * s1
    if law == GIVEN:
        return b + 0.0 * s1
    u0, u1 = b * b / s0, b * b / s1
    cubes, squares = u0**3 + u1**3 - 1.0, u0 * u0 + u0 * u1 + u1 * u1
    product_slope = 3.0 * u1 * u1 * squares + cubes * (u0 + 2.0 * u1)
    return 8.0 * a / (b * b) ** 2 * u0 * u1 * u1 * (cubes * squares + u1 * product_slope)


@formula
def mean_slope(law, a, b, s0, s1):
    """2 dφ/ds at the mean length ½(l0 + l1), which is φ'(l)/l by the length: takes the place of ξ."""
    if law == GIVEN:
        return a + 0.0 * s1
    mean = 0.5 * (np.sqrt(s0) + np.sqrt(s1))
    return 2.0 * slope(law, a, b, mean * mean)


@formula
def quotient_change(law, a, b, s0, s1, first, second):
    """ξ(s0 + first, s1 + second) − ξ(s0, s1), without cancellation for springs."""
    t0, t1 = s0 + first, s1 + second
    if law == GREEN:
        return 0.25 * a * (first + second) / (b * b)
    if law == SPRING:
        return a * (first + second)
    if law == PENALTY and max(max(s0, s1), max(t0, t1)) < 0.0:
        return a * (first + second)
    stretched = b * b < min(min(s0, s1), min(t0, t1))
    pressed = b * b > max(max(s0, s1), max(t0, t1))
    if law == ENGINEERING or (law == COMPRESSION and pressed) or (law == TENSION and stretched):
        k0, k1, l0, l1 = np.sqrt(s0), np.sqrt(s1), np.sqrt(t0), np.sqrt(t1)
        longer = ratio(first, k0 + l0) + ratio(second, k1 + l1)
        return 2.0 * a * ratio(b * longer, (k0 + k1) * (l0 + l1))
    return quotient(law, a, b, t0, t1) - quotient(law, a, b, s0, s1)
