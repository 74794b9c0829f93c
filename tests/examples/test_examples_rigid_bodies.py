"""The examples of rigid bodies make their numbers and pictures."""

import pytest


@pytest.mark.slow
def test_a_hammer_and_a_bar(run_script, tmp_path):
    """Against the exact velocity and force until the wave is back."""
    numbers = run_script("hammer_and_bar.py", tmp_path)
    for name in ("explicit Newmark", "Rattle", "energy-momentum", "energy-momentum, end without mass"):
        assert numbers[f"{name}: largest error of the velocity"] < 0.02
        assert numbers[f"{name}: error of the velocity, root of the mean square"] < 0.007
    for name in ("energy-momentum", "energy-momentum, end without mass"):
        assert numbers[f"{name}: largest change of the energy"] < 3e-12
    assert numbers["energy-momentum: error of the force, root of the mean square"] > 0.3  # it bounces
    name = "energy-momentum, end without mass"
    assert numbers[f"{name}: error of the force, root of the mean square"] < 0.02
    assert abs(numbers[f"{name}: mean error of the force"]) < 2e-3
    assert (tmp_path / "hammer_and_bar.png").stat().st_size > 20_000


@pytest.mark.slow
@pytest.mark.usefixtures("drawing")
def test_a_rigid_projectile(run_script, tmp_path):
    numbers = run_script("rigid_projectile.py", tmp_path)
    upwards, spin = (
        [numbers[f"{name}: {what}"] for name in ("explicit Newmark", "Rattle", "energy-momentum")]
        for what in ("velocity of the cylinder at the end, upwards [m/s]", "angular velocity at the end [rad/s]")
    )
    assert upwards == pytest.approx([9.68] * 3, abs=0.1)
    assert spin[:2] == pytest.approx([61.0] * 2, abs=3.0)
    # In its steps the cylinder moves by the distance of the contact: 50.6, 57.2 and 61.4 with 250, 125 and 10 µs.
    assert spin[2] == pytest.approx(61.0, abs=12.0)
    assert numbers["energy-momentum: largest change of the energy"] < 1e-12
    assert numbers["energy-momentum: steps"] * 50 == numbers["Rattle: steps"]
    for name in ("explicit Newmark", "Rattle"):
        assert 1e-9 < numbers[f"{name}: largest change of the energy"] < 1e-4
    for name in ("rigid_projectile.png", "rigid_projectile_histories.png"):
        assert (tmp_path / name).stat().st_size > 20_000
