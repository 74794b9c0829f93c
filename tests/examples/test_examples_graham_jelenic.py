"""The examples of Graham and Jelenić's methods make their numbers and pictures."""

import pytest


@pytest.mark.slow
def test_four_masses_on_springs(run_script, tmp_path):
    numbers = run_script("spring_mass.py", tmp_path)
    for case in ("free", "decaying force"):
        assert numbers[f"{case}: error of the reference"] < 1e-14
        for scheme, order, tolerance in (
            ("symplectic-momentum", 2, 0.15),
            ("energy-momentum", 2, 0.15),
            ("momentum-conserving-4", 4, 0.1),
            ("cayley-magnus-4", 4, 0.1),
            ("cayley-magnus-6", 6, 0.1),
            ("cayley-magnus-8", 8, 0.7),
        ):
            assert numbers[f"{case}, {scheme}: order"] == pytest.approx(order, abs=tolerance)
    for scheme in (
        "symplectic-momentum",
        "energy-momentum",
        "momentum-conserving-4",
        "cayley-magnus-4",
        "cayley-magnus-6",
        "cayley-magnus-8",
    ):
        assert numbers[f"free, {scheme}, dt = 1: error of momentum at the end"] < 1e-13
        assert numbers[f"free, {scheme}, dt = 1: error of angular momentum at the end"] < 1e-13
    # What the paper says in words: 12 to 15 % and 2 % in R, over 100 % in V, at Δt = 1.
    for scheme in ("symplectic-momentum", "energy-momentum"):
        for t in (10, 30):
            assert 0.12 < numbers[f"free, {scheme}, dt = 1, t = {t}: error in R"] < 0.17
        assert numbers[f"free, {scheme}, dt = 1, t = 10: error in V"] > 1.0
        # 3 % of one component, with the mean of the force at both ends as in the paper.
        end = numbers[f"decaying force at both ends, {scheme}, dt = 1: error of a component of momentum at the end"]
        assert end == pytest.approx(0.03, abs=0.005)
    assert 0.01 < numbers["free, momentum-conserving-4, dt = 1, t = 10: error in R"] < 0.03
    assert 0.01 < numbers["free, momentum-conserving-4, dt = 1, t = 30: error in R"] < 0.03
    assert numbers["decaying force, momentum-conserving-4, dt = 1: error of angular momentum at the end"] < 0.0006
    # "To nine significant digits."
    assert numbers["decaying force, momentum-conserving-4, dt = 1: error of a component of momentum at the end"] < 1e-9
    for name in ("spring_mass.png", "spring_mass_history.png", "spring_mass_paths.png"):
        assert (tmp_path / name).stat().st_size > 20_000


@pytest.mark.slow
@pytest.mark.usefixtures("drawing")
def test_a_spinning_block(run_script, tmp_path):
    numbers = run_script("spinning_block.py", tmp_path)
    assert numbers["error of the reference, or less [m]"] < 1e-13
    assert numbers["greatest principal stretch"] > 1.4
    base = numbers["least number of stable steps of explicit Newmark"]
    for scheme, order in (
        ("momentum-conserving-4", 4),
        ("cayley-magnus-4", 4),
        ("cayley-magnus-6", 6),
        ("cayley-magnus-8", 8),
    ):
        assert numbers[f"{scheme}: order"] == pytest.approx(order, abs=0.4)
        for steps in (base, 2 * base):
            assert numbers[f"{scheme}, {steps} steps: largest change of the momentum"] < 1e-13
            assert numbers[f"{scheme}, {steps} steps: largest change of the angular momentum"] < 1e-13
        assert 1e-13 < numbers[f"{scheme}, {2 * base} steps: largest change of the energy"] < 1e-5
    for method, order in (("", 2), (", composed to 4", 4), (", composed to 6", 6), (", composed to 8", 8)):
        assert numbers[f"explicit Newmark{method}: order"] == pytest.approx(order, abs=0.3)
    kept = [v for k, v in numbers.items() if k.startswith("energy-momentum") and k.endswith("change of the energy")]
    assert len(kept) == 8
    assert max(kept) < 1e-13
    # At one step, each higher order is more exact.
    errors = [
        numbers[f"{method}, {base} steps: error [m]"]
        for method in ("energy-momentum", "momentum-conserving-4", "cayley-magnus-6", "cayley-magnus-8")
    ]
    assert errors == sorted(errors, reverse=True)
    for name in ("spinning_block.png", "spinning_block_errors.png", "spinning_block_histories.png"):
        assert (tmp_path / name).stat().st_size > 20_000
