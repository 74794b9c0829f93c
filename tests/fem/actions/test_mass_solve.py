"""Accelerations with a consistent mass: exact to round-off, momentum kept, at any size and for any elements."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from symplex.errors import InvalidSystem
from symplex.fem.actions.mass import consistent_bar_mass, consistent_mass
from symplex.fem.actions.mass_solve import MassSolver
from symplex.fem.measures.bars import Bars, EngineeringStrain
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.system import System
from symplex.meshes.generate import box, ring
from symplex.meshes.midside_nodes import quadratic
from symplex.time.conserving.energy_momentum import EnergyMomentum


def of_solid(kind):
    mesh = box((1.0, 0.7, 0.4), (4, 3, 2), split="hexahedra" if kind == "hexahedron" else "24")
    mesh = quadratic(mesh) if kind == "tetra10" else mesh
    points = mesh.points + 0.02 * np.random.default_rng(0).uniform(-1, 1, mesh.points.shape) * (kind != "tetra10")
    return consistent_mass(points, mesh.cells[kind], 2700.0, len(points))


def of_bars(dim=2):
    mesh = ring(1.0, 40)
    return consistent_bar_mass(mesh.points[:, :dim], mesh.cells["line"], 7800.0, 1e-4, 40)


MASSES = {
    **{kind: (lambda kind=kind: of_solid(kind)) for kind in ("tetra", "tetra10", "hexahedron")},
    "bars": of_bars,
}


@pytest.mark.parametrize("kind", MASSES)
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_accelerations_are_exact_to_round_off_and_keep_the_sum(kind, dim):
    mass = MASSES[kind]()
    n = len(mass.diagonal())
    force = np.random.default_rng(1).standard_normal((n, dim)) * [1.0, 1e-8, 1e6][:dim]
    force -= force.mean(axis=0)  # as of forces within a body
    a = MassSolver(mass, np.zeros((n, dim), bool)).solve(force)
    left = force - mass @ a
    # of each direction by itself, however small its force is
    assert np.all(np.linalg.norm(left, axis=0) < 2e-15 * np.linalg.norm(force, axis=0))
    assert np.all(np.abs(left.sum(axis=0)) < 1e-15 * np.abs(force).sum(axis=0))
    exact = np.linalg.solve(mass.toarray(), force)
    assert np.all(np.abs(a - exact).max(axis=0) < 1e-13 * np.abs(exact).max(axis=0))


def test_fixed_coordinates_have_no_acceleration_and_the_others_are_solved_without_them():
    mass = of_solid("tetra")
    n = len(mass.diagonal())
    fixed = np.random.default_rng(2).random((n, 3)) < 0.2
    fixed[:, 2] = True
    force = np.random.default_rng(3).standard_normal((n, 3))
    a = MassSolver(mass, fixed).solve(force)
    assert not a[fixed].any()
    for axis in range(2):
        free = ~fixed[:, axis]
        exact = np.linalg.solve(mass.toarray()[np.ix_(free, free)], force[free, axis])
        np.testing.assert_allclose(a[free, axis], exact, rtol=0, atol=1e-13 * np.abs(exact).max())


def test_solutions_do_not_depend_on_what_was_solved_before():
    mass = of_solid("tetra10")
    n = len(mass.diagonal())
    force, other = np.random.default_rng(4).standard_normal((2, n, 3))
    solver = MassSolver(mass, np.zeros((n, 3), bool))
    first = solver.solve(force)
    solver.solve(other)
    np.testing.assert_array_equal(solver.solve(force), first)
    assert not solver.solve(np.zeros((n, 3))).any()
    assert np.isnan(solver.solve(np.full((n, 3), np.inf))).all()  # which a motion refuses
    one = np.zeros((n, 3))
    one[5, 1] = 1e-300 / 1e100  # of no account, nor the two other directions
    assert np.isfinite(solver.solve(one)).all()


@pytest.mark.parametrize("size", [2.0**-600, 2.0**-510, 2.0**600])
def test_the_size_of_forces_does_not_matter(size):
    """Squares of these forces vanish, are rounded to a few digits, or overflow."""
    mass = of_solid("tetra")
    n = len(mass.diagonal())
    force = np.random.default_rng(6).standard_normal((n, 3))
    solver = MassSolver(mass, np.zeros((n, 3), bool))
    np.testing.assert_array_equal(solver.solve(force * [1.0, size, size]), solver.solve(force) * [1.0, size, size])


@pytest.mark.parametrize(("kind", "most"), [("tetra", 45), ("tetra10", 90), ("hexahedron", 90)])
def test_iterations_do_not_grow_with_the_mesh_nor_with_its_grading(kind, most):
    cells = 5 if kind == "tetra10" else 10
    mesh = box((1.0, 1.0, 1.0), (cells,) * 3, split="hexahedra" if kind == "hexahedron" else "24")
    mesh = replace(mesh, points=mesh.points**3 + 1e-3 * mesh.points)  # elements differ by some 10⁷ in volume
    mesh = quadratic(mesh) if kind == "tetra10" else mesh
    mass = consistent_mass(mesh.points, mesh.cells[kind], 1.0, len(mesh.points))
    solver = MassSolver(mass, np.zeros_like(mesh.points, bool))
    solver.solve(np.random.default_rng(5).standard_normal(mesh.points.shape))
    assert 20 < solver.iterations < most


def test_masses_that_are_none_are_refused():
    free = np.zeros((2, 1), bool)
    with pytest.raises(InvalidSystem, match="not symmetric"):
        MassSolver(sp.csr_array([[1.0, 0.5], [0.0, 1.0]]), free)
    indefinite = MassSolver(sp.csr_array([[1.0, 2.0], [2.0, 1.0]]), free)
    with pytest.raises(InvalidSystem, match="not positive definite"):
        indefinite.solve(np.array([[1.0], [-1.0]]))


@pytest.mark.parametrize("kind", ["tetra", "bars"])
def test_motions_with_consistent_mass_keep_their_momenta_and_energy(kind):
    if kind == "bars":
        mesh = ring(1.0, 24)
        points, pairs = np.ascontiguousarray(mesh.points[:, :2]), mesh.cells["line"]
        lengths = np.linalg.norm(points[pairs[:, 1]] - points[pairs[:, 0]], axis=1)
        mass, dim, dt = consistent_bar_mass(points, pairs, 1.0, 1.0, 24), 2, 0.05
        energy = Bars(pairs, EngineeringStrain(50.0 / lengths, lengths), dim=2)
    else:
        mesh = box((1.0, 1.0, 1.0), (2, 1, 1))
        points, mass = mesh.points, consistent_mass(mesh.points, mesh.cells["tetra"], 1.0, len(mesh.points))
        energy, dim, dt = Solid(points, mesh.cells["tetra"], NeoHookean(30.0, 20.0, 1.0)), 3, 0.05
    system = System(mass, {"body": energy}, dim=dim)
    rng = np.random.default_rng(6)
    v = 0.3 * rng.standard_normal(points.shape) + 0.5
    state = system.state(points, v)
    motion = EnergyMomentum(dt).start(system, state)
    before = system.momentum(state), system.angular_momentum(state), system.energies_of(state)["total"]
    end = motion.advance(200 * dt)
    after = system.momentum(end), system.angular_momentum(end), system.energies_of(end)["total"]
    scale = np.abs(system.apply_mass(v)).sum()
    assert np.abs(after[0] - before[0]).max() < 1e-14 * scale
    assert np.abs(after[1] - before[1]).max() < 1e-13 * scale * 10.0
    assert abs(after[2] - before[2]) < 1e-12 * before[2]
