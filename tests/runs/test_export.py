"""Tests of results in the formats of other tools."""

import json

import numpy as np
import pytest

import symplex as sx
from symplex.commands.cli import main
from symplex.errors import OutputError
from symplex.meshes.midside_nodes import quadratic
from symplex.meshes.series.series import Block, open_series
from symplex.runs.frd import frd_of

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


def frd(path):
    """Return nodes, elements by type, and data by time and name, as the columns of the format have them."""
    nodes, elements, data, into = {}, [], {}, {}
    for line in path.read_text().splitlines():
        if line[:6] == "    2C":
            into = nodes
        elif line[:6] == "    3C":
            into = elements
        elif line[:6] == "  100C":
            time = float(line[12:24])
        elif line[:3] == " -4":
            into = data[time, line[5:13].strip()] = {}
        elif line[:3] == " -1" and into is elements:
            elements.append((int(line[13:18]), []))
        elif line[:3] == " -2":
            elements[-1][1].extend(int(line[k : k + 10]) for k in range(3, len(line), 10))
        elif line[:3] == " -1":
            into[int(line[3:13])] = [float(line[k : k + 12]) for k in range(13, len(line), 12)]
        else:
            assert line.split()[0].startswith(("1Csymplex", "1Cx", "1PSTEP", "-3", "-5", "9999")), line
    return nodes, elements, data


def test_frames_as_calculix_has_them(folder, tmp_path):
    result = sx.read_result(folder)
    assert main(["export", str(folder), "--to", str(tmp_path / "out.frd")]) == 0
    nodes, elements, data = frd(tmp_path / "out.frd")
    np.testing.assert_allclose([nodes[k + 1] for k in range(len(nodes))], result.series.points, atol=1e-5)
    (kind,) = result.series.blocks["block"].cells
    assert {number for number, _ in elements} == {{"tetra": 3, "hexahedron": 1}[kind]}
    expected = result.series.blocks["block"].cells[kind] + 1
    np.testing.assert_array_equal([row for _, row in elements], expected)
    for frame in result.series.frames():
        found = data[float(f"{frame.t:.5E}"), "DISP"]
        np.testing.assert_allclose([found[k + 1] for k in range(len(nodes))], frame.displacement, rtol=1e-5, atol=1e-12)
        assert len(data[float(f"{frame.t:.5E}"), "VELO"]) == len(nodes)


@pytest.mark.parametrize(("split", "base"), [("hexahedra", 4), ("wedges", 3)])
def test_quadratic_cells_have_the_order_of_calculix(tmp_path, split, base):
    """After the middles of the edges of the base come those between base and top, then those of the top."""
    mesh = sx.box((1.0, 2.0, 3.0), (1, 1, 1), split="hexahedra")
    if split == "wedges":
        cells = mesh.cells["hexahedron"]
        two = np.concatenate([cells[:, [0, 1, 2, 4, 5, 6]], cells[:, [0, 2, 3, 4, 6, 7]]])
        mesh = sx.Mesh(mesh.points, {"wedge": two})
    mesh = quadratic(mesh)
    cells = {kind: rows for kind, rows in mesh.cells.items() if kind in ("hexahedron20", "wedge15")}
    path = tmp_path / "motion.vtkhdf"
    with open_series(path, mesh.points, {"body": Block.of(cells)}) as writer:
        writer.append(0.0, np.zeros_like(mesh.points))
    (tmp_path / "out.frd").write_bytes(frd_of(sx.read_series(path), "x"))
    nodes, elements, _ = frd(tmp_path / "out.frd")
    x = {number: np.array(place) for number, place in nodes.items()}
    ring = range(base)
    pairs = [(k, (k + 1) % base) for k in ring] + [(k, k + base) for k in ring]
    pairs += [(k + base, (k + 1) % base + base) for k in ring]
    for number, row in elements:
        assert number == {4: 4, 3: 5}[base]
        for middle, (a, b) in zip(row[2 * base :], pairs, strict=True):
            np.testing.assert_allclose(x[middle], 0.5 * (x[row[a]] + x[row[b]]), atol=1e-5)


def test_cells_that_calculix_does_not_have_are_refused(tmp_path):
    path = tmp_path / "motion.vtkhdf"
    points = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]], float)
    with open_series(path, points, {"body": Block.of({"pyramid": np.arange(5, dtype=np.int32)[None]})}) as writer:
        writer.append(0.0, np.zeros_like(points))
    with pytest.raises(OutputError, match="no elements for cells of the type 'pyramid'"):
        frd_of(sx.read_series(path), "x")


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
