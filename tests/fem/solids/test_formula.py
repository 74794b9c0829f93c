"""Materials from formulas: all forms against each other, closed forms, what is refused, copies and other processes."""

import copy
import ctypes
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

import symplex as sx
from symplex.errors import InvalidArgument, MaterialError
from symplex.fem.compiled.kernel_cache import cache_folder
from symplex.fem.solids import formula_built_in, formula_store, invariants
from symplex.fem.solids.formula_table import LAWS
from symplex.fem.solids.law_functions import LawFunctions

CONSTANTS = {
    **{
        "c10": 1e5,
        "c01": 5e4,
        "c20": -1e4,
        "c30": 3e3,
        "mu": 2e5,
        "Jm": 30.0,
        "N": 8.0,
        "K": 4e6,
        "k1": 3e4,
        "k2": 2.0,
    },
    **{"density": 1000.0},
}
DIRECTIONS = [[1.0, 2.0, 0.0], [1.0, -2.0, 0.3]]


def of_table(name, **changed):
    """Return a law of the table with some constants."""
    formula = LAWS[name]
    used = {key: x for key, x in (CONSTANTS | changed).items() if key == "density" or re.search(rf"\b{key}\b", formula)}
    families = 2 if "I6" in formula else 1 if "I4" in formula else 0
    return sx.material(name, **used, fibres=DIRECTIONS[:families] or None)


def strains(size, n=40, seed=0):
    """Return C [n, 3, 3] of random F with components of 1 − F up to a size."""
    F = np.eye(3) + size * np.random.default_rng(seed).uniform(-1.0, 1.0, (n, 3, 3))
    return np.einsum("pki,pkj->pij", F, F)


def work(material, C0, C1):
    """Return by how much the discrete stress misses the change of energy, relative to the largest elasticity."""
    done = 0.5 * np.einsum("pij,pij->p", material.discrete_stress(C0, C1), C1 - C0)
    expected = material.energy_density(C1) - material.energy_density(C0)
    return np.abs(done - expected).max() / np.abs(material.tangent(C0)).max()


# -- all forms ----------------------------------------------------------------------------------------------------


LONG = {"holzapfel-gasser-ogden"}


@pytest.mark.parametrize(
    "name",
    [
        *(pytest.param(name, marks=[pytest.mark.slow] * (name in LONG)) for name in LAWS),
        "neo-hookean",
        "mooney-rivlin",
        "saint-venant-kirchhoff",
    ],
)
def test_forms_fit_each_other(name):
    """Stress and tangent by differences (`verify`), and so discrete tangent and curvature."""
    material = of_table(name) if name in LAWS else BUILT_IN[name]
    material.verify()
    C0, C1 = strains(0.15), strains(0.15, seed=1)
    H, h, size = C1 - C0, 1e-6, np.abs(material.tangent(C0)).max()
    slope = (material.discrete_stress(C0, C1 + h * H) - material.discrete_stress(C0, C1 - h * H)) / (2 * h)
    given = 0.5 * np.einsum("pijkl,pkl->pij", material.discrete_tangent(C0, C1), H)
    assert np.abs(given).max() > 1e-3 * size
    np.testing.assert_allclose(given, slope, atol=1e-9 * size)
    slope = np.einsum("pijkl,pkl->pij", material.tangent(C1 + h * H) - material.tangent(C1 - h * H), H) / (4 * h)
    given = material.stress_curvature(C1, H)
    assert np.abs(given).max() > 1e-3 * size or name == "saint-venant-kirchhoff"  # whose stress is linear in C
    np.testing.assert_allclose(given, slope, atol=1e-9 * size)


@pytest.mark.parametrize("name", LAWS)
def test_the_work_of_the_discrete_stress_is_the_change_of_energy(name):
    """To round-off, also where fibres go from tension to compression."""
    material = of_table(name)
    C0 = strains(0.15)
    for increment in (1.0, 1e-3, 1e-6):
        C1 = C0 + increment * (strains(0.15, seed=1) - C0)
        assert work(material, C0, C1) < 1e-15


