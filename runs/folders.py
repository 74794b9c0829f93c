"""Folders of results: a manifest says what each file is, and so which files are ours and which the user's."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, NamedTuple

from symplex.base.columns import Column
from symplex.base.files import aside_of, damage_reported, is_file, read_whole, reason_of, write_text
from symplex.base.version import VERSION
from symplex.errors import OutputError

STUDY, COMPARISON, MEMBERS, SUMMARY = "study.json", "comparison.json", "members", "summary.json"
MANIFEST, LOCK = "manifest.json", ".lock"
WHAT_IS_OF = {
    "run": "a run",
    "modes": "the modes of a scenario",
    "buckling": "the buckling of a scenario",
    "response": "the response of a scenario",
    "shock": "the shock response spectrum of a probe",
    "study": "a study",
    "comparison": "a comparison of two results",
    "fit": "a fit",
    "sensitivity": "sensitivities",
}
_FORMAT = 1
_LONGEST = 200  # letters of the name of a file
MARK = b"made by symplex; while a run goes on in this folder, it keeps others out\n"  # of locks
_UNSEEN = (LOCK, aside_of(Path(MANIFEST)).name)  # what a kill may leave before there is a manifest


class FolderBusy(OutputError):
    """A results folder in which another process is running."""


class Manifest(NamedTuple):
    """What a folder holds: one of the keys of `WHAT_IS_OF`, the version that began it, and what its files are."""

    kind: str
    version: str
    files: Mapping[str, str]


def manifest_of(path: Path) -> Manifest | None:
    """Return what a folder holds by its manifest; None if there is none, or it is none of ours."""
    reported = _json_in(path / MANIFEST)
    kind, files = reported.get("kind"), reported.get("files")
    if not isinstance(kind, str) or kind not in WHAT_IS_OF or not isinstance(files, dict):
        return None
    plain = {name: str(what) for name, what in files.items() if _is_plain(name)}
    return Manifest(kind, str(reported.get("symplex", "")), plain)


def kind_of(path: Path) -> str | None:
    """Return what a folder holds, one of the keys of `WHAT_IS_OF` but for runs, None if it is nothing of these.

    Earlier versions left no manifest.
    """
    if manifest := manifest_of(path):
        return None if manifest.kind == "run" else manifest.kind
    for kind, name in (("study", STUDY), ("comparison", COMPARISON)):
        if is_file(path / name):
            return kind
    kind = _json_in(path / SUMMARY).get("study")
    return kind if isinstance(kind, str) and kind in WHAT_IS_OF else None


def _is_plain(name: object) -> bool:
    """Return whether something names a file in a folder, and none elsewhere."""
    plain = isinstance(name, str) and name not in ("", "..") and "\0" not in name and len(name) < _LONGEST
    return plain and Path(str(name)).name == name


def _json_in(path: Path) -> dict[str, Any]:
    """Return what a file says; nothing if there is none, or it is damaged."""
    try:
        reported = json.loads(read_whole(path)) if is_file(path) else None
    except (OSError, ValueError, RecursionError):
        return {}
    return reported if isinstance(reported, dict) else {}


class Folder:
    """A folder that files of one kind of result are written to, which take no others' place.

    Parameters
    ----------
    path : path-like
    kind : str
        Of the result, a key of `WHAT_IS_OF`.
    """

    def __init__(self, path: str | Path, kind: str):
        self.path, self.kind = Path(path), kind
        self.summary, self.manifest, self._lock = (self.path / name for name in (SUMMARY, MANIFEST, LOCK))
        self._files: dict[str, str] = {}  # what is written by name
        self._lock_file: IO[bytes] | None = None  # while it is held

    @classmethod
    def begun(cls, path: str | Path, kind: str, scenario: str, overwrite: bool) -> Folder:
        """Return a folder of results after these were begun, with a copy of the text of the scenario."""
        folder = cls(path, kind)
        folder.refuse_taken(overwrite)
        folder.begin()
        folder.write("scenario.toml", scenario, "scenario")
        return folder

    # -- what is ours, and what the user's ------------------------------------------------------------------------

    @property
    def is_ours(self) -> bool:
        """Whether the folder holds a result of the kind, whole or begun."""
        manifest = manifest_of(self.path)
        return kind_of(self.path) == self.kind if manifest is None else manifest.kind == self.kind

    def _before(self) -> list[str]:
        """Return the names of the files that an earlier result has left."""
        if manifest_of(self.path):
            return list(self._known())
        files = _json_in(self.summary).get("files", [])
        plain = [name for name in files if _is_plain(name)] if isinstance(files, list) else []
        return [*plain, SUMMARY] if plain else []

    def refuse_taken(self, overwrite: bool = False, *, resumable: bool = False) -> None:
        """Refuse to begin where there is a result already that is not to be replaced, or anything else.

        Parameters
        ----------
        overwrite : bool, default False
            Whether a result of this kind that is there may be replaced.
        resumable : bool, default False
            Whether who asks could go on with it.
        """
        if not self.path.exists():
            return
        if not self.path.is_dir():
            raise OutputError(f"{self.path} is not a folder; choose another with --output.")
        there = sorted(entry.name for entry in self.path.iterdir() if entry.name not in _UNSEEN)
        if there and not self.is_ours:
            raise OutputError(
                f"{self.path} holds {' and '.join(there[:3])}, but no {self.kind} that symplex has written; choose "
                "another folder with --output."
            )
        if there and not overwrite:
            ways = "continue it with --resume, " * resumable + "replace it with --overwrite"
            raise OutputError(
                f"{self.path} already holds {WHAT_IS_OF[self.kind]}; {ways}, or choose another folder with --output."
            )

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise OutputError(f"{self.path} cannot be written: {reason_of(error)}.") from error

    def begin(self, files: Mapping[str, str] = MappingProxyType({})) -> None:
        """Make the folder, remove what an earlier result has left in it, and write the manifest.

        Parameters
        ----------
        files : mapping of str to str, optional
            What is to be written, by name; `file` adds to it.
        """
        with self._writing():
            self.path.mkdir(parents=True, exist_ok=True)
            self._clear()
            if self._lock_file is not None:  # it shows whose files these are until the manifest is there
                self._lock_file.seek(0)
                self._lock_file.write(MARK)
                self._lock_file.flush()
        self._files = {**files}
        self._declare()

    def adopt(self, files: Mapping[str, str]) -> None:
        """Write the manifest of a result that is continued, whose files are these as well."""
        self._files = self._known() | {**files}
        self._declare()

    def _clear(self) -> None:
        """Remove what an earlier result has left, and nothing else: its manifest stays until the next is written."""
        for name in self._before():
            (self.path / name).unlink(missing_ok=True)

    def _declare(self) -> None:
        """Write the manifest."""
        reported = {"format": _FORMAT, "kind": self.kind, "symplex": VERSION, "files": self._files}
        write_text(self.manifest, _json(reported))

    def file(self, name: str, what: str) -> Path:
        """Return the place of a file of the result, which becomes part of its manifest."""
        path = self.path / name
        if not self._files:
            self._files = self._known()
        if name not in self._files:
            if path.exists():
                raise OutputError(f"{path} is there already; move it away, or choose another folder with --output.")
            self._files[name] = what
            self._declare()
        return path

    def _known(self) -> dict[str, str]:
        """Return the files of the result in the folder, by its manifest."""
        manifest = manifest_of(self.path)
        return {} if manifest is None or manifest.kind != self.kind else {**manifest.files}

    # -- a process in the folder ----------------------------------------------------------------------------------

    @property
    def _is_begun(self) -> bool:
        """Whether something is in the folder that stays when nothing more comes in."""
        return self.manifest.exists()

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
                if not begun and not self._is_begun:
                    with suppress(OSError):  # on Windows a file that is open cannot be removed
                        self._lock.unlink()
                        if made:
                            self.path.rmdir()

    # -- files that all have --------------------------------------------------------------------------------------

    def write_table(self, name: str, columns: Sequence[Column], rows: Iterable[Mapping[str, Any]]) -> None:
        """Write ``NAME.csv``, and ``NAME.json`` with what its columns are, as histories have."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([column.name for column in columns])
        for row in rows:
            writer.writerow([_plain(row[column.name]) for column in columns])
        self.write(f"{name}.csv", text.getvalue(), "table")
        self.write_json(f"{name}.json", {"columns": [column.plain() for column in columns]}, "columns of the table")

    def write_json(self, name: str, value: Mapping[str, Any], what: str) -> None:
        """Write a file of JSON."""
        self.write(name, _json(value), what)

    def write(self, name: str, text: str, what: str) -> None:
        """Write a file of text."""
        write_text(self.file(name, what), text)

    def write_summary(self, summary: Mapping[str, Any]) -> dict[str, Any]:
        """Write ``summary.json``, and return what it holds."""
        self.write_json(SUMMARY, summary, "summary")
        return {**summary}

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


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else repr(value.item() if hasattr(value, "item") else value)


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _lock(file: IO[bytes]) -> None:
    """Take the lock on a file that one process at a time can have, or raise an OSError."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
