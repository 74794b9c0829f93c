"""Supports that move: where they go, the work that they do, and what the structure on them makes of it."""

from dataclasses import replace
from functools import cache
from math import cos, pi, sin

import numpy as np
import pytest
from scipy.integrate import solve_ivp, trapezoid
from scipy.sparse import csr_array

from symplex.contact.obstacles import HalfSpace
from symplex.contact.rigid import RigidContact
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.actions.mass import bar_mass, consistent_bar_mass, consistent_mass, lumped_mass
from symplex.fem.actions.support_motion import SupportMotion, SupportRotation, SupportTranslation
from symplex.fem.actions.time_function import TimeFunction
from symplex.fem.measures.bars import Bars, EngineeringStrain, GreenStrain
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.system import System
from symplex.meshes.generate import box
from symplex.time.composition import Composition
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.dense_output import Interpolant
from symplex.time.events.force_stepping import ForceStepping
from symplex.time.explicit.newmark import Newmark
from symplex.time.implicit.generalized_alpha import GeneralizedAlpha, HilberHughesTaylor
from symplex.time.implicit.midpoint import Midpoint
from symplex.time.reductions.jacobi_reduction import JacobiReduction
from symplex.time.reductions.polar_reduction import PolarReduction
from symplex.time.solvers.newton import Newton

POINTS = np.array([[0, 0], [1, 0], [0, 1], [1, 1], [0.1, 2], [0.9, 2.0]])
PAIRS = np.array(
    [[0, 2], [1, 3], [2, 3], [0, 3], [1, 2], [2, 4], [3, 5], [4, 5], [2, 5], [3, 4]],
    np.int32,
)
SHAKE = TimeFunction(
    lambda t: 0.2 * sin(3 * t + 0.3), lambda t: 0.6 * cos(3 * t + 0.3), lambda t: -1.8 * sin(3 * t + 0.3)
)
LIFT = TimeFunction(lambda t: 0.1 * sin(2 * t), lambda t: 0.2 * cos(2 * t), lambda t: -0.4 * sin(2 * t))


def tower(consistent=False, drag=0.05, loaded=True, shake=SHAKE):
    """A truss of Green bars on a base shaken by large amplitudes, one foot lifted as well, with a load and drag."""
    mass = (consistent_bar_mass if consistent else bar_mass)(POINTS, PAIRS, 1.0, 0.5, 6)
    lengths = np.linalg.norm(POINTS[PAIRS[:, 1]] - POINTS[PAIRS[:, 0]], axis=1)
    fixed = np.zeros((6, 2), bool)
    fixed[1, 1] = True
    push = np.eye(6, 2)[::-1] * 0.3
    system = System(
        mass,
        {"bars": Bars(PAIRS, GreenStrain(40.0, lengths), dim=2)},
        dim=2,
        fixed=fixed,
        loads={"wind": lambda t, q, v: np.sin(t) * push - drag * v} if loaded else {},
        moving={"base": SupportTranslation([0, 1], "x", shake), "jack": SupportTranslation([0], "y", LIFT)},
    )
    return system, system.state(POINTS, np.tile([0.05, 0.02], (6, 1)), t=0.2)


@cache
def exact(consistent, drag):
    """Positions and velocities of the tower at t = 1.2 by a high-order method."""
    system, state = tower(consistent, drag)
    free = ~system.fixed
    n = free.sum()

    def at(t, y):
        q = state.q + system.moving.displacements(t) - system.moving.displacements(state.t)
        v = system.held(t, np.zeros_like(q))
        q[free], v[free] = y[:n], y[n:]
        return q, v

    def rate(t, y):
        return np.concatenate([y[n:], system.accelerations_at(t, *at(t, y))[free]])

    y0 = np.concatenate([state.q[free], state.v[free]])
    return at(1.2, solve_ivp(rate, (0.2, 1.2), y0, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1])


