"""Decks become scenarios that give the results that the decks mean."""

from __future__ import annotations

import contextlib
import random
import re
import tomllib

import numpy as np
import pytest
from write_deck_tables import PAGE, tables

import symplex as sx
from reference.decks_written import bar, step, write
from symplex.decks import import_deck
from symplex.decks.keywords import KEYWORDS
from symplex.errors import InvalidArgument, MeshError, OutputError, SymplexError
from symplex.testing import round_off

PULLED = step("*STATIC", "*DLOAD", "END, P4, -2.0e6")


def tables_of(imported, number=1):
    return tomllib.loads(imported.scenarios[number].read_text())


def displacements(imported, number=1):
    problem = sx.Scenario.read(imported.scenarios[number]).build()
    return problem.state.q[: len(problem.mesh.points)] - problem.mesh.points, problem


def missed(imported):
    return [str(miss) for miss in imported.missed]


# -- results ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("units", "length", "stress", "density"), [("si", 1, 1, 1), ("mm-t-s", 1e-3, 1e6, 1e12)])
def test_a_bar_under_tension_is_stretched_exactly(tmp_path, units, length, stress, density):
    text = bar(unit=length, young=200e9 / stress, density=7800 / density)
    path = write(tmp_path, text + step("*STATIC", "*DLOAD", f"END, P4, {-2.0e6 / stress!r}"))
    imported = import_deck(path, tmp_path / "out", units=units)
    assert not imported.missed
    u, problem = displacements(imported)
    x = problem.mesh.points
    exact = 2e6 / 200e9 * x * [1, -0.3, -0.3]
    assert np.abs(u - exact).max() < round_off.of(np.abs(x).max())  # positions are rounded


def test_forces_on_nodes_add_up_within_a_step_and_replace_earlier_ones(tmp_path):
    first = step("*STATIC", "*CLOAD", "RIGHT, 1, 1.0", "RIGHT, 1, 2.0", "10, 2, 5.")
    second = step("*STATIC", "*CLOAD", "RIGHT, 1, 7.0")
    third = step("*STATIC", "*CLOAD, OP=NEW", "RIGHT, 3, 9.0")
    imported = import_deck(write(tmp_path, bar() + first + second + third), tmp_path / "out")
    forces = [[load["force"] for load in tables_of(imported, k)["load"]] for k in (1, 2, 3)]
    assert forces == [[[3.0, 0.0, 0.0], [0.0, 5.0, 0.0]], [[7.0, 0.0, 0.0], [0.0, 5.0, 0.0]], [[0.0, 0.0, 9.0]]]
    assert [load["group"] for load in tables_of(imported)["load"]] == ["RIGHT", "ORIGIN"]


def test_amplitudes_are_those_of_the_end_in_static_steps_and_histories_in_motions(tmp_path):
    model = "*AMPLITUDE, NAME=A\n0., 0., 1e-3, 2.,\n2e-3, 3.\n"
    load = ("*CLOAD, AMPLITUDE=A", "RIGHT, 1, 10.0")
    text = bar(model=model) + step("*STATIC", *load).replace("*STATIC\n", "*STATIC\n5e-4, 1.5e-3\n")
    imported = import_deck(write(tmp_path, text), tmp_path / "static")
    assert tables_of(imported)["load"][0]["force"] == [25.0, 0.0, 0.0]
    late = text.replace("AMPLITUDE=A\n", "AMPLITUDE=A, TIME DELAY=1e-3\n")
    imported = import_deck(write(tmp_path, late), tmp_path / "late")
    assert tables_of(imported)["load"][0]["force"] == [10.0, 0.0, 0.0]
    text = bar(model=model) + step("*DYNAMIC, DIRECT\n5e-5, 1e-3", *load)
    imported = import_deck(write(tmp_path, text), tmp_path / "moving")
    (table,) = tables_of(imported)["load"]
    assert table["history"] == {"kind": "table", "times": [0.0, 1e-3, 2e-3], "factors": [0.0, 2.0, 3.0]}
    assert tables_of(imported)["integrator"] == {"kind": "hht", "dt": 5e-5, "alpha": -0.05}


def test_a_suddenly_loaded_bar_swings_to_twice_its_static_length(tmp_path):
    """With ν = 0 it is a rod: its end moves along a triangle, in 4 L/c to twice the static displacement and back."""
    text = bar(cells=(40, 1, 1)).replace(", 0.3\n", ", 0.0\n")
    c = float(np.sqrt(200e9 / 7800))
    text += step(f"*DYNAMIC, DIRECT, ALPHA=0.\n{4 / c / 80!r}, {16 / c!r}", "*DLOAD", "END, P4, -2.0e6")
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    problem = sx.Scenario.read(imported.scenarios[1]).build()
    end = problem.mesh.nodes_of("part.RIGHT")
    times = problem.scenario.times
    states = list(sx.march(problem.system, problem.integrator, problem.state, times))
    u = np.array([(state.q - problem.mesh.points)[end, 0].mean() for state in states])
    exact = 2e6 / 200e9 * c * np.minimum(times, 16 / c - times)
    assert np.abs(u - exact).max() < 0.02 * exact.max()


def test_a_support_that_is_displaced(tmp_path):
    text = bar() + step("*STATIC", "*BOUNDARY", "RIGHT, 1, 1, 0.004")
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    u, problem = displacements(imported)
    assert np.abs(u - problem.mesh.points * [1e-3, -3e-4, -3e-4]).max() < 1e-13


def test_natural_frequencies_of_a_bar_in_tension(tmp_path):
    text = bar(cells=(60, 1, 1)).replace(", 0.3\n", ", 0.0\n").replace("LEFT, 1\n", "LEFT, 1\nALL, 2, 3\n")
    text += step("*FREQUENCY\n3")
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    problem = sx.Scenario.read(imported.scenarios[1]).build()
    found = sx.modes.natural_modes(problem.system, problem.state, 3).frequencies
    exact = np.sqrt(200e9 / 7800) / 16 * np.array([1, 3, 5])
    assert np.abs(found / exact - 1).max() < 1e-3


def test_forces_in_cylindrical_directions(tmp_path):
    model = "*TRANSFORM, NSET=RIGHT, TYPE=C\n0., 2., 0., 1., 2., 0.\n"
    text = bar(model=model) + step("*STATIC", "*CLOAD", "RIGHT, 1, 1.0")
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    mesh = sx.read_mesh(imported.mesh)
    for load in tables_of(imported)["load"]:
        radial = mesh.points[mesh.nodes_of(load["group"])] - [4, 2, 0]
        radial[:, 0] = 0.0
        for r in radial:
            assert np.allclose(load["force"], r / np.linalg.norm(r), atol=1e-14)


