"""The exponential that vectorises."""

from decimal import Decimal, localcontext

import numpy as np
import pytest

from symplex.fem.compiled.exponential import exp
from symplex.fem.compiled.kernels import formula


@formula
def _exponentials(x):
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = exp(x[i])
    return out


@pytest.mark.parametrize("size", [1e-9, 0.3, 1.0, 30.0, 700.0])
def test_it_is_right_within_one_unit_in_the_last_place(size):
    x = np.random.default_rng(0).uniform(-size, size, 500)
    with localcontext() as context:
        context.prec = 40
        for one, found in zip(x, _exponentials(x), strict=True):
            error = abs(Decimal(float(found)) - Decimal(float(one)).exp())
            assert error < Decimal(float(np.spacing(found)))


def test_its_ends():
    x = np.array([0.0, 709.7827, 709.7828, np.inf, -708.3, -709.0, -np.inf, np.nan])
    expected = np.array([1.0, np.exp(709.7827), np.inf, np.inf, np.exp(-708.3), 0.0, 0.0, np.nan])
    np.testing.assert_allclose(_exponentials(x), expected, rtol=3e-16)