METHODS = {
    "energy-momentum": (EnergyMomentum, 2),
    "energy-momentum, compensated": (lambda dt: EnergyMomentum(dt, compensated=True), 2),
    "midpoint": (Midpoint, 2),
    "alpha family": (lambda dt: Midpoint(0.5 * dt, alpha=0.3), 1),
    "trapezoidal": (Newmark.trapezoidal, 2),
    "damped Newmark": (lambda dt: Newmark(0.5 * dt, beta=0.4, gamma=0.7), 1),
    "generalised-alpha": (GeneralizedAlpha, 2),
    "HHT": (lambda dt: HilberHughesTaylor(0.5 * dt, alpha=-0.3), 2),
    "explicit Newmark": (Newmark, 2),
    "fourth order": (lambda dt: Composition(EnergyMomentum(2 * dt)), 4),
    "sixth order": (lambda dt: Composition(Midpoint(2 * dt), order=6), 6),
    "fourth order, explicit": (lambda dt: Composition(Newmark(2 * dt)), 4),
}


@pytest.mark.parametrize("consistent", [False, True], ids=["lumped", "consistent"])
@pytest.mark.parametrize("name", METHODS)
def test_order_on_a_shaken_base(name, consistent):
    make, order = METHODS[name]
    if consistent and "explicit" in name:
        pytest.skip("needs a lumped mass")
    drag = 0.0 if name == "fourth order, explicit" else 0.05  # forces of velocities leave explicit steps unsymmetric
    system, state = tower(consistent, drag)
    q, v = exact(consistent, drag)
    errors, balances = [], []
    for dt in (0.02, 0.01):
        motion = make(dt).start(system, state)
        before = motion.energies(motion.advance(0.2))["balance"]
        end = motion.advance(1.2)
        errors.append(max(np.abs(end.q - q).max(), np.abs(end.v - v).max()))
        balances.append(abs(motion.energies(end)["balance"] - before))
        np.testing.assert_allclose(end.q[system.fixed], q[system.fixed], atol=2e-15)
        np.testing.assert_allclose(end.v[system.fixed], v[system.fixed], atol=1e-14)
    assert errors[0] < 0.1
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)
    if make(0.01).conserves >= {"energy"}:
        assert max(balances) < 3e-14
    else:
        assert 1e-12 < balances[1] < 1e-2
        assert np.log2(balances[0] / balances[1]) == pytest.approx(order, abs=0.25)


# -- energy and work ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("consistent", [False, True], ids=["lumped", "consistent"])
@pytest.mark.parametrize("compensated", [False, True], ids=["", "compensated"])
def test_energy_and_work_of_supports_balance_to_round_off(consistent, compensated):
    system, state = tower(consistent)
    motion = EnergyMomentum(0.05, compensated=compensated).start(system, state)
    before = motion.energies(motion.advance(0.2))
    assert before["work_base"] == before["work_jack"] == 0.0
    for n in range(1, 41):
        energies = motion.energies(motion.advance(0.2 + n * 0.25))
        assert energies["balance"] == pytest.approx(before["balance"], abs=3e-13)
    assert set(energies) == {"kinetic", "bars", "total", "work_wind", "work_base", "work_jack", "balance"}
    assert min(abs(energies[f"work_{name}"]) for name in ("wind", "base", "jack")) > 0.1
    assert abs(energies["total"] - before["total"]) > 0.1


def test_the_work_of_a_support_is_that_of_its_reaction():
    """∫ R·v dt, by quadrature along a fine motion."""
    system, state = tower(consistent=True)
    motion = Midpoint(0.005).start(system, state)
    states = [motion.advance(0.2 + n * 0.005) for n in range(201)]
    power = [system.reactions(s) * s.v for s in states]
    for name, mask in (("base", np.s_[:2, 0]), ("jack", np.s_[0, 1])):
        expected = trapezoid([p[mask].sum() for p in power], dx=0.005)
        assert motion.energies(states[-1])[f"work_{name}"] == pytest.approx(expected, rel=1e-4)
    assert not system.reactions(states[-1])[~system.fixed].any()


