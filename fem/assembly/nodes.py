"""Indices of nodes, checked: compiled code reads and writes wherever they point."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.errors import InvalidSystem

Nodes = ArrayLike  # indices of nodes: whole numbers from 0
_MOST = np.iinfo(np.int32).max


def require_nodes(what: str, nodes: NDArray[np.integer], n_nodes: int) -> None:
    """Check that indices of nodes, of any shape, are those of n_nodes nodes.

    Raises
    ------
    InvalidSystem
        If one is not; ``what`` begins the message.
    """
    if nodes.size and not np.issubdtype(nodes.dtype, np.integer):
        raise InvalidSystem(f"{what} refers to nodes by numbers of type {nodes.dtype}; indices are integers.")
    if nodes.size and not (nodes.min() >= 0 and nodes.max() < n_nodes):
        raise InvalidSystem(f"{what} refers to nodes {nodes.min()} to {nodes.max()}, but there are {n_nodes} nodes.")


def connectivity(what: str, nodes: Nodes) -> NDArray[np.int32]:
    """Return indices of nodes, of any shape, as a contiguous array, the given one if it is such.

    Raises
    ------
    InvalidSystem
        If they are not whole numbers (a mask, for example), or one is negative or above 2³¹ − 1; ``what`` begins the
        message.
    """
    given = _array(what, nodes)
    if given.size and not np.issubdtype(given.dtype, np.integer):
        raise InvalidSystem(f"{what}: nodes must be indices, 0 and up (of a mask, numpy.flatnonzero gives them).")
    if given.size and not (given.min() >= 0 and given.max() <= _MOST):
        raise InvalidSystem(
            f"{what} refers to nodes {given.min()} to {given.max()}; nodes must be indices from 0 to {_MOST}."
        )
    return np.ascontiguousarray(given, np.int32)


def node_indices(what: str, nodes: Nodes) -> NDArray[np.int32]:
    """Return indices of nodes as a new array [m].

    Raises
    ------
    InvalidSystem
        As `connectivity`.
    """
    return connectivity(what, nodes).flatten()


def _array(what: str, nodes: Nodes) -> NDArray:
    try:
        return np.asarray(nodes)
    except ValueError:  # rows of several lengths
        raise InvalidSystem(f"{what}: nodes must be indices, in an array with rows of one length.") from None


def node_pairs(what: str, pairs: Nodes) -> NDArray[np.int32]:
    """Return pairs of nodes as a new array [m, 2].

    Raises
    ------
    InvalidSystem
        As `node_indices`, or if they are no pairs, or a node is paired with itself.
    """
    given = _array(what, pairs)
    if given.size and (given.ndim != 2 or given.shape[1] != 2):
        raise InvalidSystem(f"{what}: pairs of nodes have shape {given.shape}, expected [m, 2].")
    nodes = node_indices(what, given).reshape(-1, 2)
    same = np.flatnonzero(nodes[:, 0] == nodes[:, 1])
    if len(same):
        raise InvalidSystem(f"{what}: pair {same[0]} joins node {nodes[same[0], 0]} with itself.")
    return nodes


def distinct_nodes(what: str, nodes: Nodes) -> NDArray[np.int32]:
    """Return indices of nodes without repetition as a new array [m].

    Raises
    ------
    InvalidSystem
        As `node_indices`, or if a node is named twice.
    """
    flat = node_indices(what, nodes)
    if len(np.unique(flat)) < len(flat):
        raise InvalidSystem(f"{what}: nodes must be indices without repetition.")
    return flat


def require_nodal(owner: object, what: str, x: NDArray[np.float64], least: int, dim: int | None = None) -> None:
    """Check that x is an array [n, dim] with a row for each of the first nodes, at least: kernels would read beyond it.

    Raises
    ------
    InvalidSystem
        If it is not, with what it is called in messages: "positions have".
    """
    if x.ndim != 2 or len(x) < least or x.shape[1] != (dim or min(x.shape[1], 3)):
        called = owner if isinstance(owner, str) else type(owner).__name__
        raise InvalidSystem(f"{called}: {what} shape {x.shape}, expected (n, {dim or 'dim'}) with n at least {least}.")
