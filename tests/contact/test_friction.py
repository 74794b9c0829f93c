"""Coulomb friction of contact: both momenta, no work in rigid motions, never any gain; derivatives; what is refused."""

import copy
import math
import pickle

import numpy as np
import pytest

import symplex as sx
from symplex.contact import BodyContact, Friction, HalfSpace, RigidContact, Sphere, Surface
from symplex.contact.friction_law import FrictionLaw, pull
from symplex.errors import InvalidArgument, InvalidSystem

RUBBER = sx.NeoHookean.from_young(1e6, 0.3, 1000.0)
SIDE = 0.1


def two_bodies(law="penalty", divisions=2):
    """Two cubes, a small gap apart and shifted, with their contact."""
    cube = sx.box((SIDE,) * 3, (divisions,) * 3, split="6")
    reach = 0.1 * SIDE / divisions
    other = sx.box((SIDE,) * 3, (divisions,) * 3, split="6", origin=(SIDE + 0.6 * reach, 0.031, 0.017))
    mesh = sx.merge({"a": cube, "b": other})
    surface = Surface.of(mesh, ["a", "b"])
    return mesh, BodyContact.from_materials(surface, RUBBER, law=law, speed=1.0)


@pytest.fixture(scope="module")
def increments():
    """Random increments of two touching bodies whose surfaces are rough, with their contact."""
    mesh, contact = two_bodies()
    random = np.random.default_rng(3)
    found = []
    for size in (1e-9, 1e-4, 2e-3, 1e-2):
        q0 = mesh.points + 1e-3 * random.normal(size=mesh.points.shape)
        found.append((q0, q0 + size * random.normal(size=q0.shape)))
    return contact, found


def test_forces_between_bodies_keep_both_momenta_and_never_give_energy(increments):
    contact, found = increments
    friction, dt = Friction(contact, 0.4, static=0.6, slip_speed=1.0), 1e-2
    for q0, q1 in found:
        v = (q1 - q0) / dt
        forces, middle = friction.over(0.0, q0, q1, v), 0.5 * (q0 + q1)
        size = np.abs(forces).sum()
        assert size > 0.0
        assert np.abs(forces.sum(axis=0)).max() < 1e-14 * size
        assert np.abs(np.cross(middle - middle.mean(axis=0), forces).sum(axis=0)).max() < 1e-14 * size * SIDE
        assert np.vdot(forces, v) < 0.0
        np.testing.assert_allclose(friction.over(0.0, q1, q0, v), forces, rtol=1e-6, atol=1e-9 * size)


def test_there_is_no_slip_in_a_rigid_motion_however_far_it_goes():
    mesh, contact = two_bodies()
    friction, dt = Friction(contact, 0.4, slip_speed=1.0), 1e-2
    q0 = mesh.points
    c, s = math.cos(1.2), math.sin(1.2)
    turned = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    q1 = q0 @ turned.T + [0.3, -0.2, 0.1]
    slipping = friction.over(0.0, q0, q0, np.where(q0[:, :1] > SIDE, [[0.0, 10.0, 0.0]], 0.0))
    rigid = friction.over(0.0, q0, q1, (q1 - q0) / dt)
    assert np.abs(rigid).max() < 1e-10 * np.abs(slipping).max()


@pytest.mark.parametrize("law", ["penalty", "barrier"])
def test_derivatives_between_bodies_are_those_of_the_forces(law):
    mesh, contact = two_bodies(law)
    random = np.random.default_rng(5)
    for rough, size in ((1e-5, 1e-4), (1e-3, 1e-3)):  # of the second all parts of faces and edges meet
        q0 = mesh.points + rough * random.normal(size=mesh.points.shape)
        q1 = q0 + size * random.normal(size=q0.shape)
        for friction in (Friction(contact, 0.4, static=0.7, slip_speed=0.02), Friction(contact, 0.4, slip_speed=1.0)):
            check_derivatives(friction, {"contact": contact}, q0, q1, random, 3e-7)


