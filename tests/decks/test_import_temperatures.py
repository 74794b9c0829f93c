"""Temperatures of decks: thermal strains, amplitudes, constants that depend on them; rigid bodies that turn."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest

import symplex as sx
from reference.decks_written import bar, step, write
from symplex.decks import import_deck

COLD = "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nALL, 20.\n"


def warm(expansion="1e-5", cells=(4, 1, 1), **options):
    """Return a bar that expands, at 20 degrees."""
    text = bar(cells, **options)
    return text.replace("*DENSITY", f"*EXPANSION\n{expansion}\n*DENSITY") + COLD


def built(folder, text, number=1):
    imported = import_deck(write(folder, text), folder / "out", overwrite=True)
    assert number in imported.scenarios, imported.report()
    problem = sx.Scenario.read(imported.scenarios[number]).build()
    return problem, tomllib.loads(imported.scenarios[number].read_text()), imported


@pytest.mark.parametrize("parameters", ["", ", NLGEOM"])
@pytest.mark.parametrize("kind", ["C3D8", "C3D8I", "C3D4"])
def test_a_bar_becomes_longer(tmp_path, kind, parameters):
    text = warm(kind=kind) + step("*STATIC", "*TEMPERATURE", "ALL, 120.", parameters=parameters)
    problem, tables, _ = built(tmp_path, text)
    assert tables["temperature"] == [{"body": "part", "change": 100.0}]
    assert problem.state.q[:, 0].max() == pytest.approx(4.0 * 1.001, rel=1e-9)


def test_temperatures_of_nodes_are_a_file_and_amplitudes_count(tmp_path):
    text = warm() + "*AMPLITUDE, NAME=RISE\n0., 0., 1., 2.\n"
    text += step("*STATIC", "*TEMPERATURE, AMPLITUDE=RISE", "ALL, 60.", "RIGHT, 110.")
    problem, tables, imported = built(tmp_path, text)
    (table,) = tables["temperature"]
    rows = np.loadtxt(imported.folder / table["file"], delimiter=",", skiprows=1)
    right = np.isclose(problem.mesh.points[:, 0], 4.0)
    assert sorted({*rows[:, 1]}) == [100.0, 200.0]  # 2 × 60 − 20, 2 × 110 − 20
    np.testing.assert_array_equal(rows[:, 0], problem.mesh.point_numbers)
    np.testing.assert_array_equal(rows[:, 1] == 200.0, right)
    # Of linear elements ΔT is the mean of the nodes.
    assert problem.state.q[:, 0].mean(where=right) == pytest.approx(4.0 + 1e-5 * (3 * 100.0 + 150.0), abs=2e-5)


def test_constants_and_expansions_are_those_of_the_temperature(tmp_path):
    text = warm("1e-5, 20.\n2e-5, 220.").replace("0.3\n*EXP", "0.3, 20.\n100e9, 0.3, 220.\n*EXP")
    _, tables, _ = built(tmp_path, text + step("*STATIC", "*TEMPERATURE", "ALL, 120."))
    material = tables["body"][0]["material"]
    assert material["young"] == pytest.approx(150e9)
    # α(T) (T − T_zero) − α(T0) (T0 − T_zero), T_zero = 0, over ΔT
    assert material["expansion"] * 100.0 == pytest.approx(1.5e-5 * 120.0 - 1e-5 * 20.0)


def test_temperatures_of_a_motion_are_a_load(tmp_path):
    text = warm() + step("*DYNAMIC, DIRECT\n1e-5, 1e-4", "*TEMPERATURE", "ALL, 120.")
    text = text.replace("*STEP\n", "*STEP, AMPLITUDE=RAMP\n")
    problem, tables, _ = built(tmp_path, text)
    assert tables["temperature"][0]["history"]["factors"] == [0.0, 1.0]
    assert [*problem.system.loads] == ["heat_1"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (warm().replace("*EXPANSION\n1e-5", "*EXPANSION, TYPE=ORTHO\n1e-5, 2e-5, 1e-5"), "expands differently"),
        (warm().replace("1e-5\n", "1e-5, 1, 1\n"), "1 expansions, and may have a temperature"),
        (warm().replace("1e-5\n", "1e-5, 50.\n2e-5, 20.\n"), "which ascends"),
        (warm().replace("*EXPANSION", "*EXPANSION, TYPE=USER"), "TYPE='USER'"),
    ],
)
def test_what_is_not_known_of_expansions_is_refused(tmp_path, text, why):
    imported = import_deck(write(tmp_path, text + step("*STATIC", "*TEMPERATURE", "ALL, 120.")), tmp_path / "out")
    assert why in str(imported.reasons[0])


def test_one_expansion_by_temperature_next_to_another_material_is_refused(tmp_path):
    text = warm("1e-5, 20.\n2e-5, 220.", cells=(2, 1, 1))
    text = text.replace("*ELSET, ELSET=END", "*ELSET, ELSET=REST\n1,\n*ELSET, ELSET=END")
    text = text.replace("*SOLID SECTION, ELSET=BAR", "*SOLID SECTION, ELSET=END")
    text += "*MATERIAL, NAME=OTHER\n*ELASTIC\n2e11, 0.3\n*EXPANSION\n1e-5\n"
    text += "*SOLID SECTION, ELSET=REST, MATERIAL=OTHER\n"
    text += step("*STATIC", "*TEMPERATURE", "ALL, 120.", "RIGHT, 220.")
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    assert "other materials expand too" in str(imported.reasons[0])


def test_temperatures_across_shells_are_refused(tmp_path):
    imported = import_deck(write(tmp_path, warm() + step("*STATIC", "*TEMPERATURE", "ALL, 120., 5.")), tmp_path / "out")
    assert "differ across shells" in str(imported.reasons[0])


# -- keywords as they are written ---------------------------------------------------------------------------------


def test_a_missing_comma_and_short_parameters_are_taken(tmp_path):
    text = warm().replace("*EXPANSION\n", "*EXPANSION ZERO=0.\n").replace("*HEADING\nA bar", "*HEADING A bar")
    text += step("*STATIC", "*TEMPERATURE", "ALL, 120.").replace("*STEP\n", "*STEP, AMP=RAMP\n")
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    assert [*imported.scenarios] == [1]
    assert not imported.missed


def test_ogdens_law_of_the_exponents_2_and_minus_2_is_that_of_mooney_and_rivlin(tmp_path):
    elastic = "*ELASTIC\n200000000000.0, 0.3\n"
    one = bar().replace(elastic, "*HYPERELASTIC, OGDEN, N=2\n160., 2., 40., -2., 0.001\n")
    other = bar().replace(elastic, "*HYPERELASTIC, MOONEY-RIVLIN\n80., 20., 0.001\n")
    pulled = step("*STATIC", "*CLOAD", "RIGHT, 1, 1.", parameters=", NLGEOM")
    (tmp_path / "other").mkdir()
    materials = [
        built(folder, text + pulled)[1]["body"][0]["material"]
        for folder, text in ((tmp_path, one), (tmp_path / "other", other))
    ]
    assert materials[0] == materials[1]
    wrong = one.replace("40., -2.", "40., -3.")
    imported = import_deck(write(tmp_path, wrong + pulled, "wrong.inp"), tmp_path / "out", overwrite=True)
    assert "exponents 2 and -2" in str(imported.reasons[0])


def test_a_bar_in_the_plane_is_held_across_it(tmp_path):
    text = "*NODE, NSET=ALL\n1, 0., 0.\n2, 3., 4.\n*ELEMENT, TYPE=T2D2, ELSET=BARS\n1, 1, 2\n"
    text += "*MATERIAL, NAME=M\n*ELASTIC\n2e11, 0.3\n*SOLID SECTION, ELSET=BARS, MATERIAL=M\n1e-4\n"
    text += "*BOUNDARY\n1, 1, 2\n2, 1\n" + step("*STATIC", "*CLOAD", "2, 2, 1000.")
    problem, _, _ = built(tmp_path, text)
    # F/(E A/L sin²) upwards
    assert problem.state.q[1, 1] == pytest.approx(4.0 + 1000.0 / (2e11 * 1e-4 / 5.0 * 0.64), rel=1e-6)


# -- rigid bodies with large displacements ------------------------------------------------------------------------

HEAD = "*NODE, NSET=HEAD\n900, 4., 0.5, 0.5\n*NSET, NSET=TURNS\n901,\n*NODE\n901, 4., 0.5, 0.5\n"
RIGID = f"{HEAD}*RIGID BODY, NSET=RIGHT, REF NODE=900, ROT NODE=901\n"


def right_end(problem):
    nodes = problem.mesh.nodes_of("part")
    return nodes[np.isclose(problem.mesh.points[nodes, 0], 4.0)]


def test_a_rigid_body_that_does_not_turn_is_known_with_nlgeom(tmp_path):
    text = bar() + RIGID + "*BOUNDARY\n901, 1, 3\n900, 2, 3\n"
    pulled = step("*STATIC", "*BOUNDARY", "900, 1, 1, 0.4", parameters=", NLGEOM")
    problem, _, _ = built(tmp_path, text + pulled)
    moved = (problem.state.q[: len(problem.mesh.points)] - problem.mesh.points)[right_end(problem)]
    np.testing.assert_allclose(moved, np.tile([0.4, 0.0, 0.0], (len(moved), 1)), atol=1e-4)
    free = bar() + RIGID + "*BOUNDARY\n901, 1, 2\n900, 2, 3\n" + pulled
    imported = import_deck(write(tmp_path, free), tmp_path / "free")
    assert "that turn are known for small rotations only" in str(imported.reasons[0])


def test_a_rigid_body_turns_as_it_is_given(tmp_path):
    """A quarter turn about x: its nodes are where a rotation takes them."""
    text = bar() + RIGID + "*BOUNDARY\n900, 1, 3\n901, 2, 3\n"
    turned = step("*STATIC", "*BOUNDARY", "901, 1, 1, 0.5", parameters=", NLGEOM")
    problem, tables, _ = built(tmp_path, text + turned)
    right, centre, (c, s) = right_end(problem), np.array([4.0, 0.5, 0.5]), (np.cos(0.5), np.sin(0.5))
    turn = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
    expected = (problem.mesh.points[right] - centre) @ turn.T + centre
    np.testing.assert_allclose(problem.state.q[right], expected, atol=1e-9)
    assert [table["rotation"]["degrees"] for table in tables["support"] if "rotation" in table] == [np.degrees(0.5)]


def test_a_beam_turns_as_it_is_given(tmp_path):
    text = "*NODE, NSET=ALL\n1, 0., 0., 0.\n2, 1., 0., 0.\n*ELEMENT, TYPE=B31, ELSET=BEAM\n1, 1, 2\n"
    text += "*MATERIAL, NAME=M\n*ELASTIC\n2e11, 0.3\n*DENSITY\n7800.\n"
    text += "*BEAM SECTION, ELSET=BEAM, MATERIAL=M, SECTION=RECT\n0.1, 0.1\n0., 0., 1.\n"
    text += step("*STATIC", "*BOUNDARY", "1, 1, 5", "1, 6, 6, 1.2", parameters=", NLGEOM")
    problem, _, _ = built(tmp_path, text)
    beam = next(iter(problem.beams.values()))
    centers = beam.structure.frames.centers(beam.own(problem.state.q))
    np.testing.assert_allclose(centers[1], [np.cos(1.2), np.sin(1.2), 0.0], atol=1e-6)