def test_reactions_carry_the_weight():
    """At rest the supports carry what hangs on them, and the one that lifts it has to speed up mass as well."""
    spring = Bars([[0, 1]], EngineeringStrain(100.0, 1.0), dim=1)
    weight = {"weight": lambda t, q, v: np.array([[-30.0], [-20.0]])}
    hold = System(np.array([3.0, 2.0]), {"spring": spring}, dim=1, fixed=[[True], [False]], loads=weight)
    assert hold.reactions(hold.state([[0.0], [-1.2]]))[0, 0] == pytest.approx(50.0)
    lift = System(
        np.array([3.0, 2.0]),
        {"spring": spring},
        dim=1,
        loads=weight,
        moving={"hook": SupportTranslation([0], "x", TimeFunction.of_accelerations([0, 10], [4, 4]))},
    )
    assert lift.reactions(lift.state([[0.0], [-1.2]], t=1.0))[0, 0] == pytest.approx(50.0 + 3.0 * 4.0)


@pytest.mark.parametrize("consistent", [False, True], ids=["lumped", "consistent"])
def test_a_jump_of_the_velocity_keeps_the_balance(consistent):
    kinked = TimeFunction.table([0, 0.63, 1.21, 5], [0, 0.2, -0.1, 0.3], smooth=False)
    system, state = tower(consistent, loaded=False, shake=kinked)
    motion = EnergyMomentum(0.05).start(system, state)
    before = motion.energies(motion.advance(0.2))
    energies = motion.energies(motion.advance(4.2))
    assert energies["balance"] == pytest.approx(before["balance"], abs=1e-13)
    assert abs(energies["work_base"]) > 0.1


def test_a_knocked_mass_takes_its_momentum_from_the_consistent_mass():
    """A support that starts at once gives its neighbour the velocity −M_fc v/M_ff, without any force."""
    mass = csr_array([[2.0, 0.5], [0.5, 2.0]])
    spring = Bars([[0, 1]], EngineeringStrain(1e-12, 1.0), dim=1)
    start = TimeFunction.table([0, 0.1, 1], [0, 0, 0.9], smooth=False)
    system = System(mass, {"spring": spring}, dim=1, moving={"hammer": SupportTranslation([0], "x", start)})
    state = system.state([[0.0], [1.0]])
    for make in (EnergyMomentum, Midpoint):
        end = make(0.05).start(system, state).advance(0.4)
        assert end.v[:, 0] == pytest.approx([1.0, -0.25], abs=1e-10)
    with pytest.raises(InvalidSystem, match=r"Newmark with a consistent mass .* 'hammer' jumps; take EnergyMomentum"):
        Newmark.trapezoidal(0.05).start(system, state)


# -- steps and checkpoints ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*METHODS, "halved"])
def test_a_resumed_motion_is_bit_identical(name):
    halved = Newton(iterations=4, halvings=4)
    method = METHODS[name][0](0.02) if name != "halved" else EnergyMomentum(0.1, newton=halved)
    consistent = "explicit" not in name
    system, state = tower(consistent)
    whole = method.start(system, state)
    whole.advance(0.6)
    stored = {key: array.copy() for key, array in whole.checkpoint().items()}
    end = whole.advance(1.0)
    system, _ = tower(consistent)
    parts = method.resume(system, stored)
    resumed = parts.advance(1.0)
    for key in ("q", "v", "a"):
        np.testing.assert_array_equal(getattr(resumed, key), getattr(end, key))
    assert parts.energies(resumed) == whole.energies(end)
    if name == "halved":
        assert whole.statistics()["halved"] > 0


@pytest.mark.parametrize("method", [EnergyMomentum(0.02), Composition(Midpoint(0.02)), Newmark(0.02)])
def test_a_checkpoint_of_another_motion_of_supports_is_refused(method):
    system, state = tower()
    motion = method.start(system, state)
    motion.advance(0.6)
    changed, _ = tower(shake=SHAKE.scaled(1.001))
    with pytest.raises(InvalidSystem, match=r"at t = 0.6 s support 'base' is 0.000173 m away from where its motion"):
        method.resume(changed, motion.checkpoint())


