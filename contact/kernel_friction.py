"""Friction in loops: of nodes with obstacles over their measure, and between the surfaces of bodies over pairs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import final

import numpy as np

from symplex.contact import friction_loops, pair_friction, segment_friction, segment_loops
from symplex.contact.bodies import BodyContact
from symplex.contact.facet_pairs import FacetPairs
from symplex.contact.friction_law import FrictionLaw
from symplex.contact.friction_loops import FrictionRecord
from symplex.contact.pair_friction import PairFrictionRecord
from symplex.contact.pairs import PairRecord
from symplex.contact.rigid import RigidContact
from symplex.contact.segment_friction import FacetFrictionRecord
from symplex.contact.segments import SegmentContact
from symplex.errors import InvalidSystem
from symplex.fem.actions.increment_load import Factors
from symplex.fem.assembly.calls import Call, rows_of, run, run_matrix, whole
from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.forms import DERIVATIVES, FORCES, LoadForm
from symplex.fem.assembly.nodes import require_nodal
from symplex.fem.assembly.pattern import Array, IntArray

Pairs = PairRecord | FacetPairs
SurfaceContact = BodyContact | SegmentContact


class KernelFriction(Copyable, ABC):
    """Friction by kernels that read the record of a contact and the law of friction.

    Attributes
    ----------
    nodes : int32 [m, k]
        The stencils as they are now.
    """

    _dim, _least_nodes = 3, 0  # of arrays for nodes

    @property
    @abstractmethod
    def nodes(self) -> IntArray: ...

    @abstractmethod
    def call(self, form: LoadForm, *, secant: bool = False) -> Call | None:
        """Return the call of a form, None if its stencils change; ``secant``: of derivatives, with secants."""

    @abstractmethod
    def _call_at(self, form: LoadForm, ends: tuple[Array, ...], secant: bool) -> Call:
        """Return the call of a form at positions [n, dim], one or two of them."""

    def _checked(self, *nodal: Array) -> tuple[Array, ...]:
        """Return nodal vectors that kernels can read: they would read beyond the end."""
        n = max(map(len, nodal))
        for values in nodal:
            require_nodal("Friction", "an array for nodes has", values, max(n, self._least_nodes), self._dim)
        return tuple(np.ascontiguousarray(values, float) for values in nodal)

    def add(self, q0: Array, q1: Array, v: Array, out: Array) -> float:
        """Add the forces to out [n, dim]; return a sum that is finite if all are."""
        call = self._call_at(FORCES, (q0,) if q1 is q0 else (q0, q1), False)
        q0, q1, v = self._checked(q0, q1, v)
        return run(rows_of(FORCES, [call]), out, 1.0, q0, q1, q1, v)

    def add_derivatives(self, q0: Array, q1: Array, v: Array, by: Factors, slots: IntArray, out: Array) -> float:
        """Add 2 by.q ∂f/∂q1 + by.v ∂f/∂v to the blocks [nnz, dim, dim]; return a sum that is finite if all are.

        The list of a contact between bodies must be complete, as it is where the Hessian of the contact is added.
        """
        call = self._call_at(DERIVATIVES, (q0, q1), by.secant)
        q0, q1, v = self._checked(q0, q1, v)
        return run_matrix(rows_of(DERIVATIVES, [call], slots), out, 1.0, q0, q1, q1, v, by.q, by.v)


@final
class MeasureFriction(KernelFriction):
    """The friction of the nodes of a contact that is a law of a measure."""

    def __init__(self, contact: RigidContact, friction: FrictionLaw):
        self._contact, self._friction = contact, friction
        self._dim, self._least_nodes = contact.obstacle.dim, int(contact.nodes.max(initial=-1)) + 1

    @property
    def nodes(self) -> IntArray:
        """The nodes [m, 1], or each with that which carries the obstacle [m, 2]."""
        return self._contact.nodes

    def call(self, form: LoadForm, *, secant: bool = False) -> Call:
        """Return the call of a form; ``secant``: of derivatives, with secants."""
        return Call(friction_loops.KERNELS[form.name], self._records[secant], whole(len(self.nodes)))

    def _call_at(self, form: LoadForm, ends: tuple[Array, ...], secant: bool) -> Call:
        return self.call(form, secant=secant)

    @cached_property
    def _records(self) -> tuple[FrictionRecord, FrictionRecord]:
        """What the kernels read, without and with secants."""
        contact = self._contact.record
        assert contact is not None, "the law of a contact with an obstacle is compiled"
        numbers = np.array(self._friction, float)
        one, other = (FrictionRecord(**contact.as_dict(), friction=numbers, secant=secant) for secant in (False, True))
        return one, other


@final
class SurfaceFriction(KernelFriction):
    """The friction between bodies, for all pairs of a contact or those of two bodies.

    It is that of `symplex.contact.pair_friction`, or of `symplex.contact.segment_friction` over facets.
    """

    def __init__(self, contact: SurfaceContact, friction: FrictionLaw, between: tuple[str, str] | None):
        self._contact, self._friction = contact, friction
        self._bodies: tuple[int, int] | None = None
        self._made: dict[
            tuple[str, bool], tuple[Pairs, PairFrictionRecord | FacetFrictionRecord]
        ] = {}  # of the pairs of the contact
        if between is not None:
            one, other = (contact.surface.body(name) for name in between)
            if not contact.between[one, other]:
                raise InvalidSystem(f"Friction: the bodies '{between[0]}' and '{between[1]}' are not in contact.")
            self._bodies = min(one, other), max(one, other)

    @property
    def nodes(self) -> IntArray:
        """The pairs [m, 4] in the list."""
        return self._record_at(DERIVATIVES, self._contact.record, False).nodes

    def call(self, form: LoadForm, *, secant: bool = False) -> None:
        """Return None: the pairs depend on positions."""

    def _call_at(self, form: LoadForm, ends: tuple[Array, ...], secant: bool) -> Call:
        pairs = self._contact.near(ends).record if form is FORCES else self._contact.record
        record = self._record_at(form, pairs, secant)
        loops = pair_friction if isinstance(record, PairFrictionRecord) else segment_friction
        return Call(loops.KERNELS[form.name], record, whole(len(record.nodes)))

    def tractions(self, q: Array, v: Array) -> Array:
        """Return the tractions [n, 3] in Pa at nodes; see `Friction.tractions`."""
        record = self._call_at(FORCES, (q,), False).record
        forces, areas = np.zeros((len(q), 3)), np.zeros(len(q))
        if isinstance(record, FacetFrictionRecord):
            q, v = self._checked(q, v)
            segment_friction.add_tractions(q, v, record, forces)
            pressed = np.zeros((len(q), 2))  # of all bodies, so that tractions of several add up
            segment_loops.add_pressures(q, self._contact.near((q,)).record, pressed)
            areas = pressed[:, 1]
        else:
            self.add(q, q, v, forces)
            areas[self._contact.surface.vertices] = self._contact.surface.vertex_areas
        return np.divide(forces, areas[:, None], out=np.zeros_like(forces), where=areas[:, None] > 0.0)

    def _record_at(self, form: LoadForm, pairs: Pairs, secant: bool) -> PairFrictionRecord | FacetFrictionRecord:
        """Return what kernels read of the pairs that have this friction, made once for a list."""
        before = self._made.get((form.name, secant))
        if before is not None and before[0] is pairs:
            return before[1]
        chosen = pairs
        if self._bodies is not None:
            bodies = np.sort(self._contact.surface.bodies_of(pairs.nodes[:, [0, -1]]), axis=1)
            chosen = pairs.chosen(np.flatnonzero((bodies == self._bodies).all(axis=1)))
        record = PairFrictionRecord if isinstance(chosen, PairRecord) else FacetFrictionRecord
        made = record(**chosen.as_dict(), **self._friction._asdict(), secant=secant)
        self._made[form.name, secant] = pairs, made
        return made
