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


@pytest.mark.slow
def test_an_earthquake(run_script, tmp_path):
    numbers = run_script("earthquake.py", tmp_path)  # of "earthquake.toml"
    assert numbers["base shear: largest difference to the sum of mass times acceleration, relative"] < 1e-12
    assert numbers["largest sway of the top [m]"] == pytest.approx(0.02824, rel=1e-3)
    assert numbers["largest base shear over the weight"] == pytest.approx(0.2788, rel=1e-3)
    for name in ("trapezoidal rule", "energy-momentum", "generalized-α"):
        coarse, fine = (numbers[f"spectrum, {name}, dt = {dt}: largest error, relative"] for dt in (0.005, 0.0025))
        assert coarse < 0.011
        assert np.log2(coarse / fine) == pytest.approx(2.0, abs=0.1)
    assert (tmp_path / "earthquake.png").stat().st_size > 20_000


def test_the_record_of_the_earthquake_is_the_one_that_is_made(pytestconfig, tmp_path, monkeypatch):
    examples = pytestconfig.rootpath / "examples"
    monkeypatch.syspath_prepend(examples)
    import earthquake

    earthquake.write_record(tmp_path / "record.csv")
    made, kept = (
        np.loadtxt(p, delimiter=",", skiprows=1) for p in (tmp_path / "record.csv", examples / "earthquake_record.csv")
    )
    np.testing.assert_allclose(made, kept, atol=2e-9)
