"""Sparse factors where they are cheaper than iterations: their size, their use for other matrices, and the choice."""

import numpy as np
import pytest

from symplex.errors import StepFailed
from symplex.fem.actions.mass import lumped_mass
from symplex.fem.assembly.pattern import Pattern
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.system import System
from symplex.meshes.generate import box
from symplex.testing import round_off
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.implicit.generalized_alpha import HilberHughesTaylor
from symplex.time.solvers.automatic import AutomaticSolver
from symplex.time.solvers.conjugate_residuals import conjugate_residuals
from symplex.time.solvers.direct import SparseSolver
from symplex.time.solvers.fill import fill_of, minimum_degree_order
from symplex.time.solvers.iterative import KrylovSolver


def graph(n, seed=0):
    rng = np.random.default_rng(seed)
    return Pattern(n, [np.array([rng.choice(n, 2, replace=False) for _ in range(2 * n)], np.int32)])


def filled(pattern, nodes):
    """Which blocks [n, n] the lower factor holds: by elimination of the nodes one after the other."""
    n = pattern.n_nodes
    there = pattern.matrix(np.ones((len(pattern.indices), 1, 1))).toarray()[np.ix_(nodes, nodes)] > 0
    for k in range(n):
        below = k + 1 + np.flatnonzero(there[k + 1 :, k])
        there[np.ix_(below, below)] = True
    return np.tril(there)


