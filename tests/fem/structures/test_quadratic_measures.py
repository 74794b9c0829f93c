"""Energies that are quadratic in measures: bars and rigid bodies are tables of them, and they are exact far away."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from symplex.errors import InvalidSystem
from symplex.fem.measures.bars import Bars, GreenStrain
from symplex.fem.structures.quadratic_measures import QuadraticMeasures
from symplex.fem.structures.rigidity import CORNERS, Rigidity

BAR = {"measures": [[(0, 0, 0.5)]], "rest": [[0.5]], "stiffness": [[[3.0]]]}


def bar(**changes):
    return QuadraticMeasures(**({"nodes": [[0, 1]], "weights": [[[-1.0, 1.0]]]} | BAR | changes))


def rigid_body(radii, stiffness):
    """The energy of `Rigidity`: measures p_k·p_l of three vectors."""
    pairs = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]
    constants = [stiffness / (radii[k] ** 2 + radii[m] ** 2) * (0.5 if k == m else 1.0) for k, m in pairs]
    return QuadraticMeasures(
        np.arange(4)[None],
        [0.25 * CORNERS.T],
        [[(k, m, 1.0)] for k, m in pairs],
        [[radii[k] ** 2 if k == m else 0.0 for k, m in pairs]],
        [constants],
    )


@pytest.mark.parametrize("form", ["value", "gradient", "hessian", "secant"])
def test_a_rigid_body_is_a_table_of_measures(form):
    radii, q = np.array([0.3, 0.7, 0.5]), np.random.default_rng(0).standard_normal((1, 4, 3))
    known = Rigidity(np.arange(4)[None], radii[None], 2.0, 20.0)
    expected = getattr(known, form)(q)
    assert_allclose(getattr(rigid_body(radii, 2.0 * 20.0**2), form)(q), expected, atol=1e-13 * np.abs(expected).max())


def test_bars_of_green_strain_are_a_table_of_measures():
    q = np.random.default_rng(1).standard_normal((1, 2, 3))
    known = Bars([[0, 1]], GreenStrain(3.0, 1.0))
    assert_allclose(bar().gradient(q), known.gradient(q), rtol=1e-13)


def test_forces_are_the_same_to_the_last_bit_a_kilometre_away():
    """Where positions are exact: those of a node are taken relative to another one."""
    q = np.round(np.random.default_rng(2).standard_normal((1, 4, 3)) * 2**20) / 2**20
    energy = rigid_body(np.array([0.3, 0.7, 0.5]), 800.0)
    assert np.array_equal(energy.gradient(q), energy.gradient(q + 1024.0))


def test_positions_may_carry_what_rounding_cuts_off():
    """Forces follow from less than the last digit of positions, here far from the origin, of a body without stress."""
    radii, rng = np.array([0.5, 0.25, 1.0]), np.random.default_rng(3)
    energy, q, dq = rigid_body(radii, 800.0), (CORNERS * radii + 1026.0)[None], np.zeros((1, 4, 3))
    c = 1e-13 * rng.uniform(-1.0, 1.0, q.shape)  # half of the last digit is 1.1e-13
    expected = (energy.hessian(q) @ c.reshape(1, 12, 1)).reshape(q.shape)
    assert not energy.gradient(q).any()
    assert not energy.discrete_gradient(q, q + (c + dq)).any()
    assert_allclose(energy.increment_gradient(q, c, dq), expected, atol=1e-2 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"nodes": [[0], [1]]}, r"nodes must have shape \(m, k ≥ 2\), got \(2, 1\)"),
        ({"weights": [[[-1.0, 1.1]]]}, "weights of a vector must sum to zero, got 0.1"),
        ({"weights": [[-1.0, 1.0]]}, r"weights must have shape \(1, 1, 2\), got \(1, 2\)"),
        ({"measures": [[(0, 1, 0.5)]]}, r"measures must have terms \(r, s, c\) of 1 vectors"),
        ({"measures": [[]]}, "measures must have terms"),
        ({"rest": [[np.nan]]}, "rest must be finite"),
        ({"rest": [0.5]}, r"rest must have shape \(1, 1\), got \(1,\)"),
        ({"stiffness": [[[3.0], [1.0]]]}, r"stiffness must have shape \(1, 1, 1\)"),
    ],
)
def test_what_is_wrong_is_refused(changes, message):
    with pytest.raises(InvalidSystem, match=message):
        bar(**changes)


def test_a_stiffness_must_be_symmetric():
    with pytest.raises(InvalidSystem, match="must be symmetric"):
        bar(measures=[[(0, 0, 0.5)], [(0, 0, 1.0)]], rest=[[0.5, 1.0]], stiffness=[[[1.0, 2.0], [0.0, 1.0]]])
