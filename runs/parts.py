"""What a system is made of, as results show it: cells, fields of them, numbers of the history, sizes.

The same classes are on a rank, of the elements that it has.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from math import sqrt
from types import MappingProxyType
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from symplex.base.columns import Column, Kind, components, vector_columns
from symplex.base.fields import (
    DAMAGE,
    GONE,
    OF_BEAMS,
    OF_BONDS,
    OF_HINGES,
    OF_SHELLS,
    OF_SOLIDS,
    PLACES_OF_SHELLS,
)
from symplex.contact.bodies import BodyContact
from symplex.contact.friction import Friction
from symplex.contact.kernel_friction import SurfaceContact
from symplex.contact.output import ContactState
from symplex.contact.rigid import ObstacleContact
from symplex.contact.segments import SegmentContact, SegmentState
from symplex.fem.couplings.cohesive import CohesiveFaces
from symplex.fem.couplings.interpolated_bars import InterpolatedBars, springs_of
from symplex.fem.couplings.interpolated_load import InterpolatedLoad
from symplex.fem.couplings.interpolation import Interpolation
from symplex.fem.energies.energy import Array, IntArray
from symplex.fem.energies.inelastic import Inelastic
from symplex.fem.measures.anchors import Anchors
from symplex.fem.measures.bars import Bars
from symplex.fem.measures.inelastic_bars import InelasticBars
from symplex.fem.measures.separation import BreakingBar
from symplex.fem.outputs.forces import Acting
from symplex.fem.outputs.solid_fields import SolidFields
from symplex.fem.solids.eroding import Eroding
from symplex.fem.solids.plastic import Flowing, solids_in
from symplex.fem.solids.solid import Solid
from symplex.fem.solids.viscoelastic import Viscoelastic
from symplex.fem.structures.outlines import skin_of
from symplex.fem.structures.section_forces import SectionForces
from symplex.fem.structures.yielding import YieldingBar
from symplex.fem.system import State, System
from symplex.meshes.mesh import Mesh
from symplex.runs.progress import si
from symplex.runs.report import elements
from symplex.scenario.beams import Beam
from symplex.scenario.flexible import Flexible
from symplex.scenario.framed import Framed
from symplex.scenario.joined_parts import contacts_in, joined_cells, joined_values, parts_by_body, points_of
from symplex.scenario.mass_scaling import KINETIC, MOMENTUM, ScaledBody
from symplex.scenario.rigid_nodes import RigidNodeSet, RigidNodeSets
from symplex.scenario.scenario import Problem
from symplex.scenario.shells import Shell
from symplex.scenario.tables import Tables
from symplex.scenario.viscous import overstress_name

_NOISE = 1e-9  # lengths and forces that are rounding
SKIN = ".skin"  # ends the names of blocks that are surfaces of beams and shells
NODAL = "nodal_"  # begins the names of fields that are averaged at nodes
_NONE: Mapping[str, Beam] = MappingProxyType({})
_NO_SHELLS: Mapping[str, Shell] = MappingProxyType({})
_NO_FLEXIBLE: Mapping[str, Flexible] = MappingProxyType({})
_MOTION: tuple[tuple[str, str, Kind], ...] = (
    ("position", "m", "length"),
    ("velocity", "m/s", "other"),
    ("spin", "rad/s", "other"),
)


class Drawn(NamedTuple):
    """What is drawn of a part, of points that follow nodes of the system.

    Attributes
    ----------
    points : float64 [p, 3]
        In m, undeformed.
    cells : mapping of str to int32 [c, k]
        By type, of these points.
    nodes : int32 [p, k]
        Which nodes each point follows,
    weights : float64 [p, k]
        and by which parts.
    """

    points: Array
    cells: Mapping[str, IntArray]
    nodes: IntArray
    weights: Array


class Part:
    """A part of a system; the base has nothing to show.

    Attributes
    ----------
    name : str
        Of its table.
    nodes : int32 [k]
        Those that its numbers of the history are of.
    """

    nodes: IntArray = np.empty(0, np.int32)

    def __init__(self, name: str):
        self.name = name

    @property
    def energies(self) -> tuple[str, ...]:
        """The names of its energies."""
        return ()

    @property
    def cells(self) -> Mapping[str, IntArray]:
        """Its cells [m, k] by type."""
        return {}

    def drawn(self) -> Drawn | None:
        """Return what is drawn of it that is not made of nodes of the system; None if its cells are."""
        return None

    def joined(self, values: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        """Return values of stencils by the names of energies as those of its cells."""
        return next((values[name] for name in self.energies), np.empty(0))

    def field(self, name: str, state: State, parts: Parts) -> Array | None:
        """Return a field of its cells at a state; None if it has none of the name."""
        return None

    @property
    def columns(self) -> list[Column]:
        """What its numbers of the history are."""
        return []

    def row(self, state: State) -> dict[str, float]:
        """Return its numbers at a state, of which its nodes are enough."""
        return {}

    @property
    def elements(self) -> dict[str, int]:
        """How many elements it has of each type."""
        return {}

    def describe(self, mesh: Mesh, q: Array, system: System) -> list[tuple[str, str]]:
        """Return what it is and what there is to report it at the start, in rows."""
        return []


@final
class BodyPart(Part):
    """A body: elements of one or several types and materials, each with a strain energy."""

    def __init__(self, name: str, solids: Mapping[str, Solid]):
        super().__init__(name)
        self.solids = solids

    @property
    def energies(self) -> tuple[str, ...]:
        """The names of its strain energies."""
        return tuple(self.solids)

    @property
    def cells(self) -> Mapping[str, IntArray]:
        """Its elements by type."""
        return joined_cells(self.solids)

    def joined(self, values: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        """Return values of elements by the names of energies in the order of its cells."""
        return joined_values(self.solids, values)

    def field(self, name: str, state: State, parts: Parts) -> Array | None:
        """Return a quantity of stress or strain, or, where some may go, which elements are gone."""
        if name == GONE:
            return self._of_eroding(state, parts.eroding, lambda part, z: part.gone(z).astype(float))
        if name == DAMAGE:
            failing = {key: part for key, part in parts.eroding.items() if part.johnson_cook is not None}
            return self._of_eroding(state, failing, lambda part, z: part.damage(z))
        if name not in OF_SOLIDS:
            return None
        return self.joined({key: parts.of_solid(name, state, key) for key in self.solids})

    def _of_eroding(
        self, state: State, eroding: Mapping[str, Eroding], of: Callable[[Eroding, Array], Array | None]
    ) -> Array | None:
        """Return values of elements that may go, and zeros for others; None if none of the body may."""
        if not eroding.keys() & self.solids.keys():
            return None
        values: dict[str, Array] = {key: np.zeros(len(solid.nodes)) for key, solid in self.solids.items()}
        for key in eroding.keys() & self.solids.keys():
            found = of(eroding[key], state.internal[key])
            assert found is not None
            values[key] = found
        return self.joined(values)

    @property
    def elements(self) -> dict[str, int]:
        """How many elements it has of each type."""
        return {kind: len(rows) for kind, rows in self.cells.items()}

    def describe(self, mesh: Mesh, q: Array, system: System) -> list[tuple[str, str]]:
        """Return size, elements and mass, and of each material its mass and what it is like."""
        reported = f"{_size(mesh, self.name)}, {elements({'': self.elements})}"
        materials = [(f"  {name}", _material(name, solid, system)) for name, solid in self.solids.items()]
        if len(materials) == 1:
            return [(f"body '{self.name}'", f"{reported}, {materials[0][1]}")]
        mass = sum(solid.material.density * solid.volumes.sum() for solid in self.solids.values())
        return [(f"body '{self.name}'", f"{reported}, {mass:.6g} kg"), *materials]


@final
class BarsPart(Part):
    """A truss, or springs: along lines between nodes, or from nodes to a point; some yield or break."""

    def __init__(
        self,
        name: str,
        bars: Bars | Anchors | InelasticBars | InterpolatedBars,
        *,
        is_truss: bool,
        rest: Array | None = None,
    ):
        super().__init__(name)
        self.bars, self._is_truss, self._rest = bars, is_truss, rest

    @property
    def energies(self) -> tuple[str, ...]:
        """The name of its energy."""
        return (self.name,)

    @property
    def cells(self) -> Mapping[str, IntArray]:
        """Its lines, where both ends are nodes."""
        return {} if isinstance(self.bars, Anchors) else {"line": self.bars.nodes}

    def drawn(self) -> Drawn | None:
        """Return lines between the points that springs join, where these are no nodes."""
        if not isinstance(self.bars, InterpolatedBars) or self._rest is None:
            return None
        fixed, lines, nodes, weights = self.bars.ends()
        places = np.einsum("pk,pki->pi", weights, self._rest[nodes])
        places[len(places) - len(fixed) :] += fixed
        return Drawn(places, {"line": lines}, nodes, weights)

    def field(self, name: str, state: State, parts: Parts) -> Array | None:
        """Return axial forces, and what bars that yield or break show."""
        if isinstance(self.bars, InelasticBars):
            return self.bars.fields(state.q, state.internal[self.name]).get(name)
        return self.bars.tensions(state.q) if name == "axial_force" else None

    @property
    def elements(self) -> dict[str, int]:
        """How many members a truss has; springs are no elements."""
        return {"line": len(self.bars.nodes)} if self._is_truss else {}

    def describe(self, mesh: Mesh, q: Array, system: System) -> list[tuple[str, str]]:
        """Return number, lengths and forces: of a truss as it is drawn, of springs at the start."""
        x = mesh.points if self._is_truss else q
        bars = self.bars.frozen(self.bars.initial()) if isinstance(self.bars, InelasticBars) else self.bars
        of, reported = _range(bars.lengths(x), "m"), _forces(bars, x) + _history(self.bars)
        if self._is_truss:
            return [
                (
                    f"truss '{self.name}'",
                    f"{_size(mesh, self.name)}, {len(self.bars.nodes):,} members of {of}, {reported}",
                )
            ]
        return [(f"spring '{self.name}'", f"{len(self.bars.nodes):,} of {of}, {reported}")]


@final
class BondsPart(Part):
    """Cohesive bonds between faces, drawn on those of the first body."""

    def __init__(self, name: str, bonds: CohesiveFaces):
        super().__init__(name)
        self._bonds = bonds

    @property
    def energies(self) -> tuple[str, ...]:
        """Its name."""
        return (self.name,)

    @property
    def cells(self) -> Mapping[str, IntArray]:
        """The faces of the first body."""
        return {self._bonds.kind: self._bonds.nodes[:, : self._bonds.nodes.shape[1] // 2]}

    def field(self, name: str, state: State, parts: Parts) -> Array | None:
        """Return damage or opening."""
        if name not in OF_BONDS:
            return None
        return self._bonds.fields(state.q, state.internal[self.name])[name]

    def describe(self, mesh: Mesh, q: Array, system: System) -> list[tuple[str, str]]:
        """Return number, area and law."""
        bonds = self._bonds
        area, law = bonds.areas.sum(), bonds.law
        about = f"strength {si(law.strength, 'Pa')}, fracture energy {law.fracture_energy * area:.4g} J in all"
        return [(f"cohesive '{self.name}'", f"{len(bonds.nodes):,} faces, {area:.4g} m², {about}")]


@final
class BeamPart(Part):
    """The middle lines of beams."""

    def __init__(self, beam: Beam):
        super().__init__(beam.table.name)
        self.beam = self.framed = beam

    @property
    def energies(self) -> tuple[str, ...]:
        """The name of its energy."""
        return (self.name,)

    def joined(self, values: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        """Return values of elements as those of its cells."""
        return values[self.name]

    def drawn(self) -> Drawn:
        """Return its nodes and lines."""
        structure, particles = self.beam.structure, self.beam.particles
        centers = structure.frames.centers(structure.points)
        return Drawn(centers, {"line": structure.lines}, particles, np.full(particles.shape, 0.25))

    def field(self, name: str, state: State, parts: Parts) -> Array | None:
        """Return a component of the forces and moments in the middle of elements."""
        if name in OF_BEAMS:
            return parts.section_forces(self.beam)(state)[:, list(OF_BEAMS).index(name)]
        flowing = parts.inelastic.get(self.name)
        if flowing is None or name not in (*OF_HINGES, "plastic_strain"):
            return None
        return flowing.fields(state.q, state.internal[self.name])[name]

    @property
    def elements(self) -> dict[str, int]:
        """How many elements it has."""
        return {"line": len(self.beam.structure.lines)}

    def describe(self, mesh: Mesh, q: Array, system: System) -> list[tuple[str, str]]:
        """Return number, lengths and mass."""
        structure = self.beam.structure
        size = " × ".join(f"{length:.4g}" for length in np.ptp(structure.frames.centers(structure.points), axis=0))
        of = _range(structure.lengths, "m")
        reported = f"{size} m, {len(structure.lines):,} elements of {of}, {structure.mass.sum():.6g} kg"
        return [(f"beam '{self.name}'", reported)]


@final
class SkinPart(Part):
    """The surface of beams, as their section looks, with the fields of their elements."""

    def __init__(self, of: BeamPart):
        super().__init__(f"{of.name}{SKIN}")
        self._of = of
        self._skin = skin_of(of.beam.structure, *of.beam.outlines())

    def drawn(self) -> Drawn:
        """Return its points and quadrilaterals."""
        skin = self._skin
        return Drawn(skin.points, {"quad": skin.quads}, skin.particles + np.int32(self._of.beam.first), skin.weights)

    def field(self, name: str, state: State, parts: Parts) -> Array | None:
        """Return what each quadrilateral has of its element."""
        values = self._of.field(name, state, parts)
        return None if values is None else values[self._skin.elements]


@final
class ShellPart(Part):
    """The middle surface of shells."""

    def __init__(self, shell: Shell):
        super().__init__(shell.table.name)
        self.shell = self.framed = shell

    @property
    def energies(self) -> tuple[str, ...]:
        """The names of its energies."""
        return tuple(self.shell.kinds.values())

    def joined(self, values: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        """Return values of elements by the names of energies in the order of its cells."""
        return self.shell.of_elements({kind: values[name] for kind, name in self.shell.kinds.items()})

    def drawn(self) -> Drawn:
        """Return its nodes and faces."""
        structure, particles = self.shell.structure, self.shell.particles
        centers = structure.frames.centers(structure.points)
        return Drawn(centers, self.shell.cells, particles, np.full(particles.shape, 0.25))

    def field(self, name: str, state: State, parts: Parts) -> Array | None:
        """Return forces or moments in the middle of elements."""
        if name not in PLACES_OF_SHELLS:
            return None
        return parts.section_forces(self.shell)(state)[self.shell.numbers][:, PLACES_OF_SHELLS[name]]

    @property
    def elements(self) -> dict[str, int]:
        """How many elements it has of each type."""
        return {kind: len(rows) for kind, rows in self.shell.cells.items()}

    def describe(self, mesh: Mesh, q: Array, system: System) -> list[tuple[str, str]]:
        """Return size, elements, thickness and mass."""
        structure = self.shell.structure
        size = " × ".join(f"{length:.4g}" for length in np.ptp(structure.frames.centers(structure.points), axis=0))
        sizes = [one.thickness for one in self.shell.table.properties_of_parts()]
        thick = " to ".join(si(size, "m") for size in dict.fromkeys([min(sizes), max(sizes)]))
        of = f"{elements({'': self.elements})}, {thick} thick, {structure.mass.sum():.6g} kg"
        return [(f"shell '{self.name}'", f"{size} m, {of}")]


@final
class ShellSkinPart(Part):
    """The surface of shells, both sides and the edges, with the fields of their elements."""

    def __init__(self, of: ShellPart):
        super().__init__(f"{of.name}{SKIN}")
        self._of, self._shell = of, of.shell

    @cached_property
    def _elements(self) -> IntArray:
        """The element of each triangle, in the order of the cells of the shell."""
        return np.argsort(self._shell.numbers)[self._shell.structure.skin_elements()].astype(np.int32)

    def field(self, name: str, state: State, parts: Parts) -> Array | None:
        """Return what each triangle has of its element."""
        values = self._of.field(name, state, parts)
        return None if values is None else values[self._elements]

    def drawn(self) -> Drawn:
        """Return its points and triangles."""
        weights, triangles = self._shell.structure.skin()
        nodes, parts = Interpolation(weights).stencils(np.arange(len(weights.indptr) - 1, dtype=np.int32)[:, None])
        points = np.asarray(weights @ self._shell.structure.points)
        return Drawn(points, {"triangle": triangles}, nodes + np.int32(self._shell.first), parts[:, 0])


@final
class FlexiblePart(Part):
    """A reduced body, drawn with all of its elements."""

    def __init__(self, one: Flexible):
        super().__init__(one.table.name)
        self._one, mesh = one, one.body.mesh
        self._cells = {kind: mesh.cells[kind] for kind in mesh.volume_types}

    @property
    def energies(self) -> tuple[str, ...]:
        """The name of its energy."""
        return (self.name,)

    def drawn(self) -> Drawn:
        """Return its points and elements."""
        functions = self._one.body.functions
        return Drawn(
            self._one.body.mesh.points, self._cells, np.broadcast_to(self._one.nodes, functions.shape), functions
        )

    def field(self, name: str, state: State, parts: Parts) -> Array | None:
        """Return a quantity of stress or strain."""
        return self._one.field(name, state) if name in OF_SOLIDS else None

    @property
    def elements(self) -> dict[str, int]:
        """How many elements it has of each type."""
        return {kind: len(rows) for kind, rows in self._cells.items()}

    def describe(self, mesh: Mesh, q: Array, system: System) -> list[tuple[str, str]]:
        """Return size, elements, mass and coordinates."""
        body = self._one.body
        size = " × ".join(f"{length:.4g}" for length in np.ptp(body.mesh.points, axis=0))
        modes = f"{len(body.frequencies)} modes"
        if len(body.frequencies):
            modes += f" up to {si(float(body.frequencies[-1]), 'Hz')}"
        of = f"{elements({'': self.elements})}, {body.mass.sum():.6g} kg, {modes}, {len(body.interfaces)} interfaces"
        few = f"{len(body.nodes)} of {len(body.mesh.points):,} nodes"
        return [(f"reduced body '{self.name}'", f"{size} m, {of}: {few}")]


@final
class PointPart(Part):
    """A point mass."""

    def __init__(self, name: str, node: int):
        super().__init__(name)
        self.nodes = np.array([node], np.int32)

    @property
    def cells(self) -> Mapping[str, IntArray]:
        """Its vertex."""
        return {"vertex": self.nodes[None]}

    def joined(self, values: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        """Return that it is the first of its cells: it has no energy."""
        return np.zeros(1, np.int64)

    @property
    def columns(self) -> list[Column]:
        """The position."""
        return _vectors("position", "m", "length", self.name)

    def row(self, state: State) -> dict[str, float]:
        """Return the position."""
        return components(f"position_{self.name}", state.q[self.nodes[0]])


@final
class RigidPart(Part):
    """Something rigid that one node carries, or that follows four; nothing is reported of it where it stands still."""

    def __init__(self, name: str, rigid_set: RigidNodeSet):
        super().__init__(name)
        self._rigid_set = rigid_set
        moves = rigid_set.table.is_free or rigid_set.table.is_driven
        turns = rigid_set.mass > 0.0 and len(rigid_set.nodes) > 1
        self._reported = (_MOTION if turns else _MOTION[:1]) if moves else ()
        self.nodes = rigid_set.nodes if moves else self.nodes

    @property
    def columns(self) -> list[Column]:
        """The position, and of what turns freely velocity and spin."""
        return [column for what, unit, kind in self._reported for column in _vectors(what, unit, kind, self.name)]

    def row(self, state: State) -> dict[str, float]:
        """Return the same at a state."""
        if not self._reported:
            return {}
        values = zip(self._reported, self._rigid_set.pose(state.q, state.v), strict=False)
        return {k: x for (what, _, _), vector in values for k, x in components(f"{what}_{self.name}", vector).items()}


@final
class AddedMass(Part):
    """The mass that [mass_scaling] adds to bodies, and what it has of the motion."""

    def __init__(self, scaled: Mapping[str, ScaledBody]):
        super().__init__("mass_scaling")
        self._scaled, n = scaled, 1 + max(int(one.nodes.max(initial=-1)) for one in scaled.values())
        added = np.zeros(n)
        for one in scaled.values():
            added[one.nodes] += one.at_nodes
        self.nodes = np.flatnonzero(added).astype(np.int32)
        self._mass = added[self.nodes]

    @property
    def columns(self) -> list[Column]:
        """Its kinetic energy and its momentum."""
        plot = "momentum of the added mass"
        return [
            Column(KINETIC, "J", plot="kinetic energy of the added mass"),
            *vector_columns(MOMENTUM, "kg m/s", "other", plot=plot),
        ]

    def row(self, state: State) -> dict[str, float]:
        """Return the same at a state."""
        v = state.v[self.nodes]
        kinetic = 0.5 * float(np.einsum("n,ni,ni->", self._mass, v, v))
        return {KINETIC: kinetic, **components(MOMENTUM, self._mass @ v)}

    def describe(self, mesh: Mesh, q: Array, system: System) -> list[tuple[str, str]]:
        """Return how much is added to each body."""
        return [(f"mass scaling of '{name}'", one.reported) for name, one in self._scaled.items()]


def _vectors(what: str, unit: str, kind: Kind, name: str) -> list[Column]:
    return [*vector_columns(f"{what}_{name}", unit, kind, plot=f"{what} of {name}")]


@final
class Parts(Sequence[Part]):
    """All parts of a system, in the order in which results show them.

    Parameters
    ----------
    system : System
    listed : sequence of Part
    points : callable
        Returns the positions [p, 3] of the points that contact is of, given those of nodes [n, 3].
    """

    def __init__(self, system: System, listed: Sequence[Part], points: Callable[[Array], Array]):
        self._system, self._listed, self._points = system, listed, points
        self._present: System | None = None
        self._of_present: SolidFields | None = None

    @classmethod
    def of(cls, problem: Problem) -> Parts:
        """Return the parts of a problem."""
        tables, rigid_sets = problem.scenario.tables, problem.rigid_sets
        masses = {one.name: int(problem.mesh.nodes_of(one.name)[0]) for one in tables.point_mass if one.has_nodes}
        found = cls.of_system(
            tables,
            problem.whole,
            masses,
            rigid_sets,
            problem.beams,
            problem.shells,
            problem.mesh.points,
            problem.flexible,
        )
        return cls(found._system, [*found, AddedMass(problem.scaled)], found._points) if problem.scaled else found

    @classmethod
    def of_system(
        cls,
        tables: Tables,
        system: System,
        masses: Mapping[str, int],
        rigid_sets: RigidNodeSets,
        beams: Mapping[str, Beam] = _NONE,
        shells: Mapping[str, Shell] = _NO_SHELLS,
        rest: Array | None = None,
        flexible: Mapping[str, Flexible] = _NO_FLEXIBLE,
    ) -> Parts:
        """Return the parts of a system that has the energies of some tables, and nodes of point masses by name.

        Springs between nodes of beams and shells are drawn from their positions at rest.
        """
        lines = [BeamPart(beam) for beam in beams.values()]
        faces = [ShellPart(shell) for shell in shells.values()]
        solids = parts_by_body([body.name for body in tables.body], solids_in(system.energies, system.inelastic))
        trusses = {table.name for table in tables.truss}
        every = {**system.inelastic, **system.energies}
        named = {table.name: every.get(table.name) for table in (*tables.truss, *tables.spring)}
        bonds = {table.name: system.inelastic.get(table.name) for table in tables.cohesive}
        bars = [
            BarsPart(name, springs, is_truss=name in trusses, rest=rest)
            for name, energy in named.items()
            if (springs := springs_of(energy)) is not None
        ]
        listed = [
            *(RigidPart(name, rigid_set) for name, rigid_set in rigid_sets.rigid_sets.items()),
            *(BodyPart(name, some) for name, some in solids.items() if some),
            *(FlexiblePart(one) for one in flexible.values()),
            *(part for part in bars if part.cells),
            *(BondsPart(name, part) for name, part in bonds.items() if isinstance(part, CohesiveFaces)),
            *lines,
            *(SkinPart(part) for part in lines),
            *faces,
            *(ShellSkinPart(part) for part in faces),
            *(PointPart(name, node) for name, node in masses.items()),
            *(part for part in bars if not part.cells),
        ]
        return cls(system, listed, rigid_sets.points)

    def __len__(self) -> int:
        return len(self._listed)

    def __getitem__(self, k):
        return self._listed[k]

    @property
    def columns(self) -> list[Column]:
        """What numbers of the history they have."""
        return [column for part in self for column in part.columns]

    def row(self, state: State) -> dict[str, float]:
        """Return these numbers at a state."""
        if not self._reported:
            return {}
        few = state.of_nodes(self._nodes)
        return {name: value for part in self._reported for name, value in part.row(few).items()}

    @cached_property
    def _reported(self) -> list[Part]:
        """Those that have numbers of the history."""
        return [part for part in self if part.columns]

    @cached_property
    def _nodes(self) -> IntArray:
        """The nodes that these numbers are of."""
        return np.unique(np.concatenate([part.nodes for part in self._reported])).astype(np.int32)

    def cell_fields(self, state: State, requested: Collection[str]) -> dict[str, dict[str, Array]]:
        """Return the requested fields of cells, by name and part."""
        found = {}
        of_solids = (name for name in requested if name in OF_SOLIDS and name != "von_mises")
        names = ("von_mises", *of_solids, GONE, *OF_BONDS, *OF_BEAMS, *OF_HINGES, *OF_SHELLS)
        for name in (name for name in names if name in requested):
            values = {part.name: part.field(name, state, self) for part in self}
            if there := {part: value for part, value in values.items() if value is not None}:
                found[name] = there
        return found

    @cached_property
    def eroding(self) -> dict[str, Eroding]:
        """The bodies' parts of which elements may go, by name."""
        return {name: part for name, part in self._system.inelastic.items() if isinstance(part, Eroding)}

    @property
    def inelastic(self) -> Mapping[str, Inelastic]:
        """The inelastic parts of the system."""
        return self._system.inelastic

    def section_forces(self, framed: Framed) -> SectionForces:
        """Return the section forces of a beam or shell, with those of its parts with history."""
        return SectionForces(framed.structure, self._system.inelastic, framed.first)

    def rotations(self, state: State, requested: Collection[str]) -> Iterator[tuple[str, Array]]:
        """Yield the rotation vectors [n, 3] in rad of nodes of beams and shells, if requested; zero at others."""
        framed = [part.framed for part in self if isinstance(part, BeamPart | ShellPart)]
        if framed and "rotation" in requested:
            out = np.zeros_like(state.q)
            for one in framed:
                out[one.particles] = one.structure.frames.rotation_vectors(one.own(state.q))[:, None]
            yield "rotation", out

    def averaged(self, state: State, requested: Collection[str]) -> Iterator[tuple[str, Array]]:
        """Yield the requested fields of bodies that are averaged at nodes [n, …]."""
        if solids_in(self._system.energies, self._system.inelastic):
            for name in (name for name in requested if name.startswith(NODAL)):
                yield name, (self._of_present or self.solid_fields).at_nodes(name.removeprefix(NODAL), state)

    @cached_property
    def solid_fields(self) -> SolidFields:
        """What there is to report of the stress and strain of bodies."""
        return SolidFields(self._system)

    def follow(self, system: System) -> None:
        """Report stresses of the bodies that a system has, which is that of the present part of a run."""
        if system is not self._present:
            self._present = system
            solids = solids_in(system.energies, system.inelastic)
            known = solids_in(self._system.energies, self._system.inelastic)
            if any(solids.get(name) is not one for name, one in known.items()):
                self._of_present = SolidFields(system)

    def of_solid(self, name: str, state: State, key: str) -> Array:
        """Return a field of the elements of a solid [m, …], which is zero while the body is not there."""
        present = self._of_present
        if present is None:
            return self.solid_fields.of_elements(name, state, key)
        if key in present.names:
            return present.of_elements(name, state, key)
        return np.zeros_like(self.solid_fields.of_elements(name, state, key))

    def contact_fields(self, state: State, acting: Acting, requested: Collection[str]) -> dict[str, Array]:
        """Return the requested fields [p, …] of contact with obstacles and between bodies, as the motion feels it.

        Pressures are forces per area at rest, of the surfaces of bodies that may touch each other.
        """
        energies = self._system.energies
        obstacles = contacts_in(energies, ObstacleContact)
        bodies = contacts_in(energies, BodyContact, SegmentContact)
        points = self._points(state.q)
        forces = np.zeros_like(points)
        for name, contact in obstacles.items():
            gradient = acting(contact, state) if contact is energies[name] else contact.gradient(points[contact.nodes])
            forces[contact.nodes[:, 0]] -= gradient[:, 0]
        fields = {"contact_force": forces} if obstacles or bodies else {}
        if bodies:
            states = []
            for name, energy in bodies.items():
                gradient = acting(energy, state) if energy is energies[name] else None
                states.append(energy.at(points_of(energies[name], state.q), gradient))
            # Some are of nodes and some of points, which begin with the same bodies.
            of_bodies, farthest = np.zeros_like(points), max(one.farthest for one in states)
            pressures, gaps = np.zeros(len(points)), np.full(len(points), farthest)
            for one in states:
                own = one.surface.vertices
                of_bodies[own] += one.nodal_forces()[own]
                gap = one.nodal_gaps()[own]
                gaps[own] = np.minimum(gaps[own], np.where(gap < one.farthest, gap, farthest))
            forces += of_bodies
            of_areas = [one for one in states if isinstance(one, ContactState)]
            for surface in (one.surface for one in of_areas):
                pressures[surface.vertices] = np.linalg.norm(forces[surface.vertices], axis=1) / surface.vertex_areas
            for one in states:
                if isinstance(one, SegmentState):
                    pressures += one.pressures()
            fields |= {"contact_pressure": pressures, "gap": gaps}
            if "friction_traction" in requested:
                fields |= self._friction_tractions(state)
        return {name: values for name, values in fields.items() if name in requested}

    def _friction_tractions(self, state: State) -> dict[str, Array]:
        """Return by name the tractions of friction [p, 3] in Pa between bodies at present velocities; none without."""
        total, found = np.zeros_like(self._points(state.q)), {}
        for load in self._system.loads.values():
            friction = load.load if isinstance(load, InterpolatedLoad) else load
            if isinstance(friction, Friction) and isinstance(friction.energy, SurfaceContact):
                one = friction.tractions(*(points_of(load.energy, one) for one in (state.q, state.v)))
                total[: len(one)] += one
                found["friction_traction"] = total
        return found