def test_supports_in_turned_directions_hold_the_direction_that_is_meant_or_are_refused(tmp_path):
    turned = "*TRANSFORM, NSET=RIGHT\n0., 1., 0., -1., 0., 0.\n"
    text = bar(model=turned) + step("*STATIC", "*BOUNDARY", "RIGHT, 1")
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    assert [s["components"] for s in tables_of(imported)["support"] if s["group"] == "RIGHT"] == ["y"]
    oblique = "*TRANSFORM, NSET=RIGHT\n1., 1., 0., -1., 1., 0.\n"
    text = bar(model=oblique) + step("*DYNAMIC\n1e-4, 1e-3", "*BOUNDARY", "RIGHT, 1, 1, 0.1")
    imported = import_deck(write(tmp_path, text), tmp_path / "oblique")
    assert "oblique" in missed(imported)[0]


def test_pressure_on_a_surface_is_that_on_its_elements(tmp_path):
    model = "*SURFACE, NAME=TOP\nEND, S4\n"
    text = bar(model=model) + step("*STATIC", "*DSLOAD", "TOP, P, -2.0e6")
    one = import_deck(write(tmp_path, text), tmp_path / "one")
    other = import_deck(write(tmp_path, bar() + PULLED), tmp_path / "other")
    assert np.allclose(displacements(one)[0], displacements(other)[0], rtol=0, atol=1e-18)


def test_large_displacements_take_another_law_and_pressures_that_follow(tmp_path):
    text = bar() + PULLED.replace("*STEP", "*STEP, NLGEOM")
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    tables = tables_of(imported)
    assert tables["body"][0]["material"]["law"] == "saint-venant-kirchhoff"
    assert tables["load"][0]["kind"] == "pressure"


def test_gravity_in_parts_is_gravity(tmp_path):
    text = bar() + step("*STATIC", "*DLOAD", "BAR, GRAV, 9.81, 0., 0., -2.")
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    assert tables_of(imported)["gravity"]["acceleration"] == [0.0, 0.0, -9.81]


def test_several_materials_are_groups(tmp_path):
    other = "*MATERIAL, NAME=SOFT\n*ELASTIC\n1e9, 0.3\n*ELSET, ELSET=REST, GENERATE\n1, 12\n"
    text = bar(model=other).replace("ELSET=BAR, MATERIAL=STEEL", "ELSET=REST, MATERIAL=SOFT")
    text = text.replace("*BOUNDARY\n", "*SOLID SECTION, ELSET=END, MATERIAL=STEEL\n*BOUNDARY\n", 1)
    imported = import_deck(write(tmp_path, text + PULLED), tmp_path / "out")
    materials = tables_of(imported)["body"][0]["materials"]
    assert {name: table["young"] for name, table in materials.items()} == {
        "material_SOFT": 1e9,
        "material_STEEL": 200e9,
    }


def test_of_two_sections_the_last_counts(tmp_path):
    """As in CalculiX: of four elements in a row the last one has half of the modulus."""
    soft = "*MATERIAL, NAME=SOFT\n*ELASTIC\n100.0e9, 0.\n*SOLID SECTION, ELSET=END, MATERIAL=SOFT\n"
    text = bar(model=soft).replace(", 0.3\n", ", 0.0\n") + PULLED
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    assert "elements of 'BAR' have later sections" in imported.report()
    u, _ = displacements(imported)
    assert u[:, 0].max() == pytest.approx((3.0 + 2.0) * 2e6 / 200e9, rel=1e-6)


def test_numbers_of_nodes_and_sets_are_kept(tmp_path):
    imported = import_deck(write(tmp_path, bar() + "*NODE\n999, 5., 5., 5.\n" + PULLED), tmp_path / "out")
    mesh = sx.read_mesh(imported.mesh)
    assert imported.numbers.tolist() == list(range(10, 10 + len(mesh.points)))
    assert {"ALL", "LEFT", "RIGHT", "BAR", "END"} <= {*mesh.groups}
    assert sorted(mesh.nodes_of("RIGHT")) == np.flatnonzero(mesh.points[:, 0] == 4.0).tolist()


def test_instances_as_pre_processors_write_them(tmp_path):
    model = bar(cells=(2, 1, 1))
    mesh, rest = model.split("*MATERIAL")
    material, section = ("*MATERIAL" + rest).split("*SOLID")
    section = "*SOLID" + section.partition("*BOUNDARY")[0]
    text = "*PART, NAME=P\n" + mesh.partition("** a comment\n")[2] + section + "*END PART\n*ASSEMBLY, NAME=A\n"
    text += "*INSTANCE, NAME=one, PART=P\n*END INSTANCE\n*INSTANCE, NAME=two, PART=P\n0., 5., 0.\n*END INSTANCE\n"
    text += "*ELSET, ELSET=ENDS, INSTANCE=one\n2,\n*ELSET, ELSET=ENDS, INSTANCE=two\n2,\n"
    text += "*SURFACE, NAME=PULLED\nENDS, S4\n*END ASSEMBLY\n" + material
    text += "*BOUNDARY\none.LEFT, ENCASTRE\ntwo.LEFT, XSYMM\ntwo.ORIGIN, PINNED\ntwo.EDGE, ZSYMM\n"
    imported = import_deck(write(tmp_path, text + step("*STATIC", "*DSLOAD", "PULLED, P, -2e6")), tmp_path / "out")
    assert not imported.missed
    u, problem = displacements(imported)
    x = problem.mesh.points
    two = x[:, 1] > 4.0
    assert np.abs(u[two] - 1e-5 * (x[two] - [0, 5, 0]) * [1, -0.3, -0.3]).max() < 1e-13
    assert 0.9 < u[~two, 0].max() / 4e-5 < 1.0


# -- what is not understood ---------------------------------------------------------------------------------------


def test_a_keyword_before_the_steps_that_is_not_understood_stops_all_steps(tmp_path):
    text = bar(model="*CREEP\n1e-10, 5., 0.\n") + PULLED
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    line = text.split("\n").index("*CREEP") + 1
    assert imported.scenarios == {}
    assert missed(imported) == [f"line {line}: *CREEP: it is not supported"]
    assert missed(imported)[0] in (tmp_path / "out" / "import.txt").read_text()
    assert imported.mesh.exists()


def test_a_step_is_imported_up_to_the_first_that_is_not_understood(tmp_path):
    text = bar() + PULLED + step("*STATIC", "*CREEPING") + PULLED
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    assert [*imported.scenarios] == [1]
    assert "*CREEPING" in missed(imported)[0]