@pytest.mark.parametrize("dim", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_fill_is_what_elimination_leaves(seed, dim):
    pattern = graph(40, seed)
    for nodes in (np.arange(40, dtype=np.int32), minimum_degree_order(pattern)):
        np.testing.assert_array_equal(np.sort(nodes), np.arange(40))
        columns = filled(pattern, nodes).sum(axis=0)
        fill = fill_of(pattern, dim, nodes, np.inf)
        assert fill is not None
        assert fill.numbers == dim**2 * columns.sum()
        assert fill.operations == 2 * dim**3 * (columns**2).sum()
        assert fill_of(pattern, dim, nodes, fill.numbers) == fill
        assert fill_of(pattern, dim, nodes, fill.numbers - 1) is None


def test_the_order_of_least_degree_keeps_fill_small():
    """An arrow that points forwards fills completely, one that points backwards not at all."""
    arrow = Pattern(50, [np.column_stack([np.zeros(49, np.int32), np.arange(1, 50, dtype=np.int32)])])
    fills = [fill_of(arrow, 1, nodes, np.inf) for nodes in (np.arange(50, dtype=np.int32), minimum_degree_order(arrow))]
    assert [fill.numbers for fill in fills if fill] == [50 * 51 / 2, 50 + 49]


def test_conjugate_residuals_reach_the_tolerance_in_the_dimension_of_the_space():
    rng = np.random.default_rng(0)
    matrix, b = np.eye(20) + 0.3 * rng.standard_normal((20, 20)), rng.standard_normal(20)
    x, iterations = conjugate_residuals(matrix.__matmul__, np.copy, b, 1e-10, 20)
    assert x is not None
    assert 10 < iterations <= 20
    assert np.linalg.norm(matrix @ x - b) <= 1e-10 * np.linalg.norm(b)
    assert conjugate_residuals(matrix.__matmul__, np.copy, b, 1e-10, 10) == (None, 10)
    exact, iterations = conjugate_residuals(matrix.__matmul__, np.linalg.inv(matrix).__matmul__, b, 1e-10, 20)
    assert exact is not None
    assert iterations == 1
    np.testing.assert_allclose(x, exact, rtol=1e-8)
    assert conjugate_residuals(matrix.__matmul__, lambda r: np.full_like(r, np.nan), b, 1e-10, 20)[0] is None


def strip(cells, slenderness=60):
    """A clamped neo-Hookean beam, and the matrix M + β dt² K of a step of many Courant numbers."""
    mesh = box((0.1 * slenderness, 0.1, 0.1), (cells * slenderness, cells, cells))
    x, tets = mesh.points, mesh.cells["tetra"]
    mass = lumped_mass(x, tets, 2700.0, len(x))
    fixed = np.repeat(x[:, :1] < 1e-9, 3, axis=1)
    return System(mass, {"strain": Solid(x, tets, NeoHookean(60.5e9, 26e9, 2700.0))}, fixed=fixed), x


def matrix_of(system, q0, q1, symmetric, h=5e-3):
    blocks = system.hessian_blocks(q1) if symmetric else system.discrete_hessian_blocks(q0, q1)
    blocks *= 0.25 * h * h * (1.0 if symmetric else 2.0)
    diagonal = system.pattern.diagonal()
    for axis in range(3):
        blocks[diagonal, axis, axis] += system.mass
    blocks[system.pattern.held(system.fixed)] = 0.0
    blocks[diagonal] += np.where(system.fixed[:, :, None], system.mass[:, None, None] * np.eye(3), 0.0)
    return blocks


def residual(system, blocks, x, b):
    return np.linalg.norm(system.pattern.matrix(blocks) @ x.ravel() - b.ravel()) / np.linalg.norm(b)


@pytest.mark.parametrize("symmetric", [True, False])
def test_factors_of_a_matrix_solve_one_that_is_near(symmetric):
    system, x = strip(1, 20)
    bent = x + 0.002 * np.sin(x[:, [1, 0, 0]])
    b = np.where(system.fixed, 0.0, np.random.default_rng(0).standard_normal(x.shape))
    solver = SparseSolver(system.pattern, 3)
    solver.update(matrix_of(system, x, x, symmetric), symmetric, x)
    near = matrix_of(system, x, bent, symmetric)
    found, iterations = solver.solve_near(near, b, 1e-8, 12)
    assert found is not None
    assert 1 < iterations <= 12
    assert residual(system, near, found, b) <= 1.001e-8
    far = near + 1e4 * np.abs(near).max() * (np.arange(len(near)) % 7 == 0)[:, None, None]
    assert solver.solve_near(far, b, 1e-8, 4) == (None, 4)


@pytest.mark.parametrize("symmetric", [True, False])
def test_a_thin_body_is_solved_by_factors_until_the_next_step(symmetric):
    system, x = strip(1)
    bent = x + 0.002 * np.sin(x[:, [1, 0, 0]])
    blocks = matrix_of(system, x, bent, symmetric)
    b = np.where(system.fixed, 0.0, np.random.default_rng(0).standard_normal(x.shape))
    alone = KrylovSolver(system.pattern, 3)
    alone.update(blocks, symmetric, x)
    assert alone.attempt(b, 1e-6) is None or alone.counts["iterations"] > 150
    solver = AutomaticSolver(system.pattern, 3)
    taken = []
    for _ in range(2):
        solver.begin()
        before = dict(solver.counts)
        for bend in (1.0, 1.00001, 1.00002):
            near = matrix_of(system, x, x + bend * (bent - x), symmetric)
            solver.update(near, symmetric, x)
            assert residual(system, near, solver.solve(b, 1e-6), b) <= 1.001e-6
        more = {name: solver.counts[name] - before[name] for name in before}
        assert more["direct"] == 1
        assert more["factorisations"] == 1  # incomplete ones, before it was known
        assert more["iterations"] < 150
        taken.append(more)
    assert taken[0] == taken[1]  # nothing is carried from step to step


def test_matrices_after_the_first_are_judged_by_factors_of_their_own():
    """Whether a symmetric matrix is positive definite is not taken from the factors of another one."""
    system, x = strip(1)
    blocks = matrix_of(system, x, x, True)
    b = np.where(system.fixed, 0.0, np.random.default_rng(0).standard_normal(x.shape))
    solver = AutomaticSolver(system.pattern, 3)
    solver.update(blocks, True, x)
    solver.solve(b, 1e-8)
    assert solver.counts["direct"] == 1
    assert solver.definite
    solver.update(blocks, True, x)
    assert solver.definite
    solver.update(-blocks, True, x)
    assert residual(system, -blocks, solver.solve(b, 1e-8), b) <= 1e-8
    assert not solver.definite


def test_energy_momentum_begins_a_step_with_a_symmetric_matrix():
    system, x = strip(1, 5)
    rng = np.random.default_rng(0)
    solver = KrylovSolver(system.pattern, 3)
    q = x + 1e-3 * rng.standard_normal(x.shape)
    solver.update(matrix_of(system, q, q, False, 1e-5), False, q)
    assert solver.definite
    solver.update(matrix_of(system, q, q + 1e-6 * rng.standard_normal(x.shape), False, 1e-5), False, q)
    assert not solver.definite
    assert solver.counts["indefinite"] == 0


@pytest.mark.parametrize("method", [EnergyMomentum(5e-3), HilberHughesTaylor(5e-3, alpha=0.0)])
def test_large_steps_of_thin_bodies_conserve_and_resume_bit_by_bit(method):
    system, x = strip(1, 100)
    v = np.zeros_like(x)
    v[:, 1] = 2.0 * (x[:, 0] / 10.0) ** 2
    motion = method.start(system, system.state(x, v))
    before = 0.5 * system.dot(system.mass[:, None] * v, v) + system.potential(x)
    state = motion.advance(2 * method.dt)
    checkpoint = motion.checkpoint()
    end = motion.advance(4 * method.dt)
    assert motion.statistics()["direct"] >= 4
    resumed = method.resume(system, checkpoint).advance(4 * method.dt)
    np.testing.assert_array_equal(resumed.q, end.q)
    np.testing.assert_array_equal(resumed.v, end.v)
    if isinstance(method, EnergyMomentum):
        for now in (state, end):
            energy = 0.5 * system.dot(system.mass[:, None] * now.v, now.v) + system.potential(now.q)
            known_to = round_off.of_forces(system, now.q) * np.abs(now.q - x).max()
            assert energy == pytest.approx(before, rel=0.0, abs=known_to)


@pytest.mark.parametrize("symmetric", [True, False])
def test_factors_take_over_from_multigrid(monkeypatch, symmetric):
    pytest.importorskip("pyamg")
    from symplex.time.solvers import multigrid

    system, x = strip(1)
    blocks = matrix_of(system, x, x, symmetric)
    b = np.where(system.fixed, 0.0, np.random.default_rng(0).standard_normal(x.shape))
    solver = multigrid.MultigridSolver(system.pattern, 3)
    monkeypatch.setattr(multigrid, "LIMIT", 1)
    solver.update(blocks, symmetric, x)
    for _ in range(2):
        assert residual(system, blocks, solver.solve(b, 1e-9), b) <= 1e-9
    assert solver.counts["direct"] == 1
    assert solver.definite == symmetric
    monkeypatch.setattr(multigrid, "LARGEST_DIRECT", 100)
    solver.update(blocks, symmetric, x)
    with pytest.raises(StepFailed, match=r"multigrid left a residual of .*expected 1\.0e-09"):
        solver.solve(b, 1e-9)