def _size(mesh: Mesh, name: str) -> str:
    return " × ".join(f"{length:.4g}" for length in np.ptp(mesh.points[mesh.nodes_of(name)], axis=0)) + " m"


def _range(values: Array, unit: str) -> str:
    low, high = float(values.min()), float(values.max())
    return si(high, unit) if high - low <= _NOISE * abs(high) else f"{si(low, unit)} to {si(high, unit)}"


def _history(bars: Bars | Anchors | InelasticBars | InterpolatedBars) -> str:
    """Return at what bars yield or break, if they do."""
    law = bars.law if isinstance(bars, InelasticBars) else None
    if isinstance(law, YieldingBar):
        return f", yields at {si(float(law.hardening.yield_stress(0.0)), 'Pa')}"
    return f", breaks at {si(law.law.strength, 'N')}" if isinstance(law, BreakingBar) else ""


def _forces(bars: Bars | Anchors | InterpolatedBars, q: Array) -> str:
    """Return the forces along bars, if there are any but rounding."""
    forces, lengths = bars.tensions(q), bars.lengths(q)
    stiffness = 4.0 * lengths**2 * bars.law.curvature(lengths**2) + 2.0 * bars.law.slope(lengths**2)  # d²φ/dl²
    if (np.abs(forces) <= _NOISE * np.abs(stiffness * lengths)).all():
        return "without forces at the start"
    return f"forces of {_range(forces, 'N')} at the start"


def _material(name: str, solid: Solid, system: System) -> str:
    """Return the mass of a part of a body and what its material is like, also at once where it relaxes."""
    material, relaxing = solid.material, system.inelastic.get(overstress_name(name))
    moduli = f", E = {si(material.young, 'Pa')}, ν = {material.poisson:.3f}" if material.isotropic else ", fibres"
    waves = f"waves {material.wave_speed:.5g} m/s"
    flowing = system.inelastic.get(name)
    if isinstance(flowing, Flowing):
        limit = f", elements fail by {flowing.limits}" if isinstance(flowing, Eroding) else ""
        moduli += f", yields at {si(float(flowing.hardening.yield_stress(0.0)), 'Pa')}{limit}"
    if isinstance(relaxing, Viscoelastic):
        # The overstress is deviatoric: λ + 2 μ of the law becomes λ + 2 μ + 4/3 Σ μ_i.
        at_once = sqrt(material.wave_speed**2 + 4.0 / 3.0 * relaxing.moduli.sum() / material.density)
        waves = f"waves {at_once:.5g} m/s at once, {material.wave_speed:.5g} m/s relaxed"
    return f"{material.density * solid.volumes.sum():.6g} kg, {waves}{moduli}"
