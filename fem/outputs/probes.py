"""Probes: a few numbers of a state, looked at more often than whole fields are kept.

A probe declares its columns (`symplex.base.columns`) and returns their values for an `Observation` of a state. In a
march `symplex.time.ProbeRecorder` keeps them; in runs `[[probe]]` tables do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, final, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from symplex.base.arguments import checked
from symplex.base.columns import AXES, Column, Kind
from symplex.errors import InvalidSystem
from symplex.fem.assembly import Array
from symplex.fem.copying import Copyable
from symplex.fem.measures.anchors import Anchors
from symplex.fem.measures.bars import Bars
from symplex.fem.nodes import Nodes, node_indices
from symplex.fem.outputs.forces import Acting, as_it_is, force_on_nodes, point_of, resultant
from symplex.fem.outputs.solid_fields import PARTS, QUANTITIES, UNITS, Quantity, SolidFields
from symplex.fem.system import State, System

Reduction = Literal["mean", "max", "min", "sum"]
Motion = Literal["displacement", "position", "velocity", "acceleration"]
OfBars = Literal["axial_force", "axial_stress", "elongation"]

NORM = "norm"
MOTIONS: tuple[Motion, ...] = get_args(Motion)
_PLOTTED = 8  # places of a probe at most that are plotted
OF_BARS: tuple[OfBars, ...] = get_args(OfBars)
_MOTION: dict[Motion, tuple[str, Kind]] = {
    "displacement": ("m", "length"),
    "position": ("m", "length"),
    "velocity": ("m/s", "other"),
    "acceleration": ("m/s²", "other"),
}
_OF_BARS: dict[OfBars, tuple[str, Kind]] = {
    "axial_force": ("N", "force"),
    "axial_stress": ("Pa", "other"),
    "elongation": ("m", "length"),
}


@final
class Observation:
    """A state that probes look at, with what several of them need found once.

    Parameters
    ----------
    system : System
    state : State
    gradient : callable, optional
        Returns ∂φ/∂x of an energy as it acts, as `Motion.gradient`; default: as it is.
    constraint_forces : float64 [n, dim], optional
        Of constraints that a method keeps, in N, which are no reactions of supports.
    """

    def __init__(
        self, system: System, state: State, gradient: Acting = as_it_is, constraint_forces: Array | None = None
    ):
        self.system, self.state = system, state
        self._gradient, self._constraint_forces = gradient, constraint_forces
        self._forces: dict[str, Array] = {}

    @cached_property
    def reactions(self) -> Array:
        """The forces [n, dim] in N of supports."""
        found = self.system.reactions(self.state)
        if self._constraint_forces is not None:
            found -= np.where(self.system.fixed, self._constraint_forces, 0.0)
        return found

    def force_of(self, name: str) -> Array:
        """Return the forces [n, dim] in N of an energy or a load on nodes; zero if it does not act now."""
        if name not in self._forces:
            state, system = self.state, self.system
            if name in system.energies:
                self._forces[name] = force_on_nodes(system.energies[name], state, self._gradient)
            elif name in system.loads:
                self._forces[name] = np.asarray(system.loads[name](state.t, state.q, state.v))
            else:
                self._forces[name] = np.zeros_like(state.q)
        return self._forces[name]


class Probe(Copyable, ABC):
    """What is told of a state.

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


