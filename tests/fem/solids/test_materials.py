"""Materials: constants and their refusal, energy, stress and elasticities of each law, discrete stresses."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from symplex.errors import MaterialError
from symplex.fem.solids.constitutive import Material
from symplex.fem.solids.materials import LinearElastic, MooneyRivlin, NeoHookean, SaintVenantKirchhoff

LAWS = [
    NeoHookean(3e5, 1e5, 1e3),
    SaintVenantKirchhoff(3e5, 1e5, 1e3),
    LinearElastic(3e5, 1e5, 1e3),
    MooneyRivlin(3e4, 2e4, 5e5, 1e3),
]


def strains(amount, number=50, seed=0):
    """Right Cauchy-Green tensors of random deformations."""
    F = np.eye(3) + amount * np.random.default_rng(seed).uniform(-1.0, 1.0, (number, 3, 3))
    return np.einsum("pki,pkj->pij", F, F)


def law_name(law):
    return type(law).__name__


def test_young_and_poisson_of_steel():
    steel = NeoHookean.from_young(210e9, 0.3, 7850.0)
    assert steel.mu == pytest.approx(210e9 / 2.6)
    assert steel.lmbda == pytest.approx(210e9 * 0.3 / (1.3 * 0.4))
    assert steel.young == pytest.approx(210e9)
    assert steel.poisson == pytest.approx(0.3)


def test_wave_speeds_of_aluminium():
    aluminium = NeoHookean(60.5e9, 26e9, 2700.0)
    assert aluminium.wave_speed == pytest.approx(math.sqrt(112.5e9 / 2700))
    assert aluminium.shear_wave_speed == pytest.approx(math.sqrt(26e9 / 2700))
    assert aluminium.bulk_modulus == pytest.approx(60.5e9 + 52e9 / 3)


def test_auxetic_and_cork_are_allowed():
    assert NeoHookean.from_young(1e6, -0.5, 100.0).lmbda < 0
    assert NeoHookean.from_young(1e6, 0.0, 100.0).lmbda == 0.0


@pytest.mark.parametrize("law", [NeoHookean, SaintVenantKirchhoff, LinearElastic])
@pytest.mark.parametrize(
    ("constants", "reported"),
    [
        ((1e9, 1e9, -1.0), "density is -1 kg/m³"),
        ((1e9, 1e9, 0.0), "density"),
        ((1e9, 0.0, 1.0), "shear modulus mu is 0 Pa"),
        ((1e9, -1.0, 1.0), "shear modulus"),
        ((-2e9, 1e9, 1.0), "bulk modulus"),
        ((math.nan, 1e9, 1.0), "lmbda is nan Pa"),
        ((1e9, math.inf, 1.0), "mu is inf Pa"),
        ((1e9, 1e9, math.nan), "density is nan kg/m³"),
    ],
)
def test_impossible_constants_are_refused(law, constants, reported):
    with pytest.raises(MaterialError, match=f"{law.__name__}: .*{reported}"):
        law(*constants)


@pytest.mark.parametrize(
    ("E", "nu", "reported"),
    [
        (-1.0, 0.3, "Young"),
        (0.0, 0.3, "Young"),
        (math.inf, 0.3, "Young"),
        (1e9, 0.5, "Poisson's ratio nu is 0.5"),
        (1e9, 0.7, "Poisson"),
        (1e9, -1.0, "Poisson"),
        (1e9, math.nan, "Poisson"),
    ],
)
def test_impossible_young_and_poisson_are_refused(E, nu, reported):
    with pytest.raises(MaterialError, match=reported):
        NeoHookean.from_young(E, nu, 1000.0)


@pytest.mark.parametrize(
    ("constants", "reported"),
    [
        ((-1.0, 2.0, 100.0, 1.0), "c10 is -1 Pa"),
        ((2.0, -1.0, 100.0, 1.0), "c01 is -1 Pa"),
        ((0.0, 0.0, 100.0, 1.0), "must be positive"),
        ((3.0, 3.0, 19.9, 1.0), "at least 20 Pa"),
        ((3.0, math.inf, 19.9, 1.0), "c01 is inf"),
        ((3.0, 3.0, 100.0, 0.0), "density is 0"),
    ],
)
def test_impossible_constants_of_rubber_are_refused(constants, reported):
    with pytest.raises(MaterialError, match=f"MooneyRivlin: .*{reported}"):
        MooneyRivlin(*constants)


# -- laws -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS, ids=law_name)
def test_stress_and_tangent_are_slopes(law):
    law.verify()
    C = strains(0.1)
    assert np.abs(law.stress(C)).max() > 1e4
    T = law.tangent(C)
    np.testing.assert_allclose(T, T.transpose(0, 3, 4, 1, 2), atol=1e-13 * np.abs(T).max())


@pytest.mark.parametrize("law", LAWS, ids=law_name)
def test_undeformed_it_is_free_of_stress_and_has_the_moduli_of_small_strains(law):
    one = np.eye(3)[None]
    assert abs(law.energy_density(one)[0]) < 1e-11 * 1e5
    assert np.abs(law.stress(one)).max() < 1e-15 * 1e5
    expected = (law.lmbda, law.mu) if hasattr(law, "lmbda") else (5e5 - 2e5 / 3, 1e5)
    assert law.lame_constants == pytest.approx(expected, rel=1e-14)
    assert law.shear_wave_speed == pytest.approx(10.0)


def test_mooney_rivlin_without_second_constant_is_neo_hookean():
    rubber, other = MooneyRivlin(5e4, 0.0, 3e5 + 2e5 / 3, 1e3), NeoHookean(3e5, 1e5, 1e3)
    C = strains(0.2)
    np.testing.assert_allclose(rubber.energy_density(C), other.energy_density(C), rtol=1e-10)
    np.testing.assert_allclose(rubber.stress(C), other.stress(C), atol=1e-9)
    np.testing.assert_allclose(rubber.tangent(C), other.tangent(C), atol=1e-8)


def test_simple_shear_of_rubber():
    """σ_xy = 2 (c10 + c01) γ, and the normal stresses differ by σ_xx − σ_yy = σ_xy γ (Rivlin's universal relation)."""
    gamma = 0.7
    F = np.eye(3)
    F[0, 1] = gamma
    for law in (LAWS[0], LAWS[3]):
        sigma = F @ law.stress((F.T @ F)[None])[0] @ F.T
        assert sigma[0, 1] == pytest.approx(1e5 * gamma)
        assert sigma[0, 0] - sigma[1, 1] == pytest.approx(sigma[0, 1] * gamma)


def test_saint_venant_kirchhoff_softens_below_one_over_root_three():
    law = SaintVenantKirchhoff(0.0, 1.0, 1.0)
    stretch = np.array([0.57, 0.58, 1 / math.sqrt(3)])
    C = np.tile(np.eye(3), (3, 1, 1))
    C[:, 0, 0] = stretch**2
    P = stretch * law.stress(C)[:, 0, 0]
    assert P[2] < P[0]
    assert P[2] < P[1]


# -- discrete stress --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("increment", [1.0, 1e-2, 1e-5, 1e-10, 1e-15])
@pytest.mark.parametrize("law", LAWS, ids=law_name)
def test_discrete_stress_does_the_work_of_the_energy(law, increment):
    C0 = strains(0.15)
    C1 = C0 + increment * (strains(0.3, seed=1) - C0)  # a convex sum, so that it is positive definite
    S = law.discrete_stress(C0, C1)
    work = 0.5 * np.einsum("pij,pij->p", S, C1 - C0)
    np.testing.assert_allclose(work, law.energy_density(C1) - law.energy_density(C0), atol=3e-15 * 1e6)
    np.testing.assert_allclose(S, law.discrete_stress(C1, C0), atol=1e-15 * np.abs(S).max())
    np.testing.assert_allclose(S, S.swapaxes(1, 2), atol=1e-15 * np.abs(S).max())


@pytest.mark.parametrize("law", LAWS, ids=law_name)
def test_closed_forms_are_those_of_the_mean_along_the_segment_to_second_order(law):
    """They differ, as discrete gradients of a function of several variables do, but not without increment."""
    C = strains(0.15)
    np.testing.assert_allclose(law.discrete_stress(C, C), law.stress(C), atol=1e-14 * 1e6)
    np.testing.assert_allclose(law.discrete_tangent(C, C), 0.5 * law.tangent(C), atol=1e-14 * 1e6)
    errors = []
    for increment in (0.2, 0.1):
        C1 = C + increment * (strains(0.1, seed=2) - np.eye(3))
        errors.append(np.abs(law.discrete_stress(C, C1) - Material.discrete_stress(law, C, C1)).max())
    assert errors[0] < 1e-2 * np.abs(law.stress(C1)).max()
    assert errors[0] < 1e-9 or errors[0] / errors[1] == pytest.approx(4.0, rel=0.2)


@pytest.mark.parametrize("closed", [True, False], ids=["closed form", "Gauss"])
@pytest.mark.parametrize("law", LAWS, ids=law_name)
def test_discrete_tangent_is_the_slope_of_the_discrete_stress(law, closed):
    of = law if closed else _Averaged(law, 1e3)
    C0 = strains(0.1)
    C1 = C0 + 0.1 * (strains(0.2, seed=3) - np.eye(3))
    T = of.discrete_tangent(C0, C1)
    rng = np.random.default_rng(4)
    for _ in range(3):
        H = rng.standard_normal((3, 3))
        H += H.T
        slope = (of.discrete_stress(C0, C1 + 1e-5 * H) - of.discrete_stress(C0, C1 - 1e-5 * H)) / 1e-5
        np.testing.assert_allclose(np.einsum("pijkl,kl->pij", T, H), slope, atol=1e-8 * np.abs(T).max())


@dataclass(frozen=True)
class _Averaged(Material):
    """A law without closed forms."""

    law: Material
    density: float

    def energy_density(self, C):
        return self.law.energy_density(C)

    def stress(self, C):
        return self.law.stress(C)

    def tangent(self, C):
        return self.law.tangent(C)


@pytest.mark.parametrize("increment", [0.1, 1e-5, 1e-10, 1e-15])
def test_gauss_average_does_the_work_of_the_energy(increment):
    law = _Averaged(LAWS[3], 1e3)
    C0 = strains(0.1)
    C1 = C0 + increment * (strains(0.5, seed=1) - np.eye(3))
    work = 0.5 * np.einsum("pij,pij->p", law.discrete_stress(C0, C1), C1 - C0)
    np.testing.assert_allclose(work, law.energy_density(C1) - law.energy_density(C0), atol=1e-15 * 1e6)


# -- laws of users ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Wrong(Material):
    """A law of which one function is wrong by a little."""

    density: float = 1.0
    stress_factor: float = 1.0
    tangent_factor: float = 1.0
    skew: float = 0.0

    def energy_density(self, C):
        return LAWS[0].energy_density(C)

    def stress(self, C):
        return self.stress_factor * LAWS[0].stress(C)

    def tangent(self, C):
        T = self.tangent_factor * self.stress_factor * LAWS[0].tangent(C)
        T[:, 0, 0, 0, 1] += 1e5 * self.skew
        T[:, 0, 0, 1, 0] -= 1e5 * self.skew
        return T


def test_wrong_laws_are_told():
    _Wrong().verify()
    with pytest.raises(MaterialError, match=r"_Wrong: the stress is not 2 ∂W/∂C: they differ by 0\.0"):
        _Wrong(stress_factor=1.01).verify()
    with pytest.raises(MaterialError, match="tangent is not 2 ∂S/∂C"):
        _Wrong(tangent_factor=1.001).verify()
    with pytest.raises(MaterialError, match="tangent is not"):
        _Wrong(skew=0.01).verify()
    with pytest.raises(MaterialError, match="differ by nan"):
        _Wrong(stress_factor=math.nan).verify()
