"""What lies in the working directory is data: none of it is run, and none of it is a setting."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import symplex

PACKAGES = (
    "h5py",
    "imageio",
    "matplotlib",
    "meshio",
    "numba",
    "numpy",
    "pyvista",
    "rich",
    "scipy",
    "vtkmodules",
)


# What starts other processes, each a program that is read from its own folder.
STARTING = {
    "members of studies": """
from symplex.runs.interrupts import Stop
from symplex.studies.workers import Task, in_processes
if __name__ == "__main__":
    print(*in_processes([Task("001", "[[body]]", "bad.toml", "out", False)], 1, Stop()))
""",
    "pictures": """
from symplex.runs.drawing_processes import _Process
process = _Process("plots")
process.ask(None, "title")  # once all is loaded that plots are drawn with
try:
    process.outcome(print)
except AttributeError as error:
    print("no folder", error)
""",
    "damaged files": """
from pathlib import Path
from symplex.meshes.formats.hdf5_probe import require_readable
Path("damaged.h5").write_bytes(bytes([137]) + b"HDF and more")
require_readable(Path("damaged.h5"))
print("read")
""",
}


@pytest.fixture
def trap(tmp_path):
    """A folder with a module of every name; any that is imported leaves a mark.

    But for those that ``python -m`` itself imports, from the working directory, before any code of the package runs.
    """
    (tmp_path / "modules.py").write_text("import sys\nprint(*sys.modules)\n")
    command = [sys.executable, "-m", "modules"]
    imported = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()
    return planted(tmp_path / "trap", {*imported})


def planted(folder, but=frozenset()):
    """Return a folder that is made, with modules of all names but some."""
    folder.mkdir()
    for name in {*sys.stdlib_module_names, *PACKAGES} - {*sys.builtin_module_names, *but}:
        (folder / f"{name}.py").write_text(
            f"open({str(folder / name)!r} + '.mark', 'w')\nraise SystemExit('trapped')\n"
        )
    return folder


def run(folder, *arguments, **environment):
    """Run Python in a folder and return its standard output and what was trapped."""
    command, environment = [sys.executable, *arguments], os.environ | environment
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr, [path.stem for path in folder.glob("*.mark")]


def test_the_trap_works(trap):
    assert run(trap, "-c", "import numpy")[1] == ["numpy"]


@pytest.mark.slow
def test_modules_beside_a_scenario_are_not_run(trap):
    """All modules that the command line needs are imported for a scenario that is not valid."""
    (trap / "bad.toml").write_text("[[body]]\n")
    said, trapped = run(trap, "-m", "symplex", "check", "bad.toml")
    assert trapped == []
    assert "bad.toml: " in said


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        pytest.param("members of studies", "bad.toml: ", marks=pytest.mark.slow),
        ("pictures", "no folder"),
        ("damaged files", "read"),
    ],
)
def test_processes_that_are_started_import_nothing_from_the_working_directory(what, expected, tmp_path):
    folder = planted(tmp_path / "work")
    (tmp_path / "start.py").write_text(STARTING[what])
    said, trapped = run(folder, str(tmp_path / "start.py"))
    assert trapped == []
    assert expected in said
    assert "trapped" not in said


def test_python_is_started_nowhere_else():
    """Wherever it is, by ``-P`` or ``-I``; multiprocessing knows neither, and is one more place."""
    home, starting, spawning = Path(symplex.__file__).parent, [], []
    for path in home.rglob("*.py"):
        name = path.relative_to(home).as_posix()
        if name.split("/")[0] in ("tests", "benchmarks", "docs", "release", "examples"):
            continue
        text = path.read_text("utf-8")
        starting += [(name, match) for match in re.findall(r"\[\s*sys\.executable,\s*\"(-\w)", text)]
        spawning += [name] * len(re.findall(r"get_context\(|[^.]Process\(|ProcessPool|set_start_method", text))
    assert {flag for _, flag in starting} == {"-P", "-I"}
    assert sorted(name for name, _ in starting) == [
        "meshes/formats/hdf5_probe.py",
        "meshes/pictures/render.py",
        "runs/drawing_processes.py",
    ]
    assert {name for name in spawning if name != "runs/drawing_processes.py"} == {"studies/workers.py"}


def test_the_test_picture_is_drawn_without_the_modules_beside_it(trap, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(trap / "cache"))  # where nothing is remembered of earlier ones
    code = "from symplex.meshes.pictures.render import _probe; print(repr(_probe()))"
    said, trapped = run(trap, "-P", "-c", code)
    assert trapped == []
    assert "trapped" not in said


@pytest.mark.slow
def test_settings_of_numba_beside_a_scenario_name_no_cache(tmp_path):
    """Compiled code is loaded from there; numba reads the file if there is a module yaml."""
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "yaml.py").write_text(
        "def safe_load(file):\n    return {'cache_dir': 'trap', 'num_threads': 1}\n"
    )
    (tmp_path / ".numba_config.yaml").write_text("\n")
    code = "from symplex.commands.cli import main; main(['info', 'none']); from numba import config; "
    code += "print([config.CACHE_DIR, config.NUMBA_NUM_THREADS])"
    paths = os.pathsep.join([str(tmp_path / "modules"), *filter(None, [os.environ.get("PYTHONPATH")])])
    said, _ = run(tmp_path, "-c", code, PYTHONPATH=paths)
    assert "['', 1]" in said