@final
class _Numbers:
    """How values [p, c] at some places become the numbers of columns: components are chosen, places are reduced.

    Parameters
    ----------
    title : str
        Of the plot.
    quantity, unit, kind
    parts : sequence of str
        What the components c are called; none of a single number.
    labels : sequence of str
        What the places p are called; a single one needs no name.
    components : sequence of str, optional
        Which components, and ``norm``; default: all.
    reduce : sequence of str
        What is told of all places together; default: each.
    weights : float64 [p], optional
        Of means.
    """

    def __init__(
        self,
        title: str,
        quantity: str,
        unit: str,
        kind: Kind,
        parts: Sequence[str],
        labels: Sequence[str],
        components: Sequence[str] | None,
        reduce: Sequence[Reduction] = (),
        weights: Array | None = None,
    ):
        wanted = list(parts) if components is None else [c for c in components if c in (*parts, NORM)]
        if components is not None and parts and not wanted:
            raise InvalidSystem(
                f"{quantity} has none of the components {', '.join(components)}; it has {', '.join(parts)}, and {NORM}."
            )
        self._chosen = [parts.index(c) for c in wanted if c != NORM]
        # the places of the wanted among the chosen components with the norm at the end, or of a single number
        self._order = [self._chosen.index(parts.index(c)) if c != NORM else len(self._chosen) for c in wanted]
        self._single, self._has_norm = not parts, NORM in wanted
        self._reduce, self._weights = tuple(reduce), weights
        self._all = self._chosen == list(range(len(parts))) and not self._has_norm
        self._double = parts == PARTS["stress"]
        names = [""] if self._single else [f"_{c}" for c in wanted]
        split = not self._single and max(len(labels), len(reduce)) > 1  # into a plot for each place
        places = [f"_{how}" for how in reduce] or ([""] if len(labels) == 1 else [f"_{label}" for label in labels])
        self.columns = tuple(
            Column(
                f"{quantity}{part}{place}",
                unit,
                kind,
                "" if k >= _PLOTTED else f"{title}{place.replace('_', ' ')}" if split else title,
                vector=f"{quantity}{place}" if part[1:] in AXES and part and len(parts) <= len(AXES) else "",
            )
            for k, place in enumerate(places)
            for part in names
        )

    def of(self, values: Array) -> Array:
        """Return the numbers of values [p, c], or [p]."""
        if not self._single and not self._all:
            found = values[:, self._chosen]
            if self._has_norm:
                squares = values**2
                if self._double:  # shears are there twice
                    squares[:, 3:] *= 2.0
                found = np.column_stack([found, np.sqrt(squares.sum(axis=1))])
            values = found[:, self._order]
        if not self._reduce:
            return values.ravel()
        return np.concatenate([np.atleast_1d(self._reduced(how, values)) for how in self._reduce])

    def _reduced(self, how: Reduction, values: Array) -> Array:
        if how == "mean":
            return np.average(values, axis=0, weights=self._weights)
        return {"max": np.max, "min": np.min, "sum": np.sum}[how](values, axis=0)


def _require(what: str, wanted: Sequence[str], known: Sequence[str]) -> None:
    odd = [name for name in wanted if name not in known]
    if odd or not len(wanted):
        given = f"there is no '{odd[0]}'" if odd else "none is given"
        raise InvalidSystem(f"{what}: {given}; there are {', '.join(known)}.")


@checked
@final
class NodalProbe(Probe):
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
        dim: int = 3,
    ):
        _require("NodalProbe", quantities, MOTIONS)
        _require("NodalProbe", reduce, get_args(Reduction)) if reduce else None
        self.name, self._nodes, self._weights = name, *_places(places)
        count = len(self._nodes) if self._weights is None else self._weights.shape[0]
        if not count:
            raise InvalidSystem("NodalProbe: there is no place; name a node at least.")
        if labels is None:
            labels = [str(k) for k in (self._nodes if self._weights is None else range(1, count + 1))]
        self._start = None
        if "displacement" in quantities:
            if reference is None:
                raise InvalidSystem("NodalProbe: displacements need the undeformed positions; give reference=points.")
            self._start = np.array(reference, dtype=float)[self._nodes]
        self._quantities = tuple(quantities)
        self._numbers = [
            _Numbers(f"{name}: {one}", one, *_MOTION[one], AXES[:dim], labels, components, reduce)  # pyright: ignore
            for one in quantities
        ]
        self.columns = tuple(column for numbers in self._numbers for column in numbers.columns)

    def values(self, seen: Observation) -> Array:
        """Return the numbers [columns] of a state."""
        state = seen.state
        arrays = {"position": state.q, "displacement": state.q, "velocity": state.v, "acceleration": state.a}
        found = []
        for quantity, numbers in zip(self._quantities, self._numbers, strict=True):
            values = arrays[quantity][self._nodes]
            if quantity == "displacement":
                values = values - self._start
            found.append(numbers.of(values if self._weights is None else self._weights @ values))
        return np.concatenate(found)


def _places(places: Any) -> tuple[NDArray[np.integer], sp.csr_array | None]:
    """Return the nodes that places need, and the weights [p, k] of these if places are between them."""
    if not sp.issparse(places):
        return node_indices("NodalProbe", places), None
    weights = sp.csr_array(places)
    nodes = np.unique(weights.indices)
    return nodes, sp.csr_array(weights[:, nodes])