@pytest.mark.parametrize("carried", [False, True])
def test_derivatives_at_obstacles_are_those_of_the_forces(carried):
    random = np.random.default_rng(7)
    q0 = random.normal(size=(6, 3))
    q0 *= 0.9 / np.linalg.norm(q0, axis=1, keepdims=True)
    q0[5] = 0.0
    obstacle = RigidContact(np.arange(5), Sphere((0.0, 0.0, 0.0), 1.0), 10.0, carrier=5 if carried else None)
    q1 = q0 + 0.02 * random.normal(size=q0.shape)
    for friction in (Friction(obstacle, 0.4, static=0.7, slip_speed=0.02), Friction(obstacle, 0.4, slip_speed=5.0)):
        check_derivatives(friction, {"ball": obstacle}, q0, q1, random, 1e-6)
        forces = friction.over(0.0, q0, q1, q1 - q0)
        assert np.vdot(forces, q1 - q0) < 0.0
        assert (np.abs(forces.sum(axis=0)).max() < 1e-14) == carried


def check_derivatives(friction, energies, q0, q1, random, tolerance):
    system = sx.System(np.ones(len(q0)), energies, loads={"friction": friction})
    system.update_neighbours(q0)
    v, along, nudge = random.normal(size=q0.shape), random.normal(size=q0.shape), 1e-8
    for by_q, by_v, change in (
        (0.5, 0.0, friction.over(0.0, q0, q1 + nudge * along, v) - friction.over(0.0, q0, q1 - nudge * along, v)),
        (0.0, 1.0, friction.over(0.0, q0, q1, v + nudge * along) - friction.over(0.0, q0, q1, v - nudge * along)),
    ):
        blocks = system.pattern.zeros(3)
        system.add_load_derivatives(0.0, 0.5 * (q0 + q1), v, by_q, by_v, blocks, (q0, q1))
        found, expected = system.pattern.matrix(blocks) @ along.ravel(), change.ravel() / (2.0 * nudge)
        assert np.abs(expected).max() > 0.0
        assert np.abs(found - expected).max() < tolerance * np.abs(expected).max()


@pytest.mark.parametrize("shape", [(2, 3), (3000, 2)])
def test_positions_that_are_too_few_or_in_the_plane_are_refused(shape):
    """Loops would read beyond their end."""
    contact = RigidContact(np.arange(3000), HalfSpace(point=(0, 0, 1), normal=(0, 0, 1)), stiffness=2.0)
    with pytest.raises(InvalidSystem, match=r"expected \(n, 3\) with n at least 3000"):
        Friction(contact, 0.3)(0.0, np.zeros(shape), np.zeros(shape))


@pytest.mark.parametrize(("gap", "tolerance"), [(0.98, 0.005), (0.8, 0.005), (0.6, 0.025)])
def test_friction_on_flat_faces_is_that_of_the_force_between_them(gap, tolerance):
    """Pairs that are tilted, though the faces are parallel, count with what they press along the normal."""
    plate = sx.box((0.3, 0.3, 0.05), (5, 5, 1), split="6")
    block = sx.box((0.1, 0.1, 0.1), (3, 3, 3), split="6")
    mesh = sx.merge({"plate": plate, "block": block})
    nodes, q, reach = mesh.nodes_of("block"), mesh.points.copy(), 0.0066
    c, s = math.cos(0.3), math.sin(0.3)
    q[nodes] = (q[nodes] - [0.05, 0.05, 0.0]) @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    q[nodes] += [0.15, 0.14, 0.05 + gap * reach]
    contact = BodyContact(Surface.of(mesh, ["plate", "block"]), 1e8, distance=reach)
    normal = contact.nodal_forces(q)[nodes].sum(axis=0)
    for direction in ((1.0, 0.0, 0.0), (0.6, 0.8, 0.0)):
        v = np.zeros_like(q)
        v[nodes] = direction
        pulled = Friction(contact, 0.5)(0.0, q, v)[nodes].sum(axis=0)
        assert -pulled @ direction == pytest.approx(0.5 * normal[2], rel=tolerance)


