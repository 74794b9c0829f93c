"""Files that say another mesh than a careless reader would return: read as what they say, or refused by name."""

import itertools
import os
import re
import shutil

import numpy as np
import pytest

from symplex.errors import InvalidArgument, MeshError, ScenarioError
from symplex.fem.actions.loads import SurfaceTraction
from symplex.meshes.formats.read import read_mesh
from symplex.meshes.formats.save import save_mesh
from symplex.meshes.generate import box
from symplex.meshes.mesh import Mesh
from symplex.meshes.midside_nodes import quadratic
from symplex.meshes.quality import check_mesh, describe
from symplex.scenario.scenario import Scenario

GMSH22 = """$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
2
2 7 "base"
3 9 "body"
$EndPhysicalNames
$Nodes
5
1 0 0 0
2 1 0 0
3 0 1 0
4 0 0 1
9 1 1 1
$EndNodes
$Elements
3
1 2 2 7 1 1 3 2
2 4 2 9 1 1 2 3 4
3 4 2 9 1 2 9 3 4
$EndElements
"""
GMSH41 = """$MeshFormat
4.1 0 8
$EndMeshFormat
$PhysicalNames
2
2 7 "base"
3 9 "body"
$EndPhysicalNames
$Entities
0 0 1 1
1 0 0 0 1 1 0 1 7 0
1 0 0 0 1 1 1 1 9 0
$EndEntities
$Nodes
1 5 1 9
3 1 0 5
1
2
3
4
9
0 0 0
1 0 0
0 1 0
0 0 1
1 1 1
$EndNodes
$Elements
2 3 1 3
2 1 2 1
1 1 3 2
3 1 4 2
2 1 2 3 4
3 2 9 3 4
$EndElements
"""


def read_text(tmp_path, text, name="part.msh"):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return read_mesh(tmp_path / name)


def changed(text, old, new):
    assert old in text
    return text.replace(old, new, 1)


def refusal(tmp_path, text, name="part.msh"):
    with pytest.raises(MeshError) as caught:
        read_text(tmp_path, text, name)
    message = str(caught.value)
    assert message.startswith(name)
    assert "\n" not in message
    return message


# -- Gmsh -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [GMSH22, GMSH41], ids=["2.2", "4.1"])
def test_gmsh_texts_are_read(tmp_path, text):
    mesh = read_text(tmp_path, text)
    check_mesh(mesh)
    assert describe(mesh).volume == pytest.approx(1 / 6 + 1 / 3)
    assert describe(mesh).cell_groups == {"base": {"triangle": 1}, "body": {"tetra": 2}}


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("3 4 2 9 1 2 9 3 4", "3 4 2 9 1 2 9 3", "element 3 has 8 numbers, not 3, 2 tags and 4 nodes"),
        ("3 4 2 9 1 2 9 3 4", "3 4 2 9 1 2 9 3 4 1", "element 3 has 10 numbers"),
        ("3 4 2 9 1 2 9 3 4", "3 4 2 9 1 0 9 3 4", r"refers to a node that is not in the file \(0\)"),
        ("3 4 2 9 1 2 9 3 4", "3 4 2 9 1 -3 9 3 4", r"refers to a node that is not in the file \(-3\)"),
        ("3 4 2 9 1 2 9 3 4", "3 4 2 9 1 2 9 3 3.7", "3.7 stands where an integer must be"),
        ("3 4 2 9 1 2 9 3 4", "3 4 2 9 1 2 9 3 nan", "nan stands where an integer"),
        ("3 4 2 9 1 2 9 3 4", "2 4 2 9 1 2 9 3 4", "element 2 is defined twice"),
        ("3 4 2 9 1 2 9 3 4", "3 4 -1 9 1 2 9 3 4", "element 3 has 9 numbers"),
        ("3 4 2 9 1 2 9 3 4", "3 99 2 9 1 2 9 3 4", "elements of Gmsh's type 99 are not supported"),
        ("3 4 2 9 1 2 9 3 4\n", "", "there are 2 elements, but it says 3"),
        ("9 1 1 1", "4 1 1 1", "node 4 is defined twice"),
        ("9 1 1 1", "3.7 1 1 1", "3.7 stands where an integer must be"),
        ("9 1 1 1", "0 1 1 1", "a node has the number 0"),
        ("9 1 1 1", "9 1 1 1 1", "a line does not have 4 numbers"),
        ("9 1 1 1\n", "9 1 1\n", "a section is shorter than it says"),
        ("$Nodes\n5", "$Nodes\n4", "a section is longer than it says"),
        ("$Nodes\n5", "$Nodes\n5.5", r"\$Nodes does not begin with a number"),
        ("$Elements", "$Nodes\n0\n$EndNodes\n$Elements", r"it has two sections \$Nodes"),
        ('2 7 "base"', '7 7 "base"', "a name of a group is"),
        ('2 7 "base"', '3 9 "base"', "physical group 9 of dimension 3 has two names"),
        ("$Elements", "gap\n$Elements", "something between its sections"),
    ],
)
def test_gmsh_22_is_read_strictly(tmp_path, old, new, says):
    import re

    assert re.search(says, refusal(tmp_path, changed(GMSH22, old, new)))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("\n4\n9\n0 0 0", "\n4\n3.7\n0 0 0", "3.7 stands where an integer must be"),
        ("\n4\n9\n0 0 0", "\n4\n4\n0 0 0", "node 4 is defined twice"),
        ("\n4\n9\n0 0 0", "\n4\n-9\n0 0 0", "-9 stands where an integer must be"),
        ("3 2 9 3 4", "2 2 9 3 4", "element 2 is defined twice"),
        ("3 2 9 3 4", "3 2 9 3 0", r"refers to a node that is not in the file \(0\)"),
        ("3 2 9 3 4", "3 2 9 3", "a section is shorter than it says"),
        ("3 2 9 3 4", "3 2 9 3 4 4", "a section is longer than it says|does not have 5"),
        ("2 1 2 3 4\n3 2 9 3 4", "2 1 2 3\n3 2 9 3 4 4", "a line does not have 5 numbers"),
        ("3 1 4 2", "3 2 4 2", "the entity 2 of dimension 3"),
        ("3 1 4 2", "2 1 4 2", "tetra cells are not of dimension 2"),
        ("1 5 1 9\n3", "1 6 1 9\n3", "there are 5 nodes, but it says 6"),
        ("2 3 1 3\n2", "2 4 1 3\n2", "there are 3 elements, but it says 4"),
        ("1 0 0 0 1 1 1 1 9 0", "1 0 0 0 1 1 1 1 9 0 5", "a section is longer than it says"),
    ],
)
def test_gmsh_41_is_read_strictly(tmp_path, old, new, says):
    import re

    assert re.search(says, refusal(tmp_path, changed(GMSH41, old, new)))


