"""The table of contact between bodies, and what it describes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, cast

import numpy as np

from symplex.base.arguments import declared
from symplex.base.columns import AXES
from symplex.base.quantities import Key, Name, Quantity, check_text, not_negative, positive, refused, shown
from symplex.contact.bodies import BodyContact
from symplex.contact.exposed import ExposedSurface
from symplex.contact.kernel_friction import SurfaceContact
from symplex.contact.offset import SHARE as SHARE_TOUCHING, offset_contact
from symplex.contact.output import MOST_PAIRS
from symplex.contact.segments import SegmentContact, segment_depth
from symplex.contact.stiffness import SHARE, contact_stiffness
from symplex.contact.surfaces import Surface
from symplex.errors import InvalidSystem, ScenarioError
from symplex.fem.couplings.interpolation import ChangingInterpolatedEnergy, Interpolation
from symplex.fem.energies.energy import Array, IntArray
from symplex.fem.energies.inelastic import Inelastic
from symplex.fem.solids.constitutive import Material
from symplex.fem.solids.eroding import Eroding
from symplex.fem.solids.solid import Solid
from symplex.meshes.mesh import Mesh
from symplex.scenario.friction import FrictionTable
from symplex.scenario.joined_parts import joined_cells
from symplex.scenario.table import Need

if TYPE_CHECKING:
    from symplex.scenario.building import Builder
    from symplex.scenario.tables import Tables


def _bodies(value: Any) -> str | tuple[str, ...]:
    """Return "all", or the names of bodies."""
    if isinstance(value, str):
        if value != "all":
            raise refused('"all" or a list of names', value)
        return value
    if not isinstance(value, list | tuple) or not value:
        raise refused('"all" or a list of names', value)
    names = tuple(check_text(name) for name in value)
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"names {shown(name)} twice; self = true is contact with itself")
    return names


class ContactTable(FrictionTable):
    """Contact between the surfaces of bodies, and of bodies with themselves; without any key, between all.

    Surfaces repel each other where they are closer than a distance; energies and both momenta are conserved as an
    integrator conserves them without it ([body-contact.md](../body-contact.md)). Bodies must not overlap or touch at
    the start, unless forces begin where they touch. Interpenetration in a step is an error with its place.
    """

    of_all = False
    adds_energy = True
    takes_rotations = True
    takes_reduced = True
    name: Annotated[Name, "Names its energy."] = "contact"
    bodies: Annotated[
        Literal["all"] | tuple[str, ...],
        Quantity(_bodies, kind='`"all"`, or list of names'),
        "Each may touch each other one; two bodies are in one table only.",
    ] = "all"
    with_itself: Annotated[bool, "Each may touch itself as well, as what folds does.", Key("self")] = False
    integration: Annotated[
        Literal["pairs", "segments"],
        'Forces of pairs of vertices, edges and triangles; or `"segments"`: pressures integrated over common '
        "parts of faces, which pass the patch test ([how](../body-contact.md#integrated-contact)), over the "
        "surface of the body that `bodies` names first, or of the finer one; no barrier.",
    ] = "pairs"
    begins: Annotated[
        Literal["distance", "touch"],
        'Forces begin at `distance`; or `"touch"`: where surfaces touch, for parts modelled face to face, '
        "stress-free at the start ([how](../body-contact.md#touching-surfaces)).",
    ] = "distance"
    law: Annotated[
        Literal["penalty", "barrier"],
        'Bounded, for all integrators; or `"barrier"`, through which nothing passes, for implicit ones.',
    ] = "penalty"
    stiffness: Annotated[
        float | None,
        declared(BodyContact, "stiffness"),
        "k, pressure per depth; by default from materials, element sizes and `speed`.",
    ] = None
    factor: Annotated[float | None, positive("1"), "Multiple of the default stiffness; by default 1."] = None
    speed: Annotated[
        float | None,
        not_negative("m/s"),
        "Approach speed, by default that of the start. Give it where bodies accelerate.",
    ] = None
    distance: Annotated[
        float | None,
        declared(BodyContact, "distance"),
        "Activation distance d̂, at most the shortest edge: by default a tenth of it; 0.02 of it with `begins = "
        '"touch"`, then the largest overlap; 0 with `integration = "segments"`.',
    ] = None
    margin: Annotated[
        float | None,
        declared(BodyContact, "margin"),
        "Skin of the neighbour list: pairs closer than `distance` + `margin` are listed; by default half a mean edge.",
    ] = None

    def _check_stiffness(self) -> None:
        if self.stiffness is not None:
            for key in ("factor", "speed"):
                if getattr(self, key) is not None:
                    raise ValueError(f"{key} is for the stiffness that follows from the materials; one is given")

    def _check_bodies(self) -> None:
        if self.bodies != "all" and len(self.bodies) == 1 and not self.with_itself:
            raise ValueError(
                f"bodies names one body only; name another that '{self.bodies[0]}' may touch, or let it be in contact "
                "with itself (self = true)"
            )

    def _check_integration(self) -> None:
        if self.integration == "segments":
            if self.law == "barrier":
                raise ValueError('integration = "segments" does not support law = "barrier"; take "pairs"')
            if self.begins == "touch":
                raise ValueError(
                    'begins is for integration = "pairs"; of "segments" forces begin at touch, leave it out'
                )

    def among(self, bodies: list[str]) -> list[str]:
        """Return the names of the bodies that are meant, given those of all."""
        return [name for name in bodies if self.bodies == "all" or name in self.bodies]

    def columns(self, tables: Tables) -> Iterable[str]:
        """Forces between bodies."""
        pairs = self.pairs(tables.touching)
        return [f"contact_force_{one}_{other}_{axis}" for one, other in pairs for axis in AXES]

    def needs(self) -> Iterable[Need]:
        """Changing stencils, and barriers."""
        yield from super().needs()
        yield Need(
            "changing stencils",
            "bodies find new places to touch all the time, which {kind} cannot follow; take another integrator, "
            "such as {others}.",
        )
        if self.law == "barrier":
            yield Need(
                "barriers",
                'law = "barrier" has no greatest stiffness, so no step of {method} is stable; take law = '
                '"penalty", or a method whose steps are solved for, such as {others}.',
                next_to="changing stencils",
            )

    def add_contact(self, world: Builder) -> None:
        """Add its energy and frictions."""
        world.contact.add_surfaces(self)  # pyright: ignore[reportArgumentType]

    def pairs(self, bodies: list[str]) -> list[tuple[str, str]]:
        """Return the names of the bodies that may touch each other, given those of all; some may be no bodies."""
        names = self.among(bodies)
        # The rigid part of a body, BODY.GROUP, and the rest of it share their nodes.
        apart = [pair for pair in combinations(names, 2) if not pair[1].startswith(f"{pair[0]}.")]
        return [*apart, *((name, name) for name in names if self.with_itself)]

    def frictions(self, touching: Sequence[str]) -> dict[str, tuple[str, str] | None]:
        """Return what frictions are called and between which bodies they are: one for each pair, or one of them all.

        So the history shows the work of each, unless pairs are many.
        """
        if not self.has_friction:
            return {}
        pairs = self.pairs(list(touching))
        if len(pairs) > MOST_PAIRS:
            return {f"friction_{self.name}": None}
        return {f"friction_{one}_{other}": (one, other) for one, other in pairs}


class Touching(NamedTuple):
    """What may touch others: a body, or something rigid.

    Attributes
    ----------
    surface : callable
        Returns the surface.
    material : Material, optional
        The softest of a body; None if it is rigid.
    v : float64 [n, 3]
        The velocities in m/s at the start of its nodes, or points.
    is_free : bool
        Whether it moves by what acts on it: two that do not need not be in contact.
    cells : callable
        Returns the volume cells by type; of what is rigid there are none.
    erodes : mapping, optional
        The parts of a body of which elements go, by their names in the system.
    """

    surface: Callable[[], Surface]
    material: Material | None
    v: Array
    is_free: bool = True
    cells: Callable[[], Mapping[str, IntArray]] = dict
    erodes: Mapping[str, Eroding | Solid] | None = None


def touching_body(
    mesh: Mesh,
    name: str,
    parts: Mapping[str, Solid],
    v: Array,
    inelastic: Mapping[str, Inelastic] = MappingProxyType({}),
) -> Touching:
    """Return what a body is for contact, given the mesh and velocities [n, 3] of all, and the strain energies of it."""
    surface = partial(_surface_of, mesh, name, parts)
    own = {key: part if isinstance(part := inelastic.get(key), Eroding) else solid for key, solid in parts.items()}
    erodes = own if any(isinstance(part, Eroding) for part in own.values()) else None
    cells = partial(joined_cells, parts)
    return Touching(surface, _softest(parts), v[mesh.nodes_of(name)], cells=cells, erodes=erodes)


def body_contact(
    table: ContactTable, touching: Mapping[str, Touching], points: Array, follow: Interpolation | None
) -> tuple[SurfaceContact, ChangingInterpolatedEnergy | None]:
    """Return the contact that a table describes, of points; and if it begins where surfaces touch, that of nodes.

    Parameters
    ----------
    table : ContactTable
    touching : mapping of str to Touching
        All that may touch, by name.
    points : float64 [p, 3]
        Where the points of their surfaces are at the start, in m.
    follow : Interpolation, optional
        How points follow nodes, where some are of rigid bodies.
    """
    of_all = list(touching)
    names = table.among(of_all)
    pairs = [(one, other) for one, other in table.pairs(of_all) if touching[one].is_free or touching[other].is_free]
    surfaces = {name: touching[name].surface() for name in names if any(name in pair for pair in pairs)}
    if not surfaces:
        raise ScenarioError("all that it names stands still or moves in a given way, so nothing can be pushed away.")
    surface = Surface.join(list(surfaces.values()))
    distance = table.distance
    integrated = table.integration == "segments"
    depth = 0.0
    if integrated:
        # The edges of a rigid surface need not be longer than that: what is flat may have slivers.
        soft = [surfaces[name] for name in surfaces if touching[name].material is not None]
        depth = min(map(segment_depth, soft or surfaces.values()))
        distance = 0.0 if distance is None else distance
    elif distance is None and any(touching[name].material is None for name in surfaces):
        distance = _distance_to_rigid(surfaces, touching)
    if table.distance is None and table.begins == "touch" and not integrated:
        shortest = float(surface.edge_lengths.min()) if distance is None else distance / SHARE
        distance = SHARE_TOUCHING * shortest
    stiffness = table.stiffness
    try:
        if stiffness is None:
            velocities = {name: touching[name].v for name in surfaces}
            speed = _closing_speed(pairs, velocities) if table.speed is None else table.speed
            materials = [touching[name].material for name in surfaces]
            within = depth if integrated else distance
            stiffness = contact_stiffness(surface, materials, table.law, within, speed)
            stiffness *= 1.0 if table.factor is None else table.factor
        if integrated:
            if eroding := [name for name in surfaces if touching[name].erodes is not None]:
                raise ScenarioError(
                    f"elements of '{eroding[0]}' may go, which integration = \"segments\" does not support; take "
                    'integration = "pairs".'
                )
            pressed = SegmentContact(
                surface,
                points,
                stiffness,
                distance=distance or 0.0,
                between=_in_order(table, pairs),
                integrated="finer" if table.bodies == "all" else "first",
                depth=depth,
                margin=table.margin,
            )
            pressed.check_start(points)
            return pressed, None
        contact = BodyContact(
            surface,
            stiffness,
            law=table.law,
            distance=distance,
            between=pairs,
            margin=table.margin,
        )
        eroding = [name for name in surfaces if touching[name].erodes is not None]
        if eroding:
            if table.begins == "touch":
                raise ScenarioError(
                    f"begins = \"touch\" is not supported with elements that go, which '{eroding[0]}' has: the gap at "
                    "rest of faces that open later is not known. Leave a gap between the bodies instead."
                )
            bodies = {name: touching[name].erodes or surface for name, surface in surfaces.items()}
            contact.exposes(ExposedSurface(points, bodies))
        if table.begins == "touch":
            energy = offset_contact(contact, points, _cells(touching[name] for name in surfaces), follow=follow)
            return cast(BodyContact, energy.energy), energy
    except InvalidSystem as error:
        raise ScenarioError(str(error).removeprefix("BodyContact: ").removeprefix("SegmentContact: ")) from None
    try:
        contact.check_start(points)
    except InvalidSystem as error:
        message = str(error).removeprefix("BodyContact: ")
        raise ScenarioError(f'{message} Or let forces begin where they touch (begins = "touch").') from None
    return contact, None


def _in_order(table: ContactTable, pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return pairs of bodies in the order in which a table names these; a surface that is its own is last."""
    if table.bodies == "all":
        return list(pairs)
    named = list(table.bodies or ())

    def place(name: str) -> int:
        return named.index(name) if name in named else len(named) + (name == table.name)

    return [(one, other) if place(one) <= place(other) else (other, one) for one, other in pairs]


