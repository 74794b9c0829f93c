"""Which coordinates interact: neighbourhoods of nodes and the local energies they share, as flat tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from symplex.errors import InvalidSystem
from symplex.fem.energy import Energy, IntArray, LatticeFunctions


class Interactions(NamedTuple):
    """Neighbourhoods and stencils, laid out for compiled loops.

    The *star* of a node are the nodes that share a local energy with it, itself included. An *edge* is an
    ordered pair (node, member of its star).

    Attributes
    ----------
    star_ptr : int32 [n + 1]
        Edges of node a are ``star_ptr[a] … star_ptr[a+1] − 1``.
    star : int32 [edges]
        The second node of each edge.
    own : int32 [n]
        The edge from each node to itself.
    mirror : int32 [edges]
        The same edge seen from its other end.
    shared_ptr : int32 [edges + 1]
    shared : int32 [...]
        The stencils that hold both ends of an edge.
    stencil_ptr : int32 [stencils + 1]
    stencil_nodes : int32 [...]
        The nodes of each stencil.
    family : int32 [stencils]
        The energy each stencil belongs to.
    parameters : int64 [stencils]
        The address of each stencil's row of parameters.
    value, difference, mixed : int64 [families]
        Addresses of the local functions of each energy.
    """

    star_ptr: IntArray
    star: IntArray
    own: IntArray
    mirror: IntArray
    shared_ptr: IntArray
    shared: IntArray
    stencil_ptr: IntArray
    stencil_nodes: IntArray
    family: IntArray
    parameters: NDArray[np.int64]
    value: NDArray[np.int64]
    difference: NDArray[np.int64]
    mixed: NDArray[np.int64]


def lattice_functions(energies: Mapping[str, Energy], wanted_by: str) -> list[LatticeFunctions]:
    """Return the compiled local functions of all energies.

    Raises
    ------
    InvalidSystem
        If an energy has none.
    """
    found = []
    for name, energy in energies.items():
        functions = energy.lattice_functions()
        if functions is None:
            raise InvalidSystem(
                f"{wanted_by} needs compiled local functions; energy '{name}' ({type(energy).__name__}) has none: "
                "give it a lattice_functions() method, or use Newmark."
            )
        found.append(functions)
    return found


def interactions(n_nodes: int, stencils: list[IntArray], functions: list[LatticeFunctions]) -> Interactions:
    """Build the tables from the stencils [m, k] and local functions of each energy.

    The addresses point into the arrays of ``functions``: keep those alive as long as the tables.
    """
    width = np.concatenate([np.full(len(nodes), nodes.shape[1]) for nodes in stencils] or [np.empty(0, int)])
    stencil_ptr = np.concatenate([[0], np.cumsum(width)])
    stencil_nodes = np.concatenate([nodes.ravel() for nodes in stencils] or [np.empty(0, int)])

    # Edges: the pattern of (node × stencil incidence) · its transpose, with the diagonal always there.
    member_of = np.repeat(np.arange(len(width)), width)
    holds = sp.csr_array(
        (np.ones(len(stencil_nodes), np.int32), (stencil_nodes, member_of)), shape=(n_nodes, len(width))
    )
    pattern = sp.csr_array(holds @ holds.T + sp.eye_array(n_nodes, dtype=np.int32))
    pattern.sort_indices()
    star_ptr, star = pattern.indptr, pattern.indices
    first = np.repeat(np.arange(n_nodes, dtype=np.int64), np.diff(star_ptr))
    key = first * n_nodes + star  # ascending, as rows and columns are
    mirror = np.searchsorted(key, star.astype(np.int64) * n_nodes + first)
    own = np.searchsorted(key, np.arange(n_nodes, dtype=np.int64) * (n_nodes + 1))

    # Stencils of each edge: all ordered pairs of nodes of each stencil, sorted by edge.
    edges, owners, start = [], [], 0
    for nodes in stencils:
        pairs = nodes[:, :, None].astype(np.int64) * n_nodes + nodes[:, None, :]
        edges.append(np.searchsorted(key, pairs.ravel()))
        owners.append(np.repeat(np.arange(start, start + len(nodes)), nodes.shape[1] ** 2))
        start += len(nodes)
    edge_of = np.concatenate(edges or [np.empty(0, int)])
    order = np.argsort(edge_of, kind="stable")
    shared = np.concatenate(owners or [np.empty(0, int)])[order]
    shared_ptr = np.concatenate([[0], np.cumsum(np.bincount(edge_of, minlength=len(star)))])

    rows = [f.parameters.ctypes.data + f.parameters.strides[0] * np.arange(len(f.parameters)) for f in functions]
    families = [np.full(len(nodes), i) for i, nodes in enumerate(stencils)]
    int32 = lambda array: np.ascontiguousarray(array, np.int32)  # noqa: E731
    int64 = lambda array: np.ascontiguousarray(array, np.int64)  # noqa: E731
    return Interactions(
        *map(int32, (star_ptr, star, own, mirror, shared_ptr, shared, stencil_ptr, stencil_nodes)),
        int32(np.concatenate(families or [np.empty(0)])),
        int64(np.concatenate(rows or [np.empty(0)])),
        *(int64([getattr(f, name) for f in functions]) for name in ("value", "difference", "mixed")),
    )

