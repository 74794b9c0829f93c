"""A natural logarithm without branches or calls, so that loops around it vectorise on every machine."""

from __future__ import annotations

from math import sqrt

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from symplex.fem.compiled.kernels import inlined

LN2 = 0.6931471805599453

# A positive normal double is 2^k m with 52 bits of fraction below the exponent k + 1023.
FRACTION = np.uint64(52)
BIAS = np.uint64(1023)
BELOW_SQRT_HALF = (BIAS << FRACTION) - np.array(sqrt(0.5)).view(np.uint64)[()]
TWO52 = 2.0**52
# Of 2/3 + 2/5 z + 2/7 z² + … as first + z (second + z p), p what comes before, from the end on.
SERIES = (
    (0.15331721528109007, 0.14616450557963512),
    (0.22222211134776157, 0.1818288912731041),
    (0.39999999999899505, 0.28571428625975415),
    (0.666666666666667, None),
)
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


@intrinsic
def double_artanh_lanes(typingctx, over, under):
    """Return 2 artanh s of four quotients s = over/under at once, and whether all are within ±(3 − 2√2), as it needs.

    That is the logarithm of (under + over)/(under − over): ln(1 + x) has s = x/(2 + x), and ln(b/a) has
    s = (b − a)/(b + a). Both are tuples of four doubles. Written in vectors: numba makes no such of four calls.
    """
    vector = ir.VectorType(ir.DoubleType(), 4)

    def splat(number):
        return ir.Constant(vector, [number] * 4)

    def codegen(context, builder, signature, args):
        def lanes(numbers):
            found = ir.Constant(vector, ir.Undefined)
            for k in range(4):
                found = builder.insert_element(found, builder.extract_value(numbers, k), ir.IntType(32)(k))
            return found

        def mul(x, y):
            return builder.fmul(x, y, flags=("contract",))

        def add(x, y):
            return builder.fadd(x, y, flags=("contract",))

        s = builder.fdiv(lanes(args[0]), lanes(args[1]))
        z = mul(s, s)
        near = builder.fcmp_ordered("<=", z, splat(NEAR))
        # _series(z) in the same order
        low, *pairs = SERIES
        p = add(splat(low[0]), mul(z, splat(low[1])))
        for first, second in pairs:
            inner = mul(z, p) if second is None else mul(z, add(splat(second), mul(z, p)))
            p = add(splat(first), inner)
        found = add(add(s, s), mul(mul(s, z), p))
        tuple_type = context.get_value_type(signature.return_type)
        out = ir.Constant(tuple_type, ir.Undefined)
        values = ir.Constant(tuple_type.elements[0], ir.Undefined)
        for k in range(4):
            values = builder.insert_value(values, builder.extract_element(found, ir.IntType(32)(k)), k)
        out = builder.insert_value(out, values, 0)
        every = builder.icmp_unsigned("==", builder.bitcast(near, ir.IntType(4)), ir.IntType(4)(15))
        return builder.insert_value(out, every, 1)

    four = types.UniTuple(types.float64, 4)
    return types.Tuple((four, types.boolean))(four, four), codegen


@inlined
def log(x: float) -> float:
    """Return ln x within two units in the last place for positive normal doubles x, and anything for others.

    x = 2^k m with m in [√½, √2), s = (m − 1)/(m + 1), |s| ≤ 3 − 2√2:

        ln x = k ln 2 + 2 artanh s,    2 artanh s = 2s + s³ (2/3 + 2/5 s² + …),

    the series being replaced by the polynomial of degree 6 in s² that interpolates it at Chebyshev points.
    """
    k, m = split_exponent(x)
    f = m - 1.0
    s = f / (m + 1.0)
    z = s * s
    return k * LN2 + (f - s * (f - z * _series(z)))  # 2s = f − s f; f is exact, s is not


@inlined
def split_exponent(x: float) -> tuple[float, float]:
    """Return k and m with x = 2^k m and m in [√½, √2), of a positive normal double."""
    bits = bits_of(x)  # pyright: ignore[reportCallIssue]
    exponent = (bits + BELOW_SQRT_HALF) >> FRACTION  # k + 1023
    k = from_bits(BITS_OF_TWO52 | exponent) - (TWO52 + 1023.0)  # integers to doubles, without a conversion
    return k, from_bits(bits - ((exponent - BIAS) << FRACTION))


@inlined
def _series(z: float) -> float:
    """Return 2/3 + 2/5 z + 2/7 z² + … for 0 ≤ z ≤ (3 − 2√2)²."""
    p = SERIES[0][0] + z * SERIES[0][1]
    p = SERIES[1][0] + z * (SERIES[1][1] + z * p)
    p = SERIES[2][0] + z * (SERIES[2][1] + z * p)
    return SERIES[3][0] + z * p


@inlined
def artanh_ratio(s: float) -> tuple[float, float]:
    """Return artanh(s)/s and its derivative for |s| < 1, in full precision also at and near 0, where they are 1 and 0.

    With s = (x1 − x0)/(x1 + x0) the first is the quotient of logarithms (ln x1 − ln x0)/(x1 − x0), times (x0 + x1)/2.
    """
    z, r = s * s, abs(s)
    near, far = 0.5 * _series(z), (0.5 * log((1.0 + r) / (1.0 - r)) / r - 1.0) / z
    rest = near if z < NEAR else far  # both are computed: a branch would stop the loop from vectorising
    return 1.0 + z * rest, s * (1.0 / (1.0 - z) - rest)
