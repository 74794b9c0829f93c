"""From the tables of a scenario to a mesh, a system, its initial state and an integrator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from symplex.base.sparse import sp
from symplex.errors import ScenarioError, SymplexError
from symplex.fem.actions.loads import NodalLoad
from symplex.fem.actions.support_motion import SupportMotion
from symplex.fem.energies.energy import Array, Energy, IntArray
from symplex.fem.energies.inelastic import Inelastic
from symplex.fem.measures.constraints import Constraint
from symplex.fem.solids.plastic import solids_in
from symplex.fem.solids.solid import Solid
from symplex.fem.structures.beam import Beams
from symplex.fem.structures.frames import Frames
from symplex.fem.structures.joints import Connection
from symplex.fem.structures.shell import Shells
from symplex.fem.system import Load, State, System
from symplex.meshes.joining import join_nodes
from symplex.meshes.mesh import Mesh, distinct, merge
from symplex.scenario.actions import GRAVITY, Rod, Support, Timed
from symplex.scenario.beams import Beam, BeamTable
from symplex.scenario.contact_parts import ContactParts
from symplex.scenario.couplings import CouplingTable
from symplex.scenario.event_building import changes_of, events_of, first_stage
from symplex.scenario.flexible import Flexible, FlexibleBodyTable, mesh_of_nodes, skin_of
from symplex.scenario.framed import held_frames, mesh_of_particles, with_drills
from symplex.scenario.inertia import Inertia
from symplex.scenario.integrators import fitted_integrator, integrator_of, step_of
from symplex.scenario.joints import JointTable
from symplex.scenario.mass_scaling import ScaledBody
from symplex.scenario.messages import mistakes, place
from symplex.scenario.prescribed import oblique_motion, require_covered, support_motion
from symplex.scenario.pretension import PretensionTable
from symplex.scenario.probe_building import BuiltProbe, ProbeBuilder
from symplex.scenario.probes import ProbeTable
from symplex.scenario.rigid_nodes import FollowingSurface, RigidNodeSets, rigid_sets_of
from symplex.scenario.sampling import RunInterval, changed_timeline, timeline
from symplex.scenario.selections import group_in
from symplex.scenario.separate import connected_parts, rotating_apart
from symplex.scenario.shells import Shell, ShellTable
from symplex.scenario.stage_bodies import BodiesBegin, changing_bodies, nodes_of
from symplex.scenario.stages import of_supports, tables_of_stage
from symplex.scenario.start import Beginning, Perturbation, RotationStart, Start
from symplex.scenario.table import ADDED, Entry
from symplex.scenario.tables import Tables
from symplex.scenario.temperatures import thermal_change
from symplex.scenario.ties import TieTable, drawn_to, on_surface, tied_pairs
from symplex.time.integrator import Integrator
from symplex.time.modes.floating import FlexibleBody
from symplex.time.stages import Stage, Stages

T = TypeVar("T")


class Built(NamedTuple):
    """What tables describe; see `symplex.scenario.scenario.Problem`."""

    mesh: Mesh
    system: System
    state: State
    integrator: Integrator
    n_rods: int
    rigid_sets: RigidNodeSets
    probes: tuple[BuiltProbe, ...]
    notes: tuple[str, ...]
    velocities: Array
    beams: dict[str, Beam]
    shells: dict[str, Shell]
    scaled: dict[str, ScaledBody]
    flexible: dict[str, Flexible]


_WITH_MESH = BeamTable, FlexibleBodyTable, ShellTable, TieTable


class Builder:
    """Builds what tables describe and collects mistakes on the way, so that a user sees all of them at once.

    Parameters
    ----------
    tables : Tables
    path : Path
        Of the scenario file: its name is in messages, files are looked for in its folder.
    start : Start, optional
        What [start] has led to before.
    make_system : callable, default System
        Makes systems, given what `System` is given.
    framed : bool, default True
        Whether rigid bodies may be frames.
    like : (Tables, Mesh), optional
        Those of a problem of this folder, whose mesh is taken where it is the same.

    Attributes
    ----------
    mesh : Mesh
        Of all that has nodes, tied.
    rigid_sets : RigidNodeSets
        What is rigid.
    inertia : Inertia
        Masses, positions and velocities at the start.
    structures : dict of str to Beams or Shells
        Beams and shells by name, each in its own numbering of particles.
    flexible : dict of str to FlexibleBody
        Reduced bodies by name.
    on_surface : dict of str to (int32 [m], int32 [f, 3])
        Nodes that ties fix to a surface, and its triangles, by name.
    energies, loads, inelastic, joints : dict
        What tables have added, by name.
    """

    mesh: Mesh
    rigid_sets: RigidNodeSets
    inertia: Inertia

    def __init__(
        self,
        tables: Tables,
        path: Path,
        start: Start | None = None,
        make_system: Callable[..., System] = System,
        framed: bool = True,
        like: tuple[Tables, Mesh] | None = None,
    ):
        self.tables, self.folder = tables, path.parent
        self._path, self._given, self._make_system, self._may_frame = path, start, make_system, framed
        self._like = like
        self._lines: list[str] = []
        self._notes: list[str] = []
        self.structures: dict[str, Beams | Shells] = {}
        self.flexible: dict[str, FlexibleBody] = {}
        self._own_meshes: dict[str, Mesh] = {}  # before nodes of beams and shells are several particles
        self._skins: dict[str, tuple[sp.csr_array, IntArray, IntArray]] = {}
        self.on_surface: dict[str, tuple[IntArray, IntArray]] = {}
        self.energies: dict[str, Energy] = {}
        self.loads: dict[str, Load] = {}
        self.inelastic: dict[str, Inelastic] = {}
        self.joints: dict[str, Connection] = {}
        self._added_by: list[tuple[Entry, str]] = []  # of which table each of them is
        self._adding: Entry | None = None

    def add(self, name: str, part: Energy | Load | Inelastic | Connection) -> None:
        """Add an energy, a load, an inelastic part or a joint of the table that is asked for them."""
        assert self._adding is not None
        self._added_by.append((self._adding, name))
        if isinstance(part, Energy):
            self.energies[name] = part
        elif isinstance(part, Inelastic):
            self.inelastic[name] = part
        elif isinstance(part, Connection):
            self.joints[name] = part
        else:
            self.loads[name] = part

    def solids(self, body: str) -> dict[str, Solid]:
        """Return the strain energies of the parts of a body by name."""
        return {part.name: self.all_solids[part.name] for part in self.inertia.parts[body]}

    @property
    def all_solids(self) -> dict[str, Solid]:
        """The solids of all parts that have been added, by name."""
        return solids_in(self.energies, self.inelastic)

    @cached_property
    def contact(self) -> ContactParts:
        """What adds contact."""
        return ContactParts(self, self._surface_nodes)  # pyright: ignore[reportArgumentType]

    def build(self) -> Built:
        """Return all of it."""
        self.mesh = self._known_mesh() or self._tied(self._merged())
        self._raise_mistakes()
        skins = {}
        for name, (weights, triangles, drawn) in self._skins.items():
            rest = self.structures[name] if name in self.structures else self.flexible[name]
            first, at_rest = int(self.mesh.nodes_of(name)[0]), weights @ rest.points
            skins[name] = FollowingSurface(weights, first, at_rest, triangles, drawn)
        of = self.tables, len(self.mesh.points), self.folder
        self.rigid_sets = rigid_sets_of(*of, self._try, self._framed(), skins)
        self._raise_mistakes()
        of_structures = self.structures, self._own_meshes, self.flexible
        tell = self._try, self._lines.append
        self.inertia = Inertia(self.tables, self.mesh, *of_structures, self.rigid_sets, *tell)
        supports = self._supports()
        driven = self.rigid_sets.given_motions(self.tables, self.mesh.points, self.folder, self._try)
        self._add_parts()
        rods = self._rods()
        self._raise_mistakes()
        legs = timeline(self.tables).legs
        acting = partial(self._acting, supports, driven)
        if self.rigid_sets.free_frames:
            self.energies |= self._requested(place("integrator"), self._rigidity, acting, legs, rods)
        systems = self._requested("[[support]]", lambda: [acting(leg.start, leg.end) for leg in legs])
        given = self.inertia.velocities.copy()  # a perturbation is added to these in place
        state = self._start(acting, systems[0])
        probes = self._probes(legs, systems, supports)
        integrator = self._integrator(legs, systems, state, rods)
        if self.tables.when:
            integrator = self._requested(
                "[[when]]", self._with_events, integrator, systems[0], legs, acting, rods, probes
            )
        n_rods = sum(len(rod.nodes) for rod in rods.values())
        notes = tuple(self._notes)
        built = self.mesh, systems[0], state, integrator, n_rods, self.rigid_sets, probes, notes, given
        return Built(*built, self.inertia.beams, self.inertia.shells, self.inertia.scaled, self.inertia.flexible)

    def _add_parts(self) -> None:
        """Let tables add energies and loads, in an order in which each finds what it needs."""
        for add in ADDED:
            if add is Entry.add_contact:
                self._raise_mistakes()  # contact needs all bodies
            for here, table in self.tables.entries():
                self._adding = table
                self._try(here, getattr(table, add.__name__), self)
        self._raise_mistakes()

    def _acting(
        self,
        supports: Sequence[tuple[Support, IntArray, SupportMotion | None]],
        driven: dict[str, SupportMotion],
        first: float,
        last: float,
        happened: Mapping[str, float] = MappingProxyType({}),
    ) -> System:
        """Return the system with what acts between two times in s, or at one, given when conditions have held."""
        timed = [(table.resolved(happened), name) for table, name in self._added_by if isinstance(table, Timed)]
        without = {name for table, name in timed if table is None or not table.acts(first, last)}
        energies, loads = self._begun(happened)
        supports = [found for one in supports if (found := self._support_at(*one, happened)) is not None]
        fixed, moving = of_supports(supports, self.rigid_sets.n_nodes, first, last)
        mass, inactive = self.inertia.mass, self._inactive(first, last, happened)
        if inactive:
            alone = self._alone(inactive)
            of_supports_moving = np.zeros_like(fixed)
            for motion in moving.values():
                of_supports_moving[np.ix_(motion.nodes, np.array(motion.axes))] = True
            fixed[alone] |= ~of_supports_moving[alone]
            mass = self.inertia.mass_without(inactive, alone)
            gravity = self.tables.gravity
            if gravity is not None and (weight := gravity.resolved(happened)) is not None:
                found = weight.part(self, inactive)  # pyright: ignore[reportArgumentType]
                (loads if isinstance(found, NodalLoad) else energies)[GRAVITY] = found  # pyright: ignore
        for nodes in self.rigid_sets.held():
            fixed[nodes] = True
        for name, node in self.rigid_sets.drivers.items():
            fixed[node, int(name in moving) :] = True
        frames = self._frames(supports, fixed, first, last)
        joints = {name: joint for name, joint in self.joints.items() if name not in without}
        return self._make_system(
            mass,
            {name: energies.get(name, energy) for name, energy in self.energies.items() if name not in without},
            fixed=fixed,
            loads={name: loads.get(name, load) for name, load in self.loads.items() if name not in without},
            inelastic=self.inelastic,
            moving=moving | driven,
            massless=self.inertia.massless,
            **({} if frames is None else {"frames": frames}),
            **({"joints": joints} if joints else {}),
        )

    def _inactive(self, first: float, last: float, happened: Mapping[str, float]) -> list[str]:
        """Return the bodies that are not there between two times in s."""
        found = [(body.name, body.resolved(happened)) for body in changing_bodies(self.tables)]
        return [name for name, body in found if body is None or not body.acts(first, last)]

    def _alone(self, inactive: Sequence[str]) -> IntArray:
        """Return the nodes that only bodies have that are not there."""
        own = np.concatenate([self.mesh.nodes_of(name) for name in inactive])
        return np.setdiff1d(own, nodes_of(self.tables, self.mesh, inactive)).astype(np.int32)

    def _beginning(
        self, system: System, first: float, last: float, happened: Mapping[str, float] = MappingProxyType({})
    ) -> BodiesBegin | None:
        """Return what a part of the run makes of bodies that have begun after its start, if there are such."""
        inactive = self._inactive(first, last, happened)
        later = [body.name for body in changing_bodies(self.tables) if body.begins_later]
        begun = {name: (self.mesh.nodes_of(name), self.inertia.parts[name]) for name in later if name not in inactive}
        if not begun:
            return None
        others = nodes_of(self.tables, self.mesh, [*begun, *inactive])
        return BodiesBegin(begun, others, self.inertia.positions(), system.fixed)

    def _begun(self, happened: Mapping[str, float]) -> tuple[dict[str, Energy], dict[str, Load]]:
        """Return the energies and loads of tables that have begun at a condition: their histories count from then."""
        begun = {id(table): table for table, _ in self._added_by if isinstance(table, Timed) and table.begin_event}
        now = [found for table in begun.values() if (found := table.resolved(happened)) is not None]
        if not now:
            return {}, {}
        known = self.energies, self.loads, self.inelastic, self._added_by
        self.energies, self.loads, self.inelastic, self._added_by = dict(known[0]), dict(known[1]), dict(known[2]), []
        try:
            for add in ADDED:
                for table in now:
                    self._adding = table
                    getattr(table, add.__name__)(self)
            names = {name for _, name in self._added_by}
            energies = {name: energy for name, energy in self.energies.items() if name in names}
            return energies, {name: load for name, load in self.loads.items() if name in names}
        finally:
            self.energies, self.loads, self.inelastic, self._added_by = known

    def _support_at(
        self, support: Support, nodes: IntArray, motion: SupportMotion | None, happened: Mapping[str, float]
    ) -> tuple[Support, IntArray, SupportMotion | None] | None:
        """Return a support with the times of conditions, its nodes and motion, or None if it is not to begin yet."""
        found = support.resolved(happened)
        if found is None or motion is None or support.begin_event is None:
            return None if found is None else (found, nodes, motion)
        return found, nodes, self._motion(found, nodes)

    def _frames(
        self,
        supports: Sequence[tuple[Support, IntArray, SupportMotion | None]],
        fixed: NDArray[np.bool_],
        first: float,
        last: float,
    ) -> Frames | None:
        """Return nodes of beams, shells and rigid bodies as frames; fix coordinates [n, 3] of those held altogether."""
        of_structures = [one.particles for one in self.inertia.framed.values()]
        of_bodies, pivoted = self.rigid_sets.frames()
        if not (of_structures or len(of_bodies)):
            return None
        particles = np.concatenate([*of_structures, np.empty((0, 4), np.int32)])
        acting = [
            (nodes, *support.of_node)
            for support, nodes, motion in supports
            if motion is None and support.acts(first, last)
        ]
        held = held_frames(particles, acting)
        if len(held):
            held = with_drills(Frames(particles, self.inertia.positions()), held)
        whole = held.all(axis=1)
        fixed[particles.ravel()] = np.repeat(whole, particles.shape[1])[:, None]
        held[whole] = False  # their particles are fixed, for methods with constraints too
        return Frames(np.concatenate([particles, of_bodies]), self.inertia.positions(), np.concatenate([held, pivoted]))

    def _probes(
        self,
        legs: Sequence[RunInterval],
        systems: Sequence[System],
        supports: Sequence[tuple[Support, IntArray, SupportMotion | None]],
    ) -> tuple[BuiltProbe, ...]:
        """Return what is looked at more often than frames are kept."""
        given = [(support, nodes) for support, nodes, _ in supports]
        of = self.tables, self.mesh, systems, self.rigid_sets
        builder = ProbeBuilder(*of, given, legs, self.inertia.framed, self.inertia.flexible)
        found = [self._try(here, builder.built, table) for here, table in self.tables.entries(ProbeTable)]
        self._raise_mistakes()
        return tuple(probe for probe in found if probe is not None)

    def _start(self, acting: Callable[[float, float], System], system: System) -> State:
        """Return the state at t = 0."""
        q, v, table = self.inertia.positions(), self.inertia.velocities, self.tables.start
        self.inertia.require_free(system.fixed)
        self._raise_mistakes()
        if table is None:
            return self._requested("at the start", system.state, q, v)
        if self._given is not None:
            given = self._given
            return self._requested("at the start", system.state, given.q, given.v, 0.0, given.internal)
        beginning = Beginning(self.folder, self.mesh, self._requested("[[support]]", acting, 0.0, 0.0), q, v)
        if isinstance(table, RotationStart) and (len(connected_parts(self.tables)) > 1 or self.rigid_sets.rigid_sets):
            found = self._requested(place("start"), rotating_apart, self.tables, table, beginning, self._built)
        else:
            found = self._requested(place("start"), beginning.state, table)
        q, v, internal = found
        if table.perturbation is not None:
            if self.structures:
                self._lines.append(
                    f"{place('start')}: a perturbation would bring the particles of nodes with rotations out of place, "
                    f"as those of '{next(iter(self.structures))}'; leave it out, and begin with a [[velocity]] instead."
                )
                self._raise_mistakes()
            nodes = self._requested(place("start"), self._perturbed, table.perturbation)
            x = q if table.perturbation.of == "positions" else v
            x += np.where(system.fixed, 0.0, table.perturbation.changes(nodes, x.shape))
        return self._requested("at the start", system.state, q, v, 0.0, internal)

    def _built(self, tables: Tables) -> Built:
        """Return what other tables describe, in the same folder."""
        return Builder(tables, self._path, framed=self.rigid_sets.framed).build()

    def _perturbed(self, table: Perturbation) -> IntArray:
        """Return the nodes that a perturbation changes."""
        names = self.tables.names
        if not names:
            raise ScenarioError(
                "perturbation is for nodes of bodies, trusses and point masses, of which there are none. Leave it out, "
                "or give the rigid bodies a velocity."
            )
        if table.body is None:
            return np.arange(len(self.mesh.points), dtype=np.int32)
        return self.mesh.nodes_of(group_in(self.mesh, table.body, table.group))

    def _integrator(
        self, legs: Sequence[RunInterval], systems: Sequence[System], state: State, rods: Mapping[str, Constraint]
    ) -> Integrator:
        """Return the integrator of the only part of the run, or those of all parts one after the other."""
        stages, given = [], self.tables.sampled
        for leg, system in zip(legs, systems, strict=True):
            run, of_stage = given[leg.stage], tables_of_stage(self.tables, leg.stage)
            table = self.tables.stage[leg.stage] if self.tables.stage else None
            here = place("integrator") if table is None else f"{place('stage', leg.stage, table.name)}: integrator"
            later = leg.start > 0.0
            at = self._requested(here, system.state, state.q, state.v, leg.start) if later else state
            fitted = self._requested(here, fitted_integrator, of_stage, rods, system, at, run, leg.interval, later)
            name = "" if table is None else table.name or f"#{leg.stage + 1}"
            interval = None
            if later and getattr(of_stage.integrator, "dt", None) == "auto":
                # The limit is that of the shape to which the run has come by then.
                fitted, interval = integrator_of(of_stage, rods), leg.interval
            beginning = self._beginning(system, leg.start, leg.end)
            stages.append(Stage(system, fitted, leg.end, name, interval, beginning))
        return stages[0].integrator if len(stages) == 1 else Stages(stages)

    def _with_events(
        self,
        integrator: Integrator,
        system: System,
        legs: Sequence[RunInterval],
        acting: Callable[..., System],
        rods: Mapping[str, Constraint],
        probes: Sequence[BuiltProbe],
    ) -> Stages:
        """Return the integrator with the conditions on the motion; what they change is built when they hold."""
        stages = integrator.stages if isinstance(integrator, Stages) else [Stage(system, integrator, legs[0].end)]

        def following(happened: Mapping[str, float]) -> list[Stage]:
            now, of_stages = max(happened.values()), first_stage(self.tables, happened)
            line = changed_timeline(timeline(self.tables), changes_of(self.tables, happened)).legs
            later = [k for k, leg in enumerate(line) if leg.end > now and leg.stage >= of_stages] or [len(line) - 1]
            found = []
            for k in later:
                leg, stage = line[k], stages[k]
                of_stage = tables_of_stage(self.tables, leg.stage)
                first = max(leg.start, now)
                acts, method, interval = acting(first, leg.end, happened), stage.integrator, None
                if getattr(of_stage.integrator, "dt", None) == "auto":
                    method, interval = integrator_of(of_stage, rods), leg.interval
                beginning = self._beginning(acts, first, leg.end, happened)
                found.append(Stage(acts, method, leg.end, stage.name, interval, beginning))
            return found

        systems = [stage.system for stage in stages]
        energies = ["kinetic", "total", *dict.fromkeys(name for one in systems for name in one.energies)]
        energies += [name for name in self.energies if name not in energies]
        return Stages(stages, events_of(self.tables, probes, energies, following))

    def _requested(self, here: str, what: Callable[..., T], *args) -> T:
        """Return what(*args); if it fails, raise all mistakes."""
        found = self._try(here, what, *args)
        self._raise_mistakes()
        assert found is not None, "a mistake would have been raised"
        return found

    def _try(self, here: str, what: Callable[..., T], *args) -> T | None:
        """Return what(*args); if it fails, add a line and return None."""
        try:
            return what(*args)
        except SymplexError as error:
            known = str(error).startswith(here)  # a part of a table that has said where it stands
            self._lines.append(str(error) if known else f"{here}: {error}")
            return None

    def _raise_mistakes(self) -> None:
        if self._lines:
            raise mistakes(self._path.name, self._lines)

    # -- bodies, trusses, point masses ------------------------------------------------------------------------

    def _jointed(self, body: str, mesh: Mesh) -> IntArray:
        """Return the nodes of beams or shells that joints are at."""
        tables = (*self.tables.entries(JointTable), *self.tables.entries(CouplingTable))
        found = [self._try(here, table.framed_nodes, body, mesh) for here, table in tables]
        return np.unique(np.array([node for nodes in found for node in nodes or ()], np.int32))

    def _known_mesh(self) -> Mesh | None:
        """Return the mesh of tables like these, if it is the same; not where ties or structures are made with it."""
        if self._like is None or any(True for kind in _WITH_MESH for _ in self.tables.entries(kind)):
            return None
        tables, mesh = self._like
        own, others = ([table for _, table in of.entries() if table.has_nodes] for of in (self.tables, tables))
        names = [[getattr(table, "name", None) for table in some] for some in (own, others)]
        if names[0] != names[1] or not all(one.has_mesh_of(other) for one, other in zip(own, others, strict=True)):
            return None
        return mesh

    def _own_mesh(self, table: Entry) -> Mesh:
        """Return the mesh of a table that has nodes; of a reduced body that of its nodes."""
        if not isinstance(table, FlexibleBodyTable):
            return table.own_mesh(self.folder)
        body = self.flexible[table.name] = table.reduced_body(self.folder)
        return mesh_of_nodes(body)

    def _merged(self) -> Mesh:
        """Return all that has nodes in one mesh; those that it is made of are no longer needed then."""
        meshes = {
            str(getattr(table, "name", None)): self._try(here, self._own_mesh, table)
            for here, table in self.tables.entries()
            if table.has_nodes
        }
        self._raise_mistakes()
        found = {name: mesh for name, mesh in meshes.items() if mesh is not None}
        for here, table in self.tables.entries(PretensionTable):
            if (cut := self._try(here, table.cut, found[table.body])) is not None:
                found[table.body] = cut
        self._raise_mistakes()
        for here, table in (*self.tables.entries(BeamTable), *self.tables.entries(ShellTable)):
            jointed = self._jointed(table.name, found[table.name])
            structure = self._try(here, table.structure, found[table.name], jointed)
            if structure is None:
                continue
            of_table = self.tables, table.name, found[table.name], self.folder
            if (change := self._try(here, thermal_change, *of_table, True)) is not None:
                structure = self._try(here, table.expanded, structure, found[table.name], change) or structure
            self.structures[table.name], self._own_meshes[table.name] = structure, found[table.name]
            if self.tables.contact or self.tables.obstacle:
                self._skins[table.name] = table.skin(found[table.name], structure)  # pyright: ignore[reportArgumentType]
            found[table.name] = mesh_of_particles(found[table.name], structure)
        self._raise_mistakes()
        if self.tables.contact or self.tables.obstacle:
            self._skins |= {name: skin_of(body) for name, body in self.flexible.items()}
        return merge(found) if found else Mesh(np.empty((0, 3)), {})

    def _tied(self, mesh: Mesh) -> Mesh:
        """Return the mesh in which tied nodes are one, or are on the surfaces that they are held on."""
        ties = list(self.tables.entries(TieTable))
        pairs = {here: self._try(here, tied_pairs, table, mesh) for here, table in ties if table.kind == "nodes"}
        self._raise_mistakes()
        found = {here: each for here, each in pairs.items() if each is not None}
        if found:
            joined = self._try("[[tie]]", join_nodes, mesh, np.concatenate([some for some, _ in found.values()]))
            mesh = mesh if joined is None else joined
        self._notes += [f"{here}: {note}" for here, (_, note) in found.items() if note]
        for here, table in ties:
            if table.kind == "surface" and (held := self._try(here, on_surface, table, mesh)) is not None:
                nodes, triangles, note = held
                mesh = drawn_to(mesh, nodes, triangles)
                self.on_surface[str(table.name)] = nodes, triangles
                self._notes += [f"{here}: {note}"] if note else []
        return mesh

    # -- supports, rods, rigid bodies ---------------------------------------------------------------------------

    def _supports(self) -> list[tuple[Support, IntArray, SupportMotion | None]]:
        """Return the supports with their nodes, and how they move."""
        found: list[tuple[Support, IntArray, SupportMotion | None]] = []
        for here, support in self.tables.entries(Support):
            nodes = self._try(here, self.nodes_of_support, support)
            if nodes is None:
                continue
            if support.rotations is not None and support.body not in self.structures:
                self._lines.append(
                    f"{here}: rotations are of nodes of beams and shells, and '{support.body}' is none; leave the key "
                    "out."
                )
            along_axes = support.moves and not support.is_oblique
            if along_axes and support.body in self.structures and set(support.components) != set("xyz"):
                self._lines.append(
                    f"{here}: nodes with rotations are moved altogether, with components = 'xyz', got "
                    f"'{support.components}'."
                )
            if not support.moves:
                found.append((support, nodes, None))
            elif (motion := self._try(here, self._motion, support, nodes)) is not None:
                found.append((support, nodes, motion))
        return found

    def nodes_of_support(self, support: Support) -> IntArray:
        """Return which nodes of its group a support holds: those on its plane of symmetry, if it has one."""
        nodes = self.mesh.nodes_of(group_in(self.mesh, support.body, support.group))
        framed = self.inertia.framed.get(support.body)
        if support.body in self.flexible and (support.symmetry is not None or support.is_oblique):
            raise ScenarioError(f"'{support.body}' is reduced, and is held along x, y and z only: give components.")
        if framed is None:
            return nodes[support.on_plane(self.mesh.points[nodes])]
        if support.symmetry is None:
            return nodes
        particles = framed.particles
        return np.unique(particles[support.on_plane(self.inertia.positions()[particles].mean(axis=1))]).astype(np.int32)

    def _framed(self) -> bool:
        """Return whether the methods of all stages take frames, as which rigid bodies are rigid without an energy."""
        if self._make_system is not System or not self._may_frame:
            return False
        try:
            methods = [integrator_of(tables_of_stage(self.tables, k)) for k in range(len(self.tables.sampled))]
        except (SymplexError, ValueError):
            return False  # which is reported where they are built
        return all("frames" in method.takes for method in methods)

    def _rigidity(
        self, acting: Callable[[float, float], System], legs: Sequence[RunInterval], rods: Mapping[str, Constraint]
    ) -> dict[str, Energy]:
        """Return what keeps free rigid bodies in shape and on pivots, as stiff as steps allow; nothing of frames.

        Those that are "auto" are as long as all else allows.
        """
        steps, given = [], self.tables.sampled
        for leg in legs:
            of_stage = replace(tables_of_stage(self.tables, leg.stage), thermostat=None)
            own, order = of_stage.integrator.bare().order, getattr(of_stage.integrator, "order", None)
            if order is not None and order > own and not self.rigid_sets.framed:
                raise ScenarioError(
                    f"order must be {own:g} with rigid bodies that move freely, got {order:g}: the "
                    "energy that keeps them in shape is as stiff as dt allows, and its error is of second order. "
                    "Leave out order and take a smaller dt."
                )
            dt = getattr(of_stage.integrator, "dt", None)
            if dt == "auto":
                system, run = acting(leg.start, leg.end), given[leg.stage]
                state = system.state(self.inertia.positions(), self.inertia.velocities, leg.start)
                dt = step_of(fitted_integrator(of_stage, rods, system, state, run, leg.interval, leg.start > 0.0))
            if dt is not None:
                steps.append((integrator_of(of_stage, rods), float(dt)))
        return self.rigid_sets.held_together(steps)

    def _motion(self, support: Support, nodes: IntArray) -> SupportMotion:
        if support.is_oblique:
            motion = oblique_motion(support, self.rigid_sets.drivers[str(support.name)], self.folder)
        else:
            motion = support_motion(support, nodes, self.mesh.points, self.folder)
        end = self.tables.run.end if support.until is None else min(self.tables.run.end, support.until)
        require_covered(motion, end, support.begin, support.begin == 0.0 and support.until is None)
        return motion

    def _rods(self) -> dict[str, Constraint]:
        """Return the rigid rods by name."""
        rods = {table.name: self._try(here, table.constraint, self.mesh) for here, table in self.tables.entries(Rod)}
        return {name: rod for name, rod in rods.items() if rod is not None}

    @cached_property
    def _surface_nodes(self) -> IntArray:
        """The nodes on the boundary of bodies, and all of trusses and point masses."""
        bare = [name for name in self.tables.names if name not in (*self.inertia.parts, *self.flexible)]
        nodes = np.concatenate([self.mesh.boundary_nodes, *map(self.mesh.nodes_of, bare)])
        return distinct(nodes, int(nodes.max(initial=-1)) + 1)
