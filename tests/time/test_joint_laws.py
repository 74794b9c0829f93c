"""Springs, stops, dampers, friction and motors of joints: derivatives, work, and motions with known solutions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import symplex as sx
from reference.mechanisms import Bodies, pair
from symplex.errors import InfeasibleStart, InvalidSystem, StepFailed
from symplex.fem.structures.joint_laws import JointLoad, JointSpring
from symplex.fem.structures.joints import Joint

INERTIA = 2.0 * (0.3**2 + 0.1**2)  # of the wheel about its axle, kg m²


def wheel(spin=0.0, joints=None, energies=None, loads=None, kind="revolute"):
    """A wheel on an axle along y, or a slider along it, that moves at a rate."""
    bodies = Bodies()
    bodies.add(2.0, [0.0, 0.0, 0.0], [0.3, 0.2, 0.1])
    axle = bodies.joint(kind, 0, None, [0.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    energies = {} if energies is None else {"spring": energies(axle)}
    loads = {name: load(axle) for name, load in (loads or {}).items()}
    system = bodies.system({"axle": axle}, energies, loads=loads)
    along = np.array([0.0, spin, 0.0])
    v = np.cross(along, bodies.points) if kind == "revolute" else np.tile(along, (4, 1))
    return axle, system, system.state(bodies.points, v)


def near(joint, bodies, angle, size=0.01):
    """Positions with the second body moved along the joint, and all particles by a little."""
    rng = np.random.default_rng(2)
    q = bodies.points.copy()
    a = np.array([0.3, 0.5, 0.8]) / np.linalg.norm([0.3, 0.5, 0.8])
    arms = q[:4] - joint.at
    cross = np.cross(a, arms)
    if "angle" in joint.coordinates:
        q[:4] += np.sin(angle) * cross + (1.0 - np.cos(angle)) * np.cross(a, cross)
    if "displacement" in joint.coordinates:
        q[:4] += angle * a
    return q + size * rng.standard_normal(q.shape)


@pytest.mark.parametrize("angle", [-0.3, 0.8, 2.5])
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_springs_are_what_an_energy_is(kind, angle):
    bodies, joint = pair(kind)
    q = near(joint, bodies, angle)
    sx.testing.check_energy(JointSpring(joint, 3.0, rest=0.2), q)
    sx.testing.check_energy(JointSpring(joint, 1.0, rest=0.4, stops=(-0.1, 0.6), stop_stiffness=50.0), q)


def test_angles_and_displacements_are_those_of_the_first_body_seen_from_the_second():
    bodies, joint = pair("cylindrical")
    for angle in (-2.0, -0.4, 0.3, 3.0):
        q = near(joint, bodies, angle, 0.0)
        assert_allclose([joint.angle(q), joint.displacement(q)], angle, rtol=1e-13)


def test_derivatives_of_loads_are_those_of_differences():
    bodies, joint = pair("revolute")
    load = JointLoad(joint, moment=2.0, damping=0.3, friction=0.5, slip=0.4)
    q, v = near(joint, bodies, 0.7), np.random.default_rng(4).standard_normal((8, 3))
    x, u = q[load.nodes], v[load.nodes]
    by_q, by_v = load.derivatives(0.0, x, u)
    for given, found in ((q, by_q[0]), (v, by_v[0])):
        slope = np.zeros((24, 24))
        for i in range(24):
            step = np.zeros(24)
            step[i] = 1e-6
            ends = [given + sign * step.reshape(8, 3) for sign in (1.0, -1.0)]
            forces = [load(0.0, *((end, v) if given is q else (q, end))) for end in ends]
            slope[:, i] = (forces[0] - forces[1]).ravel() / 2e-6
        order = load.nodes[0]
        slope = slope.reshape(8, 3, 8, 3)[order][:, :, order].reshape(24, 24)
        assert_allclose(found, slope, atol=1e-7 * np.abs(slope).max())


def test_a_torsion_pendulum():
    """α = A cos ωt with ω = √(k/J), far beyond small angles; the frequency of energy-momentum to second order."""
    axle, system, state = wheel(2.0, energies=lambda joint: JointSpring(joint, 0.8))
    omega = np.sqrt(0.8 / INERTIA)
    assert 2.0 / omega > 0.9  # rad
    motion = sx.EnergyMomentum(0.01).start(system, state)
    start = system.energies_of(state)["total"]
    for t in np.arange(1, 11) * 1.0:
        end = motion.advance(t)
        assert_allclose(axle.angle(end.q), 2.0 / omega * np.sin(omega * t), atol=0.05)
        assert abs(system.energies_of(end)["total"] / start - 1.0) < 1e-13
    errors = []
    for dt in (0.04, 0.02, 0.01):
        end = sx.EnergyMomentum(dt).start(system, state).advance(2.0)
        errors.append(abs(axle.angle(end.q) - 2.0 / omega * np.sin(omega * 2.0)))
    assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 2.0, atol=0.05)
    modes = sx.modes.natural_modes(system, system.state(state.q), 1)
    assert_allclose(modes.angular, omega, rtol=1e-12)


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_stops_conserve_energy(kind):
    """Between two stops, with many impacts; it stays between them but for the depth that its energy allows."""
    stiffness, speed = 400.0, 2.0
    spring = lambda joint: JointSpring(joint, stops=(-0.5, 0.7), stop_stiffness=stiffness)  # noqa: E731
    axle, system, state = wheel(speed, energies=spring, kind=kind)
    inertia = INERTIA if kind == "revolute" else 2.0
    depth = speed * np.sqrt(inertia / stiffness)
    motion = sx.EnergyMomentum(0.013).start(system, state)
    value = axle.angle if kind == "revolute" else axle.displacement
    found = []
    for n in range(1, 501):
        end = motion.advance(0.013 * n)
        found.append(value(end.q))
        assert abs(system.energies_of(end)["total"] / (0.5 * inertia * speed**2) - 1.0) < 1e-12
    assert -0.5 - 1.01 * depth < min(found) < -0.5
    assert 0.7 < max(found) < 0.7 + 1.01 * depth
    assert np.sum(np.diff(np.sign(np.diff(found))) != 0) >= 8


def test_a_motor_and_a_damper():
    """J α̈ = M − d α̇: the speed tends to M/d, and the work is what is put in and taken out."""
    motor = {"motor": lambda joint: JointLoad(joint, moment=0.3), "oil": lambda joint: JointLoad(joint, damping=0.1)}
    axle, system, state = wheel(loads=motor)
    motion = sx.EnergyMomentum(0.01).start(system, state)
    end, t = motion.advance(3.0), 3.0
    rate = 0.1 / INERTIA
    assert_allclose(end.v[0], np.cross([0.0, 3.0 * (1.0 - np.exp(-rate * t)), 0.0], end.q[0]), atol=1e-3)
    turned = 3.0 * (t - (1.0 - np.exp(-rate * t)) / rate)
    assert_allclose(np.mod(axle.angle(end.q) - turned + 1.0, 2.0 * np.pi), 1.0, atol=1e-3)
    energies = motion.energies(end)
    assert_allclose(energies["work_motor"], 0.3 * turned, rtol=1e-3)
    assert energies["work_oil"] < 0.0
    assert abs(energies["balance"]) < 1e-13 * energies["work_motor"] * motion.n
    assert axle.coordinates == ("angle",)


def test_a_motor_with_a_history():
    """∫ M dt = J ω: a table of one triangle."""
    history = [0.0, 0.5, 1.0, 2.0], [0.0, 0.4, 0.0, 0.0]
    _, system, state = wheel(loads={"motor": lambda joint: JointLoad(joint, history)})
    end = sx.EnergyMomentum(0.01).start(system, state).advance(1.5)
    assert_allclose(system.angular_momentum(end), [0.0, 0.2, 0.0], atol=1e-4)


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_friction_brings_it_to_rest(kind):
    """With the constant deceleration c/J, then creep within the slip rate; what it dissipates is in the balance."""
    inertia = INERTIA if kind == "revolute" else 2.0
    load = {"brake": lambda joint: JointLoad(joint, friction=0.5 * inertia, slip=1e-3)}
    _, system, state = wheel(2.0, loads=load, kind=kind)
    motion = sx.EnergyMomentum(0.01).start(system, state)
    middle = motion.advance(2.0)
    assert_allclose(2.0 * system.kinetic(middle.v), inertia, rtol=1e-4)  # at half of the speed
    end = motion.advance(5.0)
    assert system.kinetic(end.v) < 0.5 * inertia * 1e-6
    energies = motion.energies(end)
    assert_allclose(energies["work_brake"], -0.5 * inertia * 4.0, rtol=1e-5)
    assert abs(energies["balance"] - 0.5 * inertia * 4.0) < 1e-12


def test_inner_forces_of_a_free_pair_keep_momenta():
    bodies, joint = pair("revolute")
    loads = {"motor": JointLoad(joint, moment=lambda t: np.sin(3.0 * t), damping=0.1, friction=0.05, slip=0.1)}
    system = bodies.system({"joint": joint}, {"spring": JointSpring(joint, 2.0)}, loads=loads)
    motion = sx.EnergyMomentum(0.01).start(system, system.state(bodies.points))
    end = motion.advance(2.0)
    assert system.kinetic(end.v) > 1e-3
    assert np.abs(system.momentum(end)).max() < 1e-14
    assert np.abs(system.angular_momentum(end)).max() < 1e-14
    assert abs(motion.energies(end)["balance"]) < 1e-14


def test_what_is_refused():
    _, joint = pair("revolute")
    _, ball = pair("spherical")
    _, screw = pair("cylindrical")
    bad = [
        (JointSpring, (ball, 1.0), {}, "a spherical joint has no angle and no displacement"),
        (JointSpring, (screw, 1.0), {}, "coordinate must be one of 'angle', 'displacement'"),
        (JointSpring, (joint, 1.0), {"coordinate": "displacement"}, "has no displacement; it has: angle"),
        (JointSpring, (joint,), {}, "stiffness must be positive where there are no stops"),
        (JointSpring, (joint, 1.0), {"stops": (0.0, 1.0)}, "must be given together"),
        (JointSpring, (joint, 1.0), {"stops": (1.0, 0.0), "stop_stiffness": 1.0}, "two ascending numbers"),
        (JointLoad, (joint,), {"friction": 1.0}, "friction and slip must be given together"),
        (JointLoad, (ball, 1.0), {}, "has no angle and no displacement"),
    ]
    for kind, arguments, named, message in bad:
        with pytest.raises(InvalidSystem, match=message):
            kind(*arguments, **named)


def test_a_spring_that_is_turned_too_far_is_refused():
    _, system, state = wheel(20.0, energies=lambda joint: JointSpring(joint, 0.1))
    with pytest.raises(
        StepFailed, match=r"did not converge.* at node 0 \('spring'\).* turned to 1\d\d.*° from its rest"
    ):
        sx.EnergyMomentum(0.01).start(system, state).advance(1.0)


# -- angles and displacements that are given ------------------------------------------------------------------------


def driven(kind="revolute", function=None, method=None):
    """A wheel on an axle whose angle is given, with a second one on a spring that hangs on it."""
    bodies = Bodies()
    bodies.add(2.0, [0.0, 0.0, 0.0], [0.3, 0.2, 0.1])
    bodies.add(1.0, [0.0, 0.5, 0.0], [0.3, 0.2, 0.1])
    axis = [0.0, 1.0, 0.0]
    what = "angle" if kind == "revolute" else "displacement"
    given = {
        what: function
        or sx.actions.TimeFunction(
            lambda t: np.sin(3.0 * t) - 3.0 * t, lambda t: 3.0 * np.cos(3.0 * t) - 3.0, lambda t: -9.0 * np.sin(3.0 * t)
        )
    }
    nodes = bodies.frames.nodes
    joints = {
        "motor": Joint(kind, (nodes[0], None), bodies.points, [0.0, 0.0, 0.0], axis, **given),
        "follower": Joint(kind, (nodes[1], nodes[0]), bodies.points, [0.0, 0.5, 0.0], axis),
    }
    system = bodies.system(joints, {"spring": JointSpring(joints["follower"], 2.0)})
    return bodies, joints, system, system.state(bodies.points)


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_a_given_angle_is_kept_and_its_work_is_in_the_balance(kind):
    """Against J β̈ = −k β − J α̈ of the follower's angle β; the work is what both have of energy."""
    _, joints, system, state = driven(kind)
    motion = sx.EnergyMomentum(0.005).start(system, state)
    value = "angle" if kind == "revolute" else "displacement"
    inertia = 1.0 * (0.3**2 + 0.1**2) if kind == "revolute" else 1.0
    omega = np.sqrt(2.0 / inertia)
    for t in (0.5, 1.0):
        end = motion.advance(t)
        angle = getattr(joints["motor"], value)(end.q)
        assert_allclose(angle, np.sin(3.0 * t) - 3.0 * t, atol=1e-13)
        # β̈ + ω² β = 9 sin 3t from rest
        beta = 9.0 / (omega**2 - 9.0) * (np.sin(3.0 * t) - 3.0 / omega * np.sin(omega * t))
        assert_allclose(getattr(joints["follower"], value)(end.q), beta, atol=2e-3)
        energies = motion.energies(end)
        assert energies["total"] > 0.1
        assert abs(energies["balance"]) < 1e-12
        assert_allclose(energies["work_motor"], energies["total"], rtol=1e-12)
    # The moment that keeps it: that of the spring and of what both wheels are accelerated by
    reaction = system.joint_reactions(end)["motor"]
    first = 2.0 * (0.3**2 + 0.1**2) if kind == "revolute" else 2.0
    expected = first * -9.0 * np.sin(3.0) - 2.0 * getattr(joints["follower"], value)(end.q)
    found = reaction.moment if kind == "revolute" else reaction.force
    assert_allclose(found[1], expected, rtol=1e-3)  # of velocities that are so by O(h²)