@pytest.mark.parametrize(
    "term",
    [
        "k*max(I4bar - 1, 0)**2",  # not linear in the invariants
        "k*max(I4 - 1.05, 0)**3 + 2*k*max(0.95 - I6, 0)**2 + k*max(I4 + I6 - 2, 0)**2",  # three, in any order
        "k*J*max(I4 - 1, 0)**2*max(I6 - 1, 0)**2",  # a product
    ],
)
def test_segments_are_split_where_positive_parts_set_in(term):
    material = sx.material(
        f"mu/2*(I1bar - 3) + K/2*(J - 1)**2 + {term} + 0*I4*I6", mu=1.0, K=4.0, k=1.0, density=1.0, fibres=DIRECTIONS
    )
    C0, C1 = strains(0.15, n=300), strains(0.15, n=300, seed=1)
    assert work(material, C0, C1) < 2e-15
    np.testing.assert_allclose(
        material.discrete_stress(C1, C0), material.discrete_stress(C0, C1), rtol=0, atol=1e-14
    )  # symmetric
    H, h = C1 - C0, 1e-6
    slope = (material.discrete_stress(C0, C1 + h * H) - material.discrete_stress(C0, C1 - h * H)) / (2 * h)
    given = 0.5 * np.einsum("pijkl,pkl->pij", material.discrete_tangent(C0, C1), H)
    np.testing.assert_allclose(given, slope, atol=1e-8)


def built_in_stresses(name, C0, C1):
    """Return W, S at C0 and S* from C0 to C1 of a built-in law as one writes them by hand."""
    lmbda, mu, c10, c01, bulk, one = 3e5, 1e5, 1e5, 5e4, 3e6, np.eye(3)
    I1, c = np.trace(C0, axis1=1, axis2=2), np.linalg.det(C0)
    J, inverse, E = np.sqrt(c)[:, None, None], np.linalg.inv(C0), 0.5 * (C0 - one)
    if name == "saint-venant-kirchhoff":

        def stress(C):
            return lmbda / 2 * (np.trace(C, axis1=1, axis2=2) - 3.0)[:, None, None] * one + mu * (C - one)

        W = lmbda / 8 * (I1 - 3.0) ** 2 + mu * np.einsum("pij,pij->p", E, E)
        return W, stress(C0), stress(0.5 * (C0 + C1))
    if name == "neo-hookean":
        first, p = (lambda C: mu * one), (lmbda, mu)
        W = mu / 2 * (I1 - 3.0)
    else:
        p = (bulk - 4 / 3 * (c10 + c01) - 4 * c01, 2 * c10 + 4 * c01)

        def first(C):
            return 2 * c10 * one + 2 * c01 * (np.trace(C, axis1=1, axis2=2)[:, None, None] * one - C)

        W = c10 * (I1 - 3.0) + c01 * (0.5 * (I1**2 - np.einsum("pij,pij->p", C0, C0)) - 3.0)
    c1 = np.linalg.det(C1)
    w0, w1 = (p[0] / 8 * np.log(x) ** 2 - p[1] / 2 * np.log(x) for x in (c, c1))
    cofactors = [np.linalg.det(C)[:, None, None] * np.linalg.inv(C) for C in (C0, 0.5 * (C0 + C1), C1)]
    K = (cofactors[0] + 4 * cofactors[1] + cofactors[2]) / 6
    quotient = ((w1 - w0) / (c1 - c))[:, None, None]
    return W + w0, first(C0) + (p[0] * np.log(J) - p[1]) * inverse, first(0.5 * (C0 + C1)) + 2 * quotient * K


BUILT_IN = {
    "neo-hookean": sx.NeoHookean(3e5, 1e5, 1.0),
    "mooney-rivlin": sx.MooneyRivlin(1e5, 5e4, 3e6, 1.0),
    "saint-venant-kirchhoff": sx.SaintVenantKirchhoff(3e5, 1e5, 1.0),
}


@pytest.mark.parametrize("name", [*BUILT_IN, "formula"])
def test_built_in_laws_are_what_one_writes_by_hand(name):
    """Also their quotients in closed form, as W is quadratic in the invariants."""
    formula = "mu/2*(I1 - 3) - mu*log(J) + lambda/2*log(J)**2"
    material = BUILT_IN[name] if name in BUILT_IN else sx.material(formula, lmbda=3e5, mu=1e5, density=1)
    functions = material.law_functions()
    assert functions is not None
    assert functions.gauss_points == 1
    C0, C1 = strains(0.2), strains(0.2, seed=1)
    W, S, mean = built_in_stresses(name if name in BUILT_IN else "neo-hookean", C0, C1)
    size = np.abs(material.tangent(C0)).max()
    np.testing.assert_allclose(material.energy_density(C0), W, atol=1e-15 * size)
    np.testing.assert_allclose(material.stress(C0), S, atol=3e-15 * size)
    np.testing.assert_allclose(material.discrete_stress(C0, C1), mean, atol=1e-13 * size)  # of differences, by hand


