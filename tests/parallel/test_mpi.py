"""Runs by ``mpiexec``: the files, messages and exit statuses of one process, whatever the number of ranks."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from time import sleep

import numpy as np
import pytest

import symplex as sx
from reference.on_ranks import DROP, MPIEXEC, PUSHED, descendants, run
from symplex.base.checkpoint import load_checkpoint
from symplex.commands.cli import main

COLLISION = """
title = "Two blocks collide"
[[body]]
name = "left"
mesh = { box = [0.3, 0.2, 0.2], cells = [3, 2, 2] }
material = { law = "neo-hookean", young = 1e7, poisson = 0.3, density = 1000.0 }
velocity = [6.0, 1.0, 1.0]
[[body]]
name = "right"
mesh = { box = [0.3, 0.2, 0.2], cells = [2, 2, 2], split = "hexahedra" }
material = { law = "neo-hookean", young = 1e7, poisson = 0.3, density = 1000.0 }
translate = [0.31, 0.03, 0.02]
velocity = [-4.0, 0.0, 0.0]
angular_velocity = [0, 3, 0]
[[obstacle]]
name = "wall"
kind = "half-space"
point = [0.615, 0, 0]
normal = [-1, 0, 0]
stiffness = 1e6
[[contact]]
begins = "BEGINS"
FRICTION
[integrator]
kind = "newmark"
[run]
duration = 0.004
frames = 4
[output]
pictures = false
"""
RUBS = "friction = 0.3\nstatic_friction = 0.5\nslip_speed = 0.01"
HIDING = """
import sys
import symplex as sx
with sx.parallel.Ranks(hides=sys.argv[2] == "hidden") as ranks:
    sx.simulate(sys.argv[1], sys.argv[2], progress=False, ranks=ranks)
"""
TIMED = """
import symplex as sx
from symplex.parallel.ranks import message_time
from mpi4py import MPI
times = MPI.COMM_WORLD.allgather(message_time(MPI.COMM_WORLD))
assert len(set(times)) == 1 and 0.0 < times[0] < 1.0, times
with sx.parallel.Ranks() as ranks:
    assert not ranks.hides  # on one machine, however busy it is
"""
SCRIPT = """
import symplex as sx
with sx.parallel.Ranks(hides=True) as ranks:
    summary = sx.simulate("drop.toml", "hidden", progress=False, ranks=ranks)
    if ranks.leads:
        print(summary["status"])