def test_gmsh_22_with_an_element_in_two_groups(tmp_path):
    """It is there once for each, by one number or by two."""
    again = "2 4 2 8 1 1 2 3 4\n3 4 2 9 1 2 9 3 4"
    for number in ("2", "4"):
        text = changed(GMSH22, "3 4 2 9 1 2 9 3 4", number + again[1:]).replace("$Elements\n3", "$Elements\n4")
        mesh = read_text(tmp_path, text)
        assert describe(mesh).cell_groups["volume_8"] == {"tetra": 1}
        assert describe(mesh).cells["tetra"] == 2


def test_gmsh_sections_and_groups_that_are_not_read_are_listed(tmp_path):
    more = "$Comments\nhere\n$EndComments\n$Novel\n1\n$EndNovel\n$Nodes"
    text = changed(changed(GMSH22, "$Nodes", more), '2\n2 7 "base"', '3\n1 4 "edge"\n2 7 "base"')
    assert read_text(tmp_path, text).unknown == (
        "part.msh, line 13: $Novel: it is not supported",
        "part.msh, line 6: group 'edge': it has no elements",
    )
    assert read_text(tmp_path, GMSH22).unknown == read_text(tmp_path, GMSH41).unknown == ()


def test_gmsh_22_binary_ends(tmp_path):
    import meshio

    mesh = box((1, 1, 1), (1, 1, 1))
    file = tmp_path / "box.msh"
    raw = meshio.Mesh(mesh.points, {"tetra": mesh.cells["tetra"]})
    meshio.write(file, raw, "gmsh22", binary=True)
    assert describe(read_mesh(file)).volume == pytest.approx(1)
    whole = file.read_bytes()
    at = whole.index(b"$Elements\n24\n") + len(b"$Elements\n24\n") + 4
    for count in (0, -1, 23, 25, 2**31 - 1):
        file.write_bytes(whole[:at] + np.int32(count).tobytes() + whole[at + 4 :])
        with pytest.raises(MeshError, match=r"box\.msh is not a whole gmsh file"):
            read_mesh(file)


GMSH1 = """$NOD
5
1 0 0 0
2 1 0 0
3 0 1 0
14 0 0 1
5 0 0 -1
$ENDNOD
$ELM
3
1 2 7 70 3 1 2 3
2 4 5 50 4 1 2 3 14
3 4 6 50 4 1 3 2 5
$ENDELM
"""


def test_version_1_of_gmsh(tmp_path):
    mesh = read_text(tmp_path, GMSH1)
    assert mesh.cells["tetra"].tolist() == [[0, 1, 2, 3], [0, 2, 1, 4]]
    assert mesh.points[3].tolist() == [0.0, 0.0, 1.0]
    assert {name: sorted(members) for name, members in mesh.cell_groups.items()} == {
        "surface_7": ["triangle"],
        "volume_5": ["tetra"],
        "volume_6": ["tetra"],
    }
    assert "element 2 has 4 nodes, but it says 5" in refusal(tmp_path, changed(GMSH1, "50 4 1 2 3 14", "50 5 1 2 3 14"))
    assert "there are 3 elements, but it says 4" in refusal(tmp_path, changed(GMSH1, "$ELM\n3", "$ELM\n4"))
    assert "cut short" in refusal(tmp_path, changed(GMSH1, "$ENDELM\n", ""))
    assert "no section $Elements" in refusal(tmp_path, GMSH1.partition("$ELM")[0])


def test_other_versions_of_gmsh(tmp_path):
    assert "of version 3 of Gmsh's format; save it" in refusal(tmp_path, changed(GMSH22, "2.2 0 8", "3 0 8"))
    raw = read_text(tmp_path, changed(GMSH22, "2.2 0 8", "2 0 8"))
    assert len(raw.cells["tetra"]) == 2
    assert "on another kind of machine" in refusal(tmp_path, changed(GMSH22, "2.2 0 8", "2.2 0 4"))


# -- Abaqus -----------------------------------------------------------------------------------------------------

