"""Linear solvers of implicit steps: kernels on block patterns, incomplete factors, iterations, failures reported."""

import importlib.util

import numpy as np
import pytest
import scipy.sparse as sp

from symplex.errors import StepFailed
from symplex.fem.actions.mass import lumped_mass
from symplex.fem.assembly.pattern import Pattern
from symplex.fem.compiled import threads
from symplex.fem.measures.bars import Bars, EngineeringStrain
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.system import System
from symplex.meshes.generate import box
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.solvers import automatic, block_matrix, iterative
from symplex.time.solvers.automatic import AutomaticSolver
from symplex.time.solvers.block_factor import FIRST_SHIFT, IncompleteCholesky, IncompleteLU
from symplex.time.solvers.block_matrix import BlockPattern, product, symmetric_product
from symplex.time.solvers.direct import DenseSolver, SparseSolver
from symplex.time.solvers.iterative import KrylovSolver
from symplex.time.solvers.krylov import bicgstab, conjugate_gradients
from symplex.time.solvers.linear import linear_solver
from symplex.time.solvers.newton import Newton
from symplex.time.solvers.node_order import cuthill_mckee, two_sided_order
from symplex.time.solvers.singular import loose_part

SINGLE = 3e-6  # what factors in single precision are good for
needs_petsc = pytest.mark.skipif(importlib.util.find_spec("petsc4py") is None, reason="petsc4py is not installed")
PETSC = pytest.param("petsc", marks=needs_petsc)


# -- matrices ---------------------------------------------------------------------------------------------------------


def rows_of(pattern):
    return np.repeat(np.arange(pattern.n_nodes), np.diff(pattern.indptr))


def graph(n, seed=0):
    """A pattern of random stencils, with nodes that nothing couples."""
    rng = np.random.default_rng(seed)
    return Pattern(n, [np.array([rng.choice(n - 2, 3, replace=False) for _ in range(n)], np.int32)])


def chain(n, seed=0):
    """A pattern of a chain of nodes in random order: no fill is lost there."""
    order = np.random.default_rng(seed).permutation(n).astype(np.int32)
    return Pattern(n, [np.column_stack([order[:-1], order[1:]])])


def random_blocks(pattern, dim, seed=0, symmetric=True, dominance=1.1):
    """Blocks of a positive definite matrix; if not symmetric, one with a positive definite symmetric part."""
    rng = np.random.default_rng(seed)
    blocks = rng.standard_normal((len(pattern.indices), dim, dim))
    if symmetric:
        matrix = pattern.matrix(blocks).toarray()
        matrix = 0.5 * (matrix + matrix.T)
        blocks = blocks_of(pattern, matrix, dim)
    matrix = pattern.matrix(blocks).toarray()
    symmetric_part = 0.5 * (matrix + matrix.T)
    largest = np.abs(np.linalg.eigvalsh(symmetric_part)[0])
    blocks[rows_of(pattern) == pattern.indices] += dominance * largest * np.eye(dim)
    return blocks


def blocks_of(pattern, matrix, dim):
    rows = rows_of(pattern)
    by_node = matrix.reshape(pattern.n_nodes, dim, pattern.n_nodes, dim).transpose(0, 2, 1, 3)
    return np.ascontiguousarray(by_node[rows, pattern.indices])


def cube(cells=3, courant=20.0, fixed=False, unsymmetric=False):
    """M + β dt² K of a deformed neo-Hookean cube: its system, positions and blocks; fixed coordinates as unit rows."""
    mesh = box((0.1, 0.1, 0.1), (cells,) * 3)
    tets = mesh.cells["tetra"]
    mass = lumped_mass(mesh.points, tets, 2700.0, len(mesh.points))
    held = np.zeros(mesh.points.shape, bool)
    if fixed:
        held[mesh.points[:, 0] == 0.0] = True
        held[-1, 1] = True
    system = System(mass, {"strain": Solid(mesh.points, tets, NeoHookean(60.5e9, 26e9, 2700.0))}, fixed=held)
    rng = np.random.default_rng(1)
    q0 = 1.02 * mesh.points
    q1 = q0 + 0.03 / cells * 0.1 * rng.standard_normal(q0.shape)
    dt = courant * 0.1 / cells * 0.25 / 6000.0
    stiffness = system.discrete_hessian_blocks(q0, q1) if unsymmetric else system.hessian_blocks(q1)
    blocks = 0.5 * dt**2 * stiffness
    rows, columns = rows_of(system.pattern), system.pattern.indices
    blocks[rows == columns] += mass[:, None, None] * np.eye(3)
    return system, q1, held_back(system.pattern, blocks, held, mass)


