"""Compiled kernels are kept somewhere, wherever the package is installed."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import symplex.fem.compiled.kernel_cache as kernel_cache
from symplex.errors import OutputError
from symplex.fem.compiled.kernels import OverloadFiles

ROOT = Path(__file__).parents[2]
ROOMS = [path.parent for top in ROOT.glob("*/__init__.py") for path in top.parent.rglob("__init__.py")]


@pytest.fixture
def read_only_package(tmp_path):
    """A copy of the package in whose folders nothing can be kept, by no user."""
    package = tmp_path / "installed" / "symplex"
    for room in (ROOT, *ROOMS):
        folder = package / room.relative_to(ROOT)
        folder.mkdir(parents=True, exist_ok=True)
        for path in room.glob("*.py"):
            shutil.copy(path, folder)
        (folder / "__pycache__").write_bytes(b"")
    return package


def test_a_read_only_package_without_a_cache_keeps_kernels_in_a_temporary_folder(read_only_package, tmp_path):
    (tmp_path / "temporary").mkdir()
    environment = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "PYTHONPATH")}
    environment |= {"HOME": os.devnull, "XDG_CACHE_HOME": os.devnull, "LOCALAPPDATA": os.devnull}
    environment |= {"TMPDIR": str(tmp_path / "temporary"), "PYTHONPATH": str(read_only_package.parent)}
    program = "import symplex, symplex.time.events.event_queue as q; print(symplex.__file__); print(q.__file__)"
    done = subprocess.run(
        [sys.executable, "-B", "-c", program + "; import os; print(os.environ['NUMBA_CACHE_DIR'])"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    package, _, cache = done.stdout.splitlines()
    assert Path(package).parent == read_only_package
    assert Path(cache).parent == tmp_path / "temporary"


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The folder of temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="there are no owners of folders here")
def test_a_folder_in_which_others_can_write_is_not_taken(temporary):
    own = kernel_cache._temporary()
    assert own.parent == temporary
    assert kernel_cache._temporary() == own
    own.chmod(0o777)
    other = kernel_cache._temporary()
    assert other != own
    assert other.stat().st_mode & 0o777 == 0o700
    shutil.rmtree(own)
    own.symlink_to(other)
    assert kernel_cache._temporary() not in (own, other)


def test_where_nothing_can_be_written_a_sentence_tells_the_way_out(tmp_path, monkeypatch):
    def unwritable(self, *_):
        raise OSError("read-only")

    monkeypatch.setattr("numba.core.caching._CacheLocator.ensure_cache_path", unwritable)
    monkeypatch.setattr("numba.core.config.reload_config", lambda: None)
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/nowhere")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(OutputError, match=r"kernels-\d+ cannot be written, .*; name one .* variable NUMBA_CACHE_DIR\."):
        kernel_cache.provide_cache.__wrapped__()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    with pytest.raises(OutputError, match=r"no folder to keep compiled kernels in \(no such file or directory\)"):
        kernel_cache.provide_cache.__wrapped__()


def test_overloads_that_two_processes_compile_at_a_time_have_files_of_their_own(tmp_path, monkeypatch):
    """By numba's numbers both were in one file, and the later one was run in the place of the other: a KeyError."""
    first, second, later = (OverloadFiles(str(tmp_path), "kernel", "stamp") for _ in range(3))
    for one in (first, second):  # neither has seen what the other one has saved
        monkeypatch.setattr(one, "_load_index", dict)
    first.save("x", 1)
    index = (tmp_path / "kernel.nbi").read_bytes()
    second.save("y", 2)
    assert later.load("y") == 2
    (tmp_path / "kernel.nbi").write_bytes(index)  # as if the first one had been the last
    assert later.load("x") == 1
    assert later.load("y") is None
