"""Meshes from files of every kind, with their groups; what is said of files that are none; writing them back."""

import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from symplex.errors import MeshError
from symplex.meshes.formats.formats import known_extensions
from symplex.meshes.formats.read import read_mesh
from symplex.meshes.formats.save import save_mesh
from symplex.meshes.generate import bar_lattice, box
from symplex.meshes.mesh import Mesh, merge
from symplex.meshes.quality import check_mesh, describe

DATA = Path(__file__).parents[2] / "data"
FROM_GMSH = ["blocks_22.msh", "blocks_22_binary.msh", "blocks_41.msh", "blocks_41_binary.msh", "blocks.inp"]
WITH_SETS = ["blocks.vtu", "blocks_sets.vtk", "blocks_meshio.inp"]
EVERY = [*FROM_GMSH, *WITH_SETS, "blocks.vtk", "blocks_save_all.msh"]


def same_points(a, b):
    return np.array_equal(np.unique(a.round(12), axis=0), np.unique(b.round(12), axis=0))


# -- real files -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EVERY)
def test_every_format_gives_the_two_blocks(name):
    """All were written from one mesh of two cubes of 10 mm."""
    mesh = read_mesh(DATA / name, scale=1e-3)
    check_mesh(mesh, name)
    info = describe(mesh)
    assert (info.n_points, info.cells["tetra"], info.bodies) == (78, 200, 1)
    assert info.volume == pytest.approx(2e-6)
    assert info.high == pytest.approx((0.02, 0.01, 0.01))
    assert "vertex" not in mesh.cells
    assert mesh.points.dtype == np.float64
    assert {cells.dtype for cells in mesh.cells.values()} == {np.dtype(np.int32)}
    assert same_points(mesh.points, read_mesh(DATA / "blocks_41.msh", scale=1e-3).points)


@pytest.mark.parametrize("name", [*FROM_GMSH, *WITH_SETS])
def test_groups_of_cells_and_points_arrive(name):
    mesh = read_mesh(DATA / name)
    sizes = {"left": ("tetra", 100), "right": ("tetra", 100), "base": ("triangle", 28)}
    if name in FROM_GMSH:
        sizes |= {"all": ("tetra", 200), "left_end": ("triangle", 14)}
    for group, (kind, n) in sizes.items():
        assert {k: len(index) for k, index in mesh.cell_groups[group].items()} == {kind: n}, group
    assert mesh.points[mesh.cells_of("tetra", "left")][:, :, 0].max() == pytest.approx(10)
    assert mesh.points[mesh.cells_of("tetra", "right")][:, :, 0].min() == pytest.approx(10)
    assert mesh.points[mesh.cells_of("triangle", "base")][:, :, 2] == pytest.approx(0, abs=1e-9)
    assert mesh.points[mesh.point_groups["corner"]] == pytest.approx(np.zeros((1, 3)), abs=1e-9)


def test_gmsh_with_cells_in_no_group():
    mesh = read_mesh(DATA / "blocks_save_all.msh")
    assert mesh.groups == ["base", "left"]
    assert len(mesh.cells_of("tetra", "left")) == 100


def test_nothing_is_printed(capfd):
    for name in EVERY:
        read_mesh(DATA / name)
    assert capfd.readouterr() == ("", "")


def test_reading_leaves_meshio_unimported_until_needed():
    code = "import sys, symplex.meshes.formats.read, symplex.meshes.formats.save; sys.exit('meshio' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


# -- Gmsh -------------------------------------------------------------------------------------------------------


def edited(tmp_path, name, *replacements):
    text = (DATA / name).read_text()
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    file = tmp_path / name
    file.write_text(text)
    return file


@pytest.mark.parametrize("name", ["blocks_22.msh", "blocks_41.msh"])
def test_groups_without_names_and_with_the_same_name(tmp_path, name):
    file = edited(
        tmp_path, name, ('3 1 "left"', '3 1 "base"'), ("$PhysicalNames\n6", "$PhysicalNames\n5"), ('3 2 "right"\n', "")
    )
    mesh = read_mesh(file)
    assert {kind: len(index) for kind, index in mesh.cell_groups["base"].items()} == {"tetra": 100, "triangle": 28}
    assert mesh.points[mesh.cells_of("tetra", "volume_2")][:, :, 0].min() == pytest.approx(10)
    check_mesh(mesh)


