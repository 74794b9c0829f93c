"""What is built and installed: every room of the house, every module, every bundled mesh; and time stays time."""

import importlib.metadata
import pkgutil
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile

import pytest
import write_stubs

import symplex


@pytest.fixture(scope="module")
def project(pytestconfig):
    """The root of the repository and its pyproject.toml."""
    root = pytestconfig.rootpath
    return root, tomllib.loads((root / "pyproject.toml").read_text("utf-8"))


def modules_of(root, packages):
    """Return the paths of all modules of the packages, relative to the root."""
    folders = [root / name.removeprefix("symplex").removeprefix(".").replace(".", "/") for name in packages]
    return {path.relative_to(root).as_posix() for folder in folders for path in folder.glob("*.py*") if path.is_file()}


def test_every_room_is_listed(project):
    root, pyproject = project
    folders = [path.parent for room in root.glob("*/__init__.py") for path in room.parent.rglob("__init__.py")]
    rooms = {".".join(("symplex", *folder.relative_to(root).parts)) for folder in folders}
    assert set(pyproject["tool"]["setuptools"]["packages"]) == {"symplex"} | rooms


def test_nothing_but_the_face_lies_at_the_top(project):
    root, _ = project
    assert {path.name for path in root.glob("*.py")} == {"__init__.py", "__main__.py", "errors.py", "units.py"}


def test_the_version_is_the_same_everywhere(project):
    root, pyproject = project
    assert pyproject["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "symplex.base.version.VERSION"}
    assert f"## {symplex.__version__}" in (root / "CHANGELOG.md").read_text("utf-8")
    assert f"\nversion: {symplex.__version__}\n" in (root / "CITATION.cff").read_text("utf-8")
    assert f'\n  version: "{symplex.__version__}"\n' in (root / "release/conda-forge/recipe.yaml").read_text("utf-8")


def test_the_recipe_asks_for_what_the_package_needs(project):
    root, pyproject = project
    packages = pyproject["project"]["dependencies"] + pyproject["project"]["optional-dependencies"]["pictures"]
    needed = {name.replace("matplotlib", "matplotlib-base") for name in packages}
    recipe = (root / "release/conda-forge/recipe.yaml").read_text("utf-8")
    run = re.search(r"^  run:\n((?:    - .*\n)+)", recipe, re.MULTILINE)[1]
    asked = {line.removeprefix("    - ").replace(" ", "") for line in run.splitlines()}
    assert asked - {"python>=${{python_min}}"} == needed


@pytest.mark.slow
def test_wheel_holds_all_modules_and_meshes(project, tmp_path):
    root, pyproject = project
    packages = pyproject["tool"]["setuptools"]["packages"]
    source = tmp_path / "source"
    ignored = shutil.ignore_patterns("__pycache__", ".*", "tests", "benchmarks", "docs", "build", "*.egg-info", "*.nb?")
    shutil.copytree(root, source, ignore=ignored)
    command = [sys.executable, "-m", "pip", "wheel", ".", "--no-deps", "--no-build-isolation", "--quiet", "-w"]
    subprocess.run([*command, str(tmp_path)], cwd=source, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
    expected = modules_of(root, packages) | {path.relative_to(root).as_posix() for path in root.glob("meshes/*.msh")}
    expected |= {path.relative_to(root).as_posix() for path in root.glob("runs/page/*.*") if path.suffix != ".pyc"}
    expected.add("py.typed")
    package = {name.removeprefix("symplex/") for name in inside if name.startswith("symplex/")}
    assert package == expected
    assert {"meshes/bracket.msh", "runs/page/page.html", "runs/page/page.js"} <= expected
    assert {name.split("/")[0] for name in inside} <= {"symplex", f"symplex-{symplex.__version__}.dist-info"}


def test_time_is_the_standard_library():
    import time

    assert time.sleep.__module__ == "time"
    assert not hasattr(time, "__path__")


def test_modules_import():
    apart = {"tests", "examples", "benchmarks", "docs", "__main__"}  # not of the package, or run when imported
    found = [module.name for module in pkgutil.walk_packages(symplex.__path__, "symplex.")]
    modules = [name for name in found if apart.isdisjoint(name.split("."))]
    assert {"symplex.fem.system", "symplex.time.explicit.newmark", "symplex.commands.cli"} <= set(modules)
    for name in modules:
        importlib.import_module(name)


def test_public_names_are_there_and_documented():
    for name in {*symplex._FAMILY_OF, *symplex._FAMILIES}:
        assert getattr(symplex, name).__doc__, name
        assert name in dir(symplex)
    for family in (getattr(symplex, name) for name in symplex._FAMILIES if name != "errors"):
        for name in family.__all__:
            assert getattr(family, name).__doc__, name
            assert name in dir(family)
    with pytest.raises(AttributeError, match=r"'symplex' has no attribute 'OnPlane'; it is symplex\.measures\.OnPlane"):
        _ = symplex.OnPlane
    with pytest.raises(AttributeError, match=r"module 'symplex\.fem\.measures' has no attribute 'nothing'"):
        _ = symplex.measures.nothing
    with pytest.raises(AttributeError, match="module 'symplex' has no attribute 'nothing'"):
        _ = symplex.nothing


def test_editors_are_told_of_the_public_names():
    for path, text in write_stubs.stubs().items():
        assert path.read_text(encoding="utf-8") == text, "run python tests/write_stubs.py"


def test_importing_symplex_is_light():
    code = "import sys, symplex; print([m for m in ('numpy', 'numba', 'scipy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_importing_simulate_leaves_out_what_runs_may_not_need():
    heavy = ("h5py", "matplotlib", "meshio", "pyvista", "rich", "vtkmodules", "scipy.integrate", "scipy.linalg")
    heavy += ("scipy.optimize", "scipy.sparse", "scipy.spatial", "urllib.request", "xml.etree.ElementTree")
    heavy += ("symplex.meshes.formats.abaqus", "symplex.meshes.formats.nastran")
    code = f"import sys; from symplex import simulate; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
