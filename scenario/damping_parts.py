"""From the tables of damping to loads and inelastic parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from symplex.errors import MeshError, ScenarioError
from symplex.fem.actions.dampers import MeanDashpot, QuadraticDrag
from symplex.fem.actions.damping import Dashpots, Drag, StiffnessDamping
from symplex.fem.actions.inelastic import Inelastic
from symplex.fem.actions.loads import SurfaceTraction
from symplex.fem.energy import Array, Energy, IntArray
from symplex.fem.measures.bars import Bars
from symplex.fem.solids.solid import Solid
from symplex.fem.solids.viscous_stress import ViscousStress
from symplex.fem.system import Load
from symplex.meshes.mesh import Mesh
from symplex.scenario.damping import DampingTable, DashpotTable, DragTable, ViscousKeys, overstress_name
from symplex.scenario.selections import group_in, nodes_in
from symplex.scenario.sentences import place
from symplex.scenario.tables import Tables

_NEAR = 1e-9  # of the size of all bodies: ends that are no farther apart are one place
_MOST_JOINED = 300  # nodes of a dashpot, whose forces all depend on each other


class Damped(NamedTuple):
    """A part of a body, or a truss, as damping sees it.

    Attributes
    ----------
    body : str
        The name of the body.
    energy : Solid or Bars
    viscous : ViscousKeys or None
        The material's, of a solid.
    """

    body: str
    energy: Solid | Bars
    viscous: ViscousKeys | None = None


def damping_of(
    tables: Tables,
    mesh: Mesh,
    parts: Mapping[str, Damped],
    masses: Mapping[str, Array],
    points: Array,
    attempt: Callable[..., Any],
) -> tuple[dict[str, Load], dict[str, Inelastic]]:
    """Return what damps: loads, and the overstresses of viscoelastic bodies, by name.

    Parameters
    ----------
    tables : Tables
    mesh : Mesh
        Of all bodies.
    parts : mapping of str to Damped
        Those of all bodies, by the names of their energies.
    masses : mapping of str to float64 [n]
        The nodal masses of each body in kg.
    points : float64 [n, 3]
        The undeformed positions of all nodes in m.
    attempt : callable
        Called with a place, a function and its arguments: it returns what the function does, or tells the mistake that
        is found there, and returns None.
    """
    loads: dict[str, Load] = {}
    inelastic: dict[str, Inelastic] = {}
    places = {body.name: place("body", k, body.name) for k, body in enumerate(tables.body)}
    for name, part in parts.items():
        if part.viscous is not None and part.viscous.is_viscous:
            attempt(places[part.body], _add_viscous, name, part, loads, inelastic)
    for k, table in enumerate(tables.damping):
        loads |= attempt(place("damping", k, table.name), rayleigh, table, parts, masses, points) or {}
    for k, table in enumerate(tables.dashpot):
        loads[table.name] = attempt(place("dashpot", k, table.name), dashpot, table, mesh)
    for k, table in enumerate(tables.drag):
        loads[table.name] = attempt(place("drag", k, table.name), drag, table, mesh)
    return loads, inelastic


def _add_viscous(name: str, part: Damped, loads: dict[str, Load], inelastic: dict[str, Inelastic]) -> None:
    """Add the viscous stress and the overstress of a part."""
    assert isinstance(part.energy, Solid)
    assert part.viscous is not None
    _require_finite_strains(part, "viscous", "viscous and viscosity are")
    if (stress := part.viscous.viscous_stress(part.energy)) is not None:
        loads[f"viscosity_{name}"] = stress
    if (overstress := part.viscous.overstress(part.energy)) is not None:
        inelastic[overstress_name(name)] = overstress


def rayleigh(
    table: DampingTable, parts: Mapping[str, Damped], masses: Mapping[str, Array], points: Array
) -> dict[str, Load]:
    """Return the loads of Rayleigh's damping by name.

    Parameters
    ----------
    table : DampingTable
    parts : mapping of str to Damped
        Those of all bodies, by the names of their energies.
    masses : mapping of str to float64 [n]
        The nodal masses of each body in kg.
    points : float64 [n, 3]
        The undeformed positions of all nodes in m.

    Raises
    ------
    ScenarioError
        If a body is of a law of small strains, but the damping of the strain rate.
    """
    loads: dict[str, Load] = {}
    alpha, beta = table.coefficients
    names = list(masses) if table.bodies is None else table.bodies
    if alpha > 0.0:
        loads[f"{table.name}_mass"] = Drag(np.sum([masses[name] for name in names], axis=0), alpha)
    for name, part in parts.items():
        if beta == 0.0 or part.body not in names:
            continue
        loads[f"{table.name}_stiffness_{name}"] = _stiffness_damper(table, part, beta, points)
    return loads


def _stiffness_damper(table: DampingTable, part: Damped, beta: float, points: Array) -> Load:
    if table.stiffness == "initial":
        return StiffnessDamping(part.energy, points, beta)
    if isinstance(part.energy, Bars):
        return Dashpots(part.energy.nodes, beta * axial_stiffness(part.energy, points))
    _require_finite_strains(part, "beta", 'stiffness = "strain-rate" is')
    return ViscousStress.proportional(part.energy, beta)


def axial_stiffness(bars: Energy, points: Array) -> Array:
    """Return the stiffness [m] in N/m of bars against changes of length at the positions [n, 3]."""
    x = points[bars.nodes]
    e = x[:, 1] - x[:, 0]
    e /= np.linalg.norm(e, axis=1, keepdims=True)
    return np.einsum("mi,mij,mj->m", e, bars.hessian(x)[:, :3, :3], e)


def _require_finite_strains(part: Damped, key: str, what: str) -> None:
    assert isinstance(part.energy, Solid)
    if not part.energy.material.objective:
        instead = ', or stiffness = "initial"' if key == "beta" else ""
        raise ScenarioError(
            f"{what} for laws of finite strains, and the law of body '{part.body}' is one of small strains; take "
            f'law = "saint-venant-kirchhoff"{instead}.'
        )


def dashpot(table: DashpotTable, mesh: Mesh) -> MeanDashpot:
    """Return the dashpot that a table describes, between groups of the mesh of all bodies.

    Raises
    ------
    ScenarioError
        If its ends are not there, are one place, or have too many nodes.
    """
    ends: Sequence[IntArray] = [nodes_in(mesh, end) for end in table.ends]
    joined = sum(map(len, ends))
    if joined > _MOST_JOINED:
        raise ScenarioError(
            f"it joins {joined:,} nodes, at most {_MOST_JOINED} can be; name smaller groups, such as one point each."
        )
    places = [mesh.points[nodes].mean(axis=0) for nodes in ends] + ([] if table.to is None else [np.array(table.to)])
    if np.linalg.norm(places[1] - places[0]) <= _NEAR * np.ptp(mesh.points, axis=0).max():
        raise ScenarioError("its ends are at the same place, so that it has no direction; choose others.")
    if table.to is not None:
        return MeanDashpot(ends[0], table.to, table.viscosity, table.exponent, fixed=True)
    return MeanDashpot(ends[0], ends[1], table.viscosity, table.exponent)


def drag(table: DragTable, mesh: Mesh) -> QuadraticDrag:
    """Return the drag that a table describes, on a group of the mesh of all bodies.

    The area, by default that of the faces of the group, is shared by nodes as by the faces; without faces equally.

    Raises
    ------
    ScenarioError
        If there is no such group, or it has no faces, and no area is given.
    """
    group = group_in(mesh, table.body, table.group)
    try:
        faces = mesh.faces_of(group)
    except MeshError as error:
        if table.area is None:
            raise ScenarioError(f"{str(error).rstrip('.')}; give the area (m²), then its nodes share it.") from None
        nodes = mesh.nodes_of(group)
        shares = np.ones(len(nodes))
    else:
        unit = SurfaceTraction(mesh.points, faces, (1.0, 0.0, 0.0))
        # Of quadratic faces corners may have a negative part.
        nodes, shares = unit.nodes, np.maximum(unit.forces[:, 0], 0.0)
        shares *= unit.forces[:, 0].sum() / shares.sum()
    if table.area is not None:
        shares = shares * (table.area / shares.sum())
    velocity = table.velocity if any(table.velocity) else None
    return QuadraticDrag(nodes, 0.5 * table.density * table.coefficient * shares, velocity)
