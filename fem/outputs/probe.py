"""Probes: a few numbers of a state, looked at more often than whole fields are kept.

A probe declares its columns (`symplex.base.columns`) and returns their values for an `Observation` of a state. In a
march `symplex.time.ProbeRecorder` keeps them; in runs `[[probe]]` tables do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Literal, final, get_args

import numpy as np
from numpy.typing import NDArray

from symplex.base.columns import AXES, Column
from symplex.base.fields import COMPONENTS, FIELDS, Field
from symplex.errors import InvalidSystem
from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.nodes import Nodes, node_indices
from symplex.fem.assembly.pattern import Array
from symplex.fem.outputs.snapshots import Needs, Observation, Snapshots
from symplex.fem.system import State, System

Reduction = Literal["mean", "max", "min", "sum"]

NORM = "norm"
_PLOTTED = 8  # places of a probe at most that are plotted


class Probe(Copyable, ABC):
    """What is reported of a state.

    Attributes
    ----------
    name : str
    columns : tuple of Column
    """

    name: str
    columns: tuple[Column, ...]

    @abstractmethod
    def values(self, seen: Observation) -> Array:
        """Return the numbers [columns] of a state."""

    def of(self, system: System, state: State) -> dict[str, float]:
        """Return the numbers of a state by the names of their columns."""
        return dict(
            zip((c.name for c in self.columns), map(float, self.values(Observation(system, state))), strict=True)
        )


class DeferredProbe(Probe):
    """A probe whose numbers may be found later, of several states together: those of each alone, to the last bit.

    Attributes
    ----------
    needs : mapping
        What they are found from: the nodes by what is needed at them.
    """

    needs: Needs

    @abstractmethod
    def rows(self, seen: Observation | Snapshots) -> Array:
        """Return the numbers [s, columns] of one state, or of several."""

    def values(self, seen: Observation) -> Array:
        """Return the numbers [columns] of a state."""
        return self.rows(seen)[0]


@final
class Numbers:
    """How values [p, c] at some places become the numbers of columns: components are chosen, places are reduced.

    Parameters
    ----------
    title : str
        Of the plot.
    quantity : str
        One of `FIELDS`, or what a part of a user shows.
    parts : sequence of str
        What the components c are called; none of a single number.
    labels : sequence of str
        What the places p are called; a single one needs no name.
    components : sequence of str, optional
        Which components, and ``norm``; default: all.
    reduce : sequence of str
        What is reported of all places together; default: each.
    weights : float64 [p], optional
        Of means.
    """

    def __init__(
        self,
        title: str,
        quantity: str,
        parts: Sequence[str],
        labels: Sequence[str],
        components: Sequence[str] | None,
        reduce: Sequence[str] = (),
        weights: Array | None = None,
    ):
        requested = list(parts) if components is None else [c for c in components if c in (*parts, NORM)]
        if components is not None and parts and not requested:
            raise InvalidSystem(
                f"{quantity} has none of the components {', '.join(components)}; it has {', '.join(parts)}, and {NORM}."
            )
        self._chosen = [parts.index(c) for c in requested if c != NORM]
        # the places of the requested among the chosen components with the norm at the end, or of a single number
        self._order = [self._chosen.index(parts.index(c)) if c != NORM else len(self._chosen) for c in requested]
        self._single, self._has_norm = not parts, NORM in requested
        self._reduce, self._weights = tuple(reduce), weights
        self._all = self._chosen == list(range(len(parts))) and not self._has_norm
        self._double = parts == COMPONENTS
        declared, names = (
            FIELDS.get(quantity, Field(quantity.replace("_", " "), "")),
            [""] if self._single else [f"_{c}" for c in requested],
        )
        split = not self._single and max(len(labels), len(reduce)) > 1  # into a plot for each place
        places = [f"_{how}" for how in reduce] or ([""] if len(labels) == 1 else [f"_{label}" for label in labels])
        self.columns = tuple(
            Column(
                f"{quantity}{part}{place}",
                declared.unit,
                declared.kind,
                "" if k >= _PLOTTED else f"{title}{place.replace('_', ' ')}" if split else title,
                vector=f"{quantity}{place}" if part[1:] in AXES and part and len(parts) <= len(AXES) else "",
            )
            for k, place in enumerate(places)
            for part in names
        )

    def of(self, values: Array) -> Array:
        """Return the numbers [s, columns] of values [s, p, c], or [s, p], at several states."""
        if not self._single and not self._all:
            found = values[..., self._chosen]
            if self._has_norm:
                squares = values**2
                if self._double:  # shears are there twice
                    squares[..., 3:] *= 2.0
                found = np.concatenate([found, np.sqrt(squares.sum(axis=-1, keepdims=True))], axis=-1)
            values = found[..., self._order]
        if self._reduce:
            values = np.ascontiguousarray(values)  # the order of a sum is that of the memory
            values = np.stack([self._reduced(how, values) for how in self._reduce], axis=1)
        return values.reshape(len(values), -1)

    def _reduced(self, how: str, values: Array) -> Array:
        if how == "mean":
            return np.average(values, axis=1, weights=self._weights)
        return {"max": np.max, "min": np.min, "sum": np.sum}[how](values, axis=1)


def chosen_of(probe: str, what: str, chosen: Nodes | None, m: int) -> NDArray[np.integer]:
    """Return which of m members, elements or stencils a probe is of; None: all."""
    found = np.arange(m) if chosen is None else node_indices(probe, chosen)
    if not len(found) or found.max() >= m:
        raise InvalidSystem(f"{probe}: {what} must be some of 0 to {m - 1}; they are {list(found[:5])}.")
    return found


def require_reductions(what: str, reduce: Sequence[str]) -> None:
    """Raise InvalidSystem if there is no such reduction; none may be given."""
    if reduce:
        require(what, reduce, get_args(Reduction))


def require(what: str, requested: Sequence[str], known: Sequence[str]) -> None:
    """Raise InvalidSystem if a name is not known, or none is given."""
    odd = [name for name in requested if name not in known]
    if odd or not len(requested):
        given = f"there is no '{odd[0]}'" if odd else "none is given"
        raise InvalidSystem(f"{what}: {given}; there are {', '.join(known)}.")
