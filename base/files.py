"""Files that are there whole or not at all and are not written through links, and files that are none."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from textwrap import shorten
from typing import IO, TYPE_CHECKING

from symplex.errors import OutputError

if TYPE_CHECKING:
    import numpy as np

# What to do about a damaged file of a results folder.
WAY_OUT = "put it back as the run wrote it, or run again"


def write_atomic(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole or not at all; what was there before stays until then.

    Raises
    ------
    OSError
        If it cannot be written; nothing is left of it then.
    """
    with replacing(path) as file:
        file.write(data)


def write_text(path: Path, text: str) -> None:
    """Write a text file so that it is there whole or not at all.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    # Names of files that are no UTF-8 come as surrogates, for which JSON has the same escapes as Python.
    try:
        write_atomic(path, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {reason_of(error)}.") from error


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that takes the place of another, whole and on the disk, when the block ends without an error.

    Raises
    ------
    OSError
        If it cannot be written; nothing is left of it then, and the other one is as it was.
    """
    aside = aside_of(path)
    with new_file(aside) as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            file.close()  # where it is open, Windows would not rename it
            aside.replace(path)
        except BaseException:
            with suppress(OSError):
                file.close()
            with suppress(OSError):
                aside.unlink(missing_ok=True)
            raise


def new_file(path: Path) -> IO[bytes]:
    """Open a file that is not there yet, but for what a process that was killed has left of it; never through a link.

    Raises
    ------
    OSError
        If it cannot be written; `FileExistsError` if there is a link, a folder or the like.
    """
    if is_file(path):
        path.unlink()
    return path.open("xb")


def is_file(path: Path) -> bool:
    """Return whether there is a file, and not a link to one."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def aside_of(path: Path) -> Path:
    """Return the path under which a file is written before it takes its place."""
    return path.with_name(path.name + ".new")


def read_whole(path: Path) -> bytes:
    """Return the content of a file.

    Raises
    ------
    OSError
        If it cannot be read, or is none: a pipe would keep us waiting, a device might never end.
    """
    refuse_special(path)
    return path.read_bytes()


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Return the arrays of an .npz file by name; whatever NumPy raises on a damaged one comes through."""
    import numpy as np  # not for --help

    refuse_special(path)
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:  # which leaves damaged ones open itself
        return dict(arrays)


def refuse_special(path: Path) -> None:
    """Refuse what is there but is no file, such as a folder, a pipe or a device.

    Raises
    ------
    OSError
        If it is.
    """
    if path.exists() and not path.is_file():
        raise OSError("it is no file")


@contextmanager
def damage_reported(path: Path, kind: str, way_out: str) -> Iterator[None]:
    """Turn whatever reading a damaged file ends in into an `OutputError`.

    Parameters
    ----------
    path : Path
    kind : str
        What the file should be, as in "not a checkpoint".
    way_out : str
        What to do, as the end of a sentence.
    """
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(f"{path} cannot be read ({reason_of(error)}); {way_out}.") from error
    except Exception as error:  # of a damaged zip, array, HDF5 or XML file almost any can come
        raise OutputError(
            f"{path} cannot be read: not a {kind}, or damaged ({reason_of(error)}); {way_out}."
        ) from error


def reason_of(error: Exception) -> str:
    """Return why something failed, as part of a sentence in one line."""
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error).strip() or type(error).__name__
    if isinstance(error, KeyError) and error.args:
        reason = str(error.args[0]) if " " in str(error.args[0]) else f"there is no '{error.args[0]}' in it"
    reason = shorten(reason.splitlines()[0].rstrip("."), 200)
    return reason if reason[1:2].isupper() else reason[:1].lower() + reason[1:]
