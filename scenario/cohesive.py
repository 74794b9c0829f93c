"""The table of cohesive bonds between faces of two bodies, and what it describes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from symplex.base.quantities import Name, Text, positive
from symplex.errors import ScenarioError
from symplex.fem.couplings.cohesive import CohesiveFaces
from symplex.fem.energies.energy import IntArray
from symplex.fem.measures.separation import TractionSeparation
from symplex.meshes.joining import nearest_nodes
from symplex.meshes.mesh import Mesh
from symplex.scenario.selections import group_in, size_of
from symplex.scenario.table import BodyName, Entry, Need, needs_of_history

if TYPE_CHECKING:
    from symplex.scenario.building import Builder
    from symplex.scenario.tables import Tables

_NEAR = 1e-6  # of the size of the bodies: how far nodes that lie on each other may be apart by default


class CohesiveTable(Entry):
    """Cohesive bonds between faces of two bodies that lie on each other: glue, or the plane of a crack.

    Faces of both bodies must have the same nodes, at the same places. Bonds open elastically, soften and fail, with
    their fracture energy ([bonds.md](../bonds.md)). They have a block of their own in results, with `damage` and
    `opening`.
    """

    joins = True
    name: Annotated[Name, "Names its block and the columns `stored_NAME` and `work_NAME`."]
    body: BodyName
    group: Annotated[Text | None, "Group of that, whose faces on the boundary are bonded; by default the body."] = None
    to: Annotated[BodyName, "Body to which it is bonded."]
    to_group: Annotated[Text | None, "Group of that; by default the whole body."] = None
    strength: Annotated[float, positive("Pa"), "Largest traction, at which bonds begin to soften."]
    fracture_energy: Annotated[float, positive("J/m²"), "What opening them until they have failed dissipates."]
    stiffness: Annotated[
        float | None,
        positive("Pa/m"),
        "Of intact bonds of a bilinear law; by default 10 T0²/Gc: damage begins at a twentieth of the opening at "
        "failure.",
    ] = None
    law: Annotated[
        Literal["bilinear", "exponential"],
        "Traction over opening: linear to the strength, then linearly down to zero; or e T0 (δ/δc) exp(−δ/δc).",
    ] = "bilinear"
    shear_ratio: Annotated[
        float, positive("1"), "β: the shear strength as a part of the strength; the fracture energy is the same."
    ] = 1.0
    tolerance: Annotated[
        float | None, positive("m"), "How far nodes that lie on each other may be apart; by default 1e-6 of the size."
    ] = None

    def _check(self) -> None:
        if self.body == self.to:
            raise ValueError(f"bonds '{self.body}' to itself; name two bodies")
        if self.law == "exponential" and self.stiffness is not None:
            raise ValueError('stiffness goes with law = "bilinear"; leave it out')
        least = 0.5 * self.strength**2 / self.fracture_energy
        if self.stiffness is not None and self.stiffness <= least:
            raise ValueError(f"stiffness must be above strength²/(2 fracture_energy) = {least:.4g} Pa/m")

    def needs(self) -> Iterable[Need]:
        """History of bonds."""
        yield from needs_of_history("its bonds break")

    def columns(self, tables: Tables) -> Iterable[str]:
        """Return what bonds store and dissipate."""
        return [f"stored_{self.name}", f"work_{self.name}"]

    def add_stiffness(self, world: Builder) -> None:
        """Add its bonds."""
        faces, opposite = bonded_faces(self, world.mesh)
        law = TractionSeparation(self.strength, self.fracture_energy, self.stiffness, self.law)
        world.add(self.name, CohesiveFaces(faces, opposite, world.inertia.positions(), law, self.shear_ratio))


def bonded_faces(table: CohesiveTable, mesh: Mesh) -> tuple[IntArray, IntArray]:
    """Return the faces [m, k] of a body that lie on faces of another one, and the nodes [m, k] of these."""
    own = mesh.faces_of(group_in(mesh, table.body, table.group))
    others = mesh.faces_of(group_in(mesh, table.to, table.to_group))
    if not own or not others:
        empty = table.to if own else table.body
        raise ScenarioError(f"'{empty}' has no faces on its boundary there; name another group, or none.")
    nodes = np.unique(np.concatenate([rows.ravel() for rows in own.values()]))
    targets = np.unique(np.concatenate([rows.ravel() for rows in others.values()]))
    nearest, away = nearest_nodes(mesh.points, nodes, targets)
    size = max(size_of(mesh.points[mesh.nodes_of(name)]) for name in (table.body, table.to))
    tolerance = _NEAR * size if table.tolerance is None else table.tolerance
    facing = np.full(len(mesh.points), -1, np.int32)
    near = away <= tolerance
    facing[nodes[near]] = nearest[near]
    found: dict[str, tuple[IntArray, IntArray]] = {}
    for kind, rows in own.items():
        opposite = facing[rows]
        there = {tuple(sorted(row)) for row in others.get(kind, np.empty((0, 1), np.int32)).tolist()}
        chosen = [k for k, row in enumerate(opposite.tolist()) if tuple(sorted(row)) in there]
        if chosen:
            found[kind] = rows[chosen], opposite[chosen]
    if not found:
        k = int(np.argmin(away))
        at = ", ".join(f"{x:.6g}" for x in mesh.points[nodes[k]])
        raise ScenarioError(
            f"no face of '{table.body}' lies on a face of '{table.to}' with the same nodes within {tolerance:.3g} m; "
            f"the nearest nodes, at ({at}) m, are {away[k]:.3g} m apart. Move a body, give both the same mesh there, "
            "or take a larger tolerance."
        )
    if len(found) > 1:
        raise ScenarioError(
            f"the faces that lie on each other are of several types, {' and '.join(found)}; make a table for each, by "
            "groups."
        )
    return next(iter(found.values()))
