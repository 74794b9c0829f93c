"""The verification manual: its pages are what its records say, and what they say is found again."""

from __future__ import annotations

import importlib
import json

import pytest

# Of each kind what is quick: statics, laws, modes, transient response, impact, rotation, conservation.
QUICK = [
    "three-bars",
    "von-mises-truss",
    "confined-compression",
    "blatz-ko",
    "string-of-beads",
    "four-masses",
    "whirl",
    "nafems-fv52",
    "period-error",
    "bar-on-wall",
    "contact-patch",
    "free-body",
    "ring",
    "shell-patch",
    "plate-end-shear",
]


@pytest.fixture
def manual(monkeypatch, pytestconfig):
    """The package of the manual, which lies next to the benchmarks, with its folder of pages."""
    monkeypatch.syspath_prepend(pytestconfig.rootpath / "benchmarks")
    importlib.import_module("verification_manual.problems")
    pages = importlib.import_module("verification_manual.pages")
    problem = importlib.import_module("verification_manual.problem")
    folder = pytestconfig.rootpath / "docs" / "verification"
    return pages, problem.PROBLEMS, folder, json.loads((folder / "records.json").read_text("utf-8"))


@pytest.mark.slow
def test_pages_are_written_from_the_records(manual):
    pages, problems, folder, records = manual
    assert list(records) == list(problems)
    found = {file.name: file.read_text("utf-8") for file in folder.glob("*.md")}
    assert found == pages.written(records)


@pytest.mark.slow
def test_records_are_within_what_is_accepted(manual):
    pages, problems, _, records = manual
    wrong = [
        (name, row.by, row.what, row.deviation)
        for name, record in records.items()
        for row in pages.rows_of(record)
        if not abs(row.deviation) <= problems[name].limit(row)
    ]
    assert not wrong


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_what_is_recorded_is_found_again(manual, name):
    pages, problems, _, records = manual
    one = problems[name]
    now, then = one.rows(), pages.rows_of(records[name])
    assert [(row.by, row.what) for row in now] == [(row.by, row.what) for row in then]
    for row, old in zip(now, then, strict=True):
        limit = min(one.limit(row), 1.0)
        assert row.target == pytest.approx(old.target, rel=1e-9, abs=1e-12)
        assert abs(row.deviation) <= one.limit(row)
        assert row.deviation == pytest.approx(old.deviation, abs=max(0.1 * limit, 1e-9))
