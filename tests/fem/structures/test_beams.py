"""Beams: their matrix for small displacements, what is the same after rotations, masses, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from reference.lines import SOFT, line, spaghetti, straight
from symplex.errors import InvalidSystem, MeshError
from symplex.fem.structures.beam import beams
from symplex.fem.structures.sections import BeamProperties
from symplex.meshes.mesh import Mesh

UNEQUAL = BeamProperties(5.0, (2.0, 3.0), (0.7, 0.9), 0.4, 1.0, (0.1, 0.2))


def motions(built):
    """The motions [12·n, 6·f] of particles for displacements and rotations of frames."""
    columns = []
    for frame in range(len(built.frames)):
        for axis in range(6):
            values = np.zeros((2, len(built.frames), 3))
            values[axis // 3, frame, axis % 3] = 1.0
            columns.append(built.frames.velocities(built.points, *values).ravel())
    return np.array(columns).T


def timoshenko(L, EA, GA, EI, GJ):
    """The stiffness [12, 12] of a beam along z with the axes 1 and 2 along x and y."""
    K = np.zeros((12, 12))
    for u, theta, k, bending, sign in ((0, 4, GA[0], EI[1], 1.0), (1, 3, GA[1], EI[0], -1.0)):
        phi = 12.0 * bending / (k * L**2)
        four, two, six = (4.0 + phi) * L**2, (2.0 - phi) * L**2, 6.0 * L * sign
        block = [[12.0, six, -12.0, six], [six, four, -six, two], [-12.0, -six, 12.0, -six], [six, two, -six, four]]
        at = [u, theta, u + 6, theta + 6]
        K[np.ix_(at, at)] += bending / ((1.0 + phi) * L**3) * np.array(block)
    for at, k in ((2, EA / L), (5, GJ / L)):
        K[np.ix_([at, at + 6], [at, at + 6])] += k * np.array([[1.0, -1.0], [-1.0, 1.0]])
    return K


@pytest.mark.parametrize("formulation", ["green", "reissner"])
def test_small_displacements_have_timoshenkos_matrix(formulation):
    built = beams(line([[0, 0, 0], [0, 0, 1.7]]), UNEQUAL, (1.0, 0.0, 0.3), formulation=formulation)
    P = motions(built)
    found = P.T @ built.energy.hessian(built.points[built.energy.nodes])[0] @ P
    expected = timoshenko(1.7, 5.0, (2.0, 3.0), (0.7, 0.9), 0.4)
    assert_allclose(found, expected, atol=2e-14 * np.abs(expected).max())


@pytest.mark.parametrize("axis", range(3))
def test_the_energy_of_a_relative_rotation_is_of_sixth_order_off_the_square_of_the_angle(axis):
    """Rigid rotations of both ends against each other about one axis, 0.4 and 0.2 rad."""
    built = beams(line([[0, 0, 0], [0, 0, 1.0]]), UNEQUAL, (1.0, 0.0, 0.0))
    B, x = (0.7, 0.9, 0.4)[axis], built.points.reshape(2, 4, 3)
    errors = []
    for angle in (0.4, 0.2):
        turn = Rotation.from_rotvec(0.5 * angle * np.eye(3)[axis]).as_matrix()
        arms = x - x.mean(axis=1, keepdims=True)
        q = (x.mean(axis=1, keepdims=True) + np.stack([arms[0] @ turn, arms[1] @ turn.T])).reshape(1, 8, 3)
        stresses, strains = built.energy.stiffness[0], built.energy.strains(q)[0]
        bending = built.energy.stress[0] @ strains + 0.5 * strains[3:6] @ stresses[3:6, 3:6] @ strains[3:6]
        errors.append(bending / (0.5 * B * angle**2) - 1.0)
    assert_allclose(errors[0] / errors[1], 16.0, rtol=0.05)
    assert abs(errors[0]) < 1e-3


def test_the_energy_is_the_same_after_rotations():
    built = spaghetti()
    q = built.points + 0.1 * np.random.default_rng(0).standard_normal(built.points.shape)
    turn = Rotation.from_rotvec([1.0, -2.0, 0.5]).as_matrix()
    before = built.energy.total(q)
    assert abs(built.energy.total(q @ turn.T) / before - 1.0) < 2e-14


def test_masses_and_inertia_of_a_line():
    """The inertia of particles: of points of mass on the line, and the section's about it."""
    built = beams(straight(4, 2.0), UNEQUAL, (0.0, 0.0, 1.0))
    assert_allclose(built.mass.sum(), 2.0)
    second = np.einsum("n,ni,nj->ij", built.mass, built.points, built.points)
    x = np.linspace(0.0, 2.0, 5)
    along = (np.array([0.25, 0.5, 0.5, 0.5, 0.25]) * x**2).sum() + 2.0 * 0.5**2 / 12.0 / 16.0
    assert_allclose(second, np.diag([along, 2.0 * 0.2, 2.0 * 0.1]), atol=1e-14)
    longer = beams(straight(4, 2.0), UNEQUAL, (0.0, 0.0, 1.0), extent=1.0)
    long = np.einsum("n,ni,nj->ij", longer.mass, longer.points, longer.points)
    assert_allclose(np.diag(long)[1:], np.diag(second)[1:])


