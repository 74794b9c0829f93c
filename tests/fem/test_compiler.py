"""How functions of the package are compiled: formulas into kernels only, and nobody else's functions otherwise."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Flags

from symplex.fem.call import address_of
from symplex.fem.compiler import _FormulaLibrary, _Options
from symplex.fem.kernels import addressed_formula, formula, inlined, kernel


@inlined
def _square(x):
    return x * x


@formula
def _norm(x):
    total = 0.0
    for i in range(len(x)):
        total += _square(x[i])
    return np.sqrt(total)


@addressed_formula
def _triple(x):
    return 3.0 * x


@formula
def _told(x):
    print("it is", x)
    return 2.0 * x


@formula
def _checked(x):
    if x < 0.0:
        raise ValueError("negative")
    return np.full(3, x)


@kernel
def _length(x):
    return _norm(x) * _triple(1.0)


@kernel
def _twice(x):
    return _told(x)


@kernel
def _sum(x):
    return _checked(x).sum()


VECTOR, NUMBER = numba.types.float64[::1], numba.types.float64


def library_of(function, *arguments) -> object:
    """Return the library of a function for arguments of given types."""
    function.compile(arguments)
    return function.overloads[arguments].library


def test_a_kernel_takes_in_the_formulas_that_it_calls():
    assert _length(np.array([3.0, 4.0])) == 15.0
    assert type(library_of(_length, VECTOR)) is JITCodeLibrary
    assert type(library_of(_norm, VECTOR)) is type(library_of(_square, NUMBER)) is _FormulaLibrary


def test_a_formula_called_from_python_is_compiled_as_a_whole():
    assert _norm(np.array([3.0, 4.0])) == 5.0


def test_only_an_addressed_formula_has_an_address():
    assert address_of(_triple, NUMBER)
    with pytest.raises(AssertionError, match="has no address"):
        address_of(_square, NUMBER)


def test_a_formula_may_print_a_text(capfd):
    assert _twice(1.5) == 3.0
    assert capfd.readouterr().out == "it is 1.5\n"


def test_a_formula_may_allocate_and_refuse():
    assert _sum(2.0) == 6.0
    with pytest.raises(ValueError, match="negative"):
        _sum(-1.0)


def test_options_are_the_same_if_the_same_are_set():
    one, same, other = _Options(), _Options(), _Options()
    one.nrt = same.nrt = True
    other.nrt = False
    assert one == same == one.copy()
    assert hash(one) == hash(same)
    assert one != other
    assert one != Flags()
    assert one.values() == {**Flags().values(), "nrt": True}


def test_functions_of_others_are_compiled_as_ever():
    function = numba.njit(lambda x: x + 1.0)
    assert function(1.0) == 2.0
    compiled = next(iter(function.overloads.values()))
    assert type(compiled.library) is JITCodeLibrary
    assert compiled.type_annotation is not None
