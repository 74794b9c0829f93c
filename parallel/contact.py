"""Contact between bodies on several ranks.

What may touch is not known beforehand. So each rank with nodes of a surface in contact has all nodes of it, most of
them as ghosts, and finds all pairs: of a mesh with N nodes these are of the order of N^(2/3). Each rank uses the forces
on its own nodes only, which are summed in the order of one process. In implicit steps it keeps of what it finds only
the pairs around its own nodes, so that forces and stiffness are found once, but for pairs along borders.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeGuard

import numpy as np
import scipy.sparse as sp

from symplex.contact.bodies import BodyContact
from symplex.errors import StepFailed
from symplex.fem.assembly import Array, IntArray
from symplex.fem.changing import ChangingEnergy
from symplex.fem.contact_energy import ContactEnergy
from symplex.fem.energy import Energy
from symplex.fem.forms import Form
from symplex.fem.interpolation import ChangingInterpolatedEnergy, Interpolation
from symplex.fem.state import State
from symplex.parallel.division import places_of

SharedContact = BodyContact | ChangingInterpolatedEnergy


class Crossed(StepFailed):
    """Something has passed through something else in a step that is done otherwise."""


def is_shared_contact(energy: Energy) -> TypeGuard[SharedContact]:
    """Return whether an energy is contact that ranks can have together."""
    if isinstance(energy, ChangingInterpolatedEnergy):
        return isinstance(energy.energy, BodyContact)
    return isinstance(energy, BodyContact)


def _renumbered(energy: SharedContact, nodes: IntArray) -> SharedContact:
    """Return the contact with its nodes alone, numbered in their order; its list is still to be found."""
    if isinstance(energy, BodyContact):
        return energy.renumbered(nodes)
    points = energy.energy.renumbered(np.arange(energy.interpolation.n_points, dtype=np.int32))  # pyright: ignore
    return ChangingInterpolatedEnergy(points, Interpolation(energy.interpolation.weights[:, nodes]))


def contact_around(energy: SharedContact, where: IntArray, own: int) -> ChangingInterpolatedEnergy:
    """Return the contact on a rank with the nodes ``where`` [l], of which the first are its own: all pairs around them.

    As it orders and finds pairs as the whole does, ranks with the same positions decide alike.
    """
    if isinstance(energy, BodyContact):
        contact, nodes = energy, energy.surface.vertices
        indices, data, indptr = nodes, np.ones(len(nodes)), np.arange(len(nodes) + 1)
    else:
        weights, contact = energy.interpolation.weights, energy.energy
        nodes = np.arange(energy.interpolation.n_points, dtype=np.int32)  # the points are numbered as they were
        indices, data, indptr = np.asarray(weights.indices, np.int32), weights.data, np.asarray(weights.indptr)
    assert isinstance(contact, BodyContact), "another contact is not shared"
    places = places_of(where, indices)
    around = np.zeros(len(nodes), bool)
    around[np.repeat(np.arange(len(nodes)), np.diff(indptr))[places < own]] = True
    here = sp.csr_array((data, places, indptr), (len(nodes), len(where)))
    return ChangingInterpolatedEnergy(contact.renumbered(nodes, around), Interpolation(here))


class ContactElsewhere(ChangingEnergy, ContactEnergy):
    """Contact with no node on this rank, which takes part in what ranks decide together."""

    reach = margin = 0.0
    impenetrable = True

    def __init__(self):
        self.nodes, self.listed_at = np.empty((0, 4), np.int32), np.empty((0, 3))

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

    def cover(self, ends: tuple[Array, ...]) -> bool:
        """Return False."""
        return False

    def latent_stiffness(self, n_nodes: int) -> Array:
        """Return zeros [n]."""
        return np.zeros(n_nodes)


@dataclass
class ContactOfRank:
    """A contact on a rank with some of its nodes.

    Attributes
    ----------
    energy : BodyContact or ChangingInterpolatedEnergy
        Of its nodes alone.
    places : int32 [s]
        Where these are on the rank.
    q : float64 [s, 3]
        Their positions in m at the start of the step.
    counts : bool
        Whether its energy, and what it tells, counts here; it does on one rank.
    """

    energy: SharedContact
    places: IntArray
    q: Array
    counts: bool

    @classmethod
    def of(cls, energy: SharedContact, where: IntArray, q: Array, counts: bool) -> ContactOfRank:
        """Return the contact on a rank with the nodes ``where`` [l], at positions q [n, 3] of all nodes."""
        nodes = energy.possible_nodes
        return cls(_renumbered(energy, nodes), places_of(where, nodes), q[nodes], counts)

    def add_gradient(self, q: Array, out: Array) -> None:
        """Add its forces in N at q [l, 3] to out [l, 3], which has those before it; see `check`."""
        self.energy.renewed(self.q)
        here, forces = q[self.places], out[self.places]
        self.energy.add_gradient(here, forces)
        out[self.places] = forces

    def check(self, q: Array) -> None:
        """Take note of the positions q [l, 3] at the end of a step.

        Raises
        ------
        Crossed
            If something has passed through in the step.
        """
        before, self.q = self.q, q[self.places]
        if what := self.energy.crossing(before, self.q):
            raise Crossed(f"{what}. Try a smaller step, or a stiffer contact.")

    def total(self, q: Array) -> float:
        """Return its energy in J at q [l, 3]."""
        return self.energy.total(q[self.places])

    def observed(self, q: Array) -> dict[str, float]:
        """Return what it tells at q [l, 3]."""
        here = q[self.places]
        still = np.zeros_like(here)
        energy = self.energy
        stencils = energy.nodes
        return energy.observed(State(0.0, here, still, still), energy.gradient(here[stencils]))


@dataclass
class ContactAround:
    """A contact on a rank that has the pairs around its own nodes, of which each is counted on one rank.

    That is where the node is which the whole mesh gives the least number.

    Attributes
    ----------
    energy : ChangingInterpolatedEnergy
    where : int32 [l]
        The numbers that nodes have in the whole mesh.
    own : int
        How many of them are own ones, which are the first.
    """

    energy: ChangingInterpolatedEnergy
    where: IntArray
    own: int

    def counted(self, q: Array) -> tuple[Array, dict[str, float]]:
        """Return the energies [m] in J of the pairs that count here at q [l, 3], and what these tell."""
        complete = self.energy.complete((q,))
        nodes, contact = complete.nodes, complete.energy
        assert isinstance(contact, BodyContact), "another contact is not shared"
        first = nodes[np.arange(len(nodes)), np.argmin(self.where[nodes], axis=1)]
        rows, points = np.flatnonzero(first < self.own), complete.interpolation.points(q)
        return contact.value(points[contact.nodes])[rows], contact.at(points).of_some(rows).observed()
