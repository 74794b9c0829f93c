"""Bodies cut apart: which elements go to which side, what follows them, and what cannot be cut."""

import numpy as np
import pytest

import symplex as sx
from symplex.errors import MeshError
from symplex.meshes.cutting import cut_by_faces, cut_by_plane
from symplex.meshes.midside_nodes import quadratic

SPLITS = ("hexahedra", "6", "24")


def block(split="hexahedra", of_second_order=False, cells=(3, 2, 4)):
    mesh = sx.meshes.box([3.0, 2.0, 4.0], cells, split=split)
    return quadratic(mesh) if of_second_order else mesh


def parts(mesh):
    """Return how many parts of elements hang together."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rows = [mesh.cells[kind] for kind in mesh.volume_types]
    a = np.concatenate([np.repeat(own[:, 0], own.shape[1]) for own in rows])
    graph = coo_array(
        (np.ones(len(a)), (a, np.concatenate([own.ravel() for own in rows]))), shape=[len(mesh.points)] * 2
    )
    return len(np.unique(connected_components(graph, directed=False)[1][np.unique(a)]))


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("of_second_order", [False, True])
@pytest.mark.parametrize("normal", [[0, 0, 1], [0, 0, -2.0]])
def test_a_plane_cuts_a_block_in_two(split, of_second_order, normal):
    mesh = block(split, of_second_order)
    cut = cut_by_plane(mesh, [0, 0, 2.0], normal)
    on = np.flatnonzero(mesh.points[:, 2] == 2.0)
    assert cut.back.tolist() == on.tolist()
    assert cut.front.tolist() == [*range(len(mesh.points), len(mesh.points) + len(on))]
    assert np.array_equal(cut.mesh.points[cut.front], mesh.points[cut.back])
    assert parts(mesh) == 1
    assert parts(cut.mesh) == 2
    for kind in mesh.volume_types:
        own = cut.mesh.cells[kind]
        assert np.array_equal(cut.mesh.points[own], mesh.points[mesh.cells[kind]])
        ahead = (cut.mesh.points[own].mean(axis=1) - [0, 0, 2.0]) @ normal > 0
        assert not np.isin(own[ahead], cut.back).any()
        assert not np.isin(own[~ahead], cut.front).any()
    for kind, rows in cut.mesh.cells.items():  # of faces and lines each has nodes of one side only
        assert not (np.isin(rows, cut.back).any(axis=1) & np.isin(rows, cut.front).any(axis=1)).any(), kind
    joined = sx.meshes.join_nodes(cut.mesh, np.column_stack([cut.back, cut.front]))
    assert all(np.array_equal(joined.cells[kind], rows) for kind, rows in mesh.cells.items())


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("of_second_order", [False, True])
def test_faces_cut_as_the_plane_in_which_they_are(split, of_second_order):
    mesh = block(split, of_second_order)
    on = np.flatnonzero(mesh.points[:, 2] == 2.0)
    by_plane, by_faces = cut_by_plane(mesh, [0, 0, 2.0], [0, 0, 1]), cut_by_faces(mesh, on, [0, 0, 1])
    assert np.array_equal(by_faces.back, by_plane.back)
    assert all(np.array_equal(by_faces.mesh.cells[kind], rows) for kind, rows in by_plane.mesh.cells.items())


@pytest.mark.parametrize("split", ["6", "24"])
def test_a_plane_between_the_faces_is_cut_in_steps(split):
    cut = cut_by_plane(block(split), [0, 0, 2.3], [0.3, 0, 1])
    assert parts(cut.mesh) == 2
    assert len(np.unique(cut.mesh.points[cut.back, 2])) > 1


def test_faces_of_boundaries_follow_their_elements_and_groups_of_points_have_both_nodes():
    mesh = block()
    some = {"edge": np.flatnonzero((mesh.points[:, :2] == 0.0).all(axis=1)).astype(np.int32)}
    mesh = sx.Mesh(mesh.points, mesh.cells, mesh.cell_groups, some, point_numbers=np.arange(1, len(mesh.points) + 1))
    cut = cut_by_plane(mesh, [0, 0, 2.0], [0, 0, 1])
    assert len(cut.mesh.nodes_of("edge")) == 6
    assert cut.mesh.point_numbers is not None
    assert np.array_equal(cut.mesh.point_numbers[cut.front], cut.mesh.point_numbers[cut.back])
    faces = cut.mesh.faces_of("x_min")["quad"]  # which would raise if they were not of the boundary
    assert len(faces) == 8


def test_a_group_is_cut_alone():
    mesh = block(cells=(3, 1, 4))
    centres = mesh.points[mesh.cells["hexahedron"]].mean(axis=1)
    column = {"column": {"hexahedron": np.flatnonzero(centres[:, 0] < 1.0).astype(np.int32)}}
    with pytest.raises(MeshError, match="2 elements that are not in 'column' share nodes on the cut"):
        cut_by_plane(sx.Mesh(mesh.points, mesh.cells, column), [0, 0, 2.0], [0, 0, 1], "column")
    apart = np.flatnonzero((centres[:, 0] < 1.0) | (centres[:, 0] > 2.0) | (centres[:, 2] > 3.0)).astype(np.int32)
    frame = sx.Mesh(mesh.points, {"hexahedron": mesh.cells["hexahedron"][apart]})
    centres = centres[apart]
    column = {"column": {"hexahedron": np.flatnonzero(centres[:, 0] < 1.0).astype(np.int32)}}
    cut = cut_by_plane(sx.Mesh(frame.points, frame.cells, column), [0, 0, 2.0], [0, 0, 1], "column")
    assert sorted(cut.mesh.points[cut.back].tolist()) == [[x, y, 2.0] for x in (0.0, 1.0) for y in (0.0, 2.0)]


def test_what_cannot_be_cut_is_said():
    mesh = block()
    with pytest.raises(MeshError, match=r"are on one side of the plane: their centres are from 0\.5 to 3\.5 m"):
        cut_by_plane(mesh, [0, 0, 5.0], [0, 0, 2])
    with pytest.raises(MeshError, match="no face between two elements"):
        cut_by_faces(mesh, np.flatnonzero(mesh.points[:, 2] == 0.0), [0, 0, 1])
    inner = np.flatnonzero((mesh.points[:, 2] == 2.0) & (mesh.points[:, 0] < 1.5))
    with pytest.raises(MeshError, match="do not cut the body apart"):
        cut_by_faces(mesh, inner, [0, 0, 1])
    with pytest.raises(MeshError, match="no volume elements"):
        cut_by_plane(sx.Mesh(np.zeros((1, 3)), {"vertex": np.zeros((1, 1), np.int32)}), [0, 0, 0], [0, 0, 1])