def test_functions_of_one_point_are_those_of_many():
    law = of_table("gent").law_functions()
    x = invariants.invariants(strains(0.2, n=128), np.empty((0, 3)))
    one = np.ascontiguousarray(x[:, 5:6])
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)
    for name, rows in (("value", 1), ("first", 3), ("second", 9)):
        out, point = np.empty((rows, 128)), np.empty((rows, 1))
        for address, given, into in ((getattr(law, name), x, out), (getattr(law, f"point_{name}"), one, point)):
            kind(address)(law.parameters.ctypes.data, given.ctypes.data, into.ctypes.data)
        np.testing.assert_allclose(point[:, 0], out[:, 5], rtol=1e-14)


# -- closed forms -------------------------------------------------------------------------------------------------


def incompressible(name, stretches, W1, W2=lambda i1, i2: 0.0, **changed):
    """Compare the Cauchy stress of a nearly incompressible law without lateral stress with that of no change of volume.

    stretches(l) are the principal ones; the wanted stress is 2 (l_1² − l_3²)(W1 + l_2² W2).
    """
    material = of_table(name, K=1e12, **changed)
    for stretch in (0.8, 1.3, 1.7):
        a, b, _ = stretches(stretch)

        def stress(c, a=a, b=b):
            C = np.diag([a * a, b * b, c * c])[None]
            return material.stress(C)[0] @ C[0] / (a * b * c)

        c = brentq(lambda c: stress(c)[2, 2], 0.99 / (a * b), 1.01 / (a * b), xtol=1e-15)
        i1, i2 = a**2 + b**2 + c**2, (a * b) ** 2 + (b * c) ** 2 + (c * a) ** 2
        expected = 2 * (a**2 - c**2) * (W1(i1, i2) + b**2 * W2(i1, i2))
        # K is 1e7 times μ: so much is left of volume changes, and of the digits
        assert stress(c)[0, 0] == pytest.approx(expected, rel=1e-4)


CLOSED = {
    "isochoric-neo-hookean": (lambda i1, i2: 1e5, lambda i1, i2: 0.0),
    "isochoric-mooney-rivlin": (lambda i1, i2: 1e5, lambda i1, i2: 5e4),
    "yeoh": (lambda i1, i2: 1e5 - 2e4 * (i1 - 3) + 9e3 * (i1 - 3) ** 2, lambda i1, i2: 0.0),
    "gent": (lambda i1, i2: 1e5 * 30 / (30 - (i1 - 3)), lambda i1, i2: 0.0),
    "arruda-boyce": (
        lambda i1, i2: (
            2e5
            * (1 / 2 + i1 / 80 + 11 * i1**2 / (350 * 64) + 19 * i1**3 / (1750 * 512) + 519 * i1**4 / (134750 * 4096))
        ),
        lambda i1, i2: 0.0,
    ),
}


@pytest.mark.parametrize("name", CLOSED)
def test_uniaxial_and_equibiaxial_tension_and_shear(name):
    """Of rubber that keeps its volume (Rivlin): 2 (l_1² − l_3²)(W_1 + l_2² W_2) where there is no stress along 3."""
    for stretches in (
        lambda s: (s, s**-0.5, s**-0.5),
        lambda s: (s, s, s**-2.0),
        lambda s: (s, 1.0, 1 / s),
    ):
        incompressible(name, stretches, *CLOSED[name])


def test_simple_shear_of_rubber():
    """F = 1 + γ e1 ⊗ e2: σ_12 = 2 (W_1 + W_2) γ, and σ_11 − σ_22 = γ σ_12 (Rivlin's universal relation)."""
    material, shear = of_table("yeoh"), 0.7
    F = np.eye(3) + shear * np.outer([1, 0, 0], [0, 1, 0])
    sigma = F @ material.stress((F.T @ F)[None])[0] @ F.T
    expected = 2 * (1e5 - 2e4 * shear**2 + 9e3 * shear**4) * shear
    assert sigma[0, 1] == pytest.approx(expected, rel=1e-12)
    assert sigma[0, 0] - sigma[1, 1] == pytest.approx(shear * sigma[0, 1], rel=1e-12)


