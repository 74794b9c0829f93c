"""Decks of bars, springs and masses without solid elements."""

from __future__ import annotations

import numpy as np
import pytest

import symplex as sx
from reference.decks_written import step, write
from symplex.decks import import_deck

YOUNG, DENSITY, LOAD = 2e11, 7800.0, 1e5
POINTS = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
BARS = [((0, 1), 1e-4), ((2, 3), 1e-4), ((1, 3), 1e-4), ((0, 3), 2e-4), ((2, 1), 2e-4)]
TRUSS = """*NODE, NSET=ALL
1, 0., 0., 0.
2, 1., 0., 0.
3, 0., 1., 0.
4, 1., 1., 0.
*ELEMENT, TYPE=T3D2, ELSET=A
1, 1, 2
2, 3, 4
3, 2, 4
*ELEMENT, TYPE=T3D2, ELSET=B
4, 1, 4
5, 3, 2
*MATERIAL, NAME=S
*ELASTIC
2e11, 0.3
*DENSITY
7800.
*SOLID SECTION, ELSET=A, MATERIAL=S
1e-4
*SOLID SECTION, ELSET=B, MATERIAL=S
2e-4
*BOUNDARY
1, 1, 3
3, 1, 3
ALL, 3
"""
FREE = [1, 3]


def built(tmp_path, text, units="si"):
    imported = import_deck(write(tmp_path, text), tmp_path / "out", units=units, overwrite=True)
    assert 1 in imported.scenarios, imported.report()
    return sx.Scenario.read(imported.scenarios[1]).build()


def test_a_truss_of_a_linear_step_moves_as_in_calculix(tmp_path):
    """CalculiX 2.20 prints these numbers for this deck."""
    problem = built(tmp_path, TRUSS + step("*STATIC", "*CLOAD", "4, 2, -1e5"))
    u = problem.state.q - problem.mesh.points
    exact = [[0, 0, 0], [-2.071068e-3, -5.0e-3, 0], [0, 0, 0], [2.928932e-3, -7.071068e-3, 0]]
    assert u == pytest.approx(np.array(exact), abs=1e-9)


def test_a_truss_of_a_step_with_nlgeom_balances_the_forces_of_green_strains(tmp_path):
    q = built(tmp_path, TRUSS + step("*STATIC", "*CLOAD", "4, 2, -1e5", parameters=", NLGEOM")).state.q
    forces = np.zeros_like(q)
    forces[3, 1] = -LOAD
    for (a, b), area in BARS:
        d, length = q[b] - q[a], np.linalg.norm(POINTS[b] - POINTS[a])
        pull = YOUNG * area * (d @ d - length**2) / (2.0 * length**2) * d / length
        forces[a] += pull
        forces[b] -= pull
    assert np.abs(forces[FREE, :2]).max() < 1e-6 * LOAD


def test_frequencies_and_weights_of_a_truss_are_those_of_lumped_bars(tmp_path):
    stiffness, mass = np.zeros((8, 8)), np.zeros(4)
    for (a, b), area in BARS:
        d = (POINTS[b] - POINTS[a])[:2]
        length = np.linalg.norm(d)
        row = np.zeros(8)
        row[2 * b : 2 * b + 2], row[2 * a : 2 * a + 2] = d / length, -d / length
        stiffness += YOUNG * area / length * np.outer(row, row)
        mass[[a, b]] += 0.5 * DENSITY * area * length
    free = [2 * node + i for node in FREE for i in range(2)]
    squares = np.linalg.eigvals(stiffness[np.ix_(free, free)] / np.repeat(mass, 2)[free][:, None])
    exact = np.sort(np.sqrt(squares.real))[:2] / (2.0 * np.pi)
    problem = built(tmp_path, TRUSS + step("*FREQUENCY\n2"))
    found = sx.modes.natural_modes(problem.system, problem.state, 2).frequencies
    assert found == pytest.approx(exact, rel=1e-6)
    problem = built(tmp_path, TRUSS + step("*STATIC", "*DLOAD", "A, GRAV, 9.81, 0., -1., 0."))
    loads = problem.scenario.tables.load
    assert {table.kind for table in loads} == {"nodal"}
    weight = np.array([getattr(table, "force", (0.0, 0.0, 0.0)) for table in loads]).sum(axis=0)  # each on one node
    assert weight == pytest.approx([0.0, -9.81 * DENSITY * 3e-4, 0.0])


def test_masses_and_springs_alone(tmp_path):
    """Two masses in a row on two springs: ω² = (3 ± √5)/2 k/m."""
    text = (
        "*NODE, NSET=ALL\n1, 0.\n2, 1.\n3, 2.\n*ELEMENT, TYPE=SPRINGA, ELSET=K\n1, 1, 2\n2, 2, 3\n"
        "*ELEMENT, TYPE=MASS, ELSET=M\n5, 2\n6, 3\n*BOUNDARY\nALL, 2, 3\n1, 1\n*SPRING, ELSET=K\n\n10.\n"
        "*MASS, ELSET=M\n7.8e-9\n"
    )
    problem = built(tmp_path, text + step("*FREQUENCY\n2"), "mm-t-s")
    exact = np.sqrt((3.0 + np.array([-1, 1]) * np.sqrt(5.0)) / 2.0 * 10.0 / 7.8e-9) / (2.0 * np.pi)
    assert sx.modes.natural_modes(problem.system, problem.state, 2).frequencies == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("1e-4\n", ",\n", "bars need an isotropic material 'S' and a cross-section"),
        ("ELSET=B, MATERIAL=S", "ELSET=A, MATERIAL=S", "element 4 of type T3D2 has no *SOLID SECTION"),
        ("7800.\n", "7800.\n*PLASTIC\n2e8, 0.\n", "bars of a metal that flows ('S') are not supported"),
        ("*SOLID SECTION, ELSET=B, MATERIAL=S\n2e-4\n", "", "element 4 of type T3D2 has no *SOLID SECTION"),
    ],
)
def test_bars_that_are_not_known_are_refused(tmp_path, old, new, what):
    assert old in TRUSS
    text = TRUSS.replace(old, new, 1) + step("*STATIC", "*CLOAD", "4, 2, -1e5")
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    assert what in str(imported.reasons[0])
    assert imported.mesh.exists()


def test_vibrations_of_bars_need_a_density(tmp_path):
    text = TRUSS.replace("*DENSITY\n7800.\n", "") + step("*FREQUENCY\n2")
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    assert "the material 'S' has no density" in str(imported.reasons[0])
