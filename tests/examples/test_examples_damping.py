"""The example of damping against theory."""

import numpy as np
import pytest

EXAMPLE = "damping.py"


@pytest.mark.slow
def test_the_ratios_of_a_beam_are_those_wanted(load_example):
    example = load_example(EXAMPLE)
    for (_, ratio), wanted in zip(example.measured_ratios((0.02, 0.03), steps=100), (0.02, 0.03), strict=True):
        assert ratio == pytest.approx(wanted, rel=2e-3)


def test_a_block_that_turns_is_braked_by_its_initial_stiffness_only(load_example):
    example = load_example(EXAMPLE)
    _, kinetic, momenta = example.tumbling("initial", 0.4)
    assert kinetic[-1] < 0.05 * kinetic[0]
    _, kinetic, momenta = example.tumbling("strain-rate", 0.4)
    assert kinetic[-1] > 0.9 * kinetic[0]
    np.testing.assert_allclose(momenta, momenta[0], rtol=1e-12)
