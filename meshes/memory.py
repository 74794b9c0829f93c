"""How much memory there is, so that a mistyped number is a sentence and not a machine that stands still."""

from __future__ import annotations

import math
import os
from pathlib import Path

from symplex.errors import MeshError

_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")  # of a container


def memory_of_machine() -> float:
    """Return the bytes of memory that this process can have at most; infinite if the system does not tell."""
    sizes = [float("inf")]
    if hasattr(os, "sysconf") and {"SC_PHYS_PAGES", "SC_PAGE_SIZE"} <= set(os.sysconf_names):
        sizes.append(float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")))
    for path in map(Path, _LIMITS):
        try:
            text = path.read_text("ascii").strip()
        except (OSError, UnicodeDecodeError):
            continue
        if text.isdigit():
            sizes.append(float(text))
    return min(size for size in sizes if size > 0)


def require_memory(what: str, n_bytes: float) -> None:
    """Refuse what would need more memory than the machine has.

    Parameters
    ----------
    what : str
        Begins the message: "a box of 10 × 10 × 10 cells".
    n_bytes : float
        An estimate.
    """
    there = memory_of_machine()
    if n_bytes > there:
        raise MeshError(
            f"{what} would need about {_readable(n_bytes)} of memory, but this machine has {_readable(there)}; "
            "take fewer cells."
        )


def _readable(n_bytes: float) -> str:
    units = ("kB", "MB", "GB", "TB", "PB")
    k = min(max(int(math.log10(n_bytes)) // 3, 1), len(units))
    return f"{n_bytes / 1000.0**k:.3g} {units[k - 1]}"
