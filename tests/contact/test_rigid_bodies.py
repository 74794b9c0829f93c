"""Rigid bodies as four particles: free motion against Euler's equations, places and supports, collisions, bad input."""

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import symplex as sx
from symplex.contact import RigidBodies, RigidBody
from symplex.contact.bodies import BodyContact
from symplex.contact.friction import Friction
from symplex.contact.surfaces import Surface
from symplex.errors import InvalidSystem, MeshError
from symplex.fem import MassProperties
from symplex.meshes.closed_surfaces import box_surface, sphere_surface


def turn(axis, angle):
    """The rotation about an axis."""
    x, y, z = np.asarray(axis) / np.linalg.norm(axis)
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K


# -- bodies -----------------------------------------------------------------------------------------------------------


def test_bodies_of_shapes_and_meshes():
    ball = RigidBody.sphere(0.1, density=2000.0, refinements=2)
    assert ball.properties.mass == pytest.approx(2000.0 * 4.0 / 3.0 * np.pi * 1e-3, rel=1e-14)
    np.testing.assert_allclose(ball.properties.inertia, 0.4 * ball.properties.mass * 0.01 * np.eye(3), atol=1e-17)
    bar = RigidBody.cylinder(0.1, 0.4, mass=3.0)
    np.testing.assert_allclose(np.diag(bar.properties.inertia), [0.0475, 0.0475, 0.015], rtol=1e-13)
    block = RigidBody.box((0.1, 0.2, 0.3), mass=3.0)
    np.testing.assert_allclose(np.diag(block.properties.inertia), [0.0325, 0.025, 0.0125], rtol=1e-13)
    solid = sx.box((0.1, 0.2, 0.3), (1, 2, 3), origin=(-0.05, -0.1, -0.15))
    same = RigidBody.of(solid, density=500.0)
    np.testing.assert_allclose(same.properties.inertia, block.properties.inertia, atol=1e-16)
    assert len(same.mesh.points) == len(solid.points)


def test_a_body_is_placed_and_tells_its_pose():
    R, center = turn((1.0, 2.0, 3.0), 2.0), np.array([5.0, -3.0, 2.0])
    block = RigidBody.box((0.1, 0.2, 0.3), mass=3.0)
    there = block.placed(center, R)
    np.testing.assert_allclose(there.mesh.points, center + block.mesh.points @ R.T, atol=1e-14)
    np.testing.assert_allclose(there.properties.inertia, R @ block.properties.inertia @ R.T, atol=1e-15)
    turned = turn((0.0, 1.0, 1.0), 3.0)
    x = np.array([1.0, 0.0, 0.0]) + (there.particles - center) @ turned.T
    found, rotation = there.pose(x)
    np.testing.assert_allclose(found, [1.0, 0.0, 0.0], atol=1e-14)
    np.testing.assert_allclose(rotation, turned, atol=1e-13)
    v = np.array([1.0, 2.0, 3.0]) + np.cross([0.3, -2.0, 7.0], x - found)
    velocity, spin = there.motion(x, v)
    np.testing.assert_allclose(velocity, [1.0, 2.0, 3.0], atol=1e-13)
    np.testing.assert_allclose(spin, [0.3, -2.0, 7.0], atol=1e-13)


def test_points_and_nodes_are_after_those_of_other_bodies():
    block = sx.box((0.1, 0.1, 0.1), (1, 1, 1))
    ball, bar = RigidBody.sphere(0.1, mass=1.0, refinements=1), RigidBody.box((0.1, 0.2, 0.3), mass=2.0)
    rigid = RigidBodies({"ball": ball, "bar": bar}, len(block.points))
    mesh = sx.merge({"block": block, "ball": ball.mesh, "bar": bar.mesh})
    q = rigid.positions(block.points)
    assert q.shape == (rigid.n_nodes, 3) == (len(block.points) + 8, 3)
    np.testing.assert_allclose(rigid.points(q), mesh.points, atol=1e-15)
    np.testing.assert_allclose(rigid.points(q)[rigid.points_of("bar")], bar.mesh.points, atol=1e-15)
    assert rigid.nodes_of("bar").tolist() == list(range(rigid.n_nodes - 4, rigid.n_nodes))
    assert rigid.mass(np.ones(len(block.points))).sum() == pytest.approx(len(block.points) + 3.0)
    surface = rigid.surface(Surface.of(block, ["body"]))
    assert surface.names == ("body", "ball", "bar")
    assert set(surface.vertices[surface.vertex_bodies == 1]) == set(rigid.points_of("ball").tolist())
    v = rigid.velocities((1.0, 0.0, 0.0), angular={"bar": (0.0, 0.0, 2.0)})
    np.testing.assert_array_equal(v[0], [1.0, 0.0, 0.0])
    np.testing.assert_allclose(rigid.motion("bar", q, v)[1], [0.0, 0.0, 2.0], atol=1e-14)