def test_gmsh_parametric_nodes_and_gaps_in_the_numbering(tmp_path):
    file = tmp_path / "one.msh"
    file.write_text(
        "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n2 4 7 90\n2 1 1 3\n7\n8\n50\n0 0 0 0.1 0.2\n1 0 0 0.3 0.4\n"
        "0 1 0 0.5 0.6\n3 1 0 1\n90\n0 0 1\n$EndNodes\n$Elements\n1 1 5 5\n3 1 4 1\n5 7 8 50 90\n$EndElements\n"
    )
    mesh = read_mesh(file)
    assert describe(mesh).volume == pytest.approx(1 / 6)
    file.write_text(file.read_text().replace("5 7 8 50 90", "5 7 8 50 91"))
    with pytest.raises(MeshError, match=r"one\.msh: a tetra cell refers to a node that is not in the file"):
        read_mesh(file)


def test_gmsh_partitioned_is_refused(tmp_path):
    file = edited(
        tmp_path, "blocks_41.msh", ("$Entities", "$PartitionedEntities"), ("$EndEntities", "$EndPartitionedEntities")
    )
    with pytest.raises(MeshError, match=r"blocks_41\.msh: the mesh is partitioned; save it without"):
        read_mesh(file)


# -- Abaqus -----------------------------------------------------------------------------------------------------

DECK = """** two tetrahedra and a hexahedron, as pre-processors write them
*Heading
 1, not, numbers
*Part, name=Part-1
*Node, nset=Below
 10, 0., 0., 0.
 20, 1., 0., 0.
 30, 0., 1., 0.
*NODE
 40, 0., 0., 1.
 50, 1., 1., 1.
 1, 5., 0., 0.
 2, 6., 0., 0.
 3, 6., 1., 0.
 4, 5., 1., 0.
 5, 5., 0., 1.
 6, 6., 0., 1.
 7, 6., 1., 1.
 8, 5., 1., 1.
*Element, type=C3D8R
 300, 1, 2, 3, 4, 5,
 6, 7, 8
*Element, type=c3d4, elset=Tets
 100, 10, 20, 30, 40
*Element, type=C3D4, elset=Tets
 200, 20, 50, 30, 40
*Nset, nset=Odd, generate
 1, 7, 2
*Nset, nset="With space"
 Odd, 10,
 20
*Elset, elset=Mixed
 100, 300
*Elset, elset=Both
 TETS, Mixed
*Elset, elset=Both
 200
*End Part
*Assembly, name=A
*Instance, name=Part-1-1,
 part=Part-1
*End Instance
*Nset, nset=Support, instance=Part-1-1
 2, 3
*End Assembly
*Material, name=steel
*Elastic
 210000., 0.3
"""


def read_deck(tmp_path, text):
    file = tmp_path / "deck.inp"
    file.write_text(text)
    return read_mesh(file)


def test_abaqus_sets(tmp_path):
    mesh = read_deck(tmp_path, DECK)
    check_mesh(mesh)
    assert describe(mesh).volume == pytest.approx(1 + 1 / 6 + 1 / 3)
    sizes = {name: {k: len(i) for k, i in members.items()} for name, members in mesh.cell_groups.items()}
    assert sizes == {
        "Tets": {"tetra": 2},
        "Mixed": {"tetra": 1, "hexahedron": 1},
        "Both": {"tetra": 2, "hexahedron": 1},
    }
    assert mesh.points[mesh.point_groups["Below"]].tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    assert mesh.points[mesh.point_groups["Odd"]].tolist() == [[5, 0, 0], [6, 1, 0], [5, 0, 1], [6, 1, 1]]
    assert len(mesh.point_groups["With space"]) == 6
    assert mesh.points[mesh.point_groups["Support"]].tolist() == [[6, 0, 0], [6, 1, 0]]


