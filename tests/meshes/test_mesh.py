"""Groups, boundaries, merging; finding and mending what is wrong with a mesh."""

import numpy as np
import pytest

from symplex.errors import MeshError
from symplex.meshes.bundled_meshes import bundled, bundled_names
from symplex.meshes.formats.read import read_mesh
from symplex.meshes.generate import bar_lattice, box
from symplex.meshes.kinds import dimension_of
from symplex.meshes.mesh import Mesh, merge, row_order, take
from symplex.meshes.quality import check_mesh, describe, shape_quality, volumes
from symplex.meshes.repair import drop_duplicates, drop_unconnected, orient


def cube(split="6", **kwargs):
    return box((1, 1, 1), (2, 2, 2), split=split, **kwargs)


def with_cells(mesh, **cells):
    return Mesh(mesh.points, {**mesh.cells, **cells}, mesh.cell_groups, mesh.point_groups)


def test_groups_are_found_or_named():
    mesh = cube()
    assert len(mesh.cells_of("tetra", "body")) == len(mesh.cells_of("tetra")) == 48
    assert mesh.cells_of("quad").shape == (0, 0)
    assert mesh.points[mesh.nodes_of("z_max")][:, 2] == pytest.approx(1.0)
    with pytest.raises(MeshError, match=r"'top' is not in the mesh; it has: body, x_max"):
        mesh.nodes_of("top")


@pytest.mark.parametrize("split", ["24", "hexahedra"])
def test_boundary(split):
    mesh = cube(split)
    on_side = np.any((mesh.points == 0) | (mesh.points == 1), axis=1)
    assert np.array_equal(mesh.boundary_nodes, np.flatnonzero(on_side))
    assert bar_lattice((1,), (2,)).boundary_nodes.size == 0


@pytest.mark.parametrize("largest", [9, 2_000_000_000])
@pytest.mark.parametrize("width", [3, 4, 8])
def test_rows_alike_are_found_whatever_their_numbers(width, largest):
    rng = np.random.default_rng(2)
    rows = np.stack([rng.choice(9, width, replace=False) for _ in range(300)]).astype(np.int32)
    rows[rows == 8] = largest
    order, new = row_order(rows)
    ordered = np.sort(rows[order], axis=1)
    same = (ordered[1:] == ordered[:-1]).all(axis=1)
    assert np.array_equal(new[1:], ~same)
    assert new.sum() == len(np.unique(np.sort(rows, axis=1), axis=0))


def test_merge_keeps_bodies_apart_and_names_their_groups():
    first, second = cube(), box((2, 1, 1), (1, 1, 1), split="hexahedra", origin=(3, 0, 0))
    second = Mesh(second.points, second.cells, second.cell_groups, {"tip": np.array([1], np.int32)})
    both = merge({"cube": first, "block": second})
    assert describe(both).bodies == 2
    assert describe(both).volume == pytest.approx(3)
    assert both.cell_groups["block"].keys() == {"hexahedron", "quad"}
    assert np.array_equal(both.nodes_of("block"), np.arange(27, 35))
    assert np.array_equal(both.points[both.nodes_of("block.x_max")][:, 0], [5.0] * 4)
    assert both.point_groups["block.tip"].tolist() == [28]
    assert len(both.cells_of("triangle", "cube.y_min")) == 8
    three = merge({"a": first, "b": both, "c": first})
    assert np.array_equal(three.points[three.nodes_of("c.x_min")], first.points[first.nodes_of("x_min")])
    assert three.cells_of("tetra", "c").min() == 27 + 35
    for kind, cells in three.cells.items():
        assert cells.dtype == np.int32, kind


def test_merge_refuses_what_does_not_fit():
    with pytest.raises(MeshError, match="nothing to merge"):
        merge({})
    with pytest.raises(MeshError, match=r"dimension.*'b': 2"):
        merge({"a": cube(), "b": bar_lattice((1, 1), (1, 1))})


def test_take_renumbers_groups_and_drops_empty_ones():
    mesh = cube()
    part = mesh.cell_groups["x_min"]["triangle"]
    kept = take(mesh, np.arange(len(mesh.points))[::-1], {"tetra": np.arange(48), "triangle": part})
    assert kept.groups == ["body", "x_min"]
    assert np.array_equal(kept.points[kept.nodes_of("x_min")][:, 0], np.zeros(9))
    assert describe(kept).volume == pytest.approx(1)