def held_back(pattern, blocks, held, mass):
    rows, columns = rows_of(pattern), pattern.indices
    blocks[held[rows][:, :, None] | held[columns][:, None, :]] = 0.0
    for axis in range(held.shape[1]):
        blocks[(rows == columns) & held[rows, axis], axis, axis] = mass[held[:, axis]]
    return blocks


def relative_residual(pattern, blocks, x, b):
    return np.linalg.norm(pattern.matrix(blocks) @ x.ravel() - b.ravel()) / np.linalg.norm(b)


def in_order(pattern, blocks, symmetric):
    """The pattern and the values that kernels work on."""
    order = BlockPattern(pattern.indptr, pattern.indices, blocks.shape[1])
    rows = order.lower if symmetric else order.whole
    values = np.empty((len(rows.indices), 9))
    order.take(rows, blocks, 1.0, values)
    return order, values


def as_dense(rows, values):
    """The matrix of block rows in the order of elimination."""
    n = len(rows.indptr) - 1
    return sp.bsr_array(
        (values.reshape(-1, 3, 3), rows.indices.astype(np.int32), rows.indptr), (3 * n, 3 * n)
    ).toarray()


def in_order_dense(order, pattern, blocks):
    """The whole matrix in the order of elimination, with unit rows where nodes have fewer than three coordinates."""
    dim = blocks.shape[1]
    by_node = pattern.matrix(blocks).toarray().reshape(order.n, dim, order.n, dim)[order.nodes][:, :, order.nodes]
    out = np.zeros((order.n, 3, order.n, 3))
    out[:, :dim, :, :dim] = by_node
    for axis in range(dim, 3):
        out[np.arange(order.n), axis, np.arange(order.n), axis] = 1.0
    return out.reshape(3 * order.n, 3 * order.n)


# -- order and products -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make", [lambda: graph(60), lambda: chain(61), lambda: cube()[0].pattern, lambda: Pattern(1, [])]
)
def test_halves_of_the_order_are_not_coupled(make):
    pattern = make()
    order = two_sided_order(pattern.indptr, pattern.indices)
    np.testing.assert_array_equal(np.sort(order.nodes), np.arange(pattern.n_nodes))
    place = np.argsort(order.nodes)
    start, middle, separator, end = order.bounds
    assert (start, end) == (0, pattern.n_nodes)
    half = np.searchsorted([middle, separator], place, side="right")
    rows, columns = half[rows_of(pattern)], half[pattern.indices]
    assert not np.any((rows == 0) & (columns == 1))
    assert end - separator < max(0.45 * end, 2)


def test_cuthill_mckee_goes_level_by_level():
    pattern = Pattern(7, [np.array([[0, 3], [3, 5], [3, 1], [1, 2], [4, 6]], np.int32)])
    seeds = np.array([5, 6, 0, 1, 2, 3, 4], np.int32)
    # From 5 to 3; of its neighbours 0 has one, 1 has two; then what is not connected.
    np.testing.assert_array_equal(cuthill_mckee(pattern.indptr, pattern.indices, seeds), [5, 3, 0, 1, 2, 6, 4])


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_vectors_come_back_from_the_order_of_elimination(dim):
    pattern = graph(30)
    order = BlockPattern(pattern.indptr, pattern.indices, dim)
    v = np.random.default_rng(0).standard_normal((30, dim))
    gathered = order.gather(v)
    assert gathered.shape == (90,)
    np.testing.assert_array_equal(order.scatter(gathered), v)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_products_are_those_of_the_matrix(dim):
    pattern = graph(40)
    rng = np.random.default_rng(3)
    z, before = rng.standard_normal((2, 40, dim))
    for symmetric in (True, False):
        blocks = random_blocks(pattern, dim, symmetric=symmetric)
        order, values = in_order(pattern, blocks, symmetric)
        if symmetric:
            p, q = order.gather(before), np.full(120, np.nan)
            work = sum(order.run(symmetric_product, *order.lower[:2], values, order.gather(z), 0.5, p, q))
            direction = z + 0.5 * before
            np.testing.assert_allclose(order.scatter(p), direction, rtol=1e-15)
            expected = (pattern.matrix(blocks) @ direction.ravel()).reshape(40, dim)
            assert work == pytest.approx(np.vdot(direction, expected), rel=1e-13)
        else:
            q = np.full(120, np.nan)
            order.run(product, *order.whole[:2], values, order.gather(z), q)
            expected = (pattern.matrix(blocks) @ z.ravel()).reshape(40, dim)
        np.testing.assert_allclose(order.scatter(q), expected, rtol=1e-12, atol=1e-12)


