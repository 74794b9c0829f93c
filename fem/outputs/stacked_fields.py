"""Fields of solids at several states at once: of few elements most of the time goes to calls, not to numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from symplex.fem.assembly.pattern import Array
from symplex.fem.outputs.snapshots import TOGETHER, Observation, Snapshots
from symplex.fem.outputs.solid_fields import Quantity, SolidFields
from symplex.fem.state import State

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

    def found(self, quantities: Sequence[Quantity], seen: Observation | Snapshots, name: str | None) -> list[Array]:
        """Return quantities at each state: [s, m, …] of the elements of a solid, or [s, k, …] averaged at their nodes.

        These nodes are `SolidFields.nodes`; see `SolidFields.of_elements` and `SolidFields.at_nodes`.
        """
        if isinstance(seen, Observation):
            return [one[None] for one in self._of_state(quantities, seen.state, name)]
        found, together = [], self._together
        for first in range(0, len(seen), together):
            internal = seen.internal[first : first + together]
            count = len(internal)
            # Internal variables may begin with a later part of a run.
            apart = self._fields.are_heated or any(one.keys() != internal[0].keys() for one in internal)
            if together == 1 or count == 1 or apart:
                for k in range(first, first + count):
                    found.append([one[None] for one in self._of_state(quantities, seen.state(k), name)])
                continue
            if self._repeated is None:
                self._repeated = self._fields.repeated(together)
            # Where there are fewer states, the last one stands for the others, too.
            at = np.minimum(np.arange(together), count - 1)
            q = seen.at("q", self._nodes)[first : first + count]
            stacked = self._fields.stacked_state(q[at], [internal[k] for k in at])
            every = [_reported(self._repeated, quantity, stacked, name) for quantity in quantities]
            found.append([one.reshape(together, -1, *one.shape[1:])[:count] for one in every])
        return [np.concatenate(parts) for parts in zip(*found, strict=True)]

    def _of_state(self, quantities: Sequence[Quantity], state: State, name: str | None) -> list[Array]:
        found = [_reported(self._fields, quantity, state, name) for quantity in quantities]
        return found if name is not None else [one[self._nodes] for one in found]


def _reported(fields: SolidFields, quantity: Quantity, state: State, name: str | None) -> Array:
    return fields.at_nodes(quantity, state) if name is None else fields.of_elements(quantity, state, name)
