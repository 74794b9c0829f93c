"""Small valid mesh files of every format that is read, which the fuzzer of meshes damages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

GMSH22 = """$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
3
0 5 "tip"
2 7 "base plate"
3 9 "body"
$EndPhysicalNames
$Nodes
10
1 0 0 0
2 1 0 0
3 1 1 0
4 0 1 0
5 0 0 1
6 1 0 1
7 1 1 1
8 0 1 1
11 0.5 0.5 -1.25e0
20 2.5 0.5 0.5
$EndNodes
$Elements
6
1 15 2 5 1 20
2 3 2 7 1 1 4 3 2
3 5 2 9 1 1 2 3 4 5 6 7 8
4 4 3 9 1 0 1 2 4 11
5 4 2 8 2 2 3 4 11
9 7 0 2 3 7 6 20
$EndElements
"""
GMSH41 = """$MeshFormat
4.1 0 8
$EndMeshFormat
$PhysicalNames
3
0 5 "tip"
2 7 "base plate"
3 9 "body"
$EndPhysicalNames
$Entities
1 0 1 2
3 2.5 0.5 0.5 1 5
1 0 0 0 1 1 0 1 7 0
1 0 0 -1.25 1 1 1 2 9 8 1 1
2 1 0 0 2.5 1 1 0 1 -1
$EndEntities
$Nodes
3 10 1 20
2 1 0 4
1
2
3
4
0 0 0
1 0 0
1 1 0
0 1 0
3 1 0 5
5
6
7
8
11
0 0 1
1 0 1
1 1 1
0 1 1
0.5 0.5 -1.25e0
0 3 0 1
20
2.5 0.5 0.5
$EndNodes
$Elements
5 6 1 9
0 3 15 1
1 20
2 1 3 1
2 1 4 3 2
3 1 5 1
3 1 2 3 4 5 6 7 8
3 1 4 2
4 1 2 4 11
5 2 3 4 11
3 2 7 1
9 2 3 7 6 20
$EndElements
"""
ABAQUS = """*HEADING
** two bricks, and a tetrahedron on them
bricks, 1, 2
*NODE, NSET=CORNERS
1, 0., 0., 0.
2, 1., 0., 0.
3, 1., 1., 0.
4, 0., 1., 0.
5, 0., 0., 1.
6, 1., 0., 1.
7, 1., 1., 1.
8, 0., 1., 1.
*NODE
9, 2., 0., 0.
10, 2., 1., 0.
11, 2., 0., 1.
12, 2.D0, 1., 1.
20, .5, 0.5, 1.75e0
*ELEMENT, TYPE=C3D8, ELSET=BRICKS
1, 1, 2, 3, 4,
5, 6, 7, 8
2, 2, 9, 10, 3, 6, 11, 12, 7
*Element, type=C3D4
7, 5, 6, 8, 20
*ELEMENT, TYPE=S4, ELSET=PLATE
31, 1, 4, 3, 2
*ELSET, ELSET=EVEN, GENERATE
2, 2, 1
*ELSET, ELSET=ALL
BRICKS, 7
*NSET, NSET=TOP, UNSORTED
8, 5, 6, 7,
11, 12
*NSET, NSET=MORE
TOP, 1
*NSET, NSET=ROW, GENERATE
1, 4, 1
*SURFACE, NAME=RIGHT, TYPE=ELEMENT
2, S4
*SURFACE, NAME=FLOOR
BRICKS, S1
7, S3
*SURFACE, NAME=TIPS, TYPE=NODE
TOP, 1.
1
*MATERIAL, NAME=STEEL
*ELASTIC
210000., 0.3
"""
ABAQUS_PARTS = """*HEADING
two instances
*PART, NAME=CORNER
*NODE, NSET=ALL
1, 0., 0., 0.
2, 1., 0., 0.
3, 0., 1., 0.
4, 0., 0., 1.
*ELEMENT, TYPE=C3D4, ELSET=BODY
1, 1, 2, 3, 4
*SOLID SECTION, ELSET=BODY, MATERIAL=STEEL
*END PART
*PART, NAME=SPARE
*NODE
1, 5., 5., 5.
*END PART
*ASSEMBLY, NAME=BOTH
*INSTANCE, NAME=LEFT, PART=CORNER
*END INSTANCE
*INSTANCE, NAME=RIGHT, PART=CORNER
3., 0.5, 0.25
3., 0.5, 0.25, 3., 0.5, 1.25, 30.
*END INSTANCE
*NSET, NSET=TIPS, INSTANCE=RIGHT
2, 4
*END ASSEMBLY
*MATERIAL, NAME=STEEL
*ELASTIC
210000., 0.3
"""
NASTRAN = """SOL 101
CEND
BEGIN BULK
$ a brick and a tetrahedron
GRID           1              0.      0.      0.
GRID           2              1.      0.      0.
GRID,3,,1.,1.,0.
GRID,4,0,0.,1.,0.
GRID*                  5                              0.              0.
*                     1.
GRID           6              1.      0.     1.0
GRID           7              1.      1.   1.0+0
GRID           8              0.      1.      1.
GRID           9              .5      .5     2.5
CHEXA          1       7       1       2       3       4       5       6+A
+A             7       8
CTETRA,2,8,5,6,8,9
CQUAD4         3       5       1       4       3       2
ENDDATA
"""
TETGEN_NODE = (
    "# four points and a fifth\n5  3  1  1\n1 0 0 0 0.5 1\n2 1 0 0 0 1\n3 0 1 0 0 0\n4 0 0 1 0 0\n5 1 1 1 7 2\n"
)
TETGEN_ELE = "2  4  1\n1 1 2 3 4 3\n2 2 5 3 4 4\n"
LSDYNA = """$ two bricks and a tetrahedron
*KEYWORD
*TITLE
bricks
*NODE
$    nid               x               y               z
       1              0.              0.              0.       0       0
       2              1.              0.              0.
       3              1.              1.              0.
       4              0.              1.              0.
       5              0.              0.              1.
       6              1.              0.              1.
       7              1.              1.              1.
       8              0.              1.              1.
       9,2.,0.,0.
      10,2.,1.,0.
      11,2.,0.,1.
      12,2.,1.,1.
      20,.5,0.5,1.75e0
