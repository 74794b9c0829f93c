"""Products with Hessians, with kernels and without, are those of the matrices."""

import numpy as np
import pytest

import symplex as sx
from symplex.fem.assembly import forms

MESH = sx.box((1.0, 0.8, 0.6), (3, 2, 2))
CELLS = MESH.cells["tetra"]
RANDOM = np.random.default_rng(0)
Q = MESH.points + 0.02 * RANDOM.standard_normal(MESH.points.shape)
A = RANDOM.standard_normal(Q.shape)
PAIRS = np.array([[0, 1], [4, 9], [2, 7]])
BALL = sx.Sphere((0.5, 0.4, -0.3), 0.4)

ENERGIES = {
    "neo-Hookean": (sx.Solid(MESH.points, CELLS, sx.NeoHookean(lmbda=3.0, mu=2.0, density=1.0)), True),
    "Saint Venant": (sx.Solid(MESH.points, CELLS, sx.SaintVenantKirchhoff(lmbda=3.0, mu=2.0, density=1.0)), False),
    "bars": (sx.Bars(PAIRS, sx.measures.EngineeringStrain(5.0, 0.3)), True),
    "Green": (sx.Bars(PAIRS, sx.measures.GreenStrain(5.0, 0.3)), True),
    "plane": (sx.RigidContact(np.arange(len(Q)), sx.HalfSpace((0, 0, 0.3), (0.1, 0, 1.0)), 7.0), True),
    "sphere": (sx.RigidContact(np.arange(len(Q)), BALL, 7.0), True),
    "gravity": (sx.Gravity(np.ones(len(Q)), (0.0, 0.0, -9.81)), None),
}


@pytest.mark.parametrize("name", ENERGIES)
def test_products_are_those_of_the_matrix(name):
    energy, has_kernel = ENERGIES[name]
    system = sx.System(np.ones(len(Q)), {name: energy})
    expected = (system.hessian(Q) @ A.ravel()).reshape(A.shape)
    assert np.any(expected) == (name != "gravity")
    found = system.hessian_product(Q, A)
    assert np.allclose(found, expected, rtol=0.0, atol=1e-13 * max(np.abs(expected).max(), 1.0))
    x, a = Q[energy.nodes], A[energy.nodes]
    local = energy.hessian_product(x, a)
    out = np.zeros_like(Q)
    np.add.at(out, energy.nodes, local)
    assert np.allclose(out, expected, rtol=0.0, atol=1e-12 * max(np.abs(expected).max(), 1.0))
    if has_kernel is not None:
        assert (energy.calls(forms.HESSIAN_PRODUCT, 3) is not None) == has_kernel


def test_an_inverted_element_is_named():
    energy = ENERGIES["neo-Hookean"][0]
    q = Q.copy()
    q[CELLS[3, 0]] += 5.0
    with pytest.raises(sx.errors.InvertedElement):
        energy.add_hessian_product(q, A, np.zeros_like(q))
