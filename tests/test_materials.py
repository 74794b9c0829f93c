"""Materials: conversion of constants, and refusal of constants that no material has."""

import math

import pytest

from symplex.errors import MaterialError
from symplex.fem.materials import NeoHookean


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


@pytest.mark.parametrize(
    ("constants", "told"),
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
def test_impossible_constants_are_refused(constants, told):
    with pytest.raises(MaterialError, match=told):
        NeoHookean(*constants)


@pytest.mark.parametrize(
    ("E", "nu", "told"),
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
def test_impossible_young_and_poisson_are_refused(E, nu, told):
    with pytest.raises(MaterialError, match=told):
        NeoHookean.from_young(E, nu, 1000.0)
