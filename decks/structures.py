"""Decks of beams and shells as scenarios: elements of lines and faces with sections, whose nodes have rotations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symplex.decks.beam_keywords import BEAMS
from symplex.decks.beams import BeamTables
from symplex.decks.body_tables import MOST_VELOCITIES, BodyTables
from symplex.decks.constraint_tables import ConstraintTables
from symplex.decks.constraints import on_turning_nodes, rows_of
from symplex.decks.courses import Courses
from symplex.decks.deck import Deck, RigidGroup, Spin, Step, Weight
from symplex.decks.discrete import Discrete, discrete_of
from symplex.decks.geometry import AGAINST, DeckGeometry
from symplex.decks.load_tables import LoadTables
from symplex.decks.parts import BODY, Parts
from symplex.decks.reading import UnsupportedKeyword
from symplex.decks.rigid import reference_of
from symplex.decks.rows import Dof
from symplex.decks.shell_tables import FACES, ShellTables
from symplex.decks.state import (
    Acting,
    Value,
    acting,
    acting_about,
    local_axes,
    local_directions,
    locks,
    preload_of,
    require_static_start,
)
from symplex.decks.stepping import OfStep, require_few, run_of, title_of
from symplex.decks.structure_joints import StructureJoints, divided, members_of, shares_of
from symplex.decks.support_tables import SupportTables
from symplex.decks.temperature_tables import TemperatureTables
from symplex.decks.units import Units

Table = dict[str, Any]
Course = tuple[str, bool]  # the name of an amplitude, and whether it changes in this step
_AXES = "xyz"
_PARALLEL = 1e-9  # how far a direction may be from an axis
_SMOOTH = np.cos(np.radians(35.0))  # of normals, above which a node of shells has no rotation about the mean one
_DRILLS = 0.01  # of a moment, above which its part about the normal is noted
SOLIDS = "solids"  # the body of solid elements
REMARK = "beams and shells have large displacements and rotations in all steps, also without NLGEOM"
DRILLS = "these have no stiffness about it, and only the part across the normal, which turns, has an effect"


class StructureStepWriter(OfStep):
    """Writes the tables of one step of a deck of beams and shells."""

    def __init__(self, deck: Deck, geometry: DeckGeometry, step: Step, units: Units, mesh: str):
        super().__init__(deck, geometry, step, units, mesh)
        self._bodies = bodies_of(geometry)
        self._refuse()
        self._preload = preload_of(deck, step)
        self._courses = Courses(deck, step, units, self._preload)
        self._local = local_directions(deck, geometry)
        self._nodes = set[int]().union(*(own for _, own in self._bodies.values()))
        of_frames, others = divided(deck, geometry, self._nodes)
        self._joints = StructureJoints(of_frames, geometry, self._bodies, units)
        self._distributed = [shares_of(coupling, geometry) for coupling in of_frames.distributed]
        self._discrete = discrete_of(deck, geometry, nonlinear=True)
        large = step.nonlinear or self._preload > 0
        self._coupled = [one for one in others.rigid if large and self._turns_with_a_node(one)]
        others = replace(others, rigid=[one for one in others.rigid if one not in self._coupled])
        self._rows = rows_of(others, geometry, self._local, large, framed=self._nodes)
        self._parts = Parts.of_solids(geometry, SOLIDS)
        framed = {name: own for name, (_, own) in self._bodies.items()}
        linear = Discrete(linear=self._discrete.linear)
        self._constraints = ConstraintTables(self._rows, linear, geometry, units, self._parts, framed=framed)
        loaded = step.procedure == "frequency" and self._preload > 0
        law = step.nonlinear or loaded or step.procedure == "buckle"
        self._solids = BodyTables(deck, geometry, step, units, mesh, law, self._parts, False, True)
        self._movers: dict[tuple[int, int], Value] = {}  # supports of points that nodes follow
        self._offsets = ShellTables(deck, geometry, step, units).offsets() if self._has("shell") else {}
        self._shift = BeamTables(deck, geometry, step, units).shift() if self._has("beam") else np.zeros(3)
        self._shifted = next((own for kind, own in self._bodies.values() if kind == "beam"), set[int]())
        self._shifted = self._shifted if self._shift.any() else set[int]()
        if self._shifted and (geometry.in_elements.any() or self._offsets):
            raise UnsupportedKeyword("beams off their nodes next to solid elements or shells with an offset")
        self._rows.factors = [self._of_points(row) for row in self._rows.factors]
        if REMARK not in deck.remarks:
            deck.remarks.append(REMARK)

    @property
    def loose(self) -> list[int]:
        """What the deck calls the reference nodes of no element."""
        nodes = [*self._joints.on, *self._joints.turning, *(shares.reference for shares in self._distributed)]
        nodes += [node for node in self._constraints.loose if node < len(self._geometry.numbers)]
        return self._geometry.numbers[nodes].tolist()

    def _has(self, kind: str) -> bool:
        return any(of == kind for of, _ in self._bodies.values())

    def _refuse(self) -> None:
        """Raise UnsupportedKeyword if the deck has what beams and shells cannot be given."""
        deck, step = self._deck, self._step
        what = "shells" if self._has("shell") else "beams"
        given = {
            "*CYCLIC SYMMETRY MODEL": [*filter(None, [deck.sector])],
            "*PRE-TENSION SECTION": deck.pretensions,
            "*BOUNDARY, FIXED": [*filter(None, [locks(deck, step)])],
            "*CONTACT PAIR": deck.touching,
            "*PLASTIC": [*filter(None, [deck.flows and bool(self._geometry.in_elements.any())])],
        }
        if names := [name for name, found in given.items() if found]:
            raise UnsupportedKeyword(f"{names[0]} in a deck of {what} is not supported")
        if step.procedure == "explicit":
            raise UnsupportedKeyword(f"*DYNAMIC, EXPLICIT of {what} is not supported; take *DYNAMIC")

    def tables(self) -> Table:
        """Return the tables of the scenario.

        Raises
        ------
        UnsupportedKeyword
            If the step says what a scenario cannot.
        MeshError
            If it refers to what is not there.
        """
        step, given = self._step, (self._deck, self._geometry, self._step, self._units)
        if step.is_static:
            require_static_start(self._deck, step)
        every = acting_about(step, self._preload, lambda number: acting(self._deck, self._geometry, number))
        heat = TemperatureTables(self._deck, self._geometry, self._courses, every)
        if self._preload and step.is_motion and any(one.step == step.number for one in every.temperatures.values()):
            raise UnsupportedKeyword("temperatures of the static step before are changed or removed")
        tables: Table = {"title": title_of(self._deck, step)}
        for name, (kind, _) in self._bodies.items():
            writer = ShellTables(*given) if kind == "shell" else BeamTables(*given)
            tables[kind] = [writer.table(name, self._file)]
        tables["body"] = self._solids.tables() if self._parts.names else []
        framed = {name: np.array(sorted(own), np.int64) for name, (_, own) in self._bodies.items()}
        tables["temperature"] = heat.tables(framed, "", uniform=True)
        if any("history" in table for table in tables["temperature"]):
            raise UnsupportedKeyword("temperatures of beams or shells that change with time are not supported")
        nodes = {name: self._parts.nodes(name) for name in self._parts.names}
        tables["temperature"] += heat.tables(nodes, f"{self._file.removesuffix('.mesh.inp')}-{step.number}")
        self.files = heat.files
        acts, of_others = self._divided(every)
        tables["support"], to_ground = self._supports(acts)
        of_others = replace(of_others, supports={**of_others.supports, **self._movers})
        held = SupportTables(step, self._units, self._courses, self._rows, self._constraints, self._local)
        more = [{**one, "name": f"solid_{one['name']}"} if "name" in one else one for one in held.tables(of_others)]
        tables["support"] += more + self._constraints.held(of_others.supports, self._courses.moves)
        loads = self._loads(acts)
        tables["joint"] = [*self._joints.tables, *to_ground]
        tables["coupling"] = [*self._constraints.couplings(), *self._couplings()]
        if tables["joint"] or tables["coupling"]:  # whose multipliers are for lumped masses
            tables["body"] = [{key: value for key, value in body.items() if key != "mass"} for body in tables["body"]]
        tables["constraint"] = [*self._constraints.tables(self._stiffest, step.is_static), *self._welds()]
        tables["spring"] = self._springs(acts)
        tables["dashpot"] = self._dashpots() if self._courses.moves else []
        tables["damping"] = self.damping()
        lightest = None if step.is_static else self._solids.density
        tables["point_mass"] = [*self._constraints.masses(lightest), *self._masses()]
        tables["gravity"] = self._gravity(acts)
        of_solids = LoadTables(
            step, self._geometry, self._units, self._courses, self._constraints, self._parts, self._local, {}
        )
        loads += [{**one, "name": f"solid_{one['name']}"} for one in of_solids.tables(of_others)]
        require_few(loads)
        tables["load"] = loads
        tables["velocity"] = self._velocities() if self._courses.moves else []
        if (step.procedure == "static" or self._preload) and every.loaded:
            tables["start"] = {"kind": "static"}
        tables["integrator"], tables["run"] = run_of(step, self._units)
        return {key: table for key, table in tables.items() if table}

    # -- next to solids -----------------------------------------------------------------------------------------------

    def _divided(self, acts: Acting) -> tuple[Acting, Acting]:
        """Return what acts on beams, shells and what moves with them, and on solid elements and nodes of no element."""
        loose, inside = {*self._constraints.loose}, self._geometry.in_elements
        others = {n for n, _ in (*acts.supports, *acts.forces) if n not in self._nodes and (n in loose or inside[n])}
        moving = {*self._joints.on, *self._joints.turning, *(shares.reference for shares in self._distributed)}
        known = self._nodes | others | moving | self._anchors  # what is held of others has no effect
        acts = replace(acts, supports={dof: value for dof, value in acts.supports.items() if dof[0] in known})
        solids = {*self._geometry.solids.tolist()}
        weights = [item for item in acts.weights if self._geometry.has_any([item[0].elements])]

        def part(of_others: bool) -> Acting:
            return replace(
                acts,
                supports={dof: value for dof, value in acts.supports.items() if (dof[0] in others) == of_others},
                forces={dof: values for dof, values in acts.forces.items() if (dof[0] in others) == of_others},
                pressures={side: v for side, v in acts.pressures.items() if (side[0] in solids) == of_others},
                weights=weights if of_others else acts.weights,
            )

        return part(False), on_turning_nodes(part(True), self._rows)

    @property
    def _stiffest(self) -> float | None:
        """The largest Young's modulus of solids, beams and shells in Pa."""
        given = [one.moduli[0] * self._units.stress for one in self._deck.beams if one.moduli is not None]
        given += [] if (young := self._solids.stiffest) is None else [young]
        return max(given, default=None)

    def _turns_with_a_node(self, rigid: RigidGroup) -> bool:
        """Return whether a rigid body or coupling is of nodes of solids only, to a node of a beam or shell."""
        if not rigid.reference or rigid.rotation or rigid.axes or len(rigid.components) < 3:
            return False
        return reference_of(rigid, self._geometry) in self._nodes and self._nodes.isdisjoint(
            members_of(rigid, self._geometry)
        )

    def _couplings(self) -> list[Table]:
        """Return tables ``[[coupling]]`` of nodes of solids that turn with nodes of beams and shells."""
        found: list[Table] = []
        for rigid in self._coupled:
            node = reference_of(rigid, self._geometry)
            group = self._geometry.point_group(members_of(rigid, self._geometry), f"coupled_{len(found) + 1}")
            (to,) = self._places([node], f"node_{self._geometry.numbers[node]}")
            table = {"name": f"coupling_{len(found) + 1}", "body": SOLIDS, "group": group}
            found.append(table | {"to": to["body"], "to_group": to["group"]})
        return found

    def _welds(self) -> list[Table]:
        """Return equations that give nodes of beams or shells, and of solids, the displacement of each other."""
        found: list[Table] = []
        for name, (_, own) in self._bodies.items():
            shared = sorted(node for node in own if self._geometry.in_elements[node])
            equations = [
                [
                    {"body": body, "group": group, "component": axis, "factor": factor}
                    for body, factor in ((SOLIDS, 1.0), (name, -1.0))
                ]
                for node in shared
                for group in [self._geometry.point_group([node], f"node_{self._geometry.numbers[node]}")]
                for axis in _AXES
            ]
            if equations:
                found.append({"name": f"{name}_on_{SOLIDS}", "equations": equations})
                if self._stiffest is not None:
                    found[-1]["stiffness"] = self._constraints.stiffness(self._stiffest, self._step.is_static)
        return found

    # -- where ------------------------------------------------------------------------------------------------------

    def _places(self, nodes: Iterable[int], name: str) -> list[Table]:
        """Return the keys ``body`` and ``group`` of nodes, of each body that has any.

        Raises
        ------
        UnsupportedKeyword
            If a node is on no element.
        """
        nodes, known = {*nodes}, self._nodes | {*self._constraints.loose}
        if unknown := [node for node in nodes - known if not self._geometry.in_elements[node]]:
            raise UnsupportedKeyword(
                f"node {self._geometry.numbers[min(unknown)]} is on no beam and no shell, but held, loaded or heavy"
            )
        return self._constraints.places(nodes, name)

    def _on_shell(self, node: int) -> bool:
        """Return whether a node is on shells only."""
        return next((kind == "shell" for kind, own in self._bodies.values() if node in own), False)

    # -- supports ---------------------------------------------------------------------------------------------------

    def _supports(self, acts: Acting) -> tuple[list[Table], list[Table]]:
        """Return supports, and joints to the ground where these are oblique or of points at a distance from nodes."""
        by_node: dict[int, dict[int, Value]] = {}
        for (node, component), value in acts.supports.items():
            by_node.setdefault(self._joints.turning.get(node, node), {})[
                component + 3 if node in self._joints.turning and component < 3 else component
            ] = value
        alike: dict[tuple[str, str], list[int]] = {}
        moved: dict[tuple[tuple[float, ...], str, int], list[int]] = {}
        joints: list[Table] = []
        spun: list[tuple[int, dict[int, Value]]] = []
        for node, given in by_node.items():
            if node in self._anchors:
                if any(given[c].value if c in given else True for c in range(3)):
                    raise UnsupportedKeyword(
                        f"node {self._geometry.numbers[node]}, on springs only, must be fixed in all directions"
                    )
                continue
            on = self._joints.on.get(node, node)
            turned = self._in_global_directions(node, given)
            away = on != node or self._is_off(on)
            whole = len(given) == 6
            moves = any(value.value for value in given.values())
            here = moves and turned is not None and whole and not away
            if here and self._moves_altogether(turned):
                moved.setdefault(self._moved(turned), []).append(node)
                continue
            if here and not any(turned[c].value for c in range(3)):
                spun.append((node, {c - 3: turned[c] for c in range(3, 6)}))
                continue
            if moves:  # some coordinates by equations, others held
                turned = self._by_equations(node, given, on if away else None)
            elif turned is None or (away and not whole):
                place, axes = self._geometry.mesh.points[node], local_axes(self._local, node)
                try:
                    joints.append(self._joints.hold(on, place, axes, given))
                    continue
                except UnsupportedKeyword:
                    turned = self._by_equations(node, given, on if away else None)
            letters = ["".join(_AXES[c - first] for c in sorted(turned) if first <= c < first + 3) for first in (0, 3)]
            if any(letters):
                alike.setdefault((letters[0], letters[1]), []).append(on)
        tables: list[Table] = []
        for (components, rotations), nodes in alike.items():
            for place in self._places(nodes, "held"):
                tables.append({**place, "components": components, "rotations": rotations})
        for (vector, amplitude, number), nodes in moved.items():
            motion = self._courses.motion(np.array(vector) * self._units.length, amplitude, number)
            for place in self._places(nodes, "moved"):
                tables.append({"name": f"motion_{len(tables) + 1}", **place, **motion})
        for node, turn in spun:
            motion = self._courses.rotation(turn, self._geometry.mesh.points[node] * self._units.length)
            for place in self._places([node], "turned"):
                tables.append({"name": f"motion_{len(tables) + 1}", **place, **motion})
        return tables, joints

    def _moves_altogether(self, given: dict[int, Value]) -> bool:
        """Return whether a node of which all is given is displaced with one amplitude, and its rotations held."""
        courses = {value[1:] for value in given.values() if value.value}
        return len(courses) == 1 and not next(iter(courses))[2] and not any(given[c].value for c in range(3, 6))

    def _moved(self, given: dict[int, Value]) -> tuple[tuple[float, ...], str, int]:
        """Return the displacement [3], amplitude and step of a node all of whose coordinates are given."""
        ((amplitude, number, _),) = {value[1:] for value in given.values() if value.value}
        return tuple(given[c].value for c in range(3)), amplitude, number

    def _by_equations(self, node: int, given: dict[int, Value], on: int | None = None) -> dict[int, Value]:
        """Add equations for what moves or is oblique to the axes, and return what else is held, by global directions.

        A node that moves at a distance with one of a beam or shell, ``on``, has displacements of its own.

        Raises
        ------
        UnsupportedKeyword
            If it moves along time, or turns with large rotations.
        """
        rest: dict[int, Value] = {}
        for component, value in given.items():
            first, axis = component // 3 * 3, local_axes(self._local, node)[component % 3]
            along, at = int(np.abs(axis).argmax()), node
            if on is not None:
                at = on if component >= 3 else self._rows.follow(on, self._geometry.mesh.points[node])
            if (at == node or component >= 3) and not value.value and abs(axis[along]) > 1.0 - _PARALLEL:
                rest[first + along] = value
                continue
            what = f"node {self._geometry.numbers[node]} of a beam or shell is"
            if component >= 3 and self._step.nonlinear:
                raise UnsupportedKeyword(f"{what} turned by a support, which is known without NLGEOM only")
            if value.value and self._courses.changes:
                if component >= 3 or value.is_velocity or abs(axis[along]) < 1.0 - _PARALLEL:
                    raise UnsupportedKeyword(
                        f"{what} moved along time by a support, which is known along the axes only, by displacements"
                    )
                self._follow(at, along, value._replace(value=value.value * float(np.sign(axis[along]))))
                continue
            size = value.value * self._courses.final(value.amplitude, value.step) if value.value else 0.0
            self._rows.add({(at, first + i): float(c) for i, c in enumerate(axis)}, size)
        return rest

    def _follow(self, node: int, component: int, value: Value) -> None:
        """Let a displacement of a node be that of a point which a support moves along time."""
        points = self._geometry.mesh.points
        mover = self._rows.add_point(points[node] if node < len(points) else self._rows.turns[node])
        self._rows.add({(node, component): 1.0, (mover, component): -1.0})
        self._movers[mover, component] = value

    def _in_global_directions(self, node: int, given: dict[int, Value]) -> dict[int, Value] | None:
        """Return what holds a node in a local system in global directions; None if that is oblique to the axes."""
        if node not in self._local:
            return given
        local, turned = local_axes(self._local, node), dict[int, Value]()
        for first in (0, 3):
            some = {c - first: value for c, value in given.items() if first <= c < first + 3}
            if len(some) == 3 and not any(value.value for value in some.values()):
                turned |= {first + c: value for c, value in some.items()}
                continue
            for component, value in some.items():
                axis = int(np.abs(local[component]).argmax())
                if abs(abs(local[component][axis]) - 1.0) > _PARALLEL:
                    return None
                turned[first + axis] = value._replace(value=value.value * float(np.sign(local[component][axis])))
        return turned

    # -- loads ------------------------------------------------------------------------------------------------------

    def _loads(self, acts: Acting) -> list[Table]:
        # Force and moment [6] of each node and course, in the units of the deck, about the node where it acts.
        given: dict[tuple[int, str, bool], NDArray[np.float64]] = {}
        for (node, component), values in acts.forces.items():
            turns = component >= 3 or node in self._joints.turning
            axis = local_axes(self._local, node)[component % 3]
            for value in values:
                size, amplitude, changes = self._courses.course(value)
                key = self._joints.turning.get(node, node), amplitude, changes
                given.setdefault(key, np.zeros(6))[3 * turns : 3 * turns + 3] += size * axis
        by_node: dict[tuple[str, int, str, bool], NDArray[np.float64]] = {}
        for (node, amplitude, changes), wrench in given.items():
            for on, force, moment in self._on_nodes(node, wrench):
                for key, vector, unit in (
                    ("force", force, self._units.force),
                    ("moment", moment, self._units.force * self._units.length),
                ):
                    by_node.setdefault((key, on, amplitude, changes), np.zeros(3))[:] += vector * unit
        alike: dict[tuple[str, tuple[float, ...], str, bool, int], list[int]] = {}
        for (key, node, amplitude, changes), vector in by_node.items():
            if vector.any():
                # Nodes on folds, which a deck does not name, cannot be given a moment together with others.
                alone = node if key == "moment" and self._on_shell(node) else -1
                alike.setdefault((key, tuple(vector.tolist()), amplitude, changes, alone), []).append(node)
                if alone >= 0:
                    self._note_drill(node, vector)
        tables: list[Table] = []
        for (key, vector, amplitude, changes, _), nodes in alike.items():
            for place in self._places(nodes, "loaded"):
                table = {"name": f"{key}_{len(tables) + 1}", "kind": "nodal", **place, key: list(vector)}
                history = self._courses.history(amplitude) if changes else None
                tables.append(table | ({"history": history} if history else {}))
        return tables + self._pressures(acts) + self._spins(acts)

    def _on_nodes(
        self, node: int, wrench: NDArray[np.float64]
    ) -> list[tuple[int, NDArray[np.float64], NDArray[np.float64]]]:
        """Return the nodes, with forces and moments [3] of each, that a force and moment [6] on a node act on.

        At a distance from nodes with large rotations forces act on a point that moves with the node.

        Raises
        ------
        UnsupportedKeyword
            If a moment is distributed as forces, which would turn.
        """
        shares = next((shares for shares in self._distributed if shares.reference == node), None)
        if shares is not None and np.abs(shares.lost @ wrench).max(initial=0.0) > _PARALLEL * np.abs(wrench).max():
            raise UnsupportedKeyword(
                f"a force or moment on node {self._geometry.numbers[node]} turns nodes on a line about this, which a "
                "coupling that distributes forces cannot do"
            )
        found = (
            [(node, wrench)]
            if shares is None
            else [(on, np.append(m @ wrench, np.zeros(3))) for on, m in shares.of_nodes.items()]
        )
        out: list[tuple[int, NDArray[np.float64], NDArray[np.float64]]] = []
        for at, forces in found:
            on = self._joints.on.get(at, at)
            arm = self._geometry.mesh.points[at] - self._geometry.mesh.points[on]
            if self._is_off(on):
                arm = arm + self._arm(on)
            turning, none = np.cross(arm, forces[:3]), np.zeros(3)
            if turning.any() and self._step.nonlinear:
                out.append((self._rows.follow(on, self._geometry.mesh.points[at]), forces[:3], none))
                out.append((on, none, forces[3:]))
            else:
                out.append((on, forces[:3], forces[3:] + turning))
        if shares is not None and wrench[3:].any() and self._step.nonlinear:
            raise UnsupportedKeyword(
                f"a moment on node {self._geometry.numbers[node]}, which a coupling distributes as forces that turn, "
                "is not supported with NLGEOM"
            )
        return out

    def _is_off(self, node: int) -> bool:
        """Return whether a node of the deck is not in the middle of its beams or shells."""
        return node in self._shifted or bool(self._offsets.get(node))

    def _of_points(self, row: dict[Dof, float]) -> dict[Dof, float]:
        """Return an equation in which displacements of nodes off the middle are those of points there."""
        points = self._geometry.mesh.points
        return {
            (self._rows.follow(n, points[n]) if i < 3 and self._is_off(n) else n, i): c for (n, i), c in row.items()
        }

    def _arm(self, node: int) -> NDArray[np.float64]:
        """Return the vector from the middle of a beam or shell to the node, of shells along the mean normal there."""
        if node in self._shifted:
            return -self._shift
        total = self._normals(node).sum(axis=0)
        return -self._offsets[node] * total / np.linalg.norm(total)

    def _normals(self, node: int) -> NDArray[np.float64]:
        """Return the normals [m, 3] of the shells that have a node."""
        found = []
        for _, cells in self._geometry.cells(FACES).values():
            x = self._geometry.mesh.points[cells[(cells == node).any(axis=1)]]
            normals = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])
            found.append(normals / np.linalg.norm(normals, axis=1, keepdims=True))
        return np.concatenate(found)

    def _note_drill(self, node: int, moment: NDArray[np.float64]) -> None:
        """Note that a part of a moment is about the normal, where shells have no stiffness."""
        normals, remarks = self._normals(node), self._deck.remarks
        normal = normals.sum(axis=0) / np.linalg.norm(normals.sum(axis=0))
        smooth = (normals @ normals.T).min() > _SMOOTH
        if not smooth or abs(moment @ normal) <= _DRILLS * np.linalg.norm(moment):
            return
        if not any(remark.endswith(DRILLS) for remark in remarks):
            remarks.append(f"node {self._geometry.numbers[node]} has a moment about the normal of its shells; {DRILLS}")

    def _pressures(self, acts: Acting) -> list[Table]:
        """Return pressures on shells: a positive one acts along their normal, as one on their lower side."""
        by_element: dict[tuple[int, Course], float] = {}
        for (number, side), values in acts.pressures.items():
            for value in values:
                size, amplitude, changes = self._courses.course(value)
                key = number, (amplitude, changes)
                by_element[key] = by_element.get(key, 0.0) + (-size if side == AGAINST else size) * self._units.stress
        alike: dict[tuple[float, Course], list[int]] = {}
        for (number, course), size in by_element.items():
            if size:
                alike.setdefault((size, course), []).append(number)
        on_shells = {*np.concatenate([n for n, _ in self._geometry.cells(FACES).values()] or [[]]).tolist()}
        tables: list[Table] = []
        for (size, (amplitude, changes)), numbers in alike.items():
            if not on_shells.issuperset(numbers):
                raise UnsupportedKeyword("loads P along beams are not supported; give forces to nodes")
            group = self._geometry.cell_group(FACES, numbers, "pressed")
            table: Table = {"name": f"pressure_{len(tables) + 1}", "kind": "pressure", "body": self._shells}
            table |= {"group": group, "pressure": abs(size), "side": "bottom" if size > 0.0 else "top"}
            table |= {} if self._step.nonlinear else {"follower": False}
            history = self._courses.history(amplitude) if changes else None
            tables.append(table | ({"history": history} if history else {}))
        return tables

    @property
    def _shells(self) -> str:
        """The name of the body of shells."""
        return next(name for name, (kind, _) in self._bodies.items() if kind == "shell")

    def _all_of(self, name: str, elements: str) -> bool | None:
        """Return whether elements are all of a body; None if they are none of it."""
        kinds = FACES if self._bodies[name][0] == "shell" else ("line",)
        own = np.concatenate([numbers for numbers, _ in self._geometry.cells(kinds).values()])
        inside = np.isin(own, self._geometry.elements([elements]))
        return bool(inside.all()) if inside.any() else None

    def _gravity(self, acts: Acting) -> Table | None:
        """Return the table ``[gravity]``, of a weight that acts on all."""
        total = np.zeros(3)
        for weight, value in acts.weights:
            if isinstance(weight, Spin) or not self._is_gravity(weight, value):
                continue
            size, *_ = self._courses.course(value)
            total += size * np.array(weight.acceleration) * self._units.acceleration
        return {"acceleration": total.tolist()} if total.any() else None

    def _is_gravity(self, weight: Weight, value: Value) -> bool:
        if self._parts.names or self._constraints.loose:  # which have a mass that means nothing
            return False
        every = {number for number, kind, _ in self._geometry.discrete() if kind == "MASS"}
        masses = every <= {*self._geometry.elements([weight.elements]).tolist()}
        changes = self._courses.course(value)[2]
        return not changes and masses and all(self._all_of(name, weight.elements) for name in self._bodies)

    def _spins(self, acts: Acting) -> list[Table]:
        """Return weights of one of several bodies, those that change, and centrifugal forces."""
        tables: list[Table] = []
        for item, value in acts.weights:
            if isinstance(item, Weight) and self._is_gravity(item, value):
                continue
            size, amplitude, changes = self._courses.course(value)
            history = self._courses.history(amplitude) if changes else None
            masses = [number for number, kind, _ in self._geometry.discrete() if kind == "MASS"]
            if {*masses} & {*self._geometry.elements([item.elements]).tolist()}:
                raise UnsupportedKeyword("weights that change, or centrifugal forces, of masses are not supported")
            for name in self._bodies:
                covered = self._all_of(name, item.elements)
                if covered is None or not size:
                    continue
                if not covered:
                    raise UnsupportedKeyword("a weight of a part of beams or shells is not supported")
                table: Table = {"name": f"volume_{len(tables) + 1}", "body": name}
                if isinstance(item, Spin):
                    omega = np.sqrt(size) * np.array(item.angular_velocity) / self._units.time
                    point = (np.array(item.point) * self._units.length).tolist()
                    table |= {"kind": "centrifugal", "angular_velocity": omega.tolist(), "point": point}
                    table |= {"follows": history is None and self._step.nonlinear}
                else:
                    acceleration = size * np.array(item.acceleration) * self._units.acceleration
                    table |= {"kind": "gravity", "acceleration": acceleration.tolist()}
                tables.append(table | ({"history": history} if history else {}))
        return tables

    @cached_property
    def _anchors(self) -> set[int]:
        """The nodes of springs that are on no beam and no shell, which must be fixed."""
        ends = {node for _, pairs, *_ in self._discrete.springs for pair in pairs for node in pair}
        inside = self._geometry.in_elements
        return {node for node in ends - self._nodes - {*self._constraints.loose} if not inside[node]}

    def _springs(self, acts: Acting) -> list[Table]:
        """Return springs and bars between nodes, or from nodes to places."""
        if loose := [node for node in self._anchors if (node, 0) not in acts.supports]:
            raise UnsupportedKeyword(
                f"node {self._geometry.numbers[loose[0]]}, on springs only, must be fixed in all directions"
            )
        tables: list[Table] = []
        for name, pairs, k, law in self._discrete.springs:
            for number, (a, b) in enumerate(pairs, start=1):
                if a in self._anchors:
                    a, b = b, a
                if a in self._anchors:
                    continue  # between two that are fixed
                (first,) = self._places([a], f"node_{self._geometry.numbers[a]}")
                table: Table = {"name": f"{name}_{number}", **first}
                if b in self._anchors:
                    table["to"] = (self._geometry.mesh.points[b] * self._units.length).tolist()
                else:
                    (second,) = self._places([b], f"node_{self._geometry.numbers[b]}")
                    table |= {f"to_{key}": value for key, value in second.items()}
                tables.append(table | {"stiffness": k * self._units.force / self._units.length, **law})
        return tables

    def _dashpots(self) -> list[Table]:
        return [
            {
                "name": f"{name}_{number}",
                "between": [self._places([node], f"node_{self._geometry.numbers[node]}")[0] for node in pair],
                "viscosity": c * self._units.force / self._units.velocity,
            }
            for name, pairs, c in self._discrete.dashpots
            for number, pair in enumerate(pairs, start=1)
        ]

    def _velocities(self) -> list[Table]:
        """Return tables ``[[velocity]]`` of the start of a motion, one for all nodes with the same."""
        by_node: dict[int, NDArray[np.float64]] = {}
        for item in self._deck.velocities:
            for node in self._geometry.nodes(item.nodes).tolist():
                by_node.setdefault(node, np.zeros(3))[item.component] = item.value * self._units.velocity
        alike: dict[tuple[float, ...], list[int]] = {}
        for node, velocity in by_node.items():
            if velocity.any():
                alike.setdefault(tuple(velocity.tolist()), []).append(node)
        if len(alike) > MOST_VELOCITIES:
            raise UnsupportedKeyword(
                f"it has {len(alike)} different initial velocities; {MOST_VELOCITIES} are the most"
            )
        return [
            {**place, "velocity": list(velocity)}
            for velocity, nodes in alike.items()
            for place in self._places(nodes, "moving")
        ]

    def _masses(self) -> list[Table]:
        return [
            {
                "name": f"mass_{k}" + (f"_{place['body']}" if len(self._bodies) > 1 else ""),
                **place,
                "mass": mass * self._units.mass,
            }
            for k, (on, mass) in enumerate(self._discrete.masses, start=1)
            for place in self._places([node for node, _ in on if node not in self._anchors], "heavy")
        ]


def bodies_of(geometry: DeckGeometry) -> dict[str, tuple[str, set[int]]]:
    """Return the bodies of a deck of beams and shells by name: their kinds, and the places of their nodes."""
    lines = {number for number, kind, _ in geometry.discrete() if kind in BEAMS}
    found: dict[str, tuple[str, set[int]]] = {}
    for kind, name, kinds in (("beam", "beams", ("line",)), ("shell", "shells", FACES)):
        nodes = set[int]()
        for numbers, cells in geometry.cells(kinds).values():
            chosen = np.isin(numbers, [*lines]) if kind == "beam" else np.ones(len(numbers), bool)
            nodes |= {*cells[chosen].ravel().tolist()}
        if nodes:
            found[name] = kind, nodes
    alone = len(found) == 1 and not geometry.in_elements.any()
    return {BODY: next(iter(found.values()))} if alone else found
