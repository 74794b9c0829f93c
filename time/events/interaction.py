"""Which coordinates interact: neighbourhoods of nodes and the local energies they share, as flat tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.errors import InvalidSystem
from symplex.fem.energies.energy import Array, Energy, IntArray, LatticeFunctions
from symplex.time.events.huge_pages import moved
from symplex.time.events.lattice_lanes import LANES

STAR, HELD = range(2)  # columns of Interactions.node
NOWHERE = 2**16 - 1
_PAIRS = 2**22  # of nodes, that are sorted at a time


class Interactions(NamedTuple):
    """Neighbourhoods and stencils, laid out for compiled loops; n nodes in dim dimensions have n·dim dofs.

    The *star* of a node are the nodes that share a local energy with it, itself first. Stencils are numbered through
    all energies (*families*). Unsigned, as unsigned indices compile to fewer instructions.

    Attributes
    ----------
    node : uint32 [n + 1, 2]
        Where star and stencils of each node begin: columns ``STAR`` and ``HELD``.
    star : uint32 [...]
    shared_from : uint32 [... + 1]
        Where, for each node of each star, the stencils begin in ``shared`` that hold both.
    shared : uint16 or uint32 [...]
        Their numbers among those that hold the node whose star it is, ascending.
    held : uint32 [...]
        The stencils that hold a node.
    place : uint16 [..., LANES·groups]
        For each stencil that holds a node, the places of all its nodes in the star of that node, filled up with
        ``NOWHERE`` in as many groups of LANES as the widest stencil has.
    first : uint32 [families + 1]
        The first stencil of each family.
    width : uint32 [families]
        The number of nodes of its stencils.
    parameters, row : int64 [families]
        The address of the parameters of the first stencil, and the bytes from one to the next.
    value, difference, mixed : int64 [families]
        Addresses of the local functions of each family.
    """

    node: NDArray[np.uint32]
    star: NDArray[np.uint32]
    shared_from: NDArray[np.uint32]
    shared: NDArray[np.unsignedinteger]
    held: NDArray[np.uint32]
    place: NDArray[np.uint16]
    first: NDArray[np.uint32]
    width: NDArray[np.uint32]
    parameters: NDArray[np.int64]
    row: NDArray[np.int64]
    value: NDArray[np.int64]
    difference: NDArray[np.int64]
    mixed: NDArray[np.int64]


def lattice_functions(
    energies: Mapping[str, Energy], dim: int, axes: Array | None = None
) -> dict[str, LatticeFunctions]:
    """Return the local functions of all energies, in rotated axes [dim, dim] if given."""
    found = {}
    for name, energy in energies.items():
        functions = energy.lattice_functions(np.eye(dim) if axes is None else axes)
        m, k = energy.nodes.shape
        if functions.size not in (0, k * dim) or len(functions.parameters) != m:
            raise InvalidSystem(
                f"energy '{name}' ({type(energy).__name__}) has {m} stencils of {k} nodes in {dim} dimensions, but its "
                f"lattice functions are for {len(functions.parameters)} stencils of {functions.size} coordinates."
            )
        found[name] = functions
    return found


def interactions(n_nodes: int, stencils: list[IntArray], functions: list[LatticeFunctions]) -> Interactions:
    """Build the tables from the stencils [m, k] and local functions of each energy.

    The addresses point into the arrays of ``functions``: keep those alive as long as the tables.
    """
    width = _joined([np.full(len(nodes), nodes.shape[1]) for nodes in stencils])
    members = _joined([nodes.ravel() for nodes in stencils])
    stencil_ptr = np.concatenate([[0], np.cumsum(width)])
    star_ptr, star, pair = _stars(n_nodes, width, members)

    # All members of all stencils, by node: the stencils that hold a node, ascending.
    by_node = np.argsort(members, kind="stable")
    held = np.repeat(np.arange(len(width)), width)[by_node]
    # A stencil that is filled up with its first node (`symplex.fem.couplings.interpolation`) holds it once: there it
    # has weight.
    again = np.zeros(len(held), bool)
    again[1:] = (np.diff(held) == 0) & (np.diff(members[by_node]) == 0)
    by_node, held = by_node[~again], held[~again]
    held_ptr = np.searchsorted(members[by_node], np.arange(n_nodes + 1))
    # Each of those with all members of its stencil.
    count = width[held]
    row = np.repeat(np.arange(len(held)), count)
    number = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    owner = np.repeat(members[by_node].astype(np.int64), count)
    key, order = pair
    entry = order[np.searchsorted(key, owner * n_nodes + members[np.repeat(stencil_ptr[held], count) + number])]
    place = np.full((len(held), -(-width.max(initial=1) // LANES) * LANES), NOWHERE, np.uint16)
    place[row, number] = entry - star_ptr[owner]
    # And by pairs of nodes, once each where a stencil is filled up.
    entry, row = np.divmod(np.unique(entry * len(held) + row), max(len(held), 1))
    shared = row - held_ptr[np.repeat(np.arange(n_nodes), np.diff(star_ptr))[entry]]
    node = np.zeros((n_nodes + 1, 2), np.uint32)
    node[:, STAR], node[:, HELD] = star_ptr, held_ptr
    return Interactions(
        node=moved(node),
        star=moved(star.astype(np.uint32)),
        shared_from=moved(np.searchsorted(entry, np.arange(len(star) + 1)).astype(np.uint32)),
        shared=moved(shared.astype(np.uint16 if shared.max(initial=0) <= NOWHERE else np.uint32)),
        held=moved(held.astype(np.uint32)),
        place=moved(place),
        first=np.cumsum([0] + [len(nodes) for nodes in stencils]).astype(np.uint32),
        width=np.array([nodes.shape[1] for nodes in stencils], np.uint32),
        parameters=np.array([f.parameters.ctypes.data for f in functions], np.int64),
        row=np.array([f.parameters.strides[0] for f in functions], np.int64),
        value=np.array([f.value for f in functions], np.int64),
        difference=np.array([f.difference for f in functions], np.int64),
        mixed=np.array([f.mixed for f in functions], np.int64),
    )


def _stars(n_nodes: int, width: NDArray, members: NDArray) -> tuple[NDArray, NDArray, tuple[NDArray, NDArray]]:
    """Return row pointers and nodes of all stars, and where each pair first · n + second, ascending, is in them."""
    begin, pairs = np.cumsum(width) - width, [np.arange(n_nodes) * (n_nodes + 1)]
    for k in np.unique(width):
        nodes = members[begin[width == k, None] + np.arange(k)].astype(np.int64)
        for some in np.array_split(nodes, 1 + nodes.size * int(k) // _PAIRS):
            pairs.append(np.unique(some[:, :, None] * n_nodes + some[:, None]))
    pair = np.unique(np.concatenate(pairs))
    first, second = np.divmod(pair, n_nodes)
    ptr = np.searchsorted(first, np.arange(n_nodes + 1)).astype(np.int32)
    order = np.lexsort((second, second != first, first))  # each node itself comes first
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return ptr, second[order], (pair, place)


def _joined(parts: list[NDArray]) -> NDArray:
    return np.concatenate(parts) if parts else np.empty(0, np.int64)
