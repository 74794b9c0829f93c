"""The table of temperatures: bodies, beams, shells and trusses that are warmer or colder than where they fit."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from symplex.base.quantities import FilePath, Name, Quantity, Text, number, refused
from symplex.errors import ScenarioError
from symplex.fem.actions.thermal_load import ThermalLoad
from symplex.fem.energies.energy import Array, IntArray
from symplex.meshes.mesh import Mesh
from symplex.scenario.actions import History, needs_of_history
from symplex.scenario.definitions import check_formula, formula_at
from symplex.scenario.prescribed import factor, read_numbers
from symplex.scenario.selections import group_in
from symplex.scenario.table import BodyName, Entry, Need, one_of

if TYPE_CHECKING:
    from symplex.scenario.building import Builder
    from symplex.scenario.tables import Tables

EXPANSION = number("1/K")
EXPANDS = "α, of `[[temperature]]`: what is free stretches by 1 + α ΔT."
_LEAST = -0.5  # of a thermal strain, far beyond what materials bear


def _change(value: Any) -> float | str:
    """Return a number, or a formula of x, y and z."""
    if isinstance(value, str):
        check_formula(value, "xyz")
        return value
    try:
        return number("K").check(value)
    except ValueError:
        raise refused("a number (K) or a formula of x, y and z, as '100 - 20*x'", value, "K") from None


class TemperatureTable(Entry):
    """A temperature field: a change from the temperature at which a body fits without stress, the same from the start.

    With the `expansion` α of the material ([temperatures.md](../temperatures.md)). Several tables of a body add up.
    With a `history`, of bodies only, the change is a load with its work.
    """

    takes_rotations = True
    name: Annotated[Name | None, "Names the column `work_NAME` of its work; required with `history`."] = None
    body: BodyName
    group: Annotated[Text | None, "Group of nodes or elements; by default the whole body."] = None
    change: Annotated[
        float | str | None,
        Quantity(_change, "K", "number or formula of x, y, z"),
        'ΔT: a number, or a formula of the place at the start in m, such as `"100 - 20*x"`.',
    ] = None
    file: Annotated[
        FilePath | None,
        "ΔT of nodes instead: rows of a node and K, with commas between. Nodes have the numbers of the mesh file, or "
        "are counted from 0; all others have none.",
    ] = None
    history: Annotated[History | None, "Factor over time; by default 1 from the start."] = None

    def _check(self) -> None:
        one_of(self, ["change", "file"], "change of temperature")
        if self.history is not None and self.name is None:
            raise ValueError("has a history and no name, which names the column work_NAME")

    def columns(self, tables: Tables) -> Iterable[str]:
        """Its work, if it changes with time."""
        return [] if self.history is None else [f"work_{self.name}"]

    def needs(self) -> Iterable[Need]:
        """Loads, where it changes with time."""
        yield from needs_of_history(self.history)

    def changes(self, mesh: Mesh, body: IntArray, group: str | None, folder: Path) -> Array:
        """Return ΔT [n] in K at the nodes of a mesh, given those of the body, and its group if not all is meant."""
        nodes = body if group is None else mesh.nodes_of(group)
        out = np.zeros(len(mesh.points))
        if isinstance(self.change, str):
            out[nodes] = formula_at(self.change, dict(zip("xyz", mesh.points[nodes].T.tolist(), strict=True)))
        elif self.change is not None:
            out[nodes] = self.change
        else:
            out[nodes] = self._read(mesh, body, nodes, folder)
        return out

    def _read(self, mesh: Mesh, body: IntArray, nodes: IntArray, folder: Path) -> Array:
        """Return ΔT of given nodes of the body by the file, which names them by number."""
        assert self.file is not None
        rows = np.array(read_numbers(folder / self.file, self.file, 2, "node and K"))
        given = mesh.point_numbers
        numbered = given is not None and given[body].any()  # which other bodies may be alone
        numbers = given[nodes] if given is not None and numbered else nodes - body[0]
        order = np.argsort(numbers)
        at = np.minimum(np.searchsorted(numbers[order], rows[:, 0]), len(nodes) - 1)
        unknown = np.flatnonzero(numbers[order][at] != rows[:, 0])
        if len(unknown):
            where = f"'{self.body}'" if self.group is None else f"group '{self.group}' of '{self.body}'"
            raise ScenarioError(f"{self.file}: there is no node {rows[unknown[0], 0]:g} in {where}.")
        places, count = np.unique(at, return_counts=True)
        if (count > 1).any():
            raise ScenarioError(f"{self.file}: node {numbers[order][places[count > 1][0]]} is given twice.")
        out = np.zeros(len(nodes))
        out[order[at]] = rows[:, 1]
        return out

    def in_all(self, mesh: Mesh, folder: Path) -> Array:
        """Return ΔT [n] in K at the nodes of the mesh of all bodies."""
        group = None if self.group is None else group_in(mesh, self.body, self.group)
        return self.changes(mesh, mesh.nodes_of(self.body), group, folder)

    def add_stiffness(self, world: Builder) -> None:
        """Check that something expands by it, as energies take it from `thermal_change`."""
        materials = materials_of(world, self.body)
        if not any(one.expansion for one in materials):
            raise ScenarioError(f"'{self.body}' has no material with an expansion (1/K), by which a temperature acts.")
        if any(body.name == self.body and body.begins_later for body in world.tables.body):
            raise ScenarioError(f"'{self.body}' begins later, in its shape of then; give it no temperature.")
        if self.history is None:
            return
        if self.body not in world.inertia.parts:
            raise ScenarioError(
                f"'{self.body}' is no body of solid elements, of which alone temperatures change with time; leave "
                "history out."
            )
        if any(part.material.is_plastic for part in world.inertia.parts[self.body]):
            raise ScenarioError(
                f"'{self.body}' is of a metal that flows, whose temperature is given once for all; leave history out."
            )

    def add_forces(self, world: Builder) -> None:
        """Add the load of what changes with time."""
        if self.history is None:
            return
        change = self.in_all(world.mesh, world.folder)
        of_parts = {
            part.name: thermal_strain(part.material.expansion, change) for part in world.inertia.parts[self.body]
        }
        strains = {name: strain for name, strain in of_parts.items() if strain is not None}
        over = factor(self.history, world.folder)
        for part, strain in strains.items():
            solid = world.all_solids[part]
            taken = [load for load in world.loads.values() if isinstance(load, ThermalLoad) and load.solid is solid]
            if taken:
                raise ScenarioError(f"'{self.body}' has another temperature with a history; give one only.")
            name = str(self.name) if len(strains) == 1 else f"{self.name}.{part.removeprefix(f'{self.body}.')}"
            world.add(name, ThermalLoad(solid, strain, over))


def materials_of(world: Builder, body: str) -> list[Any]:
    """Return the materials of a body, truss, beam or shell."""
    tables = world.tables
    if body in world.inertia.parts:
        return [part.material for part in world.inertia.parts[body]]
    found: list[Any] = [table.material for table in tables.truss if table.name == body]
    for table in (*tables.beam, *tables.shell):
        found += table.materials if table.name == body else []
    return [one for one in found if one is not None]


def thermal_change(tables: Tables, body: str, mesh: Mesh, folder: Path, own: bool = False) -> Array | None:
    """Return ΔT [n] in K of a body at the nodes of the mesh of all bodies, or its own; None if nothing is given."""
    found = None
    for table in tables.temperature:
        if table.body == body and table.history is None:
            every = np.arange(len(mesh.points), dtype=np.int32)
            change = table.changes(mesh, every, table.group, folder) if own else table.in_all(mesh, folder)
            found = change if found is None else found + change
    return found


def thermal_strain(expansion: float | None, change: Array | None) -> Array | None:
    """Return α ΔT [n], or None if nothing expands."""
    if not expansion or change is None:
        return None
    strain = expansion * change
    if strain.min() <= _LEAST:
        raise ScenarioError(
            f"the temperature changes by {change[int(strain.argmin())]:g} K, by which a material with an expansion of "
            f"{expansion:g}/K would shrink by half or more."
        )
    return strain
