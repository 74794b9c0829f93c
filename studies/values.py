"""The values that a study gives to keys of a scenario: lists, ranges and random samples, and how they are combined."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import numpy as np

from symplex.base.quantities import listed, shown
from symplex.base.toml import read_toml
from symplex.errors import ScenarioError
from symplex.fem.energies.energy import Array
from symplex.scenario.changes import split_change, value_of
from symplex.studies.indices import DESIGNS, designed

Combination = Literal["grid", "zip"]
Sampling = Literal["random", "latin-hypercube", "sobol", "saltelli", "morris"]

MOST_MEMBERS = 100_000
_DIGITS = 12  # of the numbers of ranges: 0.3 and not 0.30000000000000004
_CALL = re.compile(r"\s*(linear|log|uniform|log-uniform|normal)\s*\((.*)\)\s*", re.DOTALL)
_FORM = "write a list, as 0.1,0.2,0.4, or linear(FIRST, LAST, COUNT), log(FIRST, LAST, COUNT), uniform(LEAST, MOST), "
_FORM += "log-uniform(LEAST, MOST) or normal(MEAN, DEVIATION)"


@dataclass(frozen=True)
class Random:
    """A random number: ``uniform`` or ``log-uniform`` between two numbers, or ``normal`` by mean and deviation."""

    kind: str
    first: float
    second: float

    def at(self, u: Array) -> Array:
        """Return the numbers [n] at values [n] of the distribution function, between 0 and 1."""
        from scipy.special import ndtri

        if self.kind == "uniform":
            return self.first + (self.second - self.first) * u
        if self.kind == "log-uniform":
            return self.first * (self.second / self.first) ** u
        least = 2.0**-53  # where Sobol' points begin at 0, normal numbers have none
        return self.first + self.second * ndtri(np.clip(u, least, 1.0 - least))


def choices_of(key: str, given: object) -> list[Any] | Random:
    """Return what a key is to be: values, or a random number."""
    if isinstance(given, Random):
        return given
    if isinstance(given, str):
        return _called(key, match) if (match := _CALL.fullmatch(given)) else _listed(key, given)
    if isinstance(given, np.ndarray):
        given = given.tolist()
    if not isinstance(given, Sequence) or not given:
        raise ScenarioError(f"{shown(key)}: {shown(given)} is no list of values; {_FORM}.")
    return [item.item() if isinstance(item, np.generic) else item for item in given]


def parsed_choices(texts: Iterable[str]) -> dict[str, str]:
    """Return the values of keys that are written ``table.key=VALUES``."""
    found: dict[str, str] = {}
    for text in texts:
        key, values = split_change(text)
        if key in found:
            raise ScenarioError(f"{shown(key)} is varied twice: over {found[key]} and over {values}.")
        found[key] = values
    return found


def combined(
    over: Mapping[str, object], combine: Combination, samples: int | None, sampling: Sampling, seed: int
) -> list[dict[str, Any]]:
    """Return the values of each member by key.

    Lists are combined each with each (``grid``) or one after the other (``zip``); random numbers are drawn together,
    ``samples`` of all of them for each combination of lists.
    """
    if not over:
        raise ScenarioError("nothing is varied; give at least one key and its values, as --over define.h=0.1,0.2,0.4.")
    choices = {key: choices_of(key, given) for key, given in over.items()}
    lists = {key: found for key, found in choices.items() if not isinstance(found, Random)}
    random = {key: found for key, found in choices.items() if isinstance(found, Random)}
    lengths = {key: len(values) for key, values in lists.items()}
    if combine == "zip" and len(set(lengths.values())) > 1:
        reported = ", ".join(f"{key} has {n}" for key, n in lengths.items())
        raise ScenarioError(f"lists that go together must have equally many values; {reported}.")
    if random and samples is None:
        raise ScenarioError(f"{next(iter(random))} is random; say how many samples there are to be, as --samples 20.")
    if not random and samples is not None:
        raise ScenarioError("samples are of random numbers, and no key has one; leave them out, or take uniform(…).")
    if sampling in DESIGNS and (lists or not random):
        raise ScenarioError(
            f"sampling = {shown(sampling)} is of random numbers only, and {listed(lists) or 'no key'} has a list."
        )
    each = {"saltelli": len(random) + 2, "morris": len(random) + 1}.get(sampling, 1)
    count = (
        each * (samples or 1) * (max(lengths.values(), default=1) if combine == "zip" else math.prod(lengths.values()))
    )
    if count > MOST_MEMBERS:
        raise ScenarioError(f"the study would have {count:,} members, more than {MOST_MEMBERS:,}.")
    rows = list(zip(*lists.values(), strict=True) if combine == "zip" else product(*lists.values())) or [()]
    fixed = [dict(zip(lists, row, strict=True)) for row in rows]
    if not random:
        return fixed
    assert samples is not None, "it is refused above"
    points = _points(samples, len(random), sampling, seed)
    drawn = [kind.at(points[:, k]) for k, kind in enumerate(random.values())]
    order = {key: None for key in over}
    return [
        order | one | {key: float(values[i]) for key, values in zip(random, drawn, strict=True)}
        for one in fixed
        for i in range(len(points))
    ]


def _points(n: int, dimensions: int, sampling: Sampling, seed: int) -> Array:
    """Return points [n, dimensions] in the unit cube."""
    from scipy.stats import qmc

    if n < 1:
        raise ScenarioError(f"there are to be {n} samples, must be at least 1.")
    if sampling in DESIGNS:
        return designed(sampling, n, dimensions, seed)
    if sampling == "latin-hypercube":
        return qmc.LatinHypercube(dimensions, seed=seed).random(n)  # pyright: ignore[reportCallIssue]  # rng from scipy 1.15 on
    if sampling == "sobol":
        if n & (n - 1):
            near = [2 ** (n.bit_length() - 1), 2 ** n.bit_length()]
            raise ScenarioError(
                f"there are to be {n} samples; points of Sobol' fill space evenly in powers of two: take {near[0]} or "
                f"{near[1]}."
            )
        return qmc.Sobol(dimensions, seed=seed).random_base2(n.bit_length() - 1)  # pyright: ignore[reportCallIssue]
    return np.random.default_rng(seed).random((n, dimensions))


def _called(key: str, match: re.Match[str]) -> list[Any] | Random:
    """Return a range or a random number, written as a function."""
    kind, text = match.group(1), match.group(0).strip()
    try:
        numbers = [float(part) for part in match.group(2).split(",")]
    except ValueError:
        raise ScenarioError(f"{shown(key)}: {shown(text)} has something else than numbers in it; {_FORM}.") from None
    if len(numbers) != (3 if kind in ("linear", "log") else 2) or not all(map(math.isfinite, numbers)):
        raise ScenarioError(f"{shown(key)}: {shown(text)} has not the required numbers; {_FORM}.")
    first, second = numbers[:2]
    if "log" in kind and not (first > 0.0 and second > 0.0):
        raise ScenarioError(f"{shown(key)}: {shown(text)} must be between positive numbers.")
    if kind == "normal" and not second > 0.0:
        raise ScenarioError(f"{shown(key)}: {shown(text)} must have a positive deviation.")
    if kind not in ("linear", "log"):
        return Random(kind, first, second)
    count = numbers[2]
    if count != int(count) or not 2 <= count <= MOST_MEMBERS:
        raise ScenarioError(f"{shown(key)}: {shown(text)} must have a number of values from 2 on.")
    spaced = np.linspace if kind == "linear" else np.geomspace
    values = [float(f"{x:.{_DIGITS}g}") for x in spaced(first, second, int(count))]
    # Whole numbers where all are, for keys that want these.
    return [int(x) for x in values] if all(x.is_integer() and abs(x) < 2**53 for x in values) else values


def _listed(key: str, text: str) -> list[Any]:
    """Return the values of a list: of TOML, or texts without quotes."""
    if re.fullmatch(r"\s*[\w-]+\s*\(.*\)\s*", text, re.DOTALL):
        raise ScenarioError(f"{shown(key)}: {shown(text.strip())} is no range and no random number; {_FORM}.")
    try:
        found = read_toml(f"values = [{text}\n]\n")
    except ValueError:
        parts = [part.strip() for part in text.split(",")]
        if not all(parts):
            raise ScenarioError(f"{shown(key)}: {shown(text)} has an empty value; {_FORM}.") from None
        return [value_of(part) for part in parts]
    if list(found) != ["values"] or not found["values"]:
        raise ScenarioError(f"{shown(key)}: {shown(text)} is no list of values; {_FORM}.")
    return found["values"]