def test_a_consistent_mass_has_the_particles_on_its_diagonal():
    block = sx.box((0.1, 0.1, 0.1), (1, 1, 1))
    rigid = RigidBodies({"ball": RigidBody.sphere(0.1, mass=2.0, refinements=1)}, len(block.points))
    mass = rigid.mass(sx.consistent_mass(block.points, block.cells["tetra"], 1000.0, len(block.points)))
    np.testing.assert_allclose(mass.toarray()[-4:, -4:], 0.5 * np.eye(4))
    assert mass.sum() == pytest.approx(3.0)


# -- free motion ------------------------------------------------------------------------------------------------------

SPIN, SPAN = np.array([0.05, 3.0, 0.1]), 8.0
TOP = RigidBody.box((1.0, 0.6, 0.25), density=1000.0)
TUMBLING = RigidBodies({"top": TOP})


@cache
def euler():
    """The exact rotation of the top that tumbles about its middle axis (Dzhanibekov): it turns over once."""
    inertia = TOP.properties.inertia

    def rate(_, y):
        R, omega = y[:9].reshape(3, 3), y[9:]
        x, y, z = omega
        spin = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        J = R @ inertia @ R.T
        return np.concatenate([(spin @ R).ravel(), np.linalg.solve(J, -np.cross(omega, J @ omega))])

    start = np.concatenate([np.eye(3).ravel(), SPIN])
    solution = solve_ivp(rate, (0.0, SPAN), start, rtol=1e-12, atol=1e-12, t_eval=np.linspace(0.0, SPAN, 101))
    return solution.y[:9].T.reshape(-1, 3, 3)


def tumble(method, energies):
    system = sx.System(TUMBLING.mass(), energies)
    state = system.state(TUMBLING.positions(), TUMBLING.velocities((), {"top": (1.0, 0.0, 0.0)}, {"top": SPIN}))
    return sx.record(system, method, state, np.linspace(0.0, SPAN, 101))


def rotation_error(path):
    rotations = [TUMBLING.pose("top", q)[1] for q in path.q]
    return np.abs(np.array(rotations) - euler()).max()


# Methods of a step, their energies, and the error of the rotation at a step of 0.02 s.
FREE = {
    "Rattle": (lambda h: (sx.Rattle(h, {"rigid": TUMBLING.constraints()}), {}), 0.02),
    "Shake": (lambda h: (sx.constraints.Shake(h, {"rigid": TUMBLING.constraints()}), {}), 0.02),
    "EnergyMomentum": (lambda h: (sx.EnergyMomentum(h), {"rigid": TUMBLING.rigidity(10.0 / h)}), 0.015),
    "Midpoint": (lambda h: (sx.Midpoint(h), {"rigid": TUMBLING.rigidity(10.0 / h)}), 0.04),
    "Newmark": (lambda h: (sx.Newmark(h), {"rigid": TUMBLING.rigidity(1.0 / h)}), 0.2),
    "GeneralizedAlpha": (lambda h: (sx.GeneralizedAlpha(h), {"rigid": TUMBLING.rigidity(3.0 / h)}), 0.07),
    "ZhangSkeel": (lambda h: (sx.ZhangSkeel(h), {"rigid": TUMBLING.rigidity(1.0 / h)}), 0.3),
    "GrahamJelenic": (lambda h: (sx.GrahamJelenic(h, "EM"), {"rigid": TUMBLING.rigidity(1.0 / h)}), 0.25),
}


