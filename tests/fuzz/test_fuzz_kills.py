"""Runs that are killed at random moments, by several signals, and resumed: the same to the last bit as in one go.

A server process has everything imported and compiled, and has run all cases once; each run that is to be killed is a
fork of it, so that a kill costs some tenths of a second.
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import numpy as np
import pytest

from symplex.errors import SymplexError

PATIENCE = 600.0  # s for what takes a second
SIGNALS = ("SIGKILL", "SIGTERM", "SIGTERM, then SIGKILL", "SIGHUP", "SIGINT")
MOST_KILLS = 5  # of one run

BODY = """
[[body]]
name = "block"
mesh = { box = [1.0, 0.6, 0.3], cells = [1, 1, 1], split = "6" }
material = { lambda = 2.0, mu = 1.0, density = 1.0 }
velocity = [0.1, 0.0, -0.4]
"""
FLOOR = """
[[obstacle]]
name = "floor"
kind = "half-space"
point = [0, 0, -0.01]
normal = [0, 0.1, 1]
stiffness = 20
"""
OTHER = """
[[body]]
name = "other"
mesh = { box = [1.0, 0.6, 0.3], cells = [1, 1, 1], split = "6" }
material = { lambda = 2.0, mu = 1.0, density = 1.0 }
translate = [0.1, 0.2, -0.4]
velocity = [0.0, 0.0, 0.3]
[[contact]]
margin = 0.02
"""
PUSHED = """
[[support]]
name = "table"
body = "block"
group = "x_min"
displacement = [0.02, 0, 0]
history = { kind = "sine", frequency = 3 }
[[load]]
name = "push"
kind = "nodal"
body = "block"
group = "x_max"
force = [0, 0.001, 0]
history = { kind = "sine", frequency = 1 }
"""
RODS = """
[[rod]]
name = "ropes"
body = "block"
group = "x_min"
to = [0.0, 0.0, 3.0]
"""
BATH = "[thermostat]\ntemperature = 0.001\nrate = 1.0\nboltzmann = 1.0\nseed = 5\n"
HUNG = BODY.replace("[0.1, 0.0, -0.4]", "[0.1, 0.0, 0.0]") + RODS
PROBES = """
[[probe]]
name = "seldom"
body = "block"
group = "x_max"
quantities = ["displacement", "stress"]
every = 3
frame_on = "peak"
[[probe]]
name = "always"
body = "block"
nodes = [0, 3]
quantities = ["velocity", "acceleration"]
format = "hdf5"
"""
# What is run, and how long it should be in s of the motion: some tenths of a second of wall time.
CASES = {
    "newmark": (BODY + FLOOR, "dt = 0.001", 20.0),
    "newmark, contact": (BODY + OTHER, "dt = 0.001", 4.0),
    "newmark, loads and supports": (BODY + PUSHED, "dt = 0.002", 6.0),
    "newmark, trapezoidal": (BODY + FLOOR, "dt = 0.02\nbeta = 0.25", 4.0),
    "newmark, thermostat": (BODY + FLOOR + BATH, "dt = 0.002", 6.0),
    "force-stepping": (BODY + FLOOR, "grid = 5e-4", 6.0),
    "force-stepping, contact": (BODY + OTHER, "grid = 2e-3", 1.0),
    "energy-momentum": (BODY + PUSHED, "dt = 0.02", 4.0),
    "energy-momentum, contact": (BODY + OTHER + 'law = "barrier"\nfriction = 0.2\n', "dt = 0.05", 4.0),
    "midpoint, order 4": (BODY + FLOOR, "dt = 0.05\norder = 4", 3.0),
    "variational-midpoint": (BODY + FLOOR, "dt = 0.02", 4.0),
    "adaptive-variational": (BODY, "dt = 0.05", 4.0),
    "generalized-alpha": (BODY + PUSHED, "dt = 0.02", 4.0),
    "graham-jelenic": (BODY, 'dt = 0.05\nscheme = "cayley-magnus-4"', 2.0),
    "zhang-skeel": (BODY + FLOOR, "dt = 0.02", 6.0),
    "rattle": (HUNG, "dt = 0.01", 6.0),
    "rattle, order 4, thermostat": (HUNG + BATH, "dt = 0.02\norder = 4", 3.0),
    "shake": (HUNG, "dt = 0.01", 6.0),
}
# Of few samples each is interrupted on the way, of many also while they are written.
SHAPES = {"few samples": (2, 2), "many samples": (10, 20)}
FORMATS = ("vtkhdf", "pvd")


def cases() -> list[tuple[str, str, str]]:
    """Return the names, shapes and formats of all that is run."""
    return [(name, shape, series) for name in CASES for shape in SHAPES for series in FORMATS]


def scenario(name: str, shape: str, series: str) -> str:
    """Return the text of a scenario."""
    bodies, keys, duration = CASES[name]
    frames, samples = SHAPES[shape]
    run = f"[run]\nduration = {duration}\nframes = {frames}\nsamples = {samples}\ncheckpoint = 0.02\n"
    kind = name.partition(",")[0]
    return f'{bodies}{PROBES}[integrator]\nkind = "{kind}"\n{keys}\n{run}[output]\nformat = "{series}"\n'


def home(folder: Path, case: tuple[str, str, str]) -> Path:
    """Return the folder of a case."""
    return folder / str(cases().index(case))


# -- the server --------------------------------------------------------------------------------------------------------


def serve(folder: Path) -> None:
    """Run every case once in the folder, tell how long each took, and then start runs and wait for them as reported."""
    from symplex.commands.cli import main

    out = os.fdopen(os.dup(1), "w")
    seconds = []
    for case in cases():
        path = home(folder, case)
        path.mkdir()
        (path / "small.toml").write_text(scenario(*case), encoding="utf-8")
        for target in ("warm", "whole"):  # the first one compiles
            if target == "warm" and case[1:] != (next(iter(SHAPES)), FORMATS[0]):
                continue
            start = perf_counter()
            arguments = ["run", str(path / "small.toml"), "--output", str(path / target), "--no-pictures", "--quiet"]
            if main(arguments) != 0:
                raise RuntimeError(f"{case} does not run")
        seconds.append(perf_counter() - start)
    print(json.dumps(seconds), file=out, flush=True)
    for line in sys.stdin:
        print(json.dumps(_answered(json.loads(line))), file=out, flush=True)


def _answered(task: dict[str, Any]) -> int | None:
    """Start a run and return its process id; or return its exit status, or None if it goes on."""
    from symplex.commands.cli import main

    if "wait" in task:
        pid, status = os.waitpid(task["wait"], os.WNOHANG)
        return os.waitstatus_to_exitcode(status) if pid else None
    pid = os.fork()
    if pid:
        return pid
    status = 99
    try:
        log = os.open(task["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        for number in (1, 2):
            os.dup2(log, number)
        status = main(task["arguments"])
    except KeyboardInterrupt:  # before a run heeds it, as Python's own start would
        status = 130
    finally:
        sys.stderr.flush()
        os._exit(status)


class Server:
    """The process whose forks are killed."""

    def __init__(self, folder: Path):
        command = [sys.executable, str(Path(__file__)), "--serve", str(folder)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.seconds: list[float] = json.loads(self._line(1200.0))

    def ask(self, task: dict[str, Any]) -> int | None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(task) + "\n")
        self._process.stdin.flush()
        return json.loads(self._line(PATIENCE))

    def _line(self, seconds: float) -> str:
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], seconds)
        line = self._process.stdout.readline() if ready else ""
        if not line:
            raise RuntimeError("the server of the fuzzer does not answer")
        return line

    def wait(self, pid: int) -> int | None:
        """Return the exit status of a run, or None after a long time."""
        deadline = perf_counter() + PATIENCE
        while perf_counter() < deadline:
            status = self.ask({"wait": pid})
            if status is not None:
                return status
            sleep(0.005)
        os.kill(pid, signal.SIGKILL)
        return None

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


# -- trials ------------------------------------------------------------------------------------------------------------


def trials(seed: int, count: int) -> Iterator[tuple[str, str]]:
    """Yield by which signals runs were killed, and what came of it: ``count`` kills, of one run after the other."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = Server(folder)
        try:
            done = 0
            while done < count:
                case = chance.choice(cases())
                kills, outcome = life(server, folder, case, chance, min(MOST_KILLS, count - done))
                done += len(kills)
                for number in kills:
                    yield f"run killed by {number}, resumed", outcome
        finally:
            server.close()


