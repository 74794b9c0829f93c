"""The examples of docs/extending.md keep what they declare, and are as short as it says."""

import importlib.util
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from contracts import test_integrator_contract as contract

from symplex.errors import UnstableStep

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
CHECKS = (
    contract.test_declared_order_on_a_nonlinear_problem,
    contract.test_conserves_what_it_says_and_nothing_else,
    contract.test_symmetric_methods_and_no_others_come_back_with_reversed_velocities,
    contract.test_jacobian_is_symplectic,
    contract.test_a_resumed_motion_is_bit_identical,
    contract.test_supports_move_as_given_or_are_refused,
    contract.test_an_impossible_size_is_refused,
)


def _written(module: str, folder: Path, heading: str, most_lines: int):
    """Yield the module in the first block of code below a heading of the page."""
    text = PAGE.read_text("utf-8").partition(heading)[2]
    source = re.search(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE).group(1)
    assert source.count("\n") <= most_lines
    path = folder / f"{module}.py"
    path.write_text(source, "utf-8")
    spec = importlib.util.spec_from_file_location(module, path)
    made = importlib.util.module_from_spec(spec)
    sys.modules[module] = made
    spec.loader.exec_module(made)
    yield made
    del sys.modules[module]


@pytest.fixture(scope="module")
def position_verlet(tmp_path_factory):
    """The explicit integrator of the page."""
    for module in _written("position_verlet", tmp_path_factory.mktemp("extending"), "## An integrator", 60):
        yield module.PositionVerlet


@pytest.fixture(scope="module")
def backward_euler(tmp_path_factory):
    """The implicit integrator of the page."""
    for module in _written("backward_euler", tmp_path_factory.mktemp("extending"), "### An implicit method", 25):
        yield module.BackwardEuler


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("test_"))
def test_the_integrator_keeps_what_it_declares(check, position_verlet):
    verlet = replace(
        contract.CASES["Newmark"],
        make=lambda dt, seed: position_verlet(dt),
        impossible=lambda: position_verlet(1.0),
        refusal=UnstableStep,
        looks=8,
    )
    check(verlet)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("test_"))
def test_the_implicit_method_is_what_it_declares(check, backward_euler):
    check(contract.implicit(backward_euler, sizes=(0.0005, 0.00025, 0.000125)))