@pytest.mark.parametrize("name", FREE)
@pytest.mark.slow
def test_a_free_top_tumbles_as_by_eulers_equations(name):
    make, expected = FREE[name]
    errors = []
    for h in (0.02, 0.01):
        method, energies = make(h)
        path = tumble(method, energies)
        errors.append(rotation_error(path))
        if "angular momentum" in method.conserves:
            off = np.abs(path.angular_momentum - path.angular_momentum[0]).max()
            assert off < 1e-11 * np.abs(path.angular_momentum[0]).max()
        if name in ("EnergyMomentum", "Rattle"):
            assert np.ptp(path.energies["total"]) < 1e-11 * path.energies["total"][0]
    assert errors[0] < expected
    assert 3.0 < errors[0] / errors[1] < 5.5  # second order, in the stiffness as well
    drift = np.abs(path.q.mean(axis=1) - path.t[:, None] * [1.0, 0.0, 0.0]).max()
    assert drift < 1e-11


def test_compositions_follow_bodies_that_constraints_keep_rigid_to_fourth_order():
    rattle = {h: sx.Rattle(h, {"rigid": TUMBLING.constraints()}) for h in (0.04, 0.02)}
    errors = [rotation_error(tumble(sx.Composition(method, 4), {})) for method in rattle.values()]
    assert errors[0] < 5e-5
    assert 13.0 < errors[0] / errors[1] < 19.0


def test_compositions_refuse_bodies_whose_stiffness_follows_the_step():
    for method in (sx.EnergyMomentum(0.02), sx.Newmark(0.02)):
        name = type(method).__name__
        with pytest.raises(InvalidSystem, match=rf"'rigid' \(Rigidity\).*Composition\(Rattle.*or {name} alone"):
            tumble(sx.Composition(method, 4), {"rigid": TUMBLING.rigidity(10.0 / 0.02)})


def test_a_top_turns_over():
    """What the test above follows is no mere spin: the middle axis points the other way in between."""
    assert min(R[1, 1] for R in euler()) < -0.9


def test_constraints_keep_the_body_rigid_to_round_off():
    path = tumble(*FREE["Rattle"][0](0.02))
    for name, q in zip(TUMBLING.bodies, path.q[[50, 100]], strict=False):
        center, R = TUMBLING.pose(name, q)
        np.testing.assert_allclose(TUMBLING.points(q), center + TOP.mesh.points @ R.T, atol=1e-13)


# -- supports, obstacles, springs -------------------------------------------------------------------------------------