*PART
steel bricks
         7         1         1
tip
         8         1         1
*MAT_ELASTIC
         1   7.85E-9    2.1E5       0.3
*ELEMENT_SOLID
       1       7       1       2       3       4       5       6       7       8
       2       7
       2       9      10       3       6      11      12       7
*ELEMENT_SHELL
      31       9       1       4       3       2
*ELEMENT_SOLID
       7       8       5       6       8      20      20      20      20      20
*SET_NODE_LIST_TITLE
floor
         1
         1         2         3         4
*END
"""
RADIOSS = """#RADIOSS STARTER
# two bricks and a tetrahedron
/BEGIN
bricks
      2018         0
                  kg                  mm                  ms
                  kg                  mm                  ms
/TITLE
bricks
/UNIT/2
in metres
                  kg                   m                   s
/NODE
         1                  0.                  0.                  0.
         2                  1.                  0.                  0.
         3                  1.                  1.                  0.
         4                  0.                  1.                  0.
         5                  0.                  0.                  1.
         6                  1.                  0.                  1.
         7                  1.                  1.                  1.
         8                  0.                  1.                  1.
/NODE/2
        20              0.0005              0.0005             0.00175
/PART/7
steel bricks
         1         1
/PART/8
tip
         1         1
/MAT/ELAST/1
steel
              7.8E-6
                210.                  .3
/BRICK/7
         1         1         2         3         4         5         6         7         8
/TETRA4/8
         7         5         6         8        20
/SHELL/9
        31         1         4         3         2
/GRNOD/NODE/3
floor
         1         2         3         4