@checked
@final
class SolidProbe(Probe):
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
        _require("SolidProbe", quantities, QUANTITIES)
        _require("SolidProbe", reduce, get_args(Reduction)) if reduce else None
        self.name, self._fields, self._at_elements = name, fields, places is None
        self._elements = {one: elements.get(one, slice(None)) for one in fields.names}
        weights, self._weights, self._nodes = None, None, np.empty(0, np.int32)
        if places is None:
            weights = np.concatenate([fields.volumes(one)[k] for one, k in self._elements.items()] or [np.empty(0)])
            count, names = len(weights), [str(k) for k in range(len(weights))]
        else:
            self._nodes, self._weights = _places(places)
            count = len(self._nodes) if self._weights is None else self._weights.shape[0]
            names = [str(k) for k in (self._nodes if self._weights is None else range(1, count + 1))]
        if not count:
            raise InvalidSystem("SolidProbe: there is no element and no node to look at.")
        self._quantities: tuple[Quantity, ...] = tuple(quantities)  # pyright: ignore
        self._numbers = [
            _Numbers(
                f"{name}: {one}",
                one,
                UNITS[one],
                "other",
                PARTS.get(one, ()),
                labels or names,
                components,
                reduce,
                weights,
            )
            for one in self._quantities
        ]
        self.columns = tuple(column for numbers in self._numbers for column in numbers.columns)

    def values(self, seen: Observation) -> Array:
        """Return the numbers [columns] of a state."""
        found = []
        for quantity, numbers in zip(self._quantities, self._numbers, strict=True):
            if self._at_elements:
                values = np.concatenate(
                    [self._fields.of_elements(quantity, seen.state, one)[k] for one, k in self._elements.items()]
                )
            else:
                values = self._fields.at_nodes(quantity, seen.state)[self._nodes]
                values = values if self._weights is None else self._weights @ values
            found.append(numbers.of(values))
        return np.concatenate(found)


@checked
@final
class BarProbe(Probe):
    """Axial force, stress and elongation of bars or springs.

    Parameters
    ----------
    name : str
    bars : Bars or Anchors
    quantities : sequence of str, default ["axial_force"]
        Of ``axial_force`` (N, positive in tension), ``axial_stress`` (Pa, that force over the undeformed section) and
        ``elongation`` (m, the change of length since the reference).
    members : int [k], optional
        Which of them; default: all.
    section : float, optional
        The undeformed section in m².
    reference : float64 [n, dim], optional
        Positions in m since which elongations count.
    reduce : sequence of str, optional
        Of ``mean``, ``max``, ``min``, ``sum``; default: each member.

    Raises
    ------
    InvalidSystem
        If there is no member or no such quantity or reduction, or the section or the reference is missing.
    """

    def __init__(
        self,
        name: str,
        bars: Bars | Anchors,
        quantities: Sequence[str] = ("axial_force",),
        *,
        members: Nodes | None = None,
        section: float | None = None,
        reference: ArrayLike | None = None,
        reduce: Sequence[str] = (),
    ):
        _require("BarProbe", quantities, OF_BARS)
        _require("BarProbe", reduce, get_args(Reduction)) if reduce else None
        m = len(bars.nodes)
        self._members = np.arange(m) if members is None else node_indices("BarProbe", members)
        if not len(self._members) or self._members.max() >= m:
            raise InvalidSystem(f"BarProbe: members must be some of 0 to {m - 1}; they are {list(self._members[:5])}.")
        if "axial_stress" in quantities and not (section is not None and 0.0 < section < np.inf):
            raise InvalidSystem("BarProbe: the axial stress needs the section in m²; give section=A.")
        if "elongation" in quantities and reference is None:
            raise InvalidSystem(
                "BarProbe: elongations need the positions since which they count; give reference=points."
            )
        self.name, self._bars, self._section = name, bars, section
        self._lengths = None if reference is None else bars.lengths(np.array(reference, dtype=float))[self._members]
        labels = [str(k) for k in self._members]
        self._quantities = tuple(quantities)
        self._numbers = [
            _Numbers(f"{name}: {one}", one, *_OF_BARS[one], (), labels, None, reduce)  # pyright: ignore
            for one in quantities
        ]
        self.columns = tuple(column for numbers in self._numbers for column in numbers.columns)

    def values(self, seen: Observation) -> Array:
        """Return the numbers [columns] of a state."""
        q, found = seen.state.q, []
        for quantity, numbers in zip(self._quantities, self._numbers, strict=True):
            if quantity == "elongation":
                values = self._bars.lengths(q)[self._members] - self._lengths
            else:
                values = self._bars.tensions(q)[self._members]
                values = values / self._section if quantity == "axial_stress" else values
            found.append(numbers.of(values))
        return np.concatenate(found)


