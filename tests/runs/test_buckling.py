"""Linear buckling of scenarios: what is multiplied, what stays, and the folder of results."""

import json

import numpy as np
import pytest

from symplex.commands.cli import main
from symplex.errors import NoEquilibrium, ScenarioError, SymplexError
from symplex.runs.buckling import find_buckling
from symplex.scenario.scenario import Scenario

COLUMN = """
[[body]]
name = "column"
mesh = { box = [1.0, 0.05, 0.04], cells = [16, 1, 1], split = "hexahedra" }
material = { young = 1e9, poisson = 0.0, density = 1000, law = "saint-venant-kirchhoff" }
[[support]]
body = "column"
group = "x_min"
[[load]]
name = "push"
kind = "nodal"
body = "column"
group = "x_max"
force = [-0.25, 0, 0]
history = { kind = "ramp", duration = 1.0 }
[integrator]
kind = "static"
dt = 1.0
[run]
duration = 1.0
"""
STAYS = """
[[load]]
name = "stays"
kind = "nodal"
body = "column"
group = "x_max"
force = [-25, 0, 0]
"""
EULER = np.pi**2 * 1e9 * 0.05 * 0.04**3 / 12.0 / 4.0


def test_a_column_and_its_folder(tmp_path, capsys):
    (tmp_path / "column.toml").write_text(COLUMN)
    assert main(["buckling", str(tmp_path / "column.toml"), "--output", str(tmp_path / "out"), "--no-pictures"]) == 0
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["loads"] == ["push"]
    assert summary["factors"][0] == pytest.approx(EULER, rel=2e-3)
    assert {item.name for item in (tmp_path / "out").iterdir()} >= {"buckling.csv", "buckling.json", "shapes.vtkhdf"}
    assert main(["info", str(tmp_path / "out")]) == 0
    assert "factor of the load" in capsys.readouterr().out
    assert main(["buckling", str(tmp_path / "column.toml"), "--output", str(tmp_path / "out")]) == 2  # taken


def test_what_is_not_multiplied_stays():
    found = find_buckling(Scenario.parse(COLUMN + STAYS), 1, ["push"])
    assert found.buckling.factors[0] == pytest.approx(EULER - 100.0, rel=3e-3)
    assert "stays" in found.report()
    both = find_buckling(Scenario.parse(COLUMN + STAYS), 1)
    assert both.buckling.factors[0] == pytest.approx(EULER / 101.0, rel=2e-3)


def test_temperatures_stay_as_their_histories_multiply_them():
    text = COLUMN.replace('law = "saint', 'expansion = 1e-4, law = "saint')
    heat = '[[temperature]]\nname = "warming"\nbody = "column"\nchange = 100\n'
    heat += 'history = { kind = "ramp", duration = 1.0 }\n'
    found = find_buckling(Scenario.parse(text + STAYS.replace("-25,", "-1e-3,") + heat), 1, ["push"])
    assert found.about.state.q[:, 0].max() == pytest.approx(1.01, rel=1e-6)
    assert "with stays, temperatures" in found.report()


def test_a_support_that_moves_is_a_load():
    text = COLUMN.replace("[[load]]", "[[support]]").replace('kind = "nodal"\n', "")
    text = text.replace("force = [-0.25, 0, 0]", "displacement = [-1e-3, 0, 0]")
    found = find_buckling(Scenario.parse(text), 1)
    assert found.buckling.factors[0] * 1e-3 == pytest.approx(4.0 * np.pi**2 * 0.04**2 / 12.0, rel=3e-2)


@pytest.mark.parametrize(
    ("text", "loads", "message"),
    [
        (COLUMN, ["pull"], "there is no load 'pull'; there are: push"),
        (COLUMN.split("[[load]]")[0] + COLUMN[COLUMN.index("[integrator]") :], None, "by which it could buckle"),
        (COLUMN.replace("[-0.25", "[0.25"), None, "no positive factor up to .*: the load stiffens"),
        (COLUMN.replace("saint-venant-kirchhoff", "linear-elastic"), None, "'linear-elastic' does not buckle"),
    ],
)
def test_what_does_not_buckle_is_refused(text, loads, message):
    with pytest.raises(SymplexError, match=message) as error:
        find_buckling(Scenario.parse(text), 1, loads)
    assert isinstance(error.value, NoEquilibrium | ScenarioError | SymplexError)
