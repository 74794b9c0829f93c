"""Parameter studies: members, failures, what is kept and resumed, processes, tables."""

import csv
import json
import math
import multiprocessing
import os
import re
import signal
import struct
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

import symplex as sx
import symplex.studies.workers
from symplex.commands.cli import main

OSCILLATOR = """\
title = "An oscillator"
[define]
k = 400.0
m = 1.0
[[point_mass]]
name = "mass"
mass = "=m"
position = [1.1, 0, 0]
[[spring]]
name = "spring"
body = "mass"
to = [0, 0, 0]
length = 1.0
stiffness = "=k"
[integrator]
kind = "newmark"
dt = 1e-3
[run]
duration = 0.05
frames = 5
[output]
pictures = false
"""
FINAL = "final(position_mass_x)"


@pytest.fixture
def oscillator(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("osc.toml").write_text(OSCILLATOR)
    return Path("osc.toml")


def sweep(path="osc.toml", **keys):
    return sx.sweep(path, **{"workers": 0, "progress": False} | keys)


def table(folder="osc-study"):
    with (Path(folder) / "table.csv").open() as file:
        return list(csv.DictReader(file))


def exact(k, m, t=0.05):
    """Return where velocity Verlet is, whose frequency ω̂ has sin(ω̂ h/2) = ω h/2."""
    h = 1e-3
    return 1.0 + 0.1 * math.cos(2.0 / h * math.asin(0.5 * h * math.sqrt(k / m)) * t)


def test_members_are_run_and_told_in_a_table(oscillator):
    study = sweep(over={"define.k": [100, 400], "define.m": "1,2"}, quantities=[FINAL, "drift.total", "max(total)"])
    assert study.keys == ["define.k", "define.m"]
    assert [list(one.values.values()) for one in study.members] == [[100, 1], [100, 2], [400, 1], [400, 2]]
    assert not study.failed
    for member in study.members:
        assert math.isclose(member.numbers[FINAL], exact(*member.values.values()), rel_tol=1e-12)
    assert study.units == {FINAL: "m", "drift.total": "", "max(total)": "J"}
    rows = table()
    assert [float(row[FINAL]) for row in rows] == [one.numbers[FINAL] for one in study.members]
    assert {row["status"] for row in rows} == {"finished"}
    assert (study.path / "table.png").stat().st_size > 1000
    assert study.result("002").summary["mass"] == 2.0
    assert study.to_pandas()[FINAL]["003"] == study.members[2].numbers[FINAL]
    assert repr(study).startswith("Sweep(folder osc-study; members 4, 4 finished; over define.k, define.m")
    with pytest.raises(sx.SymplexError, match="there is no member '7'; there are 001, 002"):
        study.result("7")


def test_failed_members_are_told_and_the_rest_is_kept(oscillator, capsys):
    words = ["sweep", "osc.toml", "--over", "define.m=-1,1", "--workers", "0"]
    assert main(words) == 1
    out = capsys.readouterr().out
    assert "member 001: failed: osc.toml: [[point_mass]] #1 'mass': mass must be positive, got -1 kg." in out
    assert "1 of 2 members finished; all of it is in osc-study, as table.csv" in out
    assert [row["status"] for row in table()] == ["failed", "finished"]
    assert main([*words, "--quiet"]) == 2
    assert "osc-study already holds a study; continue it with --resume" in capsys.readouterr().err
    assert main([*words, "--quiet", "--resume", "--set", "define.k=3"]) == 2
    assert "osc-study cannot be resumed: the scenario has changed since" in capsys.readouterr().err
    assert main(["sweep", "osc.toml", "--over", "define.m=1,3", "--quiet", "--resume"]) == 2
    assert "osc-study cannot be resumed: what is varied has changed since" in capsys.readouterr().err


def test_what_is_finished_is_kept_and_the_rest_goes_on(oscillator):
    keys = {"over": {"define.k": [100, 400, 900]}, "quantities": [FINAL]}
    whole = sweep(**keys, output="whole")
    sweep(**keys)
    before = Path("osc-study/members/001/history.csv").stat().st_mtime_ns
    history = Path("osc-study/members/002/history.csv").read_bytes()
    # As a kill leaves them: one before it has begun, and one with a checkpoint.
    for file in Path("osc-study/members/003").iterdir():
        file.unlink()
    Path("osc-study/members/002/summary.json").unlink()
    study = sweep(**keys, resume=True)
    assert [one.numbers for one in study.members] == [one.numbers for one in whole.members]
    assert Path("osc-study/members/001/history.csv").stat().st_mtime_ns == before
    assert Path("osc-study/members/002/history.csv").read_bytes() == history


PULLED = OSCILLATOR.replace(
    "[integrator]",
    """[[load]]
name = "pull"
kind = "nodal"
body = "mass"
force = [1, 0, 0]
history = { kind = "table", file = "pull.csv" }
[[truss]]
name = "rod"
mesh = "rod.inp"
stiffness = 100.0
member_mass = 1.0
[integrator]""",
)


@pytest.fixture
def pulled(tmp_path, monkeypatch):
    """A scenario whose load is in a file, and whose truss in a file that another one includes."""
    monkeypatch.chdir(tmp_path)
    Path("osc.toml").write_text(PULLED)
    Path("pull.csv").write_text("0, 0\n0.1, 1\n")
    Path("rod.inp").write_text("*INCLUDE, INPUT=mesh.inp\n")
    Path("mesh.inp").write_text("*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n*ELEMENT, TYPE=T3D2\n1, 1, 2\n")


@pytest.mark.parametrize("name", ["pull.csv", "mesh.inp"])
def test_members_of_other_files_are_not_mixed_with_those_of_before(pulled, name):
    keys = {"over": {"define.k": [100, 400]}, "quantities": [FINAL]}
    sweep(**keys)
    (Path("osc-study/members/002/summary.json")).unlink()  # as it is while it runs
    before = table()
    Path(name).write_text(Path(name).read_text().replace("0, 0, 0\n", "0.5, 0, 0\n").replace("0.1, 1", "0.1, 2"))
    reported = (
        "the file pull.csv has changed since" if name == "pull.csv" else "the meshes are no longer those of the run"
    )
    with pytest.raises(sx.SymplexError, match=f"cannot be resumed: {reported}"):
        sweep(**keys, resume=True)
    assert table() == before


def test_a_study_of_another_version_is_not_resumed(oscillator, monkeypatch):
    sweep(over={"define.k": [100, 400]})
    monkeypatch.setattr("symplex.studies.study_file.VERSION", "9.8.7")
    with pytest.raises(
        sx.SymplexError, match=r"osc-study cannot be resumed: it was computed by symplex .* is symplex 9"
    ):
        sweep(over={"define.k": [100, 400]}, resume=True)


def test_a_file_that_changes_while_a_study_runs_is_told(pulled, monkeypatch):
    finished = symplex.studies.workers.run_member

    def changing(task):
        outcome = finished(task)
        Path("pull.csv").write_text("0, 0\n0.1, 2\n")
        return outcome

    monkeypatch.setattr(symplex.studies.workers, "run_member", changing)
    study = sweep(over={"define.k": [100, 400]}, quantities=[FINAL])
    assert [one.status for one in study.members] == ["finished", "failed"]
    assert study.members[1].reason.startswith("the file pull.csv has changed while the study was running")


@pytest.mark.parametrize("content", ["[]", "[" * 100_000, '{"members'])
def test_a_damaged_study_is_told(oscillator, content, capsys):
    Path("osc-study").mkdir()
    Path("osc-study/study.json").write_text(content, "utf-8")
    assert main(["sweep", "osc.toml", "--over", "define.k=100,400", "--quiet", "--resume"]) == 2
    assert "study.json cannot be read: not a study, or damaged" in capsys.readouterr().err


def test_a_study_file_says_all_of_it(oscillator):
    Path("plan").mkdir()
    Path("plan/stiff.toml").write_text(
        """
        scenario = "../osc.toml"
        combine = "zip"
        quantities = ["final(position_mass_x)"]
        [set]
        run.frames = 2
        [over]
        define.k = [100, 400]
        define.m = "linear(1, 2, 2)"
        """
    )
    assert main(["sweep", "plan/stiff.toml", "--workers", "0", "--quiet"]) == 0
    rows = table("stiff-results")
    assert [(row["define.k"], row["define.m"]) for row in rows] == [("100", "1"), ("400", "2")]
    assert len(sx.read_result("stiff-results/members/001").times) == 3
    assert main(["sweep", "plan/stiff.toml", "--set", "define.k=9", "--output", "b", "--workers", "0", "--quiet"]) == 0
    assert list(table("b")[0])[:2] == ["member", "define.m"]


def test_a_study_file_or_a_folder_is_no_scenario(oscillator, capsys):
    Path("plan.toml").write_text('scenario = "osc.toml"\n[over]\ndefine.k = [1, 2]\n')
    for words, message in (
        (["run", "plan.toml"], "plan.toml is a study file, of many runs; run it with: symplex sweep plan.toml"),
        (["check", "."], ". is a folder; name a scenario file"),
        (["plot", "osc.toml"], "osc.toml is a file; name the results folder of a run"),
    ):
        assert main(words) == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('scenario = "no.toml"\n[over]\na.b = [1]', "there is no scenario file"),
        (
            'scenario = "osc.toml"\nsamples = 0\n[over]\na.b = [1]',
            "plan.toml: samples must be an integer of",
        ),
        (
            'scenario = "osc.toml"\nseeds = 0\n[over]\na.b = [1]',
            r"plan.toml: unknown key 'seeds'; did you mean 'seed'\?",
        ),
        ('scenario = "osc.toml"', "plan.toml: over is missing"),
        ('scenario = "osc.toml"\n[over]\na.b = 1', "'a.b': 1 is no list of values"),
        ('scenario = "osc.toml"\n[over]\nrun.length = [1]', r"\[run\]: unknown key 'length'"),
        (
            'scenario = "osc.toml"\ncombine = "sum"\n[over]\na.b = [1]',
            "combine must be one of 'grid', 'zip'",
        ),
    ],
)
def test_mistakes_of_a_study_file_are_told(oscillator, text, message, capsys):
    Path("plan.toml").write_text(text)
    assert main(["sweep", "plan.toml", "--quiet", "--workers", "0"]) == 2
    assert re.search(message, capsys.readouterr().err)


