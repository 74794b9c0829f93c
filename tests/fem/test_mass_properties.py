"""Mass, centre and inertia of bodies, and the four particles that have the same."""

import numpy as np
import pytest

from symplex.errors import InvalidSystem, MeshError
from symplex.fem.mass_properties import MassProperties
from symplex.fem.structures.rigidity import Rigidity
from symplex.meshes.closed_surfaces import box_surface, cylinder_surface, sphere_surface
from symplex.meshes.generate import box
from symplex.testing import round_off

TURNED, _ = np.linalg.qr(np.random.default_rng(3).standard_normal((3, 3)))
TURNED *= np.linalg.det(TURNED)


def of_particles(x, mass):
    """Centre and inertia of particles x [4, 3] of a quarter of the mass each."""
    y = x - x.mean(axis=0)
    return x.mean(axis=0), 0.25 * mass * (np.vdot(y, y) * np.eye(3) - y.T @ y)


def test_of_a_box():
    mesh = box_surface((1.0, 2.0, 3.0), (2, 1, 3))
    shift = np.array([100.0, -20.0, 3.0])
    p = MassProperties.of_surface(mesh.points @ TURNED.T + shift, mesh.cells["triangle"], 500.0)
    assert p.mass == pytest.approx(3000.0, rel=1e-13)
    np.testing.assert_allclose(p.center, shift, rtol=1e-13)
    moments = 3000.0 / 12.0 * np.array([4.0 + 9.0, 1.0 + 9.0, 1.0 + 4.0])
    np.testing.assert_allclose(p.inertia, TURNED @ np.diag(moments) @ TURNED.T, atol=1e-9)
    np.testing.assert_allclose(p.radii, np.array([1.0, 2.0, 3.0]) / np.sqrt(12.0), rtol=1e-12)


def test_of_an_l_shaped_body_is_the_sum_of_its_cells():
    """A surface with a notch: the triangles towards one point overlap there, with opposite signs."""
    mesh = box((2.0, 2.0, 1.0), (2, 2, 1), split="6")
    center = mesh.points[mesh.cells["tetra"]].mean(axis=1)
    cells = mesh.cells["tetra"][~((center[:, 0] > 1.0) & (center[:, 1] > 1.0))]
    notched = type(mesh)(mesh.points, {"tetra": cells})
    found = MassProperties.of_surface(mesh.points, notched.boundary_faces["triangle"], 2.0)
    x = mesh.points[cells]
    masses = 2.0 * np.linalg.det(x[:, 1:] - x[:, :1]) / 6.0
    assert found.mass == pytest.approx(masses.sum(), rel=1e-13)
    np.testing.assert_allclose(found.center, masses @ x.mean(axis=1) / masses.sum(), rtol=1e-13)
    # ∫ y yᵀ dm of a tetrahedron: m/20 (Σ y_a Σ y_aᵀ + Σ y_a y_aᵀ)
    y = x - found.center
    second = np.einsum("e,ei,ej->ij", masses, y.sum(axis=1), y.sum(axis=1)) + np.einsum("e,eai,eaj->ij", masses, y, y)
    np.testing.assert_allclose(found.inertia, np.trace(second / 20.0) * np.eye(3) - second / 20.0, atol=1e-12)


@pytest.mark.parametrize(
    ("mesh", "radii"),
    [
        (sphere_surface(2.0, 5), np.full(3, 2.0 / np.sqrt(5.0))),
        (cylinder_surface(1.0, 3.0, 24), np.array([0.5, 0.5, 3.0 / np.sqrt(12.0)])),
    ],
)
def test_of_round_surfaces_tends_to_that_of_round_bodies(mesh, radii):
    p = MassProperties.of_surface(mesh.points, mesh.cells["triangle"], 1.0)
    np.testing.assert_allclose(p.radii, radii, rtol=2e-3)


