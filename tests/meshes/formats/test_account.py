"""What became of each line of a file: used, known to mean nothing, or unknown and listed."""

from pathlib import Path

import pytest

from symplex.errors import MeshError
from symplex.meshes.formats.account import Account

PATH, INNER = Path("part.k"), Path("inner.k")


def test_unknown_lines_are_listed_by_kind():
    account = Account(PATH)
    account.add_unknown("*SENSOR", PATH, 3, 5)
    account.add_unknown("*SENSOR", PATH, 9)
    account.add_unknown("*NODE, FOO", INNER, 1, why="the parameter is not supported")
    account.add_without_meaning(PATH, 6, 8)
    states = [account.became(PATH, line) for line in (2, 3, 5, 6, 8, 9)]
    assert states == ["used", "unknown", "unknown", "without meaning", "without meaning", "unknown"]
    assert account.listed() == [
        "line 3: *SENSOR: it is not supported (2 times)",
        "inner.k, line 1: *NODE, FOO: the parameter is not supported",
    ]
    with pytest.raises(MeshError, match=r"line 3: \*SENSOR: it is not supported \(2 times\); inner\.k, line 1"):
        account.require_known()


def test_what_is_known_is_not_refused():
    account = Account(PATH)
    account.add_without_meaning(PATH, 1)
    account.require_known()
    assert account.listed() == []


def test_included_files_are_not_quoted():
    account = Account(PATH)
    account.add_unknown("root:x:0:0", INNER, 1)
    assert account.listed() == ["inner.k, line 1: a line: it is not supported"]
