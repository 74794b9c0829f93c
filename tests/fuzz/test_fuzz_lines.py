"""Mesh files with one line deleted or changed: the mesh is another one, or is refused, or the account has the line.

What is left out of a mesh silently is a wrong answer. So each line of a text file is used, known to mean nothing, or
listed as unknown (`symplex.meshes.formats.account`), and these trials look for lines that are none of these.
"""

from __future__ import annotations

import random
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import isolated
import mesh_files
import pytest

from symplex.errors import MeshError
from symplex.meshes.formats.account import Account
from symplex.meshes.formats.read import read_accounted

HERE = Path(__file__).parent
# What comments begin with, which are known to mean nothing.
COMMENTS = {"abaqus": ("**",), "nastran": ("$",), "lsdyna": ("$",), "radioss": ("#", "$"), "tetgen": ("#",)}
# Texts whose numbers are not: one character more or less of base64 may be one of its ends.
BINARY = ("vtu of symplex", "vtu compressed")
REFUSED, CHANGED, LISTED, WITHOUT_MEANING, SILENT = "refused", "changed", "listed", "without meaning", "silent"


def with_another_letter(line: str) -> list[str]:
    """Return a line with another letter in the middle of its first word."""
    found = re.search(r"\w+", line)
    at = sum(found.span()) // 2 if found else len(line)
    return [line[:at] + "Q" + line[at + 1 :]]


DAMAGE: dict[str, Callable[[str], list[str]]] = {
    "a line deleted": lambda line: [],
    "a line replaced by a word": lambda line: ["junk"],
    "a letter changed": with_another_letter,
}


class Sample:
    """A mesh file that is damaged line by line.

    Parameters
    ----------
    what : str
        What wrote it.
    folder : Path
    name : str
        Of the file that is read.
    content : dict of str to bytes
        Of all files.
    """

    def __init__(self, what: str, folder: Path, name: str, content: dict[str, bytes]):
        self.what, self.path, self._content = what, folder / name, content
        for file, data in content.items():
            (folder / file).write_bytes(data)
        self._damaged = name
        self._account, self._seen = self._read()

    def places(self) -> Iterator[tuple[str, int]]:
        """Yield the files and the numbers of their lines that are not blank."""
        for file, data in self._content.items():
            yield from ((file, k) for k, line in enumerate(data.decode().split("\n")) if line.strip())

    def outcome(self, file: str, number: int, damage: Callable[[str], list[str]]) -> str:
        """Return what came of damaging a line."""
        path, lines = self.path.with_name(file), self._content[file].decode().split("\n")
        line = lines[number]
        if file != self._damaged:
            self.path.with_name(self._damaged).write_bytes(self._content[self._damaged])
        self._damaged = file
        path.write_text("\n".join([*lines[:number], *damage(line), *lines[number + 1 :]]))
        try:
            account, seen = self._read()
        except MeshError as error:
            judged = isolated.judged(error, self.path.name)
            return REFUSED if judged == isolated.REFUSED else judged
        if seen != self._seen:
            return CHANGED
        became = self._account.became(path, number + 1)
        if became == "unknown" or account.listed() != self._account.listed():
            return LISTED
        without = became == WITHOUT_MEANING
        comment = line.startswith(COMMENTS.get(self.what.split()[0], ("\0",)))
        return WITHOUT_MEANING if without or comment else f"{SILENT}: {self.what}: {number + 1}: {line[:60]!r}"

    def _read(self) -> tuple[Account, object]:
        account = Account(self.path)
        mesh = read_accounted(self.path, account, require_volume=False)
        groups = {name: {k: i.tolist() for k, i in of.items()} for name, of in mesh.cell_groups.items()}
        return account, (
            mesh.points.tolist(),
            {kind: cells.tolist() for kind, cells in mesh.cells.items()},
            groups,
            {name: index.tolist() for name, index in mesh.point_groups.items()},
            dict(mesh.formulations),
        )


def samples(folder: Path, *, all_formats: bool) -> Iterator[Sample]:
    """Yield a sample of each text format, of all or of those that are not read by meshio."""
    made = mesh_files.files() if all_formats else mesh_files.texts()
    for k, (what, name, content) in enumerate(made):
        if what in BINARY or any(b"\0" in data or not data.isascii() for data in content.values()):
            continue
        (folder / str(k)).mkdir()
        yield Sample(what, folder / str(k), name, content)


def trials(seed: int, count: int) -> Iterator[tuple[str, str]]:
    """Yield what was done to a line of a mesh file, and what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        of_all = [(one, *place) for one in samples(Path(folder), all_formats=True) for place in one.places()]
        rng = random.Random(seed)
        for sample, file, number in rng.sample(of_all, min(count, len(of_all))):
            how = rng.choice([*DAMAGE])
            outcome = sample.outcome(file, number, DAMAGE[how])
            ran = outcome in (CHANGED, LISTED, WITHOUT_MEANING)
            yield f"{sample.what}: {how}", isolated.RAN if ran else isolated.REFUSED if outcome == REFUSED else outcome


def damaged(sample: Sample) -> Iterator[tuple[str, int, Callable[[str], list[str]]]]:
    """Yield each damage to each line."""
    yield from ((*place, damage) for place in sample.places() for damage in DAMAGE.values())


# -- tests ----------------------------------------------------------------------------------------------------------


def test_no_line_is_left_out_silently(tmp_path):
    """Some lines of each text format that is not read by meshio; the slow test takes all."""
    rng, counts = random.Random(1), Counter()
    for sample in samples(tmp_path, all_formats=False):
        counts += Counter(sample.outcome(*one) for one in rng.sample([*damaged(sample)], 15))
    assert set(counts) == {REFUSED, CHANGED, LISTED, WITHOUT_MEANING}


def test_lines_that_are_left_out_silently_are_found(tmp_path, monkeypatch):
    """Trials that never found one would be of no use."""
    monkeypatch.setattr(Account, "add_unknown", lambda *_: None)
    (sample,) = (one for one in samples(tmp_path, all_formats=False) if one.what == "lsdyna")
    assert any(sample.outcome(*one).startswith(SILENT) for one in damaged(sample))


@pytest.mark.slow
def test_no_line_of_any_format_is_left_out_silently(tmp_path):
    total: Counter[str] = Counter()
    for sample in samples(tmp_path, all_formats=True):
        counts = Counter(sample.outcome(*one) for one in damaged(sample))
        print(sample.what, dict(counts))
        total += counts
    print(total)
    assert set(total) == {REFUSED, CHANGED, LISTED, WITHOUT_MEANING}