def test_abaqus_include(tmp_path):
    head, tail = DECK.split("*Element, type=C3D8R")
    (tmp_path / "nodes.inc").write_text(head)
    mesh = read_deck(tmp_path, "*INCLUDE, INPUT=nodes.inc\n*Element, type=C3D8R" + tail)
    assert describe(mesh).n_points == 13


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("type=C3D8R", "type=C3D9R", "element type 'C3D9R' is not supported"),
        (" TETS, Mixed", " Tits, Mixed", "set 'Tits', which is not defined"),
        (" 200, 20", " 100, 20", "element 100 is defined twice.*without parts"),
        (" 50, 1., 1.", " 40, 1., 1.", "node 40 is defined twice"),
        (" 2, 3\n*End", " 2, 99\n*End", "node that the file does not define"),
        ("part=Part-1\n", "part=Part-2\n 1., 0., 0.\n", "the part 'Part-2', which is not there"),
        ("part=Part-1\n", "part=Part-1\n\n 1., 0., 0.\n 0., 0., 0., 0., 0., 0., 9.\n", "has no direction"),
        ("part=Part-1\n", "part=Part-1\n 1., 0., 0.\n 0., 0., 0., 9.\n", "is not a shift and seven numbers"),
        ("part=Part-1\n", "part=Part-1\n*Instance, name=part-1-1, part=Part-1\n", "two instances called 'part-1-1'"),
        ("20, 50, 30, 40", "20, 50, 30", "not a whole abaqus file"),
        ("0., 1., 0.\n*NODE", "0., one, 0.\n*NODE", "not a whole abaqus file.*0., one, 0."),
    ],
)
def test_abaqus_mistakes_are_named(tmp_path, old, new, says):
    assert old in DECK
    with pytest.raises(MeshError, match=rf"deck\.inp.*{says}"):
        read_deck(tmp_path, DECK.replace(old, new))


def test_abaqus_instances_are_shifted_then_turned(tmp_path):
    other = "*Instance, name=Other, part=Part-1\n 1., 0., 0.\n 2., 0., 0., 2., 0., 5., 90.\n*End Instance\n"
    text = DECK.replace("*End Instance\n", f"*End Instance\n{other}*Nset, nset=Far, instance=Other\n 2, 3\n")
    mesh, one = read_deck(tmp_path, text), read_deck(tmp_path, DECK)
    n = len(one.points)
    assert np.array_equal(mesh.points[:n], one.points)
    x, y, z = (one.points + np.array([1.0, 0.0, 0.0])).T  # turned about the line x = 2, y = 0
    assert np.allclose(mesh.points[n:], np.stack([2.0 - y, x - 2.0, z], axis=1), atol=1e-14)
    assert {kind: len(cells) for kind, cells in mesh.cells.items()} == {
        kind: 2 * len(cells) for kind, cells in one.cells.items()
    }
    for name in ("Below", "Odd", "Tets", "With space"):
        assert np.array_equal(mesh.nodes_of(f"Part-1-1.{name}"), one.nodes_of(name))
        assert np.array_equal(mesh.nodes_of(f"Other.{name}"), one.nodes_of(name) + n)
    assert np.array_equal(mesh.nodes_of("Support"), one.nodes_of("Support"))
    assert np.array_equal(mesh.nodes_of("Far"), one.nodes_of("Support") + n)