def test_rounding_where_a_support_comes_through_zero_is_no_other_motion():
    moving = tower()[0].moving
    q = POINTS + moving.displacements(np.pi)  # the jack is at 0.1 sin 2π
    q[0, 1] += 1e-18
    moving.require_at(np.pi, POINTS, q)
    q[0, 1] += 1e-8
    with pytest.raises(InvalidSystem, match="support 'jack' is 1e-08 m away"):
        moving.require_at(np.pi, POINTS, q)


@pytest.mark.parametrize("method", [EnergyMomentum(0.02), Composition(Midpoint(0.02)), Newmark(0.02)])
def test_a_checkpoint_without_what_supports_need_is_refused(method):
    still = free_pair()
    checkpoint = method.start(still, still.state([[0.0, 0.0], [1.0, 0.0]])).checkpoint()
    checkpoint["work"] = np.zeros(1)
    moving = free_pair(moving={"grip": SupportTranslation([0], "x", SHAKE)})
    with pytest.raises(InvalidSystem, match=r"the checkpoint does not belong to this system, .*: it has no "):
        method.resume(moving, checkpoint)


def test_halved_steps_follow_the_supports_and_keep_the_balance():
    system, state = tower(consistent=True)
    motion = EnergyMomentum(0.1, newton=Newton(iterations=4, halvings=4)).start(system, state)
    before = motion.energies(motion.advance(0.2))["balance"]
    end = motion.advance(1.2)
    assert motion.statistics()["halved"] > 0
    assert motion.energies(end)["balance"] == pytest.approx(before, abs=1e-13)
    expected = state.q + system.moving.displacements(1.2) - system.moving.displacements(0.2)
    np.testing.assert_allclose(end.q[system.fixed], expected[system.fixed], atol=2e-15)


def test_positions_follow_without_drift_over_many_steps():
    spring = Bars([[0, 1]], EngineeringStrain(1.0, 1.0), dim=1)
    system = System(np.ones(2), {"spring": spring}, dim=1, moving={"grip": SupportTranslation([0], "x", LIFT)})
    state = system.state([[1000.0], [1001.0]])
    for method in (EnergyMomentum(0.01), EnergyMomentum(0.01, compensated=True), Newmark(0.01)):
        end = method.start(system, state).advance(4.0)
        assert end.q[0, 0] == pytest.approx(1000.0 + LIFT.value(4.0), abs=3e-13)


def test_between_steps_the_support_is_on_its_way():
    system, state = tower()
    motion = EnergyMomentum(0.01).start(system, state)
    ends = motion.advance(0.2), motion.advance(0.21)
    between = Interpolant(*ends)(0.206)
    moved = state.q + system.moving.displacements(0.206) - system.moving.displacements(0.2)
    np.testing.assert_allclose(between.q[system.fixed], moved[system.fixed], atol=1e-14)


@pytest.mark.parametrize("speed", [0.5, 500.0])
def test_a_body_that_flies_with_its_support_is_not_torn(speed):
    """At 500 m/s a step moves the face by five lengths of the body."""
    mesh = box((1.0, 0.5, 0.5), (1, 1, 1))
    cells, face = mesh.cells["tetra"], np.flatnonzero(mesh.points[:, 0] < 1e-9)
    carriage = SupportTranslation(face, [1.0, 0.0, 0.0], TimeFunction.steady(speed))
    for of in (lumped_mass, consistent_mass):
        mass = of(mesh.points, cells, 1.0, len(mesh.points))
        solid = Solid(mesh.points, cells, NeoHookean(2e3, 1e3, 1.0))
        system = System(mass, {"solid": solid}, moving={"carriage": carriage})
        state = system.state(mesh.points, [speed, 0.0, 0.0])
        motion = EnergyMomentum(0.01).start(system, state)
        end = motion.advance(0.1)
        np.testing.assert_allclose(
            end.q, mesh.points + np.array([0.1 * speed, 0, 0]), rtol=1e-12, atol=1e-14 + 1e-16 * speed
        )
        assert motion.energies(end)["work_carriage"] == pytest.approx(0.0, abs=1e-9 * speed**2)


