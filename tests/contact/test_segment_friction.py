"""Friction over facets: momenta, power, derivatives, the patch test of sticking, sliding, energy–momentum."""

import math

import numpy as np
import pytest

import symplex as sx
from contact.test_friction import check_derivatives
from contact.test_segments import CORK, RUBBER, stacked
from symplex.contact import Friction, SegmentContact
from symplex.contact.friction_law import FrictionLaw, pull

KINDS = ["tetra", "hexahedron", "tetra10", "hexahedron20"]


def rough(kind):
    """Return two blocks with rough surfaces in contact, an increment of them and random numbers."""
    mesh, _, surface = stacked(kind, cells=(1, 2), size=0.8)
    random = np.random.default_rng(3)
    contact = SegmentContact(surface, mesh.points, 1e7, between=[("high", "low")])
    q0 = mesh.points + 4e-3 * random.normal(size=mesh.points.shape)
    q0[mesh.nodes_of("high"), 2] -= 0.01
    return contact, q0, q0 + 1e-3 * random.normal(size=q0.shape), random


@pytest.mark.parametrize("kind", KINDS)
def test_forces_keep_both_momenta_never_give_energy_and_vanish_in_rigid_motions(kind):
    contact, q0, q1, random = rough(kind)
    friction = Friction(contact, 0.4, static=0.6, slip_speed=1.0)
    v, middle = random.normal(size=q0.shape), 0.5 * (q0 + q1)
    forces = friction.over(0.0, q0, q1, v)
    size = np.abs(forces).sum()
    assert size > 1e3
    assert np.abs(forces.sum(axis=0)).max() < 1e-14 * size
    assert np.abs(np.cross(middle, forces).sum(axis=0)).max() < 1e-14 * size
    assert np.vdot(forces, v) < -1e-2 * size
    np.testing.assert_allclose(friction.over(0.0, q1, q0, v), forces, atol=1e-12 * size)
    rigid = np.cross([0.3, -0.2, 0.5], middle) + [1.0, 2.0, -3.0]
    assert np.abs(friction.over(0.0, q0, q1, rigid)).max() < 1e-13 * size


@pytest.mark.parametrize("kind", ["tetra", "hexahedron20"])
@pytest.mark.parametrize("slip_speed", [0.02, 5.0])
def test_derivatives_are_those_of_the_forces(kind, slip_speed):
    contact, q0, q1, random = rough(kind)
    friction = Friction(contact, 0.4, static=0.7, slip_speed=slip_speed)
    check_derivatives(friction, {"contact": contact}, q0, q1, random, 3e-7)


@pytest.mark.parametrize("kind", [*KINDS, "hexahedron27"])
@pytest.mark.parametrize("part", [0.3, 1.0])
def test_a_uniform_shear_crosses_an_interface_of_distorted_meshes_to_round_off(kind, part):
    """Pressed and sheared alike, both blocks have one stress; the slip velocity is that of the law for its shear."""
    mesh, cells, surface = stacked(kind)
    x, k, speed, mu = mesh.points, 1e8, 1e-3, 0.5
    contact = SegmentContact(surface, x, k)
    F = np.array([[1.0, 0.0, 0.004], [0.0, 1.0, 0.002], [0.0, 0.0, 0.985]])
    stress = RUBBER.stress(F) if hasattr(RUBBER, "stress") else None
    solid = sx.Solid(x, cells, RUBBER)
    # The traction at the interface, from the nodal forces of the lower block alone.
    q = x @ F.T
    forces = solid_forces(solid, q)
    on = np.intersect1d(mesh.nodes_of("low"), np.flatnonzero(x[:, 2] == 0.5))
    traction = -forces[on].sum(axis=0)  # of the whole face, 1 m²
    pressure, shear = -traction[2], traction[:2]
    assert stress is None or np.allclose(stress[:, 2], traction)
    high = mesh.nodes_of("high")
    q[high, 2] += -pressure / k
    law_speed = slip_of(np.linalg.norm(shear) / (mu * pressure) / part, speed)
    v = np.zeros_like(q)
    v[high, :2] = -shear / np.linalg.norm(shear) * law_speed
    friction = Friction(contact, mu * part, slip_speed=speed)
    residual = solid_forces(solid, q) + friction.over(0.0, q, q, v)
    contact.add_gradient(q, gradient := np.zeros_like(q))
    residual -= gradient
    inner = (np.abs(x[:, :2] - 0.5) < 0.5 - 1e-9).all(axis=1) & (x[:, 2] == 0.5)
    assert inner.sum() > 4
    assert np.abs(residual[inner]).max() < 1e-12 * pressure


def solid_forces(solid, q):
    solid.add_gradient(q, gradient := np.zeros_like(q))
    return -gradient


def slip_of(share, speed):
    """Return the slip velocity at which friction is this share of its full size."""
    return speed * (1.0 - math.sqrt(1.0 - share))
