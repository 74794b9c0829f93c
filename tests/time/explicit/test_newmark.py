"""Explicit Newmark and its stability limit."""

import numpy as np
import pytest

from symplex.contact.obstacles import HalfSpace
from symplex.contact.rigid import RigidContact
from symplex.errors import InvalidSystem, InvertedElement, StepFailed, UnstableStep
from symplex.fem.actions.loads import Gravity, NodalLoad
from symplex.fem.actions.mass import consistent_mass, lumped_mass
from symplex.fem.compiled import threads
from symplex.fem.energies.energy import Energy
from symplex.fem.form_table import form_table
from symplex.fem.measures.bars import Bars
from symplex.fem.measures.pair_laws import EngineeringStrain, InverseDistance
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.system import State, System
from symplex.meshes.generate import box
from symplex.time import lanczos, stability
from symplex.time.explicit import newmark
from symplex.time.explicit.newmark import Newmark
from symplex.time.stability import largest_frequency, stable_step
from symplex.time.trajectory import march


class Spring(Energy):
    """A spring of stiffness k from each node to the origin."""

    def __init__(self, n, k):
        self.nodes = np.arange(n, dtype=np.int32)[:, None]
        self.k = k

    def value(self, x):
        return 0.5 * self.k * (x[:, 0] ** 2).sum(axis=1)

    def gradient(self, x):
        return self.k * x

    def hessian(self, x):
        return np.tile(self.k * np.eye(x.shape[2]), (len(x), 1, 1))


def oscillator(omega=2.0, mass=3.0, **options):
    return System(np.array([mass]), {"spring": Spring(1, mass * omega**2)}, dim=1, **options)


def block(cells=(2, 2, 2), fixed=None, split="6"):
    mesh = box((0.1, 0.1, 0.1), cells, split=split)
    tetrahedra = mesh.cells["tetra"]
    solid = Solid(mesh.points, tetrahedra, NeoHookean(60.5e9, 26e9, 2700.0))
    mass = lumped_mass(mesh.points, tetrahedra, 2700.0, len(mesh.points))
    return System(mass, {"strain": solid}, fixed=None if fixed is None else fixed(mesh.points)), mesh


def dense_frequency(system, q):
    moving = ~system.fixed.ravel()
    root = np.repeat(system.mass, system.dim)[moving] ** -0.5
    K = system.hessian(q).toarray()[np.ix_(moving, moving)]
    return np.sqrt(np.linalg.eigvalsh(root[:, None] * K * root)[-1])


# -- the stability limit -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cells", [(1, 1, 1), (3, 2, 2)])
@pytest.mark.parametrize("stretch", [(1.0, 1.0, 1.0), (0.7, 1.2, 1.1)])
@pytest.mark.parametrize("supported", [False, True])
def test_largest_frequency_is_that_of_the_hessian(cells, stretch, supported):
    fixed = (lambda points: (points == 0.0) | (points[:, :1] == 0.0)) if supported else None
    system, mesh = block(cells, fixed)
    q = mesh.points * stretch
    expected = dense_frequency(system, q)
    assert expected * (1 - 1e-6) <= largest_frequency(system, q) <= 1.01 * expected


def test_the_frequency_is_computed_once_for_the_same_system_and_positions(monkeypatch):
    system, mesh = block((3, 2, 2), None)
    state, calls = system.state(mesh.points), []
    compute = stability._largest_eigenvalue
    monkeypatch.setattr(stability, "_largest_eigenvalue", lambda *args: calls.append(1) or compute(*args))
    Newmark(dt="auto").fit(system, state, 1.0).start(system, state)
    assert len(calls) == 1
    other = largest_frequency(system, 0.9 * mesh.points)
    assert other != pytest.approx(largest_frequency(system, mesh.points), rel=0.05)
    system.energies["twin"] = next(iter(system.energies.values()))
    assert largest_frequency(system, mesh.points) == pytest.approx(dense_frequency(system, mesh.points), rel=0.01)
    assert len(calls) == 4


@pytest.mark.parametrize("n", [100, 1000])
def test_largest_frequency_is_from_above_where_frequencies_lie_close(n):
    """Lanczos stops a little below; the residual makes up for it."""
    squared = np.linspace(0.0, 4.0, n + 1)[1:]
    system = System(1.0 / squared, {"springs": Spring(n, 1.0)}, dim=1)
    assert 2.0 <= largest_frequency(system, np.ones((n, 1))) <= 2.0 * 1.005


