"""What only energies of contact have: stiffness that comes when gaps close, and bodies that must not overlap."""

from __future__ import annotations

from abc import abstractmethod
from typing import final

import numpy as np

from symplex.fem.assembly.pattern import Array
from symplex.fem.energies.energy import Energy


class ContactEnergy(Energy):
    """An energy of contact, or one around others that may be of contact.

    Methods ask `contact_of` of any energy. The three that guard against overlap are called of ``impenetrable`` ones.

    Attributes
    ----------
    resolved_share : float
        Which part of the frequency of its `contact_stiffness_bound` explicit steps resolve as that of a single node on
        contact: less than 1 where others give way as well, and the stiffness is estimated from above.
    bounded_stiffness : bool
        Whether there is a greatest stiffness, as there is none of a barrier that grows without bound.
    impenetrable : bool
        Whether bodies must not pass through each other.
    """

    resolved_share: float = 1.0
    bounded_stiffness: bool = True
    impenetrable: bool = False

    @abstractmethod
    def contact_stiffness_bound(self, n_nodes: int) -> Array:
        """Return per node [n] in N/m a bound on stiffness that ∇² does not show now but may later (open contact)."""

    def check_start(self, q: Array) -> None:
        """Check that a motion can begin at the nodal positions q [n, dim]: that no bodies overlap."""

    def collision_free_fraction(self, q0: Array, q1: Array) -> float:
        """Return a fraction in [0, 1] of the straight path from q0 to q1 [n, dim] that is free of collisions.

        It may be smaller than the largest one, and ends before bodies touch; 1 is all of the path.
        """
        return 1.0

    def find_penetration(self, q0: Array, q1: Array) -> str | None:
        """Return what has passed through on the straight path from q0 to q1 [n, dim], and where; None if nothing."""
        return None


@final
class _NoContact(ContactEnergy):
    """What an energy without contact adds."""

    nodes = np.empty((0, 1), np.int32)

    def value(self, x: Array) -> Array:
        """Return nothing [0]."""
        return np.zeros(len(x))

    def gradient(self, x: Array) -> Array:
        """Return nothing [0, 1, dim]."""
        return np.zeros_like(x)

    def contact_stiffness_bound(self, n_nodes: int) -> Array:
        """Return zeros [n]."""
        return np.zeros(n_nodes)


_NONE = _NoContact()


def contact_of(energy: Energy) -> ContactEnergy:
    """Return an energy as one of contact; one without contact has no latent stiffness, and nothing impenetrable."""
    return energy if isinstance(energy, ContactEnergy) else _NONE
