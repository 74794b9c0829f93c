"""A natural logarithm without branches or calls, so that loops around it vectorise on every machine."""

from __future__ import annotations

from math import sqrt

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from symplex.fem.kernels import inlined

LN2 = 0.6931471805599453

# A positive normal double is 2^k m with 52 bits of fraction below the exponent k + 1023.
FRACTION = np.uint64(52)
BIAS = np.uint64(1023)
BELOW_SQRT_HALF = (BIAS << FRACTION) - np.array(sqrt(0.5)).view(np.uint64)[()]
TWO52 = 2.0**52
NEAR = (3.0 - 2.0 * sqrt(2.0)) ** 2  # s² up to which the series is good: x1/x0 between √½ and √2
BITS_OF_TWO52 = np.array(TWO52).view(np.uint64)[()]


@intrinsic
def bits_of(typingctx, x):
    """Return the bits of a double as an unsigned integer."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], ir.IntType(64))

    return types.uint64(types.float64), codegen


@intrinsic
def from_bits(typingctx, bits):
    """Return the double with these bits."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.uint64), codegen


@inlined
def log(x: float) -> float:
    """Return ln x within two units in the last place for positive normal doubles x, and anything for others.

    x = 2^k m with m in [√½, √2), s = (m − 1)/(m + 1), |s| ≤ 3 − 2√2:

        ln x = k ln 2 + 2 artanh s,    2 artanh s = 2s + s³ (2/3 + 2/5 s² + …),

    the series being replaced by the polynomial of degree 6 in s² that interpolates it at Chebyshev points.
    """
    bits = bits_of(x)  # pyright: ignore[reportCallIssue]
    exponent = (bits + BELOW_SQRT_HALF) >> FRACTION  # k + 1023
    k = from_bits(BITS_OF_TWO52 | exponent) - (TWO52 + 1023.0)  # integers to doubles, without a conversion
    m = from_bits(bits - ((exponent - BIAS) << FRACTION))
    f = m - 1.0
    s = f / (m + 1.0)
    z = s * s
    return k * LN2 + (f - s * (f - z * _series(z)))  # 2s = f − s f; f is exact, s is not


@inlined
def _series(z: float) -> float:
    """Return 2/3 + 2/5 z + 2/7 z² + … for 0 ≤ z ≤ (3 − 2√2)²."""
    p = 0.15331721528109007 + z * 0.14616450557963512
    p = 0.22222211134776157 + z * (0.1818288912731041 + z * p)
    p = 0.39999999999899505 + z * (0.28571428625975415 + z * p)
    return 0.666666666666667 + z * p


@inlined
def artanh_ratio(s: float) -> tuple[float, float]:
    """Return artanh(s)/s and its derivative for |s| < 1, in full precision also at and near 0, where they are 1 and 0.

    With s = (x1 − x0)/(x1 + x0) the first is the quotient of logarithms (ln x1 − ln x0)/(x1 − x0), times (x0 + x1)/2.
    """
    z, r = s * s, abs(s)
    near, far = 0.5 * _series(z), (0.5 * log((1.0 + r) / (1.0 - r)) / r - 1.0) / z
    rest = near if z < NEAR else far  # both are computed: a branch would stop the loop from vectorising
    return 1.0 + z * rest, s * (1.0 / (1.0 - z) - rest)
