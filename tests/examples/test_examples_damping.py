"""The example of damping against theory."""

from pathlib import Path

import numpy as np
import pytest

import symplex as sx

EXAMPLE = "damping.py"
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.slow
def test_the_ratios_of_a_beam_are_those_wanted(load_example):
    example = load_example(EXAMPLE)
    for (_, ratio), expected in zip(example.measured_ratios((0.02, 0.03), steps=100), (0.02, 0.03), strict=True):
        assert ratio == pytest.approx(expected, rel=2e-3)


def test_a_block_that_turns_is_braked_by_its_initial_stiffness_only(load_example):
    example = load_example(EXAMPLE)
    _, kinetic, momenta = example.tumbling("initial", 0.4)
    assert kinetic[-1] < 0.05 * kinetic[0]
    _, kinetic, momenta = example.tumbling("strain-rate", 0.4)
    assert kinetic[-1] > 0.9 * kinetic[0]
    np.testing.assert_allclose(momenta, momenta[0], rtol=1e-12)


@pytest.mark.slow
def test_three_blocks_fall_in_one_balance(tmp_path):
    scenario = sx.Scenario.read(EXAMPLES / "damped_blocks.toml")
    scenario = scenario.with_values({"run.duration": 0.24, "run.frames": 24})
    sx.simulate(scenario, tmp_path / "blocks", progress=False, pictures=False)
    history = sx.read_history(tmp_path / "blocks" / "history.csv")
    np.testing.assert_allclose(history["balance"], history["balance"][0], rtol=1e-13)
    assert history["work_damping_stiffness_damped"][-1] < -0.01
    assert history["work_viscoelastic_viscoelastic"][-1] < -0.01
