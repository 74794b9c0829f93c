"""Volumes, shapes, orientation and faces of every type of volume cells; collapsed cells as what they are."""

import itertools

import numpy as np
import pytest

from symplex.errors import MeshError
from symplex.meshes.formats.collapsed import expand_collapsed
from symplex.meshes.formats.read import read_mesh
from symplex.meshes.generate import box
from symplex.meshes.kinds import FACES
from symplex.meshes.mesh import Mesh
from symplex.meshes.quality import check_mesh, describe, shape_quality, volumes
from symplex.meshes.repair import orient

CUBE = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)], float)
# Corners of each type of cells, its volume, and what has nodes in its middle, in their order (VTK's).
CELLS = {
    "tetra10": (CUBE[[0, 1, 3, 4]], 1 / 6, "01 12 20 03 13 23"),
    "hexahedron20": (CUBE, 1.0, "01 12 23 30 45 56 67 74 04 15 26 37"),
    "hexahedron27": (
        *(CUBE, 1.0),
        "01 12 23 30 45 56 67 74 04 15 26 37 0374 1265 0154 3267 0123 4567 01234567",
    ),
    "wedge15": (CUBE[[0, 1, 3, 4, 5, 7]], 1 / 2, "01 12 20 34 45 53 03 14 25"),
    "wedge18": (CUBE[[0, 1, 3, 4, 5, 7]], 1 / 2, "01 12 20 34 45 53 03 14 25 0143 1254 2035"),
    "pyramid13": (CUBE[[0, 1, 2, 3, 4]], 1 / 3, "01 12 23 30 04 14 24 34"),
}
LINEAR = {kind.rstrip("0123456789"): corners for kind, (corners, _, _) in CELLS.items()}


def quadratic_points(kind):
    corners, _, edges = CELLS[kind]
    return np.concatenate([corners, [corners[[int(a) for a in ends]].mean(axis=0) for ends in edges.split()]])


def one(kind):
    points = quadratic_points(kind) if kind in CELLS else LINEAR[kind]
    return Mesh(points, {kind: np.arange(len(points), dtype=np.int32)[None]})


@pytest.mark.parametrize("kind", [*CELLS, *LINEAR])
def test_volume_and_faces_of_one_cell(kind):
    mesh = one(kind)
    volume = next(v for k, (_, v, _) in CELLS.items() if k.startswith(kind.rstrip("0123456789")))
    assert volumes(mesh.points, mesh.cells[kind], kind) == pytest.approx(volume)
    info = describe(mesh)
    assert info.volume == pytest.approx(volume)
    assert info.unjudged == ()
    check_mesh(mesh)
    assert sum(len(faces) for faces in mesh.boundary_faces.values()) == len(FACES[kind])
    outward = [
        np.cross(x[1] - x[0], x[2] - x[0]) @ (x[:3].mean(axis=0) - mesh.points.mean(axis=0))
        for faces in mesh.boundary_faces.values()
        for x in mesh.points[faces]
    ]
    assert min(outward) > 0


@pytest.mark.parametrize("kind", [*CELLS, *LINEAR])
def test_turned_cells_are_turned_back(kind):
    mesh = one(kind)
    turned = Mesh(mesh.points * (1, 1, -1), mesh.cells)
    assert describe(turned).inverted == 1
    assert describe(turned).volume == pytest.approx(-describe(mesh).volume)
    again = orient(turned)
    check_mesh(again)
    assert describe(again).volume == pytest.approx(describe(mesh).volume)


@pytest.mark.parametrize("kind", CELLS)
def test_volume_with_curved_faces(kind):
    """Under a map that is quadratic in each coordinate by itself, x ↦ x + a x², the divergence theorem is exact."""
    mesh = one(kind)
    a, b, c = 0.3, -0.2, 0.15
    points = mesh.points + [a, b, c] * mesh.points**2
    # The same by quadrature of the Jacobian over the undeformed cell, by tetrahedra that fill it.
    filling = {"tetra": ["0123"], "hexahedron": ["0136", "0346", "3467", "0164", "1546", "1236"],
               "wedge": ["0123", "1234", "2345"], "pyramid": ["0124", "0234"]}[kind.rstrip("0123456789")]  # fmt: skip
    x, w = np.polynomial.legendre.leggauss(4)
    total = 0.0
    for cell in filling:
        p = mesh.points[[int(k) for k in cell]]
        for (r, s, t), weight in zip(
            itertools.product((1 + x) / 2, repeat=3), np.prod(list(itertools.product(w / 2, repeat=3)), 1), strict=True
        ):
            L = np.array([r, (1 - r) * s, (1 - r) * (1 - s) * t])
            y = p[0] + L @ (p[1:] - p[0])
            stretch = np.prod(1 + 2 * np.array([a, b, c]) * y)
            total += weight * (1 - r) ** 2 * (1 - s) * abs(np.linalg.det(p[1:] - p[0])) * stretch
    assert volumes(points, mesh.cells[kind], kind) == pytest.approx(total)


