"""Pictures that other processes draw: the same ones, in the same order, and nothing is left of those processes."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter, sleep

import numpy as np
import pytest

from symplex.runs import drawing_processes
from symplex.runs.drawing import Drawn, Look
from symplex.runs.drawing_processes import DrawingProcesses, begin, taken
from symplex.runs.pictures import draw_all
from symplex.runs.results import RunFolder
from symplex.runs.run import simulate
from symplex.scenario.scenario import Scenario

TEXT = """
title = "A block"
[[body]]
name = "block"
mesh = { box = [0.1, 0.1, 0.1], cells = [1, 1, 1], split = "6" }
material = { young = 1e9, poisson = 0.3, density = 1000 }
velocity = [0, 0, -10]
[integrator]
kind = "newmark"
[run]
duration = DURATION
frames = 4
[output]
film = "none"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of a run without pictures."""
    path = tmp_path_factory.mktemp("run") / "out"
    simulate(Scenario.parse(TEXT.replace("DURATION", "2e-4"), "small.toml"), path, progress=False, pictures=False)
    return RunFolder(path)


@pytest.fixture
def useful(monkeypatch):
    """Let processes be of use, whatever other tests have loaded."""
    monkeypatch.setattr(drawing_processes, "_are_useful", lambda: True)


@pytest.fixture
def restored_signal():
    """Return the function that sets what a write to a closed pipe does, until the end of the test."""
    before = signal.getsignal(signal.SIGPIPE)
    yield lambda heeded: signal.signal(signal.SIGPIPE, heeded)
    signal.signal(signal.SIGPIPE, before)


@pytest.fixture(scope="module", autouse=True)
def ended():
    """End the processes that these tests share: each takes two seconds to load what it draws with."""
    yield
    drawing_processes._end_all()


@contextmanager
def pair_taken():
    """Take processes that are there."""
    with taken(True) as processes:
        assert processes is not None
        yield processes


def processes_of(pair):
    """Return the processes of a pair of them."""
    return [one._process for one in pair._begun]


def drawn(folder, processes, **options):
    """Draw without a film; return what was left out and what was shown."""
    shown = []
    left_out = draw_all(
        folder,
        film=options.get("film", "none"),
        seconds=1.0,
        title="A block",
        show=lambda picture, part: shown.append((picture, part)),
        processes=processes,
    )
    return left_out, shown


@pytest.mark.usefixtures("drawing", "useful")
def test_processes_draw_the_same_pictures_and_the_next_run_has_them(folder, monkeypatch):
    from PIL import Image

    found, said = [], []
    with pair_taken() as processes:
        for pair in (None, processes):
            for path in (folder.plot, folder.snapshots):
                path.unlink(missing_ok=True)
            left_out, shown = drawn(folder, pair)
            assert left_out == Drawn()
            said.append(shown)
            found.append([np.asarray(Image.open(path)) for path in (folder.plot, folder.snapshots)])
        first = [one.pid for one in processes_of(processes)]
    assert said[0] == said[1] == [("history.png", 0.0), ("snapshots.png", 0.0)]
    for here, there in zip(*found, strict=True):
        np.testing.assert_array_equal(here, there)
    with pair_taken() as processes:
        assert [one.pid for one in processes_of(processes)] == first
        monkeypatch.chdir(folder.path)  # the processes have begun elsewhere
        assert drawn(RunFolder("."), processes)[0] == Drawn()


@pytest.mark.usefixtures("useful")
def test_what_cannot_be_drawn_is_told_in_one_sentence(folder, tmp_path):
    with pair_taken() as processes:
        left_out, _ = drawn(RunFolder(tmp_path), processes)
        assert "history.csv" in left_out.skipped
        assert "\n" not in left_out.skipped
        look = Look(field="nothing")
        left_out = processes.draw(folder, look, "none", 1.0, "", lambda picture, part: None)
        assert left_out is not None
        assert "nothing" in left_out.skipped or "OpenGL" in left_out.skipped


@pytest.mark.usefixtures("drawing", "useful")
@pytest.mark.parametrize(
    "heeded",
    [pytest.param(signal.SIG_IGN, marks=pytest.mark.slow), signal.SIG_DFL],
    ids=["as Python has it", "as gmsh leaves it"],
)
def test_a_process_that_dies_is_told_and_the_next_picture_has_another(folder, heeded, restored_signal):
    restored_signal(heeded)
    with pair_taken() as processes:
        frames = processes._frames._process
        with pytest.MonkeyPatch.context() as patch:
            send = processes._frames._send
            patch.setattr(processes._frames, "_send", lambda task: (frames.kill(), frames.wait(), send(b""))[0])
            left_out, _ = drawn(folder, processes)
        assert left_out == Drawn("the process that draws frames ended with signal 9")
        assert drawn(folder, processes)[0] == Drawn()  # as where one has waited too long, and has ended
        assert processes._frames._process.pid != frames.pid


@pytest.mark.parametrize(
    ("program", "ended"),
    [
        ("import sys; sys.stdin.buffer.read(1)", "status 0"),
        ("raise SystemExit(0)", "status 0"),
        ("exit(3)", "status 3"),
    ],
)
def test_a_program_that_never_draws_is_not_begun_for_ever(folder, monkeypatch, program, ended):
    begun, begin_one = [], drawing_processes._Process._begin

    def counted(one):
        begun.append(one)
        assert len(begun) < 10
        begin_one(one)

    monkeypatch.setattr(drawing_processes, "_PROGRAM", program)
    monkeypatch.setattr(drawing_processes._Process, "_begin", counted)
    process = drawing_processes._Process("frames")
    try:
        process._task = b"0"
        with suppress(OSError):
            process._send(process._task)
        left_out = process.outcome(lambda picture, part: None)
    finally:
        process.end()
    assert left_out == Drawn(f"the process that draws frames ended with {ended}")


def test_what_is_drawn_is_interrupted_also_where_the_run_ignores_interrupts(folder):
    """As in the background of a script, where processes inherit that: the plot ends at once, and by itself."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        processes = DrawingProcesses()
        processes.complete()
    finally:
        signal.signal(signal.SIGINT, before)

    def interrupted(picture, part):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        processes.draw(folder, Look(), "none", 1.0, "", interrupted)
    assert processes._plots is not None
    assert processes._plots._process.returncode == 1