def _cells(of: Iterable[Touching]) -> dict[str, IntArray]:
    """Return the volume cells of several bodies, by type."""
    found: dict[str, list[IntArray]] = {}
    for one in of:
        for kind, nodes in one.cells().items():
            found.setdefault(kind, []).append(nodes)
    return {kind: np.concatenate(parts) for kind, parts in found.items()}


def is_between(contact: SurfaceContact, one: str, other: str) -> bool:
    """Return whether two bodies, by name, may touch in a contact: two that stand still may not."""
    names = contact.surface.names
    return one in names and other in names and bool(contact.between[names.index(one), names.index(other)])


def _distance_to_rigid(surfaces: Mapping[str, Surface], touching: Mapping[str, Touching]) -> float | None:
    """Return a tenth of the shortest edge of bodies that deform, or the shortest one if that is less.

    The edges of a rigid surface need not be longer than that: what is flat may have slivers.
    """
    shortest = {name: float(surface.edge_lengths.min()) for name, surface in surfaces.items()}
    soft = [length for name, length in shortest.items() if touching[name].material is not None]
    return min(SHARE * min(soft), *shortest.values()) if soft else None


def _surface_of(mesh: Mesh, name: str, parts: Mapping[str, Solid]) -> Surface:
    """Return the boundary of the elements of a body, whatever faces its mesh has besides."""
    cells = joined_cells(parts)
    rows = {kind: np.arange(len(nodes), dtype=np.int32) for kind, nodes in cells.items()}
    return Surface.of(Mesh(mesh.points, cells, {name: rows}), name)


def _softest(parts: Mapping[str, Solid]) -> Material:
    """Return the material of a body that yields first, which says how stiff contact must be."""
    return min((solid.material for solid in parts.values()), key=lambda material: material.young)


def _closing_speed(pairs: Sequence[tuple[str, str]], velocities: Mapping[str, Array]) -> float:
    """Return a bound in m/s of the speeds at which nodes of two bodies that may touch approach each other.

    Of each body the velocities of its nodes [n, 3] are given, by name.
    """
    means = {name: v.mean(axis=0) for name, v in velocities.items()}
    spreads = {name: float(np.linalg.norm(v - means[name], axis=1).max()) for name, v in velocities.items()}
    return max(float(np.linalg.norm(means[one] - means[other])) + spreads[one] + spreads[other] for one, other in pairs)
