"""Quadratic faces in linear pieces: shared nodes, curvature, groups, and what shells of them are worth."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import symplex as sx
from symplex.errors import MeshError
from symplex.fem.structures import Frames, ShellProperties, shells
from symplex.meshes import divided_faces, quadratic
from symplex.meshes.mesh import Mesh

STEEL = sx.NeoHookean.from_young(2e11, 0.0, 7850.0)


def surface(nx, ny, triangles=False, place=lambda x, y: (x, y, 0.0 * x)):
    """Quadratic faces of the unit square in a place, with the group of nodes x = 0 and that of the first cell."""
    x, y = (grid.ravel() for grid in np.meshgrid(np.linspace(0, 1, nx + 1), np.linspace(0, 1, ny + 1), indexing="ij"))
    node = np.arange(len(x), dtype=np.int32).reshape(nx + 1, ny + 1)
    quads = np.stack([node[:-1, :-1], node[1:, :-1], node[1:, 1:], node[:-1, 1:]], axis=-1).reshape(-1, 4)
    cells = {"quad": quads}
    if triangles:
        cells = {"triangle": np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])}
    flat = quadratic(Mesh(np.column_stack([x, y, 0.0 * x]), cells))
    u, v, _ = flat.points.T
    kind = next(iter(flat.cells))
    points = np.column_stack(place(u, v))
    edge = np.flatnonzero(u == 0.0).astype(np.int32)
    return Mesh(points, dict(flat.cells), {"first": {kind: np.array([0], np.int32)}}, {"edge": edge})


@pytest.mark.parametrize("pieces", [2, 4])
@pytest.mark.parametrize("triangles", [False, True])
def test_pieces_share_nodes_cover_the_surface_and_keep_its_side(pieces, triangles):
    mesh = surface(3, 2, triangles)
    found = divided_faces(mesh, pieces)
    (kind, cells), count = next(iter(found.cells.items())), pieces**2
    assert kind == ("triangle" if triangles else "quad")
    assert len(cells) == 6 * count * (2 if triangles else 1)
    assert len(found.points) == (3 * pieces + 1) * (2 * pieces + 1)
    assert_array_equal(found.points[: len(mesh.points)], mesh.points)
    x = found.points[cells]
    normals = 0.5 * sum(np.cross(x[:, k] - x[:, 0], x[:, k + 1] - x[:, 0]) for k in range(1, x.shape[1] - 1))
    assert_allclose(normals, np.tile([0.0, 0.0, 1.0 / len(cells)], (len(cells), 1)), atol=1e-14)
    assert_array_equal(np.sort(found.nodes_of("edge")), np.flatnonzero(found.points[:, 0] == 0.0))
    assert_array_equal(found.cell_groups["first"][kind], np.arange(count))


def test_pieces_are_curved_as_their_elements():
    """A quarter of a cylinder in two elements: nodes of pieces are on the parabolas, 1 % from the circle at most."""
    mesh = surface(2, 1, place=lambda x, y: (np.cos(0.5 * np.pi * x), y, np.sin(0.5 * np.pi * x)))
    radius = np.linalg.norm(divided_faces(mesh, 4).points[:, [0, 2]], axis=1)
    assert 1e-4 < np.abs(radius - 1.0).max() < 0.01


def test_four_pieces_make_a_propped_plate_accurate():
    """One edge clamped, the other hinged, under a pressure: deflection in the middle q L⁴/192 D of a strip."""
    errors = []
    for pieces in (2, 4):
        mesh = divided_faces(surface(4, 1), pieces)
        built = shells(mesh, ShellProperties.uniform(0.01, STEEL))
        x = mesh.points[:, 0]
        held = np.zeros((len(x), 6), bool)
        held[x == 0.0] = True
        held[x == 1.0, :3] = True
        area = np.zeros(len(x))
        np.add.at(area, mesh.cells["quad"], 0.25 / len(mesh.cells["quad"]))
        force = np.zeros_like(built.points)
        force[built.frames.nodes[:, :2], 2] = 0.5 * area[:, None]
        load = sx.actions.NodalForce(np.arange(len(force)), force)
        frames = Frames(built.frames.nodes, built.points, held)
        system = sx.System(built.mass, {**built.energies, "pressure": load}, frames=frames)
        found = sx.equilibria.static_equilibrium(system, built.points).state.q
        middle = np.flatnonzero(np.abs(x - 0.5) < 1e-12)
        w = (built.frames.centers(found) - built.frames.centers(built.points))[middle, 2].mean()
        errors.append(1.0 - w / (1.0 / (192.0 * 2e11 * 0.01**3 / 12.0)))
    assert 0.02 < errors[0] < 0.03
    assert 3.6 < errors[0] / errors[1] < 4.4


def test_what_has_no_such_faces_is_refused():
    with pytest.raises(MeshError, match="even number, got 3"):
        divided_faces(surface(1, 1), 3)
    with pytest.raises(MeshError, match="'quad8' or 'triangle6'"):
        divided_faces(Mesh(np.eye(3), {"triangle": np.array([[0, 1, 2]], np.int32)}))