# -- VTK data as groups -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "values", "groups"),
    [
        ("material", [3, 3, 7, 7], {"material_3": [0, 1], "material_7": [2, 3]}),
        ("material", [1, 1, 1, 1], {"material": [0, 1, 2, 3]}),
        ("material", [0, 0, 0, 0], {"material_0": [0, 1, 2, 3]}),
        ("is_soft", [0, 1, 0, 1], {"is_soft": [1, 3]}),
        ("head-foot", [0, 1, -1, 0], {"head": [0, 3], "foot": [1]}),
        ("left-end_right-end", [0, 1, 1, 1], {"left-end": [0], "right-end": [1, 2, 3]}),
        ("head", [0, -1, -1, 0], {"head": [0, 3]}),
        ("vtkGhostType", [0, 1, 0, 1], {}),
        ("stress", [0.0, 1.0, 0.0, 1.0], {}),
        ("pair", [[0, 1]] * 4, {}),
    ],
)
def test_integer_data_of_vtk_files_are_groups(tmp_path, key, values, groups):
    import meshio

    points = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (-1, 0, 0)], float)
    tetrahedra = np.array([(0, 1, 2, 3), (1, 4, 2, 3), (0, 2, 5, 3), (0, 1, 2, 4)])
    data = [np.array(values)]
    raw = meshio.Mesh(points, {"tetra": tetrahedra}, cell_data={key: data}, point_data={key: np.arange(6) / 7})
    raw.write(tmp_path / "data.vtu")
    mesh = read_mesh(tmp_path / "data.vtu")
    assert {name: members["tetra"].tolist() for name, members in mesh.cell_groups.items()} == groups
    assert not mesh.point_groups


def test_numbers_of_things_are_not_groups(tmp_path):
    import meshio

    mesh = box((1, 1, 1), (4, 4, 4))
    cells = mesh.cells["tetra"]
    raw = meshio.Mesh(mesh.points, {"tetra": cells}, cell_data={"GlobalId": [np.arange(len(cells))]})
    raw.write(tmp_path / "ids.vtu")
    assert read_mesh(tmp_path / "ids.vtu").groups == []


def test_groups_of_med_files(tmp_path):
    """Salome's files hold families, each in several groups."""
    import meshio

    mesh = box((1, 1, 1), (1, 1, 1))
    families = np.where(np.arange(24) < 10, -6, -7)
    raw = meshio.Mesh(
        mesh.points,
        {"tetra": mesh.cells["tetra"]},
        cell_data={"cell_tags": [families]},
        point_data={"point_tags": np.array([2] * 3 + [0] * 12)},
    )
    raw.cell_tags, raw.point_tags = {-6: ["hook", "all"], -7: ["all"]}, {2: ["tip"]}
    meshio.write(tmp_path / "salome.med", raw)
    found = describe(read_mesh(tmp_path / "salome.med"))
    assert found.cell_groups == {"hook": {"tetra": 10}, "all": {"tetra": 24}}
    assert found.point_groups == {"tip": 3}


# -- bad files --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("none.msh", None, "there is no mesh file .*none"),
        ("folder.msh", "directory", "is a directory"),
        ("part.step", b"ISO-10303-21;", r"no mesh format has the extension '\.step'; known are .*\.inp.*\.msh.*\.vtu"),
        ("part", b"x", "no mesh format has the extension ''"),
        ("empty.vtu", b" \n", "is empty"),
        ("noise.msh", b"\x00\xff nonsense", "noise.msh is not a whole gmsh file"),
        ("noise.vtk", b"nonsense\n" * 9, "noise.vtk is not a whole vtk file"),
        ("noise.vtu", b"<VTKFile>", "noise.vtu is not a whole vtu file"),
        ("noise.inp", b"nonsense\n" * 9, "noise.inp has no volume cells such as tetrahedra; it has no cells at all"),
        ("noise.med", b"nonsense", "noise.med is not a whole med file"),
        ("ansys.msh", b"(0 nonsense", "ansys.msh is not a whole ansys file"),
    ],
)
def test_bad_files_are_named_with_the_reason(tmp_path, capfd, name, content, says):
    file = tmp_path / name
    if content == "directory":
        file.mkdir()
    elif content is not None:
        file.write_bytes(content)
    with pytest.raises(MeshError, match=says) as caught:
        read_mesh(file)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_unknown_cells_are_refused(tmp_path):
    import meshio

    raw = meshio.Mesh(np.eye(4, 3), {"VTK_LAGRANGE_TETRAHEDRON": [[0, 1, 2, 3]]})
    meshio.write(tmp_path / "curved.vtu", raw)
    with pytest.raises(MeshError, match=r"curved\.vtu: cells of the type 'VTK_LAGRANGE_TETRAHEDRON' are not supported"):
        read_mesh(tmp_path / "curved.vtu")


