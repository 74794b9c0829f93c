"""Four logarithms at once, against those of the C library."""

import math
from typing import Any

import numpy as np
from numba import njit

from symplex.fem.compiled.logarithm import NEAR, double_artanh_lanes


@njit(error_model="numpy")
def _lanes(over, under) -> Any:
    return double_artanh_lanes(over, under)  # pyright: ignore[reportCallIssue]


def test_lanes_are_logarithms_of_near_numbers():
    rng = np.random.default_rng(0)
    for _ in range(500):
        # ln(1 + x), small and large; b and a with 1 + x = b/a
        x = rng.uniform(-0.29, 0.41, 4) * 10.0 ** rng.uniform(-12.0, 0.0, 4)
        a = rng.uniform(0.1, 10.0, 4)
        found, near = _lanes(tuple(x * a), tuple((2.0 + x) * a))
        assert near
        for lane, exact in zip(found, map(math.log1p, x), strict=True):
            assert abs(lane - exact) <= 4.0 * math.ulp(exact)


def test_lanes_tell_that_one_is_too_far():
    bound = math.sqrt(NEAR)
    for lane in range(4):
        for s, within in ((0.999 * bound, True), (1.001 * bound, False), (-1.001 * bound, False), (math.nan, False)):
            over = [0.0, 0.01, -0.02, 0.03]
            over[lane] = s
            assert _lanes(tuple(over), (1.0,) * 4)[1] == within