"""
FIELDS = ["velocity", "von_mises", "contact_force", "nodal_pressure"]
PIECES = ["--set", "output.partitioned=true", "--set", f"output.fields={FIELDS}"]
SOON = ["--set", "body.bar.material.young=2e4", "--set", "integrator.dt=1e-4", "--set", "body.bar.velocity=[0,0,-60]"]


@pytest.fixture
def drop(tmp_path):
    """The scenario, and what one process computes of it."""
    (tmp_path / "drop.toml").write_text(DROP, "utf-8")
    sx.simulate(tmp_path / "drop.toml", tmp_path / "one", progress=False)
    return tmp_path


def assert_same(one, other, rounded=False):
    """Check that two folders hold the same bits, but where sums of one process are rounded."""
    for name in ("history.json", "probe-tip.csv", "scenario.toml"):
        assert (one / name).read_bytes() == (other / name).read_bytes(), name
    if rounded:
        assert_close(*(sx.read_history(folder / "history.csv") for folder in (one, other)))
    else:
        assert (one / "history.csv").read_bytes() == (other / "history.csv").read_bytes()
    first, second = (load_checkpoint(folder / "checkpoint.npz").motion for folder in (one, other))
    assert first.keys() == second.keys()
    for name, array in first.items():
        np.testing.assert_array_equal(second[name], array)
    a, b = (sx.read_series(folder / "motion.vtkhdf") for folder in (one, other))
    assert len(a) == len(b)
    for k in range(len(a)):
        np.testing.assert_array_equal(a.frame(k).displacement, b.frame(k).displacement)
        for field, values in a.frame(k).point_data.items():
            np.testing.assert_array_equal(b.frame(k).point_data[field], values)
        for field, values in a.frame(k).cell_data.items():
            np.testing.assert_array_equal(b.frame(k).cell_data[field]["bar"], values["bar"])


def assert_close(one, other):
    """Check that the columns of two histories differ by no more than the rounding of sums."""
    assert list(one) == list(other)
    units = {name: column.unit for name, column in one.columns.items()}
    for name, rows in one.items():
        if name in ("t", "steps", "penetration"):
            np.testing.assert_array_equal(other[name][: len(rows)], rows)
            continue
        largest = max(np.abs(values).max() for other_name, values in one.items() if units[other_name] == units[name])
        np.testing.assert_allclose(other[name][: len(rows)], rows, rtol=1e-13, atol=1e-14 * largest, err_msg=name)


def test_two_ranks_leave_the_files_of_one_process(drop):
    done = run(2, drop, "drop.toml", "--output", "two")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("A bar falls on a floor") == 1
    assert sx.read_result(drop / "two").summary["ranks"] == 2
    assert_same(drop / "one", drop / "two", rounded=True)


@pytest.mark.slow
def test_a_script_that_hides_the_exchange_leaves_them_too(drop):
    (drop / "script.py").write_text(SCRIPT, "utf-8")
    done = run(3, drop, python=("script.py",))
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "finished\n")
    assert_same(drop / "one", drop / "hidden", rounded=True)
    assert run(2, drop, "drop.toml", "--output", "two", "--quiet").returncode == 0
    assert_same(drop / "two", drop / "hidden")


@pytest.mark.slow
def test_a_run_goes_on_on_another_number_of_ranks(drop):
    words = ["drop.toml", "--output", "parts", "--quiet"]
    whole = run(2, drop, *words[:2], "whole", "--quiet", "--until", "0.015")
    assert whole.returncode == 0, whole.stderr
    for ranks, more in (
        (3, []),
        (2, ["--until", "0.0125", "--resume"]),
        (1, ["--until", "0.015", "--resume"]),
    ):
        done = run(ranks, drop, *words, *more)
        assert (done.returncode, done.stderr) == (0, "")
    assert_same(drop / "whole", drop / "parts", rounded=True)


@pytest.mark.slow
def test_loads_and_supports_that_move_do_the_same_on_any_number_of_ranks(drop):
    rough = DROP.replace("stiffness = 1e5", "stiffness = 1e5\nfriction = 0.3")
    (drop / "pushed.toml").write_text(rough + PUSHED, "utf-8")
    sx.simulate(drop / "pushed.toml", drop / "whole", progress=False)
    for ranks, words in ((2, []), (3, ["--until", "0.0125"]), (2, ["--until", "0.0125", "--resume"])):
        done = run(ranks, drop, "pushed.toml", "--output", f"on-{ranks}", "--quiet", *words)
        assert (done.returncode, done.stderr) == (0, "")
    assert_same(drop / "on-3", drop / "on-2")
    whole, parts = (sx.read_history(drop / name / "history.csv") for name in ("whole", "on-3"))
    works = [name for name in whole if name.startswith("work_")]
    assert len(works) == 5
    assert min(abs(whole[name][-1]) for name in works) > 0.01
    assert_close(whole, parts)


@pytest.mark.slow
@pytest.mark.parametrize(("begins", "friction"), [("distance", ""), ("distance", RUBS), ("touch", RUBS)])
def test_bodies_collide_on_any_number_of_ranks_as_in_one_process(begins, friction, tmp_path):
    (tmp_path / "two.toml").write_text(COLLISION.replace("BEGINS", begins).replace("FRICTION", friction), "utf-8")
    (tmp_path / "hiding.py").write_text(HIDING, "utf-8")
    sx.simulate(tmp_path / "two.toml", tmp_path / "one", progress=False)
    whole = sx.read_history(tmp_path / "one" / "history.csv")
    assert abs(whole["contact_force_left_right_x"]).max() > 1e3
    assert not friction or whole["work_friction_left_right"][-1] < -0.01
    for ranks, name in ((2, "hidden"), (3, "open")):
        done = run(ranks, tmp_path, "two.toml", name, python=("hiding.py",))
        assert (done.returncode, done.stderr) == (0, "")
        found = sx.read_history(tmp_path / name / "history.csv")
        for column in ("contact", "gap", *(name for name in whole if name.startswith("contact_force_left"))):
            np.testing.assert_array_equal(found[column], whole[column])
        assert_close(whole, found)
        first, second = (load_checkpoint(tmp_path / folder / "checkpoint.npz").motion for folder in ("one", name))
        for array in ("q", "v", "a"):
            np.testing.assert_array_equal(second[array], first[array])
        a, b = (sx.read_series(tmp_path / folder / "motion.vtkhdf") for folder in ("one", name))
        for field, values in a.frame(-1).point_data.items():
            np.testing.assert_array_equal(b.frame(-1).point_data[field], values)


@pytest.mark.slow
def test_bodies_that_pass_through_each_other_are_told_as_by_one_process(tmp_path, capsys):
    soft = COLLISION.replace('begins = "BEGINS"\nFRICTION', "stiffness = 1e3")
    soft = soft.replace("[6.0, 1.0, 1.0]", "[90.0, 0.0, 0.0]")
    (tmp_path / "two.toml").write_text(soft, "utf-8")
    assert main(["run", str(tmp_path / "two.toml"), "--quiet", "--output", str(tmp_path / "one")]) == 1
    reported = capsys.readouterr().err
    assert "passed through" in reported
    done = run(3, tmp_path, "two.toml", "--quiet", "--output", str(tmp_path / "one"), "--overwrite")
    assert (done.returncode, done.stderr) == (1, reported)


@pytest.mark.slow
def test_an_element_that_inverts_is_told_as_by_one_process(drop, capsys):
    words = ["drop.toml", *SOON, "--quiet", "--overwrite", "--output", str(drop / "bad")]
    assert main(["run", str(drop / "drop.toml"), *words[1:]]) == 1
    reported = capsys.readouterr().err
    assert "is inverted" in reported
    history = sx.read_history(drop / "bad" / "history.csv")
    done = run(3, drop, *words)
    assert (done.returncode, done.stderr) == (1, reported)
    assert_close(history, sx.read_history(drop / "bad" / "history.csv"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (["run", "drop.toml", "--set", "integrator.kind=graham-jelenic", "--set", "integrator.dt=1e-4"],
         "error: drop.toml: GrahamJelenic cayley-magnus-6 cannot run on several ranks; take one of Newmark, Midpoint"),
        (["run", "drop.toml", *PIECES, "--set", "output.format=pvd"],
         'error: drop.toml: [output]: frames cannot be in a file for each rank: their format is not "vtkhdf"; leave'),
        (["check", "drop.toml"], "error: it is 'symplex run' that runs on several ranks"),
    ],
)  # fmt: skip
def test_what_cannot_run_is_refused_once(drop, words, reported):
    done = run(2, drop, *words, python=("-m", "symplex"))
    assert done.returncode == 2
    assert done.stderr.count("error:") == 1
    assert reported in done.stderr
    assert not (drop / "drop-results").exists()


@pytest.mark.slow
def test_without_mpi4py_one_sentence_names_the_extra(drop):
    hidden = "import sys; sys.modules['mpi4py'] = None; from symplex.commands.cli import main; sys.exit(main())"
    done = run(2, drop, "run", "drop.toml", python=("-c", hidden))
    assert done.returncode == 2
    assert done.stderr == "symplex: error: several ranks need mpi4py and an MPI library; install symplex[mpi].\n"


@pytest.mark.slow
def test_ranks_of_two_versions_are_refused(drop):
    other = (
        "import os, sys, symplex.base.version as v; v.VERSION += '' if os.environ.get('PMI_RANK', '0') == '0' else 'x';"
        "from symplex.commands.cli import main; sys.exit(main())"
    )
    done = run(2, drop, "run", "drop.toml", python=("-c", other))
    assert done.returncode == 2
    assert done.stderr.startswith(f"symplex: error: rank 0 runs symplex {sx.__version__}, Python")


@pytest.mark.slow
def test_frames_and_checkpoints_in_pieces_are_those_of_one_file(drop):
    words = ["drop.toml", "--quiet", *PIECES, "--output", "pieces"]
    whole = sx.Scenario.read(drop / "drop.toml").with_values(
        {"output.partitioned": True, "output.fields": FIELDS, "run.until": 0.015}  # of which one process makes one file
    )
    sx.simulate(whole, drop / "file", progress=False)
    files = [f"{what}{k:05d}{end}" for what, end in (("part", "-a.npz"), ("part", "-b.npz"), ("piece", ".vtkhdf"))
             for k in range(2)]  # fmt: skip
    # On the same number of ranks, and then on another one, where the first goes on with all files.
    for ranks, more, there in (
        (2, [], files),
        (2, ["--resume", "--until", "0.0125"], files),
        (3, ["--resume", "--until", "0.015"], files[4:]),
    ):
        done = run(ranks, drop, *words, *more)
        assert (done.returncode, done.stderr) == (0, "")
        assert sorted(file.name for file in (drop / "pieces" / "motion").iterdir()) == sorted(there)
    assert_same(drop / "file", drop / "pieces", rounded=True)


@pytest.mark.usefixtures("signals")
@pytest.mark.slow
@pytest.mark.parametrize(("number", "more"), [(signal.SIGINT, []), (signal.SIGKILL, []), (signal.SIGKILL, PIECES)])
def test_a_run_that_is_ended_goes_on_to_the_same_bits(drop, number, more):
    """Ended by Ctrl-C, or by the death of one rank."""
    words = ["drop.toml", "--output", "ended", "--set", "run.frames=40", "--set", "run.checkpoint=0.01", *more]
    one = run(2, drop, *words[:2], "whole", *words[3:], "--quiet")
    assert one.returncode == 0, one.stderr
    command = [str(MPIEXEC), "-n", "2", sys.executable, "-m", "symplex", "run", *words]
    with (drop / "errors").open("w", encoding="utf-8") as errors:
        started = subprocess.Popen(command, cwd=drop, stdout=subprocess.DEVNULL, stderr=errors)
    while not (drop / "ended" / "checkpoint.npz").exists():
        assert started.poll() is None
        sleep(0.01)
    if number == signal.SIGINT:
        started.send_signal(number)
    elif (rank := _one_rank(started.pid)) is not None:
        os.kill(rank, number)
    status = started.wait(timeout=300)
    if number == signal.SIGINT:
        assert status in (130, 0)  # a fast machine may have finished before
    if status == 130:
        assert "resume with: mpiexec -n 2 symplex run drop.toml --set run.frames=40" in (drop / "errors").read_text()
    done = run(3, drop, *words, "--resume", "--quiet")
    assert done.returncode == 0, done.stderr
    assert_same(drop / "whole", drop / "ended")


def _one_rank(pid):
    """The process of the second rank among those that a process has started, while it runs."""
    for number in descendants(pid):
        with suppress(OSError):
            if b"PMI_RANK=1" in Path(f"/proc/{number}/environ").read_bytes().split(b"\0"):
                return number
    return None


@pytest.mark.slow
def test_all_ranks_agree_on_how_long_messages_take(tmp_path):
    (tmp_path / "timed.py").write_text(TIMED, "utf-8")
    done = run(3, tmp_path, python=("timed.py",))
    assert done.returncode == 0, done.stderr