def test_beams_may_meet_at_any_angle():
    """Where they meet a node has the inertia of both halves; nothing is stressed."""
    built = beams(line([[0, 0, 0], [1, 0, 0], [1, 2, 0], [1, 2, 0.5]]), UNEQUAL, (1.0, 1.0, 1.0))
    assert_allclose(built.mass.reshape(-1, 4).sum(axis=1), [0.5, 1.5, 1.25, 0.25])
    assert np.abs(built.energy.gradient(built.points[built.energy.nodes])).max() < 1e-13
    assert_allclose(built.section_forces(built.points), 0.0, atol=1e-13)


def test_a_direction_for_each_element():
    mesh, ups = straight(2, 2.0), [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    assert_allclose(beams(mesh, SOFT, ups).axes[:, 0], ups)


def test_forces_in_sections_are_those_of_a_stretched_and_twisted_beam():
    built = beams(straight(1, 2.0), UNEQUAL, (0.0, 0.0, 1.0))  # 1 along z, 2 along −y
    q = built.points.copy()
    q[4:, 0] += 1e-6
    q[4:] += built.frames.velocities(built.points, 0.0, [[0, 0, 0], [1e-6, 0, 0]])[4:]
    assert_allclose(built.section_forces(q)[0], [5.0 * 0.5e-6, 0, 0, 0, 0, 0.4 * 0.5e-6], rtol=1e-5, atol=1e-11)


@pytest.mark.parametrize(
    ("points", "cells", "up", "error", "message"),
    [
        ([[0, 0, 0], [1, 0, 0]], [[0, 1]], (2.0, 0.0, 0.0), InvalidSystem, "up must not be along a line, as it is for"),
        ([[0, 0, 0], [1, 0, 0]], [[0, 1]], (2.0, 0.0), InvalidSystem, r"up must be finite, of shape \(3,\)"),
        ([[0, 0, 0], [0, 0, 0]], [[0, 1]], (0.0, 0.0, 1.0), MeshError, "both ends of line 0 are at one place"),
        ([[0, 0, 0], [1, 0, 0], [2, 0, 0]], [[0, 1]], (0.0, 0.0, 1.0), MeshError, "point 2 is on none"),
        ([[0, 0], [1, 0]], [[0, 1]], (0.0, 0.0, 1.0), MeshError, "points must have three coordinates, got 2"),
        ([[0, 0, 0], [1, 0, 0]], np.empty((0, 2), int), (0.0, 0.0, 1.0), MeshError, "must have cells 'line', got none"),
        ([[0, 0, 0], [1e18, 0, 0]], [[0, 1]], (0, 0, 1), InvalidSystem, "too thin for the lines at node 0"),
    ],
)
def test_what_is_wrong_is_refused(points, cells, up, error, message):
    mesh = Mesh(np.array(points, float), {"line": np.array(cells, np.int32)})
    with pytest.raises(error, match=message):
        beams(mesh, SOFT, up)


def test_nodes_must_be_those_of_the_mesh():
    with pytest.raises(InvalidSystem, match="nodes"):
        spaghetti(2).fixed([3])
    with pytest.raises(InvalidSystem, match=r"extent must be between 0\.01 and 1, got 2"):
        beams(straight(2, 1.0), SOFT, (0.0, 0.0, 1.0), extent=2.0)