@pytest.mark.parametrize(("mass_of", "linear"), [(lumped_mass, "sparse"), (consistent_mass, "krylov")])
def test_a_ram_presses_a_block_on_a_floor(mass_of, linear):
    """With contact that closes, the work of the ram is in the energies, to round-off."""
    mesh = box((1.0, 0.5, 0.5), (2, 1, 1))
    points, cells = mesh.points, mesh.cells["tetra"]
    top = np.flatnonzero(points[:, 2] > 0.5 - 1e-9)
    push = TimeFunction.of_accelerations([0, 0.1, 0.2, 0.3], [0, 20, -20, 0])
    floor = RigidContact(mesh.boundary_nodes, HalfSpace(point=(0, 0, -0.02), normal=(0, 0, 1)), stiffness=1e4)
    system = System(
        mass_of(points, cells, 1.0, len(points)),
        {"block": Solid(points, cells, NeoHookean(2e3, 1e3, 1.0)), "floor": floor},
        moving={"ram": SupportTranslation(top, [0.3, 0.0, -1.0], push)},
    )
    motion = EnergyMomentum(0.02, newton=Newton(linear=linear)).start(system, system.state(points))
    end = motion.advance(0.3)
    np.testing.assert_allclose((end.q - points)[top], np.tile(push.value(0.3) * np.array([0.3, 0, -1]), (len(top), 1)))
    energies = motion.energies(end)
    assert energies["floor"] > 1.0
    assert energies["work_ram"] > 50.0
    assert energies["balance"] == pytest.approx(0.0, abs=1e-12)
    assert system.reactions(end)[top, 2].sum() < -500.0


@pytest.mark.parametrize("speed", [200.0, 0.1, 0.0])
def test_a_jump_that_tears_elements_says_how_far_it_is(speed):
    """Not so where something else tears them, as here a body that is thrown at the support."""
    mesh = box((1.0, 0.5, 0.5), (1, 1, 1))
    cells, face = mesh.cells["tetra"], np.flatnonzero(mesh.points[:, 0] < 1e-9)
    ram = SupportTranslation(face, [1.0, 0.0, 0.0], TimeFunction.steady(speed))
    solid = Solid(mesh.points, cells, NeoHookean(2e3, 1e3, 1.0))
    mass = lumped_mass(mesh.points, cells, 1.0, len(mesh.points))
    system = System(mass, {"solid": solid}, moving={"ram": ram})
    thrown = np.where(mesh.points[:, :1] > 0.9, [-200.0 if speed < 1.0 else 0.0, 0.0, 0.0], 0.0)
    method = EnergyMomentum(0.01, newton=Newton(iterations=1 if speed < 1.0 else 25))
    with pytest.raises(StepFailed, match=r"EnergyMomentum (stopped|did not converge)") as caught:
        method.start(system, system.state(mesh.points, thrown)).advance(0.1)
    assert ("the supports move by up to 2 m" in str(caught.value)) == (speed == 200.0)
    assert ("the supports move" in str(caught.value)) == (speed == 200.0)


def test_a_turning_support_carries_a_body_round_with_the_work_of_speeding_it_up():
    """A stiff free bar on a driven hub: at the end it has ½ J ω² in kinetic energy, and the hub has done that work."""
    points = np.array([[0.2, 0.0], [-0.2, 0.0], [1.0, 0.0]])
    bars = Bars([[0, 2], [1, 2]], EngineeringStrain(1e5, [0.8, 1.2]), dim=2)
    bend = Bars([[0, 2], [1, 2]], GreenStrain(1.0, [0.8, 1.2]), dim=2)
    angle = TimeFunction.table([0, 1, 2, 3, 4, 5], [0, 0.1, 0.5, 1.5, 3.0, 4.5])
    hub = SupportRotation([0, 1], points, angle, center=[0.0, 0.0])
    system = System(np.array([1.0, 1.0, 2.0]), {"bars": bars, "bend": bend}, dim=2, moving={"hub": hub})
    motion = EnergyMomentum(0.01).start(system, system.state(points, t=0.0))
    before = motion.energies(motion.advance(0.0))
    end = motion.advance(5.0)
    np.testing.assert_allclose(end.q[0], 0.2 * np.array([cos(4.5), sin(4.5)]), atol=1e-14)
    np.testing.assert_allclose(end.v[1], 0.2 * angle.rate(5.0) * np.array([sin(4.5), -cos(4.5)]), atol=1e-14)
    energies = motion.energies(end)
    assert energies["balance"] == pytest.approx(before["balance"], abs=1e-9)
    assert energies["work_hub"] > 0.5


