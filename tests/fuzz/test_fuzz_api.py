"""Misuse of the public Python interface, argument by argument: refused in one sentence, or of a clear meaning."""

from __future__ import annotations

import contextlib
import os
import random
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import api_calls
import isolated
import numpy as np
import pytest

HERE = Path(__file__).parent
SECONDS = 60.0  # of processor time for one trial, compilation included


# What is not called: abstract classes, plain records that functions give, and what draws.
NOT_CALLED = {
    "Comparison",
    "Convergence",
    "Sweep",
    *("BodyPotential", "Constraint", "DifferentiableLoad", "Energy", "Integrator", "ManifoldMethod", "Material"),
    *("FormulaMaterial", "Motion", "PairLaw", "SpherePotential", "SupportMotion", "SymplexError", "Scenario"),
    *("BodyState", "ContactLaw", "Recorder", "RelativeEquilibrium", "RelativePath", "RelaxedState", "SphereState"),
    *("EquilibriumPath", "StaticEquilibrium"),
    *("Trajectory", "render_film", "render_snapshots", "Contacts", "IncrementLoad", "Inelastic"),
    *(
        "LengthLaw",
        "RateIndependent",
        "Imported",
        "Modes",
        "ComplexModes",
        "CyclicModes",
        "FrequencyResponse",
        "Buckling",
    ),
    *("SavedStudy", "Study"),
    *("torch_function", "jax_function"),  # whose packages may be missing
    *("RunTangent", "RunGradient", "EquilibriumTangent", "FrequencyTangent", "ResponseTangent"),
    *("FitFound", "Sensitivity"),
    *("Cut", "ScaledMass", "ShockSpectrum", "RandomResponse", "SpectrumResponse", "ReducedBody", "FlexibleBody"),
    *("SpectrumFound", "ShockFound"),
    *("Observation", "Probe", "write_page", "Beams", "Shells", "JointReaction", "Reporter", "Sample"),
    "Ranks",  # of processes that mpiexec starts
}

# -- what arguments are replaced by -------------------------------------------------------------------------------

ANY: dict[str, Any] = {
    "a truth value": True,
    "False": False,
    "a complex number": 1.0 + 1.0j,
    "a complex number of numpy": np.complex128(1.0),
    "a text": "text",
    "an empty text": "",
    "a long text": "x" * 5000,
    "a text with a null character": "a\0b",
    "bytes": b"bytes",
    "None": None,
    "NaN": np.nan,
    "infinity": np.inf,
    "minus infinity": -np.inf,
    "zero": 0,
    "a negative number": -1.0,
    "a negative integer": -3,
    "a fraction": 0.7,
    "a huge integer": 10**400,
    "a large integer": 10**18,
    "a huge number": 1e300,
    "a tiny number": 1e-300,
    "no values": [],
    "a dictionary": {},
    "a set": {1},
    "a slice": slice(3),
    "an object": object(),
    "a class": dict,
    "a function": len,
    "rows of several lengths": [[1.0], [1.0, 2.0]],
    "texts": ["a", "b"],
    "objects": np.array([None, None]),
    "truth values": [True, False, True],
    "a single number in a list": [1.0],
    "an array of no dimension": np.array(1.0),
    "an array of four dimensions": np.ones((2, 2, 2, 2)),
    "an empty array of rows": np.empty((0, 3)),
    "infinities": [np.inf, 0.0, 0.0],
    "zeros": np.zeros(3),
    "negative numbers": [-1.0, -1.0, -1.0],
    "a masked array": np.ma.masked_array([1.0, 2.0, 3.0], mask=[True, False, False]),
    "a mapping of numbers": {"a": 1.0},
    "a mapping of numbers to numbers": {1: 1.0},
    "a date": np.datetime64("2020-01-01"),
    "nested very deeply": [[[[[[[[1.0]]]]]]]],
}


def bent(value: Any) -> dict[str, Any]:
    """Return wrong and unusual versions of an array that an argument is."""
    try:
        array = np.array(value)
    except ValueError:  # no array
        return {}
    if array.dtype.kind not in "fiub" or array.size == 0:
        return {}
    array = array.astype(np.int64) if array.dtype.kind == "i" else array
    flat = array.astype(float).ravel()
    with_nan, negative = flat.copy(), flat.copy()
    with_nan[-1], negative[0] = np.nan, -5.0
    found = {
        "with NaN": with_nan.reshape(array.shape),
        "with infinity": np.where(np.isnan(with_nan), np.inf, with_nan).reshape(array.shape),
        "with a negative number": negative.reshape(array.shape),
        "as complex numbers": array.astype(complex),
        "as texts": array.astype(str),
        "as objects": array.astype(object),
        "as truth values": array.astype(bool),
        "as single precision": array.astype(np.float32),
        "as unsigned bytes": array.astype(np.int64).astype(np.uint8),
        "as nested lists": array.tolist(),
        "in Fortran's order": np.asfortranarray(array),
        "every second of twice as many": np.repeat(array, 2, axis=0)[::2] if array.ndim else array,
        "with 2**32 added": array.astype(np.int64) + 2**32,
        "with 0.7 added": array.astype(float) + 0.7,
        "times 1e200": array * 1e200,
        "times 1e-200": array * 1e-200,
        "all zero": 0 * array,
    }
    if array.ndim:
        found |= {
            "one less": array[:-1],
            "one more": np.concatenate([array, array[:1]]),
            "with one more dimension": array[None],
            "the first only": array[0],
        }
    if array.ndim == 2:
        found |= {"transposed": array.T, "without a column": array[:, :-1], "flat": array.ravel()}
    return found


