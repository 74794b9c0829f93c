"""Two results side by side."""

import json
import shutil

import numpy as np
import pytest

import symplex as sx
from symplex.commands.cli import main
from symplex.studies.scales import Scales

BLOCK = """\
[[body]]
name = "block"
mesh = { box = [1.0, 1.0, 1.0], cells = [2, 1, 1], split = "6" }
material = { young = 1e6, poisson = 0.3, density = 1000 }
velocity = [VX, 0, 0]
[integrator]
kind = "newmark"
dt = 1e-3
[run]
duration = 0.02
frames = 4
[output]
pictures = false
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Return results of a block that flies at 3 m/s, and otherwise; without a strain all is known exactly."""
    folder, found = tmp_path_factory.mktemp("results"), {}
    changes = {
        "a": {},
        "faster": {"body.block.velocity": [3.5, 0, 0]},
        "longer": {"run.until": 0.04},
        "sampled": {"run.frames": 3, "run.samples": 3},
        "finer": {"body.block.mesh.cells": [3, 2, 1]},
        "spun": {"body.block.angular_velocity": [0, 0, 2]},
        "later": {"body.block.translate": [10, 0, 0]},
        "without a field": {"output.fields": ["von_mises"]},
    }
    texts = {
        "probed": BLOCK + '[[probe]]\nname = "tip"\nbody = "block"\npoints = [[1, 0, 0]]\n',
        "falling": BLOCK + "[gravity]\nacceleration = [0, 0, 0]\n",
        "renamed": BLOCK.replace('"block"', '"brick"'),
    }
    for name in (*changes, *texts):
        found[name] = folder / name
        scenario = sx.Scenario.parse(texts.get(name, BLOCK).replace("VX", "3")).with_values(changes.get(name, {}))
        sx.simulate(scenario, folder / name, progress=False)
    return found


def test_a_run_does_not_differ_from_itself(results, tmp_path):
    found = sx.compare(results["a"], results["a"], output=tmp_path / "out")
    assert {one.where for one in found.differences} == {"history", "nodes", "cells"}
    assert {"total", "momentum_x", "displacement", "von_mises"} <= {one.name for one in found.differences}
    assert all(one.rms == one.largest == one.relative == 0.0 for one in found.differences)
    assert found.relative == 0.0
    assert found.notes == []
    assert not (tmp_path / "out" / "snapshot.png").exists()


def test_differences_are_those_of_the_motions(results, tmp_path, can_draw):
    found = sx.compare(results["a"], results["faster"], output=tmp_path / "out")
    assert found["displacement"].largest == pytest.approx(0.5 * 0.02, rel=1e-5)
    assert found["displacement"].rms == pytest.approx(0.5 * 0.02, rel=1e-5)
    assert found["displacement"].relative == pytest.approx(0.5 / 3.5, rel=1e-5)
    assert found["displacement"].t == 0.02
    assert found["velocity"].largest == pytest.approx(0.5, rel=1e-6)
    momentum = found["momentum_x"]
    assert (momentum.unit, momentum.where) == ("kg m/s", "history")
    assert momentum.largest == pytest.approx(500.0, rel=1e-12)
    assert momentum.rms == pytest.approx(500.0, rel=1e-12)
    assert momentum.relative == pytest.approx(0.5 / 3.5, rel=1e-12)
    # Of energies: next to the kinetic energy of the first, ½ 1000 (3.5² − 3²) over ½ 1000 3².
    assert found["total"].relative == pytest.approx((3.5**2 - 9.0) / 9.0, rel=1e-12)
    assert found["momentum_z"].relative < 1e-14  # rounding in both
    reported = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert [one["name"] for one in reported["differences"]] == [one.name for one in found.differences]
    assert (tmp_path / "out" / "differences.png").stat().st_size > 1000
    assert (tmp_path / "out" / "snapshot.png").exists() or not can_draw
    series = sx.read_series(tmp_path / "out" / "difference.vtkhdf")
    np.testing.assert_allclose(series.frame(-1).point_data["displacement_difference"][:, 0], 0.01, rtol=1e-4)
    with pytest.raises(sx.SymplexError, match=r"out holds comparison.json already; choose another folder"):
        sx.compare(results["a"], results["faster"], output=tmp_path / "out")
    with pytest.raises(sx.SymplexError, match="'tip' is not in both; there are kinetic"):
        found["tip"]


