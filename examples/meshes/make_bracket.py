"""Make the bundled mesh ``bracket.msh``: an angle bracket with an eye, for one bolt through it and two in its foot.

The foot is 80 × 50 × 9 mm with two bolt holes of 9 mm; at its end stands a plate of 9 mm with a round top of 25 mm
radius and an eye of 22 mm, 45 mm above the ground; the inner edge has a fillet of 8 mm. All in metres. Groups:

    bracket   the volume
    base      the underside of the foot
    clamp     the walls of the bolt holes
    bore      the wall of the eye

    python make_bracket.py [FILE]        (needs the gmsh package: pip install symplex[mesh])
"""

import sys

import gmsh

MM = 1e-3
LENGTH, WIDTH, THICKNESS = 80 * MM, 50 * MM, 9 * MM
EYE_HEIGHT, EYE_RADIUS, TOP_RADIUS = 45 * MM, 11 * MM, 25 * MM
BOLT_RADIUS, BOLT_INSET = 4.5 * MM, 13 * MM
FILLET, CORNER = 8 * MM, 10 * MM
ELEMENT = 5.2 * MM


def main(path: str = "bracket.msh") -> None:
    """Build the solid, name its faces, mesh it and write it as Gmsh 4.1."""
    gmsh.initialize()
    gmsh.option.setNumber("General.Terminal", 0)
    gmsh.model.add("bracket")
    build()
    name_groups()
    mesh()
    gmsh.option.setNumber("Mesh.MshFileVersion", 4.1)
    gmsh.option.setNumber("Mesh.Binary", 1)
    gmsh.write(path)
    gmsh.finalize()


def build() -> None:
    """Fuse foot and plate, round the edges, and drill the holes."""
    occ = gmsh.model.occ
    foot = occ.addBox(0, 0, 0, LENGTH, WIDTH, THICKNESS)
    plate = occ.addBox(0, 0, 0, THICKNESS, WIDTH, EYE_HEIGHT)
    top = occ.addCylinder(0, WIDTH / 2, EYE_HEIGHT, THICKNESS, 0, 0, TOP_RADIUS)
    occ.fuse([(3, foot)], [(3, plate), (3, top)])
    occ.removeAllDuplicates()
    occ.synchronize()
    ((_, body),) = gmsh.model.getEntities(3)
    occ.fillet([body], edges_near(THICKNESS, None, THICKNESS), [FILLET])
    occ.synchronize()
    ((_, body),) = gmsh.model.getEntities(3)
    occ.fillet([body], edges_near(LENGTH, 0, None) + edges_near(LENGTH, WIDTH, None), [CORNER])
    eye = occ.addCylinder(-THICKNESS, WIDTH / 2, EYE_HEIGHT, 3 * THICKNESS, 0, 0, EYE_RADIUS)
    bolts = [
        occ.addCylinder(LENGTH - BOLT_INSET, y, -THICKNESS, 0, 0, 3 * THICKNESS, BOLT_RADIUS)
        for y in (BOLT_INSET, WIDTH - BOLT_INSET)
    ]
    occ.cut([(3, body)], [(3, tool) for tool in (eye, *bolts)])
    occ.synchronize()


def name_groups() -> None:
    """Name the volume and, by their place, the faces that loads and supports act on."""
    gmsh.model.addPhysicalGroup(3, [tag for _, tag in gmsh.model.getEntities(3)], name="bracket")
    base, clamp, bore = [], [], []
    for _, face in gmsh.model.getEntities(2):
        x, y, z = gmsh.model.occ.getCenterOfMass(2, face)
        round_ = gmsh.model.getType(2, face) == "Cylinder"
        if abs(z) < 1e-9:
            base.append(face)
        elif round_ and abs(x - (LENGTH - BOLT_INSET)) < 1e-6:
            clamp.append(face)
        elif round_ and abs(y - WIDTH / 2) < 1e-6 and abs(z - EYE_HEIGHT) < 1e-6:
            bore.append(face)
    for name, faces in (("base", base), ("clamp", clamp), ("bore", bore)):
        gmsh.model.addPhysicalGroup(2, faces, name=name)


def mesh() -> None:
    """Mesh with linear tetrahedra, finer around the holes and the fillet."""
    gmsh.option.setNumber("Mesh.MeshSizeMax", ELEMENT)
    gmsh.option.setNumber("Mesh.MeshSizeMin", 0.6 * ELEMENT)
    gmsh.option.setNumber("Mesh.MeshSizeFromCurvature", 14)
    gmsh.option.setNumber("Mesh.Algorithm3D", 1)
    gmsh.option.setNumber("Mesh.OptimizeThreshold", 0.5)
    gmsh.model.mesh.generate(3)
    gmsh.model.mesh.optimize("Netgen", niter=3)


def edges_near(x: float | None, y: float | None, z: float | None) -> list[int]:
    """Return the edges all of whose points have the given coordinates (None for any)."""
    requested = [(axis, value) for axis, value in enumerate((x, y, z)) if value is not None]
    found = []
    for _, edge in gmsh.model.getEntities(1):
        box = gmsh.model.getBoundingBox(1, edge)
        if all(abs(box[axis] - value) < 1e-6 and abs(box[axis + 3] - value) < 1e-6 for axis, value in requested):
            found.append(edge)
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
