"""Structured meshes fill their box, conform, point outward; lattices have the bars they should."""

import numpy as np
import pytest

from symplex.errors import MeshError
from symplex.meshes.generate import DIAGONALS, SPLITS, bar_lattice, box, cube_mesh, ring
from symplex.meshes.kinds import FACES, dimension_of
from symplex.meshes.quality import check_mesh, describe, shape_quality, volumes
from symplex.meshes.renumber import renumber

SIZE, CELLS, ORIGIN = (0.2, 0.3, 0.6), (2, 3, 4), (1.0, -1.0, 0.5)
PER_CELL = {"24": 24, "6": 6, "hexahedra": 1, "wedges": 2, "pyramids": 6}


def example(split):
    return box(SIZE, CELLS, split=split, origin=ORIGIN)


def body_kind(mesh):
    (kind,) = mesh.volume_types
    return kind


def faces_from_smallest(faces):
    """Return the faces as a set of tuples that begin at the smallest node, so that their sense counts."""
    rotated = [(*row[(k := row.index(min(row))) :], *row[:k]) for row in faces.tolist()]
    assert len(set(rotated)) == len(rotated)
    return set(rotated)


@pytest.mark.parametrize("split", SPLITS)
def test_box_fills_its_volume_with_positive_cells(split):
    mesh = example(split)
    check_mesh(mesh)
    kind = body_kind(mesh)
    volume = volumes(mesh.points, mesh.cells[kind], kind)
    assert volume.min() > 0
    assert volume.sum() == pytest.approx(np.prod(SIZE), rel=1e-13)
    assert len(volume) == PER_CELL.get(split, len(volume) / 24) * 24
    assert mesh.points.min(axis=0) == pytest.approx(ORIGIN)
    assert mesh.points.max(axis=0) == pytest.approx(np.add(ORIGIN, SIZE))


@pytest.mark.parametrize("split", SPLITS)
def test_box_conforms(split):
    """Each face belongs to two cells, with opposite sense, or to one and lies on a side, outward."""
    mesh = example(split)
    kind = body_kind(mesh)
    count = {}
    for face in FACES[kind]:
        for row in np.sort(mesh.cells[kind][:, face], axis=1).tolist():
            count[tuple(row)] = count.get(tuple(row), 0) + 1
    assert set(count.values()) == {1, 2}
    sides = {name: faces for name, faces in mesh.cells.items() if dimension_of(name) == 2}
    assert sum(n == 1 for n in count.values()) == sum(map(len, sides.values()))
    for name, boundary in mesh.boundary_faces.items():
        faces = sides.get(name, np.empty((0, 3), np.int32))
        assert faces_from_smallest(faces) == faces_from_smallest(boundary)


@pytest.mark.parametrize("split", SPLITS)
def test_sides_of_a_box_are_groups_that_face_outward(split):
    mesh = example(split)
    assert mesh.groups == ["body", "x_max", "x_min", "y_max", "y_min", "z_max", "z_min"]
    low, high = np.array(ORIGIN), np.add(ORIGIN, SIZE)
    for axis, letter in enumerate("xyz"):
        for end, place, sign in (("min", low, -1), ("max", high, 1)):
            ((face_kind, index),) = mesh.cell_groups[f"{letter}_{end}"].items()
            faces = mesh.points[mesh.cells[face_kind][index]]
            assert faces[:, :, axis] == pytest.approx(place[axis])
            # Vector areas by the diagonals of a quad, or two edges of a triangle.
            area = np.cross(faces[:, 2] - faces[:, 0], faces[:, -1] - faces[:, 1]) / 2
            if face_kind == "triangle":
                area = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0]) / 2
            assert (sign * area[:, axis]).min() > 0
            assert area.sum(axis=0)[axis] == pytest.approx(sign * np.prod(SIZE) / SIZE[axis])


def test_body_centred_tetrahedra_have_equal_volumes_and_the_best_shape():
    mesh = box((1, 1, 1), (4, 4, 4), split="body-centred")
    cells = mesh.cells["tetra"]
    assert volumes(mesh.points, cells, "tetra") == pytest.approx(1 / 12 / 64)
    # Edges in the ratio of a cell's edge to half its diagonal: 12 (3/12)^(2/3) / (2 + 4 · 3/4).
    assert shape_quality(mesh.points, cells, "tetra").max() == pytest.approx(12 * 0.25 ** (2 / 3) / 5)
    for split in ("24", "6"):
        other = box((1, 1, 1), (4, 4, 4), split=split)
        assert shape_quality(other.points, other.cells["tetra"], "tetra").max() < 0.81


