"""The examples of relative equilibria run, draw their pictures and make their numbers."""

import numpy as np
import pytest


def test_a_truss_in_relative_equilibrium(run_script, tmp_path):
    numbers = run_script("truss_equilibrium.py", tmp_path)
    assert numbers["stretch"] == pytest.approx(numbers["stretch (paper)"], abs=6e-11)
    step = "dt = 1/4"
    for name, what, formula in (
        ("EM", "lambda_r", "EM: lambda_r by eq. 6.5"),
        ("M4", "lambda_r", "M4: lambda_r by eq. 6.10"),
        ("EM-theta", "lambda_t", "EM-theta: lambda_t by eq. 6.15"),
    ):
        assert numbers[f"{name}, {step}: mean {what}"] == pytest.approx(numbers[formula], abs=1e-12)
    for name in ("EM", "EM-theta", "A-theta", "M4"):  # these keep paths of relative equilibria, and energy on them
        assert numbers[f"{name}, {step}: largest deformation"] < 1e-12
        assert numbers[f"{name}, {step}: greatest lambda_r"] - numbers[f"{name}, {step}: least lambda_r"] < 1e-11
        assert numbers[f"{name}, {step}: largest relative change of the energy"] < 1e-11
    assert numbers[f"SM, {step}: largest deformation"] > 0.01
    assert 1e-10 < numbers[f"CM6, {step}: largest deformation"] < 1e-7
    for name in ("SM", "EM", "EM-theta", "A-theta", "M4", "CM6"):
        assert numbers[f"{name}, {step}: largest change of the momentum"] < 1e-12
        assert numbers[f"{name}, {step}: largest change of the angular momentum"] < 1e-11
    for name in ("EM-theta", "A-theta", "M4", "CM6"):
        assert numbers[f"{name}, {step}: mean lambda_r"] == pytest.approx(1.0, abs=4e-5)
    for t in (3, 6, 9):  # Table 2; |ω| is 1
        late = {name: numbers[f"table 2, {name}: lag of the angle at t = {t} [rad]"] for name in ("SM", "EM")}
        assert late["EM"] == pytest.approx((1 - np.arctan(0.125) / 0.125) * t, abs=1e-12)
        assert late["SM"] == pytest.approx(0.019 * t, rel=0.02)
        for name, digits in (("SM", 5.1e-4), ("EM", 5.1e-5), ("EM-theta", 5.1e-5), ("A-theta", 5.1e-5)):
            key = f"table 2, {name}: {{}} at t = {t}{{}}"
            for ours, papers in (("lag of the angle", "period error"), ("translation ahead", "translation error")):
                unit = " [rad]" if ours.startswith("lag") else " [m]"
                printed = numbers[key.format(papers, " (paper)")]
                assert numbers[key.format(ours, unit)] == pytest.approx(printed, abs=digits)
        for name, distance in (("SM", 0.0), ("EM", 0.0), ("EM-theta", (np.tan(0.125) / 0.125 - 1) * 0.75 * t)):
            assert numbers[f"table 2, {name}: translation ahead at t = {t} [m]"] == pytest.approx(distance, abs=1e-11)
        for name in ("EM-theta", "A-theta"):
            assert abs(numbers[f"table 2, {name}: lag of the angle at t = {t} [rad]"]) < 1e-11
        assert abs(numbers[f"table 2, A-theta: translation ahead at t = {t} [m]"]) < 1e-13
    for t in (3, 9):
        for what, exact in (("R", ("A-theta",)), ("V", ("A-theta", "EM-theta"))):
            for name, order in (("SM", 2), ("EM", 2), ("M4", 4), ("CM6", 6)):
                errors = [numbers[f"{name}, dt = 1/{n}: error of {what} at t = {t}"] for n in (4, 16)]
                assert np.log(errors[0] / errors[1]) / np.log(4) == pytest.approx(order, abs=0.6)
            for name in exact:
                assert numbers[f"{name}, {step}: error of {what} at t = {t}"] < 1e-12
    assert (tmp_path / "truss_equilibrium.png").stat().st_size > 20_000
    assert (tmp_path / "truss_equilibrium_errors.png").stat().st_size > 20_000


@pytest.mark.slow
def test_a_ring_truss(run_script, tmp_path):
    numbers = run_script("ring_truss.py", tmp_path)
    assert numbers["bars"] >= 1000
    assert numbers["largest unbalanced force over the largest tension"] < 1e-10
    exact = numbers["energy-momentum: lambda_r by eq. 6.5"]
    for name, lambda_r, deformation in (
        ("EM", exact, 1e-12),
        ("EM-theta", 1.0, 1e-10),
        ("A-theta", 1.0, 1e-10),
        ("M4", 1.0 - 5.21e-8, 1e-10),
        ("CM6", 1.0, 1e-7),
    ):
        assert numbers[f"steady, {name}: mean lambda_r"] == pytest.approx(lambda_r, abs=1e-9)
        assert numbers[f"steady, {name}: largest deformation"] < deformation
    assert numbers["steady, SM: largest deformation"] > 1e-4
    assert 1.0 - numbers["steady, SM: mean lambda_r"] > 3.0 * (1.0 - exact)
    for which in ("steady", "shaken"):
        for name in ("SM", "EM", "EM-theta", "A-theta", "M4", "CM6"):
            assert numbers[f"{which}, {name}: largest relative change of the momentum"] < 1e-13
            assert numbers[f"{which}, {name}: largest relative change of the angular momentum"] < 1e-9
    for name in ("EM", "EM-theta"):
        assert numbers[f"shaken, {name}: largest relative change of the energy"] < 1e-11
    distance = {
        name: numbers[f"shaken, {name}: distance from the reference at the end [m]"]
        for name in ("SM", "EM", "EM-theta", "A-theta", "M4", "CM6")
    }
    assert max(distance["M4"], distance["CM6"]) < 0.5 * min(distance[name] for name in ("SM", "EM", "A-theta"))
    assert (tmp_path / "ring_truss.png").stat().st_size > 20_000
    assert (tmp_path / "ring_truss_histories.png").stat().st_size > 20_000
