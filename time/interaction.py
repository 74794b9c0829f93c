"""Which coordinates interact: neighbourhoods of nodes and the local energies they share, as flat tables."""

from __future__ import annotations

from collections.abc import Mapping
from ctypes import CFUNCTYPE, c_double, c_void_p
from itertools import product
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from symplex.errors import InvalidSystem
from symplex.fem.energy import Array, Energy, IntArray, LatticeFunctions


class Interactions(NamedTuple):
    """Neighbourhoods and stencils, laid out for compiled loops; n nodes in dim dimensions have n·dim dofs.

    Two nodes that share a local energy, or a node and itself, make an *edge* (an ordered pair). The *star* of a node
    are the dofs of the nodes it has edges to, except those that do not move. Unsigned, as unsigned indices compile to
    fewer instructions.

    Attributes
    ----------
    star_ptr : uint32 [n + 1]
        The star of node a is ``star[star_ptr[a]:star_ptr[a+1]]``, ascending.
    star : uint32 [...]
    edge : uint32 [...]
        The edge to the node of each dof of a star.
    row : uint64 [n·dim]
        Where a table with one entry for each dof i and each dof of the star of its node begins the row of i.
    own : uint32 [n]
        The edge from each node to itself.
    shared_ptr : uint32 [edges + 1]
    shared : uint32 [...]
        The stencils that hold both ends of an edge.
    place, other_place : uint16 [...]
        The first dof of the first and of the second node of the edge in the shared stencil.
    stencil_ptr : uint32 [stencils + 1]
    stencil : uint32 [...]
        The dofs of each stencil.
    family : uint32 [stencils]
        The energy each stencil belongs to.
    parameters : int64 [stencils]
        The address of each stencil's row of parameters.
    value, difference, mixed : int64 [families]
        Addresses of the local functions of each energy.
    """

    star_ptr: NDArray[np.uint32]
    star: NDArray[np.uint32]
    edge: NDArray[np.uint32]
    row: NDArray[np.uint64]
    own: NDArray[np.uint32]
    shared_ptr: NDArray[np.uint32]
    shared: NDArray[np.uint32]
    place: NDArray[np.uint16]
    other_place: NDArray[np.uint16]
    stencil_ptr: NDArray[np.uint32]
    stencil: NDArray[np.uint32]
    family: NDArray[np.uint32]
    parameters: NDArray[np.int64]
    value: NDArray[np.int64]
    difference: NDArray[np.int64]
    mixed: NDArray[np.int64]


def lattice_functions(energies: Mapping[str, Energy], dim: int, axes: Array | None = None) -> list[LatticeFunctions]:
    """Return the local functions of all energies, in rotated axes [dim, dim] if given.

    Raises
    ------
    InvalidSystem
        If those of an energy do not fit its stencils in this dimension of space.
    """
    found = []
    for name, energy in energies.items():
        functions = energy.lattice_functions(np.eye(dim) if axes is None else axes)
        m, k = energy.nodes.shape
        if functions.size not in (0, k * dim) or len(functions.parameters) != m:
            raise InvalidSystem(
                f"energy '{name}' ({type(energy).__name__}) has {m} stencils of {k} nodes in {dim} dimensions, but its "
                f"lattice functions are for {len(functions.parameters)} stencils of {functions.size} coordinates."
            )
        found.append(functions)
    return found


def infinite_stencil(
    energies: Mapping[str, Energy], functions: list[LatticeFunctions], x: Array, spacing: Array, i: int
) -> tuple[str, int] | None:
    """Return the energy and the stencil that is infinite at the lattice vertex x or next to it.

    Parameters
    ----------
    x, spacing : float64 [n, dim]
        The vertex, in the axes of the lattice; it need be one for the neighbours of dof i only. Grid sizes.
    i : int
        The dof that an event happened to, with or without another.

    Returns
    -------
    tuple of str, int; or None
    """
    value_type = CFUNCTYPE(c_double, c_void_p, c_void_p)
    node, component = divmod(int(i), x.shape[1])
    for (name, energy), local in zip(energies.items(), functions, strict=True):
        value = value_type(local.value)
        for stencil in np.flatnonzero((energy.nodes == node).any(axis=1)):
            members, row = energy.nodes[stencil], local.parameters[stencil]
            step = np.where(members == node, spacing[node, component], 0.0)[:, None] * np.eye(x.shape[1])[component]
            steps = [step.ravel(), *np.diag(spacing[members].ravel())]
            for mine, other in product((0.0, 1.0, -1.0), repeat=2):
                for along in steps:
                    at = x[members] + (mine * steps[0] + other * along).reshape(step.shape)
                    if not np.isfinite(value(row.ctypes.data, at.ctypes.data)):
                        return name, int(stencil)
    return None


