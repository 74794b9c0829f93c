"""Orders in which the nodes of a mesh are eliminated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from symplex.fem.assembly import IntArray


@dataclass(frozen=True)
class TwoSidedOrder:
    """An order of elimination from both ends towards the middle: two halves, then what separates them.

    No node of one half is coupled with one of the other, so both may be eliminated at the same time. Within each
    half the order is that of Cuthill and McKee, which couples a node only with nodes near it in the order.

    Attributes
    ----------
    nodes : int32 [n]
        The nodes in this order.
    bounds : (int, int, int, int)
        0, where the second half begins, where the separator begins, n.
    """

    nodes: IntArray
    bounds: tuple[int, int, int, int]


def two_sided_order(indptr: IntArray, indices: IntArray) -> TwoSidedOrder:
    """Return the order for a symmetric pattern, given as row starts and columns (see `TwoSidedOrder`).

    It is the reverse Cuthill-McKee order, cut in the middle, the second half read backwards. The separator is about
    one of its levels.
    """
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    n = len(indptr) - 1
    graph = sp.csr_array((np.ones(len(indices)), indices, indptr), shape=(n, n))
    nodes = reverse_cuthill_mckee(graph, symmetric_mode=True)
    place = np.empty(n, np.int32)
    place[nodes] = np.arange(n)
    half = n // 2
    rows = np.repeat(np.arange(n), np.diff(indptr))
    crossing = (place[rows] < half) & (place[indices] >= half)
    separates = np.zeros(n, bool)
    separates[rows[crossing]] = True
    first, second = nodes[:half], nodes[half:][::-1]
    inner = first[~separates[first]]
    order = np.concatenate([inner, second, first[separates[first]]]).astype(np.int32)
    return TwoSidedOrder(order, (0, len(inner), len(inner) + len(second), n))
