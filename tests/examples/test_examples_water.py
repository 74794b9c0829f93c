"""Clusters of water: the model, and the numbers of Tao and Owhadi (2014), section 4.3."""

import numpy as np
import pytest

import symplex as sx


@pytest.fixture(scope="module")
def tip3p(load_example):
    """Import the module that both examples share."""
    return load_example("tip3p.py")


def test_the_energy_is_that_of_the_model(tip3p):
    """Equation 24, by a loop over molecules, in kcal/mol and Å with the constants of Jorgensen et al."""
    cluster = tip3p.Cluster(3, energy=tip3p.KCAL)
    q = cluster.droplet(seed=3)
    expected = 0.0
    for a in range(3):
        for b in range(a):
            for i in range(3):
                for j in range(3):
                    r = np.linalg.norm(q[3 * a + i] - q[3 * b + j])
                    expected += 332.06 * tip3p.CHARGES[i] * tip3p.CHARGES[j] / r
            r = np.linalg.norm(q[3 * a + 1] - q[3 * b + 1])
            expected += 582e3 / r**12 - 595.0 / r**6
    assert cluster.rigid.potential(q) == pytest.approx(expected, rel=1e-4)
    assert cluster.penalised(20.0).potential(q) == pytest.approx(cluster.rigid.potential(q), rel=1e-12)
    assert tip3p.Cluster(3).rigid.potential(q) == pytest.approx(expected * tip3p.KCAL, rel=1e-4)
    assert cluster.femtoseconds == pytest.approx(48.888, abs=1e-3)


def test_the_penalties_are_those_of_the_paper(tip3p):
    """Equation 26, and the bars of Green's strain are the penalty of the constraints."""
    cluster = tip3p.Cluster(2)
    q = cluster.droplet() + 0.02 * np.random.default_rng(0).standard_normal((6, 3))
    d = q[cluster.rods.nodes[:, 1]] - q[cluster.rods.nodes[:, 0]]
    expected = 0.5 * 20.0**2 * np.sum((np.sum(d**2, axis=1) - np.tile([0.9572, 0.9572, 1.5139], 2) ** 2) ** 2)
    assert cluster.penalised(20.0).energies["molecules"].total(q) == pytest.approx(expected, rel=1e-3)
    assert cluster.penalty(20.0).total(q) == pytest.approx(expected, rel=1e-3)


def test_two_molecules_make_the_dimer_of_the_literature(tip3p):
    """Jorgensen et al. (1983): -6.50 kcal/mol, oxygens 2.74 Å apart."""
    cluster = tip3p.Cluster(2, energy=tip3p.KCAL)
    state = cluster.equilibrated(1200, 0.15, temperature=0.0)
    assert cluster.rigid.kinetic(state.v) < 2e-3
    assert cluster.rigid.potential(state.q) == pytest.approx(-6.50, abs=0.05)
    assert cluster.oxygen_distances(state.q)[0] == pytest.approx(2.74, abs=0.015)


def test_soft_and_rigid_molecules_move_alike(tip3p):
    """With stiffer springs and smaller steps the penalised motion tends to the constrained one."""
    cluster = tip3p.Cluster(3)
    start = cluster.equilibrated(300, 0.1)
    limit = cluster.rattle(0.01).start(cluster.rigid, start).advance(2.0)
    differences = []
    for omega, dt in ((20.0, 0.02), (80.0, 0.005)):
        system = cluster.penalised(omega)
        state = tip3p.zhang_skeel(dt).start(system, system.state(start.q, start.v)).advance(2.0)
        differences.append(np.abs(state.q - limit.q).max())
    assert differences[1] < 0.2 * differences[0] < 0.01


def test_histograms_are_densities(tip3p):
    edges = np.linspace(0.0, 4.0, 9)
    density = tip3p.histogram(np.array([0.1, 1.1, 1.2, 3.0]), edges)
    assert np.sum(density * np.diff(edges)) == pytest.approx(1.0)
    cluster = tip3p.Cluster(4)
    q = cluster.droplet()
    i, j = np.triu_indices(4, 1)
    expected = np.linalg.norm(q[1::3][i] - q[1::3][j], axis=1)
    np.testing.assert_allclose(cluster.oxygen_distances(np.array([q, 2.0 * q])), [expected, 2.0 * expected])
    assert cluster.neighbours(q) == pytest.approx(2.0)  # at the corners of a square


