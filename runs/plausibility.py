"""What of a valid scenario is implausible, with numbers: odd units, bodies in one place, velocities that are lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from symplex.contact.solid_obstacles import obstacle_mass
from symplex.errors import SymplexError
from symplex.fem.couplings.cohesive import CohesiveFaces
from symplex.fem.energies.energy import Array, IntArray
from symplex.fem.mass_properties import MassProperties
from symplex.fem.solids.plastic import LOCKING, Flowing
from symplex.meshes.location import are_in_cells
from symplex.runs.progress import si
from symplex.scenario.joined_parts import parts_by_body
from symplex.scenario.obstacles import ShapedTable, obstacle_of
from symplex.scenario.scenario import Problem
from symplex.scenario.start import ResultStart, RotationStart

SLOWEST, FASTEST = 1.0, 2e4  # m/s: waves in gels, and in diamond
LIGHTEST, HEAVIEST = 1.0, 2.5e4  # kg/m³: aerogel and balloons, and beyond osmium
_LOST = 1e-6  # of the kinetic energy, below which it is round-off or the edge of a field that vanishes at supports
_SAME = 1e-9  # of the size of all: points that are one
_SAMPLE = 64  # elements of a body that are looked for in another one
_THICKEST = 0.5  # of the greatest extent of a shell
_ADDED = 0.05  # of the mass of a body, above which scaled masses change its motion
_TOLD = 3  # warnings of a kind
_FACES_PER_ZONE = 1.0  # the largest share of the zone ahead of a crack that a face may have; a third is good


def doubts(problem: Problem) -> list[str]:
    """Return a line for all that building has changed, and for the first of each kind that is implausible."""
    found = (
        _added_masses,
        _materials,
        _locking,
        _thick_shells,
        _masses,
        _coarse_bonds,
        _overlaps,
        _loose_masses,
        _lost_velocities,
    )
    kinds = (of(problem) for of in found)
    return [*problem.notes, *(line for found in kinds for line in _first(list(found)))]


def _first(lines: Sequence[str]) -> list[str]:
    """Return the first of some lines, the last of these with how many there are."""
    more = len(lines) - _TOLD
    return [*lines[: _TOLD - 1], f"{lines[_TOLD - 1]} ({more} more like this.)"] if more > 0 else list(lines)


def _added_masses(problem: Problem) -> Iterator[str]:
    """Yield to which bodies mass scaling adds so much that their motion is another one."""
    for name, one in problem.scaled.items():
        if one.share > _ADDED:
            yield (
                f"[mass_scaling]: body '{name}': {one.reported}, more than {100.0 * _ADDED:g} %. Inertia and weight "
                "are wrong by as much; take a smaller dt or larger elements, and compare with a run without it."
            )


def _materials(problem: Problem) -> Iterator[str]:
    """Yield what is odd about the densities of materials and the waves in them."""
    tables = problem.scenario.tables
    for body in tables.body:
        for group, table in body.material_of_group.items():
            material = table.material()
            of = body.here + (f": material '{group}'" if group is not None else "")
            yield from _odd(of, material.density, material.wave_speed, material.young)
    for truss in tables.truss:
        if (bar := truss.material) is not None:
            yield from _odd(truss.here, bar.density, (bar.young / bar.density) ** 0.5, bar.young)
    for beam in tables.beam:
        for one in (beam.material, *(part.material for part in beam.parts)):
            if one is not None:
                yield from _odd(beam.here, one.density, (one.young / one.density) ** 0.5, one.young)
    for shell in tables.shell:
        for one in shell.materials:
            speed = (one.stiffest / one.density) ** 0.5
            yield from _odd(shell.here, one.density, speed, one.stiffest)


def _odd(of: str, density: float, speed: float, young: float) -> Iterator[str]:
    """Yield a sentence if a density in kg/m³, or a speed of waves in m/s, is out of the range of materials."""
    heavy, fast = not LIGHTEST <= density <= HEAVIEST, not SLOWEST <= speed <= FASTEST
    found = [f"density = {density:.4g} kg/m³ (materials have {LIGHTEST:g} to {HEAVIEST:,.0f} kg/m³)"] if heavy else []
    if fast:
        why = f"with E = {si(young, 'Pa', 4)}" + ("" if heavy else f" and density = {density:.4g} kg/m³")
        found.append(f"waves of {speed:.4g} m/s {why} (materials have {SLOWEST:g} to {FASTEST:,.0f} m/s)")
    if found:
        yield f"{of}: implausible {' and '.join(found)}. Check the units: Pa and kg/m³."


def _locking(problem: Problem) -> Iterator[str]:
    """Yield which metals that flow have elements that lock."""
    for name, part in problem.system.inelastic.items():
        if isinstance(part, Flowing) and part.solid.kind == "tetra":
            yield f"body '{name}': {LOCKING} `quadratic = true` makes them quadratic."


def _thick_shells(problem: Problem) -> Iterator[str]:
    """Yield which shells are thicker than half of what they measure."""
    for shell in problem.scenario.tables.shell:
        structure = problem.shells[shell.name].structure
        size = float(np.ptp(structure.frames.centers(structure.points), axis=0).max())
        thickness = max(one.thickness for one in shell.properties_of_parts())
        if thickness > _THICKEST * size:
            yield (
                f"{shell.here}: implausible thickness = {si(thickness, 'm', 4)} of a shell that "
                f"measures {si(size, 'm', 4)}. Check the units: m."
            )


def _masses(problem: Problem) -> Iterator[str]:
    """Yield what is odd about the masses of rigid bodies against their volumes."""
    tables, rigid_sets = problem.scenario.tables, problem.rigid_sets
    for key in ("obstacle", "rigid_body"):
        for table in getattr(tables, key):
            if not table.is_free or table.name not in rigid_sets.rigid_sets:
                continue
            try:
                if isinstance(table, ShapedTable):
                    volume = obstacle_mass(obstacle_of(table), density=1.0).mass
                else:
                    surface = rigid_sets.surface(table.name)
                    points = rigid_sets.points(rigid_sets.positions(problem.mesh.points))
                    volume = MassProperties.of_surface(points, surface.triangles, 1.0).mass
            except SymplexError:  # vessels have no volume
                continue
            mass = rigid_sets.rigid_sets[table.name].mass
            if not LIGHTEST <= mass / volume <= HEAVIEST:
                yield (
                    f"{table.here}: implausible mass of {mass:.4g} kg in a volume of "
                    f"{volume:.4g} m³, {mass / volume:.4g} kg/m³ (materials: {LIGHTEST:g} to {HEAVIEST:,.0f} kg/m³). "
                    "Check the units of mass and lengths."
                )


def _coarse_bonds(problem: Problem) -> Iterator[str]:
    """Yield which cohesive faces are too large for the zone that softens ahead of a crack.

    Its length is about l = E Gc/T0² (Hillerborg 1976), between arms of a height h at most (l h³)^¼ (Bao, Suo 1992).
    """
    mesh, tables = problem.mesh, problem.scenario.tables
    young = {body.name: min(m.material().young for m in body.material_of_group.values()) for body in tables.body}
    for table in tables.cohesive:
        bonds = problem.system.inelastic.get(table.name)
        names = [name for name in (table.body, table.to) if name in young]
        if not (isinstance(bonds, CohesiveFaces) and names):
            continue
        length = min(young[name] for name in names) * table.fracture_energy / table.strength**2
        height = min(float(np.ptp(mesh.points[mesh.nodes_of(name)], axis=0).min()) for name in names)
        zone, edge = min(length, (length * height**3) ** 0.25), float(np.sqrt(bonds.areas.sum(axis=1).max()))
        if edge > _FACES_PER_ZONE * zone:
            yield (
                f"{table.here}: its faces are {si(edge, 'm')} long, and the zone that softens "
                f"ahead of a crack is about {si(zone, 'm')}, so that a crack runs in jumps. Take faces of "
                f"{si(zone / 3.0, 'm')}, or a lower strength, which makes the zone longer."
            )


def _overlaps(problem: Problem) -> Iterator[str]:
    """Yield which bodies, trusses and point masses are in one place."""
    mesh, tables = problem.mesh, problem.scenario.tables
    size = float(np.abs(mesh.points).max(initial=0.0))
    places = {table.name: table.here for table in tables.body}
    nodes = {name: mesh.nodes_of(name) for name in tables.names}
    boxes = {name: (mesh.points[own].min(axis=0), mesh.points[own].max(axis=0)) for name, own in nodes.items()}
    for one, other in combinations(tables.names, 2):
        (low, high), (bottom, top) = boxes[one], boxes[other]
        low, high = np.maximum(low, bottom), np.minimum(high, top)
        if (low > high + _SAME * size).any():
            continue
        if one in places and other in places:
            part = _part_within(problem, one, other, low, high)
            if part > 0.0:
                yield (
                    f"{places[other]} is in the same place as body '{one}': {100.0 * part:.2g} % of its elements are "
                    "within that. Move one of them (translate), or leave one out."
                )
        elif one not in places and other not in places and _coincide(mesh.points, nodes[one], nodes[other], size):
            yield f"'{one}' and '{other}' are in one place. Move one of them, or leave one out."


def _loose_masses(problem: Problem) -> Iterator[str]:
    """Yield which point masses are at a node of beams or shells, and not part of it."""
    structures = {name: one.structure for name, one in {**problem.beams, **problem.shells}.items()}
    for mass in problem.scenario.tables.point_mass:
        if mass.position is None:
            continue
        for name, structure in structures.items():
            centers = structure.frames.centers(structure.points)
            size = float(np.abs(centers).max(initial=0.0))
            if np.abs(centers - np.array(mass.position)).max(axis=1).min() <= _SAME * size:
                yield (
                    f"{mass.here} is at a node of '{name}', but is not joined to it. Give "
                    f'body = "{name}" and at = [{", ".join(f"{x:g}" for x in mass.position)}] instead of position.'
                )


def _part_within(problem: Problem, one: str, other: str, low: Array, high: Array) -> float:
    """Return which part of the elements of a body is within another one, estimated; they may be within a box only."""
    points = problem.mesh.points
    centres = [points[solid.nodes].mean(axis=1) for solid in parts_by_body([other], problem.solids)[other].values()]
    every = np.concatenate(centres)
    near = every[((every > low) & (every < high)).all(axis=1)]
    if not len(near):
        return 0.0
    chosen = near[:: -(-len(near) // _SAMPLE)]
    return float(are_in_cells(problem.mesh, chosen, one).mean()) * len(near) / len(every)


def _coincide(points: Array, one: IntArray, other: IntArray, size: float) -> bool:
    """Return whether all nodes of one of two parts are where nodes of the other are, and are not these."""
    few, many = sorted((one, other), key=len)
    if len(np.intersect1d(few, many)):
        return False
    return all(np.abs(points[many] - x).max(axis=1).min() <= _SAME * size for x in points[few])


def _lost_velocities(problem: Problem) -> Iterator[str]:
    """Yield which part of the velocities that are given supports take away at the start."""
    tables, system, given = problem.scenario.tables, problem.system, problem.velocities
    if given is None or given.shape != problem.state.v.shape or isinstance(tables.start, ResultStart | RotationStart):
        return
    held = system.fixed & (given != system.held(0.0, given))
    lost = system.kinetic(np.where(held, given, 0.0))
    total = system.kinetic(given)
    if not lost > _LOST * total:
        return
    names = [name for name in tables.names if held[problem.mesh.nodes_of(name)].any()]
    speed = float(np.linalg.norm(np.where(held, given, 0.0), axis=1).max())
    yield (
        f"[[support]]: nodes of {', '.join(map(repr, names[:_TOLD]))} that are held are given velocities of up to "
        f"{speed:.4g} m/s, which are lost at the start, and with them {100.0 * lost / total:.2g} % of the kinetic "
        f"energy ({lost:.4g} of {total:.4g} J). Give velocities that vanish there ([[velocity]]), or let the "
        "support begin later."
    )
