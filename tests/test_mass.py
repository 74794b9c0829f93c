"""Lumped and consistent mass: totals, exact integrals, agreement with dense assembly."""

import numpy as np
import pytest

from symplex.errors import InvalidSystem, MeshError
from symplex.fem.mass import add_consistent_mass, consistent_mass, lumped_mass
from symplex.meshes.generate import box


@pytest.fixture
def body():
    mesh = box((0.3, 0.2, 0.1), (3, 2, 2))
    return mesh.points, mesh.cells["tetra"]


def test_total_mass(body):
    points, cells = body
    n = len(points)
    assert lumped_mass(points, cells, 2700.0, n).sum() == pytest.approx(2700 * 0.006)
    assert consistent_mass(points, cells, 2700.0, n).sum() == pytest.approx(2700 * 0.006)


def test_lumped_mass_is_the_row_sum_of_the_consistent_one(body):
    points, cells = body
    rows = consistent_mass(points, cells, 7.0, len(points)).sum(axis=1)
    np.testing.assert_allclose(lumped_mass(points, cells, 7.0, len(points)), rows, rtol=1e-12)


def test_consistent_mass_integrates_products_of_linear_fields_exactly(body):
    points, cells = body
    M = consistent_mass(points, cells, 2.0, len(points))
    x, y, _ = points.T
    low, high = points.min(axis=0), points.max(axis=0)
    size = high - low
    centre = (low + high) / 2
    assert x @ (M @ y) == pytest.approx(2.0 * size.prod() * centre[0] * centre[1])
    assert x @ (M @ x) == pytest.approx(2.0 * size.prod() * (centre[0] ** 2 + size[0] ** 2 / 12))


def test_consistent_mass_of_one_tetrahedron():
    points = np.vstack([np.zeros(3), np.eye(3)])
    M = consistent_mass(points, np.array([[0, 1, 2, 3]], np.int32), 120.0, 5).toarray()
    np.testing.assert_allclose(M[:4, :4], 1.0 + np.eye(4), rtol=1e-15)
    assert not M[4].any()


def test_consistent_mass_is_symmetric_with_sorted_columns(body):
    points, cells = body
    M = consistent_mass(points, cells, 1.0, len(points))
    assert abs(M - M.T).max() < 1e-16
    assert M.has_sorted_indices
    assert M.has_canonical_format


def test_inverted_elements_are_named(body):
    points, cells = body
    cells = cells.copy()
    cells[7] = cells[7, [1, 0, 2, 3]]
    with pytest.raises(MeshError, match=r"elements 7\b.*1 inverted"):
        lumped_mass(points, cells, 1.0, len(points))
    with pytest.raises(MeshError, match=r"elements 7\b.*1 inverted"):
        add_consistent_mass(points, cells, 1.0, np.zeros((len(cells), 4, 4), np.int32), np.zeros(1))


def test_flat_elements_have_no_mass_of_either_kind():
    points = np.vstack([np.zeros(3), np.eye(3)])
    points[3] = [0.3, 0.3, 1e-14]
    cells = np.array([[0, 1, 2, 3]], np.int32)
    for mass in (lumped_mass, consistent_mass):
        with pytest.raises(MeshError, match="1 flat"):
            mass(points, cells, 1.0, 4)


def test_elements_on_nodes_that_do_not_exist_are_refused(body):
    points, cells = body
    for mass in (lumped_mass, consistent_mass):
        with pytest.raises(InvalidSystem, match=f"but there are {len(points) - 1} nodes"):
            mass(points, cells, 1.0, len(points) - 1)
        with pytest.raises(InvalidSystem, match=f"but there are {len(points) - 1} nodes"):
            mass(points[:-1], cells, 1.0, len(points))