def test_the_law_is_continuous_and_falls_from_the_static_to_the_dynamic_coefficient():
    law = FrictionLaw(0.3, 0.5, 0.01)
    size = lambda slip: pull(law, slip)[0] * slip  # noqa: E731
    assert size(0.01) == pytest.approx(0.5)
    assert size(1.0) == pytest.approx(0.3)
    assert size(0.005) == pytest.approx(0.75 * 0.5)
    for slip in (0.003, 0.0099, 0.0101, 0.05, 0.2):
        ratio, rate = pull(law, slip)
        slope = (size(slip * (1 + 1e-6)) - size(slip * (1 - 1e-6))) / (2e-6 * slip)
        assert rate * slip * slip + ratio == pytest.approx(slope, rel=1e-5, abs=1e-6)


def colliding(friction_between=None):
    mesh, contact = two_bodies("barrier")
    friction = Friction(contact, 0.3, between=friction_between)
    cells = mesh.cells["tetra"]
    energies = {"rubber": sx.Solid(mesh.points, cells, RUBBER), "contact": contact}
    mass = sx.lumped_mass(mesh.points, cells, RUBBER.density, len(mesh.points))
    system = sx.System(mass, energies, loads={"friction": friction})
    v = np.zeros_like(mesh.points)
    for name, turn, speed in (("a", (0.0, 0.0, 40.0), 0.6), ("b", (0.0, 20.0, 40.0), -0.6)):
        nodes = mesh.nodes_of(name)
        x = mesh.points[nodes] - mesh.points[nodes].mean(axis=0)
        v[nodes] = np.cross(turn, x) + np.array([speed, 0.0, 0.0])
    return system, system.state(mesh.points, v)


def test_two_spinning_cubes_keep_both_momenta_and_the_balance():
    system, start = colliding()
    motion = sx.EnergyMomentum(1e-3).start(system, start)
    first = motion.energies(motion.advance(0.0))
    works = [0.0]
    for k in range(1, 9):
        state = motion.advance(1e-3 * k)
        energies = motion.energies(state)
        works.append(energies["work_friction"])
    assert works[-1] < -0.05 * first["total"]
    assert np.all(np.diff(works) <= 0.0)
    assert energies["balance"] == pytest.approx(first["total"], rel=1e-12)
    for total in (system.momentum, system.angular_momentum):
        assert np.abs(total(state) - total(start)).max() < 1e-13 * np.abs(system.angular_momentum(start)).max()
    assert motion.statistics()["corrections"] < 10 * 8


@pytest.mark.parametrize(
    "method", [sx.Newmark(2e-5), sx.GeneralizedAlpha(5e-5), sx.Midpoint(5e-5)], ids=lambda m: type(m).__name__
)
def test_other_methods_take_it_as_a_load(method):
    mesh, contact = two_bodies("penalty")
    start = colliding()[1]
    cells = mesh.cells["tetra"]
    mass = sx.lumped_mass(mesh.points, cells, RUBBER.density, len(mesh.points))
    energies = {"rubber": sx.Solid(mesh.points, cells, RUBBER), "contact": contact}
    system = sx.System(mass, energies, loads={"friction": Friction(contact, 0.3, slip_speed=0.05)})
    motion = method.start(system, system.state(start.q, start.v))
    total = motion.energies(motion.advance(0.0))["total"]
    reported = motion.energies(motion.advance(2e-3))
    assert reported["work_friction"] < -0.01 * total
    assert reported["balance"] == pytest.approx(total, rel=0.05)


def test_a_motion_goes_on_bit_identically_and_copies_keep_the_contact():
    system, start = colliding(("b", "a"))
    method = sx.EnergyMomentum(1e-3)
    motion = method.start(system, start)
    motion.advance(2e-3)
    resumed = [method.resume(system, motion.checkpoint()), copy.deepcopy(motion), pickle.loads(pickle.dumps(motion))]
    expected = motion.advance(4e-3)
    for other in resumed:
        np.testing.assert_array_equal(other.advance(4e-3).q, expected.q)


def test_coefficients_may_differ_by_bodies():
    boxes = {
        name: sx.box((1.0, 1.0, 1.0), (1, 1, 1), split="6", origin=(1.05 * k, 0.1 * k, 0.07 * k))
        for k, name in enumerate("abc")
    }
    mesh = sx.merge(boxes)
    contact = BodyContact(Surface.of(mesh, list("abc")), 1e3, distance=0.1)
    q, v = mesh.points, np.random.default_rng(1).normal(size=mesh.points.shape)
    parts = [Friction(contact, 0.3, between=pair)(0.0, q, v) for pair in (("a", "b"), ("c", "b"))]
    assert all(part.any() for part in parts)
    assert not parts[0][mesh.nodes_of("c")].any()
    np.testing.assert_allclose(sum(parts), Friction(contact, 0.3)(0.0, q, v), atol=1e-12)