# -- functions of time --------------------------------------------------------------------------------------------


def check_derivatives(function, times, atol):
    h = 1e-4
    for t in times:
        rate = (function.value(t + h) - function.value(t - h)) / (2 * h)
        assert function.rate(t) == pytest.approx(rate, abs=atol)
        second = (function.rate(t + h) - function.rate(t - h)) / (2 * h)
        assert function.second(t) == pytest.approx(second, abs=atol)


def test_a_table_is_joined_smoothly():
    times = np.linspace(0, 2, 41)
    function = TimeFunction.table(times, np.sin(3 * times))
    check_derivatives(function, [0.01, 0.52, 1.33, 1.97], 1e-6)
    for t in (0.0, 0.513, 1.99, 2.0):
        assert function.value(t) == pytest.approx(sin(3 * t), abs=2e-5)
        assert function.rate(t) == pytest.approx(3 * cos(3 * t), abs=2e-3)
    assert function.smooth
    assert function.span == (0.0, 2.0)
    with pytest.raises(StepFailed, match=r"its table goes from 0 to 2 s, but is asked at t = 2.1 s"):
        function.value(2.1)


def test_straight_lines_have_the_rate_after_a_kink():
    function = TimeFunction.table([0, 1, 3], [0, 2, 1], smooth=False)
    assert [function.value(t) for t in (0.5, 1, 2)] == [1.0, 2.0, 1.5]
    assert [function.rate(t) for t in (0.5, 1, 2, 3)] == [2.0, -0.5, -0.5, -0.5]
    assert function.second(0.5) == 0.0
    assert not function.smooth


def test_a_record_of_accelerations_is_integrated_exactly():
    function = TimeFunction.of_accelerations([0, 1, 2, 4], [0, 6, 6, 0])
    assert [function.second(t) for t in (0.5, 1.5, 3)] == pytest.approx([3.0, 6.0, 3.0])
    assert [function.rate(t) for t in (0, 1, 2, 4)] == pytest.approx([0.0, 3.0, 9.0, 15.0])
    assert [function.value(t) for t in (0, 1, 2)] == pytest.approx([0.0, 1.0, 7.0])
    check_derivatives(function, [0.3, 1.7, 3.3], 1e-5)


def test_differences_err_as_they_say():
    function = TimeFunction.differenced(lambda t: sin(2 * pi * t), resolution=0.01)
    for t in (0.1, 0.4, 0.77):
        assert function.rate(t) == pytest.approx(2 * pi * cos(2 * pi * t), abs=6e-7 * 2 * pi)
        assert function.second(t) == pytest.approx(-4 * pi**2 * sin(2 * pi * t), abs=3e-7 * 4 * pi**2)


def test_a_function_times_a_number():
    function = SHAKE.scaled(2.0)
    assert (function.value(1.0), function.rate(1.0)) == (2 * SHAKE.value(1.0), 2 * SHAKE.rate(1.0))
    assert function.second(1.0) == 2 * SHAKE.second(1.0)


@pytest.mark.parametrize("dim", [2, 3])
def test_the_derivatives_of_a_rotation(dim):
    points = np.random.default_rng(3).standard_normal((4, dim))
    axis = None if dim == 2 else [1.0, -2.0, 0.5]
    turn = SupportRotation([0, 1, 3], points, SHAKE.scaled(10.0), center=points[2], axis=axis)
    h = 1e-5
    for t in (0.3, 1.1):
        velocity = (turn.displacement(t + h) - turn.displacement(t - h)) / (2 * h)
        acceleration = (turn.velocity(t + h) - turn.velocity(t - h)) / (2 * h)
        np.testing.assert_allclose(turn.velocity(t), velocity, atol=1e-6)
        np.testing.assert_allclose(turn.acceleration(t), acceleration, atol=1e-5)
        arms = points[[0, 1, 3]] - points[2]
        moved = arms + turn.displacement(t)
        np.testing.assert_allclose(np.linalg.norm(moved, axis=1), np.linalg.norm(arms, axis=1), rtol=1e-14)