@pytest.mark.parametrize(
    ("quantity", "message"),
    [
        ("largest(total)", r"'largest\(total\)' is no quantity of a run; write a key of summary.json"),
        ("total + 1", "is no quantity of a run"),
        ("max(tip)", r"there is no column 'tip'; there are t, kinetic"),
        ("max(tip.z)", r"there is no column 'tip.z'; there are t, kinetic"),
        ("drift.all", r"there is no drift of 'all'; there are total"),
    ],
)
def test_quantities_that_there_are_not_are_told_before_a_member_is_run(oscillator, quantity, message):
    with pytest.raises(sx.SymplexError, match=message):
        sweep(over={"define.k": [100, 200]}, quantities=[FINAL, quantity])
    assert not Path("osc-study").exists()


def test_a_number_that_summaries_do_not_have_is_told_in_the_end(oscillator):
    with pytest.raises(sx.SymplexError, match=r"its summary.json has no number 'masses'; it has nodes"):
        sweep(over={"define.k": [100]}, quantities=["masses"])


def test_a_quantity_that_some_members_have_is_kept(oscillator, capsys):
    # Newmark makes no corrections.
    study = sweep(over={"integrator.kind": ["newmark", "energy-momentum"]}, quantities=["max(corrections)"])
    assert [list(one.numbers) for one in study.members] == [[], ["max(corrections)"]]
    words = ["sweep", "osc.toml", "--over", "integrator.kind=newmark,energy-momentum", "--resume", "--workers", "0"]
    assert main([*words, "--quantity", "max(corrections)"]) == 0
    assert "member 001: finished: osc-study/members/001: there is no column 'corrections'" in capsys.readouterr().out


