"""Shells of a deck as one layer of solid elements.

Each node becomes two, half the thickness below and above, and a third one between them under the corners of quadratic
elements. What moves a node of the deck is the mean over the thickness, u = (u₁ + u₃)/2, or (−u₁ + 4 u₂ − u₃)/2 where
there are three, and its rotation about an axis e in the shell is the mean one, θ = ½ Σ (e × r)·u/r² of the outer two.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from symplex.decks.deck import Deck, FacePressure, ShellNode
from symplex.decks.layers import Members, Points, Thickness, blocks_of, points_of, rings, with_solids
from symplex.decks.mesh_keywords import SOLID_OF_SHELL
from symplex.errors import MeshError
from symplex.meshes.formats.abaqus import Numbered
from symplex.meshes.formats.abaqus_sets import Surface
from symplex.meshes.shape_functions import SHAPE_FUNCTIONS

_SMOOTH = np.cos(np.radians(20.0))  # of two normals at a node, so that they are of one surface
_SAME = 1e-10  # by which elements may differ in thickness at a node
_BELOW, _ABOVE = 1, 2  # the sides of a solid element that are those of a shell
_SHELLS = "shells"


def with_layers(deck: Deck, numbered: Numbered) -> Numbered:
    """Return the mesh of a deck with shells as solid elements, and note in the deck what their nodes became.

    Raises
    ------
    MeshError
        If elements that share a node are not of one smooth surface, or not equally thick.
    """
    shells = {number for name, (_, t) in blocks_of(numbered) if name in SOLID_OF_SHELL for number in t[:, 0].tolist()}
    if not shells:
        return numbered
    members, points = Members(numbered), points_of(numbered)
    thickness = Thickness(deck, members)
    _check_sections(deck, members, shells)
    normals, sizes, has_middle = _normals(numbered, points, thickness)
    number = int(numbered.ids.max())
    for node, normal in normals.items():
        below, between, above = number + 1, number + 2, number + 3
        number += 3
        half = 0.5 * sizes[node] * normal
        points[below], points[above] = points[node] - half, points[node] + half
        if node in has_middle:
            points[between] = points[node]
        deck.shells[node] = ShellNode(below, between if node in has_middle else None, above)
    _share_velocities(deck, members)
    solids: dict[int, tuple[str, str, list[list[int]]]] = {}
    for place, (name, (_, table)) in enumerate(blocks_of(numbered)):
        if name in SOLID_OF_SHELL:
            solids[place] = *SOLID_OF_SHELL[name], [_solid(deck, row) for row in table.tolist()]
    deck.remarks.append(
        f"{len(shells)} shells are a layer of solid elements; their nodes are half the thickness below and above"
    )
    for step in deck.steps:
        step.pressures = [_of_face(pressure, members, shells) for pressure in step.pressures]
    surfaces = [_of_faces(surface, members, shells) for surface in numbered.surfaces]
    return with_solids(numbered, points, solids)._replace(surfaces=surfaces)


def _check_sections(deck: Deck, members: Members, shells: set[int]) -> None:
    """Raise MeshError if a shell has the section of a solid, or a material with axes, which would be its own."""
    for section in deck.sections:
        if shells.isdisjoint(members.elements(section.elements)):
            continue
        if not section.of_shell:
            raise MeshError(f"{section.where}: '{section.elements}' has shells; they need a *SHELL SECTION.")
        if section.layers or section.offset or section.numbers:
            what = "layers (COMPOSITE)" if section.layers else "an OFFSET" if section.offset else "21 numbers"
            raise MeshError(f"{section.where}: shells with {what} cannot be a layer of solid elements.")
        material = deck.materials.get(section.material.upper())
        if material is not None and (material.stiffness or material.engineering or material.lamina):
            raise MeshError(
                f"{section.where}: shells of materials that are not the same in all directions are not supported."
            )


def _share_velocities(deck: Deck, members: Members) -> None:
    """Give the nodes through the thickness the initial velocities of the nodes of shells."""
    for given in [*deck.velocities]:
        over = [deck.shells[node] for node in members.nodes(given.nodes) if node in deck.shells]
        deck.velocities += [given._replace(nodes=str(node)) for nodes in over for node in nodes if node is not None]


def _normals(numbered: Numbered, points: Points, thickness: Thickness) -> tuple[Points, dict[int, float], set[int]]:
    """Return for nodes of shells the normal, how thick the shell is, and which are corners of quadratic ones."""
    found: dict[int, list[NDArray[np.float64]]] = {}
    sizes: dict[int, float] = {}
    has_middle: set[int] = set()
    rows = [row for name, (_, t) in blocks_of(numbered) if name in SOLID_OF_SHELL for row in t.tolist()]
    for element, *nodes in sorted(rows):
        corners, middles = rings(nodes)
        has_middle |= {*corners} if middles else set()
        for node, normal in zip(
            nodes, _normals_of(element, np.array([points[n] for n in nodes]), len(corners)), strict=True
        ):
            size = thickness.of(element, node)
            if abs(sizes.setdefault(node, size) - size) > _SAME:
                raise MeshError(f"elements at node {node} are differently thick; that is not supported.")
            if node in found and found[node][0] @ normal < _SMOOTH:
                raise MeshError(f"shells meet at node {node} at an angle; that is not supported.")
            found.setdefault(node, []).append(normal)
    means = {node: np.sum(normals, axis=0) for node, normals in found.items()}
    return {node: mean / np.linalg.norm(mean) for node, mean in means.items()}, sizes, has_middle


def _normals_of(element: int, x: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Return the normals [k, 3] of a shell at its nodes x [k, 3], of which n are corners.

    Raises
    ------
    MeshError
        If it has none.
    """
    kind = {3: "triangle", 4: "quad"}[n] + ("" if len(x) == n else str(len(x)))
    functions = SHAPE_FUNCTIONS[kind]
    _, slopes = functions(functions.nodes)
    along = np.einsum("gai,aj->gij", slopes, x)
    normals = np.cross(along[:, 0], along[:, 1])
    sizes = np.linalg.norm(normals, axis=1, keepdims=True)
    if not sizes.all():
        raise MeshError(f"the shell of element {element} has no normal at one of its nodes.")
    return normals / sizes


