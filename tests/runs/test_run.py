"""Runs: what is in the results folder, and that a run goes on bit-identically after any end."""

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from time import perf_counter, sleep

import numpy as np
import pytest

import symplex.runs.checkpoints
import symplex.runs.loop
import symplex.runs.run
import symplex.runs.samples
from symplex.errors import InvertedElement, OutputError
from symplex.meshes.series.series import read_series
from symplex.runs.history import read_history
from symplex.runs.progress import Bar, Display, Lines, clock, compilation_announced, si
from symplex.runs.report import run_report
from symplex.runs.results import RunFolder
from symplex.runs.run import simulate
from symplex.scenario.scenario import Scenario

SCENARIO = """
title = "A small impact"
[[body]]
name = "cube"
mesh = { box = [0.1, 0.1, 0.1], cells = [1, 1, 1] }
material = { lambda = 60.5e9, mu = 26e9, density = 2700 }
velocity = [100, 0, -500]
[[obstacle]]
name = "floor"
kind = "half-space"
point = [0, 0, -0.001]
normal = [0, 0.1, 1]
stiffness = 1e12
[[obstacle]]
name = "ball"
kind = "sphere"
center = [0.25, 0.05, 0.05]
radius = 0.1
stiffness = 1e12
[integrator]
INTEGRATOR
[run]
duration = 20e-6
frames = 10
samples = 40
checkpoint = 1e-9
"""
KINDS = {"newmark": 'kind = "newmark"\ndt = 2e-9', "force-stepping": 'kind = "force-stepping"\ngrid = 2e-4'}


def scenario(kind):
    return Scenario.parse(SCENARIO.replace("INTEGRATOR", KINDS[kind]), "small.toml")


def run(kind, output, **options):
    return simulate(scenario(kind), output, progress=False, pictures=False, **options)


def assert_same_results(a, b):
    assert (a / "history.csv").read_bytes() == (b / "history.csv").read_bytes()
    first, second = read_series(a / "motion.vtkhdf"), read_series(b / "motion.vtkhdf")
    np.testing.assert_array_equal(first.times, second.times)
    for one, other in zip(first.frames(), second.frames(), strict=True):
        np.testing.assert_array_equal(one.displacement, other.displacement)
        for name in one.point_data:
            np.testing.assert_array_equal(one.point_data[name], other.point_data[name])
        for name, blocks in one.cell_data.items():
            for block in blocks:
                np.testing.assert_array_equal(blocks[block], other.cell_data[name][block])


@pytest.fixture(scope="module", params=list(KINDS))
def finished(request, tmp_path_factory):
    """An uninterrupted run of each integrator: its kind and its folder."""
    folder = tmp_path_factory.mktemp(request.param) / "results"
    run(request.param, folder)
    return request.param, folder


# -- what is in the folder -------------------------------------------------------------------------------------


def test_history_has_energies_momenta_contact_and_counts(finished):
    kind, folder = finished
    history = read_history(folder / "history.csv")
    assert list(history)[:5] == ["t", "kinetic", "cube", "floor", "ball"]
    np.testing.assert_array_equal(history["t"], scenario(kind).times)
    parts = history["kinetic"] + history["cube"] + history["floor"] + history["ball"]
    np.testing.assert_allclose(history["total"], parts, rtol=1e-14)
    assert history["momentum_x"][0] == pytest.approx(270)
    assert history["contact_force_z"].max() > 1e5
    assert ("lattice_total" in history) == (kind == "force-stepping")
    counts = history["steps" if kind == "newmark" else "events"]
    assert np.all(np.diff(counts) > 0)


def test_all_columns_of_a_history_are_declared_beside_it(finished):
    _, folder = finished
    columns = read_history(folder / "history.csv").columns
    declared = json.loads((folder / "history.json").read_text("utf-8"))["columns"]
    assert [column["name"] for column in declared] == list(columns)
    units = {name: column.unit for name, column in columns.items() if column.kind != "count"}
    assert set(units.values()) == {"s", "J", "kg m/s", "kg m²/s", "N", "m"}
    counted = {name for name, column in columns.items() if column.kind == "count"}
    summary = json.loads((folder / "summary.json").read_text("utf-8"))
    assert counted == {name for name in summary["statistics"] if name in columns}
    assert [name for name, column in columns.items() if column.watched] == [summary["energy_kept"]]
    assert columns["penetration"].combined == "largest"
    assert summary["units"] == {"peak_contact_force": "N", "peak_contact_force_filtered": "N", "peak_penetration": "m"}
    reported = run_report(summary, folder)
    assert "peak contact force" in reported
    assert "peak penetration" in reported
    assert run_report({name: part for name, part in summary.items() if name != "units"}, folder) == reported


