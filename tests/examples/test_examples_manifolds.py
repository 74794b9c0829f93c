"""The examples of systems on manifolds make their numbers and pictures."""

import pytest


@pytest.mark.slow
def test_a_magnetised_body(run_script, tmp_path):
    numbers = run_script("magnetised_body.py", tmp_path)
    for name in ("Cayley, Euler", "Cayley, trapezoidal", "Zhang-Skeel, Euler", "Zhang-Skeel, trapezoidal"):
        assert numbers[f"{name}: greatest momentum along the field"] < 1e-13
        assert numbers[f"{name}: greatest energy"] < 0.2
    for name in ("Cayley, Euler", "Cayley, trapezoidal"):
        assert numbers[f"{name}: greatest |RᵀR − I|"] < 2e-15
        assert numbers[f"{name}: order"] == pytest.approx(2.0, abs=0.05)
    assert 0.01 < numbers["Zhang-Skeel, Euler: greatest |RᵀR − I|"] < 0.1
    assert numbers["Zhang-Skeel, trapezoidal: order"] == pytest.approx(2.0, abs=0.1)
    assert numbers["Zhang-Skeel, Euler: order"] == pytest.approx(1.0, abs=0.2)
    # As in Figure 10 the methods are as far from the reference as one another, and not far at first.
    assert numbers["Zhang-Skeel, Euler: |R − R'| at t = 5"] < 0.12
    assert numbers["Cayley, Euler: |R − R'| at t = 5"] < 0.12
    for name in ("magnetised_body.png", "magnetised_body_path.png"):
        assert (tmp_path / name).stat().st_size > 20_000
