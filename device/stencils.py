"""What a device computes of a system: the stencils of its energies, as kernels take them, and what it refuses."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.errors import InvalidSystem
from symplex.fem.actions.loads import DeadLoad
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.energies.energy import Energy
from symplex.fem.measures.composition import MeasureEnergy
from symplex.fem.solids.chunks import GEOMETRY
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.system import System

_TAKEN = "linear tetrahedra, springs, bars, rigid obstacles that push back by a penalty, and constant forces"


class Stencils(NamedTuple):
    """The stencils of an energy.

    Attributes
    ----------
    nodes : int32 [m, k]
    kernel : str
        The function of `symplex.device.kernels` that returns their kernel.
    law : tuple
        What that function takes.
    arguments : tuple
        What the kernel takes between positions and forces: arrays, and numbers.
    """

    nodes: IntArray
    kernel: str
    law: tuple[Any, ...]
    arguments: tuple[Any, ...]


def require_stencils(system: System) -> None:
    """Check that a device can compute all energies of a system.

    Raises
    ------
    InvalidSystem
        If it does not know one of them.
    """
    for name, energy in system.energies.items():
        why = _why_not(energy, system.dim)
        if why:
            raise InvalidSystem(
                f"'{name}' {why}, which a device does not compute: it does so for {_TAKEN}; run it on processors."
            )


def _why_not(energy: Energy, dim: int) -> str:
    """Return what an energy is that a device does not know, or nothing."""
    if isinstance(energy, Solid):
        if energy.kind != "tetra":
            return f"is of {energy.kind} elements"
        return "" if energy.compiled else f"is of {type(energy.material).__name__}, a law that Python evaluates"
    known = isinstance(energy, DeadLoad) or (isinstance(energy, MeasureEnergy) and energy.is_divisible(dim))
    return "" if known else f"is a {type(energy).__name__}"


def stencils_of(system: System) -> list[Stencils]:
    """Return the stencils of all energies of a system that `require_stencils` lets pass, but for constant forces."""
    found = []
    for energy in system.energies.values():
        if isinstance(energy, Solid):
            found.append(_of_solid(energy))
        elif isinstance(energy, MeasureEnergy):
            found.append(_of_measure(energy, system.dim))
    return [stencils for stencils in found if len(stencils.nodes)]


def constant_gradient(system: System) -> Array:
    """Return the part of the gradient [n, dim] in N that does not depend on positions."""
    out = np.zeros((system.n_nodes, system.dim))
    for energy in system.energies.values():
        if isinstance(energy, DeadLoad):
            energy.add_gradient(out, out)
    return out


def entries_of_nodes(stencils: list[Stencils], n_nodes: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return where the entries of each node begin [n + 1], and the entries, each node's in the order of stencils.

    Entry k·e + a is that of node a of stencil e, after those of all stencils before.
    """
    nodes = np.concatenate([np.zeros(0, np.int32), *(one.nodes.ravel() for one in stencils)])
    first = np.concatenate([[0], np.cumsum(np.bincount(nodes, minlength=n_nodes))])
    return first.astype(np.int32), np.argsort(nodes, kind="stable").astype(np.int32)


def _of_solid(solid: Solid) -> Stencils:
    elements, nodes, material = solid.elements, np.ascontiguousarray(solid.nodes.T), solid.material
    known, weight, law = elements.at_points()[:, 0].T, elements.point_weights[0], elements.law
    det = known[GEOMETRY - 1 : GEOMETRY]
    if isinstance(material, NeoHookean):
        moduli = np.array([material.lmbda, material.mu])
        return Stencils(solid.nodes, "of_neo_hookean", (), (nodes, np.ascontiguousarray(known[:GEOMETRY]), moduli))
    if isinstance(law, tuple):
        rows = np.concatenate([known[GEOMETRY:], weight * det])
        return Stencils(solid.nodes, "of_linear", (law,), (nodes, np.ascontiguousarray(rows)))
    rows = np.concatenate([known[:GEOMETRY], weight * det, known[GEOMETRY:]])
    arguments = nodes, np.ascontiguousarray(rows), law.parameters
    return Stencils(solid.nodes, "of_invariants", (law.module, law.fibres, law.has_i2), arguments)


def _of_measure(energy: MeasureEnergy, dim: int) -> Stencils:
    our = energy.record
    assert our is not None, "it would have been refused"
    return Stencils(energy.nodes, "of_measure", (), (our.nodes, our.measure, our.law, our.a, our.b, our.end))
