"""The nodes of each type of cells in the order of each format, against the programs whose formats they are."""

import numpy as np
import pytest
import pyvista

from reference.boxes import QUADRATIC, SOLID_KINDS, box_of
from symplex.errors import MeshError
from symplex.meshes.formats.by_meshio import _TURNED
from symplex.meshes.formats.gmsh_order import from_gmsh_order, to_gmsh_order
from symplex.meshes.formats.read import read_mesh
from symplex.meshes.formats.save import save_mesh
from symplex.meshes.mesh import Mesh
from symplex.meshes.quality import check_mesh, describe
from symplex.meshes.series.frames import VTK_TYPES
from symplex.meshes.shape_functions import SHAPE_FUNCTIONS

NOT_IN_ABAQUS = ("hexahedron27", "wedge18", "pyramid13")


@pytest.mark.parametrize("suffix", [".msh", ".inp", ".vtu", ".vtk"])
@pytest.mark.parametrize("kind", SOLID_KINDS)
def test_cells_come_back(tmp_path, kind, suffix):
    mesh = box_of(kind, (1.0, 2.0, 3.0), (2, 1, 1))
    mesh = Mesh(mesh.points, {kind: mesh.cells[kind]})
    if suffix == ".inp" and kind in NOT_IN_ABAQUS:
        with pytest.raises(MeshError, match=f"Abaqus has no elements for cells of the type '{kind}'"):
            save_mesh(mesh, tmp_path / "box.inp")
        return
    save_mesh(mesh, tmp_path / f"box{suffix}")
    again = read_mesh(tmp_path / f"box{suffix}")
    np.testing.assert_array_equal(again.cells[kind], mesh.cells[kind])
    np.testing.assert_allclose(again.points, mesh.points, rtol=1e-15)


@pytest.mark.parametrize("kind", SOLID_KINDS)
def test_vtk_files_have_cells_as_vtk_does(tmp_path, kind):
    mesh = box_of(kind, (1.0, 2.0, 3.0), (2, 1, 1))
    cells = mesh.cells[kind]
    save_mesh(Mesh(mesh.points, {kind: cells}), tmp_path / "ours.vtu")
    if pyvista.vtk_version_info >= (9, 7):  # earlier ones have wrong volumes of wedges and quadratic cells
        assert pyvista.read(tmp_path / "ours.vtu").compute_cell_sizes()["Volume"].min() > 0.0
    padded = np.insert(cells.astype(np.int64), 0, cells.shape[1], axis=1)
    pyvista.UnstructuredGrid(padded.ravel(), [VTK_TYPES[kind]] * len(cells), mesh.points).save(tmp_path / "theirs.vtu")
    theirs = read_mesh(tmp_path / "theirs.vtu")
    check_mesh(theirs)
    assert describe(theirs).volume == pytest.approx(6.0)


@pytest.mark.parametrize("suffix", [".vtu", ".vtk"])
@pytest.mark.parametrize("kind", ["wedge", "wedge15", "wedge18"])
def test_vtk_wedges_may_look_either_way(tmp_path, kind, suffix):
    """With bases that look inward, as VTK 9.7 takes them, or outward, as it is documented; one may be inverted."""
    mesh = box_of(kind, (1.0, 2.0, 3.0), (2, 1, 1))
    cells = mesh.cells[kind]
    outward = cells[:, _TURNED[kind]]
    for rows in (cells, outward, np.concatenate([outward[:1], cells[1:]])):
        padded = np.insert(rows.astype(np.int64), 0, rows.shape[1], axis=1)
        path = tmp_path / f"theirs{suffix}"
        pyvista.UnstructuredGrid(padded.ravel(), [VTK_TYPES[kind]] * len(rows), mesh.points).save(path)
        theirs = read_mesh(path)
        assert describe(theirs).inverted == int((rows != cells).any(axis=1).sum() == 1)
        mended = np.where((rows != cells).any(axis=1).sum() == 1, rows, cells)
        np.testing.assert_array_equal(theirs.cells[kind], mended)


@pytest.mark.parametrize("kind", QUADRATIC)
def test_nodes_of_gmsh(kind):
    """Gmsh's own reference cells, whose nodes it lists."""
    gmsh = pytest.importorskip("gmsh", exc_type=(ImportError, OSError))
    name, serendipity = {
        "tetra10": ("Tetrahedron", False),
        "hexahedron20": ("Hexahedron", True),
        "hexahedron27": ("Hexahedron", False),
        "wedge15": ("Prism", True),
        "wedge18": ("Prism", False),
        "pyramid13": ("Pyramid", True),
    }[kind]
    gmsh.initialize()
    try:
        number = gmsh.model.mesh.getElementType(name, 2, serendipity)
        _, _, _, n, nodes, _ = gmsh.model.mesh.getElementProperties(number)
    finally:
        gmsh.finalize()
    order = np.arange(n)[None]
    found = np.reshape(nodes, (n, 3))[from_gmsh_order(kind, order)[0]]
    np.testing.assert_allclose(found, SHAPE_FUNCTIONS[kind].nodes, atol=1e-15)
    np.testing.assert_array_equal(to_gmsh_order(kind, from_gmsh_order(kind, order)), order)