DECK = """*HEADING
two cells
*NODE, NSET=ALL
1, 0., 0., 0.
2, 1., 0., 0.
3, 1., 1., 0.
4, 0., 1., 0.
5, 0., 0., 1.
6, 1., 0., 1.
7, 1., 1., 1.
8, 0., 1., 1.
9, 2., 0., 0.
10, 2., 1., 0.
11, 2., 0., 1.
12, 2., 1., 1.
*ELEMENT, TYPE=C3D8, ELSET=BRICKS
1, 1, 2, 3, 4, 5, 6, 7, 8
2, 2, 9, 10, 3, 6, 11, 12, 7
*ELSET, ELSET=ONE
1
*NSET, NSET=END
9, 10, 11, 12
"""


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("*NODE, NSET=ALL", "*NODE, NSET=ALL, SYSTEM=S", r"uses \*NODE, SYSTEM=S, which is not supported; write"),
        ("*NODE, NSET", "*SYSTEM\n1., 0., 0.\n*NODE, NSET", r"uses \*SYSTEM, which is not supported"),
        ("*ELSET, ELSET=ONE", "*NGEN\n1, 9, 1\n*ELSET, ELSET=ONE", r"uses \*NGEN.*write all nodes out"),
        ("*ELSET, ELSET=ONE", "*ELGEN\n1, 9, 1\n*ELSET, ELSET=ONE", r"uses \*ELGEN.*write all elements out"),
        ("*ELSET, ELSET=ONE", "*ELCOPY, OLD SET=ONE\n*ELSET, ELSET=ONE", r"uses \*ELCOPY"),
        ("*ELSET, ELSET=ONE", "*NFILL\n1, 9, 1\n*ELSET, ELSET=ONE", r"uses \*NFILL"),
        ("*ELSET, ELSET=ONE", "*NCOPY, CHANGE NUMBER=5\n*ELSET, ELSET=ONE", r"uses \*NCOPY"),
        ("*HEADING", "*PARAMETER\nx = 1\n*HEADING", r"uses \*PARAMETER"),
        ("9, 2., 0., 0.", "9.6, 2., 0., 0.", r"the line of a node is '9\.6"),
        ("9, 2., 0., 0.", "-9, 2., 0., 0.", r"the line of a node is '-9"),
        ("9, 2., 0., 0.", "0, 2., 0., 0.", "a node has the number 0"),
        ("9, 2., 0., 0.", "9, 2., 0., nan", "the line of a node is"),
        ("9, 2., 0., 0.", "9, 2., 0., 0x1", "the line of a node is"),
        ("2, 2, 9, 10, 3, 6, 11, 12, 7", "2, 2, 9, 10, 3, 6, 11, 12", "element 2 of type C3D8 has 7 nodes, not 8"),
        ("1, 1, 2, 3, 4, 5, 6, 7, 8", "1, 1, 2, 3, 4, 5, 6, 7", "element 1 of type C3D8 has more numbers than 9"),
        ("1, 1, 2, 3, 4, 5, 6, 7, 8", "1, 1, 2, 3, 4, 5, 6, 7, 8.5", "the line of an element is"),
        ("*ELSET, ELSET=ONE\n1", "*ELSET, ELSET=ONE, GENERATE\n2, 1, 1", "a range of a set is '2, 1, 1'"),
        ("*ELSET, ELSET=ONE\n1", "*ELSET, ELSET=ONE, GENERATE\n1, 2, 0", "a range of a set is '1, 2, 0'"),
        ("*ELSET, ELSET=ONE\n1", "*ELSET\n1", r"a \*ELSET has no ELSET"),
        ("*ELSET, ELSET=ONE\n1", "*ELSET, ELSET=ONE\n7", "refers to a element that the file does not define, 7"),
        ("TYPE=C3D8", "TYPE=C3D9", "element type 'C3D9' is not supported"),
        ("*ELSET, ELSET=ONE", "*INSTANCE, NAME=a\n*INSTANCE, NAME=b\n*ELSET, ELSET=ONE", "the part ''"),
        ("*ELSET, ELSET=ONE", "*SURFACE, NAME=S, COMBINE=UNION\nA, B\n*ELSET, ELSET=ONE", "with COMBINE"),
        ("*ELSET, ELSET=ONE", "*SURFACE, NAME=S\nBRICKS, S7\n*ELSET, ELSET=ONE", "has the side 'S7' of hexahedron"),
        ("*ELSET, ELSET=ONE", "*SURFACE, NAME=S\nNONE, S1\n*ELSET, ELSET=ONE", "'S' refers to the set 'NONE'"),
        ("*ELSET, ELSET=ONE", "*SURFACE, NAME=S\n7, S1\n*ELSET, ELSET=ONE", "'S' refers to an element"),
    ],
)
def test_abaqus_is_read_strictly(tmp_path, old, new, says):
    import re

    message = refusal(tmp_path, changed(DECK, old, new), "deck.inp")
    assert re.search(says, message), message


def test_abaqus_numbers_of_all_kinds(tmp_path):
    """Coordinates of 0 may be left out between commas, and at the end of the line."""
    text = DECK.replace("9, 2., 0., 0.\n", "9, 2.D0, , +0.e0,\n").replace("4, 0., 1., 0.\n", "4, ,1,0, 0, 0, 1\n")
    text = text.replace("10, 2., 1., 0.\n", "10, 2., 1.\n").replace("2, 1., 0., 0.\n", "2, 1.\n")
    assert np.array_equal(read_text(tmp_path, text, "deck.inp").points, read_text(tmp_path, DECK, "deck.inp").points)


def test_abaqus_keywords_that_are_not_read_are_listed(tmp_path):
    more = "*MATERIAL, NAME=A\n*ELASTIC\n1., 0.\n*MODEL CHANGE, REMOVE\nONE\n*NODE, NOVEL=1\n99, 0.\n"
    lines = read_text(tmp_path, "1, 2\n" + DECK + more, "deck.inp").unknown
    assert [line.split(": ", 1)[1] for line in lines] == [
        "a line before the first keyword: it is not supported",
        "*MODEL CHANGE: it is not supported",
        "*NODE, NOVEL: the parameter is not supported",
    ]
    more = changed(DECK, "1, 1, 2, 3, 4, 5, 6, 7, 8", "1, 1, 2, 3, 4, 5, 6, 7, 8, 9")
    mesh = read_text(tmp_path, more, "deck.inp")
    assert mesh.cells["hexahedron"][0].tolist() == [*range(8)]
    assert mesh.unknown[0].endswith("*ELEMENT, TYPE=C3D8: lines have more numbers than 9, which are not read")
    part = (
        "*PART, NAME=A\n{}*END PART\n*PART, NAME=B\n*NODE\n1, 9.\n*END PART\n*INSTANCE, NAME=I, PART=A\n*END INSTANCE\n"
    )
    mesh = read_text(tmp_path, part.format(DECK.replace("*HEADING\ntwo cells\n", "")), "parts.inp")
    assert len(mesh.points) == 12
    assert any(line.endswith("*NODE: its part has no instance") for line in mesh.unknown)


def test_abaqus_cylindrical_coordinates(tmp_path):
    mesh = read_text(
        tmp_path,
        "*NODE, SYSTEM=C\n1, 0, 0, 0\n2, 2, 0, 0\n3, 2, 90, 0\n4, 0, 0, 1\n*ELEMENT, TYPE=C3D4\n1, 1, 2, 3, 4\n",
        "deck.inp",
    )
    np.testing.assert_allclose(mesh.points, [(0, 0, 0), (2, 0, 0), (0, 2, 0), (0, 0, 1)], atol=1e-15)


def area(mesh, group):
    return SurfaceTraction(mesh.points, mesh.faces_of(group), (1.0, 0.0, 0.0)).forces[:, 0].sum()


def test_abaqus_surfaces_are_groups(tmp_path):
    more = """*SURFACE, NAME=RIGHT, TYPE=ELEMENT
2, S4
*SURFACE, NAME=FLOOR
BRICKS, S1
*SURFACE, NAME=SIDES
ONE, S3
1, S5
1, S5
*SURFACE, NAME=SKIN
BRICKS,
*SURFACE, NAME=FREE
ONE
*SURFACE, TYPE=NODE, NAME=TIP
END, 1.
1
*SURFACE, NAME=ONE
ONE, S6
*SURFACE, TYPE=NODE, NAME=END
END
1,
*SURFACE, NAME=ROLLER, TYPE=CYLINDER
1., 2., 3.
"""
    mesh = read_text(tmp_path, DECK + more, "deck.inp")
    areas = {"RIGHT": 1, "FLOOR": 2, "SIDES": 2, "SKIN": 10, "FREE": 5, "ONE": 5, "ONE.surface": 1, "END": 1}
    assert {name: area(mesh, name) for name in areas} == pytest.approx(areas)
    assert mesh.points[mesh.nodes_of("RIGHT")][:, 0] == pytest.approx(2)
    assert mesh.points[mesh.nodes_of("FLOOR")][:, 2] == pytest.approx(0)
    assert len(mesh.nodes_of("TIP")) == 5
    assert (len(mesh.nodes_of("END")), len(mesh.nodes_of("END.surface"))) == (4, 5)
    assert "ROLLER" not in mesh.groups


