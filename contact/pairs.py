"""Pairs of parts of surfaces as kernels read them, and what these kernels share: gathering, scattering.

Positions, coefficients and forces of a pair are tuples of four.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple, Self

import numpy as np
from numba import types  # pyright: ignore[reportPrivateImportUsage]
from numpy.typing import NDArray

from symplex.fem.compiled.kernels import uncounted_inlined as formula
from symplex.fem.compiled.records import Integer, Nodes, Number, Numbers, Record
from symplex.fem.compiled.vectors import expanded, scattered, vec3_of


class SurfacePairs(Record):
    """Pairs of a vertex and a triangle, then pairs of two edges, each sorted by nodes."""

    # [m, 4]: The vertex and the triangle's three; the nodes of the edges, of that with the smaller nodes first
    nodes: Nodes
    edge_edge: Annotated[NDArray[np.uint8], types.uint8[::1]]  # [m]: 1 where it is two edges
    weights: Numbers  # [m]: areas in m² at rest: half of the vertex', a quarter of the sum of the edges'
    # [m]: |e1 × e2|² in m⁴ below which two edges count as nearly parallel, from their lengths at rest; 0 of the others
    parallel: Numbers

    def chosen(self, rows: NDArray[np.intp]) -> Self:
        """Return some of them, by their places in the list."""
        fields = self.as_dict().items()
        return type(self)(**{name: value[rows] if isinstance(value, np.ndarray) else value for name, value in fields})


class PairRecord(SurfacePairs):
    """Pairs with the law of contact (`symplex.contact.laws`): which, k in N/m³ and d̂ in m."""

    law: Integer
    stiffness: Number
    reach: Number


class Law(NamedTuple):
    """That law, as kernels pass it on."""

    kind: int
    stiffness: float
    reach: float


@formula
def law_of(our):
    """Return the law in a record."""
    return Law(our.law, our.stiffness, our.reach)


@formula
def gather(q, nodes, e):
    """Return the positions of a pair relative to its first node, from nodal vectors q [n, 3]."""
    return relative(q, nodes[e, 0], nodes[e, 1], nodes[e, 2], nodes[e, 3])


@formula
def relative(q, a, b, c, d):
    """Return the vectors of four nodes relative to the first one."""
    o = vec3_of(q, a)
    return o - o, vec3_of(q, b) - o, vec3_of(q, c) - o, vec3_of(q, d) - o


@expanded
def edges(x):
    """Return the vectors e1 and e2 of two edges."""
    return x[1] - x[0], x[3] - x[2]


@expanded
def middle(x0, x1):
    """Return the midpoints."""
    return tuple([0.5 * (u + v) for u, v in zip(x0, x1, strict=True)])


@expanded
def along_distance(pull, c, p):
    """Return pull c_a p."""
    return tuple([pull * one * p for one in c])


@expanded
def with_edges(f, first, second):
    """Return forces with those on the first and on the second edge."""
    return f[0] - first, f[1] + first, f[2] - second, f[3] + second


@scattered
def add_forces(f):
    """Add the forces of a pair to out [n, 3]."""
    for a in range(4):
        yield a, f[a]
