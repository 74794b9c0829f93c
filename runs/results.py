"""The results folder of a run: which file is what, and what is a run's and what the user's."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from symplex.base.checkpoint import files_of_parts
from symplex.base.files import aside_of, damage_reported, is_file, read_whole, write_text
from symplex.errors import OutputError
from symplex.meshes.series.piece_index import piece_files
from symplex.meshes.series.pvd import sibling_files
from symplex.meshes.series.redo import log_of
from symplex.runs.folders import MARK, MEMBERS, WHAT_IS_OF, Folder, kind_of, manifest_of
from symplex.runs.history import declaration_of
from symplex.runs.probe_files import PROBE, path_of_probe, probe_formats, probe_of


class RunFolder(Folder):
    """A results folder and the names of the files in it.

    Parameters
    ----------
    path : path-like
    series_format : {"vtkhdf", "pvd"}
    probes : mapping of str to {"csv", "hdf5"}, optional
        The formats of probes by name.
    others : sequence of str, optional
        The names of files of reporters of the user's own.
    """

    def __init__(
        self,
        path: str | Path,
        series_format: str = "vtkhdf",
        probes: Mapping[str, str] = MappingProxyType({}),
        others: Sequence[str] = (),
    ):
        super().__init__(path, "run")
        self._given_probes, self._others = probes, others
        self.series = self.path / f"motion.{series_format}"
        self.scenario = self.path / "scenario.toml"
        self.history = self.path / "history.csv"
        self.checkpoint = self.path / "checkpoint.npz"
        self.start = self.path / "start.npz"
        self.conservation = self.path / "conservation.json"
        self.plot = self.path / "history.png"
        self.probe_plot = self.path / "probes.png"
        self.snapshots = self.path / "snapshots.png"
        self.snapshot = self.path / "snapshot.png"
        self.conservation_plot = self.path / "conservation.png"

    def __reduce__(self) -> tuple[type[RunFolder], tuple[Any, ...]]:
        """Go to another process by name: who holds the folder stays here."""
        return RunFolder, (self.path, self.series.suffix[1:], dict(self._given_probes), self._others)

    @classmethod
    def of_run(cls, path: str | Path) -> RunFolder:
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
        """Refuse to begin a new run where there is one already, or where its files would take the place of others."""
        if self.is_ours:
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
        requested_kinds = dict.fromkeys(self.files(), stat.S_ISREG)
        if self.series.suffix == ".pvd":
            requested_kinds[self.series.with_suffix("")] = stat.S_ISDIR
        for path, requested in requested_kinds.items():
            try:
                mode = path.lstat().st_mode
            except OSError:  # it is not there; what else there may be, writing will tell
                continue
            if not requested(mode):
                kind = "link" if stat.S_ISLNK(mode) else "folder" if stat.S_ISDIR(mode) else "file of another kind"
                raise OutputError(f"{path} is a {kind}, to which a run does not write; remove it or move it away.")

    def files(self) -> list[Path]:
        """Return all files that a run writes in the folder, whatever its format; a kill may leave any of them."""
        whole = [self.path / name for name in dict.fromkeys([*self._named(), *self._before()])]
        indices = [self.path / name for name in ("motion.pvd", "motion.vtkhdf")]
        asides = [aside_of(path) for path in (*whole, *indices)]
        logs = [
            log_of(path) for path in (indices[1], aside_of(indices[1]), *whole) if path.suffix in (".h5", ".vtkhdf")
        ]
        next_to = [*sibling_files(indices[0]), *piece_files(indices[1]), *files_of_parts(self.checkpoint)]
        return list(dict.fromkeys([*whole, *indices, *asides, *logs, *next_to]))

    def _named(self) -> dict[str, str]:
        """Return what the run's files in the folder are, by name."""
        own = {
            self.scenario: "scenario as it was run",
            self.history: "history",
            declaration_of(self.history): "columns of the history",
            self.series: "frames",
            self.checkpoint: "checkpoint",
            self.start: "state that [start] has led to",
            self.summary: "summary",
            self.conservation: "conservation report",
            self.plot: "picture",
            self.probe_plot: "picture",
            self.snapshots: "picture",
            self.snapshot: "picture",
            self.conservation_plot: "picture",
            self.film("mp4"): "film",
            self.film("gif"): "film",
            self.manifest: "manifest",
        }
        for name, kind in self._given_probes.items():
            path = path_of_probe(self.path, name, kind)
            own[path] = PROBE
            if kind == "csv":
                own[declaration_of(path)] = "columns of a probe"
        named = {path.name: what for path, what in own.items()}
        if taken := sorted({*named} & {*self._others}):
            raise OutputError(f"reporters must write files that the run does not, got {taken[0]}. Choose another name.")
        return named | {name: PROBE if probe_of(name) else "of a reporter" for name in self._others}

    def _before(self) -> list[str]:
        if manifest_of(self.path):
            return super()._before()
        try:
            before = probe_formats(self.scenario.read_text("utf-8")) if is_file(self.scenario) else {}
        except (OSError, UnicodeDecodeError):
            before = {}
        files = [path_of_probe(self.path, name, kind) for name, kind in before.items()]
        return [path.name for path in (*files, *(declaration_of(one) for one in files if one.suffix == ".csv"))]

    @property
    def is_ours(self) -> bool:
        """Whether what has the names of a run's files is of a run.

        Without a manifest the mark in the lock, a summary or a checkpoint shows it.
        """
        if manifest := manifest_of(self.path):
            return manifest.kind == self.kind
        try:
            if is_file(self._lock) and self._lock.read_bytes() == MARK:
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

    @property
    def _is_begun(self) -> bool:
        return self.holds_run

    def create(self, scenario_text: str, overwrite: bool = False) -> None:
        """Begin a new run in the folder, which is held, with a copy of its scenario.

        Parameters
        ----------
        scenario_text : str
        overwrite : bool, default False
            Whether to remove a run that is there.
        """
        self.refuse_taken(overwrite)
        self.begin(self._named())
        write_text(self.scenario, scenario_text)

    def keep_scenario(self, scenario_text: str) -> None:
        """Write the copy of the scenario again, if it is another, and what the files are that come with it."""
        with damage_reported(self.scenario, "scenario", "put it back as the run wrote it"):
            kept = read_whole(self.scenario)
        if kept != scenario_text.encode("utf-8", "backslashreplace"):
            write_text(self.scenario, scenario_text)
        self.adopt(self._named())

    def _clear(self) -> None:
        """Remove what an earlier run has left, and nothing else, not yet its scenario and manifest."""
        for path in self.files():
            if path not in (self.scenario, self.manifest):
                path.unlink(missing_ok=True)
        with suppress(OSError):  # it is not there, or holds something else
            self.series.with_name("motion").rmdir()

    def remove(self) -> None:
        """Remove a run that is in the folder, and the folder if nothing else is in it."""
        if not self.is_ours:
            return
        self.refuse_links()
        with self.held():
            self._clear()
            for path in (self.scenario, self.manifest):
                path.unlink(missing_ok=True)
            is_ours = self._lock.read_bytes() in (MARK, b"")
        if is_ours:
            self._lock.unlink(missing_ok=True)
        with suppress(OSError):  # it holds something else
            self.path.rmdir()
