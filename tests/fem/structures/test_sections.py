"""Cross-sections against closed formulas, sums of their parts, and limits."""

from math import pi

import pytest
from numpy.testing import assert_allclose

import symplex as sx
from symplex.errors import InvalidSystem
from symplex.fem.structures.sections import BeamProperties, Section

STEEL = sx.NeoHookean.from_young(2.1e11, 0.3, 7850.0)


@pytest.mark.parametrize(
    ("sides", "factor"),  # of a b³, from Timoshenko and Goodier, Theory of elasticity, art. 109
    [((1.0, 1.0), 0.1406), ((2.0, 1.0), 0.229), ((1.0, 2.0), 0.229), ((10.0, 1.0), 0.312), ((1e3, 1.0), 1.0 / 3.0)],
)
def test_the_torsion_of_rectangles(sides, factor):
    assert_allclose(Section.rectangle(*sides).J / (max(sides) * min(sides) ** 3), factor, rtol=3e-3)


def test_moments_of_a_rectangle_are_about_the_right_axes():
    section = Section.rectangle(0.3, 0.1)
    assert_allclose((section.I1, section.I2), (0.3 * 0.1**3 / 12, 0.1 * 0.3**3 / 12))


def test_a_box_and_an_i_are_differences_of_rectangles():
    box, full = Section.box(0.3, 0.2, 0.02), Section.rectangle(0.3, 0.2)
    hole = Section.rectangle(0.26, 0.16)
    assert_allclose((box.area, box.I1, box.I2), (full.area - hole.area, full.I1 - hole.I1, full.I2 - hole.I2))
    i, sides = Section.i_beam(0.3, 0.2, 0.01, 0.02), Section.rectangle(0.26, 0.19)
    assert_allclose((i.area, i.I2), (full.area - sides.area, full.I2 - sides.I2))
    flange, web = Section.rectangle(0.02, 0.2), Section.rectangle(0.26, 0.01)
    assert_allclose(i.I1, 2.0 * flange.I1 + web.I1)


def test_thin_closed_sections_agree():
    """A thin pipe has 2πR³t, by Bredt's formula as by its polar moment; shear takes half of its area."""
    pipe = Section.pipe(1.0, 1e-4)
    assert_allclose((pipe.J, pipe.k1), (2.0 * pi * 1e-4, 0.5), rtol=2e-4)
    assert_allclose(Section.box(1.0, 1.0, 1e-4).J, 1e-4, rtol=4e-4)
    assert_allclose(Section.circle(2.0).I1, 4.0 * pi)


def test_properties_of_a_material():
    section = Section.rectangle(0.3, 0.1)
    of = section.of(STEEL)
    assert_allclose((of.axial, of.torsion), (2.1e11 * 0.03, 2.1e11 / 2.6 * section.J))
    assert_allclose(of.bending, (2.1e11 * section.I1, 2.1e11 * section.I2))
    assert_allclose(of.moments, (7850.0 * section.I2, 7850.0 * section.I1))  # ∫x₁² is I2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Section.rectangle(0.1, -0.1), "rectangle: width must be positive, got -0.1 m"),
        (lambda: Section.pipe(0.1, 0.1), "pipe: thickness must be less than radius = 0.1 m, got 0.1 m"),
        (lambda: Section.box(0.2, 0.1, 0.06), "box: thickness must be less than half of the smaller side = 0.05 m"),
        (lambda: Section.i_beam(0.2, 0.1, 0.01, 0.1), "i_beam: flange must be less than half of the height = 0.1 m"),
        (lambda: BeamProperties(1.0, (1.0, 0.0), (1.0, 1.0), 1.0, 1.0, (1.0, 1.0)), "shear must be positive"),
    ],
)
def test_what_is_wrong_is_refused(make, message):
    with pytest.raises(InvalidSystem, match=message):
        make()


def test_an_area_must_be_positive():
    with pytest.raises(ValueError, match="area"):
        Section(-1.0, 1.0, 1.0, 1.0)