# -- incomplete factors -----------------------------------------------------------------------------------------------


def cholesky_apply(factor, b):
    """L⁻ᵀ L⁻¹ b."""
    z, unused = np.zeros_like(b), np.zeros_like(b)
    factor.forward(0.0, unused, unused, unused.copy(), b.copy(), z)
    factor.backward(z)
    return z


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("symmetric", [True, False])
def test_factors_are_exact_where_no_fill_is_lost(dim, symmetric):
    pattern = chain(50)
    blocks = random_blocks(pattern, dim, symmetric=symmetric)
    order, values = in_order(pattern, blocks, symmetric)
    factor = IncompleteCholesky(order) if symmetric else IncompleteLU(order)
    assert factor.factorize(values) == -1
    b = np.random.default_rng(1).standard_normal((50, dim))
    if symmetric:
        x = cholesky_apply(factor, order.gather(b))
        assert factor.shift == 0.0
    else:
        x = np.empty(150)
        factor.solve(order.gather(b), x)
    assert relative_residual(pattern, blocks, order.scatter(x), b) < 10 * SINGLE


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("symmetric", [True, False])
def test_products_of_the_factors_are_the_matrix_on_its_pattern(dim, symmetric):
    """What defines factors without fill (Meijerink and van der Vorst 1977, theorem 2.3)."""
    pattern = graph(40)
    blocks = random_blocks(pattern, dim, symmetric=symmetric)
    order, values = in_order(pattern, blocks, symmetric)
    matrix = in_order_dense(order, pattern, blocks)
    identity = np.eye(120)
    if symmetric:
        factor = IncompleteCholesky(order)
        factor.factorize(values)
        inverse = np.column_stack([cholesky_apply(factor, column) for column in identity])
        np.testing.assert_allclose(inverse, inverse.T, rtol=1e-9, atol=1e-12 * np.abs(inverse).max())
    else:
        factor = IncompleteLU(order)
        factor.factorize(values)
        inverse = np.empty((120, 120))
        for k, column in enumerate(identity):
            factor.solve(column, work := np.empty(120))
            inverse[:, k] = work
    product = np.linalg.inv(inverse)
    on_pattern = np.kron(as_dense(order.whole, np.ones((len(order.whole.indices), 9)))[::3, ::3], np.ones((3, 3))) > 0
    scale = np.abs(matrix).max()
    np.testing.assert_allclose(product[on_pattern], matrix[on_pattern], atol=10 * SINGLE * scale)
    assert np.abs(product - matrix)[~on_pattern].max() > 1e-3 * scale  # what is lost


def kershaw():
    """A positive definite matrix without IC(0): Kershaw (1978), J. Comput. Phys. 26, 43, eq. 6."""
    pattern = Pattern(4, [np.array([[0, 1], [1, 2], [2, 3], [0, 3]], np.int32)])
    matrix = np.array([[3.0, -2, 0, 2], [-2, 3, -2, 0], [0, -2, 3, -2], [2, 0, -2, 3]])
    return pattern, blocks_of(pattern, matrix, 1)


def test_the_diagonal_is_shifted_where_cholesky_breaks_down():
    pattern, blocks = kershaw()
    order, values = in_order(pattern, blocks, True)
    factor = IncompleteCholesky(order)
    assert factor.factorize(values) == -1
    assert factor.shift >= FIRST_SHIFT
    solver = KrylovSolver(pattern, 1)
    solver.update(blocks, True, np.zeros((4, 1)))
    b = np.array([[1.0], [2.0], [3.0], [4.0]])
    assert relative_residual(pattern, blocks, solver.solve(b, 1e-12), b) < 1e-12
    assert solver.counts["shifted"] == 1
    assert solver.counts["indefinite"] == 0