# -- trouble ------------------------------------------------------------------------------------------------------


def free_pair(**options):
    spring = Bars([[0, 1]], EngineeringStrain(1.0, 1.0), dim=2)
    return System(np.ones(2), {"spring": spring}, dim=2, **options)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: TimeFunction.table([0, 2, 1], [0, 1, 2]), "times must ascend, but 2 s is followed by 1 s"),
        (lambda: TimeFunction.table([0, 1], [0, 1, 2]), "there are 2 times, but 3 values"),
        (lambda: TimeFunction.table([0], [0]), "a table needs two times at least"),
        (lambda: TimeFunction.table([0, 1], [0, np.nan]), "values must be finite numbers"),
        (lambda: TimeFunction.steady(np.inf), "the rate must be finite"),
        (lambda: TimeFunction.differenced(sin, 0.0), "the resolution must be positive"),
        (lambda: SupportTranslation([0], "x", sin), "a Python function needs its velocity and acceleration"),
        (lambda: SupportTranslation([0], "x", 1.0), "must be a TimeFunction or a table"),
        (lambda: SupportTranslation([0], "w", SHAKE), "the direction is 'w'"),
        (lambda: SupportTranslation([0], [0, 0], SHAKE), "must be a vector other than 0"),
        (lambda: SupportTranslation([0, 0], "x", SHAKE), "without repetition"),
        (lambda: SupportTranslation([], "x", SHAKE), "SupportTranslation has no nodes"),
        (lambda: SupportTranslation([0], [1, 0, 0], SHAKE, components="w"), "components are 'w', must be letters of"),
        (lambda: SupportTranslation([0], "x", SHAKE, components="yz"), "moves in x, which is not among its components"),
        (lambda: SupportRotation([0], np.eye(3), SHAKE, center=[0, 0, 0]), "the axis is None"),
        (lambda: SupportRotation([7], np.eye(3), SHAKE, center=[0, 0, 0], axis=[0, 0, 1]), "refers to nodes 7 to 7"),
        (lambda: SupportRotation([0], np.eye(3), SHAKE, center=[0, 0], axis=[0, 0, 1]), "the center"),
        (lambda: SupportRotation([0], np.eye(2), SHAKE, center=[0, np.nan]), "must be finite"),
        (
            lambda: free_pair(moving={"grip": SupportTranslation([5], "x", SHAKE)}),
            "support 'grip' refers to nodes 5 to 5, but there are 2",
        ),
        (
            lambda: free_pair(moving={"grip": SupportTranslation([0], "z", SHAKE)}),
            "support 'grip' moves in z, but the system has 2 axes",
        ),
        (
            lambda: free_pair(fixed=[[1, 0], [0, 0]], moving={"grip": SupportTranslation([1, 0], "x", SHAKE)}),
            "support 'grip' moves node 0 in x, which is fixed as well",
        ),
        (
            lambda: free_pair(
                moving={"a": SupportTranslation([1], "y", SHAKE), "b": SupportTranslation([1], [1, 1], SHAKE)}
            ),
            "support 'b' moves node 1 in y, which is moved by another support",
        ),
        (
            lambda: free_pair(loads={"a": lambda t, q, v: 0 * q}, moving={"a": SupportTranslation([1], "y", SHAKE)}),
            "both a load and a moving support called 'a'",
        ),
    ],
)
def test_wrong_input_is_refused(make, text):
    with pytest.raises(InvalidSystem, match=text):
        make()


