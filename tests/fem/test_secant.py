"""Secant forms: what the contract of energies does not say (assembled systems, laws of one's own, failures)."""

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp

from reference.written_laws import Written
from symplex.errors import InvalidSystem, InvertedElement, MaterialFailed, StepFailed
from symplex.fem.actions.loads import Gravity
from symplex.fem.assembly.forms import SECANT, SECANT_RATE
from symplex.fem.assembly.pattern import Pattern
from symplex.fem.compiled.secant_product import secant_product
from symplex.fem.measures.bars import Bars, EngineeringStrain, GreenStrain, LennardJones, PairLaw, all_pairs
from symplex.fem.solids.constitutive import Material
from symplex.fem.solids.materials import LinearElastic, MooneyRivlin, NeoHookean, SaintVenantKirchhoff
from symplex.fem.solids.solid import Solid
from symplex.fem.system import System
from symplex.meshes.generate import box

# -- pairs --------------------------------------------------------------------------------------------------------


class Borrowed(PairLaw):
    """A law as a user writes it, in plain functions: those of another one."""

    def __init__(self, law):
        self.law = law

    def energy(self, s):
        return self.law.energy(s)

    def slope(self, s):
        return self.law.slope(s)

    def curvature(self, s):
        return self.law.curvature(s)

    def quotient(self, s0, s1):
        return self.law.quotient(s0, s1)

    def quotient_slope(self, s0, s1):
        return self.law.quotient_slope(s0, s1)


def moving(n, dim, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1.0, 1.0, (n, dim)), rng.standard_normal((n, dim))


def matrix(system, values):
    pattern = system.pattern
    return sp.csr_array((values, pattern.indices, pattern.indptr), shape=(system.n_nodes,) * 2)


def secant_values(system, q):
    return system.assembled(SECANT, q, among=system.having("secant"))


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_a_system_of_pairs_has_the_secant_form_of_its_pairs_only(dim):
    n = 6
    q, v = moving(n, dim)
    energies = {
        "springs": Bars(all_pairs(n), EngineeringStrain(3.0, 1.3), dim),
        "truss": Bars([(0, 3), (1, 5)], GreenStrain([2.0, 4.0], 0.7), dim),
        "own law": Bars([(2, 4)], Borrowed(GreenStrain(1.0, 0.4)), dim),
    }
    gravity = {"gravity": Gravity(np.ones(n), np.ones(dim))}
    system = System(np.ones(n), energies | gravity, dim=dim)
    elastic = System(np.ones(n), energies, dim=dim).gradient(q)
    np.testing.assert_allclose(matrix(system, secant_values(system, q)) @ q, elastic, atol=1e-13)

    out = np.full(len(system.pattern.indices), np.nan)
    assert system.assembled(SECANT_RATE, q, v, out=out, among=energies) is out
    s = 1e-6
    slope = (secant_values(system, q + s * v) - secant_values(system, q - s * v)) / (2 * s)
    np.testing.assert_allclose(out, slope, atol=1e-8 * np.abs(slope).max())


@pytest.mark.parametrize(
    "law", [EngineeringStrain(3.0, 1.3), LennardJones(2.0, 1.1)], ids=lambda law: type(law).__name__
)
def test_a_law_of_ones_own_gives_what_the_compiled_one_gives(law):
    q, v = moving(7, 2)
    compiled, own = Bars(all_pairs(7), law, dim=2), Bars(all_pairs(7), Borrowed(law), dim=2)
    pattern = Pattern(7, [compiled.nodes])
    for name, motion in (("add_secant", (q,)), ("add_secant_rate", (q, v))):
        one, other = np.zeros((2, len(pattern.indices)))
        getattr(compiled, name)(*motion, pattern.slots[0], one)
        getattr(own, name)(*motion, pattern.slots[0], other)
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13 * np.abs(other).max())