def test_foam_of_blatz_and_ko_in_simple_tension():
    """Without lateral stress l_2 = l_3 = l^(−1/4), and σ = μ (1 − l^(−5/2)) (Blatz and Ko)."""
    material = of_table("blatz-ko")
    assert material.poisson == pytest.approx(0.25, rel=1e-12)
    for stretch in (0.6, 1.5, 3.0):
        C = np.diag([stretch**2, stretch**-0.5, stretch**-0.5])
        sigma = material.stress(C[None])[0] @ C / np.sqrt(np.linalg.det(C))
        assert np.abs(np.diag(sigma)[1:]).max() < 1e-10 * 2e5
        assert sigma[0, 0] == pytest.approx(2e5 * (1 - stretch**-2.5), rel=1e-12)


@pytest.mark.parametrize("families", [1, 2])
def test_fibres_add_a_stress_along_them_in_tension_only(families):
    """Σ 2 k1 ⟨I4 − 1⟩ exp(k2 ⟨I4 − 1⟩²) a ⊗ a (Holzapfel, Gasser and Ogden, eq. 71)."""
    material = of_table("holzapfel-gasser-ogden" + ("-2" if families == 2 else ""))
    matrix = sx.material("isochoric-neo-hookean", c10=1e5, K=4e6, density=1.0)
    C = strains(0.2)
    added = material.stress(C) - matrix.stress(C)
    expected = np.zeros_like(C)
    for a in np.array(DIRECTIONS[:families]):
        a = a / np.linalg.norm(a)
        E = np.maximum(np.einsum("i,pij,j->p", a, C, a) - 1.0, 0.0)
        assert 0 < np.count_nonzero(E) < len(E)
        expected += (2 * 3e4 * E * np.exp(2.0 * E**2))[:, None, None] * np.outer(a, a)
    np.testing.assert_allclose(added, expected, atol=1e-9 * np.abs(matrix.stress(C)).max())


def test_moduli_and_waves_at_rest():
    rubber = sx.material("yeoh", c10=1e5, c20=1e3, c30=1e2, K=5e6, density=900.0)
    assert rubber.lame_constants[1] == pytest.approx(2e5, rel=1e-12)
    assert rubber.bulk_modulus == pytest.approx(5e6, rel=1e-12)
    assert rubber.wave_speed == pytest.approx(np.sqrt((5e6 + 4 / 3 * 2e5) / 900.0), rel=1e-12)
    # Along fibres a wave is faster: ℂ has 4 k1 a ⊗ a ⊗ a ⊗ a more.
    fibred = of_table("holzapfel-gasser-ogden")
    assert not fibred.isotropic
    assert fibred.wave_speed == pytest.approx(np.sqrt((4e6 + 4 / 3 * 2e5 + 4 * 3e4) / 1000.0), rel=1e-8)


def test_energy_is_counted_from_rest():
    shifted = sx.material("c10*I1bar + K/2*(J - 1)**2 + 7", c10=1.0, K=2.0, density=1.0)
    assert shifted.energy_density(np.eye(3)[None])[0] == 0.0


def test_whole_exponents_of_what_may_be_negative():
    for exponent in (4, 2.5):
        material = sx.material(
            "c10*(I1bar - 3) + K/2*((J - 1)**2 + max(J - 1, 0)**n)", c10=1, K=9, n=exponent, density=1
        )
        energy = material.energy_density(0.9 * np.eye(3)[None])[0]
        assert energy == pytest.approx(4.5 * (0.9**1.5 - 1) ** 2)
    even = sx.material("c10*(I1bar - 3) + K*(J - 1)**n", c10=1, K=9, n=2, density=1)
    assert even.energy_density(0.9 * np.eye(3)[None])[0] == pytest.approx(9 * (0.9**1.5 - 1) ** 2)


def test_where_a_law_has_no_value_nothing_is_finite():
    material = of_table("gent")
    C = np.diag([6.0**2, 1 / 6.0, 1 / 6.0])[None]  # I1 - 3 = 33.3, and chains are stretched out at 30
    assert not np.isfinite(material.energy_density(C)[0])
    inverted = np.diag([-1.0, 1.0, 1.0])[None]
    assert not np.isfinite(material.energy_density(inverted)[0])


