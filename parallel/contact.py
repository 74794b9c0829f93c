"""Contact between bodies on several ranks.

What may touch is not known beforehand. So each rank with nodes of a surface in contact has all nodes of it, most of
them as ghosts: of a mesh with N nodes these are of the order of N^(2/3). It looks only for the pairs around its own
nodes, so that lists, forces and stiffness are found once, but for pairs along borders; forces on a node are summed in
the order of one process. In explicit steps one rank finds all pairs where energies and forces of bodies are output.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeGuard

import numpy as np

from symplex.contact.kernel_friction import SurfaceContact
from symplex.fem.assembly.forms import Form
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.couplings.interpolation import ChangingInterpolatedEnergy, Interpolation, Selection
from symplex.fem.energies.contact_energy import ContactEnergy
from symplex.fem.energies.energy import Energy
from symplex.fem.energies.neighbour_list import NeighbourListEnergy
from symplex.fem.state import State
from symplex.parallel.division import places_of

SharedContact = SurfaceContact | ChangingInterpolatedEnergy


def is_shared_contact(energy: Energy) -> TypeGuard[SharedContact]:
    """Return whether an energy is contact that ranks can have together."""
    if isinstance(energy, ChangingInterpolatedEnergy):
        return isinstance(energy.energy, SurfaceContact)
    return isinstance(energy, SurfaceContact)


def contact_on_rank(energy: SharedContact, where: IntArray, own: int | None) -> ChangingInterpolatedEnergy:
    """Return a contact on a rank with the nodes ``where`` [l], of which the first are its own; its list is to be found.

    It has its nodes alone, numbered in their order: as it orders and finds pairs as the whole does, ranks with the same
    positions decide alike.

    Parameters
    ----------
    own : int, optional
        Of so many own nodes it is to have the pairs around them; default: all pairs.
    """
    nodes = energy.possible_nodes
    places = places_of(where, nodes)
    is_own = None if own is None else places < own
    if isinstance(energy, SurfaceContact):
        here: NeighbourListEnergy = energy.renumbered(nodes, is_own)
    else:
        weights, n = energy.interpolation.weights[:, nodes], energy.interpolation.n_points
        assert isinstance(energy.energy, SurfaceContact), "another contact is not shared"
        follows = None if is_own is None else abs(weights) @ is_own > 0.0
        points = energy.energy.renumbered(np.arange(n, dtype=np.int32), follows)
        here = ChangingInterpolatedEnergy(points, Interpolation(weights))
    return Selection(places, len(where)).of(here)


class EmptyContact(NeighbourListEnergy, ContactEnergy):
    """Contact with no node on this rank, which takes part in what ranks decide together."""

    reach = margin = 0.0
    impenetrable = True

    def __init__(self):
        self.nodes, self.list_positions = np.empty((0, 4), np.int32), np.empty((0, 3))

    def value(self, x: Array) -> Array:
        """Return nothing [0]: there are no pairs."""
        return np.zeros(len(x))

    def gradient(self, x: Array) -> Array:
        """Return nothing [0, 4, 3]."""
        return np.zeros_like(x)

    def add(self, form: Form, nodal: tuple[Array, ...], out: Array, slots: IntArray | None = None) -> None:
        """Add nothing."""

    def find(self, ends: tuple[Array, ...], distance: float) -> None:
        """Find nothing."""

    def renewed(self, q: Array) -> bool:
        """Return False."""
        return False

    def extend_list(self, ends: tuple[Array, ...]) -> bool:
        """Return False."""
        return False

    def contact_stiffness_bound(self, n_nodes: int) -> Array:
        """Return zeros [n]."""
        return np.zeros(n_nodes)


@dataclass
class CountedContact:
    """The pairs of a contact that are counted on a rank; each one is on one of the ranks.

    Attributes
    ----------
    energy : ChangingInterpolatedEnergy
        As `contact_on_rank` returns it.
    where : int32 [l]
        The numbers that nodes have in the whole mesh.
    own : int or None
        How many of them are own ones, which are the first; counted are pairs whose node of the least number is one of
        these. None: all pairs.
    """

    energy: ChangingInterpolatedEnergy
    where: IntArray
    own: int | None

    def counted(self, q: Array) -> tuple[Array, dict[str, float]]:
        """Return energies [m] in J of what counts here at q [l, 3], of all pairs their sum, and what these tell."""
        if self.own is None:
            still = np.zeros_like(q)
            self.energy.renewed(q)  # its own list, apart from that of the steps
            reported = self.energy.observed(
                State(0.0, q, still, still), still
            )  # which finds the gradient of the points
            return np.array([self.energy.total(q)]), reported
        contact, points = self.energy.complete((q,)), q
        nodes = contact.nodes
        while isinstance(contact, ChangingInterpolatedEnergy):
            points, contact = contact.interpolation.points(points), contact.energy
        assert isinstance(contact, SurfaceContact), "another contact is not shared"
        first = nodes[np.arange(len(nodes)), np.argmin(self.where[nodes], axis=1)]
        rows = np.flatnonzero(first < self.own)
        return contact.value(points[contact.nodes])[rows], contact.at(points).of_some(rows).observed()