def test_it_is_of_second_order_and_goes_on_to_the_last_bit():
    _, joints, system, state = driven()
    ends = [sx.EnergyMomentum(h).start(system, state).advance(1.0) for h in (0.02, 0.01, 0.005)]
    angles = np.array([joints["follower"].angle(end.q) for end in ends])
    assert_allclose(np.log2((angles[0] - angles[1]) / (angles[1] - angles[2])), 2.0, atol=0.1)
    method = sx.Midpoint(0.01)
    motion = method.start(system, state)
    motion.advance(0.5)
    stored = motion.checkpoint()
    assert np.array_equal(method.resume(system, stored).advance(1.0).q, motion.advance(1.0).q)


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_rattle_follows_what_is_given(kind):
    """To second order, next to energy–momentum: motion, work and balance; conditions and their rates to round-off."""
    _, joints, system, state = driven(kind)
    value = "angle" if kind == "revolute" else "displacement"
    motion = sx.EnergyMomentum(1e-3).start(system, state)
    exact, given = motion.advance(1.0), np.sin(3.0) - 3.0
    work, errors = motion.energies(exact)["work_motor"], []
    sizes = (0.02, 0.01, 0.005)
    for h in sizes:
        motion = sx.Rattle(h, {}).start(system, state)
        balance = [motion.energies(motion.advance(t))["balance"] for t in np.linspace(0.1, 1.0, 10)]
        end = motion.advance(1.0)
        assert_allclose(getattr(joints["motor"], value)(end.q), given, atol=1e-13)
        assert_allclose(joints["motor"].rate(value, end.q, end.v), 3.0 * np.cos(3.0) - 3.0, atol=1e-12)
        assert abs(joints["follower"].rate("angle" if kind == "revolute" else "displacement", end.q, end.v)) > 0.1
        assert max(np.abs(rate).max() for rate in motion.violations().values()) < 1e-13
        assert_allclose(motion.energies(end)["work_motor"], work, rtol=20.0 * h**2)
        errors.append([np.abs(end.q - exact.q).max(), np.abs(balance).max()])
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all((orders > 1.8) & (orders < 2.2)), orders
    explicit = sx.Newmark(sizes[-1]).start(system, state)
    assert np.array_equal(explicit.advance(1.0).q, end.q)
    stored = sx.Rattle(0.005, {}).start(system, state)
    stored.advance(0.5)
    again = sx.Rattle(0.005, {}).resume(system, stored.checkpoint())
    assert np.array_equal(again.advance(1.0).q, end.q)
    assert again.energies(again.advance(1.0)) == motion.energies(end)


