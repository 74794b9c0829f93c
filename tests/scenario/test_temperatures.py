"""The table of temperatures: constant, by formula, by file, over time; of bodies, beams, shells and trusses."""

import numpy as np
import pytest

import symplex as sx
from symplex.errors import ScenarioError

RUN = """
[integrator]
kind = "energy-momentum"
dt = 1e-5
[run]
duration = 2e-5
[start]
kind = "static"
"""
BEAM = """
[[body]]
name = "bar"
mesh = { box = [1.0, 0.1, 0.1], cells = [8, 1, 1], split = "hexahedra" }
material = { young = 2e11, poisson = 0.3, density = 7800, expansion = 1e-5 }
[[support]]
body = "bar"
group = "x_min"
components = "x"
[[support]]
body = "bar"
group = "y_min"
components = "y"
[[support]]
body = "bar"
group = "z_min"
components = "z"
"""
GIRDER = """
[[beam]]
name = "girder"
mesh = { line = 2.0, bars = 4 }
up = [0, 0, 1]
section = { area = 1e-3, I1 = 1e-6, I2 = 1e-6, J = 1e-6 }
material = { young = 2e11, poisson = 0.3, density = 7800, expansion = 1e-5 }
"""
PLATE = """
[[shell]]
name = "plate"
mesh = { plate = [1.0, 0.5], cells = [2, 1] }
thickness = 0.01
material = { young = 2e11, poisson = 0.0, density = 7800, expansion = 1e-5 }
translate = [0, 5, 0]
"""
SLIDING = BEAM + '[[support]]\nbody = "bar"\ngroup = "x_max"\ncomponents = "x"\n'


def problem(tmp_path, text):
    (tmp_path / "warm.toml").write_text(RUN + text)
    return sx.Scenario.read(tmp_path / "warm.toml").build()


def test_a_free_bar_is_longer_and_formulas_and_files_are_fields(tmp_path):
    found = problem(tmp_path, BEAM + '[[temperature]]\nbody = "bar"\nchange = 200\n')
    assert found.state.q[:, 0].max() == pytest.approx(1.0 + 2e-3, rel=1e-5)
    by_formula = BEAM + '[[temperature]]\nbody = "bar"\nchange = "400*x"\n[[temperature]]\nbody = "bar"\nchange = 50\n'
    found = problem(tmp_path, by_formula)
    strains = sx.nodal_stress(found.system, found.state, "thermal_strain")
    assert found.state.q[:, 0].max() == pytest.approx(1.0 + 2.5e-3, rel=1e-4)
    assert np.ptp(strains) == pytest.approx(4e-3 * 7 / 8, rel=1e-9)  # means of elements, averaged
    x = found.mesh.points
    rows = "".join(f"{k},{400.0 * a + 50.0!r}\n" for k, (a, _, _) in enumerate(x.tolist()))
    (tmp_path / "field.csv").write_text("node,K\n" + rows)
    by_file = problem(tmp_path, BEAM + '[[temperature]]\nbody = "bar"\nfile = "field.csv"\n')
    np.testing.assert_allclose(by_file.state.q, found.state.q, atol=1e-12)


def test_a_history_is_a_load_whose_work_is_reported(tmp_path):
    text = SLIDING + (
        '[[temperature]]\nname = "warming"\nbody = "bar"\nchange = 100\n'
        'history = { kind = "table", times = [0.0, 2e-5], factors = [0.0, 1.0] }\n'
    )
    found = problem(tmp_path, text)
    sx.simulate(found.scenario, output=tmp_path / "out", pictures=False)
    assert "work_warming" in (tmp_path / "out" / "history.csv").read_text()
    assert isinstance(found.system.loads["warming"], sx.actions.ThermalLoad)
    end = found.state
    for state in sx.march(found.system, found.integrator, found.state, [2e-5]):
        end = state
    strains = sx.stress(found.system, end, "thermal_strain")["bar"]
    np.testing.assert_allclose(strains, 1e-3, rtol=1e-9)


