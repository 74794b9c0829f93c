"""A folder with every kind of result and of input, and how each command is called with one of them."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

SPLIT = {"box": [0.1, 0.1, 0.1], "cells": [1, 1, 1], "split": "6"}
DECK = """*NODE
1, 0, 0, 0
2, 1, 0, 0
3, 0, 1, 0
4, 0, 0, 1
*ELEMENT, TYPE=C3D4, ELSET=ALL
1, 1, 2, 3, 4
*MATERIAL, NAME=STEEL
*ELASTIC
2e11, 0.3
*DENSITY
7850
*SOLID SECTION, ELSET=ALL, MATERIAL=STEEL
*STEP
*DYNAMIC
1e-5, 2e-5
*BOUNDARY
1, 1, 3
*END STEP
"""


def _main(*words: str | Path) -> int:
    from symplex.commands.cli import main

    return main([str(word) for word in words])


def make(folder: Path, toml: Callable[[Any], str], sample: Callable[[tuple[str, str]], Any]) -> list[str]:
    """Make all of them in a folder, and return their names.

    Parameters
    ----------
    folder : Path
    toml : callable
        Returns a scenario as text.
    sample : callable
        Returns the scenario of a sample of a table and a variant, complete.
    """
    runs = {
        "of a body": ("body", "tetrahedra"),
        "of a truss": ("truss", ""),
        "of a point mass": ("point_mass", "free"),
        "of a rigid body": ("rigid_body", "free"),
        "of contact": ("contact", "penalty"),
        "with an obstacle": ("probe", "obstacle"),
        "with probes": ("probe", "body"),
        "of stages": ("stage", "static"),
        "as pvd": ("output", "pvd"),
        "in pieces": ("output", "partitioned"),
        "with events": ("integrator", "force-stepping"),
    }
    for name, of in runs.items():
        (folder / f"{name}.toml").write_text(toml(sample(of)), "utf-8")
        _main("run", folder / f"{name}.toml", "--output", folder / name, "--no-pictures", "--quiet")
    good = folder / "good.toml"
    data = sample(("response", ""))
    good.write_text(toml(data), "utf-8")
    failing = data | {"run": {"duration": 1.0, "frames": 2, "samples": 4}, "integrator": {"kind": "newmark"}}
    failing["body"] = [data["body"][0] | {"velocity": [1e5, 0, 0], "angular_velocity": [1e6, 0, 0]}]
    (folder / "failing.toml").write_text(toml(failing), "utf-8")
    _main("run", folder / "failing.toml", "--output", folder / "failed", "--no-pictures", "--quiet")
    _main("run", good, "--output", folder / "interrupted", "--no-pictures", "--quiet")
    for name in ("summary.json", "conservation.json"):  # as after a kill
        (folder / "interrupted" / name).unlink()
    _main("modes", good, "--output", folder / "modes", "--no-pictures", "--number", "3")
    _main("buckling", good, "--output", folder / "buckling", "--no-pictures")
    _main("response", good, "--output", folder / "response", "--no-pictures")
    quiet = ("--quiet", "--workers", "1")
    _main("sweep", good, "--over", "integrator.dt=2.5e-4,5e-4", "--output", folder / "sweep", *quiet)
    _main("converge", good, "--halvings", "2", "--output", folder / "convergence", *quiet)
    _main("compare", folder / "of a body", folder / "of contact", "--output", folder / "comparison")
    (folder / "deck.inp").write_text(DECK, "utf-8")
    _main("import", folder / "deck.inp", "--output", folder / "imported", "--units", "si")
    _main("mesh", "box", "--size", "1", "1", "1", "--cells", "1", "1", "1", folder / "mesh.msh")
    (folder / "empty").mkdir()
    (folder / "foreign").mkdir()
    (folder / "foreign" / "notes.txt").write_text("nothing of symplex", "utf-8")
    return [*runs, "good.toml", *_OTHERS]


_OTHERS = (
    *(
        "failed",
        "interrupted",
        "modes",
        "buckling",
        "response",
        "sweep",
        "convergence",
        "comparison",
        "imported",
        "deck.inp",
    ),
    *("mesh.msh", "empty", "foreign", "nothing"),
)
_IN_PLACE = ("--output", "{}", "--quiet")
# How each command is called: {} stands for a thing, {good} for a scenario, {run} for a run of it, {out} for a new file.
CALLS: Mapping[str, list[tuple[str, ...]]] = {
    "run": [
        ("{}", "--output", "{out}", "--quiet", "--no-pictures"),
        ("{good}", *_IN_PLACE, "--no-pictures"),
        ("{good}", *_IN_PLACE, "--resume", "--no-pictures"),
    ],
    "sweep": [
        ("{}", "--over", "integrator.dt=5e-4", "--output", "{out}", "--quiet", "--workers", "1"),
        ("{good}", "--over", "integrator.dt=2.5e-4,5e-4", *_IN_PLACE, "--resume", "--workers", "1"),
    ],
    "converge": [
        ("{}", "--halvings", "2", "--output", "{out}", "--quiet", "--workers", "1"),
        ("{good}", "--halvings", "2", *_IN_PLACE, "--resume", "--workers", "1"),
    ],
    "compare": [("{}", "{}"), ("{run}", "{}"), ("{}", "{run}", "--tolerance", "1")],
    "check": [("{}",)],
    "modes": [("{}", "--output", "{out}", "--number", "2"), ("{good}", "--output", "{}", "--no-pictures")],
    "buckling": [("{}", "--output", "{out}", "--number", "2"), ("{good}", "--output", "{}", "--no-pictures")],
    "reduce": [("{}", "--modes", "2", "--output", "{out}.npz"), ("{good}", "--output", "{}")],
    "fit": [("{}", "--output", "{out}", "--quiet", "--no-pictures")],
    "sensitivity": [
        ("{}", "--by", "body.1.material.young", "--output", "{out}", "--quiet", "--no-pictures"),
        ("{good}", "--by", "body.1.material.young", *_IN_PLACE, "--no-pictures"),
    ],
    "response": [("{}", "--output", "{out}"), ("{good}", "--output", "{}", "--no-pictures")],
    "shock": [
        ("{}", "--probe", "seen", "--output", "{out}"),
        ("{run}", "--probe", "seen", "--output", "{}", "--no-pictures"),
    ],
    "import": [("{}", "--output", "{out}", "--units", "si"), ("{deck}", "--output", "{}")],
    "info": [("{}",)],
    "plot": [("{}",), ("{}", "{run}", "--output", "{out}.png")],
    "render": [("{}", "--output", "{out}.png"), ("{}", "--at", "0.0005", "--field", "von_mises", "--film", "gif")],
    "view": [("{}", "--html", "{out}.html"), ("{}", "--html")],
    "report": [("{}",)],
    "export": [
        *(("{}", "--to", f"{{out}}.{kind}") for kind in ("csv", "h5", "vtu", "frd", "pvd", "vtkhdf")),
        ("{}", "--to", "{out}.csv", "--probe", "seen"),
    ],
    "mesh": [("convert", "{}", "{out}.vtu")],
    "demo": [("--output", "{}")],  # where something is: it is refused
    "warmup": [("{}", "--quiet")],
}


def calls(names: list[str]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield each command with each thing: both, and the words of the call."""
    for command, ways in CALLS.items():
        for way in ways:
            for name in names:
                if command == "demo" and name in ("nothing", "empty"):  # a whole run, in an empty place
                    continue
                yield command, name, [command, *way]