def test_best_shapes():
    height = np.sqrt(0.5)
    pyramid = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0.5, 0.5, height)])
    assert shape_quality(pyramid, np.arange(5)[None], "pyramid") == pytest.approx(1)
    triangle = np.array([(0, 0), (1, 0), (0.5, np.sqrt(0.75))])
    wedge = np.concatenate([np.column_stack([triangle, [z] * 3]) for z in (0.0, 1.0)])
    assert shape_quality(wedge, np.arange(6)[None], "wedge") == pytest.approx(1)
    assert shape_quality(wedge * (1, 1, 0), np.arange(6)[None], "wedge") == 0


def test_cells_that_cannot_be_judged_are_told():
    info = describe(Mesh(np.random.default_rng(1).random((14, 3)), {"pyramid14": np.arange(14)[None]}))
    assert info.unjudged == ("pyramid14",)
    assert info.volume == 0


# -- collapsed cells --------------------------------------------------------------------------------------------


def rotations(cell):
    """Return a hexahedron's nodes in all 24 orders that keep its orientation."""
    cells = [cell]
    for c in cells:
        for turned in ([c[k] for k in (1, 2, 3, 0, 5, 6, 7, 4)], [c[k] for k in (0, 3, 7, 4, 1, 2, 6, 5)]):
            if turned not in cells:
                cells.append(turned)
    return cells


COLLAPSED = [
    ([0, 1, 2, 2, 4, 5, 6, 6], "wedge", 1 / 2),
    ([0, 1, 2, 3, 4, 4, 4, 4], "pyramid", 1 / 3),
    ([0, 1, 2, 2, 4, 4, 4, 4], "tetra", 1 / 6),
    ([0, 1, 3, 4, 4, 4, 4, 4], "tetra", 1 / 6),  # LS-DYNA's
]


@pytest.mark.parametrize(("cell", "kind", "volume"), COLLAPSED)
def test_collapsed_hexahedra_are_what_they_are(cell, kind, volume):
    for turned in rotations(cell):
        mesh = expand_collapsed(Mesh(CUBE, {"hexahedron": np.array([turned], np.int32)}))
        assert list(mesh.cells) == [kind], turned
        assert volumes(CUBE, mesh.cells[kind], kind) == pytest.approx(volume), turned


def test_collapsed_wedges_and_pyramids():
    wedge = LINEAR["wedge"]
    for cell, kind, volume in [
        ([0, 1, 2, 0, 4, 5], "pyramid", 1 / 3),
        ([0, 1, 2, 3, 1, 5], "pyramid", 1 / 3),
        ([0, 1, 2, 3, 4, 2], "pyramid", 1 / 3),
        ([0, 1, 2, 3, 3, 3], "tetra", 1 / 6),
        ([1, 1, 1, 3, 4, 5], "tetra", 1 / 6),
        ([0, 1, 2, 0, 1, 5], "tetra", 1 / 6),
    ]:
        mesh = expand_collapsed(Mesh(wedge, {"wedge": np.array([cell], np.int32)}))
        assert list(mesh.cells) == [kind], cell
        assert volumes(wedge, mesh.cells[kind], kind) == pytest.approx(volume), cell


def test_what_is_no_other_cell_stays_and_is_refused():
    cells = np.array([[0, 1, 2, 3, 4, 5, 6, 6]], np.int32)
    mesh = expand_collapsed(Mesh(CUBE, {"hexahedron": cells}))
    assert np.array_equal(mesh.cells["hexahedron"], cells)
    with pytest.raises(MeshError, match=r"hexahedron cells .* have no volume"):
        check_mesh(mesh)


def test_collapsed_cells_of_files_keep_their_groups(tmp_path):
    """Three hexahedra in a deck; the one in the middle is a wedge, turned inside out."""
    mesh = box((3, 1, 1), (3, 1, 1), split="hexahedra")
    rows = mesh.cells["hexahedron"].copy()
    rows[1] = rows[1][[0, 1, 2, 2, 4, 5, 6, 6]]
    rows[1] = rows[1][[4, 5, 6, 7, 0, 1, 2, 3]]
    deck = "*NODE\n" + "".join(f"{k}, {x}, {y}, {z}\n" for k, (x, y, z) in enumerate(mesh.points, 1))
    deck += "*ELEMENT, TYPE=C3D8, ELSET=all\n" + "".join(
        f"{k}, {', '.join(str(n + 1) for n in row)}\n" for k, row in enumerate(rows, 1)
    )
    (tmp_path / "three.inp").write_text(deck + "*ELSET, ELSET=two\n2, 3\n")
    read = read_mesh(tmp_path / "three.inp")
    assert {kind: len(cells) for kind, cells in read.cells.items()} == {"hexahedron": 2, "wedge": 1}
    assert describe(read).cell_groups == {
        "all": {"hexahedron": 2, "wedge": 1},
        "two": {"hexahedron": 1, "wedge": 1},
    }
    assert read.cell_groups["two"]["hexahedron"].tolist() == [1]
    assert describe(read).inverted == 1
    assert describe(orient(read)).volume == pytest.approx(2.5)
    check_mesh(orient(read))
