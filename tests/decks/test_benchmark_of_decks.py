"""The benchmark that walks through a folder of decks."""

import importlib.util
import json
import os
import sys
from pathlib import Path

import pytest

BAR = """*NODE, NSET=ALL
1, 0., 0., 0.
2, 1., 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
*MATERIAL, NAME=STEEL
*ELASTIC
2e11, 0.3
*DENSITY
7850.
*SOLID SECTION, ELSET=BAR, MATERIAL=STEEL
1e-4
*BOUNDARY
1, 1, 3
2, 2, 3
*STEP
*STATIC
*CLOAD
2, 1, 1000.
*END STEP
"""


@pytest.fixture
def decks(pytestconfig, monkeypatch, tmp_path):
    """The script as a module that processes can import, with a folder of a bar, and of a mesh without steps."""
    monkeypatch.syspath_prepend(pytestconfig.rootpath / "benchmarks")
    spec = importlib.util.spec_from_file_location("decks", pytestconfig.rootpath / "benchmarks" / "decks.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "decks", module)
    spec.loader.exec_module(module)
    (tmp_path / "users").mkdir()
    (tmp_path / "users" / "bar.inp").write_text(BAR)
    (tmp_path / "users" / "mesh.inp").write_text(BAR.partition("*STEP")[0])
    return module


def records(decks, monkeypatch, folder: Path, *options: str):
    """What the script has put down last of each deck."""
    monkeypatch.setattr(sys, "argv", ["decks.py", str(folder / "users"), str(folder / "out"), *options])
    decks.main()
    lines = [json.loads(line) for line in (folder / "out" / "decks.jsonl").read_text().splitlines()]
    return {line["deck"]: line for line in lines}, len(lines)


def test_decks_that_are_only_opened_are_compared_later(decks, monkeypatch, tmp_path, capsys):
    found, lines = records(decks, monkeypatch, tmp_path, "--opens")
    assert found["bar.inp"]["opened"] == [1]
    assert found["bar.inp"]["rows"] == []
    assert found["bar.inp"]["ccx"] == found["bar.inp"]["reason"] == found["bar.inp"]["crashed"] == ""
    assert found["mesh.inp"]["kind"] == "no step, or no nodes"
    said = capsys.readouterr().out
    assert "1 open every step" in said
    assert "0 compared with CalculiX" in said
    assert records(decks, monkeypatch, tmp_path, "--opens")[1] == lines, "what is there is not opened again"
    found, more = records(decks, monkeypatch, tmp_path)
    assert more == lines + 1
    assert [row[:2] for row in found["bar.inp"]["rows"]] == [[1, "u"]]
    assert records(decks, monkeypatch, tmp_path, "--opens")[1] == more, "what is compared is known to open"


def test_a_process_that_dies_is_reported(decks, monkeypatch, tmp_path):
    monkeypatch.setattr(decks, "_worker", os.getpid)  # which takes no arguments
    [record] = decks.walk([(tmp_path / "users" / "bar.inp", decks.Record("bar.inp", "0"))], 60.0)
    assert record.crashed == "the process ended"
