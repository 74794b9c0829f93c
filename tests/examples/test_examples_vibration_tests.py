"""The example of an arm on a shaker: shock, its spectrum, and random vibration."""

from pathlib import Path

import numpy as np
import pytest

import symplex as sx
from symplex.scenario.scenario import Scenario

EXAMPLE = Path(__file__).parents[2] / "examples" / "shaker.toml"


def test_random_vibration_is_that_of_miles():
    """The first mode alone, (π/2 f Q S)^½/ω² Γ φ, of the displacement of the tip relative to the table."""
    scenario = Scenario.read(EXAMPLE)
    found = sx.runs.find_random(scenario)
    rms = {quantity.column: value for quantity, value in zip(found.quantities, found.rms, strict=True)}
    built = scenario.build()
    modes = sx.modes.natural_modes(built.system, built.state, 1)
    tip = built.mesh.nodes_of("arm.x_max")
    f, shape = modes.frequencies[0], modes.shapes[0][tip, 2].mean() * modes.participation[0, 2]
    alpha, beta = scenario.tables.damping[0].coefficients
    quality = 1.0 / (alpha / modes.angular[0] + beta * modes.angular[0])
    miles = np.sqrt(np.pi / 2 * f * quality * 0.0125) * 9.81 / modes.angular[0] ** 2 * shape
    np.testing.assert_allclose(rms["tip_displacement_z_mean"], abs(miles), rtol=0.03)


@pytest.mark.slow
def test_the_shock_spectrum_is_that_of_a_half_sine(tmp_path):
    """Largest near f T = 0.8: 1.65 of the pulse with 5 % of damping."""
    sx.simulate(EXAMPLE, tmp_path / "run", progress=False, pictures=False)
    found = sx.runs.find_shock(tmp_path / "run", "foot", first=20.0, last=400.0)
    (spectrum,) = found.spectra.values()
    peak = spectrum.acceleration.max() / (50 * 9.81)
    assert 1.6 < peak < 1.7
    assert 0.7 < found.frequencies[np.argmax(spectrum.acceleration)] * 0.011 < 0.95
