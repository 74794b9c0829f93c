"""Sums over the edges of hexahedra: those over their nodes."""

import numpy as np

from symplex.fem.compiled.kernels import kernel
from symplex.fem.solids import brick_sums, brick_tangents, elements
from symplex.fem.solids.chunks import CHUNK, elements_per_chunk

SLOPES = np.ascontiguousarray(elements.HEXAHEDRON.shapes(elements.HEXAHEDRON.stiffness.points)[1])  # [g, n, a]
RANDOM = np.random.default_rng(0)


@kernel
def interpolated(x, slopes, d):
    brick_sums.interpolate_bricks(x, slopes.ravel(), d)


@kernel
def integrated(t, slopes, f):
    brick_sums.integrate_bricks(t, slopes.ravel(), f)


def test_tangent_vectors_are_sums_over_nodes():
    x, d = RANDOM.standard_normal((7, 3, brick_sums.SIZE)), np.zeros(9 * CHUNK)
    interpolated(x.ravel(), SLOPES, d)
    expected = np.einsum("gna,nie->aige", SLOPES[:, 1:], x)
    np.testing.assert_allclose(d.reshape(expected.shape), expected, rtol=0, atol=1e-14)


def test_forces_are_sums_over_points():
    t, f = RANDOM.standard_normal((3, 3, 8, brick_sums.SIZE)), np.full(21 * brick_sums.SIZE, np.nan)
    integrated(t.ravel(), SLOPES, f)
    expected = np.einsum("gna,aige->nie", SLOPES[:, 1:], t)
    np.testing.assert_allclose(f.reshape(expected.shape), expected, rtol=0, atol=1e-14)


def test_no_other_element_has_as_many_nodes_and_points():
    """By these alone the loops report which elements they may sum over edges."""
    assert elements_per_chunk.py_func(brick_sums.POINTS) == brick_sums.SIZE
    of_module = [one for one in vars(elements).values() if isinstance(one, elements.Element)]
    assert len(of_module) > 5
    both = [one for one in of_module if one.n_nodes == 8 and len(one.stiffness.points) % brick_sums.POINTS == 0]
    assert all(one is elements.HEXAHEDRON for one in both)
    assert both


@kernel
def summed(H, symmetric, K):
    sums = np.empty(brick_tangents.BLOCKS * brick_tangents.BLOCK)
    for g in range(brick_sums.POINTS):
        brick_tangents.add_point(H[g], g, symmetric, sums)
    brick_tangents.set_tangents(symmetric, sums, K)


def test_tangents_are_sums_over_points():
    """Of H_ab [g, a, b, 9, lanes] at the points; the loops take them to be symmetric only if they report it."""
    H = RANDOM.standard_normal((8, 3, 3, 3, 3, brick_sums.SIZE))  # [g, a, b, i, j, lanes]
    for symmetric in (False, True):
        if symmetric:
            H = H + H.transpose(0, 2, 1, 4, 3, 5)
        K = np.full((8, 8, 3, 3, brick_sums.SIZE), np.nan)
        summed(H.reshape(8, -1), symmetric, K.reshape(-1))
        expected = np.einsum("gma,gabije,gnb->mnije", SLOPES, H, SLOPES)
        kept = np.tril(np.ones((8, 8), bool)) if symmetric else np.ones((8, 8), bool)
        np.testing.assert_allclose(K[kept], expected[kept], rtol=0, atol=1e-13)
        assert np.isnan(K[~kept]).all()