@pytest.mark.parametrize(
    ("kind", "corners"),
    [
        ("C3D4", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]),
        ("C3D6", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1)]),
        ("C3D5", [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1)]),
    ],
)
def test_abaqus_sides_of_other_elements(tmp_path, kind, corners):
    """Each side once makes the whole boundary."""
    n = {"C3D4": 4, "C3D6": 5, "C3D5": 5}[kind]
    text = "*NODE\n" + "".join(f"{k}, {x}, {y}, {z}\n" for k, (x, y, z) in enumerate(corners, 1))
    text += f"*ELEMENT, TYPE={kind}\n1, {', '.join(map(str, range(1, len(corners) + 1)))}\n"
    text += "*SURFACE, NAME=S\n" + "".join(f"1, S{k}\n" for k in range(1, n + 1))
    mesh = read_text(tmp_path, text, "deck.inp")
    boundary = {kind: len(faces) for kind, faces in mesh.boundary_faces.items()}
    assert {kind: len(faces) for kind, faces in mesh.faces_of("S").items()} == boundary
    assert sum(boundary.values()) == n


def test_abaqus_surfaces_of_shells_and_edges(tmp_path):
    more = "*ELEMENT, TYPE=S4, ELSET=PLATE\n31, 1, 4, 3, 2\n*SURFACE, NAME=P\nPLATE, SPOS\n"
    more += "*SURFACE, NAME=E\nPLATE, E1\nPLATE, S6\n"
    mesh = read_text(tmp_path, DECK + more, "deck.inp")
    assert area(mesh, "P") == pytest.approx(1)
    edges = mesh.points[mesh.cells_of("line", "E")]
    np.testing.assert_allclose(edges, [[(0, 0, 0), (0, 1, 0)], [(1, 0, 0), (0, 0, 0)]])


def test_abaqus_sets_of_one_name(tmp_path):
    """Pre-processors write the nodes of a face, and the elements behind it, by the same name."""
    more = "*ELSET, ELSET=End\n2\n*NSET, NSET=FIRST, ELSET=ONE\n*ELSET, ELSET=first\n1\n"
    more += "*NSET, NSET=Late\nEND\n*NSET, NSET=end, GENERATE\n9, 2000000000, 1\n*NSET, NSET=end\n1\n"
    mesh = read_text(tmp_path, DECK + more, "deck.inp")
    assert len(mesh.nodes_of("Late")) == 4, "what END was by then"
    assert len(mesh.nodes_of("END")) == 5, "ranges of any length have the nodes that are there"
    mesh = read_text(tmp_path, DECK + more.split("*NSET, NSET=Late")[0], "deck.inp")
    assert mesh.points[mesh.nodes_of("END")][:, 0] == pytest.approx(2)
    assert mesh.cell_groups["End.elements"]["hexahedron"].tolist() == [1]
    assert len(mesh.nodes_of("FIRST")) == 8
    assert {"first", "FIRST"} <= set(mesh.groups)


def test_abaqus_sets_that_grow_by_each_other(tmp_path):
    more = "*ELSET, ELSET=A\n1\n*ELSET, ELSET=B\nA\n*ELSET, ELSET=A\nB, 2\n*ELSET, ELSET=C\nB\n"
    more += "".join(f"*ELSET, ELSET=S{k + 1}\nS{k}\n" for k in range(3000)).replace("\nS0\n", "\n2\n", 1)
    groups = describe(read_text(tmp_path, DECK + more, "deck.inp")).cell_groups
    assert [groups[name]["hexahedron"] for name in ("A", "B", "C", "S3000")] == [2, 1, 1, 1]


def test_abaqus_sets_of_part_and_assembly(tmp_path):
    text = DECK.replace("*NODE", "*PART, NAME=P\n*NODE", 1).replace("*NSET, NSET=END", "*NSET, NSET=Set-1")
    text += "*END PART\n*ASSEMBLY, NAME=A\n*INSTANCE, NAME=I, PART=P\n*END INSTANCE\n"
    text += "*NSET, NSET=Set-1, INSTANCE=I\n1, 4\n*END ASSEMBLY\n"
    mesh = read_text(tmp_path, text, "deck.inp")
    assert mesh.points[mesh.nodes_of("Set-1")][:, 0] == pytest.approx(0)
    assert len(mesh.nodes_of("P.Set-1")) == 4


def test_abaqus_includes_are_followed_and_bounded(tmp_path):
    head, tail = DECK.split("1, 1, 2, 3")
    (tmp_path / "rows.txt").write_text("1, 1, 2, 3" + tail.split("*ELSET")[0])
    whole = read_text(tmp_path, head + "*INCLUDE, INPUT=rows.txt\n*ELSET, ELSET=ONE\n1\n", "deck.inp")
    assert len(whole.cells["hexahedron"]) == 2
    given = head.split("*ELEMENT")[0] + "*ELEMENT, TYPE=C3D8, INPUT=rows.txt\n"
    assert len(read_text(tmp_path, given, "deck.inp").cells["hexahedron"]) == 2
    (tmp_path / "self.inc").write_text("*INCLUDE, INPUT=deck.inp\n")
    for k in range(30):
        (tmp_path / f"fan{k}.inc").write_text(f"*INCLUDE, INPUT=fan{k + 1}.inc\n" * 10)
    (tmp_path / "wide.inc").write_text("*INCLUDE, INPUT=empty.inc\n" * 2000)
    (tmp_path / "empty.inc").write_text("")
    for name, says in [
        ("self.inc", "the file deck.inp includes itself"),
        ("fan0.inc", "more than 1000 files are included, or more than 20 in one another"),
        ("wide.inc", "more than 1000 files"),
        ("none.inc", "the included file none.inc is not there"),
    ]:
        assert says in refusal(tmp_path, DECK + f"*INCLUDE, INPUT={name}\n", "deck.inp")
    assert r"a *INCLUDE has no INPUT" in refusal(tmp_path, DECK + "*INCLUDE\n", "deck.inp")


