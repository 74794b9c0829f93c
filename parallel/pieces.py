"""Pieces of energies: some of their stencils, on the nodes of one rank, made here and put together there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from symplex.contact.rigid import RigidContact
from symplex.errors import InvalidSystem
from symplex.fem.actions.loads import DeadLoad, NodalForce
from symplex.fem.assembly.blocks import SMALLEST_SLAB, slabs_of
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.energies.energy import Energy
from symplex.fem.measures.composition import MeasureEnergy
from symplex.fem.solids.constitutive import Material
from symplex.fem.solids.solid import Formulation, Solid
from symplex.fem.system import System
from symplex.parallel.actions import is_divisible
from symplex.parallel.contact import is_shared_contact
from symplex.parallel.division import places_of
from symplex.parallel.friction import is_divisible_friction

_INSTEAD = "Run it in one process, with as many threads as there are processors."


def require_parts(system: System, *, contact: bool = False) -> None:
    """Check that each rank can have its part of a system.

    Parameters
    ----------
    system : System
    contact : bool, default False
        Whether bodies may be in contact with each other.

    Raises
    ------
    InvalidSystem
        If something of it acts on nodes of several ranks in a way that parts do not know.
    """
    if system.frames:
        raise InvalidSystem(
            f"frames, of which the system has {len(system.frames)}, cannot be divided among ranks. {_INSTEAD}"
        )
    for name, energy in system.energies.items():
        if isinstance(energy, Solid) and not energy.compiled:
            raise InvalidSystem(
                f"'{name}' is of {type(energy.material).__name__}, a law that Python evaluates, not compiled loops: it "
                f"cannot be divided among ranks. {_INSTEAD}"
            )
        divisible = isinstance(energy, Solid | DeadLoad)
        if isinstance(energy, MeasureEnergy) and energy.is_divisible(system.dim):
            divisible = isinstance(energy, RigidContact) or not energy.columns  # what it shows is found in parts
        if not (divisible or (contact and is_shared_contact(energy))):
            raise InvalidSystem(f"'{name}' ({type(energy).__name__}) cannot be divided among ranks. {_INSTEAD}")
    for name, load in system.loads.items():
        if not (is_divisible(load) or is_divisible_friction(load)):
            raise InvalidSystem(f"load '{name}' cannot be divided among ranks. {_INSTEAD}")
    for name, part in system.inelastic.items():
        if not part.is_divisible:
            raise InvalidSystem(f"inelastic part '{name}' cannot be divided among ranks. {_INSTEAD}")


def require_few(system: System, ranks: int) -> None:
    """Check that there is something for each rank.

    Raises
    ------
    InvalidSystem
        If there are more ranks than elements or nodes.
    """
    parts = (*system.energies.values(), *system.inelastic.values())
    elements = sum(len(one.nodes) for one in parts if one.nodes.shape[1] > 1)
    if ranks > min(elements, system.n_nodes):
        raise InvalidSystem(
            f"there are {ranks} ranks, more than the mesh has elements or nodes ({elements} and "
            f"{system.n_nodes}); take fewer."
        )


@dataclass(frozen=True)
class Piece:
    """Some stencils of an energy."""

    chosen: NDArray[np.integer]  # [s]: which these are in the whole energy
    nodes: IntArray  # [s, k]: their nodes, as the rank numbers them
    named: IntArray  # [s, k]: their nodes, as the whole mesh numbers them

    def energy(self) -> Energy:
        """Return the energy of these stencils."""
        raise NotImplementedError

    def with_more(self, other: Self) -> Self:
        """Return the piece with those stencils of another one that it lacks."""
        lacks = ~np.isin(other.chosen, self.chosen)
        of_both = {
            "chosen": np.concatenate([self.chosen, other.chosen[lacks]]),
            "nodes": np.concatenate([self.nodes, other.nodes[lacks]]),
            "named": np.concatenate([self.named, other.named[lacks]]),
        }
        return replace(self, **of_both, **self._more(other, lacks, of_both["nodes"]))

    def _more(self, other: Self, lacks: NDArray[np.bool_], nodes: IntArray) -> dict[str, Any]:
        """Return what else there is of the stencils of both, by name."""
        raise NotImplementedError


@dataclass(frozen=True)
class SolidPiece(Piece):
    """Elements of a solid on points [l, 3] in m, with the slab of each, by which sums over nodes are ordered."""

    points: Array
    material: Material
    formulation: Formulation
    fibres: Array | None
    thermal_strain: Array | None
    slab: NDArray[np.int32]

    def energy(self) -> Energy:
        """Return the strain energy of these elements."""
        of_solid = self.points, self.nodes, self.material, self.fibres, self.formulation, self.thermal_strain
        solid = Solid(*of_solid)
        solid.elements.slab = self.slab
        return solid

    def _more(self, other: Self, lacks: NDArray[np.bool_], nodes: IntArray) -> dict[str, Any]:
        fibres = None
        if self.fibres is not None and other.fibres is not None:
            fibres = np.concatenate([self.fibres, other.fibres[:, lacks]], axis=1)
        return {"fibres": fibres, "slab": np.concatenate([self.slab, other.slab[lacks]])}


@dataclass(frozen=True)
class ForcePiece(Piece):
    """Nodes with constant forces [s, dim] in N."""

    forces: Array

    def energy(self) -> Energy:
        """Return their potential."""
        return NodalForce(self.nodes[:, 0], self.forces)

    def _more(self, other: Self, lacks: NDArray[np.bool_], nodes: IntArray) -> dict[str, Any]:
        return {"forces": np.concatenate([self.forces, other.forces[lacks]])}


@dataclass(frozen=True)
class MeasurePiece(Piece):
    """Stencils of a compiled law, renumbered: springs, bars, contact with obstacles."""

    law: MeasureEnergy

    def energy(self) -> Energy:
        """Return the law of these stencils."""
        return self.law

    def _more(self, other: Self, lacks: NDArray[np.bool_], nodes: IntArray) -> dict[str, Any]:
        chosen = np.flatnonzero(lacks)
        return {"law": self.law.with_more(other.law.of_some(chosen, other.nodes[chosen]), nodes)}


class Divided:
    """An energy that is divided among ranks.

    Parameters
    ----------
    energy : Energy
        One that `require_parts` lets pass.
    threads : int
        Of each rank.
    """

    def __init__(self, energy: Energy, threads: int):
        self._energy, self._threads = energy, threads
        if isinstance(energy, Solid):
            self._slab = slabs_of(energy.nodes, energy.points)

    def piece(self, chosen: NDArray[np.integer], where: IntArray) -> Piece:
        """Return the piece with chosen stencils, ascending, on the nodes [l] of a rank."""
        energy = self._energy
        nodes = places_of(where, energy.nodes[chosen])
        if isinstance(energy, Solid):
            return self._of_solid(energy, chosen, nodes, where)
        named = energy.nodes[chosen]
        if isinstance(energy, DeadLoad):
            return ForcePiece(chosen, nodes, named, energy.forces[chosen])
        assert isinstance(energy, MeasureEnergy), "it would have been refused"
        return MeasurePiece(chosen, nodes, named, energy.of_some(chosen, nodes))

    def _of_solid(self, solid: Solid, chosen: NDArray[np.integer], nodes: IntArray, where: IntArray) -> Piece:
        slab = self._slab[chosen]
        if self._threads == 1 or len(chosen) < 2 * SMALLEST_SLAB:
            # In one slab, in the order in which slabs are: first the even ones, then the odd ones.
            order = np.argsort(slab & 1, kind="stable")
            chosen, nodes, slab = chosen[order], nodes[order], np.zeros(len(slab), np.int32)
        points, fibres, named = solid.points_at(where), solid.fibres_of(chosen), solid.nodes[chosen]
        strain = solid.thermal_strain_at(where)
        return SolidPiece(chosen, nodes, named, points, solid.material, solid.formulation, fibres, strain, slab)
