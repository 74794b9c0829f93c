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


@pytest.fixture(scope="module")
def position_verlet(tmp_path_factory):
    """The integrator of the page, as a module of its own."""
    text = PAGE.read_text("utf-8").partition("## An integrator")[2]
    source = re.search(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE).group(1)
    assert source.count("\n") <= 60
    path = tmp_path_factory.mktemp("extending") / "position_verlet.py"
    path.write_text(source, "utf-8")
    spec = importlib.util.spec_from_file_location("position_verlet", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["position_verlet"] = module
    spec.loader.exec_module(module)
    yield module.PositionVerlet
    del sys.modules["position_verlet"]


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
