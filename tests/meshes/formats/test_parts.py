"""Meshes of LS-DYNA and Radioss decks."""

from __future__ import annotations

import numpy as np
import pytest

import symplex as sx
from symplex.errors import MeshError
from symplex.meshes.quality import check_mesh, describe


def points_of(mesh):
    return list(enumerate(mesh.points.tolist(), start=1))


def lsdyna(mesh, nodes, solids) -> str:
    lines = ["$ written by a test", "*KEYWORD", "*NODE"]
    lines += [f"{k:8d}{x:16.9e}{y:16.9e}{z:16.9e}       0       0" for k, (x, y, z) in points_of(mesh)]
    lines += ["*PART", "steel", f"{7:10d}{1:10d}", "*ELEMENT_SOLID", *solids]
    lines += ["*SET_NODE_LIST_TITLE", "left side", f"{3:10d}", "".join(f"{k:10d}" for k in nodes), "*END", "junk"]
    return "\n".join(lines) + "\n"


def radioss(mesh, nodes, word, rows) -> str:
    lines = ["#RADIOSS STARTER", "/BEGIN", "a model", "/NODE"]
    lines += [f"{k:10d}{x:20.12e}{y:20.12e}{z:20.12e}" for k, (x, y, z) in points_of(mesh)]
    lines += ["/PART/7", "steel", f"{1:10d}", f"/{word}/7", *rows, "/GRNOD/NODE/3", "left side"]
    lines += ["".join(f"{k:10d}" for k in nodes), "/END", "junk"]
    return "\n".join(lines) + "\n"


def written(folder, name, text):
    path = folder / name
    path.write_text(text)
    return path


def check(path, mesh, kind):
    found = sx.read_mesh(path)
    check_mesh(found)
    assert np.abs(found.points - mesh.points).max() < 1e-9
    assert {k: c.tolist() for k, c in found.cells.items()} == {kind: mesh.cells[kind].tolist()}
    assert len(found.cells_of(kind, "steel")) == len(mesh.cells[kind])
    assert found.nodes_of("left side").tolist() == left(mesh).tolist()


def left(mesh):
    return np.flatnonzero(mesh.points[:, 0] == 0.0)


@pytest.mark.parametrize("split", ["hexahedra", "6"])
def test_lsdyna_solids(tmp_path, split):
    mesh = sx.box((2.0, 1.0, 1.0), (2, 1, 1), split=split)
    (kind,) = mesh.volume_types
    cells = mesh.cells[kind] + 1
    repeated = np.column_stack([cells, *[cells[:, -1]] * (8 - cells.shape[1])])
    rows = ["".join(f"{n:8d}" for n in (k, 7, *row)) for k, row in enumerate(repeated.tolist(), start=1)]
    check(written(tmp_path, "part.k", lsdyna(mesh, left(mesh) + 1, rows)), mesh, kind)
    rows = [line for row in rows for line in (row[:16], row[16:])]
    check(written(tmp_path, "lines.key", lsdyna(mesh, left(mesh) + 1, rows)), mesh, kind)


def test_lsdyna_quadratic_tetrahedra_and_shells(tmp_path):
    mesh = sx.quadratic(sx.box((1.0, 1.0, 1.0), (1, 1, 1), split="6"))
    rows = [
        line
        for k, row in enumerate((mesh.cells["tetra10"] + 1).tolist(), start=1)
        for line in (f"{k}, 7", ", ".join(map(str, row)))
    ]
    text = lsdyna(mesh, left(mesh) + 1, rows)
    check(written(tmp_path, "part.k", text), mesh, "tetra10")
    numbers = (100, 9, 1, 2, 3, 3), (101, 9, 1, 2, 3, 4)
    shells = "".join(["*ELEMENT_SHELL\n", *("".join(f"{n:8d}" for n in row) + "\n" for row in numbers)])
    found = sx.read_mesh(written(tmp_path, "shells.k", text.replace("*ELEMENT_SOLID\n", shells + "*ELEMENT_SOLID\n")))
    assert {k: len(c) for k, c in found.cells.items()} == {"triangle": 1, "quad": 1, "tetra10": 6}
    assert {*found.cell_groups} == {"steel", "part_9"}


