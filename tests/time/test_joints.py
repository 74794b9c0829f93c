"""Motions of bodies with joints: what is conserved, orders, agreement of methods, redundant joints, reactions."""

from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pytest
from numpy.testing import assert_allclose

import symplex as sx
from reference.mechanisms import Bodies, allowed, pair
from symplex.errors import InfeasibleStart, InvalidSystem
from symplex.fem.structures import Frames, body_particles
from symplex.fem.structures.joints import KINDS, Joint
from symplex.time.implicit.implicit import ImplicitMotion

EPS = np.finfo(float).eps
FREE = {"spherical": 3, "revolute": 1, "universal": 2, "cylindrical": 2, "prismatic": 1, "planar": 3, "rigid": 0}
FREE |= {"inline": 4, "inplane": 5}


def moving(kind):
    """Two bodies with a joint in free motion."""
    bodies, joint = pair(kind)
    system = bodies.system({"joint": joint})
    v = bodies.frames.velocities(
        bodies.points, [[0.5, 0.2, -0.3], [-1.0, 0.8, 0.4]], [[2.0, -1.0, 1.5], [-1.0, 3.0, 1.0]]
    )
    return bodies, system, system.state(bodies.points, allowed(system, bodies.points, v))


@pytest.mark.parametrize("kind", KINDS)
def test_energy_both_momenta_and_joints_are_kept_to_round_off(kind):
    """Over 1000 steps; bounds are ten roundings of energies and momenta in each step, added up."""
    bodies, system, start = moving(kind)
    end = sx.EnergyMomentum(0.02).start(system, start).advance(20.0)
    steps = 1000
    size = np.abs(end.q).max() + 1.0
    scale = float((np.asarray(system.mass) * np.linalg.norm(start.v, axis=1)).sum())
    assert abs(system.energies_of(end)["total"] / system.energies_of(start)["total"] - 1.0) < 10.0 * EPS * steps
    assert np.linalg.norm(system.momentum(end) - system.momentum(start)) < 10.0 * EPS * steps * scale
    drift = np.linalg.norm(system.angular_momentum(end) - system.angular_momentum(start))
    assert drift < 10.0 * EPS * steps * scale * size
    # Conditions hold as positions are rounded, and what is left of them adds up as little as that of frames does.
    apart = float(np.linalg.norm(np.diff(bodies.frames.centers(end.q), axis=0)))  # in planes and along lines
    assert np.abs(system.joints.violations(end.q)).max() < 100.0 * EPS * (size + apart)
    assert bodies.frames.distortion(end.q) < 10.0 * EPS * steps
    # It is a motion of the joint: its bodies have moved against each other, as far as they can.
    a, b = bodies.frames.rotations(start.q, end.q)
    point = np.linalg.norm(bodies.frames.centers(end.q) @ [[1.0], [1.0], [1.0]])
    assert point > 0.1
    assert (np.abs(a - b).max() > 1e-3) == (kind not in ("prismatic", "rigid"))


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_joint_lets_bodies_do(kind):
    """As many modes without stiffness as motions are free, beyond the six of the whole."""
    bodies, joint = pair(kind)
    system = bodies.system({"joint": joint})
    n = 6 + FREE[kind]
    assert len(joint.nodes) == 12 - n
    modes = sx.modes.natural_modes(system, system.state(bodies.points), n)
    assert_allclose(modes.frequencies, 0.0)
    assert modes.kinds.count("mechanism") == FREE[kind]
    with pytest.raises(InvalidSystem, match=f"modes must be from 1 to {n}"):
        sx.modes.natural_modes(system, system.state(bodies.points), n + 1)


METHODS = [sx.EnergyMomentum, sx.Midpoint, sx.GeneralizedAlpha, sx.HilberHughesTaylor, sx.Newmark.trapezoidal]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["universal", "prismatic"])
def test_steps_are_of_second_order(kind, method):
    _, system, start = moving(kind)
    exact = sx.Rattle(1e-3, {}).start(system, start).advance(0.4).q
    errors = [np.abs(method(dt).start(system, start).advance(0.4).q - exact).max() for dt in (0.04, 0.02, 0.01)]
    assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 2.0, atol=0.2)


