"""Linear constraints of a deck as tables of a scenario, with point masses for nodes that belong to no element."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from symplex.decks.deck import Pretension
from symplex.decks.discrete import Discrete
from symplex.decks.geometry import DeckGeometry
from symplex.decks.parts import BODY, Parts
from symplex.decks.reading import UnsupportedKeyword
from symplex.decks.rows import IMAGINARY, TURNS, Dof, Rows
from symplex.decks.units import Units

Table = dict[str, Any]
IMAGE = "imaginary_part"
_ANY_MASS = 1.0  # kg, of nodes of no element, in static steps, which have nothing to do with it
_LITTLE_MASS = 1e-5  # in motions, of the mass of the body to the next node
_STIFF = 1e5  # of a constraint, as a multiple of E h
_STIFF_WITH_LITTLE_MASS = 1e3  # where frequencies of nodes with little mass would lose those of the body in rounding
_AXES = "xyz"
_COMPONENTS = ("x", "y", "z", "rx", "ry", "rz")
_NONE: Mapping[str, set[int]] = MappingProxyType({})


class ConstraintTables:
    """Where the nodes of a deck are in a scenario, and the tables of what constrains them.

    Parameters
    ----------
    rows : Rows
    discrete : Discrete
    geometry : DeckGeometry
    units : Units
    parts : Parts
    pretensions : sequence of Pretension
    framed : mapping of str to set of int
        By name of beams and shells their nodes.
    """

    def __init__(
        self,
        rows: Rows,
        discrete: Discrete,
        geometry: DeckGeometry,
        units: Units,
        parts: Parts,
        pretensions: Sequence[Pretension] = (),
        framed: Mapping[str, set[int]] = _NONE,
    ):
        self._framed = framed
        self._rows, self._discrete, self._geometry, self._units = rows, discrete, geometry, units
        self._parts, self._pretensions = parts, pretensions
        self._drawing = [self._node_of(one) for one in pretensions]

    @property
    def loose(self) -> list[int]:
        """The nodes of constraints, springs, dashpots and masses that belong to no element of a body."""
        inside = self._geometry.in_elements
        used = {node for node in self._rows.nodes if node < IMAGINARY} | self._discrete.nodes | {*self._drawing}
        used = used.difference(*self._framed.values())
        return sorted(node for node in used if node >= len(inside) or not inside[node])

    def _name(self, node: int) -> str:
        if node in self._rows.turns:
            return f"turn_{node - len(self._geometry.numbers) + 1}"
        return f"node_{self._geometry.numbers[node]}"

    def places(self, nodes: Collection[int], name: str) -> list[Table]:
        """Return the keys ``body`` and ``group`` of nodes: of each part together, and of each node of no element."""
        image = [node - IMAGINARY for node in nodes if node >= IMAGINARY]
        if image:
            own = self.places([node for node in nodes if node < IMAGINARY], name)
            return own + [{**place, "body": IMAGE} for place in self.places(image, name)]
        loose, left = {*self.loose} & {*nodes}, {*nodes}
        found: list[Table] = []
        for body, own in self._framed.items():
            if of_body := left & own:
                found.append({"body": body, "group": self._geometry.point_group(of_body, name)})
                left -= own
        inside = sorted(node for node in left - loose if self._geometry.in_elements[node])
        if inside:
            group = self._geometry.point_group(inside, name)
            found += [{"body": part, "group": group} for part in self._parts.holding(inside)]
        return found + [{"body": self._name(node)} for node in sorted(loose)]

    def masses(self, density: float | None) -> list[Table]:
        """Return tables ``[[point_mass]]``: one for each node of no element, and those that are on nodes of the body.

        Parameters
        ----------
        density : float or None
            In kg/m³ in motions, in which nodes have masses that are little next to those of the body.
        """
        points, turns = self._geometry.mesh.points, self._rows.turns
        given: dict[int, float] = {}
        for on, mass in self._discrete.masses:
            for node, _ in on:
                given[node] = given.get(node, 0.0) + mass * self._units.mass
        inside = self._geometry.mesh.points[self._geometry.in_elements]
        own = _ANY_MASS if density is None else _LITTLE_MASS * density * self._spacing(inside) ** 3
        if not own and given:  # of no material
            own = _LITTLE_MASS * min(given.values())
        loose = self.loose
        tables: list[Table] = [
            {
                "name": self._name(node),
                "mass": given.pop(node, own),
                "position": ((turns[node] if node in turns else points[node]) * self._units.length).tolist(),
            }
            for node in loose
        ]
        alike: dict[float, list[int]] = {}
        for node, mass in given.items():
            alike.setdefault(mass, []).append(node)
        for k, (mass, nodes) in enumerate(alike.items(), start=1):
            for place in self.places(nodes, "heavy"):
                of = "" if place["body"] == BODY else f"_of_{place['body']}"
                tables.append({"name": f"mass_{k}{of}", **place, "mass": mass})
                if self._rows.doubled:
                    tables.append({"name": f"imaginary_mass_{k}", **place, "body": IMAGE, "mass": mass})
        return tables

    @property
    def has_points(self) -> bool:
        """Whether there are point masses, on which gravity would act as well."""
        return bool(self.loose or self._discrete.masses or self._framed)

    def masses_of(self, elements: list[str]) -> list[tuple[list[int], float]]:
        """Return the nodes of masses that are among some elements, with the mass of each node in kg."""
        chosen = {*self._geometry.elements(elements).tolist()}
        return [
            (nodes, mass * self._units.mass)
            for on, mass in self._discrete.masses
            if (nodes := [node for node, number in on if number in chosen])
        ]

    def held(self, held: Collection[Dof], moves: bool) -> list[Table]:
        """Return supports of what no equation and no support of the deck holds of nodes of no element.

        In motions dashpots act on nodes, which then are free.
        """
        used = {dof for row in self._rows.factors for dof in row} | {*held} | self._discrete.dofs
        used |= {(node, 0) for node in self._drawing}
        if moves:
            used |= {
                (n, k) for _, pairs, _ in self._discrete.dashpots for pair in pairs for n in pair for k in range(3)
            }
        loose = [node for node in self.loose if node not in self._rows.followers]
        free = {node: "".join(a for i, a in enumerate(_AXES) if (node, i) not in used) for node in loose}
        return [{"body": self._name(node), "components": axes} for node, axes in free.items() if axes]

    def tables(self, young: float | None, static: bool) -> list[Table]:
        """Return tables ``[[constraint]]``, one for equations of each number of terms.

        Parameters
        ----------
        young : float or None
            The largest Young's modulus of the deck in Pa.
        static : bool
            Whether masses don't matter.
        """
        tables: list[Table] = []
        stiffness = self.stiffness(young, static)
        for count in sorted({len(row) for row in self._rows.factors}):
            which = [k for k, row in enumerate(self._rows.factors) if len(row) == count]
            table: Table = {"name": f"equations_of_{count}"}
            lengths = [self._length(self._rows.factors[k]) for k in which]
            table["equations"] = [self._equation(self._rows.factors[k], x) for k, x in zip(which, lengths, strict=True)]
            values = [self._rows.values[k] * x for k, x in zip(which, lengths, strict=True)]
            table |= {"values": values} if any(values) else {}
            table |= {} if stiffness is None else {"stiffness": stiffness}
            tables.append(table)
        for name, rows, k in self._discrete.linear:  # the energy of a spring is that of an equation
            stiffness = k * self._units.force / self._units.length
            equations = [self._equation(row, self._units.length) for row in rows]
            tables.append({"name": name, "equations": equations, "stiffness": stiffness})
        return tables

    def stiffness(self, young: float | None, static: bool) -> float | None:
        """Return the stiffness in N/m of equations."""
        factor = _STIFF if static or not self.loose else _STIFF_WITH_LITTLE_MASS
        if self._framed and not self._parts.names:  # thin ones are less stiff than E h
            factor = _STIFF_WITH_LITTLE_MASS
        return None if young is None else factor * young * self._size()

    def _node_of(self, one: Pretension) -> int:
        """Return the node of a pretension section, which has to be one of no element."""
        nodes = self._geometry.nodes(one.node)
        if len(nodes) != 1 or self._geometry.in_elements[nodes[0]]:
            raise UnsupportedKeyword(f"the node '{one.node}' of a pretension section must be one of no element")
        return int(nodes[0])

    def pretensions(self, young: float | None, static: bool) -> list[Table]:
        """Return tables ``[[pretension]]``."""
        stiffness = self.stiffness(young, static)
        found: list[Table] = []
        for k, (one, node) in enumerate(zip(self._pretensions, self._drawing, strict=True), start=1):
            nodes, name = self._geometry.surface_nodes(one.surface), f"pretension_{k}"
            parts = self._parts.holding(nodes)
            if len(parts) != 1:
                raise UnsupportedKeyword(f"the surface '{one.surface}' of a pretension section is of several bodies")
            group = self._geometry.point_group(nodes, name)
            normal = self._normal(one) if one.normal is None else one.normal
            table = {"name": name, "body": parts[0], "group": group, "node": self._name(node), "normal": [*normal]}
            found.append(table | ({} if stiffness is None else {"stiffness": stiffness}))
        return found

    def _normal(self, one: Pretension) -> list[float]:
        """Return the mean normal of the surface of a pretension section."""
        points = self._geometry.mesh.points
        faces = self._geometry.faces_of_surface(one.surface)
        total = np.zeros(3)
        for face in faces:
            corners = points[list(face[: 3 if len(face) in (3, 6) else 4])]
            total += np.cross(corners[1] - corners[0], corners[2] - corners[0])
            total += np.cross(corners[2] - corners[0], corners[-1] - corners[0])
        if not total.any():
            raise UnsupportedKeyword("a pretension section of a surface of nodes, or of no direction, needs a normal")
        return (total / np.linalg.norm(total)).tolist()

    def couplings(self) -> list[Table]:
        """Return tables ``[[coupling]]`` of points that move with nodes of beams and shells."""
        found: list[Table] = []
        for point, node in self._rows.followers.items():
            to = self._place(node)
            found.append(
                {"name": f"arm_{len(found) + 1}", "body": self._name(point), "to": to["body"], "to_group": to["group"]}
            )
        return found

    def springs(self) -> list[Table]:
        """Return tables ``[[spring]]`` of springs that may turn."""
        return [
            {
                "name": f"{name}_{number}",
                **self._place(a),
                **{f"to_{key}": value for key, value in self._place(b).items()},
                **self._law(k, law),
            }
            for name, pairs, k, law in self._discrete.springs
            for number, (a, b) in enumerate(pairs, start=1)
        ]

    def _law(self, stiffness: float, law: Table) -> Table:
        """Return the keys of the law of a spring."""
        units = self._units
        if "table" not in law:
            return {"stiffness": stiffness * units.force / units.length, **law}
        elongations, forces = zip(*law["table"], strict=True)
        return {"elongations": [e * units.length for e in elongations], "forces": [f * units.force for f in forces]}

    def dashpots(self) -> list[Table]:
        """Return tables ``[[dashpot]]``."""
        return [
            {
                "name": f"{name}_{number}",
                "between": [self._place(a), self._place(b)],
                "viscosity": c * self._units.force / self._units.velocity,
            }
            for name, pairs, c in self._discrete.dashpots
            for number, (a, b) in enumerate(pairs, start=1)
        ]

    def _equation(self, row: dict[Dof, float], length: float) -> list[Table]:
        """Return the terms of an equation; rotations are times a length in m."""
        return [
            {**self._place(node), "component": _COMPONENTS[i], "factor": c * (length if i >= TURNS else 1.0)}
            for (node, i), c in row.items()
            if c
        ]

    def _length(self, row: dict[Dof, float]) -> float:
        """Return the unit of length in m; the size of elements, of equations of rotations alone, which have none."""
        return self._size() if all(i >= TURNS for _, i in row) else self._units.length

    def _place(self, node: int) -> Table:
        known = node % IMAGINARY
        (place,) = self.places([node], f"node_{self._geometry.numbers[known]}" if known not in self._rows.turns else "")
        return place

    def _size(self) -> float:
        """Return h in m, so that elements have a stiffness of the order of E h: of thin layers what it is across."""
        points = self._geometry.mesh.points[self._geometry.in_elements]
        if not len(points) and self._framed:
            points = self._geometry.mesh.points[sorted(set[int]().union(*self._framed.values()))]
        across = self._spacing(points)
        if self._rows.layered:
            return self._spacing(points[points[:, 2] == 0.0]) ** 2 / across
        if self._rows.means:
            below = [mean.below for mean in self._rows.means.values()]
            return float(np.sqrt(across * self._spacing(self._geometry.mesh.points[below])))
        return across

    def _spacing(self, points: NDArray[np.float64]) -> float:
        """Return the mean distance in m of points [n, 3] in the unit of the deck to the next one."""
        if len(points) < 2:
            return self._units.length
        return float(KDTree(points).query(points, 2)[0][:, 1].mean()) * self._units.length
