"""Metals of decks flow along the path of all static steps, as closed forms say."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest

import symplex as sx
from reference.decks_written import bar, step, write
from symplex.decks import import_deck
from symplex.fem.solids.plastic import LOCKING
from symplex.runs.plausibility import doubts

E, NU, Y, H = 200e9, 0.3, 400e6, 2e9
METAL = f"*PLASTIC\n{Y!r}, 0.\n{Y + H!r}, 1.\n"


def pulled(u, more=""):
    return step(f"*STATIC, DIRECT\n{more or '0.1, 1.'}", "*BOUNDARY", f"RIGHT, 1, 1, {u!r}", parameters=", NLGEOM")


def end_of(imported, number=1):
    scenario = sx.Scenario.read(imported.scenarios[number])
    problem = scenario.build()
    motion = problem.integrator.start(problem.system, problem.state)
    return problem, motion.advance(scenario.tables.run.duration)


def tables_of(imported, number=1):
    return tomllib.loads(imported.scenarios[number].read_text())


def missed(imported):
    return [str(miss) for miss in imported.missed]


@pytest.mark.parametrize("kind", ["C3D8", "C3D8R", "C3D8I"])
def test_a_bar_of_metal_is_pulled_and_pushed_back_through_two_steps(tmp_path, kind):
    # 2 % and back to 1 %: with the logarithmic strain, tau = Y + H alpha forwards, and elastic backwards.
    text = bar((2, 1, 1), kind=kind, model=METAL) + pulled(0.08) + pulled(0.078)
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    assert not imported.missed
    first, second = tables_of(imported), tables_of(imported, 2)
    assert first["integrator"] == {"kind": "static", "dt": 0.1}
    assert (first["run"]["duration"], second["run"]["duration"]) == (1.0, 2.0)
    assert "start" not in first
    alpha = (E * np.log1p(0.02) - Y) / (E + H)
    for number, length in ((1, 0.08), (2, 0.078)):
        problem, end = end_of(imported, number)
        part = problem.system.inelastic["part"]
        assert end.internal["part"][..., 6] == pytest.approx(alpha, rel=1e-9)
        tau = E * (np.log1p(length / 4.0) - alpha)
        J = np.exp(tau / (3.0 * E / (3.0 * (1.0 - 2.0 * NU))))
        assert part.cauchy(end.q, end.internal["part"])[:, 0, 0] == pytest.approx(tau / J, rel=1e-8)


def test_loads_follow_amplitudes_of_each_step_and_last(tmp_path):
    model = METAL + "*AMPLITUDE, NAME=UP\n0., 0., 0.5, 1., 1., 0.5\n"
    first = step("*STATIC\n0.25, 1.", "*CLOAD, AMPLITUDE=UP", "RIGHT, 1, 8e7", "*DLOAD", "END, P4, -1e8")
    second = step("*STATIC\n0.25, 1.", "*CLOAD", "RIGHT, 1, 2e7")
    imported = import_deck(write(tmp_path, bar(model=model) + first + second), tmp_path / "out")
    force, pressure = tables_of(imported, 2)["load"]
    assert force["history"]["times"] == [0.0, 0.5, 1.0, 2.0]
    assert np.multiply(force["history"]["factors"], force["force"][0]) == pytest.approx([0.0, 8e7, 4e7, 2e7])
    assert pressure["history"]["factors"] == [0.0, 1.0, 1.0]
    assert any("without NLGEOM" in remark for remark in imported.remarks)


def test_removed_loads_fall_to_zero(tmp_path):
    text = bar(model=METAL) + step("*STATIC", "*DLOAD", "END, P4, -1e8") + step("*STATIC", "*DLOAD, OP=NEW")
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    (load,) = tables_of(imported, 2)["load"]
    assert load["history"] == {"kind": "table", "times": [0.0, 1.0, 2.0], "factors": [0.0, 1.0, 0.0]}


def test_motions_of_metals_begin_at_rest(tmp_path):
    text = bar((2, 1, 1), model=METAL) + step("*DYNAMIC\n5e-5, 1e-3", "*DLOAD", "END, P4, -6e8", parameters=", NLGEOM")
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    assert not imported.missed
    assert tables_of(imported)["body"][0]["material"]["yield_table"] == [[0.0, Y], [1.0, Y + H]]
    _, end = end_of(imported)
    assert end.internal["part"][..., 6].max() > 1e-4


@pytest.mark.parametrize(
    ("metal", "steps", "why"),
    [
        ("*PLASTIC, HARDENING=JOHNSON COOK\n2e8,1e9,.66,0.77,1500.,300.\n", pulled(0.1), "softening by temperature"),
        ("*PLASTIC, HARDENING=USER\n4e8, 0.\n", pulled(0.1), "HARDENING='USER'"),
        ("*PLASTIC, HARDENING=KINEMATIC\n4e8, 0.\n5e8, .1\n5e8, .2\n", pulled(0.1), "more than two points"),
        ("*PLASTIC, HARDENING=COMBINED, NUMBER BACKSTRESSES=2\n4e8, 0.\n", pulled(0.1), "several back stresses"),
        ("*PLASTIC, RATE=1.0\n4e8, 0.\n", pulled(0.1), "one of several rates"),
        (METAL + "*RATE DEPENDENT, TYPE=YIELD RATIO\n1., 0.\n", pulled(0.1), "TYPE='YIELDRATIO'"),
        ("*PLASTIC\n4e8, 0., 20.\n3e8, 0., 100.\n", pulled(0.1), "depend on temperature"),
        ("*PLASTIC\n4e8, 0., 20., 3.\n", pulled(0.1), "depend on the rate"),
        ("*PLASTIC\n4e8, 0.\n3e8, 0.1\n", pulled(0.1), "softening depends on the mesh"),
        (METAL, pulled(0.1) + step("*DYNAMIC\n1e-5, 1e-4"), "its metal flows"),
        (METAL, pulled(0.1) + step("*STATIC", "*BOUNDARY", "RIGHT, 2"), "holds other nodes"),
    ],
)
def test_what_a_metal_cannot_do_is_refused_in_a_sentence(tmp_path, metal, steps, why):
    imported = import_deck(write(tmp_path, bar((2, 1, 1), model=metal) + steps), tmp_path / "out")
    assert any(why in one for one in missed(imported)), missed(imported)


def test_a_metal_whose_elasticity_differs_by_direction_is_refused(tmp_path):
    text = bar((2, 1, 1), model=METAL) + pulled(0.1)
    lines = text.split("\n")
    at = lines.index("*ELASTIC")
    lines[at : at + 2] = ["*ELASTIC, TYPE=ENGINEERING CONSTANTS", "2e11,2e11,2e11,.3,.3,.3,8e10,8e10,", "8e10"]
    imported = import_deck(write(tmp_path, "\n".join(lines)), tmp_path / "out")
    assert any("elasticity must be isotropic" in one for one in missed(imported))


@pytest.mark.parametrize(
    ("metal", "keys"),
    [
        ("*PLASTIC, HARDENING=KINEMATIC\n4e8, 0.\n5e8, .1\n", {"yield_table": [[0.0, 4e8]], "back_modulus": 1e9}),
        (
            "*PLASTIC, HARDENING=COMBINED\n4e8, 0.\n5e8, .1\n*CYCLIC HARDENING\n4e8, 0.\n6e8, .5\n",
            {"yield_table": [[0.0, 4e8], [0.5, 6e8]], "back_modulus": 1e9},
        ),
        (
            "*PLASTIC, HARDENING=COMBINED, DATA TYPE=PARAMETERS, NUMBER BACKSTRESSES=1\n4e8, 2e10, 300.\n"
            "*CYCLIC HARDENING, PARAMETERS\n4e8, 1e8, 9.\n",
            {
                "yield_stress": 4e8,
                "saturation_stress": 5e8,
                "saturation_rate": 9.0,
                "back_modulus": 2e10,
                "recovery": 300.0,
            },
        ),
        (
            "*PLASTIC, HARDENING=JOHNSON COOK\n2e8,1e9,.66,0.77\n*RATE DEPENDENT, TYPE=JOHNSON COOK\n0.03,1.\n",
            {"yield_stress": 2e8, "power_modulus": 1e9, "power": 0.66, "reference_rate": 1.0, "rate_factor": 0.03},
        ),
        (
            METAL + "*RATE DEPENDENT\n40., 5.\n",
            {"yield_table": [[0.0, Y], [1.0, Y + H]], "reference_rate": 40.0, "rate_exponent": 0.2},
        ),
    ],
)
def test_hardening_of_all_kinds(tmp_path, metal, keys):
    imported = import_deck(write(tmp_path, bar((1, 1, 1), model=metal) + pulled(0.02)), tmp_path / "out")
    assert not imported.missed
    material = tables_of(imported)["body"][0]["material"]
    assert {key: value for key, value in material.items() if key not in ("young", "poisson", "density")} == keys


def test_a_back_stress_is_that_of_the_table_in_both_directions(tmp_path):
    metal = "*PLASTIC, HARDENING=KINEMATIC\n4e8, 0.\n6e8, .1\n"
    text = bar((1, 1, 1), model=metal) + pulled(0.08) + pulled(0.04)
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    problem, end = end_of(imported, 2)
    part, z = problem.system.inelastic["part"], end.internal["part"]
    J = np.linalg.det(part.solid.deformation_gradients(end.q))
    plastic = np.log1p(0.01) - part.cauchy(end.q, z)[0, 0, 0] * J[0] / E
    assert part.cauchy(end.q, z)[0, 0, 0] * J[0] == pytest.approx(2e9 * plastic - 4e8, rel=1e-6)


@pytest.mark.parametrize(
    ("kind", "metal", "formulation"),
    [
        ("C3D8", METAL, "mean-dilatation"),
        ("C3D8R", METAL, "stabilized"),
        ("C3D8R", "*PLASTIC, HARDENING=KINEMATIC\n4e8, 0.\n5e8, .1\n", "mean-dilatation"),
    ],
)
def test_elements_of_metals_do_not_lock(tmp_path, kind, metal, formulation):
    imported = import_deck(write(tmp_path, bar((1, 1, 1), kind=kind, model=metal) + pulled(0.02)), tmp_path / "out")
    assert not imported.missed
    assert tables_of(imported)["body"][0]["formulation"] == formulation


def test_linear_tetrahedra_of_metals_are_taken_with_how_much_they_lock(tmp_path):
    imported = import_deck(write(tmp_path, bar((1, 1, 1), kind="C3D4", model=METAL) + pulled(0.02)), tmp_path / "out")
    assert not imported.missed
    assert LOCKING in imported.remarks
    told = doubts(sx.Scenario.read(imported.scenarios[1]).build())
    assert any("linear tetrahedra lock" in one and "37 %" in one for one in told)
