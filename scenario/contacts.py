"""The table of contact between bodies, and what it describes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, model_validator

from symplex.contact.bodies import BodyContact
from symplex.contact.output import MOST_PAIRS
from symplex.contact.stiffness import contact_stiffness
from symplex.contact.surfaces import Surface
from symplex.errors import InvalidSystem, ScenarioError
from symplex.fem.energy import Array
from symplex.fem.solids.constitutive import Material
from symplex.fem.solids.solid import Solid
from symplex.meshes.mesh import Mesh
from symplex.scenario.friction import FrictionTable
from symplex.scenario.joined_parts import joined_cells
from symplex.scenario.quantities import Name, Quantity, check_text, not_negative, positive, shown


def _bodies(value: Any) -> str | tuple[str, ...]:
    """Return "all", or the names of bodies."""
    if isinstance(value, str):
        if value != "all":
            raise ValueError(f'is {shown(value)}, must be "all" or a list of names')
        return value
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(f'is {shown(value)}, must be "all" or a list of names')
    names = tuple(check_text(name) for name in value)
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"names {shown(name)} twice; self = true is contact with itself")
    return names


class ContactTable(FrictionTable):
    """Contact between bodies, and of bodies with themselves."""

    name: Name = "contact"
    bodies: Annotated[Literal["all"] | tuple[str, ...], Quantity(_bodies)] = "all"
    with_itself: bool = Field(False, alias="self")
    law: Literal["penalty", "barrier"] = "penalty"
    stiffness: Annotated[float | None, positive("N/m³")] = None
    factor: Annotated[float | None, positive("1")] = None
    speed: Annotated[float | None, not_negative("m/s")] = None
    distance: Annotated[float | None, positive("m")] = None
    margin: Annotated[float | None, positive("m")] = None

    @model_validator(mode="after")
    def _check(self) -> ContactTable:
        if self.stiffness is not None:
            for key in ("factor", "speed"):
                if getattr(self, key) is not None:
                    raise ValueError(f"{key} is for the stiffness that follows from the materials; one is given")
        if self.bodies != "all" and len(self.bodies) == 1 and not self.with_itself:
            raise ValueError(
                f"bodies names one body only; name another that '{self.bodies[0]}' may touch, or let it be in contact "
                "with itself (self = true)"
            )
        return self

    def among(self, bodies: list[str]) -> list[str]:
        """Return the names of the bodies that are meant, given those of all."""
        return [name for name in bodies if self.bodies == "all" or name in self.bodies]

    def pairs(self, bodies: list[str]) -> list[tuple[str, str]]:
        """Return the names of the bodies that may touch each other, given those of all; some may be no bodies."""
        names = self.among(bodies)
        return [*combinations(names, 2), *((name, name) for name in names if self.with_itself)]

    def frictions(self, bodies: list[str]) -> dict[str, tuple[str, str] | None]:
        """Return what frictions are called and between which bodies they are: one for each pair, or one of them all.

        So the history tells the work of each, unless pairs are many.
        """
        if not self.has_friction:
            return {}
        pairs = self.pairs(bodies)
        if len(pairs) > MOST_PAIRS:
            return {f"friction_{self.name}": None}
        return {f"friction_{one}_{other}": (one, other) for one, other in pairs}


def body_contact(table: ContactTable, mesh: Mesh, bodies: Mapping[str, Mapping[str, Solid]], v: Array) -> BodyContact:
    """Return the contact that a table describes.

    Parameters
    ----------
    table : ContactTable
    mesh : Mesh
        Of all bodies, as they are at the start.
    bodies : mapping of str to (mapping of str to Solid)
        The strain energies of all bodies, by name.
    v : float64 [n, 3]
        The velocities of the nodes at the start in m/s.

    Raises
    ------
    ScenarioError
        If the distance is above an edge, or bodies overlap or touch at the start.
    MeshError
        If a body has no surface.
    """
    names = table.among(list(bodies))
    surface = Surface.join([_surface_of(mesh, name, bodies[name]) for name in names])
    stiffness = table.stiffness
    try:
        if stiffness is None:
            velocities = {name: v[mesh.nodes_of(name)] for name in names}
            speed = _closing_speed(table, velocities) if table.speed is None else table.speed
            materials = [_softest(bodies[name]) for name in names]
            stiffness = contact_stiffness(surface, materials, table.law, table.distance, speed)
            stiffness *= 1.0 if table.factor is None else table.factor
        contact = BodyContact(
            surface,
            stiffness,
            law=table.law,
            distance=table.distance,
            self_contact=table.with_itself,
            margin=table.margin,
        )
        contact.check_start(mesh.points)
    except InvalidSystem as error:
        raise ScenarioError(str(error).removeprefix("BodyContact: ")) from None
    return contact


def _surface_of(mesh: Mesh, name: str, parts: Mapping[str, Solid]) -> Surface:
    """Return the boundary of the elements of a body, whatever faces its mesh has besides."""
    cells = joined_cells(parts)
    rows = {kind: np.arange(len(nodes), dtype=np.int32) for kind, nodes in cells.items()}
    return Surface.of(Mesh(mesh.points, cells, {name: rows}), name)


def _softest(parts: Mapping[str, Solid]) -> Material:
    """Return the material of a body that yields first, which says how stiff contact must be."""
    return min((solid.material for solid in parts.values()), key=lambda material: material.young)


def _closing_speed(table: ContactTable, velocities: Mapping[str, Array]) -> float:
    """Return a bound in m/s of the speeds at which nodes of two bodies that may touch approach each other.

    Of each body the velocities of its nodes [n, 3] are given, by name.
    """
    means = {name: v.mean(axis=0) for name, v in velocities.items()}
    spreads = {name: float(np.linalg.norm(v - means[name], axis=1).max()) for name, v in velocities.items()}
    return max(
        float(np.linalg.norm(means[one] - means[other])) + spreads[one] + spreads[other]
        for one, other in table.pairs(list(velocities))
    )