def test_lsdyna_parts_and_sets_without_titles(tmp_path):
    mesh = sx.box((2.0, 1.0, 1.0), (2, 1, 1), split="hexahedra")
    rows = ["".join(f"{n:8d}" for n in (1, 7, *row)) for row in (mesh.cells["hexahedron"][:1] + 1).tolist()]
    rows += ["".join(f"{n:8d}" for n in (2, 8, *row)) for row in (mesh.cells["hexahedron"][1:] + 1).tolist()]
    text = lsdyna(mesh, left(mesh) + 1, rows)
    card = f"{7:10d}{1:10d}\n"
    text = text.replace(f"steel\n{card}", f"\n{card}rubber\n{8:10d}{1:10d}\n").replace("left side", "")
    found = sx.read_mesh(written(tmp_path, "part.k", text))
    assert {"part_7", "rubber", "set_3"} <= {*found.groups}
    assert found.nodes_of("set_3").tolist() == left(mesh).tolist()


def test_lsdyna_include(tmp_path):
    mesh = sx.box((1.0, 1.0, 1.0), (1, 1, 1), split="hexahedra")
    text = lsdyna(mesh, left(mesh) + 1, ["".join(f"{n:8d}" for n in (1, 7, *(mesh.cells["hexahedron"][0] + 1)))])
    head, tail = text.split("*PART")
    written(tmp_path, "nodes.txt", head.replace("*KEYWORD\n", ""))
    path = written(tmp_path, "part.k", "*KEYWORD\n*INCLUDE\nnodes.txt\n*PART" + tail)
    check(path, mesh, "hexahedron")


@pytest.mark.parametrize(("split", "word"), [("hexahedra", "BRICK"), ("6", "TETRA4")])
def test_radioss_solids(tmp_path, split, word):
    mesh = sx.box((2.0, 1.0, 1.0), (2, 1, 1), split=split)
    (kind,) = mesh.volume_types
    rows = ["".join(f"{n:10d}" for n in (k, *row)) for k, row in enumerate((mesh.cells[kind] + 1).tolist(), start=1)]
    check(written(tmp_path, "part_0000.rad", radioss(mesh, left(mesh) + 1, word, rows)), mesh, kind)


def test_radioss_quadratic_tetrahedra(tmp_path):
    mesh = sx.quadratic(sx.box((1.0, 1.0, 1.0), (1, 1, 1), split="6"))
    cells = (mesh.cells["tetra10"] + 1).tolist()
    rows = [line for k, row in enumerate(cells, start=1) for line in (f"{k:10d}", "".join(f"{n:10d}" for n in row))]
    check(written(tmp_path, "part.rad", radioss(mesh, left(mesh) + 1, "TETRA10", rows)), mesh, "tetra10")


@pytest.mark.parametrize(
    ("name", "old", "new", "says"),
    [
        ("part.k", "*KEYWORD", "*KEYWORD LONG=Y", r"wider than the standard"),
        ("part.k", "*PART", "*NODE_TRANSFORM\n1\n*PART", r"uses \*NODE_TRANSFORM"),
        ("part.k", "       7       1", "       7     999", "not in the file .999."),
        ("part.k", "       7       1", "       7     one", "'one' stands where an integer must be"),
        ("part.rad", "/BRICK/7", "/BRIC20/7", "elements /BRIC20 are not supported"),
        ("part.rad", "/BRICK/7", "/BRICK", "a /BRICK has no number"),
        ("part.rad", "/BRICK/7", "/TETRA10/7", None),
        ("part.rad", "/BRICK/7", "/TRANSFORM/TRA/1\n/BRICK/7", "uses /TRANSFORM"),
    ],
)
def test_mistakes_are_told(tmp_path, name, old, new, says):
    mesh = sx.box((1.0, 1.0, 1.0), (1, 1, 1), split="hexahedra")
    cell = (mesh.cells["hexahedron"][0] + 1).tolist()
    width = 8 if name.endswith("k") else 10
    numbers = (1, 7, *cell) if name.endswith("k") else (1, *cell)
    row = "".join(f"{n:{width}d}" for n in numbers)
    nodes = left(mesh) + 1
    text = lsdyna(mesh, nodes, [row]) if name.endswith("k") else radioss(mesh, nodes, "BRICK", [row])
    assert old in text
    with pytest.raises(MeshError, match=says or "nodes, not 10"):
        sx.read_mesh(written(tmp_path, name, text.replace(old, new)))