def test_a_negative_diagonal_has_no_cholesky_factors():
    pattern = graph(20)
    blocks = random_blocks(pattern, 3, dominance=3.0)
    middle = int(np.flatnonzero((rows_of(pattern) == pattern.indices) & (pattern.indices == 7))[0])
    blocks[middle, 1, 1] *= -1.0
    order, values = in_order(pattern, blocks, True)
    row = IncompleteCholesky(order).factorize(values)
    assert order.nodes[row] == 7


# -- iterations -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("tolerance", [1e-2, 1e-6, 1e-12])
def test_random_systems_are_solved_to_the_tolerance(dim, symmetric, tolerance):
    pattern = graph(120, seed=dim)
    blocks = random_blocks(pattern, dim, symmetric=symmetric, dominance=1.01)
    b = np.random.default_rng(5).standard_normal((120, dim))
    solver = KrylovSolver(pattern, dim)
    solver.update(blocks, symmetric, np.zeros((120, dim)))
    x = solver.solve(b, tolerance)
    assert relative_residual(pattern, blocks, x, b) <= 1.001 * tolerance
    assert solver.counts["indefinite"] == 0
    if tolerance < 1e-11:
        expected = np.linalg.solve(pattern.matrix(blocks).toarray(), b.ravel())
        np.testing.assert_allclose(x.ravel(), expected, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("unsymmetric", [False, True])
@pytest.mark.parametrize("kind", ["sparse", "krylov", "auto", PETSC])
def test_implicit_matrices_of_a_cube(fixed, unsymmetric, kind):
    system, q, blocks = cube(4, fixed=fixed, unsymmetric=unsymmetric)
    matrix = system.pattern.matrix(blocks).toarray()
    assert (np.abs(matrix - matrix.T).max() > 1e-6 * np.abs(matrix).max()) == unsymmetric
    b = np.where(system.fixed, 0.0, np.random.default_rng(2).standard_normal(q.shape))
    solver = linear_solver(kind, system.pattern, 3)
    solver.update(blocks, not unsymmetric, q)
    x = solver.solve(b, 1e-10)
    assert relative_residual(system.pattern, blocks, x, b) <= 1.001e-10
    assert np.all(x[system.fixed] == 0.0)
    expected = np.linalg.solve(matrix, b.ravel())
    np.testing.assert_allclose(x.ravel(), expected, atol=1e-7 * np.abs(expected).max())


def test_new_values_on_the_same_pattern():
    system, q, blocks = cube(3)
    solver = KrylovSolver(system.pattern, 3)
    b = np.ones_like(q)
    for scale in (1.0, 2.0):
        solver.update(scale * blocks, True, q)
        assert relative_residual(system.pattern, scale * blocks, solver.solve(b, 1e-9), b) <= 1e-9
    _, _, other = cube(3, courant=5.0)
    solver.update(other, True, q)
    assert relative_residual(system.pattern, other, solver.solve(b, 1e-9), b) <= 1e-9


def test_conjugate_gradients_take_as_few_iterations_as_exact_arithmetic_lets_them():
    """On a chain the factors are exact: one iteration to single precision, and few more."""
    pattern = chain(80)
    blocks = random_blocks(pattern, 3)
    order, values = in_order(pattern, blocks, True)
    factor = IncompleteCholesky(order)
    factor.factorize(values)
    b = order.gather(np.random.default_rng(0).standard_normal((80, 3)))
    assert conjugate_gradients(order, values, factor, b, 1e-4).iterations <= 2
    assert conjugate_gradients(order, values, factor, b, 1e-12).iterations <= 5


def test_iterations_do_not_depend_on_units():
    system, q, blocks = cube(3)
    b = np.random.default_rng(0).standard_normal(q.shape)
    found = []
    for scale in (1.0, 2.0**-150, 2.0**150):
        solver = KrylovSolver(system.pattern, 3)
        solver.update(scale * blocks, True, q)
        found.append((solver.solve(b / scale, 1e-8) * scale**2, solver.counts["iterations"]))
    for x, iterations in found[1:]:
        assert iterations == found[0][1]
        np.testing.assert_array_equal(x, found[0][0])


@pytest.mark.parametrize("unsymmetric", [False, True])
def test_results_do_not_depend_on_the_number_of_threads(monkeypatch, unsymmetric):
    system, q, blocks = cube(4, unsymmetric=unsymmetric)
    monkeypatch.setattr(block_matrix, "WORTH_A_THREAD", 0)
    b = np.random.default_rng(0).standard_normal(q.shape)
    found = []
    for number in (1, 2, 3):
        monkeypatch.setattr(threads, "count", lambda number=number: number)
        solver = KrylovSolver(system.pattern, 3)
        solver.update(blocks, not unsymmetric, q)
        found.append((solver.solve(b, 1e-9), solver.counts["iterations"]))
    for x, iterations in found[1:]:
        np.testing.assert_array_equal(x, found[0][0])
        assert iterations == found[0][1]


def test_nothing_to_solve():
    system, q, blocks = cube(2)
    solver = KrylovSolver(system.pattern, 3)
    solver.update(blocks, True, q)
    np.testing.assert_array_equal(solver.solve(np.zeros_like(q), 1e-9), 0.0)
    order, values = in_order(system.pattern, blocks, True)
    factor = IncompleteCholesky(order)
    factor.factorize(values)
    assert conjugate_gradients(order, values, factor, np.zeros(3 * len(q)), 1e-9).outcome == "converged"


# -- trouble ----------------------------------------------------------------------------------------------------------


def indefinite(pattern, dim=3):
    """A matrix with positive diagonal blocks and one negative eigenvalue."""
    blocks = random_blocks(pattern, dim, dominance=1.0)
    blocks[rows_of(pattern) == pattern.indices] -= 0.1 * np.eye(dim)
    values = np.linalg.eigvalsh(pattern.matrix(blocks).toarray())
    assert values[0] < -0.05
    assert np.all(np.linalg.eigvalsh(blocks[rows_of(pattern) == pattern.indices]) > 0)
    return blocks


def test_negative_curvature_is_told():
    pattern = graph(120)
    blocks = indefinite(pattern)
    order, values = in_order(pattern, blocks, True)
    factor = IncompleteCholesky(order)
    assert factor.factorize(values) == -1
    b = order.gather(np.random.default_rng(0).standard_normal((120, 3)))
    solution = conjugate_gradients(order, values, factor, b, 1e-8)
    assert solution.outcome == "indefinite"
    assert solution.residual > 1e-8


@pytest.mark.parametrize("solver_class", [KrylovSolver, AutomaticSolver])
def test_indefinite_matrices_are_solved_and_counted(solver_class):
    pattern = graph(120)
    blocks = indefinite(pattern)
    solver = solver_class(pattern, 3)
    solver.update(blocks, True, np.zeros((120, 3)))
    b = np.random.default_rng(0).standard_normal((120, 3))
    assert relative_residual(pattern, blocks, solver.solve(b, 1e-9), b) <= 1e-9
    assert solver.counts["indefinite"] == 1


METHODS = [(conjugate_gradients, True, IncompleteCholesky), (bicgstab, False, IncompleteLU)]


@pytest.mark.parametrize(("method", "symmetric", "factor_class"), METHODS)
def test_iterations_end_where_rounding_begins(method, symmetric, factor_class):
    system, q, blocks = cube(3)
    order, values = in_order(system.pattern, blocks, symmetric)
    factor = factor_class(order)
    factor.factorize(values)
    b = order.gather(np.ones_like(q))
    solution = method(order, values, factor, b, 1e-17)
    assert solution.outcome == "rounding"
    assert 0.0 < solution.residual < 1e-13
    x = order.scatter(solution.x)
    assert relative_residual(system.pattern, blocks, x, np.ones_like(q)) == pytest.approx(solution.residual, rel=0.5)
    assert method(order, values, factor, b, 1e-12, limit=3).outcome == "out of iterations"


@pytest.mark.parametrize("ratio", [1e4, 1e8, 1e12])
@pytest.mark.parametrize("symmetric", [True, False])
def test_stiff_contact(ratio, symmetric):
    """Nodes on a penalty many times as stiff as the body, oblique to the axes, are solved as exactly as directly."""
    system, q, blocks = cube(3)
    pattern = system.pattern
    contact = np.flatnonzero((rows_of(pattern) == pattern.indices) & (q[pattern.indices, 1] > 0.101))
    normal = np.array([0.3, 1.0, 1.0]) / np.linalg.norm([0.3, 1.0, 1.0])
    blocks[contact] += ratio * np.abs(blocks).max() * np.outer(normal, normal)
    b = np.random.default_rng(0).standard_normal(q.shape)
    found = {}
    for kind in ("sparse", "auto"):
        solver = SparseSolver(pattern, 3) if kind == "sparse" else AutomaticSolver(pattern, 3)
        solver.update(blocks, symmetric, q)
        found[kind] = solver.solve(b, 1e-9)
        limit = max(1e-9, 1e-14 * ratio)
        assert relative_residual(pattern, blocks, found[kind], b) <= limit
    assert loose_part(pattern, blocks) is None


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("symmetric", [True, False])
def test_numbers_that_are_not_finite(bad, symmetric):
    system, q, blocks = cube(2)
    solver = KrylovSolver(system.pattern, 3)
    solver.update(blocks, symmetric, q)
    with pytest.raises(StepFailed, match=r"right-hand side .* not finite"):
        solver.solve(np.full_like(q, bad), 1e-9)
    broken = blocks.copy()
    rows, columns = rows_of(system.pattern), system.pattern.indices
    broken[(np.minimum(rows, columns) == 0) & (np.maximum(rows, columns) == columns[1]), 0, 0] = bad
    solver.update(broken, symmetric, q)
    with pytest.raises(StepFailed, match=r"factors|residual"):
        solver.solve(np.ones_like(q), 1e-9)
    broken[0, 0, 0] = bad
    with pytest.raises(StepFailed, match="on the diagonal"):
        solver.update(broken, symmetric, q)


def test_direct_factors_take_over(monkeypatch):
    system, q, blocks = cube(3)
    monkeypatch.setattr(KrylovSolver, "attempt", lambda *_: None)
    solver = AutomaticSolver(system.pattern, 3)
    solver.update(blocks, True, q)
    b = np.ones_like(q)
    for _ in range(2):
        assert relative_residual(system.pattern, blocks, solver.solve(b, 1e-9), b) <= 1e-9
    assert solver.counts["direct"] == 1
    solver.begin()
    solver.update(blocks, True, q)
    solver.solve(b, 1e-9)
    assert solver.counts["direct"] == 2


def test_no_direct_factors_beyond_memory(monkeypatch):
    system, q, blocks = cube(3)
    monkeypatch.setattr(automatic, "LARGEST_DIRECT", 100)
    monkeypatch.setattr(automatic, "_MOST_NUMBERS", 100)
    solver = AutomaticSolver(system.pattern, 3)
    solver.update(blocks, True, q)
    monkeypatch.setattr(iterative, "conjugate_gradients", stopped(conjugate_gradients))
    monkeypatch.setattr(iterative, "bicgstab", stopped(bicgstab))
    reported = (
        r"left a residual of .* \(expected 1.0e-09\) and was stopped after 3 iterations. Try .* linear=\"sparse\""
    )
    with pytest.raises(StepFailed, match=reported):
        solver.solve(np.ones_like(q), 1e-9)


def stopped(method):
    return lambda *arguments, **options: method(*arguments[:5], **(options | {"limit": 3}))


# -- singular systems -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver_class", [DenseSolver, SparseSolver, KrylovSolver, AutomaticSolver])
@pytest.mark.parametrize("symmetric", [True, False])
def test_a_floating_body_is_named(solver_class, symmetric):
    """Statics of two bodies of which one is clamped."""
    mesh = box((0.1, 0.1, 0.1), (2, 2, 2))
    n = len(mesh.points)
    points = np.vstack([mesh.points, mesh.points + np.array([0.2, 0.0, 0.0])])
    tets = np.vstack([mesh.cells["tetra"], mesh.cells["tetra"] + np.int32(n)])
    held = np.zeros(points.shape, bool)
    held[:n][mesh.points[:, 0] == 0.0] = True
    system = System(np.ones(2 * n), {"strain": Solid(points, tets, NeoHookean(1.0, 1.0, 1.0))}, fixed=held)
    blocks = held_back(system.pattern, system.hessian_blocks(points), held, np.ones(2 * n))
    weight = np.where(held, 0.0, [0.0, 0.0, 1.0])
    solver = solver_class(system.pattern, 3)

    def solve():
        solver.update(blocks, symmetric, points)
        solver.solve(weight, 1e-8)

    with pytest.raises(
        StepFailed, match=f"singular: the {n} nodes connected with node {n} are held by nothing along x"
    ):
        solve()


def test_a_mechanism_is_named():
    """A triangle of bars that is held at one corner turns about it."""
    points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    bars = Bars([[0, 1], [0, 2], [1, 2]], EngineeringStrain(1.0, [1.0, 2.0, 5.0**0.5]), dim=2)
    held = np.zeros((3, 2), bool)
    held[0] = True
    system = System(np.ones(3), {"bars": bars}, dim=2, fixed=held)
    stiffness = system.hessian_blocks(points)
    loose = loose_part(system.pattern, held_back(system.pattern, stiffness.copy(), held, np.ones(3)))
    assert loose == "2 nodes (1, 2) can move together without force, most of all node 2 along x; support them"
    held[1, 1] = True
    assert loose_part(system.pattern, held_back(system.pattern, stiffness.copy(), held, np.ones(3))) is None


@pytest.mark.parametrize("kind", ["dense", "sparse", "krylov", "auto"])
@pytest.mark.parametrize("angle", [0.0, 0.7])
def test_steps_name_what_moves_without_force(kind, angle):
    """Massless nodes that nothing holds across: pivots that are zero, or, where axes are oblique, almost."""
    axes = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    chain = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]) @ axes
    v = np.array([[1.0, 0.2], [0.0, 0.0], [0.0, 0.0], [0.0, -0.1]]) @ axes
    bars = Bars([[0, 1], [1, 2], [2, 3]], EngineeringStrain(100.0, 1.0), dim=2)
    system = System(np.array([1.0, 0.0, 0.0, 1.0]), {"bars": bars}, dim=2, massless=[False, True, True, False])
    motion = EnergyMomentum(0.01, newton=Newton(linear=kind)).start(system, system.state(chain, v))
    with pytest.raises(StepFailed, match=r"is singular: 2 nodes \(1, 2\) can move together without force"):
        motion.advance(0.01)
    hanging = Bars([[0, 1], [1, 2]], EngineeringStrain(100.0, 1.0), dim=2)
    system = System(np.array([1.0, 1.0, 0.0]), {"bars": hanging}, dim=2, massless=[False, False, True])
    motion = EnergyMomentum(0.01, newton=Newton(linear=kind)).start(system, system.state(chain[:3], v[[0, 1, 3]]))
    with pytest.raises(StepFailed, match=r"is singular: node 2 can move along [xy] without force; support it\."):
        motion.advance(0.01)


