"""Kernels that come with a wheel are taken in the place of what would be compiled, and of nothing else."""

import os
import subprocess
import sys

import pytest

from symplex.fem.compiled import shipped
from symplex.fem.compiled.kernels import OverloadFiles

# The product of a matrix of one pair of nodes with x, and how many functions were compiled for it.
PRODUCT = """
import sys
from contextlib import nullcontext
from pathlib import Path
import numpy as np
import numba.core.event as event
from symplex.fem.compiled import shipped
from symplex.fem.compiled.kernels import OverloadFiles
from symplex.fem.compiled.secant_product import secant_product
shipped.FOLDER = Path(sys.argv[1])
index, x, out = np.array([0, 1, 2], np.int32), np.array([[1.0], [3.0]]), np.empty((2, 1))
with shipped.own_kernels() if "own" in sys.argv else nullcontext():
    with event.install_recorder("numba:compile") as seen:
        secant_product(index, np.array([1, 0], np.int32), np.array([2.0, 2.0]), x, np.ones((2, 1)), out)
print(out.ravel().tolist(), len(seen.buffer) // 2)
"""
PACK = "import sys; from pathlib import Path; from symplex.fem.compiled.shipped import pack; "
PACK += "print(pack(Path(sys.argv[1]), Path(sys.argv[2])))"


def run(code, *arguments, **variables):
    """Return what Python code prints."""
    numba = ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "NUMBA_CACHE_DIR")
    environment = {name: value for name, value in os.environ.items() if name not in numba}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, env=environment | variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.slow
@pytest.mark.skipif(not shipped.families_here(), reason="there are no shipped kernels for this processor")
def test_a_kernel_of_the_family_of_the_processor_is_not_compiled(tmp_path):
    family = shipped.families_here()[-1]
    told = {"NUMBA_CPU_NAME": family, "NUMBA_CPU_FEATURES": ""}
    one, other, third = (str(tmp_path / name) for name in ("one", "other", "third"))
    assert run(PRODUCT, tmp_path, **told, NUMBA_CACHE_DIR=one) == "[4.0, -4.0] 1"
    archive = tmp_path / f"kernels-{family}.zip"
    assert run(PACK, one, archive) == "1"
    assert run(PRODUCT, tmp_path, NUMBA_CACHE_DIR=other) == "[4.0, -4.0] 0"
    assert run(PRODUCT, tmp_path, "own", NUMBA_CACHE_DIR=other) == "[4.0, -4.0] 1"  # as `symplex warmup` does
    # Where numba is told what to compile for, that is compiled.
    assert run(PRODUCT, tmp_path, **told, NUMBA_CACHE_DIR=third) == "[4.0, -4.0] 1"


def test_a_kernel_of_other_sources_or_of_another_version_of_numba_is_another(tmp_path, monkeypatch):
    monkeypatch.setattr(shipped, "_features", lambda: frozenset({"of a family"}))
    monkeypatch.setattr(shipped, "_families", lambda: {"of-test": frozenset({"of a family"}), "other": {"more"}})
    monkeypatch.setattr(shipped, "CPU_NAME", None)
    monkeypatch.setattr(shipped, "CPU_FEATURES", None)
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    cache = tmp_path / "cache"
    cache.mkdir()
    key = ("float64(float64)", ("x86_64-unknown-linux-gnu", "of-test", ""), ("digest", "digest"))
    here = (key[0], (key[1][0], "this processor", "+much"), key[2])
    OverloadFiles(str(cache), "kernel-1.py311", "stamp").save(key, {"compiled": 1})
    assert shipped.pack(cache, tmp_path / "kernels-of-test.zip") == 1
    shipped._archives.cache_clear()
    try:
        assert shipped.families_here() == ["of-test"]
        assert shipped.find("kernel-1.py311", "stamp", here) == {"compiled": 1}
        assert shipped.find("kernel-1.py311", "edited", here) is None
        assert shipped.find("kernel-2.py311", "stamp", here) is None
        assert shipped.find("kernel-1.py311", "stamp", (*here[:2], ("edited", "digest"))) is None
        assert shipped.find("kernel-1.py311", "stamp", ("float64(int64)", *here[1:])) is None
        empty = OverloadFiles(str(tmp_path / "nothing"), "kernel-1.py311", "stamp")
        assert empty.load(here) == {"compiled": 1}
        with shipped.own_kernels():
            assert empty.load(here) is None
        monkeypatch.setattr(shipped.numba, "__version__", "0.1")
        assert empty.load(here) is None
    finally:
        shipped._archives.cache_clear()
