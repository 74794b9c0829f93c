"""Columns of energy-momentum's matrices that are turned back, and iterations that begin with the rigid part."""

import numpy as np
import pytest

from symplex.fem.actions.mass import lumped_mass
from symplex.fem.assembly.pattern import Pattern
from symplex.fem.compiled import threads
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.system import System
from symplex.meshes.generate import box
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.implicit.generalized_alpha import HilberHughesTaylor
from symplex.time.solvers import block_matrix, turned
from symplex.time.solvers.block_matrix import BlockPattern
from symplex.time.solvers.coarse import DeflatedCholesky, TwoLevel, half_times
from symplex.time.solvers.iterative import KrylovSolver
from symplex.time.solvers.krylov import always, conjugate_gradients
from symplex.time.solvers.newton import Newton
from symplex.time.solvers.turned import RotatedTangent
from symplex.time.stability import stable_step

TURN = np.array([0.05, -0.1, 0.15])  # rotation vector in rad


def rotation(vector):
    angle = np.linalg.norm(vector)
    x, y, z = vector / angle
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross


def cube(cells=3, bodies=1):
    mesh = box((0.1,) * 3, (cells,) * 3)
    x = np.concatenate([mesh.points + np.array([0.3 * k, 0.0, 0.0]) for k in range(bodies)])
    tets = np.concatenate([mesh.cells["tetra"] + k * len(mesh.points) for k in range(bodies)])
    mass = lumped_mass(x, tets, 2700.0, len(x))
    return System(mass, {"strain": Solid(x, tets, NeoHookean(60.5e9, 26e9, 2700.0))}), x


def step_matrix(system, q0, q1, courant, fixed=None):
    """The blocks of the matrix of an energy-momentum step."""
    h = courant * stable_step(system, q0)
    blocks = h * system.discrete_hessian_blocks(q0, q1)
    for axis in range(3):
        blocks[system.pattern.diagonal(), axis, axis] += 2.0 / h * system.mass
    if fixed is not None:
        blocks[system.pattern.held(fixed)] = 0.0
        held = np.where(fixed[:, :, None], 2.0 / h * system.mass[:, None, None] * np.eye(3), 0.0)
        blocks[system.pattern.diagonal()] += held
    return blocks


def turned_ends(x, courant):
    """A body whose forces are about as large as those of its inertia in a step, and where it is after a turn."""
    size = 1e-2 / courant**2
    q0 = x + size * np.sin(30.0 * x[:, [1, 2, 0]])
    return q0, (q0 - 0.05) @ rotation(TURN).T + 0.05 + size * np.cos(20.0 * x[:, [2, 0, 1]])


def residual(system, blocks, x, b):
    return np.linalg.norm(system.pattern.matrix(blocks) @ x.ravel() - b.ravel()) / np.linalg.norm(b)