def interactions(
    moving: NDArray[np.bool_], stencils: list[IntArray], functions: list[LatticeFunctions]
) -> Interactions:
    """Build the tables from the dofs that move [n, dim], and the stencils [m, k] and local functions of each energy.

    The addresses point into the arrays of ``functions``: keep those alive as long as the tables.
    """
    n_nodes, dim = moving.shape
    width = _joined([np.full(len(nodes), nodes.shape[1]) for nodes in stencils])
    members = _joined([nodes.ravel() for nodes in stencils])
    edge_ptr, first, second = _edges(n_nodes, width, members)
    key = first * n_nodes + second  # ascending, as rows and columns are

    # Stencils of each edge: all ordered pairs of places of each stencil, sorted by edge.
    edge_of, shared, place, other_place, start = [], [], [], [], 0
    for nodes in stencils:
        m, k = nodes.shape
        pairs = nodes[:, :, None].astype(np.int64) * n_nodes + nodes[:, None, :]
        edge_of.append(np.searchsorted(key, pairs.ravel()))
        shared.append(np.repeat(np.arange(start, start + m), k * k))
        place.append(np.tile(np.repeat(np.arange(k), k), m))
        other_place.append(np.tile(np.arange(k), m * k))
        start += m
    edge_of = _joined(edge_of)
    order = np.argsort(edge_of, kind="stable")
    shared_ptr = np.concatenate([[0], np.cumsum(np.bincount(edge_of, minlength=len(key)))])

    star, edge = _dofs(second, dim), np.repeat(np.arange(len(second)), dim)
    moves = moving.ravel()[star]
    star_ptr = np.concatenate([[0], np.cumsum(moves)])[edge_ptr * dim]
    star_size = np.diff(star_ptr)
    row = np.concatenate([[0], np.cumsum(np.repeat(star_size, dim))[:-1]])
    rows = [f.parameters.ctypes.data + f.parameters.strides[0] * np.arange(len(f.parameters)) for f in functions]
    return Interactions(
        star_ptr=star_ptr.astype(np.uint32),
        star=star[moves],
        edge=edge[moves].astype(np.uint32),
        row=row.astype(np.uint64),
        own=np.searchsorted(key, np.arange(n_nodes, dtype=np.int64) * (n_nodes + 1)).astype(np.uint32),
        shared_ptr=shared_ptr.astype(np.uint32),
        shared=_joined(shared)[order].astype(np.uint32),
        place=(_joined(place)[order] * dim).astype(np.uint16),
        other_place=(_joined(other_place)[order] * dim).astype(np.uint16),
        stencil_ptr=(np.concatenate([[0], np.cumsum(width)]) * dim).astype(np.uint32),
        stencil=_dofs(members, dim),
        family=_joined([np.full(len(nodes), i) for i, nodes in enumerate(stencils)]).astype(np.uint32),
        parameters=_joined(rows).astype(np.int64),
        value=np.array([f.value for f in functions], np.int64),
        difference=np.array([f.difference for f in functions], np.int64),
        mixed=np.array([f.mixed for f in functions], np.int64),
    )


def _edges(n_nodes: int, width: NDArray, members: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Return row pointers and both ends of all edges: the pattern of incidence · incidenceᵀ, diagonal included."""
    stencil_of = np.repeat(np.arange(len(width)), width)
    holds = sp.csr_array((np.ones(len(members), np.int32), (members, stencil_of)), shape=(n_nodes, len(width)))
    pattern = sp.csr_array(holds @ holds.T + sp.eye_array(n_nodes))
    pattern.sort_indices()
    first = np.repeat(np.arange(n_nodes, dtype=np.int64), np.diff(pattern.indptr))
    return pattern.indptr, first, pattern.indices.astype(np.int64)


def _dofs(nodes: NDArray, dim: int) -> NDArray[np.uint32]:
    return (nodes[:, None].astype(np.int64) * dim + np.arange(dim)).ravel().astype(np.uint32)


def _joined(parts: list[NDArray]) -> NDArray:
    return np.concatenate(parts) if parts else np.empty(0, np.int64)