@pytest.mark.parametrize("law", [LennardJones(1.0, 1.0), Borrowed(LennardJones(1.0, 1.0))], ids=["compiled", "own"])
def test_a_pair_at_its_pole_is_named(law):
    pair = Bars([(0, 1), (1, 2)], law)
    q, v = np.array([[0.0, 0, 0], [1, 0, 0], [1, 0, 0]]), np.ones((3, 3))
    pattern = Pattern(3, [pair.nodes])
    values = np.zeros(len(pattern.indices))
    with pytest.raises(StepFailed, match=r"pair 1 \(nodes 1 and 2\)"):
        pair.add_secant(q, pattern.slots[0], values)
    with pytest.raises(StepFailed, match=r"pair 1 \(nodes 1 and 2\)"):
        pair.add_secant_rate(q, v, pattern.slots[0], values)


def test_a_spring_without_natural_length_has_a_constant_secant():
    spring = Bars([(0, 1)], EngineeringStrain(5.0, 0.0))
    x, v = np.zeros((1, 2, 3)), np.ones((1, 2, 3))
    np.testing.assert_array_equal(spring.secant(x), [[[5.0, -5.0], [-5.0, 5.0]]])
    np.testing.assert_array_equal(spring.secant_rate(x, v), np.zeros((1, 2, 2)))


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_product_is_that_of_a_sparse_matrix(dim):
    n = 12
    q, x = moving(n, dim)
    system = System(np.ones(n), {"springs": Bars(all_pairs(n - 1)[::3], EngineeringStrain(3.0, 1.3), dim)}, dim=dim)
    values, pattern, out = secant_values(system, q), system.pattern, np.full_like(q, np.nan)
    weights = np.random.default_rng(1).uniform(size=x.shape)
    secant_product(pattern.indptr, pattern.indices, values, x, weights, out)
    np.testing.assert_allclose(out, weights * (matrix(system, values) @ x), atol=1e-13)


def test_product_does_not_lose_digits_far_away():
    n = 12
    q, x = moving(n, 3)
    system = System(np.ones(n), {"springs": Bars(all_pairs(n), EngineeringStrain(3.0, 1.3))})
    values, pattern, (near, far) = secant_values(system, q), system.pattern, np.empty((2, n, 3))
    ones = np.ones_like(x)
    x = np.round(2.0**20 * x) / 2.0**20  # so that x + 2³⁰ is exact
    secant_product(pattern.indptr, pattern.indices, values, x, ones, near)
    secant_product(pattern.indptr, pattern.indices, values, x + 2.0**30, ones, far)
    np.testing.assert_array_equal(near, far)


# -- solids -------------------------------------------------------------------------------------------------------

NEO_HOOKEAN = NeoHookean(60.0, 26.0, 1.0)
LAWS = [NEO_HOOKEAN, SaintVenantKirchhoff(60.0, 26.0, 1.0), MooneyRivlin(10.0, 3.0, 80.0, 1.0)]


def block(law, cells=(1, 1, 1)):
    mesh = box((1.0, 1.0, 1.0), cells, split="6")
    return Solid(mesh.points, mesh.cells["tetra"], law)


def shaken(solid, amount, seed=0):
    return solid.points + amount * np.random.default_rng(seed).standard_normal(solid.points.shape)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_a_stretched_body_is_as_stiff_as_its_stress(law):
    """𝓕 of a uniform stress is ∫ ∇N_a·S ∇N_b, so that Σ_ab 𝓕_ab X_a ⊗ X_b = V S whatever the mesh."""
    solid = block(law, (2, 2, 2))
    stretch = np.array([[1.2, 0.1, 0.0], [0.0, 0.9, 0.0], [0.0, 0.05, 1.1]])
    system = System(np.ones(len(solid.points)), {"solid": solid})
    F = matrix(system, secant_values(system, solid.points @ stretch.T))
    S = law.stress((stretch.T @ stretch)[None])[0]
    np.testing.assert_allclose(solid.points.T @ (F @ solid.points), S, atol=1e-12 * np.abs(S).max())


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_an_inverted_element_is_reported(law):
    solid = block(law)
    q, v = shaken(solid, 0.02), np.ones_like(solid.points)
    element = 3
    inside_out = solid.nodes[element]
    q[inside_out[0]] = 2.0 * q[inside_out[1:]].mean(axis=0) - q[inside_out[0]]
    bad = np.flatnonzero(~(solid.jacobians(q) > 0))
    pattern = Pattern(len(q), [solid.nodes])
    values = np.zeros(len(pattern.indices))
    for call in (
        lambda: solid.secant(q[solid.nodes]),
        lambda: solid.secant_rate(q[solid.nodes], v[solid.nodes]),
        lambda: solid.add_secant(q, pattern.slots[0], values),
        lambda: solid.add_secant_rate(q, v, pattern.slots[0], values),
        lambda: solid.mean_gradient(q[solid.nodes], solid.points[solid.nodes]),
        lambda: solid.add_mean_gradient(solid.points, q, np.zeros_like(q)),
    ):
        with pytest.raises(InvertedElement, match=f"element {bad[0]} "):
            call()