@pytest.mark.parametrize("method", METHODS[2:])
def test_methods_that_carry_accelerations_keep_joints_and_their_rates(method):
    """Velocities open no joint, and momentum is kept; of redundant joints too."""
    _, system, start = moving("revolute")
    end = method(0.01).start(system, start).advance(0.5)
    assert np.abs(system.joints.violations(end.q)).max() < 1e-13
    assert np.abs(system.joints.rates(end.q, end.v)).max() < 1e-11 * np.abs(end.v).max()
    assert np.linalg.norm(system.momentum(end) - system.momentum(start)) < 1e-12 * np.linalg.norm(
        system.momentum(start)
    )
    bodies, linkage = four_bar()
    fallen = method(0.01).start(linkage, linkage.state(bodies.points)).advance(0.5)
    exact = sx.EnergyMomentum(0.0025).start(linkage, linkage.state(bodies.points)).advance(0.5)
    assert np.abs(linkage.joints.violations(fallen.q)).max() < 1e-13
    assert_allclose(fallen.q, exact.q, atol=5e-3)


def test_rattle_keeps_momenta_and_joints():
    _, system, start = moving("cylindrical")
    end = sx.Rattle(2e-3, {}).start(system, start).advance(0.5)
    for momentum in (system.momentum, system.angular_momentum):
        assert np.linalg.norm(momentum(end) - momentum(start)) < 1e-12 * np.linalg.norm(momentum(start))
    assert np.abs(system.joints.violations(end.q)).max() < 1e-13
    assert abs(system.energies_of(end)["total"] / system.energies_of(start)["total"] - 1.0) < 1e-4


def test_steps_back_lead_to_the_start():
    _, system, start = moving("revolute")
    method = sx.EnergyMomentum(0.02)
    end = method.start(system, start).advance(1.0)
    assert np.abs(method.start(system, end.reversed()).advance(2.0).q - start.q).max() < 1e-12


@pytest.mark.parametrize(
    ("method", "kind"), [(sx.EnergyMomentum(0.02), "spherical"), (sx.Rattle(0.002, {}), "revolute")], ids=str
)
def test_a_motion_goes_on_to_the_last_bit(method, kind):
    _, system, start = moving(kind)
    motion = method.start(system, start)
    motion.advance(0.5)
    stored = motion.checkpoint()
    assert np.array_equal(method.resume(system, stored).advance(1.0).q, motion.advance(1.0).q)


# -- a pendulum -----------------------------------------------------------------------------------------------------


