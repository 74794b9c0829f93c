"""Surfaces of bodies: from meshes of all cells, by groups and parts, joined; and what is no surface."""

import copy
import pickle

import numpy as np
import pytest

from symplex.contact.surfaces import Surface, is_closed
from symplex.errors import InvalidArgument, InvalidSystem, MeshError
from symplex.meshes.generate import box
from symplex.meshes.mesh import Mesh, merge
from symplex.meshes.midside_nodes import quadratic

WEDGES = Mesh(
    np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1, 0], [1, 1, 1]], float),
    {"wedge": np.array([[0, 1, 2, 3, 4, 5], [1, 6, 2, 4, 7, 5]], np.int32)},
)
PYRAMIDS = Mesh(
    np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1], [0.5, 0.5, 0.5]]),
    {
        "pyramid": np.array(
            [[0, 1, 2, 3, 8], [4, 7, 6, 5, 8], [0, 4, 5, 1, 8], [1, 5, 6, 2, 8], [2, 6, 7, 3, 8], [3, 7, 4, 0, 8]],
            np.int32,
        )
    },
)
CUBES = {
    "tetra": box((1, 1, 1), (2, 2, 2), split="6"),
    "tetra of 24": box((1, 1, 1), (2, 2, 2)),
    "tetra10": quadratic(box((1, 1, 1), (2, 2, 2), split="6")),
    "hexahedron": box((1, 1, 1), (3, 2, 1), split="hexahedra"),
    "wedge": WEDGES,
    "pyramid": PYRAMIDS,
    "hexahedron20": quadratic(box((1, 1, 1), (3, 2, 1), split="hexahedra")),
    "hexahedron27": quadratic(box((1, 1, 1), (3, 2, 1), split="hexahedra"), centres=True),
    "wedge15": quadratic(WEDGES),
    "pyramid13": quadratic(PYRAMIDS),
}


def volume(points, triangles):
    x = points[triangles]
    return np.einsum("fi,fi->", x[:, 0], np.cross(x[:, 1], x[:, 2])) / 6.0


@pytest.mark.parametrize("mesh", CUBES.values(), ids=CUBES)
def test_the_surface_of_a_cube(mesh):
    surface = Surface.of(mesh)
    assert surface.names == ("body",)
    assert surface.has_volume == (True,)
    assert is_closed(surface.triangles)
    assert len(surface.vertices) - len(surface.edges) + len(surface.triangles) == 2  # Euler
    assert volume(mesh.points, surface.triangles) == pytest.approx(1.0)  # so that normals are outward
    assert surface.vertex_areas.sum() == pytest.approx(6.0)
    assert surface.edge_areas.sum() == pytest.approx(6.0)
    ends = mesh.points[surface.edges]
    assert surface.edge_lengths == pytest.approx(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1))


@pytest.mark.parametrize("mesh", CUBES.values(), ids=CUBES)
def test_rows_are_sorted_and_vertices_are_all_nodes_of_the_boundary(mesh):
    surface = Surface.of(mesh)
    assert np.array_equal(surface.vertices, mesh.boundary_nodes)
    for rows in (surface.edges, surface.triangles):
        assert (rows[:, 0] == rows.min(axis=1)).all()
        assert np.array_equal(np.lexsort(rows.T[::-1]), np.arange(len(rows)))
    assert all(
        array.dtype == np.int32
        for array in (surface.vertices, surface.edges, surface.triangles, surface.edge_bodies, surface.triangle_bodies)
    )


def test_areas_belong_to_their_vertices_and_edges():
    points = np.array([[0, 0, 0], [2, 0, 0], [0, 2, 0], [0, -4, 0.0]])
    surface = Surface.from_triangles(points, [[2, 0, 1], [1, 0, 3]])  # of areas 2 and 4
    assert surface.vertex_areas == pytest.approx(np.array([6, 6, 2, 4]) / 3)
    assert surface.edges.tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3]]
    assert surface.edge_areas == pytest.approx(np.array([6, 2, 4, 2, 4]) / 3)


def test_the_cut_of_a_quadrilateral_does_not_depend_on_where_it_begins():
    mesh = CUBES["hexahedron"]
    turned = mesh.cells["hexahedron"][:, [1, 2, 3, 0, 5, 6, 7, 4]]
    first, second = Surface.of(mesh), Surface.of(Mesh(mesh.points, {"hexahedron": turned}))
    assert np.array_equal(first.triangles, second.triangles)


