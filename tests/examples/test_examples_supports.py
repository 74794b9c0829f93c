"""The examples of supports that move make their numbers and pictures."""

import numpy as np
import pytest


@pytest.mark.slow
def test_a_shaken_tower(run_script, tmp_path):
    numbers = run_script("shaken_tower.py", tmp_path)
    second, half = (numbers[f"weak, second order, dt = {dt}: error of the top, relative"] for dt in (0.02, 0.01))
    assert half < 0.01
    assert np.log2(second / half) == pytest.approx(2.0, abs=0.05)
    assert numbers["weak, fourth order, dt = 0.02: error of the top, relative"] < 2e-4
    assert numbers["peak of the response at [Hz]"] == pytest.approx(numbers["first frequency [Hz]"], rel=0.02)
    assert numbers["peak of the response"] == pytest.approx(numbers["peak of the response, linear theory"], rel=0.005)
    assert numbers["largest error of the response up to the second frequency, relative"] < 0.02
    assert numbers["strong: largest sway of the top [m]"] > 0.4
    assert 0.005 < numbers["strong: largest difference to linear theory [m]"] < 0.02
    # What the ground has put in, the dampers have taken.
    work = numbers["strong: work of the ground [J]"]
    assert work > 1e4
    assert numbers["strong: work of the dampers [J]"] == pytest.approx(-work, rel=1e-4)
    assert numbers["strong: largest error of the balance [J]"] < 1e-12 * work
    assert (tmp_path / "shaken_tower.png").stat().st_size > 20_000