def test_other_names_of_these_files_are_told(tmp_path):
    with pytest.raises(MeshError, match=r"an LS-DYNA input file, to judge by its content.*name it .k"):
        sx.read_mesh(written(tmp_path, "part.inp", "$ by hand\n*KEYWORD\n*NODE\n"))
    with pytest.raises(MeshError, match=r"a Radioss starter file.*name it .rad"):
        sx.read_mesh(written(tmp_path, "part.vtk", "#RADIOSS STARTER\n/BEGIN\n"))


def test_sizes_of_a_box(tmp_path):
    mesh = sx.box((2.0, 1.0, 1.0), (2, 1, 1), split="hexahedra")
    rows = ["".join(f"{n:10d}" for n in (k, *row)) for k, row in enumerate((mesh.cells["hexahedron"] + 1).tolist(), 1)]
    path = written(tmp_path, "part.rad", radioss(mesh, left(mesh) + 1, "BRICK", rows))
    assert describe(sx.read_mesh(path, scale=1e-3)).volume == pytest.approx(2e-9)


def one_brick(number=1, part=7, width=8):
    """Return a brick of a unit box, and its line."""
    mesh = sx.box((1.0, 1.0, 1.0), (1, 1, 1), split="hexahedra")
    head = (number, part) if width == 8 else (number,)
    return mesh, "".join(f"{n:{width}d}" for n in (*head, *(mesh.cells["hexahedron"][0] + 1)))


def test_the_end_of_an_included_file_ends_that_file_only(tmp_path):
    mesh, row = one_brick()
    head, tail = lsdyna(mesh, left(mesh) + 1, [row]).split("*PART")
    written(tmp_path, "nodes.k", head + "*END\njunk\n")
    path = written(tmp_path, "part.k", "*KEYWORD\n*INCLUDE\nnodes.k\n*PART" + tail)
    check(path, mesh, "hexahedron")
    assert [line.split(", ", 1)[1] for line in sx.read_mesh(path).unknown] == [
        "nodes.k, line 13: a line after *END: it is not supported (2 times)"
    ]
    mesh, row = one_brick(width=10)
    head, tail = radioss(mesh, left(mesh) + 1, "BRICK", [row]).split("/PART")
    written(tmp_path, "nodes.inc", "\n".join(head.split("\n")[3:]) + "/END\n")
    check(written(tmp_path, "part.rad", "/BEGIN\na model\n#include nodes.inc\n/PART" + tail), mesh, "hexahedron")