def test_a_rigid_block_falls_on_a_floor_and_comes_back():
    """Points of its surface meet an obstacle; it falls flat, turned by a quarter about its axis."""
    block = RigidBody.box((0.1, 0.2, 0.3), mass=3.0).placed((0.0, 0.0, 0.2), turn((0.0, 0.0, 1.0), 0.5))
    rigid = RigidBodies({"block": block})
    floor = sx.RigidContact(rigid.points_of("block"), sx.HalfSpace((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), 1e5)
    gravity = sx.Gravity(rigid.mass(), (0.0, 0.0, -10.0))
    energies = {"floor": rigid.of_points(floor), "gravity": gravity, "rigid": rigid.rigidity(1e4)}
    system = sx.System(rigid.mass(), energies)
    state = system.state(rigid.positions())
    assert {column.name for column in floor.columns} <= {column.name for column in system.columns}
    path = sx.record(system, sx.EnergyMomentum(1e-3), state, np.linspace(0.0, 0.215, 44))
    lowest = int(np.argmin(path.q[:, :, 2].mean(axis=1)))
    there = sx.State(path.t[lowest], path.q[lowest], path.v[lowest], 0.0 * path.v[lowest])
    reported = system.observed(there, lambda energy, at: energy.gradient(at.q[energy.nodes]))
    assert reported["contact_force_z"] == pytest.approx(floor.resultant(rigid.points(there.q))[2], rel=1e-12)
    assert reported["contact_force_z"] > 100.0
    heights = np.array([rigid.pose("block", q)[0][2] for q in path.q])
    assert np.ptp(path.energies["total"]) < 1e-11 * path.energies["gravity"][0]
    # 0.1 s down, 0.01 s on the floor (half a period of the springs at eight corners), 0.1 s up.
    assert heights.min() < 0.15
    assert heights[-1] == pytest.approx(0.2, abs=2e-4)
    center, R = rigid.pose("block", path.q[-1])
    np.testing.assert_allclose(R, np.eye(3), atol=1e-5)
    np.testing.assert_allclose(center[:2], 0.0, atol=1e-12)


def test_a_rigid_pendulum_hangs_by_a_point():
    """A spring fastened to the middle of an end; small swings have the period of the compound pendulum."""
    bar = RigidBody.box((0.02, 0.02, 1.0), mass=2.0, cells=(2, 2, 1))
    hook = int(np.argmin(np.linalg.norm(bar.mesh.points - [0.0, 0.0, 0.5], axis=1)))
    bar = bar.placed(-0.5 * turn((0.0, 1.0, 0.0), 0.01)[:, 2], turn((0.0, 1.0, 0.0), 0.01))
    rigid = RigidBodies({"bar": bar}, 1)  # and a node that stands still
    pin = sx.Bars([[0, 1 + hook]], sx.measures.EngineeringStrain(1e7, 0.0))
    energies = {
        "pin": rigid.of_points(pin),
        "gravity": sx.Gravity(rigid.mass([1.0]), (0.0, 0.0, -9.81)),
        "rigid": rigid.rigidity(1e4),
    }
    system = sx.System(rigid.mass([1.0]), energies, fixed=sx.fixed_mask(5, [([0], "xyz")]))
    period = 2.0 * np.pi * np.sqrt((2.0 * (1.0 + 0.02**2) / 12.0 + 2.0 * 0.25) / (2.0 * 9.81 * 0.5))
    step = period / 400
    path = sx.record(
        system, sx.EnergyMomentum(step), system.state(rigid.positions(np.zeros((1, 3)))), np.arange(401) * step
    )
    x = np.array([rigid.pose("bar", q)[0][0] for q in path.q])
    np.testing.assert_allclose(x, x[0] * np.cos(2.0 * np.pi * path.t / period), atol=2e-3 * abs(x[0]))


# -- collisions -------------------------------------------------------------------------------------------------------


def facing(axis, expected):
    """A rotation that brings one unit vector to another."""
    v = np.cross(axis, expected)
    return turn(v, np.arctan2(np.linalg.norm(v), axis @ expected))


def two_balls(ratio=1.0, offset=0.0, law="penalty"):
    """A ball that flies towards another one at rest; corners of both face each other on the x axis."""
    one = RigidBody.sphere(0.1, density=2000.0, refinements=1)
    two = RigidBody.sphere(0.1, mass=ratio * one.properties.mass, refinements=1)
    R = facing(one.mesh.points[0] / 0.1, np.array([1.0, 0.0, 0.0]))
    mirrored = np.diag([-1.0, -1.0, 1.0]) @ R
    rigid = RigidBodies(
        {
            "one": one.placed((0.0, 0.0, 0.0), R),
            "two": two.placed((0.206 if offset == 0.0 else 0.189, offset, 0.0), mirrored),
        }
    )
    contact = BodyContact(rigid.surface(), 2e10, law=law, distance=0.005)
    v = rigid.velocities(linear={"one": (2.0, 0.0, 0.0)})
    return rigid, contact, v


def collide(rigid, contact, v, method, frequency=None, span=2.5e-3):
    energies = {"contact": rigid.of_points(contact)}
    if frequency is not None:
        energies["rigid"] = rigid.rigidity(frequency)
    system = sx.System(rigid.mass(), energies)
    state = system.state(rigid.positions(), v)
    path = sx.record(system, method, state, np.linspace(0.0, span, 26))
    return path, [rigid.motion(name, path.q[-1], path.v[-1]) for name in rigid.bodies]


def conserves(path, energy):
    assert np.ptp(path.energies["total"]) < energy * path.energies["total"][0]
    momentum = np.abs(path.momentum[0]).max()
    assert np.abs(path.momentum - path.momentum[0]).max() < 1e-12 * momentum
    assert np.abs(path.angular_momentum - path.angular_momentum[0]).max() < 1e-12 * 0.2 * momentum


@pytest.mark.parametrize("ratio", [1.0, 3.0])
@pytest.mark.parametrize(
    ("law", "step"), [("penalty", 1e-5), ("penalty", 2.5e-5), ("barrier", 1e-5), ("barrier", 2.5e-5)]
)
def test_balls_that_meet_head_on_exchange_their_velocities(ratio, law, step):
    rigid, contact, v = two_balls(ratio, law=law)
    path, ((v1, spin1), (v2, spin2)) = collide(rigid, contact, v, sx.EnergyMomentum(step), 3.0 / step)
    conserves(path, 1e-11)  # a rigidity of 3e11 N/m leaves no more digits
    exact = np.array([2.0 * (1.0 - ratio) / (1.0 + ratio), 4.0 / (1.0 + ratio)])
    np.testing.assert_allclose([v1[0], v2[0]], exact, atol=5e-4)  # the rest vibrates
    np.testing.assert_allclose([*v1[1:], *v2[1:], *spin1, *spin2], 0.0, atol=1e-9)


EXPLICIT = {
    "Newmark": lambda rigid, h: (sx.Newmark(h), 1.0 / h),
    "Rattle": lambda rigid, h: (sx.Rattle(h, {"rigid": rigid.constraints()}), None),
    "Composition": lambda rigid, h: (sx.Composition(sx.Rattle(h, {"rigid": rigid.constraints()}), 4), None),
}
IMPLICIT = {
    "Midpoint": lambda rigid, h: (sx.Midpoint(5.0 * h), 1.0 / h),
    "GeneralizedAlpha": lambda rigid, h: (sx.GeneralizedAlpha(5.0 * h), 1.0 / h),
    "trapezoidal": lambda rigid, h: (sx.Newmark.trapezoidal(5.0 * h), 1.0 / h),
}


@cache
def oblique():
    """The velocities and spins after an oblique collision, by small steps that keep energy."""
    path, found = collide(*two_balls(3.0, offset=0.05), sx.EnergyMomentum(1e-5), 3e5, span=2.5e-3)
    conserves(path, 1e-11)
    (v1, spin1), (v2, _) = found
    assert min(map(np.linalg.norm, (v1, v2, spin1))) > 0.5
    return found


@pytest.mark.parametrize("name", [*EXPLICIT, *IMPLICIT])
@pytest.mark.slow
def test_all_methods_agree_on_an_oblique_collision(name):
    rigid, contact, v = two_balls(3.0, offset=0.05)
    path, found = collide(rigid, contact, v, *(EXPLICIT | IMPLICIT)[name](rigid, 2.5e-6), span=2.5e-3)
    assert np.ptp(path.energies["total"]) < 1e-3 * path.energies["total"][0]
    for (v_found, spin_found), (v_wanted, spin_wanted) in zip(found, oblique(), strict=True):
        np.testing.assert_allclose(v_found, v_wanted, atol=3e-3)
        np.testing.assert_allclose(spin_found, spin_wanted, atol=6e-3)


@pytest.mark.parametrize(("law", "step"), [("penalty", 1e-4), ("penalty", 5e-4), ("barrier", 1e-4), ("barrier", 5e-4)])
def test_a_ball_that_spins_meets_a_rubber_block_off_centre(law, step):
    block = sx.box((0.1, 0.1, 0.1), (2, 2, 2), split="6", origin=(-0.05, -0.05, -0.105))
    rubber = sx.NeoHookean.from_young(1e6, 0.3, 1000.0)
    ball = RigidBody.sphere(0.04, mass=0.5, refinements=1).placed((0.02, 0.01, 0.04))
    rigid = RigidBodies({"ball": ball}, len(block.points))
    surface = rigid.surface(Surface.of(block, ["body"]))
    contact = BodyContact(surface, 1e9, law=law, distance=0.005)
    contact.check_start(rigid.points(rigid.positions(block.points)))
    energies = {
        "block": sx.Solid(block.points, block.cells["tetra"], rubber),
        "contact": rigid.of_points(contact),
        "rigid": rigid.rigidity(1.0 / step),
    }
    mass = rigid.mass(sx.lumped_mass(block.points, block.cells["tetra"], 1000.0, len(block.points)))
    system = sx.System(mass, energies)
    v = rigid.velocities(np.zeros(3), {"ball": (0.0, 0.0, -3.0)}, {"ball": (0.0, 30.0, 10.0)})
    state = system.state(rigid.positions(block.points), v)
    path = sx.record(system, sx.EnergyMomentum(step), state, np.linspace(0.0, 0.015, 7))
    total, size = path.energies["total"], np.abs(path.momentum[0]).max()
    assert np.ptp(total) < 1e-12 * total[0]
    assert np.abs(path.momentum - path.momentum[0]).max() < 1e-12 * size
    assert np.abs(path.angular_momentum - path.angular_momentum[0]).max() < 1e-12 * 0.1 * size
    velocity, spin = rigid.motion("ball", path.q[-1], path.v[-1])
    assert velocity[2] > -1.0  # of -3: it has been stopped
    assert np.abs(spin - [0.0, 30.0, 10.0]).max() > 1e-3  # corners of a ball of triangles take some spin
    found = contact.check_start(rigid.points(path.q[-1]))
    assert found is None


@pytest.mark.parametrize("law", ["penalty", "barrier"])
def test_friction_slows_a_rigid_block_that_slides_on_rubber(law):
    """Its work is in the balance to round-off, both momenta are kept, and impulses are about those of Coulomb."""
    base, gap = sx.box((0.3, 0.1, 0.05), (6, 2, 1), split="6", origin=(-0.05, -0.05, -0.05)), 0.004995
    rubber = sx.NeoHookean.from_young(1e7, 0.3, 1000.0)
    block = RigidBody.box((0.06, 0.06, 0.04), mass=1.0, cells=(2, 2, 1)).placed((0.0, 0.003, 0.02 + gap))
    rigid = RigidBodies({"block": block}, len(base.points))
    contact = BodyContact(rigid.surface(Surface.of(base, ["body"])), 1e8, law=law, distance=0.005)
    energy = rigid.of_points(contact)
    friction = energy.of_load(Friction(contact, 0.3, slip_speed=0.01))
    mass = rigid.mass(sx.lumped_mass(base.points, base.cells["tetra"], 1000.0, len(base.points)))
    energies = {
        "base": sx.Solid(base.points, base.cells["tetra"], rubber),
        "contact": energy,
        "block": rigid.rigidity(2e3),
        "gravity": sx.Gravity(np.where(np.arange(len(mass)) < len(base.points), 0.0, mass), (0.0, 0.0, -10.0)),
    }
    system = sx.System(mass, energies, loads={"friction": friction})
    state = system.state(rigid.positions(base.points), rigid.velocities(np.zeros(3), {"block": (0.5, 0.0, 0.0)}))
    motion = sx.EnergyMomentum(1e-3).start(system, state)
    states = [motion.advance(0.01 * k) for k in range(9)]
    reported = motion.energies(states[-1])
    assert reported["work_friction"] < -0.02
    # Forces of contact and rigidity, of 1e8 N/m, are known to 1e-9 N.
    assert reported["balance"] == pytest.approx(system.energies_of(state)["total"], rel=1e-10)
    about_z = [[*system.momentum(one)[:2], *system.angular_momentum(one)[2:]] for one in states]
    np.testing.assert_allclose(about_z, np.tile(about_z[0], (9, 1)), atol=1e-13)
    velocity = rigid.motion("block", states[-1].q, states[-1].v)[0]
    # Of the block of 1 kg, which has slid all the time; tilted pairs at its edges press more than the resultant.
    tangential, normal = 0.5 - velocity[0], 10.0 * 0.08 + velocity[2]
    assert 0.29 < tangential / normal < 0.36


def test_friction_must_follow_from_the_contact_of_the_points():
    rigid, contact, _ = two_balls()
    other = two_balls()[1]
    with pytest.raises(InvalidSystem, match="must follow from the BodyContact that the energy of the nodes"):
        rigid.of_points(contact).of_load(Friction(other, 0.3))


def test_the_stiffness_is_that_of_the_bodies_that_deform():
    surface = two_balls()[1].surface
    rubber = sx.NeoHookean.from_young(1e6, 0.3, 1000.0)
    of_both = BodyContact.from_materials(surface, rubber).stiffness
    assert BodyContact.from_materials(surface, [None, rubber]).stiffness == of_both
    with pytest.raises(InvalidSystem, match="all bodies are rigid"):
        BodyContact.from_materials(surface, [None, None])


def test_the_contact_of_points_is_told_in_histories():
    rigid, contact, _ = two_balls(offset=0.05)
    system = sx.System(rigid.mass(), {"contact": rigid.of_points(contact)})
    q = rigid.positions()
    for shift in (0.0, 0.003):  # with the list, and beyond its margin
        q[rigid.nodes_of("one"), 0] += shift
        system.update_neighbours(rigid.positions())
        reported = system.observed(
            sx.State(0.0, q, 0.0 * q, 0.0 * q), lambda energy, at: energy.gradient(at.q[energy.nodes])
        )
        forces = contact.resultants(rigid.points(q))["one", "two"]
        np.testing.assert_allclose([reported[f"contact_force_one_two_{axis}"] for axis in "xyz"], forces, rtol=1e-12)
        assert (shift > 0.0) == (reported["gap"] < contact.reach)


@pytest.mark.slow
def test_a_fixed_body_is_an_obstacle():
    rigid, contact, v = two_balls()
    system = sx.System(
        rigid.mass(),
        {"contact": rigid.of_points(contact), "rigid": rigid.rigidity(1e5)},
        fixed=rigid.fixed("two"),
    )
    state = system.state(rigid.positions(), v)
    path = sx.record(system, sx.EnergyMomentum(1e-5), state, np.linspace(0.0, 4e-3, 21))
    np.testing.assert_allclose(rigid.motion("one", path.q[-1], path.v[-1])[0], [-2.0, 0.0, 0.0], atol=2e-3)
    assert np.ptp(path.energies["total"]) < 1e-12 * path.energies["total"][0]


def test_a_motion_through_a_collision_resumes_bit_identically():
    rigid, contact, v = two_balls(3.0, offset=0.05)
    energies = {"contact": rigid.of_points(contact), "rigid": rigid.rigidity(1e5)}
    method, system = sx.EnergyMomentum(2e-5), sx.System(rigid.mass(), energies)
    motion = method.start(system, system.state(rigid.positions(), v))
    motion.advance(3e-4)
    checkpoint = motion.checkpoint()
    end = motion.advance(1e-3)
    assert system.potential(motion.advance(1e-3).q) > 0.0 or system.energies["contact"].version > 1
    other = sx.System(rigid.mass(), {"contact": rigid.of_points(contact), "rigid": rigid.rigidity(1e5)})
    again = method.resume(other, checkpoint).advance(1e-3)
    np.testing.assert_array_equal(end.q, again.q)
    np.testing.assert_array_equal(end.v, again.v)


# -- bad input --------------------------------------------------------------------------------------------------------


def open_box():
    mesh = box_surface((1.0, 1.0, 1.0))
    return sx.Mesh(mesh.points, {"triangle": mesh.cells["triangle"][1:]})


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: RigidBody.of(open_box(), mass=1.0), MeshError, "the surface of a rigid body is open"),
        (lambda: RigidBody.of(sphere_surface(1.0), mass=-1.0), InvalidSystem, "mass of a rigid body must be positive"),
        (lambda: RigidBody.sphere(1.0, density=0.0), InvalidSystem, "the density of a rigid body must be positive"),
        (lambda: RigidBody.sphere(1.0), InvalidSystem, "a density or a mass: give one of both"),
        (lambda: RigidBody.sphere(1.0, mass=1.0, density=1.0), InvalidSystem, "give one of both"),
        (lambda: RigidBody.sphere(-1.0, mass=1.0), MeshError, "the radius of a sphere must be positive"),
        (
            lambda: RigidBody.of(sx.meshes.Mesh(np.zeros((2, 3)), {"line": np.array([[0, 1]], np.int32)}), mass=1.0),
            MeshError,
            "a mesh of triangles or of volume cells",
        ),
        (lambda: RigidBody.box((1, 1, 1e-7), mass=1.0), InvalidSystem, "no extent along"),
        (
            lambda: RigidBody.sphere(1.0, mass=1.0).placed((0, 0, 0), -np.eye(3)),
            InvalidSystem,
            "an orthogonal matrix",
        ),
        (lambda: TUMBLING.nodes_of("bottom"), InvalidSystem, "there is no rigid body 'bottom'; there are: top"),
        (lambda: TUMBLING.velocities(linear={"bottom": (0, 0, 0)}), InvalidSystem, "no rigid body 'bottom'"),
        (lambda: TUMBLING.velocities(linear={"top": (0, 0)}), InvalidSystem, "must be finite, "),
        (lambda: TUMBLING.positions(np.zeros((2, 3))), InvalidSystem, "positions of the other nodes have shape"),
        (lambda: RigidBodies({}), InvalidSystem, "there are 0 rigid bodies"),
        (lambda: RigidBodies({"top": 1.0}), InvalidSystem, "'top' is a float, no RigidBody"),
    ],
)
def test_bad_bodies_are_refused(make, error, says):
    with pytest.raises(error, match=says):
        make()


