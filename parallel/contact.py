"""Contact between bodies on several ranks.

What may touch is not known beforehand. So each rank with nodes of a surface in contact has all nodes of it, most of
them as ghosts, and finds all pairs: of a mesh with N nodes these are of the order of N^(2/3). Each rank uses the forces
on its own nodes only, which are summed in the order of one process.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeGuard

import numpy as np

from symplex.contact.bodies import BodyContact
from symplex.errors import StepFailed
from symplex.fem.assembly import Array, IntArray
from symplex.fem.energy import Energy
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