def test_what_makes_no_sense_is_refused():
    _, contact = two_bodies()
    floor = RigidContact([0], HalfSpace((0.0, 0.0), (0.0, 1.0)), 1.0)
    for message, arguments in (
        (r"^Friction: coefficient must be at least 0, got -0\.1\.$", {"coefficient": -0.1}),
        (
            r"^Friction: static must be at least coefficient = 0\.3, got 0\.2\.$",
            {"coefficient": 0.3, "static": 0.2},
        ),
        (r"^Friction: slip_speed must be positive, got 0 m/s\.$", {"coefficient": 0.3, "slip_speed": 0.0}),
        (r"^Friction: the bodies 'a' and 'a' are not in contact\.$", {"coefficient": 0.3, "between": ("a", "a")}),
    ):
        with pytest.raises(InvalidSystem, match=message):
            Friction(contact, **arguments)
    with pytest.raises(InvalidArgument, match=r"^Friction: contact must be one between bodies or with an obstacle, "):
        Friction(sx.Gravity([1.0], (0.0, 0.0, -1.0)), 0.3)
    with pytest.raises(InvalidSystem, match=r"^Friction: bodies are named, but the contact is with an obstacle; "):
        Friction(floor, 0.3, between=("a", "b"))
    with pytest.raises(
        InvalidSystem, match=r"^load 'rub' \(Friction\) follows from a RigidContact that is not one of "
    ):
        sx.System(np.ones(1), {}, dim=2, loads={"rub": Friction(floor, 0.3)})


# -- with obstacles ---------------------------------------------------------------------------------------------------


def particle(coefficient, slope, **options):
    """A heavy particle on an inclined plane, along which it slides from rest or uphill."""
    normal = np.array([-math.sin(slope), math.cos(slope)])
    plane = RigidContact([0], HalfSpace((0.0, 0.0), normal), 1e4)
    energies = {"plane": plane, "gravity": sx.Gravity(np.ones(1), (0.0, -10.0))}
    system = sx.System(np.ones(1), energies, dim=2, loads={"friction": Friction(plane, coefficient, **options)})
    q = -10.0 * math.cos(slope) / 1e4 * normal[None]
    return system, q, np.array([math.cos(slope), math.sin(slope)])


@pytest.mark.parametrize("method", [sx.EnergyMomentum(1e-2), sx.Midpoint(1e-2)], ids=lambda m: type(m).__name__)
def test_on_an_incline_it_slides_with_the_right_acceleration_or_stays(method):
    slope = math.atan(0.5)
    system, q, up = particle(0.2, slope)
    state = method.start(system, system.state(q)).advance(1.0)
    assert -state.v[0] @ up == pytest.approx(10.0 * (math.sin(slope) - 0.2 * math.cos(slope)), rel=1e-3)
    system, q, up = particle(0.6, slope)
    state = method.start(system, system.state(q)).advance(1.0)
    assert np.linalg.norm(state.q - q) < 1e-3  # it creeps, by less than the smoothing speed
    # μ ψ(u) = tan(slope) at the speed of creeping
    assert -state.v[0] @ up == pytest.approx(1e-3 * (1.0 - math.sqrt(1.0 - 0.5 / 0.6)), rel=1e-3)


def test_pushed_uphill_it_stops_where_it_should_and_stays():
    slope = math.atan(0.5)
    system, q, up = particle(0.6, slope, static=0.7)
    motion = sx.EnergyMomentum(2e-3).start(system, system.state(q, 2.0 * up[None]))
    slowing = 10.0 * (math.sin(slope) + 0.6 * math.cos(slope))
    state = motion.advance(1.0)
    assert (state.q[0] - q[0]) @ up == pytest.approx(0.5 * 4.0 / slowing, rel=5e-3)
    energies = motion.energies(state)
    assert energies["balance"] == pytest.approx(motion.energies(motion.advance(1.0))["balance"])
    assert energies["work_friction"] == pytest.approx(-0.6 * 10.0 * math.cos(slope) * 0.5 * 4.0 / slowing, rel=1e-2)