@dataclass(frozen=True)
class Brittle(Material):
    """Saint Venant and Kirchhoff's law up to a stretch."""

    law: SaintVenantKirchhoff
    density: float = 1.0

    def energy_density(self, C):
        return self.law.energy_density(C)

    def stress(self, C):
        return np.where(C.max(axis=(1, 2)) > 1.5, np.nan, 1.0)[:, None, None] * self.law.stress(C)

    def tangent(self, C):
        return self.law.tangent(C)


def test_a_law_without_finite_stress_is_reported():
    solid = block(Brittle(SaintVenantKirchhoff(60.0, 26.0, 1.0)))
    x0, x1 = solid.points[solid.nodes], 1.6 * solid.points[solid.nodes]
    for call in (lambda: solid.secant(x1), lambda: solid.mean_gradient(x0, x1)):
        with pytest.raises(MaterialFailed, match="Brittle has no finite"):
            call()


def test_small_strains_have_no_secant_form():
    solid = block(LinearElastic(60.0, 26.0, 1.0))
    assert not solid.has("secant")
    with pytest.raises(InvalidSystem, match="Solid has no secant form"):
        solid.add_secant(solid.points, Pattern(8, [solid.nodes]).slots[0], np.zeros(64))
    system = System(np.ones(8), {"solid": solid})
    assert not secant_values(system, 1.1 * solid.points).any()
    with pytest.raises(InvalidSystem, match="energy 'solid'"):
        system.require("secant", "This method")


def test_positions_and_values_of_wrong_size_are_refused():
    solid = block(NEO_HOOKEAN)
    slots = Pattern(8, [solid.nodes]).slots[0]
    with pytest.raises(InvalidSystem, match=r"secant has shape \(64, 1\)"):
        solid.add_secant(solid.points, slots, np.zeros((64, 1)))
    with pytest.raises(InvalidSystem, match="array for nodes has shape"):
        solid.add_secant_rate(solid.points, np.ones((7, 3)), slots, np.zeros(64))


@pytest.mark.parametrize("height", [1.0, 1e-4])
def test_kernels_of_tetrahedra_agree_with_those_of_any_element_flat_ones_too(height):
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.4, 0.4, height]], float)
    solid = Solid(points, [[0, 1, 2, 3]], NEO_HOOKEAN)
    general = Solid(points, solid.nodes, Written(NEO_HOOKEAN))
    rng = np.random.default_rng(5)
    # also a large rotation in between
    F0, F1 = np.eye(3) + 0.1 * rng.standard_normal((2, 3, 3))
    x0, x1 = (points @ F0.T)[None], (points @ F1.T @ np.diag([-1.0, -1.0, 1.0]))[None]
    pairs = {
        "secant": (solid.secant(x0), general.secant(x0)),
        "secant rate": (solid.secant_rate(x0, x1), general.secant_rate(x0, x1)),
        "mean gradient": (solid.mean_gradient(x0, x1), general.mean_gradient(x0, x1)),
    }
    for name, (one, other) in pairs.items():
        tolerance = 1e-14 if height == 1.0 else 1e-11
        np.testing.assert_allclose(one, other, atol=tolerance * np.abs(other).max(), err_msg=name)


@pytest.mark.usefixtures("always_shared")
def test_values_do_not_depend_on_the_number_of_threads(monkeypatch):
    from symplex.fem.compiled import threads

    solid = block(NEO_HOOKEAN, (10, 10, 10))  # two slabs
    q, v = shaken(solid, 0.005), shaken(solid, 1.0, seed=1)
    system = System(np.ones(len(q)), {"solid": solid})
    found = []
    for count in (1, 2):
        monkeypatch.setattr(threads, "count", lambda count=count: count)
        found.append((system.assembled(SECANT, q), system.assembled(SECANT_RATE, q, v)))
    np.testing.assert_array_equal(found[0], found[1])