# -- formulations -----------------------------------------------------------------------------------------------

SCENARIO = """
[[body]]
name = "part"
mesh = "deck.inp"
material = { young = 2e6, poisson = 0.3, density = 1000 }
[integrator]
kind = "newmark"
[run]
duration = 1e-3
frames = 10
"""


@pytest.mark.parametrize("name", ["C3D8H", "c3d8rh", "C3D8RT"])
def test_other_formulations_are_refused_until_they_are_accepted(tmp_path, name):
    deck = DECK.replace("TYPE=C3D8", f"TYPE={name}")
    mesh = read_text(tmp_path, deck, "deck.inp")
    assert mesh.formulations == {"hexahedron": (name.upper(),)}
    with pytest.raises(ScenarioError) as caught:
        Scenario.parse(SCENARIO, tmp_path / "test.toml").build()
    assert f"deck.inp has elements {name.upper()}, which hexahedron cells are not computed as" in str(caught.value)
    for said, taken in (("standard", "full"), ("full", "full"), ("stabilized", "stabilized")):
        accepted = SCENARIO.replace("material", f'formulation = "{said}"\nmaterial')
        assert Scenario.parse(accepted, tmp_path / "test.toml").build().solids["part"].formulation == taken
    read_text(tmp_path, DECK, "deck.inp")
    assert Scenario.parse(SCENARIO, tmp_path / "test.toml").build().solids["part"].formulation == "stabilized"


@pytest.mark.parametrize("name", ["C3D8R", "c3d8i"])
def test_elements_that_do_not_lock_are_what_hexahedra_are_by_default(tmp_path, name):
    read_text(tmp_path, DECK.replace("TYPE=C3D8", f"TYPE={name}"), "deck.inp")
    assert Scenario.parse(SCENARIO, tmp_path / "test.toml").build().solids["part"].formulation == "stabilized"


def test_reduced_integration_of_quadratic_hexahedra_is_named(tmp_path):
    save_mesh(quadratic(box((1.0, 1.0, 1.0), (1, 2, 2), split="hexahedra")), tmp_path / "deck.inp")
    deck = (tmp_path / "deck.inp").read_text()
    (tmp_path / "deck.inp").write_text(re.sub("TYPE=C3D20", "TYPE=C3D20R", deck, flags=re.IGNORECASE))
    says = r'has elements C3D20R, .* say how they shall be, formulation = "reduced", as they are, or "full"'
    with pytest.raises(ScenarioError, match=says):
        Scenario.parse(SCENARIO, tmp_path / "test.toml").build()
    reduced = SCENARIO.replace("material", 'formulation = "reduced"\nmaterial')
    assert Scenario.parse(reduced, tmp_path / "test.toml").build().solids["part"].formulation == "reduced"


# -- Exodus, Nastran, TetGen ------------------------------------------------------------------------------------


def write_exodus(path, *, classic):
    """Write two hexahedra in two blocks and a shell, with sets, as netCDF 3 or with h5py as netCDF 4 lays them out."""
    mesh = box((2, 1, 1), (2, 1, 1), split="hexahedra")
    names = np.zeros((3, 33), "S1")
    names[0, :5], names[2, :5] = list("left\0"), list("shell")
    rows = mesh.cells["hexahedron"].astype(np.int32) + 1
    x = mesh.points
    quad = np.flatnonzero(x[:, 0] == 0)[[0, 1, 3, 2]].astype(np.int32)[None] + 1
    arrays = {
        "coordx": x[:, 0],
        "coordy": x[:, 1],
        "coordz": x[:, 2],
        "eb_prop1": np.array([1, 20, 3], np.int32),
        "eb_names": names,
        "connect1": rows[:1],
        "connect2": rows[1:],
        "connect3": quad,
        "ns_prop1": np.array([5], np.int32),
        "node_ns1": np.flatnonzero(x[:, 0] == 2).astype(np.int32) + 1,
        "ss_prop1": np.array([100], np.int32),
        "ss_names": np.array([list("wall")], "S1"),
        "elem_ss1": np.array([1, 2], np.int32),
        "side_ss1": np.array([5, 5], np.int32),
    }
    shapes = {"connect1": "HEX8", "connect2": "HEX", "connect3": "SHELL4"}
    if classic:
        from scipy.io import netcdf_file

        with netcdf_file(path, "w") as file:
            for name, values in arrays.items():
                for k, n in enumerate(values.shape):
                    file.createDimension(f"{name}_{k}", n)
                variable = file.createVariable(name, values.dtype, tuple(f"{name}_{k}" for k in range(values.ndim)))
                variable[:] = values
                if name in shapes:
                    variable.elem_type = shapes[name]
    else:
        import h5py

        with h5py.File(path, "w") as file:
            for name, values in arrays.items():
                file[name] = values
                if name in shapes:
                    file[name].attrs["elem_type"] = np.bytes_(shapes[name])
    return mesh


@pytest.mark.parametrize("classic", [True, False], ids=["netCDF 3", "netCDF 4"])
def test_exodus_blocks_and_sets_are_groups(tmp_path, classic):
    """Side 5 of a hexahedron is below."""
    mesh = write_exodus(tmp_path / "two.exo", classic=classic)
    read = read_mesh(tmp_path / "two.exo")
    assert np.array_equal(read.points, mesh.points)
    assert np.array_equal(read.cells["hexahedron"], mesh.cells["hexahedron"])
    assert read.groups == ["block_20", "left", "nodeset_5", "shell", "wall"]
    assert describe(read).cell_groups["block_20"] == {"hexahedron": 1}
    assert read.points[read.nodes_of("nodeset_5")][:, 0] == pytest.approx(2)
    assert area(read, "wall") == pytest.approx(2)
    assert read.points[read.nodes_of("wall")][:, 2] == pytest.approx(0)
    assert area(read, "shell") == pytest.approx(1)


def test_exodus_variables_that_are_not_read_are_listed(tmp_path):
    import h5py

    write_exodus(tmp_path / "two.exo", classic=False)
    assert read_mesh(tmp_path / "two.exo", strict=True).unknown == ()
    with h5py.File(tmp_path / "two.exo", "r+") as file:
        file["elem_els1"] = file["time_whole"] = np.array([1])
        file["num_dim"] = np.zeros(3)
        file["num_dim"].attrs["NAME"] = np.bytes_("This is a netCDF dimension but not a netCDF variable.         3")
    assert read_mesh(tmp_path / "two.exo").unknown == ("two.exo, the variable elem_els1: it is not supported",)


