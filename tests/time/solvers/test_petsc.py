"""PETSc as the linear solver of implicit steps; skipped where petsc4py is not installed."""

import sys

import numpy as np
import pytest

from symplex.errors import MissingPackage, StepFailed
from symplex.fem.actions.mass import lumped_mass
from symplex.fem.assembly.pattern import Pattern
from symplex.fem.measures.bars import Bars
from symplex.fem.measures.pair_laws import EngineeringStrain
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.system import System
from symplex.meshes.generate import box
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.equilibria.static import static_equilibrium
from symplex.time.implicit.midpoint import Midpoint
from symplex.time.solvers.linear import linear_solver
from symplex.time.solvers.newton import Newton

RUBBER = NeoHookean(lmbda=6e6, mu=4e6, density=1000.0)
BAR = """
[[body]]
name = "bar"
mesh = { box = [1.0, 0.2, 0.2], cells = [8, 2, 2] }
material = { law = "neo-hookean", young = 1e7, poisson = 0.3, density = 1000.0 }
velocity = [0.0, 0.0, -3.0]
[[support]]
body = "bar"
group = "x_min"
[integrator]
kind = "energy-momentum"
dt = 2e-4
solver = "petsc"
[run]
duration = 0.001
frames = 2
[output]
pictures = false
"""
PETSC = Newton(linear="petsc")


@pytest.fixture
def petsc():
    pytest.importorskip("petsc4py", reason="petsc4py is not installed (Debian: python3-petsc4py)")


def body(fixed=False):
    """A block that turns and vibrates, free or held at one end (the middle of which is held across only)."""
    mesh = box((2.0, 1.0, 1.0), (6, 3, 3))
    x = mesh.points
    held = np.zeros(x.shape, bool)
    if fixed:
        held[x[:, 0] < 1e-9] = True
        held[x[:, 0] > 2.0 - 1e-9, 1] = True
    mass = lumped_mass(x, mesh.cells["tetra"], RUBBER.density, len(x))
    system = System(mass, {"strain": Solid(x, mesh.cells["tetra"], RUBBER)}, fixed=held)
    v = np.cross([1.0, 2.0, -3.0], x - x.mean(axis=0)) + 2.0 * np.sin(3.0 * x[:, [1, 2, 0]])
    return system, system.state(x, np.where(held, 0.0, v))


def matrix(system, q, h, symmetric):
    """The matrix of a step of midpoint's or energy-momentum's kind."""
    blocks = system.hessian_blocks(q) if symmetric else system.discrete_hessian_blocks(q, q + 0.1 * np.sin(5.0 * q))
    diagonal = system.pattern.rows() == system.pattern.indices
    rows, columns = system.pattern.rows(), system.pattern.indices
    blocks[system.fixed[rows]] = 0.0
    blocks.transpose(0, 2, 1)[system.fixed[columns]] = 0.0
    blocks[diagonal] += 4.0 / h**2 * system.mass[:, None, None] * np.eye(system.dim)
    return blocks


def residual(system, blocks, x, b):
    return np.linalg.norm(system.pattern.matrix(blocks) @ x.ravel() - b.ravel()) / np.linalg.norm(b)


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize(("symmetric", "step"), [(True, 1e-3), (True, 1.0), (False, 1e-3), (False, 3e-3)])
def test_matrices_are_solved_to_the_tolerance_asked_for(petsc, fixed, symmetric, step):
    system, state = body(fixed)
    blocks = matrix(system, state.q, step, symmetric)
    b = np.where(system.fixed, 0.0, np.random.default_rng(0).standard_normal(state.q.shape))
    solver = linear_solver("petsc", system.pattern, 3)
    solver.update(blocks, symmetric, state.q)
    for tolerance in (1e-2, 1e-10):
        x = solver.solve(1e200 * b, tolerance)
        assert residual(system, blocks, x * 1e-200, b) <= 1.001 * tolerance
    np.testing.assert_array_equal(x[system.fixed], 0.0)
    again = linear_solver("petsc", system.pattern, 3)
    again.update(blocks, symmetric, state.q)
    again.solve(1e200 * b, 1e-2)
    np.testing.assert_array_equal(again.solve(1e200 * b, 1e-10), x)
    assert solver.definite == symmetric
    assert not solver.solve(0.0 * b, 1e-3).any()
    assert solver.counts["factorisations"] == 1
    assert 2 < solver.counts["iterations"] < 200
    with pytest.raises(StepFailed, match=r"right-hand side .* is not finite"):
        solver.solve(np.full_like(b, np.inf), 1e-3)


@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("symmetric", [True, False])
def test_lines_and_planes(petsc, dim, symmetric):
    rng = np.random.default_rng(dim)
    pattern = Pattern(40, [np.column_stack([np.arange(39), np.arange(1, 40)])])
    blocks = 0.3 * rng.standard_normal((len(pattern.indices), dim, dim))
    blocks[pattern.rows() == pattern.indices] += 4.0 * np.eye(dim)
    if symmetric:
        both = pattern.matrix(blocks).toarray()
        both = 0.5 * (both + both.T)
        for s, (i, j) in enumerate(zip(pattern.rows(), pattern.indices, strict=True)):
            blocks[s] = both[dim * i : dim * (i + 1), dim * j : dim * (j + 1)]
    b = rng.standard_normal((40, dim))
    solver = linear_solver("petsc", pattern, dim)
    solver.update(blocks, symmetric, rng.standard_normal((40, dim)))
    expected = np.linalg.solve(pattern.matrix(blocks).toarray(), b.ravel())
    np.testing.assert_allclose(solver.solve(b, 1e-12).ravel(), expected, rtol=0, atol=1e-11)