def pendulum(**others):
    """A bar of 1 m and 2 kg that hangs from a hinge."""
    bodies = Bodies()
    bodies.add(2.0, [0.0, 0.0, -0.5], [0.05, 0.05, 0.25])
    hinge = bodies.joint("revolute", 0, None, [0.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    energies = {"weight": sx.Gravity(bodies.mass, (0.0, 0.0, -9.81))}
    return bodies, bodies.system({"hinge": hinge}, energies, **others)


def test_the_reaction_of_a_pendulum():
    """At its lowest place with the speed ω: m (g + ω² l); and while it hangs at an angle, at rest."""
    bodies, system = pendulum()
    spin = np.array([0.0, 3.0, 0.0])
    state = system.state(bodies.points, np.cross(spin, bodies.points))
    reaction = system.joint_reactions(state)["hinge"]
    assert_allclose(reaction.force, [0.0, 0.0, 2.0 * (9.81 + 9.0 * 0.5)], atol=1e-12)
    assert_allclose(reaction.moment, 0.0, atol=1e-12)
    assert reaction.determined
    assert_allclose(state.a[:, 1], 0.0, atol=1e-12)
    assert_allclose(bodies.frames.centers(state.a)[0], [0.0, 0.0, 9.0 * 0.5], atol=1e-12)


def test_a_pendulum_at_rest_under_a_force():
    push = sx.actions.NodalLoad([0, 1, 2, 3], [1.0, 0.5, 0.0])
    bodies, system = pendulum(loads={"push": push})
    rest = sx.equilibria.static_equilibrium(system, bodies.points)
    assert rest.stable
    assert_allclose(system.joints["hinge"].angle(rest.state.q), -np.arctan2(4.0, 2.0 * 9.81), rtol=1e-12)
    reaction = system.joint_reactions(rest.state)["hinge"]
    assert_allclose(reaction.force, [-4.0, -2.0, 2.0 * 9.81], atol=1e-11)
    # The force along the axis is off the hinge: its moment is what the hinge bears.
    center = bodies.frames.centers(rest.state.q)[0]
    assert_allclose(reaction.moment, -np.cross(center, [4.0, 2.0, -2.0 * 9.81]), atol=1e-11)


def test_the_frequency_of_a_pendulum():
    bodies, system = pendulum()
    modes = sx.modes.natural_modes(system, system.state(bodies.points), 1)
    inertia = 2.0 * (0.05**2 + 0.25**2 + 0.5**2)
    assert_allclose(modes.frequencies, np.sqrt(2.0 * 9.81 * 0.5 / inertia) / (2.0 * np.pi), rtol=1e-12)
    upside_down = system.state(bodies.points * [1.0, 1.0, -1.0])
    modes = sx.modes.natural_modes(system, upside_down, 1)
    assert_allclose(modes.frequencies, -np.sqrt(2.0 * 9.81 * 0.5 / inertia) / (2.0 * np.pi), rtol=1e-12)


def test_histories_have_reactions_and_angles():
    bodies, system = pendulum()
    state = system.state(bodies.points, np.cross([0.0, 3.0, 0.0], bodies.points))
    motion = sx.EnergyMomentum(0.01).start(system, state)
    state = motion.advance(0.1)
    shown = motion.observed(state, motion.gradient)
    names = [column.name for column in motion.columns if column.name.startswith("hinge")]
    assert sorted(shown) == sorted(names)
    assert_allclose(shown["hinge_angle"], 0.3, rtol=0.05)
    assert_allclose([shown[f"hinge_force_{axis}"] for axis in "xyz"], system.joint_reactions(state)["hinge"].force)


def test_a_pendulum_that_hangs_from_a_moving_support():
    """In steady acceleration of its support it swings about where atan(a/g) says; all work is in the balance."""
    bodies = Bodies()
    bodies.add(1.0, [0.0, 0.0, 0.0], [0.1, 0.1, 0.1])
    bodies.add(2.0, [0.0, 0.0, -0.5], [0.05, 0.05, 0.25])
    hinge = bodies.joint("revolute", 1, 0, [0.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    ramp = sx.actions.TimeFunction(lambda t: t * t, lambda t: 2.0 * t, lambda t: 2.0)
    moving = {"cart": sx.actions.SupportTranslation([0, 1, 2, 3], "x", ramp)}
    energies = {"weight": sx.Gravity(bodies.mass, (0.0, 0.0, -9.81))}
    fixed = np.zeros((8, 3), bool)
    fixed[:4, 1:] = True
    system = bodies.system({"hinge": hinge}, energies, moving=moving, fixed=fixed)
    state = system.state(bodies.points)
    assert_allclose(system.joint_reactions(state)["hinge"].force[1:], [0.0, 2.0 * 9.81], atol=1e-12)
    motion = sx.EnergyMomentum(0.005).start(system, state)
    angles = []
    for t in np.arange(1, 61) * 0.05:
        state = motion.advance(t)
        angles.append(hinge.angle(state.q))
    energies = motion.energies(state)
    balance = energies["total"] - energies["work_cart"]
    assert abs(balance - system.energies_of(system.state(bodies.points))["total"]) < 1e-11 * energies["total"]
    assert_allclose(0.5 * (max(angles) + min(angles)), np.arctan2(2.0, 9.81), rtol=1e-2)
    assert np.abs(system.joints.violations(state.q)).max() < 1e-13


# -- redundant joints -----------------------------------------------------------------------------------------------


GROUND = ("hinge 0", "hinge 3")  # of the joints of the linkage


def four_bar():
    """A planar four-bar linkage of four hinges, 20 conditions of rank 17."""
    corners = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.4], [0.9, 0.0, 0.7], [0.8, 0.0, 0.0]])
    bodies = Bodies()
    for a, b in pairwise(corners):
        along = (b - a) / np.linalg.norm(b - a)
        axes = [along, [0.0, 1.0, 0.0], np.cross(along, [0.0, 1.0, 0.0])]
        bodies.add(np.linalg.norm(b - a), 0.5 * (a + b), [np.linalg.norm(b - a) / np.sqrt(12.0), 0.03, 0.03], axes)
    ends = ((0, None), (0, 1), (1, 2), (2, None))
    axis = [0.0, 1.0, 0.0]
    joints = {f"hinge {k}": bodies.joint("revolute", *ends[k], corners[k], axis) for k in range(4)}
    return bodies, bodies.system(joints, {"weight": sx.Gravity(bodies.mass, (0.0, 0.0, -9.81))})


def test_redundant_joints_of_a_four_bar_linkage():
    bodies, system = four_bar()
    start = system.state(bodies.points)
    motion = sx.EnergyMomentum(0.005).start(system, start)
    lowest = np.inf
    for t in np.arange(1, 41) * 0.125:
        end = motion.advance(t)
        lowest = min(lowest, bodies.frames.centers(end.q)[0, 2])
    assert lowest < -0.1  # it swings
    kinetic = 2.0 * system.energies_of(end)["kinetic"] + 10.0
    assert abs(system.energies_of(end)["total"] - system.energies_of(start)["total"]) < 10.0 * EPS * motion.n * kinetic
    assert np.abs(system.joints.violations(end.q)).max() < 1e-13
    assert motion.statistics()["corrections"] < 6.0 * motion.n
    reactions = system.joint_reactions(end)
    assert not any(reaction.determined for reaction in reactions.values())
    # But those on the ground bear the weight, and what the bars are accelerated by.
    borne = (bodies.mass[:, None] * (end.a - [0.0, 0.0, -9.81])).sum(axis=0)
    assert_allclose(reactions["hinge 0"].force + reactions["hinge 3"].force, borne, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_compiled_steps_are_those_of_the_general_method(method):
    """Of redundant joints with bodies at rest on hinges that are held; no steps are left to the general method."""
    bodies, system = four_bar()
    start = system.state(bodies.points)
    motion = method(0.005).start(system, start)
    with patch.object(ImplicitMotion, "_attempt", side_effect=AssertionError("a step was not taken in the loop")):
        found = motion.advance(0.5)
    general = method(0.005, newton=sx.Newton(linear="sparse")).start(system, start).advance(0.5)
    assert np.abs(found.q - start.q).max() > 0.1
    assert_allclose(found.q, general.q, atol=1e-12)
    assert_allclose(found.v, general.v, atol=1e-11)
    assert np.abs(system.joints.violations(found.q)).max() < 1e-13


def test_motions_along_redundant_joints():
    """G v = 0 and G a = −vᵀ∇²g v to round-off, the same with a sparse matrix, of which there are many conditions."""
    bodies, system = four_bar()
    rng = np.random.default_rng(1)
    q = sx.EnergyMomentum(0.005).start(system, system.state(bodies.points)).advance(0.4).q
    given = system.frames.rigid_motion(system, q, *rng.standard_normal((2, *q.shape)))
    v, a = system.joints.keep_along(system, q, *given)
    with patch("symplex.fem.structures.joints._DENSE", 1):
        assert system.joints.has_many
        sparse = system.joints.keep_along(system, q, *given)
    assert np.abs(v).max() > 0.01
    for one, other in zip((v, a), sparse, strict=True):
        assert_allclose(one, other, atol=1e-7 * np.abs(a).max())
    assert np.abs(system.joints.rates(q, v)).max() < 1e-12
    assert np.abs(system.joints.rates(q, a) + system.joints.bends(v)).max() < 1e-12


def test_rattle_keeps_redundant_joints():
    """To round-off, with the motion of energy–momentum."""
    bodies, system = four_bar()
    start = system.state(bodies.points)
    motion = sx.Rattle(1e-3, {}).start(system, start)
    ends = [motion.advance(t) for t in np.arange(1, 21) * 0.05]
    assert max(np.abs(system.joints.violations(end.q)).max() for end in ends) < 1e-13
    assert max(np.abs(system.joints.rates(end.q, end.v)).max() for end in ends) < 1e-12
    assert bodies.frames.distortion(ends[-1].q) < 1e-13
    total = [system.energies_of(end)["total"] for end in ends]
    assert np.ptp(total) < 1e-4 * max(system.energies_of(end)["kinetic"] for end in ends)
    errors = []
    for dt in (2e-3, 1e-3):
        found = sx.Rattle(dt, {}).start(system, start).advance(1.0).q
        errors.append(np.abs(found - sx.EnergyMomentum(dt).start(system, start).advance(1.0).q).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.2)
    borne = (bodies.mass[:, None] * (ends[-1].a - [0.0, 0.0, -9.81])).sum(axis=0)
    assert_allclose(motion.constraint_forces().sum(axis=0), borne, atol=1e-8)


def test_a_four_bar_linkage_comes_to_rest_and_swings_about_it():
    """Half a period of its only mode reverses the velocities of a small swing."""
    bodies, system = four_bar()
    rest = sx.equilibria.static_equilibrium(system, bodies.points)
    assert rest.stable
    assert bodies.frames.centers(rest.state.q)[0, 2] < -0.05
    borne = sum(reaction.force for name, reaction in system.joint_reactions(rest.state).items() if name in GROUND)
    assert_allclose(borne, [0.0, 0.0, 9.81 * bodies.mass.sum()], atol=1e-10)
    modes = sx.modes.natural_modes(system, rest.state, 1)
    half = 0.5 / modes.frequencies[0]
    start = system.state(rest.state.q, 1e-4 * modes.shapes[0])
    end = sx.EnergyMomentum(half / 100.0).start(system, start).advance(half)
    assert_allclose(end.v, -start.v, atol=2e-3 * np.abs(start.v).max())


def test_a_pendulum_falls_to_rest():
    bodies, system = pendulum()
    level = bodies.points @ np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    rest = sx.equilibria.static_equilibrium(system, level)
    assert rest.stable
    assert_allclose(system.joints["hinge"].angle(rest.state.q), 0.0, atol=1e-9)


def test_equilibria_with_an_angle_that_is_given():
    """The hinge lifts the bar as its angle is given, by its weight; its work is that, to second order of the step."""
    errors = []
    for n in (8, 16):
        points, mass = body_particles(2.0, [0.0, 0.0, -0.5], [0.05, 0.05, 0.25])
        frames = Frames([[0, 1, 2, 3]], points)
        angle = sx.actions.TimeFunction(lambda t: t * t, lambda t: 2.0 * t, lambda t: 2.0)
        hinge = Joint("revolute", (frames.nodes[0], None), points, [0.0, 0.0, 0.0], [0.0, 1.0, 0.0], angle=angle)
        weight = {"weight": sx.Gravity(mass, (0.0, 0.0, -9.81))}
        system = sx.System(mass, weight, frames=frames, joints={"hinge": hinge})
        motion = sx.equilibria.Static(1.0 / n).start(system, system.state(points))
        end = motion.advance(1.0)
        assert_allclose(hinge.angle(end.q), 1.0, atol=1e-12)
        reaction = system.joint_reactions(end)["hinge"]
        assert_allclose(reaction.force, [0.0, 0.0, 19.62], atol=1e-10)
        assert_allclose(abs(reaction.moment[1]), 9.81 * np.sin(1.0), rtol=1e-10)
        energies = motion.energies(end)
        assert_allclose(energies["balance"], -9.81, rtol=1e-12)
        errors.append(abs(energies["work_hinge"] - 9.81 * (1.0 - np.cos(1.0))))
    assert_allclose(np.log2(errors[0] / errors[1]), 2.0, atol=0.1)


def test_a_four_bar_linkage_has_one_mode():
    bodies, system = four_bar()
    with pytest.raises(InvalidSystem, match="modes must be from 1 to 1,"):
        sx.modes.natural_modes(system, system.state(bodies.points), 2)


# -- refusals -------------------------------------------------------------------------------------------------------


def test_what_is_refused():
    bodies, joint = pair("revolute")
    nodes, points = tuple(bodies.frames.nodes), bodies.points
    bad = [
        (("hinge", nodes, points, [0, 0, 0]), "kind must be one of 'spherical', .*got 'hinge'"),
        (("revolute", nodes, points, [0, 0, 0]), "a revolute joint requires an axis"),
        (("spherical", nodes, points, [0, 0, 0], [1, 0, 0]), "a spherical joint has no axis"),
        (("revolute", nodes, points, [0, 0, 0], [0, 0, 0]), "axis must not be zero"),
        (("universal", nodes, points, [0, 0, 0], [1, 0, 0]), "requires a second axis"),
        (("universal", nodes, points, [0, 0, 0], [1, 0, 0], [1, 1, 0]), "must be at right angles"),
        (("revolute", (nodes[0], nodes[0]), points, [0, 0, 0], [1, 0, 0]), "must be different frames"),
        (("revolute", (nodes[0], [0, 1]), points, [0, 0, 0], [1, 0, 0]), "four particles of a frame"),
        (("revolute", (None, nodes[0]), points, [0, 0, 0], [1, 0, 0]), "bodies must be two"),
        (("revolute", nodes, points, [0, np.nan, 0], [1, 0, 0]), "at must be three finite numbers"),
    ]
    for arguments, message in bad:
        with pytest.raises(InvalidSystem, match=message):
            Joint(*arguments)
    other = Joint("rigid", ([0, 1, 2, 4], None), points, [0, 0, 0])
    with pytest.raises(InvalidSystem, match="which are no frame of the system"):
        bodies.system({"other": other})
    with pytest.raises(InvalidSystem, match="the system has none"):
        sx.System(bodies.mass, {}, joints={"joint": joint})
    with pytest.raises(InvalidSystem, match="on fixed particles only"):
        bodies.system({"joint": joint}, fixed=np.ones((8, 3), bool))


def test_what_does_not_keep_joints_is_refused_by_name():
    points, mass = body_particles(2.0, [0.0, 0.0, -0.5], [0.05, 0.05, 0.25])
    frames = Frames([[0, 1, 2, 3]], points)
    bodies, axis = (frames.nodes[0], None), [0.0, 1.0, 0.0]
    turned = Joint("revolute", bodies, points, [0.0, 0.0, 0.0], axis, angle=sx.actions.TimeFunction.steady(0.0))
    driven = sx.System(mass, {}, frames=frames, joints={"joint": turned})
    with pytest.raises(InvalidSystem, match="cannot move joints, but the angle of joint 'joint' is given; take Energy"):
        sx.Newmark.trapezoidal(1e-4).start(driven, driven.state(points))
    _, system, start = moving("revolute")
    with pytest.raises(InvalidSystem, match="joints need a direct linear solver, got 'krylov'"):
        sx.EnergyMomentum(0.01, newton=sx.Newton(linear="krylov")).start(system, start)


def test_explicit_newmark_keeps_joints_as_rattle_does():
    _, system, start = moving("revolute")
    motions = [method.start(system, start).advance(0.01) for method in (sx.Newmark(1e-4), sx.Rattle(1e-4, {}))]
    np.testing.assert_array_equal(motions[0].q, motions[1].q)


def test_open_joints_are_refused_at_the_start():
    bodies, system, start = moving("revolute")
    q = start.q.copy()
    q[4:, 0] += 1e-3
    with pytest.raises(InfeasibleStart, match="joint 'joint' is open at the start, its particles being 0"):
        sx.EnergyMomentum(0.01).start(system, system.state(q))
    v = bodies.frames.velocities(start.q, [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], [0.0, 0.0, 0.0])
    with pytest.raises(InfeasibleStart, match="the velocities at the start open joint 'joint' at"):
        sx.EnergyMomentum(0.01).start(system, system.state(start.q, v))
