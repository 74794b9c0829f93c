"""The parts of a system on the ranks: divided and sent once, for the start, the stable step and the steps alike."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from symplex.fem.solids.plastic import solids_in
from symplex.fem.system import System
from symplex.parallel.member import Command, Member
from symplex.parallel.part import owners_of, parts_of
from symplex.parallel.sums import Sums

if TYPE_CHECKING:
    from symplex.fem.assembly.pattern import Array, IntArray
    from symplex.parallel.ranks import Ranks
    from symplex.time.motion import Motion


class Placement:
    """What each rank has of a system; `placed` returns it.

    Each rank is sent its nodes, with masses and supports, and the nodes of its elements, from which it makes these.

    Parameters
    ----------
    system : System
        One that `require_parts` lets pass.
    q : float64 [n, dim]
        Positions in m.
    ranks : Ranks
    owner : int32 [n], optional
        For implicit steps, the rank that owns each node; set if it is −1.

    Attributes
    ----------
    nodes : list of int32 [l]
        Those of each rank, ghosts last.
    own : list of int32 [own]
        Those that each rank owns.
    inelastic : list of dict of str to int [s]
        Which stencils of inelastic parts each rank has.
    """

    def __init__(self, system: System, q: Array, ranks: Ranks, owner: IntArray | None = None):
        self._ranks, self._system = ranks, ref(system)
        self._made_of = {name: ref(part) for name, part in _made_of(system).items()}
        self._motion: ref[Motion] | None = None
        self.nodes: list[IntArray] = [np.empty(0, np.int32)] * ranks.size
        self.own = list(self.nodes)
        self.inelastic: list[dict[str, NDArray[np.integer]]] = [{} for _ in range(ranks.size)]
        explicit = owner is None
        if owner is None or owner[0] < 0:
            found = owners_of(system, _places(system, q), ranks.size)
            owner = found if owner is None else owner
            owner[...] = found
        part = parts_of(system, owner, ranks.size, ranks.threads, explicit=explicit, hides=explicit and ranks.hides)

        def take(rank: int) -> Command:
            found = part(rank)
            self.nodes[rank], self.own[rank] = found.share.nodes, found.share.nodes[: found.share.ghosts]
            self.inelastic[rank] = {name: piece.chosen for name, piece in found.inelastic.items()}
            return partial(Member.take, part=found)

        ranks.call(take)

    def is_of(self, system: System) -> bool:
        """Return whether it is of a system as that is now."""
        found = _made_of(system)
        return (
            self._system() is system
            and list(found) == list(self._made_of)
            and all(self._made_of[name]() is part for name, part in found.items())
        )

    def begin(self, motion: Motion) -> None:
        """Take note that a motion takes its steps on these parts, which are its own as long as it is there."""
        self._motion = ref(motion)

    @property
    def is_moving(self) -> bool:
        """Whether a motion takes its steps on these parts."""
        return self._motion is not None and self._motion() is not None

    def _called(self, do: Callable[..., Any], q: Array) -> list[Any]:
        """Return what all ranks return at positions q [n, dim]."""
        return self._ranks.call(lambda rank: partial(do, q=q[self.nodes[rank]]))

    def gradient(self, q: Array, out: Array) -> None:
        """Write ∇V(q) [n, dim] in N at q [n, dim] to out, of each node by its rank: the bits of one process.

        Raises
        ------
        StepFailed
            As `System.gradient`.
        """
        for own, part in zip(self.own, self._called(Member.gradient_at, q), strict=True):
            out[own] = part

    def potentials(self, system: System, q: Array) -> dict[str, float]:
        """Return the energies of a system in J at q [n, dim] by name, each an exact sum over its stencils."""
        sums = Sums(system, self._called(Member.sums_at, q))
        return {name: sums.energies[name] for name in system.energies}


def placed(system: System, q: Array, ranks: Ranks) -> Placement:
    """Return the parts of a system on the ranks, which get them unless they have them; q [n, dim] are its positions."""
    # A checker of this file alone takes its class for another than that of the package.
    if ranks.placed is None or not ranks.placed.is_of(system):
        ranks.placed = ranks.moving = None  # what they had of any other
        ranks.placed = Placement(system, q, ranks)  # pyright: ignore[reportAttributeAccessIssue]
    return ranks.placed  # pyright: ignore[reportReturnType]


def _made_of(system: System) -> dict[str, object]:
    """Return what parts are made of, by name."""
    kinds = {"energy": system.energies, "load": system.loads, "support": system.moving.motions}
    kinds["inelastic part"] = system.inelastic
    parts = {f"{kind} {name}": part for kind, of in kinds.items() for name, part in of.items()}
    return {"mass": system.mass, "fixed": system.fixed} | parts


def _places(system: System, q: Array) -> Array:
    """Return where nodes are [n, dim] in m for their division: undeformed as far as that is known, always alike."""
    places = q.copy()
    for solid in solids_in(system.energies, system.inelastic).values():
        nodes = np.unique(solid.nodes)
        places[nodes] = solid.points[nodes]
    return places
