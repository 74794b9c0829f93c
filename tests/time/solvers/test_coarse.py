"""The coarse space of incomplete factors: aggregates, the factors of their matrix, and iterations with both levels."""

import numpy as np
import pytest
import scipy.sparse as sp

from reference.threads_as_ranks import ThreadsAsRanks
from symplex.fem.actions.loads import NodalLoad
from symplex.fem.actions.mass import lumped_mass
from symplex.fem.assembly.pattern import Pattern
from symplex.fem.compiled import threads
from symplex.fem.measures.bars import Bars
from symplex.fem.measures.pair_laws import EngineeringStrain
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.system import System
from symplex.meshes.generate import box
from symplex.parallel.motion import with_cutbacks
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.equilibria.static import static_equilibrium
from symplex.time.implicit.midpoint import Midpoint
from symplex.time.solvers import block_matrix, coarse
from symplex.time.solvers.aggregates import aggregates
from symplex.time.solvers.block_factor import IncompleteCholesky
from symplex.time.solvers.block_matrix import BlockPattern
from symplex.time.solvers.coarse import CoarseSpace, DeflatedCholesky, half_times
from symplex.time.solvers.direct import SparseSolver
from symplex.time.solvers.iterative import KrylovSolver
from symplex.time.solvers.krylov import conjugate_gradients
from symplex.time.solvers.linear_solver import take_out
from symplex.time.solvers.newton import Newton
from symplex.time.solvers.sparse_cholesky import SparseCholesky
from symplex.time.stability import stable_step

LAW = NeoHookean(6e6, 4e6, 1000.0)


def beam(across=2, slenderness=10, clamped=True):
    """Return a beam of tetrahedra, and its points."""
    mesh = box((slenderness, 1.0, 1.0), (slenderness * across, across, across))
    x = mesh.points
    mass = lumped_mass(x, mesh.cells["tetra"], LAW.density, len(x))
    fixed = np.repeat((x[:, :1] == 0.0) & clamped, 3, axis=1)
    return System(mass, {"beam": Solid(x, mesh.cells["tetra"], LAW)}, fixed=fixed), x


def matrix_of(system, x, courant):
    """Return the blocks of M + h²/4 K, h as a multiple of the stable step; of K alone for infinitely many."""
    blocks = system.hessian_blocks(x)
    if courant < np.inf:
        blocks *= (0.5 * courant * stable_step(system, x)) ** 2
        blocks[system.pattern.diagonal()] += system.mass[:, None, None] * np.eye(3)
    take_out(system.pattern, system.fixed, blocks)
    return blocks


def spaces(system, x, blocks, size=64):
    """Return rows, the lower half, incomplete factors and a coarse space that has taken it."""
    rows = BlockPattern(system.pattern.indptr, system.pattern.indices, 3)
    values = np.empty((len(rows.lower.indices), 9))
    rows.take(rows.lower, blocks, 1.0 / np.abs(blocks).max(), values)
    factor = DeflatedCholesky(rows)
    assert factor.factorize(values) < 0
    space = CoarseSpace(rows, rows.aggregates(size))
    space.take(values, x)
    return rows, values, factor, space


def relative_residual(pattern, blocks, x, b):
    return np.linalg.norm(pattern.matrix(blocks) @ x.ravel() - b.ravel()) / np.linalg.norm(b)


def one_level(monkeypatch):
    monkeypatch.setattr(coarse, "_SOFT", -1.0)


