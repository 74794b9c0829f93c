"""Arrays in huge pages of memory, where the system has them.

A table that is read here and there costs a look into the system's table of pages for each page; there are five hundred
times fewer of two megabytes. NumPy asks for them from four megabytes on only, and not where one begins.
"""

import mmap
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_PAGE = 2**21
_LINES = 128  # a pair of cache lines, where what is smaller begins
_LEAST = _PAGE // 4  # bytes from which on they are used


def zeros(shape: tuple[int, ...], dtype: DTypeLike = float) -> NDArray[Any]:
    """Return zeros that begin at a huge page if they are many, else at a pair of cache lines."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    pages = _huge_pages(size) if size >= _LEAST and hasattr(mmap, "MADV_HUGEPAGE") else None
    if pages is None:
        memory, begin = np.zeros(size + _LINES, np.uint8), _LINES
    else:
        memory, begin = np.frombuffer(pages, np.uint8), _PAGE
    start = -memory.ctypes.data % begin
    return memory[start : start + size].view(dtype).reshape(shape)


def _huge_pages(size: int) -> mmap.mmap | None:
    """Return memory with room for so many bytes from the beginning of a page on; None if there is not as much."""
    try:
        pages = mmap.mmap(-1, -(-size // _PAGE) * _PAGE + _PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError:  # NumPy shows it as all others do, or still has what is missing
        return None
    with suppress(OSError):  # of a system that has no huge ones: then pages are as they are
        pages.madvise(mmap.MADV_HUGEPAGE)
    return pages


def moved(array: NDArray[Any]) -> NDArray[Any]:
    """Return a copy of an array there."""
    copy = zeros(array.shape, array.dtype)
    copy[...] = array
    return copy