def test_one_oscillator():
    system = oscillator(omega=2.0)
    assert largest_frequency(system, np.array([[0.3]])) == pytest.approx(2.0, rel=1e-6)
    assert stable_step(system, np.array([[0.3]])) == pytest.approx(1.0, rel=1e-6)


def test_contact_that_is_open_counts():
    system, mesh = block()
    alone = largest_frequency(system, mesh.points)
    wall = RigidContact(mesh.boundary_nodes, HalfSpace([0, 0, -1.0], [0, 0, 1.0]), 1e14)
    both = System(system.mass, {**system.energies, "wall": wall})
    lightest = system.mass[mesh.boundary_nodes].min()
    assert largest_frequency(both, mesh.points) ** 2 == pytest.approx(alone**2 + 1e14 / lightest, rel=1e-6)


@pytest.mark.parametrize("n", [3, 50])
def test_free_flight_has_no_limit(n):
    mass = np.ones(n)
    system = System(mass, {"gravity": Gravity(mass, [0.0, 0.0, -9.81])})
    state = system.state(np.random.default_rng(0).normal(size=(n, 3)))
    assert stable_step(system, state.q) == np.inf
    assert Newmark(dt=0.5).start(system, state).advance(1.0).v[0, 2] == pytest.approx(-9.81)


def test_fixed_nodes_do_not_limit_the_step():
    system = System(
        np.array([1e-9, 1.0]), {"spring": Spring(2, 1.0)}, dim=2, fixed=np.array([[True, True], [False, False]])
    )
    assert largest_frequency(system, np.ones((2, 2))) == pytest.approx(1.0, rel=1e-6)
    floor = RigidContact([0], HalfSpace([0, -9], [0, 1]), 1.0)
    beside_contact = System(system.mass, {**system.energies, "floor": floor}, dim=2, fixed=system.fixed)
    assert largest_frequency(beside_contact, np.ones((2, 2))) == pytest.approx(1.0, rel=1e-6)
    everything = System(np.ones(1), {"spring": Spring(1, 1.0)}, dim=1, fixed=np.array([[True]]))
    assert stable_step(everything, np.ones((1, 1))) == np.inf


def test_the_limit_separates_bounded_from_growing_motion():
    system, mesh = block((1, 1, 1))
    rng = np.random.default_rng(0)
    q = mesh.points + 1e-9 * rng.normal(size=mesh.points.shape)
    limit = 2 / dense_frequency(system, mesh.points)
    state = system.state(q)
    below = Newmark(dt=0.98 * limit).start(system, state).advance(0.98 * limit * 2000)
    assert np.abs(below.q - mesh.points).max() < 1e-7
    # above, the same loop grows; it can only be reached behind the refusal
    motion = Newmark(dt=0.98 * limit).start(system, state)
    motion.dt = 1.02 * limit
    with pytest.raises(InvertedElement):
        motion.advance(1.02 * limit * 2000)


# -- the step ------------------------------------------------------------------------------------------------------


def test_the_oscillator_follows_the_discrete_solution():
    # q_n = cos(nθ) q0 with 2 − 2 cos θ = (ω dt)²
    omega, dt, n = 2.0, 0.05, 1234
    system = oscillator(omega)
    end = Newmark(dt=dt).start(system, system.state([[0.7]])).advance(n * dt)
    theta = np.arccos(1 - 0.5 * (omega * dt) ** 2)
    assert end.q[0, 0] == pytest.approx(0.7 * np.cos(n * theta), abs=1e-11)


def test_free_fall_is_exact():
    mass = np.array([1.0, 4.0])
    system = System(mass, {"gravity": Gravity(mass, [0.0, -9.81])}, dim=2)
    state = system.state([[0.0, 1.0], [1.0, 2.0]], [[1.0, 0.0], [0.0, 3.0]])
    end = Newmark(dt=0.01).start(system, state).advance(0.5)
    np.testing.assert_allclose(end.q[:, 1], [1.0 - 9.81 / 8, 3.5 - 9.81 / 8], rtol=1e-13)


