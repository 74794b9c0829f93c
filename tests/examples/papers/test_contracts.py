"""The methods of examples/papers keep the contract of integrators."""

from dataclasses import replace
from functools import partial

import pytest
from contracts import test_integrator_contract as contract

from papers.linearly_implicit import LinearlyImplicitNewmark
from papers.variational_euler import VariationalEuler
from reference.promises import try_all
from symplex.errors import UnstableStep
from symplex.testing.integrators import CHECKS, Case


def linearly_implicit(**options):
    """A case of Newmark's method with one iteration a step."""
    return contract.implicit(lambda dt: LinearlyImplicitNewmark(dt, **options), sizes=(0.02, 0.01, 0.005))


CASES = {
    "VariationalEuler": Case(
        make=lambda dt, seed: VariationalEuler(dt),
        sizes=(0.004, 0.002, 0.001),
        size=0.05,
        impossible=lambda: VariationalEuler(1.0),
        refusal=UnstableStep,
        looks=8,
    ),
    "LinearlyImplicitNewmark": linearly_implicit(),
    "LinearlyImplicitNewmark, evaluated": linearly_implicit(beta=0.4, accelerations="evaluated"),
    "LinearlyImplicitNewmark, predicted": linearly_implicit(guess="predicted"),
    "LinearlyImplicitNewmark, beta = 0.1": replace(
        linearly_implicit(beta=0.1, guess="predicted", accelerations="evaluated"),
        impossible=lambda: LinearlyImplicitNewmark(2.0, beta=0.1),
        refusal=UnstableStep,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_they_keep_what_they_declare(name):
    try_all((check, partial(CHECKS[check], CASES[name])) for check in CHECKS)