def test_regular_systems_have_no_loose_part():
    system, _, blocks = cube(2)
    assert loose_part(system.pattern, blocks) is None
    assert loose_part(system.pattern, np.full_like(blocks, np.nan)) is None
    assert "node 0 is held by nothing along x" in (loose_part(Pattern(2, []), np.zeros((2, 1, 1))) or "")


# -- the choice -------------------------------------------------------------------------------------------------------


def test_the_solver_is_chosen_by_size():
    pattern = lambda n: Pattern(n, [])  # noqa: E731
    assert isinstance(linear_solver("auto", pattern(10), 3), DenseSolver)
    assert isinstance(linear_solver("auto", pattern(300), 3), SparseSolver)
    assert isinstance(linear_solver("auto", pattern(3000), 3), AutomaticSolver)
    assert isinstance(linear_solver("sparse", pattern(3), 3), SparseSolver)
    assert isinstance(linear_solver("dense", pattern(300), 3), DenseSolver)
    assert isinstance(linear_solver("krylov", pattern(3), 3), KrylovSolver)


def test_ill_conditioned_systems_are_no_singular_ones():
    """Two nodes of 1e-9 kg on springs of 1e9 N/m, in steps 10⁷ times their period."""
    bars = Bars([[0, 1]], EngineeringStrain(1e9, 1.0), dim=1)
    tether = Bars([[0, 2]], EngineeringStrain(1.0, 0.0), dim=1)
    system = System(np.array([1e-9, 1e-9, 1.0]), {"bars": bars, "tether": tether}, dim=1)
    state = system.state(np.array([[0.0], [1.001], [0.5]]))
    for kind in ("dense", "sparse"):
        motion = EnergyMomentum(0.05, newton=Newton(linear=kind)).start(system, state)
        start = motion.energies(state)["total"]
        assert motion.energies(motion.advance(0.5))["total"] == pytest.approx(start, rel=1e-7)