def test_surface_meshes_are_refused_by_what_they_have(tmp_path):
    mesh = box((1, 1, 1), (1, 1, 1), split="6")
    save_mesh(Mesh(mesh.points, {"triangle": mesh.cells["triangle"]}), tmp_path / "skin.vtu")
    with pytest.raises(MeshError, match=r"skin\.vtu has no volume cells such as tetrahedra; it has 12 triangle\."):
        read_mesh(tmp_path / "skin.vtu")


def test_coordinates_that_are_no_numbers_are_refused(tmp_path):
    mesh = box((1, 1, 1), (1, 1, 1))
    points = mesh.points.copy()
    points[[3, 5], 1] = np.nan
    save_mesh(Mesh(points, mesh.cells), tmp_path / "nan.msh")
    with pytest.raises(MeshError, match=r"nan\.msh: the coordinates of 2 of 15 nodes \(the first is 3\)"):
        read_mesh(tmp_path / "nan.msh")


@pytest.mark.parametrize("scale", [0, -1, np.nan, np.inf])
def test_impossible_scales_are_refused(scale):
    with pytest.raises(MeshError, match="scale must be a positive number"):
        read_mesh(DATA / "blocks.vtu", scale=scale)


@pytest.mark.parametrize("name", EVERY)
def test_damaged_files_raise_only_mesh_errors(tmp_path, capfd, name):
    whole = (DATA / name).read_bytes()
    rng = random.Random(name)
    file = tmp_path / name
    refused = 0
    for trial in range(30):
        damaged = bytearray(whole[: len(whole) * trial // 20] if trial < 20 else whole)
        for _ in range(4 * (trial >= 20)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        file.write_bytes(damaged)
        try:
            mesh = read_mesh(file)
        except MeshError:
            refused += 1
        else:
            assert np.isfinite(mesh.points).all()
            assert max(cells.max() for cells in mesh.cells.values()) < len(mesh.points)
    assert refused >= 5
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "extension",
    [
        "msh",
        "ele",
        "dat",
        "mdpa",
        "mesh",
        "bdf",
        "su2",
        "avs",
        "vol",
        "xdmf",
        pytest.param("med", marks=pytest.mark.slow),
    ],
)
def test_other_formats_are_read_whole_and_refused_cut_short(tmp_path, capfd, extension):
    """Some readers of meshio would wait for ever at the end of a file that is cut short."""
    import meshio

    mesh, file = box((1, 1, 1), (1, 1, 1)), tmp_path / f"box.{extension}"
    raw = meshio.Mesh(mesh.points, {"tetra": mesh.cells["tetra"]})
    meshio.write(file, raw, "ansys" if extension == "msh" else None)
    capfd.readouterr()
    assert describe(read_mesh(file)).volume == pytest.approx(1)
    whole = file.read_bytes()
    for part in range(10):
        file.write_bytes(whole[: len(whole) * part // 10])
        with pytest.raises(MeshError, match="box"):
            read_mesh(file)
    assert capfd.readouterr() == ("", "")


def test_known_extensions():
    assert {".msh", ".inp", ".vtk", ".vtu", ".med"} <= set(known_extensions())
    assert ".svg" not in known_extensions()


# -- unconnected nodes ------------------------------------------------------------------------------------------


def test_unconnected_nodes_go_only_when_asked(tmp_path):
    mesh = box((1, 1, 1), (1, 1, 1))
    loose = Mesh(np.concatenate([[[7.0, 7, 7]], mesh.points]), {k: c + np.int32(1) for k, c in mesh.cells.items()})
    save_mesh(loose, tmp_path / "loose.msh")
    assert len(read_mesh(tmp_path / "loose.msh").points) == 16
    kept = read_mesh(tmp_path / "loose.msh", keep_unconnected=False)
    assert np.array_equal(kept.points, mesh.points)


# -- writing ----------------------------------------------------------------------------------------------------


def bodies():
    blocks = {
        "foot": box((1, 1, 1), (2, 2, 2)),
        "left-end": box((1, 1, 1), (2, 1, 1), split="hexahedra", origin=(2, 0, 0)),
    }
    mesh = merge(blocks)
    points = {"marks_1": np.array([0, 5], np.int32), "marks_2": np.array([5, 7], np.int32)}
    return Mesh(mesh.points, mesh.cells, mesh.cell_groups, points)


@pytest.mark.parametrize("extension", ["msh", "inp", "vtu", "vtk"])
def test_written_meshes_come_back_with_all_groups(tmp_path, capfd, extension):
    mesh, file = bodies(), tmp_path / f"two.{extension}"
    save_mesh(mesh, file)
    back = read_mesh(file)
    assert np.array_equal(back.points, mesh.points)
    assert describe(back).cells == describe(mesh).cells
    assert describe(back).cell_groups == describe(mesh).cell_groups
    assert back.groups == mesh.groups
    for group in mesh.groups:
        assert np.array_equal(back.nodes_of(group), mesh.nodes_of(group)), group
    check_mesh(back)
    assert capfd.readouterr() == ("", "")


def test_written_gmsh_files_are_read_by_meshio(tmp_path):
    import meshio

    save_mesh(bodies(), tmp_path / "two.msh")
    raw = meshio.read(tmp_path / "two.msh", "gmsh")
    found = {name: sum(len(i) for i in members if i is not None) for name, members in raw.cell_sets.items()}
    assert found["foot.body"] == 192
    assert found["left-end.z_max"] == 2
    assert found["marks_1"] == found["marks_2"] == 2


def test_written_gmsh_files_are_read_by_gmsh(tmp_path):
    gmsh = pytest.importorskip("gmsh", exc_type=(ImportError, OSError))
    save_mesh(bodies(), tmp_path / "two.msh")
    gmsh.initialize()
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        gmsh.open(str(tmp_path / "two.msh"))
        names = {(dim, gmsh.model.getPhysicalName(dim, tag)) for dim, tag in gmsh.model.getPhysicalGroups()}
        gmsh.write(str(tmp_path / "again.msh"))
    finally:
        gmsh.finalize()
    assert {(3, "foot"), (2, "foot.x_min"), (3, "left-end.body"), (0, "marks_2")} <= names
    again = read_mesh(tmp_path / "again.msh")
    assert again.groups == bodies().groups
    assert describe(again).cells == describe(bodies()).cells


def test_plane_lattices_are_written_in_space(tmp_path):
    lattice = bar_lattice((1, 1), (2, 2))
    for extension in ("msh", "vtu"):
        save_mesh(lattice, tmp_path / f"plane.{extension}")
        with pytest.raises(MeshError, match=r"no volume cells such as tetrahedra; it has .*12 line"):
            read_mesh(tmp_path / f"plane.{extension}")


def test_what_cannot_be_written_is_refused(tmp_path):
    mesh = bodies()
    with pytest.raises(MeshError, match=r"written as \.msh, \.inp, \.vtu, \.vtk, not '\.stl'"):
        save_mesh(mesh, tmp_path / "two.stl")
    with pytest.raises(MeshError, match="no cells to write"):
        save_mesh(Mesh(mesh.points, {}), tmp_path / "two.msh")
    with pytest.raises(MeshError, match="Gmsh has no cells of the type 'polygon'"):
        save_mesh(Mesh(mesh.points, {"polygon": np.array([[0, 1, 2, 3, 4]], np.int32)}), tmp_path / "two.msh")
    with pytest.raises(MeshError, match="cannot be written: No such file"):
        save_mesh(mesh, tmp_path / "missing" / "two.msh")
    spaced = Mesh(mesh.points, mesh.cells, {"left end": mesh.cell_groups["foot"]})
    with pytest.raises(MeshError, match=r"cannot have spaces \('left end'\)"):
        save_mesh(spaced, tmp_path / "two.vtk")
