"""Where numba keeps compiled kernels if it finds no place by itself."""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import tempfile
from functools import cache
from pathlib import Path

from numba import njit
from numba.core import config

from symplex.base.files import reason_of
from symplex.errors import OutputError

LAWS = "symplex_laws"  # the folder of the texts of laws, next to the kernels
_VARIABLE = "NUMBA_CACHE_DIR"
_TEMPORARY = "symplex-kernels-"
_WAY_OUT = f"name one that can be written by the environment variable {_VARIABLE}"


@cache
def provide_cache() -> None:
    """Let numba keep kernels in a temporary folder where neither the package nor the user's cache can be written.

    To be called before the first kernel is declared, which numba refuses if it finds no place for it. The folder is
    the same for all processes of a user, so that only the first one compiles. Processes started from here use it, too.

    Raises
    ------
    OutputError
        If nothing can be written at all.
    """
    if _has_cache():
        return
    try:
        folder = _temporary()
    except OSError as error:
        raise OutputError(
            f"there is no folder to keep compiled kernels in ({reason_of(error)}); {_WAY_OUT}."
        ) from error
    os.environ[_VARIABLE] = str(folder)
    config.reload_config()
    if not _has_cache():
        raise OutputError(f"{folder} cannot be written, to keep compiled kernels in; {_WAY_OUT}.")


def cache_folder() -> Path:
    """Return the folder in which numba keeps the kernels of this room.

    Raises
    ------
    OutputError
        If nothing can be written at all.
    """
    provide_cache()

    def kernel() -> None:
        pass

    return Path(str(njit(cache=True)(kernel).stats.cache_path))


def lasting_cache() -> Path:
    """Return the folder of `cache_folder`, which is to stay for later processes.

    Raises
    ------
    OutputError
        If the folder that is named for it cannot be written, or there is none but a temporary one.
    """
    named, found = os.environ.get(_VARIABLE), cache_folder()
    if named and not Path(named).name.startswith(_TEMPORARY) and Path(named).absolute() not in found.parents:
        raise OutputError(f"{named} cannot be written, to keep compiled kernels in; {_WAY_OUT}.")
    if not any(part.startswith(_TEMPORARY) for part in found.parts):
        return found
    raise OutputError(
        f"neither the folder of the package nor that of the user's cache can be written, and {found} is temporary; "
        f"{_WAY_OUT}."
    )


def _has_cache() -> bool:
    """Return whether numba finds a place for kernels of this package."""

    def kernel() -> None:
        pass

    try:
        njit(cache=True)(kernel)
    except RuntimeError:
        return False
    return True


def _temporary() -> Path:
    """Return a folder in which nobody else can put kernels: they are code, and numba runs what it finds."""
    folder = Path(tempfile.gettempdir()) / f"{_TEMPORARY}{_user()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if stat.S_ISDIR(found.st_mode) and found.st_uid == _user() and stat.S_IMODE(found.st_mode) == 0o700:
        return folder
    private = tempfile.mkdtemp(prefix=_TEMPORARY)
    atexit.register(shutil.rmtree, private, ignore_errors=True)
    return Path(private)


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0
