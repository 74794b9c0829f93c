"""The laws of contact, with quotients compared with those of forty digits."""

import mpmath
import numpy as np
import pytest

from symplex.contact.laws import BARRIER, LAWS, curvature, quotient, quotient_slope, slope, third_slope, value

K, REACH = 3.0, 0.4
INSIDE = REACH**2 * np.array([1e-12, 1e-4, 0.1, 0.5, 0.9, 0.999, 1.0 - 1e-9])


def exact(law, s):
    """The law with forty digits."""
    s, reach = mpmath.mpf(s), mpmath.mpf(REACH)
    if s >= reach * reach:
        return mpmath.mpf(0)
    if law == BARRIER:
        return -K * reach**2 * (s / reach**2 - 1) ** 2 * mpmath.log(s / reach**2)
    return K * (reach - mpmath.sqrt(s)) ** 2 / 2


@pytest.fixture(params=LAWS)
def law(request):
    mpmath.mp.dps = 40
    return LAWS[request.param]


def test_values(law):
    for s in INSIDE:
        assert value(law, K, REACH, s) == pytest.approx(float(exact(law, s)), rel=1e-13, abs=1e-16 * K * REACH**2)
    for s in (REACH**2 * (1.0 + 1e-15), 2.0 * REACH**2, 1e9):
        assert value(law, K, REACH, s) == slope(law, K, REACH, s) == curvature(law, K, REACH, s) == 0.0


def test_slopes(law):
    for s in INSIDE[1:-1]:
        for function, order in ((slope, 1), (curvature, 2), (third_slope, 3)):
            expected = float(mpmath.diff(lambda r: exact(law, r), mpmath.mpf(s), order))
            assert function(law, K, REACH, s) == pytest.approx(expected, rel=1e-10)


def test_a_barrier_is_infinite_at_contact_and_smooth_at_its_end(law):
    end = REACH**2 * (1.0 - 1e-12)
    if law == BARRIER:
        assert value(law, K, REACH, 0.0) == np.inf
        assert abs(curvature(law, K, REACH, end)) < 1e-10 * K / REACH**2
    else:
        assert value(law, K, REACH, 0.0) == pytest.approx(0.5 * K * REACH**2)
        assert slope(law, K, REACH, 0.0) == 0.0  # without a direction there is no force
        assert curvature(law, K, REACH, end) == pytest.approx(0.25 * K / REACH**2)


def test_quotients_lose_no_digits_whatever_the_increment(law):
    for s0 in INSIDE:
        for relative in (1e-14, 1e-9, 1e-5, 1e-2, 0.5, 0.99, 3.0, 1e3, 1e8):
            for s1 in (s0 * (1.0 + relative), s0 / (1.0 + relative)):
                if s1 == s0 or min(s0, s1) < 1e-20:
                    continue
                difference = exact(law, s1) - exact(law, s0)
                expected = float(difference / (mpmath.mpf(s1) - mpmath.mpf(s0)))
                found = quotient(law, K, REACH, s0, s1)
                # Near the end of the law σ − 1 is what the rounding of s leaves of it.
                rounding = 1e-15 * K * (1.0 if max(s0, s1) > 0.5 * REACH**2 else 0.0)
                assert found == pytest.approx(expected, rel=2e-13, abs=rounding)
                assert found == pytest.approx(quotient(law, K, REACH, s1, s0), rel=1e-15)


def test_quotient_at_one_place_is_the_slope(law):
    for s in INSIDE:
        assert quotient(law, K, REACH, s, s) == pytest.approx(slope(law, K, REACH, s), rel=1e-13)
        assert quotient_slope(law, K, REACH, s, s) == pytest.approx(0.5 * curvature(law, K, REACH, s), rel=1e-9)
    for s in (REACH**2, 2.0):
        assert quotient(law, K, REACH, s, s) == quotient_slope(law, K, REACH, s, s) == 0.0


@pytest.mark.parametrize("s0", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("s1", [0.02, 0.02 * (1.0 + 1e-4), 0.05, 0.1, 0.15, 0.5])
def test_slope_of_the_quotient(law, s0, s1):
    h = 1e-6 * s1
    expected = (quotient(law, K, REACH, s0, s1 + h) - quotient(law, K, REACH, s0, s1 - h)) / (2.0 * h)
    assert quotient_slope(law, K, REACH, s0, s1) == pytest.approx(expected, rel=1e-6, abs=1e-9)
