"""The system of one rank for implicit steps: its own nodes, whose equations it solves, and ghosts around them.

All ranks take the same steps of the same method at the same time. What they decide by, norms of residuals and whether
forces are there, they find together; so each goes the same way through Newton's method, and fails where one fails.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from symplex.errors import InvertedElement, MaterialFailed, StepFailed
from symplex.fem.actions.support_motion import MovingSupports, SupportMotion
from symplex.fem.assembly import Array
from symplex.fem.changing import IncompleteStencils
from symplex.fem.energy import Energy
from symplex.fem.forms import Form
from symplex.fem.inner_products import inner
from symplex.fem.interpolation import ChangingInterpolatedEnergy
from symplex.fem.solids.failures import element_words
from symplex.fem.system import System
from symplex.parallel.contact import ContactElsewhere
from symplex.parallel.friction import FrictionBetweenBodies, PartOfFriction
from symplex.parallel.part import Part, Place, named_error
from symplex.parallel.reductions import Reductions

if TYPE_CHECKING:
    from symplex.parallel.pieces import Piece

Contact = ChangingInterpolatedEnergy | ContactElsewhere


class PartSystem(System):
    """A part of a system, for methods with implicit steps.

    Parameters
    ----------
    part : Part
        With all stencils around own nodes as outer ones.
    sums : Reductions
    frictions : mapping of str to str
        The names of loads that are friction, with those of the energies that they follow from.
    contacts : mapping of str to ChangingEnergy
        Contact between bodies, on all ranks.

    Attributes
    ----------
    known : Exception or None
        What all ranks have raised last.
    """

    def __init__(self, part: Part, sums: Reductions, frictions: Mapping[str, str], contacts: Mapping[str, Contact]):
        self._own, self._pieces, self._named = part.share.ghosts, part.outer, part.share.nodes
        dim = part.fixed.shape[1]
        self._halo, self._sums = sums.halo(part.share.neighbours, dim), sums
        self.known: Exception | None = None
        pieces = {name: piece.energy() for name, piece in part.outer.items() if len(piece.nodes)}
        here: dict[str, Energy] = {**pieces, **contacts}
        energies = {name: here[name] for name in part.energies if name in here}
        loads = dict(part.loads)
        for name, touching in frictions.items():  # none where there is none of its nodes
            load, contact = loads[name], contacts.get(touching)
            if isinstance(load, PartOfFriction):
                loads[name], energies[touching] = load.friction, load.friction.energy
            elif isinstance(load, FrictionBetweenBodies) and isinstance(contact, ChangingInterpolatedEnergy):
                loads[name] = load.of(contact)
        super().__init__(part.mass, energies, dim=dim, fixed=part.fixed, loads=loads, moving=part.moving)
        self.moving = OwnSupports(part.moving, part.fixed, self._own, sums)

    @property
    def n_own(self) -> int:
        """How many nodes are its own; ghosts come after them."""
        return self._own

    def dot(self, a: Array, b: Array) -> float:
        """Return Σ a·b over the nodes of all ranks."""
        return self._sums.totals(inner(a[: self._own], b[: self._own]))[0]

    def sum(self, x: Array) -> Array:
        """Return the sum [...] over the nodes of all ranks of x [l, …]."""
        return self._sums.total(x[: self._own].sum(axis=0))

    def share(self, x: Array) -> None:
        """Set a nodal vector x [l, dim] at ghosts to what it is at their owners."""
        self._halo.start(x)
        self._halo.finish(x)

    def agreed(self, part: Callable[[], float]) -> float:
        """Return the sum over all ranks of what a function returns there.

        Raises
        ------
        Exception
            What it raises on one of them; of several the one that one process would have met first.
        """
        value, error = 0.0, None
        try:
            value = part()
        except Exception as raised:  # whatever it is, the others have to hear of it
            error = raised
        values, failed = self._sums.gathered(np.array([value, float(error is not None)])).T
        if failed.any():
            found = self._sums.told(None if error is None else located(error, self._pieces))
            _, known = min((one for one in found if one is not None), key=lambda one: one[0])
            self.known = known
            raise known
        return float(values.sum())

    def foremost(self, x: Array) -> tuple[int, float, list[str]]:
        """Return the node of the whole mesh with the largest of numbers x [l], this number, and what acts there."""
        node = int(np.argmax(x[: self._own]))
        found = self._sums.told((-float(x[node]), int(self._named[node]), self.acting(node)))
        size, node, acting = min(found)
        return node, -size, acting

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

    def renew(self, q: Array) -> bool:
        """Let energies renew their stencils; return whether any did, on whatever rank."""
        return self._changed(lambda: System.renew(self, q))

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
        self._changed(lambda: [self.cover(end) for end in ends])

        def again() -> float:
            assemble()
            return 0.0

        self.agreed(again)

    def _changed(self, change: Callable[[], object]) -> bool:
        """Change stencils; where others have changed, take the pattern for another one: return whether any have.

        So linear solvers, which all ranks use together, are made anew together.
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

    def largest_step(self, q0: Array, q1: Array) -> float:
        """Return a part of the straight way from q0 to q1 [l, dim] on which nothing passes through, on any rank."""
        part = 1.0

        def find() -> float:
            nonlocal part
            part = System.largest_step(self, q0, q1)
            return 0.0

        self.agreed(find)
        return -self._sums.largest(-part)

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


def located(error: Exception, pieces: Mapping[str, Piece]) -> tuple[Place, Exception]:
    """Return where an energy has failed, and the error with the numbers that the whole mesh has."""
    if isinstance(error, InvertedElement | MaterialFailed):
        for k, piece in enumerate(pieces.values()):
            here = error.element
            if here < len(piece.nodes) and element_words(here, piece.nodes[here]) in str(error):
                return named_error(error, k, piece)
    return Place(0, len(pieces) if isinstance(error, StepFailed) else -1, 2, 0), error
