"""Linear equations Σ c u = b between displacements of the nodes of a deck, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from symplex.decks.mean_nodes import Dof, MeanNode
from symplex.decks.reading import UnsupportedKeyword

_NO_WEIGHT = 1e-10

Array = NDArray[np.float64]
TURNS = 3  # the first component that is a rotation
IMAGINARY = 10**9  # what the nodes of a second body, with the imaginary parts of displacements, have beyond the first


@dataclass
class Rows:
    """Equations between displacements, in the units of the deck.

    Attributes
    ----------
    count : int
        How many nodes the deck has.
    factors : list of dict of (node, component) to float
        The largest of displacements in each is 1 in size.
    values : list of float
    turns : dict of int to Array
        Nodes that the deck does not have: places of those whose displacements are the rotations of rigid nodes, or
        that move as supports say, or with nodes of beams and shells.
    turning : dict of int to int
        The node whose displacements are the rotations of a reference node.
    local : dict of int to float64 [3, 3]
        The directions of reference nodes of couplings that have their own.
    means : dict of int to MeanNode
        The nodes of shells, whose motion is a mean of that of others.
    doubled : bool
        Whether there is a second body, with the imaginary parts of displacements.
    followers : dict of int to int
        Points at a distance from nodes of beams and shells that move with these, which equations and forces have.
    layered : bool
        Whether nodes of a layer of elements, which may be thin, follow each other.
    framed : set of int
        The nodes of beams and shells, whose components 3 to 5 are rotations. As displacements these are of the node
        `rotation_of` one.
    """

    count: int = 0
    factors: list[dict[Dof, float]] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    turns: dict[int, Array] = field(default_factory=dict)
    turning: dict[int, int] = field(default_factory=dict)
    local: dict[int, Array] = field(default_factory=dict)
    means: dict[int, MeanNode] = field(default_factory=dict)
    followers: dict[int, int] = field(default_factory=dict)
    doubled: bool = False
    layered: bool = False
    framed: set[int] = field(default_factory=set)

    def add(self, factors: Mapping[Dof, float], value: float = 0.0) -> None:
        """Add an equation; of a node of a shell the means are written out."""
        if self.means:
            factors = self._written_out(factors)
        if self.framed:
            factors = {(n, i) if n >= 0 else (rotation_of(n), i + TURNS): c for (n, i), c in factors.items()}
        # Factors of rotations are lengths, of which any unit must leave equations as stiff as they are.
        turned = {dof: c for dof, c in factors.items() if dof[0] in self.turns or dof[1] >= TURNS}
        plain = {dof: c for dof, c in factors.items() if dof not in turned}
        size = max(map(abs, plain.values()), default=0.0) or max(map(abs, factors.values()), default=0.0)
        if not size:
            raise UnsupportedKeyword("an equation has no factors")
        kept = {dof: factor / size for dof, factor in factors.items() if abs(factor) > _NO_WEIGHT * size}
        self.factors.append(kept)
        self.values.append(value / size)

    def _written_out(self, factors: Mapping[Dof, float]) -> dict[Dof, float]:
        found: dict[Dof, float] = {}
        for (node, component), factor in factors.items():
            mean = self.means.get(node)
            terms = {(node, component): 1.0}
            if mean is not None and component >= TURNS:
                terms = mean.rotation(component - TURNS)
            elif mean is not None and not mean.is_node:
                terms = mean.displacement(component)
            for dof, weight in terms.items():
                found[dof] = found.get(dof, 0.0) + factor * weight
        return found

    def double(self) -> None:
        """Let a second body have each of these equations as well."""
        self.doubled = True
        self.factors += [{(node + IMAGINARY, i): c for (node, i), c in row.items()} for row in self.factors]
        self.values += self.values

    def turned(self, node: int, component: int) -> Dof | None:
        """Return where a component of a node is: rotations are displacements of another; None if it has no rotation."""
        if component < TURNS or node in self.means or node in self.framed:
            return node, component
        return (self.turning[node], component - TURNS) if node in self.turning else None

    def add_point(self, place: Array) -> int:
        """Return a new node at a place."""
        new = self.count + len(self.turns)
        self.turns[new] = place
        return new

    def follow(self, node: int, place: Array) -> int:
        """Return a point at a place that moves with a node of a beam or shell."""
        for known, on in self.followers.items():
            if on == node and (self.turns[known] == place).all():
                return known
        new = self.add_point(place)
        self.followers[new] = node
        return new

    @property
    def nodes(self) -> set[int]:
        """All nodes that are in an equation."""
        return {node for row in self.factors for node, _ in row} | {*self.followers}


def rotation_of(node: int) -> int:
    """Return the number, below 0, of which the rotations of a node of a beam or shell are displacements; and back."""
    return -1 - node
