"""An exponential without branches or calls, so that loops around it vectorise on every machine."""

from __future__ import annotations

from math import inf

import numpy as np

from symplex.fem.compiled.kernels import inlined
from symplex.fem.compiled.logarithm import BITS_OF_TWO52, FRACTION, TWO52, bits_of, from_bits

PER_LN2 = 1.4426950408889634
# ln 2 in two parts, the first of 21 bits, so that its product with any exponent is exact.
LN2_HIGH, LN2_LOW = 0.6931467056274414, 4.7493250390316726e-07
SHIFT = TWO52 + 1023.0  # in whose last bits a number is k + 1023, rounded to an integer
# k + 1023 is halved, and so is the bias: 2ᵏ = 2^(half + 512 − 1023) 2^(rest + 511 − 1023).
HALF_BIAS, HALF_BIAS_UP = np.uint64(512), np.uint64(511)
LARGEST, LEAST = 709.782712893384, -708.396418532264  # of which the exponential is a normal double


@inlined
def exp(x: float) -> float:
    """Return eˣ within one unit in the last place; infinite where it is too large, 0 where below 2⁻¹⁰²².

    x = k ln 2 + r with |r| ≤ ½ ln 2,

        eˣ = 2ᵏ (1 + r + r² (1/2 + r/6 + …)),

    the series being replaced by the polynomial of degree 10 that interpolates it at Chebyshev points.
    """
    within = min(max(x, LEAST), LARGEST)
    shifted = within * PER_LN2 + SHIFT
    k = shifted - SHIFT
    r = (within - k * LN2_HIGH) - k * LN2_LOW
    p = 2.5105217004720745e-08 + r * 2.0914686968086876e-09
    p = 2.7557255400206422e-06 + r * (2.75572736431103e-07 + r * p)
    p = 0.00019841269874820627 + r * (2.4801587325547743e-05 + r * p)
    p = 0.008333333333326136 + r * (0.0013888888888883748 + r * p)
    p = 0.1666666666666667 + r * (0.04166666666666667 + r * p)
    mantissa = 1.0 + (r + r * r * (0.5 + r * p))
    # 2ᵏ in two factors: 2¹⁰²⁴ is no double.
    exponent = bits_of(shifted) - BITS_OF_TWO52  # pyright: ignore[reportCallIssue]
    half = exponent >> np.uint64(1)
    rest = exponent - half
    y = mantissa * from_bits((half + HALF_BIAS) << FRACTION) * from_bits((rest + HALF_BIAS_UP) << FRACTION)
    y = inf if x > LARGEST else y
    y = 0.0 if x < LEAST else y
    return y if x == x else x
