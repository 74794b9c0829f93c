"""Decks with one line deleted or changed: what is imported is another thing, or refused, or the account has the line.

A line of a deck that is left out silently is a wrong answer, as one of a mesh is (`test_fuzz_lines.py`).
"""

from __future__ import annotations

import random
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import deck_files
import isolated
import pytest

from symplex.decks import import_deck
from symplex.meshes.formats.account import Account

HERE = Path(__file__).parent
REFUSED, CHANGED, LISTED, WITHOUT_MEANING, SILENT = "refused", "changed", "listed", "without meaning", "silent"
_LINE = re.compile(r"\(line \d+\)")
_NUMBER = re.compile(r"(?<![\w.])[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?(?![\w.])")


def with_another_letter(line: str) -> list[str]:
    """Return a line with another letter in the middle of its first word."""
    found = re.search(r"\w+", line)
    at = sum(found.span()) // 2 if found else len(line)
    return [line[:at] + "Q" + line[at + 1 :]]


def with_another_number(line: str) -> list[str]:
    """Return a line of data with another last number."""
    found = [] if line.startswith("*") else [*_NUMBER.finditer(line)]
    if not found:
        return [line]
    number = found[-1]
    other = str(int(number[0]) - 1) if number[0].isdecimal() else repr(0.75 * float(number[0]) + 1e-3)
    return [line[: number.start()] + other + line[number.end() :]]


def with_another_field(line: str) -> list[str]:
    """Return a line with three numbers more: behind constants there may be a temperature, behind steps their bounds."""
    return [line + (" 13, 13, 13" if line.endswith(",") else ", 13, 13, 13")]


DAMAGE: dict[str, Callable[[str], list[str]]] = {
    "a line deleted": lambda line: [],
    "a line replaced by a word": lambda line: ["junk"],
    "a letter changed": with_another_letter,
    "a number changed": with_another_number,
    "numbers more": with_another_field,
}


class Sample:
    """A deck that is damaged line by line.

    Parameters
    ----------
    what : str
        Which of the decks.
    folder : Path
    """

    def __init__(self, what: str, folder: Path):
        self.what, self._folder = what, folder
        self._path = folder / f"{what}.inp"
        self.lines = deck_files.DECKS[what].split("\n")
        self._account, self._seen, self.missed = self._imported(self.lines)

    def tries(self) -> Iterator[tuple[int, str]]:
        """Yield the places of lines that are not blank, with the damages that make other lines of them."""
        for k, line in enumerate(self.lines):
            yield from ((k, how) for how, damage in DAMAGE.items() if line.strip() and damage(line) != [line])

    def outcome(self, number: int, how: str) -> str:
        """Return what came of damaging a line."""
        line, damage = self.lines[number], DAMAGE[how]
        try:
            account, seen, _ = self._imported([*self.lines[:number], *damage(line), *self.lines[number + 1 :]])
        except Exception as error:  # anything but a sentence is a defect
            judged = isolated.judged(error, self._path.name)
            return REFUSED if judged == isolated.REFUSED else f"{judged}: {error}"
        if seen != self._seen:
            return CHANGED
        if damage is with_another_field and self._keyword(number) in ("*NODE", "*ELEMENT"):
            return WITHOUT_MEANING  # normals of shells, and what CalculiX leaves out behind the last node
        if account.listed() != self._account.listed():
            return LISTED
        known = self._account.became(self._path, number + 1) == WITHOUT_MEANING
        return WITHOUT_MEANING if known else f"{SILENT}: {self.what}: {number + 1}: {how}: {line[:60]!r}"

    def _keyword(self, number: int) -> str:
        """Return the keyword above a line."""
        above = (line for line in reversed(self.lines[:number]) if line.startswith("*"))
        return next(above, "").partition(",")[0]

    def _imported(self, lines: list[str]) -> tuple[Account, object, list[str]]:
        """Return the account of a deck, its mesh and scenarios without their comments, and what was missed."""
        self._path.write_text("\n".join(lines))
        imported = import_deck(self._path, self._folder / "out", overwrite=True)
        written = {number: _LINE.sub("", path.read_text()) for number, path in imported.scenarios.items()}
        return imported.account, (imported.mesh.read_text(), written), [str(one) for one in imported.missed]


def trials(seed: int, count: int) -> Iterator[tuple[str, str]]:
    """Yield what was done to a line of a deck, and what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        samples = [Sample(what, Path(folder)) for what in deck_files.DECKS]
        of_all = [(sample, *one) for sample in samples for one in sample.tries()]
        rng = random.Random(seed)
        for sample, number, how in rng.sample(of_all, min(count, len(of_all))):
            outcome = sample.outcome(number, how)
            ran = outcome in (CHANGED, LISTED, WITHOUT_MEANING)
            yield f"{sample.what}: {how}", isolated.RAN if ran else isolated.REFUSED if outcome == REFUSED else outcome


# -- tests ----------------------------------------------------------------------------------------------------------


def test_no_line_of_a_deck_is_left_out_silently(tmp_path):
    sample, rng = Sample("flat", tmp_path), random.Random(1)
    assert not sample.missed
    found = Counter(sample.outcome(*one) for one in rng.sample([*sample.tries()], 25))
    assert set(found) <= {REFUSED, CHANGED, LISTED, WITHOUT_MEANING}


@pytest.mark.slow
@pytest.mark.parametrize("what", deck_files.DECKS)
def test_no_line_of_any_deck_is_left_out_silently(tmp_path, what):
    sample = Sample(what, tmp_path)
    assert not sample.missed
    found = Counter(sample.outcome(*one) for one in sample.tries())
    print(what, dict(found))
    assert set(found) <= {REFUSED, CHANGED, LISTED, WITHOUT_MEANING}
