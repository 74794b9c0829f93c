"""Two bars that hit each other, without mass where they touch."""

import pytest


@pytest.mark.usefixtures("drawing")
@pytest.mark.slow
def test_two_bars_exchange_their_velocities(run_script, tmp_path):
    numbers = run_script("two_bars.py", tmp_path)
    scatter, left = {}, {}
    for way in ("lumped mass", "lumped mass, contact nodes without", "mixed mass, contact nodes without"):
        assert numbers[f"{way}: largest relative change of the energy"] < 2e-12
        assert numbers[f"{way}: largest relative change of the momentum"] < 1e-12
        assert numbers[f"{way}: mean force in contact, over the exact one"] == pytest.approx(
            1.0, abs=0.005 if "without" in way else 0.02
        )
        scatter[way] = numbers[f"{way}: its scatter"]
        left[way] = numbers[f"{way}: energy left vibrating"]
    assert scatter["lumped mass"] > 0.5
    assert scatter["mixed mass, contact nodes without"] < 0.01
    assert left["lumped mass, contact nodes without"] > 0.02
    assert left["mixed mass, contact nodes without"] < 0.01
    assert (tmp_path / "two_bars.png").stat().st_size > 20_000
