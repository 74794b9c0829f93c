"""The examples of the energy-preserving variational integrator make the numbers that its documentation claims."""

import pytest


@pytest.mark.slow
def test_the_double_well(run_script, tmp_path):
    numbers = run_script("double_well.py", tmp_path)
    for start in ("0.74", "0.995"):
        for first in ("0.01", "0.1"):
            name = f"{start}, {first} s: "
            assert numbers[name + "largest error of the discrete energy [J]"] < 1e-15
            adaptive, fixed = (numbers[name + f"largest error of the position{of} [m]"] for of in ("", ", fixed step"))
            assert 0.5 * fixed < adaptive < fixed
    fixed = "largest error of the discrete energy, fixed step [J]"
    assert numbers["0.74, 0.01 s: " + fixed] == pytest.approx(1e-8, rel=0.3)  # as printed
    assert 1e-6 < numbers["0.995, 0.01 s: " + fixed] < 1e-4
    assert numbers["0.995, 0.01 s: greatest step over the first"] == pytest.approx(4.63, rel=0.01)
    assert numbers["0.995, 0.01 s: h³ D, greatest over least"] < 1.1
    for start in ("0.74", "0.995"):
        coarse, fine = (numbers[f"{start}, {h} s: least condition number"] for h in (0.1, 0.01))
        assert fine / coarse == pytest.approx(10.0, rel=0.05)
    assert numbers["1.05: stopped at [s]"] == pytest.approx(1.506, abs=0.002)
    changes = numbers["1.05: where D of the exact motion changes its sign [s]"]
    assert 0.0 < changes - numbers["1.05: stopped at [s]"] < 0.01 * numbers["1.05: last step over the first"]
    assert "no step exists" in numbers["1.05: what it says"]
    assert (tmp_path / "double_well.png").stat().st_size > 20_000


@pytest.mark.slow
def test_forced_and_damped_oscillators(run_script, tmp_path):
    numbers = run_script("forced_oscillators.py", tmp_path)
    for ratio in ("0.1", "5.0"):
        for which in ("least", "greatest"):
            step, printed = (numbers[f"ratio {ratio}: {which} step [s]{of}"] for of in ("", " (paper)"))
            assert step == pytest.approx(printed, rel=0.07)
    runs = [f"ratio {ratio}" for ratio in (0.1, 2.0, 5.0)] + [f"damping {zeta}" for zeta in (0.01, 0.05, 0.1, -0.05)]
    for run in runs:
        kept, fixed = (
            numbers[f"{run}: largest error of discrete energy less work, {of} [J]"] for of in ("adaptive", "fixed")
        )
        assert kept < 1e-14
        assert fixed > 1e-6
        # The energy of the motion is met as well by fixed steps, unless the load's part is left out.
        adaptive, fixed, without = (
            numbers[f"{run}: largest error of the energy{of} [J]"]
            for of in (", adaptive", ", fixed", " without the load's part, fixed")
        )
        assert 0.3 < adaptive / fixed < 2.0
        assert without > 2.5 * fixed
        assert numbers[f"{run}: h² D, greatest over least"] < 1.003
    for zeta in (0.01, 0.05, 0.1):
        assert numbers[f"damping {zeta}: least change of a step, relative"] > 0.0
    assert numbers["damping -0.05: last step over the first"] < 0.7
    for name in ("forced", "damped"):
        assert (tmp_path / f"{name}_oscillators.png").stat().st_size > 20_000


@pytest.mark.slow
def test_the_impact_and_the_mast(run_script, tmp_path):
    numbers = run_script("impact_variational.py", tmp_path)
    for run in ("mast, adaptive", "mast, adaptive, damped"):
        for name in ("kept energy", "momentum", "angular momentum"):
            assert numbers[f"{run}: largest relative change of the {name}"] < 1e-14
        assert numbers[f"{run}: held steps"] == 0
        assert numbers[f"{run}: least indicator [J/s²]"] > 1e4
    assert numbers["mast, fixed step: largest relative change of the kept energy"] > 1e-4
    assert numbers["mast, adaptive, damped: last step over the first"] > 1.5
    carried, let_go = "cube, adaptive, defect carried", "cube, adaptive, defect let go"
    above = "held steps with a relative defect above 1e-9"
    assert numbers[f"{carried}: {above}"] > 300
    assert 0 < numbers[f"{let_go}: {above}"] < 20
    assert numbers[f"{let_go}: held steps"] > 20  # the free flight
    assert numbers[f"{let_go}: last step over the first"] < 0.5
    for run in (carried, let_go, "cube, fixed step"):
        assert numbers[f"{run}: largest relative change of the total energy"] > 1e-3
    assert numbers["cube, energy-momentum: largest relative change of the total energy"] < 1e-13
    assert (tmp_path / "impact_variational.png").stat().st_size > 20_000
