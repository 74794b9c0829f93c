"""Write the small mesh files that the tests read, with Gmsh and with meshio.

Two blocks of 10 × 10 × 10 mm side by side along x, with the volume groups ``left``, ``right`` and ``all``, the surface
groups ``base`` (z = 0) and ``left_end`` (x = 0) and the point group ``corner`` (the origin).

    python make_meshes.py
"""

from pathlib import Path

import gmsh
import meshio

HERE = Path(__file__).parent


def main() -> None:
    gmsh.initialize()
    gmsh.option.setNumber("General.Terminal", 0)
    occ = gmsh.model.occ
    blocks = [(3, occ.addBox(x, 0, 0, 10, 10, 10)) for x in (0, 10)]
    occ.fragment(blocks[:1], blocks[1:])
    occ.synchronize()
    gmsh.model.addPhysicalGroup(3, [1], name="left")
    gmsh.model.addPhysicalGroup(3, [2], name="right")
    gmsh.model.addPhysicalGroup(3, [1, 2], name="all")
    gmsh.model.addPhysicalGroup(2, _surfaces(z=0), name="base")
    gmsh.model.addPhysicalGroup(2, _surfaces(x=0), name="left_end")
    corner = gmsh.model.getEntitiesInBoundingBox(-1, -1, -1, 1, 1, 1, 0)
    gmsh.model.addPhysicalGroup(0, [tag for _, tag in corner], name="corner")
    gmsh.option.setNumber("Mesh.MeshSizeMin", 6)
    gmsh.option.setNumber("Mesh.MeshSizeMax", 6)
    gmsh.model.mesh.generate(3)
    for name, version, binary in (
        ("blocks_22.msh", 2.2, 0),
        ("blocks_22_binary.msh", 2.2, 1),
        ("blocks_41.msh", 4.1, 0),
        ("blocks_41_binary.msh", 4.1, 1),
        ("blocks.inp", 4.1, 0),
        ("blocks.vtk", 4.1, 0),
    ):
        gmsh.option.setNumber("Mesh.MshFileVersion", version)
        gmsh.option.setNumber("Mesh.Binary", binary)
        gmsh.option.setNumber("Mesh.SaveGroupsOfNodes", 1)
        gmsh.write(str(HERE / name))
    abaqus = HERE / "blocks.inp"
    abaqus.write_text(abaqus.read_text().replace(str(abaqus), abaqus.name))  # gmsh writes where it is
    gmsh.option.setNumber("Mesh.SaveAll", 1)
    gmsh.model.removePhysicalGroups([(3, 2), (3, 3), (2, 5), (0, 6)])
    gmsh.write(str(HERE / "blocks_save_all.msh"))
    gmsh.finalize()
    mesh = meshio.read(HERE / "blocks_41.msh")
    origin = [int(k) for k in (mesh.points**2).sum(axis=1).argsort()[:1]]
    keep = ("tetra", "triangle")
    blocks = [k for k, block in enumerate(mesh.cells) if block.type in keep]
    sets = {name: [mesh.cell_sets[name][k] for k in blocks] for name in ("left", "right", "base")}
    for name in ("blocks.vtu", "blocks_sets.vtk", "blocks_meshio.inp"):
        packed = meshio.Mesh(
            mesh.points,
            [mesh.cells[k] for k in blocks],
            point_sets={"corner": origin},
            cell_sets={name: list(members) for name, members in sets.items()},
        )
        if name.endswith("vtk"):
            packed.cell_sets_to_data()
            packed.point_sets_to_data()
        packed.write(HERE / name)


def _surfaces(x: float | None = None, z: float | None = None) -> list[int]:
    high = (21 if x is None else x + 0.1, 11, 11 if z is None else z + 0.1)
    return [tag for _, tag in gmsh.model.getEntitiesInBoundingBox(-0.1, -0.1, -0.1, *high, 2)]


if __name__ == "__main__":
    main()
