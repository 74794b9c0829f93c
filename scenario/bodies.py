"""From the tables of bodies to their meshes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from symplex.base.quantities import Triple
from symplex.errors import MeshError
from symplex.fem.energy import IntArray
from symplex.fem.solids.elements import SOLIDS
from symplex.meshes.bundled_meshes import bundled
from symplex.meshes.formats.read import read_mesh
from symplex.meshes.generate import box, cube_mesh
from symplex.meshes.kinds import dimension_of, face_corners, faces_of_cells
from symplex.meshes.mesh import Mesh, rows_among, take
from symplex.meshes.midside_nodes import is_quadratic, quadratic
from symplex.meshes.quality import check_mesh
from symplex.meshes.repair import drop_duplicates, drop_unconnected, orient
from symplex.scenario.body_tables import Body, MeshTable
from symplex.scenario.parts import require_conforming, require_materials

# Elements of decks that, as hexahedra do by default, do not lock in bending: of one point with hourglass control, and
# with incompatible modes.
_AS_BY_DEFAULT = ("C3D8R", "C3D8I")
_REDUCED = "C3D20R"
_ROUNDED = 1e-7  # to what part of the size of a body its positions may be rounded


def mesh_of(body: Body, folder: Path) -> Mesh:
    """Return the mesh of one body, restricted to its group, checked and placed; files are looked for in a folder.

    Raises
    ------
    MeshError
        If it cannot be read, or not be computed with.
    """
    mesh, called = _source(body.mesh, body.scale, folder)
    mesh = _with_regions(mesh, body.mesh.regions)
    formulations = mesh.formulations
    if body.repair:
        mesh = drop_unconnected(orient(drop_duplicates(mesh)))
    mesh = _elements_of(mesh, body.group, called)
    for kind in mesh.volume_types if body.formulation is None else ():
        if others := [name for name in formulations.get(kind, ()) if name not in _AS_BY_DEFAULT]:
            take = 'as formulation = "full", fully integrated, which may be much stiffer'
            if others == [_REDUCED]:
                take = 'formulation = "reduced", as they are, or "full"'
            raise MeshError(
                f"{called} has elements {', '.join(others)}, which {kind} cells are not computed as; "
                f"say how they shall be, {take}."
            )
    try:
        check_mesh(mesh, called)
    except MeshError as error:
        if body.repair:
            raise
        raise MeshError(f"{str(error).split(';')[0]}; repair = true mends what can be mended.") from None
    if body.quadratic and not all(is_quadratic(kind) for kind in mesh.volume_types):
        mesh = quadratic(mesh)
    require_materials(body, mesh, called)
    require_conforming(mesh, called)
    points = mesh.points
    if body.rotate is not None:
        points = points @ body.rotate.matrix.T
    points = points + np.array(body.translate)
    for copy in body.instance:
        turned = points if copy.rotate is None else points @ copy.rotate.matrix.T
        points = turned + np.array(copy.translate)
    points = np.ascontiguousarray(points)
    far, size = np.abs(points).max(), np.ptp(points, axis=0).max()
    if np.finfo(float).eps * far > _ROUNDED * size:
        raise MeshError(
            f"it lies up to {far:.3g} m from the origin, where positions are rounded to {np.spacing(far):.1g} m, too "
            f"far for a size of {size:.3g} m; translate it to the origin."
        )
    return replace(mesh, points=points)


def _source(table: MeshTable, scale: float, folder: Path) -> tuple[Mesh, str]:
    """Return a mesh and what to call it in messages."""
    if table.cube is not None:
        mesh, called = cube_mesh(table.cube), f"cube {table.cube}"
    elif table.box is not None and table.cells is not None:
        mesh, called = box(table.box, table.cells, split=table.split), "box"
    elif table.bundled is not None:
        mesh, called = read_mesh(bundled(table.bundled)), table.bundled
    else:
        path = folder / str(table.file)
        return read_mesh(path, scale=scale), path.name
    return replace(mesh, points=mesh.points * scale), called


def _with_regions(mesh: Mesh, regions: Mapping[str, tuple[Triple, Triple]]) -> Mesh:
    """Return a mesh with a group of the elements whose centres are in each of some boxes, by their corners in m."""
    groups = dict(mesh.cell_groups)
    for name, (low, high) in regions.items():
        if name in mesh.groups:
            raise MeshError(f"mesh.regions: there is a group '{name}' already; choose another name.")
        centres = {kind: mesh.points[mesh.cells[kind]].mean(axis=1) for kind in mesh.volume_types}
        inside = {kind: ((x >= low) & (x <= high)).all(axis=1) for kind, x in centres.items()}
        if not any(on.any() for on in inside.values()):
            raise MeshError(
                f"mesh.regions: no element has its centre in '{name}', between {list(low)} and {list(high)} m; "
                f"the mesh is between {mesh.points.min(axis=0).tolist()} and {mesh.points.max(axis=0).tolist()} m."
            )
        groups[name] = {kind: np.flatnonzero(on).astype(np.int32) for kind, on in inside.items() if on.any()}
    return replace(mesh, cell_groups=groups)


def _elements_of(mesh: Mesh, group: str | None, called: str) -> Mesh:
    """Return the part of a mesh that is a group of elements (default: all), with the faces and groups on it.

    Raises
    ------
    MeshError
        If the group does not exist, or there are no elements, or other volume cells.
    """
    known = [element.kind for element in SOLIDS]
    if group is None:
        kinds = mesh.volume_types
        whose = called
    else:
        if group not in mesh.groups:
            raise MeshError(f"group '{group}' is not in {called}; it has: {', '.join(mesh.groups) or 'none'}.")
        members = mesh.cell_groups.get(group, {})
        kinds = [kind for kind in mesh.volume_types if len(members.get(kind, ()))]
        whose = f"group '{group}' of {called}"
    others = [kind for kind in kinds if kind not in known]
    if others:
        raise MeshError(f"{whose} has {' and '.join(others)} cells; only {', '.join(known)} can be computed with.")
    if not kinds:
        raise MeshError(f"{whose} has no elements ({', '.join(known)}).")
    return mesh if group is None else _part(mesh, {kind: mesh.cell_groups[group][kind] for kind in kinds})


def _part(mesh: Mesh, cells: Mapping[str, IntArray]) -> Mesh:
    """Return the mesh of some volume cells, with their faces and the lines between their nodes."""
    chosen = {kind: mesh.cells[kind][index] for kind, index in cells.items()}
    on = np.zeros(len(mesh.points), bool)
    for nodes in chosen.values():
        on[nodes] = True
    lower = {kind: on[c].all(axis=1) for kind, c in mesh.cells.items() if kind not in mesh.volume_types}
    # A face of the rest of the mesh may well have all its nodes in this part.
    own_faces = face_corners(faces_of_cells(chosen))
    for kind, kept in lower.items():
        if dimension_of(kind) == 2:
            kept &= rows_among(face_corners({kind: mesh.cells[kind]}), own_faces)
    return take(mesh, np.flatnonzero(on), {k: np.flatnonzero(kept) for k, kept in lower.items()} | dict(cells))