def test_a_conveyor_takes_a_body_along_and_its_drive_does_the_work():
    """The slip is relative to the obstacle: on a moving plane a body at rest is dragged until it goes with it."""
    plane = RigidContact([0], HalfSpace((0.0, 0.0), (0.0, 1.0)), 1e4, carrier=1)
    energies = {"belt": plane, "gravity": sx.Gravity(np.array([1.0, 0.0]), (0.0, -10.0))}
    moving = {"drive": sx.actions.SupportTranslation([1], (1.0, 0.0), ([0.0, 1.0], [0.0, 0.5]))}
    system = sx.System(np.ones(2), energies, dim=2, loads={"friction": Friction(plane, 0.5)}, moving=moving)
    start = system.state([[0.0, -1e-3], [0.0, 0.0]])
    motion = sx.EnergyMomentum(2e-3).start(system, start)
    first = motion.energies(motion.advance(0.0))["balance"]
    assert motion.advance(0.05).v[0, 0] == pytest.approx(5.0 * 0.05, rel=0.02)
    state = motion.advance(0.5)
    reported = motion.energies(state)
    assert state.v[0, 0] == pytest.approx(0.5, abs=1e-6)
    assert reported["work_drive"] == pytest.approx(1.0 * 0.5 * 0.5, rel=0.02)  # F·s = m v · v
    assert reported["work_friction"] == pytest.approx(-0.5 * 0.25, rel=0.02)
    assert reported["balance"] == pytest.approx(first, abs=1e-12)


def rolling_ball():
    """A stiff solid ball on a floor, of 4 elements across the radius, with its radius of gyration over the radius."""
    cube = sx.box((0.2,) * 3, (8,) * 3, split="6", origin=(-0.1, -0.1, -0.1))
    half, length = np.abs(cube.points).max(axis=1, keepdims=True), np.linalg.norm(cube.points, axis=1, keepdims=True)
    points = cube.points * np.divide(half, length, out=np.zeros_like(half), where=length > 0.0)
    cells, floor = cube.cells["tetra"], HalfSpace((0.0, 0.0, -0.1), (0.0, 0.0, 1.0))
    mass = sx.lumped_mass(points, cells, 1000.0, len(points))
    contact = RigidContact(cube.boundary_nodes, floor, 1e4)
    energies = {
        "ball": sx.Solid(points, cells, sx.NeoHookean.from_young(3e6, 0.3, 1000.0)),
        "floor": contact,
        "weight": sx.Gravity(mass, (0.0, 0.0, -10.0)),
    }
    system = sx.System(mass, energies, loads={"friction": Friction(contact, 0.4, slip_speed=0.03)})
    gyration = mass @ (points[:, 0] ** 2 + points[:, 2] ** 2) / mass.sum() / 0.1**2
    return system, points, gyration


@pytest.mark.slow
def test_a_ball_begins_to_roll():
    """A solid ball that slides on a floor rolls in the end with 5/7 of its speed, whatever the coefficient."""
    system, points, gyration = rolling_ball()
    assert gyration == pytest.approx(0.4, rel=0.03)
    start = system.state(points, (1.0, 0.0, 0.0))
    motion = sx.Newmark().fit(system, start, 0.1).start(system, start)
    state = motion.advance(0.1)
    mass, (vx, _, _) = np.asarray(system.mass), system.momentum(state) / np.sum(system.mass)
    assert vx == pytest.approx(1.0 / (1.0 + gyration), rel=0.02)
    assert vx == pytest.approx(5.0 / 7.0, rel=0.03)
    centre = mass @ state.q / mass.sum()
    x, v = state.q - centre, state.v - [vx, 0.0, 0.0]
    turning = mass @ (x[:, 2] * v[:, 0] - x[:, 0] * v[:, 2]) / (mass @ (x[:, 0] ** 2 + x[:, 2] ** 2))
    assert 0.1 * turning == pytest.approx(vx, rel=0.02)