def _solid(deck: Deck, row: list[int]) -> list[int]:
    """Return number and nodes of the solid element of a shell."""
    number, *nodes = row
    corners, middles = rings(nodes)
    found = [number]
    for ring in (corners, middles):
        found += [deck.shells[node].below for node in ring]
        found += [deck.shells[node].above for node in ring]
    between = [deck.shells[node].between for node in corners if middles]
    return found + [node for node in between if node is not None]


def _of_face(pressure: FacePressure, members: Members, shells: set[int]) -> FacePressure:
    """Return a pressure on shells, which acts along their normal, as one on the lower side of solid elements."""
    on_shells = members.all_among(pressure.elements, shells, _SHELLS)
    if pressure.side is None:
        return pressure._replace(side=_BELOW) if on_shells else pressure
    if pressure.side and on_shells:
        raise MeshError(f"a load P{pressure.side} on the shells '{pressure.elements}' is not supported.")
    return pressure


def _of_faces(surface: Surface, members: Members, shells: set[int]) -> Surface:
    """Return a surface with sides of shells as one with those of solid elements."""
    if surface.of_nodes:
        return surface
    items: list[tuple[str, str]] = []
    for item, side in surface.items:
        if members.all_among(item, shells, _SHELLS):
            side = {"SNEG": f"S{_BELOW}", "SPOS": f"S{_ABOVE}"}.get(side, side)
            if side[:1] != "S" or not side[1:].isdecimal():
                raise MeshError(f"surface '{surface.name}' names no sides of shells.")
        items.append((item, side))
    return replace(surface, items=items)
