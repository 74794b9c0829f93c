"""A file whose changes arrive all together or not at all, whenever the process is killed."""

from __future__ import annotations

import os
import struct
import zlib
from io import FileIO
from pathlib import Path
from typing import final

from symplex.base.files import refuse_special

_PAGE = 4096
_MAGIC = b"SPXREDO1"
_HEADER = struct.Struct("<8sQI")


@final
class RedoFile:
    """A file object, as h5py's ``fileobj`` driver wants one, that changes the file only by `commit`.

    What lies beyond the committed end of the file is not yet referred to and is written at once. Changes of committed
    pages are kept in memory; `commit` writes them to a log next to the file first and then in place. Killed before
    the log is whole, the file is as it was (with a tail that nothing refers to); after, `recover` or a reader's own
    look at the log finishes the work. So a reader sees one commit or the next, never a mixture.

    Parameters
    ----------
    path : Path
        An existing file.
    writable : bool
        If false, a whole log is read over the file, and nothing on the disk is touched.
    """

    def __init__(self, path: Path, *, writable: bool):
        self.log_path = log_of(path)
        refuse_special(path)
        if writable:
            recover(path)
        self._pages = {} if writable else _read_log(self.log_path)
        self._file = FileIO(path, "r+" if writable else "r")
        self._writable = writable
        self._position = 0
        # HDF5 crashes if a write fails under it, so failures wait for the commit.
        self._failure: OSError | None = None
        self._log_is_due = False
        self._size = os.fstat(self._file.fileno()).st_size
        self._requested_size = self._size
        self._committed = _pages_in(self._size)

    # -- what h5py calls ------------------------------------------------------------------------------------

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move to a position."""
        self._position = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        return self._position

    def tell(self) -> int:
        """Return the position."""
        return self._position

    def read(self, n: int) -> bytes:
        """Return up to n bytes from the position on."""
        buffer = bytearray(n)
        return bytes(buffer[: self.readinto(memoryview(buffer))])

    def readinto(self, buffer: memoryview) -> int:
        """Fill the buffer from the position on."""
        start, requested = self._position, len(buffer)
        end = _read_into(self._file, buffer, start)
        for number in self._touched(start, requested):
            if (page := self._pages.get(number)) is not None:
                low, high = max(start, number * _PAGE), min(start + requested, (number + 1) * _PAGE)
                buffer[low - start : high - start] = page[low - number * _PAGE : high - number * _PAGE]
                end = max(end, high - start)
        self._position += end
        return end

    def write(self, data: memoryview) -> int:
        """Write at the position: at once beyond the committed end, else at the next commit."""
        if not self._writable:
            raise OSError("the file is open for reading only")
        start, n = self._position, len(data)
        direct = max(start, self._committed * _PAGE)
        for number in self._touched(start, min(n, max(0, direct - start))):
            page = self._page(number)
            low, high = max(start, number * _PAGE), min(start + n, (number + 1) * _PAGE)
            page[low - number * _PAGE : high - number * _PAGE] = data[low - start : high - start]
        if direct < start + n and self._failure is None:
            try:
                _write_all(self._file, data[direct - start :], direct)
            except OSError as error:
                self._failure = error
        self._position += n
        self._size = max(self._size, self._position)
        self._requested_size = max(self._requested_size, self._position)
        return n

    def flush(self) -> None:
        """Do nothing: only `commit` counts."""

    def truncate(self, size: int) -> None:
        """Lengthen the file now; shorten it only at the next commit."""
        if size > self._size and self._failure is None:
            try:
                self._file.truncate(size)
            except OSError as error:
                self._failure = error
            self._size = size
        self._requested_size = size

    # -- commits --------------------------------------------------------------------------------------------

    def commit(self) -> None:
        """Make all changes since the last commit part of the file."""
        if self._failure is not None:
            raise self._failure
        if self._pages:
            with FileIO(self.log_path, "w") as log:
                _write_all(log, _packed(self._pages), 0)
                self._log_is_due = True
                _apply(self._file, self._pages)
                log.truncate(0)
                self._log_is_due = False
            self._pages = {}
        if self._requested_size < self._size:
            self._file.truncate(self._requested_size)
        self._size = self._requested_size
        self._committed = _pages_in(self._size)

    def rollback(self) -> None:
        """Let nothing written since the last commit, or from now on, become part of the file."""
        self._failure = self._failure or OSError("the file was rolled back")

    def close(self) -> None:
        """Close the file without a commit, and remove the log unless the file needs it to be whole."""
        self._file.close()
        if self._writable and not self._log_is_due:
            self.log_path.unlink(missing_ok=True)

    def _page(self, number: int) -> bytearray:
        if number not in self._pages:
            page = bytearray(_PAGE)
            _read_into(self._file, memoryview(page), number * _PAGE)
            self._pages[number] = page
        return self._pages[number]

    @staticmethod
    def _touched(start: int, n: int) -> range:
        return range(start // _PAGE, _pages_in(start + n)) if n > 0 else range(0)


def log_of(path: Path) -> Path:
    """Return the path of the log next to a file."""
    return path.with_name(path.name + ".redo")


def recover(path: Path) -> None:
    """Finish a commit that was cut short, if there is one."""
    log = log_of(path)
    if not log.exists():
        return
    if pages := _read_log(log):
        with FileIO(path, "r+") as file:
            _apply(file, pages)
    log.unlink()


def _pages_in(size: int) -> int:
    return -(-size // _PAGE)


def _apply(file: FileIO, pages: dict[int, bytearray]) -> None:
    for number, page in pages.items():
        _write_all(file, page, number * _PAGE)


def _packed(pages: dict[int, bytearray]) -> bytes:
    numbers = struct.pack(f"<{len(pages)}Q", *pages)
    body = b"".join([numbers, *pages.values()])
    return _HEADER.pack(_MAGIC, len(pages), zlib.crc32(body)) + body


def _read_log(log: Path) -> dict[int, bytearray]:
    """Return the pages of a log; none if it is not whole."""
    data = log.read_bytes() if log.exists() else b""
    if len(data) < _HEADER.size:
        return {}
    magic, n, checksum = _HEADER.unpack_from(data)
    body = data[_HEADER.size :]
    if magic != _MAGIC or len(body) != n * (8 + _PAGE) or zlib.crc32(body) != checksum:
        return {}
    numbers = struct.unpack_from(f"<{n}Q", body)
    return {number: bytearray(body[8 * n + k * _PAGE : 8 * n + (k + 1) * _PAGE]) for k, number in enumerate(numbers)}


def _read_into(file: FileIO, buffer: memoryview, offset: int) -> int:
    """Fill the buffer from the offset on; return how many bytes there were."""
    file.seek(offset)
    end = 0
    while end < len(buffer) and (n := file.readinto(buffer[end:])):
        end += n
    return end


def _write_all(file: FileIO, data: bytes | bytearray | memoryview, offset: int) -> None:
    file.seek(offset)
    rest = memoryview(data)
    while len(rest):
        rest = rest[file.write(rest) :]
