"""From the tables of a scenario to a mesh, a system, its initial state and an integrator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from symplex.base.quantities import listed, shown
from symplex.errors import ScenarioError, SymplexError
from symplex.fem.actions.loads import Gravity
from symplex.fem.actions.support_motion import SupportMotion
from symplex.fem.energy import Array, Energy, IntArray
from symplex.fem.measures.bars import Bars
from symplex.fem.measures.constraints import Constraint, OnSphere, RigidBars
from symplex.fem.solids.solid import Solid, solids_of
from symplex.fem.system import Load, State, System
from symplex.meshes.joining import join_nodes
from symplex.meshes.mesh import Mesh, distinct, merge
from symplex.scenario.actions import Rod, Support
from symplex.scenario.bodies import mesh_of
from symplex.scenario.contact_parts import ContactParts
from symplex.scenario.damping_parts import Damped, damping_of
from symplex.scenario.equations import constraints_of
from symplex.scenario.inertia import Inertia
from symplex.scenario.integrators import fitted_integrator, integrator_of, step_of
from symplex.scenario.loads import load_of
from symplex.scenario.prescribed import require_covered, support_motion
from symplex.scenario.probe_building import BuiltProbe, ProbeBuilder
from symplex.scenario.riders import Riders, riders_of
from symplex.scenario.sampling import Leg, timeline
from symplex.scenario.selections import group_in
from symplex.scenario.sentences import mistakes, place
from symplex.scenario.separate import rotating_apart, separate_parts
from symplex.scenario.springs import spring_of
from symplex.scenario.stages import idle, of_supports, tables_of_stage
from symplex.scenario.start import Beginning, Perturbation, RotationStart, Start
from symplex.scenario.tables import Tables
from symplex.scenario.ties import TieTable, drawn_to, on_surface, surface_tie, tied_pairs
from symplex.scenario.trusses import truss_mesh
from symplex.time.integrator import Integrator
from symplex.time.stages import Stage, Stages

T = TypeVar("T")
_LINES = ("line", "line3")  # of which the first two nodes are the ends


class Built(NamedTuple):
    """What tables describe; see `symplex.scenario.scenario.Problem`."""

    mesh: Mesh
    system: System
    state: State
    integrator: Integrator
    n_rods: int
    riders: Riders
    probes: tuple[BuiltProbe, ...]
    notes: tuple[tuple[str, str], ...]
    velocities: Array


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
    """

    def __init__(
        self,
        tables: Tables,
        path: Path,
        start: Start | None = None,
        make_system: Callable[..., System] = System,
    ):
        self._tables, self._path, self._given, self._make_system = tables, path, start, make_system
        self._lines: list[str] = []
        self._notes: list[tuple[str, str]] = []

    def build(self) -> Built:
        """Return all of it.

        Raises
        ------
        ScenarioError
            With one line for each mistake.
        """
        self._mesh = self._tied(self._merged())
        self._raise_mistakes()
        self._riders = riders_of(self._tables, len(self._mesh.points), self._path.parent, self._try)
        self._raise_mistakes()
        self._n_nodes = self._riders.n_nodes
        self._inertia = Inertia(self._tables, self._mesh, self._riders, self._try, self._lines.append)
        supports = self._supports()
        driven = self._riders.given_motions(self._tables, self._mesh.points, self._path.parent, self._try)
        energies, loads = self._energies_and_loads()
        damping, inelastic = damping_of(
            self._tables,
            self._mesh,
            self._damped(energies),
            self._inertia.moved,
            self._inertia.positions(),
            self._try,
        )
        loads |= damping
        rods = self._rods()
        self._raise_mistakes()
        mass, massless, tables = self._inertia.mass(), self._inertia.massless, self._tables
        if tables.rotating_frame is not None:
            in_frame = self._inertia.mass_in_frame()
            energies |= [tables.rotating_frame.energy(in_frame)]
            loads |= [tables.rotating_frame.load(in_frame)]
        self._raise_mistakes()

        def acting(first: float, last: float) -> System:
            """Return the system with what acts between two times in s, or at one."""
            without = idle(tables, first, last, loads)
            fixed, moving = of_supports(supports, self._n_nodes, first, last)
            for nodes in self._riders.held():
                fixed[nodes] = True
            return self._make_system(
                mass,
                {name: energy for name, energy in energies.items() if name not in without},
                fixed=fixed,
                loads={name: load for name, load in loads.items() if name not in without},
                inelastic=inelastic,
                moving=moving | driven,
                massless=massless,
            )

        legs = timeline(tables).legs
        if self._riders.free_frames:
            energies |= self._wanted(place("integrator"), self._rigidity, acting, legs, rods)
        systems = self._wanted("[[support]]", lambda: [acting(leg.start, leg.end) for leg in legs])
        given = self._inertia.velocities.copy()  # a perturbation is added to these in place
        state = self._start(acting, systems[0])
        integrator = self._integrator(legs, systems, state, rods)
        n_rods = sum(len(rod.nodes) for rod in rods.values())
        probes = self._probes(legs, systems, supports)
        notes = tuple(self._notes)
        return Built(self._mesh, systems[0], state, integrator, n_rods, self._riders, probes, notes, given)

    def _probes(
        self,
        legs: Sequence[Leg],
        systems: Sequence[System],
        supports: Sequence[tuple[Support, IntArray, SupportMotion | None]],
    ) -> tuple[BuiltProbe, ...]:
        """Return what is looked at more often than frames are kept."""
        given = [(support, nodes) for support, nodes, _ in supports]
        builder = ProbeBuilder(self._tables, self._mesh, systems, self._riders, given, legs)
        found = [
            self._try(place("probe", k, table.name), builder.built, table) for k, table in enumerate(self._tables.probe)
        ]
        self._raise_mistakes()
        return tuple(probe for probe in found if probe is not None)

    def _start(self, acting: Callable[[float, float], System], system: System) -> State:
        """Return the state at t = 0."""
        q, v, table = self._inertia.positions(), self._inertia.velocities, self._tables.start
        self._inertia.require_free(system.fixed)
        self._raise_mistakes()
        if table is None:
            return self._wanted("at the start", system.state, q, v)
        if self._given is not None:
            given = self._given
            return self._wanted("at the start", system.state, given.q, given.v, 0.0, given.internal)
        beginning = Beginning(self._path.parent, self._mesh, self._wanted("[[support]]", acting, 0.0, 0.0), q, v)
        if isinstance(table, RotationStart) and (len(separate_parts(self._tables)) > 1 or self._riders.riders):
            found = self._wanted(place("start"), rotating_apart, self._tables, table, beginning, self._built)
        else:
            found = self._wanted(place("start"), beginning.state, table)
        q, v, internal = found
        if table.perturbation is not None:
            nodes = self._wanted(place("start"), self._perturbed, table.perturbation)
            x = q if table.perturbation.of == "positions" else v
            x += np.where(system.fixed, 0.0, table.perturbation.changes(nodes, x.shape))
        return self._wanted("at the start", system.state, q, v, 0.0, internal)

    def _built(self, tables: Tables) -> Built:
        """Return what other tables describe, in the same folder."""
        return Builder(tables, self._path).build()

    def _perturbed(self, table: Perturbation) -> IntArray:
        """Return the nodes that a perturbation changes."""
        names = self._tables.names
        if not names:
            raise ScenarioError(
                "perturbation is for nodes of bodies, trusses and point masses, of which there are none. Leave it out, "
                "or give the rigid bodies a velocity."
            )
        if table.body is None:
            return np.arange(len(self._mesh.points), dtype=np.int32)
        if table.body not in names:
            raise ScenarioError(f"perturbation: there is no body {shown(table.body)}; there are {listed(names)}.")
        return self._mesh.nodes_of(self._group(table))

    def _integrator(
        self, legs: Sequence[Leg], systems: Sequence[System], state: State, rods: Mapping[str, Constraint]
    ) -> Integrator:
        """Return the integrator of the only part of the run, or those of all parts one after the other."""
        stages, given = [], self._tables.sampled
        for leg, system in zip(legs, systems, strict=True):
            run, of_stage = given[leg.stage], tables_of_stage(self._tables, leg.stage)
            table = self._tables.stage[leg.stage] if self._tables.stage else None
            here = place("integrator") if table is None else f"{place('stage', leg.stage, table.name)}: integrator"
            later = leg.start > 0.0
            at = self._wanted(here, system.state, state.q, state.v, leg.start) if later else state
            fitted = self._wanted(here, fitted_integrator, of_stage, rods, system, at, run, leg.interval, later)
            name = "" if table is None else table.name or f"#{leg.stage + 1}"
            interval = None
            if later and getattr(of_stage.integrator, "dt", None) == "auto":
                # The limit is that of the shape to which the run has come by then.
                fitted, interval = integrator_of(of_stage, rods), leg.interval
            stages.append(Stage(system, fitted, leg.end, name, interval))
        return stages[0].integrator if len(stages) == 1 else Stages(stages)

    def _wanted(self, here: str, what: Callable[..., T], *args) -> T:
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
            self._lines.append(f"{here}: {error}")
            return None

    def _raise_mistakes(self) -> None:
        if self._lines:
            raise mistakes(self._path.name, self._lines)

    # -- bodies, trusses, point masses ------------------------------------------------------------------------

    def _merged(self) -> Mesh:
        """Return all that has nodes in one mesh; those that it is made of are no longer needed then."""
        tables, folder = self._tables, self._path.parent
        meshes: dict[str, Mesh | None] = {}
        for k, body in enumerate(tables.body):
            meshes[body.name] = self._try(place("body", k, body.name), mesh_of, body, folder)
        for k, truss in enumerate(tables.truss):
            meshes[truss.name] = self._try(place("truss", k, truss.name), truss_mesh, truss, folder)
        meshes |= {table.name: table.own_mesh() for table in tables.point_mass if table.has_node}
        self._raise_mistakes()
        found = {name: mesh for name, mesh in meshes.items() if mesh is not None}
        return merge(found) if found else Mesh(np.empty((0, 3)), {})

    def _tied(self, mesh: Mesh) -> Mesh:
        """Return the mesh in which tied nodes are one, or are on the surfaces that they are held on."""
        ties = [(place("tie", k, table.name), table) for k, table in enumerate(self._tables.tie)]
        pairs = {here: self._try(here, tied_pairs, table, mesh) for here, table in ties if table.kind == "nodes"}
        self._raise_mistakes()
        found = {here: each for here, each in pairs.items() if each is not None}
        if found:
            joined = self._try("[[tie]]", join_nodes, mesh, np.concatenate([some for some, _ in found.values()]))
            mesh = mesh if joined is None else joined
        self._notes += [(here, note) for here, (_, note) in found.items() if note]
        self._on_surface: dict[str, tuple[TieTable, IntArray, IntArray]] = {}
        for here, table in ties:
            if table.kind == "surface" and (held := self._try(here, on_surface, table, mesh)) is not None:
                nodes, triangles, note = held
                mesh = drawn_to(mesh, nodes, triangles)
                self._on_surface[str(table.name)] = (table, nodes, triangles)
                self._notes += [(here, note)] if note else []
        return mesh

    def _nodes_of(self, body: str) -> IntArray:
        return self._mesh.nodes_of(body)

    # -- supports, energies, loads ------------------------------------------------------------------------------

    def _group(self, table: Support | Rod | Perturbation) -> str:
        """Return the name of a body's group in the mesh of all bodies."""
        return group_in(self._mesh, str(table.body), table.group)

    def _supports(self) -> list[tuple[Support, IntArray, SupportMotion | None]]:
        """Return the supports with their nodes, and how they move."""
        found: list[tuple[Support, IntArray, SupportMotion | None]] = []
        for k, support in enumerate(self._tables.support):
            here = place("support", k, support.name)
            group = self._try(here, self._group, support)
            if group is None:
                continue
            nodes = self._mesh.nodes_of(group)
            if not support.moves:
                found.append((support, nodes, None))
            elif (motion := self._try(here, self._motion, support, nodes)) is not None:
                found.append((support, nodes, motion))
        return found

    def _rigidity(
        self, acting: Callable[[float, float], System], legs: Sequence[Leg], rods: Mapping[str, Constraint]
    ) -> dict[str, Energy]:
        """Return what keeps free rigid bodies in shape and on pivots, as stiff as steps allow.

        Those that are "auto" are as long as all else allows.
        """
        steps, given = [], self._tables.sampled
        for leg in legs:
            of_stage = replace(tables_of_stage(self._tables, leg.stage), thermostat=None)
            own, order = of_stage.integrator.bare().order, getattr(of_stage.integrator, "order", None)
            if order is not None and order > own:
                raise ScenarioError(
                    f"order must be {own:g} with rigid bodies that move freely, got {order:g}: the "
                    "energy that keeps them in shape is as stiff as dt allows, and its error is of second order. "
                    "Leave out order and take a smaller dt."
                )
            dt = getattr(of_stage.integrator, "dt", None)
            if dt == "auto":
                system, run = acting(leg.start, leg.end), given[leg.stage]
                state = system.state(self._inertia.positions(), self._inertia.velocities, leg.start)
                dt = step_of(fitted_integrator(of_stage, rods, system, state, run, leg.interval, leg.start > 0.0))
            if dt is not None:
                steps.append((integrator_of(of_stage, rods), float(dt)))
        return self._riders.rigidity(steps)

    def _motion(self, support: Support, nodes: IntArray) -> SupportMotion:
        motion = support_motion(support, nodes, self._mesh.points, self._path.parent)
        end = self._tables.run.end if support.until is None else min(self._tables.run.end, support.until)
        require_covered(motion, end, support.begin, support.begin == 0.0 and support.until is None)
        return motion

    def _rods(self) -> dict[str, Constraint]:
        """Return the rigid rods by name."""
        rods: dict[str, Constraint] = {}
        for k, table in enumerate(self._tables.rod):
            rod = self._try(place("rod", k, table.name), self._rod, table)
            if rod is not None:
                rods[table.name] = rod
        return rods

    def _rod(self, table: Rod) -> Constraint:
        """Return rods from the nodes of a group to a point, or along its lines, of the lengths that they have."""
        mesh, group = self._mesh, self._group(table)
        if table.to is not None:
            nodes = mesh.nodes_of(group)
            return OnSphere(nodes, table.to, np.linalg.norm(mesh.points[nodes] - table.to, axis=1))
        lines = [cells[:, :2] for kind in _LINES if len(cells := mesh.cells_of(kind, group))]
        if not lines:
            raise ScenarioError(
                f"group '{table.group}' of body '{table.body}' has no lines, along which rods could be; for rods from "
                "each of its nodes to a fixed point give the point: to = [x, y, z]."
            )
        return RigidBars.between(mesh.points, np.concatenate(lines))

    def _energies_and_loads(self) -> tuple[dict[str, Energy], dict[str, Load]]:
        tables = self._tables
        energies: dict[str, Energy] = {}
        loads: dict[str, Load] = {}
        for k, body in enumerate(tables.body):
            for part in self._inertia.parts[body.name]:
                solid = self._try(place("body", k, body.name), part.solid, self._mesh.points)
                if solid is not None:
                    energies[part.name] = solid
        energies |= {name: truss.bars(self._mesh.points) for name, truss in self._inertia.trusses.items()}
        for k, table in enumerate(tables.spring):
            spring = self._try(place("spring", k, table.name), spring_of, table, self._mesh)
            if spring is not None:
                energies[table.name] = spring
        young = {
            name: min(part.material.material().young for part in parts) for name, parts in self._inertia.parts.items()
        }
        for name, (table, nodes, triangles) in self._on_surface.items():
            energies[name] = surface_tie(table, self._inertia.positions(), young[table.to], nodes, triangles)
        for k, table in enumerate(tables.constraint):
            constraints = self._try(place("constraint", k, table.name), constraints_of, table, self._mesh, young)
            if constraints is not None:
                energies[table.name] = constraints
        contact = ContactParts(tables, self._mesh, self._riders, self._inertia.positions(), self._try)
        contact.add_obstacles(self._surface_nodes)
        self._raise_mistakes()  # contact needs all bodies
        contact.add_surfaces(solids_of(energies), self._inertia.velocities)
        energies |= contact.energies
        loads |= contact.loads
        if tables.gravity is not None:
            energies["gravity"] = Gravity(self._inertia.weights(), tables.gravity.acceleration)
        for k, table in enumerate(tables.load):
            load = self._try(place("load", k, table.name), load_of, table, self._mesh, self._inertia, self._path.parent)
            if isinstance(load, Energy):
                energies[table.name] = load
            elif load is not None:
                loads[table.name] = load
        return energies, loads

    def _damped(self, energies: Mapping[str, Energy]) -> dict[str, Damped]:
        """Return the parts of bodies, and trusses, as damping sees them, by the names of their energies."""
        named = {part.name: (body, part.material) for body, parts in self._inertia.parts.items() for part in parts}
        named |= {name: (name, None) for name in self._inertia.trusses}
        return {
            name: Damped(*named[name][:1], energy, named[name][1])
            for name, energy in energies.items()
            if name in named and isinstance(energy, Solid | Bars)
        }

    @cached_property
    def _surface_nodes(self) -> IntArray:
        """The nodes on the boundary of bodies, and all of trusses and point masses."""
        bare = [name for name in self._tables.names if name not in self._inertia.parts]
        nodes = np.concatenate([self._mesh.boundary_nodes, *map(self._nodes_of, bare)])
        return distinct(nodes, int(nodes.max(initial=-1)) + 1)