# -- what is refused ----------------------------------------------------------------------------------------------

GOOD = "c10*(I1bar - 3) + K/2*(J - 1)**2"


@pytest.mark.parametrize(
    ("formula", "reported"),
    [
        ("c10*(I1bar - 3) + K/2*(j - 1)**2", "'j' is no invariant and no constant that is given; did you mean 'J'"),
        (GOOD + " + c20*I1bar", "'c20' is no invariant and no constant that is given; did you mean 'c10'"),
        ("(I1bar - 3) + K/2*(J - 1)**2", "the constant 'c10' is given, but is not in it"),
        ("c10*(I4 - 1)**2 + K", "I4 needs a direction of fibres"),
        ("c10*(I1bar - 3) + K/(J - 1)", "no finite value at rest"),
        ("c10*(I1bar - 3) + K*sqrt(J - 2)", "no finite value at rest"),
        ("c10*sqrt(I1bar - 3) + K/2*(J - 1)**2", "not finite"),
        ("c10*(I1bar - 3) + K*log(2 - J)**1.5", "not finite"),
        ("c10*(I1 - 3) + K/2*(J - 1)**2", r"there is a stress of 200000 Pa, .* take I1bar for I1 .* -200000\*log\(J\)"),
        ("c10*(I1bar - 3) + K*0", "its bulk modulus at rest is 0 Pa and must be positive"),
        ("-c10*(I1bar - 3) + K/2*(J - 1)**2", r"its shear modulus at rest is -200000 Pa and must be positive"),
        ("c10*(I1bar - 3) - K/2*(J - 1)**2", r"its bulk modulus at rest is -2e\+06 Pa and must be positive"),
        ("c10*(I1bar - 3) + K*max(J - 1, 0)", "its stress jumps where max, min or a modulus changes over"),
        ("c10*K", "does not depend on the strain"),
        ("c10*(I1bar - 3) + K/2*(J - 1)^2", r"powers are written \*\*, not \^"),
        ("c10(I1bar - 3) + K/2*(J - 1)**2", "the function 'c10' is not known"),
        ("c10*(I1bar - 3) + K/2*J(J - 2)", r"after J there is a bracket; a product is written J\*"),
        ("c10*(I1bar - 3 + K/2*(J - 1)**2", "it is no formula at character 5: '.' was never closed"),
        ("c10*(I1bar - 3) +", "it is no formula"),
        ("c10*(I1bar - 3) + K.real", "'K.real' is not read"),
        ("__import__('os').system('true')*c10*K", r"the function '__import__\('os'\).system' is not known"),
        ("[c10, K][0]*I1bar", r"'\[c10, K\]\[0\]' is not read"),
        ("c10*(I1bar - 3) if K else J", "is not read"),
        ("(lambda: c10)()*K", "it is no formula"),
        ("c10*(I1bar - 3) + K*'J'", "is no number that is read"),
        ("c10*(I1bar - 3) + K*2j", "is no number that is read"),
        ("c10*(I1bar - 3) + K*True", "is no number that is read"),
        ("c10*(I1bar - 3) + K/2*(J - 1)**2 + 9**9**9**9", "a number in it|an exponent"),
        ("c10*(I1bar - 3) + K/2*(J - 1)**2 + 99**99**99", "a number in it|an exponent"),
        ("c10*(I1bar - 3) + K/2*(J - 1)**2000", "an exponent is 2000; the largest is 100"),
        ("c10*(I1bar - 3) + K/2*(J - 1)**2 + 1/0", "divides by zero"),
        ("c10*(I1bar - 3) + K*I1**(I1**(I1**I1))", "an exponent depends on the strain"),
        ("c10*(I1bar - 3) + K*exp(exp(exp(exp(5))))", "a number in it is not real and finite"),
        ("c10*(I1bar - 3) + K*log(-1)", "a number in it is not real and finite"),
        ("c10*(I1bar - 3) + K*exp(J, 1)", "the function exp takes 1 argument"),
        ("c10*(I1bar - 3) + K*exp", "the function exp needs an argument in brackets"),
        ("c10*(I1bar - 3) + K*" + "(" * 150 + "J" + ")" * 150 + " - ", "no formula"),
        ("c10 + K + " + "exp(" * 40 + "J" + ")" * 40, "nested deeper than 30 levels"),
        ("c10*(I1bar - 3) + K/2*(J - 1)**2" + " + 0*J" * 200, "letters, more than 1000"),
        ("c10*K*" + "*".join(f"(I1+{k}*J)" for k in range(60)), "operations, more than"),
        ("", "it is empty"),
        ("c10*(I1bar - 3) + K/2*(J - 1)**2 # a comment", None),
        ("c10*(I1bar\0 - 3) + K", "it is no formula"),
        (3.0, "the formula must be a string; it is 3.0"),
        ("c10*(I1bar - 3) + K*sqrt((J - 1)**2)", "its stress jumps"),
        ("c10*(I1bar - 3)**0.5*K", "not finite"),
    ],
)
def test_what_is_no_strain_energy_gets_one_sentence(formula, reported):
    if reported is None:
        sx.material(formula, c10=1e5, K=2e6, density=1.0)
        return
    with pytest.raises((MaterialError, InvalidArgument), match=reported) as caught:
        sx.material(formula, c10=1e5, K=2e6, density=1.0)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_refusals_of_constants_and_fibres():
    with pytest.raises(MaterialError, match="no constant can be called 'J'"):
        sx.material(GOOD, c10=1.0, K=1.0, J=1.0, density=1.0)
    with pytest.raises(InvalidArgument, match="the constant c10 must be a real number; it is 'soft'"):
        sx.material(GOOD, c10="soft", K=1.0, density=1.0)
    with pytest.raises(MaterialError, match="the constant c10 is nan; it must be a finite number"):
        sx.material(GOOD, c10=float("nan"), K=1.0, density=1.0)
    with pytest.raises(MaterialError, match="density is -1 kg/m³; it must be positive"):
        sx.material(GOOD, c10=1.0, K=1.0, density=-1.0)
    with pytest.raises(MaterialError, match="fibres are given, but I4 is not in it"):
        sx.material(GOOD, c10=1.0, K=1.0, density=1.0, fibres=[1, 0, 0])
    with pytest.raises(InvalidArgument, match=r"fibres have shape \(2,\)"):
        sx.material(GOOD, c10=1.0, K=1.0, density=1.0, fibres=[1, 0])
    with pytest.raises(MaterialError, match="no finite length above zero"):
        sx.material(GOOD + " + c10*(I4 - 1)**2", c10=1.0, K=1.0, density=1.0, fibres=[0, 0, 0])
    with pytest.raises(MaterialError, match=r"not convex: of the strain \(.*\) the stiffness is -"):
        sx.material(GOOD + " - 2*c10*(I4 - 1)**2", c10=1.0, K=9.0, density=1.0, fibres=[1, 0, 0])


