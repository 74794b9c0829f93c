"""Values of a study: lists, ranges, random samples, and how they are combined."""

import numpy as np
import pytest

import symplex as sx
from symplex.studies.values import combined, parsed_choices


def members(*, combine="grid", samples=None, sampling="random", seed=0, **over):
    """Return the members of a study over keys with dots for double underscores."""
    return combined({key.replace("__", "."): one for key, one in over.items()}, combine, samples, sampling, seed)


def values(text, **keys):
    return [one["a.b"] for one in members(a__b=text, **keys)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("0.1,0.2", [0.1, 0.2]),
        ("1", [1]),
        ("I, II ,III", ["I", "II", "III"]),
        ('"a b", "c"', ["a b", "c"]),
        ("[0, 0, 1], [0, 1, 0]", [[0, 0, 1], [0, 1, 0]]),
        ("=2*h,=3*h", ["=2*h", "=3*h"]),
        ("linear(0.1, 0.5, 5)", [0.1, 0.2, 0.3, 0.4, 0.5]),
        ("linear(1, 5, 3)", [1, 3, 5]),
        ("log(1e-3, 1e3, 3)", [1e-3, 1.0, 1e3]),
        ([1, 2.5], [1, 2.5]),
        (np.array([1.5, 2.5]), [1.5, 2.5]),
    ],
)
def test_values_of_a_key(text, found):
    assert values(text) == found


def test_whole_numbers_of_ranges_are_whole():
    assert all(isinstance(one, int) for one in values("linear(1, 5, 3)"))


def test_lists_are_combined_as_a_grid_or_together():
    assert members(a=[1, 2], b=[3, 4]) == [{"a": 1, "b": 3}, {"a": 1, "b": 4}, {"a": 2, "b": 3}, {"a": 2, "b": 4}]
    assert members(a=[1, 2], b=[3, 4], combine="zip") == [{"a": 1, "b": 3}, {"a": 2, "b": 4}]


def test_samples_are_drawn_for_each_combination_and_repeat_with_the_seed():
    keys = {"a": "uniform(2, 4)", "b": [1, 2], "c": "normal(5, 0.1)", "samples": 200}
    found = members(**keys)
    assert [list(one) for one in found] == [["a", "b", "c"]] * 400
    assert [one["b"] for one in found] == [1] * 200 + [2] * 200
    a, c = (np.array([one[key] for one in found[:200]]) for key in ("a", "c"))
    assert ((a >= 2) & (a <= 4)).all()
    assert abs(a.mean() - 3) < 4 * 2 / np.sqrt(12 * 200)
    assert abs(c.mean() - 5) < 4 * 0.1 / np.sqrt(200)
    assert 0.08 < c.std() < 0.12
    assert members(**keys) == found
    assert members(**keys, seed=1) != found


@pytest.mark.parametrize("sampling", ["latin-hypercube", "sobol"])
def test_samples_that_fill_space_evenly_have_one_in_each_part(sampling):
    found = np.log(values("log-uniform(1e-3, 10)", samples=16, sampling=sampling) / np.array(1e-3)) / np.log(1e4)
    assert sorted((16 * found).astype(int)) == list(range(16))


@pytest.mark.parametrize("sampling", ["sobol", "random", "latin-hypercube"])
def test_normal_samples_are_finite(sampling):
    assert np.isfinite(values("normal(0, 1)", samples=8, sampling=sampling)).all()


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({}, "nothing is varied; give at least one key"),
        ({"a": []}, "'a': \\[\\] is no list of values; write a list"),
        ({"a": 3}, "'a': 3 is no list of values"),
        ({"a": "1,,2"}, "has an empty value"),
        ({"a": "linear(1, 2)"}, "has not the required numbers"),
        ({"a": "linear(1, x, 2)"}, "has something else than numbers in it"),
        ({"a": "linear(1, 2, 1)"}, "must have a number of values from 2 on"),
        ({"a": "log(0, 2, 3)"}, "must be between positive numbers"),
        ({"a": "normal(0, 0)", "samples": 2}, "must have a positive deviation"),
        ({"a": "uniform(0, 1)"}, "a is random; say how many samples there are to be"),
        ({"a": "1,2", "samples": 3}, "samples are of random numbers, and no key has one"),
        ({"a": "uniform(0, 1)", "samples": 0}, "there are to be 0 samples, must be at least 1"),
        ({"a": "uniform(0, 1)", "samples": 6, "sampling": "sobol"}, "take 4 or 8"),
        ({"a": [1, 2], "b": [1], "combine": "zip"}, "lists that go together must have equally many values; a has 2, b"),
        ({"a": "linear(0, 1, 1000)", "b": "linear(0, 1, 1000)"}, "would have 1,000,000 members, more than 100,000"),
    ],
)
def test_mistakes_are_told(keys, message):
    with pytest.raises(sx.SymplexError, match=message):
        members(**keys)


def test_a_key_is_varied_once():
    with pytest.raises(sx.SymplexError, match=r"'a\.b' is varied twice: over 1,2 and over 3"):
        parsed_choices(["a.b=1,2", "a.b=3"])