# -- aggregates and the factors of their matrix --------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 16, 64, 10_000])
def test_aggregates_are_connected_and_about_as_large_as_is_asked_for(size):
    system, x = beam(clamped=False)
    n, pattern = len(x), Pattern(2 * len(x), [system.energies["beam"].nodes, system.energies["beam"].nodes + len(x)])
    part = aggregates(pattern.indptr, pattern.indices, size)
    number = part.max() + 1
    counts = np.bincount(part)
    assert len(counts) == number
    assert counts.min() >= min(n, max(size // 4, 1))
    assert counts.max() <= 2 * size + 1
    assert not set(part[:n]) & set(part[n:])  # two bodies
    same = part[pattern.rows()] == part[pattern.indices]
    graph = sp.csr_array((same[same], (pattern.rows()[same], pattern.indices[same])), shape=(2 * n, 2 * n))
    assert sp.csgraph.connected_components(graph, directed=False)[0] == number


def test_sparse_factors_solve_and_leave_out_what_nothing_holds():
    rng = np.random.default_rng(3)
    n = 30
    pairs = np.array([(i, j) for i in range(n) for j in range(i + 1) if i == j or (i * j) % 7 == 1])
    dense = np.zeros((6 * n, 6 * n))
    for i, j in pairs:
        block = rng.standard_normal((6, 6))
        dense[6 * i : 6 * i + 6, 6 * j : 6 * j + 6] = block + (i == j) * (block.T + 60.0 * np.eye(6))
    dense = np.tril(dense) + np.tril(dense, -1).T
    dense[7], dense[:, 7] = 0.0, 0.0
    given = np.array([dense[6 * i : 6 * i + 6, 6 * j : 6 * j + 6] for i, j in pairs])
    given[::2] = given[::2].swapaxes(1, 2)
    pairs[::2] = pairs[::2, ::-1]  # of either half
    factors = SparseCholesky(n, pairs)
    factors.factorize(given, np.full(n, 60.0))
    b = rng.standard_normal((n, 6))
    rest = np.delete(np.arange(6 * n), 7)
    expected = np.zeros(6 * n)
    expected[rest] = np.linalg.solve(dense[np.ix_(rest, rest)], b.ravel()[rest])
    np.testing.assert_allclose(factors.solve(b).ravel(), expected, rtol=1e-10, atol=1e-14)


# -- the coarse space ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("courant", [200.0, np.inf])
def test_the_coarse_matrix_is_that_of_the_motions(courant):
    """Z E⁻¹ Zᵀ A leaves all of its own motions as they are: it projects onto them."""
    system, x = beam()
    rows, values, _, space = spaces(system, x, matrix_of(system, x, courant))
    moved = np.zeros(3 * rows.n)
    space.add(np.random.default_rng(0).standard_normal((space.number, 6)), moved)
    again = np.zeros_like(moved)
    force = half_times(rows, values, moved)
    space.add(space.solve(space.along(force)[0]), again)
    np.testing.assert_allclose(again, moved, atol=1e-8 * np.abs(moved).max())
    assert not np.any(rows.scatter(moved)[system.fixed])
    w = np.random.default_rng(1).standard_normal(3 * rows.n)
    np.testing.assert_allclose(
        space.along(force, w)[1], space.along(force)[0] - space.along(half_times(rows, values, w))[0], atol=1e-10
    )


def test_the_preconditioner_is_symmetric_and_positive_where_residuals_are():
    """That is for residuals without a part along the motions, as all of an iteration are."""
    system, x = beam()
    rows, values, factor, space = spaces(system, x, matrix_of(system, x, 1000.0))
    rng, found = np.random.default_rng(0), []
    for _ in range(2):
        r, part = rng.standard_normal(3 * rows.n), np.zeros(3 * rows.n)
        space.add(space.solve(space.along(r)[0]), part)
        r -= half_times(rows, values, part)
        assert np.abs(space.along(r)[0]).max() < 1e-9 * np.linalg.norm(r)
        factor.space = space
        zero, z = np.zeros_like(r), np.empty_like(r)
        rr, rz = factor.applied(0.0, zero, zero, np.zeros_like(r), r, z)
        factor.backward(z)
        assert rr == pytest.approx(r @ r)
        assert rz == pytest.approx(r @ z, rel=1e-8)
        assert r @ z > 0.0
        found.append((r, z))
    (r0, z0), (r1, z1) = found
    assert r0 @ z1 == pytest.approx(r1 @ z0, rel=1e-8)


def test_fewer_iterations_that_grow_little_with_refinement(monkeypatch):
    counts = {}
    for across in (2, 4):
        system, x = beam(across, 20)
        blocks = matrix_of(system, x, 1000.0)
        b = np.where(system.fixed, 0.0, system.mass[:, None] * [0.0, 1.0, 0.3])
        for levels in (2, 1):
            with monkeypatch.context() as patch:
                if levels == 1:
                    one_level(patch)
                solver = KrylovSolver(system.pattern, 3)
                solver.update(blocks, True, x)
                found = solver.solve(b, 1e-8)
            assert np.linalg.norm(system.pattern.matrix(blocks) @ found.ravel() - b.ravel()) <= 1.1e-8 * np.linalg.norm(
                b
            )
            counts[levels, across] = solver.counts["iterations"]
    assert counts[2, 4] < 0.25 * counts[1, 4]
    assert counts[2, 4] < 1.2 * counts[2, 2]
    assert counts[1, 4] > 1.6 * counts[1, 2]


def test_no_residual_is_left_along_rigid_motions():
    """Even of a rough solution of a free body, so that it has the momenta of the exact one."""
    system, x = beam(clamped=False)
    blocks = matrix_of(system, x, 1000.0)
    rng = np.random.default_rng(0)
    b = system.mass[:, None] * (rng.standard_normal(3) + np.cross(rng.standard_normal(3), x))
    b += 1e-3 * np.abs(b).max() * rng.standard_normal(x.shape)
    rows, values, factor, space = spaces(system, x, blocks)
    rhs, part = rows.gather(b), np.zeros(3 * rows.n)
    space.add(space.solve(space.along(rhs)[0]), part)
    left = rhs - half_times(rows, values, part)
    factor.space = space
    found = conjugate_gradients(rows, values, factor, left, 1e-2)
    residual = rows.scatter(left - half_times(rows, values, found.x))
    size = np.abs(residual).sum()
    assert size > 1e-4 * np.abs(b).sum()
    assert np.abs(residual.sum(axis=0)).max() < 1e-9 * size
    assert np.abs(np.cross(x, residual).sum(axis=0)).max() < 1e-9 * size * 10.0


def test_short_steps_and_few_nodes_have_none(monkeypatch):
    called = []
    monkeypatch.setattr(CoarseSpace, "take", lambda *_: called.append(1))
    for across, courant in ((2, 20.0), (1, 1000.0)):
        system, x = beam(across, 10 if across > 1 else 4)
        solver = KrylovSolver(system.pattern, 3)
        solver.update(matrix_of(system, x, courant), True, x)
        solver.solve(np.where(system.fixed, 0.0, 1.0), 1e-10)
    assert not called


@pytest.mark.parametrize("skew", [0.0, 1e-6, 1e-4])
def test_matrices_that_are_not_symmetric(monkeypatch, skew):
    """BiCGStab with the motions of the symmetric part."""
    system, x = beam(3)
    pattern = system.pattern
    blocks = matrix_of(system, x, 1000.0)
    more = np.random.default_rng(0).standard_normal(blocks.shape) * skew * np.abs(blocks).max()
    more -= more[BlockPattern(pattern.indptr, pattern.indices, 3).transposed].swapaxes(1, 2)
    more[pattern.held(system.fixed)] = 0.0
    blocks += more
    b = np.where(system.fixed, 0.0, system.mass[:, None] * [0.0, 1.0, 0.3])
    counts = []
    for levels in (2, 1):
        with monkeypatch.context() as patch:
            if levels == 1:
                one_level(patch)
            solver = KrylovSolver(pattern, 3)
            solver.update(blocks, False, x)
            found = solver.solve(b, 1e-8)
        assert relative_residual(pattern, blocks, found, b) <= 1.1e-8
        counts.append(solver.counts["iterations"])
    assert counts[0] < 0.6 * counts[1]


@pytest.mark.parametrize("dim", [2, 3])
def test_long_trusses_whose_aggregates_are_lines(dim):
    """Collinear nodes have no rotation about their line; in the plane there are three motions."""
    n = 600
    points = np.zeros((n, dim))
    points[:, 0] = np.arange(n)
    ends = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1).astype(np.int32)
    bars = Bars(ends, EngineeringStrain(1e4, 1.0), dim=dim)
    stretched = 1.1 * points
    system = System(np.ones(n), {"bars": bars}, dim=dim, fixed=np.repeat(points[:, :1] == 0.0, dim, axis=1))
    blocks = system.hessian_blocks(stretched) * 1e3
    blocks[system.pattern.diagonal()] += np.eye(dim)
    take_out(system.pattern, system.fixed, blocks)
    rows = BlockPattern(system.pattern.indptr, system.pattern.indices, dim)
    values = np.empty((len(rows.lower.indices), 9))
    rows.take(rows.lower, blocks, 1.0 / np.abs(blocks).max(), values)
    space = CoarseSpace(rows, rows.aggregates(64))
    space.take(values, stretched)
    moved, again = np.zeros(3 * n), np.zeros(3 * n)
    space.add(space.solve(np.random.default_rng(0).standard_normal((space.number, 6))), moved)
    assert np.isfinite(moved).all()
    assert moved.any()
    space.add(space.solve(space.along(half_times(rows, values, moved))[0]), again)
    np.testing.assert_allclose(again, moved, atol=1e-7 * np.abs(moved).max())


# -- runs ------------------------------------------------------------------------------------------------------------


COURANT = 1000.0


def in_motion(clamped=True):
    system, x = beam(clamped=clamped)
    v = np.where(system.fixed, 0.0, 0.02 * np.sin(0.5 * x[:, [1, 2, 0]]))
    return system, system.state(x, v), COURANT * stable_step(system, x)


@pytest.mark.parametrize("method", [EnergyMomentum, Midpoint])
def test_runs_resume_bit_by_bit_on_any_number_of_threads(monkeypatch, method):
    monkeypatch.setattr(block_matrix, "WORTH_A_THREAD", 0)
    monkeypatch.setattr(coarse, "WORTH_A_THREAD", 0)
    taken, take = [], CoarseSpace.take
    monkeypatch.setattr(CoarseSpace, "take", lambda self, *given: taken.append(self.number) or take(self, *given))
    system, start, h = in_motion()
    chosen = method(h, newton=Newton(linear="krylov"))
    ends = []
    for number in (1, 3):
        monkeypatch.setattr(threads, "count", lambda number=number: number)
        motion = chosen.start(system, start)
        motion.advance(2 * h)
        checkpoint = motion.checkpoint()
        ends += [motion.advance(4 * h), chosen.resume(system, checkpoint).advance(4 * h)]
    assert max(taken) > 1
    for end in ends[1:]:
        np.testing.assert_array_equal(end.q, ends[0].q)
        np.testing.assert_array_equal(end.v, ends[0].v)


@pytest.mark.parametrize("clamped", [True, False])
@pytest.mark.parametrize("method", [EnergyMomentum, pytest.param(Midpoint, marks=pytest.mark.slow)])
def test_ranks_move_as_one_process(monkeypatch, method, clamped):
    system, start, h = in_motion(clamped)
    taken, take = [], CoarseSpace.take
    monkeypatch.setattr(CoarseSpace, "take", lambda self, *given: taken.append(self.number) or take(self, *given))
    chosen = method(h, newton=Newton(linear="krylov"))
    alone = chosen.start(system, start)
    end = alone.advance(2 * h)
    for ranks in (2, 3):
        taken.clear()
        motion = with_cutbacks(chosen, ThreadsAsRanks(ranks)).start(system, start)
        other = motion.advance(2 * h)
        assert max(taken) > 2 * ranks
        # Newton's method ends where its residual is round-off of forces, which soft motions follow by the square of h.
        most = 16.0 * np.finfo(float).eps * COURANT**2 * np.abs(end.q).max()
        np.testing.assert_allclose(other.q, end.q, rtol=0, atol=most)
        np.testing.assert_allclose(other.v, end.v, rtol=0, atol=2.0 / h * most)
        if not clamped:
            size = (system.mass[:, None] * np.abs(start.v)).sum()
            np.testing.assert_allclose(system.momentum(other), system.momentum(start), rtol=0, atol=1e-12 * size)
        assert motion.statistics()["linear_iterations"] < 1.5 * alone.statistics()["linear_iterations"]


def test_statics_of_a_slender_body():
    system, x = beam(3, 20)
    weight = np.where(system.fixed, 0.0, system.mass[:, None] * [0.0, 0.0, -1e-3])
    loaded = System(
        system.mass, dict(system.energies), fixed=system.fixed, loads={"weight": NodalLoad(np.arange(len(x)), weight)}
    )
    found = {}
    for linear in ("sparse", "krylov"):
        found[linear] = static_equilibrium(loaded, x, newton=Newton(iterations=30, linear=linear))
    moved = found["sparse"].state.q - x
    np.testing.assert_allclose(found["krylov"].state.q - x, moved, atol=1e-7 * np.abs(moved).max())
    assert found["krylov"].stable


def test_iterations_end_soon_where_rounding_hides_what_is_left():
    """Of a slender body whose residuals cannot be as small as is asked for."""
    system, x = beam(2, 40)
    blocks = matrix_of(system, x, np.inf)
    b = np.where(system.fixed, 0.0, system.mass[:, None] * [0.0, 1.0, 0.3])
    direct = SparseSolver(system.pattern, 3)
    direct.update(blocks, True, x)
    expected = np.linalg.norm(direct.solve(b, 0.0))
    solver = KrylovSolver(system.pattern, 3)
    solver.update(blocks, True, x)
    found = solver.solve(b, 1e-13)
    assert solver.counts["iterations"] < 600
    assert np.linalg.norm(found) == pytest.approx(expected, rel=1e-6)
    most = np.abs(blocks).max() * np.abs(found).max() / np.abs(b).max()
    assert relative_residual(system.pattern, blocks, found, b) < 64.0 * np.finfo(float).eps * most


def test_without_a_coarse_space_factors_are_applied_alone():
    """Where none is set."""
    system, x = beam()
    rows, values, factor, _ = spaces(system, x, matrix_of(system, x, 100.0))
    plain = IncompleteCholesky(rows)
    plain.factorize(values)
    b = np.random.default_rng(0).standard_normal(3 * rows.n)
    np.testing.assert_array_equal(
        conjugate_gradients(rows, values, factor, b, 1e-6).x, conjugate_gradients(rows, values, plain, b, 1e-6).x
    )
