"""Implicit steps of small systems with frames and joints in one compiled loop, next to those of the general method."""

import numpy as np
import pytest

import symplex as sx
from reference.lines import flying, spaghetti
from reference.mechanisms import Bodies, allowed, pair
from symplex.fem.couplings.interpolation import Interpolation
from symplex.fem.structures.frames import Frames
from symplex.fem.structures.joint_laws import JointLoad, JointSpring
from symplex.fem.structures.joints import KINDS
from symplex.fem.structures.moments import Moment
from symplex.time.solvers.newton import Newton

GENERAL = Newton(linear="sparse")
METHODS = [sx.EnergyMomentum, sx.Midpoint]
CARRYING = [sx.GeneralizedAlpha, sx.Newmark.trapezoidal]  # accelerations; without joints


def compare(make, system, start, dt, steps, tolerance=1e-11):
    """Follow both; positions, velocities and works are the same but for round-off."""
    general, small = make(dt, newton=GENERAL).start(system, start), make(dt).start(system, start)
    for n in (1, steps // 3, steps):
        expected, found = general.advance(n * dt), small.advance(n * dt)
        size = np.abs(expected.v).max() * dt + np.ptp(expected.q)
        np.testing.assert_allclose(found.q, expected.q, rtol=0, atol=tolerance * size)
        np.testing.assert_allclose(found.v, expected.v, rtol=0, atol=100.0 * tolerance * np.abs(expected.v).max())
        one, other = small.energies(found), general.energies(expected)
        for name, value in other.items():
            assert one[name] == pytest.approx(value, abs=100.0 * tolerance * max(map(abs, other.values())))
    assert small._loop
    assert not general._loop
    assert np.abs(found.q - start.q).max() > 0.01 * np.ptp(start.q)
    assert small.n == steps
    return small, found


@pytest.mark.parametrize("make", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_pairs_of_bodies(kind, make):
    bodies, joint = pair(kind)
    system = bodies.system({"joint": joint})
    v = bodies.frames.velocities(bodies.points, [[0.5, 0.2, -0.3], [-1.0, 0.8, 0.4]], [[2.0, -1, 1.5], [-1, 3, 1.0]])
    start = system.state(bodies.points, allowed(system, bodies.points, v))
    motion, end = compare(make, system, start, 0.02, 60)
    assert np.abs(system.joints.violations(end.q)).max() < 1e-14
    assert bodies.frames.distortion(end.q) < 1e-13
    assert motion.statistics()["corrections"] < 6 * motion.n


def chain():
    """Three bodies that hang on hinges with springs, stops, dampers, friction and motors, and on a rope."""
    bodies = Bodies()
    for k in range(3):
        bodies.add(1.0 + 0.3 * k, [0.2 + 0.4 * k, 0.0, 0.0], [0.1, 0.05, 0.08])
    hinges = [bodies.joint("revolute", k, k - 1 if k else None, [0.4 * k, 0.0, 0.0], [0.0, 1.0, 0.0]) for k in range(3)]
    history = [0.0, 0.1, 0.3, 1.0], [0.0, 3.0, -2.0, 0.5]
    energies = {
        "weight": sx.Gravity(bodies.mass, (0.0, 0.0, -9.81)),
        "spring": JointSpring(hinges[1], 4.0, rest=0.2),
        "stops": JointSpring(hinges[2], stops=(-0.3, 0.2), stop_stiffness=300.0),
        "rope": Interpolation(bodies.frames.weights([2], [[1.2, 0.05, 0.02]])).of(
            sx.measures.Anchors([0], (1.0, 0.3, 1.0), sx.measures.EngineeringStrain(30.0, 0.8))
        ),
    }
    loads = {
        "motor": JointLoad(hinges[0], history),
        "damper": JointLoad(hinges[1], damping=0.05),
        "friction": JointLoad(hinges[2], friction=0.2, slip=0.1),
        "push": sx.actions.NodalLoad(bodies.frames.nodes[2], [0.3, 0.0, 0.1], lambda t: np.sin(9.0 * t)),
    }
    system = bodies.system({f"hinge {k}": hinge for k, hinge in enumerate(hinges)}, energies, loads=loads)
    return system, system.state(bodies.points)


@pytest.mark.parametrize("make", METHODS)
def test_springs_stops_and_loads_of_joints(make):
    system, start = chain()
    motion, end = compare(make, system, start, 0.005, 120, 1e-10)
    assert abs(motion.energies(end)["work_motor"]) > 0.01
    assert motion.energies(end)["work_friction"] < -1e-3
    if make is sx.EnergyMomentum:
        assert abs(motion.energies(end)["balance"] - system.energies_of(start)["total"]) < 1e-12


@pytest.mark.parametrize("make", METHODS)
def test_given_angles_do_their_work(make):
    bodies = Bodies()
    bodies.add(2.0, [0.3, 0.0, 0.0], [0.3, 0.2, 0.1])
    bodies.add(1.0, [0.6, 0.5, 0.0], [0.3, 0.2, 0.1])
    swing = sx.actions.TimeFunction(
        lambda t: np.sin(3.0 * t) - 3.0 * t, lambda t: 3.0 * np.cos(3.0 * t) - 3.0, lambda t: -9.0 * np.sin(3.0 * t)
    )
    joints = {
        "motor": bodies.joint("revolute", 0, None, [0.0, 0.0, 0.0], [0.0, 1.0, 0.0], angle=swing),
        "follower": bodies.joint("spherical", 1, 0, [0.6, 0.2, 0.0]),
    }
    loads = {"drag": sx.actions.Drag(bodies.mass, 0.3)}
    system = bodies.system(joints, {"weight": sx.Gravity(bodies.mass, (0.0, 0.0, -9.81))}, loads=loads)
    motion, end = compare(make, system, system.state(bodies.points), 0.01, 90, 1e-10)
    assert abs(motion.energies(end)["work_motor"]) > 0.1
    assert system.joints["motor"].angle(end.q) == pytest.approx(np.sin(2.7) - 2.7, abs=1e-12)


@pytest.mark.parametrize("make", METHODS + CARRYING)
def test_beams_that_are_held_in_part_with_loads_that_change(make):
    built = spaghetti(4)
    held = np.zeros((5, 6), bool)
    held[0, :3] = True  # a pivot
    held[4, [1, 2, 3, 5]] = True  # a slide that may rotate about one axis
    frames = Frames(built.frames.nodes, built.points, held)
    history = [0.0, 0.5, 1.0], [0.0, 200.0, 0.0]
    loads = {
        "force": sx.actions.NodalLoad(built.particles([2]).ravel(), [0.025, 0.01, 0.02], history),
        "moment": Moment(built.particles([0]), built.mass, [0.0, -0.5, -1.0], history),
    }
    system = sx.System(built.mass, {"beams": built.energy}, frames=frames, loads=loads)
    compare(make, system, system.state(built.points), 0.05, 30, 1e-10)


@pytest.mark.parametrize("make", METHODS + CARRYING)
def test_rods_and_masses_that_are_free(make):
    """A rod on springs to two masses, next to a frame of four that they pull."""
    rod = np.array([[0.0, 0.0, 0.0], [0.3, 0.1, 0.2]])
    corners = np.array([[1.0, 0.1, 0.0], [1.2, 0.0, 0.1], [1.0, 0.3, 0.2], [1.1, 0.1, 0.4]])
    points = np.vstack([rod, [[0.5, 0.5, 0.5], [0.6, -0.4, 0.1]], corners])
    frames = Frames([[0, 1, 0, 1], [4, 5, 6, 7]], points)
    pairs = [[0, 2], [1, 3], [2, 4], [3, 5], [1, 6]]
    springs = sx.Bars(pairs, sx.measures.EngineeringStrain(40.0, 0.5))
    system = sx.System(np.linspace(0.5, 1.5, 8), {"springs": springs}, frames=frames)
    v = frames.velocities(points, [[0.3, 0.0, 0.2], [0.0, 0.4, 0.0]], [[0.5, 1.0, -2.0], [1.0, -1.0, 0.5]])
    _, end = compare(make, system, system.state(points, v), 0.02, 60)
    assert frames.distortion(end.q) < 1e-13


def test_steps_do_not_depend_on_where_they_are_looked_at_or_resumed():
    system, start = chain()
    method = sx.EnergyMomentum(0.005)
    whole = method.start(system, start).advance(0.5)
    motion = method.start(system, start)
    for t in (0.005, 0.02, 0.2):
        motion.advance(t)
    found = method.resume(system, motion.checkpoint()).advance(0.5)
    for name in ("q", "v", "a"):
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))


def test_compositions_and_steps_back():
    _, system, start = flying(3)
    method = sx.EnergyMomentum(0.05)
    motion = method.start(system, start)
    end = motion.advance(2.0)
    assert motion._loop
    assert np.abs(method.start(system, end.reversed()).advance(4.0).q - start.q).max() < 1e-11


def test_a_step_that_the_loop_cannot_take_is_told_by_the_general_method():
    system, start = chain()
    with pytest.raises(sx.errors.StepFailed, match=r"EnergyMomentum stopped in the step from t = .* did not converge"):
        sx.EnergyMomentum(0.005, newton=Newton(iterations=1)).start(system, start).advance(0.1)