@pytest.mark.parametrize(
    ("name", "more", "says"),
    [
        ("part.k", "*INCLUDE_AUTO_OFFSET\nmore.k\n", r"uses \*INCLUDE_AUTO_OFFSET"),
        ("part.k", "*DELETE_PART\n         7\n", r"uses \*DELETE_PART"),
        ("part.k", "*CASE_BEGIN_1\n", r"uses \*CASE_BEGIN_1"),
        ("part.k", "*ELEMENT_SOLID CID=2\n", r"uses \*ELEMENT_SOLID for one case only"),
        ("part.k", "*NODE%\n", "wider than the standard"),
        ("part.k", "*PART\nrubber\n", "a title has no part"),
        ("part.rad", "//SUBMODEL/3\nother\n", "uses /SUBMODEL"),
        ("part.rad", "/MERGE/NODE/1\n", "uses /MERGE"),
        ("part.rad", "/NODE/2\n        20                  1.\n", "/NODE/2 is in units that the file does not define"),
        ("part.rad", "/UNIT/2\nlocal\n kg mm\n", "units of mass, length and time are 'kg mm'"),
        ("part.rad", "/UNIT/2\nlocal\n kg parsec s\n", "unit 'parsec' is not supported"),
    ],
)
def test_what_changes_a_mesh_is_refused(tmp_path, name, more, says):
    mesh, row = one_brick(width=8 if name.endswith("k") else 10)
    text = lsdyna(mesh, [1], [row]) if name.endswith("k") else radioss(mesh, [1], "BRICK", [row])
    end = "*END" if name.endswith("k") else "/END"
    with pytest.raises(MeshError, match=says):
        sx.read_mesh(written(tmp_path, name, text.replace(end, more + end)))


def test_what_is_not_read_is_listed_and_refused_when_strict(tmp_path):
    mesh, row = one_brick()
    text = lsdyna(mesh, left(mesh) + 1, [row]).replace("junk\n", "")
    more = "*MAT_ELASTIC\n1\n*SET_SEGMENT\n1\n*ELEMENT_BEAM\n1\n*ELEMENT_BEAM\n2\n*NOVEL_KEYWORD\n1\n"
    path = written(tmp_path, "part.k", text)
    assert sx.read_mesh(path, strict=True).unknown == ()
    path = written(tmp_path, "part.k", text.replace("*END", more + "*END"))
    assert sx.read_mesh(path).unknown == (
        "part.k, line 23: *SET_SEGMENT: such sets are not read",
        "part.k, line 25: *ELEMENT_BEAM: such elements are not read (2 times)",
        "part.k, line 29: *NOVEL_KEYWORD: it is not supported",
    )
    with pytest.raises(MeshError, match=r"part\.k: all lines must be known, got line 23: \*SET_SEGMENT"):
        sx.read_mesh(path, strict=True)


def test_lsdyna_thick_shells_and_orthotropic_solids(tmp_path):
    """Thick shells are hexahedra of a formulation; directions of materials are below the nodes of solids."""
    mesh, row = one_brick()
    text = lsdyna(mesh, left(mesh) + 1, [row])
    thick = written(tmp_path, "thick.k", text.replace("*ELEMENT_SOLID", "*ELEMENT_TSHELL"))
    check(thick, mesh, "hexahedron")
    assert sx.read_mesh(thick).formulations == {"hexahedron": ("ELEMENT_TSHELL",)}
    below = "\n       1.0       0.0       0.0\n       0.0       1.0       0.0"
    lines = text.replace("*ELEMENT_SOLID", "*ELEMENT_SOLID_ORTHO").replace(row, row[:16] + "\n" + row[16:] + below)
    check(written(tmp_path, "ortho.k", lines), mesh, "hexahedron")


def test_radioss_units(tmp_path):
    """Coordinates are in the unit of /BEGIN, those of /NODE/2 in that of /UNIT/2; a scale must agree."""
    mesh, row = one_brick(width=10)
    text = radioss(mesh, left(mesh) + 1, "BRICK", [row])
    units = "a model\n      2018         0\n                  kg                  mm                  ms\n"
    text = text.replace("a model\n", units + "                   g                   m                   s\n")
    path = written(tmp_path, "part.rad", text)
    assert describe(sx.read_mesh(path)).volume == pytest.approx(1e-9)
    assert describe(sx.read_mesh(path, scale=1e-3)).volume == pytest.approx(1e-9)
    with pytest.raises(MeshError, match=r"part\.rad: scale must be 0\.001 m per unit of length, .* got 0\.0254"):
        sx.read_mesh(path, scale=0.0254)
    local = "/UNIT/2\nlocal\n kg cm s\n/NODE/2\n"
    path = written(tmp_path, "part.rad", text.replace("/NODE\n", local))
    assert describe(sx.read_mesh(path)).volume == pytest.approx(1e-6)