def test_bodies_are_groups_or_what_hangs_together():
    far = box((1, 1, 1), (1, 1, 1), split="6", origin=(3, 0, 0))
    mesh = merge({"left": CUBES["tetra"], "right": far})
    named, parts = Surface.of(mesh, ["right", "left"]), Surface.of(mesh)
    assert named.names == ("right", "left")
    assert parts.names == ("body 1", "body 2")
    assert np.array_equal(named.triangles, parts.triangles)
    assert np.array_equal(named.triangle_bodies, 1 - parts.triangle_bodies)
    assert np.array_equal(named.bodies_of(named.edges), np.column_stack([named.edge_bodies] * 2))
    assert named.body("left") == 1
    assert len(Surface.of(mesh, "right").triangles) == 12


def test_a_group_of_faces_is_a_part_of_the_surface_of_a_volume():
    surface = Surface.of(box((1, 1, 1), (2, 2, 2), split="6"), "x_min")
    assert surface.vertex_areas.sum() == pytest.approx(1.0)
    assert surface.has_volume == (True,)


def test_joined_surfaces_are_those_of_the_merged_mesh():
    left, right = CUBES["tetra"], box((1, 1, 1), (1, 2, 1), split="6", origin=(3, 0, 0))
    merged = Surface.of(merge({"left": left, "right": right}), ["left", "right"])
    right = Surface.of(right).renamed("right").shifted(len(left.points))
    joined = Surface.join([Surface.of(left).renamed("left"), right])
    assert joined.names == merged.names
    assert joined.has_volume == merged.has_volume
    for rows in ("vertices", "edges", "triangles", "vertex_bodies", "edge_bodies", "triangle_bodies"):
        assert np.array_equal(getattr(joined, rows), getattr(merged, rows))
    for rows in ("vertex_areas", "edge_areas", "edge_lengths"):
        assert getattr(joined, rows) == pytest.approx(getattr(merged, rows))


def test_copies_and_pickles():
    surface = Surface.of(CUBES["tetra"])
    for other in (copy.deepcopy(surface), pickle.loads(pickle.dumps(surface))):
        assert np.array_equal(other.triangles, surface.triangles)
        assert other.names == surface.names


# -- what is no surface ----------------------------------------------------------------------------------------------

TRIANGLE = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Surface.of(Mesh(TRIANGLE, {"triangle": np.array([[0, 1, 2]], np.int32)})), "no boundary faces"),
        (lambda: Surface.of(Mesh(TRIANGLE[:, :2], {})), "three dimensions; the mesh has 2"),
        (lambda: Surface.of(CUBES["tetra"], "lid"), "'lid' is not in the mesh; it has: body, x_max"),
        (lambda: Surface.of(CUBES["tetra"], []), "no body was named"),
        (lambda: Surface.of(CUBES["tetra"], ["x_min", "y_min"]), "'x_min' and 'y_min' share node"),
        (lambda: Surface.from_triangles(TRIANGLE, [[0, 1, 1]]), "one node twice"),
        (lambda: Surface.from_triangles(TRIANGLE, [[0, 1, 4]]), "there are 4 nodes"),
        (lambda: Surface.from_triangles(TRIANGLE, [[0, 1]]), r"shape \(1, 2\)"),
        (lambda: Surface.from_triangles(TRIANGLE, np.empty((0, 3), int)), "no triangle"),
        (lambda: Surface.from_triangles(TRIANGLE * [0, 1, 1], [[0, 1, 2]]), "nodes 0 and 1 .* has no length"),
        (lambda: Surface.join([]), "no surface to join"),
        (lambda: Surface.join([Surface.of(CUBES["tetra"])] * 2), "2 bodies are named 'body'"),
        (lambda: Surface.join([Surface.of(PYRAMIDS), Surface.of(WEDGES).renamed("b")]), "share node 0"),
        (lambda: Surface.of(PYRAMIDS).renamed("a", "b"), "2 names were given to 1"),
        (lambda: Surface.of(PYRAMIDS).shifted(-1), "cannot be shifted by -1"),
        (lambda: Surface.of(PYRAMIDS).body("a"), "no body 'a'; there are: body"),
    ],
)
def test_what_is_no_surface_is_told(make, sentence):
    with pytest.raises((MeshError, InvalidSystem), match=sentence):
        make()


def test_arguments_of_another_kind_are_told():
    with pytest.raises(InvalidArgument, match="mesh must be a Mesh"):
        Surface.of("mesh")  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidArgument, match="points must be an array"):
        Surface.from_triangles("points", [[0, 1, 2]])  # pyright: ignore[reportArgumentType]


def test_an_open_surface_has_no_contact_with_itself():
    closed = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]
    Surface.from_triangles(TRIANGLE, closed).require_volume(0)
    shell = Surface.from_triangles(TRIANGLE, closed[1:], "shell")
    assert shell.has_volume == (False,)
    with pytest.raises(InvalidSystem, match="'shell' cannot be in contact with itself"):
        shell.require_volume(0)