def test_tetgen_files_that_are_not_read_are_listed(tmp_path):
    for suffix, text in ((".node", NODE), (".ele", ELE), (".face", "0 1\n")):
        (tmp_path / f"part{suffix}").write_text(text)
    assert read_mesh(tmp_path / "part.ele").unknown == ("part.ele, part.face: such files are not read",)


def test_exodus_faults_are_named(tmp_path):
    import h5py

    file = tmp_path / "two.exo"
    for name, values, says in [
        ("elem_ss1", [1, 9], "side set 'wall' refers to an element that is not in the file"),
        ("side_ss1", [1, 7], "there is no side 7 of hexahedron cells"),
        ("node_ns1", [0], "node set 'nodeset_5' refers to a node that is not in the file"),
        ("connect2", [[1, 2, 3]], "block 'block_20' has elements 'HEX' of 3 nodes"),
        ("connect2", [[1.5] * 8], "its connect2 are not integers"),
        ("coordx", [0.0], "not a whole exodus file"),
    ]:
        write_exodus(file, classic=False)
        with h5py.File(file, "r+") as h5:
            attributes = dict(h5[name].attrs)
            del h5[name]
            h5[name] = np.array(values)
            h5[name].attrs.update(attributes)
        with pytest.raises(MeshError, match=says):
            read_mesh(file)


BULK = """SOL 101
CEND
SUBCASE 1
  LOAD = 2
BEGIN BULK
$ two tetrahedra
GRID           1              0.      0.      0.
GRID,2,,1.,0.,0.
GRID*                  3                              0.              1.
*                     0.
GRID           4       0      0.      0.   1.0+0
GRID    9               1.      1.      10.-1
CTETRA         1       7       1       2       3       4
CTETRA,2,8,2,9,3,4
CTRIA3  3       5       1       3       2       0.5
PSOLID  7       1
RBE2    50      1       123456  2       3
ENDDATA
"""


def test_nastran_fields_of_all_kinds(tmp_path):
    mesh = read_text(tmp_path, BULK, "part.bdf")
    check_mesh(mesh)
    assert describe(mesh).volume == pytest.approx(1 / 6 + 1 / 3)
    assert describe(mesh).cell_groups == {
        "property_5": {"triangle": 1},
        "property_7": {"tetra": 1},
        "property_8": {"tetra": 1},
    }


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("GRID,2,,1.", "GRID,2,5,1.", "point '2' is in the coordinate system '5'; write the points in the global one"),
        ("GRID,2,,1.", "GRDSET,,5\nGRID,2,,1.", "its points are in the coordinate system '5'"),
        ("GRID,2,,1.", "GRID,2.0,,1.", r"a GRID has '2\.0' where an integer must be"),
        ("GRID,2,,1.", "GRID,2,,one", "a GRID has 'one' where a coordinate must be"),
        ("GRID,2,,1.", "GRID,1,,1.", "node 1 is defined twice"),
        ("CTETRA,2,8,2,9,3,4", "CTETRA,2,8,2,9,3", "CTETRA '2' has 3 nodes; it can have 4 or 10"),
        ("CTETRA,2,8,2,9,3,4", "CTETRA,2,8,2,9,3,4,1", "CTETRA '2' has 5 nodes"),
        ("CTETRA,2,8,2,9,3,4", "CTETRA,2,8,2,9,3,5", r"refers to a node that is not in the file \(5\)"),
        ("CTETRA,2,8,2,9,3,4", "CTETRA,1,8,2,9,3,4", "element 1 is defined twice"),
        ("CTETRA,2,8,2,9,3,4", "CIHEX1,2,8,2,9,3,4", "elements CIHEX1 are not supported"),
        ("ENDDATA\n", "", "it ends without ENDDATA"),
        ("ENDDATA\n", "=,*(1),=,*(1.),==\nENDDATA\n", "it replicates cards"),
        ("ENDDATA\n", "BEGIN SUPER=1\nENDDATA\n", "it uses BEGIN SU"),
        ("BEGIN BULK\n", "BEGIN BULK\nINCLUDE 'more.bdf'\n", "the included file more.bdf is not there"),
        ("BEGIN BULK\n", "BEGIN BULK\nINCLUDE 'part.bdf'\n", "the file part.bdf includes itself"),
    ],
)
def test_nastran_faults_are_named(tmp_path, old, new, says):
    import re

    assert re.search(says, refusal(tmp_path, changed(BULK, old, new), "part.bdf"))


def test_nastran_includes(tmp_path):
    head, tail = BULK.split("CTETRA", 1)
    (tmp_path / "cells.bdf").write_text("CTETRA" + tail.replace("ENDDATA\n", ""))
    mesh = read_text(tmp_path, head + "INCLUDE 'cells.bdf'\nCQUAD8,4,5,1,2,3,9,,,+\n,,\nENDDATA\n", "part.bdf")
    assert describe(mesh).cells == {"tetra": 2, "triangle": 1, "quad": 1}
    # An ENDDATA of an included file ends that file.
    (tmp_path / "cells.bdf").write_text("CTETRA" + tail + "junk\n")
    again = read_text(tmp_path, head + "INCLUDE 'cells.bdf'\nCQUAD8,4,5,1,2,3,9,,,+\n,,\nENDDATA\n", "part.bdf")
    assert describe(again).cells == {"tetra": 2, "triangle": 1, "quad": 1}
    assert [line.split(", ", 1)[1] for line in again.unknown] == [
        "cells.bdf, line 7: a line after ENDDATA: it is not supported"
    ]


def test_nastran_cards_that_are_not_read_are_listed(tmp_path):
    more = (
        "PSOLID,7,1\nDEQATN  5       F(A,B,C)=A+B+C,\n+       +A\nMAT1,1,2e11,,0.3\nCELAS2,9,1.,1,1\nNOVEL,1\nENDDATA\n"
    )
    assert read_text(tmp_path, changed(BULK, "ENDDATA\n", more), "part.bdf").unknown == (
        "part.bdf, line 22: CELAS2: such elements are not read",
        "part.bdf, line 23: NOVEL: it is not supported",
    )


