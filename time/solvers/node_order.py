"""Orders in which the nodes of a mesh are eliminated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symplex.fem.assembly.pattern import IntArray
from symplex.fem.compiled.kernels import kernel


@dataclass(frozen=True)
class TwoSidedOrder:
    """An order of elimination from both ends towards the middle: two halves, then what separates them.

    No node of one half is coupled with one of the other, so both may be eliminated at the same time. Within each
    half the order is reverse Cuthill-McKee, seen from the far end of the other.

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

    The separator is about one level of the Cuthill-McKee order.
    """
    n = len(indptr) - 1
    by_degree = np.argsort(np.diff(indptr), kind="stable").astype(np.int32)
    there = cuthill_mckee(indptr, indices, cuthill_mckee(indptr, indices, by_degree)[::-1].copy())
    back = cuthill_mckee(indptr, indices, there[::-1].copy())
    # The direction counts where factors are incomplete: one order read from both ends takes a fifth more iterations.
    place = np.empty(n, np.int32)
    place[there] = np.arange(n)
    upper = place >= n // 2
    rows = np.repeat(np.arange(n), np.diff(indptr))
    separates = np.zeros(n, bool)
    separates[rows[upper[rows] & ~upper[indices]]] = True
    first, second = there[::-1], back[::-1]
    parts = first[(upper & ~separates)[first]], second[~upper[second]], first[separates[first]]
    ends = np.cumsum([len(part) for part in parts]).tolist()
    return TwoSidedOrder(np.concatenate(parts), (0, *ends))


@kernel
def cuthill_mckee(indptr, indices, seeds):
    """Return the nodes [n] level by level, from the first of the seeds [n] that no level has reached yet.

    The neighbours of a node follow each other by their number of neighbours (Cuthill and McKee 1969).
    """
    n = len(indptr) - 1
    order = np.empty(n, np.int32)
    seen = np.zeros(n, np.bool_)
    done = end = 0
    for seed in seeds:
        if seen[seed]:
            continue
        seen[seed] = True
        order[end] = seed
        end += 1
        while done < end:
            node = order[done]
            done += 1
            begin = end
            for s in range(indptr[node], indptr[node + 1]):
                other = indices[s]
                if seen[other]:
                    continue
                seen[other] = True
                degree = indptr[other + 1] - indptr[other]
                k = end
                while k > begin and indptr[order[k - 1] + 1] - indptr[order[k - 1]] > degree:
                    order[k] = order[k - 1]
                    k -= 1
                order[k] = other
                end += 1
    return order
