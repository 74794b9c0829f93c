"""How functions of the package are compiled: formulas into kernels only, and nobody else's functions otherwise."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys

import numba
import numpy as np
import pytest
from numba.core import codegen, compiler_machinery
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompilerBase, Flags

from symplex.fem.compiled.call import address_of
from symplex.fem.compiled.compiler import compilers
from symplex.fem.compiled.kernels import addressed_formula, formula, inlined, kernel
from symplex.fem.compiled.own_compiler import FormulaCompiler, KernelCompiler, _FormulaLibrary, _Options


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
def _reported(x):
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
    return _reported(x)


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


def test_a_formula_may_print(capfd):
    assert _twice(1.5) == 3.0
    assert capfd.readouterr().out == "it is 1.5\n"


def test_a_formula_may_allocate_and_refuse():
    assert _sum(2.0) == 6.0
    with pytest.raises(ValueError, match="negative"):
        _sum(-1.0)


def _options(nrt: bool) -> _Options:
    options = _Options()
    setattr(options, "nrt", nrt)  # noqa: B010 - made a property by the class of the class
    return options


def test_options_are_the_same_if_the_same_are_set():
    one, same, other = (_options(nrt) for nrt in (True, True, False))
    assert one == same == one.copy()
    assert hash(one) == hash(same)
    assert one != other
    assert one != Flags()
    assert one.values() == {**Flags().values(), "nrt": True}


@pytest.mark.parametrize("function", [_length, _norm])
def test_a_pickle_holds_the_name_of_a_function(function):
    """Another process has it with its compiler and its cache, then."""
    pickled = pickle.dumps(function)
    assert len(pickled) < 200
    assert pickle.loads(pickled) is copy.deepcopy(function) is function


def test_a_function_without_a_name_is_pickled_whole():
    function = kernel(lambda x: x + 1.0)
    assert pickle.loads(pickle.dumps(function))(1.0) == 2.0


def test_functions_of_others_are_compiled_as_ever():
    function = numba.njit(lambda x: x + 1.0)
    assert function(1.0) == 2.0
    compiled = next(iter(function.overloads.values()))
    assert type(compiled.library) is JITCodeLibrary
    assert compiled.type_annotation is not None


# -- another numba ----------------------------------------------------------------------------------------------------


def test_the_compilers_are_own_ones_with_this_numba():
    assert compilers() == (KernelCompiler, FormulaCompiler)


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (codegen.CPUCodeLibrary, "_optimize_final_module"),
        (codegen.JITCPUCodegen, "set_env"),
        (codegen.JitEngine, "get_global_value_address"),
        (compiler_machinery.PassManager, "finalize"),
    ],
    ids=lambda given: given if isinstance(given, str) else given.__name__,
)
def test_without_what_they_need_of_it_numba_compiles_by_its_own(monkeypatch, owner, name):
    monkeypatch.delattr(owner, name)
    assert compilers() == (Compiler, Compiler)


def test_with_other_arguments_of_compilers_numba_compiles_by_its_own(monkeypatch):
    monkeypatch.setattr(CompilerBase, "__init__", lambda self, state: None)
    assert compilers() == (Compiler, Compiler)


WITHOUT = """
import numpy as np
from numba import types
from numba.core import untyped_passes
from numba.core.compiler import Compiler
del untyped_passes.WithLifting  # which they import
from symplex.fem.compiled.call import address_of, call_kernel
from symplex.fem.compiled.kernels import addressed_formula, c_function, formula, kernel

@formula
def square(x):
    return x * x

@addressed_formula
def norm(x):
    return np.sqrt(square(x[0]) + square(x[1]))

@kernel
def called(address, x):
    return call_kernel(address, (x,))

@c_function("value")
def value(p, x):
    return square(x[0])

assert square._compiler.pipeline_class is called._compiler.pipeline_class is Compiler
print(called(address_of(norm, types.float64[::1]), np.array([3.0, 4.0])), square(3.0), bool(value.address))
"""


def test_all_kinds_of_functions_are_compiled_by_numba_itself(tmp_path):
    script = tmp_path / "without.py"
    script.write_text(WITHOUT)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("5.0 9.0 True\n", "")
