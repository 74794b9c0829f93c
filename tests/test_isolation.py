"""What lies in the working directory is data: none of it is run, and none of it is a setting."""

import os
import subprocess
import sys

import pytest

PACKAGES = (
    "h5py",
    "imageio",
    "matplotlib",
    "meshio",
    "numba",
    "numpy",
    "pydantic",
    "pyvista",
    "rich",
    "scipy",
    "vtkmodules",
)


@pytest.fixture
def trap(tmp_path):
    """A folder with a module of every name; any that is imported leaves a mark.

    But for those that ``python -m`` itself imports, from the working directory, before any code of the package runs.
    """
    (tmp_path / "modules.py").write_text("import sys\nprint(*sys.modules)\n")
    command = [sys.executable, "-m", "modules"]
    imported = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()
    folder = tmp_path / "trap"
    folder.mkdir()
    for name in {*sys.stdlib_module_names, *PACKAGES} - {*sys.builtin_module_names, *imported}:
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
