"""Probes of forces: along bars, of supports, of obstacles and contact."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import Annotated, Literal, final, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.base.arguments import checked
from symplex.base.columns import AXES, Column, Kind
from symplex.base.fields import OF_BEAMS, OF_SHELLS, PLACES_OF_SHELLS
from symplex.base.quantities import whole
from symplex.errors import InvalidSystem
from symplex.fem.assembly.nodes import Nodes, node_indices, require_nodal
from symplex.fem.assembly.pattern import Array
from symplex.fem.couplings.interpolated_bars import InterpolatedBars
from symplex.fem.energies.inelastic import Inelastic
from symplex.fem.measures.anchors import Anchors
from symplex.fem.measures.bars import Bars
from symplex.fem.outputs.forces import point_of, resultants
from symplex.fem.outputs.probe import DeferredProbe, Numbers, Probe, chosen_of, require, require_reductions
from symplex.fem.outputs.snapshots import Needs, Observation, Snapshots
from symplex.fem.structures.beam import Beams
from symplex.fem.structures.section_forces import SectionForces
from symplex.fem.structures.shell import Shells

OfBeams = Literal["axial_force", "shear_force_1", "shear_force_2", "bending_moment_1", "bending_moment_2", "torque"]
OfShells = Literal["membrane_forces", "bending_moments", "transverse_force_1", "transverse_force_2"]
OfBars = Literal["axial_force", "axial_stress", "elongation"]
OF_BARS: tuple[OfBars, ...] = get_args(OfBars)
_SAME_TIME = 1e-9  # times that differ by this part of them are one


@checked
@final
class BarProbe(Probe):
    """Axial force, stress and elongation of bars or springs.

    Parameters
    ----------
    name : str
    bars : Bars, Anchors or InterpolatedBars
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
        bars: Bars | Anchors | InterpolatedBars,
        quantities: Sequence[str] = ("axial_force",),
        *,
        members: Nodes | None = None,
        section: float | None = None,
        reference: ArrayLike | None = None,
        reduce: Sequence[str] = (),
    ):
        require("BarProbe", quantities, OF_BARS)
        require_reductions("BarProbe", reduce)
        self._members = chosen_of("BarProbe", "members", members, len(bars.nodes))
        if "axial_stress" in quantities and not (section is not None and 0.0 < section < np.inf):
            raise InvalidSystem("BarProbe: the axial stress needs the section in m²; give section=A.")
        if "elongation" in quantities and reference is None:
            raise InvalidSystem(
                "BarProbe: elongations need the positions since which they count; give reference=points."
            )
        self.name, self._bars, self._section = name, bars, 1.0 if section is None else section
        self._lengths = np.zeros(len(self._members))
        if reference is not None:
            start = np.array(reference, dtype=float)
            through = isinstance(bars, InterpolatedBars)
            least = bars.energy.interpolation.n_nodes if through else int(bars.nodes.max(initial=-1)) + 1
            require_nodal("BarProbe", "reference, the positions since which elongations count, has", start, least)
            if not np.isfinite(start).all():
                raise InvalidSystem("BarProbe: the positions since which elongations count must be finite (m).")
            self._lengths = bars.lengths(start)[self._members]
        labels = [str(k) for k in self._members]
        self._quantities = tuple(quantities)
        self._numbers = [
            Numbers(f"{name}: {one.replace('_', ' ')}", one, (), labels, None, reduce) for one in quantities
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
            found.append(numbers.of(values[None])[0])
        return np.concatenate(found)


@checked
@final
class BeamProbe(Probe):
    """The forces and moments in the middle of elements of beams, along and about the axes of their sections.

    Parameters
    ----------
    name : str
    beams : Beams
    quantities : sequence of str, default ["axial_force"]
        Of ``axial_force``, ``shear_force_1`` and ``shear_force_2`` (N), ``bending_moment_1``, ``bending_moment_2`` and
        ``torque`` (N m); see `symplex.structures.Beams.section_forces`.
    members : int [k], optional
        Which elements; default: all.
    first : int, default 0
        The first particle of the beams in the system.
    reduce : sequence of str, optional
        Of ``mean``, ``max``, ``min``, ``sum``; default: each element.
    inelastic : mapping of str to Inelastic, optional
        The inelastic parts of the system, of which those of the beams count.

    Raises
    ------
    InvalidSystem
        If there is no element or no such quantity or reduction.
    """

    def __init__(
        self,
        name: str,
        beams: Beams,
        quantities: Sequence[str] = ("axial_force",),
        *,
        members: Nodes | None = None,
        first: Annotated[int, whole(0, 2**31 - 1)] = 0,
        reduce: Sequence[str] = (),
        inelastic: Mapping[str, Inelastic] | None = None,
    ):
        known = list(OF_BEAMS)
        require("BeamProbe", quantities, known)
        require_reductions("BeamProbe", reduce)
        self._members = chosen_of("BeamProbe", "members", members, len(beams.lines))
        self.name, self._forces = name, SectionForces(beams, inelastic or {}, first)
        self._columns = [known.index(one) for one in quantities]
        labels = [str(k) for k in self._members]
        self._numbers = [Numbers(f"{name}: {OF_BEAMS[one].words}", one, (), labels, None, reduce) for one in quantities]
        self.columns = tuple(column for numbers in self._numbers for column in numbers.columns)

    def values(self, seen: Observation) -> Array:
        """Return the numbers [columns] of a state."""
        forces = self._forces(seen.state)[self._members]
        found = [numbers.of(forces[None, :, at])[0] for at, numbers in zip(self._columns, self._numbers, strict=True)]
        return np.concatenate(found)


@checked
@final
class ShellProbe(Probe):
    """Section forces in the middle of elements of shells, along their axes, for each unit of length.

    Parameters
    ----------
    name : str
    shells : Shells
    quantities : sequence of str, default ["membrane_forces"]
        Of ``membrane_forces`` (N₁₁, N₂₂, N₁₂ in N/m), ``bending_moments`` (M₁₁, M₂₂, M₁₂ in N),
        ``transverse_force_1`` and ``transverse_force_2`` (N/m); see `symplex.structures.Shells.section_forces`.
    elements : int [k], optional
        Which elements, counted in the order of ``shells.cells``; default: all.
    first : int, default 0
        The first particle of the shells in the system.
    components : sequence of str, optional
        Of ``11``, ``22``, ``12``, and ``norm``; default: all.
    reduce : sequence of str, optional
        Of ``mean``, ``max``, ``min``, ``sum``; default: each element.
    labels : sequence of str, optional
        What elements are called in columns; default: their numbers.
    inelastic : mapping of str to Inelastic, optional
        The inelastic parts of the system, of which those of the shells count.

    Raises
    ------
    InvalidSystem
        If there is no element or no such quantity, component or reduction.
    """

    def __init__(
        self,
        name: str,
        shells: Shells,
        quantities: Sequence[str] = ("membrane_forces",),
        *,
        elements: Nodes | None = None,
        first: Annotated[int, whole(0, 2**31 - 1)] = 0,
        components: Sequence[str] | None = None,
        reduce: Sequence[str] = (),
        labels: Sequence[str] | None = None,
        inelastic: Mapping[str, Inelastic] | None = None,
    ):
        require("ShellProbe", quantities, list(OF_SHELLS))
        require_reductions("ShellProbe", reduce)
        m = sum(map(len, shells.cells.values()))
        self._elements = chosen_of("ShellProbe", "elements", elements, m)
        called = [str(k) for k in self._elements] if labels is None else list(labels)
        if len(called) != len(self._elements):
            raise InvalidSystem(
                f"ShellProbe: labels must be as many as elements, {len(self._elements)}, got {len(called)}."
            )
        self.name, self._forces = name, SectionForces(shells, inelastic or {}, first)
        self._places = [PLACES_OF_SHELLS[one] for one in quantities]
        self._numbers = [
            Numbers(f"{name}: {OF_SHELLS[one].words}", one, OF_SHELLS[one].parts, called, components, reduce)
            for one in quantities
        ]
        self.columns = tuple(column for numbers in self._numbers for column in numbers.columns)

    def values(self, seen: Observation) -> Array:
        """Return the numbers [columns] of a state."""
        forces = self._forces(seen.state)[self._elements]
        found = [numbers.of(forces[None, :, at])[0] for at, numbers in zip(self._places, self._numbers, strict=True)]
        return np.concatenate(found)


class _Resultants(DeferredProbe):
    """Forces and moments of several things, each with its own columns."""

    def __init__(self, name: str, what: str, labels: Sequence[str], about: ArrayLike | None, dim: int):
        self.name, self._about = name, point_of(about, dim)
        columns: list[Column] = []
        for label in labels:
            of = f"_{label}" if label else ""
            turns = AXES if dim == 3 else ("z",) if dim == 2 else ""
            reported: list[tuple[str, str, Kind, Sequence[str]]] = [(what, "N", "force", AXES[:dim])]
            turning = what.replace("force", "moment", 1) if what.startswith("force") else f"{what}_moment"
            for quantity, unit, kind, axes in [*reported, (turning, "N m", "other", turns)]:
                title = f"{name}: {quantity}{of}".replace("_", " ")
                columns += [Column(f"{quantity}{of}_{a}", unit, kind, title, vector=f"{quantity}{of}") for a in axes]
        self.columns = tuple(columns)

    @abstractmethod
    def acting(self, seen: Observation | Snapshots) -> Iterator[tuple[Array, Array]]:
        """Return for each of them its forces [s, k, dim] in N and their positions [s, k, dim] in m."""

    def rows(self, seen: Observation | Snapshots) -> Array:
        """Return the numbers [s, columns] of one state, or of several."""
        return np.concatenate([resultants(forces, q, self._about) for forces, q in self.acting(seen)], axis=1)


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
    changes : sequence of (float, mapping of str to bool [n, dim]), optional
        Where supports begin or end to act: times in s, ascending, after which they hold these coordinates, by the same
        names.

    Raises
    ------
    InvalidSystem
        If shapes or names do not match, or times do not ascend.
    """

    def __init__(
        self,
        name: str,
        held: NDArray[np.bool_] | Mapping[str, NDArray[np.bool_]],
        about: ArrayLike | None = None,
        changes: Sequence[tuple[float, Mapping[str, NDArray[np.bool_]]]] = (),
    ):
        parts = [dict(held) if isinstance(held, Mapping) else {"": held}, *(dict(masks) for _, masks in changes)]
        parts = [{label: np.asarray(mask, dtype=bool) for label, mask in masks.items()} for masks in parts]
        masks = [mask for part in parts for mask in part.values()]
        if not masks or any(mask.ndim != 2 or mask.shape != masks[0].shape for mask in masks):
            raise InvalidSystem("ReactionProbe: what a support holds must be a mask [n, dim], or several by name.")
        if any(list(part) != list(parts[0]) for part in parts):
            raise InvalidSystem("ReactionProbe: what is held later must have the same names in the same order.")
        self._times = np.array([time for time, _ in changes], dtype=float)
        if not np.isfinite(self._times).all() or (np.diff(self._times) <= 0.0).any():
            raise InvalidSystem("ReactionProbe: the times of changes must be finite and ascend (s).")
        super().__init__(name, "reaction", list(parts[0]), about, masks[0].shape[1])
        self._nodes, self._masks = [], []  # of each support: nodes [k], and what it holds of them [parts, k, dim]
        for label in parts[0]:
            held = np.stack([part[label] for part in parts])
            nodes = np.flatnonzero(held.any(axis=(0, 2)))
            self._nodes.append(nodes)
            self._masks.append(held[:, nodes])
        every = np.unique(np.concatenate(self._nodes))
        self.needs: Needs = {"reactions": every, "q": every}

    def acting(self, seen: Observation | Snapshots) -> Iterator[tuple[Array, Array]]:
        """Return the forces in N at the nodes of each support, and their positions in m."""
        # A state at the time of a change is still that before it.
        changes = self._times + _SAME_TIME * np.abs(self._times)
        part = np.count_nonzero(changes < seen.times[:, None], axis=1)
        for nodes, masks in zip(self._nodes, self._masks, strict=True):
            yield np.where(masks[part], seen.at("reactions", nodes), 0.0), seen.at("q", nodes)


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
        The nodes on which the force is reported; or several of them, by name.
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
        dim: Annotated[int, whole(1, 3)] = 3,
    ):
        groups = dict(nodes) if isinstance(nodes, Mapping) else {"": nodes}
        if not groups:
            raise InvalidSystem("ForceProbe: nodes must name at least one group of nodes, got none.")
        super().__init__(name, what, list(groups), about, dim)
        self._acting = tuple(acting)
        self._groups = [np.unique(node_indices("ForceProbe", some)) for some in groups.values()]

        nodes_of_all = np.unique(np.concatenate(self._groups))
        self.needs: Needs = {"q": nodes_of_all} | {("force", one): nodes_of_all for one in self._acting}

    def acting(self, seen: Observation | Snapshots) -> Iterator[tuple[Array, Array]]:
        """Return the forces in N on each group of nodes, and their positions in m."""
        for nodes in self._groups:
            forces = [seen.at(("force", name), nodes) for name in self._acting]
            yield reduce(np.add, forces), seen.at("q", nodes)