def test_dimensions_of_cells():
    assert [dimension_of(kind) for kind in ("vertex", "line3", "quad8", "tetra10", "wedge")] == [0, 1, 2, 3, 3]
    with pytest.raises(MeshError, match="'blob'"):
        dimension_of("blob")


# -- checks and repairs ---------------------------------------------------------------------------------------


def spoilt(split):
    """Return a mesh and the same with every third cell and face turned round, four cells twice, one node too many."""
    mesh = cube(split)
    turned = {
        "tetra": [1, 0, 2, 3],
        "hexahedron": [4, 5, 6, 7, 0, 1, 2, 3],
        "triangle": [1, 0, 2],
        "quad": [3, 2, 1, 0],
    }
    cells = {}
    for kind, right in mesh.cells.items():
        wrong = right.copy()
        wrong[::3] = wrong[::3][:, turned[kind]]
        cells[kind] = np.concatenate([wrong, right[:4]])
    points = np.concatenate([mesh.points, [[9.0, 9.0, 9.0]]])
    extra = {"end": np.array([len(mesh.points)], np.int32), "some": np.array([3, len(mesh.points)], np.int32)}
    return mesh, Mesh(points, cells, mesh.cell_groups, extra)


@pytest.mark.parametrize("split", ["24", "6", "hexahedra", "body-centred"])
def test_repairs_bring_back_a_spoilt_mesh(split):
    mesh, bad = spoilt(split)
    (kind,) = mesh.volume_types
    m = len(mesh.cells[kind])
    found = describe(bad)
    assert (found.inverted, found.duplicates, found.unconnected) == (len(range(0, m, 3)), 4, 1)
    good = drop_unconnected(orient(drop_duplicates(bad)))
    check_mesh(good)
    assert describe(good).volume == pytest.approx(1)
    assert np.array_equal(good.points, mesh.points)
    for name, faces in good.boundary_faces.items():
        volume = np.einsum("ij,ij->", *divergence(good, good.cells[name]))
        assert volume == pytest.approx(1), "the faces point outward"
        assert len(faces) == len(good.cells[name])
    assert good.point_groups.keys() == {"some"}
    assert good.point_groups["some"].tolist() == [3]
    assert {name: describe(good).cell_groups[name] for name in mesh.groups} == describe(mesh).cell_groups


def divergence(mesh, faces):
    """Return centres / 3 and vector areas of flat faces, whose products sum to the volume inside."""
    x = mesh.points[faces]
    area = sum(np.cross(x[:, k] - x[:, 0], x[:, k + 1] - x[:, 0]) for k in range(1, faces.shape[1] - 1)) / 2
    return x.mean(axis=1) / 3, area


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda m: with_cells(m, tetra=turn(m, [7, 30])), r"part: 2 of 48 tetra cells \(7, 30\) are inverted.*orient"),
        (lambda m: with_cells(m, tetra=turn(m, range(9))), r"9 of 48 tetra cells \(0, 1, 2, 3, 4, …\) are inverted"),
        (lambda m: with_cells(m, tetra=m.cells["tetra"][[0, 1, 2, 1]]), r"1 of 4 tetra cells \(3\) occur twice"),
        (
            lambda m: with_cells(m, tetra=m.cells["tetra"][:20]),
            r"of 27 nodes \(.*\) belong to no volume cell.*drop_unc",
        ),
        (lambda m: Mesh(np.where(m.points == 1, np.nan, m.points), m.cells), "19 of 27 nodes .* not finite"),
        (lambda m: Mesh(m.points * (1, 1, 0), m.cells), "48 of 48 tetra cells .* no volume"),
        (lambda m: Mesh(m.points * (1, 1, 1e-14), m.cells), "48 of 48 tetra cells .* no volume"),
    ],
)
def test_check_says_what_is_wrong(spoil, says):
    with pytest.raises(MeshError, match=says):
        check_mesh(spoil(cube()), "part")


def turn(mesh, which):
    cells = mesh.cells["tetra"].copy()
    cells[list(which)] = cells[list(which)][:, [1, 0, 2, 3]]
    return cells


