"""Derivatives of runs by parameters, against differences of runs: two-sided in the step of the differences."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import symplex as sx
from reference.impacts import METHODS, NAMES, PARAMETERS, differences, thrown, truss
from symplex.errors import InvalidArgument, InvalidSystem, StepFailed
from symplex.gradients.family import Family
from symplex.gradients.linear_steps import ForcesAtPoint

TIMES = np.array([2e-3, 6e-3, 12e-3])


def observe(system, state):
    energies = system.energies_of(state)
    return np.concatenate([state.q[[0, 5]].ravel(), state.v[2], [energies["total"], energies["block"]], state.a[3]])


def run_of(build, method, times, observe):
    def run(p):
        system, state = build(p)
        return np.array([observe(system, reached) for reached in sx.march(system, method, state, times)])

    return run


def relative(a, b):
    """Return the largest difference of numbers [T, m], relative to the largest of each column."""
    return float((np.abs(a - b) / np.abs(b).max(axis=0)).max())


# In the fast suite: a method with a discrete gradient, one of the alpha methods and the explicit one.
FAST = {"energy-momentum", "hht", "explicit"}


@pytest.mark.parametrize("name", [pytest.param(one, marks=[pytest.mark.slow] * (one not in FAST)) for one in METHODS])
def test_tangents_are_those_of_runs_through_an_oblique_impact_with_friction_and_damping(name):
    method = METHODS[name]
    run = run_of(thrown, method, TIMES, observe)
    found = sx.tangent(thrown, PARAMETERS, method, TIMES, observe)
    assert np.array_equal(found.values, run(PARAMETERS))
    for j, parameter in enumerate(NAMES):
        errors = [relative(found.jacobian[..., j], differences(run, PARAMETERS, j, r)) for r in (1e-4, 2e-5, 4e-6)]
        # Differences err by the square of their step, by rounding over it, and where a contact switches within it.
        assert min(errors) < 1e-6, (parameter, errors)


@pytest.mark.parametrize("name", ["energy-momentum", "generalized-alpha", "explicit"])
def test_differences_tend_to_tangents_with_the_square_of_their_step(name):
    def flying(p):
        return thrown([p[0], p[1], 1000.0, 1e-9, 0.3, 9.81, p[2], 2e-4])

    p, method = np.array([1e5, 0.3, 40.0]), METHODS[name]
    run = run_of(flying, method, TIMES, lambda system, state: state.q.ravel())
    found = sx.tangent(flying, p, method, TIMES)
    for j in range(3):
        coarse, fine = (differences(run, p, j, r) for r in (4e-3, 2e-3))
        errors = [np.abs(one - found.jacobian[..., j]).max() for one in (coarse, fine)]
        assert 3.8 < errors[0] / errors[1] < 4.2
        assert np.abs((4.0 * fine - coarse) / 3.0 - found.jacobian[..., j]).max() < 1e-3 * errors[1]


def test_the_state_at_the_end_has_its_derivatives():
    method = METHODS["midpoint"]
    found = sx.tangent(thrown, PARAMETERS, method, TIMES)
    assert np.array_equal(found.dq.reshape(-1, 8), found.jacobian[-1])
    again = sx.tangent(thrown, PARAMETERS, method, TIMES, lambda system, state: state.v.ravel())
    assert relative(again.jacobian[-1], found.dv.reshape(-1, 8)) < 1e-9


@pytest.mark.parametrize("name", ["energy-momentum", "hht", "explicit"])
def test_trusses_masses_drag_loads_and_positions(name):
    p, method = np.array([50.0, 1.1, 0.4, 0.3, 2.0, 0.3]), METHODS[name]
    times = [0.2, 0.4]
    run = run_of(truss, method, times, lambda system, state: state.q.ravel())
    found = sx.tangent(truss, p, method, times)
    for j in range(len(p)):
        coarse, fine = (differences(run, p, j, r) for r in (2e-3, 1e-3))
        assert np.allclose((4.0 * fine - coarse) / 3.0, found.jacobian[..., j], rtol=0.0, atol=2e-8)


def shaken(p):
    """A mass on two bars whose supports one moves, with a consistent mass."""
    system, _ = truss([50.0, 1.1, 0.4, 0.3, 2.0, 0.3])
    x = np.array([[-1.0, 0.0], [0.0, -0.3], [1.0, 0.0]])
    bars = sx.Bars([[0, 1], [1, 2]], sx.measures.GreenStrain(p[0], p[1]), dim=2)
    shake = sx.actions.SupportTranslation(
        [0], (0.05, 0.02), sx.actions.TimeFunction.differenced(lambda t: np.sin(9.0 * t), 1e-3)
    )
    fixed = np.array([[False] * 2, [False] * 2, [True] * 2])
    mass = (
        system.mass
        if p[2] == 0.0
        else csr_array(np.diag([1.0, 0.4, 1.0]) + 0.1 * np.eye(3, k=1) + 0.1 * np.eye(3, k=-1))
    )
    system = sx.System(mass, {"bars": bars}, dim=2, fixed=fixed, moving={"shake": shake})
    return system, system.state(x, p[3] * np.ones((3, 2)))


@pytest.mark.parametrize(
    ("name", "consistent"),
    [
        ("explicit", False),
        ("energy-momentum", True),
        *(pytest.param(name, True, marks=pytest.mark.slow) for name in ("midpoint", "hht")),
        *(pytest.param(name, False, marks=pytest.mark.slow) for name in ("energy-momentum", "midpoint", "hht")),
    ],
)
def test_moving_supports_and_consistent_masses(name, consistent):
    method, times = METHODS[name], [0.2, 0.4]

    def build(p):
        return shaken([p[0], p[1], float(consistent), p[2]])

    p = np.array([50.0, 1.1, 0.5])
    run = run_of(build, method, times, lambda system, state: np.concatenate([state.q.ravel(), state.v.ravel()]))
    found = sx.tangent(
        build, p, method, times, lambda system, state: np.concatenate([state.q.ravel(), state.v.ravel()])
    )
    for j in range(3):
        coarse, fine = (differences(run, p, j, r) for r in (2e-3, 1e-3))
        assert np.allclose((4.0 * fine - coarse) / 3.0, found.jacobian[..., j], rtol=0.0, atol=1e-7)

    def amplitude(p):
        system, state = build([50.0, 1.1, 0.5])
        shake = sx.actions.SupportTranslation([0], (p[0], 0.0), sx.actions.TimeFunction.steady(1.0))
        energies, fixed = system.energies, np.array([[False] * 2, [False] * 2, [True] * 2])
        system = sx.System(system.mass, energies, dim=2, fixed=fixed, moving={"shake": shake})
        return system, system.state(state.q)

    with pytest.raises(InvalidSystem, match="parameter 0 changes the motion of a support"):
        sx.tangent(amplitude, [0.1], method, times)


def test_a_barrier_that_is_struck():
    def build(p):
        law = sx.contact.BodyContact
        mesh = sx.box((0.1, 0.1, 0.1), (1, 1, 1))
        n = len(mesh.points)
        points = np.vstack([mesh.points, mesh.points + np.array([0.02, 0.01, 0.125])])
        cells = np.vstack([mesh.cells["tetra"], mesh.cells["tetra"] + n])
        surface = sx.contact.Surface.of(sx.Mesh(points, {"tetra": cells}))
        strain = sx.Solid(points, cells, sx.NeoHookean(lmbda=p[0], mu=p[0], density=1000.0))
        mass = sx.lumped_mass(points, cells, 1000.0, 2 * n)
        contact = law(surface, p[1], distance=0.01, law="barrier")
        v = np.zeros((2 * n, 3))
        v[n:] = [0.0, 0.0, -p[2]]
        system = sx.System(mass, {"bodies": strain, "contact": contact})
        return system, system.state(points, v)

    p, times, method = np.array([4e4, 1e8, 3.0]), [0.004, 0.012], sx.EnergyMomentum(5e-4)
    run = run_of(build, method, times, lambda system, state: state.q.ravel())
    found = sx.tangent(build, p, method, times)
    system, state = build(p)
    *_, end = sx.march(system, method, state, times)
    assert end.v[: len(end.v) // 2, 2].min() < -0.5  # it was struck
    for j in range(3):
        scale = np.abs(found.jacobian[..., j]).max()
        errors = [np.abs(differences(run, p, j, r) - found.jacobian[..., j]).max() / scale for r in (1e-5, 1e-6)]
        assert min(errors) < 1e-5, (j, errors)


@pytest.mark.slow
def test_two_spinning_bodies_in_collision():
    mesh = sx.box((0.1, 0.1, 0.1), (1, 1, 1))
    n = len(mesh.points)
    points = np.vstack([mesh.points, mesh.points + np.array([0.06, 0.04, 0.13])])
    both = sx.Mesh(points, {"tetra": np.vstack([mesh.cells["tetra"], mesh.cells["tetra"] + n])})
    surface = sx.contact.Surface.of(both)

    def build(p):
        strain = sx.Solid(points, both.cells["tetra"], sx.NeoHookean(lmbda=p[0], mu=p[0], density=p[1]))
        mass = sx.lumped_mass(points, both.cells["tetra"], p[1], 2 * n)
        contact = sx.contact.BodyContact(surface, p[2], distance=0.02)
        friction = sx.contact.Friction(contact, p[3], slip_speed=0.1)
        v = np.zeros((2 * n, 3))
        v[:n] = p[4] * np.cross([1.0, 2.0, 0.5], points[:n] - points[:n].mean(axis=0))
        v[n:] = [0.0, 0.0, -4.0]
        system = sx.System(mass, {"bodies": strain, "contact": contact}, loads={"friction": friction})
        return system, system.state(points, v)

    p, times = np.array([4e4, 1000.0, 3e6, 0.2, 5.0]), [0.004, 0.012]
    for method in (sx.EnergyMomentum(4e-4), sx.Newmark(1e-4)):
        run = run_of(build, method, times, lambda system, state: state.q.ravel())
        found = sx.tangent(build, p, method, times)
        system, state = build(p)
        *_, end = sx.march(system, method, state, times)
        assert np.abs(end.v[n:] - [0.0, 0.0, -4.0]).max() > 0.5  # they have met
        for j in range(len(p)):
            scale = np.abs(found.jacobian[..., j]).max()
            errors = [
                np.abs(differences(run, p, j, r) - found.jacobian[..., j]).max() / scale for r in (1e-4, 2e-5, 4e-6)
            ]
            assert min(errors) < 1e-6, (j, errors)


def test_what_has_no_derivative_is_refused_by_name():
    for method, name in ((sx.ForceStepping(grid=1e-3), "ForceStepping"), (sx.ZhangSkeel(1e-3), "ZhangSkeel")):
        with pytest.raises(InvalidSystem, match=f"{name}.* has no derivatives here"):
            sx.tangent(thrown, PARAMETERS, method, TIMES)
    with pytest.raises(InvalidSystem, match="steps that contact_steps divides have no derivatives, got 4"):
        sx.tangent(thrown, PARAMETERS, sx.Newmark(1e-4, contact_steps=4), TIMES)
    with pytest.raises(InvalidSystem, match="Midpoint with alpha = 1 has no derivatives"):
        sx.tangent(thrown, PARAMETERS, sx.Midpoint(1e-4, alpha=1.0), TIMES)

    def with_load(p):
        system, state = thrown(p)
        return sx.System(system.mass, system.energies, loads={"wind": lambda t, q, v: -v}), state

    with pytest.raises(InvalidSystem, match=r"load 'wind' \(function\) has no derivatives"):
        sx.tangent(with_load, PARAMETERS, sx.Newmark(1e-4), TIMES)


def test_what_changes_more_than_numbers_is_refused():
    def other_support(p):
        fixed = np.zeros((3, 2), bool)
        fixed[0] = fixed[2] = True
        fixed[1, 0] = p[0] > 50.0
        system, state = truss(p)
        return sx.System(system.mass, system.energies, dim=2, fixed=fixed), state

    with pytest.raises(InvalidSystem, match="parameter 0 changes which coordinates are fixed"):
        sx.tangent(other_support, [50.0, 1.1, 0.4, 0.3, 2.0, 0.3], sx.Newmark(1e-3), [0.1])
    with pytest.raises(InvalidArgument, match=r"scale of parameter 1 must be positive, got 0. Give scales"):
        sx.tangent(truss, [50.0, 0.0], sx.Newmark(1e-3), [0.1])
    with pytest.raises(InvalidArgument, match="build must return a System and a State"):
        sx.tangent(lambda p: 1, [50.0], sx.Newmark(1e-3), [0.1])
    with pytest.raises(InvalidArgument, match="observe must return finite numbers"):
        sx.tangent(truss, [50.0, 1.1, 0.4, 0.3, 2.0, 0.3], sx.Newmark(1e-3), [0.1], lambda system, state: "x")
    with pytest.raises(InvalidArgument, match="times must be finite numbers in ascending order"):
        sx.tangent(truss, [50.0, 1.1, 0.4, 0.3, 2.0, 0.3], sx.Newmark(1e-3), [0.2, 0.1])
    with pytest.raises(StepFailed, match="not an integer"):
        sx.tangent(truss, [50.0, 1.1, 0.4, 0.3, 2.0, 0.3], sx.Newmark(1e-3), [0.1, 0.1 + np.pi / 30])


class Counted:
    """Forces of a state that count for how many systems they have been found."""

    def __init__(self, q):
        self.forces, self.count = ForcesAtPoint(0.0, q, np.zeros_like(q)), 0

    def of(self, system, names):
        self.count += 1
        return self.forces.of(system, names)


def test_two_neighbours_are_taken_where_they_are_enough_and_four_elsewhere():
    def spring(p):
        strain = sx.Bars([[0, 1]], sx.measures.EngineeringStrain(p[0], 1.0 / p[1]))
        system = sx.System(np.ones(2), {"spring": strain})
        return system, system.state([[0.0, 0.0, 0.0], [1.2, 0.0, 0.0]])

    family, counts = Family(spring, [100.0, 1.0]), ([], [])
    for k in range(18):
        length = 1.2 + 0.1 * k
        for j, exact in enumerate((length - 1.0, 100.0)):  # F = k (l − 1/p)
            forces = Counted(np.array([[0.0, 0.0, 0.0], [length, 0.0, 0.0]]))
            assert np.isclose(family.slope_of_forces(j, forces)[1, 0], exact, rtol=1e-10)
            counts[j].append(forces.count)
    assert counts[0] == [4, 4, 4, 4, 4, 2, 2, 2, 4, 2, 2, 2, 2, 2, 2, 2, 4, 2]  # after 4, 8, 16 … it compares again
    assert counts[1] == [4] * 18