/END
"""
UNIVERSAL = """    -1
   164
         1SI: mm (newton)               2
   1.0000000000000000D+03   1.0000000000000000D+00   1.0000000000000000D+00
   2.7314999999999998D+02
    -1
    -1
  2411
         1         1         1        11
   0.0000000000000000D+00   0.0000000000000000D+00   0.0000000000000000D+00
         2         1         1        11
   1.0000000000000000D+03   0.0000000000000000D+00   0.0000000000000000D+00
         3         1         1        11
   0.0000000000000000D+00   2.0000000000000000D+03   0.0000000000000000D+00
         4         1         1        11
   0.0000000000000000D+00   0.0000000000000000D+00   3.0000000000000000D+03
         5         1         1        11
   1.0000000000000000D+03   2.0000000000000000D+03   3.0000000000000000D+03
    -1
    -1
  2412
         7        11         1         1         7         2
         0         1         1
         1         2
         8       111         1         1         7         4
         1         2         3         4
    -1
    -1
   780
         9       111         1         1         1         1         7         4
         2         5         3         4
    -1
    -1
  2467
         1         0         0         0         0         0         0         3
left side
         8         8         0         0         7         1         0         0
         7         3         0         0
         2         0         0         0         0         0         0         1
held
         7         4         0         0
    -1
    -1
  2414
         1
results
    -1
