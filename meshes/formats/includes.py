"""Files that include others: found, counted, and kept from including themselves."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import final

from symplex.errors import MeshError

_MOST_FILES = 1000  # one by one or in one another
_DEEPEST = 20


@final
class Includes:
    """The files that a file includes.

    Parameters
    ----------
    path : Path
        The file that is read.
    """

    def __init__(self, path: Path):
        self._folder = path.parent
        self._n_files = 0

    def found(self, name: str, by: Path, within: tuple[Path, ...]) -> tuple[Path, tuple[Path, ...]]:
        """Return an included file, looked for beside the one that includes it and beside the first.

        Parameters
        ----------
        name : str
            As it is written.
        by : Path
            The file in which it is written.
        within : tuple of Path
            The files that this one is included by.

        Returns
        -------
        path : Path
        within : tuple of Path
            The files that it is included by.

        Raises
        ------
        MeshError
            If it is not there, is no regular file, or includes itself, or there are very many.
        """
        self._n_files += 1
        if self._n_files > _MOST_FILES or len(within) >= _DEEPEST:
            raise MeshError(f"more than {_MOST_FILES} files are included, or more than {_DEEPEST} in one another.")
        try:
            path = next((folder / name for folder in (by.parent, self._folder) if (folder / name).exists()), None)
        except (OSError, ValueError):  # no name of a file
            path = None
        if path is None:
            raise MeshError(f"the included file {name[:100]} is not there.")
        if not stat.S_ISREG(path.stat().st_mode):
            raise MeshError(f"the included {name} is no regular file.")
        outer = (*within, by.resolve())
        if path.resolve() in outer:
            raise MeshError(f"the file {name} includes itself.")
        return path, outer
