"""Lumped and consistent mass: totals, exact integrals, agreement with dense assembly."""

import numpy as np
import pytest

from reference.boxes import LINEAR, QUADRATIC, SOLID_KINDS, WITH_CENTRES, box_of
from symplex.errors import InvalidSystem, MeshError
from symplex.fem.actions import mass as mass_of_solids
from symplex.fem.actions.mass import add_consistent_mass, bar_mass, consistent_bar_mass, consistent_mass, lumped_mass
from symplex.fem.solids import tetrahedra as tetrahedra_of_solids

SIZE = (0.3, 0.2, 0.1)


def body_of(kind):
    """A box of 0.3 × 0.2 × 0.1 m, of one type of cells."""
    return box_of(kind, SIZE, (3, 2, 2))


@pytest.fixture(params=SOLID_KINDS)
def body(request):
    mesh = body_of(request.param)
    return mesh.points, mesh.cells[request.param]


@pytest.fixture
def tetrahedra():
    mesh = body_of("tetra")
    return mesh.points, mesh.cells["tetra"]


def test_total_mass(body):
    points, cells = body
    n = len(points)
    assert lumped_mass(points, cells, 2700.0, n).sum() == pytest.approx(2700 * 0.006)
    assert consistent_mass(points, cells, 2700.0, n).sum() == pytest.approx(2700 * 0.006)


def bent(points):
    """Positions from which hexahedra are no parallelepipeds, and edges of quadratic tetrahedra are curved."""
    x, y, z = points.T
    return np.column_stack([x + 0.8 * y * z, y - 0.5 * x * z, z + 0.9 * x * y])


@pytest.mark.parametrize("kind", [kind for kind in QUADRATIC if kind not in WITH_CENTRES])
def test_lumped_mass_of_quadratic_elements_is_positive(kind):
    mesh = body_of(kind)
    masses = lumped_mass(bent(mesh.points), mesh.cells[kind], 7.0, len(mesh.points))
    consistent = consistent_mass(bent(mesh.points), mesh.cells[kind], 7.0, len(mesh.points))
    assert masses.min() > 0
    assert np.ravel(consistent.sum(axis=1)).min() < 0  # why row sums will not do
    assert masses.sum() == pytest.approx(consistent.sum())


def test_lumped_mass_of_hexahedra_with_all_nodes_is_the_row_sum_of_the_consistent_one():
    """Where they are parallelepipeds: by Simpson's rule, 1 : 4 : 16 : 64 at corners, edges, faces and the middle."""
    mesh = body_of("hexahedron27")
    cells, n = mesh.cells["hexahedron27"], len(mesh.points)
    masses = lumped_mass(mesh.points, cells, 7.0, n)
    np.testing.assert_allclose(masses, consistent_mass(mesh.points, cells, 7.0, n).sum(axis=1), rtol=1e-12)
    one = lumped_mass(mesh.points, cells[:1], 7.0, n)[cells[0]]
    np.testing.assert_allclose(one / one[0], [1.0] * 8 + [4.0] * 12 + [16.0] * 6 + [64.0], rtol=1e-12)


@pytest.mark.parametrize("kind", QUADRATIC)
def test_consistent_mass_of_curved_cells_is_exact(kind):
    """The bent box is what its quadratic cells interpolate: volume and first moment by Gauss' rule in the box."""
    x, w = np.polynomial.legendre.leggauss(5)
    X, Y, Z = (0.5 * size * (1 + axis) for size, axis in zip((0.3, 0.2, 0.1), np.meshgrid(x, x, x), strict=True))
    weights = np.prod(np.meshgrid(w, w, w), axis=0) * 0.006 / 8
    jacobian = np.array([[1 + 0 * X, 0.8 * Z, 0.8 * Y], [-0.5 * Z, 1 + 0 * X, -0.5 * X], [0.9 * Y, 0.9 * X, 1 + 0 * X]])
    det = np.linalg.det(np.moveaxis(jacobian, (0, 1), (-2, -1)))
    volume = float((weights * det).sum())
    moment = float((weights * det * (X + 0.8 * Y * Z)).sum())
    mesh = body_of(kind)
    points = bent(mesh.points)
    M = consistent_mass(points, mesh.cells[kind], 1.0, len(points))
    assert M.sum() == pytest.approx(volume, rel=1e-12)
    assert (M @ points[:, 0]).sum() == pytest.approx(moment, rel=1e-12)


@pytest.mark.parametrize("kind", LINEAR)
def test_lumped_mass_is_the_row_sum_of_the_consistent_one(kind):
    points, cells = bent(body_of(kind).points), body_of(kind).cells[kind]
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