def test_nastran_quadratic_elements(tmp_path):
    """Twenty nodes of a unit cube, continued over three lines; Nastran has the valid edges before those on top."""
    corners = list(itertools.product((0, 1), repeat=2))
    square = [corners[k] for k in (0, 2, 3, 1)]
    low = [(x, y, 0.0) for x, y in square]
    points = low + [(x, y, 1.0) for x, y in square]

    def middles(four):
        return [tuple((a + b) / 2 for a, b in zip(four[k], four[(k + 1) % 4], strict=True)) for k in range(4)]

    points += middles(low) + [(x, y, 0.5) for x, y in square] + middles(points[4:8])
    text = "BEGIN BULK\n" + "".join(f"GRID,{k},,{x:.1f},{y:.1f},{z:.1f}\n" for k, (x, y, z) in enumerate(points, 1))
    text += "CHEXA          1       1" + "".join(f"{k:8d}" for k in range(1, 7)) + "+A\n+A      "
    text += (
        "".join(f"{k:8d}" for k in range(7, 15))
        + "\n        "
        + "".join(f"{k:8d}" for k in range(15, 21))
        + "\nENDDATA\n"
    )
    mesh = read_text(tmp_path, text, "part.bdf")
    assert describe(mesh).volume == pytest.approx(1)
    check_mesh(mesh)


def test_tetgen_quadratic(tmp_path):
    """In the order in which TetGen writes the nodes between corners."""
    corners = np.array([(1, 1, 1), (0, 1, 0), (0, 0, 1), (0, 1, 1)], float)
    pairs = [(2, 3), (0, 3), (0, 1), (1, 2), (1, 3), (0, 2)]
    points = np.concatenate([corners, [corners[[a, b]].mean(axis=0) for a, b in pairs]])
    rows = "".join(f"{k} {x} {y} {z}\n" for k, (x, y, z) in enumerate(points, 1))
    (tmp_path / "part.node").write_text("10 3 0 0\n" + rows)
    (tmp_path / "part.ele").write_text("1 10 0\n1 1 2 3 4 5 6 7 8 9 10\n")
    mesh = read_mesh(tmp_path / "part.ele")
    row = mesh.points[mesh.cells["tetra10"][0]]
    middles = [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)]
    np.testing.assert_allclose(row[4:], [(row[a] + row[b]) / 2 for a, b in middles])


NODE = "# points\n4 3 0 0\n0 0 0 0\n1 1 0 0 # here\n2 0 1 0\n3 0 0 1\n"
ELE = "1 4 1\n0 0 1 2 3 7\n"


@pytest.mark.parametrize(
    ("node", "ele", "says"),
    [
        (NODE, ELE, None),
        (NODE.replace("4 3 0 0", "4  3"), ELE.replace("1 4 1", "1 4  1"), None),
        (NODE, ELE.replace("1 4 1\n0 0 1 2 3 7", "1 3 0\n0 0 1 2"), "its tetrahedra have 3 nodes"),
        (NODE.replace("4 3 0 0", "3 3 0 0").replace("3 0 0 1\n", ""), ELE, r"a node that is not in the file"),
        (NODE.replace("4 3 0 0", "4 2 0 0"), ELE, "its points have 2 coordinates"),
        (NODE.replace("2 0 1 0", "2 0 1"), ELE, "4 lines of 4 numbers, which it has not"),
        (NODE.replace("2 0 1 0", "1 0 1 0"), ELE, "node .* is defined twice"),
        (NODE, ELE.replace("2 3 7", "2 3.5 7"), "3.5 stands where an integer must be"),
        (NODE, ELE.replace("1 4 1\n", "99999999999999 4 1\n"), "says that it has 99999999999999 lines"),
        (NODE, "# nothing\n", "part.ele does not begin with 3 numbers"),
        (NODE, None, "part.ele cannot be read: No such file"),
    ],
)
def test_tetgen_pairs(tmp_path, node, ele, says):
    (tmp_path / "part.node").write_text(node)
    if ele is not None:
        (tmp_path / "part.ele").write_text(ele)
    if says is None:
        mesh = read_mesh(tmp_path / "part.node")
        assert describe(mesh).volume == pytest.approx(1 / 6)
        assert mesh.groups == ["tetgen:ref_7"]
    else:
        with pytest.raises(MeshError, match=says):
            read_mesh(tmp_path / "part.node")


# -- what a file is ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "start", "says"),
    [
        (
            "part.msh",
            DECK,
            r"is an Abaqus input file, to judge by its content, though its name ends in \.msh; name it \.inp",
        ),
        ("part.inp", GMSH22, "is a Gmsh mesh, .* name it .msh"),
        ("part.vtk", '<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid">', "is a VTK XML file, .* name it .vtu"),
        ("part.vtu", "# vtk DataFile Version 4.2\n", "is a VTK file"),
        ("part.msh", "\x1f\x8b\x08", "is compressed, .* unpack it first"),
        ("part.bdf", "ISO-10303-21;\n", "is a STEP geometry, .* mesh it first"),
        ("part.msh", "version https://git-lfs.github.com/spec/v1\n", "is a pointer of Git LFS"),
        ("part.msh", "<!DOCTYPE html>\n<html>", "is a web page"),
        ("part.med", "    -1\n  2411\n", "is an I-DEAS universal file"),
    ],
)
def test_files_of_another_format_are_told(tmp_path, name, start, says):
    (tmp_path / name).write_bytes(start.encode("latin-1"))
    with pytest.raises(MeshError, match=says):
        read_mesh(tmp_path / name)


def test_what_is_no_file_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.msh")
    with pytest.raises(MeshError, match="is a pipe or a device; a mesh is read from a regular file"):
        read_mesh(tmp_path / "pipe.msh")
    os.mkfifo(tmp_path / "pipe.inc")
    assert "pipe.inc is no regular file" in refusal(tmp_path, DECK + "*INCLUDE, INPUT=pipe.inc\n", "deck.inp")
    for name in ("nul\0.msh", "x" * 5000 + ".msh"):
        with pytest.raises(InvalidArgument, match="path must be a path that a file can have, got"):
            read_mesh(tmp_path / name)


def test_what_is_no_damage_is_not_called_so(tmp_path, monkeypatch):
    save_mesh(box((1, 1, 1), (1, 1, 1)), tmp_path / "box.vtu")
    for error, says in [
        (ModuleNotFoundError("No module named 'netCDF9'", name="netCDF9"), "needs a package .*: pip install netCDF9"),
        (MemoryError(), "there is not enough memory for what it says that it holds"),
        (PermissionError(13, "Permission denied", "other"), "other cannot be read: Permission denied"),
        (KeyError("polyhedron7"), "is not a whole vtu file, or holds what cannot be read of one .*polyhedron7"),
    ]:

        def fail(*_, error=error):
            raise error

        monkeypatch.setattr("symplex.meshes.formats.read.read_by_meshio", fail)
        with pytest.raises(MeshError, match=says):
            read_mesh(tmp_path / "box.vtu")


