"""Linear constraints of a deck as tables of a scenario, with point masses for nodes that belong to no element."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from scipy.spatial import KDTree

from symplex.decks.constraints import Dof, Rows
from symplex.decks.geometry import DeckGeometry
from symplex.decks.units import Units

Table = dict[str, Any]
BODY = "part"
_ANY_MASS = 1.0  # kg, of nodes of no element, in static steps only
_STIFF = 1e5  # of a constraint, as a multiple of E h
_AXES = "xyz"


class ConstraintTables:
    """Where the nodes of a deck are in a scenario, and the tables of what constrains them.

    Parameters
    ----------
    rows : Rows
    geometry : DeckGeometry
    units : Units
    """

    def __init__(self, rows: Rows, geometry: DeckGeometry, units: Units):
        self._rows, self._geometry, self._units = rows, geometry, units

    @property
    def loose(self) -> list[int]:
        """The nodes of constraints that belong to no element."""
        inside = self._geometry.in_elements
        return sorted(node for node in self._rows.nodes if node >= len(inside) or not inside[node])

    def _name(self, node: int) -> str:
        if node in self._rows.turns:
            return f"turn_{node - len(self._geometry.numbers) + 1}"
        return f"node_{self._geometry.numbers[node]}"

    def places(self, nodes: Collection[int], name: str) -> list[Table]:
        """Return the keys ``body`` and ``group`` of nodes: of the part together, and of each node of no element."""
        loose = {*self.loose} & {*nodes}
        inside = [node for node in nodes if node not in loose and self._geometry.in_elements[node]]
        found: list[Table] = []
        if inside:
            found.append({"body": BODY, "group": self._geometry.point_group(inside, name)})
        return found + [{"body": self._name(node)} for node in sorted(loose)]

    def masses(self) -> list[Table]:
        """Return a table ``[[point_mass]]`` for each node of no element."""
        points, turns = self._geometry.mesh.points, self._rows.turns
        return [
            {
                "name": self._name(node),
                "mass": _ANY_MASS,
                "position": ((turns[node] if node in turns else points[node]) * self._units.length).tolist(),
            }
            for node in self.loose
        ]

    def held(self, held: Collection[Dof]) -> list[Table]:
        """Return supports of what no equation and no support of the deck holds of nodes of no element."""
        used = {dof for row in self._rows.factors for dof in row} | {*held}
        free = {node: "".join(a for i, a in enumerate(_AXES) if (node, i) not in used) for node in self.loose}
        return [{"body": self._name(node), "components": axes} for node, axes in free.items() if axes]

    def tables(self, young: float | None) -> list[Table]:
        """Return tables ``[[constraint]]``, one for equations of each number of terms.

        Parameters
        ----------
        young : float or None
            The largest Young's modulus of the deck in Pa.
        """
        tables: list[Table] = []
        stiffness = None if young is None else _STIFF * young * self._spacing()
        for count in sorted({len(row) for row in self._rows.factors}):
            which = [k for k, row in enumerate(self._rows.factors) if len(row) == count]
            table: Table = {"name": f"equations_of_{count}"}
            table["equations"] = [
                [
                    {**self._place(node), "component": _AXES[i], "factor": factor}
                    for (node, i), factor in self._rows.factors[k].items()
                ]
                for k in which
            ]
            values = [self._rows.values[k] * self._units.length for k in which]
            table |= {"values": values} if any(values) else {}
            table |= {} if stiffness is None else {"stiffness": stiffness}
            tables.append(table)
        return tables

    def _place(self, node: int) -> Table:
        (place,) = self.places([node], f"node_{self._geometry.numbers[node]}" if node not in self._rows.turns else "")
        return place

    def _spacing(self) -> float:
        """Return the mean distance in m of nodes to the next one."""
        points = self._geometry.mesh.points[self._geometry.in_elements]
        return float(KDTree(points).query(points, 2)[0][:, 1].mean()) * self._units.length
