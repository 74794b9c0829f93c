"""Signals: what ends a run and when, what it has kept, and with which exit status it ends."""

import os
import signal
import subprocess
import sys
import threading
from time import perf_counter, sleep

import numpy as np
import pytest

import symplex.runs.checkpoints
import symplex.runs.loop
import symplex.runs.samples
from symplex.base.checkpoint import load_checkpoint
from symplex.errors import Interrupted
from symplex.runs.history import read_history
from symplex.runs.interrupts import heeded
from symplex.runs.run import simulate
from symplex.scenario.scenario import Scenario
from symplex.time.explicit.newmark import NewmarkMotion

SCENARIO = """
[[body]]
name = "block"
mesh = { box = [0.1, 0.1, 0.1], cells = [1, 1, 1], split = "6" }
material = { young = 1e9, poisson = 0.3, density = 1000 }
velocity = [0, 0, -10]
[[obstacle]]
name = "floor"
kind = "half-space"
point = [0, 0, -1e-4]
normal = [0, 0, 1]
stiffness = 1e8
[integrator]
kind = "newmark"
dt = 1e-6
[run]
duration = 6e-4
frames = 3
samples = 3
checkpoint = 0.5
"""


pytestmark = pytest.mark.usefixtures("signals")


# -- the handlers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_is_noted_and_the_second_one_interrupts(name):
    number = getattr(signal, name)
    before = signal.getsignal(number)
    with heeded() as stop:
        stop.raise_if_asked()
        os.kill(os.getpid(), number)
        assert stop.signal == number
        with stop.noted():
            os.kill(os.getpid(), number)
        with pytest.raises(Interrupted) as caught:
            os.kill(os.getpid(), number)
        assert caught.value.signal == number
        with pytest.raises(Interrupted):
            stop.raise_if_asked()
    with heeded() as stop, stop.noted(0), pytest.raises(Interrupted):
        os.kill(os.getpid(), number)
    assert signal.getsignal(number) == before


def test_what_was_to_be_ignored_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        with heeded() as stop:
            os.kill(os.getpid(), signal.SIGHUP)
            assert stop.signal == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def test_outside_the_main_thread_nothing_is_heeded():
    found = []

    def work():
        with heeded() as stop:
            found.append(stop.signal)

    thread = threading.Thread(target=work)
    before = signal.getsignal(signal.SIGTERM)
    thread.start()
    thread.join()
    assert found == [0]
    assert signal.getsignal(signal.SIGTERM) == before


# -- between samples -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that nothing interrupted: its folder."""
    folder = tmp_path_factory.mktemp("whole") / "out"
    simulate(Scenario.parse(SCENARIO, "small.toml"), folder, progress=False, pictures=False)
    return folder


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_run_stops_between_two_steps_of_a_sample(number, whole, tmp_path, monkeypatch):
    monkeypatch.setattr(symplex.runs.loop, "_LOOK", 0.0)  # one step at a time
    run, scenario = NewmarkMotion._run, Scenario.parse(SCENARIO, "small.toml")

    def signalled(motion, n_steps):
        run(motion, n_steps)
        if motion.n == 310:
            os.kill(os.getpid(), number)

    with monkeypatch.context() as patch:
        patch.setattr(NewmarkMotion, "_run", signalled)
        with pytest.raises(Interrupted) as caught:
            simulate(scenario, tmp_path / "out", progress=False, pictures=False)
    assert caught.value.signal == number
    checkpoint = load_checkpoint(tmp_path / "out" / "checkpoint.npz")
    assert (checkpoint.sample, int(checkpoint.motion["n"])) == (1, 310)
    assert len(read_history(tmp_path / "out" / "history.csv")["t"]) == 2
    summary = simulate(scenario, tmp_path / "out", resume=True, progress=False, pictures=False)
    assert summary["statistics"]["steps"] == 600
    assert (tmp_path / "out" / "history.csv").read_bytes() == (whole / "history.csv").read_bytes()


