"""``symplex mesh``."""

from __future__ import annotations

import argparse
from pathlib import Path

from symplex.base.streams import complain, say
from symplex.commands.common import OK, add_command, add_strict
from symplex.errors import MeshError


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command and its arguments."""
    mesh = commands.add_parser("mesh", help="make or convert a mesh file", description="Make or convert a mesh file.")
    kinds = mesh.add_subparsers(title="kinds", metavar="KIND", required=True)
    file_help = "the file to write: .msh, .inp, .vtu or .vtk"
    box = add_command(kinds, "box", _mesh_box, "a box of equal cells, each split into tetrahedra")
    box.add_argument("--size", type=float, nargs=3, required=True, metavar=("LX", "LY", "LZ"), help="edges in m")
    box.add_argument("file", metavar="FILE", help=file_help)
    box.add_argument("--cells", type=int, nargs=3, required=True, metavar=("NX", "NY", "NZ"), help="cells each way")
    box.add_argument("--split", choices=["24", "6", "hexahedra", "body-centred"], default="24")
    cube = add_command(kinds, "cube", _mesh_cube, "one of the cubes of the force-stepping paper")
    cube.add_argument("name", choices=["I", "II", "III"])
    cube.add_argument("file", metavar="FILE", help=file_help)
    cube.add_argument("--size", type=float, default=0.1, metavar="L", help="edge length in m; default: 0.1")
    lattice = add_command(kinds, "lattice", _mesh_lattice, "a lattice of bars along edges and diagonals of cells")
    lattice.add_argument("--size", type=float, nargs=3, required=True, metavar=("LX", "LY", "LZ"), help="edges in m")
    lattice.add_argument("file", metavar="FILE", help=file_help)
    lattice.add_argument("--cells", type=int, nargs=3, required=True, metavar=("NX", "NY", "NZ"), help="cells each way")
    convert = add_command(kinds, "convert", _mesh_convert, "read a mesh of any format and write it in another")
    convert.add_argument("source", metavar="MESH")
    convert.add_argument("file", metavar="FILE", help=file_help)
    convert.add_argument("--scale", type=float, default=1.0, help="metres per unit of MESH; 1e-3 for millimetres")
    add_strict(convert, "a mesh file")
    convert.add_argument("--repair", action="store_true", help="turn inverted cells, drop unconnected nodes")
    for kind in kinds.choices.values():
        kind.add_argument("--overwrite", action="store_true", help="replace FILE if it is there")


def _mesh_box(arguments: argparse.Namespace) -> int:
    from symplex.meshes.generate import box

    return _save(box(arguments.size, arguments.cells, split=arguments.split), arguments)


def _mesh_cube(arguments: argparse.Namespace) -> int:
    from symplex.meshes.generate import cube_mesh

    return _save(cube_mesh(arguments.name, arguments.size), arguments)


def _mesh_lattice(arguments: argparse.Namespace) -> int:
    from symplex.meshes.generate import bar_lattice

    return _save(bar_lattice(arguments.size, arguments.cells), arguments)


def _mesh_convert(arguments: argparse.Namespace) -> int:
    from symplex.meshes.formats.account import some
    from symplex.meshes.formats.read import read_mesh
    from symplex.meshes.repair import drop_duplicates, drop_unconnected, orient

    source, target = Path(arguments.source), Path(arguments.file)
    if target.exists() and source.exists() and target.samefile(source):
        raise MeshError(
            f"{target} is the mesh itself, which may hold more than is written (materials, results); give another name."
        )
    mesh = read_mesh(source, scale=arguments.scale, require_volume=False, strict=arguments.strict)
    for line in some(mesh.unknown):
        complain(f"unknown input, which is not written: {line}")
    if arguments.repair:
        mesh = drop_unconnected(orient(drop_duplicates(mesh)))
    return _save(mesh, arguments)


def _save(mesh, arguments: argparse.Namespace) -> int:
    from symplex.meshes.formats.save import save_mesh

    path = arguments.file
    save_mesh(mesh, path, overwrite=arguments.overwrite)
    cells = ", ".join(f"{len(cells)} {kind}" for kind, cells in mesh.cells.items())
    say(f"{path}: {len(mesh.points)} nodes, {cells}")
    return OK
