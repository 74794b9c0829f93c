"""Random options of ``symplex render`` and ``plot``: each ends in a picture that is not empty, or in one sentence.

Trials run in their own process, one after the other; one that crashes or hangs takes only that with it.
"""

from __future__ import annotations

import hashlib
import io
import json
import random
import select
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pytest

SECONDS = 600.0  # for one trial, of seconds
RAN, REFUSED = "ran", "refused in one sentence"

_BODY = """
[[body]]
name = "{name}"
mesh = {{ box = {size}, cells = [1, 1, 1], split = "6" }}
translate = {place}
material = {{ young = 1e7, poisson = 0.3, density = 1000 }}
velocity = [3, 0, {speed}]
"""
_FLOOR = """
[[obstacle]]
name = "floor"
kind = "half-space"
point = [0, 0, 0]
normal = {normal}
stiffness = 1e5
[integrator]
kind = "newmark"
[run]
duration = 0.1
frames = 8
"""
# One body and its impact on a floor; two side by side over a floor across y, with gravity, in the other format.
SCENARIOS = {
    "one": _BODY.format(name="block", size="[0.1, 0.1, 0.1]", place="[0, 0, 0.01]", speed=-1)
    + _FLOOR.format(normal="[0, 0, 1]"),
    "two": _BODY.format(name="left", size="[0.1, 0.2, 0.1]", place="[0, 0.01, 0]", speed=0)
    + _BODY.format(name="right", size="[0.1, 0.1, 0.1]", place="[0, 0.02, 0.4]", speed=0)
    + "[gravity]\nacceleration = [0, -9.81, 0]\n"
    + _FLOOR.format(normal="[0, 1, 0]")
    + '[output]\nformat = "pvd"\n',
}
_NUMBERS = ("0", "1", "-1", "0.05", "-0.3", "1e-9", "1e308", "-1e308", "1e-320", "nan", "inf", "")
_WORDS = (
    "auto",
    "x",
    "y",
    "z",
    "-x",
    "-y",
    "-z",
    "w",
    "",
    "up",
    "1,2",
    "1,2,3,4",
    "x,y,z",
    "0,0,0",
    "\u2191",
    "9" * 400,
)
_FIELDS = ("von_mises", "displacement", "speed", "velocity", "contact_force", "stress", "", "Von_Mises", "a/b", "{0}")
_SUFFIXES = (".png", ".png", ".png", ".PNG", ".jpg", ".jpeg", ".tif", ".webp", ".pdf", ".svg")
_STRANGE = (
    "",
    ".",
    ".eps",
    ".pgf",
    ".gif",
    ".mp4",
    ".vtkhdf",
    ".csv",
    ".toml",
    ".png.",
    ". png",
    ".p\u00efng",
    ".png" * 80,
)


def drawn(chance: random.Random) -> tuple[str, list[str]]:
    """Return a kind of trial, and the arguments of the command line with RESULT and OUTPUT for paths."""
    strange = chance.random() < 0.4
    if chance.random() < 0.2:
        words = ["plot", *chance.choice((["one"], ["two"], ["one", "two"], ["one", "one"]))]
        return "plot: any output", [*words, "--output", "OUTPUT" + _suffix(chance, strange)]
    words = ["render", chance.choice(list(SCENARIOS))]
    for option, value in (
        ("field", _field),
        ("view", _direction),
        ("up", _direction),
        ("slice", _section),
        ("times", _times),
        ("scale", _number),
        ("size", _size),
        ("dpi", _number),
        ("to", _direction),
        ("orbit", _number),
    ):
        if chance.random() < 0.4:
            given = value(chance, strange)
            words += [f"--{option}", *given] if chance.random() < 0.8 else [f"--{option}={given[0]}", *given[1:]]
    words += ["--film", chance.choice(["none"] * 12 + ["gif"])]
    words += ["--output", "OUTPUT" + _suffix(chance, strange and chance.random() < 0.4)]
    return f"render: {'strange' if strange else 'usual'} options", words


def _suffix(chance: random.Random, strange: bool) -> str:
    return chance.choice(_STRANGE if strange else _SUFFIXES)


def _field(chance: random.Random, strange: bool) -> list[str]:
    return [chance.choice(_FIELDS if strange else _FIELDS[:5])]


def _number(chance: random.Random, strange: bool) -> list[str]:
    return [chance.choice(_NUMBERS if strange else ("1", "2.5", "100"))]


def _size(chance: random.Random, strange: bool) -> list[str]:
    if strange:
        return [chance.choice(("", "x", "800x", "x600", "1e3", "-800", "80000", "64", "640x480x3", "١٠٠", "9" * 40))]
    return [chance.choice(("640", "900x500", "400x900"))]


def _direction(chance: random.Random, strange: bool) -> list[str]:
    if strange and chance.random() < 0.5:
        return [chance.choice((*_WORDS, ",".join(chance.choice(_NUMBERS) for _ in range(3))))]
    return [chance.choice((*_WORDS[:7], ",".join(f"{chance.uniform(-1, 1):.3g}" for _ in range(3))))]


def _section(chance: random.Random, strange: bool) -> list[str]:
    axis, place = chance.choice("xyz"), f"={chance.uniform(-0.1, 0.5):.3g}"
    if strange:
        return [
            chance.choice((*_WORDS, f"{axis}={chance.choice(_NUMBERS)}", f"{axis}{place}{place}", axis * 2 + place))
        ]
    return [axis + chance.choice(("", place))]


