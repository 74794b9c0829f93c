"""Probes of fields: motion at nodes and points, stress and strain there or of elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Literal, final, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.base.arguments import checked
from symplex.base.columns import AXES
from symplex.base.fields import OF_SOLIDS
from symplex.base.quantities import whole
from symplex.base.sparse import sp
from symplex.errors import InvalidSystem
from symplex.fem.assembly.nodes import Nodes, node_indices, require_nodal
from symplex.fem.assembly.pattern import Array
from symplex.fem.outputs.probe import DeferredProbe, Numbers, Probe, require, require_reductions
from symplex.fem.outputs.snapshots import Needs, Observation, Snapshots, Wanted
from symplex.fem.outputs.solid_fields import Quantity, SolidFields
from symplex.fem.outputs.stacked_fields import StackedFields
from symplex.fem.structures.frames import Frames

Motion = Literal["displacement", "position", "velocity", "acceleration"]
MOTIONS: tuple[Motion, ...] = get_args(Motion)
_ARRAYS: dict[str, Wanted] = {"displacement": "q", "position": "q", "velocity": "v", "acceleration": "a"}  # of a state


@checked
@final
class NodalProbe(DeferredProbe):
    """Displacements, positions, velocities or accelerations at nodes, or at points between them.

    Parameters
    ----------
    name : str
    places : int [p] or sparse [p, n]
        Nodes; or the weights of nodes for each point, as `symplex.meshes.weights_in_cells` finds them.
    quantities : sequence of str, default ["displacement"]
        Of ``displacement``, ``position``, ``velocity``, ``acceleration``.
    reference : float64 [n, dim], optional
        Undeformed positions in m of all nodes; displacements are those since then.
    components : sequence of str, optional
        Of ``x``, ``y``, ``z``, ``norm``; default: all but the norm.
    reduce : sequence of str, optional
        Of ``mean``, ``max``, ``min``, ``sum`` over the places; default: each place.
    labels : sequence of str, optional
        What the places are called; default: the numbers of nodes, or 1, 2 … of points.
    relative_to : int [r], optional
        Nodes: displacements, velocities and accelerations are those less their mean there, as of a base.
    dim : int, default 3

    Raises
    ------
    InvalidSystem
        If there is no place or no such quantity, component or reduction, or the reference is missing.
    """

    def __init__(
        self,
        name: str,
        places: Nodes | sp.csr_array,
        quantities: Sequence[str] = ("displacement",),
        *,
        reference: ArrayLike | None = None,
        components: Sequence[str] | None = None,
        reduce: Sequence[str] = (),
        labels: Sequence[str] | None = None,
        relative_to: Nodes | None = None,
        dim: Annotated[int, whole(1, 3)] = 3,
    ):
        require("NodalProbe", quantities, MOTIONS)
        require_reductions("NodalProbe", reduce)
        self.name, self._nodes, self._weights = name, *_places(places)
        count = _count(self._nodes, self._weights)
        if not count:
            raise InvalidSystem("NodalProbe: there is no place; name a node at least.")
        if labels is None:
            labels = [str(k) for k in (self._nodes if self._weights is None else range(1, count + 1))]
        self._base = None if relative_to is None else np.unique(node_indices("NodalProbe", relative_to))
        if self._base is not None and (not len(self._base) or "position" in quantities):
            raise InvalidSystem(
                "NodalProbe: relative_to must name a node at least, and goes with displacements, velocities and "
                "accelerations."
            )
        self._start, self._base_start = np.zeros(dim), np.zeros(dim)
        if "displacement" in quantities:
            if reference is None:
                raise InvalidSystem("NodalProbe: displacements need the undeformed positions; give reference=points.")
            start = np.array(reference, dtype=float)
            require_nodal("NodalProbe", "reference, the undeformed positions, has", start, self._nodes.max() + 1, dim)
            self._start = start[self._nodes]
            if self._base is not None:
                last = int(self._base.max()) + 1
                require_nodal("NodalProbe", "reference, the undeformed positions, has", start, last, dim)
                self._base_start = start[self._base].mean(axis=0)
        self._quantities = tuple(quantities)
        self._numbers = [Numbers(f"{name}: {one}", one, AXES[:dim], labels, components, reduce) for one in quantities]
        self.columns = tuple(column for numbers in self._numbers for column in numbers.columns)
        every = self._nodes if self._base is None else np.concatenate([self._nodes, self._base])
        self.needs: Needs = {_ARRAYS[one]: np.unique(every) for one in quantities}

    def rows(self, seen: Observation | Snapshots) -> Array:
        """Return the numbers [s, columns] of one state, or of several."""
        found = []
        for quantity, numbers in zip(self._quantities, self._numbers, strict=True):
            values = seen.at(_ARRAYS[quantity], self._nodes)
            if quantity == "displacement":
                values = values - self._start
            if self._base is not None:
                base = seen.at(_ARRAYS[quantity], self._base).mean(axis=1, keepdims=True)
                values = values - (base - self._base_start if quantity == "displacement" else base)
            found.append(numbers.of(_at_places(self._weights, values)))
        return np.concatenate(found, axis=1)


@checked
@final
class RotationProbe(Probe):
    """Rotations of frames since the undeformed state, as vectors along their axes, of at most π.

    Parameters
    ----------
    name : str
    frames : Frames
        Those that are looked at, among the nodes of a system.
    components : sequence of str, optional
        Of ``x``, ``y``, ``z``, ``norm``; default: all but the norm.
    reduce : sequence of str, optional
        Of ``mean``, ``max``, ``min``, ``sum`` over the frames; default: each.
    labels : sequence of str, optional
        What the frames are called; default: their numbers from 0.

    Raises
    ------
    InvalidSystem
        If there is no such component or reduction, or the labels are not one for each frame.
    """

    def __init__(
        self,
        name: str,
        frames: Frames,
        *,
        components: Sequence[str] | None = None,
        reduce: Sequence[str] = (),
        labels: Sequence[str] | None = None,
    ):
        require_reductions("RotationProbe", reduce)
        called = [str(k) for k in range(len(frames))] if labels is None else list(labels)
        if len(called) != len(frames):
            raise InvalidSystem(f"RotationProbe: labels must be {len(frames)}, one for each frame, got {len(called)}.")
        self.name, self._frames = name, frames
        self._numbers = Numbers(f"{name}: rotation", "rotation", AXES, called, components, reduce)
        self.columns = self._numbers.columns

    def values(self, seen: Observation) -> Array:
        """Return the numbers [columns] of a state."""
        return self._numbers.of(self._frames.rotation_vectors(seen.state.q)[None])[0]


def _at_places(weights: sp.csr_array | None, values: Array) -> Array:
    """Return values [s, p, …] at places, of those [s, k, …] at the nodes that these need."""
    if weights is None:
        return values
    s, k = values.shape[:2]
    found = weights @ values.swapaxes(0, 1).reshape(k, -1)
    return found.reshape(-1, s, *values.shape[2:]).swapaxes(0, 1)


def _places(places: Any) -> tuple[NDArray[np.integer], sp.csr_array | None]:
    """Return the nodes that places need, and the weights [p, k] of these if places are between them."""
    if not sp.issparse(places):
        return node_indices("NodalProbe", places), None
    weights = sp.csr_array(places)
    nodes = np.unique(weights.indices)
    return nodes, sp.csr_array(weights[:, nodes])


def _count(nodes: NDArray[np.integer], weights: sp.csr_array | None) -> int:
    """Return the number of places."""
    return len(nodes) if weights is None else len(weights.indptr) - 1


@checked
@final
class SolidProbe(DeferredProbe):
    """Stress, strain or energy density of solids: at elements, or averaged at nodes (see `SolidFields`).

    Parameters
    ----------
    name : str
    fields : SolidFields
        Of the elements that are meant; with `near` of those around the places, which is enough and faster.
    quantities : sequence of str, default ["stress"]
        See `SolidFields`.
    places : int [p] or sparse [p, n], optional
        Nodes, or weights of nodes for each point, as of a `NodalProbe`; default: the elements of the fields.
    components : sequence of str, optional
        Of ``xx``, ``yy``, ``zz``, ``xy``, ``yz``, ``xz``, ``norm``, of principal stresses ``1``, ``2``, ``3``.
    reduce : sequence of str, optional
        Of ``mean``, ``max``, ``min``, ``sum``; default: each place. Means of elements are those over their undeformed
        volume.
    labels : sequence of str, optional
    elements : mapping of str to int [k], optional
        Only these elements of each solid, by their numbers among those of the fields.

    Raises
    ------
    InvalidSystem
        If there is no place or no such quantity, component or reduction.
    """

    def __init__(
        self,
        name: str,
        fields: SolidFields,
        quantities: Sequence[str] = ("stress",),
        *,
        places: Nodes | sp.csr_array | None = None,
        components: Sequence[str] | None = None,
        reduce: Sequence[str] = (),
        labels: Sequence[str] | None = None,
        elements: Mapping[str, Nodes] = MappingProxyType({}),
    ):
        require("SolidProbe", quantities, tuple(OF_SOLIDS))
        require_reductions("SolidProbe", reduce)
        self.name, self._fields, self._at_elements = name, StackedFields(fields), places is None
        every = {one: np.arange(len(fields.elements(one))) for one in fields.names}
        chosen = {one: np.asarray(k, dtype=np.intp) for one, k in elements.items()}
        self._elements = {one: chosen.get(one, every[one]) for one in fields.names}
        weights, self._weights, self._nodes = None, None, np.empty(0, np.int32)
        if places is None:
            weights = np.concatenate([fields.volumes(one)[k] for one, k in self._elements.items()] or [np.empty(0)])
            count, names = len(weights), [str(k) for k in range(len(weights))]
        else:
            nodes, self._weights = _places(places)
            count = _count(nodes, self._weights)
            names = [str(k) for k in (nodes if self._weights is None else range(1, count + 1))]
            # There is nothing at nodes of no element: their column is the last one, which is zero.
            known = fields.nodes
            at = np.minimum(np.searchsorted(known, nodes), max(len(known) - 1, 0))
            self._nodes = np.where(known[at] == nodes, at, -1) if len(known) else np.full(len(nodes), -1)
        if not count:
            raise InvalidSystem("SolidProbe: there is no element and no node to look at.")
        self._quantities: tuple[Quantity, ...] = tuple(quantities)
        self._numbers = [
            Numbers(f"{name}: {one}", one, OF_SOLIDS[one].parts, labels or names, components, reduce, weights)
            for one in self._quantities
        ]
        self.columns = tuple(column for numbers in self._numbers for column in numbers.columns)
        self.needs: Needs = {"q": fields.nodes}

    def rows(self, seen: Observation | Snapshots) -> Array:
        """Return the numbers [s, columns] of one state, or of several."""
        if self._at_elements:
            parts = [[one[:, k] for one in self._found(seen, name)] for name, k in self._elements.items()]
            values = [np.concatenate(of_solids, axis=1) for of_solids in zip(*parts, strict=True)]
        else:
            values = [self._at_places(at_nodes) for at_nodes in self._found(seen, None)]
        return np.concatenate([numbers.of(one) for numbers, one in zip(self._numbers, values, strict=True)], axis=1)

    def _found(self, seen: Observation | Snapshots, name: str | None) -> list[Array]:
        return self._fields.found(self._quantities, seen, name)

    def _at_places(self, values: Array) -> Array:
        """Return values [s, p, …] at the places, of those at the nodes of the elements."""
        nothing = np.zeros((len(values), 1, *values.shape[2:]))
        return _at_places(self._weights, np.concatenate([values, nothing], axis=1)[:, self._nodes])
