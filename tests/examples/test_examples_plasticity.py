"""Taylor's bar against its converged shape."""

import json

import numpy as np
import pytest

import symplex as sx

EXAMPLE = "taylor_bar.py"


def test_the_quarter_is_one_of_a_cylinder(load_example):
    example = load_example(EXAMPLE)
    system, state, part = example.bar(3, 6, 4.0)
    assert system.mass.sum() == pytest.approx(0.25 * np.pi * example.RADIUS**2 * example.LENGTH * 8930.0, rel=0.02)
    assert np.hypot(*state.q[:, :2].T).max() == pytest.approx(example.RADIUS, rel=1e-12)
    heights = np.unique(np.round(state.q[:, 2], 12))
    assert heights[-1] == pytest.approx(example.LENGTH)
    assert (heights[-1] - heights[-2]) / heights[1] == pytest.approx(4.0)
    assert (state.v[system.fixed] == 0.0).all()
    assert isinstance(part, sx.Plastic)


@pytest.mark.slow
def test_the_bar_becomes_as_short_and_as_wide_as_it_should(load_example, tmp_path):
    load_example(EXAMPLE).main(["--output", str(tmp_path)])
    numbers = json.loads((tmp_path / "numbers.json").read_text())
    for method in ("", " explicit Newmark"):
        assert numbers[f"length_mm{method}"] == pytest.approx(21.46, rel=0.01)
        assert numbers[f"foot_radius_mm{method}"] == pytest.approx(7.09, rel=0.01)
        assert 2.8 < numbers[f"plastic_strain{method}"] < 3.4
    assert numbers["balance"] < 1e-13
    assert numbers["balance explicit Newmark"] < 3e-3
    assert (tmp_path / "taylor_bar.png").stat().st_size > 10_000
