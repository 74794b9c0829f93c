"""Energies and momenta of a motion on several ranks: the sums of each, which are exact, and all of them together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from symplex.base.columns import Column, components
from symplex.contact.rigid import COLUMNS, RigidContact
from symplex.fem.assembly.pattern import Array
from symplex.fem.energies.energy import Energy
from symplex.fem.state import State
from symplex.fem.system import System
from symplex.parallel.contact import CountedContact
from symplex.parallel.exact_sum import WORDS, add_nodes, add_numbers, values_of
from symplex.parallel.inelastic import InelasticPiece

_MOMENTS = {1: 0, 2: 1, 3: 3}  # components of a moment, by the dimension of space
_FORCE, _DEPTH = COLUMNS[0].vector, COLUMNS[-1].name


@dataclass
class Counted:
    """Stencils of an energy that are counted on a rank; each one is on one of the ranks."""

    energy: Energy
    counts: NDArray[np.bool_]  # [m]


@dataclass
class RankSums:
    """What a rank has found."""

    nodes: NDArray[np.int64]  # [1 + dim + moments, WORDS]: see `symplex.parallel.exact_sum.add_nodes`
    energies: NDArray[np.int64]  # [energies, WORDS]
    forces: dict[str, NDArray[np.int64]]  # [dim, WORDS]: of contact with obstacles, by name
    depths: dict[str, float]  # how deep nodes are inside at most
    reported: dict[str, dict[str, float]]  # columns of contact and inelastic parts that count here, by name
    stored: NDArray[np.int64]  # [inelastic, WORDS]
    works: NDArray[np.int64]  # [k, WORDS]: see `PartLedger`
    is_finite: bool  # whether all that moves is


def sums_of_rank(
    counted: Mapping[str, Sequence[Counted | CountedContact]],
    mass: Array,
    arrays: tuple[Array, Array, Array],
    works: NDArray[np.int64],
    inelastic: Mapping[str, tuple[InelasticPiece, Array]] = MappingProxyType({}),
) -> RankSums:
    """Return the sums over own nodes and counted stencils.

    Parameters
    ----------
    counted : mapping of str to sequence of Counted, or of CountedContact
        By the names of all energies.
    mass : float64 [own]
        Of own nodes in kg.
    arrays : (float64 [l, dim], float64 [own, dim], float64 [own, dim])
        Positions, those of ghosts included, velocities and accelerations of own nodes.
    works : int64 [k, WORDS]
    inelastic : mapping of str to (InelasticPiece, float64)
        All inelastic parts, with their internal variables.
    """
    q, v, a = arrays
    own, dim = v.shape
    nodes = np.zeros((1 + dim + _MOMENTS[dim], WORDS), np.int64)
    is_finite = np.isfinite(add_nodes(mass, q[:own], v, nodes)) and np.isfinite(a).all()
    energies = np.zeros((len(counted), WORDS), np.int64)
    stored = np.zeros((len(inelastic), WORDS), np.int64)
    found = RankSums(nodes, energies, {}, {}, {}, stored, works, bool(is_finite))
    for words, (name, (piece, z)) in zip(stored, inelastic.items(), strict=True):
        add_numbers(np.array([piece.part.stored(q, z)]), words)
        found.reported[name] = piece.part.observed(name, piece.counted(z))
    for words, (name, parts) in zip(energies, counted.items(), strict=True):
        for part in parts:
            if isinstance(part, CountedContact):
                values, found.reported[name] = part.counted(q)
                add_numbers(values, words)
                continue
            add_numbers(part.energy.local_energies(q)[part.counts], words)
            if isinstance(part.energy, RigidContact):
                _add_contact(found, name, part, q)
    return found


def _add_contact(found: RankSums, name: str, part: Counted, q: Array) -> None:
    """Add what contact with an obstacle shows (see `ObstacleContact.observed`)."""
    contact = part.energy
    assert isinstance(contact, RigidContact), "it is contact with an obstacle"
    forces = -contact.gradient(q[contact.nodes])[part.counts, 0]
    words = found.forces.setdefault(name, np.zeros((forces.shape[1], WORDS), np.int64))
    for column, numbers in zip(words, forces.T, strict=True):
        add_numbers(np.ascontiguousarray(numbers), column)
    deepest = np.max(-contact.gaps(q)[part.counts] / contact.obstacle.slope, initial=0.0)
    found.depths[name] = max(found.depths.get(name, 0.0), float(deepest))


class Sums:
    """What all ranks have found, together: the same bits for any number of them.

    Parameters
    ----------
    system : System
        The whole one.
    parts : sequence of RankSums

    Attributes
    ----------
    energies : dict of str to float
        In J, as `System.energies_of`.
    momentum : float64 [dim]
    angular_momentum : float64 [3], [1] in the plane, [0] on a line
    reported : dict of str to float
        As `System.observed`.
    is_finite : bool
    """

    def __init__(self, system: System, parts: Sequence[RankSums]):
        of_nodes = values_of(sum(part.nodes for part in parts))  # pyright: ignore[reportArgumentType]
        of_energies = values_of(sum(part.energies for part in parts))  # pyright: ignore[reportArgumentType]
        self.energies: dict[str, float] = {"kinetic": 0.5 * float(of_nodes[0])}
        self.energies |= dict(zip(system.energies, of_energies.tolist(), strict=True))
        stored = values_of(sum(part.stored for part in parts)).tolist()  # pyright: ignore[reportArgumentType]
        names = (f"stored_{name}" for name in system.inelastic if len(stored))  # not where only energies are found
        self.energies |= dict(zip(names, stored, strict=True))
        self.energies["total"] = sum(self.energies.values())
        self.momentum, self.angular_momentum = of_nodes[1 : 1 + system.dim], of_nodes[1 + system.dim :]
        self.reported = system.reports_of(
            {name: self._of_contact(name, energy.columns, parts)
             for name, energy in system.energies.items() if energy.columns}
        )  # fmt: skip
        for name, part in system.inelastic.items() if len(stored) else ():
            of_parts = [one.reported[name] for one in parts]
            self.reported |= {
                column.name: column.of_parts(one[column.name] for one in of_parts if one)
                for column in part.columns(name)
            }
        self.is_finite = all(part.is_finite for part in parts)

    @staticmethod
    def _of_contact(name: str, columns: Sequence[Column], parts: Sequence[RankSums]) -> dict[str, float]:
        if reported := [part.reported[name] for part in parts if name in part.reported]:
            return {column.name: column.of_parts(one[column.name] for one in reported) for column in columns}
        dim = len(columns) - 1
        words = sum((part.forces[name] for part in parts if name in part.forces), np.zeros((dim, WORDS), np.int64))
        return components(_FORCE, values_of(words)) | {_DEPTH: max(part.depths.get(name, 0.0) for part in parts)}


class DistantState(State):
    """A state whose sums are here and whose nodes are on the ranks, from which they are brought when first looked at.

    That is as long as the motion has not gone on.

    Parameters
    ----------
    t : float
    sums : Sums
    bring : callable
        Returns positions, velocities and accelerations [n, dim], of all nodes, or of given nodes only, the others zero.
    internal : callable
        Returns the internal variables, by name.
    """

    sums: Sums
    _bring_internal: Callable[[], Mapping[str, Array]]
    _bring: Callable[[NDArray[np.integer] | None], tuple[Array, Array, Array]]
    _brought: dict[int, tuple[NDArray[np.integer] | None, State]]

    def __init__(
        self,
        t: float,
        sums: Sums,
        bring: Callable[[NDArray[np.integer] | None], tuple[Array, Array, Array]],
        internal: Callable[[], Mapping[str, Array]],
    ):
        self.__dict__.update(t=t, sums=sums, _bring=bring, _brought={}, _bring_internal=internal)

    @property
    def _all(self) -> State:
        return self._of(None)

    def _of(self, nodes: NDArray[np.integer] | None) -> State:
        """Return the state of nodes, brought once; who asks again asks for the same array."""
        if id(nodes) not in self._brought:
            self._brought[id(nodes)] = nodes, State(self.t, *self._bring(nodes))
        return self._brought[id(nodes)][1]

    @property
    def q(self) -> Array:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Positions [n, dim] in m."""
        return self._all.q

    @property
    def v(self) -> Array:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Velocities [n, dim] in m/s."""
        return self._all.v

    @property
    def a(self) -> Array:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Accelerations [n, dim] in m/s²."""
        return self._all.a

    @cached_property
    def internal(self) -> Mapping[str, Array]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The internal variables of inelastic parts, by name."""
        return self._bring_internal()

    def reversed(self) -> State:
        """Return the same state with the velocities reversed."""
        return replace(self._all.reversed(), internal=self.internal)

    def timed(self, t: float) -> State:
        """Return the same state with the time in s as it was asked for."""
        return DistantState(t, self.sums, self._bring, lambda: self.internal)

    def of_nodes(self, nodes: NDArray[np.integer]) -> State:
        """Return the state of given nodes; the others are at the origin, at rest."""
        return self._all if id(None) in self._brought else self._of(nodes)
