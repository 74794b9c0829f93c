"""Nodes tied to surfaces, springs to a fixed point, velocities at the start."""

import numpy as np
import pytest

import symplex as sx
from symplex.errors import InvalidSystem
from symplex.fem.couplings.ties import feet, tie_to_surface
from symplex.fem.velocities import velocity_field
from symplex.meshes.joining import join_nodes


def surface(n=6):
    """A wavy surface of 2 n² triangles and points above it."""
    grid = np.linspace(0.0, 1.0, n + 1)
    x, y = np.meshgrid(grid, grid, indexing="ij")
    points = np.column_stack([x.ravel(), y.ravel(), 0.1 * np.sin(5 * x * y).ravel()])
    place = np.arange((n + 1) ** 2).reshape(n + 1, n + 1)
    a, b, c, d = place[:-1, :-1].ravel(), place[1:, :-1].ravel(), place[1:, 1:].ravel(), place[:-1, 1:].ravel()
    return points, np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])]).astype(np.int32)


def test_feet_are_the_nearest_points():
    """Against the best of many points on all triangles."""
    points, triangles = surface()
    above = np.random.default_rng(0).uniform(-0.2, 1.2, (40, 3))
    every = np.concatenate([points, above])
    found = feet(every, np.arange(len(points), len(every)), triangles)
    weights = np.array([(i, j, 24 - i - j) for i in range(25) for j in range(25 - i)]) / 24.0
    samples = np.einsum("wa,fai->fwi", weights, points[triangles]).reshape(-1, 3)
    least = np.array([np.linalg.norm(samples - x, axis=1).min() for x in above])
    assert (found.distances <= least + 1e-14).all()
    np.testing.assert_allclose(found.distances, least, atol=5e-3)
    at = np.einsum("ma,mai->mi", found.weights, points[found.triangles])
    np.testing.assert_allclose(np.linalg.norm(at - above, axis=1), found.distances, rtol=1e-12)
    assert found.weights.min() >= 0.0
    np.testing.assert_allclose(found.weights.sum(axis=1), 1.0, rtol=1e-14)


def test_the_nearest_triangle_may_be_a_large_one_far_away():
    points, triangles = surface()
    large = np.array([[-9.0, -9, -0.3], [9, -9, -0.3], [0, 30, -0.3]])
    every = np.concatenate([points, large, [[0.5, 0.5, -0.25]]])
    n = len(points)
    found = feet(every, np.array([n + 3]), np.concatenate([triangles, [[n, n + 1, n + 2]]]))
    assert found.distances == pytest.approx(0.05)
    np.testing.assert_array_equal(found.triangles, [[n, n + 1, n + 2]])


def test_a_tie_is_the_energy_of_the_gaps():
    points, triangles = surface(2)
    every = np.concatenate([points, [[0.3, 0.6, 0.2], [0.7, 0.2, 0.1]]])
    energy = tie_to_surface(every, [9, 10], triangles, [3.0, 5.0])
    found = feet(every, np.array([9, 10]), triangles)
    assert energy.total(every) == pytest.approx(0.5 * np.array([3.0, 5.0]) @ found.distances**2)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"nodes": [0]}, "node 0 is on the surface already"),
        ({"nodes": []}, "at least one of each"),
        ({"nodes": [99]}, "99"),
        ({"triangles": [[0, 1]]}, "expected nodes"),
        ({"stiffness": -1.0}, "stiffness"),
    ],
)
def test_mistakes_in_ties(change, says):
    points, triangles = surface(2)
    every = np.concatenate([points, [[0.3, 0.6, 0.2]]])
    with pytest.raises(sx.SymplexError, match=says):
        tie_to_surface(**({"points": every, "nodes": [9], "triangles": triangles, "stiffness": 1.0} | change))


def test_springs_to_a_point():
    law = sx.measures.EngineeringStrain([10.0, 20.0], [1.0, 0.5])
    energy = sx.measures.Anchors([2, 0], (1.0, 0.0, 0.0), law)
    q = np.array([[1.0, 0.0, 2.0], [9.0, 9.0, 9.0], [4.0, 4.0, 0.0]])
    np.testing.assert_allclose(energy.lengths(q), [5.0, 2.0])
    np.testing.assert_allclose(energy.tensions(q), [40.0, 30.0])
    np.testing.assert_allclose(energy.value(q[energy.nodes]), [80.0, 22.5])
    for arguments in (([0], (np.nan, 0, 0), law), ([0, 1, 2], (0, 0, 0), law), ([0, 1], np.zeros(4), law)):
        with pytest.raises(InvalidSystem, match="Anchors"):
            sx.measures.Anchors(*arguments)


def test_velocity_fields():
    x = np.random.default_rng(1).standard_normal((5, 3))
    G = np.arange(9.0).reshape(3, 3)
    v = velocity_field(x, velocity=[1, 2, 3], angular_velocity=[0, 0, 2], gradient=G, point=[1, 0, 0])
    arm = x - [1, 0, 0]
    expected = np.cross([0, 0, 2], arm) + np.einsum("ij,nj->ni", G, arm)
    np.testing.assert_allclose(v, expected + np.array([1, 2, 3]))
    for wrong in ({"velocity": [1, 2]}, {"gradient": [1, 2, 3]}, {"point": [np.inf, 0, 0]}, {"velocity": "fast"}):
        with pytest.raises(InvalidSystem, match="velocity_field"):
            velocity_field(x, **wrong)


def test_nodes_are_joined():
    """Chains of pairs become one node; cells and groups follow."""
    one = sx.box((1, 1, 1), (1, 1, 1), split="hexahedra")
    mesh = sx.merge({"a": one, "b": one})
    joined = join_nodes(mesh, np.column_stack([np.arange(8), np.arange(8, 16)]))
    assert len(joined.points) == 8
    np.testing.assert_array_equal(joined.cells_of("hexahedron", "a"), joined.cells_of("hexahedron", "b"))
    assert len(join_nodes(mesh, [[0, 8], [8, 8]]).points) == 15
    assert join_nodes(mesh, []) is mesh
    for pairs, says in (([[0, 1]], "two nodes of one"), ([[0, 99]], "indices below 16"), ([[0.5, 1]], "indices below")):
        with pytest.raises(sx.SymplexError, match=says):
            join_nodes(mesh, pairs)


def test_a_triangle_without_area_is_refused():
    points = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
    with pytest.raises(InvalidSystem, match=r"a triangle without area at \(1, 0, 0\) m"):
        feet(points, np.array([3]), np.array([[0, 1, 2]]))