def test_what_follows_a_motion_is_refused(tmp_path):
    text = bar() + step("*DYNAMIC, DIRECT\n1e-4, 1e-3") + PULLED
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    assert [*imported.scenarios] == [1]
    assert "the motion of step 1" in missed(imported)[0]


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("*STATIC", "*STATIC, MASSLESS", "parameter 'MASSLESS'"),
        ("END, P4, -2.0e6", "END, CENTRIF, 3.", "loads 'CENTRIF'"),
        ("*ELASTIC\n", "*ELASTIC, TYPE=TRACTION\n", "TYPE='TRACTION'"),
        ("200000000000.0, 0.3\n", "200000000000.0, 0.3\n1e11, 0.3, 100.\n", "a temperature each, which ascends"),
        ("200000000000.0, 0.3\n", "2e11, 0.3, 0.\n1e11, 0.3, 0.\n", "a temperature each, which ascends"),
        ("*STATIC", "*HEAT TRANSFER, STEADY STATE\n*CFLUX\nRIGHT, 11, 1.", "heat is not computed"),
        (
            "*STATIC",
            "*STATIC\n*FIXED MASS SCALING, TYPE=UNIFORM, DT=1e-6",
            "masses are scaled by TYPE=BELOW MIN and DT",
        ),
        ("ELSET=BAR, MATERIAL=STEEL", "ELSET=BAR, MATERIAL=GOLD", "no material 'GOLD'"),
        ("TYPE=C3D8,", "TYPE=C3D8P,", "elements 'C3D8P'"),
        ("LEFT, 1\n", "LEFT, 12\n", "degree of freedom 12"),
        ("*STATIC", "*STATIC\n*DLOAD, AMPLITUDE=B\nEND, P4, 1.", "no amplitude 'B'"),
        ("*STATIC", "*STATIC\n*DLOAD, TIME DELAY=1.\nEND, P4, 1.", "a TIME DELAY without an amplitude before it"),
        ("*STATIC", "*STATIC\n*DLOAD\nEND, P, 1.", "a load P, without the number of a side, is for shells, and 'END'"),
        ("*STATIC", "*DYNAMIC\n1e-4, 1e-3, , , 1e-5", "more numbers, which are not supported"),
        ("*DLOAD", "*BOUNDARY, TYPE=ACCELERATION\nRIGHT, 1, 1, 3.\n*DLOAD", "TYPE='ACCELERATION'"),
        ("*DLOAD", "*BOUNDARY, TYPE=VELOCITY\nRIGHT, 1, 1, 3.\n*DLOAD", "in motions only, constant"),
        ("*STATIC", "*VISCO", "it is not supported"),
    ],
)
def test_what_is_not_understood_is_told(tmp_path, old, new, what):
    text = bar() + PULLED
    assert old in text
    imported = import_deck(write(tmp_path, text.replace(old, new, 1)), tmp_path / "out")
    assert what in missed(imported)[0]
    assert not imported.scenarios


def test_heat_is_refused_by_one_sentence(tmp_path):
    heat = step("*HEAT TRANSFER", "*BOUNDARY", "LEFT, 11, 11, 20.", "*DFLUX", "BAR, BF, 1.", "*FILM", "END, F4, 1., 2.")
    imported = import_deck(write(tmp_path, bar(model="*CONDUCTIVITY\n50.\n") + PULLED + heat), tmp_path / "out")
    assert [*imported.scenarios] == [1]
    assert [one.why for one in imported.missed] == [
        "heat is not computed; of the deck only steps before this one can be imported"
    ]


def test_constants_of_several_temperatures_are_the_first_where_there_is_no_temperature(tmp_path):
    """As CalculiX 2.20, in which the end of this bar moves by σ L/E with the first E."""
    text = bar() + PULLED
    table = text.replace(", 0.3\n", ", 0.3, 20.\n1e11, 0.3, 100.\n").replace("7800.0\n", "7800., 20.\n7000., 90.\n")
    imported = import_deck(write(tmp_path, table), tmp_path / "out")
    material = tables_of(imported)["body"][0]["material"]
    assert (material["young"], material["density"]) == (2e11, 7800.0)
    cold = table.replace("0.3, 20.", "0.3, -20.")
    imported = import_deck(write(tmp_path, cold), tmp_path / "cold")
    assert "from -20 on; without temperatures programs take different ones" in str(imported.reasons[0])
    heated = table.replace("*BOUNDARY", "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nALL, 60.\n*BOUNDARY", 1)
    imported = import_deck(write(tmp_path, heated), tmp_path / "heated")
    material = tables_of(imported)["body"][0]["material"]
    assert material["young"] == pytest.approx(1.5e11)
    uneven = heated.replace("ALL, 60.\n", "ALL, 60.\nLEFT, 70.\n")
    imported = import_deck(write(tmp_path, uneven), tmp_path / "uneven")
    assert "constants of 'STEEL' depend on temperature, which line" in str(imported.reasons[0])


def test_supports_move_with_a_velocity(tmp_path):
    text = bar(unit=1e-3, young=200e3, density=7.8e-9)
    text += step("*DYNAMIC, DIRECT\n1e-6, 1e-5", "*BOUNDARY, TYPE=VELOCITY", "RIGHT, 1, 1, 3000.")
    imported = import_deck(write(tmp_path, text), tmp_path / "out", units="mm-t-s")
    moved = [table for table in tables_of(imported)["support"] if "velocity" in table]
    assert [(table["components"], table["velocity"]) for table in moved] == [("x", [3.0, 0.0, 0.0])]


@pytest.mark.slow
def test_hybrid_elements_do_not_lock(tmp_path):
    """A cantilever with ν = 0.4999 bends by P L³/3 E I; without the mean dilatation a tenth of that."""
    across = "*BOUNDARY\nLEFT, 1, 3\n"
    exact = 9 * 1e5 * 4.0**3 / (3 * 200e9 / 12.0)
    found = []
    for kind, parameters in (("C3D8H", ""), ("C3D8H", ", NLGEOM"), ("C3D8", "")):
        text = bar(cells=(8, 2, 2), kind=kind).replace(", 0.3\n", ", 0.4999\n").replace("*BOUNDARY\nLEFT, 1\n", across)
        text += step("*STATIC", "*CLOAD", "RIGHT, 2, 1e5", parameters=parameters)
        u, _ = displacements(import_deck(write(tmp_path, text), tmp_path / f"out{len(found)}"))
        found.append(u[:, 1].max() / exact)
    assert found[:2] == pytest.approx([1.0, 1.0], abs=0.1)
    assert found[2] < 0.2


def test_densities_of_other_units_are_told(tmp_path):
    text = bar(young=200e3, density=7.8e-9) + PULLED
    with pytest.raises(MeshError, match=r"7.8e-09 kg/m³, lighter than any solid.*--units mm-t-s"):
        import_deck(write(tmp_path, text), tmp_path / "out")
    with pytest.raises(InvalidArgument, match="no units 'furlongs'; known are si, mm-t-s"):
        import_deck(write(tmp_path, text), tmp_path / "out", units="furlongs")


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("END, P4, -2.0e6", "END, P4, much", "line 1[0-9]*: \\*DLOAD: 'much' stands where a number must be"),
        ("END, P4, -2.0e6", "FRONT, P4, -2.0e6", "there is no set 'FRONT'"),
        ("*END STEP", "*STEP", "begins before the last one has ended"),
        ("10, 0.0, 0.0, 0.0", "10, zero, 0.0, 0.0", "the line of a node is '10, zero"),
    ],
)
def test_mistakes_are_told_with_their_place(tmp_path, old, new, what):
    text = bar() + PULLED + PULLED
    path = write(tmp_path, text.replace(old, new, 1))
    try:
        reported = missed(import_deck(path, tmp_path / "out"))[0]
    except MeshError as error:
        reported = str(error)
    assert re.search(what, reported), reported