def test_four_particles_have_the_same_mass_centre_and_inertia():
    inertia = TURNED @ np.diag([3.0, 4.0, 5.0]) @ TURNED.T
    p = MassProperties(7.0, (1.0, 2.0, 3.0), inertia)
    center, of_four = of_particles(p.particles, 7.0)
    np.testing.assert_allclose(center, p.center, rtol=1e-14)
    known_to = round_off.of(np.abs(inertia).max(), 10)
    np.testing.assert_allclose(of_four, inertia, rtol=0.0, atol=known_to)
    np.testing.assert_allclose(p.inertia, inertia, rtol=0.0, atol=known_to)
    assert np.linalg.det(p.axes) == pytest.approx(1.0)
    points = np.random.default_rng(1).standard_normal((20, 3))
    weights = p.weights(points)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(weights @ p.particles, points, atol=1e-13)


def test_all_elastic_frequencies_are_the_one_given():
    """Of a plate as of a cube: six of them, next to six of rigid motions."""
    p = MassProperties(7.0, (1.0, 2.0, 3.0), TURNED @ np.diag([3.0, 4.0, 6.99]) @ TURNED.T)
    energy = Rigidity([[0, 1, 2, 3]], p.radii[None], p.mass, 50.0)
    squared = np.linalg.eigvalsh(energy.hessian(p.particles[None])[0] / (0.25 * p.mass))
    np.testing.assert_allclose(squared, np.repeat([0.0, 2500.0], 6), atol=1e-9)


def test_a_body_that_spins_is_stretched_as_stated():
    """Its particles turn, at rest to each other, where forces are centripetal: a strain of (Ω/ω)² across the axis."""
    p = MassProperties(7.0, (0.0, 0.0, 0.0), np.diag([3.0, 4.0, 5.0]))
    energy, spin = Rigidity([[0, 1, 2, 3]], p.radii[None], p.mass, 50.0), 5.0
    across = np.array([1.0, 1.0, 0.0])
    x = p.particles * (1.0 + (np.sqrt(1.0 + 2.0 * (spin / 50.0) ** 2) - 1.0) * across)
    np.testing.assert_allclose(energy.gradient(x[None])[0], 0.25 * p.mass * spin**2 * x * across, atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((-1.0, (0, 0, 0), (1, 1, 1)), "the mass of a body must be positive; it is -1 kg"),
        ((1.0, (0, 0), (1, 1, 1)), "the centre of a body must be three finite numbers"),
        ((1.0, (0, 0, 0), (1, 1)), "three principal moments, or a symmetric matrix"),
        ((1.0, (0, 0, 0), (1, 1, 3)), "none may exceed the sum of the others"),
        ((1.0, (0, 0, 0), (1, 1, 2)), "no extent along"),
        ((1.0, (0, 0, 0), (0, 1, 1)), "no extent along"),
    ],
)
def test_bodies_that_do_not_exist_are_refused(arguments, says):
    with pytest.raises(InvalidSystem, match=says):
        MassProperties(*arguments)


def test_surfaces_without_mass_are_refused():
    mesh = box_surface((1.0, 2.0, 3.0))
    triangles = mesh.cells["triangle"]
    with pytest.raises(InvalidSystem, match="the density of a body must be positive; it is 0 kg/m³"):
        MassProperties.of_surface(mesh.points, triangles, 0.0)
    with pytest.raises(MeshError, match="their normals point inwards"):
        MassProperties.of_surface(mesh.points, triangles[:, ::-1], 1.0)
    flat = mesh.points * [1.0, 1.0, 0.0]
    with pytest.raises(MeshError, match="bound no volume"):
        MassProperties.of_surface(flat, triangles, 1.0)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"nodes": [[0, 1, 2]]}, "the nodes have shape"),
        ({"radii": [[1.0, 0.0, 1.0]]}, "the radii must be positive; one is 0.0 m"),
        ({"mass": -2.0}, "the mass must be positive; one is -2.0 kg"),
        ({"frequency": np.inf}, "the frequency must be positive; one is inf rad/s"),
        ({"mass": [1.0, 2.0]}, "the mass have shape"),
    ],
)
def test_bad_rigidity_is_refused(changed, says):
    given = {"nodes": [[0, 1, 2, 3]], "radii": [[1.0, 1.0, 1.0]], "mass": 1.0, "frequency": 1.0} | changed
    with pytest.raises(InvalidSystem, match=says):
        Rigidity(**given)
