"""Obstacles on frames: the mass of solids, friction's momenta, motions that are combined, bad input."""

import numpy as np
import pytest

import symplex as sx
from symplex.contact import (
    Box,
    Capsule,
    Cylinder,
    Friction,
    HalfSpace,
    MovingObstacleContact,
    RigidBody,
    Sphere,
    obstacle_mass,
)
from symplex.contact.rigid import RigidContact
from symplex.errors import InvalidSystem
from symplex.fem import MassProperties


def test_the_inertia_of_solids_is_that_of_their_surfaces():
    turned, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))
    box = obstacle_mass(Box((1.0, 2.0, 3.0), (0.1, 0.2, 0.4), turned), density=500.0)
    assert box.mass == pytest.approx(4.0, rel=1e-14)
    np.testing.assert_allclose(box.center, [1.0, 2.0, 3.0])
    body = RigidBody.box((0.1, 0.2, 0.4), mass=4.0).properties.inertia
    np.testing.assert_allclose(box.inertia, turned.T @ body @ turned, atol=1e-15)
    ball = obstacle_mass(Sphere((0.0, 0.0, 1.0), 0.3), mass=2.0)
    np.testing.assert_allclose(ball.inertia, 0.4 * 2.0 * 0.09 * np.eye(3), atol=1e-16)
    assert obstacle_mass(Sphere((0.0, 0.0, 1.0), 0.3), density=3.0).mass == pytest.approx(4.0 * np.pi * 0.027)


