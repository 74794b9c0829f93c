"""Newmark's method with one iteration a step, and the variational Euler method."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from papers.linearly_implicit import LinearlyImplicitNewmark
from papers.variational_euler import VariationalEuler
from symplex.errors import InvalidSystem, StepFailed, UnstableStep
from symplex.fem.actions.loads import Gravity
from symplex.fem.actions.mass import consistent_bar_mass
from symplex.fem.measures.bars import Bars, EngineeringStrain, GreenStrain
from symplex.fem.system import State, System
from symplex.time.composition import Composition
from symplex.time.explicit.newmark import Newmark
from symplex.time.implicit.midpoint import Midpoint
from symplex.time.langevin import Langevin
from symplex.time.variational.zhang_skeel import ZhangSkeel

POINTS = np.array([[0.0, 0.0], [1.0, 0.1], [0.9, 1.1], [-0.1, 1.0]])
PAIRS = [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]]
OPTIONS = [(guess, taken) for guess in ("last", "predicted") for taken in ("linearised", "evaluated")]


def truss(stiffness=4.0, **options):
    """Four masses joined by springs, one of them held: it turns, falls and vibrates."""
    springs = Bars(PAIRS, GreenStrain(stiffness, 1.0), dim=2)
    mass = options.pop("mass", np.array([1.0, 1.5, 0.7, 1.2]))
    weight = Gravity(np.array([1.0, 1.5, 0.7, 1.2]), (0.0, -0.3))
    system = System(
        mass, {"springs": springs, "weight": weight}, dim=2, fixed=[[True] * 2, *[[False] * 2] * 3], **options
    )
    return system, system.state(1.1 * POINTS, 0.4 * POINTS[:, ::-1] * [1.0, -1.0])


def line(stiffness=7.0):
    """Three masses on a line, whose springs are linear there."""
    system = System(
        np.array([1.0, 2.0, 0.5]), {"s": Bars([[0, 1], [1, 2]], EngineeringStrain(stiffness, 1.0), dim=1)}, dim=1
    )
    return system, system.state([[0.0], [1.2], [2.1]], [[0.1], [-0.2], [0.3]])


@pytest.mark.parametrize(("guess", "taken"), OPTIONS)
@pytest.mark.parametrize("beta", [0.25, 0.4, 1.0])
def test_linear_systems_move_as_by_newmarks_method(guess, taken, beta):
    system, start = line()
    here = LinearlyImplicitNewmark(0.2, beta, guess, taken).start(system, start).advance(10.0)
    there = Newmark(0.2, beta).start(system, start).advance(10.0)
    np.testing.assert_allclose(here.q, there.q, atol=1e-12)
    np.testing.assert_allclose(here.v, there.v, atol=1e-12)
    np.testing.assert_allclose(here.a, there.a, atol=1e-11)


def test_from_the_prediction_it_is_the_simplified_method_of_zhang_and_skeel():
    """In other coordinates: q = x + βh² a(x)."""
    system, start = truss()
    h, beta = 0.1, 0.4
    other = ZhangSkeel(h, beta, "simplified").start(system, start)
    shift = beta * h * h
    first = other.checkpoint()["solution"]
    method = LinearlyImplicitNewmark(h, beta, "predicted")
    stored = method.start(system, State(0.0, start.q + shift * first, start.v, start.a)).checkpoint()
    motion = method.resume(system, stored | {"taken": first})
    for t in h * np.arange(1, 200, 20):
        x, q = other.advance(t), motion.advance(t)
        np.testing.assert_allclose(q.q, x.q + shift * other.checkpoint()["solution"], atol=1e-12)
        np.testing.assert_allclose(q.v, x.v, atol=1e-12)
    # From the last positions it is not.
    last = LinearlyImplicitNewmark(h, beta).resume(system, stored | {"taken": first})
    assert np.abs(last.advance(t).q - q.q).max() > 1e-3


@pytest.mark.parametrize(("guess", "taken"), OPTIONS)
def test_one_iteration_is_not_reversible(guess, taken):
    system, start = truss()
    method = LinearlyImplicitNewmark(0.1, 0.4, guess, taken)
    there = method.start(system, start).advance(4.0)
    back = method.start(system, there.reversed()).advance(8.0)
    assert np.abs(back.q - start.q).max() > 1e-5
    there = Newmark(0.1, 0.4).start(system, start).advance(4.0)
    back = Newmark(0.1, 0.4).start(system, there.reversed()).advance(8.0)
    assert np.abs(back.q - start.q).max() < 1e-10


def test_from_the_last_positions_energy_is_lost_and_from_the_prediction_hardly_any():
    # A pendulum of two stiff rods falls from rest.
    rods = Bars([[0, 1], [1, 2]], GreenStrain(1600.0, 1.0), dim=2)
    energies = {"rods": rods, "weight": Gravity(np.ones(3), (0.0, -1.0))}
    system = System(np.ones(3), energies, dim=2, fixed=[[True] * 2, [False] * 2, [False] * 2])
    start = system.state([[0.0, 0.0], [0.6, -0.8], [1.6, -0.8]])
    times = np.arange(0.0, 50.0, 0.1)

    def change(guess):
        motion = LinearlyImplicitNewmark(0.1, 0.4, guess).start(system, start)
        totals = [system.energies_of(motion.advance(t))["total"] for t in times]
        return np.mean(totals[-100:]) - totals[0]

    assert change("last") < -0.2
    assert abs(change("predicted")) < 0.02


def exact(system, start, t):
    def rate(t, y):
        q, v = y.reshape(2, *start.q.shape)
        return np.concatenate([v.ravel(), system.accelerations(system.force(t, q, v)).ravel()])

    y = solve_ivp(rate, (0.0, t), np.concatenate([start.q, start.v]).ravel(), "DOP853", rtol=1e-12, atol=1e-13).y
    return y[:, -1].reshape(2, *start.q.shape)


METHODS = {
    "variational Euler": (VariationalEuler, 0.002),
    "last": (lambda h: LinearlyImplicitNewmark(h, 0.4), 0.01),
    "last, evaluated": (lambda h: LinearlyImplicitNewmark(h, 0.4, accelerations="evaluated"), 0.01),
    "predicted": (lambda h: LinearlyImplicitNewmark(h, 0.4, "predicted"), 0.02),
}


@pytest.mark.parametrize("name", METHODS)
def test_loads_that_depend_on_all_keep_the_order_and_their_work_balances(name):
    make, h = METHODS[name]
    loads = {
        "shake": lambda t, q, v: 0.5 * np.sin(3.0 * t) * q[:, ::-1],
        "drag": lambda t, q, v: -0.3 * v,
    }
    system, start = truss(loads=loads)
    q, v = exact(system, start, 2.0)
    errors, imbalances = [], []
    for step in (h, h / 2):
        motion = make(step).start(system, start)
        before = motion.energies(start)["balance"]
        end = motion.advance(2.0)
        errors.append(max(np.abs(end.q - q).max(), np.abs(end.v - v).max()))
        energies = motion.energies(end)
        work = energies["work_shake"] + energies["work_drag"]
        assert energies["balance"] == pytest.approx(energies["total"] - work, rel=1e-14)
        assert abs(energies["work_shake"]) > 0.05 < abs(energies["work_drag"])
        imbalances.append(abs(energies["balance"] - before))
    order = make(h).order
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)
    assert imbalances[1] < 1.3 * 2.0**-order * imbalances[0] < 0.1
    assert np.array_equal(end.q[0], start.q[0])
    assert not end.v[0].any()
    np.testing.assert_allclose(end.a, system.accelerations(system.force(2.0, end.q, end.v)), atol=1e-12)


@pytest.mark.parametrize("name", METHODS)
def test_a_motion_under_loads_goes_on_bit_identically(name):
    make, h = METHODS[name]
    system, start = truss(loads={"drag": lambda t, q, v: -0.3 * v})
    motion = make(h).start(system, start)
    motion.advance(20 * h)
    resumed = make(h).resume(system, motion.checkpoint())
    for t in (40 * h, 50 * h):
        here, there = motion.advance(t), resumed.advance(t)
        assert np.array_equal(here.q, there.q)
        assert motion.energies(here) == resumed.energies(there)


@pytest.mark.parametrize("name", METHODS)
def test_friction_and_noise_go_on_top(name):
    make, h = METHODS[name]
    system, start = truss()
    motion = Langevin(make(h), 0.1, rate=0.5, boltzmann=1.0).start(system, start)
    end = motion.advance(500 * h)
    assert np.isfinite(end.q).all()
    assert motion.energies(end)["heat"] != 0.0
    with pytest.raises(ValueError, match="Composition: "):
        Composition(make(h))


def test_a_consistent_mass_keeps_its_momentum():
    mass = consistent_bar_mass(POINTS, np.array(PAIRS), 1.0, 1.0, 4)
    system = System(mass, {"springs": Bars(PAIRS, GreenStrain(4.0, 1.0), dim=2)}, dim=2)
    start = system.state(1.1 * POINTS, 0.4 * POINTS[:, ::-1] * [1.0, -1.0])
    end = LinearlyImplicitNewmark(0.1, 0.3).start(system, start).advance(20.0)
    np.testing.assert_allclose(system.momentum(end), system.momentum(start), atol=1e-12)
    assert np.abs(end.q - start.q).max() > 0.5
    with pytest.raises(InvalidSystem, match=r"VariationalEuler needs a lumped \(diagonal\) mass"):
        VariationalEuler(0.1).start(system, start)


def test_variational_euler_is_the_first_member_of_the_midpoint_family():
    system, start = truss()
    here = VariationalEuler(0.02).start(system, start).advance(4.0)
    there = Midpoint(0.02, alpha=0.0).start(system, start).advance(4.0)
    np.testing.assert_allclose(here.q, there.q, atol=1e-12)
    np.testing.assert_allclose(here.v, there.v, atol=1e-12)


def test_variational_euler_has_verlets_positions_from_other_velocities():
    system, start = truss()
    h = 0.02
    late = system.state(start.q, start.v - 0.5 * h * start.a)
    euler, verlet = VariationalEuler(h).start(system, late), Newmark(h).start(system, start)
    for t in h * np.arange(0, 200, 25):
        here, there = euler.advance(t), verlet.advance(t)
        np.testing.assert_allclose(here.q, there.q, atol=1e-12)
        np.testing.assert_allclose(here.v, there.v - 0.5 * h * there.a, atol=1e-12)


def test_the_matrix_may_be_indefinite():
    system, _ = truss(stiffness=4e4)
    crushed = system.state(0.3 * POINTS)
    reported = (
        r"^LinearlyImplicitNewmark stopped in the step from t = 0 s \(dt = 0.1 s\): the matrix .* not positive definite"
    )
    with pytest.raises(StepFailed, match=reported):
        LinearlyImplicitNewmark(0.1).start(system, crushed).advance(0.1)


def test_variational_euler_says_when_an_energy_fails():
    def fail(t, q, v):
        raise StepFailed("too late.")

    system, start = truss(loads={"late": lambda t, q, v: 0.0 * q if t < 0.05 else fail(t, q, v)})
    with pytest.raises(
        StepFailed, match=r"^VariationalEuler stopped in the step from t = 0\.04 s \(dt = 0\.02 s\): too late"
    ):
        VariationalEuler(0.02).start(system, start).advance(0.2)


@pytest.mark.parametrize(
    ("make", "reported"),
    [
        (lambda: LinearlyImplicitNewmark(0.1, 0.0), r"beta must be positive; it is 0.0. With 0 take Newmark"),
        (lambda: LinearlyImplicitNewmark(0.1, float("nan")), "beta must be positive; it is nan"),
        (lambda: LinearlyImplicitNewmark(0.1, guess="first"), "guess must be one of 'last', 'predicted', got 'first'"),
        (
            lambda: LinearlyImplicitNewmark(0.1, accelerations="new"),
            "accelerations must be one of 'linearised', 'evaluated'",
        ),
        (lambda: LinearlyImplicitNewmark(0.1, linear="lu"), "linear must be one of 'auto', 'dense'"),
        (lambda: LinearlyImplicitNewmark(-0.1), r"LinearlyImplicitNewmark: dt must be positive, got -0.1 s"),
        (lambda: VariationalEuler(0), r"VariationalEuler: dt must be positive, got 0 s"),
    ],
)
def test_wrong_parameters_are_refused(make, reported):
    with pytest.raises(ValueError, match=reported):
        make()


def test_steps_are_fitted_and_checked():
    system, start = truss()
    for method in (VariationalEuler(0.03), LinearlyImplicitNewmark(0.03, 0.1, "predicted")):
        assert method.fit(system, start, 0.1).dt == pytest.approx(0.025)
    with pytest.raises(UnstableStep, match=r"dt = 2 s is above the stability limit of the variational Euler method, "):
        VariationalEuler(2.0).start(system, start)
    with pytest.raises(UnstableStep, match=r"Newmark's method with beta = 0\.1, .* or beta = 0\.25\."):
        LinearlyImplicitNewmark(5.0, 0.1).fit(system, start, 5.0)
    LinearlyImplicitNewmark(5.0).fit(system, start, 5.0)
