"""Nodes of eight elements at once: the bits of one element after the other."""

import numpy as np
import pytest

from symplex.fem.compiled import lanes
from symplex.fem.compiled.kernels import kernel

STRIDE, NODES = 32, 40
RANDOM = np.random.default_rng(0)
KINDS = pytest.mark.parametrize(("k", "n"), [(4, 32), (4, 13), (5, 1), (8, 16), (10, 31), (27, 9)])


@kernel
def gathered(q, nodes, k, n, x):
    for e in range(0, STRIDE, lanes.EIGHT):
        lanes.gather_lanes(q, nodes, k, e, n, STRIDE, x)


@kernel
def gathered_between(q, q1, nodes, k, n, means, increments):
    for e in range(0, STRIDE, lanes.EIGHT):
        lanes.gather_lanes_between(q, q1, nodes, k, e, n, STRIDE, means, increments)


@kernel
def gathered_along(q, c, dq, nodes, k, n, means, increments):
    for e in range(0, STRIDE, lanes.EIGHT):
        lanes.gather_lanes_along(q, c, dq, nodes, k, e, n, STRIDE, means, increments)


@kernel
def scattered(f, nodes, k, n, out):
    for e in range(0, n, lanes.EIGHT):
        lanes.scatter_lanes(f, nodes, k, e, n, STRIDE, out)


def elements(k, n):
    """Return the nodes of n elements, among them the last one there is, and those of all places [STRIDE, k]."""
    nodes = np.array([RANDOM.permutation(NODES)[:k] for _ in range(n)], np.uint32)
    nodes[-1] = np.arange(NODES - k, NODES)
    return nodes, nodes[np.minimum(np.arange(STRIDE), n - 1)]


def rows(x, k):
    """Return [place, node, component] of what the loops set."""
    return x.reshape(k - 1, 3, STRIDE).transpose(2, 0, 1)


@KINDS
def test_nodes_relative_to_the_first(k, n):
    (nodes, places), q, x = elements(k, n), RANDOM.standard_normal((NODES, 3)), np.full(3 * (k - 1) * STRIDE, np.nan)
    gathered(q.ravel(), nodes.ravel(), k, n, x)
    at = q[places]
    np.testing.assert_array_equal(rows(x, k), at[:, 1:] - at[:, :1])


@KINDS
def test_means_and_increments(k, n):
    nodes, places = elements(k, n)
    q, c, dq = RANDOM.standard_normal((3, NODES, 3)) * np.array([1e3, 1e-13, 1.0])[:, None, None]
    means, increments = np.full((2, 3 * (k - 1) * STRIDE), np.nan)
    gathered_between(q.ravel(), dq.ravel(), nodes.ravel(), k, n, means, increments)
    x, y = q[places], dq[places]
    np.testing.assert_array_equal(rows(means, k), 0.5 * ((x + y)[:, 1:] - (x + y)[:, :1]))
    np.testing.assert_array_equal(rows(increments, k), y[:, 1:] - x[:, 1:] - (y - x)[:, :1])
    gathered_along(q.ravel(), c.ravel(), dq.ravel(), nodes.ravel(), k, n, means, increments)
    x, z, change = (one[places][:, 1:] - one[places][:, :1] for one in (q, c, dq))
    np.testing.assert_array_equal(rows(means, k), x + (z + 0.5 * change))
    np.testing.assert_array_equal(rows(increments, k), change)


@KINDS
def test_forces_add_up_element_by_element(k, n):
    nodes, _ = elements(k, n)
    f, out = RANDOM.standard_normal(3 * (k - 1) * STRIDE), RANDOM.standard_normal((NODES, 3))
    expected = out.copy()
    for e in range(n):
        force = rows(f, k)[e]
        expected[nodes[e, 1:]] += force
        expected[nodes[e, 0]] -= np.add.accumulate(force)[-1]
    scattered(f, nodes.ravel(), k, n, out.reshape(-1))
    np.testing.assert_array_equal(out, expected)
