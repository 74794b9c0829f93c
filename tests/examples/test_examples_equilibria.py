"""The examples of relative equilibria run, draw their pictures and make their numbers."""

import numpy as np
import pytest


@pytest.mark.slow
def test_a_truss_in_relative_equilibrium(run_script, tmp_path):
    numbers = run_script("truss_equilibrium.py", tmp_path)
    assert numbers["stretch"] == pytest.approx(numbers["stretch (paper)"], abs=6e-11)
    step = "dt = 1/4"
    for name, what, formula in (
        ("energy-momentum", "lambda_r", "energy-momentum: lambda_r by eq. 6.5"),
        ("momentum-conserving-4", "lambda_r", "momentum-conserving-4: lambda_r by eq. 6.10"),
        ("energy-momentum-exact-angle", "lambda_t", "energy-momentum-exact-angle: lambda_t by eq. 6.15"),
    ):
        assert numbers[f"{name}, {step}: mean {what}"] == pytest.approx(numbers[formula], abs=1e-12)
    for name in (
        "energy-momentum",
        "energy-momentum-exact-angle",
        "exact-steady-motion",
        "momentum-conserving-4",
    ):  # these keep paths of relative equilibria, and energy on them
        assert numbers[f"{name}, {step}: largest deformation"] < 1e-12
        assert numbers[f"{name}, {step}: greatest lambda_r"] - numbers[f"{name}, {step}: least lambda_r"] < 1e-11
        assert numbers[f"{name}, {step}: largest relative change of the energy"] < 1e-11
    assert numbers[f"symplectic-momentum, {step}: largest deformation"] > 0.01
    assert 1e-10 < numbers[f"cayley-magnus-6, {step}: largest deformation"] < 1e-7
    for name in (
        "symplectic-momentum",
        "energy-momentum",
        "energy-momentum-exact-angle",
        "exact-steady-motion",
        "momentum-conserving-4",
        "cayley-magnus-6",
    ):
        assert numbers[f"{name}, {step}: largest change of the momentum"] < 1e-12
        assert numbers[f"{name}, {step}: largest change of the angular momentum"] < 1e-11
    for name in ("energy-momentum-exact-angle", "exact-steady-motion", "momentum-conserving-4", "cayley-magnus-6"):
        assert numbers[f"{name}, {step}: mean lambda_r"] == pytest.approx(1.0, abs=4e-5)
    for t in (3, 6, 9):  # Table 2; |ω| is 1
        late = {
            name: numbers[f"table 2, {name}: lag of the angle at t = {t} [rad]"]
            for name in ("symplectic-momentum", "energy-momentum")
        }
        assert late["energy-momentum"] == pytest.approx((1 - np.arctan(0.125) / 0.125) * t, abs=1e-12)
        assert late["symplectic-momentum"] == pytest.approx(0.019 * t, rel=0.02)
        for name, digits in (
            ("symplectic-momentum", 5.1e-4),
            ("energy-momentum", 5.1e-5),
            ("energy-momentum-exact-angle", 5.1e-5),
            ("exact-steady-motion", 5.1e-5),
        ):
            key = f"table 2, {name}: {{}} at t = {t}{{}}"
            for ours, papers in (("lag of the angle", "period error"), ("translation ahead", "translation error")):
                unit = " [rad]" if ours.startswith("lag") else " [m]"
                printed = numbers[key.format(papers, " (paper)")]
                assert numbers[key.format(ours, unit)] == pytest.approx(printed, abs=digits)
        for name, distance in (
            ("symplectic-momentum", 0.0),
            ("energy-momentum", 0.0),
            ("energy-momentum-exact-angle", (np.tan(0.125) / 0.125 - 1) * 0.75 * t),
        ):
            assert numbers[f"table 2, {name}: translation ahead at t = {t} [m]"] == pytest.approx(distance, abs=1e-11)
        for name in ("energy-momentum-exact-angle", "exact-steady-motion"):
            assert abs(numbers[f"table 2, {name}: lag of the angle at t = {t} [rad]"]) < 1e-11
        assert abs(numbers[f"table 2, exact-steady-motion: translation ahead at t = {t} [m]"]) < 1e-13
    for t in (3, 9):
        for what, exact in (
            ("R", ("exact-steady-motion",)),
            ("V", ("exact-steady-motion", "energy-momentum-exact-angle")),
        ):
            for name, order in (
                ("symplectic-momentum", 2),
                ("energy-momentum", 2),
                ("momentum-conserving-4", 4),
                ("cayley-magnus-6", 6),
            ):
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
        ("energy-momentum", exact, 1e-12),
        ("energy-momentum-exact-angle", 1.0, 1e-10),
        ("exact-steady-motion", 1.0, 1e-10),
        ("momentum-conserving-4", 1.0 - 5.21e-8, 1e-10),
        ("cayley-magnus-6", 1.0, 1e-7),
    ):
        assert numbers[f"steady, {name}: mean lambda_r"] == pytest.approx(lambda_r, abs=1e-9)
        assert numbers[f"steady, {name}: largest deformation"] < deformation
    assert numbers["steady, symplectic-momentum: largest deformation"] > 1e-4
    assert 1.0 - numbers["steady, symplectic-momentum: mean lambda_r"] > 3.0 * (1.0 - exact)
    for which in ("steady", "shaken"):
        for name in (
            "symplectic-momentum",
            "energy-momentum",
            "energy-momentum-exact-angle",
            "exact-steady-motion",
            "momentum-conserving-4",
            "cayley-magnus-6",
        ):
            assert numbers[f"{which}, {name}: largest relative change of the momentum"] < 1e-13
            assert numbers[f"{which}, {name}: largest relative change of the angular momentum"] < 1e-9
    for name in ("energy-momentum", "energy-momentum-exact-angle"):
        assert numbers[f"shaken, {name}: largest relative change of the energy"] < 1e-11
    distance = {
        name: numbers[f"shaken, {name}: distance from the reference at the end [m]"]
        for name in (
            "symplectic-momentum",
            "energy-momentum",
            "energy-momentum-exact-angle",
            "exact-steady-motion",
            "momentum-conserving-4",
            "cayley-magnus-6",
        )
    }
    assert max(distance["momentum-conserving-4"], distance["cayley-magnus-6"]) < 0.5 * min(
        distance[name] for name in ("symplectic-momentum", "energy-momentum", "exact-steady-motion")
    )
    assert (tmp_path / "ring_truss.png").stat().st_size > 20_000
    assert (tmp_path / "ring_truss_histories.png").stat().st_size > 20_000