def life(
    server: Server, folder: Path, case: tuple[str, str, str], chance: random.Random, most: int
) -> tuple[list[str], str]:
    """Run a case with some kills, then to its end; return the kills and the outcome of all."""
    path, seconds = home(folder, case), server.seconds[cases().index(case)]
    out = Path(tempfile.mkdtemp(dir=folder)) / "out"
    kills, reported = [], f"{', '.join(case)}: "
    for _ in range(chance.randint(1, most)):
        name = chance.choice(SIGNALS)
        moments = [chance.uniform(0.0, 0.8 * seconds), chance.choice([0.0, chance.uniform(0.0, 0.05)])]
        status, said, killed = run(server, path / "small.toml", out, name, moments)
        reported += f"{name} after {moments[0]:.3f} s -> {status}; "
        kills += [name] if killed else []
        if problem := wrong_end(status, said, name):
            return kills or [name], f"{problem} ({reported})"
        if status == 0:
            break  # it was finished before, or all the same
    status, said, _ = run(server, path / "small.toml", out, "", [])
    if status != 0:
        return kills, f"defect: not resumed: exit status {status}: {said[-600:]} ({reported})"
    try:
        differing = difference(path / "whole", out, case[2])
    except SymplexError as error:
        differing = f"what it left cannot be read: {error}"
    return kills, f"wrong result: {differing} ({reported})" if differing else "ran"


