"""The part of a system that is on one rank: its energies around inner nodes, then those around sent ones."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.errors import InvertedElement, MaterialFailed, StepFailed
from symplex.fem.actions.support_motion import SupportMotion
from symplex.fem.assembly import Array
from symplex.fem.energy import Energy
from symplex.fem.solids.failures import named_in_all
from symplex.fem.system import Load, System
from symplex.parallel.actions import part_of_load
from symplex.parallel.contact import ContactOfRank
from symplex.parallel.division import Share
from symplex.parallel.friction import FrictionBetweenBodies, FrictionOnSome, is_divisible_friction, sees_ghosts
from symplex.parallel.halo import FailedElsewhere, Halo
from symplex.parallel.pieces import Piece
from symplex.parallel.sums import Counted


class Part(NamedTuple):
    """What a rank is told of its part.

    Attributes
    ----------
    share : Share
    mass : float64 [l]
        In kg.
    fixed : bool [l, dim]
    energies : tuple of str
        The names of all, in their order.
    inner, outer : mapping of str to Piece
        By the names of energies, but for contact between bodies. Outer ones number nodes from those beside sent ones
        on.
    contacts : mapping of str to ContactOfRank
        Contact between bodies, where it has own nodes; it numbers nodes as outer pieces do.
    loads : mapping of str to callable
        All loads, here and elsewhere.
    moving : mapping of str to SupportMotion
        The supports that move own nodes.
    supports : tuple of str
        The names of all supports that move, here and elsewhere.
    sends_velocities : bool
        Whether loads see those of ghosts.
    """

    share: Share
    mass: Array
    fixed: NDArray[np.bool_]
    energies: tuple[str, ...]
    inner: Mapping[str, Piece]
    outer: Mapping[str, Piece]
    contacts: Mapping[str, ContactOfRank]
    loads: Mapping[str, Load]
    moving: Mapping[str, SupportMotion]
    supports: tuple[str, ...]
    sends_velocities: bool = False

    @classmethod
    def of(
        cls,
        system: System,
        share: Share,
        inner: Mapping[str, Piece],
        outer: Mapping[str, Piece],
        moving: Mapping[str, SupportMotion],
        contacts: Mapping[str, ContactOfRank] = MappingProxyType({}),
    ) -> Part:
        """Return the part of a whole system that a share of its nodes is, given what was divided."""
        return cls(
            share,
            np.asarray(system.mass)[share.nodes],
            (system.fixed & ~system.moving.mask)[share.nodes],
            tuple(system.energies),
            inner,
            outer,
            dict(contacts),  # which can be sent, as the default cannot
            {name: part_of_load(load, share, system) for name, load in system.loads.items()},  # pyright: ignore
            moving,
            tuple(system.moving.motions),
            any(is_divisible_friction(load) and sees_ghosts(load) for load in system.loads.values()),
        )

    def system(self, halo: Halo) -> System:
        """Return the system that moves on this rank: ghosts are held by it, and moved by the exchange."""
        fixed = self.fixed.copy()
        fixed[self.share.ghosts :] = True
        dim = fixed.shape[1]
        energies = {"part": PartEnergy(self, halo)}
        loads = {name: self._acting(load) for name, load in self.loads.items()}
        return System(self.mass, energies, dim=dim, fixed=fixed, loads=loads, moving=self.moving)

    def _acting(self, load: Load) -> Load:
        """Return a load, or the friction between bodies that follows from a contact that is here."""
        if isinstance(load, FrictionBetweenBodies) and load.contact in self.contacts:
            contact = self.contacts[load.contact]
            return FrictionOnSome(load.of(contact.energy), contact.places + np.int32(self.share.beside))
        return load


class Place(NamedTuple):
    """Where a step has failed first: after so many steps, in which energy, by what, in which of its stencils."""

    step: int
    energy: int
    kind: int
    stencil: int


class Around(NamedTuple):
    """Stencils of an energy around own nodes.

    Attributes
    ----------
    energy : Energy
        On the nodes of the rank.
    chosen : int [m]
        Which stencils these are in the whole energy.
    counts : bool [m]
        Which of them count here: each stencil of the whole counts on one rank.
    """

    energy: Energy
    chosen: NDArray[np.integer]
    counts: NDArray[np.bool_]


class PartEnergy(Energy):
    """All energies of a part, with the exchange of positions hidden behind those around inner nodes.

    Parameters
    ----------
    part : Part
    halo : Halo

    Attributes
    ----------
    failed : Place or None
        Where the last step has failed here.
    seen : tuple of float64 [l, dim]
        What is sent of own nodes, and set at ghosts, beside positions: the velocities that loads see, if they do.
    """

    def __init__(self, part: Part, halo: Halo):
        self.nodes = np.empty((0, 1), np.int32)  # it is asked for nothing but its gradient
        share = part.share
        self._share, self._halo = share, halo
        self._inner, self._outer = _energies(part.inner), _energies(part.outer)
        self._pieces = part.inner, part.outer
        self._names, self._contacts = part.energies, part.contacts
        self._out = np.zeros((len(share.nodes) - share.beside, part.fixed.shape[1]))
        self.failed: Place | None = None
        self.seen: tuple[Array, ...] = ()

    def value(self, x: Array) -> Array:
        """Return nothing [0]: there are no stencils."""
        return np.empty(0)

    def gradient(self, x: Array) -> Array:
        """Return nothing [0, 1, dim]."""
        return np.zeros_like(x)

    def add_gradient(self, q: Array, out: Array) -> None:
        """Add the gradient in N of own nodes at q [l, dim] to out [l, dim], which is zero; ghosts in q are set.

        Raises
        ------
        StepFailed
            If an energy has none here.
        FailedElsewhere
            If another rank has failed in the step before.
        """
        self._halo.start(q, *self.seen)
        found = self._added(0, q, out)
        try:
            self._halo.finish(q, *self.seen)
        except FailedElsewhere:
            if not found:
                self._halo.end()
                raise
        else:
            found += self._outer_added(q)
        if found:
            self._halo.end()
            self.failed, error = min(found, key=lambda one: one[0])
            raise error
        self._take_outer(out)

    def known_gradient(self, q: Array) -> tuple[Array, tuple[Place, Exception] | None]:
        """Return the gradient [own, dim] in N at q [l, dim], ghosts included, in no step; or what has failed first."""
        share, out = self._share, np.zeros_like(q)
        before = {name: contact.q for name, contact in self._contacts.items()}
        self.begin(q)
        found = self._added(0, q, out) + self._outer_added(q)
        for name, contact in self._contacts.items():
            contact.q = before[name]
        self._take_outer(out)
        return out[: share.ghosts], min(found, key=lambda one: one[0], default=None)

    def begin(self, q: Array) -> None:
        """Take the positions q [l, dim] of the part for those at the start of a step."""
        for contact in self._contacts.values():
            contact.q = q[self._share.beside :][contact.places]

    def _outer_added(self, q: Array) -> list[tuple[Place, Exception]]:
        self._out.fill(0.0)
        return self._added(1, q[self._share.beside :], self._out)

    def _take_outer(self, out: Array) -> None:
        share = self._share
        first = share.sent - share.beside
        out[share.sent : share.ghosts] = self._out[first : share.ghosts - share.beside]
        out[share.ghosts :] = 0.0

    @cached_property
    def around(self) -> dict[str, Around]:
        """By the names of energies, all stencils around its own nodes, where there are any."""
        share, found = self._share, {}
        inner, outer = self._pieces
        for name in outer:
            piece, energy = outer[name], self._outer.get(name)
            if len(inner[name].nodes) or share.beside:
                piece, energy = inner[name].with_more(outer[name], share.beside), None
            if len(piece.nodes):
                energy = piece.energy() if energy is None else energy
                found[name] = Around(energy, piece.chosen, piece.nodes[:, 0] < share.ghosts)
        return found

    @cached_property
    def counted(self) -> dict[str, list[Counted]]:
        """By the names of energies, the stencils that are summed here: those whose first node is one of its own."""
        share, found = self._share, {name: [] for name in self._names}
        for name, contact in self._contacts.items():
            found[name].append(Counted(contact, share.beside, np.array([contact.counts])))
        for which, first in ((0, 0), (1, share.beside)):
            for name, energy in (self._inner, self._outer)[which].items():
                piece = self._pieces[which][name]
                counts = piece.nodes[:, 0] + first < share.ghosts
                if which:  # those beside inner nodes are in both
                    counts &= ~np.isin(piece.chosen, self._pieces[0][name].chosen)
                found[name].append(Counted(energy, first, counts))
        return found

    def _added(self, which: int, q: Array, out: Array) -> list[tuple[Place, Exception]]:
        """Add the inner or the outer energies; return what has failed, if anything has."""
        energies, pieces = (self._inner, self._outer)[which], self._pieces[which]
        contacts = self._contacts if which else {}
        for k, name in enumerate(self._names):
            try:
                if name in contacts:
                    contacts[name].add_gradient(q, out)
                elif name in energies:
                    energies[name].add_gradient(q, out)
            except Exception as error:  # whatever it is, the others have to hear of it
                return [named_error(error, k, pieces.get(name))]
        for k, contact in enumerate(contacts.values()):  # which look at the step when it is done
            try:
                contact.check(q)
            except StepFailed as error:
                return [(Place(0, len(self._names) + k, 2, 0), error)]
        return []


def _energies(pieces: Mapping[str, Piece]) -> dict[str, Energy]:
    return {name: piece.energy() for name, piece in pieces.items() if len(piece.nodes)}


def named_error(error: Exception, k: int, piece: Piece | None) -> tuple[Place, Exception]:
    """Return where an energy has failed, and the error with the numbers that the whole mesh has."""
    if piece is None or not isinstance(error, InvertedElement | MaterialFailed):
        return Place(0, k if isinstance(error, StepFailed) else -1, 2, 0), error
    named = named_in_all(error, piece.nodes, piece.chosen, piece.named)
    return Place(0, k, 0 if isinstance(error, InvertedElement) else 1, named.element), named