def replaced(key: str, value: Any) -> dict[str, Any]:
    """Return what an argument is replaced by, by name."""
    if key == "times":  # to which a motion would be long under way
        return {what: other for what, other in ANY.items() if what not in ("a large integer", "a huge number")}
    if callable(value) or key == "history":  # other functions fail in their own ways
        return {what: other for what, other in ANY.items() if not callable(other)}
    return ANY | (bent(value) if isinstance(value, np.ndarray | list | tuple | int | float) else {})


def every_trial() -> list[tuple[str, str, str]]:
    """Return all trials: the names of a call, of its argument, and of what it is replaced by."""
    calls = api_calls.calls()
    return [
        (name, key, what)
        for name, call in calls.items()
        for key, value in call.arguments.items()
        for what in replaced(key, value)
    ]


# -- trials ---------------------------------------------------------------------------------------------------------


def trials(seed: int, count: int) -> Iterator[tuple[str, str]]:
    """Yield what an argument was replaced by, and the outcome, for some calls chosen at random."""
    for what, _, outcome in tried(seed, count):
        yield what, outcome


def tried(seed: int, count: int) -> Iterator[tuple[str, str, str]]:
    """Yield what an argument was replaced by, the call, and the outcome."""
    every = every_trial()
    chosen = random.Random(seed).sample(every, min(count, len(every)))
    with isolated.Isolated(Path(__file__)) as attempt:
        for name, key, what in sorted(chosen):
            yield f"API: {what}", f"{name}({key}=…)", attempt([name, key, what])


_CALLS: dict[str, Any] = {}


def trial(task: list[str]) -> str:
    """Return the outcome of a call with one argument replaced (in its own process)."""
    if not _CALLS:
        os.chdir(tempfile.mkdtemp())
        api_calls.furnish()
        _CALLS.update(api_calls.calls())
    name, key, what = task
    call = _CALLS[name]
    wrong = replaced(key, call.arguments[key])[what]
    try:
        call.use(call.function(**(call.arguments | {key: wrong})))
    except AssertionError as error:  # what a check of `symplex.testing` has found is its result
        return isolated.RAN if name.startswith("check_") else f"wrong result: {error}"
    except Exception as error:
        return judged(error)
    return isolated.RAN


def judged(error: Exception) -> str:
    """Return the outcome that an error is: a `SymplexError`, or a TypeError or ValueError that the package raises."""
    from symplex.errors import SymplexError

    if isinstance(error, SymplexError | MemoryError) or not isinstance(error, TypeError | ValueError):
        return isolated.judged(error)
    frames = traceback.extract_tb(error.__traceback__)
    raised = frames[-1]
    ours = Path(raised.filename).is_relative_to(HERE.parents[1]) and HERE.parent not in Path(raised.filename).parents
    if ours and (raised.line or "").startswith("raise "):
        return isolated.judged_message(str(error))
    if raised.filename.endswith("inspect.py"):  # missing or unknown arguments
        return isolated.REFUSED
    return f"traceback: {''.join(traceback.format_exception(error)[-4:])}"


# -- tests ----------------------------------------------------------------------------------------------------------


def test_all_public_names_are_called():
    import symplex

    called = {name.split(".")[0] for name in api_calls.calls()}
    families = [getattr(symplex, family) for family in symplex._FAMILIES if family != "errors"]
    public = {*symplex._FAMILY_OF, *(name for family in families for name in family.__all__)}
    assert called - {"Motion", "Integrator", "Scenario"} == public - NOT_CALLED


def test_calls_are_valid(tmp_path):
    with contextlib.chdir(tmp_path):
        api_calls.furnish()
        for name, call in api_calls.calls().items():
            try:
                call.use(call.function(**call.arguments))
            except Exception as error:
                raise AssertionError(name) from error


@pytest.mark.slow
def test_misuse_is_refused_in_one_sentence_or_clear():
    outcomes: Counter[str] = Counter()
    for what, call, outcome in tried(1, 1500):
        assert outcome in (isolated.RAN, isolated.REFUSED), f"{what}: {call}\n{outcome}"
        outcomes[outcome] += 1
    assert outcomes[isolated.REFUSED] > 500


if __name__ == "__main__" and sys.argv[1:] == ["--serve"]:
    isolated.serve(trial, SECONDS)