def test_a_comparison_is_read_and_drawn_again(results, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    found, folder = sx.compare(results["a"], results["faster"], output="out"), tmp_path / "out"
    again = sx.studies.read_comparison(folder)
    assert (again.first, again.second, again.notes) == (found.first, found.second, found.notes)
    assert again.differences == found.differences
    assert again.times.tolist() == [0.0, 0.005, 0.01, 0.015, 0.02]
    np.testing.assert_allclose(again.over_time["displacement"], 0.5 * again.times, rtol=1e-5)
    assert {name: one.tolist() for name, one in again.over_time.items()} == {
        name: one.tolist() for name, one in found.over_time.items()
    }
    before = (folder / "differences.png").read_bytes()
    (folder / "differences.png").unlink()
    assert main(["plot", "out"]) == 0
    assert (folder / "differences.png").read_bytes() == before
    assert main(["plot", "out", "--output", "drawn.svg", "--size", "1000x500"]) == 0
    assert "drawn.svg" in capsys.readouterr().out
    assert (tmp_path / "drawn.svg").exists()


@pytest.fixture(scope="module")
def compared(results, tmp_path_factory):
    folder = tmp_path_factory.mktemp("compared")
    sx.compare(results["a"], results["faster"], output=folder)
    return folder


@pytest.mark.parametrize(
    ("change", "reported"),
    [
        ({"times": [0.0, "x"]}, "comparison.json cannot be read: not a comparison, or damaged"),
        ({"over_time": {"displacement": [1.0]}}, "rows over time that are not finite numbers, one for each time"),
        ({"differences": [{"name": "a"}]}, "compute it again, in another folder"),
        ({"times": [], "over_time": {}}, "were compared without frames, or by an earlier version"),
    ],
)
def test_comparisons_that_cannot_be_drawn(change, reported, compared, tmp_path, capsys):
    kept = json.loads((compared / "comparison.json").read_text())
    (tmp_path / "comparison.json").write_text(json.dumps(kept | change))
    assert main(["plot", str(tmp_path)]) == 2
    complaint = capsys.readouterr().err
    assert reported in complaint
    assert complaint.count("\n") == 1


def test_a_folder_without_a_comparison(tmp_path):
    with pytest.raises(sx.SymplexError, match=r"holds no comparison: it has no comparison.json"):
        sx.studies.read_comparison(tmp_path)


def test_what_is_rounding_in_both_does_not_differ(results):
    """The stress of what flies, which is rounding in both; and no stress that is as small as a billionth of strains."""
    found = sx.compare(results["a"], results["faster"])["von_mises"]
    assert found.largest > 0.0
    assert found.relative < 1e-12
    scales = Scales(sx.read_result(results["a"]))
    for name, unit, least in (("displacement", "m", 1e-12), ("velocity", "m/s", 1e-11), ("von_mises", "Pa", 1e-6)):
        assert scales.of(name, unit, least) == least
        assert scales.of(name, unit, 1e-4 * least) > 1.0
    assert scales.of("logarithmic_strain", "", 1e-16) == 1.0
    assert scales.of("dissipation", "W", 1e-30) == 1e-30


def test_only_times_that_both_have_are_compared(results):
    for pair in (("a", "longer"), ("longer", "a")):
        found = sx.compare(*(results[name] for name in pair))
        assert found.relative == 0.0
        assert found.notes == ["compared from t = 0 s to 0.02 s, which both have"]


def test_other_times_are_interpolated_and_it_is_told(results):
    found = sx.compare(results["a"], results["sampled"])
    for name in ("kinetic", "momentum_x", "angular_momentum_y"):
        assert found[name].relative < 1e-12
    for name in ("displacement", "velocity"):  # float32 of frames; the motion is linear in time
        assert found[name].relative < 1e-6
    assert found.notes[0] == f"the history of {results['sampled']} is interpolated between its samples"
    assert found.notes[1] == f"frames of {results['sampled']} are interpolated between those that there are"


def test_other_meshes_are_interpolated_and_it_is_told(results):
    found = sx.compare(results["a"], results["finer"])
    assert found["displacement"].relative < 1e-6
    assert found.notes == [
        f"the meshes differ: fields of {results['finer']} are interpolated to the nodes of {results['a']}",
        "fields of cells are left out: von_mises",
    ]
    assert "von_mises" not in {one.name for one in found.differences}
    with pytest.raises(sx.SymplexError, match="have no place in common"):
        sx.compare(results["a"], results["later"])


def test_vectors_are_compared_by_their_lengths(results):
    """Next to one that flies, one that also turns: |ω × r| at the farthest corner is ω √2/2."""
    assert sx.compare(results["a"], results["spun"])["velocity"].largest >= 2.0 * np.sqrt(0.5) * (1 - 1e-6)


@pytest.mark.parametrize(
    ("first", "second", "lacking"),
    [
        ("a", "longer", ""),
        ("a", "probed", ""),
        ("a", "falling", ""),
        ("longer", "a", "rows of the history: 20 of 41 (the other is from t = 0 s to 0.02 s); frames: 4 of 9"),
        ("probed", "a", "lacks: probe tip."),
        ("falling", "a", "lacks: column gravity of the history."),
        ("a", "renamed", "lacks: column block of the history; body block; fields of cells, as the meshes differ: von"),
        ("a", "without a field", "lacks: field velocity."),
        ("a", "finer", "lacks: fields of cells, as the meshes differ: von_mises."),
    ],
)
def test_a_tolerance_is_met_only_if_all_of_the_first_was_compared(first, second, lacking, results, capsys):
    words = ["compare", str(results[first]), str(results[second])]
    assert main(words) == 0
    assert capsys.readouterr().err == ""
    assert main([*words, "--tolerance", "1e-5"]) == (1 if lacking else 0)
    complaint = capsys.readouterr().err
    assert lacking in complaint
    assert complaint.count("\n") == (1 if lacking else 0)


def test_a_history_that_stops_early_does_not_meet_a_tolerance(results, tmp_path, capsys):
    shutil.copytree(results["a"], tmp_path / "b")
    lines = (tmp_path / "b" / "history.csv").read_text().splitlines(keepends=True)
    (tmp_path / "b" / "history.csv").write_text("".join(lines[: len(lines) // 3]))
    assert main(["compare", str(results["a"]), str(tmp_path / "b"), "--tolerance", "1"]) == 1
    assert "but lacks: rows of the history: " in capsys.readouterr().err


def test_the_command_line_tells_and_fails_beyond_a_tolerance(results, capsys, tmp_path):
    words = ["compare", str(results["a"]), str(results["faster"])]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "largest at t" in out
    assert "momentum_x" in out
    assert main([*words, "--tolerance", "1"]) == 0
    assert main([*words, "--tolerance", "0.3"]) == 1
    assert "of 12 differ by more than 0.3; most of all " in capsys.readouterr().err
    assert main(["compare", str(results["a"]), str(results["a"]), "--tolerance", "0"]) == 0
    assert main([*words, "--tolerance", "nan"]) == 2
    assert "--tolerance is nan, must be a number that is not negative" in capsys.readouterr().err
    assert main(["compare", str(results["a"]), str(tmp_path)]) == 2
    assert "is not a results folder" in capsys.readouterr().err
