"""Results folders that are damaged at random: each command goes on as if nothing were, or refuses in one sentence."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import damages
import numpy as np
import pytest

HERE = Path(__file__).parent

SECONDS = 600.0  # for one trial, of seconds
_MEMORY = 8 << 30  # bytes of addresses
RAN, REFUSED = "ran", "refused in one sentence"

SCENARIO = """
title = "A small impact"
[[body]]
name = "cube"
mesh = { box = [0.1, 0.1, 0.1], cells = [1, 1, 1], split = "SPLIT" }
material = { lambda = 60.5e9, mu = 26e9, density = 2700 }
velocity = [100, 0, -500]
[[obstacle]]
name = "floor"
kind = "half-space"
point = [0, 0, -0.001]
normal = [0, 0.1, 1]
stiffness = 1e12
[integrator]
INTEGRATOR
[run]
duration = 4e-6
frames = 4
samples = 12
checkpoint = CHECKPOINT
[output]
format = "FORMAT"
"""
INTEGRATORS = {
    "newmark": 'kind = "newmark"\ndt = 2e-9',
    "force-stepping": 'kind = "force-stepping"\ngrid = 2e-4',
    "energy-momentum": 'kind = "energy-momentum"\ndt = 1e-7',
}
# Of a base: integrator, format, how often there is a checkpoint, and the sample after which the run is stopped.
ALWAYS, NEVER = "1e-9", "1e9"
BASES = [
    (integrator, form, checkpoint, stopped)
    for integrator in INTEGRATORS
    for form in ("vtkhdf", "pvd")
    for checkpoint, stopped in ((ALWAYS, None), (ALWAYS, 7), (NEVER, 8))
]
COMMANDS = {"resume": 5, "info": 2, "plot": 2, "render": 2}


def trials(seed: int, count: int) -> Iterator[tuple[str, str]]:
    """Yield what was tried and its outcome for so many damaged results folders."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder, _Server(Path(folder)) as server:
        for k in range(count):
            if k % 10 == 9:
                yield "results: disk full", server(_full_disk(chance))
                continue
            base = chance.randrange(len(BASES))
            command = chance.choices(list(COMMANDS), list(COMMANDS.values()))[0]
            seed_of_damage = chance.getrandbits(32)
            what = damages.describe(server.bases / str(base), seed_of_damage)
            drawn = chance.random() < 0.1 or (command == "plot" and what.startswith("history"))
            task = {"base": base, "command": command, "seed": seed_of_damage, "drawn": drawn}
            yield f"results: {what}", server(task)


def _full_disk(chance: random.Random) -> dict[str, Any]:
    """Return the task of a run in which no file can become longer than a limit."""
    base = chance.choice([k for k, (_, _, checkpoint, stopped) in enumerate(BASES) if checkpoint == ALWAYS and stopped])
    return {"base": base, "command": "run", "limit": int(10 ** chance.uniform(2.8, 5.5))}


class _Server:
    """A process that has everything loaded and forks for each trial, so that a crash is an outcome."""

    def __init__(self, folder: Path):
        self.bases = folder / "bases"
        self._folder = folder

    def __enter__(self) -> _Server:
        command = [sys.executable, __file__, str(self._folder)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._read() == "ready"
        return self

    def __call__(self, task: dict[str, Any]) -> str:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(task) + "\n")
        self._process.stdin.flush()
        outcome = self._read()
        return outcome if outcome in (RAN, REFUSED) else f"{outcome}\n{BASES[task['base']]}, {task}"

    def _read(self) -> str:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


# -- in the server --------------------------------------------------------------------------------------------------


def _serve(folder: Path) -> None:
    """Make the bases, then a trial for each line on standard input."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def answer(outcome: str) -> None:
        answers.write(json.dumps(outcome) + "\n")
        answers.flush()

    _make_bases(folder / "bases")
    answer("ready")
    for line in sys.stdin:
        task, trial = json.loads(line), folder / "trial"
        shutil.rmtree(trial, ignore_errors=True)
        trial.mkdir()
        child = os.fork()
        if not child:
            _bounded(lambda task=task, trial=trial: _judged(task, folder / "bases", trial), trial / "outcome")
        status = _waited(child)
        if status is None:
            answer("hang")
        elif os.WIFSIGNALED(status):
            answer(f"crash: {signal.Signals(os.WTERMSIG(status)).name}")
        else:
            answer(json.loads((trial / "outcome").read_text("utf-8")))


def _waited(child: int) -> int | None:
    """Return the exit status of a child, or None if it had to be killed."""
    until, pause = monotonic() + SECONDS, 0.001
    while monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        sleep(pause)
        pause = min(2 * pause, 0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _bounded(trial: Callable[[], str], result: Path) -> None:
    """Make a trial in this process, write its outcome to a file and exit."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    try:
        outcome = trial()
    except BaseException as error:
        outcome = f"wrong result: {''.join(traceback.format_exception(error))}"
    result.write_text(json.dumps(outcome), encoding="utf-8")
    os._exit(0)


