"""HDF5 files whose changes are in them together or not at all, whenever the process is killed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, final

from symplex.meshes.series.redo import RedoFile

if TYPE_CHECKING:
    import h5py

_LIBVER = ("v108", "v108")  # which has no mark "open for writing" that would lock out readers after a crash


@final
class CommittedFile:
    """An HDF5 file, open for changes that become part of it together, by `commit`.

    HDF5 crashes if a write fails under it; through the `RedoFile` none does, from the first byte on.

    Attributes
    ----------
    root : h5py.File
    """

    def __init__(self, path: Path, *, begun: bool = True):
        """Open the file; one that is not ``begun`` is empty."""
        import h5py

        self._redo = RedoFile(path, writable=True)
        try:
            self.root = h5py.File(self._redo, "r+" if begun else "w", libver=_LIBVER)
        except BaseException:
            self._redo.close()
            raise

    def commit(self) -> None:
        """Make all changes since the last commit part of the file."""
        self.root.flush()
        self._redo.commit()

    def close(self) -> None:
        """Commit and close."""
        try:
            self.root.close()
            self._redo.commit()
        finally:
            self._redo.close()

    def abandon(self) -> None:
        """Close the file as of the last commit."""
        self._redo.rollback()
        self.root.close()
        self._redo.close()


@contextmanager
def opened(path: Path) -> Iterator[h5py.File]:
    """Open a file for reading as of its last commit."""
    import h5py

    redo = RedoFile(path, writable=False)
    try:
        with h5py.File(redo, "r") as file:
            yield file
    finally:
        redo.close()