def test_matrices_that_are_not_positive_are_seen_and_solved(petsc):
    system, state = body()
    blocks = matrix(system, state.q, 1.0, True)
    blocks[system.pattern.rows() == system.pattern.indices] -= 1e4 * np.eye(3)
    b = np.random.default_rng(0).standard_normal(state.q.shape)
    assert np.linalg.eigvalsh(system.pattern.matrix(blocks).toarray())[0] < 0.0
    solver = linear_solver("petsc", system.pattern, 3)
    solver.update(blocks, True, state.q)
    assert residual(system, blocks, solver.solve(b, 1e-8), b) <= 1e-8
    assert not solver.definite
    assert solver.counts["indefinite"] == 1


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("method", [EnergyMomentum, Midpoint])
def test_steps_are_those_of_sparse_factors(petsc, method, fixed):
    """To the floor of Newton's method, by which energy is kept; and the same bits where a run is resumed."""
    system, state = body(fixed)
    dt = 5e-3
    motion = method(dt, newton=PETSC).start(system, state)
    middle = motion.advance(dt)
    resumed = method(dt, newton=PETSC).resume(system, motion.checkpoint())
    end, other = motion.advance(3 * dt), resumed.advance(3 * dt)
    np.testing.assert_array_equal(other.q, end.q)
    exact = method(dt, newton=Newton(linear="sparse")).start(system, state).advance(3 * dt)
    np.testing.assert_allclose(end.q, exact.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(end.v, exact.v, rtol=0, atol=2e-11 * np.abs(exact.v).max())
    assert np.abs(end.q - middle.q).max() > 0.01
    if method is EnergyMomentum:
        before, after = system.energies_of(state)["total"], system.energies_of(end)["total"]
        assert abs(after - before) < 1e-12 * before
    assert motion.statistics()["linear_iterations"] > 0


def test_equilibria_are_those_of_sparse_factors(petsc):
    from symplex.fem.actions.loads import Gravity

    system, state = body(fixed=True)
    hanging = System(
        system.mass,
        {**system.energies, "gravity": Gravity(system.mass, (0.0, 0.0, -9.81))},
        fixed=system.fixed,
    )
    found = static_equilibrium(hanging, state.q, newton=PETSC)
    expected = static_equilibrium(hanging, state.q, newton=Newton(linear="sparse"))
    np.testing.assert_allclose(found.state.q, expected.state.q, rtol=0, atol=1e-11)
    assert np.abs(found.state.q - state.q).max() > 1e-4


def test_what_moves_without_force_is_named(petsc):
    chain = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])
    bars = Bars([[0, 1], [1, 2], [2, 3]], EngineeringStrain(100.0, 1.0), dim=2)
    system = System(np.array([1.0, 0.0, 0.0, 1.0]), {"bars": bars}, dim=2, massless=[False, True, True, False])
    state = system.state(chain, np.array([[1.0, 0.2], [0.0, 0.0], [0.0, 0.0], [0.0, -0.1]]))
    motion = EnergyMomentum(0.01, newton=PETSC).start(system, state)
    with pytest.raises(StepFailed, match=r"is singular: 2 nodes \(1, 2\) can move together without force"):
        motion.advance(0.01)


def test_what_iterations_leave_is_told(petsc, monkeypatch):
    from symplex.time.solvers import petsc as module

    monkeypatch.setattr(module, "LIMIT", 2)
    system, state = body(fixed=True)
    solver = linear_solver("petsc", system.pattern, 3)
    solver.update(matrix(system, state.q, 1.0, True), True, state.q)
    with pytest.raises(
        StepFailed, match=r"PETSc's solver left a residual of .*, expected 1\.0e-09 \(DIVERGED_MAX_IT\)"
    ):
        solver.solve(np.where(system.fixed, 0.0, 1.0), 1e-9)


def test_a_scenario_names_it(petsc, tmp_path):
    import symplex as sx

    (tmp_path / "bar.toml").write_text(BAR, "utf-8")
    sx.simulate(tmp_path / "bar.toml", tmp_path / "one", progress=False)
    history = sx.read_history(tmp_path / "one" / "history.csv")
    assert np.ptp(history["total"]) < 1e-12 * history["kinetic"].max()


def test_without_the_package_one_sentence_tells_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "petsc4py", None)  # as if it were not installed
    system = System(np.ones(2), {"bar": Bars([[0, 1]], EngineeringStrain(1.0, 1.0), dim=1)}, dim=1)
    state = system.state(np.array([[0.0], [1.0]]))
    sentence = (
        "the solver petsc needs the package petsc4py, which is not installed (Debian: python3-petsc4py; conda: "
        "petsc4py)."
    )
    for start in (
        lambda: Midpoint(0.1, newton=PETSC).start(system, state),
        lambda: linear_solver("petsc", system.pattern, 1),
    ):
        with pytest.raises(MissingPackage) as reported:
            start()
        assert str(reported.value) == sentence
