"""What belongs to each rank: its nodes, their neighbours on other ranks, and the stencils around its nodes.

The nodes of a rank are in this order:

    inner nodes | inner nodes next to sent ones | sent nodes | ghosts,

where ghosts are nodes of other ranks that share a stencil with own nodes, and sent nodes are ghosts of others. Nodes of
which each rank with one of them needs all, as those of contact between bodies, are ghosts or sent as well. A rank
computes all stencils around its own nodes, so that each node sums all its forces in the order of the whole mesh, and
forces have the same bits on any number of ranks. Stencils around inner nodes need no ghosts, and are computed while
these are exchanged; those around sent nodes after that. A stencil with both is computed twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.fem.assembly.pattern import IntArray


class Neighbour(NamedTuple):
    """What is exchanged with another rank."""

    rank: int
    sent: NDArray[np.intp]  # [s]: the places of the nodes whose positions it gets
    # The places of the ghosts that it owns
    first: int
    last: int


class Share(NamedTuple):
    """What a rank has of a mesh."""

    nodes: IntArray  # [l]: the nodes, in the order above
    # The places of the first inner node that is next to a sent one, of the first one sent, and of the first ghost
    next_to: int
    sent: int
    ghosts: int
    neighbours: tuple[Neighbour, ...]
    # [s]: By name, the stencils around inner nodes, and around sent ones
    inner: Mapping[str, IntArray]
    outer: Mapping[str, IntArray]


class Division:
    """The shares of all ranks.

    Parameters
    ----------
    owner : int32 [n]
        The rank that owns each node.
    stencils : mapping of str to int32 [m, k]
        By name.
    ranks : int
    shared : sequence of int32 [s]
        Sets of nodes, ascending, of which a rank that owns one has all.
    """

    def __init__(
        self,
        owner: NDArray[np.int32],
        stencils: Mapping[str, IntArray],
        ranks: int,
        shared: Sequence[NDArray[np.int32]] = (),
    ):
        self._owner, self._stencils, self._sets = owner, stencils, shared
        self._around = {name: _Around(owner[nodes], ranks) for name, nodes in stencils.items()}
        self._own = _by_rank(owner, ranks)

    def share(self, rank: int, hidden: bool = True) -> Share:
        """Return what a rank has.

        Parameters
        ----------
        rank : int
        hidden : bool, default True
            Whether the exchange is hidden behind inner stencils. If not, all are outer ones, which begin with the first
            node, and none is computed twice.
        """
        owner, own = self._owner, self._own[rank]
        of = {name: around.of(rank) for name, around in self._around.items()}
        pairs = self._shared(rank)
        is_sent = np.zeros(len(owner), bool)
        is_sent[pairs[:, 1]] = True
        for nodes in self._sets:
            is_sent[nodes[owner[nodes] == rank]] = True
        outer = {name: index[is_sent[self._stencils[name][index]].any(axis=1)] for name, index in of.items()}
        next_to = np.zeros(len(owner), bool)
        for name, index in outer.items():
            next_to[self._stencils[name][index]] = True
        is_inner = np.zeros(len(owner), bool)
        is_inner[own] = True
        is_inner[is_sent] = False
        inner = {name: index[is_inner[self._stencils[name][index]].any(axis=1)] for name, index in of.items()}
        ghosts = self._ghosts(rank)
        parts = [own[is_inner[own] & ~next_to[own]], own[is_inner[own] & next_to[own]], own[is_sent[own]], ghosts]
        nodes = np.concatenate(parts).astype(np.int32)
        starts = np.cumsum([len(part) for part in parts])
        share = Share(nodes, int(starts[0]), int(starts[1]), int(starts[2]), (), inner, outer)
        share = share._replace(neighbours=tuple(self._neighbours(share, pairs, ghosts)))
        if hidden:
            return share
        return share._replace(next_to=0, sent=0, inner={name: none[:0] for name, none in inner.items()}, outer=of)

    def _mixed(self, rank: int) -> list[IntArray]:
        """Return the stencils of a rank that have nodes of others as well."""
        return [self._stencils[name][around.mixed(rank)] for name, around in self._around.items()]

    def _shared(self, rank: int) -> NDArray[np.int64]:
        """Return the pairs (other rank, own node) of what is sent, sorted."""
        n, keys = len(self._owner), [np.empty(0, np.int64)]
        for nodes in self._mixed(rank):
            of = self._owner[nodes].astype(np.int64)
            for a in range(nodes.shape[1]):
                for b in range(nodes.shape[1]):
                    both = (of[:, a] == rank) & (of[:, b] != rank)
                    keys.append(of[both, b] * n + nodes[both, a])
        for nodes in self._sets:
            here = nodes[self._owner[nodes] == rank].astype(np.int64)
            keys += [other * n + here for other in np.unique(self._owner[nodes]).tolist() if other != rank]
        found = np.unique(np.concatenate(keys))
        return np.column_stack([found // n, found % n])

    def _ghosts(self, rank: int) -> IntArray:
        """Return the nodes of others, by their rank and then by their number."""
        found = [np.empty(0, np.int32), *(part.ravel() for part in self._mixed(rank))]
        found += [nodes for nodes in self._sets if (self._owner[nodes] == rank).any()]
        nodes = np.unique(np.concatenate(found))
        nodes = nodes[self._owner[nodes] != rank]
        return nodes[np.argsort(self._owner[nodes], kind="stable")]

    def _neighbours(self, share: Share, pairs: NDArray[np.int64], ghosts: IntArray) -> list[Neighbour]:
        owners, own, found = self._owner[ghosts], share.nodes[share.sent : share.ghosts], []
        for other in np.unique(pairs[:, 0]).tolist():
            sent = np.searchsorted(own, pairs[pairs[:, 0] == other, 1]) + share.sent
            first, last = np.searchsorted(owners, [other, other + 1]) + share.ghosts
            found.append(Neighbour(other, sent, int(first), int(last)))
        return found


class _Around:
    """The stencils around the nodes of each rank, given the owners [m, k] of their nodes."""

    def __init__(self, of: NDArray[np.int32], ranks: int):
        is_mixed = (of != of[:, :1]).any(axis=1)
        alone, mixed = np.flatnonzero(~is_mixed).astype(np.int32), np.flatnonzero(is_mixed)
        self._alone = [alone[index] for index in _by_rank(of[alone, 0], ranks)]
        keys = np.unique(of[mixed].astype(np.int64) * len(of) + mixed[:, None])
        rank, stencil = keys // max(len(of), 1), (keys % max(len(of), 1)).astype(np.int32)
        self._mixed = [stencil[index] for index in _by_rank(rank, ranks)]

    def mixed(self, rank: int) -> IntArray:
        """Return those that other ranks have as well, ascending."""
        return self._mixed[rank]

    def of(self, rank: int) -> IntArray:
        """Return all, ascending."""
        return np.sort(np.concatenate([self._alone[rank], self._mixed[rank]]))


def places_of(where: IntArray, nodes: IntArray) -> IntArray:
    """Return the places of nodes among others, which are all different."""
    order = np.argsort(where)
    return order[np.searchsorted(where, nodes, sorter=order)].astype(np.int32)


def _by_rank(rank: NDArray[np.integer], ranks: int) -> list[NDArray[np.intp]]:
    """Return the indices of what is of each rank, ascending."""
    order = np.argsort(rank, kind="stable")
    starts = np.searchsorted(rank[order], np.arange(ranks + 1))
    return [order[first:last] for first, last in pairwise(starts)]
