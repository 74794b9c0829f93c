"""Closed surfaces of triangles: closed, outward, of the size that was asked for, with triangles of about one size."""

import numpy as np
import pytest

from symplex.errors import MeshError
from symplex.meshes.closed_surfaces import box_surface, cylinder_surface, sphere_surface

SURFACES = {
    "icosahedron": (sphere_surface(2.0, 0), 0.6055 * 4.0 / 3.0 * np.pi * 8.0, 12, 20),
    "sphere": (sphere_surface(2.0, 3), 0.9907 * 4.0 / 3.0 * np.pi * 8.0, 642, 1280),
    "prism": (cylinder_surface(1.0, 3.0, 1, 1), 3.0 * 1.5 * np.sqrt(3.0), 14, 24),
    "cylinder": (cylinder_surface(1.0, 3.0, 6), 3.0 * 18.0 * np.sin(np.pi / 18.0), 830, 1656),
    "box": (box_surface((1.0, 2.0, 3.0), (2, 3, 4)), 6.0, 54, 104),
}


def sides(triangles):
    return triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)


@pytest.mark.parametrize("name", SURFACES)
def test_closed_surfaces(name):
    mesh, volume, n_points, n_triangles = SURFACES[name]
    triangles = mesh.cells["triangle"]
    assert (len(mesh.points), len(triangles)) == (n_points, n_triangles)
    assert len(np.unique(triangles)) == n_points
    there = set(map(tuple, sides(triangles).tolist()))
    assert len(there) == 3 * n_triangles  # each side once
    assert all((b, a) in there for a, b in there)  # and once the other way
    x = mesh.points[triangles]
    assert np.linalg.det(x).sum() / 6.0 == pytest.approx(volume, rel=1e-3)
    np.testing.assert_allclose(mesh.points.max(axis=0), -mesh.points.min(axis=0), atol=1e-12)


def test_triangles_of_round_surfaces_are_of_about_one_size():
    for mesh, ratio in ((sphere_surface(1.0, 4), 1.2), (cylinder_surface(1.0, 3.0, 8), 1.5)):
        edges = sides(mesh.cells["triangle"])
        lengths = np.linalg.norm(mesh.points[edges[:, 1]] - mesh.points[edges[:, 0]], axis=1)
        assert lengths.max() < ratio * lengths.min()
    np.testing.assert_allclose(np.linalg.norm(sphere_surface(0.3, 3).points, axis=1), 0.3, rtol=1e-15)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: sphere_surface(0.0), "the radius of a sphere must be positive; it is 0 m"),
        (lambda: sphere_surface(1.0, 10), "0 to 9 refinements, not 10"),
        (lambda: cylinder_surface(1.0, -2.0), "the length of a cylinder must be positive; it is -2 m"),
        (lambda: cylinder_surface(1.0, 2.0, 0), "one ring and one layer at least"),
        (lambda: cylinder_surface(1.0, 1e9), "more than 20000000 triangles"),
        (lambda: box_surface((1.0, 2.0)), "the size of a box is three lengths"),
        (lambda: box_surface((1.0, 2.0, 0.0)), "positive sizes"),
    ],
)
def test_bad_sizes_are_refused(make, says):
    with pytest.raises(MeshError, match=says):
        make()
