"""Results as arrays: what a run wrote is what is read; killed, damaged and old folders."""

import builtins
import shutil

import numpy as np
import pytest

import symplex as sx
from symplex.errors import OutputError

SCENARIO = """
[[body]]
name = "a"
mesh = { box = [0.1, 0.1, 0.1], cells = [1, 1, 1], split = "6" }
material = { young = 1e6, poisson = 0.3, density = 1000 }
velocity = [1, 0, 0]
[[body]]
name = "b"
mesh = { box = [0.1, 0.1, 0.1], cells = [1, 1, 1], split = "6" }
material = { young = 1e6, poisson = 0.3, density = 1000 }
translate = [0.0, 0.0, 0.5]
[integrator]
kind = "newmark"
[run]
duration = 1e-3
frames = 4
[output]
pictures = false
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "out"
    sx.simulate(sx.Scenario.parse(SCENARIO), folder, progress=False)
    return folder


@pytest.fixture
def copied(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "out")


def test_what_is_read(finished):
    result = sx.read_result(finished)
    assert result.status == "finished"
    assert result.scenario_text == SCENARIO
    assert result.summary["t_end"] == result.times[-1] == 1e-3
    assert "\n" not in repr(result)
    assert "<td>finished</td>" in result._repr_html_()
    assert dict(result.probes) == {}
    frame = result.frame(0.51e-3)
    assert (frame.index, frame.t) == (2, 0.5e-3)
    half = len(frame.points) // 2
    np.testing.assert_allclose(frame["displacement"][:half, 0], 0.5e-3, atol=1e-9)
    np.testing.assert_allclose(frame["displacement"][half:], 0.0, atol=1e-12)
    np.testing.assert_allclose(frame.points - frame.displacement, result.series.points, atol=1e-15)
    assert frame["von_mises"].shape == (12,)
    np.testing.assert_array_equal(frame["von_mises"][6:], frame.cell_fields["von_mises"]["b"])
    assert [one.index for one in result.frames()] == [0, 1, 2, 3, 4]
    assert result.frame().index == result.frame(index=-1).index == 4


def test_the_grid_has_all_fields(finished):
    frame = sx.read_result(finished).frame()
    grid = frame.mesh()
    np.testing.assert_allclose(grid.points, frame.points, atol=1e-7)
    assert grid.n_cells == 12
    np.testing.assert_array_equal(grid.cell_data["block"], [0] * 6 + [1] * 6)
    np.testing.assert_array_equal(grid.point_data["velocity"], frame["velocity"])
    assert abs(grid.volume - 2e-3) < 1e-6


def test_histories_as_frames_of_pandas(finished, monkeypatch):
    pytest.importorskip("pandas")
    history = sx.read_result(finished).history
    table = history.to_pandas()
    np.testing.assert_array_equal(table.index, history["t"])
    np.testing.assert_array_equal(table["total"], history["total"])
    assert table.attrs["units"]["momentum_x"] == "kg m/s"
    there = builtins.__import__

    def absent(name, *rest):
        if name == "pandas":
            raise ImportError(name)
        return there(name, *rest)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(OutputError, match=r"install symplex\[pandas\]"):
        history.to_pandas()


def test_what_is_not_there_is_told(finished, tmp_path):
    result = sx.read_result(finished)
    with pytest.raises(OutputError, match="is outside"):
        result.frame(1.0)
    with pytest.raises(OutputError, match="there is no frame 9"):
        result.frame(index=9)
    with pytest.raises(OutputError, match="not by both"):
        result.frame(0.0, index=0)
    with pytest.raises(OutputError, match="there is no field 'stres'"):
        result.frame()["stres"]
    with pytest.raises(OutputError, match="there is no results folder"):
        sx.read_result(tmp_path / "none")
    with pytest.raises(OutputError, match="not a results folder"):
        sx.read_result(tmp_path)


def test_a_run_that_was_killed_is_read_as_far_as_it_came(copied):
    (copied / "summary.json").unlink()
    text = (copied / "history.csv").read_text("utf-8")
    (copied / "history.csv").write_text(text[:-20], "utf-8")
    (copied / "motion.vtkhdf").unlink()
    result = sx.read_result(copied)
    assert result.summary == {}
    assert "killed" in result.status
    assert len(result.history["t"]) == text.count("\n") - 2
    assert "frames" not in repr(result)
    with pytest.raises(OutputError, match="does not exist"):
        result.frame()


def test_a_damaged_file_keeps_no_other_from_being_read(copied):
    (copied / "summary.json").write_text("{", "utf-8")
    (copied / "motion.vtkhdf").write_bytes(b"no frames")
    (copied / "history.json").unlink()  # as in folders of earlier versions
    result = sx.read_result(copied)
    assert result.history.columns["total"].kind == "total"
    assert "history" in repr(result)
    for ask in (lambda: result.summary, lambda: result.status, result.frame):
        with pytest.raises(OutputError):
            ask()