@pytest.mark.slow
@pytest.mark.usefixtures("useful")
def test_processes_are_there_only_where_they_are_wanted(monkeypatch):
    with taken(False) as processes:
        assert processes is None
    drawing_processes._end_all()
    monkeypatch.setattr(drawing_processes, "_are_useful", lambda: False)
    begin()
    assert not drawing_processes._resting


def test_a_program_with_its_own_python_is_not_begun_once_more(monkeypatch):
    """As those of PyInstaller: what is called the interpreter there is the program itself."""
    monkeypatch.delitem(sys.modules, "pyvista", raising=False)
    monkeypatch.delenv("SYMPLEX_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1}, raising=False)
    monkeypatch.setattr(drawing_processes, "require_packages", lambda: None)
    assert drawing_processes._are_useful()
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert not drawing_processes._are_useful()


@pytest.mark.slow
def test_an_error_on_the_way_ends_what_is_drawn(folder):
    processes = DrawingProcesses()

    def interrupted(picture, part):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        processes.draw(folder, Look(), "none", 1.0, "", interrupted)
    assert all(one.returncode is not None for one in processes_of(processes))
    assert not list(folder.path.glob("*.new"))


@pytest.mark.usefixtures("signals")
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for processes as Linux tells of them")
@pytest.mark.parametrize("number", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_no_process_outlives_the_run(tmp_path, number):
    scenario = tmp_path / "long.toml"
    scenario.write_text(TEXT.replace("DURATION", "100.0"), "utf-8")
    command = [sys.executable, "-m", "symplex", "run", str(scenario), "--output", str(tmp_path / "out")]
    environment = {name: value for name, value in os.environ.items() if name != "SYMPLEX_THREADS"}
    expected = 2 if len(os.sched_getaffinity(0)) > 1 else 0
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)
    try:
        wait_until(lambda: (tmp_path / "out" / "checkpoint.npz").exists() and len(children_of(run.pid)) >= expected)
        children = children_of(run.pid)
        run.send_signal(number)
        said, _ = run.communicate(timeout=600)  # those that hold its output have ended then
    finally:
        run.kill()
    assert len(children) == expected
    wait_until(lambda: not any(Path(f"/proc/{child}/fd").exists() and any(open_in(child)) for child in children))
    assert run.returncode == (130 if number == signal.SIGINT else -number)
    assert b"Traceback" not in said


def wait_until(there, seconds=600.0):
    """Wait for something, and return it."""
    end = perf_counter() + seconds
    while not (found := there()):
        assert perf_counter() < end
        sleep(0.02)
    return found


def children_of(pid):
    """Return the processes that a process has begun."""
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()]


def open_in(pid):
    """Return what a process has open; one that has ended has nothing."""
    try:
        return list(Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return []