@pytest.mark.parametrize("kind", ["dense", "sparse", "krylov", PETSC])
def test_statistics_count_what_the_linear_solver_did_also_over_a_checkpoint(kind):
    system, points, _ = cube(2)
    state = system.state(points, np.cross([300.0, 0.0, 2000.0], points - points.mean(axis=0)))
    method = EnergyMomentum(2e-6, newton=Newton(linear=kind))
    motion = method.start(system, state)
    motion.advance(2 * 2e-6)
    resumed = method.resume(system, motion.checkpoint())
    motion.advance(4 * 2e-6)
    resumed.advance(4 * 2e-6)
    counts = motion.statistics()
    assert resumed.statistics() == counts
    assert motion.statistics() == counts  # asking changes nothing
    assert 4 <= counts["factorisations"] <= counts["corrections"]
    assert ("linear_iterations" in counts) == (kind in ("krylov", "petsc"))
    assert not {"shifted", "indefinite", "direct"} & set(counts)


@pytest.mark.parametrize("fixed", [False, True])
def test_steps_are_the_same_with_every_solver(fixed):
    system, _, _ = cube(3, fixed=fixed)
    points = system.energies["strain"].points
    arms = points - points.mean(axis=0)
    state = system.state(points, np.cross([300.0, 0.0, 2000.0], arms))
    ends = {}
    for kind in ("dense", "sparse", "krylov"):
        motion = EnergyMomentum(2e-6, newton=Newton(linear=kind)).start(system, state)
        start, end = motion.energies(state)["total"], motion.advance(3 * 2e-6)
        assert motion.energies(end)["total"] == pytest.approx(start, rel=1e-12)
        ends[kind] = end.q
    size = np.abs(ends["dense"] - points).max()
    assert size > 1e-4
    np.testing.assert_allclose(ends["sparse"], ends["dense"], atol=1e-11 * size)
    np.testing.assert_allclose(ends["krylov"], ends["dense"], atol=1e-11 * size)