@pytest.mark.slow
def test_a_block_slides_down_an_inclined_plate():
    """Between bodies: Δv = g t sin − μ (g t cos + Δv_n), what it moves along the normal included."""
    plate = sx.box((0.3, 0.3, 0.05), (5, 5, 1), split="6")
    block = sx.box((0.1,) * 3, (3,) * 3, split="6", origin=(0.107, 0.093, 0.0531))
    mesh = sx.merge({"plate": plate, "block": block})
    contact = BodyContact.from_materials(Surface.of(mesh, ["plate", "block"]), RUBBER, law="barrier")
    cells, n = mesh.cells["tetra"], len(mesh.points)
    mass, fixed = sx.lumped_mass(mesh.points, cells, 1000.0, n), np.zeros((n, 3), bool)
    fixed[mesh.nodes_of("plate")] = True
    slope, mu, t = math.atan(0.5), 0.2, 0.05
    energies = {
        "rubber": sx.Solid(mesh.points, cells, RUBBER),
        "contact": contact,
        "weight": sx.Gravity(mass, (10.0 * math.sin(slope), 0.0, -10.0 * math.cos(slope))),
    }
    system = sx.System(mass, energies, fixed=fixed, loads={"friction": Friction(contact, mu)})
    nodes, v0 = mesh.nodes_of("block"), np.zeros_like(mesh.points)
    v0[nodes, 0] = 1.0  # far more than what vibrates
    state = sx.EnergyMomentum(1e-3).start(system, system.state(mesh.points, v0)).advance(t)
    v = mass[nodes] @ state.v[nodes] / mass[nodes].sum()
    friction = mu * (10.0 * t * math.cos(slope) + v[2])
    assert 1.0 + 10.0 * t * math.sin(slope) - v[0] == pytest.approx(friction, rel=0.02)


@pytest.mark.slow
def test_the_stick_zone_of_a_ball_that_is_pushed_aside():
    """Cattaneo and Mindlin: of a contact of radius a a disc of c = a (1 − Q/μP)^(1/3) sticks; 4 elements to a."""
    h, cells, mu, steps = 0.025, (20, 20, 10), 0.3, 6
    block = sx.box(np.multiply(cells, h), cells, split="6", origin=(-10 * h, -10 * h, -10 * h))
    points, n = block.points, len(block.points)
    solid = sx.Solid(points, block.cells["tetra"], sx.NeoHookean.from_young(1.0, 0.3, 1e-9))
    near = np.flatnonzero((points[:, 2] > -0.5 * h) & (np.hypot(points[:, 0], points[:, 1]) < 8 * h))
    ball = RigidContact(near, Sphere((0.0, 0.0, 0.0), 1.0), 20.0 * h, carrier=n)
    mass = np.append(sx.lumped_mass(points, block.cells["tetra"], 1e-9, n), 1e-9)  # as if at rest
    fixed = np.zeros((n + 1, 3), bool)
    fixed[block.nodes_of("z_min")] = True

    def moved(q, way, loads):
        drive = {"ball": sx.actions.SupportTranslation([n], way, ([0.0, 1.0], [0.0, 1.0]))}
        system = sx.System(mass, {"solid": solid, "contact": ball}, fixed=fixed, moving=drive, loads=loads)
        motion = sx.EnergyMomentum(1.0 / steps).start(system, system.state(q))
        return [motion.advance(k / steps).q for k in range(steps + 1)]

    pressed = moved(np.vstack([points, [0.0, 0.0, 1.0]]), (0.0, 0.0, -0.0113), {})[-1]
    friction = Friction(ball, mu, slip_speed=9e-5)
    path = moved(pressed, (0.003, 0.0, 0.0), {"friction": friction})
    for q0, q1 in ((path[4], path[5]), (path[5], path[6])):
        normal = np.linalg.norm(ball.discrete_gradient(q0[ball.nodes], q1[ball.nodes])[:, 0], axis=1)
        f = friction.over(0.0, q0, q1, (q1 - q0) * steps)[near]
        touching = normal > 0.0
        sticking = np.linalg.norm(f[touching], axis=1) < 0.99 * mu * normal[touching]
        part = f[:, 0].sum() / (mu * normal.sum())
        assert 0.4 < part < 0.6
        assert math.sqrt(sticking.mean()) == pytest.approx((1.0 - part) ** (1.0 / 3.0), rel=0.05)
