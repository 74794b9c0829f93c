"""The probes that tables of a scenario describe, built from its bodies, supports, obstacles and contacts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from symplex.base.fields import COMPONENTS, OF_BEAMS, OF_BONDS, OF_HINGES, OF_SHELLS, OF_SOLIDS
from symplex.base.quantities import listed, shown
from symplex.base.sparse import sp
from symplex.errors import ScenarioError
from symplex.fem.actions.supports import fixed_mask
from symplex.fem.couplings.interpolated_bars import InterpolatedBars, springs_of
from symplex.fem.energies.energy import Array, IntArray
from symplex.fem.energies.inelastic import Inelastic
from symplex.fem.energies.rate_independent import RateIndependent
from symplex.fem.measures.anchors import Anchors
from symplex.fem.measures.bars import Bars
from symplex.fem.measures.inelastic_bars import InelasticBars
from symplex.fem.outputs.field_probes import MOTIONS, NodalProbe, RotationProbe, SolidProbe
from symplex.fem.outputs.force_probes import OF_BARS, BarProbe, BeamProbe, ForceProbe, ReactionProbe, ShellProbe
from symplex.fem.outputs.inelastic_probe import InelasticProbe
from symplex.fem.outputs.joint_probe import JointProbe, quantities_of
from symplex.fem.outputs.probe import NORM, Probe, Reduction
from symplex.fem.outputs.solid_fields import SolidFields
from symplex.fem.solids.plastic import solids_in
from symplex.fem.solids.solid import Solid
from symplex.fem.structures.beam import Beams
from symplex.fem.structures.frames import Frames
from symplex.fem.system import System
from symplex.meshes.location import weights_in_cells
from symplex.meshes.mesh import Mesh, merge, rows_among
from symplex.scenario.actions import Support
from symplex.scenario.beams import Beam
from symplex.scenario.flexible import Flexible
from symplex.scenario.framed import Framed
from symplex.scenario.joined_parts import parts_by_body
from symplex.scenario.messages import suggestion
from symplex.scenario.probes import ProbeTable
from symplex.scenario.rigid_nodes import RigidNodeSets
from symplex.scenario.sampling import RunInterval
from symplex.scenario.selections import group_in, size_of
from symplex.scenario.shells import Shell
from symplex.scenario.tables import Tables

_ALL = "all"
ROTATION = "rotation"
_OF_LINES = (*OF_BARS, *OF_BONDS)
_SAME_PLACE = 1e-6  # of the size of a body: how near to a point of a mass its node must be


@dataclass(frozen=True)
class BuiltProbe:
    """A table, and the probes that its file has the columns of."""

    table: ProbeTable
    probes: tuple[Probe, ...]


class ProbeBuilder:
    """Builds the probes that tables describe.

    Parameters
    ----------
    tables : Tables
    mesh : Mesh
        Of all bodies.
    systems : sequence of System
        Of all parts of the run.
    rigid_sets : RigidNodeSets
    supports : sequence of (Support, int [k])
        With their nodes.
    legs : sequence of Leg
        Those parts.
    framed : mapping of str to Framed
        Beams and shells by name.
    flexible : mapping of str to Flexible
        Reduced bodies by name.
    """

    def __init__(
        self,
        tables: Tables,
        mesh: Mesh,
        systems: Sequence[System],
        rigid_sets: RigidNodeSets,
        supports: Sequence[tuple[Support, IntArray]],
        legs: Sequence[RunInterval],
        framed: Mapping[str, Framed],
        flexible: Mapping[str, Flexible],
    ):
        self._framed, self._flexible = framed, flexible
        self._beams = {name: one for name, one in framed.items() if isinstance(one, Beam)}
        self._shells = {name: one for name, one in framed.items() if isinstance(one, Shell)}
        self._tables, self._mesh, self._rigid_sets, self._supports, self._legs = (
            tables,
            mesh,
            rigid_sets,
            supports,
            legs,
        )
        self._system = systems[0]
        # What begins later is in the systems of later parts only.
        self._names = {name for system in systems for name in (*system.energies, *system.loads)}
        self._reference = rigid_sets.positions(mesh.points)

    def built(self, table: ProbeTable) -> BuiltProbe:
        """Return the probes of a table."""
        makers = {
            "body": self._of_body,
            "joint": self._of_joint,
            "support": self._reactions,
            "obstacle": self._of_obstacle,
            "contact": self._of_contact,
        }
        return BuiltProbe(table, tuple(makers[table.acts_on](table)))

    # -- bodies, trusses, springs, point masses -----------------------------------------------------------------

    def _of_body(self, table: ProbeTable) -> Iterator[Probe]:
        body, tables = str(table.body), self._tables
        springs = [table.name for table in (*tables.spring, *tables.cohesive)]
        trusses = [truss.name for truss in tables.truss]
        known = [*tables.names, *springs]
        if body not in known:
            raise ScenarioError(f"there is no body {shown(body)}; {suggestion(body, known)}")
        bonds = [glue.name for glue in tables.cohesive]
        of_members = "membrane_forces" if body in self._shells else "axial_force"
        usual = "damage" if body in bonds else of_members if body in springs or table.members else "displacement"
        requested = table.quantities or [usual]
        has_history = isinstance(self._system.inelastic.get(body), RateIndependent)
        of_motion = [one for one in requested if one in (*MOTIONS, ROTATION)]
        of_solids = [one for one in requested if one in OF_SOLIDS and not has_history]
        beam = self._beams.get(body)
        of_bars = [one for one in requested if one in (_OF_LINES if beam is None else OF_BEAMS)]
        of_bars += [one for one in requested if has_history and one in OF_SOLIDS]
        if hinges := [one for one in requested if one in OF_HINGES]:
            if beam is None or not has_history:
                raise ScenarioError(f"{hinges[0]} is of beams that yield, and '{body}' is none.")
            of_bars += hinges
        of_beams = [one for one in requested if one in OF_BEAMS and one not in OF_BARS]
        of_shells = [one for one in requested if one in OF_SHELLS]
        if of_shells and body not in self._shells:
            raise ScenarioError(f"{of_shells[0]} is of shells, and '{body}' is none; it has {self._has(body)}.")
        solids = parts_by_body(
            [b.name for b in tables.body],
            solids_in(self._system.energies, self._system.inelastic),
        ).get(body, {})
        if of_solids and not solids:
            raise ScenarioError(f"{of_solids[0]} is of bodies, and '{body}' is none; it has {self._has(body)}.")
        if body not in self._framed and ROTATION in requested:
            raise ScenarioError(
                f"{ROTATION} is of nodes of beams and shells, and '{body}' is none; it has {self._has(body)}."
            )
        if beam is None and of_beams:
            raise ScenarioError(f"{of_beams[0]} is of beams, and '{body}' is none; it has {self._has(body)}.")
        if beam is not None and (odd := [one for one in requested if one in OF_BARS and one not in OF_BEAMS]):
            raise ScenarioError(f"{odd[0]} is of trusses and springs, and '{body}' is none; it has {self._has(body)}.")
        if of_bars and beam is None and body not in (*springs, *trusses):
            what = f"{of_bars[0]} is of trusses, springs and bonds"
            raise ScenarioError(f"{what}, and '{body}' is none; it has {self._has(body)}.")
        if (of_motion or table.points or table.nodes or table.group) and body in springs:
            raise ScenarioError(f"'{body}' is a spring, which has no additional nodes; it has {self._has(body)}.")
        if table.members is not None and (of_motion or of_solids):
            raise ScenarioError(f"{(of_motion or of_solids)[0]} is at nodes; members have {self._of_members(body)}.")
        if of_bars and (table.nodes or (table.points and beam is None)):
            raise ScenarioError(f"{of_bars[0]} is of members; name these, members = [0], or a group of them.")
        if of_shells and table.nodes:
            raise ScenarioError(
                f"{of_shells[0]} is of elements; name these, members = [0], points, or a group of them."
            )
        self._require_components(table, of_motion, of_solids, of_shells)
        if moving := [one for one in of_motion if one != ROTATION]:
            places, labels = self._places(table)
            yield NodalProbe(
                table.name,
                places,
                moving,
                reference=self._reference,
                components=_those(table.components, ("x", "y", "z")),
                reduce=self._reduce(table),
                labels=labels,
                relative_to=self._base_of(table),
            )
        elif table.relative_to is not None:
            raise ScenarioError(f"relative_to goes with displacement, velocity and acceleration, not {requested[0]}.")
        if ROTATION in of_motion:
            yield self._of_rotation(table, self._framed[body])
        if of_solids:
            yield self._of_solids(table, of_solids, solids)
        if of_shells:
            yield self._of_shell(table, of_shells, self._shells[body])
        if of_bars and beam is not None:
            yield from self._of_beam(table, of_bars, beam)
        elif of_bars:
            yield from self._of_bars(table, of_bars)

    def _base_of(self, table: ProbeTable) -> IntArray | None:
        """Return the nodes of the support to which motions are relative, if they are."""
        if table.relative_to is None:
            return None
        names = {support.name or str(k + 1): nodes for k, (support, nodes) in enumerate(self._supports)}
        if table.relative_to not in names:
            known = suggestion(table.relative_to, [*names])
            raise ScenarioError(f"relative_to: there is no support {shown(table.relative_to)}; {known}")
        return names[table.relative_to]

    def _of_members(self, body: str) -> str:
        if body in self._shells:
            return ", ".join(OF_SHELLS)
        return ", ".join(OF_BARS if body not in self._beams else OF_BEAMS)

    def _has(self, body: str) -> str:
        if body in self._beams:
            return listed([*MOTIONS, ROTATION, *OF_BEAMS])
        if body in self._framed:
            return listed([*MOTIONS, ROTATION, *OF_SHELLS])
        if body in [b.name for b in self._tables.body]:
            return listed([*MOTIONS, *OF_SOLIDS])
        if body in [truss.name for truss in self._tables.truss]:
            return listed([*MOTIONS, *OF_BARS])
        if body in [glue.name for glue in self._tables.cohesive]:
            return listed(OF_BONDS)
        return listed(OF_BARS if body in [s.name for s in self._tables.spring] else MOTIONS)

    def _require_components(
        self, table: ProbeTable, of_motion: Sequence[str], of_solids: Sequence[str], of_shells: Sequence[str]
    ) -> None:
        tensors = [one for one in of_solids if one in ("stress", "strain", "logarithmic_strain")]
        known = set("xyz") if of_motion else set()
        known |= {"xx", "yy", "zz", "xy", "yz", "xz"} if tensors else set()
        known |= {"1", "2", "3"} if "principal_stresses" in of_solids else set()
        known |= {part for one in of_shells for part in OF_SHELLS[one].parts}
        known |= {NORM} if known else set()
        odd = [c for c in table.components or () if c not in known]
        if odd:
            raise ScenarioError(
                f"components has '{odd[0]}', which none of its quantities has; there are {listed(sorted(known))}."
                if known
                else f"components has '{odd[0]}', but its quantities are numbers."
            )

    def _reduce(self, table: ProbeTable) -> list[Reduction]:
        """Return how several places are reduced: of groups and whole bodies the mean, if nothing else is asked for."""
        if table.reduce is not None:
            return table.reduce
        return [] if table.nodes or table.points else ["mean"]

    def _places(self, table: ProbeTable) -> tuple[IntArray | sp.csr_array, list[str] | None]:
        """Return nodes, or weights of nodes, and what they are called."""
        body, mesh = str(table.body), self._mesh
        if body in self._framed:
            return self._places_of_frames(table, self._framed[body])
        if body in self._flexible:
            return self._places_of_reduced(table, self._flexible[body])
        if table.nodes is not None:
            own = mesh.nodes_of(body)
            if max(table.nodes) >= len(own):
                raise ScenarioError(
                    f"nodes has {max(table.nodes)}, but '{body}' has {len(own):,} nodes, 0 to {len(own) - 1:,}."
                )
            return own[np.array(table.nodes)], [str(node) for node in table.nodes]
        if table.points is not None:
            labels = [str(k + 1) for k in range(len(table.points))]
            if table.interpolate:
                weights = weights_in_cells(mesh, table.points, body)
                return sp.csr_array((weights.data, weights.indices, weights.indptr), shape=self._wide(weights)), labels
            return _nearest(mesh, body, np.array(table.points)), labels
        return mesh.nodes_of(group_in(mesh, body, table.group)), None

    def _places_of_reduced(self, table: ProbeTable, one: Flexible) -> tuple[sp.csr_array, list[str] | None]:
        """Return weights of nodes for nodes of the whole mesh of a reduced body and points in it, and their labels."""
        mesh, follow = one.body.mesh, one.follow(self._system.n_nodes).weights
        if table.nodes is not None:
            if max(table.nodes) >= len(mesh.points):
                raise ScenarioError(
                    f"nodes has {max(table.nodes)}, but '{table.body}' has {len(mesh.points):,} nodes, 0 to "
                    f"{len(mesh.points) - 1:,}."
                )
            return sp.csr_array(follow[table.nodes]), [str(node) for node in table.nodes]
        if table.points is not None:
            labels, name = [str(k + 1) for k in range(len(table.points))], str(table.body)
            named = merge({name: mesh})
            if table.interpolate:
                return sp.csr_array(weights_in_cells(named, table.points, name) @ follow), labels
            return sp.csr_array(follow[_nearest(named, name, np.array(table.points))]), labels
        return sp.csr_array(follow[one.nodes_in(table.group)]), None

    def _places_of_frames(self, table: ProbeTable, framed: Framed) -> tuple[sp.csr_array, list[str] | None]:
        """Return weights of particles for nodes of a beam or shell and points between these, and their labels."""
        structure, particles = framed.structure, framed.particles
        of_nodes = framed.centers(self._system.n_nodes).weights
        if table.nodes is not None:
            if max(table.nodes) >= len(particles):
                raise ScenarioError(
                    f"nodes has {max(table.nodes)}, but '{table.body}' has {len(particles):,} nodes, 0 to "
                    f"{len(particles) - 1:,}."
                )
            return sp.csr_array(of_nodes[table.nodes]), [str(node) for node in table.nodes]
        if table.points is not None:
            cells = {"line": structure.lines} if isinstance(structure, Beams) else {}
            lines = Mesh(structure.frames.centers(structure.points), cells)
            labels = [str(k + 1) for k in range(len(table.points))]
            if table.interpolate and not cells:
                raise ScenarioError("points between the nodes of shells cannot be probed; give interpolate = false.")
            if table.interpolate:
                return sp.csr_array(weights_in_cells(lines, table.points) @ of_nodes), labels
            lines = replace(lines, point_groups={str(table.body): np.arange(len(particles), dtype=np.int32)})
            nearest = _nearest(lines, str(table.body), np.array(table.points))
            return sp.csr_array(of_nodes[nearest]), labels
        nodes = self._mesh.nodes_of(group_in(self._mesh, str(table.body), table.group))
        rows = np.flatnonzero(np.isin(particles[:, 0], nodes))
        return sp.csr_array(of_nodes[rows]), [str(row) for row in rows]

    def _of_rotation(self, table: ProbeTable, framed: Framed) -> Probe:
        if table.points is not None and table.interpolate:
            raise ScenarioError(f"{ROTATION} is of nodes; give interpolate = false, or name nodes.")
        places, labels = self._places_of_frames(table, framed)
        # Each place is a node, of whose particles all have a weight.
        nodes = sp.csr_array(places[:, framed.particles[:, 0]]).indices
        return RotationProbe(
            table.name,
            Frames(framed.particles[nodes], self._reference),
            components=_those(table.components, ("x", "y", "z")),
            reduce=self._reduce(table),
            labels=labels,
        )

    def _of_shell(self, table: ProbeTable, quantities: Sequence[str], shell: Shell) -> Probe:
        cells, numbers = shell.cells, shell.numbers
        elements, m = table.members, len(numbers)
        if elements is not None and max(elements) >= m:
            raise ScenarioError(f"members has {max(elements)}, but '{table.body}' has {m:,} elements, 0 to {m - 1:,}.")
        labels = None if elements is None else [str(k) for k in elements]
        if table.group is not None:
            first, elements = 0, []
            chosen = shell.rows_in(table.group)
            for kind, rows in cells.items():
                elements += (first + chosen.get(kind, np.empty(0, np.int32))).tolist()
                first += len(rows)
        elif table.points is not None:
            faces, of, first = [], [], 0
            for rows in cells.values():
                for half in _halves(rows):
                    faces.append(rows[:, half])
                    of.append(np.arange(first, first + len(rows)))
                first += len(rows)
            elements = _nearest_elements(table, self._rest(shell), np.concatenate(faces), np.concatenate(of))
            labels = [str(k + 1) for k in range(len(elements))]
        chosen = np.arange(m) if elements is None else np.array(elements)
        return ShellProbe(
            table.name,
            shell.structure,
            quantities,
            elements=numbers[chosen],
            first=shell.first,
            inelastic=self._system.inelastic,
            components=_those(table.components, ("11", "22", "12")),
            reduce=table.reduce if table.reduce is not None else [] if labels or m == 1 else ["mean"],
            labels=labels or [str(k) for k in chosen],
        )

    def _rest(self, framed: Framed) -> Array:
        """Return the places [n, 3] in m of nodes of a beam or shell at rest."""
        return framed.structure.frames.centers(framed.structure.points)

    def _of_beam(self, table: ProbeTable, quantities: Sequence[str], beam: Beam) -> Iterator[Probe]:
        m, members = len(beam.structure.lines), self._members(table, beam.particles[:, 0][beam.structure.lines])
        if table.points is not None:
            members = _nearest_elements(table, self._rest(beam), beam.structure.lines, np.arange(m))
        alone = table.members or table.points or m == 1
        reduce: list[Reduction] = table.reduce if table.reduce is not None else [] if alone else ["mean"]
        if forces := [one for one in quantities if one in OF_BEAMS]:
            yield BeamProbe(
                table.name,
                beam.structure,
                forces,
                members=members,
                first=beam.first,
                reduce=reduce,
                inelastic=self._system.inelastic,
            )
        if of_flow := [one for one in quantities if one not in OF_BEAMS]:
            yield from self._of_inelastic(table, of_flow, self._system.inelastic[beam.name], members, reduce)

    def _members(self, table: ProbeTable, lines: IntArray) -> list[int] | None:
        """Return which lines [m, 2] of a body a probe is of, by numbers or by a group of its mesh; None: all."""
        members, m = table.members, len(lines)
        if members is not None and max(members) >= m:
            raise ScenarioError(f"members has {max(members)}, but '{table.body}' has {m:,} members, 0 to {m - 1:,}.")
        if table.group is None:
            return members
        rows = self._mesh.cells_of("line", group_in(self._mesh, str(table.body), table.group))
        members = np.flatnonzero(rows_among(lines, rows)).tolist() if len(rows) else []
        if not members:
            raise ScenarioError(f"group '{table.group}' of '{table.body}' has no members, only nodes.")
        return members

    def _wide(self, weights: sp.csr_array) -> tuple[int, int]:
        """Return the shape of weights of all nodes, those of obstacles included."""
        return weights.shape[0], self._system.n_nodes  # pyright: ignore[reportOptionalSubscript]

    def _of_solids(self, table: ProbeTable, quantities: Sequence[str], solids: Mapping[str, Solid]) -> Probe:
        mesh, body = self._mesh, str(table.body)
        components = _those(table.components, (*COMPONENTS, "1", "2", "3"))
        if table.nodes is None and table.points is None:
            group = group_in(mesh, body, table.group)
            rows = [mesh.cells_of(kind, group) for kind in mesh.volume_types]
            if any(map(len, rows)):
                return self._of_elements(table, quantities, components, solids, group)
        places, labels = self._places(table)
        nodes = np.unique(places.indices) if isinstance(places, sp.csr_array) else places
        fields = SolidFields(self._system, list(solids), nodes)
        return SolidProbe(
            table.name,
            fields,
            quantities,
            places=places,
            components=components,
            reduce=self._reduce(table),
            labels=labels,
        )

    def _of_elements(
        self,
        table: ProbeTable,
        quantities: Sequence[str],
        components: Sequence[str] | None,
        solids: Mapping[str, Solid],
        group: str,
    ) -> Probe:
        """Return a probe of the elements of a group."""
        mesh = self._mesh
        near = None if group == table.body else mesh.nodes_of(group)
        fields = SolidFields(self._system, list(solids), near)
        chosen: dict[str, NDArray[np.integer]] = {}
        for name, solid in solids.items():
            cells = solid.nodes[fields.elements(name)]
            chosen[name] = np.flatnonzero(rows_among(cells, mesh.cells_of(solid.kind, group)))
        return SolidProbe(
            table.name, fields, quantities, components=components, reduce=self._reduce(table), elements=chosen
        )

    def _of_bars(self, table: ProbeTable, quantities: Sequence[str]) -> Iterator[Probe]:
        body = str(table.body)
        energy = self._system.energies.get(body) or self._system.inelastic[body]
        bars = springs_of(energy) or energy
        m, members = len(bars.nodes), self._members(table, bars.nodes)
        section = next((truss.section for truss in self._tables.truss if truss.name == body), None)
        usual: list[Reduction] = [] if table.members or m == 1 else ["mean"]
        reduce = usual if table.reduce is None else table.reduce
        if isinstance(bars, Inelastic):
            yield from self._of_inelastic(table, quantities, bars, members, reduce)
            return
        assert isinstance(bars, Bars | Anchors | InterpolatedBars), "trusses and springs are"
        if odd := [one for one in quantities if one not in OF_BARS]:
            raise ScenarioError(f"'{body}' has no {odd[0]}; it has {listed(OF_BARS)}.")
        if "axial_stress" in quantities and section is None:
            raise ScenarioError(f"axial_stress needs a section, which '{body}' has not.")
        yield BarProbe(
            table.name,
            bars,
            quantities,
            members=members,
            section=section,
            reference=self._reference,
            reduce=reduce,
        )

    def _of_inelastic(
        self,
        table: ProbeTable,
        quantities: Sequence[str],
        part: Inelastic,
        members: Sequence[int] | None,
        reduce: Sequence[Reduction],
    ) -> Iterator[Probe]:
        """Yield probes of what members that yield or break, or cohesive faces, show."""
        body = str(table.body)
        shown_by = part.fields(self._reference, part.relaxed(self._reference))
        if "elongation" in quantities and isinstance(part, InelasticBars):
            quantities = [one for one in quantities if one != "elongation"]
            lengths = part.frozen(part.initial())
            reference = self._reference
            yield BarProbe(table.name, lengths, ["elongation"], members=members, reference=reference, reduce=reduce)
        if odd := [one for one in quantities if one not in shown_by]:
            raise ScenarioError(f"'{body}' has no {odd[0]}; it has {listed(shown_by)}.")
        if quantities:
            yield InelasticProbe(table.name, self._system, body, quantities, stencils=members, reduce=reduce)

    def _of_joint(self, table: ProbeTable) -> Iterator[Probe]:
        joints, requested = self._system.joints, str(table.joint)
        if requested not in joints:
            raise ScenarioError(f"there is no joint {shown(requested)}; {suggestion(requested, list(joints))}")
        joint = joints[requested]
        if odd := [one for one in table.quantities or () if one not in quantities_of(joint)]:
            raise ScenarioError(f"'{requested}' has no {odd[0]}; it has {listed(quantities_of(joint))}.")
        components = _those(table.components, "xyz")
        if odd := [one for one in table.components or () if one not in ("x", "y", "z", NORM)]:
            raise ScenarioError(f"components has '{odd[0]}', and forces and moments of joints have x, y, z and {NORM}.")
        yield JointProbe(table.name, self._system, requested, table.quantities, components=components)  # pyright: ignore[reportArgumentType]

    # -- supports, obstacles, contact ---------------------------------------------------------------------------

    def _reactions(self, table: ProbeTable) -> Iterator[Probe]:
        names = [support.name or str(k + 1) for k, (support, _) in enumerate(self._supports)]
        requested = str(table.support)
        if requested != _ALL and requested not in names:
            raise ScenarioError(f"there is no support {shown(requested)}; {suggestion(requested, [*names, _ALL])}")
        if not names:
            raise ScenarioError("there is no [[support]], of which there could be reactions.")
        oblique = [(str(support.name), nodes) for support, nodes in self._supports if support.is_oblique]
        for name, nodes in oblique:
            if requested == name:
                yield ForceProbe(table.name, [name], nodes, what="reaction", about=table.about)
                return
        if oblique and requested == _ALL:
            raise ScenarioError(
                f"support '{oblique[0][0]}' is oblique, held by an energy, whose forces are not among those of all "
                "supports; give each support a probe of its own."
            )
        parts = [self._held(requested, leg) for leg in self._legs]
        changes = [(leg.start, held) for leg, held in zip(self._legs, parts, strict=True)]
        yield ReactionProbe(table.name, parts[0], table.about, changes[1:])

    def _held(self, requested: str, leg: RunInterval) -> dict[str, NDArray[np.bool_]]:
        """Return the coordinates [n, 3] that the requested supports hold in a part of the run, by their names."""
        held: dict[str, NDArray[np.bool_]] = {}
        taken = np.zeros((self._system.n_nodes, 3), bool)
        for k, (support, nodes) in enumerate(self._supports):
            # What conditions begin and end holds nothing while it does not act: the system then has no reactions there.
            acts = support.begin_event is not None or support.acts(leg.start, leg.end)
            name = support.name or str(k + 1)
            if support.body in self._beams and not support.moves and support.of_node != ("xyz", "xyz"):
                if requested in (_ALL, name):
                    raise ScenarioError(
                        f"support '{name}' holds a part of the displacements and rotations of '{support.body}', of "
                        "which reactions are not known yet; look at the section forces of its members instead."
                    )
                acts = False
            mask = fixed_mask(self._system.n_nodes, [(nodes, support.components)] if acts else [])
            held[name] = mask & ~taken  # what two of them hold counts as the first one's
            taken |= mask
        if requested != _ALL:
            return {"": held[requested]}
        return {"": taken} | (held if len(held) > 1 else {})

    def _of_obstacle(self, table: ProbeTable) -> Iterator[Probe]:
        tables = self._tables
        names, requested = [item.name for item in tables.obstacle], str(table.obstacle)
        if requested not in (*names, _ALL) or not names:
            raise ScenarioError(f"there is no obstacle {shown(requested)}; {suggestion(requested, [*names, _ALL])}")
        touching = self._tables.touching
        frictions = {item.name: item.frictions(touching) for item in tables.surfaces}
        frictions |= {item.name: [f"friction_{item.name}"] for item in tables.shaped}
        for name in names if requested == _ALL else [requested]:
            rigid_set = self._rigid_sets.rigid_sets.get(name)
            own = np.empty(0, np.int32) if rigid_set is None else rigid_set.nodes
            nodes = np.setdiff1d(np.arange(self._system.n_nodes), own)
            acting = [name, *(one for one in frictions[name] if one in self._names)]
            label = "force" if requested != _ALL else f"force_{name}"
            yield ForceProbe(table.name, acting, nodes, what=label, about=table.about)

    def _of_contact(self, table: ProbeTable) -> Iterator[Probe]:
        contacts, requested = {item.name: item for item in self._tables.contact}, str(table.contact)
        if requested not in (*contacts, _ALL) or not contacts:
            raise ScenarioError(f"there is no contact {shown(requested)}; {suggestion(requested, [*contacts, _ALL])}")
        chosen = list(contacts.values()) if requested == _ALL else [contacts[requested]]
        touching = self._tables.touching
        acting = [item.name for item in chosen]
        acting += [one for item in chosen for one in item.frictions(touching) if one in self._names]
        bodies = dict.fromkeys(name for item in chosen for pair in item.pairs(touching) for name in pair)
        rigid_sets = self._rigid_sets.rigid_sets
        nodes = {name: rigid_sets[name].nodes if name in rigid_sets else self._mesh.nodes_of(name) for name in bodies}
        yield ForceProbe(table.name, acting, nodes, about=table.about)


def _halves(cells: IntArray) -> list[list[int]]:
    """Return the corners of the triangles that faces [m, k] are cut into."""
    return [[0, 1, 2]] if cells.shape[1] == 3 else [[0, 1, 2], [0, 2, 3]]


def _nearest_elements(table: ProbeTable, points: Array, cells: IntArray, elements: NDArray[np.integer]) -> list[int]:
    """Return the elements nearest to the points of a table, of lines or triangles [m, k] of elements [m]."""
    found = []
    corners = points[cells]
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    for point in np.array(table.points, dtype=float):
        away = np.linalg.norm(_nearest_points(corners, point) - point, axis=1)
        at = int(np.argmin(away))
        if away[at] > sides[at]:
            raise ScenarioError(
                f"points: {point.tolist()} m must be within an element of '{table.body}', got a distance of "
                f"{away[at]:.3g} m to the nearest. Move the point, or name members."
            )
        found.append(int(elements[at]))
    return found


def _nearest_points(corners: Array, point: Array) -> Array:
    """Return the point of each line [m, 2, 3] or triangle [m, 3, 3] that is nearest to a point [3]."""
    if corners.shape[1] == 2:
        a, along = corners[:, 0], corners[:, 1] - corners[:, 0]
        part = np.clip(((point - a) * along).sum(axis=1) / (along**2).sum(axis=1), 0.0, 1.0)
        return a + part[:, None] * along
    edges = [_nearest_points(corners[:, [i, (i + 1) % 3]], point) for i in range(3)]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    square = (normal**2).sum(axis=1)
    foot = point - (((point - corners[:, 0]) * normal).sum(axis=1) / square)[:, None] * normal
    inside = np.ones(len(corners), bool)
    for i in range(3):
        a, b = corners[:, i], corners[:, (i + 1) % 3]
        inside &= (np.cross(b - a, foot - a) * normal).sum(axis=1) >= 0.0
    candidates = np.stack([np.where(inside[:, None], foot, edges[0]), *edges], axis=1)
    best = np.argmin(np.linalg.norm(candidates - point, axis=2), axis=1)
    return candidates[np.arange(len(corners)), best]


def _those(requested: Sequence[str] | None, known: Sequence[str]) -> list[str] | None:
    """Return the requested components that a kind of quantity has, and the norm; None: all."""
    found = [c for c in requested or () if c in (*known, NORM)]
    return found or None


def _nearest(mesh: Mesh, body: str, points: Array) -> IntArray:
    """Return the nodes of a body that are nearest to points [k, 3] in m."""
    own = mesh.nodes_of(body)
    away = np.linalg.norm(mesh.points[own][None] - points[:, None], axis=2)
    nodes, distances = own[away.argmin(axis=1)], away.min(axis=1)
    for node, distance, point in zip(nodes, distances, points, strict=True):
        reach = _SAME_PLACE * size_of(mesh.points[own], tuple(point))
        for cells in mesh.cells.values():
            around = mesh.points[cells[(cells == node).any(axis=1)]]
            reach = max(reach, float(np.linalg.norm(around - mesh.points[node], axis=-1).max(initial=0.0)))
        if distance > reach:
            raise ScenarioError(
                f"points: {point.tolist()} m must be within an element of a node of '{body}', got a distance of "
                f"{distance:.3g} m to the nearest, at {mesh.points[node].tolist()} m (its elements reach "
                f"{reach:.3g} m). Move the point, or name nodes."
            )
    return nodes