def test_loads_keep_the_second_order():
    # driven and damped: m a + c v + k q = F sin(w t), compared with a much finer run
    class Damping:
        def __call__(self, t, q, v):
            return -1.5 * v

    system = oscillator(2.0, loads={"drive": NodalLoad([0], [4.0], lambda t: np.sin(3 * t)), "damping": Damping()})
    state = system.state([[1.0]], [[0.5]])

    def end(dt):
        return Newmark(dt=dt).start(system, state).advance(2.0).q[0, 0]

    exact = end(1e-4)
    errors = np.array([abs(end(dt) - exact) for dt in (0.04, 0.02, 0.01)])
    assert errors[-1] > 1e-7
    np.testing.assert_allclose(np.log2(errors[:-1] / errors[1:]), 2.0, atol=0.1)


@pytest.mark.parametrize("dt", [0.1, 0.2])
def test_loads_act_at_the_times_of_the_run(dt):
    # a = t from rest at t0 = 3: the trapezoidal rule gives v exactly
    system = System(np.ones(1), {}, dim=1, loads={"push": lambda t, q, v: np.full_like(q, t)})
    end = Newmark(dt=dt).start(system, system.state([[0.0]], t=3.0)).advance(4.0)
    assert end.v[0, 0] == pytest.approx((4.0**2 - 3.0**2) / 2, rel=1e-12)
    assert end.a[0, 0] == pytest.approx(4.0)


def test_fixed_coordinates_stay():
    system, mesh = block(fixed=lambda points: points == 0.0)
    rng = np.random.default_rng(1)
    state = system.state(mesh.points, 50 * rng.normal(size=mesh.points.shape))
    end = Newmark().fit(system, state, 2e-5).start(system, state).advance(2e-5)
    np.testing.assert_array_equal(end.q[system.fixed], mesh.points[system.fixed])
    assert not end.v[system.fixed].any()
    assert not end.a[system.fixed].any()
    assert np.abs(end.q - mesh.points)[~system.fixed].min() > 0


def test_a_state_made_by_hand_begins_as_one_of_the_system():
    system, mesh = block(fixed=lambda points: points == 0.0)
    state = system.state(mesh.points * [1.01, 1.0, 1.0], [1.0, 2.0, 3.0])
    by_hand = State(state.t, state.q, np.tile([1.0, 2.0, 3.0], (len(mesh.points), 1)), np.zeros_like(state.a))
    newmark = Newmark().fit(system, state, 1e-6)
    expected, found = (newmark.start(system, s).advance(1e-6) for s in (state, by_hand))
    np.testing.assert_array_equal(found.q, expected.q)
    np.testing.assert_array_equal(found.v, expected.v)


def test_accelerations_are_those_of_the_system():
    system, mesh = block()
    state = system.state(mesh.points * [1.1, 1.0, 0.95])
    end = Newmark().fit(system, state, 1e-5).start(system, state).advance(1e-5)
    np.testing.assert_array_equal(system.state(end.q, end.v).a, end.a)


# -- the time grid -------------------------------------------------------------------------------------------------


def test_times_are_counted_not_accumulated():
    system = oscillator()
    motion = Newmark(dt=0.1).start(system, system.state([[1.0]], t=5.0))
    end = motion.advance(5.0 + 0.1 * 20_000 * (1 + 1e-13))
    assert end.t == 5.0 + 20_000 * 0.1
    assert motion.statistics() == {"steps": 20_000}


def test_times_off_the_grid_are_refused_with_the_way_out():
    system = oscillator()
    motion = Newmark(dt=0.1).start(system, system.state([[1.0]]))
    with pytest.raises(StepFailed, match=r"2\.5 steps of dt = 0\.1 s.*integrator\.fit"):
        motion.advance(0.25)


def test_not_even_one_step_back():
    system = oscillator()
    motion = Newmark(dt=0.1).start(system, system.state([[1.0]]))
    assert motion.advance(0.3).q == motion.advance(0.3).q
    with pytest.raises(StepFailed, match=r"cannot go back from t = 0\.3 s to 0\.2 s"):
        motion.advance(0.2)


@pytest.mark.parametrize("t", [np.nan, np.inf])
def test_times_that_are_no_numbers_are_refused(t):
    system = oscillator()
    with pytest.raises(StepFailed, match=r"Newmark cannot move to t = (nan|inf) s"):
        Newmark(dt=0.1).start(system, system.state([[1.0]])).advance(t)


@pytest.mark.parametrize(("interval", "steps"), [(0.25, 3), (0.3, 3), (0.05, 1), (0.30001, 4)])
def test_fit_divides_the_interval(interval, steps):
    system = oscillator()
    state = system.state([[1.0]])
    fitted = Newmark(dt=0.1).fit(system, state, interval)
    assert fitted.dt == interval / steps
    states = list(march(system, fitted, state, [0.0, interval, 2 * interval]))
    assert [s.t for s in states] == [0.0, interval, 2 * interval]


