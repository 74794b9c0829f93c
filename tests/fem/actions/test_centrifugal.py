"""The centrifugal potential: forces away from the axis, the same with a mass matrix as with nodal masses for rigid."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import symplex as sx
from symplex.errors import InvalidSystem
from symplex.fem.actions.centrifugal import Centrifugal


def gradient(energy, q):
    out = np.zeros_like(q)
    energy.add_gradient(q, out)
    return out


def test_forces_are_those_of_a_circle():
    """A mass of 2 kg at 3 m from an axis along z, at 5 rad/s: 150 N, away from it, whatever its height."""
    energy = Centrifugal(np.array([2.0, 0.0]), (0.0, 0.0, 5.0), (1.0, 1.0, 7.0))
    q = np.array([[4.0, 1.0, -2.0], [9.0, 9.0, 9.0]])
    assert np.allclose(gradient(energy, q), [[-150.0, 0.0, 0.0], [0.0, 0.0, 0.0]], atol=1e-12)
    assert energy.total(q) == pytest.approx(-0.5 * 2.0 * 25.0 * 9.0, rel=1e-15)
    assert gradient(Centrifugal(np.ones(1), 5.0), np.array([[3.0, 4.0]])) == pytest.approx(np.array([[-75.0, -100.0]]))


def test_a_mass_matrix_gives_its_product_with_the_arms():
    mesh = sx.box((1.0, 0.5, 0.3), (2, 1, 1), split="hexahedra")
    mass = sx.consistent_mass(mesh.points, mesh.cells["hexahedron"], 7800.0, len(mesh.points) + 3)
    mass = (mass + sp.diags_array(np.r_[np.zeros(len(mesh.points)), 1.0, 0.0, 2.0])).tocsr()
    q = np.random.default_rng(2).standard_normal((len(mesh.points) + 3, 3))
    omega, point = np.array([1.0, -2.0, 3.0]), np.array([0.1, 0.2, 0.3])
    energy = Centrifugal(mass, omega, point)
    exact = -mass @ (np.cross(omega, np.cross(q - point, omega)))
    assert np.allclose(gradient(energy, q), exact, rtol=0, atol=1e-12 * np.abs(exact).max())


@pytest.mark.parametrize("extra", [1, 3])
def test_nodes_that_no_mass_joins_with_others(extra):
    n = 4 + extra
    mass = sp.csr_array(np.diag(np.arange(1.0, n + 1.0)))
    q = np.random.default_rng(3).standard_normal((n, 3))
    assert np.allclose(
        gradient(Centrifugal(mass, (0.0, 2.0, 1.0)), q),
        gradient(Centrifugal(np.arange(1.0, n + 1.0), (0.0, 2.0, 1.0)), q),
        atol=1e-12,
    )


def test_a_mass_on_a_spring_turns_at_the_radius_where_both_balance():
    """K (r − L) = m ω² r."""
    spring = sx.measures.Anchors([0], (0.0, 0.0, 0.0), sx.measures.EngineeringStrain(100.0, 1.0))
    energy = Centrifugal(np.array([2.0]), (0.0, 0.0, 3.0))
    fixed = np.array([[False, True, True]])
    system = sx.System(np.array([2.0]), {"spring": spring, "centrifugal": energy}, fixed=fixed)
    q = sx.equilibria.static_equilibrium(system, np.array([[1.0, 0.0, 0.0]])).state.q
    assert q[0, 0] == pytest.approx(100.0 / (100.0 - 18.0), rel=1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mass": np.zeros(3)}, "no mass"),
        ({"mass": sp.csr_array(np.ones((2, 3)))}, "square"),
        ({"angular_velocity": (1.0, 2.0)}, "three finite numbers"),
        ({"angular_velocity": (0.0, 0.0, np.inf)}, "three finite numbers"),
        ({"point": (0.0, 0.0)}, "3 finite numbers"),
    ],
)
def test_what_is_no_rotation_is_refused(change, message):
    with pytest.raises(InvalidSystem, match=message):
        Centrifugal(**({"mass": np.ones(3), "angular_velocity": (0.0, 0.0, 1.0)} | change))
