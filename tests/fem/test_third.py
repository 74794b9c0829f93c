"""Third derivatives of energies: what is refused, what is inverted, and the way through a system."""

from dataclasses import dataclass

import numpy as np
import pytest

from symplex.contact.obstacles import HalfSpace, Sphere
from symplex.contact.rigid import RigidContact
from symplex.errors import InvalidSystem, InvertedElement, StepFailed
from symplex.fem.actions.loads import Gravity
from symplex.fem.actions.mass import lumped_mass
from symplex.fem.measures.bars import Bars, EngineeringStrain, InverseDistance, PairLaw
from symplex.fem.solids.constitutive import Material
from symplex.fem.solids.materials import MooneyRivlin, NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.solids.tensors import SYMMETRIC
from symplex.fem.system import System
from symplex.meshes.generate import box


class Quartic(PairLaw):
    """φ = s², as a user writes it, without the optional third derivative."""

    def energy(self, s):
        return s**2

    def slope(self, s):
        return 2.0 * s

    def curvature(self, s):
        return np.full_like(s, 2.0)

    def quotient(self, s0, s1):
        return 2.0 * (s0 + s1)

    def quotient_slope(self, s0, s1):
        return np.full_like(s1, 2.0)


@dataclass(frozen=True)
class Plain(Material):
    """W = μ/4 |C − 1|², without the optional second derivative of the stress."""

    mu: float
    density: float

    def energy_density(self, C):
        return 0.25 * self.mu * np.sum((C - np.eye(3)) ** 2, axis=(1, 2))

    def stress(self, C):
        return self.mu * (C - np.eye(3))

    def tangent(self, C):
        return np.broadcast_to(2.0 * self.mu * SYMMETRIC, (len(C), 3, 3, 3, 3))


class QuarticWithThird(Quartic):
    """The same with it."""

    def third_slope(self, s):
        return np.zeros_like(s)


def test_a_law_without_third_derivative_says_what_to_do():
    bars = Bars([[0, 1]], Quartic())
    x = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 2.0]])
    with pytest.raises(InvalidSystem, match=r"Quartic has no third derivative\. Give it third_slope"):
        bars.add_third(x, x, np.zeros_like(x))


def test_a_law_of_ones_own_with_a_third_derivative():
    """φ = |d|⁴ along d: 24 |d|³."""
    bars = Bars([[0, 1]], QuarticWithThird())
    x = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 2.0]])
    out = np.zeros_like(x)
    bars.add_third(x, x, out)
    np.testing.assert_allclose(out, [-24.0 * 9.0 * x[1], 24.0 * 9.0 * x[1]])


def test_a_material_without_third_derivative_says_what_to_do():
    mesh = box((1.0, 1.0, 1.0), (1, 1, 1), split="6")
    solid = Solid(mesh.points, mesh.cells["tetra"], Plain(2.0, 1.0))
    with pytest.raises(InvalidSystem, match=r"Plain has no second derivative of its stress\. Give it stress_curvature"):
        solid.add_third(mesh.points, mesh.points, np.zeros_like(mesh.points))


@pytest.mark.parametrize("material", [NeoHookean(2.0, 1.0, 1.0), MooneyRivlin(1.0, 0.5, 9.0, 1.0)])
def test_inverted_elements_are_reported(material):
    mesh = box((1.0, 1.0, 1.0), (1, 1, 1), split="6")
    solid = Solid(mesh.points, mesh.cells["tetra"], material)
    inside_out = mesh.points * [1.0, 1.0, -1.0]
    a = np.ones_like(inside_out)
    with pytest.raises(InvertedElement, match="is inverted: det F = -1"):
        solid.third(inside_out[solid.nodes], a[solid.nodes])
    with pytest.raises(InvertedElement, match="is inverted: det F = -1"):
        solid.add_third(inside_out, a, np.zeros_like(a))


def test_poles_are_reported():
    q = np.zeros((2, 3))
    for law in (InverseDistance(1.0), EngineeringStrain(1.0, 1.0)):
        with pytest.raises(StepFailed, match="pair 0"):
            Bars([[0, 1]], law).add_third(q, q, np.zeros_like(q))
    out = np.zeros_like(q)
    Bars([[0, 1]], EngineeringStrain(1.0, 0.0)).add_third(
        q, np.diag([0.0, 1.0]) @ np.ones((2, 3)), out
    )  # no length, no pole
    np.testing.assert_array_equal(out, 0.0)


def test_planes_have_none_and_spheres_have_none_when_open():
    x, a = np.array([[[0.1, 0.2, -0.3]]]), np.array([[[1.0, 2.0, 3.0]]])
    assert not RigidContact([0], HalfSpace((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), 10.0).third(x, a).any()
    ball = RigidContact([0], Sphere((0.0, 0.0, 0.0), 1.0), 10.0)
    assert ball.third(x, a).any()
    assert not ball.third(10.0 * x, a).any()


def test_a_system_sums_its_energies():
    mesh = box((1.0, 1.0, 1.0), (1, 1, 1), split="6")
    solid = Solid(mesh.points, mesh.cells["tetra"], NeoHookean(2.0, 1.0, 1.0))
    mass = lumped_mass(mesh.points, solid.nodes, 1.0, len(mesh.points))
    springs = Bars([[0, 3], [1, 2]], EngineeringStrain(3.0, 0.5))
    system = System(mass, {"solid": solid, "springs": springs, "weight": Gravity(mass, (0.0, 0.0, -9.81))})
    a = np.random.default_rng(0).standard_normal(mesh.points.shape)
    expected = np.zeros_like(a)
    for energy in (solid, springs):
        np.add.at(expected, energy.nodes, energy.third(mesh.points[energy.nodes], a[energy.nodes]))
    np.testing.assert_allclose(system.third(mesh.points, a), expected, atol=1e-13 * np.abs(expected).max())