def test_files_are_not_replaced_unasked(tmp_path):
    path = write(tmp_path, bar() + PULLED)
    import_deck(path, tmp_path / "out")
    with pytest.raises(OutputError, match="there already; choose another folder, or --overwrite"):
        import_deck(path, tmp_path / "out")
    import_deck(path, tmp_path / "out", overwrite=True)


def test_places_in_included_files_are_told(tmp_path):
    (tmp_path / "steps.txt").write_text("** below\n" + PULLED.replace("*STATIC", "*VISCO"))
    path = write(tmp_path, bar() + "*INCLUDE, INPUT=steps.txt\n")
    assert missed(import_deck(path, tmp_path / "out"))[0] == "steps.txt, line 3: *VISCO: it is not supported"


def test_damaged_decks_are_read_or_refused_by_a_sentence(tmp_path):
    chance = random.Random(1)
    text = bar(cells=(1, 1, 1)) + PULLED
    lines = text.split("\n")
    for _ in range(60):
        changed = list(lines)
        for _ in range(chance.randint(1, 3)):
            k = chance.randrange(len(changed))
            line = changed[k]
            at = chance.randint(0, len(line))
            changed[k] = chance.choice(
                [line[:at], line[:at] + chance.choice("*,x=-9\t\x00é") + line[at:], "", line + "," + line, line[::-1]]
            )
        path = tmp_path / "damaged.inp"
        path.write_text("\n".join(changed))
        with contextlib.suppress(SymplexError):  # anything else is a mistake of the reader
            import_deck(path, tmp_path / "out", overwrite=True)


def test_a_motion_begins_in_the_equilibrium_of_the_static_step_before(tmp_path):
    first = step("*STATIC", "*CLOAD", "RIGHT, 1, 1.0")
    moving = step("*DYNAMIC, DIRECT\n1e-4, 1e-3", "*CLOAD", "EDGE, 2, 1.0")
    imported = import_deck(write(tmp_path, bar() + first + moving), tmp_path / "out")
    tables = tables_of(imported, 2)
    assert tables["start"] == {"kind": "static"}
    assert [load.get("history") for load in tables["load"]] == [
        None,
        {"kind": "table", "times": [0.0, 1e-10], "factors": [0.0, 1.0]},
    ]


C = float(np.sqrt(200e9 / 7800))  # m/s, of waves along a rod
STRAIN = 2e6 / 200e9
MOVES = f"*DYNAMIC, DIRECT, ALPHA=0.\n{4 / C / 80!r}, {8 / C!r}"
PULL = ("*DLOAD", "END, P4, -2.0e6")


@pytest.mark.parametrize(
    ("steps", "begins", "moves"),
    [
        (step(MOVES, *PULL) + step(MOVES, "*DLOAD, OP=NEW"), 8 / C, lambda ct: np.minimum(ct, 24.0 - 2.0 * ct)),
        (step("*STATIC", *PULL) + step(MOVES, "*DLOAD, OP=NEW"), 1.0, lambda ct: 4.0 - ct),
        (
            step("*STATIC", *PULL) + step(MOVES, "*DLOAD, OP=NEW", "*BOUNDARY, OP=NEW", "ORIGIN, 2, 3"),
            1.0,
            lambda ct: np.abs(4.0 - ct),
        ),
    ],
)
def test_steps_that_change_loads_or_supports_are_stages(tmp_path, steps, begins, moves):
    """A rod that is pulled, with ν = 0, and released, at one end or both: its end moves along triangles."""
    text = bar(cells=(40, 1, 1)).replace(", 0.3\n", ", 0.0\n") + steps
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    assert [*imported.scenarios] == [1, 2], imported.report()
    assert len(tables_of(imported, 2)["stage"]) == 2
    problem = sx.Scenario.read(imported.scenarios[2]).build()
    end = problem.mesh.nodes_of("part.RIGHT")
    times = problem.scenario.times
    states = list(sx.march(problem.system, problem.integrator, problem.state, times))
    u = np.array([(state.q - problem.mesh.points)[end, 0].mean() for state in states])
    ct = C * (times if begins < 1.0 else times - begins)
    exact = STRAIN * np.where(ct < 0.0, 4.0 * times, moves(ct))
    assert times[-1] == pytest.approx(begins + 8 / C)
    assert np.abs(u - exact).max() < 0.03 * np.abs(exact).max()


def test_sudden_loads_act_from_the_start_of_a_chain_of_motions(tmp_path):
    """The first of two motions is the same with the second one as without it."""
    steps = step("*DYNAMIC, DIRECT\n1e-4, 1e-3", "*CLOAD", "RIGHT, 2, 1.0") + step("*DYNAMIC, DIRECT\n1e-4, 1e-3")
    imported = import_deck(write(tmp_path, bar(cells=(2, 1, 1)) + steps), tmp_path / "out")
    alone, chained = (sx.Scenario.read(imported.scenarios[k]).build() for k in (1, 2))
    times = np.linspace(0.0, 1e-3, 6)
    expected, found = ([m.q for m in sx.march(p.system, p.integrator, p.state, times)] for p in (alone, chained))
    largest = np.abs(expected[-1] - alone.mesh.points).max()
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-9 * largest + 1e-15)


@pytest.mark.parametrize(
    ("procedure", "change", "why"),
    [
        ("*DYNAMIC, DIRECT\n1e-4, 1e-3", "*BOUNDARY\nRIGHT, 3", "holds other nodes"),
        ("*DYNAMIC, EXPLICIT\n1e-4, 1e-3", "", "whose masses differ"),
    ],
)
def test_motions_that_cannot_be_stages_are_refused(tmp_path, procedure, change, why):
    text = bar() + step("*DYNAMIC, DIRECT\n1e-4, 1e-3", *PULL) + step(procedure, change)
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    assert [*imported.scenarios] == [1]
    assert why in missed(imported)[0]


