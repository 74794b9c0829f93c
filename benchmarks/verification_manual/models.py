"""Meshes and systems that several problems share."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

import symplex as sx
from symplex.meshes import Mesh

Array = np.ndarray
SPLITS = {"tetra": "6", "hexahedron": "hexahedra", "wedge": "wedges", "pyramid": "pyramids"}
LINEAR = ["tetra", "hexahedron", "wedge", "pyramid"]
QUADRATIC = ["tetra10", "hexahedron20", "hexahedron27", "wedge15", "wedge18", "pyramid13"]
KINDS = [*LINEAR, *QUADRATIC, "hexahedron full", "hexahedron20 reduced"]
STEEL = sx.LinearElastic.from_young(200e9, 0.3, 8000.0)


def cells_of(kind: str) -> str:
    """Return the type of cells of an element, which may have its formulation after it."""
    return kind.partition(" ")[0]


def mesh_of(kind: str, size: tuple, cells: tuple, shake: float = 0.0) -> Mesh:
    """Return a box of elements, its inner corners moved at random by a part of their distance."""
    name = cells_of(kind)
    linear = name.rstrip("0123456789")
    mesh = sx.box(size, cells, split=SPLITS[linear])
    if shake:
        inside = np.setdiff1d(np.arange(len(mesh.points)), mesh.boundary_nodes)
        way = np.random.default_rng(0).uniform(-shake, shake, (len(inside), 3))
        mesh.points[inside] += way * np.array(size) / cells
    return mesh if name == linear else sx.quadratic(mesh, centres=name in ("hexahedron27", "wedge18"))


class Block:
    """A body of one type of elements, made from a box, whose points may be moved to another shape."""

    def __init__(
        self,
        kind: str,
        size: tuple,
        cells: tuple,
        law: sx.Material,
        shape: Callable[[Array], Array] | None = None,
        shake: float = 0.0,
    ):
        self.mesh = mesh_of(kind, size, cells, shake)
        self.box = self.mesh.points  # as it was
        self.points = self.box if shape is None else np.ascontiguousarray(shape(self.box))
        self.cells, self.law = self.mesh.cells[cells_of(kind)], law
        self.solid = sx.Solid(self.points, self.cells, law, formulation=kind.partition(" ")[2] or None)

    @classmethod
    def of(cls, mesh: Mesh, law: sx.Material) -> Block:
        """Return the body of a mesh with one type of elements."""
        new = cls.__new__(cls)
        (kind,) = mesh.volume_types
        new.mesh, new.box, new.points, new.law = mesh, mesh.points, mesh.points, law
        new.cells, new.solid = mesh.cells[kind], sx.Solid(mesh.points, mesh.cells[kind], law)
        return new

    def mass(self, consistent: bool = True):
        """Return the mass, a matrix or lumped."""
        of = sx.consistent_mass if consistent else sx.lumped_mass
        return of(self.points, self.cells, self.law.density, len(self.points))

    def nowhere(self) -> Array:
        """Return that no coordinate is fixed [n, 3]."""
        return np.zeros(self.points.shape, bool)

    def pull(self, side: str, traction) -> sx.actions.NodalForce:
        """Return a dead traction in Pa on a side."""
        load = sx.actions.SurfaceTraction(self.points, self.mesh.faces_of(side), traction)
        return sx.actions.NodalForce(load.nodes, load.forces)

    def press(self, side: str, pressure: float) -> sx.actions.NodalForce:
        """Return a pressure in Pa on a side as it acts on the undeformed shape."""
        forces = sx.actions.Pressure(self.mesh.faces_of(side), pressure)(0.0, self.points, np.zeros_like(self.points))
        nodes = self.mesh.nodes_of(side)
        return sx.actions.NodalForce(nodes, forces[nodes])

    def system(self, fixed: Array | None, mass=None, **energies: sx.Energy) -> sx.System:
        """Return the system with loads and supports."""
        mass = np.ones(len(self.points)) if mass is None else mass
        return sx.System(mass, {"solid": self.solid, **energies}, fixed=fixed)

    def rest(self, fixed: Array | None, start: Array | None = None, **energies: sx.Energy) -> sx.State:
        """Return the equilibrium under loads, with the fixed coordinates where they are at the start."""
        system = self.system(fixed, **energies)
        return sx.equilibria.static_equilibrium(system, self.points if start is None else start).state


def chain_of(n: int) -> Array:
    """Return the pairs of n bars in a row [n, 2]."""
    return np.column_stack([np.arange(n), np.arange(1, n + 1)]).astype(np.int32)


def rod(n: int, length: float, young: float, density: float, area: float, **options) -> tuple[sx.System, sx.State]:
    """Return a rod on a line of n equal bars with lumped masses; options are those of `System`."""
    points = np.linspace(0.0, length, n + 1)[:, None]
    bars = sx.Bars(chain_of(n), sx.measures.EngineeringStrain(young * area * n / length, length / n), dim=1)
    mass = sx.actions.bar_mass(points, chain_of(n), density, area, n + 1)
    energies: Mapping[str, sx.Energy] = {"rod": bars} | options.pop("energies", {})
    system = sx.System(mass, energies, dim=1, **options)
    return system, system.state(points)
