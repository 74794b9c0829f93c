"""The results folder of a run: which file is what, and what is a run's and what the user's."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

import numpy as np

from symplex.base.checkpoint import files_of_parts
from symplex.base.files import aside_of, damage_reported, is_file, read_whole, reason_of, write_text
from symplex.errors import OutputError
from symplex.meshes.series.piece_index import piece_files
from symplex.meshes.series.pvd import files_beside
from symplex.meshes.series.redo import log_of
from symplex.runs.history import declaration_of
from symplex.runs.probe_files import path_of_probe, probe_formats
from symplex.runs.study_folder import MEMBERS, WHAT_IS_OF, kind_of

_MARK = b"made by symplex; while a run goes on in this folder, it keeps others out\n"


class FolderBusy(OutputError):
    """A results folder in which another process is running."""


class Folder:
    """A results folder and the names of the files in it.

    Parameters
    ----------
    path : path-like
    series_format : {"vtkhdf", "pvd"}
    probes : mapping of str to {"csv", "hdf5"}, optional
        The formats of probes by name.
    """

    def __init__(
        self, path: str | Path, series_format: str = "vtkhdf", probes: Mapping[str, str] = MappingProxyType({})
    ):
        self._given_probes = probes
        self.path = Path(path)
        self.series = self.path / f"motion.{series_format}"
        self.scenario = self.path / "scenario.toml"
        self.history = self.path / "history.csv"
        self.checkpoint = self.path / "checkpoint.npz"
        self.start = self.path / "start.npz"
        self.summary = self.path / "summary.json"
        self.conservation = self.path / "conservation.json"
        self.plot = self.path / "history.png"
        self.probe_plot = self.path / "probes.png"
        self.snapshots = self.path / "snapshots.png"
        self.snapshot = self.path / "snapshot.png"
        self.conservation_plot = self.path / "conservation.png"
        self._lock = self.path / ".lock"
        self._lock_file: IO[bytes] | None = None  # while it is held

    def __reduce__(self) -> tuple[type[Folder], tuple[Any, ...]]:
        """Go to another process by name: who holds the folder stays here."""
        return Folder, (self.path, self.series.suffix[1:], dict(self._given_probes))

    @classmethod
    def of_run(cls, path: str | Path) -> Folder:
        """Return the folder of a run that has been made."""
        folder = cls(path)
        if folder.path.is_file():
            raise OutputError(f"{path} is a file; name the results folder of a run.")
        if not folder.path.is_dir():
            raise OutputError(f"there is no results folder {path}.")
        if not folder.history.exists() and (kind := kind_of(folder.path)):
            runs = f" (those are in {folder.path / MEMBERS})" if kind == "study" else ""
            raise OutputError(f"{path} holds {WHAT_IS_OF[kind]}, not a run{runs}; look at it with: symplex info {path}")
        if not folder.holds_run:
            raise OutputError(f"{path} is not a results folder: it has no {folder.scenario.name}.")
        return folder if folder.series.exists() else cls(path, "pvd")

    @property
    def holds_run(self) -> bool:
        """Whether there is a run in the folder."""
        return self.scenario.exists() or self.summary.exists()

    def film(self, suffix: str) -> Path:
        """Return the file of a film in a format, ``mp4`` or ``gif``."""
        return self.path / f"film.{suffix}"

    # -- what is the run's, and what the user's -------------------------------------------------------------------

    def refuse_taken(self, overwrite: bool = False, *, resumable: bool = True) -> None:
        """Refuse to begin a new run where there is one already, or where its files would take the place of others.

        Parameters
        ----------
        overwrite : bool, default False
            Whether a run that is there may be replaced.
        resumable : bool, default True
            Whether who asks could go on with it.
        """
        if self.is_of_run:
            if self.holds_run and not overwrite:
                ways = "continue it with --resume, " * resumable + "replace it with --overwrite"
                raise OutputError(f"{self.path} already holds a run; {ways}, or choose another folder with --output.")
        elif there := [path.name for path in self.files() if os.path.lexists(path)]:
            raise OutputError(
                f"{self.path} holds {' and '.join(there[:3])}, but no run that was begun there by symplex; what a run "
                "writes would take their place. Move them away, or choose another folder with --output."
            )
        self.refuse_links()

    def refuse_links(self) -> None:
        """Refuse to write to a folder in which a name of a run's file is that of a link, a folder or the like."""
        wanted_kinds = dict.fromkeys(self.files(), stat.S_ISREG)
        if self.series.suffix == ".pvd":
            wanted_kinds[self.series.with_suffix("")] = stat.S_ISDIR
        for path, wanted in wanted_kinds.items():
            try:
                mode = path.lstat().st_mode
            except OSError:  # it is not there; what else there may be, writing will tell
                continue
            if not wanted(mode):
                kind = "link" if stat.S_ISLNK(mode) else "folder" if stat.S_ISDIR(mode) else "file of another kind"
                raise OutputError(f"{path} is a {kind}, to which a run does not write; remove it or move it away.")

    def files(self) -> list[Path]:
        """Return all files that a run writes in the folder, whatever its format; a kill may leave any of them."""
        indices = [self.path / name for name in ("motion.pvd", "motion.vtkhdf")]
        pictures = [self.plot, self.probe_plot, self.snapshots, self.snapshot, self.conservation_plot]
        pictures += [self.film("mp4"), self.film("gif")]
        history = [self.history, declaration_of(self.history)]
        own = [self.checkpoint, self.start, self.summary, self.conservation, *history, self.scenario]
        whole = [*own, *pictures, *self._probe_files(), *indices]
        asides = [aside_of(path) for path in whole]
        logs = [log_of(path) for path in (whole[-1], asides[-1], *self._probe_files())]
        return [
            *whole,
            *asides,
            *logs,
            *files_beside(indices[0]),
            *piece_files(indices[1]),
            *files_of_parts(self.checkpoint),
        ]

    def _probe_files(self) -> list[Path]:
        """Return the files of probes, those of a run that is in the folder and those of one that is to be."""
        try:
            before = probe_formats(self.scenario.read_text("utf-8")) if is_file(self.scenario) else {}
        except (OSError, UnicodeDecodeError):
            before = {}
        pairs = dict.fromkeys([*before.items(), *self._given_probes.items()])
        files = [path_of_probe(self.path, name, kind) for name, kind in pairs]
        return [*files, *(declaration_of(path) for path in files if path.suffix == ".csv")]

    @property
    def is_of_run(self) -> bool:
        """Whether what has the names of a run's files is of a run: there is its mark, or a summary or checkpoint.

        Earlier versions left no mark.
        """
        try:
            if is_file(self._lock) and self._lock.read_bytes() == _MARK:
                return True
            if not self.holds_run:
                return False
            if is_file(self.summary) and {"status", "scenario_sha256"} <= json.loads(self.summary.read_bytes()).keys():
                return True
            with np.load(self.checkpoint, allow_pickle=False) as file:
                return {"sample", "wall_time"} <= set(file.files)
        except Exception:  # whatever is wrong with files that need not be ours
            return False

    # -- a run in the folder --------------------------------------------------------------------------------------

    @contextmanager
    def held(self) -> Iterator[None]:
        """Make the folder if need be, and keep other processes from running in it; remove it if nothing comes in.

        The operating system lets go of the lock when the process ends, however it ends. Where a file system knows no
        locks, nothing is kept out.
        """
        made = not self.path.exists()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            begun = is_file(self._lock)
            file = self._lock.open("r+b" if begun else "xb")
        except FileExistsError:
            raise OutputError(f"{self._lock} is not a file; remove it or move it away.") from None
        except OSError as error:
            raise OutputError(f"{self.path} cannot be written: {reason_of(error)}.") from error
        with file:
            try:
                _lock(file)
            except (BlockingIOError, PermissionError):
                raise FolderBusy(
                    f"another process is running in {self.path}; wait for it, or choose another folder with --output."
                ) from None
            except OSError:
                pass
            self._lock_file = file
            try:
                yield
            finally:
                self._lock_file = None
                if not begun and not self.holds_run:
                    with suppress(OSError):  # on Windows a file that is open cannot be removed
                        self._lock.unlink()
                        if made:
                            self.path.rmdir()

    def create(self, scenario_text: str, overwrite: bool = False) -> None:
        """Begin a new run in the folder, which is held, with a copy of its scenario.

        Parameters
        ----------
        scenario_text : str
        overwrite : bool, default False
            Whether to remove a run that is there.
        """
        self.refuse_taken(overwrite)
        try:
            self._clear()
            if self._lock_file is not None:
                self._lock_file.seek(0)
                self._lock_file.write(_MARK)
                self._lock_file.flush()
        except OSError as error:
            raise OutputError(f"{self.path} cannot be written: {reason_of(error)}.") from error
        write_text(self.scenario, scenario_text)

    def keep_scenario(self, scenario_text: str) -> None:
        """Write the copy of the scenario anew, if it is another."""
        with damage_reported(self.scenario, "scenario", "put it back as the run wrote it"):
            kept = read_whole(self.scenario)
        if kept != scenario_text.encode("utf-8", "backslashreplace"):
            write_text(self.scenario, scenario_text)

    def _clear(self) -> None:
        """Remove what an earlier run has left, and nothing else: its checkpoint first, and not yet its scenario."""
        for path in self.files():
            if path != self.scenario:
                path.unlink(missing_ok=True)
        with suppress(OSError):  # it is not there, or holds something else
            self.series.with_name("motion").rmdir()

    def remove(self) -> None:
        """Remove a run that is in the folder, and the folder if nothing else is in it."""
        if not self.is_of_run:
            return
        self.refuse_links()
        with self.held():
            self._clear()
            self.scenario.unlink(missing_ok=True)
            is_ours = self._lock.read_bytes() in (_MARK, b"")
        if is_ours:
            self._lock.unlink(missing_ok=True)
        with suppress(OSError):  # it holds something else
            self.path.rmdir()

    def write_summary(self, summary: Mapping[str, Any]) -> None:
        """Write ``summary.json``."""
        write_text(self.summary, json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False) + "\n")

    def read_summary(self) -> dict[str, Any]:
        """Return the content of ``summary.json``, empty if there is none."""
        with damage_reported(self.summary, "summary", "remove it, and --resume writes it again"):
            try:
                summary = json.loads(read_whole(self.summary))
            except FileNotFoundError:
                return {}
            if not isinstance(summary, dict):
                raise ValueError(f"a {type(summary).__name__} instead of an object")
            return summary


def _lock(file: IO[bytes]) -> None:
    """Take the lock on a file that one process at a time can have, or raise an OSError."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