def run(server: Server, scenario: Path, out: Path, name: str, moments: list[float]) -> tuple[int | None, str, bool]:
    """Start or resume a run and send it signals at moments.

    Return its exit status, None if it does not end, what it said, and whether it was there to get a signal.
    """
    log = out.parent / "log"
    again = ["--resume"] if (out / "scenario.toml").exists() else []
    arguments = ["run", str(scenario), "--output", str(out), "--no-pictures", "--quiet", *again]
    pid = server.ask({"arguments": arguments, "log": str(log)})
    assert pid is not None
    status, killed = None, False
    for moment, kind in zip(moments, name.split(", then "), strict=False):
        sleep(moment)
        status = server.ask({"wait": pid})
        if status is not None:
            break
        os.kill(pid, getattr(signal, kind))
        killed = True
    if status is None:
        status = server.wait(pid)
    return status, log.read_text(errors="replace") if log.exists() else "", killed


def wrong_end(status: int | None, said: str, name: str) -> str:
    """Return what is wrong about how a run ended that signals were sent to."""
    if status is None:
        return "hang"
    if "Traceback" in said or "Exception ignored" in said:
        return f"traceback: {said[-600:]}"
    numbers = [getattr(signal, kind) for kind in name.split(", then ")]
    allowed = {0, *(-number for number in numbers), *(128 + number for number in numbers)}
    if status not in allowed:
        return f"defect: exit status {status}: {said[-600:]}"
    if status > 0 and said.count("\n") > 1:
        return f"defect: more than a line: {said[-600:]}"
    return ""


def difference(whole: Path, found: Path, series: str) -> str:
    """Return in what two results differ, if they do."""
    from symplex.base.checkpoint import load_checkpoint
    from symplex.meshes.series.series import read_series
    from symplex.runs.probe_files import read_probes

    if (whole / "history.csv").read_bytes() != (found / "history.csv").read_bytes():
        return "the histories differ"
    one, other = (load_checkpoint(folder / "checkpoint.npz") for folder in (whole, found))
    if one.sample != other.sample or one.motion.keys() != other.motion.keys():
        return "the last checkpoints differ"
    if odd := next((name for name, a in one.motion.items() if not _same(a, other.motion[name])), ""):
        return f"'{odd}' of the last checkpoints differs"
    first, second = (read_series(folder / f"motion.{series}") for folder in (whole, found))
    if not _same(first.times, second.times):
        return "the times of the frames differ"
    for k, (a, b) in enumerate(zip(first.frames(), second.frames(), strict=True)):
        pairs = [(a.displacement, b.displacement), *((a.point_data[x], b.point_data[x]) for x in a.point_data)]
        pairs += [(a.cell_data[x][y], b.cell_data[x][y]) for x in a.cell_data for y in a.cell_data[x]]
        if not all(_same(x, y) for x, y in pairs):
            return f"frame {k} differs"
    reported, others = (read_probes(folder) for folder in (whole, found))
    if reported.keys() != others.keys():
        return "the probes differ"
    for name, rows in reported.items():
        if rows.keys() != others[name].keys() or not all(_same(rows[k], others[name][k]) for k in rows):
            return f"probe '{name}' differs"
    summaries = [json.loads((folder / "summary.json").read_text()) for folder in (whole, found)]
    if summaries[0]["probes"] != summaries[1]["probes"]:
        return "what the summaries tell of probes differs"
    summary = summaries[1]
    return "" if summary["status"] == "finished" else f"the status is {summary['status']}"


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


@pytest.mark.usefixtures("signals")
@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_killed_runs_go_on_bit_identically():
    outcomes = Counter(trials(seed=1, count=200))
    defects = [f"{what}: {outcome}" for what, outcome in outcomes if outcome != "ran"]
    assert not defects, "\n".join(defects)
    assert {what for what, _ in outcomes} == {f"run killed by {name}, resumed" for name in SIGNALS}


if __name__ == "__main__":
    serve(Path(sys.argv[2]))