def boxes(*parts, merged=False):
    """The surface of boxes, each of a size, at a place, and maybe turned inside out."""
    points, triangles = [], []
    for size, at, *inwards in parts:
        own = box_surface(size)
        triangles.append(own.cells["triangle"][:, :: -1 if inwards else 1] + sum(map(len, points)))
        points.append(own.points - own.points.mean(axis=0) + at)
    points, triangles = np.concatenate(points), np.concatenate(triangles)
    if merged:
        points, place = np.unique(points.round(9), axis=0, return_inverse=True)
        triangles = place.ravel()[triangles]
    return sx.Mesh(points, {"triangle": np.ascontiguousarray(triangles, np.int32)})


CUBE = ((1, 1, 1), (0, 0, 0))


@pytest.mark.parametrize(
    ("mesh", "volume"),
    [
        (boxes(CUBE, ((0.5, 0.5, 0.5), (0.1, 0, 0), "inwards")), 0.875),
        (boxes(CUBE, ((1, 1, 1), (3, 0, 0))), 2.0),
        (boxes(CUBE, ((1, 1, 1), (1, 0, 0))), 2.0),
        (boxes(CUBE, ((1, 1, 1), (1, 0, 0)), merged=True), 2.0),
        (boxes(CUBE, ((0.5, 0.5, 0.5), (0.75, 0.1, 0))), 1.125),
        (boxes(CUBE, ((1, 1, 1), (1, 1, 0)), merged=True), 2.0),
    ],
    ids=["a cavity", "apart", "touching", "on common nodes", "on a part of a face", "on an edge"],
)
def test_closed_parts_may_touch_or_be_cavities(mesh, volume):
    assert RigidBody.of(mesh, density=2.0).properties.mass == pytest.approx(2.0 * volume)