def _make_bases(folder: Path) -> None:
    """Make a results folder of each kind, and next to each of those that were stopped what it would have become."""
    import pyvista  # noqa: F401

    import symplex.meshes.pictures.scene  # noqa: F401
    from symplex.meshes.pictures.render import require_rendering
    from symplex.runs.history import read_history
    from symplex.runs.plots import plot_history
    from symplex.runs.run import simulate

    require_rendering()
    for k, (_, _, _, stopped) in enumerate(BASES):
        base = folder / str(k)
        base.mkdir(parents=True)
        (base / "a.toml").write_text(scenario_of(k), encoding="utf-8")
        simulate(base / "a.toml", base / "whole", progress=False, pictures=False)
        if stopped is None:
            shutil.copytree(base / "whole", base / "out")
        else:
            _stopped_run(base, stopped)
        (base / "out" / "notes.txt").write_text("mine", encoding="utf-8")
    plot_history(read_history(folder / "0" / "out" / "history.csv"), folder / "plot.png")  # loads what plots need


def _stopped_run(base: Path, sample: int) -> None:
    import symplex.runs.run
    from symplex.runs.progress import Display

    class Stopping(Display):
        left = sample

        def update(self, t: float, drift: float, done: str) -> None:
            self.left -= 1
            if not self.left:
                raise KeyboardInterrupt

    shown = symplex.runs.run.display
    symplex.runs.run.display = lambda *_: Stopping()
    try:
        symplex.runs.run.simulate(base / "a.toml", base / "out", pictures=False)
    except KeyboardInterrupt:
        pass
    finally:
        symplex.runs.run.display = shown


def scenario_of(base: int) -> str:
    """Return the scenario of a base; those of force-stepping have another mesh."""
    integrator, form, checkpoint, _ = BASES[base]
    text = SCENARIO.replace("INTEGRATOR", INTEGRATORS[integrator]).replace("FORMAT", form)
    return text.replace("CHECKPOINT", checkpoint).replace("SPLIT", "24" if integrator == "force-stepping" else "6")


# -- one trial, in a process of its own -----------------------------------------------------------------------------


def _judged(task: dict[str, Any], bases: Path, trial: Path) -> str:
    """Return the outcome of a trial."""
    base = bases / str(task["base"])
    os.chdir(trial)
    shutil.copy(base / "a.toml", trial)
    if task["command"] == "run":
        return _judged_run(task["limit"], base)
    out = shutil.copytree(base / "out", trial / "out")
    damages.damage(out, bases, task["seed"])
    shutil.copytree(out, trial / "before", symlinks=True, copy_function=_copied)
    before = _contents(out)
    status, errors = _command(task["command"], task["drawn"])
    if defect := _defect(status, errors):
        return defect
    after = _contents(out)
    gone = before.keys() - after.keys()
    changed = gone | {name for name, content in after.items() if before.get(name) != content}
    if status:
        if "summary.json" in changed and json.loads((out / "summary.json").read_bytes())["status"] == "failed":
            changed = gone  # it went on for a while, until a file would not take what comes
        return f"wrong result: refused, but changed {changed}: {errors}" if changed else REFUSED
    if task["command"] != "resume":
        wrong = changed - {"history.png", "snapshots.png"}
        return f"wrong result: {task['command']} changed {wrong}" if wrong else RAN
    if (out / "notes.txt").exists() != (trial / "before" / "notes.txt").exists():
        return "wrong result: a file of the user is gone"
    return _compared(out, trial / "before", base / "whole")


