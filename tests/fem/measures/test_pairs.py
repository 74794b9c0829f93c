"""Which integrator runs on which system: what the documents say is what comes out."""

import importlib.util
import re

import pytest

import symplex
from symplex.time.integrator import Integrator


@pytest.fixture(scope="module")
def pairs(pytestconfig):
    """The module that tries every pair."""
    spec = importlib.util.spec_from_file_location("pairs", pytestconfig.rootpath / "benchmarks" / "pairs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def page(pytestconfig):
    """The page with the table."""
    return (pytestconfig.rootpath / "docs" / "pairs.md").read_text("utf-8")


@pytest.mark.slow
def test_the_page_tells_what_comes_out(pairs, page):
    assert pairs.page(pairs.outcomes()) == page


@pytest.mark.parametrize("system", ["springs", "user-defined energy", "moving supports"])
def test_a_part_of_it(pairs, page, system):
    made = pairs.SYSTEMS[system]()
    rows = [
        [cell.split("; ") for cell in row[2:-2].split(" | ")] for row in re.findall(r"^\| \w.* \|$", page, re.MULTILINE)
    ]
    for name, make in pairs.INTEGRATORS.items():
        _, refused, external = next(row for row in rows if name in row[0])
        said = pairs.REFUSED if system in refused else pairs.EXTERNAL if system in external else pairs.RUNS
        assert pairs.tried(make, *made)[0] == said, name


def test_every_integrator_is_tried(pairs):
    """But for the reduction to one distance, which is for two bodies, and what scenarios make stages of."""

    def all_of(kind):
        return {kind, *(inner for sub in kind.__subclasses__() for inner in all_of(sub))}

    # Modules are imported when their names are first used.
    families = [getattr(symplex, name) for name in symplex._FAMILIES if name != "errors"]
    public = [getattr(family, name) for family in families for name in family.__all__]
    assert symplex.reductions.PolarReduction in public
    made = pairs.SYSTEMS["springs"]()
    tried = {type(make(*made)) for make in pairs.INTEGRATORS.values()}
    ours = {
        kind
        for kind in all_of(Integrator)
        if kind.__module__.startswith("symplex.time.") and not kind.__abstractmethods__
    }
    assert {kind.__name__ for kind in ours - tried} == {"PolarReduction", "Static", "Stages"}


def test_the_page_of_integrators_says_the_same(pytestconfig, page):
    numbers = re.search(r"(\d+) of (\d+) pairs run", page)
    table = " ".join((pytestconfig.rootpath / "docs/integrators.md").read_text("utf-8").split())
    assert f"{numbers[1]} of {numbers[2]} pairs" in table