def outcome_of(folder: Path, name: str, words: list[str], judged: Callable[[str, str], str], out: Path) -> str:
    """Return the outcome of a command with a copy of a thing in a folder.

    Parameters
    ----------
    folder : Path
    name : str
    words : list of str
    judged : callable
        Returns the outcome that a message is, given how its lines must begin.
    out : Path
        An empty folder for what is written.
    """
    thing = out / name
    if (folder / name).is_dir():
        shutil.copytree(folder / name, thing)
    elif (folder / name).exists():
        shutil.copy(folder / name, thing)
    paths = {"good": folder / "good.toml", "run": folder / "of a body", "deck": folder / "deck.inp", "out": out / "new"}
    argv = [word.replace("{}", str(thing)).format_map(paths) for word in words]
    reported, errors = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    with contextlib.redirect_stdout(reported), contextlib.redirect_stderr(errors):
        try:
            status = _main(*argv)
        except SystemExit as error:
            status = int(error.code or 0)
    for number, handler in handlers.items():
        signal.signal(number, handler)
    said, complaints = (stream.buffer.getvalue().decode() for stream in (reported, errors))  # pyright: ignore
    if "Traceback" in said + complaints or status not in (0, 1, 2):
        return f"exit status {status}: {said[-500:]}{complaints[-1500:]}"
    if status == 0:
        return "ran"
    if not complaints.strip():  # as check shows what fails early
        return "ran" if status == 1 and said.strip() else f"exit status {status} without a word"
    return judged(complaints.strip(), "symplex: ")


def as_task(folder: Path, name: str, words: list[str]) -> dict[str, Any]:
    """Return a trial as JSON can hold it."""
    return json.loads(json.dumps({"folder": str(folder), "name": name, "words": words}))