def test_a_study_is_replaced_and_nothing_else(oscillator, capsys):
    sweep(over={"define.k": [100, 400]}, quantities=[FINAL])
    for name in ("mine.txt", "members/002/mine.txt"):
        (Path("osc-study") / name).write_text("mine")
    before = Path("osc-study/members/001/summary.json").read_bytes()
    words = ["sweep", "osc.toml", "--over", "define.k=900", "--quantity", FINAL, "--workers", "0", "--quiet"]
    assert main(words) == 2
    assert "osc-study already holds a study; continue it with --resume, replace it with --overwrite" in (
        capsys.readouterr().err
    )
    assert Path("osc-study/members/001/summary.json").read_bytes() == before
    assert main([*words, "--overwrite"]) == 0
    assert [row["define.k"] for row in table()] == ["900"]
    assert [file.name for file in Path("osc-study/members/002").iterdir()] == ["mine.txt"]
    assert Path("osc-study/mine.txt").read_text() == "mine"
    assert math.isclose(sx.read_result("osc-study/members/001").history["position_mass_x"][-1], exact(900, 1))
    with pytest.raises(sx.SymplexError, match="resume and overwrite are mutually exclusive"):
        sweep(over={"define.k": [100]}, resume=True, overwrite=True)


def test_a_study_is_read_back_and_plotted_anew(oscillator, capsys):
    study = sweep(over={"define.k": [100, 400], "define.m": [1, -1]}, quantities=[FINAL, "drift.total"])
    assert sx.studies.read_sweep("osc-study").rows() == study.rows()
    assert sx.studies.read_sweep("osc-study").units == study.units
    assert main(["plot", "osc-study", "--output", "small.png", "--size", "700x500"]) == 0
    assert capsys.readouterr().out == "small.png\n"
    assert struct.unpack(">II", Path("small.png").read_bytes()[16:24]) == (700, 500)
    for command in ("view", "render", "report"):
        assert main([command, "osc-study"]) == 2
        error = capsys.readouterr().err
        assert "osc-study holds a study, not a run (those are in osc-study/members); look at it with" in error
    with pytest.raises(sx.SymplexError, match=r"members holds no study of symplex: there is no study\.json"):
        sx.studies.read_sweep("osc-study/members")


