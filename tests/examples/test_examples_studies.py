"""Studies of a rope, a mesh and a step."""

import pytest


@pytest.mark.usefixtures("drawing")
@pytest.mark.slow
def test_studies_find_what_is_known(run_script, tmp_path):
    numbers = run_script("parameter_study.py", tmp_path)  # of "falling_climber.toml"
    assert numbers["members"] == 12
    assert numbers["largest relative error of the catching force"] < 2e-3
    assert numbers["mesh: observed order"] == pytest.approx(2.0, abs=1e-6)
    assert numbers["mesh: relative error of the extrapolated energy"] < 1e-9
    assert numbers["step: observed order"] == pytest.approx(2.0, abs=0.1)
    assert 0.0 < numbers["compared: relative difference of displacements of the two smallest steps"] < 1e-3
    assert (tmp_path / "parameter_study.png").stat().st_size > 20_000
    assert (tmp_path / "ropes" / "table.csv").exists()


@pytest.mark.usefixtures("drawing")
@pytest.mark.slow
def test_a_bouncing_block_is_known_from_noisy_curves(run_script, tmp_path):
    numbers = run_script("fit_bouncing_block.py", tmp_path)
    assert numbers["young_sigmas"] < 2.0
    assert numbers["largest_sigmas"] < 3.0
    assert numbers["gradient_error"] < 1e-7
    assert numbers["chi_squared_per_number"] == pytest.approx(1.0, abs=5.0 * (2.0 / 1440.0) ** 0.5)
    assert numbers["tangents"] < 40
    assert (tmp_path / "fit_bouncing_block.png").stat().st_size > 20_000
