"""Kernels that are compiled before the package is installed: what wheels for one platform bring with them.

An archive holds the kernels of the usual methods for all processors of a family. `release/kernels.py` makes them;
where a kernel was not compiled on this machine, for its own processor, it is looked up there. A kernel is known by its
sources, its signature, the version of numba and the processor that it is for: none is taken for another one.
"""

from __future__ import annotations

import hashlib
import pickle
import platform
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numba
from llvmlite.binding import get_host_cpu_features
from numba.core.config import CPU_FEATURES, CPU_NAME  # pyright: ignore[reportAttributeAccessIssue]  # of variables

FOLDER = Path(__file__).parent  # of the archives

# By architecture, LLVM's names of families of processors, and what one must have for code that is made for a family;
# the best first. An x86 processor that has not even AVX2 compiles its own kernels.
_V3 = frozenset({"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"})
_V4 = _V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
_ARM: dict[str, frozenset[str]] = {"generic": frozenset()}
_X86 = {"x86-64-v4": _V4, "x86-64-v3": _V3}
_FAMILIES = {"x86_64": _X86, "amd64": _X86, "arm64": _ARM, "aarch64": _ARM}

_taken = True


def archive_of(family: str) -> Path:
    """Return the path of the archive of a family."""
    return FOLDER / f"kernels-{family}.zip"


def families_here() -> list[str]:
    """Return the families that the processor of this machine belongs to, the best first."""
    return [family for family, needed in _families().items() if needed <= _features()]


def has_feature(name: str) -> bool:
    """Return whether kernels are compiled for a processor with a feature: this machine's, or numba's setting."""
    return name in (_families().get(CPU_NAME, frozenset()) if CPU_NAME else _features())


def _families() -> dict[str, frozenset[str]]:
    return _FAMILIES.get(platform.machine().lower(), {})


@cache
def _features() -> frozenset[str]:
    """Return LLVM's names of what the processor of this machine has."""
    try:
        return frozenset(name for name, has in get_host_cpu_features().items() if has)
    except RuntimeError:  # of a processor whose features LLVM can't tell
        return frozenset()


def find(base: str, stamp: Any, key: Any) -> Any:
    """Return what was compiled of a kernel for a family of this machine's processor, or None.

    Parameters
    ----------
    base : str
        numba's name of the kernel's files.
    stamp : object
        Of the kernel's sources.
    key : tuple
        numba's key of an overload: the signature, what it is compiled for, and digests of the function.
    """
    if not _taken or CPU_NAME or CPU_FEATURES:
        return None
    for archive, family, names in _archives():
        signature, (triple, *_), function = key
        name = _name(base, stamp, (signature, (triple, family, ""), function))
        if name in names:
            return pickle.loads(archive.read(name))
    return None


@contextmanager
def own_kernels() -> Iterator[None]:
    """Compile for the processor of this machine what is missing of its own, whatever archives hold."""
    global _taken
    before, _taken = _taken, False
    try:
        yield
    finally:
        _taken = before


def pack(cache_folder: Path, archive: Path) -> int:
    """Write all kernels of a cache of numba's into an archive, and return how many.

    Parameters
    ----------
    cache_folder : Path
        Where a process with ``NUMBA_CPU_NAME`` of the family, and ``NUMBA_CPU_FEATURES`` empty, has kept them.
    archive : Path
        A new file.
    """
    found = 0
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(cache_folder.rglob("*.nbi")):
            with path.open("rb") as index:
                pickle.load(index)  # numba's version
                stamp, overloads = pickle.loads(index.read())
            for key, name in overloads.items():
                # The same names and times give the same archive.
                entry = zipfile.ZipInfo(_name(path.stem, stamp, key))
                entry.compress_type = zipfile.ZIP_DEFLATED
                packed.writestr(entry, (path.parent / name).read_bytes())
                found += 1
    return found


@cache
def _archives() -> list[tuple[zipfile.ZipFile, str, frozenset[str]]]:
    """Return the archives that there are for this machine, and the names in each."""
    found = [(family, archive_of(family)) for family in families_here()]
    # Read as a whole: a process that was forked would share the place in an open file with this one.
    opened = [(zipfile.ZipFile(BytesIO(path.read_bytes())), family) for family, path in found if path.is_file()]
    return [(archive, family, frozenset(archive.namelist())) for archive, family in opened]


def _name(base: str, stamp: Any, key: Any) -> str:
    """Return the name of an overload in an archive, which follows from all that it was made of."""
    return hashlib.sha256(repr((numba.__version__, base, stamp, key)).encode()).hexdigest()