# -- a material like others ---------------------------------------------------------------------------------------


def test_copies_compare_and_print():
    material = of_table("holzapfel-gasser-ogden-2")
    for other in (copy.copy(material), copy.deepcopy(material), pickle.loads(pickle.dumps(material))):
        assert other == material
        assert hash(other) == hash(material)
        C = strains(0.1)
        np.testing.assert_array_equal(other.stress(C), material.stress(C))
    assert eval(repr(material), {"material": sx.material}) == material
    assert of_table("gent") != of_table("gent", mu=3e5)
    law = pickle.loads(pickle.dumps(material.law_functions()))
    assert law.value == material.law_functions().value


INTEGRATORS = [
    *(
        sx.Newmark(2e-5),
        sx.ZhangSkeel(2e-5),
        sx.ForceStepping(5e-4),
    ),
    *(sx.EnergyMomentum(2.5e-4), sx.Midpoint(2.5e-4), sx.GeneralizedAlpha(2.5e-4, 0.8), sx.GrahamJelenic(1e-4)),
    *(sx.VariationalMidpoint(1e-4), sx.AdaptiveVariational(1e-4)),
]


@pytest.mark.parametrize("integrator", INTEGRATORS, ids=lambda integrator: type(integrator).__name__)
def test_it_runs_under_every_integrator(integrator):
    mesh = sx.box((0.1, 0.1, 0.1), (1, 1, 1), split="6")
    artery = of_table("holzapfel-gasser-ogden-2")
    solid = sx.Solid(mesh.points, mesh.cells["tetra"], artery)
    mass = sx.lumped_mass(mesh.points, solid.nodes, artery.density, len(mesh.points))
    system = sx.System(mass, {"strain": solid})
    state = system.state(mesh.points, (mesh.points - 0.05) * [100.0, -40.0, -40.0])
    trajectory = sx.record(system, integrator, state, [0.0, 5e-4, 1e-3])
    total = trajectory.energies["total"]
    assert trajectory.energies["strain"][-1] > 0.1 * total[0]
    assert np.ptp(total) < 0.02 * total[0]
    if isinstance(integrator, sx.EnergyMomentum):
        assert np.ptp(total) < 1e-11 * total[0]


