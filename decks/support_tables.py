"""Supports of a deck as tables of a scenario."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symplex.decks.constraint_tables import ConstraintTables
from symplex.decks.courses import Courses
from symplex.decks.deck import Step
from symplex.decks.reading import UnsupportedKeyword
from symplex.decks.rows import Dof, Rows
from symplex.decks.state import Acting, Value, local_axes
from symplex.decks.units import Units

Table = dict[str, Any]
_PARALLEL = 1e-9  # how far a direction may be from an axis
_AXES = "xyz"


class SupportTables:
    """Writes supports of one step.

    Parameters
    ----------
    step : Step
    units : Units
    courses : Courses
    rows : Rows
        Gets an equation for each support in a direction oblique to the axes.
    constraints : ConstraintTables
    local : dict of int to float64 [3, 3]
        The directions of nodes with a local system.
    """

    def __init__(
        self,
        step: Step,
        units: Units,
        courses: Courses,
        rows: Rows,
        constraints: ConstraintTables,
        local: dict[int, NDArray[np.float64]],
    ):
        self._step, self._units, self._courses = step, units, courses
        self._rows, self._constraints, self._local = rows, constraints, local

    def tables(self, acts: Acting) -> list[Table]:
        """Return tables ``[[support]]`` of what is held, and of what is moved."""
        by_node: dict[int, dict[int, Value]] = {}
        for (node, component), value in acts.supports.items():
            by_node.setdefault(node, {})[component] = value
        alike: dict[tuple[str, str, tuple[float, ...], int, bool], list[int]] = {}
        for node, given in by_node.items():
            given = self._in_global_directions(node, self._not_of_shells(node, given))
            held = "".join(_AXES[c] for c in sorted(given) if given[c].value == 0.0)
            if held:
                alike.setdefault((held, "", (), 0, False), []).append(node)
            for course in {v[1:] for v in given.values() if v.value}:
                amplitude, number, is_velocity = course
                which = {c: v for c, v in given.items() if v.value and v[1:] == course}
                vector = tuple(which[c].value if c in which else 0.0 for c in range(3))
                names = "".join(_AXES[c] for c in sorted(which))
                alike.setdefault((names, amplitude, vector, number, is_velocity), []).append(node)
        tables = []
        for (components, amplitude, vector, number, is_velocity), nodes in alike.items():
            for place in self._constraints.places(nodes, f"held_{components}" if not vector else "moved"):
                table: Table = {**place, "components": components}
                if vector:
                    motion = (
                        self._steady(vector, amplitude, number)
                        if is_velocity
                        else self._courses.motion(np.array(vector) * self._units.length, amplitude, number)
                    )
                    table = {"name": f"motion_{len(tables) + 1}", **table, **motion}
                tables.append(table)
        return tables

    def locked(self, given: Mapping[Dof, float]) -> list[Table]:
        """Return tables ``[[support]]`` of what is held where it is at a time, in the unit of time of the deck."""
        return self._timed(given, "locked", "from")

    def released(self, given: Mapping[Dof, float]) -> list[Table]:
        """Return tables ``[[support]]`` of what is held where it is at the start, until a time."""
        return self._timed(given, "released", "until")

    def _timed(self, given: Mapping[Dof, float], what: str, key: str) -> list[Table]:
        alike: dict[tuple[str, float], list[int]] = {}
        for node in {node: None for node, _ in given}:
            if node in self._local or node in self._rows.means:
                raise UnsupportedKeyword(f"nodes of shells or in a local system that are {what} are not supported")
            for begins in {t for (n, _), t in given.items() if n == node}:
                names = "".join(_AXES[c] for c in range(3) if given.get((node, c)) == begins)
                alike.setdefault((names, begins), []).append(node)
        return [
            {**place, "components": names, key: begins * self._units.time}
            for (names, begins), nodes in alike.items()
            for place in self._constraints.places(nodes, f"{what}_{names}")
        ]

    def _not_of_shells(self, node: int, given: dict[int, Value]) -> dict[int, Value]:
        """Add equations for what holds the mean motion through a shell, and return what else there is."""
        mean = self._rows.means.get(node)
        if mean is None:
            return given
        turns = {c: self._final(v) for c, v in given.items() if c >= 3}
        if turns and node in self._local:
            raise UnsupportedKeyword("rotations of shells in local systems are not supported")
        turn = np.array([turns.get(c, 0.0) for c in range(3, 6)])
        if turn.any() and self._step.nonlinear:
            raise UnsupportedKeyword("rotations of shells are known for small ones only, without NLGEOM")
        for component in turns:
            tangent = mean.tangent(component - 3)
            if tangent is not None:
                self._rows.add({(node, component): 1.0}, float(turn @ tangent / np.linalg.norm(tangent)))
        rest = {c: v for c, v in given.items() if c < 3}
        if mean.is_node:
            return rest
        local = local_axes(self._local, node)
        for component, value in rest.items():
            axis, final = local[component].tolist(), self._final(value)
            for held in zip(*(mean.held(i) for i in range(3)), strict=True):
                factors = {dof: axis[i] * weight for i, terms in enumerate(held) for dof, weight in terms.items()}
                self._rows.add(factors, final)
        return {}

    def _final(self, value: Value) -> float:
        """Return where a support that has an equation is."""
        if value.value and (self._courses.changes or value.is_velocity):
            raise UnsupportedKeyword(
                "a support that moves in a direction oblique to the axes, or of a shell, is not supported"
            )
        return value.value * self._courses.final(value.amplitude, value.step) if value.value else 0.0

    def _in_global_directions(self, node: int, given: dict[int, Value]) -> dict[int, Value]:
        """Return what a node in a local system does in global directions."""
        if node not in self._local or (len(given) == 3 and not any(value.value for value in given.values())):
            return given
        local = local_axes(self._local, node)
        turned: dict[int, Value] = {}
        for component, value in given.items():
            axis = int(np.abs(local[component]).argmax())
            if abs(abs(local[component][axis]) - 1.0) > _PARALLEL:
                self._rows.add({(node, i): float(c) for i, c in enumerate(local[component])}, self._final(value))
                continue
            turned[axis] = value._replace(value=value.value * float(np.sign(local[component][axis])))
        return turned

    def _steady(self, vector: tuple[float, ...], amplitude: str, number: int) -> Table:
        """Return the motion of a support with a constant velocity."""
        if not self._courses.moves or amplitude or number < self._step.number or self._step.ramps:
            raise UnsupportedKeyword("velocities of supports are known in motions only, constant from their start")
        return {"velocity": (np.array(vector) * self._units.velocity).tolist()}
