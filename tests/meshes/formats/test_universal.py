"""Universal files, against Gmsh, which writes them, and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from symplex.errors import MeshError
from symplex.meshes.formats.read import read_mesh
from symplex.meshes.quality import check_mesh

NODES = """    -1
  2411
         1         1         1        11
   0.0000000000000000D+00   0.0000000000000000D+00   0.0000000000000000D+00
         2         1         1        11
   1.0000000000000000D+03   0.0000000000000000D+00   0.0000000000000000D+00
         3         1         1        11
   0.0000000000000000D+00   2.0000000000000000D+03   0.0000000000000000D+00
         4         1         1        11
   0.0000000000000000D+00   0.0000000000000000D+00   3.0000000000000000e+03
    -1
"""
ELEMENTS = """    -1
  2412
         7        11         1         1         7         2
         0         1         1
         1         2
         8       111         1         1         7         4
         1         2         3         4
    -1
"""
UNITS = """    -1
   164
         1SI: mm (newton)               2
   1.0000000000000000D+03   1.0000000000000000D+00   1.0000000000000000D+00
   2.7314999999999998D+02
    -1
"""
GROUPS = """    -1
  2467
         1         0         0         0         0         0         0         3
left side
         8         8         0         0         7         1         0         0
         7         3         0         0
         2         0         0         0         0         0         0         1
held
         7         4         0         0
    -1
"""


@pytest.mark.parametrize("kind", ["tetra10", "hexahedron20", "wedge15"])
def test_what_gmsh_writes(tmp_path, kind):
    gmsh = pytest.importorskip("gmsh", exc_type=(ImportError, OSError))
    gmsh.initialize()
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        gmsh.option.setNumber("Mesh.SecondOrderIncomplete", 1)
        gmsh.option.setNumber("Mesh.MeshSizeMin", 1.0)
        base = gmsh.model.occ.addRectangle(0.0, 0.0, 0.0, 2.0, 1.0)
        layers = {} if kind == "tetra10" else {"numElements": [2], "recombine": True}
        gmsh.model.occ.extrude([(2, base)], 0.0, 0.0, 1.0, **layers)
        gmsh.model.occ.synchronize()
        if kind == "hexahedron20":
            gmsh.model.mesh.setTransfiniteSurface(base)
            gmsh.model.mesh.setRecombine(2, base)
        gmsh.model.addPhysicalGroup(3, [1], name="body")
        gmsh.model.addPhysicalGroup(2, [base], name="bottom")
        gmsh.model.mesh.generate(3)
        gmsh.model.mesh.setOrder(2)
        gmsh.write(str(tmp_path / "box.unv"))
        gmsh.write(str(tmp_path / "box.msh"))
    finally:
        gmsh.finalize()
    ours, theirs = read_mesh(tmp_path / "box.unv"), read_mesh(tmp_path / "box.msh")
    check_mesh(ours)
    assert ours.volume_types == theirs.volume_types
    np.testing.assert_allclose(ours.points[ours.cells[kind]], theirs.points[theirs.cells[kind]], atol=1e-14)
    for group in ("body", "bottom"):
        assert {k: len(i) for k, i in ours.cell_groups[group].items()} == {
            k: len(i) for k, i in theirs.cell_groups[group].items()
        }


def test_units_and_groups(tmp_path):
    (tmp_path / "part.unv").write_text(UNITS + NODES + ELEMENTS + GROUPS)
    mesh = read_mesh(tmp_path / "part.unv")
    assert mesh.points.tolist() == [[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]]
    assert mesh.cells["tetra"].tolist() == [[0, 1, 2, 3]]
    assert mesh.cells["line"].tolist() == [[0, 1]]
    assert mesh.nodes_of("left side.nodes").tolist() == [0, 2]
    assert mesh.nodes_of("held").tolist() == [3]
    assert len(mesh.cells_of("tetra", "left side")) == 1
    assert mesh.unknown == ()
    np.testing.assert_array_equal(read_mesh(tmp_path / "part.unv", scale=1e-3).points, mesh.points)
    with pytest.raises(MeshError, match=r"scale must be 0\.001 m per unit of length, as the file says, got 0\.0254"):
        read_mesh(tmp_path / "part.unv", scale=0.0254)
    (tmp_path / "part.unv").write_text(NODES + ELEMENTS)
    assert read_mesh(tmp_path / "part.unv").points.max() == 3000.0


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        (
            NODES + ELEMENTS.replace("       111 ", "       117 "),
            "element 8 has the descriptor 117, which is not supported",
        ),
        (NODES + ELEMENTS.replace("3         4", "3"), "element 8 has 3 nodes, not 4"),
        (NODES + ELEMENTS.replace("3         4", "3         9"), "refers to a node that is not in the file"),
        (NODES + ELEMENTS.replace("         8       111", "         7       111"), "element 7 is defined twice"),
        (NODES + ELEMENTS.replace("         8       111", "         x       111"), "'x' stands where an integer"),
        (NODES[:-7] + ELEMENTS[7:], "stands where an integer must be|could not convert|has .* nodes"),
        (NODES + ELEMENTS[:-7], "dataset 2412 has no end, a line of -1"),
        (NODES.replace("2.0000000000000000D+03", "2.00000000000000two"), "could not convert string to float"),
        (NODES + ELEMENTS + GROUPS.replace("         7         4", "         7        14"), "group 'held' refers to"),
        (
            NODES + ELEMENTS + GROUPS.replace("         1\nheld", "         3\nheld"),
            "group 'held' has 1 members, not 3",
        ),
        (UNITS.replace("1.0000000000000000D+03", "0.0000000000000000D+00") + NODES + ELEMENTS, "its unit of length"),
        (NODES, "has no volume cells|has no cells"),
        (ELEMENTS, "refers to a node|has no"),
    ],
)
def test_broken_files_are_told_in_a_sentence(tmp_path, text, reported):
    (tmp_path / "part.unv").write_text(text)
    with pytest.raises(MeshError, match=reported):
        read_mesh(tmp_path / "part.unv")


def test_elements_of_both_datasets_and_others_that_are_listed(tmp_path):
    """Those of 780 have the number of their nodes in the eighth field."""
    old = "    -1\n   780\n         9       111         1         1         1         1         7         4\n"
    old += "         4         3         2         1\n    -1\n"
    results, novel = "    -1\n  2414\n1\n    -1\n", "    -1\n  9999\n1\n    -1\n"
    (tmp_path / "part.unv").write_text("junk\n" + NODES + ELEMENTS + old + results + novel)
    mesh = read_mesh(tmp_path / "part.unv")
    assert mesh.cells["tetra"].tolist() == [[0, 1, 2, 3], [3, 2, 1, 0]]
    assert [line.split(": ", 1)[1] for line in mesh.unknown] == [
        "a line outside of datasets: it is not supported",
        "dataset 9999: it is not supported",
    ]