def test_structures_have_forces_by_temperature(tmp_path):
    found = problem(
        tmp_path,
        GIRDER
        + PLATE
        + """
[[truss]]
name = "rod"
mesh = { line = 1.0, bars = 2 }
section = 1e-3
material = { young = 2e11, density = 7800, expansion = 1e-5 }
translate = [0, 8, 0]
"""
        + "".join(
            f'[[temperature]]\nbody = "{name}"\nchange = -10\n'
            + "".join(f'[[support]]\nbody = "{name}"\n{group}' for group in groups)
            for name, groups in (
                ("girder", [""]),
                ("plate", [""]),
                ("rod", ['group = "x_min"\n', 'group = "x_max"\n']),
            )
        ),
    )
    q = found.state.q
    beam, shell = found.beams["girder"], found.shells["plate"]
    np.testing.assert_allclose(beam.structure.section_forces(beam.own(q))[:, 0], 2e4, rtol=1e-3)
    for forces in shell.structure.section_forces(shell.own(q)).values():
        np.testing.assert_allclose(forces[:, :2], 2e5, rtol=1e-3)
    np.testing.assert_allclose(found.system.energies["rod"].tensions(q), 2e4, rtol=1e-3)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (BEAM.replace(", expansion = 1e-5", "") + '[[temperature]]\nbody = "bar"\nchange = 1\n', "expansion"),
        (BEAM + '[[temperature]]\nbody = "bar"\n', "needs one change of temperature"),
        (BEAM + '[[temperature]]\nbody = "bar"\nchange = "t"\n', "is not known"),
        (BEAM + '[[temperature]]\nbody = "bar"\nchange = [1]\n', "number .K. or a formula"),
        (BEAM + '[[temperature]]\nbody = "bar"\nchange = -6e4\n', "shrink by half"),
        (
            BEAM + '[[temperature]]\nname = "cooling"\nbody = "bar"\nchange = -6e4\n'
            'history = { kind = "ramp", duration = 1 }\n',
            "shrink by half",
        ),
        (GIRDER + '[[temperature]]\nbody = "girder"\nchange = -6e4\n', "shrink by half"),
        (PLATE + '[[temperature]]\nbody = "plate"\nchange = -6e4\n', "shrink by half"),
        (BEAM + '[[temperature]]\nbody = "bar"\nfile = "none.csv"\n', "cannot be read"),
        (BEAM + '[[temperature]]\nbody = "bar"\nchange = 1\nhistory = { kind = "ramp", duration = 1 }\n', "no name"),
        (
            BEAM.replace("0.3, density", "0.3, yield_stress = 2e8, density")
            + '[[temperature]]\nname = "warming"\nbody = "bar"\nchange = 1\n'
            'history = { kind = "ramp", duration = 1 }\n',
            "once for all",
        ),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, text, why):
    with pytest.raises(ScenarioError, match=why):
        problem(tmp_path, text)


def test_files_with_other_nodes_are_refused(tmp_path):
    (tmp_path / "field.csv").write_text("0,1.0\n99,2.0\n")
    with pytest.raises(ScenarioError, match=r"field.csv: there is no node 99 in 'bar'"):
        problem(tmp_path, BEAM + '[[temperature]]\nbody = "bar"\nfile = "field.csv"\n')


def test_nodes_of_a_file_are_those_of_the_body_with_a_group_and_next_to_bodies_with_numbers(tmp_path):
    found = problem(tmp_path, BEAM + '[[temperature]]\nbody = "bar"\nchange = 1\n')
    right = np.flatnonzero(found.mesh.points[:, 0] == 1.0)
    (tmp_path / "field.csv").write_text("".join(f"{node},40\n" for node in right))
    (tmp_path / "other.inp").write_text(
        "*NODE\n" + "".join(f"{k + 5}, {9 + x}, {y}, {z}\n" for k, (x, y, z) in enumerate(np.ndindex(2, 2, 2)))
        + "*ELEMENT, TYPE=C3D4\n1, 5, 9, 7, 6\n2, 12, 11, 10, 8\n"
    )  # fmt: skip
    other = '[[body]]\nname = "other"\nmesh = "other.inp"\nmaterial = { young = 1e9, poisson = 0.3, density = 1 }\n'
    table = '[[temperature]]\nbody = "bar"\nfile = "field.csv"\ngroup = "x_max"\n'
    held = '[[support]]\nbody = "other"\n'
    found = problem(tmp_path, other + held + BEAM + table)
    strain = found.system.energies["bar"].thermal_strain
    first = found.mesh.nodes_of("bar")[0]
    np.testing.assert_array_equal(np.flatnonzero(strain), first + right)
    (tmp_path / "field.csv").write_text(f"{right[0]},40\n{right[0]},50\n")
    with pytest.raises(ScenarioError, match=f"field.csv: node {right[0]} is given twice"):
        problem(tmp_path, BEAM + table)
    (tmp_path / "field.csv").write_text("0,40\n")
    with pytest.raises(ScenarioError, match="no node 0 in group 'x_max' of 'bar'"):
        problem(tmp_path, BEAM + table)
