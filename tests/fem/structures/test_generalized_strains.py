"""Generalised strains: rotation vectors of elements, and slopes that make the changes of an increment."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from reference.lines import line
from symplex.fem.structures.beam import beams
from symplex.fem.structures.sections import BeamProperties

EPS = np.finfo(float).eps
PROPERTIES = BeamProperties(5.0, (2.0, 3.0), (0.7, 0.9), 0.4, 1.0, (0.01, 0.02))  # as wide as elements are long


def turned(built, size, seed):
    """Positions of beams whose nodes have rotated by about ``size`` rad and moved."""
    rng = np.random.default_rng(seed)
    x = built.points.reshape(-1, 4, 3)
    c = x.mean(axis=1, keepdims=True)
    turns = Rotation.from_rotvec(size * rng.normal(size=(len(x), 3))).as_matrix()
    moved = c + 0.1 * size * rng.normal(size=c.shape)
    return (np.einsum("nij,naj->nai", turns, x - c) + moved).reshape(-1, 3)


@pytest.fixture
def built():
    return beams(
        line([[0, 0, 0], [0.5, 0.1, 0], [1.1, 0, 0.2], [1.5, 0.1, 0.1]]), PROPERTIES, (0.0, 0.0, 1.0), extent=1.0
    )


@pytest.mark.parametrize("size", [1e-6, 0.05, 0.4])
def test_curvatures_are_the_rotation_vector_between_the_ends(built, size):
    q = turned(built, size, 0)
    frames = built.frames.rotations(built.points, q)
    first, second = (frames[built.lines[:, end]] for end in range(2))
    relative = Rotation.from_matrix(second @ first.swapaxes(1, 2)).as_rotvec()
    expected = np.einsum("mij,mkj,mk->mi", built.axes, first, relative)
    found = built.strains.strains(q[built.energy.nodes])[:, 3:]
    assert_allclose(found, expected, atol=100 * EPS + 20 * EPS * size)
    assert np.abs(found).max() > 0.3 * size


@pytest.mark.parametrize("size", [1e-5, 0.1, 0.4])
def test_forces_of_an_increment_do_the_work_of_strains_and_have_no_resultants(built, size):
    x0, x1 = (turned(built, size, seed)[built.energy.nodes] for seed in (1, 2))
    strains = built.strains
    stress = np.random.default_rng(3).normal(size=(3, 6))
    force, change = strains.forces(x0, x1, stress), strains.strains(x1) - strains.strains(x0)
    work, scale = np.einsum("mki,mki->m", force, x1 - x0), np.abs(force).max()
    assert_allclose(work, np.einsum("mi,mi->m", stress, change), atol=100 * EPS * scale)
    assert_allclose(force.sum(axis=1), 0.0, atol=100 * EPS * scale)
    assert_allclose(np.cross(0.5 * (x0 + x1), force).sum(axis=1), 0.0, atol=100 * EPS * scale)


@pytest.mark.parametrize("mean", [True, False])
def test_derivatives_are_those_of_forces(built, mean):
    x0, x1 = (turned(built, 0.4, seed)[built.energy.nodes] for seed in (1, 2))
    rng, strains = np.random.default_rng(4), built.strains
    stress, moduli = rng.normal(size=(3, 6)), rng.normal(size=(3, 6, 6))
    e1 = strains.strains(x1)

    def force(x):
        grown = stress + np.einsum("mij,mj->mi", moduli, strains.strains(x) - e1)
        return strains.forces(x0 if mean else x, x, grown)

    d = 1e-6 * rng.normal(size=x1.shape)
    found = strains.derivatives(x0 if mean else x1, x1, stress, moduli, mean=mean)
    expected = 0.5 * (force(x1 + d) - force(x1 - d))
    product = np.einsum("mij,mj->mi", found, d.reshape(3, -1)).reshape(d.shape)
    assert_allclose(product, expected, atol=1e-8 * np.abs(expected).max())