"""
# Texts whose nodes are moved to another file, which the first one includes: the line that does so, and those that begin
# and follow what is moved.
_INCLUDING = {
    "abaqus": ("*INCLUDE, INPUT=nodes.txt", "*NODE, NSET", "*ELEMENT"),
    "nastran": ("INCLUDE 'nodes.txt'", "GRID ", "CHEXA"),
    "lsdyna": ("*INCLUDE\nnodes.txt", "*NODE", "*PART"),
    "radioss": ("#include nodes.txt", "/NODE\n", "/PART"),
}
TEXTS = {
    "gmsh 2.2 text": ("part.msh", GMSH22),
    "gmsh 4.1 text": ("part.msh", GMSH41),
    "abaqus": ("part.inp", ABAQUS),
    "abaqus parts": ("part.inp", ABAQUS_PARTS),
    "nastran": ("part.bdf", NASTRAN),
    "lsdyna": ("part.k", LSDYNA),
    "radioss": ("part.rad", RADIOSS),
    "universal": ("part.unv", UNIVERSAL),
}
# Formats of meshio's, by extension and the arguments of its writer; of tetrahedra only, where they hold no others.
_BY_MESHIO: dict[str, tuple[str, str, dict[str, Any]]] = {
    "gmsh 2.2 binary": ("msh", "gmsh22", {"binary": True}),
    "gmsh 4.0": ("msh", "gmsh40", {}),
    "gmsh 4.1 of meshio": ("msh", "gmsh", {"binary": True}),
    "abaqus of meshio": ("inp", "abaqus", {}),
    "nastran of meshio": ("bdf", "nastran", {}),
    "vtk text": ("vtk", "vtk42", {"binary": False}),
    "vtk binary": ("vtk", "vtk51", {"binary": True}),
    "vtu text": ("vtu", "vtu", {"binary": False}),
    "vtu compressed": ("vtu", "vtu", {"binary": True}),
    "xdmf": ("xdmf", "xdmf", {"data_format": "XML"}),
    "med": ("med", "med", {}),
    "medit": ("mesh", "medit", {}),
    "medit binary": ("meshb", "medit", {}),
    "netgen": ("vol", "netgen", {}),
    "su2": ("su2", "su2", {}),
    "avs ucd": ("avs", "avsucd", {}),
    "ansys": ("msh", "ansys", {}),
    "kratos": ("mdpa", "mdpa", {}),
    "permas": ("dato", "permas", {}),
    "ugrid": ("lb8.ugrid", "ugrid", {}),
    "flac3d": ("f3grid", "flac3d", {}),
    "tecplot": ("dat", "tecplot", {}),
    "dolfin": ("xml", "dolfin-xml", {}),
    "h5m": ("h5m", "h5m", {}),
    "cgns": ("cgns", "cgns", {}),
    "hmf": ("hmf", "hmf", {}),
    "stl": ("stl", "stl", {"binary": False}),
    "ply": ("ply", "ply", {}),
    "obj": ("obj", "obj", {}),
    "off": ("off", "off", {}),
}
_SURFACES = ("stl", "ply", "obj", "off")


def texts() -> Iterator[tuple[str, str, dict[str, bytes]]]:
    """Yield what wrote a text, its name, and the content of it and of those that belong to it."""
    for what, (name, text) in TEXTS.items():
        yield what, name, {name: text.encode()}
        if what in _INCLUDING:
            line, begin, after = _INCLUDING[what]
            at, end = text.index(begin), text.index(after)
            whole = f"{text[:at]}{line}\n{text[end:]}"
            yield f"{what} with an include", name, {name: whole.encode(), "nodes.txt": text[at:end].encode()}
    yield "tetgen", "part.node", {"part.node": TETGEN_NODE.encode(), "part.ele": TETGEN_ELE.encode()}
    yield "tetgen cells", "part.ele", {"part.node": TETGEN_NODE.encode(), "part.ele": TETGEN_ELE.encode()}


def files() -> Iterator[tuple[str, str, dict[str, bytes]]]:
    """Yield the same of all formats."""
    yield from texts()
    yield from _of_ours()
    yield from _of_meshio()
    yield from _of_exodus()


def _of_ours() -> Iterator[tuple[str, str, dict[str, bytes]]]:
    import tempfile

    from symplex.meshes.formats.save import save_mesh
    from symplex.meshes.generate import box
    from symplex.meshes.mesh import merge

    bodies = {"a": box((1, 1, 1), (1, 1, 1), split="6"), "b": box((1, 1, 1), (1, 1, 1), split="hexahedra")}
    with tempfile.TemporaryDirectory() as folder:
        for extension in ("msh", "inp", "vtu", "vtk"):
            path = Path(folder) / f"part.{extension}"
            save_mesh(merge(bodies), path)
            yield f"{extension} of symplex", path.name, {path.name: path.read_bytes()}


def _of_meshio() -> Iterator[tuple[str, str, dict[str, bytes]]]:
    import contextlib
    import io
    import tempfile
    import warnings

    import meshio
    from meshio._helpers import _writer_map

    from symplex.meshes.generate import box

    mesh = box((1, 1, 1), (1, 1, 1), split="6")
    for what, (extension, file_format, options) in _BY_MESHIO.items():
        kind = "triangle" if file_format in _SURFACES else "tetra"
        raw = meshio.Mesh(mesh.points + 0.5, {kind: mesh.cells[kind]})
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            path = Path(folder) / f"part.{extension}"
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                if file_format == "gmsh40":
                    from meshio.gmsh import main as gmsh

                    gmsh.write(path, raw, "4.0", binary=False)
                else:
                    _writer_map[file_format](str(path), raw, **options)
            yield what, path.name, {file.name: file.read_bytes() for file in Path(folder).iterdir()}


def _of_exodus() -> Iterator[tuple[str, str, dict[str, bytes]]]:
    import tempfile

    import h5py
    import numpy as np
    from scipy.io import netcdf_file

    from symplex.meshes.generate import box

    mesh = box((1, 1, 1), (1, 1, 1), split="6")
    arrays = {
        **{f"coord{axis}": mesh.points[:, k] for k, axis in enumerate("xyz")},
        "eb_prop1": np.array([3], np.int32),
        "connect1": mesh.cells["tetra"] + np.int32(1),
        "node_ns1": np.array([1, 2], np.int32),
        "ns_names": np.array([list("ends")], "S1"),
        "elem_ss1": np.array([1, 2], np.int32),
        "side_ss1": np.array([1, 4], np.int32),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "part.exo"
        with netcdf_file(path, "w") as file:
            for name, values in arrays.items():
                for k, n in enumerate(values.shape):
                    file.createDimension(f"{name}_{k}", n)
                variable = file.createVariable(name, values.dtype, tuple(f"{name}_{k}" for k in range(values.ndim)))
                variable[:] = values
            variable = file.variables["connect1"]
            variable.elem_type = "TETRA"
        yield "exodus classic", path.name, {path.name: path.read_bytes()}
        path.unlink()
        with h5py.File(path, "w") as file:
            for name, values in arrays.items():
                file[name] = values
            file["connect1"].attrs["elem_type"] = np.bytes_("TETRA")
        yield "exodus", path.name, {path.name: path.read_bytes()}