def test_automatic_step_is_a_fraction_of_the_limit():
    system = oscillator(omega=2.0)
    motion = Newmark(safety=0.5).start(system, system.state([[1.0]]))
    assert motion.dt == pytest.approx(0.5, rel=1e-6)


def test_automatic_step_resolves_contact(impact_of):
    system, state = impact_of("I")
    integrator = Newmark().fit(system, state, 1e-6)
    lightest = system.mass[system.energies["wall"].nodes[:, 0]].min()
    assert integrator.dt == pytest.approx(0.2 * 2 / np.sqrt(2e14 / lightest), rel=0.01)
    totals = [system.energies_of(s)["total"] for s in march(system, integrator, state, 1e-6 * np.arange(31))]
    np.testing.assert_allclose(totals, totals[0], rtol=5e-3)


# -- trouble -------------------------------------------------------------------------------------------------------


def test_a_step_above_the_limit_is_refused_with_numbers_and_advice():
    system = oscillator(omega=2.0)
    with pytest.raises(UnstableStep, match=r'dt = 1\.5 s is above.* 1 s\. Try dt = 0\.8 s, or dt = "auto"'):
        Newmark(dt=1.5).start(system, system.state([[1.0]]))
    with pytest.raises(UnstableStep):
        Newmark(dt=1.5).fit(system, system.state([[1.0]]), 3.0)


def test_automatic_step_needs_stiffness():
    mass = np.ones(1)
    system = System(mass, {"gravity": Gravity(mass, [1.0])}, dim=1)
    with pytest.raises(StepFailed, match="needs an energy with stiffness"):
        Newmark().start(system, system.state([[1.0]]))


def test_consistent_mass_is_refused():
    _, mesh = block()
    tetrahedra = mesh.cells["tetra"]
    mass = consistent_mass(mesh.points, tetrahedra, 2700.0, len(mesh.points))
    system = System(mass, {"strain": Solid(mesh.points, tetrahedra, NeoHookean(1e9, 1e9, 2700.0))})
    with pytest.raises(InvalidSystem, match="lumped"):
        Newmark().start(system, system.state(mesh.points))


def test_an_inverted_element_stops_with_time_and_advice():
    system, mesh = block()
    v = np.zeros_like(mesh.points)
    v[:, 0] = -1e6 * (mesh.points[:, 0] - 0.05)  # crushed at many times the speed of sound
    motion = Newmark(dt=1e-7).start(system, system.state(mesh.points, v))
    with pytest.raises(InvertedElement, match=r"from t = .* s \(dt = 1e-07 s\): element \d+ .*inverted.*Try"):
        motion.advance(1e-4)
    with pytest.raises(StepFailed, match="stopped within the step from t = 1e-06 s"):
        motion.checkpoint()
    with pytest.raises(StepFailed, match="stopped within the step"):
        motion.advance(1e-4)


def test_any_failure_within_a_step_tells_the_time():
    system = oscillator(loads={"push": NodalLoad([0], [1.0], lambda t: np.nan if t > 0.25 else 1.0)})
    motion = Newmark(dt=0.1).start(system, system.state([[1.0]]))
    with pytest.raises(
        StepFailed, match=r"Newmark stopped in the step from t = 0\.2 s \(dt = 0\.1 s\): the history of a load"
    ):
        motion.advance(1.0)


def test_a_position_that_is_not_finite_is_found_at_the_next_output():
    system = oscillator(loads={"broken": lambda t, q, v: np.full_like(q, np.nan if t > 0.45 else 0.0)})
    motion = Newmark(dt=0.1).start(system, system.state([[1.0]]))
    motion.advance(0.4)
    with pytest.raises(StepFailed, match=r"At t = 0\.6 s the position of node 0 in direction x is nan"):
        motion.advance(0.6)


