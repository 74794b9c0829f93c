"""Global sensitivity against Ishigami's function, whose Sobol' indices are known, and a linear one."""

import numpy as np
import pytest

import symplex as sx
from symplex.errors import OutputError, ScenarioError
from symplex.studies.indices import indices
from symplex.studies.members import Member, Sweep
from symplex.studies.values import combined

pytest.importorskip("SALib")

FALL = """
[define]
push = 1.0
speed = 0.0

[[body]]
name = "ball"
mesh = { box = [0.1, 0.1, 0.1], cells = [1, 1, 1] }
material = { young = 1e6, poisson = 0.3, density = 1000 }
velocity = [0, "=push", "=speed"]

[integrator]
kind = "newmark"
dt = 1e-4

[run]
duration = 1e-3
frames = 1
samples = 1

[[probe]]
name = "corner"
body = "ball"
points = [[0, 0, 0]]
quantities = ["velocity"]
"""
UNIFORM = f"uniform({-np.pi}, {np.pi})"


def test_sobol_indices_are_those_of_ishigamis_function():
    a, b = 7.0, 0.1
    members = combined(dict.fromkeys("xyz", UNIFORM), "grid", 1024, "saltelli", 1)
    assert len(members) == 1024 * 5
    x, y, z = (np.array([one[key] for one in members]) for key in "xyz")
    found = indices("saltelli", members, {"f": (np.sin(x) + a * np.sin(y) ** 2 + b * z**4 * np.sin(x)).tolist()})
    V = a**2 / 8 + b * np.pi**4 / 5 + b**2 * np.pi**8 / 18 + 0.5
    first = np.array([0.5 * (1 + b * np.pi**4 / 5) ** 2, a**2 / 8, 0.0]) / V
    total = first + np.array([1, 0, 1]) * 8 * b**2 * np.pi**8 / 225 / V
    for row, s1, st in zip(found, first, total, strict=True):
        assert abs(row["first_order"] - s1) < max(2 * row["first_order_95"], 0.02)
        assert abs(row["total"] - st) < max(2 * row["total_95"], 0.02)


def test_effects_of_a_linear_function_are_its_slopes():
    members = combined({"a": "uniform(1, 3)", "b": "log-uniform(1, 100)"}, "grid", 8, "morris", 0)
    assert len(members) == 8 * 3
    found = indices("morris", members, {"f": [5.0 * one["a"] - np.log10(one["b"]) for one in members]})
    assert [row["mean_effect"] for row in found] == pytest.approx([10.0, -2.0])
    assert [row["mean_size"] for row in found] == pytest.approx([10.0, 2.0])
    assert [row["deviation"] for row in found] == pytest.approx([0.0, 0.0], abs=1e-12)


def test_a_study_has_its_indices(tmp_path):
    over = {"define.speed": "uniform(-1, 1)", "define.push": "uniform(1, 2)"}
    study = sx.sweep(
        sx.Scenario.parse(FALL), over, output=tmp_path / "out", samples=2, sampling="morris", workers=0,
        quantities=["final(corner.velocity_z)"], progress=False,
    )  # fmt: skip
    speed, push = study.indices()
    assert speed["mean_effect"] == pytest.approx(2.0)  # over the range
    assert push["mean_size"] == pytest.approx(0.0, abs=1e-9)
    again = sx.studies.read_sweep(tmp_path / "out")
    assert again.indices() == study.indices()
    assert "mean effect" in again.report()
    assert (tmp_path / "out" / "indices.csv").read_text().splitlines()[0].startswith("quantity,parameter,mean_effect")


def test_what_is_no_design_is_refused(tmp_path):
    with pytest.raises(ScenarioError, match="a power of two"):
        combined({"a": "uniform(0, 1)"}, "grid", 6, "saltelli", 0)
    with pytest.raises(ScenarioError, match="b has a list"):
        combined({"a": "uniform(0, 1)", "b": [1, 2]}, "grid", 4, "morris", 0)
    with pytest.raises(OutputError, match="1 of 3 members have no number"):
        indices("morris", [{"a": 0.0, "b": 0.0}] * 3, {"f": [1.0, None, 2.0]})
    with pytest.raises(OutputError, match="1 of 3 members have no number"):
        indices("morris", [{"a": 0.0, "b": 0.0}] * 3, {"f": [1.0, np.nan, 2.0]})


def test_a_study_in_which_a_number_is_missing_has_its_table_alone(tmp_path):
    members = [Member(str(k), {"a": 0.0}, tmp_path, "finished", "", {"f": 1.0} if k else {}) for k in range(2)]
    study = Sweep(tmp_path, members, {}, "morris")
    study.write_table()
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]
    assert "1 of 2 members have no number" in study.report()