def test_the_inertia_of_a_capsule_is_the_integral():
    capsule = Capsule((0.1, 0.0, 0.2), (0.1, 0.4, 0.2), 0.15)
    found = obstacle_mass(capsule, density=700.0)
    # Discs across the axis, y from the middle: of radius R, or √(R² − (|y| − L/2)²) in the hemispheres.
    y, w = np.polynomial.legendre.leggauss(12)
    mass = along = across = 0.0
    for low, high in ((-0.35, -0.2), (-0.2, 0.2), (0.2, 0.35)):
        s, ds = 0.5 * (low + high) + 0.5 * (high - low) * y, 0.5 * (high - low) * w
        squares = 0.15**2 - np.maximum(np.abs(s) - 0.2, 0.0) ** 2
        disc = 700.0 * np.pi * squares * ds
        mass, along = mass + disc.sum(), along + (0.5 * disc * squares).sum()
        across += (disc * (0.25 * squares + s**2)).sum()
    assert found.mass == pytest.approx(mass, rel=1e-13)
    np.testing.assert_allclose(found.inertia, np.diag([across, along, across]), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(found.center, [0.1, 0.2, 0.2])


@pytest.mark.parametrize(
    "obstacle",
    [
        HalfSpace((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)),
        Cylinder((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 0.1),
        Sphere((0.0, 0.0, 0.0), 0.1, inside=True),
        Sphere((0.0, 0.0), 0.1),
    ],
)
def test_what_has_no_volume_has_no_mass(obstacle):
    with pytest.raises(InvalidSystem, match="no computable mass; give MassProperties"):
        obstacle_mass(obstacle, mass=1.0)


def pressed():
    """Nodes in a box on a frame that has turned, with any velocities."""
    rng = np.random.default_rng(4)
    box = Box((0.0, 0.0, 0.0), (1.0, 0.8, 0.6))
    properties = obstacle_mass(box, mass=3.0)
    turned, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    turned *= np.sign(np.linalg.det(turned))
    q = rng.uniform(-0.6, 0.6, (24, 3))
    q[20:] = properties.particles @ turned.T + [0.1, 0.0, 0.2]
    contact = MovingObstacleContact(np.arange(20), box, 50.0, [20, 21, 22, 23], properties)
    return contact, q, rng.standard_normal((24, 3)), turned


def test_a_frame_sees_the_obstacle_where_it_is():
    contact, q, _, turned = pressed()
    moved = Box((0.1, 0.0, 0.2), (1.0, 0.8, 0.6), turned.T)
    still = RigidContact(np.arange(20), moved, 50.0)
    np.testing.assert_allclose(contact.gaps(q), still.gaps(q), atol=1e-14)
    np.testing.assert_allclose(contact.forces(q), still.forces(q), atol=1e-12)
    assert contact.total(q) == pytest.approx(still.total(q), rel=1e-12)
    assert contact.deepest(q)[0] == still.deepest(q)[0]


def test_friction_with_a_frame_keeps_both_momenta_and_never_gains():
    contact, q0, v, _ = pressed()
    q1 = q0 + 0.02 * v
    f = Friction(contact, 0.5, slip_speed=0.1).over(0.0, q0, q1, v)
    assert np.abs(f[:20]).max() > 0.1
    np.testing.assert_allclose(f.sum(axis=0), 0.0, atol=1e-13)
    np.testing.assert_allclose(np.cross(0.5 * (q0 + q1), f).sum(axis=0), 0.0, atol=1e-13)
    assert np.vdot(f, v) < -0.1
    # In a rigid motion of all nothing slips, however the frame moves.
    rigid = np.array([1.0, 2.0, 3.0]) + np.cross([0.3, -0.2, 0.5], q0)
    np.testing.assert_allclose(Friction(contact, 0.5).over(0.0, q0, q0, rigid), 0.0, atol=1e-10)


def test_combined_motions_are_a_turn_about_an_axis_that_moves():
    points = np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    shift = sx.actions.SupportTranslation(
        [0, 1], (0.0, 0.0, 1.0), sx.actions.TimeFunction.steady(3.0), components="xyz"
    )
    turn = sx.actions.SupportRotation(
        [0, 1], points, sx.actions.TimeFunction.steady(np.pi), center=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)
    )
    both = sx.actions.CombinedMotion([shift, turn])
    np.testing.assert_allclose(points + both.displacement(0.5), [[0.0, 1.0, 1.5], [-2.0, 0.0, 1.5]], atol=1e-14)
    np.testing.assert_allclose(both.velocity(0.0), [[0.0, np.pi, 3.0], [-2.0 * np.pi, 0.0, 3.0]], atol=1e-14)
    np.testing.assert_allclose(both.acceleration(0.0), -(np.pi**2) * points, atol=1e-13)
    with pytest.raises(InvalidSystem, match="same nodes and components"):
        sx.actions.CombinedMotion([shift, sx.actions.SupportTranslation([0], "x", sx.actions.TimeFunction.steady(1.0))])
    with pytest.raises(InvalidSystem, match="there is no motion"):
        sx.actions.CombinedMotion([])


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"frame": [2, 3, 4]}, "the frame has 3 nodes; expected the 4 particles"),
        ({"frame": [1, 3, 4, 5]}, "node 1 is of the frame and may touch the obstacle as well"),
        ({"obstacle": Sphere((0.0, 0.0), 1.0)}, "the obstacle is in 2 dimensions; frames are in space"),
        ({"stiffness": -1.0}, "the stiffness must be positive"),
        ({"nodes": [0, 0]}, "MovingObstacleContact"),
    ],
)
def test_bad_input_gets_a_sentence(change, text):
    given = {
        "nodes": [0, 1],
        "obstacle": Sphere((0.0, 0.0, 0.0), 1.0),
        "stiffness": 1.0,
        "frame": [2, 3, 4, 5],
        "properties": MassProperties(1.0, np.zeros(3), np.ones(3)),
    }
    with pytest.raises(InvalidSystem, match=text):
        MovingObstacleContact(**(given | change))


def test_the_former_name_leads_to_the_class():
    with pytest.warns(DeprecationWarning, match=r"symplex.contact.FramedContact is now MovingObstacleContact\."):
        assert sx.contact.FramedContact is MovingObstacleContact