def test_frames_have_the_wanted_fields_in_named_blocks(finished):
    _, folder = finished
    series = read_series(folder / "motion.vtkhdf")
    assert list(series.blocks) == ["cube", "floor", "ball"]
    assert set(series.point_fields) == {"velocity", "contact_force"}
    assert series.cell_fields == ["von_mises"]
    history = read_history(folder / "history.csv")
    np.testing.assert_array_equal(series.times, history["t"][::4])
    for frame, force in zip(series.frames(), history["contact_force_z"][::4], strict=True):
        assert frame.point_data["contact_force"][:, 2].sum() == pytest.approx(force, rel=1e-5, abs=1e-3)
    assert series.frame(-1).cell_data["von_mises"]["cube"].max() > 1e6


def test_obstacles_are_drawn_on_their_surface(finished):
    _, folder = finished
    blocks = read_series(folder / "motion.vtkhdf").blocks
    contacts = scenario("newmark").build().contacts
    for name in ("floor", "ball"):
        np.testing.assert_allclose(contacts[name].obstacle.gap(blocks[name].points), 0, atol=1e-7)


def test_summary(finished):
    kind, folder = finished
    summary = json.loads((folder / "summary.json").read_text("utf-8"))
    history = read_history(folder / "history.csv")
    assert summary["status"] == "finished"
    assert summary["scenario_sha256"] == scenario(kind).hash
    assert (folder / "scenario.toml").read_text("utf-8") == scenario(kind).text
    assert summary["nodes"] == 15
    assert summary["elements"] == {"cube": {"tetra": 24}}
    assert summary["peak_strain_energy"] == history["cube"].max()
    assert summary["mean_velocity_end"] == pytest.approx([history[f"momentum_{a}"][-1] / 2.7 for a in "xyz"])
    assert summary["drift"]["lattice_total" if kind == "force-stepping" else "total"] < 1e-3
    assert summary["drift"]["momentum_z"] > 0.1
    assert summary["statistics"]["steps" if kind == "newmark" else "events"] > 100
    assert {"symplex", "python", "numpy", "numba"} <= set(summary["versions"])