@pytest.mark.parametrize(
    ("program", "says"),
    [
        pytest.param("while True: pass", "damaged: HDF5's library reads it for more than 1 s", marks=pytest.mark.slow),
        ("import os\nos.kill(os.getpid(), 11)", "damaged: HDF5's library crashes on it"),
    ],
)
def test_hdf5_files_on_which_the_library_fails(tmp_path, monkeypatch, program, says):
    """As it does on some damaged ones, where nothing in this process could end it."""
    write_exodus(tmp_path / "two.exo", classic=False)
    assert read_mesh(tmp_path / "two.exo").groups
    monkeypatch.setattr("symplex.meshes.formats.hdf5_probe._PROGRAM", program)
    monkeypatch.setattr("symplex.meshes.formats.hdf5_probe._SECONDS", 0.3)
    with pytest.raises(MeshError, match=f"two.exo: it is {says}"):
        read_mesh(tmp_path / "two.exo")


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="limits of processes are those of POSIX")
def test_hdf5_files_are_read_in_the_time_that_is_allowed(tmp_path, monkeypatch):
    write_exodus(tmp_path / "two.exo", classic=False)
    monkeypatch.setattr("resource.getrlimit", lambda _: (2, 2))
    assert read_mesh(tmp_path / "two.exo").groups
    monkeypatch.setattr("symplex.meshes.formats.hdf5_probe._PROGRAM", "while True: pass")
    with pytest.raises(MeshError, match=r"two.exo: HDF5's library reads it for more than 1 s, .*ulimit -t"):
        read_mesh(tmp_path / "two.exo")


# -- writing ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("extension", ["msh", "inp", "vtu", "vtk"])
def test_a_write_that_fails_leaves_the_file_as_it_was(tmp_path, monkeypatch, extension):
    from symplex.meshes.formats import save

    file = tmp_path / f"box.{extension}"
    save_mesh(box((1, 1, 1), (1, 1, 1)), file)
    before = file.read_bytes()
    whole = save._WRITERS[f".{extension}"]

    def fill_disk(mesh, path):
        whole(mesh, path)
        path.write_bytes(path.read_bytes()[:100])
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(save._WRITERS, f".{extension}", fill_disk)
    with pytest.raises(MeshError, match="cannot be written: No space left on device"):
        save_mesh(box((1, 1, 1), (2, 2, 2)), file)
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_files_are_replaced_when_asked_and_links_stay(tmp_path):
    small, large = box((1, 1, 1), (1, 1, 1)), box((1, 1, 1), (2, 2, 2))
    save_mesh(small, tmp_path / "box.msh")
    with pytest.raises(MeshError, match="is there already; choose another name, or --overwrite it"):
        save_mesh(large, tmp_path / "box.msh", overwrite=False)
    (tmp_path / "link.msh").symlink_to("box.msh")
    save_mesh(large, tmp_path / "link.msh")
    assert (tmp_path / "link.msh").is_symlink()
    assert len(read_mesh(tmp_path / "box.msh").points) == len(large.points)
    (tmp_path / "folder.msh").mkdir()
    with pytest.raises(MeshError, match="is there already and is no file"):
        save_mesh(small, tmp_path / "folder.msh")


@pytest.mark.parametrize("name", ['a"b', "a\nb", "a,b", " a", "", "a=b", "*a"])
def test_names_that_no_file_holds_are_refused(tmp_path, name):
    mesh = box((1, 1, 1), (1, 1, 1))
    with pytest.raises(MeshError, match="a group cannot be written by the name"):
        save_mesh(Mesh(mesh.points, mesh.cells, {name: mesh.cell_groups["body"]}), tmp_path / "box.msh")


def test_written_decks_are_of_plain_elements(tmp_path):
    for split in ("hexahedra", "6"):
        save_mesh(box((1, 1, 1), (1, 1, 1), split=split), tmp_path / "box.inp")
        assert read_mesh(tmp_path / "box.inp").formulations == {}
    shutil.copy(tmp_path / "box.inp", tmp_path / "copy.inp")
    assert read_mesh(tmp_path / "copy.inp").groups == read_mesh(tmp_path / "box.inp").groups


@pytest.mark.parametrize("cells", [(10**9,) * 3, (2000, 2000, 2000), (10**9, 1, 10**9)])
@pytest.mark.parametrize("split", ["24", "6", "hexahedra", "body-centred"])
def test_boxes_beyond_memory_are_refused(monkeypatch, cells, split):
    monkeypatch.setattr("symplex.meshes.memory.memory_of_machine", lambda: 64e9)
    with pytest.raises(MeshError, match=r"would need about .* of memory, but this machine has 64 GB; take fewer cells"):
        box((1, 1, 1), cells, split=split)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.bdf", "BEGIN BULK\nGRID,1,,0.,0.,0.\nINCLUDE 'passwd'\nENDDATA\n"),
        ("a.k", "*KEYWORD\n*NODE\n1,0.,0.,0.\n*INCLUDE\npasswd\n*END\n"),
        ("a.k", "*KEYWORD\n*ELEMENT_SOLID\n*INCLUDE\npasswd\n*END\n"),
        ("a.rad", "#RADIOSS STARTER\n/BEGIN\nrun\n/NODE\n#include passwd\n/END\n"),
        ("a.inp", "*NODE\n1, 0., 0., 0.\n*ELEMENT, TYPE=C3D4\n*INCLUDE, INPUT=passwd\n"),
        ("a.inp", "*NODE\n1, 0., 0., 0.\n*ELEMENT, TYPE=C3D4, INPUT=passwd\n"),
    ],
)
@pytest.mark.parametrize("secret", ["hush:x:0:0:O'Neil:/hush:/bin/sh", "GRID,hush,2,'hush',4,5", "CTETRA,hush,1,1,1,1"])
def test_included_files_are_not_quoted(tmp_path, name, text, secret):
    (tmp_path / "passwd").write_text(secret + "\n")
    (tmp_path / name).write_text(text)
    try:
        reported = "; ".join(read_mesh(tmp_path / name, require_volume=False).unknown)
    except MeshError as error:
        reported = str(error)
    assert reported
    assert "hush" not in reported.lower()
