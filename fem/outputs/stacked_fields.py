"""Fields of solids at several states at once: of few elements most of the time goes to calls, not to numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import final

import numpy as np

from symplex.fem.assembly import Array
from symplex.fem.outputs.solid_fields import Quantity, SolidFields
from symplex.fem.state import State

TOGETHER = 64  # states that are looked at together at best
_MOST_ELEMENTS = 4096  # of all states together; from here on calls cost little


@final
class StackedFields:
    """The fields of some elements at several states.

    Parameters
    ----------
    fields : SolidFields
        Of one state.
    """

    def __init__(self, fields: SolidFields):
        self._fields, self._nodes = fields, fields.nodes
        elements = sum(len(fields.elements(name)) for name in fields.names)
        fitting = max(_MOST_ELEMENTS // max(elements, 1), 1)
        self._together = min(1 << fitting.bit_length() - 1, TOGETHER)  # a part of TOGETHER
        self._repeated: SolidFields | None = None
        self._known: tuple[tuple[State, ...], State | None] = ((), None)

    def of_elements(self, quantity: Quantity, states: Sequence[State], name: str) -> Array:
        """Return a quantity [s, m, …] of the elements of a solid at each state, as `SolidFields.of_elements`."""
        return self._found(lambda fields, state: fields.of_elements(quantity, state, name), states)

    def at_nodes(self, quantity: Quantity, states: Sequence[State]) -> Array:
        """Return a quantity [s, k, …] averaged at the nodes of the elements, which are `SolidFields.nodes`."""

        def found(fields: SolidFields, state: State) -> Array:
            values = fields.at_nodes(quantity, state)
            return values[self._nodes] if fields is self._fields else values

        return self._found(found, states)

    def _found(self, of: Callable[[SolidFields, State], Array], states: Sequence[State]) -> Array:
        """Return what fields tell of each state, found of a few at a time."""
        found = []
        for first in range(0, len(states), self._together):
            some = tuple(states[first : first + self._together])
            # Internal variables may begin with a later part of a run.
            if len(some) == 1 or any(one.internal.keys() != some[0].internal.keys() for one in some):
                found += [of(self._fields, state)[None] for state in some]
                continue
            values = of(*self._stacked(some))
            found.append(values.reshape(self._together, -1, *values.shape[1:])[: len(some)])
        return np.concatenate(found)

    def _stacked(self, states: tuple[State, ...]) -> tuple[SolidFields, State]:
        """Return the fields of as many copies of the elements as go together, and one state of all of them."""
        if self._repeated is None:
            self._repeated = self._fields.repeated(self._together)
        known, stacked = self._known
        if stacked is None or len(known) != len(states) or any(a is not b for a, b in zip(known, states, strict=True)):
            # Where there are fewer states, the last one stands for the others, too.
            stacked = self._fields.stacked_state([*states, *[states[-1]] * (self._together - len(states))])
            self._known = states, stacked
        return self._repeated, stacked
