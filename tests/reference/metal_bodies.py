"""Bodies of metal for tests: boxes of four elements, a ring that spins, and states in which they flow."""

from __future__ import annotations

import numpy as np

from symplex.contact.bodies import BodyContact
from symplex.contact.exposed import ExposedSurface
from symplex.contact.surfaces import Surface
from symplex.fem.actions.mass import lumped_mass
from symplex.fem.solids.eroding import Eroding
from symplex.fem.solids.hardening import Hardening
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.plastic import Plastic
from symplex.fem.solids.solid import Solid
from symplex.fem.system import System
from symplex.meshes.generate import box
from symplex.meshes.mesh import Mesh
from symplex.meshes.midside_nodes import quadratic

E, NU, DENSITY = 117e9, 0.35, 8930.0
COPPER = NeoHookean.from_young(E=E, nu=NU, density=DENSITY)
MU, K = E / (2 * (1 + NU)), E / (3 * (1 - 2 * NU))
LINE = Hardening(4e8, modulus=1e8)
ALUMINIUM = NeoHookean.from_young(E=70e9, nu=0.33, density=2700.0)
STEEL = NeoHookean.from_young(E=200e9, nu=0.3, density=7800.0)
SHOT_LINE = Hardening(2.5e8, modulus=2e8)


def solid_of(kind, cells=(2, 1, 1), size=(0.04, 0.02, 0.02)):
    """A box of elements of a kind."""
    split = {
        "hexahedron": "hexahedra",
        "wedge": "wedges",
        "tetra10": "6",
        "hexahedron20": "hexahedra",
        "stabilized": "hexahedra",
    }[kind]
    if kind == "wedge":  # a hexahedron of a grid is two of them
        mesh = box(size, cells, split="hexahedra")
        c = mesh.cells["hexahedron"]
        halves = np.concatenate([c[:, [0, 1, 2, 4, 5, 6]], c[:, [0, 2, 3, 4, 6, 7]]])
        return Solid(mesh.points, halves, COPPER, formulation="mean-dilatation")
    mesh = box(size, cells, split=split)
    if kind == "stabilized":  # of elements that are no parallelepipeds
        points = mesh.points + 0.03 * min(size) * np.random.default_rng(0).standard_normal(mesh.points.shape)
        return Solid(points, mesh.cells["hexahedron"], COPPER, formulation="stabilized")
    mesh = quadratic(mesh) if kind in ("tetra10", "hexahedron20") else mesh
    return Solid(mesh.points, mesh.cells[kind], COPPER, formulation="mean-dilatation" if kind == "hexahedron" else None)


def system_of(part, **options):
    """A system of one such body, "bar"."""
    solid = part.solid
    return System(
        lumped_mass(solid.points, solid.nodes, DENSITY, len(solid.points)), {}, inelastic={"bar": part}, **options
    )


def deformed(q, size, seed):
    """Positions with random changes."""
    return q + size * np.random.default_rng(seed).standard_normal(q.shape)


def flowed(part, size=4e-4):
    """Positions and internal variables of a body that has flowed, and positions at which it flows on."""
    q0 = deformed(part.solid.points, size, 1)
    z0, _ = part.after(part.solid.points, part.unstrained(), q0, 1.0)
    return q0, z0, deformed(q0, size, 2)


def metrics(z):
    """The inverse plastic metrics [m, g, 3, 3]."""
    return z[..., :6][..., ((0, 3, 4), (3, 1, 5), (4, 5, 2))]


def rotation(angle):
    """A rotation about an oblique axis."""
    k = np.array([2.0, -1.0, 2.0]) / 3.0
    cross = np.array([[0, -k[2], k[1]], [k[2], 0, -k[0]], [-k[1], k[0], 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def ring(n=12, law=LINE):
    """A ring of square hexahedra, mean radius 20 mm."""
    angles = 2 * np.pi * np.arange(n) / n
    corners = [(0.017, -0.003), (0.023, -0.003), (0.023, 0.003), (0.017, 0.003)]
    points = np.array([[r * np.cos(a), r * np.sin(a), z] for a in angles for r, z in corners])
    first, after = 4 * np.arange(n)[:, None], 4 * ((np.arange(n) + 1) % n)[:, None]
    corner = np.arange(4)
    cells = np.concatenate([first + corner, after + corner], axis=1)
    if np.linalg.det(points[cells[0, [1, 3, 4]]] - points[cells[0, 0]]) < 0:
        cells = cells[:, [4, 5, 6, 7, 0, 1, 2, 3]]
    return Plastic(Solid(points, cells, COPPER, formulation="mean-dilatation"), law)


def spinning(part, speed=14000.0):
    """A system and its state that spins about z."""
    system = system_of(part)
    v = np.cross([0.0, 0.0, speed], part.solid.points)
    return system, system.state(part.solid.points, v)


def plate_and_shot(limit=0.15, formulation="mean-dilatation", hardening=SHOT_LINE, **criteria):
    """A plate of 4 × 4 × 2 elements, and a shot of one that flies at it."""
    plate, shot = (
        box((0.02, 0.02, 0.004), (4, 4, 2), split="hexahedra"),
        box((0.006, 0.006, 0.009), (1, 1, 1), split="hexahedra"),
    )
    points = np.concatenate([plate.points, np.add(shot.points, (0.0065, 0.0075, 0.0043))])
    of_plate, of_shot = plate.cells["hexahedron"], shot.cells["hexahedron"] + len(plate.points)
    solid = Solid(points, of_plate, ALUMINIUM, formulation=formulation)
    part = Eroding(Plastic(solid, hardening), limit, **criteria)
    body = Mesh(points, {"hexahedron": of_shot}, {"shot": {"hexahedron": np.arange(len(of_shot), dtype=np.int32)}})
    exposed = ExposedSurface(points, {"plate": {"plate": part}, "shot": Surface.of(body, "shot")})
    contact = BodyContact.from_materials(exposed.surface(), [ALUMINIUM, STEEL], speed=500.0)
    contact.exposes(exposed)
    n = len(points)
    mass = lumped_mass(points, of_plate, 2700.0, n) + lumped_mass(points, of_shot, 7800.0, n)
    system = System(mass, {"shot": Solid(points, of_shot, STEEL), "contact": contact}, inelastic={"plate": part})
    v = np.zeros_like(points)
    v[len(plate.points) :, 2] = -500.0
    return system, system.state(points, v)