def taken(pattern, blocks, middle, end):
    """Whether the turned matrix is nearly symmetric, its part [n, 3, n, 3], and the rotations [n, 3, 3]."""
    rows = BlockPattern(pattern.indptr, pattern.indices, blocks.shape[1])
    values, part = np.empty((len(rows.whole.indices), 9)), np.empty((len(rows.lower.indices), 9))
    rows.take(rows.whole, blocks, 1.0, values)
    matrix = RotatedTangent(rows)
    near = matrix.take(values, middle, end, part)
    whole = np.zeros((rows.n, 3, rows.n, 3))
    for i in range(rows.n):
        for s in range(rows.lower.indptr[i], rows.lower.indptr[i + 1]):
            j = rows.lower.indices[s]
            whole[i, :, j], whole[j, :, i] = part[s].reshape(3, 3), part[s].reshape(3, 3).T
    given = np.argsort(rows.nodes)
    return near, whole[given][:, :, given], matrix._rotations.reshape(-1, 3, 3)[given]


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_rotations_of_nodes_are_those_of_the_body_and_none_where_a_coordinate_is_fixed(dim):
    rng = np.random.default_rng(0)
    nodes = np.array([[i, j] for i in range(12) for j in range(i)], np.int32)
    pattern = Pattern(12, [nodes])
    Q = np.eye(3)
    if dim == 2:
        Q = rotation(np.array([0.0, 0.0, 0.3]))
    elif dim == 3:
        Q = rotation(TURN)
    middle = rng.standard_normal((12, dim))
    end = middle @ Q[:dim, :dim].T + 3.0
    blocks = rng.standard_normal((len(pattern.indices), dim, dim))
    fixed = np.zeros((12, dim), bool)
    fixed[7], fixed[4, 0] = True, True
    blocks[pattern.held(fixed)] = 0.0
    blocks[pattern.diagonal()] += np.eye(dim)
    _, part, rotations = taken(pattern, blocks, middle, end)
    held = np.asarray(fixed.any(axis=1))
    requested = np.where(held[:, None, None], np.eye(3), Q)
    np.testing.assert_allclose(rotations, requested, atol=1e-8)
    turned_back = pattern.matrix(blocks).toarray().reshape(12, dim, 12, dim)
    turned_back = np.einsum("aibj,bjk->aibk", turned_back, rotations[:, :dim, :dim]).reshape(12 * dim, -1)
    expected = 0.5 * (turned_back + turned_back.T)
    np.testing.assert_allclose(part[:, :dim, :, :dim].reshape(12 * dim, -1), expected, atol=1e-12)


def test_a_matrix_that_is_turned_back_is_nearly_symmetric_and_definite():
    system, x = cube(2)
    q0, q1 = turned_ends(x, 300.0)
    blocks = step_matrix(system, q0, q1, 300.0)
    near, part, rotations = taken(system.pattern, blocks, 0.5 * (q0 + q1), q1)
    assert near
    A = system.pattern.matrix(blocks).toarray()
    turned_back = np.einsum("aibj,bjk->aibk", A.reshape(len(x), 3, len(x), 3), rotations).reshape(A.shape)
    assert np.linalg.norm(A - A.T) > 0.1 * np.linalg.norm(A)
    assert np.linalg.norm(turned_back - turned_back.T) < 0.003 * np.linalg.norm(A)
    assert np.linalg.eigvalsh(0.5 * (A + A.T))[0] < 0.0
    S, N = part.reshape(A.shape), 0.5 * (turned_back - turned_back.T)
    assert np.linalg.eigvalsh(S)[0] > 0.0
    L = np.linalg.inv(np.linalg.cholesky(S))
    assert np.linalg.norm(L @ N @ L.T, 2) < 0.2  # each solution with S leaves so much of the error


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("courant", [20.0, 200.0, 1000.0])
def test_few_iterations_solve_a_matrix_that_is_turned_back(courant, held):
    system, x = cube()
    q0, q1 = turned_ends(x, courant)
    fixed = np.zeros(x.shape, bool)
    if held:  # a clamped body that bends, and one node more that slides
        fixed[x[:, 0] < 1e-9], fixed[-1, 2] = True, True
        q1 = q0 + np.where(fixed, 0.0, 1.0 / courant * x[:, :1] ** 2 * [0.0, 1.0, 0.5])
    blocks = step_matrix(system, q0, q1, courant, fixed)
    b = np.where(fixed, 0.0, np.random.default_rng(0).standard_normal(x.shape))
    solver = KrylovSolver(system.pattern, 3)
    solver.update(blocks, False, 0.5 * (q0 + q1), q1)
    found = solver.solve(b, 1e-6)
    assert solver.by_halves
    assert not solver.definite
    assert solver.counts["iterations"] < (150 if held else 70)
    assert residual(system, blocks, found, b) <= 1e-6
    exact = np.linalg.solve(system.pattern.matrix(blocks).toarray(), b.ravel())
    assert np.linalg.norm(found.ravel() - exact) <= 1e-3 * np.linalg.norm(exact)