def test_other_folders_are_refused(oscillator):
    Path("mine").mkdir()
    Path("mine/notes.txt").write_text("mine")
    with pytest.raises(
        sx.SymplexError,
        match=r"mine holds notes.txt, but no study that symplex has written; choose",
    ):
        sweep(over={"define.k": [100]}, output="mine")
    with pytest.raises(sx.SymplexError, match="none holds no study to resume"):
        sweep(over={"define.k": [100]}, output="none", resume=True)
    assert not Path("none").exists()
    assert [path.name for path in Path("mine").iterdir()] == ["notes.txt"]


@pytest.mark.slow
def test_members_run_in_processes_with_one_thread(oscillator):
    study = sweep(over={"define.k": [100, 400, 900]}, quantities=[FINAL], workers=2)
    assert [one.status for one in study.members] == ["finished"] * 3
    alone = sweep(over={"define.k": [100, 400, 900]}, quantities=[FINAL], output="alone")
    assert [one.numbers for one in study.members] == [one.numbers for one in alone.members]
    assert "SYMPLEX_THREADS" not in os.environ


@contextmanager
def killing(most):
    """Kill so many of the processes that are begun inside, each as soon as it is there."""
    killed, over = set(), threading.Event()

    def kill():
        while not over.wait(0.01) and len(killed) < most:
            for process in multiprocessing.active_children():
                if len(killed) < most and process.pid not in killed:
                    killed.add(process.pid)
                    process.kill()

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    assert killed


@pytest.mark.slow
def test_a_member_whose_process_dies_is_run_again(oscillator):
    with killing(1):
        study = sweep(over={"define.k": [100, 400, 900]}, quantities=[FINAL], workers=2)
    assert [one.status for one in study.members] == ["finished"] * 3


def test_processes_that_die_as_they_begin_are_told(oscillator):
    with killing(math.inf), pytest.raises(sx.SymplexError, match="the processes of the study die as they begin"):
        sweep(over={"define.k": [100, 400, 900]}, quantities=[FINAL], workers=2)


# -- sixty members, stopped in the middle -------------------------------------------------------------------------

MANY = ["osc.toml", "--set", "run.duration=1.0", "--over", "define.k=linear(100,1600,30)", "--over", "define.m=1,2"]


def begun(*words):
    command = [sys.executable, "-m", "symplex", "sweep", *MANY, "--quantity", FINAL, *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def finished(folder="osc-study"):
    """Return how many members are finished."""
    paths = Path(folder).glob("members/*/summary.json")
    return sum(json.loads(path.read_bytes())["status"] == "finished" for path in paths)


def wait_for(count, process):
    for _ in range(6000):
        if finished() >= count or process.poll() is not None:
            break
        time.sleep(0.1)
    assert process.poll() is None, "it was too fast to be stopped"


def check_resumed():
    rows = table()
    assert len(rows) == 60
    assert {row["status"] for row in rows} == {"finished"}
    for row in rows:
        assert math.isclose(float(row[FINAL]), exact(float(row["define.k"]), float(row["define.m"]), 1.0), rel_tol=1e-9)


@pytest.mark.slow
def test_sixty_members_killed_in_the_middle_and_resumed(oscillator):
    process = begun("--workers", "2")
    wait_for(8, process)
    process.kill()
    process.communicate()
    kept = finished()
    assert 8 <= kept < 60
    done = begun("--workers", "2", "--resume")
    assert "60 of 60 members finished" in done.communicate()[0]
    assert done.returncode == 0
    check_resumed()


@pytest.mark.usefixtures("signals")
@pytest.mark.slow
def test_an_interrupted_study_can_be_resumed(oscillator):
    process = begun("--workers", "2")
    wait_for(3, process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    error = process.communicate(timeout=600)[1]
    assert process.returncode == 130
    assert "interrupted; finished members are kept; continue with: symplex sweep osc.toml" in error
    assert "Traceback" not in error
    assert {row["status"] for row in table()} - {"interrupted"} == {"finished", "not run yet"}
    done = begun("--workers", "2", "--resume")
    assert done.communicate()[1] == ""
    check_resumed()


@pytest.mark.slow
def test_a_dask_cluster_runs_the_members(oscillator):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        process = begun("--dask", address)
        wait_for(8, process)
        process.kill()
        process.communicate()
        assert 8 <= finished() < 60
        done = begun("--dask", address, "--resume")
        out, error = done.communicate()
        assert done.returncode == 0, error
        assert "60 of 60 members finished" in out
    check_resumed()


def test_no_scheduler_at_an_address_is_told(oscillator):
    pytest.importorskip("distributed")
    with pytest.raises(sx.SymplexError, match="'nowhere://1' is no address of a Dask scheduler; write one as tcp://"):
        sweep(over={"define.k": [100]}, dask="nowhere://1")
