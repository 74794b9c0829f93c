"""Tests of results in the formats of other tools."""

import json

import numpy as np
import pytest

import symplex as sx
from symplex.commands.cli import main
from symplex.errors import OutputError

TEXT = """
[[body]]
name = "block"
mesh = { box = [1.0, 1.0, 1.0], cells = [1, 1, 1] }
material = { law = "neo-hookean", young = 1e7, poisson = 0.3, density = 1000.0 }
velocity = [1.0, 0.0, 0.0]

[[probe]]
name = "corner"
body = "block"
nodes = [0]

[integrator]
kind = "newmark"
dt = 1e-3

[run]
duration = 0.01
frames = 2
samples = 4

[output]
pictures = false
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("export") / "out"
    sx.simulate(sx.Scenario.parse(TEXT, "block.toml"), path, progress=False)
    return path


@pytest.mark.parametrize("probe", [None, "corner"])
def test_tables_have_the_same_numbers_and_units_in_all_formats(folder, tmp_path, probe):
    parquet = pytest.importorskip("pyarrow.parquet")
    result = sx.read_result(folder)
    expected = result.history if probe is None else result.probes[probe]
    assert len(expected["t"]) == 5
    paths = [sx.export_result(folder, tmp_path / f"table.{end}", probe=probe) for end in ("csv", "parquet", "h5")]
    table = parquet.read_table(paths[1])
    for read in (sx.read_history(paths[0]), sx.runs.read_probe(paths[2])):
        assert list(read) == list(expected) == table.column_names
        for name, values in expected.items():
            np.testing.assert_array_equal(read[name], values)
            np.testing.assert_array_equal(table[name].to_numpy(), values)
    units = {name: column.unit for name, column in expected.columns.items()}
    assert {field.name: field.metadata[b"unit"].decode() for field in table.schema} == units
    header = paths[0].read_text().splitlines()[0].split(",")
    assert header == [f"{name} [{unit}]" if unit else name for name, unit in units.items()]


def test_frames_as_vtu_and_as_a_series_of_another_format(folder, tmp_path, capsys):
    import pyvista

    result = sx.read_result(folder)
    assert main(["export", str(folder), "--to", str(tmp_path / "middle.vtu"), "--time", "0.004"]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "middle.vtu")
    grid = pyvista.read(tmp_path / "middle.vtu")
    frame = result.frame(index=1)
    np.testing.assert_array_equal(grid.points, frame.points)
    np.testing.assert_array_equal(grid.cell_data["von_mises"], frame["von_mises"])
    again = sx.read_series(sx.export_result(result, tmp_path / "motion.pvd"))
    np.testing.assert_array_equal(again.times, result.times)
    for i in range(3):
        np.testing.assert_array_equal(again.frame(i).displacement, result.series.frame(i).displacement)


def test_what_cannot_be_exported_is_told_in_a_sentence(folder, tmp_path, monkeypatch):
    there = tmp_path / "there.csv"
    there.write_text("mine")
    with pytest.raises(OutputError, match=r"there\.csv exists already; replace it with --overwrite"):
        sx.export_result(folder, there)
    assert there.read_text() == "mine"
    assert sx.export_result(folder, there, overwrite=True).read_text().startswith("t [s],")
    (tmp_path / "motion.pvd").touch()
    cases = {
        "a.xlsx": ({}, r"exported as \.csv, .*, not '\.xlsx'"),
        "a.csv": ({"probe": "top"}, "no probe 'top'; there are corner"),
        "b.csv": ({"time": 0.0}, "a time is given, which goes with .vtu"),
        "a.vtu": ({"probe": "corner"}, "a probe is given, which goes with .csv"),
        "b.vtu": ({"time": 1.0}, "outside"),
        "motion.pvd": ({"overwrite": True}, "exists already; remove it"),
        "none/a.csv": ({}, "cannot be written"),
    }
    for name, (options, message) in cases.items():
        with pytest.raises(OutputError, match=message):
            sx.export_result(folder, tmp_path / name, **options)
    with pytest.raises(OutputError, match=r"history\.csv is a file of the run itself; choose another name"):
        sx.export_result(folder, folder / "history.csv", overwrite=True)
    next_to = tmp_path / "mine" / "model.npz"
    next_to.parent.mkdir()
    next_to.write_text("mine")
    with pytest.raises(OutputError, match=r"mine, in which the files of mine\.pvd would be, exists already"):
        sx.export_result(folder, tmp_path / "mine.pvd")
    assert next_to.read_text() == "mine"
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(OutputError, match=r"need the package pyarrow; install symplex\[parquet\]"):
        sx.export_result(folder, tmp_path / "a.parquet")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "motion.pvd", "there.csv"]
    assert json.loads((folder / "summary.json").read_text())["status"] == "finished"
