"""Energy-stepping: straight lines between the levels of the potential energy."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import brentq

from papers.energy_stepping import EnergyStepping
from papers.level_crossings import Look, stretch
from symplex.contact.obstacles import Sphere
from symplex.contact.rigid import RigidContact
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.actions.loads import NodalForce
from symplex.fem.measures.bars import Bars, EngineeringStrain, InverseDistance, LennardJones, all_pairs
from symplex.fem.system import System
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.events.force_stepping import ForceStepping
from symplex.time.explicit.newmark import Newmark

ECCENTRICITY = 0.85


def kepler():
    """A planet at the end of the latus rectum on its way out, the sun fixed; the period is 2π."""
    p = 1.0 - ECCENTRICITY**2
    fixed = np.array([[True, True], [False, False]])
    system = System(np.ones(2), {"sun": Bars([[0, 1]], InverseDistance(1.0), dim=2)}, dim=2, fixed=fixed)
    return system, system.state(np.array([[0.0, 0.0], [0.0, p]]), np.array([[0, 0], [-1, ECCENTRICITY]]) / np.sqrt(p))


def argon():
    """Seven atoms in the plane, in units of the pair law, warm."""
    angles = np.arange(6) * np.pi / 3
    q = 1.15 * np.vstack([np.zeros((1, 2)), np.column_stack([np.cos(angles), np.sin(angles)])])
    rng = np.random.default_rng(1)
    system = System(rng.uniform(1.0, 2.0, 7), {"argon": Bars(all_pairs(7), LennardJones(1.0, 1.0), dim=2)}, dim=2)
    return system, system.state(q, 0.7 * rng.normal(size=q.shape))


# -- level crossings ---------------------------------------------------------------------------------------------


def first_exit(look, low, high, length, until):
    """March through the band up to the first crossing; return its time and side."""
    here = look(0.0)
    while here.tau < until:
        here, length, side = stretch(look, here, length, low, high)
        if side:
            return here.tau, side
        length = min(2.0 * length, 0.5)
    return np.inf, 0


def by_sampling(look, low, high, until):
    tau = np.linspace(0.0, until, 40_001)
    phi = look(tau[:, None]).phi
    out = np.flatnonzero((phi > high) | (phi < low))
    return (tau[out[0]], 1 if phi[out[0]] > high else -1) if len(out) else (np.inf, 0)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("height", [0.05, 1.0, 3.0])
def test_the_first_crossing_is_found(seed, height):
    rng = np.random.default_rng(seed)
    amplitude, frequency, phase = rng.normal(size=6), rng.uniform(0.5, 12.0, 6), rng.uniform(0, 2 * np.pi, 6)

    def look(tau):
        angle = frequency * tau + phase
        return Look(tau, np.sin(angle) @ amplitude, np.cos(angle) @ (amplitude * frequency))

    start = look(0.0).phi
    low = start - height * rng.random()
    tau, side = first_exit(look, low, low + height, 0.3, 4.0)
    sampled, sampled_side = by_sampling(look, low, low + height, 4.0)
    assert side == sampled_side
    if side:
        assert tau <= sampled < tau + 1.1e-4
        assert look(tau).phi == pytest.approx(low + height if side > 0 else low, abs=1e-13)


@pytest.mark.parametrize(("excess", "side"), [(-1e-3, 0), (-1e-9, 0), (0.0, 0), (1e-9, 1), (1e-3, 1)])
def test_a_level_touched_from_below(excess, side):
    """The top of a parabola, just under, at and above the level."""
    found = first_exit(lambda t: Look(t, excess - (t - 1.0) ** 2, -2.0 * (t - 1.0)), -2.0, 0.0, 0.7, 2.0)
    assert found[1] == side
    if side:
        assert found[0] == pytest.approx(1.0 - np.sqrt(excess), rel=1e-7)


def test_a_level_just_crossed_is_not_found_again():
    def look(tau):  # up through 0, and back through it at 1
        return Look(tau, tau * (1.0 - tau), 1.0 - 2.0 * tau)

    tau, side = first_exit(look, 0.0, 1.0, 0.4, 3.0)
    assert side == -1
    assert tau == pytest.approx(1.0, rel=1e-15)


# -- exact motions -----------------------------------------------------------------------------------------------


def test_up_and_down_a_ramp():
    """V = f x: over the terrace between two levels the velocity is that of the energy that is left."""
    force, h, speed = 2.0, 0.25, 2.1
    system = System(np.ones(1), {"ramp": NodalForce([0], [-force])}, dim=1)
    motion = EnergyStepping(h, offset=0.0).start(system, system.state([[0.1 * h / force]], [[speed]]))
    t, v = 0.9 * h / force / speed, speed
    while v * v > 2 * h:
        v = np.sqrt(v * v - 2 * h)
        state = motion.advance(t)
        assert motion.advance(t + 1e-9).v[0, 0] == pytest.approx(v, rel=1e-13)
        assert state.q[0, 0] / (h / force) == pytest.approx(round(state.q[0, 0] / (h / force)), rel=1e-12)
        t += h / force / v
    assert motion.advance(t + 1e-9).v[0, 0] == pytest.approx(-v, rel=1e-13)
    back = motion.advance(2 * t)
    assert back.v[0, 0] == pytest.approx(-speed, rel=1e-13)
    assert back.q[0, 0] == pytest.approx(0.1 * h / force, rel=1e-12)
    assert motion.statistics()["crossings"] == 2 * 8
    assert motion.statistics()["reflections"] == 1


@pytest.mark.parametrize("make", [kepler, argon])
def test_no_level_is_missed(make):
    """Along each flight V stays on its terrace, looked at a hundred times."""
    system, state = make()
    motion = EnergyStepping(0.03, offset=0.3).start(system, state)
    k, t, flights = motion._terrace, state.t, 0
    while flights < 120:
        while motion._start + motion._seen.tau <= t and not motion._side:
            motion._look_ahead()
        if not motion._side:
            t += 0.1
            continue
        tau = motion._seen.tau
        for part in np.linspace(0.0, 1.0, 102)[1:-1]:
            potential = system.potential(motion._q + part * tau * motion._v)
            assert motion._level(k) - 1e-12 < potential < motion._level(k + 1) + 1e-12
        motion._cross()
        assert abs(motion._terrace - k) <= 1
        k, t, flights = motion._terrace, motion._start, flights + 1


# -- what is conserved -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("make", "step", "until", "events"), [(kepler, 0.05, 40.0, 1500), (argon, 0.005, 3.0, 1000)])
def test_energy_and_momenta_are_kept(make, step, until, events):
    system, state = make()
    motion = EnergyStepping(step).start(system, state)
    free = not system.has_supports
    totals, momenta, potentials = [], [], []
    for t in np.linspace(0.0, until, 41):
        now = motion.advance(t)
        energies = motion.energies(now)
        totals.append(energies["terraced_total"])
        potentials.append(energies["total"] - energies["kinetic"])
        assert energies["terraced_total"] == energies["kinetic"] + motion.terraced_potential(now.q)
        momenta.append([*(system.momentum(now) if free else []), *system.angular_momentum(now)])
    assert motion.statistics()["events"] > events
    assert np.ptp(potentials) > 0.5
    assert np.min(np.abs(momenta[0])) > 0.1
    assert np.ptp(totals) < 2e-13 * max(np.abs(potentials))
    assert np.ptp(momenta, axis=0).max() < 2e-13


def test_reversed_velocities_lead_back():
    for make, step, until in ((kepler, 0.05, 6.0), (argon, 0.01, 1.0)):
        system, state = make()
        there = EnergyStepping(step).start(system, state).advance(until)
        back = EnergyStepping(step).start(system, there.reversed()).advance(2.0 * until)
        assert np.abs(there.q - state.q).max() > 0.1
        assert np.abs(back.q - state.q).max() < 1e-8
        assert np.abs(back.v + state.v).max() < 1e-7


def test_jacobian_is_symplectic():
    system, state = argon()
    mass, size, nudge = np.repeat(system.mass, 2), state.q.size, 1e-7

    def flow(y):
        start = system.state(y[:size].reshape(-1, 2), (y[size:] / mass).reshape(-1, 2))
        end = EnergyStepping(0.03).start(system, start).advance(0.4)
        return np.concatenate([end.q.ravel(), end.v.ravel() * mass])

    y0 = np.concatenate([state.q.ravel(), state.v.ravel() * mass])
    J = np.column_stack([(flow(y0 + nudge * e) - flow(y0 - nudge * e)) / (2 * nudge) for e in np.eye(2 * size)])
    identity, zero = np.eye(size), np.zeros((size, size))
    omega = np.block([[zero, identity], [-identity, zero]])
    assert np.abs(J - np.eye(2 * size)).max() > 1.0
    assert np.abs(J.T @ omega @ J - omega).max() < 1e-5 * np.abs(J).max() ** 2


def test_consistent_masses_and_supports():
    M = sp.csr_array(np.array([[2.0, 0.5, 0.0], [0.5, 2.0, 0.5], [0.0, 0.5, 1.0]]))
    fixed = np.zeros((3, 2), bool)
    fixed[0] = True
    springs = Bars([[0, 1], [1, 2]], EngineeringStrain(20.0, 1.0), dim=2)
    system = System(M, {"springs": springs}, dim=2, fixed=fixed)
    state = system.state([[0.0, 0.0], [1.1, 0.0], [2.3, 0.2]], np.array([[0.0, 0.0], [0.3, 1.0], [-0.5, 0.2]]))
    motion = EnergyStepping(0.01).start(system, state)
    before = motion.energies(state)
    end = motion.advance(5.0)
    assert motion.energies(end)["terraced_total"] == pytest.approx(before["terraced_total"], rel=1e-12)
    assert abs(motion.energies(end)["springs"] - before["springs"]) > 0.05
    assert np.array_equal(end.q[0], state.q[0])
    assert motion.statistics()["events"] > 200


# -- convergence -------------------------------------------------------------------------------------------------


def on_orbit(t):
    """Return the planet's place from Kepler's equation; it starts at the true anomaly π/2."""
    e = ECCENTRICITY
    mean = t + np.arccos(e) - e * np.sqrt(1.0 - e * e)
    E = brentq(lambda E: E - e * np.sin(E) - mean, mean - 1.0, mean + 1.0, xtol=1e-15)
    return np.array([np.cos(E) - e, np.sqrt(1.0 - e * e) * np.sin(E)])


def mean_error(until, step, octaves):
    """Return the mean error over steps of some octaves: where on its terrace the path turns is a matter of chance."""
    system, state = kepler()
    steps = step * 2.0 ** (octaves * np.arange(16) / 16)
    ends = [EnergyStepping(h, offset=0.7).start(system, state).advance(until).q[1] for h in steps]
    return np.mean([np.abs(end - on_orbit(until)).max() for end in ends])


@pytest.mark.slow
def test_error_falls_with_the_step_between_turning_points_and_with_its_root_through_them():
    on_the_way = [mean_error(1.5, h, 2) for h in (0.08, 0.005)]
    through_aphelion = [mean_error(4.0, h, 2) for h in (0.08, 0.005)]
    assert on_the_way[0] < 0.1
    assert np.log(on_the_way[0] / on_the_way[1]) / np.log(16.0) == pytest.approx(1.0, abs=0.15)
    order = np.log(through_aphelion[0] / through_aphelion[1]) / np.log(16.0)
    assert order == pytest.approx(EnergyStepping(1.0).order, abs=0.3)


# -- where the method ends ---------------------------------------------------------------------------------------


def test_at_rest_nothing_moves():
    system, state = argon()
    rest = system.state(state.q)
    motion = EnergyStepping(0.05).start(system, rest)
    assert np.abs(rest.a).max() > 1.0
    assert np.array_equal(motion.advance(100.0).q, rest.q)
    assert motion.statistics()["events"] == 0


def test_a_start_along_a_level_is_held_on_its_terrace():
    """At perihelion: the radial energy that a straight line gains on the terrace does not carry a step."""
    system, _ = kepler()
    e = ECCENTRICITY
    q, v = np.array([[0.0, 0.0], [1.0 - e, 0.0]]), np.array([[0.0, 0.0], [0.0, np.sqrt((1.0 + e) / (1.0 - e))]])
    potential = -1.0 / (1.0 - e)
    for h in (0.1, 0.01):
        motion = EnergyStepping(h, offset=0.7 - potential / h % 1.0).start(system, system.state(q, v))
        end = motion.advance(1.0)
        assert abs(motion.energies(end)["sun"] - potential) < h
        assert motion.statistics()["crossings"] == 0
        assert motion.statistics()["reflections"] > 5


def test_free_flight_has_no_events():
    system = System(np.ones(2), {"argon": Bars([[0, 1]], LennardJones(1.0, 1.0), dim=2)}, dim=2)
    motion = EnergyStepping(0.1).start(system, system.state([[0.0, 0.0], [3.0, 0.0]], [[0.0, 0.0], [1.0, 0.5]]))
    end = motion.advance(1e6)
    assert np.array_equal(end.q[1], [3.0 + 1e6, 0.5e6])
    assert motion.statistics()["events"] == 0
    assert motion.statistics()["stretches"] < 200


def test_a_far_collision_is_not_jumped_over():
    system = System(np.ones(2), {"argon": Bars([[0, 1]], LennardJones(1.0, 1.0), dim=2)}, dim=2)
    motion = EnergyStepping(0.1).start(system, system.state([[0.0, 0.0], [1e4, 0.9]], [[1.0, 0.0], [-1.0, 0.0]]))
    end = motion.advance(6e3)
    assert motion.statistics()["events"] > 10
    assert abs(end.v[0, 1]) > 0.1


def test_a_small_obstacle_needs_a_stride():
    ball = RigidContact([0], Sphere((300.0, 0.0), 0.5), 100.0)
    system = System(np.ones(1), {"ball": ball}, dim=2)
    state = system.state([[0.3, 0.1]], [[1.0, 0.0]])
    unseen = EnergyStepping(1e-3).start(system, state)
    assert unseen.advance(500.0).v[0, 0] == 1.0
    seen = EnergyStepping(1e-3, stride=0.2).start(system, state)
    assert seen.advance(500.0).v[0, 0] < 0.9


# -- going on, and refusing --------------------------------------------------------------------------------------


def test_checkpoints_of_other_methods_are_refused():
    system, state = argon()
    methods = [EnergyStepping(0.1), ForceStepping(0.01), Newmark(1e-3), EnergyMomentum(1e-3)]
    checkpoints = [method.start(system, state).checkpoint() for method in methods]
    for i, method in enumerate(methods):
        for j, checkpoint in enumerate(checkpoints):
            if i == j:
                method.resume(system, checkpoint)
            elif (i, j) != (2, 3):  # the arrays of an implicit method are more than those of an explicit one
                with pytest.raises(InvalidSystem, match="checkpoint"):
                    method.resume(system, checkpoint)


def test_resuming_is_bit_identical_and_looking_does_not_disturb():
    system, state = argon()
    often = EnergyStepping(0.1).start(system, state)
    for t in np.linspace(0.0, 1.0, 23):
        often.advance(t)
    stored = often.checkpoint()
    resumed = EnergyStepping(0.1).resume(argon()[0], stored)
    once = EnergyStepping(0.1).start(system, state)
    a, b, c = (motion.advance(2.0) for motion in (often, resumed, once))
    assert np.array_equal(a.q, b.q)
    assert np.array_equal(a.q, c.q)
    assert np.array_equal(a.v, b.v)
    assert often.statistics() == resumed.statistics() == once.statistics()
    with pytest.raises(InvalidSystem, match="its step is another"):
        EnergyStepping(0.2).resume(system, stored)
    with pytest.raises(InvalidSystem, match=r"q has shape \(7, 2\), expected \(2, 2\)"):
        EnergyStepping(0.1).resume(kepler()[0], stored)


def test_wrong_numbers_are_refused():
    for step in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="step of energy-stepping must be positive"):
            EnergyStepping(step)
    with pytest.raises(ValueError, match="offset of energy-stepping must be finite"):
        EnergyStepping(1.0, offset=np.nan)
    with pytest.raises(ValueError, match="stride of energy-stepping must be positive"):
        EnergyStepping(1.0, stride=0.0)


def test_a_step_within_round_off_is_refused():
    system, state = kepler()
    with pytest.raises(StepFailed, match=r"lost in the round-off of energies of 6\.71 J\. Try a step above 7e-11 J"):
        EnergyStepping(1e-14).start(system, state)


def test_starts_that_are_not_finite_are_refused():
    system, state = kepler()
    pole = system.state(state.q, state.v)
    pole.q[1] = 0.0
    with pytest.raises(StepFailed, match="no energy at the initial positions"):
        EnergyStepping(0.1).start(system, pole)
    state.v[1] = np.inf
    with pytest.raises(StepFailed, match="not finite"):
        EnergyStepping(0.1).start(system, state)


def test_a_state_of_another_system_is_refused():
    with pytest.raises(InvalidSystem, match=r"positions of shape \(2, 2\) .* the system has 7 nodes in 2 dimensions"):
        EnergyStepping(0.1).start(argon()[0], kepler()[1])


def test_systems_without_energies_nodes_or_freedom():
    free = System(np.ones(2), {}, dim=2)
    state = free.state(np.eye(2), np.array([[1.0, 0.0], [0.0, -2.0]]))
    assert np.array_equal(EnergyStepping(0.1).start(free, state).advance(4.0).q, state.q + 4.0 * state.v)
    empty = System(np.empty(0), {}, dim=2)
    assert EnergyStepping(0.1).start(empty, empty.state(np.empty((0, 2)))).advance(1.0).q.shape == (0, 2)
    held = System(np.ones(2), {"sun": Bars([[0, 1]], InverseDistance(1.0), dim=2)}, dim=2, fixed=np.ones((2, 2), bool))
    assert np.array_equal(EnergyStepping(0.1).start(held, held.state(np.eye(2))).advance(1.0).q, np.eye(2))


def test_loads_in_time_and_going_back_are_refused():
    system, state = argon()
    loaded = System(system.mass, system.energies, dim=2, loads={"push": lambda t, q, v: np.ones_like(q)})
    with pytest.raises(InvalidSystem, match="load 'push'"):
        EnergyStepping(0.1).start(loaded, state)
    mass = np.append(system.mass[:-1], 0.0)
    light = System(mass, system.energies, dim=2, massless=mass == 0.0)
    with pytest.raises(InvalidSystem, match="EnergyStepping needs mass at all nodes, but 1 have none"):
        EnergyStepping(0.1).start(light, state)
    motion = EnergyStepping(0.1).start(system, state)
    motion.advance(0.1)
    with pytest.raises(StepFailed, match="cannot go back"):
        motion.advance(0.05)
    with pytest.raises(StepFailed, match="cannot move to t = inf"):
        motion.advance(np.inf)