class _Resultants(Probe):
    """Forces and moments of several things, each with its own columns."""

    def __init__(self, name: str, what: str, labels: Sequence[str], about: ArrayLike | None, dim: int):
        self.name, self._about = name, point_of(about, dim)
        columns: list[Column] = []
        for label in labels:
            of = f"_{label}" if label else ""
            turns = AXES if dim == 3 else ("z",) if dim == 2 else ""
            turning = what.replace("force", "moment", 1) if what.startswith("force") else f"{what}_moment"
            for quantity, unit, kind, axes in (
                (what, "N", "force", AXES[:dim]),
                (turning, "N m", "other", turns),
            ):
                title = f"{name}: {quantity}{of}".replace("_", " ")
                columns += [Column(f"{quantity}{of}_{a}", unit, kind, title, vector=f"{quantity}{of}") for a in axes]
        self.columns = tuple(columns)

    @abstractmethod
    def _forces(self, seen: Observation) -> Sequence[Callable[[], tuple[Array, Array]]]:
        """Return for each of them what returns its forces and the positions of these."""

    def values(self, seen: Observation) -> Array:
        """Return the numbers [columns] of a state."""
        return np.concatenate([part for found in self._forces(seen) for part in resultant(*found(), self._about)])


@checked
@final
class ReactionProbe(_Resultants):
    """The forces of supports on a system, and their moments about a point.

    Parameters
    ----------
    name : str
    held : bool [n, dim] or mapping of str to bool [n, dim]
        The coordinates that are held or moved by the support; or by each of several, by name.
    about : float64 [dim], optional
        Where moments are taken, in m; default: the origin.

    Raises
    ------
    InvalidSystem
        If shapes do not match.
    """

    def __init__(
        self, name: str, held: NDArray[np.bool_] | Mapping[str, NDArray[np.bool_]], about: ArrayLike | None = None
    ):
        masks = dict(held) if isinstance(held, Mapping) else {"": held}
        masks = {label: np.asarray(mask, dtype=bool) for label, mask in masks.items()}
        if not masks or any(mask.ndim != 2 for mask in masks.values()):
            raise InvalidSystem("ReactionProbe: what a support holds must be a mask [n, dim], or several by name.")
        super().__init__(name, "reaction", list(masks), about, next(iter(masks.values())).shape[1])
        nodes = [np.flatnonzero(mask.any(axis=1)) for mask in masks.values()]
        self._held = [(some, mask[some]) for some, mask in zip(nodes, masks.values(), strict=True)]

    def _forces(self, seen: Observation) -> Sequence[Callable[[], tuple[Array, Array]]]:
        R, q = seen.reactions, seen.state.q
        return [lambda n=nodes, mask=mask: (np.where(mask, R[n], 0.0), q[n]) for nodes, mask in self._held]


@checked
@final
class ForceProbe(_Resultants):
    """The forces of energies and loads on some nodes, as of an obstacle on bodies, and their moments about a point.

    Parameters
    ----------
    name : str
    acting : sequence of str
        The names of energies and loads, whose forces are added up.
    nodes : int [k] or mapping of str to int [k]
        The nodes on which the force is told; or several of them, by name.
    what : str, default "force"
        Begins the names of the columns.
    about : float64 [dim], optional
        Where moments are taken, in m; default: the origin.
    dim : int, default 3
    """

    def __init__(
        self,
        name: str,
        acting: Sequence[str],
        nodes: Nodes | Mapping[str, Nodes],
        *,
        what: str = "force",
        about: ArrayLike | None = None,
        dim: int = 3,
    ):
        groups = dict(nodes) if isinstance(nodes, Mapping) else {"": nodes}
        super().__init__(name, what, list(groups), about, dim)
        self._acting = tuple(acting)
        self._groups = [np.unique(node_indices("ForceProbe", some)) for some in groups.values()]

    def _forces(self, seen: Observation) -> Sequence[Callable[[], tuple[Array, Array]]]:
        forces, q = sum((seen.force_of(name) for name in self._acting), np.zeros_like(seen.state.q)), seen.state.q
        return [lambda n=nodes: (forces[n], q[n]) for nodes in self._groups]