def _times(chance: random.Random, strange: bool) -> list[str]:
    times = [f"{chance.uniform(0, 0.1):.4g}" for _ in range(chance.choice((1, 1, 2, 3, 7)))]
    if strange:
        times[-1] = chance.choice((*_NUMBERS, "0.2", "now"))
    return times


# -- one trial -------------------------------------------------------------------------------------------------------


def outcome_of(words: list[str], folder: Path) -> str:
    """Run a command line on the results in a folder and judge what comes of it."""
    from symplex.commands.cli import main

    target = folder / "pictures" / "picture"
    shutil.rmtree(target.parent, ignore_errors=True)
    target.parent.mkdir()
    before = fingerprint(folder)
    argv = [str(folder / word) if word in SCENARIOS else word.replace("OUTPUT", str(target)) for word in words]
    out, err = io.StringIO(), io.StringIO()
    try:
        with redirect_stdout(out), redirect_stderr(err):
            status = main(argv)
    except SystemExit as ended:  # argparse: usage, and one line
        lines = [line for line in err.getvalue().splitlines() if ": error: " in line]
        return (
            REFUSED if ended.code == 2 and len(lines) == 1 else f"wrong result: exit {ended.code}, {err.getvalue()!r}"
        )
    except BaseException:
        return f"traceback: {traceback.format_exc(limit=-3)}"
    if fingerprint(folder) != before:
        return "wrong result: a file of the run was changed"
    lines = err.getvalue().splitlines()
    if status == 2:
        # Of several pictures, the first may have been drawn.
        is_told = len(lines) == 1 and lines[0].startswith("symplex: error: ") and len(lines[0]) < 1500
        return REFUSED if is_told else f"wrong result: {err.getvalue()!r}"
    if status != 0 or lines:
        return f"wrong result: exit {status}, {err.getvalue()!r}"
    troubles = [trouble for line in out.getvalue().splitlines() if (trouble := emptiness(Path(line)))]
    return f"wrong result: {troubles[0]}" if troubles else RAN


def fingerprint(folder: Path) -> str:
    """Return a hash of all files of the runs but their pictures."""
    files = [p for name in SCENARIOS for p in sorted((folder / name).rglob("*")) if p.is_file()]
    pictures = {".png", ".gif", ".mp4"}
    return hashlib.sha256(b"".join(p.read_bytes() for p in files if p.suffix not in pictures)).hexdigest()


def emptiness(path: Path) -> str:
    """Return why a picture shows nothing, empty if it does show something."""
    if not path.is_file():
        return f"there is no {path.name}"
    if path.suffix.lower() in (".pdf", ".svg"):
        return "" if path.stat().st_size > 5000 else f"{path.name} is almost empty"
    import imageio.v2 as imageio

    image = np.asarray(imageio.imread(path))[..., :3].astype(int)
    image = image[44:, :-130] if path.name.startswith("picture") else image  # without the colour bar
    coloured = float((np.ptp(image, axis=-1) > 40).mean())
    return "" if coloured > 1e-4 else f"{path.name} is empty: {coloured:.1e} of it is coloured"


def serve(folder: Path) -> None:
    """Run the trials whose arguments come in on standard input, a line of JSON each."""
    answers = sys.stdout
    for line in sys.stdin:
        print(json.dumps(outcome_of(json.loads(line), folder)), file=answers, flush=True)


# -- all trials ------------------------------------------------------------------------------------------------------


class _Server:
    """A process that runs trials, begun again when one takes it along."""

    def __init__(self, folder: Path):
        self._command = [sys.executable, __file__, str(folder)]
        self._process: subprocess.Popen[str] | None = None

    def __call__(self, words: list[str]) -> str:
        if self._process is None:
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(
                self._command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
            )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(words) + "\n")
        process.stdin.flush()
        if not select.select([process.stdout], [], [], SECONDS)[0]:
            self.close()
            return "hang"
        answer = process.stdout.readline()
        if not answer:
            self.close()
            return f"traceback: the process ended with status {process.returncode}"
        return json.loads(answer)

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def trials(seed: int, count: int) -> Iterator[tuple[str, str]]:
    """Yield what was tried and what came of it; of a defect with the arguments that show it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        server = _Server(folder)
        try:
            for k in range(count):
                what, words = drawn(random.Random(f"{seed} {k}"))
                outcome = server(words)
                yield what, outcome if outcome in (RAN, REFUSED) else f"{outcome} [{words}]"
        finally:
            server.close()


def prepare(folder: Path) -> None:
    """Run the scenarios, without pictures."""
    from symplex.runs.run import simulate

    for name, text in SCENARIOS.items():
        path = folder / f"{name}.toml"
        path.write_text(text)
        simulate(path, folder / name, progress=False, pictures=False)


@pytest.mark.slow
def test_pictures_are_drawn_or_refused_in_one_sentence():
    from symplex.errors import RenderError
    from symplex.meshes.pictures.render import require_rendering

    try:
        require_rendering()
    except RenderError as error:
        pytest.skip(str(error))
    counts: Counter[str] = Counter()
    for what, outcome in trials(seed=1, count=60):
        counts[outcome if outcome in (RAN, REFUSED) else f"{what}: {outcome}"] += 1
    defects = [outcome for outcome in counts if outcome not in (RAN, REFUSED)]
    assert not defects, "\n".join(defects)
    assert min(counts[RAN], counts[REFUSED]) > 10


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