@pytest.mark.usefixtures("signals")
def test_pvd_series_and_chosen_fields(tmp_path, monkeypatch):
    text = SCENARIO.replace("INTEGRATOR", KINDS["newmark"])
    text += '[output]\nformat = "pvd"\nfields = ["velocity"]\ndirectory = "here"\n'
    (tmp_path / "small.toml").write_text(text, encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(symplex.runs.run, "display", lambda progress: Interrupting(18))
        with pytest.raises(KeyboardInterrupt):
            simulate(tmp_path / "small.toml", pictures=False)
    simulate(tmp_path / "small.toml", resume=True, progress=False, pictures=False)
    series = read_series(tmp_path / "here" / "motion.pvd")
    assert len(series) == 11
    assert series.point_fields == ["velocity"]
    assert series.cell_fields == []


# -- the folder is taken, or cannot be written -----------------------------------------------------------------


def test_a_taken_folder_is_refused_and_can_be_overwritten(finished, tmp_path):
    kind, folder = finished
    taken = shutil.copytree(folder, tmp_path / "taken")
    (taken / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"already holds a run; continue it with --resume, replace it with"):
        run(kind, taken)
    run(kind, taken, overwrite=True)
    assert_same_results(folder, taken)
    assert (taken / "notes.txt").read_text() == "mine"


def test_an_unwritable_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        run("newmark", tmp_path / "file" / "results")


def test_two_runs_cannot_go_on_in_one_folder(tmp_path):
    folder = RunFolder(tmp_path / "out")
    with folder.held():
        for options in ({}, {"overwrite": True}):
            with pytest.raises(OutputError, match="another process is running in"):
                run("newmark", folder.path, **options)
        folder.create("")
    run("newmark", folder.path, overwrite=True)


@pytest.mark.slow
def test_a_lock_does_not_outlive_a_killed_process(tmp_path):
    hold = "import sys; from symplex.runs.results import RunFolder\n"
    hold += "with RunFolder(sys.argv[1]).held(): print('held', flush=True); sys.stdin.read()"
    command, pipe = [sys.executable, "-c", hold, str(tmp_path / "out")], subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
    assert process.stdout.readline() == "held\n"
    with pytest.raises(OutputError, match="another process is running in"):
        run("newmark", tmp_path / "out")
    process.kill()
    process.communicate()
    assert run("newmark", tmp_path / "out")["status"] == "finished"


def test_a_full_disk_leaves_what_was_written_whole(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("symplex.base.files.os.fsync", full)
        with pytest.raises(OutputError, match=r"cannot be written: no space left on device\.$"):
            run("newmark", tmp_path / "out")
    assert not list((tmp_path / "out").glob("*.new"))


# -- resuming --------------------------------------------------------------------------------------------------


class Interrupting(Display):
    """Sends a signal to the process at the k-th sample."""

    def __init__(self, k):
        self.left = k

    def update(self, t, drift, done):
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.usefixtures("signals")
@pytest.mark.parametrize("k", [1, 6, 7, 39])
def test_resumed_after_ctrl_c_it_is_bit_identical(finished, k, tmp_path, monkeypatch):
    kind, folder = finished
    with monkeypatch.context() as patch:
        patch.setattr(symplex.runs.run, "display", lambda progress: Interrupting(k))
        with pytest.raises(KeyboardInterrupt):
            run(kind, tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text("utf-8"))
    assert summary["status"] == "interrupted"
    assert summary["samples"] < 40
    summary = run(kind, tmp_path / "out", resume=True)
    assert summary["status"] == "finished"
    assert_same_results(folder, tmp_path / "out")


class Killed(BaseException):
    """Ends a run where no handler is meant to help it."""


@pytest.mark.parametrize("place", ["checkpoint", "frame", "row"])
@pytest.mark.slow
def test_resumed_after_an_end_between_two_files_it_is_bit_identical(finished, place, tmp_path, monkeypatch):
    kind, folder = finished
    calls = 0

    def killed_at(function, count):
        def wrapped(*arguments):
            nonlocal calls
            calls += 1
            if calls == count:
                raise Killed
            return function(*arguments)

        return wrapped

    with monkeypatch.context() as patch:
        if place == "checkpoint":
            save = symplex.runs.checkpoints.save_checkpoint
            patch.setattr(symplex.runs.checkpoints, "save_checkpoint", killed_at(save, 15))
        elif place == "frame":
            patch.setattr(symplex.runs.samples, "fields_of", killed_at(symplex.runs.samples.fields_of, 4))
        else:
            patch.setattr(
                symplex.runs.samples.HistoryWriter, "append", killed_at(symplex.runs.samples.HistoryWriter.append, 13)
            )
        with pytest.raises(Killed):
            run(kind, tmp_path / "out")
    run(kind, tmp_path / "out", resume=True)
    assert_same_results(folder, tmp_path / "out")


@pytest.mark.usefixtures("signals")
def test_frames_written_while_the_motion_goes_on_are_the_same(finished, tmp_path, monkeypatch):
    kind, folder = finished
    monkeypatch.setattr(symplex.runs.samples, "_LARGE", 0)
    rarely = Scenario.parse(scenario(kind).text.replace("checkpoint = 1e-9", "checkpoint = 1000"), "small.toml")
    with monkeypatch.context() as patch:
        patch.setattr(symplex.runs.run, "display", lambda progress: Interrupting(14))
        with pytest.raises(KeyboardInterrupt):
            simulate(rarely, tmp_path / "out", progress=False, pictures=False)
    assert simulate(rarely, tmp_path / "out", resume=True, progress=False, pictures=False)["status"] == "finished"
    assert_same_results(folder, tmp_path / "out")


def test_a_frame_that_cannot_be_written_while_the_motion_goes_on_ends_the_run(tmp_path, monkeypatch):
    class Full(symplex.meshes.series.vtkhdf.VtkHdfWriter):
        def _write(self, t, *fields):
            if self._count == 3:
                raise OSError(errno.ENOSPC, "No space left on device")
            super()._write(t, *fields)

    monkeypatch.setattr(symplex.runs.samples, "_LARGE", 0)
    monkeypatch.setattr(symplex.meshes.series.vtkhdf, "VtkHdfWriter", Full)
    with pytest.raises(OutputError, match=r"the frame at t = 6e-06 s cannot be written \(no space left on device\)"):
        run("newmark", tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text("utf-8"))
    assert (summary["status"], len(read_series(tmp_path / "out" / "motion.vtkhdf"))) == ("failed", 3)
    assert read_history(tmp_path / "out" / "history.csv")["t"][-1] < 6e-6  # a row that is there has its frame


def test_resuming_a_finished_run_does_nothing(finished, tmp_path):
    kind, folder = finished
    before = (folder / "history.csv").stat().st_mtime_ns
    assert run(kind, folder, resume=True)["status"] == "finished"
    assert (folder / "history.csv").stat().st_mtime_ns == before


def test_resuming_where_nothing_is_or_another_scenario_was(finished, tmp_path):
    kind, folder = finished
    with pytest.raises(OutputError, match=r"holds no run to resume; start one without --resume\."):
        run(kind, tmp_path, resume=True)
    changed = Scenario.parse(scenario(kind).text.replace("-500", "-400"), "small.toml")
    with pytest.raises(
        OutputError, match=r"small\.toml has changed since \(body\.1\.velocity\.3 was -500, is -400\)\. Restore it"
    ):
        simulate(changed, folder, resume=True, progress=False)
    commented = Scenario.parse("# a comment\n" + scenario(kind).text, "small.toml")
    assert simulate(commented, folder, resume=True, progress=False)["status"] == "finished"


def test_resuming_with_another_mesh_is_refused(finished, tmp_path, monkeypatch):
    kind, folder = finished
    other = shutil.copytree(folder, tmp_path / "other")
    (other / "summary.json").unlink()
    monkeypatch.setattr(symplex.runs.inputs, "fingerprint", lambda mesh, *systems: {"meshes": "another"})
    with pytest.raises(OutputError, match="the meshes are no longer those of the run"):
        run(kind, other, resume=True)


# -- real kills ------------------------------------------------------------------------------------------------

LONG = (
    SCENARIO.replace("samples = 40", "samples = 600")
    .replace("frames = 10", "frames = 60")
    .replace("checkpoint = 1e-9", "checkpoint = 0.02")
)


def _rows(folder):
    history = folder / "history.csv"
    return history.read_bytes().count(b"\n") if history.exists() else 0


def _started(path, folder, *options):
    command = [sys.executable, "-m", "symplex", "run", str(path), "--output", str(folder), "--no-pictures", *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _wait_for_rows(process, folder, rows):
    deadline = perf_counter() + 600
    while process.poll() is None and _rows(folder) < rows:
        assert perf_counter() < deadline, "no rows after ten minutes"
        sleep(0.005)


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.slow
def test_killed_at_random_moments_it_goes_on_bit_identically(kind, tmp_path):
    path = tmp_path / "long.toml"
    path.write_text(LONG.replace("INTEGRATOR", KINDS[kind]), encoding="utf-8")
    simulate(path, tmp_path / "whole", progress=False, pictures=False)
    chance = random.Random(kind)
    killed = 0
    for target in (2, 100, 300):
        process = _started(path, tmp_path / "out", *(["--resume"] if killed else []))
        _wait_for_rows(process, tmp_path / "out", target + chance.randrange(80))
        process.kill()
        process.communicate()
        killed += process.returncode == -signal.SIGKILL
        series = read_series(tmp_path / "out" / "motion.vtkhdf")
        assert np.isfinite(series.frame(-1).displacement).all()
    assert killed == 3
    simulate(path, tmp_path / "out", resume=True, progress=False, pictures=False)
    assert_same_results(tmp_path / "whole", tmp_path / "out")


@pytest.mark.slow
def test_killed_while_frames_are_written_beside_the_motion_it_goes_on_bit_identically(tmp_path):
    path = tmp_path / "long.toml"
    path.write_text(LONG.replace("INTEGRATOR", KINDS["newmark"]), encoding="utf-8")
    simulate(path, tmp_path / "whole", progress=False, pictures=False)
    program = (
        "import sys, symplex.runs.run as run, symplex.runs.samples as samples; samples._LARGE = 0;"
        "run.simulate(sys.argv[1], sys.argv[2], resume=len(sys.argv) > 3, progress=False, pictures=False)"
    )
    chance, killed = random.Random(3), 0
    for target in (2, 100, 300):
        command = [sys.executable, "-c", program, str(path), str(tmp_path / "out"), *(["resume"] if killed else [])]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        _wait_for_rows(process, tmp_path / "out", target + chance.randrange(80))
        process.kill()
        process.communicate()
        killed += process.returncode == -signal.SIGKILL
        assert np.isfinite(read_series(tmp_path / "out" / "motion.vtkhdf").frame(-1).displacement).all()
    assert killed == 3
    simulate(path, tmp_path / "out", resume=True, progress=False, pictures=False)
    assert_same_results(tmp_path / "whole", tmp_path / "out")


@pytest.mark.usefixtures("signals")
@pytest.mark.slow
def test_ctrl_c_ends_with_130_and_says_how_to_go_on(tmp_path):
    path = tmp_path / "long.toml"
    path.write_text(LONG.replace("INTEGRATOR", KINDS["newmark"]), encoding="utf-8")
    process = _started(path, tmp_path / "out")
    _wait_for_rows(process, tmp_path / "out", 50)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 130
    assert errors.count("\n") == 1
    assert f"resume with: symplex run {path} --output {tmp_path / 'out'} --resume" in errors


# -- failures --------------------------------------------------------------------------------------------------


def test_a_failing_step_keeps_all_that_was_computed(tmp_path):
    crash = Scenario.parse(
        SCENARIO.replace("INTEGRATOR", KINDS["newmark"]).replace("-500", "-20000").replace("1e12", "1e13"), "crash.toml"
    )
    with pytest.raises(InvertedElement, match=r"Newmark stopped in the step from t = .* is inverted: det F ="):
        simulate(crash, tmp_path / "out", progress=False, pictures=False)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text("utf-8"))
    assert summary["status"] == "failed"
    assert "is inverted" in summary["reason"]
    history = read_history(tmp_path / "out" / "history.csv")
    assert 1 < len(history["t"]) == summary["samples"] + 1
    assert len(read_series(tmp_path / "out" / "motion.vtkhdf")) == 1 + summary["samples"] // 4


# -- the display -----------------------------------------------------------------------------------------------


def test_lines_tell_each_picture_once(capsys):
    lines = Lines()
    for part in (0.0, 0.5, 1.0):
        lines.draw("the film", part)
    lines.draw("history.png", 0.0)
    assert capsys.readouterr().out.splitlines() == ["drawing the film …", "drawing history.png …"]


def test_the_bar_shows_the_motion_then_the_drawing(capsys):
    bar = Bar()
    bar.begin(0.0, 1.0)
    bar.update(0.5, 1e-9, "7 steps")
    bar.end()
    assert "500 ms of 1 s" in capsys.readouterr().out
    bar.draw("the film", 0.5)
    bar.say("above the bar, which goes")
    bar.end()
    bar.say("without a bar")
    assert capsys.readouterr().out.split("\n")[0] == "above the bar, which goes"


def test_compiling_is_told_once(capsys):
    import numba

    with compilation_announced(Lines()):
        for value in (1, 1.0):
            numba.njit(lambda x: x + 1)(value)
    numba.njit(lambda x: x + 2)(1)
    assert capsys.readouterr().out.count("compiling") == 1


def test_numbers_for_people():
    assert si(6e-5, "s") == "60 µs"
    assert si(-1.23456e9, "J") == "-1.23 GJ"
    assert si(0.0, "N") == "0 N"
    assert si(1e-77, "J") == "0 J"
    assert si(0.25, "") == "0.25"
    assert clock(4.21) == "4.2 s"
    assert clock(187) == "3:07"
    assert clock(4320) == "1:12:00"
