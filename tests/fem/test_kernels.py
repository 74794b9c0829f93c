"""Cached kernels: valid as long as no source that they are made from has changed."""

import ast
import gc
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numba import njit
from numba.core import caching, event

import symplex
from symplex.fem.compiled import kernels

ROOT = Path(symplex.__path__[0])
PACKAGES = ("fem", "time", "contact", "meshes")

# The energy of a node 0.5 m inside a plane of stiffness 2 N/m; the kernel is in fem/measures/loops.py, its formula of
# the gap in fem/measures/relative.py.
ENERGY = """
import numpy as np, symplex as sx
contact = sx.RigidContact([0], sx.HalfSpace(point=(0, 0, 0), normal=(0, 0, 1)), stiffness=2.0)
print(contact.total(np.array([[0.0, 0.0, -0.5]])))
"""


def run(folder: Path, code: str) -> str:
    """Return what Python code prints that imports the package from a folder."""
    environment = os.environ | {"PYTHONPATH": str(folder)}
    command = [sys.executable, "-c", code]  # which looks for packages in the present folder first
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def copied(tmp_path):
    """Return a folder with a copy of the package, without anything compiled."""
    ignored = shutil.ignore_patterns(
        "__pycache__", ".*", "tests", "benchmarks", "docs", "examples", "build", "*.egg-info"
    )
    shutil.copytree(ROOT, tmp_path / "symplex", ignore=ignored)
    return tmp_path


@pytest.mark.slow
def test_an_edited_formula_of_another_file_runs_the_next_time(copied):
    assert run(copied, ENERGY) == "0.25"
    formulas = copied / "symplex" / "fem" / "measures" / "relative.py"
    text, height = formulas.read_text(encoding="utf-8"), "return dot(normal(measure, f), d)"
    assert text.count(height) == 1
    formulas.write_text(text.replace(height, "return 2.0 * dot(normal(measure, f), d)"), encoding="utf-8")
    assert run(copied, ENERGY) == "1.0"


@pytest.mark.slow
def test_what_is_unchanged_is_not_compiled_again(copied):
    watched = "import numba.core.event as e\nwith e.install_recorder('numba:compile') as seen:\n"
    code = watched + "".join(f"    {line}\n" for line in ENERGY.strip().splitlines()) + "print(len(seen.buffer))"
    assert run(copied, ENERGY) == "0.25"
    assert run(copied, code).split() == ["0.25", "0"]
    unrelated = copied / "symplex" / "time" / "explicit" / "newmark.py"
    unrelated.write_text(unrelated.read_text(encoding="utf-8") + "\n# edited\n", encoding="utf-8")
    assert run(copied, code).split() == ["0.25", "0"]


def test_a_cached_kernel_is_loaded_without_what_numba_compiles_with():
    """Which takes longer to import than all else of a short run, as SciPy's linear algebra is among it."""
    loaded = 'import sys\nprint(*({"numba.np.arraymath", "scipy.linalg", "scipy.sparse"} & set(sys.modules)))'
    assert run(ROOT.parent, ENERGY).split()[0] == "0.25"  # compiled by now
    assert run(ROOT.parent, ENERGY + loaded) == "0.25"


def test_signatures_of_classes_that_are_gone_are_no_longer_known(tmp_path, monkeypatch):
    module = ModuleType("of_yesterday")
    module.Law = type("Law", (), {"__module__": "of_yesterday"})
    monkeypatch.setitem(sys.modules, "of_yesterday", module)
    index = caching.IndexDataCacheFile(str(tmp_path), "kernel", "stamp")
    index._save_index({module.Law: "kernel.1.nbc"})
    assert index._load_index() == {module.Law: "kernel.1.nbc"}
    del module.Law
    assert index._load_index() == {}
    assert index.load("another") is None


@cache
def parsed():
    """Return the imports and names in each file of the package."""
    kept = ast.Import, ast.ImportFrom, ast.Name
    return {
        path: [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, kept)]
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
    }


@pytest.mark.slow
def test_the_stamp_covers_all_that_a_module_imports():
    for path, nodes in parsed().items():
        found = set()
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "symplex":
                assert node.module is not None
                found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
            elif isinstance(node, ast.Import):
                found |= {name.name for name in node.names if name.name.startswith("symplex.")}
        files = {ROOT.joinpath(*name.split(".")[1:]).with_suffix(".py") for name in found}
        assert kernels._imported(str(path)) == {str(file) for file in files if file.is_file()}, path


def test_compiled_functions_are_declared_in_one_place():
    """But for one that is never called: it asks numba whether it finds a place."""
    for path, nodes in parsed().items():
        if path.name not in ("kernels.py", "kernel_cache.py"):
            names = {node.id for node in nodes if isinstance(node, ast.Name)}
            assert not names & {"njit", "jit", "cfunc", "vectorize", "guvectorize"}, path


@kernels.formula
def squares(x):
    """Return Σ x²."""
    return x[0] * x[0] + x[1] * x[1] + x[2] * x[2]


def test_a_formula_called_from_python_is_what_kernels_compute():
    @kernels.kernel
    def of_kernel(x):
        return squares(x)

    assert of_kernel(np.full(3, 2.0)) == 12.0  # compiled without what Python calls it by
    assert squares(np.full(3, 2.0)) == 12.0
    assert squares(np.full(3, 2, np.int32)) == 12
    with pytest.raises(TypeError, match="not enough arguments"):
        squares()


def test_a_formula_is_compiled_once_for_all_constants():
    @kernels.formula
    def doubled(number):
        return 2 * number

    @njit
    def called(number):
        return doubled(1) + doubled(2) + doubled(number)

    assert called(3) == 12
    assert [str(arguments) for arguments in doubled.overloads] == ["(int64,)"]


def test_a_formula_that_needs_the_constant_itself_has_it():
    @kernels.formula
    def part(of, number):
        return of[number]

    @njit
    def called():
        values = 1, 2.5, True
        return part(values, 1), part(values, 2)

    assert called() == (2.5, True)


@pytest.mark.parametrize("threshold", [0, 321, 10**6])
def test_garbage_is_looked_for_less_often_only_while_compiling(threshold):
    seen = []

    class Watch(event.Listener):
        def on_start(self, event):
            seen.append(gc.get_threshold()[0])

        def on_end(self, event):
            seen.append(gc.get_threshold()[0])

    @njit
    def inner(number):
        return number + 1

    @njit
    def outer(number):
        return inner(number) + 1

    before = gc.get_threshold()
    try:
        gc.set_threshold(threshold, *before[1:])
        with event.install_listener("numba:compile", Watch()):
            assert outer(1) == 3
        assert gc.get_threshold() == (threshold, *before[1:])
    finally:
        gc.set_threshold(*before)
    while_compiling = threshold and max(200_000, threshold)
    assert seen == [while_compiling] * 3 + [threshold]