# -- anisotropic elasticity ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "elastic",
    [
        "*ELASTIC, TYPE=ENGINEERING CONSTANTS\n60e9, 30e9, 10e9, 0.2, 0.3, 0.4, 9e9, 6e9,\n4e9, 293.\n",
        "*ELASTIC, TYPE=ORTHO\n{},\n4e9\n",
        "*ELASTIC, TYPE=ANISOTROPIC\n{}\n",
    ],
)
def test_an_orthotropic_bar_has_the_modulus_along_it(tmp_path, elastic):
    """The second axis of the material lies along the bar: E2, and contractions ν21 = ν12 E2/E1 and ν23."""
    material = sx.AnisotropicElastic.orthotropic((60e9, 30e9, 10e9), (0.2, 0.3, 0.4), (9e9, 6e9, 4e9), 1.0)
    D = material.tangent(np.eye(3)[None])[0]
    nine = [D[i, i, j, j] for j in range(3) for i in range(j + 1)] + [9e9, 6e9, 4e9]
    zeros = [0.0] * 15
    all_21 = [*nine[:6], *zeros[:3], nine[6], *zeros[:4], nine[7], *zeros[:5], nine[8]]
    numbers = nine[:8] if "ORTHO" in elastic else all_21
    lines = elastic.format(
        ",\n".join(", ".join(map(repr, map(float, numbers[k : k + 8]))) for k in (0, 8, 16)).rstrip(",\n ")
    )
    text = bar().replace("*ELASTIC\n200000000000.0, 0.3\n", lines)
    text = text.replace("MATERIAL=STEEL\n,", "MATERIAL=STEEL, ORIENTATION=O\n,")
    model = "*ORIENTATION, NAME=O, SYSTEM=RECTANGULAR\n0., 1., 0., 1., 0., 0.\n"  # third axis: −z
    imported = import_deck(write(tmp_path, text + model + PULLED), tmp_path / "out")
    assert not imported.missed
    u, problem = displacements(imported)
    exact = 2e6 / 30e9 * problem.mesh.points * [1.0, -0.2 * 30 / 60, -0.4]
    assert np.abs(u - exact).max() < 1e-9 * np.abs(exact).max()


@pytest.mark.parametrize(
    ("elastic", "orientation", "what"),
    [
        ("*ELASTIC, TYPE=ORTHO\n1., 2., 3.\n", "", "has 3 numbers, not 9"),
        ("*ELASTIC, TYPE=TRACTION\n1., 2., 3.\n", "", "TYPE='TRACTION' is not supported"),
        ("*ELASTIC, TYPE=ORTHO\n" + "1., " * 20 + "\n", "", "depend on temperature"),
        (
            "",
            "*ORIENTATION, NAME=O, SYSTEM=Z RECTANGULAR\n1., 0., 0., 0., 0., 1\n",
            "only orientations with SYSTEM=REC",
        ),
        ("", "*ORIENTATION, NAME=O\nDISTRIBUTED\n", "differ between elements"),
        ("", "*ORIENTATION, NAME=O\n1., 0., 0., 0., 1., 0.\n4, 90.\n", "turned about one of their axes"),
    ],
)
def test_elasticities_that_are_not_understood_are_told(tmp_path, elastic, orientation, what):
    text = bar(model=orientation)
    text = text.replace("*ELASTIC\n200000000000.0, 0.3\n", elastic) if elastic else text
    try:
        reported = missed(import_deck(write(tmp_path, text + PULLED), tmp_path / "out"))[0]
    except MeshError as error:
        reported = str(error)
    assert what in reported


# -- linear constraints --------------------------------------------------------------------------------------------


def test_equations_hold_in_the_equilibrium(tmp_path):
    """The right end moves as node 14 at its corner does, along x; a second equation is for this node alone."""
    model = "*EQUATION\n2\nRIGHT, 2, 1., 14, 2, -1.\n3\n14, 3, 1., 13, 3, -0.5,\n12, 3, -0.25\n"
    text = bar(model=model) + step("*STATIC", "*CLOAD", "14, 2, 1000.", "13, 3, 500.")
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    assert not imported.missed
    u, problem = displacements(imported)
    place = {number: k for k, number in enumerate(imported.numbers.tolist())}
    end = problem.mesh.nodes_of("part.RIGHT")
    size = np.abs(u).max()
    assert np.ptp(u[end, 1]) < 1e-5 * size
    assert abs(u[place[14], 2] - 0.5 * u[place[13], 2] - 0.25 * u[place[12], 2]) < 1e-5 * size


TIED = """*NODE
1001, 4., 0.1, 0.1
1002, 4., 0.9, 0.1
1003, 4., 0.9, 0.9
1004, 4., 0.1, 0.9
1005, 5., 0.1, 0.1
1006, 5., 0.9, 0.1
1007, 5., 0.9, 0.9
1008, 5., 0.1, 0.9
*ELEMENT, TYPE=C3D8, ELSET=BAR
1001, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008
*SURFACE, NAME=SLAVE
1001, S1
*SURFACE, NAME=MASTER
END, S4
*TIE, NAME=T
SLAVE, MASTER
"""


def test_tied_nodes_follow_the_faces_that_they_are_on(tmp_path):
    """A block is tied to the end of the bar; stretched by the bar's lateral contraction alone it strains as the end."""
    text = bar(model=TIED) + step("*STATIC", "*CLOAD", "1005, 1, 5e4", "1006, 1, 5e4", "1007, 1, 5e4", "1008, 1, 5e4")
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    assert not imported.missed
    u, problem = displacements(imported)
    place = {number: k for k, number in enumerate(imported.numbers.tolist())}
    # Node 1001 lies in the face between the nodes of the end with y and z of 0 and 0.5, at (0.1, 0.1).
    x = problem.mesh.points
    weights = np.zeros(len(x))
    for y, wy in ((0.0, 0.8), (0.5, 0.2)):
        for z, wz in ((0.0, 0.8), (0.5, 0.2)):
            weights[np.flatnonzero(np.abs(x - [4.0, y, z]).max(axis=1) < 1e-9)] = wy * wz
    assert weights.sum() == pytest.approx(1.0)
    assert np.abs(u[place[1001]] - weights @ u).max() < 1e-6 * np.abs(u).max()


@pytest.mark.parametrize(
    ("model", "forces"),
    [
        ("*RIGID BODY, NSET=RIGHT, REF NODE=2001, ROT NODE=2002\n", ("2001, 2, 10.", "2002, 1, 40.")),
        ("*SURFACE, NAME=S, TYPE=NODE\nRIGHT\n*COUPLING, REF NODE=2001, SURFACE=S\n*KINEMATIC\n1, 3\n", None),
    ],
)
def test_rigid_ends_move_with_the_rotation_of_their_reference_node(tmp_path, model, forces):
    """The torque 40 N m and the force 10 N at a reference node beyond the end, by both keywords."""
    model = "*NODE\n2001, 5., 0.5, 0.5\n2002, 5., 0.5, 0.5\n" + model
    forces = forces or ("2001, 2, 10.", "2001, 4, 40.")
    text = bar(model=model) + step("*STATIC", "*CLOAD", *forces)
    imported = import_deck(write(tmp_path, text.replace("LEFT, 1\n", "LEFT, 1, 3\n")), tmp_path / "out")
    assert not imported.missed
    problem = sx.Scenario.read(imported.scenarios[1]).build()
    points = problem.mesh.points
    u = problem.state.q - points
    end = problem.mesh.nodes_of("part.RIGHT")
    turn = "turn_1" if "COUPLING" in model else "node_2002"
    (reference,), (turning,) = (problem.mesh.nodes_of(name) for name in ("node_2001", turn))
    rigid = u[reference] + np.cross(u[turning], points[end] - points[reference])
    assert np.abs(u[end] - rigid).max() < 1e-4 * np.abs(u).max()
    # The work of the forces is twice the strain energy: the moment is one about the reference node.
    work = 10.0 * u[reference, 1] + 40.0 * u[turning, 0]
    stored = sum(e.total(problem.state.q) for n, e in problem.system.energies.items() if not n.startswith("force"))
    assert stored == pytest.approx(0.5 * work, rel=1e-6)


