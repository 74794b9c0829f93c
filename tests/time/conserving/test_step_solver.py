"""How the steps of Graham and Jelenić's methods are solved: preconditioner, prediction, iteration, Newton's method."""

import numpy as np
import pytest

from symplex.errors import StepFailed
from symplex.fem.actions.mass import bar_mass, consistent_bar_mass
from symplex.fem.measures.bars import Bars, GreenStrain
from symplex.fem.system import System
from symplex.testing import round_off
from symplex.time.conserving.cayley_magnus import CayleyMagnus4, CayleyMagnus6, CayleyMagnus8
from symplex.time.conserving.cayley_preconditioner import CayleyPreconditioner
from symplex.time.conserving.conserving_schemes import EnergyMomentumScheme, MomentumConserving4, SymplecticMomentum
from symplex.time.conserving.graham_jelenic import GrahamJelenic
from symplex.time.conserving.step_solver import StepSolver
from symplex.time.solvers.rigid_prediction import rigid_prediction

POINTS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], float)
PAIRS = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [2, 3], [3, 1], [4, 1], [4, 2], [4, 3], [0, 4]])


def truss(mass=bar_mass, fixed=None):
    lengths = np.linalg.norm(POINTS[PAIRS[:, 1]] - POINTS[PAIRS[:, 0]], axis=1)
    bars = Bars(PAIRS, GreenStrain(100.0 / lengths, lengths))
    return System(mass(POINTS, PAIRS, 1.0, 1.0, len(POINTS)), {"bars": bars}, fixed=fixed)


def jacobian(scheme, system, h):
    """Return ∂g/∂z1 at rest without stress, by differences, on the coordinates that move."""
    z0 = np.stack([POINTS, np.zeros_like(POINTS)])
    scheme.begin(0.0, h, z0, np.zeros_like(POINTS))
    free = np.flatnonzero(~np.broadcast_to(system.fixed, z0.shape).ravel())
    columns, gain = [], np.empty_like(z0)
    for i in free:
        change = np.zeros(z0.size)
        change[i] = 1e-5
        sides = []
        for sign in (1, -1):
            scheme.add(z0 + sign * change.reshape(z0.shape), gain)
            sides.append((z0 + sign * change.reshape(z0.shape) - z0 - gain).ravel()[free])
        columns.append((sides[0] - sides[1]) / 2e-5)
    return np.column_stack(columns), free


@pytest.mark.parametrize(
    "scheme",
    [SymplecticMomentum, EnergyMomentumScheme, MomentumConserving4, CayleyMagnus4, CayleyMagnus6, CayleyMagnus8],
)
@pytest.mark.parametrize("setting", ["free", "supported", "consistent"])
def test_the_preconditioner_is_nearly_the_inverse_at_any_step(scheme, setting):
    fixed = np.zeros(POINTS.shape, bool)
    if setting == "supported":
        fixed[0] = fixed[1, 1:] = True
    system = truss(consistent_bar_mass if setting == "consistent" else bar_mass, fixed)
    spread = {2: 1.0, 4: 4 / 3, 6: 1.91, 8: 2.81}[scheme.order]
    for h in (0.05, 0.3, 3.0):  # hω up to 0.6, 4 and 40, or twice that
        J, free = jacobian(scheme(system, ()), system, h)
        preconditioner = CayleyPreconditioner(system, scheme.order, "dense")
        preconditioner.linearise(POINTS, h)
        preconditioner.factorise()
        PJ = np.empty_like(J)
        for i, column in enumerate(J.T):
            g = np.zeros(2 * POINTS.size)
            g[free] = column
            PJ[:, i] = preconditioner.solve(g.reshape(2, *POINTS.shape)).ravel()[free]
        eigenvalues = np.linalg.eigvals(PJ)
        np.testing.assert_allclose(eigenvalues.imag, 0.0, atol=1e-2)
        assert eigenvalues.real.min() > 1.0 / spread - 1e-2
        assert eigenvalues.real.max() < 1.0 + 1e-2


@pytest.mark.parametrize("dim", [2, 3])
def test_the_rigid_prediction_is_that_of_a_rigid_body(dim):
    system = System(truss().mass, {}, dim=dim)
    q = POINTS[:, :dim] + np.arange(1.0, dim + 1)
    axis = np.array([0.0, 0.0, 0.7]) if dim == 2 else np.array([0.3, -0.5, 0.4])
    centre = system.apply_mass(q).sum(axis=0) / np.sum(system.mass)
    arm = np.zeros((len(q), 3))
    arm[:, :dim] = q - centre
    drift = np.array([0.1, -0.2, 0.3])[:dim]
    start = np.stack([q, np.cross(axis, arm)[:, :dim] + drift])
    end = rigid_prediction(system, *start)
    for i in range(len(q)):  # no distance changes
        np.testing.assert_allclose(
            np.linalg.norm(end[0] - end[0][i], axis=1), np.linalg.norm(q - q[i], axis=1), atol=1e-14
        )
    np.testing.assert_allclose(system.apply_mass(end[0]).sum(axis=0) / np.sum(system.mass), centre + drift, atol=1e-14)
    angle = np.linalg.norm(axis)
    hat = np.cross(axis / angle, np.eye(3)).T
    Q = np.eye(3) + np.sin(angle) * hat + (1 - np.cos(angle)) * hat @ hat
    np.testing.assert_allclose(end[0] - centre - drift, (arm @ Q.T)[:, :dim], atol=1e-14)
    np.testing.assert_allclose(end[1] - drift, np.cross(axis, arm @ Q.T)[:, :dim], atol=1e-14)