@pytest.mark.parametrize(
    "integrator",
    [
        ForceStepping(0.1),
        JacobiReduction(Newmark(0.1)),
        PolarReduction(ForceStepping(0.1)),
    ],
    ids=lambda integrator: type(integrator).__name__,
)
def test_methods_that_cannot_move_supports_refuse(integrator):
    system = free_pair(moving={"grip": SupportTranslation([0], [1.0, 0.0], SHAKE)})
    with pytest.raises(InvalidSystem, match=r"cannot move supports, but the motion of 'grip' is given; take EnergyM"):
        integrator.start(system, system.state([[0.0, 0.0], [1.0, 0.0]]))


def test_the_end_of_a_table_ends_the_motion_with_its_name():
    motion = SupportTranslation([0], [1.0, 0.0], ([0, 0.5, 1.0, 1.5], [0, 0.1, 0.0, 0.1]))
    system = free_pair(moving={"grip": motion})
    state = system.state([[0.0, 0.0], [1.0, 0.0]])
    for method in (EnergyMomentum(0.125, newton=Newton(halvings=3)), Newmark(0.125)):
        motion = method.start(system, state)
        motion.advance(1.5)
        with pytest.raises(StepFailed, match=r"stopped .*support 'grip': its table goes from 0 to 1.5 s"):
            motion.advance(2.0)


class Ripple(SupportMotion):
    """Each node moves by itself, and one loses its way."""

    def __init__(self, rows=2):
        self.nodes, self.axes, self.smooth = np.array([0, 1], np.int32), (1,), True
        self.span = (-np.inf, np.inf)
        self._rows = rows

    def displacement(self, t):
        return np.array([[0.1 * t], [np.inf if t > 0.5 else 0.2 * t]])[: self._rows]

    def velocity(self, t):
        return np.array([[0.1], [0.2]])

    def acceleration(self, t):
        return np.zeros((2, 1))


def test_a_motion_of_ones_own():
    system = free_pair(moving={"ripple": Ripple()})
    motion = EnergyMomentum(0.1).start(system, system.state([[0.0, 0.0], [1.0, 0.0]]))
    np.testing.assert_allclose(motion.advance(0.4).q[:, 1], [0.04, 0.08], atol=1e-15)
    with pytest.raises(StepFailed, match=r"support 'ripple': its displacement is not finite at t = 0.6 s"):
        motion.advance(1.0)
    twice = Ripple()
    twice.nodes = np.array([1, 1], dtype=np.int32)
    with pytest.raises(InvalidSystem, match="support 'ripple': nodes must be indices without repetition"):
        free_pair(moving={"ripple": twice})
    system = free_pair(moving={"ripple": Ripple(rows=1)})
    with pytest.raises(InvalidSystem, match=r"its displacement has shape \(1, 1\), expected \(2, 1\)"):
        EnergyMomentum(0.1).start(system, system.state([[0.0, 0.0], [1.0, 0.0]]))


def test_components_across_the_direction_are_held_if_they_are_named():
    for direction, components, axes in (
        ("y", None, (1,)),
        ("y", "yx", (0, 1)),
        ([0.0, 2.0, 0.0], "yz", (1, 2)),
        ([0.0, 2.0], None, (0, 1)),
    ):
        motion = SupportTranslation([4, 2], direction, SHAKE, components=components)
        assert motion.axes == axes
        size = SHAKE.value(1.0) * (2.0 if len(direction) > 1 else 1.0)
        np.testing.assert_array_equal(motion.displacement(1.0), [[size if axis == 1 else 0.0 for axis in axes]] * 2)


def test_a_state_says_what_its_supports_do():
    system, state = tower()
    np.testing.assert_array_equal(state.v[[0, 1], 0], SHAKE.rate(0.2))
    np.testing.assert_array_equal(state.a[[0, 1], 0], SHAKE.second(0.2))
    assert state.v[0, 1] == LIFT.rate(0.2)
    assert state.v[1, 1] == state.a[1, 1] == 0.0
    stale = replace(state, v=np.zeros_like(state.v))
    for method in (EnergyMomentum(0.1), Newmark(0.01)):
        assert method.start(system, stale).advance(0.2).v[0, 0] == SHAKE.rate(0.2)