@pytest.mark.slow
def test_seven_molecules(run_script, tmp_path):
    numbers = run_script("water.py", tmp_path)
    assert numbers["kT = 0.02 in K"] == pytest.approx(232.0, abs=0.2)
    for name in ("RATTLE", "Zhang-Skeel"):
        assert numbers[f"{name}: most frequent distance [Å]"] == pytest.approx(2.8, abs=0.11)
        assert -7.5 < numbers[f"{name}: energy of a molecule [kcal/mol]"] < -5.0
        assert numbers[f"{name}: kinetic temperature / T"] == pytest.approx(1.0, abs=0.3)
        assert numbers[f"{name}: largest change of momentum"] < 1e-12
    assert numbers["difference of the distributions (0: none, 1: disjoint)"] < 0.3
    # Figure 5: averages are close to SHAKE's multipliers, those at one time are not.
    by_average = numbers["multipliers by averages: mean difference"]
    assert by_average < 0.1 * numbers["multipliers: root mean square by SHAKE [eV/Å²]"]
    assert numbers["multipliers without averages: mean difference"] > 5.0 * by_average
    assert numbers["multipliers by averages at h = 0.05: mean difference"] > 100.0 * by_average
    # Figure 6: RATTLE keeps everything, the simplified method nearly, one iteration of Newton's method does not do.
    assert numbers["RATTLE: spread of the energy / kT"] < 0.01
    assert 0.01 < numbers["Zhang-Skeel: spread of the energy / kT"] < 0.1
    assert abs(numbers["Zhang-Skeel: drift of the energy from the first to the last quarter / kT"]) < 0.05
    assert numbers["one-iteration Newmark: spread of the energy / kT"] > 1.0
    assert numbers["one iteration, predicted: spread of the energy / kT"] < 0.05
    assert numbers["RATTLE: largest change of angular momentum"] < 1e-11
    assert 1e-4 < numbers["Zhang-Skeel: largest change of angular momentum"] < 0.02
    assert numbers["RATTLE: largest error of a distance in a molecule [Å]"] < 1e-12
    assert numbers["Zhang-Skeel: largest error of a distance in a molecule [Å]"] < 0.01
    for name in ("water", "water_conservation"):
        assert (tmp_path / f"{name}.png").stat().st_size > 20_000


@pytest.mark.slow
def test_a_hundred_molecules(run_script, tmp_path):
    numbers = run_script("water_100.py", tmp_path)
    for name in ("RATTLE", "Zhang-Skeel"):
        assert -10.0 < numbers[f"{name}: energy of a molecule [kcal/mol]"] < -7.0
        assert 3.0 < numbers[f"{name}: neighbours within 3.5 Å"] < 5.5
    assert numbers["difference of the distributions (0: none, 1: disjoint)"] < 0.05
    assert numbers["SHAKE, no friction and noise: largest error of a distance in a molecule [Å]"] < 1e-12
    assert numbers["Zhang-Skeel: largest error of a distance in a molecule [Å]"] < 0.03
    assert (tmp_path / "water_100.png").stat().st_size > 20_000


def test_the_large_clusters_matrix_is_solved_molecule_by_molecule(tip3p):
    """Nine coordinates of a molecule depend on each other, and no more: the solver's band is that narrow."""
    cluster = tip3p.Cluster(100)
    system = cluster.penalised()
    force = sx.variational.ModifiedForce(system, tip3p.BETA, "simplified", ("molecules",))
    q = cluster.droplet()
    a = force.accelerations(q, tip3p.STEP)
    assert len(force.stiff.pattern.indices) == 9 * cluster.n
    hessian = force.stiff.hessian(q).toarray()
    masses, gradient = np.repeat(cluster.mass, 3), system.gradient(q).ravel()
    for k in (0, 57):
        own = slice(9 * k, 9 * k + 9)
        matrix = np.diag(masses[own]) + tip3p.BETA * tip3p.STEP**2 * hessian[own, own]
        np.testing.assert_allclose(a.ravel()[own], -np.linalg.solve(matrix, gradient[own]), rtol=1e-9, atol=1e-9)