def test_inverted_elements_are_named(tetrahedra):
    points, cells = tetrahedra
    cells = cells.copy()
    cells[7] = cells[7, [1, 0, 2, 3]]
    with pytest.raises(MeshError, match=r"elements 7\b.*1 inverted"):
        lumped_mass(points, cells, 1.0, len(points))
    with pytest.raises(MeshError, match=r"elements 7\b.*1 inverted"):
        add_consistent_mass(points, cells, 1.0, np.zeros((len(cells), 4, 4), np.int32), np.zeros(1))


@pytest.mark.parametrize("kind", ["hexahedron", "tetra10"])
def test_inverted_elements_of_other_types_are_named(kind):
    mesh = body_of(kind)
    cells = mesh.cells[kind].copy()
    cells[7] = cells[7, [4, 5, 6, 7, 0, 1, 2, 3] if kind == "hexahedron" else [1, 0, 2, 3, 4, 6, 5, 8, 7, 9]]
    for mass in (lumped_mass, consistent_mass):
        with pytest.raises(MeshError, match=rf"1 of {len(cells)} cells '{kind}' .*element 7 .*1 inverted"):
            mass(mesh.points, cells, 1.0, len(mesh.points))


def test_cells_of_other_types_are_refused():
    for mass in (lumped_mass, consistent_mass):
        with pytest.raises(InvalidSystem, match=r"the mass: cells have shape \(2, 7\), expected"):
            mass(np.zeros((7, 3)), np.zeros((2, 7), np.int32), 1.0, 7)


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


# -- bars -------------------------------------------------------------------------------------------------------------


def test_mass_of_bars():
    points = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 0.0], [9.0, 9.0]])
    pairs = np.array([[0, 1], [1, 2]], np.int32)
    lumped = bar_mass(points, pairs, 10.0, [0.2, 0.5], 4)
    np.testing.assert_allclose(lumped, [5.0, 15.0, 10.0, 0.0], rtol=1e-15)
    M = consistent_bar_mass(points, pairs, 10.0, [0.2, 0.5], 4)
    np.testing.assert_allclose(np.ravel(M.sum(axis=1)), lumped, rtol=1e-15)
    np.testing.assert_allclose(M.toarray()[:2, :2], [[10 / 3, 10 / 6], [10 / 6, 10 / 3 + 20 / 3]], rtol=1e-15)


def test_bars_without_mass_are_refused():
    points, pairs = np.zeros((3, 3)), np.array([[0, 1], [1, 2]], np.int32)
    points[0, 0] = 1.0
    with pytest.raises(MeshError, match=r"bar 1 \(nodes 1 and 2\) has no length"):
        bar_mass(points, pairs, 1.0, 1.0, 3)
    points[2, 0] = 1.0
    with pytest.raises(InvalidSystem, match=r"area is 0\.0 m²"):
        bar_mass(points, pairs, 1.0, [1.0, 0.0], 3)
    with pytest.raises(InvalidSystem, match="density is nan"):
        consistent_bar_mass(points, pairs, np.nan, 1.0, 3)
    with pytest.raises(InvalidSystem, match="but there are 2 nodes"):
        bar_mass(points, pairs, 1.0, 1.0, 2)
    with pytest.raises(InvalidSystem, match=r"shape \(2, 3\)"):
        bar_mass(points, np.zeros((2, 3), np.int32), 1.0, 1.0, 3)


def test_mass_of_quadratic_tetrahedra_with_straight_edges_is_that_of_curved_ones():
    """Those with straight edges have one Jacobian, others are integrated point by point: here some of both."""
    mesh = body_of("tetra10")
    cells, n = mesh.cells["tetra10"], len(mesh.points)
    points = mesh.points.copy()
    moved = np.unique(cells[:3, 4:])
    points[moved] += 1e-9 * np.random.default_rng(0).standard_normal((len(moved), 3))
    curved = np.isin(cells[:, 4:], moved).any(axis=1)
    np.testing.assert_array_equal(np.isnan(tetrahedra_of_solids.straight_determinants(points, cells)), curved)
    assert 0 < curved.sum() < len(cells)
    for mass in (lumped_mass, consistent_mass):
        straight, some_curved = mass(mesh.points, cells, 7.0, n), mass(points, cells, 7.0, n)
        assert 0.0 < abs(some_curved - straight).max() < 1e-6 * abs(straight).max()


def test_wrong_elements_have_their_numbers_among_all(monkeypatch):
    monkeypatch.setattr(mass_of_solids, "_CHUNK", 8)
    mesh = body_of("hexahedron")
    cells = mesh.cells["hexahedron"].copy()
    cells[10] = cells[10, [4, 5, 6, 7, 0, 1, 2, 3]]
    with pytest.raises(MeshError, match=rf"1 of {len(cells)} cells .*element 10 "):
        lumped_mass(mesh.points, cells, 1.0, len(mesh.points))
