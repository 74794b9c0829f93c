"""The examples of Zhang and Skeel's methods, by what they claim."""

import pytest


@pytest.mark.slow
def test_impact_and_truss_by_zhang_skeel(run_script, tmp_path):
    numbers = run_script("impact_zhang_skeel.py", tmp_path)
    # mass points: exactly elastic at β = ½ and 1, in the stiff limit
    for beta in ("1/2", "1"):
        for end in ("least", "greatest"):
            assert numbers[f"points, beta = {beta}: {end} speed after / before"] == pytest.approx(1.0, abs=1e-5)
    assert numbers["points, beta = 1/4: least speed after / before"] < 0.4
    assert numbers["points, beta = 1/4: greatest speed after / before"] > 2.5

    # the cube
    assert numbers["cube I: explicit limit [ns]"] == pytest.approx(16.77, rel=1e-3)
    assert numbers["cube I: the same of the body alone [ns]"] > 100.0 * numbers["cube I: explicit limit [ns]"]
    for times in (6, 15, 30):
        for variant in ("full", "eq. 19"):
            run = f"cube I, {variant}, beta = 1/2, {times} x limit"
            assert abs(numbers[f"{run}: change of the energy by the impact, relative"]) < 0.1
            assert numbers[f"{run}: speed away from the wall after / towards it before"] == pytest.approx(
                0.945, abs=0.06
            )
            assert numbers[f"{run}: largest change of the momentum along x, relative"] < 1e-14
        quarter = f"cube I, full, beta = 1/4, {times} x limit"
        if f"{quarter}: stopped" not in numbers:
            assert numbers[f"{quarter}: change of the energy by the impact, relative"] > 0.5
    assert abs(numbers["cube I, energy-momentum, 30 x limit: change of the energy by the impact, relative"]) < 1e-11
    assert (
        numbers["cube I, explicit Newmark, 0.2 x limit: steps"]
        > 70 * numbers["cube I, full, beta = 1/2, 15 x limit: steps"]
    )

    # the truss
    for times, error in ((12, 5e-5), (25, 2e-4), (50, 2e-3)):
        for method in ("full, beta = 0.4", "eq. 19, beta = 1/2"):
            assert numbers[f"truss, {method}, {times} x limit: largest error of the tip [m]"] < error
        run = f"truss, full, beta = 0.4, {times} x limit: largest change of the"
        assert numbers[f"{run} modified energy, relative"] < 0.2 * numbers[f"{run} energy, relative"]
    assert "not positive definite" in numbers["truss, full, beta = 0.4, 100 x limit: stopped"]
    assert (tmp_path / "impact_zhang_skeel.png").stat().st_size > 20_000


@pytest.mark.slow
def test_dna_strands_open_with_large_steps_as_with_small_ones(run_script, tmp_path):
    numbers = run_script("dna_chain.py", tmp_path)
    assert numbers["closed angle"] == pytest.approx(numbers["closed angle (paper)"], abs=1e-3)
    verlet, large = "Verlet, h = 0.2", "Zhang-Skeel, h = 2"
    for name in (verlet, large):
        assert numbers[f"{name}: strands that open, of 4"] == 4
        assert numbers[f"{name}: farthest mean angle"] == pytest.approx(5.5, abs=0.3)  # the other closed state
    assert numbers[f"{large}: median time of opening"] == pytest.approx(
        numbers[f"{verlet}: median time of opening"], rel=0.2
    )
    # "the Z&S energy is lower than the benchmark because fast oscillations are damped by large time-steps"
    assert numbers[f"{large}: mean energy in the second half"] < 0.75 * numbers[f"{large}: energy at first"]
    assert numbers[f"{verlet}: mean energy in the second half"] > 0.97 * numbers[f"{verlet}: energy at first"]
    assert abs(numbers[f"{large}: drift of the modified energy from the first to the second half, relative"]) < 0.05
    assert (tmp_path / "dna_chain.png").stat().st_size > 20_000