@pytest.mark.parametrize(
    ("mesh", "says"),
    [
        (boxes(CUBE, ((0.5, 0.5, 0.5), (0.1, 0, 0))), "counted 2 times"),
        (boxes(CUBE, ((0.5, 0.5, 0.5), (3, 0, 0), "inwards")), "counted 0 times"),
        (boxes(CUBE, ((0.5, 0.5, 0.5), (0.5, 0, 0), "inwards")), "counted 0 times"),
        (boxes(CUBE, ((1, 1, 1), (0.9, 0.92, 0.91))), "overlap by about 0.08 m at"),
        (boxes(CUBE, ((1, 1, 2), (0, 0, 0.5)), merged=True), "counted 2 times"),
        (boxes(((10, 1, 1), (0, 0, 0)), ((1, 10, 1), (2.1, 0.2, 0.0))), "counted 2 times"),
        (boxes(CUBE, CUBE, merged=True), "counted 2 times"),
    ],
    ids=["nested", "a cavity outside", "a cavity half outside", "a corner", "on common nodes", "flush", "the same"],
)
def test_what_closed_parts_bound_twice_is_refused(mesh, says):
    """Its mass and inertia would be those of both."""
    with pytest.raises(MeshError, match=f"must bound each part of its volume once, but .*{says}"):
        RigidBody.of(mesh, density=1.0)


def test_an_open_surface_is_a_body_with_a_mass_that_is_given():
    shell = RigidBody(open_box(), MassProperties(2.0, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)))
    assert RigidBodies({"shell": shell}).mass().sum() == pytest.approx(2.0)