def test_a_rigid_body_needs_no_reference_node(tmp_path):
    """Its first node is one; the end moves as it does with a node elsewhere."""
    found = []
    for where in ("", ", REF NODE=2001", ", ROT NODE=2002"):
        text = bar(model=f"*NODE\n2001, 5., 0.5, 0.5\n2002, 5., 0.5, 0.5\n*RIGID BODY, NSET=RIGHT{where}\n")
        text = text.replace("LEFT, 1\n", "LEFT, 1, 3\n") + step("*STATIC", "*CLOAD", "RIGHT, 2, 1e4")
        imported = import_deck(write(tmp_path, text), tmp_path / "out", overwrite=True)
        assert not imported.missed, imported.report()
        u, problem = displacements(imported)
        found.append(u[problem.mesh.nodes_of("part")])
    for other in found[1:]:
        assert np.abs(found[0] - other).max() < 1e-4 * np.abs(found[0]).max()


@pytest.mark.parametrize("given", ["\n1e-6, 1e-5, 4e-4", "\n1e-6, 1e-5\n*FIXED MASS SCALING, TYPE=BELOW MIN, DT=4e-4"])
def test_masses_are_scaled_in_explicit_steps(tmp_path, given):
    text = bar() + step("*DYNAMIC, EXPLICIT" + given, "*CLOAD", "RIGHT, 1, 1e4")
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    assert not imported.missed, imported.report()
    scenario = sx.Scenario.read(imported.scenarios[1])
    assert scenario.tables.mass_scaling.dt == 4e-4
    assert scenario.build().system.mass.sum() > 1.01 * 4.0 * 7800.0


def test_frequencies_take_the_place_of_a_static_procedure(tmp_path):
    text = bar() + step("*STATIC\n*FREQUENCY", "3")
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    assert "asks for 3 natural frequencies" in imported.scenarios[1].read_text()
    assert any("*STATIC and *FREQUENCY" in remark for remark in imported.remarks)


def test_rigid_elements_and_equations_of_rotations(tmp_path):
    """A rigid last row of elements turns with its reference node; the rotation of a second one is half of that."""
    nodes = "*NODE\n2001, 5., 0.5, 0.5\n2002, 5., 0.5, 0.5\n2003, -1., 0.5, 0.5\n"
    rigid = "*RIGID BODY, ELSET=END, REF NODE=2001\n*SURFACE, NAME=S, TYPE=NODE\nLEFT\n"
    coupled = "*COUPLING, REF NODE=2003, SURFACE=S\n*KINEMATIC\n1, 3\n*EQUATION\n2\n2003, 4, 2., 2001, 4, -1.\n"
    text = bar(model=nodes + rigid + coupled).replace("LEFT, 1\nORIGIN, 1, 3\nEDGE, 3\n", "2003, 1, 3\n2003, 5, 6\n")
    imported = import_deck(write(tmp_path, text + step("*STATIC", "*CLOAD", "2001, 4, 40.")), tmp_path / "out")
    assert not imported.missed, imported.report()
    problem = sx.Scenario.read(imported.scenarios[1]).build()
    points = problem.mesh.points
    u = problem.state.q - points
    (reference,), (turn,), (other,) = (problem.mesh.nodes_of(name) for name in ("node_2001", "turn_1", "turn_2"))
    end = np.flatnonzero((points[:, 0] >= 3.0) & (points[:, 0] <= 4.0))
    rigid_motion = u[reference] + np.cross(u[turn], points[end] - points[reference])
    assert np.abs(u[end] - rigid_motion).max() < 1e-4 * np.abs(u).max()
    assert u[turn, 0] > 0.0
    assert u[other, 0] == pytest.approx(0.5 * u[turn, 0], rel=1e-4)


def test_a_support_oblique_to_the_axes_lets_nodes_slide(tmp_path):
    model = "*TRANSFORM, NSET=RIGHT\n1., 1., 0., -1., 1., 0.\n"
    text = bar(model=model) + step("*STATIC", "*BOUNDARY", "RIGHT, 1", "*CLOAD", "RIGHT, 2, -1e3")
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    assert not imported.missed
    u, problem = displacements(imported)
    end = problem.mesh.nodes_of("part.RIGHT")
    assert np.abs(u[end] @ [1.0, 1.0, 0.0]).max() < 1e-5 * np.abs(u).max()
    assert np.abs(u[end] @ [1.0, -1.0, 0.0]).min() > 0.1 * np.abs(u).max()


@pytest.mark.parametrize(
    ("model", "what"),
    [
        ("*EQUATION\n2\n10, 1, 1.\n", "an equation of 2 terms has 3 entries, not 6"),
        ("*EQUATION\nmany\n10, 1, 1.\n", "'many' stands where the number of terms"),
        ("*EQUATION\n1\n10, 7, 1.\n", "degree of freedom 7 is not supported"),
        ("*EQUATION\n2\nRIGHT, 1, 1., LEFT, 1, -1.\n", "between several sets"),
        ("*EQUATION\n1\n10, 1, 0.\n", "an equation has no factors"),
        ("*EQUATION\n2\n10, 1, 1., NOBODY, 1, 1.\n", "there is no set 'NOBODY'"),
        ("*TIE, NAME=T\nA, B\n", "'B' is no surface"),
        ("*KINEMATIC\n1, 3\n", "outside of a \\*COUPLING"),
        ("*RIGID BODY, REF NODE=10\n", "needs an NSET or ELSET"),
        ("*EQUATION\n2\n10, 11, 1., 11, 11, -1.\n", "an equation of temperatures; heat is not computed"),
        ("*EQUATION\n2\n10, 4, 1., 11, 4, -1.\n", "an equation has a rotation of node 10, which has none"),
    ],
)
def test_constraints_that_are_not_understood_are_told(tmp_path, model, what):
    try:
        reported = missed(import_deck(write(tmp_path, bar(model=model) + PULLED), tmp_path / "out"))[0]
    except MeshError as error:
        reported = str(error)
    assert re.search(what, reported), reported