def test_small_and_thin_meshes_pass():
    mesh = cube()
    check_mesh(Mesh(mesh.points * 1e-9, mesh.cells))
    check_mesh(Mesh(mesh.points * (1, 1, 1e-6), mesh.cells))


def test_twisted_hexahedron_is_found_and_left():
    mesh = box((1, 1, 1), (1, 1, 1), split="hexahedra")
    cells = mesh.cells["hexahedron"][:, [0, 1, 2, 3, 4, 5, 7, 6]]
    twisted = with_cells(mesh, hexahedron=np.ascontiguousarray(cells))
    with pytest.raises(MeshError, match="1 of 1 hexahedron cells"):
        check_mesh(orient(twisted))


def test_volume_of_a_trilinear_hexahedron():
    """With one corner pulled out along x by d the volume of the unit cube grows by d/4."""
    mesh = box((1, 1, 1), (1, 1, 1), split="hexahedra")
    points = mesh.points.copy()
    points[np.flatnonzero((points == 1).all(axis=1)), 0] += 0.4
    assert volumes(points, mesh.cells["hexahedron"], "hexahedron") == pytest.approx(1.1)


def test_shape_quality():
    regular = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)], float)
    cell = np.array([[0, 1, 2, 3]], np.int32)
    assert abs(shape_quality(regular, cell, "tetra")) == pytest.approx(1)
    assert shape_quality(regular, cell, "tetra") == -shape_quality(regular, cell[:, [1, 0, 2, 3]], "tetra")
    assert shape_quality(regular * (1, 1, 0), cell, "tetra") == 0
    sheared = box((1, 1, 1), (1, 1, 1), split="hexahedra")
    points = sheared.points + sheared.points[:, [2, 0, 0]] * (1, 0, 0)
    assert shape_quality(points, sheared.cells["hexahedron"], "hexahedron") == pytest.approx(np.sqrt(0.5))


def test_description_of_bars():
    info = describe(bar_lattice((1, 1), (2, 2)))
    assert (info.volume, info.quality_min, info.bodies, info.unconnected) == (0, None, 1, 0)
    assert info.point_groups == {"x_min": 3, "x_max": 3, "y_min": 3, "y_max": 3}


# -- bundled ----------------------------------------------------------------------------------------------------


def test_bundled_bracket():
    assert "bracket" in bundled_names()
    mesh = read_mesh(bundled("bracket"))
    check_mesh(mesh)
    info = describe(mesh)
    assert mesh.groups == ["base", "bore", "bracket", "clamp"]
    assert 3000 <= info.cells["tetra"] <= 6000
    assert info.quality_min > 0.4
    assert info.bodies == 1
    assert (info.low, info.high) == (pytest.approx((0, 0, 0), abs=1e-12), pytest.approx((0.08, 0.05, 0.07)))
    assert mesh.points[mesh.nodes_of("base")][:, 2] == pytest.approx(0, abs=1e-12)
    radius = np.linalg.norm(mesh.points[mesh.nodes_of("bore")][:, 1:] - (0.025, 0.045), axis=1)
    assert radius == pytest.approx(0.011)
    assert set(mesh.nodes_of("base")) <= set(mesh.boundary_nodes)


def test_unknown_bundled_mesh():
    with pytest.raises(MeshError, match="'hook'; there are: bracket"):
        bundled("hook")


@pytest.mark.parametrize("split", ["6", "24", "hexahedra"])
def test_a_surface_is_the_same_found_in_portions(split, monkeypatch):
    mesh = cube(split)
    other = Mesh(mesh.points, mesh.cells)
    shuffled = np.random.default_rng(0).permutation(len(mesh.points)).astype(np.int32)
    one, two = (Mesh(mesh.points, {kind: shuffled[c] for kind, c in mesh.cells.items()}) for _ in range(2))
    whole = [mesh.boundary_faces, one.boundary_faces]
    monkeypatch.setattr("symplex.meshes.mesh._FACES_AT_ONCE", 7)
    for found, expected in zip([other.boundary_faces, two.boundary_faces], whole, strict=True):
        assert found.keys() == expected.keys()
        for kind, faces in expected.items():
            np.testing.assert_array_equal(found[kind], faces)