@pytest.mark.parametrize(("name", "nodes", "tetrahedra"), [("I", 71, 192), ("II", 125, 384), ("III", 429, 1536)])
def test_cubes_of_the_paper(name, nodes, tetrahedra):
    mesh = cube_mesh(name)
    info = describe(mesh)
    assert (info.n_points, info.cells["tetra"]) == (nodes, tetrahedra)
    assert info.volume == pytest.approx(1e-3)
    assert (info.low, info.high) == ((0, 0, 0), pytest.approx((0.1, 0.1, 0.1)))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: box((1, 1, 1), (1, 0, 1)), "at least one cell"),
        (lambda: box((1, 0, 1), (1, 1, 1)), "positive sizes"),
        (lambda: box((1, 1), (1, 1)), "same length, 3"),
        (lambda: box((1, 1, np.nan), (1, 1, 1)), "finite"),
        (lambda: box((1, 1, 1), (1.5, 1, 1)), "integers"),
        (lambda: box((1, 1, 1), (1, 1, 1), split="5"), "24, 6, hexahedra, body-centred"),
        (lambda: cube_mesh("IV"), "I, II, III"),
        (lambda: bar_lattice((1, 0), (2, 2)), "positive size wherever"),
        (lambda: bar_lattice((1, 1), (2, 2), diagonals="both"), "none, single, cross"),
        (lambda: ring(1.0, 2), "at least 3"),
    ],
)
def test_impossible_shapes_are_refused(call, says):
    with pytest.raises(MeshError, match=says):
        call()


@pytest.mark.parametrize(
    ("diagonals", "expected"),
    [
        # Bars of n × n (× n) cells, n = 2: along the axes, and per square 1 or 2, per cube 1 or 4 diagonals.
        ("none", (2, 12, 54)),
        ("single", (2, 12 + 4, 54 + 36 + 8)),
        ("cross", (2, 12 + 8, 54 + 72)),
        ("body", (2, 12, 54 + 32)),
        ("all", (2, 12 + 8, 54 + 72 + 32)),
    ],
)
def test_lattices_have_their_bars(diagonals, expected):
    meshes = [bar_lattice((1.0,) * dim, (2,) * dim, diagonals=diagonals) for dim in (1, 2, 3)]
    assert tuple(len(mesh.cells["line"]) for mesh in meshes) == expected
    for dim, mesh in enumerate(meshes, start=1):
        bars = np.sort(mesh.cells["line"], axis=1)
        assert len(np.unique(bars, axis=0)) == len(bars)
        across = np.ptp(mesh.points[mesh.cells_of("line", "axial")], axis=1)
        assert np.sort(across, axis=1)[:, -1] == pytest.approx(0.5)
        assert across.sum(axis=1) == pytest.approx(0.5)
        assert len(mesh.point_groups["x_min"]) == 3 ** (dim - 1)
    assert ("diagonal" in meshes[2].groups) == (diagonals != "none")
    assert set(DIAGONALS) == {"none", "single", "cross", "body", "all"}


def test_chain_in_space_and_ring():
    chain = bar_lattice((2, 0, 0), (4, 0, 0), origin=(0, 1, 0))
    assert chain.points.shape == (5, 3)
    assert set(chain.point_groups) == {"x_min", "x_max"}
    assert np.ptp(chain.points, axis=0) == pytest.approx((2, 0, 0))
    hexagon = ring(0.5, 6)
    ends = hexagon.points[hexagon.cells["line"]]
    assert np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) == pytest.approx(0.5)


def test_renumbering_brings_neighbours_together_and_keeps_everything():
    mesh = box((1, 1, 1), (8, 8, 8))
    rng = np.random.default_rng(1)
    shuffle = rng.permutation(len(mesh.points))
    scattered = type(mesh)(
        mesh.points[np.argsort(shuffle)],
        {kind: shuffle.astype(np.int32)[cells] for kind, cells in mesh.cells.items()},
        mesh.cell_groups,
        {"some": shuffle[:10].astype(np.int32)},
    )
    tidy = renumber(scattered)
    assert describe(tidy).cell_groups == describe(mesh).cell_groups
    assert describe(tidy).volume == pytest.approx(1)
    assert np.array_equal(np.unique(tidy.points, axis=0), np.unique(mesh.points, axis=0))
    for group in ("x_min", "some"):
        before, after = (m.points[m.nodes_of(group)] for m in (scattered, tidy))
        assert np.array_equal(np.unique(before, axis=0), np.unique(after, axis=0))

    def spread(m):
        return np.ptp(m.cells["tetra"], axis=1).mean()

    def step(m):
        centres = m.points[m.cells["tetra"]].mean(axis=1)
        return np.linalg.norm(np.diff(centres, axis=0), axis=1).max()

    assert spread(tidy) < 0.15 * spread(scattered)
    # A Hilbert curve never jumps: the next tetrahedron is in the same cell or one next to it.
    assert step(tidy) < 2 * np.sqrt(3) / 8