# -- documentation ------------------------------------------------------------------------------------------------


def test_the_tables_of_elements_and_keywords_are_documented():
    text = PAGE.read_text("utf-8")
    assert [name for name, table in tables().items() if table not in text] == []


def test_keywords_are_spelt_without_spaces():
    assert all(name == name.upper().replace(" ", "") for name in KEYWORDS)


# -- every line counts --------------------------------------------------------------------------------------------


def imported_or_refused(tmp_path, text, **how):
    """Return what is said of a deck, and the scenarios that were made of it."""
    try:
        imported = import_deck(write(tmp_path, text), tmp_path / "out", overwrite=True, **how)
    except MeshError as error:
        return str(error), {}
    return imported.report(), imported.scenarios


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("*SOLID SECTION, ELSET=BAR", "*SOLID SECTION, ELSET=END", "element 1 has no section, nor have 11 others"),
        ("*END STEP\n", "*END STEP\n*ELASTIC\n1e9, .3\n", "*ELASTIC: it must be before the first *STEP"),
        ("*STATIC\n", "*STATIC\n*DENSITY\n1.\n", "*DENSITY: it must be before the first *STEP"),
        ("*END STEP\n", "*END STEP\n*BOUNDARY\nRIGHT, 1\n", "*BOUNDARY: it must be before the first *STEP, or inside"),
        ("*STEP\n", "*CLOAD\nRIGHT, 1, 1.\n*STEP\n", "*CLOAD: it must be inside a *STEP"),
        (
            "*BOUNDARY\n",
            "*MATERIAL, NAME=steel\n*ELASTIC\n1e9, .3\n*BOUNDARY\n",
            "a second material 'steel'; the first",
        ),
        ("*DENSITY\n", "*ELASTIC\n1e9, 0.3\n*DENSITY\n", "a second elasticity of the material; the first"),
        ("*DENSITY\n", "*HYPERELASTIC, NEO HOOKE\n1e6, 1e-8\n*DENSITY\n", "a second elasticity of the material"),
        ("*STEP\n", 2 * "*AMPLITUDE, NAME=A\n0., 1., 2., 3.\n" + "*STEP\n", "a second amplitude 'A'; the first is in"),
        ("*STEP\n", "*COUPLING, REF NODE=10, SURFACE=S\n*STEP\n", "it has no *KINEMATIC or *DISTRIBUTING"),
        ("*END STEP\n", "", "it has no *END STEP"),
        ("*NODE, NSET=ALL, ", "x\n*NODE, NSET=ALL, ", "line 2: a line before the first keyword"),
        ("END, P4, -2.0e6", "END, P4, -2.0e6, 7.", "'7.' is not known; there are 3 entries in a line at most"),
    ],
)
def test_what_would_act_elsewhere_or_be_left_out_is_refused(tmp_path, old, new, what):
    text = (bar() + PULLED).replace("*HEADING\nA bar\n", "").replace("*NODE, NSET=ALL", "*NODE, NSET=ALL, ")
    assert old in text
    reported, scenarios = imported_or_refused(tmp_path, text[::-1].replace(old[::-1], new[::-1], 1)[::-1])
    assert what in reported
    after = new.startswith("*END STEP")  # which the step before does not see
    assert bool(scenarios) == after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("*NODE, NSET=ALL\n", "*NODE, NSET=ALL,\n"),
        ("*NODE, NSET=ALL\n", "*NODE,\nNSET=ALL\n"),
        ("*NODE, NSET=ALL\n", "*NODE,, NSET=ALL, ,\n"),
        ("*STATIC\n", "*STATIC,\n"),
        ("*ELASTIC\n", "*ELASTIC, TYPE=ISO,\n"),
        ("*HEADING\n", "*HEADING,\n"),
        ("*HEADING\nA bar\n", "*HEADING,\nA bar\nof E = 200 GPa\n"),
        ("*DLOAD\n", "*DLOAD, AMPLITUDE=\n"),
        ("*STATIC\n", "*STATIC, SOLVER=\n"),
        ("MATERIAL=STEEL\n", "MATERIAL=STEEL, ORIENTATION=,\n"),
        ("*NODE, NSET=ALL\n", "*NSET, NSET=ALL, GENERATE\n10, 54\n*NODE, NSET=\n"),
        ("*BOUNDARY\n", "*BOUNDARY, TYPE=, OP=\n"),
        ("*BOUNDARY\n", "*BOUNDARY, FIXED\n"),
    ],
)
def test_a_comma_at_the_end_of_a_keyword_does_not_swallow_data(tmp_path, old, new):
    one = import_deck(write(tmp_path, bar() + PULLED), tmp_path / "one")
    other = import_deck(write(tmp_path, (bar() + PULLED).replace(old, new, 1)), tmp_path / "other")
    assert not other.missed
    assert tables_of(one) == tables_of(other)
    assert one.mesh.read_text() == other.mesh.read_text()


def test_parameters_without_a_value_go_on_in_the_next_line(tmp_path):
    text = bar().replace("*ELSET, ELSET=END\n", "*ELSET, ELSET=SOME,\nGENERATE\n1, 3\n*ELSET, ELSET=END\n")
    imported = import_deck(write(tmp_path, text + PULLED), tmp_path / "out")
    assert sx.read_mesh(imported.mesh).cell_groups["SOME"]["hexahedron"].tolist() == [0, 1, 2]


def test_unknown_keywords_are_left_out_and_listed_without_strict(tmp_path):
    text = bar(model="*SENSOR, NAME=A\n7.\n") + PULLED
    imported = import_deck(write(tmp_path, text), tmp_path / "out", strict=False)
    assert [*imported.scenarios] == [1]
    assert "*SENSOR: it is not supported" in imported.report()
    assert imported.account.listed()
    reported, scenarios = imported_or_refused(
        tmp_path, bar() + PULLED.replace("*DLOAD", "*DLOAD\nEND, HYDRO, 1."), strict=False
    )
    assert "loads 'HYDRO' are not supported" in reported  # it is known, and cannot be
    assert not scenarios


def test_the_reason_for_a_missing_mesh_is_the_real_one(tmp_path):
    text = "*SENSOR\n" + bar().replace("TYPE=C3D8", "TYPE=XYZ8")
    reported, _ = imported_or_refused(tmp_path, text + PULLED)
    assert "*ELEMENT: elements 'XYZ8' are not supported" in reported
    assert "SENSOR" not in reported
    reported, _ = imported_or_refused(tmp_path, bar(model="*NGEN\n1, 2\n") + PULLED)
    assert "it uses *NGEN, which is not supported" in reported


