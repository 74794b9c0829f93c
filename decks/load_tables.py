"""Loads of a deck as tables of a scenario: forces on nodes, pressures, and forces by volume."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symplex.decks.constraint_tables import ConstraintTables
from symplex.decks.courses import Courses
from symplex.decks.deck import Spin, Step, Weight
from symplex.decks.geometry import DeckGeometry, Face
from symplex.decks.mean_nodes import MeanNode
from symplex.decks.parts import Parts
from symplex.decks.reading import UnsupportedKeyword
from symplex.decks.state import Acting, Value, local_axes
from symplex.decks.units import Units

Table = dict[str, Any]
Course = tuple[str, bool]  # the name of an amplitude, and whether it changes in this step
_MOST_DIRECTIONS = 24  # of faces under a pressure, each of which becomes its own traction


class LoadTables:
    """Writes loads of one step.

    Parameters
    ----------
    step : Step
    geometry : DeckGeometry
        Is asked for groups.
    units : Units
    courses : Courses
    constraints : ConstraintTables
    parts : Parts
    local : dict of int to float64 [3, 3]
        The directions of nodes with a local system.
    means : mapping of int to MeanNode
        The nodes of shells.
    """

    def __init__(
        self,
        step: Step,
        geometry: DeckGeometry,
        units: Units,
        courses: Courses,
        constraints: ConstraintTables,
        parts: Parts,
        local: dict[int, NDArray[np.float64]],
        means: Mapping[int, MeanNode],
    ):
        self._step, self._geometry, self._units = step, geometry, units
        self._courses, self._constraints, self._parts, self._local = courses, constraints, parts, local
        self._means = means

    def tables(self, acts: Acting) -> list[Table]:
        """Return tables ``[[load]]``."""
        return self._forces(acts) + self._pressures(acts) + self._by_volume(acts)

    def _load(self, kind: str, place: Table, key: str, value: Any, course: Course) -> Table:
        amplitude, changes = course
        table = {"name": "", "kind": kind, **place, key: value}
        history = self._courses.history(amplitude) if changes else None
        return table | ({"history": history} if history else {})

    def _forces(self, acts: Acting) -> list[Table]:
        by_node: dict[tuple[int, Course], NDArray[np.float64]] = {}
        for (node, component), values in acts.forces.items():
            shares = self._shares(node, component)
            for value in values:
                size, amplitude, changes = self._courses.course(value)
                for on, share in shares.items():
                    force = by_node.setdefault((on, (amplitude, changes)), np.zeros(3))
                    force += size * share * self._units.force
        alike: dict[tuple[tuple[float, ...], Course], list[int]] = {}
        for (node, course), force in by_node.items():
            if force.any():
                alike.setdefault((tuple(force.tolist()), course), []).append(node)
        tables = []
        for (force, course), nodes in alike.items():
            for place in self._constraints.places(nodes, "loaded"):
                tables.append(self._load("nodal", place, "force", list(force), course))
        return [table | {"name": f"force_{k}"} for k, table in enumerate(tables, start=1)]

    def _shares(self, node: int, component: int) -> dict[int, NDArray[np.float64]]:
        """Return the forces [3] by the nodes that they act on, of one, or a moment, on a node in a direction."""
        mean = self._means.get(node)
        if mean is None or (mean.is_node and component < 3):
            return {node: local_axes(self._local, node)[component]}
        if component < 3:
            axis = local_axes(self._local, node)[component]
            return {on: weight * axis for (on, _), weight in mean.displacement(0).items()}
        tangent = mean.tangent(component - 3)
        if tangent is None or node in self._local or self._step.nonlinear:
            why = "about the normal of a shell, in a local system, or with NLGEOM"
            raise UnsupportedKeyword(f"a moment {why} is not supported")
        found: dict[int, NDArray[np.float64]] = {}
        for (on, i), weight in mean.rotation(component - 3).items():
            found.setdefault(on, np.zeros(3))[i] = weight / np.linalg.norm(tangent)
        return found

    def _pressures(self, acts: Acting) -> list[Table]:
        alike: dict[tuple[float, Course], list[tuple[int, int]]] = {}
        for side, values in acts.pressures.items():
            sizes: dict[Course, float] = {}
            for value in values:
                size, amplitude, changes = self._courses.course(value)
                sizes[amplitude, changes] = sizes.get((amplitude, changes), 0.0) + size * self._units.stress
            for course, size in sizes.items():
                if size:
                    alike.setdefault((size, course), []).append(side)
        tables: list[Table] = []
        for (size, course), sides in alike.items():
            faces = self._geometry.faces(sides)
            parts = None if self._step.nonlinear else self._geometry.by_direction(faces)
            if parts is None or len(parts) > _MOST_DIRECTIONS:
                for place in self._pressed(faces):
                    tables.append(self._load("pressure", place, "pressure", size, course))
                continue
            for normal, members in parts:  # a pressure of a linear step does not turn with the surface
                traction = (-size * normal).tolist()
                for place in self._pressed(members):
                    tables.append(self._load("traction", place, "traction", traction, course))
        return [table | {"name": f"pressure_{k}"} for k, table in enumerate(tables, start=1)]

    def _pressed(self, faces: list[Face]) -> list[Table]:
        """Return the keys ``body`` and ``group`` of faces, of each body that has any."""
        group = self._geometry.face_group(faces, "pressed")
        return [{"body": part, "group": group} for part in self._parts.holding(face[0] for face in faces)]

    def gravity(self, acts: Acting) -> Table | None:
        """Return the table ``[gravity]`` of the weight of all, if that is the only force by volume, and constant."""
        if self._constraints.has_points:
            return None
        total = np.zeros(3)
        alike: dict[tuple[tuple[float, ...], Value], list[str]] = {}
        for weight, value in acts.weights:
            if isinstance(weight, Spin):
                return None
            alike.setdefault((weight.acceleration, value), []).append(weight.elements)
        for (acceleration, value), elements in alike.items():
            size, _, changes = self._courses.course(value)
            if changes or not self._geometry.has_all(elements):
                return None
            total += size * np.array(acceleration) * self._units.acceleration
        return {"acceleration": total.tolist()} if total.any() else None

    def _by_volume(self, acts: Acting) -> list[Table]:
        """Return weights and centrifugal forces of elements, and weights of masses on nodes."""
        if self.gravity(acts) is not None:
            return []
        alike: dict[tuple[Weight | Spin, Value], list[str]] = {}
        for item, value in acts.weights:
            alike.setdefault((item._replace(elements=""), value), []).append(item.elements)
        tables: list[Table] = []
        for (item, value), elements in alike.items():
            size, amplitude, changes = self._courses.course(value)
            course = amplitude, changes
            if not size or not any(item.angular_velocity if isinstance(item, Spin) else item.acceleration):
                continue
            places: list[Table] = [{"body": part} for part in self._parts.names]
            if not self._geometry.has_all(elements):
                group = self._geometry.element_group(elements, "by_volume")
                loaded = self._parts.holding(self._geometry.nodes_of_elements(elements).tolist())
                places = [{"body": part, "group": group} for part in loaded]
            if isinstance(item, Spin):
                omega = np.sqrt(size) * np.array(item.angular_velocity) / self._units.time
                point = (np.array(item.point) * self._units.length).tolist()
                for place in places:
                    table = self._load("centrifugal", place, "angular_velocity", omega.tolist(), course)
                    tables.append(table | {"point": point, "follows": self._step.nonlinear})
                tables += self._of_masses(elements, omega, np.array(point), course)
                continue
            acceleration = size * np.array(item.acceleration) * self._units.acceleration
            for place in places:
                tables.append(self._load("gravity", place, "acceleration", acceleration.tolist(), course))
            for nodes, mass in self._constraints.masses_of(elements):
                for where in self._constraints.places(nodes, "heavy"):
                    tables.append(self._load("nodal", where, "force", (mass * acceleration).tolist(), course))
        return [table | {"name": f"volume_{k}"} for k, table in enumerate(tables, start=1)]

    def _of_masses(
        self, elements: list[str], omega: NDArray[np.float64], point: NDArray[np.float64], course: Course
    ) -> list[Table]:
        """Return centrifugal forces m (|ω|² r − (ω·r) ω) of masses on nodes, at the undeformed places."""
        tables: list[Table] = []
        for nodes, mass in self._constraints.masses_of(elements):
            if self._step.nonlinear:
                raise UnsupportedKeyword(
                    "centrifugal forces on masses, which change as these move, are not supported with NLGEOM"
                )
            for node in nodes:
                r = self._geometry.mesh.points[node] * self._units.length - point
                force = mass * (omega @ omega * r - (omega @ r) * omega)
                for place in self._constraints.places([node], "heavy"):
                    tables.append(self._load("nodal", place, "force", force.tolist(), course))
        return tables