def test_what_is_far_from_symmetric_or_does_not_get_done_is_iterated_on_the_whole_matrix(monkeypatch):
    system, x = cube()
    q0, q1 = turned_ends(x, 1000.0)
    blocks = step_matrix(system, q0, q1, 1000.0)
    skew = np.abs(blocks).max() * np.array([[0.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    far = blocks.copy()
    far[system.pattern.diagonal()] += skew
    b = np.random.default_rng(0).standard_normal(x.shape)
    solver = KrylovSolver(system.pattern, 3)
    solver.update(far, False, 0.5 * (q0 + q1), q1)
    assert not solver.by_halves
    assert residual(system, far, solver.solve(b, 1e-8), b) <= 1e-8
    solver.update(blocks, False, 0.5 * (q0 + q1), q1)
    assert solver.by_halves
    with monkeypatch.context() as patch:
        patch.setattr(turned, "_LIMIT", 1)
        assert residual(system, blocks, solver.solve(b, 1e-6), b) <= 1e-6
    assert not solver.by_halves
    solver.update(blocks, False, 0.5 * (q0 + q1), q1)
    assert not solver.by_halves  # until the next step
    solver.begin()
    solver.update(blocks, False, 0.5 * (q0 + q1), q1)
    assert solver.by_halves


def test_nothing_but_what_is_worth_while_is_iterated():
    system, x = cube()
    q0, q1 = turned_ends(x, 20.0)
    blocks = step_matrix(system, q0, q1, 20.0)
    solver = KrylovSolver(system.pattern, 3)
    solver.update(blocks, False, 0.5 * (q0 + q1), q1)
    b = np.random.default_rng(0).standard_normal(x.shape)
    assert solver.attempt(b, 1e-10, lambda iterations: iterations < 20) is None
    assert solver.counts["iterations"] <= 20
    assert solver.by_halves


def test_results_do_not_depend_on_the_number_of_threads(monkeypatch):
    system, x = cube()
    q0, q1 = turned_ends(x, 200.0)
    blocks = step_matrix(system, q0, q1, 200.0)
    b = np.random.default_rng(0).standard_normal(x.shape)
    monkeypatch.setattr(block_matrix, "WORTH_A_THREAD", 0)
    found = []
    for number in (1, 2):
        monkeypatch.setattr(threads, "count", lambda number=number: number)
        solver = KrylovSolver(system.pattern, 3)
        solver.update(blocks, False, 0.5 * (q0 + q1), q1)
        found.append(solver.solve(b, 1e-8))
        assert solver.by_halves
    np.testing.assert_array_equal(*found)


def rigid_start(system, blocks, x):
    rows = BlockPattern(system.pattern.indptr, system.pattern.indices, 3)
    values = np.empty((len(rows.lower.indices), 9))
    rows.take(rows.lower, blocks, 1.0, values)
    factor = DeflatedCholesky(rows)
    assert factor.factorize(values) < 0
    start = TwoLevel(rows)
    start.take(values, x)

    def iterate(space, b, *how):
        factor.space = space
        return conjugate_gradients(rows, values, factor, b, *how)

    def solve(b, tolerance):
        return start.solve(iterate, lambda x: half_times(rows, values, x), b, tolerance, always)

    return rows, values, factor, solve


@pytest.mark.parametrize("bodies", [1, 2])
def test_free_bodies_take_few_iterations_in_long_steps(bodies):
    system, x = cube(3, bodies)
    blocks = step_matrix(system, x, x, 1e4)
    rows, values, factor, solve = rigid_start(system, blocks, x)
    b = rows.gather(np.random.default_rng(0).standard_normal(x.shape) + system.mass[:, None] * x[:, [1, 2, 0]])
    whole = conjugate_gradients(rows, values, factor, b, 1e-6)
    found = solve(b, 1e-6)
    assert found.outcome == "converged"
    assert found.iterations < 0.5 * whole.iterations
    A = system.pattern.matrix(blocks)
    assert np.linalg.norm(A @ rows.scatter(found.x).ravel() - rows.scatter(b).ravel()) <= 1.1e-6 * np.linalg.norm(b)
    rigid = rows.gather(np.cross([1.0, 2.0, 3.0], x) + np.array([1.0, 0.0, 0.0]))
    alone = solve(rows.gather((A @ rows.scatter(rigid).ravel()).reshape(-1, 3)), 1e-6)
    assert alone.iterations == 0
    np.testing.assert_allclose(alone.x, rigid, atol=1e-6)


def test_the_rigid_part_is_left_alone_where_supports_or_short_steps_hold_it():
    system, x = cube()
    fixed = np.repeat(x[:, :1] < 1e-9, 3, axis=1)
    b = np.where(fixed, 0.0, np.random.default_rng(0).standard_normal(x.shape))
    for blocks in (step_matrix(system, x, x, 1e4, fixed), step_matrix(system, x, x, 5.0)):
        rows, values, factor, solve = rigid_start(system, blocks, x)
        found = solve(rows.gather(b), 1e-6)
        same = conjugate_gradients(rows, values, factor, rows.gather(b), 1e-6)
        assert found.iterations == same.iterations
        np.testing.assert_array_equal(found.x, same.x)


def test_free_nodes_and_lines_of_nodes_have_fewer_rigid_motions():
    pattern = Pattern(5, [np.array([[0, 1], [1, 2]], np.int32)])  # a line of three, and two that are alone
    x = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [5, 1, 0], [7, 0, 3]])
    blocks = pattern.zeros(3)
    along = np.diag([1.0, 0.0, 0.0])
    for a in range(3):
        for s in range(pattern.indptr[a], pattern.indptr[a + 1]):
            blocks[s] = along * ((1.0 if a in (0, 2) else 2.0) if pattern.indices[s] == a else -1.0)
    blocks[pattern.diagonal()] += 1e-8 * np.eye(3)
    solver = KrylovSolver(pattern, 3)
    solver.update(blocks, True, x)
    b = np.random.default_rng(0).standard_normal(x.shape)
    expected = np.linalg.solve(pattern.matrix(blocks).toarray(), b.ravel()).reshape(x.shape)
    np.testing.assert_allclose(solver.solve(b, 1e-10), expected, rtol=1e-6)


@pytest.mark.parametrize("method", [EnergyMomentum, HilberHughesTaylor])
def test_long_steps_of_a_turning_body_conserve_and_resume_bit_by_bit(method):
    system, x = cube(4)
    h = 500.0 * stable_step(system, x)
    v = np.cross([0.0, 0.0, 0.2 / h], x - 0.05) + 5.0 * np.sin(30.0 * x[:, [1, 2, 0]])
    integrator = method(h, newton=Newton(linear="krylov"))
    motion = integrator.start(system, system.state(x, v))
    before = system.energies_of(system.state(x, v))["total"]
    motion.advance(h)
    checkpoint = motion.checkpoint()
    end = motion.advance(2.0 * h)
    resumed = integrator.resume(system, checkpoint).advance(2.0 * h)
    np.testing.assert_array_equal(resumed.q, end.q)
    np.testing.assert_array_equal(resumed.v, end.v)
    if method is EnergyMomentum:
        assert system.energies_of(end)["total"] == pytest.approx(before, rel=1e-10)
        spin = (system.mass[:, None] * np.cross(x, v)).sum(axis=0)
        turned_spin = (system.mass[:, None] * np.cross(end.q, end.v)).sum(axis=0)
        np.testing.assert_allclose(turned_spin, spin, atol=1e-10 * float(np.linalg.norm(spin)))
        dense = EnergyMomentum(h, newton=Newton(linear="sparse")).start(system, system.state(x, v)).advance(2.0 * h)
        np.testing.assert_allclose(end.q, dense.q, atol=1e-11)
