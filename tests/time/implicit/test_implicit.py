"""The implicit members of Newmark's family, generalised-alpha and HHT, and the midpoint family."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from symplex.errors import InvalidSystem, UnstableStep
from symplex.fem.actions.mass import consistent_mass
from symplex.fem.measures.bars import Bars, EngineeringStrain, GreenStrain
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.system import System
from symplex.meshes.generate import box
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.explicit.newmark import Newmark
from symplex.time.implicit.generalized_alpha import GeneralizedAlpha, HilberHughesTaylor
from symplex.time.implicit.midpoint import Midpoint


def oscillator(omega=1.0):
    """A unit mass at q[1] on a linear spring from a fixed point."""
    spring = Bars([[0, 1]], EngineeringStrain(omega**2, 0.0), dim=1)
    return System(np.ones(2), {"spring": spring}, dim=1, fixed=[[True], [False]])


# -- linear oscillations ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("beta", [0.0, 1 / 12, 1 / 6, 0.25, 0.4])
def test_newmark_has_the_known_period(beta):
    """With γ = ½ a step turns the phase by Ω, cos Ω = 1 − ½ ω²h²/(1 + β ω²h²)."""
    system, h = oscillator(), 0.7
    motion = Newmark(h, beta=beta).start(system, system.state([[0.0], [1.0]]))
    phase = np.arccos(1.0 - 0.5 * h**2 / (1.0 + beta * h**2))
    for n in range(1, 30):
        assert motion.advance(n * h).q[1, 0] == pytest.approx(np.cos(n * phase), abs=1e-13)


def test_named_members():
    assert Newmark.trapezoidal(0.1) == Newmark(0.1, beta=0.25)
    assert Newmark.linear_acceleration(0.1).beta == 1 / 6
    assert Newmark.fox_goodwin(0.1).beta == 1 / 12
    assert not Newmark.trapezoidal(0.1).explicit
    assert Newmark(0.1).conserves > Newmark.trapezoidal(0.1).conserves == {"momentum"}


@pytest.mark.parametrize(("make", "limit"), [(Newmark.fox_goodwin, 6**0.5), (Newmark.linear_acceleration, 12**0.5)])
def test_the_limit_of_conditionally_stable_members(make, limit):
    system = oscillator()
    state = system.state([[0.0], [1.0]])
    motion = make(0.99 * limit).start(system, state)
    assert np.abs(motion.advance(0.99 * limit * 1000).q).max() < 20
    with pytest.raises(UnstableStep, match=r"limit of Newmark's method with beta = 0\.\d+, .*or beta = 0\.25"):
        make(1.01 * limit).start(system, state)


def amplification(integrator, omega):
    """The matrix of one step on (q, v, a) of a linear oscillator."""
    system = oscillator(omega)
    blank = integrator.start(system, system.state(np.zeros((2, 1)))).checkpoint()
    columns = []
    for q, v, own_a in np.eye(3):
        column = {name: array.copy() for name, array in blank.items()}
        for name, value in (("q", q), ("v", v), ("a", -(omega**2) * q), ("own_a", own_a)):
            column[name][1, 0] = value
        motion = integrator.resume(system, column)
        end = motion.advance(float(column["dt"]))
        columns.append([end.q[1, 0], end.v[1, 0], motion.checkpoint()["own_a"][1, 0]])
    return np.array(columns).T


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.8, 1.0])
def test_generalized_alpha_damps_what_is_very_fast_as_it_says(rho):
    slow = np.abs(np.linalg.eigvals(amplification(GeneralizedAlpha(0.01, rho_inf=rho), 1.0)))
    assert slow.max() == pytest.approx(1.0, abs=1e-5)
    fast = np.abs(np.linalg.eigvals(amplification(GeneralizedAlpha(1.0, rho_inf=rho), 1e4)))
    assert fast.max() == pytest.approx(rho, abs=0.01)  # a double root, which is ill conditioned


@pytest.mark.parametrize("alpha", [0.0, -0.1, -1 / 3])
def test_hht_damps_what_is_very_fast_as_it_says(alpha):
    fast = np.abs(np.linalg.eigvals(amplification(HilberHughesTaylor(1.0, alpha=alpha), 1e4)))
    assert fast.max() == pytest.approx((1 + alpha) / (1 - alpha), abs=0.02)


def test_hht_without_damping_is_the_trapezoidal_rule():
    system, state = forced()
    ends = [
        method.start(system, state).advance(2.0) for method in (HilberHughesTaylor(0.1, 0.0), Newmark.trapezoidal(0.1))
    ]
    np.testing.assert_allclose(ends[0].q, ends[1].q, atol=1e-13)


# -- nonlinear, with loads ----------------------------------------------------------------------------------------


def forced():
    """Three masses on springs, with a load that depends on time, one that depends on velocity, and supports."""
    springs = Bars([[0, 1], [1, 2], [0, 2]], GreenStrain([4.0, 6.0, 3.0], 1.0), dim=2)
    fixed = np.array([[True, True], [False, False], [False, True]])
    push = np.array([[0.0, 0.0], [0.3, -0.5], [0.4, 0.0]])
    loads = {"push": lambda t, q, v: np.sin(2 * t) * push, "damper": lambda t, q, v: -0.2 * v * (1 + q[:, :1] ** 2)}
    system = System(np.array([1.0, 2.0, 1.5]), {"springs": springs}, dim=2, fixed=fixed, loads=loads)
    return system, system.state([[0, 0], [0.5, 1.0], [1.2, 0]], [[0, 0], [0.5, 0.2], [-0.3, 0]], t=1.0)


METHODS = {
    "trapezoidal": (Newmark.trapezoidal, 2),
    "Fox-Goodwin": (Newmark.fox_goodwin, 2),
    "damped Newmark": (lambda dt: Newmark(dt, beta=0.4, gamma=0.7), 1),
    "generalised-alpha": (GeneralizedAlpha, 2),
    "HHT": (lambda dt: HilberHughesTaylor(dt, alpha=-0.3), 2),
    "midpoint": (Midpoint, 2),
    "alpha family": (lambda dt: Midpoint(dt, alpha=0.8), 1),
    "energy-momentum": (EnergyMomentum, 2),
}


@pytest.mark.parametrize("name", METHODS)
def test_order_with_loads_and_supports(name):
    make, order = METHODS[name]
    system, state = forced()

    def rate(t, y):
        q, v = y.reshape(2, 3, 2)
        return np.concatenate([v.ravel(), system.accelerations(system.force(t, q, v)).ravel()])

    start = np.concatenate([state.q.ravel(), state.v.ravel()])
    exact = solve_ivp(rate, (1.0, 3.0), start, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1].reshape(2, 3, 2)
    errors = []
    for dt in (0.02, 0.01):
        end = make(dt).start(system, state).advance(3.0)
        errors.append(max(np.abs(end.q - exact[0]).max(), np.abs(end.v - exact[1]).max()))
        np.testing.assert_allclose(end.a, system.state(end.q, end.v, end.t).a, atol=1e-11)
        np.testing.assert_array_equal(end.q[system.fixed], state.q[system.fixed])
    assert errors[0] < 0.05
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)


def test_the_ends_of_the_alpha_family_are_the_symplectic_euler_methods():
    system, state = forced()
    system.loads.clear()
    dt, mass = 0.1, system.mass[:, None]
    free = ~system.fixed

    first = Midpoint(dt, alpha=0.0).start(system, state).advance(1.0 + dt)
    v = state.v - dt * free * system.gradient(state.q) / mass
    np.testing.assert_allclose(first.v, v, atol=1e-14)
    np.testing.assert_allclose(first.q, state.q + dt * v, atol=1e-14)

    last = Midpoint(dt, alpha=1.0).start(system, state).advance(1.0 + dt)
    q = state.q + dt * state.v
    np.testing.assert_allclose(last.q, q, atol=1e-14)
    np.testing.assert_allclose(last.v, state.v - dt * free * system.gradient(q) / mass, atol=1e-14)


@pytest.mark.parametrize("make", [Newmark.trapezoidal, GeneralizedAlpha, Midpoint])
def test_a_consistent_mass_converges_to_the_same_motion(make):
    mesh = box((1.0, 0.5, 0.5), (2, 1, 1))
    cells = mesh.cells["tetra"]
    mass = consistent_mass(mesh.points, cells, 1.0, len(mesh.points))
    solid = Solid(mesh.points, cells, NeoHookean(2.0, 1.0, 1.0))
    clamped = np.repeat(mesh.points[:, :1] < 1e-9, 3, axis=1)
    system = System(mass, {"solid": solid}, fixed=clamped)
    state = system.state(mesh.points * [1.1, 1.0, 1.0], [0.0, 0.2, 0.1])
    fine = EnergyMomentum(0.0025).start(system, state).advance(0.5)
    errors = [np.abs(make(dt).start(system, state).advance(0.5).q - fine.q).max() for dt in (0.02, 0.01)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.3)


def test_a_matrix_of_masses_may_couple_nodes_that_no_energy_couples():
    mass = np.array([[2.0, 0.5, 0.0], [0.5, 2.0, 0.3], [0.0, 0.3, 2.0]])
    from scipy.sparse import csr_array

    spring = Bars([[0, 2]], GreenStrain(5.0, 1.0), dim=1)
    system = System(csr_array(mass), {"spring": spring}, dim=1)
    state = system.state([[0.0], [0.4], [1.3]], [[0.1], [0.2], [-0.1]])
    end = EnergyMomentum(0.1).start(system, state).advance(2.0)
    assert system.energies_of(end)["total"] == pytest.approx(system.energies_of(state)["total"], rel=1e-13)
    np.testing.assert_allclose(system.momentum(end), system.momentum(state), atol=1e-14)
    assert abs(end.v[1, 0] - 0.2) > 1e-3  # moved by its coupling alone


# -- trouble ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Midpoint(0.1, alpha=1.5), "alpha must be from 0 to 1"),
        (lambda: GeneralizedAlpha(0.1, rho_inf=1.1), "rho_inf must be from 0 to 1"),
        (lambda: HilberHughesTaylor(0.1, alpha=-0.5), "alpha must be from -0.3333 to 0"),
        (lambda: GeneralizedAlpha(-0.1), "GeneralizedAlpha: dt must be positive"),
        (lambda: Newmark.trapezoidal(0.0), "dt must be positive, got 0 s"),
    ],
)
def test_wrong_parameters_are_refused(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_a_checkpoint_of_another_system_is_refused():
    system, state = forced()
    checkpoint = GeneralizedAlpha(0.1).start(system, state).checkpoint()
    with pytest.raises(InvalidSystem, match="does not belong to this system"):
        GeneralizedAlpha(0.1).resume(oscillator(), checkpoint)