def _judged_run(limit: int, base: Path) -> str:
    """Return the outcome of a run that meets a full disk and of one that goes on when there is room again."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        status, errors = _command("run", False)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    if defect := _defect(status, errors):
        return defect
    again, errors = _command("resume", False)
    if defect := _defect(again, errors):
        return defect
    if not again and (wrong := _differences(Path("out"), base / "whole", base / "whole")):
        return f"wrong result: {wrong}"
    return REFUSED if status else RAN


def _command(name: str, drawn: bool) -> tuple[int, str]:
    """Run a command of the command line and return its exit status and what it says on standard error."""
    import symplex.commands.cli

    run = ["run", "a.toml", "--output", "out", "--no-pictures"]
    arguments = {
        "run": run,
        "resume": [*run, "--resume"],
        "info": ["info", "out"],
        "plot": ["plot", "out"],
        "render": ["render", "out", "--film", "none"],
    }[name]
    if not drawn:
        _draw_nothing()
    with Path("stdout").open("w") as out, Path("stderr").open("w") as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
        try:
            status = symplex.commands.cli.main(arguments)
        except BaseException:
            traceback.print_exc()
            status = -1
        sys.stdout.flush()
        sys.stderr.flush()
    return status, Path("stderr").read_text("utf-8")


def _draw_nothing() -> None:
    """Leave out what takes long in drawing a picture: opening a window and filling it."""
    import contextlib

    from matplotlib.figure import Figure

    import symplex.meshes.pictures.render
    from symplex.meshes.pictures.scene import Scene

    symplex.meshes.pictures.render.plotter_of = lambda *_: contextlib.nullcontext()
    Scene.draw = lambda *_, **__: np.zeros((4, 4, 3), np.uint8)
    Figure.savefig = lambda _, file, **__: file.write(b"a picture")


def _defect(status: int, errors: str) -> str:
    """Return what is wrong with the exit status and with what was said, if anything is."""
    lines = errors.splitlines()
    if "Traceback" in errors or status == -1:
        return f"traceback: {errors[-1500:]}"
    if status not in (0, 1, 2) or bool(status) != bool(lines):
        return f"wrong exit status: {status} with {errors[:600]!r}"
    if len(lines) > 2 or any(not line.startswith("symplex: ") or len(line) > 500 for line in lines):
        return f"bad message: {errors[:1500]}"
    return ""


def _copied(source: str, target: str) -> None:
    if Path(source).is_file():
        shutil.copy2(source, target)


def _contents(folder: Path) -> dict[str, str]:
    """Return the content of each file, and what else there is."""
    found = {}
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        if path.is_symlink() or not path.exists():
            found[name] = f"link to {path.readlink()}"
        elif path.is_file() and name != ".lock":
            found[name] = path.read_bytes().hex()
    return found


def _compared(out: Path, before: Path, whole: Path) -> str:
    """Return whether a run that went on came to the right end: what it kept is as it was, all else as it should be."""
    summary = before / "summary.json"
    if summary.is_file() and json.loads(summary.read_bytes()).get("status") == "finished":  # nothing was to be done
        return RAN if _contents(out) == _contents(before) else "wrong result: a finished run was changed"
    wrong = _differences(out, whole, before)
    return f"wrong result: {wrong}" if wrong else RAN


def _differences(out: Path, whole: Path, before: Path) -> str:
    """Return the first thing in a folder that is neither as in the whole run nor as it was before."""
    from symplex.meshes.series.series import read_series

    rows, expected, kept = (
        (path / "history.csv").read_text("utf-8-sig").splitlines() if (path / "history.csv").is_file() else []
        for path in (out, whole, before)
    )
    if len(rows) != len(expected):
        return f"{len(rows)} rows, expected {len(expected)}"
    for i, (row, right) in enumerate(zip(rows, expected, strict=True)):
        if row != right and row not in kept[i : i + 1]:
            return f"row {i} is {row}, expected {right}"
    name = next(path.name for path in whole.iterdir() if path.name in ("motion.vtkhdf", "motion.pvd"))
    series, right = read_series(out / name), read_series(whole / name)
    if not np.array_equal(series.times, right.times):
        return f"frames at {series.times}, expected {right.times}"
    for i in range(len(right)):
        frame = _frame(out / name, i)
        if not _same(frame, right.frame(i)) and not _same(frame, _frame(before / name, i)):
            return f"frame {i} differs"
    return ""


def _frame(path: Path, i: int) -> Any:
    """Return a frame, None if it cannot be read: whoever wants it is informed."""
    from symplex.errors import SymplexError
    from symplex.meshes.series.series import read_series

    try:
        return read_series(path).frame(i)
    except SymplexError:
        return None


def _same(a: Any, b: Any) -> bool:
    """Return whether two frames are equal bit for bit."""
    if a is None or b is None:
        return a is b
    if a.t != b.t or a.point_data.keys() != b.point_data.keys() or a.cell_data.keys() != b.cell_data.keys():
        return False
    pairs = [(a.displacement, b.displacement), *((a.point_data[k], b.point_data[k]) for k in a.point_data)]
    for name, by_block in a.cell_data.items():
        pairs += [(values, b.cell_data[name][block]) for block, values in by_block.items()]
    return all(np.array_equal(x, y) for x, y in pairs)


# -- as a test ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="trials are forked")
def test_no_damage_of_a_results_folder_ends_in_a_traceback(drawing):
    outcomes = list(trials(seed=11, count=300))
    assert Counter(outcome for _, outcome in outcomes).keys() <= {RAN, REFUSED}, "\n\n".join(
        f"{what}: {outcome}" for what, outcome in outcomes if outcome not in (RAN, REFUSED)
    )
    assert len({outcome for _, outcome in outcomes}) == 2


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