def test_a_mistake_outside_of_the_mesh_leaves_the_mesh(tmp_path):
    imported = import_deck(write(tmp_path, bar() + PULLED.replace("-2.0e6", "much")), tmp_path / "out")
    assert imported.mesh.exists()
    assert not imported.scenarios


def test_units_that_no_solid_has_are_refused(tmp_path):
    inch = bar(young=29e6, density=7.35e-4) + PULLED  # lbf, in, s
    reported, _ = imported_or_refused(tmp_path, inch, units="mm-t-s")
    assert "7.35e+08 kg/m³, heavier than any solid. A deck does not state its units: give --units in-lbf-s" in reported
    reported, scenarios = imported_or_refused(tmp_path, inch, units="mm-t-s", strict=False)
    assert "heavier than any solid" in reported
    assert scenarios
    reported, _ = imported_or_refused(tmp_path, bar(density=7.8) + PULLED)
    assert "a speed of sound of 1.6e+05 m/s, which no solid has" in reported


SECRET = "hush:x:0:0:O'Neil:/hush:/bin/sh"


@pytest.mark.parametrize(
    "before",
    [
        "*NODE", "*ELEMENT, TYPE=C3D8", "*NSET, NSET=A", "*ELSET, ELSET=A, GENERATE", "*SURFACE, NAME=A",
        "*ELASTIC", "*MATERIAL, NAME=B", "*BOUNDARY", "*AMPLITUDE, NAME=A", "*MPC", "*EQUATION",
        "*TRANSFORM, NSET=LEFT",
        "*ORIENTATION, NAME=A", "*TIE, NAME=T", "*INITIAL CONDITIONS, TYPE=VELOCITY", "*STEP\n*STATIC\n*DLOAD",
        "*STEP\n*STATIC\n*CLOAD", "*STEP\n*STATIC\n*DSLOAD", "*STEP\n*DYNAMIC", "*STEP\n*FREQUENCY",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "secret", [SECRET, f"*{SECRET}", f"*ELEMENT, TYPE={SECRET}", f"RIGHT, {SECRET}", f"{SECRET}, 1, 2"]
)
def test_included_files_are_not_quoted(tmp_path, before, secret):
    (tmp_path / "passwd").write_text(secret + "\n")
    text = bar(cells=(1, 1, 1)) + f"{before}\n*INCLUDE, INPUT=passwd\n"
    reported, _ = imported_or_refused(tmp_path, text)
    assert not any(word in reported for word in ("hush", "Neil", "/sh", "HUSH", "NEIL")), reported
    with contextlib.suppress(MeshError):
        reported = "".join(sx.read_mesh(tmp_path / "bar.inp").unknown)
        assert "hush" not in reported.lower()


# -- what is written before steps are tried -----------------------------------------------------------------------

LOOSE = step("*STATIC", "*BOUNDARY, OP=NEW", "*CLOAD", "RIGHT, 1, 1.0")  # nothing holds the bar


def test_meshes_of_results_have_the_numbers_of_the_deck(tmp_path):
    imported = import_deck(write(tmp_path, bar() + PULLED), tmp_path / "out")
    mesh = sx.Scenario.read(imported.scenarios[1]).build().mesh
    assert mesh.point_numbers is not None
    assert np.array_equal(mesh.point_numbers, imported.numbers)
    deck = sx.read_mesh(tmp_path / "bar.inp")
    assert deck.point_numbers is not None
    assert deck.point_numbers.tolist() == [*range(10, 55)]
    for number, cell in zip(mesh.cell_numbers["hexahedron"], mesh.cells["hexahedron"], strict=True):
        nodes = deck.cells["hexahedron"][deck.cell_numbers["hexahedron"] == number][0]
        assert np.array_equal(mesh.point_numbers[cell], deck.point_numbers[nodes])
    assert mesh.cell_numbers["quad"].min() > 16  # faces under a load, which the deck has no numbers for
    both = sx.merge({"a": deck, "b": sx.box((1.0, 1.0, 1.0), (1, 1, 1), split="hexahedra")})
    assert both.cell_numbers["hexahedron"].tolist() == [*deck.cell_numbers["hexahedron"], 0]
    assert both.point_numbers is not None
    assert both.point_numbers[45:].tolist() == [0] * 8


def test_mesh_and_scenario_are_written_before_the_scenario_is_tried(tmp_path):
    lines = []
    imported = import_deck(write(tmp_path, bar() + LOOSE), tmp_path / "out", progress=lines.append)
    mesh, scenario = tmp_path / "out" / "bar.mesh.inp", tmp_path / "out" / "bar.toml"
    assert lines == [f"{mesh}: 45 nodes", f"{scenario}: step 1"]
    assert mesh.exists()
    assert scenario.exists()
    assert not imported.scenarios
    assert "its scenario is refused" in str(imported.reasons[0])


def test_scenarios_are_tried_within_a_limit(tmp_path):
    path = write(tmp_path, bar() + PULLED)
    imported = import_deck(path, tmp_path / "short", limit=1e-9)
    assert [*imported.scenarios] == [1]
    assert "bar.toml was not tried to its end within 1e-09 s" in imported.report()
    imported = import_deck(write(tmp_path, bar() + LOOSE), tmp_path / "none", limit=0.0)
    assert [*imported.scenarios] == [1]
    with pytest.raises(InvalidArgument, match="limit must not be negative"):
        import_deck(path, tmp_path / "negative", limit=-1.0)


def test_the_mesh_is_written_whatever_is_not_understood(tmp_path):
    with pytest.raises(MeshError, match=r"40000 kg/m³, heavier than any solid. .*--units"):
        import_deck(write(tmp_path, bar(density=4e4) + PULLED), tmp_path / "heavy")
    assert len(sx.read_mesh(tmp_path / "heavy" / "bar.mesh.inp").points) == 45
    lines = "*NODE\n1, 0., 0., 0.\n2, 1., 0., 0.\n3, 2., 0., 0.\n*ELEMENT, TYPE=GAPUNI, ELSET=G\n7, 1, 2\n9, 2, 3\n"
    imported = import_deck(write(tmp_path, "*SENSOR\n" + lines + step("*STATIC")), tmp_path / "lines")
    assert len(sx.read_mesh(imported.mesh, require_volume=False).cells["line"]) == 2
    assert "has no volume cells such as tetrahedra; it has 2 line" in str(imported.reasons[0])
    assert "elements 'GAPUNI' cannot be computed with" in str(imported.reasons[0])


def test_the_first_reason_is_one_that_refuses_the_step(tmp_path):
    text = bar(model="*SENSOR, NAME=A\n") + PULLED.replace("*DLOAD", "*DLOAD\nEND, HYDRO, 1.")
    path = write(tmp_path, text)
    assert "*SENSOR" in str(import_deck(path, tmp_path / "strict").reasons[0])
    loose = import_deck(path, tmp_path / "loose", strict=False)
    assert [one.keyword for one in loose.reasons] == ["DLOAD"]
