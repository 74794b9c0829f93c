"""Linear constraints: what they ask for is so, but for λ/k."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import symplex as sx
from symplex.errors import InvalidSystem
from symplex.fem.couplings.equations import LinearConstraints

POINTS = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])


def test_an_equation_is_off_by_its_force_over_the_stiffness():
    """Two free masses along x, u₁ − 2 u₀ = 0.1 m, and a force on the second: λ = F, and u₀ pulls back with k₀."""
    factors = np.zeros((1, 6))
    factors[0, 3], factors[0, 0] = 1.0, -2.0
    points = POINTS[:2]
    equation = LinearConstraints(points, factors, 0.1, stiffness=1e6)
    spring = sx.measures.Anchors([0], (-1.0, 0.0, 0.0), sx.measures.EngineeringStrain(100.0, 1.0))
    fixed = np.array([[False, True, True]] * 2)
    forces = sx.actions.NodalForce([1], (7.0, 0.0, 0.0))
    system = sx.System(np.ones(2), {"equation": equation, "spring": spring, "force": forces}, fixed=fixed)
    state = sx.equilibria.static_equilibrium(system, points).state
    u = state.q[:, 0] - points[:, 0]
    assert u[0] == pytest.approx(2 * 7.0 / 100.0, rel=1e-8)
    assert equation.errors(state.q) == pytest.approx(7.0 / 1e6, rel=1e-6)
    assert u[1] == pytest.approx(2 * u[0] + 0.1 + 7e-6, rel=1e-8)


def test_sparse_and_full_factors_are_the_same_and_equations_may_have_different_nodes():
    rng = np.random.default_rng(1)
    factors = np.zeros((3, 12))
    factors[0, [0, 5]], factors[1, [1, 2, 4, 9, 11]], factors[2, 7] = (1, -1), rng.standard_normal(5), 3.0
    full = LinearConstraints(POINTS, factors, [0.1, 0.2, 0.3], stiffness=[1.0, 2.0, 3.0])
    sparse = LinearConstraints(POINTS, sp.coo_array(factors), [0.1, 0.2, 0.3], stiffness=[1.0, 2.0, 3.0])
    q = POINTS + rng.standard_normal((4, 3))
    off = factors @ (q - POINTS).ravel() - [0.1, 0.2, 0.3]
    for energy in (full, sparse):
        assert energy.errors(q) == pytest.approx(off, abs=1e-14)
        assert energy.total(q) == pytest.approx(0.5 * np.dot([1, 2, 3], off**2), rel=1e-14)
        gradient = np.zeros((4, 3))
        energy.add_gradient(q, gradient)
        assert np.allclose(gradient.ravel(), factors.T @ ([1, 2, 3] * off), atol=1e-14)
    assert "translations" not in full.invariances
    pair = LinearConstraints(POINTS, np.eye(1, 12) - np.eye(1, 12, 3), stiffness=1.0)
    assert pair.invariances == {"translations"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"factors": np.ones((1, 11))}, "12 columns"),
        ({"factors": np.zeros((2, 12))}, "equation 0 has none"),
        ({"factors": np.zeros((0, 12))}, "there are no equations"),
        ({"factors": np.full((1, 12), np.nan)}, "finite"),
        ({"values": [0.0, 1.0]}, "one for each of 1 equations"),
        ({"stiffness": 0.0}, "positive"),
        ({"points": POINTS[0]}, "n, dim"),
    ],
)
def test_wrong_equations_are_refused(change, message):
    given = {"points": POINTS, "factors": np.eye(1, 12), "values": 0.0, "stiffness": 1.0} | change
    with pytest.raises(InvalidSystem, match=message):
        LinearConstraints(**given)