# -- mean strains -------------------------------------------------------------------------------------------------

QUADRATIC = {
    "engineering strain": lambda: Bars(all_pairs(8), EngineeringStrain(3.0, 1.3)),
    "Saint Venant-Kirchhoff": lambda: block(SaintVenantKirchhoff(60.0, 26.0, 1.0)),
    "Hooke": lambda: block(LinearElastic(60.0, 26.0, 1.0)),
}
OTHERS = {
    "Green strain": lambda: Bars(all_pairs(8), GreenStrain(3.0, 1.3)),
    "Lennard-Jones": lambda: Bars(all_pairs(8), LennardJones(2.0, 0.7)),
    "neo-Hookean": lambda: block(NEO_HOOKEAN),
    "Mooney-Rivlin": lambda: block(LAWS[2]),
}


def two_states():
    q = box((1.0, 1.0, 1.0), (1, 1, 1), split="6").points
    rng = np.random.default_rng(3)
    return q + 0.05 * rng.standard_normal(q.shape), q + 0.05 * rng.standard_normal(q.shape)


@pytest.mark.parametrize("law", QUADRATIC | OTHERS)
def test_mean_strains_conserve_the_energy_where_it_is_quadratic_in_them_only(law):
    """In the length of a pair, and in C of a solid; there the mean gradient is the discrete gradient."""
    energy = (QUADRATIC | OTHERS)[law]()
    x0, x1 = (q[energy.nodes] for q in two_states())
    mean, discrete = energy.mean_gradient(x0, x1), energy.discrete_gradient(x0, x1)
    if law in QUADRATIC:
        np.testing.assert_allclose(mean, discrete, atol=1e-14 * np.abs(discrete).max())
    else:
        assert np.abs(mean - discrete).max() > 1e-5 * np.abs(discrete).max()


def test_mean_gradient_of_a_pair_is_that_of_the_mean_length():
    """Graham and Jelenić, eq. 6.3."""
    x0 = np.array([[[0.0, 0.0], [0.6, 0.8]]])
    x1 = np.array([[[0.1, 0.0], [0.1, 2.0]]])
    law = GreenStrain(3.0, 1.3)  # φ = k (l² − L²)²/8L², φ'(l)/l = k (l² − L²)/2L²
    f = 3.0 * (1.5**2 - 1.3**2) / (2 * 1.3**2)
    pull = f * np.array([0.3, 1.4])
    found = Bars([(0, 1)], law, dim=2).mean_gradient(x0, x1)
    np.testing.assert_allclose(found, [[-pull, pull]], rtol=1e-14)


def test_mean_gradient_of_a_solid_is_that_of_the_mean_strain():
    """Σ_a f_a ⊗ X_a = V F_m S(C_m) for a uniform deformation."""
    solid = block(NEO_HOOKEAN)
    F0, F1 = np.diag([1.1, 0.9, 1.0]), np.array([[0.0, -1.2, 0.0], [1.0, 0.1, 0.0], [0.0, 0.0, 0.95]])
    S = NEO_HOOKEAN.stress(0.5 * (F0.T @ F0 + F1.T @ F1)[None])[0]
    out = np.zeros_like(solid.points)
    solid.add_mean_gradient(solid.points @ F0.T, solid.points @ F1.T, out)
    np.testing.assert_allclose(out.T @ solid.points, 0.5 * (F0 + F1) @ S, atol=1e-12 * np.abs(S).max())


def test_a_system_takes_the_discrete_gradient_of_what_has_no_strain():
    q0, q1 = two_states()
    solid, gravity = block(NEO_HOOKEAN), Gravity(np.ones(8), (0.0, 0.0, -9.81))
    system = System(np.ones(8), {"solid": solid, "gravity": gravity})
    expected = np.zeros_like(q0)
    solid.add_mean_gradient(q0, q1, expected)
    gravity.add_discrete_gradient(q0, q1, expected)
    np.testing.assert_array_equal(system.mean_gradient(q0, q1), expected)