def test_the_rigid_prediction_of_what_does_not_turn():
    still = System(np.ones(2), {})
    bar = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])  # no moment of inertia about its own line
    np.testing.assert_array_equal(rigid_prediction(still, bar, np.zeros((2, 3))), np.stack([bar, np.zeros((2, 3))]))
    one = System(np.ones(1), {})
    end = rigid_prediction(one, np.zeros((1, 3)), np.ones((1, 3)))
    np.testing.assert_array_equal(end, np.ones((2, 1, 3)))
    held = truss(fixed=np.arange(15).reshape(5, 3) < 3)
    np.testing.assert_array_equal(rigid_prediction(held, POINTS, 0.1 * POINTS), np.stack([POINTS, 0.1 * POINTS]))


class Equations:
    """g(z) = A z + curve · z³ − b, with nothing for a preconditioner but a diagonal."""

    def __init__(self, A, b, curve=0.0, limit=np.inf):
        self.A, self.b, self.curve, self.limit = A, b, curve, limit
        self.renewed = 0

    def residual(self, z):
        if np.abs(z).max() > self.limit:
            raise StepFailed("out of reach")
        return (self.A @ z.ravel() + self.curve * z.ravel() ** 3 - self.b).reshape(z.shape)

    def correction(self, g):
        return g / np.diag(self.A).reshape(g.shape)

    def renew(self, z):
        self.renewed += 1
        return True


def matrix(n, coupling):
    rng = np.random.default_rng(1)
    return np.diag(np.linspace(1.0, 3.0, n)) + coupling * rng.standard_normal((n, n)) / np.sqrt(n)


def test_a_linear_problem_takes_as_many_iterations_as_a_krylov_method():
    A, b = matrix(12, 2.0), np.arange(12.0)
    problem = Equations(A, b)
    solver = StepSolver(np.ones(2), 200)
    count = solver.solve(problem, np.zeros((2, 2, 3)), 1e-12, 1e-13)
    np.testing.assert_allclose(solver.z.ravel(), np.linalg.solve(A, b), atol=1e-11)
    assert count <= 16  # 12 unknowns, where the plain iteration diverges:
    assert np.abs(np.linalg.eigvals(np.eye(12) - A / np.diag(A)[:, None])).max() > 1.0
    assert problem.renewed == 0


def test_newton_s_method_takes_over_where_the_iteration_diverges():
    A, b = matrix(12, 0.5), 30.0 * np.cos(np.arange(12.0))
    problem = Equations(A, b, curve=1.0, limit=20.0)
    solver = StepSolver(np.ones(2), 2000)
    solver.solve(problem, np.zeros((2, 2, 3)), 1e-11, 1e-11)
    assert np.abs(problem.residual(solver.z)).max() < 1e-11
    assert problem.renewed > 0


def test_a_problem_without_a_solution_fails_with_its_residuals():
    problem = Equations(np.eye(12), np.full(12, 5.0), limit=2.0)
    with pytest.raises(StepFailed, match=r"not solved: after \d+ residuals .* Try a smaller step"):
        StepSolver(np.ones(2), 50).solve(problem, np.zeros((2, 2, 3)), 1e-12, 1e-13)


def test_a_stiff_truss_that_turns_far_in_a_step():
    """Half a radian and hω = 15: energy-momentum turns it by 2 atan(½ ω h) still."""
    points = np.array([[0, 0], [0, 1], [-1, 0], [0, -1], [1, 0]], float)
    pairs = np.array([[0, 1], [0, 2], [0, 3], [0, 4], [1, 2], [2, 3], [3, 4], [4, 1]])
    lengths = np.linalg.norm(points[pairs[:, 1]] - points[pairs[:, 0]], axis=1)
    bars = Bars(pairs, GreenStrain(1e4 / lengths, lengths), dim=2)
    system = System(bar_mass(points, pairs, 1.0, 1.0, 5), {"bars": bars}, dim=2)
    v = np.column_stack([-points[:, 1], points[:, 0]])
    motion = GrahamJelenic(0.5, "energy-momentum").start(system, system.state(points, v))
    start, end = motion.advance(0.0), motion.advance(2.0)
    turned = np.unwrap([0.0, np.arctan2(-end.q[1, 0], end.q[1, 1])])[1]
    assert turned == pytest.approx(4 * 2 * np.arctan(0.25), abs=2e-3)  # it breathes a little
    known_to = 2.0 * round_off.of_forces(system, end.q)  # each node moves by 2 m
    assert system.energies_of(end)["total"] == pytest.approx(system.energies_of(start)["total"], rel=0.0, abs=known_to)
    assert motion.statistics()["factorised"] >= 1
