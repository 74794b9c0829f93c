"""What the compiled loops over contact pairs share: the law, gathering, scattering.

Pairs are a `symplex.contact.search.SurfacePairs`. Positions, coefficients and forces of a pair are tuples of four.
"""

from __future__ import annotations

from typing import NamedTuple

from symplex.fem.kernels import uncounted_inlined as formula
from symplex.fem.vectors import expanded, scattered, vec3_of


class Law(NamedTuple):
    """The law of contact (`symplex.contact.laws`): which, k in N/m³ and d̂ in m."""

    kind: int
    stiffness: float
    reach: float


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