def test_rattle_follows_next_to_a_support_that_moves_and_loads():
    """A wheel on a driven axle, whose frame a support carries: the balance is of second order."""
    bodies, changes = Bodies(), []
    bodies.add(2.0, [0.0, 0.0, 0.0], [0.3, 0.2, 0.1])
    bodies.add(1.0, [0.0, 0.5, 0.0], [0.3, 0.2, 0.1])
    nodes, axis = bodies.frames.nodes, [0.0, 1.0, 0.0]
    turn = sx.actions.TimeFunction(lambda t: t * t, lambda t: 2.0 * t, lambda t: 2.0)
    rise = sx.actions.TimeFunction(
        lambda t: np.sin(2.0 * t), lambda t: 2.0 * np.cos(2.0 * t), lambda t: -4.0 * np.sin(2.0 * t)
    )
    joint = Joint("revolute", (nodes[1], nodes[0]), bodies.points, [0.0, 0.5, 0.0], axis, angle=turn)
    carried = {"carrier": sx.actions.SupportTranslation(nodes[0], [1.0, 0.0, 0.5], rise)}
    system = bodies.system({"motor": joint}, {"weight": sx.Gravity(bodies.mass, (0.0, 0.0, -9.81))}, moving=carried)
    v = np.tile([2.0, 0.0, 1.0], (8, 1))
    for h in (0.02, 0.01, 0.005):
        motion = sx.Rattle(h, {}).start(system, system.state(bodies.points, v))
        balance = [motion.energies(motion.advance(t))["balance"] for t in np.linspace(0.1, 1.0, 10)]
        changes.append(
            np.abs(np.array(balance) - motion.system.energies_of(system.state(bodies.points, v))["total"]).max()
        )
        assert_allclose(joint.angle(motion.advance(1.0).q), 1.0, atol=1e-12)
    orders = np.log2(np.array(changes[:-1]) / changes[1:])
    assert np.all(np.abs(orders - 2.0) < 0.2), orders


def test_what_is_given_must_be_so_at_the_start_and_by_a_method_that_moves_it():
    ahead = sx.actions.TimeFunction(lambda t: 0.1 + t, lambda t: 1.0, lambda t: 0.0)
    _, _, system, state = driven(function=ahead)
    with pytest.raises(InfeasibleStart, match="joint 'motor' is open at the start"):
        sx.EnergyMomentum(0.01).start(system, state)
    _, _, system, state = driven(function=sx.actions.TimeFunction.steady(3.0))
    with pytest.raises(InfeasibleStart, match="velocities at the start open joint 'motor'"):
        sx.EnergyMomentum(0.01).start(system, state)
    with pytest.raises(InvalidSystem, match="cannot move joints, but the angle of joint 'motor' is given;"):
        sx.constraints.Shake(0.001, {}).start(system, state)
    with pytest.raises(InfeasibleStart, match="velocities at the start leave constraint 'motor'"):
        sx.Rattle(0.001, {}).start(system, state)
    _, ball = pair("spherical")
    with pytest.raises(InvalidSystem, match="a spherical joint has no angle"):
        Joint("spherical", ball.bodies, np.zeros((8, 3)) + pair("spherical")[0].points, [0.0, 0.0, 0.0], angle=ahead)