def test_checkpoints_are_written_while_a_sample_takes_long(whole, tmp_path, monkeypatch):
    monkeypatch.setattr(symplex.runs.loop, "_LOOK", 0.0)
    now, kept, save = [0.0], [], symplex.runs.checkpoints.save_checkpoint
    run = NewmarkMotion._run

    def slow(motion, n_steps):
        run(motion, n_steps)
        now[0] += n_steps / 64.0  # so that 33 steps are more than 0.5 s

    def saved(path, checkpoint):
        kept.append((checkpoint.sample, int(checkpoint.motion["n"])))
        save(path, checkpoint)

    monkeypatch.setattr(NewmarkMotion, "_run", slow)
    monkeypatch.setattr(symplex.runs.loop, "perf_counter", lambda: now[0])
    monkeypatch.setattr(symplex.runs.checkpoints, "save_checkpoint", saved)
    simulate(Scenario.parse(SCENARIO, "small.toml"), tmp_path / "out", progress=False, pictures=False)
    assert kept[:8] == [(0, 0), (0, 33), (0, 66), (0, 99), (0, 132), (0, 165), (0, 198), (1, 231)]
    assert kept[-1] == (3, 600)
    assert (tmp_path / "out" / "history.csv").read_bytes() == (whole / "history.csv").read_bytes()


def test_a_signal_while_a_frame_is_written_waits_for_it(whole, tmp_path, monkeypatch):
    fields_of, calls = symplex.runs.samples.fields_of, []

    def signalled(*arguments):
        calls.append(1)
        if len(calls) == 2:
            os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGTERM)
        return fields_of(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(symplex.runs.samples, "fields_of", signalled)
        with pytest.raises(Interrupted):
            simulate(Scenario.parse(SCENARIO, "small.toml"), tmp_path / "out", progress=False, pictures=False)
    assert load_checkpoint(tmp_path / "out" / "checkpoint.npz").sample == 1
    simulate(Scenario.parse(SCENARIO, "small.toml"), tmp_path / "out", resume=True, progress=False, pictures=False)
    assert (tmp_path / "out" / "history.csv").read_bytes() == (whole / "history.csv").read_bytes()


def test_a_signal_at_the_end_leaves_the_run_finished_without_pictures(tmp_path, monkeypatch, capsys):
    record = symplex.runs.samples.SamplesOfRun.record

    def signalled(self, k, *arguments):
        record(self, k, *arguments)
        if k == 3:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(symplex.runs.samples.SamplesOfRun, "record", signalled)
    summary = simulate(Scenario.parse(SCENARIO, "small.toml"), tmp_path / "out")
    assert summary["status"] == "finished"
    assert "stopped from outside; draw them with: symplex render" in summary["pictures_skipped"]
    assert "pictures skipped: stopped from outside" in capsys.readouterr().out
    assert not (tmp_path / "out" / "history.png").exists()


# -- from outside ----------------------------------------------------------------------------------------------


def _steps_kept(path):
    """Return how many steps the last checkpoint of a run has, zero if there is none."""
    return int(load_checkpoint(path).motion["n"]) if path.exists() else 0


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
@pytest.mark.slow
def test_one_long_sample_is_interrupted_at_once(number, status, tmp_path):
    path, out = tmp_path / "long run.toml", tmp_path / "out"
    path.write_text(
        SCENARIO.replace("dt = 1e-6", "dt = 1e-11").replace("frames = 3\nsamples = 3", "frames = 1\nsamples = 1")
    )
    command = [sys.executable, "-m", "symplex", "run", str(path), "--output", str(out), "--no-pictures", "--quiet"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = perf_counter() + 600
    while not _steps_kept(out / "checkpoint.npz"):
        assert perf_counter() < deadline
        assert process.poll() is None
        sleep(0.01)
    process.send_signal(number)
    said, error = process.communicate(timeout=600)
    assert process.returncode == status
    assert said == ""
    assert error == (
        f"symplex: interrupted; what was computed is in {out}; "
        f"resume with: symplex run '{path}' --output {out} --resume\n"
    )
    checkpoint = load_checkpoint(out / "checkpoint.npz")
    assert checkpoint.sample == 0
    assert 0 < int(checkpoint.motion["n"]) < 6e7
    assert np.isfinite(checkpoint.motion["q"]).all()
