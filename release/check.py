"""Build what is released and look whether it is complete: ``python release/check.py [--output DIR] [--install]``.

The source archive is built, the wheel from it, and both are compared with what the repository says belongs into them.
With ``--install`` they go into new environments, and a scenario is run in each, in an empty folder: the wheel alone,
the wheel with all extras of users, with the oldest versions that pyproject.toml allows, and the source archive. Needs
the packages ``build`` and ``twine``. ``--constraints`` prints the oldest versions, for ``pip install -c``.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOR_DEVELOPERS = {"test", "docs", "lint", "dev"}  # all other extras are for users
NEWEST_WITH_OLDEST = (3, 11)  # of Python: the oldest pandas has no wheels for later ones
TRIAL = """\
title = "A cube flies"
[[body]]
name = "cube"
mesh = { box = [1.0, 1.0, 1.0], cells = [1, 1, 1], split = "6" }
material = { lambda = 1e6, mu = 1e6, density = 1000 }
velocity = [1, 0, 0]
[integrator]
kind = "newmark"
[run]
duration = 1e-3
"""


def main(arguments: list[str] | None = None) -> int:
    """Build, check and return the exit status."""
    parser = argparse.ArgumentParser(description="Build source archive and wheel and check that they are complete.")
    parser.add_argument("--output", type=Path, help="keep them in this folder, which must be empty or new")
    parser.add_argument("--install", action="store_true", help="install them in new environments and run there")
    parser.add_argument("--constraints", action="store_true", help="only print the oldest versions")
    options = parser.parse_args(arguments)
    if options.constraints:
        print("\n".join(oldest()))
        return 0
    for package in ("build", "twine"):
        if importlib.util.find_spec(package) is None:
            print(f"This needs {package}: pip install build twine.", file=sys.stderr)
            return 2
    if options.output is not None and options.output.exists() and any(options.output.iterdir()):
        print(f"{options.output} is not empty: name a new folder.", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        output = options.output or Path(scratch) / "dist"
        _run(sys.executable, "-m", "build", "--outdir", str(output), str(ROOT))
        (archive,), (wheel,) = output.glob("*.tar.gz"), output.glob("*.whl")
        _run(sys.executable, "-m", "twine", "check", "--strict", str(archive), str(wheel))
        missing = incomplete(archive, wheel)
        if missing:
            print("\n".join(missing), file=sys.stderr)
            return 1
        if options.install:
            try_all(archive, wheel, Path(scratch))
        print(f"complete: {archive.name} ({archive.stat().st_size / 1e6:.1f} MB), {wheel.name} "
              f"({wheel.stat().st_size / 1e6:.1f} MB)")  # fmt: skip
    return 0


def incomplete(archive: Path, wheel: Path) -> list[str]:
    """Return a line for every file that is missing or does not belong there."""
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    folders = [Path(*name.split(".")[1:]) for name in setuptools["packages"]]
    package = {
        path.relative_to(ROOT)
        for folder in folders
        for path in (ROOT / folder).glob("*.py*")
        if path.suffix in (".py", ".pyi")
    }
    for name, patterns in setuptools["package-data"].items():
        places = folders if name == "*" else [Path(*name.split(".")[1:])]
        package |= {
            path.relative_to(ROOT) for place in places for pattern in patterns for path in (ROOT / place).glob(pattern)
        }
    with zipfile.ZipFile(wheel) as opened:
        installed = {Path(name).relative_to("symplex") for name in opened.namelist() if name.startswith("symplex/")}
    with tarfile.open(archive) as opened:
        sources = {Path(*Path(name).parts[1:]) for name in opened.getnames()}
    requested = set(package)
    tracked = subprocess.run(
        ["git", "ls-files", "examples", "tests"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    requested |= {Path(line) for line in tracked.stdout.splitlines()}
    requested |= {Path(name) for name in ("LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "pyproject.toml")}
    return [
        *(f"the wheel lacks {path.as_posix()}" for path in sorted(package - installed)),
        *(f"the wheel should not have {path.as_posix()}" for path in sorted(installed - package)),
        *(f"the source archive lacks {path.as_posix()}" for path in sorted(requested - sources)),
    ]


def extras() -> dict[str, list[str]]:
    """Return what the extras of users need, by their names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return {name: needs for name, needs in project["optional-dependencies"].items() if name not in FOR_DEVELOPERS}


def oldest() -> list[str]:
    """Return the lower bounds of what the package and the extras of users need, as constraints of pip."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needs = [*project["dependencies"], *(need for all_of_one in extras().values() for need in all_of_one)]
    return sorted({need.replace(">=", "==") for need in needs if re.fullmatch(r"[\w-]+>=[\d.]+", need)})


def try_all(archive: Path, wheel: Path, scratch: Path) -> None:
    """Run a scenario in new environments with the wheel and with the source archive."""
    with_extras = f"[{','.join(extras())}]"
    try_out("wheel", str(wheel), scratch)
    try_out("extras", f"{wheel}{with_extras}", scratch, pictures=True)
    try_out("archive", str(archive), scratch)
    if sys.version_info[:2] <= NEWEST_WITH_OLDEST:
        constraints = scratch / "oldest.txt"
        constraints.write_text("\n".join(oldest()), encoding="utf-8")
        try_out("oldest", f"{wheel}{with_extras}", scratch, "-c", str(constraints), pictures=True)
    else:
        print("The oldest versions are tried with Python 3.11 only.")


def try_out(name: str, what: str, scratch: Path, *options: str, pictures: bool = False) -> None:
    """Install in a new environment and run a scenario in a folder that has nothing of the repository."""
    venv.create(scratch / name, with_pip=True)
    programs = scratch / name / ("Scripts" if os.name == "nt" else "bin")
    _run(str(programs / "python"), "-m", "pip", "install", "-q", what, *options)
    folder = scratch / f"trial-{name}"
    folder.mkdir()
    (folder / "trial.toml").write_text(TRIAL, encoding="utf-8")
    _run(str(programs / "python"), "-m", "pip", "check", cwd=folder)
    typed = "from importlib.resources import files; raise SystemExit(not (files('symplex') / 'py.typed').is_file())"
    _run(str(programs / "python"), "-c", typed, cwd=folder)
    _run(str(programs / "symplex"), "--version", cwd=folder)
    _run(str(programs / "symplex"), "run", "trial.toml", *([] if pictures else ["--no-pictures"]), cwd=folder)
    _run(str(programs / "symplex"), "report", "trial-results", cwd=folder)
    if pictures and not (folder / "trial-results" / "history.png").is_file():
        raise SystemExit(f"{name}: there is no picture of the histories.")


def _run(*command: str, cwd: Path | None = None) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    print("+", *command, flush=True)
    subprocess.run(command, cwd=cwd, env=environment, check=True)


if __name__ == "__main__":
    sys.exit(main())