# -- text and cache -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*formula_built_in.ENERGIES, formula_built_in.QUADRATIC])
def test_laws_of_the_package_are_generated_when_first_needed(name, monkeypatch, tmp_path):
    monkeypatch.setattr(formula_store, "cache_folder", lambda: tmp_path)
    known = formula_store.built_in(name)
    monkeypatch.delitem(sys.modules, known.__name__)
    module = formula_store.built_in(name)
    path = Path(module.__file__ or "")
    assert path.read_text("utf-8").partition("\n")[2] == formula_built_in.text(name)
    assert tmp_path in path.parents
    monkeypatch.setattr(formula_built_in, "text", None)  # a second process reads it
    monkeypatch.delitem(sys.modules, known.__name__)
    assert formula_store.built_in(name).CONSTANTS == known.CONSTANTS


CODE = """
import sys, numba.core.event as e
import symplex as sx
from symplex.fem.solids.law_functions import _compiled
with e.install_recorder("numba:compile") as seen:
    m = sx.material("c10*(I1bar - 3) + K/2*(J - 1)**2 + {number}*K*(J - 1)**4", c10=1e5, K=2e6, density=1.0)
law = m.law_functions()
kept = [_compiled(law.module, name).cache_hits for name in ("value", "first", "second")]
print(law.module, "sympy" in sys.modules, m.bulk_modulus, kept, len(seen.buffer))
"""


@pytest.mark.slow
def test_a_second_process_compiles_nothing_and_needs_no_sympy():
    root = str(Path(sx.__file__ or "").parent.parent)
    code = CODE.format(number=np.random.default_rng().random())  # which no process has seen

    def run():
        environment = os.environ | {"PYTHONPATH": root}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        return re.match(r"(\S+) (\S+) (\S+) (\[.*\]) (\d+)", done.stdout).groups()

    first, second = run(), run()
    for path in cache_folder().glob(f"symplex_laws/**/{first[0]}.*"):
        path.unlink()
    assert first[1:4] == ("True", first[2], "[0, 0, 0]")
    assert float(first[2]) == pytest.approx(2e6, rel=1e-12)
    assert second == (first[0], "False", first[2], "[1, 1, 1]", "0")


def test_what_is_left_of_a_text_is_not_read(tmp_path):
    path = tmp_path / "law.txt"
    text = "C = 1\n" * 20
    assert formula_store._read(path) is None
    assert formula_store._write(path, f"# {formula_store._digest(text)}\n{text}")
    assert (formula_store._read(path) or "").endswith(text)
    path.write_text(path.read_text("utf-8")[:-5], "utf-8")
    assert formula_store._read(path) is None


def test_it_does_without_a_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(formula_store, "cache_folder", lambda: tmp_path / "none" / "there")
    module = formula_store.module_of("c10*(I1bar - 3) + K/3*(J - 1)**2", {"c10": 1.0, "K": 2.0}, 0)
    law = LawFunctions.of(module, {"c10": 1.0, "K": 2.0})
    C = strains(0.1)
    W = invariants.energy(law, np.empty((0, 3)), C)
    J = np.sqrt(np.linalg.det(C))
    np.testing.assert_allclose(W, np.trace(C, axis1=1, axis2=2) * J ** (-2 / 3) - 3 + 2 / 3 * (J - 1) ** 2, atol=1e-14)


def test_gauss_points_follow_the_degree():
    for formula, points in (("(I1 - 3)**2 + log(J)**2", 1), ("(I1 - 3)**4 + log(J)**2", 2), ("exp(I1 - 3) + J", 8)):
        found = formula_store.module_of(formula, {}, 0)
        assert points == found.GAUSS_POINTS
