"""Sparsity patterns and scattering, for stencils of any size and nodes of any dimension."""

import numpy as np
import pytest

from symplex.errors import InvalidSystem
from symplex.fem.assembly.pattern import Pattern, scatter_blocks, scatter_vectors


@pytest.fixture
def stencils():
    rng = np.random.default_rng(0)
    draw = lambda m, k: np.array([rng.choice(30, k, replace=False) for _ in range(m)], np.int32)  # noqa: E731
    return [draw(20, 4), draw(7, 2), draw(5, 1)]


def test_pattern_holds_all_couplings_and_the_diagonal(stencils):
    pattern = Pattern(31, stencils)
    expected = {(i, i) for i in range(31)}
    expected |= {(i, j) for nodes in stencils for row in nodes.tolist() for i in row for j in row}
    rows = np.repeat(np.arange(31), np.diff(pattern.indptr))
    assert list(zip(rows.tolist(), pattern.indices.tolist(), strict=True)) == sorted(expected)


def test_slots_lead_to_the_right_place(stencils):
    pattern = Pattern(31, stencils)
    rows = np.repeat(np.arange(31), np.diff(pattern.indptr))
    for nodes, slots in zip(stencils, pattern.slots, strict=True):
        k = nodes.shape[1]
        assert slots.shape == (len(nodes), k, k)
        np.testing.assert_array_equal(rows[slots], np.repeat(nodes[:, :, None], k, axis=2))
        np.testing.assert_array_equal(pattern.indices[slots], np.repeat(nodes[:, None, :], k, axis=1))


def test_pattern_without_stencils_is_the_diagonal():
    pattern = Pattern(4, [])
    np.testing.assert_array_equal(pattern.indices, np.arange(4))
    assert pattern.slots == []
    assert Pattern(3, [np.empty((0, 4), np.int32)]).slots[0].shape == (0, 4, 4)


@pytest.mark.parametrize("node", [-1, 4])
def test_stencils_of_nodes_that_do_not_exist_are_refused(node):
    with pytest.raises(InvalidSystem, match=r"a stencil refers to nodes .*, but there are 4 nodes"):
        Pattern(4, [np.array([[0, 1]], np.int32), np.array([[2, node]], np.int32)])


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_scattering_is_dense_assembly(stencils, dim):
    rng = np.random.default_rng(1)
    pattern = Pattern(31, stencils)
    values, dense = pattern.zeros(dim), np.zeros((31, dim, 31, dim))
    vector, dense_vector = np.zeros((31, dim)), np.zeros((31, dim))
    for nodes, slots in zip(stencils, pattern.slots, strict=True):
        m, k = nodes.shape
        local = rng.standard_normal((m, k * dim, k * dim))
        scatter_blocks(local, slots, values)
        forces = rng.standard_normal((m, k, dim))
        scatter_vectors(forces, nodes, vector)
        np.add.at(dense_vector, nodes, forces)
        for e in range(m):
            dense[np.ix_(nodes[e], range(dim), nodes[e], range(dim))] += local[e].reshape(k, dim, k, dim)
    matrix = pattern.matrix(values)
    np.testing.assert_allclose(matrix.toarray(), dense.reshape(31 * dim, 31 * dim), rtol=1e-13, atol=1e-14)
    assert matrix.has_sorted_indices
    np.testing.assert_allclose(vector, dense_vector, rtol=1e-13, atol=1e-14)
