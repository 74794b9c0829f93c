"""What a table of a load describes: an energy where it has a potential, else a load."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from symplex.errors import ScenarioError
from symplex.fem.actions.centrifugal import Centrifugal
from symplex.fem.actions.loads import NodalForce, NodalLoad, Pressure, SurfaceTraction
from symplex.fem.actions.mass import nodal_masses
from symplex.fem.energy import Array, Energy
from symplex.fem.system import Load
from symplex.meshes.mesh import Mesh
from symplex.scenario.actions import CentrifugalLoadTable, GravityLoadTable, LoadTable
from symplex.scenario.inertia import Inertia
from symplex.scenario.prescribed import factor
from symplex.scenario.selections import group_in


def load_of(table: LoadTable, mesh: Mesh, inertia: Inertia, folder: Path) -> Energy | Load:
    """Return what a table describes.

    Parameters
    ----------
    table : LoadTable
    mesh : Mesh
        Of all bodies.
    inertia : Inertia
    folder : Path
        Where files of histories are looked for.

    Raises
    ------
    ScenarioError
        If there is no such group, no mass in it, or a file cannot be read.
    """
    group = group_in(mesh, table.body, table.group)
    history = factor(table.history, folder, table.begin) if table.history is not None else 1.0
    if isinstance(table, GravityLoadTable | CentrifugalLoadTable):
        mass = inertia.mass_of(table.body, table.group, of_motion=isinstance(table, GravityLoadTable))
        if not nodal_masses("a load", mass).any():
            raise ScenarioError(f"group '{table.group}' of '{table.body}' has no elements with mass.")
        if isinstance(table, CentrifugalLoadTable) and table.follows:
            return Centrifugal(mass, table.angular_velocity, table.point)
        forces = _of_mass(table, mass, inertia.positions())
        nodes = np.flatnonzero(forces.any(axis=1)).astype(np.int32)
        if not len(nodes):
            raise ScenarioError("it is zero everywhere; leave it out.")
        return NodalForce(nodes, forces[nodes]) if table.history is None else NodalLoad(nodes, forces[nodes], history)
    if table.kind == "nodal":
        nodes = mesh.nodes_of(group)
        return NodalForce(nodes, table.force) if table.history is None else NodalLoad(nodes, table.force, history)
    faces = mesh.faces_of(group)
    if table.kind == "pressure":
        return Pressure(faces, table.pressure, history)
    load = SurfaceTraction(mesh.points, faces, table.traction, history)
    # What is constant has a potential.
    return NodalForce(load.nodes, load.forces) if table.history is None else load


def _of_mass(table: GravityLoadTable | CentrifugalLoadTable, mass: Array | csr_array, points: Array) -> Array:
    """Return the nodal forces [n, 3] in N: of an acceleration, or of a rotation at the places of the start."""
    if isinstance(table, GravityLoadTable):
        return np.outer(nodal_masses("a load", mass), table.acceleration)
    out = np.zeros_like(points)
    Centrifugal(mass, table.angular_velocity, table.point).add_gradient(points, out)
    return -out
