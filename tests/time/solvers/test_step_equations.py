"""The matrix of an implicit step, and the estimate of its residual's round-off."""

import numpy as np

from symplex.fem.assembly.pattern import Pattern
from symplex.testing import round_off
from symplex.time.solvers.step_equations import tangent, tangent_in_space


def test_the_matrix_in_space_is_that_of_any_dimension():
    rng = np.random.default_rng(0)
    pattern = Pattern(30, [rng.permuted(np.tile(np.arange(30, dtype=np.int32), (40, 1)), axis=1)[:, :4].copy()])
    stiffness = rng.standard_normal((len(pattern.indices), 3, 3))
    forces, constant, dq, q = rng.standard_normal((4, 30, 3))
    mass = rng.uniform(1.0, 2.0, 30)
    masses = np.where(pattern.rows() == pattern.indices, mass[pattern.rows()], 0.0)
    fixed = rng.random((30, 3)) < 0.2
    blocks, sizes = [], []
    for kernel in (tangent, tangent_in_space):
        blocks.append(stiffness.copy())
        size = kernel(
            *(3.0, 5.0, masses, 0.7, forces, constant, dq, q, mass, fixed),
            *(pattern.indptr, pattern.indices, blocks[-1], 0, 30),
        )
        sizes.append(size)
    np.testing.assert_allclose(blocks[1], blocks[0], rtol=round_off.of(1.0))
    np.testing.assert_allclose(sizes[1], sizes[0], rtol=1e-14)
    expected = 0.7 * stiffness
    expected[pattern.diagonal()] += 3.0 * mass[:, None, None] * np.eye(3)
    expected[pattern.held(fixed)] = 0.0
    expected[pattern.diagonal()] += np.where(fixed[:, :, None], 5.0 * mass[:, None, None] * np.eye(3), 0.0)
    np.testing.assert_allclose(blocks[1], expected, atol=1e-14)
    weights = np.abs(0.7 * pattern.matrix(stiffness).toarray()) @ np.abs(q).ravel()
    size = 3.0 * mass[:, None] * np.abs(dq) + np.abs(constant) + 0.7 * np.abs(forces) + weights.reshape(30, 3)
    np.testing.assert_allclose(sizes[1], np.sum(np.where(fixed, 0.0, size**2 / mass[:, None])), rtol=1e-12)