def test_infinities_of_both_signs_are_found_without_a_warning():
    apart = np.array([[np.inf], [-np.inf]])
    away = System(np.ones(2), {}, dim=1, loads={"apart": lambda t, q, v: apart if t > 0 else 0 * q})
    motion = Newmark(dt=0.1).start(away, away.state(np.zeros((2, 1))))
    with pytest.raises(StepFailed, match=r"velocity of node 0 in direction x is inf"):
        motion.advance(0.1)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"beta": 0.25}, r"dt must be a number \(s\) where beta is above 0, got \"auto\""),
        ({"beta": -0.1}, "beta must be at least 0"),
        ({"gamma": 0.6}, r"gamma must be 0\.5 where beta is 0, got 0\.6"),
        ({"beta": 0.25, "gamma": 0.4, "dt": 0.1}, r"gamma must be at least 0\.5, got 0\.4"),
        ({"safety": 1.5}, "safety"),
        ({"contact_safety": 0.0}, "contact_safety"),
        ({"contact_steps": 0}, "contact_steps must be an integer of at least 1"),
        ({"contact_steps": "few"}, 'contact_steps must be .*"auto"'),
        ({"beta": 0.25, "dt": 0.1, "contact_steps": 2}, "contact_steps must be 1 where beta is above 0, got 2"),
        ({"dt": -1.0}, "dt must be positive"),
        ({"dt": float("nan")}, "dt must be finite"),
        ({"dt": "fast"}, "dt must be a number"),
    ],
)
def test_wrong_parameters_are_refused(options, text):
    with pytest.raises(ValueError, match=text):
        Newmark(**options)


def test_a_checkpoint_of_another_system_is_refused():
    system = oscillator()
    checkpoint = Newmark(dt=0.1).start(system, system.state([[1.0]])).checkpoint()
    with pytest.raises(InvalidSystem, match="does not belong to this system"):
        Newmark(dt=0.1).resume(block()[0], checkpoint)


# -- steps in one compiled loop ------------------------------------------------------------------------------------


def pendulum(stiffness=1e5):
    """Two masses on springs above a floor."""
    x = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.5, 0.5, 0.2]])
    fixed = np.zeros((3, 3), bool)
    fixed[0] = True
    floor = RigidContact([2], HalfSpace((0, 0, -1.0), (0, 0, 1)), stiffness)
    springs = Bars([[0, 1], [1, 2]], EngineeringStrain(stiffness, np.array([1.0, 0.7])))
    mass = np.array([1.0, 2.0, 0.5])
    energies = {"springs": springs, "gravity": Gravity(mass, (0, 0, -9.81)), "floor": floor}
    return System(mass, energies, fixed=fixed), x


def test_steps_in_one_loop_are_those_one_by_one():
    system, x = pendulum()
    times = np.linspace(0.0, 2.0, 401)
    motion = Newmark(1e-3).start(system, system.state(x))
    assert motion._table is not None
    together = [motion.advance(t) for t in times]
    assert min(state.q[2, 2] for state in together) < -1.0, "it meets the floor"
    alone = Newmark(1e-3).start(system, system.state(x))
    state = alone.advance(0.0)
    for n in range(1, 2001):
        state = alone.advance(1e-3 * n)
    np.testing.assert_array_equal(state.q, together[-1].q)
    np.testing.assert_array_equal(state.v, together[-1].v)
    stepwise = Newmark(1e-3).start(system, system.state(x))
    stepwise._table = None  # from Python, energy by energy, which sums in another order
    reached = stepwise.advance(0.5)
    expected = Newmark(1e-3).start(system, system.state(x)).advance(0.5)
    np.testing.assert_allclose(reached.q, expected.q, rtol=0, atol=1e-10)
    np.testing.assert_allclose(reached.a, expected.a, rtol=0, atol=1e-5)


@pytest.mark.parametrize("make", [lambda: oscillator(), lambda: block()[0]])
def test_other_systems_are_stepped_energy_by_energy(make):
    assert form_table(make()) is None


def test_a_force_that_is_not_finite_in_a_loop_names_its_stencil():
    x = np.array([[-1.0, 0.0], [1.0, 0.0]])
    system = System(np.ones(2), {"pull": Bars([[0, 1]], InverseDistance(1e-100), dim=2)}, dim=2)
    motion = Newmark(0.5).start(system, system.state(x, v=[(1.0, 0.0), (-1.0, 0.0)]))  # they meet after two steps
    assert motion._table is not None
    with pytest.raises(StepFailed, match=r"Newmark stopped in the step from t = 0.5 s \(dt = 0.5 s\): pair 0 .* 0 m"):
        motion.advance(5.0)


