"""The bodies of a deck: one, or where there is contact those of the elements that share nodes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from symplex.decks.deck import Deck
from symplex.decks.geometry import DeckGeometry

BODY = "part"


@dataclass(frozen=True)
class Parts:
    """The bodies of a scenario, and which nodes of a deck are in which.

    Attributes
    ----------
    names : tuple of str
    of_node : int64 [n]
        The place of the body of each node among the names; -1 of a node of no solid element.
    """

    names: tuple[str, ...]
    of_node: NDArray[np.int64]

    @classmethod
    def of(cls, deck: Deck, geometry: DeckGeometry) -> Parts:
        """Return the bodies of a deck, none of one without solid elements."""
        inside, mesh = geometry.in_elements, geometry.mesh
        of_node = np.where(inside, 0, -1).astype(np.int64)
        if not inside.any():
            return cls((), of_node)
        if not deck.touching:
            return cls((BODY,), of_node)
        cells = [mesh.cells[kind] for kind in mesh.volume_types]
        first = np.concatenate([np.repeat(nodes[:, 0], nodes.shape[1]) for nodes in cells])
        other = np.concatenate([nodes.ravel() for nodes in cells])
        joined = coo_array((np.ones(len(first), bool), (first, other)), shape=(len(inside), len(inside)))
        label = connected_components(joined, directed=False)[1]
        found, which = np.unique(label[inside], return_inverse=True)
        of_node[inside] = which
        return cls(tuple(f"{BODY}_{k}" for k in range(1, len(found) + 1)) if len(found) > 1 else (BODY,), of_node)

    @classmethod
    def of_solids(cls, geometry: DeckGeometry, name: str) -> Parts:
        """Return all solid elements as one body of a name, none of a deck without them."""
        inside = geometry.in_elements
        return cls((name,) if inside.any() else (), np.where(inside, 0, -1).astype(np.int64))

    def holding(self, nodes: Iterable[int]) -> list[str]:
        """Return the names of the bodies that have any of some nodes."""
        found = np.unique(self.of_node[np.fromiter(nodes, np.int64)])
        return [self.names[k] for k in found if k >= 0]

    def nodes(self, name: str) -> NDArray[np.int64]:
        """Return the places of the nodes of a body, ascending."""
        return np.flatnonzero(self.of_node == self.names.index(name))