def test_factors_of_slender_shells_hold_no_more_than_their_order_needs():
    """Rotations are as much softer as a shell is thin: pivots off the diagonal would fill the factors."""
    pattern, blocks = matrix_of_grid(12)
    scale = np.where(np.arange(pattern.n_nodes)[:, None] % 2, 1e-5, 1.0) * np.ones(3)
    scaled = blocks * scale[pattern.rows()][:, :, None] * scale[pattern.indices][:, None, :]
    b = np.random.default_rng(1).standard_normal(scale.shape)
    solver = SparseSolver(pattern, 3)
    numbers = []
    for matrix, right, left in ((blocks, b, 1.0), (scaled, scale * b, scale)):
        solver.update(matrix, True, b)
        assert solver.definite
        numbers.append(solver._lu.L.nnz)
        x = left * solver.solve(right, 0.0)
        exact = np.linalg.solve(pattern.matrix(blocks).toarray(), b.ravel()).reshape(b.shape)
        assert np.abs(x - exact).max() < 1e-11 * np.abs(exact).max()
        near, iterations = solver.solve_near(1.01 * matrix, right, 1e-12, 20)
        assert iterations <= 2
        assert np.abs(1.01 * left * near - exact).max() < 1e-11 * np.abs(exact).max()
    assert numbers[1] <= 1.05 * numbers[0]


def matrix_of_grid(n):
    """Return a pattern of n × n nodes that are coupled with all neighbours, and blocks of a positive matrix on it."""
    at = np.arange(n * n).reshape(n, n)
    cells = np.stack([at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]], axis=-1).reshape(-1, 4)
    pattern = Pattern(n * n, [cells.astype(np.int32)])
    rng = np.random.default_rng(0)
    root = rng.standard_normal((len(cells), 12, 12))
    element = root @ root.swapaxes(1, 2)
    blocks = pattern.zeros(3)
    rows = pattern.slots[0].reshape(len(cells), 4, 4)
    for a in range(4):
        for c in range(4):
            np.add.at(blocks, rows[:, a, c], element[:, 3 * a : 3 * a + 3, 3 * c : 3 * c + 3])
    return pattern, blocks