def test_a_long_run_is_cut_into_loops_that_end(monkeypatch):
    system, x = pendulum()
    whole = Newmark(1e-3).start(system, system.state(x)).advance(0.1)
    monkeypatch.setattr(newmark, "_STENCILS_AT_ONCE", 20)
    parts = Newmark(1e-3).start(system, system.state(x)).advance(0.1)
    np.testing.assert_array_equal(whole.q, parts.q)


@pytest.mark.usefixtures("always_shared")
@pytest.mark.parametrize("number", [1, 3])
def test_a_run_is_the_same_by_any_portions_and_threads(monkeypatch, number):
    """One pass over the nodes ends a step and begins the next; alone, kicks and drifts are rounded as there."""
    system, mesh = block((3, 2, 2), fixed=lambda points: np.repeat(points[:, :1] < 1e-9, 3, axis=1))
    start = system.state(mesh.points, np.random.default_rng(0).standard_normal(mesh.points.shape))
    dt = 0.5 * stable_step(system, mesh.points)
    one_by_one = Newmark(dt).start(system, start)
    for n in range(1, 8):
        expected = one_by_one.advance(n * dt)
    monkeypatch.setattr(threads, "_NODES_OF_A_TASK", 5)
    monkeypatch.setattr(threads, "count", lambda: number)
    found = Newmark(dt).start(system, start).advance(7 * dt)
    for name in ("q", "v", "a"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    v = np.where(system.fixed, 0.0, start.v + 0.5 * dt * start.a)  # as the formulas of the method say
    np.testing.assert_allclose(
        Newmark(dt).start(system, start).advance(dt).v,
        v + 0.5 * dt * system.accelerations(-system.gradient(start.q + dt * v)) * ~system.fixed,
        rtol=1e-12,
        atol=1e-12 * np.abs(v).max(),
    )


def largest_of(function, n: int, dim: int, mass: float = 1.0) -> float:
    """Return the largest eigenvalue by Lanczos' method of a linear function of n nodes of one mass, of which the last
    but one is fixed in all directions.
    """
    fixed, at = np.zeros((n, dim), bool), np.random.default_rng(1).standard_normal((n, dim))
    fixed[-2] = True
    start = np.where(fixed, 0.0, np.random.default_rng(0).standard_normal((n, dim)))
    out = np.empty((n, dim))
    function(at, out)
    return lanczos.largest_eigenvalue(function, at, out, np.full(n, mass), fixed, start, 0.1)


def test_lanczos_method_finds_the_largest_eigenvalue_among_others_that_are_close():
    eigenvalues = np.concatenate([np.linspace(-1.0, 0.99, 400), [2.0, 1.0]]).reshape(-1, 1)  # 2: fixed
    found = largest_of(lambda x, out: np.multiply(eigenvalues, x, out=out), 402, 1, mass=0.5)
    assert 2.0 - 1e-11 < found < 2.04


def test_lanczos_method_ends_where_the_start_is_made_of_few_vectors():
    eigenvalues = np.array([-3.0, 1.0, 2.0])
    found = largest_of(lambda x, out: np.multiply(eigenvalues, x, out=out), 20, 3)
    assert found == pytest.approx(2.0, rel=1e-12)
    assert largest_of(lambda x, out: out.fill(7.0), 20, 3) == 0.0


def test_lanczos_method_does_not_depend_on_the_number_of_threads(monkeypatch):
    monkeypatch.setattr(threads, "_NODES_OF_A_TASK", 50)
    eigenvalues = np.random.default_rng(2).random((300, 3))
    found = set()
    for number in (1, 2, 3):
        monkeypatch.setattr(threads, "count", lambda number=number: number)
        found.add(largest_of(lambda x, out: np.multiply(eigenvalues, x, out=out), 300, 3))
    assert len(found) == 1


@pytest.mark.parametrize(("factor", "text"), [(np.nan, "not finite"), (1.0, "in 30 products")])
def test_a_frequency_that_is_not_found_is_told(monkeypatch, factor, text):
    monkeypatch.setattr(lanczos, "_MOST_PRODUCTS", 30)
    eigenvalues = np.linspace(0.0, 1.0, 3000).reshape(-1, 3) ** 0.1
    monkeypatch.setattr(lanczos, "_RELATIVE_ERROR", 1e-9)
    with pytest.raises(StepFailed, match=f"largest natural frequency was not found.*{text}"):
        largest_of(lambda x, out: np.multiply(factor * eigenvalues, x, out=out), 1000, 3)
