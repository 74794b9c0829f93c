"""The system of one rank: its own nodes, whose equations it solves, and ghosts around them.

All ranks take the same steps of the same method at the same time. In implicit steps they find together what they decide
by, norms of residuals and whether forces are there; so each goes the same way through Newton's method, and fails where
one fails. In explicit steps nothing is decided: each exchange of ghosts shows whether the sender goes on.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Container, Mapping
from contextlib import suppress
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from symplex.errors import InvertedElement, MaterialFailed, StepFailed
from symplex.fem.actions.support_motion import MovingSupports, SupportMotion
from symplex.fem.assembly.forms import Form
from symplex.fem.assembly.inner_products import inner
from symplex.fem.assembly.pattern import Array
from symplex.fem.couplings.interpolation import ChangingInterpolatedEnergy
from symplex.fem.energies.energy import Energy
from symplex.fem.energies.neighbour_list import IncompleteStencils
from symplex.fem.solids.failures import element_words, named_in_all
from symplex.fem.system import System
from symplex.parallel.contact import CountedContact
from symplex.parallel.halo import FailedElsewhere
from symplex.parallel.part import Around, Part, Place
from symplex.parallel.reductions import Reductions
from symplex.parallel.sums import Counted

if TYPE_CHECKING:
    from symplex.parallel.inelastic import InelasticPiece
    from symplex.parallel.pieces import Piece

_Failures = list[tuple[Place, Exception]]


class SubdomainSystem(System):
    """A part of a system.

    Its energies are those around own nodes, or with a hidden exchange those around sent ones; the others are ``inner``.

    Attributes
    ----------
    part : Part
    sums : Reductions
    halo : Halo
        The exchange of what ghosts have.
    agrees : bool
        Whether ranks find together what they decide by: in implicit steps.
    failed : Place or None
        Where the last explicit step has failed here.
    seen : tuple of float64 [l, dim]
        What is sent of own nodes in explicit steps, and set at ghosts, besides positions: velocities that loads see.
    """

    def __init__(self, part: Part, sums: Reductions):
        self.part, self.sums, self._own = part, sums, part.share.ghosts
        dim = part.fixed.shape[1]
        self.halo = sums.halo(part.share.neighbours, dim, 1 + part.sends_velocities)
        self.agrees = part.counted is None
        self._known: Exception | None = None  # what all ranks have raised last
        self.failed: Place | None = None
        self._steps_left = self._parts_of_step = 0  # of explicit steps at whose ends all ranks meet
        self._gone: dict[str, NDArray[np.bool_]] = {}  # of the whole mesh
        self.followed: Mapping[str, NDArray[np.bool_]] = {}  # what energies follow of it
        self._n_gone = -1.0  # how many these are, or −1 if that is not known
        self.seen: tuple[Array, ...] = ()
        self.inner = _energies(part.inner)
        here: dict[str, Energy] = {**_energies(part.outer), **part.contacts}
        energies = {name: here[name] for name in part.energies if name in here}
        super().__init__(
            part.mass,
            energies,
            dim=dim,
            fixed=part.fixed,
            loads=part.loads,
            inelastic={name: piece.part for name, piece in part.inelastic.items()},
            moving=part.moving,
        )
        self.moving = OwnSupports(part.moving, part.fixed, self._own, sums)
        self._out = np.zeros((part.mass.size if part.inner else 0, dim))

    @property
    def n_own(self) -> int:
        """How many nodes are its own; ghosts come after them."""
        return self._own

    def dot(self, a: Array, b: Array) -> float:
        """Return Σ a·b over the nodes of all ranks."""
        return self.sums.totals(inner(a[: self._own], b[: self._own]))[0]

    def sum(self, x: Array) -> Array:
        """Return the sum [...] over the nodes of all ranks of x [l, …]."""
        return self.sums.total(x[: self._own].sum(axis=0))

    def totals(self, *numbers: float) -> tuple[float, ...]:
        """Return the sum over all ranks of each of some numbers."""
        return self.sums.totals(*numbers)

    def share(self, x: Array) -> None:
        """Set a nodal vector x [l, dim] at ghosts to what it is at their owners."""
        self.halo.start(x)
        self.halo.finish(x)

    def agreed(self, part: Callable[[], float]) -> float:
        """Return the sum over all ranks of what a function returns there.

        Raises
        ------
        Exception
            What it raises on one of them; of several the one that one process would have met first.
        """
        return self._together(part) if self.agrees else part()

    def _together(self, part: Callable[[], float]) -> float:
        """Do `agreed` in explicit steps as well, in which others only learn that steps have ended."""
        value, error = 0.0, None
        try:
            value = part()
        except Exception as raised:  # whatever it is, the others have to hear of it
            error = raised
        values, failed = self.sums.gathered(np.array([value, float(error is not None)])).T
        if failed.any():
            self._steps_left = self.halo.left = 0
            if not self.agrees:
                raise FailedElsewhere if error is None else error
            found = self.sums.reported(
                None if error is None else located(error, {**self.part.outer, **self.part.inelastic})
            )
            _, known = min((one for one in found if one is not None), key=lambda one: one[0])
            self._known = known
            raise known
        return float(values.sum())

    def foremost(self, x: Array) -> tuple[int, float, list[str]]:
        """Return the node of the whole mesh with the largest of numbers x [l], this number, and what acts there."""
        node = int(np.argmax(x[: self._own]))
        found = self.sums.reported((-float(x[node]), int(self.part.share.nodes[node]), self.acting(node)))
        size, node, acting = min(found)
        return node, -size, acting

    # -- elements that go, on whatever rank -----------------------------------------------------------------------

    def forget(self) -> None:
        """Know no longer which elements are gone: another motion begins."""
        self._n_gone = -1.0

    def gone(self, internal: Mapping[str, Array]) -> dict[str, NDArray[np.bool_]]:
        """Return which elements [m] of the whole mesh are gone, by the names of parts; all ranks call it together."""
        if not self.part.exposes:
            return {}
        pieces = {name: piece for name, piece in self.part.inelastic.items() if piece.part.erodes}
        here = {name: one.chosen[one.counts & one.part.gone(internal[name])] for name, one in pieces.items()}
        count = self._together(lambda: float(sum(map(len, here.values()))))
        if count != self._n_gone:  # elements do not come back
            self._n_gone, self._gone = count, {name: np.zeros(one.whole, bool) for name, one in pieces.items()}
            for of_rank in self.sums.reported(here):
                for name, chosen in of_rank.items():
                    self._gone[name][chosen] = True
        return self._gone

    def follow(self, gone: Mapping[str, NDArray[np.bool_]]) -> None:
        """Let energies take which elements of the whole mesh are gone."""
        self.followed = gone
        super().follow(gone)
        for contact in self._counted_contacts:
            contact.energy.follow(gone)

    def expose(self, internal: Mapping[str, Array], q: Array) -> list[tuple[str, int, float]]:
        """Let energies follow elements that are gone at the end of a step; return what is lost of theirs, if here.

        All ranks meet in it, so that explicit steps may end in it (see `end`).
        """
        if not self.part.exposes:
            return []
        found = super().expose(internal, q)
        self._steps_left = max(self._steps_left - 1, 0)
        self.halo.left = self._parts_of_step if self._steps_left else 0
        pieces = self.part.inelastic
        of = [(name, np.flatnonzero(pieces[name].counts & (pieces[name].chosen == k)), x) for name, k, x in found]
        return [(name, int(here[0]), lost) for name, here, lost in of if len(here)]

    def _following(self, gone: Mapping[str, NDArray[np.bool_]], q: Array) -> float | None:
        if gone is self.followed:
            return None

        def lost() -> float:
            before = self._energy_of_contacts(q)
            self.follow(gone)
            return before - self._energy_of_contacts(q)

        return self._together(lost)

    def _energy_of_contacts(self, q: Array) -> float:
        return float(sum(contact.counted(q)[0].sum() for contact in self._counted_contacts))

    @property
    def _counted_contacts(self) -> list[CountedContact]:
        return [one for parts in self.counted.values() for one in parts if isinstance(one, CountedContact)]

    # -- explicit steps -------------------------------------------------------------------------------------------

    def expect(self, steps: int, parts: int) -> None:
        """Expect so many steps: explicit ones in equal parts, each with an exchange."""
        if not self.agrees:
            self.halo.left = parts if self.part.exposes else steps * parts
            self._steps_left, self._parts_of_step = steps if self.part.exposes else 0, parts

    def end(self) -> None:
        """Tell the others that still expect it that this rank has failed in explicit steps, or heard of a failure."""
        self.halo.end()  # of the present step, if they meet at its end

        def fail() -> float:
            raise FailedElsewhere

        if self._steps_left:
            with suppress(FailedElsewhere):
                self._together(fail)

    def step_gradient(self, q: Array, out: Array) -> None:
        """Add the gradient in N of own nodes at q [l, dim] to out [l, dim], which is zero; ghosts in q are set.

        Raises
        ------
        StepFailed
            If an energy has none here.
        FailedElsewhere
            If another rank has failed in the step before.
        """
        self.halo.start(q, *self.seen)
        found = self._added(self.inner, self.part.inner, q, out)
        try:
            self.halo.finish(q, *self.seen)
        except FailedElsewhere:
            if not found:
                raise
        else:
            found += self._outer_added(q, out)
        if found:
            self.failed, error = min(found, key=lambda one: one[0])
            raise error

    def gradient_at(self, q: Array) -> tuple[Array, tuple[Place, Exception] | None]:
        """Return the gradient [own, dim] in N at q [l, dim], ghosts included, in no step; or what has failed first."""
        out = np.zeros_like(q)
        found = self._added(self.inner, self.part.inner, q, out) + self._outer_added(q, out)
        return out[: self._own], min(found, key=lambda one: one[0], default=None)

    def _outer_added(self, q: Array, out: Array) -> _Failures:
        """Add outer energies, which sum all forces of sent nodes; return what has failed, if anything has."""
        share = self.part.share
        if self.part.inner:
            self._out[share.next_to :] = 0.0
            found = self._added(self.energies, self.part.outer, q, self._out)
            out[share.sent : self._own] = self._out[share.sent : self._own]
        else:
            found = self._added(self.energies, self.part.outer, q, out)
        out[self._own :] = 0.0
        return found

    def _added(self, energies: Mapping[str, Energy], pieces: Mapping[str, Piece], q: Array, out: Array) -> _Failures:
        """Add the gradients of energies; return what has failed, if anything has."""
        for k, name in enumerate(self.part.energies):
            if name in energies:
                try:
                    energies[name].add_gradient(q, out)
                except Exception as error:  # whatever it is, the others have to hear of it
                    return [named_error(error, k, pieces.get(name))]
        return []

    def placed(self, error: Exception, step: int) -> tuple[Place, Exception]:
        """Return where steps have failed by an error, after so many of them; end all ranks if others do not know it.

        And the error, with the numbers that the whole mesh has.
        """
        if not self.agrees:
            place = self.failed
            if place is None:
                place, error = located(error, self.part.inelastic)
            return place._replace(step=step if isinstance(error, StepFailed) else -1), error
        if not isinstance(error, StepFailed) and error is not self._known:
            traceback.print_exc()  # the others wait for this rank
            self.sums.abort()
        return Place(step, 0, 0, 0), error

    # -- stencils around own nodes ----------------------------------------------------------------------------------

    @cached_property
    def around(self) -> dict[str, Around]:
        """By the names of energies, all stencils around its own nodes, where there are any."""
        found = {}
        for name, piece in self.part.outer.items():
            energy = self.energies.get(name)
            if self.part.inner:
                piece, energy = self.part.inner[name].with_more(piece), None
            if len(piece.nodes):
                energy = piece.energy() if energy is None else energy
                found[name] = Around(energy, piece.chosen, piece.nodes[:, 0] < self._own)
        return found

    @cached_property
    def counted(self) -> dict[str, list[Counted | CountedContact]]:
        """By the names of energies, the stencils that are summed here: those whose first node is its own."""
        part, found = self.part, {name: [] for name in self.part.energies}
        for energies, pieces, before in ((self.inner, part.inner, {}), (self.energies, part.outer, part.inner)):
            for name, piece in pieces.items():
                if len(piece.nodes):
                    counts = piece.nodes[:, 0] < self._own
                    if name in before:  # those next to inner nodes are in both
                        counts &= ~np.isin(piece.chosen, before[name].chosen)
                    found[name].append(Counted(energies[name], counts))
        own = self._own if part.counted is None else None
        for name, contact in (part.contacts if part.counted is None else part.counted).items():
            if isinstance(contact, ChangingInterpolatedEnergy):
                found[name].append(CountedContact(contact, part.share.nodes, own))
        return found

    # -- sums -------------------------------------------------------------------------------------------------------

    def gradient(self, q: Array, out: Array | None = None) -> Array:
        """Return ∇V(q) [l, dim] in N, zero at ghosts."""
        out = super().gradient(q, out)
        out[self._own :] = 0.0
        return out

    def assembled(
        self, form: Form, *nodal: Array, out: Array | None = None, among: Container[str] | None = None
    ) -> Array:
        """Return a form of all energies together, nodal vectors zero at ghosts."""
        out = super().assembled(form, *nodal, out=out, among=among)
        if not form.is_matrix:
            out[self._own :] = 0.0
        return out

    # -- stencils that change, on some ranks ----------------------------------------------------------------------

    def update_neighbours(self, q: Array) -> bool:
        """Let energies renew their stencils; return whether any did, on whatever rank."""
        return self._changed(lambda: System.update_neighbours(self, q))

    def settle(self, q: Array) -> None:
        """Let energies find their stencils at the end of a step, on all ranks together."""
        self._changed(lambda: System.settle(self, q))

    def covering(self, assemble: Callable[[], None]) -> None:
        """Assemble matrices, on all ranks once more if stencils have to be found for the step on one of them."""
        ends: list[tuple[Array, ...]] = []

        def attempt() -> float:
            try:
                assemble()
            except IncompleteStencils as error:
                ends.append(error.ends)
            return float(len(ends))

        if self.agreed(attempt) == 0.0:
            return
        self._changed(lambda: [self.extend_list(end) for end in ends])

        def again() -> float:
            assemble()
            return 0.0

        self.agreed(again)

    def _changed(self, change: Callable[[], object]) -> bool:
        """Change stencils; where others have changed, take the pattern for another one: return whether any have.

        So linear solvers, which all ranks use together, are rebuilt together.
        """
        if not self.changing:
            return False
        before = self._versions()

        def number() -> float:
            change()
            return float(self._versions() != before)

        if self.agreed(number) == 0.0:
            return False
        if self._versions() == before:
            next(iter(self.changing.values())).version += 1
        return True

    def _versions(self) -> list[int]:
        return [energy.version for energy in self.changing.values()]

    def collision_free_fraction(self, q0: Array, q1: Array) -> float:
        """Return a part of the straight way from q0 to q1 [l, dim] on which nothing passes through, on any rank."""
        part = 1.0

        def find() -> float:
            nonlocal part
            part = System.collision_free_fraction(self, q0, q1)
            return 0.0

        self.agreed(find)
        return -self.sums.largest(-part)

    def accelerations_at(
        self, t: float, q: Array, v: Array, internal: Mapping[str, Array] = MappingProxyType({})
    ) -> Array:
        """Return the accelerations [l, dim] in m/s², right at own nodes."""
        out = np.empty_like(q)

        def write() -> float:
            out[...] = System.accelerations_at(self, t, q, v, internal)
            return 0.0

        self.agreed(write)
        return out


class OwnSupports(MovingSupports):
    """The supports of a part that move, which do work on nodes of all ranks."""

    def __init__(self, motions: Mapping[str, SupportMotion], fixed: NDArray[np.bool_], own: int, sums: Reductions):
        super().__init__(motions, fixed)
        self._own, self._sums = own, sums

    def works(self, products: Array) -> list[float]:
        """Return the sum over all ranks of products [l, dim] of each support."""
        products = products.copy()
        products[self._own :] = 0.0
        return self._sums.total(np.array(super().works(products))).tolist()


def _energies(pieces: Mapping[str, Piece]) -> dict[str, Energy]:
    return {name: piece.energy() for name, piece in pieces.items() if len(piece.nodes)}


def named_error(error: Exception, k: int, piece: Piece | InelasticPiece | None) -> tuple[Place, Exception]:
    """Return where an energy has failed, and the error with the numbers that the whole mesh has."""
    if piece is None or not isinstance(error, InvertedElement | MaterialFailed):
        return Place(0, k if isinstance(error, StepFailed) else -1, 2, 0), error
    named = named_in_all(error, piece.nodes, piece.chosen, piece.named)
    return Place(0, k, 0 if isinstance(error, InvertedElement) else 1, named.element), named


def located(error: Exception, pieces: Mapping[str, Piece | InelasticPiece]) -> tuple[Place, Exception]:
    """Return where an energy has failed, and the error with the numbers that the whole mesh has."""
    if isinstance(error, InvertedElement | MaterialFailed):
        for k, piece in enumerate(pieces.values()):
            here = error.element
            if here < len(piece.nodes) and element_words(here, piece.nodes[here]) in str(error):
                return named_error(error, k, piece)
    return Place(0, len(pieces) if isinstance(error, StepFailed) else -1, 2, 0), error
